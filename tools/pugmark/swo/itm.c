// SPDX-License-Identifier: MIT
/**
 * @file pugmark itm: what software wrote to stimulus ports, as printf() over SWO does: the text of
 * a port, values by formats, several ports side by side or in a file each, or raw bytes.
 */
#include "common/command.h"
#include "common/output.h"
#include "events/dwt_sources.h"
#include "events/port_text.h"
#include "events/sources.h"
#include "files/outfile.h"
#include "input/input.h"
#include "port_format.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct itm_options {
    struct input_options input;
    struct option_list ports, channels;
    const char *split;
    bool timestamps, prefix, raw, all;
};

static bool add_port(const struct option *option, void *target, const char *argument)
{
    uint64_t port;
    return option_number(option, &port, argument) && option_to_list(option, target, argument);
}

/** "4,adc %d" */
static bool add_channel(const struct option *option, void *target, const char *argument)
{
    char *rest;
    errno = 0;
    const unsigned long port = strtoul(argument, &rest, 0);
    if (rest == argument || *rest != ',' || errno != 0 || port >= PORTS)
        return option_refuse(option, argument, "expected PORT,FORMAT with a port below 256");
    if (!port_format_check(rest + 1))
        return option_refuse(option, argument,
                             "a conversion is none of c, d, i, u, x, X, o, e, f, g, a");
    return option_to_list(option, target, argument);
}

static const struct option table[] = {
    {"port", "N", "the stimulus port (default 0); may be repeated", add_port,
     offsetof(struct itm_options, ports)},
    {"channel", "PORT,FORMAT",
     "show each write to a port so, as printf does: 4,'adc %d'; may be repeated (-c)", add_channel,
     offsetof(struct itm_options, channels)},
    {"all", NULL, "all ports", option_flag, offsetof(struct itm_options, all)},
    {"timestamps", NULL, "begin each line with its time, in cycles (with --clock in seconds)",
     option_flag, offsetof(struct itm_options, timestamps)},
    {"prefix", NULL, "begin each line with its port", option_flag,
     offsetof(struct itm_options, prefix)},
    {"split", "FILE", "each port into a file of its own: FILE.PORT", option_string,
     offsetof(struct itm_options, split)},
    {"raw", NULL, "the bytes as they were written, without lines and formats", option_flag,
     offsetof(struct itm_options, raw)},
};

/** A port of a source, and what of its line is not put out yet. */
struct port {
    struct port *next;
    uint16_t source, number;
    const char *format;       /* NULL: text */
    struct pug_outfile *file; /* NULL: standard output */
    uint64_t time;
    bool has_time;
    size_t size;
    char line[1024];
};

struct itm_state {
    const struct itm_options *options;
    struct input *input;
    struct dwt_sources *dwts;
    struct swo_sources sources;              /* where times are wanted */
    struct pug_origin_reader *origin_reader; /* NULL: all of it is wanted */
    bool terminal;                           /* standard output is one, and must not obey */
    unsigned char before;                    /* the byte before, for it */
    struct port *ports, *last;               /* `last`: whose line standard output is in */
    uint64_t chosen[PORTS / 64];
    const char *formats[PORTS];
    bool at_once; /* there is one port: its bytes need not wait for their line's end */
    bool written, in_seconds, failed;
    uint8_t others[PORTS / 8]; /* bits: ports with something, of those that are not asked for */
};

/* ---- output ---- */

/** C0 but for lines and tabs, DEL, and C1 as a byte or as the second one of UTF-8. */
static bool steers(unsigned char byte, unsigned char before)
{
    return (byte < ' ' && byte != '\n' && byte != '\t') || byte == 0x7f ||
           (byte >= 0x80 && byte < 0xa0 && (before < 0x80 || before == 0xc2));
}

static void put(struct itm_state *state, struct port *port, const char *bytes, size_t size)
{
    if (port->file) {
        struct pug_sink sink = pug_outfile_sink(port->file);
        pug_sink_put(&sink, bytes, size);
        return;
    }
    if (!state->terminal) {
        pug_sink_put(output_sink(), bytes, size);
        return;
    }
    for (size_t i = 0; i < size; i++) { /* a terminal gets in digits what it would obey */
        const unsigned char byte = (unsigned char)bytes[i];
        if (steers(byte, state->before))
            output_text("\\x%02x", byte);
        else
            pug_sink_put(output_sink(), &bytes[i], 1);
        state->before = byte;
    }
}

