// SPDX-License-Identifier: MIT
/** @file The address in a packet, and the three that later packets build on. */
#ifndef PUG_PROTOCOL_ETMV4_ADDRESS_H
#define PUG_PROTOCOL_ETMV4_ADDRESS_H

#include "base/bytes.h"
#include "protocol/etmv4/etmv4.h"

/**
 * What a packet does to the address: a choice of bits, and no branch, since which form comes next
 * is what a processor cannot foretell. The address consists of bits of a stack entry and bits of
 * the payload, which follows the header. What is known of it (`tail`: the last four bytes of struct
 * pug_etmv4_address, the first one lowest) is put together in the same way.
 */
struct pug_etmv4_address_form {
    uint64_t kept;              /**< of the entry */
    uint64_t high;              /**< of the payload; below come `low` and `middle`, shifted */
    uint32_t tail, kept_tail;   /**< from the packet; from the stack entry */
    uint16_t middle, low;       /**< of the payload's first two bytes */
    uint8_t shift, entry, bits; /**< of `low`; of the stack; number of bits in the packet */
};

/** By AArch64 state, by bit 7 of the payload's first byte and the lower half of the header. */
extern const struct pug_etmv4_address_form pug_etmv4_address_forms[2][32];

typedef const struct pug_etmv4_address_form *pug_etmv4_forms;

/** The forms while the context is what it is. */
static inline pug_etmv4_forms pug_etmv4_forms_of(const struct pug_etmv4_reader *r)
{
    const bool wide = (r->packet.valid & PUG_ETMV4_HAS_CONTEXT) && r->packet.context.sf;
    return pug_etmv4_address_forms[wide];
}

/** The lower half that the header of a plain address packet has, for all that have addresses. */
static inline unsigned pug_etmv4_address_row(const struct pug_etmv4_header *header)
{
    switch ((enum pug_etmv4_form)header->form) {
    case PUG_ETMV4_FORM_MATCH: return header->is;
    case PUG_ETMV4_FORM_ADDR_S: return 0x5u + header->is;
    case PUG_ETMV4_FORM_ADDR_32:
    case PUG_ETMV4_FORM_ADDR_CTXT_32: return 0xAu + header->is;
    default: return 0xDu + header->is;
    }
}

/** The next eight bytes, or as many as there are and zeros. */
static inline uint64_t pug_etmv4_ahead(const uint8_t *at, const uint8_t *end)
{
    return end - at >= 8 ? pug_bytes_64(at) : pug_bytes_number(at, (unsigned)(end - at));
}

/** Is it the header of a packet of atoms? */
static inline bool pug_etmv4_is_atoms(uint8_t header)
{
    return header >= 0xC0;
}

/**
 * How many bits of eight bytes are packets of atoms, at most seven: those have the upper two bits
 * set. A one that is added below is carried through them.
 */
static inline unsigned pug_etmv4_atom_bits(uint64_t bytes)
{
    const uint64_t atoms = bytes & bytes >> 1;
    return (unsigned)__builtin_ctzll((atoms | UINT64_C(0x3fbfbfbfbfbfbfbf)) + 1) & 56;
}

#define PUG_ETMV4_TAIL offsetof(struct pug_etmv4_address, size)

static_assert(offsetof(struct pug_etmv4_address, valid_bits) == PUG_ETMV4_TAIL + 1 &&
                  offsetof(struct pug_etmv4_address, pkt_bits) == PUG_ETMV4_TAIL + 2 &&
                  offsetof(struct pug_etmv4_address, is) == PUG_ETMV4_TAIL + 3,
              "an address ends in four bytes");

static inline uint32_t pug_etmv4_tail(const struct pug_etmv4_address *address)
{
    return pug_bytes_32((const uint8_t *)address + PUG_ETMV4_TAIL);
}

/** By number and tail: a copy as one would wait for the stores of both. */
static inline void pug_etmv4_set_address(struct pug_etmv4_address *address, uint64_t value,
                                         uint32_t tail)
{
    address->value = value;
    pug_bytes_set_32((uint8_t *)address + PUG_ETMV4_TAIL, tail);
}

static inline void pug_etmv4_copy_address(struct pug_etmv4_address *to,
                                          const struct pug_etmv4_address *from)
{
    pug_etmv4_set_address(to, from->value, pug_etmv4_tail(from));
}

/** Read the address of a packet, to where addresses are kept. */
static inline uint64_t pug_etmv4_read_address(struct pug_etmv4_reader *r,
                                              const struct pug_etmv4_address_form *form,
                                              uint64_t payload)
{
    const struct pug_etmv4_address *entry = &r->stack[form->entry];
    const uint32_t old = pug_etmv4_tail(entry), told = (uint32_t)form->bits << 8;
    const uint32_t valid = (old & 0xff00) > told ? old & 0xff00 : told;
    const uint32_t tail = (old & form->kept_tail) | valid | form->tail;
    const uint64_t lower = (payload & form->low) | (payload & form->middle) >> 1;
    const uint64_t value =
        (entry->value & form->kept) | lower << form->shift | (payload & form->high);
    pug_etmv4_copy_address(&r->stack[2], &r->stack[1]);
    pug_etmv4_copy_address(&r->stack[1], &r->stack[0]);
    pug_etmv4_set_address(&r->stack[0], value, tail);
    pug_etmv4_set_address(&r->stack[PUG_ETMV4_REGISTER], value, tail);
    return value;
}

/** Is it the header of a plain address packet, or of nothing? */
static inline bool pug_etmv4_is_address(unsigned header)
{
    return (header & 0xf0) == 0x90;
}

/**
 * The size of the address packet, without a context, that begins with two bytes, by the lower half
 * of the header; 0: there is none. Where the next packet begins waits for this: it is no table.
 */
static inline unsigned pug_etmv4_address_size(uint64_t head)
{
    const uint64_t sizes = head & 0x8000 ? UINT64_C(0x0990550003300111) /* short: three bytes */
                                         : UINT64_C(0x0990550002200111);
    return (unsigned)(sizes >> (head << 2 & 60)) & 15;
}

/** The first two bytes of a plain address packet of this row, with this payload. */
static inline uint64_t pug_etmv4_address_head(unsigned row, uint64_t payload)
{
    return (payload & 0x80) << 8 | row;
}

/** Returns how to compute the address of a packet that begins with these two bytes. */
static inline const struct pug_etmv4_address_form *pug_etmv4_form_of(pug_etmv4_forms forms,
                                                                     uint64_t head)
{
    return &forms[(head >> 11 & 16) | (head & 15)];
}

/**
 * Read a plain address packet, if it is one and all there: its size, or 0. (Where the packet has no
 * bytes, it ends in zeros.) `head`: its first two bytes, which alone decide where the next packet
 * begins.  The address is that of the packet: pug_etmv4_show_address().
 */
static inline size_t pug_etmv4_take_address(struct pug_etmv4_reader *r, pug_etmv4_forms forms,
                                            uint16_t head, const uint8_t *at, const uint8_t *end,
                                            uint64_t *address)
{
    const size_t size = pug_etmv4_address_size(head);
    if (!pug_etmv4_is_address(head) || size == 0 || (size_t)(end - at) < size)
        return 0;
    *address =
        pug_etmv4_read_address(r, pug_etmv4_form_of(forms, head), pug_etmv4_ahead(at + 1, end));
    return size;
}

/** The address is that of `packet`, too: where packets are seen. */
static inline void pug_etmv4_show_address(struct pug_etmv4_reader *r)
{
    r->packet.address = r->stack[PUG_ETMV4_REGISTER];
}

#endif
