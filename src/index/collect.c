// SPDX-License-Identifier: MIT
/** @file One tree's runs, marks and elements, added up by blocks; and several trees'. */
#include "index/collect.h"

#include "base/bytes.h"
#include "index/reach.h"
#include "jobs/peers.h"
#include "tree/tree_internal.h"

#include <stdlib.h>

/* Marks of a source that wait to be counted. */
#define LIST 512u
/* Values of a source and kind that were seen lately; a power of two. */
#define SEEN 2048u
/* A thread takes so many blocks at once, since a part of one is read twice; but no more. */
#define LEAST_BLOCKS 8u
#define MOST_BLOCKS  16u
/* Blocks are read in so many parts, if these are not too short: threads can meet behind each. */
#define PARTS      8u
#define LEAST_PART UINT64_C(2048)

/** One source and kind in the block that was last marked. */
struct tally {
    uint64_t start; /* of the block */
    uint32_t count, first_at, last_at, hash;
    uint64_t first, last, least, greatest, sum;
};

/** Values that the yield has for `block`. Zero is never among them. */
struct seen {
    uint64_t block;
    uint64_t values[SEEN];
};

struct source {
    struct collector *collector;
    bool in_tree, full, nobody;
    uint16_t id;
    const struct pug_source *watched; /* of a tree that somebody else feeds */
    struct tally tallies[PUG_MARK_KINDS];
    struct pug_mark_list list;
    struct pug_placed_mark marks[LIST];
    struct seen *seen[PUG_MARK_KINDS]; /* of kinds whose values are listed; or NULL */
};

struct collector {
    struct job *job;
    const struct pug_transport *transport;
    struct yield *yield; /* of now */
    uint64_t block, at;  /* that is being read; where it begins */
    struct source *sources[PUG_INDEX_SOURCE_LIMIT];
    size_t source_count;
    struct source *last_run;
    /* of each pug_index_seat(): 1 + its place in `sources`; or 0 */
    uint16_t numbers[PUG_INDEX_LAST_SEAT + 1];
    bool failed;
};

bool pug_index_add_record(struct records *records, const void *record)
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
    struct job *job = collector->job;
    const struct pug_index_file_value record = {
        .value = value,
        .kind = (uint8_t)kind,
        .first = (uint32_t)block,
        .last = (uint32_t)block,
        .parts = UINT64_C(1) << pug_index_part(block, job->rules.part_shift),
    };
    if (!(atomic_load_explicit(&job->given_up, memory_order_relaxed) >> kind & 1))
        keep(collector, &collector->yield->values, &record);
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

/** Most values are not new in their block. */
static void note_values(struct source *source, enum pug_mark_kind kind, uint64_t block,
                        const struct pug_placed_mark *marks, uint32_t count)
{
    struct seen *seen = seen_in(source, kind, block);
    for (uint32_t i = 0; seen && i < count; i++) {
        /* `count` is of these marks. NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign) */
        const uint64_t value = marks[i].value;
        uint64_t *slot = &seen->values[value * UINT64_C(0x9E3779B97F4A7C15) >> 32 & (SEEN - 1)];
        if (*slot == value && value != 0)
            continue;
        *slot = value;
        list_value(source, kind, value, block);
    }
}

/** What one yield has is not in the next. */
static void forget_seen(struct collector *collector)
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
    uint64_t least = tally->least, greatest = tally->greatest, sum = tally->sum;
    uint32_t hash = tally->hash, n = 0;
    do {
        const uint64_t value = marks[n].value;
        least = value < least ? value : least;
        greatest = value > greatest ? value : greatest;
        hash += pug_index_mark_hash(marks[n].index, value);
        sum += value;
        n++;
    } while (n < count && marks[n].kind == marks->kind && marks[n].index - tally->start < size);
    tally->count += n;
    tally->last = marks[n - 1].value;
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

static void add_mark(struct source *source, enum pug_mark_kind kind, uint64_t at, uint64_t value)
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
    source->list = (struct pug_mark_list){.marks = source->marks, .room = LIST, .full = on_list};
    collector->sources[collector->source_count++] = source;
    collector->numbers[seat] = (uint16_t)collector->source_count;
    return source;
}

