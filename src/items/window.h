// SPDX-License-Identifier: MIT
/**
 * @file What `pugmark trace` keeps of a capture: all of it, the last so much before the end or
 * before something that happened, or so much around it. Threads keep a window of their part each,
 * and the window of all is made of these, in order.
 */
#ifndef PUG_ITEMS_WINDOW_H
#define PUG_ITEMS_WINDOW_H

#include "pugmark/pugmark.h"

/** Where a range's addresses lie; the same holds for all from `first` to `last`. */
struct trace_place {
    uint32_t object; /**< PUG_NO_OBJECT: nothing is known to lie there */
    uint64_t first, last;
    uint64_t to_vaddr; /**< to be added to an address */
};

/**
 * An element with what is needed to print it later. What it points to is its part's, until the item
 * is completed: then it is the item's own.
 */
struct trace_item {
    struct trace_item *next;
    struct pug_element element;
    const struct pug_origin *where;
    const struct trace_place *place; /**< of a range; NULL of others */
    /** Sizes of a range's instructions, a byte each, then their bytes; of others the payload. */
    const uint8_t *bytes;
    uint32_t weight; /**< of what is counted: instructions, branches or calls */
    uint32_t skip;   /**< its first instructions that are not to be printed */
    uint32_t sizes;  /**< instructions whose bytes are known */
    bool wanted;     /**< it is what the window is to end with */
    bool others;     /**< it was not selected; it shows that others run there, and when */
};

struct trace_list {
    struct trace_item *first, *last;
};

struct trace_window_limits {
    bool all;               /**< keep everything */
    bool until_wanted;      /**< end with the last wanted item, not with the last one */
    bool first;             /**< end with the first wanted one */
    uint64_t before, after; /**< weights that are kept before that end, and after it */
};

/** Zeroed but for `limits` it is empty. */
struct trace_window {
    struct trace_window_limits limits;
    struct trace_list head;   /**< the first items, which an end before them may want */
    struct trace_list saved;  /**< of the window that ends with the wanted item */
    struct trace_list ring;   /**< the last ones */
    struct trace_list *spare; /**< takes items that are not needed; NULL: they are freed */
    uint64_t head_weight, ring_weight;
    uint64_t to_come;            /**< amount to save after the wanted item */
    struct trace_item *boundary; /**< items of the ring up to this one are to be saved; or NULL */
    bool found;
};

void pug_trace_list_append(struct trace_list *list, struct trace_item *item);
/** The first item, which is no longer in the list; NULL: it is empty. */
struct trace_item *pug_trace_list_take(struct trace_list *list);

/** Take an item, which is the window's from now on. */
void pug_trace_window_push(struct trace_window *window, struct trace_item *item);

/** Take over everything that another window, which comes later, keeps; that one is empty then. */
void pug_trace_window_append(struct trace_window *window, struct trace_window *behind);

/** The first item of the window when all have come; they follow by `next`. */
struct trace_item *pug_trace_window_items(struct trace_window *window);

void pug_trace_window_clear(struct trace_window *window);

#endif
