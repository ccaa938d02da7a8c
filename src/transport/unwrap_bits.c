// SPDX-License-Identifier: MIT
/**
 * @file Bit streams: packets whose bytes begin at any bit.
 *
 * After at least 8 * N + 7 zero bits, N being the most null bytes in a row that a packet can have,
 * the first one is bit 7 of a null.alignment, and the next bit is bit 0 of a header. That is so at
 * every such place, whatever was believed before: bits may have been lost, or come twice.
 *
 * One case differs, and it has exactly that many zeros: a packet of 31 zero bytes without
 * timestamps that follows a header with zeros above its length, and is followed by one whose length
 * is 16, or 0 mod 16. What follows decides: one of the two ways has no packets in it.
 */
#include "transport/unwrap_stream.h"

#include <string.h>

#define LENGTH_16_BIT 4u /* bit of a header */

static uint32_t end_of(const struct pug_unwrap *unwrap)
{
    return 8 * unwrap->tail;
}

static unsigned wanted_zeros(const struct pug_unwrap *unwrap)
{
    return 8 * pug_unwrap_nulls(&unwrap->config) + 7;
}

/** The bytes that begin at a bit, up to the longest packet; how many there are up to `end`. */
static size_t align(const struct pug_unwrap *unwrap, uint32_t at, uint32_t end, uint8_t *bytes)
{
    unsigned shift = at % 8, longest = pug_unwrap_longest(&unwrap->config);
    const uint8_t *from = unwrap->bytes + at / 8;
    size_t count = at < end ? (end - at) / 8 : 0;
    if (count > longest)
        count = longest;
    for (size_t i = 0; i < count; i++)
        bytes[i] = (uint8_t)(from[i] >> shift | (shift ? from[i + 1] << (8 - shift) : 0));
    return count;
}

/** Look on for the end of the next synchronisation sequence. */
static void scan(struct pug_unwrap *unwrap)
{
    struct pug_unwrap_bits *bits = &unwrap->bits;
    const uint32_t wanted = wanted_zeros(unwrap), end = end_of(unwrap);
    while (!bits->found && bits->scanned < end) {
        uint8_t byte = unwrap->bytes[bits->scanned / 8];
        bool one = byte >> bits->scanned % 8 & 1;
        if (bits->scanned % 8 == 0 && byte == 0) {
            bits->scanned += 8;
            bits->zeros += 8;
        } else {
            bits->scanned++;
            bits->found = one && bits->zeros >= wanted;
            bits->exact = one && bits->zeros == wanted;
            bits->zeros = one ? 0 : bits->zeros + 1;
        }
        if (bits->zeros > wanted)
            bits->zeros = wanted + 1;
    }
}

/** Where the sequence that was found ends: there the scan has stopped. */
static uint32_t found_at(const struct pug_unwrap *unwrap)
{
    return unwrap->bits.scanned;
}

/* ---- the case that is not certain ---- */

enum belief { BELIEF_NO, BELIEF_YES, BELIEF_LATER };

/** Do packets follow each other from here on, with nulls as they are in a bit stream? */
static enum belief are_packets(const struct pug_unwrap *unwrap, uint32_t at)
{
    const uint32_t end = end_of(unwrap);
    uint8_t bytes[PUG_UNWRAP_LONGEST], scratch[PUG_UNWRAP_LONGEST];
    struct pug_unwrapped packet;
    bool idle = false;
    for (unsigned packets = 0; packets < PUG_UNWRAP_CHAIN;) {
        size_t count = align(unwrap, at, end, bytes);
        enum pug_unwrap_parsed parsed =
            pug_unwrap_parse(&unwrap->config, bytes, count, scratch, &packet);
        if (parsed == PUG_PARSED_SHORT)
            return unwrap->ended ? BELIEF_YES : BELIEF_LATER;
        if (parsed == PUG_PARSED_BAD || (packet.null ? packet.flow != 0 : packet.extend || idle))
            return BELIEF_NO;
        idle = packet.null && !packet.extend;
        packets += !packet.null;
        at += 8 * packet.length;
        if (at - unwrap->bits.head > 8 * PUG_UNWRAP_SAMPLE)
            break;
    }
    return BELIEF_YES;
}

