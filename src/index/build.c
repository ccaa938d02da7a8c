// SPDX-License-Identifier: MIT
/** @file Making an index, or the rest of one: what the blocks of a capture gave, as one file. */
#include "index/collect.h"
#include "index/reach.h"
#include "pugmark/jobs.h"
#include "tree/tree_internal.h"

#include <stdlib.h>

/* Bytes of capture in a block for every two sources. */
#define DEFAULT_BLOCK UINT64_C(131072)

/** An index in the making. */
struct making {
    struct pug_index_file_header header;
    const struct pug_index *old; /* what it is the continuation of, or NULL */
    uint64_t kept;               /* blocks of it that stay as they are */
    const struct pug_index_options *options;
    unsigned threads;
    struct job job; /* that is being done */
    uint64_t at;    /* how far it has come */
    struct pug_index_file_block *blocks;
    uint64_t *states; /* the last known of the transport and of each source, hashed */
    struct records summaries, all_marks;
    struct pug_index_value_table values;
    struct pug_index_file_source *sources;
    size_t source_count;
    bool failed;
    bool crowded; /* more ids than sources are counted: one thread has to number them */
};

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

static void gather(struct making *making, struct records *to, const void *items, size_t count)
{
    for (size_t i = 0; i < count && !making->failed; i++)
        making->failed = !pug_index_add_record(to, (const char *)items + i * to->size);
}

/** What stays of the old index. */
static void gather_old(struct making *making)
{
    const struct pug_index *old = making->old;
    const struct pug_index_value_rules *rules = &making->job.rules;
    if (!old)
        return;
    uint64_t end = making->kept * old->header->block, marks = old->header->marks;
    while (marks > 0 && old->marks[marks - 1].at >= end)
        marks--;
    gather(making, &making->summaries, old->summaries, pug_index_block_summary(old, making->kept));
    gather(making, &making->all_marks, old->marks, marks);
    unsigned shift = pug_index_part_shift(old->header->trace_size / old->header->block);
    for (uint64_t i = 0; i < old->header->values && !making->failed; i++) {
        struct pug_index_file_value value = old->values[i];
        value.parts = 0;
        for (unsigned n = 0; n < PUG_INDEX_PARTS; n++)
            if (old->values[i].parts >> n & 1)
                value.parts |= UINT64_C(1) << (n >> (rules->part_shift - shift));
        making->failed = !pug_index_value_add(&making->values, rules, &value);
    }
    for (unsigned kind = 0; kind < PUG_MARK_KINDS; kind++)
        if (rules->limits[kind] && !(old->header->valued >> kind & 1))
            making->values.given_up |= UINT32_C(1) << kind;
}

static void sort_all(struct making *making)
{
    merge_summaries(&making->summaries);
    if (making->all_marks.count > 0)
        qsort(making->all_marks.items, making->all_marks.count, sizeof(struct pug_index_file_mark),
              by_position);
}

static void number_blocks(struct making *making)
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

/** Those of the tree, and each id that has summaries. */
static void fill_sources(struct making *making, const struct pug_tree *tree)
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

static enum pug_status assemble(struct making *making, struct pug_index **out)
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

/* ---- reading the capture ---- */

/** With quirks, what comes may depend on more than a state. */
static unsigned thread_count(const struct pug_tree *tree, const struct pug_index_options *options)
{
    if (pug_quirks_any(pug_tree_quirks(tree)))
        return 1;
    return options->jobs ? options->jobs : pug_jobs_processors();
}

/** The state behind a block is that of the next at its start. */
static void note_states(struct making *making, const struct yield *yield)
{
    const uint64_t next = yield->block + 1;
    const size_t sources = making->job.tree->source_count;
    for (size_t i = 0; i <= sources; i++)
        making->states[i] = yield->states[i] ? yield->states[i] : making->states[i];
    if (next >= making->job.blocks || yield->at != next * making->job.block)
        return;
    struct pug_index_file_block *block = &making->blocks[next];
    *(making->job.elements ? &block->elements : &block->packets) =
        yield->has_states ? pug_index_state_sum(making->states, sources) : 0;
}

/** Until when do elements of a block come? */
static void note_late(struct making *making, const struct behind *behind)
{
    uint32_t *late = &making->blocks[behind->block].late;
    *late = behind->reading > *late ? (uint32_t)behind->reading : *late;
}

/** Which blocks cannot be started at? */
static void note_behind(struct making *making, const struct behind *behind)
{
    for (uint64_t block = behind->block + 1; block <= behind->reading && block < making->job.blocks;
         block++)
        making->blocks[block].behind = 1;
}

