// SPDX-License-Identifier: MIT
/**
 * @file Folded stacks: a line for each call stack, its functions from the outermost on, and what it
 * weighs. flamegraph.pl, inferno and speedscope read it.
 */
#include "export/export.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

/* A stack of names: several frames are one where only their calls differ. */
struct fold {
    uint32_t parent; /* PUG_PROFILE_NONE: it is the outermost */
    uint32_t function;
    uint64_t weight;
};

struct folds {
    struct fold *items;
    uint32_t *slots;
    uint32_t count, slot_count;
    const struct export_functions *functions;
    uint64_t *hashes; /* of their names */
};

/* Functions of one name are one, wherever they are. */
static bool same_name(const struct folds *folds, uint32_t a, uint32_t b)
{
    return a == b || strcmp(folds->functions->items[a].name, folds->functions->items[b].name) == 0;
}

static uint32_t hash_of(const struct folds *folds, const struct fold *fold)
{
    return (uint32_t)pug_hash_mix(folds->hashes[fold->function], fold->parent);
}

/* The hash of each function's name. */
static uint64_t *hash_names(const struct export_functions *functions)
{
    uint64_t *hashes = calloc(functions->count + 1, sizeof(*hashes));
    for (size_t i = 0; hashes && i < functions->count; i++)
        for (const char *at = functions->items[i].name; *at; at++)
            hashes[i] = (hashes[i] ^ (uint8_t)*at) * UINT64_C(0x100000001b3);
    return hashes;
}

static uint32_t find_fold(struct folds *folds, const struct fold *wanted)
{
    uint32_t slot = hash_of(folds, wanted);
    for (;; slot++) {
        uint32_t *at = &folds->slots[slot & (folds->slot_count - 1)];
        if (*at == 0) {
            folds->items[folds->count] = *wanted;
            *at = ++folds->count;
        }
        const struct fold *fold = &folds->items[*at - 1];
        if (fold->parent == wanted->parent && same_name(folds, fold->function, wanted->function))
            return *at - 1;
    }
}

/* ---- deep stacks ---- */

/* Of two deep stacks with one outer end: have they the same inner one? */
static bool same_inner(const struct folds *folds, uint32_t a, uint32_t b)
{
    for (unsigned i = 0; i < PUG_EXPORT_STACK_END; i++) {
        if (!same_name(folds, folds->items[a].function, folds->items[b].function))
            return false;
        a = folds->items[a].parent;
        b = folds->items[b].parent;
    }
    return true;
}

static uint64_t hash_of_inner(const struct folds *folds, uint32_t fold)
{
    uint64_t hash = 0;
    for (unsigned i = 0; i < PUG_EXPORT_STACK_END; i++, fold = folds->items[fold].parent)
        hash = pug_hash_mix(hash, folds->hashes[folds->items[fold].function]);
    return hash;
}

/* The slot of a deep stack that is written like this one, or the free one where it would be. */
static uint32_t *deep_slot(const struct folds *folds, const struct export_stacks *stacks,
                           uint32_t fold)
{
    const uint32_t outer = pug_export_stack_outer(stacks, fold);
    for (uint64_t slot = pug_hash_mix(hash_of_inner(folds, fold), outer);; slot++) {
        uint32_t *at = &folds->slots[slot & (folds->slot_count - 1)];
        if (*at == 0 ||
            (pug_export_stack_outer(stacks, *at - 1) == outer && same_inner(folds, *at - 1, fold)))
            return at;
    }
}

/* Deep stacks that are written alike are one: what the others weigh is the first one's. */
static void join_deep(struct folds *folds, const struct export_stacks *stacks)
{
    memset(folds->slots, 0, folds->slot_count * sizeof(*folds->slots));
    for (uint32_t i = 0; i < folds->count; i++) {
        struct fold *fold = &folds->items[i];
        if (fold->weight == 0 || pug_export_stack_outer(stacks, i) == PUG_PROFILE_NONE)
            continue;
        uint32_t *slot = deep_slot(folds, stacks, i);
        if (*slot == 0) {
            *slot = i + 1;
            continue;
        }
        struct fold *first = &folds->items[*slot - 1];
        first->weight = pug_profile_sum(first->weight, fold->weight);
        fold->weight = 0;
    }
}

