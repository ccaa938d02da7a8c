// SPDX-License-Identifier: MIT
/**
 * @file pugmark trace: what happened, for a reader: each instruction with its place in the source
 * and what became of it, indented by calls; all of it, or the way to some place.
 */
#include "capture/capture.h"
#include "common/command.h"
#include "common/messages.h"
#include "common/pager.h"
#include "common/progress.h"
#include "common/sandbox.h"
#include "common/terminal.h"
#include "input/capture_options.h"
#include "input/input_lists.h"
#include "input/live_input.h"
#include "items/places.h"
#include "swo/swo_clocks.h"
#include "trace_near.h"
#include "trace_text.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct trace_options {
    struct input_options input;
    struct capture_options capture;
    struct option_value last, around;
    enum trace_unit unit;
    const char *before, *from_time, *format, *colour;
    bool ranges, mangled, no_pager, whole;
};

static bool take_unit(const struct option *option, void *target, const char *argument)
{
    static const char *const names[] = {"instructions", "branches", "calls"};
    for (unsigned i = 0; i < 3; i++) {
        if (strcmp(argument, names[i]) == 0) {
            *(enum trace_unit *)target = (enum trace_unit)i;
            return true;
        }
    }
    return option_refuse(option, argument, "there are instructions, branches, calls");
}

static bool take_format(const struct option *option, void *target, const char *argument)
{
    if (strcmp(argument, "text") != 0 && strcmp(argument, "jsonl") != 0)
        return option_refuse(option, argument, "no format; there are text, jsonl");
    return option_string(option, target, argument);
}

static bool take_colour(const struct option *option, void *target, const char *argument)
{
    if (strcmp(argument, "auto") != 0 && strcmp(argument, "always") != 0 &&
        strcmp(argument, "never") != 0)
        return option_refuse(option, argument, "there are auto, always, never");
    return option_string(option, target, argument);
}

static const struct option table[] = {
    {"last", "N", "only the last N instructions (or --unit) before the end, or --before",
     option_some_given, offsetof(struct trace_options, last)},
    {"before", "exception|event|ADDRESS",
     "with --last: before the last of these; a function, FILE:LINE or a number", option_string,
     offsetof(struct trace_options, before)},
    {"around", "OFFSET", "50 (or --last) before and behind this trace offset", option_given,
     offsetof(struct trace_options, around)},
    {"from-time", "TIME", "from then on: seconds.fraction, or a number in the unit that info names",
     option_string, offsetof(struct trace_options, from_time)},
    {"unit", "instructions|branches|calls",
     "what --last counts: instructions (default), branches, calls", take_unit,
     offsetof(struct trace_options, unit)},
    {"whole", NULL, "decode all of a long trace, also where its end alone tells what is wanted",
     option_flag, offsetof(struct trace_options, whole)},
    {"ranges", NULL, "a line for each range of instructions, not for each of them", option_flag,
     offsetof(struct trace_options, ranges)},
    {"mangled", NULL, "names as the linker knows them", option_flag,
     offsetof(struct trace_options, mangled)},
    {"format", "text|jsonl", "text (default) or jsonl", take_format,
     offsetof(struct trace_options, format)},
    {"color", "auto|always|never", "auto (default), always, never", take_colour,
     offsetof(struct trace_options, colour)},
    {"no-pager", NULL, "straight to standard output, also on a terminal", option_flag,
     offsetof(struct trace_options, no_pager)},
};

/** Chooses the event that the window ends with; false, having said why. */
static bool choose(const struct trace_options *options, struct trace_wanted *wanted)
{
    *wanted = (struct trace_wanted){.unit = options->unit};
    struct trace_window_limits *limits = &wanted->limits;
    limits->before = options->last.given ? options->last.value : 50;
    limits->all = !options->last.given && !options->around.given && !options->before;
    limits->until_wanted = options->around.given || options->before;
    if (options->unit != TRACE_INSTRUCTIONS && limits->all) {
        message_say("pugmark: --unit says what --last, --around or --before count\n");
        return false;
    }
    if ((options->around.given && options->before) || (options->from_time && !limits->all)) {
        message_say("pugmark: %s exclude each other\n",
                    options->from_time ? "--from-time and --last, --around, --before"
                                       : "--around and --before");
        return false;
    }
    if (options->around.given) {
        wanted->end = TRACE_END_OFFSET;
        wanted->value = options->around.value;
        limits->after = limits->before;
        limits->first = true;
    } else if (options->before && strcmp(options->before, "exception") == 0) {
        wanted->end = TRACE_END_EXCEPTION;
    } else if (options->before && strcmp(options->before, "event") == 0) {
        wanted->end = TRACE_END_EVENT;
    } else if (options->before) {
        wanted->end = TRACE_END_ADDRESS;
    }
    return true;
}

/**
 * When printing begins, by the timestamps of each task: for captures that have no times of their
 * own.
 */
