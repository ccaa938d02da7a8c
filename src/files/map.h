// SPDX-License-Identifier: MIT
/**
 * @file A file, or a part of one, as memory. A file that shrinks while it is mapped would end the
 * process (SIGBUS). Here the missing bytes read as zeros, and pug_map_lost() reports it afterwards.
 *  For that the first mapping installs a handler of SIGBUS, which leaves all other faults to the
 * one before.
 */
#ifndef PUG_FILES_MAP_H
#define PUG_FILES_MAP_H

#include "files/infile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pug_map;

/** As pug_infile_open(). An empty file has no bytes: NULL. */
enum pug_status pug_map_open(const char *path, struct pug_map **map);
/** Bytes of an open file from any offset on, which are in it; they stay when it is closed. */
enum pug_status pug_map_part(const struct pug_infile *file, uint64_t offset, size_t size,
                             struct pug_map **map);
void pug_map_close(struct pug_map *map); /**< may be NULL */

const uint8_t *pug_map_bytes(const struct pug_map *map);
uint64_t pug_map_size(const struct pug_map *map); /**< when it was opened */

/** Was something read that is not there any more? *offset: about where, from the map's begin. */
bool pug_map_lost(const struct pug_map *map, uint64_t *offset);

#endif
