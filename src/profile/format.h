// SPDX-License-Identifier: MIT
/** @file The profile's file, docs/book/formats/profile.md. */
#ifndef PUG_PROFILE_FORMAT_H
#define PUG_PROFILE_FORMAT_H

#include "base/bytes.h"
#include "profile/profile.h"

#define FORMAT_MAGIC   "PUGPROF\n" /* without an end */
#define FORMAT_VERSION 2u
#define FORMAT_OLDEST  1u /* it has no loops */

/* Bytes of the header and of each record. */
enum format_size {
    FORMAT_HEADER = 80,
    FORMAT_NOTE = 8,
    FORMAT_OBJECT = 48,
    FORMAT_SEGMENT = 32,
    FORMAT_TASK = 16,
    FORMAT_RANGE = 48,
    FORMAT_BRANCH = 32,
    FORMAT_FRAME = 56,
    FORMAT_USE = 16,
    FORMAT_LOOP = 64,
};

/* The offsets in the header. */
enum format_place {
    FORMAT_AT_VERSION = 8,
    FORMAT_AT_HEADER = 12,
    FORMAT_AT_CHECKSUM = 16,
    FORMAT_AT_SIZE = 24, /* the checksum covers everything from here on */
    FORMAT_AT_UNIT = 32,
    FORMAT_AT_NOTES = 36,
    FORMAT_AT_OBJECTS = 40,
    FORMAT_AT_SEGMENTS = 44,
    FORMAT_AT_TASKS = 48,
    FORMAT_AT_RANGES = 52,
    FORMAT_AT_BRANCHES = 56,
    FORMAT_AT_FRAMES = 60,
    FORMAT_AT_USES = 64,
    FORMAT_AT_LOOPS = 68,
    FORMAT_AT_TEXT = 72,
};

/* Texts are named by where they begin; this one is none. */
#define FORMAT_NO_TEXT UINT32_MAX
/* The most bytes of a name with its zero byte; a record of perf.data has no longer ones. */
#define FORMAT_NAME 65536u

/** FNV-1a, by words of eight bytes; the size is a multiple of that. */
uint64_t pug_profile_checksum(const uint8_t *bytes, size_t size);

#endif