static void gather_yield(struct making *making, const struct yield *yield)
{
    const struct pug_index_file_value *values = yield->values.items;
    const struct behind *behind = yield->behind.items;
    gather(making, &making->summaries, yield->summaries.items, yield->summaries.count);
    gather(making, &making->all_marks, yield->marks.items, yield->marks.count);
    for (size_t i = 0; i < yield->values.count && !making->failed; i++)
        making->failed = !pug_index_value_add(&making->values, &making->job.rules, &values[i]);
    atomic_store_explicit(&making->job.given_up, making->values.given_up, memory_order_relaxed);
    for (size_t i = 0; i < yield->behind.count; i++)
        if (making->job.elements)
            note_late(making, &behind[i]);
        else
            note_behind(making, &behind[i]);
}

/** Where there are too many ids, the first ones are counted: one thread has to read it all. */
static bool has_to_renumber(const struct making *making)
{
    return making->crowded && (making->threads > 1 || making->kept > 0);
}

/** Progress is told of each megabyte. */
static bool take_yield(void *context, const struct yield *yield)
{
    struct making *making = context;
    const struct pug_index_options *options = making->options;
    const bool tell = options->progress && making->at >> 20 != yield->at >> 20;
    making->at = yield->at;
    making->crowded |= yield->crowded;
    note_states(making, yield);
    if (yield->bytes)
        making->blocks[yield->block].bytes = yield->bytes;
    gather_yield(making, yield);
    return !making->failed && !has_to_renumber(making) &&
           (!tell || options->progress(options->progress_context, yield->at));
}

/** Where decoding goes on: the old index's last block, if the tree can be brought there; else 0. */
static uint64_t resume_decoding(const struct making *making, const struct pug_tree *tree,
                                const uint8_t *bytes, struct pug_tree **decoder)
{
    const struct pug_index *old = making->old;
    uint64_t last = old && old->header->blocks > 0 ? old->header->blocks - 1 : 0;
    while (last > 0 && old->blocks[last].elements == 0)
        last--;
    const bool known = last > 0 && old->header->decode_identity == making->header.decode_identity;
    return known && pug_index_reach_block(old, tree, bytes, true, last, decoder) ? last : 0;
}

/** What the old index knows of blocks before `first`, and nothing of the others. */
static void keep_elements(struct making *making, uint64_t first)
{
    for (uint64_t block = 0; block < making->header.blocks; block++) {
        struct pug_index_file_block *out = &making->blocks[block];
        const struct pug_index_file_block *old = block < first ? &making->old->blocks[block] : NULL;
        out->elements = old ? old->elements : 0;
        out->late = old && old->late < first ? old->late : UINT32_MAX;
    }
}

/** Decode from `first` on, for the states and for when the elements of each block come. */
static void decode(struct making *making, struct pug_tree *decoder, uint64_t first)
{
    struct job *job = &making->job;
    job->elements = true;
    job->standing = decoder;
    job->first = first;
    job->end = making->header.indexed;
    if (first > 0 || decoder)
        job->peers = NULL;
    job->blocks = making->header.blocks;
    for (uint64_t block = 0; block < job->blocks; block++) {
        struct pug_index_file_block *out = &making->blocks[block];
        if (out->late == UINT32_MAX) /* nothing of an old block comes later than this one's */
            out->late = block < first ? (uint32_t)first - 1 : (uint32_t)block;
    }
    if (!pug_index_collect(job, making->threads) || making->at != job->end)
        keep_elements(making, 0);
}

/** The states of the decoders: of old blocks they are known. */
static void prove_elements(struct making *making, const struct pug_tree *tree)
{
    const struct pug_index *old = making->old;
    bool had = old && (old->header->flags & PUG_INDEX_ELEMENTS);
    struct pug_tree *decoder = NULL;
    making->header.decode_identity = pug_index_decode_identity(tree);
    if (making->header.decode_identity != 0) {
        uint64_t first = resume_decoding(making, tree, making->job.bytes, &decoder);
        keep_elements(making, first);
        decode(making, decoder, first);
        pug_tree_free(decoder);
    } else if (had) { /* by who has no program */
        making->header.decode_identity = old->header->decode_identity;
        keep_elements(making, making->kept);
    } else {
        return;
    }
    making->header.flags |= PUG_INDEX_ELEMENTS;
}

