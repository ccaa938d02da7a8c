// SPDX-License-Identifier: MIT
/** @file Opening a stream, and finding out what it is when no option says it. */
#include "capture/capture.h"
#include "live/live.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PAUSE_MS 5

static void say_of_stream(void *context, const char *text)
{
    const struct pug_capture *capture = context;
    pug_capture_say(capture, PUG_SEV_WARN, PUG_OK, "%s: %s", capture->path, text);
}

static struct pug_live_options options_of(struct pug_capture *capture)
{
    const struct pug_capture_stream *live = capture->options.live;
    struct pug_live_options options = {.stop = -1, .say = say_of_stream, .context = capture};
    if (!live)
        return options;
    options.retry = live->retry;
    options.retry_ms = live->retry_ms;
    options.duration_ms = live->duration_ms;
    options.save = live->save;
    options.ring = live->ring;
    options.stop = live->has_stop ? live->stop : -1;
    return options;
}

/** More of the head; false: there is no more, or *status says why. */
static bool read_head(struct pug_capture *capture, bool *paused, bool *ended,
                      enum pug_status *status)
{
    struct pug_capture_bytes *head = &capture->head;
    uint8_t *bytes = (uint8_t *)(uintptr_t)head->bytes + head->size;
    const size_t room = PUG_LIVE_ENOUGH - (size_t)head->size;
    const int timeout = head->size == 0 || *paused ? -1 : PAUSE_MS;
    const int64_t got = pug_live_read(capture->stream, bytes, room, timeout);
    *paused = got == PUG_LIVE_PAUSE;
    *ended = got == PUG_LIVE_OVER;
    if (got > 0)
        head->size += (uint64_t)got;
    if (got == PUG_LIVE_GAP && head->size > 0) { /* it shows what it is, or never will */
        pug_capture_stream_gap(capture);
        *ended = true;
    }
    if (got == PUG_LIVE_ERROR) {
        pug_capture_say(capture, PUG_SEV_ERROR, PUG_OK, "%s: %s", capture->path,
                        pug_live_why(capture->stream));
        *status = PUG_ERR_FILE;
    }
    return got != PUG_LIVE_ERROR;
}

void pug_capture_stream_gap(struct pug_capture *capture)
{
    const uint64_t dropped = pug_live_dropped(capture->stream);
    capture->gap = true;
    capture->gap_dropped += dropped;
    if (dropped > 0)
        pug_capture_say(capture, PUG_SEV_WARN, PUG_OK,
                        "%s: %llu bytes were dropped: decoding is slower than the input; --save "
                        "FILE keeps all",
                        capture->path, (unsigned long long)dropped);
}

/** No byte came: likely causes. */
static enum pug_status refuse_silence(struct pug_capture *capture)
{
    const struct pug_live_place *place = pug_live_where(capture->stream);
    const char *cause = place->silence                   ? place->silence
                        : place->scheme == PUG_LIVE_FILE ? "what writes into it wrote nothing"
                        : place->scheme == PUG_LIVE_SERIAL
                            ? "is SWO enabled, and is its pin the one that is wired?"
                            : "the peer sent nothing: is SWO or the trace port enabled there?";
    pug_capture_say(capture, PUG_SEV_ERROR, PUG_OK, "%s: no byte came: %s", capture->path, cause);
    return PUG_ERR_FILE;
}

static void take_mark(struct pug_capture_bytes *head)
{
    if (head->size < PUG_LIVE_MARK_SIZE ||
        memcmp(head->bytes, PUG_LIVE_MARK, PUG_LIVE_MARK_SIZE) != 0)
        return;
    head->size -= PUG_LIVE_MARK_SIZE;
    memmove((uint8_t *)(uintptr_t)head->bytes, head->bytes + PUG_LIVE_MARK_SIZE,
            (size_t)head->size);
}

bool pug_capture_stream_rate(const struct pug_capture *capture, const uint8_t *bytes, uint64_t size)
{
    const uint32_t rate = capture->stream ? pug_live_line_rate(capture->stream) : 0;
    const uint32_t right = rate > 0 ? pug_live_rate(bytes, (size_t)size, rate) : 0;
    if (right > 0)
        pug_capture_say(capture, PUG_SEV_WARN, PUG_OK,
                        "%s: the bytes look like text that is sent at %u baud and read at %u: is "
                        "it serial:%s@%u?",
                        capture->path, (unsigned)right, (unsigned)rate,
                        pug_live_where(capture->stream)->path, (unsigned)right);
    return right > 0;
}

