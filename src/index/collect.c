// SPDX-License-Identifier: MIT
/** @file One tree's runs, marks and elements, added up by blocks. */
#include "index/collect.h"

#include <stdlib.h>

/* Marks of a source that wait to be counted. */
#define LIST 512u
/* Values of a source and kind that were seen lately; a power of two. */
#define SEEN 2048u

/** One source and kind in the block that was last marked. */
struct tally {
    uint64_t start; /* of the block */
    uint32_t count, first_at, last_at, hash;
    uint64_t first, last, least, greatest;
};

/** Values that are listed for `block`. Zero is never among them. */
struct seen {
    uint64_t block;
    uint64_t values[SEEN];
};

struct source {
    struct collector *collector;
    bool in_tree;
    uint16_t id;
    struct tally tallies[PUG_MARK_KINDS];
    struct pug_mark_list list;
    struct pug_placed_mark marks[LIST];
    struct seen *seen[PUG_MARK_KINDS]; /* of kinds whose values are listed; or NULL */
};

struct collector {
    const struct job *job;
    struct pug_tree *tree;
    const struct pug_transport *transport;
    struct stretch *stretch; /* of now */
    uint64_t block, at;      /* that is being read; bytes */
    struct source *sources[PUG_INDEX_SOURCE_LIMIT];
    size_t source_count;
    struct source *last_run;
    uint16_t *numbers; /* of each id: 1 + its place in `sources`; 0: none yet */
    struct pug_state state;
    bool failed, crowded, stopped;
};

bool index_add_record(struct records *records, const void *record)
{
    if (records->count == records->room) {
        size_t room = records->room ? 2 * records->room : 64;
        void *grown = realloc(records->items, room * records->size);
        if (!grown)
            return false;
        records->items = grown;
        records->room = room;
    }
    memcpy((char *)records->items + records->count++ * records->size, record, records->size);
    return true;
}

void index_stretch_free(struct stretch *stretch)
{
    free(stretch->summaries.items);
    free(stretch->marks.items);
    free(stretch->behind.items);
    index_values_free(&stretch->values);
    pug_state_free(&stretch->start);
}

static void keep(struct collector *collector, struct records *records, const void *record)
{
    if (!index_add_record(records, record))
        collector->failed = true;
}

/** Something of an earlier block came. */
static void keep_behind(struct collector *collector, uint64_t block)
{
    struct records *records = &collector->stretch->behind;
    const struct behind behind = {.block = block, .reading = collector->block};
    const struct behind *last = records->items;
    if (records->count > 0 && last[records->count - 1].block == block &&
        last[records->count - 1].reading == collector->block)
        return;
    keep(collector, records, &behind);
}

/* ---- marks ---- */

static void close_tally(struct source *source, enum pug_mark_kind kind)
{
    struct collector *collector = source->collector;
    struct tally *tally = &source->tallies[kind];
    if (tally->count == 0)
        return;
    const struct index_summary summary = {
        .block = (uint32_t)(tally->start / collector->job->block),
        .source = source->id,
        .kind = (uint8_t)kind,
        .count = tally->count,
        .first_at = tally->first_at,
        .last_at = tally->last_at,
        .hash = tally->hash,
        .first = tally->first,
        .last = tally->last,
        .least = tally->least,
        .greatest = tally->greatest,
    };
    keep(collector, &collector->stretch->summaries, &summary);
    if (summary.block < collector->block)
        keep_behind(collector, summary.block);
    tally->count = 0;
}

static void close_tallies(struct collector *collector)
{
    for (size_t i = 0; i < collector->source_count; i++)
        for (unsigned kind = 0; kind < PUG_MARK_KINDS; kind++)
            close_tally(collector->sources[i], (enum pug_mark_kind)kind);
}

/** The tally of a place in the trace; NULL: that is not indexed. */
static inline struct tally *tally_at(struct source *source, enum pug_mark_kind kind, uint64_t at,
                                     uint64_t value)
{
    struct tally *tally = &source->tallies[kind];
    uint64_t size = source->collector->job->block;
    if (tally->count == 0 || at - tally->start >= size) {
        if (at / size >= source->collector->job->blocks)
            return NULL;
        close_tally(source, kind);
        *tally = (struct tally){.start = at - at % size,
                                .first_at = (uint32_t)(at % size),
                                .first = value,
                                .least = value,
                                .greatest = value};
    }
    tally->last_at = (uint32_t)(at - tally->start);
    return tally;
}

static void list_value(struct source *source, enum pug_mark_kind kind, uint64_t value,
                       uint64_t block)
{
    struct collector *collector = source->collector;
    const struct value_rules *rules = &collector->job->rules;
    const struct index_value record = {
        .value = value,
        .kind = (uint8_t)kind,
        .first = (uint32_t)block,
        .last = (uint32_t)block,
        .parts = UINT64_C(1) << index_part(block, rules->part_shift),
    };
    if (!index_value_add(&collector->stretch->values, rules, &record))
        collector->failed = true;
}

