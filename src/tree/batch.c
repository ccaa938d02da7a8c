// SPDX-License-Identifier: MIT
/** @file The batch of elements and its delivery. */
#include "tree/tree_internal.h"

enum pug_response pug_batch_drop(void *context, const struct pug_element *elements, size_t count,
                                 size_t *taken)
{
    (void)context;
    (void)elements;
    (void)count;
    (void)taken;
    return PUG_RESP_CONT;
}

enum pug_response pug_batch_give_each(void *context, const struct pug_element *elements,
                                      size_t count, size_t *taken)
{
    const struct pug_tree *tree = context;
    enum pug_response answer = PUG_RESP_CONT;
    for (size_t i = 0; i < count; i++) {
        answer = tree->on_element(tree->element_context, &elements[i]);
        if (answer >= PUG_RESP_WAIT) {
            *taken = i + 1;
            return answer;
        }
    }
    return answer;
}

bool pug_batch_settle(struct pug_batch *batch, enum pug_response answer, size_t taken)
{
    batch->response = answer;
    if (answer < PUG_RESP_WAIT || taken > batch->count)
        taken = batch->count;
    batch->count -= (uint32_t)taken;
    if (batch->count > 0)
        memmove(batch->elements, batch->elements + taken, batch->count * sizeof(*batch->elements));
    return answer < PUG_RESP_WAIT;
}

bool pug_batch_deliver(struct pug_batch *batch)
{
    if (batch->count == 0 || batch->response >= PUG_RESP_WAIT)
        return batch->response < PUG_RESP_WAIT;
    return pug_batch_give(batch);
}
