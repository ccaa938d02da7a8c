// SPDX-License-Identifier: MIT
/** @file The code map, as authors of protocols outside the library see it. */
#include "pugmark/author/flow.h"
#include "image/codemap.h"

#include <assert.h>

static_assert((int)PUG_FLOW_BRANCH == (int)PUG_BLOCK_FLOW &&
                  (int)PUG_FLOW_LONG == (int)PUG_BLOCK_LONG &&
                  (int)PUG_FLOW_NO_MEMORY == (int)PUG_BLOCK_NO_ACCESS &&
                  (int)PUG_FLOW_ERROR == (int)PUG_BLOCK_ERROR,
              "one way to end");

void pug_flow_configure(struct pug_stage *stage, const struct pug_isa_config *config)
{
    pug_codemap_set_isa_config(stage->code, config);
}

void pug_flow_space(struct pug_stage *stage, const struct pug_reader_space *space)
{
    pug_codemap_space(stage->code, space);
}

void pug_flow_context_changed(struct pug_stage *stage)
{
    pug_codemap_context_changed(stage->code);
}

void pug_flow_block(struct pug_stage *stage, uint64_t address, enum pug_isa isa, uint8_t it,
                    struct pug_flow_block *out)
{
    const struct pug_block *block = pug_codemap_block(stage->code, address, isa, it);
    *out = (struct pug_flow_block){
        .start = address,
        .end = block->end,
        .last = block->last,
        .insn = block->insn,
        .count = block->count,
        .ending = block->ending,
        .isa = (uint8_t)isa,
        .it_after = block->it_out,
        .status = block->status,
    };
}

enum pug_status pug_flow_insn(struct pug_stage *stage, uint64_t address, enum pug_isa isa,
                              uint8_t *it, struct pug_insn *insn)
{
    return pug_codemap_insn(stage->code, address, isa, it, insn);
}

uint32_t pug_flow_read(struct pug_stage *stage, uint64_t address, void *buffer, uint32_t wanted)
{
    return pug_codemap_read(stage->code, address, buffer, wanted);
}

struct pug_element *pug_flow_push(struct pug_stage *stage, uint64_t index,
                                  const struct pug_flow_block *block, bool executed)
{
    struct pug_element *element = pug_out_push(&stage->out, PUG_ELEM_INSTR_RANGE, index);
    pug_range_fill(element, &stage->out.blank, index, block->start, block->end, block->count,
                   &block->insn, block->isa, executed);
    return element;
}
