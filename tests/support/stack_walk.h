// SPDX-License-Identifier: MIT
/**
 * @file Random walks between functions that have names and code that has none, of examples/crash:
 * for what follows call stacks.
 */
#ifndef SUPPORT_STACK_WALK_H
#define SUPPORT_STACK_WALK_H

#include "pugmark/capture.h"
#include "recorder/bytes.h"

#define WALK_BLOCKS 24u
#define WALK_STEPS  3000u

/** Steps of a segment. */
#define WALK_PART 1500u

/** Calls that return to the instruction after their own. */
#define WALK_RETURNS 32u

/** The object's code: from its first address to one past its last. */
#define WALK_SEGMENT     UINT64_C(0x210264)
#define WALK_SEGMENT_END UINT64_C(0x21049c)

struct walk {
    struct rec_random random;
    bool cycles;  /* some elements tell of them */
    bool orderly; /* as programs are, mostly */
    uint64_t returns[WALK_RETURNS];
    unsigned depth;
    uint16_t sources;
    uint64_t starts[WALK_BLOCKS];
    struct pug_element elements[WALK_STEPS];
    bool nowhere[WALK_STEPS]; /* their space is unknown */
};

/** Another walk, from its random numbers, of this source and maybe the next one. */
void walk_make(struct walk *walk, uint16_t first_source);

/** The origin of what is at `at`, and how many elements there are of it, at most `count`. */
struct pug_origin walk_origin(const struct walk *walk, const struct pug_origin *origin, size_t at,
                              size_t *count);

#endif