static void put_time(const struct itm_state *state, struct pug_text *text, const struct port *port)
{
    if (!port->has_time)
        pug_text_format(text, "[%14s] ", "-");
    else if (state->in_seconds)
        pug_text_format(text, "[%7" PRIu64 ".%06" PRIu64 "] ", port->time / UINT64_C(1000000000),
                        port->time % UINT64_C(1000000000) / 1000);
    else
        pug_text_format(text, "[%14" PRIu64 "] ", port->time);
}

static void put_head(struct itm_state *state, struct port *port)
{
    char head[64];
    struct pug_text text = PUG_TEXT(head, sizeof(head));
    if (state->options->timestamps)
        put_time(state, &text, port);
    if (state->options->prefix)
        pug_text_format(&text, "port %u: ", port->number);
    put(state, port, head, pug_text_end(&text));
}

/** The line as far as it came; `ended`: it is whole, or is ended here. */
static void flush(struct itm_state *state, struct port *port, bool ended)
{
    if (port->size == 0)
        return;
    put(state, port, port->line, port->size);
    if (ended && port->line[port->size - 1] != '\n')
        put(state, port, "\n", 1);
    port->size = 0;
}

/* ---- lines ---- */

/** A byte of text: lines go out whole, unless there is one port alone. */
static void take_byte(struct itm_state *state, struct port *port, char c, bool *in_line)
{
    if (!*in_line) {
        put_head(state, port);
        *in_line = true;
    }
    port->line[port->size++] = c;
    if (c == '\n' || port->size == sizeof(port->line)) {
        flush(state, port, true);
        *in_line = false;
    }
}

static void begin_line(struct port *port, const struct pug_dwt_event *event)
{
    port->time = event->time;
    port->has_time = event->has_time;
}

static void put_formatted(struct itm_state *state, struct port *port,
                          const struct pug_dwt_event *event)
{
    char words[sizeof(port->line)];
    struct pug_text text = PUG_TEXT(words, sizeof(words));
    const char *format = port->format ? port->format : "%c";
    port_format_put(&text, format, event);
    const size_t length = pug_text_end(&text);
    for (size_t i = 0; i < length && i + 1 < sizeof(words); i++) {
        if (port->size == 0)
            begin_line(port, event);
        if (words[i] == '\r' && !state->at_once)
            continue;
        port->line[port->size++] = words[i];
        if (words[i] == '\n' || port->size == sizeof(port->line)) {
            put_head(state, port);
            flush(state, port, true);
        }
    }
    if (port_format_is_line(format) && port->size > 0) {
        put_head(state, port);
        flush(state, port, true);
    }
}

/** Of one port: what comes goes out at once, so that a prompt is seen before its line ends. */
static void put_at_once(struct itm_state *state, struct port *port,
                        const struct pug_dwt_event *event)
{
    for (unsigned i = 0; i < event->size; i++) {
        bool in_line = state->last == port;
        const char c = (char)(event->value >> 8 * i);
        if (c == 0) /* wide writes fill up with zeros, which are no text */
            continue;
        if (!in_line)
            begin_line(port, event);
        take_byte(state, port, c, &in_line);
        state->last = in_line ? port : NULL;
    }
    if (port->size > 0)
        put(state, port, port->line, port->size);
    port->size = 0;
}

static void put_raw(struct itm_state *state, struct port *port, const struct pug_dwt_event *event)
{
    char bytes[4];
    for (unsigned i = 0; i < event->size && i < sizeof(bytes); i++)
        bytes[i] = (char)(event->value >> 8 * i);
    put(state, port, bytes, event->size);
}

/* ---- ports ---- */

static bool open_file(struct itm_state *state, struct port *port)
{
    char path[4096];
    if (!state->options->split)
        return true;
    const int length = snprintf(path, sizeof(path), "%s.%u", state->options->split, port->number);
    if (length < 0 || (size_t)length >= sizeof(path))
        errno = ENAMETOOLONG;
    else if (pug_outfile_open_any(path, &port->file) == PUG_OK)
        return true;
    message_say("pugmark: %s.%u: %s\n", state->options->split, port->number, strerror(errno));
    return false;
}

