// SPDX-License-Identifier: MIT
/** @file pugmark list: elements and packets as they come, selected and put down. */
#include "command.h"
#include "dwt_sources.h"
#include "element_lines.h"
#include "json_lines.h"
#include "list.h"
#include "output.h"
#include "pugmark/author/protocol.h"
#include "pugmark/encapsulation.h"
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
    return !state->lens || (state->shown[source / 8] >> source % 8 & 1);
}

static void look_at(struct list_state *state, const struct pug_element *e)
{
    const uint8_t bit = (uint8_t)(1u << e->source % 8);
    if (pug_capture_lens_look(state->lens, e, NULL))
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
static void list_events(struct list_state *state, const struct pug_element *e)
{
    struct pug_dwt *dwt = dwt_sources_find(state->dwt, e->source);
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
    if (!dwt_sources_knows(state->dwt, e))
        state->unsure = state->seen + 1; /* what waits now may be listed wrongly, too */
}

static bool is_hardware(const struct pug_element *e)
{
    return e->type == PUG_ELEM_ITMTRACE && e->reason == PUG_ITM_DWT;
}

static void put_element(enum list_format format, const struct pug_element *e)
{
    switch (format) {
    case LIST_TEXT: element_line_text(e, ""); break;
    case LIST_JSONL: json_element_line(e); break;
    case LIST_CSV: element_line_csv(e, ""); break;
    }
}

static void on_element(void *context, const struct pug_element *e)
{
    struct list_state *state = context;
    if (state->lens)
        look_at(state, e);
    if (!state->elements)
        return;
    if (state->dwt)
        list_events(state, e);
    if (!(state->dwt && is_hardware(e)) &&
        is_listed(state, e->index, e->source, (enum pug_element_type)e->type))
        put_element(state->options->format, e);
}

static void print_elements(void *context, unsigned worker, const struct pug_element *elements,
                           size_t count)
{
    (void)worker;
    for (size_t i = 0; i < count; i++)
        on_element(context, &elements[i]);
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
        snprintf(room + 2 * (size_t)i, 3, "%02x", raw[i]);
    output_took(2 * (size_t)size);
}

static void put_packet_csv(uint64_t index, uint16_t id, const char *text, const uint8_t *raw,
                           uint32_t size)
{
    output_text("%" PRIu64 ",%u,packet,\"%s\",", index, id, text);
    put_raw(raw, size);
    output_text("\n");
}

/** Is it the turn of what stands with the next one that is counted? It is not counted itself. */
static bool is_turn(const struct list_state *state)
{
    return !state->counts ||
           (!state->looking && state->seen >= state->first && state->seen < state->last);
}

/** What the encapsulation says, in front of the payload. */
static void on_wrapping(void *context, uint16_t id, const struct pug_encapsulation_packet *packet)
{
    struct list_state *state = context;
    char text[1024];
    bool wanted = packet->kind == PUG_ENCAPSULATION_PACKET || id != PUG_SOURCE_UNKNOWN
                      ? input_wants(state->input, packet->source)
                      : state->options->input.sources.count == 0;
    if (!wanted || !is_shown(state, packet->source) || !in_range(state, packet->index) ||
        !is_turn(state))
        return;
    if (state->options->format == LIST_TEXT) {
        pug_encapsulation_line(packet, text, sizeof(text));
        output_text("%s\n", text);
        return;
    }
    pug_encapsulation_text(packet, text, sizeof(text));
    if (state->options->format == LIST_JSONL)
        json_packet_line(packet->index, packet->source, text, packet, packet->raw,
                         packet->raw_size);
    else
        put_packet_csv(packet->index, packet->source, text, packet->raw, packet->raw_size);
}

/** A packet in words, with its bytes. */
static void put_packet(enum list_format format, uint16_t id, const char *text,
                       const struct pug_packet *packet)
{
    switch (format) {
    case LIST_TEXT:
        output_text("%10" PRIu64 "  %02x  [", packet->index, id);
        put_raw(packet->raw, packet->raw_size);
        output_text("] %s\n", text);
        break;
    case LIST_JSONL:
        json_packet_line(packet->index, id, text, NULL, packet->raw, packet->raw_size);
        break;
    case LIST_CSV: put_packet_csv(packet->index, id, text, packet->raw, packet->raw_size); break;
    }
}

static void on_packet(void *context, enum pug_op op, const struct pug_packet *packet)
{
    struct list_packets *state = context;
    uint16_t id = pug_source_id(state->source);
    state->past |= op == PUG_OP_DATA && packet->index >= state->list->options->to;
    if (op != PUG_OP_DATA || !in_range(state->list, packet->index) ||
        !input_wants(state->list->input, id) || !is_shown(state->list, id) ||
        !take_turn(state->list, packet->index))
        return;
    char text[1024] = "";
    pug_source_protocol(state->source)->packet_text(packet->data, text, sizeof(text));
    put_packet(state->list->options->format, id, text, packet);
}

static void attach_packets(struct list_state *state)
{
    size_t count = 0;
    while (pug_tree_source_at(state->input->tree, count))
        count++;
    state->packets = calloc(count + 1, sizeof(*state->packets));
    state->packet_count = state->packets ? count : 0;
    for (size_t i = 0; i < state->packet_count; i++) {
        struct pug_source *source = pug_tree_source_at(state->input->tree, i);
        state->packets[i] = (struct list_packets){.list = state, .source = source};
        pug_source_monitor(source, on_packet, &state->packets[i]);
    }
}

void list_attach(struct list_state *state, bool elements)
{
    struct input *input = state->input;
    if (elements && state->options->format != LIST_CSV && !state->options->input.reference)
        state->dwt = dwt_sources_new(input->tree, false);
    if (elements || state->lens)
        input_on_elements(input, on_elements, state);
    if (!state->options->packets)
        return;
    attach_packets(state);
    pug_tree_on_encapsulation(input->tree, on_wrapping, state);
}

void list_detach(struct list_state *state)
{
    pug_tree_on_encapsulation(state->input->tree, NULL, NULL);
    free(state->packets);
    state->packets = NULL;
    state->packet_count = 0;
    dwt_sources_free(state->dwt);
    state->dwt = NULL;
}

static void print_situated(void *context, unsigned worker, const struct pug_situation *situation,
                           const struct pug_element *elements, size_t count)
{
    (void)situation;
    print_elements(context, worker, elements, count);
}

/** Of which stretch what follows is, where there are several. */
static void put_head(const struct list_state *state, size_t stretch)
{
    if (state->options->format == LIST_JSONL)
        json_head_line(state->input, stretch);
    else
        input_head(state->input, stretch);
}

static void print_head(void *context, uint32_t stretch)
{
    const struct list_state *state = context;
    put_head(state, stretch);
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
    return (state->lens || pug_capture_lens_new(input->capture, &input->lists.selection, false,
                                                &state->lens) == PUG_OK) &&
           pug_capture_lens_begin(state->lens, input->stretch, input->tree) == PUG_OK;
}

/** A whole stretch through the tree. */
static int list_stretch(struct list_state *state, bool elements)
{
    const bool selects = input_selects(state->input);
    if (!input_tree(state->input, elements || selects))
        return state->input->failure;
    if (selects && !look(state))
        return EXIT_FATAL;
    put_head(state, state->input->stretch);
    list_attach(state, elements);
    /* packets join to events in their order */
    struct text_printer printer = {.print = print_elements, .context = state};
    const struct pug_parts parts = text_parts(&printer);
    state->input->piece = TEXT_PIECE;
    bool alone = elements && !state->dwt && !state->packets && !selects;
    input_run(state->input, alone ? &parts : NULL, output_wanted);
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
        code = list_stretch(state, elements);
        worst = code > worst ? code : worst;
    } while (output_wanted() && input_next(state->input));
    return worst;
}
