// SPDX-License-Identifier: MIT
/** @file The caller's thread: starts workers, and takes the blocks that hold in their order. */
#include "schedule/ranks.h"
#include "tree/embed.h"

#include <stdlib.h>

/* Pieces that are not read yet, so that no worker waits. */
#define PIECES_AHEAD 1u

/* ---- blocks ---- */

void pug_jobs_feed(const struct pug_worker *worker, const uint8_t *bytes, uint64_t end,
                   struct pug_jobs_block *block)
{
    block->response = pug_tree_feed(worker->tree, bytes, &block->at, end);
    block->has_state = PUG_RESP_IS_CONT(block->response) && block->at == end &&
                       pug_tree_state(worker->tree, &block->state);
}

void pug_jobs_block_free(struct pug_jobs_state *jobs, struct pug_jobs_block *block)
{
    pug_jobs_drop_chunks(jobs, &block->chunks);
    if (block->parts)
        pug_parts_free(jobs->client->consumers, block->parts);
    block->parts = NULL;
    block->has_state = false;
    pug_state_free(&block->state);
}

/** What was read in vain, up to where the caller is, need not be kept. */
static void drop_passed(struct pug_jobs_state *jobs)
{
    struct pug_jobs_strand **link = &jobs->strands;
    while (*link) {
        struct pug_jobs_strand *strand = *link;
        while (strand->dropped < strand->count && strand->first + strand->dropped < jobs->taken)
            pug_jobs_block_free(jobs, &strand->blocks[strand->dropped++]);
        if (strand->ended && strand->dropped == strand->count && strand != jobs->current) {
            *link = strand->next;
            strand->next = jobs->old;
            jobs->old = strand;
        } else {
            link = &strand->next;
        }
    }
}

/**
 * Take the next chunk, or the next block out of its strand, where there is one. False: the strand
 * is at its end.
 */
static bool next_block(struct pug_jobs_state *jobs, struct pug_jobs_block *block,
                       struct pug_parts **chunk)
{
    for (;;) {
        struct pug_jobs_strand *strand = jobs->current;
        const size_t at = strand ? jobs->taken - strand->first : 0;
        if (jobs->failed)
            return false;
        if ((*chunk = pug_jobs_next_chunk(jobs)) != NULL)
            return true;
        if (strand && at < strand->count) {
            *block = strand->blocks[at];
            strand->blocks[at] = (struct pug_jobs_block){.at = block->at};
            if (++jobs->taken % jobs->piece == 0)
                drop_passed(jobs);
            if (jobs->range)
                pug_rank_range_note(jobs, strand);
            if (jobs->waiting > 0)
                pthread_cond_broadcast(&jobs->published);
            return true;
        }
        if (strand && strand->ended && !strand->met)
            return false;
        if (strand && strand->ended) {
            jobs->current = strand->met;
            pthread_cond_broadcast(&jobs->published); /* it may have waited for its turn */
        } else {
            pthread_cond_wait(&jobs->ready, &jobs->lock);
        }
    }
}

/** False: it is the last one. */
static bool take(const struct pug_jobs_client *client, struct pug_jobs_block *block, uint64_t end)
{
    const bool more = client->take(client->context, block);
    pug_state_free(&block->state);
    return more && PUG_RESP_IS_CONT(block->response) && block->at == end;
}

static bool take_next(struct pug_jobs_state *jobs, struct pug_jobs_block *block,
                      struct pug_parts *chunk, uint64_t end)
{
    const struct pug_jobs_client *client = jobs->client;
    if (jobs->range)
        return chunk ? pug_rank_range_chunk(jobs, chunk) : pug_rank_range_block(jobs, block, end);
    return chunk ? client->take_chunk(client->context, chunk) : take(client, block, end);
}

/** Take the blocks of the true output, one after the other. */
static void take_all(struct pug_jobs_state *jobs)
{
    struct pug_jobs_block block = {.parts = NULL};
    struct pug_parts *chunk;
    bool more = true, good = true;
    pthread_mutex_lock(&jobs->lock);
    while (more && (good = next_block(jobs, &block, &chunk))) {
        const uint64_t end = pug_jobs_block_start(jobs, jobs->taken);
        pthread_mutex_unlock(&jobs->lock);
        good = chunk || block.parts != NULL;
        more = good && take_next(jobs, &block, chunk, end);
        pthread_mutex_lock(&jobs->lock);
        more &= jobs->taken < jobs->blocks;
    }
    jobs->failed |= !good;
    jobs->stop = true;
    pthread_cond_broadcast(&jobs->published);
    pthread_mutex_unlock(&jobs->lock);
}

