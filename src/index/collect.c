// SPDX-License-Identifier: MIT
/** @file The blocks of a capture, each read by one of several threads or processes. */
#include "index/collector.h"
#include "index/reach.h"
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
static void note_states(const struct pug_tree *tree, const struct pug_jobs_block *block,
                        struct yield *yield)
{
    yield->has_states = block->has_state && !pug_quirks_any(pug_tree_quirks(tree));
    if (!yield->has_states)
        return;
    pug_index_state_hashes(tree, &block->state, yield->states);
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
    struct yield *yield = pug_index_yield_new(hand->tree, block->at / job->block);
    if (!yield)
        return;
    collector->yield = yield;
    pug_index_begin_block(collector, hand->tree, yield->block, yield->block * job->block);
    pug_index_forget_seen(collector);
    note_clocks_before(hand->tree, yield);
    feed_parts(job, hand, end, block);
    note_clocks_behind(hand->tree, yield);
    pug_index_close_block(collector);
    yield->at = block->at;
    if (!job->elements && block->at > collector->at)
        yield->bytes = pug_index_block_hash(job->bytes + collector->at, block->at - collector->at);
    collector->failed |= block->state.failed;
    note_states(hand->tree, block, yield);
    if (job->ends && block->at == job->end) {
        pug_index_begin_block(collector, hand->tree, yield->block + 1, block->at);
        (void)pug_tree_end(hand->tree);
        pug_index_close_block(collector);
    }
    if (collector->failed)
        pug_index_yield_free(yield);
    else
        block->product = yield;
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

static bool take_block(void *context, struct pug_jobs_block *block)
{
    struct job *job = context;
    struct yield *yield = block->product;
    if (!job->elements)
        settle_times(job, yield);
    job->at = yield->at;
    job->crowded |= yield->crowded;
    const bool more = job->take(job->take_context, block->product);
    pug_index_yield_free(block->product);
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
    pug_index_attach(collector, hand->tree);
    return !collector->failed && (hand->number > 0 || take_start(job, hand->tree));
}

static void close_hand(void *context, struct pug_jobs_hand *hand)
{
    const struct job *job = context;
    struct collector *collector = hand->desk;
    if (hand->tree && (hand->tree == job->standing || hand->tree == job->tree))
        pug_index_detach(hand->tree);
    else
        pug_tree_free(hand->tree);
    pug_index_collector_free(collector);
}

/** The kept results may be all that has to be taken: then nothing is read. */
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

static void drop_yield(void *context, void *product)
{
    (void)context;
    pug_index_yield_free(product);
}

static bool collect(struct job *job, unsigned threads)
{
    /* pieces are the same on all processes, which may have more or fewer threads */
    const unsigned workers = pug_peers_any(job->peers) ? job->peers->count : threads;
    const struct pug_jobs_client client = {.context = job,
                                           .open = open_hand,
                                           .close = close_hand,
                                           .read = read_block,
                                           .take = take_block,
                                           .drop = drop_yield,
                                           .travel = &pug_index_yield_travel};
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
    struct pug_jobs_outcome outcome;
    job->at = job->first * job->block;
    job->crowded = false;
    if (job->peers && job->peers->keep && !take_start_alone(job))
        return false;
    pug_jobs_read(&plan, &client, &outcome);
    return share_reach(job) && !outcome.failed;
}

bool pug_index_collect(struct job *job, unsigned threads)
{
    job->behind = calloc((size_t)UINT16_MAX + 1, sizeof(*job->behind));
    const bool good = job->behind && collect(job, threads);
    free(job->behind);
    job->behind = NULL;
    return good;
}
