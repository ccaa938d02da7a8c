// SPDX-License-Identifier: MIT
/** @file Making an index: what a tree's packets, runs and elements say, added up by blocks. */
#include "index/format.h"

#include <stdlib.h>

/* Bytes handed to the tree at once. */
#define PIECE (UINT64_C(1) << 20)

/** Records that grow. */
struct records {
    void *items;
    size_t count, room, size;
};

/** One source and kind in the block that was last marked. */
struct tally {
    uint64_t block;
    struct index_summary summary; /* count 0: none yet */
};

struct builder;

struct source {
    struct builder *builder;
    const struct pug_protocol *protocol; /* NULL: an id without a source in the tree */
    const void *config;
    uint16_t id;
    uint64_t counts[PUG_MARK_KINDS];
    struct tally tallies[PUG_MARK_KINDS];
};

struct builder {
    struct source *sources[PUG_INDEX_SOURCE_LIMIT];
    size_t source_count;
    uint16_t *numbers; /* of each id: 1 + its place in `sources`; 0: none yet */
    const struct pug_transport *transport;
    struct records summaries, marks;
    struct index_block *blocks;
    uint64_t block_count, block;
    unsigned shift; /* of `block` where that is a power of two */
    bool full, out_of_memory;
};

static void *add_record(struct builder *builder, struct records *records)
{
    if (records->count == records->room) {
        size_t room = records->room ? 2 * records->room : 256;
        void *grown = realloc(records->items, room * records->size);
        if (!grown) {
            builder->out_of_memory = true;
            return NULL;
        }
        records->items = grown;
        records->room = room;
    }
    return (char *)records->items + records->count++ * records->size;
}

/* ---- marks ---- */

static void close_tally(struct builder *builder, struct tally *tally)
{
    if (tally->summary.count == 0)
        return;
    struct index_summary *summary = add_record(builder, &builder->summaries);
    if (summary)
        *summary = tally->summary;
    tally->summary.count = 0;
}

static void start_tally(struct source *source, struct tally *tally, enum pug_mark_kind kind,
                        uint64_t block, uint64_t at, uint64_t value)
{
    close_tally(source->builder, tally);
    tally->block = block;
    tally->summary = (struct index_summary){
        .block = (uint32_t)block,
        .source = source->id,
        .kind = (uint8_t)kind,
        .first_at = (uint32_t)(at - block * source->builder->block),
        .first = value,
        .least = value,
        .greatest = value,
    };
}

static struct index_summary *tally_at(struct source *source, enum pug_mark_kind kind, uint64_t at,
                                      uint64_t value)
{
    struct builder *builder = source->builder;
    struct tally *tally = &source->tallies[kind];
    uint64_t block = builder->shift ? at >> builder->shift : at / builder->block;
    if (block >= builder->block_count)
        return NULL;
    if (tally->summary.count == 0 || tally->block != block)
        start_tally(source, tally, kind, block, at, value);
    tally->summary.last_at = (uint32_t)(at - block * builder->block);
    return &tally->summary;
}

static void add_mark(struct source *source, enum pug_mark_kind kind, uint64_t at, uint64_t value)
{
    struct index_summary *summary = tally_at(source, kind, at, value);
    if (!summary)
        return;
    source->counts[kind]++;
    summary->count++;
    summary->last = value;
    if (value < summary->least)
        summary->least = value;
    if (value > summary->greatest)
        summary->greatest = value;
    summary->hash = index_mark_hash(summary->hash, at, value);
    if (!source->builder->full)
        return;
    struct index_mark *mark = add_record(source->builder, &source->builder->marks);
    if (mark)
        *mark = (struct index_mark){
            .at = at, .value = value, .source = source->id, .kind = (uint8_t)kind};
}

static void on_packet(void *context, enum pug_op op, const struct pug_packet *packet)
{
    struct source *source = context;
    struct pug_mark marks[PUG_MARK_LIMIT];
    if (op != PUG_OP_DATA)
        return;
    if (packet->flags & PUG_PACKET_SYNC)
        add_mark(source, PUG_MARK_SYNC, packet->index, 0);
    if (!source->protocol->marks)
        return;
    size_t count = source->protocol->marks(source->config, packet->data, marks);
    for (size_t i = 0; i < count; i++)
        add_mark(source, marks[i].kind, packet->index, marks[i].value);
}

