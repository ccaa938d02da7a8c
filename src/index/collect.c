// SPDX-License-Identifier: MIT
/** @file The blocks of a capture, each read by one of several threads or processes. */
#include "index/collector.h"
#include "index/reach.h"
#include "schedule/decode.h"
#include "schedule/peers.h"
#include "tree/embed.h"

#include <stdlib.h>

/* A thread takes so many blocks at once, since a part of one is read twice; but no more. */
#define LEAST_BLOCKS 8u
#define MOST_BLOCKS  16u
/* Number of parts in which blocks are read, if these are not too short: threads can meet after
 * each. */
#define PARTS      8u
#define LEAST_PART UINT64_C(2048)

/* ---- blocks ---- */

/**
 * A source that got nothing since the tree was renewed has the state that it had before; the tree
 * knows whether something was lost since.
 */
static void note_states(const struct pug_tree *tree, const struct pug_state *state,
                        struct yield *yield)
{
    yield->has_states = state && !pug_quirks_any(pug_tree_quirks(tree));
    if (!yield->has_states)
        return;
    pug_index_state_hashes(tree, state, yield->states);
    for (size_t i = 0; i < pug_tree_source_count(tree); i++)
        if (!pug_source_is_touched(pug_tree_source_at(tree, i)))
            yield->states[1 + i] =
                pug_tree_loss_of(tree, i) == PUG_TREE_LOSS ? PUG_INDEX_STATE_LOST : 0;
}

static void note_clocks_before(const struct pug_tree *tree, struct yield *yield)
{
    for (size_t i = 0; i < pug_tree_source_count(tree); i++) {
        struct clock *clock = &yield->clocks[i];
        const struct pug_source *source = pug_tree_source_at(tree, i);
        const unsigned bits = pug_source_clock(source, &clock->begin);
        clock->begin_bits = pug_source_is_touched(source) ? bits : 0;
    }
}

/** A source that was first heard in the block may have come with the clock of another strand. */
static void note_clocks_behind(const struct pug_tree *tree, struct yield *yield)
{
    for (size_t i = 0; i < pug_tree_source_count(tree); i++) {
        struct clock *clock = &yield->clocks[i];
        const struct pug_source *source = pug_tree_source_at(tree, i);
        const unsigned bits = pug_source_clock(source, &clock->end);
        clock->end_bits = pug_source_is_touched(source) ? bits : 0;
        if (clock->begin_bits > 0)
            continue;
        const unsigned arrived = pug_source_arrival_clock(source, &clock->begin);
        clock->begin_bits = arrived ? arrived : 64;
    }
}

/** How many parts of a block are read one after the other. */
static uint64_t part_count(uint64_t block)
{
    uint64_t parts = PARTS;
    while (parts > 1 && (block % parts != 0 || block / parts < LEAST_PART))
        parts /= 2;
    return parts;
}

/** Begins the yield of a block. */
static void *begin_block(void *context, unsigned worker, struct pug_piece *piece)
{
    const struct job *job = context;
    struct collector *collector = &job->collectors[worker];
    struct yield *yield = pug_index_yield_new(job->tree, piece->offset / job->block);
    if (!yield)
        return NULL;
    collector->yield = yield;
    pug_index_begin_block(collector, collector->tree, yield->block, yield->block * job->block);
    pug_index_forget_seen(collector);
    note_clocks_before(collector->tree, yield);
    yield->collector = collector;
    return yield;
}

/** What the end of the trace says is of the block after the last one. */
static bool end_block(void *part, const struct pug_piece_end *end)
{
    struct yield *yield = part;
    struct collector *collector = yield->collector;
    const struct job *job = collector->job;
    if (!end->over)
        note_clocks_behind(end->tree, yield);
    pug_index_close_block(collector);
    if (end->over)
        return !collector->failed;
    yield->at = end->at;
    if (!job->elements && end->at > collector->at)
        yield->bytes = pug_index_block_hash(job->bytes + collector->at, end->at - collector->at);
    collector->failed |= end->state && end->state->failed;
    if (!collector->failed)
        note_states(end->tree, end->state, yield);
    if (job->ends && end->at == job->end)
        pug_index_begin_block(collector, end->tree, yield->block + 1, end->at);
    return !collector->failed;
}

