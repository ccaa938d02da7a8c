// SPDX-License-Identifier: MIT
/** @file The decode tree: making it, and what can be attached to it. */
#include "tree/tree_internal.h"

#include "image/codemap.h"
#include "image/image.h"
#include "pugmark/pugmark.h"

#include <assert.h>
#include <stdlib.h>

/* 256 elements are 16 KiB: with the decoder's own data they stay in the first-level cache. */
#define BATCH_ELEMENTS 256u

static_assert(sizeof(struct pug_tree) < 4096,
              "of 65536 possible sources, unused ones cost nothing");

static void count_undelivered(struct pug_tree *tree, const struct pug_run *run)
{
    struct pug_transport_stats *stats = &tree->transport_stats;
    if (run->source == PUG_SOURCE_UNKNOWN)
        stats->unknown += run->size;
    else if (tree->transport->reserved && tree->transport->reserved(run->source))
        stats->reserved += run->size;
    else
        stats->no_decoder += run->size;
}

struct pug_source *pug_tree_touch(struct pug_tree *tree, size_t n)
{
    if (!tree->sources[n]->touched && tree->on_touch)
        tree->on_touch(tree->touch_context, n);
    tree->sources[n]->touched = true;
    if (tree->sources[n]->reset_due)
        (void)pug_source_reset(tree->sources[n]);
    tree->sources[n]->reset_due = false;
    return tree->sources[n];
}

enum pug_response pug_tree_reset_source(struct pug_tree *tree, size_t n)
{
    struct pug_source *source = tree->sources[n];
    if (!tree->few_speak || source->touched)
        return pug_source_reset(source);
    source->reset_due = true;
    return PUG_RESP_CONT;
}

static struct pug_source *touch(struct pug_tree *tree, const struct pug_source *source)
{
    size_t n = 0;
    while (tree->sources[n] != source)
        n++;
    return pug_tree_touch(tree, n);
}

/**
 * Where a source from another tree takes the place of one that was not heard yet, it is the other
 * tree's transport that knows whether packets of it were lost before this one began to read. So it
 * is with what is assumed of all sources.
 */
static bool knows_better(const struct pug_tree *tree, const struct pug_source *source)
{
    return source->heard && pug_tree_tells_losses(tree) &&
           !tree->transport->lost(tree->transport_state);
}

/** To who listens, but for bytes that come once more since they were not taken. */
static void show_run(const struct pug_tree *tree, const struct pug_source *source,
                     const struct pug_run *run)
{
    const uint64_t shown = source ? source->shown : 0;
    struct pug_run fresh = *run;
    size_t seen = 0;
    if (run->size > 0 && pug_run_index(run, run->bytes + run->size - 1) < shown)
        return;
    while (seen < run->size && pug_run_index(run, run->bytes + seen) < shown)
        seen++;
    fresh.index += seen;
    fresh.bytes += seen;
    fresh.size -= seen;
    if (fresh.gaps)
        fresh.gaps += seen;
    tree->on_run(tree->run_context, &fresh);
}

/** The part of a run that was not taken comes again. */
static void note_shown(struct pug_source *source, const struct pug_run *run, bool all)
{
    const uint64_t end =
        run->size > 0 ? pug_run_index(run, run->bytes + run->size - 1) + 1 : run->index;
    if (end >= source->shown)
        source->shown = all ? 0 : end;
}

static uint16_t slot_of(const struct pug_tree *tree, const struct pug_run *run)
{
    return tree->transport->single ? 0 : run->source;
}

struct pug_source *pug_tree_hear(struct pug_tree *tree, const struct pug_run *run)
{
    const uint16_t slot = slot_of(tree, run);
    struct pug_source *source = pug_slots_get(&tree->slots, slot);
    if (!source || (!tree->transport->single && !pug_slots_enabled(&tree->slots, slot))) {
        count_undelivered(tree, run);
        return NULL;
    }
    return source->touched ? source : touch(tree, source);
}

