// SPDX-License-Identifier: MIT
#include "recorder/prepared.h"

#include <stdlib.h>
#include <string.h>

static void classify(struct prepared *prepared, uint32_t n, const struct pug_isa_config *config,
                     uint8_t *it)
{
    const struct rec_path_block *block = &prepared->block;
    struct pug_insn *insn = &prepared->insns[n];
    unsigned size = prepared->offset[n + 1] - prepared->offset[n];
    uint64_t address = prepared_address(prepared, n);
    if (pug_isa_classify(config, prepared->isa, address, block->bytes + prepared->offset[n], size,
                         it, insn) != PUG_OK)
        *insn = (struct pug_insn){.type = PUG_INSTR_OTHER, .next_isa = prepared->isa};
    insn->size = (uint8_t)size;
}

struct prepared *prepared_new(const struct rec_path_block *block,
                              const struct pug_isa_config *config, enum pug_isa isa, uint8_t it)
{
    struct prepared *prepared =
        calloc(1, sizeof(*prepared) + (block->count + 1) * sizeof(prepared->offset[0]));
    if (!prepared)
        return NULL;
    prepared->block = *block;
    prepared->count = block->count;
    prepared->isa = (uint8_t)isa;
    prepared->it = it;
    prepared->riscv = block->isa == REC_PATH_RISCV;
    prepared->insns = calloc(block->count + 1u, sizeof(*prepared->insns));
    prepared->waypoints = calloc(block->count + 1u, sizeof(*prepared->waypoints));
    prepared->bytes = malloc(block->size + 1u);
    if (!prepared->insns || !prepared->waypoints || !prepared->bytes) {
        prepared_free(prepared);
        return NULL;
    }
    if (block->size > 0)
        memcpy(prepared->bytes, block->bytes, block->size);
    prepared->block.bytes = prepared->bytes;
    for (uint32_t n = 0; n < block->count; n++) {
        uint16_t at = prepared->offset[n];
        prepared->offset[n + 1] =
            (uint16_t)(at + rec_path_insn_size(block->isa, block->bytes + at));
        classify(prepared, n, config, &it);
        if (prepared->insns[n].type != PUG_INSTR_OTHER)
            prepared->waypoints[prepared->waypoint_count++] = (uint16_t)n;
    }
    prepared->it_left = it;
    return prepared;
}

void prepared_free(struct prepared *prepared)
{
    if (!prepared)
        return;
    free(prepared->insns);
    free(prepared->waypoints);
    free(prepared->bytes);
    free(prepared);
}
