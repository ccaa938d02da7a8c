// SPDX-License-Identifier: MIT
#include "perfdata/protobuf.h"

static uint64_t take_varint(struct pug_bytes *bytes)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        const uint8_t *at = pug_bytes_take(bytes, 1);
        if (!at)
            return 0;
        value |= (uint64_t)(*at & 0x7f) << shift;
        if (!(*at & 0x80))
            return value;
    }
    bytes->bad = true;
    return 0;
}

bool pug_field_take(struct pug_bytes *bytes, struct pug_field *field)
{
    if (pug_bytes_left(bytes) == 0)
        return false;
    const uint64_t key = take_varint(bytes);
    *field = (struct pug_field){.number = (uint32_t)(key >> 3)};
    uint64_t size = 0;
    switch (key & 7) {
    case 0: field->value = take_varint(bytes); break;
    case 1: field->value = pug_bytes_take_64(bytes); break;
    case 2:
        size = take_varint(bytes);
        if (size > pug_bytes_left(bytes))
            bytes->bad = true;
        else
            field->body = pug_bytes_of(pug_bytes_take(bytes, (size_t)size), (size_t)size);
        break;
    case 5: field->value = pug_bytes_take_32(bytes); break;
    default: bytes->bad = true;
    }
    return !bytes->bad;
}

uint64_t pug_field_first(struct pug_bytes message)
{
    struct pug_field field;
    while (pug_field_take(&message, &field))
        if (field.number == 1)
            return field.value;
    return 0;
}