static enum pug_response on_run(void *context, const struct pug_run *run, size_t *used)
{
    struct pug_tree *tree = context;
    struct pug_source *source = pug_slots_get(&tree->slots, slot_of(tree, run));
    if (tree->on_run)
        show_run(tree, source, run);
    if (!source && tree->transport->single)
        return PUG_RESP_FATAL_NOT_INIT;
    source = pug_tree_hear(tree, run);
    if (!source) {
        *used = run->size;
        return PUG_RESP_CONT;
    }
    struct pug_run whole;
    if (run->gap && knows_better(tree, source)) {
        whole = *run;
        whole.gap = false;
        run = &whole;
    }
    enum pug_response response = pug_source_run(source, run, used);
    tree->transport_stats.delivered += *used;
    if (tree->on_run)
        note_shown(source, run, *used == run->size);
    return response;
}

/** Who listens to runs gets them as they are, unless it says otherwise. */
static unsigned on_takes(void *context, uint16_t id)
{
    const struct pug_tree *tree = context;
    const struct pug_source *source = pug_slots_get(&tree->slots, id);
    if (!source || !pug_slots_enabled(&tree->slots, id))
        return tree->on_run ? 0 : PUG_TAKES_NOTHING;
    const unsigned shown =
        (tree->splice_runs ? PUG_TAKES_SPLICED : 0) | (tree->row_runs ? PUG_TAKES_ROWS : 0);
    const unsigned length = tree->counts || source->stage.marks ? PUG_TAKES_LONG : 0;
    return (source->stage.takes & (tree->on_run ? shown : ~0u)) | length;
}

static void on_reset(void *context, uint64_t index)
{
    struct pug_tree *tree = context;
    (void)index;
    for (size_t i = 0; i < tree->source_count; i++) {
        if (!pug_slots_enabled(&tree->slots, tree->sources[i]->slot))
            continue;
        if (!tree->few_speak)
            pug_tree_touch(tree, i);
        pug_tree_reset_source(tree, i);
    }
}

/** Unpacked raw frames of sources that are switched off are not shown. */
static void on_frame(void *context, enum pug_op op, uint64_t index, enum pug_frame_kind kind,
                     uint16_t source, const uint8_t *bytes, size_t size)
{
    struct pug_tree *tree = context;
    if (kind == PUG_FRAME_ID_DATA && source != PUG_SOURCE_UNKNOWN &&
        !pug_slots_enabled(&tree->slots, source))
        return;
    tree->on_frame(tree->frame_context, op, index, kind, source, bytes, size);
}

/** Choose the consumer of batches. */
void pug_tree_choose_consumer(struct pug_tree *tree)
{
    struct pug_batch *batch = &tree->batch;
    batch->give = tree->on_elements  ? tree->on_elements
                  : tree->on_element ? pug_batch_give_each
                                     : pug_batch_drop;
    batch->give_context = tree->on_elements ? tree->elements_context : tree;
    pug_tree_count_batches(tree);
}

static bool make_batch(struct pug_tree *tree)
{
    tree->batch.elements = aligned_alloc(64, BATCH_ELEMENTS * sizeof(struct pug_element));
    tree->batch.limit = BATCH_ELEMENTS - PUG_OUT_STEP;
    tree->batch.tree = tree;
    tree->batch.flush = pug_batch_deliver;
    tree->batch.settle = pug_batch_settle;
    pug_tree_choose_consumer(tree);
    return tree->batch.elements != NULL;
}

