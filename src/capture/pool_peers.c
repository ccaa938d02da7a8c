// SPDX-License-Identifier: MIT
/** @file Many segments among processes, and what each kept of its own for a later run. */
#include "capture/named.h"
#include "capture/pool.h"
#include "counts/counts.h"

#include <stdlib.h>
#include <string.h>

static void pack_piece(void *context, const void *product, struct pug_state *to)
{
    const struct pool *pool = context;
    const struct piece *piece = product;
    pug_state_number(to, piece->bytes);
    pug_state_number(to, piece->fatal);
    pug_state_number(to, piece->at);
    pug_state_number(to, piece->part != NULL);
    pug_log_records_pack(&piece->records, to);
    if (piece->part)
        pool->decoding->config->travel->pack(piece->part, to);
}

static void *unpack_piece(void *context, const uint8_t *bytes, size_t size)
{
    const struct pool *pool = context;
    const struct pug_capture_decode *config = pool->decoding->config;
    struct pug_bytes left = pug_bytes_of(bytes, size);
    struct piece *piece = calloc(1, sizeof(*piece));
    if (!piece)
        return NULL;
    piece->bytes = pug_bytes_take_64(&left);
    piece->fatal = pug_bytes_take_64(&left);
    piece->at = pug_bytes_take_64(&left);
    const bool has_part = pug_bytes_take_64(&left);
    pug_log_records_unpack(&piece->records, &left);
    if (has_part)
        piece->part = config->travel->unpack(config->context, left.at, pug_bytes_left(&left));
    if (piece->part || !has_part)
        return piece;
    pug_pool_drop(pool, piece);
    return NULL;
}

static void drop_piece(void *context, void *product)
{
    pug_pool_drop(context, product);
}

static bool take_piece(void *context, struct pug_jobs_block *block)
{
    return pug_pool_take(context, block->product);
}

static const struct pug_jobs_travel travel = {pack_piece, unpack_piece, NULL};

struct pug_jobs_client pug_pool_client(struct pool *pool)
{
    return (struct pug_jobs_client){
        .context = pool, .take = take_piece, .drop = drop_piece, .travel = &travel};
}

/** Which of the segments are this process's: about as many bytes as others have. */
static void cut_among(struct pool *pool, const struct pug_peers *peers)
{
    const struct pug_capture_segment *segments = pug_capture_segments(pool->decoding->capture);
    uint64_t all = 0, before = 0;
    uint32_t first = 0, end = 0;
    for (uint32_t i = 0; i < pool->segment_count; i++)
        all += segments[pool->segments[i]].size;
    for (uint32_t i = 0; i < pool->segment_count; i++) {
        const uint64_t owner = before / (all / peers->count + 1);
        first += owner < peers->number;
        end += owner <= peers->number;
        before += segments[pool->segments[i]].size;
    }
    memmove(pool->segments, pool->segments + first, (end - first) * sizeof(*pool->segments));
    pool->segment_count = end - first;
}

/* ---- what is done is kept ---- */

/** All that an attribution counted; its trees go on counting. */
static void pack_attribution(struct pool *pool, struct pug_attribution *attribution,
                             struct pug_state *to)
{
    struct pug_named named = {.failed = false};
    for (size_t n = 0; n < PUG_ATTRIBUTION_TREES; n++)
        pug_pool_stop_counting(attribution->trees[n].tree);
    pug_counts_end(attribution->counts);
    pug_named_note_counts(&named, attribution->counts);
    pug_named_pack(&named, pool->decoding->capture, to);
    pug_counts_pack(attribution->counts, to);
    for (size_t n = 0; n < PUG_ATTRIBUTION_TREES; n++)
        if (attribution->trees[n].tree)
            pug_tree_count(attribution->trees[n].tree, attribution->counts);
}

bool pug_pool_keep(struct pool *pool)
{
    struct pug_state record = {0};
    if (!pool->kept.keep)
        return true;
    pug_state_number(&record, pool->taken);
    const bool good = pug_products_note(pool->products, &record);
    pug_state_number(&record, pool->decoding->counts ? pool->workers : 0);
    for (unsigned i = 0; pool->decoding->counts && i < pool->workers; i++)
        pack_attribution(pool, &pool->decoding->attributions[i], &record);
    if (good)
        pug_checkpoint_save(&pool->kept, &record);
    pug_state_free(&record);
    return good;
}

/** Find what was kept, or begin to keep; false: it cannot be written. */
static bool resume(struct pool *pool)
{
    struct pug_bytes *record = &pool->kept_record;
    if (pug_checkpoint_load(&pool->kept, &pool->kept_bytes, record)) {
        pool->taken = pool->claimed = (uint32_t)pug_bytes_take_64(record);
        if (pool->taken <= pool->count &&
            pug_products_resume(pool->products, pool->kept.spool, record))
            return true;
        free(pool->kept_bytes);
    }
    pool->kept_bytes = NULL;
    pool->taken = pool->claimed = 0;
    return pug_products_open(pool->products, pool->kept.spool);
}

bool pug_pool_take_kept(struct pool *pool)
{
    struct pug_bytes *record = &pool->kept_record;
    uint64_t attributions = pool->kept_bytes ? pug_bytes_take_64(record) : 0;
    bool good = true;
    for (; good && attributions > 0; attributions--) {
        struct pug_named_known known;
        good = pug_named_unpack(&known, pool->decoding->capture, record);
        struct pug_counts *counts = good ? pug_counts_unpack(record) : NULL;
        good = counts != NULL;
        if (good) {
            pug_named_renumber(&known, counts);
            pug_counts_append(pool->decoding->attributions[0].counts, counts);
        }
        pug_counts_free(counts);
        free(known.spaces);
    }
    return good;
}

struct pug_peers *pug_pool_peers(const struct pug_capture_decoding *decoding)
{
    struct pug_peers *peers = decoding->capture->options.peers;
    const bool can = decoding->config->travel && !decoding->cut && !decoding->capture->live;
    return can && peers && (pug_peers_any(peers) || peers->keep) ? peers : NULL;
}

bool pug_pool_begin_among(struct pool *pool, struct pug_peers *peers,
                          const struct pug_jobs_client *client)
{
    uint64_t identity = pug_checkpoint_mix(pool->segment_count, pool->decoding->counts);
    pug_peers_begin(peers);
    cut_among(pool, peers);
    for (uint32_t i = 0; i < pool->segment_count; i++)
        identity = pug_checkpoint_mix(identity, pool->segments[i]);
    if (!pug_pool_cut_runs(pool))
        return false;
    identity = pug_checkpoint_mix(identity, pool->count);
    pug_checkpoint_open(&pool->kept, peers, identity);
    if (peers->number == 0 && !pool->kept.keep)
        return true;
    pool->products = pug_products_new(client);
    return pool->products && (!pool->kept.keep || resume(pool));
}

bool pug_pool_finish_among(struct pool *pool, struct pug_peers *peers,
                           const struct pug_jobs_client *client)
{
    struct pug_products *products = pool->products ? pool->products : pug_products_new(client);
    pool->products = NULL; /* what is taken now is */
    const bool good = products && pug_products_give(products, peers, pool->decoding->result->ended);
    pug_products_free(products);
    return good;
}
