// SPDX-License-Identifier: MIT
/** @file A live input: opening it, reading, reconnecting, keeping its bytes. */
#include "live/live.h"

#include "files/whole.h"
#include "live/room.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#ifndef _WIN32
#include <poll.h>
#include <sys/socket.h>
#endif

#define RETRY_MS   250
#define SILENCE_MS 1000

struct pug_live {
    struct pug_live_place place;
    struct pug_live_options options;
    int file, listener;
    struct pug_live_save save;
    struct pug_live_room *room; /* NULL: bytes are read when they are wanted */
    struct pug_live_line *line;
    struct pug_live_tcl tcl;
    uint64_t came, until; /* until: in milliseconds; 0: for ever */
    uint64_t saved;       /* bytes of this connection */
    uint64_t dropped;     /* of the last gap */
    unsigned connections;
    bool stopped, silence_said;
    char why[512];
};

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

static void say(const struct pug_live *live, const char *text)
{
    if (live->options.say)
        live->options.say(live->options.context, text);
}

/* ---- waiting ---- */

#ifndef _WIN32
/** How long may still be waited, where `timeout` is the most; 0: the time is over. */
static int left(const struct pug_live *live, int timeout)
{
    if (!live->until)
        return timeout;
    const uint64_t time = now();
    const uint64_t most = time < live->until ? live->until - time : 0;
    return timeout < 0 || (uint64_t)timeout > most ? (int)(most < INT32_MAX ? most : INT32_MAX)
                                                   : timeout;
}
#endif

/** Wait for bytes; PUG_LIVE_OVER: it was stopped. 1: something is there. */
static int wait_for_bytes(struct pug_live *live, int timeout)
{
#ifdef _WIN32
    (void)live;
    (void)timeout;
    return 1;
#else
    for (;;) {
        struct pollfd both[] = {{.fd = live->file, .events = POLLIN},
                                {.fd = live->options.stop, .events = POLLIN}};
        const int most = left(live, timeout);
        const int ready = poll(both, 2, most);
        if (ready < 0 && errno != EINTR)
            return PUG_LIVE_ERROR;
        if (both[1].revents > 0 && ready > 0)
            break;
        if (ready > 0)
            return 1;
        if (live->until && now() >= live->until)
            break;
        if (ready == 0 && timeout >= 0)
            return PUG_LIVE_PAUSE;
    }
    live->stopped = true;
    return PUG_LIVE_OVER;
#endif
}

/* ---- keeping ---- */

/** Saving failed after so many bytes of the connection. */
static void say_unsaved(struct pug_live *live, int error, uint64_t at)
{
    char text[4096 + 256];
    live->save.failed = true;
    snprintf(text, sizeof(text), "--save %s: %s after %llu bytes: saving stopped, decoding goes on",
             live->save.path, strerror(error), (unsigned long long)at);
    say(live, text);
}

static void begin_save(struct pug_live *live)
{
    char why[4096 + 256];
    live->saved = 0;
    if (!pug_live_save_begin(&live->save, live->connections, why, sizeof(why)))
        say(live, why);
}

static void save(struct pug_live *live, const uint8_t *bytes, size_t size)
{
    if (live->save.file < 0 || live->save.failed)
        return;
    if (pug_write_whole(live->save.file, bytes, size))
        live->saved += size;
    else
        say_unsaved(live, errno, live->saved);
}

/** What the thread could not say. */
static void note_unsaved(struct pug_live *live)
{
    uint64_t at;
    const int error = pug_live_room_save_error(live->room, &at);
    if (error)
        say_unsaved(live, error, at);
    live->saved = at;
}

/* ---- connecting ---- */

static void close_peer(struct pug_live *live)
{
    if (live->file < 0)
        return;
    if (live->room) {
        pug_live_room_end(live->room);
        note_unsaved(live);
    }
    pug_live_save_end(&live->save, live->saved);
    pug_live_serial_end(live->line, live->file);
    live->line = NULL;
    close(live->file);
    live->file = -1;
}

