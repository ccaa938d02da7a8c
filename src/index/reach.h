// SPDX-License-Identifier: MIT
/** @file States in an index, and coming to a block by them. */
#ifndef PUG_INDEX_REACH_H
#define PUG_INDEX_REACH_H

#include "index/format.h"
#include "pugmark/advanced/state.h"
#include "pugmark/advanced/tree.h"

/**
 * Hashes of a tree's state: of that of the transport, and of each source; never 0. Where the
 * transport reports losses, bit 0 of a source's says that none came since its last bytes.
 */
#define PUG_INDEX_HEARD UINT64_C(1)
void pug_index_state_hashes(const struct pug_tree *tree, const struct pug_state *state,
                            uint64_t *hashes);
/** Instead of a source's: it has the one that it had before, but something was lost since. */
#define PUG_INDEX_STATE_LOST UINT64_C(1)
/** A block's sum of them; never 0. */
uint64_t pug_index_state_sum(const uint64_t *hashes, size_t sources);
/** The sum of a tree's present state; 0: it has no state. */
uint64_t pug_index_tree_sum(const struct pug_tree *tree);

/** Are the states of all blocks there, as `tree` makes them, up to the end of trace? */
bool pug_index_has_all_states(const struct pug_index *index, const struct pug_tree *tree);

/** Read [at, end). False: not all was taken, since the transport stopped or somebody waits. */
bool pug_index_feed(struct pug_tree *tree, const uint8_t *bytes, uint64_t at, uint64_t end);

/**
 * The n-th source of `from`, as it is, takes that place in `to`; both are copies of `model`. False:
 * no memory.
 */
bool pug_index_move_source(struct pug_tree *from, const struct pug_tree *model, size_t n,
                           struct pug_tree *to);

/** Where to start so that a source, or every one, is synchronised some blocks before `block`. */
uint64_t pug_index_start_before(const struct pug_index *index, uint32_t source, uint64_t block,
                                uint64_t back);

/** Returns how many blocks back the attempt after this one goes. */
static inline uint64_t pug_index_farther(uint64_t back)
{
    return 4 * back + 1;
}

/** The last one before `block` of a source and a kind; NULL: there is none. */
const struct pug_index_file_summary *pug_index_last_summary(const struct pug_index *index,
                                                            uint16_t id, enum pug_mark_kind kind,
                                                            uint64_t block);
/** The last block before `block` that has bytes of a source, plus one; 0: none has. */
uint64_t pug_index_silent_from(const struct pug_index *index, uint16_t id, uint64_t block);

/** A copy of `tree` that has read all before a block; false: it cannot be brought there. */
bool pug_index_reach_block(const struct pug_index *index, const struct pug_tree *tree,
                           const uint8_t *bytes, bool elements, uint64_t block,
                           struct pug_tree **reached);

/**
 * A copy of `tree` whose packet readers are as they are at a block, by no more than so many bytes
 * before it; its decoders are new. NULL: that cannot be proved.
 */
struct pug_tree *pug_index_reach_near(const struct pug_index *index, const struct pug_tree *tree,
                                      const uint8_t *bytes, uint64_t block, uint64_t most);

/**
 * With decoders, though the index has no states of theirs. The packets after synchronisation points
 * must give them all they know (pug_protocol.self_synced()). And one that began at such a point
 * must have come to the same state as one that began before the point in front of it, so that
 * earlier packets do not matter to either. False: that is not so, or not near.
 */
bool pug_index_reach_resync(const struct pug_index *index, const struct pug_tree *tree,
                            const uint8_t *bytes, uint64_t block, struct pug_tree **reached);

#endif
