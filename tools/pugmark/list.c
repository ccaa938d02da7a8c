// SPDX-License-Identifier: MIT
/** @file pugmark list: packets and elements, as text, JSON lines or CSV. */
#include "by_time.h"
#include "command.h"
#include "dwt_sources.h"
#include "element_lines.h"
#include "input.h"
#include "json_lines.h"
#include "output.h"
#include "pugmark/author/protocol.h"
#include "pugmark/encapsulation.h"
#include "text_parts.h"
#include "window.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum format { FORMAT_TEXT, FORMAT_JSONL, FORMAT_CSV };

struct list_options {
    struct input_options input;
    bool packets, elements, by_time;
    enum format format;
    uint64_t from, to;
    struct window_options window;
    uint32_t types; /* bit set of enum pug_element_type; 0: all */
};

static bool take_format(const struct option *option, void *target, const char *argument)
{
    static const char *const names[] = {"text", "jsonl", "csv"};
    for (unsigned i = 0; i < 3; i++) {
        if (strcmp(argument, names[i]) == 0) {
            *(enum format *)target = (enum format)i;
            return true;
        }
    }
    return option_refuse(option, argument, "no format; there are text, jsonl, csv");
}

/** By its name, whatever the case; PUG_ELEM_TYPE_COUNT: there is none. */
static unsigned find_type(const char *name, size_t length)
{
    unsigned type = 0;
    for (; type < PUG_ELEM_TYPE_COUNT; type++) {
        const char *known = pug_element_type_name((enum pug_element_type)type);
        if (strlen(known) == length && strncasecmp(known, name, length) == 0)
            break;
    }
    return type;
}

static bool take_types(const struct option *option, void *target, const char *argument)
{
    for (const char *at = argument; *at;) {
        size_t length = strcspn(at, ",");
        unsigned type = find_type(at, length);
        if (type == PUG_ELEM_TYPE_COUNT) {
            fprintf(stderr, "pugmark: --%s %.*s: no element type; there are", option->name,
                    (int)length, at);
            for (type = 0; type < PUG_ELEM_TYPE_COUNT; type++)
                fprintf(stderr, " %s", pug_element_type_name((enum pug_element_type)type));
            fprintf(stderr, "\n");
            return false;
        }
        *(uint32_t *)target |= UINT32_C(1) << type;
        at += length + (at[length] == ',');
    }
    return true;
}

static const struct option table[] = {
    {"packets", NULL, "list packets (alone: without elements)", option_flag,
     offsetof(struct list_options, packets)},
    {"elements", NULL, "list elements (the default)", option_flag,
     offsetof(struct list_options, elements)},
    {"by-time", NULL, "elements of all buffers and sources in the order of time", option_flag,
     offsetof(struct list_options, by_time)},
    {"type", "NAME,...", "only elements of these types", take_types,
     offsetof(struct list_options, types)},
    {"from", "OFFSET", "only what begins at or after this trace offset", option_number,
     offsetof(struct list_options, from)},
    {"to", "OFFSET", "only what begins before this trace offset", option_number,
     offsetof(struct list_options, to)},
    {"format", "FORMAT", "text (default), jsonl or csv", take_format,
     offsetof(struct list_options, format)},
};

struct packet_state;

struct list_state {
    struct pug_capture_lens *lens; /* what is selected by more than buffer and source; or NULL */
    uint8_t shown[(UINT16_MAX + 1) / 8]; /* bits by source: what comes of it now is selected */
    bool elements;                       /* they are listed, not only looked at */
    const struct list_options *options;
    struct input *input;
    struct dwt_sources *dwt;
    struct packet_state *packets;
    size_t packet_count;
    uint64_t until;       /* a window's elements have come when this was read */
    bool counts;          /* what is listed is counted; then by one thread */
    bool looking;         /* count only */
    uint64_t seen;        /* what was listed, or would have been */
    uint64_t first, last; /* of what was seen, [first, last) is listed */
    uint64_t pivot_at;    /* looking: which is the first at this offset or after it … */
    uint64_t pivot;       /* … if it was found */
    bool found;
    uint64_t unsure; /* of what was seen, so much may be wrong */
};

/** A packet monitor's context: which source it belongs to. */
struct packet_state {
    struct list_state *list;
    const struct pug_source *source;
    bool past; /* nothing more comes from before the window's end */
};

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
        if (state->options->format == FORMAT_JSONL)
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

