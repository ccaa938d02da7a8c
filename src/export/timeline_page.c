// SPDX-License-Identifier: MIT
/**
 * @file The form of a timeline that the report's page reads: bounded, whatever the trace holds.
 *
 * Slices are kept in lanes, one for each depth of a track. A lane holds slices that lasted at least
 * 2^level, each for itself, and cells: a cell stands for the shorter slices that began in the same
 * 2^level of time. It has the name of the longest of them and says how many they are. `level`
 * starts at 0 and rises when there is no more room. At the end coarser levels are made of the
 * finest one, for pages that show much time at once.
 *
 * Sums answer what ran in a span: time, instructions and calls of each function by itself, in cells
 * of their own size, which also doubles when there are too many. They are exact at the borders of
 * their cells.
 */
#include "export/timeline_page.h"

#include "export/timeline_form.h"
#include "text/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is open ---- */

static bool begin(struct pug_timeline *timeline)
{
    struct page_timeline *page = calloc(1, sizeof(*page));
    if (!page)
        return false;
    const uint32_t room = timeline->options.room;
    page->items_most = room ? room : PAGE_ITEMS;
    page->points_most = page->items_most / 4 + 16;
    page->sums.most = page->items_most / 2 + 16;
    page->last_sum = UINT32_MAX;
    timeline->form = page;
    return true;
}

static struct page_track *track_of(struct pug_timeline *timeline, uint32_t number)
{
    struct page_track *track = timeline->tracks[number].form;
    if (!track)
        timeline->tracks[number].form = track = calloc(1, sizeof(*track));
    if (!track)
        timeline->status = PUG_ERR_MEM;
    return track;
}

/** Room for one more; false: no memory. */
static bool make_room(struct pug_timeline *timeline, void **items, uint32_t *room, uint32_t count,
                      size_t size)
{
    if (count < *room)
        return true;
    const uint32_t wanted = 2 * *room + 16;
    void *grown = realloc(*items, wanted * size);
    if (!grown) {
        timeline->status = PUG_ERR_MEM;
        return false;
    }
    *items = grown;
    *room = wanted;
    return true;
}

static void enter(struct pug_timeline *timeline, struct page_track *track,
                  const struct pug_timeline_event *it)
{
    struct page_timeline *page = timeline->form;
    if (!make_room(timeline, (void **)&track->open, &track->open_room, track->open_count,
                   sizeof(*track->open)))
        return;
    track->open[track->open_count++] = (struct page_open){
        .start = it->time, .offset = track->offset, .name = it->name, .estimated = it->estimated};
    if (track->ran && !pug_page_sums_add(page, it->time, it->name, 0, 0, 1))
        timeline->status = PUG_ERR_MEM;
}

/** The lane of a depth; NULL: no memory. */
static struct page_lane *lane_of(struct pug_timeline *timeline, struct page_track *track,
                                 uint32_t depth)
{
    while (track->lane_count <= depth) {
        if (!make_room(timeline, (void **)&track->lanes, &track->lane_room, track->lane_count,
                       sizeof(*track->lanes)))
            return NULL;
        track->lanes[track->lane_count++] = (struct page_lane){.items = NULL};
    }
    return &track->lanes[depth];
}

static void keep(struct pug_timeline *timeline, struct page_track *track, uint32_t depth,
                 const struct page_item *item)
{
    struct page_timeline *page = timeline->form;
    struct page_lane *lane = depth < PAGE_DEPTHS ? lane_of(timeline, track, depth) : NULL;
    if (!lane) {
        page->too_deep += depth >= PAGE_DEPTHS;
        return;
    }
    if (lane->count > 0 && pug_page_item_join(&lane->items[lane->count - 1], item, page->level))
        return;
    if (!make_room(timeline, (void **)&lane->items, &lane->room, lane->count, sizeof(*lane->items)))
        return;
    lane->items[lane->count++] = *item;
    if (++page->item_count > page->items_most)
        pug_page_raise_level(timeline);
}

static void leave(struct pug_timeline *timeline, struct page_track *track, uint64_t time)
{
    if (track->open_count == 0)
        return;
    const struct page_open *open = &track->open[--track->open_count];
    const uint64_t took = time - open->start;
    keep(timeline, track, track->open_count,
         &(struct page_item){.start = open->start,
                             .end = time,
                             .busy = took,
                             .longest = took,
                             .offset = open->offset,
                             .count = 1,
                             .name = open->name,
                             .estimated = open->estimated});
}

