// SPDX-License-Identifier: MIT
/** @file Protocol buffers: fields of a message, one after the other, into memory. */
#ifndef PUG_TEXT_PROTOBUF_H
#define PUG_TEXT_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A message. Zeroed it is empty. */
struct pug_protobuf {
    uint8_t *bytes;
    size_t count, room;
    bool failed; /**< no memory: what came since is missing */
};

void pug_protobuf_number(struct pug_protobuf *message, unsigned field, uint64_t value);
void pug_protobuf_bytes(struct pug_protobuf *message, unsigned field, const void *bytes,
                        size_t size);
/** What is no UTF-8 becomes U+FFFD, since readers refuse it. */
void pug_protobuf_text(struct pug_protobuf *message, unsigned field, const char *text);
/** A message within a message. */
void pug_protobuf_message(struct pug_protobuf *message, unsigned field,
                          const struct pug_protobuf *inner);
/** A number of a packed field, without its field. */
void pug_protobuf_varint(struct pug_protobuf *message, uint64_t value);

/** Empty it, and keep its memory. */
void pug_protobuf_clear(struct pug_protobuf *message);
void pug_protobuf_free(struct pug_protobuf *message);

#endif