/* ---- sources ---- */

static struct source *new_source(struct builder *builder, uint16_t id)
{
    struct source *source = calloc(1, sizeof(*source));
    if (!source) {
        builder->out_of_memory = true;
        return NULL;
    }
    source->builder = builder;
    source->id = id;
    builder->sources[builder->source_count++] = source;
    builder->numbers[id] = (uint16_t)builder->source_count;
    return source;
}

/** The source of an id; one too many is none in particular. */
static struct source *source_of(struct builder *builder, uint16_t id)
{
    if (!builder->numbers[id] && builder->source_count >= PUG_INDEX_SOURCE_LIMIT - 1)
        id = PUG_SOURCE_UNKNOWN;
    return builder->numbers[id] ? builder->sources[builder->numbers[id] - 1]
                                : new_source(builder, id);
}

/** Ids that the transport keeps for itself are triggers; the null source's are padding. */
static void on_run(void *context, const struct pug_run *run)
{
    struct builder *builder = context;
    struct source *source = builder->transport->single && builder->source_count > 0
                                ? builder->sources[0]
                                : source_of(builder, run->source);
    if (!source || run->size == 0)
        return;
    struct index_summary *summary = tally_at(source, PUG_MARK_DATA, run->index, 0);
    if (!summary)
        return;
    uint32_t room = UINT32_MAX - summary->count;
    summary->count += run->size < room ? (uint32_t)run->size : room;
    source->counts[PUG_MARK_DATA] += run->size;
    if (!source->protocol && run->source != 0 && run->source != PUG_SOURCE_UNKNOWN &&
        builder->transport->reserved && builder->transport->reserved(run->source))
        add_mark(source, PUG_MARK_TRIGGER, run->index, run->source);
}

static void on_frame(void *context, enum pug_op op, uint64_t index, enum pug_frame_kind kind,
                     uint16_t id, const uint8_t *bytes, size_t size)
{
    (void)id;
    (void)bytes;
    (void)size;
    if (op != PUG_OP_DATA || kind != PUG_FRAME_FSYNC)
        return;
    struct source *source = source_of(context, PUG_SOURCE_UNKNOWN);
    if (source)
        add_mark(source, PUG_MARK_SYNC, index, 0);
}

uint64_t pug_index_element_hash(uint64_t hash, const struct pug_element *element)
{
    struct pug_element e = *element;
    uint64_t words[sizeof(e) / 8];
    if (e.flags & PUG_ELEM_PAYLOAD) {
        const uint8_t *bytes = e.payload;
        for (uint32_t i = 0; i < e.count; i++)
            hash = index_mix(hash, bytes[i]);
        e.start = 0;
    }
    memcpy(words, &e, sizeof(words));
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        hash = index_mix(hash, words[i]);
    return hash;
}

static enum pug_response on_elements(void *context, const struct pug_element *elements,
                                     size_t count, size_t *taken)
{
    struct builder *builder = context;
    (void)taken;
    for (size_t i = 0; i < count; i++) {
        uint64_t block = elements[i].index / builder->block;
        if (block >= builder->block_count)
            continue;
        struct index_block *place = &builder->blocks[block];
        place->elements++;
        place->element_hash = pug_index_element_hash(place->element_hash, &elements[i]);
    }
    return PUG_RESP_CONT;
}

static void attach(struct builder *builder, struct pug_tree *tree, bool elements)
{
    struct pug_source *found;
    for (size_t n = 0; (found = pug_tree_source_at(tree, n)) != NULL; n++) {
        struct source *source = source_of(builder, pug_source_id(found));
        if (!source)
            return;
        source->protocol = pug_source_protocol(found);
        source->config = pug_source_config(found);
        pug_source_monitor(found, on_packet, source);
    }
    pug_tree_on_runs(tree, on_run, builder);
    (void)pug_tree_on_frames(tree, on_frame, builder, 1); /* a single source has no frames */
    if (elements)
        pug_tree_on_elements(tree, on_elements, builder);
}

static void detach(struct pug_tree *tree)
{
    struct pug_source *found;
    for (size_t n = 0; (found = pug_tree_source_at(tree, n)) != NULL; n++)
        pug_source_monitor(found, NULL, NULL);
    pug_tree_on_runs(tree, NULL, NULL);
    (void)pug_tree_on_frames(tree, NULL, NULL, 0);
    pug_tree_on_elements(tree, NULL, NULL);
}

