// SPDX-License-Identifier: MIT
/** @file pugmark report: one page to look at, with everything in it. */
#include "common/command.h"
#include "common/messages.h"
#include "common/source_options.h"
#include "common/terminal.h"
#include "profile_input.h"
#include "report_extra.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct report_options {
    struct input_options input;
    struct capture_options capture;
    struct source_options source;
    const char *output, *title, *baseline;
    uint64_t detail;
};

/* Slices of a timeline: so many for all captures, and so many at least for each. */
#define SLICES_ALL   32000u
#define SLICES_LEAST 2000u
#define DETAIL_MOST  64u

static const struct option table[] = {
    {"output", "FILE", "the page (-o; default: standard output)", option_string,
     offsetof(struct report_options, output)},
    {"title", "WORDS", "what it is called (default: the input's name)", option_string,
     offsetof(struct report_options, title)},
    {"baseline", "OLD", "compare with this capture or saved profile", option_string,
     offsetof(struct report_options, baseline)},
    {"detail", "N", "N times as much data in the page, 1 to 64 (default 1: at most 4 MB)",
     option_number, offsetof(struct report_options, detail)},
};

/** An input to the page; of a saved profile there is nothing but its counts. An exit code. */
static int add_input(const struct profile_input *what, const char *operand,
                     struct pug_profile *profile, struct report_extra *extra)
{
    struct input input;
    extra->input = operand;
    report_extra_fact(extra, "Input", operand);
    if (profile_is_saved(operand))
        return profile_add(what, operand, profile);
    if (!input_open_for(&input, what->input, operand, INPUT_NEEDS_COUNTS))
        return input.failure;
    input_settle(&input); /* it is decoded for the profile, and for the timeline */
    int code = profile_add_opened(what, &input, profile);
    if (profile_goes_on(code)) {
        const int looked = report_extra_look(extra, &input, what->names, profile);
        code = code == EXIT_DONE ? looked : code;
    }
    input_close(&input);
    return code;
}

static const struct pug_export_format *report_format(void)
{
    const struct pug_export_format *format = NULL;
    for (size_t n = 0; (format = pug_export_format_at(n)) != NULL; n++)
        if (strcmp(format->name, "report") == 0)
            break;
    return format;
}

/** The last component of a path, without a slash at its end; and how many inputs follow. */
static const char *title_of(struct report_extra *extra, char **operands)
{
    char title[512];
    size_t more = 0, length = strlen(operands[0]), from;
    while (operands[more + 1])
        more++;
    while (length > 1 && operands[0][length - 1] == '/')
        length--;
    for (from = length; from > 0 && operands[0][from - 1] != '/'; from--)
        continue;
    const int size = length - from < 400 ? (int)(length - from) : 400;
    if (more > 0)
        snprintf(title, sizeof(title), "%.*s and %zu more", size, operands[0] + from, more);
    else
        snprintf(title, sizeof(title), "%.*s", size, operands[0] + from);
    return report_extra_text(extra, title);
}

static void set_up(struct report_extra *extra, const struct report_options *options,
                   char **operands)
{
    size_t count = 0;
    while (operands[count])
        count++;
    const uint64_t all = SLICES_ALL * (options->detail ? options->detail : 1) / (count ? count : 1);
    *extra = (struct report_extra){.is = {.withheld = &extra->withheld,
                                          .inputs = (const char *const *)operands,
                                          .input_count = count,
                                          .detail = options->detail,
                                          .baseline_title = options->baseline},
                                   .rtos = options->capture.rtos,
                                   .room = all > SLICES_LEAST ? (uint32_t)all : SLICES_LEAST};
    report_extra_begin(extra);
    extra->is.title = options->title ? options->title : title_of(extra, operands);
}

/** The profile of what the page is compared with. What is wrong with it is said of it. */
static int add_baseline(const struct profile_input *what, const char *path,
                        struct report_extra *extra)
{
    extra->is.baseline = pug_profile_new();
    extra->input = path;
    if (!extra->is.baseline)
        return EXIT_FATAL;
    report_extra_fact(extra, "Baseline", path);
    return profile_add(what, path, extra->is.baseline);
}

