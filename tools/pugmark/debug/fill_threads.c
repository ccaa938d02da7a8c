// SPDX-License-Identifier: MIT
#include "fill_threads.h"

#include "common/command.h"
#include "common/progress.h"
#include "items/parts.h"
#include "threads/kernel_words.h"

static bool take_item(void *context, const struct trace_item *item,
                      const struct thread_place *place)
{
    struct session *session = context;
    (void)place;
    return item->others || pug_history_take(session->history, item->where, &item->element, 1);
}

static bool take_decoded(void *context, const struct trace_item *item)
{
    return pug_thread_stage_take(context, item);
}

static int decode(struct session *session, struct thread_stage *stage)
{
    struct input *input = &session->input;
    const struct trace_wanted wanted = {.limits = {.all = true}, .no_code = true};
    struct progress progress = progress_begin(input_bytes(input), input->options->quiet, NULL);
    struct trace_parts parts = {.capture = input->capture,
                                .wanted = &wanted,
                                .print = take_decoded,
                                .print_context = stage,
                                .wants = PUG_WANTS_EACH_TIME | PUG_WANTS_BY_TIME};
    struct pug_capture_decode how = {.threads = 1,
                                     .selection = &input->lists.selection,
                                     .progress = progress_show,
                                     .progress_context = &progress,
                                     .log = input->log};
    struct pug_capture_result result = {0};
    pug_trace_parts_decode(&parts, &how);
    const enum pug_status status = pug_capture_decode(input->capture, &how, &result);
    if ((!pug_thread_stage_end(stage) && pug_thread_stage_failed(stage)) || parts.failed)
        input_starve(input);
    progress_end(&progress);
    return input_concluded(input, status, &result);
}

bool fill_threads(struct session *session, int *code)
{
    struct thread_stage *stage = NULL;
    struct thread_stage_options options = {
        .kernel = kernel_wanted(&session->input, session->names, session->options->capture.rtos),
        .give = take_item,
        .context = session};
    if (pug_capture_kind(session->input.capture) == PUG_CAPTURE_PERF || session->live)
        return false;
    *code = EXIT_USAGE;
    if (!kernel_stage(&session->input, &options, &stage))
        return true;
    if (!stage)
        return false;
    *code = decode(session, stage);
    pug_thread_stage_free(stage);
    return true;
}
