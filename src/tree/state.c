// SPDX-License-Identifier: MIT
/** @file The state of a whole tree, written for comparison. */
#include "tree/tree_internal.h"

#include <string.h>

/** What the next element of a source starts as: only what a context is made of is kept in it. */
static void put_blank(const struct pug_element *blank, struct pug_state *state)
{
    pug_state_number(state, blank->context_id);
    pug_state_number(state, blank->vmid);
    pug_state_number(state, blank->security);
    pug_state_number(state, (uint8_t)blank->level);
    pug_state_number(state, blank->context_flags);
    pug_state_number(state, blank->flags);
    pug_state_number(state, blank->sw_flags);
    pug_state_number(state, blank->isa);
}

unsigned pug_source_clock(const struct pug_source *source, uint64_t *time)
{
    *time = 0;
    return source->protocol->reader_clock ? source->protocol->reader_clock(source->reader, time)
                                          : 64;
}

/** Marks have whole times, but who reads them knows by how much they differ (index/collect.c). */
static void put_clock(const struct pug_source *source, struct pug_state *state)
{
    uint64_t time;
    const unsigned bits = pug_source_clock(source, &time);
    if (!source->protocol->reader_clock || source->untimed)
        return;
    pug_state_number(state, bits);
    pug_state_number(state, source->stage.marks ? time & pug_clock_mask(bits) : time);
}

static bool put_source(const struct pug_source *source, struct pug_state *state)
{
    const struct pug_protocol *protocol = source->protocol;
    /* Bad packets that the decoder is not shown are none that its state could tell of. */
    if (!protocol->reader_state || source->stage.pending || source->hide_bad_from_sink ||
        source->end_asked || source->end_phase != PUG_END_READ)
        return false;
    protocol->reader_state(source->reader, state);
    put_clock(source, state);
    if (!source->decoder || source->stage.marks)
        return true;
    if (!protocol->decoder_state)
        return false;
    protocol->decoder_state(source->decoder, state);
    put_blank(&source->stage.out.blank, state);
    return true;
}

/** A section begins with its size, so that sections can be compared one by one. */
static size_t begin_section(struct pug_state *state)
{
    pug_state_number(state, 0);
    return state->size;
}

static void end_section(struct pug_state *state, size_t begin)
{
    const uint64_t size = state->size - begin;
    if (!state->failed)
        memcpy(state->bytes + begin - sizeof(size), &size, sizeof(size));
}

bool pug_tree_state(const struct pug_tree *tree, struct pug_state *state)
{
    if (!tree->transport->state || tree->batch.count > 0 || tree->end_asked || tree->ending ||
        pug_interleave_waits(tree))
        return false;
    size_t begin = begin_section(state);
    tree->transport->state(tree->transport_state, state);
    end_section(state, begin);
    for (size_t i = 0; i < tree->source_count; i++) {
        begin = begin_section(state);
        if (!put_source(tree->sources[i], state))
            return false;
        if (pug_tree_tells_losses(tree))
            pug_state_number(state, pug_tree_loss_of(tree, i));
        end_section(state, begin);
    }
    return !state->failed;
}
