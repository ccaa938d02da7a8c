// SPDX-License-Identifier: MIT
/**
 * @file Files that are inside of others: what was packed (x.ko.xz, x.ko.gz, x.ko.zst), and what an
 * archive holds as it is ("base.apk!/lib/arm64-v8a/libx.so").
 */
#ifndef PUG_FILES_PACKED_H
#define PUG_FILES_PACKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Does a path name such a file? */
bool pug_packed_is(const char *path);

/**
 * A file without a name that has the bytes, open for reading; it is closed with close(). -1, with
 * errno: it cannot be opened; EINVAL: what it is in is no file, or damaged, or does not have it as
 * it is; EFBIG: it would be too large; ENOTSUP: this build cannot unpack it.
 */
int pug_packed_open(const char *path);

/** A file in an archive. */
struct pug_packed_member {
    char name[1024];
    uint64_t begin, size; /**< where its bytes are */
};

/**
 * What an archive's bytes at an offset belong to, if that is stored as it is. False: to none, or it
 * is no archive.
 */
bool pug_packed_member(const char *archive, uint64_t offset, struct pug_packed_member *member);

#endif
