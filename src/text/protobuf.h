// SPDX-License-Identifier: MIT
/**
 * @file Protocol buffers' wire format, as far as writing needs it: fields into a sink, or into a
 * message in memory that becomes a field of another one.
 */
#ifndef PUG_TEXT_PROTOBUF_H
#define PUG_TEXT_PROTOBUF_H

#include "text/sink.h"

#include <string.h>

enum { PROTOBUF_VARINT = 0, PROTOBUF_BYTES = 2 };

static inline void protobuf_varint(struct pug_sink *sink, uint64_t value)
{
    uint8_t bytes[10];
    size_t size = 0;
    do {
        bytes[size++] = (uint8_t)(value | 0x80);
        value >>= 7;
    } while (value);
    bytes[size - 1] &= 0x7f;
    pug_sink_put(sink, bytes, size);
}

/** A number; 0 is what a missing one means, and left out. */
static inline void protobuf_number(struct pug_sink *sink, uint32_t field, uint64_t value)
{
    if (value == 0)
        return;
    protobuf_varint(sink, field << 3 | PROTOBUF_VARINT);
    protobuf_varint(sink, value);
}

static inline void protobuf_bytes(struct pug_sink *sink, uint32_t field, const void *bytes,
                                  size_t size)
{
    protobuf_varint(sink, field << 3 | PROTOBUF_BYTES);
    protobuf_varint(sink, size);
    pug_sink_put(sink, bytes, size);
}

/** A message that was put into memory, which is empty again then. */
static inline void protobuf_message(struct pug_sink *sink, uint32_t field,
                                    struct pug_memory *message)
{
    protobuf_bytes(sink, field, message->bytes, message->count);
    message->count = 0;
}

/* ---- messages in memory, whose numbers are written also where they are 0 ---- */

/** A message. Zeroed it is empty. */
struct pug_protobuf {
    struct pug_memory memory;
};

void pug_protobuf_number(struct pug_protobuf *message, unsigned field, uint64_t value);
/** Bytes that are not UTF-8 become U+FFFD, since readers refuse them. */
void pug_protobuf_text(struct pug_protobuf *message, unsigned field, const char *text);
/** A message within a message. */
void pug_protobuf_message(struct pug_protobuf *message, unsigned field,
                          const struct pug_protobuf *inner);

/** Empty it, and keep its memory. */
void pug_protobuf_clear(struct pug_protobuf *message);
void pug_protobuf_free(struct pug_protobuf *message);

#endif
