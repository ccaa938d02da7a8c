// SPDX-License-Identifier: MIT
/**
 * @file A balanced tree (AVL) by the ranges' starts, made by joining: everything is cut into trees
 * and put together again. A node that somebody else holds, too, is copied; others are used again.
 */
#include "perfdata/ranges.h"

#include <stdlib.h>

struct pug_perf_node {
    struct pug_perf_range range;
    struct pug_perf_node *left, *right; /* `left`: of a free one the next free one */
    uint32_t holders, count;
    uint8_t height;
};

/* ---- nodes ---- */

/* More than one change can take, of trees of any size that there can be. */
#define RESERVE 1024u
#define SLAB    2048u

static bool reserve(struct pug_perf_nodes *nodes)
{
    if (nodes->free_count >= RESERVE)
        return true;
    struct pug_perf_node *slab = calloc(SLAB, sizeof(*slab));
    struct pug_perf_node **place = slab ? pug_list_add(&nodes->slabs, sizeof(*place)) : NULL;
    if (!place) {
        free(slab);
        return false;
    }
    *place = slab;
    for (size_t i = 0; i < SLAB; i++) {
        slab[i].left = nodes->free;
        nodes->free = &slab[i];
    }
    nodes->free_count += SLAB;
    return true;
}

void pug_perf_nodes_free(struct pug_perf_nodes *nodes)
{
    struct pug_perf_node **slabs = nodes->slabs.items;
    for (size_t i = 0; i < nodes->slabs.count; i++)
        free(slabs[i]);
    free(nodes->slabs.items);
    *nodes = (struct pug_perf_nodes){0};
}

static void give_back(struct pug_perf_nodes *nodes, struct pug_perf_node *node)
{
    node->left = nodes->free;
    nodes->free = node;
    nodes->free_count++;
}

static unsigned height_of(const struct pug_perf_node *tree)
{
    return tree ? tree->height : 0;
}

size_t pug_perf_ranges_count(const struct pug_perf_node *tree)
{
    return tree ? tree->count : 0;
}

struct pug_perf_node *pug_perf_ranges_hold(struct pug_perf_node *tree)
{
    if (tree)
        tree->holders++;
    return tree;
}

void pug_perf_ranges_drop(struct pug_perf_nodes *nodes, struct pug_perf_node *tree)
{
    if (!tree || --tree->holders > 0)
        return;
    pug_perf_ranges_drop(nodes, tree->left);
    pug_perf_ranges_drop(nodes, tree->right);
    give_back(nodes, tree);
}

/* ---- joining: what is given is used up ---- */

static struct pug_perf_node *make(struct pug_perf_nodes *nodes, struct pug_perf_node *left,
                                  const struct pug_perf_range *range, struct pug_perf_node *right)
{
    struct pug_perf_node *node = nodes->free;
    const unsigned a = height_of(left), b = height_of(right);
    nodes->free = node->left;
    nodes->free_count--;
    *node = (struct pug_perf_node){
        .range = *range,
        .left = left,
        .right = right,
        .holders = 1,
        .count = (uint32_t)(1 + pug_perf_ranges_count(left) + pug_perf_ranges_count(right)),
        .height = (uint8_t)(1 + (a > b ? a : b)),
    };
    return node;
}

/** A node's parts; the node itself is gone. */
struct parts {
    struct pug_perf_node *left, *right;
    struct pug_perf_range range;
};

static struct parts take_apart(struct pug_perf_nodes *nodes, struct pug_perf_node *node)
{
    if (!node)
        return (struct parts){0};
    const struct parts parts = {node->left, node->right, node->range};
    if (node->holders == 1) {
        give_back(nodes, node);
        return parts;
    }
    node->holders--;
    pug_perf_ranges_hold(parts.left);
    pug_perf_ranges_hold(parts.right);
    return parts;
}

static struct pug_perf_node *rotate_left(struct pug_perf_nodes *nodes, struct pug_perf_node *node)
{
    const struct parts top = take_apart(nodes, node);
    const struct parts right = take_apart(nodes, top.right);
    return make(nodes, make(nodes, top.left, &top.range, right.left), &right.range, right.right);
}

static struct pug_perf_node *rotate_right(struct pug_perf_nodes *nodes, struct pug_perf_node *node)
{
    const struct parts top = take_apart(nodes, node);
    const struct parts left = take_apart(nodes, top.left);
    return make(nodes, left.left, &left.range, make(nodes, left.right, &top.range, top.right));
}

/** The left one is higher by more than 1. */
static struct pug_perf_node *join_right(struct pug_perf_nodes *nodes, struct pug_perf_node *left,
                                        const struct pug_perf_range *range,
                                        struct pug_perf_node *right)
{
    const struct parts top = take_apart(nodes, left);
    const bool fits = height_of(top.right) <= height_of(right) + 1;
    struct pug_perf_node *joined =
        fits ? make(nodes, top.right, range, right) : join_right(nodes, top.right, range, right);
    if (height_of(joined) <= height_of(top.left) + 1)
        return make(nodes, top.left, &top.range, joined);
    if (fits)
        joined = rotate_right(nodes, joined);
    return rotate_left(nodes, make(nodes, top.left, &top.range, joined));
}

