// SPDX-License-Identifier: MIT
/** @file Decoding a capture: by the caller's thread alone, or by workers whose blocks it takes. */
#include "image/image.h"
#include "jobs/jobs.h"
#include "tree/tree_internal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCK_SIZE 4096u
#define PIECE_SIZE (512u << 10)
/* Elements that are kept take much more room than the trace. */
#define PIECE_SIZE_STORED (128u << 10)
/* What a thread decodes alone is handed on in pieces that stay in the cache. */
#define ALONE_SIZE 65536u
/* Pieces that nobody decodes yet, so that nobody waits. */
#define PIECES_AHEAD 1u

/* ---- one thread ---- */

struct alone {
    const struct pug_parts *parts;
    void *part;
};

static enum pug_response to_part(void *context, const struct pug_element *elements, size_t count,
                                 size_t *taken)
{
    struct alone *alone = context;
    *taken = count;
    alone->parts->elements(alone->part, elements, count);
    return PUG_RESP_CONT;
}

/** A consumer that waits gets the rest at once. */
static enum pug_response insist(struct pug_tree *tree, enum pug_response response)
{
    while (PUG_RESP_IS_WAIT(response))
        response = pug_tree_flush(tree);
    return response;
}

/** A piece of the capture and, behind the last one, the end of trace. */
static enum pug_response decode_piece(struct pug_tree *tree, const uint8_t *bytes, size_t size,
                                      uint64_t *at)
{
    enum pug_response response = PUG_RESP_CONT;
    uint64_t end = size - *at > ALONE_SIZE ? *at + ALONE_SIZE : size;
    size_t used = 1;
    while (*at < end && used > 0 && PUG_RESP_IS_CONT(response)) {
        used = 0;
        response = insist(tree, pug_tree_data(tree, *at, bytes + *at, (size_t)(end - *at), &used));
        *at += used;
    }
    if (*at == size && PUG_RESP_IS_CONT(response))
        response = insist(tree, pug_tree_end(tree));
    return response;
}

static enum pug_status decode_alone(struct pug_tree *tree, const struct pug_jobs *jobs,
                                    const uint8_t *bytes, size_t size,
                                    struct pug_jobs_result *result)
{
    const struct pug_parts *parts = jobs->parts;
    struct alone alone = {.parts = parts};
    pug_elements_fn *const consumer = tree->on_elements;
    void *const consumer_context = tree->elements_context;
    enum pug_status status = PUG_OK;
    bool more = true;
    if (parts)
        pug_tree_on_elements(tree, to_part, &alone);
    while (more && status == PUG_OK) {
        if (parts && !(alone.part = parts->begin(parts->context, 0))) {
            status = PUG_ERR_MEM;
            break;
        }
        uint64_t before = result->at;
        result->response = decode_piece(tree, bytes, size, &result->at);
        more = result->at < size && result->at > before && PUG_RESP_IS_CONT(result->response);
        result->stopped = (parts && !parts->take(parts->context, alone.part)) ||
                          (jobs->progress && !jobs->progress(jobs->progress_context, result->at));
        more &= !result->stopped;
    }
    pug_tree_on_elements(tree, consumer, consumer_context);
    return status;
}

/* ---- several ---- */

/** Does anything need the caller's thread, or one decoder that sees it all? */
static bool must_be_alone(const struct pug_tree *tree)
{
    if (tree->each_packet || tree->on_element || tree->on_run || tree->on_frame || tree->classify ||
        (tree->image && tree->image->callbacks > 0) || pug_quirks_any(&tree->quirks))
        return true;
    for (size_t i = 0; i < tree->source_count; i++)
        if (tree->sources[i]->monitor || tree->sources[i]->sink)
            return true;
    return false;
}

unsigned pug_jobs_processors(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (unsigned)count : 1;
}

