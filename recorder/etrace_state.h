// SPDX-License-Identifier: MIT
/** @file The state of an E-Trace encoder, and what its parts do for each other. */
#ifndef PUG_RECORDER_ETRACE_STATE_H
#define PUG_RECORDER_ETRACE_STATE_H

#include "recorder/etrace.h"

#define MAP_MAX   31u
#define BPRED_MAX 1024u
#define CACHE_MAX 256u
#define STACK_MAX 512u

/** A step: an instruction that retired, or a trap. */
struct rec_etrace_step {
    bool is_trap;
    unsigned privilege;
    uint64_t context, time;
    bool precise;
    /* instruction */
    uint64_t pc, next;
    struct pug_insn insn;
    bool notify;
    /* trap */
    bool interrupt;
    uint64_t cause, tval, epc;
};

struct rec_etrace_link {
    uint64_t address;
    uint32_t count;
};

/** How the instruction before left the flow. */
struct rec_etrace_flow {
    bool uninferable; /* its target has to be reported */
    bool is_return, stack_was_empty, predicted;
    unsigned entries, irets; /* before the return */
};

struct rec_etrace {
    struct rec_etrace_options options;
    rec_payload_fn *put;
    rec_encoded_fn *encoded;
    void *context;
    bool synced; /* something synchronised since the last report */
    struct rec_etrace_step now,
        coming; /* the next step's context, time, notify are gathered in `coming` */
    bool has_now;

    bool on, first; /* first: no step yet */
    bool fresh;     /* no synchronisation yet */
    bool after_trap, trap_reported;
    struct rec_etrace_step trap;
    struct rec_etrace_flow flow;
    struct rec_etrace_step before; /* the instruction before, where it was traced */
    bool has_before;
    unsigned privilege;
    uint64_t traced_context;
    bool target_reported; /* the last packet was needed for the target of a jump */

    uint64_t address;
    uint32_t map;
    uint64_t pending;   /* branches */
    bool all_predicted; /* all of them correctly */
    uint32_t since_sync;
    bool sync_next; /* the next instruction is a synchronisation */
    unsigned irets;
    bool returned; /* since the last call and the last branch */

    uint8_t predictor[BPRED_MAX];
    uint64_t targets[CACHE_MAX];
    bool cached[CACHE_MAX];
    struct rec_etrace_link stack[STACK_MAX];
    unsigned entries;
};

static inline bool rec_etrace_is_taken(const struct rec_etrace_step *step)
{
    return step->next != step->pc + step->insn.size;
}

/* ---- what the decoder knows too: etrace_learnt.c ---- */

/** At a synchronisation, where the options do not keep it. */
void rec_etrace_forget(struct rec_etrace *e);
/** Execute a branch in the predictor. True: as predicted. */
bool rec_etrace_predict(struct rec_etrace *e, uint64_t pc, bool taken);
unsigned rec_etrace_cache_index(const struct rec_etrace *e, uint64_t address);
/** The jump cache gets a target. */
void rec_etrace_learn(struct rec_etrace *e, uint64_t target);
void rec_etrace_push(struct rec_etrace *e, uint64_t address);
void rec_etrace_pop(struct rec_etrace *e);

/* ---- packets: etrace_packets.c ---- */

void rec_etrace_clear_branches(struct rec_etrace *e);
void rec_etrace_send_support(struct rec_etrace *e, enum pug_etrace_qual qual);
/** Formats 0, 1 and 2 with an address. `failed`: the branch there was predicted wrongly. */
void rec_etrace_report(struct rec_etrace *e, const struct rec_etrace_step *step, bool updiscon,
                       bool failed);
/** 31 outcomes, or a wrong prediction after at least 31 right ones. */
void rec_etrace_send_branches(struct rec_etrace *e, bool failed);
void rec_etrace_send_sync(struct rec_etrace *e, const struct rec_etrace_step *step);
/** `handler`: the first instruction that retired there; NULL: none did, see `address`. */
void rec_etrace_send_trap(struct rec_etrace *e, const struct rec_etrace_step *trap,
                          const struct rec_etrace_step *handler, uint64_t address);
/** It does not move the flow: returns are counted on. */
void rec_etrace_send_context(struct rec_etrace *e, const struct rec_etrace_step *step);

#endif
