// SPDX-License-Identifier: MIT
/**
 * @file Habits that are counted: how often, beside each, in place of its ranges. What that means is
 * added up when blocks or counts change, or a habit loses its place.
 *
 * A packet ends with the instruction that it reports; where that led, if it is a branch, belongs to
 * the next packet, whose habit knows both ends.
 */
#include "protocol/etrace/habit.h"

static struct pug_element last_of(const struct pug_habit *habit)
{
    struct pug_element range = {0};
    pug_habit_put_last(habit, &range);
    return range;
}

/** The branch that ends a hop led where the next range begins, so many times. */
static void add_jump(struct pug_paths *paths, const struct pug_habit *habit, uint32_t hop,
                     uint64_t count)
{
    const struct pug_element range =
        pug_paths_range(pug_habit_block(habit->hops[hop]), habit->hops[hop] & 1);
    const struct pug_count_pending branch = pug_counts_branch(&range, paths->context);
    if (pug_counts_jumps_on(&range))
        pug_counts_add_jump(paths->counts, &branch, pug_habit_behind(habit, hop), count);
}

static void lose(void *decoder, struct pug_habit *habit)
{
    const struct pug_etrace_decoder *d = decoder;
    struct pug_paths *paths = d->counting;
    const struct pug_element last = last_of(habit);
    for (uint32_t i = 0; i < habit->count; i++) {
        struct pug_element range =
            pug_paths_range(pug_habit_block(habit->hops[i]), habit->hops[i] & 1);
        if (i == 0) {
            range.start += habit->told;
            range.count -= habit->told > 0;
        }
        if (i >= habit->silent)
            pug_counts_add_range(paths->counts, paths->context, &range, habit->hits, 0);
        add_jump(paths, habit, i, habit->hits);
    }
    pug_counts_add_range(paths->counts, paths->context, &last, habit->hits, 0);
}

static void spread_own(void *decoder)
{
    struct pug_etrace_decoder *d = decoder;
    pug_etrace_count_close(d);
    pug_habits_lose_hits(&d->habits);
}

void pug_etrace_count_close(struct pug_etrace_decoder *d)
{
    if (!d->counted)
        return;
    const struct pug_element last = last_of(d->counted);
    d->counted = NULL;
    (void)pug_paths_leave_range(d->counting, &last);
}

/** Where its first range begins. */
static uint64_t start_of(const struct pug_habit *habit)
{
    if (habit->silent > 0)
        return pug_habit_behind(habit, 0);
    return habit->count > 0 ? pug_habit_block(habit->hops[0])->start + habit->told
                            : habit->last.start;
}

/** The first of a row: what came before leads to it, which its habit counts, too. */
static bool begin_row(struct pug_etrace_decoder *d, const struct pug_habit *habit)
{
    struct pug_count_seam *seam = pug_paths_ready(d->stage);
    struct pug_paths *paths = d->stage->paths;
    if (!seam)
        return false;
    paths->spread_own = spread_own;
    paths->own = d;
    d->counting = paths;
    d->habits.lose = lose;
    d->habits.own = d;
    pug_counts_follow(paths->counts, seam, start_of(habit));
    if (habit->silent > 0)
        add_jump(paths, habit, 0, UINT64_MAX);
    return true;
}

bool pug_etrace_count(struct pug_etrace_decoder *d, const struct pug_habit *habit)
{
    struct pug_habit *hit = (struct pug_habit *)habit;
    if (hit->hits == UINT32_MAX)
        pug_paths_spread(d->counting);
    if (!d->counted && !begin_row(d, habit))
        return false;
    hit->hits++;
    d->counted = habit;
    d->habits.hits++;
    return true;
}

void pug_etrace_counting_free(struct pug_etrace_decoder *d)
{
    if (!d->counting)
        return;
    pug_paths_spread(d->counting);
    d->counting->spread_own = NULL;
}
