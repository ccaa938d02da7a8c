// SPDX-License-Identifier: MIT
/** @file An index that is made while somebody else reads the trace, as it arrives. */
#include "index/collect.h"
#include "tree/embed.h"

#include <stdlib.h>

struct pug_indexer {
    struct pug_tree *tree;
    struct collector *collector;
    struct job job;
    uint16_t *full_ids;
};

/** False: no memory, or the tree's sources cannot be watched. */
static bool begin(struct pug_indexer *indexer, const struct pug_index_options *options)
{
    uint64_t block = options->block ? options->block : pug_index_default_block(indexer->tree);
    indexer->job = (struct job){
        .block = block + (PUG_INDEX_ALIGNMENT - block % PUG_INDEX_ALIGNMENT) % PUG_INDEX_ALIGNMENT,
        .blocks = UINT32_MAX,
        .full = options->full,
    };
    if (options->full_ids && options->full_count > 0) {
        indexer->full_ids = malloc(options->full_count * sizeof(*indexer->full_ids));
        if (!indexer->full_ids)
            return false;
        memcpy(indexer->full_ids, options->full_ids, options->full_count * sizeof(uint16_t));
        indexer->job.full_ids = indexer->full_ids;
        indexer->job.full_count = options->full_count;
    }
    indexer->collector = pug_index_watch(&indexer->job, indexer->tree);
    return indexer->collector != NULL;
}

enum pug_status pug_indexer_new(struct pug_tree *tree, const struct pug_index_options *options,
                                struct pug_indexer **out)
{
    static const struct pug_index_options defaults = {.block = 0};
    if (!out)
        return PUG_ERR_INVALID_PARAM_VAL;
    *out = NULL;
    options = options ? options : &defaults;
    if (!tree || (options->block &&
                  (options->block < PUG_INDEX_BLOCK_MIN || options->block > PUG_INDEX_BLOCK_MAX)))
        return PUG_ERR_INVALID_PARAM_VAL;
    for (size_t n = 0; n < pug_tree_source_count(tree); n++)
        if (pug_source_protocol(pug_tree_source_at(tree, n))->operate)
            return PUG_ERR_WRONG_KIND;
    struct pug_indexer *indexer = calloc(1, sizeof(*indexer));
    if (!indexer)
        return PUG_ERR_MEM;
    indexer->tree = tree;
    if (!begin(indexer, options)) {
        pug_indexer_free(indexer);
        return PUG_ERR_MEM;
    }
    *out = indexer;
    return PUG_OK;
}

enum pug_status pug_indexer_index(struct pug_indexer *indexer, const uint8_t *bytes, uint64_t size,
                                  struct pug_index **index)
{
    if (!index)
        return PUG_ERR_INVALID_PARAM_VAL;
    *index = NULL;
    if (!indexer || (!bytes && size > 0))
        return PUG_ERR_INVALID_PARAM_VAL;
    if (!indexer->collector)
        return PUG_ERR_NOT_READY;
    const struct yield *yield = pug_index_yield_so_far(indexer->collector);
    return yield ? pug_index_assemble(indexer->tree, &indexer->job, yield, bytes, size, 0, index)
                 : PUG_ERR_MEM;
}

enum pug_status pug_indexer_finish(struct pug_indexer *indexer, const uint8_t *bytes, uint64_t size,
                                   struct pug_index **index)
{
    struct yield *yield = NULL;
    if (!index)
        return PUG_ERR_INVALID_PARAM_VAL;
    *index = NULL;
    if (!indexer || (!bytes && size > 0))
        return PUG_ERR_INVALID_PARAM_VAL;
    if (!indexer->collector)
        return PUG_ERR_NOT_READY;
    pug_index_unwatch(indexer->collector, indexer->tree, &yield);
    indexer->collector = NULL;
    enum pug_status status = yield ? pug_index_assemble(indexer->tree, &indexer->job, yield, bytes,
                                                        size, PUG_INDEX_ENDED, index)
                                   : PUG_ERR_MEM;
    pug_index_yield_free(yield);
    return status;
}

void pug_indexer_free(struct pug_indexer *indexer)
{
    if (!indexer)
        return;
    if (indexer->collector)
        pug_index_unwatch(indexer->collector, indexer->tree, NULL);
    free(indexer->full_ids);
    free(indexer);
}
