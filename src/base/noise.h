// SPDX-License-Identifier: MIT
/**
 * @file Noise: bytes that a search for synchronisation reads, passed over at the speed of memory
 * when nothing reports them. A search for a run of zeros reports noise in pieces, whose ends depend
 * on the zeros in it. To get the same result as a look at each byte, it continues at the begin of
 * such a piece.
 */
#ifndef PUG_BASE_NOISE_H
#define PUG_BASE_NOISE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** How a search cuts noise. */
struct pug_noise {
    uint8_t piece;  /**< bytes of a piece */
    uint8_t zeros;  /**< so many in a row may be what is looked for */
    bool zeros_cut; /**< zeros begin a piece; else they count with the byte after them */
};

struct pug_noise_passed {
    size_t size;    /**< bytes that can be left out; 0: none */
    ptrdiff_t last; /**< where the last piece in them began; below 0: before they did */
};

/** Noise from `bytes` on, of a piece of which `held` came before; none where they are a piece. */
struct pug_noise_passed pug_noise_pass(const struct pug_noise *noise, const uint8_t *bytes,
                                       size_t size, size_t held);

/** How many bytes from `at` on are `byte`, a word at a time. */
size_t pug_noise_run(const uint8_t *at, const uint8_t *end, uint8_t byte);

#endif
