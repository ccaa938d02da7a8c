// SPDX-License-Identifier: MIT
/** @file The files of a recording, as its own descriptions list them; those of a former one that a
 * new one in the same folder has not are removed. */
#ifndef PUG_RECORDER_LEFTOVERS_H
#define PUG_RECORDER_LEFTOVERS_H

#include <stdbool.h>
#include <stddef.h>

/** What the folder's snapshot.ini says of a recording; names below the folder. */
struct rec_listed {
    char **names;
    size_t count, room;
};

/** Nothing is listed where the folder has no recording, but a snapshot of something else. */
void rec_listed_read(struct rec_listed *listed, const char *folder);
void rec_listed_free(struct rec_listed *listed);

/** Remove what `former` lists and the folder's recording does not. */
void rec_listed_remove(const struct rec_listed *former, const char *folder);

#endif
