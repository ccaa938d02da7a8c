// SPDX-License-Identifier: MIT
#include "index/collector.h"
#include "index/values.h"
#include "pugmark/advanced/counts.h"
#include "tree/embed.h"

#include <stdlib.h>

static void keep(struct collector *collector, struct records *records, const void *record)
{
    if (!pug_index_add_record(records, record))
        collector->failed = true;
}

/** Something of an earlier block came. */
static void keep_behind(struct collector *collector, uint64_t block)
{
    struct records *records = &collector->yield->behind;
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
    const struct pug_index_file_summary summary = {
        .block = (uint32_t)(tally->start / collector->job->block),
        .source = source->id,
        .kind = (uint8_t)kind,
        .nobody = source->nobody,
        .count = tally->count,
        .first_at = tally->first_at,
        .last_at = tally->last_at,
        .hash = tally->hash,
        .first = tally->first,
        .last = tally->last,
        .least = tally->least,
        .greatest = tally->greatest,
        .sum = tally->sum,
    };
    keep(collector, &collector->yield->summaries, &summary);
    if (summary.block < collector->block)
        keep_behind(collector, summary.block);
    tally->count = 0;
}

void pug_index_close_tallies(struct collector *collector)
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
        const uint64_t start = at - at % size, last = tally->start == start ? tally->last : value;
        *tally = (struct tally){.start = start,
                                .first_at = (uint32_t)(at % size),
                                .first = value,
                                .last = last,
                                .least = value,
                                .greatest = value};
    }
    tally->last_at = (uint32_t)(at - tally->start);
    return tally;
}

/** The values that the yield has for a block; NULL: no memory. */
static struct seen *seen_in(struct source *source, enum pug_mark_kind kind, uint64_t block)
{
    struct seen *seen = source->seen[kind];
    if (seen && seen->block == block)
        return seen;
    if (!seen && !(seen = source->seen[kind] = malloc(sizeof(*seen)))) {
        source->collector->failed = true;
        return NULL;
    }
    memset(seen->values, 0, sizeof(seen->values));
    seen->block = block;
    return seen;
}

/** Those values that were not seen lately; how many. Which ones they are no processor foretells. */
static uint32_t find_fresh(struct seen *seen, const struct pug_placed_mark *marks, uint32_t count,
                           uint64_t fresh[PUG_INDEX_LIST])
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; i++) {
        /* `count` is of these marks. NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign) */
        const uint64_t value = marks[i].value;
        uint64_t *slot =
            &seen->values[value * UINT64_C(0x9E3779B97F4A7C15) >> 32 & (PUG_INDEX_SEEN - 1)];
        fresh[n] = value;
        n += (*slot != value) | (value == 0);
        *slot = value;
    }
    return n;
}

/** Most values are not new in their block. */
static void note_values(struct source *source, enum pug_mark_kind kind, uint64_t block,
                        const struct pug_placed_mark *marks, uint32_t count)
{
    struct collector *collector = source->collector;
    uint64_t fresh[PUG_INDEX_LIST];
    if (atomic_load_explicit(&collector->job->given_up, memory_order_relaxed) >> kind & 1)
        return;
    struct seen *seen = seen_in(source, kind, block);
    if (!seen)
        return;
    const uint32_t found = find_fresh(seen, marks, count, fresh);
    for (uint32_t i = 0; i < found; i++)
        keep(collector, &collector->yield->values,
             &(struct pug_index_listed){
                 .value = fresh[i], .block = (uint32_t)block, .kind = (uint32_t)kind});
}

void pug_index_forget_seen(struct collector *collector)
{
    for (size_t i = 0; i < collector->source_count; i++)
        for (unsigned kind = 0; kind < PUG_MARK_KINDS; kind++)
            if (collector->sources[i]->seen[kind])
                collector->sources[i]->seen[kind]->block = UINT64_MAX;
}

