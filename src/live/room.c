// SPDX-License-Identifier: MIT
#include "live/room.h"

#include <stdlib.h>

#ifdef _WIN32

struct pug_live_room *pug_live_room_new(const struct pug_live_room_options *options)
{
    (void)options;
    return NULL;
}

void pug_live_room_free(struct pug_live_room *room)
{
    (void)room;
}

bool pug_live_room_begin(struct pug_live_room *room, int file, int saved, bool reads_back)
{
    (void)room;
    (void)file;
    (void)saved;
    (void)reads_back;
    return false;
}

void pug_live_room_end(struct pug_live_room *room)
{
    (void)room;
}

int64_t pug_live_room_take(struct pug_live_room *room, uint8_t *bytes, size_t size, int timeout,
                           uint64_t *dropped)
{
    (void)room;
    (void)bytes;
    (void)size;
    (void)timeout;
    (void)dropped;
    return PUG_LIVE_ERROR;
}

bool pug_live_room_stopped(const struct pug_live_room *room)
{
    (void)room;
    return false;
}

int pug_live_room_save_error(struct pug_live_room *room, uint64_t *at)
{
    (void)room;
    (void)at;
    return 0;
}

#else

#include "files/whole.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BLOCK   ((size_t)64 << 10)
/* A peer is held back for so long before bytes are dropped: as long as decoding goes on, this costs
 * it nothing. */
#define HOLD_MS 100

struct pug_live_room {
    struct pug_live_room_options options;
    uint8_t *bytes;
    pthread_t thread;
    bool started;
    int file, saved;
    bool reads_back;
    struct pug_live_tcl tcl;       /* of the thread */
    int end_pipe[2], came_pipe[2]; /* wake the thread, and the caller */

    pthread_mutex_t lock; /* guards what follows */
    uint64_t head, tail, taken, kept, written;
    uint64_t dropped; /* bytes after `head`, while the caller is behind */
    bool waiting, ending, over, stopped;
    int error, save_error;
};

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

/* ---- the thread ---- */

/** How long poll() may wait. */
static int time_left(const struct pug_live_room *room)
{
    if (!room->options.until)
        return -1;
    const uint64_t time = now();
    const uint64_t left = time < room->options.until ? room->options.until - time : 0;
    return left < INT_MAX ? (int)left : INT_MAX;
}

/** False: reading is over. */
static bool wait_for_bytes(struct pug_live_room *room, bool *stopped)
{
    struct pollfd files[] = {{.fd = room->file, .events = POLLIN},
                             {.fd = room->options.stop, .events = POLLIN},
                             {.fd = room->end_pipe[0], .events = POLLIN}};
    int ready;
    do {
        ready = poll(files, 3, time_left(room));
    } while (ready < 0 && errno == EINTR);
    *stopped = ready == 0 || (ready > 0 && files[1].revents);
    return ready > 0 && !files[1].revents && !files[2].revents;
}

static void wake_caller(struct pug_live_room *room)
{
    if (!room->waiting)
        return;
    room->waiting = false;
    const ssize_t written = write(room->came_pipe[1], "", 1);
    (void)written;
}

static void save(struct pug_live_room *room, const uint8_t *bytes, size_t size)
{
    if (room->saved < 0 || room->save_error)
        return;
    const bool good = pug_write_whole(room->saved, bytes, size);
    const int error = errno;
    pthread_mutex_lock(&room->lock);
    if (good) {
        room->written += size;
        room->kept = room->reads_back ? room->written : 0;
    } else {
        room->save_error = error ? error : EIO;
    }
    pthread_mutex_unlock(&room->lock);
}

/** With the lock: how many of these bytes fit now. Bytes that were taken, or are saved, make room.
 */
static size_t make_room(struct pug_live_room *room, size_t wanted)
{
    uint64_t spare = room->options.size - (room->head - room->tail);
    uint64_t limit = room->taken > room->kept ? room->taken : room->kept;
    if (room->options.newest || limit > room->head)
        limit = room->head;
    if (spare < wanted && limit > room->tail) {
        const uint64_t more = wanted - spare;
        room->tail += more < limit - room->tail ? more : limit - room->tail;
        spare = room->options.size - (room->head - room->tail);
    }
    return spare < wanted ? (size_t)spare : wanted;
}

