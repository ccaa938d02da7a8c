// SPDX-License-Identifier: MIT
/** @file Streams side by side: their elements wait until nothing that was before them can come. */
#include "correlate/correlate.h"
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

static void free_payload(const struct pug_correlated *entry)
{
    if (entry->element.flags & PUG_ELEM_PAYLOAD)
        free((void *)(uintptr_t)entry->element.payload);
}

void pug_correlate_free(struct pug_correlate *correlate)
{
    if (!correlate)
        return;
    for (size_t i = 0; i < correlate->count; i++) {
        struct pug_correlate_queue *queue = &correlate->streams[i];
        for (size_t n = 0; n < queue->count; n++)
            free_payload(&queue->entries[queue->head + n]);
        free(queue->entries);
    }
    free(correlate->streams);
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

static bool counts_apart(const char *name)
{
    const struct pug_protocol *protocol = pug_protocol_find(name);
    return protocol && protocol->description && protocol->description->counts_apart;
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
    correlate->streams[correlate->count++] = (struct pug_correlate_queue){
        .info = {.buffer = source->buffer, .source = source->source},
        .counts_apart = counts_apart(source->protocol),
    };
    return PUG_OK;
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
    size_t room = queue->room ? 2 * queue->room : 256;
    struct pug_correlated *entries = realloc(queue->entries, room * sizeof(*entries));
    if (!entries)
        return false;
    queue->entries = entries;
    queue->room = room;
    return true;
}

static bool keep_payload(struct pug_element *element)
{
    if (!(element->flags & PUG_ELEM_PAYLOAD))
        return true;
    void *copy = malloc(element->count ? element->count : 1);
    if (copy && element->count)
        memcpy(copy, element->payload, element->count);
    element->payload = copy;
    return copy != NULL;
}

/* ---- whose turn it is ---- */

/** The least that may still come of a stream, where nothing of it is ready; `time` may be 0. */
static struct pug_correlated least_of(const struct pug_correlate *correlate, size_t n)
{
    const struct pug_correlate_queue *queue = &correlate->streams[n];
    const struct pug_correlate_buffer *buffer = &correlate->buffers[queue->info.buffer];
    struct pug_correlated least = {.stream = (uint32_t)n, .when = PUG_WHEN_AFTER};
    if (queue->count > queue->ready && !queue->has_time) {
        least.time = queue->entries[queue->head + queue->ready].time;
        least.when = PUG_WHEN_BEFORE;
    } else if (queue->has_time && (queue->time >= buffer->settled || queue->count > 0)) {
        least.time = queue->time;
        least.cycles = queue->cycles;
    } else {
        least.time = buffer->settled;
    }
    return least;
}

/** The stream whose next element is the first of all that are ready; the count: none is. */
static size_t first_ready(const struct pug_correlate *correlate)
{
    size_t first = correlate->count;
    for (size_t n = 0; n < correlate->count; n++) {
        const struct pug_correlate_queue *queue = &correlate->streams[n];
        if (queue->ready > 0 &&
            (first == correlate->count ||
             pug_correlate_order(
                 correlate, &queue->entries[queue->head],
                 &correlate->streams[first].entries[correlate->streams[first].head]) < 0))
            first = n;
    }
    return first;
}

/** What the others' next elements are not before. False: nobody else has or will have any. */
static bool barrier_of(const struct pug_correlate *correlate, size_t but, bool forced,
                       struct pug_correlated *barrier)
{
    bool any = false;
    for (size_t n = 0; n < correlate->count; n++) {
        const struct pug_correlate_queue *queue = &correlate->streams[n];
        if (n == but || (queue->ready == 0 && (queue->ended || forced)))
            continue;
        struct pug_correlated next =
            queue->ready > 0 ? queue->entries[queue->head] : least_of(correlate, n);
        if (!any || pug_correlate_order(correlate, &next, barrier) < 0)
            *barrier = next;
        any = true;
    }
    return any;
}

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
        free_payload(&entries[n]);
    queue->info.elements += count;
    queue->head += count;
    queue->count -= count;
    queue->ready -= count;
    correlate->waiting -= count;
}

/** Give what has its turn, at most so many. False: nothing has. */
static bool give_some(struct pug_correlate *correlate, bool forced, size_t most)
{
    size_t first = first_ready(correlate), count = 0;
    if (first == correlate->count || correlate->stopped)
        return false;
    struct pug_correlate_queue *queue = &correlate->streams[first];
    struct pug_correlated barrier;
    bool bounded = barrier_of(correlate, first, forced, &barrier);
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
    for (size_t n = 0; n < correlate->count; n++)
        pug_correlate_clock_settle(correlate, &correlate->streams[n]);
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

enum pug_status pug_correlate_put(struct pug_correlate *correlate, uint32_t stream,
                                  const struct pug_element *elements, size_t count)
{
    if (!correlate || (!elements && count > 0))
        return PUG_ERR_INVALID_PARAM_VAL;
    if (stream >= correlate->count || correlate->streams[stream].ended)
        return PUG_ERR_INVALID_PARAM_VAL;
    struct pug_correlate_queue *queue = &correlate->streams[stream];
    for (size_t i = 0; i < count && !correlate->stopped; i++) {
        struct pug_correlated entry = {.element = elements[i], .stream = stream};
        if (!reserve_entry(queue) || !keep_payload(&entry.element))
            return PUG_ERR_MEM;
        queue->entries[queue->head + queue->count++] = entry;
        correlate->waiting++;
        pug_correlate_clock(correlate, queue);
        if (correlate->waiting > correlate->config.limit)
            give_all(correlate);
    }
    give_all(correlate);
    return PUG_OK;
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
    give_all(correlate);
    return PUG_OK;
}

enum pug_status pug_correlate_stretch(struct pug_correlate *correlate, uint32_t buffer,
                                      uint64_t until)
{
    if (!correlate || buffer >= correlate->buffer_count)
        return PUG_ERR_INVALID_PARAM_VAL;
    pug_correlate_clock_stretch(correlate, buffer, until);
    give_all(correlate);
    return PUG_OK;
}

uint32_t pug_correlate_wanted(const struct pug_correlate *correlate)
{
    size_t wanted = correlate->count;
    struct pug_correlated least = {.stream = 0};
    for (size_t n = 0; n < correlate->count; n++) {
        const struct pug_correlate_queue *queue = &correlate->streams[n];
        if (queue->ended || queue->ready > 0)
            continue;
        struct pug_correlated next = least_of(correlate, n);
        if (wanted < correlate->count && pug_correlate_order(correlate, &next, &least) >= 0)
            continue;
        wanted = n;
        least = next;
    }
    return (uint32_t)wanted;
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