/** Add to a tally what is of its kind and in its block; how many marks that were. */
static uint32_t tally_up(struct tally *tally, uint64_t size, const struct pug_placed_mark *marks,
                         uint32_t count)
{
    const enum pug_mark_kind kind = (enum pug_mark_kind)marks->kind;
    uint64_t least = tally->least, greatest = tally->greatest, sum = tally->sum, last = tally->last;
    uint32_t hash = tally->hash, n = 0;
    do {
        const uint64_t value = marks[n].value;
        least = value < least ? value : least;
        greatest = value > greatest ? value : greatest;
        hash += pug_index_mark_hash(kind, marks[n].index, value, last);
        sum += value;
        last = value;
        n++;
    } while (n < count && marks[n].kind == marks->kind && marks[n].index - tally->start < size);
    tally->count += n;
    tally->last = last;
    tally->last_at = (uint32_t)(marks[n - 1].index - tally->start);
    tally->least = least;
    tally->greatest = greatest;
    tally->hash = hash;
    tally->sum = sum;
    return n;
}

/** Add the first one, and those of the same kind and block that follow; how many that were. */
static uint32_t add_marks(struct source *source, const struct pug_placed_mark *marks,
                          uint32_t count)
{
    struct collector *collector = source->collector;
    const struct job *job = collector->job;
    const enum pug_mark_kind kind = (enum pug_mark_kind)marks->kind;
    struct tally *tally = tally_at(source, kind, marks->index, marks->value);
    if (!tally)
        return 1;
    count = tally_up(tally, job->block, marks, count);
    if (job->rules.limits[kind])
        note_values(source, kind, tally->start / job->block, marks, count);
    for (uint32_t i = 0; source->full && i < count; i++)
        keep(collector, &collector->yield->marks,
             &(struct pug_index_file_mark){.at = marks[i].index,
                                           .value = marks[i].value,
                                           .source = source->id,
                                           .kind = (uint8_t)kind,
                                           .nobody = source->nobody});
    return count;
}

void pug_index_add_mark(struct source *source, enum pug_mark_kind kind, uint64_t at, uint64_t value)
{
    (void)add_marks(source, &(struct pug_placed_mark){.index = at, .value = value, .kind = kind},
                    1);
}

static void on_list(struct pug_mark_list *list)
{
    struct source *source = (struct source *)(void *)((char *)list - offsetof(struct source, list));
    for (uint32_t i = 0; i < list->count;)
        i += add_marks(source, list->marks + i, list->count - i);
    list->count = 0;
}

/* ---- sources ---- */

static struct source *new_source(struct collector *collector, uint32_t seat)
{
    struct source *source = calloc(1, sizeof(*source));
    if (!source) {
        collector->failed = true;
        return NULL;
    }
    const uint16_t id = (uint16_t)seat;
    source->collector = collector;
    source->id = id;
    source->nobody = seat == PUG_INDEX_LAST_SEAT;
    source->full = collector->job->full;
    for (size_t i = 0; i < collector->job->full_count; i++)
        source->full |= collector->job->full_ids[i] == id;
    source->list =
        (struct pug_mark_list){.marks = source->marks, .room = PUG_INDEX_LIST, .full = on_list};
    for (unsigned kind = 0; kind < PUG_MARK_KINDS; kind++)
        source->tallies[kind].start = UINT64_MAX; /* of no block */
    collector->sources[collector->source_count++] = source;
    collector->numbers[seat] = (uint16_t)collector->source_count;
    return source;
}

struct source *pug_index_source_of(struct collector *collector, uint32_t seat)
{
    const size_t sources = collector->source_count - (collector->numbers[PUG_INDEX_LAST_SEAT] > 0);
    if (!collector->numbers[seat] && seat != PUG_INDEX_LAST_SEAT &&
        sources >= PUG_INDEX_SOURCE_LIMIT - 1) {
        if (collector->yield)
            collector->yield->crowded = true;
        seat = PUG_INDEX_LAST_SEAT;
    }
    return collector->numbers[seat] ? collector->sources[collector->numbers[seat] - 1]
                                    : new_source(collector, seat);
}

