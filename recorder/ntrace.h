// SPDX-License-Identifier: MIT
/**
 * @file An N-Trace encoder: the caller says what ran, in program order, the encoder chooses
 * messages as its options allow.
 */
#ifndef PUG_RECORDER_NTRACE_H
#define PUG_RECORDER_NTRACE_H

#include "pugmark/advanced/isa.h"
#include "recorder/bytes.h"

enum rec_ntrace_return {
    REC_NTRACE_RETURN_OFF,
    REC_NTRACE_RETURN_COUNT,
    REC_NTRACE_RETURN_COMPARE
};

struct rec_ntrace_options {
    unsigned xlen;
    unsigned addr_bits; /**< that are sent, the others repeat the highest; 0: xlen */
    unsigned src_bits, src;
    bool btm; /**< branch trace messaging; else history trace messaging */
    enum rec_ntrace_return implicit_return;
    uint32_t stack_depth; /**< return addresses or calls that the encoder remembers */
    bool sequential_jump, repeated_history, repeat_branch, all_jumps, extend_addr_msb;
    bool exact_traps; /**< tell exceptions from interrupts */
    bool sifive;      /**< the pre-1.0 dialect */
    bool timestamps;
    unsigned ts_width;          /**< of whole timestamps; 0: as many bits as they have */
    uint32_t timestamp_once_in; /**< of messages that need none; 1: all */
    unsigned hist_bits;         /**< with the stop bit, 2 to 32 */
    uint32_t icnt_max;          /**< at least 8, at most 2^22 - 1 */
    bool icnt_sync;             /**< a full count in BTM is sent as a sync message */
    uint64_t seed;
};

struct rec_ntrace;

struct rec_ntrace *rec_ntrace_new(const struct rec_ntrace_options *options, struct rec_bytes *out);
void rec_ntrace_free(struct rec_ntrace *encoder);

/** The time from now on. */
void rec_ntrace_time(struct rec_ntrace *encoder, uint64_t time);

/** Trace starts at `pc`, by a SYNC reason. */
void rec_ntrace_start(struct rec_ntrace *encoder, unsigned reason, uint64_t pc);
/** The instruction at `pc` retired; `next` runs after it. */
void rec_ntrace_retire(struct rec_ntrace *encoder, uint64_t pc, const struct pug_insn *insn,
                       uint64_t next);
/** The instruction that would run next trapped, or was interrupted. */
void rec_ntrace_trap(struct rec_ntrace *encoder, bool interrupt, uint64_t handler);
/** A synchronisation: at `pc`, which runs next, or `later`, by the next branch message. */
void rec_ntrace_sync(struct rec_ntrace *encoder, unsigned reason, uint64_t pc, bool later);
/** Trace stops, by an EVCODE. */
void rec_ntrace_stop(struct rec_ntrace *encoder, unsigned evcode);
/** Everything not sent is lost; trace is off until it is started. */
void rec_ntrace_overflow(struct rec_ntrace *encoder, uint32_t ecode);

void rec_ntrace_ownership(struct rec_ntrace *encoder, unsigned format, unsigned prv, bool v,
                          uint32_t context);
void rec_ntrace_data(struct rec_ntrace *encoder, uint32_t idtag, uint64_t data);
void rec_ntrace_vendor(struct rec_ntrace *encoder, unsigned tcode, uint64_t content);
void rec_ntrace_idle(struct rec_ntrace *encoder, unsigned count);

/** Tell of the repeats that were counted. stop() does so too. */
void rec_ntrace_finish(struct rec_ntrace *encoder);

#endif
