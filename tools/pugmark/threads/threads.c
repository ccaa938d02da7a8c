// SPDX-License-Identifier: MIT
/**
 * @file pugmark threads: which threads of a kernel ran, how much, and how often they were switched
 * to. Shares are of instructions, or of cycles where the trace counts them.
 *
 *     THREAD           SHARE   INSTRUCTIONS     CYCLES   SWITCHES   LONGEST
 */
#include "common/command.h"
#include "common/messages.h"
#include "common/output.h"
#include "events/sources.h"
#include "input/capture_options.h"
#include "items/parts.h"
#include "kernel_words.h"
#include "text/json.h"
#include "threads_swo.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct threads_options {
    struct input_options input;
    struct capture_options names;
    bool switches, json, csv, kernels;
};

static bool take_format(const struct option *option, void *target, const char *argument)
{
    struct threads_options *options = target;
    options->json = strcmp(argument, "json") == 0;
    options->csv = strcmp(argument, "csv") == 0;
    return options->json || options->csv || strcmp(argument, "text") == 0 ||
           option_refuse(option, argument, "the formats are text, csv and json");
}

static const struct option table[] = {
    {"format", "FORMAT", "text (default), csv or json: a line for each thread", take_format, 0},
    {"switches", NULL, "a line for each switch instead: where in the trace, from whom, to whom",
     option_flag, offsetof(struct threads_options, switches)},
    {"kernels", NULL, "list the kernels that are known by name", option_flag,
     offsetof(struct threads_options, kernels)},
};

/** The sums of a thread. */
struct tally {
    struct thread_tally is;
    uint64_t run; /* instructions since it was switched to */
};

struct threads {
    struct input *input;
    const struct threads_options *options;
    struct thread_stage *stage;
    struct tally *tallies;                /* by core and thread: RTOS_THREADS of each core */
    struct thread_tally *handlers, *idle; /* by core */
    uint32_t *last;                       /* the thread that ran last, by core */
    uint32_t cores;
    uint64_t time;
    bool cycles, failed;
};

/* ---- counting ---- */

static bool make_core(struct threads *threads, uint32_t core)
{
    if (core < threads->cores)
        return true;
    const size_t count = core + 1;
    struct tally *tallies = realloc(threads->tallies, count * RTOS_THREADS * sizeof(*tallies));
    if (tallies)
        threads->tallies = tallies;
    struct thread_tally *handlers = realloc(threads->handlers, count * sizeof(*handlers));
    if (handlers)
        threads->handlers = handlers;
    struct thread_tally *idle = realloc(threads->idle, count * sizeof(*idle));
    if (idle)
        threads->idle = idle;
    uint32_t *last = realloc(threads->last, count * sizeof(*last));
    if (last)
        threads->last = last;
    if (!tallies || !handlers || !idle || !last) {
        threads->failed = true;
        return false;
    }
    for (size_t i = threads->cores; i < count; i++) {
        memset(&tallies[i * RTOS_THREADS], 0, RTOS_THREADS * sizeof(*tallies));
        handlers[i] = idle[i] = (struct thread_tally){0};
        last[i] = UINT32_MAX;
    }
    threads->cores = (uint32_t)count;
    return true;
}

static struct tally *tally_of(struct threads *threads, uint32_t core, uint32_t thread)
{
    return &threads->tallies[(size_t)core * RTOS_THREADS + thread];
}

static void put_switch(struct threads *threads, const struct trace_item *item,
                       const struct thread_place *place)
{
    const uint32_t from = threads->last[place->core];
    char to_name[256];
    snprintf(to_name, sizeof(to_name), "%s",
             pug_thread_stage_name(threads->stage, place->core, place->thread));
    const char *const from_name =
        from == UINT32_MAX ? "" : pug_thread_stage_name(threads->stage, place->core, from);
    threads_put_switch(item->element.index, pug_thread_stage_source(threads->stage, place->core),
                       threads->time, from_name, to_name, threads->options->json,
                       threads->options->csv);
}

