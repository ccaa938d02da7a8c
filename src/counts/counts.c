// SPDX-License-Identifier: MIT
/** @file Adding up: ranges and jumps by what they are. */
#include "counts/counts.h"

#include "base/hash.h"

#include <stdlib.h>

#define FIRST_ITEMS 256u

/* ---- tables ---- */

static inline uint64_t hash_of(const uint64_t key[4])
{
    return pug_hash_mix(pug_hash_mix(key[0] ^ key[2] << 17, key[3]), key[1] ^ key[2] >> 32);
}

static inline bool same_key(const uint64_t a[4], const uint64_t b[4])
{
    return ((a[0] ^ b[0]) | (a[1] ^ b[1]) | (a[2] ^ b[2]) | (a[3] ^ b[3])) == 0;
}

static inline uint32_t *find_slot(const struct pug_count_table *table, const uint64_t key[4])
{
    for (uint64_t at = hash_of(key);; at++) {
        uint32_t *slot = &table->slots[at & table->slot_mask];
        if (*slot == 0 || same_key(table->items[*slot - 1].key, key))
            return slot;
    }
}

void pug_count_table_index(struct pug_count_table *table)
{
    if (!table->slots)
        return;
    memset(table->slots, 0, ((size_t)table->slot_mask + 1) * sizeof(*table->slots));
    for (uint32_t i = 0; i < table->count; i++)
        *find_slot(table, table->items[i].key) = i + 1;
}

/** Twice the room. False: no memory; the table is as it was. */
static bool grow(struct pug_count_table *table)
{
    const uint32_t room = table->room ? table->room * 2 : FIRST_ITEMS;
    uint32_t *slots = room > table->room ? calloc((size_t)room * 2, sizeof(*slots)) : NULL;
    struct pug_count *items = slots ? realloc(table->items, room * sizeof(*items)) : NULL;
    if (!items) {
        free(slots);
        return false;
    }
    free(table->slots);
    table->items = items;
    table->slots = slots;
    table->room = room;
    table->slot_mask = room * 2 - 1;
    pug_count_table_index(table);
    return true;
}

/** The item of a key, new where there is none; NULL: no memory. */
static struct pug_count *item_of(struct pug_count_table *table, const uint64_t key[4])
{
    if (table->count == table->room && !grow(table))
        return NULL;
    uint32_t *slot = find_slot(table, key);
    if (*slot == 0) {
        struct pug_count *item = &table->items[table->count++];
        *item = (struct pug_count){.next = {UINT32_MAX, UINT32_MAX}, .jump = UINT32_MAX};
        memcpy(item->key, key, sizeof(item->key));
        *slot = table->count;
    }
    return &table->items[*slot - 1];
}

/** The item that a hint says, if it has this key. */
static inline struct pug_count *hinted(const struct pug_count_table *table, uint32_t hint,
                                       const uint64_t key[4])
{
    struct pug_count *item = table->items && hint < table->count ? &table->items[hint] : NULL;
    return item && same_key(item->key, key) ? item : NULL;
}

static inline uint32_t number_of(const struct pug_count_table *table, const struct pug_count *item)
{
    return (uint32_t)(item - table->items);
}

static void clear_table(struct pug_count_table *table)
{
    table->count = 0;
    pug_count_table_index(table);
}

static void free_table(struct pug_count_table *table)
{
    free(table->items);
    free(table->slots);
}

/* ---- contexts and sources ---- */

/** Another item at the end of an array, zero; NULL: no memory. */
static void *append_item(void **items, uint32_t *count, uint32_t *room, size_t size)
{
    if (*count == *room) {
        const uint32_t more = *room ? *room * 2 : 8;
        void *grown = realloc(*items, more * size);
        if (!grown)
            return NULL;
        *items = grown;
        *room = more;
    }
    return memset((char *)*items + (*count)++ * size, 0, size);
}

uint32_t pug_counts_context(struct pug_counts *counts, const struct pug_element *element,
                            uint64_t memory)
{
    if (counts->bare)
        return 0;
    const struct pug_count_key key = pug_counts_context_key(element, memory);
    const struct pug_count *context = hinted(&counts->contexts, counts->last_context, key.words);
    if (!context)
        context = item_of(&counts->contexts, key.words);
    counts->failed |= !context;
    return context ? counts->last_context = number_of(&counts->contexts, context) : UINT32_MAX;
}

