// SPDX-License-Identifier: MIT
/**
 * @file Where a source begins that has no ASYNC: a memory buffer that wrapped begins anywhere.
 *
 * Bytes are read from each of the first offsets, as strictly as the architecture allows. Wrong
 * offsets soon meet a byte that begins no packet, or come to where the right one begins a packet,
 * too. Where all that are left have met, a packet begins.
 */
#include "protocol/itm/itm.h"

#include <string.h>

/** The longest packet: one of the first so many bytes begins one. */
#define OFFSETS 7u
/** Bytes that an offset has to explain. */
#define LOOKED_AT ((size_t)512)
/** So many packets from the meeting point on, at least, make the guess a good one. */
#define PACKETS 24u
/** Bytes of a source that are tried, at most. */
#define TRIED ((size_t)64 << 10)

/** Sizes that a hardware source's packets have: bit n is n bytes. */
static unsigned hardware_sizes(unsigned source)
{
    if (source == 0 || source == 3)
        return 1u << 1;
    if (source == 1)
        return 1u << 2;
    if (source == 2)
        return 1u << 1 | 1u << 4;
    if (source >= 8 && source < 16)
        return source & 1 ? 1u << 2 | 1u << 4 : 1u << 1 | 1u << 4;
    return source >= 16 && source < 24 ? 1u << 1 | 1u << 2 | 1u << 4 : 0;
}

static bool is_good_hardware(unsigned source, unsigned size, uint32_t value)
{
    if (!(hardware_sizes(source) >> size & 1))
        return false;
    if (source == 0)
        return value != 0 && value < 0x40;
    if (source == 1)
        return (value & 0xce00) == 0 && (value >> 12 & 3) != 0 &&
               ((value & 0x1ff) != 0 || (value >> 12 & 3) == PUG_DWT_RETURNED_TO);
    if (source == 2 && size == 1)
        return value == 0 || value == 0xff;
    return true;
}

/** Bytes of a packet of a source; 0: it is none, or does not end here. */
static size_t source_size(const uint8_t *at, size_t left)
{
    static const uint8_t sizes[4] = {0, 1, 2, 4};
    const unsigned size = sizes[at[0] & 3];
    uint32_t value = 0;
    if (left <= size)
        return 0;
    for (unsigned i = 0; i < size; i++)
        value |= (uint32_t)at[1 + i] << 8 * i;
    return !(at[0] & 4) || is_good_hardware(at[0] >> 3, size, value) ? 1 + size : 0;
}

/** A header that is followed by `most` bytes at most, each but the last with bit 7 set. */
static size_t continued_size(const uint8_t *at, size_t left, size_t most)
{
    for (size_t i = 1; i < left && i <= most; i++)
        if (!(at[i] & 0x80))
            return 1 + i;
    return 0;
}

/** At least five bytes of 0x00, then 0x80. */
static size_t async_size(const uint8_t *at, size_t left)
{
    size_t zeros = 0;
    while (zeros < left && at[zeros] == 0)
        zeros++;
    return zeros >= 5 && zeros < left && at[zeros] == 0x80 ? zeros + 1 : 0;
}

static size_t packet_size(const uint8_t *at, size_t left)
{
    const uint8_t header = at[0];
    if (header & 3)
        return source_size(at, left);
    if (header == 0)
        return async_size(at, left);
    if ((header & 0x8f) == 0 || (header & 0x8f) == 0x08) /* time, overflow; port page */
        return 1;
    if ((header & 0xcf) == 0xc0)
        return continued_size(at, left, 4);
    if (header == 0x94)
        return continued_size(at, left, 4);
    return header == 0xb4 ? continued_size(at, left, 6) : 0;
}

/** The reading of the bytes when a packet begins at one of them. */
struct reading {
    bool good;                 /* it meets nothing that is no packet */
    uint8_t begins[LOOKED_AT]; /* 1: a packet begins there */
};

static void read_from(const uint8_t *bytes, size_t size, size_t from, struct reading *reading)
{
    *reading = (struct reading){.good = from < size};
    for (size_t at = from; at < size;) {
        const size_t used = packet_size(bytes + at, size - at);
        if (used == 0) { /* cut off at the end, or no packet */
            reading->good = size - at < OFFSETS;
            return;
        }
        reading->begins[at] = 1;
        at += used;
    }
}

/** Where all good readings have met; *packets: that follow. `size`: nowhere. */
static size_t meeting(const struct reading readings[OFFSETS], size_t size, unsigned *packets)
{
    size_t at = size;
    *packets = 0;
    for (size_t i = size; i-- > 0;) {
        unsigned good = 0, begin = 0;
        for (unsigned n = 0; n < OFFSETS; n++) {
            good += readings[n].good;
            begin += readings[n].good && readings[n].begins[i];
        }
        if (good > 0 && begin == good) {
            at = i;
            (*packets)++;
        }
    }
    return at;
}

/** Does a reading need a kind of packet, before the meeting point, that never comes after it? */
static bool is_strange(const uint8_t *bytes, size_t size, const struct reading *reading, size_t met)
{
    bool known[256] = {false};
    for (size_t i = met; i < size; i++)
        known[bytes[i]] |= reading->begins[i];
    for (size_t i = 0; i < met; i++)
        if (reading->begins[i] && !known[bytes[i]])
            return true;
    return false;
}

/** The meeting point of all readings that are left; SIZE_MAX: none. */
static size_t meet(const uint8_t *bytes, size_t size)
{
    struct reading readings[OFFSETS];
    unsigned packets;
    for (unsigned n = 0; n < OFFSETS; n++)
        read_from(bytes, size, n, &readings[n]);
    const size_t met = meeting(readings, size, &packets);
    if (packets < PACKETS)
        return SIZE_MAX;
    for (unsigned n = 0; n < OFFSETS; n++)
        readings[n].good &= n == met || !is_strange(bytes, size, &readings[n], met);
    const size_t again = meeting(readings, size, &packets);
    return again < met ? again : met;
}

/** Returns the place of the first ASYNC; `size`: no ASYNC. */
static size_t find_async(const uint8_t *bytes, size_t size)
{
    size_t zeros = 0;
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] == 0x80 && zeros >= 5)
            return i - zeros;
        zeros = bytes[i] == 0 ? zeros + 1 : 0;
    }
    return size;
}

size_t pug_itm_begin(const uint8_t *bytes, size_t size)
{
    const size_t async = find_async(bytes, size);
    if (async <= size / 2 && async < size)
        return SIZE_MAX;
    const size_t most = async < TRIED ? async : TRIED;
    for (size_t from = 0; from < most; from += OFFSETS) {
        const size_t left = async - from;
        const size_t at = meet(bytes + from, left < LOOKED_AT ? left : LOOKED_AT);
        if (at != SIZE_MAX)
            return from + at;
    }
    return SIZE_MAX;
}
