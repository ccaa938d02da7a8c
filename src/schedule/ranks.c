// SPDX-License-Identifier: MIT
/** @file The protocol of ranges: who goes over into whose. docs/cluster.md says why. */
#include "schedule/ranks_internal.h"
#include "tree/embed.h"

#include <stdlib.h>
#include <string.h>

/* The state of every block is sent up to here, then those of more and more distant ones. */
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

/* ---- which process has which ---- */

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

bool pug_rank_range_wanted(const struct pug_jobs_state *jobs)
{
    struct pug_state state = {0};
    const bool wanted = pug_consumers_can_pack(jobs->client->consumers) && jobs->pieces > 1 &&
                        pug_tree_state(jobs->plan->tree, &state);
    pug_state_free(&state);
    return wanted;
}

bool pug_rank_range_open(struct pug_jobs_state *jobs)
{
    struct pug_peers *peers = jobs->plan->peers;
    struct pug_rank_range *range = jobs->range = calloc(1, sizeof(*range));
    if (!range)
        return false;
    range->jobs = jobs;
    range->peers = peers;
    range->begin = first_block(jobs, peers->number);
    range->end = first_block(jobs, peers->number + 1);
    range->right = peers->number;
    range->spacing = 1;
    range->next_place = range->begin;
    range->states = calloc(1 + jobs->sources, sizeof(*range->states));
    range->known = calloc(jobs->sources + 1, sizeof(*range->known));
    range->askers = calloc(peers->count, sizeof(*range->askers));
    range->products = pug_products_new(jobs->client);
    range->first = first_piece(jobs, peers->number);
    range->keeps = peers->number > 0 || peers->keep;
    return range->states && range->known && range->askers && range->products &&
           pug_rank_range_resume(range);
}

bool pug_rank_range_reads(struct pug_jobs_state *jobs)
{
    struct pug_rank_range *range = jobs->range;
    const unsigned number = range->peers->number;
    if (!has_span(jobs, number) || range->over || (range->begun && !range->missed))
        return false;
    range->begun = true;
    range->missed = false;
    jobs->begun = jobs->claimed = pug_rank_range_start(range);
    jobs->own = first_piece(jobs, number + 1);
    if (jobs->own <= jobs->begun)
        jobs->own = jobs->begun + 1;
    jobs->taken = jobs->begun * jobs->piece;
    return true;
}

void pug_rank_range_free(struct pug_rank_range *range)
{
    if (!range)
        return;
    pug_products_free(range->products);
    free(range->states);
    free(range->known);
    free(range->askers);
    free(range->places);
    free(range->its);
    free(range->wanted);
    free(range);
}

