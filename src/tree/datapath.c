// SPDX-License-Identifier: MIT
/**
 * @file The data path: DATA, END, FLUSH, RESET.
 *
 * A WAIT stops everything where it is: what is undelivered stays in the batch, or in its turn
 * (interleave.c), a decoder that was in the middle of a packet is pending, the transport keeps the
 * rest of its frame. FLUSH takes them up again in that order.
 */
#include "counts/counts.h"
#include "tree/tree_internal.h"

static bool is_active(const struct pug_tree *tree, const struct pug_source *source)
{
    return tree->transport->single || pug_slots_enabled(&tree->slots, source->slot);
}

enum pug_response pug_tree_deliver(struct pug_tree *tree)
{
    tree->batch.response = PUG_RESP_CONT;
    tree->batch.flush(&tree->batch);
    return tree->batch.response;
}

/** Deliver the batch, then what was gathered; then let the decoders that were stopped go on. */
static enum pug_response resume_sources(struct pug_tree *tree)
{
    enum pug_response worst = pug_tree_deliver(tree);
    if (worst < PUG_RESP_WAIT && pug_interleave_waits(tree))
        worst = pug_worse(worst, pug_interleave_go_on(tree));
    if (worst >= PUG_RESP_WAIT)
        return worst;
    for (size_t i = 0; i < tree->source_count; i++) {
        if (!is_active(tree, tree->sources[i]))
            continue;
        enum pug_response answer = pug_source_flush(tree->sources[i]);
        worst = pug_worse(worst, answer);
        if (PUG_RESP_IS_WAIT(answer))
            break;
    }
    return worst;
}

static bool is_stopped(const struct pug_tree *tree)
{
    if (tree->batch.response >= PUG_RESP_WAIT || pug_interleave_waits(tree))
        return true;
    for (size_t i = 0; i < tree->source_count; i++)
        if (tree->sources[i]->stage.pending)
            return true;
    return false;
}

static enum pug_response flush(struct pug_tree *tree);

/**
 * What comes first says whether the trace is read from its begin on. That counts for sources of
 * frames that are heard later; other transports find packets by themselves, or have one source.
 */
static void note_begin(struct pug_tree *tree, uint64_t index)
{
    for (size_t i = 0; i < tree->source_count && !tree->begun; i++)
        tree->sources[i]->stage.from_begin &= index == 0 || !tree->transport->reserved;
    tree->begun = true;
}

/** Bytes that a waiting consumer has not taken are lost. */
static void forget_waiting(struct pug_tree *tree)
{
    if (tree->batch.response >= PUG_RESP_WAIT)
        tree->batch.count = tree->batch.tallied = 0;
    tree->batch.response = PUG_RESP_CONT;
}

/**
 * The end of a source while the consumer waits at `*rest` elements, which are of one source: they
 * come before its own end, if at all, and after that of others.
 */
static enum pug_response end_beside(struct pug_tree *tree, struct pug_source *source,
                                    uint32_t *rest)
{
    struct pug_batch *batch = &tree->batch;
    bool own = *rest > 0 && batch->elements[0].source == source->stage.source;
    if (own && source->protocol->ends_without_rest)
        *rest = 0;
    uint32_t aside = own ? 0 : *rest;
    batch->count = *rest - aside;
    batch->response = PUG_RESP_CONT;
    batch->elements += aside;
    batch->limit -= aside;
    enum pug_response answer = pug_source_end(source);
    forget_waiting(tree);
    batch->elements -= aside;
    batch->limit += aside;
    *rest = aside;
    return answer;
}

/** The elements that wait, as many of them as leave room for others. */
static uint32_t waiting(const struct pug_batch *batch)
{
    return batch->response >= PUG_RESP_WAIT && batch->count <= batch->limit / 2 ? batch->count : 0;
}

static enum pug_response end_sources(struct pug_tree *tree)
{
    bool waits = !tree->quirks.end_does_not_wait;
    uint32_t rest = waits ? 0 : waiting(&tree->batch);
    enum pug_response worst = PUG_RESP_CONT;
    for (; tree->end_next < tree->source_count; tree->end_next++) {
        const struct pug_source *next = tree->sources[tree->end_next];
        if (!is_active(tree, next) || (tree->few_speak && !next->touched))
            continue;
        struct pug_source *source = pug_tree_touch(tree, tree->end_next);
        worst = pug_worse(worst, waits ? pug_source_end(source) : end_beside(tree, source, &rest));
        if (waits && PUG_RESP_IS_WAIT(worst))
            return worst;
    }
    tree->ending = false;
    tree->ended = !tree->quirks.end_does_not_wait;
    for (size_t i = 0; i < tree->source_count; i++)
        tree->sources[i]->end_phase = PUG_END_READ;
    return pug_worse(worst, pug_tree_deliver(tree));
}

