// SPDX-License-Identifier: MIT
/**
 * @file A capture read by several threads.
 *
 * Each thread but the first starts somewhere in the middle, with a tree that knows nothing. Its
 * stretches get longer and longer, and each has the state of the tree at its start. Afterwards the
 * tree that came from the left goes on through the next part until it is in the state that a
 * stretch of that part starts with: from there on both would give the same, and that part's
 * stretches hold. If it never is, all of that part is read again.
 */
#include "index/chain.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* Blocks that a thread reads before it looks whether it is still wanted. */
#define CHUNK 8u
/* Stretches of a part: each is twice as long as the one before. */
#define MOST_STRETCHES 64u
/* A part is so many blocks at least. */
#define LEAST_BLOCKS 16u
#define MOST_PARTS   256u

struct part {
    const struct job *job;
    struct pug_tree *tree;
    struct collector *collector;
    uint64_t first, end; /* blocks */
    bool own_tree, running;
    pthread_t thread;
    atomic_bool *cancelled;
    struct stretch stretches[MOST_STRETCHES];
    size_t count;
};

static void *read_part(void *context)
{
    struct part *part = context;
    uint64_t at = part->first, length = 1;
    while (at < part->end && part->count < MOST_STRETCHES && !atomic_load(part->cancelled)) {
        uint64_t end = part->end - at < length ? part->end : at + length;
        index_collect_into(part->collector, &part->stretches[part->count++]);
        for (; at < end && !atomic_load(part->cancelled); at += CHUNK)
            if (!index_collect(part->collector, end - at < CHUNK ? end : at + CHUNK))
                return NULL;
        at = end;
        length *= 2;
    }
    return NULL;
}

/** The first part, in the caller's thread: one stretch. */
static void read_first(struct part *part, const struct chain_options *options, size_t parts)
{
    index_collect_into(part->collector, &part->stretches[part->count++]);
    for (uint64_t at = part->first; at < part->end; at += CHUNK) {
        if (!index_collect(part->collector, part->end - at < CHUNK ? part->end : at + CHUNK))
            return;
        uint64_t done = index_collector_at(part->collector) - part->first * part->job->block;
        uint64_t all = part->first * part->job->block + done * parts;
        if (options->progress && !options->progress(options->progress_context,
                                                    all < part->job->end ? all : part->job->end)) {
            atomic_store(part->cancelled, true);
            return;
        }
    }
}

static bool append(struct chain *chain, struct stretch *stretch)
{
    if (chain->count == chain->room) {
        size_t room = chain->room ? 2 * chain->room : 64;
        struct stretch **grown = realloc(chain->items, room * sizeof(struct stretch *));
        if (!grown) {
            chain->failed = true;
            return false;
        }
        chain->items = grown;
        chain->room = room;
    }
    chain->items[chain->count++] = stretch;
    return true;
}

/** Read blocks again, in a stretch that the chain owns. */
static bool read_again(struct chain *chain, struct part *part, uint64_t end)
{
    struct stretch *stretch = calloc(1, sizeof(*stretch));
    if (!stretch) {
        chain->failed = true;
        return false;
    }
    index_collect_into(part->collector, stretch);
    stretch->owned = true;
    bool going = index_collect(part->collector, end);
    if (append(chain, stretch))
        return going;
    index_stretch_free(stretch);
    free(stretch);
    return false;
}

/** Do the stretches of a part from this one on hold, once `from` has come there? */
static bool agree(const struct part *from, const struct stretch *stretch, struct pug_state *state)
{
    return stretch->has_start && index_collector_state(from->collector, state) &&
           pug_state_equal(state, &stretch->start);
}

/** Let `from` go on through the next part until that one holds; who stands at its end then. */
static struct part *join(struct chain *chain, struct part *from, struct part *next)
{
    struct pug_state state = {0};
    bool going = true;
    size_t n = 0;
    while (n < next->count && going && !agree(from, &next->stretches[n], &state))
        going = read_again(chain, from, next->stretches[n++].end);
    pug_state_free(&state);
    if (n == next->count) {
        if (going)
            (void)read_again(chain, from, next->end);
        return from;
    }
    if (!going)
        return from;
    for (; n < next->count; n++)
        append(chain, &next->stretches[n]);
    return next;
}

