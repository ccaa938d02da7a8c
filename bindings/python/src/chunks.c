// SPDX-License-Identifier: MIT
/** @file Chunks: rows that count their references, in memory that is used again. */
#include "binding.h"

/* Memory of chunks that are full is so large that malloc() maps it each time, which costs more than
 * what is done with it. So some of it is kept for the next ones. */
#define POOL       64u
#define POOL_BYTES (CHUNK_ROWS * sizeof(struct merged_row))
static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;
static void *pool[POOL];
static unsigned pooled;

static void *pool_take(void)
{
    void *memory = NULL;
    pthread_mutex_lock(&pool_lock);
    if (pooled > 0)
        memory = pool[--pooled];
    pthread_mutex_unlock(&pool_lock);
    return memory ? memory : malloc(POOL_BYTES);
}

static void pool_give(void *memory)
{
    pthread_mutex_lock(&pool_lock);
    if (pooled < POOL) {
        pool[pooled++] = memory;
        memory = NULL;
    }
    pthread_mutex_unlock(&pool_lock);
    free(memory);
}

static bool is_pooled(const struct chunk *chunk)
{
    return chunk->room == CHUNK_ROWS && chunk->kind->size <= sizeof(struct merged_row);
}

struct chunk *chunk_new(const struct row_kind *kind, size_t room)
{
    struct chunk *chunk = calloc(1, sizeof(*chunk));
    if (!chunk)
        return NULL;
    atomic_init(&chunk->references, 1);
    chunk->kind = kind;
    chunk->room = room;
    chunk->rows = is_pooled(chunk) ? pool_take() : malloc(room ? room * kind->size : 1);
    if (!chunk->rows) {
        free(chunk);
        return NULL;
    }
    return chunk;
}

static void rows_free(struct chunk *chunk)
{
    if (is_pooled(chunk))
        pool_give(chunk->rows);
    else
        free(chunk->rows);
}

void chunk_drop(struct chunk *chunk)
{
    if (!chunk || atomic_fetch_sub(&chunk->references, 1) != 1)
        return;
    rows_free(chunk);
    free(chunk->payload);
    if (chunk->stream)
        stream_drop(chunk->stream);
    free(chunk);
}

struct chunk *chunk_shrink(struct chunk *chunk)
{
    if (chunk->count > chunk->room / 2 || chunk->room <= 16)
        return chunk;
    const size_t size = chunk->count * chunk->kind->size;
    uint8_t *rows = malloc(size ? size : 1);
    if (!rows)
        return chunk;
    memcpy(rows, chunk->rows, size);
    rows_free(chunk);
    chunk->rows = rows;
    chunk->room = chunk->count;
    return chunk;
}

bool chunk_keep(struct chunk *chunk, const void *bytes, size_t size, uint64_t *at)
{
    if (chunk->payload_room - chunk->payload_size < size) {
        const size_t room = chunk->payload_room + chunk->payload_room / 2 + size + 256;
        uint8_t *payload = realloc(chunk->payload, room);
        if (!payload)
            return false;
        chunk->payload = payload;
        chunk->payload_room = room;
    }
    *at = chunk->payload_size;
    if (size > 0)
        memcpy(chunk->payload + chunk->payload_size, bytes, size);
    chunk->payload_size += size;
    return true;
}

bool chunk_take_payload(struct chunk *chunk, struct pug_element *element)
{
    uint64_t at = 0;
    if (!(element->flags & PUG_ELEM_PAYLOAD))
        return true;
    const bool kept = chunk_keep(chunk, element->payload, element->count, &at);
    element->start = at; /* never a pointer, for Python */
    if (!kept)
        element->count = 0;
    return kept;
}

bool chunk_is_of(const struct chunk *chunk, const struct pug_origin *origin)
{
    const struct pug_origin *o = &chunk->origin;
    return o->buffer == origin->buffer && o->segment == origin->segment &&
           o->task == origin->task && o->cpu == origin->cpu && o->source == origin->source &&
           o->time == origin->time && o->space == origin->space;
}

size_t chunk_put(struct chunk *chunk, const struct pug_element *elements, size_t count)
{
    const size_t room = chunk->room - chunk->count, n = count < room ? count : room;
    struct pug_element *to = (struct pug_element *)(void *)chunk->rows + chunk->count;
    memcpy(to, elements, n * sizeof(*to));
    unsigned flags = 0;
    for (size_t i = 0; i < n; i++)
        flags |= to[i].flags;
    for (size_t i = 0; flags & PUG_ELEM_PAYLOAD && i < n; i++)
        chunk_take_payload(chunk, &to[i]);
    chunk->count += n;
    return n;
}
