// SPDX-License-Identifier: MIT
/**
 * @file What ETMv3 and PTM share: the registers that configure them, the address that packets keep
 * up to date, and the words for both.
 */
#ifndef PUG_PROTOCOL_ARMV7_H
#define PUG_PROTOCOL_ARMV7_H

#include "base/text.h"
#include "pugmark/advanced/packet/armv7.h"
#include "pugmark/author/protocol.h"

/** The registers of an ETMv3 or a PTM, and what core it traces. */
struct pug_armv7_registers {
    uint32_t control;  /**< ETMCR */
    uint32_t id;       /**< ETMIDR */
    uint32_t code;     /**< ETMCCER */
    uint32_t trace_id; /**< ETMTRACEIDR */
    uint32_t arch;     /**< enum pug_arch */
    uint32_t profile;  /**< enum pug_arch_profile */
};

/** These registers, for captures. */
extern const struct pug_register pug_armv7_register_list[];

/** Registers from settings. What is missing is logged: PUG_ERR_INVALID_PARAM_VAL. */
enum pug_status pug_armv7_registers(const struct pug_settings *settings, struct pug_log *log,
                                    const char *component, struct pug_armv7_registers *registers);

/** The registers, a line each. */
void pug_armv7_registers_text(struct pug_text *text, const struct pug_armv7_registers *registers);

static inline bool pug_armv7_bit(uint32_t word, unsigned bit)
{
    return (word >> bit & 1) != 0;
}

/** x of version 1.x or 3.x. */
static inline unsigned pug_armv7_minor(const struct pug_armv7_registers *registers)
{
    return registers->id >> 4 & 0xf;
}

/** Bytes of a context id: ETMCR [15:14]. */
static inline unsigned pug_armv7_context_id_bytes(const struct pug_armv7_registers *registers)
{
    static const uint8_t bytes[4] = {0, 1, 2, 4};
    return bytes[registers->control >> 14 & 3];
}

/* ---- packets ---- */

/** A packet that a reader gives: its bytes, and what it is besides (PUG_PACKET_BAD, _SYNC). */
static inline void pug_armv7_give(struct pug_packet *packet, uint32_t type, const void *data,
                                  uint64_t index, const uint8_t *bytes, size_t size, uint32_t is)
{
    packet->index = index;
    packet->data = data;
    packet->raw = bytes;
    packet->raw_size = (uint32_t)size;
    packet->type = type;
    packet->flags = PUG_PACKET_MONITOR | PUG_PACKET_DECODE | is;
}

/* ---- values in packets ---- */

/** The low `bits` bits of a word. */
static inline uint64_t pug_armv7_mask(unsigned bits)
{
    return bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
}

/** The low `bits` bits of the address are `value`; the others stay. */
static inline void pug_armv7_set_address(struct pug_armv7_address *address, uint64_t value,
                                         unsigned bits)
{
    uint64_t mask = pug_armv7_mask(bits);
    address->value = (address->value & ~mask) | (value & mask);
    address->packet_bits = (uint8_t)bits;
    if (address->valid_bits < bits)
        address->valid_bits = (uint8_t)bits;
}

/** Bits below the lowest one of an address that packets tell, by enum pug_isa. */
static inline unsigned pug_armv7_unsent_bits(uint8_t isa)
{
    return isa == PUG_ISA_A32 ? 2 : isa == PUG_ISA_JAZELLE ? 0 : 1;
}

/**
 * An address packet has the form of the instruction set that is in force after the branch. A short
 * one does not name it: then it is the one in force, which a branch that needs no packet (BLX to a
 * label, a return by the stack) may have changed, and a reader of packets alone took another one.
 * `told`: the address that packets are relative to. `sent`: the reader's.
 */
static inline void pug_armv7_reshape_address(struct pug_armv7_address *told,
                                             const struct pug_armv7_address *sent, uint8_t sent_isa,
                                             uint8_t isa)
{
    unsigned bits = sent->packet_bits, shift = pug_armv7_unsent_bits(sent_isa);
    unsigned meant = pug_armv7_unsent_bits(isa);
    uint64_t value = (sent->value & pug_armv7_mask(bits)) >> shift;
    pug_armv7_set_address(told, value << meant, bits - shift + meant);
}

