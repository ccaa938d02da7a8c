// SPDX-License-Identifier: MIT
#include "slices_input.h"

#include "places.h"
#include "progress.h"
#include "trace_parts.h"

static bool take_item(void *context, const struct trace_item *item)
{
    return slices_take(context, item);
}

enum pug_status slices_decode(struct slices *slices, const struct input *input,
                              struct pug_capture_result *result)
{
    const struct trace_wanted wanted = {.limits = {.all = true}, .no_code = true};
    struct progress progress = progress_begin(input_bytes(input), input->options->quiet, NULL);
    struct trace_parts parts = {
        .capture = input->capture, .wanted = &wanted, .print = take_item, .print_context = slices};
    struct pug_capture_decode how = {.threads = input_jobs(input),
                                     .selection = &input->lists.selection,
                                     .times = places_have_times(input->capture),
                                     .progress = progress_show,
                                     .progress_context = &progress};
    trace_parts_decode(&parts, &how);
    enum pug_status status = pug_capture_decode(input->capture, &how, result);
    progress_end(&progress);
    return status == PUG_OK && parts.failed ? PUG_ERR_MEM : status;
}
