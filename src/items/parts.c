// SPDX-License-Identifier: MIT
#include "items/parts.h"

#include "capture/capture.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/** The most bytes of code that one range keeps: what is longer is printed without instructions. */
#define RANGE_LIMIT (1u << 20)

/* What is kept of a piece takes some 200 times its bytes … */
#define PIECE_SIZE ((size_t)64 << 10)
/* … or much more, where a byte stands for a loop: so much is handed on. */
#define CHUNK_SIZE ((size_t)16 << 20)

/** Memory of a part, which goes with it. */
struct block {
    struct block *next;
    size_t used;
    max_align_t bytes[];
};

#define BLOCK_SIZE ((size_t)256 << 10)

struct part {
    struct trace_parts *parts;
    struct trace_window window;
    struct trace_begins begins;
    struct trace_list spare; /* items for which there is a new use */
    struct block *blocks;
    size_t size; /* of these */
    struct pug_piece *piece;
    /* The place that the last elements belonged to, and that of the last range. */
    struct pug_origin *where;
    struct trace_place *place;
    struct pug_walk *walk;
    const struct pug_image *image; /* that the walk reads */
    uint8_t *room;                 /* of a range that is being read */
    bool failed;
    bool unwanted; /* neither it nor what follows is needed */
};

static void *take_memory(struct part *part, size_t size)
{
    struct block *block = part->blocks;
    const size_t wanted = (size + sizeof(max_align_t) - 1) & ~(sizeof(max_align_t) - 1);
    if (!block || BLOCK_SIZE - block->used < wanted || wanted > BLOCK_SIZE) {
        block = malloc(sizeof(*block) + (wanted > BLOCK_SIZE ? wanted : BLOCK_SIZE));
        part->failed |= !block;
        if (!block)
            return NULL;
        *block = (struct block){.next = part->blocks};
        part->blocks = block;
        part->size += wanted > BLOCK_SIZE ? wanted : BLOCK_SIZE;
    }
    void *memory = (char *)block->bytes + block->used;
    block->used = block->used + wanted > BLOCK_SIZE ? BLOCK_SIZE : block->used + wanted;
    return memory;
}

static void *begin(void *context, unsigned worker, struct pug_piece *piece)
{
    struct trace_parts *parts = context;
    struct part *part = calloc(1, sizeof(*part));
    (void)worker;
    if (part) {
        part->parts = parts;
        part->piece = piece;
        part->window.limits = parts->wanted->limits;
        part->window.spare = &part->spare;
    }
    return part;
}

static void free_part(struct part *part)
{
    for (struct block *block = part->blocks, *next; block; block = next) {
        next = block->next;
        free(block);
    }
    pug_walk_free(part->walk);
    free(part->begins.items);
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
    if (e->type == PUG_ELEM_ITMTRACE) /* of software trace each event counts, but no time */
        return unit == TRACE_INSTRUCTIONS && e->reason <= PUG_ITM_DWT;
    if (!is_range(e))
        return 0;
    if (unit == TRACE_INSTRUCTIONS)
        return e->count;
    bool branches = e->last_type == PUG_INSTR_BR || e->last_type == PUG_INSTR_BR_INDIRECT;
    if (unit == TRACE_CALLS)
        branches &= (e->flags & PUG_ELEM_EXECUTED) && e->last_subtype == PUG_SUB_BR_LINK;
    return branches;
}

/** Does a DWT tell that an exception is entered? */
static bool enters_exception(const struct pug_element *e)
{
    struct pug_dwt_event event;
    return e->type == PUG_ELEM_ITMTRACE && e->reason == PUG_ITM_DWT && pug_dwt_meaning(e, &event) &&
           event.kind == PUG_DWT_EXCEPTION && event.action == PUG_DWT_ENTERED;
}

static bool is_wanted(const struct pug_element *e, const struct trace_wanted *wanted)
{
    switch (wanted->end) {
    case TRACE_END_EXCEPTION: return e->type == PUG_ELEM_EXCEPTION || enters_exception(e);
    case TRACE_END_EVENT: return e->type == PUG_ELEM_EVENT;
    case TRACE_END_OFFSET: return e->index >= wanted->value;
    default: return false;
    }
}

/** Did an instruction run at one of the addresses? `place`: of the range; NULL: unknown. */
static bool is_address(const struct pug_element *e, const struct trace_place *place,
                       const struct trace_wanted *wanted)
{
    for (size_t i = 0; i < wanted->addresses.count; i++) {
        const struct address_place *address = &wanted->addresses.items[i];
        uint64_t at = address->absolute;
        if (!address->is_absolute) {
            if (!place || place->object != address->object)
                continue;
            at = address->vaddr - place->to_vaddr;
        }
        if (at >= e->start && at < e->end)
            return true;
    }
    return false;
}

/** The walk of the memory that an origin has. */
static struct pug_walk *walk_of(struct part *part, const struct pug_origin *where)
{
    const struct pug_image *image = where->space ? pug_address_space_image(where->space) : NULL;
    if (image != part->image) {
        pug_walk_free(part->walk);
        part->walk = NULL;
        part->image = image;
        if (image && pug_walk_new(&(struct pug_walk_config){.image = image}, &part->walk) != PUG_OK)
            part->failed = true;
    }
    return part->walk;
}