/* ---- lines ---- */

static const char *name_of(const struct folds *folds, uint32_t fold)
{
    return folds->functions->items[folds->items[fold].function].name;
}

/* A name must not look like two, nor end the line. */
static void put_name(struct pug_sink *sink, const char *name)
{
    struct pug_memory room = {0};
    name = pug_printable(name, &room);
    for (; *name; name += *name != 0) {
        const size_t length = strcspn(name, ";");
        pug_sink_put(sink, name, length);
        name += length;
        if (*name)
            pug_sink_text(sink, ":");
    }
    free(room.bytes);
}

static void put_line(const struct exporter *exporter, const struct folds *folds,
                     const struct export_stacks *stacks, uint32_t fold)
{
    uint32_t path[PUG_EXPORT_STACK_MOST];
    size_t depth = pug_export_stack(stacks, fold, path);
    while (depth-- > 0) {
        if (path[depth] == PUG_PROFILE_NONE)
            pug_sink_text(exporter->sink, PUG_EXPORT_STACK_REST);
        else
            put_name(exporter->sink, pug_export_readable(exporter, name_of(folds, path[depth])));
        pug_sink_text(exporter->sink, depth > 0 ? ";" : " ");
    }
    pug_sink_decimal(exporter->sink, folds->items[fold].weight);
    pug_sink_text(exporter->sink, "\n");
}

static void fold_frames(const struct exporter *exporter, struct folds *folds,
                        const uint64_t *weights, uint32_t *of_frame)
{
    size_t count;
    const struct pug_profile_frame *frames = pug_profile_frames(exporter->profile, &count);
    for (size_t i = 0; i < count; i++) {
        const uint32_t parent = frames[i].parent;
        const struct fold wanted = {parent == PUG_PROFILE_NONE ? parent : of_frame[parent],
                                    folds->functions->of_frame[i], 0};
        of_frame[i] = find_fold(folds, &wanted);
        struct fold *fold = &folds->items[of_frame[i]];
        fold->weight = pug_profile_sum(fold->weight, weights[i]);
    }
}

static void put_all(const struct exporter *exporter, struct folds *folds,
                    struct export_stacks *stacks)
{
    for (uint32_t i = 0; i < folds->count; i++)
        pug_export_stacks_add(stacks, folds->items[i].parent);
    join_deep(folds, stacks);
    for (uint32_t i = 0; i < folds->count; i++)
        if (folds->items[i].weight > 0)
            put_line(exporter, folds, stacks, i);
}

static enum pug_status fold_all(const struct exporter *exporter, struct folds *folds)
{
    size_t count;
    struct export_stacks stacks;
    (void)pug_profile_frames(exporter->profile, &count);
    const bool stacked = pug_export_stacks_begin(&stacks, count);
    uint64_t *weights = pug_export_frame_weights(exporter, exporter->options->weight);
    uint32_t *of_frame = calloc(count + 1, sizeof(*of_frame));
    folds->slot_count = 16;
    while (folds->slot_count < count * 2 + 2)
        folds->slot_count *= 2;
    folds->items = calloc(count + 1, sizeof(*folds->items));
    folds->slots = calloc(folds->slot_count, sizeof(*folds->slots));
    folds->hashes = hash_names(folds->functions);
    const bool good =
        weights && of_frame && stacked && folds->items && folds->slots && folds->hashes;
    if (good) {
        fold_frames(exporter, folds, weights, of_frame);
        put_all(exporter, folds, &stacks);
    }
    free(weights);
    free(of_frame);
    pug_export_stacks_free(&stacks);
    return good ? PUG_OK : PUG_ERR_MEM;
}

enum pug_status pug_export_folded(const struct exporter *exporter)
{
    struct export_functions functions;
    enum pug_status status = pug_export_functions(exporter, &functions);
    struct folds folds = {.functions = &functions};
    if (status == PUG_OK)
        status = fold_all(exporter, &folds);
    free(folds.items);
    free(folds.slots);
    free(folds.hashes);
    pug_export_functions_free(&functions);
    return status;
}