/** Read the capture, or the rest of it, for its marks. */
static void read_marks(struct making *making, struct pug_tree *tree, struct pug_tree *standing,
                       const uint8_t *bytes)
{
    const struct pug_index_options *options = making->options;
    struct pug_index_file_header *h = &making->header;
    const uint64_t size = h->trace_size,
                   end = options->limit && options->limit < size ? options->limit : size;
    making->job = (struct job){
        .tree = tree,
        .standing = standing,
        .bytes = bytes,
        .first = making->kept > 0 ? making->kept : h->from / h->block,
        .end = end,
        .ends = end == size,
        .block = h->block,
        .blocks = end / h->block + (end % h->block != 0),
        .full = options->full,
        .full_ids = options->full_ids,
        .full_count = options->full_ids ? options->full_count : 0,
        .rules = pug_index_value_rules(size, h->block),
        .take = take_yield,
        .take_context = making,
        .peers = standing || making->job.first > 0 ? NULL : options->peers,
    };
    making->blocks = making->job.blocks < UINT32_MAX
                         ? calloc((size_t)making->job.blocks + 1, sizeof(*making->blocks))
                         : NULL;
    making->states = calloc(1 + tree->source_count, sizeof(*making->states));
    making->failed = !making->blocks || !making->states;
    if (making->failed)
        return;
    if (h->from > 0) /* states of a tree that does not know what was before are none */
        making->threads = 1;
    if (making->kept > 0)
        memcpy(making->blocks, making->old->blocks, making->kept * sizeof(*making->blocks));
    gather_old(making);
    making->failed |= !pug_index_collect(&making->job, making->threads);
    h->indexed = making->at;
    h->blocks = h->indexed / h->block + (h->indexed % h->block != 0);
    h->flags = (options->full ? (unsigned)PUG_INDEX_FULL : 0u) |
               (end == size && making->at == end ? (unsigned)PUG_INDEX_ENDED : 0u);
}

static enum pug_status make(struct making *making, struct pug_tree *tree, struct pug_tree *standing,
                            const uint8_t *bytes, struct pug_index **index)
{
    read_marks(making, tree, standing, bytes);
    if (making->failed)
        return PUG_ERR_MEM;
    sort_all(making);
    fill_sources(making, tree);
    number_blocks(making);
    for (unsigned kind = 0; kind < PUG_MARK_KINDS; kind++)
        if (making->job.rules.limits[kind] && !(making->values.given_up >> kind & 1))
            making->header.valued |= UINT32_C(1) << kind;
    making->failed |= has_to_renumber(making);
    for (uint64_t block = 0; making->header.from > 0 && block < making->header.blocks; block++)
        making->blocks[block].packets = 0;
    if (making->options->elements && making->header.from == 0 && !making->failed)
        prove_elements(making, tree);
    return making->failed ? PUG_ERR_MEM : assemble(making, index);
}

static void clear(struct making *making)
{
    pug_index_values_free(&making->values);
    free(making->summaries.items);
    free(making->all_marks.items);
    free(making->blocks);
    free(making->states);
    free(making->sources);
}

static enum pug_status make_and_clear(struct making *making, struct pug_tree *tree,
                                      struct pug_tree *standing, const uint8_t *bytes,
                                      struct pug_index **index)
{
    const enum pug_status status = make(making, tree, standing, bytes, index);
    struct pug_index_options alone = *making->options;
    clear(making);
    if (!has_to_renumber(making))
        return status;
    alone.jobs = 1;
    alone.peers = NULL;
    alone.block = making->header.block;
    return pug_index_build(tree, bytes, making->header.trace_size, &alone, index);
}

static uint64_t default_block(const struct pug_tree *tree)
{
    const size_t sources = tree->source_count;
    return sources > 1 ? DEFAULT_BLOCK * (sources + 1) / 2 : DEFAULT_BLOCK;
}

static struct making begin(struct pug_tree *tree, const uint8_t *bytes, uint64_t size,
                           const struct pug_index_options *options, uint64_t block)
{
    const char *transport = pug_tree_transport(tree)->name;
    struct making making = {
        .options = options,
        .threads = thread_count(tree, options),
        .summaries.size = sizeof(struct pug_index_file_summary),
        .all_marks.size = sizeof(struct pug_index_file_mark),
        .header = {.magic = {'P', 'U', 'G', 'I', 'N', 'D', 'E', 'X'},
                   .version = PUG_INDEX_VERSION,
                   .header_size = sizeof(struct pug_index_file_header),
                   .trace_size = size,
                   .trace_hash = pug_index_trace_hash(bytes, size),
                   .identity = pug_index_identity(tree),
                   .block = block + (PUG_INDEX_ALIGNMENT - block % PUG_INDEX_ALIGNMENT) %
                                        PUG_INDEX_ALIGNMENT},
    };
    memcpy(making.header.transport, transport,
           strnlen(transport, sizeof(making.header.transport) - 1));
    return making;
}