static void put_element(enum format format, const struct pug_element *e)
{
    switch (format) {
    case FORMAT_TEXT: element_line_text(e, ""); break;
    case FORMAT_JSONL: json_element_line(e); break;
    case FORMAT_CSV: element_line_csv(e, ""); break;
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

#define PACKET_CSV_HEADER "index,source,kind,packet,bytes\n"

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
    if (state->options->format == FORMAT_TEXT) {
        pug_encapsulation_line(packet, text, sizeof(text));
        output_text("%s\n", text);
        return;
    }
    pug_encapsulation_text(packet, text, sizeof(text));
    if (state->options->format == FORMAT_JSONL)
        json_packet_line(packet->index, packet->source, text, packet, packet->raw,
                         packet->raw_size);
    else
        put_packet_csv(packet->index, packet->source, text, packet->raw, packet->raw_size);
}

/** A packet in words, with its bytes. */
static void put_packet(enum format format, uint16_t id, const char *text,
                       const struct pug_packet *packet)
{
    switch (format) {
    case FORMAT_TEXT:
        output_text("%10" PRIu64 "  %02x  [", packet->index, id);
        put_raw(packet->raw, packet->raw_size);
        output_text("] %s\n", text);
        break;
    case FORMAT_JSONL:
        json_packet_line(packet->index, id, text, NULL, packet->raw, packet->raw_size);
        break;
    case FORMAT_CSV: put_packet_csv(packet->index, id, text, packet->raw, packet->raw_size); break;
    }
}

static void on_packet(void *context, enum pug_op op, const struct pug_packet *packet)
{
    struct packet_state *state = context;
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
        state->packets[i] = (struct packet_state){.list = state, .source = source};
        pug_source_monitor(source, on_packet, &state->packets[i]);
    }
}

static void attach(struct list_state *state, bool elements)
{
    struct input *input = state->input;
    if (elements && state->options->format != FORMAT_CSV && !state->options->input.reference)
        state->dwt = dwt_sources_new(input->tree, false);
    if (elements || state->lens)
        input_on_elements(input, on_elements, state);
    if (!state->options->packets)
        return;
    attach_packets(state);
    pug_tree_on_encapsulation(input->tree, on_wrapping, state);
}

static void detach(struct list_state *state)
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
    if (state->options->format == FORMAT_JSONL)
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
    attach(state, elements);
    /* packets join to events in their order */
    struct text_printer printer = {.print = print_elements, .context = state};
    const struct pug_parts parts = text_parts(&printer);
    state->input->piece = TEXT_PIECE;
    bool alone = elements && !state->dwt && !state->packets && !selects;
    input_run(state->input, alone ? &parts : NULL, output_wanted);
    detach(state);
    return input_result(state->input);
}

/** The whole trace. Packets, and events in words, are made of trees, one after the other. */
static int list_all(struct list_state *state, bool elements)
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

/* ---- windows ---- */

/** May more of the window come from `at` on? */
static bool is_wanted(void *context, uint64_t at)
{
    const struct list_state *state = context;
    const struct list_options *options = state->options;
    if (!output_wanted())
        return false;
    if (options->window.count.given)
        return state->looking ? !state->found || state->seen - state->pivot < state->last
                              : state->seen < state->last;
    if (state->looking)
        return !state->found && at < options->to;
    if (at < state->until)
        return true;
    for (size_t i = 0; i < state->packet_count; i++)
        if (!state->packets[i].past)
            return true;
    return false;
}

static bool is_among(uint16_t id, const uint16_t *ids, size_t count)
{
    size_t n = 0;
    while (n < count && ids[n] != id)
        n++;
    return n < count;
}

/** A source that the index has no byte of near the window has no packet that begins in it. */
static void excuse_silent(struct list_state *state, const struct pug_index *index)
{
    const struct list_options *options = state->options;
    struct pug_index_info info;
    uint16_t ids[PUG_INDEX_SOURCE_LIMIT];
    pug_index_info(index, &info);
    if (info.indexed != state->input->trace_size)
        return;
    /* bytes of a run may lie in the block behind that of its first */
    const uint64_t from = options->from > info.block ? options->from - info.block : 0;
    const size_t count = pug_index_active(index, from, options->to, ids, PUG_INDEX_SOURCE_LIMIT);
    for (size_t i = 0; i < state->packet_count; i++)
        state->packets[i].past |= !is_among(pug_source_id(state->packets[i].source), ids, count);
}

