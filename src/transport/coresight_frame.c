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
    if (ids)
        cs->id = frame[14] >> 1;
    if (run->size == 0 && !cs->sink->quirks.empty_run_fatal)
        cs->run_count--;
}

void cs_unpack(struct coresight *cs, const uint8_t *frame)
{
    uint64_t low = cs_load(frame), high = cs_load(frame + 8);
    unsigned ids = gather(low) | gather(high) << 4;
    low |= spread(frame[15]);
    high |= spread(frame[15] >> 4u);
    cs->run_at = 0;
    cs->run_count = 0;
    cs->run_offered = false;
    cs->run_begun = false;
    cs->sink->stats->framing += 1 + (unsigned)__builtin_popcount(ids);
    if (ids == 0) {
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
