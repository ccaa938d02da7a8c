// SPDX-License-Identifier: MIT
/**
 * @file The report's own form of a timeline: slices as arrays, as many as a page can show. Where
 * there are more the shortest ones go, and the page says how short they were.
 */
#include "export/timeline_form.h"
#include "text/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLICES_MOST 60000u
#define EVENTS_MOST 20000u
#define POINTS_MOST 60000u

struct slice {
    uint64_t start, end;
    uint32_t track, depth, name;
    bool estimated;
};

/** A slice that is open. */
struct open {
    uint64_t start;
    uint32_t name;
    bool estimated;
};

struct lane {
    struct open *open;
    uint32_t count, room;
};

struct event {
    uint64_t from, to; /* a gap, or a moment */
    const char *why;   /* of a gap */
    char *detail;      /* of a moment; or NULL */
    uint32_t track, name;
};

/** A counter's value from a time on. */
struct point {
    uint64_t time, value;
    uint32_t track, name, order;
};

struct page {
    struct slice *slices;
    struct event *events;
    struct point *points;
    uint32_t slice_count, event_count, point_count;
    uint64_t events_gone, points_gone; /* there was no room for so many */
    uint64_t least;                    /* shorter ones are not kept */
    uint64_t gone;                     /* so many were not */
    uint64_t origin;
};

static bool begin(struct pug_timeline *timeline)
{
    struct page *page = calloc(1, sizeof(*page));
    if (!page)
        return false;
    page->slices = malloc(SLICES_MOST * sizeof(*page->slices));
    page->events = malloc(EVENTS_MOST * sizeof(*page->events));
    page->points = malloc(POINTS_MOST * sizeof(*page->points));
    timeline->form = page;
    if (page->slices && page->events && page->points)
        return true;
    free(page->slices);
    free(page->events);
    free(page->points);
    free(page);
    return false;
}

/** Make room: at least half of the slices that are kept were longer than the shorter half. */
static void drop_short(struct page *page)
{
    uint32_t kept = 0;
    page->least = page->least ? 2 * page->least : 1;
    for (uint32_t i = 0; i < page->slice_count; i++)
        if (page->slices[i].end - page->slices[i].start >= page->least)
            page->slices[kept++] = page->slices[i];
    page->gone += page->slice_count - kept;
    page->slice_count = kept;
}

static void keep(struct page *page, const struct slice *slice)
{
    while (page->slice_count == SLICES_MOST && page->least < UINT64_MAX / 2)
        drop_short(page);
    if (page->slice_count < SLICES_MOST && slice->end - slice->start >= page->least)
        page->slices[page->slice_count++] = *slice;
    else
        page->gone++;
}

static struct lane *lane_of(struct pug_timeline *timeline, uint32_t track)
{
    struct lane *lane = timeline->tracks[track].form;
    if (!lane)
        timeline->tracks[track].form = lane = calloc(1, sizeof(*lane));
    if (!lane)
        timeline->status = PUG_ERR_MEM;
    return lane;
}

static void enter(struct pug_timeline *timeline, struct lane *lane,
                  const struct pug_timeline_event *it)
{
    if (lane->count == lane->room) {
        uint32_t room = 2 * lane->room + 16;
        struct open *open = realloc(lane->open, room * sizeof(*open));
        if (!open) {
            timeline->status = PUG_ERR_MEM;
            return;
        }
        lane->open = open;
        lane->room = room;
    }
    lane->open[lane->count++] =
        (struct open){.start = it->time, .name = it->name, .estimated = it->estimated};
}

static void put_point(struct page *page, const struct pug_timeline_event *it)
{
    if (page->point_count == POINTS_MOST) {
        page->points_gone++;
        return;
    }
    page->points[page->point_count] = (struct point){.time = it->time,
                                                     .value = it->value,
                                                     .track = it->track,
                                                     .name = it->name,
                                                     .order = page->point_count};
    page->point_count++;
}

/** A gap or an instant. */
static void put_moment(struct pug_timeline *timeline, const struct pug_timeline_event *it)
{
    struct page *page = timeline->form;
    const bool gap = it->kind == PUG_TIMELINE_GAP;
    if (page->event_count == EVENTS_MOST) {
        page->events_gone++;
        return;
    }
    struct event *event = &page->events[page->event_count++];
    *event = (struct event){.from = it->time,
                            .to = gap ? it->value : it->time,
                            .why = gap ? it->detail : NULL,
                            .detail = !gap && it->detail ? strdup(it->detail) : NULL,
                            .track = it->track,
                            .name = it->name};
    if (!gap && it->detail && !event->detail)
        timeline->status = PUG_ERR_MEM;
}