enum pug_status pug_tree_new(const struct pug_tree_config *config, struct pug_tree **out)
{
    if (!out)
        return PUG_ERR_INVALID_PARAM_VAL;
    *out = NULL;
    if (!config)
        return PUG_ERR_INVALID_PARAM_VAL;
    const struct pug_transport *transport =
        pug_transport_find(config->transport ? config->transport : "plain");
    if (!transport)
        return PUG_ERR_UNKNOWN_NAME;
    struct pug_tree *tree = calloc(1, sizeof(*tree));
    if (!tree)
        return PUG_ERR_MEM;
    pug_slots_init(&tree->slots);
    tree->transport = transport;
    tree->image = config->image;
    tree->log = config->log;
    tree->quirks = config->quirks;
    tree->classify = config->classify;
    tree->classify_context = config->classify_context;
    tree->code_limit = config->code_limit;
    tree->memory_page = PUG_CODE_PAGE;
    tree->transport_sink = (struct pug_transport_sink){
        .context = tree,
        .run = on_run,
        .takes = transport->single ? NULL : on_takes,
        .reset = on_reset,
        .log = config->log,
        .quirks = config->quirks,
        .stats = &tree->transport_stats,
    };
    bool room = make_batch(tree) && pug_settings_copy(&config->settings, &tree->settings);
    enum pug_status status = room ? PUG_OK : PUG_ERR_MEM;
    if (status == PUG_OK)
        status =
            transport->create(&config->settings, &tree->transport_sink, &tree->transport_state);
    if (status != PUG_OK) {
        pug_settings_free(&tree->settings);
        pug_slots_free(&tree->slots);
        free(tree->batch.elements);
        free(tree);
        return status;
    }
    *out = tree;
    return PUG_OK;
}

enum pug_status pug_tree_renew(struct pug_tree *tree)
{
    pug_interleave_forget(tree);
    tree->batch.count = tree->batch.tallied = 0;
    tree->batch.response = PUG_RESP_CONT;
    tree->end_asked = tree->ending = tree->ended = tree->begun = false;
    tree->transport->free(tree->transport_state);
    tree->transport_state = NULL;
    enum pug_status status =
        tree->transport->create(&tree->settings, &tree->transport_sink, &tree->transport_state);
    for (size_t i = 0; i < tree->source_count && status == PUG_OK; i++) {
        struct pug_source *source = tree->sources[i];
        source->stage.from_begin = true;
        source->reset_due = false;
        if (source->touched || !tree->few_speak)
            status = pug_source_renew(source);
    }
    return status;
}

void pug_tree_free(struct pug_tree *tree)
{
    if (!tree)
        return;
    for (size_t i = 0; i < tree->source_count; i++)
        pug_source_free(tree->sources[i]);
    if (tree->transport_state)
        tree->transport->free(tree->transport_state);
    pug_interleave_free(tree);
    pug_image_free(tree->empty_image);
    pug_settings_free(&tree->settings);
    pug_slots_free(&tree->slots);
    free(tree->sources);
    free(tree->batch.elements);
    if (tree->companion)
        tree->companion_free(tree->companion);
    free(tree);
}

/* ---- sources ---- */

static bool reserve_source(struct pug_tree *tree)
{
    size_t size = (tree->source_count + 1) * sizeof(*tree->sources);
    struct pug_source **grown = realloc(tree->sources, size);
    if (grown)
        tree->sources = grown;
    return grown != NULL;
}

/** Give a source its slot, and its place among the others. */
static bool seat(struct pug_tree *tree, struct pug_source *source)
{
    if (!pug_slots_put(&tree->slots, source->slot, source))
        return false;
    size_t at = tree->source_count++;
    for (; at > 0 && tree->sources[at - 1]->slot > source->slot; at--)
        tree->sources[at] = tree->sources[at - 1];
    tree->sources[at] = source;
    return true;
}

enum pug_status pug_tree_add_source(struct pug_tree *tree, const struct pug_source_config *config,
                                    struct pug_source **out)
{
    struct pug_source *source = NULL;
    if (out)
        *out = NULL;
    if (!tree || !config || !(config->definition || config->protocol))
        return PUG_ERR_INVALID_PARAM_VAL;
    enum pug_status status =
        reserve_source(tree) ? pug_source_new(tree, config, &source) : PUG_ERR_MEM;
    if (status != PUG_OK)
        return status;
    if (!seat(tree, source)) {
        pug_source_free(source);
        return PUG_ERR_MEM;
    }
    if (out)
        *out = source;
    return PUG_OK;
}

