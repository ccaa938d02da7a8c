// SPDX-License-Identifier: MIT
/** @file What an index needs of a tree that somebody else feeds. */
#include "index/collector.h"
#include "tree/embed.h"

#include <stdlib.h>

static void on_packet(void *context, enum pug_op op, const struct pug_packet *packet)
{
    struct source *source = context;
    struct pug_mark marks[PUG_MARK_LIMIT];
    if (op != PUG_OP_DATA)
        return;
    if (packet->flags & PUG_PACKET_SYNC)
        pug_index_add_mark(source, PUG_MARK_SYNC, packet->index, 0);
    const struct pug_protocol *protocol = pug_source_protocol(source->watched);
    size_t count =
        protocol->packet_marks
            ? protocol->packet_marks(pug_source_config(source->watched), packet->data, marks)
            : 0;
    for (size_t i = 0; i < count; i++)
        pug_index_add_mark(source, marks[i].kind, packet->index, marks[i].value);
}

/** A reader of a capture by blocks cuts bytes without frames there; here none are cut. */
static void on_watched_run(void *context, const struct pug_run *run)
{
    const struct collector *collector = context;
    struct pug_run piece = *run;
    const uint64_t block = collector->job->block;
    while (collector->transport->single && piece.size > block - piece.index % block) {
        const size_t size = (size_t)(block - piece.index % block), left = piece.size - size;
        piece.size = size;
        pug_index_on_run(context, &piece);
        piece.index += size;
        piece.bytes += size;
        piece.size = left;
    }
    pug_index_on_run(context, &piece);
}

struct collector *pug_index_watch(struct job *job, struct pug_tree *tree)
{
    struct collector *collector = calloc(1, sizeof(*collector));
    bool good = collector && (collector->yield = pug_index_yield_new(tree, 0)) != NULL;
    if (good) {
        collector->job = job;
        collector->transport = pug_tree_transport(tree);
    }
    for (size_t n = 0; good && n < pug_tree_source_count(tree); n++) {
        struct source *source =
            pug_index_source_of(collector, pug_source_id(pug_tree_source_at(tree, n)));
        good = source && !pug_source_protocol(pug_tree_source_at(tree, n))->operate;
        if (!good)
            break;
        source->in_tree = true;
        source->watched = pug_tree_source_at(tree, n);
        pug_source_monitor(pug_tree_source_at(tree, n), on_packet, source);
    }
    if (!good) {
        if (collector)
            pug_index_unwatch(collector, tree, NULL);
        return NULL;
    }
    pug_tree_on_runs(tree, on_watched_run, collector);
    (void)pug_tree_on_frames(tree, pug_index_on_frame, collector, 4);
    return collector;
}

void pug_index_unwatch(struct collector *collector, struct pug_tree *tree, struct yield **yield)
{
    for (size_t n = 0; n < pug_tree_source_count(tree); n++)
        pug_source_monitor(pug_tree_source_at(tree, n), NULL, NULL);
    pug_tree_on_runs(tree, NULL, NULL);
    (void)pug_tree_on_frames(tree, NULL, NULL, 0);
    if (collector->yield)
        pug_index_close_tallies(collector);
    bool whole = yield && !collector->failed;
    if (yield)
        *yield = whole ? collector->yield : NULL;
    if (!whole)
        pug_index_yield_free(collector->yield);
    pug_index_collector_clear(collector);
    free(collector);
}

/* Summaries that follow of the same blocks are merged with these. */
const struct yield *pug_index_yield_so_far(struct collector *collector)
{
    pug_index_close_tallies(collector);
    return collector->failed ? NULL : collector->yield;
}
