// SPDX-License-Identifier: MIT
/**
 * @file PTM: atoms and usual branches in a row, from bytes to elements at once. Used for batches,
 * and for the elements of each packet.
 */
#include "protocol/ptm/decoder.h"
#include "protocol/ptm/reader.h"

/** The cycle counts of a cycle-accurate packet. */
struct cycles {
    uint32_t count;
    size_t size; /**< bytes, the first one included; 0: they are not all there */
};

static struct cycles read_cycles(const uint8_t *at, const uint8_t *end)
{
    uint64_t count = at[0] >> 2 & 0x0f;
    bool more = at[0] & 0x40;
    size_t size = 1;
    for (; more && size < 5; size++) {
        if (at + size == end)
            return (struct cycles){0};
        count |= (uint64_t)(at[size] & 0x7f) << (7 * size - 3);
        more = at[size] & 0x80;
    }
    return (struct cycles){.count = (uint32_t)count, .size = size};
}

/**
 * Bytes of a packet of so many, with the cycle count that may follow, if it is all there; else 0.
 */
static size_t size_with_cycles(const struct pug_ptm_config *config, const uint8_t *at,
                               const uint8_t *end, size_t size)
{
    struct cycles cycles = {0};
    if (!config->cycle_accurate)
        return size;
    if (at + size < end)
        cycles = read_cycles(at + size, end);
    return cycles.size ? size + cycles.size : 0;
}

/** Bytes of a branch packet without exception bytes that is all there; else 0. */
static size_t branch_size(const struct pug_ptm_config *config, const uint8_t *at,
                          const uint8_t *end)
{
    size_t size = 1;
    for (; at[size - 1] & 0x80; size++)
        if (size == 5 || at + size == end)
            return 0;
    if (size > 1 && (at[size - 1] & 0x40))
        return 0;
    return size_with_cycles(config, at, end, size);
}

/* ---- blocks ---- */

/** The block at the decoder's address. The elements so far may be delivered on the way. */
static inline const struct pug_block *current_block(struct pug_ptm_decoder *decoder)
{
    const struct pug_block *from = decoder->from;
    if (!from || decoder->from_epoch != decoder->code->epoch)
        return pug_codemap_block(decoder->code, decoder->address, (enum pug_isa)decoder->isa,
                                 decoder->it);
    if (decoder->from_executed && from->last_type == PUG_INSTR_BR_INDIRECT)
        return pug_codemap_block(decoder->code, decoder->address, from->isa, 0);
    return pug_block_follow(decoder->code, from,
                            decoder->from_executed && from->last_type == PUG_INSTR_BR);
}

/**
 * Is something to be said of an E atom on this block? The return stack is empty, or there is none.
 */
static bool is_notable(const struct pug_ptm_decoder *decoder, const struct pug_block *block)
{
    const struct pug_quirks *quirks = &decoder->stage->quirks;
    return pug_ptm_needs_stack(decoder, &block->insn) &&
           (decoder->config->return_stack ? quirks->ptm_errors_fatal : !quirks->silent_stack);
}

/** The same, if it ends in a waypoint and there is nothing else to be said of it; else NULL. */
static const struct pug_block *usual_block(struct pug_ptm_decoder *decoder, bool e_atom)
{
    const uint32_t limit = decoder->stage->options.range_limit;
    const struct pug_block *block = decoder->unusual ? pug_ptm_take_unusual(decoder) : NULL;
    if (!block)
        block = current_block(decoder);
    bool usual = block->ending == PUG_BLOCK_FLOW && (limit == 0 || block->count <= limit) &&
                 !(e_atom && is_notable(decoder, block));
    decoder->unusual = usual ? NULL : block;
    return usual ? block : NULL;
}

/** `cycles` may be NULL. */
static inline void put_range(struct pug_ptm_decoder *decoder, const struct pug_block *block,
                             bool taken, const struct cycles *cycles, const enum pug_want want)
{
    struct pug_out *out = &decoder->stage->out;
    if (want == PUG_WANT_COUNTS && decoder->counts) {
        pug_chain_hop(&decoder->chain, block, taken);
        if (cycles)
            pug_chain_cycles(&decoder->chain, cycles->count);
        return;
    }
    struct pug_element *element = &out->batch->elements[out->batch->count++];
    const struct pug_range_context context = pug_range_context(&out->blank);
    pug_block_range(element, block, decoder->index, &context, taken);
    if (cycles) {
        element->flags |= PUG_ELEM_HAS_CC;
        element->cycle_count = cycles->count;
    }
}

