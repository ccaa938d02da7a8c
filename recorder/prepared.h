// SPDX-License-Identifier: MIT
/** @file A block of a path with its instructions classified, as the engine keeps it. */
#ifndef PUG_RECORDER_PREPARED_H
#define PUG_RECORDER_PREPARED_H

#include "pugmark/advanced/isa.h"
#include "recorder/path.h"

struct prepared {
    struct rec_path_block block; /**< with its own copy of the bytes */
    uint8_t *bytes;
    struct pug_insn *insns;
    uint16_t *waypoints; /**< which of them do more than continue with the next instruction */
    uint32_t count, waypoint_count;
    uint32_t version;    /**< of memory, that its bytes are known to agree with: */
    bool in_context;     /**< in the space of one context */
    uint32_t context_id; /**< if it is in one */
    uint8_t isa;         /**< enum pug_isa */
    uint8_t it, it_left; /**< T32: instructions in an IT block, before and after */
    bool riscv;
    uint16_t offset[]; /**< of each instruction, and of what follows the last */
};

/**
 * NULL: no memory. Bytes that are not an instruction are treated as one that continues with the
 * next.
 */
struct prepared *prepared_new(const struct rec_path_block *block,
                              const struct pug_isa_config *config, enum pug_isa isa, uint8_t it);
void prepared_free(struct prepared *prepared);

static inline uint64_t prepared_address(const struct prepared *prepared, uint32_t n)
{
    return prepared->block.address + prepared->offset[n];
}

#endif
