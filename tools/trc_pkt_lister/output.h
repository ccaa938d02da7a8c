// SPDX-License-Identifier: MIT
/**
 * @file Where the listing goes: any of stdout, stderr and a file, through a buffer. A long one is
 * written by a thread of its own, while the next buffer is filled.
 */
#ifndef LISTER_OUTPUT_H
#define LISTER_OUTPUT_H

#include "base/text.h"

#include <stdbool.h>
#include <stdio.h>

struct output_writer;

struct output {
    bool to_stdout, to_stderr;
    const char *path; /* file to append to; NULL or "": none */
    bool opened;
    FILE *file;
    int error; /* errno of what could not be written first */
    char *buffer;
    size_t used, size;
    struct output_writer *writer; /* NULL: there is none, yet */
    bool alone;                   /* there cannot be one */
};

/**
 * Append text to the listing:
 *
 *     struct pug_text text;
 *     do {
 *         text = output_begin(output);
 *         pug_listing_element(&text, element);
 *     } while (!output_end(output, &text));      // again, with more room, where it did not fit
 */
struct pug_text output_begin(struct output *output);
bool output_end(struct output *output, const struct pug_text *text);

void output_print(struct output *output, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Write what is buffered, and close the file; false, having said why, if all could not be written.
 */
bool output_close(struct output *output);

#endif