static struct pug_perf_node *join_left(struct pug_perf_nodes *nodes, struct pug_perf_node *left,
                                       const struct pug_perf_range *range,
                                       struct pug_perf_node *right)
{
    const struct parts top = take_apart(nodes, right);
    const bool fits = height_of(top.left) <= height_of(left) + 1;
    struct pug_perf_node *joined =
        fits ? make(nodes, left, range, top.left) : join_left(nodes, left, range, top.left);
    if (height_of(joined) <= height_of(top.right) + 1)
        return make(nodes, joined, &top.range, top.right);
    if (fits)
        joined = rotate_left(nodes, joined);
    return rotate_right(nodes, make(nodes, joined, &top.range, top.right));
}

static struct pug_perf_node *join(struct pug_perf_nodes *nodes, struct pug_perf_node *left,
                                  const struct pug_perf_range *range, struct pug_perf_node *right)
{
    if (height_of(left) > height_of(right) + 1)
        return join_right(nodes, left, range, right);
    if (height_of(right) > height_of(left) + 1)
        return join_left(nodes, left, range, right);
    return make(nodes, left, range, right);
}

/** Splits into ranges that begin below an address, and the others. */
static void split(struct pug_perf_nodes *nodes, struct pug_perf_node *tree, uint64_t address,
                  struct pug_perf_node **below, struct pug_perf_node **others)
{
    struct pug_perf_node *middle;
    *below = *others = NULL;
    if (!tree)
        return;
    const struct parts top = take_apart(nodes, tree);
    if (top.range.start < address) {
        split(nodes, top.right, address, &middle, others);
        *below = join(nodes, top.left, &top.range, middle);
    } else {
        split(nodes, top.left, address, below, &middle);
        *others = join(nodes, middle, &top.range, top.right);
    }
}

/** Without its last range, which is there. */
static struct pug_perf_node *take_last(struct pug_perf_nodes *nodes, struct pug_perf_node *tree,
                                       struct pug_perf_range *last)
{
    const struct parts top = take_apart(nodes, tree);
    if (!top.right) {
        *last = top.range;
        return top.left;
    }
    return join(nodes, top.left, &top.range, take_last(nodes, top.right, last));
}

/* ---- asking ---- */

/** The last range that begins at or below an address; *after: the first one that does not. */
static const struct pug_perf_range *last_below(const struct pug_perf_node *tree, uint64_t address,
                                               const struct pug_perf_range **after)
{
    const struct pug_perf_range *found = NULL;
    *after = NULL;
    while (tree) {
        const bool below = tree->range.start <= address;
        if (below)
            found = &tree->range;
        else
            *after = &tree->range;
        tree = below ? tree->right : tree->left;
    }
    return found;
}

const struct pug_perf_range *pug_perf_ranges_find(const struct pug_perf_node *tree,
                                                  uint64_t address, uint64_t *first, uint64_t *last)
{
    const struct pug_perf_range *after;
    const struct pug_perf_range *found = last_below(tree, address, &after);
    if (found && address <= found->last) {
        *first = found->start;
        *last = found->last;
        return found;
    }
    *first = found ? found->last + 1 : 0;
    *last = after ? after->start - 1 : UINT64_MAX;
    return NULL;
}

bool pug_perf_ranges_touch(const struct pug_perf_node *tree, uint64_t first, uint64_t last)
{
    const struct pug_perf_range *after;
    const struct pug_perf_range *found = last_below(tree, last, &after);
    return found && found->last >= first;
}

/* ---- changing ---- */

/** The part of a range after an address comes in front of a tree. */
static struct pug_perf_node *put_first(struct pug_perf_nodes *nodes,
                                       const struct pug_perf_range *range, uint64_t last,
                                       struct pug_perf_node *tree)
{
    struct pug_perf_range rest = *range;
    const uint64_t cut = last + 1 - range->start;
    rest.start += cut;
    rest.offset += cut;
    if (rest.bytes)
        rest.bytes += cut;
    return join(nodes, NULL, &rest, tree);
}

bool pug_perf_ranges_replace(struct pug_perf_nodes *nodes, struct pug_perf_node **tree,
                             uint64_t first, uint64_t last, const struct pug_perf_range *range)
{
    struct pug_perf_node *below, *within, *behind = NULL;
    struct pug_perf_range cut;
    if (!reserve(nodes))
        return false;
    split(nodes, *tree, first, &below, &within);
    if (last < UINT64_MAX)
        split(nodes, within, last + 1, &within, &behind);
    const struct pug_perf_range *none, *before = last_below(below, first, &none);
    if (before && before->last >= first) {
        below = take_last(nodes, below, &cut);
        if (cut.last > last)
            behind = put_first(nodes, &cut, last, behind);
        cut.last = first - 1;
        below = join(nodes, below, &cut, NULL);
    }
    const struct pug_perf_range *inner = last_below(within, last, &none);
    if (inner && inner->last > last)
        behind = put_first(nodes, inner, last, behind);
    pug_perf_ranges_drop(nodes, within);
    if (range) {
        *tree = join(nodes, below, range, behind);
    } else if (below) {
        below = take_last(nodes, below, &cut);
        *tree = join(nodes, below, &cut, behind);
    } else {
        *tree = behind;
    }
    return true;
}
