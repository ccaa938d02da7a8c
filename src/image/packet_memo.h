// SPDX-License-Identifier: MIT
/**
 * @file What packets did before, kept to be done again. A packet that is met again in the same
 * state of the decoder has the same effect again, and programs go in circles. So the blocks that it
 * hopped over, the one after them and the decoder's state at the end are kept. Then the packet need
 * not be taken apart, and its end need not be searched. For protocols whose packets say much at
 * once.
 *
 * A memo is kept when its packet is met for the second time. To forget it changes no element.
 */
#ifndef PUG_IMAGE_PACKET_MEMO_H
#define PUG_IMAGE_PACKET_MEMO_H

#include "image/codemap.h"

/** Most blocks. Where there are more, a packet costs little beside them. */
#define PUG_MEMO_HOPS 16u

/** No memo's number. */
#define PUG_MEMO_NONE UINT32_MAX

/** A hop: the block, and in bit 0 whether it was left by its branch. */
typedef uintptr_t pug_memo_hop;

static inline const struct pug_block *pug_memo_block(pug_memo_hop hop)
{
    return (const struct pug_block *)(hop & ~(pug_memo_hop)1);
}

/** A packet's effect follows from these. */
struct pug_memo_cause {
    uint64_t low, high; /**< the packet */
    uint64_t at, base;  /**< where execution is, and what addresses are relative to */
    uint64_t rest;      /**< of where the decoder stands */
};

struct pug_memo {
    alignas(64) struct pug_memo_cause cause;
    uint64_t stamp;      /**< of the map, in which it holds; 0: nothing */
    uint32_t hits;       /**< for counting */
    uint32_t number;     /**< no two have the same */
    uint32_t next;       /**< number of the one that followed it lately, or NONE … */
    uint16_t next_place; /**< … and its place then */
    uint8_t ranges;      /**< that it gives; 0: this packet's are not kept */
    uint8_t count;       /**< of hops */
    struct {
        uint64_t start, end, tail;
    } last; /**< the fields of a range after the hops that are its own: not its place …
             */
    uint32_t last_count; /**< … in the trace, nor in which context */
    uint8_t told;        /**< bytes of the first range's block that were reported before */
    bool silent;         /**< the first hop's block was reported before: it has no range */
    bool ends_inside;    /**< there is a last range */
    uint64_t saved[4];   /**< where the decoder stands then, as it says that */
    pug_memo_hop hops[PUG_MEMO_HOPS];
};

/** Zeroed it is empty. */
struct pug_memos {
    struct pug_memo *items; /**< NULL: none yet; each has two places, side by side */
    uint32_t *met;          /**< prints of packets that were met */
    uint32_t mask;          /**< of items */
    uint32_t number;        /**< of the one that was kept last */
    /** The one that leaves the decoder at its place, and has not reported it yet; or NULL. */
    struct pug_memo *at;
    uint32_t replaced;       /**< since there are so many */
    uint32_t hits, misses;   /**< lately */
    uint32_t rest;           /**< so many packets are not looked for: few were found */
    struct pug_paths *paths; /**< on whose counts they are counted; NULL: none was */
    /** Takes over the hits of a memo that is about to be dropped or changed. */
    void (*lose_hits)(struct pug_memos *memos, struct pug_memo *memo);
    const struct pug_memo *counted; /**< the last of a row of such, or NULL */
};

void pug_memos_free(struct pug_memos *memos);
/** Has lose_hits() take over the hits of all memos. */
void pug_memos_lose_hits(struct pug_memos *memos);
/** Before a change of what they depend on, and neither their words nor the map tell. */
void pug_memos_forget(struct pug_memos *memos);

/** What follows from the packet before comes last, since all waits for it. */
static inline uint64_t pug_memo_hash(struct pug_memo_cause cause)
{
    const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);
    const uint64_t packet = ((cause.low ^ cause.low >> 29) * odd ^ cause.high) * odd;
    return packet >> 32 ^ cause.rest ^ cause.base >> 4 ^ cause.at >> 11 ^ cause.at >> 1;
}

