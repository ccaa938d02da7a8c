// SPDX-License-Identifier: MIT
/** @file A text file underway, in memory. */
#ifndef PUG_RECORDER_PAGE_H
#define PUG_RECORDER_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct rec_page {
    FILE *file; /**< to write to */
    char *text; /**< free() it where it is not saved */
    size_t size;
};

/** Begin; false: no memory. */
bool rec_page_open(struct rec_page *page);
/** End; true: all of the text is there. */
bool rec_page_close(struct rec_page *page);
/** End, write the file, and free the text. False: it failed, and errno says why. */
bool rec_page_save(struct rec_page *page, const char *path);

#endif
