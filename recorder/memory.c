// SPDX-License-Identifier: MIT
#include "recorder/memory.h"

#include <stdlib.h>
#include <string.h>

#define PAGE   256u /* small: a dump holds what ran, and little beside it */
#define JOIN   16u  /* pages that a dump may bridge */
#define BEHIND 16u  /* bytes after the last page, for readers of whole words */

struct page {
    uint64_t space; /* 0: that all share; else a context id + 1 */
    uint64_t number;
    uint8_t bytes[PAGE];
    uint8_t valid[PAGE / 8];
};

struct rec_memory {
    struct page **pages; /* a hash table by space and number */
    size_t count, room;
};

struct rec_memory *rec_memory_new(void)
{
    return calloc(1, sizeof(struct rec_memory));
}

void rec_memory_free(struct rec_memory *memory)
{
    if (!memory)
        return;
    for (size_t i = 0; i < memory->room; i++)
        free(memory->pages[i]);
    free(memory->pages);
    free(memory);
}

/** Where the page is, or would be. `room` is a power of two, and never full. */
static struct page **slot_of(const struct rec_memory *memory, uint64_t space, uint64_t number)
{
    const uint64_t mixed = (number ^ space << 40) * UINT64_C(0x9E3779B97F4A7C15);
    size_t at = (size_t)(mixed >> 20) & (memory->room - 1);
    while (memory->pages[at] &&
           (memory->pages[at]->number != number || memory->pages[at]->space != space))
        at = (at + 1) & (memory->room - 1);
    return &memory->pages[at];
}

static bool grow(struct rec_memory *memory)
{
    struct rec_memory larger = {.room = memory->room ? memory->room * 2 : 256};
    larger.pages = calloc(larger.room, sizeof(struct page *));
    if (!larger.pages)
        return false;
    for (size_t i = 0; i < memory->room; i++)
        if (memory->pages[i])
            *slot_of(&larger, memory->pages[i]->space, memory->pages[i]->number) = memory->pages[i];
    larger.count = memory->count;
    free(memory->pages);
    *memory = larger;
    return true;
}

static struct page *page_for(struct rec_memory *memory, uint64_t space, uint64_t number)
{
    if (memory->count * 2 >= memory->room && !grow(memory))
        return NULL;
    struct page **slot = slot_of(memory, space, number);
    if (!*slot) {
        *slot = calloc(1, sizeof(struct page));
        if (!*slot)
            return NULL;
        (*slot)->space = space;
        (*slot)->number = number;
        memory->count++;
    }
    return *slot;
}

static uint64_t space_of(const struct rec_memory_place *place)
{
    return place->in_context ? (uint64_t)place->context_id + 1 : 0;
}

bool rec_memory_differs(const struct rec_memory *memory, const struct rec_memory_place *place,
                        const uint8_t *bytes, size_t size)
{
    const struct page *page = NULL;
    for (size_t i = 0; i < size && memory->room > 0; i++) {
        uint64_t at = place->address + i;
        if (i == 0 || at % PAGE == 0)
            page = *slot_of(memory, space_of(place), at / PAGE);
        if (page && page->valid[at % PAGE / 8] >> at % 8 & 1 && page->bytes[at % PAGE] != bytes[i])
            return true;
    }
    return false;
}

bool rec_memory_put(struct rec_memory *memory, const struct rec_memory_place *place,
                    const uint8_t *bytes, size_t size)
{
    struct page *page = NULL;
    for (size_t i = 0; i < size; i++) {
        uint64_t at = place->address + i;
        if (i == 0 || at % PAGE == 0)
            page = page_for(memory, space_of(place), at / PAGE);
        if (!page)
            return false;
        page->bytes[at % PAGE] = bytes[i];
        page->valid[at % PAGE / 8] |= (uint8_t)(1u << at % 8);
    }
    return true;
}

static int by_place(const void *a, const void *b)
{
    const struct page *left = *(struct page *const *)a, *right = *(struct page *const *)b;
    if (left->space != right->space)
        return left->space > right->space ? 1 : -1;
    return (left->number > right->number) - (left->number < right->number);
}

/** Pages from `first` on that one dump holds. */
static size_t stretch(struct page *const *pages, size_t first, size_t count)
{
    size_t n = first + 1;
    while (n < count && pages[n]->space == pages[first]->space &&
           pages[n]->number - pages[n - 1]->number <= JOIN)
        n++;
    return n;
}

/** Put the bytes of a page that were executed where they belong in `size` bytes from `start` on. */
static void copy_page(const struct page *page, uint64_t start, uint8_t *bytes, size_t size)
{
    for (size_t i = 0; page && i < PAGE; i++) {
        const uint64_t at = page->number * PAGE + i - start;
        if (at < size && page->valid[i / 8] >> i % 8 & 1)
            bytes[at] = page->bytes[i];
    }
}

/** What a context has nothing of its own at, it shares with the others. */
static bool give(const struct rec_memory *memory, struct page *const *pages, size_t count,
                 rec_memory_fn *function, void *context)
{
    const uint64_t space = pages[0]->space, start = pages[0]->number * PAGE;
    const size_t size = (size_t)(pages[count - 1]->number - pages[0]->number + 1) * PAGE + BEHIND;
    const struct rec_memory_place place = {.address = start,
                                           .in_context = space > 0,
                                           .context_id = (uint32_t)(space > 0 ? space - 1 : 0)};
    uint8_t *bytes = calloc(1, size);
    if (!bytes)
        return false;
    for (uint64_t n = pages[0]->number; space > 0 && n <= pages[count - 1]->number + 1; n++)
        copy_page(*slot_of(memory, 0, n), start, bytes, size);
    for (size_t i = 0; i < count; i++)
        copy_page(pages[i], start, bytes, size);
    bool good = function(context, &place, bytes, size);
    free(bytes);
    return good;
}

bool rec_memory_each(const struct rec_memory *memory, rec_memory_fn *function, void *context)
{
    struct page **pages = malloc((memory->count + 1) * sizeof(struct page *));
    size_t count = 0;
    bool good = pages != NULL;
    for (size_t i = 0; good && i < memory->room; i++)
        if (memory->pages[i])
            pages[count++] = memory->pages[i];
    if (good)
        qsort(pages, count, sizeof(struct page *), by_place);
    for (size_t i = 0, next; good && i < count; i = next) {
        next = stretch(pages, i, count);
        good = give(memory, pages + i, next - i, function, context);
    }
    free(pages);
    return good;
}