/** private. Each word by itself: who takes two at once waits until both are stored. */
static inline bool pug_memo_is(const struct pug_memo *memo, struct pug_memo_cause cause,
                               uint64_t stamp)
{
    return memo->cause.at == cause.at && memo->cause.low == cause.low &&
           memo->cause.base == cause.base && memo->cause.rest == cause.rest &&
           memo->cause.high == cause.high && memo->stamp == stamp;
}

/** Is there no use in looking? Asked once a packet. */
static inline bool pug_memos_rest(struct pug_memos *memos)
{
    if (memos->rest == 0)
        return false;
    memos->rest--;
    return true;
}

/** Nothing was found, or nothing that is kept. */
static inline void pug_memos_miss(struct pug_memos *memos)
{
    if (++memos->misses < 256)
        return;
    memos->rest = memos->hits < 64 ? 4096 : 0;
    memos->hits = memos->misses = 0;
}

/** A packet that is to become a memo, and what was before it. */
struct pug_memo_lookup {
    bool keeps;     /**< it is; else there is nothing else here */
    uint8_t told;   /**< bytes of the first block that were reported before */
    uint32_t count; /**< elements in the batch */
    uint64_t stamp;
    struct pug_memo_cause cause;
};

/** private: it is no memo yet, a miss. If it was met before it is to become one. */
void pug_memos_look_up_first(struct pug_memos *memos, const struct pug_codemap *map,
                             struct pug_memo_lookup *lookup);

/** private: the memo, or NULL. */
static inline struct pug_memo *pug_memos_find(const struct pug_memos *memos,
                                              const struct pug_codemap *map,
                                              struct pug_memo_cause cause)
{
    if (!memos->items)
        return NULL;
    const uint64_t stamp = pug_codemap_stamp(map);
    struct pug_memo *memo = &memos->items[(uint32_t)pug_memo_hash(cause) & memos->mask];
    if (pug_memo_is(memo, cause, stamp))
        return memo;
    memo = &memos->items[(memo - memos->items) ^ 1];
    return pug_memo_is(memo, cause, stamp) ? memo : NULL;
}

/**
 * The memo of a packet, if it also followed the last one before: then the decoder's place need not
 * be compared, nor be known. NULL: perhaps it is another.
 */
static inline struct pug_memo *pug_memos_next(const struct pug_memos *memos, uint64_t low,
                                              uint64_t high)
{
    const struct pug_memo *at = memos->at;
    if (!at)
        return NULL;
    struct pug_memo *next = &memos->items[at->next_place];
    const bool is = next->number == at->next && next->cause.low == low && next->cause.high == high;
    return is ? next : NULL;
}

/** It followed that one, if one exists. */
static inline void pug_memos_follow(const struct pug_memos *memos, struct pug_memo *before,
                                    const struct pug_memo *memo)
{
    if (!before)
        return;
    before->next = memo->number;
    before->next_place = (uint16_t)(memo - memos->items);
}

/**
 * The memo of a packet. NULL: it is to be decoded, and whether it is to become one is in
 * `lookup`.
 */
static inline struct pug_memo *pug_memos_look(struct pug_memos *memos,
                                              const struct pug_codemap *map,
                                              const struct pug_batch *batch,
                                              struct pug_memo_cause cause, uint8_t told,
                                              struct pug_memo_lookup *lookup)
{
    struct pug_memo *memo = pug_memos_find(memos, map, cause);
    if (memo && memo->ranges > 0)
        return memo;
    if (memo) {
        pug_memos_miss(memos);
        return NULL;
    }
    *lookup = (struct pug_memo_lookup){.told = told, .count = batch->count, .cause = cause};
    pug_memos_look_up_first(memos, map, lookup);
    return NULL;
}

