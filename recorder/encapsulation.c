// SPDX-License-Identifier: MIT
#include "recorder/encapsulation.h"

#include "recorder/fields.h"

/** Null packets up to the next block, if the packet does not fit in this one. */
static void fill_block(struct rec_encapsulation *encapsulation, unsigned size)
{
    uint32_t block = encapsulation->block;
    if (block == 0)
        return;
    unsigned left = block - (unsigned)(encapsulation->out->size % block);
    if (left < size)
        rec_encapsulation_nulls(encapsulation, left);
}

/** Bits of the payload that tell something: the sign is there once. */
static unsigned significant_bits(const uint8_t *payload, unsigned size)
{
    unsigned bits = 8 * size;
    unsigned sign = payload[size - 1] >> 7;
    while (bits > 1 && (payload[(bits - 2) / 8] >> (bits - 2) % 8 & 1) == sign)
        bits--;
    return bits;
}

unsigned rec_type_bits(const struct rec_encapsulation *encapsulation, uint16_t source)
{
    for (size_t i = 0; i < encapsulation->width_count; i++)
        if (encapsulation->widths[i].source == source)
            return encapsulation->widths[i].bits;
    return encapsulation->type_bits;
}

/** A bit of padding. */
static unsigned padding_bit(struct rec_encapsulation *encapsulation, unsigned sign)
{
    switch (encapsulation->padding) {
    case REC_PAD_SIGN: return sign;
    case REC_PAD_ANY: return rec_random_below(encapsulation->random, 2);
    default: return encapsulation->padding == REC_PAD_ONE;
    }
}

bool rec_encapsulate(struct rec_encapsulation *encapsulation, uint16_t source, unsigned type,
                     const uint64_t *timestamp, const uint8_t *payload, unsigned size)
{
    struct rec_fields body = {.count = 0};
    bool cut = encapsulation->padding == REC_PAD_SIGN;
    unsigned bits = size == 0 ? 0 : cut ? significant_bits(payload, size) : 8 * size;
    unsigned width = rec_type_bits(encapsulation, source);
    unsigned length = (bits + width + encapsulation->src_bits % 8 + 7) / 8;
    if (length == 0 || length > 31)
        return false;
    rec_field(&body, source, encapsulation->src_bits);
    if (timestamp)
        rec_field(&body, *timestamp, 8 * encapsulation->timestamp_bytes);
    rec_field(&body, type, width);
    for (unsigned i = 0; i < bits; i++)
        rec_field(&body, payload[i / 8] >> i % 8, 1);
    unsigned sign = size > 0 ? payload[size - 1] >> 7 : 0;
    while (body.count % 8 != 0)
        rec_field(&body, padding_bit(encapsulation, sign), 1);
    unsigned bytes = body.count / 8;
    fill_block(encapsulation, 1 + bytes);
    rec_put(encapsulation->out,
            (uint8_t)(length | (encapsulation->flow & 3) << 5 | (timestamp ? 0x80 : 0)));
    for (unsigned i = 0; i < bytes; i++) {
        uint8_t byte = 0;
        for (unsigned bit = 0; bit < 8; bit++)
            byte |= (uint8_t)(body.bits[8 * i + bit] << bit);
        rec_put(encapsulation->out, byte);
    }
    return true;
}

void rec_encapsulation_null(struct rec_encapsulation *encapsulation, bool alignment)
{
    rec_put(encapsulation->out,
            (uint8_t)((encapsulation->null_flow & 3) << 5 | (alignment ? 0x80 : 0)));
}

void rec_encapsulation_nulls(struct rec_encapsulation *encapsulation, unsigned count)
{
    for (; count > 0; count--)
        rec_encapsulation_null(encapsulation, count == 1 && encapsulation->unframed);
}

void rec_encapsulation_sync(struct rec_encapsulation *encapsulation)
{
    unsigned most = 31 + encapsulation->timestamp_bytes + encapsulation->src_bits / 8;
    for (; most > 0; most--)
        rec_encapsulation_null(encapsulation, false);
    rec_encapsulation_null(encapsulation, encapsulation->unframed || !encapsulation->idle_syncs);
}

void rec_shift_bits(struct rec_bytes *bytes, unsigned shift)
{
    uint8_t carry = 0;
    for (size_t i = 0; i < bytes->size && shift > 0; i++) {
        uint8_t byte = bytes->data[i];
        bytes->data[i] = (uint8_t)(byte << shift | carry);
        carry = (uint8_t)(byte >> (8 - shift));
    }
    if (shift > 0)
        rec_put(bytes, carry);
}
