// SPDX-License-Identifier: MIT
/**
 * @file What runs in a row need of the library: small pieces for threads, so that they have
 * something to do with short inputs, but for a share with the diagnosis of what is wrong, which is
 * costly, and looks at windows of 4 KiB that no piece cuts; and what a process keeps for good.
 */
#ifndef PUG_FUZZ_MILLION_LIBRARY_H
#define PUG_FUZZ_MILLION_LIBRARY_H

#include <stdbool.h>

struct million_runs {
    unsigned piece; /**< bytes that a thread takes at once, where several do */
    unsigned most;  /**< how many worked at something */
    bool plain;     /**< pieces are as always, and what is wrong is diagnosed */
};

/** Set by the runner of commands; NULL: normal operation. */
extern struct million_runs *million_runs;

/**
 * What the library has once for a process is there then, and no leak of the first that needs it.
 */
void million_warm_up(void);

#endif
