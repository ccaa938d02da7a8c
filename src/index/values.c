// SPDX-License-Identifier: MIT
/** @file Which values the marks of some kinds have: what is not listed is nowhere. */
#include "index/values.h"

#include "base/hash.h"

#include <stdlib.h>

/* Bytes of capture for which one value may be listed: 0.4 % of it are 32 bytes for each of these.
 */
#define BYTES_OF_ADDRESS UINT64_C(8192)
#define BYTES_OF_OTHERS  UINT64_C(65536)
#define LEAST_OF_OTHERS  16u
/* So many values before its turn the caches are asked for a value's place in a large table. */
#define AHEAD 8u

struct pug_index_value_rules pug_index_value_rules(uint64_t trace_size, uint64_t block)
{
    uint64_t others = trace_size / BYTES_OF_OTHERS;
    size_t limit = others < LEAST_OF_OTHERS ? LEAST_OF_OTHERS : (size_t)others;
    return (struct pug_index_value_rules){
        .part_shift = pug_index_part_shift(trace_size / block),
        .limits[PUG_MARK_EVENT] = limit,
        .limits[PUG_MARK_CONTEXT] = limit,
        .limits[PUG_MARK_VMID] = limit,
        .limits[PUG_MARK_HARDWARE] = limit,
        .limits[PUG_MARK_EXCEPTION] = limit,
        .limits[PUG_MARK_ADDRESS] = (size_t)(trace_size / BYTES_OF_ADDRESS) + 1,
    };
}

static size_t place_of(const struct pug_index_value_table *table, uint64_t value, uint8_t kind)
{
    return (size_t)pug_hash_mix(pug_hash_mix(0, value), kind) & table->mask;
}

/** The slot of a value, or the empty one where it would be. */
static struct pug_index_file_value *slot_of(const struct pug_index_value_table *table,
                                            uint64_t value, uint8_t kind)
{
    size_t at = place_of(table, value, kind);
    for (;; at = (at + 1) & table->mask) {
        struct pug_index_file_value *slot = &table->slots[at];
        if (slot->last < slot->first || (slot->value == value && slot->kind == kind))
            return slot;
    }
}

/** Put all that is not given up into a new table. */
static bool rebuild(struct pug_index_value_table *table, size_t size)
{
    struct pug_index_value_table next = {.slots = malloc(size * sizeof(*next.slots)),
                                         .mask = size - 1};
    if (!next.slots)
        return false;
    for (size_t i = 0; i < size; i++)
        next.slots[i] = (struct pug_index_file_value){.first = 1};
    for (size_t i = 0; table->mask && i <= table->mask; i++) {
        const struct pug_index_file_value *slot = &table->slots[i];
        if (slot->last < slot->first || (table->given_up >> slot->kind & 1))
            continue;
        *slot_of(&next, slot->value, slot->kind) = *slot;
        next.count++;
        next.counts[slot->kind]++;
    }
    next.given_up = table->given_up;
    free(table->slots);
    *table = next;
    return true;
}

static void join(struct pug_index_file_value *slot, const struct pug_index_file_value *value)
{
    slot->first = value->first < slot->first ? value->first : slot->first;
    slot->last = value->last > slot->last ? value->last : slot->last;
    slot->parts |= value->parts;
}

bool pug_index_value_add(struct pug_index_value_table *table,
                         const struct pug_index_value_rules *rules,
                         const struct pug_index_file_value *value)
{
    uint8_t kind = value->kind;
    if (rules->limits[kind] == 0 || (table->given_up >> kind & 1))
        return true;
    if (2 * table->count >= table->mask &&
        !rebuild(table, table->mask ? 2 * (table->mask + 1) : 64))
        return false;
    struct pug_index_file_value *slot = slot_of(table, value->value, kind);
    if (slot->first <= slot->last) {
        join(slot, value);
        return true;
    }
    if (table->counts[kind] >= rules->limits[kind]) {
        table->given_up |= UINT32_C(1) << kind;
        return rebuild(table, table->mask + 1);
    }
    *slot = *value;
    table->count++;
    table->counts[kind]++;
    return true;
}

bool pug_index_values_add(struct pug_index_value_table *table,
                          const struct pug_index_value_rules *rules,
                          const struct pug_index_listed *listed, size_t count)
{
    bool good = true;
    for (size_t i = 0; good && i < count; i++) {
        const struct pug_index_listed *one = &listed[i], *later = one + AHEAD;
        if (table->mask && i + AHEAD < count)
            __builtin_prefetch(&table->slots[place_of(table, later->value, (uint8_t)later->kind)]);
        const struct pug_index_file_value value = {
            .value = one->value,
            .kind = (uint8_t)one->kind,
            .first = one->block,
            .last = one->block,
            .parts = UINT64_C(1) << pug_index_part(one->block, rules->part_shift),
        };
        good = pug_index_value_add(table, rules, &value);
    }
    return good;
}

static int by_value(const void *a, const void *b)
{
    const struct pug_index_file_value *x = a, *y = b;
    if (x->kind != y->kind)
        return (int)x->kind - (int)y->kind;
    return x->value < y->value ? -1 : x->value > y->value;
}

void pug_index_values_sort(const struct pug_index_value_table *table,
                           struct pug_index_file_value *out)
{
    size_t count = 0;
    for (size_t i = 0; table->mask && i <= table->mask; i++)
        if (table->slots[i].first <= table->slots[i].last)
            out[count++] = table->slots[i];
    if (count > 0)
        qsort(out, count, sizeof(*out), by_value);
}

void pug_index_values_free(struct pug_index_value_table *table)
{
    free(table->slots);
    *table = (struct pug_index_value_table){0};
}

const struct pug_index_file_value *pug_index_values_from(const struct pug_index *index,
                                                         enum pug_mark_kind kind, uint64_t value,
                                                         const struct pug_index_file_value **end)
{
    const struct pug_index_file_value wanted = {.value = value, .kind = (uint8_t)kind};
    uint64_t low = 0, high = index->header->values;
    *end = index->values + index->header->values;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (by_value(&index->values[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return index->values + low;
}