/** Are its elements there, and are blocks what they were? */
bool pug_memo_lookup_holds(const struct pug_memo_lookup *lookup, const struct pug_codemap *map,
                           const struct pug_batch *batch);

/** How a way begins and ends. */
struct pug_memo_way {
    bool taken;  /**< how the first block is left, if nothing is left to tell of it */
    bool inside; /**< the last range may be any that begins with a block; else it is a hop, too */
};

/**
 * Make the elements that it gave a memo's hops. False: they are not ranges of whole blocks along
 * links, or are too many, and the memo is one of a packet whose ranges are not kept.
 */
bool pug_memo_hops(struct pug_memo *memo, const struct pug_codemap *map,
                   const struct pug_batch *batch, const struct pug_memo_lookup *lookup,
                   const struct pug_block *first, struct pug_memo_way way);

/** Marks a packet whose ranges are not kept, so that it is not tried again. */
static inline void pug_memo_none(struct pug_memo *memo)
{
    memo->ranges = 0;
}

void pug_memos_keep(struct pug_memos *memos, const struct pug_codemap *map, struct pug_memo *memo);

/** The start of the range after a hop. */
static inline uint64_t pug_memo_behind(const struct pug_memo *memo, uint32_t hop)
{
    return hop + 1u < memo->count ? pug_memo_block(memo->hops[hop + 1])->start : memo->last.start;
}

/** Its last range, but for where in the trace and in which context, into a range. */
static inline void pug_memo_put_last(const struct pug_memo *memo, struct pug_element *range)
{
    range->start = memo->last.start;
    range->end = memo->last.end;
    range->count = memo->last_count;
    range->cycle_count = 0;
    memcpy(&range->flags, &memo->last.tail, sizeof(memo->last.tail));
}

/** Is it a return that the stack infers? The last hop may be one that was reported. */
static inline bool pug_memo_infers(const struct pug_memo *memo, uint32_t hop, bool last_is_told)
{
    return pug_memo_block(memo->hops[hop])->insn.kind == PUG_RV_RETURN &&
           (hop + 1u < memo->count || !last_is_told);
}

/** Are there calls or returns among its hops? */
static inline bool pug_memo_has_calls(const struct pug_memo *memo)
{
    bool has = false;
    for (uint32_t i = 0; i < memo->count; i++) {
        const uint8_t kind = pug_memo_block(memo->hops[i])->insn.kind;
        has |= kind == PUG_RV_CALL || kind == PUG_RV_RETURN;
    }
    return has;
}

/** A stack of returns: so many addresses there are and may be, and the n-th newest of them. */
struct pug_memo_stack {
    uint32_t entries, limit;
    uint64_t (*newest)(const void *context, uint32_t n);
    const void *context;
};

/**
 * Does it infer the same returns as before? Those of calls on the way it does; what others find is
 * looked at. How many addresses are left, or -1.
 */
int64_t pug_memo_fits(const struct pug_memo *memo, const struct pug_memo_stack *stack,
                      bool last_is_told);

/** Its ranges once more, in a batch that is below its limit. */
static inline void pug_memo_repeat(struct pug_memos *memos, const struct pug_memo *memo,
                                   struct pug_out *out, uint64_t index)
{
    struct pug_batch *batch = out->batch;
    const struct pug_range_context context = pug_range_context(&out->blank);
    struct pug_element *const first = &batch->elements[batch->count];
    struct pug_element *e = first;
    for (uint32_t i = memo->silent; i < memo->count; i++) {
        const pug_memo_hop hop = memo->hops[i];
        pug_block_range(e++, pug_memo_block(hop), index, &context, hop & 1);
    }
    if (memo->ends_inside) {
        e->index = index;
        e->value = 0;
        memcpy(&e->context_id, &context, sizeof(context));
        pug_memo_put_last(memo, e);
    }
    if (memo->told > 0) {
        first->start += memo->told;
        first->count--;
    }
    batch->count += memo->ranges;
    memos->hits++;
}

#endif
