// SPDX-License-Identifier: MIT
#include "recorder/memory.h"

#include <stdlib.h>
#include <string.h>

#define PAGE   256u /* small: a dump holds what ran, and little beside it */
#define JOIN   16u  /* pages that a dump may bridge */
#define BEHIND 16u  /* bytes after the last page, for readers of whole words */

struct page {
    uint64_t number;
    uint8_t bytes[PAGE];
    uint8_t valid[PAGE / 8];
};

struct rec_memory {
    struct page **pages; /* a hash table by number */
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
static struct page **slot_of(const struct rec_memory *memory, uint64_t number)
{
    size_t at = (size_t)(number * UINT64_C(0x9E3779B97F4A7C15) >> 20) & (memory->room - 1);
    while (memory->pages[at] && memory->pages[at]->number != number)
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
            *slot_of(&larger, memory->pages[i]->number) = memory->pages[i];
    larger.count = memory->count;
    free(memory->pages);
    *memory = larger;
    return true;
}

static struct page *page_for(struct rec_memory *memory, uint64_t number)
{
    if (memory->count * 2 >= memory->room && !grow(memory))
        return NULL;
    struct page **slot = slot_of(memory, number);
    if (!*slot) {
        *slot = calloc(1, sizeof(struct page));
        if (!*slot)
            return NULL;
        (*slot)->number = number;
        memory->count++;
    }
    return *slot;
}

bool rec_memory_differs(const struct rec_memory *memory, uint64_t address, const uint8_t *bytes,
                        size_t size)
{
    const struct page *page = NULL;
    for (size_t i = 0; i < size && memory->room > 0; i++) {
        uint64_t at = address + i;
        if (i == 0 || at % PAGE == 0)
            page = *slot_of(memory, at / PAGE);
        if (page && page->valid[at % PAGE / 8] >> at % 8 & 1 && page->bytes[at % PAGE] != bytes[i])
            return true;
    }
    return false;
}

bool rec_memory_put(struct rec_memory *memory, uint64_t address, const uint8_t *bytes, size_t size)
{
    struct page *page = NULL;
    for (size_t i = 0; i < size; i++) {
        uint64_t at = address + i;
        if (i == 0 || at % PAGE == 0)
            page = page_for(memory, at / PAGE);
        if (!page)
            return false;
        page->bytes[at % PAGE] = bytes[i];
        page->valid[at % PAGE / 8] |= (uint8_t)(1u << at % 8);
    }
    return true;
}

static int by_number(const void *a, const void *b)
{
    const struct page *left = *(struct page *const *)a, *right = *(struct page *const *)b;
    return (left->number > right->number) - (left->number < right->number);
}

/** Pages from `first` on that one dump holds. */
static size_t stretch(struct page *const *pages, size_t first, size_t count)
{
    size_t n = first + 1;
    while (n < count && pages[n]->number - pages[n - 1]->number <= JOIN)
        n++;
    return n;
}

static bool give(struct page *const *pages, size_t count, rec_memory_fn *function, void *context)
{
    size_t size = (size_t)(pages[count - 1]->number - pages[0]->number + 1) * PAGE + BEHIND;
    uint8_t *bytes = calloc(1, size);
    if (!bytes)
        return false;
    for (size_t i = 0; i < count; i++)
        memcpy(bytes + (pages[i]->number - pages[0]->number) * PAGE, pages[i]->bytes, PAGE);
    bool good = function(context, pages[0]->number * PAGE, bytes, size);
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
        qsort(pages, count, sizeof(struct page *), by_number);
    for (size_t i = 0, next; good && i < count; i = next) {
        next = stretch(pages, i, count);
        good = give(pages + i, next - i, function, context);
    }
    free(pages);
    return good;
}
