// SPDX-License-Identifier: MIT
/** @file pugmark list: packets and elements, as text, JSON lines or CSV. */
#include "list.h"
#include "common/messages.h"
#include "common/suggest.h"

#include "common/command.h"
#include "common/output.h"
#include "common/sandbox.h"
#include "common/suggest.h"
#include "element_lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static bool take_format(const struct option *option, void *target, const char *argument)
{
    static const char *const names[] = {"text", "jsonl", "csv"};
    struct list_options *options = target;
    options->cmsis = strcmp(argument, "cmsis-csv") == 0;
    for (unsigned i = 0; i < 3; i++) {
        if (strcmp(argument, names[i]) == 0) {
            options->format = (enum list_format)i;
            return true;
        }
    }
    return options->cmsis ||
           option_refuse(option, argument, "no format; there are text, jsonl, csv, cmsis-csv");
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

static bool refuse_type(const struct option *option, const char *name, size_t length)
{
    struct suggestion near;
    char word[64];
    snprintf(word, sizeof(word), "%.*s", (int)length, name);
    suggest_begin(&near, word);
    message_say("pugmark: --%s %s: no element type; there are", option->name, word);
    for (unsigned type = 0; type < PUG_ELEM_TYPE_COUNT; type++) {
        const char *known = pug_element_type_name((enum pug_element_type)type);
        suggest_offer(&near, known);
        message_say(" %s", known);
    }
    message_say("%s\n", near.question);
    return false;
}

static bool take_types(const struct option *option, void *target, const char *argument)
{
    for (const char *at = argument; *at;) {
        size_t length = strcspn(at, ",");
        unsigned type = find_type(at, length);
        if (type == PUG_ELEM_TYPE_COUNT)
            return refuse_type(option, at, length);
        *(uint32_t *)target |= UINT32_C(1) << type;
        at += length + (at[length] == ',');
    }
    return true;
}

static bool take_port(const struct option *option, void *target, const char *argument)
{
    uint64_t port;
    return option_up_to(option, argument, 255, &port) && option_list_add(target, argument);
}

static const struct option table[] = {
    {"packets", NULL, "list packets (alone: without elements)", option_flag,
     offsetof(struct list_options, packets)},
    {"elements", NULL, "list elements (the default)", option_flag,
     offsetof(struct list_options, elements)},
    {"events", NULL, "list what an ITM and a DWT say, with times and the program's names",
     option_flag, offsetof(struct list_options, events)},
    {"match", "WORDS", "only events whose line has these words", option_string,
     offsetof(struct list_options, match)},
    {"by-time", NULL, "elements of all buffers and sources in the order of time", option_flag,
     offsetof(struct list_options, by_time)},
    {"type", "TYPE,...", "only elements of these types", take_types,
     offsetof(struct list_options, types)},
    {"from", "OFFSET", "only what begins at or after this trace offset", option_number,
     offsetof(struct list_options, from)},
    {"to", "OFFSET", "only what begins before this trace offset", option_number,
     offsetof(struct list_options, to)},
    {"format", "text|jsonl|csv|cmsis-csv",
     "text (default), jsonl, csv, or cmsis-csv: of an ITM and a DWT", take_format, 0},
    {"port", "N", "with cmsis-csv only this stimulus port (default: all); may be repeated",
     take_port, offsetof(struct list_options, ports)},
};

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
    if (options->match && !options->events)
        return "--match is of --events";
    if (options->events && (options->packets || options->elements || options->by_time ||
                            options->types || window_wanted(&options->window)))
        return "--events lists events alone, by their times; --from, --to, --time and --match "
               "choose";
    if (options->ports.count > 0 && !options->cmsis)
        return "--port is for --format cmsis-csv";
    if (options->cmsis && (options->packets || options->elements || options->by_time ||
                           options->types || window_wanted(&options->window)))
        return "--format cmsis-csv has rows of its own: of --from and --to at most";
    if (options->by_time && (options->packets || window_wanted(&options->window)))
        return "--by-time lists elements, and all that was captured";
    return NULL;
}

/** The size of the longest chosen buffer. */
static uint64_t longest(const struct input *input)
{
    const struct pug_capture_segment *segment;
    uint64_t most = input->trace_size;
    for (size_t n = 0; (segment = pug_capture_segment_at(input->capture, n)) != NULL; n++)
        if (pug_capture_buffer_at(input->capture, segment->buffer)->chosen && segment->size > most)
            most = segment->size;
    return most;
}

/** False, having said so: there is no such offset. */
static bool window_fits(const struct list_options *options, const struct input *input)
{
    const uint64_t around = options->window.around.value;
    if (!options->window.around.given || around <= longest(input))
        return true;
    message_say("pugmark: --around %" PRIu64 ": %s has %" PRIu64 " bytes\n", around,
                input->chosen > 1 ? pug_capture_path(input->capture) : input->trace_path,
                longest(input));
    return false;
}

static int list_input(struct list_options *options, struct input *input)
{
    const bool elements = options->elements || !options->packets;
    struct list_state state = {
        .options = options, .input = input, .elements = elements, .last = UINT64_MAX};
    int code = EXIT_USAGE;
    if (options->format == LIST_CSV)
        output_text("%s", elements ? ELEMENT_CSV_HEADER : LIST_PACKET_CSV_HEADER);
    if (!window_wanted(&options->window))
        code = list_all(&state, elements);
    else
        code = list_window(&state, options, elements);
    pug_origin_reader_free(state.origin_reader);
    return code;
}

static int list_run(const struct command *self, int argc, char **argv)
{
    struct list_options options = {.to = UINT64_MAX, .window.radius.value = 1024};
    const struct option_set sets[] = {
        OPTION_SET(table, &options),
        {window_option_table, window_option_count, &options.window, false},
        INPUT_OPTIONS(&options.input)};
    int end = command_start(self, argc, argv, sets, 3, 1);
    if (end >= 0)
        return end;
    const char *wrong = misfit(&options);
    if (wrong) {
        message_say("pugmark: %s\n", wrong);
        return EXIT_USAGE;
    }
    if (options.events)
        return list_events(&options, argv[1]);
    if (options.cmsis)
        return list_cmsis(&options, argv[1]);
    if (options.by_time)
        return list_by_time(&options, argv[1]);
    struct input input;
    sandbox_allow_index();
    if (!input_open(&input, &options.input, argv[1]))
        return input.failure;
    const bool windowed = window_wanted(&options.window);
    if (windowed)
        input_settle(&input);
    const bool fits = (!windowed || input_is_whole(&input, "a window")) &&
                      window_fits(&options, &input) && window_take_times(&options.window, &input);
    const int code = fits ? list_input(&options, &input) : EXIT_USAGE;
    input_close(&input);
    const int written = output_end();
    return written ? written : code;
}

const struct command command_list = {
    .name = "list",
    .operands = "INPUT",
    .summary = "list trace elements, or packets, or both",
    .run = list_run,
    .task = TASK_FOLLOW,
    .purpose = "Lists what the decoder found, one line each with its trace offset: ranges of "
               "instructions, exceptions, timestamps, events, or the packets that they came from.",
    .examples =
        {
            {"pugmark list examples/demo", "all elements"},
            {"pugmark list --packets --elements examples/demo",
             "each packet, followed by the elements that it gave"},
            {"pugmark list --type EXCEPTION,TIMESTAMP examples/crash", "elements of two types"},
        },
};
