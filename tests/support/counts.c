// SPDX-License-Identifier: MIT
#include "support/counts.h"
#include "pugmark/advanced/counts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

void counts_assert_equal(struct pug_counts *a, struct pug_counts *b, const char *name,
                         const char *what)
{
    size_t n, m;
    const struct pug_element *contexts = pug_counts_contexts(a, &n);
    const struct pug_element *others = pug_counts_contexts(b, &m);
    assert_int_equal(pug_counts_status(a), PUG_OK);
    assert_int_equal(pug_counts_status(b), PUG_OK);
    if (n != m || (n > 0 && memcmp(contexts, others, n * sizeof(*contexts)) != 0))
        fail_msg("%s, %s: %zu contexts, not %zu", name, what, m, n);
    const struct pug_count_range *x = pug_counts_ranges(a, &n), *y = pug_counts_ranges(b, &m);
    for (size_t i = 0; i < n && i < m; i++)
        if (memcmp(&x[i], &y[i], offsetof(struct pug_count_range, isa) + 1) != 0)
            fail_msg("%s, %s: range %zu is %llx to %llx %llu times, %llu cycles, not %llx to %llx "
                     "%llu times, %llu cycles",
                     name, what, i, (unsigned long long)y[i].start, (unsigned long long)y[i].end,
                     (unsigned long long)y[i].count, (unsigned long long)y[i].cycles,
                     (unsigned long long)x[i].start, (unsigned long long)x[i].end,
                     (unsigned long long)x[i].count, (unsigned long long)x[i].cycles);
    assert_int_equal(n, m);
    const struct pug_count_jump *p = pug_counts_jumps(a, &n), *q = pug_counts_jumps(b, &m);
    for (size_t i = 0; i < n && i < m; i++)
        if (memcmp(&p[i], &q[i], offsetof(struct pug_count_jump, isa) + 1) != 0)
            fail_msg("%s, %s: jump %zu is %llx to %llx %llu times, not %llx to %llx %llu times",
                     name, what, i, (unsigned long long)q[i].from, (unsigned long long)q[i].to,
                     (unsigned long long)q[i].count, (unsigned long long)p[i].from,
                     (unsigned long long)p[i].to, (unsigned long long)p[i].count);
    assert_int_equal(n, m);
    if (pug_counts_contradictions(a) != pug_counts_contradictions(b))
        fail_msg("%s, %s: %llu contradictions, not %llu", name, what,
                 (unsigned long long)pug_counts_contradictions(b),
                 (unsigned long long)pug_counts_contradictions(a));
}

enum pug_response counts_take(void *context, const struct pug_element *elements, size_t count,
                              size_t *taken)
{
    struct counts_seen *seen = context;
    for (size_t i = 0; i < count; i++) {
        struct pug_element e = elements[i];
        assert_true(!seen->counted || seen->shown || e.type != PUG_ELEM_INSTR_RANGE);
        if (e.type != PUG_ELEM_INSTR_RANGE || seen->shown) {
            if (e.flags & PUG_ELEM_PAYLOAD)
                e.payload = NULL;
            uint64_t *hash = &seen->hashes[e.source % 256];
            for (size_t j = 0; j < sizeof(e); j++)
                *hash = (*hash ^ ((uint8_t *)&e)[j]) * UINT64_C(1099511628211);
            seen->others++;
        }
        if (seen->counts)
            pug_counts_add_elements(seen->counts, &elements[i], 1);
        if (seen->wait_once_in && rec_random_once_in(&seen->random, seen->wait_once_in)) {
            *taken = i + 1;
            return PUG_RESP_WAIT;
        }
    }
    return PUG_RESP_CONT;
}

void counts_assert_others_equal(const struct counts_seen *expected, const struct counts_seen *seen)
{
    assert_int_equal(seen->others, expected->others);
    assert_memory_equal(seen->hashes, expected->hashes, sizeof(seen->hashes));
}
