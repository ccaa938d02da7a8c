// SPDX-License-Identifier: MIT
/** @file Two counts are the same, range by range and jump by jump. */
#ifndef PUG_TESTS_SUPPORT_COUNTS_H
#define PUG_TESTS_SUPPORT_COUNTS_H

#include "pugmark/counts.h"

/** Assert it; `name` and `what` say in a failure what was counted, and how. */
void counts_assert_equal(struct pug_counts *expected, struct pug_counts *counts, const char *name,
                         const char *what);

#endif
