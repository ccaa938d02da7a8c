// SPDX-License-Identifier: MIT
/** @file Files that are read: regular files only, never beyond a bound, errors with their errno. */
#ifndef PUG_FILES_INFILE_H
#define PUG_FILES_INFILE_H

#include "pugmark/status.h"

#include <stddef.h>
#include <stdint.h>

struct pug_infile;

/**
 * Open a regular file, or what a link leads to. PUG_ERR_FILE: it cannot be opened (errno says why),
 * or it is none (errno is EISDIR, or EINVAL for a device, FIFO or socket, which are not touched).
 */
enum pug_status pug_infile_open(const char *path, struct pug_infile **file);
/** Opens a descriptor, which then belongs to the file, also when this fails. */
enum pug_status pug_infile_adopt(int descriptor, struct pug_infile **file);
void pug_infile_close(struct pug_infile *file); /**< may be NULL */

/** For who maps it; it stays the file's. */
int pug_infile_descriptor(const struct pug_infile *file);

/** Its size when it was opened. */
uint64_t pug_infile_size(const struct pug_infile *file);

/**
 * Read exactly `size` bytes from `offset` on. PUG_ERR_TRUNCATED: the file ends before (it may have
 * shrunk); PUG_ERR_FILE: reading failed, errno says why. Any thread may call it.
 */
enum pug_status pug_infile_read(const struct pug_infile *file, uint64_t offset, void *bytes,
                                size_t size);

/**
 * A whole file in memory, followed by a NUL; free() it. PUG_ERR_LIMIT: it has more than `limit`
 * bytes; PUG_ERR_MEM, and what open and read answer.
 */
enum pug_status pug_infile_load(const char *path, size_t limit, uint8_t **bytes, size_t *size);

#endif
