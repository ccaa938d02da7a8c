// SPDX-License-Identifier: MIT
/** @file Copies of functions inside others: what a compiler inlined, by DWARF. */
#ifndef PUG_NAMES_COPIES_H
#define PUG_NAMES_COPIES_H

#include "pugmark/names.h"

/** From `start` up to `end`, which is not in it. */
struct pug_names_range {
    uint64_t start, end;
};

/** A copy of a function inside another one. */
struct pug_names_copy {
    const char *function;      /**< linkage name, else the name in the source */
    const char *declared_path; /**< where the function is declared; NULL: not known */
    const char *call_path;     /**< of the call that it stands for; NULL: not known */
    uint32_t call_line;
    const struct pug_names_range *ranges; /**< by start; those that touch are one */
    size_t range_count;                   /**< 0: no instruction is left of it */
};

/**
 * Calls `take` for each copy of a file, until it returns false. PUG_ERR_NOT_FOUND: the file has no
 * such information; PUG_ERR_MEM.
 */
enum pug_status pug_names_copies(struct pug_names_file *file,
                                 bool (*take)(void *context, const struct pug_names_copy *copy),
                                 void *context);

#endif
