// SPDX-License-Identifier: MIT
/** @file gzip files, where zlib is there; else the bytes as they are, which readers of pprof take,
 * too. */
#ifndef PUG_EXPORT_GZIP_H
#define PUG_EXPORT_GZIP_H

#include "pugmark/status.h"
#include "text/sink.h"

/** The same bytes give the same file. PUG_ERR_MEM. */
enum pug_status pug_export_gzip(struct pug_sink *sink, const void *bytes, size_t size);

#endif
