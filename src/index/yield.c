// SPDX-License-Identifier: MIT
/** @file What a block gave: its records, made, freed, and sent to another process. */
#include "base/bytes.h"
#include "index/collect.h"
#include "tree/embed.h"

#include <stdlib.h>

bool pug_index_add_record(struct records *records, const void *record)
{
    if (records->count == records->room) {
        size_t room = records->room ? 2 * records->room : 64;
        void *grown = realloc(records->items, room * records->size);
        if (!grown)
            return false;
        records->items = grown;
        records->room = room;
    }
    memcpy((char *)records->items + records->count++ * records->size, record, records->size);
    return true;
}

void pug_index_yield_free(struct yield *yield)
{
    if (!yield)
        return;
    free(yield->summaries.items);
    free(yield->marks.items);
    free(yield->behind.items);
    free(yield->values.items);
    free(yield);
}

struct yield *pug_index_yield_new(const struct pug_tree *tree, uint64_t block)
{
    const size_t sources = pug_tree_source_count(tree);
    struct yield *yield = calloc(1, sizeof(*yield) + (1 + sources) * sizeof(*yield->states) +
                                        sources * sizeof(*yield->clocks));
    if (!yield)
        return NULL;
    yield->block = block;
    yield->sources = sources;
    yield->clocks = (struct clock *)(void *)(yield->states + 1 + sources);
    yield->summaries.size = sizeof(struct pug_index_file_summary);
    yield->marks.size = sizeof(struct pug_index_file_mark);
    yield->behind.size = sizeof(struct behind);
    yield->values.size = sizeof(struct pug_index_listed);
    return yield;
}

/* ---- other processes ---- */

static void pack_records(const struct records *records, struct pug_state *to)
{
    pug_state_number(to, records->count);
    pug_state_put(to, records->items, records->count * records->size);
}

static bool unpack_records(struct records *records, struct pug_bytes *bytes)
{
    records->count = records->room = (size_t)pug_bytes_take_64(bytes);
    const size_t size = records->count * records->size;
    const uint8_t *at = pug_bytes_take(bytes, size);
    records->items = at ? malloc(size + 1) : NULL;
    if (records->items)
        memcpy(records->items, at, size);
    return records->items != NULL;
}

static void take_words(void *to, size_t size, struct pug_bytes *bytes)
{
    const uint8_t *at = pug_bytes_take(bytes, size);
    if (at)
        memcpy(to, at, size);
}

void pug_index_yield_pack(const void *part, struct pug_state *to)
{
    const struct yield *yield = part;
    pug_state_number(to, yield->block);
    pug_state_number(to, yield->at);
    pug_state_number(to, yield->bytes);
    pug_state_number(to, yield->crowded);
    pug_state_number(to, yield->has_states);
    pug_state_put(to, yield->states, (1 + yield->sources) * sizeof(*yield->states));
    pug_state_put(to, yield->clocks, yield->sources * sizeof(*yield->clocks));
    pack_records(&yield->summaries, to);
    pack_records(&yield->marks, to);
    pack_records(&yield->behind, to);
    pack_records(&yield->values, to);
}

void *pug_index_yield_unpack(void *context, const uint8_t *from, size_t size)
{
    const struct job *job = context;
    const size_t sources = pug_tree_source_count(job->tree);
    struct pug_bytes bytes = pug_bytes_of(from, size);
    struct yield *yield = pug_index_yield_new(job->tree, pug_bytes_take_64(&bytes));
    if (!yield)
        return NULL;
    yield->at = pug_bytes_take_64(&bytes);
    yield->bytes = (uint32_t)pug_bytes_take_64(&bytes);
    yield->crowded = pug_bytes_take_64(&bytes);
    yield->has_states = pug_bytes_take_64(&bytes);
    take_words(yield->states, (1 + sources) * sizeof(*yield->states), &bytes);
    take_words(yield->clocks, sources * sizeof(*yield->clocks), &bytes);
    if (unpack_records(&yield->summaries, &bytes) && unpack_records(&yield->marks, &bytes) &&
        unpack_records(&yield->behind, &bytes) && unpack_records(&yield->values, &bytes))
        return yield;
    pug_index_yield_free(yield);
    return NULL;
}
