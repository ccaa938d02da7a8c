// SPDX-License-Identifier: MIT
/** @file pugmark list: elements and packets as they come, selected and put down. */
#include "base/text.h"
#include "common/command.h"
#include "common/json_lines.h"
#include "common/output.h"
#include "diagnose/diagnosis.h"
#include "element_lines.h"
#include "events/dwt_sources.h"
#include "list.h"
#include "pugmark/advanced/encapsulation.h"
#include "pugmark/author/protocol.h"
#include "text_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool in_range(const struct list_state *state, uint64_t index)
{
    return index >= state->options->from && index < state->options->to;
}

/* ---- elements ---- */

static bool is_shown(const struct list_state *state, uint16_t source)
{
    return !state->origin_reader || (state->shown[source / 8] >> source % 8 & 1);
}

static void look_at(struct list_state *state, const struct pug_element *e)
{
    const uint8_t bit = (uint8_t)(1u << e->source % 8);
    if (pug_origin_reader_look(state->origin_reader, e, NULL))
        state->shown[e->source / 8] |= bit;
    else
        state->shown[e->source / 8] &= (uint8_t)~bit;
}

/** What the filters let through is counted; is it to be shown? */
static bool take_turn(struct list_state *state, uint64_t index)
{
    if (!state->counts)
        return true;
    uint64_t n = state->seen++;
    if (state->looking && !state->found && index >= state->pivot_at) {
        state->found = true;
        state->pivot = n;
    }
    return !state->looking && n >= state->first && n < state->last;
}

static bool is_listed(struct list_state *state, uint64_t index, uint16_t source,
                      enum pug_element_type type)
{
    return is_shown(state, source) && in_range(state, index) && input_wants(state->input, source) &&
           (!state->options->types || (state->options->types & UINT32_C(1) << type)) &&
           take_turn(state, index);
}

/** What the DWT says goes out in words, the packets of one data access together. */
static void put_events(struct list_state *state, const struct pug_element *e)
{
    struct pug_dwt *dwt = pug_dwt_sources_find(state->dwt, e->source);
    for (size_t i = 0, n = dwt ? pug_dwt_push(dwt, e) : 0; i < n; i++) {
        const struct pug_dwt_event *event = &dwt->events[i];
        char words[256];
        if (event->kind == PUG_DWT_STIMULUS ||
            !is_listed(state, event->index, event->source, PUG_ELEM_ITMTRACE))
            continue;
        pug_dwt_text(event, words, sizeof(words));
        if (state->options->format == LIST_JSONL)
            json_dwt_line(event, words);
        else
            output_text("%10" PRIu64 "  %02x  ITMTRACE(%s%s)\n", event->index, event->source,
                        event->overflow ? "ITM_OVERFLOW; " : "", words);
    }
    if (!pug_dwt_sources_knows(state->dwt, e))
        state->unsure = state->seen + 1; /* what waits now may be listed wrongly, too */
}

static bool is_hardware(const struct pug_element *e)
{
    return e->type == PUG_ELEM_ITMTRACE && e->reason == PUG_ITM_DWT;
}

static void put_element(const struct list_state *state, const struct pug_element *e)
{
    char name[1024];
    const char *handler = e->type == PUG_ELEM_EXCEPTION
                              ? handlers_name(&state->handlers, e, name, sizeof(name))
                              : NULL;
    switch (state->options->format) {
    case LIST_TEXT: element_line_text_with(e, "", handler); break;
    case LIST_JSONL: json_element_line(e, handler); break;
    case LIST_CSV: element_line_csv(e, ""); break;
    }
}

static void on_element(void *context, const struct pug_element *e)
{
    struct list_state *state = context;
    if (state->origin_reader)
        look_at(state, e);
    if (!state->elements)
        return;
    if (state->dwt)
        put_events(state, e);
    if (!(state->dwt && is_hardware(e)) &&
        is_listed(state, e->index, e->source, (enum pug_element_type)e->type))
        put_element(state, e);
}

static void print_elements(void *context, unsigned worker, const struct pug_element *elements,
                           size_t count)
{
    (void)worker;
    for (size_t i = 0; i < count; i++)
        on_element(context, &elements[i]);
}

/** Is it one of those that are listed, or between two of them? */
static bool is_within(const struct list_state *state, const struct pug_element *e, uint64_t seen)
{
    if (state->looking)
        return false;
    if (!state->options->window.count.given)
        return in_range(state, e->index);
    return state->seen > state->first &&
           (state->seen < state->last || (state->seen == state->last && seen < state->last));
}

/** Near a window: the window's own elements alone are evidence, whatever is read for it. */
static enum pug_response on_elements_near(void *context, const struct pug_element *elements,
                                          size_t count, size_t *taken)
{
    struct list_state *state = context;
    (void)taken;
    for (size_t i = 0; i < count; i++) {
        const uint64_t seen = state->seen;
        on_element(state, &elements[i]);
        if (state->input->diagnosis && is_within(state, &elements[i], seen))
            diagnosis_add(state->input->diagnosis, &elements[i]);
    }
    return PUG_RESP_CONT;
}

