// SPDX-License-Identifier: MIT
/**
 * @file Packets of a synchronised stream as most of them are, one by one and in rows; and what of a
 * stream is written for comparison.
 */
#include "transport/unwrap_stream.h"

/* ---- sources ---- */

static unsigned slot_of(const struct pug_unwrap *unwrap, uint16_t source)
{
    return source & ((UINT32_C(1) << unwrap->config.src_bits) - 1);
}

bool pug_unwrap_first_since_gap(const struct pug_unwrap *unwrap, uint16_t source)
{
    return !pug_unwrap_has_seen(unwrap, source);
}

void pug_unwrap_note_source(struct pug_unwrap *unwrap, uint16_t source)
{
    unsigned slot = slot_of(unwrap, source);
    unwrap->seen[slot / 8] |= (uint8_t)(1u << slot % 8);
}

/* ---- simple packets ---- */

static uint64_t number(const uint8_t *bytes, unsigned size)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < size && i < 8; i++)
        value |= (uint64_t)bytes[i] << 8 * i;
    return value;
}

bool pug_unwrap_take_simple(struct pug_unwrap *unwrap, struct pug_unwrapped *packet)
{
    const uint8_t *at = unwrap->bytes + unwrap->head;
    uint32_t count = held(unwrap);
    if (!unwrap->simple || unwrap->config.src_bits % 8 != 0 || unwrap->state != STATE_SYNCED ||
        unwrap->bad != 0 || count == 0)
        return false;
    bool extend = at[0] >> 7;
    unsigned size = at[0] & 0x1f, stamp = extend ? unwrap->config.timestamp_bytes : 0;
    unsigned header = 1 + unwrap->config.src_bits / 8 + stamp;
    if (size == 0 || header + size > count || (extend && stamp == 0))
        return false;
    *packet = (struct pug_unwrapped){
        .index = unwrap->index[unwrap->head],
        .payload = at + header,
        .size = size,
        .bits = 8 * size,
        .length = header + size,
        .raw = at,
        .timestamp = number(at + header - stamp, stamp),
        .source = (uint16_t)number(at + 1, header - stamp - 1),
        .kind = unwrap->config.only_data ? PUG_PAYLOAD_DATA : PUG_PAYLOAD_INSTRUCTION,
        .timestamp_bits = (uint8_t)(8 * stamp),
        .flow = at[0] >> 5 & 3,
        .extend = extend,
    };
    packet->gap = pug_unwrap_first_since_gap(unwrap, packet->source);
    pug_unwrap_note_source(unwrap, packet->source);
    unwrap->found_any = true;
    unwrap->head += packet->length;
    return true;
}

/* ---- rows ---- */

/** How many bits of a payload's first byte are the source's. */
static unsigned lead_of(const struct pug_unwrap *unwrap)
{
    return unwrap->config.src_bits % 8;
}

/** Bytes of a header without the time, as far as they are no payload's. */
static unsigned header_of(const struct pug_unwrap *unwrap)
{
    return 1 + unwrap->config.src_bits / 8;
}

/** The source of the packet at `at`. */
static uint16_t source_at(const struct pug_unwrap *unwrap, const uint8_t *at)
{
    return (uint16_t)((at[1] | at[2] << 8) & ((1u << unwrap->config.src_bits) - 1));
}

/** Where the next packet lies in what was given. NULL: it begins before that, or nothing was. */
static const uint8_t *next_of(const struct pug_unwrap *unwrap, const struct pug_unwrap_given *given)
{
    return given->bytes && held(unwrap) <= given->used ? given->bytes + (given->used - held(unwrap))
                                                       : NULL;
}

/**
 * Returns how much of it is there so that the bytes after it can be read; at most what fits into a
 * cache.
 */
static size_t reach_of(const struct pug_unwrap_given *given, const uint8_t *at)
{
    size_t left = given->size - (size_t)(at - given->bytes);
    left = left > PUG_RUN_SPARE ? left - PUG_RUN_SPARE : 0;
    return left < PUG_UNWRAP_CAPACITY ? left : PUG_UNWRAP_CAPACITY;
}

bool pug_unwrap_has_rows(const struct pug_unwrap *unwrap)
{
    const bool exact = unwrap->padding_known && unwrap->padding == PUG_PADDING_SIGN;
    return unwrap->simple && unwrap->state == STATE_SYNCED && unwrap->bad == 0 &&
           (lead_of(unwrap) == 0 || exact);
}

bool pug_unwrap_row_begins(const struct pug_unwrap *unwrap, const struct pug_unwrap_given *given,
                           uint16_t *source)
{
    const uint8_t *at = next_of(unwrap, given);
    if (!at || reach_of(given, at) == 0)
        return false;
    *source = source_at(unwrap, at);
    return pug_unwrap_has_seen(unwrap, *source);
}

