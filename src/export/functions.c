// SPDX-License-Identifier: MIT
/** @file What each function did: itself, and with all that it called. */
#include "export/export.h"

#include <stdlib.h>
#include <string.h>

/* ---- weights ---- */

uint64_t *pug_export_frame_weights(const struct exporter *exporter, enum pug_export_weight weight)
{
    size_t frame_count, use_count, range_count;
    const struct pug_profile_frame *frames = pug_profile_frames(exporter->profile, &frame_count);
    const struct pug_profile_use *uses = pug_profile_uses(exporter->profile, &use_count);
    const struct pug_profile_range *ranges = pug_profile_ranges(exporter->profile, &range_count);
    uint64_t *weights = calloc(frame_count + 1, sizeof(*weights));
    if (!weights)
        return NULL;
    if (weight == PUG_WEIGHT_INSTRUCTIONS)
        for (size_t i = 0; i < use_count; i++) {
            const struct pug_profile_range *range = &ranges[uses[i].range];
            uint64_t *sum = &weights[uses[i].frame];
            if (pug_export_is_chosen(exporter, range->object))
                *sum =
                    pug_profile_sum(*sum, pug_profile_product(uses[i].count, range->instructions));
        }
    else
        for (size_t i = 0; i < frame_count; i++)
            if (pug_export_is_chosen(exporter, frames[i].object))
                weights[i] = weight == PUG_WEIGHT_CYCLES ? frames[i].cycles : frames[i].time;
    return weights;
}

/* ---- which function ---- */

/* A place, or an item of the list. */
static int by_place(const void *left, const void *right)
{
    const struct export_function *a = left, *b = right;
    if (a->object != b->object)
        return a->object < b->object ? -1 : 1;
    return a->start < b->start ? -1 : a->start > b->start;
}

static size_t make_unique(struct export_function *items, size_t count)
{
    size_t kept = 0;
    if (count > 0)
        qsort(items, count, sizeof(*items), by_place);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || by_place(&items[kept - 1], &items[i]) != 0)
            items[kept++] = items[i];
    return kept;
}

static struct export_function *find(const struct export_functions *functions, uint32_t object,
                                    uint64_t start)
{
    const struct export_function wanted = {.object = object, .start = start};
    return bsearch(&wanted, functions->items, functions->count, sizeof(wanted), by_place);
}

uint32_t pug_export_function_number(const struct export_functions *functions, uint32_t object,
                                    uint64_t start)
{
    const struct export_function *function = find(functions, object, start);
    return function ? (uint32_t)(function - functions->items) : PUG_PROFILE_NONE;
}

static enum pug_status name_all(const struct exporter *exporter, struct export_functions *functions)
{
    functions->texts = calloc(functions->count + 1, sizeof(*functions->texts));
    if (!functions->texts)
        return PUG_ERR_MEM;
    for (size_t i = 0; i < functions->count; i++) {
        struct export_function *function = &functions->items[i];
        struct export_function_name name;
        pug_export_function(exporter, function->object, function->start, &name);
        function->name = name.name;
        if (name.known)
            continue;
        function->name = functions->texts[functions->text_count] = strdup(name.own);
        if (!functions->texts[functions->text_count++])
            return PUG_ERR_MEM;
    }
    return PUG_OK;
}

/* ---- with stacks ---- */

static enum pug_status functions_of_frames(const struct exporter *exporter,
                                           struct export_functions *functions)
{
    size_t count;
    const struct pug_profile_frame *frames = pug_profile_frames(exporter->profile, &count);
    functions->items = calloc(count + 1, sizeof(*functions->items));
    functions->of_frame = calloc(count + 1, sizeof(*functions->of_frame));
    if (!functions->items || !functions->of_frame)
        return PUG_ERR_MEM;
    for (size_t i = 0; i < count; i++)
        functions->items[i] =
            (struct export_function){.object = frames[i].object, .start = frames[i].function};
    functions->count = make_unique(functions->items, count);
    for (size_t i = 0; i < count; i++)
        functions->of_frame[i] =
            pug_export_function_number(functions, frames[i].object, frames[i].function);
    return PUG_OK;
}

/* Frames and what their parents are, for going through them as a tree. */
struct walk {
    const struct pug_profile_frame *frames;
    uint64_t *totals;
    uint32_t *first_child, *next, *depth_of; /* depth_of: how often a function is on the path */
};

/* A function's frame counts with all above it, unless the function is below it already. */
static void walk_from(const struct walk *walk, struct export_functions *functions, uint32_t root)
{
    uint32_t at = root;
    bool down = true;
    for (;;) {
        const uint32_t function = functions->of_frame[at];
        if (down) {
            if (walk->depth_of[function]++ == 0)
                functions->items[function].inclusive =
                    pug_profile_sum(functions->items[function].inclusive, walk->totals[at]);
            else
                walk->totals[at] = 0;
            if (walk->first_child[at] != PUG_PROFILE_NONE) {
                at = walk->first_child[at];
                continue;
            }
        }
        walk->depth_of[function]--;
        if (at == root)
            return;
        down = walk->next[at] != PUG_PROFILE_NONE;
        at = down ? walk->next[at] : walk->frames[at].parent;
    }
}

