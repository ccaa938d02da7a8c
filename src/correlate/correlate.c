// SPDX-License-Identifier: MIT
/** @file Streams side by side: their elements wait until nothing that was before them can come. */
#include "correlate/correlate.h"
#include "element/payload.h"
#include "pugmark/author/protocol.h"

#include <stdlib.h>
#include <string.h>

#define LIMIT (1u << 20)
#define GIVEN 256u /* elements given at once, at most */

enum pug_status pug_correlate_new(const struct pug_correlate_config *config,
                                  struct pug_correlate **out)
{
    if (!out)
        return PUG_ERR_INVALID_PARAM_VAL;
    *out = NULL;
    if (!config || !config->give)
        return PUG_ERR_INVALID_PARAM_VAL;
    struct pug_correlate *correlate = calloc(1, sizeof(*correlate));
    if (!correlate)
        return PUG_ERR_MEM;
    correlate->config = *config;
    if (correlate->config.limit == 0)
        correlate->config.limit = LIMIT;
    correlate->last.when = PUG_WHEN_BEFORE;
    *out = correlate;
    return PUG_OK;
}

void pug_correlate_free(struct pug_correlate *correlate)
{
    if (!correlate)
        return;
    for (size_t i = 0; i < correlate->count; i++) {
        struct pug_correlate_queue *queue = &correlate->streams[i];
        for (size_t n = 0; n < queue->count; n++)
            pug_payload_free(&queue->entries[queue->head + n].element);
        free(queue->entries);
    }
    free(correlate->streams);
    free(correlate->turns);
    free(correlate->buffers);
    free(correlate);
}

/* ---- streams ---- */

static bool reserve_buffers(struct pug_correlate *correlate, uint32_t number)
{
    if (number < correlate->buffer_count)
        return true;
    struct pug_correlate_buffer *buffers =
        realloc(correlate->buffers, ((size_t)number + 1) * sizeof(*buffers));
    if (!buffers)
        return false;
    memset(buffers + correlate->buffer_count, 0,
           (number + 1 - correlate->buffer_count) * sizeof(*buffers));
    correlate->buffers = buffers;
    correlate->buffer_count = (size_t)number + 1;
    return true;
}

static const struct pug_description *description_of(const char *name)
{
    static const struct pug_description none;
    const struct pug_protocol *protocol = pug_protocol_find(name);
    return protocol && protocol->description ? protocol->description : &none;
}

static struct pug_correlate_queue new_queue(const struct pug_correlate_source *source)
{
    const struct pug_description *has = description_of(source->protocol);
    struct pug_correlate_queue queue = {
        .info = {.buffer = source->buffer, .source = source->source},
        .counts_apart = has->counts_apart,
        .is_itm = has->steps_apart,
        .swo = {.local_hertz = source->local_hertz,
                .global_hertz = source->global_hertz,
                .awaits = source->has_global},
    };
    queue.info.own_clock =
        queue.is_itm && (!source->has_global || pug_swo_clock_is_local(&queue.swo));
    return queue;
}

enum pug_status pug_correlate_add(struct pug_correlate *correlate,
                                  const struct pug_correlate_source *source)
{
    if (!correlate || !source)
        return PUG_ERR_INVALID_PARAM_VAL;
    if (correlate->count == correlate->room) {
        size_t room = correlate->room ? 2 * correlate->room : 8;
        struct pug_correlate_queue *streams = realloc(correlate->streams, room * sizeof(*streams));
        if (!streams)
            return PUG_ERR_MEM;
        correlate->streams = streams;
        correlate->room = room;
    }
    if (!reserve_buffers(correlate, source->buffer))
        return PUG_ERR_MEM;
    struct pug_correlate_buffer *buffer = &correlate->buffers[source->buffer];
    struct pug_correlate_queue *queue = &correlate->streams[correlate->count++];
    *queue = new_queue(source);
    queue->next = buffer->streams;
    if (!pug_merge_heap_add(correlate)) {
        correlate->count--;
        return PUG_ERR_MEM;
    }
    correlate->common += !queue->info.own_clock;
    buffer->streams = (uint32_t)correlate->count;
    buffer->timeless++;
    return PUG_OK;
}