/** What was decoded in vain, up to where the caller is, need not be kept. */
static void drop_passed(struct jobs_state *jobs)
{
    struct jobs_run **link = &jobs->runs;
    while (*link) {
        struct jobs_run *run = *link;
        while (run->dropped < run->count && run->first + run->dropped < jobs->taken)
            jobs_block_free(&run->blocks[run->dropped++], jobs->parts);
        if (run->ended && run->dropped == run->count && run != jobs->current) {
            *link = run->next;
            run->next = jobs->old;
            jobs->old = run;
        } else {
            link = &run->next;
        }
    }
}

/** Take the next block out of its run, where there is one. False: the run is at its end. */
static bool next_block(struct jobs_state *jobs, struct jobs_block *block)
{
    for (;;) {
        struct jobs_run *run = jobs->current;
        const size_t at = run ? jobs->taken - run->first : 0;
        if (jobs->failed)
            return false;
        if (run && at < run->count) {
            *block = run->blocks[at];
            pug_state_free(&block->state);
            run->blocks[at] = (struct jobs_block){.at = block->at};
            if (++jobs->taken % jobs->piece == 0)
                drop_passed(jobs);
            if (jobs->waiting > 0)
                pthread_cond_broadcast(&jobs->published);
            return true;
        }
        if (run && run->ended && !run->joined)
            return false;
        if (run && run->ended)
            jobs->current = run->joined;
        else
            pthread_cond_wait(&jobs->ready, &jobs->lock);
    }
}

/** Hand a block on; false: it is the last one. */
static bool take_block(struct jobs_state *jobs, const struct pug_tree *tree,
                       const struct pug_jobs *config, struct jobs_block *block,
                       struct pug_jobs_result *result)
{
    for (size_t i = 0; i < block->records.count; i++)
        pug_log_put(tree->log, &block->records.items[i]);
    jobs_records_free(&block->records);
    result->at = block->at;
    result->response = block->response;
    if (!block->part)
        return false;
    result->stopped = !jobs->parts->take(jobs->parts->context, block->part) ||
                      (config->progress && !config->progress(config->progress_context, block->at));
    return !result->stopped && PUG_RESP_IS_CONT(block->response);
}

/** Take the blocks of the true output, one after the other. */
static enum pug_status take_all(struct jobs_state *jobs, const struct pug_tree *tree,
                                const struct pug_jobs *config, struct pug_jobs_result *result)
{
    struct jobs_block block = {.part = NULL};
    bool more = true, good = true;
    pthread_mutex_lock(&jobs->lock);
    while (more && (good = next_block(jobs, &block))) {
        pthread_mutex_unlock(&jobs->lock);
        more = take_block(jobs, tree, config, &block, result);
        pthread_mutex_lock(&jobs->lock);
        more &= jobs->taken < jobs->blocks;
    }
    jobs->stop = true;
    pthread_cond_broadcast(&jobs->published);
    pthread_mutex_unlock(&jobs->lock);
    return good && block.part ? PUG_OK : PUG_ERR_MEM;
}

static void free_runs(struct jobs_state *jobs, struct jobs_run *runs)
{
    while (runs) {
        struct jobs_run *run = runs;
        runs = run->next;
        for (size_t i = 0; i < run->count; i++)
            jobs_block_free(&run->blocks[i], jobs->parts);
        for (size_t i = 0; i < jobs->sources; i++)
            pug_source_free(run->seats[i].given);
        free(run->seats);
        free(run->blocks);
        free(run);
    }
}

/** As many workers as can be had; false: none, or their trees cannot write their states. */
static bool open_lanes(struct jobs_worker *workers, unsigned *count, struct jobs_state *jobs,
                       const struct pug_tree *tree)
{
    struct pug_state state = {0};
    unsigned opened = 0;
    bool good = true;
    for (; good && opened < *count; opened++) {
        workers[opened].jobs = jobs;
        good = jobs_lane_open(&workers[opened].lane, tree, jobs->parts, opened);
        if (!good)
            continue;
        workers[opened].lane.tree->on_touch = jobs_touch;
        workers[opened].lane.tree->touch_context = &workers[opened];
    }
    *count = opened;
    good = good && pug_tree_state(workers[0].lane.tree, &state);
    pug_state_free(&state);
    return good;
}

