// SPDX-License-Identifier: MIT
#include "image/symbols.h"
#include "base/bisect.h"
#include "image/image.h"

#include <stdlib.h>

void pug_symbols_free(struct pug_symbols *symbols)
{
    while (symbols) {
        struct pug_symbols *next = symbols->next;
        free(symbols->entries);
        free(symbols->strings);
        free(symbols);
        symbols = next;
    }
}

void pug_symbols_hide(struct pug_symbols *symbols, const struct pug_accessor *accessor)
{
    for (; symbols; symbols = symbols->next)
        if (symbols->accessor == accessor)
            symbols->accessor = NULL;
}

/* By start; of several at one address the functions first, the smallest of them last. */
static int by_start(const void *left, const void *right)
{
    const struct pug_symbol_entry *a = left, *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    if (a->label != b->label)
        return a->label ? 1 : -1;
    if (a->end != b->end)
        return a->end > b->end ? -1 : 1;
    return a->name < b->name ? -1 : a->name > b->name;
}

void pug_symbols_finish(struct pug_symbols *symbols)
{
    struct pug_symbol_entry *entries = symbols->entries;
    size_t kept = 0;
    uint64_t covered = 0;
    qsort(entries, symbols->count, sizeof(*entries), by_start);
    for (size_t i = 0; i < symbols->count; i++) {
        bool inside = entries[i].label && entries[i].start < covered;
        bool second = kept > 0 && entries[kept - 1].start == entries[i].start;
        if (inside || second)
            continue;
        if (!entries[i].label && entries[i].end > covered)
            covered = entries[i].end;
        entries[kept++] = entries[i];
    }
    symbols->count = kept;
    for (size_t i = 0; i + 1 < kept; i++)
        if (entries[i].label && entries[i].end > entries[i + 1].start)
            entries[i].end = entries[i + 1].start;
}

/* How far back an enclosing function is looked for; functions hardly ever nest. */
#define LOOK_BACK 64

/* How many symbols begin at or below `address`. */
static size_t count_up_to(const struct pug_symbols *symbols, uint64_t address)
{
    return pug_bisect_to(symbols->entries, symbols->count, sizeof(*symbols->entries),
                         offsetof(struct pug_symbol_entry, start), address);
}

static const struct pug_symbol_entry *find(const struct pug_symbols *symbols, uint64_t address)
{
    size_t low = count_up_to(symbols, address);
    for (size_t back = 0; back < LOOK_BACK && back < low; back++)
        if (address < symbols->entries[low - 1 - back].end)
            return &symbols->entries[low - 1 - back];
    return NULL;
}

static struct pug_symbol symbol_of(const struct pug_symbols *list,
                                   const struct pug_symbol_entry *entry)
{
    return (struct pug_symbol){.name = entry->name,
                               .start = entry->start,
                               .size = entry->end - entry->start,
                               .file = pug_file_path(list->accessor->file),
                               .vaddr = entry->start - list->accessor->bias};
}

bool pug_image_symbol(const struct pug_image *image, uint64_t address, struct pug_symbol *symbol)
{
    for (const struct pug_symbols *list = image->symbols; list; list = list->next) {
        const struct pug_symbol_entry *entry = list->accessor ? find(list, address) : NULL;
        if (!entry)
            continue;
        *symbol = symbol_of(list, entry);
        return true;
    }
    return false;
}

bool pug_image_symbol_at(const struct pug_image *image, size_t n, struct pug_symbol *symbol)
{
    for (const struct pug_symbols *list = image->symbols; list; list = list->next) {
        if (!list->accessor)
            continue;
        if (n < list->count) {
            *symbol = symbol_of(list, &list->entries[n]);
            return true;
        }
        n -= list->count;
    }
    return false;
}

bool pug_image_symbol_in(const struct pug_image *image, uint64_t start, uint64_t end,
                         struct pug_symbol *symbol)
{
    const struct pug_symbol_entry *first = NULL;
    const struct pug_symbols *of = NULL;
    if (start >= end)
        return false;
    if (pug_image_symbol(image, start, symbol))
        return true;
    for (const struct pug_symbols *list = image->symbols; list; list = list->next) {
        size_t next = list->accessor ? count_up_to(list, start) : list->count;
        if (next < list->count && (!first || list->entries[next].start < first->start)) {
            first = &list->entries[next];
            of = list;
        }
    }
    if (!first || first->start >= end)
        return false;
    *symbol = symbol_of(of, first);
    return true;
}
