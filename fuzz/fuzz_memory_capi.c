// SPDX-License-Identifier: MIT
/**
 * @file Allocations that fail below the OpenCSD C API: up to the call that says so, all that is
 * answered, delivered and printed is what there is with memory, and nothing faults or leaks.
 *
 * The first two bytes of an input say which allocation is the first that fails (0x7fff: each in
 * turn), the third whether all later ones do; calls follow (capi_calls.h).
 */
#include "capi_calls.h"
#include "driver.h"
#include "starve.h"
#include "support/share.h"

#include <stdio.h>
#include <stdlib.h>

#define EACH      0x7fffu
#define MOST      512u /* calls that are compared */
#define MOST_EACH 4000u

/* The things that exist after each call. */
struct story {
    uint64_t hashes[MOST];
    size_t count;
};

static void tell(struct story *story, const uint8_t *data, size_t size)
{
    struct capi_calls calls;
    bool more = capi_calls_begin(&calls, data, size);
    do
        story->hashes[story->count++] = calls.hash;
    while (more && story->count < MOST && capi_calls_next(&calls));
    capi_calls_end(&calls);
}

static void compare(const struct story *story, size_t at, const struct capi_calls *calls,
                    unsigned first)
{
    if (at >= story->count || calls->starved || calls->hash == story->hashes[at])
        return;
    fprintf(stderr, "call %zu, allocation %u: not what there is with memory, and it does not say\n",
            at, first);
    abort();
}

/** True: an allocation failed. */
static bool starve(const struct story *story, unsigned first, bool on, const uint8_t *data,
                   size_t size)
{
    struct capi_calls calls;
    fuzz_starve(first, on);
    bool more = capi_calls_begin(&calls, data, size);
    for (size_t at = 0; compare(story, at, &calls, first), more; at++)
        more = capi_calls_next(&calls);
    capi_calls_end(&calls);
    return fuzz_feast();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3)
        return 0;
    struct story story = {.count = 0};
    const unsigned first = data[0] | (data[1] & 127u) << 8;
    const bool on = data[2] & 1;
    tell(&story, data + 3, size - 3);
    if (first != EACH)
        starve(&story, first, on, data + 3, size - 3);
    const unsigned step = share_step(3, 6);
    for (unsigned i = size % step; first == EACH && i < MOST_EACH; i += step)
        if (!starve(&story, i, on, data + 3, size - 3))
            break;
    return 0;
}

/** One of the first hundred allocations fails. */
size_t fuzz_begin(uint8_t *data, size_t room, struct rec_random *random)
{
    data[0] = (uint8_t)rec_random_below(random, 100);
    data[1] = 0;
    data[2] = (uint8_t)rec_random(random);
    return 3 + capi_calls_make(data + 3, room - 3, random);
}
