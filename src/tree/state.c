// SPDX-License-Identifier: MIT
/** @file The state of a whole tree, written for comparison. */
#include "tree/tree_internal.h"

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

static bool put_source(const struct pug_source *source, struct pug_state *state)
{
    const struct pug_protocol *protocol = source->protocol;
    /* Bad packets that the decoder is not shown are none that its state could tell of. */
    if (!protocol->reader_state || source->stage.pending || source->hide_bad_from_sink ||
        source->end_phase != PUG_END_READ)
        return false;
    protocol->reader_state(source->reader, state);
    if (!source->decoder || source->marks)
        return true;
    if (!protocol->decoder_state)
        return false;
    protocol->decoder_state(source->decoder, state);
    put_blank(&source->stage.out.blank, state);
    return true;
}

bool pug_tree_state(const struct pug_tree *tree, struct pug_state *state)
{
    if (!tree->transport->state || tree->batch.count > 0 || tree->ending)
        return false;
    tree->transport->state(tree->transport_state, state);
    for (size_t i = 0; i < tree->source_count; i++)
        if (!put_source(tree->sources[i], state))
            return false;
    return !state->failed;
}
