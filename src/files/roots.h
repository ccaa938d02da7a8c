// SPDX-License-Identifier: MIT
/** @file Paths that an input names, kept below the folders that the user gave. */
#ifndef PUG_FILES_ROOTS_H
#define PUG_FILES_ROOTS_H

#include "pugmark/status.h"

#include <stdbool.h>
#include <stddef.h>

/**
 * A path below a root, with all links in it resolved as if the root were "/": nothing outside can
 * be meant. The length of what is in `buffer`; 0: it is too long, links go in a circle, or there is
 * no root (NULL).
 */
size_t pug_root_resolve(const char *root, const char *path, char *buffer, size_t size);
/** Resolves a path that may be one in an archive (packed.h): the archive's path is resolved. */
size_t pug_root_resolve_packed(const char *root, const char *path, char *buffer, size_t size);

/** Can a folder be searched? False: errno says why not. */
bool pug_root_is_folder(const char *path);

/** The treatment of links in a folder that is searched. */
enum pug_root_links {
    PUG_ROOT_NO_LINKS,     /**< nothing: they are passed over */
    PUG_ROOT_LINKS_WITHIN, /**< what they do if the folder is "/": nothing outside can be meant */
    PUG_ROOT_LINKS /**< the same, or, where nothing is there, what they do on this machine */
};

/**
 * `path`: what it is called below the folder, `file`: what is to be opened. True: no other is
 * wanted.
 */
typedef bool pug_root_found_fn(void *context, const char *path, const char *file);
/**
 * Files of this name in a folder and all below it; NULL: any name. PUG_ERR_FILE: the folder cannot
 * be read, errno says why; PUG_ERR_LIMIT: there is more in it than is looked at.
 */
enum pug_status pug_root_search(const char *folder, const char *name, enum pug_root_links links,
                                pug_root_found_fn *found, void *context);

#endif
