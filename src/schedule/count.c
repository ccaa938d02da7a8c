// SPDX-License-Identifier: MIT
/** @file Counting on several threads: each part has counts of its own, appended in their order. */
#include "pugmark/advanced/counts.h"

#include <stdlib.h>

static void *begin(void *context, unsigned worker, struct pug_piece *piece)
{
    (void)context;
    (void)piece;
    (void)worker;
    return pug_counts_new();
}

static void drop_elements(void *part, const struct pug_origin *origin,
                          const struct pug_element *elements, size_t count)
{
    (void)origin;
    (void)part;
    (void)elements;
    (void)count;
}

static struct pug_counts *counts_of(void *part)
{
    return part;
}

static void drop(void *part)
{
    pug_counts_free(part);
}

static bool take(void *context, void *part)
{
    struct pug_counts *counts = context;
    pug_counts_append(counts, part);
    drop(part);
    return pug_counts_status(counts) == PUG_OK;
}

enum pug_status pug_tree_count_all(struct pug_tree *tree, const struct pug_jobs *jobs,
                                   const uint8_t *bytes, size_t size, struct pug_counts *counts,
                                   struct pug_jobs_result *result)
{
    if (!tree || !counts || (!bytes && size > 0))
        return PUG_ERR_INVALID_PARAM_VAL;
    const struct pug_consumer consumer = {.context = counts,
                                          .begin = begin,
                                          .elements = drop_elements,
                                          .take = take,
                                          .drop = drop,
                                          .counts = counts_of};
    struct pug_jobs config = jobs ? *jobs : (struct pug_jobs){0};
    config.consumers = &consumer;
    config.consumer_count = 1;
    const enum pug_status status = pug_tree_decode(tree, &config, bytes, size, result);
    return status == PUG_OK ? pug_counts_status(counts) : status;
}
