// SPDX-License-Identifier: MIT
#include "trace_parts.h"

#include <stdlib.h>
#include <string.h>

/** The most bytes of code that one range keeps: what is longer is printed without instructions. */
#define RANGE_LIMIT (1u << 20)

struct part {
    struct trace_parts *parts;
    struct trace_window window;
    struct pug_walk *walk;
    const struct pug_image *image; /* that the walk reads */
    uint8_t *room;                 /* of an item that is being made */
    bool failed;
};

static void *begin(void *context, unsigned worker)
{
    struct trace_parts *parts = context;
    struct part *part = calloc(1, sizeof(*part));
    (void)worker;
    if (part) {
        part->parts = parts;
        part->window.limits = parts->wanted->limits;
    }
    return part;
}

static void free_part(struct part *part)
{
    trace_window_clear(&part->window);
    pug_walk_free(part->walk);
    free(part->room);
    free(part);
}

/* ---- making items ---- */

static bool is_range(const struct pug_element *e)
{
    return e->type == PUG_ELEM_INSTR_RANGE;
}

static uint32_t weigh(const struct pug_element *e, enum trace_unit unit)
{
    if (!is_range(e))
        return 0;
    if (unit == TRACE_INSTRUCTIONS)
        return e->count;
    bool branches = e->last_type == PUG_INSTR_BR || e->last_type == PUG_INSTR_BR_INDIRECT;
    if (unit == TRACE_CALLS)
        branches &= (e->flags & PUG_ELEM_EXECUTED) && e->last_subtype == PUG_SUB_BR_LINK;
    return branches;
}

static bool is_wanted(const struct pug_element *e, const struct trace_wanted *wanted)
{
    switch (wanted->end) {
    case TRACE_END_EXCEPTION: return e->type == PUG_ELEM_EXCEPTION;
    case TRACE_END_EVENT: return e->type == PUG_ELEM_EVENT;
    case TRACE_END_ADDRESS:
        return is_range(e) && wanted->value >= e->start && wanted->value < e->end;
    case TRACE_END_OFFSET: return e->index >= wanted->value;
    default: return false;
    }
}

/** The walk of the memory that a situation has. */
static struct pug_walk *walk_of(struct part *part, const struct pug_situation *where)
{
    const struct pug_image *image = where->space ? pug_address_space_image(where->space) : NULL;
    if (image != part->image) {
        pug_walk_free(part->walk);
        part->walk = NULL;
        part->image = image;
        if (image)
            pug_walk_new(&(struct pug_walk_config){.image = image}, &part->walk);
    }
    return part->walk;
}

/** Sizes and bytes of a range's instructions, into the part's room; how many there are. */
static uint32_t read_range(struct part *part, const struct pug_situation *where,
                           const struct pug_element *e, size_t *length)
{
    struct pug_walk *walk = walk_of(part, where);
    const uint64_t bytes = e->end - e->start;
    uint32_t count = 0;
    size_t at = e->count;
    *length = 0;
    if (!walk || bytes > RANGE_LIMIT || e->count > bytes || pug_walk_begin(walk, e) != PUG_OK)
        return 0;
    uint8_t *room = realloc(part->room, e->count + (size_t)bytes + PUG_STEP_BYTES);
    if (!room) {
        part->failed = true;
        return 0;
    }
    part->room = room;
    const struct pug_step *step;
    while (count < e->count && (step = pug_walk_next(walk)) != NULL && at < e->count + bytes) {
        room[count++] = step->insn.size;
        memcpy(room + at, step->bytes, step->insn.size);
        at += step->insn.size;
    }
    memmove(room + count, room + e->count, at - e->count);
    *length = count + at - e->count;
    return count;
}

static struct trace_item *make_item(struct part *part, const struct pug_situation *where,
                                    const struct pug_element *e)
{
    const struct trace_wanted *wanted = part->parts->wanted;
    size_t length = e->flags & PUG_ELEM_PAYLOAD ? e->count : 0;
    uint32_t sizes = is_range(e) && !wanted->no_code ? read_range(part, where, e, &length) : 0;
    struct trace_item *item = malloc(sizeof(*item) + length);
    if (!item)
        return NULL;
    *item = (struct trace_item){.element = *e,
                                .where = *where,
                                .place = {.object = PUG_NO_OBJECT},
                                .weight = weigh(e, wanted->unit),
                                .wanted = is_wanted(e, wanted),
                                .sizes = sizes};
    item->where.space = NULL;
    if (length > 0)
        memcpy(item->bytes, is_range(e) ? part->room : e->payload, length);
    if (e->flags & PUG_ELEM_PAYLOAD)
        item->element.payload = item->bytes;
    if (is_range(e) && !pug_capture_locate(part->parts->capture, where, e->start, &item->place))
        item->place.object = PUG_NO_OBJECT;
    return item;
}

static void elements(void *context, const struct pug_situation *where,
                     const struct pug_element *given, size_t count)
{
    struct part *part = context;
    for (size_t i = 0; i < count && !part->failed; i++) {
        struct trace_item *item = make_item(part, where, &given[i]);
        if (item)
            trace_window_push(&part->window, item);
        else
            part->failed = true;
    }
}

/* ---- taking parts ---- */

static bool print_items(struct trace_parts *parts, struct part *part)
{
    bool goes_on = true;
    for (struct trace_item *item = part->window.ring.first; item && goes_on; item = item->next)
        goes_on = parts->print(parts->print_context, item);
    return goes_on;
}

static bool take(void *context, void *taken)
{
    struct trace_parts *parts = context;
    struct part *part = taken;
    bool goes_on = !part->failed;
    parts->failed |= part->failed;
    if (parts->wanted->limits.all)
        goes_on = print_items(parts, part) && goes_on;
    else
        trace_window_append(&parts->window, &part->window);
    free_part(part);
    return goes_on;
}

static void drop(void *dropped)
{
    free_part(dropped);
}

void trace_parts_decode(struct trace_parts *parts, struct pug_capture_decode *decode)
{
    parts->window.limits = parts->wanted->limits;
    decode->context = parts;
    decode->begin = begin;
    decode->elements = elements;
    decode->take = take;
    decode->drop = drop;
}
