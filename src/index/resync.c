// SPDX-License-Identifier: MIT
/**
 * @file Coming to a block with decoders, by an index of packets alone. It proves the state of the
 * readers; decoders that begin after one in its right state get the right packets. The packets
 * after each synchronisation point give them what they know. Two of them begin a point apart: all
 * that was before the first one differs for the second as it does for the first, and if they agree
 * it makes no difference.
 */
#include "index/pair.h"
#include "index/reach.h"
#include "tree/embed.h"

#include <stdlib.h>
#include <string.h>

/* Blocks that all attempts may read together, and bytes. */
#define BLOCKS_IN_ALL 64u
#define BYTES_IN_ALL  (UINT64_C(1) << 26)

struct telling {
    const struct pug_index *index;
    const struct pug_tree *model;
    const uint8_t *bytes;
    struct pug_index_pair pair; /* `whole` is the one that began earlier */
    bool *told;                 /* of each source: it is in its right state */
    uint64_t left;              /* bytes that may still be read */
};

/** Are ids of contexts repeated? Where the capture has none there is none to know. */
static bool knows_ids(const struct telling *telling, const struct pug_source *source)
{
    const struct pug_index *index = telling->index;
    const uint8_t known = pug_source_known_context(source);
    for (uint32_t i = 0; i < index->header->sources; i++) {
        const struct pug_index_file_source *of = &index->sources[i];
        if (of->id == pug_source_id(source) && !(of->flags & PUG_INDEX_SOURCE_NOBODY))
            return ((known & PUG_CTX_CONTEXT_ID) || of->counts[PUG_MARK_CONTEXT] == 0) &&
                   ((known & PUG_CTX_VMID) || of->counts[PUG_MARK_VMID] == 0);
    }
    return true;
}

static bool is_told(const struct telling *telling, const struct pug_tree *tree, size_t n)
{
    const struct pug_source *source = pug_tree_source_at(tree, n);
    return pug_source_can_resync(source) && knows_ids(telling, source) &&
           pug_source_is_resynced(source);
}

static void note_told(const struct telling *telling, const struct pug_tree *tree)
{
    for (size_t n = 0; n < pug_tree_source_count(tree); n++)
        telling->told[n] = telling->told[n] && is_told(telling, tree, n);
}

/** pug_index_same_fn. */
static bool note_same(void *context, size_t n, bool same)
{
    const struct telling *telling = context;
    if (n == 0)
        return same;
    telling->told[n - 1] = telling->told[n - 1] && same;
    return true;
}

/**
 * What the state of readers leaves out is what is above the bits of times that packets tell. The
 * last time of the block before may be that of a packet that ends after it.
 */
static void complete_time(const struct telling *telling, struct pug_source *source, uint64_t block)
{
    uint64_t time;
    const unsigned bits = pug_source_clock(source, &time);
    if (bits == 64)
        return;
    const struct pug_index_file_summary *told =
        pug_index_last_summary(telling->index, pug_source_id(source), PUG_MARK_TIMESTAMP, block);
    const uint64_t last = told ? told->last : 0;
    pug_source_set_time(source, last - ((last - time) & pug_clock_mask(bits)));
}

/**
 * Give decoders that begin after the bytes of their readers what they learn from these; false: no
 * memory.
 */
static bool begin_decoders(const struct telling *telling, struct pug_tree *tree, uint64_t block)
{
    bool good = true;
    for (size_t n = 0; good && n < pug_tree_source_count(tree); n++) {
        struct pug_source *source = pug_tree_source_at(tree, n);
        if (!pug_source_can_resync(source))
            continue;
        complete_time(telling, source, block);
        good = pug_source_begin_decoder(source);
    }
    return good;
}

/** Readers as they are at a block, and decoders that are new; of one source or of all. */
static struct pug_tree *begin_at(const struct telling *telling, const struct pug_source *only,
                                 uint64_t block)
{
    struct pug_tree *tree =
        pug_index_reach_near(telling->index, telling->model, telling->bytes, block, telling->left);
    if (tree && !begin_decoders(telling, tree, block)) {
        pug_tree_free(tree);
        return NULL;
    }
    if (tree && only) {
        pug_tree_enable_all(tree, false);
        pug_tree_enable(tree, pug_source_slot(only), true);
    }
    return tree;
}

/** Where to begin so that a source, or every one, is synchronised some blocks before `block`. */
static uint64_t begin_before(const struct telling *telling, uint32_t source, uint64_t block,
                             uint64_t back)
{
    const struct pug_index *index = telling->index;
    return pug_index_known_state(
        index, false, pug_index_start_before(index, source, block, back) / index->header->block);
}