/** Bring the tree to a place some way before the window. False: there is no tree. */
static bool enter_window(struct list_state *state, struct window *window, bool elements,
                         uint64_t margin, uint64_t *at)
{
    const struct list_options *options = state->options;
    struct input *input = state->input;
    if (!window_enter(window, input, elements, state->pivot_at, margin, at))
        return false;
    state->until = options->to;
    if (elements)
        state->until = pug_index_settled(window->index, input->tree, options->from, options->to);
    return true;
}

/** Read what the window needs, from `at` on. */
static void read_window(struct list_state *state, struct window *window, bool elements, uint64_t at)
{
    attach(state, elements);
    excuse_silent(state, window->index);
    if (state->dwt && at > 0)
        dwt_sources_forget(state->dwt);
    state->seen = state->pivot = state->unsure = 0;
    state->found = false;
    window_run(state->input, at, is_wanted, state);
    detach(state);
    if (!state->found)
        state->pivot = state->seen;
    window_leave(window, state->input);
}

/** Events in words join packets, which may have begun before the window. */
static bool has_events(const struct input *input)
{
    const struct pug_capture_source *source;
    for (size_t n = 0; (source = pug_capture_source_at(input->capture, n)) != NULL; n++)
        if (dwt_sources_carries(pug_protocol_find(source->protocol)))
            return true;
    return false;
}

/** How far before the window to begin so that all is known that it needs. */
static bool find_margin(struct list_state *state, struct window *window, bool elements,
                        uint64_t *margin)
{
    const struct window_options *options = &state->options->window;
    struct pug_index_info info;
    uint64_t at, count = options->count.given ? options->count.value : 0;
    pug_index_info(window->index, &info);
    state->counts = state->looking = true;
    state->last = count;
    for (uint64_t next = info.block;; next *= 4) {
        *margin = next;
        if (!enter_window(state, window, elements, next, &at))
            return false;
        read_window(state, window, elements, at);
        if (at == 0 || (state->pivot >= count && state->pivot - count >= state->unsure))
            break;
    }
    state->looking = false;
    state->first = state->pivot > count ? state->pivot - count : 0;
    state->last = UINT64_MAX;
    if (options->count.given && count < UINT64_MAX - state->pivot)
        state->last = state->pivot + count;
    if (!options->count.given)
        state->first = 0;
    return true;
}

/** What is to be listed of which part of the trace; decodes no more than it must. */
static int list_window(struct list_state *state, struct list_options *options, bool elements)
{
    struct window window = {.from = options->from, .to = options->to};
    uint64_t margin = 0, at;
    if (!window_open(&window, state->input, &options->window))
        return EXIT_INPUT;
    options->from = window.from;
    options->to = window.to;
    state->pivot_at = options->window.count.given ? options->window.around.value : window.from;
    bool good = true;
    if (options->window.count.given || (elements && has_events(state->input)))
        good = find_margin(state, &window, elements, &margin);
    good = good && enter_window(state, &window, elements, margin, &at);
    bool all = good && at == 0 && state->until == UINT64_MAX && !state->counts;
    if (good && !all)
        read_window(state, &window, elements, at);
    window_close(&window);
    if (all) /* by all threads, and with what there is to say of the trace */
        return list_all(state, elements);
    return good ? input_result(state->input) : EXIT_INPUT;
}

/* ---- by time ---- */

struct by_time_state {
    const struct list_options *options;
    const struct input *input;
    const struct pug_correlate *correlate;
};

static const char *when_word(const struct pug_correlated *e)
{
    static const char *const words[] = {"at", "cycles", "after", "before", "unknown"};
    return words[e->when];
}

/** An element, and before it when it was, and in which buffer. */
static void put_correlated(const struct by_time_state *state, const struct pug_correlated *e,
                           uint32_t number)
{
    const struct pug_capture_buffer *buffer = pug_capture_buffer_at(state->input->capture, number);
    struct pug_json json = pug_json_begin(output_sink());
    char when[48], front[160];
    switch (state->options->format) {
    case FORMAT_TEXT:
        by_time_text(e, when);
        snprintf(front, sizeof(front), "%16s  %-8.64s", when,
                 buffer && buffer->name ? buffer->name : "");
        element_line_text(&e->element, front);
        break;
    case FORMAT_JSONL:
        pug_json_object(&json, NULL);
        pug_json_string(&json, "when", when_word(e));
        pug_json_number(&json, "time", e->time);
        pug_json_number(&json, "cycles", e->cycles);
        pug_json_number(&json, "buffer", number);
        json_element(&json, &e->element);
        pug_json_close(&json);
        pug_json_line(&json);
        break;
    case FORMAT_CSV:
        snprintf(front, sizeof(front), "%s,%" PRIu64 ",%" PRIu64 ",%" PRIu32 ",", when_word(e),
                 e->time, e->cycles, number);
        element_line_csv(&e->element, front);
        break;
    }
}