/** The source with a seat; one too many is none in particular. */
static struct source *source_of(struct collector *collector, uint32_t seat)
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

/** Bytes of a run from `at` on, in the block where that is; behind them. */
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
    const uint32_t room = UINT32_MAX - tally->count, count = (uint32_t)(end - at);
    tally->count += count < room ? count : room;
    tally->last_at = (uint32_t)(pug_run_index(run, end - 1) - start);
    return end;
}

/** Ids that the transport keeps for itself are triggers; the null source's are padding. */
static void on_run(void *context, const struct pug_run *run)
{
    struct collector *collector = context;
    const struct pug_transport *transport = collector->transport;
    struct source *source = collector->last_run;
    if (!source || source->id != run->source || source->nobody) {
        source = transport->single && collector->source_count > 0
                     ? collector->sources[0]
                     : source_of(collector, seat_of(collector, run->source));
        collector->last_run = source;
    }
    if (!source || run->size == 0)
        return;
    const uint8_t *at = run->bytes;
    do {
        at = count_bytes(source, run, at);
    } while (at < run->bytes + run->size);
    if (!source->in_tree && !source->nobody && run->source != 0 && transport->reserved &&
        transport->reserved(run->source))
        add_mark(source, PUG_MARK_TRIGGER, run->index, pug_index_payload(run));
}

