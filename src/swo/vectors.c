// SPDX-License-Identifier: MIT
#include "swo/vectors.h"

#include "base/bytes.h"
#include "base/text.h"
#include "pugmark/dwt.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* The first vectors: the stack, reset, and what every core has. */
#define VECTOR_RESET  1u
#define FIRST_VECTORS 16u

/** Words of a table; how many there are. */
static unsigned read_table(struct pug_vectors *vectors, uint64_t base)
{
    uint8_t bytes[4 * PUG_VECTORS];
    const int64_t got =
        pug_image_read(vectors->image, &vectors->reader, base, bytes, (uint32_t)sizeof(bytes));
    const unsigned count = got > 0 ? (unsigned)got / 4 : 0;
    for (unsigned i = 0; i < PUG_VECTORS; i++)
        vectors->words[i] = i < count ? pug_bytes_32(bytes + (size_t)4 * i) : 0;
    return count;
}

/** Is the word the address of Thumb code of the program? */
static bool is_code(const struct pug_vectors *vectors, uint32_t word)
{
    uint8_t byte;
    return (word & 1) && pug_image_read(vectors->image, &vectors->reader, word - 1, &byte, 1) == 1;
}

/** A stack in RAM, a reset vector, and after it nothing but code or zeros. */
static bool is_table(struct pug_vectors *vectors, uint64_t base)
{
    if (base % 128 != 0 || read_table(vectors, base) < FIRST_VECTORS)
        return false;
    const uint32_t *words = vectors->words;
    if (words[0] == 0 || words[0] % 4 != 0 || !is_code(vectors, words[VECTOR_RESET]))
        return false;
    for (unsigned i = VECTOR_RESET + 1; i < 7; i++) /* NMI and faults */
        if (words[i] != 0 && !is_code(vectors, words[i]))
            return false;
    return words[2] != 0 && words[3] != 0;
}

/** Look at the ranges of the source's own programs, or at those of all. */
static void look(struct pug_vectors *vectors, bool own)
{
    struct pug_image_range range;
    for (size_t n = 0; !vectors->found && pug_image_range(vectors->image, n, &range); n++) {
        if (range.place.has_source != own || (own && vectors->reader.source != PUG_VECTORS_ANY &&
                                              range.place.source != vectors->reader.source))
            continue;
        if (own)
            vectors->reader.source = range.place.source;
        vectors->found = is_table(vectors, range.start);
        vectors->base = range.start;
    }
}

void pug_vectors_find(struct pug_vectors *vectors, const struct pug_image *image, uint16_t source)
{
    memset(vectors, 0, sizeof(*vectors));
    vectors->image = image;
    vectors->reader = (struct pug_reader_space){.space = PUG_SPACE_ANY, .source = source};
    if (!image)
        return;
    look(vectors, true);
    if (!vectors->found)
        look(vectors, false);
}

/** Its symbol, if no other vector leads there. */
static bool handler_of(const struct pug_vectors *vectors, unsigned number,
                       struct pug_symbol *symbol)
{
    const uint32_t word = number < PUG_VECTORS ? vectors->words[number] : 0;
    if (!vectors->found || number == 0 || word == 0 || !is_code(vectors, word))
        return false;
    for (unsigned i = 1; i < PUG_VECTORS; i++)
        if (i != number && vectors->words[i] == word)
            return false;
    return pug_image_symbol(vectors->image, word & ~UINT32_C(1), symbol) &&
           symbol->start == (word & ~UINT32_C(1));
}

void pug_vectors_name(const struct pug_vectors *vectors, unsigned number, char *name, size_t size)
{
    struct pug_symbol symbol;
    if (handler_of(vectors, number, &symbol))
        snprintf(name, size, "%s", symbol.name);
    else if (pug_dwt_exception_name(number, name, size) == 0)
        snprintf(name, size, "exception %u", number);
}

/** The same letters, up to an ending that handlers have. */
static bool is_called(const char *name, const char *wanted)
{
    static const char *const endings[] = {"", "_Handler", "_IRQHandler"};
    size_t length = 0;
    while (wanted[length] &&
           tolower((unsigned char)name[length]) == tolower((unsigned char)wanted[length]))
        length++;
    if (wanted[length])
        return false;
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++)
        if (strcmp(name + length, endings[i]) == 0)
            return true;
    return false;
}

bool pug_vectors_number(const struct pug_vectors *vectors, const char *name, unsigned *number)
{
    struct pug_symbol symbol;
    char own[48];
    for (*number = 1; *number < PUG_VECTORS; (*number)++) {
        if (pug_dwt_exception_name(*number, own, sizeof(own)) > 0 && is_called(own, name))
            return true;
        if (handler_of(vectors, *number, &symbol) && is_called(symbol.name, name))
            return true;
    }
    return false;
}