/** `place` is a stream's number and one more, or 0. */
static struct pug_correlate_queue *queue_at(const struct pug_correlate *correlate, uint32_t place)
{
    return place > 0 ? &correlate->streams[place - 1] : NULL;
}

struct pug_correlate_queue *pug_correlate_first_of(const struct pug_correlate *correlate,
                                                   uint32_t buffer)
{
    return buffer < correlate->buffer_count
               ? queue_at(correlate, correlate->buffers[buffer].streams)
               : NULL;
}

struct pug_correlate_queue *pug_correlate_next_of(const struct pug_correlate *correlate,
                                                  const struct pug_correlate_queue *queue)
{
    return queue_at(correlate, queue->next);
}

uint32_t pug_correlate_number(const struct pug_correlate *correlate,
                              const struct pug_correlate_queue *queue)
{
    return (uint32_t)(queue - correlate->streams);
}

/** Room for one more entry: those that were given make room first. */
static bool reserve_entry(struct pug_correlate_queue *queue)
{
    if (queue->head + queue->count < queue->room)
        return true;
    if (queue->head > queue->room / 2) {
        memmove(queue->entries, queue->entries + queue->head,
                queue->count * sizeof(*queue->entries));
        queue->head = 0;
        return true;
    }
    size_t room = queue->room ? 2 * queue->room : 16;
    struct pug_correlated *entries = realloc(queue->entries, room * sizeof(*entries));
    if (!entries)
        return false;
    queue->entries = entries;
    queue->room = room;
    return true;
}

/** Nothing more comes of a stream that has ended. */
static void forget_entries(struct pug_correlate_queue *queue)
{
    if (!queue->ended || queue->count > 0)
        return;
    free(queue->entries);
    queue->entries = NULL;
    queue->head = queue->room = 0;
}

/* ---- in the order of time ---- */

/** Give the first entries of a stream. */
static void give(struct pug_correlate *correlate, struct pug_correlate_queue *queue, size_t count)
{
    const struct pug_correlated *entries = queue->entries + queue->head;
    for (size_t n = 0; n < count; n++) {
        bool late = pug_correlate_times(&entries[n], &correlate->last) < 0;
        correlate->late += late;
        queue->info.late += late;
        queue->info.when[entries[n].when]++;
        if (!late)
            correlate->last = entries[n];
    }
    correlate->stopped = !correlate->config.give(correlate->config.context, entries, count);
    for (size_t n = 0; n < count; n++)
        pug_payload_free(&entries[n].element);
    queue->info.elements += count;
    queue->head += count;
    queue->count -= count;
    queue->ready -= count;
    correlate->waiting -= count;
    forget_entries(queue);
    pug_merge_heap_note(correlate, pug_correlate_number(correlate, queue));
}

/** Give what has its turn, at most so many. False: nothing has. */
static bool give_some(struct pug_correlate *correlate, bool forced, size_t most)
{
    const uint32_t first = pug_merge_heap_ready(correlate);
    if (first == PUG_CORRELATE_NONE || correlate->stopped)
        return false;
    struct pug_correlate_queue *queue = &correlate->streams[first];
    struct pug_correlated barrier;
    const bool bounded = pug_merge_heap_barrier(correlate, first, forced, &barrier);
    size_t count = 0;
    while (count < queue->ready && count < most &&
           (!bounded ||
            pug_correlate_order(correlate, &queue->entries[queue->head + count], &barrier) < 0))
        count++;
    if (count > 0)
        give(correlate, queue, count);
    return count > 0;
}

