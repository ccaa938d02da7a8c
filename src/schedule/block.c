// SPDX-License-Identifier: MIT
/** @file One block through a tree: its elements into a part, its messages kept. */
#include "schedule/decode.h"

#include "base/bytes.h"
#include "pugmark/advanced/counts.h"
#include "tree/embed.h"

#include <stdlib.h>

/** What a hand has beside its tree. */
struct desk {
    const struct pug_jobs_decoding *decoding;
    struct pug_jobs_hand *hand;
    bool unwanted;             /* the block that is being read, by now */
    struct pug_log *log;       /* its own; NULL: the tree is the caller's, or nobody's */
    struct pug_parts *parts;   /* being made */
    struct pug_pieces *pieces; /* what consumers emit chunks with */
    void *attribution;         /* says where elements belong; NULL: of a tree alone */
    pug_elements_fn *consumer; /* of the caller's tree */
    void *consumer_context;
};

/* ---- messages ---- */

/** Bytes of messages that are handed on before the block is read: damaged trace has many. */
#define MESSAGES_HELD ((size_t)128 << 10)

static void give_messages(struct desk *desk)
{
    struct pug_log_records *records = &desk->parts->records;
    const size_t size = pug_log_records_size(records);
    struct pug_parts *chunk = pug_parts_new(&desk->decoding->consumers);
    if (!chunk)
        return; /* they go with the block */
    chunk->records = *records;
    *records = (struct pug_log_records){0};
    desk->unwanted = !desk->hand->give(desk->hand, chunk, size);
}

/** A message for which there is no memory is lost. */
static void keep_record(void *context, const struct pug_log_record *record)
{
    struct desk *desk = context;
    if (!desk->parts || desk->unwanted)
        return;
    pug_log_records_keep(&desk->parts->records, record);
    if (pug_log_records_size(&desk->parts->records) >= MESSAGES_HELD)
        give_messages(desk);
}

/* ---- hands ---- */

static enum pug_response on_elements(void *context, const struct pug_element *elements,
                                     size_t count, size_t *taken)
{
    const struct desk *desk = context;
    *taken = count;
    const struct pug_jobs_decoding *decoding = desk->decoding;
    if (desk->parts && !desk->unwanted && desk->attribution)
        decoding->segment->segments->elements(desk->attribution, elements, count);
    else if (desk->parts && !desk->unwanted)
        pug_parts_elements(&decoding->consumers, desk->parts->parts, NULL, elements, count, false);
    return desk->unwanted ? PUG_RESP_FATAL_SYS_ERR : PUG_RESP_CONT;
}

/** pug_receiver.give. */
static void give(void *context, const struct pug_origin *origin, uint64_t residency, bool left_out,
                 const struct pug_element *elements, size_t count)
{
    const struct desk *desk = context;
    (void)residency;
    pug_parts_elements(&desk->decoding->consumers, desk->parts->parts, origin, elements, count,
                       left_out);
}

static bool give_chunk(void *context, struct pug_parts *chunk, size_t size)
{
    struct desk *desk = context;
    if (!desk->hand->give(desk->hand, chunk, size))
        desk->unwanted = true;
    return !desk->unwanted;
}

/** Elements without parts go where they are to go. */
static bool has_parts(const struct pug_jobs_decoding *decoding, const struct pug_jobs_hand *hand)
{
    return !hand->alone || !decoding->delivers;
}

/** Where elements of the hand's tree belong, if a segment is decoded; false: out of memory. */
static bool find_origins(struct desk *desk)
{
    const struct pug_segment_bytes *segment = desk->decoding->segment;
    const struct pug_receiver receiver = {desk, give};
    if (!segment)
        return true;
    desk->attribution = segment->segments->open(segment->segments->context, &receiver);
    return desk->attribution && segment->segments->begin(desk->attribution, segment->segment,
                                                         desk->hand->tree) == PUG_OK;
}

static bool open_hand(void *context, struct pug_jobs_hand *hand)
{
    const struct pug_jobs_decoding *decoding = context;
    const struct pug_consumers *consumers = &decoding->consumers;
    struct desk *desk = hand->desk = calloc(1, sizeof(*desk));
    if (!desk || !(desk->pieces = pug_pieces_new(consumers, give_chunk, desk)))
        return false;
    desk->decoding = decoding;
    desk->hand = hand;
    if (hand->alone) {
        hand->tree = decoding->tree;
        desk->consumer = pug_tree_elements_consumer(hand->tree, &desk->consumer_context);
    } else {
        const bool tells = pug_tree_log(decoding->tree) || decoding->config->peers;
        desk->log = tells ? pug_log_new(PUG_SEV_INFO) : NULL;
        if ((tells && !desk->log) ||
            pug_tree_clone(decoding->tree, desk->log, &hand->tree) != PUG_OK)
            return false;
        pug_tree_any_order(hand->tree, pug_tree_in_any_order(decoding->tree));
        pug_log_set_sink(desk->log, keep_record, desk);
    }
    if (has_parts(decoding, hand))
        pug_tree_on_elements(hand->tree, on_elements, desk);
    const bool good =
        find_origins(desk) && pug_consumers_attach(consumers, hand->number, hand->tree);
    if (!hand->alone)
        pug_tree_skip_unwatched(hand->tree, !pug_consumers_want(consumers, PUG_WANTS_PACKET_TIMES));
    return good;
}

