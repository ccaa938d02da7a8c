// SPDX-License-Identifier: MIT
/**
 * @file Memos that are counted: how often, beside each, in place of its ranges. What that means is
 * added up when blocks or counts change, or a memo loses its place.
 */
#include "counts/packet_memos.h"

static struct pug_element hop_range(const struct pug_memo *memo, uint32_t hop)
{
    return pug_paths_range(pug_memo_block(memo->hops[hop]), memo->hops[hop] & 1);
}

static struct pug_element last_of(const struct pug_memo *memo)
{
    struct pug_element range = {0};
    if (!memo->ends_inside)
        return hop_range(memo, memo->count - 1u);
    pug_memo_put_last(memo, &range);
    return range;
}

/** The branch that ends a hop led where the next range begins, so many times. */
static void add_jump(struct pug_paths *paths, const struct pug_memo *memo, uint32_t hop,
                     uint64_t count)
{
    const struct pug_element range = hop_range(memo, hop);
    const struct pug_count_pending branch = pug_counts_branch(&range, paths->context);
    if (pug_counts_jumps_on(&range))
        pug_counts_add_jump(paths->counts, &branch, pug_memo_behind(memo, hop), count);
}

static void lose_hits(struct pug_memos *memos, struct pug_memo *memo)
{
    struct pug_paths *paths = memos->paths;
    for (uint32_t i = 0; i < memo->count && memo->hits > 0; i++) {
        struct pug_element range = hop_range(memo, i);
        if (i == 0) {
            range.start += memo->told;
            range.count -= memo->told > 0;
        }
        if (i >= memo->silent)
            pug_counts_add_range(paths->counts, paths->context, &range, memo->hits, 0);
        add_jump(paths, memo, i, memo->hits);
    }
    if (memo->ends_inside && memo->hits > 0) {
        const struct pug_element last = last_of(memo);
        pug_counts_add_range(paths->counts, paths->context, &last, memo->hits, 0);
    }
    memo->hits = 0;
}

/**
 * Where a last range inside a block led, if it is a branch, belongs to the next packet, whose memo
 * knows both ends; that of a hop is counted with it.
 */
void pug_memos_end_row(struct pug_memos *memos)
{
    const struct pug_memo *memo = memos->counted;
    const struct pug_element last = last_of(memo);
    memos->counted = NULL;
    struct pug_count_pending *branch = pug_paths_leave_range(memos->paths, &last);
    if (!branch || memo->ends_inside)
        return;
    branch->foreseen = true;
    branch->target = memo->last.start;
}

static void spread_own(void *own)
{
    struct pug_memos *memos = own;
    pug_memos_count_close(memos);
    pug_memos_lose_hits(memos);
}

/** The start of its first range. */
static uint64_t start_of(const struct pug_memo *memo)
{
    if (memo->silent)
        return pug_memo_behind(memo, 0);
    return memo->count > 0 ? pug_memo_block(memo->hops[0])->start + memo->told : memo->last.start;
}

/** The first of a row: what came before leads to it, which a silent hop counts, too. */
static bool begin_row(struct pug_memos *memos, struct pug_stage *stage, const struct pug_memo *memo)
{
    struct pug_count_boundary *boundary = pug_paths_ready(stage);
    struct pug_paths *paths = stage->paths;
    if (!boundary)
        return false;
    paths->spread_own = spread_own;
    paths->own = memos;
    memos->paths = paths;
    memos->lose_hits = lose_hits;
    pug_counts_follow(paths->counts, boundary, start_of(memo));
    if (memo->silent)
        add_jump(paths, memo, 0, UINT64_MAX);
    return true;
}

bool pug_memos_count(struct pug_memos *memos, struct pug_stage *stage, struct pug_chain *chain,
                     struct pug_memo *memo)
{
    pug_chain_close(chain);
    if (memo->hits == UINT32_MAX)
        pug_paths_spread(memos->paths);
    if (!memos->counted && !begin_row(memos, stage, memo))
        return false;
    memo->hits++;
    memos->counted = memo;
    memos->hits++;
    return true;
}

void pug_memos_counting_end(struct pug_memos *memos)
{
    if (!memos->paths)
        return;
    pug_paths_spread(memos->paths);
    memos->paths->spread_own = NULL;
}
