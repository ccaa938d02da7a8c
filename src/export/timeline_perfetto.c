// SPDX-License-Identifier: MIT
/**
 * @file Perfetto's protobuf: a stream of TracePackets. Each track is a sequence of its own, with
 * its own interned names; the numbers are those of Perfetto's messages.
 */
#include "export/timeline_form.h"
#include "text/protobuf.h"

#include <stdlib.h>
#include <string.h>

enum { TRACE_PACKET = 1 };
enum {
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE = 10,
    PACKET_EVENT = 11,
    PACKET_INTERNED = 12,
    PACKET_FLAGS = 13,
    PACKET_DEFAULTS = 59,
    PACKET_TRACK = 60,
    PACKET_FIRST = 87,
};
enum {
    TRACK_UUID = 1,
    TRACK_NAME = 2,
    TRACK_PROCESS = 3,
    TRACK_THREAD = 4,
    TRACK_PARENT = 5,
    TRACK_COUNTER = 8
};
enum { PROCESS_PID = 1, PROCESS_NAME = 6, THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };
enum {
    EVENT_CATEGORY = 3,
    EVENT_ANNOTATION = 4,
    EVENT_TYPE = 9,
    EVENT_NAME = 10,
    EVENT_TRACK = 11,
    EVENT_NAME_TEXT = 23,
    EVENT_COUNTER = 30,
    EVENT_LOCATION = 34,
};
enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3, TYPE_COUNTER = 4 };
enum {
    INTERNED_CATEGORY = 1,
    INTERNED_NAME = 2,
    INTERNED_LOCATION = 4,
    INTERN_ID = 1,
    INTERN_TEXT = 2
};
enum { LOCATION_FILE = 2, LOCATION_FUNCTION = 3, LOCATION_LINE = 4 };
enum { ANNOTATION_NAME = 10, ANNOTATION_TEXT = 6, ANNOTATION_UINT = 3 };
enum { FLAG_CLEARED = 1, FLAG_NEEDED = 2 };

enum { CATEGORY_CALL = 1 };

/* A track's counters and its uuid are numbers of one space. */
#define UUID_OF_TRACK(n)             (((uint64_t)(n) + 1) << 32)
#define UUID_OF_COUNTER(track, name) (UUID_OF_TRACK(track) | ((uint64_t)(name) + 1))

/** Bits: the names that a sequence has got, two of each: as an event, as a counter. */
struct told {
    uint32_t words;
    uint32_t bits[];
};

struct perfetto {
    struct pug_protobuf packet, inner, deeper;
};

static bool begin(struct pug_timeline *timeline)
{
    timeline->form = calloc(1, sizeof(struct perfetto));
    return timeline->form != NULL;
}

static void put_packet(struct pug_timeline *timeline)
{
    struct perfetto *p = timeline->form;
    struct pug_protobuf head = {.memory = {0}};
    pug_protobuf_message(&head, TRACE_PACKET, &p->packet);
    if (head.memory.failed || p->inner.memory.failed || p->deeper.memory.failed)
        timeline->status = PUG_ERR_MEM;
    else
        pug_sink_put(timeline->options.sink, head.memory.bytes, head.memory.count);
    pug_protobuf_free(&head);
    pug_protobuf_clear(&p->packet);
}

/** Append what was put into `message` to `to`, as its field. */
static void put_message(struct pug_protobuf *to, unsigned field, struct pug_protobuf *message)
{
    pug_protobuf_message(to, field, message);
    pug_protobuf_clear(message);
}

