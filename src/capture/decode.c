// SPDX-License-Identifier: MIT
/** @file The segments of a capture, and where their elements belong, as the scheduler needs them.
 */
#include "capture/decode.h"

#include "capture/marks.h"
#include "capture/named.h"
#include "counts/counts.h"
#include "pugmark/advanced/jobs.h"

#include <stdlib.h>

/* More buffers, or sources of them all, are not decoded side by side: each takes memory. */
#define MOST         1024u
#define MOST_SOURCES 16384u
/* With more sources than this there are decoders of as many segments as overlap alone. */
#define MANY_SOURCES 256u

/* More threads than this are a mistake. */
#define MOST_THREADS 1024u

/** One call of pug_capture_decode(). */
struct reading {
    struct pug_capture_decoding decoding;
    struct pug_segments segments;
    uint32_t *numbers;
    struct pug_side *sides;
};

static const struct pug_capture *capture_of(const void *context)
{
    const struct reading *reading = context;
    return reading->decoding.capture;
}

/* ---- segments ---- */

static uint64_t size_of(const void *context, uint32_t segment)
{
    return pug_capture_segments(capture_of(context))[segment].size;
}

static uint64_t index_of(const void *context, uint32_t segment)
{
    return pug_capture_segments(capture_of(context))[segment].offset;
}

static const uint8_t *memory_of(const void *context, uint32_t segment)
{
    const struct pug_capture *capture = capture_of(context);
    return capture->ops->memory(capture, segment);
}

static void say_unread(const struct pug_capture *capture, struct pug_log *log, uint64_t index,
                       enum pug_status status)
{
    pug_log_put(log, &(struct pug_log_record){.severity = PUG_SEV_ERROR,
                                              .code = status,
                                              .index = index,
                                              .source = PUG_NO_SOURCE,
                                              .component = "capture",
                                              .text = capture->path});
}

static size_t read_segment(void *context, uint32_t segment, struct pug_log *log, uint64_t at,
                           uint8_t *bytes, size_t size, bool *more)
{
    const struct reading *reading = context;
    struct pug_capture *capture = reading->decoding.capture;
    const bool live = capture->live;
    enum pug_status status;
    const size_t got = live ? pug_capture_live(capture, at, bytes, size, &status)
                            : pug_capture_bytes(capture, segment, at, bytes, size, &status);
    if (status != PUG_OK)
        say_unread(capture, log, index_of(reading, segment) + at, status);
    *more = status == PUG_OK && (!live || got > 0);
    return got;
}

static void restart(const void *context, struct pug_tree *tree)
{
    pug_capture_restart(capture_of(context), tree);
}

static enum pug_status new_tree(void *context, uint32_t segment, struct pug_log *log,
                                struct pug_tree **tree)
{
    const struct reading *reading = context;
    struct pug_capture *capture = reading->decoding.capture;
    return capture->ops->tree(capture, segment, true, log, tree);
}

static uint32_t tree_kind(const void *context, uint32_t segment)
{
    return pug_capture_tree_kind(capture_of(context), segment);
}

static bool choose_sources(const void *context, uint32_t segment, struct pug_tree *tree)
{
    const struct reading *reading = context;
    return pug_capture_choose_sources(&reading->decoding, segment, tree);
}

static void look_ahead(void *context, uint32_t segment, uint64_t *time)
{
    const struct reading *reading = context;
    const struct pug_capture *capture = reading->decoding.capture;
    uint64_t first;
    pug_capture_marks_read(reading->decoding.marks, segment);
    if (!pug_capture_marks_first(reading->decoding.marks, &first))
        return;
    if (!pug_capture_clock(capture, first, &first))
        first = pug_capture_from_ticks(capture, first);
    if (first > *time)
        *time = first;
}

/* ---- where elements belong ---- */

static void close_attribution(void *attribution)
{
    if (attribution)
        pug_attribution_close(attribution);
    free(attribution);
}

static void *open_attribution(void *context, const struct pug_receiver *receiver)
{
    const struct reading *reading = context;
    struct pug_attribution *attribution = calloc(1, sizeof(*attribution));
    if (attribution && pug_attribution_open(attribution, &reading->decoding, receiver))
        return attribution;
    close_attribution(attribution);
    return NULL;
}

static enum pug_status begin_segment(void *attribution, uint32_t segment, struct pug_tree *tree)
{
    return pug_attribution_begin(attribution, segment, tree);
}

static void attribute(void *attribution, const struct pug_element *elements, size_t count)
{
    pug_attribution_elements(attribution, elements, count);
}

/* ---- counts ---- */

static void number_counts(void *context, uint32_t segment, struct pug_counts *counts)
{
    const struct reading *reading = context;
    pug_attribution_counts(reading->decoding.capture, segment, counts);
}

