// SPDX-License-Identifier: MIT
/**
 * @file CoreSight frames to runs.
 *
 * A frame is seven pairs, a single byte (14) and a byte of auxiliary bits (15), bit k for byte 2k.
 * An even byte with bit 0 set is a new id, else it is data whose bit 0 is the auxiliary bit. With a
 * new id the auxiliary bit says whether the odd byte after it still belongs to the old one.
 */
#include "transport/coresight.h"

#define EVEN_BIT_0 UINT64_C(0x0001000100010001)

/** Four auxiliary bits, spread to bit 0 of four even bytes. */
static uint64_t spread(unsigned aux)
{
    static const uint64_t table[16] = {
        0x0000000000000000, 0x0000000000000001, 0x0000000000010000, 0x0000000000010001,
        0x0000000100000000, 0x0000000100000001, 0x0000000100010000, 0x0000000100010001,
        0x0001000000000000, 0x0001000000000001, 0x0001000000010000, 0x0001000000010001,
        0x0001000100000000, 0x0001000100000001, 0x0001000100010000, 0x0001000100010001,
    };
    return table[aux & 15];
}

/** Bit 0 of four even bytes, gathered into four bits: the opposite of spread(). */
static unsigned gather(uint64_t value)
{
    return (unsigned)(((value & EVEN_BIT_0) * UINT64_C(0x0001000200040008)) >> 48) & 15;
}

/** Even bytes that are ids: a bit each. */
static unsigned find_ids(const uint8_t *frame)
{
    return gather(cs_load(frame)) | gather(cs_load(frame + 8)) << 4;
}

static struct pug_run *new_run(struct coresight *cs, const uint8_t *bytes, unsigned offset)
{
    struct pug_run *run = &cs->runs[cs->run_count++];
    run->index = cs->frame_index + offset;
    run->bytes = bytes;
    run->source = cs->id;
    return run;
}

/** Frames with ids in them: `ids` has a bit for each even byte that is one. */
static void unpack_ids(struct coresight *cs, const uint8_t *frame, const uint8_t *data,
                       unsigned ids)
{
    uint8_t *out = cs->bytes;
    unsigned aux = frame[15], from = 0;
    struct pug_run *run = new_run(cs, out, 0);
    for (; ids & 0x7f; ids &= ids - 1) {
        unsigned pair = (unsigned)__builtin_ctz(ids), at = 2 * pair;
        memcpy(out, data + from, CS_FRAME_BYTES);
        out += at - from;
        from = at + 1;
        uint16_t id = frame[at] >> 1;
        if (id == cs->id)
            continue;
        if (aux >> pair & 1)
            *out++ = data[from++];
        cs->id = id;
        if (out == run->bytes) {
            run->source = id;
            continue;
        }
        run->size = (size_t)(out - run->bytes);
        run = new_run(cs, out, at);
    }
    memcpy(out, data + from, CS_FRAME_BYTES);
    out += (ids ? 14 : 15) - from;
    run->size = (size_t)(out - run->bytes);
    cs->sink->stats->framing += CS_FRAME_BYTES - (size_t)(out - cs->bytes);
    if (ids)
        cs->id = frame[14] >> 1;
    if (run->size == 0 && !cs->sink->quirks.empty_run_fatal)
        cs->run_count--;
}

void cs_unpack(struct coresight *cs, const uint8_t *frame)
{
    uint64_t low = cs_load(frame), high = cs_load(frame + 8);
    unsigned ids = find_ids(frame);
    low |= spread(frame[15]);
    high |= spread(frame[15] >> 4u);
    cs->run_at = 0;
    cs->run_count = 0;
    cs->run_offered = false;
    cs->run_begun = false;
    if (ids == 0) {
        cs->sink->stats->framing++;
        cs_store(cs->bytes, low);
        cs_store(cs->bytes + 8, high);
        new_run(cs, cs->bytes, 0)->size = CS_FRAME_BYTES - 1;
        return;
    }
    uint8_t data[2 * CS_FRAME_BYTES] = {0};
    cs_store(data, low);
    cs_store(data + 8, high);
    unpack_ids(cs, frame, data, ids);
}

/* ---- frames of one source ---- */

/** The data of a frame whose ids all say what is known; how many bytes that is. */
static unsigned put_data(uint8_t *out, const uint8_t *frame, unsigned ids)
{
    uint64_t low = cs_load(frame) | spread(frame[15]);
    uint64_t high = cs_load(frame + 8) | spread(frame[15] >> 4u);
    uint8_t data[2 * CS_FRAME_BYTES] = {0}, *to = ids ? data : out;
    cs_store(to, low);
    cs_store(to + 8, high);
    if (ids == 0)
        return CS_FRAME_BYTES - 1;
    unsigned size = 0, from = 0;
    for (unsigned left = ids & 0x7f; left; left &= left - 1) {
        unsigned at = 2 * (unsigned)__builtin_ctz(left);
        memcpy(out + size, data + from, CS_FRAME_BYTES);
        size += at - from;
        from = at + 1;
    }
    memcpy(out + size, data + from, CS_FRAME_BYTES);
    return size + (ids & 0x80 ? 14 : 15) - from;
}

