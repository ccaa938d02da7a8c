// SPDX-License-Identifier: MIT
/**
 * @file Buffers of several processors side by side, on the caller's thread.
 *
 * Residencies (what a source says of a task from where that comes to the processor, or tracing
 * begins) come in the order of their times, each as a whole, and those of one buffer as they were
 * decoded. Of a buffer no more than a block is decoded ahead: what has its
 * turn goes through to the consumer, the rest waits.
 */
#include "base/grow.h"
#include "element/payload.h"
#include "pugmark/capture.h"
#include "schedule/peers.h"
#include "schedule/segments_pool.h"
#include "tree/embed.h"

#include <stdlib.h>
#include <string.h>

/* A block of a buffer, and blocks of all of them: each byte may stand for two dozen elements. */
#define BLOCK  4096u
#define BLOCKS ((size_t)128 << 10)
/* A part of so many elements is taken. */
#define ENOUGH 8192u

#define NOBODY UINT32_MAX

/** Elements that wait. */
struct waiting {
    struct pug_origin origin;
    uint64_t time; /* of their residency */
    size_t count;
    bool left_out;
};

/** A buffer. */
struct side {
    struct by_time *all;
    void *attribution;
    struct pug_tree *tree;
    uint32_t kind;            /* of the tree */
    const uint32_t *next;     /* segments that are still to come … */
    size_t left;              /* … and how many there are */
    uint32_t coming;          /* the next one of these, or NOBODY */
    uint32_t segment;         /* at work, or NOBODY */
    uint64_t at;              /* of this */
    struct pug_list waiting;  /* struct waiting … */
    struct pug_list elements; /* … struct pug_element of them */
    size_t given, given_elements;
    uint64_t time;  /* of what waits first; else nothing is to come that is before it */
    uint64_t bound; /* the others' */
};

struct spare_tree {
    struct pug_tree *tree;
    uint32_t kind;
};

struct by_time {
    struct pug_schedule *schedule;
    struct side *sides;
    uint32_t count;
    uint32_t *turns; /* who is earlier, of two each; [leaves + n] is side n, or NOBODY */
    uint32_t leaves;
    size_t block;          /* bytes of a buffer that are decoded at once */
    struct pug_list spare; /* struct spare_tree */
    struct pug_pieces *pieces;
    struct pug_parts *parts; /* of one segment; or NULL */
    uint32_t segment;
    size_t amount; /* elements in it */
    bool over;     /* consumers want no more … */
    bool starved;  /* … or there is no memory */
};

/* ---- to the consumers ---- */

/** Parts, or a chunk, if they are wanted. */
static void hand_over(struct by_time *all, struct pug_parts *parts)
{
    const struct pug_consumers *consumers = all->schedule->consumers;
    if (!all->over && !pug_parts_take(consumers, parts))
        all->over = all->schedule->result->ended = true;
    pug_parts_free(consumers, parts);
}

/** pug_pieces.give. */
static bool give_chunk(void *context, struct pug_parts *chunk, size_t size)
{
    struct by_time *all = context;
    (void)size;
    if (chunk)
        hand_over(all, chunk);
    else
        all->over = all->starved = true;
    return !all->over;
}

static void take_parts(struct by_time *all)
{
    struct pug_parts *parts = all->parts;
    all->parts = NULL;
    if (parts)
        hand_over(all, parts);
}

/** False: no memory. */
static bool begin_parts(struct by_time *all, uint32_t segment)
{
    all->parts = pug_pieces_begin(all->pieces, 0, segment, 0);
    all->segment = segment;
    all->amount = 0;
    return all->parts != NULL;
}

static void give(struct by_time *all, const struct waiting *run, const struct pug_element *elements)
{
    if (all->segment != run->origin.segment || all->amount >= ENOUGH)
        take_parts(all);
    if (all->over)
        return;
    if (!all->parts && !begin_parts(all, run->origin.segment)) {
        all->over = all->starved = true;
        return;
    }
    pug_parts_elements(all->schedule->consumers, all->parts->parts, &run->origin, elements,
                       run->count, run->left_out);
    all->amount += run->count;
}

