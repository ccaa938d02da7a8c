// SPDX-License-Identifier: MIT
/**
 * @file The clock of an ITM source: local timestamps, which are differences in cycles of the core,
 * and global ones, which are times of a clock that all sources share.
 *
 * | known rates    | what times are                                                       |
 * | -------------- | -------------------------------------------------------------------- |
 * | none, or global| global timestamps where there are any, else sums of the local ones   |
 * | local          | sums of local timestamps, also where there are global ones           |
 * | both           | global timestamps, and between them local ones at the ratio of rates |
 *
 * Captures date elements by it (capture/marks.c), and so does what joins elements to events
 * (stream.c): they agree to the tick.
 */
#ifndef PUG_SWO_CLOCK_H
#define PUG_SWO_CLOCK_H

#include "pugmark/element.h"

#include <stdbool.h>
#include <stdint.h>

struct pug_swo_clock {
    uint64_t local_hertz, global_hertz; /**< 0: not known */
    uint64_t anchor;                    /**< the last global timestamp that counts, or 0 */
    uint64_t steps;                     /**< cycles since then */
    uint64_t local; /**< the last sum of local timestamps, as elements have it */
    bool anchored;  /**< there was such a timestamp */
    bool awaits;    /**< there will be one: before it local timestamps give no time */
};

/** part × to ÷ from for part < from, by bits: no product is too large. At most UINT64_MAX. */
static inline uint64_t pug_swo_scale_part(uint64_t part, uint64_t to, uint64_t from)
{
    uint64_t quotient = 0, rest = 0;
    for (unsigned bit = 64; bit-- > 0;) {
        if (quotient >> 63)
            return UINT64_MAX;
        const bool over = rest >= from - rest;
        rest = over ? rest - (from - rest) : 2 * rest;
        quotient = 2 * quotient + over;
        if (!(to >> bit & 1))
            continue;
        const bool more = rest >= from - part;
        rest = more ? rest - (from - part) : rest + part;
        quotient += more;
    }
    return quotient;
}

/** value × to ÷ from, at most UINT64_MAX. */
static inline uint64_t pug_swo_scale(uint64_t value, uint64_t to, uint64_t from)
{
    const uint64_t whole = value / from, rest = value % from;
    if (whole != 0 && to > UINT64_MAX / whole)
        return UINT64_MAX;
    const uint64_t part =
        rest != 0 && to > UINT64_MAX / rest ? pug_swo_scale_part(rest, to, from) : rest * to / from;
    return whole * to > UINT64_MAX - part ? UINT64_MAX : whole * to + part;
}

/** Are times sums of local timestamps alone? */
static inline bool pug_swo_clock_is_local(const struct pug_swo_clock *clock)
{
    return clock->local_hertz > 0 && clock->global_hertz == 0;
}

/** A local timestamp of so many cycles. False: it gives no time, *time is unchanged. */
static inline bool pug_swo_clock_step(struct pug_swo_clock *clock, uint64_t cycles, uint64_t *time)
{
    const bool both = clock->local_hertz > 0 && clock->global_hertz > 0;
    clock->steps += cycles;
    if (clock->anchored ? !both : clock->awaits && !pug_swo_clock_is_local(clock))
        return false;
    const uint64_t since =
        both ? pug_swo_scale(clock->steps, clock->global_hertz, clock->local_hertz) : clock->steps;
    *time = clock->anchor + since;
    return true;
}

/** A global timestamp; the same. *restarts: times before it were of another clock. */
static inline bool pug_swo_clock_anchor(struct pug_swo_clock *clock, uint64_t global,
                                        uint64_t *time, bool *restarts)
{
    *restarts = false;
    if (pug_swo_clock_is_local(clock))
        return false;
    *restarts = !clock->anchored;
    clock->anchored = true;
    clock->anchor = *time = global;
    clock->steps = 0;
    return true;
}

/** By how many cycles the sum grew that local timestamp elements have. */
static inline uint64_t pug_swo_clock_cycles(struct pug_swo_clock *clock, uint64_t sum)
{
    const uint64_t cycles = sum - (sum >= clock->local ? clock->local : 0);
    clock->local = sum;
    return cycles;
}

static inline bool pug_swo_is_timestamp(const struct pug_element *element)
{
    return element->type == PUG_ELEM_ITMTRACE && element->reason >= PUG_ITM_TS_SYNC;
}

/** A timestamp element; the same. */
static inline bool pug_swo_clock_take(struct pug_swo_clock *clock,
                                      const struct pug_element *element, uint64_t *time,
                                      bool *restarts)
{
    *restarts = false;
    if (element->reason == PUG_ITM_TS_GLOBAL)
        return pug_swo_clock_anchor(clock, element->timestamp, time, restarts);
    return pug_swo_clock_step(clock, pug_swo_clock_cycles(clock, element->timestamp), time);
}

#endif
