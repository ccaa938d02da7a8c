// SPDX-License-Identifier: MIT
/** @file The program of a path and the files that it mapped code of, for their names. */
#ifndef PUG_RECORDER_PROGRAMS_H
#define PUG_RECORDER_PROGRAMS_H

#include "recorder/path.h"

#define REC_PROGRAMS 64u

struct rec_programs {
    struct {
        char *path;
        uint64_t bias; /**< how far it was moved */
    } items[REC_PROGRAMS];
    unsigned count;
};

/** The item may tell of one. Each file is taken once, where it was first. */
void rec_programs_take(struct rec_programs *programs, const struct rec_path_item *item);
void rec_programs_free(struct rec_programs *programs);

/** Copies of those that are still there, as rec_programs_name() says; the others are forgotten.
 * False: one could not be written, and errno says why. */
bool rec_programs_copy(struct rec_programs *programs, const char *folder);

/** The name of the n-th copy below the folder: a folder of its own, and the program's name. */
void rec_programs_name(const struct rec_programs *programs, unsigned n, char *name, size_t size);

#endif
