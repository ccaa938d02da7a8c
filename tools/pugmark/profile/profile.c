// SPDX-License-Identifier: MIT
/** @file pugmark profile: how often what ran, for people and in the formats of other tools. */
#include "calls/times_command.h"
#include "common/command.h"
#include "common/messages.h"
#include "common/suggest.h"
#include "common/terminal.h"
#include "files/outfile.h"
#include "profile_input.h"
#include "schedule/peers.h"
#include "swo/interrupts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct profile_options {
    struct input_options input;
    struct capture_options capture;
    const char *format, *output, *like, *weight, *histogram;
    bool stacks, without_plt, mangled, json, interrupts, times, callers, csv;
    uint64_t rows;
};

/* Made of captures alone: profiles have no order. */
static const char brstack[] = "brstack";

static bool take_format(const struct option *option, void *target, const char *argument)
{
    const struct pug_export_format *format;
    if (strcmp(argument, brstack) == 0)
        return option_string(option, target, argument);
    for (size_t n = 0; (format = pug_export_format_at(n)) != NULL; n++)
        if (strcmp(format->name, argument) == 0)
            return option_string(option, target, argument);
    struct suggestion suggestion;
    suggest_begin(&suggestion, argument);
    message_say("pugmark: --format %s: the formats are", argument);
    for (size_t n = 0; (format = pug_export_format_at(n)) != NULL; n++) {
        message_say(" %s", format->name);
        suggest_offer(&suggestion, format->name);
    }
    suggest_offer(&suggestion, brstack);
    message_say(" %s%s\n", brstack, suggestion.question);
    return false;
}

static bool take_like(const struct option *option, void *target, const char *argument)
{
    if (strcmp(argument, "simpleperf") != 0)
        return option_refuse(option, argument, "only simpleperf is imitated");
    return option_string(option, target, argument);
}

static const char *const weights[] = {"instructions", "cycles", "time"};

static bool take_weight(const struct option *option, void *target, const char *argument)
{
    for (size_t i = 0; i < sizeof(weights) / sizeof(weights[0]); i++)
        if (strcmp(argument, weights[i]) == 0)
            return option_string(option, target, argument);
    return option_refuse(option, argument, "expected instructions, cycles or time");
}

static const struct option table[] = {
    {"format", "FORMAT",
     "write this format (default: table); the book lists them: Profiles and coverage in detail",
     take_format, offsetof(struct profile_options, format)},
    {"output", "FILE",
     "write to FILE; without --format the profile itself, to be merged later (-o)", option_string,
     offsetof(struct profile_options, output)},
    {"like", "simpleperf", "autofdo as simpleperf writes it: indirect branches lead to 0",
     take_like, offsetof(struct profile_options, like)},
    {"weight", "instructions|cycles|time", "of folded stacks: instructions (default), cycles, time",
     take_weight, offsetof(struct profile_options, weight)},
    {"stacks", NULL, "keep call stacks, also where the format does not need them", option_flag,
     offsetof(struct profile_options, stacks)},
    {"without-plt", NULL, "bolt: leave out the linkage table, which BOLT does not know",
     option_flag, offsetof(struct profile_options, without_plt)},
    {"mangled", NULL, "names as the linker has them", option_flag,
     offsetof(struct profile_options, mangled)},
    {"interrupts", NULL, "a table of interrupts instead, by the exception trace of a DWT",
     option_flag, offsetof(struct profile_options, interrupts)},
    {"json", NULL, "tables as lines of JSON", option_flag, offsetof(struct profile_options, json)},
    {"times", NULL, "how long calls of each function took: shortest, mean, longest, own …",
     option_flag, offsetof(struct profile_options, times)},
    {"callers", NULL, "of --times: by caller", option_flag,
     offsetof(struct profile_options, callers)},
    {"histogram", "FUNCTION", "how long calls of FUNCTION took: how many of each length",
     option_string, offsetof(struct profile_options, histogram)},
    {"csv", NULL, "of --times and --histogram: as CSV", option_flag,
     offsetof(struct profile_options, csv)},
    {"rows", "N", "rows of each table (default 20)", option_size,
     offsetof(struct profile_options, rows)},
};

