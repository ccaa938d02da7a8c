// SPDX-License-Identifier: MIT
/** @file Counts as they are shown: sorted, so that equal ones are equal whatever their history. */
#include "counts/counts.h"

#include <stdlib.h>

static int order(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_contexts(const void *a, const void *b)
{
    const struct pug_count *x = *(const struct pug_count *const *)a,
                           *y = *(const struct pug_count *const *)b;
    const int sign = memcmp(x->key, y->key, 16);
    return sign != 0 ? sign : order(x->key[2], y->key[2]);
}

static int compare_counts(const void *a, const void *b)
{
    const struct pug_count *x = a, *y = b;
    int sign = order(x->key[2] >> 32, y->key[2] >> 32);
    for (unsigned i = 0; sign == 0 && i < 4; i++)
        sign = order(x->key[i], y->key[i]);
    return sign;
}

static uint32_t context_of(const struct pug_count *item)
{
    return (uint32_t)(item->key[2] >> 32);
}

static void renumber(struct pug_count_table *table, const uint32_t *numbers)
{
    for (uint32_t i = 0; i < table->count; i++) {
        struct pug_count *item = &table->items[i];
        item->key[2] = (uint64_t)numbers[context_of(item)] << 32 | (uint32_t)item->key[2];
    }
}

static void renumber_boundary(struct pug_count_boundary *boundary, const uint32_t *numbers)
{
    uint64_t *last = &boundary->last.words[2];
    if (boundary->tail.open)
        boundary->tail.context = numbers[boundary->tail.context];
    if (boundary->has_last)
        *last = (uint64_t)numbers[*last >> 32] << 32 | (uint32_t)*last;
}

/** Contexts in which something ran, by what they are; how many. */
static uint32_t list_contexts(const struct pug_counts *counts, const struct pug_count **list)
{
    const struct pug_count_table *contexts = &counts->contexts;
    uint32_t count = 0;
    for (uint32_t i = 0; i < contexts->count; i++)
        list[i] = NULL;
    for (uint32_t i = 0; i < counts->ranges.count; i++) {
        const uint32_t context = context_of(&counts->ranges.items[i]);
        list[context] = &contexts->items[context];
    }
    for (uint32_t i = 0; i < contexts->count; i++)
        if (list[i])
            list[count++] = list[i];
    qsort(list, count, sizeof(*list), compare_contexts);
    return count;
}

/** Number the contexts from 0. A branch has that of the range that it ends. False: no memory. */
static bool sort_contexts(struct pug_counts *counts)
{
    struct pug_count_table *contexts = &counts->contexts;
    const size_t room = (size_t)contexts->count + 1;
    const struct pug_count **list = malloc(room * sizeof(*list));
    struct pug_count *sorted = malloc(room * sizeof(*sorted));
    uint32_t *numbers = malloc(room * sizeof(*numbers));
    const bool good = list && sorted && numbers;
    const uint32_t count = good ? list_contexts(counts, list) : 0;
    for (uint32_t i = 0; i < count; i++) {
        sorted[i] = *list[i];
        numbers[list[i] - contexts->items] = i;
    }
    if (good) {
        renumber(&counts->ranges, numbers);
        renumber(&counts->jumps, numbers);
        for (uint32_t i = 0; i < counts->boundary_count; i++)
            renumber_boundary(&counts->boundaries[i], numbers);
        if (count > 0)
            memcpy(contexts->items, sorted, count * sizeof(*sorted));
        contexts->count = count;
        pug_count_table_index(contexts);
    }
    free(list);
    free(sorted);
    free(numbers);
    return good;
}

static void sort_table(struct pug_count_table *table)
{
    if (table->count > 0)
        qsort(table->items, table->count, sizeof(*table->items), compare_counts);
    pug_count_table_index(table);
}

static bool sort(struct pug_counts *counts)
{
    counts->last_context = 0;
    if (!sort_contexts(counts))
        return false;
    sort_table(&counts->ranges);
    sort_table(&counts->jumps);
    return true;
}

void pug_counts_total(const struct pug_counts *counts, uint64_t *ranges, uint64_t *instructions)
{
    *ranges = counts->range_sum;
    *instructions = counts->instruction_sum;
    for (uint32_t i = 0; i < counts->ranges.count; i++) {
        const struct pug_count *item = &counts->ranges.items[i];
        *ranges += item->count;
        *instructions += item->count * (uint32_t)item->key[2];
    }
}

const struct pug_count_range *pug_counts_ranges(struct pug_counts *counts, size_t *count)
{
    *count = 0;
    free(counts->shown_ranges);
    counts->shown_ranges = malloc((counts->ranges.count + 1) * sizeof(*counts->shown_ranges));
    if (!counts->shown_ranges || !sort(counts)) {
        counts->failed = true;
        return NULL;
    }
    for (uint32_t i = 0; i < counts->ranges.count; i++) {
        const struct pug_count *item = &counts->ranges.items[i];
        struct pug_element tail;
        memcpy(&tail.flags, &item->key[3], sizeof(item->key[3]));
        counts->shown_ranges[i] =
            (struct pug_count_range){.start = item->key[0],
                                     .end = item->key[1],
                                     .count = item->count,
                                     .cycles = item->cycles,
                                     .instructions = (uint32_t)item->key[2],
                                     .context = (uint32_t)(item->key[2] >> 32),
                                     .flags = tail.flags,
                                     .last_type = tail.last_type,
                                     .last_subtype = tail.last_subtype,
                                     .last_size = tail.last_size,
                                     .isa = tail.isa};
    }
    *count = counts->ranges.count;
    return counts->shown_ranges;
}

const struct pug_count_jump *pug_counts_jumps(struct pug_counts *counts, size_t *count)
{
    *count = 0;
    free(counts->shown_jumps);
    counts->shown_jumps = malloc((counts->jumps.count + 1) * sizeof(*counts->shown_jumps));
    if (!counts->shown_jumps || !sort(counts)) {
        counts->failed = true;
        return NULL;
    }
    for (uint32_t i = 0; i < counts->jumps.count; i++) {
        const struct pug_count *item = &counts->jumps.items[i];
        if (item->count == 0)
            continue; /* it was taken back */
        const struct pug_count_pending branch = pug_counts_jumped(item);
        counts->shown_jumps[(*count)++] =
            (struct pug_count_jump){.from = branch.from,
                                    .to = branch.target,
                                    .count = item->count,
                                    .context = branch.context,
                                    .isa = branch.isa,
                                    .last_type = branch.last_type,
                                    .last_subtype = branch.last_subtype};
    }
    return counts->shown_jumps;
}

const struct pug_element *pug_counts_contexts(struct pug_counts *counts, size_t *count)
{
    *count = 0;
    free(counts->shown_contexts);
    counts->shown_contexts = malloc((counts->contexts.count + 1) * sizeof(*counts->shown_contexts));
    if (!counts->shown_contexts || !sort(counts)) {
        counts->failed = true;
        return NULL;
    }
    for (uint32_t i = 0; i < counts->contexts.count; i++)
        counts->shown_contexts[i] = pug_counts_context_element(counts, i);
    *count = counts->contexts.count;
    return counts->shown_contexts;
}