static enum pug_status add_inclusive(const struct exporter *exporter, const uint64_t *weights,
                                     struct export_functions *functions)
{
    size_t count;
    struct walk walk = {.frames = pug_profile_frames(exporter->profile, &count)};
    walk.totals = calloc(count + 1, sizeof(*walk.totals));
    walk.first_child = calloc(count + 1, sizeof(*walk.first_child));
    walk.next = calloc(count + 1, sizeof(*walk.next));
    walk.depth_of = calloc(functions->count + 1, sizeof(*walk.depth_of));
    const bool good = walk.totals && walk.first_child && walk.next && walk.depth_of;
    for (size_t i = 0; good && i < count; i++) {
        walk.totals[i] = weights[i];
        walk.first_child[i] = walk.next[i] = PUG_PROFILE_NONE;
    }
    for (size_t i = count; good && i-- > 0;) { /* children come after their parents */
        const uint32_t parent = walk.frames[i].parent;
        if (parent == PUG_PROFILE_NONE)
            continue;
        walk.totals[parent] = pug_profile_sum(walk.totals[parent], walk.totals[i]);
        walk.next[i] = walk.first_child[parent];
        walk.first_child[parent] = (uint32_t)i;
    }
    for (size_t i = 0; good && i < count; i++)
        if (walk.frames[i].parent == PUG_PROFILE_NONE)
            walk_from(&walk, functions, (uint32_t)i);
    functions->cost_of_frame = walk.totals;
    free(walk.first_child);
    free(walk.next);
    free(walk.depth_of);
    return good ? PUG_OK : PUG_ERR_MEM;
}

static enum pug_status from_stacks(const struct exporter *exporter,
                                   struct export_functions *functions)
{
    size_t count;
    const struct pug_profile_frame *frames = pug_profile_frames(exporter->profile, &count);
    enum pug_status status = functions_of_frames(exporter, functions);
    uint64_t *weights = pug_export_frame_weights(exporter, PUG_WEIGHT_INSTRUCTIONS);
    if (status == PUG_OK && weights) {
        for (size_t i = 0; i < count; i++) {
            struct export_function *function = &functions->items[functions->of_frame[i]];
            function->self = pug_profile_sum(function->self, weights[i]);
            if (!pug_export_is_chosen(exporter, frames[i].object))
                continue;
            function->calls = pug_profile_sum(function->calls, frames[i].calls);
            function->cycles = pug_profile_sum(function->cycles, frames[i].cycles);
            function->time = pug_profile_sum(function->time, frames[i].time);
        }
        status = add_inclusive(exporter, weights, functions);
    }
    free(weights);
    return status == PUG_OK && !weights ? PUG_ERR_MEM : status;
}

/* ---- without ---- */

/* The function that a range begins in, also where it has no symbol. */
static struct export_function place_in(const struct exporter *exporter,
                                       const struct export_sites *unnamed,
                                       const struct pug_profile_range *range)
{
    struct export_function_name name;
    pug_export_function(exporter, range->object, range->first, &name);
    return (struct export_function){
        .object = range->object,
        .start = name.known ? name.start
                            : pug_export_unnamed_start(unnamed, range->object, range->first)};
}

/* A range counts to the function that it begins in; where instructions have one size it is cut. */
static enum pug_status count_ranges(const struct exporter *exporter,
                                    const struct export_sites *unnamed,
                                    struct export_functions *functions)
{
    size_t count, branch_count;
    const struct pug_profile_range *ranges = pug_profile_ranges(exporter->profile, &count);
    const struct pug_profile_branch *branches =
        pug_profile_branches(exporter->profile, &branch_count);
    functions->items = calloc(count + 1, sizeof(*functions->items));
    if (!functions->items)
        return PUG_ERR_MEM;
    for (size_t i = 0; i < count; i++)
        if (pug_export_is_chosen(exporter, ranges[i].object))
            functions->items[functions->count++] = place_in(exporter, unnamed, &ranges[i]);
    functions->count = make_unique(functions->items, functions->count);
    for (size_t i = 0; i < count; i++) {
        if (!pug_export_is_chosen(exporter, ranges[i].object))
            continue;
        const struct export_function place = place_in(exporter, unnamed, &ranges[i]);
        struct export_function *function = find(functions, place.object, place.start);
        function->self = pug_profile_sum(
            function->self, pug_profile_product(ranges[i].count, ranges[i].instructions));
        function->cycles = pug_profile_sum(function->cycles, ranges[i].cycles);
    }
    for (size_t i = 0; i < branch_count; i++) {
        struct export_function *function = find(functions, branches[i].to_object, branches[i].to);
        if (function && branches[i].to_object != PUG_PROFILE_NONE)
            function->calls = pug_profile_sum(function->calls, branches[i].count);
    }
    return PUG_OK;
}

static enum pug_status from_ranges(const struct exporter *exporter,
                                   struct export_functions *functions)
{
    struct export_sites unnamed = {0};
    enum pug_status status = pug_export_unnamed(exporter, &unnamed);
    if (status == PUG_OK)
        status = count_ranges(exporter, &unnamed, functions);
    free(unnamed.items);
    return status;
}

enum pug_status pug_export_functions(const struct exporter *exporter,
                                     struct export_functions *functions)
{
    size_t frame_count;
    pug_profile_frames(exporter->profile, &frame_count);
    *functions = (struct export_functions){.has_stacks = frame_count > 0};
    enum pug_status status =
        frame_count > 0 ? from_stacks(exporter, functions) : from_ranges(exporter, functions);
    if (status == PUG_OK)
        status = name_all(exporter, functions);
    for (size_t i = 0; status == PUG_OK && i < functions->count; i++) {
        const struct export_function *function = &functions->items[i];
        functions->instructions = pug_profile_sum(functions->instructions, function->self);
        functions->has_cycles |= function->cycles > 0;
        functions->has_time |= function->time > 0;
    }
    return status;
}

void pug_export_functions_free(struct export_functions *functions)
{
    for (size_t i = 0; i < functions->text_count; i++)
        free(functions->texts[i]);
    free(functions->texts);
    free(functions->items);
    free(functions->of_frame);
    free(functions->cost_of_frame);
}
