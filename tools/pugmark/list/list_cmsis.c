// SPDX-License-Identifier: MIT
/**
 * @file pugmark list --format cmsis-csv: what ITMs and DWTs say in the columns of the
 * CMSIS-Toolbox. Times are the sums of local timestamps, of each source; a row has the one that
 * follows it. Error rows have words of our own.
 */
#include "common/command.h"
#include "common/messages.h"
#include "common/output.h"
#include "list.h"
#include "pugmark/advanced/packet/itm.h"
#include "pugmark/author/protocol.h"
#include "pugmark/dwt.h"
#include "text/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cmsis;

/** A source that is an ITM. */
struct cmsis_source {
    struct cmsis *all;
    struct pug_dwt dwt;
    uint64_t time; /* of the last row or timestamp */
    uint64_t cut;  /* of a packet that the data end inside */
    uint16_t id;
    bool is_lost, is_cut;
};

struct cmsis {
    const struct list_options *options;
    struct input *input;
    struct cmsis_source *sources;
    size_t count;
    bool framed;
    uint8_t ports[256 / 8];
};

/* ---- rows ---- */

struct row {
    const char *type;
    char source[16], value[24], pc[16], offset[16], note[160];
};

static void put_row(const struct cmsis_source *source, uint64_t index, const struct row *row)
{
    const struct list_options *options = source->all->options;
    struct pug_sink *sink = output_sink();
    if (index < options->from || index >= options->to ||
        !input_wants(source->all->input, source->id))
        return;
    output_text("%" PRIu64 ",", source->time);
    if (source->all->framed)
        output_text("%u", source->id);
    output_text(",%s,%s,%s,%s,%s,", row->type, row->source, row->value, row->pc, row->offset);
    pug_csv_field(sink, row->note);
    pug_sink_text(sink, "\n");
}

static void put_error(const struct cmsis_source *source, uint64_t index, const char *what)
{
    struct row row = {.type = "error"};
    snprintf(row.note, sizeof(row.note), "%s, offset %" PRIu64, what, index);
    put_row(source, index, &row);
}

static void fill_value(struct row *row, const struct pug_dwt_event *event)
{
    snprintf(row->value, sizeof(row->value), "0x%0*" PRIx32, 2 * event->size, event->value);
}

/** A data access, as far as packets gave it: a comparator's address would be an addition. */
static void fill_access(struct row *row, const struct pug_dwt_event *event)
{
    row->type = "dwt";
    snprintf(row->source, sizeof(row->source), "%u", event->comparator);
    if (event->has_value)
        fill_value(row, event);
    if (event->has_pc)
        snprintf(row->pc, sizeof(row->pc), "0x%08" PRIx32, event->pc);
    if (event->has_address)
        snprintf(row->offset, sizeof(row->offset), "%04" PRIx32, event->address & 0xffff);
    if (event->kind == PUG_DWT_MATCH)
        snprintf(row->note, sizeof(row->note), "match");
}

static void fill_exception(struct row *row, const struct pug_dwt_event *event)
{
    row->type = event->action == PUG_DWT_ACTION_RESERVED ? "error" : "exception";
    if (event->action == PUG_DWT_ACTION_RESERVED)
        snprintf(row->note, sizeof(row->note), "exception %u did nothing that there is",
                 event->number);
    else
        snprintf(row->value, sizeof(row->value), "0x%u", event->action);
    snprintf(row->source, sizeof(row->source), "%u", event->number);
}

/** False: it is not to be shown. */
static bool fill_row(const struct cmsis *cmsis, struct row *row, const struct pug_dwt_event *event)
{
    switch (event->kind) {
    case PUG_DWT_STIMULUS:
        row->type = "itm";
        snprintf(row->source, sizeof(row->source), "%u", event->number);
        fill_value(row, event);
        return cmsis->ports[event->number / 8 % sizeof(cmsis->ports)] >> event->number % 8 & 1;
    case PUG_DWT_DATA:
    case PUG_DWT_MATCH: fill_access(row, event); return true;
    case PUG_DWT_EXCEPTION: fill_exception(row, event); return true;
    case PUG_DWT_PC_SAMPLE:
        row->type = "pcsample";
        snprintf(row->pc, sizeof(row->pc), "0x%08" PRIx32, event->pc);
        return true;
    case PUG_DWT_SLEEPING:
    case PUG_DWT_DENIED:
        row->type = "pcsample";
        snprintf(row->note, sizeof(row->note), "%s",
                 event->kind == PUG_DWT_SLEEPING ? "asleep" : "not permitted");
        return true;
    case PUG_DWT_COUNTERS:
    case PUG_DWT_PMU:
        row->type = event->kind == PUG_DWT_PMU ? "pmu" : "event";
        snprintf(row->value, sizeof(row->value), "0x%02x", event->counters);
        return true;
    default:
        row->type = "error";
        snprintf(row->note, sizeof(row->note), "hardware source %u has no meaning", event->number);
        return true;
    }
}

static void put_event(struct cmsis_source *source, const struct pug_dwt_event *event)
{
    struct row row = {.type = "overflow"};
    if (event->overflow)
        put_row(source, event->index, &row);
    if (event->has_time)
        source->time = event->time;
    if (fill_row(source->all, &row, event))
        put_row(source, event->index, &row);
}