/** Sizes and bytes of a range's instructions, into the part's room; how many there are. */
static uint32_t read_range(struct part *part, const struct pug_origin *where,
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
    part->failed |= pug_walk_status(walk) == PUG_ERR_MEM;
    memmove(room + count, room + e->count, at - e->count);
    *length = count + at - e->count;
    return count;
}

static bool same_origin(const struct pug_origin *a, const struct pug_origin *b)
{
    return a->buffer == b->buffer && a->segment == b->segment && a->task == b->task &&
           a->cpu == b->cpu && a->source == b->source && a->time == b->time && a->space == b->space;
}

/** Keep the place that elements belong to for as long as the part. */
static bool keep_where(struct part *part, const struct pug_origin *where)
{
    if (part->where && same_origin(part->where, where))
        return true;
    part->where = take_memory(part, sizeof(*where));
    part->place = NULL; /* of another space, perhaps */
    if (part->where)
        *part->where = *where;
    return part->where != NULL;
}

static const struct trace_place *place_of(struct part *part, uint64_t address)
{
    struct pug_location location;
    struct trace_place *place = part->place;
    if (place && address >= place->first && address <= place->last)
        return place;
    place = part->place = take_memory(part, sizeof(*place));
    if (!place)
        return NULL;
    const bool known = pug_capture_locate(part->parts->capture, part->where, address, &location);
    *place = (struct trace_place){.object = known ? location.object : PUG_NO_OBJECT,
                                  .first = known ? location.first : address,
                                  .last = known ? location.last : address,
                                  .to_vaddr = known ? location.vaddr - address : 0};
    return place;
}

static const uint8_t *keep_bytes(struct part *part, const void *bytes, size_t size)
{
    uint8_t *kept = size > 0 ? take_memory(part, size) : NULL;
    if (kept)
        memcpy(kept, bytes, size);
    return kept;
}

static void make_item(struct part *part, const struct pug_element *e)
{
    const struct trace_wanted *wanted = part->parts->wanted;
    struct trace_item *item = pug_trace_list_take(&part->spare);
    size_t length;
    if (!item)
        item = take_memory(part, sizeof(*item));
    if (!item)
        return;
    *item = (struct trace_item){.element = *e,
                                .where = part->where,
                                .weight = weigh(e, wanted->unit),
                                .wanted = is_wanted(e, wanted)};
    if (is_range(e))
        item->place = place_of(part, e->start);
    if (is_range(e) && wanted->end == TRACE_END_ADDRESS)
        item->wanted = is_address(e, item->place, wanted);
    if (is_range(e) && wanted->limits.all && !wanted->no_code) {
        item->sizes = read_range(part, part->where, e, &length);
        item->bytes = keep_bytes(part, part->room, length);
    } else if (e->flags & PUG_ELEM_PAYLOAD) {
        item->bytes = keep_bytes(part, e->payload, e->count);
        item->element.payload = item->bytes;
    }
    pug_trace_window_push(&part->window, item);
}

/** The entry of a source, made where there is none; NULL: no memory. */
static struct trace_begin *begin_of(struct trace_begins *begins, uint32_t segment, uint16_t source)
{
    for (size_t i = begins->count; i-- > 0;)
        if (begins->items[i].segment == segment && begins->items[i].source == source)
            return &begins->items[i];
    if (begins->count == begins->room) {
        const size_t room = 2 * begins->room + 4;
        struct trace_begin *items = realloc(begins->items, room * sizeof(*items));
        if (!items)
            return NULL;
        begins->items = items;
        begins->room = room;
    }
    begins->items[begins->count] =
        (struct trace_begin){.segment = segment, .source = source, .index = UINT64_MAX};
    return &begins->items[begins->count++];
}

static void note_begin(struct part *part, const struct pug_element *given, size_t count)
{
    struct trace_begin *begin = begin_of(&part->begins, part->where->segment, part->where->source);
    part->failed |= !begin;
    for (size_t i = 0; begin && begin->index == UINT64_MAX && i < count; i++)
        if (given[i].type != PUG_ELEM_NO_SYNC)
            begin->index = given[i].index;
}

/** What was understood in an earlier part is understood from there on. */
static void append_begins(struct trace_parts *parts, const struct trace_begins *behind)
{
    for (size_t i = 0; i < behind->count; i++) {
        const struct trace_begin *new = &behind->items[i];
        struct trace_begin *begin = begin_of(&parts->begins, new->segment, new->source);
        parts->failed |= !begin;
        if (begin && new->index < begin->index)
            begin->index = new->index;
    }
}

/** What is kept so far becomes a chunk. What points into it is made again. */
static void hand_on(struct part *part)
{
    struct part *chunk = calloc(1, sizeof(*chunk));
    const size_t size = part->size;
    if (chunk) {
        chunk->parts = part->parts;
        chunk->window.ring = part->window.ring;
        chunk->blocks = part->blocks;
        part->window =
            (struct trace_window){.limits = part->window.limits, .spare = part->window.spare};
        part->blocks = NULL;
        part->size = 0;
        part->where = NULL;
        part->place = NULL;
    }
    part->unwanted = !pug_piece_emit(part->piece, chunk, size);
}

