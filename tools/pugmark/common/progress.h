// SPDX-License-Identifier: MIT
/** @file How far a long piece of work is, on a terminal, from its first second on. */
#ifndef PUGMARK_TOOL_PROGRESS_H
#define PUGMARK_TOOL_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct progress {
    uint64_t all;
    time_t start;
    bool wanted, shown;
    bool (*go_on)(void); /**< may end the work; or NULL */
};

struct progress progress_begin(uint64_t all, bool quiet, bool (*go_on)(void));

/** So much is done; `progress` is a struct progress. False: the work is to end. */
bool progress_show(void *progress, uint64_t done);

void progress_end(const struct progress *progress);

#endif
