// SPDX-License-Identifier: MIT
/**
 * @file Branch stacks as `perf script -F ip,brstack --show-mmap-events` writes them, straight from
 * a capture: llvm-profgen reads them (--perfscript). Stacks of one thread overlap by one branch, so
 * that what ran between two stacks is not lost.
 */
#include "base/hash.h"
#include "profile/profile.h"
#include "pugmark/advanced/consumer.h"
#include "pugmark/profiler.h"
#include "text/sink.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH 16u /* branches of a stack, the repeated one included */

/** A taken branch, or the end of what is known to follow each other. */
struct step {
    uint32_t task, buffer, segment;
    uint16_t source;
    uint8_t kind; /* enum step_kind */
    uint64_t from, to;
};

enum step_kind {
    STEP_RANGE,   /* executed from `from` to the instruction `to`, and continued after it */
    STEP_TAKEN,   /* the same, and the branch at its end was taken */
    STEP_ARRIVED, /* execution went on at `to`, and does not from there */
    STEP_BROKEN,  /* the place where it continues is unknown */
};

/** A piece of a file in memory. */
struct mapping {
    int32_t pid, tid;
    uint32_t object;
    uint64_t first, last, offset;
    uint64_t seen_first, seen_last; /* what of it is known to be no other file's */
    bool chosen;                    /* its object is one to tell of */
};

/* Files are mapped by whole pages; llvm-profgen takes them to be of this size. */
#define PAGE UINT64_C(0x1000)

struct part {
    struct brstack *all;
    struct step *steps;
    struct mapping *mappings;
    size_t step_count, step_room, mapping_count, mapping_room;
    struct pug_piece *piece;
    bool failed;
};

/* Steps that a part holds before it hands them on. */
#define MOST_STEPS 8192u

/** A thread, or a source of a buffer without information about threads. */
struct thread {
    uint32_t task, buffer, segment;
    uint16_t source;
    bool pending;
    uint64_t from; /* of the branch that waits for its target */
    struct {
        uint64_t from, to;
    } branches[DEPTH];
    unsigned count;
};

struct brstack {
    struct pug_capture *capture;
    struct pug_sink sink;
    struct profile_table threads, mappings;
    const char *const *names; /* of the objects to tell of */
    size_t name_count;        /* 0: of all */
    bool failed;
};

/* ---- what is known, by what it is ---- */

static uint64_t hash_thread(const void *item)
{
    const struct thread *thread = item;
    return pug_hash_mix(pug_hash_mix(0, thread->task),
                        thread->buffer | (uint64_t)thread->source << 32);
}

static bool same_thread(const void *left, const void *right)
{
    const struct thread *a = left, *b = right;
    return a->task == b->task && a->buffer == b->buffer && a->source == b->source;
}

static uint64_t hash_mapping(const void *item)
{
    const struct mapping *mapping = item;
    const uint64_t hash = pug_hash_mix(pug_hash_mix(0, mapping->first), mapping->last);
    return pug_hash_mix(hash, (uint32_t)mapping->pid | (uint64_t)mapping->object << 32);
}

static bool same_mapping(const void *left, const void *right)
{
    const struct mapping *a = left, *b = right;
    return a->pid == b->pid && a->object == b->object && a->first == b->first &&
           a->last == b->last && a->offset == b->offset;
}

/* Room for one more; NULL: no memory. */
static void *add(void *list, size_t *count, size_t *room, size_t size)
{
    void **items = list;
    if (*count == *room) {
        const size_t larger = *room ? *room * 2 : 64;
        void *grown = realloc(*items, larger * size);
        if (!grown)
            return NULL;
        *items = grown;
        *room = larger;
    }
    return memset((char *)*items + (*count)++ * size, 0, size);
}

/* ---- parts, on the workers ---- */

static void *begin(void *context, unsigned worker, struct pug_piece *piece)
{
    struct part *part = calloc(1, sizeof(*part));
    (void)worker;
    if (part)
        *part = (struct part){.all = context, .piece = piece};
    return part;
}

static void drop(void *dropped)
{
    struct part *part = dropped;
    free(part->steps);
    free(part->mappings);
    free(part);
}

static void put_step(struct part *part, const struct pug_origin *origin, enum step_kind kind,
                     uint64_t from, uint64_t to)
{
    struct step *step = add(&part->steps, &part->step_count, &part->step_room, sizeof(*step));
    part->failed |= !step;
    if (step)
        *step = (struct step){
            origin->task, origin->buffer, origin->segment, origin->source, (uint8_t)kind, from, to};
}

static void hand_on(struct part *part)
{
    const size_t size =
        part->step_room * sizeof(struct step) + part->mapping_room * sizeof(struct mapping);
    struct part *chunk = malloc(sizeof(*chunk));
    if (chunk) {
        *chunk = *part;
        *part = (struct part){.all = part->all, .piece = part->piece};
    }
    part->failed = !pug_piece_emit(part->piece, chunk, size);
}

static bool has_seen(const struct mapping *mapping, int32_t pid, uint64_t address)
{
    return mapping && mapping->pid == pid && address >= mapping->seen_first &&
           address <= mapping->seen_last;
}