/** Where a transport keeps ids for itself, the last one is of bytes before the first id. */
static uint32_t seat_of(const struct collector *collector, uint16_t id)
{
    return pug_index_seat(id, id == PUG_SOURCE_UNKNOWN && collector->transport->reserved);
}

static void add_bytes(struct tally *tally, uint32_t count, uint64_t last)
{
    const uint32_t room = UINT32_MAX - tally->count;
    tally->count += count < room ? count : room;
    tally->last_at = (uint32_t)(last - tally->start);
}

/**
 * Count the bytes of a run from `at` on, in the block of `at`. Returns the first byte after them.
 */
static const uint8_t *count_bytes(struct source *source, const struct pug_run *run,
                                  const uint8_t *at)
{
    const uint8_t *end = run->bytes + run->size;
    const uint64_t size = source->collector->job->block;
    struct tally *tally = tally_at(source, PUG_MARK_DATA, pug_run_index(run, at), 0);
    if (!tally)
        return end;
    const uint64_t start = tally->start;
    if (!run->gaps && (uint64_t)(end - at) > start + size - pug_run_index(run, at))
        end = at + (start + size - pug_run_index(run, at));
    while (pug_run_index(run, end - 1) - start >= size) /* a spliced run is short */
        end--;
    add_bytes(tally, (uint32_t)(end - at), pug_run_index(run, end - 1));
    return end;
}

static void count_run(struct source *source, const struct pug_run *run)
{
    const uint8_t *at = run->bytes;
    do {
        at = count_bytes(source, run, at);
    } while (at < run->bytes + run->size);
}

/**
 * Count payloads of a row from `at` on, in the block of `at`, or one that goes beyond. Returns the
 * first byte after them. Each counts from its header on, as a run of its own does.
 */
static const uint8_t *count_row(struct source *source, const struct pug_run *run, const uint8_t *at)
{
    const struct pug_run first = {.index = pug_run_index(run, at), .bytes = at, .size = *at & 0x1f};
    const uint8_t *const end = run->bytes + run->size;
    count_run(source, &first);
    at += pug_run_packet(run, at);
    struct tally *tally = &source->tallies[PUG_MARK_DATA];
    const uint64_t size = source->collector->job->block;
    const uint64_t place = pug_run_index(run, at) - tally->start;
    if (place >= size) /* the next block, or one that is not indexed */
        return at;
    const bool ends_here = size - place >= (uint64_t)(end - at);
    /* all of a row, where nothing stands between a header and its payload */
    if (ends_here && first.bytes == run->bytes && at < end && run->stamp == 0) {
        add_bytes(tally, run->payload - (uint32_t)first.size,
                  pug_run_index(run, end - 1 - run->header));
        return end;
    }
    const uint8_t *const stop = ends_here ? end : at + (size - place);
    uint32_t count = 0, payload = 0;
    const uint8_t *last = at;
    while (at < stop && (payload = *at & 0x1f) <= (size_t)(stop - at)) {
        count += payload;
        last = at + payload - 1;
        at += pug_run_packet(run, at);
    }
    if (count > 0)
        add_bytes(tally, count, pug_run_index(run, last));
    return at;
}

/** Ids that the transport keeps for itself are triggers; the null source's are padding. */
void pug_index_on_run(void *context, const struct pug_run *run)
{
    struct collector *collector = context;
    const struct pug_transport *transport = collector->transport;
    struct source *source = collector->last_run;
    if (!source || source->id != run->source || source->nobody) {
        source = transport->single && collector->source_count > 0
                     ? collector->sources[0]
                     : pug_index_source_of(collector, seat_of(collector, run->source));
        collector->last_run = source;
    }
    if (!source || run->size == 0)
        return;
    if (run->header > 0)
        for (const uint8_t *at = run->bytes; at < run->bytes + run->size;)
            at = count_row(source, run, at);
    else
        count_run(source, run);
    if (!source->in_tree && !source->nobody && run->source != 0 && transport->reserved &&
        transport->reserved(run->source))
        pug_index_add_mark(source, PUG_MARK_TRIGGER, run->index, pug_index_payload(run));
}

