// SPDX-License-Identifier: MIT
/** @file Memory of a traced program: what data trace wrote, and else what its image has. */
#ifndef PUG_RTOS_MEMORY_H
#define PUG_RTOS_MEMORY_H

#include "pugmark/pugmark.h"

struct thread_memory;

/** NULL: no memory. */
struct thread_memory *pug_thread_memory_new(void);
void pug_thread_memory_free(struct thread_memory *memory);

/** A store of 1 to 8 bytes. When there are too many places, new ones are forgotten. */
void pug_thread_memory_store(struct thread_memory *memory, uint64_t address, unsigned size,
                             uint64_t value);

/** Reads up to `size` bytes; how many are known from the first on. `image` may be NULL. */
size_t pug_thread_memory_read(const struct thread_memory *memory, const struct pug_image *image,
                              uint64_t address, uint8_t *bytes, size_t size);

#endif
