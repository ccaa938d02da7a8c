// SPDX-License-Identifier: MIT
/** @file What is in an index. */
#include "index/format.h"
#include "pugmark/advanced/transport.h"

/** They are marks of the source that stands for what is of none, which is the last one. */
static uint64_t frame_syncs(const struct pug_index *index)
{
    const struct pug_index_file_header *h = index->header;
    const struct pug_index_file_source *last = h->sources ? &index->sources[h->sources - 1] : NULL;
    return last && (last->flags & PUG_INDEX_SOURCE_NOBODY) ? last->counts[PUG_MARK_SYNC] : 0;
}

/** Has a source the id that stands for none? It is the last one, or the last but one. */
static bool is_taken(const struct pug_index *index)
{
    const uint32_t count = index->header->sources;
    for (uint32_t i = count > 2 ? count - 2 : 0; i < count; i++)
        if (index->sources[i].id == PUG_SOURCE_UNKNOWN &&
            !(index->sources[i].flags & PUG_INDEX_SOURCE_NOBODY))
            return true;
    return false;
}

bool pug_index_means(const struct pug_index *index, uint32_t source, uint16_t id, bool nobody)
{
    if (source == PUG_INDEX_ANY)
        return true;
    if (nobody)
        return source == PUG_INDEX_NOBODY || (source == PUG_SOURCE_UNKNOWN && !is_taken(index));
    return source == id;
}

uint64_t pug_index_known_state(const struct pug_index *index, bool elements, uint64_t block)
{
    const uint64_t blocks = index->header->blocks;
    block = block < blocks ? block : blocks > 0 ? blocks - 1 : 0;
    while (block > 0 &&
           (elements ? index->blocks[block].elements : index->blocks[block].packets) == 0)
        block--;
    return block;
}

/** Of all blocks, though the last ones may have none that is known. */
static uint64_t known_states(const struct pug_index *index)
{
    const struct pug_index_file_header *h = index->header;
    if (!(h->flags & PUG_INDEX_ELEMENTS))
        return 0;
    return h->flags & PUG_INDEX_PARTLY ? pug_index_known_state(index, true, h->blocks) * h->block
                                       : h->indexed;
}

void pug_index_info(const struct pug_index *index, struct pug_index_info *info)
{
    const struct pug_index_file_header *h = index->header;
    *info = (struct pug_index_info){
        .transport = h->transport,
        .trace_size = h->trace_size,
        .indexed = h->indexed,
        .from = h->from,
        .block = h->block,
        .blocks = h->blocks,
        .summaries = h->summaries,
        .marks = h->marks,
        .size = index->size,
        .sources = h->sources,
        .full = h->flags & PUG_INDEX_FULL,
        .elements = h->flags & PUG_INDEX_ELEMENTS,
        .frame_syncs = frame_syncs(index),
        .states = known_states(index),
    };
}

bool pug_index_source_at(const struct pug_index *index, size_t n, struct pug_index_source *out)
{
    if (n >= index->header->sources)
        return false;
    const struct pug_index_file_source *source = &index->sources[n];
    *out = (struct pug_index_source){.id = source->id,
                                     .full = (source->flags & PUG_INDEX_SOURCE_FULL) ||
                                             (index->header->flags & PUG_INDEX_FULL),
                                     .nobody = source->flags & PUG_INDEX_SOURCE_NOBODY,
                                     .protocol = source->protocol,
                                     .bytes = source->counts[PUG_MARK_DATA]};
    memcpy(out->counts, source->counts, sizeof(out->counts));
    return true;
}

bool pug_index_summary_at(const struct pug_index *index, uint64_t n, struct pug_index_summary *out)
{
    if (n >= index->header->summaries)
        return false;
    const struct pug_index_file_summary *s = &index->summaries[n];
    uint64_t start = s->block * index->header->block;
    *out = (struct pug_index_summary){
        .block = s->block,
        .source = s->source,
        .nobody = s->nobody,
        .kind = (enum pug_mark_kind)s->kind,
        .count = s->count,
        .first_at = start + s->first_at,
        .last_at = start + s->last_at,
        .first = s->first,
        .last = s->last,
        .least = s->least,
        .greatest = s->greatest,
        .sum = s->sum,
    };
    return true;
}

uint64_t pug_index_block_summary(const struct pug_index *index, uint64_t block)
{
    return block < index->header->blocks ? index->blocks[block].first : index->header->summaries;
}

static bool is_active(const struct pug_index *index, uint16_t id, uint64_t first, uint64_t end)
{
    for (uint64_t n = first; n < end; n++) {
        const struct pug_index_file_summary *s = &index->summaries[n];
        if (s->kind == PUG_MARK_DATA && s->source == id &&
            pug_index_means(index, id, s->source, s->nobody))
            return true;
    }
    return false;
}

size_t pug_index_active(const struct pug_index *index, uint64_t from, uint64_t to, uint16_t *ids,
                        size_t room)
{
    if (from >= to)
        return 0;
    uint64_t block = index->header->block;
    uint64_t first = pug_index_block_summary(index, from / block);
    uint64_t end = pug_index_block_summary(index, (to - 1) / block + 1);
    size_t count = 0;
    for (uint32_t i = 0; i < index->header->sources; i++) {
        if ((i > 0 && index->sources[i].id == index->sources[i - 1].id) ||
            !is_active(index, index->sources[i].id, first, end))
            continue;
        if (count < room)
            ids[count] = index->sources[i].id;
        count++;
    }
    return count;
}

/** The last synchronisation point of one source that its summaries name before a position. */
static uint64_t sync_of(const struct pug_index *index, uint32_t source, uint64_t before)
{
    uint64_t size = index->header->block;
    for (uint64_t n = pug_index_block_summary(index, before / size + 1); n-- > 0;) {
        const struct pug_index_file_summary *s = &index->summaries[n];
        if (s->kind != PUG_MARK_SYNC || !pug_index_means(index, source, s->source, s->nobody))
            continue;
        uint64_t start = s->block * size;
        if (start + s->last_at < before)
            return start + s->last_at;
        if (start + s->first_at < before)
            return start + s->first_at;
    }
    return 0;
}

uint64_t pug_index_sync_before(const struct pug_index *index, uint32_t source, uint64_t before)
{
    if (source != PUG_INDEX_ANY)
        return sync_of(index, source, before);
    uint64_t earliest = before;
    for (uint32_t i = 0; i < index->header->sources; i++) {
        if (index->sources[i].protocol[0] == 0)
            continue;
        uint64_t at = sync_of(index, index->sources[i].id, before);
        earliest = at < earliest ? at : earliest;
    }
    return earliest;
}

const void *pug_index_bytes(const struct pug_index *index, size_t *size)
{
    *size = index->size;
    return index->bytes;
}
