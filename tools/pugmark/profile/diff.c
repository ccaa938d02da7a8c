// SPDX-License-Identifier: MIT
/** @file pugmark diff: what ran more and what less than before. */
#include "common/command.h"
#include "common/messages.h"
#include "files/outfile.h"
#include "profile_input.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct diff_options {
    struct input_options input;
    struct capture_options capture;
    const char *output;
    bool json;
    uint64_t rows;
};

static const struct option table[] = {
    {"output", "FILE", "write to FILE (-o)", option_string, offsetof(struct diff_options, output)},
    {"json", NULL, "tables as lines of JSON", option_flag, offsetof(struct diff_options, json)},
    {"rows", "N", "rows of each table (default 20)", option_size,
     offsetof(struct diff_options, rows)},
};

static int write_diff(struct pug_profile *const *sides, const struct diff_options *options,
                      struct pug_names *names)
{
    const struct pug_export_options wanted = {.names = names,
                                              .objects = options->input.objects.items,
                                              .object_count = options->input.objects.count,
                                              .rows = (size_t)options->rows,
                                              .json = options->json};
    const char *path = options->output ? options->output : "-";
    struct pug_outfile *file;
    errno = 0;
    if (pug_outfile_open_any(path, &file) != PUG_OK) {
        message_say("pugmark: %s: %s\n", path, strerror(errno));
        return EXIT_INPUT;
    }
    struct pug_sink sink = pug_outfile_sink(file);
    enum pug_status status = pug_export_diff(sides[0], sides[1], &wanted, sink.put, sink.context);
    if (status != PUG_OK) {
        pug_outfile_abandon(file);
        if (status == PUG_ERR_NOT_FOUND)
            message_say("pugmark: --dso %s: it ran in neither\n",
                        profile_unknown_object(sides, 2, &wanted));
        else
            message_say("pugmark: diff: %s\n", pug_status_text(status));
        return status == PUG_ERR_NOT_FOUND ? EXIT_USAGE : EXIT_INPUT;
    }
    if (pug_outfile_commit(file) == PUG_OK || errno == EPIPE)
        return EXIT_DONE;
    message_say("pugmark: %s: %s\n", path, strerror(errno));
    return EXIT_INPUT;
}

static int diff(char **operands, const struct diff_options *options, struct pug_names *names)
{
    const struct profile_input what = {
        .input = &options->input, .names = names, .stacks = true, .rtos = options->capture.rtos};
    struct pug_profile *sides[] = {pug_profile_new(), pug_profile_new()};
    int code = sides[0] && sides[1] ? EXIT_DONE : EXIT_INPUT;
    if (code != EXIT_DONE)
        message_say("pugmark: %s\n", pug_status_text(PUG_ERR_MEM));
    for (int side = 0; side < 2 && profile_goes_on(code); side++) {
        const int added = profile_add(&what, operands[side], sides[side]);
        code = added == EXIT_DONE ? code : added;
    }
    if (profile_goes_on(code) && pug_profile_mixes(sides[0], sides[1])) {
        profile_say_mixed(operands[1]);
        code = EXIT_USAGE;
    }
    if (profile_goes_on(code)) {
        const int written = write_diff(sides, options, names);
        code = written ? written : code;
    }
    pug_profile_free(sides[0]);
    pug_profile_free(sides[1]);
    return code;
}

static int diff_run(const struct command *self, int argc, char **argv)
{
    struct diff_options options = {.input.objects_elsewhere = true};
    const struct option_set sets[] = {OPTION_SET(table, &options),
                                      CAPTURE_OPTIONS(&options.capture),
                                      INPUT_OPTIONS(&options.input)};
    int end = command_start(self, argc, argv, sets, 3, 2);
    if (end >= 0)
        return end;
    options.input.threads_later = true;
    struct pug_names *names = capture_names(&options.input, &options.capture);
    if (!names)
        return EXIT_INPUT;
    int code = diff(argv + 1, &options, names);
    capture_names_end(names);
    return code;
}

const struct command command_diff = {
    .name = "diff",
    .operands = "BEFORE AFTER",
    .summary = "compare what ran: captures, or saved profiles",
    .run = diff_run,
    .task = TASK_COUNT,
    .purpose = "Compares two runs, function by function, line by line: what became faster or "
               "slower, what runs only in one of them. Each side is a capture or a profile that "
               "`profile --output` saved.",
    .examples =
        {
            {"pugmark diff examples/demo examples/crash", "what differs between two captures"},
            {"pugmark diff --rows 5 examples/demo examples/crash",
             "the five largest differences of each table"},
            {"pugmark diff --json examples/demo examples/crash", "the tables as lines of JSON"},
        },
};
