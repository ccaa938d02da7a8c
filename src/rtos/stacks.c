// SPDX-License-Identifier: MIT
/** @file Which of the stacks that wait goes on: that whose return addresses fit. */
#include "rtos/stacks.h"

#include <stdlib.h>
#include <string.h>

#define DEPTH 4096u /* of a stack; what is deeper is forgotten from outside */

bool pug_rtos_stacks_init(struct rtos_stacks *stacks)
{
    stacks->waits = calloc(RTOS_WAITS, sizeof(*stacks->waits));
    return stacks->waits != NULL;
}

static void forget_one(struct rtos_stacks *stacks, uint32_t n)
{
    free(stacks->waits[n].frames.at);
    free(stacks->waits[n].perhaps);
    memmove(&stacks->waits[n], &stacks->waits[n + 1],
            (--stacks->count - n) * sizeof(*stacks->waits));
}

void pug_rtos_stacks_forget(struct rtos_stacks *stacks)
{
    while (stacks->count > 0)
        forget_one(stacks, stacks->count - 1);
    stacks->frames.depth = 0;
    stacks->candidate_count = 0;
    stacks->open = false;
}

void pug_rtos_stacks_free(struct rtos_stacks *stacks)
{
    pug_rtos_stacks_forget(stacks);
    free(stacks->waits);
    free(stacks->frames.at);
}

/* ---- frames ---- */

static bool grow(struct rtos_frames *frames, uint32_t wanted)
{
    if (wanted <= frames->room)
        return true;
    const uint32_t room = wanted + wanted / 2 + 16;
    uint64_t *grown = realloc(frames->at, room * sizeof(*grown));
    if (!grown)
        return false;
    frames->at = grown;
    frames->room = room;
    return true;
}

bool pug_rtos_stacks_call(struct rtos_stacks *stacks, uint64_t returns_to)
{
    struct rtos_frames *frames = &stacks->frames;
    if (frames->depth == DEPTH) {
        memmove(frames->at, frames->at + DEPTH / 2, DEPTH / 2 * sizeof(*frames->at));
        frames->depth = DEPTH / 2;
    }
    if (!grow(frames, frames->depth + 1))
        return false;
    frames->at[frames->depth++] = returns_to;
    return true;
}

uint32_t pug_rtos_stacks_depth(const struct rtos_stacks *stacks)
{
    return stacks->frames.depth;
}

uint64_t pug_rtos_stacks_top(const struct rtos_stacks *stacks)
{
    const struct rtos_frames *frames = &stacks->frames;
    return frames->depth > 0 ? frames->at[frames->depth - 1] : RTOS_NO_ADDRESS;
}

void pug_rtos_stacks_cut(struct rtos_stacks *stacks, uint32_t depth)
{
    if (depth < stacks->frames.depth)
        stacks->frames.depth = depth;
}

/* ---- who waits ---- */

/** Stamps ascend. NULL: that stack no longer waits. */
static struct rtos_wait *find_stamp(const struct rtos_stacks *stacks, uint32_t stamp)
{
    uint32_t low = 0, high = stacks->count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (stacks->waits[middle].stamp < stamp)
            low = middle + 1;
        else
            high = middle;
    }
    return low < stacks->count && stacks->waits[low].stamp == stamp ? &stacks->waits[low] : NULL;
}

static struct rtos_wait *find_thread(const struct rtos_stacks *stacks, uint32_t thread)
{
    for (uint32_t i = 0; i < stacks->count; i++)
        if (stacks->waits[i].thread == thread)
            return &stacks->waits[i];
    return NULL;
}

bool pug_rtos_stacks_any_at(const struct rtos_stacks *stacks, uint64_t address)
{
    for (uint32_t i = 0; i < stacks->count; i++)
        if (stacks->waits[i].address == address)
            return true;
    return false;
}

bool pug_rtos_stacks_waits(const struct rtos_stacks *stacks, uint32_t thread, uint64_t address)
{
    const struct rtos_wait *wait = find_thread(stacks, thread);
    return wait && address != RTOS_NO_ADDRESS && wait->address == address;
}

bool pug_rtos_stacks_open(const struct rtos_stacks *stacks)
{
    return stacks->open;
}

uint32_t pug_rtos_stacks_found(const struct rtos_stacks *stacks)
{
    return stacks->found;
}