static int write_page(struct pug_profile *profile, const struct report_options *options,
                      struct pug_names *names, struct report_extra *extra)
{
    const struct pug_export_options wanted = {.names = names,
                                              .objects = options->input.objects.items,
                                              .object_count = options->input.objects.count,
                                              .report = &extra->is};
    if (!report_extra_close(extra)) {
        message_say("pugmark: %s\n", pug_status_text(PUG_ERR_MEM));
        return EXIT_FATAL;
    }
    return profile_export(pug_export, profile, report_format(), &wanted, options->output);
}

static int make(char **operands, const struct report_options *options, struct pug_names *names)
{
    const struct profile_input what = {
        .input = &options->input, .names = names, .stacks = true, .rtos = options->capture.rtos};
    struct report_extra *extra = malloc(sizeof(*extra));
    struct pug_profile *profile = extra ? pug_profile_new() : NULL;
    int code = EXIT_DONE;
    if (!profile) {
        message_say("pugmark: %s\n", pug_status_text(PUG_ERR_MEM));
        free(extra);
        return EXIT_FATAL;
    }
    set_up(extra, options, operands);
    if (!source_permit(&options->source, operands, &extra->is))
        code = EXIT_FATAL;
    for (; *operands && profile_goes_on(code); operands++) {
        const int added = add_input(&what, *operands, profile, extra);
        code = added == EXIT_DONE ? code : added;
    }
    if (profile_goes_on(code) && options->baseline) {
        const int added = add_baseline(&what, options->baseline, extra);
        code = added == EXIT_DONE ? code : added;
    }
    if (profile_goes_on(code)) {
        extra->input = NULL;
        profile_say_notes(profile, options->input.quiet);
        const int written = write_page(profile, options, names, extra);
        code = written == EXIT_DONE ? code : written;
        source_say_withheld(&extra->is, options->input.quiet);
    }
    pug_profile_free(profile);
    pug_profile_free(extra->is.baseline);
    report_extra_end(extra);
    free(extra);
    return code;
}

static int run(const struct command *self, int argc, char **argv)
{
    struct report_options options = {0};
    struct input_several several;
    const struct option_set sets[] = {OPTION_SET(table, &options), SOURCE_OPTIONS(&options.source),
                                      CAPTURE_OPTIONS(&options.capture),
                                      INPUT_OPTIONS(&options.input)};
    int code = command_start(self, argc, argv, sets, 4, -1);
    if (code >= 0)
        return code;
    options.input.threads_later = true;
    if (options.detail > DETAIL_MOST) {
        message_say("pugmark: --detail is a number from 1 to %u\n", DETAIL_MOST);
        return EXIT_USAGE;
    }
    if (!terminal_may_have(options.output, "a page"))
        return EXIT_USAGE;
    input_of_several(&options.input, argv + 1, &several);
    struct pug_names *names = capture_names(&options.input, &options.capture);
    if (!names)
        return EXIT_INPUT;
    code = make(argv + 1, &options, names);
    capture_names_end(names);
    return code;
}

const struct command command_report = {
    .name = "report",
    .operands = "INPUT...",
    .summary = "a page to look at: how it ended, flame graph, functions, code, timeline, coverage",
    .run = run,
    .task = TASK_COUNT,
    .purpose = "Writes one HTML page that shows how the run ended, where time went, which lines "
               "ran and how calls followed each other. The page needs no server and no network.",
    .examples =
        {
            {"pugmark report -o page.html examples/crash --elf examples/crash/crash",
             "the page of one capture"},
            {"pugmark report -o page.html --baseline examples/crash examples/demo",
             "the same, compared with an earlier capture"},
            {"pugmark report -o page.html --title 'Nightly run' examples/demo",
             "a page with a name of its own"},
        },
};
