// SPDX-License-Identifier: MIT
/**
 * @file pugmark timeline: calls as slices over time, a track for each thread (or source) and each
 * processor, with exceptions, software trace and losses, in the formats that viewers read.
 */
#include "export/timeline.h"
#include "common/messages.h"
#include "common/terminal.h"

#include "common/command.h"
#include "files/outfile.h"
#include "input/capture_options.h"
#include "input/stream_folder.h"
#include "slices_input.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct timeline_options {
    struct input_options input;
    struct capture_options capture;
    enum pug_timeline_form form;
    enum slices_clock clock;
    const char *output;
    uint64_t least, depth;
    bool exact;
};

static bool take_form(const struct option *option, void *target, const char *argument)
{
    static const char *const names[] = {"perfetto", "chrome", "speedscope", "ctf"};
    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(argument, names[i]) == 0) {
            *(enum pug_timeline_form *)target = (enum pug_timeline_form)i;
            return true;
        }
    }
    return option_refuse(option, argument,
                         "no format; there are perfetto, chrome, speedscope, ctf");
}

static bool take_clock(const struct option *option, void *target, const char *argument)
{
    static const char *const names[] = {"auto", "time", "cycles", "instructions"};
    uint64_t hertz;
    if (parse_number(argument, &hertz)) {
        struct timeline_options *options =
            (struct timeline_options *)((char *)target - offsetof(struct timeline_options, clock));
        return input_take_clock(option, &options->input.settings, argument);
    }
    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(argument, names[i]) == 0) {
            *(enum slices_clock *)target = (enum slices_clock)i;
            return true;
        }
    }
    return option_refuse(option, argument,
                         "there are auto, time, cycles, instructions, or HZ of the core: a number");
}

static const struct option table[] = {
    {"format", "perfetto|chrome|speedscope|ctf",
     "perfetto (default), chrome, speedscope or ctf (a folder)", take_form,
     offsetof(struct timeline_options, form)},
    {"output", "FILE", "where it goes (default: standard output; ctf needs a folder's name)",
     option_string, offsetof(struct timeline_options, output)},
    {"clock", "time|cycles|instructions|HZ",
     "time, cycles or instructions (default: the first that the trace has); or HZ, the core's "
     "clock, which local timestamps of an ITM count",
     take_clock, offsetof(struct timeline_options, clock)},
    {"least", "N", "leave out calls that took less than N of the clock", option_number,
     offsetof(struct timeline_options, least)},
    {"depth", "N", "leave out calls that are nested deeper than N", option_number,
     offsetof(struct timeline_options, depth)},
    {"exact", NULL, "times as the trace tells them: none is estimated between two timestamps",
     option_flag, offsetof(struct timeline_options, exact)},
};

static void say_numbers(const struct slices *slices, bool quiet)
{
    struct slices_numbers numbers = slices_numbers(slices);
    if (quiet)
        return;
    message_say("pugmark: %" PRIu64 " calls", numbers.written);
    if (numbers.handlers)
        message_say(", %" PRIu64 " interrupts", numbers.handlers);
    if (numbers.left_out)
        message_say(", %" PRIu64 " others left out", numbers.left_out);
    if (numbers.estimated)
        message_say(", %" PRIu64 " with estimated times", numbers.estimated);
    for (int gap = PUG_GAP_LOST; gap >= PUG_GAP_UNTRACED; gap--)
        if (numbers.gaps[gap])
            message_say("; %s: %" PRIu64 " times", pug_call_gap_name((enum pug_call_gap)gap),
                        numbers.gaps[gap]);
    message_say("\n");
    slices_tell(slices, false);
}

/** Is the clock that was asked for there? False, having said so: all its times are 0. */
static bool has_clock(enum slices_clock clock, const struct slices_heard *heard)
{
    const char *missing = clock == SLICES_TIME && !heard->time ? "time: it has no timestamps"
                          : clock == SLICES_CYCLES && !heard->cycles
                              ? "cycles: it has no counts of them"
                              : NULL;
    if (missing)
        message_say("pugmark: --clock %s, and all times are 0\n", missing);
    return !missing;
}

