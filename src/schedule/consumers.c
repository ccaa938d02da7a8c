// SPDX-License-Identifier: MIT
#include "schedule/consumers.h"

#include "counts/counts.h"

#include <stdlib.h>

static bool is_whole(const struct pug_consumer *consumer)
{
    return consumer->begin && consumer->elements && consumer->take && consumer->drop &&
           !consumer->pack == !consumer->unpack && (consumer->pack || !consumer->fold);
}

bool pug_consumers_are_whole(const struct pug_consumers *list)
{
    bool whole = list->items || list->count == 0;
    for (size_t i = 0; whole && i < list->count; i++)
        whole = is_whole(&list->items[i]);
    return whole;
}

bool pug_consumers_can_pack(const struct pug_consumers *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (!list->items[i].pack)
            return false;
    return list->count > 0;
}

bool pug_consumers_can_fold(const struct pug_consumers *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (!list->items[i].fold)
            return false;
    return list->count > 0;
}

bool pug_consumers_count(const struct pug_consumers *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].counted)
            return true;
    return false;
}

bool pug_consumers_take_left_out(const struct pug_consumers *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].left_out)
            return true;
    return false;
}

bool pug_consumers_want(const struct pug_consumers *list, uint32_t wants)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].wants & wants)
            return true;
    return false;
}

bool pug_consumers_all_want(const struct pug_consumers *list, uint32_t wants)
{
    for (size_t i = 0; i < list->count; i++)
        if (!(list->items[i].wants & wants))
            return false;
    return list->count > 0;
}

bool pug_consumers_attach(const struct pug_consumers *list, unsigned worker, struct pug_tree *tree)
{
    bool good = true;
    for (size_t i = 0; i < list->count && good; i++)
        good =
            !list->items[i].attach || list->items[i].attach(list->items[i].context, worker, tree);
    return good;
}

/* ---- counting ---- */

struct pug_counts *pug_consumers_new_counts(const struct pug_consumers *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].counted && !(list->items[i].wants & PUG_WANTS_TOTALS))
            return pug_counts_new();
    return pug_counts_new_bare();
}

void pug_consumers_counted(const struct pug_consumers *list, struct pug_counts *counts)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].counted)
            list->items[i].counted(list->items[i].context, counts);
}

bool pug_consumers_show(const struct pug_consumers *list, uint64_t at, uint64_t *end)
{
    bool shown = false;
    for (size_t i = 0; i < list->count; i++) {
        const struct pug_consumer *consumer = &list->items[i];
        uint64_t until = *end;
        if (consumer->shows)
            shown |= consumer->shows(consumer->context, at, &until);
        else
            shown |= !consumer->counted;
        *end = until < *end ? until : *end;
    }
    return shown;
}

/* ---- parts ---- */

struct pug_parts *pug_parts_new(const struct pug_consumers *list)
{
    return calloc(1, sizeof(struct pug_parts) + list->count * sizeof(void *));
}

void pug_parts_elements(const struct pug_consumers *list, void *const *parts,
                        const struct pug_origin *origin, const struct pug_element *elements,
                        size_t count, bool left_out)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct pug_consumer *consumer = &list->items[i];
        if (!left_out)
            consumer->elements(parts[i], origin, elements, count);
        else if (consumer->left_out)
            consumer->left_out(parts[i], origin, elements, count);
    }
}

bool pug_parts_end(const struct pug_consumers *list, void *const *parts,
                   const struct pug_piece_end *end)
{
    bool good = true;
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].end && parts[i])
            good &= list->items[i].end(parts[i], end);
    return good;
}

bool pug_parts_take(const struct pug_consumers *list, struct pug_parts *parts)
{
    bool more = true;
    for (size_t i = 0; i < list->count; i++) {
        if (parts->parts[i])
            more &= list->items[i].take(list->items[i].context, parts->parts[i]);
        parts->parts[i] = NULL;
    }
    return more;
}

void pug_parts_free(const struct pug_consumers *list, struct pug_parts *parts)
{
    for (size_t i = 0; parts && i < list->count; i++)
        if (parts->parts[i])
            list->items[i].drop(parts->parts[i]);
    if (parts) {
        pug_counts_free(parts->counts);
        pug_log_records_free(&parts->records);
    }
    free(parts);
}

/* ---- other processes ---- */

/** In front of what a part packed. */
struct header {
    uint64_t exists, size;
};

static void pack(const struct pug_consumer *consumer, const void *part, struct pug_state *bytes)
{
    struct header header = {.exists = part != NULL};
    pug_state_put(bytes, &header, sizeof(header));
    const size_t begin = bytes->size;
    if (part)
        consumer->pack(part, bytes);
    header.size = bytes->size - begin;
    if (!bytes->failed)
        memcpy(bytes->bytes + begin - sizeof(header), &header, sizeof(header));
}

