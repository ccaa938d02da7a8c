// SPDX-License-Identifier: MIT
/**
 * @file How far to read so that a part of the trace is complete, where sources fall silent after
 * it. All are read until those that continue are settled (settle.c explains how that is seen). Of
 * the others nothing can come before they speak again: there a tree has only to hear them, and
 * comes there by the index. Who never speaks again has only its end to tell.
 */
#include "index/tail_reads.h"
#include "index/pair.h"
#include "index/reach.h"
#include "tree/embed.h"

#include <stdlib.h>

bool pug_index_has_all_marks(const struct pug_index *index, uint64_t size)
{
    const struct pug_index_file_header *h = index->header;
    return h->indexed == size && h->from == 0 && (h->flags & PUG_INDEX_ENDED) &&
           h->sources < PUG_INDEX_SOURCE_LIMIT - 1; /* of more ids some are counted as bytes of no
                                                     * source */
}

/* ---- leaps ---- */

static bool is_pending(const struct pug_index_tail_reads *rest, size_t n, uint64_t at)
{
    return rest->settled[n] > at;
}

static bool any_pending(const struct pug_index_tail_reads *rest, uint64_t at)
{
    size_t n = 0;
    while (n < rest->sources && !is_pending(rest, n, at))
        n++;
    return n < rest->sources;
}

/**
 * A tree that has read all before a block, in place of one that had read all that its pending
 * sources say before it. These go over to it as they are, and it hears no others.
 */
static bool leap(const struct pug_index_tail_reads *rest, const struct pug_index *index,
                 const struct pug_tree *model, const uint8_t *bytes, uint64_t to,
                 struct pug_tree **tree)
{
    struct pug_tree *there = NULL, *here = *tree;
    if (!pug_index_reach_block(index, model, bytes, false, to / index->header->block, &there))
        return false;
    pug_tree_set_log(there, pug_tree_log(here));
    pug_tree_enable_all(there, false);
    for (size_t n = 0; n < rest->sources; n++) {
        if (!is_pending(rest, n, to))
            continue;
        if (!pug_index_move_source(here, model, n, there)) {
            pug_tree_free(there);
            return false;
        }
        pug_tree_enable(there, pug_source_slot(pug_tree_source_at(there, n)), true);
    }
    void *context;
    pug_elements_fn *consumer = pug_tree_elements_consumer(here, &context);
    pug_tree_on_elements(there, consumer, context);
    pug_tree_free(here);
    *tree = there;
    return true;
}

/**
 * End those that are not settled anywhere, in the order in which an end reports them. That they end
 * inside something is nothing of the part.
 */
static void end_pending(const struct pug_index_tail_reads *rest, struct pug_tree *tree)
{
    pug_tree_set_log(tree, NULL);
    for (size_t n = 0; n < rest->sources; n++)
        if (rest->settled[n] == UINT64_MAX)
            pug_tree_end_source(tree, n);
    (void)pug_tree_deliver(tree);
}

bool pug_index_tail_reads_read(const struct pug_index_tail_reads *rest,
                               const struct pug_index *index, const struct pug_tree *model,
                               const uint8_t *bytes, struct pug_tree **tree)
{
    for (size_t i = 0; i < rest->count; i++) {
        const struct pug_index_leap *part = &rest->leaps[i];
        if (!leap(rest, index, model, bytes, part->from, tree) ||
            !pug_index_feed(*tree, bytes, part->from, part->to))
            return false;
    }
    end_pending(rest, *tree);
    return true;
}

void pug_index_tail_reads_free(struct pug_index_tail_reads *rest)
{
    free(rest->leaps);
    free(rest->settled);
    *rest = (struct pug_index_tail_reads){0};
}

/* ---- finding ---- */

struct finding {
    const struct pug_index *index;
    const struct pug_tree *model;
    const uint8_t *bytes;
    struct pug_index_tail_reads *rest;
    struct pug_index_pair pair;
    uint64_t from, begin; /* of the part; and where the stretch that is read now began */
    bool first;           /* the part has the begin of the trace, where the end of a source is that
                             never spoke */
};

/** Has one of the pending sources bytes in a block? */
static bool speaks(const struct finding *finding, uint64_t at, uint64_t block)
{
    const struct pug_index *index = finding->index;
    const uint64_t end = pug_index_block_summary(index, block + 1);
    for (uint64_t n = pug_index_block_summary(index, block); n < end; n++) {
        const struct pug_index_file_summary *s = &index->summaries[n];
        for (size_t i = 0; s->kind == PUG_MARK_DATA && !s->nobody && i < finding->rest->sources;
             i++)
            if (is_pending(finding->rest, i, at) &&
                pug_source_id(pug_tree_source_at(finding->model, i)) == s->source)
                return true;
    }
    return false;
}

/** A run that reaches into the window, or beyond, makes its source one to wait for. */
static void note_run(void *context, const struct pug_run *run)
{
    const struct finding *finding = context;
    if (run->size == 0 || pug_run_index(run, run->bytes + run->size - 1) < finding->from)
        return;
    for (size_t n = 0; n < finding->rest->sources; n++)
        if (pug_source_id(pug_tree_source_at(finding->model, n)) == run->source)
            finding->rest->settled[n] = UINT64_MAX;
}

/** A source that has met is settled at `at`. */
struct meeting {
    const struct finding *finding;
    uint64_t at;
};

