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
static uint32_t atom_cycles(const struct pug_etmv3_packet *packet, unsigned left)
{
    switch (packet->format) {
    case 1: return 1;
    case 2: return left == 2 ? 1 : 0;
    case 3: return packet->cycle_count;
    default: return 0;
    }
}

/** Cycles that the atoms which are left stand for. */
static uint32_t left_cycles(const struct pug_etmv3_packet *packet, unsigned left)
{
    return packet->format == 1 ? left : atom_cycles(packet, left);
}

/** Atoms without an address: say so once, and count cycles. */
static void address_unknown(struct pug_etmv3_decoder *decoder,
                            const struct pug_etmv3_packet *packet, unsigned left)
{
    bool cycles = decoder->config->cycle_accurate;
    if (decoder->told_unknown && !cycles)
        return;
    bool tell = !decoder->told_unknown && left > 0;
    struct pug_element *element =
        pug_etmv3_put(decoder, tell ? PUG_ELEM_ADDR_UNKNOWN : PUG_ELEM_CYCLE_COUNT);
    if (cycles)
        set_cycles(element, left_cycles(packet, left));
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
    element->number = pug_armv7_space(decoder->stage);
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

/** On behind an instruction. */
static inline void advance(struct pug_etmv3_decoder *decoder, const struct pug_etmv3_insn *insn,
                           bool executed)
{
    decoder->address = insn->next[executed];
    if (executed) {
        decoder->isa = insn->next_isa;
        if (insn->indirect)
            pug_etmv3_need_address(decoder, true);
    }
}

/** One instruction: into the element, and on to the next address. */
static void step(struct pug_etmv3_decoder *decoder, struct pug_element *element, bool executed)
{
    const struct pug_etmv3_insn *insn;
    enum pug_status status = pug_etmv3_insn_at(decoder, decoder->address, decoder->isa, &insn);
    if (status == PUG_ERR_MEM_NACC) {
        not_accessible(decoder, element);
        return;
    }
    if (status != PUG_OK) {
        not_followed(decoder, element, status);
        return;
    }
    const struct pug_element *from = &insn->element;
    element->start = from->start;
    element->end = from->end;
    element->count = 1;
    element->isa = from->isa;
    element->last_type = from->last_type;
    element->last_subtype = from->last_subtype;
    element->last_size = from->last_size;
    element->flags |= from->flags | (executed ? PUG_ELEM_EXECUTED : 0);
    if (executed && pug_etmv3_traces_data(decoder->config))
        pug_etmv3_data_instruction(decoder, from->start, from->isa);
    decoder->last_next_isa = insn->next_isa;
    advance(decoder, insn, executed);
    if (decoder->stage->quirks.etmv3_blx_forgotten)
        decoder->isa = insn->next_isa;
}

/** Atoms of a P-header, the last `left` of them. */
static void walk(struct pug_etmv3_decoder *decoder, const struct pug_etmv3_packet *packet,
                 uint32_t bits, unsigned left)
{
    bool cycles = decoder->config->cycle_accurate;
    do {
        if (decoder->need_address) {
            address_unknown(decoder, packet, left);
            break;
        }
        bool waits_only = left == 0 && cycles;
        struct pug_element *element =
            pug_etmv3_put(decoder, waits_only ? PUG_ELEM_CYCLE_COUNT : PUG_ELEM_INSTR_RANGE);
        if (cycles)
            set_cycles(element, atom_cycles(packet, left));
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
    if (quirks->etmv3_blx_forgotten)
        decoder->isa = packet->isa;
    if (count > 0 || decoder->config->cycle_accurate || quirks->etmv3_stale_elements)
        walk(decoder, packet, packet->atoms.bits, count);
}

void pug_etmv3_executed(struct pug_etmv3_decoder *decoder)
{
    step(decoder, pug_etmv3_put(decoder, PUG_ELEM_INSTR_RANGE), true);
    decoder->stage->out.blank.isa = decoder->isa;
}

/* ---- the short way ---- */

/** The next element of the batch. */
static inline struct pug_element *next_of(struct pug_batch *batch)
{
    return &batch->elements[batch->count++];
}

static inline void emit(struct pug_element *element, const struct pug_etmv3_insn *insn,
                        uint64_t index, bool executed, bool cycles, uint32_t cycle_count)
{
    *element = insn->element;
    element->index = index;
    element->flags |= (executed ? PUG_ELEM_EXECUTED : 0) | (cycles ? PUG_ELEM_HAS_CC : 0);
    element->cycle_count = cycle_count;
}

static inline void emit_held(struct pug_etmv3_decoder *decoder, struct pug_element *element)
{
    emit(element, decoder->held.insn, decoder->held.index, decoder->held.executed,
         decoder->config->cycle_accurate, decoder->held.cycles);
    decoder->held.insn = NULL;
}

void pug_etmv3_end_short_way(struct pug_etmv3_decoder *decoder)
{
    if (!decoder->held.insn)
        return;
    emit_held(decoder, pug_etmv3_slot(decoder));
    decoder->list.held = 1;
}

/** The atoms that the short way cannot do are done by the long one. */
static void go_long(struct pug_etmv3_decoder *decoder, const struct pug_etmv3_packet *packet,
                    uint32_t bits, unsigned left)
{
    if (left > 0 || decoder->config->cycle_accurate)
        walk(decoder, packet, bits, left);
}

void pug_etmv3_short_p_header(struct pug_etmv3_decoder *decoder,
                              const struct pug_etmv3_packet *packet)
{
    struct pug_batch *batch = decoder->stage->out.batch;
    const struct pug_etmv3_insn *insn;
    bool cycles = decoder->config->cycle_accurate;
    uint32_t bits = packet->atoms.bits;
    unsigned left = packet->atoms.count;
    if (decoder->held.insn)
        emit_held(decoder, next_of(batch));
    for (; left > 0 && !decoder->need_address; left--, bits >>= 1) {
        bool executed = bits & 1;
        if (pug_etmv3_insn_at(decoder, decoder->address, decoder->isa, &insn) != PUG_OK)
            break;
        uint32_t count = cycles ? atom_cycles(packet, left) : 0;
        advance(decoder, insn, executed);
        if (left > 1) {
            emit(next_of(batch), insn, decoder->index, executed, cycles, count);
            continue;
        }
        decoder->held.insn = insn;
        decoder->held.index = decoder->index;
        decoder->held.cycles = count;
        decoder->held.executed = executed;
        decoder->stage->out.blank.isa = decoder->isa;
        return;
    }
    go_long(decoder, packet, bits, left);
}