void pug_counts_change_memories(struct pug_counts *counts,
                                uint64_t (*memory)(const void *asker,
                                                   const struct pug_element *context),
                                const void *asker)
{
    for (uint32_t i = 0; i < counts->contexts.count; i++) {
        const struct pug_element context = pug_counts_context_element(counts, i);
        counts->contexts.items[i].key[2] = memory(asker, &context);
    }
    pug_count_table_index(&counts->contexts);
}

struct pug_count_boundary *pug_counts_find_boundary(struct pug_counts *counts, uint16_t source)
{
    for (uint32_t i = 0; i < counts->boundary_count; i++)
        if (counts->boundaries[i].source == source)
            return &counts->boundaries[counts->last_boundary = i];
    void *boundaries = counts->boundaries;
    struct pug_count_boundary *boundary = append_item(&boundaries, &counts->boundary_count,
                                                      &counts->boundary_room, sizeof(*boundary));
    counts->boundaries = boundaries;
    counts->failed |= !boundary;
    if (!boundary)
        return NULL;
    boundary->source = source;
    boundary->last_item = UINT32_MAX;
    counts->last_boundary = counts->boundary_count - 1;
    return boundary;
}

void pug_counts_set_memory(struct pug_counts *counts, uint16_t source, uint64_t memory)
{
    struct pug_count_boundary *boundary = pug_counts_boundary(counts, source);
    if (boundary)
        boundary->memory = memory;
}

/* ---- adding ---- */

static inline struct pug_count_key key_of(uint32_t context, const struct pug_element *range)
{
    /* not that cycles came with it; whole words, since it was stored so a moment ago */
    static const struct pug_element kept = {.flags = PUG_ELEM_EXECUTED | PUG_ELEM_CONDITIONAL,
                                            .type = 0xff,
                                            .reason = 0xff,
                                            .last_type = 0xff,
                                            .last_subtype = 0xff,
                                            .last_size = 0xff,
                                            .isa = 0xff};
    uint64_t tail, mask;
    memcpy(&tail, &range->flags, sizeof(tail));
    memcpy(&mask, &kept.flags, sizeof(mask));
    return (struct pug_count_key){
        {range->start, range->end, (uint64_t)context << 32 | range->count, tail & mask}};
}

static void add_sums(struct pug_counts *counts, const struct pug_element *range, uint64_t count)
{
    counts->range_sum += count;
    counts->instruction_sum += count * range->count;
}

void pug_counts_add_range(struct pug_counts *counts, uint32_t context,
                          const struct pug_element *range, uint64_t count, uint64_t cycles)
{
    if (counts->bare) {
        add_sums(counts, range, count);
        return;
    }
    const struct pug_count_key key = key_of(context, range);
    struct pug_count *item = item_of(&counts->ranges, key.words);
    counts->failed |= !item;
    if (!item)
        return;
    item->count += count;
    item->cycles += cycles;
}

static void add_jump(struct pug_counts *counts, const struct pug_count_pending *from, uint64_t to,
                     uint64_t count, uint32_t *hint)
{
    if (counts->bare)
        return;
    const uint64_t key[4] = {from->from, to, (uint64_t)from->context << 32,
                             from->isa | (uint64_t)from->last_type << 8 |
                                 (uint64_t)from->last_subtype << 16};
    struct pug_count *item = hinted(&counts->jumps, *hint, key);
    if (!item && (item = item_of(&counts->jumps, key)) != NULL)
        *hint = number_of(&counts->jumps, item);
    if (item)
        item->count += count;
    counts->failed |= !item;
}

void pug_counts_add_jump(struct pug_counts *counts, const struct pug_count_pending *from,
                         uint64_t to, uint64_t count)
{
    uint32_t nothing = UINT32_MAX;
    if (count != 0)
        add_jump(counts, from, to, count, &nothing);
}

void pug_counts_settle(struct pug_counts *counts, struct pug_count_pending *pending)
{
    if (pending->open && pending->foreseen)
        pug_counts_add_jump(counts, pending, pending->target, UINT64_MAX);
    pending->foreseen = false;
}

