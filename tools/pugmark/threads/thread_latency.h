// SPDX-License-Identifier: MIT
/** @file How long threads waited from ready to running, as a table. */
#ifndef PUGMARK_TOOL_THREAD_LATENCY_H
#define PUGMARK_TOOL_THREAD_LATENCY_H

#include <stdbool.h>
#include <stdint.h>

/** What a core executed so far. */
struct thread_clock {
    uint64_t instructions, cycles;
};

struct thread_latency {
    uint64_t count;
    struct thread_clock sum, shortest, longest;
};

void thread_latency_add(struct thread_latency *latency, uint64_t instructions, uint64_t cycles);
void thread_latency_head(bool json, bool csv, bool cycles);
/** A row: in cycles where the trace counts them, else in instructions. */
void thread_latency_put(const struct thread_latency *latency, uint16_t source, const char *name,
                        bool json, bool csv, bool cycles);

#endif
