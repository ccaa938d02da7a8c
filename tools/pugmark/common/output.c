// SPDX-License-Identifier: MIT
#include "output.h"
#include "common/messages.h"

#include "command.h"
#include "files/whole.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    char bytes[4 * OUTPUT_ROOM];
    size_t count;
    bool closed;
    int error;
} out;

static const struct output_target *file;

void output_into(const struct output_target *wanted)
{
    file = wanted;
}

const struct output_target *output_where(void)
{
    return file;
}

static void note_result(bool good)
{
    if (good)
        return;
    out.closed = true;
    out.error = errno ? errno : EIO;
}

static void write_bytes(const char *bytes, size_t count)
{
    if (file && count > 0 && !out.closed) {
        note_result(file->write(file->context, bytes, count));
    } else if (!out.closed && !pug_write_whole(STDOUT_FILENO, bytes, count)) {
        out.closed = true;
        out.error = errno == EPIPE ? 0 : errno;
    }
}

static void write_out(void)
{
    write_bytes(out.bytes, out.count);
    out.count = 0;
}

static _Thread_local struct output_text_buffer *target;

/* The place where a buffer that cannot grow is written instead. */
static _Thread_local char lost[OUTPUT_ROOM];

static char *buffer_room(struct output_text_buffer *buffer)
{
    if (buffer->full && buffer->count >= OUTPUT_BUFFER && !buffer->failed)
        buffer->full(buffer);
    if (!buffer->failed && buffer->room - buffer->count < OUTPUT_ROOM) {
        /* much follows where it is not little: all at once, since growing is copying */
        size_t room = buffer->room ? buffer->room * 2 + OUTPUT_BUFFER : 2 * (size_t)OUTPUT_ROOM;
        char *grown = realloc(buffer->bytes, room);
        buffer->failed = !grown;
        if (grown) {
            buffer->bytes = grown;
            buffer->room = room;
        }
    }
    return buffer->failed ? lost : buffer->bytes + buffer->count;
}

void output_to(struct output_text_buffer *buffer)
{
    target = buffer;
}

char *output_room(void)
{
    if (target)
        return buffer_room(target);
    if (sizeof(out.bytes) - out.count < OUTPUT_ROOM)
        write_out();
    return out.bytes + out.count;
}

void output_took(size_t size)
{
    if (!target)
        out.count += size;
    else if (!target->failed)
        target->count += size;
}

void output_buffer(const struct output_text_buffer *buffer)
{
    if (buffer->failed)
        out.error = ENOMEM;
    out.closed |= buffer->failed;
    write_out();
    write_bytes(buffer->bytes, buffer->count);
}

void output_place(unsigned process, uint64_t at, uint64_t size)
{
    write_out();
    if (!out.closed)
        note_result(file->place(file->context, process, at, size));
}

/** Is nothing in it that could steer a terminal? Lines and tabs do not. */
static bool is_tame(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text >= 0x7f ||
            ((unsigned char)*text < ' ' && *text != '\n' && *text != '\t'))
            return false;
    return true;
}

/** Names in it are of an input: line by line, as they are shown. */
static void put_tamed(const char *text)
{
    char *copy = strdup(text), *rest = copy;
    out.error = copy ? out.error : ENOMEM;
    out.closed |= !copy;
    while (rest && *rest) {
        const size_t length = strcspn(rest, "\n\t");
        char end[2] = {rest[length], 0};
        rest[length] = 0;
        pug_sink_printable(output_sink(), rest);
        pug_sink_text(output_sink(), end);
        rest += length + (end[0] != 0);
    }
    free(copy);
}

void output_text(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = output_room();
    int n = vsnprintf(text, OUTPUT_ROOM, format, args);
    va_end(args);
    if (n <= 0)
        return;
    if (is_tame(text))
        output_took((size_t)n < OUTPUT_ROOM ? (size_t)n : OUTPUT_ROOM - 1);
    else
        put_tamed(text);
}

static void put_bytes(void *context, const void *bytes, size_t size)
{
    const char *at = bytes;
    (void)context;
    while (size > 0) {
        const size_t piece = size < OUTPUT_ROOM ? size : OUTPUT_ROOM;
        memcpy(output_room(), at, piece);
        output_took(piece);
        at += piece;
        size -= piece;
    }
}

struct pug_sink *output_sink(void)
{
    static struct pug_sink sink = {.put = put_bytes};
    return &sink;
}

bool output_wanted(void)
{
    return !out.closed;
}

void output_flush(void)
{
    write_out();
}

int output_end(void)
{
    write_out();
    if (out.error == 0)
        return EXIT_DONE;
    message_say("pugmark: cannot write the output: %s\n", strerror(out.error));
    return EXIT_INPUT;
}
