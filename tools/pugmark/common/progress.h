// SPDX-License-Identifier: MIT
/**
 * @file How far a long piece of work is, how fast, and how long it will take, on a terminal, from
 * its first second on.
 */
#ifndef PUGMARK_TOOL_PROGRESS_H
#define PUGMARK_TOOL_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct progress {
    uint64_t all;
    double start, last; /**< in seconds: when it was drawn */
    bool wanted;
    const char *what;    /**< what is counted, such as "files"; NULL: bytes */
    size_t drawn;        /**< characters on the line */
    bool (*go_on)(void); /**< may end the work; or NULL */
    unsigned lines;      /**< read of a file */
};

/** Begins with so many bytes. */
struct progress progress_begin(uint64_t all, bool quiet, bool (*go_on)(void));
/** Counts other things than bytes. */
struct progress progress_begin_count(uint64_t all, const char *what, bool quiet);

/** Begins with the bytes of a file that is read; of a pipe nothing is shown. */
struct progress progress_begin_file(FILE *file, bool quiet);
/** Shows how far the file is read, a line further. */
void progress_show_file(struct progress *progress, FILE *file);

/** So much is done; `progress` is a struct progress. False: the work is to end. */
bool progress_show(void *progress, uint64_t done);

void progress_end(struct progress *progress);

/* ---- for other kinds of progress ---- */

/** The time in seconds, of a clock that never goes back. */
double progress_now(void);
/** "1.2 GB/s", "15 files/s": a rate; `what` as above. */
void progress_rate(char *text, size_t size, double rate, const char *what);
/** "45 %, 120 MB/s, 12 s left". */
void progress_text(char *text, size_t size, uint64_t done, uint64_t all, double seconds,
                   const char *what);
/** Draws a line over the one before, of which *drawn characters are there. */
void progress_draw(const char *text, size_t *drawn);
void progress_wipe(size_t *drawn);

#endif