static int open_once(struct pug_live *live, const char **why)
{
    const struct pug_live_place *place = &live->place;
    *why = NULL;
    switch (place->scheme) {
    case PUG_LIVE_FILE:
        return strcmp(place->path, "-") == 0 ? dup(STDIN_FILENO)
                                             : open(place->path, O_RDONLY | O_CLOEXEC);
    case PUG_LIVE_SERIAL: return pug_live_serial(place, &live->line, why);
    case PUG_LIVE_LISTEN:
        if (live->listener < 0)
            live->listener = pug_live_listen(place, why);
        return live->listener < 0 ? -1 : pug_live_accept(live->listener, live->options.stop);
    case PUG_LIVE_TCP:
    case PUG_LIVE_UNIX: break;
    }
    return pug_live_connect(place, live->options.stop, why);
}

/** A preset with two ports is tried at the second one, too. */
static int open_any(struct pug_live *live, const char **why)
{
    int file = open_once(live, why);
    if (file >= 0 || errno != ECONNREFUSED || !live->place.fallback)
        return file;
    char first[sizeof(live->place.port)];
    memcpy(first, live->place.port, strlen(live->place.port) + 1);
    snprintf(live->place.port, sizeof(live->place.port), "%u", (unsigned)live->place.fallback);
    file = open_once(live, why);
    if (file < 0)
        memcpy(live->place.port, first, strlen(first) + 1);
    return file;
}

static bool may_retry(const struct pug_live *live, int error, uint64_t since)
{
    const struct pug_live_options *options = &live->options;
    const bool passing = error == ECONNREFUSED || error == ENOENT || error == ENXIO ||
                         error == EIO || error == ETIMEDOUT || error == EHOSTUNREACH ||
                         error == ENETUNREACH || error == ENODEV || error == ECONNRESET;
    return options->retry && passing && live->place.scheme != PUG_LIVE_FILE &&
           (options->retry_ms == 0 || now() - since < options->retry_ms);
}

/** Sleep before the next try; false: it was stopped. */
static bool rest(struct pug_live *live)
{
    const int file = live->file;
    live->file = -1;
    const int waited = wait_for_bytes(live, RETRY_MS);
    live->file = file;
    return waited != PUG_LIVE_OVER;
}

static bool connect_peer(struct pug_live *live)
{
    const uint64_t since = now();
    const char *why;
    int error;
    while ((live->file = open_any(live, &why)) < 0) {
        error = errno;
        live->stopped |= error == EINTR;
        if (live->stopped || why || !may_retry(live, error, since)) {
            snprintf(live->why, sizeof(live->why), "%s%s%s",
                     why             ? why
                     : live->stopped ? "stopped before anything was there"
                                     : strerror(error),
                     live->place.hint ? ": " : "", live->place.hint ? live->place.hint : "");
            return false;
        }
        if (!rest(live)) {
            snprintf(live->why, sizeof(live->why), "%s: stopped while waiting for it",
                     strerror(error));
            return false;
        }
    }
    live->connections++;
    live->tcl = (struct pug_live_tcl){.digit = -1};
    if (live->place.tcl && !pug_write_whole(live->file, PUG_LIVE_TCL_ASK, strlen(PUG_LIVE_TCL_ASK)))
        snprintf(live->why, sizeof(live->why), "%s", strerror(errno));
    begin_save(live);
    if (!live->room ||
        pug_live_room_begin(live->room, live->file, live->save.failed ? -1 : live->save.file,
                            live->save.reads_back))
        return true;
    snprintf(live->why, sizeof(live->why), "%s", strerror(errno));
    return false;
}

/** Sockets and serial lines cannot wait; what writes into a pipe can. */
static bool make_room(struct pug_live *live)
{
    const struct pug_live_options *options = &live->options;
    const enum pug_live_scheme scheme = live->place.scheme;
#ifdef _WIN32
    return true;
#endif
    if (scheme == PUG_LIVE_FILE && !options->ring)
        return true;
    live->room = pug_live_room_new(&(struct pug_live_room_options){
        .size = options->ring ? (size_t)options->ring : PUG_LIVE_ROOM,
        .newest = options->ring > 0,
        .holds = scheme != PUG_LIVE_SERIAL,
        .tcl = live->place.tcl,
        .stop = options->stop,
        .until = live->until});
    return live->room != NULL;
}

enum pug_status pug_live_open(const struct pug_live_place *place,
                              const struct pug_live_options *options, struct pug_live **out)
{
    struct pug_live *live = calloc(1, sizeof(*live));
    *out = live;
    if (!live)
        return PUG_ERR_MEM;
    live->place = *place;
    live->options = *options;
    live->file = live->listener = live->save.file = -1;
    live->save.path = options->save;
    if (options->duration_ms)
        live->until = now() + options->duration_ms;
    if (!make_room(live))
        return PUG_ERR_MEM;
    return connect_peer(live) ? PUG_OK : PUG_ERR_FILE;
}

