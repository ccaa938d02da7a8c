// SPDX-License-Identifier: MIT
#include "index/making.h"

#include <stdlib.h>

/* ---- summaries and marks ---- */

static int by_block(const void *a, const void *b)
{
    const struct pug_index_file_summary *x = a, *y = b;
    if (x->block != y->block)
        return x->block < y->block ? -1 : 1;
    const uint32_t a_seat = pug_index_seat(x->source, x->nobody),
                   b_seat = pug_index_seat(y->source, y->nobody);
    if (a_seat != b_seat)
        return a_seat < b_seat ? -1 : 1;
    return (int)x->kind - (int)y->kind;
}

static int by_position(const void *a, const void *b)
{
    const struct pug_index_file_mark *x = a, *y = b;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    const uint32_t a_seat = pug_index_seat(x->source, x->nobody),
                   b_seat = pug_index_seat(y->source, y->nobody);
    if (a_seat != b_seat)
        return a_seat < b_seat ? -1 : 1;
    if (x->kind != y->kind)
        return (int)x->kind - (int)y->kind;
    return x->value < y->value ? -1 : x->value > y->value;
}

/** Two summaries of the same block, source and kind as one. */
static void merge_summary(struct pug_index_file_summary *s,
                          const struct pug_index_file_summary *other)
{
    if (other->first_at < s->first_at) {
        s->first_at = other->first_at;
        s->first = other->first;
    }
    if (other->last_at >= s->last_at) {
        s->last_at = other->last_at;
        s->last = other->last;
    }
    s->count = other->count < UINT32_MAX - s->count ? s->count + other->count : UINT32_MAX;
    s->least = other->least < s->least ? other->least : s->least;
    s->greatest = other->greatest > s->greatest ? other->greatest : s->greatest;
    s->hash += other->hash;
    s->sum += other->sum;
}

/** Packets that begin in one block and end in the next leave more than one summary. */
static void merge_summaries(struct records *summaries)
{
    struct pug_index_file_summary *s = summaries->items;
    size_t kept = 0;
    if (summaries->count > 0)
        qsort(s, summaries->count, sizeof(*s), by_block);
    for (size_t i = 0; i < summaries->count; i++) {
        if (kept > 0 && by_block(&s[kept - 1], &s[i]) == 0)
            merge_summary(&s[kept - 1], &s[i]);
        else
            s[kept++] = s[i];
    }
    summaries->count = kept;
}

void pug_index_gather(struct making *making, struct records *to, const void *items, size_t count)
{
    for (size_t i = 0; i < count && !making->failed; i++)
        making->failed = !pug_index_add_record(to, (const char *)items + i * to->size);
}

void pug_index_sort(struct making *making)
{
    merge_summaries(&making->summaries);
    if (making->all_marks.count > 0)
        qsort(making->all_marks.items, making->all_marks.count, sizeof(struct pug_index_file_mark),
              by_position);
}

void pug_index_number_blocks(struct making *making)
{
    const struct pug_index_file_summary *summaries = making->summaries.items;
    size_t at = 0;
    for (uint64_t block = 0; block < making->header.blocks; block++) {
        making->blocks[block].first = (uint32_t)at;
        while (at < making->summaries.count && summaries[at].block == block)
            at++;
    }
}

/* ---- sources ---- */

static uint32_t seat_of(const struct pug_index_file_source *source)
{
    return pug_index_seat(source->id, source->flags & PUG_INDEX_SOURCE_NOBODY);
}

static struct pug_index_file_source *source_of(struct making *making, uint32_t seat)
{
    size_t at = 0;
    while (at < making->source_count && seat_of(&making->sources[at]) < seat)
        at++;
    if (at < making->source_count && seat_of(&making->sources[at]) == seat)
        return &making->sources[at];
    memmove(&making->sources[at + 1], &making->sources[at],
            (making->source_count++ - at) * sizeof(making->sources[at]));
    making->sources[at] = (struct pug_index_file_source){
        .id = (uint16_t)seat, .flags = seat >> 16 ? PUG_INDEX_SOURCE_NOBODY : 0};
    return &making->sources[at];
}

