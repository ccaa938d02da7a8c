// SPDX-License-Identifier: MIT
/**
 * @file Common Trace Format 1.8: a stream for each track, in packets, and the text that describes
 * them. Little endian, without padding.
 */
#include "export/timeline_form.h"

#include <stdlib.h>
#include <string.h>

#define MAGIC       UINT32_C(0xc1fc1fc1)
#define PACKET_HEAD 36u    /* as `packet.header` and `packet.context` below say */
#define PACKET_FULL 16384u /* a packet that has so many bytes is written */

static const char types[] =
    "/* CTF 1.8 */\n"
    "typealias integer { size = 8; align = 8; signed = false; } := uint8_t;\n"
    "typealias integer { size = 32; align = 8; signed = false; } := uint32_t;\n"
    "typealias integer { size = 32; align = 8; signed = true; } := int32_t;\n"
    "typealias integer { size = 64; align = 8; signed = false; } := uint64_t;\n"
    "typealias integer { size = 64; align = 8; signed = true; } := int64_t;\n\n"
    "trace {\n"
    "    major = 1;\n"
    "    minor = 8;\n"
    "    byte_order = le;\n"
    "    packet.header := struct { uint32_t magic; };\n"
    "};\n\n";

static const char events[] =
    "typealias integer { size = 64; align = 8; signed = false; map = clock.trace.value; } := "
    "ticks_t;\n\n"
    "stream {\n"
    "    packet.context := struct {\n"
    "        uint64_t content_size; uint64_t packet_size;\n"
    "        ticks_t timestamp_begin; ticks_t timestamp_end;\n"
    "    };\n"
    "    event.header := struct { uint8_t id; ticks_t timestamp; };\n"
    "    event.context := struct { uint32_t track; };\n"
    "};\n\n"
    "event { name = enter; id = 0; fields := struct { string function; string file; uint32_t line; "
    "uint8_t estimated; }; };\n"
    "event { name = leave; id = 1; fields := struct { }; };\n"
    "event { name = instant; id = 2; fields := struct { string what; string detail; }; };\n"
    "event { name = counter; id = 3; fields := struct { string what; int64_t counter_value; }; "
    "};\n"
    "event { name = gap; id = 4; fields := struct { string why; uint64_t until; }; };\n"
    "event { name = track; id = 5; fields := struct { int32_t pid; int32_t tid; string title; }; "
    "};\n";

enum { ID_TRACK = 5 };

/** The packet of a track that is being filled. */
struct packet {
    struct pug_memory bytes;
    uint64_t first, last;
};

static bool begin(struct pug_timeline *timeline)
{
    timeline->form = NULL;
    return true;
}

static void put_number(struct packet *packet, uint64_t value, unsigned size)
{
    uint8_t bytes[8];
    struct pug_sink sink = pug_memory_sink(&packet->bytes);
    for (unsigned i = 0; i < size; i++)
        bytes[i] = (uint8_t)(value >> 8 * i);
    pug_sink_put(&sink, bytes, size);
}

static void put_text(struct packet *packet, const char *text)
{
    struct pug_sink sink = pug_memory_sink(&packet->bytes);
    pug_sink_put(&sink, text, strlen(text) + 1);
}

/** Its head, now that it is known, and away. */
static void put_packet(struct pug_timeline *timeline, uint32_t number, struct packet *packet)
{
    if (packet->bytes.count == 0)
        return;
    struct packet head = {0};
    put_number(&head, MAGIC, 4);
    put_number(&head, 8 * (uint64_t)packet->bytes.count, 8);
    put_number(&head, 8 * (uint64_t)packet->bytes.count, 8);
    put_number(&head, packet->first, 8);
    put_number(&head, packet->last, 8);
    if (packet->bytes.failed || head.bytes.failed) {
        timeline->status = PUG_ERR_MEM;
    } else if (timeline->status == PUG_OK) {
        memcpy(packet->bytes.bytes, head.bytes.bytes, PACKET_HEAD);
        if (!timeline->options.append(timeline->options.append_context, number, packet->bytes.bytes,
                                      packet->bytes.count))
            timeline->status = PUG_ERR_FILE;
    }
    free(head.bytes.bytes);
    packet->bytes.count = 0;
}

