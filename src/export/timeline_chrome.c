// SPDX-License-Identifier: MIT
/**
 * @file Chrome's JSON. Its times are microseconds; those of another clock than the wall's are
 * written a tick a microsecond, and the unit stands in `otherData`.
 */
#include "export/timeline_form.h"
#include "text/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct chrome {
    struct pug_json json;
    bool wall; /* times are nanoseconds */
};

/** Exact, where a double is not: nanoseconds as microseconds with three digits after the point. */
static void put_time(struct chrome *chrome, const char *key, uint64_t time)
{
    char text[32];
    int length = chrome->wall ? snprintf(text, sizeof(text), "%" PRIu64 ".%03u", time / 1000,
                                         (unsigned)(time % 1000))
                              : snprintf(text, sizeof(text), "%" PRIu64, time);
    pug_json_literal(&chrome->json, key, text, (size_t)length);
}

static bool begin(struct pug_timeline *timeline)
{
    struct chrome *chrome = calloc(1, sizeof(*chrome));
    if (!chrome)
        return false;
    timeline->form = chrome;
    chrome->json = pug_json_begin(timeline->options.sink);
    chrome->wall = strcmp(timeline->options.unit, "ns") == 0;
    pug_json_object(&chrome->json, NULL);
    pug_json_string(&chrome->json, "displayTimeUnit", "ns");
    pug_json_object(&chrome->json, "otherData");
    pug_json_string(&chrome->json, "title", timeline->options.title);
    pug_json_string(&chrome->json, "unit", timeline->options.unit);
    pug_json_close(&chrome->json);
    pug_json_array(&chrome->json, "traceEvents");
    return true;
}

/** A track that is no thread is one of a process of its own kind. */
static void put_track(struct pug_timeline *timeline, uint32_t number)
{
    struct chrome *chrome = timeline->form;
    const struct pug_timeline_track *track = &timeline->tracks[number];
    pug_json_signed(&chrome->json, "pid", track->pid >= 0 ? track->pid : 0);
    pug_json_signed(&chrome->json, "tid", track->tid >= 0 ? track->tid : (int64_t)number + 1);
}

static void put_label(struct pug_timeline *timeline, uint32_t number, const char *what)
{
    struct pug_json *json = &((struct chrome *)timeline->form)->json;
    pug_sink_put(json->sink, "\n", 1);
    pug_json_object(json, NULL);
    pug_json_string(json, "ph", "M");
    pug_json_string(json, "name", what);
    put_track(timeline, number);
    pug_json_object(json, "args");
    pug_json_string(json, "name", timeline->tracks[number].name);
    pug_json_close(json);
    pug_json_close(json);
}

static void track(struct pug_timeline *timeline, uint32_t number)
{
    const struct pug_timeline_track *it = &timeline->tracks[number];
    if (it->pid >= 0 && it->pid == it->tid)
        put_label(timeline, number, "process_name");
    put_label(timeline, number, "thread_name");
}

static void put_arguments(struct pug_timeline *timeline, const struct pug_timeline_event *event,
                          const struct pug_timeline_name *name)
{
    struct pug_json *json = &((struct chrome *)timeline->form)->json;
    pug_json_object(json, "args");
    if (event->kind == PUG_TIMELINE_COUNTER)
        pug_json_signed(json, "value", (int64_t)event->value);
    if (event->detail)
        pug_json_string(json, "detail", event->detail);
    if (event->kind == PUG_TIMELINE_ENTER && name->file) {
        pug_json_string(json, "file", name->file);
        pug_json_number(json, "line", name->line);
    }
    if (event->estimated)
        pug_json_bool(json, "estimated", true);
    pug_json_close(json);
}

static void event(struct pug_timeline *timeline, const struct pug_timeline_event *it)
{
    static const char *const phases[] = {"B", "E", "i", "C", "X"};
    struct chrome *chrome = timeline->form;
    struct pug_json *json = &chrome->json;
    static char no_text[] = "";
    static const struct pug_timeline_name nameless = {.text = no_text};
    const struct pug_timeline_name *name =
        it->name < timeline->name_count ? &timeline->names[it->name] : &nameless;
    pug_sink_put(json->sink, "\n", 1);
    pug_json_object(json, NULL);
    pug_json_string(json, "ph", phases[it->kind]);
    if (it->kind == PUG_TIMELINE_GAP)
        pug_json_string(json, "name", it->detail);
    else if (it->kind != PUG_TIMELINE_LEAVE)
        pug_json_string(json, "name", name->text);
    put_track(timeline, it->track);
    put_time(chrome, "ts", it->time);
    if (it->kind == PUG_TIMELINE_GAP)
        put_time(chrome, "dur", it->value - it->time);
    if (it->kind == PUG_TIMELINE_ENTER)
        pug_json_string(json, "cat", "call");
    if (it->kind == PUG_TIMELINE_INSTANT)
        pug_json_string(json, "s", "t");
    if (it->kind == PUG_TIMELINE_COUNTER || (it->kind == PUG_TIMELINE_INSTANT && it->detail) ||
        it->estimated || (it->kind == PUG_TIMELINE_ENTER && name->file))
        put_arguments(timeline, it, name);
    pug_json_close(json);
}

static void end(struct pug_timeline *timeline)
{
    struct pug_json *json = &((struct chrome *)timeline->form)->json;
    pug_json_close(json);
    pug_json_close(json);
    pug_json_line(json);
}

const struct pug_timeline_functions pug_timeline_chrome = {begin, track, event, end, NULL};
