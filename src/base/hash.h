// SPDX-License-Identifier: MIT
/** @file The hash by which tables find what they hold. */
#ifndef PUG_HASH_H
#define PUG_HASH_H

#include <stdint.h>

/**
 * A running hash with another word. All bits of words tell in both halves of it: those who write a
 * trace choose addresses and ids, and many that differ in their upper bits alone are no accident.
 * The first word is mixed with 0: two that are near each other, mixed with one another, are little.
 */
static inline uint64_t pug_hash_mix(uint64_t hash, uint64_t word)
{
    hash ^= word;
    hash = (hash ^ hash >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 32;
}

#endif
