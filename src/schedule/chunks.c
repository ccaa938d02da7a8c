// SPDX-License-Identifier: MIT
/**
 * @file What workers hand on before a block is read to its end. A few bytes of trace may stand for
 * gigabytes of elements: a worker that holds too much waits until the caller has taken all before
 * its block, and from then on hands on piece by piece what the caller takes.
 */
#include "schedule/threads_internal.h"

#include <stdlib.h>

struct pug_jobs_chunk {
    struct pug_jobs_chunk *next;
    struct pug_parts *parts;
    size_t size;
};

static void append(struct pug_jobs_chunks *chunks, struct pug_jobs_chunk *chunk)
{
    if (chunks->last)
        chunks->last->next = chunk;
    else
        chunks->first = chunk;
    chunks->last = chunk;
    chunks->size += chunk->size;
}

/** The parts of the first chunk, which is freed. */
static struct pug_parts *take_first(struct pug_jobs_state *jobs, struct pug_jobs_chunks *chunks)
{
    struct pug_jobs_chunk *chunk = chunks->first;
    struct pug_parts *parts = chunk->parts;
    jobs->held -= chunk->size;
    chunks->size -= chunk->size;
    chunks->first = chunk->next;
    if (!chunks->first)
        chunks->last = NULL;
    free(chunk);
    return parts;
}

void pug_jobs_drop_chunks(struct pug_jobs_state *jobs, struct pug_jobs_chunks *chunks)
{
    while (chunks->first)
        pug_parts_free(jobs->client->consumers, take_first(jobs, chunks));
}

struct pug_parts *pug_jobs_next_chunk(struct pug_jobs_state *jobs)
{
    struct pug_jobs_strand *strand = jobs->current;
    const size_t at = strand ? jobs->taken - strand->first : 0;
    struct pug_jobs_chunks *chunks = !strand              ? NULL
                                     : at < strand->count ? &strand->blocks[at].chunks
                                                          : &strand->open;
    if (!chunks || !chunks->first)
        return NULL;
    struct pug_parts *parts = take_first(jobs, chunks);
    /* who waits for room is woken for much of it: for each chunk would cost as much as one */
    if ((strand->stuck && strand->open.size <= PUG_JOBS_TURN / 2) ||
        (jobs->crowded && jobs->held <= jobs->most / 4 * 3)) {
        jobs->crowded = false;
        pthread_cond_broadcast(&jobs->published);
    }
    return parts;
}

/* ---- handing on ---- */

/** Did the caller not yet take the strand's block from another one? */
static bool is_wanted(const struct pug_jobs_state *jobs, const struct pug_jobs_strand *strand)
{
    return !jobs->stop && (strand == jobs->current || strand->first + strand->count >= jobs->taken);
}

/** May the strand hold so much more? Something always, where the caller waits for it. */
static bool has_room(const struct pug_jobs_state *jobs, const struct pug_jobs_strand *strand,
                     size_t size)
{
    const bool its_turn = strand == jobs->current && strand->first + strand->count == jobs->taken;
    return (its_turn && strand->open.size < PUG_JOBS_TURN) ||
           (jobs->held <= jobs->most && size <= jobs->most - jobs->held);
}

/** Wait for room. False: the chunk is not wanted any more. */
static bool wait_for_room(struct pug_jobs_state *jobs, struct pug_jobs_strand *strand, size_t size)
{
    while (is_wanted(jobs, strand) && !has_room(jobs, strand, size)) {
        /* who waits for this block would wait for ever: it has to read the block itself */
        if (!strand->stuck && jobs->waiting > 0)
            pthread_cond_broadcast(&jobs->published);
        if (!strand->stuck) /* blocks that were published are what makes room */
            pthread_cond_signal(&jobs->ready);
        strand->stuck = jobs->crowded = true;
        pug_jobs_wait(jobs);
    }
    strand->stuck = false;
    return is_wanted(jobs, strand);
}

/** Is the caller woken for the last chunk? Not for each, which would cost as much as one. */
static bool is_due(const struct pug_jobs_strand *strand, size_t size)
{
    const size_t step = PUG_JOBS_TURN / 4;
    return strand->open.size / step != (strand->open.size - size) / step;
}

bool pug_jobs_give(struct pug_worker *base, struct pug_parts *parts, size_t size)
{
    struct pug_jobs_worker *worker = (struct pug_jobs_worker *)base;
    struct pug_jobs_state *jobs = worker->jobs;
    struct pug_jobs_strand *strand = worker->strand;
    struct pug_jobs_chunk *chunk = parts ? malloc(sizeof(*chunk)) : NULL;
    pthread_mutex_lock(&jobs->lock);
    if (!chunk)
        pug_jobs_fail(jobs);
    const bool wanted = chunk && wait_for_room(jobs, strand, size);
    if (wanted) {
        *chunk = (struct pug_jobs_chunk){.parts = parts, .size = size};
        append(&strand->open, chunk);
        jobs->held += size;
        if (strand == jobs->current && is_due(strand, size))
            pthread_cond_signal(&jobs->ready);
    } else {
        pug_jobs_drop_chunks(jobs, &strand->open);
    }
    pthread_mutex_unlock(&jobs->lock);
    if (!wanted && parts)
        pug_parts_free(jobs->client->consumers, parts);
    if (!wanted)
        free(chunk);
    return wanted;
}
