// SPDX-License-Identifier: MIT
#include "timeline/timeline.h"

#include "capture/capture.h"
#include "items/places.h"
#include "timeline/decode.h"

#include <errno.h>
#include <string.h>

static const struct pug_timeline_format formats[] = {
    {.name = "perfetto", .summary = "for ui.perfetto.dev", .binary = true},
    {.name = "chrome", .summary = "JSON for chrome://tracing and many other viewers"},
    {.name = "speedscope", .summary = "JSON for speedscope.app"},
    {.name = "ctf",
     .summary = "a folder for babeltrace2 and Trace Compass",
     .binary = true,
     .folder = true},
};
static const enum pug_timeline_form forms[] = {PUG_TIMELINE_PERFETTO, PUG_TIMELINE_CHROME,
                                               PUG_TIMELINE_SPEEDSCOPE, PUG_TIMELINE_CTF};
#define FORMATS (sizeof(formats) / sizeof(formats[0]))

const struct pug_timeline_format *pug_timeline_format_at(size_t n)
{
    return n < FORMATS ? &formats[n] : NULL;
}

/** The number of a format; FORMATS: none has the name. */
static size_t format_of(const char *name)
{
    size_t n = 0;
    while (name && n < FORMATS && strcmp(formats[n].name, name) != 0)
        n++;
    return n;
}

/** Logs what is wrong with a kernel; the context is the capture. */
static void tell_kernel(void *context, const struct thread_kernel_told *told)
{
    const struct pug_capture *capture = context;
    if (told->absent)
        pug_capture_say(capture, PUG_SEV_WARN, PUG_OK,
                        "no program of this input is one of %s: threads are told apart by program "
                        "flow alone",
                        told->absent->name);
    else if (told->mistake)
        pug_capture_say(capture, PUG_SEV_ERROR, PUG_OK, "%s:%u:%u: %s", told->wanted,
                        told->mistake->line, told->mistake->column, told->mistake->message);
    else
        pug_capture_say(capture, PUG_SEV_ERROR, PUG_OK,
                        "%s: %s: neither a known kernel nor a description", told->wanted,
                        told->status == PUG_ERR_FILE ? strerror(errno)
                                                     : pug_status_text(told->status));
}

static void take_numbers(const struct slices *slices, struct pug_timeline_result *result)
{
    const struct slices_numbers numbers = pug_slices_numbers(slices);
    result->unit = pug_slices_unit(slices);
    result->calls = numbers.written;
    result->left_out = numbers.left_out;
    result->estimated = numbers.estimated;
    result->handlers = numbers.handlers;
    result->tick = numbers.tick;
    result->untraced = numbers.gaps[PUG_GAP_UNTRACED];
    result->unknown = numbers.gaps[PUG_GAP_UNKNOWN];
    result->lost = numbers.gaps[PUG_GAP_LOST];
    result->out_of_order = pug_places_returns(pug_slices_places(slices));
}

/** Decoding finds the threads of a kernel: the stage selects them, not the capture. */
static void choose_threads(struct slices_decode *how, struct pug_capture_selection *selection)
{
    if (!how->selection || pug_capture_kind(how->stage.kernel.capture) == PUG_CAPTURE_PERF)
        return;
    *selection = *how->selection;
    how->stage.tids = selection->tids;
    how->stage.tid_count = selection->tid_count;
    how->stage.comms = selection->comms;
    how->stage.comm_count = selection->comm_count;
    selection->tid_count = selection->comm_count = 0;
    how->selection = selection;
}

static enum pug_status decode(struct slices *slices, struct slices_decode *how,
                              struct pug_timeline_result *result)
{
    struct slices_heard heard = {.time = false};
    struct pug_capture_selection selection;
    choose_threads(how, &selection);
    const enum pug_status status = pug_slices_decode(slices, how, &heard, &result->decoded);
    result->has_times = heard.time;
    result->has_cycles = heard.cycles;
    return status;
}

static struct slices *make_slices(struct pug_capture *capture, struct pug_names *names,
                                  const struct pug_timeline_options *options, size_t format,
                                  struct pug_sink *sink)
{
    const struct slices_options how = {.capture = capture,
                                       .names = names,
                                       .form = options->slice ? PUG_TIMELINE_SLICES : forms[format],
                                       .clock = options->clock,
                                       .least = options->least,
                                       .depth = options->depth,
                                       .exact = options->exact,
                                       .sink = sink,
                                       .append = options->append,
                                       .append_context = options->context,
                                       .slice = options->slice,
                                       .slice_context = options->context};
    return pug_slices_new(&how);
}

static enum pug_status run(struct slices_decode *how, const struct pug_timeline_options *options,
                           size_t format, struct pug_timeline_result *result)
{
    struct pug_sink sink = {.put = options->put, .context = options->context};
    const struct thread_kernel_wanted *kernel = &how->stage.kernel;
    struct slices *slices = make_slices(kernel->capture, kernel->names, options, format, &sink);
    if (!slices)
        return result->status = PUG_ERR_MEM;
    result->status = decode(slices, how, result);
    result->written = pug_slices_end(slices);
    const int reason = errno;
    take_numbers(slices, result);
    pug_slices_free(slices);
    errno = reason;
    return result->status != PUG_OK ? result->status : result->written;
}

enum pug_status pug_timeline_run(struct pug_capture *capture,
                                 const struct pug_timeline_options *options,
                                 void (*tell)(void *context, const struct thread_kernel_told *told),
                                 void *context, struct pug_timeline_result *result)
{
    const size_t format = options->format ? format_of(options->format) : 0;
    *result = (struct pug_timeline_result){.unit = ""};
    if (format == FORMATS)
        return PUG_ERR_INVALID_PARAM_TYPE;
    if (!options->slice && (!options->put || (formats[format].folder && !options->append)))
        return PUG_ERR_INVALID_PARAM_VAL;
    struct pug_names *own = options->names ? NULL : pug_names_new(NULL);
    struct pug_names *names = options->names ? options->names : own;
    struct slices_decode how = {.stage = {.kernel = {.capture = capture,
                                                     .names = names,
                                                     .wanted = options->rtos,
                                                     .tell = tell,
                                                     .context = context}},
                                .selection = options->selection,
                                .threads = options->threads,
                                .progress = options->progress,
                                .progress_context = options->progress_context};
    enum pug_status status = names ? run(&how, options, format, result) : PUG_ERR_MEM;
    pug_names_free(own);
    return status;
}

enum pug_status pug_capture_timeline(struct pug_capture *capture,
                                     const struct pug_timeline_options *options,
                                     struct pug_timeline_result *result)
{
    struct pug_timeline_result own;
    if (!capture || !options)
        return PUG_ERR_INVALID_PARAM_VAL;
    return pug_timeline_run(capture, options, tell_kernel, capture, result ? result : &own);
}
