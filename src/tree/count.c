// SPDX-License-Identifier: MIT
/** @file A tree that counts ranges, and delivers all other elements. */
#include "counts/paths.h"
#include "tree/tree_internal.h"

/** Elements [from, *to) to the tree's consumer; *to: what it took. */
static enum pug_response deliver_others(struct pug_tree *tree, const struct pug_element *elements,
                                        size_t from, size_t *to)
{
    size_t taken = *to - from;
    enum pug_response answer =
        tree->others(tree->others_context, elements + from, *to - from, &taken);
    if (answer >= PUG_RESP_WAIT && taken < *to - from)
        *to = from + taken;
    const size_t tallied = tree->batch.tallied < *to ? tree->batch.tallied : *to;
    if (from < tallied)
        from = tallied;
    pug_counts_add_elements(tree->counts, elements + from, *to - from);
    return answer;
}

static bool is_only_counted(const struct pug_tree *tree, const struct pug_element *element)
{
    return element->type == PUG_ELEM_INSTR_RANGE && !tree->shows_ranges;
}

static void count_ranges(struct pug_tree *tree, const struct pug_element *ranges, size_t count)
{
    for (size_t i = 0; tree->present > 0 && i < count; i++)
        pug_tree_counted(tree, ranges[i].index);
    pug_counts_add_elements(tree->counts, ranges, count);
}

static enum pug_response count_elements(void *context, const struct pug_element *elements,
                                        size_t count, size_t *taken)
{
    struct pug_tree *tree = context;
    enum pug_response answer = PUG_RESP_CONT;
    for (size_t at = 0; at < count && answer < PUG_RESP_WAIT;) {
        const bool only_counted = is_only_counted(tree, &elements[at]);
        size_t end = at + 1;
        while (end < count && is_only_counted(tree, &elements[end]) == only_counted)
            end++;
        if (only_counted)
            count_ranges(tree, elements + at, end - at);
        else
            answer = deliver_others(tree, elements, at, &end);
        *taken = at = end;
    }
    tree->batch.tallied = *taken < tree->batch.tallied ? tree->batch.tallied - (uint32_t)*taken : 0;
    return answer;
}

void pug_tree_count_batches(struct pug_tree *tree)
{
    struct pug_batch *batch = &tree->batch;
    if (!tree->counts)
        return;
    tree->others = batch->give;
    tree->others_context = batch->give_context;
    batch->give = count_elements;
    batch->give_context = tree;
}

void pug_source_count(struct pug_source *source)
{
    const struct pug_tree *tree = source->tree;
    struct pug_stage *stage = &source->stage;
    if (tree->counts && !stage->paths && stage->code) {
        stage->paths = pug_paths_new(stage->code);
        tree->counts->failed |= !stage->paths; /* only they know which memory ranges are in */
    }
    if (stage->paths && stage->paths->counts != tree->counts)
        pug_paths_set_counts(stage->paths, tree->counts);
    if (stage->paths)
        stage->paths->shown = tree->shows_ranges;
}

void pug_source_count_no_more(struct pug_source *source)
{
    struct pug_paths *paths = source->stage.paths;
    if (paths && paths->counts)
        pug_paths_set_counts(paths, NULL);
}

static void tell_sources(struct pug_tree *tree)
{
    for (size_t i = 0; i < tree->source_count; i++)
        pug_source_count(tree->sources[i]);
}

void pug_tree_count(struct pug_tree *tree, struct pug_counts *counts)
{
    pug_batch_deliver(&tree->batch);
    tree->counts = counts;
    tell_sources(tree);
    pug_tree_choose_consumer(tree);
}

void pug_tree_show_ranges(struct pug_tree *tree, bool show)
{
    pug_batch_deliver(&tree->batch);
    tree->shows_ranges = show;
    tell_sources(tree);
}
