// SPDX-License-Identifier: MIT
/** @file The P0 elements that wait for their commit, and what takes them back. */
#include "protocol/etmv4/etmv4.h"

#include <stdlib.h>

#define FIRST_ROOM 64u

typedef struct pug_etmv4_p0 p0_element;

bool pug_etmv4_queue_new(struct pug_etmv4_queue *queue)
{
    queue->ring = calloc(FIRST_ROOM, sizeof(*queue->ring));
    queue->mask = FIRST_ROOM - 1;
    queue->head = queue->tail = 0;
    return queue->ring != NULL;
}

bool pug_etmv4_queue_grow(struct pug_etmv4_queue *queue)
{
    uint32_t room = (queue->mask + 1) * 2, count = pug_etmv4_queue_count(queue);
    p0_element *ring = room <= PUG_ETMV4_QUEUE_LIMIT ? malloc(room * sizeof(*ring)) : NULL;
    if (!ring)
        return false;
    for (uint32_t i = 0; i < count; i++)
        ring[i] = *pug_etmv4_queue_at(queue, i);
    free(queue->ring);
    *queue = (struct pug_etmv4_queue){.ring = ring, .mask = room - 1, .tail = count};
    return true;
}

/** Elements that say when something happened; a cancelled instruction does not unmake that. */
static bool survives_cancel(const p0_element *p0)
{
    switch ((enum pug_etmv4_p0_kind)p0->kind) {
    case PUG_ETMV4_P0_EVENT:
    case PUG_ETMV4_P0_TIMESTAMP:
    case PUG_ETMV4_P0_CYCLE_COUNT:
    case PUG_ETMV4_P0_MARKER:
    case PUG_ETMV4_P0_ITE: return true;
    default: return false;
    }
}

/** Take up to `*cancels` off an element; true when nothing of it is left. */
static bool take_back(p0_element *p0, uint32_t *cancels)
{
    uint32_t taken = *cancels;
    if (p0->kind == PUG_ETMV4_P0_ATOM) {
        taken = taken < p0->count ? taken : p0->count;
        p0->count = (uint8_t)(p0->count - taken);
        *cancels -= taken;
        return p0->count == 0;
    }
    if (p0->kind == PUG_ETMV4_P0_UNSEEN) {
        taken = taken < p0->bits ? taken : p0->bits;
        p0->bits -= taken;
        *cancels -= taken;
        return p0->bits == 0;
    }
    *cancels -= (p0->flags & PUG_ETMV4_COUNTS) != 0;
    return true;
}

/** From position `from` on keep only what survives a cancel. */
static void keep_survivors(struct pug_etmv4_queue *queue, uint32_t from)
{
    uint32_t count = pug_etmv4_queue_count(queue), kept = from;
    for (uint32_t i = from; i < count; i++) {
        const p0_element *p0 = pug_etmv4_queue_at(queue, i);
        if (survives_cancel(p0))
            *pug_etmv4_queue_at(queue, kept++) = *p0;
    }
    queue->tail = queue->head + kept;
}

enum pug_etmv4_outcome pug_etmv4_cancel(struct pug_etmv4_decoder *d)
{
    struct pug_etmv4_queue *queue = &d->queue;
    uint32_t asked = d->cancels, at = pug_etmv4_queue_count(queue);
    while (d->cancels > 0 && at > 0) {
        p0_element *newest = pug_etmv4_queue_at(queue, at - 1);
        if (!survives_cancel(newest) && !take_back(newest, &d->cancels))
            break;
        at--;
    }
    d->depth -= asked - d->cancels;
    keep_survivors(queue, at);
    if (d->cancels == 0)
        return PUG_ETMV4_DONE;
    struct pug_etmv4_queue kept = *queue;
    enum pug_etmv4_outcome outcome =
        pug_etmv4_fail(d, PUG_SEV_ERROR, PUG_ERR_COMMIT_TOO_MANY, d->index, PUG_UNSYNC_BAD_PACKET,
                       "Not enough elements to cancel");
    if (d->stage->quirks.etm4_failed_cancel_keeps)
        *queue = kept;
    return outcome;
}

enum pug_etmv4_outcome pug_etmv4_mispredict(struct pug_etmv4_decoder *d)
{
    struct pug_etmv4_queue *queue = &d->queue;
    uint32_t count = pug_etmv4_queue_count(queue), addresses = 0, at = count;
    bool found = false;
    d->mispredict = false;
    while (at > 0 && !found) {
        p0_element *p0 = pug_etmv4_queue_at(queue, --at);
        if (p0->kind == PUG_ETMV4_P0_ATOM)
            p0->bits ^= 1u << (p0->count - 1);
        found = p0->kind == PUG_ETMV4_P0_ATOM || p0->kind == PUG_ETMV4_P0_UNSEEN;
        addresses += p0->kind == PUG_ETMV4_P0_ADDRESS;
    }
    /* the addresses after it were of the path that was not taken */
    for (uint32_t i = at; i < count && addresses > 0; i++) {
        const p0_element *p0 = pug_etmv4_queue_at(queue, i);
        if (p0->kind != PUG_ETMV4_P0_ADDRESS)
            *pug_etmv4_queue_at(queue, at++) = *p0;
        queue->tail = queue->head + at;
    }
    if (found)
        return PUG_ETMV4_DONE;
    return pug_etmv4_fail(d, PUG_SEV_ERROR, PUG_ERR_COMMIT_TOO_MANY, d->index,
                          PUG_UNSYNC_BAD_PACKET, "Not found mispredict atom");
}