static void pack_counts(void *context, const struct pug_counts *counts, struct pug_state *bytes)
{
    const struct reading *reading = context;
    struct pug_named named = {.failed = false};
    pug_named_note_counts(&named, counts);
    pug_named_pack(&named, reading->decoding.capture, bytes);
    pug_counts_pack(counts, bytes);
}

static struct pug_counts *unpack_counts(void *context, struct pug_bytes *bytes)
{
    const struct reading *reading = context;
    struct pug_named_known known;
    if (!pug_named_unpack(&known, reading->decoding.capture, bytes))
        return NULL;
    struct pug_counts *counts = pug_counts_unpack(bytes);
    if (counts)
        pug_named_renumber(&known, counts);
    free(known.spaces);
    return counts;
}

/* ---- which segments ---- */

static bool is_chosen(const struct pug_capture *capture, uint32_t segment)
{
    return pug_capture_buffers(capture)[pug_capture_segments(capture)[segment].buffer].chosen;
}

/** Finds the segments of a part of all that is chosen; returns the number after the last one. */
static uint32_t cut(const struct pug_capture_decode *config, struct reading *reading,
                    uint32_t *first)
{
    const struct pug_capture *capture = reading->decoding.capture;
    const struct pug_capture_segment *segments = pug_capture_segments(capture);
    uint64_t at = 0;
    uint32_t end = 0;
    *first = UINT32_MAX;
    reading->segments.is_cut = true;
    for (uint32_t i = 0; i < capture->segments.count; i++) {
        const uint64_t size = is_chosen(capture, i) ? segments[i].size : 0;
        if (size > 0 && at + size > config->from && (!config->to || at < config->to)) {
            if (*first == UINT32_MAX) {
                *first = i;
                reading->segments.skipped =
                    config->from > at ? (config->from - at) & ~(uint64_t)15 : 0;
            }
            end = i + 1;
            reading->segments.last = config->to && config->to - at < size ? config->to - at : size;
        }
        at += size;
    }
    return end;
}

/** Is a segment of a chosen buffer to be read? One in memory is, however short. */
static bool is_read(const struct reading *reading, uint32_t segment)
{
    const struct pug_segments *segments = &reading->segments;
    if (segments->is_stream || (segments->memory && !segments->is_cut))
        return true;
    return (segments->is_cut || pug_capture_may_choose(&reading->decoding, segment)) &&
           size_of(reading, segment) > 0;
}

/** False: no memory. */
static bool list_segments(const struct pug_capture_decode *config, struct reading *reading)
{
    const struct pug_capture *capture = reading->decoding.capture;
    struct pug_segments *segments = &reading->segments;
    uint32_t first = 0, end = (uint32_t)capture->segments.count;
    if (config->from > 0 || config->to > 0)
        end = cut(config, reading, &first);
    segments->numbers = reading->numbers = calloc((size_t)end + 1, sizeof(*reading->numbers));
    for (uint32_t i = first; reading->numbers && i < end; i++)
        if (is_chosen(capture, i) && is_read(reading, i))
            reading->numbers[segments->count++] = i;
    return reading->numbers != NULL;
}

/* ---- sides ---- */

static bool is_side(const struct pug_capture_buffer *buffer)
{
    return buffer->chosen && buffer->segment_count > 0;
}

bool pug_capture_has_sides(const struct pug_capture *capture)
{
    size_t sides = 0, processors = 0;
    for (size_t i = 0; i < capture->buffers.count; i++) {
        const struct pug_capture_buffer *buffer = &pug_capture_buffers(capture)[i];
        sides += is_side(buffer);
        processors += is_side(buffer) && buffer->cpu != PUG_NO_CPU;
    }
    return capture->told_times && processors > 1 && sides <= MOST &&
           capture->sources.count <= MOST_SOURCES;
}

/** Sorts the segments by buffer, each of which is a side. False: no memory. */
static bool list_sides(struct reading *reading)
{
    struct pug_capture *capture = reading->decoding.capture;
    struct pug_segments *segments = &reading->segments;
    const struct pug_capture_segment *all = pug_capture_segments(capture);
    const size_t buffers = capture->buffers.count;
    uint32_t *sorted = calloc((size_t)segments->count + 1, sizeof(*sorted));
    uint32_t *ends = calloc(buffers + 1, sizeof(*ends));
    reading->sides = calloc(buffers + 1, sizeof(*reading->sides));
    const bool many = capture->sources.count > MANY_SOURCES;
    if (many)
        reading->decoding.marks = pug_capture_marks_new(capture);
    const bool good = sorted && ends && reading->sides && (!many || reading->decoding.marks);
    for (uint32_t i = 0; good && i < segments->count; i++)
        ends[all[segments->numbers[i]].buffer + 1]++;
    for (size_t i = 0; good && i < buffers; i++) {
        if (is_side(&pug_capture_buffers(capture)[i]))
            reading->sides[segments->side_count++] =
                (struct pug_side){sorted + ends[i], ends[i + 1]};
        ends[i + 1] += ends[i];
    }
    for (uint32_t i = 0; good && i < segments->count; i++)
        sorted[ends[all[segments->numbers[i]].buffer]++] = segments->numbers[i];
    free(ends);
    free(reading->numbers);
    segments->numbers = reading->numbers = sorted;
    segments->sides = reading->sides;
    segments->look_ahead = many ? look_ahead : NULL;
    return good;
}

