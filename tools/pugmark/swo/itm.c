// SPDX-License-Identifier: MIT
/** @file pugmark itm: the text that software wrote to a stimulus port, as printf() over SWO does.
 */
#include "common/command.h"
#include "common/output.h"
#include "dwt_sources.h"
#include "input/input.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct itm_options {
    struct input_options input;
    uint64_t port, clock;
    bool timestamps;
};

static const struct option table[] = {
    {"port", "N", "the stimulus port (default 0)", option_number,
     offsetof(struct itm_options, port)},
    {"timestamps", NULL, "begin each line with its local time, in cycles", option_flag,
     offsetof(struct itm_options, timestamps)},
    {"clock", "HZ", "the timestamps' clock: give times in seconds", option_number,
     offsetof(struct itm_options, clock)},
};

#define PORTS 256u

struct itm_state {
    const struct itm_options *options;
    const struct input *input;
    struct dwt_sources *sources;
    struct pug_origin_reader *origin_reader; /* NULL: all of it is wanted */
    bool in_line;
    bool terminal; /* that is what the text goes to, and it must not obey it */
    unsigned char before;
    bool written;              /* something was written to the port */
    uint8_t others[PORTS / 8]; /* bits: ports with something, of those that are not asked for */
};

static void put_time(const struct itm_state *state, const struct pug_dwt_event *event)
{
    if (!event->has_time)
        output_text("[%14s] ", "-");
    else if (state->options->clock)
        output_text("[%14.6f] ", (double)event->time / (double)state->options->clock);
    else
        output_text("[%14" PRIu64 "] ", event->time);
}

/** C0 but for lines and tabs, DEL, and C1 as a byte or as the second one of UTF-8. */
static bool steers(unsigned char byte, unsigned char before)
{
    return (byte < ' ' && byte != '\n' && byte != '\t') || byte == 0x7f ||
           (byte >= 0x80 && byte < 0xa0 && (before < 0x80 || before == 0xc2));
}

/** As it was written; a terminal gets what it would obey in digits. */
static void put_byte(struct itm_state *state, char byte)
{
    const unsigned char before = state->before;
    state->before = (unsigned char)byte;
    if (state->terminal && steers(state->before, before)) {
        output_text("\\x%02x", state->before);
        return;
    }
    *output_room() = byte;
    output_took(1);
}

/** The bytes of one write. Wide writes fill up with zeros, which are no text. */
static void put_write(struct itm_state *state, const struct pug_dwt_event *event)
{
    if (event->overflow && !state->options->input.quiet)
        fprintf(stderr, "pugmark: trace was lost before offset %" PRIu64 "\n", event->index);
    for (unsigned i = 0; i < event->size; i++) {
        char byte = (char)(event->value >> 8 * i);
        if (byte == 0)
            continue;
        if (!state->in_line && state->options->timestamps)
            put_time(state, event);
        put_byte(state, byte);
        state->in_line = byte != '\n';
    }
}

/** Where the text may be, if there is none where it was looked for. */
static void say_ports(const struct itm_state *state)
{
    unsigned said = 0;
    if (state->written || state->options->input.quiet)
        return;
    for (unsigned port = 0; port < PORTS; port++) {
        if (!(state->others[port / 8] >> port % 8 & 1))
            continue;
        if (said++ == 0)
            fprintf(stderr,
                    "pugmark: %s: nothing was written to port %" PRIu64 "; there is on port",
                    state->input->trace_path, state->options->port);
        fprintf(stderr, "%s %u", said > 1 ? "," : "", port);
    }
    if (said > 0)
        fprintf(stderr, "\n");
}

static void put_events(struct itm_state *state, const struct pug_dwt *dwt, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct pug_dwt_event *event = &dwt->events[i];
        if (event->kind != PUG_DWT_STIMULUS || !input_wants(state->input, event->source))
            continue;
        if (event->number == state->options->port) {
            state->written = true;
            put_write(state, event);
        } else if (event->number < PORTS) {
            state->others[event->number / 8] |= (uint8_t)(1u << event->number % 8);
        }
    }
}

/** What is written to ports at other times is left out; what dates it never is. */
static bool is_chosen(struct itm_state *state, const struct pug_element *element)
{
    return !state->origin_reader || pug_origin_reader_look(state->origin_reader, element, NULL) ||
           element->type != PUG_ELEM_ITMTRACE || element->reason != PUG_ITM_SWIT;
}

static enum pug_response on_elements(void *context, const struct pug_element *elements,
                                     size_t count, size_t *taken)
{
    struct itm_state *state = context;
    (void)taken;
    for (size_t i = 0; i < count; i++) {
        struct pug_dwt *dwt = dwt_sources_find(state->sources, elements[i].source);
        if (dwt && is_chosen(state, &elements[i]))
            put_events(state, dwt, pug_dwt_push(dwt, &elements[i]));
    }
    return PUG_RESP_CONT;
}

static int decode(struct itm_state *state, struct input *input)
{
    if (!dwt_sources_new(input->tree, state->options->timestamps, &state->sources)) {
        input_starve(input);
        return EXIT_FATAL;
    }
    if (!state->sources) {
        message_say("pugmark: %s: no ITM in it\n", input->trace_path);
        return EXIT_INPUT;
    }
    input_on_elements(input, on_elements, state);
    input_run(input, NULL, output_wanted);
    struct pug_dwt *dwt;
    for (size_t n = 0; (dwt = dwt_sources_at(state->sources, n)) != NULL; n++)
        put_events(state, dwt, pug_dwt_finish(dwt));
    dwt_sources_free(state->sources);
    say_ports(state);
    return input_result(input);
}

/** Only times can be chosen: an ITM knows no tasks. */
static bool choose(struct itm_state *state, struct input *input)
{
    struct pug_capture_selection *selection = &input->lists.selection;
    if (!selection->has_from && !selection->has_to)
        return true;
    input_settle(input); /* timestamps stand behind what they date */
    return input_tree(input, true) &&
           pug_origin_reader_new(input->capture, selection, true, &state->origin_reader) ==
               PUG_OK &&
           pug_origin_reader_begin(state->origin_reader, input->segment, input->tree) == PUG_OK;
}

static int itm_run(const struct command *self, int argc, char **argv)
{
    struct itm_options options = {0};
    const struct option_set sets[] = {OPTION_SET(table, &options), INPUT_OPTIONS(&options.input)};
    int end = command_start(self, argc, argv, sets, 2, 1);
    if (end >= 0)
        return end;
    if (input_is_bare(&options.input, argv[1]))
        options.input.protocol = "ITM"; /* a capture of SWO */
    options.timestamps |= options.clock != 0;
    struct input input;
    if (!input_open(&input, &options.input, argv[1]))
        return input.failure;
    struct itm_state state = {
        .options = &options, .input = &input, .terminal = !output_where() && isatty(STDOUT_FILENO)};
    int code = EXIT_USAGE;
    if (input_is_one(&input, "the text of a port"))
        code = choose(&state, &input) && input_tree(&input, true) ? decode(&state, &input)
                                                                  : EXIT_INPUT;
    pug_origin_reader_free(state.origin_reader);
    input_close(&input);
    int written = output_end();
    return written ? written : code;
}

const struct command command_itm = {"itm", "INPUT", "the text written to an ITM stimulus port",
                                    itm_run};
