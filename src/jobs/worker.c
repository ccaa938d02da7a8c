// SPDX-License-Identifier: MIT
/** @file A worker: claims pieces, reads them, and joins the run that it meets. */
#include "jobs/jobs.h"
#include "tree/tree_internal.h"

#include <stdlib.h>

/* ---- under the lock ---- */

static void wait(struct pug_jobs_state *jobs)
{
    jobs->waiting++;
    pthread_cond_wait(&jobs->published, &jobs->lock);
    jobs->waiting--;
}

static void wake(struct pug_jobs_state *jobs, const struct pug_jobs_run *run)
{
    if (jobs->waiting > 0)
        pthread_cond_broadcast(&jobs->published);
    if (run == jobs->current)
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

struct pug_jobs_run *pug_jobs_new_run(struct pug_jobs_state *jobs)
{
    while (!jobs->stop && jobs->claimed < jobs->pieces && !has_room(jobs))
        wait(jobs);
    if (jobs->stop || jobs->claimed == jobs->pieces)
        return NULL;
    struct pug_jobs_run *run = calloc(1, sizeof(*run));
    struct pug_jobs_seat *seats = calloc(jobs->sources, sizeof(*seats));
    if (!run || !seats) {
        free(run);
        free(seats);
        pug_jobs_fail(jobs);
        return NULL;
    }
    run->seats = seats;
    run->proven = jobs->claimed == 0;
    run->first = jobs->claimed * jobs->piece;
    run->next = jobs->runs;
    jobs->runs = run;
    if (!jobs->current)
        jobs->current = run;
    jobs->owner[jobs->claimed++] = run;
    return run;
}

/**
 * Who reads the piece that begins here? Nobody yet: then this run goes on with it, and the answer
 * is NULL. False: it ends here.
 */
static bool enter_piece(struct pug_jobs_state *jobs, struct pug_jobs_run *run, size_t piece,
                        struct pug_jobs_run **other)
{
    wake(jobs, run);
    while (!jobs->stop && piece == jobs->claimed && !has_room(jobs))
        wait(jobs);
    if (!jobs->stop && piece == jobs->claimed)
        jobs->owner[jobs->claimed++] = run;
    *other = jobs->stop || jobs->owner[piece] == run ? NULL : jobs->owner[piece];
    return !jobs->stop;
}

/** Join the other run behind this block, if that can be; waits until the other has read it. */
static bool join(struct pug_jobs_worker *worker, struct pug_jobs_run *other,
                 const struct pug_jobs_block *block)
{
    struct pug_jobs_state *jobs = worker->jobs;
    const size_t at = worker->number - other->first;
    while (!jobs->stop && other->count <= at && !other->ended)
        wait(jobs);
    return !jobs->stop && other->count > at && pug_jobs_join(worker, other, block);
}

/** Add a block to a run; false: it ends with it. */
static bool publish(struct pug_jobs_state *jobs, struct pug_jobs_run *run,
                    struct pug_jobs_block *block)
{
    if (run->count == run->room) {
        size_t room = run->room * 2 + 16;
        struct pug_jobs_block *grown = realloc(run->blocks, room * sizeof(*grown));
        if (!grown) {
            pug_jobs_block_free(jobs, block);
            pug_jobs_fail(jobs);
            return false;
        }
        run->blocks = grown;
        run->room = room;
    }
    const uint64_t end = pug_jobs_block_start(jobs, run->first + run->count + 1);
    run->blocks[run->count++] = *block;
    /* the caller is not woken for each block, which would cost as much as a short one */
    if (jobs->waiting > 0)
        pthread_cond_broadcast(&jobs->published);
    /* the caller took this block from another run: nobody will want what this one does */
    bool overtaken = run != jobs->current && run->first + run->count <= jobs->taken;
    return !jobs->stop && !overtaken && PUG_RESP_IS_CONT(block->response) && block->at == end;
}

/* ---- the thread ---- */

static void read_block(struct pug_jobs_worker *worker, struct pug_jobs_block *block)
{
    const struct pug_jobs_state *jobs = worker->jobs;
    const struct pug_jobs_client *client = jobs->client;
    *block = (struct pug_jobs_block){.at = pug_jobs_block_start(jobs, worker->number)};
    worker->used = true;
    client->read(client->context, &worker->lane, pug_jobs_block_start(jobs, worker->number + 1),
                 block);
}

/** Read from the run's first block on; called and left with the lock held. */
static void read_run(struct pug_jobs_worker *worker, struct pug_jobs_run *run)
{
    struct pug_jobs_state *jobs = worker->jobs;
    struct pug_jobs_run *other = NULL;
    bool go_on = !jobs->stop;
    worker->run = run;
    worker->number = run->first;
    while (go_on) {
        const size_t number = worker->number;
        struct pug_jobs_block block;
        pthread_mutex_unlock(&jobs->lock);
        read_block(worker, &block);
        pthread_mutex_lock(&jobs->lock);
        jobs->repeated += other ? block.at - pug_jobs_block_start(jobs, number) : 0;
        const bool last = number + 1 == jobs->blocks;
        const bool joined = other && !last && join(worker, other, &block);
        go_on = publish(jobs, run, &block) && !joined && !last;
        run->joined = joined ? other : NULL;
        worker->number++;
        if (go_on && worker->number % jobs->piece == 0)
            go_on = enter_piece(jobs, run, worker->number / jobs->piece, &other);
    }
    run->ended = true;
    wake(jobs, run);
}

void *pug_jobs_work(void *context)
{
    struct pug_jobs_worker *worker = context;
    struct pug_jobs_state *jobs = worker->jobs;
    pthread_mutex_lock(&jobs->lock);
    struct pug_jobs_run *run = worker->run ? worker->run : pug_jobs_new_run(jobs);
    for (; run; run = pug_jobs_new_run(jobs)) {
        pthread_mutex_unlock(&jobs->lock);
        bool good = !worker->used || pug_tree_renew(worker->lane.tree) == PUG_OK;
        pthread_mutex_lock(&jobs->lock);
        if (!good)
            pug_jobs_fail(jobs);
        read_run(worker, run);
    }
    pthread_mutex_unlock(&jobs->lock);
    return NULL;
}
