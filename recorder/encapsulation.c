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

void rec_encapsulate(struct rec_encapsulation *encapsulation, uint16_t source, unsigned type,
                     const uint64_t *timestamp, const uint8_t *payload, unsigned size)
{
    struct rec_fields body = {.count = 0};
    bool cut = encapsulation->padding == REC_PAD_SIGN;
    unsigned bits = cut ? significant_bits(payload, size) : 8 * size;
    rec_field(&body, source, encapsulation->src_bits);
    if (timestamp)
        rec_field(&body, *timestamp, 8 * encapsulation->timestamp_bytes);
    rec_field(&body, type, encapsulation->type_bits);
    for (unsigned i = 0; i < bits; i++)
        rec_field(&body, payload[i / 8] >> i % 8, 1);
    unsigned sign = payload[size - 1] >> 7;
    unsigned pad = cut ? sign : encapsulation->padding == REC_PAD_ONE;
    while (body.count % 8 != 0)
        rec_field(&body, pad, 1);
    unsigned bytes = body.count / 8, stamp = timestamp ? encapsulation->timestamp_bytes : 0;
    unsigned length = bytes - encapsulation->src_bits / 8 - stamp;
    fill_block(encapsulation, 1 + bytes);
    rec_put(encapsulation->out,
            (uint8_t)(length | (encapsulation->flow & 3) << 5 | (timestamp ? 0x80 : 0)));
    for (unsigned i = 0; i < bytes; i++) {
        uint8_t byte = 0;
        for (unsigned bit = 0; bit < 8; bit++)
            byte |= (uint8_t)(body.bits[8 * i + bit] << bit);
        rec_put(encapsulation->out, byte);
    }
}

void rec_encapsulation_nulls(struct rec_encapsulation *encapsulation, unsigned count)
{
    while (count-- > 0)
        rec_put(encapsulation->out, 0);
}

void rec_encapsulation_sync(struct rec_encapsulation *encapsulation)
{
    rec_encapsulation_nulls(encapsulation,
                            31 + encapsulation->timestamp_bytes + encapsulation->src_bits / 8);
    rec_put(encapsulation->out, 0x80);
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
