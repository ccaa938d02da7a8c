// SPDX-License-Identifier: MIT
/**
 * @file Two threads that take turns on one processor, as perf.data: each runs 100 of every 1000,
 * and reports it in timestamps and cycle counts.
 */
#ifndef PUG_TESTS_SUPPORT_PERF_TURNS_H
#define PUG_TESTS_SUPPORT_PERF_TURNS_H

#include "recorder/perfdata.h"

#define PERF_TURNS_FIRST  201 /**< threads, each of its own process */
#define PERF_TURNS_SECOND 302

/** How they take turns. */
struct perf_turns {
    bool gaps;     /**< tracing is off between them */
    bool pieces;   /**< the buffer is emptied between them */
    bool moves;    /**< the second turns of both are on another processor, not with `pieces` */
    bool one_sink; /**< for both processors, whose trace follows the other's there */
    bool kernel;   /**< each ends with a block at EL1, without a timestamp */
};

/** All records, of the first two programs of perf_programs.h. */
void perf_turns_tell(struct rec_perf *perf, const struct perf_turns *turns);

#endif
