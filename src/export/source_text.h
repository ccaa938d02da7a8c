// SPDX-License-Identifier: MIT
/** @file Text of source files for pages: only of files that the reader of the page may see. */
#ifndef PUG_EXPORT_SOURCE_TEXT_H
#define PUG_EXPORT_SOURCE_TEXT_H

#include "export/export.h"

/**
 * Reads the source file that debug information calls `path`, with a NUL after it; free() it.
 * False: the file does not exist, is longer than `most`, is no text, or lies outside of the folders
 * that the report's options permit, which is counted there. `*size` is SIZE_MAX then if it is
 * longer than `most`, else 0.
 */
bool pug_export_source(const struct exporter *exporter, const char *path, size_t most,
                       uint8_t **bytes, size_t *size);

#endif
