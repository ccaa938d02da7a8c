// SPDX-License-Identifier: MIT
/**
 * @file Counts: how often each range of instructions ran, and where branches went, without an
 * element for each time. A tree that counts is several times as fast as one that delivers.
 *
 *     struct pug_counts *counts = pug_counts_new();
 *     pug_tree_count(tree, counts);            ranges are counted from here on, others delivered
 *     ... pug_tree_data(), pug_tree_end() ...
 *     pug_tree_count(tree, NULL);              the counts are complete
 *     ranges = pug_counts_ranges(counts, &n);
 *
 * The counts are those of the elements, range by range: pug_counts_add_elements() over what the
 * tree would have delivered gives the same. They add up: for a trace cut into parts,
 * pug_counts_append() in the order of the parts gives the counts of the whole.
 *
 * A counts object belongs to one thread at a time.
 */
#ifndef PUGMARK_COUNTS_H
#define PUGMARK_COUNTS_H

#include "pugmark/advanced/jobs.h"
#include "pugmark/advanced/tree.h"

#ifdef __cplusplus
extern "C" {
#endif

struct pug_counts;

/** How often a range ran: what its elements have in common. */
struct pug_count_range {
    uint64_t start, end; /**< `end` follows the last instruction */
    uint64_t count;      /**< how often it ran */
    uint64_t cycles;     /**< that came with it, or after it before the next range of its source */
    uint32_t instructions;                      /**< in it */
    uint32_t context;                           /**< number in pug_counts_contexts() */
    uint16_t flags;                             /**< PUG_ELEM_EXECUTED, PUG_ELEM_CONDITIONAL */
    uint8_t last_type, last_subtype, last_size; /**< of the last instruction */
    uint8_t isa;                                /**< enum pug_isa */
};

/**
 * How often a taken branch went somewhere: to the range that followed, or to the return address of
 * an exception that came first. Where the trace does not give it, no jump is counted.
 */
struct pug_count_jump {
    uint64_t from;    /**< address of the branch */
    uint64_t to;      /**< where it went */
    uint64_t count;   /**< how often */
    uint32_t context; /**< that of the branch: number in pug_counts_contexts() */
    uint8_t isa, last_type, last_subtype; /**< those of the branch */
};

/** Empty counts; NULL: no memory. Free with pug_counts_free(). */
struct pug_counts *pug_counts_new(void);
/**
 * Counts that only tell pug_counts_total(), for the least time and no memory: they keep no range,
 * jump or context, and find no contradiction. NULL: no memory.
 */
struct pug_counts *pug_counts_new_bare(void);
/** NULL is allowed. No tree may count there any more. */
void pug_counts_free(struct pug_counts *counts);
/** As new. */
void pug_counts_clear(struct pug_counts *counts);

/** Count elements of any kind and sources, in their order. */
void pug_counts_add_elements(struct pug_counts *counts, const struct pug_element *elements,
                             size_t count);

/**
 * Add what came later in the trace, which stays as it is. If one is bare, only its totals count.
 */
void pug_counts_append(struct pug_counts *counts, const struct pug_counts *later);

/** PUG_OK, or PUG_ERR_MEM: there was not enough memory, and the counts are not whole. */
enum pug_status pug_counts_status(const struct pug_counts *counts);

/**
 * All of them, sorted by context, start, end and the rest; valid until the counts change. Equal
 * counts are equal arrays, in whatever way they were added up. *count: how many. NULL: no memory,
 * which pug_counts_status() says, too.
 */
const struct pug_count_range *pug_counts_ranges(struct pug_counts *counts, size_t *count);
/** Returns the jumps, sorted by context, from and to. */
const struct pug_count_jump *pug_counts_jumps(struct pug_counts *counts, size_t *count);
/**
 * Source and context of ranges: elements in which nothing else is set but, in counts of a capture,
 * `value`: the number of their address space, for pug_capture_space(). Otherwise as
 * pug_counts_ranges().
 */
const struct pug_element *pug_counts_contexts(struct pug_counts *counts, size_t *count);

/** How many ranges were counted, and instructions in them. */
void pug_counts_total(const struct pug_counts *counts, uint64_t *ranges, uint64_t *instructions);
/** How often a range was not followed by the one that has to come, as its last instruction says. */
uint64_t pug_counts_contradictions(const struct pug_counts *counts);

/**
 * From now on the tree counts ranges there, and delivers elements of all other kinds as ever. NULL:
 * it delivers ranges, too, and what it counted is in the counts, which are its own until then.
 * Where somebody watches packets or takes elements one by one this is no faster.
 */
void pug_tree_count(struct pug_tree *tree, struct pug_counts *counts);
/**
 * Does a tree that counts deliver ranges from now on, too? It is as fast as one that does not count
 * then. They are counted all the same.
 */
void pug_tree_show_ranges(struct pug_tree *tree, bool show);

/**
 * Count a whole capture as pug_tree_decode() decodes it, on several threads, into `counts`, which
 * need not be empty. Elements that are no ranges are not delivered. `jobs->consumers` are not
 * looked at; `jobs` and `result` may be NULL. As pug_tree_decode().
 */
enum pug_status pug_tree_count_all(struct pug_tree *tree, const struct pug_jobs *jobs,
                                   const uint8_t *bytes, size_t size, struct pug_counts *counts,
                                   struct pug_jobs_result *result);

#ifdef __cplusplus
}
#endif
#endif