/** Returns what is left of an IT block. */
static inline uint8_t it_behind(const struct pug_block *block, bool taken)
{
    return pug_ptm_jumps(&block->insn, taken) ? 0 : block->it_out;
}

/**
 * Behind a block, where the decoder's address and ISA are already those of the next one. `known`:
 * the block gives them. The quirk of a silent context: what is no range has the ISA of the last.
 */
static inline void leave(struct pug_ptm_decoder *decoder, const struct pug_block *block, bool taken,
                         bool known, uint8_t it)
{
    const bool indirect = taken && block->insn.type == PUG_INSTR_BR_INDIRECT;
    const uint8_t isa = taken && !indirect ? block->insn.next_isa : block->isa;
    decoder->from = (known || indirect) && isa == decoder->isa ? block : NULL;
    decoder->from_executed = taken;
    decoder->from_epoch = decoder->code->epoch;
    decoder->it = it;
    decoder->stage->out.blank.isa = block->isa;
}

/** The ISA that elements without one of their own carry is the one in force. */
static void tell_isa(const struct pug_ptm_decoder *decoder)
{
    if (!decoder->stage->quirks.ptm_silent_context)
        decoder->stage->out.blank.isa = decoder->isa;
}

/** Behind a block by an atom. */
static inline void go_on(struct pug_ptm_decoder *decoder, const struct pug_block *block, bool taken)
{
    decoder->address = pug_block_next(block, taken && block->insn.type == PUG_INSTR_BR);
    if (taken || decoder->stage->quirks.ptm_untaken_blx)
        decoder->isa = block->insn.next_isa;
    if (taken && block->insn.type == PUG_INSTR_BR_INDIRECT)
        decoder->has_address = pug_ptm_pop(decoder);
    if (taken && block->insn.link)
        pug_ptm_push(decoder, block->end, block->isa);
    leave(decoder, block, taken, true, it_behind(block, taken));
}

/* ---- packets ---- */

/** Atoms of a header, from the lowest bit on. */
struct atoms {
    unsigned bits, count;
};

/**
 * Atoms from a usual block on, over those that are linked, up to an indirect branch; *atoms: what
 * is left.
 */
static inline __attribute__((always_inline)) void hop(struct pug_ptm_decoder *decoder,
                                                      const struct pug_block *block,
                                                      struct atoms *atoms, const enum pug_want want)
{
    struct pug_batch *batch = decoder->stage->out.batch;
    const struct pug_range_context context = pug_range_context(&decoder->stage->out.blank);
    const bool stacks = decoder->config->return_stack;
    const bool counts = want == PUG_WANT_COUNTS && decoder->counts;
    const uint64_t index = decoder->index;
    const uint32_t epoch = decoder->code->epoch;
    const struct pug_block *last;
    struct pug_element *element = &batch->elements[batch->count];
    bool taken;
    do {
        taken = atoms->bits & 1;
        if (counts)
            pug_chain_hop(&decoder->chain, block, taken);
        else
            pug_block_range(element++, block, index, &context, taken);
        if (stacks && taken && block->insn.link)
            pug_ptm_push(decoder, block->end, block->isa);
        last = block;
        block = block->links[taken & (block->last_type == PUG_INSTR_BR)];
        atoms->bits >>= 1;
    } while (--atoms->count > 0 && pug_block_hops(block, epoch) &&
             block->last_type != PUG_INSTR_BR_INDIRECT);
    batch->count = (uint32_t)(element - batch->elements);
    decoder->address = pug_block_next(last, taken && last->last_type == PUG_INSTR_BR);
    decoder->isa = taken ? last->insn.next_isa : last->isa;
    leave(decoder, last, taken, true, it_behind(last, taken));
}

