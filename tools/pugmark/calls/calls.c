// SPDX-License-Identifier: MIT
/**
 * @file pugmark calls: the functions that ran, as a tree, with the times that the trace has.
 *
 *     SRC         TIME         TOOK        INSNS  CALLS
 *      01                                         [times are in ticks]
 *      01          303                            main() {
 *      01          346          118           26    f0();
 *      01          467          164           40  }
 *
 * A function that calls none is one line; others have a line where they begin and one where they
 * end. With --summary each path of calls is one line, however often it was gone.
 */
#include "calls_lines.h"
#include "calls_paths.h"
#include "common/command.h"
#include "common/order.h"
#include "common/output.h"
#include "common/thread_clock.h"
#include "handlers_by_time.h"
#include "input/capture_options.h"
#include "input/input.h"
#include "items/parts.h"
#include "items/places.h"
#include "list/by_time.h"
#include "swo/interrupts.h"
#include "threads/kernel_words.h"
#include "times_command.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct calls_options {
    struct input_options input;
    struct capture_options names;
    const char *by, *histogram;
    struct option_value rows;
    bool summary, by_time, running, interrupts, json, csv;
};

static bool take_by(const struct option *option, void *target, const char *argument)
{
    if (strcmp(argument, "path") != 0 && strcmp(argument, "function") != 0 &&
        strcmp(argument, "caller") != 0)
        return option_refuse(option, argument, "expected path, function or caller");
    return option_string(option, target, argument);
}

static const struct option table[] = {
    {"by", "path|function|caller",
     "of --summary: path (default); function, caller: shortest, mean, longest, own …", take_by,
     offsetof(struct calls_options, by)},
    {"by-time", NULL, "calls of all buffers and sources in the order of time", option_flag,
     offsetof(struct calls_options, by_time)},
    {"csv", NULL, "tables of --by and --histogram as CSV", option_flag,
     offsetof(struct calls_options, csv)},
    {"histogram", "FUNCTION", "how long calls of FUNCTION took: how many of each length",
     option_string, offsetof(struct calls_options, histogram)},
    {"interrupts", NULL, "a table of interrupts instead, by the exception trace of a DWT",
     option_flag, offsetof(struct calls_options, interrupts)},
    {"json", NULL, "tables as lines of JSON: of --interrupts, --by, --histogram", option_flag,
     offsetof(struct calls_options, json)},
    {"rows", "N", "of --by: so many rows; 0: all (default 40)", option_given,
     offsetof(struct calls_options, rows)},
    {"running", NULL, "leave out of times what passed while a thread was not traced: switched out",
     option_flag, offsetof(struct calls_options, running)},
    {"summary", NULL, "one line for each path of calls: how often, time in all, own time",
     option_flag, offsetof(struct calls_options, summary)},
};

/** A source, or with --by-time a stream, and what is printed of it. */
struct followed {
    uint32_t task;
    const struct places *places; /* where its addresses are in files; or NULL */
    char label[80];              /* in front of its lines */
    uint8_t unit;                /* enum pug_time_unit: the one that was printed */
    bool held;               /* the line of the top frame is not printed yet: it may be a leaf's */
    struct call_paths paths; /* of the summary */
};

struct calls {
    const struct input *input; /* NULL: by time, then these */
    struct input *capture;
    struct pug_correlate *correlate;
    struct pug_tree **trees; /* of the buffers: their images name functions */
    struct handlers_by_time *handlers;
    struct places *places;        /* of tasks, where these are followed; else NULL */
    struct thread_clocks *clocks; /* in place of the trace's times, or NULL */
    struct thread_stage *threads; /* of a kernel, or NULL */
    struct pug_calls *stacks;
    bool summary;
    struct followed **sources;
    size_t count;
    struct followed **of_tasks; /* by number, where tasks are followed */
    size_t tasks;
    bool failed;
};

/* ---- sources ---- */

