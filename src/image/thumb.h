// SPDX-License-Identifier: MIT
/** @file Where T32 instructions begin. */
#ifndef PUG_IMAGE_THUMB_H
#define PUG_IMAGE_THUMB_H

#include "pugmark/advanced/image.h"

/**
 * The begin of the T32 instruction that has the byte at `address`, where instructions follow each
 * other from `from` on; `address` itself where that is not known.
 */
uint64_t pug_image_thumb_begin(const struct pug_image *image, const struct pug_reader_space *space,
                               uint64_t from, uint64_t address);

#endif
