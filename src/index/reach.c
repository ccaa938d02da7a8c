// SPDX-License-Identifier: MIT
/**
 * @file Coming to a place in the capture without reading all before it. A tree that starts some way
 * before it is in the right state as soon as its state is the one that the index has for the block.
 */
#include "index/reach.h"
#include "tree/tree_internal.h"

#include <stdlib.h>

/* So many times as far back is the next attempt. */
#define FARTHER 4u

/* ---- states ---- */

/** The hash of a section; neither 0 nor PUG_INDEX_STATE_LOST. */
static uint64_t hash_section(struct pug_state_section section)
{
    const uint64_t hash = pug_index_hash_bytes(section.size, section.bytes, section.size);
    return hash > PUG_INDEX_STATE_LOST ? hash : PUG_INDEX_STATE_LOST + 1;
}

static uint64_t hash_source(const struct pug_tree *tree, struct pug_state_section section)
{
    const bool heard = pug_state_section_loss(tree, &section) == PUG_TREE_NO_LOSS;
    const uint64_t hash = hash_section(section);
    if (!pug_tree_tells_losses(tree))
        return hash;
    return (hash & ~PUG_INDEX_HEARD) | UINT64_C(2) | (heard ? PUG_INDEX_HEARD : 0);
}

void pug_index_state_hashes(const struct pug_tree *tree, const struct pug_state *state,
                            uint64_t *hashes)
{
    const uint8_t *at = state->bytes;
    hashes[0] = hash_section(pug_state_section(&at));
    for (size_t i = 0; i < tree->source_count; i++)
        hashes[1 + i] = hash_source(tree, pug_state_section(&at));
}

uint64_t pug_index_state_sum(const uint64_t *hashes, size_t sources)
{
    uint64_t sum = 0;
    for (size_t i = 0; i <= sources; i++)
        sum = pug_index_mix(sum, hashes[i]);
    return sum ? sum : 1;
}

/** The sum for a tree as it is; 0: it has no state. */
static uint64_t state_sum(const struct pug_tree *tree)
{
    struct pug_state state = {0};
    uint64_t *hashes = malloc((1 + tree->source_count) * sizeof(*hashes));
    uint64_t sum = 0;
    if (hashes && pug_tree_state(tree, &state)) {
        pug_index_state_hashes(tree, &state, hashes);
        sum = pug_index_state_sum(hashes, tree->source_count);
    }
    pug_state_free(&state);
    free(hashes);
    return sum;
}

/* ---- coming to a block ---- */

bool pug_index_feed(struct pug_tree *tree, const uint8_t *bytes, uint64_t at, uint64_t end)
{
    return PUG_RESP_IS_CONT(pug_tree_feed(tree, bytes, &at, end)) && at == end;
}

/** Where to start so that a source, or every one, is synchronised some blocks before `block`. */
static uint64_t start_before(const struct pug_index *index, uint32_t source, uint64_t block,
                             uint64_t back)
{
    uint64_t size = index->header->block;
    uint64_t before = block > back ? (block - back) * size : 0;
    uint64_t at = before ? pug_index_sync_before(index, source, before) : 0;
    /* A source that was synchronised long ago does not make everything be read. */
    uint64_t least = block > 2 * back + 1 ? (block - 2 * back - 1) * size : 0;
    at = at > least ? at : least;
    return at - at % PUG_INDEX_ALIGNMENT;
}

/** The last block before `block` that has bytes of a source, plus one; 0: none has. */
static uint64_t silent_from(const struct pug_index *index, uint16_t id, uint64_t block)
{
    for (uint64_t n = pug_index_block_summary(index, block); n-- > 0;) {
        const struct pug_index_file_summary *s = &index->summaries[n];
        if (s->kind == PUG_MARK_DATA && s->source == id && !s->nobody)
            return s->block + UINT64_C(1);
    }
    return 0;
}

/** What is wanted: a tree at the start of a block. */
struct aim {
    const struct pug_index *index;
    const struct pug_tree *model;
    const uint8_t *bytes;
    bool elements;
    bool whole; /* at the begin of a trace nothing counts as lost */
    uint64_t block;
    struct pug_mark_list nobody; /* where marks go when packets are not decoded */
    struct pug_placed_mark marks[2 * PUG_MARK_LIMIT];
};

static void forget_marks(struct pug_mark_list *list)
{
    list->count = 0;
}

static void read_marks(struct pug_tree *tree, struct pug_mark_list *list)
{
    for (size_t i = 0; i < tree->source_count; i++)
        pug_source_marks(tree->sources[i], list);
}

/**
 * A copy of the model that has read [at, end), for one source or, where that is NULL, for all.
 * NULL: no memory, or the transport stops for good.
 */
static struct pug_tree *read_part(struct aim *aim, const struct pug_source *only, uint64_t at,
                                  uint64_t end)
{
    struct pug_tree *tree = NULL;
    if (pug_tree_clone(aim->model, NULL, &tree) != PUG_OK)
        return NULL;
    aim->whole = tree->source_count > 0 && pug_tree_loss_of(tree, 0) == PUG_TREE_NO_LOSS;
    if (only) {
        pug_tree_enable_all(tree, false);
        pug_tree_enable(tree, only->slot, true);
    }
    read_marks(tree, aim->elements ? NULL : &aim->nobody);
    if (pug_index_feed(tree, aim->bytes, at, end))
        return tree;
    pug_tree_free(tree);
    return NULL;
}

