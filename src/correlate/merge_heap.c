// SPDX-License-Identifier: MIT
/**
 * @file Whose turn it is: a tournament of streams, in which one that changed plays again against as
 * many as the tree is high.
 */
#include "correlate/correlate.h"

#include <stdlib.h>

/** The least that may still come of a stream, where nothing of it is ready; `time` may be 0. */
static struct pug_correlated least_of(const struct pug_correlate *correlate, uint32_t n)
{
    const struct pug_correlate_queue *queue = &correlate->streams[n];
    const struct pug_correlate_buffer *buffer = &correlate->buffers[queue->info.buffer];
    struct pug_correlated least = {.stream = n, .when = PUG_WHEN_AFTER};
    /* times of others of the buffer tell nothing where each has a clock of its own */
    const uint64_t settled = queue->info.own_clock && correlate->common == 0 ? 0 : buffer->settled;
    if (queue->count > queue->ready && !queue->has_time) {
        /* their timestamp may be less than what the buffer had come to, if not less than this */
        const uint64_t reached = queue->entries[queue->head + queue->ready].time;
        least.time = reached < settled ? reached : settled;
        least.when = PUG_WHEN_BEFORE;
    } else if (queue->has_time && (queue->time >= settled || queue->count > 0)) {
        least.time = queue->time;
        least.cycles = queue->cycles;
    } else {
        least.time = settled;
    }
    return least;
}

/** The first element that is ready of a stream that has one. */
static const struct pug_correlated *head_of(const struct pug_correlate *correlate, uint32_t n)
{
    const struct pug_correlate_queue *queue = &correlate->streams[n];
    return &queue->entries[queue->head];
}

static uint32_t earlier_ready(const struct pug_correlate *correlate, uint32_t a, uint32_t b)
{
    if (a == PUG_CORRELATE_NONE || b == PUG_CORRELATE_NONE)
        return a == PUG_CORRELATE_NONE ? b : a;
    return pug_correlate_order(correlate, head_of(correlate, b), head_of(correlate, a)) < 0 ? b : a;
}

static uint32_t earlier_awaited(const struct pug_correlate *correlate, uint32_t a, uint32_t b)
{
    if (a == PUG_CORRELATE_NONE || b == PUG_CORRELATE_NONE)
        return a == PUG_CORRELATE_NONE ? b : a;
    const struct pug_correlated least_a = least_of(correlate, a), least_b = least_of(correlate, b);
    return pug_correlate_order(correlate, &least_b, &least_a) < 0 ? b : a;
}

static void play(struct pug_correlate *correlate, size_t at)
{
    const struct pug_merge_heap_at *pair = &correlate->turns[2 * at];
    correlate->turns[at] = (struct pug_merge_heap_at){
        .ready = earlier_ready(correlate, pair[0].ready, pair[1].ready),
        .awaited = earlier_awaited(correlate, pair[0].awaited, pair[1].awaited)};
}

static struct pug_merge_heap_at leaf(const struct pug_correlate *correlate, uint32_t n)
{
    struct pug_merge_heap_at turn = {PUG_CORRELATE_NONE, PUG_CORRELATE_NONE};
    if (n >= correlate->count)
        return turn;
    if (correlate->streams[n].ready > 0)
        turn.ready = n;
    else if (!correlate->streams[n].ended)
        turn.awaited = n;
    return turn;
}

bool pug_merge_heap_add(struct pug_correlate *correlate)
{
    if (correlate->count > correlate->leaves) {
        const size_t leaves = correlate->leaves ? 2 * correlate->leaves : 8;
        void *turns = realloc(correlate->turns, 2 * leaves * sizeof(*correlate->turns));
        if (!turns)
            return false;
        correlate->turns = turns;
        correlate->leaves = leaves;
        for (size_t n = 0; n < leaves; n++)
            correlate->turns[leaves + n] = leaf(correlate, (uint32_t)n);
        for (size_t at = leaves - 1; at > 0; at--)
            play(correlate, at);
    }
    pug_merge_heap_note(correlate, (uint32_t)correlate->count - 1);
    return true;
}

void pug_merge_heap_note(struct pug_correlate *correlate, uint32_t stream)
{
    size_t at = correlate->leaves + stream;
    correlate->turns[at] = leaf(correlate, stream);
    while ((at /= 2) > 0)
        play(correlate, at);
}

void pug_merge_heap_note_buffer(struct pug_correlate *correlate, uint32_t buffer)
{
    const struct pug_correlate_queue *queue = pug_correlate_first_of(correlate, buffer);
    for (; queue; queue = pug_correlate_next_of(correlate, queue))
        pug_merge_heap_note(correlate, pug_correlate_number(correlate, queue));
}

uint32_t pug_merge_heap_ready(const struct pug_correlate *correlate)
{
    return correlate->leaves > 0 ? correlate->turns[1].ready : PUG_CORRELATE_NONE;
}

uint32_t pug_merge_heap_awaited(const struct pug_correlate *correlate)
{
    return correlate->leaves > 0 ? correlate->turns[1].awaited : PUG_CORRELATE_NONE;
}

bool pug_merge_heap_barrier(const struct pug_correlate *correlate, uint32_t but, bool forced,
                            struct pug_correlated *barrier)
{
    const uint32_t awaited = forced ? PUG_CORRELATE_NONE : pug_merge_heap_awaited(correlate);
    uint32_t ready = PUG_CORRELATE_NONE;
    for (size_t at = correlate->leaves + but; at > 1; at /= 2)
        ready = earlier_ready(correlate, ready, correlate->turns[at ^ 1].ready);
    if (ready != PUG_CORRELATE_NONE)
        *barrier = *head_of(correlate, ready);
    if (awaited == PUG_CORRELATE_NONE)
        return ready != PUG_CORRELATE_NONE;
    const struct pug_correlated least = least_of(correlate, awaited);
    if (ready == PUG_CORRELATE_NONE || pug_correlate_order(correlate, &least, barrier) < 0)
        *barrier = least;
    return true;
}
