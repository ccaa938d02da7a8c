// SPDX-License-Identifier: MIT
/**
 * @file A consumer whose parts keep their elements until these are delivered on the caller's
 * thread. Elements lie in stores, one a chunk. Stores are used again, as new memory from the
 * system is slow.
 */
#include "schedule/decode.h"
#include "tree/embed.h"

#include <stdlib.h>
#include <string.h>

/* A store is a little less than 128 KB: for more than that allocators ask the system each time. */
#define STORE_ELEMENTS 2000u

struct element_store {
    struct element_store *next;
    size_t count;
    uint8_t *payloads; /* of the elements that have one, one after the other */
    size_t used, room;
    struct pug_element elements[STORE_ELEMENTS];
};

/* The bytes of payloads from which on a store is handed on. */
#define STORE_PAYLOADS ((size_t)256 << 10)

struct stored {
    struct pug_jobs_pool *pool;
    struct pug_piece *piece;
    struct element_store *store; /* NULL: there is none yet */
    bool failed;                 /* it is not needed, or no memory */
};

/* ---- the pool ---- */

static struct element_store *take_store(struct pug_jobs_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    struct element_store *store = pool->first;
    if (store)
        pool->first = store->next;
    pthread_mutex_unlock(&pool->lock);
    if (!store && (store = malloc(sizeof(*store))) != NULL) {
        store->payloads = NULL;
        store->room = 0;
    }
    if (store) {
        store->next = NULL;
        store->count = store->used = 0;
    }
    return store;
}

void pug_jobs_pool_free(struct pug_jobs_pool *pool)
{
    while (pool->first) {
        struct element_store *store = pool->first;
        pool->first = store->next;
        free(store->payloads);
        free(store);
    }
}

/* ---- keeping ---- */

static void *begin(void *context, unsigned worker, struct pug_piece *piece)
{
    struct stored *stored = calloc(1, sizeof(*stored));
    (void)worker;
    if (stored)
        *stored = (struct stored){
            .pool = context, .piece = piece, .failed = ((struct pug_jobs_pool *)context)->direct};
    return stored;
}

static void run_out(struct stored *stored)
{
    stored->failed = true;
    (void)pug_piece_emit(stored->piece, NULL, 0);
}

/** Hands on a full store as a chunk. */
static void hand_on(struct stored *stored)
{
    struct stored *chunk = malloc(sizeof(*chunk));
    if (!chunk) {
        run_out(stored);
        return;
    }
    const struct element_store *store = stored->store;
    const size_t size = sizeof(*store) + store->room;
    *chunk = *stored;
    stored->store = NULL;
    stored->failed = !pug_piece_emit(stored->piece, chunk, size);
}

/** Returns the store for the next element, or NULL. */
static struct element_store *open_store(struct stored *stored)
{
    if (stored->store &&
        (stored->store->count == STORE_ELEMENTS || stored->store->used >= STORE_PAYLOADS))
        hand_on(stored);
    if (!stored->store && !stored->failed && !(stored->store = take_store(stored->pool)))
        run_out(stored);
    return stored->failed ? NULL : stored->store;
}

static bool has_payload(const struct pug_element *element)
{
    return (element->flags & PUG_ELEM_PAYLOAD) && element->count > 0;
}

static void keep_payload(struct stored *stored, struct element_store *store,
                         const struct pug_element *element)
{
    if (!store->payloads || element->count > store->room - store->used) {
        size_t room = (store->room + element->count) * 2;
        uint8_t *grown = realloc(store->payloads, room);
        if (!grown) {
            run_out(stored);
            return;
        }
        store->payloads = grown;
        store->room = room;
    }
    memcpy(store->payloads + store->used, element->payload, element->count);
    store->used += element->count;
}

static void keep(void *part, const struct pug_origin *origin, const struct pug_element *elements,
                 size_t count)
{
    (void)origin;
    struct stored *stored = part;
    while (count > 0 && !stored->failed) {
        struct element_store *store = open_store(stored);
        if (!store)
            return;
        size_t n = STORE_ELEMENTS - store->count < count ? STORE_ELEMENTS - store->count : count;
        memcpy(store->elements + store->count, elements, n * sizeof(*elements));
        for (size_t i = 0; i < n && !stored->failed; i++)
            if (has_payload(&elements[i]))
                keep_payload(stored, store, &elements[i]);
        store->count += n;
        elements += n;
        count -= n;
    }
}

static void drop(void *part)
{
    struct stored *stored = part;
    struct pug_jobs_pool *pool = stored->pool;
    if (stored->store) {
        pthread_mutex_lock(&pool->lock);
        stored->store->next = pool->first;
        pool->first = stored->store;
        pthread_mutex_unlock(&pool->lock);
    }
    free(stored);
}

/* ---- delivering ---- */

static void find_payloads(struct element_store *store)
{
    const uint8_t *at = store->payloads;
    for (size_t i = 0; store->used > 0 && i < store->count; i++) {
        if (has_payload(&store->elements[i])) {
            store->elements[i].payload = at;
            at += store->elements[i].count;
        }
    }
}

/** To the tree's consumer; one that waits gets the rest at once. */
static enum pug_response deliver(const struct pug_tree *tree, struct element_store *store)
{
    void *context;
    pug_elements_fn *consumer = pug_tree_elements_consumer(tree, &context);
    size_t at = 0;
    find_payloads(store);
    while (consumer && at < store->count) {
        size_t taken = store->count - at;
        enum pug_response answer = consumer(context, store->elements + at, taken, &taken);
        if (PUG_RESP_IS_FATAL(answer))
            return answer;
        at = answer < PUG_RESP_WAIT || taken > store->count - at ? store->count : at + taken;
    }
    return PUG_RESP_CONT;
}

static bool take(void *context, void *part)
{
    struct pug_jobs_pool *pool = context;
    struct stored *stored = part;
    if (stored->store)
        pool->response = deliver(pool->tree, stored->store);
    drop(stored);
    return !PUG_RESP_IS_FATAL(pool->response);
}

struct pug_consumer pug_jobs_stored(struct pug_jobs_pool *pool)
{
    return (struct pug_consumer){
        .context = pool, .begin = begin, .elements = keep, .take = take, .drop = drop};
}
