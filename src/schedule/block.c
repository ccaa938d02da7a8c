// SPDX-License-Identifier: MIT
/** @file One block through a tree: its elements into a part, its messages kept. */
#include "schedule/decode.h"

#include "base/bytes.h"
#include "pugmark/advanced/counts.h"
#include "tree/embed.h"

#include <stdlib.h>

/** The objects of a worker beside its tree. */
struct reader {
    const struct pug_jobs_decoding *decoding;
    struct pug_worker *worker;
    bool unwanted;             /* the block that is being read, by now */
    struct pug_log *log;       /* its own; NULL: the tree belongs to the caller, or to none */
    struct pug_parts *parts;   /* being made */
    struct pug_pieces *pieces; /* what consumers emit chunks with */
    void *attribution;         /* says where elements belong; NULL: of a tree alone */
    pug_elements_fn *consumer; /* of the caller's tree */
    void *consumer_context;
    bool direct; /* it gets elements while they are decoded */
};

/* ---- messages ---- */

/** Bytes of messages that are handed on before the block is read: damaged trace has many. */
#define MESSAGES_HELD ((size_t)128 << 10)

static void give_messages(struct reader *reader)
{
    struct pug_log_records *records = &reader->parts->records;
    const size_t size = pug_log_records_size(records);
    struct pug_parts *chunk = pug_parts_new(&reader->decoding->consumers);
    if (!chunk)
        return; /* they go with the block */
    chunk->records = *records;
    *records = (struct pug_log_records){0};
    reader->unwanted = !reader->worker->give(reader->worker, chunk, size);
}

/** A message for which there is no memory is lost. */
static void keep_record(void *context, const struct pug_log_record *record)
{
    struct reader *reader = context;
    if (!reader->parts || reader->unwanted)
        return;
    pug_log_records_keep(&reader->parts->records, record);
    if (pug_log_records_size(&reader->parts->records) >= MESSAGES_HELD)
        give_messages(reader);
}

/* ---- workers ---- */

/** To the function of the caller's tree. *count: how many elements it took. */
static enum pug_response deliver(const struct reader *reader, const struct pug_element *elements,
                                 size_t *count, size_t *taken)
{
    const enum pug_response response =
        reader->consumer(reader->consumer_context, elements, *count, taken);
    if (response >= PUG_RESP_WAIT && *taken < *count)
        *count = *taken;
    return response;
}

static enum pug_response on_elements(void *context, const struct pug_element *elements,
                                     size_t count, size_t *taken)
{
    const struct reader *reader = context;
    enum pug_response response = PUG_RESP_CONT;
    *taken = count;
    const struct pug_jobs_decoding *decoding = reader->decoding;
    if (reader->direct)
        response = deliver(reader, elements, &count, taken);
    if (reader->parts && !reader->unwanted && reader->attribution)
        decoding->segment->segments->elements(reader->attribution, elements, count);
    else if (reader->parts && !reader->unwanted)
        pug_parts_elements(&decoding->consumers, reader->parts->parts, NULL, elements, count,
                           false);
    return reader->unwanted ? PUG_RESP_FATAL_SYS_ERR : response;
}

/** pug_receiver.give. */
static void give(void *context, const struct pug_origin *origin, uint64_t residency, bool left_out,
                 const struct pug_element *elements, size_t count)
{
    const struct reader *reader = context;
    (void)residency;
    pug_parts_elements(&reader->decoding->consumers, reader->parts->parts, origin, elements, count,
                       left_out);
}

static bool give_chunk(void *context, struct pug_parts *chunk, size_t size)
{
    struct reader *reader = context;
    if (!reader->worker->give(reader->worker, chunk, size))
        reader->unwanted = true;
    return !reader->unwanted;
}

/** If one thread alone only delivers elements, the tree does that without parts. */
static bool has_parts(const struct pug_jobs_decoding *decoding, const struct pug_worker *worker)
{
    return !worker->alone || !decoding->stored || decoding->consumers.count > 1;
}

/** Where elements of the worker's tree belong, if a segment is decoded; false: out of memory. */
static bool find_origins(struct reader *reader)
{
    const struct pug_segment_bytes *segment = reader->decoding->segment;
    const struct pug_receiver receiver = {reader, give};
    if (!segment)
        return true;
    reader->attribution = segment->segments->open(segment->segments->context, &receiver);
    return reader->attribution && segment->segments->begin(reader->attribution, segment->segment,
                                                           reader->worker->tree) == PUG_OK;
}

/** Is it the caller's tree, which gets its own consumer back? */
static bool is_borrowed(const struct pug_jobs_decoding *decoding, const struct pug_worker *worker)
{
    return worker->tree == decoding->tree ||
           (decoding->pass && worker->tree == decoding->pass->standing);
}