static struct seen *new_seen(struct source *source, enum pug_mark_kind kind)
{
    struct seen *seen = calloc(1, sizeof(*seen));
    source->seen[kind] = seen;
    source->collector->failed |= !seen;
    return seen;
}

/** Most values are not new in their block. */
static inline void note_value(struct source *source, enum pug_mark_kind kind, uint64_t value,
                              uint64_t block)
{
    struct seen *seen = source->seen[kind];
    if (!seen && !(seen = new_seen(source, kind)))
        return;
    if (seen->block != block) {
        memset(seen->values, 0, sizeof(seen->values));
        seen->block = block;
    }
    uint64_t *slot = &seen->values[value * UINT64_C(0x9E3779B97F4A7C15) >> 32 & (SEEN - 1)];
    if (*slot == value && value != 0)
        return;
    *slot = value;
    list_value(source, kind, value, block);
}

static void forget_seen(struct source *source)
{
    for (unsigned kind = 0; kind < PUG_MARK_KINDS; kind++) {
        free(source->seen[kind]);
        source->seen[kind] = NULL;
    }
}

static inline void add_mark(struct source *source, enum pug_mark_kind kind, uint64_t at,
                            uint64_t value)
{
    struct collector *collector = source->collector;
    struct tally *tally = tally_at(source, kind, at, value);
    if (!tally)
        return;
    tally->count++;
    tally->last = value;
    tally->least = value < tally->least ? value : tally->least;
    tally->greatest = value > tally->greatest ? value : tally->greatest;
    tally->hash += index_mark_hash(at, value);
    if (collector->job->rules.limits[kind])
        note_value(source, kind, value,
                   at - collector->at < collector->job->block ? collector->block
                                                              : at / collector->job->block);
    if (collector->job->full)
        keep(collector, &collector->stretch->marks,
             &(struct index_mark){
                 .at = at, .value = value, .source = source->id, .kind = (uint8_t)kind});
}

static void on_list(struct pug_mark_list *list)
{
    struct source *source = (struct source *)(void *)((char *)list - offsetof(struct source, list));
    for (uint32_t i = 0; i < list->count; i++)
        add_mark(source, (enum pug_mark_kind)list->marks[i].kind, list->marks[i].index,
                 list->marks[i].value);
    list->count = 0;
}

/* ---- sources ---- */

static struct source *new_source(struct collector *collector, uint16_t id)
{
    struct source *source = calloc(1, sizeof(*source));
    if (!source) {
        collector->failed = true;
        return NULL;
    }
    source->collector = collector;
    source->id = id;
    source->list = (struct pug_mark_list){.marks = source->marks, .room = LIST, .full = on_list};
    collector->sources[collector->source_count++] = source;
    collector->numbers[id] = (uint16_t)collector->source_count;
    return source;
}

/** The source of an id; one too many is none in particular. */
static struct source *source_of(struct collector *collector, uint16_t id)
{
    if (!collector->numbers[id] && collector->source_count >= PUG_INDEX_SOURCE_LIMIT - 1) {
        collector->crowded = true;
        id = PUG_SOURCE_UNKNOWN;
    }
    return collector->numbers[id] ? collector->sources[collector->numbers[id] - 1]
                                  : new_source(collector, id);
}

/** Ids that the transport keeps for itself are triggers; the null source's are padding. */
static void on_run(void *context, const struct pug_run *run)
{
    struct collector *collector = context;
    const struct pug_transport *transport = collector->transport;
    struct source *source = collector->last_run;
    if (!source || source->id != run->source) {
        source = transport->single && collector->source_count > 0
                     ? collector->sources[0]
                     : source_of(collector, run->source);
        collector->last_run = source;
    }
    if (!source || run->size == 0)
        return;
    struct tally *tally = tally_at(source, PUG_MARK_DATA, run->index, 0);
    if (!tally)
        return;
    uint32_t room = UINT32_MAX - tally->count;
    tally->count += run->size < room ? (uint32_t)run->size : room;
    uint64_t last = pug_run_index(run, run->bytes + run->size - 1) - tally->start;
    uint64_t size =
        collector->job->block; /* what was unwrapped may seem to be longer than it was */
    tally->last_at = (uint32_t)(last < size ? last : size - 1);
    if (!source->in_tree && run->source != 0 && run->source != PUG_SOURCE_UNKNOWN &&
        transport->reserved && transport->reserved(run->source))
        add_mark(source, PUG_MARK_TRIGGER, run->index, run->source);
}

static void on_frame(void *context, enum pug_op op, uint64_t index, enum pug_frame_kind kind,
                     uint16_t id, const uint8_t *bytes, size_t size)
{
    (void)id;
    (void)bytes;
    (void)size;
    if (op != PUG_OP_DATA || kind != PUG_FRAME_FSYNC)
        return;
    struct source *source = source_of(context, PUG_SOURCE_UNKNOWN);
    if (source)
        add_mark(source, PUG_MARK_SYNC, index, 0);
}