/** END, from where it has come to: the transport's, then that of source after source. */
static enum pug_response go_on_ending(struct pug_tree *tree)
{
    enum pug_response worst = PUG_RESP_CONT;
    if (tree->end_asked) {
        tree->end_asked = false;
        worst = tree->transport->end(tree->transport_state);
        tree->ending = true;
        tree->end_next = 0;
    }
    return tree->ending && worst < PUG_RESP_WAIT ? pug_worse(worst, end_sources(tree)) : worst;
}

/** The end of one source alone. */
static enum pug_response end_alone(struct pug_source *source)
{
    const enum pug_response response = pug_source_end(source);
    source->end_asked = PUG_RESP_IS_WAIT(response);
    source->ended = !source->end_asked && !source->tree->quirks.end_does_not_wait;
    if (!source->end_asked)
        source->end_phase = PUG_END_READ;
    return response;
}

static enum pug_response flush(struct pug_tree *tree)
{
    enum pug_response worst = resume_sources(tree);
    if (worst < PUG_RESP_WAIT)
        worst = pug_worse(worst, tree->transport->flush(tree->transport_state));
    if (worst < PUG_RESP_WAIT)
        worst = pug_worse(worst, go_on_ending(tree));
    for (size_t i = 0; i < tree->source_count && worst < PUG_RESP_WAIT; i++)
        if (tree->sources[i]->end_asked)
            worst = pug_worse(worst, end_alone(tree->sources[i]));
    return worst < PUG_RESP_WAIT ? pug_worse(worst, pug_tree_deliver(tree)) : worst;
}

/** Where it has to wait FLUSH goes on with it. END again is no second one. */
static enum pug_response end(struct pug_tree *tree)
{
    if (tree->ended)
        return flush(tree);
    tree->end_asked = !tree->ending;
    const bool waits = !tree->quirks.end_does_not_wait && is_stopped(tree);
    return waits || tree->ending ? flush(tree) : go_on_ending(tree);
}

static enum pug_response reset(struct pug_tree *tree)
{
    tree->batch.count = tree->batch.tallied = 0;
    tree->batch.response = PUG_RESP_CONT;
    tree->end_asked = tree->ending = tree->ended = tree->begun = false;
    pug_interleave_forget(tree);
    tree->transport->reset(tree->transport_state);
    enum pug_response worst = PUG_RESP_CONT;
    for (size_t i = 0; i < tree->source_count; i++)
        if (is_active(tree, tree->sources[i]))
            worst = pug_worse(worst, pug_tree_reset_source(tree, i));
    for (size_t i = 0; i < tree->source_count; i++)
        tree->sources[i]->stage.from_begin = true;
    return worst;
}

/* ---- trace that restarts ---- */

void pug_tree_restart(struct pug_tree *tree, uint64_t dropped)
{
    tree->dropped += dropped;
    tree->restart_due |= tree->begun;
}

/** An element of each source that has trace. */
static void say_dropped(struct pug_tree *tree, uint64_t index)
{
    for (size_t i = 0; i < tree->source_count; i++) {
        struct pug_source *source = tree->sources[i];
        if (!is_active(tree, source) || !source->touched || !pug_out_ready(&source->stage.out))
            continue;
        struct pug_element *element = pug_out_push(&source->stage.out, PUG_ELEM_NO_SYNC, index);
        element->reason = PUG_UNSYNC_DROPPED;
        element->value = tree->dropped;
        element->flags |= PUG_ELEM_HAS_VALUE;
    }
    tree->dropped = 0;
}

/** What pug_tree_restart() announced. WAIT: it is not done yet. */
static enum pug_response restart_tree(struct pug_tree *tree, uint64_t index)
{
    enum pug_response worst = PUG_RESP_CONT;
    if (tree->dropped > 0) {
        worst = reset(tree);
        say_dropped(tree, index);
    } else if ((worst = end(tree)) < PUG_RESP_WAIT) {
        if (tree->counts)
            pug_counts_end(tree->counts);
        if (pug_tree_renew(tree) != PUG_OK)
            worst = PUG_RESP_FATAL_SYS_ERR;
    }
    tree->restart_due &= PUG_RESP_IS_WAIT(worst);
    return worst;
}

void pug_tree_set_live(struct pug_tree *tree)
{
    tree->live = true;
}

/** No more bytes are there now. Where packets are shown, elements stay behind those they wait for.
 */
static void rest(struct pug_tree *tree)
{
    for (size_t i = 0; i < tree->source_count; i++) {
        const struct pug_source *source = tree->sources[i];
        const struct pug_stage *stage = &source->stage;
        if (source->touched && source->decoder && stage->takes & PUG_TAKES_RESUME &&
            !stage->pending && !stage->refused && !stage->monitored)
            (void)source->protocol->resume(source->decoder);
    }
}

