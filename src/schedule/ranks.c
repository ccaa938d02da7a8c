// SPDX-License-Identifier: MIT
/** @file The protocol of spans: who goes over into whose. docs/cluster.md says why. */
#include "schedule/ranks_internal.h"
#include "tree/embed.h"

#include <stdlib.h>
#include <string.h>

/* Every block's state is told up to here, then those of more and more distant ones. */
#define DENSE_PLACES 128u
/* Places in a message. */
#define CHUNK 96u
/* in a state's hash */
#define HEARD UINT64_C(1)

enum word { WANT, PLACES, MEET, VOID };

/** A message on the control channel; places follow. */
struct control {
    uint32_t word;
    uint32_t final;  /* PLACES: no more will come */
    uint64_t number; /* WANT: of places that are known; PLACES: of those; MEET: a block */
    uint64_t told;   /* PLACES: there are none but these up to this block */
};

/* ---- who has which ---- */

/** Number 0 has some, whoever has none. */
static size_t first_piece(const struct pug_jobs_state *jobs, unsigned number)
{
    const size_t count = jobs->plan->peers->count;
    return jobs->pieces / count * number + (jobs->pieces % count * number + count - 1) / count;
}

static size_t first_block(const struct pug_jobs_state *jobs, unsigned number)
{
    const size_t block = first_piece(jobs, number) * jobs->piece;
    return block < jobs->blocks ? block : jobs->blocks;
}

static bool has_span(const struct pug_jobs_state *jobs, unsigned number)
{
    return first_piece(jobs, number) < first_piece(jobs, number + 1);
}

bool pug_jobs_span_wanted(const struct pug_jobs_state *jobs)
{
    struct pug_state state = {0};
    const bool wanted =
        jobs->client->travel && jobs->pieces > 1 && pug_tree_state(jobs->plan->tree, &state);
    pug_state_free(&state);
    return wanted;
}

bool pug_jobs_span_open(struct pug_jobs_state *jobs)
{
    struct pug_peers *peers = jobs->plan->peers;
    struct pug_jobs_span *span = jobs->span = calloc(1, sizeof(*span));
    if (!span)
        return false;
    span->jobs = jobs;
    span->peers = peers;
    span->begin = first_block(jobs, peers->number);
    span->end = first_block(jobs, peers->number + 1);
    span->right = peers->number;
    span->spacing = 1;
    span->next_place = span->begin;
    span->states = calloc(1 + jobs->sources, sizeof(*span->states));
    span->known = calloc(jobs->sources + 1, sizeof(*span->known));
    span->askers = calloc(peers->count, sizeof(*span->askers));
    span->products = pug_products_new(jobs->client);
    span->first = first_piece(jobs, peers->number);
    span->keeps = peers->number > 0 || peers->keep;
    return span->states && span->known && span->askers && span->products &&
           pug_jobs_span_resume(span);
}

bool pug_jobs_span_reads(struct pug_jobs_state *jobs)
{
    struct pug_jobs_span *span = jobs->span;
    const unsigned number = span->peers->number;
    if (!has_span(jobs, number) || span->over || (span->begun && !span->missed))
        return false;
    span->begun = true;
    span->missed = false;
    jobs->begun = jobs->claimed = pug_jobs_span_start(span);
    jobs->own = first_piece(jobs, number + 1);
    if (jobs->own <= jobs->begun)
        jobs->own = jobs->begun + 1;
    jobs->taken = jobs->begun * jobs->piece;
    return true;
}

void pug_jobs_span_free(struct pug_jobs_span *span)
{
    if (!span)
        return;
    pug_products_free(span->products);
    free(span->states);
    free(span->known);
    free(span->askers);
    free(span->places);
    free(span->its);
    free(span->wanted);
    free(span);
}

_Noreturn static void starve(const struct pug_jobs_span *span)
{
    pug_peers_fail(span->peers, "out of memory");
}

/* ---- states ---- */

