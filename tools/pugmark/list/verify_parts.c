// SPDX-License-Identifier: MIT
/** @file pugmark pc --verify, on workers: ranges become addresses. */
#include "recorder/exceptions.h"
#include "verify_internal.h"

#include <stdlib.h>
#include <string.h>

#define ADDRESSES 256u

/* Addresses that a part holds before it hands them on. */
#define MOST_ADDRESSES ((size_t)32 << 10)

void *verify_begin(void *context, unsigned worker, struct pug_piece *piece)
{
    struct verify_part *part = calloc(1, sizeof(*part));
    (void)worker;
    if (part)
        *part = (struct verify_part){.verify = context, .piece = piece};
    return part;
}

void verify_drop(void *data)
{
    struct verify_part *part = data;
    pug_walk_free(part->walk);
    free(part->pieces);
    free(part->addresses);
    free(part->data);
    free(part);
}

static bool reserve(struct verify_part *part, size_t count)
{
    if (part->room - part->count < count) {
        size_t room = (part->count + count) * 2;
        uint64_t *grown = realloc(part->addresses, room * sizeof(*grown));
        if (!grown)
            return false;
        part->addresses = grown;
        part->room = room;
    }
    if (part->piece_count == part->piece_room) {
        size_t room = part->piece_room * 2 + 256;
        struct verify_piece *grown = realloc(part->pieces, room * sizeof(*grown));
        if (!grown)
            return false;
        part->pieces = grown;
        part->piece_room = room;
    }
    return true;
}

/** The walk over this image; NULL: no memory. */
static struct pug_walk *walk_of(struct verify_part *part, const struct pug_image *image)
{
    if (part->walk && part->image == image)
        return part->walk;
    pug_walk_free(part->walk);
    part->walk = NULL;
    part->image = image;
    (void)pug_walk_new(&(struct pug_walk_config){.image = image}, &part->walk);
    return part->walk;
}

/** The number that a name ends with. */
static int32_t number_of(const char *name)
{
    const char *digits = name + strcspn(name, "0123456789");
    return *digits ? (int32_t)(strtoul(digits, NULL, 10) % VERIFY_CPUS) : 0;
}

int32_t verify_source_cpu(const struct pug_capture_source *source)
{
    return number_of(source->core ? source->core : source->name);
}

/** The processor that a source traces. */
static int32_t cpu_of(const struct verify *verify, const struct pug_origin *origin)
{
    const struct pug_capture_source *source;
    if (verify->by_task) {
        const struct pug_capture_task *task =
            origin->task == PUG_NO_TASK ? NULL : pug_capture_task_at(verify->capture, origin->task);
        return task ? verify_task(verify, (uint64_t)task->tid) : -1;
    }
    for (size_t n = 0; (source = pug_capture_source_at(verify->capture, n)) != NULL; n++)
        if (source->buffer == origin->buffer && source->id == origin->source &&
            pug_capture_kind(verify->capture) == PUG_CAPTURE_SNAPSHOT)
            return verify_source_cpu(source);
    return origin->cpu >= 0 ? origin->cpu % (int32_t)VERIFY_CPUS : 0;
}

/** The part's content is a chunk; the walk stays. */
static void hand_on(struct verify_part *part)
{
    struct verify_part *chunk = malloc(sizeof(*chunk));
    const size_t size = part->room * sizeof(*part->addresses) +
                        part->piece_room * sizeof(*part->pieces) +
                        part->data_room * sizeof(*part->data);
    if (chunk) {
        *chunk = *part;
        chunk->walk = NULL;
        *part = (struct verify_part){
            .verify = part->verify, .walk = part->walk, .image = part->image, .piece = part->piece};
    }
    part->failed = !pug_piece_emit(part->piece, chunk, size);
}

static void add_range(struct verify_part *part, const struct pug_origin *origin,
                      const struct pug_element *range)
{
    struct pug_walk *walk = walk_of(part, pug_address_space_image(origin->space));
    size_t before = part->count, got = 0;
    if (!walk || pug_walk_begin(walk, range) != PUG_OK) {
        part->failed = true;
        return;
    }
    do {
        if (!reserve(part, ADDRESSES)) {
            part->failed = true;
            return;
        }
        got = pug_walk_addresses(walk, part->addresses + part->count, ADDRESSES);
        part->count += got;
    } while (got > 0);
    part->pieces[part->piece_count++] =
        (struct verify_piece){.index = range->index,
                              .segment = origin->segment,
                              .count = (uint32_t)(part->count - before),
                              .source = origin->source,
                              .cpu = cpu_of(part->verify, origin),
                              .number = range->context_id,
                              .has_context = range->context_flags & PUG_CTX_CONTEXT_ID,
                              .level = range->context_flags & PUG_CTX_LEVEL ? range->level : -1};
}

/** An exception, or a return from one. How an encoder stops its trace is none. */
static void add_trap(struct verify_part *part, const struct pug_origin *origin,
                     const struct pug_element *element)
{
    const bool exception = element->type == PUG_ELEM_EXCEPTION;
    if (exception &&
        (element->flags & PUG_ELEM_DATA_MARKER ||
         rec_exception_is_halt((enum pug_exception_numbers)element->reason, element->number)))
        return;
    part->failed = !reserve(part, 0);
    if (part->failed)
        return;
    part->pieces[part->piece_count++] =
        (struct verify_piece){.index = element->index,
                              .segment = origin->segment,
                              .source = origin->source,
                              .cpu = cpu_of(part->verify, origin),
                              .what = exception ? VERIFY_EXCEPTION : VERIFY_RETURN,
                              .numbers = element->reason,
                              .has_back = exception && element->flags & PUG_ELEM_RET_ADDR,
                              .number = exception ? element->number : 0,
                              .back = element->end};
}

static void add_data(struct verify_part *part, const struct pug_origin *origin,
                     const struct pug_element *element)
{
    if (part->data_count == part->data_room) {
        size_t room = part->data_room * 2 + 256;
        struct verify_data_piece *grown = realloc(part->data, room * sizeof(*grown));
        part->failed = !grown;
        if (!grown)
            return;
        part->data = grown;
        part->data_room = room;
    }
    part->data[part->data_count++] =
        (struct verify_data_piece){.element = *element,
                                   .where = {.index = element->index,
                                             .segment = origin->segment,
                                             .count = 1,
                                             .source = origin->source,
                                             .cpu = cpu_of(part->verify, origin)}};
}

void verify_elements(void *data, const struct pug_origin *origin,
                     const struct pug_element *elements, size_t count)
{
    struct verify_part *part = data;
    for (size_t i = 0; i < count && !part->failed; i++) {
        if (elements[i].type == PUG_ELEM_INSTR_RANGE)
            add_range(part, origin, &elements[i]);
        else if (part->verify->has_traps && (elements[i].type == PUG_ELEM_EXCEPTION ||
                                             elements[i].type == PUG_ELEM_EXCEPTION_RET))
            add_trap(part, origin, &elements[i]);
        else if (elements[i].type == PUG_ELEM_DATA_ADDRESS ||
                 elements[i].type == PUG_ELEM_DATA_VALUE)
            add_data(part, origin, &elements[i]);
        if (part->count + part->piece_count + part->data_count >= MOST_ADDRESSES && !part->failed)
            hand_on(part);
    }
}