static bool start(struct jobs_worker *workers, unsigned count)
{
    bool any = false;
    for (unsigned i = 0; i < count; i++) {
        struct jobs_worker *worker = &workers[i];
        worker->running = pthread_create(&worker->thread, NULL, jobs_work, worker) == 0;
        any |= worker->running;
    }
    return any;
}

/** False: nothing was decoded, and one thread has to do it. */
static bool decode_together(struct pug_tree *tree, const struct pug_jobs *config,
                            struct jobs_state *jobs, unsigned threads, enum pug_status *status,
                            struct pug_jobs_result *result)
{
    struct jobs_worker *workers = calloc(threads, sizeof(*workers));
    jobs->owner = calloc(jobs->pieces, sizeof(struct jobs_run *));
    bool done = workers && jobs->owner && open_lanes(workers, &threads, jobs, tree) &&
                start(workers, threads);
    if (done) {
        result->threads = threads;
        *status = take_all(jobs, tree, config, result);
    }
    for (unsigned i = 0; workers && i < threads; i++) {
        if (workers[i].running)
            pthread_join(workers[i].thread, NULL);
        jobs_lane_close(&workers[i].lane);
    }
    result->repeated = jobs->repeated;
    free_runs(jobs, jobs->runs);
    free_runs(jobs, jobs->old);
    free(workers);
    free(jobs->owner);
    return done;
}

static size_t divide_up(size_t size, size_t by)
{
    return size / by + (size % by > 0);
}

static void divide(struct jobs_state *jobs, const struct pug_jobs *config)
{
    const size_t wanted = config->piece   ? config->piece
                          : config->parts ? PIECE_SIZE
                                          : PIECE_SIZE_STORED;
    jobs->block = config->block ? config->block : BLOCK_SIZE;
    const size_t longs = divide_up(wanted, jobs->block * JOBS_LONG);
    jobs->piece_size = longs * jobs->block * JOBS_LONG;
    jobs->piece = JOBS_SHORT_BLOCKS + longs - 1;
    jobs->pieces = divide_up(jobs->size, jobs->piece_size);
    jobs->blocks = jobs->pieces > 0 ? (jobs->pieces - 1) * jobs->piece : 0;
    while (jobs_block_start(jobs, jobs->blocks) < jobs->size)
        jobs->blocks++;
}

enum pug_status pug_tree_decode(struct pug_tree *tree, const struct pug_jobs *config,
                                const uint8_t *bytes, size_t size, struct pug_jobs_result *result)
{
    unsigned threads = config->threads ? config->threads : pug_jobs_processors();
    struct jobs_pool pool = {.tree = tree, .lock = PTHREAD_MUTEX_INITIALIZER};
    const struct pug_parts stored = jobs_stored(&pool);
    struct jobs_state jobs = {
        .tree = tree,
        .sources = tree->source_count,
        .parts = config->parts ? config->parts : &stored,
        .bytes = bytes,
        .size = size,
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .published = PTHREAD_COND_INITIALIZER,
        .ready = PTHREAD_COND_INITIALIZER,
    };
    *result = (struct pug_jobs_result){.threads = 1};
    divide(&jobs, config);
    if (threads > jobs.pieces)
        threads = (unsigned)jobs.pieces;
    jobs.window = threads + PIECES_AHEAD;
    enum pug_status status = PUG_OK;
    if (threads < 2 || must_be_alone(tree) ||
        !decode_together(tree, config, &jobs, threads, &status, result))
        status = decode_alone(tree, config, bytes, size, result);
    jobs_pool_free(&pool);
    return status;
}