bool pug_unwrap_row(const struct pug_unwrap *unwrap, const struct pug_unwrap_given *given,
                    uint16_t source, struct pug_run *run)
{
    const uint8_t *const begin = next_of(unwrap, given), *at = begin;
    const unsigned header = header_of(unwrap), stamp = unwrap->config.timestamp_bytes;
    const unsigned none = stamp > 0 ? 0 : 0x80; /* what announces a time that there is not */
    size_t left = reach_of(given, begin);
    uint32_t payload = 0;
    while (left > 0) {
        const unsigned first = at[0], size = first & 0x1f;
        const unsigned length = header + (first >> 7) * stamp + size;
        if (length > left || size == 0 || (first & none) || source_at(unwrap, at) != source)
            break;
        at += length;
        left -= length;
        payload += size;
    }
    *run = (struct pug_run){
        .index = given->index + (uint64_t)(begin - given->bytes),
        .bytes = begin,
        .size = (size_t)(at - begin),
        .header = (uint8_t)header,
        .stamp = (uint8_t)stamp,
        .lead = (uint8_t)lead_of(unwrap),
        .source = source,
        .type = unwrap->config.only_data ? PUG_PAYLOAD_DATA : PUG_PAYLOAD_INSTRUCTION,
        .payload = payload,
    };
    return at > begin;
}

void pug_unwrap_take(struct pug_unwrap *unwrap, struct pug_unwrap_given *given, size_t size)
{
    const uint32_t copied = held(unwrap);
    unwrap->head += size < copied ? (uint32_t)size : copied;
    given->used += size < copied ? 0 : size - copied;
}

/* ---- for comparison ---- */

/** Bytes that wait for more. Where their indexes are consecutive they are not written. */
static void write_held(const struct pug_unwrap *unwrap, struct pug_state *state)
{
    const uint64_t *index = unwrap->index + unwrap->head;
    uint32_t count = held(unwrap);
    pug_state_number(state, count);
    pug_state_put(state, unwrap->bytes + unwrap->head, count);
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0 && index[i] == index[i - 1] + 1)
            continue;
        pug_state_number(state, i);
        pug_state_number(state, index[i]);
    }
    pug_state_number(state, count);
}

void pug_unwrap_state(const struct pug_unwrap *unwrap, struct pug_state *state)
{
    pug_state_number(state, unwrap->state);
    pug_state_number(state, unwrap->state == STATE_START && unwrap->from_begin);
    pug_state_number(state, unwrap->found_any);
    pug_state_number(state, unwrap->bad);
    pug_state_number(state, unwrap->null_run);
    pug_state_number(state, unwrap->skipping);
    pug_state_number(state, unwrap->numbered);
    pug_state_number(state, unwrap->numbered ? unwrap->number : 0);
    pug_state_number(state, unwrap->padding_known);
    pug_state_number(state, unwrap->padding_known ? unwrap->padding : 0);
    if (!unwrap->padding_known) {
        pug_state_number(state, (uint64_t)unwrap->guess.sign);
        pug_state_number(state, (uint64_t)unwrap->guess.zeros);
        pug_state_number(state, (uint64_t)unwrap->guess.ones);
        pug_state_number(state, (uint64_t)unwrap->guess.learned);
        for (unsigned i = 0; i < sizeof(unwrap->guess.seen) / sizeof(uint16_t); i++)
            pug_state_number(state, unwrap->guess.seen[i / 8][i % 8]);
        pug_state_put(state, unwrap->guess.before, sizeof(unwrap->guess.before));
        pug_state_number(state, unwrap->guess.varies);
        pug_state_number(state, unwrap->guess.payloads);
        pug_state_number(state, unwrap->guess.whole);
        pug_state_number(state, unwrap->guess.cut);
        for (unsigned i = 0; i < PUG_UNWRAP_MET; i++)
            pug_state_number(state, unwrap->guess.met[i]);
        pug_state_number(state, unwrap->guess.distinct);
        pug_state_number(state, unwrap->guess.size);
        pug_state_number(state, unwrap->guess.sizes);
    }
    if (unwrap->config.bit_stream)
        pug_unwrap_bits_state(unwrap, state);
    write_held(unwrap, state);
}

bool pug_unwrap_has_lost(const struct pug_unwrap *unwrap)
{
    return unwrap->lost;
}

bool pug_unwrap_has_seen(const struct pug_unwrap *unwrap, uint16_t source)
{
    unsigned slot = slot_of(unwrap, source);
    return unwrap->seen[slot / 8] >> slot % 8 & 1;
}
