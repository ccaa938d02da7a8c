// SPDX-License-Identifier: MIT
/** @file What runs in a row need of the library: small pieces for threads, so that they have
 * something to do with short inputs; a share of the costly guesses at what damaged bytes are; and
 * what a process keeps for good. */
#ifndef PUG_FUZZ_MILLION_LIBRARY_H
#define PUG_FUZZ_MILLION_LIBRARY_H

#include <stdbool.h>

struct million_runs {
    unsigned piece; /**< bytes that a thread takes at once, where several do */
    unsigned most;  /**< how many worked at something */
    bool guess;     /**< whether bytes that are no such trace are looked at for what they are */
};

/** Set by who runs commands; NULL: all is as always. */
extern struct million_runs *million_runs;

/** What the library has once for a process is there then, and no leak of the first that needs it.
 */
void million_warm_up(void);

#endif
