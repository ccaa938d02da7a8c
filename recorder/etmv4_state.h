// SPDX-License-Identifier: MIT
/** @file The state of an ETMv4 encoder, and what its atoms do for its other packets. */
#ifndef PUG_RECORDER_ETMV4_STATE_H
#define PUG_RECORDER_ETMV4_STATE_H

#include "recorder/etmv4.h"

#define ATOMS        64u
#define RETURN_STACK 15u /* one less than a decoder keeps, so that both drop the same entries */

struct rec_etmv4_address {
    uint64_t value;
    bool t32;
};

struct rec_etmv4 {
    struct rec_etmv4_config config;
    struct rec_bytes *out;
    struct rec_random random;

    bool atoms[ATOMS]; /* not yet written, oldest first */
    unsigned atom_count;

    struct rec_etmv4_address history[3]; /* address compression, newest first */
    bool sf;
    struct rec_context context;
    bool has_context;

    struct rec_etmv4_address stack[RETURN_STACK];
    unsigned stack_count;
    bool stack_active; /* an address was traced since the last synchronisation */

    uint32_t depth; /* uncommitted P0 elements */
    uint64_t timestamp;
    bool timestamp_valid;
};

static inline bool rec_etmv4_bit(uint32_t value, unsigned n)
{
    return value >> n & 1;
}

/** An atom, as it is: nothing is speculated about. */
void rec_etmv4_put_atom(struct rec_etmv4 *unit, bool taken);
/** Write the atoms that wait, before another packet. */
void rec_etmv4_flush_atoms(struct rec_etmv4 *unit);
/** A P0 element was given: the decoder commits the oldest by itself beyond the depth. */
void rec_etmv4_deepen(struct rec_etmv4 *unit);

#endif