static enum pug_status clone_sources(const struct pug_tree *tree, struct pug_tree *clone)
{
    enum pug_status status = PUG_OK;
    for (size_t i = 0; i < tree->source_count && status == PUG_OK; i++) {
        struct pug_source *source = NULL;
        status = reserve_source(clone) ? pug_source_clone(tree->sources[i], clone, &source)
                                       : PUG_ERR_MEM;
        if (status == PUG_OK && !seat(clone, source)) {
            pug_source_free(source);
            status = PUG_ERR_MEM;
        }
    }
    return status;
}

static enum pug_status clone_with(const struct pug_tree *tree, struct pug_log *log,
                                  struct pug_quirks quirks, struct pug_tree **out)
{
    struct pug_tree *clone = NULL;
    enum pug_status status =
        pug_tree_new(&(struct pug_tree_config){.transport = tree->transport->name,
                                               .settings = tree->settings,
                                               .image = tree->image,
                                               .log = log,
                                               .quirks = quirks,
                                               .classify = tree->classify,
                                               .classify_context = tree->classify_context,
                                               .code_limit = tree->code_limit},
                     &clone);
    if (status == PUG_OK) {
        clone->memory_page = tree->memory_page;
        clone->memory_missing = tree->memory_missing;
        status = pug_slots_copy_enabled(&clone->slots, &tree->slots) ? clone_sources(tree, clone)
                                                                     : PUG_ERR_MEM;
    }
    if (status == PUG_OK)
        *out = clone;
    else
        pug_tree_free(clone);
    return status;
}

enum pug_status pug_tree_clone(const struct pug_tree *tree, struct pug_log *log,
                               struct pug_tree **out)
{
    if (!out)
        return PUG_ERR_INVALID_PARAM_VAL;
    *out = NULL;
    return tree ? clone_with(tree, log, tree->quirks, out) : PUG_ERR_INVALID_PARAM_VAL;
}

enum pug_status pug_tree_clone_native(const struct pug_tree *tree, struct pug_tree **out)
{
    return clone_with(tree, NULL, (struct pug_quirks){0}, out);
}

enum pug_status pug_tree_remove_source(struct pug_tree *tree, uint16_t id)
{
    if (!tree)
        return PUG_ERR_INVALID_PARAM_VAL;
    uint16_t slot = tree->transport->single ? 0 : id;
    struct pug_source *source = pug_slots_get(&tree->slots, slot);
    if (!source)
        return PUG_ERR_INVALID_ID;
    size_t at = 0;
    while (tree->sources[at] != source)
        at++;
    tree->source_count--;
    memmove(&tree->sources[at], &tree->sources[at + 1],
            (tree->source_count - at) * sizeof(*tree->sources));
    pug_slots_clear(&tree->slots, slot);
    pug_interleave_leave(tree, source);
    pug_source_free(source);
    return PUG_OK;
}

struct pug_source *pug_tree_source(struct pug_tree *tree, uint16_t slot)
{
    return pug_slots_get(&tree->slots, slot);
}

struct pug_source *pug_tree_source_at(const struct pug_tree *tree, size_t n)
{
    return n < tree->source_count ? tree->sources[n] : NULL;
}

enum pug_status pug_tree_enable(struct pug_tree *tree, uint16_t slot, bool enable)
{
    if (!tree)
        return PUG_ERR_INVALID_PARAM_VAL;
    return pug_slots_enable(&tree->slots, slot, enable) ? PUG_OK : PUG_ERR_MEM;
}

void pug_tree_enable_all(struct pug_tree *tree, bool enable)
{
    pug_slots_enable_all(&tree->slots, enable);
}

/* ---- attachment points ---- */

void pug_tree_on_elements(struct pug_tree *tree, pug_elements_fn *function, void *context)
{
    tree->on_elements = function;
    tree->elements_context = context;
    pug_tree_choose_consumer(tree);
}

void pug_tree_on_element(struct pug_tree *tree, pug_element_fn *function, void *context)
{
    tree->on_element = function;
    tree->element_context = context;
    pug_tree_choose_consumer(tree);
    if (function)
        tree->each_packet = true;
}

void pug_tree_on_runs(struct pug_tree *tree, pug_run_fn *function, void *context)
{
    tree->on_run = function;
    tree->run_context = context;
}

