// SPDX-License-Identifier: MIT
/** @file What a channel's file holds: memory of an MTB, CoreSight frames, or packets alone. */
#include "ctrace/ctrace.h"

#include "base/bytes.h"

#include <string.h>

#define FRAME     16u
#define SYNC_SIZE 6u
#define TRIGGER   0x7du
#define FLUSH     0x7bu
#define MOST_IDS  8u

/** Execution between two packets of an MTB is straight on, and mostly short. */
bool pug_ctrace_is_mtb(const uint8_t *bytes, size_t size)
{
    size_t pairs = 0, near = 0;
    for (size_t at = 0; at + 16 <= size; at += 8) {
        const uint32_t source = pug_bytes_32(bytes + at), to = pug_bytes_32(bytes + at + 4) & ~1u;
        const uint32_t next = pug_bytes_32(bytes + at + 8) & ~1u;
        if (source == 0 && to == 0)
            continue;
        pairs++;
        near += next >= to && next - to < 0x1000;
    }
    return near > 0 && near >= pairs - pairs / 4;
}

/* ---- frames ---- */

/** Synchronisation packets of a port between frames, which no packet of an ITM looks like. */
static bool has_frame_syncs(const uint8_t *bytes, size_t size)
{
    static const uint8_t sync[4] = {0xff, 0xff, 0xff, 0x7f};
    size_t count = 0;
    for (size_t at = 0; at + sizeof(sync) <= size && count < 2; at++)
        count += memcmp(bytes + at, sync, sizeof(sync)) == 0;
    return count >= 2;
}

/**
 * Do aligned frames fit? A formatter changes to few ids, never to the one that it has, and to none
 * that is reserved.
 */
static bool has_frames(const uint8_t *bytes, size_t size)
{
    uint8_t seen[128] = {0};
    unsigned ids = 0, now = 0x80;
    for (size_t at = 0; at + FRAME <= size; at += FRAME)
        for (size_t n = 0; n < FRAME - 1; n += 2) {
            const unsigned id = bytes[at + n] >> 1;
            if (!(bytes[at + n] & 1))
                continue;
            if (id == now || (id >= 0x70 && id != TRIGGER && id != FLUSH))
                return false;
            now = id;
            ids += id > 0 && seen[id]++ == 0;
        }
    return ids > 0 && ids <= MOST_IDS;
}

/* ---- packets ---- */

/** The length of the ITM packet at the begin of some bytes, or 0: it is none, or is cut. */
static size_t packet_length(const uint8_t *bytes, size_t size)
{
    static const uint8_t payload[4] = {0, 1, 2, 4};
    const uint8_t header = bytes[0];
    size_t length = 1;
    if (header & 3)
        return 1u + payload[header & 3];
    if (header == 0) {
        while (length < size && bytes[length] == 0)
            length++;
        return length >= SYNC_SIZE - 1 && length < size && bytes[length] == 0x80 ? length + 1 : 0;
    }
    if ((header & 0x0f) == 4 && header != 0x94 && header != 0xb4)
        return 0;
    if (header & 0x80)
        while (length < size && length < 7 && bytes[length++] & 0x80)
            continue;
    return length;
}

/** Are there packets without a bad one, from the first synchronisation on? */
static bool has_packets(const uint8_t *bytes, size_t size)
{
    static const uint8_t sync[SYNC_SIZE] = {0, 0, 0, 0, 0, 0x80};
    size_t at = 0, length;
    while (at + SYNC_SIZE <= size && memcmp(bytes + at, sync, SYNC_SIZE) != 0)
        at++;
    if (at + SYNC_SIZE > size)
        return false;
    while (at < size && (length = packet_length(bytes + at, size - at)) > 0)
        at += length;
    return size < at + 2 * FRAME;
}

bool pug_ctrace_is_framed(const uint8_t *bytes, size_t size)
{
    return has_frame_syncs(bytes, size) || (has_frames(bytes, size) && !has_packets(bytes, size));
}