static bool note_met(void *context, size_t n, bool same)
{
    const struct meeting *meeting = context;
    const struct finding *finding = meeting->finding;
    if (n == 0)
        return same;
    if (same && is_pending(finding->rest, n - 1, meeting->at) &&
        (!finding->first || pug_source_is_touched(pug_tree_source_at(finding->pair.fresh, n - 1))))
        finding->rest->settled[n - 1] = meeting->at;
    return true;
}

static bool add_leap(struct pug_index_tail_reads *rest, uint64_t from)
{
    struct pug_index_leap *grown = realloc(rest->leaps, (rest->count + 1) * sizeof(*rest->leaps));
    if (!grown)
        return false;
    grown[rest->count++] = (struct pug_index_leap){.from = from};
    rest->leaps = grown;
    return true;
}

/** Up to here the stretch at hand is read. */
static void close_stretch(const struct finding *finding, uint64_t at)
{
    struct pug_index_tail_reads *rest = finding->rest;
    if (rest->count == 0)
        rest->until = at;
    else
        rest->leaps[rest->count - 1].to = at;
}

/**
 * While no pending source speaks, leap to the place where one does. *at does not move where that is
 * the block at hand, and is beyond everything where none ever does. False: one cannot come there,
 * or what the index calls silence are other bytes now.
 */
static bool leap_on(struct finding *finding, uint64_t *at)
{
    const struct pug_index *index = finding->index;
    const uint64_t size = index->header->block, here = *at / size;
    uint64_t next = here;
    /* bytes of a run may lie in the block after that of its first */
    if (*at % size != 0 || here == 0 || speaks(finding, *at, here - 1))
        return true;
    while (next < index->header->blocks && !speaks(finding, *at, next))
        next++;
    const bool never = next == index->header->blocks;
    const uint64_t known = never ? next : pug_index_known_state(index, false, next);
    if (!never && known <= here)
        return true;
    if (!pug_index_holds(index, finding->bytes, *at, next * size))
        return false;
    if (never) {
        close_stretch(finding, *at);
        *at = UINT64_MAX;
        return true;
    }
    close_stretch(finding, *at);
    *at = known * size;
    return add_leap(finding->rest, *at) &&
           leap(finding->rest, index, finding->model, finding->bytes, *at, &finding->pair.whole) &&
           leap(finding->rest, index, finding->model, finding->bytes, *at, &finding->pair.fresh);
}

/** Both trees read on to the next place where states are compared. */
static bool read_on(const struct finding *finding, uint64_t size, uint64_t *at)
{
    const uint64_t block = finding->index->header->block, read = *at - finding->begin;
    const uint64_t step = pug_index_pair_step(read);
    const uint64_t next = (*at / block + 1) * block;
    uint64_t end = next - *at < step ? next : *at + step;
    end = end < size ? end : size;
    if (!pug_index_pair_feed(&finding->pair, finding->bytes, *at, end))
        return false;
    *at = end;
    (void)pug_index_pair_compare(&finding->pair, note_met, &(struct meeting){finding, end});
    return true;
}

/** From `at` on, until no source is pending. */
static bool read_until_settled(struct finding *finding, uint64_t size, uint64_t at)
{
    uint64_t left = PUG_INDEX_SETTLES_IN;
    finding->begin = at;
    while (any_pending(finding->rest, at)) {
        const uint64_t before = at;
        if (!leap_on(finding, &at))
            return false;
        if (at == UINT64_MAX)
            return true;
        if (at != before)
            finding->begin = at;
        const uint64_t begin = at;
        if (at == size || !read_on(finding, size, &at) || at - begin > left)
            return false;
        left -= at - begin;
    }
    close_stretch(finding, at);
    return true;
}

/** The tree that knows what was before, at `start`, and who of the part is pending there. */
static bool begin_finding(struct finding *finding, uint64_t size, uint64_t start)
{
    struct pug_index_tail_reads *rest = finding->rest;
    rest->sources = pug_tree_source_count(finding->model);
    rest->settled = calloc(rest->sources + 1, sizeof(*rest->settled));
    if (!rest->settled)
        return false;
    for (size_t n = 0; n < rest->sources && finding->first; n++)
        rest->settled[n] = UINT64_MAX;
    return pug_index_pair_begin(&finding->pair, finding->index, finding->model, finding->bytes,
                                size, finding->from, start, note_run, finding);
}

bool pug_index_tail_reads_find(const struct pug_index *index, const struct pug_tree *tree,
                               const uint8_t *bytes, uint64_t size, uint64_t from, uint64_t to,
                               struct pug_index_tail_reads *rest)
{
    const uint64_t start = (to / PUG_INDEX_ALIGNMENT + 1) * PUG_INDEX_ALIGNMENT;
    struct finding finding = {.index = index,
                              .model = tree,
                              .bytes = bytes,
                              .rest = rest,
                              .from = from,
                              .first = from == 0};
    *rest = (struct pug_index_tail_reads){0};
    if (to >= size || start >= size || pug_tree_transport(tree)->single ||
        !pug_index_has_all_marks(index, size))
        return false;
    const bool found =
        begin_finding(&finding, size, start) && read_until_settled(&finding, size, start);
    pug_index_pair_free(&finding.pair);
    if (!found)
        pug_index_tail_reads_free(rest);
    return found;
}