/* ---- what waits ---- */

static bool waits(const struct side *side)
{
    return side->given < side->waiting.count;
}

static const struct waiting *first_of(const struct side *side)
{
    return (const struct waiting *)side->waiting.items + side->given;
}

static bool keep(struct side *side, const struct waiting *run, const struct pug_element *elements)
{
    if (!pug_list_reserve(&side->elements, run->count, sizeof(*elements)))
        return false;
    struct waiting *last = pug_list_add(&side->waiting, sizeof(*last));
    if (!last)
        return false;
    struct pug_element *kept = (struct pug_element *)side->elements.items + side->elements.count;
    memcpy(kept, elements, run->count * sizeof(*kept));
    side->elements.count += run->count;
    *last = *run;
    bool good = true;
    for (size_t i = 0; i < run->count; i++)
        good &= pug_payload_keep(&kept[i]);
    return good;
}

/** Give what waits and has its turn. */
static void give_waiting(struct side *side)
{
    while (waits(side) && !side->all->over && first_of(side)->time <= side->bound) {
        const struct waiting *run = first_of(side);
        const struct pug_element *elements =
            (const struct pug_element *)side->elements.items + side->given_elements;
        give(side->all, run, elements);
        for (size_t i = 0; i < run->count; i++)
            pug_payload_free(&elements[i]);
        side->time = run->time;
        side->given_elements += run->count;
        side->given++;
    }
    if (!waits(side))
        side->given = side->given_elements = side->waiting.count = side->elements.count = 0;
}

/* ---- from the decoders ---- */

/** pug_receiver.give. */
static void take(void *context, const struct pug_origin *origin, uint64_t residency, bool left_out,
                 const struct pug_element *elements, size_t count)
{
    struct side *side = context;
    struct by_time *all = side->all;
    const struct waiting run = {
        .origin = *origin, .time = residency, .count = count, .left_out = left_out};
    if (!waits(side) && run.time <= side->bound) {
        side->time = run.time;
        give(all, &run, elements);
    } else if (!keep(side, &run, elements)) {
        all->over = all->starved = true;
    }
}

static enum pug_response on_elements(void *context, const struct pug_element *elements,
                                     size_t count, size_t *taken)
{
    struct side *side = context;
    *taken = count;
    if (!side->all->over)
        side->all->schedule->segments->elements(side->attribution, elements, count);
    return side->all->over ? PUG_RESP_FATAL_SYS_ERR : PUG_RESP_CONT;
}

/* ---- segments ---- */

/** Another side, or segment, may go on with it; no more than there are sides wait for that. */
static void drop_tree(struct side *side)
{
    struct by_time *all = side->all;
    struct spare_tree *spare = side->tree && all->spare.count < all->count
                                   ? pug_list_add(&all->spare, sizeof(*spare))
                                   : NULL;
    if (spare)
        *spare = (struct spare_tree){side->tree, side->kind};
    else
        pug_tree_free(side->tree);
    side->tree = NULL;
}

/** One for segments of a kind, or NULL. */
static struct pug_tree *take_spare(struct by_time *all, uint32_t kind)
{
    struct spare_tree *spare = all->spare.items;
    for (size_t i = all->spare.count; i > 0; i--)
        if (spare[i - 1].kind == kind) {
            struct pug_tree *tree = spare[i - 1].tree;
            spare[i - 1] = spare[--all->spare.count];
            return tree;
        }
    return NULL;
}

