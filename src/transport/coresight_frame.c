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

/** How many of eight bits are set: once a frame, and the builtin is a call on most targets. */
static unsigned count_bits(unsigned bits)
{
    static const uint8_t counts[16] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};
    return counts[bits & 15] + counts[bits >> 4 & 15];
}

/** Even bytes that are ids: a bit each. */
static unsigned find_ids(const uint8_t *frame)
{
    const uint64_t low = pug_cs_load(frame) & EVEN_BIT_0,
                   high = pug_cs_load(frame + 8) & EVEN_BIT_0;
    return (unsigned)(((low | high << 4) * UINT64_C(0x0001000200040008)) >> 48) & 0xff;
}

/* ---- run by run ---- */

/** A frame to be taken apart into runs. The one before has none left. */
static void begin_frame(struct pug_coresight *cs, const uint8_t *frame)
{
    const unsigned ids = find_ids(frame), aux = frame[15];
    pug_cs_store(cs->bytes, pug_cs_load(frame) | spread(aux));
    pug_cs_store(cs->bytes + 8, pug_cs_load(frame + 8) | spread(aux >> 4u));
    cs->ids = (uint8_t)ids;
    cs->aux = (uint8_t)aux;
    cs->from = cs->told_from = 0;
    cs->sink->stats->framing += 1 + count_bits(ids);
}

/** The run in hand is what ends here. */
static void end_run(struct pug_coresight *cs, unsigned from, unsigned end)
{
    cs->run.index = cs->frame_index + cs->told_from;
    cs->run.bytes = cs->bytes + from;
    cs->run.size = end - from;
    cs->run.source = cs->id;
    cs->run_there = true;
    cs->run_offered = false;
    cs->run_begun = false;
}

/** What is behind the last id that divides runs. False: nothing. */
static bool last_run(struct pug_coresight *cs, unsigned from)
{
    if (from == PUG_CS_NO_FRAME)
        return false;
    const unsigned end = cs->ids ? 14 : 15;
    const bool some = end > from || cs->sink->quirks.empty_run_fatal;
    if (some)
        end_run(cs, from, end);
    if (cs->ids)
        cs->id = cs->bytes[14] >> 1;
    cs->from = PUG_CS_NO_FRAME;
    return some;
}

/**
 * The next run of the frame, to `run`. The bytes of a run are next to each other but for an id
 * among them; then those before it move.
 */
static bool next_run(struct pug_coresight *cs)
{
    uint8_t *const bytes = cs->bytes;
    unsigned from = cs->from, ids = cs->ids;
    bool some = false;
    while (!some && ids & 0x7f) {
        const unsigned pair = (unsigned)__builtin_ctz(ids), at = 2 * pair;
        const unsigned late = cs->aux >> pair & 1;
        const uint16_t id = bytes[at] >> 1;
        ids &= ids - 1;
        if (id == cs->id) {
            memmove(bytes + from + 1, bytes + from, at - from);
            from++;
            continue;
        }
        bytes[at] = bytes[at + 1];
        some = at + late > from;
        if (some) {
            end_run(cs, from, at + late);
            cs->told_from = (uint8_t)at;
        }
        cs->id = id;
        from = at + 1 + late;
    }
    cs->ids = (uint8_t)ids;
    cs->from = (uint8_t)from;
    return some || last_run(cs, from);
}

/* ---- frames of one source ---- */

/** The data of a frame whose ids all say what is known; how many bytes that is. */
static size_t put_data(uint8_t *out, const uint8_t *frame, unsigned ids)
{
    uint64_t low = pug_cs_load(frame) | spread(frame[15]);
    uint64_t high = pug_cs_load(frame + 8) | spread(frame[15] >> 4u);
    uint8_t data[2 * PUG_CS_FRAME_BYTES] = {0}, *to = ids ? data : out;
    pug_cs_store(to, low);
    pug_cs_store(to + 8, high);
    if (ids == 0)
        return PUG_CS_FRAME_BYTES - 1;
    size_t size = 0, from = 0;
    for (unsigned left = ids & 0x7f; left; left &= left - 1) {
        size_t at = 2 * (size_t)__builtin_ctz(left);
        memcpy(out + size, data + from, PUG_CS_FRAME_BYTES);
        size += at - from;
        from = at + 1;
    }
    memcpy(out + size, data + from, PUG_CS_FRAME_BYTES);
    return size + (ids & 0x80 ? 14 : 15) - from;
}