/** The descriptor of a track, and the packet that begins its sequence. */
static void track(struct pug_timeline *timeline, uint32_t number)
{
    struct perfetto *p = timeline->form;
    const struct pug_timeline_track *it = &timeline->tracks[number];
    pug_protobuf_number(&p->packet, PACKET_SEQUENCE, (uint64_t)number + 1);
    pug_protobuf_number(&p->packet, PACKET_FLAGS, FLAG_CLEARED);
    pug_protobuf_number(&p->packet, PACKET_FIRST, 1);
    pug_protobuf_number(&p->deeper, EVENT_TRACK, UUID_OF_TRACK(number));
    put_message(&p->inner, 11, &p->deeper); /* TracePacketDefaults.track_event_defaults */
    put_message(&p->packet, PACKET_DEFAULTS, &p->inner);
    pug_protobuf_number(&p->inner, TRACK_UUID, UUID_OF_TRACK(number));
    if (it->tid >= 0) {
        pug_protobuf_number(&p->deeper, THREAD_PID, (uint64_t)(it->pid >= 0 ? it->pid : it->tid));
        pug_protobuf_number(&p->deeper, THREAD_TID, (uint64_t)it->tid);
        pug_protobuf_text(&p->deeper, THREAD_NAME, it->name);
        put_message(&p->inner, TRACK_THREAD, &p->deeper);
    } else {
        pug_protobuf_text(&p->inner, TRACK_NAME, it->name);
    }
    put_message(&p->packet, PACKET_TRACK, &p->inner);
    put_packet(timeline);
}

/** Is a name of a sequence new: as the name of events, or of a counter? From now on it is known. */
static bool must_tell(struct pug_timeline *timeline, uint32_t number, uint32_t text, bool counter)
{
    const uint32_t name = 2 * text + counter;
    struct pug_timeline_track *it = &timeline->tracks[number];
    struct told *told = it->form;
    if (!told || name / 32 >= told->words) {
        uint32_t words = name / 32 + name / 64 + 8, before = told ? told->words : 0;
        struct told *more = realloc(told, sizeof(*more) + words * sizeof(more->bits[0]));
        if (!more) {
            timeline->status = PUG_ERR_MEM;
            return false;
        }
        memset(more->bits + before, 0, (words - before) * sizeof(more->bits[0]));
        more->words = words;
        it->form = told = more;
    }
    const uint32_t bit = UINT32_C(1) << name % 32;
    bool is_new = !(told->bits[name / 32] & bit);
    told->bits[name / 32] |= bit;
    return is_new;
}

static void put_interned(struct pug_protobuf *to, struct pug_protobuf *room, unsigned field,
                         uint64_t id, const char *text)
{
    pug_protobuf_number(room, INTERN_ID, id);
    pug_protobuf_text(room, INTERN_TEXT, text);
    put_message(to, field, room);
}

/** Write the names that a sequence needs before an event. */
static void put_names(struct pug_timeline *timeline, const struct pug_timeline_event *it)
{
    struct perfetto *p = timeline->form;
    const struct pug_timeline_name *name = &timeline->names[it->name];
    const bool first = !timeline->tracks[it->track].started;
    const bool is_new = must_tell(timeline, it->track, it->name, false);
    if (first)
        put_interned(&p->inner, &p->deeper, INTERNED_CATEGORY, CATEGORY_CALL, "call");
    if (is_new)
        put_interned(&p->inner, &p->deeper, INTERNED_NAME, (uint64_t)it->name + 1, name->text);
    if (is_new && name->file) {
        pug_protobuf_number(&p->deeper, INTERN_ID, (uint64_t)it->name + 1);
        pug_protobuf_text(&p->deeper, LOCATION_FILE, name->file);
        pug_protobuf_text(&p->deeper, LOCATION_FUNCTION, name->text);
        pug_protobuf_number(&p->deeper, LOCATION_LINE, name->line);
        put_message(&p->inner, INTERNED_LOCATION, &p->deeper);
    }
    if (first || is_new)
        put_message(&p->packet, PACKET_INTERNED, &p->inner);
}

static void put_annotation(struct perfetto *p, const char *name, const char *text)
{
    pug_protobuf_text(&p->deeper, ANNOTATION_TEXT, text);
    pug_protobuf_text(&p->deeper, ANNOTATION_NAME, name);
    put_message(&p->inner, EVENT_ANNOTATION, &p->deeper);
}

static void put_head(struct pug_timeline *timeline, uint32_t number, uint64_t time)
{
    struct perfetto *p = timeline->form;
    pug_protobuf_number(&p->packet, PACKET_TIMESTAMP, time);
    pug_protobuf_number(&p->packet, PACKET_SEQUENCE, (uint64_t)number + 1);
}

