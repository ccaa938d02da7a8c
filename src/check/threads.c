// SPDX-License-Identifier: MIT
#include "check/threads.h"

#include "check/engine.h"
#include "items/parts.h"
#include "rtos/stage.h"

#include <stdlib.h>

struct check_threads {
    struct pug_check *check;
    struct thread_stage *stage;
    struct trace_wanted wanted;
    struct trace_parts parts;
    struct pug_consumer consumers[2];
    bool *named; /* by task */
    uint32_t named_count;
    bool failed;
};

/** The first time that a thread is seen its name goes to the check. */
static void name_thread(struct check_threads *threads, uint32_t task,
                        const struct thread_place *place)
{
    if (task >= threads->named_count) {
        const uint32_t count = task + task / 2 + 16;
        bool *named = realloc(threads->named, count * sizeof(*named));
        if (!named) {
            threads->failed = true;
            return;
        }
        for (uint32_t n = threads->named_count; n < count; n++)
            named[n] = false;
        threads->named = named;
        threads->named_count = count;
    }
    if (threads->named[task])
        return;
    threads->named[task] = true;
    pug_check_thread(threads->check, task,
                     pug_thread_stage_name(threads->stage, place->core, place->thread),
                     place->thread == RTOS_UNKNOWN);
}

static bool give(void *context, const struct trace_item *item, const struct thread_place *place)
{
    struct check_threads *threads = context;
    if (item->others)
        return true;
    if (place && place->known && item->where->task != PUG_NO_TASK)
        name_thread(threads, item->where->task, place);
    pug_check_element(threads->check, item->where, &item->element);
    return !threads->failed && pug_check_goes_on(threads->check);
}

static bool take_item(void *context, const struct trace_item *item)
{
    struct check_threads *threads = context;
    return pug_thread_stage_take(threads->stage, item);
}

enum pug_status pug_check_threads_new(struct pug_check *check,
                                      const struct thread_kernel_wanted *kernel,
                                      struct check_threads **out)
{
    *out = NULL;
    if (pug_capture_kind(kernel->capture) == PUG_CAPTURE_PERF ||
        pug_capture_is_live(kernel->capture))
        return PUG_OK;
    struct check_threads *threads = calloc(1, sizeof(*threads));
    if (!threads)
        return PUG_ERR_MEM;
    threads->check = check;
    const struct thread_stage_options options = {
        .kernel = *kernel, .give = give, .context = threads};
    const enum pug_status status = pug_thread_stage_new(&options, &threads->stage);
    if (threads->stage)
        *out = threads;
    else
        free(threads);
    return status;
}

void pug_check_threads_decode(struct check_threads *threads, struct pug_capture_decode *decode)
{
    struct pug_capture_decode items = {0}, own = {0};
    threads->wanted = (struct trace_wanted){.limits = {.all = true}, .no_code = true};
    threads->parts = (struct trace_parts){.capture = threads->check->capture,
                                          .wanted = &threads->wanted,
                                          .print = take_item,
                                          .print_context = threads,
                                          .wants = PUG_WANTS_BY_TIME};
    pug_check_decode(threads->check, &own);
    pug_check_feed(threads->check);
    pug_trace_parts_decode(&threads->parts, &items);
    threads->consumers[0] = items.consumers[0];
    threads->consumers[1] = own.consumers[0];
    decode->consumers = threads->consumers;
    decode->consumer_count = 2;
}

enum pug_status pug_check_threads_end(struct check_threads *threads, enum pug_status status)
{
    const bool ended = pug_thread_stage_end(threads->stage);
    if (threads->parts.failed || threads->failed ||
        (!ended && pug_thread_stage_failed(threads->stage)))
        status = PUG_ERR_MEM;
    pug_thread_stage_free(threads->stage);
    free(threads->named);
    free(threads);
    return status;
}