/** With the lock. */
static size_t put_some(struct pug_live_room *room, const uint8_t *bytes, size_t size)
{
    const size_t room_size = room->options.size;
    const size_t count = make_room(room, size < room_size ? size : room_size);
    const size_t at = (size_t)(room->head % room_size);
    const size_t first = count < room_size - at ? count : room_size - at;
    memcpy(room->bytes + at, bytes, first);
    memcpy(room->bytes, bytes + first, count - first);
    room->head += count;
    return count;
}

/** With the lock, which is given up meanwhile: wait until something fits. False: nothing does. */
static bool hold_peer(struct pug_live_room *room)
{
    const struct timespec moment = {.tv_nsec = 1000000};
    for (unsigned i = 0; room->options.holds && !room->ending && i < HOLD_MS; i++) {
        pthread_mutex_unlock(&room->lock);
        nanosleep(&moment, NULL);
        pthread_mutex_lock(&room->lock);
        if (make_room(room, 1) > 0)
            return true;
    }
    return false;
}

static void put(struct pug_live_room *room, const uint8_t *bytes, size_t size)
{
    pthread_mutex_lock(&room->lock);
    while (size > 0 && room->dropped == 0) {
        const size_t count = put_some(room, bytes, size);
        wake_caller(room);
        bytes += count;
        size -= count;
        if (size > 0 && count == 0 && !hold_peer(room))
            break;
    }
    room->dropped += size;
    wake_caller(room);
    pthread_mutex_unlock(&room->lock);
}

/** False: the peer is gone; the other side of a pseudo terminal, or a probe that was unplugged, is
 * an end, too. */
static bool read_block(struct pug_live_room *room, uint8_t *block, int *error)
{
    ssize_t got;
    do {
        got = read(room->file, block, BLOCK);
    } while (got < 0 && errno == EINTR);
    if (got <= 0) {
        *error = got < 0 && !pug_live_is_gone(errno) ? errno : 0;
        return false;
    }
    const size_t size =
        room->options.tcl ? pug_live_tcl(&room->tcl, block, (size_t)got) : (size_t)got;
    if (size > 0) {
        save(room, block, size);
        put(room, block, size);
    }
    return true;
}

static void *read_peer(void *context)
{
    struct pug_live_room *room = context;
    uint8_t block[BLOCK];
    bool stopped = false;
    int error = 0;
    while (wait_for_bytes(room, &stopped) && read_block(room, block, &error))
        ;
    pthread_mutex_lock(&room->lock);
    room->over = true;
    room->stopped = stopped;
    room->error = error;
    wake_caller(room);
    pthread_mutex_unlock(&room->lock);
    return NULL;
}

/* ---- the caller ---- */

/** With the lock: bytes that the room holds. */
static int64_t take_held(struct pug_live_room *room, uint8_t *bytes, size_t size)
{
    const size_t room_size = room->options.size;
    const uint64_t there = room->head - room->taken;
    const size_t count = there < size ? (size_t)there : size;
    const size_t at = (size_t)(room->taken % room_size);
    const size_t first = count < room_size - at ? count : room_size - at;
    memcpy(bytes, room->bytes + at, first);
    memcpy(bytes + first, room->bytes, count - first);
    room->taken += count;
    return (int64_t)count;
}

/** With the lock, which is given up meanwhile: bytes that the saved file alone holds. */
static int64_t take_saved(struct pug_live_room *room, uint8_t *bytes, size_t size)
{
    const uint64_t at = room->taken;
    const uint64_t there = (room->kept < room->tail ? room->kept : room->tail) - at;
    const size_t count = there < size ? (size_t)there : size;
    pthread_mutex_unlock(&room->lock);
    const ssize_t got = pread(room->saved, bytes, count, (off_t)at);
    pthread_mutex_lock(&room->lock);
    if (got > 0)
        room->taken += (uint64_t)got;
    return got > 0 ? got : PUG_LIVE_ERROR;
}

/** With the lock. PUG_LIVE_PAUSE: nothing is there yet. */
static int64_t take_now(struct pug_live_room *room, uint8_t *bytes, size_t size, uint64_t *dropped)
{
    if (room->taken < room->tail && room->taken < room->kept)
        return take_saved(room, bytes, size);
    if (room->taken < room->tail) {
        *dropped = room->tail - room->taken;
        room->taken = room->tail;
        return PUG_LIVE_GAP;
    }
    if (room->taken < room->head)
        return take_held(room, bytes, size);
    if (room->dropped > 0) {
        *dropped = room->dropped;
        room->dropped = 0;
        return PUG_LIVE_GAP;
    }
    errno = room->error;
    return !room->over ? PUG_LIVE_PAUSE : room->error ? PUG_LIVE_ERROR : PUG_LIVE_OVER;
}

