// SPDX-License-Identifier: MIT
/** @file The CoreSight formatter: byte streams of several sources into 16-byte frames. */
#ifndef PUG_RECORDER_FRAMES_H
#define PUG_RECORDER_FRAMES_H

#include "recorder/bytes.h"

struct rec_frames {
    struct rec_bytes *out;
    uint8_t frame[16];
    unsigned at;         /**< next byte of the frame */
    uint8_t id;          /**< source of the byte before */
    unsigned without_id; /**< frames since an id was written */
    unsigned sync_every; /**< full synchronisation in front of every n-th frame; 0 never */
    unsigned frames;
    struct rec_random *random; /**< now and then an unneeded id, or bytes of no source; NULL: never
                                */
};

void rec_frames_put(struct rec_frames *frames, uint8_t id, const uint8_t *data, size_t size);

/** Fill the last frame with the null source. */
void rec_frames_finish(struct rec_frames *frames);

#endif
