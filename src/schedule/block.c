// SPDX-License-Identifier: MIT
/** @file One block through a tree: its elements into a part, its messages kept. */
#include "schedule/decode.h"

#include "base/bytes.h"
#include "pugmark/advanced/counts.h"
#include "tree/embed.h"

#include <stdlib.h>

struct desk;

/** What a consumer emits chunks with. */
struct piece {
    struct pug_piece base; /* first: it is the way from the one to the other */
    struct desk *desk;
    size_t consumer; /* its number */
};

/** What a hand has beside its tree. */
struct desk {
    const struct pug_jobs_decoding *decoding;
    struct pug_jobs_hand *hand;
    bool unwanted;                    /* the block that is being read, by now */
    struct pug_log *log;              /* its own; NULL: the tree is the caller's, or nobody's */
    struct pug_jobs_decoded *product; /* being made */
    pug_elements_fn *consumer;        /* of the caller's tree */
    void *consumer_context;
    struct piece pieces[]; /* by consumer */
};

/** A product without messages and parts; NULL: no memory. */
static struct pug_jobs_decoded *empty_product(const struct pug_jobs_decoding *decoding)
{
    const size_t parts = decoding->consumers.count * sizeof(void *);
    return calloc(1, sizeof(struct pug_jobs_decoded) + parts);
}

/* ---- messages ---- */

/** Bytes of messages that are handed on before the block is read: damaged trace has many. */
#define MESSAGES_HELD ((size_t)128 << 10)

static void give_messages(struct desk *desk)
{
    struct pug_log_records *records = &desk->product->records;
    const size_t size = pug_log_records_size(records);
    struct pug_jobs_decoded *decoded = empty_product(desk->decoding);
    if (!decoded)
        return; /* they go with the block */
    decoded->records = *records;
    *records = (struct pug_log_records){0};
    desk->unwanted = !desk->hand->give(desk->hand, decoded, size);
}

/** A message for which there is no memory is lost. */
static void keep_record(void *context, const struct pug_log_record *record)
{
    struct desk *desk = context;
    if (!desk->product || desk->unwanted)
        return;
    pug_log_records_keep(&desk->product->records, record);
    if (pug_log_records_size(&desk->product->records) >= MESSAGES_HELD)
        give_messages(desk);
}

/* ---- hands ---- */

static enum pug_response on_elements(void *context, const struct pug_element *elements,
                                     size_t count, size_t *taken)
{
    const struct desk *desk = context;
    *taken = count;
    if (desk->product && !desk->unwanted)
        pug_consumers_elements(&desk->decoding->consumers, desk->product->parts, NULL, elements,
                               count);
    return desk->unwanted ? PUG_RESP_FATAL_SYS_ERR : PUG_RESP_CONT;
}

/** The messages so far go with the chunk. */
static bool emit(struct pug_piece *base, void *chunk, size_t size)
{
    const struct piece *piece = (const struct piece *)base;
    struct desk *desk = piece->desk;
    struct pug_jobs_decoded *decoded = chunk ? empty_product(desk->decoding) : NULL;
    if (chunk && !decoded)
        desk->decoding->consumers.items[piece->consumer].drop(chunk);
    if (decoded) {
        decoded->parts[piece->consumer] = chunk;
        decoded->records = desk->product->records;
        desk->product->records = (struct pug_log_records){0};
    }
    if (!desk->hand->give(desk->hand, decoded, size))
        desk->unwanted = true;
    return !desk->unwanted;
}

/** Elements without parts go where they are to go. */
static bool has_parts(const struct pug_jobs_decoding *decoding, const struct pug_jobs_hand *hand)
{
    return !hand->alone || !decoding->delivers;
}

static bool open_hand(void *context, struct pug_jobs_hand *hand)
{
    const struct pug_jobs_decoding *decoding = context;
    const struct pug_consumers *consumers = &decoding->consumers;
    struct desk *desk = hand->desk =
        calloc(1, sizeof(*desk) + consumers->count * sizeof(desk->pieces[0]));
    if (!desk)
        return false;
    for (size_t i = 0; i < consumers->count; i++)
        desk->pieces[i] = (struct piece){{emit}, desk, i};
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
    const bool good = pug_consumers_attach(consumers, hand->number, hand->tree);
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
    pug_log_free(desk->log);
    free(desk);
}

/* ---- blocks ---- */

static void drop_decoded(void *context, void *product)
{
    const struct pug_jobs_decoding *decoding = context;
    struct pug_jobs_decoded *decoded = product;
    pug_consumers_drop(&decoding->consumers, decoded->parts);
    pug_log_records_free(&decoded->records);
    free(decoded);
}

