// SPDX-License-Identifier: MIT
#include "slices_input.h"

#include "common/places.h"
#include "common/progress.h"
#include "threads/thread_stage.h"
#include "trace/trace_parts.h"

struct decoding {
    struct slices *slices;
    struct slices_heard heard;
    bool dates;                   /* the capture's times are some */
    struct thread_stage *threads; /* of a kernel, or NULL */
};

static bool take_item(void *context, const struct trace_item *item,
                      const struct thread_place *place)
{
    struct decoding *decoding = context;
    (void)place;
    const struct pug_element *e = &item->element;
    if (item->others)
        return slices_take_others(decoding->slices, item);
    decoding->heard.time |= (decoding->dates && item->where->time != 0) ||
                            (e->type == PUG_ELEM_TIMESTAMP && e->timestamp != 0);
    decoding->heard.time |= e->type == PUG_ELEM_ITMTRACE && e->reason >= PUG_ITM_TS_SYNC;
    decoding->heard.cycles |= pug_element_adds_cycles(e);
    decoding->heard.cycles |= e->type == PUG_ELEM_ITMTRACE && e->reason >= PUG_ITM_TS_SYNC &&
                              e->reason != PUG_ITM_TS_GLOBAL;
    return slices_take(decoding->slices, item);
}

static bool take_decoded(void *context, const struct trace_item *item)
{
    struct decoding *decoding = context;
    if (decoding->threads)
        return thread_stage_take(decoding->threads, item);
    return take_item(decoding, item, NULL);
}

enum pug_status slices_decode_heard(struct slices *slices, const struct input *input,
                                    struct slices_heard *heard, struct pug_capture_result *result)
{
    const struct trace_wanted wanted = {.limits = {.all = true}, .no_code = true};
    struct progress progress = progress_begin(input_bytes(input), input->options->quiet, NULL);
    struct decoding decoding = {.slices = slices, .dates = places_have_times(input->capture)};
    struct trace_parts parts = {.capture = input->capture,
                                .wanted = &wanted,
                                .print = take_decoded,
                                .print_context = &decoding,
                                .wants = PUG_WANTS_EACH_TIME | PUG_WANTS_BY_TIME |
                                         (decoding.dates ? PUG_WANTS_TIMES : 0u),
                                .others = true};
    struct pug_capture_decode how = {.threads = input_jobs(input),
                                     .selection = &input->lists.selection,
                                     .progress = progress_show,
                                     .progress_context = &progress};
    const struct thread_stage_options stage = {.input = (struct input *)input,
                                               .names = slices_names(slices),
                                               .rtos = slices_rtos(slices),
                                               .give = take_item,
                                               .context = &decoding};
    if (!thread_stage_new(&stage, &decoding.threads))
        return PUG_ERR_INVALID_PARAM_VAL;
    trace_parts_decode(&parts, &how);
    enum pug_status status = pug_capture_decode(input->capture, &how, result);
    if (decoding.threads && !thread_stage_end(decoding.threads) &&
        thread_stage_failed(decoding.threads))
        status = PUG_ERR_MEM;
    thread_stage_free(decoding.threads);
    progress_end(&progress);
    *heard = decoding.heard;
    return status == PUG_OK && parts.failed ? PUG_ERR_MEM : status;
}

enum pug_status slices_decode(struct slices *slices, const struct input *input,
                              struct pug_capture_result *result)
{
    struct slices_heard heard;
    return slices_decode_heard(slices, input, &heard, result);
}