static struct hash mix(struct hash hash, uint64_t word)
{
    hash.words[0] = (hash.words[0] ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    hash.words[0] ^= hash.words[0] >> 32;
    hash.words[1] = (hash.words[1] + word) * UINT64_C(0xC2B2AE3D27D4EB4F);
    hash.words[1] ^= hash.words[1] >> 29;
    return hash;
}

/** HEARD: nothing was lost since the source was. */
static struct hash section_hash(struct pug_state_section section, bool heard)
{
    struct hash hash = {{section.size, ~section.size}};
    for (uint64_t word = 0; section.size > 0; word = 0) {
        const size_t size = section.size < sizeof(word) ? section.size : sizeof(word);
        memcpy(&word, section.bytes, size);
        hash = mix(hash, word);
        section.bytes += size;
        section.size -= size;
    }
    hash.words[0] = (hash.words[0] & ~HEARD) | (heard ? HEARD : 0);
    return hash;
}

/** A source that its strand did not hear has the state that it had before, but for losses. */
static void take_section(struct hash *hash, struct pug_state_section section, bool known,
                         const struct pug_tree *tree)
{
    const enum pug_tree_loss loss = pug_state_section_loss(tree, &section);
    if (known)
        *hash = section_hash(section, loss == PUG_TREE_NO_LOSS);
    else if (loss == PUG_TREE_LOSS)
        hash->words[0] &= ~HEARD;
}

static void take_sections(struct pug_jobs_span *span, const struct pug_state *state, bool all)
{
    const uint8_t *at = state->bytes;
    span->states[0] = section_hash(pug_state_section(&at), true);
    for (size_t i = 0; i < span->jobs->sources; i++)
        take_section(&span->states[1 + i], pug_state_section(&at), all || span->known[i],
                     span->jobs->plan->tree);
}

void pug_jobs_span_begin(struct pug_jobs_span *span, const struct pug_state *state)
{
    take_sections(span, state, true);
}

void pug_jobs_span_note(struct pug_jobs_state *jobs, const struct pug_jobs_strand *strand)
{
    for (size_t i = 0; i < jobs->sources; i++)
        jobs->span->known[i] = strand->seats[i].touched && strand->seats[i].at < jobs->taken;
}

static struct hash state_hash(const struct pug_jobs_span *span)
{
    struct hash hash = {{1, 2}};
    for (size_t i = 0; i <= span->jobs->sources; i++)
        hash = mix(mix(hash, span->states[i].words[0]), span->states[i].words[1]);
    return hash;
}

/* ---- what neighbours say ---- */

static void put_places(struct pug_jobs_span *span, unsigned to)
{
    struct asker *asker = &span->askers[to];
    const uint64_t left = span->count - asker->has, count = left < CHUNK ? left : CHUNK;
    const bool all = count == left;
    struct {
        struct control control;
        struct place places[CHUNK];
    } message = {.control = {PLACES, all && span->final, count, 0}};
    if (count > 0)
        memcpy(message.places, span->places + asker->has, count * sizeof(struct place));
    message.control.told = span->next_place - 1;
    if (!all)
        message.control.told = message.places[count - 1].block;
    asker->waits = false;
    pug_peers_send(span->peers, to, PUG_PEERS_CONTROL, &message,
                   sizeof(struct control) + (size_t)count * sizeof(struct place));
}

/** Who waits for places gets those that are new. */
static void answer(struct pug_jobs_span *span)
{
    for (unsigned i = 0; i < span->peers->number; i++)
        if (span->askers[i].waits && (span->count > span->askers[i].has || span->final))
            put_places(span, i);
}

void *pug_jobs_span_room(void *items, size_t count, size_t *room, size_t more, size_t size)
{
    if (count + more <= *room)
        return items;
    *room = (count + more) * 2;
    void *grown = realloc(items, *room * size);
    if (!grown)
        free(items);
    return grown;
}

static void take_places(struct pug_jobs_span *span, const struct control *control,
                        const uint8_t *places)
{
    const size_t count = (size_t)control->number;
    span->its = pug_jobs_span_room(span->its, span->its_count, &span->its_room, count + 1,
                                   sizeof(struct place));
    if (!span->its)
        starve(span);
    if (count > 0)
        memcpy(span->its + span->its_count, places, count * sizeof(struct place));
    span->its_count += count;
    span->its_told = control->told;
    span->its_final = control->final;
    span->asked = false;
}

/** One message from a neighbour; false: there is none, and nobody waits for it. */
static bool listen(struct pug_jobs_span *span, bool wait)
{
    struct pug_peers_message message;
    struct control control;
    if (!pug_peers_receive(span->peers, PUG_PEERS_ANYBODY, PUG_PEERS_CONTROL, wait, &message))
        return false;
    memcpy(&control, message.bytes, sizeof(control));
    switch ((enum word)control.word) {
    case WANT:
        span->askers[message.from] = (struct asker){true, control.number};
        answer(span);
        break;
    case PLACES:
        if (message.from == span->right)
            take_places(span, &control, message.bytes + sizeof(control));
        break;
    case MEET:
        span->reached = true;
        span->from = control.number;
        break;
    case VOID: span->empty = true; break;
    }
    free(message.bytes);
    return true;
}

/* ---- for who comes from the left ---- */

/** Products behind this place are kept apart from those before it. */
static void add_place(struct pug_jobs_span *span)
{
    struct pug_jobs_state *jobs = span->jobs;
    span->places =
        pug_jobs_span_room(span->places, span->count, &span->room, 1, sizeof(*span->places));
    if (!span->places || !pug_products_cut(span->products))
        starve(span);
    span->places[span->count++] = (struct place){jobs->taken, state_hash(span)};
    if (span->count % DENSE_PLACES == 0)
        span->spacing *= span->spacing < jobs->piece ? jobs->piece : 2;
    span->next_place = jobs->taken + span->spacing;
    answer(span);
}

/** No state in the span will be told any more. */
static void end_places(struct pug_jobs_span *span)
{
    if (span->final)
        return;
    span->final = true;
    answer(span);
}

/* ---- going over to the right ---- */

/** What the process is told that has the block, which is behind this one's span. */
static void look_right(struct pug_jobs_span *span, uint64_t block)
{
    const struct pug_jobs_state *jobs = span->jobs;
    unsigned right = span->right;
    while (right < span->peers->count &&
           (right == span->peers->number || first_block(jobs, right + 1) <= block))
        right++;
    if (right == span->right)
        return;
    span->right = right;
    span->its_count = 0;
    span->its_told = 0;
    span->its_final = span->asked = false;
}

static void ask(struct pug_jobs_span *span)
{
    const struct control control = {WANT, 0, span->its_count, 0};
    if (span->asked)
        return;
    span->asked = true;
    pug_peers_send(span->peers, span->right, PUG_PEERS_CONTROL, &control, sizeof(control));
}

static const struct place *find_place(const struct pug_jobs_span *span, uint64_t block)
{
    size_t low = 0, high = span->its_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (span->its[middle].block < block)
            low = middle + 1;
        else
            high = middle;
    }
    return low < span->its_count && span->its[low].block == block ? &span->its[low] : NULL;
}

