// SPDX-License-Identifier: MIT
/**
 * @file libzstd, which is loaded when something has to be unpacked, so that it is needed only then.
 */
#ifndef PUG_FILES_ZSTD_H
#define PUG_FILES_ZSTD_H

#include <stdbool.h>
#include <zstd.h>

struct pug_zstd {
    void *library; /**< NULL: it is linked */
    ZSTD_DStream *(*create)(void);
    size_t (*begin)(ZSTD_DStream *stream);
    size_t (*unpack)(ZSTD_DStream *stream, ZSTD_outBuffer *out, ZSTD_inBuffer *in);
    size_t (*end)(ZSTD_DStream *stream);
    unsigned (*is_error)(size_t code);
    const char *(*error_name)(size_t code);
};

/** Loads it. False: this machine has no libzstd of version 1. */
bool pug_zstd_load(struct pug_zstd *zstd);
/** After that, no function and no stream of it is used. */
void pug_zstd_unload(struct pug_zstd *zstd);

#endif