/** Where the branch of the source's last range went, if that is where the tail is from. */
static uint32_t *jump_hint(const struct pug_counts *counts,
                           const struct pug_count_boundary *boundary, uint32_t *nothing)
{
    return boundary->last_item < counts->ranges.count
               ? &counts->ranges.items[boundary->last_item].jump
               : nothing;
}

void pug_counts_go_on(struct pug_counts *counts, struct pug_count_boundary *boundary, uint64_t to)
{
    uint32_t nothing = UINT32_MAX;
    if (boundary->tail.open && !(boundary->tail.foreseen && to == boundary->tail.target)) {
        pug_counts_settle(counts, &boundary->tail);
        add_jump(counts, &boundary->tail, to, 1, jump_hint(counts, boundary, &nothing));
    }
    boundary->tail.open = boundary->follows = false;
    if (boundary->head == PUG_COUNT_HEAD_OPEN) {
        boundary->head = PUG_COUNT_HEAD_PLACE;
        boundary->head_to = to;
    }
}

void pug_counts_follow(struct pug_counts *counts, struct pug_count_boundary *boundary, uint64_t to)
{
    counts->contradictions += boundary->follows && boundary->next != to;
    if (boundary->head == PUG_COUNT_HEAD_OPEN)
        boundary->head_range = !boundary->head_free;
    pug_counts_go_on(counts, boundary, to);
}

void pug_counts_behind(struct pug_count_boundary *boundary, uint32_t context,
                       const struct pug_element *range)
{
    boundary->last = key_of(context, range);
    boundary->has_last = true;
    boundary->follows = !pug_counts_jumps_on(range);
    boundary->next = range->end;
}

void pug_counts_break_off(struct pug_counts *counts, struct pug_count_boundary *boundary)
{
    pug_counts_settle(counts, &boundary->tail);
    boundary->tail.open = boundary->follows = false;
    if (boundary->head == PUG_COUNT_HEAD_OPEN)
        boundary->head = PUG_COUNT_HEAD_CLOSED;
}

void pug_counts_end(struct pug_counts *counts)
{
    for (uint32_t i = 0; i < counts->boundary_count; i++) {
        struct pug_count_boundary *boundary = &counts->boundaries[i];
        pug_counts_settle(counts, &boundary->tail);
        *boundary = (struct pug_count_boundary){
            .source = boundary->source, .memory = boundary->memory, .last_item = UINT32_MAX};
    }
}

/** What came between has nothing to do with branches, but the next range need not follow. */
static void come_between(struct pug_count_boundary *boundary)
{
    boundary->follows = false;
    boundary->head_free |= boundary->head == PUG_COUNT_HEAD_OPEN;
}

void pug_counts_add_cycles(struct pug_counts *counts, struct pug_count_boundary *boundary,
                           uint64_t cycles)
{
    if (counts->bare)
        return;
    if (!boundary->has_last) {
        boundary->head_cycles += cycles;
        return;
    }
    struct pug_count *item = hinted(&counts->ranges, boundary->last_item, boundary->last.words);
    if (!item)
        item = item_of(&counts->ranges, boundary->last.words);
    if (item)
        item->cycles += cycles;
    counts->failed |= !item;
}

/** The item of a range; what was before it knows it, or learns it. */
static struct pug_count *range_after(struct pug_counts *counts, uint32_t before,
                                     const uint64_t key[4])
{
    struct pug_count_table *ranges = &counts->ranges;
    if (before >= ranges->count)
        return item_of(ranges, key);
    const uint32_t *next = ranges->items[before].next;
    struct pug_count *item = hinted(ranges, next[0], key);
    if (!item)
        item = hinted(ranges, next[1], key);
    if (item || !(item = item_of(ranges, key)))
        return item;
    struct pug_count *from = &ranges->items[before]; /* it may have moved */
    from->next[1] = from->next[0];
    from->next[0] = number_of(ranges, item);
    return item;
}

