// SPDX-License-Identifier: MIT
/**
 * @file Folded stacks: a line for each call stack, its functions from the outermost on, and what it
 * weighs. flamegraph.pl, inferno and speedscope read it.
 */
#include "export/export.h"

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
};

/* Functions of one name are one, wherever they are. */
static bool same_name(const struct folds *folds, uint32_t a, uint32_t b)
{
    return a == b || strcmp(folds->functions->items[a].name, folds->functions->items[b].name) == 0;
}

static uint32_t hash_of(const struct folds *folds, const struct fold *fold)
{
    uint64_t hash = fold->parent;
    for (const char *at = folds->functions->items[fold->function].name; *at; at++)
        hash = (hash ^ (uint8_t)*at) * UINT64_C(0x100000001b3);
    return (uint32_t)(hash ^ hash >> 32);
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

static const char *name_of(const struct folds *folds, uint32_t fold)
{
    return folds->functions->items[folds->items[fold].function].name;
}

/* A name must not look like two, nor end the line. */
static void put_name(struct pug_sink *sink, const char *name)
{
    const size_t length = strcspn(name, ";\n\r");
    if (name[length] == '\0') {
        pug_sink_text(sink, name);
        return;
    }
    for (; *name; name++)
        pug_sink_put(sink, strchr(";\n\r", *name) ? ":" : name, 1);
}

static void put_line(const struct export *export, const struct folds *folds, uint32_t fold,
                     uint32_t *path)
{
    size_t depth = 0;
    for (uint32_t at = fold; at != PUG_PROFILE_NONE; at = folds->items[at].parent)
        path[depth++] = at;
    while (depth-- > 0) {
        put_name(export->sink, pug_export_readable(export, name_of(folds, path[depth])));
        pug_sink_text(export->sink, depth > 0 ? ";" : " ");
    }
    pug_sink_decimal(export->sink, folds->items[fold].weight);
    pug_sink_text(export->sink, "\n");
}

static enum pug_status fold_all(const struct export *export, struct folds *folds)
{
    size_t count;
    const struct pug_profile_frame *frames = pug_profile_frames(export->profile, &count);
    uint64_t *weights = pug_export_frame_weights(export, export->options->weight);
    uint32_t *of_frame = calloc(count + 1, sizeof(*of_frame));
    uint32_t *path = calloc(count + 1, sizeof(*path));
    folds->slot_count = 16;
    while (folds->slot_count < count * 2 + 2)
        folds->slot_count *= 2;
    folds->items = calloc(count + 1, sizeof(*folds->items));
    folds->slots = calloc(folds->slot_count, sizeof(*folds->slots));
    const bool good = weights && of_frame && path && folds->items && folds->slots;
    for (size_t i = 0; good && i < count; i++) {
        const uint32_t parent = frames[i].parent;
        const struct fold wanted = {parent == PUG_PROFILE_NONE ? parent : of_frame[parent],
                                    folds->functions->of_frame[i], 0};
        of_frame[i] = find_fold(folds, &wanted);
        struct fold *fold = &folds->items[of_frame[i]];
        fold->weight = pug_profile_sum(fold->weight, weights[i]);
    }
    for (uint32_t i = 0; good && i < folds->count; i++)
        if (folds->items[i].weight > 0)
            put_line(export, folds, i, path);
    free(weights);
    free(of_frame);
    free(path);
    return good ? PUG_OK : PUG_ERR_MEM;
}

enum pug_status pug_export_folded(const struct export *export)
{
    struct export_functions functions;
    enum pug_status status = pug_export_functions(export, &functions);
    struct folds folds = {.functions = &functions};
    if (status == PUG_OK)
        status = fold_all(export, &folds);
    free(folds.items);
    free(folds.slots);
    pug_export_functions_free(&functions);
    return status;
}
