// SPDX-License-Identifier: MIT
/** @file Sums of the rounds of loops. Squares are 128 bits wide. */
#include "profile/profile.h"

/* The square of a number: its lower 64 bits, and the upper ones. */
static uint64_t square(uint64_t number, uint64_t *upper)
{
    const uint64_t low = (uint32_t)number, high = number >> 32;
    const uint64_t twice = low * high; /* in the middle, two times */
    const uint64_t sum = low * low + (twice << 33);
    *upper = high * high + (twice >> 31) + (sum < low * low);
    return sum;
}

struct pug_profile_loop pug_profile_loop_visit(uint64_t rounds)
{
    struct pug_profile_loop loop = {.visits = 1, .rounds = rounds, .least = rounds, .most = rounds};
    loop.squares = square(rounds, &loop.squares_high);
    return loop;
}

static void add_squares(struct pug_profile_loop *sum, const struct pug_profile_loop *more)
{
    const uint64_t low = sum->squares + more->squares;
    const bool carry = low < more->squares;
    const uint64_t high = pug_profile_sum(sum->squares_high, more->squares_high);
    const bool full = sum->squares_high + more->squares_high < more->squares_high ||
                      (carry && high == UINT64_MAX);
    sum->squares = full ? UINT64_MAX : low;
    sum->squares_high = full ? UINT64_MAX : high + carry;
}

void pug_profile_loop_add(struct pug_profile_loop *sum, const struct pug_profile_loop *more)
{
    const bool first = sum->visits == 0;
    sum->least = first || more->least < sum->least ? more->least : sum->least;
    sum->most = first || more->most > sum->most ? more->most : sum->most;
    sum->visits = pug_profile_sum(sum->visits, more->visits);
    sum->rounds = pug_profile_sum(sum->rounds, more->rounds);
    add_squares(sum, more);
}
