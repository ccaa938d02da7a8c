// SPDX-License-Identifier: MIT
#include "fill_by_time.h"

#include "capture/capture.h"
#include "common/command.h"
#include "events/dwt_sources.h"
#include "list/by_time.h"
#include "pugmark/advanced/correlate.h"
#include "pugmark/advanced/packet.h"
#include "pugmark/dwt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** The origin of a stream's elements. */
struct stream {
    struct pug_origin origin;
    struct pug_reader_space reader; /* that its space is of */
    struct pug_dwt *dwt;            /* NULL: it has none */
    bool known;
};

struct filling {
    struct session *session;
    struct pug_correlate *correlate;
    struct stream *streams;
    size_t count;
    bool failed;
};

bool fill_is_by_time(const struct session *session)
{
    struct pug_capture *capture = session->input.capture;
    size_t sources = 0;
    while (pug_capture_source_at(capture, sources))
        sources++;
    return sources > 1 && !session->live && pug_capture_kind(capture) != PUG_CAPTURE_PERF;
}

/** Where a source has a DWT: what joins its packets to accesses, with the addresses it watches. */
static struct pug_dwt *make_dwt(const struct pug_capture *capture,
                                const struct pug_capture_source *source)
{
    struct pug_snapshot_source in;
    if (!pug_dwt_sources_carries(pug_protocol_find(source->protocol)))
        return NULL;
    const bool known = core_source(capture, source->buffer, source->id, &in);
    struct pug_dwt *dwt = malloc(sizeof(*dwt));
    if (!dwt)
        return NULL;
    pug_dwt_init(dwt, false);
    for (unsigned n = 0; known && n < PUG_DWT_COMPARATORS; n++) {
        char name[16];
        uint64_t address;
        snprintf(name, sizeof(name), "DWT_COMP%u", n);
        if (core_register(in.device, name, &address))
            pug_dwt_set_comparator(dwt, n, (uint32_t)address);
    }
    return dwt;
}

/** The stream by its number, with its origin; NULL: no memory. */
static struct stream *find_stream(struct filling *filling, uint32_t number)
{
    struct pug_capture *capture = filling->session->input.capture;
    struct pug_correlate_stream told;
    if (number >= filling->count) {
        const size_t count = number + (size_t)8;
        struct stream *grown = realloc(filling->streams, count * sizeof(*grown));
        if (!grown)
            return NULL;
        memset(grown + filling->count, 0, (count - filling->count) * sizeof(*grown));
        filling->streams = grown;
        filling->count = count;
    }
    struct stream *stream = &filling->streams[number];
    if (stream->origin.task == PUG_NO_TASK ||
        !pug_correlate_stream(filling->correlate, number, &told))
        return stream;
    const struct pug_capture_buffer *buffer = pug_capture_buffer_at(capture, told.buffer);
    const struct pug_capture_source *source;
    stream->origin = (struct pug_origin){.buffer = told.buffer,
                                         .segment = buffer ? (uint32_t)buffer->first_segment : 0,
                                         .task = PUG_NO_TASK,
                                         .cpu = PUG_NO_CPU,
                                         .source = told.source};
    for (size_t n = 0; (source = pug_capture_source_at(capture, n)) != NULL; n++)
        if (source->buffer == told.buffer && source->id == told.source) {
            stream->origin.cpu = source->cpu;
            stream->dwt = make_dwt(capture, source);
        }
    return stream;
}

static bool is_same_reader(const struct pug_reader_space *a, const struct pug_reader_space *b)
{
    return a->space == b->space && a->source == b->source &&
           a->has_context_id == b->has_context_id && a->has_vmid == b->has_vmid &&
           a->context_id == b->context_id && a->vmid == b->vmid;
}

/** The memory that an element sees. */
static void find_space(struct filling *filling, struct stream *stream,
                       const struct pug_element *element)
{
    struct pug_reader_space reader;
    pug_element_space(element, &reader);
    if (stream->known && is_same_reader(&reader, &stream->reader))
        return;
    stream->origin.space =
        pug_capture_image_space(filling->session->input.capture, stream->origin.buffer, &reader);
    stream->reader = reader;
    stream->known = true;
}

/** Adds the accesses that a DWT reports, where it is known when they were made. */
static bool take_accesses(struct filling *filling, struct stream *stream,
                          const struct pug_correlated *item)
{
    const size_t count = stream->dwt ? pug_dwt_push(stream->dwt, &item->element) : 0;
    bool good = true;
    for (size_t i = 0; i < count && good; i++) {
        const struct pug_dwt_event *event = &stream->dwt->events[i];
        if (event->kind == PUG_DWT_DATA && event->has_value && event->has_address &&
            event->address_size >= 4 && item->when != PUG_WHEN_UNKNOWN)
            good = pug_history_access(filling->session->history, event->address, event->value,
                                      event->size);
    }
    return good;
}

static bool take(void *context, const struct pug_correlated *elements, size_t count)
{
    struct filling *filling = context;
    for (size_t i = 0; i < count && !filling->failed; i++) {
        struct stream *stream = find_stream(filling, elements[i].stream);
        filling->failed = !stream;
        if (!stream)
            break;
        find_space(filling, stream, &elements[i].element);
        if (!take_accesses(filling, stream, &elements[i]))
            return false;
        if (!pug_history_take(filling->session->history, &stream->origin, &elements[i].element, 1))
            return false;
    }
    return !filling->failed;
}

int fill_by_time(struct session *session)
{
    struct filling filling = {.session = session};
    const struct pug_correlate_config config = {.give = take, .context = &filling};
    if (pug_correlate_new(&config, &filling.correlate) != PUG_OK)
        return EXIT_FATAL;
    const int code = by_time_run(&session->input, filling.correlate);
    by_time_tell(&session->input, filling.correlate);
    if (filling.failed)
        input_starve(&session->input);
    pug_correlate_free(filling.correlate);
    for (size_t i = 0; i < filling.count; i++)
        free(filling.streams[i].dwt);
    free(filling.streams);
    return code;
}