/** Which is it: the end of a sequence, or a header of length 16 at `header`? */
static enum belief is_sequence(const struct pug_unwrap *unwrap, uint32_t header)
{
    enum belief sequence = are_packets(unwrap, found_at(unwrap));
    enum belief packet = are_packets(unwrap, header);
    if (sequence == BELIEF_LATER || packet == BELIEF_LATER)
        return BELIEF_LATER;
    if (sequence != packet)
        return sequence;
    /* Both or none: as the rule has it, or as it was believed before. */
    return unwrap->state == STATE_SYNCED ? BELIEF_NO : BELIEF_YES;
}

static bool may_be_none(const struct pug_unwrap *unwrap)
{
    return unwrap->bits.exact && unwrap->config.timestamp_bytes == 0;
}

/** A packet of which a sequence could be made up: see above. */
static bool is_all_zeros(const struct pug_unwrap *unwrap, const struct pug_unwrapped *packet)
{
    unsigned ones = unwrap->aligned[0] ^ 0x1fu;
    for (unsigned i = 1; i < packet->length; i++)
        ones |= unwrap->aligned[i];
    return ones == 0;
}

/* ---- stepping ---- */

/** Leave out the bits up to a place. */
static void skip(struct pug_unwrap *unwrap, uint32_t to)
{
    struct pug_unwrap_bits *bits = &unwrap->bits;
    for (uint32_t at = bits->head; at < to; at++)
        bits->ones |= unwrap->bytes[at / 8] >> at % 8 & 1;
    unwrap->skipped += to / 8 - bits->head / 8;
    unwrap->skipping += to / 8 - bits->head / 8;
    bits->head = to;
}

static uint64_t index_at(const struct pug_unwrap *unwrap, uint32_t at)
{
    uint32_t byte = at / 8, tail = unwrap->tail;
    return byte < tail ? unwrap->index[byte] : unwrap->index[tail - 1] + 1;
}

/** A header is there for certain, where there was none before, or another was believed. */
static void realign(struct pug_unwrap *unwrap, uint32_t to, bool sequence)
{
    struct pug_unwrap_bits *bits = &unwrap->bits;
    if (sequence)
        skip(unwrap, found_at(unwrap) - 1); /* its own bit is none of what is lost */
    bool ones = bits->ones;
    skip(unwrap, to);
    bits->ones = bits->found = bits->zero_packet = false;
    unwrap->state = STATE_SYNCED;
    pug_unwrap_lose(unwrap);
    unwrap->settled = true;
    if (ones)
        pug_unwrap_found(unwrap, index_at(unwrap, to));
    unwrap->skipping = 0;
}

static bool seek(struct pug_unwrap *unwrap)
{
    struct pug_unwrap_bits *bits = &unwrap->bits;
    const uint32_t end = end_of(unwrap);
    if (!bits->found) {
        skip(unwrap, end > bits->head + 8 && !unwrap->ended ? end - 8 : bits->head);
        if (unwrap->ended && bits->head < end) {
            skip(unwrap, end);
            if (bits->ones)
                pug_unwrap_give_up(unwrap);
        }
        return false;
    }
    uint32_t at = found_at(unwrap), header = at - LENGTH_16_BIT - 1;
    if (may_be_none(unwrap) && header >= bits->head) {
        enum belief belief = is_sequence(unwrap, header);
        if (belief == BELIEF_LATER)
            return false;
        if (belief == BELIEF_NO) {
            realign(unwrap, header, false);
            return true;
        }
    }
    realign(unwrap, at, true);
    return true;
}

/** A sequence ends where no packet does: what was believed to be packets is none, or cut. */
static bool cut(struct pug_unwrap *unwrap)
{
    struct pug_unwrap_bits *bits = &unwrap->bits;
    if (may_be_none(unwrap) && bits->zero_packet &&
        found_at(unwrap) - bits->head == LENGTH_16_BIT + 1) {
        enum belief belief = is_sequence(unwrap, bits->head);
        if (belief == BELIEF_LATER)
            return false;
        if (belief == BELIEF_NO) { /* on, with this header */
            bits->found = false;
            return true;
        }
    }
    bits->ones = true;
    realign(unwrap, found_at(unwrap), true);
    return true;
}