static bool is_at(const struct part *part, uint64_t block)
{
    uint64_t at = block * part->job->block;
    return index_collector_at(part->collector) == (at < part->job->end ? at : part->job->end);
}

/** All parts as one. */
static void link_parts(struct chain *chain, const struct chain_options *options)
{
    struct part *standing = &chain->parts[0];
    for (size_t i = 0; i < standing->count; i++)
        append(chain, &standing->stretches[i]);
    for (size_t i = 1; i < chain->part_count && is_at(standing, chain->parts[i].first); i++)
        standing = join(chain, standing, &chain->parts[i]);
    chain->at = index_collector_at(standing->collector);
    chain->ended = options->end_of_trace && chain->at == standing->job->end &&
                   is_at(standing, standing->job->blocks);
    if (chain->ended)
        index_collect_end(standing->collector);
    for (size_t i = 0; i < chain->part_count; i++) {
        chain->failed |= index_collector_failed(chain->parts[i].collector);
        chain->crowded |= index_collector_crowded(chain->parts[i].collector);
    }
}

/* ---- threads ---- */

/** How many parts: each thread has one. */
static size_t part_count(const struct job *job, uint64_t first, unsigned threads)
{
    uint64_t most = (job->blocks - first) / LEAST_BLOCKS;
    most = most < MOST_PARTS ? most : MOST_PARTS;
    return threads < most ? threads : most > 0 ? (size_t)most : 1;
}

static bool set_up(struct chain *chain, const struct job *job, struct pug_tree *tree,
                   uint64_t first, atomic_bool *cancelled)
{
    uint64_t blocks = job->blocks - first;
    for (size_t i = 0; i < chain->part_count; i++) {
        struct part *part = &chain->parts[i];
        *part = (struct part){
            .job = job,
            .tree = tree,
            .first = first + blocks * i / chain->part_count,
            .end = first + blocks * (i + 1) / chain->part_count,
            .own_tree = i > 0,
            .cancelled = cancelled,
        };
        if (i > 0 && pug_tree_clone(tree, NULL, &part->tree) != PUG_OK) {
            part->tree = NULL;
            return false;
        }
        part->collector = index_collector_new(job, part->tree, part->first);
        if (!part->collector)
            return false;
    }
    return true;
}

static void take_down(struct chain *chain)
{
    for (size_t i = 0; i < chain->part_count; i++) {
        struct part *part = &chain->parts[i];
        index_collector_free(part->collector);
        if (part->own_tree)
            pug_tree_free(part->tree);
        for (size_t n = 0; n < part->count; n++)
            index_stretch_free(&part->stretches[n]);
    }
    free(chain->parts);
    chain->parts = NULL;
    chain->part_count = 0;
}

static void run(struct chain *chain, const struct chain_options *options)
{
    for (size_t i = 1; i < chain->part_count; i++) {
        struct part *part = &chain->parts[i];
        part->running = pthread_create(&part->thread, NULL, read_part, part) == 0;
    }
    read_first(&chain->parts[0], options, chain->part_count);
    for (size_t i = 1; i < chain->part_count; i++)
        if (chain->parts[i].running)
            pthread_join(chain->parts[i].thread, NULL);
    link_parts(chain, options);
}

void index_chain_read(struct chain *chain, const struct job *job, struct pug_tree *tree,
                      uint64_t first, const struct chain_options *options)
{
    atomic_bool cancelled = false;
    *chain = (struct chain){.part_count = part_count(job, first, options->threads)};
    chain->parts = calloc(chain->part_count, sizeof(*chain->parts));
    if (chain->parts && !set_up(chain, job, tree, first, &cancelled)) {
        take_down(chain); /* where the tree cannot be copied, one thread has to do */
        chain->part_count = 1;
        chain->parts = calloc(1, sizeof(*chain->parts));
        if (chain->parts && !set_up(chain, job, tree, first, &cancelled))
            take_down(chain);
    }
    chain->failed = !chain->parts;
    if (chain->parts)
        run(chain, options);
}

void index_chain_free(struct chain *chain)
{
    for (size_t i = 0; i < chain->count; i++) {
        if (!chain->items[i]->owned)
            continue;
        index_stretch_free(chain->items[i]);
        free(chain->items[i]);
    }
    free(chain->items);
    take_down(chain);
    *chain = (struct chain){0};
}
