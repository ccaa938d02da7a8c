// SPDX-License-Identifier: MIT
#include "text/protobuf.h"

#include "text/sink.h"

#include <stdlib.h>
#include <string.h>

enum { WIRE_NUMBER = 0, WIRE_BYTES = 2 };

static void put(struct pug_protobuf *message, const void *bytes, size_t size)
{
    if (!message->failed && message->room - message->count < size) {
        size_t room = message->room + message->room / 2 + size + 64;
        uint8_t *grown = realloc(message->bytes, room);
        message->failed = !grown;
        if (grown) {
            message->bytes = grown;
            message->room = room;
        }
    }
    if (message->failed || size == 0)
        return;
    memcpy(message->bytes + message->count, bytes, size);
    message->count += size;
}

void pug_protobuf_varint(struct pug_protobuf *message, uint64_t value)
{
    uint8_t bytes[10];
    size_t count = 0;
    for (; value > 0x7f; value >>= 7)
        bytes[count++] = (uint8_t)(value | 0x80);
    bytes[count++] = (uint8_t)value;
    put(message, bytes, count);
}

void pug_protobuf_number(struct pug_protobuf *message, unsigned field, uint64_t value)
{
    pug_protobuf_varint(message, (uint64_t)field << 3 | WIRE_NUMBER);
    pug_protobuf_varint(message, value);
}

void pug_protobuf_bytes(struct pug_protobuf *message, unsigned field, const void *bytes,
                        size_t size)
{
    pug_protobuf_varint(message, (uint64_t)field << 3 | WIRE_BYTES);
    pug_protobuf_varint(message, size);
    put(message, bytes, size);
}

void pug_protobuf_text(struct pug_protobuf *message, unsigned field, const char *text)
{
    struct pug_protobuf good = {0};
    while (*text) {
        const char *from = text;
        unsigned length;
        while ((length = pug_utf8_length(text)) > 0)
            text += length;
        put(&good, from, (size_t)(text - from));
        if (*text) {
            put(&good, "\xef\xbf\xbd", 3);
            text++;
        }
    }
    message->failed |= good.failed;
    pug_protobuf_bytes(message, field, good.bytes, good.count);
    pug_protobuf_free(&good);
}

void pug_protobuf_message(struct pug_protobuf *message, unsigned field,
                          const struct pug_protobuf *inner)
{
    message->failed |= inner->failed;
    pug_protobuf_bytes(message, field, inner->bytes, inner->count);
}

void pug_protobuf_clear(struct pug_protobuf *message)
{
    message->count = 0;
}

void pug_protobuf_free(struct pug_protobuf *message)
{
    free(message->bytes);
    *message = (struct pug_protobuf){0};
}
