// SPDX-License-Identifier: MIT
/**
 * @file The page's timeline as JSON. Lists are columns, and what grows is written as differences:
 * so it packs well. Times count from the first one on, since a script's numbers have 53 bits.
 */
#include "export/timeline_page.h"

#include "text/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Writing of one timeline. */
struct writing {
    struct pug_timeline *timeline;
    struct page_timeline *page;
    struct pug_json json;
    uint64_t first, last; /* of all times */
    uint32_t *name_of;    /* the number of each name in the page + 1; 0: not used */
    uint32_t *used;       /* names by that number */
    uint32_t used_count;
};

static const struct page_track *track_at(const struct writing *writing, uint32_t t)
{
    return writing->timeline->tracks[t].form;
}

static void see(struct writing *writing, uint64_t from, uint64_t to)
{
    writing->first = from < writing->first ? from : writing->first;
    writing->last = to > writing->last ? to : writing->last;
}

static void see_all(struct writing *writing)
{
    writing->first = UINT64_MAX;
    for (uint32_t t = 0; t < writing->timeline->track_count; t++) {
        const struct page_track *track = track_at(writing, t);
        for (uint32_t d = 0; track && d < track->lane_count; d++)
            for (uint32_t i = 0; i < track->lanes[d].count; i++)
                see(writing, track->lanes[d].items[i].start, track->lanes[d].items[i].end);
        for (uint32_t i = 0; track && i < track->point_count; i++)
            see(writing, track->points[i].time, track->points[i].time);
        for (uint32_t i = 0; track && i < track->gap_count; i++)
            see(writing, track->gaps[i].from, track->gaps[i].to);
    }
    if (writing->first > writing->last)
        writing->first = writing->last;
}

static uint32_t name_number(struct writing *writing, uint32_t name)
{
    if (!writing->name_of[name]) {
        writing->used[writing->used_count++] = name;
        writing->name_of[name] = writing->used_count;
    }
    return writing->name_of[name] - 1;
}

/* ---- lanes ---- */

enum item_column { START, LENGTH, NAME, COUNT, BUSY, LONGEST, OFFSET, ESTIMATED, ITEM_COLUMNS };
static const char *const item_names[] = {"start", "length",  "name",   "count",
                                         "busy",  "longest", "offset", "estimated"};

static void put_item_value(struct writing *writing, enum item_column column,
                           const struct page_item *item, const struct page_item *before)
{
    struct pug_json *json = &writing->json;
    switch (column) {
    case START:
        pug_json_number(json, NULL, item->start - (before ? before->start : writing->first));
        break;
    case LENGTH: pug_json_number(json, NULL, item->end - item->start); break;
    case NAME: pug_json_number(json, NULL, name_number(writing, item->name)); break;
    case COUNT: pug_json_number(json, NULL, item->count); break;
    case BUSY: pug_json_number(json, NULL, item->count > 1 ? item->busy : 0); break;
    case LONGEST: pug_json_number(json, NULL, item->count > 1 ? item->longest : 0); break;
    case OFFSET:
        pug_json_signed(json, NULL, (int64_t)(item->offset - (before ? before->offset : 0)));
        break;
    default: pug_json_number(json, NULL, item->estimated);
    }
}

static void put_lane(struct writing *writing, const struct page_lane *lane)
{
    struct pug_json *json = &writing->json;
    pug_json_object(json, NULL);
    for (unsigned column = 0; column < ITEM_COLUMNS; column++) {
        pug_json_array(json, item_names[column]);
        for (uint32_t i = 0; i < lane->count; i++)
            put_item_value(writing, (enum item_column)column, &lane->items[i],
                           i ? &lane->items[i - 1] : NULL);
        pug_json_close(json);
    }
    pug_json_close(json);
}

