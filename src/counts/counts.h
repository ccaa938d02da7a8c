// SPDX-License-Identifier: MIT
/** @file Counts from inside: what the code map and the tree add to them. */
#ifndef PUG_COUNTS_INTERNAL_H
#define PUG_COUNTS_INTERNAL_H

#include "pugmark/counts.h"

/** A count and what it is of: four words that tell it from all others. */
struct pug_count {
    uint64_t key[4];
    uint64_t count;
};

/** Counts by key. */
struct pug_count_table {
    struct pug_count *items;
    uint32_t *slots; /**< numbers of items, plus 1 */
    uint32_t count, room;
    uint32_t slot_mask;
};

/** A taken branch of which it is not known yet where it went. */
struct pug_count_pending {
    bool open;
    bool foreseen; /**< a direct one: that it went to `target` is counted already */
    uint8_t isa;
    uint32_t context;
    uint64_t from, target;
};

/** What a source's first elements have to do with what came before them. */
enum pug_count_head {
    PUG_COUNT_HEAD_OPEN,   /**< nothing was seen that concerns a branch */
    PUG_COUNT_HEAD_PLACE,  /**< execution went on at an address */
    PUG_COUNT_HEAD_CLOSED, /**< nobody knows where it went on */
};

/** The ends of one source's trace. */
struct pug_count_seam {
    uint16_t source;
    uint8_t head; /**< enum pug_count_head */
    uint64_t head_to;
    struct pug_count_pending tail;
};

struct pug_counts {
    struct pug_count_table ranges, jumps;
    struct pug_element *contexts;
    uint32_t context_count, context_room, last_context;
    struct pug_count_seam *seams;
    uint32_t seam_count, seam_room, last_seam;
    bool failed; /**< no memory */
    /* as they are shown */
    struct pug_count_range *shown_ranges;
    struct pug_count_jump *shown_jumps;
};

/** Find items again that were sorted, or got other keys. */
void pug_count_table_index(struct pug_count_table *table);

/** The number of a context, that of an element. UINT32_MAX: no memory. */
uint32_t pug_counts_context(struct pug_counts *counts, const struct pug_element *element);

/** The seam of a source; NULL: no memory. Valid until the next call. */
struct pug_count_seam *pug_counts_seam(struct pug_counts *counts, uint16_t source);

/** A range, as its element or the block of one hop has it, so many times. */
void pug_counts_add_range(struct pug_counts *counts, uint32_t context,
                          const struct pug_element *range, uint64_t count);
/** A jump, so many times; modulo 2^64, so that what was too much can be taken back. */
void pug_counts_add_jump(struct pug_counts *counts, const struct pug_count_pending *from,
                         uint64_t to, uint64_t count);

/** Execution of a source goes on at `to`. */
void pug_counts_go_on(struct pug_counts *counts, struct pug_count_seam *seam, uint64_t to);
/** It goes on nobody knows where. */
void pug_counts_break_off(struct pug_counts *counts, struct pug_count_seam *seam);
/** What is foreseen counts only when it has come. */
void pug_counts_settle(struct pug_counts *counts, struct pug_count_pending *pending);

/** The branch that ends a range. */
static inline struct pug_count_pending pug_counts_branch(const struct pug_element *range,
                                                         uint32_t context)
{
    return (struct pug_count_pending){
        .open = true, .isa = range->isa, .context = context, .from = range->end - range->last_size};
}

/** Does a range end in a branch that is taken? */
static inline bool pug_counts_jumps_on(const struct pug_element *range)
{
    return (range->flags & PUG_ELEM_EXECUTED) &&
           (range->last_type == PUG_INSTR_BR || range->last_type == PUG_INSTR_BR_INDIRECT);
}

#endif