/* ---- putting it together ---- */

static int by_block(const void *a, const void *b)
{
    const struct index_summary *x = a, *y = b;
    if (x->block != y->block)
        return x->block < y->block ? -1 : 1;
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return x->first_at < y->first_at ? -1 : x->first_at > y->first_at;
}

static int by_position(const void *a, const void *b)
{
    const struct index_mark *x = a, *y = b;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    return (int)x->kind - (int)y->kind;
}

static int by_id(const void *a, const void *b)
{
    const struct source *const *x = a, *const *y = b;
    return (int)(*x)->id - (int)(*y)->id;
}

/** A source whose packets went back to a block that it had left: two summaries become one. */
static void merge_summaries(struct records *summaries)
{
    struct index_summary *s = summaries->items;
    size_t kept = 0;
    for (size_t i = 0; i < summaries->count; i++) {
        struct index_summary *last = kept ? &s[kept - 1] : NULL;
        if (!last || last->block != s[i].block || last->source != s[i].source ||
            last->kind != s[i].kind) {
            s[kept++] = s[i];
            continue;
        }
        last->count = s[i].count < UINT32_MAX - last->count ? last->count + s[i].count : UINT32_MAX;
        if (s[i].last_at >= last->last_at) {
            last->last_at = s[i].last_at;
            last->last = s[i].last;
        }
        last->least = s[i].least < last->least ? s[i].least : last->least;
        last->greatest = s[i].greatest > last->greatest ? s[i].greatest : last->greatest;
        last->hash = ~last->hash; /* of no order: a block read again is not taken for this */
    }
    summaries->count = kept;
}

static void number_blocks(struct builder *builder)
{
    const struct index_summary *summaries = builder->summaries.items;
    size_t at = 0;
    for (uint64_t block = 0; block < builder->block_count; block++) {
        builder->blocks[block].first = (uint32_t)at;
        while (at < builder->summaries.count && summaries[at].block == block)
            at++;
    }
}

static void sort_all(struct builder *builder)
{
    for (size_t i = 0; i < builder->source_count; i++)
        for (unsigned kind = 0; kind < PUG_MARK_KINDS; kind++)
            close_tally(builder, &builder->sources[i]->tallies[kind]);
    struct records *summaries = &builder->summaries, *marks = &builder->marks;
    if (summaries->count)
        qsort(summaries->items, summaries->count, summaries->size, by_block);
    merge_summaries(summaries);
    if (marks->count)
        qsort(marks->items, marks->count, marks->size, by_position);
    qsort(builder->sources, builder->source_count, sizeof(*builder->sources), by_id);
    number_blocks(builder);
}

static void fill_sources(const struct builder *builder, struct index_source *out)
{
    for (size_t i = 0; i < builder->source_count; i++) {
        const struct source *source = builder->sources[i];
        out[i].id = source->id;
        memcpy(out[i].counts, source->counts, sizeof(source->counts));
        if (source->protocol)
            memcpy(out[i].protocol, source->protocol->name,
                   strnlen(source->protocol->name, sizeof(out[i].protocol) - 1));
    }
}

static void copy(void *to, const void *from, size_t size)
{
    if (size > 0)
        memcpy(to, from, size);
}

static enum pug_status assemble(const struct builder *builder, struct index_header *header,
                                struct pug_index **out)
{
    header->sources = (uint32_t)builder->source_count;
    header->blocks = builder->block_count;
    header->summaries = builder->summaries.count;
    header->marks = builder->marks.count;
    header->file_size = index_file_size(header);
    struct pug_index *index = calloc(1, sizeof(*index));
    uint8_t *bytes = header->file_size ? calloc(1, header->file_size) : NULL;
    if (!index || !bytes || header->summaries > UINT32_MAX) {
        free(index);
        free(bytes);
        return PUG_ERR_MEM;
    }
    *index = (struct pug_index){.bytes = bytes, .size = header->file_size};
    memcpy(bytes, header, sizeof(*header));
    index_lay_out(index);
    fill_sources(builder, (struct index_source *)(bytes + sizeof(*header)));
    uint8_t *at = bytes + sizeof(*header) + builder->source_count * sizeof(struct index_source);
    copy(at, builder->blocks, builder->block_count * sizeof(struct index_block));
    at += builder->block_count * sizeof(struct index_block);
    copy(at, builder->summaries.items, builder->summaries.count * sizeof(struct index_summary));
    at += builder->summaries.count * sizeof(struct index_summary);
    copy(at, builder->marks.items, builder->marks.count * sizeof(struct index_mark));
    ((struct index_header *)bytes)->checksum = index_checksum(index->header);
    *out = index;
    return PUG_OK;
}

