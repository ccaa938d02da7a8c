// SPDX-License-Identifier: MIT
/**
 * @file Gathered runs in the trace's order: each source is decoded over all its turns at once, into
 * a batch of its own, and what came of each turn is delivered when it is that turn's turn. So are
 * the messages, each after the elements that were there before it.
 *
 * A source whose batch is full gets a larger one; at some size it stops until what it gave is
 * delivered, which it is when all turns before are.
 */
#include "base/grow.h"
#include "log/divert.h"
#include "log/records.h"
#include "tree/tree_internal.h"

#include <stdlib.h>

/* Elements in a source's own batch: at first, and for program flow at most. The room after its
 * limit is for elements that a fast path puts before it asks again. */
#define ROOM_FIRST 512u
#define ROOM_MOST  4096u
#define ROOM_SPARE 64u

/** The place of a source's message. */
struct place {
    uint32_t turn, elements;
};

/** A source in a gathering. */
struct speaker {
    struct pug_source *source; /**< NULL: no consumer */
    struct pug_span span;
    struct pug_turns turns;
    bool done;
    enum pug_response answer; /**< fatal: that is where it ends */

    struct pug_element *elements; /**< of turns that were not delivered yet; kept over gatherings */
    uint32_t room, most, count, given;
    uint32_t told; /**< turns that were delivered */
    struct pug_log_records messages;
    struct pug_list places; /**< of struct place, for each of the messages */
    size_t said;            /**< messages that were delivered */
};

struct pug_interleave {
    bool active;
    struct pug_gathering all;
    size_t turn; /**< the next one to be delivered */
    enum pug_response worst;
    uint32_t *elements; /**< what pug_turns.elements point into */
    size_t elements_room;
    struct speaker *speaking; /**< who is being decoded */
    struct speaker speakers[PUG_MOST_GATHERED];
};

/* ---- a batch of its own ---- */

/** The elements stay for their turn; without room the source stops. */
static bool stop_when_full(struct pug_batch *batch)
{
    if (batch->count < batch->limit)
        return true;
    batch->response = PUG_RESP_WAIT;
    return false;
}

static enum pug_response take_nothing(void *context, const struct pug_element *elements,
                                      size_t count, size_t *taken)
{
    (void)context;
    (void)elements;
    (void)count;
    *taken = 0;
    return PUG_RESP_WAIT;
}

/** False: no memory; all is as it was. */
static bool enlarge(struct speaker *speaker)
{
    const uint32_t room = speaker->room ? speaker->room * 2 : ROOM_FIRST;
    struct pug_element *larger =
        aligned_alloc(64, (room + ROOM_SPARE) * sizeof(struct pug_element));
    if (!larger)
        return false;
    if (speaker->count > 0)
        memcpy(larger, speaker->elements, speaker->count * sizeof(*larger));
    free(speaker->elements);
    speaker->elements = larger;
    speaker->room = room;
    return true;
}

static void keep_message(void *context, const struct pug_log_record *record)
{
    const struct pug_tree *tree = context;
    struct speaker *speaker = tree->interleave->speaking;
    struct place *place = pug_list_add(&speaker->places, sizeof(*place));
    if (!place)
        return;
    place->turn = speaker->turns.told;
    place->elements = tree->batch.count;
    pug_log_records_keep(&speaker->messages, record);
    speaker->places.count = speaker->messages.count; /* there may be no memory for its texts */
}

/** Decode a source from where it stopped, until it is through, its batch is full, or it fails. */
static enum pug_response decode(struct pug_tree *tree, struct speaker *speaker)
{
    const struct pug_batch own = tree->batch;
    const uint8_t *from = speaker->span.at;
    tree->batch.elements = speaker->elements;
    tree->batch.count = speaker->count;
    tree->batch.limit = speaker->room < speaker->most ? speaker->room : speaker->most;
    tree->batch.response = PUG_RESP_CONT;
    tree->batch.flush = stop_when_full;
    tree->batch.give = take_nothing;
    tree->interleave->speaking = speaker;
    pug_log_divert(tree->log, keep_message, tree);
    const enum pug_response answer =
        pug_source_run_turns(speaker->source, &speaker->span, &tree->interleave->worst);
    pug_log_divert(tree->log, NULL, NULL);
    speaker->count = tree->batch.count;
    tree->batch = own;
    tree->transport_stats.delivered += (uint64_t)(speaker->span.at - from);
    return answer;
}

