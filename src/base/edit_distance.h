// SPDX-License-Identifier: MIT
/** @file Names that somebody may have meant who wrote another one. */
#ifndef PUG_BASE_EDIT_DISTANCE_H
#define PUG_BASE_EDIT_DISTANCE_H

#include <stdbool.h>

#define PUG_NAME_FAR 99u

/**
 * How many letters were dropped, added, changed or swapped with their neighbour, in either case, to
 * make one name of the other; 0: they differ in case alone, or not at all. PUG_NAME_FAR: too many
 * for a slip of the hand, or only numbers differ, as of registers in a row.
 */
unsigned pug_name_distance(const char *a, const char *b);

#endif