static inline void add_range_element(struct pug_counts *counts, struct pug_count_boundary *boundary,
                                     uint32_t context, const struct pug_element *element)
{
    pug_counts_follow(counts, boundary, element->start);
    pug_counts_behind(boundary, context, element);
    struct pug_count *item = range_after(counts, boundary->last_item, boundary->last.words);
    if (!item) {
        counts->failed = true;
        return;
    }
    item->count++;
    boundary->last_item = number_of(&counts->ranges, item);
    if (pug_counts_jumps_on(element))
        boundary->tail = pug_counts_branch(element, context);
    if (element->flags & PUG_ELEM_HAS_CC)
        pug_counts_add_cycles(counts, boundary, element->cycle_count);
}

/** Ranges of one source and context; how many of the elements these are. */
static size_t add_ranges(struct pug_counts *counts, const struct pug_element *elements,
                         size_t count)
{
    const struct pug_element *first = elements;
    struct pug_count_boundary *boundary = pug_counts_boundary(counts, first->source);
    const uint32_t context =
        boundary ? pug_counts_context(counts, first, boundary->memory) : UINT32_MAX;
    const struct pug_count_key key = pug_counts_context_key(first, 0);
    size_t i = 0;
    for (; i < count && elements[i].type == PUG_ELEM_INSTR_RANGE; i++) {
        if (!pug_counts_is_of(&key, &elements[i]))
            break;
        if (context != UINT32_MAX)
            add_range_element(counts, boundary, context, &elements[i]);
    }
    return i;
}

/** Adds the target of a branch from an element that is not a range. */
static void add_other(struct pug_counts *counts, const struct pug_element *element)
{
    struct pug_count_boundary *boundary = pug_counts_boundary(counts, element->source);
    if (!boundary)
        return;
    switch (element->type) {
    case PUG_ELEM_EXCEPTION:
        if (element->flags & PUG_ELEM_DATA_MARKER)
            return;
        if (element->flags & PUG_ELEM_RET_ADDR)
            pug_counts_go_on(counts, boundary, element->end);
        else
            pug_counts_break_off(counts, boundary);
        break;
    case PUG_ELEM_ADDR_NACC:
    case PUG_ELEM_I_RANGE_NOPATH: pug_counts_go_on(counts, boundary, element->start); break;
    case PUG_ELEM_TRACE_ON:
    case PUG_ELEM_NO_SYNC:
    case PUG_ELEM_EO_TRACE:
    case PUG_ELEM_ADDR_UNKNOWN: pug_counts_break_off(counts, boundary); break;
    case PUG_ELEM_EXCEPTION_RET: come_between(boundary); break;
    default: break;
    }
}

/** Cycles that come with an element are of the last range, which may be itself. */
static void add_cycles_of(struct pug_counts *counts, const struct pug_element *element)
{
    struct pug_count_boundary *boundary = pug_counts_boundary(counts, element->source);
    if (boundary)
        pug_counts_add_cycles(counts, boundary, element->cycle_count);
}

static void add_sums_of(struct pug_counts *counts, const struct pug_element *elements, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (elements[i].type == PUG_ELEM_INSTR_RANGE)
            add_sums(counts, &elements[i], 1);
}

void pug_counts_add_elements(struct pug_counts *counts, const struct pug_element *elements,
                             size_t count)
{
    if (counts->bare) {
        add_sums_of(counts, elements, count);
        return;
    }
    for (size_t i = 0; i < count;) {
        if (elements[i].type == PUG_ELEM_INSTR_RANGE) {
            i += add_ranges(counts, &elements[i], count - i);
            continue;
        }
        add_other(counts, &elements[i]);
        if (pug_element_adds_cycles(&elements[i]))
            add_cycles_of(counts, &elements[i]);
        i++;
    }
}

/* ---- putting parts together ---- */

/** The number of a context of `from` in `to`. */
static uint32_t context_in(struct pug_counts *to, const struct pug_counts *from, uint32_t context)
{
    const struct pug_element element = pug_counts_context_element(from, context);
    return pug_counts_context(to, &element, element.value);
}

/** The context in a key, which is that of `from`, as `to` numbers it. */
static bool translate(struct pug_counts *to, const struct pug_counts *from, uint64_t *word)
{
    const uint32_t context = context_in(to, from, (uint32_t)(*word >> 32));
    *word = (uint64_t)context << 32 | (uint32_t)*word;
    return context != UINT32_MAX;
}