static enum pug_response on_elements(void *context, const struct pug_element *elements,
                                     size_t count, size_t *taken)
{
    (void)taken;
    print_elements(context, 0, elements, count);
    return PUG_RESP_CONT;
}

/* ---- packets ---- */

static void put_raw(const uint8_t *raw, uint32_t size)
{
    char *room = output_room();
    if (size > OUTPUT_ROOM / 4)
        size = OUTPUT_ROOM / 4;
    for (uint32_t i = 0; i < size; i++)
        memcpy(room + 2 * (size_t)i, &pug_text_pairs[2 * raw[i]], 2);
    output_took(2 * (size_t)size);
}

static void put_packet_csv(uint64_t index, uint16_t id, const char *text, const uint8_t *raw,
                           uint32_t size)
{
    struct pug_sink *sink = output_sink();
    pug_sink_decimal(sink, index);
    pug_sink_text(sink, ",");
    pug_sink_decimal(sink, id);
    pug_sink_text(sink, ",packet,\"");
    pug_sink_text(sink, text);
    pug_sink_text(sink, "\",");
    put_raw(raw, size);
    pug_sink_text(sink, "\n");
}

/** Is it the turn of what stands with the next one that is counted? It is not counted itself. */
static bool is_turn(const struct list_state *state)
{
    return !state->counts ||
           (!state->looking && state->seen >= state->first && state->seen < state->last);
}

static void put_wrapping(enum list_format format, const struct pug_encapsulation_packet *packet)
{
    char text[1024];
    if (format == LIST_TEXT) {
        pug_encapsulation_line(packet, text, sizeof(text));
        output_text("%s\n", text);
        return;
    }
    pug_encapsulation_text(packet, text, sizeof(text));
    if (format == LIST_JSONL)
        json_packet_line(packet->index, packet->source, text, packet, packet->raw,
                         packet->raw_size);
    else
        put_packet_csv(packet->index, packet->source, text, packet->raw, packet->raw_size);
}

/** Print the encapsulation's packet before the payload. */
static void on_wrapping(void *context, uint16_t id, const struct pug_encapsulation_packet *packet)
{
    const struct list_watch *watch = context;
    struct list_state *state = watch->list;
    bool wanted = packet->kind == PUG_ENCAPSULATION_PACKET || id != PUG_SOURCE_UNKNOWN
                      ? input_wants(state->input, packet->source)
                      : state->options->input.sources.count == 0;
    if (!wanted || !is_shown(state, packet->source) || !in_range(state, packet->index) ||
        !is_turn(state))
        return;
    output_to(watch->text);
    put_wrapping(state->options->format, packet);
    output_to(NULL);
}

/** A packet in words, with its bytes. */
static void put_packet(enum list_format format, uint16_t id, const char *text,
                       const struct pug_packet *packet)
{
    struct pug_sink *sink = output_sink();
    switch (format) {
    case LIST_TEXT:
        pug_sink_decimal_right(sink, packet->index, 10);
        pug_sink_text(sink, "  ");
        pug_sink_hex(sink, id, 2);
        pug_sink_text(sink, "  [");
        put_raw(packet->raw, packet->raw_size);
        pug_sink_text(sink, "] ");
        pug_sink_text(sink, text);
        pug_sink_text(sink, "\n");
        break;
    case LIST_JSONL:
        json_packet_line(packet->index, id, text, NULL, packet->raw, packet->raw_size);
        break;
    case LIST_CSV: put_packet_csv(packet->index, id, text, packet->raw, packet->raw_size); break;
    }
}

static void on_packet(void *context, enum pug_op op, const struct pug_packet *packet)
{
    struct list_packets *packets = context;
    struct list_state *state = packets->watch->list;
    packets->past |= op == PUG_OP_DATA && packet->index >= state->options->to;
    if (op != PUG_OP_DATA || !in_range(state, packet->index) ||
        !input_wants(state->input, packets->id) || !is_shown(state, packets->id) ||
        !take_turn(state, packet->index))
        return;
    char text[1024] = "";
    packets->protocol->packet_text(packet->data, text, sizeof(text));
    output_to(packets->watch->text);
    put_packet(state->options->format, packets->id, text, packet);
    output_to(NULL);
}

/** False: no memory. */
static bool open_watches(struct list_state *state, unsigned count)
{
    state->watches = calloc(count, sizeof(*state->watches));
    state->watch_count = state->watches ? count : 0;
    for (unsigned i = 0; i < state->watch_count; i++)
        state->watches[i].list = state;
    return state->watches;
}

static void close_watches(struct list_state *state)
{
    for (unsigned i = 0; i < state->watch_count; i++)
        free(state->watches[i].packets);
    free(state->watches);
    state->watches = NULL;
    state->watch_count = 0;
}