/** How many atoms of a header are left, from the first one that is not usual. */
static inline __attribute__((always_inline)) unsigned take_atoms(struct pug_ptm_decoder *decoder,
                                                                 struct atoms atoms,
                                                                 const struct cycles *cycles,
                                                                 const enum pug_want want)
{
    const bool hops = !cycles && decoder->stage->options.range_limit == 0 &&
                      !decoder->stage->quirks.ptm_untaken_blx;
    while (atoms.count > 0 && decoder->has_address) {
        const struct pug_block *block = usual_block(decoder, atoms.bits & 1);
        if (!block)
            return atoms.count;
        if (hops && block->last_type != PUG_INSTR_BR_INDIRECT) {
            hop(decoder, block, &atoms, want);
            continue;
        }
        put_range(decoder, block, atoms.bits & 1, cycles, want);
        go_on(decoder, block, atoms.bits & 1);
        atoms.bits >>= 1;
        atoms.count--;
    }
    return 0;
}

/** A branch and the waypoint that it stands for. False: that is not usual. */
static inline __attribute__((always_inline)) bool take_branch(struct pug_ptm_reader *reader,
                                                              struct pug_ptm_decoder *decoder,
                                                              const uint8_t *at, size_t size,
                                                              const enum pug_want want)
{
    struct pug_ptm_packet *packet = &reader->packet;
    const struct pug_block *block = usual_block(decoder, false);
    if (!block)
        return false;
    pug_ptm_clear_packet(packet);
    packet->type = PUG_PTM_BRANCH_ADDRESS;
    pug_ptm_parse(reader, at, size);
    const struct cycles cycles = {.count = packet->cycle_count};
    put_range(decoder, block, true, packet->has_cycle_count ? &cycles : NULL, want);
    if (block->insn.link)
        pug_ptm_push(decoder, block->end, block->isa);
    decoder->isa = block->insn.next_isa;
    pug_ptm_branch_to(decoder, packet);
    bool told = pug_block_next(block, block->insn.type == PUG_INSTR_BR) == decoder->address;
    if (want == PUG_WANT_COUNTS && decoder->counts && !told &&
        block->last_type != PUG_INSTR_BR_INDIRECT)
        pug_chain_break(&decoder->chain); /* it went elsewhere than its opcode says */
    leave(decoder, block, true, told && it_behind(block, true) == 0, 0);
    return true;
}

/** Bytes of a timestamp that is all there; else 0. */
static size_t timestamp_size(const struct pug_ptm_config *config, const uint8_t *at,
                             const uint8_t *end)
{
    size_t size = 1;
    do
        if (at + size == end)
            return 0;
    while ((at[size++] & 0x80) && size <= config->timestamp_bytes);
    return size_with_cycles(config, at, end, size);
}

/** Its element comes between ranges, also where these are counted. The packet's size, or 0. */
static size_t take_timestamp(struct pug_ptm_reader *reader, struct pug_ptm_decoder *decoder,
                             const struct pug_span *span, const uint8_t *end)
{
    const size_t size = timestamp_size(decoder->config, span->at, end);
    if (size == 0)
        return 0;
    pug_ptm_clear_packet(&reader->packet);
    reader->packet.type = PUG_PTM_TIMESTAMP;
    pug_ptm_parse(reader, span->at, size);
    tell_isa(decoder);
    pug_ptm_timestamp(decoder, &reader->packet);
    if (decoder->counts)
        pug_chain_tally(&decoder->chain, decoder->stage->out.batch, 1);
    return size;
}

/* ---- the fast path ---- */

static bool can_run_fast(const struct pug_ptm_reader *reader, const struct pug_ptm_decoder *decoder)
{
    return reader->state == PUG_PTM_AT_HEADER && decoder->state == PUG_PTM_DECODE;
}

/**
 * The next packet, if it is usual and before `end`: its size, else 0. `left`: atoms of it that are
 * not.
 */