static bool copy_tree(const struct pug_jobs_decoding *decoding, struct pug_worker *worker)
{
    struct reader *reader = worker->own;
    const bool tells = !decoding->pass && (pug_tree_log(decoding->tree) || decoding->config->peers);
    reader->log = tells ? pug_log_new(PUG_SEV_INFO) : NULL;
    if ((tells && !reader->log) ||
        pug_tree_clone(decoding->tree, reader->log, &worker->tree) != PUG_OK)
        return false;
    pug_tree_any_order(worker->tree, pug_tree_in_any_order(decoding->tree));
    pug_log_set_sink(reader->log, keep_record, reader);
    return true;
}

/** Finds the tree to read with; false: out of memory. */
static bool open_tree(const struct pug_jobs_decoding *decoding, struct pug_worker *worker)
{
    const struct pug_pass *pass = decoding->pass;
    struct reader *reader = worker->own;
    if (pass && pass->standing && worker->number == 0)
        worker->tree = pass->standing;
    else if (!pass && worker->alone)
        worker->tree = decoding->tree;
    else if (!copy_tree(decoding, worker))
        worker->tree = pass && pass->may_use_tree && worker->alone ? decoding->tree : NULL;
    if (worker->tree && is_borrowed(decoding, worker))
        reader->consumer = pug_tree_elements_consumer(worker->tree, &reader->consumer_context);
    return worker->tree != NULL;
}

static bool open_worker(void *context, struct pug_worker *worker)
{
    const struct pug_jobs_decoding *decoding = context;
    const struct pug_consumers *consumers = &decoding->consumers;
    struct reader *reader = worker->own = calloc(1, sizeof(*reader));
    if (!reader || !(reader->pieces = pug_pieces_new(consumers, give_chunk, reader)))
        return false;
    reader->decoding = decoding;
    reader->worker = worker;
    if (!open_tree(decoding, worker))
        return false;
    if (decoding->stored && worker->alone) {
        decoding->stored->direct = true;
        reader->direct = reader->consumer != NULL;
    }
    if (has_parts(decoding, worker))
        pug_tree_on_elements(worker->tree, on_elements, reader);
    const bool good =
        find_origins(reader) && pug_consumers_attach(consumers, worker->number, worker->tree);
    if (!is_borrowed(decoding, worker) && !decoding->pass)
        pug_tree_skip_unwatched(worker->tree,
                                !pug_consumers_want(consumers, PUG_WANTS_PACKET_TIMES));
    return good;
}

static void close_worker(void *context, struct pug_worker *worker)
{
    const struct pug_jobs_decoding *decoding = context;
    struct reader *reader = worker->own;
    if (!reader)
        return;
    if (worker->tree && is_borrowed(decoding, worker))
        pug_tree_on_elements(worker->tree, reader->consumer, reader->consumer_context);
    else
        pug_tree_free(worker->tree);
    if (reader->attribution)
        decoding->segment->segments->close(reader->attribution);
    pug_log_free(reader->log);
    free(reader->pieces);
    free(reader);
}

/* ---- blocks ---- */

/** The parts of a block, and the counts of its ranges, if they are counted. */
static struct pug_parts *new_parts(const struct pug_jobs_decoding *decoding,
                                   const struct pug_worker *worker, uint64_t at)
{
    const struct pug_consumers *consumers = &decoding->consumers;
    const struct reader *reader = worker->own;
    const uint32_t segment = decoding->segment ? decoding->segment->segment : 0;
    if (!has_parts(decoding, worker))
        return pug_parts_new(consumers);
    reader->pieces->counted = decoding->counts;
    struct pug_parts *parts = pug_pieces_begin(reader->pieces, worker->number, segment, at);
    if (!parts || !decoding->counts)
        return parts;
    parts->counts = pug_consumers_new_counts(consumers);
    if (parts->counts)
        return parts;
    pug_parts_free(consumers, parts);
    return NULL;
}

/** A consumer that waits gets the rest at once. True: it waited. */
static bool insist(struct pug_tree *tree, enum pug_response *response)
{
    const bool waited = PUG_RESP_IS_WAIT(*response);
    while (PUG_RESP_IS_WAIT(*response))
        *response = pug_tree_flush(tree);
    return waited;
}

/** The bytes of a stream's block up to `end`. */
static enum pug_response feed_stream(const struct pug_jobs_decoding *decoding,
                                     struct pug_tree *tree, uint64_t *at, uint64_t end)
{
    enum pug_response response = PUG_RESP_CONT;
    size_t used = 1;
    while (*at < end && used > 0 && PUG_RESP_IS_CONT(response)) {
        response =
            pug_tree_data(tree, decoding->stream->index + *at,
                          decoding->bytes + (*at - decoding->base), (size_t)(end - *at), &used);
        *at += used;
    }
    return response;
}

