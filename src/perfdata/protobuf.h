// SPDX-License-Identifier: MIT
/** @file Reading messages of protocol buffers, as simpleperf's features have them. */
#ifndef PUG_PERFDATA_PROTOBUF_H
#define PUG_PERFDATA_PROTOBUF_H

#include "base/bytes.h"

struct pug_field {
    uint32_t number;
    uint64_t value;        /**< of a number */
    struct pug_bytes body; /**< of bytes */
};

/** The next field of a message; false: there is none, or the message is damaged (bytes->bad). */
bool pug_field_take(struct pug_bytes *bytes, struct pug_field *field);
/** The value of the first field 1 of a message, or 0. */
uint64_t pug_field_first(struct pug_bytes message);

#endif
