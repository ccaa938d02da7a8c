// SPDX-License-Identifier: MIT
/**
 * @file CoreSight frames source by source, for who does not mind in what order sources come: what
 * each of them says in some frames is one run. Where several speak in turn, eight bytes at a time,
 * a decoder has many packets in a row then, not two or three.
 */
#include "transport/coresight_frame.h"

#include <stdlib.h>

/* Frames that are gathered lie in so many bytes of trace: what becomes of them stays in the
 * caches near by. They begin and end at the same places wherever reading began. */
#define WINDOW  16384u
#define SOURCES 32u /* that may speak in it */
#define MOST    (WINDOW + 2 * PUG_CS_FRAME_BYTES)

/** What a source says in a window. */
struct gathered {
    struct pug_run run;
    uint8_t bytes[MOST];
    uint16_t gaps[MOST];
};

struct pug_cs_gathering {
    uint8_t numbers[128]; /**< by id: which one it is, from 1; 0: it did not speak */
    unsigned count, given;
    struct gathered sources[SOURCES];
};

/** May the next frame be gathered, and is there one? */
static bool may_gather(const struct pug_coresight *cs, const struct pug_cs_block *block)
{
    return !(cs->sink->want & 3) && cs->synced && cs->fill == 0 && !cs->odd && !cs->half_sync &&
           cs->id < PUG_CS_ID_FIRST_RESERVED &&
           block->end - block->at >= (ptrdiff_t)PUG_CS_FRAME_BYTES;
}

/**
 * Is a frame with ids none for here? There is something to be said of ids that are reserved (their
 * bytes are 0xe1 and more) and of syncs (an even byte of 0xff), and perhaps of an id without a
 * byte: what comes behind that goes back in its index, which no gap can tell.
 */
static bool is_special(const uint8_t *frame, unsigned ids)
{
    const uint64_t bits = 0xe1 * PUG_CS_EVEN_BIT_0, carry = 0x1f * PUG_CS_EVEN_BIT_0;
    const uint64_t low = (pug_cs_load(frame) & bits) + carry,
                   high = (pug_cs_load(frame + 8) & bits) + carry;
    const unsigned late = ids & frame[15] & 0x7f;
    return ((low | high) & PUG_CS_EVEN_BIT_0 << 8) || (late << 1 & ids & ~late);
}

/** Where the bytes of an id go. */
static struct gathered *speaker(struct pug_cs_gathering *gathering, uint16_t id)
{
    if (gathering->numbers[id] == 0) {
        struct gathered *fresh = &gathering->sources[gathering->count++];
        fresh->run = (struct pug_run){.bytes = fresh->bytes, .gaps = fresh->gaps, .source = id};
        gathering->numbers[id] = (uint8_t)gathering->count;
    }
    return &gathering->sources[gathering->numbers[id] - 1];
}

/** So many bytes, which are there already, are added. `index`: of the first one. */
static inline void add(struct gathered *to, uint64_t index, size_t size)
{
    struct pug_run *run = &to->run;
    if (run->size == 0)
        run->index = index;
    const uint16_t gap = (uint16_t)(index - run->index - run->size);
    uint16_t *gaps = &to->gaps[run->size];
    for (size_t i = 0; i < PUG_CS_FRAME_BYTES; i++)
        gaps[i] = gap;
    run->size += size;
}

static inline void copy(struct gathered *to, uint64_t index, const uint8_t *bytes, size_t size)
{
    memcpy(to->bytes + to->run.size, bytes, PUG_CS_FRAME_BYTES);
    add(to, index, size);
}

/** Share out a frame with ids; who speaks behind it. An index is as next_run() would have it. */
static struct gathered *share_out(struct pug_coresight *cs, struct gathered *to,
                                  const uint8_t *frame, unsigned ids)
{
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
            copy(to, index, bytes + from, size);
        index += size;
        from = at + 1 + late;
        if (id == cs->id)
            continue;
        index = cs->index + at;
        cs->id = id;
        to = speaker(cs->gathering, id);
    }
    const unsigned end = ids & 0x80 ? 14 : 15;
    if (end > from)
        copy(to, index, bytes + from, end - from);
    if (ids & 0x80)
        cs->id = bytes[14] >> 1;
    return speaker(cs->gathering, cs->id);
}

/** The frames of a window, up to one that is special. */
static void take_window(struct pug_coresight *cs, struct pug_cs_block *block)
{
    struct gathered *to = speaker(cs->gathering, cs->id);
    const uint64_t end = (cs->index | (WINDOW - 1)) + 1;
    const unsigned most = SOURCES - PUG_CS_FRAME_BYTES / 2; /* a frame may bring as many more */
    while (cs->index < end && cs->gathering->count <= most &&
           block->end - block->at >= (ptrdiff_t)PUG_CS_FRAME_BYTES) {
        const unsigned ids = pug_cs_find_ids(block->at);
        if (ids == 0) {
            pug_cs_put_frame(to->bytes + to->run.size, block->at);
            add(to, cs->index, PUG_CS_FRAME_BYTES - 1);
        } else if (!is_special(block->at, ids)) {
            to = share_out(cs, to, block->at, ids);
        } else {
            break;
        }
        cs->index += PUG_CS_FRAME_BYTES;
        block->at += PUG_CS_FRAME_BYTES;
    }
}

bool pug_cs_gather(struct pug_coresight *cs, struct pug_cs_block *block)
{
    const uint8_t *start = block->at;
    struct pug_transport_stats *stats = cs->sink->stats;
    if (!may_gather(cs, block))
        return false;
    if (!cs->gathering)
        cs->gathering = calloc(1, sizeof(*cs->gathering));
    if (!cs->gathering)
        return false;
    take_window(cs, block);
    stats->framing += (uint64_t)(block->at - start);
    for (unsigned i = 0; i < cs->gathering->count; i++)
        stats->framing -= cs->gathering->sources[i].run.size;
    if (block->at > start) {
        cs->in_padding = false;
        cs->shift = pug_cs_word(block->at - 4);
    }
    pug_cs_give_gathered(cs);
    return block->at > start;
}

/** The consumer took so many bytes. */
static void leave_rest(struct pug_run *run, size_t used)
{
    run->index += used; /* the gaps before are in those behind */
    run->bytes += used;
    run->size -= used;
    run->gaps += used;
}

void pug_cs_give_gathered(struct pug_coresight *cs)
{
    struct pug_cs_gathering *gathering = cs->gathering;
    while (gathering->given < gathering->count && PUG_RESP_IS_CONT(cs->worst)) {
        struct gathered *gathered = &gathering->sources[gathering->given];
        struct pug_run *run = &gathered->run;
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
        gathering->given = gathering->count = 0;
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
    cs->gathering->given = cs->gathering->count = 0;
}
