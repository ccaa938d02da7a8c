// SPDX-License-Identifier: MIT
/**
 * @file Coming to a place in the capture without reading all before it. A tree that starts some way
 * before it is in the right state as soon as its state is the one that the index has for the block.
 */
#include "index/reach.h"

/* So many times as far back is the next attempt. */
#define FARTHER 4u

uint64_t index_state_hash(const struct pug_tree *tree, struct pug_state *state)
{
    state->size = 0;
    if (pug_quirks_any(pug_tree_quirks(tree)) || !pug_tree_state(tree, state))
        return 0;
    uint64_t hash = index_hash_bytes(state->size, state->bytes, state->size);
    return hash ? hash : 1;
}

/** Read [at, end); false: the transport stops for good. */
static bool read_to(struct pug_tree *tree, const uint8_t *bytes, uint64_t at, uint64_t end)
{
    const enum pug_response response = pug_tree_feed(tree, bytes, &at, end);
    return at == end && PUG_RESP_IS_CONT(response);
}

/** Where to start so that the sources are synchronised some blocks before `block`. */
static uint64_t start_before(const struct pug_index *index, uint64_t block, uint64_t back)
{
    uint64_t size = index->header->block;
    uint64_t before = block > back ? (block - back) * size : 0;
    uint64_t at = before ? pug_index_sync_before(index, PUG_INDEX_ANY, before) : 0;
    /* A source that was synchronised long ago does not make everything be read. */
    uint64_t least = block > 2 * back + 1 ? (block - 2 * back - 1) * size : 0;
    at = at > least ? at : least;
    return at - at % INDEX_ALIGNMENT;
}

bool index_reach(const struct pug_index *index, const struct pug_tree *tree, const uint8_t *bytes,
                 bool elements, uint64_t block, struct pug_tree **reached)
{
    struct pug_state state = {0};
    const struct index_block *wanted = &index->blocks[block];
    uint64_t hash = elements ? wanted->elements : wanted->packets;
    bool there = false;
    for (uint64_t back = 0; !there; back = FARTHER * back + 1) {
        uint64_t at = hash ? start_before(index, block, back) : 0;
        struct pug_tree *fresh = NULL;
        if (pug_tree_clone(tree, NULL, &fresh) != PUG_OK)
            break;
        there = read_to(fresh, bytes, at, block * index->header->block) &&
                (at == 0 || index_state_hash(fresh, &state) == hash);
        if (there)
            *reached = fresh;
        else
            pug_tree_free(fresh);
        if (at == 0)
            break;
    }
    pug_state_free(&state);
    return there;
}

/* ---- for who reads on ---- */

/** Are its decoders' states those of this tree? */
static bool has_decoders(const struct pug_index *index, const struct pug_tree *tree)
{
    return (index->header->flags & INDEX_ELEMENTS) &&
           index->header->decode_identity == index_decode_identity(tree);
}

bool pug_index_reach(const struct pug_index *index, const struct pug_tree *tree,
                     const uint8_t *bytes, uint64_t size, bool elements, uint64_t before,
                     struct pug_tree **reached, uint64_t *at)
{
    const struct index_header *h = index->header;
    uint64_t block = before > 0 ? (before - 1) / h->block : 0;
    if (size < h->indexed)
        return false;
    if (elements && !has_decoders(index, tree))
        return false;
    block = block < h->blocks ? block : h->blocks ? h->blocks - 1 : 0;
    while (block > 0 &&
           (elements ? index->blocks[block].elements : index->blocks[block].packets) == 0)
        block--;
    *at = block * h->block;
    return block > 0 && index_reach(index, tree, bytes, elements, block, reached);
}

uint64_t pug_index_settled(const struct pug_index *index, const struct pug_tree *tree,
                           uint64_t from, uint64_t to)
{
    const struct index_header *h = index->header;
    if (!has_decoders(index, tree) || to > h->indexed)
        return UINT64_MAX;
    uint64_t last = 0;
    for (uint64_t block = from / h->block; block < h->blocks && block * h->block < to; block++)
        last = index->blocks[block].late > last ? index->blocks[block].late : last;
    return last < h->blocks ? (last + 1) * h->block : UINT64_MAX;
}
