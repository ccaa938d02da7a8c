// SPDX-License-Identifier: MIT
/**
 * @file All vector tables of M profile programs, kept for many lookups: of a loader and an
 * application, or of the secure and the non-secure state.
 */
#ifndef PUG_IMAGE_VECTORS_H
#define PUG_IMAGE_VECTORS_H

#include "pugmark/advanced/image.h"

/** Vectors that are looked at: exception numbers of an M profile core are below this. */
#define PUG_VECTORS 512u
/** Tables that are kept. */
#define PUG_VECTOR_TABLES 4u
/** For any source. */
#define PUG_VECTORS_ANY UINT16_MAX

struct pug_vectors {
    const struct pug_image *image;
    unsigned count; /**< tables */
    struct pug_vector_words {
        uint64_t base;
        uint32_t words[PUG_VECTORS]; /**< as far as they are there; else 0 */
    } tables[PUG_VECTOR_TABLES];
};

/**
 * Find the tables that a source's core may use. Those of programs that are of that source alone go
 * before those of all. Where memory that was read from the target covers a program, a table may be
 * in either. `image` may be NULL.
 */
void pug_vectors_find(struct pug_vectors *vectors, const struct pug_image *image, uint16_t source);

/**
 * Keep the tables at these addresses, which VTOR had. What is no table of the program leaves those
 * that were found.
 */
void pug_vectors_choose(struct pug_vectors *vectors, const uint32_t *bases, unsigned count);

/**
 * The handler of an exception, where all tables that name one name the same. False: none does, they
 * differ, or several vectors of a table lead there, so that its name says nothing of this one.
 */
bool pug_vectors_handler(const struct pug_vectors *vectors, unsigned number,
                         struct pug_symbol *symbol);

/** The n-th handler that a table has for an exception, even if others have another; else false. */
bool pug_vectors_handler_at(const struct pug_vectors *vectors, unsigned number, unsigned n,
                            struct pug_symbol *symbol);

#endif
