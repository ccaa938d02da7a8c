// SPDX-License-Identifier: MIT
/**
 * @file The records of a long file by many threads. The index of AUXTRACE records says where some
 * of them are: from there each thread goes up to where another began. What depends on others, as
 * memory maps do, is only noted, and taken in order afterwards. A part that does not end where the
 * next begins, or cannot be handled like this, is walked by one scout, together with everything
 * after it.
 */
#include "perfdata/perfdata.h"
#include "pugmark/advanced/jobs.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Shorter ones are done before threads are. */
#define LEAST (UINT64_C(32) << 20)

void pug_perf_take_index(struct pug_perf *perf, const uint8_t *bytes, size_t size)
{
    const size_t words = size / 8, first = words % 2; /* with or without their number */
    perf->index.count = 0;
    if (words < 2 || !pug_list_reserve(&perf->index, words / 2, sizeof(uint64_t)))
        return; /* it is read without */
    uint64_t *places = perf->index.items;
    for (size_t i = first; i < words; i += 2)
        places[perf->index.count++] = pug_bytes_64(bytes + 8 * i);
}

struct party {
    struct pug_perf *perf;
    struct pug_perf_scout scouts[PUG_PERF_SCOUTS];
    void (*work)(struct party *party, unsigned n);
    atomic_uint next;
    unsigned count;
};

static void *work(void *context)
{
    struct party *party = context;
    unsigned n;
    while ((n = atomic_fetch_add(&party->next, 1)) < party->count)
        party->work(party, n);
    return NULL;
}

/** So much of the work by each of these threads, this one included. */
static void work_together(struct party *party, void (*wanted)(struct party *party, unsigned n))
{
    pthread_t threads[PUG_PERF_SCOUTS];
    unsigned running = 0;
    const unsigned processors = pug_jobs_processors();
    party->work = wanted;
    atomic_store(&party->next, 0);
    while (running + 1 < processors && running + 1 < party->count &&
           pthread_create(&threads[running], NULL, work, party) == 0)
        running++;
    work(party);
    while (running > 0)
        pthread_join(threads[--running], NULL);
}

static void look(struct party *party, unsigned n)
{
    pug_perf_walk_scout(&party->scouts[n]);
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

/** What a scout found, in order and to its place among what all of them did. */
static void put(struct party *party, unsigned n)
{
    struct pug_perf *perf = party->perf;
    struct pug_perf_scout *scout = &party->scouts[n];
    struct pug_list *found = &scout->perf.auxtrace;
    pug_perf_sort_aux(&perf->aux_parts[n].list);
    if (found->count > 0)
        memcpy((struct pug_perf_auxtrace *)perf->auxtrace.items + scout->first_auxtrace,
               found->items, found->count * sizeof(struct pug_perf_auxtrace));
    free(found->items);
    *found = (struct pug_list){0};
}

/** The results of scout n follow the others', and so does its knowledge of the whole. */
static void make_place(struct pug_perf *perf, struct pug_perf_scout *scout, unsigned n,
                       uint32_t before)
{
    uint64_t last = scout->perf.last_time;
    scout->before = before;
    scout->first_auxtrace = perf->auxtrace.count;
    perf->aux_parts[n].list = scout->perf.aux;
    perf->aux_parts[n].before = before;
    perf->aux_parts[n].later = perf->has_times ? 0 : before;
    scout->perf.aux = (struct pug_list){0};
    perf->auxtrace.count += scout->perf.auxtrace.count;
    perf->has_aux |= scout->perf.has_aux;
    if (last > 0 && !perf->has_times)
        last += before;
    if (last > perf->last_time)
        perf->last_time = last;
}

/** All that scouts found up to the first one that did not come to its end. */
static enum pug_status take_all(struct pug_perf *perf, struct party *party)
{
    const unsigned all = party->count;
    enum pug_status status = PUG_OK;
    uint32_t before = perf->order;
    unsigned whole = 0;
    size_t pieces = 0;
    for (; whole < all && party->scouts[whole].whole; whole++)
        pieces += party->scouts[whole].perf.auxtrace.count;
    if (!pug_list_reserve_long(&perf->auxtrace, pieces, sizeof(struct pug_perf_auxtrace)))
        return PUG_ERR_MEM;
    for (unsigned i = 0; i < whole; i++) {
        make_place(perf, &party->scouts[i], i, before);
        before += party->scouts[i].perf.order;
    }
    party->count = whole;
    work_together(party, put);
    party->count = all;
    for (unsigned i = 0; i < whole && status == PUG_OK; i++)
        status = pug_perf_walk_others(perf, &party->scouts[i], party->scouts[i].before);
    perf->order = before;
    if (status != PUG_OK || whole == all)
        return status;
    return pug_perf_walk(perf, 0, party->scouts[whole].from, party->scouts[whole].limit);
}

/** The starts of the scouts: at places that the index gives. */
static void cut_parts(struct party *party, uint64_t from, uint64_t end)
{
    const struct pug_perf *perf = party->perf;
    const uint64_t *index = perf->index.items;
    uint64_t at = from;
    for (size_t i = 1; i < PUG_PERF_SCOUTS; i++) {
        const uint64_t bound = index[perf->index.count * i / PUG_PERF_SCOUTS];
        if (bound <= at || bound >= end)
            continue;
        add_scout(party, perf, at, bound, end);
        at = bound;
    }
    add_scout(party, perf, at, end, end);
}

static enum pug_status walk_together(struct pug_perf *perf, uint64_t from, uint64_t end)
{
    struct party *party = calloc(1, sizeof(*party));
    if (!party)
        return PUG_ERR_MEM;
    party->perf = perf;
    pug_perf_sort_ids(perf);
    cut_parts(party, from, end);
    work_together(party, look);
    const enum pug_status status = take_all(perf, party);
    for (unsigned i = 0; i < party->count; i++) {
        free(party->scouts[i].perf.aux.items);
        free(party->scouts[i].perf.auxtrace.items);
        free(party->scouts[i].others.items);
    }
    free(party);
    return status;
}

enum pug_status pug_perf_walk_all(struct pug_perf *perf, uint64_t from, uint64_t end)
{
    const enum pug_status status =
        end - from < LEAST || perf->index.count < PUG_PERF_SCOUTS || perf->aux.count > 0
            ? pug_perf_walk(perf, 0, from, end)
            : walk_together(perf, from, end);
    free(perf->index.items);
    perf->index = (struct pug_list){0};
    return status;
}