void pug_live_close(struct pug_live *live)
{
    close_peer(live);
}

void pug_live_free(struct pug_live *live)
{
    if (!live)
        return;
    close_peer(live);
    pug_live_room_free(live->room);
    if (live->listener >= 0)
        close(live->listener);
    free(live->save.connections);
    free(live);
}

/* ---- reading ---- */

/** The peer is gone: the end, or another connection follows. */
static int64_t lose_peer(struct pug_live *live)
{
    if (!live->options.retry || live->place.scheme == PUG_LIVE_FILE)
        return PUG_LIVE_OVER;
    close_peer(live);
    say(live, "the peer went away: waiting for it");
    if (connect_peer(live))
        return PUG_LIVE_GAP;
    return PUG_LIVE_OVER;
}

bool pug_live_is_gone(int error)
{
    return error == EIO || error == ECONNRESET || error == ENXIO || error == ENODEV ||
           error == ETIMEDOUT;
}

static int64_t fail(struct pug_live *live)
{
    snprintf(live->why, sizeof(live->why), "%s", strerror(errno));
    return PUG_LIVE_ERROR;
}

/** Read without a room. Notifications may hold no trace. */
static int64_t read_peer(struct pug_live *live, uint8_t *bytes, size_t size, int timeout)
{
    for (;;) {
        const int ready = wait_for_bytes(live, timeout);
        if (ready <= 0)
            return ready;
        const ssize_t got = read(live->file, bytes, size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && !pug_live_is_gone(errno))
            return fail(live);
        const size_t count = got < 0           ? 0
                             : live->place.tcl ? pug_live_tcl(&live->tcl, bytes, (size_t)got)
                                               : (size_t)got;
        save(live, bytes, count);
        if (count > 0 || got <= 0)
            return (int64_t)count;
    }
}

static int64_t take(struct pug_live *live, uint8_t *bytes, size_t size, int timeout)
{
    live->dropped = 0;
    if (!live->room)
        return read_peer(live, bytes, size, timeout);
    const int64_t got = pug_live_room_take(live->room, bytes, size, timeout, &live->dropped);
    if (got == PUG_LIVE_ERROR)
        (void)fail(live);
    if (got == PUG_LIVE_OVER)
        live->stopped |= pug_live_room_stopped(live->room);
    note_unsaved(live);
    return got;
}

/** Some servers say nothing until they are asked to: what to do is said after a second. */
static int64_t take_first(struct pug_live *live, uint8_t *bytes, size_t size, int timeout)
{
    char text[320];
    if (live->came > 0 || live->silence_said || timeout >= 0 || !live->place.silence)
        return take(live, bytes, size, timeout);
    const int64_t got = take(live, bytes, size, SILENCE_MS);
    if (got != PUG_LIVE_PAUSE)
        return got;
    live->silence_said = true;
    snprintf(text, sizeof(text), "nothing arrives: %s", live->place.silence);
    say(live, text);
    return take(live, bytes, size, timeout);
}

int64_t pug_live_read(struct pug_live *live, uint8_t *bytes, size_t size, int timeout)
{
    if (live->stopped || live->file < 0)
        return PUG_LIVE_OVER;
    const int64_t got = take_first(live, bytes, size, timeout);
    if (got == PUG_LIVE_OVER && !live->stopped)
        return lose_peer(live);
    live->came += got > 0 ? (uint64_t)got : live->dropped;
    return got;
}

/* ---- questions ---- */

const char *pug_live_why(const struct pug_live *live)
{
    return live->why;
}

bool pug_live_stopped(const struct pug_live *live)
{
    return live->stopped;
}

uint64_t pug_live_came(const struct pug_live *live)
{
    return live->came;
}

const struct pug_live_place *pug_live_where(const struct pug_live *live)
{
    return &live->place;
}

uint32_t pug_live_line_rate(const struct pug_live *live)
{
    return live->line ? pug_live_serial_rate(live->line) : 0;
}

uint64_t pug_live_dropped(const struct pug_live *live)
{
    return live->dropped;
}

const struct pug_live_connection *pug_live_connection_at(const struct pug_live *live, size_t n)
{
    return n < live->save.count ? &live->save.connections[n] : NULL;
}
