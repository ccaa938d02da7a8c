// SPDX-License-Identifier: MIT
#include "files/crc32.h"

#include <unistd.h>

uint32_t pug_crc32_of(int descriptor)
{
    uint32_t crc = UINT32_MAX;
    uint8_t bytes[65536];
    off_t at = 0;
    ssize_t size;
    while ((size = pread(descriptor, bytes, sizeof(bytes), at)) > 0) {
        for (ssize_t i = 0; i < size; i++) {
            crc ^= bytes[i];
            for (int bit = 0; bit < 8; bit++)
                crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0xedb88320) : 0);
        }
        at += size;
    }
    return ~crc;
}
