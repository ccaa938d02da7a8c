// SPDX-License-Identifier: MIT
#include "stream.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct {
    pthread_mutex_t lock;
    int file; /* -1: none */
    struct buffer out, kept;
    uint64_t origin;
    enum rec_path_family family;
    unsigned flags;
} stream = {.lock = PTHREAD_MUTEX_INITIALIZER, .file = -1};

/* ---- buffers ---- */

bool buffer_reserve(struct buffer *buffer, size_t more)
{
    if (buffer->room - buffer->size >= more)
        return true;
    size_t room = (buffer->size + more) * 2;
    uint8_t *grown = realloc(buffer->bytes, room);
    if (!grown)
        return false;
    buffer->bytes = grown;
    buffer->room = room;
    return true;
}

void buffer_number(struct buffer *buffer, uint64_t value)
{
    if (!buffer_reserve(buffer, 10))
        return;
    for (; value > 0x7f; value >>= 7)
        buffer->bytes[buffer->size++] = (uint8_t)(0x80 | (value & 0x7f));
    buffer->bytes[buffer->size++] = (uint8_t)value;
}

void buffer_bytes(struct buffer *buffer, const void *bytes, size_t size)
{
    if (!buffer_reserve(buffer, size))
        return;
    memcpy(buffer->bytes + buffer->size, bytes, size);
    buffer->size += size;
}

/* ---- the file ---- */

uint64_t stream_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec - stream.origin;
}

void stream_lock(void)
{
    pthread_mutex_lock(&stream.lock);
}

void stream_unlock(void)
{
    pthread_mutex_unlock(&stream.lock);
}

bool stream_is_open(void)
{
    return stream.file >= 0;
}

/** Who reads may be gone: then there is nothing to write for. The program must not notice. */
static void write_all(const uint8_t *bytes, size_t size)
{
    sigset_t pipe, before;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, &before);
    while (size > 0 && stream.file >= 0) {
        ssize_t wrote = write(stream.file, bytes, size);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0) {
            if (errno != EPIPE)
                perror("pugmark: cannot write the path");
            else
                sigtimedwait(&pipe, NULL, &(struct timespec){0});
            close(stream.file);
            stream.file = -1;
            break;
        }
        bytes += wrote;
        size -= (size_t)wrote;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void flush_out(void)
{
    write_all(stream.out.bytes, stream.out.size);
    stream.out.size = 0;
}

static void put(const uint8_t *bytes, size_t size)
{
    buffer_bytes(&stream.out, bytes, size);
    if (stream.out.size >= STREAM_BUFFER)
        flush_out();
}

static void put_header(void)
{
    buffer_bytes(&stream.out, REC_PATH_MAGIC, REC_PATH_MAGIC_SIZE);
    buffer_number(&stream.out, stream.family);
    buffer_number(&stream.out, stream.flags);
    buffer_number(&stream.out, (uint64_t)getpid());
}

/** A descriptor far from those that the program counts on. */
static int move_high(int file)
{
    if (file < 0)
        return -1;
    int high = fcntl(file, F_DUPFD_CLOEXEC, 500);
    if (high < 0)
        return file;
    close(file);
    return high;
}

static int open_high(const char *path)
{
    return move_high(open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
}

bool stream_open(const char *path, int file, enum rec_path_family family, unsigned flags)
{
    stream.origin = stream_clock();
    stream.family = family;
    stream.flags = flags;
    stream.file = file >= 0 ? move_high(file) : open_high(path);
    if (stream.file < 0)
        return false;
    put_header();
    return true;
}

void stream_record(const struct buffer *record, bool keep)
{
    put(record->bytes, record->size);
    if (keep)
        buffer_bytes(&stream.kept, record->bytes, record->size);
}

void stream_events(unsigned cpu, uint64_t time, const uint8_t *events, size_t size)
{
    if (size == 0)
        return;
    buffer_number(&stream.out, REC_PATH_EVENTS);
    buffer_number(&stream.out, cpu);
    buffer_number(&stream.out, time);
    buffer_number(&stream.out, size);
    put(events, size);
    flush_out();
}

bool stream_reopen(const char *path)
{
    stream_abandon();
    stream.file = open_high(path);
    if (stream.file < 0)
        return false;
    put_header();
    put(stream.kept.bytes, stream.kept.size);
    return true;
}

void stream_abandon(void)
{
    pthread_mutex_init(&stream.lock, NULL); /* another thread of the parent may have held it */
    if (stream.file >= 0)
        close(stream.file);
    stream.file = -1;
    stream.out.size = 0;
}

void stream_close(void)
{
    if (stream.file < 0)
        return;
    const uint8_t end = REC_PATH_END;
    put(&end, 1);
    flush_out();
    if (stream.file >= 0)
        close(stream.file);
    stream.file = -1;
}