/** A thread runs that did not run before. */
static void come(struct threads *threads, const struct trace_item *item,
                 const struct thread_place *place)
{
    struct tally *tally = tally_of(threads, place->core, place->thread);
    const bool ran = item->element.type == PUG_ELEM_INSTR_RANGE && item->element.count > 0;
    if (!ran || place->in_handler || place->idle || threads->last[place->core] == place->thread)
        return;
    if (threads->options->switches)
        put_switch(threads, item, place);
    threads->last[place->core] = place->thread;
    tally->is.switches++;
    tally->run = 0;
}

static bool take(void *context, const struct trace_item *item, const struct thread_place *place)
{
    struct threads *threads = context;
    const struct pug_element *e = &item->element;
    if (e->type == PUG_ELEM_TIMESTAMP)
        threads->time = e->timestamp;
    if (!place->known || item->others || !make_core(threads, place->core))
        return !threads->failed && output_wanted();
    come(threads, item, place);
    struct tally *tally = tally_of(threads, place->core, place->thread);
    struct thread_tally *to = place->idle         ? &threads->idle[place->core]
                              : place->in_handler ? &threads->handlers[place->core]
                                                  : &tally->is;
    if (e->type == PUG_ELEM_INSTR_RANGE || e->type == PUG_ELEM_I_RANGE_NOPATH) {
        to->instructions += e->count;
        to->seen = true;
        if (to == &tally->is)
            tally->run += e->count;
        if (tally->run > tally->is.longest)
            tally->is.longest = tally->run;
    }
    if (pug_element_adds_cycles(e)) {
        threads->cycles = true;
        to->cycles += e->cycle_count;
    }
    return !threads->failed && output_wanted();
}

static bool take_decoded(void *context, const struct trace_item *item)
{
    struct threads *threads = context;
    return pug_thread_stage_take(threads->stage, item);
}

/* ---- the table ---- */

static void put_all(struct threads *threads)
{
    struct threads_table rows;
    threads_table_begin(&rows, threads->options->json, threads->options->csv, threads->cycles,
                        threads->cycles ? "cycles" : "instructions");
    for (uint32_t core = 0; core < threads->cores; core++) {
        const uint16_t source = pug_thread_stage_source(threads->stage, core);
        for (uint32_t n = 0; n < RTOS_THREADS; n++) {
            const struct tally *tally = tally_of(threads, core, n);
            const struct rtos_thread *thread = pug_thread_stage_thread(threads->stage, core, n);
            if (!thread || !tally->is.seen)
                continue;
            threads_table_add(&rows, source,
                              n == RTOS_UNKNOWN ? "?"
                                                : pug_thread_stage_name(threads->stage, core, n),
                              thread->has_value, thread->value,
                              pug_thread_stage_is_idle(threads->stage, core, n) ? "idle"
                              : n == RTOS_UNKNOWN                               ? "unknown"
                                                                                : "thread",
                              &tally->is);
        }
        if (threads->handlers[core].seen)
            threads_table_add(&rows, source, "[interrupts]", false, 0, "interrupts",
                              &threads->handlers[core]);
        if (threads->idle[core].seen)
            threads_table_add(&rows, source, "[no thread]", false, 0, "idle", &threads->idle[core]);
    }
    threads->failed |= !threads_table_end(&rows);
}

static void say_basis(const struct threads *threads)
{
    const char *const kernel = pug_thread_stage_kernel(threads->stage);
    const char *const current = pug_thread_stage_current(threads->stage);
    if (threads->options->input.quiet)
        return;
    if (pug_thread_stage_has_values(threads->stage))
        message_say("pugmark: threads of %s, by the values of %s\n", kernel ? kernel : "?",
                    current ? current : "?");
    else
        message_say(
            "pugmark: threads%s%s by program flow alone: names in brackets are functions, and "
            "\"?\" is what fits several threads%s%s%s\n",
            kernel ? " of " : "", kernel ? kernel : "", current ? "; trace writes of " : "",
            current ? current : "", current ? " to have them named" : "");
}

