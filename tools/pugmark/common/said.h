// SPDX-License-Identifier: MIT
/**
 * @file What standard error says of a capture, word by word, for a command that repeats it in its
 * output. The page of `pugmark report` says the same as the terminal.
 */
#ifndef PUGMARK_TOOL_SAID_H
#define PUGMARK_TOOL_SAID_H

#include <stdbool.h>

/** The subject of a sentence. */
enum said_about {
    SAID_WRONG,   /**< the result is wrong or incomplete: another program, no memory, bad packets */
    SAID_LOST,    /**< trace was lost; the rest is right */
    SAID_TIMES,   /**< times alone are doubtful */
    SAID_COUNTS,  /**< counts of a profile are doubtful or incomplete */
    SAID_CHECKED, /**< something was checked and is right; standard error keeps silent */
};

/** Takes sentences, without "pugmark:" in front and without the end of the line. */
struct said_listener {
    void (*hear)(void *context, enum said_about about, const char *words);
    void *context;
};

/** Sentences go to `listener` from now on, also under --quiet. NULL: no listener. */
void said_listen(const struct said_listener *listener);

/** Does anybody listen? */
bool said_heard(void);

/** Give a sentence to the listener, if there is one. Prints nothing. */
void said(enum said_about about, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