/** "10", and where there are several buffers "ETB_0 10". */
static void make_label(const struct calls *calls, struct followed *followed)
{
    struct pug_correlate_stream stream;
    snprintf(followed->label, sizeof(followed->label), "%02" PRIx32, followed->task);
    const struct pug_capture_task *task =
        calls->places ? pug_capture_task_at(calls->capture->capture, followed->task) : NULL;
    if (task && pug_capture_kind(calls->capture->capture) != PUG_CAPTURE_PERF)
        snprintf(followed->label, sizeof(followed->label), "%.64s", task->comm);
    else if (task)
        snprintf(followed->label, sizeof(followed->label), "%" PRId32 " %.64s", task->tid,
                 task->comm);
    if (!calls->correlate || !pug_correlate_stream(calls->correlate, followed->task, &stream))
        return;
    const struct pug_capture_buffer *buffer =
        pug_capture_buffer_at(calls->capture->capture, stream.buffer);
    snprintf(followed->label, sizeof(followed->label), "%-.64s %02x",
             buffer && buffer->name ? buffer->name : "", stream.source);
}

/** Tasks can be thousands; sources and streams are few. */
static bool count_tasks(struct calls *calls)
{
    while (pug_capture_task_at(calls->capture->capture, calls->tasks))
        calls->tasks++;
    calls->of_tasks = calloc(calls->tasks + 1, sizeof(*calls->of_tasks));
    return calls->of_tasks != NULL;
}

static struct followed *find_source(struct calls *calls, uint32_t task)
{
    if (task < calls->tasks && calls->of_tasks[task])
        return calls->of_tasks[task];
    for (size_t i = 0; task >= calls->tasks && i < calls->count; i++)
        if (calls->sources[i]->task == task)
            return calls->sources[i];
    struct followed **grown =
        realloc(calls->sources, (calls->count + 1) * sizeof(struct followed *));
    struct followed *followed = calloc(1, sizeof(*followed));
    if (grown)
        calls->sources = grown;
    if (!grown || !followed) {
        free(followed);
        calls->failed = true;
        return NULL;
    }
    followed->task = task;
    followed->places = calls->places;
    make_label(calls, followed);
    calls->sources[calls->count++] = followed;
    if (task < calls->tasks)
        calls->of_tasks[task] = followed;
    return followed;
}

/* ---- lines ---- */

/** The columns in front of the tree, and the indentation. Times may be NULL. */
static void begin_line(const struct followed *followed, const uint64_t *time, const uint64_t *took,
                       const uint64_t *ran, uint32_t depth)
{
    pug_sink_text(output_sink(), "  ");
    pug_sink_printable(output_sink(), followed->label);
    calls_put_number(time, time ? *time : 0);
    calls_put_number(took, took ? *took : 0);
    calls_put_number(ran, ran ? *ran : 0);
    calls_put_indent(depth);
}

/** Was the time known when the frame was entered? */
static bool is_timed(const struct followed *followed, const struct pug_call_frame *frame)
{
    return followed->unit == PUG_TIME_CYCLES || (followed->unit == PUG_TIME_TICKS && frame->timed);
}

/** The frame's name; of code without one by where it begins in its file. */
static void print_name(const struct followed *followed, const struct pug_call_frame *frame)
{
    uint64_t vaddr;
    if (!followed->places ||
        !pug_places_vaddr(followed->places, followed->task, frame->function.start, &vaddr))
        vaddr = frame->function.start;
    calls_put_name(frame, vaddr);
}

static void print_begin(struct followed *followed, const struct pug_call_frame *frame,
                        uint32_t depth)
{
    uint64_t time = pug_call_time(&frame->entered, followed->unit);
    begin_line(followed, is_timed(followed, frame) ? &time : NULL, NULL, NULL, depth);
    print_name(followed, frame);
    pug_sink_text(output_sink(), frame->resumed    ? " {  /* goes on */\n"
                                 : frame->doubtful ? " {  /* some thread: which is not known */\n"
                                                   : " {\n");
    followed->held = false;
}

static void print_unit(struct followed *followed, enum pug_time_unit unit, bool running)
{
    followed->unit = (uint8_t)unit;
    begin_line(followed, NULL, NULL, NULL, 0);
    output_text("[times are in %s%s]\n", pug_time_unit_name(unit),
                running && unit == PUG_TIME_TICKS ? " while it runs" : "");
}