enum pug_status pug_index_build(struct pug_tree *tree, const uint8_t *bytes, uint64_t size,
                                const struct pug_index_options *options, struct pug_index **index)
{
    static const struct pug_index_options usual;
    if (!tree || (!bytes && size > 0) || !index)
        return PUG_ERR_INVALID_PARAM_VAL;
    if (!options)
        options = &usual;
    if (options->block &&
        (options->block < PUG_INDEX_BLOCK_MIN || options->block > PUG_INDEX_BLOCK_MAX))
        return PUG_ERR_INVALID_PARAM_VAL;
    struct making making =
        begin(tree, bytes, size, options, options->block ? options->block : default_block(tree));
    making.header.from = options->from - options->from % making.header.block;
    if (options->from > 0 && options->from >= size)
        return PUG_ERR_INVALID_PARAM_VAL;
    return make_and_clear(&making, tree, NULL, bytes, index);
}

/** The last block before which all is complete. */
static uint64_t complete_blocks(const struct pug_index *old)
{
    const struct pug_index_file_header *h = old->header;
    uint64_t block = h->blocks > 0 ? h->blocks - 1 : 0;
    while (block > 0 && (old->blocks[block].behind || old->blocks[block].packets == 0))
        block--;
    return block;
}

/** Sources of which the old index has every mark; how many. */
static size_t full_sources(const struct pug_index *old, uint16_t ids[PUG_INDEX_SOURCE_LIMIT])
{
    size_t count = 0;
    for (uint32_t i = 0; i < old->header->sources; i++)
        if (old->sources[i].flags & PUG_INDEX_SOURCE_FULL)
            ids[count++] = old->sources[i].id;
    return count;
}

enum pug_status pug_index_extend(const struct pug_index *old, struct pug_tree *tree,
                                 const uint8_t *bytes, uint64_t size,
                                 const struct pug_index_options *options, struct pug_index **index)
{
    struct pug_index_options more = {.block = 0};
    uint16_t full_ids[PUG_INDEX_SOURCE_LIMIT];
    if (!old || !tree || !bytes || !index)
        return PUG_ERR_INVALID_PARAM_VAL;
    if (options)
        more = *options;
    if (size < old->header->trace_size)
        return PUG_ERR_INVALID_PARAM_VAL;
    more.full = old->header->flags & PUG_INDEX_FULL;
    more.elements = more.elements || (old->header->flags & PUG_INDEX_ELEMENTS);
    more.full_count = full_sources(old, full_ids);
    more.full_ids = full_ids;
    if (more.limit && more.limit < old->header->indexed)
        more.limit = old->header->indexed;
    struct making making = begin(tree, bytes, size, &more, old->header->block);
    struct pug_tree *reached = NULL;
    making.header.from = old->header->from;
    making.old = old;
    making.kept = complete_blocks(old);
    if (making.kept > 0 && !pug_index_reach_block(old, tree, bytes, false, making.kept, &reached))
        making.kept = 0;
    if (making.kept == 0)
        making.old = NULL;
    const enum pug_status status = make_and_clear(&making, tree, reached, bytes, index);
    pug_tree_free(reached);
    return status;
}

/* ---- what a watched tree gave ---- */

/** Do all summaries lie in a capture of so many blocks? */
static bool lies_within(const struct yield *yield, uint64_t blocks)
{
    const struct pug_index_file_summary *summaries = yield->summaries.items;
    for (size_t i = 0; i < yield->summaries.count; i++)
        if (summaries[i].block >= blocks)
            return false;
    return true;
}

enum pug_status pug_index_assemble(struct pug_tree *tree, const struct job *job,
                                   const struct yield *yield, const uint8_t *bytes, uint64_t size,
                                   unsigned flags, struct pug_index **index)
{
    const struct pug_index_options options = {.full = job->full};
    struct making making = begin(tree, bytes, size, &options, job->block);
    struct pug_index_file_header *h = &making.header;
    making.job = *job;
    h->indexed = size;
    h->blocks = size / h->block + (size % h->block != 0);
    h->flags = (job->full ? (unsigned)PUG_INDEX_FULL : 0u) | flags;
    making.blocks = h->blocks < UINT32_MAX ? calloc(h->blocks + 1, sizeof(*making.blocks)) : NULL;
    making.failed = !making.blocks;
    if (!lies_within(yield, h->blocks)) {
        clear(&making);
        return PUG_ERR_INVALID_PARAM_VAL;
    }
    gather(&making, &making.summaries, yield->summaries.items, yield->summaries.count);
    gather(&making, &making.all_marks, yield->marks.items, yield->marks.count);
    if (!making.failed) {
        sort_all(&making);
        fill_sources(&making, tree);
        number_blocks(&making);
    }
    enum pug_status status = making.failed ? PUG_ERR_MEM : assemble(&making, index);
    clear(&making);
    return status;
}

uint64_t pug_index_default_block(const struct pug_tree *tree)
{
    return default_block(tree);
}
