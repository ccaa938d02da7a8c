// SPDX-License-Identifier: MIT
/**
 * @file pugmark list --events: what ITMs and DWTs say, a line for each event with its time and the
 * program's names: text of ports, values, exceptions, PC samples, data accesses, counters, losses.
 */
#include "common/command.h"
#include "common/messages.h"
#include "common/output.h"
#include "events/names.h"
#include "events/port_text.h"
#include "events/sources.h"
#include "input/capture_options.h"
#include "items/parts.h"
#include "list.h"
#include "text/json.h"
#include "text/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EVENT_CSV_HEADER "time,exact,source,index,kind,name,type,value,pc,words\n"

struct events {
    const struct list_options *options;
    struct swo_sources sources;
    struct swo_names *names;
    bool any, failed;
};

/** The unfinished packets of a source. */
struct under_way {
    struct port_text *ports[PORTS];
    struct pug_swo_counters counters;
};

/** A line: what all forms have of an event. */
struct line {
    const struct pug_dwt_event *event;
    const char *kind;
    char name[256], type[128], value[64], words[640];
    bool has_time;
    uint64_t time, index;
};

static const char *const kinds[] = {
    [PUG_DWT_RESERVED] = "reserved",   [PUG_DWT_STIMULUS] = "port",
    [PUG_DWT_COUNTERS] = "counter",    [PUG_DWT_EXCEPTION] = "exception",
    [PUG_DWT_PC_SAMPLE] = "pc sample", [PUG_DWT_SLEEPING] = "pc sample",
    [PUG_DWT_DENIED] = "pc sample",    [PUG_DWT_PMU] = "counter",
    [PUG_DWT_MATCH] = "match",         [PUG_DWT_DATA] = "data",
    [PUG_DWT_LOST] = "loss",
};

/* ---- forms ---- */

static void put_text(const struct line *line)
{
    const char *late = line->event->time_kind == PUG_ITM_TS_SYNC ? " " : "~";
    if (line->has_time)
        output_text("%s%14" PRIu64, late, line->time);
    else
        output_text(" %14s", "-");
    output_text("  %02x  %s\n", line->event->source, line->words);
}

static void put_json(const struct line *line)
{
    struct pug_json json = pug_json_begin(output_sink());
    const struct pug_dwt_event *event = line->event;
    pug_json_object(&json, NULL);
    if (line->has_time)
        pug_json_number(&json, "time", line->time);
    pug_json_bool(&json, "exact", line->has_time && event->time_kind == PUG_ITM_TS_SYNC);
    pug_json_number(&json, "source", event->source);
    pug_json_number(&json, "index", line->index);
    pug_json_string(&json, "kind", line->kind);
    if (*line->name)
        pug_json_string(&json, "name", line->name);
    if (*line->type)
        pug_json_string(&json, "type", line->type);
    if (*line->value)
        pug_json_string(&json, "value", line->value);
    if (event->has_value || event->kind == PUG_DWT_STIMULUS)
        pug_json_number(&json, "raw", event->value);
    if (event->kind == PUG_DWT_DATA && event->has_value)
        pug_json_bool(&json, "write", event->write);
    if (event->has_pc)
        pug_json_hex(&json, "pc", event->pc);
    if (event->guessed)
        pug_json_bool(&json, "guessed", true);
    pug_json_string(&json, "words", line->words);
    pug_json_close(&json);
    pug_json_line(&json);
}

static void put_csv(const struct line *line)
{
    struct pug_sink *sink = output_sink();
    const char *const texts[] = {line->kind, line->name, line->type, line->value};
    if (line->has_time)
        pug_sink_decimal(sink, line->time);
    output_text(",%d,%u,%" PRIu64, line->has_time && line->event->time_kind == PUG_ITM_TS_SYNC,
                line->event->source, line->index);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        pug_sink_text(sink, ",");
        pug_csv_field(sink, texts[i]);
    }
    pug_sink_text(sink, ",");
    if (line->event->has_pc)
        output_text("0x%08" PRIx32, line->event->pc);
    pug_sink_text(sink, ",");
    pug_csv_field(sink, line->words);
    pug_sink_text(sink, "\n");
}