/** The data end with bits that are no whole packet. */
static void finish(struct pug_unwrap *unwrap, size_t count)
{
    struct pug_unwrap_bits *bits = &unwrap->bits;
    if (count > 0)
        pug_unwrap_tell(unwrap, PUG_ERR_TRUNCATED, index_at(unwrap, bits->head),
                        "the data end inside a packet");
    unwrap->skipped += end_of(unwrap) / 8 - bits->head / 8;
    bits->head = end_of(unwrap);
}

static bool step(struct pug_unwrap *unwrap, struct pug_unwrapped *packet, bool *got)
{
    struct pug_unwrap_bits *bits = &unwrap->bits;
    if (bits->found && found_at(unwrap) == bits->head) {
        bits->found = false;
        scan(unwrap);
    }
    uint32_t end = bits->found ? found_at(unwrap) : end_of(unwrap);
    uint64_t index = bits->head < end_of(unwrap) ? index_at(unwrap, bits->head) : 0;
    size_t count = align(unwrap, bits->head, end, unwrap->aligned);
    switch (pug_unwrap_parse(&unwrap->config, unwrap->aligned, count, unwrap->scratch, packet)) {
    case PUG_PARSED:
        if (!pug_unwrap_padding_known(unwrap, packet))
            return false;
        bits->head += 8 * packet->length;
        bits->zero_packet = is_all_zeros(unwrap, packet);
        pug_unwrap_accept(unwrap, index, packet);
        *got = true;
        return true;
    case PUG_PARSED_BAD:
        pug_unwrap_tell(unwrap, PUG_ERR_PACKET_HEADER, index, "impossible packet header");
        unwrap->skipped += packet->length;
        bits->head += 8 * packet->length;
        pug_unwrap_judge(unwrap, true);
        return true;
    case PUG_PARSED_SHORT: break;
    }
    if (bits->found)
        return cut(unwrap);
    if (unwrap->ended && bits->head < end)
        finish(unwrap, count);
    return false;
}

bool pug_unwrap_bits_sample(const struct pug_unwrap *unwrap, struct pug_unwrap_padding_guess *guess)
{
    const struct pug_unwrap_bits *bits = &unwrap->bits;
    const uint32_t end = bits->found ? found_at(unwrap) : end_of(unwrap);
    uint8_t bytes[PUG_UNWRAP_LONGEST], scratch[PUG_UNWRAP_LONGEST];
    struct pug_unwrapped packet;
    uint32_t at = bits->head;
    while (at - bits->head < 8 * PUG_UNWRAP_SAMPLE) {
        size_t count = align(unwrap, at, end, bytes);
        enum pug_unwrap_parsed parsed =
            pug_unwrap_parse(&unwrap->config, bytes, count, scratch, &packet);
        if (parsed == PUG_PARSED_SHORT)
            return bits->found || unwrap->ended;
        if (parsed == PUG_PARSED_BAD)
            return true;
        pug_unwrap_padding_note(guess, &packet);
        at += 8 * packet.length;
    }
    return true;
}

bool pug_unwrap_bits_step(struct pug_unwrap *unwrap, struct pug_unwrapped *packet, bool *got)
{
    scan(unwrap);
    bool going = unwrap->state == STATE_SYNCED ? step(unwrap, packet, got) : seek(unwrap);
    unwrap->head = unwrap->bits.head / 8;
    return going;
}

void pug_unwrap_bits_move(struct pug_unwrap *unwrap, uint32_t bytes)
{
    unwrap->bits.head -= 8 * bytes;
    unwrap->bits.scanned -= 8 * bytes;
}

void pug_unwrap_bits_state(const struct pug_unwrap *unwrap, struct pug_state *state)
{
    const struct pug_unwrap_bits *bits = &unwrap->bits;
    pug_state_number(state, bits->head % 8);
    pug_state_number(state, bits->scanned - bits->head);
    pug_state_number(state, bits->zeros);
    pug_state_number(state, bits->found);
    pug_state_number(state, bits->found && bits->exact);
    pug_state_number(state, bits->zero_packet);
    pug_state_number(state, unwrap->state == STATE_SYNCED ? 0 : bits->ones);
}
