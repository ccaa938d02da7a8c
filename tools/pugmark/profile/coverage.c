// SPDX-License-Identifier: MIT
/** @file pugmark coverage: which lines, functions, instructions and branch outcomes were seen. */
#include "common/command.h"
#include "common/messages.h"
#include "common/source_options.h"
#include "common/terminal.h"
#include "profile_input.h"

#include <stdio.h>
#include <string.h>

struct coverage_options {
    struct input_options input;
    struct capture_options capture;
    struct source_options source;
    const char *format, *output;
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
        return option_refuse(option, argument, "the formats are text, lcov, json and html");
    return option_string(option, target, argument);
}

static const struct option table[] = {
    {"format", "text|lcov|json|html", "text (default), lcov, json or html", take_format,
     offsetof(struct coverage_options, format)},
    {"output", "FILE", "write to FILE (-o)", option_string,
     offsetof(struct coverage_options, output)},
};

static int cover(char **operands, const struct coverage_options *options, struct pug_names *names)
{
    const struct profile_input what = {.input = &options->input, .names = names};
    struct pug_report_withheld withheld = {0};
    struct pug_report folders = {.withheld = &withheld};
    const struct pug_export_options wanted = {.names = names,
                                              .objects = options->input.objects.items,
                                              .object_count = options->input.objects.count,
                                              .report = &folders};
    if (!source_permit(&options->source, operands, &folders))
        return EXIT_FATAL;
    struct pug_profile *profile = pug_profile_new();
    int code = profile_add_all(&what, operands, profile);
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
