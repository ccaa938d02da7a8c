// SPDX-License-Identifier: MIT
#include "output.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_SIZE ((size_t)1 << 17)

/** A thread that writes one buffer, while the other one is filled. */
struct output_writer {
    struct output *output;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    char *other;        /* the buffer that is not filled, and its size */
    size_t size, waits; /* so much of it is to be written; 0: it is free */
    bool ends;
};

static void keep_error(struct output *output, bool good)
{
    if (!good && !output->error)
        output->error = errno ? errno : EIO;
}

static void write_to(struct output *output, FILE *file, const char *bytes, size_t size)
{
    if (file)
        keep_error(output, fwrite(bytes, 1, size, file) == size);
}

static void write_all(struct output *output, const char *bytes, size_t size)
{
    if (output->path && *output->path && !output->opened) {
        output->file = fopen(output->path, "a"); /* as the reference: without one it goes on */
        output->opened = true;
    }
    write_to(output, output->to_stdout ? stdout : NULL, bytes, size);
    write_to(output, output->to_stderr ? stderr : NULL, bytes, size);
    write_to(output, output->file, bytes, size);
}

/* ---- the thread that writes ---- */

static void *write_on(void *context)
{
    struct output_writer *writer = context;
    pthread_mutex_lock(&writer->lock);
    while (writer->waits > 0 || !writer->ends) {
        if (writer->waits == 0) {
            pthread_cond_wait(&writer->changed, &writer->lock);
            continue;
        }
        pthread_mutex_unlock(&writer->lock);
        write_all(writer->output, writer->other, writer->waits);
        pthread_mutex_lock(&writer->lock);
        writer->waits = 0;
        pthread_cond_signal(&writer->changed);
    }
    pthread_mutex_unlock(&writer->lock);
    return NULL;
}

static void free_writer(struct output_writer *writer)
{
    pthread_mutex_destroy(&writer->lock);
    pthread_cond_destroy(&writer->changed);
    free(writer->other);
    free(writer);
}

static struct output_writer *new_writer(struct output *output)
{
    struct output_writer *writer = calloc(1, sizeof(*writer));
    if (!writer)
        return NULL;
    writer->output = output;
    writer->size = output->size;
    writer->other = malloc(writer->size);
    pthread_mutex_init(&writer->lock, NULL);
    pthread_cond_init(&writer->changed, NULL);
    if (writer->other && pthread_create(&writer->thread, NULL, write_on, writer) == 0)
        return writer;
    free_writer(writer);
    return NULL;
}

/** The buffer to the thread, once it has written the other one, which is filled next. */
static void hand_over(struct output_writer *writer)
{
    struct output *output = writer->output;
    char *const filled = output->buffer;
    const size_t size = output->size;
    pthread_mutex_lock(&writer->lock);
    while (writer->waits > 0)
        pthread_cond_wait(&writer->changed, &writer->lock);
    output->buffer = writer->other;
    output->size = writer->size;
    writer->other = filled;
    writer->size = size;
    writer->waits = output->used;
    pthread_cond_signal(&writer->changed);
    pthread_mutex_unlock(&writer->lock);
}

/** All that it was given is written then. */
static void end_writer(struct output *output)
{
    struct output_writer *writer = output->writer;
    if (!writer)
        return;
    pthread_mutex_lock(&writer->lock);
    writer->ends = true;
    pthread_cond_signal(&writer->changed);
    pthread_mutex_unlock(&writer->lock);
    pthread_join(writer->thread, NULL);
    free_writer(writer);
    output->writer = NULL;
}

/* ---- the buffer ---- */

static void write_out(struct output *output)
{
    if (output->used == 0)
        return;
    if (!output->writer && !output->alone)
        output->alone = !(output->writer = new_writer(output));
    if (output->writer)
        hand_over(output->writer);
    else
        write_all(output, output->buffer, output->used);
    output->used = 0;
}

static void need(struct output *output, size_t size)
{
    char *grown = realloc(output->buffer, size);
    if (!grown) {
        end_writer(output);
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
        if (length > 0)
            pug_text_tame(text.buffer, strlen(text.buffer)); /* names of the snapshot are in it */
        va_end(args);
        text.length = length > 0 ? (size_t)length + 1 : 0; /* with the NUL it must fit */
    } while (!output_end(output, &text));
    output->used -= text.length > 0;
}

bool output_close(struct output *output)
{
    end_writer(output);
    if (output->used > 0)
        write_all(output, output->buffer, output->used);
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
