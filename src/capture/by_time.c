// SPDX-License-Identifier: MIT
/**
 * @file Buffers of several processors side by side, on the caller's thread.
 *
 * Stays (struct pug_capture_last) come in the order of their times, each as a whole, and those of
 * one buffer as they were decoded. Of a buffer no more than a block is decoded ahead: what has its
 * turn goes through to the consumer, the rest waits.
 */
#include "base/grow.h"
#include "capture/decode.h"
#include "capture/marks.h"
#include "element/payload.h"
#include "pugmark/advanced/jobs.h"
#include "schedule/peers.h"
#include "tree/embed.h"

#include <stdlib.h>
#include <string.h>

/* A block of a buffer, and blocks of all of them: each byte may stand for two dozen elements. */
#define BLOCK  4096u
#define BLOCKS ((size_t)128 << 10)
/* A part of so many elements is taken. */
#define ENOUGH 8192u

#define NOBODY UINT32_MAX

/* More buffers, or sources of them all, are not decoded side by side: each takes memory. */
#define MOST         1024u
#define MOST_SOURCES 16384u
/* With more sources than this there are decoders of as many segments as overlap alone. */
#define MANY_SOURCES 256u

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
    struct pug_attribution attribution;
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
    struct pug_piece passage; /* first: it is the way from a passage to all of this */
    struct pug_capture_decoding *outer;
    struct pug_capture_decode config; /* the sides' */
    struct pug_capture_decoding decoding;
    struct side *sides;
    uint32_t count;
    uint32_t *turns; /* who is earlier, of two each; [leaves + n] is side n, or NOBODY */
    uint32_t leaves;
    size_t block;                    /* bytes of a buffer that are decoded at once */
    uint32_t *segments;              /* by buffer, in order */
    struct pug_list spare;           /* struct spare_tree */
    struct pug_capture_marks *marks; /* of many sources: read with for all of them; or NULL */
    void *part;                      /* of the consumer, of one segment; or NULL */
    uint32_t segment;
    size_t amount; /* elements in it */
    bool over;     /* the consumer wants no more … */
    bool starved;  /* … or there is no memory */
};

/* ---- to the consumer ---- */

/** A part, or a chunk of one, if it is wanted. */
static void hand_over(struct by_time *all, void *part)
{
    const struct pug_capture_decode *config = all->outer->config;
    if (all->over)
        config->drop(part);
    else if (!config->take(config->context, part))
        all->over = all->outer->result->ended = true;
}

static bool give_chunk(struct pug_piece *passage, void *chunk, size_t size)
{
    struct by_time *all = (struct by_time *)passage;
    (void)size;
    if (chunk)
        hand_over(all, chunk);
    else
        all->over = all->starved = true;
    return !all->over;
}

static void take_part(struct by_time *all)
{
    void *part = all->part;
    all->part = NULL;
    if (part)
        hand_over(all, part);
}

/** False: no memory. */
static bool begin_part(struct by_time *all, uint32_t segment)
{
    const struct pug_capture_decode *config = all->outer->config;
    all->part = config->begin(config->context, 0);
    all->segment = segment;
    all->amount = 0;
    if (all->part && config->passage)
        config->passage(all->part, &all->passage);
    return all->part != NULL;
}

