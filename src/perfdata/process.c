// SPDX-License-Identifier: MIT
/**
 * @file The executable ranges of a process, at any time of its life (section 12).
 *
 * A range that is added where nothing was takes nothing away from an earlier one: no code existed
 * there that could have run. So all states between two changes that do take something away are one
 * *epoch*, of which only the last state is kept, as a version of the address space.
 */
#include "perfdata/perfdata.h"

#include <stdlib.h>
#include <string.h>

/* ---- changes ---- */

/** Does a range only say again what is there? */
static bool repeats(const struct pug_perf_node *ranges, const struct pug_perf_range *range)
{
    uint64_t first, last;
    const struct pug_perf_range *found = pug_perf_ranges_find(ranges, range->start, &first, &last);
    return found && !found->bytes && !range->bytes && found->object == range->object &&
           range->last <= found->last &&
           range->offset - found->offset == range->start - found->start;
}

/** Does a change take away what was there? */
static bool takes_away(const struct pug_perf_node *ranges, const struct pug_perf_change *change)
{
    if (change->clears)
        return ranges != NULL;
    return pug_perf_ranges_touch(ranges, change->range.start, change->range.last) &&
           !(change->executable && repeats(ranges, &change->range));
}

/** Text of its own lies in the object whose text it replaces. */
static struct pug_perf_range placed(const struct pug_perf_node *ranges,
                                    const struct pug_perf_range *range)
{
    struct pug_perf_range placed = *range;
    uint64_t first, last;
    const struct pug_perf_range *below =
        range->bytes && range->object == PUG_NO_OBJECT
            ? pug_perf_ranges_find(ranges, range->start, &first, &last)
            : NULL;
    if (below) {
        placed.object = below->object;
        placed.offset = below->offset + (range->start - below->start);
    }
    return placed;
}

static bool apply(struct pug_perf *perf, struct pug_perf_process *process,
                  const struct pug_perf_change *change)
{
    const struct pug_perf_range range = placed(process->now, &change->range);
    bool kept = change->executable;
    process->applied++;
    if (change->clears) {
        pug_perf_ranges_drop(&perf->nodes, process->now);
        process->now = NULL;
        return true;
    }
    if (kept && repeats(process->now, &change->range))
        return true;
    if (kept && pug_perf_ranges_count(process->now) >= PUG_PERF_RANGES) {
        if (!perf->ranges_full)
            pug_capture_say(perf->capture, PUG_SEV_WARN, PUG_OK,
                            "%s: process %d has more than %u executable ranges at a time; those "
                            "that are more are left out",
                            perf->capture->path, (int)process->pid, PUG_PERF_RANGES);
        perf->ranges_full = true;
        kept = false;
    }
    return pug_perf_ranges_replace(&perf->nodes, &process->now, range.start, range.last,
                                   kept ? &range : NULL);
}

/* ---- time ---- */

static bool is_until(const struct pug_perf_change *change, const struct pug_perf_moment *moment)
{
    return change->time != moment->time ? change->time < moment->time
                                        : change->order < moment->order;
}

/** How many changes there were until a moment. */
static size_t changes_until(const struct pug_perf_process *process,
                            const struct pug_perf_moment *moment)
{
    const struct pug_perf_change *changes = process->changes.items;
    size_t low = 0, high = process->changes.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (is_until(&changes[middle], moment))
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

/** The epoch of a state, if it was made; else NULL. */
static const struct pug_perf_epoch *known_epoch(const struct pug_perf_process *process,
                                                size_t state)
{
    const struct pug_perf_epoch *epochs = process->epochs.items;
    size_t low = 0, high = process->epochs.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (epochs[middle].to < state)
            low = middle + 1;
        else
            high = middle;
    }
    return low < process->epochs.count ? &epochs[low] : NULL;
}

