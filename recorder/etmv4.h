// SPDX-License-Identifier: MIT
/**
 * @file An ETMv4 / ETE trace unit in software: program flow in, trace bytes out.
 *
 * The caller says what ran (atoms, addresses, contexts, exceptions, time), in program order; the
 * encoder chooses packets: the shortest address form, the longest atom format, the return stack
 * where it is enabled, and, where the registers allow speculation, wrong guesses that it takes
 * back.
 */
#ifndef PUG_RECORDER_ETMV4_H
#define PUG_RECORDER_ETMV4_H

#include "recorder/bytes.h"

struct rec_etmv4_config {
    bool ete;
    bool m_profile;           /**< an exception return is a P0 element */
    uint32_t idr0;            /**< TRCIDR0: [29], [7] commit option, [30] transactions, [16:15] Q */
    uint32_t idr2;            /**< TRCIDR2: VMID and context id sizes, [28:25] cycle count size */
    uint32_t idr8;            /**< TRCIDR8: maximum speculation depth */
    uint32_t configr;         /**< TRCCONFIGR: [4] cycle counts, [12] return stack */
    uint32_t threshold;       /**< TRCCCCTLR: cycles that no count is below */
    uint32_t guess_once_in;   /**< speculate wrongly once in so many atoms; 0 never */
    uint32_t longer_once_in;  /**< an address form longer than needed, once in so many; 0 never */
    uint32_t shorter_once_in; /**< fewer atoms in a packet than fit, once in so many; 0 never */
    uint64_t seed;
};

struct rec_context {
    uint8_t el;
    bool sf, ns, nse;
    bool has_vmid, has_context_id;
    uint32_t vmid, context_id;
};

struct rec_etmv4;

struct rec_etmv4 *rec_etmv4_new(const struct rec_etmv4_config *config, struct rec_bytes *out);
void rec_etmv4_free(struct rec_etmv4 *unit);

/** Synchronisation point: ASYNC, TRACE_INFO; then context and address where they are known. */
void rec_etmv4_sync(struct rec_etmv4 *unit);
void rec_etmv4_trace_on(struct rec_etmv4 *unit);

/** Context and address, in one packet where there is one. `t32`: instruction set state IS1. */
void rec_etmv4_start(struct rec_etmv4 *unit, uint64_t address, bool t32,
                     const struct rec_context *context);
void rec_etmv4_context(struct rec_etmv4 *unit, const struct rec_context *context);
void rec_etmv4_address(struct rec_etmv4 *unit, uint64_t address, bool t32);

/** A waypoint that is no indirect branch: taken (E) or not (N). */
void rec_etmv4_atom(struct rec_etmv4 *unit, bool taken);
/** The waypoint just given was a taken call that returns to this address. */
void rec_etmv4_call(struct rec_etmv4 *unit, uint64_t return_address, bool t32);
/** A taken indirect branch; the address is left out where the return stack knows it. */
void rec_etmv4_indirect(struct rec_etmv4 *unit, uint64_t target, bool t32);

/**
 * An exception: `number`, preferred return address; `follows_branch`: it is also the target of the
 * indirect branch before it, which gave no address.
 */
void rec_etmv4_exception(struct rec_etmv4 *unit, uint32_t number, uint64_t return_address, bool t32,
                         bool follows_branch);
/** ETMv4 only: ETE says it with the atom of the ERET. */
void rec_etmv4_exception_return(struct rec_etmv4 *unit);

/** ETE: the instruction at `address` branched; what lies before it ran straight to it. */
void rec_etmv4_source_address(struct rec_etmv4 *unit, uint64_t address, bool t32);
/** Can a Q packet tell this address? It has no form of 64 bits. */
bool rec_etmv4_q_reaches(const struct rec_etmv4 *unit, uint64_t address);
/** `count` instructions ran and execution goes on at `address`, which a Q packet can tell. */
void rec_etmv4_q(struct rec_etmv4 *unit, uint32_t count, uint64_t address, bool t32);

void rec_etmv4_timestamp(struct rec_etmv4 *unit, uint64_t value);
/** At least the threshold; UINT32_MAX: unknown. */
void rec_etmv4_cycles(struct rec_etmv4 *unit, uint32_t count);
void rec_etmv4_event(struct rec_etmv4 *unit, uint8_t events);
void rec_etmv4_timestamp_marker(struct rec_etmv4 *unit);
void rec_etmv4_instrumentation(struct rec_etmv4 *unit, uint8_t el, uint64_t value);
enum rec_transaction { REC_TRANS_START, REC_TRANS_COMMIT, REC_TRANS_FAIL };
void rec_etmv4_transaction(struct rec_etmv4 *unit, enum rec_transaction what);
void rec_etmv4_overflow(struct rec_etmv4 *unit);
void rec_etmv4_discard(struct rec_etmv4 *unit);

/** Everything given so far happened: write it out and commit it. */
void rec_etmv4_finish(struct rec_etmv4 *unit);

#endif
