// SPDX-License-Identifier: MIT
/**
 * @file What is kept of a span while it is read, and how a later run goes on with it. States can be
 * compared, not read back: who goes on begins to read somewhat before, as if the trace began there,
 * and drops what that gives until the state is that which was kept. Where it does not become that,
 * it begins further to the left; in the end where the span begins.
 */
#include "schedule/ranks_internal.h"

#include <stdlib.h>
#include <string.h>

/** What tells the span from that of other plans. */
static uint64_t identity(const struct pug_jobs_state *jobs)
{
    const struct pug_jobs_plan *plan = jobs->plan;
    const uint64_t words[] = {plan->from,    plan->end,    plan->block,
                              plan->growth,  plan->widens, plan->piece,
                              jobs->sources, jobs->blocks, jobs->client->travel->fold != NULL};
    uint64_t hash = 0;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        hash = pug_checkpoint_mix(hash, words[i]);
    return hash;
}

/* ---- keeping ---- */

bool pug_jobs_span_keep(struct pug_jobs_span *span, bool now)
{
    struct pug_state record = {0};
    if (!span->kept.keep || !(now || pug_checkpoint_due(&span->kept)))
        return true;
    pug_state_number(&record, span->jobs->taken);
    pug_state_number(&record, span->over);
    pug_state_number(&record, span->empty);
    pug_state_number(&record, span->met);
    pug_state_number(&record, span->met_at);
    pug_state_number(&record, span->right);
    pug_state_number(&record, span->final);
    pug_state_number(&record, span->next_place);
    pug_state_number(&record, span->spacing);
    pug_state_number(&record, span->count);
    pug_state_put(&record, span->places, span->count * sizeof(*span->places));
    pug_state_put(&record, span->states, (1 + span->jobs->sources) * sizeof(*span->states));
    const bool good = pug_products_note(span->products, &record);
    if (good)
        pug_checkpoint_save(&span->kept, &record);
    pug_state_free(&record);
    return good;
}

/* ---- going on ---- */

static bool take_places(struct pug_jobs_span *span, struct pug_bytes *record)
{
    const uint64_t count = pug_bytes_take_64(record);
    const size_t size = count < pug_bytes_left(record) ? (size_t)count * sizeof(struct place) : 0;
    const uint8_t *at = count > 0 && size == 0 ? NULL : pug_bytes_take(record, size);
    if (at)
        span->places =
            pug_jobs_span_room(NULL, 0, &span->room, (size_t)count + 1, sizeof(*span->places));
    if (!at || !span->places)
        return false;
    memcpy(span->places, at, size);
    span->count = (size_t)count;
    return true;
}

static bool take_states(struct pug_jobs_span *span, struct pug_bytes *record)
{
    const size_t size = (1 + span->jobs->sources) * sizeof(*span->states);
    const uint8_t *at = pug_bytes_take(record, size);
    span->wanted = at ? malloc(size) : NULL;
    if (span->wanted)
        memcpy(span->wanted, at, size);
    return span->wanted != NULL;
}

static bool take_record(struct pug_jobs_span *span, struct pug_bytes *record)
{
    span->goes_on = pug_bytes_take_64(record);
    span->over = pug_bytes_take_64(record);
    span->dropped = pug_bytes_take_64(record);
    span->met = pug_bytes_take_64(record);
    span->met_at = pug_bytes_take_64(record);
    span->right = (unsigned)pug_bytes_take_64(record);
    span->final = pug_bytes_take_64(record);
    span->next_place = pug_bytes_take_64(record);
    span->spacing = pug_bytes_take_64(record);
    return take_places(span, record) && take_states(span, record) &&
           pug_products_resume(span->products, span->kept.spool, record) && !record->bad;
}

/** As if nothing had been kept. */
static bool begin_anew(struct pug_jobs_span *span)
{
    free(span->wanted);
    free(span->places);
    span->wanted = NULL;
    span->places = NULL;
    span->over = span->dropped = span->met = span->final = false;
    span->count = span->room = 0;
    span->goes_on = 0;
    span->met_at = 0;
    span->right = span->peers->number;
    span->next_place = span->begin;
    span->spacing = 1;
    return pug_products_open(span->products, span->kept.spool);
}

bool pug_jobs_span_resume(struct pug_jobs_span *span)
{
    uint8_t *bytes;
    struct pug_bytes record;
    pug_checkpoint_open(&span->kept, span->peers, identity(span->jobs));
    span->lead = 1;
    if (!span->kept.keep)
        return true;
    if (!pug_checkpoint_load(&span->kept, &bytes, &record))
        return begin_anew(span);
    const bool good = take_record(span, &record);
    free(bytes);
    return good || begin_anew(span);
}

size_t pug_jobs_span_start(struct pug_jobs_span *span)
{
    const size_t piece = (size_t)span->goes_on / span->jobs->piece;
    if (!span->wanted || piece <= span->first + span->lead)
        return span->first;
    const size_t start = piece - span->lead;
    span->lead *= 4;
    return start;
}

bool pug_jobs_span_pass(struct pug_jobs_span *span, bool whole)
{
    const struct pug_jobs_state *jobs = span->jobs;
    const size_t size = (1 + jobs->sources) * sizeof(*span->states);
    if (whole && jobs->taken < span->goes_on)
        return true;
    span->missed = jobs->taken < span->goes_on || memcmp(span->states, span->wanted, size) != 0;
    if (!span->missed) {
        free(span->wanted);
        span->wanted = NULL;
        return whole;
    }
    if (jobs->begun > span->first)
        return false;
    if (!begin_anew(span)) /* it is not what it was */
        pug_peers_fail(span->peers, "what was done cannot be kept");
    return false;
}
