// SPDX-License-Identifier: MIT
#include "image/thumb.h"
#include "base/bytes.h"

#define MOST_BYTES 65536u /* of a function or a line */

uint64_t pug_image_thumb_begin(const struct pug_image *image, const struct pug_reader_space *space,
                               uint64_t from, uint64_t address)
{
    uint8_t bytes[1024];
    uint64_t at = from, begin = from;
    if (from > address || address - from > MOST_BYTES)
        return address;
    while (at < address) {
        const int64_t got = pug_image_read(image, space, at, bytes, sizeof(bytes));
        size_t n = 0;
        for (; at < address && got > 1 && n + 2 <= (size_t)got; n += (size_t)(at - begin)) {
            begin = at;
            at += pug_bytes_16(bytes + n) >> 11 >= 0x1d ? 4 : 2;
        }
        if (n == 0)
            return address; /* its text is not known */
    }
    return at == address ? address : begin;
}