/** Do all ids of a frame say what is known? A sync has an even byte of 0xff, and so does not. */
static inline bool repeats_id(const struct pug_coresight *cs, const uint8_t *frame, unsigned ids)
{
    for (; ids; ids &= ids - 1)
        if (frame[2 * __builtin_ctz(ids)] >> 1 != cs->id)
            return false;
    return true;
}

/** Most frames of a trace of several sources are not to be spliced: that is seen from the ids. */
static inline bool are_spliceable(const struct pug_coresight *cs, const struct pug_cs_block *block)
{
    const uint8_t *first = block->at, *second = first + PUG_CS_FRAME_BYTES;
    return block->end - first >= (ptrdiff_t)(2 * PUG_CS_FRAME_BYTES) &&
           repeats_id(cs, first, find_ids(first)) && repeats_id(cs, second, find_ids(second));
}

/** How many frames may be spliced. */
static size_t may_splice(const struct pug_coresight *cs)
{
    const struct pug_transport_sink *sink = cs->sink;
    if (!sink->takes || (sink->want & 3) || !cs->synced || cs->fill > 0 || cs->odd ||
        cs->half_sync || cs->id >= PUG_CS_ID_FIRST_RESERVED)
        return 0;
    const unsigned takes = sink->takes(sink->context, cs->id);
    if (!(takes & PUG_TAKES_SPLICED))
        return 0;
    return takes & PUG_TAKES_LONG ? PUG_CS_MOST_SPLICED : PUG_CS_FEW_SPLICED;
}

/** Which frame a byte of the spliced run is from. */
static size_t frame_of(const struct pug_coresight *cs, size_t place)
{
    return (place + cs->gaps[place]) / PUG_CS_FRAME_BYTES;
}

/**
 * Where the consumer stopped, the frames behind are not taken, and the rest of the last one is a
 * run of its own. How many frames are taken.
 */
static size_t settle_spliced(struct pug_coresight *cs, const struct pug_run *run, size_t used)
{
    size_t last = frame_of(cs, used > 0 ? used - 1 : 0), end = used;
    while (end < run->size && frame_of(cs, end) == last)
        end++;
    cs->sink->stats->framing += PUG_CS_FRAME_BYTES * (last + 1) - end;
    cs->run_there = end > used;
    if (cs->run_there) {
        cs->run_offered = true;
        cs->run_begun = used > 0;
        cs->run = (struct pug_run){.index = pug_run_index(run, run->bytes + used),
                                   .bytes = run->bytes + used,
                                   .size = end - used,
                                   .source = run->source};
    }
    return last + 1;
}

/**
 * Take frames of the current source alone as one run and hand it out; the answer to `worst`. After
 * an answer that stops, no more is taken than would have been frame by frame.
 */
