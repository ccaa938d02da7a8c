// SPDX-License-Identifier: MIT
/** @file pugmark coverage: which lines, functions, instructions and branch outcomes were seen. */
#include "common/command.h"
#include "common/messages.h"
#include "common/source_options.h"
#include "common/terminal.h"
#include "export/decisions.h"
#include "items/parts.h"
#include "items/places.h"
#include "profile_input.h"

#include <stdio.h>
#include <string.h>

struct coverage_options {
    struct input_options input;
    struct capture_options capture;
    struct source_options source;
    const char *format, *output;
    struct option_list maps;
    bool mcdc, without_exclusions, masking;
};

static const struct pug_export_format *find_format(const char *name)
{
    const struct pug_export_format *format;
    for (size_t n = 0; (format = pug_export_coverage_at(n)) != NULL; n++)
        if (strcmp(format->name, name) == 0)
            return format;
    return NULL;
}

static bool take_format(const struct option *option, void *target, const char *argument)
{
    if (!find_format(argument))
        return option_refuse(option, argument,
                             "the formats are text, lcov, json, cobertura, jacoco, sonar and html");
    return option_string(option, target, argument);
}

static bool take_map(const struct option *option, void *target, const char *argument)
{
    const char *equal = strchr(argument, '=');
    if (!equal || equal == argument)
        return option_refuse(option, argument, "expected OLD=NEW; OLD= makes paths relative");
    return option_to_list(option, target, argument);
}

static const struct option table[] = {
    {"format", "text|lcov|json|cobertura|jacoco|sonar|html",
     "text (default), lcov, json, cobertura, jacoco, sonar or html", take_format,
     offsetof(struct coverage_options, format)},
    {"mcdc", NULL, "decisions and MC/DC, too: all of the trace is decoded once more, in order",
     option_flag, offsetof(struct coverage_options, mcdc)},
    {"masking", NULL, "of --mcdc: conditions may differ that are masked (default: unique cause)",
     option_flag, offsetof(struct coverage_options, masking)},
    {"no-exclusions", NULL, "count what LCOV_EXCL_LINE and the like in the sources leave out",
     option_flag, offsetof(struct coverage_options, without_exclusions)},
    {"path-map", "OLD=NEW", "sources whose paths begin with OLD begin with NEW; may be repeated",
     take_map, offsetof(struct coverage_options, maps)},
    {"output", "FILE", "write to FILE (-o)", option_string,
     offsetof(struct coverage_options, output)},
};

/* ---- evaluations of decisions ---- */

/** A capture whose branches are followed in their order. */
struct following {
    struct pug_capture *capture;
    struct pug_names *names;
    struct pug_mcdc *mcdc;
    uint32_t base; /* added to tasks, so that those of several captures differ */
    bool failed;
};

static bool take_item(void *context, const struct trace_item *item)
{
    struct following *following = context;
    const struct pug_element *e = &item->element;
    const uint32_t task = following->base + pug_places_task(item);
    struct pug_names_file *file;
    switch (e->type) {
    case PUG_ELEM_TRACE_ON:
    case PUG_ELEM_NO_SYNC:
    case PUG_ELEM_UNKNOWN:
    case PUG_ELEM_ADDR_NACC: pug_mcdc_forget(following->mcdc, task); return true;
    case PUG_ELEM_INSTR_RANGE: break;
    default: return true;
    }
    if (e->last_type != PUG_INSTR_BR || !item->place || item->place->object == PUG_NO_OBJECT ||
        !pug_capture_names(following->capture, item->place->object, following->names, &file))
        return true;
    const uint64_t vaddr = e->end - e->last_size + item->place->to_vaddr;
    following->failed |=
        !pug_mcdc_take(following->mcdc, task, file, vaddr, (e->flags & PUG_ELEM_EXECUTED) != 0);
    return !following->failed;
}

/** Follow a capture; an exit code. What is wrong with its trace was said when it was counted. */
static int follow(const struct coverage_options *options, const char *operand,
                  struct following *following)
{
    const struct trace_wanted wanted = {.limits = {.all = true}, .no_code = true};
    struct input_options quiet = options->input;
    struct pug_capture_decode decode = {.threads = 0};
    struct pug_capture_result result;
    struct input input;
    quiet.quiet = true;
    if (!input_open(&input, &quiet, operand))
        return input.failure;
    following->capture = input.capture;
    struct trace_parts parts = {.capture = input.capture,
                                .wanted = &wanted,
                                .print = take_item,
                                .print_context = following,
                                .wants = PUG_WANTS_BY_TIME};
    pug_trace_parts_decode(&parts, &decode);
    quiet.quiet = options->input.quiet; /* no messages, but progress */
    const enum pug_status status = input_decode_quietly(&input, &decode, NULL, &result);
    quiet.quiet = true;
    following->failed |= parts.failed;
    if (following->failed)
        input_starve(&input);
    input_close(&input);
    return status == PUG_OK && !following->failed ? EXIT_DONE : EXIT_INPUT;
}

