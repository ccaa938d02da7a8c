// SPDX-License-Identifier: MIT
/** @file Sums of what was measured: whole numbers that add up. */
#include "check/engine.h"

#include <stdlib.h>

#define EXACT 256u /* values below this have a bucket each */

unsigned pug_check_bucket(uint64_t value)
{
    if (value < EXACT)
        return (unsigned)value;
    const unsigned octave = 63u - (unsigned)__builtin_clzll(value);
    return EXACT + (octave - 8) * 128 + (unsigned)(value >> (octave - 7) & 127);
}

uint64_t pug_check_bucket_first(unsigned bucket)
{
    if (bucket < EXACT)
        return bucket;
    const unsigned octave = 8 + (bucket - EXACT) / 128;
    return (UINT64_C(128) + (bucket - EXACT) % 128) << (octave - 7);
}

uint64_t pug_check_bucket_last(unsigned bucket)
{
    if (bucket < EXACT)
        return bucket;
    const unsigned octave = 8 + (bucket - EXACT) / 128;
    return pug_check_bucket_first(bucket) + ((UINT64_C(1) << (octave - 7)) - 1);
}

static uint64_t add(uint64_t sum, uint64_t more)
{
    return more > UINT64_MAX - sum ? UINT64_MAX : sum + more;
}

void pug_check_sum_add(struct check_sum *sum, uint64_t low, uint64_t high)
{
    if (sum->count == 0 || low < sum->shortest_low)
        sum->shortest_low = low;
    if (sum->count == 0 || high < sum->shortest_high)
        sum->shortest_high = high;
    if (low > sum->longest_low)
        sum->longest_low = low;
    if (high > sum->longest_high)
        sum->longest_high = high;
    sum->low_total = add(sum->low_total, low);
    sum->high_total = add(sum->high_total, high);
    sum->count++;
    if (sum->low)
        sum->low[pug_check_bucket(low)]++;
    if (sum->high)
        sum->high[pug_check_bucket(high)]++;
}

/** The bucket of the value at a rank, counted from 1. */
static unsigned bucket_at(const uint64_t *buckets, uint64_t rank)
{
    unsigned bucket = 0;
    for (uint64_t seen = buckets[0]; seen < rank && bucket + 1 < CHECK_BUCKETS;)
        seen += buckets[++bucket];
    return bucket;
}

/** count × share ÷ 100000, rounded up: the nearest rank. */
static uint64_t rank_of(uint64_t count, uint32_t thousandths)
{
    const uint64_t rank =
        count / 100000 * thousandths + (count % 100000 * thousandths + 99999) / 100000;
    return rank > 0 ? rank : 1;
}

static void find_percentile(const struct check_sum *sum, uint32_t thousandths,
                            struct check_interval *value)
{
    const uint64_t rank = rank_of(sum->count, thousandths);
    if (rank >= sum->count) { /* the longest, which is exact */
        *value = (struct check_interval){sum->longest_low, sum->longest_high};
        return;
    }
    const uint64_t low = pug_check_bucket_first(bucket_at(sum->low, rank)),
                   high = pug_check_bucket_last(bucket_at(sum->high, rank));
    value->from = low > sum->shortest_low ? low : sum->shortest_low;
    value->to = high < sum->longest_high ? high : sum->longest_high;
}

bool pug_check_sum_value(const struct check_sum *sum, const struct check_rule *rule,
                         struct check_interval *value)
{
    if (sum->count == 0 && (rule->stat != CHECK_TOTAL || sum->partial + sum->unknown == 0))
        return false;
    switch ((enum check_stat)rule->stat) {
    case CHECK_MEAN:
        value->from = sum->low_total / sum->count;
        value->to = sum->high_total == UINT64_MAX
                        ? UINT64_MAX
                        : sum->high_total / sum->count + (sum->high_total % sum->count > 0);
        break;
    case CHECK_TOTAL:
        value->from = add(sum->low_total, sum->partial_total);
        value->to = sum->unknown ? UINT64_MAX : add(sum->high_total, sum->partial_total);
        break;
    case CHECK_SHORTEST:
        *value = (struct check_interval){sum->shortest_low, sum->shortest_high};
        break;
    case CHECK_PERCENTILE: find_percentile(sum, rule->percentile, value); break;
    default: *value = (struct check_interval){sum->longest_low, sum->longest_high};
    }
    return true;
}

enum pug_verdict pug_check_compare(const struct check_interval *value, uint8_t cmp, uint64_t limit)
{
    const uint64_t from = value->from, to = value->to;
    bool all, none;
    switch ((enum check_cmp)cmp) {
    case CHECK_LESS: all = to < limit, none = from >= limit; break;
    case CHECK_AT_MOST: all = to <= limit, none = from > limit; break;
    case CHECK_MORE: all = from > limit, none = to <= limit; break;
    case CHECK_AT_LEAST: all = from >= limit, none = to < limit; break;
    default: all = from == limit && to == limit, none = from > limit || to < limit;
    }
    return all ? PUG_HOLDS : none ? PUG_VIOLATED : PUG_UNDECIDED;
}
