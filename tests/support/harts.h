// SPDX-License-Identifier: MIT
/** @file Captures of several harts that sleep most of the time. */
#ifndef TEST_HARTS_H
#define TEST_HARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * Give packets to three harts in turn: the first one speaks half a stretch at the begin, the second
 * in every eighth stretch, the third in the others. False: it is none of the bundled captures, by
 * their folder, that describe several.
 */
bool harts_share(const char *folder, uint8_t *bytes, size_t size, size_t stretch);

#endif
