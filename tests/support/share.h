// SPDX-License-Identifier: MIT
/** @file How much of a test with random input is run each time. */
#ifndef PUG_TESTS_SUPPORT_SHARE_H
#define PUG_TESTS_SUPPORT_SHARE_H

#include <stdlib.h>

/* Sanitizers take up to twenty times as long. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SHARE_PART 12u
#define SHARE_STEP 3u
#else
#define SHARE_PART 3u
#define SHARE_STEP 1u
#endif

/** A part of so many rounds, and one at least; PUG_TEST_ALL in the environment: all of them. */
static inline unsigned share_of(unsigned rounds)
{
    if (getenv("PUG_TEST_ALL"))
        return rounds;
    return rounds < SHARE_PART ? 1 : rounds / SHARE_PART;
}

/** What goes through all there is looks at every n-th. */
static inline unsigned share_step(void)
{
    return getenv("PUG_TEST_ALL") ? 1 : SHARE_STEP;
}

#endif
