// SPDX-License-Identifier: MIT
/**
 * A decoder that starts in the middle does not know what came before: return addresses, contexts,
 * the upper bits of timestamps. What it gives is taken only where each block of the window has as
 * many elements, with the same hash, as the index saw when the whole capture was decoded.
 */
#include "window.h"

#include "index_input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Elements kept until they are proved. */
#define MOST_ELEMENTS (UINT64_C(1) << 22)
/* Synchronisation points to try. */
#define ATTEMPTS 3
/* Decoding starts at a multiple of all frame sizes. */
#define ALIGNMENT 512u
#define PIECE     (UINT64_C(1) << 16)
/* What comes so many blocks behind the window is not waited for. */
#define BLOCKS_BEHIND 4

static bool take_given(void *target, const char *argument)
{
    struct window_number *number = target;
    number->given = true;
    return option_number(&number->value, argument);
}

const struct option window_option_table[] = {
    {"from-time", "T", "from the first timestamp of T or later on", take_given,
     offsetof(struct window_options, from_time)},
    {"to-time", "T", "up to the first timestamp behind T", take_given,
     offsetof(struct window_options, to_time)},
    {"around", "OFFSET", "what begins near this trace offset", take_given,
     offsetof(struct window_options, around)},
    {"radius", "BYTES", "how near (default: 1024)", option_number,
     offsetof(struct window_options, radius)},
    {"index", "FILE", "the index file (default: the trace's name and .pugindex)", option_string,
     offsetof(struct window_options, index)},
};
const size_t window_option_count = sizeof(window_option_table) / sizeof(window_option_table[0]);

bool window_wanted(const struct window_options *options)
{
    return options->from_time.given || options->to_time.given || options->around.given;
}

/** Where the first timestamp of at least `time` is; behind everything if there is none. */
static uint64_t find_time(struct input *input, const struct pug_index *index, uint64_t time)
{
    struct pug_index_mark mark;
    const struct pug_index_query query = {
        .kind = PUG_MARK_TIMESTAMP, .source = PUG_INDEX_ANY, .least = time, .greatest = UINT64_MAX};
    enum pug_status status =
        pug_index_find(index, input->tree, input->trace, input->trace_size, &query, &mark);
    return status == PUG_OK ? mark.at : UINT64_MAX;
}

static void narrow(struct window *window, uint64_t from, uint64_t to)
{
    window->from = from > window->from ? from : window->from;
    window->to = to < window->to ? to : window->to;
}

bool window_find(struct input *input, const struct window_options *options, struct window *window,
                 struct pug_index **index)
{
    *index = index_open(input, options->index);
    if (!*index)
        return false;
    if (options->around.given) {
        uint64_t at = options->around.value, radius = options->radius;
        narrow(window, at > radius ? at - radius : 0,
               at < UINT64_MAX - radius ? at + radius : UINT64_MAX);
    }
    if (options->from_time.given)
        narrow(window, find_time(input, *index, options->from_time.value), UINT64_MAX);
    if (options->to_time.given && options->to_time.value < UINT64_MAX)
        narrow(window, 0, find_time(input, *index, options->to_time.value + 1));
    return true;
}

/* ---- decoding ---- */

/** One block of the window: what came, and what the index has. */
struct block {
    uint32_t count, wanted;
    uint64_t hash, wanted_hash;
};

struct collected {
    uint64_t size; /* of a block */
    uint64_t first, count;
    struct block *blocks;
    struct pug_element *elements; /* with their payloads in memory of their own */
    uint64_t used, wanted;
    bool failed;
};

static bool keep_payload(struct pug_element *e)
{
    if (!(e->flags & PUG_ELEM_PAYLOAD))
        return true;
    void *copy = malloc((size_t)e->count + 1);
    if (copy && e->count > 0)
        memcpy(copy, e->payload, e->count);
    e->payload = copy;
    return copy != NULL;
}

static void forget(struct collected *collected)
{
    for (uint64_t i = 0; i < collected->used; i++)
        if (collected->elements[i].flags & PUG_ELEM_PAYLOAD)
            free((void *)(uintptr_t)collected->elements[i].payload);
    collected->used = 0;
    collected->failed = false;
    for (uint64_t i = 0; i < collected->count; i++) {
        collected->blocks[i].count = 0;
        collected->blocks[i].hash = 0;
    }
}

