// SPDX-License-Identifier: MIT
#include "stream.h"

#include "files/outfile.h"
#include "writer.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static struct {
    pthread_mutex_t lock;
    struct shared *shared;
    pid_t writer;
    bool closed; /* nothing is taken any more */
    struct buffer kept;
    uint64_t origin;
    enum rec_path_family family;
    unsigned flags;
} stream = {.lock = PTHREAD_MUTEX_INITIALIZER, .closed = true};

/* ---- numbers ---- */

size_t put_number(uint8_t *to, uint64_t value)
{
    size_t size = 0;
    for (; value > 0x7f; value >>= 7)
        to[size++] = (uint8_t)(0x80 | (value & 0x7f));
    to[size++] = (uint8_t)value;
    return size;
}

size_t put_event(uint8_t *to, uint64_t hits, enum rec_path_event kind, uint64_t operand)
{
    size_t size = hits > 0 ? put_number(to, hits << 1) : 0;
    return size + put_number(to + size, operand << 4 | (uint64_t)kind << 1 | 1);
}

bool buffer_reserve(struct buffer *buffer, size_t more)
{
    if (buffer->bytes && buffer->room - buffer->size >= more)
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
    if (buffer_reserve(buffer, 10))
        buffer->size += put_number(buffer->bytes + buffer->size, value);
}

void buffer_bytes(struct buffer *buffer, const void *bytes, size_t size)
{
    if (!buffer_reserve(buffer, size))
        return;
    memcpy(buffer->bytes + buffer->size, bytes, size);
    buffer->size += size;
}

/* ---- the ring ---- */

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

/** Wait until so much has room. False: the reader has ended. */
static bool make_room(size_t size)
{
    struct shared *shared = stream.shared;
    while (!stream.closed && shared->put + size - shared->taken > SHARED_RING) {
        sem_post(&shared->filled);
        writer_wait(&shared->drained);
        if (shared->gone || !writer_lives(stream.writer, false))
            stream.closed = true;
    }
    return !stream.closed;
}

/** Into the ring from its byte `at` on. Returns where that ends. */
static uint64_t copy(uint64_t at, const uint8_t *bytes, size_t size)
{
    size_t from = at % SHARED_RING, first = SHARED_RING - from;
    if (first > size)
        first = size;
    memcpy(stream.shared->ring + from, bytes, first);
    memcpy(stream.shared->ring, bytes + first, size - first);
    return at + size;
}

void stream_record(const struct buffer *record, bool keep)
{
    if (make_room(record->size))
        stream.shared->put = copy(stream.shared->put, record->bytes, record->size);
    if (keep)
        buffer_bytes(&stream.kept, record->bytes, record->size);
}

/* ---- events ---- */

struct shared_cpu *stream_cpu(unsigned cpu)
{
    return &stream.shared->cpus[cpu];
}

uint8_t *stream_room(unsigned cpu)
{
    return stream.shared->events[cpu];
}

void stream_events(unsigned index)
{
    struct shared *shared = stream.shared;
    struct shared_cpu *cpu = &shared->cpus[index];
    struct tail tail = tail_unpack(cpu->tail);
    uint8_t head[40], rest[10];
    size_t size = 0, more = tail.hits > 0 ? put_number(rest, tail.hits << 1) : 0;
    size += put_number(head, REC_PATH_EVENTS);
    size += put_number(head + size, index);
    size += put_number(head + size, cpu->began);
    size += put_number(head + size, tail.size + more);
    if (tail.size + more > 0 && make_room(size + tail.size + more)) {
        uint64_t end = copy(shared->put, head, size);
        end = copy(end, shared->events[index], tail.size);
        end = copy(end, rest, more);
        cpu->sent = end;
        shared->put = end;
        sem_post(&shared->filled);
    }
    cpu->tail = tail_pack((struct tail){.cut = tail.cut});
    cpu->sent = 0;
    cpu->began = stream_clock();
}

/* ---- the file ---- */

static bool begin(const char *path, int file)
{
    struct buffer first = {NULL, 0, 0};
    struct pug_outfile *named = NULL;
    if (file < 0 && pug_outfile_open_any(path, &named) != PUG_OK)
        return false;
    if (named)
        file = pug_outfile_descriptor(named);
    stream.shared = mmap(NULL, sizeof(*stream.shared), PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    stream.writer = -1;
    buffer_bytes(&first, REC_PATH_MAGIC, REC_PATH_MAGIC_SIZE);
    buffer_number(&first, stream.family);
    buffer_number(&first, stream.flags);
    buffer_number(&first, (uint64_t)getpid());
    buffer_bytes(&first, stream.kept.bytes, stream.kept.size);
    if (stream.shared != MAP_FAILED) {
        sem_init(&stream.shared->filled, 1, 0);
        sem_init(&stream.shared->drained, 1, 0);
        stream.writer = writer_start(stream.shared, file, named, first.bytes, first.size);
    }
    int why = errno;
    if (!named)
        close(file);
    else if (stream.writer < 0)
        pug_outfile_abandon(named);
    else
        pug_outfile_hand_over(named);
    free(first.bytes);
    errno = why;
    stream.closed = stream.writer < 0;
    return !stream.closed;
}

bool stream_open(const char *path, int file, enum rec_path_family family, unsigned flags)
{
    stream.origin = stream_clock();
    stream.family = family;
    stream.flags = flags;
    return begin(path, file);
}

bool stream_reopen(const char *path)
{
    stream_abandon();
    return begin(path, -1);
}

void stream_abandon(void)
{
    pthread_mutex_init(&stream.lock, NULL); /* another thread of the parent may have held it */
    munmap(stream.shared, sizeof(*stream.shared));
    stream.closed = true;
}

void stream_close(void)
{
    stream_lock(); /* so that other threads that still run leave their events where they are */
    if (!stream.closed) {
        stream.shared->ended = true;
        sem_post(&stream.shared->filled);
        writer_lives(stream.writer, true);
    }
    stream.closed = true;
    stream_unlock();
}