/** Emits a chunk that is full. False: no more is wanted, or no memory. */
static bool begin_chunk(struct part *part, const struct pug_origin *where)
{
    if (part->size < CHUNK_SIZE)
        return true;
    hand_on(part);
    return !part->unwanted && keep_where(part, where);
}

static void make_others(struct part *part, const struct pug_origin *where,
                        const struct pug_element *e)
{
    const struct trace_item *last = part->window.ring.last;
    const bool tells = pug_capture_tells_time(e);
    if (part->failed || part->unwanted)
        return;
    if (!tells && part->where && last && last->others && same_origin(part->where, where))
        return; /* they are there already */
    if (!begin_chunk(part, where) || !keep_where(part, where))
        return;
    make_item(part, &(struct pug_element){.index = e->index,
                                          .timestamp = e->timestamp,
                                          .source = e->source,
                                          .type = tells ? e->type : PUG_ELEM_UNKNOWN});
    if (!part->failed)
        part->window.ring.last->others = true;
}

/** Elements that were not selected become items of `others`. */
static void others(void *context, const struct pug_origin *where, const struct pug_element *given,
                   size_t count)
{
    struct part *part = context;
    for (size_t i = 0; i < count; i++)
        make_others(part, where, &given[i]);
}

static void elements(void *context, const struct pug_origin *where, const struct pug_element *given,
                     size_t count)
{
    struct part *part = context;
    const bool all = part->parts->wanted->limits.all;
    if (part->failed || part->unwanted || !keep_where(part, where))
        return;
    if (!all)
        note_begin(part, given, count);
    for (size_t i = 0; i < count && !part->failed; i++) {
        if (all && !begin_chunk(part, where))
            return;
        make_item(part, &given[i]);
    }
}

/* ---- items that outlive their part ---- */

struct whole_item {
    struct trace_item item;
    struct pug_origin where;
    struct trace_place place;
    uint8_t bytes[];
};

/** An item for itself, with its code; NULL: no memory. */
static struct trace_item *complete(struct part *part, const struct trace_item *item)
{
    const struct pug_element *e = &item->element;
    const uint8_t *bytes = item->bytes;
    size_t length = e->flags & PUG_ELEM_PAYLOAD ? e->count : 0;
    uint32_t sizes = item->sizes;
    if (is_range(e) && !part->parts->wanted->no_code) {
        sizes = read_range(part, item->where, e, &length);
        bytes = part->room;
    }
    struct whole_item *whole = malloc(sizeof(*whole) + length);
    if (!whole)
        return NULL;
    whole->item = *item;
    whole->item.sizes = sizes;
    whole->item.where = &whole->where;
    whole->item.bytes = whole->bytes;
    whole->where = *item->where;
    if (item->place) {
        whole->place = *item->place;
        whole->item.place = &whole->place;
    }
    if (length > 0)
        memcpy(whole->bytes, bytes, length);
    if (e->flags & PUG_ELEM_PAYLOAD)
        whole->item.element.payload = whole->bytes;
    return &whole->item;
}

/** Complete all items of a list of the part's window. */
static void complete_list(struct part *part, struct trace_list *list)
{
    struct trace_list partial = *list;
    struct trace_item *item;
    *list = (struct trace_list){NULL, NULL};
    while ((item = pug_trace_list_take(&partial)) != NULL) {
        struct trace_item *whole = complete(part, item);
        part->failed |= !whole;
        if (whole)
            pug_trace_list_append(list, whole);
        if (item == part->window.boundary)
            part->window.boundary = whole;
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
    bool goes_on = true;
    if (parts->wanted->limits.all) {
        goes_on = print_items(parts, part);
    } else {
        complete_list(part, &part->window.head);
        complete_list(part, &part->window.saved);
        complete_list(part, &part->window.ring);
        part->window.spare = NULL;
        pug_trace_window_append(&parts->window, &part->window);
        append_begins(parts, &part->begins);
    }
    goes_on &= !part->failed;
    parts->failed |= part->failed;
    free_part(part);
    return goes_on;
}

static void drop(void *dropped)
{
    free_part(dropped);
}

void pug_trace_parts_decode(struct trace_parts *parts, struct pug_capture_decode *decode)
{
    parts->window.limits = parts->wanted->limits;
    if (decode->piece == 0)
        decode->piece = PIECE_SIZE;
    parts->consumer = (struct pug_consumer){.context = parts,
                                            .wants = parts->wants,
                                            .begin = begin,
                                            .elements = elements,
                                            .left_out = parts->others ? others : NULL,
                                            .take = take,
                                            .drop = drop};
    decode->consumers = &parts->consumer;
    decode->consumer_count = 1;
}

void pug_trace_parts_clear(struct trace_parts *parts)
{
    pug_trace_window_clear(&parts->window);
    free(parts->begins.items);
    parts->begins = (struct trace_begins){NULL, 0, 0};
    parts->failed = false;
}