static struct port *port_of(struct itm_state *state, const struct pug_dwt_event *event)
{
    struct port **at = &state->ports;
    /* with files one of a number is of all sources */
    while (*at && ((*at)->number != event->number ||
                   ((*at)->source != event->source && !state->options->split)))
        at = &(*at)->next;
    if (*at)
        return *at;
    struct port *port = calloc(1, sizeof(*port));
    if (!port) {
        state->failed = true;
        input_starve(state->input);
        return NULL;
    }
    port->source = event->source;
    port->number = event->number;
    port->format = state->formats[event->number];
    if (!open_file(state, port)) {
        state->failed = true;
        free(port);
        return NULL;
    }
    return *at = port;
}

static bool is_asked_for(const struct itm_state *state, unsigned port)
{
    return state->options->all || (state->chosen[port / 64] >> port % 64 & 1);
}

static void take_write(struct itm_state *state, const struct pug_dwt_event *event)
{
    if (event->number >= PORTS || !input_wants(state->input, event->source) || state->failed)
        return;
    if (!is_asked_for(state, event->number)) {
        state->others[event->number / 8] |= (uint8_t)(1u << event->number % 8);
        return;
    }
    struct port *port = port_of(state, event);
    if (!port)
        return;
    state->written = true;
    if (event->overflow && !state->options->input.quiet)
        message_say("pugmark: trace was lost before offset %" PRIu64 "\n", event->index);
    if (state->options->raw)
        put_raw(state, port, event);
    else if (state->at_once && !port->format)
        put_at_once(state, port, event);
    else
        put_formatted(state, port, event);
}

/** The ends of all lines; false, having said so: a file cannot be written. */
static bool end_ports(struct itm_state *state, bool good)
{
    for (struct port *port = state->ports, *next; port; port = next) {
        next = port->next;
        if (port->size > 0 && !state->options->raw) {
            put_head(state, port);
            flush(state, port, !state->at_once);
        }
        if (port->file && !good) {
            pug_outfile_abandon(port->file);
        } else if (port->file && pug_outfile_commit(port->file) != PUG_OK) {
            message_say("pugmark: %s.%u: %s\n", state->options->split, port->number,
                        strerror(errno));
            good = false;
        }
        free(port);
    }
    state->ports = NULL;
    return good;
}

/** Say where the text may be, if the chosen ports have none. */
static void say_ports(const struct itm_state *state)
{
    unsigned said = 0, wanted = 0;
    if (state->written || state->options->input.quiet)
        return;
    while (wanted + 1 < PORTS && !is_asked_for(state, wanted))
        wanted++;
    for (unsigned port = 0; port < PORTS; port++) {
        if (!(state->others[port / 8] >> port % 8 & 1))
            continue;
        if (said++ == 0)
            message_say("pugmark: %s: nothing was written to port %u; there is on port",
                        state->input->trace_path, wanted);
        message_say("%s %u", said > 1 ? "," : "", port);
    }
    if (said > 0)
        message_say("\n");
}

/* ---- elements ---- */

static void on_event(struct swo_source *source, const struct pug_dwt_event *event)
{
    if (event->kind == PUG_DWT_STIMULUS)
        take_write(source->all->context, event);
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
    const struct pug_capture_segment *segment =
        pug_capture_segment_at(state->input->capture, state->input->segment);
    const struct pug_origin where = {.buffer = segment ? segment->buffer : 0};
    struct pug_dwt_event event;
    (void)taken;
    for (size_t i = 0; i < count; i++) {
        if (!pug_dwt_sources_find(state->dwts, elements[i].source) ||
            !is_chosen(state, &elements[i]))
            continue;
        if (state->options->timestamps)
            pug_swo_sources_take(&state->sources, &where, &elements[i]);
        else if (pug_dwt_meaning(&elements[i], &event) && event.kind == PUG_DWT_STIMULUS)
            take_write(state, &event);
    }
    return state->failed ? PUG_RESP_FATAL_NOT_INIT : PUG_RESP_CONT;
}

static int decode_segment(struct itm_state *state, struct input *input)
{
    if (!input_tree(input, true) ||
        (state->origin_reader &&
         pug_origin_reader_begin(state->origin_reader, input->segment, input->tree) != PUG_OK))
        return EXIT_INPUT;
    if (!pug_dwt_sources_new(input->tree, false, &state->dwts)) {
        input_starve(input);
        return EXIT_FATAL;
    }
    if (!state->dwts) {
        message_say("pugmark: %s: no ITM in it\n", input->trace_path);
        return EXIT_INPUT;
    }
    input_run_elements(input, on_elements, state, output_wanted);
    pug_dwt_sources_free(state->dwts);
    state->dwts = NULL;
    return input_result(input);
}

