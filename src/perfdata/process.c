// SPDX-License-Identifier: MIT
/**
 * @file The executable ranges of a process, at any time of its life (section 12).
 *
 * A range that is added where nothing was takes nothing away from who came before: no code was
 * there that could have run. So all states between two changes that do take something away are one
 * *epoch*, of which only the last state is kept.
 */
#include "perfdata/perfdata.h"

#include <stdlib.h>
#include <string.h>

/* ---- ranges ---- */

/** How many ranges begin at or below an address. */
static size_t upper(const struct pug_perf_range *items, size_t count, uint64_t address)
{
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (items[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct pug_perf_range *pug_perf_find_range(const struct pug_perf_frozen *ranges,
                                                 uint64_t address, uint64_t *first, uint64_t *last)
{
    const size_t after = upper(ranges->items, ranges->count, address);
    const struct pug_perf_range *found = after > 0 ? &ranges->items[after - 1] : NULL;
    if (found && address <= found->last) {
        *first = found->start;
        *last = found->last;
        return found;
    }
    *first = found ? found->last + 1 : 0;
    *last = after < ranges->count ? ranges->items[after].start - 1 : UINT64_MAX;
    return NULL;
}

static bool insert(struct pug_perf_ranges *ranges, size_t at, const struct pug_perf_range *range)
{
    if (ranges->count == ranges->room) {
        const size_t room = ranges->room ? ranges->room * 2 : 16;
        struct pug_perf_range *items = realloc(ranges->items, room * sizeof(*items));
        if (!items)
            return false;
        ranges->items = items;
        ranges->room = room;
    }
    memmove(&ranges->items[at + 1], &ranges->items[at],
            (ranges->count++ - at) * sizeof(*ranges->items));
    ranges->items[at] = *range;
    return true;
}

static void remove_some(struct pug_perf_ranges *ranges, size_t from, size_t to)
{
    memmove(&ranges->items[from], &ranges->items[to],
            (ranges->count - to) * sizeof(*ranges->items));
    ranges->count -= to - from;
}

/** The first range that touches [start, last], and the one behind the last that does. */
static void touched(const struct pug_perf_ranges *ranges, const struct pug_perf_range *range,
                    size_t *from, size_t *to)
{
    *from = upper(ranges->items, ranges->count, range->start);
    if (*from > 0 && ranges->items[*from - 1].last >= range->start)
        --*from;
    *to = *from;
    while (*to < ranges->count && ranges->items[*to].start <= range->last)
        ++*to;
}

/** Cut what lies below a range out of those that are there. False: no memory. */
static bool make_room(struct pug_perf_ranges *ranges, const struct pug_perf_range *range)
{
    size_t from, to;
    touched(ranges, range, &from, &to);
    if (from == to)
        return true;
    struct pug_perf_range left = ranges->items[from], right = ranges->items[to - 1];
    remove_some(ranges, from, to);
    if (right.last > range->last) {
        right.offset += range->last + 1 - right.start;
        if (right.bytes)
            right.bytes += range->last + 1 - right.start;
        right.start = range->last + 1;
        if (!insert(ranges, from, &right))
            return false;
    }
    if (left.start < range->start) {
        left.last = range->start - 1;
        return insert(ranges, from, &left);
    }
    return true;
}

/** Does a range only say again what is there? */
static bool repeats(const struct pug_perf_ranges *ranges, const struct pug_perf_range *range)
{
    const size_t after = upper(ranges->items, ranges->count, range->start);
    const struct pug_perf_range *found = after > 0 ? &ranges->items[after - 1] : NULL;
    return found && !found->bytes && !range->bytes && found->object == range->object &&
           range->last <= found->last && range->start >= found->start &&
           range->offset - found->offset == range->start - found->start;
}

/** Does a change take away what was there? */
static bool takes_away(const struct pug_perf_ranges *ranges, const struct pug_perf_change *change)
{
    size_t from, to;
    if (change->clears)
        return ranges->count > 0;
    touched(ranges, &change->range, &from, &to);
    return from < to && !(change->executable && repeats(ranges, &change->range));
}

/** Text of its own lies in the object whose text it replaces. */
static struct pug_perf_range placed(const struct pug_perf_ranges *ranges,
                                    const struct pug_perf_range *range)
{
    struct pug_perf_range placed = *range;
    size_t from, to;
    touched(ranges, range, &from, &to);
    if (range->bytes && range->object == PUG_NO_OBJECT && from < to &&
        ranges->items[from].start <= range->start) {
        placed.object = ranges->items[from].object;
        placed.offset = ranges->items[from].offset + (range->start - ranges->items[from].start);
    }
    return placed;
}

static bool apply(struct pug_perf_ranges *ranges, const struct pug_perf_change *change)
{
    const struct pug_perf_range range = placed(ranges, &change->range);
    size_t from, to;
    if (change->clears) {
        ranges->count = 0;
        return true;
    }
    if (change->executable && repeats(ranges, &change->range))
        return true;
    if (!make_room(ranges, &change->range))
        return false;
    if (!change->executable || ranges->count >= PUG_PERF_RANGES)
        return true;
    touched(ranges, &range, &from, &to);
    return insert(ranges, from, &range);
}

/* ---- time ---- */

/** How many changes there were until a time, which is in. */
static size_t changes_until(const struct pug_perf_process *process, uint64_t time)
{
    const struct pug_perf_change *changes = process->changes.items;
    size_t low = 0, high = process->changes.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (changes[middle].time <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct pug_perf_process *process_at(const struct pug_perf *perf, uint32_t number)
{
    return (struct pug_perf_process *)perf->processes.items + number;
}

static bool copy_ranges(struct pug_perf_ranges *ranges, const struct pug_perf_frozen *from)
{
    struct pug_perf_range *items = malloc((from->count + 1) * sizeof(*items));
    if (!items)
        return false;
    memcpy(items, from->items, from->count * sizeof(*items));
    free(ranges->items);
    *ranges = (struct pug_perf_ranges){items, from->count, from->count + 1};
    return true;
}

/** An exec leaves nothing of what was before: the last one at or before a change. */
static size_t last_exec(const struct pug_perf_process *process, size_t count)
{
    const struct pug_perf_change *changes = process->changes.items;
    while (count > 0 && !changes[count - 1].clears)
        count--;
    return count;
}

/* Forks of forks that never run another program: more than this is a mistake. */
#define MOST_PARENTS 64u

/** Do so many processes stand before this one, none of which ran another program? */
static bool too_many_parents(const struct pug_perf *perf, const struct pug_perf_process *process)
{
    unsigned depth = 0;
    while (process->parent != PUG_PERF_NO_PARENT && depth <= MOST_PARENTS) {
        const struct pug_perf_process *parent = process_at(perf, process->parent);
        if (last_exec(parent, changes_until(parent, process->parent_time)) > 0)
            return false;
        process = parent;
        depth++;
    }
    return depth > MOST_PARENTS;
}

/** `now` as it was when the process began. */
static bool begin(struct pug_perf *perf, struct pug_perf_process *process)
{
    process->now.count = 0;
    process->applied = 0;
    process->begun = true;
    if (process->parent == PUG_PERF_NO_PARENT || too_many_parents(perf, process))
        return true;
    const struct pug_perf_frozen *ranges =
        pug_perf_ranges_at(perf, process->parent, process->parent_time);
    return ranges && copy_ranges(&process->now, ranges);
}

/* ---- epochs ---- */

static const struct pug_perf_frozen *freeze(struct pug_perf *perf,
                                            const struct pug_perf_ranges *ranges)
{
    struct pug_perf_frozen *frozen = calloc(1, sizeof(*frozen));
    struct pug_perf_range *items = malloc((ranges->count + 1) * sizeof(*items));
    struct pug_perf_frozen **place =
        frozen && items ? pug_list_add(&perf->frozen, sizeof(*place)) : NULL;
    if (!place) {
        free(frozen);
        free(items);
        return NULL;
    }
    if (ranges->count > 0)
        memcpy(items, ranges->items, ranges->count * sizeof(*items));
    *frozen =
        (struct pug_perf_frozen){.number = ++perf->numbers, .items = items, .count = ranges->count};
    return *place = frozen;
}

static const struct pug_perf_frozen *known_epoch(const struct pug_perf_process *process,
                                                 size_t state)
{
    const struct pug_perf_epoch *epochs = process->epochs.items;
    for (size_t i = process->epochs.count; i-- > 0;)
        if (epochs[i].from <= state && state <= epochs[i].to)
            return epochs[i].ranges;
    return NULL;
}

/** Go on from `now` to the end of the epoch that holds a state. */
static const struct pug_perf_frozen *make_epoch(struct pug_perf *perf,
                                                struct pug_perf_process *process, size_t state)
{
    const struct pug_perf_change *changes = process->changes.items;
    size_t from = process->applied;
    while (process->applied < process->changes.count) {
        const struct pug_perf_change *change = &changes[process->applied];
        if (takes_away(&process->now, change)) {
            if (process->applied >= state)
                break;
            from = process->applied + 1;
        }
        if (!apply(&process->now, change))
            return NULL;
        process->applied++;
    }
    struct pug_perf_epoch *epoch = pug_list_add(&process->epochs, sizeof(*epoch));
    const struct pug_perf_frozen *ranges = epoch ? freeze(perf, &process->now) : NULL;
    if (!ranges)
        return NULL;
    *epoch = (struct pug_perf_epoch){from, process->applied, (struct pug_perf_frozen *)ranges};
    return ranges;
}

const struct pug_perf_frozen *pug_perf_ranges_at(struct pug_perf *perf, uint32_t number,
                                                 uint64_t time)
{
    struct pug_perf_process *process = process_at(perf, number);
    const size_t state = changes_until(process, time);
    const struct pug_perf_frozen *known = known_epoch(process, state);
    if (known)
        return known;
    const size_t fresh = last_exec(process, state);
    if (!process->begun || process->applied > state || process->applied < fresh) {
        if (fresh > 0) {
            process->now.count = 0;
            process->applied = fresh;
            process->begun = true;
        } else if (!begin(perf, process)) {
            return NULL;
        }
    }
    return make_epoch(perf, process, state);
}

void pug_perf_process_free(struct pug_perf_process *process)
{
    free(process->changes.items);
    free(process->epochs.items);
    free(process->now.items);
}
