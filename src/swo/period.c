// SPDX-License-Identifier: MIT
/**
 * @file PC samples come at a fixed number of cycles. Where sums of local timestamps differ from
 * that by one cycle for each timestamp, the hardware does not count the cycle in which it sends
 * one: what real devices do.
 */
#include "swo/swo.h"

#include <stdlib.h>
#include <string.h>

/** The DWT samples every so many cycles, or multiples of that. */
#define TAP 64u
/** Fewer intervals show nothing. */
#define INTERVALS_LEAST 16u

void pug_swo_period_init(struct pug_swo_period *period)
{
    memset(period, 0, sizeof(*period));
}

static void take_time(struct pug_swo_period *period, const struct pug_element *element)
{
    const bool exact = element->reason == PUG_ITM_TS_SYNC;
    period->local = element->timestamp;
    period->stamps++;
    if (!period->sampled)
        return;
    if (period->any && exact && period->count < PUG_SWO_INTERVALS)
        period->intervals[period->count++] =
            (struct pug_swo_interval){period->local - period->at, period->stamps};
    period->any = exact;
    period->at = period->local;
    period->stamps = 0;
    period->sampled = false;
}

void pug_swo_period_take(struct pug_swo_period *period, const struct pug_element *element)
{
    struct pug_dwt_event event;
    if (element->type != PUG_ELEM_ITMTRACE || (element->flags & PUG_ELEM_OVERFLOW))
        period->any = period->sampled = false;
    if (element->type != PUG_ELEM_ITMTRACE)
        return;
    if (element->reason >= PUG_ITM_TS_SYNC && element->reason != PUG_ITM_TS_GLOBAL)
        take_time(period, element);
    else if (pug_dwt_meaning(element, &event))
        period->sampled |= event.kind == PUG_DWT_PC_SAMPLE || event.kind == PUG_DWT_SLEEPING ||
                           event.kind == PUG_DWT_DENIED;
}

static int by_cycles(const void *left, const void *right)
{
    const struct pug_swo_interval *a = left, *b = right;
    return a->cycles < b->cycles ? -1 : a->cycles > b->cycles;
}

static int by_sum(const void *left, const void *right)
{
    const struct pug_swo_interval *a = left, *b = right;
    const uint64_t x = a->cycles + a->stamps, y = b->cycles + b->stamps;
    return x < y ? -1 : x > y;
}

/** How many intervals are as long as a period, with one cycle for each timestamp or without. */
static size_t count_of(const struct pug_swo_period *period, uint64_t wanted, bool with_stamps)
{
    size_t count = 0;
    for (size_t i = 0; i < period->count; i++)
        count += period->intervals[i].cycles + (with_stamps ? period->intervals[i].stamps : 0u) ==
                 wanted;
    return count;
}

struct pug_swo_loss pug_swo_period_loss(struct pug_swo_period *period)
{
    struct pug_swo_loss loss = {.intervals = period->count};
    const struct pug_swo_interval *middle = &period->intervals[period->count / 2];
    if (period->count == 0)
        return loss;
    qsort(period->intervals, period->count, sizeof(period->intervals[0]), by_cycles);
    loss.period = middle->cycles;
    loss.exact = count_of(period, loss.period, false);
    if (loss.period % TAP == 0 && loss.exact * 10 >= loss.intervals * 9)
        return loss;
    qsort(period->intervals, period->count, sizeof(period->intervals[0]), by_sum);
    loss.period = middle->cycles + middle->stamps;
    loss.with_loss = count_of(period, loss.period, true);
    loss.exact = count_of(period, loss.period, false);
    loss.lacks = loss.period % TAP == 0 && loss.intervals >= INTERVALS_LEAST &&
                 loss.with_loss * 10 >= loss.intervals * 9 && loss.exact * 10 < loss.intervals;
    return loss;
}