static enum pug_response on_elements(void *context, const struct pug_element *elements,
                                     size_t count, size_t *taken)
{
    struct collector *collector = context;
    (void)taken;
    for (size_t i = 0; i < count; i++)
        if (elements[i].index < collector->at)
            keep_behind(collector, elements[i].index / collector->job->block);
    return PUG_RESP_CONT;
}

static void attach(struct collector *collector)
{
    struct pug_tree *tree = collector->tree;
    struct pug_source *found;
    if (collector->job->elements) {
        pug_tree_on_elements(tree, on_elements, collector);
        return;
    }
    for (size_t n = 0; (found = pug_tree_source_at(tree, n)) != NULL; n++) {
        struct source *source = source_of(collector, pug_source_id(found));
        if (!source)
            return;
        source->in_tree = true;
        pug_source_marks(found, &source->list);
    }
    pug_tree_on_runs(tree, on_run, collector);
    pug_tree_join_runs(tree, true);
    (void)pug_tree_on_frames(tree, on_frame, collector, 4); /* a single source has no frames */
}

static void detach(struct pug_tree *tree)
{
    struct pug_source *found;
    for (size_t n = 0; (found = pug_tree_source_at(tree, n)) != NULL; n++)
        pug_source_marks(found, NULL);
    pug_tree_on_runs(tree, NULL, NULL);
    pug_tree_join_runs(tree, false);
    (void)pug_tree_on_frames(tree, NULL, NULL, 0);
    pug_tree_on_elements(tree, NULL, NULL);
}

struct collector *index_collector_new(const struct job *job, struct pug_tree *tree, uint64_t block)
{
    struct collector *collector = malloc(sizeof(*collector));
    uint16_t *numbers = calloc(PUG_SOURCE_UNKNOWN + 1, sizeof(*numbers));
    if (!collector || !numbers) {
        free(collector);
        free(numbers);
        return NULL;
    }
    *collector = (struct collector){
        .job = job,
        .tree = tree,
        .transport = pug_tree_transport(tree),
        .block = block,
        .at = block * job->block,
        .numbers = numbers,
    };
    attach(collector);
    return collector;
}

void index_collector_free(struct collector *collector)
{
    if (!collector)
        return;
    detach(collector->tree);
    for (size_t i = 0; i < collector->source_count; i++) {
        forget_seen(collector->sources[i]);
        free(collector->sources[i]);
    }
    free(collector->numbers);
    pug_state_free(&collector->state);
    free(collector);
}

/* ---- reading ---- */

void index_collect_into(struct collector *collector, struct stretch *stretch)
{
    *stretch = (struct stretch){
        .first = collector->block,
        .end = collector->block,
        .summaries.size = sizeof(struct index_summary),
        .marks.size = sizeof(struct index_mark),
        .behind.size = sizeof(struct behind),
    };
    stretch->has_start = index_collector_state(collector, &stretch->start);
    collector->stretch = stretch;
    for (size_t i = 0; i < collector->source_count; i++)
        forget_seen(collector->sources[i]);
}

/** What the lists hold belongs to the block that was read. */
static void empty_lists(struct collector *collector)
{
    for (size_t i = 0; i < collector->source_count; i++)
        on_list(&collector->sources[i]->list);
}

static bool read_block(struct collector *collector)
{
    const struct job *job = collector->job;
    uint64_t at = collector->at, end = (collector->block + 1) * job->block;
    end = end < job->end ? end : job->end;
    struct index_block *block = &job->out[collector->block];
    *(job->elements ? &block->elements : &block->packets) =
        index_state_hash(collector->tree, &collector->state);
    const enum pug_response response = pug_tree_feed(collector->tree, job->bytes, &at, end);
    empty_lists(collector);
    close_tallies(collector);
    collector->stopped = at < end || !PUG_RESP_IS_CONT(response);
    collector->at = at;
    collector->block++;
    return !collector->stopped;
}

bool index_collect(struct collector *collector, uint64_t end)
{
    while (collector->block < end && !collector->stopped && !collector->failed)
        (void)read_block(collector);
    collector->stretch->end = collector->block;
    return !collector->stopped && !collector->failed;
}

void index_collect_end(struct collector *collector)
{
    (void)pug_tree_end(collector->tree);
    empty_lists(collector);
    close_tallies(collector);
}

bool index_collector_state(const struct collector *collector, struct pug_state *state)
{
    state->size = 0;
    return pug_tree_state(collector->tree, state);
}

uint64_t index_collector_at(const struct collector *collector)
{
    return collector->at;
}

bool index_collector_failed(const struct collector *collector)
{
    return collector->failed;
}

bool index_collector_crowded(const struct collector *collector)
{
    return collector->crowded;
}