/** Up to where it is asked next whether ranges are shown; in the end with the state. */
static void feed(const struct pug_jobs_decoding *decoding, struct pug_worker *worker, bool counts,
                 uint64_t end, struct pug_jobs_block *block)
{
    uint64_t next;
    do {
        const uint64_t step = decoding->pass ? decoding->pass->step : end;
        next = end - block->at > step ? block->at + step : end;
        if (counts)
            pug_tree_show_ranges(worker->tree,
                                 pug_consumers_show(&decoding->consumers, block->at, &next));
        if (decoding->stream)
            block->response = feed_stream(decoding, worker->tree, &block->at, next);
        else if (next < end)
            block->response = pug_tree_feed(worker->tree, decoding->bytes, &block->at, next);
        else
            pug_jobs_feed(worker, decoding->bytes, end, block);
    } while ((insist(worker->tree, &block->response) || block->at == next) && block->at < end &&
             PUG_RESP_IS_CONT(block->response));
}

/** The tree knows that the trace ends. */
static void end_trace(struct pug_worker *worker, struct pug_jobs_block *block)
{
    block->response = pug_tree_end(worker->tree);
    (void)insist(worker->tree, &block->response);
}

/** Reads the block, and the end of the trace; false: out of memory. */
static bool read_parts(const struct pug_jobs_decoding *decoding, struct pug_worker *worker,
                       const struct pug_parts *parts, uint64_t end, struct pug_jobs_block *block)
{
    feed(decoding, worker, parts->counts != NULL, end, block);
    struct pug_piece_end piece = {.at = block->at,
                                  .worker = worker->number,
                                  .tree = worker->tree,
                                  .state = block->has_state || block->state.failed ? &block->state
                                                                                   : NULL};
    bool good = pug_parts_end(&decoding->consumers, parts->parts, &piece);
    if (block->at == decoding->size && PUG_RESP_IS_CONT(block->response)) {
        end_trace(worker, block);
        piece.over = true;
        good &= pug_parts_end(&decoding->consumers, parts->parts, &piece);
    }
    return good;
}

static void read_block(void *context, struct pug_worker *worker, uint64_t end,
                       struct pug_jobs_block *block)
{
    const struct pug_jobs_decoding *decoding = context;
    struct reader *reader = worker->own;
    struct pug_parts *parts = new_parts(decoding, worker, block->at);
    const bool any_order = pug_tree_in_any_order(worker->tree);
    block->parts = reader->parts = parts;
    if (!parts) /* who watches has nowhere to put what it sees */
        return;
    const bool counts = parts->counts != NULL;
    reader->unwanted = false;
    if (counts) {
        pug_tree_count(worker->tree, parts->counts);
        pug_tree_any_order(worker->tree, true);
    }
    const bool good = read_parts(decoding, worker, parts, end, block);
    if (counts) {
        pug_tree_count(worker->tree, NULL);
        pug_tree_show_ranges(worker->tree, false);
        pug_tree_any_order(worker->tree, any_order);
    }
    reader->parts = NULL;
    if (good)
        return;
    pug_parts_free(&decoding->consumers, parts);
    block->parts = NULL;
}

/** What was counted is given at once, or kept: often all of it is in one block. */
static void take_counts(const struct pug_jobs_decoding *decoding, struct pug_parts *parts)
{
    struct pug_counts **sum = decoding->counted;
    if (!sum)
        pug_consumers_counted(&decoding->consumers, parts->counts);
    else if (*sum)
        pug_counts_append(*sum, parts->counts);
    if (!sum || *sum)
        return;
    *sum = parts->counts;
    parts->counts = NULL;
}

/** Takes messages and parts, on the caller's thread; false: stop. */
static bool take_parts(struct pug_jobs_decoding *decoding, struct pug_parts *parts)
{
    pug_log_records_give(&parts->records, pug_tree_log(decoding->tree));
    const bool more = pug_parts_take(&decoding->consumers, parts);
    if (parts->counts)
        take_counts(decoding, parts);
    pug_parts_free(&decoding->consumers, parts);
    return more;
}

static bool take_block(void *context, struct pug_jobs_block *block)
{
    struct pug_jobs_decoding *decoding = context;
    const struct pug_jobs *config = decoding->config;
    struct pug_jobs_result *result = decoding->result;
    result->at = block->at;
    result->response = block->response;
    result->stopped = !take_parts(decoding, block->parts) ||
                      (config->progress && !config->progress(config->progress_context, block->at));
    return !result->stopped;
}

static bool take_chunk(void *context, struct pug_parts *parts)
{
    struct pug_jobs_decoding *decoding = context;
    decoding->result->stopped = !take_parts(decoding, parts);
    return !decoding->result->stopped;
}

struct pug_jobs_client pug_jobs_decoder(struct pug_jobs_decoding *decoding)
{
    return (struct pug_jobs_client){.context = decoding,
                                    .open = open_worker,
                                    .close = close_worker,
                                    .read = read_block,
                                    .take = take_block,
                                    .take_chunk = take_chunk,
                                    .consumers = &decoding->consumers,
                                    .folds = pug_consumers_can_fold(&decoding->consumers)};
}