static enum pug_status find_tree(struct side *side, uint32_t segment)
{
    const struct pug_schedule *schedule = side->all->schedule;
    const struct pug_segments *segments = schedule->segments;
    const uint32_t kind = segments->tree_kind(segments->context, segment);
    if (side->tree && side->kind == kind)
        return PUG_OK;
    drop_tree(side);
    side->kind = kind;
    side->tree = take_spare(side->all, kind);
    if (side->tree) {
        pug_tree_on_elements(side->tree, on_elements, side);
        return PUG_OK;
    }
    const enum pug_status status =
        segments->tree(segments->context, segment, schedule->options->log, &side->tree);
    if (status != PUG_OK)
        return status;
    pug_tree_on_elements(side->tree, on_elements, side);
    pug_tree_any_order(side->tree,
                       pug_consumers_all_want(schedule->consumers, PUG_WANTS_ANY_ORDER));
    return pug_consumers_attach(schedule->consumers, 0, side->tree) ? PUG_OK : PUG_ERR_MEM;
}

/** Nothing of the segment that is coming is before its first timestamp. False: there is none. */
static bool find_next(struct side *side)
{
    const struct pug_segments *segments = side->all->schedule->segments;
    if (side->left > 0) {
        side->coming = *side->next++;
        side->left--;
    }
    if (side->coming != NOBODY && segments->look_ahead)
        segments->look_ahead(segments->context, side->coming, &side->time);
    return side->coming != NOBODY;
}

/** Go over to the segment that is coming, if it can be decoded. */
static void begin_segment(struct side *side)
{
    struct by_time *all = side->all;
    const struct pug_segments *segments = all->schedule->segments;
    const uint32_t segment = side->coming;
    side->coming = NOBODY;
    side->at = 0;
    enum pug_status status = find_tree(side, segment);
    if (status == PUG_OK && !segments->choose(segments->context, segment, side->tree))
        status = PUG_ERR_NOT_FOUND;
    if (status == PUG_OK)
        status = segments->begin(side->attribution, segment, side->tree);
    if (status == PUG_OK)
        status = pug_tree_renew(side->tree);
    if (status == PUG_OK)
        side->segment = segment;
    if (status == PUG_ERR_MEM)
        all->over = all->starved = true;
}

/** The next block of the segment. */
static void read_block(struct side *side)
{
    struct by_time *all = side->all;
    struct pug_schedule *schedule = all->schedule;
    const struct pug_segments *segments = schedule->segments;
    const uint64_t size = segments->size(segments->context, side->segment);
    const uint64_t index = segments->index(segments->context, side->segment) + side->at;
    const uint64_t left = size - side->at;
    uint8_t block[BLOCK];
    bool more;
    size_t used;
    const size_t got =
        segments->read(segments->context, side->segment, schedule->options->log, side->at, block,
                       left < all->block ? (size_t)left : all->block, &more);
    const bool good = pug_schedule_feed(side->tree, index, block, got, &used);
    side->at += used;
    schedule->result->bytes += used;
    schedule->done += used;
    if (!good && !all->over)
        pug_schedule_note_fatal(schedule, index + used);
    if (!all->over && !pug_schedule_goes_on(schedule, 0))
        all->over = schedule->result->ended = true;
    if (good && more && used > 0 && side->at < size)
        return;
    if (good)
        (void)pug_tree_end(side->tree);
    side->segment = NOBODY;
    if (segments->look_ahead)
        drop_tree(side);
}

/* ---- turns ---- */

static bool is_earlier(const struct by_time *all, uint32_t a, uint32_t b)
{
    return b == NOBODY || (a != NOBODY && all->sides[a].time <= all->sides[b].time);
}

/** The next one has changed for a side. */
static void note_turn(struct by_time *all, uint32_t number, bool done)
{
    uint32_t at = all->leaves + number;
    all->turns[at] = done ? NOBODY : number;
    while ((at /= 2) > 0) {
        const uint32_t *pair = &all->turns[2 * at];
        all->turns[at] = is_earlier(all, pair[0], pair[1]) ? pair[0] : pair[1];
    }
}

