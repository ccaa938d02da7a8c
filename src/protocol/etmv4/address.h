// SPDX-License-Identifier: MIT
/** @file The address that a packet tells, and the three that later packets build on. */
#ifndef PUG_PROTOCOL_ETMV4_ADDRESS_H
#define PUG_PROTOCOL_ETMV4_ADDRESS_H

#include "protocol/etmv4/etmv4.h"

/*
 * The bytes of an address are all there: the length of the packet came from them. These functions
 * return where they end.
 */

/**
 * An address as two numbers: a copy would wait for stores of single bytes. (Where 64-bit numbers
 * are aligned to 4, an address is the first 12 bytes of it.)
 */
struct pug_etmv4_address_words {
    uint64_t value, tail;
};

#define PUG_ETMV4_ADDRESS_BYTES sizeof(struct pug_etmv4_address)

static_assert(PUG_ETMV4_ADDRESS_BYTES <= sizeof(struct pug_etmv4_address_words), "two words");

static inline struct pug_etmv4_address_words
pug_etmv4_words_of(const struct pug_etmv4_address *address)
{
    struct pug_etmv4_address_words words = {0};
    memcpy(&words, address, PUG_ETMV4_ADDRESS_BYTES);
    return words;
}

/** An address of which a packet gave `bits` bits; before, `valid` were known. */
static inline struct pug_etmv4_address_words
pug_etmv4_new_address(uint64_t value, unsigned size, unsigned valid, unsigned bits, unsigned is)
{
    const uint32_t known = valid < bits ? bits : valid;
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    const uint64_t tail = (uint64_t)(size << 24 | known << 16 | bits << 8 | is) << 32;
#else
    const uint64_t tail = size | known << 8 | bits << 16 | is << 24;
#endif
    return (struct pug_etmv4_address_words){value, tail};
}

static inline void pug_etmv4_push_address(struct pug_etmv4_reader *r,
                                          struct pug_etmv4_address_words words)
{
    memcpy(&r->stack[2], &r->stack[1], PUG_ETMV4_ADDRESS_BYTES);
    memcpy(&r->stack[1], &r->stack[0], PUG_ETMV4_ADDRESS_BYTES);
    memcpy(&r->stack[0], &words, PUG_ETMV4_ADDRESS_BYTES);
    memcpy(&r->packet.address, &words, PUG_ETMV4_ADDRESS_BYTES);
}

static inline uint64_t pug_etmv4_little_endian(const uint8_t *at, unsigned size)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < size; i++)
        value |= (uint64_t)at[i] << 8 * i;
    return value;
}

/** The low half of a long address: its first two bytes leave bits out. */
static inline uint64_t pug_etmv4_low_address(const uint8_t *at, uint8_t is)
{
    const uint32_t word =
        at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
    if (is)
        return (word & 0xFFFFFF00) | (word & 0x7F) << 1;
    return (word & 0xFFFF0000) | (word & 0x7F00) << 1 | (word & 0x7F) << 2;
}

static inline void pug_etmv4_set_address_64(struct pug_etmv4_reader *r, uint64_t value, uint8_t is)
{
    pug_etmv4_push_address(r, pug_etmv4_new_address(value, 64, 64, 64, is));
}

static inline const uint8_t *pug_etmv4_address_64(struct pug_etmv4_reader *r, const uint8_t *at,
                                                  uint8_t is)
{
    const uint64_t high = pug_etmv4_little_endian(at + 4, 4);
    pug_etmv4_set_address_64(r, pug_etmv4_low_address(at, is) | high << 32, is);
    return at + 8;
}

static inline const uint8_t *pug_etmv4_address_32(struct pug_etmv4_reader *r, const uint8_t *at,
                                                  uint8_t is)
{
    const struct pug_etmv4_address *last = &r->packet.address;
    const bool wide = (r->packet.valid & PUG_ETMV4_HAS_CONTEXT) && r->packet.context.sf;
    const uint64_t high = wide ? last->value & ~(uint64_t)UINT32_MAX : 0;
    const unsigned size = wide ? 64 : 32;
    pug_etmv4_push_address(r, pug_etmv4_new_address(high | pug_etmv4_low_address(at, is), size,
                                                    last->valid_bits, 32, is));
    return at + 4;
}

static inline const uint8_t *pug_etmv4_address_short(struct pug_etmv4_reader *r, const uint8_t *at,
                                                     uint8_t is)
{
    const struct pug_etmv4_address *last = &r->packet.address;
    unsigned bits = 9u - is;
    uint64_t low = (uint64_t)(at[0] & 0x7F) << (bits - 7);
    if (*at++ & 0x80) {
        low |= (uint64_t)*at++ << bits;
        bits += 8;
    }
    const uint64_t high = last->value & ~((UINT64_C(1) << bits) - 1);
    pug_etmv4_push_address(
        r, pug_etmv4_new_address(high | low, last->size, last->valid_bits, bits, is));
    return at;
}

static inline void pug_etmv4_address_match(struct pug_etmv4_reader *r, uint8_t entry)
{
    r->packet.match = entry;
    pug_etmv4_push_address(r, pug_etmv4_words_of(&r->stack[entry]));
}

/** Read the address packet in `raw`, which is all there. */
static inline void pug_etmv4_read_address(struct pug_etmv4_reader *r,
                                          const struct pug_etmv4_header *header, const uint8_t *raw)
{
    switch ((enum pug_etmv4_form)header->form) {
    case PUG_ETMV4_FORM_MATCH: pug_etmv4_address_match(r, header->is); break;
    case PUG_ETMV4_FORM_ADDR_S: pug_etmv4_address_short(r, raw + 1, header->is); break;
    case PUG_ETMV4_FORM_ADDR_32: pug_etmv4_address_32(r, raw + 1, header->is); break;
    default: pug_etmv4_address_64(r, raw + 1, header->is);
    }
}

#endif
