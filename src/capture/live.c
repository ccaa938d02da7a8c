// SPDX-License-Identifier: MIT
/** @file Trace from a stream, as it comes: what was read and not used is kept, and no more. */
#include "live/live.h"
#include "capture/raw.h"
#include "pugmark/author/protocol.h"
#include "pugmark/author/transport.h"
#include "transport/coresight_guess.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The number of bytes that are read at a time. */
#define BLOCK ((size_t)64 << 10)
/* Before that many bytes nothing can be said of frames, and then not while more are coming. */
#define LEAST_AHEAD   32u
#define PAUSE_MS      5
#define SCAN_PAUSE_MS 100 /* while sources are looked for */
/* So many first bytes are looked at for what is wrong, if there are as many. */
#define SAMPLE      4096u
#define LEAST_DOUBT 64u

static uint8_t *held(struct pug_capture_raw *raw)
{
    return (uint8_t *)(uintptr_t)raw->bytes.bytes;
}

/** The last `size` bytes that came are among the first ones that stay. False: no memory. */
static bool keep(struct pug_capture_raw *raw, uint64_t size)
{
    struct pug_capture_bytes *begin = &raw->begin;
    const uint8_t *bytes = held(raw) + (raw->bytes.size - size);
    if (size > raw->kept - begin->size)
        size = raw->kept - begin->size;
    if (size == 0)
        return true;
    uint8_t *grown = realloc((void *)(uintptr_t)begin->bytes, (size_t)(begin->size + size));
    if (!grown)
        return false;
    memcpy(grown + begin->size, bytes, (size_t)size);
    begin->bytes = grown;
    begin->size += size;
    return true;
}

bool pug_capture_keep_begin(struct pug_capture *capture, uint64_t most)
{
    struct pug_capture_raw *raw = capture->own;
    if (!capture->live)
        return true;
    raw->kept = most;
    return keep(raw, raw->bytes.size);
}

const uint8_t *pug_capture_begun(const struct pug_capture *capture, uint64_t *size, uint64_t *came)
{
    static const uint8_t nothing[1];
    const struct pug_capture_raw *raw = capture->own;
    if (capture->ops != &pug_capture_raw_ops || !raw->begun)
        return NULL;
    *size = raw->begin.size;
    *came = raw->used + raw->bytes.size;
    return raw->begin.bytes ? raw->begin.bytes : nothing;
}

/** Without memory for what comes it is over. */
static int64_t starve(struct pug_capture *capture, enum pug_status *status)
{
    struct pug_capture_raw *raw = capture->own;
    *status = PUG_ERR_MEM;
    pug_capture_starve(capture);
    raw->open = false;
    return PUG_LIVE_OVER;
}

/** All bytes before the gap were given; what is left of them is a part of something. */
static void restart(struct pug_capture *capture)
{
    struct pug_capture_raw *raw = capture->own;
    raw->bytes.size = 0;
    raw->asked = UINT64_MAX;
    capture->restarted = true;
    capture->dropped += capture->gap_dropped;
    capture->gap = false;
    capture->gap_dropped = 0;
}

/** Wait for more bytes, at most so long. PUG_LIVE_OVER: there are none, or *status says why. */
static int64_t read_more(struct pug_capture *capture, int timeout, enum pug_status *status)
{
    struct pug_capture_raw *raw = capture->own;
    const uint64_t wanted = raw->bytes.size + BLOCK;
    const uint64_t room = wanted > raw->room ? wanted + raw->room : raw->room;
    uint8_t *grown = room > raw->room ? realloc(held(raw), (size_t)room) : held(raw);
    if (!grown)
        return starve(capture, status);
    raw->bytes.bytes = grown;
    raw->room = room;
    const int64_t got = pug_live_read(capture->stream, grown + raw->bytes.size, BLOCK, timeout);
    if (got > 0) {
        raw->bytes.size += (uint64_t)got;
        return keep(raw, (uint64_t)got) ? got : starve(capture, status);
    }
    /* Bytes that are read into memory first belong to one connection. */
    if (got == PUG_LIVE_GAP && capture->live)
        pug_capture_stream_gap(capture);
    if ((got == PUG_LIVE_GAP && capture->live) || got == PUG_LIVE_PAUSE)
        return got;
    if (got == PUG_LIVE_ERROR) {
        *status = PUG_ERR_FILE;
        pug_capture_say(capture, PUG_SEV_ERROR, PUG_OK, "%s: %s", capture->path,
                        pug_live_why(capture->stream));
    }
    raw->open = false;
    return PUG_LIVE_OVER;
}

enum pug_status pug_capture_live_open(struct pug_capture *capture)
{
    struct pug_capture_raw *raw = capture->own;
    raw->asked = UINT64_MAX;
    raw->open = capture->live = true;
    raw->bytes = capture->head;
    raw->room = capture->head.bytes ? PUG_LIVE_ENOUGH : 0;
    capture->head = (struct pug_capture_bytes){0};
    return PUG_OK;
}

