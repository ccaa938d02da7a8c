// SPDX-License-Identifier: MIT
/** @file Making an index, or the rest of one, by reading a capture. */
#include "index/making.h"
#include "index/reach.h"
#include "pugmark/advanced/jobs.h"
#include "schedule/peers.h"
#include "tree/embed.h"

#include <stdlib.h>

/* Bytes of capture in a block for every two sources. */
#define DEFAULT_BLOCK UINT64_C(131072)

/* ---- reading the capture ---- */

/** Collect the parts of the old index that stay. */
static void gather_old(struct making *making)
{
    const struct pug_index *old = making->old;
    const struct pug_index_value_rules *rules = &making->job.rules;
    if (!old)
        return;
    uint64_t end = making->kept * old->header->block, marks = old->header->marks;
    while (marks > 0 && old->marks[marks - 1].at >= end)
        marks--;
    pug_index_gather(making, &making->summaries, old->summaries,
                     pug_index_block_summary(old, making->kept));
    pug_index_gather(making, &making->all_marks, old->marks, marks);
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

/** The last times that the old index knows, of those blocks that stay. */
static void keep_times(struct making *making)
{
    const struct pug_tree *tree = making->job.tree;
    const struct pug_index_file_summary *summaries = making->summaries.items;
    for (size_t n = 0; n < making->summaries.count; n++) {
        if (summaries[n].kind != PUG_MARK_TIMESTAMP || summaries[n].nobody)
            continue;
        for (size_t i = 0; i < pug_tree_source_count(tree); i++)
            if (summaries[n].source == pug_source_id(pug_tree_source_at(tree, i)))
                making->times[i] = summaries[n].last;
    }
}

/** With quirks, what comes may depend on more than a state. */
static unsigned thread_count(const struct pug_tree *tree, const struct pug_index_options *options)
{
    if (pug_quirks_any(pug_tree_quirks(tree)))
        return 1;
    return options->jobs ? options->jobs : pug_jobs_processors();
}

/** The state after a block is that of the next at its start. */
static void note_states(struct making *making, const struct yield *yield)
{
    const uint64_t next = yield->block + 1;
    const size_t sources = pug_tree_source_count(making->job.tree);
    for (size_t i = 0; i <= sources; i++)
        if (yield->states[i] > PUG_INDEX_STATE_LOST)
            making->states[i] = yield->states[i];
        else if (yield->states[i] == PUG_INDEX_STATE_LOST)
            making->states[i] &= ~PUG_INDEX_HEARD;
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
    const struct behind *behind = yield->behind.items;
    pug_index_gather(making, &making->summaries, yield->summaries.items, yield->summaries.count);
    pug_index_gather(making, &making->all_marks, yield->marks.items, yield->marks.count);
    making->failed =
        making->failed || !pug_index_values_add(&making->values, &making->job.rules,
                                                yield->values.items, yield->values.count);
    atomic_store_explicit(&making->job.given_up, making->values.given_up, memory_order_relaxed);
    for (size_t i = 0; i < yield->behind.count; i++)
        if (making->job.elements)
            note_late(making, &behind[i]);
        else
            note_behind(making, &behind[i]);
}

/**
 * Where there are too many ids, the first ones are counted, and times may be sent with more bits
 * all at once: one thread has to read it all.
 */
static bool has_to_renumber(const struct making *making)
{
    return making->crowded && (making->threads > 1 || making->kept > 0);
}

/** Report progress after each megabyte. */
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

/** The last block of the old index that has a state of these decoders; 0: none has. */
static uint64_t last_decoded(const struct making *making)
{
    const struct pug_index *old = making->old;
    const bool has = old && (old->header->flags & PUG_INDEX_ELEMENTS) &&
                     old->header->decode_identity == making->header.decode_identity;
    return has ? pug_index_known_state(old, true, UINT64_MAX) : 0;
}

/** Where decoding goes on: there, if the tree can be brought there; else 0. */
static uint64_t resume_decoding(const struct making *making, const struct pug_tree *tree,
                                uint64_t last, struct pug_tree **decoder)
{
    const uint8_t *bytes = making->job.bytes;
    const bool can =
        last > 0 && pug_index_reach_block(making->old, tree, bytes, true, last, decoder);
    return can ? last : 0;
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

/** Otherwise no decoder can run beside the tree, and its states are unknown. */
static bool can_be_cloned(const struct pug_tree *tree)
{
    struct pug_tree *clone;
    const enum pug_status status = pug_tree_clone(tree, NULL, &clone);
    pug_tree_free(clone);
    return status != PUG_ERR_WRONG_KIND;
}

/**
 * Decode from `first` on to `end`, for the states and for when the elements of each block come,
 * which holds as soon as the trace has ended.
 */
static void decode(struct making *making, struct pug_tree *decoder, uint64_t first, uint64_t end)
{
    struct job *job = &making->job;
    job->elements = true;
    job->standing = decoder;
    job->first = first;
    job->ends &= end == job->end;
    job->end = end;
    if (first > 0 || decoder)
        job->peers = NULL;
    job->blocks = making->header.blocks;
    for (uint64_t block = 0; block < job->blocks; block++) {
        struct pug_index_file_block *out = &making->blocks[block];
        if (out->late == UINT32_MAX) /* nothing of an old block comes later than this one's */
            out->late = block < first ? (uint32_t)first - 1 : (uint32_t)block;
    }
    if (!pug_index_collect(job, making->threads))
        making->failed = can_be_cloned(job->tree);
    if (making->failed || making->at != job->end)
        keep_elements(making, 0);
}

/** Up to where states are wanted: the end of a block, or of what is indexed. */
static uint64_t wanted_states(const struct making *making)
{
    const uint64_t states = making->options->states, block = making->header.block,
                   end = making->header.indexed;
    return states == 0 || states >= end || end - states < block
               ? end
               : (states + block - 1) / block * block;
}

/** The states of the decoders: of old blocks they are known. */
static void prove_elements(struct making *making, const struct pug_tree *tree)
{
    const struct pug_index *old = making->old;
    const uint64_t end = wanted_states(making);
    bool partly = end < making->header.indexed;
    struct pug_tree *decoder = NULL;
    making->header.decode_identity = pug_index_decode_identity(tree);
    const uint64_t last = last_decoded(making);
    if (making->header.decode_identity == 0) { /* made without a program */
        if (!old || !(old->header->flags & PUG_INDEX_ELEMENTS))
            return;
        making->header.decode_identity = old->header->decode_identity;
        partly = old->header->flags & PUG_INDEX_PARTLY;
        keep_elements(making, making->kept);
    } else if (partly && last * making->header.block >= end) {
        keep_elements(making, last + 1);
    } else {
        const uint64_t first = resume_decoding(making, tree, last, &decoder);
        keep_elements(making, first);
        decode(making, decoder, first, end);
        pug_tree_free(decoder);
    }
    making->header.flags |=
        (unsigned)PUG_INDEX_ELEMENTS | (partly ? (unsigned)PUG_INDEX_PARTLY : 0u);
}

/** Returns where indexing ends in a capture of that size. */
static uint64_t end_of(const struct pug_index_options *options, uint64_t size)
{
    return options->limit && options->limit < size ? options->limit : size;
}

/** Read the capture, or the rest of it, for its marks. */
static void read_marks(struct making *making, struct pug_tree *tree, struct pug_tree *standing,
                       const uint8_t *bytes)
{
    const struct pug_index_options *options = making->options;
    struct pug_index_file_header *h = &making->header;
    const uint64_t size = h->trace_size, end = end_of(options, size);
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
    making->states = calloc(1 + pug_tree_source_count(tree), sizeof(*making->states));
    making->times = calloc(1 + pug_tree_source_count(tree), sizeof(*making->times));
    making->failed = !making->blocks || !making->states || !making->times;
    making->job.times = making->times;
    if (making->failed)
        return;
    if (h->from > 0) /* states of a tree that does not know what was before are none */
        making->threads = 1;
    if (making->kept > 0)
        memcpy(making->blocks, making->old->blocks, making->kept * sizeof(*making->blocks));
    gather_old(making);
    keep_times(making);
    making->failed |= !pug_index_collect(&making->job, making->threads);
    h->indexed = making->at;
    h->blocks = h->indexed / h->block + (h->indexed % h->block != 0);
    h->flags = (options->full ? (unsigned)PUG_INDEX_FULL : 0u) |
               (end == size && making->at == end ? (unsigned)PUG_INDEX_ENDED : 0u);
}

static enum pug_status make(struct making *making, struct pug_tree *tree, struct pug_tree *standing,
                            const uint8_t *bytes, struct pug_index **index)
{
    const unsigned starved = pug_tree_starved(tree);
    read_marks(making, tree, standing, bytes);
    if (making->failed)
        return PUG_ERR_MEM;
    pug_index_sort(making);
    pug_index_fill_sources(making, tree);
    pug_index_number_blocks(making);
    for (unsigned kind = 0; kind < PUG_MARK_KINDS; kind++)
        if (making->job.rules.limits[kind] && !(making->values.given_up >> kind & 1))
            making->header.valued |= UINT32_C(1) << kind;
    making->failed |= has_to_renumber(making);
    for (uint64_t block = 0; making->header.from > 0 && block < making->header.blocks; block++)
        making->blocks[block].packets = 0;
    if (making->options->elements && making->header.from == 0 && !making->failed)
        prove_elements(making, tree);
    making->failed |= pug_tree_starved(tree) != starved;
    return making->failed ? PUG_ERR_MEM : pug_index_lay_file(making, index);
}

static void clear(struct making *making)
{
    pug_index_values_free(&making->values);
    free(making->summaries.items);
    free(making->all_marks.items);
    free(making->blocks);
    free(making->states);
    free(making->times);
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
    const size_t sources = pug_tree_source_count(tree);
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
    if (!index)
        return PUG_ERR_INVALID_PARAM_VAL;
    *index = NULL;
    if (!tree || (!bytes && size > 0))
        return PUG_ERR_INVALID_PARAM_VAL;
    if (!options)
        options = &usual;
    if (!pug_peers_are_whole(options->peers))
        return PUG_ERR_INVALID_PARAM_VAL;
    if (options->block &&
        (options->block < PUG_INDEX_BLOCK_MIN || options->block > PUG_INDEX_BLOCK_MAX))
        return PUG_ERR_INVALID_PARAM_VAL;
    if (options->from > 0 && options->from >= end_of(options, size))
        return PUG_ERR_INVALID_PARAM_VAL;
    struct making making =
        begin(tree, bytes, size, options, options->block ? options->block : default_block(tree));
    making.header.from = options->from - options->from % making.header.block;
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

/** As the option of that name: as much as it has, and all where it has them of all. */
static uint64_t states_of(const struct pug_index *old)
{
    struct pug_index_info info;
    pug_index_info(old, &info);
    return !(old->header->flags & PUG_INDEX_PARTLY) ? 0 : info.states > 0 ? info.states : 1;
}

enum pug_status pug_index_extend(const struct pug_index *old, struct pug_tree *tree,
                                 const uint8_t *bytes, uint64_t size,
                                 const struct pug_index_options *options, struct pug_index **index)
{
    struct pug_index_options more = {.block = 0};
    uint16_t full_ids[PUG_INDEX_SOURCE_LIMIT];
    if (!index)
        return PUG_ERR_INVALID_PARAM_VAL;
    *index = NULL;
    if (!old || !tree || !bytes)
        return PUG_ERR_INVALID_PARAM_VAL;
    if (options)
        more = *options;
    if (size < old->header->trace_size || !pug_peers_are_whole(more.peers))
        return PUG_ERR_INVALID_PARAM_VAL;
    more.full = old->header->flags & PUG_INDEX_FULL;
    if (!more.elements && (old->header->flags & PUG_INDEX_ELEMENTS)) {
        more.elements = true;
        more.states = states_of(old);
    }
    more.full_count = full_sources(old, full_ids);
    more.full_ids = full_ids;
    if (more.limit && more.limit < old->header->indexed)
        more.limit = old->header->indexed;
    struct making making = begin(tree, bytes, size, &more, old->header->block);
    struct pug_tree *reached = NULL;
    making.header.from = old->header->from;
    if (making.header.from > 0 && making.header.from >= end_of(&more, size))
        return PUG_ERR_INVALID_PARAM_VAL;
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
    pug_index_gather(&making, &making.summaries, yield->summaries.items, yield->summaries.count);
    pug_index_gather(&making, &making.all_marks, yield->marks.items, yield->marks.count);
    if (!making.failed) {
        pug_index_sort(&making);
        pug_index_fill_sources(&making, tree);
        pug_index_number_blocks(&making);
    }
    enum pug_status status = making.failed ? PUG_ERR_MEM : pug_index_lay_file(&making, index);
    clear(&making);
    return status;
}

uint64_t pug_index_default_block(const struct pug_tree *tree)
{
    return default_block(tree);
}
