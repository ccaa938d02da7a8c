// SPDX-License-Identifier: MIT
/**
 * @file The folder that a recording is written into, whole or not at all.
 *
 * All files are written into a new folder beside the target, or inside of it where it cannot be
 * renamed or holds other things. What the target held until then stays until all is written. A
 * target that holds a former recording, as its manifest lists it, is exchanged as a whole. One that
 * holds anything else is refused, unless the caller forces it; then files are renamed into it one
 * by one. When a signal ends the process, the new folder is removed.
 */
#ifndef PUG_RECORDER_RECORDING_FOLDER_H
#define PUG_RECORDER_RECORDING_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

struct rec_folder;

/** How it went; `why` says more. */
enum rec_folder_status {
    REC_FOLDER_DONE,
    REC_FOLDER_REFUSED, /**< it holds what would be lost */
    REC_FOLDER_FAILED   /**< the system says no */
};

/**
 * Looks whether a recording may go to `target`, and changes nothing. `input`: a file that must
 * stay, or NULL.
 */
enum rec_folder_status rec_folder_new(const char *target, bool force, const struct stat *input,
                                      struct rec_folder **folder, char *why, size_t size);

/** Does it hold a recording or other files already? */
bool rec_folder_is_used(const struct rec_folder *folder);

/** Is this the name of a file directly in the target? Its last component, or NULL. */
const char *rec_folder_holds(const struct rec_folder *folder, const char *path);

/** Makes the new folder. False: errno says why. */
bool rec_folder_begin(struct rec_folder *folder);
/** Returns the folder into which files have to be written. */
const char *rec_folder_path(const struct rec_folder *folder);

/** Puts all that was written into its place. False: `why` says why; the target is as it was. */
bool rec_folder_commit(struct rec_folder *folder, char *why, size_t size);

/** Frees it, and removes what was not committed; may be NULL. */
void rec_folder_free(struct rec_folder *folder);

#endif
