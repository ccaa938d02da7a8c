// SPDX-License-Identifier: MIT
/** @file Times of captures that nothing dates but the trace itself. */
#include "base/bisect.h"
#include "capture/marks.h"

#include <inttypes.h>
#include <stdlib.h>

#define SECOND UINT64_C(1000000000)

/* ---- what timestamps count ---- */

void pug_capture_settle_ticks(struct pug_capture *capture, const struct pug_settings *settings)
{
    capture->local_hertz = pug_settings_number(settings, "local_timestamp_hz", 0);
    capture->global_hertz = pug_settings_number(settings, "timestamp_hz", 0);
    capture->hertz = capture->global_hertz ? capture->global_hertz : capture->local_hertz;
    if (capture->hertz > 0)
        capture->times = (struct pug_capture_time){
            .unit = PUG_CAPTURE_NANOSECONDS,
            .origin = pug_capture_keep_format(
                capture, "trace timestamps, %" PRIu64 " a second, from their 0 on",
                capture->hertz)};
    else
        capture->times =
            (struct pug_capture_time){.unit = PUG_CAPTURE_TICKS, .origin = "trace timestamps"};
}

uint64_t pug_capture_from_ticks(const struct pug_capture *capture, uint64_t ticks)
{
    const uint64_t hertz = capture->hertz;
    if (hertz == 0)
        return ticks;
    const uint64_t seconds = ticks / hertz;
    /* The rest is below `hertz`, which may be more than 64 bits allow to multiply. */
    const uint64_t rest = hertz <= UINT64_MAX / SECOND
                              ? ticks % hertz * SECOND / hertz
                              : (uint64_t)((double)(ticks % hertz) / (double)hertz * 1e9);
    return seconds > (UINT64_MAX - rest) / SECOND ? UINT64_MAX : seconds * SECOND + rest;
}

static uint64_t value_of(const void *capture, uint64_t ticks)
{
    return pug_capture_from_ticks(capture, ticks);
}

uint64_t pug_capture_to_ticks(const struct pug_capture *capture, uint64_t time)
{
    return capture->hertz == 0 ? time : pug_bisect_value(0, UINT64_MAX, time, value_of, capture);
}

/* ---- segments ---- */

const struct pug_capture_marks *pug_capture_marks_of(struct pug_capture *capture, uint32_t segment)
{
    if (capture->live)
        return NULL;
    pthread_mutex_lock(&capture->marks_lock);
    if (!capture->marks)
        capture->marks = calloc(capture->segments.count, sizeof(struct pug_capture_marks *));
    capture->starved |= !capture->marks;
    struct pug_capture_marks *marks = capture->marks ? capture->marks[segment] : NULL;
    if (capture->marks && !marks && (marks = pug_capture_marks_new(capture)) != NULL) {
        pug_capture_marks_read(marks, segment);
        capture->marks[segment] = marks;
    }
    pthread_mutex_unlock(&capture->marks_lock);
    return marks;
}

struct pug_swo_clock pug_capture_swo_clock(struct pug_capture *capture, uint32_t buffer,
                                           uint16_t source)
{
    struct pug_swo_clock clock = {.local_hertz = capture->local_hertz,
                                  .global_hertz = capture->global_hertz};
    const struct pug_capture_buffer *place = pug_capture_buffer_at(capture, buffer);
    if (pug_swo_clock_is_local(&clock) || !place || place->segment_count == 0)
        return clock;
    const struct pug_capture_marks *marks =
        pug_capture_marks_of(capture, (uint32_t)place->first_segment);
    clock.awaits = marks && pug_capture_marks_anchored(marks, source);
    return clock;
}

void pug_capture_drop_marks(struct pug_capture *capture)
{
    for (size_t i = 0; capture->marks && i < capture->segments.count; i++)
        pug_capture_marks_free(capture->marks[i]);
    free(capture->marks);
}
