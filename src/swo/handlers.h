// SPDX-License-Identifier: MIT
/** @file Names of exceptions: of their handlers, by the program's vector tables, or the usual ones.
 */
#ifndef PUG_SWO_HANDLERS_H
#define PUG_SWO_HANDLERS_H

#include "image/vectors.h"

#include <stddef.h>

/**
 * The handler of an exception: "SysTick_Handler", else as the architecture calls it: "SysTick",
 * "IRQ5".
 */
void pug_vectors_name(const struct pug_vectors *vectors, unsigned number, char *name, size_t size);

/**
 * The number of an exception by its name, of the architecture or of its handler, in letters of
 * either case; with or without "_Handler" and "_IRQHandler". False: none is called so.
 */
bool pug_vectors_number(const struct pug_vectors *vectors, const char *name, unsigned *number);

#endif
