// SPDX-License-Identifier: MIT
/**
 * @file An E-Trace encoder: the caller says what ran, in program order, the encoder makes packets
 * as the flow chart of the specification does. A step is encoded when the next one is known.
 */
#ifndef PUG_RECORDER_ETRACE_H
#define PUG_RECORDER_ETRACE_H

#include "pugmark/advanced/isa.h"
#include "pugmark/advanced/packet/etrace.h"
#include "recorder/bytes.h"

enum rec_etrace_support {
    REC_ETRACE_SUPPORT_REF,
    REC_ETRACE_SUPPORT_REF_SIJUMP,
    REC_ETRACE_SUPPORT_STD
};

struct rec_etrace_options {
    unsigned xlen, iaddress_width, iaddress_lsb;
    unsigned privilege_width, ecause_width;
    unsigned context_width; /**< 0: no context */
    struct pug_etrace_options options;
    enum rec_etrace_support support;
    uint32_t resync;          /**< instructions between synchronisations; 0: none */
    uint64_t vector;          /**< handler that implicit exceptions leave out */
    bool vectored;            /**< of an interrupt it is at `vector` + 4 * cause */
    bool interrupt_epc;       /**< also interrupts after a jump report its target */
    bool updiscon_on_returns; /**< also after predicted returns */
};

/** Takes a payload; `data`: of data trace. */
typedef void rec_payload_fn(void *context, bool data, const uint8_t *payload, unsigned size);

/**
 * An instruction that retired is encoded. `synced`: something synchronised since the last call;
 * `last`: nothing follows.
 */
typedef void rec_encoded_fn(void *context, bool synced, bool last);

struct rec_etrace;

struct rec_etrace *rec_etrace_new(const struct rec_etrace_options *options, rec_payload_fn *put,
                                  void *context);
void rec_etrace_free(struct rec_etrace *encoder);

/**
 * Register the function. Bytes that it puts come at the place of data trace of that instruction.
 */
void rec_etrace_on_encoded(struct rec_etrace *encoder, rec_encoded_fn *encoded);

/** Trace starts with the next step. */
void rec_etrace_start(struct rec_etrace *encoder);
/** What the next step runs with. `precise`: a change restarts with a synchronisation. */
void rec_etrace_context(struct rec_etrace *encoder, unsigned privilege, uint64_t context,
                        bool precise);
void rec_etrace_time(struct rec_etrace *encoder, uint64_t time);
/** The user wants a notification of the next instruction. */
void rec_etrace_notify(struct rec_etrace *encoder);
/** The instruction at `pc` retired; `next` would run after it. */
void rec_etrace_retire(struct rec_etrace *encoder, uint64_t pc, const struct pug_insn *insn,
                       uint64_t next);
/** A trap, before the instruction at `epc` retires. */
void rec_etrace_trap(struct rec_etrace *encoder, bool interrupt, uint64_t cause, uint64_t tval,
                     uint64_t epc);
/** Everything not sent is lost; trace is off until it is started. */
void rec_etrace_lose(struct rec_etrace *encoder);
/** Trace stops after the last step. */
void rec_etrace_stop(struct rec_etrace *encoder);

/* ---- data trace ---- */

struct rec_etrace_data_options {
    unsigned xlen, data_width, daddress_width, lrid_width, diff_bits;
    unsigned dtype_width; /**< 1 to 4: the bits that select the draft's formats; 0: all of them */
    bool mma_cas, no_address, no_value, split;
    bool full, xor_only, difference_only; /**< else the best of both */
};

struct rec_etrace_data {
    struct rec_etrace_data_options options;
    uint64_t address[8], value[8]; /**< last ones, by size; cleared at a synchronisation */
};

/** One access; `lrid` only where its data come later, by rec_etrace_reply(). */
void rec_etrace_access(struct rec_etrace_data *encoder, const struct pug_etrace_data *access,
                       rec_payload_fn *put, void *context);
void rec_etrace_reply(struct rec_etrace_data *encoder, const struct pug_etrace_data *access,
                      rec_payload_fn *put, void *context);
void rec_etrace_data_restart(struct rec_etrace_data *encoder);

#endif
