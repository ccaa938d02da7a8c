// SPDX-License-Identifier: MIT
#include "text/protobuf.h"

#include <stdlib.h>

void pug_protobuf_number(struct pug_protobuf *message, unsigned field, uint64_t value)
{
    struct pug_sink sink = pug_memory_sink(&message->memory);
    protobuf_varint(&sink, (uint64_t)field << 3 | PROTOBUF_VARINT);
    protobuf_varint(&sink, value);
}

void pug_protobuf_text(struct pug_protobuf *message, unsigned field, const char *text)
{
    struct pug_memory good = {0};
    struct pug_sink sink = pug_memory_sink(&good), to = pug_memory_sink(&message->memory);
    while (*text) {
        const char *from = text;
        unsigned length;
        while ((length = pug_utf8_length(text)) > 0)
            text += length;
        pug_sink_put(&sink, from, (size_t)(text - from));
        if (*text) {
            pug_sink_put(&sink, "\xef\xbf\xbd", 3);
            text++;
        }
    }
    message->memory.failed |= good.failed;
    protobuf_bytes(&to, field, good.bytes, good.count);
    free(good.bytes);
}

void pug_protobuf_message(struct pug_protobuf *message, unsigned field,
                          const struct pug_protobuf *inner)
{
    struct pug_sink sink = pug_memory_sink(&message->memory);
    message->memory.failed |= inner->memory.failed;
    protobuf_bytes(&sink, field, inner->memory.bytes, inner->memory.count);
}

void pug_protobuf_clear(struct pug_protobuf *message)
{
    message->memory.count = 0;
}

void pug_protobuf_free(struct pug_protobuf *message)
{
    free(message->memory.bytes);
    *message = (struct pug_protobuf){.memory = {0}};
}