static int follow_all(const struct coverage_options *options, char **operands,
                      struct pug_names *names, struct pug_mcdc *mcdc)
{
    struct following following = {.names = names, .mcdc = mcdc};
    int code = EXIT_DONE;
    for (; *operands && code == EXIT_DONE; operands++) {
        if (profile_is_saved(*operands)) {
            message_say(
                "pugmark: %s: a saved profile has no order: evaluations of its decisions are "
                "not known; give the captures that it was made of\n",
                *operands);
            continue;
        }
        code = follow(options, *operands, &following);
        following.base += 1u << 20;
    }
    return code;
}

static int cover(char **operands, const struct coverage_options *options, struct pug_names *names)
{
    const struct profile_input what = {
        .input = &options->input, .names = names, .rtos = options->capture.rtos};
    struct pug_report_withheld withheld = {0};
    struct pug_report folders = {.withheld = &withheld};
    struct pug_mcdc *mcdc = options->mcdc ? pug_mcdc_new() : NULL;
    if (options->mcdc && !mcdc) {
        message_say("pugmark: out of memory\n");
        return EXIT_FATAL;
    }
    if (options->masking && mcdc)
        pug_mcdc_mask(mcdc);
    const struct pug_export_options wanted = {.names = names,
                                              .mcdc = mcdc,
                                              .path_map = options->maps.items,
                                              .path_map_count = options->maps.count,
                                              .without_exclusions = options->without_exclusions,
                                              .objects = options->input.objects.items,
                                              .object_count = options->input.objects.count,
                                              .report = &folders};
    if (!source_permit(&options->source, operands, &folders)) {
        pug_mcdc_free(mcdc);
        return EXIT_FATAL;
    }
    struct pug_profile *profile = pug_profile_new();
    int code = profile_add_all(&what, operands, profile);
    if (mcdc && (code == EXIT_DONE || code == EXIT_TRACE_ERRORS)) {
        const int followed = follow_all(options, operands, names, mcdc);
        code = followed ? followed : code;
    }
    if (profile && (input_spread() || (code != EXIT_INPUT && code != EXIT_USAGE))) {
        profile_say_notes(profile, options->input.quiet);
        if (pug_profile_is_sampled(profile))
            message_say("pugmark: coverage is of counts of what ran, and these are PC samples: "
                        "what was not sampled may have run\n");
        const int written = profile_export(pug_export_coverage, profile,
                                           find_format(options->format ? options->format : "text"),
                                           &wanted, options->output);
        code = written ? written : code;
        source_say_withheld(&folders, options->input.quiet);
    }
    pug_profile_free(profile);
    pug_mcdc_free(mcdc);
    return code;
}

static int coverage_run(const struct command *self, int argc, char **argv)
{
    struct coverage_options options = {0};
    struct input_several several;
    const struct option_set sets[] = {OPTION_SET(table, &options), SOURCE_OPTIONS(&options.source),
                                      CAPTURE_OPTIONS(&options.capture),
                                      INPUT_OPTIONS(&options.input)};
    int end = command_start(self, argc, argv, sets, 4, -1);
    if (end >= 0)
        return end;
    options.input.threads_later = true;
    if (options.masking && !options.mcdc) {
        message_say("pugmark: --masking is of --mcdc\n");
        return EXIT_USAGE;
    }
    if (options.format && strcmp(options.format, "html") == 0 &&
        !terminal_may_have(options.output, "a page"))
        return EXIT_USAGE;
    input_of_several(&options.input, argv + 1, &several);
    struct pug_names *names = capture_names(&options.input, &options.capture);
    if (!names)
        return EXIT_INPUT;
    int code = cover(argv + 1, &options, names);
    capture_names_end(names);
    return code;
}

const struct command command_coverage = {
    .name = "coverage",
    .operands = "INPUT...",
    .summary = "which lines, functions and branch outcomes were seen",
    .run = coverage_run,
    .task = TASK_COUNT,
    .purpose = "Says which lines, functions and branch outcomes the trace saw, without "
               "instrumentation of the program. Several inputs add up.",
    .examples =
        {
            {"pugmark coverage examples/crash --elf examples/crash/crash",
             "a table of files and functions"},
            {"pugmark coverage --format lcov -o coverage.info examples/crash --elf "
             "examples/crash/crash",
             "a file for genhtml and editors"},
            {"pugmark coverage --format html -o coverage.html examples/crash --elf "
             "examples/crash/crash",
             "a page with the lines marked"},
        },
};
