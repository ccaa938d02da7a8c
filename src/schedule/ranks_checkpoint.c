// SPDX-License-Identifier: MIT
/**
 * @file What is kept of a range while it is read, and how a later run goes on with it. States can
 * be compared, not read back: who goes on begins to read somewhat before, as if the trace began
 * there, and drops what that gives until the state is that which was kept. Where it does not become
 * that, it begins further to the left; in the end where the range begins.
 */
#include "schedule/ranks_internal.h"

#include <stdlib.h>
#include <string.h>

/** A number that separates the range from that of other plans. */
static uint64_t identity(const struct pug_jobs_state *jobs)
{
    const struct pug_jobs_plan *plan = jobs->plan;
    const uint64_t words[] = {plan->from,    plan->end,    plan->block,
                              plan->growth,  plan->widens, plan->piece,
                              jobs->sources, jobs->blocks, jobs->client->folds};
    uint64_t hash = 0;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        hash = pug_checkpoint_mix(hash, words[i]);
    return hash;
}

/* ---- keeping ---- */

bool pug_rank_range_keep(struct pug_rank_range *range, bool now)
{
    struct pug_state record = {0};
    if (!range->kept.keep || !(now || pug_checkpoint_due(&range->kept)))
        return true;
    pug_state_number(&record, range->jobs->taken);
    pug_state_number(&record, range->over);
    pug_state_number(&record, range->empty);
    pug_state_number(&record, range->met);
    pug_state_number(&record, range->met_at);
    pug_state_number(&record, range->right);
    pug_state_number(&record, range->final);
    pug_state_number(&record, range->next_place);
    pug_state_number(&record, range->spacing);
    pug_state_number(&record, range->count);
    pug_state_put(&record, range->places, range->count * sizeof(*range->places));
    pug_state_put(&record, range->states, (1 + range->jobs->sources) * sizeof(*range->states));
    const bool good = pug_products_note(range->products, &record);
    if (good)
        pug_checkpoint_save(&range->kept, &record);
    pug_state_free(&record);
    return good;
}

/* ---- going on ---- */

static bool take_places(struct pug_rank_range *range, struct pug_bytes *record)
{
    const uint64_t count = pug_bytes_take_64(record);
    const size_t size = count < pug_bytes_left(record) ? (size_t)count * sizeof(struct place) : 0;
    const uint8_t *at = count > 0 && size == 0 ? NULL : pug_bytes_take(record, size);
    if (at)
        range->places =
            pug_rank_range_room(NULL, 0, &range->room, (size_t)count + 1, sizeof(*range->places));
    if (!at || !range->places)
        return false;
    memcpy(range->places, at, size);
    range->count = (size_t)count;
    return true;
}

static bool take_states(struct pug_rank_range *range, struct pug_bytes *record)
{
    const size_t size = (1 + range->jobs->sources) * sizeof(*range->states);
    const uint8_t *at = pug_bytes_take(record, size);
    range->wanted = at ? malloc(size) : NULL;
    if (range->wanted)
        memcpy(range->wanted, at, size);
    return range->wanted != NULL;
}

static bool take_record(struct pug_rank_range *range, struct pug_bytes *record)
{
    range->goes_on = pug_bytes_take_64(record);
    range->over = pug_bytes_take_64(record);
    range->dropped = pug_bytes_take_64(record);
    range->met = pug_bytes_take_64(record);
    range->met_at = pug_bytes_take_64(record);
    range->right = (unsigned)pug_bytes_take_64(record);
    range->final = pug_bytes_take_64(record);
    range->next_place = pug_bytes_take_64(record);
    range->spacing = pug_bytes_take_64(record);
    return take_places(range, record) && take_states(range, record) &&
           pug_products_resume(range->products, range->kept.spool, record) && !record->bad;
}

/** As if nothing had been kept. */
static bool begin_anew(struct pug_rank_range *range)
{
    free(range->wanted);
    free(range->places);
    range->wanted = NULL;
    range->places = NULL;
    range->over = range->dropped = range->met = range->final = false;
    range->count = range->room = 0;
    range->goes_on = 0;
    range->met_at = 0;
    range->right = range->peers->number;
    range->next_place = range->begin;
    range->spacing = 1;
    return pug_products_open(range->products, range->kept.spool);
}

bool pug_rank_range_resume(struct pug_rank_range *range)
{
    uint8_t *bytes;
    struct pug_bytes record;
    pug_checkpoint_open(&range->kept, range->peers, identity(range->jobs));
    range->lead = 1;
    if (!range->kept.keep)
        return true;
    if (!pug_checkpoint_load(&range->kept, &bytes, &record))
        return begin_anew(range);
    const bool good = take_record(range, &record);
    free(bytes);
    return good || begin_anew(range);
}

size_t pug_rank_range_start(struct pug_rank_range *range)
{
    const size_t piece = (size_t)range->goes_on / range->jobs->piece;
    if (!range->wanted || piece <= range->first + range->lead)
        return range->first;
    const size_t start = piece - range->lead;
    range->lead *= 4;
    return start;
}

bool pug_rank_range_pass(struct pug_rank_range *range, bool whole)
{
    const struct pug_jobs_state *jobs = range->jobs;
    const size_t size = (1 + jobs->sources) * sizeof(*range->states);
    if (whole && jobs->taken < range->goes_on)
        return true;
    range->missed = jobs->taken < range->goes_on || memcmp(range->states, range->wanted, size) != 0;
    if (!range->missed) {
        free(range->wanted);
        range->wanted = NULL;
        return whole;
    }
    if (jobs->begun > range->first)
        return false;
    if (!begin_anew(range)) /* it is not what it was */
        pug_peers_fail(range->peers, "what was done cannot be kept");
    return false;
}
