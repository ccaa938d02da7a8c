// SPDX-License-Identifier: MIT
/** @file Levels of the page's timeline: cells, points and sums by powers of two of time. */
#include "export/timeline_page.h"

#include <stdlib.h>
#include <string.h>

#define LEVEL_MOST 63u

/* ---- slices ---- */

static bool is_short(const struct page_item *item, unsigned level)
{
    return item->longest >> level == 0;
}

bool pug_page_item_join(struct page_item *item, const struct page_item *next, unsigned level)
{
    if (!is_short(item, level) || !is_short(next, level) ||
        item->start >> level != next->start >> level)
        return false;
    if (next->longest > item->longest) {
        item->longest = next->longest;
        item->name = next->name;
        item->offset = next->offset;
    }
    item->end = next->end > item->end ? next->end : item->end;
    item->busy += next->busy;
    item->count = item->count + next->count > item->count ? item->count + next->count : UINT32_MAX;
    item->estimated |= next->estimated;
    return true;
}

static void join_lane(struct page_lane *lane, unsigned level)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < lane->count; i++)
        if (kept == 0 || !pug_page_item_join(&lane->items[kept - 1], &lane->items[i], level))
            lane->items[kept++] = lane->items[i];
    lane->count = kept;
}

void pug_page_raise_level(struct pug_timeline *timeline)
{
    struct page_timeline *page = timeline->form;
    while (page->item_count > page->items_most / 4 * 3 && page->level < LEVEL_MOST) {
        page->level++;
        page->item_count = 0;
        for (uint32_t t = 0; t < timeline->track_count; t++) {
            struct page_track *track = timeline->tracks[t].form;
            for (uint32_t d = 0; track && d < track->lane_count; d++) {
                join_lane(&track->lanes[d], page->level);
                page->item_count += track->lanes[d].count;
            }
        }
    }
}

/* ---- points ---- */

