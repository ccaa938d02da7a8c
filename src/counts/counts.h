// SPDX-License-Identifier: MIT
/** @file Counts from inside: what the code map and the tree add to them. */
#ifndef PUG_COUNTS_INTERNAL_H
#define PUG_COUNTS_INTERNAL_H

#include "base/bytes.h"
#include "pugmark/advanced/counts.h"

/** A count and what it is of: four words that tell it from all others. */
struct pug_count {
    uint64_t key[4];
    uint64_t count, cycles;
    /* Of a range: numbers of those that followed lately, and of where its branch went. */
    uint32_t next[2], jump;
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
    uint8_t isa, last_type, last_subtype;
    uint32_t context;
    uint64_t from, target;
};

/** The fields in which ranges differ. */
struct pug_count_key {
    uint64_t words[4];
};

/** What a source's first elements have to do with what came before them. */
enum pug_count_head {
    PUG_COUNT_HEAD_OPEN,   /**< nothing was seen that concerns a branch */
    PUG_COUNT_HEAD_PLACE,  /**< execution went on at an address */
    PUG_COUNT_HEAD_CLOSED, /**< the place where it continued is unknown */
};

/** The ends of one source's trace. */
struct pug_count_boundary {
    uint16_t source;
    uint8_t head;    /**< enum pug_count_head */
    bool head_range; /**< the head is a range that has to follow what came before it */
    bool head_free;  /**< or not: something came between */
    bool follows;    /**< the next range is to begin at `next` */
    bool has_last;
    uint64_t memory; /**< which of several memories the source sees; 0: there is one */
    uint64_t head_to, head_cycles, next;
    struct pug_count_pending tail;
    struct pug_count_key last; /**< the range that cycles are of */
    uint32_t last_item;        /**< probably its number */
};

struct pug_counts {
    struct pug_count_table ranges, jumps;
    struct pug_count_table contexts; /**< of their items only keys count, numbers name them */
    uint32_t last_context;
    struct pug_count_boundary *boundaries;
    uint32_t boundary_count, boundary_room, last_boundary;
    uint64_t contradictions;
    bool failed; /**< no memory */
    bool bare;   /**< no more than sums is added up; contexts have the number 0 */
    uint64_t range_sum, instruction_sum; /**< of what is not in `ranges` */
    /* as they are shown */
    struct pug_count_range *shown_ranges;
    struct pug_count_jump *shown_jumps;
    struct pug_element *shown_contexts;
};

/** Find items again that were sorted, or got other keys. */
void pug_count_table_index(struct pug_count_table *table);

/**
 * A context's key: context id, VMID, source, security, level and flags, which lie together, and the
 * memory that its source saw.
 */
static inline struct pug_count_key pug_counts_context_key(const struct pug_element *element,
                                                          uint64_t memory)
{
    struct pug_count_key key = {{0, 0, memory, 0}};
    memcpy(key.words, &element->context_id, 16);
    return key;
}

/** Is an element of this context, whatever memory its source saw? */
static inline bool pug_counts_is_of(const struct pug_count_key *context,
                                    const struct pug_element *element)
{
    const struct pug_count_key own = pug_counts_context_key(element, 0);
    return own.words[0] == context->words[0] && own.words[1] == context->words[1];
}

/** The context of a key, as an element; `value`: the memory. */
static inline struct pug_element pug_counts_element_of(const uint64_t key[4])
{
    struct pug_element element = {.value = key[2]};
    memcpy(&element.context_id, key, 16);
    return element;
}

/** The same by its number. */
static inline struct pug_element pug_counts_context_element(const struct pug_counts *counts,
                                                            uint32_t number)
{
    return pug_counts_element_of(counts->contexts.items[number].key);
}

/** All contexts' memories are others: what `memory` says of each, as an element, for `asker`. */
void pug_counts_change_memories(struct pug_counts *counts,
                                uint64_t (*memory)(const void *asker,
                                                   const struct pug_element *context),
                                const void *asker);

