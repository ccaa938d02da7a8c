// SPDX-License-Identifier: MIT
/**
 * @file Random E-Trace streams: a random program, a random way through it, random encoder options
 * and a random wrapping.
 */
#ifndef PUG_TESTS_SUPPORT_ETRACE_ROUND_H
#define PUG_TESTS_SUPPORT_ETRACE_ROUND_H

#include "pugmark/pugmark.h"
#include "recorder/encapsulation.h"
#include "recorder/etrace.h"
#include "recorder/riscv_program.h"

/** An event, and what the trace has to say about it. */
struct etrace_step {
    bool is_trap;
    uint64_t pc;
    uint32_t number; /* of a trap */
    uint64_t tval, epc;
    bool epc_may_differ;
    bool begins, notified;
    uint64_t context, time;
    unsigned privilege;
};

struct etrace_round {
    struct rec_random random;
    struct rec_riscv_program program;
    struct rec_riscv_run run;
    struct rec_etrace_options options;
    struct rec_etrace *encoder;
    struct rec_encapsulation wrap;
    struct rec_bytes trace;
    uint16_t source;
    unsigned type;
    bool stamps, precise, extras;
    uint32_t notify_once_in;
    struct etrace_step *steps;
    size_t count, reported; /* steps, and those that packets reported */
    uint64_t time, context, wrapping_time, vector;
    unsigned privilege;
    uint64_t *visited; /* when each instruction ran last, by the program's halfwords */
    bool after_return;
    uint64_t mark; /* a counter that makes two visits differ */
    struct pug_setting settings[40];
    size_t setting_count;
};

/** Make one; the seed decides everything. */
void etrace_round_record(struct etrace_round *round, uint64_t seed);
void etrace_round_free(struct etrace_round *round);

/** Its program. */
struct pug_image *etrace_round_image(const struct etrace_round *round);

#endif