static enum pug_response data(struct pug_tree *tree, uint64_t index, const uint8_t *bytes,
                              size_t size, size_t *used)
{
    enum pug_response worst = PUG_RESP_CONT;
    if (tree->restart_due && (worst = restart_tree(tree, index)) >= PUG_RESP_WAIT)
        return worst;
    note_begin(tree, index);
    tree->ended = false;
    if (is_stopped(tree) && (worst = flush(tree)) >= PUG_RESP_WAIT)
        return worst;
    tree->transport_sink.any_order = !pug_tree_minds_order(tree);
    tree->transport_sink.gathering = pug_tree_may_decode_ahead(tree) ? pug_interleave_take : NULL;
    worst =
        pug_worse(worst, tree->transport->data(tree->transport_state, index, bytes, size, used));
    if (tree->live && worst < PUG_RESP_WAIT)
        rest(tree);
    /* What was decoded before a fatal packet is the consumer's, unless the consumer stopped. */
    if (tree->batch.response < PUG_RESP_WAIT && tree->batch.count > 0)
        worst = pug_worse(worst, pug_tree_deliver(tree));
    return worst;
}

enum pug_response pug_tree_op(struct pug_tree *tree, enum pug_op op, uint64_t index,
                              const uint8_t *bytes, size_t size, size_t *used)
{
    if (!tree)
        return PUG_RESP_FATAL_INVALID_PARAM;
    switch (op) {
    case PUG_OP_DATA:
        if (!bytes || size == 0 || !used)
            return PUG_RESP_FATAL_INVALID_PARAM;
        *used = 0;
        return data(tree, index, bytes, size, used);
    case PUG_OP_END: return end(tree);
    case PUG_OP_FLUSH: return flush(tree);
    case PUG_OP_RESET: return reset(tree);
    }
    return PUG_RESP_FATAL_INVALID_OP;
}

enum pug_response pug_tree_feed(struct pug_tree *tree, const uint8_t *bytes, uint64_t *at,
                                uint64_t end)
{
    enum pug_response response = PUG_RESP_CONT;
    size_t used = 1;
    if (!tree || !at || (!bytes && *at < end))
        return PUG_RESP_FATAL_INVALID_PARAM;
    while (*at < end && used > 0 && PUG_RESP_IS_CONT(response)) {
        response = pug_tree_data(tree, *at, bytes + *at, (size_t)(end - *at), &used);
        *at += used;
    }
    return response;
}

/* ---- packets ---- */

static void touch(struct pug_tree *tree, const struct pug_source *source)
{
    for (size_t n = 0; n < tree->source_count; n++)
        if (tree->sources[n] == source)
            pug_tree_touch(tree, n);
}

static enum pug_response take_packet(struct pug_tree *tree, struct pug_source *source,
                                     const struct pug_packet *packet)
{
    enum pug_response worst = PUG_RESP_CONT;
    if (is_stopped(tree) && (worst = flush(tree)) >= PUG_RESP_WAIT)
        return worst;
    touch(tree, source);
    source->ended = false;
    worst = pug_worse(worst, pug_source_take(source, packet));
    if (tree->batch.response < PUG_RESP_WAIT && tree->batch.count > 0)
        worst = pug_worse(worst, pug_tree_deliver(tree));
    return worst;
}

/** The end of one source alone; a FLUSH goes on with it where a consumer waits. */
static enum pug_response end_source(struct pug_tree *tree, struct pug_source *source)
{
    if (source->ended)
        return flush(tree);
    source->end_asked = true;
    if (is_stopped(tree))
        return flush(tree);
    const enum pug_response worst = end_alone(source);
    return worst < PUG_RESP_WAIT ? pug_worse(worst, pug_tree_deliver(tree)) : worst;
}

enum pug_response pug_source_packet(struct pug_source *source, enum pug_op op,
                                    const struct pug_packet *packet)
{
    if (!source)
        return PUG_RESP_FATAL_INVALID_PARAM;
    struct pug_tree *tree = source->tree;
    if (!source->decoder || source->stage.marks)
        return PUG_RESP_FATAL_INVALID_OP;
    switch (op) {
    case PUG_OP_DATA:
        return packet && packet->data ? take_packet(tree, source, packet)
                                      : PUG_RESP_FATAL_INVALID_PARAM;
    case PUG_OP_END: return end_source(tree, source);
    case PUG_OP_FLUSH: return flush(tree);
    case PUG_OP_RESET: return pug_source_reset(source);
    }
    return PUG_RESP_FATAL_INVALID_OP;
}
