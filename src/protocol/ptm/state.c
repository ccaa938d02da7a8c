// SPDX-License-Identifier: MIT
/** @file PTM: what is still to come depends on (state.h). */
#include "protocol/ptm/decoder.h"
#include "protocol/ptm/reader.h"

/* ---- the reader ---- */

/** Zeros that may belong to an A-sync. */
static void put_zeros(const struct pug_ptm_zeros *zeros, struct pug_state *state)
{
    pug_state_number(state, zeros->count);
    pug_state_number(state, zeros->maybe);
    pug_state_number(state, zeros->maybe ? zeros->run : 0);
    pug_state_number(state, zeros->count > 0 ? zeros->index : 0);
}

/** Bytes that are still to be shown. */
static void put_unsynced(const struct pug_ptm_reader *reader, struct pug_state *state)
{
    const struct pug_rawbytes *bytes = &reader->unsynced;
    size_t from = reader->shown + (reader->given ? reader->unsynced_count : 0);
    if (from > bytes->size)
        from = bytes->size;
    pug_state_number(state, bytes->size - from);
    pug_state_put(state, pug_rawbytes_look(bytes) + from, bytes->size - from);
}

/** Bytes that were delivered are forgotten with the next ones. */
static void put_search(const struct pug_ptm_reader *reader, struct pug_state *state)
{
    const bool by_block = reader->stage->quirks.ptm_unsynced_by_block;
    uint32_t left = reader->given ? 0 : reader->unsynced_count;
    put_zeros(&reader->zeros, state);
    pug_state_number(state, reader->told);
    pug_state_number(state, left);
    pug_state_number(state, left > 0 || by_block ? reader->index : 0);
    if (reader->stage->quirks.ptm_zero_run_lost)
        pug_state_number(state, reader->lost);
    if (left + reader->lost > 0)
        put_unsynced(reader, state);
    if (!by_block)
        return;
    pug_state_number(state, reader->in_block);
    pug_state_number(state, reader->zeros_reported);
    pug_state_number(state, reader->carried);
}

/** A packet that is not whole. Its first byte is among the bytes, but for an A-sync's. */
static void put_partial(const struct pug_ptm_reader *reader, struct pug_state *state)
{
    pug_state_number(state, reader->packet.type);
    pug_state_number(state, reader->index);
    pug_state_number(state, reader->part);
    if (reader->part == PUG_PTM_PART_ZERO) {
        put_zeros(&reader->zeros, state);
        return;
    }
    pug_state_number(state, reader->left);
    pug_rawbytes_state(&reader->raw, state);
}

/** Of the last packet only what later ones leave out and mean as it was. */
void pug_ptm_reader_state(const void *pointer, struct pug_state *state)
{
    const struct pug_ptm_reader *reader = pointer;
    const struct pug_ptm_packet *packet = &reader->packet;
    pug_state_number(state, reader->state);
    pug_armv7_address_state(&packet->address, state);
    pug_state_number(state, packet->isa);
    pug_state_number(state, packet->context.hyp);
    pug_state_number(state, packet->timestamp);
    pug_state_number(state, reader->alt_isa);
    if (reader->state == PUG_PTM_UNSYNCED)
        put_search(reader, state);
    else if (reader->state == PUG_PTM_IN_PAYLOAD)
        put_partial(reader, state);
}

/* ---- the decoder ---- */

/** Return addresses, the last one first; where in the ring they stand does not matter. */
static void put_stack(const struct pug_ptm_stack *stack, struct pug_state *state)
{
    pug_state_number(state, stack->count);
    for (unsigned i = 0; i < stack->count; i++) {
        unsigned at = (stack->top + PUG_PTM_STACK_ENTRIES - i) % PUG_PTM_STACK_ENTRIES;
        pug_state_number(state, stack->entries[at].address);
        pug_state_number(state, stack->entries[at].isa);
    }
}

/** Outside DECODE, where execution is comes with the I-sync. The index is the end of trace's. */
void pug_ptm_decoder_state(const void *pointer, struct pug_state *state)
{
    const struct pug_ptm_decoder *decoder = pointer;
    pug_state_number(state, decoder->state);
    if (decoder->state == PUG_PTM_NO_SYNC)
        pug_state_number(state, decoder->reason);
    pug_state_number(state, decoder->index);
    pug_state_number(state, decoder->need_isync);
    if (decoder->state != PUG_PTM_DECODE)
        return;
    pug_state_number(state, decoder->has_address);
    pug_state_number(state, decoder->has_address ? decoder->address : 0);
    pug_state_number(state, decoder->isa);
    pug_state_number(state, decoder->has_address ? decoder->it : 0);
    pug_state_number(state, decoder->told.value);
    put_stack(&decoder->stack, state);
}

/** An I-sync has it all. */
bool pug_ptm_self_synced(const void *decoder_)
{
    const struct pug_ptm_decoder *decoder = decoder_;
    return decoder->state == PUG_PTM_DECODE && !decoder->need_isync;
}
