// SPDX-License-Identifier: MIT
/** @file A check: its rules, the captures that it goes through, and how they are decoded for it. */
#include "capture/capture.h"
#include "check/cover.h"
#include "check/threads.h"
#include "export/decisions.h"
#include "pugmark/advanced/capture.h"
#include "pugmark/advanced/diagnose.h"

#include <stdlib.h>
#include <string.h>

/* ---- rules ---- */

struct pug_check *pug_check_new(void)
{
    return calloc(1, sizeof(struct pug_check));
}

static void free_tally(struct check_tally *tally)
{
    struct check_sum **sums = tally->sums.items;
    for (size_t n = 0; n < tally->sums.count; n++) {
        free(sums[n]->low);
        free(sums[n]->high);
        free(sums[n]);
    }
    free(sums);
    free(tally->rule.list.items);
}

static void leave_capture(struct pug_check *check)
{
    pug_check_swo_free(check);
    pug_check_free_streams(check);
    pug_check_unbind(check);
    pug_calls_free(check->calls);
    check->calls = NULL;
    pug_diagnosis_free(check->diagnosis);
    check->diagnosis = NULL;
    pug_tree_free(check->tree);
    check->tree = NULL;
    check->capture = NULL;
    memset(&check->vectors, 0, sizeof(check->vectors));
}

void pug_check_free(struct pug_check *check)
{
    if (!check)
        return;
    if (check->profiling)
        (void)pug_profiling_end(check->profiling);
    leave_capture(check);
    for (uint32_t n = 0; n < check->tallies.count; n++)
        free_tally(CHECK_TALLY(check, n));
    free(check->tallies.items);
    free(check->rules.items);
    free(check->errors.items);
    pug_profile_free(check->profile);
    pug_mcdc_free(check->mcdc);
    pug_names_free(check->own_names);
    pug_check_text_free(&check->texts);
    free(check);
}

enum pug_status pug_check_read(struct pug_check *check, const char *file, const char *text,
                               size_t size)
{
    if (!check || !file || (!text && size > 0))
        return PUG_ERR_INVALID_PARAM_VAL;
    check->rules.count = 0;
    const enum pug_status status =
        pug_check_parse(&check->texts, file, text, size, &check->rules, &check->errors);
    const struct check_rule *rules = check->rules.items;
    for (size_t n = 0; n < check->rules.count; n++) {
        struct check_tally *tally = check->tallies.count < CHECK_RULES
                                        ? pug_list_add(&check->tallies, sizeof(*tally))
                                        : NULL;
        if (!tally) {
            free(rules[n].list.items);
            continue;
        }
        tally->rule = rules[n];
    }
    return check->tallies.count == CHECK_RULES && status == PUG_OK ? PUG_ERR_LIMIT : status;
}

bool pug_check_error_at(const struct pug_check *check, size_t n, struct pug_check_error *error)
{
    if (!check || n >= check->errors.count)
        return false;
    *error = ((const struct pug_check_error *)check->errors.items)[n];
    return true;
}

bool pug_check_saw(const struct pug_check *check)
{
    return check && check->saw;
}

/* ---- parts: elements on their way to the caller's thread ---- */

#define PART_ELEMENTS 1024u

/** Elements of one origin. */
struct batch {
    struct batch *next;
    struct pug_origin where;
    size_t count, room;
    uint8_t *payload; /* of those that have one, one after the other */
    size_t payload_size;
    struct pug_element elements[];
};

struct part {
    struct pug_check *check;
    struct pug_piece *piece;
    struct batch *first, *last;
    size_t size;
    bool failed, unwanted, emits;
    void *profile;
    struct pug_diagnosis_part *diagnosis;
};

static void free_batches(struct part *part)
{
    for (struct batch *batch = part->first, *next; batch; batch = next) {
        next = batch->next;
        free(batch->payload);
        free(batch);
    }
    part->first = part->last = NULL;
    part->size = 0;
}

static void drop(void *dropped)
{
    struct part *part = dropped;
    if (part->profile)
        pug_profiling_drop(part->profile);
    if (part->diagnosis)
        pug_diagnosis_drop(part->diagnosis);
    free_batches(part);
    free(part);
}

static void *begin(void *context, unsigned worker, struct pug_piece *piece)
{
    struct pug_check *check = context;
    struct part *part = calloc(1, sizeof(*part));
    (void)worker;
    if (!part)
        return NULL;
    part->check = check;
    part->piece = piece;
    if (check->profiling)
        part->profile = pug_profiling_begin(check->profiling);
    if (check->diagnosis)
        part->diagnosis = pug_diagnosis_begin(check->diagnosis);
    part->failed = (check->profiling && !part->profile) || (check->diagnosis && !part->diagnosis);
    return part;
}

static struct batch *new_batch(struct part *part, const struct pug_origin *where, size_t room)
{
    struct batch *batch = malloc(sizeof(*batch) + room * sizeof(struct pug_element));
    if (!batch) {
        part->failed = true;
        return NULL;
    }
    *batch = (struct batch){.where = *where, .room = room};
    if (part->last)
        part->last->next = batch;
    else
        part->first = batch;
    part->last = batch;
    part->size += sizeof(*batch) + room * sizeof(struct pug_element);
    return batch;
}

