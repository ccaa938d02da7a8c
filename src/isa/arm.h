// SPDX-License-Identifier: MIT
/** @file What the three Arm instruction sets share: rule tables and the gates in front of rules. */
#ifndef PUG_ISA_ARM_H
#define PUG_ISA_ARM_H

#include "pugmark/advanced/isa.h"
#include "pugmark/advanced/settings.h"

#include <stddef.h>

/** The condition for applying a rule. */
enum pug_arm_gate {
    PUG_GATE_DSB = 1 << 0,       /**< DSB and DMB are waypoints */
    PUG_GATE_WFX = 1 << 1,       /**< WFI and WFE are waypoints */
    PUG_GATE_V8R3 = 1 << 2,      /**< pointer authentication, transactions' end */
    PUG_GATE_AA64 = 1 << 3,      /**< WFxT, TSTART */
    PUG_GATE_CHECK = 1 << 4,     /**< undefined opcodes are errors */
    PUG_GATE_REFERENCE = 1 << 5, /**< only the reference does so */
    PUG_GATE_RIGHT = 1 << 6,     /**< only the architecture does so */
};

/** Short names, for the rule tables. */
enum {
    BR = PUG_INSTR_BR,
    IBR = PUG_INSTR_BR_INDIRECT,
    DSB = PUG_GATE_DSB,
    WFX = PUG_GATE_WFX,
    V8R3 = PUG_GATE_V8R3,
    AA64 = PUG_GATE_AA64,
    REFERENCE = PUG_GATE_REFERENCE,
    RIGHT = PUG_GATE_RIGHT,
};

/** How a rule's target is computed; each instruction set gives its own forms from 1 up. */
enum { PUG_NO_TARGET = 0 };

/** `link` of a rule: never, always, or when this bit of the opcode is set (bit 0 never decides). */
enum { PUG_LINK_NEVER = 0, PUG_LINK_ALWAYS = 32 };

/** (opcode & mask) == value, and not (opcode & not_mask) == not_value where not_mask is set. */
struct pug_arm_rule {
    uint32_t mask, value;
    uint32_t not_mask, not_value;
    uint8_t needs; /**< enum pug_arm_gate: all of these */
    uint8_t type;  /**< enum pug_instr_type */
    uint8_t subtype;
    uint8_t form;
    uint8_t link;
    bool cond;
    bool undefined; /**< PUG_ERR_INVALID_OPCODE */
};

/** Rules that all have what (opcode & mask) == value says; no opcode is of two groups. */
struct pug_arm_group {
    uint32_t mask, value;
    const struct pug_arm_rule *rules;
    size_t count;
};

/** The last two of these, for a table of rules. */
#define PUG_ARM_RULES(table) (table), sizeof(table) / sizeof((table)[0])

/** The gates that a configuration opens. */
unsigned pug_arm_gates(const struct pug_isa_config *config);

/** The first rule that matches, or NULL. */
const struct pug_arm_rule *pug_arm_match(const struct pug_arm_rule *rules, size_t count,
                                         unsigned gates, uint32_t opcode);

/** The same among the rules of groups. */
const struct pug_arm_rule *pug_arm_find(const struct pug_arm_group *groups, size_t count,
                                        unsigned gates, uint32_t opcode);

/** Type, subtype, link and condition of a rule into `insn`. */
void pug_arm_apply(const struct pug_arm_rule *rule, uint32_t opcode, struct pug_insn *insn);

static inline uint32_t pug_bits(uint32_t word, unsigned high, unsigned low)
{
    return (word >> low) & (0xffffffffu >> (31 - (high - low)));
}

/** Sign-extend the low `bits` bits. */
static inline int64_t pug_sign(uint64_t value, unsigned bits)
{
    uint64_t sign = UINT64_C(1) << (bits - 1);
    return (int64_t)(((value & (sign * 2 - 1)) ^ sign) - sign);
}

/* One function an instruction set; `opcode` is the little-endian word at `address`. */
enum pug_status pug_isa_a64(const struct pug_isa_config *config, uint64_t address, uint32_t opcode,
                            struct pug_insn *insn);
enum pug_status pug_isa_a32(const struct pug_isa_config *config, uint64_t address, uint32_t opcode,
                            struct pug_insn *insn);
enum pug_status pug_isa_t32(const struct pug_isa_config *config, uint64_t address, uint32_t opcode,
                            uint8_t *it_count, struct pug_insn *insn);

#endif
