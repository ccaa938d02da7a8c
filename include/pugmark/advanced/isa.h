// SPDX-License-Identifier: MIT
/** @file Instruction sets: what one opcode does to the program flow. */
#ifndef PUGMARK_ISA_H
#define PUGMARK_ISA_H

#include "pugmark/advanced/quirks.h"
#include "pugmark/element.h"
#include "pugmark/status.h"
#include "pugmark/walk.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The part of a decoder's configuration that concerns instructions. */
struct pug_isa_config {
    uint16_t arch;          /**< enum pug_arch; gates some A64 instructions in compatible mode */
    bool dsb_dmb_waypoints; /**< DSB and DMB are waypoints */
    bool wfx_waypoints;     /**< WFI and WFE are waypoints */
    bool track_it;          /**< follow T32 IT blocks */
    bool check_opcode;      /**< undefined opcodes are errors: A64's reserved groups, UDF of A32 and
                               T32; with reference_classes A64 with an empty upper half only */
    bool reference_classes; /**< quirk: classify as the reference does where the architecture
                               differs */
    bool t32_word_reads;    /**< quirk: also a 16-bit T32 instruction needs 4 readable bytes */
    bool zcmp_zcmt;         /**< RISC-V: cm.* encodings are valid */
    uint64_t jvt_base;      /**< RISC-V: base of the jump vector table */
    uint64_t spare[2];      /**< zero */
};

/** Take over the quirks that concern instructions. */
void pug_isa_config_quirks(struct pug_isa_config *config, const struct pug_quirks *quirks);

/** Detail that RISC-V trace needs beyond type and subtype. */
enum pug_riscv_kind {
    PUG_RV_NONE,
    PUG_RV_BRANCH,
    PUG_RV_CALL,      /**< pushes a return address */
    PUG_RV_JUMP,      /**< direct or indirect, no link-register hint */
    PUG_RV_JUMP_LINK, /**< links into a register that is no link register */
    PUG_RV_SWAP,      /**< co-routine swap */
    PUG_RV_RETURN,
    PUG_RV_XRET,
    PUG_RV_TRAP,     /**< ECALL, EBREAK, C.EBREAK */
    PUG_RV_CONSTANT, /**< LUI, C.LUI, AUIPC: `rd` := `constant` */
};

/** `access` of a vector load or store: how many there are is not in the opcode. */
#define PUG_RV_ACCESS_VECTOR 255

/**
 * Classify the instruction at `address` from its first `avail` bytes (little-endian, at most 8).
 * `it_count` is in and out: T32 instructions still inside an IT block; not NULL.
 * Returns PUG_OK, PUG_ERR_NO_PROGRAM_MEMORY when `avail` is too small, PUG_ERR_UNSUPPORTED_ISA or
 * PUG_ERR_INVALID_OPCODE.
 */
enum pug_status pug_isa_classify(const struct pug_isa_config *config, enum pug_isa isa,
                                 uint64_t address, const uint8_t *bytes, unsigned avail,
                                 uint8_t *it_count, struct pug_insn *insn);

/**
 * Is this an encoding that the architecture leaves undefined? `size`: its bytes, as classified. Not
 * all of them are known: false says nothing. A core that is newer than this library may have it.
 */
bool pug_isa_is_undefined(enum pug_isa isa, const uint8_t *bytes, unsigned size);

/** A client's own classifier, in place of pug_isa_classify(). Same contract. */
typedef enum pug_status pug_classify_fn(void *context, const struct pug_isa_config *config,
                                        enum pug_isa isa, uint64_t address, const uint8_t *bytes,
                                        unsigned avail, uint8_t *it_count, struct pug_insn *insn);

#ifdef __cplusplus
}
#endif
#endif
