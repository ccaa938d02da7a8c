// SPDX-License-Identifier: MIT
/** @file Parts that keep their elements until they are delivered on the caller's thread. */
#include "jobs/jobs.h"
#include "tree/tree_internal.h"

#include <stdlib.h>
#include <string.h>

struct stored {
    struct stored *next; /* in the pool */
    struct jobs_pool *pool;
    struct pug_element *elements;
    size_t count, room;
    uint8_t *payloads; /* of the elements that have one, one behind the other */
    size_t used, payload_room;
    bool failed;
};

/** A part that was there before has memory already, which the system need not give anew. */
static void *begin(void *context, unsigned worker)
{
    struct jobs_pool *pool = context;
    (void)worker;
    pthread_mutex_lock(&pool->lock);
    struct stored *stored = pool->first;
    if (stored)
        pool->first = stored->next;
    pthread_mutex_unlock(&pool->lock);
    if (!stored)
        stored = calloc(1, sizeof(*stored));
    if (!stored)
        return NULL;
    stored->pool = pool;
    stored->count = stored->used = 0;
    stored->failed = false;
    return stored;
}

/** Room for `more` items of `size` bytes behind `count`, in memory that grows by doubling. */
static void *reserve(void *memory, size_t count, size_t *room, size_t more, size_t size)
{
    if (more <= *room - count)
        return memory;
    size_t wanted = *room * 2 > count + more ? *room * 2 : count + more;
    void *grown = realloc(memory, wanted * size);
    if (grown)
        *room = wanted;
    return grown;
}

static void keep_payload(struct stored *stored, const struct pug_element *element)
{
    uint8_t *grown =
        reserve(stored->payloads, stored->used, &stored->payload_room, element->count, 1);
    if (!grown) {
        stored->failed = true;
        return;
    }
    stored->payloads = grown;
    memcpy(grown + stored->used, element->payload, element->count);
    stored->used += element->count;
}

static void keep(void *part, const struct pug_element *elements, size_t count)
{
    struct stored *stored = part;
    struct pug_element *grown =
        reserve(stored->elements, stored->count, &stored->room, count, sizeof(*grown));
    stored->failed |= !grown;
    if (stored->failed)
        return;
    stored->elements = grown;
    memcpy(grown + stored->count, elements, count * sizeof(*grown));
    stored->count += count;
    for (size_t i = 0; i < count; i++)
        if (elements[i].flags & PUG_ELEM_PAYLOAD && elements[i].count > 0)
            keep_payload(stored, &elements[i]);
}

static void drop(void *part)
{
    struct stored *stored = part;
    struct jobs_pool *pool = stored->pool;
    pthread_mutex_lock(&pool->lock);
    stored->next = pool->first;
    pool->first = stored;
    pthread_mutex_unlock(&pool->lock);
}

void jobs_pool_free(struct jobs_pool *pool)
{
    while (pool->first) {
        struct stored *stored = pool->first;
        pool->first = stored->next;
        free(stored->elements);
        free(stored->payloads);
        free(stored);
    }
}

static void find_payloads(struct stored *stored)
{
    const uint8_t *at = stored->payloads;
    for (size_t i = 0; stored->used > 0 && i < stored->count; i++) {
        struct pug_element *element = &stored->elements[i];
        if (element->flags & PUG_ELEM_PAYLOAD && element->count > 0) {
            element->payload = at;
            at += element->count;
        }
    }
}

/** To the tree's consumer; one that waits gets the rest at once. */
static bool deliver(struct pug_tree *tree, const struct stored *stored)
{
    size_t at = 0;
    while (at < stored->count) {
        size_t taken = stored->count - at;
        enum pug_response answer =
            tree->on_elements(tree->elements_context, stored->elements + at, taken, &taken);
        if (PUG_RESP_IS_FATAL(answer))
            return false;
        at = answer < PUG_RESP_WAIT || taken > stored->count - at ? stored->count : at + taken;
    }
    return true;
}

static bool take(void *context, void *part)
{
    struct pug_tree *tree = ((struct jobs_pool *)context)->tree;
    struct stored *stored = part;
    find_payloads(stored);
    bool good = !stored->failed && (!tree->on_elements || deliver(tree, stored));
    drop(stored);
    return good;
}

struct pug_parts jobs_stored(struct jobs_pool *pool)
{
    return (struct pug_parts){
        .context = pool, .begin = begin, .elements = keep, .take = take, .drop = drop};
}
