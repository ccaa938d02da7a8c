// SPDX-License-Identifier: MIT
/**
 * @file speedscope's evented profiles. Each profile is the events of one track on end, so what
 * comes of a track waits in pieces of a file that has no name.
 */
#include "export/timeline_form.h"
#include "files/scratch.h"
#include "text/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PIECE 1024u

/** An event as it waits. */
struct waiting {
    uint64_t time;
    uint32_t name;
    uint32_t is_leave;
};

/** The waiting events of a track. */
struct queue {
    uint64_t *pieces; /* where in the file each of PIECE events begins */
    size_t count, room;
    uint64_t first, last;
    uint32_t filled;
    uint32_t *open; /* names of slices that are open: an end names what it ends */
    uint32_t open_count, open_room;
    struct waiting events[PIECE];
};

struct speedscope {
    FILE *file;
    uint64_t end;
};

static bool begin(struct pug_timeline *timeline)
{
    timeline->form = calloc(1, sizeof(struct speedscope));
    return timeline->form != NULL;
}

static void fail(struct pug_timeline *timeline, enum pug_status status)
{
    if (timeline->status == PUG_OK)
        timeline->status = status;
}

static bool grow(void **items, uint64_t count, uint64_t room, size_t size)
{
    void *more = count < room ? *items : realloc(*items, (size_t)(2 * count + 16) * size);
    if (more)
        *items = more;
    return more != NULL;
}

/** Put a full piece into the file. */
static void put_away(struct pug_timeline *timeline, struct queue *queue)
{
    struct speedscope *form = timeline->form;
    if (!form->file && !(form->file = pug_scratch_stream())) {
        fail(timeline, PUG_ERR_FILE);
        return;
    }
    if (!grow((void **)&queue->pieces, queue->count, queue->room, sizeof(*queue->pieces))) {
        fail(timeline, PUG_ERR_MEM);
        return;
    }
    if (queue->count >= queue->room)
        queue->room = 2 * queue->count + 16;
    if (fwrite(queue->events, sizeof(queue->events), 1, form->file) != 1) {
        fail(timeline, PUG_ERR_FILE);
        return;
    }
    queue->pieces[queue->count++] = form->end;
    form->end += sizeof(queue->events);
    queue->filled = 0;
}

/** The name of the slice that an event opens or closes; false: no memory. */
static bool name_of(struct queue *queue, const struct pug_timeline_event *it, uint32_t *name)
{
    if (it->kind == PUG_TIMELINE_LEAVE) {
        *name = queue->open[--queue->open_count];
        return true;
    }
    if (!grow((void **)&queue->open, queue->open_count, queue->open_room, sizeof(*queue->open)))
        return false;
    if (queue->open_count >= queue->open_room)
        queue->open_room = 2 * queue->open_count + 16;
    *name = queue->open[queue->open_count++] = it->name;
    return true;
}

/** The format has calls alone: events, counters and gaps are not in it. */
static void event(struct pug_timeline *timeline, const struct pug_timeline_event *it)
{
    struct pug_timeline_track *track = &timeline->tracks[it->track];
    struct queue *queue = track->form;
    uint32_t name = 0;
    if (it->kind != PUG_TIMELINE_ENTER && it->kind != PUG_TIMELINE_LEAVE)
        return;
    if (!queue) {
        track->form = queue = calloc(1, sizeof(*queue));
        if (queue)
            queue->first = it->time;
    }
    if (!queue || (it->kind == PUG_TIMELINE_LEAVE && queue->open_count == 0) ||
        !name_of(queue, it, &name)) {
        fail(timeline, PUG_ERR_MEM);
        return;
    }
    queue->last = it->time;
    queue->events[queue->filled++] = (struct waiting){
        .time = it->time, .name = name, .is_leave = it->kind == PUG_TIMELINE_LEAVE};
    if (queue->filled == PIECE)
        put_away(timeline, queue);
    if (queue->filled == PIECE)
        queue->filled = 0; /* it failed; the status says so */
}

/* ---- the end ---- */

static const char *unit_of(const char *unit)
{
    return strcmp(unit, "ns") == 0 ? "nanoseconds" : "none";
}

static void put_events(struct pug_json *json, const struct waiting *events, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        pug_json_object(json, NULL);
        pug_json_string(json, "type", events[i].is_leave ? "C" : "O");
        pug_json_number(json, "frame", events[i].name);
        pug_json_number(json, "at", events[i].time);
        pug_json_close(json);
    }
}

static void put_profile(struct pug_timeline *timeline, struct pug_json *json,
                        const struct pug_timeline_track *track)
{
    struct speedscope *form = timeline->form;
    const struct queue *queue = track->form;
    pug_sink_put(json->sink, "\n", 1);
    pug_json_object(json, NULL);
    pug_json_string(json, "type", "evented");
    pug_json_string(json, "name", track->name);
    pug_json_string(json, "unit", unit_of(timeline->options.unit));
    pug_json_number(json, "startValue", queue->first);
    pug_json_number(json, "endValue", queue->last);
    pug_json_array(json, "events");
    for (size_t i = 0; i < queue->count; i++) {
        struct waiting events[PIECE];
        if (fseeko(form->file, (off_t)queue->pieces[i], SEEK_SET) != 0 ||
            fread(events, sizeof(events), 1, form->file) != 1) {
            fail(timeline, PUG_ERR_FILE);
            break;
        }
        put_events(json, events, PIECE);
    }
    put_events(json, queue->events, queue->filled);
    pug_json_close(json);
    pug_json_close(json);
}

/** Frames are numbered as names are; an unused number is a frame that nothing opens. */
static void put_frames(const struct pug_timeline *timeline, struct pug_json *json)
{
    uint32_t count = timeline->name_count;
    while (count > 0 && !timeline->names[count - 1].text)
        count--;
    pug_json_object(json, "shared");
    pug_json_array(json, "frames");
    for (uint32_t i = 0; i < count; i++) {
        const struct pug_timeline_name *name = &timeline->names[i];
        pug_json_object(json, NULL);
        pug_json_string(json, "name", name->text ? name->text : "");
        if (name->file) {
            pug_json_string(json, "file", name->file);
            pug_json_number(json, "line", name->line);
        }
        pug_json_close(json);
    }
    pug_json_close(json);
    pug_json_close(json);
}

static void end(struct pug_timeline *timeline)
{
    struct speedscope *form = timeline->form;
    struct pug_json json = pug_json_begin(timeline->options.sink);
    pug_json_object(&json, NULL);
    pug_json_string(&json, "$schema", "https://www.speedscope.app/file-format-schema.json");
    pug_json_string(&json, "name", timeline->options.title);
    pug_json_string(&json, "exporter", "pugmark");
    pug_json_array(&json, "profiles");
    for (uint32_t i = 0; i < timeline->track_count; i++)
        if (timeline->tracks[i].form)
            put_profile(timeline, &json, &timeline->tracks[i]);
    pug_json_close(&json);
    put_frames(timeline, &json);
    pug_json_close(&json);
    pug_json_line(&json);
    for (uint32_t i = 0; i < timeline->track_count; i++) {
        struct queue *queue = timeline->tracks[i].form;
        if (queue) {
            free(queue->pieces);
            free(queue->open);
        }
        free(queue);
    }
    if (form->file)
        fclose(form->file);
}

const struct pug_timeline_functions pug_timeline_speedscope = {begin, NULL, event, end, NULL};
