// SPDX-License-Identifier: MIT
/** @file Many segments among processes, and what each kept of its own for a later run. */
#include "counts/counts.h"
#include "schedule/peers.h"
#include "schedule/segments_pool.h"

#include <stdlib.h>
#include <string.h>

static bool take_parts(void *context, struct pug_jobs_block *block)
{
    return pug_pool_take(context, block->parts);
}

struct pug_jobs_client pug_pool_client(struct pool *pool)
{
    return (struct pug_jobs_client){
        .context = pool, .consumers = pool->schedule->consumers, .take = take_parts};
}

/** Which of the segments are this process's: about as many bytes as others have. */
static void cut_among(struct pool *pool, const struct pug_peers *peers)
{
    const struct pug_segments *segments = pool->schedule->segments;
    uint64_t all = 0, before = 0;
    uint32_t first = 0, end = 0;
    for (uint32_t i = 0; i < pool->segment_count; i++)
        all += segments->size(segments->context, pool->segments[i]);
    for (uint32_t i = 0; i < pool->segment_count; i++) {
        const uint64_t owner = before / (all / peers->count + 1);
        first += owner < peers->number;
        end += owner <= peers->number;
        before += segments->size(segments->context, pool->segments[i]);
    }
    pool->segments += first;
    pool->segment_count = end - first;
}

/* ---- what is done is kept ---- */

/** All that a worker counted; its trees go on counting. */
static void pack_counts(const struct worker *worker, struct pug_state *to)
{
    const struct pug_segments *segments = worker->pool->schedule->segments;
    pug_pool_count(worker, false);
    pug_counts_end(worker->counts);
    segments->pack_counts(segments->context, worker->counts, to);
    pug_pool_count(worker, true);
}

bool pug_pool_keep(struct pool *pool)
{
    struct pug_state record = {0};
    if (!pool->kept.keep)
        return true;
    pug_state_number(&record, pool->taken);
    const bool good = pug_products_note(pool->products, &record);
    pug_state_number(&record, pool->schedule->counts ? pool->workers : 0);
    for (unsigned i = 0; pool->schedule->counts && i < pool->workers; i++)
        pack_counts(&pool->list[i], &record);
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
    const struct pug_segments *segments = pool->schedule->segments;
    struct pug_bytes *record = &pool->kept_record;
    uint64_t kept = pool->kept_bytes ? pug_bytes_take_64(record) : 0;
    bool good = true;
    for (; good && kept > 0; kept--) {
        struct pug_counts *counts = segments->unpack_counts(segments->context, record);
        good = counts != NULL;
        if (good)
            pug_counts_append(pool->schedule->by_worker[0], counts);
        pug_counts_free(counts);
    }
    return good;
}

struct pug_peers *pug_pool_peers(const struct pug_schedule *schedule)
{
    struct pug_peers *peers = schedule->options->peers;
    const bool can = pug_consumers_can_pack(schedule->consumers) && !schedule->segments->is_cut &&
                     !schedule->segments->is_stream;
    return can && peers && (pug_peers_any(peers) || peers->keep) ? peers : NULL;
}

bool pug_pool_begin_among(struct pool *pool, struct pug_peers *peers,
                          const struct pug_jobs_client *client)
{
    uint64_t identity = pug_checkpoint_mix(pool->segment_count, pool->schedule->counts);
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
    const bool good = products && pug_products_give(products, peers, pool->schedule->result->ended);
    pug_products_free(products);
    return good;
}
