// SPDX-License-Identifier: MIT
/**
 * @file pugmark timeline: calls as slices over time, a track for each thread (or source) and each
 * processor, with exceptions, software trace and losses, in the formats that viewers read.
 */
#include "timeline/timeline.h"

#include "common/command.h"
#include "common/messages.h"
#include "common/progress.h"
#include "common/terminal.h"
#include "files/outfile.h"
#include "input/capture_options.h"
#include "input/stream_folder.h"
#include "slices_words.h"
#include "swo/swo_doubts.h"
#include "text/sink.h"
#include "threads/kernel_words.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct timeline_options {
    struct input_options input;
    struct capture_options capture;
    const char *format;
    enum pug_timeline_clock clock;
    const char *output;
    uint64_t least, depth;
    bool exact;
};

static bool take_form(const struct option *option, void *target, const char *argument)
{
    const struct pug_timeline_format *format;
    for (size_t n = 0; (format = pug_timeline_format_at(n)) != NULL; n++) {
        if (strcmp(argument, format->name) == 0) {
            *(const char **)target = format->name;
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
            *(enum pug_timeline_clock *)target = (enum pug_timeline_clock)i;
            return true;
        }
    }
    return option_refuse(option, argument,
                         "there are auto, time, cycles, instructions, or HZ of the core: a number");
}

static const struct option table[] = {
    {"format", "perfetto|chrome|speedscope|ctf",
     "perfetto (default), chrome, speedscope or ctf (a folder)", take_form,
     offsetof(struct timeline_options, format)},
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

static void say_gap(enum pug_call_gap gap, uint64_t times)
{
    if (times)
        message_say("; %s: %" PRIu64 " times", pug_call_gap_name(gap), times);
}

static void say_numbers(const struct pug_timeline_result *result, bool quiet)
{
    if (quiet)
        return;
    message_say("pugmark: %" PRIu64 " calls", result->calls);
    if (result->handlers)
        message_say(", %" PRIu64 " interrupts", result->handlers);
    if (result->left_out)
        message_say(", %" PRIu64 " others left out", result->left_out);
    if (result->estimated)
        message_say(", %" PRIu64 " with estimated times", result->estimated);
    say_gap(PUG_GAP_LOST, result->lost);
    say_gap(PUG_GAP_UNKNOWN, result->unknown);
    say_gap(PUG_GAP_UNTRACED, result->untraced);
    message_say("\n");
    slices_tell(result->out_of_order, result->estimated, result->calls, false);
}

/** Is the clock that was asked for there? False, having said so: all its times are 0. */
static bool has_clock(enum pug_timeline_clock clock, const struct pug_timeline_result *result)
{
    const char *missing =
        clock == PUG_TIMELINE_TIME && !result->has_times      ? "time: it has no timestamps"
        : clock == PUG_TIMELINE_CYCLES && !result->has_cycles ? "cycles: it has no counts of them"
                                                              : NULL;
    if (missing)
        message_say("pugmark: --clock %s, and all times are 0\n", missing);
    return !missing;
}

/** Where the bytes of a timeline go. */
struct target {
    struct pug_sink *sink;
    struct stream_folder *folder;
};

static void put(void *context, const void *bytes, size_t size)
{
    const struct target *target = context;
    pug_sink_put(target->sink, bytes, size);
}

static bool append(void *context, uint32_t number, const void *bytes, size_t size)
{
    const struct target *target = context;
    return stream_folder_append(target->folder, number, bytes, size);
}

/** Decodes with progress; false: no memory for names. */
static bool decode(struct input *input, const struct timeline_options *options,
                   struct target *target, struct pug_timeline_result *result)
{
    struct pug_names *names = capture_names(&options->input, &options->capture);
    struct progress progress = progress_begin(input_bytes(input), options->input.quiet, NULL);
    struct pug_capture_selection selection = input->lists.selection;
    selection.tid_count = options->input.tids.count; /* also where decoding finds threads */
    selection.comm_count = options->input.comms.count;
    const struct pug_timeline_options how = {.format = options->format,
                                             .names = names,
                                             .rtos = options->capture.rtos,
                                             .clock = options->clock,
                                             .least = options->least,
                                             .depth = options->depth,
                                             .exact = options->exact,
                                             .threads = input_jobs(input),
                                             .selection = &selection,
                                             .progress = progress_show,
                                             .progress_context = &progress,
                                             .put = put,
                                             .append = append,
                                             .context = target};
    if (names)
        (void)pug_timeline_run(input->capture, &how, kernel_tell, NULL, result);
    const int reason = errno;
    progress_end(&progress);
    capture_names_end(names);
    errno = reason;
    return names != NULL;
}

/** Everything into the sink; an exit code. */
static int write_slices(struct input *input, const struct timeline_options *options,
                        struct pug_sink *sink, struct stream_folder *folder)
{
    struct target target = {.sink = sink, .folder = folder};
    struct pug_timeline_result result = {.status = PUG_ERR_MEM};
    const bool decoded = decode(input, options, &target, &result);
    const int reason = folder->error ? folder->error : errno;
    int code = input_concluded(input, result.status, &result.decoded);
    if (result.status == PUG_OK && !has_clock(options->clock, &result) && code == EXIT_DONE)
        code = EXIT_TRACE_ERRORS;
    if (result.written != PUG_OK) {
        message_say("pugmark: cannot write the timeline: %s\n",
                    result.written == PUG_ERR_FILE ? strerror(reason)
                                                   : pug_status_text(result.written));
        code = EXIT_INPUT;
    }
    if (decoded) {
        say_numbers(&result, options->input.quiet);
        swo_doubts_tell(input->capture, result.tick, options->input.quiet);
    }
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
    struct timeline_options options = {.format = "perfetto"};
    const struct option_set sets[] = {OPTION_SET(table, &options),
                                      CAPTURE_OPTIONS(&options.capture),
                                      INPUT_OPTIONS(&options.input)};
    int code = command_start(self, argc, argv, sets, 3, 1);
    struct input input;
    if (code >= 0)
        return code;
    if (options.exact &&
        (options.clock == PUG_TIMELINE_CYCLES || options.clock == PUG_TIMELINE_INSTRUCTIONS)) {
        message_say("pugmark: --exact is of times; the --clock that was asked for counts\n");
        return EXIT_USAGE;
    }
    const bool folder = strcmp(options.format, "ctf") == 0;
    if (folder && !options.output) {
        message_say("pugmark: --format ctf needs --output, a folder that is not there yet\n");
        return EXIT_USAGE;
    }
    if (strcmp(options.format, "perfetto") == 0 &&
        !terminal_may_have(options.output, "binary data"))
        return EXIT_USAGE;
    options.input.threads_later = true;
    if (!input_open(&input, &options.input, argv[1]))
        return input.failure;
    code = folder ? write_folder(&input, &options)
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
