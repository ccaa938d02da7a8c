// SPDX-License-Identifier: MIT
/** @file For tests of images: bytes that tell their place, and reading. */
#ifndef PUG_TESTS_SUPPORT_MEMORY_H
#define PUG_TESTS_SUPPORT_MEMORY_H

#include "pugmark/advanced/image.h"

#include <stddef.h>
#include <stdint.h>

static inline uint8_t pattern(uint64_t offset)
{
    return (uint8_t)(offset ^ offset >> 8 ^ offset >> 16);
}

static inline int64_t read_at(const struct pug_image *image, uint8_t space, uint64_t address,
                              void *buffer, uint32_t wanted)
{
    struct pug_reader_space reader = {.space = space};
    return pug_image_read(image, &reader, address, buffer, wanted);
}

/* The first byte that is read at an address; -1 where there is none. */
static inline int first_byte(const struct pug_image *image, uint8_t space, uint64_t address)
{
    uint8_t byte;
    return read_at(image, space, address, &byte, 1) == 1 ? byte : -1;
}

#endif
