// SPDX-License-Identifier: MIT
/** @file Paths that an input names, kept below the folders that the user gave. */
#ifndef PUG_FILES_ROOTS_H
#define PUG_FILES_ROOTS_H

#include <stdbool.h>
#include <stddef.h>

/**
 * A path below a root, with all links in it resolved as if the root were "/": nothing outside can
 * be meant. The length of what is in `buffer`; 0: it is too long, links go in a circle, or there is
 * no root (NULL).
 */
size_t pug_root_resolve(const char *root, const char *path, char *buffer, size_t size);
/** The same of a path that may be one in an archive (packed.h): the archive's path is resolved. */
size_t pug_root_resolve_packed(const char *root, const char *path, char *buffer, size_t size);

/** True: that is it, no other is wanted. */
typedef bool pug_root_found_fn(void *context, const char *path);
/** Files of this name in a folder and all below it, links not followed; NULL: any name. */
void pug_root_search(const char *folder, const char *name, pug_root_found_fn *found, void *context);

#endif
