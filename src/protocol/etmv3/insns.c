// SPDX-License-Identifier: MIT
/** @file ETMv3: instructions as elements, ready to be given out. */
#include "protocol/etmv3/decoder.h"

/** Forget all where the image is another one, or the map says so. */
static void refresh(struct pug_etmv3_decoder *decoder)
{
    if (decoder->image_generation != decoder->code->generation)
        decoder->generation++;
    decoder->image_generation = decoder->code->generation;
}

void pug_etmv3_insns_context(struct pug_etmv3_decoder *decoder)
{
    const struct pug_element *now = &decoder->stage->out.blank, *then = &decoder->context;
    if (now->security != then->security || now->level != then->level ||
        now->context_flags != then->context_flags || now->context_id != then->context_id ||
        now->vmid != then->vmid)
        decoder->generation++;
    decoder->context = *now;
}

enum pug_status pug_etmv3_fetch(struct pug_etmv3_decoder *decoder, uint64_t address, uint8_t isa,
                                const struct pug_etmv3_insn **out)
{
    struct pug_etmv3_insn *slot = pug_etmv3_insn_slot(decoder, address, isa);
    struct pug_insn insn;
    uint32_t until;
    uint8_t it = 0;
    enum pug_status status =
        pug_codemap_insn_until(decoder->code, address, isa, &it, &insn, &until);
    refresh(decoder);
    if (status != PUG_OK)
        return status;
    slot->element = decoder->stage->out.blank;
    slot->element.type = PUG_ELEM_INSTR_RANGE;
    slot->element.start = address;
    slot->element.end = address + insn.size;
    slot->element.count = 1;
    slot->element.isa = isa;
    slot->element.last_type = insn.type;
    slot->element.last_subtype = insn.subtype;
    slot->element.last_size = insn.size;
    slot->element.flags = insn.conditional ? PUG_ELEM_CONDITIONAL : 0;
    slot->next[0] = address + insn.size;
    slot->next[1] = insn.type == PUG_INSTR_BR ? insn.target : slot->next[0];
    slot->next_isa = insn.next_isa;
    slot->indirect = insn.type == PUG_INSTR_BR_INDIRECT;
    slot->generation = decoder->generation;
    slot->until = until;
    *out = slot;
    return PUG_OK;
}
