// SPDX-License-Identifier: MIT
/** @file The process that writes the path file, and outlives the program. */
#ifndef PUG_RECORDER_PLUGIN_WRITER_H
#define PUG_RECORDER_PLUGIN_WRITER_H

#include "shared.h"

#include <sys/types.h>

struct pug_outfile;

/**
 * Begin a process that writes to `file` first the `size` bytes, then what comes into the ring,
 * until the caller says that it ended, or has ended. Then the process gives `named` its name, the
 * file that `file` is a descriptor of (NULL: it has one). It is no child that a program's wait()
 * sees. Returns its id, negative if there is none; errno says why. The caller has no use for `file`
 * then.
 */
pid_t writer_start(struct shared *shared, int file, struct pug_outfile *named, const uint8_t *bytes,
                   size_t size);

/** Is it there? With `wait` not before it ended. */
bool writer_lives(pid_t writer, bool wait);

/** Wait for the semaphore, but not for ever. */
void writer_wait(sem_t *semaphore);

#endif
