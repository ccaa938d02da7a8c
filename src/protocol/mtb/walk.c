// SPDX-License-Identifier: MIT
/** @file From where a packet went to where the next one comes from: no branch is taken between. */
#include "protocol/mtb/mtb.h"

static bool is_branch(const struct pug_insn *insn)
{
    return insn->type == PUG_INSTR_BR || insn->type == PUG_INSTR_BR_INDIRECT;
}

bool pug_mtb_goes_on(const struct pug_insn *insn)
{
    return !is_branch(insn) || insn->conditional;
}

/** The goal lies in the block: cut it there. */
static enum pug_mtb_reach shorten(struct pug_stage *stage, uint8_t it,
                                  const struct pug_mtb_goal *goal, struct pug_flow_block *block)
{
    struct pug_insn insn;
    const uint64_t end = block->end;
    block->end = block->start;
    block->count = 0;
    while (block->end < end) {
        if (goal->behind && block->end == goal->address)
            return PUG_MTB_REACHED;
        if (pug_flow_insn(stage, block->end, PUG_ISA_T32, &it, &insn) != PUG_OK)
            return PUG_MTB_BROKEN;
        block->last = block->end;
        block->insn = insn;
        block->end += insn.size;
        block->count++;
        block->it_after = it;
        if (!goal->behind && block->last == goal->address)
            return PUG_MTB_REACHED;
    }
    return PUG_MTB_BROKEN; /* the goal is inside of an instruction */
}

enum pug_mtb_reach pug_mtb_walk(struct pug_stage *stage, uint64_t address, uint8_t it,
                                const struct pug_mtb_goal *goal, struct pug_flow_block *block)
{
    *block = (struct pug_flow_block){.start = address, .end = address, .isa = PUG_ISA_T32};
    block->it_after = it;
    if (goal->address < address)
        return PUG_MTB_BROKEN;
    if (goal->behind && goal->address == address)
        return PUG_MTB_REACHED;
    pug_flow_block(stage, address, PUG_ISA_T32, it, block);
    if (block->count > 0 && goal->address < block->end && goal->address != block->last)
        return shorten(stage, it, goal, block);
    if (block->count > 0 && goal->address == block->last)
        return goal->behind ? shorten(stage, it, goal, block) : PUG_MTB_REACHED;
    if (block->count > 0 && !pug_mtb_goes_on(&block->insn))
        return PUG_MTB_BROKEN;
    if (goal->behind && block->count > 0 && goal->address == block->end)
        return PUG_MTB_REACHED;
    if (block->ending == PUG_FLOW_NO_MEMORY)
        return PUG_MTB_NO_MEMORY;
    return block->ending == PUG_FLOW_ERROR ? PUG_MTB_BROKEN : PUG_MTB_MORE;
}