/* ---- stopping and going on ---- */

bool pug_rtos_stacks_stop(struct rtos_stacks *stacks, uint32_t thread, uint64_t address)
{
    struct rtos_wait *old = thread != RTOS_UNKNOWN ? find_thread(stacks, thread) : NULL;
    if (thread == RTOS_UNKNOWN && stacks->candidate_count > 0 && stacks->frames.depth == 0 &&
        !stacks->compared && address == stacks->guessed_at) {
        stacks->candidate_count = 0; /* whoever it is waits there already */
        return true;
    }
    if (old)
        forget_one(stacks, (uint32_t)(old - stacks->waits));
    if (stacks->count == RTOS_WAITS)
        forget_one(stacks, 0);
    struct rtos_wait wait = {
        .thread = thread, .stamp = ++stacks->stamp, .address = address, .frames = stacks->frames};
    if (thread == RTOS_UNKNOWN && stacks->candidate_count > 0) {
        wait.perhaps = malloc(stacks->candidate_count * sizeof(*wait.perhaps));
        if (!wait.perhaps)
            return false;
        memcpy(wait.perhaps, stacks->candidates, stacks->candidate_count * sizeof(*wait.perhaps));
        wait.perhaps_count = stacks->candidate_count;
    }
    stacks->candidate_count = 0;
    stacks->frames = (struct rtos_frames){.depth = 0};
    stacks->waits[stacks->count++] = wait;
    return true;
}

/** The frames of a stack that waits, as far as they are left, go below those of what runs. */
static bool join(struct rtos_stacks *stacks, uint32_t n, uint32_t left)
{
    struct rtos_frames *above = &stacks->frames;
    const struct rtos_frames *below = &stacks->waits[n].frames;
    const uint32_t skip = left + above->depth > DEPTH ? left + above->depth - DEPTH : 0;
    const uint32_t kept = skip < left ? left - skip : 0;
    if (!grow(above, kept + above->depth))
        return false;
    if (above->depth > 0)
        memmove(above->at + kept, above->at, above->depth * sizeof(*above->at));
    if (kept > 0)
        memcpy(above->at, below->at + left - kept, kept * sizeof(*above->at));
    above->depth += kept;
    forget_one(stacks, n);
    return true;
}

/** Of a stack that was not found out, the n-th thread that it may be; NULL: it no longer waits. */
static struct rtos_wait *perhaps_at(const struct rtos_stacks *stacks, const struct rtos_wait *wait,
                                    uint32_t n)
{
    return find_stamp(stacks, wait->perhaps[n].stamp);
}

/** The stack of a candidate goes on; where that was not found out it is the thread's `is`. */
static bool take_candidate(struct rtos_stacks *stacks, struct rtos_candidate candidate, uint32_t is)
{
    struct rtos_wait *wait = find_stamp(stacks, candidate.stamp);
    bool joined = true;
    stacks->open = false;
    stacks->candidate_count = 0;
    stacks->found = is;
    if (!wait)
        return true;
    struct rtos_candidate below = {.stamp = 0};
    for (uint32_t i = 0; wait->thread == RTOS_UNKNOWN && i < wait->perhaps_count; i++) {
        const struct rtos_wait *whose = perhaps_at(stacks, wait, i);
        if (whose && whose->thread == is && is != RTOS_UNKNOWN)
            below = wait->perhaps[i];
    }
    joined = join(stacks, (uint32_t)(wait - stacks->waits), candidate.left);
    wait = below.stamp ? find_stamp(stacks, below.stamp) : NULL;
    if (joined && wait)
        joined = join(stacks, (uint32_t)(wait - stacks->waits),
                      below.left > candidate.beyond ? below.left - candidate.beyond : 0);
    return joined;
}

/** The properties that the candidates' threads share. */
struct possible {
    uint32_t thread; /* the only one */
    bool any, several;
};

static void add_possible(struct possible *possible, uint32_t thread)
{
    possible->several |= possible->any && (possible->thread != thread || thread == RTOS_UNKNOWN);
    possible->any = true;
    possible->thread = thread;
}

