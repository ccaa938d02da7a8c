// SPDX-License-Identifier: MIT
/** @file "Did you mean": the known name that is nearest to what somebody wrote. */
#ifndef PUGMARK_TOOL_SUGGEST_H
#define PUGMARK_TOOL_SUGGEST_H

#include <stddef.h>

/** The search for a name; both texts are "" while none is near. */
struct suggestion {
    const char *wanted;
    unsigned least;
    char meant[64];    /**< the nearest one so far */
    char question[80]; /**< for the end of a message: "; is NAME meant?" */
};

void suggest_begin(struct suggestion *suggestion, const char *wanted);
void suggest_offer(struct suggestion *suggestion, const char *known);

/**
 * Returns the word nearest to `wanted` in an option's list of values, as in "auto|always|never", or
 * NULL. Words in capitals are kinds of values, which are never meant.
 */
const char *suggest_word(const char *wanted, const char *values, char meant[64]);

#endif