enum pug_status pug_capture_live_ahead(struct pug_capture *capture,
                                       bool (*shows)(const uint8_t *bytes, size_t size),
                                       uint64_t most)
{
    const struct pug_capture_raw *raw = capture->own;
    const uint64_t least =
        shows || raw->bytes.size < LEAST_AHEAD ? LEAST_AHEAD : raw->bytes.size + 1;
    enum pug_status status = PUG_OK;
    while (raw->open && !capture->gap && raw->bytes.size < most &&
           !(shows && shows(raw->bytes.bytes, (size_t)raw->bytes.size))) {
        const int timeout = raw->bytes.size < least ? -1 : shows ? PAUSE_MS : SCAN_PAUSE_MS;
        if (read_more(capture, timeout, &status) == PUG_LIVE_PAUSE)
            break;
    }
    return status;
}

/* ---- what is wrong at once ---- */

/** All bytes are this one. */
static bool is_all(const uint8_t *bytes, size_t size, uint8_t value)
{
    return size > 0 && bytes[0] == value && memcmp(bytes, bytes + 1, size - 1) == 0;
}

/** The likely cause of the first bytes' being what they are; NULL: they look well. */
static const char *doubt(const struct pug_capture_raw *raw, bool serial)
{
    const uint8_t *bytes = raw->bytes.bytes;
    const size_t size = raw->bytes.size < SAMPLE ? (size_t)raw->bytes.size : SAMPLE;
    const bool plain = raw->transport->single, itm = strcasecmp(raw->protocol->name, "itm") == 0;
    if (is_all(bytes, size, 0) || is_all(bytes, size, 0xff))
        return bytes[0] ? "only bytes 0xff: is the line's level right, and the trace clock set?"
               : serial ? "only zeros: is the line connected, and is its rate "
                          "(serial:DEVICE@BAUD) that of the SWO pin?"
                        : "only zeros: is the line connected, and the trace clock set?";
    if (plain && pug_coresight_fsyncs(bytes, size))
        return "synchronisations of a TPIU's frames: is it --transport coresight?";
    if (itm && strcmp(raw->transport->name, "coresight") == 0 &&
        !pug_coresight_fsyncs(bytes, size) &&
        pug_live_guess(bytes, size, false, false) == PUG_LIVE_ITM)
        return "synchronisation packets of an ITM, and no frames: is it --transport plain?";
    return NULL;
}

/** Say once, of the first bytes, what seems to be wrong. */
static void say_doubt(const struct pug_capture *capture)
{
    struct pug_capture_raw *raw = capture->own;
    if (raw->used > 0 || raw->bytes.size < LEAST_DOUBT || raw->doubted)
        return;
    raw->doubted = true;
    const char *words = doubt(raw, pug_live_where(capture->stream)->scheme == PUG_LIVE_SERIAL);
    if (words)
        pug_capture_say(capture, PUG_SEV_WARN, PUG_OK, "%s: the first bytes are %s", capture->path,
                        words);
}

/** Bytes at a wrong rate may look like packets: the first ones of a serial line are looked at. */
static void say_rate(const struct pug_capture *capture)
{
    struct pug_capture_raw *raw = capture->own;
    if (raw->rated || raw->begin.size < PUG_LIVE_RATE_SAMPLE)
        return;
    raw->rated = true;
    if (strcasecmp(raw->protocol->name, "itm") == 0 && raw->transport->single && !capture->unknown)
        (void)pug_capture_stream_rate(capture, raw->begin.bytes, raw->begin.size);
}

/** Used bytes are forgotten. */
static void forget(struct pug_capture_raw *raw, uint64_t from)
{
    const uint64_t used = from - raw->used;
    if (used == 0 || used > raw->bytes.size)
        return;
    memmove(held(raw), held(raw) + used, (size_t)(raw->bytes.size - used));
    raw->bytes.size -= used;
    raw->used = from;
}

size_t pug_capture_live_read(struct pug_capture *capture, uint64_t from, uint8_t *bytes,
                             size_t size, enum pug_status *status)
{
    struct pug_capture_raw *raw = capture->own;
    capture->restarted = false;
    capture->dropped = 0;
    forget(raw, from);
    /* a second request for the same had too little of it */
    uint64_t known = raw->asked == from ? raw->bytes.size : 0;
    raw->asked = from;
    raw->begun = true;
    while (raw->open && raw->bytes.size <= size && raw->bytes.size <= known) {
        if (!capture->gap) {
            (void)read_more(capture, -1, status);
            continue;
        }
        restart(capture);
        known = 0;
    }
    if (pug_capture_stream_waits(capture)) {
        say_doubt(capture);
        say_rate(capture);
    }
    if (from != raw->used || (!raw->open && raw->bytes.size <= known)) {
        capture->live = false;
        return 0;
    }
    if (size > raw->bytes.size)
        size = (size_t)raw->bytes.size;
    if (size > 0)
        memcpy(bytes, raw->bytes.bytes, size);
    return size;
}

void pug_capture_live_settle(struct pug_capture *capture)
{
    struct pug_capture_raw *raw = capture->own;
    enum pug_status status = PUG_OK;
    capture->live = false;
    if (!raw->begun)
        pug_capture_release(&raw->begin);
    raw->kept = raw->begin.size;
    while (raw->open)
        (void)read_more(capture, -1, &status);
    if (capture->buffers.count > 0) {
        pug_capture_buffers(capture)->size = raw->bytes.size;
        pug_capture_segments(capture)->size = raw->bytes.size;
    }
}