static bool add_table(struct pug_counts *to, struct pug_count_table *table,
                      const struct pug_counts *from, const struct pug_count_table *other)
{
    for (uint32_t i = 0; i < other->count; i++) {
        const struct pug_count *added = &other->items[i];
        struct pug_count_key key;
        memcpy(key.words, added->key, sizeof(key));
        struct pug_count *item =
            translate(to, from, &key.words[2]) ? item_of(table, key.words) : NULL;
        if (!item)
            return false;
        item->count += added->count;
        item->cycles += added->cycles;
    }
    return true;
}

static void append_boundary(struct pug_counts *counts, const struct pug_counts *later,
                            const struct pug_count_boundary *next)
{
    struct pug_count_boundary *boundary = pug_counts_boundary(counts, next->source);
    if (!boundary)
        return;
    if (next->head_cycles > 0)
        pug_counts_add_cycles(counts, boundary, next->head_cycles);
    if (next->head_free)
        come_between(boundary);
    if (next->head == PUG_COUNT_HEAD_PLACE && next->head_range)
        pug_counts_follow(counts, boundary, next->head_to);
    else if (next->head == PUG_COUNT_HEAD_PLACE)
        pug_counts_go_on(counts, boundary, next->head_to);
    else if (next->head == PUG_COUNT_HEAD_CLOSED)
        pug_counts_break_off(counts, boundary);
    boundary->memory = next->memory;
    if (next->has_last) {
        boundary->last = next->last;
        boundary->has_last = translate(counts, later, &boundary->last.words[2]);
        boundary->follows = next->follows;
        boundary->next = next->next;
    }
    if (!next->tail.open)
        return;
    boundary->tail = next->tail;
    boundary->tail.context = context_in(counts, later, next->tail.context);
}

static void add_totals(struct pug_counts *counts, const struct pug_counts *later)
{
    uint64_t ranges, instructions;
    pug_counts_total(later, &ranges, &instructions);
    counts->range_sum += ranges;
    counts->instruction_sum += instructions;
    counts->failed |= later->failed;
}

void pug_counts_append(struct pug_counts *counts, const struct pug_counts *later)
{
    if (counts->bare || later->bare) {
        add_totals(counts, later);
        return;
    }
    counts->range_sum += later->range_sum;
    counts->instruction_sum += later->instruction_sum;
    counts->failed |= later->failed || !add_table(counts, &counts->ranges, later, &later->ranges) ||
                      !add_table(counts, &counts->jumps, later, &later->jumps);
    for (uint32_t i = 0; i < later->boundary_count; i++)
        append_boundary(counts, later, &later->boundaries[i]);
    counts->contradictions += later->contradictions;
}

/* ---- making ---- */

struct pug_counts *pug_counts_new(void)
{
    return calloc(1, sizeof(struct pug_counts));
}

struct pug_counts *pug_counts_new_bare(void)
{
    struct pug_counts *counts = pug_counts_new();
    if (counts)
        counts->bare = true;
    return counts;
}

void pug_counts_clear(struct pug_counts *counts)
{
    clear_table(&counts->ranges);
    clear_table(&counts->jumps);
    clear_table(&counts->contexts);
    counts->boundary_count = counts->last_context = counts->last_boundary = 0;
    counts->contradictions = counts->range_sum = counts->instruction_sum = 0;
    counts->failed = false;
}

void pug_counts_free(struct pug_counts *counts)
{
    if (!counts)
        return;
    free_table(&counts->ranges);
    free_table(&counts->jumps);
    free_table(&counts->contexts);
    free(counts->boundaries);
    free(counts->shown_ranges);
    free(counts->shown_jumps);
    free(counts->shown_contexts);
    free(counts);
}

enum pug_status pug_counts_status(const struct pug_counts *counts)
{
    if (!counts)
        return PUG_ERR_INVALID_PARAM_VAL;
    return counts->failed ? PUG_ERR_MEM : PUG_OK;
}

uint64_t pug_counts_contradictions(const struct pug_counts *counts)
{
    return counts->contradictions;
}