static void put(struct events *events, const struct line *line)
{
    const struct list_options *options = events->options;
    if (line->index < options->from || line->index >= options->to ||
        (options->match && !strstr(line->words, options->match)))
        return;
    events->any = true;
    switch (options->format) {
    case LIST_TEXT: put_text(line); break;
    case LIST_JSONL: put_json(line); break;
    case LIST_CSV: put_csv(line); break;
    }
}

/* ---- events ---- */

static struct line begin_line(const struct pug_dwt_event *event)
{
    return (struct line){.event = event,
                         .kind = kinds[event->kind],
                         .has_time = event->has_time,
                         .time = event->time,
                         .index = event->index};
}

/** A line of text, with the time of its first byte. */
static void put_port(struct events *events, struct port_text *text,
                     const struct pug_dwt_event *event)
{
    struct line line = begin_line(event);
    if (text->size == 0)
        return;
    line.time = text->time;
    line.has_time = text->has_time;
    line.index = text->index;
    snprintf(line.name, sizeof(line.name), "port %u", event->number);
    snprintf(line.words, sizeof(line.words), "port %u: %s", event->number, text->line);
    put(events, &line);
    text->size = 0;
}

static void put_number(struct events *events, const struct pug_dwt_event *event)
{
    struct line line = begin_line(event);
    snprintf(line.name, sizeof(line.name), "port %u", event->number);
    snprintf(line.value, sizeof(line.value), "%" PRIu32, event->value);
    snprintf(line.words, sizeof(line.words), "port %u = %" PRIu32 " (0x%0*" PRIx32 ")",
             event->number, event->value, 2 * event->size, event->value);
    put(events, &line);
}

static void put_write(struct events *events, struct under_way *under_way,
                      const struct pug_dwt_event *event)
{
    struct port_text **text = &under_way->ports[event->number % PORTS];
    if (!*text && !(*text = calloc(1, sizeof(**text)))) {
        events->failed = true;
        return;
    }
    if (!(*text)->number && !pug_port_text_is(event)) {
        put_port(events, *text, event);
        (*text)->number = true;
    }
    for (unsigned i = 0; i < event->size && !(*text)->number; i++)
        if (pug_port_text_take(*text, event, i))
            put_port(events, *text, event);
    if ((*text)->number)
        put_number(events, event);
}

static void put_counters(struct events *events, struct under_way *under_way,
                         const struct pug_dwt_event *event)
{
    const unsigned moved = pug_swo_counters_take(&under_way->counters, event);
    for (unsigned n = 0; n < PUG_SWO_COUNTERS; n++) {
        struct line line = begin_line(event);
        if (!(moved >> n & 1))
            continue;
        snprintf(line.name, sizeof(line.name), "%s", pug_swo_counter_name(n));
        snprintf(line.value, sizeof(line.value), "%" PRIu64, under_way->counters.values[n]);
        snprintf(line.words, sizeof(line.words), "%s: %s", line.name, line.value);
        put(events, &line);
    }
}

static void put_sample(struct events *events, const struct pug_dwt_event *event)
{
    struct line line = begin_line(event);
    const struct pug_image *image = pug_swo_sources_vectors(&events->sources, event->source)->image;
    struct pug_symbol symbol;
    if (image && event->has_pc && pug_image_symbol(image, event->pc, &symbol))
        snprintf(line.name, sizeof(line.name), "%s", symbol.name);
    pug_swo_names_event(events->names, event, line.words, sizeof(line.words));
    if (*line.name)
        snprintf(line.words + strlen(line.words), sizeof(line.words) - strlen(line.words),
                 " in %.200s", line.name);
    put(events, &line);
}