static struct pug_jobs_decoded *new_decoded(const struct pug_jobs_decoding *decoding,
                                            const struct pug_jobs_hand *hand)
{
    const struct pug_consumers *consumers = &decoding->consumers;
    struct desk *desk = hand->desk;
    struct pug_jobs_decoded *decoded = empty_product(decoding);
    bool good = decoded != NULL;
    for (size_t i = 0; good && has_parts(decoding, hand) && i < consumers->count; i++) {
        const struct pug_consumer *consumer = &consumers->items[i];
        decoded->parts[i] = consumer->begin(consumer->context, hand->number, &desk->pieces[i].base);
        good = decoded->parts[i] != NULL;
    }
    if (good || !decoded)
        return decoded;
    drop_decoded((void *)(uintptr_t)decoding, decoded);
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
    struct pug_jobs_decoded *decoded = new_decoded(decoding, hand);
    struct pug_counts *counts = decoded && has_parts(decoding, hand)
                                    ? pug_consumers_counts(&decoding->consumers, decoded->parts)
                                    : NULL;
    const bool any_order = pug_tree_in_any_order(hand->tree);
    block->product = desk->product = decoded;
    if (!decoded) /* who watches has nowhere to put what it sees */
        return;
    desk->unwanted = false;
    if (counts) {
        pug_tree_count(hand->tree, counts);
        pug_tree_any_order(hand->tree, true);
    }
    feed(decoding, hand, counts != NULL, end, block);
    if (block->at == decoding->size && PUG_RESP_IS_CONT(block->response)) {
        block->response = pug_tree_end(hand->tree);
        (void)insist(hand->tree, &block->response);
    }
    if (counts) {
        pug_tree_count(hand->tree, NULL);
        pug_tree_show_ranges(hand->tree, false);
        pug_tree_any_order(hand->tree, any_order);
        pug_consumers_spread_counts(&decoding->consumers, decoded->parts);
    }
    desk->product = NULL;
}

static bool take_block(void *context, struct pug_jobs_block *block)
{
    struct pug_jobs_decoding *decoding = context;
    const struct pug_jobs *config = decoding->config;
    struct pug_jobs_decoded *decoded = block->product;
    struct pug_jobs_result *result = decoding->result;
    pug_log_records_give(&decoded->records, pug_tree_log(decoding->tree));
    result->at = block->at;
    result->response = block->response;
    result->stopped = !pug_consumers_take(&decoding->consumers, decoded->parts) ||
                      (config->progress && !config->progress(config->progress_context, block->at));
    drop_decoded(decoding, decoded);
    return !result->stopped;
}

static bool take_chunk(void *context, void *product)
{
    struct pug_jobs_decoding *decoding = context;
    struct pug_jobs_decoded *decoded = product;
    pug_log_records_give(&decoded->records, pug_tree_log(decoding->tree));
    decoding->result->stopped = !pug_consumers_take(&decoding->consumers, decoded->parts);
    drop_decoded(decoding, decoded);
    return !decoding->result->stopped;
}

/* ---- other processes ---- */

static void pack_decoded(void *context, const void *product, struct pug_state *to)
{
    const struct pug_jobs_decoding *decoding = context;
    const struct pug_jobs_decoded *decoded = product;
    pug_log_records_pack(&decoded->records, to);
    pug_consumers_pack(&decoding->consumers, decoded->parts, to);
}

static void *unpack_decoded(void *context, const uint8_t *bytes, size_t size)
{
    const struct pug_jobs_decoding *decoding = context;
    struct pug_bytes left = pug_bytes_of(bytes, size);
    struct pug_jobs_decoded *decoded = empty_product(decoding);
    if (!decoded)
        return NULL;
    pug_log_records_unpack(&decoded->records, &left);
    if (pug_consumers_unpack(&decoding->consumers, &left, decoded->parts))
        return decoded;
    drop_decoded(context, decoded);
    return NULL;
}

static bool fold_decoded(void *context, void *product, void *taken)
{
    const struct pug_jobs_decoding *decoding = context;
    struct pug_jobs_decoded *decoded = product, *later = taken;
    pug_log_records_join(&decoded->records, &later->records);
    const bool good = pug_consumers_fold(&decoding->consumers, decoded->parts, later->parts);
    drop_decoded(context, later);
    return good;
}

/** As all parts do; NULL: one of them cannot. */
static const struct pug_jobs_travel *travel_of(const struct pug_jobs_decoding *decoding)
{
    static const struct pug_jobs_travel one_by_one = {pack_decoded, unpack_decoded, NULL};
    static const struct pug_jobs_travel folded = {pack_decoded, unpack_decoded, fold_decoded};
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
                                    .drop = drop_decoded,
                                    .travel = travel_of(decoding)};
}