/** For a worker and its tree; a text_printer's. */
static bool watch_packets(void *context, unsigned worker, struct pug_tree *tree)
{
    const struct list_state *state = context;
    struct list_watch *watch = &state->watches[worker];
    while (pug_tree_source_at(tree, watch->count))
        watch->count++;
    watch->packets = calloc(watch->count + 1, sizeof(*watch->packets));
    if (!watch->packets)
        return false;
    for (size_t i = 0; i < watch->count; i++) {
        struct pug_source *source = pug_tree_source_at(tree, i);
        watch->packets[i] = (struct list_packets){
            .watch = watch, .protocol = pug_source_protocol(source), .id = pug_source_id(source)};
        pug_source_monitor(source, on_packet, &watch->packets[i]);
    }
    pug_tree_on_encapsulation(tree, on_wrapping, watch);
    return true;
}

static void begin_text(void *context, unsigned worker, struct output_text_buffer *text)
{
    const struct list_state *state = context;
    state->watches[worker].text = text;
}

/** Finds what elements in words need. */
static void find_words(struct list_state *state, bool elements)
{
    struct input *input = state->input;
    if (elements && !input->options->reference)
        handlers_of(&state->handlers, input->image);
    if (elements && state->options->format != LIST_CSV && !state->options->input.reference &&
        !pug_dwt_sources_new(input->tree, false, &state->dwt))
        input_starve(input);
}

static void attach_packets(struct list_state *state)
{
    struct input *input = state->input;
    if (state->options->packets &&
        (!open_watches(state, 1) || !watch_packets(state, 0, input->tree)))
        input_starve(input);
}

void list_attach(struct list_state *state, bool elements)
{
    find_words(state, elements);
    if (elements || state->origin_reader)
        pug_tree_on_elements(state->input->tree, on_elements_near, state);
    attach_packets(state);
}

void list_detach(struct list_state *state)
{
    pug_tree_on_encapsulation(state->input->tree, NULL, NULL);
    close_watches(state);
    pug_dwt_sources_free(state->dwt);
    state->dwt = NULL;
}

static void print_situated(void *context, unsigned worker, const struct pug_origin *origin,
                           const struct pug_element *elements, size_t count)
{
    (void)origin;
    print_elements(context, worker, elements, count);
}

void list_head(const struct list_state *state, size_t segment)
{
    if (state->options->format == LIST_JSONL)
        json_head_line(state->input, segment);
    else
        input_head(state->input, segment);
}

static void print_head(void *context, uint32_t segment)
{
    const struct list_state *state = context;
    list_head(state, segment);
}

/** Everything that is chosen, where elements alone are looked at. */
static int list_chosen(struct list_state *state)
{
    struct text_printer printer = {
        .situated = print_situated, .context = state, .head = print_head};
    struct pug_capture_decode decode = text_decode(&printer);
    struct pug_capture_result result;
    state->input->piece = TEXT_PIECE;
    return input_decode(state->input, &decode, output_wanted, &result) ? input_result(state->input)
                                                                       : EXIT_INPUT;
}

/** Packets belong where the elements do that they stand among. False: no memory. */
static bool look(struct list_state *state)
{
    struct input *input = state->input;
    memset(state->shown, 0, sizeof(state->shown));
    return (state->origin_reader ||
            pug_origin_reader_new(input->capture, &input->lists.selection, false,
                                  &state->origin_reader) == PUG_OK) &&
           pug_origin_reader_begin(state->origin_reader, input->segment, input->tree) == PUG_OK;
}

/** Elements, and packets, where none depends on what was listed before. */
static void list_parts(struct list_state *state)
{
    struct input *input = state->input;
    struct text_printer printer = {.print = print_elements, .context = state};
    if (state->options->packets) {
        printer.begin = begin_text;
        printer.watch = watch_packets;
        if (!open_watches(state, input_jobs(input)))
            input_starve(input);
    }
    const struct pug_consumer consumer = text_consumer(&printer);
    input->piece = TEXT_PIECE;
    if (!input->fatal)
        input_run(input, &consumer, output_wanted);
}

/** Packets of the DWT join to events; what is selected elements tell in their turn. */
static void list_in_order(struct list_state *state)
{
    attach_packets(state);
    input_run_elements(state->input, on_elements, state, output_wanted);
}

int list_segment(struct list_state *state, bool elements)
{
    const bool selects = input_selects(state->input);
    if (!input_tree(state->input, elements || selects))
        return state->input->failure;
    if (selects && !look(state))
        return EXIT_FATAL;
    list_head(state, state->input->segment);
    find_words(state, elements);
    if (selects || state->dwt)
        list_in_order(state);
    else
        list_parts(state);
    list_detach(state);
    return input_result(state->input);
}

int list_all(struct list_state *state, bool elements)
{
    int code, worst = EXIT_DONE;
    if (elements && !state->options->packets &&
        (pug_capture_kind(state->input->capture) == PUG_CAPTURE_PERF ||
         input_selects(state->input)))
        return list_chosen(state);
    do {
        code = list_segment(state, elements);
        worst = code > worst ? code : worst;
    } while (output_wanted() && input_next(state->input));
    return worst;
}