/** With the lock, which is given up meanwhile. False: nothing came. */
static bool wait_for_thread(struct pug_live_room *room, int timeout)
{
    struct pollfd file = {.fd = room->came_pipe[0], .events = POLLIN};
    char bytes[16];
    int ready;
    room->waiting = true;
    pthread_mutex_unlock(&room->lock);
    do {
        ready = poll(&file, 1, timeout);
    } while (ready < 0 && errno == EINTR);
    if (ready > 0) {
        const ssize_t got = read(file.fd, bytes, sizeof(bytes));
        (void)got;
    }
    pthread_mutex_lock(&room->lock);
    room->waiting = false;
    return ready > 0;
}

int64_t pug_live_room_take(struct pug_live_room *room, uint8_t *bytes, size_t size, int timeout,
                           uint64_t *dropped)
{
    int64_t got;
    bool more = true;
    *dropped = 0;
    pthread_mutex_lock(&room->lock);
    while ((got = take_now(room, bytes, size, dropped)) == PUG_LIVE_PAUSE && more)
        more = wait_for_thread(room, timeout);
    const int error = errno;
    pthread_mutex_unlock(&room->lock);
    errno = error;
    return got;
}

bool pug_live_room_stopped(const struct pug_live_room *room)
{
    struct pug_live_room *changing = (struct pug_live_room *)(uintptr_t)room;
    pthread_mutex_lock(&changing->lock);
    const bool stopped = room->stopped;
    pthread_mutex_unlock(&changing->lock);
    return stopped;
}

int pug_live_room_save_error(struct pug_live_room *room, uint64_t *at)
{
    pthread_mutex_lock(&room->lock);
    const int error = room->save_error > 0 ? room->save_error : 0;
    *at = room->written;
    if (error)
        room->save_error = -1; /* it was reported */
    pthread_mutex_unlock(&room->lock);
    return error;
}

/* ---- beginning and end ---- */

static bool make_pipe(int ends[2])
{
    if (pipe(ends) != 0)
        return false;
    for (unsigned i = 0; i < 2; i++) {
        (void)fcntl(ends[i], F_SETFD, FD_CLOEXEC);
        (void)fcntl(ends[i], F_SETFL, O_NONBLOCK);
    }
    return true;
}

static void close_pipe(const int ends[2])
{
    for (unsigned i = 0; i < 2; i++)
        if (ends[i] >= 0)
            close(ends[i]);
}

struct pug_live_room *pug_live_room_new(const struct pug_live_room_options *options)
{
    struct pug_live_room *room = calloc(1, sizeof(*room));
    if (!room)
        return NULL;
    room->options = *options;
    room->end_pipe[0] = room->end_pipe[1] = room->came_pipe[0] = room->came_pipe[1] = -1;
    pthread_mutex_init(&room->lock, NULL);
    room->bytes = malloc(options->size);
    if (room->bytes && make_pipe(room->end_pipe) && make_pipe(room->came_pipe)) {
        memset(room->bytes, 0, options->size); /* memory does not grow later */
        return room;
    }
    pug_live_room_free(room);
    return NULL;
}

bool pug_live_room_begin(struct pug_live_room *room, int file, int saved, bool reads_back)
{
    room->file = file;
    room->saved = saved;
    room->reads_back = reads_back;
    room->tcl = (struct pug_live_tcl){.digit = -1};
    room->head = room->tail = room->taken = room->kept = room->written = room->dropped = 0;
    room->ending = room->over = room->stopped = false;
    room->error = 0;
    errno = pthread_create(&room->thread, NULL, read_peer, room);
    room->started = errno == 0;
    return room->started;
}

void pug_live_room_end(struct pug_live_room *room)
{
    char byte;
    if (!room->started)
        return;
    pthread_mutex_lock(&room->lock);
    room->ending = true;
    pthread_mutex_unlock(&room->lock);
    const ssize_t written = write(room->end_pipe[1], "", 1);
    (void)written;
    pthread_join(room->thread, NULL);
    const ssize_t got = read(room->end_pipe[0], &byte, 1);
    (void)got;
    room->started = false;
}

void pug_live_room_free(struct pug_live_room *room)
{
    if (!room)
        return;
    pug_live_room_end(room);
    close_pipe(room->end_pipe);
    close_pipe(room->came_pipe);
    pthread_mutex_destroy(&room->lock);
    free(room->bytes);
    free(room);
}

#endif