/** By time each has a line of its own: another source's may come before it is left. */
static void print_enter(struct followed *followed, const struct pug_call_event *event, bool by_time)
{
    if (followed->held)
        print_begin(followed, event->frame - 1, event->depth - 1);
    followed->held = !by_time;
    if (by_time)
        print_begin(followed, event->frame, event->depth);
}

static void print_leave(struct followed *followed, const struct pug_call_event *event)
{
    const struct pug_call_frame *frame = event->frame;
    if (followed->held && (frame->resumed || frame->doubtful))
        print_begin(followed, frame, event->depth);
    uint64_t took = pug_call_time(&event->took, followed->unit);
    uint64_t time = pug_call_time(followed->held ? &frame->entered : &event->now, followed->unit);
    bool known = followed->held ? is_timed(followed, frame) : followed->unit != PUG_TIME_NONE;
    begin_line(followed, known ? &time : NULL, followed->unit != PUG_TIME_NONE ? &took : NULL,
               &event->took.instructions, event->depth);
    if (followed->held)
        print_name(followed, frame);
    pug_sink_text(output_sink(), followed->held ? ";" : "}");
    pug_sink_text(output_sink(), event->ended      ? "  /* the trace ends in it */\n"
                                 : event->switched ? "  /* another thread runs */\n"
                                                   : "\n");
    followed->held = false;
}

static void print_gap(struct followed *followed, const struct pug_call_event *event)
{
    uint64_t time = pug_call_time(&event->now, followed->unit);
    if (followed->held)
        print_begin(followed, event->frame, event->depth);
    begin_line(followed, followed->unit != PUG_TIME_NONE ? &time : NULL, NULL, NULL,
               event->depth + 1);
    output_text("/* %s */\n", pug_call_gap_name((enum pug_call_gap)event->gap));
}

static void on_call(void *context, const struct pug_call_event *event)
{
    struct calls *calls = context;
    struct followed *followed = find_source(calls, event->task);
    if (!followed)
        return;
    if (event->unit != followed->unit)
        print_unit(followed, event->unit, calls->clocks != NULL);
    switch (event->kind) {
    case PUG_CALL_ENTER: print_enter(followed, event, calls->correlate != NULL); break;
    case PUG_CALL_LEAVE: print_leave(followed, event); break;
    case PUG_CALL_GAP: print_gap(followed, event); break;
    }
}

static void on_summed_call(void *context, const struct pug_call_event *event)
{
    struct followed *followed = find_source(context, event->task);
    if (!followed)
        return;
    followed->unit = event->unit;
    call_paths_take(&followed->paths, event);
}

/* ---- the command ---- */

static enum pug_response on_elements(void *context, const struct pug_element *elements,
                                     size_t count, size_t *taken)
{
    struct calls *calls = context;
    (void)taken;
    for (size_t i = 0, end; i < count && !calls->failed; i = end) {
        const uint16_t source = elements[i].source;
        for (end = i + 1; end < count && elements[end].source == source;)
            end++;
        if (input_wants(calls->input, source) &&
            pug_calls_take(calls->stacks, source, &elements[i], end - i) != PUG_OK)
            calls->failed = true;
    }
    return PUG_RESP_CONT;
}

/** Print the title of a source's column of times: "TIME/ticks". */
static void print_summary_head(enum pug_time_unit unit)
{
    char time[32], own[32];
    const char *name = pug_time_unit_name(unit);
    snprintf(time, sizeof(time), "TIME%s%s", *name ? "/" : "", name);
    snprintf(own, sizeof(own), "OWN%s%s", *name ? "/" : " TIME", name);
    output_text(" SRC %12s %12s %12s %12s  %s\n", "CALLS", time, own, "INSNS", "PATH");
}

static int out_of_memory(void)
{
    message_say("pugmark: out of memory\n");
    return EXIT_FATAL;
}

/** Print what was summed up, and forget it; the exit code, which was `code` until here. */
static int finish(struct calls *calls, int code)
{
    const bool failed = calls->failed;
    uint8_t unit = UINT8_MAX;
    for (size_t i = 0; i < calls->count; i++) {
        struct followed *followed = calls->sources[i];
        if (calls->summary && followed->unit != unit)
            print_summary_head(unit = followed->unit);
        if (calls->summary)
            calls->failed |= !call_paths_print(&followed->paths, followed->label, followed->unit);
        free(followed);
    }
    free(calls->sources);
    free(calls->of_tasks);
    return calls->failed && !failed ? out_of_memory() : code;
}

