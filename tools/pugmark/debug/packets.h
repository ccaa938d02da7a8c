// SPDX-License-Identifier: MIT
/** @file Packets of the trace in a session: their words, and where one is that marks something. */
#ifndef PUGMARK_TOOL_DEBUG_PACKETS_H
#define PUGMARK_TOOL_DEBUG_PACKETS_H

#include "session.h"

#include <string.h>

/** Is a word this one, as an option of `pugmark find` or without its dashes? */
static inline bool packet_word_is(const char *word, const char *wanted)
{
    return strcmp(word + (strncmp(word, "--", 2) == 0 ? 2 : 0), wanted) == 0;
}

/** Writes the words of the packet at a position; "" where they cannot be had. */
void packet_words(struct session *session, uint64_t position, char *words, size_t size);

/**
 * Finds a packet as `pugmark find` does: words[0] is its option ("--event", or "event"), then its
 * value, and --after OFFSET, --before OFFSET, or "before" (here). Without these it is the next one
 * from here on. Writes what was found, with the position there. *known: the words make sense.
 */
bool packet_find(struct session *session, char **words, size_t count, bool *known,
                 struct pug_sink *sink);

#endif