/**
 * A source that was silent, or synchronised long ago, did not come to its state in what the tree
 * has read since `from`: it is read alone, where it spoke.
 */
static bool bring_source(struct aim *aim, struct pug_tree *tree, size_t n, uint64_t back,
                         uint64_t from)
{
    struct pug_source *source = tree->sources[n];
    const uint16_t id = pug_source_id(source);
    const uint64_t silent = silent_from(aim->index, id, aim->block);
    const uint64_t at = start_before(aim->index, id, silent, back);
    if (silent == 0 && aim->index->header->from == 0) {
        source->stage.from_begin = true;
        source->heard = aim->whole;
    }
    if (silent == 0 || at >= from)
        return true;
    /* What begins in one block may come with the next. */
    const uint64_t end = silent < aim->block ? silent + 1 : silent;
    struct pug_tree *other = read_part(aim, source, at, end * aim->index->header->block);
    const bool heard = other && pug_tree_loss_of(other, n) == PUG_TREE_NO_LOSS;
    struct pug_source *brought = other ? pug_tree_take(other, aim->model, n) : NULL;
    if (brought) {
        brought->heard = heard;
        pug_source_free(pug_tree_exchange(tree, n, brought));
    }
    pug_tree_free(other);
    return brought != NULL;
}

/** A tree that has read from some blocks before it on, and each source from where it must. */
static struct pug_tree *read_before(struct aim *aim, uint64_t back, uint64_t from)
{
    struct pug_tree *tree = read_part(aim, NULL, from, aim->block * aim->index->header->block);
    bool good = tree != NULL;
    for (size_t n = 0; good && from > 0 && n < tree->source_count; n++)
        good = bring_source(aim, tree, n, back, from);
    if (good)
        return tree;
    pug_tree_free(tree);
    return NULL;
}

bool pug_index_reach_block(const struct pug_index *index, const struct pug_tree *model,
                           const uint8_t *bytes, bool elements, uint64_t block,
                           struct pug_tree **reached)
{
    struct aim aim = {.index = index,
                      .model = model,
                      .bytes = bytes,
                      .elements = elements,
                      .block = block,
                      .nobody = {.room = 2 * PUG_MARK_LIMIT, .full = forget_marks}};
    const uint64_t hash = elements ? index->blocks[block].elements : index->blocks[block].packets;
    uint64_t from = 1;
    aim.nobody.marks = aim.marks;
    *reached = NULL;
    for (uint64_t back = 0; !*reached && from > 0; back = FARTHER * back + 1) {
        from = hash ? start_before(index, PUG_INDEX_ANY, block, back) : 0;
        struct pug_tree *tree = read_before(&aim, back, from);
        if (tree &&
            (from == 0 || (state_sum(tree) == hash &&
                           pug_index_holds(index, bytes, from, block * index->header->block)))) {
            read_marks(tree, NULL);
            *reached = tree;
        } else {
            pug_tree_free(tree);
        }
    }
    return *reached != NULL;
}

/* ---- for who reads on ---- */

bool pug_index_has_states(const struct pug_index *index, const struct pug_tree *tree)
{
    return (index->header->flags & PUG_INDEX_ELEMENTS) &&
           index->header->decode_identity == pug_index_decode_identity(tree);
}

bool pug_index_has_all_states(const struct pug_index *index, const struct pug_tree *tree)
{
    const unsigned flags = index->header->flags & (PUG_INDEX_ENDED | PUG_INDEX_PARTLY);
    return flags == PUG_INDEX_ENDED && pug_index_has_states(index, tree);
}

bool pug_index_reach(const struct pug_index *index, const struct pug_tree *tree,
                     const uint8_t *bytes, uint64_t size, bool elements, uint64_t before,
                     struct pug_tree **reached, uint64_t *at)
{
    const struct pug_index_file_header *h = index->header;
    *reached = NULL;
    if (size < h->indexed)
        return false;
    if (elements && !pug_index_has_states(index, tree))
        return false;
    const uint64_t block =
        pug_index_known_state(index, elements, before > 0 ? (before - 1) / h->block : 0);
    *at = block * h->block;
    return block > 0 && pug_index_reach_block(index, tree, bytes, elements, block, reached);
}

uint64_t pug_index_settled(const struct pug_index *index, const struct pug_tree *tree,
                           uint64_t from, uint64_t to)
{
    const struct pug_index_file_header *h = index->header;
    if (!pug_index_has_all_states(index, tree) || to > h->indexed)
        return UINT64_MAX;
    uint64_t last = 0;
    for (uint64_t block = from / h->block; block < h->blocks && block * h->block < to; block++)
        last = index->blocks[block].late > last ? index->blocks[block].late : last;
    return last < h->blocks ? (last + 1) * h->block : UINT64_MAX;
}
