// SPDX-License-Identifier: MIT
#include "schedule/segments.h"

#include "counts/counts.h"
#include "schedule/decode.h"
#include "schedule/peers.h"
#include "schedule/segments_pool.h"

#include <stdlib.h>

bool pug_schedule_goes_on(const struct pug_schedule *schedule, uint64_t done)
{
    const struct pug_schedule_options *options = schedule->options;
    return !options->progress ||
           options->progress(options->progress_context, schedule->done + done);
}

void pug_schedule_note_fatal(const struct pug_schedule *schedule, uint64_t at)
{
    schedule->result->stopped++;
    schedule->result->at = at;
}

void pug_schedule_add_counts(struct pug_counts *all, struct pug_counts *counts)
{
    if (!counts)
        return;
    pug_counts_end(counts);
    pug_counts_append(all, counts);
}

/* ---- segments in memory, each on all threads ---- */

static bool progress(void *context, uint64_t done)
{
    return pug_schedule_goes_on(context, done);
}

/** The first segment's counts are taken over: often there is only one. */
static void keep_counts(struct pug_schedule *schedule, uint32_t segment, struct pug_counts *counts)
{
    if (schedule->segments->number_counts)
        schedule->segments->number_counts(schedule->segments->context, segment, counts);
    pug_counts_end(counts);
    if (!schedule->counted) {
        schedule->counted = counts;
        return;
    }
    pug_counts_append(schedule->counted, counts);
    pug_counts_free(counts);
}

static enum pug_status decode_tree(struct pug_schedule *schedule, uint32_t segment,
                                   struct pug_tree *tree)
{
    const struct pug_segments *segments = schedule->segments;
    const struct pug_schedule_options *options = schedule->options;
    const struct pug_jobs jobs = {.threads = options->threads,
                                  .consumers = schedule->consumers->items,
                                  .consumer_count = schedule->consumers->count,
                                  .piece = options->piece,
                                  .progress = progress,
                                  .progress_context = schedule,
                                  .peers = options->peers};
    struct pug_jobs_result result;
    struct pug_counts *counted = NULL;
    const struct pug_segment_bytes bytes = {segments, segment,
                                            segments->memory(segments->context, segment),
                                            (size_t)segments->size(segments->context, segment)};
    const enum pug_status status =
        pug_tree_decode_segment(tree, &jobs, &bytes, schedule->counts, &counted, &result);
    if (counted)
        keep_counts(schedule, segment, counted);
    schedule->result->bytes += result.at;
    schedule->result->ended |= result.stopped;
    if (result.threads > schedule->result->threads)
        schedule->result->threads = result.threads;
    if (PUG_RESP_IS_FATAL(result.response))
        pug_schedule_note_fatal(schedule, segments->index(segments->context, segment) + result.at);
    return status;
}

static enum pug_status decode_whole(struct pug_schedule *schedule, uint32_t segment)
{
    const struct pug_segments *segments = schedule->segments;
    struct pug_tree *tree;
    enum pug_status status =
        segments->tree(segments->context, segment, schedule->options->log, &tree);
    if (status != PUG_OK)
        return status;
    pug_tree_any_order(tree, schedule->counts ||
                                 pug_consumers_all_want(schedule->consumers, PUG_WANTS_ANY_ORDER));
    if (segments->choose(segments->context, segment, tree))
        status = decode_tree(schedule, segment, tree);
    pug_tree_free(tree);
    return status;
}

/** Segments that cannot be decoded are left out, unless that is all of them. */
static enum pug_status decode_each(struct pug_schedule *schedule)
{
    const struct pug_segments *segments = schedule->segments;
    enum pug_status worst = PUG_OK;
    bool any = false;
    for (uint32_t i = 0; i < segments->count && !schedule->result->ended; i++) {
        const uint32_t segment = segments->numbers[i];
        const enum pug_status status = decode_whole(schedule, segment);
        any |= status == PUG_OK;
        if (status == PUG_ERR_MEM)
            return status;
        worst = status != PUG_OK ? status : worst;
        schedule->done += segments->size(segments->context, segment);
    }
    return any ? PUG_OK : worst;
}

/* ---- counts ---- */

