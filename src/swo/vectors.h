// SPDX-License-Identifier: MIT
/** @file Names of exception handlers, by the vector table in program memory. */
#ifndef PUG_SWO_VECTORS_H
#define PUG_SWO_VECTORS_H

#include "pugmark/advanced/image.h"

#include <stddef.h>

/** Vectors that are looked at: exception numbers of the DWT are below this. */
#define PUG_VECTORS 512u

struct pug_vectors {
    const struct pug_image *image;
    uint64_t base; /**< of the table */
    bool found;
    struct pug_reader_space reader; /**< who reads it: the source's core */
    uint32_t words[PUG_VECTORS];    /**< as far as they are there; else 0 */
};

/** For any source. */
#define PUG_VECTORS_ANY UINT16_MAX

/**
 * Find the vector table of a source's core, where a range of its program memory begins. Programs of
 * that source alone go before those of all.
 */
void pug_vectors_find(struct pug_vectors *vectors, const struct pug_image *image, uint16_t source);

/**
 * The handler of an exception: "SysTick_Handler", else as the architecture calls it: "SysTick",
 * "IRQ5". A handler that several vectors share (a default handler) says nothing of one of them.
 */
void pug_vectors_name(const struct pug_vectors *vectors, unsigned number, char *name, size_t size);

/**
 * The number of an exception by its name, of the architecture or of its handler, in letters of
 * either case; with or without "_Handler" and "_IRQHandler". False: none is called so.
 */
bool pug_vectors_number(const struct pug_vectors *vectors, const char *name, unsigned *number);

#endif