void pug_parts_pack(const struct pug_consumers *list, const struct pug_parts *parts,
                    struct pug_state *bytes)
{
    pug_state_number(bytes, parts->bytes);
    pug_state_number(bytes, parts->fatal);
    pug_state_number(bytes, parts->at);
    pug_log_records_pack(&parts->records, bytes);
    pug_state_number(bytes, parts->counts != NULL);
    if (parts->counts)
        pug_counts_pack(parts->counts, bytes);
    for (size_t i = 0; i < list->count; i++)
        pack(&list->items[i], parts->parts[i], bytes);
}

static bool unpack(const struct pug_consumer *consumer, struct pug_bytes *bytes, void **part)
{
    struct header header;
    const uint8_t *at = pug_bytes_take(bytes, sizeof(header));
    if (!at)
        return false;
    memcpy(&header, at, sizeof(header));
    at = pug_bytes_take(bytes, (size_t)header.size);
    if (header.exists && at)
        *part = consumer->unpack(consumer->context, at, (size_t)header.size);
    return at && (*part || !header.exists);
}

struct pug_parts *pug_parts_unpack(const struct pug_consumers *list, struct pug_bytes *bytes)
{
    struct pug_parts *parts = pug_parts_new(list);
    if (!parts)
        return NULL;
    parts->bytes = pug_bytes_take_64(bytes);
    parts->fatal = pug_bytes_take_64(bytes);
    parts->at = pug_bytes_take_64(bytes);
    pug_log_records_unpack(&parts->records, bytes);
    const bool counted = pug_bytes_take_64(bytes);
    parts->counts = counted ? pug_counts_unpack(bytes) : NULL;
    bool good = parts->counts || !counted;
    for (size_t i = 0; i < list->count && good; i++)
        good = unpack(&list->items[i], bytes, &parts->parts[i]);
    if (good)
        return parts;
    pug_parts_free(list, parts);
    return NULL;
}

bool pug_parts_fold(const struct pug_consumers *list, struct pug_parts *parts,
                    struct pug_parts *later)
{
    bool good = true;
    pug_log_records_join(&parts->records, &later->records);
    if (parts->counts && later->counts)
        pug_counts_append(parts->counts, later->counts);
    for (size_t i = 0; i < list->count; i++) {
        if (parts->parts[i] && later->parts[i])
            good &= list->items[i].fold(parts->parts[i], later->parts[i]);
        else if (later->parts[i])
            parts->parts[i] = later->parts[i];
        later->parts[i] = NULL;
    }
    pug_parts_free(list, later);
    return good;
}

/* ---- pieces ---- */

/** The messages so far go with the chunk. */
static bool emit(struct pug_piece *base, void *chunk, size_t size)
{
    const struct pug_piece_of *piece = (const struct pug_piece_of *)base;
    const struct pug_pieces *all = piece->all;
    struct pug_parts *parts = chunk ? pug_parts_new(all->list) : NULL;
    if (chunk && !parts)
        all->list->items[piece->consumer].drop(chunk);
    if (parts) {
        parts->parts[piece->consumer] = chunk;
        parts->records = all->parts->records;
        all->parts->records = (struct pug_log_records){0};
    }
    return all->give(all->context, parts, size);
}

struct pug_pieces *pug_pieces_new(const struct pug_consumers *list,
                                  bool (*give)(void *context, struct pug_parts *chunk, size_t size),
                                  void *context)
{
    struct pug_pieces *pieces = calloc(1, sizeof(*pieces) + list->count * sizeof(pieces->items[0]));
    if (!pieces)
        return NULL;
    pieces->list = list;
    pieces->give = give;
    pieces->context = context;
    for (size_t i = 0; i < list->count; i++)
        pieces->items[i] =
            (struct pug_piece_of){.base = {.emit = emit}, .all = pieces, .consumer = i};
    return pieces;
}

struct pug_parts *pug_pieces_begin(struct pug_pieces *pieces, unsigned worker, uint32_t segment,
                                   uint64_t offset)
{
    const struct pug_consumers *list = pieces->list;
    struct pug_parts *parts = pug_parts_new(list);
    bool good = parts != NULL;
    for (size_t i = 0; good && i < list->count; i++) {
        const struct pug_consumer *consumer = &list->items[i];
        pieces->items[i].base.segment = segment;
        pieces->items[i].base.offset = offset;
        pieces->items[i].base.counted = pieces->counted;
        parts->parts[i] = consumer->begin(consumer->context, worker, &pieces->items[i].base);
        good = parts->parts[i] != NULL;
    }
    if (!good) {
        pug_parts_free(list, parts);
        parts = NULL;
    }
    pieces->parts = parts;
    return parts;
}
