// SPDX-License-Identifier: MIT
/** @file What executed memory held, as far as it was executed. */
#ifndef PUG_RECORDER_MEMORY_H
#define PUG_RECORDER_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rec_memory;

struct rec_memory *rec_memory_new(void);
void rec_memory_free(struct rec_memory *memory);

/** An address: of the space that all contexts share, or of the space of one context. */
struct rec_memory_place {
    uint64_t address;
    bool in_context;
    uint32_t context_id; /**< if it is in one */
};

/** Are these bytes different from those that are there? */
bool rec_memory_differs(const struct rec_memory *memory, const struct rec_memory_place *place,
                        const uint8_t *bytes, size_t size);
/** Put them there. False: no memory. */
bool rec_memory_put(struct rec_memory *memory, const struct rec_memory_place *place,
                    const uint8_t *bytes, size_t size);

/** A piece of memory. False: no more are wanted. */
typedef bool rec_memory_fn(void *context, const struct rec_memory_place *place,
                           const uint8_t *bytes, size_t size);

/**
 * Each run of pages that hold something: the shared space, then each context by its number,
 * addresses ascending. What was not executed is zero.
 */
bool rec_memory_each(const struct rec_memory *memory, rec_memory_fn *function, void *context);

#endif