/** The head of an event, in the track's packet; NULL: no memory. */
static struct packet *begin_event(struct pug_timeline *timeline, uint32_t number, unsigned id,
                                  uint64_t time)
{
    static const uint8_t room[PACKET_HEAD];
    struct pug_timeline_track *track = &timeline->tracks[number];
    struct packet *packet = track->form;
    if (!packet)
        track->form = packet = calloc(1, sizeof(*packet));
    if (!packet) {
        timeline->status = PUG_ERR_MEM;
        return NULL;
    }
    if (packet->bytes.count >= PACKET_FULL)
        put_packet(timeline, number, packet);
    if (packet->bytes.count == 0) {
        struct pug_sink sink = pug_memory_sink(&packet->bytes);
        pug_sink_put(&sink, room, sizeof(room));
        packet->first = time;
    }
    packet->last = time;
    put_number(packet, id, 1);
    put_number(packet, time, 8);
    put_number(packet, number, 4);
    return packet;
}

/** The first event of a stream says whose it is. */
static void put_track(struct pug_timeline *timeline, uint32_t number, uint64_t time)
{
    const struct pug_timeline_track *track = &timeline->tracks[number];
    struct packet *packet = begin_event(timeline, number, ID_TRACK, time);
    if (!packet)
        return;
    put_number(packet, (uint32_t)track->pid, 4);
    put_number(packet, (uint32_t)track->tid, 4);
    put_text(packet, track->name);
}

static void event(struct pug_timeline *timeline, const struct pug_timeline_event *it)
{
    static const unsigned ids[] = {0, 1, 2, 3, 4};
    if (!timeline->tracks[it->track].started)
        put_track(timeline, it->track, it->time);
    struct packet *packet = begin_event(timeline, it->track, ids[it->kind], it->time);
    static char no_text[] = "";
    static const struct pug_timeline_name nameless = {.text = no_text};
    const struct pug_timeline_name *name =
        it->name < timeline->name_count ? &timeline->names[it->name] : &nameless;
    if (!packet)
        return;
    switch (it->kind) {
    case PUG_TIMELINE_ENTER:
        put_text(packet, name->text);
        put_text(packet, name->file ? name->file : "");
        put_number(packet, name->line, 4);
        put_number(packet, it->estimated, 1);
        break;
    case PUG_TIMELINE_INSTANT:
        put_text(packet, name->text);
        put_text(packet, it->detail ? it->detail : "");
        break;
    case PUG_TIMELINE_COUNTER:
        put_text(packet, name->text);
        put_number(packet, it->value, 8);
        break;
    case PUG_TIMELINE_GAP:
        put_text(packet, it->detail);
        put_number(packet, it->value, 8);
        break;
    case PUG_TIMELINE_LEAVE: break;
    }
}

/** A string of the description's language. */
static void put_quoted(struct pug_sink *sink, const char *text)
{
    pug_sink_text(sink, "\"");
    for (; *text; text++)
        if (*text == '"' || *text == '\\')
            pug_sink_format(sink, "\\%c", *text);
        else
            pug_sink_format(sink, "%c", (unsigned char)*text < 0x20 ? ' ' : *text);
    pug_sink_text(sink, "\"");
}

static void put_description(struct pug_timeline *timeline)
{
    struct pug_sink *sink = timeline->options.sink;
    pug_sink_text(sink, types);
    pug_sink_text(sink, "env {\n    tracer_name = \"pugmark\";\n    title = ");
    put_quoted(sink, timeline->options.title);
    pug_sink_text(sink, ";\n    unit = ");
    put_quoted(sink, timeline->options.unit);
    pug_sink_text(sink, ";\n};\n\nclock {\n    name = trace;\n    freq = 1000000000;\n};\n\n");
    pug_sink_text(sink, events);
}

static void end(struct pug_timeline *timeline)
{
    for (uint32_t i = 0; i < timeline->track_count; i++) {
        struct packet *packet = timeline->tracks[i].form;
        if (!packet)
            continue;
        put_packet(timeline, i, packet);
        free(packet->bytes.bytes);
        free(packet);
    }
    put_description(timeline);
}

const struct pug_timeline_functions pug_timeline_ctf = {begin, NULL, event, end, NULL};