static void give(struct by_time *all, const struct waiting *run, const struct pug_element *elements)
{
    const struct pug_capture_decode *config = all->outer->config;
    if (all->segment != run->origin.segment || all->amount >= ENOUGH)
        take_part(all);
    if (all->over)
        return;
    if (!all->part && !begin_part(all, run->origin.segment)) {
        all->over = all->starved = true;
        return;
    }
    (run->left_out ? all->outer->left_out : config->elements)(all->part, &run->origin, elements,
                                                              run->count);
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

static void take(struct side *side, const struct pug_origin *origin,
                 const struct pug_element *elements, size_t count, bool left_out)
{
    struct by_time *all = side->all;
    const struct waiting run = {.origin = *origin,
                                .time = side->attribution.residency,
                                .count = count,
                                .left_out = left_out};
    if (!waits(side) && run.time <= side->bound) {
        side->time = run.time;
        give(all, &run, elements);
    } else if (!keep(side, &run, elements)) {
        all->over = all->starved = true;
    }
}

static void take_chosen(void *context, const struct pug_origin *origin,
                        const struct pug_element *elements, size_t count)
{
    take(context, origin, elements, count, false);
}

static void take_left_out(void *context, const struct pug_origin *origin,
                          const struct pug_element *elements, size_t count)
{
    take(context, origin, elements, count, true);
}

static enum pug_response on_elements(void *context, const struct pug_element *elements,
                                     size_t count, size_t *taken)
{
    struct side *side = context;
    *taken = count;
    if (!side->all->over)
        pug_attribution_elements(&side->attribution, side, elements, count);
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
    const struct pug_capture_decoding *decoding = &side->all->decoding;
    struct pug_capture *capture = decoding->capture;
    const uint32_t kind = pug_capture_tree_kind(capture, segment);
    if (side->tree && side->kind == kind)
        return PUG_OK;
    drop_tree(side);
    side->kind = kind;
    side->tree = take_spare(side->all, kind);
    const enum pug_status status =
        side->tree ? PUG_OK
                   : pug_capture_tree(capture, segment, true, pug_capture_decode_log(decoding),
                                      &side->tree);
    if (status != PUG_OK)
        return status;
    pug_tree_on_elements(side->tree, on_elements, side);
    pug_tree_any_order(side->tree, decoding->config->any_order);
    return PUG_OK;
}

/** Nothing of the segment that is coming is before its first timestamp. */
static void look_ahead(struct side *side)
{
    struct by_time *all = side->all;
    struct pug_capture *capture = all->decoding.capture;
    uint64_t time;
    pug_capture_marks_read(all->marks, side->coming);
    if (!pug_capture_marks_first(all->marks, &time))
        return;
    if (!pug_capture_clock(capture, time, &time))
        time = pug_capture_from_ticks(capture, time);
    if (time > side->time)
        side->time = time;
}

/** False: there are no more segments. */
static bool find_next(struct side *side)
{
    const struct pug_capture_decoding *decoding = &side->all->decoding;
    while (side->left > 0 && side->coming == NOBODY) {
        const uint32_t segment = *side->next++;
        side->left--;
        if (pug_capture_may_choose(decoding, segment) &&
            pug_capture_segments(decoding->capture)[segment].size > 0)
            side->coming = segment;
    }
    if (side->coming != NOBODY && side->all->marks)
        look_ahead(side);
    return side->coming != NOBODY;
}

/** Go over to the segment that is coming, if it can be decoded. */
static void begin_segment(struct side *side)
{
    struct by_time *all = side->all;
    const uint32_t segment = side->coming;
    side->coming = NOBODY;
    side->at = 0;
    enum pug_status status = find_tree(side, segment);
    if (status == PUG_OK && !pug_capture_choose_sources(&all->decoding, segment, side->tree))
        status = PUG_ERR_NOT_FOUND;
    if (status == PUG_OK)
        status = pug_attribution_begin(&side->attribution, segment, side->tree);
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
    struct pug_capture_decoding *outer = all->outer;
    const struct pug_capture *capture = outer->capture;
    const struct pug_capture_segment *place = &pug_capture_segments(capture)[side->segment];
    uint8_t block[BLOCK];
    const uint64_t left = place->size - side->at;
    enum pug_status status;
    size_t used;
    const size_t got = pug_capture_bytes(capture, side->segment, side->at, block,
                                         left < all->block ? (size_t)left : all->block, &status);
    if (status != PUG_OK)
        pug_capture_say_unread(capture, pug_capture_decode_log(outer), place->offset + side->at,
                               status);
    const bool good = pug_capture_feed(side->tree, place->offset + side->at, block, got, &used);
    side->at += used;
    outer->result->bytes += used;
    outer->done += used;
    if (!good && !all->over)
        pug_capture_note_fatal(outer, place->offset + side->at);
    if (!all->over && !pug_capture_goes_on(outer, 0))
        all->over = outer->result->ended = true;
    if (good && status == PUG_OK && used > 0 && side->at < place->size)
        return;
    if (good)
        (void)pug_tree_end(side->tree);
    side->segment = NOBODY;
    if (all->marks)
        drop_tree(side);
}

/* ---- turns ---- */

static bool is_earlier(const struct by_time *all, uint32_t a, uint32_t b)
{
    return b == NOBODY || (a != NOBODY && all->sides[a].time <= all->sides[b].time);
}

/** Who is next has changed for a side. */
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

static bool is_side(const struct pug_capture_buffer *buffer)
{
    return buffer->chosen && buffer->segment_count > 0;
}

bool pug_capture_has_sides(const struct pug_capture *capture)
{
    size_t sides = 0, processors = 0;
    for (size_t i = 0; i < capture->buffers.count; i++) {
        const struct pug_capture_buffer *buffer = &pug_capture_buffers(capture)[i];
        sides += is_side(buffer);
        processors += is_side(buffer) && buffer->cpu != PUG_NO_CPU;
    }
    return capture->told_times && processors > 1 && sides <= MOST &&
           capture->sources.count <= MOST_SOURCES;
}

/** The sides, each with its segments. False: no memory. */
static bool open_sides(struct by_time *all)
{
    const struct pug_capture *capture = all->decoding.capture;
    const struct pug_capture_buffer *buffers = pug_capture_buffers(capture);
    const uint32_t buffer_count = (uint32_t)capture->buffers.count;
    uint32_t **ends = calloc(buffer_count + 1u, sizeof(uint32_t *));
    all->sides = calloc(buffer_count + 1u, sizeof(*all->sides));
    all->segments = calloc(capture->segments.count + 1, sizeof(*all->segments));
    uint32_t *at = all->segments;
    const bool many = capture->sources.count > MANY_SOURCES;
    if (many)
        all->marks = pug_capture_marks_new(all->decoding.capture);
    bool good = ends && all->sides && at && (all->marks || !many);
    for (uint32_t i = 0; good && i < buffer_count; i++) {
        ends[i] = at;
        if (is_side(&buffers[i])) {
            struct side *side = &all->sides[all->count++];
            *side = (struct side){.all = all,
                                  .next = at,
                                  .left = buffers[i].segment_count,
                                  .coming = NOBODY,
                                  .segment = NOBODY};
            good = pug_attribution_open(&side->attribution, &all->decoding);
            if (good)
                side->attribution.desk->reader = all->marks;
        }
        at += buffers[i].segment_count;
    }
    for (uint32_t i = 0; good && i < capture->segments.count; i++)
        *ends[pug_capture_segments(capture)[i].buffer]++ = i;
    free(ends);
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
    memset(all->turns, 0xff, 2 * (size_t)all->leaves * sizeof(*all->turns)); /* nobody */
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
    pug_attribution_close(&side->attribution);
    pug_tree_free(side->tree);
}

static void free_spare(struct pug_list *spare)
{
    struct spare_tree *trees = spare->items;
    for (size_t i = 0; i < spare->count; i++)
        pug_tree_free(trees[i].tree);
    free(trees);
}

enum pug_status pug_capture_by_time(struct pug_capture_decoding *decoding)
{
    struct by_time all = {.passage = {.emit = give_chunk},
                          .outer = decoding,
                          .config = *decoding->config,
                          .decoding = *decoding};
    struct pug_peers *peers = decoding->capture->options.peers;
    if (pug_peers_helps(peers))
        return PUG_OK; /* the first one does it */
    all.config.elements = take_chosen;
    all.config.times = true;
    all.decoding.config = &all.config;
    all.decoding.left_out = decoding->left_out ? take_left_out : NULL;
    all.starved = !open_sides(&all) || !open_turns(&all);
    all.over = all.starved;
    while (!all.over && all.turns[1] != NOBODY)
        take_turn(&all, all.turns[1]);
    take_part(&all);
    decoding->result->threads = 1;
    if (peers)
        peers->read_bytes += decoding->result->bytes;
    for (uint32_t i = 0; i < all.count; i++)
        close_side(&all.sides[i]);
    free_spare(&all.spare);
    free(all.sides);
    free(all.segments);
    free(all.turns);
    pug_capture_marks_free(all.marks);
    return all.starved ? PUG_ERR_MEM : PUG_OK;
}
