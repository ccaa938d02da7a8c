// SPDX-License-Identifier: MIT
/** @file Trace from a stream, as it comes: what was read and not used is kept, and no more. */
#include "capture/raw.h"
#include "pugmark/author/transport.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What is read at a time. */
#define BLOCK ((size_t)64 << 10)
/* Frames are used when they are whole, and may begin anywhere: so much has one in it. */
#define FRAMES 64u

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

/** Nothing more comes. */
static void end(struct pug_capture_raw *raw)
{
    close(raw->stream);
    raw->stream = -1;
}

/** Without memory for what comes it is over. */
static bool starve(struct pug_capture *capture, enum pug_status *status)
{
    *status = PUG_ERR_MEM;
    pug_capture_starve(capture);
    end(capture->own);
    return false;
}

/** Wait for more bytes; false: there are none, or *status says why. */
static bool read_more(struct pug_capture *capture, enum pug_status *status)
{
    struct pug_capture_raw *raw = capture->own;
    uint8_t *grown = realloc(held(raw), (size_t)raw->bytes.size + BLOCK);
    ssize_t got = -1;
    if (!grown)
        return starve(capture, status);
    raw->bytes.bytes = grown;
    do {
        got = read(raw->stream, grown + raw->bytes.size, BLOCK);
    } while (got < 0 && errno == EINTR);
    if (got > 0) {
        raw->bytes.size += (uint64_t)got;
        return keep(raw, (uint64_t)got) || starve(capture, status);
    }
    if (got < 0) {
        *status = PUG_ERR_FILE;
        pug_capture_say(capture, PUG_SEV_ERROR, PUG_OK, "%s: %s", capture->path, strerror(errno));
    }
    end(raw);
    return false;
}

enum pug_status pug_capture_live_open(struct pug_capture *capture, size_t ahead)
{
    struct pug_capture_raw *raw = capture->own;
    enum pug_status status = PUG_OK;
    raw->stream = pug_capture_open_stream(capture);
    if (raw->stream < 0)
        return PUG_ERR_FILE;
    raw->asked = UINT64_MAX;
    capture->live = true;
    while (raw->stream >= 0 && raw->bytes.size < ahead && read_more(capture, &status))
        continue;
    return status;
}

/** What was used is forgotten. */
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
    forget(raw, from);
    /* Who asks again for the same had too little of it. */
    const uint64_t known = raw->asked == from ? raw->bytes.size : 0;
    const uint64_t least = raw->transport->single ? 1 : FRAMES;
    raw->asked = from;
    raw->begun = true;
    while (raw->stream >= 0 && raw->bytes.size <= size &&
           (raw->bytes.size <= known || raw->bytes.size < least) && read_more(capture, status))
        continue;
    if (from != raw->used || (raw->stream < 0 && raw->bytes.size <= known)) {
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
    capture->live = false;
    if (!raw->begun)
        pug_capture_release(&raw->begin);
    if (raw->stream >= 0) {
        if (pug_capture_slurp(capture, raw->stream, &raw->bytes) == PUG_ERR_MEM)
            pug_capture_starve(capture);
        end(raw);
    }
    if (capture->buffers.count > 0) {
        pug_capture_buffers(capture)->size = raw->bytes.size;
        pug_capture_segments(capture)->size = raw->bytes.size;
    }
}