/** The function at an address, as the image of the stream's buffer has it. */
static bool locate(void *context, uint32_t task, const struct pug_element *element,
                   uint64_t address, struct pug_function *function)
{
    const struct calls *calls = context;
    struct pug_correlate_stream stream;
    struct pug_symbol symbol;
    (void)element;
    if (!pug_correlate_stream(calls->correlate, task, &stream) || !calls->trees[stream.buffer])
        return false;
    /* Trees of perf.data have none: it depends on the task. */
    const struct pug_image *image = pug_tree_image(calls->trees[stream.buffer]);
    if (!image || !pug_image_symbol(image, address, &symbol))
        return false;
    *function = (struct pug_function){
        .name = symbol.name, .start = symbol.start, .size = symbol.size, .id = stream.buffer};
    return true;
}

static bool make_stacks(struct calls *calls)
{
    void *const places = calls->places;
    const struct pug_calls_config config = {.image = calls->input ? calls->input->image : NULL,
                                            .locate = places         ? pug_places_locate
                                                      : calls->input ? NULL
                                                                     : locate,
                                            .locate_context = places ? places : calls,
                                            .event = calls->summary ? on_summed_call : on_call,
                                            .event_context = calls};
    if (pug_calls_new(&config, &calls->stacks) == PUG_OK)
        return true;
    (void)out_of_memory();
    return false;
}

static void print_head(const struct calls *calls)
{
    if (!calls->summary)
        output_text(" SRC %12s %12s %12s  %s\n", "TIME", "TOOK", "INSNS", "CALLS");
}

/* ---- by time ---- */

static bool on_correlated(void *context, const struct pug_correlated *elements, size_t count)
{
    struct calls *calls = context;
    for (size_t i = 0; i < count && !calls->failed; i++)
        calls->failed =
            pug_calls_take(calls->stacks, elements[i].stream, &elements[i].element, 1) != PUG_OK ||
            (calls->handlers && !handlers_by_time_take(calls->handlers, &elements[i]));
    return !calls->failed && output_wanted();
}

/** Of the calls that a summary adds up handlers are none. */
static bool make_handlers(struct calls *calls)
{
    if (!calls->summary)
        calls->handlers =
            handlers_by_time_new(calls->correlate, calls->capture->capture, calls->trees);
    return calls->summary || calls->handlers;
}

/** A tree for each buffer, for its image; one that cannot be made has no names. */
static bool make_trees(struct calls *calls)
{
    struct pug_capture *capture = calls->capture->capture;
    const struct pug_capture_buffer *buffer;
    size_t count = 0;
    while (pug_capture_buffer_at(capture, count))
        count++;
    calls->trees = calloc(count + 1, sizeof(*calls->trees));
    for (size_t n = 0; calls->trees && (buffer = pug_capture_buffer_at(capture, n)) != NULL; n++)
        if (buffer->chosen && buffer->segment_count > 0)
            (void)pug_capture_tree(capture, buffer->first_segment, false, NULL, &calls->trees[n]);
    return calls->trees != NULL;
}

static void free_trees(struct calls *calls)
{
    for (size_t n = 0; calls->trees && pug_capture_buffer_at(calls->capture->capture, n); n++)
        pug_tree_free(calls->trees[n]);
    free(calls->trees);
}

static int calls_by_time(const struct calls_options *options, const char *operand)
{
    struct input input;
    struct calls calls = {.capture = &input, .summary = options->summary};
    const struct pug_correlate_config config = {.give = on_correlated, .context = &calls};
    if (!input_open(&input, &options->input, operand))
        return input.failure;
    int code = EXIT_INPUT;
    if (pug_correlate_new(&config, &calls.correlate) == PUG_OK && make_trees(&calls) &&
        make_handlers(&calls) && make_stacks(&calls)) {
        print_head(&calls);
        code = by_time_run(&input, calls.correlate);
        pug_calls_end(calls.stacks);
        if (calls.handlers)
            handlers_by_time_end(calls.handlers);
        by_time_tell(&input, calls.correlate);
        code = calls.failed ? out_of_memory() : code;
    }
    code = finish(&calls, code);
    handlers_by_time_free(calls.handlers);
    pug_calls_free(calls.stacks);
    pug_correlate_free(calls.correlate);
    free_trees(&calls);
    input_close(&input);
    int written = output_end();
    return written ? written : code;
}

