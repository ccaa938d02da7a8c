// SPDX-License-Identifier: MIT
/**
 * @file A PTM in software, at the packet level: the caller says what happened, the unit chooses the
 * packets' shortest forms.
 */
#ifndef PUG_RECORDER_PTM_H
#define PUG_RECORDER_PTM_H

#include "pugmark/advanced/packet/ptm.h"
#include "recorder/armv7.h"
#include "recorder/bytes.h"

#define REC_PTM_STACK 16u

struct rec_ptm_config {
    uint32_t control; /**< ETMCR */
    uint32_t id;      /**< ETMIDR */
    uint32_t code;    /**< ETMCCER */
};

/** The fields of a branch packet beside its address. */
struct rec_ptm_exception {
    uint16_t number;
    bool non_secure, hyp;
};

struct rec_ptm_isync {
    uint32_t address;
    uint8_t isa;    /**< enum pug_isa */
    uint8_t reason; /**< enum pug_isync_reason */
    bool non_secure, hyp;
    uint32_t cycles; /**< in a cycle-accurate trace, not with PERIODIC */
    uint32_t context_id;
};

struct rec_ptm {
    struct rec_ptm_config config;
    struct rec_armv7_freedom freedom; /**< set it after rec_ptm_begin() */
    struct rec_bytes *out;
    uint32_t address; /**< the last one sent */
    uint64_t timestamp;
    uint8_t isa;     /**< the last one sent */
    uint8_t running; /**< the one in force; a packet is short only where both are its own */
    bool alt_isa, hyp;
    bool atoms[5];
    unsigned atom_count;
    struct {
        uint32_t address;
        uint8_t isa;
    } stack[REC_PTM_STACK];
    unsigned depth;
};

void rec_ptm_begin(struct rec_ptm *unit, const struct rec_ptm_config *config,
                   struct rec_bytes *out);

/** Write out the atoms that wait for a longer packet. All functions but the next do so first. */
void rec_ptm_flush(struct rec_ptm *unit);

/** A waypoint, taken (E) or not (N). */
void rec_ptm_atom(struct rec_ptm *unit, bool taken, uint32_t cycles);

/** The waypoint just given was a taken call that returns to this address. */
void rec_ptm_call(struct rec_ptm *unit, uint32_t return_address, uint8_t isa);

/** A taken indirect branch: an atom where the return stack knows the target, else its address. */
void rec_ptm_indirect(struct rec_ptm *unit, uint32_t target, uint8_t isa, uint32_t cycles);

/** A waypoint that needs no packet, a BLX to a label, led to this instruction set. */
void rec_ptm_runs_in(struct rec_ptm *unit, uint8_t isa);

/** A branch address packet; `exception` NULL: just a branch. */
void rec_ptm_branch(struct rec_ptm *unit, uint32_t target, uint8_t isa,
                    const struct rec_ptm_exception *exception, uint32_t cycles);

/** The last instruction that ran before an exception. */
void rec_ptm_waypoint(struct rec_ptm *unit, uint32_t address, uint8_t isa);

void rec_ptm_a_sync(struct rec_ptm *unit);
void rec_ptm_isync(struct rec_ptm *unit, const struct rec_ptm_isync *isync);
void rec_ptm_context_id(struct rec_ptm *unit, uint32_t id);
void rec_ptm_vmid(struct rec_ptm *unit, uint8_t vmid);
void rec_ptm_timestamp(struct rec_ptm *unit, uint64_t value, bool clock_changed, uint32_t cycles);

/** TRIGGER, IGNORE, EXCEPTION_RET. */
void rec_ptm_plain(struct rec_ptm *unit, enum pug_ptm_packet_type type);

#endif