static void event(struct pug_timeline *timeline, const struct pug_timeline_event *it)
{
    struct page *page = timeline->form;
    struct lane *lane = lane_of(timeline, it->track);
    if (!lane)
        return;
    if (it->kind == PUG_TIMELINE_COUNTER) {
        put_point(page, it);
    } else if (it->kind == PUG_TIMELINE_ENTER) {
        enter(timeline, lane, it);
    } else if (it->kind == PUG_TIMELINE_LEAVE && lane->count > 0) {
        const struct open *open = &lane->open[--lane->count];
        keep(page, &(struct slice){.start = open->start,
                                   .end = it->time,
                                   .track = it->track,
                                   .depth = lane->count,
                                   .name = open->name,
                                   .estimated = open->estimated});
    } else if (it->kind != PUG_TIMELINE_LEAVE) {
        put_moment(timeline, it);
    }
}

/* ---- writing ---- */

static int by_track(const void *a, const void *b)
{
    const struct slice *x = a, *y = b;
    if (x->track != y->track)
        return x->track < y->track ? -1 : 1;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->depth != y->depth)
        return x->depth < y->depth ? -1 : 1;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return x->name < y->name ? -1 : x->name > y->name;
}

/** Times are told from the first one on: a script's numbers have 53 bits. */
static uint64_t first_time(const struct page *page)
{
    uint64_t first = UINT64_MAX;
    for (uint32_t i = 0; i < page->slice_count; i++)
        first = page->slices[i].start < first ? page->slices[i].start : first;
    for (uint32_t i = 0; i < page->event_count; i++)
        first = page->events[i].from < first ? page->events[i].from : first;
    for (uint32_t i = 0; i < page->point_count; i++)
        first = page->points[i].time < first ? page->points[i].time : first;
    return first;
}

/** The first and last time of what is on a track beside slices. */
static void widen(const struct page *page, uint32_t track, uint64_t *first, uint64_t *last)
{
    for (uint32_t i = 0; i < page->event_count; i++) {
        const struct event *it = &page->events[i];
        if (it->track != track)
            continue;
        *first = it->from < *first ? it->from : *first;
        *last = it->to > *last ? it->to : *last;
    }
    for (uint32_t i = 0; i < page->point_count; i++) {
        const struct point *it = &page->points[i];
        if (it->track != track)
            continue;
        *first = it->time < *first ? it->time : *first;
        *last = it->time > *last ? it->time : *last;
    }
}

static void put_track(const struct pug_timeline *timeline, struct pug_json *json, uint32_t number,
                      const struct slice *slices, uint32_t count)
{
    const struct page *page = timeline->form;
    const uint64_t origin = page->origin;
    uint64_t first = count > 0 ? slices[0].start : UINT64_MAX, last = 0;
    uint32_t deepest = 0;
    for (uint32_t i = 0; i < count; i++) {
        last = slices[i].end > last ? slices[i].end : last;
        deepest = slices[i].depth > deepest ? slices[i].depth : deepest;
    }
    if (count == 0)
        widen(page, number, &first, &last);
    const struct pug_timeline_track *track = &timeline->tracks[number];
    char name[96];
    if (track->tid >= 0)
        snprintf(name, sizeof(name), "%.64s %" PRId32, track->name, track->tid);
    else
        snprintf(name, sizeof(name), "%.90s", track->name);
    pug_json_object(json, NULL);
    pug_json_string(json, "name", name);
    pug_json_number(json, "first", first - origin);
    pug_json_number(json, "last", last - origin);
    pug_json_number(json, "deepest", deepest);
    pug_json_array(json, "start");
    for (uint32_t i = 0; i < count; i++)
        pug_json_number(json, NULL, slices[i].start - origin);
    pug_json_close(json);
    pug_json_array(json, "end");
    for (uint32_t i = 0; i < count; i++)
        pug_json_number(json, NULL, slices[i].end - origin);
    pug_json_close(json);
    pug_json_array(json, "depth");
    for (uint32_t i = 0; i < count; i++)
        pug_json_number(json, NULL, slices[i].depth);
    pug_json_close(json);
    pug_json_array(json, "name_of");
    for (uint32_t i = 0; i < count; i++)
        pug_json_number(json, NULL, slices[i].name);
    pug_json_close(json);
    pug_json_array(json, "estimated");
    for (uint32_t i = 0; i < count; i++)
        pug_json_number(json, NULL, slices[i].estimated);
    pug_json_close(json);
    pug_json_close(json);
}

/** Tracks without slices that have something else to show are marked; a gap alone is nothing. */
static void mark_moments(const struct page *page, uint32_t *place)
{
    for (uint32_t i = 0; i < page->event_count; i++)
        if (place[page->events[i].track] == 0 && page->events[i].detail)
            place[page->events[i].track] = UINT32_MAX;
    for (uint32_t i = 0; i < page->point_count; i++)
        if (place[page->points[i].track] == 0)
            place[page->points[i].track] = UINT32_MAX;
}

