// SPDX-License-Identifier: MIT
/**
 * @file An ETMv3 trace unit in software, at the packet level: the caller says what happened, the
 * unit chooses the packets' shortest forms.
 */
#ifndef PUG_RECORDER_ETMV3_H
#define PUG_RECORDER_ETMV3_H

#include "pugmark/advanced/packet/etmv3.h"
#include "recorder/armv7.h"
#include "recorder/bytes.h"

#define REC_ETMV3_ATOMS 64u

struct rec_etmv3_config {
    uint32_t control; /**< ETMCR */
    uint32_t id;      /**< ETMIDR */
    uint32_t code;    /**< ETMCCER */
    bool m_profile;
};

/** The fields of a branch packet beside its address. */
struct rec_etmv3_exception {
    uint16_t number;
    uint8_t resume; /**< M profile */
    bool cancel;
    bool non_secure, hyp;
};

struct rec_etmv3_isync {
    uint32_t address;
    uint8_t isa;    /**< enum pug_isa */
    uint8_t reason; /**< enum pug_isync_reason */
    bool non_secure, hyp;
    bool has_cycles;
    uint32_t cycles;
    uint32_t context_id;
    bool has_lsip; /**< the instruction is a load or store in progress; execution goes on at lsip */
    uint32_t lsip;
};

struct rec_etmv3 {
    struct rec_etmv3_config config;
    struct rec_armv7_freedom freedom; /**< set it after rec_etmv3_begin() */
    struct rec_bytes *out;
    uint32_t address, data_address; /**< the last ones sent */
    uint64_t timestamp;
    uint8_t isa;     /**< the last one sent */
    uint8_t running; /**< the one in force; a packet is short only where both are its own */
    bool alt_isa, hyp;
    bool data_synced; /**< a whole data address was sent */
    struct {
        uint32_t cycles;
        bool executed;
    } atoms[REC_ETMV3_ATOMS];
    unsigned atom_count;
};

void rec_etmv3_begin(struct rec_etmv3 *unit, const struct rec_etmv3_config *config,
                     struct rec_bytes *out);

/** Write out the atoms that wait for a longer P-header. All functions but the next do so first. */
void rec_etmv3_flush(struct rec_etmv3 *unit);

/** An instruction that passed its condition, or not; `cycles` before it where they are traced. */
void rec_etmv3_atom(struct rec_etmv3 *unit, bool executed, uint32_t cycles);

/** Cycles without an instruction, in a cycle-accurate trace. */
void rec_etmv3_wait(struct rec_etmv3 *unit, uint32_t cycles);

void rec_etmv3_a_sync(struct rec_etmv3 *unit);
void rec_etmv3_isync(struct rec_etmv3 *unit, const struct rec_etmv3_isync *isync);

/** An atom, of a BLX to a label, led to this instruction set. */
void rec_etmv3_runs_in(struct rec_etmv3 *unit, uint8_t isa);

/** `exception` NULL: just a branch. */
void rec_etmv3_branch(struct rec_etmv3 *unit, uint32_t target, uint8_t isa,
                      const struct rec_etmv3_exception *exception);

void rec_etmv3_cycle_count(struct rec_etmv3 *unit, uint32_t cycles);
void rec_etmv3_context_id(struct rec_etmv3 *unit, uint32_t id);
void rec_etmv3_vmid(struct rec_etmv3 *unit, uint8_t vmid);
void rec_etmv3_timestamp(struct rec_etmv3 *unit, uint64_t value, bool clock_changed);

/** TRIGGER, IGNORE, EXCEPTION_ENTRY, EXCEPTION_EXIT, STORE_FAIL, DATA_SUPPRESSED. */
void rec_etmv3_plain(struct rec_etmv3 *unit, enum pug_etmv3_packet_type type);

/** A data transfer; `address` NULL: it follows the one before it. */
void rec_etmv3_data(struct rec_etmv3 *unit, const uint32_t *address, uint32_t value);
void rec_etmv3_data_not_traced(struct rec_etmv3 *unit, const uint32_t *address);
/** A transfer whose value comes later with this tag, 1 to 3. */
void rec_etmv3_data_placeholder(struct rec_etmv3 *unit, uint8_t tag, const uint32_t *address);
void rec_etmv3_data_value(struct rec_etmv3 *unit, uint8_t tag, uint32_t value);
/** The next data address is sent in full. */
void rec_etmv3_data_sync(struct rec_etmv3 *unit);

#endif