static int by_name(const void *a, const void *b)
{
    const struct page_point *x = a, *y = b;
    if (x->is_counter != y->is_counter)
        return x->is_counter ? 1 : -1;
    if (x->name != y->name)
        return x->name < y->name ? -1 : 1;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/** For a counter, the last value counts. */
static bool join_point(struct page_timeline *page, struct page_point *point,
                       const struct page_point *next)
{
    if (point->name != next->name || point->is_counter != next->is_counter ||
        point->time >> page->point_level != next->time >> page->point_level)
        return false;
    point->value = next->value;
    point->low = next->low < point->low ? next->low : point->low;
    point->high = next->high > point->high ? next->high : point->high;
    point->count += next->count;
    page->detail_bytes -= next->detail ? strlen(next->detail) + 1 : 0;
    free(next->detail);
    return true;
}

static void thin_track(struct page_timeline *page, struct page_track *track)
{
    uint32_t kept = 0;
    qsort(track->points, track->point_count, sizeof(*track->points), by_name);
    for (uint32_t i = 0; i < track->point_count; i++)
        if (kept == 0 || !join_point(page, &track->points[kept - 1], &track->points[i]))
            track->points[kept++] = track->points[i];
    track->point_count = kept;
}

void pug_page_thin_points(struct pug_timeline *timeline)
{
    struct page_timeline *page = timeline->form;
    while (page->point_count > page->points_most / 4 * 3 && page->point_level < LEVEL_MOST) {
        page->point_level++;
        page->point_count = 0;
        for (uint32_t t = 0; t < timeline->track_count; t++) {
            struct page_track *track = timeline->tracks[t].form;
            if (!track || track->point_count == 0)
                continue;
            thin_track(page, track);
            page->point_count += track->point_count;
        }
    }
    /* One point is left of each name of each track: there are no more than names. */
    if (page->point_count > page->points_most)
        page->points_most = 2 * page->point_count;
}

/* ---- sums ---- */

/** The place of a sum in a table, or the free slot for it. */
static uint32_t slot_of(const struct page_sum *table, uint32_t room, uint64_t cell, uint32_t name)
{
    uint64_t hash = (cell * UINT64_C(0x9e3779b97f4a7c15)) ^ (name * UINT64_C(0xff51afd7ed558ccd));
    uint32_t at = (uint32_t)(hash >> 29) & (room - 1);
    while (table[at].name && (table[at].cell != cell || table[at].name != name))
        at = (at + 1) & (room - 1);
    return at;
}

/** The same sums in a table of so much room, in cells that are 2^wider as wide. */
static bool rebuild(struct page_sums *sums, uint32_t room, unsigned wider)
{
    struct page_sum *table = calloc(room, sizeof(*table));
    uint32_t count = 0;
    if (!table)
        return false;
    for (uint32_t i = 0; i < sums->room; i++) {
        const struct page_sum *from = &sums->table[i];
        if (!from->name)
            continue;
        struct page_sum *to = &table[slot_of(table, room, from->cell >> wider, from->name)];
        count += !to->name;
        to->name = from->name;
        to->cell = from->cell >> wider;
        to->time += from->time;
        to->instructions += from->instructions;
        to->calls += from->calls;
    }
    free(sums->table);
    sums->table = table;
    sums->room = room;
    sums->count = count;
    sums->level += wider;
    return true;
}

/** Cells are wide enough for all times that were seen, and there is room for one more sum. */
static bool prepare(struct page_sums *sums)
{
    unsigned wider = 0;
    while ((sums->last >> (sums->level + wider)) - (sums->first >> (sums->level + wider)) >=
           PAGE_SUM_CELLS)
        wider++;
    if (wider > 0 && !rebuild(sums, sums->room ? sums->room : 1024, wider))
        return false;
    while (sums->count >= sums->most && sums->level < LEVEL_MOST &&
           sums->last >> sums->level != sums->first >> sums->level)
        if (!rebuild(sums, sums->room, 1))
            return false;
    return 2 * (sums->count + 1) <= sums->room ||
           rebuild(sums, sums->room ? 2 * sums->room : 1024, 0);
}

static void see(struct page_sums *sums, uint64_t time)
{
    sums->first = !sums->seen || time < sums->first ? time : sums->first;
    sums->last = !sums->seen || time > sums->last ? time : sums->last;
    sums->seen = true;
}

bool pug_page_sums_add(struct page_timeline *page, uint64_t time, uint32_t name, uint64_t took,
                       uint64_t instructions, uint64_t calls)
{
    struct page_sums *sums = &page->sums;
    const uint64_t cell = time >> sums->level;
    struct page_sum *sum = page->last_sum < sums->room ? &sums->table[page->last_sum] : NULL;
    if (!sum || sum->name != name + 1 || sum->cell != cell) {
        see(sums, time);
        if (!prepare(sums))
            return false;
        page->last_sum = slot_of(sums->table, sums->room, time >> sums->level, name + 1);
        sum = &sums->table[page->last_sum];
        sums->count += !sum->name;
        sum->name = name + 1;
        sum->cell = time >> sums->level;
    }
    sum->time += took;
    sum->instructions += instructions;
    sum->calls += calls;
    return true;
}

/** span × part ÷ whole without overflow. */
static uint64_t share_of(uint64_t span, uint64_t part, uint64_t whole)
{
    for (; whole >> 32; whole >>= 1)
        part >>= 1;
    return whole ? span / whole * part + span % whole * part / whole : 0;
}

bool pug_page_sums_spread(struct page_timeline *page, uint64_t from, uint64_t to, uint32_t name,
                          uint64_t instructions)
{
    struct page_sums *sums = &page->sums;
    uint64_t given = 0;
    if (to == from)
        return instructions == 0 || pug_page_sums_add(page, from, name, 0, instructions, 0);
    see(sums, from);
    see(sums, to - 1);
    if (!prepare(sums))
        return false;
    for (uint64_t at = from; at < to;) {
        const uint64_t last = at | ((UINT64_C(1) << sums->level) - 1); /* of the cell */
        const uint64_t next = last >= to - 1 ? to : last + 1;
        const uint64_t upto =
            next == to ? instructions : share_of(instructions, next - from, to - from);
        if (!pug_page_sums_add(page, at, name, next - at, upto - given, 0))
            return false;
        given = upto;
        at = next;
    }
    return true;
}