/** Tracks by the order in which they stand in the file: those that have slices come first. */
static void put_tracks(struct pug_timeline *timeline, struct pug_json *json, uint32_t *place)
{
    struct page *page = timeline->form;
    uint32_t from = 0, tracks = 0;
    if (page->slice_count > 0)
        qsort(page->slices, page->slice_count, sizeof(*page->slices), by_track);
    pug_json_array(json, "tracks");
    while (from < page->slice_count) {
        uint32_t to = from;
        while (to < page->slice_count && page->slices[to].track == page->slices[from].track)
            to++;
        place[page->slices[from].track] = ++tracks;
        put_track(timeline, json, page->slices[from].track, &page->slices[from], to - from);
        from = to;
    }
    mark_moments(page, place);
    for (uint32_t i = 0; i < timeline->track_count; i++)
        if (place[i] == UINT32_MAX) {
            place[i] = ++tracks;
            put_track(timeline, json, i, NULL, 0);
        }
    pug_json_close(json);
}

static void put_events(const struct page *page, struct pug_json *json, const uint32_t *place,
                       bool gaps)
{
    const uint64_t origin = page->origin;
    pug_json_array(json, gaps ? "gaps" : "events");
    for (uint32_t i = 0; i < page->event_count; i++) {
        const struct event *it = &page->events[i];
        if ((it->why != NULL) != gaps || place[it->track] == 0)
            continue;
        pug_json_array(json, NULL);
        pug_json_number(json, NULL, place[it->track] - 1);
        pug_json_number(json, NULL, it->from - origin);
        if (gaps) {
            pug_json_number(json, NULL, it->to - origin);
            pug_json_string(json, NULL, it->why);
        } else {
            pug_json_number(json, NULL, it->name);
            if (it->detail)
                pug_json_string(json, NULL, it->detail);
        }
        pug_json_close(json);
    }
    pug_json_close(json);
}

static int by_counter(const void *a, const void *b)
{
    const struct point *x = a, *y = b;
    if (x->track != y->track)
        return x->track < y->track ? -1 : 1;
    if (x->name != y->name)
        return x->name < y->name ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

/** One counter: times and values side by side. */
static void put_counter(struct pug_json *json, const struct page *page, const struct point *points,
                        uint32_t count, uint32_t place)
{
    pug_json_object(json, NULL);
    pug_json_number(json, "track", place - 1);
    pug_json_number(json, "name", points[0].name);
    pug_json_array(json, "time");
    for (uint32_t i = 0; i < count; i++)
        pug_json_number(json, NULL, points[i].time - page->origin);
    pug_json_close(json);
    pug_json_array(json, "value");
    for (uint32_t i = 0; i < count; i++)
        pug_json_signed(json, NULL, (int64_t)points[i].value);
    pug_json_close(json);
    pug_json_close(json);
}

static void put_counters(struct page *page, struct pug_json *json, const uint32_t *place)
{
    if (page->point_count > 0)
        qsort(page->points, page->point_count, sizeof(*page->points), by_counter);
    pug_json_array(json, "counters");
    for (uint32_t from = 0, to; from < page->point_count; from = to) {
        const struct point *first = &page->points[from];
        for (to = from; to < page->point_count && page->points[to].track == first->track &&
                        page->points[to].name == first->name;)
            to++;
        put_counter(json, page, first, to - from, place[first->track]);
    }
    pug_json_close(json);
}

static void put_all(struct pug_timeline *timeline, uint32_t *place)
{
    struct page *page = timeline->form;
    struct pug_json json = pug_json_begin(timeline->options.sink);
    char note[256] = "";
    json.in_markup = true;
    page->origin = first_time(page);
    if (page->gone)
        snprintf(note, sizeof(note), "%" PRIu64 " calls shorter than %" PRIu64 " %s are left out.",
                 page->gone, page->least, timeline->options.unit);
    if (page->events_gone || page->points_gone)
        snprintf(note + strlen(note), sizeof(note) - strlen(note),
                 "%s%" PRIu64 " events and values behind the first ones are left out.",
                 *note ? " " : "", page->events_gone + page->points_gone);
    pug_json_object(&json, NULL);
    pug_json_string(&json, "title", timeline->options.title);
    pug_json_string(&json, "unit", timeline->options.unit);
    pug_json_string(&json, "note", note);
    put_tracks(timeline, &json, place);
    put_events(page, &json, place, false);
    put_events(page, &json, place, true);
    put_counters(page, &json, place);
    pug_json_array(&json, "names");
    for (uint32_t i = 0; i < timeline->name_count; i++)
        pug_json_string(&json, NULL, timeline->names[i].text ? timeline->names[i].text : "");
    pug_json_close(&json);
    pug_json_close(&json);
}

static void end(struct pug_timeline *timeline)
{
    struct page *page = timeline->form;
    uint32_t *place = calloc((size_t)timeline->track_count + 1, sizeof(*place));
    if (place)
        put_all(timeline, place);
    else
        timeline->status = PUG_ERR_MEM;
    free(place);
    for (uint32_t i = 0; i < timeline->track_count; i++) {
        struct lane *lane = timeline->tracks[i].form;
        if (lane)
            free(lane->open);
        free(lane);
    }
    for (uint32_t i = 0; i < page->event_count; i++)
        free(page->events[i].detail);
    free(page->slices);
    free(page->events);
    free(page->points);
}

const struct pug_timeline_functions pug_timeline_page = {begin, NULL, event, end};
