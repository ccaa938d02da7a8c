// SPDX-License-Identifier: MIT
/** @file A worker: claims pieces, reads them, and ends where it meets another's strand. */
#include "schedule/threads_internal.h"
#include "tree/embed.h"

#include <stdlib.h>

/* ---- under the lock ---- */

void pug_jobs_wait(struct pug_jobs_state *jobs)
{
    jobs->waiting++;
    pthread_cond_wait(&jobs->published, &jobs->lock);
    jobs->waiting--;
}

static void wake(struct pug_jobs_state *jobs, const struct pug_jobs_strand *strand)
{
    if (jobs->waiting > 0)
        pthread_cond_broadcast(&jobs->published);
    if (strand == jobs->current)
        pthread_cond_signal(&jobs->ready);
}

void pug_jobs_fail(struct pug_jobs_state *jobs)
{
    jobs->failed = jobs->stop = true;
    pthread_cond_broadcast(&jobs->published);
    pthread_cond_signal(&jobs->ready);
}

static bool has_room(const struct pug_jobs_state *jobs)
{
    return jobs->claimed < jobs->taken / jobs->piece + jobs->window;
}

struct pug_jobs_strand *pug_jobs_new_strand(struct pug_jobs_state *jobs)
{
    while (!jobs->stop && !pug_jobs_given_up(jobs) && jobs->claimed < jobs->own && !has_room(jobs))
        pug_jobs_wait(jobs);
    if (jobs->stop || pug_jobs_given_up(jobs) || jobs->claimed >= jobs->own)
        return NULL;
    struct pug_jobs_strand *strand = calloc(1, sizeof(*strand));
    struct pug_jobs_seat *seats = calloc(jobs->sources, sizeof(*seats));
    if (!strand || !seats) {
        free(strand);
        free(seats);
        pug_jobs_fail(jobs);
        return NULL;
    }
    strand->seats = seats;
    strand->proven = jobs->claimed == jobs->begun;
    strand->first = jobs->claimed * jobs->piece;
    strand->next = jobs->strands;
    jobs->strands = strand;
    if (!jobs->current)
        jobs->current = strand;
    jobs->owner[jobs->claimed++] = strand;
    return strand;
}

/** A piece that another strand began was read to its end, and that one not met. */
static void note_vain(struct pug_jobs_state *jobs, const struct pug_jobs_strand *strand)
{
    if (!strand->proven || jobs->range)
        return;
    jobs->vain += jobs->piece_size;
    if (pug_jobs_given_up(jobs))
        pthread_cond_broadcast(&jobs->published);
}

/**
 * Who reads the piece that begins here? Nobody yet: then this strand goes on with it, and the
 * answer is NULL. False: it ends here.
 */
static bool enter_piece(struct pug_jobs_state *jobs, struct pug_jobs_strand *strand, size_t piece,
                        struct pug_jobs_strand **other)
{
    wake(jobs, strand);
    if (*other)
        note_vain(jobs, strand);
    if (pug_jobs_given_up(jobs) && !strand->proven)
        return false;
    while (!jobs->stop && piece == jobs->claimed && !has_room(jobs))
        pug_jobs_wait(jobs);
    if (!jobs->stop && piece == jobs->claimed)
        jobs->owner[jobs->claimed++] = strand;
    *other = jobs->stop || jobs->owner[piece] == strand ? NULL : jobs->owner[piece];
    return !jobs->stop;
}

/**
 * Meet the other strand after this block, if that can be. Waits until the other has read it, but
 * not where that holds too much and waits for its turn, which would not come.
 */
static bool meet(struct pug_jobs_worker *worker, struct pug_jobs_strand *other,
                 const struct pug_jobs_block *block)
{
    struct pug_jobs_state *jobs = worker->jobs;
    const size_t at = worker->number - other->first;
    while (!jobs->stop && !pug_jobs_given_up(jobs) && other->count <= at && !other->ended &&
           !other->stuck)
        pug_jobs_wait(jobs);
    return !jobs->stop && !pug_jobs_given_up(jobs) && other->count > at &&
           pug_jobs_meet(worker, other, block);
}

