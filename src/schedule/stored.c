// SPDX-License-Identifier: MIT
/**
 * @file Parts that keep their elements until they are delivered on the caller's thread: chunks, one
 * a portion, which are used again, as memory that the system gives anew is slow.
 */
#include "schedule/decode.h"
#include "tree/embed.h"

#include <stdlib.h>
#include <string.h>

/* A chunk is a little less than 128 KB: from there on allocators ask the system, each time. */
#define CHUNK_ELEMENTS 2000u

struct jobs_chunk {
    struct jobs_chunk *next;
    size_t count;
    uint8_t *payloads; /* of the elements that have one, one behind the other */
    size_t used, room;
    struct pug_element elements[CHUNK_ELEMENTS];
};

/* What a chunk's payloads may be before it is handed on. */
#define CHUNK_PAYLOADS ((size_t)256 << 10)

struct stored {
    struct pug_jobs_pool *pool;
    struct pug_piece *piece;
    struct jobs_chunk *chunk; /* NULL: there is none yet */
    bool failed;              /* nobody wants it, or there is no memory */
};

/* ---- the pool ---- */

static struct jobs_chunk *take_chunk(struct pug_jobs_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    struct jobs_chunk *chunk = pool->first;
    if (chunk)
        pool->first = chunk->next;
    pthread_mutex_unlock(&pool->lock);
    if (!chunk && (chunk = malloc(sizeof(*chunk))) != NULL) {
        chunk->payloads = NULL;
        chunk->room = 0;
    }
    if (chunk) {
        chunk->next = NULL;
        chunk->count = chunk->used = 0;
    }
    return chunk;
}

void pug_jobs_pool_free(struct pug_jobs_pool *pool)
{
    while (pool->first) {
        struct jobs_chunk *chunk = pool->first;
        pool->first = chunk->next;
        free(chunk->payloads);
        free(chunk);
    }
}

/* ---- keeping ---- */

static void *begin(void *context, unsigned worker, struct pug_piece *piece)
{
    struct stored *stored = calloc(1, sizeof(*stored));
    (void)worker;
    if (stored)
        *stored = (struct stored){.pool = context, .piece = piece};
    return stored;
}

static void run_out(struct stored *stored)
{
    stored->failed = true;
    (void)pug_piece_emit(stored->piece, NULL, 0);
}

/** Hands a full chunk on. */
static void hand_on(struct stored *stored)
{
    struct stored *portion = malloc(sizeof(*portion));
    if (!portion) {
        run_out(stored);
        return;
    }
    const struct jobs_chunk *chunk = stored->chunk;
    const size_t size = sizeof(*chunk) + chunk->room;
    *portion = *stored;
    stored->chunk = NULL;
    stored->failed = !pug_piece_emit(stored->piece, portion, size);
}

/** The chunk for the next element; NULL: there is none. */
static struct jobs_chunk *open_chunk(struct stored *stored)
{
    if (stored->chunk &&
        (stored->chunk->count == CHUNK_ELEMENTS || stored->chunk->used >= CHUNK_PAYLOADS))
        hand_on(stored);
    if (!stored->chunk && !stored->failed && !(stored->chunk = take_chunk(stored->pool)))
        run_out(stored);
    return stored->failed ? NULL : stored->chunk;
}

static bool has_payload(const struct pug_element *element)
{
    return (element->flags & PUG_ELEM_PAYLOAD) && element->count > 0;
}

static void keep_payload(struct stored *stored, struct jobs_chunk *chunk,
                         const struct pug_element *element)
{
    if (!chunk->payloads || element->count > chunk->room - chunk->used) {
        size_t room = (chunk->room + element->count) * 2;
        uint8_t *grown = realloc(chunk->payloads, room);
        if (!grown) {
            run_out(stored);
            return;
        }
        chunk->payloads = grown;
        chunk->room = room;
    }
    memcpy(chunk->payloads + chunk->used, element->payload, element->count);
    chunk->used += element->count;
}

static void keep(void *part, const struct pug_origin *origin, const struct pug_element *elements,
                 size_t count)
{
    (void)origin;
    struct stored *stored = part;
    while (count > 0 && !stored->failed) {
        struct jobs_chunk *chunk = open_chunk(stored);
        if (!chunk)
            return;
        size_t n = CHUNK_ELEMENTS - chunk->count < count ? CHUNK_ELEMENTS - chunk->count : count;
        memcpy(chunk->elements + chunk->count, elements, n * sizeof(*elements));
        for (size_t i = 0; i < n && !stored->failed; i++)
            if (has_payload(&elements[i]))
                keep_payload(stored, chunk, &elements[i]);
        chunk->count += n;
        elements += n;
        count -= n;
    }
}

static void drop(void *part)
{
    struct stored *stored = part;
    struct pug_jobs_pool *pool = stored->pool;
    if (stored->chunk) {
        pthread_mutex_lock(&pool->lock);
        stored->chunk->next = pool->first;
        pool->first = stored->chunk;
        pthread_mutex_unlock(&pool->lock);
    }
    free(stored);
}

/* ---- delivering ---- */

static void find_payloads(struct jobs_chunk *chunk)
{
    const uint8_t *at = chunk->payloads;
    for (size_t i = 0; chunk->used > 0 && i < chunk->count; i++) {
        if (has_payload(&chunk->elements[i])) {
            chunk->elements[i].payload = at;
            at += chunk->elements[i].count;
        }
    }
}

/** To the tree's consumer; one that waits gets the rest at once. */
static enum pug_response deliver(const struct pug_tree *tree, struct jobs_chunk *chunk)
{
    void *context;
    pug_elements_fn *consumer = pug_tree_elements_consumer(tree, &context);
    size_t at = 0;
    find_payloads(chunk);
    while (consumer && at < chunk->count) {
        size_t taken = chunk->count - at;
        enum pug_response answer = consumer(context, chunk->elements + at, taken, &taken);
        if (PUG_RESP_IS_FATAL(answer))
            return answer;
        at = answer < PUG_RESP_WAIT || taken > chunk->count - at ? chunk->count : at + taken;
    }
    return PUG_RESP_CONT;
}

static bool take(void *context, void *part)
{
    struct pug_jobs_pool *pool = context;
    struct stored *stored = part;
    if (stored->chunk)
        pool->response = deliver(pool->tree, stored->chunk);
    drop(stored);
    return !PUG_RESP_IS_FATAL(pool->response);
}

struct pug_consumer pug_jobs_stored(struct pug_jobs_pool *pool)
{
    return (struct pug_consumer){
        .context = pool, .begin = begin, .elements = keep, .take = take, .drop = drop};
}