static bool is_same(const struct pug_origin *a, const struct pug_origin *b)
{
    return a->buffer == b->buffer && a->segment == b->segment && a->task == b->task &&
           a->source == b->source && a->space == b->space;
}

static void keep_payload(struct part *part, struct batch *batch, struct pug_element *e)
{
    if (!(e->flags & PUG_ELEM_PAYLOAD) || e->count == 0)
        return;
    uint8_t *grown = realloc(batch->payload, batch->payload_size + e->count);
    if (!grown) {
        part->failed = true;
        e->count = 0;
        return;
    }
    memcpy(grown + batch->payload_size, e->payload, e->count);
    batch->payload = grown;
    e->start = batch->payload_size; /* an offset until it is taken */
    batch->payload_size += e->count;
}

/** What there is goes to the caller's thread, so that threads hold a bounded amount. */
static void hand_on(struct part *part)
{
    struct part *chunk = calloc(1, sizeof(*chunk));
    const size_t size = part->size;
    if (chunk) {
        chunk->check = part->check;
        chunk->first = part->first;
        chunk->last = part->last;
        part->first = part->last = NULL;
        part->size = 0;
    }
    part->unwanted = !pug_piece_emit(part->piece, chunk, size);
}

static void elements(void *context, const struct pug_origin *where, const struct pug_element *given,
                     size_t count)
{
    struct part *part = context;
    if (part->profile)
        pug_profiling_elements(part->profile, where, given, count);
    if (part->diagnosis) {
        /* of perf.data each task has its own program memory */
        if (!part->check->tree)
            pug_diagnosis_image(part->diagnosis,
                                where->space ? pug_address_space_image(where->space) : NULL);
        pug_diagnosis_elements(part->diagnosis, given, count);
    }
    for (size_t i = 0; i < count && !part->failed && !part->unwanted && !part->check->fed;) {
        struct batch *batch = part->last;
        if (!batch || batch->count == batch->room || !is_same(&batch->where, where)) {
            const size_t left = count - i;
            const bool again = batch && is_same(&batch->where, where); /* it may be gone soon */
            if (part->piece && batch &&
                part->size >= 16 * sizeof(struct pug_element) * PART_ELEMENTS)
                hand_on(part);
            batch = part->unwanted ? NULL
                                   : new_batch(part, where,
                                               again || left + 64 >= PART_ELEMENTS ? PART_ELEMENTS
                                                                                   : left + 64);
        }
        if (!batch)
            return;
        size_t take = batch->room - batch->count;
        take = take < count - i ? take : count - i;
        memcpy(&batch->elements[batch->count], &given[i], take * sizeof(*given));
        for (size_t k = 0; k < take; k++)
            keep_payload(part, batch, &batch->elements[batch->count + k]);
        batch->count += take;
        i += take;
    }
    if (part->check->live && part->piece && part->first && !part->unwanted)
        hand_on(part);
}

static void take_batch(struct pug_check *check, struct batch *batch)
{
    for (size_t i = 0; i < batch->count && !check->stopped && check->status == PUG_OK; i++) {
        struct pug_element *e = &batch->elements[i];
        if (e->flags & PUG_ELEM_PAYLOAD)
            e->payload = batch->payload ? batch->payload + e->start : NULL;
        pug_check_element(check, &batch->where, e);
    }
}

static bool take(void *context, void *taken)
{
    struct pug_check *check = context;
    struct part *part = taken;
    if (part->failed)
        pug_check_starve(check);
    for (struct batch *batch = part->first; batch; batch = batch->next)
        take_batch(check, batch);
    if (part->profile && !pug_profiling_take(check->profiling, part->profile))
        pug_check_starve(check);
    if (part->diagnosis)
        pug_diagnosis_take(check->diagnosis, part->diagnosis);
    part->profile = NULL;
    part->diagnosis = NULL;
    drop(part);
    return check->status == PUG_OK && !check->stopped;
}

/* ---- captures ---- */

/** A tree of the first buffer that is decoded: its image, its sources. */
static void find_tree(struct pug_check *check)
{
    const struct pug_capture_buffer *buffer;
    if (pug_capture_kind(check->capture) == PUG_CAPTURE_PERF)
        return;
    for (size_t n = 0; !check->tree && (buffer = pug_capture_buffer_at(check->capture, n)) != NULL;
         n++)
        if (buffer->chosen && buffer->segment_count > 0)
            (void)pug_capture_tree(check->capture, buffer->first_segment, false, NULL,
                                   &check->tree);
}

static const uint16_t *only_source(const struct pug_check *check)
{
    const struct pug_capture_selection *selection = check->options.selection;
    return selection && selection->source_count == 1 ? selection->sources : NULL;
}