static bool list_correlated(void *context, const struct pug_correlated *elements, size_t count)
{
    const struct by_time_state *state = context;
    const struct list_options *options = state->options;
    struct pug_correlate_stream stream;
    for (size_t i = 0; i < count; i++) {
        const struct pug_element *e = &elements[i].element;
        if (e->index < options->from || e->index >= options->to ||
            (options->types && !(options->types & UINT32_C(1) << e->type)))
            continue;
        pug_correlate_stream(state->correlate, elements[i].stream, &stream);
        put_correlated(state, &elements[i], stream.buffer);
    }
    return output_wanted();
}

static int list_by_time(const struct list_options *options, const char *operand)
{
    struct input input;
    struct pug_correlate *correlate;
    struct by_time_state state = {.options = options, .input = &input};
    const struct pug_correlate_config config = {.give = list_correlated, .context = &state};
    if (!input_open(&input, &options->input, operand))
        return EXIT_INPUT;
    int code = EXIT_INPUT;
    if (pug_correlate_new(&config, &correlate) == PUG_OK) {
        state.correlate = correlate;
        if (options->format == FORMAT_CSV)
            output_text("when,time,cycles,buffer," ELEMENT_CSV_HEADER);
        code = by_time_run(&input, correlate);
        by_time_tell(&input, correlate);
        pug_correlate_free(correlate);
    }
    input_close(&input);
    int written = output_end();
    return written ? written : code;
}

/** Options that make no sense together: what to say. NULL: they do. */
static const char *misfit(const struct list_options *options)
{
    if (options->window.count.given && !options->window.around.given)
        return "--count needs --around";
    if (options->window.radius.given && !options->window.around.given)
        return "--radius needs --around";
    if (options->window.radius.given && options->window.count.given)
        return "--radius and --count are two ways to say how much";
    if (options->types && options->packets && !options->elements)
        return "--type is of elements; packets alone are listed (--elements lists both)";
    if (options->from > options->to)
        return "--from is behind --to";
    if (options->by_time && (options->packets || window_wanted(&options->window)))
        return "--by-time lists elements, and all that was captured";
    return NULL;
}

static int list_run(const struct command *self, int argc, char **argv)
{
    struct list_options options = {.to = UINT64_MAX, .window.radius.value = 1024};
    const struct option_set sets[] = {OPTION_SET(table, &options),
                                      {window_option_table, window_option_count, &options.window},
                                      INPUT_OPTIONS(&options.input)};
    int end = command_start(self, argc, argv, sets, 3, 1);
    if (end >= 0)
        return end;
    const char *wrong = misfit(&options);
    if (wrong) {
        fprintf(stderr, "pugmark: %s\n", wrong);
        return EXIT_USAGE;
    }
    if (options.by_time)
        return list_by_time(&options, argv[1]);
    struct input input;
    if (!input_open(&input, &options.input, argv[1]))
        return input.failure;
    if (options.window.around.given && options.window.around.value > input.trace_size) {
        fprintf(stderr, "pugmark: --around %" PRIu64 ": %s has %" PRIu64 " bytes\n",
                options.window.around.value, input.trace_path, input.trace_size);
        input_close(&input);
        return EXIT_USAGE;
    }
    const bool elements = options.elements || !options.packets;
    struct list_state state = {
        .options = &options, .input = &input, .elements = elements, .last = UINT64_MAX};
    if (options.format == FORMAT_CSV && elements)
        output_text(ELEMENT_CSV_HEADER);
    else if (options.format == FORMAT_CSV)
        output_text(PACKET_CSV_HEADER);
    int code = EXIT_USAGE;
    if (!window_wanted(&options.window))
        code = list_all(&state, elements);
    else if (input_is_whole(&input, "a window"))
        code = list_window(&state, &options, elements);
    pug_capture_lens_free(state.lens);
    input_close(&input);
    int written = output_end();
    return written ? written : code;
}

const struct command command_list = {"list", "INPUT", "list trace elements, or packets, or both",
                                     list_run};
