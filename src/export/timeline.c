// SPDX-License-Identifier: MIT
/** @file What all formats of timelines share: tracks and names by number, and that slices nest. */
#include "export/timeline_form.h"

#include <stdlib.h>
#include <string.h>

static const struct pug_timeline_functions *const forms[] = {
    [PUG_TIMELINE_PERFETTO] = &pug_timeline_perfetto,
    [PUG_TIMELINE_CHROME] = &pug_timeline_chrome,
    [PUG_TIMELINE_SPEEDSCOPE] = &pug_timeline_speedscope,
    [PUG_TIMELINE_CTF] = &pug_timeline_ctf,
    [PUG_TIMELINE_SLICES] = &pug_timeline_slices,
    [PUG_TIMELINE_PAGE] = &pug_timeline_page,
};

enum pug_status pug_timeline_new(enum pug_timeline_form form,
                                 const struct pug_timeline_output *options,
                                 struct pug_timeline **out)
{
    struct pug_timeline *timeline = calloc(1, sizeof(*timeline));
    if (!timeline)
        return PUG_ERR_MEM;
    *timeline = (struct pug_timeline){.functions = forms[form], .options = *options};
    if (!timeline->functions->begin(timeline)) {
        free(timeline);
        return PUG_ERR_MEM;
    }
    *out = timeline;
    return PUG_OK;
}

static void fail(struct pug_timeline *timeline, enum pug_status status)
{
    if (timeline->status == PUG_OK)
        timeline->status = status;
}

/** Room for number `n` in a table that is zero where nothing was put; NULL: no memory. */
static void *grown(void *items, uint32_t *count, uint32_t n, size_t size)
{
    if (n < *count)
        return items;
    size_t wanted = (size_t)n + n / 2 + 16;
    char *more = realloc(items, wanted * size);
    if (!more)
        return NULL;
    memset(more + *count * size, 0, (wanted - *count) * size);
    *count = (uint32_t)wanted;
    return more;
}

void pug_timeline_track(struct pug_timeline *timeline, uint32_t number,
                        const struct pug_track *what)
{
    void *tracks =
        grown(timeline->tracks, &timeline->track_count, number, sizeof(*timeline->tracks));
    char *name = strdup(what->name);
    if (tracks)
        timeline->tracks = tracks;
    if (!tracks || !name || timeline->tracks[number].name) {
        if (!tracks || !name)
            fail(timeline, PUG_ERR_MEM);
        free(name);
        return;
    }
    struct pug_timeline_track *track = &timeline->tracks[number];
    *track = (struct pug_timeline_track){.pid = what->pid, .tid = what->tid, .name = name};
    if (timeline->functions->track)
        timeline->functions->track(timeline, number);
}

void pug_timeline_name(struct pug_timeline *timeline, uint32_t number, const char *text,
                       const char *file, uint32_t line)
{
    void *names = grown(timeline->names, &timeline->name_count, number, sizeof(*timeline->names));
    if (names)
        timeline->names = names;
    if (names && timeline->names[number].text)
        return;
    char *copy = strdup(text), *place = file ? strdup(file) : NULL;
    if (!names || !copy || (file && !place)) {
        fail(timeline, PUG_ERR_MEM);
        free(copy);
        free(place);
        return;
    }
    timeline->names[number] = (struct pug_timeline_name){.text = copy, .file = place, .line = line};
}

/** The track, if it was declared; its time does not go back. */
static struct pug_timeline_track *track_of(struct pug_timeline *timeline,
                                           struct pug_timeline_event *event)
{
    if (event->track >= timeline->track_count || !timeline->tracks[event->track].name)
        return NULL;
    struct pug_timeline_track *track = &timeline->tracks[event->track];
    if (event->time < track->time)
        event->time = track->time;
    track->time = event->time;
    return track;
}

static void put(struct pug_timeline *timeline, struct pug_timeline_event event, bool named)
{
    struct pug_timeline_track *track = track_of(timeline, &event);
    if (!track || (event.kind == PUG_TIMELINE_LEAVE && track->depth == 0) ||
        (named && (event.name >= timeline->name_count || !timeline->names[event.name].text)))
        return;
    if (event.kind == PUG_TIMELINE_ENTER)
        track->depth++;
    if (event.kind == PUG_TIMELINE_LEAVE)
        track->depth--;
    timeline->functions->event(timeline, &event);
    track->started = true;
}

void pug_timeline_enter(struct pug_timeline *timeline, uint32_t track, uint64_t time, uint32_t name,
                        bool estimated)
{
    put(timeline,
        (struct pug_timeline_event){.kind = PUG_TIMELINE_ENTER,
                                    .track = track,
                                    .time = time,
                                    .name = name,
                                    .estimated = estimated},
        true);
}

void pug_timeline_leave(struct pug_timeline *timeline, uint32_t track, uint64_t time)
{
    put(timeline,
        (struct pug_timeline_event){.kind = PUG_TIMELINE_LEAVE, .track = track, .time = time},
        false);
}

void pug_timeline_instant(struct pug_timeline *timeline, uint32_t track, uint64_t time,
                          uint32_t name, const char *detail)
{
    put(timeline,
        (struct pug_timeline_event){.kind = PUG_TIMELINE_INSTANT,
                                    .track = track,
                                    .time = time,
                                    .name = name,
                                    .detail = detail},
        true);
}

void pug_timeline_counter(struct pug_timeline *timeline, uint32_t track, uint64_t time,
                          uint32_t name, uint64_t value)
{
    put(timeline,
        (struct pug_timeline_event){.kind = PUG_TIMELINE_COUNTER,
                                    .track = track,
                                    .time = time,
                                    .name = name,
                                    .value = value},
        true);
}

void pug_timeline_gap(struct pug_timeline *timeline, uint32_t track, uint64_t from, uint64_t to,
                      const char *why)
{
    put(timeline,
        (struct pug_timeline_event){.kind = PUG_TIMELINE_GAP,
                                    .track = track,
                                    .time = from,
                                    .value = to > from ? to : from,
                                    .detail = why},
        false);
}

void pug_timeline_ran(struct pug_timeline *timeline, uint32_t track, uint64_t time,
                      uint64_t instructions, uint64_t offset)
{
    if (timeline->functions->ran && track < timeline->track_count && timeline->tracks[track].name)
        timeline->functions->ran(timeline, track, time, instructions, offset);
}

enum pug_status pug_timeline_end(struct pug_timeline *timeline)
{
    for (uint32_t i = 0; i < timeline->track_count; i++)
        while (timeline->tracks[i].depth > 0)
            pug_timeline_leave(timeline, i, timeline->tracks[i].time);
    timeline->functions->end(timeline);
    enum pug_status status = timeline->status;
    for (uint32_t i = 0; i < timeline->track_count; i++)
        free(timeline->tracks[i].name);
    for (uint32_t i = 0; i < timeline->name_count; i++) {
        free(timeline->names[i].text);
        free(timeline->names[i].file);
    }
    free(timeline->tracks);
    free(timeline->names);
    free(timeline->form);
    free(timeline);
    return status;
}
