// SPDX-License-Identifier: MIT
/** @file How far reading a path is: of a few bytes that repeat much, how many blocks ran. */
#ifndef PUGMARK_TOOL_PATH_PROGRESS_H
#define PUGMARK_TOOL_PATH_PROGRESS_H

#include "recorder/path.h"

#include <time.h>

struct path_progress {
    uint64_t size; /* of the file; 0: not known */
    uint64_t items;
    time_t start;
    bool wanted;
    size_t drawn; /* characters on the line */
};

struct path_progress path_progress_begin(int file, bool quiet);

/** Another item was read. */
void path_progress_show(struct path_progress *progress, const struct rec_path_reader *reader);

void path_progress_end(struct path_progress *progress);

#endif