/** Of a lane only what is shorter than a level's width, in the cells of that level. */
static bool put_cells(struct writing *writing, const struct page_lane *lane, unsigned level)
{
    struct page_lane cells = {.items = malloc((lane->count + 1) * sizeof(*cells.items))};
    if (!cells.items)
        return false;
    for (uint32_t i = 0; i < lane->count; i++) {
        const struct page_item *item = &lane->items[i];
        if (item->longest >> level)
            continue;
        if (cells.count == 0 || !pug_page_item_join(&cells.items[cells.count - 1], item, level))
            cells.items[cells.count++] = *item;
    }
    put_lane(writing, &cells);
    free(cells.items);
    return true;
}

/** Coarser levels, until the whole time has few enough cells. */
static void put_levels(struct writing *writing, const struct page_track *track)
{
    struct pug_json *json = &writing->json;
    const uint64_t span = writing->last - writing->first;
    pug_json_array(json, "levels");
    for (unsigned level = writing->page->level + 1; level < 63 && span >> level >= PAGE_WIDE_CELLS;
         level++) {
        pug_json_object(json, NULL);
        pug_json_number(json, "level", level);
        pug_json_array(json, "lanes");
        for (uint32_t d = 0; d < track->lane_count; d++)
            if (!put_cells(writing, &track->lanes[d], level))
                writing->timeline->status = PUG_ERR_MEM;
        pug_json_close(json);
        pug_json_close(json);
    }
    pug_json_close(json);
}

/* ---- points and gaps ---- */

static int by_time(const void *a, const void *b)
{
    const struct page_point *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return x->name < y->name ? -1 : x->name > y->name;
}

/** A counter's value, which has a sign; as text where a script's numbers would round it. */
static void put_value(struct pug_json *json, int64_t value)
{
    char digits[24];
    if (value <= INT64_C(1) << 53 && value >= -(INT64_C(1) << 53)) {
        pug_json_signed(json, NULL, value);
        return;
    }
    snprintf(digits, sizeof(digits), "%" PRId64, value);
    pug_json_string(json, NULL, digits);
}

/** An instant: time, name, count, offset, text or null. A counter's value: the same, and values. */
static void put_points(struct writing *writing, const struct page_track *track, bool counters)
{
    struct pug_json *json = &writing->json;
    pug_json_array(json, counters ? "counters" : "instants");
    for (uint32_t i = 0; i < track->point_count; i++) {
        const struct page_point *it = &track->points[i];
        if (it->is_counter != counters)
            continue;
        pug_json_array(json, NULL);
        pug_json_number(json, NULL, it->time - writing->first);
        pug_json_number(json, NULL, name_number(writing, it->name));
        pug_json_number(json, NULL, it->count);
        pug_json_number(json, NULL, it->offset);
        if (counters) {
            put_value(json, it->value);
            put_value(json, it->low);
            put_value(json, it->high);
        } else {
            pug_json_string(json, NULL, it->detail);
        }
        pug_json_close(json);
    }
    pug_json_close(json);
}

static void put_gaps(struct writing *writing, const struct page_track *track)
{
    struct pug_json *json = &writing->json;
    pug_json_array(json, "gaps");
    for (uint32_t i = 0; i < track->gap_count; i++) {
        const struct page_gap *it = &track->gaps[i];
        pug_json_array(json, NULL);
        pug_json_number(json, NULL, it->from - writing->first);
        pug_json_number(json, NULL, it->to - writing->first);
        pug_json_string(json, NULL, it->why);
        pug_json_number(json, NULL, it->count);
        pug_json_number(json, NULL, it->offset);
        pug_json_close(json);
    }
    pug_json_close(json);
}

/* ---- tracks ---- */