/* ---- of tasks ---- */

static bool take_item(void *context, const struct trace_item *item,
                      const struct thread_place *place)
{
    struct calls *calls = context;
    (void)place;
    struct pug_element element = item->element;
    calls->failed |= calls->clocks && !thread_clocks_take(calls->clocks, item, &element);
    if (!item->others)
        calls->failed |=
            !pug_places_follow(calls->places, item) ||
            pug_calls_take(calls->stacks, pug_places_task(item), &element, 1) != PUG_OK;
    return !calls->failed && output_wanted();
}

static bool take_decoded(void *context, const struct trace_item *item)
{
    struct calls *calls = context;
    if (calls->threads)
        return pug_thread_stage_take(calls->threads, item);
    return take_item(calls, item, NULL);
}

/** All that is selected, by the tasks that ran. */
static int follow_tasks(struct calls *calls, const struct pug_names *names)
{
    const struct trace_wanted wanted = {.limits = {.all = true}, .no_code = true};
    struct trace_parts parts = {.capture = calls->capture->capture,
                                .wanted = &wanted,
                                .print = take_decoded,
                                .print_context = calls,
                                .wants = PUG_WANTS_BY_TIME,
                                .others = calls->clocks != NULL};
    struct pug_capture_decode decode = {.threads = 0};
    struct pug_capture_result result;
    pug_trace_parts_decode(&parts, &decode);
    if (!input_decode(calls->capture, &decode, output_wanted, &result))
        return EXIT_INPUT;
    if (calls->threads)
        calls->failed |=
            !pug_thread_stage_end(calls->threads) && pug_thread_stage_failed(calls->threads);
    pug_calls_end(calls->stacks);
    order_tell(pug_places_returns(calls->places), "its calls", calls->capture->options->quiet);
    if (calls->failed || parts.failed || pug_names_status(names) == PUG_ERR_MEM)
        input_starve(calls->capture);
    return input_result(calls->capture);
}

static int calls_of_tasks(const struct calls_options *options, struct input *input)
{
    struct calls calls = {.capture = input, .summary = options->summary};
    struct pug_names *names = capture_names(&options->input, &options->names);
    int code = EXIT_FATAL;
    calls.places = names ? pug_places_new(input->capture, names) : NULL;
    if (names && !calls.places)
        input_starve(input);
    struct thread_stage_options stage = {.kernel = kernel_wanted(input, names, options->names.rtos),
                                         .give = take_item,
                                         .context = &calls};
    const bool staged = calls.places && kernel_choice(input, names, options->names.rtos) &&
                        kernel_stage(input, &stage, &calls.threads);
    if (calls.places && !staged)
        code = EXIT_USAGE;
    calls.clocks = staged && options->running ? thread_clocks_new() : NULL;
    if (staged && (!count_tasks(&calls) || (options->running && !calls.clocks)))
        input_starve(input);
    if (calls.of_tasks && (calls.clocks || !options->running) && make_stacks(&calls)) {
        print_head(&calls);
        code = follow_tasks(&calls, names);
    }
    code = finish(&calls, code);
    pug_calls_free(calls.stacks);
    thread_clocks_free(calls.clocks);
    pug_thread_stage_free(calls.threads);
    pug_places_free(calls.places);
    capture_names_end(names);
    return code;
}

static int calls_of_interrupts(struct input *input, bool json)
{
    const int code = interrupts_print(input, json, output_sink());
    input_close(input);
    const int written = output_end();
    return written ? written : code;
}

/** Are threads of a kernel to be followed? */
static bool has_threads(const struct calls_options *options, const struct input *input)
{
    struct thread_kernel found = {.kernel = NULL};
    if (options->names.rtos)
        return strcmp(options->names.rtos, "off") != 0;
    struct pug_names *names = capture_names(&options->input, &options->names);
    const struct thread_kernel_wanted wanted = kernel_wanted(input, names, NULL);
    const bool there = names && pug_thread_kernel_find(&wanted, &found) == THREAD_KERNEL_THERE;
    pug_thread_kernel_end(&found);
    capture_names_end(names);
    return there;
}

