// SPDX-License-Identifier: MIT
#include "swo_sources.h"

#include "capture/capture.h"
#include "dwt_sources.h"

#include <stdlib.h>

void swo_sources_init(struct swo_sources *sources, struct pug_capture *capture, swo_event_fn *give,
                      void *context)
{
    *sources = (struct swo_sources){.capture = capture, .give = give, .context = context};
}

void swo_sources_free(struct swo_sources *sources)
{
    for (size_t i = 0; i < sources->count; i++) {
        free(sources->items[i]->stream.waiting);
        free(sources->items[i]->user);
        free(sources->items[i]);
    }
    free(sources->items);
    pug_tree_free(sources->tree);
    sources->items = NULL;
    sources->count = 0;
    sources->tree = NULL;
}

static void on_event(void *context, const struct pug_dwt_event *event)
{
    struct swo_source *source = context;
    struct pug_dwt_event dated = *event;
    if (dated.has_time)
        (void)pug_capture_clock(source->all->capture, event->time, &dated.time);
    source->all->give(source, &dated);
}

/** Its stream, with the comparators that its settings tell. */
static void begin_stream(struct swo_source *source)
{
    struct pug_capture *capture = source->all->capture;
    const struct pug_swo_clock clock = {.local_hertz = capture->local_hertz,
                                        .global_hertz = capture->global_hertz};
    const struct pug_capture_buffer *buffer = pug_capture_buffer_at(capture, source->buffer);
    const struct pug_source *found = NULL;
    struct pug_tree *tree = NULL;
    if (buffer)
        (void)pug_capture_tree(capture, buffer->first_segment, false, NULL, &tree);
    for (size_t n = 0; tree && (found = pug_tree_source_at(tree, n)) != NULL; n++)
        if (pug_source_id(found) == source->id && dwt_sources_carries(pug_source_protocol(found)))
            break;
    pug_swo_stream_init(&source->stream, found ? pug_source_config(found) : NULL, &clock, on_event,
                        source);
    pug_tree_free(tree);
}

static struct swo_source *add(struct swo_sources *sources, uint32_t buffer, uint16_t id)
{
    struct swo_source **grown =
        realloc(sources->items, (sources->count + 1) * sizeof(*sources->items));
    struct swo_source *source = calloc(1, sizeof(*source));
    if (grown)
        sources->items = grown;
    if (!grown || !source) {
        free(source);
        sources->failed = true;
        return NULL;
    }
    source->all = sources;
    source->buffer = buffer;
    source->id = id;
    source->number = (uint32_t)sources->count;
    begin_stream(source);
    return sources->items[sources->count++] = source;
}

void swo_sources_take(struct swo_sources *sources, const struct pug_origin *where,
                      const struct pug_element *element)
{
    struct swo_source *source = NULL;
    for (size_t i = 0; i < sources->count && !source; i++)
        if (sources->items[i]->id == element->source && sources->items[i]->buffer == where->buffer)
            source = sources->items[i];
    if (!source && swo_sources_is(element))
        source = add(sources, where->buffer, element->source);
    if (source)
        pug_swo_stream_take(&source->stream, element);
}

void swo_sources_end(struct swo_sources *sources)
{
    for (size_t i = 0; i < sources->count; i++) {
        pug_swo_stream_end(&sources->items[i]->stream);
        sources->failed |= sources->items[i]->stream.failed;
    }
}

const struct pug_vectors *swo_sources_vectors(struct swo_sources *sources)
{
    if (!sources->has_vectors) {
        sources->has_vectors = true;
        if (pug_capture_segment_at(sources->capture, 0))
            (void)pug_capture_tree(sources->capture, 0, false, NULL, &sources->tree);
        pug_vectors_find(&sources->vectors, sources->tree ? pug_tree_image(sources->tree) : NULL,
                         UINT64_MAX);
    }
    return &sources->vectors;
}

const char *swo_sources_unit(const struct swo_sources *sources)
{
    if (pug_capture_times(sources->capture).unit == PUG_CAPTURE_NANOSECONDS)
        return "ns";
    for (size_t i = 0; i < sources->count; i++)
        if (sources->items[i]->stream.clock.anchored)
            return "ticks";
    return "cycles";
}
