// SPDX-License-Identifier: MIT
/** @file A file of program memory: read in pieces when they are first needed, and kept. */
#ifndef PUG_IMAGE_FILE_H
#define PUG_IMAGE_FILE_H

#include "pugmark/advanced/image.h"

#include <stdbool.h>
#include <stdint.h>

struct pug_file;

/**
 * Opens a regular file; `even`: the last byte of an odd one is not seen. PUG_ERR_FILE, with
 * errno: it cannot be opened.
 */
enum pug_status pug_file_open(const char *path, bool even, struct pug_file **file);
/** Takes over an open descriptor, which is closed with it, also on failure; `path`: its name. */
enum pug_status pug_file_adopt(int descriptor, const char *path, struct pug_file **file);
/** Is what has its path now still what was opened? */
bool pug_file_is_current(const struct pug_file *file);
/** The same file for one more holder, who frees it as well; one thread at a time. */
struct pug_file *pug_file_share(struct pug_file *file);
void pug_file_free(struct pug_file *file);

const char *pug_file_path(const struct pug_file *file);

/** Its length when it was opened. */
uint64_t pug_file_length(const struct pug_file *file);

/**
 * The bytes from `offset` on, as far as they lie in one piece; *size is how many, 0 beyond the end
 * or where reading fails. They stay where they are until the file is freed. Several threads may
 * call this at once.
 */
const uint8_t *pug_file_piece(struct pug_file *file, uint64_t offset, uint64_t *size);

/** Did a read fail, or was there no memory for one? The first time that it was. */
bool pug_file_failure(const struct pug_file *file, struct pug_read_failure *failure);

#endif