/** False, having said so: an option was given that says nothing of what will be written. */
static bool format_fits(const struct profile_options *options)
{
    const char *const saved = "a profile that is saved";
    const char *format = options->format ? options->format : options->output ? saved : "table";
    const bool counted = strcmp(format, brstack) != 0, named = counted && format != saved;
    const struct {
        const char *name, *of;
        bool given, fits;
    } choices[] = {
        {"like", "--format autofdo", options->like, strcmp(format, "autofdo") == 0},
        {"weight", "--format folded", options->weight, strcmp(format, "folded") == 0},
        {"without-plt", "--format bolt", options->without_plt, strcmp(format, "bolt") == 0},
        {"json", "--format table", options->json, strcmp(format, "table") == 0},
        {"rows", "--format table", options->rows > 0, strcmp(format, "table") == 0},
        {"mangled", "formats that have names", options->mangled, named},
        {"stacks", "what is counted", options->stacks, counted},
    };
    for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++) {
        if (!choices[i].given || choices[i].fits)
            continue;
        message_say("pugmark: --%s is of %s, not of %s\n", choices[i].name, choices[i].of, format);
        return false;
    }
    return true;
}

static const struct pug_export_format *find_format(const char *name)
{
    const struct pug_export_format *format = NULL;
    for (size_t n = 0; (format = pug_export_format_at(n)) != NULL; n++)
        if (strcmp(format->name, name) == 0)
            break;
    return format;
}

/** Has it what stacks are to be weighed by? False, having said so: it would be empty. */
static bool has_weight(const struct pug_profile *profile, const struct profile_options *options,
                       const struct pug_export_format *format)
{
    size_t count;
    const struct pug_profile_frame *frames = pug_profile_frames(profile, &count);
    const bool cycles = options->weight && *options->weight == 'c';
    bool has = !options->weight || *options->weight == 'i' || strcmp(format->name, "folded") != 0;
    for (size_t i = 0; i < count && !has; i++)
        has = (cycles ? frames[i].cycles : frames[i].time) > 0;
    if (!has)
        message_say("pugmark: --weight %s: %s\n", options->weight,
                    cycles ? "nothing in it counts cycles" : "nothing in it has a time");
    return has;
}

static int export(struct pug_profile *profile, const struct profile_options *options,
                  const struct pug_export_format *format, struct pug_names *names)
{
    const struct pug_export_options wanted = {
        .names = names,
        .objects = options->input.objects.items,
        .object_count = options->input.objects.count,
        .weight = !options->weight || *options->weight == 'i' ? PUG_WEIGHT_INSTRUCTIONS
                  : *options->weight == 'c'                   ? PUG_WEIGHT_CYCLES
                                                              : PUG_WEIGHT_TIME,
        .like_simpleperf = options->like != NULL,
        .without_plt = options->without_plt,
        .mangled = options->mangled,
        .rows = (size_t)options->rows,
        .json = options->json,
    };
    return profile_export(pug_export, profile, format, &wanted, options->output);
}

/** Was anything counted? False, having said so: a profile of nothing is not a good one. */
static bool is_of_something(const struct pug_profile *profile)
{
    size_t ranges;
    (void)pug_profile_ranges(profile, &ranges);
    const bool is = ranges > 0 || pug_profile_is_sampled(profile) || pug_peers_helps(input_peers());
    if (!is)
        message_say("pugmark: nothing was counted: there is no program flow in it, and no PC "
                    "sample of a DWT\n");
    return is;
}

static int profile_inputs(char **operands, const struct profile_options *options,
                          const struct pug_export_format *format, struct pug_names *names)
{
    const struct profile_input what = {
        .input = &options->input,
        .names = names,
        .stacks = options->stacks || (format ? format->needs_stacks || format->uses_stacks : true),
        .rtos = options->capture.rtos,
    };
    struct pug_profile *profile = pug_profile_new();
    int code = profile_add_all(&what, operands, profile);
    if (profile && (input_spread() || (code != EXIT_INPUT && code != EXIT_USAGE))) {
        profile_say_notes(profile, options->input.quiet);
        const int written = format ? export(profile, options, format, names)
                                   : profile_save(profile, options->output);
        if (!is_of_something(profile) && code == EXIT_DONE)
            code = EXIT_TRACE_ERRORS;
        if (format && !pug_peers_helps(input_peers()) && !has_weight(profile, options, format) &&
            code == EXIT_DONE)
            code = EXIT_TRACE_ERRORS;
        code = written ? written : code;
    }
    pug_profile_free(profile);
    return code;
}

