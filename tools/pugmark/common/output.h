// SPDX-License-Identifier: MIT
/** @file Standard output in large pieces, quiet when its reader goes away. */
#ifndef PUGMARK_TOOL_OUTPUT_H
#define PUGMARK_TOOL_OUTPUT_H

#include "text/sink.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Room for at least `size` bytes (at most OUTPUT_ROOM); write there, then output_took(). */
#define OUTPUT_ROOM 16384
char *output_room(void);
void output_took(size_t size);

/** Names of an input in it neither steer a terminal nor are anything but UTF-8. */
void output_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Returns the output as a sink. It stays. */
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

/** The size at which a buffer is full. */
#define OUTPUT_BUFFER ((size_t)256 << 10)

/** What this thread puts out goes there from now on; NULL: to standard output. */
void output_to(struct output_text_buffer *buffer);

/** Put out what a buffer holds. */
void output_buffer(const struct output_text_buffer *buffer);

/** Where output goes that is no stream: a file that several processes write. */
struct output_target {
    void *context;
    /** Writes the next bytes; false: errno says why not. */
    bool (*write)(void *context, const void *bytes, size_t count);
    /** What this process has for a place that is not known yet: where it keeps it. */
    bool (*keep)(void *context, const void *bytes, size_t count, uint64_t *at);
    /** The next bytes are kept by another process. */
    bool (*place)(void *context, unsigned process, uint64_t at, uint64_t size);
};

/** Put out there from now on; NULL: to standard output. */
void output_into(const struct output_target *target);
/** NULL: standard output. */
const struct output_target *output_where(void);
/** Put out what another process keeps. */
void output_place(unsigned process, uint64_t at, uint64_t size);

/** False once the reader has gone: the work can stop. */
bool output_wanted(void);

/** Write out what is left; EXIT_DONE, or EXIT_INPUT when the output could not be written. */
int output_end(void);

/** Writes everything put so far, as a reader may be waiting for it. */
void output_flush(void);

#endif
