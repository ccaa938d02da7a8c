// SPDX-License-Identifier: MIT
/** @file Vector tables of M profile programs: where they are, and the handlers that they name. */
#include "image/vectors.h"
#include "base/bytes.h"
#include "image/image.h"

#include <string.h>

#define SYSTEM_VECTORS  16u
#define ALIGNMENT       128u /* of VTOR, at the least */
#define MOST_CANDIDATES 131072u

static const struct pug_reader_space anybody = {.space = PUG_SPACE_ANY};

/* ---- words ---- */

/** Read what an ELF file has there, whatever other memory covers it; how many bytes. */
static size_t read_program(const struct pug_image *image, const struct pug_reader_space *space,
                           uint64_t address, uint8_t *bytes, size_t size)
{
    size_t done = 0;
    while (done < size) {
        uint64_t last, piece = size - done;
        const uint64_t at = address + done;
        const struct pug_accessor *accessor = pug_image_program(image, space, at, &last);
        const struct pug_range *range = accessor ? pug_accessor_range(accessor, at) : NULL;
        if (!range || accessor->kind != PUG_ACCESS_FILE)
            break;
        const uint8_t *from =
            pug_file_piece(accessor->file, range->offset + (at - range->start), &piece);
        if (piece > last - at + 1)
            piece = last - at + 1;
        if (piece > size - done)
            piece = size - done;
        if (piece == 0)
            break;
        memcpy(bytes + done, from, (size_t)piece);
        done += (size_t)piece;
    }
    return done;
}

/** Words of memory, or of the program under it; how many there are. */
static unsigned read_words(const struct pug_image *image, const struct pug_reader_space *space,
                           bool program, uint64_t address, uint32_t *words, unsigned count)
{
    uint8_t bytes[4 * PUG_VECTORS];
    const size_t size = (size_t)4 * count;
    const int64_t read = program ? (int64_t)read_program(image, space, address, bytes, size)
                                 : pug_image_read(image, space, address, bytes, (uint32_t)size);
    const unsigned got = read > 0 ? (unsigned)read / 4 : 0;
    for (unsigned i = 0; i < count; i++)
        words[i] = i < got ? pug_bytes_32(bytes + (size_t)4 * i) : 0;
    return got;
}

/** Is a word the address of a function in T32 code? */
static bool is_handler(const struct pug_image *image, uint32_t word, struct pug_symbol *symbol)
{
    return (word & 1) && pug_image_symbol(image, word & ~UINT32_C(1), symbol) &&
           symbol->start == (word & ~UINT32_C(1));
}

/**
 * Does it begin as a table: with a stack and a reset handler? That of the non-secure state may have
 * neither; then its reserved words are 0, which those of a table of C++ methods are not.
 */
static bool begins(const struct pug_image *image, const uint32_t *words)
{
    struct pug_symbol symbol;
    if (words[0] == 0 && words[1] == 0)
        return (words[7] | words[8] | words[9] | words[10] | words[13]) == 0;
    return words[0] != 0 && (words[0] & 3) == 0 && is_handler(image, words[1], &symbol);
}

/**
 * How many system handlers a table at this address has, reset included; 0: it is none. Each vector
 * that the architecture defines is a function or 0, and there are at least two functions.
 */
static unsigned rank(const struct pug_image *image, const struct pug_reader_space *space,
                     bool program, uint64_t address)
{
    static const uint8_t defined[] = {2, 3, 4, 5, 6, 11, 12, 14, 15};
    uint32_t words[SYSTEM_VECTORS];
    struct pug_symbol symbol;
    if (read_words(image, space, program, address, words, SYSTEM_VECTORS) < SYSTEM_VECTORS ||
        !begins(image, words))
        return 0;
    unsigned handlers = words[1] != 0;
    for (unsigned i = 0; i < sizeof(defined); i++) {
        const bool handler = is_handler(image, words[defined[i]], &symbol);
        if (!handler && words[defined[i]] != 0)
            return 0;
        handlers += handler;
    }
    return handlers > 1 ? handlers : 0;
}

/** The vectors of a table: those of memory where it is one there, else the program's. */
static unsigned read_table(const struct pug_image *image, const struct pug_reader_space *space,
                           uint64_t address, uint32_t *words, unsigned count)
{
    const bool program = rank(image, space, false, address) == 0;
    return read_words(image, space, program, address, words, count);
}

/* ---- the search ---- */

struct found {
    uint64_t address;
    struct pug_reader_space space; /* that sees it */
    unsigned handlers;
    bool own; /* in a program of one source alone */
};

struct search {
    const struct pug_image *image;
    bool covered;               /* there is other memory than that of programs */
    unsigned candidates, count; /* all that there are … */
    struct found tables[PUG_VECTOR_TABLES];
};

static void look_at(struct search *search, const struct pug_reader_space *space, bool own,
                    uint64_t address)
{
    unsigned handlers = rank(search->image, space, false, address);
    if (handlers == 0 && search->covered)
        handlers = rank(search->image, space, true, address);
    if (handlers == 0)
        return;
    if (search->count < PUG_VECTOR_TABLES)
        search->tables[search->count] = (struct found){address, *space, handlers, own};
    search->count++;
}

static void look_in(struct search *search, const struct pug_accessor *accessor,
                    const struct pug_reader_space *space)
{
    for (size_t j = 0; j < accessor->count; j++) {
        const struct pug_range *range = &accessor->ranges[j];
        uint64_t at = (range->start + (ALIGNMENT - 1)) & ~(uint64_t)(ALIGNMENT - 1);
        for (; at >= range->start && at <= range->end && search->candidates < MOST_CANDIDATES;
             at += ALIGNMENT, search->candidates++)
            look_at(search, space, accessor->place.has_source, at);
    }
}