static void give_counts(const struct pug_schedule *schedule)
{
    if (schedule->counted)
        pug_consumers_counted(schedule->consumers, schedule->counted);
    for (unsigned i = 0; schedule->by_worker && i < schedule->options->threads; i++)
        if (schedule->by_worker[i])
            pug_consumers_counted(schedule->consumers, schedule->by_worker[i]);
}

static void send_counts(const struct pug_schedule *schedule, unsigned to,
                        const struct pug_counts *counts)
{
    struct pug_peers *peers = schedule->options->peers;
    struct pug_state bytes = {0};
    schedule->segments->pack_counts(schedule->segments->context, counts, &bytes);
    if (bytes.failed)
        pug_peers_fail(peers, "out of memory");
    pug_peers_send(peers, to, PUG_PEERS_DATA, bytes.bytes, bytes.size);
    pug_state_free(&bytes);
}

static void receive_counts(const struct pug_schedule *schedule, unsigned from,
                           struct pug_counts *all)
{
    struct pug_peers *peers = schedule->options->peers;
    struct pug_peers_message message;
    (void)pug_peers_receive(peers, from, PUG_PEERS_DATA, true, &message);
    struct pug_bytes bytes = pug_bytes_of(message.bytes, message.size);
    struct pug_counts *counts =
        schedule->segments->unpack_counts(schedule->segments->context, &bytes);
    if (!counts)
        pug_peers_fail(peers, "out of memory");
    pug_schedule_add_counts(all, counts);
    pug_counts_free(counts);
    free(message.bytes);
}

/** All counts go pairwise to number 0, which gives them as if it had made them. */
static void reduce_counts(const struct pug_schedule *schedule)
{
    struct pug_peers *peers = schedule->options->peers;
    struct pug_counts *all = pug_counts_new();
    if (!all)
        pug_peers_fail(peers, "out of memory");
    pug_peers_begin(peers);
    pug_schedule_add_counts(all, schedule->counted);
    for (unsigned i = 0; i < schedule->options->threads; i++)
        pug_schedule_add_counts(all, schedule->by_worker[i]);
    unsigned bit = 1;
    for (; bit < peers->count && !(peers->number & bit); bit *= 2)
        if (peers->number + bit < peers->count)
            receive_counts(schedule, peers->number + bit, all);
    if (peers->number > 0)
        send_counts(schedule, peers->number - bit, all);
    else
        pug_consumers_counted(schedule->consumers, all);
    pug_counts_free(all);
}

/* ---- */

static enum pug_status read_segments(struct pug_schedule *schedule)
{
    if (schedule->segments->sides)
        return pug_schedule_by_time(schedule);
    return schedule->segments->memory && !schedule->segments->is_stream &&
                   !schedule->segments->is_cut
               ? decode_each(schedule)
               : pug_schedule_pool(schedule);
}

/** All processes know how it went. */
static void share_result(struct pug_peers *peers, struct pug_schedule_result *result,
                         enum pug_status *status)
{
    if (!pug_peers_any(peers))
        return;
    pug_peers_begin(peers);
    pug_peers_share(peers, result, sizeof(*result));
    pug_peers_share(peers, status, sizeof(*status));
}

enum pug_status pug_schedule_run(const struct pug_segments *segments,
                                 const struct pug_consumers *consumers,
                                 const struct pug_schedule_options *options,
                                 struct pug_schedule_result *result)
{
    struct pug_schedule schedule = {.segments = segments,
                                    .consumers = consumers,
                                    .options = options,
                                    .result = result,
                                    .counts =
                                        segments->counts_ranges && pug_consumers_count(consumers)};
    *result = (struct pug_schedule_result){0};
    schedule.by_worker = calloc(options->threads, sizeof(*schedule.by_worker));
    enum pug_status status = schedule.by_worker ? read_segments(&schedule) : PUG_ERR_MEM;
    if (schedule.counts && schedule.by_worker && pug_peers_any(options->peers))
        reduce_counts(&schedule); /* also those of a process that decoded nothing */
    else if (status == PUG_OK)
        give_counts(&schedule);
    share_result(options->peers, result, &status);
    pug_counts_free(schedule.counted);
    for (unsigned i = 0; schedule.by_worker && i < options->threads; i++)
        pug_counts_free(schedule.by_worker[i]);
    free(schedule.by_worker);
    return status;
}
