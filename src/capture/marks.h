// SPDX-License-Identifier: MIT
/** @file The times that a segment's own timestamps tell. */
#ifndef PUG_CAPTURE_MARKS_H
#define PUG_CAPTURE_MARKS_H

#include "capture/capture.h"
#include "swo/clock.h"

struct pug_capture_marks;

/** A timestamp in the trace. */
struct pug_capture_mark {
    uint64_t index, time;
    uint16_t source;
};

/** NULL: no memory. */
struct pug_capture_marks *pug_capture_marks_new(struct pug_capture *capture);
void pug_capture_marks_free(struct pug_capture_marks *marks); /**< may be NULL */
/** Read the timestamps of a segment. */
void pug_capture_marks_read(struct pug_capture_marks *marks, uint32_t segment);
/** The first timestamp of any source; false: there is none. */
bool pug_capture_marks_first(const struct pug_capture_marks *marks, uint64_t *time);
/** Have what others read last, which they do not have any more: for many that read with one. */
void pug_capture_marks_move(struct pug_capture_marks *marks, struct pug_capture_marks *from);
/**
 * The timestamp of a source that dates what begins at an index: the next one, or where there is
 * none the last; *until: it dates everything up to there. False: there is none at all.
 */
bool pug_capture_marks_time(const struct pug_capture_marks *marks, uint16_t source, uint64_t index,
                            uint64_t *time, uint64_t *until);

/** The first timestamp of a source, or of any (UINT32_MAX), that is not before a time. */
bool pug_capture_marks_since(const struct pug_capture_marks *marks, uint32_t source, uint64_t time,
                             struct pug_capture_mark *mark);
/** Did the source have a global timestamp of an ITM, which dates what was before it? */
bool pug_capture_marks_anchored(const struct pug_capture_marks *marks, uint16_t source);

/* ---- times.c: of captures whose segments are in memory, each read once ---- */

/** Where settings alone tell what timestamps count: the capture's unit. */
void pug_capture_settle_ticks(struct pug_capture *capture, const struct pug_settings *settings);
/** In the capture's unit. */
uint64_t pug_capture_from_ticks(const struct pug_capture *capture, uint64_t ticks);
/** The first tick that is at a time of that unit, or later. */
uint64_t pug_capture_to_ticks(const struct pug_capture *capture, uint64_t time);
/** The marks of a segment; NULL: it cannot be read twice, or there is no memory. */
const struct pug_capture_marks *pug_capture_marks_of(struct pug_capture *capture, uint32_t segment);
/** The clock of an ITM source of a buffer: the capture's rates, and whether it has global times. */
struct pug_swo_clock pug_capture_swo_clock(struct pug_capture *capture, uint32_t buffer,
                                           uint16_t source);
void pug_capture_drop_marks(struct pug_capture *capture);

#endif
