// SPDX-License-Identifier: MIT
/**
 * @file Written states: what parallel decoding compares.
 *
 * A decoder that was started in mid-stream knows as much as one that saw everything as soon as both
 * write the same state at the same place of the trace. So a state holds all that what is still to
 * come depends on (fields of a packet that later packets refer to, addresses, contexts, stacks,
 * queues, bytes of a packet that is not whole), and nothing else: no counters, no pointers, nothing
 * that is only kept to be fast. Positions in the trace are the same in both, and may be in it.
 *
 * Fields are written one by one, since structs have holes.
 */
#ifndef PUGMARK_STATE_H
#define PUGMARK_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The state of something unfinished, written down. */
struct pug_state {
    uint8_t *bytes;    /**< freed with pug_state_free() */
    size_t size, room; /**< bytes in use, and allocated */
    bool failed;       /**< no memory: it equals no other state */
};

/** Append bytes. */
void pug_state_put(struct pug_state *state, const void *bytes, size_t size);

/** Append a number, as eight bytes, the lowest first: an index has hashes of states. */
void pug_state_number(struct pug_state *state, uint64_t number);

/** Is it the same state? */
bool pug_state_equal(const struct pug_state *a, const struct pug_state *b);
/** Free its bytes. */
void pug_state_free(struct pug_state *state);

#ifdef __cplusplus
}
#endif
#endif
