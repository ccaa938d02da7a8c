// SPDX-License-Identifier: MIT
/** @file The batch of elements and its delivery. */
#include "tree/tree_internal.h"

/** The consumer of single elements, as a consumer of batches. */
static enum pug_response deliver_each(struct pug_tree *tree, size_t *taken)
{
    enum pug_response answer = PUG_RESP_CONT;
    for (uint32_t i = 0; i < tree->batch.count; i++) {
        answer = tree->on_element(tree->element_context, &tree->batch.elements[i]);
        if (answer != PUG_RESP_CONT) {
            *taken = i + 1;
            return answer;
        }
    }
    return answer;
}

/** Is an answer that goes on the end of a delivery packet by packet? */
static bool ends_packet(const struct pug_batch *batch)
{
    return batch->by_packet && batch->elements[0].index != batch->taken_index;
}

bool pug_batch_deliver(struct pug_batch *batch)
{
    struct pug_tree *tree = batch->tree;
    while (batch->count > 0 && batch->response < PUG_RESP_WAIT) {
        size_t taken = batch->count;
        enum pug_response answer = PUG_RESP_CONT;
        if (tree->on_elements)
            answer =
                tree->on_elements(tree->elements_context, batch->elements, batch->count, &taken);
        else if (tree->on_element)
            answer = deliver_each(tree, &taken);
        batch->response = answer;
        if (answer == PUG_RESP_CONT || taken > batch->count)
            taken = batch->count;
        if (answer != PUG_RESP_CONT)
            batch->taken_index = batch->elements[taken > 0 ? taken - 1 : 0].index;
        batch->count -= (uint32_t)taken;
        if (batch->count == 0)
            break;
        memmove(batch->elements, batch->elements + taken, batch->count * sizeof(*batch->elements));
        if (taken == 0 || ends_packet(batch))
            break;
    }
    return batch->response < PUG_RESP_WAIT;
}
