// SPDX-License-Identifier: MIT
/**
 * @file Temporary files: in the folder that TMPDIR names, or in /tmp. They go when they are closed.
 */
#ifndef PUG_FILES_SCRATCH_H
#define PUG_FILES_SCRATCH_H

#include <stdio.h>

/** The folder for scratch files. */
const char *pug_scratch_folder(void);

/** A new one, to be written and read; -1, with errno: there is none. */
int pug_scratch_open(void);

/** Opens it as a stream; NULL, with errno. */
FILE *pug_scratch_stream(void);

#endif