_Noreturn static void starve(const struct pug_rank_range *range)
{
    pug_peers_fail(range->peers, "out of memory");
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

static void take_sections(struct pug_rank_range *range, const struct pug_state *state, bool all)
{
    const uint8_t *at = state->bytes;
    range->states[0] = section_hash(pug_state_section(&at), true);
    for (size_t i = 0; i < range->jobs->sources; i++)
        take_section(&range->states[1 + i], pug_state_section(&at), all || range->known[i],
                     range->jobs->plan->tree);
}

void pug_rank_range_begin(struct pug_rank_range *range, const struct pug_state *state)
{
    take_sections(range, state, true);
}

void pug_rank_range_note(struct pug_jobs_state *jobs, const struct pug_jobs_strand *strand)
{
    for (size_t i = 0; i < jobs->sources; i++)
        jobs->range->known[i] = strand->seats[i].touched && strand->seats[i].at < jobs->taken;
}

static struct hash state_hash(const struct pug_rank_range *range)
{
    struct hash hash = {{1, 2}};
    for (size_t i = 0; i <= range->jobs->sources; i++)
        hash = mix(mix(hash, range->states[i].words[0]), range->states[i].words[1]);
    return hash;
}

/* ---- what neighbours say ---- */

static void put_places(struct pug_rank_range *range, unsigned to)
{
    struct asker *asker = &range->askers[to];
    const uint64_t left = range->count - asker->has, count = left < CHUNK ? left : CHUNK;
    const bool all = count == left;
    struct {
        struct control control;
        struct place places[CHUNK];
    } message = {.control = {PLACES, all && range->final, count, 0}};
    if (count > 0)
        memcpy(message.places, range->places + asker->has, count * sizeof(struct place));
    message.control.told = range->next_place - 1;
    if (!all)
        message.control.told = message.places[count - 1].block;
    asker->waits = false;
    pug_peers_send(range->peers, to, PUG_PEERS_CONTROL, &message,
                   sizeof(struct control) + (size_t)count * sizeof(struct place));
}

/** A process that waits for places gets the new ones. */
static void answer(struct pug_rank_range *range)
{
    for (unsigned i = 0; i < range->peers->number; i++)
        if (range->askers[i].waits && (range->count > range->askers[i].has || range->final))
            put_places(range, i);
}

void *pug_rank_range_room(void *items, size_t count, size_t *room, size_t more, size_t size)
{
    if (count + more <= *room)
        return items;
    *room = (count + more) * 2;
    void *grown = realloc(items, *room * size);
    if (!grown)
        free(items);
    return grown;
}

static void take_places(struct pug_rank_range *range, const struct control *control,
                        const uint8_t *places)
{
    const size_t count = (size_t)control->number;
    range->its = pug_rank_range_room(range->its, range->its_count, &range->its_room, count + 1,
                                     sizeof(struct place));
    if (!range->its)
        starve(range);
    if (count > 0)
        memcpy(range->its + range->its_count, places, count * sizeof(struct place));
    range->its_count += count;
    range->its_told = control->told;
    range->its_final = control->final;
    range->asked = false;
}

/** One message from a neighbour; false: there is none, and the call does not wait for it. */
static bool listen(struct pug_rank_range *range, bool wait)
{
    struct pug_peers_message message;
    struct control control;
    if (!pug_peers_receive(range->peers, PUG_PEERS_ANYBODY, PUG_PEERS_CONTROL, wait, &message))
        return false;
    memcpy(&control, message.bytes, sizeof(control));
    switch ((enum word)control.word) {
    case WANT:
        range->askers[message.from] = (struct asker){true, control.number};
        answer(range);
        break;
    case PLACES:
        if (message.from == range->right)
            take_places(range, &control, message.bytes + sizeof(control));
        break;
    case MEET:
        range->reached = true;
        range->from = control.number;
        break;
    case VOID: range->empty = true; break;
    }
    free(message.bytes);
    return true;
}

/* ---- for the process on the left ---- */

/** Products after this place are kept apart from those before it. */
static void add_place(struct pug_rank_range *range)
{
    struct pug_jobs_state *jobs = range->jobs;
    range->places =
        pug_rank_range_room(range->places, range->count, &range->room, 1, sizeof(*range->places));
    if (!range->places || !pug_products_cut(range->products))
        starve(range);
    range->places[range->count++] = (struct place){jobs->taken, state_hash(range)};
    if (range->count % DENSE_PLACES == 0)
        range->spacing *= range->spacing < jobs->piece ? jobs->piece : 2;
    range->next_place = jobs->taken + range->spacing;
    answer(range);
}

/** No more states in the range will be sent. */
static void end_places(struct pug_rank_range *range)
{
    if (range->final)
        return;
    range->final = true;
    answer(range);
}

/* ---- going over to the right ---- */

/** Ask the process that has the block, which is after this one's range. */
static void look_right(struct pug_rank_range *range, uint64_t block)
{
    const struct pug_jobs_state *jobs = range->jobs;
    unsigned right = range->right;
    while (right < range->peers->count &&
           (right == range->peers->number || first_block(jobs, right + 1) <= block))
        right++;
    if (right == range->right)
        return;
    range->right = right;
    range->its_count = 0;
    range->its_told = 0;
    range->its_final = range->asked = false;
}

static void ask(struct pug_rank_range *range)
{
    const struct control control = {WANT, 0, range->its_count, 0};
    if (range->asked)
        return;
    range->asked = true;
    pug_peers_send(range->peers, range->right, PUG_PEERS_CONTROL, &control, sizeof(control));
}

static const struct place *find_place(const struct pug_rank_range *range, uint64_t block)
{
    size_t low = 0, high = range->its_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (range->its[middle].block < block)
            low = middle + 1;
        else
            high = middle;
    }
    return low < range->its_count && range->its[low].block == block ? &range->its[low] : NULL;
}

/** Had the neighbour the same state before this block? */
static bool meets(struct pug_rank_range *range, uint64_t block)
{
    look_right(range, block);
    if (range->right == range->peers->count)
        return false;
    while (!range->empty && !range->its_final && range->its_told < block) {
        ask(range);
        (void)listen(range, true);
    }
    const struct place *place = range->empty ? NULL : find_place(range, block);
    const struct hash hash = state_hash(range);
    return place && memcmp(&place->hash, &hash, sizeof(hash)) == 0;
}