static void put_event(struct pug_timeline *timeline)
{
    struct perfetto *p = timeline->form;
    put_message(&p->packet, PACKET_EVENT, &p->inner);
    pug_protobuf_number(&p->packet, PACKET_FLAGS, FLAG_NEEDED);
    put_packet(timeline);
}

static void put_plain(struct pug_timeline *timeline, uint32_t number, uint64_t time, unsigned type,
                      const char *name)
{
    struct perfetto *p = timeline->form;
    put_head(timeline, number, time);
    pug_protobuf_number(&p->inner, EVENT_TYPE, type);
    if (name)
        pug_protobuf_text(&p->inner, EVENT_NAME_TEXT, name);
    put_event(timeline);
}

/** A counter is a track of its own below the one it belongs to. */
static void put_counter_track(struct pug_timeline *timeline, const struct pug_timeline_event *it)
{
    struct perfetto *p = timeline->form;
    pug_protobuf_number(&p->packet, PACKET_SEQUENCE, (uint64_t)it->track + 1);
    pug_protobuf_number(&p->inner, TRACK_UUID, UUID_OF_COUNTER(it->track, it->name));
    pug_protobuf_number(&p->inner, TRACK_PARENT, UUID_OF_TRACK(it->track));
    pug_protobuf_text(&p->inner, TRACK_NAME, timeline->names[it->name].text);
    put_message(&p->inner, TRACK_COUNTER, &p->deeper);
    put_message(&p->packet, PACKET_TRACK, &p->inner);
    put_packet(timeline);
}

static void put_counter(struct pug_timeline *timeline, const struct pug_timeline_event *it)
{
    struct perfetto *p = timeline->form;
    if (must_tell(timeline, it->track, it->name, true))
        put_counter_track(timeline, it);
    put_head(timeline, it->track, it->time);
    pug_protobuf_number(&p->inner, EVENT_TYPE, TYPE_COUNTER);
    pug_protobuf_number(&p->inner, EVENT_TRACK, UUID_OF_COUNTER(it->track, it->name));
    pug_protobuf_number(&p->inner, EVENT_COUNTER, it->value);
    put_event(timeline);
}

static void event(struct pug_timeline *timeline, const struct pug_timeline_event *it)
{
    struct perfetto *p = timeline->form;
    switch (it->kind) {
    case PUG_TIMELINE_LEAVE: put_plain(timeline, it->track, it->time, TYPE_END, NULL); return;
    case PUG_TIMELINE_COUNTER: put_counter(timeline, it); return;
    case PUG_TIMELINE_GAP:
        put_plain(timeline, it->track, it->time, TYPE_BEGIN, it->detail);
        put_plain(timeline, it->track, it->value, TYPE_END, NULL);
        return;
    default: break;
    }
    put_head(timeline, it->track, it->time);
    put_names(timeline, it);
    pug_protobuf_number(&p->inner, EVENT_TYPE,
                        it->kind == PUG_TIMELINE_ENTER ? TYPE_BEGIN : TYPE_INSTANT);
    if (it->kind == PUG_TIMELINE_ENTER)
        pug_protobuf_number(&p->inner, EVENT_CATEGORY, CATEGORY_CALL);
    pug_protobuf_number(&p->inner, EVENT_NAME, (uint64_t)it->name + 1);
    if (timeline->names[it->name].file)
        pug_protobuf_number(&p->inner, EVENT_LOCATION, (uint64_t)it->name + 1);
    if (it->detail)
        put_annotation(p, "detail", it->detail);
    if (it->estimated)
        put_annotation(p, "time", "estimated");
    put_event(timeline);
}

static void end(struct pug_timeline *timeline)
{
    struct perfetto *p = timeline->form;
    for (uint32_t i = 0; i < timeline->track_count; i++)
        free(timeline->tracks[i].form);
    pug_protobuf_free(&p->packet);
    pug_protobuf_free(&p->inner);
    pug_protobuf_free(&p->deeper);
}

const struct pug_timeline_functions pug_timeline_perfetto = {begin, track, event, end, NULL};
