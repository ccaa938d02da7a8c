// SPDX-License-Identifier: MIT
/**
 * @file CoreSight frames source by source: what each source says in some frames is one run. Where
 * several speak in turn, eight bytes at a time, a decoder has many packets in a row then, not two
 * or three. Consumers that depend on the order of sources get the turns.
 */
#include "transport/coresight_frame.h"

#include <stdlib.h>

/* Frames that are gathered lie in so many bytes of trace: what becomes of them stays in the
 * caches near by. They begin and end at the same places wherever reading began. */
#define WINDOW      16384u
#define TURN_WINDOW 2048u /* while turns are recorded: all their elements wait */
#define MOST        (WINDOW + 2 * PUG_CS_FRAME_BYTES)
#define MOST_TURNS  (TURN_WINDOW / 2 + PUG_CS_FRAME_BYTES)
#define LOOK_AHEAD  4 /* frames: where one source speaks in all of them it is alone for now */
#define LEAST       8 /* frames: fewer are not worth it */

/** A source in a window, and room for what it says. */
struct speaker {
    struct pug_gathered *said; /**< that as others see it */
    uint8_t number;            /**< which one in the window it is */
    uint8_t bytes[MOST];
    uint16_t gaps[MOST];
    uint16_t ends[MOST_TURNS];
};

struct pug_cs_gathering {
    uint8_t numbers[128]; /**< by id: which one it is, from 1; 0: it did not speak */
    unsigned count, given;
    bool tells_turns;
    size_t turns;
    uint8_t order[MOST_TURNS];
    struct pug_gathered said[PUG_MOST_GATHERED];
    struct speaker speakers[PUG_MOST_GATHERED];
};

/** May the next frame be gathered, and is there one? */
static bool may_gather(const struct pug_coresight *cs, const struct pug_cs_block *block)
{
    return pug_cs_may_run_on(cs) && cs->id < PUG_CS_ID_FIRST_RESERVED && pug_cs_has_frame(block);
}

/** Do several sources speak in the next frames? One alone has long runs as it is. */
static bool speak_several(const struct pug_coresight *cs, const struct pug_cs_block *block)
{
    struct pug_cs_block ahead = *block;
    if (block->end - block->at < (ptrdiff_t)(LEAST * PUG_CS_FRAME_BYTES))
        return false;
    for (unsigned i = 0; i < LOOK_AHEAD; i++) {
        if (!pug_cs_repeats_id(cs, ahead.at, pug_cs_find_ids(ahead.at)))
            return true;
        ahead.at += PUG_CS_FRAME_BYTES;
    }
    return false;
}

/**
 * Is a frame with ids none for here? The reserved ids (their bytes are 0xe1 and more) and syncs (an
 * even byte of 0xff) have to be reported, and perhaps an id without a byte. The index of what
 * follows goes back, which no gap can express.
 */
static bool is_special(const uint8_t *frame, unsigned ids)
{
    const uint64_t bits = 0xe1 * PUG_CS_EVEN_BIT_0, carry = 0x1f * PUG_CS_EVEN_BIT_0;
    const uint64_t low = (pug_cs_load(frame) & bits) + carry,
                   high = (pug_cs_load(frame + 8) & bits) + carry;
    const unsigned late = ids & frame[15] & 0x7f;
    return ((low | high) & PUG_CS_EVEN_BIT_0 << 8) || (late << 1 & ids & ~late);
}

/** Returns the buffer that collects the bytes of an id. */
static struct speaker *speaker_of(struct pug_cs_gathering *gathering, uint16_t id)
{
    if (gathering->numbers[id] == 0) {
        const unsigned number = gathering->count++;
        struct speaker *fresh = &gathering->speakers[number];
        fresh->said = &gathering->said[number];
        fresh->number = (uint8_t)number;
        *fresh->said = (struct pug_gathered){
            .run = {.bytes = fresh->bytes, .gaps = fresh->gaps, .source = id}, .ends = fresh->ends};
        gathering->numbers[id] = (uint8_t)gathering->count;
    }
    return &gathering->speakers[gathering->numbers[id] - 1];
}

/** Its bytes belong to its turn, which continues or is a new one. */
static inline void note_turn(struct pug_cs_gathering *gathering, struct speaker *to)
{
    if (gathering->turns == 0 || gathering->order[gathering->turns - 1] != to->number) {
        gathering->order[gathering->turns++] = to->number;
        to->said->turns++;
    }
    to->ends[to->said->turns - 1] = (uint16_t)to->said->run.size;
}

/** So many bytes, which are there already, are added. `index`: of the first one. */
static inline void add(struct pug_cs_gathering *gathering, struct speaker *to, uint64_t index,
                       size_t size)
{
    struct pug_run *run = &to->said->run;
    if (run->size == 0)
        run->index = index;
    const uint16_t gap = (uint16_t)(index - run->index - run->size);
    uint16_t *gaps = &to->gaps[run->size];
    for (size_t i = 0; i < PUG_CS_FRAME_BYTES; i++)
        gaps[i] = gap;
    run->size += size;
    if (gathering->tells_turns)
        note_turn(gathering, to);
}

static inline void copy(struct pug_cs_gathering *gathering, struct speaker *to, uint64_t index,
                        const uint8_t *bytes, size_t size)
{
    memcpy(to->bytes + to->said->run.size, bytes, PUG_CS_FRAME_BYTES);
    add(gathering, to, index, size);
}

/**
 * Distribute a frame with ids. Returns the source after it. An index is as next_run() would have
 * it.
 */
