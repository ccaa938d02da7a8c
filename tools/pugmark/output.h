// SPDX-License-Identifier: MIT
/** @file Standard output in large pieces, quiet when its reader goes away. */
#ifndef PUGMARK_TOOL_OUTPUT_H
#define PUGMARK_TOOL_OUTPUT_H

#include "text/sink.h"

#include <stdbool.h>
#include <stddef.h>

/** Room for at least `size` bytes (at most OUTPUT_ROOM); write there, then output_took(). */
#define OUTPUT_ROOM 16384
char *output_room(void);
void output_took(size_t size);

void output_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** The same for who writes into a sink. It stays. */
struct pug_sink *output_sink(void);

/** Text of a thread that is written later, by another. */
struct output_text_buffer {
    char *bytes;
    size_t count, room;
    bool failed; /**< no memory: some of it is missing */
    /**
     * Takes the text out of a buffer that holds OUTPUT_BUFFER bytes, leaving it empty or `failed`;
     * or NULL: it grows.
     */
    void (*full)(struct output_text_buffer *buffer);
};

/** What a buffer holds before it is full. */
#define OUTPUT_BUFFER ((size_t)256 << 10)

/** What this thread puts out goes there from now on; NULL: to standard output. */
void output_to(struct output_text_buffer *buffer);

/** Put out what a buffer holds. */
void output_buffer(const struct output_text_buffer *buffer);

/** False once nobody reads any more: the work can stop. */
bool output_wanted(void);

/** Write out what is left; EXIT_DONE, or EXIT_INPUT when the output could not be written. */
int output_end(void);

/** What was put so far goes out now: somebody may be waiting for it. */
void output_flush(void);

#endif