/** Blocks have no elements that belong to a part: decoders report to the collector. */
static void no_elements(void *part, const struct pug_origin *origin,
                        const struct pug_element *elements, size_t count)
{
    (void)part;
    (void)origin;
    (void)elements;
    (void)count;
}

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
    struct yield *yield =
        peers->number > 0 ? pug_index_yield_new(job->tree, reach.at / job->block) : NULL;
    if (yield) {
        yield->at = reach.at;
        yield->crowded = reach.crowded;
        (void)job->take(job->take_context, yield);
        pug_index_yield_free(yield);
    }
    return yield || peers->number == 0;
}

/* ---- times ---- */

/** Add to all times at once what each id lacks: there may be many sources, and many marks. */
static void shift_times(struct yield *yield, const uint64_t *behind)
{
    struct pug_index_file_summary *summaries = yield->summaries.items;
    struct pug_index_file_mark *marks = yield->marks.items;
    for (size_t i = 0; i < yield->summaries.count; i++) {
        struct pug_index_file_summary *s = &summaries[i];
        if (s->kind != PUG_MARK_TIMESTAMP || s->nobody)
            continue;
        const uint64_t more = behind[s->source];
        s->first += more;
        s->last += more;
        s->least += more;
        s->greatest += more;
        s->sum += more * s->count;
    }
    for (size_t i = 0; i < yield->marks.count; i++)
        if (marks[i].kind == PUG_MARK_TIMESTAMP && !marks[i].nobody)
            marks[i].value += behind[marks[i].source];
}

/** The amount that a source's times lack in a block. */
static uint64_t time_behind(const struct clock *clock, uint64_t last)
{
    const uint64_t mask = pug_clock_mask(clock->begin_bits);
    const uint64_t begin = last + ((clock->begin - last) & mask);
    return clock->begin_bits < 64 && clock->end_bits > 0 ? begin - clock->begin : 0;
}

/**
 * A thread that began after the first wrap of a clock knows its lower bits alone: its times are
 * less than the true ones, always by as much, while they are sent with as many bits.
 */
static void settle_times(const struct job *job, struct yield *yield)
{
    bool any = false;
    for (size_t i = 0; i < pug_tree_source_count(job->tree); i++) {
        const struct clock *clock = &yield->clocks[i];
        const uint64_t more = time_behind(clock, job->times[i]);
        yield->crowded |= more > 0 && clock->end_bits != clock->begin_bits;
        any |= more > 0;
        job->behind[pug_source_id(pug_tree_source_at(job->tree, i))] = more;
        if (clock->end_bits > 0)
            job->times[i] = clock->end + more;
    }
    if (any)
        shift_times(yield, job->behind);
}

static void drop_yield(void *yield)
{
    pug_index_yield_free(yield);
}

static bool take_block(void *context, void *part)
{
    struct job *job = context;
    struct yield *yield = part;
    if (!job->elements)
        settle_times(job, yield);
    job->at = yield->at;
    job->crowded |= yield->crowded;
    const bool more = job->take(job->take_context, yield);
    pug_index_yield_free(yield);
    return more;
}

/* ---- threads ---- */

/** The state before anything is read, as if it were that after the block before. */
static bool take_start(struct job *job, const struct pug_tree *tree)
{
    struct pug_state state = {0};
    struct yield *yield = pug_index_yield_new(tree, job->first - 1);
    if (!yield)
        return false;
    yield->at = job->first * job->block;
    yield->has_states = !pug_quirks_any(pug_tree_quirks(tree)) && pug_tree_state(tree, &state);
    if (yield->has_states)
        pug_index_state_hashes(tree, &state, yield->states);
    const bool good = !state.failed;
    if (good)
        (void)job->take(job->take_context, yield);
    pug_state_free(&state);
    pug_index_yield_free(yield);
    return good;
}

