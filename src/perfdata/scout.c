// SPDX-License-Identifier: MIT
/**
 * @file The records of a long file by many threads. The index of AUXTRACE records says where some
 * of them are: from there each thread goes up to where another began. What depends on others, as
 * memory maps do, is only noted, and taken in order afterwards. A part that does not end where the
 * next begins, or cannot be done so, is walked through by one, with all behind it.
 */
#include "perfdata/perfdata.h"
#include "pugmark/jobs.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Shorter ones are done before threads are. */
#define LEAST (UINT64_C(32) << 20)

void pug_perf_take_index(struct pug_perf *perf, const uint8_t *bytes, size_t size)
{
    const size_t words = size / 8, first = words % 2; /* with or without their number */
    const size_t entries = words / 2;
    perf->bound_count = 0;
    for (unsigned i = 1; i < PUG_PERF_SCOUTS && entries >= PUG_PERF_SCOUTS; i++) {
        const size_t entry = entries * i / PUG_PERF_SCOUTS;
        perf->bounds[perf->bound_count++] = pug_bytes_64(bytes + 8 * (first + 2 * entry));
    }
}

struct party {
    struct pug_perf_scout scouts[PUG_PERF_SCOUTS];
    atomic_uint next;
    unsigned count;
};

static void *look(void *context)
{
    struct party *party = context;
    unsigned n;
    while ((n = atomic_fetch_add(&party->next, 1)) < party->count)
        pug_perf_walk_scout(&party->scouts[n]);
    return NULL;
}

/** Each on a thread of its own, this one included. */
static void look_together(struct party *party)
{
    pthread_t threads[PUG_PERF_SCOUTS];
    unsigned running = 0;
    const unsigned wanted = pug_jobs_processors();
    while (running + 1 < wanted && running + 1 < party->count &&
           pthread_create(&threads[running], NULL, look, party) == 0)
        running++;
    look(party);
    while (running > 0)
        pthread_join(threads[--running], NULL);
}

static void add_scout(struct party *party, const struct pug_perf *perf, uint64_t from, uint64_t end,
                      uint64_t limit)
{
    struct pug_perf_scout *scout = &party->scouts[party->count++];
    scout->perf = *perf;
    scout->perf.aux = scout->perf.auxtrace = (struct pug_list){0};
    scout->perf.order = 0;
    scout->perf.last_time = 0;
    scout->from = from;
    scout->end = end;
    scout->limit = limit;
}

static bool append(struct pug_list *list, const struct pug_list *more, size_t size)
{
    if (more->count == 0)
        return true;
    if (!pug_list_reserve(list, more->count, size))
        return false;
    memcpy((char *)list->items + list->count * size, more->items, more->count * size);
    list->count += more->count;
    return true;
}

/** What a scout found, behind what there is. */
static enum pug_status take(struct pug_perf *perf, const struct pug_perf_scout *scout)
{
    const uint32_t before = perf->order;
    struct pug_perf_aux *aux = scout->perf.aux.items;
    for (size_t i = 0; i < scout->perf.aux.count; i++) {
        aux[i].order += before;
        if (!perf->has_times)
            aux[i].time += before;
    }
    if (!append(&perf->aux, &scout->perf.aux, sizeof(struct pug_perf_aux)) ||
        !append(&perf->auxtrace, &scout->perf.auxtrace, sizeof(struct pug_perf_auxtrace)))
        return PUG_ERR_MEM;
    perf->has_aux |= scout->perf.has_aux;
    uint64_t last = scout->perf.last_time;
    if (last > 0 && !perf->has_times)
        last += before;
    if (last > perf->last_time)
        perf->last_time = last;
    const enum pug_status status = pug_perf_walk_others(perf, scout, before);
    perf->order = before + scout->perf.order;
    return status;
}

static enum pug_status take_all(struct pug_perf *perf, const struct party *party)
{
    for (unsigned i = 0; i < party->count; i++) {
        const struct pug_perf_scout *scout = &party->scouts[i];
        if (!scout->whole)
            return pug_perf_walk(perf, 0, scout->from, scout->limit);
        const enum pug_status status = take(perf, scout);
        if (status != PUG_OK)
            return status;
    }
    return PUG_OK;
}

enum pug_status pug_perf_walk_all(struct pug_perf *perf, uint64_t from, uint64_t end)
{
    if (end - from < LEAST || perf->bound_count == 0)
        return pug_perf_walk(perf, 0, from, end);
    struct party *party = calloc(1, sizeof(*party));
    if (!party)
        return PUG_ERR_MEM;
    const uint64_t limit = end;
    pug_perf_sort_ids(perf);
    uint64_t at = from;
    for (unsigned i = 0; i < perf->bound_count; i++) {
        if (perf->bounds[i] <= at || perf->bounds[i] >= limit)
            continue;
        add_scout(party, perf, at, perf->bounds[i], limit);
        at = perf->bounds[i];
    }
    add_scout(party, perf, at, limit, limit);
    look_together(party);
    const enum pug_status status = take_all(perf, party);
    for (unsigned i = 0; i < party->count; i++) {
        free(party->scouts[i].perf.aux.items);
        free(party->scouts[i].perf.auxtrace.items);
        free(party->scouts[i].others.items);
    }
    free(party);
    return status;
}
