// SPDX-License-Identifier: MIT
#include "check_threads.h"

#include "check/engine.h"
#include "common/output.h"
#include "items/parts.h"
#include "threads/kernel_words.h"

#include <stdlib.h>

struct feeding {
    struct pug_check *check;
    struct thread_stage *stage;
    bool *named; /* by task */
    uint32_t named_count;
    bool failed;
};

/** The first time that a thread is seen its name goes to the check. */
static void name_thread(struct feeding *feeding, uint32_t task, const struct thread_place *place)
{
    if (task >= feeding->named_count) {
        const uint32_t count = task + task / 2 + 16;
        bool *named = realloc(feeding->named, count * sizeof(*named));
        if (!named) {
            feeding->failed = true;
            return;
        }
        for (uint32_t n = feeding->named_count; n < count; n++)
            named[n] = false;
        feeding->named = named;
        feeding->named_count = count;
    }
    if (feeding->named[task])
        return;
    feeding->named[task] = true;
    pug_check_thread(feeding->check, task,
                     pug_thread_stage_name(feeding->stage, place->core, place->thread),
                     place->thread == RTOS_UNKNOWN);
}

static bool give(void *context, const struct trace_item *item, const struct thread_place *place)
{
    struct feeding *feeding = context;
    if (item->others)
        return true;
    if (place && place->known && item->where->task != PUG_NO_TASK)
        name_thread(feeding, item->where->task, place);
    pug_check_element(feeding->check, item->where, &item->element);
    return !feeding->failed && pug_check_goes_on(feeding->check);
}

static bool take_item(void *context, const struct trace_item *item)
{
    struct feeding *feeding = context;
    return pug_thread_stage_take(feeding->stage, item);
}

static enum pug_status decode(struct feeding *feeding, struct input *input,
                              struct pug_capture_result *result)
{
    const struct trace_wanted wanted = {.limits = {.all = true}, .no_code = true};
    struct trace_parts parts = {.capture = input->capture,
                                .wanted = &wanted,
                                .print = take_item,
                                .print_context = feeding,
                                .wants = PUG_WANTS_BY_TIME};
    struct pug_capture_decode how = {0}, own = {0};
    pug_check_decode(feeding->check, &own);
    pug_check_feed(feeding->check);
    pug_trace_parts_decode(&parts, &how);
    const struct pug_consumer both[] = {how.consumers[0], own.consumers[0]};
    how.consumers = both;
    how.consumer_count = 2;
    enum pug_status status = input_decode_quietly(input, &how, output_wanted, result);
    const bool ended = pug_thread_stage_end(feeding->stage);
    if (parts.failed || feeding->failed || (!ended && pug_thread_stage_failed(feeding->stage)))
        status = PUG_ERR_MEM;
    return status;
}

enum check_threads check_threads_decode(struct pug_check *check, struct input *input,
                                        struct pug_names *names, const char *rtos,
                                        enum pug_status *status, struct pug_capture_result *result)
{
    struct feeding feeding = {.check = check};
    struct thread_stage_options options = {
        .kernel = kernel_wanted(input, names, rtos), .give = give, .context = &feeding};
    if (pug_capture_kind(input->capture) == PUG_CAPTURE_PERF || input->is_stream)
        return CHECK_THREADS_NONE;
    if (!kernel_stage(input, &options, &feeding.stage))
        return CHECK_THREADS_WRONG;
    if (!feeding.stage)
        return CHECK_THREADS_NONE;
    *status = decode(&feeding, input, result);
    pug_thread_stage_free(feeding.stage);
    free(feeding.named);
    return CHECK_THREADS_DONE;
}