/** The same in as large a batch as it takes, but for the limit. */
static void take_turns(struct pug_tree *tree, struct speaker *speaker)
{
    enum pug_response answer = PUG_RESP_WAIT;
    bool room = speaker->room > 0 || enlarge(speaker);
    speaker->count = speaker->given = 0;
    while (room && PUG_RESP_IS_WAIT(answer)) {
        answer = decode(tree, speaker);
        if (PUG_RESP_IS_WAIT(answer) && (speaker->room >= speaker->most || !enlarge(speaker)))
            break;
    }
    if (!room)
        answer = PUG_RESP_FATAL_SYS_ERR;
    if (PUG_RESP_IS_FATAL(answer))
        speaker->answer = answer;
    speaker->done = !PUG_RESP_IS_WAIT(answer);
}

/** Is something of it to be delivered before it goes on? Its turns that gave nothing are, too. */
static bool waits(const struct speaker *speaker)
{
    return speaker->given < speaker->count || speaker->told < speaker->turns.told ||
           speaker->said < speaker->messages.count;
}

static void decode_all(struct pug_tree *tree, struct pug_interleave *interleave)
{
    for (size_t i = 0; i < interleave->all.count; i++) {
        struct speaker *speaker = &interleave->speakers[i];
        if (speaker->source && !speaker->done && !waits(speaker))
            take_turns(tree, speaker);
    }
}

/* ---- delivery ---- */

/** Elements up to `end`. */
static enum pug_response give_elements(struct pug_tree *tree, struct speaker *speaker, uint32_t end)
{
    size_t taken = end - speaker->given;
    if (taken == 0)
        return PUG_RESP_CONT;
    const size_t all = taken;
    const enum pug_response answer =
        tree->batch.give(tree->batch.give_context, speaker->elements + speaker->given, all, &taken);
    speaker->given += (uint32_t)(answer < PUG_RESP_WAIT || taken > all ? all : taken);
    return answer;
}

/** Deliver what a speaker's next turn has. */
static enum pug_response give_turn(struct pug_tree *tree, struct speaker *speaker, uint32_t end)
{
    enum pug_response worst = PUG_RESP_CONT;
    const struct place *places = speaker->places.items;
    while (speaker->said < speaker->messages.count && places[speaker->said].turn == speaker->told) {
        worst = pug_worse(worst, give_elements(tree, speaker, places[speaker->said].elements));
        if (worst >= PUG_RESP_WAIT)
            return worst;
        pug_log_put(tree->log, &speaker->messages.items[speaker->said++]);
    }
    return pug_worse(worst, give_elements(tree, speaker, end));
}

/** Turn after turn, as far as they are decoded. */
static enum pug_response give_all(struct pug_tree *tree, struct pug_interleave *interleave)
{
    enum pug_response worst = PUG_RESP_CONT;
    for (; interleave->turn < interleave->all.turns; interleave->turn++) {
        struct speaker *speaker = &interleave->speakers[interleave->all.order[interleave->turn]];
        if (!speaker->source)
            continue;
        const bool ended = speaker->told < speaker->turns.told;
        const uint32_t end = ended ? speaker->turns.elements[speaker->told] : speaker->count;
        if (end > speaker->given || speaker->said < speaker->messages.count)
            worst = pug_worse(worst, give_turn(tree, speaker, end));
        if (worst >= PUG_RESP_WAIT || (!ended && !speaker->done))
            return worst;
        if (!ended) { /* it failed here */
            interleave->turn = interleave->all.turns;
            return pug_worse(worst, speaker->answer);
        }
        speaker->told++;
    }
    return worst;
}

static void forget_messages(struct speaker *speaker)
{
    pug_log_records_free(&speaker->messages);
    free(speaker->places.items);
    speaker->messages = (struct pug_log_records){0};
    speaker->places = (struct pug_list){0};
    speaker->said = 0;
}