void pug_tree_splice_runs(struct pug_tree *tree, bool splice)
{
    tree->splice_runs = splice;
}

void pug_tree_deliver_each_packet(struct pug_tree *tree, bool each)
{
    tree->each_packet = each;
}

void pug_tree_any_order(struct pug_tree *tree, bool any)
{
    tree->any_order = any;
}

bool pug_tree_minds_order(const struct pug_tree *tree)
{
    const bool watched = tree->each_packet || (tree->on_run && !tree->splice_runs);
    if (!tree->any_order || tree->shows_ranges || watched)
        return true;
    for (size_t i = 0; i < tree->source_count; i++)
        if (!(tree->sources[i]->stage.takes & PUG_TAKES_SPLICED))
            return true;
    return false;
}

/** Packets that somebody takes, a decoder of its own, and marks come in the trace's order. */
static bool may_be_ahead(const struct pug_source *source)
{
    return !source->monitor && !source->sink && !source->stage.marks && !source->protocol->operate;
}

bool pug_tree_may_decode_ahead(const struct pug_tree *tree)
{
    if (tree->each_packet || tree->counts || tree->on_run || tree->quirks.end_does_not_wait ||
        (tree->image && tree->image->callbacks > 0))
        return false;
    for (size_t i = 0; i < tree->source_count; i++)
        if (!may_be_ahead(tree->sources[i]))
            return false;
    return tree->source_count > 1;
}

enum pug_status pug_tree_on_frames(struct pug_tree *tree, pug_frame_fn *function, void *context,
                                   unsigned want)
{
    if (!tree)
        return PUG_ERR_INVALID_PARAM_VAL;
    if (tree->transport->single)
        return PUG_ERR_NO_FRAMES;
    tree->on_frame = function;
    tree->frame_context = context;
    tree->transport_sink.frame = function ? on_frame : NULL;
    tree->transport_sink.frame_context = tree;
    tree->transport_sink.want = function ? want : 0;
    return PUG_OK;
}

void pug_tree_on_encapsulation(struct pug_tree *tree, pug_encapsulation_fn *function, void *context)
{
    tree->on_encapsulation = tree->transport_sink.encapsulation = function;
    tree->encapsulation_context = tree->transport_sink.encapsulation_context = context;
    for (size_t i = 0; i < tree->source_count; i++) {
        tree->sources[i]->stage.encapsulation = function;
        tree->sources[i]->stage.encapsulation_context = context;
    }
}

const struct pug_transport_stats *pug_tree_transport_stats(const struct pug_tree *tree)
{
    return &tree->transport_stats;
}

void pug_tree_reset_transport_stats(struct pug_tree *tree)
{
    tree->transport_stats = (struct pug_transport_stats){0};
}

const struct pug_transport *pug_tree_transport(const struct pug_tree *tree)
{
    return tree->transport;
}

void pug_tree_attach_memory(struct pug_tree *tree, bool attached)
{
    tree->memory_missing = !attached;
}

enum pug_status pug_tree_memory_page(struct pug_tree *tree, uint32_t size)
{
    if (!tree || (size != 0 && (size < PUG_CODE_PAGE_LEAST || size > PUG_CODE_PAGE_MOST)))
        return PUG_ERR_INVALID_PARAM_VAL;
    enum pug_status status = PUG_OK;
    for (size_t i = 0; i < tree->source_count && status == PUG_OK; i++)
        if (tree->sources[i]->stage.code)
            status = pug_codemap_set_page(tree->sources[i]->stage.code, size);
    tree->memory_page = size;
    return status;
}

const struct pug_image *pug_tree_image(const struct pug_tree *tree)
{
    return tree->image;
}

const struct pug_quirks *pug_tree_quirks(const struct pug_tree *tree)
{
    return &tree->quirks;
}

void pug_tree_memory_changed(struct pug_tree *tree)
{
    for (size_t i = 0; i < tree->source_count; i++)
        if (tree->sources[i]->stage.code)
            pug_codemap_forget_volatile(tree->sources[i]->stage.code);
}
