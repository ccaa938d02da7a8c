// SPDX-License-Identifier: MIT
/** @file ETMv3: one instruction an atom. */
#include "protocol/etmv3/decoder.h"

void pug_etmv3_need_address(struct pug_etmv3_decoder *decoder, bool need)
{
    decoder->need_address = need;
    decoder->told_unknown = false;
}

static void set_cycles(struct pug_element *element, uint32_t cycles)
{
    element->flags |= PUG_ELEM_HAS_CC;
    element->cycle_count = cycles;
}

/** Cycles that the next atom of a P-header stands for, when `left` atoms are left. */
static uint32_t atom_cycles(const struct pug_etmv3_p_header *header, unsigned left)
{
    switch (header->format) {
    case 1: return 1;
    case 2: return left == 2 ? 1 : 0;
    case 3: return header->cycles;
    default: return 0;
    }
}

/** Cycles that the atoms which are left stand for. */
static uint32_t left_cycles(const struct pug_etmv3_p_header *header, unsigned left)
{
    return header->format == 1 ? left : atom_cycles(header, left);
}

/** Atoms without an address: say so once, and count cycles. */
static void address_unknown(struct pug_etmv3_decoder *decoder,
                            const struct pug_etmv3_p_header *header, unsigned left)
{
    bool cycles = decoder->config->cycle_accurate;
    if (decoder->told_unknown && !cycles)
        return;
    bool tell = !decoder->told_unknown && left > 0;
    struct pug_element *element =
        pug_etmv3_put(decoder, tell ? PUG_ELEM_ADDR_UNKNOWN : PUG_ELEM_CYCLE_COUNT);
    if (cycles)
        set_cycles(element, left_cycles(header, left));
    decoder->told_unknown = true;
}

/** The element turns out to be another one; its cycles stay. */
static void retype(struct pug_etmv3_decoder *decoder, struct pug_element *element,
                   enum pug_element_type type)
{
    uint16_t had_cycles = element->flags & PUG_ELEM_HAS_CC;
    uint32_t cycles = element->cycle_count;
    pug_etmv3_set_type(decoder, element, type);
    element->flags |= had_cycles;
    element->cycle_count = cycles;
}

static void not_accessible(struct pug_etmv3_decoder *decoder, struct pug_element *element)
{
    retype(decoder, element, PUG_ELEM_ADDR_NACC);
    element->start = decoder->address;
    element->number = pug_armv7_space(decoder->stage, &decoder->config->registers);
    pug_etmv3_need_address(decoder, true);
}

/** Instructions that cannot be followed: the address is unknown from here on. */
static void not_followed(struct pug_etmv3_decoder *decoder, struct pug_element *element,
                         enum pug_status status)
{
    if (decoder->stage->quirks.etmv3_stale_elements) {
        decoder->isa = decoder->last_next_isa;
        return;
    }
    bool unsupported = status == PUG_ERR_UNSUPPORTED_ISA;
    pug_stage_log(decoder->stage, decoder->stage->decoder_name,
                  unsupported ? PUG_SEV_WARN : PUG_SEV_ERROR, status, decoder->index,
                  unsupported ? "Warning: unsupported instruction set processing atom packet."
                              : "Error processing atom packet.");
    retype(decoder, element, PUG_ELEM_ADDR_UNKNOWN);
    pug_etmv3_need_address(decoder, true);
    decoder->told_unknown = true;
}

void pug_etmv3_advance(struct pug_etmv3_decoder *decoder, const struct pug_etmv3_insn *insn,
                       bool executed)
{
    decoder->address = pug_etmv3_next_address(insn, executed);
    decoder->isa = pug_etmv3_isa_behind(insn, executed);
    decoder->it = pug_etmv3_it_behind(insn, executed);
    if (executed && pug_etmv3_is_indirect(insn))
        pug_etmv3_need_address(decoder, true);
}

/** One instruction: into the element, and on to the next address. */
static void step(struct pug_etmv3_decoder *decoder, struct pug_element *element, bool executed)
{
    const struct pug_etmv3_insn *insn;
    enum pug_status status = pug_etmv3_insn_here(decoder, &insn);
    if (status == PUG_ERR_NO_PROGRAM_MEMORY) {
        not_accessible(decoder, element);
        return;
    }
    if (status != PUG_OK) {
        not_followed(decoder, element, status);
        return;
    }
    uint16_t flags = element->flags; /* cycles, where they are counted */
    element->start = insn->start;
    element->end = insn->end;
    element->count = 1;
    memcpy((char *)element + PUG_ETMV3_TAIL, &insn->ways[executed].tail,
           sizeof(insn->ways[0].tail));
    element->flags &= (uint16_t)~PUG_ELEM_HAS_CC;
    element->flags |= flags;
    uint8_t next_isa = insn->ways[1].next_isa;
    decoder->last_next_isa = next_isa;
    pug_etmv3_advance(decoder, insn, executed);
    if (decoder->stage->quirks.etmv3_blx_forgotten)
        decoder->isa = next_isa;
    if (executed && pug_etmv3_traces_data(decoder->config))
        pug_etmv3_data_instruction(decoder, element->start, element->isa);
}

void pug_etmv3_walk(struct pug_etmv3_decoder *decoder, const struct pug_etmv3_p_header *header,
                    uint32_t bits, unsigned left)
{
    bool cycles = decoder->config->cycle_accurate;
    do {
        /* A BLX among these atoms may have changed it. */
        if (!decoder->stage->quirks.etmv3_stale_elements)
            decoder->stage->out.blank.isa = decoder->isa;
        if (decoder->need_address) {
            address_unknown(decoder, header, left);
            break;
        }
        bool waits_only = left == 0 && cycles;
        struct pug_element *element =
            pug_etmv3_put(decoder, waits_only ? PUG_ELEM_CYCLE_COUNT : PUG_ELEM_INSTR_RANGE);
        if (cycles)
            set_cycles(element, atom_cycles(header, left));
        if (left == 0)
            break;
        step(decoder, element, bits & 1);
        bits >>= 1;
    } while (--left > 0);
    decoder->stage->out.blank.isa = decoder->isa;
    const struct pug_element *last = pug_etmv3_from_end(decoder, 0);
    if (last && last->type == PUG_ELEM_INSTR_RANGE)
        pug_etmv3_hold(decoder, 1);
}

void pug_etmv3_p_header(struct pug_etmv3_decoder *decoder, const struct pug_etmv3_packet *packet)
{
    const struct pug_quirks *quirks = &decoder->stage->quirks;
    unsigned count = packet->atoms.count;
    const struct pug_etmv3_p_header header = {.format = packet->format,
                                              .cycles = (uint8_t)packet->cycle_count};
    if (quirks->etmv3_blx_forgotten)
        decoder->isa = packet->isa;
    if (count > 0 || decoder->config->cycle_accurate || quirks->etmv3_stale_elements)
        pug_etmv3_walk(decoder, &header, packet->atoms.bits, count);
}

void pug_etmv3_executed(struct pug_etmv3_decoder *decoder)
{
    step(decoder, pug_etmv3_put(decoder, PUG_ELEM_INSTR_RANGE), true);
    decoder->stage->out.blank.isa = decoder->isa;
}