void pug_interleave_forget(struct pug_tree *tree)
{
    struct pug_interleave *interleave = tree->interleave;
    if (!interleave || !interleave->active)
        return;
    for (size_t i = 0; i < interleave->all.count; i++)
        if (interleave->speakers[i].places.room > 0)
            forget_messages(&interleave->speakers[i]);
    interleave->active = false;
}

bool pug_interleave_waits(const struct pug_tree *tree)
{
    return tree->interleave && tree->interleave->active;
}

enum pug_response pug_interleave_go_on(struct pug_tree *tree)
{
    struct pug_interleave *interleave = tree->interleave;
    enum pug_response worst = PUG_RESP_CONT;
    while (interleave->turn < interleave->all.turns) {
        decode_all(tree, interleave);
        worst = pug_worse(worst, give_all(tree, interleave));
        if (PUG_RESP_IS_WAIT(worst))
            return worst;
        if (PUG_RESP_IS_FATAL(worst))
            break;
    }
    worst = pug_worse(worst, interleave->worst);
    if (!PUG_RESP_IS_FATAL(worst) || interleave->turn == interleave->all.turns)
        pug_interleave_forget(tree);
    return worst;
}

/* ---- a gathering ---- */

/** Room to say how many elements each turn gave. False: no memory. */
static bool make_room(struct pug_interleave *interleave, size_t turns)
{
    if (turns <= interleave->elements_room)
        return true;
    uint32_t *grown = realloc(interleave->elements, turns * sizeof(*grown));
    if (!grown)
        return false;
    interleave->elements = grown;
    interleave->elements_room = turns;
    return true;
}

static void begin(struct pug_tree *tree, struct pug_interleave *interleave)
{
    uint32_t *elements = interleave->elements;
    for (size_t i = 0; i < interleave->all.count; i++) {
        const struct pug_gathered *said = &interleave->all.sources[i];
        struct speaker *speaker = &interleave->speakers[i];
        speaker->source = said->turns > 0 ? pug_tree_hear(tree, &said->run) : NULL;
        /* sources with payloads keep them for as many elements as are in the tree's batch */
        speaker->most = speaker->source && speaker->source->protocol->program_flow
                            ? ROOM_MOST
                            : tree->batch.limit;
        speaker->done = false;
        speaker->answer = PUG_RESP_CONT;
        speaker->count = speaker->given = speaker->told = 0;
        speaker->turns = (struct pug_turns){
            .ends = said->ends, .elements = elements, .count = (uint32_t)said->turns};
        speaker->span = (struct pug_span){.at = said->run.bytes,
                                          .end = said->run.bytes + said->ends[0],
                                          .run = &said->run,
                                          .turns = &speaker->turns};
        elements += said->turns;
    }
}

enum pug_response pug_interleave_take(void *context, const struct pug_gathering *gathering)
{
    struct pug_tree *tree = context;
    if (!tree->interleave)
        tree->interleave = calloc(1, sizeof(*tree->interleave));
    struct pug_interleave *interleave = tree->interleave;
    if (!interleave || !make_room(interleave, gathering->turns))
        return PUG_RESP_FATAL_SYS_ERR;
    interleave->all = *gathering;
    interleave->turn = 0;
    interleave->worst = PUG_RESP_CONT;
    interleave->active = true;
    begin(tree, interleave);
    const enum pug_response answer = pug_tree_deliver(tree); /* what waits came before */
    return answer >= PUG_RESP_WAIT ? answer : pug_worse(answer, pug_interleave_go_on(tree));
}

void pug_interleave_leave(struct pug_tree *tree, const struct pug_source *source)
{
    for (size_t i = 0; pug_interleave_waits(tree) && i < tree->interleave->all.count; i++)
        if (tree->interleave->speakers[i].source == source)
            tree->interleave->speakers[i].source = NULL;
}

void pug_interleave_free(struct pug_tree *tree)
{
    pug_interleave_forget(tree);
    for (size_t i = 0; tree->interleave && i < PUG_MOST_GATHERED; i++)
        free(tree->interleave->speakers[i].elements);
    if (tree->interleave)
        free(tree->interleave->elements);
    free(tree->interleave);
}