/** More wait than may: the first go, though something that was before them may come yet. */
static void relieve(struct pug_correlate *correlate)
{
    for (size_t n = 0; n < correlate->count; n++) {
        pug_correlate_clock_settle(correlate, &correlate->streams[n]);
        pug_merge_heap_note(correlate, (uint32_t)n);
    }
    size_t enough = correlate->config.limit / 2;
    while (correlate->waiting > enough &&
           give_some(correlate, true,
                     correlate->waiting - enough < GIVEN ? correlate->waiting - enough : GIVEN))
        continue;
}

static void give_all(struct pug_correlate *correlate)
{
    while (give_some(correlate, false, GIVEN))
        continue;
    if (correlate->waiting > correlate->config.limit)
        relieve(correlate);
}

/** Something of a stream is new, and with `*others` of its buffer's other streams. */
static void take_turns(struct pug_correlate *correlate, const struct pug_correlate_queue *queue,
                       bool *others)
{
    if (*others)
        pug_merge_heap_note_buffer(correlate, queue->info.buffer);
    else
        pug_merge_heap_note(correlate, pug_correlate_number(correlate, queue));
    *others = false;
    give_all(correlate);
}

enum pug_status pug_correlate_put(struct pug_correlate *correlate, uint32_t stream,
                                  const struct pug_element *elements, size_t count)
{
    if (!correlate || (!elements && count > 0))
        return PUG_ERR_INVALID_PARAM_VAL;
    if (stream >= correlate->count || correlate->streams[stream].ended)
        return PUG_ERR_INVALID_PARAM_VAL;
    struct pug_correlate_queue *queue = &correlate->streams[stream];
    enum pug_status status = PUG_OK;
    bool others = false;
    for (size_t i = 0; i < count && !correlate->stopped; i++) {
        struct pug_correlated entry = {.element = elements[i], .stream = stream};
        if (!reserve_entry(queue) || !pug_payload_keep(&entry.element)) {
            status = PUG_ERR_MEM;
            break;
        }
        queue->entries[queue->head + queue->count++] = entry;
        correlate->waiting++;
        others |= pug_correlate_clock(correlate, queue);
        if (correlate->waiting > correlate->config.limit)
            take_turns(correlate, queue, &others);
    }
    take_turns(correlate, queue, &others);
    return status;
}

enum pug_status pug_correlate_end(struct pug_correlate *correlate, uint32_t stream)
{
    if (!correlate)
        return PUG_ERR_INVALID_PARAM_VAL;
    if (stream >= correlate->count)
        return PUG_ERR_INVALID_PARAM_VAL;
    struct pug_correlate_queue *queue = &correlate->streams[stream];
    pug_correlate_clock_settle(correlate, queue);
    queue->ended = true;
    forget_entries(queue);
    pug_merge_heap_note(correlate, stream);
    give_all(correlate);
    return PUG_OK;
}

enum pug_status pug_correlate_segment(struct pug_correlate *correlate, uint32_t buffer,
                                      uint64_t until)
{
    if (!correlate || buffer >= correlate->buffer_count)
        return PUG_ERR_INVALID_PARAM_VAL;
    pug_correlate_clock_segment(correlate, buffer, until);
    pug_merge_heap_note_buffer(correlate, buffer);
    give_all(correlate);
    return PUG_OK;
}

uint32_t pug_correlate_wanted(const struct pug_correlate *correlate)
{
    const uint32_t wanted = pug_merge_heap_awaited(correlate);
    return wanted != PUG_CORRELATE_NONE ? wanted : (uint32_t)correlate->count;
}

bool pug_correlate_stopped(const struct pug_correlate *correlate)
{
    return correlate->stopped;
}

bool pug_correlate_stream(const struct pug_correlate *correlate, size_t n,
                          struct pug_correlate_stream *stream)
{
    if (n >= correlate->count)
        return false;
    *stream = correlate->streams[n].info;
    return true;
}

uint64_t pug_correlate_late(const struct pug_correlate *correlate)
{
    return correlate->late;
}