/** The least time of all sides but one. */
static uint64_t bound_of(const struct by_time *all, uint32_t but)
{
    uint32_t first = NOBODY;
    for (uint32_t at = all->leaves + but; at > 1; at /= 2)
        first = is_earlier(all, first, all->turns[at ^ 1]) ? first : all->turns[at ^ 1];
    return first == NOBODY ? UINT64_MAX : all->sides[first].time;
}

static void take_turn(struct by_time *all, uint32_t number)
{
    struct side *side = &all->sides[number];
    bool done = false;
    side->bound = bound_of(all, number);
    give_waiting(side);
    if (!waits(side) && side->segment != NOBODY && !all->over)
        read_block(side);
    else if (!waits(side) && side->coming != NOBODY)
        begin_segment(side);
    else if (!waits(side))
        done = !find_next(side);
    if (done)
        drop_tree(side);
    if (waits(side))
        side->time = first_of(side)->time;
    note_turn(all, number, done);
}

/* ---- */

/** False: no memory. */
static bool open_sides(struct by_time *all)
{
    const struct pug_segments *segments = all->schedule->segments;
    bool good = true;
    all->pieces = pug_pieces_new(all->schedule->consumers, give_chunk, all);
    all->sides = calloc(segments->side_count + 1u, sizeof(*all->sides));
    if (!all->pieces || !all->sides)
        return false;
    for (uint32_t i = 0; good && i < segments->side_count; i++) {
        struct side *side = &all->sides[all->count++];
        const struct pug_receiver receiver = {side, take};
        *side = (struct side){.all = all,
                              .next = segments->sides[i].segments,
                              .left = segments->sides[i].count,
                              .coming = NOBODY,
                              .segment = NOBODY};
        side->attribution = segments->open(segments->context, &receiver);
        good = side->attribution != NULL;
    }
    all->block = all->count * BLOCK > BLOCKS ? (BLOCKS / all->count) & ~(size_t)15 : BLOCK;
    return good;
}

static bool open_turns(struct by_time *all)
{
    for (all->leaves = 1; all->leaves < all->count; all->leaves *= 2)
        continue;
    all->turns = malloc(2 * (size_t)all->leaves * sizeof(*all->turns));
    if (!all->turns)
        return false;
    memset(all->turns, 0xff, 2 * (size_t)all->leaves * sizeof(*all->turns)); /* none */
    for (uint32_t i = 0; i < all->count; i++)
        note_turn(all, i, false);
    return true;
}

static void close_side(struct side *side)
{
    const struct pug_element *elements = side->elements.items;
    for (size_t i = side->given_elements; i < side->elements.count; i++)
        pug_payload_free(&elements[i]);
    free(side->elements.items);
    free(side->waiting.items);
    if (side->all)
        side->all->schedule->segments->close(side->attribution);
    pug_tree_free(side->tree);
}

static void free_spare(struct pug_list *spare)
{
    struct spare_tree *trees = spare->items;
    for (size_t i = 0; i < spare->count; i++)
        pug_tree_free(trees[i].tree);
    free(trees);
}

enum pug_status pug_schedule_by_time(struct pug_schedule *schedule)
{
    struct by_time all = {.schedule = schedule};
    struct pug_peers *peers = schedule->options->peers;
    if (pug_peers_helps(peers))
        return PUG_OK; /* the first one does it */
    all.starved = !open_sides(&all) || !open_turns(&all);
    all.over = all.starved;
    while (!all.over && all.turns[1] != NOBODY)
        take_turn(&all, all.turns[1]);
    take_parts(&all);
    schedule->result->threads = 1;
    if (peers)
        peers->read_bytes += schedule->result->bytes;
    for (uint32_t i = 0; i < all.count; i++)
        close_side(&all.sides[i]);
    free_spare(&all.spare);
    free(all.pieces);
    free(all.sides);
    free(all.turns);
    return all.starved ? PUG_ERR_MEM : PUG_OK;
}
