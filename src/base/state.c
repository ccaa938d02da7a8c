// SPDX-License-Identifier: MIT
#include "pugmark/advanced/state.h"
#include "base/bytes.h"

#include <stdlib.h>
#include <string.h>

void pug_state_put(struct pug_state *state, const void *bytes, size_t size)
{
    if (state->failed || size == 0)
        return;
    if (size > state->room - state->size) {
        size_t room = (state->size + size) * 2;
        uint8_t *grown = realloc(state->bytes, room);
        if (!grown) {
            state->failed = true;
            return;
        }
        state->bytes = grown;
        state->room = room;
    }
    memcpy(state->bytes + state->size, bytes, size);
    state->size += size;
}

void pug_state_number(struct pug_state *state, uint64_t number)
{
    uint8_t bytes[8];
    pug_bytes_set(bytes, number, sizeof(bytes));
    pug_state_put(state, bytes, sizeof(bytes));
}

bool pug_state_equal(const struct pug_state *a, const struct pug_state *b)
{
    return !a->failed && !b->failed && a->size == b->size &&
           (a->size == 0 || memcmp(a->bytes, b->bytes, a->size) == 0);
}

void pug_state_free(struct pug_state *state)
{
    if (!state)
        return;
    free(state->bytes);
    *state = (struct pug_state){0};
}
