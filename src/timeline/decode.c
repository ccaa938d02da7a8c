// SPDX-License-Identifier: MIT
#include "timeline/decode.h"

#include "items/parts.h"
#include "items/places.h"
#include "rtos/stage.h"

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
        return pug_slices_take_others(decoding->slices, item);
    decoding->heard.time |= (decoding->dates && item->where->time != 0) ||
                            (e->type == PUG_ELEM_TIMESTAMP && e->timestamp != 0);
    decoding->heard.time |= e->type == PUG_ELEM_ITMTRACE && e->reason >= PUG_ITM_TS_SYNC;
    decoding->heard.cycles |= pug_element_adds_cycles(e);
    decoding->heard.cycles |= e->type == PUG_ELEM_ITMTRACE && e->reason >= PUG_ITM_TS_SYNC &&
                              e->reason != PUG_ITM_TS_GLOBAL;
    return pug_slices_take(decoding->slices, item);
}

static bool take_decoded(void *context, const struct trace_item *item)
{
    struct decoding *decoding = context;
    if (decoding->threads)
        return pug_thread_stage_take(decoding->threads, item);
    return take_item(decoding, item, NULL);
}

enum pug_status pug_slices_decode(struct slices *slices, const struct slices_decode *how,
                                  struct slices_heard *heard, struct pug_capture_result *result)
{
    const struct trace_wanted wanted = {.limits = {.all = true}, .no_code = true};
    struct pug_capture *capture = how->stage.kernel.capture;
    struct decoding decoding = {.slices = slices, .dates = pug_places_have_times(capture)};
    struct trace_parts parts = {.capture = capture,
                                .wanted = &wanted,
                                .print = take_decoded,
                                .print_context = &decoding,
                                .wants = PUG_WANTS_EACH_TIME | PUG_WANTS_BY_TIME |
                                         (decoding.dates ? PUG_WANTS_TIMES : 0u),
                                .others = true};
    struct pug_capture_decode decode = {.threads = how->threads,
                                        .selection = how->selection,
                                        .progress = how->progress,
                                        .progress_context = how->progress_context};
    struct thread_stage_options stage = how->stage;
    stage.give = take_item;
    stage.context = &decoding;
    enum pug_status status = pug_thread_stage_new(&stage, &decoding.threads);
    if (status == PUG_OK && !pug_slices_threads(slices, &stage.kernel))
        status = PUG_ERR_INVALID_PARAM_VAL;
    if (status != PUG_OK)
        return status;
    pug_trace_parts_decode(&parts, &decode);
    status = pug_capture_decode(capture, &decode, result);
    if (decoding.threads && !pug_thread_stage_end(decoding.threads) &&
        pug_thread_stage_failed(decoding.threads))
        status = PUG_ERR_MEM;
    pug_thread_stage_free(decoding.threads);
    if (heard)
        *heard = decoding.heard;
    return status == PUG_OK && parts.failed ? PUG_ERR_MEM : status;
}
