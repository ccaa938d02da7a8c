// SPDX-License-Identifier: MIT
/** @file ETMv3: what is still to come depends on (state.h). */
#include "protocol/etmv3/count.h"
#include "protocol/etmv3/course.h"
#include "protocol/etmv3/reader.h"

#include <assert.h>

/* ---- the reader ---- */

/** What later packets leave out, and mean as it was. Everything else is set before it is used. */
static void put_kept(const struct pug_etmv3_reader *reader, struct pug_state *state)
{
    const struct pug_etmv3_packet *packet = &reader->packet;
    struct pug_armv7_address address = packet->address;
    if (packet->isync.has_lsip) /* what the next packet's is relative to */
        address.value = packet->isync.lsip_address;
    pug_armv7_address_state(&address, state);
    pug_state_number(state, packet->isa);
    pug_state_number(state, packet->context.alt_isa);
    pug_state_number(state, packet->context.hyp);
    pug_state_number(state, packet->timestamp);
    if (!pug_etmv3_traces_data(reader->config))
        return;
    pug_armv7_address_state(&packet->data.address, state);
    pug_state_number(state, packet->data.big_endian);
}

/** Write the stale values that only defects of the reference bring back. */
static void put_stale(const struct pug_etmv3_reader *reader, struct pug_state *state)
{
    const struct pug_quirks *quirks = &reader->stage->quirks;
    const struct pug_etmv3_packet *packet = &reader->packet;
    if (quirks->etmv3_malformed_passes)
        pug_state_number(state, packet->format);
    if (quirks->etmv3_tracemode_names_previous || quirks->etmv3_first_zeros_reserved)
        pug_state_number(state, packet->type);
    if (quirks->etmv3_first_zeros_reserved)
        pug_state_number(state, reader->split);
    if (!quirks->etmv3_incomplete_is_whole)
        return;
    pug_state_number(state, packet->context.context_id);
    pug_state_number(state, packet->context.vmid);
    pug_state_number(state, packet->isync.reason);
}

/** Bytes of a stream that is not synchronised, but for those that were given out. */
static void put_search(const struct pug_etmv3_reader *reader, struct pug_state *state)
{
    bool held = !reader->given && reader->raw.size > 0;
    pug_state_number(state, reader->zeros);
    pug_state_number(state,
                     held || reader->stage->quirks.etmv3_unsynced_by_block ? reader->index : 0);
    if (held)
        pug_rawbytes_state(&reader->raw, state);
}

/** A packet that is not whole. Its first byte is among the bytes, but for an A-sync's. */
static void put_partial(const struct pug_etmv3_reader *reader, struct pug_state *state)
{
    pug_state_number(state, reader->packet.type);
    pug_state_number(state, reader->packet.data.tag);
    pug_state_number(state, reader->index);
    pug_state_number(state, reader->parts);
    if (reader->parts == 0) {
        pug_state_number(state, reader->a_sync);
        return;
    }
    pug_state_number(state, reader->part);
    for (unsigned i = reader->part; i < reader->parts; i++) {
        pug_state_number(state, reader->plan[i].kind);
        pug_state_number(state, reader->plan[i].left);
    }
    pug_state_number(state, reader->oversized);
    pug_rawbytes_state(&reader->raw, state);
}

void pug_etmv3_reader_state(const void *pointer, struct pug_state *state)
{
    const struct pug_etmv3_reader *reader = pointer;
    pug_state_number(state, reader->state);
    put_kept(reader, state);
    put_stale(reader, state);
    if (reader->state == PUG_ETMV3_UNSYNCED)
        put_search(reader, state);
    else if (reader->state == PUG_ETMV3_IN_PAYLOAD)
        put_partial(reader, state);
}

/* ---- the decoder ---- */

