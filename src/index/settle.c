// SPDX-License-Identifier: MIT
/**
 * @file How far to read so that a part of the trace is complete. What a tree will still put out
 * follows from its state. One that began behind the part has nothing of it to put out: where the
 * tree that read the part is in the same state, it has nothing of it either.
 */
#include "index/reach.h"
#include "tree/tree_internal.h"

/* States are compared behind so many bytes, and each time that an eighth more was read. */
#define FIRST_STEP UINT64_C(1024)
/* A trace whose states do not meet in so many bytes is not read on for this. */
#define SETTLES_IN (UINT64_C(1) << 23)

/** What is compared: what is still to come of the sources that spoke in the window. */
struct settling {
    const struct pug_index *index;
    const struct pug_tree *tree;
    struct pug_tree *whole, *fresh; /* one knows all that was before, the other nothing */
    uint16_t ids[PUG_INDEX_SOURCE_LIMIT];
    size_t count;
    bool all;   /* the index does not tell who spoke */
    bool first; /* the window has the begin of the trace, where the end of a source is that never
                   spoke */
};

static bool spoke(const struct settling *settling, size_t source)
{
    const uint16_t id = pug_source_id(settling->tree->sources[source]);
    size_t n = 0;
    while (n < settling->count && settling->ids[n] != id)
        n++;
    return settling->all || n < settling->count;
}

static bool same_sections(const struct settling *settling, const struct pug_state *whole,
                          const struct pug_state *fresh)
{
    const uint8_t *at = whole->bytes, *its_at = fresh->bytes;
    for (size_t n = 0; n <= settling->tree->source_count; n++) {
        struct pug_state_section a = pug_state_section(&at), b = pug_state_section(&its_at);
        if (n > 0) { /* losses are no elements */
            (void)pug_state_section_loss(settling->whole, &a);
            (void)pug_state_section_loss(settling->fresh, &b);
        }
        if (!pug_state_same_section(&a, &b) && (n == 0 || spoke(settling, n - 1)))
            return false;
        if (settling->first && n > 0 && !settling->fresh->sources[n - 1]->touched)
            return false;
    }
    return true;
}

static bool have_met(const struct settling *settling)
{
    struct pug_state whole = {0}, fresh = {0};
    const bool met = pug_tree_state(settling->whole, &whole) &&
                     pug_tree_state(settling->fresh, &fresh) &&
                     same_sections(settling, &whole, &fresh);
    pug_state_free(&whole);
    pug_state_free(&fresh);
    return met;
}

/** Read on from `start` until they have met; UINT64_MAX: they do not soon. */
static uint64_t meet_behind(struct settling *settling, const uint8_t *bytes, uint64_t size,
                            uint64_t start)
{
    const uint64_t most = size - start < SETTLES_IN ? size : start + SETTLES_IN;
    for (uint64_t at = start, step = FIRST_STEP; most - at > step;) {
        if (!pug_index_feed(settling->whole, bytes, at, at + step) ||
            !pug_index_feed(settling->fresh, bytes, at, at + step))
            break;
        at += step;
        if (have_met(settling))
            return at;
        step = FIRST_STEP + (at - start) / 8 / FIRST_STEP * FIRST_STEP;
    }
    return UINT64_MAX;
}

/** Trees at `start`, which the one that knows what was before comes to from nearby. */
static bool begin_behind(struct settling *settling, const uint8_t *bytes, uint64_t size,
                         uint64_t start)
{
    uint64_t at = 0;
    if (!pug_index_reach(settling->index, settling->tree, bytes, size, true, start,
                         &settling->whole, &at)) {
        at = 0;
        if (start > SETTLES_IN || pug_tree_clone(settling->tree, NULL, &settling->whole) != PUG_OK)
            return false;
    }
    return pug_index_feed(settling->whole, bytes, at, start) &&
           pug_tree_clone(settling->tree, NULL, &settling->fresh) == PUG_OK;
}

uint64_t pug_index_settle(const struct pug_index *index, const struct pug_tree *tree,
                          const uint8_t *bytes, uint64_t size, uint64_t from, uint64_t to)
{
    const struct pug_index_file_header *h = index->header;
    const uint64_t start = (to / PUG_INDEX_ALIGNMENT + 1) * PUG_INDEX_ALIGNMENT;
    uint64_t settled = pug_index_settled(index, tree, from, to);
    if (pug_index_has_all_states(index, tree) || to >= size || start >= size || size < h->indexed)
        return settled;
    struct settling settling = {.index = index, .tree = tree, .first = from == 0};
    settling.all = tree->transport->single || h->indexed < start;
    if (!settling.all) /* bytes of a run may lie in the block behind that of its first */
        settling.count = pug_index_active(index, from > h->block ? from - h->block : 0, start,
                                          settling.ids, PUG_INDEX_SOURCE_LIMIT);
    if (begin_behind(&settling, bytes, size, start))
        settled = meet_behind(&settling, bytes, size, start);
    pug_tree_free(settling.whole);
    pug_tree_free(settling.fresh);
    return settled;
}
