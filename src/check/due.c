// SPDX-License-Identifier: MIT
/**
 * @file Streams by what they are of, and those that a gap has to reach. There may be as many
 * streams as gaps: a gap reaches those that took something since the last one of its kind.
 */
#include "base/hash.h"
#include "check/engine.h"

#include <stdlib.h>

#define ALL ((1u << CHECK_DUE) - 1)

/* ---- streams by what they are of ---- */

static bool is_alike(const struct check_stream *a, const struct check_stream *b)
{
    return a->task == b->task && a->has_context == b->has_context && a->context == b->context &&
           a->core_key == b->core_key;
}

static size_t place_of(const struct pug_check *check, const struct check_stream *stream)
{
    const uint64_t first = (uint64_t)stream->task << 32 | stream->context,
                   second = (uint64_t)stream->core_key << 1 | stream->has_context;
    return (size_t)pug_hash_mix(pug_hash_mix(0, first), second) & (check->slot_count - 1);
}

/** The slot of such a stream, or the empty one where it would be. */
static struct check_stream **slot_of(const struct pug_check *check,
                                     const struct check_stream *wanted)
{
    size_t at = place_of(check, wanted);
    while (check->slots[at] && !is_alike(check->slots[at], wanted))
        at = (at + 1) & (check->slot_count - 1);
    return &check->slots[at];
}

struct check_stream *pug_check_find_stream(const struct pug_check *check,
                                           const struct check_stream *wanted)
{
    return check->slots ? *slot_of(check, wanted) : NULL;
}

bool pug_check_keep_stream(struct pug_check *check, struct check_stream *stream)
{
    struct check_stream **streams = check->streams.items;
    if (check->slot_count < 2 * check->streams.count) {
        const size_t count = check->slot_count ? 4 * check->slot_count : 64;
        struct check_stream **slots = calloc(count, sizeof(struct check_stream *));
        if (!slots)
            return false;
        free(check->slots);
        check->slots = slots;
        check->slot_count = count;
        for (size_t n = 0; n < check->streams.count; n++)
            *slot_of(check, streams[n]) = streams[n];
    }
    *slot_of(check, stream) = stream;
    return true;
}

/* ---- those that a gap has to reach ---- */

static int by_number(const void *left, const void *right)
{
    const struct check_stream *a = *(struct check_stream *const *)left,
                              *b = *(struct check_stream *const *)right;
    return (a->number > b->number) - (a->number < b->number);
}

size_t pug_check_due(struct check_core *core, unsigned kind)
{
    struct pug_list *due = &core->due[kind];
    struct check_stream **streams = due->items;
    size_t kept = 0;
    for (size_t n = 0; n < due->count; n++)
        if (streams[n]->core == core && (streams[n]->due >> kind & 1)) { /* it is there once */
            streams[n]->due &= (uint8_t) ~(1u << kind);
            streams[kept++] = streams[n];
        }
    due->count = kept;
    for (size_t n = 0; n < kept; n++)
        streams[n]->due |= (uint8_t)(1u << kind);
    if (kept > 1)
        qsort(streams, kept, sizeof(struct check_stream *), by_number);
    return kept;
}

void pug_check_undue(struct check_core *core, unsigned kind)
{
    struct check_stream **streams = core->due[kind].items;
    for (size_t n = 0; n < core->due[kind].count; n++)
        streams[n]->due &= (uint8_t) ~(1u << kind);
    core->due[kind].count = 0;
}

void pug_check_touch(struct pug_check *check, struct check_stream *stream)
{
    for (unsigned kind = 0; kind < CHECK_DUE && stream->due != ALL; kind++) {
        struct pug_list *due = &stream->core->due[kind];
        if (stream->due >> kind & 1)
            continue;
        if (due->count > 2 * check->streams.count + 64)
            (void)pug_check_due(stream->core, kind); /* many went to other cores */
        struct check_stream **slot = pug_list_add(due, sizeof(struct check_stream *));
        if (!slot) {
            pug_check_starve(check);
            return;
        }
        *slot = stream;
        stream->due |= (uint8_t)(1u << kind);
    }
}