static void close_hand(void *context, struct pug_jobs_hand *hand)
{
    struct desk *desk = hand->desk;
    (void)context;
    if (!desk)
        return;
    if (hand->alone)
        pug_tree_on_elements(hand->tree, desk->consumer, desk->consumer_context);
    else
        pug_tree_free(hand->tree);
    if (desk->attribution)
        desk->decoding->segment->segments->close(desk->attribution);
    pug_log_free(desk->log);
    free(desk->pieces);
    free(desk);
}

/* ---- blocks ---- */

static void drop_parts(void *context, void *product)
{
    const struct pug_jobs_decoding *decoding = context;
    pug_parts_free(&decoding->consumers, product);
}

/** The parts of a block, and the counts of its ranges, if they are counted. */
static struct pug_parts *new_parts(const struct pug_jobs_decoding *decoding,
                                   const struct pug_jobs_hand *hand, uint64_t at)
{
    const struct pug_consumers *consumers = &decoding->consumers;
    const struct desk *desk = hand->desk;
    const uint32_t segment = decoding->segment ? decoding->segment->segment : 0;
    if (!has_parts(decoding, hand))
        return pug_parts_new(consumers);
    desk->pieces->counted = decoding->counts;
    struct pug_parts *parts = pug_pieces_begin(desk->pieces, hand->number, segment, at);
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
static void feed(const struct pug_jobs_decoding *decoding, struct pug_jobs_hand *hand, bool counts,
                 uint64_t end, struct pug_jobs_block *block)
{
    uint64_t next;
    do {
        next = end;
        if (counts)
            pug_tree_show_ranges(hand->tree,
                                 pug_consumers_show(&decoding->consumers, block->at, &next));
        if (decoding->stream)
            block->response = feed_stream(decoding, hand->tree, &block->at, next);
        else if (next < end)
            block->response = pug_tree_feed(hand->tree, decoding->bytes, &block->at, next);
        else
            pug_jobs_feed(hand, decoding->bytes, end, block);
    } while ((insist(hand->tree, &block->response) || block->at == next) && block->at < end &&
             PUG_RESP_IS_CONT(block->response));
}

static void read_block(void *context, struct pug_jobs_hand *hand, uint64_t end,
                       struct pug_jobs_block *block)
{
    const struct pug_jobs_decoding *decoding = context;
    struct desk *desk = hand->desk;
    struct pug_parts *parts = new_parts(decoding, hand, block->at);
    const bool any_order = pug_tree_in_any_order(hand->tree);
    block->product = desk->parts = parts;
    if (!parts) /* who watches has nowhere to put what it sees */
        return;
    const bool counts = parts->counts != NULL;
    desk->unwanted = false;
    if (counts) {
        pug_tree_count(hand->tree, parts->counts);
        pug_tree_any_order(hand->tree, true);
    }
    feed(decoding, hand, counts, end, block);
    if (block->at == decoding->size && PUG_RESP_IS_CONT(block->response)) {
        block->response = pug_tree_end(hand->tree);
        (void)insist(hand->tree, &block->response);
    }
    if (counts) {
        pug_tree_count(hand->tree, NULL);
        pug_tree_show_ranges(hand->tree, false);
        pug_tree_any_order(hand->tree, any_order);
    }
    desk->parts = NULL;
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
    result->stopped = !take_parts(decoding, block->product) ||
                      (config->progress && !config->progress(config->progress_context, block->at));
    return !result->stopped;
}

static bool take_chunk(void *context, void *product)
{
    struct pug_jobs_decoding *decoding = context;
    decoding->result->stopped = !take_parts(decoding, product);
    return !decoding->result->stopped;
}

/* ---- other processes ---- */

static void pack_parts(void *context, const void *product, struct pug_state *to)
{
    const struct pug_jobs_decoding *decoding = context;
    pug_parts_pack(&decoding->consumers, product, to);
}

static void *unpack_parts(void *context, const uint8_t *bytes, size_t size)
{
    const struct pug_jobs_decoding *decoding = context;
    struct pug_bytes left = pug_bytes_of(bytes, size);
    return pug_parts_unpack(&decoding->consumers, &left);
}

static bool fold_parts(void *context, void *product, void *later)
{
    const struct pug_jobs_decoding *decoding = context;
    return pug_parts_fold(&decoding->consumers, product, later);
}

/** As all parts do; NULL: one of them cannot. */
static const struct pug_jobs_travel *travel_of(const struct pug_jobs_decoding *decoding)
{
    static const struct pug_jobs_travel one_by_one = {pack_parts, unpack_parts, NULL};
    static const struct pug_jobs_travel folded = {pack_parts, unpack_parts, fold_parts};
    return !pug_consumers_can_pack(&decoding->consumers)  ? NULL
           : pug_consumers_can_fold(&decoding->consumers) ? &folded
                                                          : &one_by_one;
}

struct pug_jobs_client pug_jobs_decoder(struct pug_jobs_decoding *decoding)
{
    return (struct pug_jobs_client){.context = decoding,
                                    .open = open_hand,
                                    .close = close_hand,
                                    .read = read_block,
                                    .take = take_block,
                                    .take_chunk = take_chunk,
                                    .drop = drop_parts,
                                    .travel = travel_of(decoding)};
}