static void free_strands(struct pug_jobs_state *jobs, struct pug_jobs_strand *strands)
{
    while (strands) {
        struct pug_jobs_strand *strand = strands;
        strands = strand->next;
        for (size_t i = 0; i < strand->count; i++)
            pug_jobs_block_free(jobs, &strand->blocks[i]);
        pug_jobs_drop_chunks(jobs, &strand->open);
        for (size_t i = 0; i < jobs->sources; i++)
            pug_source_free(strand->seats[i].given);
        free(strand->seats);
        free(strand->blocks);
        free(strand);
    }
}

/* ---- workers ---- */

/** As many workers as can be had; false: none, or their trees cannot write their states. */
static bool open_workers(struct pug_jobs_worker *workers, unsigned *count,
                         struct pug_jobs_state *jobs)
{
    const struct pug_jobs_client *client = jobs->client;
    struct pug_state state = {0};
    unsigned opened = 0;
    bool good = true;
    for (; good && opened < *count; opened++) {
        struct pug_jobs_worker *worker = &workers[opened];
        worker->jobs = jobs;
        worker->base = (struct pug_worker){.number = opened, .give = pug_jobs_give};
        good = client->open(client->context, &worker->base);
        if (!good)
            continue;
        pug_tree_on_touch(worker->base.tree, pug_jobs_touch, worker);
    }
    *count = opened;
    good = good && pug_tree_state(workers[0].base.tree, &state);
    if (good && jobs->range)
        pug_rank_range_begin(jobs->range, &state);
    pug_state_free(&state);
    return good;
}

/** The first worker has the first piece; false: it cannot be started, and none is. */
static bool start(struct pug_jobs_worker *workers, unsigned count, struct pug_jobs_state *jobs)
{
    pthread_mutex_lock(&jobs->lock);
    workers[0].strand = pug_jobs_new_strand(jobs);
    bool good = workers[0].strand != NULL;
    pthread_mutex_unlock(&jobs->lock);
    for (unsigned i = 0; i < count && good; i++) {
        workers[i].running =
            pthread_create(&workers[i].thread, NULL, pug_jobs_work, &workers[i]) == 0;
        good = workers[0].running;
    }
    return good;
}

static void finish(struct pug_jobs_worker *workers, unsigned count,
                   const struct pug_jobs_client *client)
{
    for (unsigned i = 0; i < count; i++)
        if (workers[i].running)
            pthread_join(workers[i].thread, NULL);
    for (unsigned i = 0; i < count; i++) {
        if (workers[i].base.tree)
            pug_tree_on_touch(workers[i].base.tree, NULL, NULL);
        client->close(client->context, &workers[i].base);
    }
    free(workers);
}

static uint64_t divide_up(uint64_t size, uint64_t by)
{
    return size / by + (size % by > 0);
}

static void divide(struct pug_jobs_state *jobs)
{
    const struct pug_jobs_plan *plan = jobs->plan;
    jobs->piece = plan->widens ? 1 : (size_t)plan->growth;
    while (pug_jobs_start_in_piece(plan, jobs->piece) < plan->piece)
        jobs->piece++;
    jobs->piece_size = pug_jobs_start_in_piece(plan, jobs->piece);
    jobs->pieces = (size_t)divide_up(plan->end - plan->from, jobs->piece_size);
    jobs->blocks = jobs->pieces > 0 ? (jobs->pieces - 1) * jobs->piece : 0;
    while (pug_jobs_block_start(jobs, jobs->blocks) < plan->end)
        jobs->blocks++;
    jobs->own = jobs->pieces;
}

/** False: nothing was read, and one thread has to do it. */
static bool read_together(struct pug_jobs_state *jobs, struct pug_jobs_outcome *outcome)
{
    const struct pug_jobs_plan *plan = jobs->plan;
    const size_t pieces = jobs->own - jobs->begun;
    unsigned threads = plan->threads < pieces ? plan->threads : (unsigned)pieces;
    if (threads < (jobs->range ? 1 : 2) || !pug_tree_can_be_shared(plan->tree))
        return false;
    jobs->window = threads + PIECES_AHEAD;
    jobs->most = threads * PUG_JOBS_HELD;
    struct pug_jobs_worker *workers = calloc(threads, sizeof(*workers));
    jobs->owner = calloc(jobs->pieces, sizeof(struct pug_jobs_strand *));
    const bool done = workers && jobs->owner && open_workers(workers, &threads, jobs) &&
                      start(workers, threads, jobs);
    if (done)
        take_all(jobs);
    if (workers)
        finish(workers, threads, jobs->client);
    *outcome = (struct pug_jobs_outcome){threads, jobs->repeated, jobs->failed};
    if (jobs->plan->peers)
        jobs->plan->peers->read_bytes += jobs->read;
    jobs->read = 0;
    free_strands(jobs, jobs->strands);
    free_strands(jobs, jobs->old);
    free(jobs->owner);
    jobs->strands = jobs->old = jobs->current = NULL;
    jobs->stop = false;
    return done;
}

