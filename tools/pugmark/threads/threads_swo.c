// SPDX-License-Identifier: MIT
#include "threads_swo.h"

#include "events/sources.h"
#include "items/parts.h"
#include "kernel_words.h"
#include "rtos/memory.h"
#include "rtos/program.h"
#include "rtos/watch.h"

#include "common/command.h"
#include "common/output.h"
#include "pugmark/author/protocol.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** The content of a source's DWT so far. */
struct running {
    struct threads_swo *all;
    struct rtos_watch watch;
    struct thread_tally tallies[RTOS_THREADS];
    struct thread_tally handlers, idle;
    uint64_t time, since; /* of the last event; since when `now` runs */
    bool timed;
};

struct threads_swo {
    struct input *input;
    struct rtos_program program;
    struct swo_sources sources;
    bool switches, json, csv, failed;
};

bool threads_swo_is(struct input *input)
{
    const struct pug_capture_source *source;
    bool any = false;
    for (size_t n = 0; (source = pug_capture_source_at(input->capture, n)) != NULL; n++) {
        const struct pug_protocol *protocol = pug_protocol_find(source->protocol);
        if (!protocol || strcmp(source->protocol, "ITM") != 0)
            return false;
        any = true;
    }
    return any;
}

static struct running *running_of(struct swo_source *source)
{
    struct running *running = source->user;
    if (!running) {
        running = calloc(1, sizeof(*running));
        source->user = running;
        if (running) {
            running->all = source->all->context;
            pug_rtos_watch_begin(&running->watch, &running->all->program.object);
        }
    }
    return running;
}

static void name_of(const struct running *running, uint32_t thread, char *name, size_t size)
{
    if (thread == 0)
        snprintf(name, size, "?");
    else
        pug_rtos_name(&running->all->program, &running->watch.threads[thread], NULL, name, size);
}

/** Time goes by: to whoever runs. */
static void pass(struct running *running, const struct pug_dwt_event *event)
{
    if (!event->has_time)
        return;
    const uint64_t span =
        running->timed && event->time > running->time ? event->time - running->time : 0;
    struct thread_tally *to = running->watch.depth > 0 ? &running->handlers
                              : running->watch.none    ? &running->idle
                                                       : &running->tallies[running->watch.now];
    to->cycles += span;
    to->seen |= span > 0;
    running->time = event->time;
    running->timed = true;
}

static void switch_from(struct running *running, uint32_t from, struct swo_source *source,
                        const struct pug_dwt_event *event)
{
    const struct threads_swo *all = running->all;
    const uint32_t thread = running->watch.now;
    if (all->switches) {
        char before[256], after[256];
        name_of(running, from, before, sizeof(before));
        name_of(running, thread, after, sizeof(after));
        threads_put_switch(event->index, source->id, event->time, before, after, all->json,
                           all->csv);
    }
    struct thread_tally *before = &running->tallies[from];
    if (running->time - running->since > before->longest)
        before->longest = running->time - running->since;
    running->since = running->time;
    running->tallies[thread].switches++;
    running->tallies[thread].seen = true;
}

static void on_event(struct swo_source *source, const struct pug_dwt_event *event)
{
    struct running *running = running_of(source);
    struct threads_swo *all = source->all->context;
    if (!running) {
        all->failed = true;
        return;
    }
    pass(running, event);
    uint32_t before = running->watch.now;
    const bool lost = event->overflow || event->kind == PUG_DWT_LOST;
    if (!pug_rtos_watch_take(&running->watch, event))
        return;
    before = lost ? RTOS_UNKNOWN : before;
    if (running->watch.now != before)
        switch_from(running, before, source, event);
}

static bool take_item(void *context, const struct trace_item *item)
{
    struct threads_swo *all = context;
    pug_swo_sources_take(&all->sources, item->where, &item->element);
    return !all->failed && !all->sources.failed && output_wanted();
}

static void put_rows(const struct swo_source *source, struct threads_table *rows)
{
    const struct running *running = source->user;
    char name[256];
    if (!running)
        return;
    for (uint32_t i = 0; i < running->watch.count; i++) {
        if (!running->tallies[i].seen)
            continue;
        name_of(running, i, name, sizeof(name));
        threads_table_add(rows, source->id, name, running->watch.threads[i].has_value,
                          running->watch.threads[i].value, i ? "thread" : "unknown",
                          &running->tallies[i]);
    }
    if (running->handlers.seen)
        threads_table_add(rows, source->id, "[interrupts]", false, 0, "interrupts",
                          &running->handlers);
    if (running->idle.seen)
        threads_table_add(rows, source->id, "[no thread]", false, 0, "idle", &running->idle);
}

static bool put_table(struct threads_swo *all)
{
    struct threads_table rows;
    threads_table_begin(&rows, all->json, all->csv, true, pug_swo_sources_unit(&all->sources));
    for (size_t i = 0; i < all->sources.count; i++)
        put_rows(all->sources.items[i], &rows);
    return threads_table_end(&rows);
}

int threads_swo(struct input *input, struct pug_names *names, const char *rtos, bool switches,
                bool json, bool csv)
{
    struct threads_swo all = {.input = input, .switches = switches, .json = json, .csv = csv};
    const struct trace_wanted wanted = {.limits = {.all = true}, .no_code = true};
    struct trace_parts parts = {.capture = input->capture,
                                .wanted = &wanted,
                                .print = take_item,
                                .print_context = &all,
                                .wants = PUG_WANTS_BY_TIME};
    struct pug_capture_decode decode = {.threads = 0};
    struct pug_capture_result result;
    struct thread_kernel found;
    const struct thread_kernel_wanted kernel = kernel_wanted(input, names, rtos);
    if (pug_thread_kernel_find(&kernel, &found) != THREAD_KERNEL_THERE)
        return EXIT_USAGE;
    if (found.kernel)
        pug_rtos_look_up(found.kernel, found.file, 0, &all.program);
    pug_swo_sources_init(&all.sources, input->capture, on_event, &all);
    pug_trace_parts_decode(&parts, &decode);
    int code = EXIT_INPUT;
    if (input_decode(input, &decode, output_wanted, &result)) {
        pug_swo_sources_end(&all.sources);
        if (!switches)
            all.failed |= !put_table(&all);
        if (all.failed || all.sources.failed || parts.failed)
            input_starve(input);
        code = input_result(input);
    }
    pug_swo_sources_free(&all.sources);
    pug_thread_kernel_end(&found);
    return code;
}
