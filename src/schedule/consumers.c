// SPDX-License-Identifier: MIT
#include "schedule/consumers.h"

#include "pugmark/advanced/counts.h"

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

bool pug_consumers_attach(const struct pug_consumers *list, unsigned worker, struct pug_tree *tree)
{
    bool good = true;
    for (size_t i = 0; i < list->count && good; i++)
        good =
            !list->items[i].attach || list->items[i].attach(list->items[i].context, worker, tree);
    return good;
}

bool pug_consumers_want(const struct pug_consumers *list, uint32_t wants)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->items[i].wants & wants)
            return true;
    return false;
}

void pug_consumers_elements(const struct pug_consumers *list, void *const *parts,
                            const struct pug_origin *origin, const struct pug_element *elements,
                            size_t count)
{
    for (size_t i = 0; i < list->count; i++)
        list->items[i].elements(parts[i], origin, elements, count);
}

bool pug_consumers_take(const struct pug_consumers *list, void **parts)
{
    bool more = true;
    for (size_t i = 0; i < list->count; i++) {
        void *part = parts[i];
        parts[i] = NULL;
        if (part)
            more &= list->items[i].take(list->items[i].context, part);
    }
    return more;
}

void pug_consumers_drop(const struct pug_consumers *list, void **parts)
{
    for (size_t i = 0; i < list->count; i++) {
        if (parts[i])
            list->items[i].drop(parts[i]);
        parts[i] = NULL;
    }
}

/* ---- counting ---- */

/** The first consumer from the n-th on that counts. */
static size_t next_counting(const struct pug_consumers *list, size_t n)
{
    while (n < list->count && !list->items[n].counts)
        n++;
    return n;
}

struct pug_counts *pug_consumers_counts(const struct pug_consumers *list, void *const *parts)
{
    const size_t n = next_counting(list, 0);
    return n < list->count ? list->items[n].counts(parts[n]) : NULL;
}

void pug_consumers_spread_counts(const struct pug_consumers *list, void *const *parts)
{
    const size_t first = next_counting(list, 0);
    for (size_t n = first; (n = next_counting(list, n + 1)) < list->count;)
        pug_counts_append(list->items[n].counts(parts[n]), list->items[first].counts(parts[first]));
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
            shown |= !consumer->counts;
        *end = until < *end ? until : *end;
    }
    return shown;
}

/* ---- other processes ---- */

void pug_consumers_pack(const struct pug_consumers *list, void *const *parts,
                        struct pug_state *bytes)
{
    for (size_t i = 0; i < list->count; i++) {
        pug_state_number(bytes, parts[i] != NULL);
        pug_state_number(bytes, 0); /* its size, as soon as that is known */
        const size_t begin = bytes->size;
        if (parts[i])
            list->items[i].pack(parts[i], bytes);
        if (!bytes->failed)
            memcpy(bytes->bytes + begin - sizeof(uint64_t), &(uint64_t){bytes->size - begin},
                   sizeof(uint64_t));
    }
}

static bool unpack(const struct pug_consumer *consumer, struct pug_bytes *bytes, void **part)
{
    uint64_t header[2];
    const uint8_t *at = pug_bytes_take(bytes, sizeof(header));
    if (!at)
        return false;
    memcpy(header, at, sizeof(header));
    at = pug_bytes_take(bytes, (size_t)header[1]);
    if (header[0] && at)
        *part = consumer->unpack(consumer->context, at, (size_t)header[1]);
    return at && (*part || !header[0]);
}

bool pug_consumers_unpack(const struct pug_consumers *list, struct pug_bytes *bytes, void **parts)
{
    bool good = true;
    for (size_t i = 0; i < list->count && good; i++)
        good = unpack(&list->items[i], bytes, &parts[i]);
    if (!good)
        pug_consumers_drop(list, parts);
    return good;
}

bool pug_consumers_fold(const struct pug_consumers *list, void **parts, void **later)
{
    bool good = true;
    for (size_t i = 0; i < list->count; i++) {
        if (parts[i] && later[i])
            good &= list->items[i].fold(parts[i], later[i]);
        else if (later[i])
            parts[i] = later[i];
        later[i] = NULL;
    }
    return good;
}
