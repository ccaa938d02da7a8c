// SPDX-License-Identifier: MIT
/** @file Vector tables of M profile programs: where they are, and the handlers that they name. */
#include "base/bytes.h"
#include "image/image.h"

#define SYSTEM_VECTORS  16u
#define ALIGNMENT       128u /* of VTOR, at the least */
#define INTERRUPTS      496u
#define MOST_CANDIDATES 131072u

static bool read_words(const struct pug_image *image, const struct pug_reader_space *space,
                       uint64_t address, uint32_t *words, unsigned count)
{
    uint8_t bytes[4 * (SYSTEM_VECTORS + INTERRUPTS)];
    const size_t size = (size_t)4 * count;
    if (pug_image_read(image, space, address, bytes, size) != (int64_t)size)
        return false;
    for (unsigned i = 0; i < count; i++)
        words[i] = pug_bytes_32(bytes + 4 * i);
    return true;
}

/** Is a word the address of a function in T32 code? */
static bool is_handler(const struct pug_image *image, uint32_t word, struct pug_symbol *symbol)
{
    return (word & 1) && pug_image_symbol(image, word & ~UINT32_C(1), symbol) &&
           symbol->start == (word & ~UINT32_C(1));
}

/**
 * How many system handlers a table at this address has, reset included; 0: it is none. Each vector
 * that the architecture defines is a function or 0, and there are at least two functions.
 */
static unsigned rank(const struct pug_image *image, const struct pug_reader_space *space,
                     uint64_t address)
{
    static const uint8_t defined[] = {2, 3, 4, 5, 6, 11, 12, 14, 15};
    uint32_t words[SYSTEM_VECTORS];
    struct pug_symbol symbol;
    unsigned handlers = 1;
    if (!read_words(image, space, address, words, 2) || words[0] == 0 || (words[0] & 3) ||
        !is_handler(image, words[1], &symbol) ||
        !read_words(image, space, address, words, SYSTEM_VECTORS))
        return 0;
    for (unsigned i = 0; i < sizeof(defined); i++) {
        const bool handler = is_handler(image, words[defined[i]], &symbol);
        if (!handler && words[defined[i]] != 0)
            return 0;
        handlers += handler;
    }
    return handlers > 1 ? handlers : 0;
}

static void look_at(const struct pug_image *image, const struct pug_reader_space *space,
                    uint64_t address, unsigned *best, struct pug_vector_table *table)
{
    const unsigned handlers = rank(image, space, address);
    if (handlers == 0)
        return;
    table->found++;
    if (handlers <= *best)
        return;
    *best = handlers;
    table->address = address;
}

/** How many vectors follow those of the system: addresses of functions, or 0. */
static unsigned count_interrupts(const struct pug_image *image,
                                 const struct pug_vector_table *table)
{
    struct pug_symbol symbol;
    uint32_t word;
    unsigned count = 0;
    while (count < INTERRUPTS &&
           read_words(image, &table->space, table->address + 4 * (uint64_t)(SYSTEM_VECTORS + count),
                      &word, 1) &&
           (word == 0 || is_handler(image, word, &symbol)))
        count++;
    return count;
}

bool pug_vector_table(const struct pug_image *image, const struct pug_reader_space *space,
                      struct pug_vector_table *table)
{
    static const struct pug_reader_space anybody = {.space = PUG_SPACE_ANY};
    unsigned best = 0, candidates = 0;
    *table = (struct pug_vector_table){.space = space ? *space : anybody};
    for (size_t i = 0; image && i < image->count; i++) {
        const struct pug_accessor *accessor = image->accessors[i];
        if (!accessor->program || !(accessor->place.space & table->space.space))
            continue;
        for (size_t j = 0; j < accessor->count; j++) {
            const struct pug_range *range = &accessor->ranges[j];
            uint64_t at = (range->start + (ALIGNMENT - 1)) & ~(uint64_t)(ALIGNMENT - 1);
            for (; at >= range->start && at <= range->end && candidates < MOST_CANDIDATES;
                 at += ALIGNMENT, candidates++)
                look_at(image, &table->space, at, &best, table);
        }
    }
    if (table->found == 1)
        table->count = SYSTEM_VECTORS + count_interrupts(image, table);
    return table->found == 1;
}

bool pug_vector_symbol(const struct pug_image *image, const struct pug_vector_table *table,
                       unsigned vector, struct pug_symbol *symbol)
{
    uint32_t words[SYSTEM_VECTORS + INTERRUPTS] = {0};
    if (vector == 0 || vector >= table->count || table->count > SYSTEM_VECTORS + INTERRUPTS ||
        !read_words(image, &table->space, table->address, words, table->count) ||
        !is_handler(image, words[vector], symbol))
        return false;
    for (unsigned i = 1; i < table->count; i++)
        if (i != vector && words[i] == words[vector])
            return false; /* the name says nothing of one of them */
    return true;
}
