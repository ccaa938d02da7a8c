// SPDX-License-Identifier: MIT
#include "output.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SIZE ((size_t)1 << 16)

static void write_out(struct output *output)
{
    if (output->path && *output->path && !output->opened) {
        output->file = fopen(output->path, "a");
        output->opened = true;
    }
    if (output->to_stdout)
        fwrite(output->buffer, 1, output->used, stdout);
    if (output->to_stderr)
        fwrite(output->buffer, 1, output->used, stderr);
    if (output->file)
        fwrite(output->buffer, 1, output->used, output->file);
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

void output_close(struct output *output)
{
    if (output->used > 0)
        write_out(output);
    if (output->file)
        fclose(output->file);
    fflush(stdout);
    free(output->buffer);
    *output = (struct output){.path = NULL};
}