static enum pug_response collect(void *context, const struct pug_element *elements, size_t count,
                                 size_t *taken)
{
    struct collected *collected = context;
    (void)taken;
    for (size_t i = 0; i < count && !collected->failed; i++) {
        uint64_t n = elements[i].index / collected->size - collected->first;
        if (elements[i].index / collected->size < collected->first || n >= collected->count)
            continue;
        struct block *block = &collected->blocks[n];
        struct pug_element *kept = &collected->elements[collected->used];
        if (block->count == block->wanted) {
            collected->failed = true;
            break;
        }
        block->count++;
        block->hash = pug_index_element_hash(block->hash, &elements[i]);
        *kept = elements[i];
        if (keep_payload(kept))
            collected->used++;
        else
            collected->failed = true;
    }
    return PUG_RESP_CONT;
}

/** Which blocks the window touches and what the index has of them; false: too much, or nothing. */
static bool prepare(struct collected *collected, const struct pug_index *index,
                    const struct window *window)
{
    struct pug_index_info info;
    pug_index_info(index, &info);
    uint64_t to = window->to < info.indexed ? window->to : info.indexed;
    if (!info.elements || window->from >= to)
        return false;
    *collected = (struct collected){.size = info.block, .first = window->from / info.block};
    collected->count = (to - 1) / info.block - collected->first + 1;
    collected->blocks = calloc(collected->count, sizeof(*collected->blocks));
    for (uint64_t i = 0; collected->blocks && i < collected->count; i++) {
        struct block *block = &collected->blocks[i];
        (void)pug_index_elements(index, collected->first + i, &block->wanted, &block->wanted_hash);
        collected->wanted += block->wanted;
    }
    if (collected->blocks && collected->wanted <= MOST_ELEMENTS)
        collected->elements = calloc(collected->wanted + 1, sizeof(*collected->elements));
    return collected->elements != NULL;
}

/** The nearest place before `before` from which all sources of the window are synchronised. */
static uint64_t start_before(const struct pug_index *index, const struct collected *collected,
                             uint64_t before)
{
    uint16_t ids[64];
    uint64_t from = collected->first * collected->size, earliest = before;
    size_t count =
        pug_index_active(index, from, from + collected->count * collected->size, ids, 64);
    struct pug_index_source source;
    for (size_t n = 0; pug_index_source_at(index, n, &source); n++)
        for (size_t i = 0; i < count && i < 64; i++) {
            if (ids[i] != source.id || source.protocol[0] == 0)
                continue;
            uint64_t at = pug_index_sync_before(index, source.id, before);
            earliest = at < earliest ? at : earliest;
        }
    return earliest < before ? earliest - earliest % ALIGNMENT : 0;
}

static void decode_from(struct input *input, struct collected *collected, uint64_t at)
{
    uint64_t end = (collected->first + collected->count + BLOCKS_BEHIND) * collected->size;
    enum pug_response response = PUG_RESP_CONT;
    pug_tree_on_elements(input->tree, collect, collected);
    while (at < input->trace_size && at < end && collected->used < collected->wanted &&
           !collected->failed && PUG_RESP_IS_CONT(response)) {
        uint64_t left = input->trace_size - at;
        size_t used = 0;
        response = pug_tree_data(input->tree, at, input->trace + at,
                                 (size_t)(left < PIECE ? left : PIECE), &used);
        at += used;
        if (used == 0)
            break;
    }
    if (at == input->trace_size && PUG_RESP_IS_CONT(response))
        (void)pug_tree_end(input->tree);
}

static bool is_proved(const struct collected *collected)
{
    for (uint64_t i = 0; i < collected->count; i++)
        if (collected->blocks[i].count != collected->blocks[i].wanted ||
            collected->blocks[i].hash != collected->blocks[i].wanted_hash)
            return false;
    return !collected->failed;
}

bool window_decode(struct input *input, const struct pug_index *index, const struct window *window,
                   void (*take)(void *context, const struct pug_element *element), void *context)
{
    struct collected collected = {0};
    bool proved = false;
    if (prepare(&collected, index, window)) {
        uint64_t from = collected.first * collected.size;
        for (int n = 0; n <= ATTEMPTS && !proved; n++) {
            from = n < ATTEMPTS ? start_before(index, &collected, from) : 0;
            forget(&collected);
            if (!index_tree(input, true))
                break;
            decode_from(input, &collected, from);
            proved = is_proved(&collected);
            if (from == 0)
                break;
        }
        for (uint64_t i = 0; i < collected.used && proved; i++)
            if (collected.elements[i].index >= window->from &&
                collected.elements[i].index < window->to)
                take(context, &collected.elements[i]);
        forget(&collected);
    }
    free(collected.blocks);
    free(collected.elements);
    return proved;
}
