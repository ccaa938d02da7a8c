// SPDX-License-Identifier: MIT
/** @file What the scheduler, the index and captures ask of a tree and its sources. */
#include "image/image.h"
#include "tree/tree_internal.h"

/* ---- trees ---- */

size_t pug_tree_source_count(const struct pug_tree *tree)
{
    return tree->source_count;
}

void pug_tree_few_speak(struct pug_tree *tree)
{
    tree->few_speak = true;
}

/** Does anything need the caller's thread, or one reader that sees everything? */
static bool tree_is_watched(const struct pug_tree *tree)
{
    return tree->each_packet || tree->on_element || tree->on_run || tree->on_frame ||
           tree->on_encapsulation || tree->counts || tree->classify || tree->chooser.choose ||
           (tree->image && tree->image->callbacks > 0) || pug_quirks_any(&tree->quirks);
}

static bool source_is_watched(const struct pug_source *source)
{
    return source->monitor || source->sink || source->classify || source->stage.marks ||
           source->hide_bad_from_sink;
}

bool pug_tree_can_be_shared(const struct pug_tree *tree)
{
    bool shared = !tree_is_watched(tree);
    for (size_t i = 0; i < tree->source_count && shared; i++)
        shared = !source_is_watched(tree->sources[i]);
    return shared;
}

struct pug_log *pug_tree_log(const struct pug_tree *tree)
{
    return tree->log;
}

void pug_tree_set_log(struct pug_tree *tree, struct pug_log *log)
{
    tree->log = tree->transport_sink.log = log;
    for (size_t n = 0; n < tree->source_count; n++)
        tree->sources[n]->stage.log = log;
}

unsigned pug_tree_starved(const struct pug_tree *tree)
{
    const struct pug_image *image = tree->image ? tree->image : tree->empty_image;
    return image ? pug_image_starved(image) : 0;
}

bool pug_tree_is_enabled(const struct pug_tree *tree, uint16_t slot)
{
    return pug_slots_enabled(&tree->slots, slot);
}

pug_elements_fn *pug_tree_elements_consumer(const struct pug_tree *tree, void **context)
{
    *context = tree->elements_context;
    return tree->on_elements;
}

bool pug_tree_in_any_order(const struct pug_tree *tree)
{
    return tree->any_order;
}

void pug_tree_end_source(struct pug_tree *tree, size_t n)
{
    (void)pug_source_end(pug_tree_touch(tree, n));
}

bool pug_tree_gathers(const struct pug_tree *tree)
{
    return tree->interleave != NULL;
}

void pug_tree_set_memory_chooser(struct pug_tree *tree, const struct pug_memory_chooser *chooser)
{
    tree->chooser = *chooser;
}

void pug_tree_set_companion(struct pug_tree *tree, void *companion, void (*free)(void *companion))
{
    tree->companion = companion;
    tree->companion_free = free;
}

void pug_tree_on_touch(struct pug_tree *tree, pug_touch_fn *function, void *context)
{
    tree->on_touch = function;
    tree->touch_context = context;
}

void pug_tree_row_runs(struct pug_tree *tree, bool rows)
{
    tree->row_runs = rows;
}

void pug_tree_on_late(struct pug_tree *tree, pug_late_fn *function, void *context)
{
    tree->on_late = function;
    tree->late_context = context;
}

void pug_tree_set_present(struct pug_tree *tree, uint64_t present)
{
    tree->present = present;
}

void pug_tree_skip_unwatched(struct pug_tree *tree, bool no_times)
{
    for (size_t i = 0; i < tree->source_count; i++) {
        struct pug_source *source = tree->sources[i];
        source->stage.unwatched = !source->stage.monitored;
        source->untimed = !source->decoder && (source->stage.unwatched || no_times);
    }
}

/* ---- sources ---- */

bool pug_source_is_touched(const struct pug_source *source)
{
    return source->touched;
}

unsigned pug_source_arrival_clock(const struct pug_source *source, uint64_t *time)
{
    *time = source->came_time;
    return source->came_bits;
}

