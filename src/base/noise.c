// SPDX-License-Identifier: MIT
/** @file Noise, passed over: memchr() finds the next zeros, and pieces are counted, not made. */
#include "base/noise.h"

#include <string.h>

size_t pug_noise_run(const uint8_t *at, const uint8_t *end, uint8_t byte)
{
    const uint64_t all = UINT64_C(0x0101010101010101) * byte;
    const uint8_t *from = at;
    uint64_t word;
    while (end - at >= 8 && (memcpy(&word, at, sizeof(word)), word == all))
        at += sizeof(word);
    while (at < end && *at == byte)
        at++;
    return (size_t)(at - from);
}

/** Pieces from `begin` on; offsets from where the noise is looked at. */
struct pieces {
    ptrdiff_t begin, last; /* of the one that is not whole, and of the one before it */
    bool any;
};

/** Whole pieces up to `to`. */
static void advance(struct pieces *pieces, ptrdiff_t to, uint8_t size)
{
    const ptrdiff_t whole = (to - pieces->begin) / size * size;
    if (whole == 0)
        return;
    pieces->begin += whole;
    pieces->last = pieces->begin - size;
    pieces->any = true;
}

/** The piece ends at `to`, however long it is. */
static void cut(struct pieces *pieces, ptrdiff_t to)
{
    if (pieces->begin == to)
        return;
    pieces->last = pieces->begin;
    pieces->begin = to;
    pieces->any = true;
}

struct pug_noise_passed pug_noise_pass(const struct pug_noise *noise, const uint8_t *bytes,
                                       size_t size, size_t held)
{
    struct pieces pieces = {.begin = -(ptrdiff_t)held};
    const uint8_t *at = bytes, *const end = bytes + size;
    ptrdiff_t to = (ptrdiff_t)size;
    while (at < end && (at = memchr(at, 0, (size_t)(end - at))) != NULL) {
        const ptrdiff_t place = at - bytes;
        const size_t zeros = pug_noise_run(at, end, 0);
        advance(&pieces, place, noise->piece);
        if (noise->zeros_cut)
            cut(&pieces, place);
        at += zeros;
        if (zeros >= noise->zeros || at == end) {
            to = place;
            break;
        }
        if (!noise->zeros_cut && at + 1 - bytes >= pieces.begin + noise->piece)
            cut(&pieces, at + 1 - bytes);
    }
    advance(&pieces, to, noise->piece);
    if (!pieces.any || pieces.begin <= 0 || held >= noise->piece)
        return (struct pug_noise_passed){0};
    return (struct pug_noise_passed){.size = (size_t)pieces.begin, .last = pieces.last};
}