/** Look at all programs that `space` sees; `any_source`: and those of sources. */
static void look(struct search *search, const struct pug_reader_space *space, bool any_source)
{
    for (size_t i = 0; search->image && i < search->image->count; i++)
        search->covered |= !search->image->accessors[i]->program;
    for (size_t i = 0; search->image && i < search->image->count; i++) {
        const struct pug_accessor *accessor = search->image->accessors[i];
        struct pug_reader_space reader = *space;
        if (!accessor->program || !(accessor->place.space & space->space))
            continue;
        if (any_source && accessor->place.has_source)
            reader.source = accessor->place.source;
        look_in(search, accessor, &reader);
    }
}

/* ---- one table ---- */

/** How many vectors follow those of the system: addresses of functions, or 0. */
static unsigned count_interrupts(const struct pug_image *image, const uint32_t *words,
                                 unsigned count)
{
    struct pug_symbol symbol;
    unsigned n = SYSTEM_VECTORS;
    while (n < count && (words[n] == 0 || is_handler(image, words[n], &symbol)))
        n++;
    return n;
}

bool pug_vector_table(const struct pug_image *image, const struct pug_reader_space *space,
                      struct pug_vector_table *table)
{
    struct search search = {.image = image};
    uint32_t words[PUG_VECTORS];
    *table = (struct pug_vector_table){.space = space ? *space : anybody};
    look(&search, &table->space, false);
    table->found = search.count;
    for (unsigned i = 0, best = 0; i < search.count && i < PUG_VECTOR_TABLES; i++) {
        if (search.tables[i].handlers <= best)
            continue;
        best = search.tables[i].handlers;
        table->address = search.tables[i].address;
    }
    if (table->found == 1)
        table->count = count_interrupts(
            image, words, read_table(image, &table->space, table->address, words, PUG_VECTORS));
    return table->found == 1;
}

/** The function of a vector that no other one of the table has. */
static bool handler_of(const struct pug_image *image, const uint32_t *words, unsigned count,
                       unsigned vector, struct pug_symbol *symbol)
{
    if (vector == 0 || vector >= count || !is_handler(image, words[vector], symbol))
        return false;
    for (unsigned i = 1; i < count; i++)
        if (i != vector && words[i] == words[vector])
            return false; /* the name says nothing of one of them */
    return true;
}

bool pug_vector_symbol(const struct pug_image *image, const struct pug_vector_table *table,
                       unsigned vector, struct pug_symbol *symbol)
{
    uint32_t words[PUG_VECTORS];
    return vector > 0 && vector < table->count && table->count <= PUG_VECTORS &&
           read_table(image, &table->space, table->address, words, table->count) == table->count &&
           handler_of(image, words, table->count, vector, symbol);
}

/* ---- all tables ---- */

static void keep(struct pug_vectors *vectors, const struct found *found)
{
    struct pug_vector_words *table = &vectors->tables[vectors->count++];
    table->base = found->address;
    const unsigned got =
        read_table(vectors->image, &found->space, found->address, table->words, PUG_VECTORS);
    const unsigned count = count_interrupts(vectors->image, table->words, got);
    memset(table->words + count, 0, (PUG_VECTORS - count) * sizeof(table->words[0]));
}

void pug_vectors_find(struct pug_vectors *vectors, const struct pug_image *image, uint16_t source)
{
    struct pug_reader_space space = anybody;
    struct search search = {.image = image};
    bool own = false;
    *vectors = (struct pug_vectors){.image = image};
    space.source = source;
    look(&search, &space, source == PUG_VECTORS_ANY);
    const unsigned count = search.count < PUG_VECTOR_TABLES ? search.count : PUG_VECTOR_TABLES;
    for (unsigned i = 0; i < count; i++)
        own |= search.tables[i].own;
    for (unsigned i = 0; i < count; i++)
        if (search.tables[i].own == own)
            keep(vectors, &search.tables[i]);
}

void pug_vectors_choose(struct pug_vectors *vectors, const uint32_t *bases, unsigned count)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < vectors->count; i++) {
        bool chosen = false;
        for (unsigned n = 0; n < count; n++)
            chosen |= vectors->tables[i].base == bases[n];
        if (!chosen)
            continue;
        if (kept != i) {
            const struct pug_vector_words swapped = vectors->tables[kept];
            vectors->tables[kept] = vectors->tables[i];
            vectors->tables[i] = swapped;
        }
        kept++;
    }
    if (kept > 0)
        vectors->count = kept;
}

bool pug_vectors_handler_at(const struct pug_vectors *vectors, unsigned number, unsigned n,
                            struct pug_symbol *symbol)
{
    for (unsigned i = 0; i < vectors->count; i++)
        if (handler_of(vectors->image, vectors->tables[i].words, PUG_VECTORS, number, symbol) &&
            n-- == 0)
            return true;
    return false;
}

bool pug_vectors_handler(const struct pug_vectors *vectors, unsigned number,
                         struct pug_symbol *symbol)
{
    struct pug_symbol other;
    if (!pug_vectors_handler_at(vectors, number, 0, symbol))
        return false;
    for (unsigned n = 1; pug_vectors_handler_at(vectors, number, n, &other); n++)
        if (strcmp(symbol->name, other.name) != 0)
            return false;
    return true;
}
