// SPDX-License-Identifier: MIT
/** @file Making the code map's blocks: instruction after instruction, up to one that ends it. */
#include "image/codemap_store.h"

const struct pug_block pug_no_block;

void pug_code_clear(struct pug_block *block)
{
    *block =
        (struct pug_block){.links = {&pug_no_block, &pug_no_block}, .type = PUG_ELEM_INSTR_RANGE};
}

static bool ends_block(const struct pug_insn *insn)
{
    return insn->type != PUG_INSTR_OTHER || insn->kind == PUG_RV_TRAP;
}

/* Handle targets that depend on the program around the last instruction. */
static void finish_flow(struct pug_codemap *map, struct pug_code_cursor *cursor,
                        struct pug_block *block, const struct pug_insn *before)
{
    struct pug_insn *insn = &block->insn;
    if (insn->table_jump)
        pug_code_resolve(map, cursor, block->isa, insn);
    if (insn->type == PUG_INSTR_BR_INDIRECT && insn->rs1 != 0 && before->kind == PUG_RV_CONSTANT &&
        before->rd == insn->rs1) {
        block->sequential = true;
        insn->target =
            pug_code_wrap(block->isa, (before->constant + insn->constant) & ~UINT64_C(1));
    }
}

/* A pair of constant and jump stays in one block: the constant goes to the next one. */
static void finish_long(struct pug_block *block, const struct pug_insn *before)
{
    if (block->insn.kind != PUG_RV_CONSTANT || block->count < 2)
        return;
    block->end = block->last;
    block->last = pug_code_wrap(block->isa, block->last - before->size);
    block->insn = *before;
    block->count--;
}

/* Fill in the range element's fields that come from the last instruction. */
static void fill_range(struct pug_block *block)
{
    const struct pug_insn *insn = &block->insn;
    block->flags = insn->conditional ? PUG_ELEM_CONDITIONAL : 0;
    block->last_type = insn->type;
    block->last_subtype = insn->subtype;
    block->last_size = insn->size;
}

/* Walks that begin at different places come together where such a block ends: else each of them
   would make blocks of its own of all the code that follows. */
static bool comes_together(const struct pug_block *block)
{
    return block->count >= PUG_BLOCK_MAX / 2 &&
           (block->end ^ block->last) / PUG_BLOCK_BOUNDARY != 0;
}

static void walk(struct pug_codemap *map, struct pug_code_cursor *cursor, struct pug_block *block)
{
    const enum pug_isa isa = (enum pug_isa)block->isa;
    struct pug_insn insn, before = {0};
    enum pug_status status = PUG_OK;
    while (block->count < PUG_BLOCK_MAX) {
        status = pug_code_next(map, cursor, block->end, isa, &block->it_out, &insn);
        if (status != PUG_OK)
            break;
        before = block->insn;
        block->insn = insn;
        if (block->count == 0)
            block->first_size = insn.size;
        block->last = block->end;
        block->end = pug_code_wrap(isa, block->end + insn.size);
        block->count++;
        if (ends_block(&insn)) {
            block->ending = PUG_BLOCK_FLOW;
            finish_flow(map, cursor, block, &before);
            break;
        }
        if (comes_together(block))
            break;
    }
    if (status == PUG_ERR_NO_PROGRAM_MEMORY) {
        block->ending = PUG_BLOCK_NO_ACCESS;
    } else if (status != PUG_OK && status != PUG_ERR_LIMIT) {
        block->ending = PUG_BLOCK_ERROR;
        block->status = (int16_t)status;
    } else if (block->ending == PUG_BLOCK_LONG) {
        finish_long(block, &before);
    }
}

struct pug_block *pug_code_build(struct pug_codemap *map, uint64_t address, enum pug_isa isa,
                                 uint8_t it)
{
    struct pug_code_cursor cursor = {0};
    struct pug_block *block = map->store->scratch;
    const uint32_t epoch = map->epoch;
    pug_code_clear(block);
    block->tag = pug_code_tag(map, isa, it);
    block->start = block->end = address;
    block->isa = (uint8_t)isa;
    block->it_in = block->it_out = it;
    block->ending = PUG_BLOCK_LONG;
    walk(map, &cursor, block);
    block->insn.special = block->insn.type != PUG_INSTR_BR;
    fill_range(block);
    map->store->scratch_rests = cursor.rests;
    pug_code_hold(block, cursor.rests.count || cursor.rests.transient ? epoch : PUG_EPOCH_STATIC);
    map->store->stats.blocks_made++;
    return block;
}