static void put_events(struct cmsis_source *source, size_t count)
{
    for (size_t i = 0; i < count; i++)
        put_event(source, &source->dwt.events[i]);
}

/* ---- elements ---- */

static struct cmsis_source *find(struct cmsis *cmsis, uint16_t id)
{
    for (size_t i = 0; i < cmsis->count; i++)
        if (cmsis->sources[i].id == id)
            return &cmsis->sources[i];
    return NULL;
}

static void put_global(struct cmsis_source *source, const struct pug_element *element)
{
    const struct row row = {.type = "global_ts"};
    const uint64_t time = source->time;
    source->time = element->timestamp;
    put_row(source, element->index, &row);
    source->time = time;
}

static void take(struct cmsis_source *source, const struct pug_element *element)
{
    put_events(source, pug_dwt_push(&source->dwt, element));
    const bool itm = element->type == PUG_ELEM_ITMTRACE;
    if (source->dwt.has_time)
        source->time = source->dwt.time;
    if (itm && source->is_lost)
        put_error(source, element->index, "what came until here is passed over");
    source->is_lost &= !itm;
    if (itm && element->reason == PUG_ITM_TS_GLOBAL)
        put_global(source, element);
    if (element->type == PUG_ELEM_NO_SYNC && element->reason == PUG_UNSYNC_BAD_PACKET) {
        put_error(source, element->index, "bytes that are no packet");
        source->is_lost = true;
    }
}

static enum pug_response on_elements(void *context, const struct pug_element *elements,
                                     size_t count, size_t *taken)
{
    struct cmsis *cmsis = context;
    (void)taken;
    for (size_t i = 0; i < count; i++) {
        struct cmsis_source *source = find(cmsis, elements[i].source);
        if (source)
            take(source, &elements[i]);
    }
    return PUG_RESP_CONT;
}

static void on_packet(void *context, enum pug_op op, const struct pug_packet *packet)
{
    struct cmsis_source *source = context;
    (void)op;
    if (!packet || packet->type != PUG_ITM_PKT_INCOMPLETE_EOT)
        return;
    source->cut = packet->index;
    source->is_cut = true;
}

static void end(struct cmsis *cmsis)
{
    for (size_t i = 0; i < cmsis->count; i++) {
        struct cmsis_source *source = &cmsis->sources[i];
        put_events(source, pug_dwt_finish(&source->dwt));
        if (source->is_cut)
            put_error(source, source->cut, "the trace ends inside a packet");
    }
}

/* ---- the command ---- */

/** The ITMs of the tree; false: no memory. */
static bool find_sources(struct cmsis *cmsis, struct pug_tree *tree)
{
    struct pug_source *source;
    size_t all = 0;
    while (pug_tree_source_at(tree, all))
        all++;
    cmsis->sources = calloc(all + 1, sizeof(*cmsis->sources));
    for (size_t n = 0; cmsis->sources && n < all; n++) {
        source = pug_tree_source_at(tree, n);
        const struct pug_protocol *protocol = pug_source_protocol(source);
        if (!protocol->description || !protocol->description->dwt)
            continue;
        struct cmsis_source *item = &cmsis->sources[cmsis->count++];
        item->all = cmsis;
        item->id = pug_source_id(source);
        pug_dwt_init(&item->dwt, true);
        pug_source_monitor(source, on_packet, item);
    }
    return cmsis->sources != NULL;
}

static void choose_ports(struct cmsis *cmsis)
{
    const struct option_list *ports = &cmsis->options->ports;
    if (ports->count == 0)
        memset(cmsis->ports, 0xff, sizeof(cmsis->ports));
    for (size_t i = 0; i < ports->count; i++) {
        uint64_t port = 0;
        (void)parse_number(ports->items[i], &port);
        cmsis->ports[port / 8 % sizeof(cmsis->ports)] |= (uint8_t)(1u << port % 8);
    }
}

static int decode(struct cmsis *cmsis, struct input *input)
{
    if (!find_sources(cmsis, input->tree)) {
        input_starve(input);
        return EXIT_FATAL;
    }
    if (cmsis->count == 0) {
        message_say("pugmark: %s: no ITM in it\n", input->trace_path);
        return EXIT_INPUT;
    }
    const struct pug_capture_buffer *buffer = pug_capture_buffer_at(
        input->capture, pug_capture_segment_at(input->capture, input->segment)->buffer);
    cmsis->framed = buffer->transport && strcmp(buffer->transport, "coresight") == 0;
    choose_ports(cmsis);
    output_text("cycles,stream,type,source,value,pc,offset,note\n");
    input_run_elements(input, on_elements, cmsis, output_wanted);
    end(cmsis);
    return input_result(input);
}

int list_cmsis(const struct list_options *options, const char *operand)
{
    struct input input;
    if (!input_open(&input, &options->input, operand))
        return input.failure;
    struct cmsis cmsis = {.options = options, .input = &input};
    int code = EXIT_INPUT;
    if (input_is_one(&input, "a table of the CMSIS-Toolbox") && input_tree(&input, true))
        code = decode(&cmsis, &input);
    free(cmsis.sources);
    input_close(&input);
    const int written = output_end();
    return written ? written : code;
}
