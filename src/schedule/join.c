// SPDX-License-Identifier: MIT
/**
 * @file Where a strand meets another: after a block at which both know the same.
 *
 * A source that was silent since the other strand began is unknown to that, however long it is: the
 * strand from the left gives it, with all it knows, and the other exchanges its own for it as soon
 * as there is something for it. So it is with the sources of a core that sleeps. Only a strand
 * whose output is known to be the true one gives, as what is given cannot be compared any more.
 */
#include "schedule/threads_internal.h"
#include "tree/embed.h"

void pug_jobs_touch(void *context, size_t source)
{
    struct pug_jobs_worker *worker = context;
    struct pug_jobs_seat *seat = &worker->strand->seats[source];
    pthread_mutex_lock(&worker->jobs->lock);
    struct pug_source *given = seat->given;
    seat->given = NULL;
    seat->touched = true;
    seat->adopted = given != NULL;
    seat->at = worker->number;
    pthread_mutex_unlock(&worker->jobs->lock);
    if (given)
        pug_tree_put_source(worker->base.tree, source, given);
}

/* ---- what is the same ---- */

/** The known losses of a source that may be given. */
static enum pug_tree_loss loss_of(const struct pug_jobs_worker *worker, size_t source)
{
    const struct pug_source *given = worker->strand->seats[source].given;
    const enum pug_tree_loss loss = pug_tree_loss_of(worker->base.tree, source);
    if (given && loss == PUG_TREE_LOSS_UNKNOWN)
        return pug_source_is_heard(given) ? PUG_TREE_NO_LOSS : PUG_TREE_LOSS;
    return loss;
}

/**
 * Can the other tell whether the source loses something from here on? It counts from where it
 * began, and thinks that something was lost where it took other bytes for packets.
 */
static bool can_tell(const struct pug_jobs_worker *worker, size_t source,
                     struct pug_state_section its)
{
    return loss_of(worker, source) != PUG_TREE_NO_LOSS ||
           pug_state_section_loss(worker->base.tree, &its) != PUG_TREE_LOSS;
}

/* ---- what becomes of a source ---- */

enum verdict {
    NO,   /* the other strand has, or will have, put out something that is not true */
    SAME, /* nothing is to be done */
    GIVE, /* to `to` */
};

/** `same`: the other's source has the same state after block `number`. */
static enum verdict judge(struct pug_jobs_strand *other, size_t source, size_t number, bool same,
                          struct pug_jobs_strand **to)
{
    for (struct pug_jobs_strand *strand = other; strand; strand = strand->met) {
        const struct pug_jobs_seat *seat = &strand->seats[source];
        const bool later = strand != other || (seat->touched && seat->at > number);
        *to = strand;
        if (seat->touched)
            return same && !(later && seat->adopted) ? SAME : NO;
        if (!strand->ended)
            return same && !seat->given ? SAME : GIVE;
    }
    return NO;
}

/** Hand the true source on to another strand; false: no memory. */
static bool give_source(struct pug_jobs_worker *worker, size_t source, struct pug_jobs_strand *to)
{
    struct pug_jobs_seat *seat = &worker->strand->seats[source];
    struct pug_source *given = seat->given;
    const bool heard = loss_of(worker, source) == PUG_TREE_NO_LOSS;
    seat->given = NULL;
    if (!given)
        given = pug_tree_take_source(worker->base.tree, worker->jobs->plan->tree, source);
    if (given)
        pug_source_set_heard(given, heard);
    pug_source_free(to->seats[source].given);
    to->seats[source].given = given;
    if (!given)
        pug_jobs_fail(worker->jobs);
    return given != NULL;
}

/** A source that is switched off is never touched, not even at the end. */
static bool is_heard(const struct pug_jobs_worker *worker, size_t source)
{
    const struct pug_tree *tree = worker->base.tree;
    return pug_tree_transport(tree)->single ||
           pug_tree_is_enabled(tree, pug_source_slot(pug_tree_source_at(tree, source)));
}

/** Go through the sources; with `give`, give what is to be given. False: they cannot be met. */
static bool settle(struct pug_jobs_worker *worker, struct pug_jobs_strand *other,
                   const struct pug_state *mine, const struct pug_state *its, bool give)
{
    const uint8_t *at = mine->bytes, *its_at = its->bytes;
    struct pug_state_section a = pug_state_section(&at), b = pug_state_section(&its_at);
    if (!pug_state_same_section(&a, &b))
        return false;
    for (size_t i = 0; i < worker->jobs->sources; i++) {
        struct pug_jobs_strand *to;
        a = pug_state_section(&at);
        b = pug_state_section(&its_at);
        const bool same = pug_state_same_section(&a, &b) && !worker->strand->seats[i].given;
        const enum verdict verdict =
            is_heard(worker, i) ? judge(other, i, worker->number, same, &to) : SAME;
        if (verdict == NO ||
            (verdict == GIVE && !(worker->strand->proven && can_tell(worker, i, b))) ||
            (verdict == GIVE && give && !give_source(worker, i, to)))
            return false;
    }
    return true;
}

static void prove(struct pug_jobs_strand *strand)
{
    for (; strand; strand = strand->met)
        strand->proven = true;
}

bool pug_jobs_meet(struct pug_jobs_worker *worker, struct pug_jobs_strand *other,
                   const struct pug_jobs_block *block)
{
    const struct pug_jobs_block *its = &other->blocks[worker->number - other->first];
    if (!its->has_state || !block->has_state ||
        !settle(worker, other, &block->state, &its->state, false) ||
        !settle(worker, other, &block->state, &its->state, true))
        return false;
    if (worker->strand->proven) {
        worker->jobs->vain = 0;
        prove(other);
    }
    return true;
}
