// SPDX-License-Identifier: MIT
#include "feed.h"

void fuzz_feed(struct pug_tree *tree, const uint8_t *bytes, size_t size, size_t block)
{
    uint64_t index = 0;
    enum pug_response response = PUG_RESP_CONT;
    for (unsigned stalls = 0; index < size && !PUG_RESP_IS_FATAL(response) && stalls < 4;) {
        size_t used = 0;
        if (PUG_RESP_IS_WAIT(response)) {
            response = pug_tree_flush(tree);
            continue;
        }
        size_t left = size - (size_t)index;
        response = pug_tree_data(tree, index, bytes + index, left < block ? left : block, &used);
        index += used;
        stalls = used ? 0 : stalls + 1;
    }
    while (PUG_RESP_IS_WAIT(response))
        response = pug_tree_flush(tree);
    if (PUG_RESP_IS_CONT(response))
        response = pug_tree_end(tree);
    while (PUG_RESP_IS_WAIT(response))
        response = pug_tree_flush(tree);
}
