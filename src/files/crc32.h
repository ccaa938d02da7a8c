// SPDX-License-Identifier: MIT
/** @file The sum that links to separate debug information have of the file that they name. */
#ifndef PUG_FILES_CRC32_H
#define PUG_FILES_CRC32_H

#include <stdint.h>

/** The checksum of all bytes of an open file, as far as they can be read. */
uint32_t pug_crc32_of(int descriptor);

#endif