/** A tree that is the caller's reports nothing any more; others are gone. */
static void detach(struct job *job, unsigned worker)
{
    struct collector *collector = &job->collectors[worker];
    if (collector->tree && (collector->tree == job->standing || collector->tree == job->tree))
        pug_index_detach(collector->tree);
    pug_index_collector_clear(collector);
}

static bool attach(void *context, unsigned worker, struct pug_tree *tree)
{
    struct job *job = context;
    struct collector *collector = &job->collectors[worker];
    detach(job, worker); /* several threads could not all begin, perhaps */
    collector->job = job;
    collector->tree = tree;
    collector->transport = pug_tree_transport(tree);
    pug_index_attach(collector, tree);
    return !collector->failed && (worker > 0 || take_start(job, tree));
}

/** The kept results may be all that has to be taken: then nothing is read. */
static bool take_start_alone(struct job *job)
{
    struct pug_tree *copy = NULL, *tree = job->standing;
    if (!tree && pug_tree_clone(job->tree, NULL, &copy) == PUG_OK)
        tree = copy;
    const bool good = tree && attach(job, 0, tree);
    if (tree)
        pug_index_detach(tree);
    pug_tree_free(copy);
    job->collectors[0].tree = NULL;
    return good;
}

/** Equal pieces, a few for each thread. */
static uint64_t piece_blocks(uint64_t blocks, unsigned threads)
{
    const uint64_t rounds = blocks / (UINT64_C(1) * threads * MOST_BLOCKS) + 1;
    const uint64_t piece = blocks / (threads * rounds) + 1;
    return piece < LEAST_BLOCKS ? LEAST_BLOCKS : piece;
}

static bool collect(struct job *job, unsigned threads)
{
    /* pieces are the same on all processes, which may have more or fewer threads */
    const unsigned workers = pug_peers_any(job->peers) ? job->peers->count : threads;
    const struct pug_consumer consumer = {.context = job,
                                          .attach = attach,
                                          .begin = begin_block,
                                          .elements = no_elements,
                                          .end = end_block,
                                          .take = take_block,
                                          .drop = drop_yield,
                                          .pack = pug_index_yield_pack,
                                          .unpack = pug_index_yield_unpack};
    const uint64_t blocks = job->end / job->block + (job->end % job->block != 0);
    const struct pug_jobs_plan plan = {
        .tree = job->tree,
        .threads = threads,
        .from = job->first * job->block,
        .end = job->end,
        .alone = job->block,
        .block = job->block / part_count(job->block),
        .growth = part_count(job->block),
        .piece = piece_blocks(blocks - job->first, workers) * job->block,
        .peers = job->peers,
    };
    const struct pug_pass pass = {.plan = &plan,
                                  .consumers = {&consumer, 1},
                                  .standing = job->standing,
                                  .bytes = job->bytes,
                                  .size = job->ends ? job->end : UINT64_MAX,
                                  .step = job->block / part_count(job->block),
                                  .may_use_tree = !job->elements};
    job->at = job->first * job->block;
    job->crowded = false;
    if (job->peers && job->peers->keep && !take_start_alone(job))
        return false;
    const bool good = pug_pass_run(&pass);
    return share_reach(job) && good;
}

bool pug_index_collect(struct job *job, unsigned threads)
{
    job->behind = calloc((size_t)UINT16_MAX + 1, sizeof(*job->behind));
    job->collectors = calloc(threads, sizeof(*job->collectors));
    const bool good = job->behind && job->collectors && collect(job, threads);
    for (unsigned i = 0; job->collectors && i < threads; i++)
        detach(job, i);
    free(job->collectors);
    free(job->behind);
    job->behind = NULL;
    job->collectors = NULL;
    return good;
}