/** Do all ids of a frame say what is known? A sync has an even byte of 0xff, and so does not. */
static bool repeats_id(const struct coresight *cs, const uint8_t *frame, unsigned ids)
{
    for (; ids; ids &= ids - 1)
        if (frame[2 * __builtin_ctz(ids)] >> 1 != cs->id)
            return false;
    return true;
}

/** Most frames of a trace of several sources are not to be joined: that is seen from the ids. */
static bool are_joinable(const struct coresight *cs, const uint8_t *two_frames)
{
    const uint8_t *second = two_frames + CS_FRAME_BYTES;
    return repeats_id(cs, two_frames, find_ids(two_frames)) &&
           repeats_id(cs, second, find_ids(second));
}

static bool may_join(const struct coresight *cs)
{
    const struct pug_transport_sink *sink = cs->sink;
    return sink->joins && !(sink->want & 3) && cs->synced && cs->fill == 0 && !cs->odd &&
           !cs->half_sync && cs->id < CS_ID_FIRST_RESERVED && sink->joins(sink->context, cs->id);
}

/** Which frame a byte of the joined run is from. */
static size_t frame_of(const struct coresight *cs, size_t place)
{
    return (place + cs->gaps[place]) / CS_FRAME_BYTES;
}

/**
 * Where the consumer stopped, the frames behind are not taken, and the rest of the last one is a
 * run of its own. How many frames are taken.
 */
static size_t settle_joined(struct coresight *cs, const struct pug_run *run, size_t used)
{
    size_t last = frame_of(cs, used > 0 ? used - 1 : 0), end = used;
    while (end < run->size && frame_of(cs, end) == last)
        end++;
    cs->sink->stats->framing += CS_FRAME_BYTES * (last + 1) - end;
    cs->run_at = 0;
    cs->run_count = end > used;
    if (end > used) {
        cs->run_offered = true;
        cs->run_begun = used > 0;
        cs->runs[0] = (struct pug_run){.index = pug_run_index(run, run->bytes + used),
                                       .bytes = run->bytes + used,
                                       .size = end - used,
                                       .source = run->source};
    }
    return last + 1;
}

bool cs_take_joined(struct coresight *cs, struct cs_block *block)
{
    size_t frames = (size_t)(block->end - block->at) / CS_FRAME_BYTES, count = 0;
    unsigned size = 0;
    if (frames < 2 || !are_joinable(cs, block->at) || !may_join(cs))
        return false;
    for (; count < frames && count < CS_MOST_JOINED; count++) {
        const uint8_t *frame = block->at + CS_FRAME_BYTES * count;
        unsigned ids = find_ids(frame);
        if (!repeats_id(cs, frame, ids))
            break;
        uint16_t gap = (uint16_t)(CS_FRAME_BYTES * count - size);
        for (unsigned i = 0; i < CS_FRAME_BYTES; i++)
            cs->gaps[size + i] = gap;
        size += put_data(cs->joined + size, frame, ids);
    }
    const struct pug_run run = {
        .index = cs->index, .bytes = cs->joined, .size = size, .gaps = cs->gaps, .source = cs->id};
    size_t used = 0;
    enum pug_response answer = cs->sink->run(cs->sink->context, &run, &used);
    count = settle_joined(cs, &run, answer == PUG_RESP_CONT ? size : used);
    block->at += CS_FRAME_BYTES * count;
    cs->index += CS_FRAME_BYTES * count;
    cs->shift = cs_word(block->at - 4);
    cs->in_padding = false;
    /* The answer to a frame is that to what comes last in it. */
    if (cs->run_count == 0 || !PUG_RESP_IS_CONT(answer))
        cs_answer(cs, answer);
    cs_deliver(cs);
    return true;
}

/* ---- handing out ---- */

/** Ids of no trace source that mean something. */
static void report_special(struct coresight *cs, const struct pug_run *run)
{
    cs->sink->stats->triggers++;
    if (cs->sink->quirks.silent_framing)
        return;
    if (run->source == CS_ID_TRIGGER)
        cs_log(cs, PUG_SEV_INFO, PUG_OK, run->index, "Trigger marker (ID 0x7D).");
    else if (run->source == CS_ID_FLUSH)
        cs_log(cs, PUG_SEV_INFO, PUG_OK, run->index, "Flush response (ID 0x7B).");
}

void cs_deliver(struct coresight *cs)
{
    struct pug_transport_sink *sink = cs->sink;
    while (cs->run_at < cs->run_count && PUG_RESP_IS_CONT(cs->worst)) {
        struct pug_run *run = &cs->runs[cs->run_at];
        if (!cs->run_begun)
            cs_show(cs, 2, run->index, PUG_FRAME_ID_DATA, run->source, run->bytes, run->size);
        if (run->source >= CS_ID_FIRST_RESERVED && run->source != PUG_SOURCE_UNKNOWN &&
            !cs->run_offered)
            report_special(cs, run);
        size_t used = 0;
        cs_answer(cs, sink->run(sink->context, run, &used));
        bool done = used >= run->size || PUG_RESP_IS_CONT(cs->worst);
        cs->run_offered = !done;
        cs->run_begun = !done && used > 0;
        cs->run_at += done;
        run->index += used;
        run->bytes += used;
        run->size -= used;
    }
}