static inline __attribute__((always_inline)) size_t take_packet(struct pug_ptm_reader *reader,
                                                                struct pug_ptm_decoder *decoder,
                                                                const struct pug_span *span,
                                                                const uint8_t *end, unsigned *left,
                                                                const enum pug_want want)
{
    const struct pug_ptm_config *config = decoder->config;
    const uint8_t *at = span->at;
    uint64_t before = decoder->index;
    struct atoms atoms = {config->atoms[*at].bits, config->atoms[*at].count};
    size_t size = 0;
    decoder->index = pug_span_index(span);
    if (*at & 1) {
        size = branch_size(config, at, end);
        if (size == 0 || !take_branch(reader, decoder, at, size, want))
            size = 0;
    } else if (atoms.count > 0 && !config->cycle_accurate) {
        size = 1;
        *left = take_atoms(decoder, atoms, NULL, want);
    } else if (atoms.count > 0) {
        struct cycles cycles = read_cycles(at, end);
        size = cycles.size;
        atoms.count = 1;
        if (size > 0 && take_atoms(decoder, atoms, &cycles, want) > 0)
            size = 0;
    } else if ((*at & 0xfb) == 0x42) { /* bit 2: the clock changed */
        size = take_timestamp(reader, decoder, span, end);
    }
    if (size == 0)
        decoder->index = before;
    return size;
}

/** The atoms of a packet, from the first one that is not usual. */
static enum pug_response decode_rest(struct pug_ptm_reader *reader, struct pug_ptm_decoder *decoder,
                                     uint8_t header, unsigned left)
{
    struct pug_ptm_packet *packet = &reader->packet;
    pug_ptm_clear_packet(packet);
    packet->type = PUG_PTM_ATOM;
    packet->atoms.bits = decoder->config->atoms[header].bits;
    packet->atoms.count = decoder->config->atoms[header].count;
    decoder->from = NULL;
    return pug_ptm_atoms(decoder, packet, packet->atoms.count - left);
}

static inline void end_chain(struct pug_ptm_decoder *decoder)
{
    if (decoder->counts)
        pug_chain_end(&decoder->chain);
    decoder->counts = false;
}

static inline __attribute__((always_inline)) enum pug_response
run_fast(struct pug_ptm_reader *reader, struct pug_ptm_decoder *decoder, struct pug_span *span,
         const enum pug_want want)
{
    const bool each = want == PUG_WANT_EACH;
    struct pug_batch *batch = decoder->stage->out.batch;
    const uint8_t *const last = pug_span_last(span);
    enum pug_response response = PUG_RESP_CONT;
    if (!can_run_fast(reader, decoder))
        return response;
    decoder->counts = want == PUG_WANT_COUNTS && pug_chain_begin(&decoder->chain, decoder->stage);
    while (span->at < last && batch->count < batch->limit && decoder->has_address &&
           batch->response < PUG_RESP_WAIT) {
        const uint8_t header = *span->at;
        const uint32_t given = batch->count;
        unsigned left = 0;
        size_t size = take_packet(reader, decoder, span, last, &left, want);
        if (size == 0)
            break;
        span->at += size;
        pug_span_end_turns(span, span->at, given);
        if (left > 0) {
            end_chain(decoder);
            tell_isa(decoder);
            response = decode_rest(reader, decoder, header, left);
            break;
        }
        if (each && batch->response < PUG_RESP_WAIT)
            pug_batch_give(batch);
        if (each && batch->response != PUG_RESP_CONT) {
            response = batch->response;
            break;
        }
    }
    end_chain(decoder);
    if (batch->response >= PUG_RESP_WAIT)
        decoder->unusual = NULL; /* memory may be another when it goes on */
    tell_isa(decoder);
    return response;
}

enum pug_response pug_ptm_fast_path(void *reader, void *decoder, struct pug_span *span,
                                    enum pug_want want)
{
    pug_ptm_pass_over_noise(reader, span);
    switch (want) {
    case PUG_WANT_COUNTS: return run_fast(reader, decoder, span, PUG_WANT_COUNTS);
    case PUG_WANT_BATCH: return run_fast(reader, decoder, span, PUG_WANT_BATCH);
    case PUG_WANT_EACH: return run_fast(reader, decoder, span, PUG_WANT_EACH);
    case PUG_WANT_MARKS: pug_ptm_scan_marks(reader, span); break;
    }
    return PUG_RESP_CONT;
}