/** A table of each input; of profiles that were saved there is none. */
static int profile_interrupts(char **operands, const struct profile_options *options)
{
    struct pug_outfile *file;
    int code = EXIT_DONE;
    if (pug_outfile_open_any(options->output ? options->output : "-", &file) != PUG_OK) {
        message_say("pugmark: %s: %s\n", options->output ? options->output : "-", strerror(errno));
        return EXIT_INPUT;
    }
    struct pug_sink sink = pug_outfile_sink(file);
    for (; *operands && (code == EXIT_DONE || code == EXIT_TRACE_ERRORS); operands++) {
        struct input input;
        int one;
        if (input_open(&input, &options->input, *operands)) {
            one = interrupts_print(&input, options->json, &sink);
            input_close(&input);
        } else {
            one = input.failure;
        }
        code = one == EXIT_DONE ? code : one;
    }
    if (code == EXIT_USAGE || code == EXIT_INPUT || code == EXIT_FATAL || input_failed()) {
        pug_outfile_abandon(file);
        return code == EXIT_DONE ? EXIT_INPUT : code;
    }
    if (pug_outfile_commit(file) == PUG_OK || errno == EPIPE)
        return code;
    message_say("pugmark: cannot write the output: %s\n", strerror(errno));
    return EXIT_INPUT;
}

/** A table of times of one capture. */
static int profile_times(char **operands, const struct profile_options *options)
{
    if (operands[1] || profile_is_saved(operands[0]) || options->format || options->stacks ||
        options->interrupts || (options->csv && options->json)) {
        message_say("pugmark: --times and --histogram are of one capture, as a table, --csv or "
                    "--json\n");
        return EXIT_USAGE;
    }
    const struct times_options wanted = {.callers = options->callers,
                                         .form = options->csv    ? TIMES_CSV
                                                 : options->json ? TIMES_JSON
                                                                 : TIMES_TEXT,
                                         .rows = options->rows > 0               ? options->rows
                                                 : options->csv || options->json ? 0
                                                                                 : 20,
                                         .histogram = options->histogram,
                                         .output = options->output};
    return times_print(&options->input, &options->capture, operands[0], &wanted);
}

/** A saved profile, binary formats and pages are nothing for a terminal. */
static bool shows_on_terminal(const struct profile_options *options,
                              const struct pug_export_format *format)
{
    const bool page = format && strcmp(format->name, "report") == 0;
    return (format && !format->binary && !page) ||
           terminal_may_have(options->output, page ? "a page" : "binary data");
}

static int profile_run(const struct command *self, int argc, char **argv)
{
    struct profile_options options = {0};
    struct input_several several;
    const struct option_set sets[] = {OPTION_SET(table, &options),
                                      CAPTURE_OPTIONS(&options.capture),
                                      INPUT_OPTIONS(&options.input)};
    int end = command_start(self, argc, argv, sets, 3, -1);
    if (end >= 0)
        return end;
    options.input.threads_later = true;
    if (options.times || options.histogram)
        return profile_times(argv + 1, &options);
    if (options.csv || options.callers) {
        message_say("pugmark: --csv and --callers are of --times\n");
        return EXIT_USAGE;
    }
    if (!format_fits(&options))
        return EXIT_USAGE;
    input_of_several(&options.input, argv + 1, &several);
    if (options.interrupts &&
        (options.stacks || (options.format && strcmp(options.format, "table") != 0))) {
        message_say("pugmark: --interrupts is a table of its own, with or without --json\n");
        return EXIT_USAGE;
    }
    if (options.interrupts)
        return profile_interrupts(argv + 1, &options);
    if (options.format && strcmp(options.format, brstack) == 0)
        return profile_brstack(&options.input, argv + 1, options.output);
    const struct pug_export_format *format = options.format    ? find_format(options.format)
                                             : !options.output ? find_format("table")
                                                               : NULL;
    if (!shows_on_terminal(&options, format))
        return EXIT_USAGE;
    struct pug_names *names = capture_names(&options.input, &options.capture);
    if (!names)
        return EXIT_INPUT;
    int code = profile_inputs(argv + 1, &options, format, names);
    capture_names_end(names);
    return code;
}

const struct command command_profile = {
    .name = "profile",
    .operands = "INPUT...",
    .summary = "count what ran: a table, a profile, or a format of other tools",
    .run = profile_run,
    .task = TASK_COUNT,
    .purpose = "Counts what ran: functions by instructions and time, branches by outcome. It "
               "writes a table, a profile to be merged or compared later, or what perf, pprof, "
               "AutoFDO, BOLT and flame graphs read.",
    .examples =
        {
            {"pugmark profile examples/crash --elf examples/crash/crash",
             "the busiest functions and lines"},
            {"pugmark profile --format folded -o stacks.txt examples/crash --elf "
             "examples/crash/crash",
             "call stacks for a flame graph"},
            {"pugmark profile -o run.pugprof examples/demo",
             "a profile for `pugmark merge` and `pugmark diff`"},
        },
};
