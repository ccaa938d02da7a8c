// SPDX-License-Identifier: MIT
/** @file Counting on several threads: each part has counts of its own, appended in their order. */
#include "pugmark/advanced/counts.h"
#include "pugmark/capture.h"

/** There is nothing in a part: ranges are counted beside it. */
static void *begin(void *context, unsigned worker, struct pug_piece *piece)
{
    (void)piece;
    (void)worker;
    return context;
}

static void drop_elements(void *part, const struct pug_origin *origin,
                          const struct pug_element *elements, size_t count)
{
    (void)origin;
    (void)part;
    (void)elements;
    (void)count;
}

static void drop(void *part)
{
    (void)part;
}

static bool take(void *context, void *part)
{
    (void)context;
    (void)part;
    return true;
}

static void add(void *context, struct pug_counts *counts)
{
    pug_counts_append(context, counts);
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
                                          .counted = add};
    struct pug_jobs config = jobs ? *jobs : (struct pug_jobs){0};
    config.consumers = &consumer;
    config.consumer_count = 1;
    const enum pug_status status = pug_tree_decode(tree, &config, bytes, size, result);
    return status == PUG_OK ? pug_counts_status(counts) : status;
}