static int calls_run(const struct command *self, int argc, char **argv)
{
    struct calls_options options = {0};
    const struct option_set sets[] = {OPTION_SET(table, &options), CAPTURE_OPTIONS(&options.names),
                                      INPUT_OPTIONS(&options.input)};
    int end = command_start(self, argc, argv, sets, 3, 1);
    if (end >= 0)
        return end;
    const bool times = options.histogram || (options.by && strcmp(options.by, "path") != 0);
    if (options.json && !options.interrupts && !times) {
        message_say("pugmark: --json is of the tables that --interrupts, --by function and "
                    "--histogram print\n");
        return EXIT_USAGE;
    }
    if ((options.csv || options.rows.given) && !times) {
        message_say("pugmark: --csv and --rows are of --by function, --by caller and "
                    "--histogram\n");
        return EXIT_USAGE;
    }
    if (options.by && !options.summary) {
        message_say("pugmark: --by is of --summary\n");
        return EXIT_USAGE;
    }
    if (times && (options.by_time || options.running || options.interrupts ||
                  (options.csv && options.json))) {
        message_say("pugmark: a table of times is of all that is chosen: not with --by-time, "
                    "--running or --interrupts, and either as CSV or as JSON\n");
        return EXIT_USAGE;
    }
    if (times) {
        const struct times_options wanted = {.callers =
                                                 options.by && strcmp(options.by, "caller") == 0,
                                             .form = options.csv    ? TIMES_CSV
                                                     : options.json ? TIMES_JSON
                                                                    : TIMES_TEXT,
                                             .rows = options.rows.given ? options.rows.value
                                                     : options.csv || options.json ? 0
                                                                                   : 40,
                                             .histogram = options.histogram};
        return times_print(&options.input, &options.names, argv[1], &wanted);
    }
    if (options.by_time && options.running) {
        message_say("pugmark: --running is of threads, --by-time of sources: not both\n");
        return EXIT_USAGE;
    }
    if (options.interrupts && (options.by_time || options.running || options.summary)) {
        message_say("pugmark: --interrupts is a table of its own: not with --by-time, "
                    "--running or --summary\n");
        return EXIT_USAGE;
    }
    if (options.by_time)
        return calls_by_time(&options, argv[1]);
    struct input input;
    options.input.threads_later = true;
    if (!input_open(&input, &options.input, argv[1]))
        return input.failure;
    if (options.interrupts)
        return calls_of_interrupts(&input, options.json);
    struct calls calls = {.input = &input, .summary = options.summary};
    int code = EXIT_INPUT;
    if (pug_capture_kind(input.capture) == PUG_CAPTURE_PERF || input_selects(&input) ||
        options.running || options.input.kallsyms || options.input.tids.count > 0 ||
        options.input.comms.count > 0 || has_threads(&options, &input))
        code = calls_of_tasks(&options, &input);
    else if (input_flow_tree(&input) && make_stacks(&calls)) {
        print_head(&calls);
        input_run_elements(&input, on_elements, &calls, output_wanted);
        pug_calls_end(calls.stacks);
        code = calls.failed ? out_of_memory() : input_result(&input);
    }
    code = finish(&calls, code);
    pug_calls_free(calls.stacks);
    input_close(&input);
    int written = output_end();
    return written ? written : code;
}

const struct command command_calls = {
    .name = "calls",
    .operands = "INPUT",
    .summary = "print the functions that ran as a tree, with their times",
    .run = calls_run,
    .task = TASK_FOLLOW,
    .purpose =
        "Shows which functions ran: a tree in the order of time, with each call's start, duration "
        "and number of instructions. It needs trace of program flow and the program's ELF file.",
    .examples =
        {
            {"pugmark calls examples/crash --elf examples/crash/crash",
             "each call of the run, indented below its caller"},
            {"pugmark calls --summary examples/crash --elf examples/crash/crash",
             "one line for each path of calls: how often, total time, own time"},
            {"pugmark calls --interrupts examples/swo",
             "a table of interrupts from the exception trace of a DWT"},
        },
};
