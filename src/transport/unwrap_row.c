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
    if (!unwrap->simple || unwrap->state != STATE_SYNCED || unwrap->bad != 0 || count == 0)
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

bool pug_unwrap_row_begins(const struct pug_unwrap *unwrap, uint16_t *source)
{
    unsigned bytes = unwrap->config.src_bits / 8;
    if (!unwrap->simple || unwrap->state != STATE_SYNCED || unwrap->bad != 0 ||
        held(unwrap) <= bytes)
        return false;
    *source = (uint16_t)number(unwrap->bytes + unwrap->head + 1, bytes);
    return pug_unwrap_has_seen(unwrap, *source);
}

bool pug_unwrap_row(const struct pug_unwrap *unwrap, uint16_t source, struct pug_run *run)
{
    const uint8_t *begin = unwrap->bytes + unwrap->head, *at = begin;
    const uint64_t *index = unwrap->index + unwrap->head;
    unsigned bytes = unwrap->config.src_bits / 8, stamp = unwrap->config.timestamp_bytes;
    uint32_t count = held(unwrap);
    for (;;) {
        uint32_t left = count - (uint32_t)(at - begin), size = at[0] & 0x1f;
        bool stamped = left > 0 && at[0] >> 7;
        uint32_t length = 1 + bytes + (stamped ? stamp : 0) + size;
        if (left <= bytes || length > left || size == 0 || (stamped && stamp == 0) ||
            number(at + 1, bytes) != source ||
            index[at - begin + length - 1] != index[0] + (uint64_t)(at - begin) + length - 1)
            break;
        at += length;
    }
    *run = (struct pug_run){
        .index = index[0],
        .bytes = begin,
        .size = (size_t)(at - begin),
        .header = (uint8_t)(1 + bytes),
        .stamp = (uint8_t)stamp,
        .source = source,
        .type = unwrap->config.only_data ? PUG_PAYLOAD_DATA : PUG_PAYLOAD_INSTRUCTION,
    };
    return at > begin;
}

void pug_unwrap_take(struct pug_unwrap *unwrap, size_t size)
{
    unwrap->head += (uint32_t)size;
}

/* ---- for comparison ---- */

/** Bytes that wait for more; where their indexes go on by one they are not told. */
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
    }
    if (unwrap->config.bit_stream)
        pug_unwrap_bits_state(unwrap, state);
    write_held(unwrap, state);
}

bool pug_unwrap_has_seen(const struct pug_unwrap *unwrap, uint16_t source)
{
    unsigned slot = slot_of(unwrap, source);
    return unwrap->seen[slot / 8] >> slot % 8 & 1;
}