/** Takes over all that belongs to the place and not to the source that comes. */
static struct pug_source *exchange(struct pug_tree *tree, size_t n, struct pug_source *source)
{
    struct pug_source *other = tree->sources[n];
    source->tree = tree;
    source->stage.log = tree->log;
    source->stage.out.batch = &tree->batch;
    source->stage.encapsulation = tree->on_encapsulation;
    source->stage.encapsulation_context = tree->encapsulation_context;
    pug_source_count(source);
    source->stage.marks = other->stage.marks;
    source->stage.unwatched = other->stage.unwatched;
    source->untimed = other->untimed;
    source->came_bits = pug_source_clock(source, &source->came_time);
    pug_source_monitor(source, other->monitor, other->monitor_context);
    if (source->stage.code) {
        source->stage.code->config.batch = &tree->batch;
        source->stage.code->config.chooser = &tree->chooser;
    }
    tree->sources[n] = source;
    (void)pug_slots_put(&tree->slots, source->slot, source); /* there was another */
    return other;
}

void pug_tree_put_source(struct pug_tree *tree, size_t n, struct pug_source *source)
{
    pug_source_free(exchange(tree, n, source));
}

struct pug_source *pug_tree_take_source(struct pug_tree *tree, const struct pug_tree *model,
                                        size_t n)
{
    struct pug_source *taken = tree->sources[n], *fresh = NULL;
    pug_slots_clear(&tree->slots, taken->slot);
    pug_source_count_no_more(taken); /* its next owner may be another thread */
    if (pug_source_clone(model->sources[n], tree, &fresh) == PUG_OK)
        return exchange(tree, n, fresh);
    pug_source_count(taken);
    (void)pug_slots_put(&tree->slots, taken->slot, taken);
    return NULL;
}

bool pug_source_can_resync(const struct pug_source *source)
{
    const struct pug_protocol *protocol = source->protocol;
    return source->decoder && protocol->self_synced &&
           (!protocol->reader_clock || protocol->reader_set_time);
}

bool pug_source_is_resynced(const struct pug_source *source)
{
    return source->protocol->self_synced(source->decoder);
}

uint8_t pug_source_known_context(const struct pug_source *source)
{
    return source->stage.out.blank.context_flags;
}

void pug_source_set_time(struct pug_source *source, uint64_t time)
{
    source->protocol->reader_set_time(source->reader, time);
}

bool pug_source_begin_decoder(struct pug_source *source)
{
    return !source->protocol->decoder_begin ||
           source->protocol->decoder_begin(source->decoder, source->reader);
}

/* ---- what the transport lost ---- */

bool pug_tree_tells_losses(const struct pug_tree *tree)
{
    return tree->transport->heard && tree->transport->lost;
}

enum pug_tree_loss pug_tree_loss_of(const struct pug_tree *tree, size_t n)
{
    const struct pug_transport *transport = tree->transport;
    const struct pug_source *source = tree->sources[n];
    if (!pug_tree_tells_losses(tree) || transport->heard(tree->transport_state, source->slot))
        return PUG_TREE_NO_LOSS;
    if (transport->lost(tree->transport_state))
        return PUG_TREE_LOSS;
    return source->heard ? PUG_TREE_NO_LOSS : PUG_TREE_LOSS_UNKNOWN;
}

void pug_tree_assume_heard(struct pug_tree *tree)
{
    for (size_t i = 0; i < tree->source_count; i++)
        tree->sources[i]->heard = true;
}

bool pug_source_is_heard(const struct pug_source *source)
{
    return source->heard;
}

void pug_source_set_heard(struct pug_source *source, bool heard)
{
    source->heard = heard;
}

void pug_source_start_at_begin(struct pug_source *source, bool heard)
{
    source->stage.from_begin = true;
    source->heard = heard;
}

enum pug_tree_loss pug_state_section_loss(const struct pug_tree *tree,
                                          struct pug_state_section *section)
{
    uint64_t loss = PUG_TREE_NO_LOSS;
    if (pug_tree_tells_losses(tree)) {
        section->size -= sizeof(loss);
        memcpy(&loss, section->bytes + section->size, sizeof(loss));
    }
    return (enum pug_tree_loss)loss;
}