/** Everything into the sink; an exit code. */
static int write_slices(struct input *input, const struct timeline_options *options,
                        struct pug_sink *sink, struct stream_folder *folder)
{
    struct pug_names *names = capture_names(&options->input, &options->capture);
    const struct slices_options how = {.capture = input->capture,
                                       .names = names,
                                       .rtos = options->capture.rtos,
                                       .form = options->form,
                                       .clock = options->clock,
                                       .least = options->least,
                                       .depth = options->depth,
                                       .exact = options->exact,
                                       .sink = sink,
                                       .append = stream_folder_append,
                                       .append_context = folder};
    struct slices *slices = names ? slices_new(&how) : NULL;
    struct pug_capture_result result = {0};
    struct slices_heard heard;
    enum pug_status status =
        slices ? slices_decode_heard(slices, input, &heard, &result) : PUG_ERR_MEM;
    int code = input_concluded(input, status, &result);
    if (status == PUG_OK && !has_clock(options->clock, &heard) && code == EXIT_DONE)
        code = EXIT_TRACE_ERRORS;
    enum pug_status written = slices ? slices_end(slices) : PUG_OK;
    if (written != PUG_OK) {
        message_say("pugmark: cannot write the timeline: %s\n",
                    written == PUG_ERR_FILE ? strerror(folder->error ? folder->error : errno)
                                            : pug_status_text(written));
        code = EXIT_INPUT;
    }
    if (slices)
        say_numbers(slices, options->input.quiet);
    slices_free(slices);
    capture_names_end(names);
    return code;
}

/** To a path, `-` is standard output. */
static int write_file(struct input *input, const struct timeline_options *options, const char *path,
                      struct stream_folder *folder)
{
    struct pug_outfile *file;
    if (pug_outfile_open_any(path, &file) != PUG_OK) {
        message_say("pugmark: %s: %s\n", path, strerror(errno));
        return EXIT_INPUT;
    }
    struct pug_sink sink = pug_outfile_sink(file);
    int code = write_slices(input, options, &sink, folder);
    if (input_unsound(input) || code == EXIT_INPUT) {
        pug_outfile_abandon(file);
        code = EXIT_INPUT;
    } else if (pug_outfile_commit(file) != PUG_OK && errno != EPIPE) {
        message_say("pugmark: cannot write the output: %s\n", strerror(errno));
        code = EXIT_INPUT;
    }
    return code;
}

static int write_folder(struct input *input, const struct timeline_options *options)
{
    struct stream_folder folder = {.target = options->output};
    char metadata[4096];
    if (!stream_folder_make(&folder))
        return EXIT_INPUT;
    snprintf(metadata, sizeof(metadata), "%s/metadata", folder.path);
    return stream_folder_end(&folder, write_file(input, options, metadata, &folder));
}

static int run(const struct command *self, int argc, char **argv)
{
    struct timeline_options options = {0};
    const struct option_set sets[] = {OPTION_SET(table, &options),
                                      CAPTURE_OPTIONS(&options.capture),
                                      INPUT_OPTIONS(&options.input)};
    int code = command_start(self, argc, argv, sets, 3, 1);
    struct input input;
    if (code >= 0)
        return code;
    if (options.exact && (options.clock == SLICES_CYCLES || options.clock == SLICES_INSTRUCTIONS)) {
        message_say("pugmark: --exact is of times; the --clock that was asked for counts\n");
        return EXIT_USAGE;
    }
    if (options.form == PUG_TIMELINE_CTF && !options.output) {
        message_say("pugmark: --format ctf needs --output, a folder that is not there yet\n");
        return EXIT_USAGE;
    }
    if (options.form == PUG_TIMELINE_PERFETTO && !terminal_may_have(options.output, "binary data"))
        return EXIT_USAGE;
    options.input.threads_later = true;
    if (!input_open(&input, &options.input, argv[1]))
        return input.failure;
    code = options.form == PUG_TIMELINE_CTF
               ? write_folder(&input, &options)
               : write_file(&input, &options, options.output ? options.output : "-",
                            &(struct stream_folder){0});
    input_close(&input);
    return code;
}

const struct command command_timeline = {
    .name = "timeline",
    .operands = "INPUT",
    .summary = "calls over time, for Perfetto, chrome://tracing, speedscope or babeltrace",
    .run = run,
    .task = TASK_FOLLOW,
    .purpose = "Writes the calls of every source and thread as a timeline that a viewer opens: "
               "ui.perfetto.dev, chrome://tracing, speedscope, or Trace Compass and babeltrace.",
    .examples =
        {
            {"pugmark timeline -o run.pftrace examples/crash --elf examples/crash/crash",
             "for ui.perfetto.dev"},
            {"pugmark timeline --format speedscope -o run.json examples/crash --elf "
             "examples/crash/crash",
             "for speedscope.app"},
            {"pugmark timeline --format ctf -o run.ctf examples/crash --elf examples/crash/crash",
             "a folder for babeltrace2 and Trace Compass"},
        },
};
