// SPDX-License-Identifier: MIT
#include "recorder/orbflow.h"

#define GROUP_BYTES 254u

void rec_cobs(struct rec_bytes *bytes, const uint8_t *data, size_t size)
{
    size_t at = 0;
    for (;;) {
        size_t length = 0;
        while (at + length < size && length < GROUP_BYTES && data[at + length] != 0)
            length++;
        rec_put(bytes, (uint8_t)(length + 1));
        rec_put_n(bytes, data + at, length);
        at += length;
        if (at == size)
            break;
        if (length < GROUP_BYTES)
            at++;
    }
    rec_put(bytes, 0);
}

void rec_orbflow(struct rec_bytes *bytes, uint8_t tag, const uint8_t *data, size_t size)
{
    struct rec_bytes frame = {0};
    uint8_t sum = tag;
    for (size_t i = 0; i < size; i++)
        sum = (uint8_t)(sum + data[i]);
    rec_put(&frame, tag);
    rec_put_n(&frame, data, size);
    rec_put(&frame, (uint8_t)-sum);
    rec_cobs(bytes, frame.data, frame.size);
    rec_bytes_free(&frame);
}