static void take_spliced(struct pug_coresight *cs, struct pug_cs_block *block, size_t most)
{
    size_t frames = (size_t)(block->end - block->at) / PUG_CS_FRAME_BYTES, count = 0;
    unsigned size = 0;
    for (; count < frames && count < most; count++) {
        const uint8_t *frame = block->at + PUG_CS_FRAME_BYTES * count;
        unsigned ids = find_ids(frame);
        if (!repeats_id(cs, frame, ids))
            break;
        uint16_t gap = (uint16_t)(PUG_CS_FRAME_BYTES * count - size);
        for (unsigned i = 0; i < PUG_CS_FRAME_BYTES; i++)
            cs->gaps[size + i] = gap;
        size += put_data(cs->spliced + size, frame, ids);
    }
    const struct pug_run run = {
        .index = cs->index, .bytes = cs->spliced, .size = size, .gaps = cs->gaps, .source = cs->id};
    size_t used = 0;
    enum pug_response answer = cs->sink->run(cs->sink->context, &run, &used);
    bool all = answer == PUG_RESP_CONT && used == 0; /* who just looks on need not count */
    count = settle_spliced(cs, &run, all ? size : used);
    block->at += PUG_CS_FRAME_BYTES * count;
    cs->index += PUG_CS_FRAME_BYTES * count;
    cs->shift = pug_cs_word(block->at - 4);
    cs->in_padding = false;
    /* The answer to a frame is that to what comes last in it. */
    if (!cs->run_there || !PUG_RESP_IS_CONT(answer))
        pug_cs_answer(cs, answer);
    pug_cs_deliver(cs);
}

/* ---- handing out ---- */

/** Ids of no trace source that mean something. */
static void report_special(struct pug_coresight *cs, const struct pug_run *run)
{
    cs->sink->stats->triggers++;
    if (cs->sink->quirks.silent_framing)
        return;
    if (run->source == PUG_CS_ID_TRIGGER)
        pug_cs_log(cs, PUG_SEV_INFO, PUG_OK, run->index, "Trigger marker (ID 0x7D).");
    else if (run->source == PUG_CS_ID_FLUSH)
        pug_cs_log(cs, PUG_SEV_INFO, PUG_OK, run->index, "Flush response (ID 0x7B).");
}

/** What is said of a run beside giving it out. */
static void announce(struct pug_coresight *cs, const struct pug_run *run)
{
    if (!cs->run_begun)
        pug_cs_show(cs, 2, run->index, PUG_FRAME_ID_DATA, run->source, run->bytes, run->size);
    if (run->source >= PUG_CS_ID_FIRST_RESERVED && run->source != PUG_SOURCE_UNKNOWN &&
        !cs->run_offered)
        report_special(cs, run);
}

void pug_cs_deliver(struct pug_coresight *cs)
{
    struct pug_transport_sink *sink = cs->sink;
    struct pug_run *run = &cs->run;
    while (PUG_RESP_IS_CONT(cs->worst) && (cs->run_there || next_run(cs))) {
        if ((sink->want & 2) || run->source >= PUG_CS_ID_FIRST_RESERVED)
            announce(cs, run);
        size_t used = 0;
        pug_cs_answer(cs, sink->run(sink->context, run, &used));
        cs->run_there = used < run->size && !PUG_RESP_IS_CONT(cs->worst);
        if (!cs->run_there)
            continue;
        cs->run_offered = true;
        cs->run_begun = used > 0;
        run->index += used;
        run->bytes += used;
        run->size -= used;
    }
}

/* ---- all of it ---- */

/** The next frame; most are memory-aligned and whole. */
static inline const uint8_t *next_frame(struct pug_coresight *cs, struct pug_cs_block *block)
{
    const uint8_t *frame = block->at;
    if (!(cs->flags & PUG_CS_MEM_ALIGN) || cs->fill > 0 || (cs->sink->want & 1) ||
        block->end - frame < (ptrdiff_t)PUG_CS_FRAME_BYTES || pug_cs_word(frame) == PUG_CS_FSYNC)
        return pug_cs_next_frame(cs, block);
    cs->frame_index = cs->index;
    cs->index += PUG_CS_FRAME_BYTES;
    cs->in_padding = false;
    block->at += PUG_CS_FRAME_BYTES;
    return frame;
}

void pug_cs_take_frames(struct pug_coresight *cs, struct pug_cs_block *block)
{
    while (PUG_RESP_IS_CONT(cs->worst)) {
        const size_t most = are_spliceable(cs, block) ? may_splice(cs) : 0;
        if (most > 0) {
            take_spliced(cs, block, most);
            continue;
        }
        const uint8_t *frame = next_frame(cs, block);
        if (!frame)
            break;
        begin_frame(cs, frame);
        pug_cs_deliver(cs);
    }
}