/** Nothing that is known begins so. */
static void say_unknown(const struct pug_capture *capture)
{
    const bool serial = pug_live_where(capture->stream)->scheme == PUG_LIVE_SERIAL;
    if (pug_capture_stream_rate(capture, capture->head.bytes, capture->head.size))
        return;
    pug_capture_say(capture, PUG_SEV_WARN, PUG_OK,
                    "%s: no ITM, TPIU frames or ORBFLOW in the first %llu bytes: %s", capture->path,
                    (unsigned long long)capture->head.size,
                    serial ? "is the line's rate (serial:DEVICE@BAUD) that of the SWO pin?"
                           : "is it another protocol (--protocol)?");
}

static bool waits_for_sync(const struct pug_capture_options *options)
{
    const struct pug_settings given = {.items = options->settings.items,
                                       .count = options->settings.count};
    const struct pug_setting *guess = pug_settings_find(&given, "guess_sync");
    return guess && guess->value == 0;
}

/** The recognised kind becomes the options. */
static void describe(struct pug_capture *capture, enum pug_live_kind kind)
{
    struct pug_capture_options *options = &capture->options;
    const char *transport = kind == PUG_LIVE_TPIU      ? "coresight"
                            : kind == PUG_LIVE_ORBFLOW ? "orbflow"
                                                       : "plain";
    options->protocol = "itm";
    if (!options->transport)
        options->transport = transport;
    if (kind == PUG_LIVE_TPIU)
        capture->guessed = "fsyncs";
    if (kind == PUG_LIVE_ITM_OPEN && !waits_for_sync(options)) {
        capture->begins = true;
        pug_capture_say(capture, PUG_SEV_WARN, PUG_OK,
                        "%s: not synchronised: text may begin wrongly: no synchronisation packet "
                        "came yet, so it begins with the first byte by a guess; --set guess_sync=0 "
                        "waits for one",
                        capture->path);
    }
    if (kind == PUG_LIVE_UNKNOWN) {
        capture->unknown = true;
        say_unknown(capture);
    }
    if (kind == PUG_LIVE_ORBFLOW)
        take_mark(&capture->head);
}

static enum pug_status recognise(struct pug_capture *capture, bool *perf)
{
    enum pug_live_kind kind = PUG_LIVE_UNDECIDED;
    enum pug_status status = PUG_OK;
    bool paused = false, ended = false;
    capture->head.bytes = malloc(PUG_LIVE_ENOUGH);
    if (!capture->head.bytes)
        return PUG_ERR_MEM;
    while (kind == PUG_LIVE_UNDECIDED) {
        if (!read_head(capture, &paused, &ended, &status))
            return status;
        if (ended && capture->head.size == 0)
            return refuse_silence(capture);
        kind = pug_live_guess(capture->head.bytes, (size_t)capture->head.size, paused, ended);
    }
    *perf = kind == PUG_LIVE_PERF;
    if (!*perf)
        describe(capture, kind);
    return PUG_OK;
}

enum pug_status pug_capture_open_stream(struct pug_capture *capture, bool *perf)
{
    struct pug_live_place place;
    const char *why;
    if (!pug_live_place(capture->path, &place, &why)) {
        pug_capture_say(capture, PUG_SEV_ERROR, PUG_OK, "%s: %s", capture->path, why);
        return PUG_ERR_INVALID_PARAM_VAL;
    }
    const struct pug_live_options options = options_of(capture);
    const enum pug_status status = pug_live_open(&place, &options, &capture->stream);
    if (status == PUG_ERR_FILE)
        pug_capture_say(capture, PUG_SEV_ERROR, PUG_OK, "%s: %s", capture->path,
                        pug_live_why(capture->stream));
    if (status != PUG_OK || capture->options.protocol || capture->options.params)
        return status;
    return recognise(capture, perf);
}

bool pug_capture_stream_waits(const struct pug_capture *capture)
{
    return capture->stream && pug_live_where(capture->stream)->scheme != PUG_LIVE_FILE;
}

int64_t pug_capture_stream_read(struct pug_capture *capture, void *bytes, size_t size)
{
    return capture->stream ? pug_live_read(capture->stream, bytes, size, -1) : PUG_LIVE_ERROR;
}