/* Is the object one to tell of? */
static bool is_chosen(const struct brstack *all, uint32_t number)
{
    const struct pug_capture_object *object = pug_capture_object_at(all->capture, number);
    bool chosen = all->name_count == 0;
    struct pug_profile_object is = {.path = object ? object->path : ""};
    if (object && object->build_id_size <= sizeof(is.build_id)) {
        memcpy(is.build_id, object->build_id, object->build_id_size);
        is.build_id_size = object->build_id_size;
    }
    for (size_t i = 0; i < all->name_count && !chosen; i++)
        chosen = pug_profile_object_is(&is, all->names[i]);
    return chosen;
}

/*
 * Readers want to know what lies where before it runs there. False: it is in none of the chosen
 * objects.
 */
static bool see_memory(struct part *part, const struct pug_origin *origin, uint64_t address)
{
    const struct pug_capture_task *task = NULL;
    struct pug_location location;
    struct mapping *last =
        part->mapping_count > 0 ? &part->mappings[part->mapping_count - 1] : NULL;
    if (origin->task != PUG_NO_TASK)
        task = pug_capture_task_at(part->all->capture, origin->task);
    const int32_t pid = task ? task->pid : 1;
    if (has_seen(last, pid, address))
        return last->chosen;
    if (!pug_capture_locate(part->all->capture, origin, address, &location))
        return part->all->name_count == 0;
    const struct mapping seen = {.pid = pid,
                                 .tid = task ? task->tid : 1,
                                 .object = location.object,
                                 .first = location.piece_first,
                                 .last = location.piece_last,
                                 .offset = location.offset - (address - location.piece_first),
                                 .seen_first = location.first,
                                 .seen_last = location.last,
                                 .chosen = is_chosen(part->all, location.object)};
    if (!last || !same_mapping(last, &seen))
        last = add(&part->mappings, &part->mapping_count, &part->mapping_room, sizeof(*last));
    part->failed |= !last;
    if (last)
        *last = seen;
    return seen.chosen;
}

static void take_range(struct part *part, const struct pug_origin *origin,
                       const struct pug_element *range)
{
    const bool branch =
        range->last_type == PUG_INSTR_BR || range->last_type == PUG_INSTR_BR_INDIRECT;
    const bool taken = branch && (range->flags & PUG_ELEM_EXECUTED);
    const bool returns = taken && (range->last_subtype == PUG_SUB_V8_ERET ||
                                   range->last_subtype == PUG_SUB_EXCEPTION_RETURN);
    if (!see_memory(part, origin, range->start))
        put_step(part, origin, STEP_BROKEN, 0, 0);
    else if (returns) /* from an exception, to what has nothing to do with it */
        put_step(part, origin, STEP_ARRIVED, 0, range->start);
    else
        put_step(part, origin, taken ? STEP_TAKEN : STEP_RANGE, range->start,
                 range->end - range->last_size);
}

static void elements(void *context, const struct pug_origin *origin,
                     const struct pug_element *given, size_t count)
{
    struct part *part = context;
    for (size_t i = 0; i < count && !part->failed; i++) {
        const struct pug_element *element = &given[i];
        if (part->step_count >= MOST_STEPS)
            hand_on(part);
        switch (element->type) {
        case PUG_ELEM_INSTR_RANGE: take_range(part, origin, element); break;
        case PUG_ELEM_EXCEPTION:
            if (element->flags & PUG_ELEM_RET_ADDR)
                put_step(part, origin, STEP_ARRIVED, 0, element->end);
            else
                put_step(part, origin, STEP_BROKEN, 0, 0);
            break;
        case PUG_ELEM_ADDR_NACC:
        case PUG_ELEM_I_RANGE_NOPATH:
            put_step(part, origin, STEP_ARRIVED, 0, element->start);
            break;
        case PUG_ELEM_TRACE_ON:
        case PUG_ELEM_NO_SYNC:
        case PUG_ELEM_EO_TRACE:
        case PUG_ELEM_EXCEPTION_RET:
        case PUG_ELEM_ADDR_UNKNOWN: put_step(part, origin, STEP_BROKEN, 0, 0); break;
        default: break;
        }
    }
}

/* ---- text, on the caller's thread ---- */

/* From the begin of its first page to the end of its last one, where its file lies by pages. */
static struct mapping by_pages(const struct mapping *mapping)
{
    struct mapping paged = *mapping;
    const uint64_t in_page = mapping->first % PAGE;
    if (mapping->offset % PAGE != in_page)
        return paged;
    paged.first -= in_page;
    paged.offset -= in_page;
    paged.last |= PAGE - 1;
    return paged;
}

