// SPDX-License-Identifier: MIT
/**
 * @file Files that are written: whole or not at all.
 *
 *     struct pug_outfile *file;
 *     if (pug_outfile_open(path, &file) != PUG_OK) …             // errno says why
 *     struct pug_sink sink = pug_outfile_sink(file);
 *     … put into the sink …
 *     if (pug_outfile_commit(file) != PUG_OK) …                  // nothing stands under the name
 *
 * What is written has no name, or one of its own beside the target, until it is complete. The
 * target is a regular file or absent; links are followed; anything else is refused, so that no
 * device, FIFO or folder is ever replaced. What a user names may be a device, FIFO or pipe, too:
 * that is written as it comes, as standard output is.
 */
#ifndef PUG_FILES_OUTFILE_H
#define PUG_FILES_OUTFILE_H

#include "text/sink.h"

#include "pugmark/status.h"

struct pug_outfile;

/**
 * Begin a file. "-" is standard output, which is written as it comes. PUG_ERR_FILE: errno says why
 * (EEXIST: what has that name is no regular file). PUG_ERR_MEM.
 */
enum pug_status pug_outfile_open(const char *path, struct pug_outfile **file);

/** Opens a name that a user gave, which may be a device, FIFO or pipe. */
enum pug_status pug_outfile_open_any(const char *path, struct pug_outfile **file);

/**
 * Could this file, or a folder of files, be written, as far as that can be known without making
 * anything? False: errno says why not. For commands with much work before they write.
 */
bool pug_outfile_may(const char *path);
bool pug_outfile_may_folder(const char *path);

struct pug_sink pug_outfile_sink(struct pug_outfile *file);

/**
 * For a file that several processes write by other means: the path that a rename is to replace,
 * with links followed, and the mode of the file there (0: none exists). False: errno says why not.
 */
bool pug_outfile_place(const char *path, char *place, size_t size, unsigned *mode);

/** For a caller that writes by itself, and not into the sink; it stays the file's. */
int pug_outfile_descriptor(const struct pug_outfile *file);

/** Has writing failed already? The work can stop. */
bool pug_outfile_failed(const struct pug_outfile *file);

/**
 * Give it its name, and free it. PUG_ERR_FILE: it could not be written, errno says why; then what
 * had the name before has it still.
 */
enum pug_status pug_outfile_commit(struct pug_outfile *file);

/** Forget what was written, and free it; may be NULL. Keeps errno. */
void pug_outfile_abandon(struct pug_outfile *file);

/**
 * For a file that a forked process writes: that one gives it its name, or, where it is not whole,
 * removes it, without freeing anything, as another thread may have held the allocator's lock. The
 * process that forked lets it go meanwhile.
 */
bool pug_outfile_settle(struct pug_outfile *file, bool whole);
void pug_outfile_hand_over(struct pug_outfile *file);

/**
 * A file that several runs write, each after the bytes of earlier runs: a descriptor to read and
 * write it, cut to `size` bytes, which it must have. -1: errno says why.
 */
int pug_outfile_go_on(const char *path, uint64_t size);
/** A whole file at once. */
enum pug_status pug_outfile_save(const char *path, const void *bytes, size_t size);
enum pug_status pug_outfile_save_any(const char *path, const void *bytes, size_t size);

#endif
