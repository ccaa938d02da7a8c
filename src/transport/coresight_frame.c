// SPDX-License-Identifier: MIT
/** @file CoreSight frames to runs, in the order of the trace. */
#include "transport/coresight_frame.h"

/** The next frame; most are memory-aligned and whole. */
static inline const uint8_t *next_frame(struct pug_coresight *cs, struct pug_cs_block *block)
{
    const uint8_t *frame = block->at;
    if (!(cs->flags & PUG_CS_MEM_ALIGN) || cs->fill > 0 || (cs->sink->want & 1) ||
        !pug_cs_has_frame(block) || pug_cs_word(frame) == PUG_CS_FSYNC)
        return pug_cs_next_frame(cs, block);
    cs->frame_index = cs->index;
    cs->in_padding = false;
    pug_cs_pass_frame(cs, block);
    return frame;
}

/* ---- run by run ---- */

/** A frame to be taken apart into runs. The one before has none left. */
static void begin_frame(struct pug_coresight *cs, const uint8_t *frame)
{
    const unsigned ids = pug_cs_find_ids(frame);
    pug_cs_put_frame(cs->bytes, frame);
    cs->ids = (uint8_t)ids;
    cs->aux = frame[15];
    cs->from = cs->told_from = 0;
    cs->sink->stats->framing += 1 + pug_cs_count_bits(ids);
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

/** Delivers the bytes after the last id that divides runs. False: nothing. */
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
static inline bool next_run(struct pug_coresight *cs)
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
    uint8_t data[2 * PUG_CS_FRAME_BYTES] = {0};
    pug_cs_put_frame(ids ? data : out, frame);
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

/* ---- runs over several frames ---- */

/** A run that goes on in the next frames. */
struct spliced {
    struct pug_run run;
    size_t begun;     /**< of its bytes, those of the frame in hand */
    uint64_t next;    /**< index of the frame after that */
    uint64_t framing; /**< bytes up to there */
    uint32_t shift;   /**< bytes there */
};

/** Does the run in hand go on in the next frame? Its first byte says so. */
static inline bool goes_on(const struct pug_coresight *cs, const struct pug_cs_block *block)
{
    return cs->from == PUG_CS_NO_FRAME && cs->run.source == cs->id && !cs->run_offered &&
           pug_cs_has_frame(block) && (!(block->at[0] & 1) || block->at[0] >> 1 == cs->id);
}

/** In how many frames it may. */
static size_t may_splice(const struct pug_coresight *cs)
{
    const struct pug_transport_sink *sink = cs->sink;
    if (!sink->takes || !pug_cs_may_run_on(cs) || cs->id >= PUG_CS_ID_FIRST_RESERVED)
        return 0;
    const unsigned takes = sink->takes(sink->context, cs->id);
    if (!(takes & PUG_TAKES_SPLICED))
        return 0;
    return takes & PUG_TAKES_LONG ? PUG_CS_MOST_SPLICED : PUG_CS_FEW_SPLICED;
}

static inline void put_gaps(uint16_t *gaps, uint16_t gap)
{
    for (size_t i = 0; i < PUG_CS_FRAME_BYTES; i++)
        gaps[i] = gap;
}

/** The bytes that follow it become part of it. `index`: of the first one. */
static void splice(struct pug_coresight *cs, struct pug_run *run, uint64_t index, size_t size)
{
    put_gaps(&cs->gaps[run->size], (uint16_t)(index - run->index - run->size));
    run->size += size;
}

/** Frames without an id, as most of one source are; how many, `most` at the most. */
static size_t splice_data(struct pug_coresight *cs, struct pug_cs_block *block, struct pug_run *run,
                          size_t most)
{
    const uint8_t *at = block->at;
    uint8_t *out = cs->spliced + run->size;
    uint16_t *gaps = cs->gaps + run->size;
    uint16_t gap = (uint16_t)(cs->index - run->index - run->size);
    size_t count = 0;
    for (; count < most && block->end - at >= (ptrdiff_t)PUG_CS_FRAME_BYTES; count++) {
        if ((pug_cs_load(at) | pug_cs_load(at + 8)) & PUG_CS_EVEN_BIT_0)
            break;
        pug_cs_put_frame(out, at);
        put_gaps(gaps, gap++);
        at += PUG_CS_FRAME_BYTES;
        out += PUG_CS_FRAME_BYTES - 1;
        gaps += PUG_CS_FRAME_BYTES - 1;
    }
    block->at = at;
    cs->index += count * PUG_CS_FRAME_BYTES;
    cs->sink->stats->framing += count;
    run->size += count * (PUG_CS_FRAME_BYTES - 1);
    return count;
}

/** Frames of its source alone. */
static void splice_frames(struct pug_coresight *cs, struct pug_cs_block *block, struct pug_run *run,
                          size_t most)
{
    const uint8_t *const from = block->at;
    for (; most > 0 && pug_cs_has_frame(block); most--) {
        most -= splice_data(cs, block, run, most);
        if (most == 0 || !pug_cs_has_frame(block))
            break;
        const unsigned ids = pug_cs_find_ids(block->at);
        if (!pug_cs_repeats_id(cs, block->at, ids))
            break;
        const size_t size = put_data(cs->spliced + run->size, block->at, ids);
        splice(cs, run, cs->index, size);
        cs->sink->stats->framing += PUG_CS_FRAME_BYTES - size;
        pug_cs_pass_frame(cs, block);
    }
    if (block->at > from)
        cs->shift = pug_cs_word(block->at - 4);
}

/** What a frame begins with that others share. They are left in it. */
static void splice_begin(struct pug_coresight *cs, struct pug_cs_block *block, struct pug_run *run)
{
    if (!(cs->flags & PUG_CS_MEM_ALIGN) || !goes_on(cs, block))
        return;
    begin_frame(cs, next_frame(cs, block));
    next_run(cs);
    memcpy(cs->spliced + run->size, cs->run.bytes, PUG_CS_FRAME_BYTES);
    splice(cs, run, cs->run.index, cs->run.size);
}

/**
 * The consumer stopped after `used` bytes. The rest of the frame is a run of its own. The next runs
 * are not taken, as if they had not been read.
 */
static void give_back(struct pug_coresight *cs, struct pug_cs_block *block,
                      const struct spliced *spliced, size_t used)
{
    const struct pug_run *run = &spliced->run;
    const size_t last = used > 0 ? used - 1 : 0;
    size_t end = used, taken = 0;
    while (end < run->size && cs->gaps[end] == cs->gaps[last])
        end++;
    if (last >= spliced->begun)
        taken = (size_t)(run->index + last + cs->gaps[last] - spliced->next) / PUG_CS_FRAME_BYTES *
                    PUG_CS_FRAME_BYTES +
                PUG_CS_FRAME_BYTES;
    const uint64_t index = spliced->next + taken;
    if (cs->index > index) {
        block->at -= cs->index - index;
        cs->index = index;
        cs->shift = taken > 0 ? pug_cs_word(block->at - 4) : spliced->shift;
        cs->sink->stats->framing = spliced->framing + taken - (end - spliced->begun);
        cs->id = run->source;
        cs->ids = 0;
        cs->from = PUG_CS_NO_FRAME;
    }
    cs->run_there = end > used;
    cs->run_offered = true;
    cs->run_begun = used > 0;
    cs->run = (struct pug_run){.index = pug_run_index(run, run->bytes + used),
                               .bytes = run->bytes + used,
                               .size = end - used,
                               .source = run->source};
}

/**
 * Take the run in hand and what it goes on with as one and hand it out; the answer to `worst`.
 * After an answer that stops, no more is taken than would have been frame by frame.
 */
static void take_spliced(struct pug_coresight *cs, struct pug_cs_block *block, size_t most)
{
    struct spliced spliced = {
        .run = {.index = cs->run.index, .bytes = cs->spliced, .gaps = cs->gaps, .source = cs->id},
        .begun = cs->run.size,
        .next = cs->index,
        .framing = cs->sink->stats->framing,
        .shift = cs->shift,
    };
    struct pug_run *run = &spliced.run;
    memcpy(cs->spliced, cs->run.bytes, PUG_CS_FRAME_BYTES);
    splice(cs, run, run->index, spliced.begun);
    splice_frames(cs, block, run, most);
    splice_begin(cs, block, run);
    size_t used = 0;
    enum pug_response answer = cs->sink->run(cs->sink->context, run, &used);
    bool all = answer == PUG_RESP_CONT && used == 0; /* who just looks on need not count */
    cs->run_there = false;
    if (!all && used < run->size)
        give_back(cs, block, &spliced, used);
    /* The answer to a frame is that to what comes last in it. */
    if (!cs->run_there || !PUG_RESP_IS_CONT(answer))
        pug_cs_answer(cs, answer);
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

/** Sends the notifications that belong to a run. */
static void announce(struct pug_coresight *cs, const struct pug_run *run)
{
    if (!cs->run_begun)
        pug_cs_show(cs, 2, run->index, PUG_FRAME_ID_DATA, run->source, run->bytes, run->size);
    if (run->source >= PUG_CS_ID_FIRST_RESERVED && run->source != PUG_SOURCE_UNKNOWN &&
        !cs->run_offered)
        report_special(cs, run);
}

/** Hand out the run in hand; the answer to `worst`. */
static void give_run(struct pug_coresight *cs)
{
    struct pug_transport_sink *sink = cs->sink;
    struct pug_run *run = &cs->run;
    if ((sink->want & 2) || run->source >= PUG_CS_ID_FIRST_RESERVED)
        announce(cs, run);
    size_t used = 0;
    pug_cs_answer(cs, sink->run(sink->context, run, &used));
    cs->run_there = used < run->size && !PUG_RESP_IS_CONT(cs->worst);
    if (!cs->run_there)
        return;
    cs->run_offered = true;
    cs->run_begun = used > 0;
    run->index += used;
    run->bytes += used;
    run->size -= used;
}

/** Hand out the runs that are left of the frame, and what they go on with in the next ones. */
static void deliver(struct pug_coresight *cs, struct pug_cs_block *block)
{
    while (PUG_RESP_IS_CONT(cs->worst) && (cs->run_there || next_run(cs))) {
        const size_t most = goes_on(cs, block) ? may_splice(cs) : 0;
        if (most > 0)
            take_spliced(cs, block, most);
        else
            give_run(cs);
    }
}

void pug_cs_deliver(struct pug_coresight *cs)
{
    if (cs->gathering)
        pug_cs_give_gathered(cs);
    deliver(cs, &(struct pug_cs_block){0});
}

/* ---- all of it ---- */

void pug_cs_take_frames(struct pug_coresight *cs, struct pug_cs_block *block)
{
    const uint8_t *frame;
    while (PUG_RESP_IS_CONT(cs->worst)) {
        pug_cs_count_frames(cs, block);
        if ((cs->sink->any_order || cs->sink->gathering) && pug_cs_gather(cs, block))
            continue;
        frame = next_frame(cs, block);
        if (!frame)
            break;
        begin_frame(cs, frame);
        deliver(cs, block);
    }
}