/** The worker that reads everything on the caller's thread. */
struct loner {
    struct pug_worker base; /* first: it is the way from the one to the other */
    const struct pug_jobs_client *client;
    bool stopped, failed;
};

static bool give_at_once(struct pug_worker *base, struct pug_parts *parts, size_t size)
{
    struct loner *loner = (struct loner *)base;
    const struct pug_jobs_client *client = loner->client;
    (void)size;
    loner->failed |= !parts;
    if (parts && loner->stopped)
        pug_parts_free(client->consumers, parts);
    else if (parts)
        loner->stopped = !client->take_chunk(client->context, parts);
    return !loner->failed && !loner->stopped;
}

/**
 * Where the next block ends: the same blocks as those of several threads, if the plan has no
 * others. True: it is the last one.
 */
static bool next_end(const struct pug_jobs_state *jobs, size_t number, uint64_t at, uint64_t *end)
{
    const struct pug_jobs_plan *plan = jobs->plan;
    if (plan->next)
        return !plan->next(plan->next_context, at, end);
    *end = plan->alone == 0               ? pug_jobs_block_start(jobs, number)
           : plan->end - at > plan->alone ? at + plan->alone
                                          : plan->end;
    return *end >= plan->end;
}

static void read_alone(const struct pug_jobs_state *jobs, struct pug_jobs_outcome *outcome)
{
    const struct pug_jobs_plan *plan = jobs->plan;
    const struct pug_jobs_client *client = jobs->client;
    struct loner loner = {.base = {.alone = true, .give = give_at_once}, .client = client};
    struct pug_jobs_block block = {.at = plan->from};
    loner.failed = !client->open(client->context, &loner.base);
    bool more = !loner.failed;
    for (size_t number = 1; more; number++) {
        uint64_t end;
        const bool last = next_end(jobs, number, block.at, &end);
        block.parts = NULL;
        client->read(client->context, &loner.base, end, &block);
        loner.failed |= block.parts == NULL;
        more = !loner.failed && !loner.stopped;
        if (more)
            more = take(client, &block, end) && !last;
        else if (block.parts)
            pug_parts_free(client->consumers, block.parts);
    }
    if (plan->peers)
        plan->peers->read_bytes += block.at - plan->from;
    pug_state_free(&block.state);
    client->close(client->context, &loner.base);
    *outcome = (struct pug_jobs_outcome){.threads = 1, .failed = loner.failed};
}

static void read_here(struct pug_jobs_state *jobs, struct pug_jobs_outcome *outcome)
{
    if (!read_together(jobs, outcome))
        read_alone(jobs, outcome);
}

static void read_range(struct pug_jobs_state *jobs, struct pug_jobs_outcome *outcome)
{
    struct pug_peers *peers = jobs->plan->peers;
    bool good = pug_rank_range_open(jobs);
    while (good && pug_rank_range_reads(jobs))
        good = read_together(jobs, outcome) && !outcome->failed;
    if (!good)
        pug_peers_fail(peers, "out of memory");
    pug_rank_range_finish(jobs);
    pug_rank_range_free(jobs->range);
}

/** Number 0 reads what cannot be cut. */
static void read_among_peers(struct pug_jobs_state *jobs, struct pug_jobs_outcome *outcome)
{
    struct pug_peers *peers = jobs->plan->peers;
    *outcome = (struct pug_jobs_outcome){0};
    pug_peers_begin(peers);
    if (pug_tree_can_be_shared(jobs->plan->tree) && pug_rank_range_wanted(jobs))
        read_range(jobs, outcome);
    else if (peers->number == 0)
        read_here(jobs, outcome);
    pug_peers_share(peers, outcome, sizeof(*outcome));
}

void pug_jobs_read(const struct pug_jobs_plan *plan, const struct pug_jobs_client *client,
                   struct pug_jobs_outcome *outcome)
{
    struct pug_jobs_state jobs = {
        .plan = plan,
        .client = client,
        .sources = pug_tree_source_count(plan->tree),
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .published = PTHREAD_COND_INITIALIZER,
        .ready = PTHREAD_COND_INITIALIZER,
    };
    if (plan->next) {
        read_alone(&jobs, outcome);
        return;
    }
    divide(&jobs);
    if (pug_peers_any(plan->peers) || (plan->peers && plan->peers->keep))
        read_among_peers(&jobs, outcome);
    else
        read_here(&jobs, outcome);
}
