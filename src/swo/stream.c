// SPDX-License-Identifier: MIT
/** @file Elements of one ITM source to events that have their times. */
#include "swo/swo.h"

#include <stdlib.h>
#include <string.h>

/** So many events wait for a timestamp at most; then they have the last time that was known. */
#define WAITING_MOST ((size_t)1 << 16)

void pug_swo_stream_init(struct pug_swo_stream *stream, const void *config,
                         const struct pug_swo_clock *clock, pug_swo_fn *give, void *context)
{
    *stream = (struct pug_swo_stream){.clock = *clock, .give = give, .context = context};
    pug_dwt_init(&stream->dwt, false);
    if (config)
        pug_dwt_use_config(&stream->dwt, config);
}

/** All that waits goes on: with the last time, and how certain that is. */
static void give_all(struct pug_swo_stream *stream, uint8_t kind)
{
    for (size_t i = 0; i < stream->count; i++) {
        struct pug_dwt_event *event = &stream->waiting[i];
        event->time = stream->time;
        event->has_time = stream->has_time;
        event->time_kind = kind;
        stream->give(stream->context, event);
    }
    stream->count = 0;
}

static void await_time(struct pug_swo_stream *stream, const struct pug_dwt_event *event)
{
    if (stream->count == WAITING_MOST)
        give_all(stream, PUG_ITM_TS_PKT_TS_DELAY);
    if (stream->count == stream->room) {
        const size_t room = 2 * stream->room + 64;
        struct pug_dwt_event *grown = realloc(stream->waiting, room * sizeof(*grown));
        if (!grown) {
            stream->failed = true;
            give_all(stream, PUG_ITM_TS_PKT_TS_DELAY);
            stream->give(stream->context, event);
            return;
        }
        stream->waiting = grown;
        stream->room = room;
    }
    stream->waiting[stream->count++] = *event;
}

static void await_all(struct pug_swo_stream *stream, size_t count)
{
    for (size_t i = 0; i < count; i++)
        await_time(stream, &stream->dwt.events[i]);
}

/** Trace was lost before an element: parts of accesses that came before are complete. */
static void lose(struct pug_swo_stream *stream, const struct pug_element *element)
{
    await_all(stream, pug_dwt_finish(&stream->dwt));
    await_time(stream, &(struct pug_dwt_event){.index = element->index,
                                               .source = element->source,
                                               .kind = PUG_DWT_LOST,
                                               .overflow = true});
}

/** Synchronisation is lost: nothing dates what waits but what was before. */
static void desynchronise(struct pug_swo_stream *stream, const struct pug_element *element)
{
    await_all(stream, pug_dwt_finish(&stream->dwt));
    give_all(stream, PUG_ITM_TS_PKT_TS_DELAY);
    if (stream->running && element->type == PUG_ELEM_NO_SYNC)
        lose(stream, element);
    stream->running = false;
}

static bool take_time(struct pug_swo_stream *stream, const struct pug_element *element)
{
    uint64_t time = 0;
    bool restarts;
    if (!pug_swo_clock_take(&stream->clock, element, &time, &restarts))
        return false;
    if (stream->has_time && !restarts && time < stream->time)
        time = stream->time; /* it never goes back */
    stream->time = time;
    stream->has_time = true;
    return true;
}

void pug_swo_stream_take(struct pug_swo_stream *stream, const struct pug_element *element)
{
    if (element->type == PUG_ELEM_NO_SYNC || element->type == PUG_ELEM_EO_TRACE) {
        desynchronise(stream, element);
        return;
    }
    if (element->type != PUG_ELEM_ITMTRACE)
        return;
    if (element->flags & PUG_ELEM_OVERFLOW)
        lose(stream, element);
    stream->running = true;
    await_all(stream, pug_dwt_push(&stream->dwt, element));
    if (pug_swo_is_timestamp(element) && take_time(stream, element))
        give_all(stream, element->reason);
}

void pug_swo_stream_end(struct pug_swo_stream *stream)
{
    await_all(stream, pug_dwt_finish(&stream->dwt));
    give_all(stream, PUG_ITM_TS_PKT_TS_DELAY);
    free(stream->waiting);
    stream->waiting = NULL;
    stream->room = 0;
}
