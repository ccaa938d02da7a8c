// SPDX-License-Identifier: MIT
/**
 * @file How far to read so that a part of the trace is complete. What a tree will still put out
 * follows from its state. One that began after the part has nothing of it to put out: where the
 * tree that read the part is in the same state, it has nothing of it either.
 */
#include "index/pair.h"
#include "index/reach.h"
#include "tree/embed.h"

/** What is compared: what is still to come of the sources that spoke in the window. */
struct settling {
    const struct pug_tree *tree;
    struct pug_index_pair pair;
    uint16_t ids[PUG_INDEX_SOURCE_LIMIT];
    size_t count;
    bool all;   /* the index does not say which sources spoke */
    bool first; /* the window has the begin of the trace, where the end of a source is that never
                   spoke */
};

static bool spoke(const struct settling *settling, size_t source)
{
    const uint16_t id = pug_source_id(pug_tree_source_at(settling->tree, source));
    size_t n = 0;
    while (n < settling->count && settling->ids[n] != id)
        n++;
    return settling->all || n < settling->count;
}

/** Nothing is to come of it: pug_index_same_fn. */
static bool has_met(void *context, size_t n, bool same)
{
    const struct settling *settling = context;
    if (!same && (n == 0 || spoke(settling, n - 1)))
        return false;
    return !settling->first || n == 0 ||
           pug_source_is_touched(pug_tree_source_at(settling->pair.fresh, n - 1));
}

/** Read on from `start` until they have met; UINT64_MAX: they do not soon. */
static uint64_t meet_behind(struct settling *settling, const uint8_t *bytes, uint64_t size,
                            uint64_t start)
{
    const uint64_t most = size - start < PUG_INDEX_SETTLES_IN ? size : start + PUG_INDEX_SETTLES_IN;
    for (uint64_t at = start, step = pug_index_pair_step(0); most - at > step;) {
        if (!pug_index_pair_feed(&settling->pair, bytes, at, at + step))
            break;
        at += step;
        if (pug_index_pair_compare(&settling->pair, has_met, settling))
            return at;
        step = pug_index_pair_step(at - start);
    }
    return UINT64_MAX;
}

uint64_t pug_index_settle(const struct pug_index *index, const struct pug_tree *tree,
                          const uint8_t *bytes, uint64_t size, uint64_t from, uint64_t to)
{
    const struct pug_index_file_header *h = index->header;
    const uint64_t start = (to / PUG_INDEX_ALIGNMENT + 1) * PUG_INDEX_ALIGNMENT;
    uint64_t settled = pug_index_settled(index, tree, from, to);
    if (pug_index_has_all_states(index, tree) || to >= size || start >= size || size < h->indexed)
        return settled;
    struct settling settling = {.tree = tree, .first = from == 0};
    settling.all = pug_tree_transport(tree)->single || h->indexed < start;
    if (!settling.all) /* bytes of a run may lie in the block after that of its first */
        settling.count = pug_index_active(index, from > h->block ? from - h->block : 0, start,
                                          settling.ids, PUG_INDEX_SOURCE_LIMIT);
    if (pug_index_pair_begin(&settling.pair, index, tree, bytes, size, start, start, NULL, NULL))
        settled = meet_behind(&settling, bytes, size, start);
    pug_index_pair_free(&settling.pair);
    return settled;
}
