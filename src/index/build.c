// SPDX-License-Identifier: MIT
/** @file Making an index, or the rest of one: what the stretches of a capture gave, as one file. */
#include "index/chain.h"
#include "index/reach.h"
#include "pugmark/jobs.h"

#include <stdlib.h>

/* Bytes of capture in a block for every two sources. */
#define DEFAULT_BLOCK UINT64_C(131072)

/** An index in the making. */
struct making {
    struct index_header header;
    const struct pug_index *old; /* what it is the continuation of, or NULL */
    uint64_t kept;               /* blocks of it that stay as they are */
    struct index_block *blocks;
    struct chain marks;
    struct records summaries, all_marks;
    struct value_table values;
    struct index_source *sources;
    size_t source_count;
    bool failed;
};

/* ---- summaries and marks ---- */

static int by_block(const void *a, const void *b)
{
    const struct index_summary *x = a, *y = b;
    if (x->block != y->block)
        return x->block < y->block ? -1 : 1;
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    return (int)x->kind - (int)y->kind;
}

static int by_position(const void *a, const void *b)
{
    const struct index_mark *x = a, *y = b;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    if (x->kind != y->kind)
        return (int)x->kind - (int)y->kind;
    return x->value < y->value ? -1 : x->value > y->value;
}

/** Two summaries of the same block, source and kind as one. */
static void merge_summary(struct index_summary *s, const struct index_summary *other)
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
}

/** Packets that begin in one block and end in the next leave more than one summary. */
static void merge_summaries(struct records *summaries)
{
    struct index_summary *s = summaries->items;
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
        making->failed = !index_add_record(to, (const char *)items + i * to->size);
}

/** What stays of the old index. */
static void gather_old(struct making *making, const struct value_rules *rules)
{
    const struct pug_index *old = making->old;
    if (!old)
        return;
    uint64_t end = making->kept * old->header->block, marks = old->header->marks;
    while (marks > 0 && old->marks[marks - 1].at >= end)
        marks--;
    gather(making, &making->summaries, old->summaries, pug_index_block_summary(old, making->kept));
    gather(making, &making->all_marks, old->marks, marks);
    unsigned shift = index_part_shift(old->header->trace_size / old->header->block);
    for (uint64_t i = 0; i < old->header->values && !making->failed; i++) {
        struct index_value value = old->values[i];
        value.parts = 0;
        for (unsigned n = 0; n < INDEX_PARTS; n++)
            if (old->values[i].parts >> n & 1)
                value.parts |= UINT64_C(1) << (n >> (rules->part_shift - shift));
        making->failed = !index_value_add(&making->values, rules, &value);
    }
    for (unsigned kind = 0; kind < PUG_MARK_KINDS; kind++)
        if (rules->limits[kind] && !(old->header->valued >> kind & 1))
            making->values.given_up |= UINT32_C(1) << kind;
}

static void gather_all(struct making *making, const struct value_rules *rules)
{
    gather_old(making, rules);
    for (size_t i = 0; i < making->marks.count && !making->failed; i++) {
        const struct stretch *stretch = making->marks.items[i];
        gather(making, &making->summaries, stretch->summaries.items, stretch->summaries.count);
        gather(making, &making->all_marks, stretch->marks.items, stretch->marks.count);
        making->failed |= !index_values_merge(&making->values, rules, &stretch->values);
        const struct behind *behind = stretch->behind.items;
        for (size_t n = 0; n < stretch->behind.count; n++)
            for (uint64_t block = behind[n].block + 1;
                 block <= behind[n].reading && block < making->header.blocks; block++)
                making->blocks[block].behind = 1;
    }
    merge_summaries(&making->summaries);
    if (making->all_marks.count > 0)
        qsort(making->all_marks.items, making->all_marks.count, sizeof(struct index_mark),
              by_position);
}

static void number_blocks(struct making *making)
{
    const struct index_summary *summaries = making->summaries.items;
    size_t at = 0;
    for (uint64_t block = 0; block < making->header.blocks; block++) {
        making->blocks[block].first = (uint32_t)at;
        while (at < making->summaries.count && summaries[at].block == block)
            at++;
    }
}