static void put_mapping(struct brstack *all, const struct mapping *mapping)
{
    const struct pug_capture_object *object = pug_capture_object_at(all->capture, mapping->object);
    const struct mapping paged = by_pages(mapping);
    uint32_t number;
    bool is_new = false;
    all->failed |= pug_profile_table_add(&all->mappings, mapping, &number, &is_new) != PUG_OK;
    if (all->failed || !is_new || !object || !mapping->chosen)
        return;
    pug_sink_format(&all->sink,
                    "PERF_RECORD_MMAP2 %" PRIi32 "/%" PRIi32 ": [0x%" PRIx64 "(0x%" PRIx64 ") @ ",
                    paged.pid, paged.tid, paged.first, paged.last - paged.first + 1);
    pug_sink_format(&all->sink, paged.offset ? "0x%" PRIx64 : "%" PRIx64, paged.offset);
    pug_sink_text(&all->sink, " 00:00 0 0]: r-xp ");
    pug_sink_printable(&all->sink, object->path);
    pug_sink_text(&all->sink, "\n");
}

static void put_stack(struct brstack *all, struct thread *thread, bool goes_on)
{
    if (thread->count > 1 || (thread->count == 1 && !goes_on)) {
        pug_sink_format(&all->sink, "%17" PRIx64 " ", thread->branches[thread->count - 1].to);
        for (unsigned i = thread->count; i-- > 0;)
            pug_sink_format(&all->sink, "0x%" PRIx64 "/0x%" PRIx64 "/P/-/-/0/  ",
                            thread->branches[i].from, thread->branches[i].to);
        pug_sink_text(&all->sink, "\n");
    }
    if (goes_on && thread->count > 0)
        thread->branches[0] = thread->branches[thread->count - 1];
    thread->count = goes_on && thread->count > 0;
}

static void arrive(struct brstack *all, struct thread *thread, uint64_t to)
{
    if (!thread->pending)
        return;
    thread->pending = false;
    thread->branches[thread->count].from = thread->from;
    thread->branches[thread->count++].to = to;
    if (thread->count == DEPTH)
        put_stack(all, thread, true);
}

/** NULL: no memory. */
static struct thread *find_thread(struct brstack *all, const struct step *step)
{
    struct thread wanted = {.task = step->task, .segment = step->segment};
    uint32_t number;
    bool is_new;
    if (step->task == PUG_NO_TASK) {
        wanted.buffer = step->buffer;
        wanted.source = step->source;
    }
    all->failed |= pug_profile_table_add(&all->threads, &wanted, &number, &is_new) != PUG_OK;
    return all->failed ? NULL : pug_profile_item(&all->threads, number);
}

static void take_step(struct brstack *all, const struct step *step)
{
    struct thread *thread = find_thread(all, step);
    if (!thread)
        return;
    if (thread->segment != step->segment) { /* it begins from nothing */
        thread->pending = false;
        put_stack(all, thread, false);
        thread->segment = step->segment;
    }
    switch ((enum step_kind)step->kind) {
    case STEP_RANGE:
    case STEP_TAKEN:
        arrive(all, thread, step->from);
        thread->pending = step->kind == STEP_TAKEN;
        thread->from = step->to;
        break;
    case STEP_ARRIVED:
        arrive(all, thread, step->to);
        put_stack(all, thread, false);
        break;
    default: thread->pending = false; put_stack(all, thread, false);
    }
}

static bool take(void *context, void *taken)
{
    struct brstack *all = context;
    struct part *part = taken;
    all->failed |= part->failed;
    for (size_t i = 0; i < part->mapping_count && !all->failed; i++)
        put_mapping(all, &part->mappings[i]);
    for (size_t i = 0; i < part->step_count && !all->failed; i++)
        take_step(all, &part->steps[i]);
    drop(part);
    return !all->failed;
}

enum pug_status pug_profile_brstack(struct pug_capture *capture,
                                    const struct pug_profiler_options *options,
                                    void (*put)(void *context, const void *bytes, size_t size),
                                    void *context, struct pug_capture_result *out)
{
    static const struct pug_profiler_options usual;
    if (!capture || !put)
        return PUG_ERR_INVALID_PARAM_VAL;
    if (!options)
        options = &usual;
    struct brstack all = {
        .capture = capture,
        .sink = {put, context},
        .threads = {.size = sizeof(struct thread), .hash = hash_thread, .same = same_thread},
        .mappings = {.size = sizeof(struct mapping), .hash = hash_mapping, .same = same_mapping},
    };
    struct pug_capture_selection selection =
        options->selection ? *options->selection : (struct pug_capture_selection){0};
    struct pug_capture_result result = {0};
    all.names = selection.objects;
    all.name_count = selection.object_count;
    selection.objects = NULL; /* what lies between is to be seen */
    selection.object_count = 0;
    const struct pug_consumer consumer = {
        .context = &all, .begin = begin, .elements = elements, .take = take, .drop = drop};
    const struct pug_capture_decode decode = {.consumers = &consumer,
                                              .consumer_count = 1,
                                              .threads = options->threads,
                                              .selection = &selection,
                                              .progress = options->progress,
                                              .progress_context = options->progress_context};
    enum pug_status status = pug_capture_decode(capture, &decode, &result);
    for (uint32_t i = 0; i < all.threads.count; i++)
        put_stack(&all, pug_profile_item(&all.threads, i), false);
    pug_profile_table_free(&all.threads);
    pug_profile_table_free(&all.mappings);
    if (out)
        *out = result;
    return status == PUG_OK && all.failed ? PUG_ERR_MEM : status;
}