/** Buffers are one after the other: those of a live input were connections. */
static int decode(struct itm_state *state, struct input *input)
{
    int code = EXIT_DONE;
    pug_swo_sources_init(&state->sources, input->capture, on_event, state);
    do {
        const int one = decode_segment(state, input);
        code = one > code ? one : code;
    } while (output_wanted() && input_next(input));
    pug_swo_sources_end(&state->sources);
    const bool starved = state->sources.failed;
    if (starved)
        input_starve(input);
    pug_swo_sources_free(&state->sources);
    const bool good = end_ports(state, !state->failed && !input_unsound(input));
    say_ports(state);
    return starved ? input_result(input) : good ? code : EXIT_INPUT;
}

/** Only times can be chosen: an ITM knows no tasks. */
static bool choose(struct itm_state *state, struct input *input)
{
    struct pug_capture_selection *selection = &input->lists.selection;
    if (!selection->has_from && !selection->has_to)
        return true;
    input_settle(input); /* timestamps follow what they date */
    return pug_origin_reader_new(input->capture, selection, true, &state->origin_reader) == PUG_OK;
}

/** Which ports are wanted, and how; false, having said why: that cannot be. */
static bool take_ports(struct itm_state *state, const struct itm_options *options)
{
    uint64_t port;
    for (size_t i = 0; i < options->ports.count; i++)
        if (parse_number(options->ports.items[i], &port) && port < PORTS)
            state->chosen[port / 64] |= UINT64_C(1) << port % 64;
    for (size_t i = 0; i < options->channels.count; i++) {
        port = strtoul(options->channels.items[i], NULL, 0);
        state->chosen[port / 64] |= UINT64_C(1) << port % 64;
        state->formats[port] = strchr(options->channels.items[i], ',') + 1;
    }
    const size_t count = options->ports.count + options->channels.count;
    if (count == 0 && !options->all)
        state->chosen[0] = 1;
    state->at_once = count <= 1 && !options->all;
    if (options->raw && (options->timestamps || options->prefix || options->channels.count > 0)) {
        message_say("pugmark: --raw is bytes alone: not with --timestamps, --prefix or "
                    "--channel\n");
        return false;
    }
    if (options->raw && !options->split && !state->at_once) {
        message_say("pugmark: --raw is of one port, or with --split of each\n");
        return false;
    }
    return true;
}

static int itm_run(const struct command *self, int argc, char **argv)
{
    struct itm_options options = {0};
    const struct option_set sets[] = {OPTION_SET(table, &options), INPUT_OPTIONS(&options.input)};
    int end = command_start(self, argc, argv, sets, 2, 1);
    if (end >= 0)
        return end;
    if (input_is_mistaken(&options.input, argv[1]))
        return EXIT_USAGE;
    if (input_is_bare(&options.input, argv[1]))
        options.input.protocol = "ITM"; /* a capture of SWO */
    struct input input;
    struct itm_state state = {.options = &options, .input = &input};
    if (!take_ports(&state, &options))
        return EXIT_USAGE;
    if (!input_open(&input, &options.input, argv[1]))
        return input.failure;
    state.in_seconds = pug_capture_times(input.capture).unit == PUG_CAPTURE_NANOSECONDS;
    options.timestamps |= !options.raw && input_has_clock(&options.input);
    state.terminal = !options.split && !output_where() && isatty(STDOUT_FILENO);
    int code = EXIT_USAGE;
    if (input_is_one(&input, "the text of a port"))
        code = choose(&state, &input) ? decode(&state, &input) : EXIT_INPUT;
    pug_origin_reader_free(state.origin_reader);
    input_close(&input);
    int written = output_end();
    return written ? written : code;
}

const struct command command_itm = {
    .name = "itm",
    .operands = "INPUT",
    .summary = "what was written to ITM stimulus ports",
    .run = itm_run,
    .task = TASK_SOFTWARE,
    .purpose = "Prints what the program wrote to ITM stimulus ports, as printf over SWO does. A "
               "file that is no snapshot is taken for plain SWO bytes.",
    .examples =
        {
            {"pugmark itm examples/swo", "the text of port 0"},
            {"pugmark itm --all --prefix examples/swo",
             "the text of every port, with its number in front"},
            {"pugmark itm --channel 1,'adc %d\\n' examples/swo", "writes to port 1 as numbers"},
        },
};
