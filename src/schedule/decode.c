// SPDX-License-Identifier: MIT
/** @file Decoding a capture on several threads. */
#include "schedule/decode.h"
#include "pugmark/advanced/counts.h"
#include "schedule/peers.h"
#include "tree/embed.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCK_SIZE 4096u
#define GROWTH     8u
#define PIECE_SIZE (512u << 10)
/* Elements that are kept take much more room than the trace. */
#define PIECE_SIZE_STORED (128u << 10)

/*
 * Each part of counts has all that ran in it, however short it is: these are long, and as long as
 * there are some pieces for each thread.
 */
#define COUNTED_BLOCK    32768u
#define COUNTED_GROWTH   4u
#define COUNTED_LEAST    (512u << 10)
#define COUNTED_MOST     (32u << 20)
#define COUNTED_FOR_EACH 4u
#define COUNTED_ALONE    (16u << 20)

unsigned pug_jobs_processors(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (unsigned)count : 1;
}

/** The piece size for all processes, which may have more or fewer threads. */
static uint64_t counted_piece(const struct pug_jobs_plan *plan)
{
    const unsigned workers = pug_peers_any(plan->peers) ? plan->peers->count : plan->threads;
    uint64_t piece = COUNTED_LEAST;
    while (piece < COUNTED_MOST && piece * COUNTED_GROWTH * COUNTED_FOR_EACH * workers <= plan->end)
        piece *= COUNTED_GROWTH;
    return piece;
}

/** Does the tree's own function get the elements? */
static bool delivers(const struct pug_jobs *config)
{
    return config->deliver || config->consumer_count == 0;
}

static struct pug_jobs_plan plan_of(const struct pug_tree *tree, const struct pug_jobs *config,
                                    size_t size, bool counts)
{
    struct pug_jobs_plan plan = {
        .tree = tree,
        .threads = config->threads ? config->threads : pug_jobs_processors(),
        .end = size,
        .alone = counts ? COUNTED_ALONE : 0, /* parts may tell where they begin */
        .block = counts ? COUNTED_BLOCK : BLOCK_SIZE,
        .growth = counts ? COUNTED_GROWTH : GROWTH,
        .widens = counts,
        .piece = delivers(config) ? PIECE_SIZE_STORED : PIECE_SIZE,
        .peers = config->peers,
    };
    const struct pug_peers *peers = config->peers;
    const size_t block = peers && peers->block ? peers->block : config->block;
    const size_t piece = peers && peers->piece ? peers->piece : config->piece;
    const size_t most = size > 0 ? size : 1; /* more would not fit where it is multiplied */
    if (block)
        plan.block = block < most ? block : most;
    if (counts)
        plan.piece = counted_piece(&plan);
    if (piece)
        plan.piece = piece < most ? piece : most;
    return plan;
}

static struct pug_consumers consumers_of(const struct pug_jobs *config)
{
    return (struct pug_consumers){config->consumers, config->consumer_count};
}

static bool is_whole(const struct pug_jobs *config)
{
    const struct pug_consumers consumers = consumers_of(config);
    return pug_peers_are_whole(config->peers) && pug_consumers_are_whole(&consumers);
}

/** The caller's consumers; the last one delivers to the tree's function, if that gets elements. */
static void list_consumers(struct pug_jobs_decoding *decoding, struct pug_jobs_pool *pool,
                           struct pug_consumer *list)
{
    const struct pug_jobs *config = decoding->config;
    size_t count = config->consumer_count;
    if (count > 0)
        memcpy(list, config->consumers, count * sizeof(*list));
    if (delivers(config)) {
        list[count++] = pug_jobs_stored(pool);
        decoding->stored = pool;
    }
    decoding->consumers = (struct pug_consumers){list, count};
}

