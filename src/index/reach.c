// SPDX-License-Identifier: MIT
/**
 * @file Coming to a place in the capture without reading all before it. A tree that starts some way
 * before it is in the right state as soon as its state is the one that the index has for the block.
 */
#include "index/reach.h"
#include "tree/embed.h"

#include <stdlib.h>

/* A block whose state the index has will do, if it is no more blocks before the place. */
#define NEAR 4u

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
    for (size_t i = 0; i < pug_tree_source_count(tree); i++)
        hashes[1 + i] = hash_source(tree, pug_state_section(&at));
}

uint64_t pug_index_state_sum(const uint64_t *hashes, size_t sources)
{
    uint64_t sum = 0;
    for (size_t i = 0; i <= sources; i++)
        sum = pug_index_mix(sum, hashes[i]);
    return sum ? sum : 1;
}

uint64_t pug_index_tree_sum(const struct pug_tree *tree)
{
    struct pug_state state = {0};
    uint64_t *hashes = calloc(1 + pug_tree_source_count(tree), sizeof(*hashes));
    uint64_t sum = 0;
    if (hashes && pug_tree_state(tree, &state)) {
        pug_index_state_hashes(tree, &state, hashes);
        sum = pug_index_state_sum(hashes, pug_tree_source_count(tree));
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

uint64_t pug_index_start_before(const struct pug_index *index, uint32_t source, uint64_t block,
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

const struct pug_index_file_summary *pug_index_last_summary(const struct pug_index *index,
                                                            uint16_t id, enum pug_mark_kind kind,
                                                            uint64_t block)
{
    for (uint64_t n = pug_index_block_summary(index, block); n-- > 0;) {
        const struct pug_index_file_summary *s = &index->summaries[n];
        if (s->kind == kind && s->source == id && !s->nobody)
            return s;
    }
    return NULL;
}

uint64_t pug_index_silent_from(const struct pug_index *index, uint16_t id, uint64_t block)
{
    const struct pug_index_file_summary *last =
        pug_index_last_summary(index, id, PUG_MARK_DATA, block);
    return last ? last->block + UINT64_C(1) : 0;
}

/** The wanted result: a tree at the start of a block. */
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

bool pug_index_move_source(struct pug_tree *from, const struct pug_tree *model, size_t n,
                           struct pug_tree *to)
{
    const bool heard = pug_tree_loss_of(from, n) == PUG_TREE_NO_LOSS;
    struct pug_source *source = pug_tree_take_source(from, model, n);
    if (!source)
        return false;
    pug_source_set_heard(source, heard);
    pug_tree_put_source(to, n, source);
    return true;
}

static void forget_marks(struct pug_mark_list *list)
{
    list->count = 0;
}

static void read_marks(struct pug_tree *tree, struct pug_mark_list *list)
{
    for (size_t i = 0; i < pug_tree_source_count(tree); i++)
        pug_source_marks(pug_tree_source_at(tree, i), list);
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
    aim->whole = pug_tree_source_count(tree) > 0 && pug_tree_loss_of(tree, 0) == PUG_TREE_NO_LOSS;
    if (only) {
        pug_tree_enable_all(tree, false);
        pug_tree_enable(tree, pug_source_slot(only), true);
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
    struct pug_source *source = pug_tree_source_at(tree, n);
    const uint16_t id = pug_source_id(source);
    const uint64_t silent = pug_index_silent_from(aim->index, id, aim->block);
    const uint64_t at = pug_index_start_before(aim->index, id, silent, back);
    if (silent == 0 && aim->index->header->from == 0)
        pug_source_start_at_begin(source, aim->whole);
    if (silent == 0 || at >= from)
        return true;
    /* Packets that begin in one block may come with the next. */
    const uint64_t end = silent < aim->block ? silent + 1 : silent;
    struct pug_tree *other = read_part(aim, source, at, end * aim->index->header->block);
    const bool brought = other && pug_index_move_source(other, aim->model, n, tree);
    pug_tree_free(other);
    return brought;
}

/** A tree that has read from some blocks before it on, and each source from where it must. */
static struct pug_tree *read_before(struct aim *aim, uint64_t back, uint64_t from)
{
    struct pug_tree *tree = read_part(aim, NULL, from, aim->block * aim->index->header->block);
    bool good = tree != NULL;
    for (size_t n = 0; good && from > 0 && n < pug_tree_source_count(tree); n++)
        good = bring_source(aim, tree, n, back, from);
    if (good)
        return tree;
    pug_tree_free(tree);
    return NULL;
}

/** Is a tree that has read from `from` on in the state that the index has, of these bytes? */
static bool is_proved(const struct aim *aim, const struct pug_tree *tree, uint64_t hash,
                      uint64_t from)
{
    return pug_index_tree_sum(tree) == hash &&
           pug_index_holds(aim->index, aim->bytes, from, aim->block * aim->index->header->block);
}

/**
 * A tree at the block: proved to be right, having read nothing before `least`, or having read all.
 * NULL: there is none.
 */
static struct pug_tree *come(struct aim *aim, uint64_t least, bool by_all)
{
    const struct pug_index_file_block *at = &aim->index->blocks[aim->block];
    const uint64_t hash = aim->elements ? at->elements : at->packets;
    uint64_t from = 1;
    aim->nobody = (struct pug_mark_list){
        .marks = aim->marks, .room = 2 * PUG_MARK_LIMIT, .full = forget_marks};
    for (uint64_t back = 0; from > 0; back = pug_index_farther(back)) {
        from = hash ? pug_index_start_before(aim->index, PUG_INDEX_ANY, aim->block, back) : 0;
        if (from < least)
            return NULL;
        struct pug_tree *tree = read_before(aim, back, from);
        if (tree && ((from == 0 && by_all) || is_proved(aim, tree, hash, from))) {
            read_marks(tree, NULL);
            return tree;
        }
        pug_tree_free(tree);
    }
    return NULL;
}

bool pug_index_reach_block(const struct pug_index *index, const struct pug_tree *model,
                           const uint8_t *bytes, bool elements, uint64_t block,
                           struct pug_tree **reached)
{
    struct aim aim = {
        .index = index, .model = model, .bytes = bytes, .elements = elements, .block = block};
    *reached = come(&aim, 0, true);
    return *reached != NULL;
}

struct pug_tree *pug_index_reach_near(const struct pug_index *index, const struct pug_tree *model,
                                      const uint8_t *bytes, uint64_t block, uint64_t most)
{
    struct aim aim = {.index = index, .model = model, .bytes = bytes, .block = block};
    const uint64_t at = block * index->header->block;
    return come(&aim, at > most ? at - most : 0, false);
}

/* ---- for code that reads on ---- */

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
    const uint64_t last = before > 0 ? (before - 1) / h->block : 0;
    const uint64_t block = pug_index_known_state(index, false, last);
    const bool known = !elements || pug_index_has_states(index, tree);
    const uint64_t states = known ? pug_index_known_state(index, elements, last) : 0;
    *at = block * h->block;
    if (block > 0 && block - states > NEAR && elements &&
        pug_index_reach_resync(index, tree, bytes, block, reached))
        return true;
    *at = states * h->block;
    return states > 0 && pug_index_reach_block(index, tree, bytes, elements, states, reached);
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