/** The threads that may run. */
static struct possible possible_threads(const struct rtos_stacks *stacks)
{
    struct possible possible = {.thread = RTOS_UNKNOWN};
    for (uint32_t i = 0; i < stacks->candidate_count; i++) {
        const struct rtos_candidate *candidate = &stacks->candidates[i];
        const struct rtos_wait *wait = find_stamp(stacks, candidate->stamp);
        if (!wait)
            continue;
        if (wait->thread != RTOS_UNKNOWN || candidate->may_be == 0)
            add_possible(&possible, wait->thread);
        for (uint32_t n = 0; wait->thread == RTOS_UNKNOWN && n < wait->perhaps_count; n++) {
            const struct rtos_wait *whose = perhaps_at(stacks, wait, n);
            if (whose && (candidate->may_be >> n & 1))
                add_possible(&possible, whose->thread);
        }
    }
    return possible;
}

/** All candidates are one thread. Its own stack goes before one that was not found out. */
static bool take_only(struct rtos_stacks *stacks, uint32_t thread)
{
    struct rtos_candidate chosen = stacks->candidates[0];
    uint32_t others[RTOS_CANDIDATES], other_count = 0;
    for (uint32_t i = 0; i < stacks->candidate_count; i++) {
        const struct rtos_wait *wait = find_stamp(stacks, stacks->candidates[i].stamp);
        if (wait && wait->thread == thread)
            chosen = stacks->candidates[i];
        else
            others[other_count++] = stacks->candidates[i].stamp;
    }
    if (!take_candidate(stacks, chosen, thread))
        return false;
    for (uint32_t i = 0; i < other_count; i++) { /* they were this thread's, too */
        const struct rtos_wait *wait = find_stamp(stacks, others[i]);
        if (wait)
            forget_one(stacks, (uint32_t)(wait - stacks->waits));
    }
    return true;
}

bool pug_rtos_stacks_resume(struct rtos_stacks *stacks, uint32_t thread)
{
    const struct rtos_wait *wait = thread != RTOS_UNKNOWN ? find_thread(stacks, thread) : NULL;
    stacks->open = false;
    stacks->candidate_count = 0;
    stacks->frames.depth = 0;
    return !wait || join(stacks, (uint32_t)(wait - stacks->waits), wait->frames.depth);
}

bool pug_rtos_stacks_choose(struct rtos_stacks *stacks, uint32_t thread)
{
    for (uint32_t i = 0; i < stacks->candidate_count; i++) {
        const struct rtos_wait *wait = find_stamp(stacks, stacks->candidates[i].stamp);
        if (wait && wait->thread == thread)
            return take_candidate(stacks, stacks->candidates[i], thread);
    }
    /* None of those that were thought of: what is above its stack is all that is known. */
    struct rtos_wait *old = find_thread(stacks, thread);
    if (old && thread != RTOS_UNKNOWN)
        forget_one(stacks, (uint32_t)(old - stacks->waits));
    stacks->open = false;
    stacks->candidate_count = 0;
    return true;
}

bool pug_rtos_stacks_settle(struct rtos_stacks *stacks, uint32_t *thread)
{
    const struct possible possible = possible_threads(stacks);
    stacks->open = false;
    if (!possible.any || possible.several)
        return false; /* they stay for pug_rtos_stacks_stop() */
    *thread = possible.thread;
    return take_only(stacks, possible.thread);
}

/* ---- comparing ---- */

/** A stack that was not found out goes on: whoever it may have been, it may be still. */
static void guess_again(struct rtos_stacks *stacks, uint32_t n)
{
    struct rtos_wait *wait = &stacks->waits[n];
    for (uint32_t i = 0; i < wait->perhaps_count; i++)
        if (find_stamp(stacks, wait->perhaps[i].stamp))
            stacks->candidates[stacks->candidate_count++] = wait->perhaps[i];
    free(stacks->frames.at);
    stacks->frames = wait->frames;
    wait->frames = (struct rtos_frames){.depth = 0};
    forget_one(stacks, n);
}

/** Those that a stack may be and that wait, a bit for each. */
static uint64_t still_waiting(const struct rtos_stacks *stacks, const struct rtos_wait *wait)
{
    uint64_t may_be = 0;
    for (uint32_t n = 0; n < wait->perhaps_count; n++)
        if (perhaps_at(stacks, wait, n))
            may_be |= UINT64_C(1) << n;
    return may_be;
}

