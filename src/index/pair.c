// SPDX-License-Identifier: MIT
#include "index/pair.h"
#include "index/reach.h"
#include "tree/embed.h"

#define FIRST_STEP UINT64_C(1024)

bool pug_index_pair_begin(struct pug_index_pair *pair, const struct pug_index *index,
                          const struct pug_tree *model, const uint8_t *bytes, uint64_t size,
                          uint64_t near, uint64_t start, pug_run_fn *on_run, void *context)
{
    uint64_t at = 0;
    *pair = (struct pug_index_pair){0};
    if (!pug_index_reach(index, model, bytes, size, true, near, &pair->whole, &at)) {
        at = 0;
        if (start > PUG_INDEX_SETTLES_IN || pug_tree_clone(model, NULL, &pair->whole) != PUG_OK)
            return false;
    }
    if (on_run)
        pug_tree_on_runs(pair->whole, on_run, context);
    if (!pug_index_feed(pair->whole, bytes, at, start) ||
        pug_tree_clone(model, NULL, &pair->fresh) != PUG_OK)
        return false;
    if (on_run)
        pug_tree_on_runs(pair->whole, NULL, NULL);
    return true;
}

void pug_index_pair_free(struct pug_index_pair *pair)
{
    pug_tree_free(pair->whole);
    pug_tree_free(pair->fresh);
    *pair = (struct pug_index_pair){0};
}

bool pug_index_pair_feed(const struct pug_index_pair *pair, const uint8_t *bytes, uint64_t at,
                         uint64_t end)
{
    return pug_index_feed(pair->whole, bytes, at, end) &&
           pug_index_feed(pair->fresh, bytes, at, end);
}

uint64_t pug_index_pair_step(uint64_t read)
{
    return FIRST_STEP + read / 8 / FIRST_STEP * FIRST_STEP;
}

static bool compare(const struct pug_index_pair *pair, const struct pug_state *whole,
                    const struct pug_state *fresh, pug_index_same_fn *tell, void *context)
{
    const uint8_t *left = whole->bytes, *right = fresh->bytes;
    for (size_t n = 0; n <= pug_tree_source_count(pair->whole); n++) {
        struct pug_state_section a = pug_state_section(&left), b = pug_state_section(&right);
        if (n > 0) { /* losses are no elements */
            (void)pug_state_section_loss(pair->whole, &a);
            (void)pug_state_section_loss(pair->fresh, &b);
        }
        if (!tell(context, n, pug_state_same_section(&a, &b)))
            return false;
    }
    return true;
}

bool pug_index_pair_compare(const struct pug_index_pair *pair, pug_index_same_fn *tell,
                            void *context)
{
    struct pug_state whole = {0}, fresh = {0};
    const bool all = pug_tree_state(pair->whole, &whole) && pug_tree_state(pair->fresh, &fresh) &&
                     compare(pair, &whole, &fresh, tell, context);
    pug_state_free(&whole);
    pug_state_free(&fresh);
    return all;
}