/* ---- the whole ---- */

bool pug_capture_counts(const struct pug_capture_decode *config)
{
    const struct pug_consumers consumers = pug_capture_consumers(config);
    return pug_consumers_count(&consumers) && !pug_consumers_want(&consumers, PUG_WANTS_BY_TIME) &&
           pug_capture_selection_counts(config->selection);
}

static void fill_segments(const struct pug_capture_decode *config, struct reading *reading)
{
    const struct pug_capture_ops *ops = reading->decoding.capture->ops;
    reading->segments = (struct pug_segments){
        .context = reading,
        .is_stream = reading->decoding.capture->live,
        .counts_ranges = pug_capture_counts(config),
        .size = size_of,
        .index = index_of,
        .memory = ops->memory ? memory_of : NULL,
        .read = read_segment,
        .restart = restart,
        .tree = new_tree,
        .tree_kind = tree_kind,
        .choose = choose_sources,
        .open = open_attribution,
        .close = close_attribution,
        .begin = begin_segment,
        .elements = attribute,
        .number_counts = ops->space ? NULL : number_counts,
        .pack_counts = pack_counts,
        .unpack_counts = unpack_counts,
    };
}

static enum pug_status read_all(const struct pug_capture_decode *config, struct reading *reading,
                                const struct pug_consumers *consumers,
                                struct pug_capture_result *result)
{
    struct pug_capture *capture = reading->decoding.capture;
    const unsigned threads = config->threads ? config->threads : pug_jobs_processors();
    const struct pug_schedule_options options = {.threads = threads < MOST_THREADS ? threads
                                                                                   : MOST_THREADS,
                                                 .piece = config->piece,
                                                 .log = config->log ? config->log : capture->log,
                                                 .peers = capture->options.peers,
                                                 .progress = config->progress,
                                                 .progress_context = config->progress_context};
    struct pug_schedule_result read;
    const bool by_time = pug_consumers_want(consumers, PUG_WANTS_BY_TIME) &&
                         !reading->segments.is_cut && pug_capture_has_sides(capture);
    reading->decoding.times |= by_time;
    if (by_time && !list_sides(reading))
        return PUG_ERR_MEM;
    const enum pug_status status = pug_schedule_run(&reading->segments, consumers, &options, &read);
    *result = (struct pug_capture_result){.bytes = read.bytes,
                                          .stopped = read.stopped,
                                          .at = read.at,
                                          .threads = read.threads,
                                          .ended = read.ended};
    return status;
}

/** Times stand after what they date, and parts have an end: a stream is read into memory first. */
static void settle(const struct pug_capture *capture, const struct pug_capture_decode *config)
{
    const struct pug_capture_selection *selection = config->selection;
    if ((selection && (selection->has_from || selection->has_to)) || config->from > 0 ||
        config->to > 0)
        (void)pug_capture_memory(capture, 0);
}

enum pug_status pug_capture_decode(struct pug_capture *capture,
                                   const struct pug_capture_decode *config,
                                   struct pug_capture_result *result)
{
    if (!capture || !config || !result)
        return PUG_ERR_INVALID_PARAM_VAL;
    const struct pug_consumers consumers = pug_capture_consumers(config);
    if (consumers.count == 0 || !pug_consumers_are_whole(&consumers))
        return PUG_ERR_INVALID_PARAM_VAL;
    *result = (struct pug_capture_result){0};
    settle(capture, config);
    struct reading reading = {
        .decoding = {.capture = capture,
                     .selection = config->selection,
                     .times = pug_consumers_want(&consumers, PUG_WANTS_TIMES),
                     .each_time = pug_consumers_want(&consumers, PUG_WANTS_EACH_TIME),
                     .left_out = pug_consumers_take_left_out(&consumers)}};
    fill_segments(config, &reading);
    enum pug_status status = PUG_ERR_MEM;
    if (pug_capture_choose_tasks(&reading.decoding) && list_segments(config, &reading))
        status = read_all(config, &reading, &consumers, result);
    pug_capture_forget_tasks(&reading.decoding);
    pug_capture_marks_free(reading.decoding.marks);
    free(reading.numbers);
    free(reading.sides);
    return status;
}