struct since {
    bool waits;
    uint64_t time;
    bool *begun; /* by task */
    uint32_t count;
    bool any;
    struct pug_capture *capture;
    struct swo_clocks clocks; /* of ITMs */
};

struct printing {
    struct trace_text *text;
    struct pager *pager;
    struct since since;
    bool failed;
};

static bool tells_time(struct since *since, const struct trace_item *item, uint64_t *time)
{
    *time = item->element.timestamp;
    return item->element.type == PUG_ELEM_TIMESTAMP ||
           swo_clocks_take(&since->clocks, since->capture, item->where, &item->element, time);
}

/** Is this item late enough? *failed: no memory. */
static bool has_begun(struct since *since, const struct trace_item *item, bool *failed)
{
    const uint32_t task = pug_places_task(item);
    uint64_t time;
    if (task >= since->count) {
        const uint32_t count = task + task / 2 + 16;
        bool *begun = realloc(since->begun, count * sizeof(*begun));
        *failed |= !begun;
        if (!begun)
            return false;
        memset(begun + since->count, 0, (count - since->count) * sizeof(*begun));
        since->begun = begun;
        since->count = count;
    }
    if (tells_time(since, item, &time) && time >= since->time)
        since->begun[task] = true;
    return since->begun[task];
}

/**
 * The value of --from-time: a time of a capture that dates events, or one of the trace's own
 * timestamps, from whose lines on everything is printed. False: it is no time.
 */
static bool take_from_time(struct input *input, const char *words, struct since *since)
{
    struct pug_capture_selection *selection = &input->lists.selection;
    if (!words)
        return true;
    since->waits = !pug_places_have_times(input->capture);
    if (since->waits)
        return input_lists_timestamp(input->capture, "--from-time", words, false, &since->time);
    selection->has_from = true;
    return input_lists_one_time("--from-time", words, pug_capture_times(input->capture).unit,
                                &selection->from);
}

static bool print(void *context, const struct trace_item *item)
{
    struct printing *printing = context;
    if (printing->since.waits && !has_begun(&printing->since, item, &printing->failed))
        return !printing->failed;
    printing->since.any = true;
    printing->failed |= !trace_text_print(printing->text, item);
    return !printing->failed && pager_wanted(printing->pager);
}

/** The printed part of a stream goes out at once. */
static bool flush(void *context, uint64_t done)
{
    const struct printing *printing = context;
    (void)done;
    pager_flush(printing->pager);
    return pager_wanted(printing->pager);
}

static int decode(struct input *input, const struct trace_options *options,
                  struct trace_parts *parts)
{
    struct progress progress =
        progress_begin(input_bytes(input), options->input.quiet || parts->wanted->limits.all, NULL);
    const bool by_time = parts->wanted->end != TRACE_END_OFFSET;
    struct pug_capture_decode wanted = {.threads = input_jobs(input),
                                        .selection = &input->lists.selection,
                                        .progress = progress_show,
                                        .progress_context = &progress,
                                        .log = input->log};
    struct pug_consumer list[2];
    struct pug_capture_result result;
    enum pug_status status;
    const bool live = pug_capture_is_live(input->capture);
    parts->wants = PUG_WANTS_EACH_TIME | (by_time ? PUG_WANTS_BY_TIME : 0u) |
                   (pug_places_have_times(input->capture) ? PUG_WANTS_TIMES : 0u);
    if (live) {
        wanted.progress = flush;
        wanted.progress_context = parts->print_context;
    }
    if (options->whole || live || (by_time && pug_capture_has_sides(input->capture)) ||
        !trace_near(parts, &wanted, input_bytes(input), &status, &result)) {
        pug_trace_parts_decode(parts, &wanted);
        list[0] = *wanted.consumers;
        wanted.consumer_count += live_consumer(&list[1]);
        wanted.consumers = list;
        status = pug_capture_decode(input->capture, &wanted, &result);
    }
    progress_end(&progress);
    if (status == PUG_OK && parts->failed)
        status = PUG_ERR_MEM;
    return input_concluded(input, status, &result);
}

static void say_nothing_found(const struct trace_options *options,
                              const struct trace_wanted *wanted)
{
    static const char *const ends[] = {[TRACE_END_OF_TRACE] = "",
                                       [TRACE_END_EXCEPTION] = "exception",
                                       [TRACE_END_EVENT] = "event"};
    if (wanted->end == TRACE_END_ADDRESS)
        message_say("pugmark: nothing ran at %s\n", options->before);
    else if (wanted->end == TRACE_END_OFFSET)
        message_say("pugmark: the trace does not come to offset %" PRIu64 "\n", wanted->value);
    else
        message_say("pugmark: there is no %s in it\n", ends[wanted->end]);
}