void pug_index_on_frame(void *context, enum pug_op op, uint64_t index, enum pug_frame_kind kind,
                        uint16_t id, const uint8_t *bytes, size_t size)
{
    (void)id;
    (void)bytes;
    (void)size;
    if (op != PUG_OP_DATA || kind != PUG_FRAME_FSYNC)
        return;
    struct source *source = pug_index_source_of(context, PUG_INDEX_LAST_SEAT);
    if (source)
        pug_index_add_mark(source, PUG_MARK_SYNC, index, 0);
}

static void on_late(void *context, uint64_t index)
{
    struct collector *collector = context;
    keep_behind(collector, index / collector->job->block);
}

void pug_index_begin_block(struct collector *collector, struct pug_tree *tree, uint64_t number,
                           uint64_t at)
{
    collector->block = number;
    collector->at = at;
    pug_tree_set_present(tree, collector->counts ? at : 0);
}

static enum pug_response on_elements(void *context, const struct pug_element *elements,
                                     size_t count, size_t *taken)
{
    struct collector *collector = context;
    (void)taken;
    for (size_t i = 0; i < count; i++)
        if (elements[i].index < collector->at)
            on_late(collector, elements[i].index);
    return PUG_RESP_CONT;
}

/** No consumer reads ranges: the state after them matters, and their times. */
static void attach_decoders(struct collector *collector, struct pug_tree *tree)
{
    collector->counts = pug_counts_new_bare();
    collector->failed |= !collector->counts;
    pug_tree_on_late(tree, on_late, collector);
    pug_tree_on_elements(tree, on_elements, collector);
    pug_tree_count(tree, collector->counts);
    pug_tree_any_order(tree, true);
}

void pug_index_attach(struct collector *collector, struct pug_tree *tree)
{
    if (collector->job->elements) {
        attach_decoders(collector, tree);
        return;
    }
    for (size_t n = 0; n < pug_tree_source_count(tree); n++) {
        struct source *source =
            pug_index_source_of(collector, pug_source_id(pug_tree_source_at(tree, n)));
        if (!source)
            return;
        source->in_tree = true;
        pug_source_marks(pug_tree_source_at(tree, n), &source->list);
    }
    pug_tree_on_runs(tree, pug_index_on_run, collector);
    pug_tree_splice_runs(tree, true);
    pug_tree_row_runs(tree, true);
    (void)pug_tree_on_frames(tree, pug_index_on_frame, collector,
                             4); /* a single source has no frames */
}

void pug_index_detach(struct pug_tree *tree)
{
    for (size_t n = 0; n < pug_tree_source_count(tree); n++)
        pug_source_marks(pug_tree_source_at(tree, n), NULL);
    pug_tree_on_runs(tree, NULL, NULL);
    pug_tree_splice_runs(tree, false);
    pug_tree_row_runs(tree, false);
    (void)pug_tree_on_frames(tree, NULL, NULL, 0);
    pug_tree_count(tree, NULL);
    pug_tree_any_order(tree, false);
    pug_tree_set_present(tree, 0);
    pug_tree_on_elements(tree, NULL, NULL);
}

void pug_index_close_block(struct collector *collector)
{
    for (size_t i = 0; i < collector->source_count; i++)
        on_list(&collector->sources[i]->list);
    pug_index_close_tallies(collector);
}

void pug_index_collector_clear(struct collector *collector)
{
    for (size_t i = 0; i < collector->source_count; i++) {
        for (unsigned kind = 0; kind < PUG_MARK_KINDS; kind++)
            free(collector->sources[i]->seen[kind]);
        free(collector->sources[i]);
    }
    pug_counts_free(collector->counts);
    *collector = (struct collector){.failed = false};
}
