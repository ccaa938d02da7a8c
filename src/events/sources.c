// SPDX-License-Identifier: MIT
#include "events/sources.h"

#include "capture/capture.h"
#include "capture/marks.h"
#include "events/dwt_sources.h"

#include <stdlib.h>

void pug_swo_sources_init(struct swo_sources *sources, struct pug_capture *capture,
                          swo_event_fn *give, void *context)
{
    *sources = (struct swo_sources){.capture = capture, .give = give, .context = context};
}

void pug_swo_sources_free(struct swo_sources *sources)
{
    for (size_t i = 0; i < sources->count; i++) {
        free(sources->items[i]->stream.waiting);
        free(sources->items[i]->user);
        if (sources->items[i]->has_tree)
            pug_tree_free(sources->items[i]->tree);
        free(sources->items[i]);
    }
    free(sources->items);
    sources->items = NULL;
    sources->count = 0;
}

static void on_event(void *context, const struct pug_dwt_event *event)
{
    struct swo_source *source = context;
    struct pug_dwt_event dated = *event;
    if (dated.has_time)
        (void)pug_capture_clock(source->all->capture, event->time, &dated.time);
    source->all->give(source, &dated);
}

/** The tree of a buffer: that of another source of it, or a new one. */
static void find_tree(struct swo_source *source)
{
    const struct swo_sources *all = source->all;
    for (size_t i = 0; i < all->count && !source->tree; i++)
        if (all->items[i]->buffer == source->buffer)
            source->tree = all->items[i]->tree;
    const struct pug_capture_buffer *buffer = pug_capture_buffer_at(all->capture, source->buffer);
    if (source->tree || !buffer)
        return;
    (void)pug_capture_tree(all->capture, buffer->first_segment, false, NULL, &source->tree);
    source->has_tree = true;
}

/** Its stream, with the comparators that its settings tell. */
static void begin_stream(struct swo_source *source)
{
    const struct pug_swo_clock clock =
        pug_capture_swo_clock(source->all->capture, source->buffer, source->id);
    const struct pug_source *found = NULL;
    find_tree(source);
    for (size_t n = 0; source->tree && (found = pug_tree_source_at(source->tree, n)) != NULL; n++)
        if (pug_source_id(found) == source->id &&
            pug_dwt_sources_carries(pug_source_protocol(found)))
            break;
    pug_swo_stream_init(&source->stream, found ? pug_source_config(found) : NULL, &clock, on_event,
                        source);
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

void pug_swo_sources_take(struct swo_sources *sources, const struct pug_origin *where,
                          const struct pug_element *element)
{
    struct swo_source *source = NULL;
    for (size_t i = 0; i < sources->count && !source; i++)
        if (sources->items[i]->id == element->source && sources->items[i]->buffer == where->buffer)
            source = sources->items[i];
    if (!source && pug_swo_sources_is(element))
        source = add(sources, where->buffer, element->source);
    if (source)
        pug_swo_stream_take(&source->stream, element);
}

void pug_swo_sources_end(struct swo_sources *sources)
{
    for (size_t i = 0; i < sources->count; i++) {
        pug_swo_stream_end(&sources->items[i]->stream);
        sources->failed |= sources->items[i]->stream.failed;
    }
}

const struct pug_vectors *pug_swo_source_vectors(struct swo_source *source)
{
    if (!source->has_vectors)
        pug_capture_vectors(source->all->capture,
                            source->tree ? pug_tree_image(source->tree) : NULL, source->id,
                            &source->vectors);
    source->has_vectors = true;
    return &source->vectors;
}

const struct pug_vectors *pug_swo_sources_vectors(struct swo_sources *sources, uint16_t id)
{
    static const struct pug_vectors none;
    for (size_t i = 0; i < sources->count; i++)
        if (sources->items[i]->id == id)
            return pug_swo_source_vectors(sources->items[i]);
    return &none;
}

const char *pug_swo_sources_unit(const struct swo_sources *sources)
{
    if (pug_capture_times(sources->capture).unit == PUG_CAPTURE_NANOSECONDS)
        return "ns";
    for (size_t i = 0; i < sources->count; i++)
        if (sources->items[i]->stream.clock.anchored)
            return "ticks";
    return "cycles";
}
