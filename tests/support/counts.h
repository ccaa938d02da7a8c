// SPDX-License-Identifier: MIT
/**
 * @file Two counts are the same, range by range and jump by jump; so are the elements beside them.
 */
#ifndef PUG_TESTS_SUPPORT_COUNTS_H
#define PUG_TESTS_SUPPORT_COUNTS_H

#include "pugmark/advanced/counts.h"
#include "pugmark/pugmark.h"
#include "recorder/bytes.h"

/** Assert it; `name` and `what` say in a failure what was counted, and how. */
void counts_assert_equal(struct pug_counts *expected, struct pug_counts *counts, const char *name,
                         const char *what);

/** What a consumer sees with counted ranges, and without. */
struct counts_seen {
    struct pug_counts *counts; /* by elements, or NULL */
    bool counted;              /* a range comes only where ranges are shown */
    bool shown;
    uint64_t others;      /* elements but ranges, and these where they are shown */
    uint64_t hashes[256]; /* of them, by source */
    unsigned wait_once_in;
    struct rec_random random;
};

/** That consumer: a pug_elements_fn. */
enum pug_response counts_take(void *context, const struct pug_element *elements, size_t count,
                              size_t *taken);

/** Both saw the same, source by source. */
void counts_assert_others_equal(const struct counts_seen *expected, const struct counts_seen *seen);

#endif