static void put_track(struct writing *writing, uint32_t t)
{
    struct pug_json *json = &writing->json;
    const struct pug_timeline_track *track = &writing->timeline->tracks[t];
    struct page_track *it = track->form;
    char name[96];
    if (track->tid >= 0)
        snprintf(name, sizeof(name), "%.64s %" PRId32, track->name, track->tid);
    else
        snprintf(name, sizeof(name), "%.90s", track->name);
    if (it->point_count > 0)
        qsort(it->points, it->point_count, sizeof(*it->points), by_time);
    pug_json_object(json, NULL);
    pug_json_string(json, "name", name);
    pug_json_bool(json, "task", it->ran);
    pug_json_array(json, "lanes");
    for (uint32_t d = 0; d < it->lane_count; d++)
        put_lane(writing, &it->lanes[d]);
    pug_json_close(json);
    put_levels(writing, it);
    put_points(writing, it, false);
    put_points(writing, it, true);
    put_gaps(writing, it);
    pug_json_close(json);
}

/* ---- sums ---- */

static int by_cell(const void *a, const void *b)
{
    const struct page_sum *x = a, *y = b;
    if (x->cell != y->cell)
        return x->cell < y->cell ? -1 : 1;
    return x->name < y->name ? -1 : x->name > y->name;
}

static uint32_t gather_sums(struct page_sums *sums)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < sums->room; i++)
        if (sums->table[i].name)
            sums->table[count++] = sums->table[i];
    if (count > 0)
        qsort(sums->table, count, sizeof(*sums->table), by_cell);
    return count;
}

/** In order: difference of the cell, name, time, instructions, calls. */
static void put_sums(struct writing *writing)
{
    static const char *const names[] = {"cell", "name", "time", "instructions", "calls"};
    struct pug_json *json = &writing->json;
    struct page_sums *sums = &writing->page->sums;
    const uint32_t count = gather_sums(sums);
    const uint64_t first = count ? sums->table[0].cell : 0;
    pug_json_object(json, "sums");
    pug_json_number(json, "level", sums->level);
    /* The start of the first cell, which may be before the first time. */
    pug_json_signed(json, "begin", (int64_t)((first << sums->level) - writing->first));
    for (unsigned column = 0; column < 5; column++) {
        pug_json_array(json, names[column]);
        for (uint32_t i = 0; i < count; i++) {
            const struct page_sum *it = &sums->table[i];
            const uint64_t before = i ? sums->table[i - 1].cell : first;
            const uint64_t values[] = {it->cell - before,
                                       column == 1 ? name_number(writing, it->name - 1) : 0,
                                       it->time, it->instructions, it->calls};
            pug_json_number(json, NULL, values[column]);
        }
        pug_json_close(json);
    }
    pug_json_close(json);
}

/* ---- the whole ---- */

static void put_all(struct writing *writing)
{
    struct pug_timeline *timeline = writing->timeline;
    struct pug_json *json = &writing->json;
    pug_json_object(json, NULL);
    pug_json_string(json, "title", timeline->options.title);
    pug_json_string(json, "unit", timeline->options.unit);
    pug_json_number(json, "level", writing->page->level);
    pug_json_number(json, "span", writing->last - writing->first);
    pug_json_number(json, "too_deep", writing->page->too_deep);
    pug_json_array(json, "tracks");
    for (uint32_t t = 0; t < timeline->track_count; t++) {
        const struct page_track *track = track_at(writing, t);
        if (track && track->lane_count + track->point_count + track->gap_count > 0)
            put_track(writing, t);
    }
    pug_json_close(json);
    put_sums(writing);
    pug_json_array(json, "names");
    for (uint32_t i = 0; i < writing->used_count; i++)
        pug_json_string(json, NULL, timeline->names[writing->used[i]].text);
    pug_json_close(json);
    pug_json_close(json);
}

void pug_page_timeline_write(struct pug_timeline *timeline)
{
    struct writing writing = {.timeline = timeline, .page = timeline->form};
    writing.json = pug_json_begin(timeline->options.sink);
    writing.json.in_markup = true;
    writing.name_of = calloc((size_t)timeline->name_count + 1, sizeof(*writing.name_of));
    writing.used = calloc((size_t)timeline->name_count + 1, sizeof(*writing.used));
    see_all(&writing);
    if (writing.name_of && writing.used)
        put_all(&writing);
    else
        timeline->status = PUG_ERR_MEM;
    free(writing.name_of);
    free(writing.used);
}