static void put_other(struct events *events, const struct pug_dwt_event *event)
{
    struct line line = begin_line(event);
    pug_swo_names_event(events->names, event, line.words, sizeof(line.words));
    if (event->kind == PUG_DWT_DATA || event->kind == PUG_DWT_MATCH) {
        pug_swo_names_place(events->names, event, line.name, sizeof(line.name));
        pug_swo_names_type(events->names, event, line.type, sizeof(line.type));
        pug_swo_names_value(events->names, event, line.value, sizeof(line.value));
    } else if (event->kind == PUG_DWT_EXCEPTION) {
        pug_vectors_name(pug_swo_sources_vectors(&events->sources, event->source), event->number,
                         line.name, sizeof(line.name));
    } else if (event->kind == PUG_DWT_LOST) {
        snprintf(line.words, sizeof(line.words), "trace was lost");
    }
    put(events, &line);
}

static void on_event(struct swo_source *source, const struct pug_dwt_event *event)
{
    struct events *events = source->all->context;
    if (!source->user)
        source->user = calloc(1, sizeof(struct under_way));
    if (!source->user) {
        events->failed = true;
        return;
    }
    switch (event->kind) {
    case PUG_DWT_STIMULUS: put_write(events, source->user, event); break;
    case PUG_DWT_COUNTERS:
    case PUG_DWT_PMU: put_counters(events, source->user, event); break;
    case PUG_DWT_PC_SAMPLE:
    case PUG_DWT_SLEEPING:
    case PUG_DWT_DENIED: put_sample(events, event); break;
    default: put_other(events, event);
    }
}

static bool take_item(void *context, const struct trace_item *item)
{
    struct events *events = context;
    if (!item->others)
        pug_swo_sources_take(&events->sources, item->where, &item->element);
    return !events->failed && !events->sources.failed && output_wanted();
}

/** Text whose line did not end. */
static void end_ports(struct events *events)
{
    for (size_t i = 0; i < events->sources.count; i++) {
        const struct swo_source *source = events->sources.items[i];
        struct under_way *under_way = source->user;
        for (unsigned port = 0; under_way && port < PORTS; port++) {
            const struct pug_dwt_event event = {
                .kind = PUG_DWT_STIMULUS, .number = (uint16_t)port, .source = source->id};
            if (under_way->ports[port])
                put_port(events, under_way->ports[port], &event);
            free(under_way->ports[port]);
        }
    }
}

/* ---- the command ---- */

static int decode(struct events *events, struct input *input)
{
    const struct trace_wanted wanted = {.limits = {.all = true}, .no_code = true};
    struct trace_parts parts = {
        .capture = input->capture, .wanted = &wanted, .print = take_item, .print_context = events};
    struct pug_capture_decode how = {.threads = 0};
    struct pug_capture_result result;
    pug_trace_parts_decode(&parts, &how);
    if (!input_decode(input, &how, output_wanted, &result))
        return EXIT_INPUT;
    pug_swo_sources_end(&events->sources);
    end_ports(events);
    if (parts.failed || events->failed || events->sources.failed)
        input_starve(input);
    if (events->any)
        return input_result(input);
    const int code = input_result(input);
    message_say("pugmark: %s: no event of an ITM or a DWT%s\n", pug_capture_path(input->capture),
                events->options->match ? " with these words" : "");
    return code == EXIT_DONE ? EXIT_TRACE_ERRORS : code;
}

int list_events(const struct list_options *options, const char *operand)
{
    static const struct capture_options no_options;
    struct input input;
    if (!input_open(&input, &options->input, operand))
        return input.failure;
    struct pug_names *names = capture_names(&options->input, &no_options);
    struct events events = {.options = options};
    int code = EXIT_FATAL;
    pug_swo_sources_init(&events.sources, input.capture, on_event, &events);
    events.names = pug_swo_names_new(&events.sources, names);
    if (options->format == LIST_CSV)
        output_text(EVENT_CSV_HEADER);
    if (events.names)
        code = decode(&events, &input);
    else
        input_starve(&input);
    pug_swo_names_free(events.names);
    pug_swo_sources_free(&events.sources);
    capture_names_end(names);
    input_close(&input);
    const int written = output_end();
    return written ? written : code;
}