/** The number of a context: an element's, and its source's memory. UINT32_MAX: no memory. */
uint32_t pug_counts_context(struct pug_counts *counts, const struct pug_element *element,
                            uint64_t memory);

/** The same, whichever was asked for last. */
struct pug_count_boundary *pug_counts_find_boundary(struct pug_counts *counts, uint16_t source);

/** The boundary of a source; NULL: no memory. Valid until the next call. */
static inline struct pug_count_boundary *pug_counts_boundary(struct pug_counts *counts,
                                                             uint16_t source)
{
    if (counts->boundary_count > 0 && counts->boundaries[counts->last_boundary].source == source)
        return &counts->boundaries[counts->last_boundary];
    return pug_counts_find_boundary(counts, source);
}

/** A range, as its element or the block of one hop has it, so many times, with so many cycles. */
void pug_counts_add_range(struct pug_counts *counts, uint32_t context,
                          const struct pug_element *range, uint64_t count, uint64_t cycles);
/** Cycles that passed since a source's last range, or before its first one. */
void pug_counts_add_cycles(struct pug_counts *counts, struct pug_count_boundary *boundary,
                           uint64_t cycles);
/** A jump, so many times; modulo 2^64, so that what was too much can be taken back. */
void pug_counts_add_jump(struct pug_counts *counts, const struct pug_count_pending *from,
                         uint64_t to, uint64_t count);

/** Which memory a source sees from here on; what it ran until now is counted. */
void pug_counts_set_memory(struct pug_counts *counts, uint16_t source, uint64_t memory);

/** Execution of a source goes on at `to`. */
void pug_counts_go_on(struct pug_counts *counts, struct pug_count_boundary *boundary, uint64_t to);
/** The same by a range that begins there: it has to follow the one before. */
void pug_counts_follow(struct pug_counts *counts, struct pug_count_boundary *boundary, uint64_t to);
/** A range was the source's last. Where its branch goes is for the boundary's tail. */
void pug_counts_behind(struct pug_count_boundary *boundary, uint32_t context,
                       const struct pug_element *range);
/** It continues at an unknown place. */
void pug_counts_break_off(struct pug_counts *counts, struct pug_count_boundary *boundary);
/** All sources' traces end here; what comes then has nothing to do with it. */
void pug_counts_end(struct pug_counts *counts);
/** A prediction counts only after it has come true. */
void pug_counts_settle(struct pug_counts *counts, struct pug_count_pending *pending);

/** As bytes, for another process of the same build. */
void pug_counts_pack(const struct pug_counts *counts, struct pug_state *bytes);
/** NULL: no memory. */
struct pug_counts *pug_counts_unpack(struct pug_bytes *bytes);

/** The branch that ends a range. */
static inline struct pug_count_pending pug_counts_branch(const struct pug_element *range,
                                                         uint32_t context)
{
    return (struct pug_count_pending){.open = true,
                                      .isa = range->isa,
                                      .last_type = range->last_type,
                                      .last_subtype = range->last_subtype,
                                      .context = context,
                                      .from = range->end - range->last_size};
}

/** The part of a jump's key, its fourth word, that belongs to its branch. */
static inline struct pug_count_pending pug_counts_jumped(const struct pug_count *jump)
{
    return (struct pug_count_pending){.isa = (uint8_t)jump->key[3],
                                      .last_type = (uint8_t)(jump->key[3] >> 8),
                                      .last_subtype = (uint8_t)(jump->key[3] >> 16),
                                      .context = (uint32_t)(jump->key[2] >> 32),
                                      .from = jump->key[0],
                                      .target = jump->key[1]};
}

/** Does a range end in a branch that is taken? */
static inline bool pug_counts_jumps_on(const struct pug_element *range)
{
    return (range->flags & PUG_ELEM_EXECUTED) &&
           (range->last_type == PUG_INSTR_BR || range->last_type == PUG_INSTR_BR_INDIRECT);
}

#endif