static void on_frame(void *context, enum pug_op op, uint64_t index, enum pug_frame_kind kind,
                     uint16_t id, const uint8_t *bytes, size_t size)
{
    (void)id;
    (void)bytes;
    (void)size;
    if (op != PUG_OP_DATA || kind != PUG_FRAME_FSYNC)
        return;
    struct source *source = source_of(context, PUG_INDEX_LAST_SEAT);
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

static void attach(struct collector *collector, struct pug_tree *tree)
{
    if (collector->job->elements) {
        pug_tree_on_elements(tree, on_elements, collector);
        return;
    }
    for (size_t n = 0; n < tree->source_count; n++) {
        struct source *source = source_of(collector, pug_source_id(tree->sources[n]));
        if (!source)
            return;
        source->in_tree = true;
        pug_source_marks(tree->sources[n], &source->list);
    }
    pug_tree_on_runs(tree, on_run, collector);
    pug_tree_splice_runs(tree, true);
    (void)pug_tree_on_frames(tree, on_frame, collector, 4); /* a single source has no frames */
}

static void detach(struct pug_tree *tree)
{
    for (size_t n = 0; n < tree->source_count; n++)
        pug_source_marks(tree->sources[n], NULL);
    pug_tree_on_runs(tree, NULL, NULL);
    pug_tree_splice_runs(tree, false);
    (void)pug_tree_on_frames(tree, NULL, NULL, 0);
    pug_tree_on_elements(tree, NULL, NULL);
}

/* ---- blocks ---- */

/** What the lists hold belongs to the block that was read. */
static void close_block(struct collector *collector)
{
    for (size_t i = 0; i < collector->source_count; i++)
        on_list(&collector->sources[i]->list);
    close_tallies(collector);
}

static void free_yield(void *context, void *product)
{
    struct yield *yield = product;
    (void)context;
    free(yield->summaries.items);
    free(yield->marks.items);
    free(yield->behind.items);
    free(yield->values.items);
    free(yield);
}

static struct yield *new_yield(const struct pug_tree *tree, uint64_t block)
{
    struct yield *yield = calloc(1, sizeof(*yield) + (1 + tree->source_count) * sizeof(uint64_t));
    if (!yield)
        return NULL;
    yield->block = block;
    yield->summaries.size = sizeof(struct pug_index_file_summary);
    yield->marks.size = sizeof(struct pug_index_file_mark);
    yield->behind.size = sizeof(struct behind);
    yield->values.size = sizeof(struct pug_index_file_value);
    return yield;
}

/** A source that got nothing since the tree was renewed has the state that it had before. */
static void note_states(const struct pug_tree *tree, const struct pug_jobs_block *block,
                        struct yield *yield)
{
    yield->has_states = block->has_state && !pug_quirks_any(&tree->quirks);
    if (!yield->has_states)
        return;
    pug_index_state_hashes(&block->state, tree->source_count, yield->states);
    for (size_t i = 0; i < tree->source_count; i++)
        if (!tree->sources[i]->touched)
            yield->states[1 + i] = 0;
}

/** How many parts of a block are read one after the other. */
static uint64_t part_count(uint64_t block)
{
    uint64_t parts = PARTS;
    while (parts > 1 && (block % parts != 0 || block / parts < LEAST_PART))
        parts /= 2;
    return parts;
}

/** What transports make of bytes may depend on where they are cut: that is the same everywhere. */
static void feed_parts(const struct job *job, const struct pug_jobs_hand *hand, uint64_t end,
                       struct pug_jobs_block *block)
{
    const uint64_t part = job->block / part_count(job->block);
    uint64_t next = block->at;
    block->response = PUG_RESP_CONT;
    while (block->at == next && end - next > part && PUG_RESP_IS_CONT(block->response)) {
        next += part;
        block->response = pug_tree_feed(hand->tree, job->bytes, &block->at, next);
    }
    if (block->at == next && PUG_RESP_IS_CONT(block->response))
        pug_jobs_feed(hand, job->bytes, end, block);
}

static void read_block(void *context, struct pug_jobs_hand *hand, uint64_t end,
                       struct pug_jobs_block *block)
{
    const struct job *job = context;
    struct collector *collector = hand->desk;
    struct yield *yield = new_yield(hand->tree, block->at / job->block);
    if (!yield)
        return;
    collector->yield = yield;
    collector->block = yield->block;
    collector->at = yield->block * job->block;
    forget_seen(collector);
    feed_parts(job, hand, end, block);
    close_block(collector);
    yield->at = block->at;
    if (!job->elements && block->at > collector->at)
        yield->bytes = pug_index_block_hash(job->bytes + collector->at, block->at - collector->at);
    collector->failed |= block->state.failed;
    note_states(hand->tree, block, yield);
    if (job->ends && block->at == job->end) {
        collector->block++;
        collector->at = block->at;
        (void)pug_tree_end(hand->tree);
        close_block(collector);
    }
    if (collector->failed)
        free_yield(NULL, yield);
    else
        block->product = yield;
}

/* ---- other processes ---- */

static void pack_records(const struct records *records, struct pug_state *to)
{
    pug_state_number(to, records->count);
    pug_state_put(to, records->items, records->count * records->size);
}

static bool unpack_records(struct records *records, struct pug_bytes *bytes)
{
    records->count = records->room = (size_t)pug_bytes_take_64(bytes);
    const size_t size = records->count * records->size;
    const uint8_t *at = pug_bytes_take(bytes, size);
    records->items = at ? malloc(size + 1) : NULL;
    if (records->items)
        memcpy(records->items, at, size);
    return records->items != NULL;
}

static void pack_yield(void *context, const void *product, struct pug_state *to)
{
    const struct job *job = context;
    const struct yield *yield = product;
    pug_state_number(to, yield->block);
    pug_state_number(to, yield->at);
    pug_state_number(to, yield->bytes);
    pug_state_number(to, yield->crowded);
    pug_state_number(to, yield->has_states);
    pug_state_put(to, yield->states, (1 + job->tree->source_count) * sizeof(*yield->states));
    pack_records(&yield->summaries, to);
    pack_records(&yield->marks, to);
    pack_records(&yield->behind, to);
    pack_records(&yield->values, to);
}

static void *unpack_yield(void *context, const uint8_t *from, size_t size)
{
    const struct job *job = context;
    const size_t states = (1 + job->tree->source_count) * sizeof(uint64_t);
    struct pug_bytes bytes = pug_bytes_of(from, size);
    struct yield *yield = new_yield(job->tree, pug_bytes_take_64(&bytes));
    if (!yield)
        return NULL;
    yield->at = pug_bytes_take_64(&bytes);
    yield->bytes = (uint32_t)pug_bytes_take_64(&bytes);
    yield->crowded = pug_bytes_take_64(&bytes);
    yield->has_states = pug_bytes_take_64(&bytes);
    const uint8_t *at = pug_bytes_take(&bytes, states);
    if (at)
        memcpy(yield->states, at, states);
    if (unpack_records(&yield->summaries, &bytes) && unpack_records(&yield->marks, &bytes) &&
        unpack_records(&yield->behind, &bytes) && unpack_records(&yield->values, &bytes))
        return yield;
    free_yield(NULL, yield);
    return NULL;
}

static const struct pug_jobs_travel travel = {pack_yield, unpack_yield, NULL};

/** How far reading came, and whether there were too many ids. */
struct reach {
    uint64_t at;
    bool crowded;
};

/** All processes know how far it came; the first one alone has what was there. */
static bool share_reach(struct job *job)
{
    struct pug_peers *peers = job->peers;
    struct reach reach = {job->at, job->crowded};
    if (!pug_peers_any(peers))
        return true;
    pug_peers_begin(peers);
    pug_peers_share(peers, &reach, sizeof(reach));
    struct yield *yield = peers->number > 0 ? new_yield(job->tree, reach.at / job->block) : NULL;
    if (yield) {
        yield->at = reach.at;
        yield->crowded = reach.crowded;
        (void)job->take(job->take_context, yield);
        free_yield(NULL, yield);
    }
    return yield || peers->number == 0;
}

static bool take_block(void *context, struct pug_jobs_block *block)
{
    struct job *job = context;
    const struct yield *yield = block->product;
    job->at = yield->at;
    job->crowded |= yield->crowded;
    const bool more = job->take(job->take_context, block->product);
    free_yield(NULL, block->product);
    return more;
}

/* ---- threads ---- */

/** What is known before anything is read, as if it were behind the block before. */
static bool take_start(struct job *job, const struct pug_tree *tree)
{
    struct pug_state state = {0};
    struct yield *yield = new_yield(tree, job->first - 1);
    if (!yield)
        return false;
    yield->at = job->first * job->block;
    yield->has_states = !pug_quirks_any(&tree->quirks) && pug_tree_state(tree, &state);
    if (yield->has_states)
        pug_index_state_hashes(&state, tree->source_count, yield->states);
    const bool good = !state.failed;
    if (good)
        (void)job->take(job->take_context, yield);
    pug_state_free(&state);
    free_yield(NULL, yield);
    return good;
}

static bool open_hand(void *context, struct pug_jobs_hand *hand)
{
    struct job *job = context;
    struct collector *collector = hand->desk = calloc(1, sizeof(*collector));
    if (hand->number == 0 && job->standing)
        hand->tree = job->standing;
    else if (pug_tree_clone(job->tree, NULL, &hand->tree) != PUG_OK)
        hand->tree = hand->alone && !job->elements ? job->tree : NULL;
    if (!collector || !hand->tree)
        return false;
    collector->job = job;
    collector->transport = pug_tree_transport(hand->tree);
    attach(collector, hand->tree);
    return !collector->failed && (hand->number > 0 || take_start(job, hand->tree));
}

static void free_collector(struct collector *collector)
{
    for (size_t i = 0; collector && i < collector->source_count; i++) {
        for (unsigned kind = 0; kind < PUG_MARK_KINDS; kind++)
            free(collector->sources[i]->seen[kind]);
        free(collector->sources[i]);
    }
    free(collector);
}

static void close_hand(void *context, struct pug_jobs_hand *hand)
{
    const struct job *job = context;
    struct collector *collector = hand->desk;
    if (hand->tree && (hand->tree == job->standing || hand->tree == job->tree))
        detach(hand->tree);
    else
        pug_tree_free(hand->tree);
    free_collector(collector);
}

/** What was kept may be all that there is to take: nobody reads then. */
static bool take_start_alone(struct job *job)
{
    struct pug_jobs_hand hand = {.number = 0};
    const bool good = open_hand(job, &hand);
    close_hand(job, &hand);
    return good;
}

/** Equal pieces, a few for each thread. */
static uint64_t piece_blocks(uint64_t blocks, unsigned threads)
{
    const uint64_t rounds = blocks / (UINT64_C(1) * threads * MOST_BLOCKS) + 1;
    const uint64_t piece = blocks / (threads * rounds) + 1;
    return piece < LEAST_BLOCKS ? LEAST_BLOCKS : piece;
}

bool pug_index_collect(struct job *job, unsigned threads)
{
    /* pieces are the same on all processes, which may have more or fewer threads */
    const unsigned workers = pug_peers_any(job->peers) ? job->peers->count : threads;
    const struct pug_jobs_client client = {.context = job,
                                           .open = open_hand,
                                           .close = close_hand,
                                           .read = read_block,
                                           .take = take_block,
                                           .drop = free_yield,
                                           .travel = &travel};
    const struct pug_jobs_plan plan = {
        .tree = job->tree,
        .threads = threads,
        .from = job->first * job->block,
        .end = job->end,
        .alone = job->block,
        .block = job->block / part_count(job->block),
        .growth = part_count(job->block),
        .piece = piece_blocks(job->blocks - job->first, workers) * job->block,
        .peers = job->peers,
    };
    struct pug_jobs_outcome outcome;
    job->at = job->first * job->block;
    job->crowded = false;
    if (job->peers && job->peers->keep && !take_start_alone(job))
        return false;
    pug_jobs_read(&plan, &client, &outcome);
    return share_reach(job) && !outcome.failed;
}

/* ---- a tree that somebody else feeds ---- */

static void on_packet(void *context, enum pug_op op, const struct pug_packet *packet)
{
    struct source *source = context;
    struct pug_mark marks[PUG_MARK_LIMIT];
    if (op != PUG_OP_DATA)
        return;
    if (packet->flags & PUG_PACKET_SYNC)
        add_mark(source, PUG_MARK_SYNC, packet->index, 0);
    const struct pug_protocol *protocol = pug_source_protocol(source->watched);
    size_t count =
        protocol->packet_marks
            ? protocol->packet_marks(pug_source_config(source->watched), packet->data, marks)
            : 0;
    for (size_t i = 0; i < count; i++)
        add_mark(source, marks[i].kind, packet->index, marks[i].value);
}

/** Who reads a capture by blocks cuts bytes that are not framed there; here nobody does. */
static void on_watched_run(void *context, const struct pug_run *run)
{
    const struct collector *collector = context;
    struct pug_run piece = *run;
    const uint64_t block = collector->job->block;
    while (collector->transport->single && piece.size > block - piece.index % block) {
        const size_t size = (size_t)(block - piece.index % block), left = piece.size - size;
        piece.size = size;
        on_run(context, &piece);
        piece.index += size;
        piece.bytes += size;
        piece.size = left;
    }
    on_run(context, &piece);
}

struct collector *pug_index_watch(struct job *job, struct pug_tree *tree)
{
    struct collector *collector = calloc(1, sizeof(*collector));
    bool good = collector && (collector->yield = new_yield(tree, 0)) != NULL;
    if (good) {
        collector->job = job;
        collector->transport = pug_tree_transport(tree);
    }
    for (size_t n = 0; good && n < tree->source_count; n++) {
        struct source *source = source_of(collector, pug_source_id(tree->sources[n]));
        good = source && !tree->sources[n]->protocol->operate;
        if (!good)
            break;
        source->in_tree = true;
        source->watched = tree->sources[n];
        pug_source_monitor(tree->sources[n], on_packet, source);
    }
    if (!good) {
        if (collector)
            pug_index_unwatch(collector, tree, NULL);
        return NULL;
    }
    pug_tree_on_runs(tree, on_watched_run, collector);
    (void)pug_tree_on_frames(tree, on_frame, collector, 4);
    return collector;
}

void pug_index_unwatch(struct collector *collector, struct pug_tree *tree, struct yield **yield)
{
    for (size_t n = 0; n < tree->source_count; n++)
        pug_source_monitor(tree->sources[n], NULL, NULL);
    pug_tree_on_runs(tree, NULL, NULL);
    (void)pug_tree_on_frames(tree, NULL, NULL, 0);
    if (collector->yield)
        close_tallies(collector);
    bool whole = yield && !collector->failed;
    if (yield)
        *yield = whole ? collector->yield : NULL;
    if (!whole)
        pug_index_yield_free(collector->yield);
    free_collector(collector);
}

/* Summaries that follow of the same blocks are merged with these. */
const struct yield *pug_index_yield_so_far(struct collector *collector)
{
    close_tallies(collector);
    return collector->failed ? NULL : collector->yield;
}

void pug_index_yield_free(struct yield *yield)
{
    if (yield)
        free_yield(NULL, yield);
}
