// SPDX-License-Identifier: MIT
/** @file The log's messages on their way to standard error: those that are alike are counted. */
#ifndef PUGMARK_TOOL_MESSAGES_H
#define PUGMARK_TOOL_MESSAGES_H

#include "diagnose/signs.h"
#include "pugmark/log.h"

#include <stdbool.h>

#define MESSAGE_KINDS 64u
#define MESSAGE_CODES 3u /**< that a run names in the end */

/**
 * Prints to standard error what may hold strings of an input: they neither steer a terminal nor end
 * a line. A line's end stands at the end of the format, or of the text, alone.
 */
void message_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** On a terminal: names the commands that explain what was said. To be called once, in the end. */
void messages_more(void);

struct messages {
    struct {
        uint64_t key, count;
    } kinds[MESSAGE_KINDS];
    size_t kind_count;
    uint64_t said[MESSAGE_KINDS]; /**< messages of the capture, not of a place in its trace */
    size_t said_count;
    uint64_t unprinted;
    struct pug_signs signs; /**< what messages said, printed or not */
};

/**
 * Is this of no place in the trace, and was it asked before? What is wrong with a capture is said
 * once, however often it is looked at.
 */
bool messages_said(struct messages *messages, const struct pug_log_record *record);

/**
 * Print a message, or count it where the like of it was printed often enough. `again`: the trace is
 * decoded once more, and the message was printed the first time.
 */
void messages_take(struct messages *messages, const struct pug_log_record *record, bool quiet,
                   bool again);

/** Say how many were not printed; the like of them is printed again from now on. */
void messages_end(struct messages *messages, bool quiet);

/** The counts of messages for the end of a run restart. */
void messages_forget(struct messages *messages);

#endif