static void find_rates(struct pug_check *check)
{
    const struct pug_capture_source *source;
    check->local_hertz = check->global_hertz = 0;
    for (size_t n = 0; (source = pug_capture_source_at(check->capture, n)) != NULL; n++) {
        if (!source->settings)
            continue;
        if (!check->local_hertz)
            check->local_hertz = pug_settings_number(source->settings, "local_timestamp_hz", 0);
        if (!check->global_hertz)
            check->global_hertz = pug_settings_number(source->settings, "timestamp_hz", 0);
    }
}

static enum pug_status starved(struct pug_check *check)
{
    leave_capture(check);
    return PUG_ERR_MEM;
}

enum pug_status pug_check_begin(struct pug_check *check, struct pug_capture *capture,
                                const struct pug_check_options *options)
{
    static const struct pug_check_options usual;
    if (!check || !capture)
        return PUG_ERR_INVALID_PARAM_VAL;
    leave_capture(check);
    const size_t errors = check->errors.count;
    check->options = options ? *options : usual;
    check->capture = capture;
    check->status = PUG_OK;
    check->finished = check->stopped = false;
    check->live = pug_capture_is_live(capture);
    check->path =
        pug_check_keep(&check->texts, pug_capture_path(capture), strlen(pug_capture_path(capture)));
    check->lost = check->missing = 0;
    if (!check->options.names && !check->own_names)
        check->own_names = pug_names_new(NULL);
    check->names = check->options.names ? check->options.names : check->own_names;
    if (!check->names)
        return starved(check);
    find_tree(check);
    find_rates(check);
    const uint16_t *source = only_source(check);
    pug_capture_vectors(check->capture, check->tree ? pug_tree_image(check->tree) : NULL,
                        source ? *source : PUG_VECTORS_ANY, &check->vectors);
    pug_check_foresee(check);
    if (!pug_check_bind(check) || !pug_check_cover_begin(check))
        return starved(check);
    if (check->errors.count > errors) {
        leave_capture(check);
        return PUG_ERR_NOT_FOUND;
    }
    const struct pug_calls_config config = {.locate = pug_check_locate,
                                            .locate_context = check,
                                            .event = pug_check_on_call,
                                            .event_context = check};
    if (pug_calls_new(&config, &check->calls) != PUG_OK)
        return starved(check);
    if (check->looks_program) {
        check->diagnosis = pug_diagnosis_new(check->tree ? pug_tree_image(check->tree) : NULL);
        if (!check->diagnosis)
            return starved(check);
    }
    if (check->counts_lines) {
        const struct pug_profiler_options profiler = {.names = check->names,
                                                      .selection = check->options.selection};
        check->profiling = pug_profiling_new(check->profile, capture, &profiler);
        if (!check->profiling)
            return starved(check);
    }
    for (uint32_t n = 0; n < check->tallies.count; n++)
        if (CHECK_TALLY(check, n)->impossible && check->options.found)
            check->options.found(check->options.found_context, n);
    return check->texts.failed ? starved(check) : PUG_OK;
}

void pug_check_decode(struct pug_check *check, struct pug_capture_decode *decode)
{
    check->consumer = (struct pug_consumer){
        .context = check,
        .wants = pug_capture_kind(check->capture) == PUG_CAPTURE_PERF ? PUG_WANTS_BY_TIME : 0u,
        .begin = begin,
        .elements = elements,
        .take = take,
        .drop = drop,
    };
    decode->consumers = &check->consumer;
    decode->consumer_count = 1;
}

enum pug_status pug_check_end(struct pug_check *check, enum pug_status status)
{
    if (!check)
        return PUG_ERR_INVALID_PARAM_VAL;
    if (!check->capture)
        return status;
    if (check->status == PUG_OK)
        pug_check_end_streams(check);
    if (check->status == PUG_OK && check->diagnosis)
        pug_check_match_program(check);
    check->lost_ever |= check->lost + check->missing > 0;
    if (check->profiling) {
        const enum pug_status counted = pug_profiling_end(check->profiling);
        if (check->status == PUG_OK)
            check->status = counted;
        check->profiling = NULL;
    }
    leave_capture(check);
    if (check->texts.failed)
        check->status = PUG_ERR_MEM;
    return status != PUG_OK ? status : check->status;
}

enum pug_status pug_check_capture(struct pug_check *check, struct pug_capture *capture,
                                  const struct pug_check_options *options,
                                  struct pug_capture_result *result)
{
    struct pug_capture_result own = {0};
    enum pug_status status = pug_check_begin(check, capture, options);
    if (status != PUG_OK)
        return status;
    struct pug_capture_decode decode = {.threads = check->options.threads,
                                        .selection = check->options.selection,
                                        .progress = check->options.progress,
                                        .progress_context = check->options.progress_context};
    const struct thread_kernel_wanted kernel = {
        .capture = capture, .names = check->names, .wanted = check->options.rtos};
    struct check_threads *threads = NULL;
    status = pug_check_threads_new(check, &kernel, &threads);
    if (threads)
        pug_check_threads_decode(threads, &decode);
    else
        pug_check_decode(check, &decode);
    if (status == PUG_OK)
        status = pug_capture_decode(capture, &decode, &own);
    if (threads)
        status = pug_check_threads_end(threads, status);
    if (result)
        *result = own;
    return pug_check_end(check, status);
}