static int follow(struct threads *threads)
{
    const struct trace_wanted wanted = {.limits = {.all = true}, .no_code = true};
    struct trace_parts parts = {.capture = threads->input->capture,
                                .wanted = &wanted,
                                .print = take_decoded,
                                .print_context = threads,
                                .wants = PUG_WANTS_BY_TIME};
    struct pug_capture_decode decode = {.threads = 0};
    struct pug_capture_result result;
    pug_trace_parts_decode(&parts, &decode);
    if (!input_decode(threads->input, &decode, output_wanted, &result))
        return EXIT_INPUT;
    threads->failed |=
        !pug_thread_stage_end(threads->stage) && pug_thread_stage_failed(threads->stage);
    if (!threads->options->switches)
        put_all(threads);
    say_basis(threads);
    if (threads->failed || parts.failed)
        input_starve(threads->input);
    return input_result(threads->input);
}

static int refuse(const struct input *input)
{
    message_say(
        "pugmark: %s: no kernel is known in its programs: give the firmware's ELF file with "
        "--elf, the kernel with --rtos, or --rtos flow; `pugmark threads --kernels` lists "
        "kernels\n",
        pug_capture_path(input->capture));
    return EXIT_USAGE;
}

static int run_input(const struct threads_options *options, struct input *input)
{
    struct threads threads = {.input = input, .options = options};
    struct pug_names *names = capture_names(&options->input, &options->names);
    struct thread_stage_options stage = {.kernel = kernel_wanted(input, names, options->names.rtos),
                                         .give = take,
                                         .context = &threads};
    int code = EXIT_USAGE;
    if (!names)
        return EXIT_INPUT;
    if (pug_capture_kind(input->capture) == PUG_CAPTURE_PERF) {
        message_say("pugmark: %s: threads of Linux are in it, not those of a kernel that its "
                    "program has: `pugmark stat` and `pugmark info` list them\n",
                    pug_capture_path(input->capture));
        code = EXIT_INPUT;
    } else if (kernel_stage(input, &stage, &threads.stage)) {
        if (!threads.stage)
            code = refuse(input);
        else if (threads_swo_is(input))
            code = threads_swo(input, names, options->names.rtos, options->switches, options->json,
                               options->csv);
        else
            code = follow(&threads);
    }
    pug_thread_stage_free(threads.stage);
    free(threads.tallies);
    free(threads.handlers);
    free(threads.idle);
    free(threads.last);
    capture_names_end(names);
    return code;
}

static int run(const struct command *self, int argc, char **argv)
{
    struct threads_options options = {0};
    const struct option_set sets[] = {OPTION_SET(table, &options), CAPTURE_OPTIONS(&options.names),
                                      INPUT_OPTIONS(&options.input)};
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--kernels") == 0) {
            kernel_list();
            return EXIT_DONE;
        }
    int code = command_start(self, argc, argv, sets, 3, 1);
    struct input input;
    if (code >= 0)
        return code;
    options.input.threads_later = true;
    if (!input_open(&input, &options.input, argv[1]))
        return input.failure;
    code = run_input(&options, &input);
    input_close(&input);
    const int written = output_end();
    return written ? written : code;
}

const struct command command_threads = {
    .name = "threads",
    .operands = "INPUT",
    .summary = "threads of a real-time kernel: how much each ran, and every switch",
    .run = run,
    .task = TASK_FOLLOW,
    .purpose = "Tells which threads of FreeRTOS, Zephyr, ThreadX, RTX5 and other kernels ran, "
               "without code on the target: by the kernel's own pointer where data trace or a "
               "watchpoint has it, else by program flow.",
    .examples =
        {
            {"pugmark threads --kernels", "the kernels that are known by name"},
            {"pugmark threads --rtos flow examples/demo", "by program flow alone"},
            {"pugmark threads --switches board --elf firmware.elf",
             "each switch of the kernel that the firmware has"},
        },
};