/** The next epoch: the change that began it, if one did, and all that take nothing away. */
static bool make_epoch(struct pug_perf *perf, struct pug_perf_process *process)
{
    const struct pug_perf_change *changes = process->changes.items;
    bool good = process->epochs.count == 0 ||
                (process->applied < process->changes.count && /* not: one had no memory before */
                 apply(perf, process, &changes[process->applied]));
    while (good && process->applied < process->changes.count &&
           !takes_away(process->now, &changes[process->applied]))
        good = apply(perf, process, &changes[process->applied]);
    struct pug_perf_version *version = good ? calloc(1, sizeof(*version)) : NULL;
    struct pug_perf_version **place =
        version ? pug_capture_add(perf->capture, &perf->versions, sizeof(*place)) : NULL;
    struct pug_perf_epoch *epoch = place ? pug_list_add(&process->epochs, sizeof(*epoch)) : NULL;
    if (!place)
        free(version);
    else
        *place = version;
    if (!epoch)
        return false;
    version->ranges = pug_perf_ranges_hold(process->now);
    version->process = (uint32_t)(process - process_at(perf, 0));
    version->to = process->applied;
    *epoch = (struct pug_perf_epoch){process->applied, version};
    return true;
}

/** Begin with what the parent had. That one comes before its children, and so has its version. */
static bool inherit(struct pug_perf *perf, struct pug_perf_process *process)
{
    if (process->epochs.count > 0 || process->now || process->parent == PUG_PERF_NO_PARENT)
        return true;
    const struct pug_perf_process *parent = process_at(perf, process->parent);
    const struct pug_perf_epoch *epoch = known_epoch(parent, process->parent_state);
    if (!epoch)
        return false;
    process->now = pug_perf_ranges_hold(epoch->version->ranges);
    return true;
}

/** Make a process's epochs up to that of a state. */
static bool make_epochs(struct pug_perf *perf, struct pug_perf_process *process, size_t state)
{
    bool good = known_epoch(process, state) || inherit(perf, process);
    while (good && !known_epoch(process, state))
        good = make_epoch(perf, process);
    return good;
}

/** A process has to be made before what was forked from it. */
struct step {
    uint32_t process;
    size_t state;
};

static bool list_parents(const struct pug_perf *perf, struct step step, struct pug_list *steps)
{
    for (;;) {
        const struct pug_perf_process *process = process_at(perf, step.process);
        struct step *added = pug_list_add(steps, sizeof(*added));
        if (!added)
            return false;
        *added = step;
        if (process->epochs.count > 0 || process->parent == PUG_PERF_NO_PARENT)
            return true;
        step = (struct step){process->parent, process->parent_state};
    }
}

static const struct pug_perf_version *ranges_in(struct pug_perf *perf, uint32_t number,
                                                size_t state)
{
    struct pug_perf_process *process = process_at(perf, number);
    const struct pug_perf_epoch *known = known_epoch(process, state);
    if (known)
        return known->version;
    struct pug_list list = {0};
    bool good = list_parents(perf, (struct step){number, state}, &list);
    const struct step *steps = list.items;
    for (size_t i = list.count; good && i-- > 0;)
        good = make_epochs(perf, process_at(perf, steps[i].process), steps[i].state);
    free(list.items);
    if (!good)
        pug_capture_starve(perf->capture);
    return good ? known_epoch(process, state)->version : NULL;
}

const struct pug_perf_version *pug_perf_ranges_at(struct pug_perf *perf, uint32_t number,
                                                  struct pug_perf_moment moment)
{
    return ranges_in(perf, number, changes_until(process_at(perf, number), &moment));
}

const struct pug_perf_version *pug_perf_version_named(struct pug_perf *perf, uint64_t process,
                                                      uint64_t to)
{
    if (process >= perf->processes.count || to > process_at(perf, (uint32_t)process)->changes.count)
        return NULL;
    return ranges_in(perf, (uint32_t)process, (size_t)to);
}

void pug_perf_process_free(struct pug_perf_process *process)
{
    free(process->changes.items);
    free(process->epochs.items);
}