/** What all ways of decoding have in common: `plan` says what is read. */
static enum pug_status decode(struct pug_jobs_decoding *decoding, const struct pug_jobs_plan *plan)
{
    struct pug_jobs_pool pool = {.tree = decoding->tree, .lock = PTHREAD_MUTEX_INITIALIZER};
    const struct pug_jobs *config = decoding->config;
    struct pug_jobs_result *result = decoding->result;
    const unsigned starved = pug_tree_starved(decoding->tree);
    struct pug_jobs_outcome outcome;
    struct pug_consumer *list = malloc((config->consumer_count + 1) * sizeof(*list));
    *result = (struct pug_jobs_result){0};
    if (!list)
        return PUG_ERR_MEM;
    list_consumers(decoding, &pool, list);
    const struct pug_jobs_client client = pug_jobs_decoder(decoding);
    pug_jobs_read(plan, &client, &outcome);
    if (PUG_RESP_IS_FATAL(pool.response)) { /* it was the consumer that stopped, not a part */
        result->response = pool.response;
        result->stopped = false;
    }
    result->threads = outcome.threads;
    result->repeated = outcome.repeated;
    if (pug_peers_any(plan->peers))
        pug_peers_share(plan->peers, result, sizeof(*result));
    pug_jobs_pool_free(&pool);
    free(list);
    return outcome.failed || pug_tree_starved(decoding->tree) != starved ? PUG_ERR_MEM : PUG_OK;
}

enum pug_status pug_tree_decode_segment(struct pug_tree *tree, const struct pug_jobs *config,
                                        const struct pug_segment_bytes *segment, bool counts,
                                        struct pug_counts **counted, struct pug_jobs_result *result)
{
    const struct pug_jobs_plan plan = plan_of(tree, config, segment->size, counts);
    struct pug_jobs_decoding decoding = {.tree = tree,
                                         .config = config,
                                         .segment = segment->segments ? segment : NULL,
                                         .counts = counts,
                                         .counted = counted,
                                         .bytes = segment->bytes,
                                         .size = segment->size,
                                         .result = result};
    return decode(&decoding, &plan);
}

enum pug_status pug_tree_decode(struct pug_tree *tree, const struct pug_jobs *config,
                                const uint8_t *bytes, size_t size, struct pug_jobs_result *result)
{
    static const struct pug_jobs usual;
    struct pug_jobs_result unseen;
    struct pug_counts *counted = NULL;
    if (!config)
        config = &usual;
    if (!tree || (!bytes && size > 0) || !is_whole(config))
        return PUG_ERR_INVALID_PARAM_VAL;
    const struct pug_consumers consumers = consumers_of(config);
    const struct pug_segment_bytes all = {.bytes = bytes, .size = size};
    const enum pug_status status = pug_tree_decode_segment(
        tree, config, &all, pug_consumers_count(&consumers), &counted, result ? result : &unseen);
    if (counted)
        pug_consumers_counted(&consumers, counted);
    pug_counts_free(counted);
    return status;
}

bool pug_pass_run(const struct pug_pass *pass)
{
    static const struct pug_jobs usual;
    struct pug_jobs_result result = {0};
    struct pug_jobs_decoding decoding = {.tree = (struct pug_tree *)(uintptr_t)pass->plan->tree,
                                         .pass = pass,
                                         .config = &usual,
                                         .consumers = pass->consumers,
                                         .bytes = pass->bytes,
                                         .size = pass->size,
                                         .result = &result};
    struct pug_jobs_outcome outcome;
    const struct pug_jobs_client client = pug_jobs_decoder(&decoding);
    pug_jobs_read(pass->plan, &client, &outcome);
    return !outcome.failed;
}

/* ---- streams ---- */

/** Makes the stream's next block the one at hand. */
static bool next_block(void *context, uint64_t at, uint64_t *end)
{
    struct pug_jobs_decoding *decoding = context;
    size_t size;
    bool more;
    decoding->bytes = decoding->stream->next(decoding->stream->context, at, &size, &more);
    decoding->base = at;
    *end = at + size;
    decoding->size = more ? UINT64_MAX : *end;
    return more;
}

enum pug_status pug_tree_decode_stream(struct pug_tree *tree, const struct pug_jobs *config,
                                       const struct pug_stream *stream,
                                       struct pug_jobs_result *result)
{
    const struct pug_consumers consumers = consumers_of(config);
    struct pug_jobs_decoding decoding = {.tree = tree,
                                         .config = config,
                                         .counts = pug_consumers_count(&consumers),
                                         .result = result,
                                         .stream = stream};
    const struct pug_jobs_plan plan = {
        .tree = tree, .threads = 1, .next = next_block, .next_context = &decoding};
    return decode(&decoding, &plan);
}
