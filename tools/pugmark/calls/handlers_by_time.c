// SPDX-License-Identifier: MIT
#include "handlers_by_time.h"

#include "calls_lines.h"
#include "capture/capture.h"
#include "common/output.h"
#include "swo/handlers.h"
#include "swo/swo.h"

#include <stdio.h>
#include <stdlib.h>

/** A stream of an ITM. */
struct traced {
    const struct handlers_by_time *all;
    uint32_t stream;
    bool own_clock, titled;
    char label[80];
    struct pug_vectors vectors;
    struct pug_interrupts interrupts;
};

struct handlers_by_time {
    const struct pug_correlate *correlate;
    struct pug_capture *capture;
    struct pug_tree *const *trees;
    struct traced **items;
    size_t count;
};

struct handlers_by_time *handlers_by_time_new(const struct pug_correlate *correlate,
                                              struct pug_capture *capture,
                                              struct pug_tree *const *trees)
{
    struct handlers_by_time *handlers = calloc(1, sizeof(*handlers));
    if (handlers)
        *handlers =
            (struct handlers_by_time){.correlate = correlate, .capture = capture, .trees = trees};
    return handlers;
}

void handlers_by_time_free(struct handlers_by_time *handlers)
{
    for (size_t i = 0; handlers && i < handlers->count; i++)
        free(handlers->items[i]);
    if (handlers)
        free(handlers->items);
    free(handlers);
}

/* ---- lines ---- */

static void begin_line(const struct traced *traced, const uint64_t *time, const uint64_t *took,
                       uint32_t depth)
{
    pug_sink_text(output_sink(), "  ");
    pug_sink_printable(output_sink(), traced->label);
    calls_put_number(time, time ? *time : 0);
    calls_put_number(took, took ? *took : 0);
    calls_put_number(false, 0);
    calls_put_indent(depth);
}

static void on_interrupt(void *context, const struct pug_interrupt *interrupt)
{
    struct traced *traced = context;
    const uint64_t took = interrupt->time - interrupt->entered;
    const bool whole = interrupt->leave && interrupt->begun && interrupt->timed && !interrupt->cut;
    char name[256];
    if (!traced->titled) {
        traced->titled = true;
        begin_line(traced, NULL, NULL, 0);
        output_text("[times are in %s]\n", traced->own_clock ? "cycles" : "ticks");
    }
    begin_line(traced, interrupt->timed ? &interrupt->time : NULL, whole ? &took : NULL,
               interrupt->depth);
    if (interrupt->leave) {
        output_text("}%s\n", interrupt->cut ? "  /* its end is not in the trace */" : "");
        return;
    }
    pug_vectors_name(&traced->vectors, interrupt->number, name, sizeof(name));
    output_text("[");
    pug_sink_printable(output_sink(), name);
    output_text("] {%s\n", interrupt->begun ? "" : "  /* its begin is not in the trace */");
}

/* ---- streams ---- */

static struct traced *add(struct handlers_by_time *handlers, uint32_t number)
{
    struct pug_correlate_stream stream;
    struct traced **grown =
        realloc(handlers->items, (handlers->count + 1) * sizeof(struct traced *));
    struct traced *traced = calloc(1, sizeof(*traced));
    if (grown)
        handlers->items = grown;
    if (!grown || !traced || !pug_correlate_stream(handlers->correlate, number, &stream)) {
        free(traced);
        return NULL;
    }
    const struct pug_capture_buffer *buffer =
        pug_capture_buffer_at(handlers->capture, stream.buffer);
    const struct pug_tree *tree = handlers->trees[stream.buffer];
    *traced = (struct traced){.all = handlers, .stream = number, .own_clock = stream.own_clock};
    snprintf(traced->label, sizeof(traced->label), "%-.64s %02x",
             buffer && buffer->name ? buffer->name : "", stream.source);
    pug_capture_vectors(handlers->capture, tree ? pug_tree_image(tree) : NULL, stream.source,
                        &traced->vectors);
    pug_interrupts_init(&traced->interrupts, on_interrupt, traced);
    return handlers->items[handlers->count++] = traced;
}

static struct traced *find(struct handlers_by_time *handlers, uint32_t stream)
{
    for (size_t i = 0; i < handlers->count; i++)
        if (handlers->items[i]->stream == stream)
            return handlers->items[i];
    return add(handlers, stream);
}

bool handlers_by_time_take(struct handlers_by_time *handlers, const struct pug_correlated *dated)
{
    const struct pug_element *element = &dated->element;
    struct pug_dwt_event event;
    const bool lost = element->type == PUG_ELEM_ITMTRACE && element->flags & PUG_ELEM_OVERFLOW;
    const bool told = pug_dwt_meaning(element, &event) && event.kind == PUG_DWT_EXCEPTION;
    struct traced *traced = lost || told ? find(handlers, dated->stream) : NULL;
    if (!traced)
        return !lost && !told;
    if (!told)
        event = (struct pug_dwt_event){.index = element->index, .source = element->source};
    event.time = dated->time;
    event.has_time = dated->when != PUG_WHEN_UNKNOWN;
    event.time_kind = dated->when == PUG_WHEN_AT ? PUG_ITM_TS_SYNC : PUG_ITM_TS_DELAY;
    if (lost) {
        struct pug_dwt_event loss = event;
        loss.kind = PUG_DWT_LOST;
        pug_interrupts_take(&traced->interrupts, &loss);
    }
    if (told)
        pug_interrupts_take(&traced->interrupts, &event);
    return true;
}

void handlers_by_time_end(struct handlers_by_time *handlers)
{
    for (size_t i = 0; i < handlers->count; i++)
        pug_interrupts_end(&handlers->items[i]->interrupts);
}
