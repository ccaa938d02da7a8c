// SPDX-License-Identifier: MIT
/** @file Unpacking what gzip, xz and zstd packed, piece by piece. */
#ifndef PUG_FILES_UNPACK_H
#define PUG_FILES_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pug_unpack_kind { PUG_UNPACK_NONE, PUG_UNPACK_GZIP, PUG_UNPACK_XZ, PUG_UNPACK_ZSTD };

/** By the end of a file's name. */
enum pug_unpack_kind pug_unpack_kind(const char *path);

struct pug_unpack;

/** NULL, with errno: ENOMEM, or ENOTSUP: this build cannot. */
struct pug_unpack *pug_unpack_new(enum pug_unpack_kind kind);
void pug_unpack_free(struct pug_unpack *unpack); /**< may be NULL */

/** Takes what was unpacked; false: no more. */
typedef bool pug_unpack_put_fn(void *context, const uint8_t *bytes, size_t size);

/** The next bytes of the packed file. False: they are damaged (errno is EINVAL), or put() said so.
 */
bool pug_unpack_bytes(struct pug_unpack *unpack, const uint8_t *bytes, size_t size,
                      pug_unpack_put_fn *put, void *context);
/** Is it complete? */
bool pug_unpack_ended(const struct pug_unpack *unpack);

#endif
