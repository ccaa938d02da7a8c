// SPDX-License-Identifier: MIT
/**
 * @file The list of a recording's files, which lies beside them with their sizes and hashes: what a
 * later recording into the same folder may remove. Folders are given as descriptors, and no link in
 * them is ever followed.
 */
#ifndef PUG_RECORDER_MANIFEST_H
#define PUG_RECORDER_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#define REC_MANIFEST "recording.manifest"

/** A file, below the folder: "trace.bin", "program_0/name". */
struct rec_manifest_file {
    char *name;
    uint64_t size, hash;
    struct stat
        seen; /**< when it was found to be as the manifest says; st_nlink is 0 before that */
};

struct rec_manifest {
    struct rec_manifest_file *files; /**< sorted by name */
    size_t count, room;
};

void rec_manifest_free(struct rec_manifest *manifest);

/** Lists all files of a folder, with their sizes and hashes. False: errno says why. */
bool rec_manifest_make(struct rec_manifest *manifest, int folder);
/** Writes a manifest into its folder. False: errno says why. */
bool rec_manifest_write(const struct rec_manifest *manifest, int folder);
/** Reads the manifest of a folder. False: the folder has none, or it is damaged. */
bool rec_manifest_read(struct rec_manifest *manifest, int folder);

/** The file of this name, or NULL. */
struct rec_manifest_file *rec_manifest_find(const struct rec_manifest *manifest, const char *name);

/** The kinds of content that a folder can have. */
enum rec_holds {
    REC_HOLDS_NOTHING,
    REC_HOLDS_RECORDING, /**< the files of its manifest, unchanged, and indexes of its traces */
    REC_HOLDS_OTHERS,    /**< something else */
    REC_HOLDS_UNREADABLE /**< errno says why */
};

/**
 * Looks at everything in a folder. The manifest's files that are as it says are marked as seen.
 * `other` (of `size` bytes): the name of something else, and what is wrong with it.
 */
enum rec_holds rec_manifest_check(struct rec_manifest *manifest, int folder, char *other,
                                  size_t size);

/**
 * Removes the files that were seen and have not changed since then, with the indexes of traces, and
 * folders of programs that became empty; not those that `stays` has, nor the file `spared` (NULL:
 * none). All others stay.
 */
void rec_manifest_remove(const struct rec_manifest *manifest, int folder,
                         const struct rec_manifest *stays, const struct stat *spared);

/** The folder that a name lies in; -1, with errno. The last component is in *name. */
int rec_manifest_folder(int folder, const char **name, bool make);

#endif