/** Add a block to a strand; false: it ends with it. */
static bool publish(struct pug_jobs_state *jobs, struct pug_jobs_strand *strand,
                    struct pug_jobs_block *block)
{
    if (strand->count == strand->room) {
        size_t room = strand->room * 2 + 16;
        struct pug_jobs_block *grown = realloc(strand->blocks, room * sizeof(*grown));
        if (!grown) {
            pug_jobs_block_free(jobs, block);
            pug_jobs_fail(jobs);
            return false;
        }
        strand->blocks = grown;
        strand->room = room;
    }
    const uint64_t end = pug_jobs_block_start(jobs, strand->first + strand->count + 1);
    block->chunks = strand->open;
    strand->open = (struct pug_jobs_chunks){0};
    strand->blocks[strand->count++] = *block;
    /* the caller is not woken for each block, which would cost as much as a short one */
    if (jobs->waiting > 0)
        pthread_cond_broadcast(&jobs->published);
    /* the caller took this block from another strand: this one's is not needed */
    bool overtaken = strand != jobs->current && strand->first + strand->count <= jobs->taken;
    return !jobs->stop && !overtaken && PUG_RESP_IS_CONT(block->response) && block->at == end;
}

/* ---- the thread ---- */

static void read_block(struct pug_jobs_worker *worker, struct pug_jobs_block *block)
{
    const struct pug_jobs_state *jobs = worker->jobs;
    const struct pug_jobs_client *client = jobs->client;
    *block = (struct pug_jobs_block){.at = pug_jobs_block_start(jobs, worker->number)};
    worker->used = true;
    client->read(client->context, &worker->base, pug_jobs_block_start(jobs, worker->number + 1),
                 block);
}

/** Read from the strand's first block on; called and left with the lock held. */
static void read_strand(struct pug_jobs_worker *worker, struct pug_jobs_strand *strand)
{
    struct pug_jobs_state *jobs = worker->jobs;
    struct pug_jobs_strand *other = NULL;
    bool go_on = !jobs->stop;
    worker->strand = strand;
    worker->number = strand->first;
    while (go_on) {
        const size_t number = worker->number;
        struct pug_jobs_block block;
        pthread_mutex_unlock(&jobs->lock);
        read_block(worker, &block);
        pthread_mutex_lock(&jobs->lock);
        jobs->read += block.at - pug_jobs_block_start(jobs, number);
        jobs->repeated += other ? block.at - pug_jobs_block_start(jobs, number) : 0;
        const bool last = number + 1 == jobs->blocks;
        const bool met = other && !last && meet(worker, other, &block);
        go_on = publish(jobs, strand, &block) && !met && !last;
        strand->met = met ? other : NULL;
        worker->number++;
        if (go_on && worker->number % jobs->piece == 0)
            go_on = enter_piece(jobs, strand, worker->number / jobs->piece, &other);
    }
    strand->ended = true;
    wake(jobs, strand);
}

/**
 * The first strand of a process that begins in the middle: the strand from the left meets it where
 * nothing was lost of a source that neither heard, so it must not report a loss when it does.
 */
static void begin_span(const struct pug_jobs_worker *worker, const struct pug_jobs_strand *strand)
{
    const struct pug_jobs_state *jobs = worker->jobs;
    if (strand->first > 0 && strand->first == jobs->begun * jobs->piece)
        pug_tree_assume_heard(worker->base.tree);
}

void *pug_jobs_work(void *context)
{
    struct pug_jobs_worker *worker = context;
    struct pug_jobs_state *jobs = worker->jobs;
    pthread_mutex_lock(&jobs->lock);
    struct pug_jobs_strand *strand = worker->strand ? worker->strand : pug_jobs_new_strand(jobs);
    for (; strand; strand = pug_jobs_new_strand(jobs)) {
        pthread_mutex_unlock(&jobs->lock);
        bool good = !worker->used || pug_tree_renew(worker->base.tree) == PUG_OK;
        if (good)
            begin_span(worker, strand);
        pthread_mutex_lock(&jobs->lock);
        if (!good)
            pug_jobs_fail(jobs);
        read_strand(worker, strand);
    }
    pthread_mutex_unlock(&jobs->lock);
    return NULL;
}