/**
 * Both trees at `end`, having begun a synchronisation point apart; `told` lists the sources for
 * which it suffices.
 */
static bool read_pair(struct telling *telling, const struct pug_source *only, uint64_t end,
                      uint64_t back)
{
    const uint64_t size = telling->index->header->block;
    const uint32_t id = only ? pug_source_id(only) : PUG_INDEX_ANY;
    const uint64_t second = begin_before(telling, id, end, back);
    const uint64_t first = begin_before(telling, id, second, back);
    struct pug_index_pair *pair = &telling->pair;
    const uint64_t cost = (end - first + end - second) * size;
    pug_index_pair_free(pair);
    telling->left -= cost < telling->left ? cost : telling->left;
    if (telling->left == 0)
        return false;
    if (first == 0) /* there is no farther attempt */
        telling->left = 0;
    for (size_t n = 0; n < pug_tree_source_count(telling->model); n++)
        telling->told[n] = true;
    if (!pug_index_holds(telling->index, telling->bytes, first * size, end * size) ||
        !(pair->whole = begin_at(telling, only, first)))
        return false;
    if (first == 0) /* it knows all */
        return pug_index_feed(pair->whole, telling->bytes, 0, end * size);
    if (!(pair->fresh = begin_at(telling, only, second)) ||
        !pug_index_feed(pair->whole, telling->bytes, first * size, second * size))
        return false;
    note_told(telling, pair->whole);
    if (!pug_index_pair_feed(pair, telling->bytes, second * size, end * size))
        return false;
    note_told(telling, pair->fresh);
    return pug_index_pair_compare(pair, note_same, telling);
}

/** One source, read alone from farther and farther before where it spoke last. */
static bool bring_told(struct telling *telling, struct pug_tree *tree, size_t n, uint64_t block)
{
    const struct pug_source *source = pug_tree_source_at(telling->model, n);
    const uint64_t silent = pug_index_silent_from(telling->index, pug_source_id(source), block);
    /* Packets that begin in one block may come with the next. */
    const uint64_t end = silent < block ? silent + 1 : block;
    bool brought = silent == 0;
    for (uint64_t back = 0; !brought && telling->left > 0; back = pug_index_farther(back))
        brought = read_pair(telling, source, end, back) && telling->told[n] &&
                  pug_index_move_source(telling->pair.whole, telling->model, n, tree);
    return brought;
}

/** The tree that began earlier, as soon as each of its sources is right; else NULL. */
static struct pug_tree *take_told(struct telling *telling, const bool *told, uint64_t block)
{
    struct pug_tree *tree = telling->pair.whole;
    bool all = true;
    telling->pair.whole = NULL;
    for (size_t n = 0; all && n < pug_tree_source_count(telling->model); n++)
        all = told[n] || bring_told(telling, tree, n, block);
    if (all)
        return tree;
    pug_tree_free(tree);
    return NULL;
}

/** A source that never spoke before the block has nothing to know. */
static bool are_tellable(const struct telling *telling, uint64_t block)
{
    const struct pug_tree *model = telling->model;
    size_t n = 0;
    while (n < pug_tree_source_count(model) &&
           (pug_source_can_resync(pug_tree_source_at(model, n)) ||
            !pug_index_silent_from(telling->index, pug_source_id(pug_tree_source_at(model, n)),
                                   block)))
        n++;
    return n == pug_tree_source_count(model);
}

bool pug_index_reach_resync(const struct pug_index *index, const struct pug_tree *tree,
                            const uint8_t *bytes, uint64_t block, struct pug_tree **reached)
{
    const uint64_t most = BLOCKS_IN_ALL * index->header->block;
    struct telling telling = {.index = index,
                              .model = tree,
                              .bytes = bytes,
                              .left = most < BYTES_IN_ALL ? most : BYTES_IN_ALL};
    const size_t count = pug_tree_source_count(tree);
    bool *told = calloc(count + 1, sizeof(*told));
    telling.told = calloc(count + 1, sizeof(*telling.told));
    *reached = NULL;
    if (told && telling.told && index->header->from == 0 && are_tellable(&telling, block) &&
        read_pair(&telling, NULL, block, 0)) {
        memcpy(told, telling.told, count);
        *reached = take_told(&telling, told, block);
    }
    pug_index_pair_free(&telling.pair);
    free(telling.told);
    free(told);
    return *reached != NULL;
}