/** A window is made of whole ranges: of the first one only its last instructions may be meant. */
static void cut_first(struct trace_item *first, const struct trace_wanted *wanted)
{
    uint64_t weight = 0;
    for (const struct trace_item *item = first; item; item = item->next) {
        weight += item->weight;
        if (item->wanted && wanted->end == TRACE_END_OFFSET)
            break;
    }
    if (first && wanted->unit == TRACE_INSTRUCTIONS && weight > wanted->limits.before &&
        weight - wanted->limits.before < first->weight)
        first->skip = (uint32_t)(weight - wanted->limits.before);
}

static int trace(struct input *input, struct pug_names *names, const struct trace_options *options,
                 const struct trace_wanted *wanted)
{
    struct since since = {.capture = input->capture};
    if (!take_from_time(input, options->from_time, &since))
        return EXIT_USAGE;
    struct pager *pager = pager_open(options->no_pager || options->input.sandbox);
    if (!pager)
        return EXIT_FATAL;
    struct pug_sink sink = pager_sink(pager);
    const bool json = options->format && strcmp(options->format, "jsonl") == 0;
    const bool colour = options->colour && strcmp(options->colour, "always") == 0;
    const bool may = !options->colour || strcmp(options->colour, "auto") == 0;
    const struct trace_text_options how = {
        .json = json,
        .colour = !json && (colour || (may && pager_colour(pager))),
        .instructions = !options->ranges,
        .mangled = options->mangled,
        .columns = terminal_is(stdout) ? terminal_width(stdout) : 0,
        .sink = &sink,
        .capture = input->capture,
        .names = names};
    struct printing printing = {.text = trace_text_new(&how), .pager = pager, .since = since};
    struct trace_parts parts = {
        .capture = input->capture, .wanted = wanted, .print = print, .print_context = &printing};
    int code = printing.text ? decode(input, options, &parts) : EXIT_FATAL;
    struct trace_item *item = pug_trace_window_items(&parts.window);
    cut_first(item, wanted);
    for (; item && !printing.failed && pager_wanted(pager); item = item->next)
        print(&printing, item);
    if (wanted->limits.until_wanted && !parts.window.found) {
        say_nothing_found(options, wanted);
        code = code == EXIT_DONE ? EXIT_TRACE_ERRORS : code;
    }
    if (options->from_time && !printing.since.any) {
        message_say("pugmark: nothing has a timestamp of %s or later\n", options->from_time);
        code = code == EXIT_DONE ? EXIT_TRACE_ERRORS : code;
    }
    printing.failed |= pug_names_status(names) == PUG_ERR_MEM;
    free(printing.since.begun);
    swo_clocks_free(&printing.since.clocks);
    pug_trace_parts_clear(&parts);
    const char *lack = printing.text ? trace_text_lack(printing.text) : NULL;
    trace_text_free(printing.text);
    int closed = pager_close(pager);
    if (!printing.text || printing.failed)
        message_say("pugmark: out of memory\n");
    if (lack && !options->input.quiet)
        message_say("pugmark: %s\n", lack);
    return printing.failed ? EXIT_FATAL : closed != EXIT_DONE ? closed : code;
}

static int run(const struct command *self, int argc, char **argv)
{
    struct trace_options options = {0};
    const struct option_set sets[] = {OPTION_SET(table, &options),
                                      CAPTURE_OPTIONS(&options.capture),
                                      INPUT_OPTIONS(&options.input)};
    int code = command_start(self, argc, argv, sets, 3, 1);
    struct trace_wanted wanted;
    struct input input;
    if (code >= 0)
        return code;
    if (!choose(&options, &wanted))
        return EXIT_USAGE;
    sandbox_allow_index();
    if (pager_starts(options.no_pager || options.input.sandbox))
        sandbox_waive();
    if (!input_open(&input, &options.input, argv[1]))
        return input.failure;
    struct pug_names *names = capture_names(&options.input, &options.capture);
    const bool found = !names || wanted.end != TRACE_END_ADDRESS ||
                       address_find(&input, names, "--before", options.before, &wanted.addresses);
    code = !names ? EXIT_FATAL : found ? trace(&input, names, &options, &wanted) : EXIT_USAGE;
    capture_names_end(names);
    input_close(&input);
    return code;
}

const struct command command_trace = {
    .name = "trace",
    .operands = "INPUT",
    .summary = "what happened: each instruction with its source, outcome and depth of calls",
    .run = run,
    .task = TASK_FOLLOW,
    .purpose = "Shows what happened, for a reader: each instruction with its source line and "
               "outcome, indented by calls. With --last it answers \"how did I get here\".",
    .examples =
        {
            {"pugmark trace --last 50 examples/crash --elf examples/crash/crash",
             "the last 50 instructions of the run"},
            {"pugmark trace --last 20 --before exception examples/crash --elf examples/crash/crash",
             "the way to the last exception"},
            {"pugmark trace --last 5 --unit calls examples/crash --elf examples/crash/crash",
             "the last five calls"},
        },
};