static struct speaker *share_out(struct pug_coresight *cs, struct speaker *to, const uint8_t *frame,
                                 unsigned ids)
{
    struct pug_cs_gathering *gathering = cs->gathering;
    uint8_t bytes[2 * PUG_CS_FRAME_BYTES] = {0};
    uint64_t index = cs->index;
    unsigned from = 0;
    pug_cs_put_frame(bytes, frame);
    for (unsigned left = ids & 0x7f; left; left &= left - 1) {
        const unsigned pair = (unsigned)__builtin_ctz(left), at = 2 * pair;
        const uint16_t id = bytes[at] >> 1;
        const unsigned late = id != cs->id && (frame[15] >> pair & 1);
        const unsigned size = at + late - from;
        bytes[at] = bytes[at + 1];
        if (size > 0)
            copy(gathering, to, index, bytes + from, size);
        index += size;
        from = at + 1 + late;
        if (id == cs->id)
            continue;
        index = cs->index + at;
        cs->id = id;
        to = speaker_of(gathering, id);
    }
    const unsigned end = ids & 0x80 ? 14 : 15;
    if (end > from)
        copy(gathering, to, index, bytes + from, end - from);
    if (ids & 0x80)
        cs->id = bytes[14] >> 1;
    return speaker_of(gathering, cs->id);
}

/** The frames of a window, up to one that is special. */
static void take_window(struct pug_coresight *cs, struct pug_cs_block *block)
{
    struct pug_cs_gathering *gathering = cs->gathering;
    struct speaker *to = speaker_of(gathering, cs->id);
    const uint64_t end = (cs->index | ((gathering->tells_turns ? TURN_WINDOW : WINDOW) - 1)) + 1;
    const unsigned most =
        PUG_MOST_GATHERED - PUG_CS_FRAME_BYTES / 2; /* a frame may bring as many more */
    while (cs->index < end && gathering->count <= most && pug_cs_has_frame(block)) {
        const unsigned ids = pug_cs_find_ids(block->at);
        if (ids == 0) {
            pug_cs_put_frame(to->bytes + to->said->run.size, block->at);
            add(gathering, to, cs->index, PUG_CS_FRAME_BYTES - 1);
        } else if (!is_special(block->at, ids)) {
            to = share_out(cs, to, block->at, ids);
        } else {
            break;
        }
        pug_cs_pass_frame(cs, block);
    }
}

/** To who puts it back into the trace's order. */
static void give_turns(struct pug_coresight *cs)
{
    struct pug_cs_gathering *gathering = cs->gathering;
    const struct pug_gathering all = {.sources = gathering->said,
                                      .count = gathering->count,
                                      .order = gathering->order,
                                      .turns = gathering->turns};
    pug_cs_answer(cs, cs->sink->gathering(cs->sink->context, &all));
    pug_cs_forget_gathered(cs);
}

bool pug_cs_gather(struct pug_coresight *cs, struct pug_cs_block *block)
{
    const uint8_t *start = block->at;
    const struct pug_transport_sink *sink = cs->sink;
    struct pug_transport_stats *stats = sink->stats;
    if (!may_gather(cs, block))
        return false;
    if (!sink->any_order && !(sink->gathering && speak_several(cs, block)))
        return false;
    if (!cs->gathering)
        cs->gathering = calloc(1, sizeof(*cs->gathering));
    if (!cs->gathering)
        return false;
    cs->gathering->tells_turns = !sink->any_order;
    take_window(cs, block);
    if (block->at == start) {
        pug_cs_forget_gathered(cs);
        return false;
    }
    stats->framing += (uint64_t)(block->at - start);
    for (unsigned i = 0; i < cs->gathering->count; i++)
        stats->framing -= cs->gathering->said[i].run.size;
    cs->in_padding = false;
    cs->shift = pug_cs_word(block->at - 4);
    if (cs->gathering->tells_turns)
        give_turns(cs);
    else
        pug_cs_give_gathered(cs);
    return true;
}

/** The consumer took so many bytes. */
static void leave_rest(struct pug_run *run, size_t used)
{
    run->index += used; /* the gaps before are in those that follow */
    run->bytes += used;
    run->size -= used;
    run->gaps += used;
}

void pug_cs_give_gathered(struct pug_coresight *cs)
{
    struct pug_cs_gathering *gathering = cs->gathering;
    while (gathering->given < gathering->count && PUG_RESP_IS_CONT(cs->worst)) {
        struct pug_run *run = &gathering->said[gathering->given].run;
        size_t used = 0;
        const enum pug_response answer =
            run->size > 0 ? cs->sink->run(cs->sink->context, run, &used) : PUG_RESP_CONT;
        if (used < run->size && (used > 0 || !PUG_RESP_IS_CONT(answer))) {
            leave_rest(run, used);
            if (PUG_RESP_IS_CONT(answer))
                continue; /* the answer is that to what comes last */
        } else {
            gathering->numbers[run->source] = 0;
            gathering->given++;
        }
        pug_cs_answer(cs, answer);
    }
    if (gathering->given == gathering->count)
        gathering->turns = gathering->given = gathering->count = 0;
}

bool pug_cs_has_gathered(const struct pug_coresight *cs)
{
    return cs->gathering && cs->gathering->count > 0;
}

void pug_cs_forget_gathered(struct pug_coresight *cs)
{
    if (!cs->gathering)
        return;
    memset(cs->gathering->numbers, 0, sizeof(cs->gathering->numbers));
    cs->gathering->turns = cs->gathering->given = cs->gathering->count = 0;
}
