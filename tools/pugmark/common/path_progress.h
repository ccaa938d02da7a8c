// SPDX-License-Identifier: MIT
/** @file How far reading a path is: a file, or what a program that runs just now writes. */
#ifndef PUGMARK_TOOL_PATH_PROGRESS_H
#define PUGMARK_TOOL_PATH_PROGRESS_H

#include "recorder/path.h"

struct path_progress {
    uint64_t size;  /* of the file; 0: it has none, a program writes it */
    uint64_t limit; /* instructions that are wanted; 0: all */
    uint64_t items, instructions;
    double start, last; /* in seconds: when it was drawn */
    bool wanted;
    size_t drawn; /* characters on the line */
};

struct path_progress path_progress_begin(int file, uint64_t limit, bool quiet);

/** Another item was read. */
void path_progress_show(struct path_progress *progress, const struct rec_path_reader *reader,
                        const struct rec_path_item *item);

void path_progress_end(struct path_progress *progress);

#endif