/* ---- sources ---- */

static struct index_source *source_of(struct making *making, uint16_t id)
{
    size_t at = 0;
    while (at < making->source_count && making->sources[at].id < id)
        at++;
    if (at < making->source_count && making->sources[at].id == id)
        return &making->sources[at];
    memmove(&making->sources[at + 1], &making->sources[at],
            (making->source_count++ - at) * sizeof(making->sources[at]));
    making->sources[at] = (struct index_source){.id = id};
    return &making->sources[at];
}

/** Those of the tree, and each id that has summaries. */
static void fill_sources(struct making *making, struct pug_tree *tree)
{
    const struct index_summary *summaries = making->summaries.items;
    struct pug_source *found;
    making->sources = calloc(PUG_INDEX_SOURCE_LIMIT + 2, sizeof(*making->sources));
    making->failed |= !making->sources;
    for (size_t n = 0; !making->failed && n < PUG_INDEX_SOURCE_LIMIT - 1 &&
                       (found = pug_tree_source_at(tree, n)) != NULL;
         n++) {
        const char *name = pug_source_protocol(found)->name;
        struct index_source *source = source_of(making, pug_source_id(found));
        memcpy(source->protocol, name, strnlen(name, sizeof(source->protocol) - 1));
    }
    struct index_source *source = NULL;
    for (size_t i = 0; i < making->summaries.count && !making->failed; i++) {
        if (!source || source->id != summaries[i].source)
            source = source_of(making, summaries[i].source);
        source->counts[summaries[i].kind] += summaries[i].count;
        making->failed = making->source_count > PUG_INDEX_SOURCE_LIMIT;
    }
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
    struct index_header *h = &making->header;
    h->sources = (uint32_t)making->source_count;
    h->summaries = making->summaries.count;
    h->marks = making->all_marks.count;
    h->values = making->values.count;
    h->file_size = index_file_size(h);
    struct pug_index *index = calloc(1, sizeof(*index));
    char *bytes = h->file_size ? calloc(1, h->file_size) : NULL;
    if (!index || !bytes || h->summaries > UINT32_MAX) {
        free(index);
        free(bytes);
        return PUG_ERR_MEM;
    }
    char *at = put(bytes, h, sizeof(*h));
    at = put(at, making->sources, h->sources * sizeof(*making->sources));
    at = put(at, making->blocks, h->blocks * sizeof(*making->blocks));
    at = put(at, making->summaries.items, h->summaries * sizeof(struct index_summary));
    at = put(at, making->all_marks.items, h->marks * sizeof(struct index_mark));
    index_values_sort(&making->values, (struct index_value *)(void *)at);
    *index = (struct pug_index){.bytes = bytes, .size = h->file_size};
    index_lay_out(index);
    ((struct index_header *)(void *)bytes)->checksum = index_checksum(index->header);
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

/** The chain of one job; a capture of too many ids is one thread's. */
static void read_chain(struct chain *chain, const struct job *job, struct pug_tree *tree,
                       uint64_t first, struct chain_options how)
{
    index_chain_read(chain, job, tree, first, &how);
    if (!chain->crowded || how.threads == 1)
        return;
    struct pug_tree *again = NULL;
    if (first > 0 || pug_tree_clone(tree, NULL, &again) != PUG_OK)
        return;
    index_chain_free(chain);
    how.threads = 1;
    index_chain_read(chain, job, again, 0, &how);
    pug_tree_free(again);
}

/** Note until when elements of each block came. False: decoding did not come to the end. */
static bool note_late(struct making *making, const struct chain *chain)
{
    for (size_t i = 0; i < chain->count; i++) {
        const struct behind *behind = chain->items[i]->behind.items;
        for (size_t n = 0; n < chain->items[i]->behind.count; n++) {
            if (behind[n].block >= making->header.blocks)
                continue;
            uint32_t *late = &making->blocks[behind[n].block].late;
            *late = behind[n].reading > *late ? (uint32_t)behind[n].reading : *late;
        }
    }
    return !chain->failed && chain->at == making->header.indexed;
}

/** Where decoding goes on: the old index's last block, if the tree can be brought there; else 0. */
static uint64_t resume_decoding(const struct making *making, struct pug_tree *tree,
                                const uint8_t *bytes, struct pug_tree **decoder)
{
    const struct pug_index *old = making->old;
    uint64_t last = old && old->header->blocks > 0 ? old->header->blocks - 1 : 0;
    while (last > 0 && old->blocks[last].elements == 0)
        last--;
    if (last > 0 && old->header->decode_identity == making->header.decode_identity &&
        index_reach(old, tree, bytes, true, last, decoder))
        return last;
    *decoder = NULL;
    (void)pug_tree_clone(tree, NULL, decoder);
    return 0;
}

/** What the old index knows of blocks before `first`, and nothing of the others. */
static void keep_elements(struct making *making, uint64_t first)
{
    for (uint64_t block = 0; block < making->header.blocks; block++) {
        struct index_block *out = &making->blocks[block];
        const struct index_block *old = block < first ? &making->old->blocks[block] : NULL;
        out->elements = old ? old->elements : 0;
        out->late = old && old->late < first ? old->late : UINT32_MAX;
    }
}

/** Decode from `first` on, for the states and for when the elements of each block come. */
static void decode(struct making *making, struct pug_tree *decoder, const struct job *marks,
                   uint64_t first, const struct chain_options *options)
{
    struct job job = *marks;
    struct chain chain;
    job.elements = true;
    job.end = making->header.indexed;
    job.blocks = making->header.blocks;
    for (uint64_t block = 0; block < job.blocks; block++) {
        struct index_block *out = &making->blocks[block];
        if (out->late == UINT32_MAX) /* nothing of an old block comes later than this one's */
            out->late = block < first ? (uint32_t)first - 1 : (uint32_t)block;
    }
    index_chain_read(&chain, &job, decoder, first, options);
    if (!note_late(making, &chain))
        keep_elements(making, 0);
    index_chain_free(&chain);
}

/** The states of the decoders: of old blocks they are known. */
static void prove_elements(struct making *making, struct pug_tree *tree, const struct job *marks,
                           const struct chain_options *options)
{
    const struct pug_index *old = making->old;
    bool had = old && (old->header->flags & INDEX_ELEMENTS);
    struct pug_tree *decoder = NULL;
    making->header.decode_identity = index_decode_identity(tree);
    if (making->header.decode_identity != 0) {
        uint64_t first = resume_decoding(making, tree, marks->bytes, &decoder);
        keep_elements(making, first);
        if (decoder)
            decode(making, decoder, marks, first, options);
        pug_tree_free(decoder);
    } else if (had) { /* by who has no program */
        making->header.decode_identity = old->header->decode_identity;
        keep_elements(making, making->kept);
    } else {
        return;
    }
    making->header.flags |= INDEX_ELEMENTS;
}

static enum pug_status make(struct making *making, struct pug_tree *tree, const uint8_t *bytes,
                            const struct pug_index_options *options, struct pug_index **index)
{
    struct index_header *h = &making->header;
    uint64_t size = h->trace_size,
             end = options->limit && options->limit < size ? options->limit : size;
    struct job job = {
        .bytes = bytes,
        .end = end,
        .block = h->block,
        .blocks = end / h->block + (end % h->block != 0),
        .full = options->full,
        .rules = index_value_rules(size, h->block),
    };
    const struct chain_options how = {
        .threads = thread_count(tree, options),
        .end_of_trace = end == size,
        .progress = options->progress,
        .progress_context = options->progress_context,
    };
    if (job.blocks > UINT32_MAX)
        return PUG_ERR_MEM;
    job.out = making->blocks = calloc(job.blocks + 1, sizeof(*making->blocks));
    if (!job.out)
        return PUG_ERR_MEM;
    if (making->kept > 0)
        memcpy(job.out, making->old->blocks, making->kept * sizeof(*job.out));
    read_chain(&making->marks, &job, tree, making->kept, how);
    making->failed = making->marks.failed;
    h->indexed = making->marks.at;
    h->blocks = h->indexed / h->block + (h->indexed % h->block != 0);
    h->flags = (options->full ? (unsigned)INDEX_FULL : 0u) |
               (making->marks.ended ? (unsigned)INDEX_ENDED : 0u);
    gather_all(making, &job.rules);
    fill_sources(making, tree);
    number_blocks(making);
    for (unsigned kind = 0; kind < PUG_MARK_KINDS; kind++)
        if (job.rules.limits[kind] && !(making->values.given_up >> kind & 1))
            h->valued |= UINT32_C(1) << kind;
    if (options->elements && !making->failed)
        prove_elements(making, tree, &job, &how);
    return making->failed ? PUG_ERR_MEM : assemble(making, index);
}

static void clear(struct making *making)
{
    index_chain_free(&making->marks);
    index_values_free(&making->values);
    free(making->summaries.items);
    free(making->all_marks.items);
    free(making->blocks);
    free(making->sources);
}

static uint64_t default_block(struct pug_tree *tree)
{
    size_t sources = 0;
    while (pug_tree_source_at(tree, sources))
        sources++;
    return sources > 1 ? DEFAULT_BLOCK * (sources + 1) / 2 : DEFAULT_BLOCK;
}

static struct making begin(struct pug_tree *tree, const uint8_t *bytes, uint64_t size,
                           uint64_t block)
{
    const char *transport = pug_tree_transport(tree)->name;
    struct making making = {
        .summaries.size = sizeof(struct index_summary),
        .all_marks.size = sizeof(struct index_mark),
        .header = {.magic = {'P', 'U', 'G', 'I', 'N', 'D', 'E', 'X'},
                   .version = INDEX_VERSION,
                   .header_size = sizeof(struct index_header),
                   .trace_size = size,
                   .trace_hash = index_trace_hash(bytes, size),
                   .identity = pug_index_identity(tree),
                   .block = block + (INDEX_ALIGNMENT - block % INDEX_ALIGNMENT) % INDEX_ALIGNMENT},
    };
    memcpy(making.header.transport, transport,
           strnlen(transport, sizeof(making.header.transport) - 1));
    return making;
}

enum pug_status pug_index_build(struct pug_tree *tree, const uint8_t *bytes, uint64_t size,
                                const struct pug_index_options *options, struct pug_index **index)
{
    if (options->block &&
        (options->block < PUG_INDEX_BLOCK_MIN || options->block > PUG_INDEX_BLOCK_MAX))
        return PUG_ERR_INVALID_PARAM_VAL;
    struct making making =
        begin(tree, bytes, size, options->block ? options->block : default_block(tree));
    enum pug_status status = make(&making, tree, bytes, options, index);
    clear(&making);
    return status;
}

/** The last block before which all is complete. */
static uint64_t complete_blocks(const struct pug_index *old)
{
    const struct index_header *h = old->header;
    uint64_t block = h->blocks > 0 ? h->blocks - 1 : 0;
    while (block > 0 && (old->blocks[block].behind || old->blocks[block].packets == 0))
        block--;
    return block;
}

enum pug_status pug_index_extend(const struct pug_index *old, struct pug_tree *tree,
                                 const uint8_t *bytes, uint64_t size,
                                 const struct pug_index_options *options, struct pug_index **index)
{
    struct pug_index_options more = *options;
    if (size < old->header->trace_size)
        return PUG_ERR_INVALID_PARAM_VAL;
    more.full = old->header->flags & INDEX_FULL;
    more.elements = options->elements || (old->header->flags & INDEX_ELEMENTS);
    struct making making = begin(tree, bytes, size, old->header->block);
    struct pug_tree *reached = NULL;
    making.old = old;
    making.kept = complete_blocks(old);
    if (making.kept > 0 && !index_reach(old, tree, bytes, false, making.kept, &reached))
        making.kept = 0;
    if (making.kept == 0)
        making.old = NULL;
    enum pug_status status = make(&making, reached ? reached : tree, bytes, &more, index);
    clear(&making);
    pug_tree_free(reached);
    return status;
}
