// SPDX-License-Identifier: MIT
/** @file The batch of elements and its delivery. */
#include "tree/tree_internal.h"

/** The consumer of single elements, as a consumer of batches. */
static enum pug_response deliver_each(struct pug_tree *tree, size_t *taken)
{
    enum pug_response answer = PUG_RESP_CONT;
    for (uint32_t i = 0; i < tree->batch.count; i++) {
        answer = tree->on_element(tree->element_context, &tree->batch.elements[i]);
        if (answer >= PUG_RESP_WAIT) {
            *taken = i + 1;
            return answer;
        }
    }
    return answer;
}

bool pug_batch_deliver(struct pug_batch *batch)
{
    struct pug_tree *tree = batch->tree;
    if (batch->count == 0 || batch->response >= PUG_RESP_WAIT)
        return batch->response < PUG_RESP_WAIT;
    size_t taken = batch->count;
    enum pug_response answer = PUG_RESP_CONT;
    if (tree->on_elements)
        answer = tree->on_elements(tree->elements_context, batch->elements, batch->count, &taken);
    else if (tree->on_element)
        answer = deliver_each(tree, &taken);
    batch->response = answer;
    if (answer < PUG_RESP_WAIT || taken > batch->count)
        taken = batch->count;
    batch->count -= (uint32_t)taken;
    if (batch->count > 0)
        memmove(batch->elements, batch->elements + taken, batch->count * sizeof(*batch->elements));
    return answer < PUG_RESP_WAIT;
}