static inline uint32_t pug_armv7_little_endian(const uint8_t *bytes, unsigned count)
{
    uint32_t value = 0;
    for (unsigned i = 0; i < count; i++)
        value |= (uint32_t)bytes[i] << 8 * i;
    return value;
}

/** What is known of an address, written (state.h). */
static inline void pug_armv7_address_state(const struct pug_armv7_address *address,
                                           struct pug_state *state)
{
    pug_state_number(state, address->value);
    pug_state_number(state, address->valid_bits);
}

/**
 * A timestamp's bytes, 7 bits each, low first, bit 7 set when more follow; the last byte of the
 * longest form fills 48 (7 bytes) or 64 bits (9). Bits that do not come stay. Returns its length.
 */
size_t pug_armv7_parse_timestamp(const uint8_t *bytes, size_t size, unsigned longest,
                                 uint64_t *timestamp, uint8_t *bits);

/** A component of ETMv3 or PTM in the log: all their messages have a code. */
static inline void pug_armv7_log(struct pug_stage *stage, const char *component,
                                 enum pug_status code, uint64_t index, const char *text)
{
    pug_stage_log(stage, component, PUG_SEV_ERROR, code, index, text);
}

/** Deliver the elements so far, so that a message about the next one follows them. */
static inline void pug_armv7_deliver(struct pug_stage *stage)
{
    struct pug_batch *batch = stage->out.batch;
    if (batch->response < PUG_RESP_WAIT)
        batch->flush(batch);
}

/** Returns the meaning of an A or R profile exception number of either protocol. */
uint8_t pug_armv7_exception_type(uint16_t number);

/* ---- what decoders keep: the context is in the blank element of their stage ---- */

/** Secure, and nothing else known. */
void pug_armv7_clear_context(struct pug_stage *stage);

/* Each is true when what it sets is new. */
bool pug_armv7_set_security(struct pug_stage *stage, bool non_secure, bool hyp);
bool pug_armv7_set_context_id(struct pug_stage *stage, uint32_t id);
bool pug_armv7_set_vmid(struct pug_stage *stage, uint8_t vmid);

/**
 * Where the walk reads: "Any S", "Any NS", and where there is a hypervisor its EL2, or EL1N of
 * those below it.
 */
uint8_t pug_armv7_space(const struct pug_stage *stage, const struct pug_armv7_registers *registers);

/** Program memory is read in the current context from now on. */
void pug_armv7_tell_space(struct pug_stage *stage, const struct pug_armv7_registers *registers);

/** enum pug_trace_on of an I-sync's reason. */
uint8_t pug_armv7_trace_on(uint8_t isync_reason);

/** A timestamp as sent, Gray-coded or not, as a number. */
uint64_t pug_armv7_natural(uint64_t sent, bool gray);

/** The time of a TIMESTAMP element; what it says of the clock goes into its flags. */
uint64_t pug_armv7_timestamp(const struct pug_stage *stage, struct pug_element *element,
                             uint64_t sent, bool gray, bool clock_changed);

/* ---- words ---- */

const char *pug_armv7_exception_name(uint16_t number);
const char *pug_armv7_isa_text(uint8_t isa);
const char *pug_armv7_isync_reason_text(uint8_t reason);

/** `0x????12A4 (15:0) ~[0x2A4]`: what is known, and what this packet changed. */
void pug_armv7_address_text(struct pug_text *text, const struct pug_armv7_address *address);

/** Upper-case hexadecimal with at least `digits` digits. */
void pug_armv7_hex_text(struct pug_text *text, uint64_t value, unsigned digits);

/** `S; ` or `NS; `. */
const char *pug_armv7_security_text(const struct pug_armv7_context *context);

/** Write a branch packet's target: `Addr=…; ISA=…; …`. */
void pug_armv7_branch_text(struct pug_text *text, const struct pug_armv7_address *address,
                           uint8_t isa, uint8_t previous_isa,
                           const struct pug_armv7_context *context);

/** The number of a virtual machine after `0x`. */
void pug_armv7_vmid_text(struct pug_text *text, const struct pug_armv7_context *context);

/** E and N, oldest first. */
void pug_armv7_atoms_text(struct pug_text *text, const struct pug_armv7_atoms *atoms);

#endif
