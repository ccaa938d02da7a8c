// SPDX-License-Identifier: MIT
/**
 * @file CoreSight architecture, trace formatter: bytes 0 to 14 data or ids, byte 15 their low bits.
 */
#include "recorder/frames.h"

#include <string.h>

/* The architecture requires that the id is repeated now and then, for readers that start in the
 * middle. */
#define REPEAT_ID_AFTER 7u

static void close_frame(struct rec_frames *frames)
{
    static const uint8_t sync[] = {0xff, 0xff, 0xff, 0x7f};
    if (frames->sync_every && frames->frames++ % frames->sync_every == 0)
        rec_put_n(frames->out, sync, sizeof(sync));
    rec_put_n(frames->out, frames->frame, sizeof(frames->frame));
    memset(frames->frame, 0, sizeof(frames->frame));
    frames->at = 0;
    frames->without_id++;
}

static void put_id(struct rec_frames *frames, unsigned at, uint8_t id)
{
    frames->frame[at] = (uint8_t)(id << 1 | 1);
    frames->id = id;
    frames->without_id = 0;
}

static void put_byte(struct rec_frames *frames, uint8_t byte)
{
    unsigned at = frames->at % sizeof(frames->frame);
    if (at % 2 == 1) {
        frames->frame[at] = byte;
    } else {
        frames->frame[at] = byte & 0xfe;
        frames->frame[15] |= (uint8_t)((byte & 1) << at / 2);
    }
    if (++frames->at == 15)
        close_frame(frames);
}

/** The id changes in front of the next byte. */
static void change_id(struct rec_frames *frames, uint8_t id)
{
    unsigned at = frames->at;
    if (at % 2 == 0) {
        put_id(frames, at, id);
        if (++frames->at == 15)
            close_frame(frames);
        return;
    }
    /* The byte before moves after the id and stays with the old source: its flag bit says so. */
    unsigned pair = at / 2;
    uint8_t before = (uint8_t)(frames->frame[2 * pair] | (frames->frame[15] >> pair & 1));
    frames->frame[2 * pair + 1] = before;
    put_id(frames, 2 * pair, id);
    frames->frame[15] |= (uint8_t)(1u << pair);
    frames->at++;
}

/** What a formatter is free to do: bytes of the null source between those of others. */
static void put_padding(struct rec_frames *frames)
{
    if (!frames->random || !rec_random_once_in(frames->random, 60))
        return;
    change_id(frames, 0);
    for (uint32_t n = 1 + rec_random_below(frames->random, 20); n > 0; n--)
        put_byte(frames, 0);
}

void rec_frames_put(struct rec_frames *frames, uint8_t id, const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        put_padding(frames);
        bool repeat = (frames->at == 0 && frames->without_id >= REPEAT_ID_AFTER) ||
                      (frames->random && rec_random_once_in(frames->random, 40));
        if (id != frames->id || repeat)
            change_id(frames, id);
        put_byte(frames, data[i]);
    }
}

void rec_frames_finish(struct rec_frames *frames)
{
    if (frames->at == 0)
        return;
    change_id(frames, 0);
    while (frames->at != 0)
        put_byte(frames, 0);
}
