// SPDX-License-Identifier: MIT
/** @file ETMv3: the elements on their way out, and holding back what may be cancelled. */
#include "protocol/etmv3/decoder.h"

/** Slots that the list begins with; it grows by half. */
#define FIRST_CAPACITY 8

/** The slot of the n-th element. */
static struct pug_element *slot_of(struct pug_etmv3_list *list, int32_t n)
{
    int32_t at = list->first + n;
    if (at >= list->capacity)
        at -= list->capacity;
    else if (at < 0)
        at += list->capacity;
    return &list->slots[at];
}

/** Make room: new slots after the old ones, the first element in slot 0. */
static void grow(struct pug_etmv3_list *list)
{
    int32_t larger = list->capacity ? list->capacity + list->capacity / 2 : FIRST_CAPACITY;
    if (larger > (int32_t)PUG_ETMV3_LIST_SLOTS)
        larger = (int32_t)PUG_ETMV3_LIST_SLOTS;
    struct pug_element moved[PUG_ETMV3_LIST_SLOTS];
    for (int32_t i = 0; i < list->capacity; i++)
        moved[i] = *slot_of(list, i);
    memcpy(list->slots, moved, (size_t)list->capacity * sizeof(moved[0]));
    list->first = 0;
    list->capacity = larger;
}

struct pug_element *pug_etmv3_slot(struct pug_etmv3_decoder *decoder)
{
    struct pug_etmv3_list *list = &decoder->list;
    if (list->count >= list->capacity)
        grow(list);
    struct pug_element *element = slot_of(list, list->count++);
    element->index = decoder->index;
    element->source = decoder->stage->source;
    return element;
}

void pug_etmv3_set_type(struct pug_etmv3_decoder *decoder, struct pug_element *element,
                        enum pug_element_type type)
{
    const struct pug_element *blank = &decoder->stage->out.blank;
    struct pug_element old = *element;
    *element = *blank;
    element->index = old.index;
    element->type = (uint8_t)type;
    if (!decoder->stage->quirks.etmv3_stale_elements)
        return;
    element->start = old.start;
    element->end = old.end;
    element->isa = old.isa;
    element->cycle_count = old.cycle_count;
    element->last_type = old.last_type;
    element->last_subtype = old.last_subtype;
}

struct pug_element *pug_etmv3_put(struct pug_etmv3_decoder *decoder, enum pug_element_type type)
{
    struct pug_element *element = pug_etmv3_slot(decoder);
    pug_etmv3_set_type(decoder, element, type);
    return element;
}

struct pug_element *pug_etmv3_put_out(struct pug_etmv3_decoder *decoder, enum pug_element_type type)
{
    struct pug_etmv3_list *list = &decoder->list;
    if (decoder->quirky || list->held != 0 || list->count > 1)
        return pug_etmv3_put(decoder, type);
    if (list->count == 1)
        pug_etmv3_give_first(list, decoder->stage->out.batch);
    return pug_out_push(&decoder->stage->out, type, decoder->index);
}

struct pug_element *pug_etmv3_from_end(struct pug_etmv3_decoder *decoder, int32_t n)
{
    struct pug_etmv3_list *list = &decoder->list;
    return n < list->count ? slot_of(list, list->count - 1 - n) : NULL;
}

void pug_etmv3_hold(struct pug_etmv3_decoder *decoder, int32_t count)
{
    struct pug_etmv3_list *list = &decoder->list;
    if (!decoder->stage->quirks.etmv3_hold_whole_list || count >= list->count)
        list->held = count;
}

static bool is_data(const struct pug_element *element)
{
    return element->type == PUG_ELEM_DATA_ADDRESS || element->type == PUG_ELEM_DATA_VALUE;
}

/** Of the held elements keep only data, and of these none of the instruction at `pc`. */
static void keep_data_of_others(struct pug_etmv3_list *list, uint64_t pc)
{
    int32_t kept = list->count - list->held;
    for (int32_t i = kept; i < list->count; i++) {
        const struct pug_element *element = slot_of(list, i);
        if (is_data(element) && (element->flags & PUG_ELEM_HAS_PC) && element->end != pc)
            *slot_of(list, kept++) = *element;
    }
    list->count = kept;
}

void pug_etmv3_cancel(struct pug_etmv3_decoder *decoder)
{
    struct pug_etmv3_list *list = &decoder->list;
    if (list->held <= 0)
        return;
    const struct pug_element *first = slot_of(list, list->count - list->held);
    if (first->type == PUG_ELEM_INSTR_RANGE && !decoder->stage->quirks.etmv3_cancel_keeps_count)
        keep_data_of_others(list, first->start);
    else
        list->count -= list->held;
    if (!decoder->stage->quirks.etmv3_cancel_keeps_count)
        list->held = 0;
}

void pug_etmv3_cancel_data(struct pug_etmv3_decoder *decoder)
{
    struct pug_etmv3_list *list = &decoder->list;
    const struct pug_etmv3_transfer *transfer = &decoder->transfer;
    int32_t kept = list->count - list->held;
    for (int32_t i = kept; i < list->count; i++) {
        const struct pug_element *element = slot_of(list, i);
        bool aborted = is_data(element) && transfer->has_pc && (element->flags & PUG_ELEM_HAS_PC) &&
                       element->end == transfer->pc;
        if (!aborted)
            *slot_of(list, kept++) = *element;
    }
    list->count = kept;
}

bool pug_etmv3_drain(struct pug_etmv3_decoder *decoder)
{
    struct pug_etmv3_list *list = &decoder->list;
    struct pug_batch *batch = decoder->stage->out.batch;
    while (list->count > list->held) {
        if (!pug_out_ready(&decoder->stage->out)) {
            decoder->stage->pending = true;
            return false;
        }
        for (unsigned i = 0; i < PUG_OUT_STEP && list->count > list->held; i++)
            pug_etmv3_give_first(list, batch);
    }
    return true;
}

void pug_etmv3_list_clear(struct pug_etmv3_list *list)
{
    list->first = list->count = list->held = 0;
}