/** Had the neighbour the same state before this block? */
static bool meets(struct pug_jobs_span *span, uint64_t block)
{
    look_right(span, block);
    if (span->right == span->peers->count)
        return false;
    while (!span->empty && !span->its_final && span->its_told < block) {
        ask(span);
        (void)listen(span, true);
    }
    const struct place *place = span->empty ? NULL : find_place(span, block);
    const struct hash hash = state_hash(span);
    return place && memcmp(&place->hash, &hash, sizeof(hash)) == 0;
}

/* ---- the caller's thread ---- */

/** A block of what was kept is read again, for the states. False: stop. */
static bool pass(struct pug_jobs_span *span, bool whole)
{
    while (listen(span, false))
        ;
    return !span->empty && pug_jobs_span_pass(span, whole);
}

/** What is behind the block that was taken. False: this process's part ends here. */
static bool go_on(struct pug_jobs_span *span, bool has_state)
{
    const struct pug_jobs_state *jobs = span->jobs;
    while (listen(span, false))
        ;
    if (span->keeps && has_state && jobs->taken >= span->next_place && jobs->taken < span->end)
        add_place(span);
    if (jobs->taken >= span->end)
        end_places(span);
    if (!span->empty && has_state && jobs->taken >= span->end && jobs->taken < jobs->blocks &&
        meets(span, jobs->taken)) {
        span->met = true;
        span->met_at = jobs->taken;
    }
    if (has_state && !span->met && !span->empty && !pug_jobs_span_keep(span, false))
        starve(span);
    return !span->met && !span->empty;
}

