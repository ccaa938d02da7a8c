// SPDX-License-Identifier: MIT
#include "threads_swo.h"

#include "events/sources.h"
#include "items/parts.h"
#include "kernel_words.h"
#include "rtos/memory.h"
#include "rtos/program.h"

#include "common/command.h"
#include "common/output.h"
#include "pugmark/author/protocol.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** The content of a source's DWT so far. */
struct running {
    struct threads_swo *all;
    struct rtos_thread threads[RTOS_THREADS];
    struct thread_tally tallies[RTOS_THREADS];
    uint32_t count, now; /* threads that were seen; which one runs, 0: it is not known */
    struct thread_tally handlers, idle;
    bool none;        /* no thread runs */
    bool interrupted; /* an exception is handled */
    uint32_t depth;
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
            running->count = 1;
        }
    }
    return running;
}

static void name_of(const struct running *running, uint32_t thread, char *name, size_t size)
{
    if (thread == 0)
        snprintf(name, size, "?");
    else
        pug_rtos_name(&running->all->program, &running->threads[thread], NULL, name, size);
}

/** Time goes by: to whoever runs. */
static void pass(struct running *running, const struct pug_dwt_event *event)
{
    if (!event->has_time)
        return;
    const uint64_t span =
        running->timed && event->time > running->time ? event->time - running->time : 0;
    struct thread_tally *to = running->depth > 0 ? &running->handlers
                              : running->none    ? &running->idle
                                                 : &running->tallies[running->now];
    to->cycles += span;
    to->seen |= span > 0;
    running->time = event->time;
    running->timed = true;
}

static uint32_t thread_of(struct running *running, uint64_t value)
{
    for (uint32_t i = 1; i < running->count; i++)
        if (running->threads[i].value == value)
            return i;
    if (running->count == RTOS_THREADS)
        return 0;
    running->threads[running->count] = (struct rtos_thread){.has_value = true, .value = value};
    return running->count++;
}

static bool is_none(const struct rtos_object *object, uint64_t value)
{
    for (size_t i = 0; i < object->none_count; i++)
        if (object->none[i] == value)
            return true;
    return false;
}

static void switch_to(struct running *running, struct swo_source *source,
                      const struct pug_dwt_event *event)
{
    const struct threads_swo *all = running->all;
    running->none = is_none(&all->program.object, event->value);
    const uint32_t thread = running->none ? running->now : thread_of(running, event->value);
    if (running->none || thread == running->now)
        return;
    if (all->switches) {
        char from[256], to[256];
        name_of(running, running->now, from, sizeof(from));
        name_of(running, thread, to, sizeof(to));
        threads_put_switch(event->index, source->id, event->time, from, to, all->json, all->csv);
    }
    struct thread_tally *before = &running->tallies[running->now];
    if (running->time - running->since > before->longest)
        before->longest = running->time - running->since;
    running->since = running->time;
    running->now = thread;
    running->tallies[thread].switches++;
    running->tallies[thread].seen = true;
}

/** Handlers that are open: what returns to 0 has left all of them. */
static void take_exception(struct running *running, const struct pug_dwt_event *event)
{
    if (event->action == PUG_DWT_ENTERED)
        running->depth++;
    else if (event->action == PUG_DWT_EXITED && running->depth > 0)
        running->depth--;
    else if (event->action == PUG_DWT_RETURNED_TO && event->number == 0)
        running->depth = 0;
}

static void on_event(struct swo_source *source, const struct pug_dwt_event *event)
{
    struct running *running = running_of(source);
    struct threads_swo *all = source->all->context;
    const struct rtos_object *object = &all->program.object;
    if (!running) {
        all->failed = true;
        return;
    }
    pass(running, event);
    if (event->kind == PUG_DWT_EXCEPTION)
        take_exception(running, event);
    if (event->overflow || event->kind == PUG_DWT_LOST) {
        running->now = 0; /* a write may be what was lost */
        running->none = false;
        running->depth = 0;
    }
    const bool watched = event->kind == PUG_DWT_DATA && event->write && event->has_value &&
                         event->has_address && event->address == object->current;
    const bool said =
        object->by_port && event->kind == PUG_DWT_STIMULUS && event->number == object->port;
    if ((object->has_current && watched) || said)
        switch_to(running, source, event);
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
    for (uint32_t i = 0; i < running->count; i++) {
        if (!running->tallies[i].seen)
            continue;
        name_of(running, i, name, sizeof(name));
        threads_table_add(rows, source->id, name, running->threads[i].has_value,
                          running->threads[i].value, i ? "thread" : "unknown",
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
