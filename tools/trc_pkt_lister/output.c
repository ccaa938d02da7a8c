// SPDX-License-Identifier: MIT
#include "output.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SIZE ((size_t)1 << 16)

static void keep_error(struct output *output, bool good)
{
    if (!good && !output->error)
        output->error = errno ? errno : EIO;
}

static void write_to(struct output *output, FILE *file)
{
    if (file)
        keep_error(output, fwrite(output->buffer, 1, output->used, file) == output->used);
}

static void write_out(struct output *output)
{
    if (output->path && *output->path && !output->opened) {
        output->file = fopen(output->path, "a"); /* as the reference: without one it goes on */
        output->opened = true;
    }
    write_to(output, output->to_stdout ? stdout : NULL);
    write_to(output, output->to_stderr ? stderr : NULL);
    write_to(output, output->file);
    output->used = 0;
}

static void need(struct output *output, size_t size)
{
    char *grown = realloc(output->buffer, size);
    if (!grown) {
        fputs("trc_pkt_lister: out of memory\n", stderr);
        exit(EXIT_FAILURE);
    }
    output->buffer = grown;
    output->size = size;
}

struct pug_text output_begin(struct output *output)
{
    if (!output->buffer)
        need(output, FIRST_SIZE);
    if (output->size - output->used < FIRST_SIZE / 4)
        write_out(output);
    return PUG_TEXT(output->buffer + output->used, output->size - output->used);
}

bool output_end(struct output *output, const struct pug_text *text)
{
    if (text->length > text->size) {
        write_out(output);
        if (text->length > output->size)
            need(output, text->length + FIRST_SIZE);
        return false;
    }
    output->used += text->length;
    return true;
}

void output_print(struct output *output, const char *format, ...)
{
    struct pug_text text;
    int length;
    do {
        va_list args;
        text = output_begin(output);
        va_start(args, format);
        length = vsnprintf(text.buffer, text.size, format, args);
        va_end(args);
        text.length = length > 0 ? (size_t)length + 1 : 0; /* with the NUL it must fit */
    } while (!output_end(output, &text));
    output->used -= text.length > 0;
}

bool output_close(struct output *output)
{
    if (output->used > 0)
        write_out(output);
    if (output->file)
        keep_error(output, fclose(output->file) == 0);
    keep_error(output, fflush(stdout) == 0);
    const bool good = output->error == 0;
    if (!good)
        fprintf(stderr, "trc_pkt_lister: cannot write the listing: %s\n", strerror(output->error));
    free(output->buffer);
    *output = (struct output){.path = NULL};
    return good;
}