/** How far the tree came. */
static uint64_t feed(struct pug_tree *tree, const uint8_t *bytes, uint64_t end,
                     const struct pug_index_options *options)
{
    uint64_t at = 0;
    enum pug_response response = PUG_RESP_CONT;
    while (at < end && PUG_RESP_IS_CONT(response)) {
        size_t used = 0, size = (size_t)(end - at < PIECE ? end - at : PIECE);
        response = pug_tree_data(tree, at, bytes + at, size, &used);
        at += used;
        if (used == 0 || (options->progress && !options->progress(options->progress_context, at)))
            break;
    }
    if (PUG_RESP_IS_CONT(response))
        (void)pug_tree_end(tree);
    return at;
}

static bool prepare(struct builder *builder, struct pug_tree *tree, uint64_t size,
                    const struct pug_index_options *options)
{
    size_t sources = 0;
    while (pug_tree_source_at(tree, sources))
        sources++;
    uint64_t block = options->block ? options->block : (UINT64_C(65536) * (sources + 1)) / 2;
    if (!options->block)
        block = block < 65536 ? 65536 : block;
    *builder = (struct builder){
        .transport = pug_tree_transport(tree),
        .summaries.size = sizeof(struct index_summary),
        .marks.size = sizeof(struct index_mark),
        .block = block,
        .shift = (block & (block - 1)) == 0 ? (unsigned)__builtin_ctzll(block) : 0,
        .block_count = size / block + (size % block != 0),
        .full = options->full,
        .numbers = calloc(PUG_SOURCE_UNKNOWN + 1, sizeof(*builder->numbers)),
    };
    builder->blocks = calloc(builder->block_count + 1, sizeof(*builder->blocks));
    return builder->numbers && builder->blocks && builder->block_count <= UINT32_MAX;
}

static void clear(struct builder *builder)
{
    for (size_t i = 0; i < builder->source_count; i++)
        free(builder->sources[i]);
    free(builder->numbers);
    free(builder->blocks);
    free(builder->summaries.items);
    free(builder->marks.items);
}

enum pug_status pug_index_build(struct pug_tree *tree, const uint8_t *bytes, uint64_t size,
                                const struct pug_index_options *options, struct pug_index **index)
{
    uint64_t end = options->limit && options->limit < size ? options->limit : size;
    if (options->block &&
        (options->block < PUG_INDEX_BLOCK_MIN || options->block > PUG_INDEX_BLOCK_MAX))
        return PUG_ERR_INVALID_PARAM_VAL;
    struct builder *builder = malloc(sizeof(*builder));
    if (!builder)
        return PUG_ERR_MEM;
    enum pug_status status = PUG_ERR_MEM;
    if (prepare(builder, tree, end, options)) {
        attach(builder, tree, options->elements);
        struct index_header header = {
            .magic = {'P', 'U', 'G', 'I', 'N', 'D', 'E', 'X'},
            .version = INDEX_VERSION,
            .header_size = sizeof(header),
            .trace_size = size,
            .trace_hash = index_trace_hash(bytes, size),
            .identity = pug_index_identity(tree),
            .block = builder->block,
            .flags = (options->full ? (unsigned)INDEX_FULL : 0u) |
                     (options->elements ? (unsigned)INDEX_ELEMENTS : 0u),
        };
        memcpy(header.transport, builder->transport->name,
               strnlen(builder->transport->name, sizeof(header.transport) - 1));
        header.indexed = feed(tree, bytes, end, options);
        builder->block_count =
            header.indexed / builder->block + (header.indexed % builder->block != 0);
        detach(tree);
        sort_all(builder);
        if (!builder->out_of_memory)
            status = assemble(builder, &header, index);
    }
    clear(builder);
    free(builder);
    return status;
}
