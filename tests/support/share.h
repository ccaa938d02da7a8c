// SPDX-License-Identifier: MIT
/** @file How much of a test with random input is run each time. */
#ifndef PUG_TESTS_SUPPORT_SHARE_H
#define PUG_TESTS_SUPPORT_SHARE_H

#include <stdlib.h>

/* Sanitizers take up to twenty times as long. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SHARE_PLAIN 0
#else
#define SHARE_PLAIN 1
#endif

/** A part of so many rounds, and one at least; PUG_TEST_ALL in the environment: all of them. */
static inline unsigned share_of(unsigned rounds)
{
    if (getenv("PUG_TEST_ALL"))
        return rounds;
    const unsigned part = SHARE_PLAIN ? 3 : 12;
    return rounds < part ? 1 : rounds / part;
}

/** What goes through all there is looks at every n-th: this one, or that under sanitizers. */
static inline unsigned share_step(unsigned plain, unsigned sanitized)
{
    return getenv("PUG_TEST_ALL") ? 1 : SHARE_PLAIN ? plain : sanitized;
}

#endif