enum rtos_guess pug_rtos_stacks_guess(struct rtos_stacks *stacks, uint64_t address)
{
    uint32_t last = 0;
    stacks->guessed_at = address;
    stacks->compared = false;
    stacks->frames.depth = 0;
    stacks->candidate_count = 0;
    stacks->found = RTOS_UNKNOWN;
    for (uint32_t i = 0; i < stacks->count; i++) {
        const struct rtos_wait *wait = &stacks->waits[i];
        if (wait->address != address || stacks->candidate_count == RTOS_CANDIDATES)
            continue;
        stacks->candidates[stacks->candidate_count++] =
            (struct rtos_candidate){.stamp = wait->stamp,
                                    .left = wait->frames.depth,
                                    .may_be = still_waiting(stacks, wait)};
        last = i;
    }
    if (stacks->candidate_count == 0)
        return RTOS_GUESS_NONE;
    const struct rtos_wait *only = &stacks->waits[last];
    if (stacks->candidate_count == 1 && only->thread == RTOS_UNKNOWN) {
        stacks->candidate_count = 0;
        guess_again(stacks, last);
        stacks->open = stacks->candidate_count > 0;
        return stacks->open ? RTOS_GUESS_OPEN : RTOS_GUESS_FOUND;
    }
    if (stacks->candidate_count == 1 && only->frames.depth == 0)
        return take_candidate(stacks, stacks->candidates[0], only->thread) ? RTOS_GUESS_FOUND
                                                                           : RTOS_GUESS_FAILED;
    stacks->open = true;
    return RTOS_GUESS_OPEN;
}

/** Does the next frame of a candidate return to an address? It is passed then. */
static bool fits(const struct rtos_stacks *stacks, struct rtos_candidate *candidate,
                 uint64_t address)
{
    const struct rtos_wait *wait = find_stamp(stacks, candidate->stamp);
    if (!wait)
        return false;
    if (candidate->left > 0) {
        candidate->fits = wait->frames.at[candidate->left - 1] == address;
        candidate->left--;
        return candidate->fits;
    }
    if (wait->thread != RTOS_UNKNOWN || candidate->may_be == 0)
        return true; /* below what is known anything may come */
    for (uint32_t n = 0; n < wait->perhaps_count; n++) {
        const struct rtos_wait *whose = perhaps_at(stacks, wait, n);
        const uint32_t left = wait->perhaps[n].left;
        if (!whose ||
            (left > candidate->beyond && whose->frames.at[left - candidate->beyond - 1] != address))
            candidate->may_be &= ~(UINT64_C(1) << n);
    }
    candidate->beyond++;
    candidate->fits = candidate->may_be != 0;
    return candidate->fits;
}

/** Returns above all candidates' stacks are over: whose next frame returns to the address? */
static enum rtos_return compare(struct rtos_stacks *stacks, uint64_t address, uint32_t *thread)
{
    uint32_t kept = 0;
    bool told = false;
    stacks->compared = true;
    for (uint32_t i = 0; i < stacks->candidate_count; i++) {
        struct rtos_candidate candidate = stacks->candidates[i];
        if (!fits(stacks, &candidate, address))
            continue;
        told |= candidate.fits;
        stacks->candidates[kept++] = candidate;
    }
    stacks->candidate_count = kept;
    stacks->open = kept > 0;
    if (kept == 0)
        return RTOS_RETURN_STRANGER;
    const struct possible possible = possible_threads(stacks);
    if (possible.several || !told)
        return RTOS_RETURN_OPEN;
    (void)pug_rtos_stacks_settle(stacks, thread);
    return RTOS_RETURN_FOUND;
}

enum rtos_return pug_rtos_stacks_return(struct rtos_stacks *stacks, uint64_t address,
                                        uint32_t floor, uint32_t *thread)
{
    struct rtos_frames *frames = &stacks->frames;
    uint32_t depth = frames->depth;
    if (depth == floor && floor == 0 && stacks->open)
        return compare(stacks, address, thread);
    while (depth > floor && frames->at[depth - 1] != address)
        depth--;
    if (depth > floor)
        frames->depth = depth - 1;
    else if (floor == 0)
        frames->depth = 0; /* a return address was changed: nothing is known of callers */
    return RTOS_RETURN_OPEN;
}
