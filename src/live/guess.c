// SPDX-License-Identifier: MIT
/** @file Finds out what the first bytes of a live stream are, when no option says it. */
#include "live/live.h"

#include <string.h>

#define ASYNC_ZEROS  5u
#define ASYNC_END    0x80
#define ENOUGH       16u /* packets without a reserved header */
#define COBS_LONG    0xff
#define ORBFLOW_MOST 4106u

static bool begins(const uint8_t *bytes, size_t size, const char *words, size_t length)
{
    return memcmp(bytes, words, size < length ? size : length) == 0;
}

static bool is_fsync(const uint8_t *bytes, size_t size)
{
    return size >= 4 && memcmp(bytes, "\xff\xff\xff\x7f", 4) == 0;
}

/* ---- ITM ---- */

/** The payload of a hardware source that exists has a size that it can have. */
static bool is_hardware(unsigned id, unsigned size)
{
    return (id == 0 && size == 1) || (id == 1 && size == 2) ||
           (id == 2 && (size == 1 || size == 4)) || (id >= 8 && id < 24);
}

/** Bytes of a packet of at most `most` continuations; 0: more are needed. */
static size_t continued(const uint8_t *bytes, size_t size, size_t most)
{
    size_t length = 1;
    while (length < size && length < most && bytes[length] & 0x80)
        length++;
    return length < size ? length + 1 : 0;
}

#define RESERVED SIZE_MAX

/** Bytes of zeros and what ends them; 0: more are needed. */
static size_t async_size(const uint8_t *bytes, size_t size)
{
    size_t zeros = 0;
    while (zeros < size && bytes[zeros] == 0)
        zeros++;
    if (zeros == size)
        return 0;
    return zeros >= ASYNC_ZEROS && bytes[zeros] == ASYNC_END ? zeros + 1 : RESERVED;
}

/** How long the packet is; 0: more bytes are needed; RESERVED: no packet begins so. */
static size_t packet_size(const uint8_t *bytes, size_t size)
{
    static const unsigned sizes[] = {0, 1, 2, 4};
    const uint8_t header = bytes[0];
    const unsigned payload = sizes[header & 3];
    if (header == 0)
        return async_size(bytes, size);
    if (payload > 0) {
        if (header & 4 && !is_hardware(header >> 3, payload))
            return RESERVED;
        return size > payload ? payload + 1 : 0;
    }
    if (header == 0x94 || header == 0xb4)
        return continued(bytes, size, 6);
    if ((header & 0x8f) == 0x08) /* stimulus port page */
        return 1;
    if ((header & 0x0f) != 0)
        return RESERVED;
    if (header < 0x80) /* overflow, short local timestamps */
        return 1;
    return header >= 0xc0 ? continued(bytes, size, 4) : RESERVED;
}

struct packets {
    size_t count;  /* whole ones */
    bool synced;   /* one of them is a synchronisation */
    bool reserved; /* a reserved header follows them, … */
    size_t at;     /* … here */
};

static struct packets look_at_packets(const uint8_t *bytes, size_t size)
{
    struct packets packets = {0};
    while (packets.at < size) {
        const size_t length = packet_size(bytes + packets.at, size - packets.at);
        packets.reserved = length == RESERVED;
        if (length == 0 || packets.reserved)
            break;
        packets.synced |= bytes[packets.at] == 0;
        packets.at += length;
        packets.count++;
    }
    return packets;
}

static size_t find(const uint8_t *bytes, size_t size, bool async)
{
    for (size_t at = 0; at < size; at++) {
        const size_t length = async && bytes[at] == 0 ? async_size(bytes + at, size - at) : 0;
        if (async ? length != 0 && length != RESERVED : is_fsync(bytes + at, size - at))
            return at;
    }
    return SIZE_MAX;
}

/* ---- ORBFLOW ---- */

/** Do these bytes, without a zero among them, decode to a tag, data and a right sum? */
static bool is_frame(const uint8_t *bytes, size_t size)
{
    uint8_t sum = 0, tag = 0;
    size_t count = 0, left = 0;
    uint8_t code = COBS_LONG;
    for (size_t i = 0; i < size; i++) {
        uint8_t byte = bytes[i];
        if (left == 0) {
            const bool zero = code != COBS_LONG;
            code = byte;
            left = (size_t)byte - 1;
            if (!zero)
                continue;
            byte = 0;
        } else {
            left--;
        }
        tag = count++ == 0 ? byte : tag;
        sum = (uint8_t)(sum + byte);
    }
    return left == 0 && count >= 3 && sum == 0 && tag > 0 && tag < 0x80;
}

static bool has_frame(const uint8_t *bytes, size_t size)
{
    size_t begin = 0;
    for (size_t at = 0; at < size; at++) {
        if (bytes[at] != 0)
            continue;
        if (at - begin <= ORBFLOW_MOST && is_frame(bytes + begin, at - begin))
            return true;
        begin = at + 1;
    }
    return false;
}

/** Could a packet of ITM begin here, of which the end is still to come? */
static bool may_be_frame(const uint8_t *bytes, size_t size)
{
    return size < ORBFLOW_MOST && (size < 2 || bytes[1] == 1) && !memchr(bytes, 0, size);
}

/* ---- all of it ---- */

static enum pug_live_kind guess_trace(const uint8_t *bytes, size_t size, bool paused)
{
    const struct packets packets = look_at_packets(bytes, size);
    const size_t fsync = find(bytes, size, false), async = find(bytes, size, true);
    if (packets.synced)
        return PUG_LIVE_ITM;
    if (fsync < async && (fsync == 0 || packets.reserved))
        return PUG_LIVE_TPIU;
    if (has_frame(bytes, size))
        return PUG_LIVE_ORBFLOW;
    if (async != SIZE_MAX)
        return PUG_LIVE_ITM;
    if (packets.reserved || may_be_frame(bytes, size))
        return PUG_LIVE_UNDECIDED;
    return packets.count >= ENOUGH || (paused && packets.count > 0) ? PUG_LIVE_ITM_OPEN
                                                                    : PUG_LIVE_UNDECIDED;
}

enum pug_live_kind pug_live_guess(const uint8_t *bytes, size_t size, bool paused, bool ended)
{
    static const char perf[] = "PERFILE2";
    if (size == 0)
        return ended ? PUG_LIVE_ITM : PUG_LIVE_UNDECIDED;
    if (begins(bytes, size, perf, 8) || begins(bytes, size, "2ELIFREP", 8)) {
        if (size >= 8)
            return PUG_LIVE_PERF;
        if (!ended)
            return PUG_LIVE_UNDECIDED;
    }
    if (begins(bytes, size, PUG_LIVE_MARK, PUG_LIVE_MARK_SIZE) &&
        (size >= PUG_LIVE_MARK_SIZE || !ended))
        return size >= PUG_LIVE_MARK_SIZE ? PUG_LIVE_ORBFLOW : PUG_LIVE_UNDECIDED;
    const enum pug_live_kind kind = guess_trace(bytes, size, paused || ended);
    return kind == PUG_LIVE_UNDECIDED && (ended || size >= PUG_LIVE_ENOUGH) ? PUG_LIVE_UNKNOWN
                                                                            : kind;
}