static void take_gap(struct pug_timeline *timeline, struct page_track *track,
                     const struct pug_timeline_event *it)
{
    struct page_timeline *page = timeline->form;
    struct page_gap *last = track->gap_count > 0 ? &track->gaps[track->gap_count - 1] : NULL;
    track->time = it->value > track->time ? it->value : track->time;
    if (last && last->why == it->detail && (page->gap_count >= PAGE_GAPS || it->time <= last->to)) {
        last->to = it->value > last->to ? it->value : last->to;
        last->count++;
        return;
    }
    if (page->gap_count >= PAGE_GAPS + PAGE_GAPS ||
        !make_room(timeline, (void **)&track->gaps, &track->gap_room, track->gap_count,
                   sizeof(*track->gaps)) ||
        !track->gaps)
        return;
    page->gap_count++;
    track->gaps[track->gap_count++] =
        (struct page_gap){it->time, it->value, track->offset, 1, it->detail};
}

static void take_point(struct pug_timeline *timeline, struct page_track *track,
                       const struct pug_timeline_event *it)
{
    struct page_timeline *page = timeline->form;
    char *detail = NULL;
    if (it->detail && page->detail_bytes < PAGE_DETAILS) {
        detail = strdup(it->detail);
        page->detail_bytes += detail ? strlen(detail) + 1 : 0;
    }
    if (!make_room(timeline, (void **)&track->points, &track->point_room, track->point_count,
                   sizeof(*track->points))) {
        free(detail);
        return;
    }
    track->points[track->point_count++] =
        (struct page_point){.time = it->time,
                            .value = (int64_t)it->value,
                            .low = (int64_t)it->value,
                            .high = (int64_t)it->value,
                            .offset = track->offset,
                            .count = 1,
                            .name = it->name,
                            .is_counter = it->kind == PUG_TIMELINE_COUNTER,
                            .detail = detail};
    if (++page->point_count > page->points_most)
        pug_page_thin_points(timeline);
}

static void event(struct pug_timeline *timeline, const struct pug_timeline_event *it)
{
    struct page_track *track = track_of(timeline, it->track);
    if (!track)
        return;
    switch (it->kind) {
    case PUG_TIMELINE_ENTER: enter(timeline, track, it); break;
    case PUG_TIMELINE_LEAVE: leave(timeline, track, it->time); break;
    case PUG_TIMELINE_GAP: take_gap(timeline, track, it); break;
    default: take_point(timeline, track, it);
    }
}

/** The time since the last event belongs to the innermost slice. */
static void ran(struct pug_timeline *timeline, uint32_t number, uint64_t time,
                uint64_t instructions, uint64_t offset)
{
    struct page_timeline *page = timeline->form;
    struct page_track *track = track_of(timeline, number);
    if (!track)
        return;
    if (track->ran && time >= track->time && instructions >= track->instructions &&
        track->open_count > 0 &&
        !pug_page_sums_spread(page, track->time, time, track->open[track->open_count - 1].name,
                              instructions - track->instructions))
        timeline->status = PUG_ERR_MEM;
    if (!track->ran || time > track->time)
        track->time = time;
    track->instructions = instructions;
    track->offset = offset;
    track->ran = true;
}

/* ---- the end ---- */

static void free_track(struct page_track *track)
{
    if (!track)
        return;
    for (uint32_t i = 0; i < track->lane_count; i++)
        free(track->lanes[i].items);
    for (uint32_t i = 0; i < track->point_count; i++)
        free(track->points[i].detail);
    free(track->open);
    free(track->lanes);
    free(track->gaps);
    free(track->points);
    free(track);
}

static void end(struct pug_timeline *timeline)
{
    struct page_timeline *page = timeline->form;
    pug_page_timeline_write(timeline);
    for (uint32_t i = 0; i < timeline->track_count; i++)
        free_track(timeline->tracks[i].form);
    free(page->sums.table);
}

const struct pug_timeline_functions pug_timeline_page = {begin, NULL, event, end, ran};
