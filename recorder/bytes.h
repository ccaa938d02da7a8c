// SPDX-License-Identifier: MIT
/** @file Bytes that grow: where every encoder writes its trace. */
#ifndef PUG_RECORDER_BYTES_H
#define PUG_RECORDER_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rec_bytes {
    uint8_t *data;
    size_t size, capacity;
    bool failed; /**< memory ran out; what was written since is lost */
};

void rec_put(struct rec_bytes *bytes, uint8_t byte);
void rec_put_n(struct rec_bytes *bytes, const void *data, size_t size);
/** Little-endian, `size` bytes. */
void rec_put_le(struct rec_bytes *bytes, uint64_t value, unsigned size);
/** Groups of 7 bits, lowest first, bit 7 set in all but the last. */
void rec_put_leb(struct rec_bytes *bytes, uint64_t value);
void rec_bytes_free(struct rec_bytes *bytes);

/** A small generator of random numbers: the same seed gives the same trace everywhere. */
struct rec_random {
    uint64_t state;
};

uint64_t rec_random(struct rec_random *random);
/** 0 to limit - 1. */
uint32_t rec_random_below(struct rec_random *random, uint32_t limit);
/** True once in `n` times. */
bool rec_random_once_in(struct rec_random *random, uint32_t n);

/** All but the newest `room` bytes, or a few less: a circular sink is cut at frames. */
void rec_bytes_forget(struct rec_bytes *bytes, uint64_t room);

#endif