static void add_tree_sources(struct making *making, const struct pug_tree *tree)
{
    struct pug_source *found;
    for (size_t n = 0;
         n < PUG_INDEX_SOURCE_LIMIT - 1 && (found = pug_tree_source_at(tree, n)) != NULL; n++) {
        const char *name = pug_source_protocol(found)->name;
        struct pug_index_file_source *source = source_of(making, pug_source_id(found));
        memcpy(source->protocol, name, strnlen(name, sizeof(source->protocol) - 1));
    }
}

static void count_summaries(struct making *making)
{
    const struct pug_index_file_summary *summaries = making->summaries.items;
    const size_t count = summaries ? making->summaries.count : 0;
    struct pug_index_file_source *source = NULL;
    for (size_t i = 0; i < count && !making->failed; i++) {
        const uint32_t seat = pug_index_seat(summaries[i].source, summaries[i].nobody);
        if (!source || seat_of(source) != seat)
            source = source_of(making, seat);
        source->counts[summaries[i].kind] += summaries[i].count;
        making->failed = making->source_count > PUG_INDEX_SOURCE_LIMIT;
    }
}

static void flag_full_sources(struct making *making)
{
    for (size_t i = 0; i < making->source_count; i++)
        for (size_t n = 0; n < making->job.full_count; n++)
            if (making->job.full_ids[n] == making->sources[i].id)
                making->sources[i].flags |= PUG_INDEX_SOURCE_FULL;
}

void pug_index_fill_sources(struct making *making, const struct pug_tree *tree)
{
    making->sources = calloc(PUG_INDEX_SOURCE_LIMIT + 2, sizeof(*making->sources));
    making->failed |= !making->sources;
    if (making->failed)
        return;
    add_tree_sources(making, tree);
    count_summaries(making);
    flag_full_sources(making);
    const size_t nobody =
        making->source_count > 0 &&
        seat_of(&making->sources[making->source_count - 1]) == PUG_INDEX_LAST_SEAT;
    making->crowded |= making->source_count - nobody >= PUG_INDEX_SOURCE_LIMIT;
}

/* ---- the file ---- */

static void *put(void *at, const void *items, size_t size)
{
    if (size > 0)
        memcpy(at, items, size);
    return (char *)at + size;
}

enum pug_status pug_index_lay_file(struct making *making, struct pug_index **out)
{
    struct pug_index_file_header *h = &making->header;
    h->sources = (uint32_t)making->source_count;
    h->summaries = making->summaries.count;
    h->marks = making->all_marks.count;
    h->values = making->values.count;
    h->file_size = pug_index_file_size(h);
    struct pug_index *index = calloc(1, sizeof(*index));
    char *bytes = h->file_size && h->file_size < SIZE_MAX ? calloc(1, (size_t)h->file_size) : NULL;
    if (!index || !bytes || h->summaries > UINT32_MAX) {
        free(index);
        free(bytes);
        return PUG_ERR_MEM;
    }
    char *at = put(bytes, h, sizeof(*h));
    at = put(at, making->sources, h->sources * sizeof(*making->sources));
    at = put(at, making->blocks, h->blocks * sizeof(*making->blocks));
    at = put(at, making->summaries.items, h->summaries * sizeof(struct pug_index_file_summary));
    at = put(at, making->all_marks.items, h->marks * sizeof(struct pug_index_file_mark));
    pug_index_values_sort(&making->values, (struct pug_index_file_value *)(void *)at);
    *index = (struct pug_index){.native = bytes, .size = h->file_size};
    pug_index_lay_out(index);
    if (!pug_index_to_file(index)) {
        pug_index_free(index);
        return PUG_ERR_MEM;
    }
    *out = index;
    return PUG_OK;
}
