// SPDX-License-Identifier: MIT
/**
 * @file Habits that are counted: how often, beside each, in place of its ranges. What that means is
 * added up when blocks or counts change, or a habit loses its place.
 */
#include "image/habits.h"
#include "image/paths.h"

static struct pug_element hop_range(const struct pug_habit *habit, uint32_t hop)
{
    return pug_paths_range(pug_habit_block(habit->hops[hop]), habit->hops[hop] & 1);
}

static struct pug_element last_of(const struct pug_habit *habit)
{
    struct pug_element range = {0};
    if (!habit->ends_inside)
        return hop_range(habit, habit->count - 1u);
    pug_habit_put_last(habit, &range);
    return range;
}

/** The branch that ends a hop led where the next range begins, so many times. */
static void add_jump(struct pug_paths *paths, const struct pug_habit *habit, uint32_t hop,
                     uint64_t count)
{
    const struct pug_element range = hop_range(habit, hop);
    const struct pug_count_pending branch = pug_counts_branch(&range, paths->context);
    if (pug_counts_jumps_on(&range))
        pug_counts_add_jump(paths->counts, &branch, pug_habit_behind(habit, hop), count);
}

void pug_habit_lose_hits(struct pug_habits *habits, struct pug_habit *habit)
{
    struct pug_paths *paths = habits->paths;
    for (uint32_t i = 0; i < habit->count && habit->hits > 0; i++) {
        struct pug_element range = hop_range(habit, i);
        if (i == 0) {
            range.start += habit->told;
            range.count -= habit->told > 0;
        }
        if (i >= habit->silent)
            pug_counts_add_range(paths->counts, paths->context, &range, habit->hits, 0);
        add_jump(paths, habit, i, habit->hits);
    }
    if (habit->ends_inside && habit->hits > 0) {
        const struct pug_element last = last_of(habit);
        pug_counts_add_range(paths->counts, paths->context, &last, habit->hits, 0);
    }
    habit->hits = 0;
}

/**
 * Where a last range inside a block led, if it is a branch, belongs to the next packet, whose habit
 * knows both ends; that of a hop is counted with it.
 */
void pug_habits_end_row(struct pug_habits *habits)
{
    const struct pug_habit *habit = habits->counted;
    const struct pug_element last = last_of(habit);
    habits->counted = NULL;
    struct pug_count_pending *branch = pug_paths_leave_range(habits->paths, &last);
    if (!branch || habit->ends_inside)
        return;
    branch->foreseen = true;
    branch->target = habit->last.start;
}

static void spread_own(void *own)
{
    struct pug_habits *habits = own;
    pug_habits_count_close(habits);
    pug_habits_lose_hits(habits);
}

/** Where its first range begins. */
static uint64_t start_of(const struct pug_habit *habit)
{
    if (habit->silent)
        return pug_habit_behind(habit, 0);
    return habit->count > 0 ? pug_habit_block(habit->hops[0])->start + habit->told
                            : habit->last.start;
}

/** The first of a row: what came before leads to it, which a silent hop counts, too. */
static bool begin_row(struct pug_habits *habits, struct pug_stage *stage,
                      const struct pug_habit *habit)
{
    struct pug_count_seam *seam = pug_paths_ready(stage);
    struct pug_paths *paths = stage->paths;
    if (!seam)
        return false;
    paths->spread_own = spread_own;
    paths->own = habits;
    habits->paths = paths;
    pug_counts_follow(paths->counts, seam, start_of(habit));
    if (habit->silent)
        add_jump(paths, habit, 0, UINT64_MAX);
    return true;
}

bool pug_habits_count(struct pug_habits *habits, struct pug_stage *stage, struct pug_chain *chain,
                      struct pug_habit *habit)
{
    pug_chain_close(chain);
    if (habit->hits == UINT32_MAX)
        pug_paths_spread(habits->paths);
    if (!habits->counted && !begin_row(habits, stage, habit))
        return false;
    habit->hits++;
    habits->counted = habit;
    habits->hits++;
    return true;
}

void pug_habits_counting_end(struct pug_habits *habits)
{
    if (!habits->paths)
        return;
    pug_paths_spread(habits->paths);
    habits->paths->spread_own = NULL;
}
