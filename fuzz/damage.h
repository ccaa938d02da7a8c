// SPDX-License-Identifier: MIT
/** @file Damage as it comes of lost, flipped, repeated and cut bytes, and of numbers that readers
 * stumble over. */
#ifndef PUG_FUZZ_DAMAGE_H
#define PUG_FUZZ_DAMAGE_H

#include "recorder/bytes.h"

/** Damage `size` bytes, which have `room` to become more, in up to eleven places; how many they are
 * then. */
size_t fuzz_damage(uint8_t *data, size_t size, size_t room, struct rec_random *random);

#endif