/* ---- the caller's thread ---- */

/** A block of what was kept is read again, for the states. False: stop. */
static bool pass(struct pug_rank_range *range, bool whole)
{
    while (listen(range, false))
        ;
    return !range->empty && pug_rank_range_pass(range, whole);
}

/** Handle what follows the block that was taken. False: this process's part ends here. */
static bool go_on(struct pug_rank_range *range, bool has_state)
{
    const struct pug_jobs_state *jobs = range->jobs;
    while (listen(range, false))
        ;
    if (range->keeps && has_state && jobs->taken >= range->next_place && jobs->taken < range->end)
        add_place(range);
    if (jobs->taken >= range->end)
        end_places(range);
    if (!range->empty && has_state && jobs->taken >= range->end && jobs->taken < jobs->blocks &&
        meets(range, jobs->taken)) {
        range->met = true;
        range->met_at = jobs->taken;
    }
    if (has_state && !range->met && !range->empty && !pug_rank_range_keep(range, false))
        starve(range);
    return !range->met && !range->empty;
}

bool pug_rank_range_chunk(struct pug_jobs_state *jobs, struct pug_parts *parts)
{
    const struct pug_jobs_client *client = jobs->client;
    struct pug_rank_range *range = jobs->range;
    if (range->wanted) {
        pug_parts_free(client->consumers, parts);
        return true;
    }
    if (!range->keeps)
        return client->take_chunk(client->context, parts);
    if (!pug_products_chunk(range->products, parts))
        starve(range);
    return true;
}

bool pug_rank_range_block(struct pug_jobs_state *jobs, struct pug_jobs_block *block, uint64_t end)
{
    const struct pug_jobs_client *client = jobs->client;
    struct pug_rank_range *range = jobs->range;
    const bool has_state = block->has_state;
    const bool whole = PUG_RESP_IS_CONT(block->response) && block->at == end;
    const bool kept = range->wanted;
    if (has_state)
        take_sections(range, &block->state, false);
    if (kept)
        pug_parts_free(client->consumers, block->parts);
    else if (range->keeps && !pug_products_block(range->products, block))
        starve(range);
    else if (!range->keeps && !client->take(client->context, block))
        range->empty = true; /* the rest is not needed */
    pug_state_free(&block->state);
    return kept ? pass(range, whole) : go_on(range, has_state) && whole;
}

/* ---- the end ---- */

static void tell_right(struct pug_rank_range *range)
{
    const struct pug_jobs_state *jobs = range->jobs;
    const unsigned heir = range->met ? range->right : range->peers->count;
    for (unsigned to = range->peers->number + 1; to < range->peers->count && to <= heir; to++) {
        const struct control control = {to == heir ? MEET : VOID, 0, range->met_at, 0};
        if (has_span(jobs, to))
            pug_peers_send(range->peers, to, PUG_PEERS_CONTROL, &control, sizeof(control));
    }
}

/** From which of its places on what this process has counts. */
static size_t first_place(const struct pug_rank_range *range)
{
    size_t place = 0;
    while (place < range->count && range->places[place].block != range->from)
        place++;
    return place;
}

/** Nothing counts; that is kept, too. */
static void drop(struct pug_rank_range *range)
{
    const bool known = range->dropped || !has_span(range->jobs, range->peers->number);
    pug_products_drop(range->products);
    range->over = true;
    if (!known && !pug_rank_range_keep(range, true))
        starve(range);
}

void pug_rank_range_finish(struct pug_jobs_state *jobs)
{
    struct pug_rank_range *range = jobs->range;
    struct pug_peers *peers = range->peers;
    if (!has_span(jobs, peers->number))
        range->empty = peers->number > 0;
    end_places(range);
    if (!range->empty && !range->over) {
        range->over = true;
        if (!pug_rank_range_keep(range, true))
            starve(range);
    }
    while (peers->number > 0 && !range->reached && !range->empty)
        (void)listen(range, true);
    if (peers->number == 0 || !range->empty)
        tell_right(range);
    if (peers->number > 0 && range->empty)
        drop(range);
    else if (range->dropped)
        pug_peers_fail(peers, "what was kept does not fit together");
    else if (peers->number > 0)
        pug_products_keep(range->products, first_place(range));
    if (!pug_products_give(range->products, peers, range->empty))
        starve(range);
}