bool pug_jobs_span_chunk(struct pug_jobs_state *jobs, void *product)
{
    const struct pug_jobs_client *client = jobs->client;
    struct pug_jobs_span *span = jobs->span;
    if (span->wanted) {
        client->drop(client->context, product);
        return true;
    }
    if (!span->keeps)
        return client->take_chunk(client->context, product);
    if (!pug_products_chunk(span->products, product))
        starve(span);
    return true;
}

bool pug_jobs_span_block(struct pug_jobs_state *jobs, struct pug_jobs_block *block, uint64_t end)
{
    const struct pug_jobs_client *client = jobs->client;
    struct pug_jobs_span *span = jobs->span;
    const bool has_state = block->has_state;
    const bool whole = PUG_RESP_IS_CONT(block->response) && block->at == end;
    const bool kept = span->wanted;
    if (has_state)
        take_sections(span, &block->state, false);
    if (kept)
        client->drop(client->context, block->product);
    else if (span->keeps && !pug_products_block(span->products, block))
        starve(span);
    else if (!span->keeps && !client->take(client->context, block))
        span->empty = true; /* nobody wants the rest */
    pug_state_free(&block->state);
    return kept ? pass(span, whole) : go_on(span, has_state) && whole;
}

/* ---- the end ---- */

static void tell_right(struct pug_jobs_span *span)
{
    const struct pug_jobs_state *jobs = span->jobs;
    const unsigned heir = span->met ? span->right : span->peers->count;
    for (unsigned to = span->peers->number + 1; to < span->peers->count && to <= heir; to++) {
        const struct control control = {to == heir ? MEET : VOID, 0, span->met_at, 0};
        if (has_span(jobs, to))
            pug_peers_send(span->peers, to, PUG_PEERS_CONTROL, &control, sizeof(control));
    }
}

/** From which of its places on what this process has counts. */
static size_t first_place(const struct pug_jobs_span *span)
{
    size_t place = 0;
    while (place < span->count && span->places[place].block != span->from)
        place++;
    return place;
}

/** Nothing counts; that is kept, too. */
static void drop(struct pug_jobs_span *span)
{
    const bool known = span->dropped || !has_span(span->jobs, span->peers->number);
    pug_products_drop(span->products);
    span->over = true;
    if (!known && !pug_jobs_span_keep(span, true))
        starve(span);
}

void pug_jobs_span_finish(struct pug_jobs_state *jobs)
{
    struct pug_jobs_span *span = jobs->span;
    struct pug_peers *peers = span->peers;
    if (!has_span(jobs, peers->number))
        span->empty = peers->number > 0;
    end_places(span);
    if (!span->empty && !span->over) {
        span->over = true;
        if (!pug_jobs_span_keep(span, true))
            starve(span);
    }
    while (peers->number > 0 && !span->reached && !span->empty)
        (void)listen(span, true);
    if (peers->number == 0 || !span->empty)
        tell_right(span);
    if (peers->number > 0 && span->empty)
        drop(span);
    else if (span->dropped)
        pug_peers_fail(peers, "what was kept does not fit together");
    else if (peers->number > 0)
        pug_products_keep(span->products, first_place(span));
    if (!pug_products_give(span->products, peers, span->empty))
        starve(span);
}