static void put_transfer(const struct pug_etmv3_transfer *transfer, struct pug_state *state)
{
    pug_state_number(state, transfer->has_pc);
    pug_state_number(state, transfer->has_pc ? transfer->pc : 0);
    pug_state_number(state, transfer->has_address);
    pug_state_number(state, transfer->has_address ? transfer->address : 0);
    pug_state_number(state, transfer->big_endian);
    pug_state_number(state, transfer->access);
    pug_state_number(state, transfer->size);
    pug_state_number(state, transfer->doubleword);
    pug_state_number(state, transfer->swap);
}

static void put_data(const struct pug_etmv3_decoder *decoder, struct pug_state *state)
{
    pug_state_number(state, decoder->data_lost);
    put_transfer(&decoder->transfer, state);
    for (unsigned i = 0; i < sizeof(decoder->tagged) / sizeof(decoder->tagged[0]); i++) {
        const struct pug_etmv3_transfer *tagged = &decoder->tagged[i];
        pug_state_number(state, tagged->values_left);
        if (tagged->values_left > 0)
            put_transfer(tagged, state);
    }
}

static void put_element(const struct pug_element *element, struct pug_state *state)
{
    pug_state_number(state, element->index);
    pug_state_number(state, element->start);
    pug_state_number(state, element->end);
    pug_state_number(state, element->value);
    pug_state_number(state, element->count | (uint64_t)element->cycle_count << 32);
    pug_state_number(state, element->context_id | (uint64_t)element->vmid << 32);
    const uint8_t small[] = {
        element->source & 0xff, element->source >> 8,  element->security,  (uint8_t)element->level,
        element->context_flags, element->sw_flags,     element->sw_bits,   element->sw_packets,
        element->flags & 0xff,  element->flags >> 8,   element->type,      element->reason,
        element->last_type,     element->last_subtype, element->last_size, element->isa,
    };
    pug_state_put(state, small, sizeof(small));
}

/**
 * Elements that are held back. Later slots are filled before they are used, except where stale ones
 * are visible.
 */
static void put_list(const struct pug_etmv3_decoder *decoder, struct pug_state *state)
{
    const struct pug_etmv3_list *list = &decoder->list;
    const bool stale = decoder->stage->quirks.etmv3_stale_elements;
    pug_state_number(state, (uint64_t)(int64_t)list->count);
    pug_state_number(state, (uint64_t)(int64_t)list->held);
    if (stale)
        pug_state_number(state, (uint64_t)(int64_t)list->first);
    for (int32_t i = 0; i < (stale ? list->capacity : list->count); i++) {
        int32_t at = stale ? i : (list->first + i) % list->capacity;
        put_element(&list->slots[at], state);
    }
}

/**
 * The index of the last packet is the end of trace's. What is kept of instructions is not state.
 */
void pug_etmv3_decoder_state(const void *pointer, struct pug_state *state)
{
    struct pug_etmv3_decoder *decoder = (struct pug_etmv3_decoder *)(uintptr_t)pointer;
    pug_etmv3_count_close(decoder); /* what is held back is in the list then */
    pug_etmv3_settle(decoder);
    pug_state_number(state, decoder->state);
    if (decoder->state == PUG_ETMV3_NO_SYNC)
        pug_state_number(state, decoder->reason);
    pug_state_number(state, decoder->index);
    pug_state_number(state, decoder->need_address);
    pug_state_number(state, decoder->told_unknown);
    if (!decoder->need_address) {
        pug_state_number(state, decoder->address);
        pug_state_number(state, decoder->it);
    }
    pug_state_number(state, decoder->told.value);
    pug_state_number(state, decoder->isa);
    if (decoder->stage->quirks.etmv3_stale_elements)
        pug_state_number(state, decoder->last_next_isa);
    if (pug_etmv3_traces_data(decoder->config))
        put_data(decoder, state);
    put_list(decoder, state);
}

/** An I-sync has it all, but for what is known of data, and of slots of elements that are over. */
bool pug_etmv3_self_synced(const void *decoder_)
{
    const struct pug_etmv3_decoder *decoder = decoder_;
    return decoder->state == PUG_ETMV3_DECODE && !decoder->need_address &&
           decoder->only_instructions && !decoder->quirky;
}
