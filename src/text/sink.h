// SPDX-License-Identifier: MIT
/** @file Where text and bytes go, whoever takes them: a file, memory, standard output. */
#ifndef PUG_TEXT_SINK_H
#define PUG_TEXT_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** put() takes all; what goes wrong is kept and asked for when the target is closed. */
struct pug_sink {
    void (*put)(void *context, const void *bytes, size_t size);
    void *context;
};

static inline void pug_sink_put(struct pug_sink *sink, const void *bytes, size_t size)
{
    if (size > 0)
        sink->put(sink->context, bytes, size);
}

void pug_sink_text(struct pug_sink *sink, const char *text);
void pug_sink_format(struct pug_sink *sink, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void pug_sink_decimal(struct pug_sink *sink, uint64_t value);
/** Lower-case hexadecimal with at least `digits` digits. */
void pug_sink_hex(struct pug_sink *sink, uint64_t value, unsigned digits);

void pug_sink_blanks(struct pug_sink *sink, size_t count);
/** At the right end of a column; wider where it has to be. */
void pug_sink_decimal_right(struct pug_sink *sink, uint64_t value, unsigned width);
void pug_sink_hex_right(struct pug_sink *sink, uint64_t value, unsigned width);

/**
 * A name from a file, for people: control bytes and what is no UTF-8 become `\xNN`, so that it can
 * neither steer a terminal nor end a line.
 */
void pug_sink_printable(struct pug_sink *sink, const char *text);
/** Would it be put as it is? */
bool pug_is_printable(const char *text);

/** A sink into memory that grows. Zeroed it is empty; free() `bytes` in the end. */
struct pug_memory {
    char *bytes; /**< not terminated */
    size_t count, room;
    bool failed; /**< no memory: what came since is missing */
};

struct pug_sink pug_memory_sink(struct pug_memory *memory);

/**
 * The text itself where it is printable, else as pug_sink_printable() puts it, in `room`, whose
 * bytes the caller frees; "?" without memory.
 */
const char *pug_printable(const char *text, struct pug_memory *room);

/**
 * Bytes of the well-formed UTF-8 character at `at` (never a surrogate, never overlong), or 0. Reads
 * no further than a terminating NUL.
 */
unsigned pug_utf8_length(const char *at);

#endif
