// SPDX-License-Identifier: MIT
#include "perf_info.h"

#include "command.h"
#include "output.h"
#include "pugmark/author/protocol.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/** A name from the file, for people: what is no printable character is shown as its number. */
static void put_name(const char *name)
{
    for (; *name; name++) {
        if ((unsigned char)*name < 0x20 || *name == 0x7f)
            output_text("\\x%02x", (unsigned char)*name);
        else
            output_text("%c", *name);
    }
}

static void print_facts(const struct pug_capture *capture)
{
    const char *name, *value;
    output_text("%s: %s\n", pug_capture_path(capture), pug_capture_title(capture));
    for (size_t n = 0; pug_capture_fact(capture, n, &name, &value); n++) {
        output_text("  ");
        put_name(name);
        output_text(": ");
        put_name(value);
        output_text("\n");
    }
    static const char *const units[] = {"none", "ticks", "nanoseconds"};
    const struct pug_capture_time times = pug_capture_times(capture);
    output_text("  times: %s (%s)", units[times.unit], times.origin);
    if (times.last)
        output_text(", %" PRIu64 " to %" PRIu64, times.first, times.last);
    output_text("\n");
}

/* ---- buffers ---- */

static void print_flags(uint32_t flags)
{
    static const char *const words[] = {"lost", "gaps", "snapshot", "collision", "raw"};
    for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (flags >> i & 1)
            output_text(", %s", words[i]);
}

static void print_stretches(const struct pug_capture *capture)
{
    const struct pug_capture_stretch *stretch;
    output_text("\nstretches:\n");
    for (size_t n = 0; (stretch = pug_capture_stretch_at(capture, n)) != NULL; n++) {
        output_text("  %s offset %" PRIu64 " size %" PRIu64 " time %" PRIu64,
                    pug_capture_buffer_at(capture, stretch->buffer)->name, stretch->offset,
                    stretch->size, stretch->time);
        print_flags(stretch->flags);
        output_text("\n");
    }
}

static void print_buffers(const struct pug_capture *capture)
{
    const struct pug_capture_buffer *buffer;
    const struct pug_capture_source *source;
    output_text("\nbuffers:\n");
    for (size_t n = 0; (buffer = pug_capture_buffer_at(capture, n)) != NULL; n++) {
        output_text("  %-12s %s, %zu stretches, %" PRIu64 " bytes%s\n", buffer->name,
                    buffer->transport, buffer->stretch_count, buffer->size,
                    buffer->chosen ? "" : " (not chosen)");
        for (size_t i = 0; (source = pug_capture_source_at(capture, i)) != NULL; i++)
            if (source->buffer == n)
                output_text("    source 0x%02x: %s, %s\n", source->id, source->name,
                            source->protocol);
    }
}

static void print_tasks(const struct pug_capture *capture)
{
    const struct pug_capture_task *task;
    output_text("\ntasks:\n");
    for (size_t n = 0; (task = pug_capture_task_at(capture, n)) != NULL; n++) {
        output_text("  pid %-7d tid %-7d ", task->pid, task->tid);
        put_name(*task->comm ? task->comm : "?");
        output_text("\n");
    }
}

/* ---- objects ---- */

static void print_object(const struct pug_capture_object *object)
{
    static const char *const states[] = {"found", "found, not verified", "another build", "missing",
                                         "unusable"};
    output_text("  ");
    put_name(object->path);
    output_text(": %s", states[object->state]);
    if (object->file && strcmp(object->file, object->path) != 0) {
        output_text(", ");
        put_name(object->file);
    }
    if (object->symbols) {
        output_text(", symbols ");
        put_name(object->symbols);
    }
    if (object->build_id_size > 0)
        output_text(", build id ");
    for (unsigned i = 0; i < object->build_id_size; i++)
        output_text("%02x", object->build_id[i]);
    output_text("\n");
}

static void print_objects(struct pug_capture *capture)
{
    const struct pug_capture_object *object;
    bool any = false;
    output_text("\nobjects:\n");
    for (size_t n = 0; (object = pug_capture_object_at(capture, n)) != NULL; n++)
        print_object(object);
    for (size_t n = 0; (object = pug_capture_object_at(capture, n)) != NULL; n++) {
        if (!object->why)
            continue;
        output_text("%s  ", any ? "" : "\nmissing:\n");
        put_name(object->path);
        output_text(": ");
        put_name(object->why);
        output_text("\n");
        any = true;
    }
}

/* ---- trace ---- */

/** What a pass over the packets counts, per protocol's source. */
struct tally {
    const struct pug_protocol *protocol;
    uint16_t id;
    uint32_t buffer;
    uint64_t packets, syncs, bad, bytes, unsynced;
};

struct tallies {
    struct tally *items;
    size_t count, room;
};

static void on_packet(void *context, enum pug_op op, const struct pug_packet *packet)
{
    struct tally *tally = context;
    if (op != PUG_OP_DATA)
        return;
    tally->packets++;
    tally->bad += (packet->flags & PUG_PACKET_BAD) != 0;
    tally->syncs += (packet->flags & PUG_PACKET_SYNC) != 0;
}

static struct tally *tally_of(struct tallies *tallies, uint32_t buffer, uint16_t id)
{
    for (size_t i = 0; i < tallies->count; i++)
        if (tallies->items[i].buffer == buffer && tallies->items[i].id == id)
            return &tallies->items[i];
    if (tallies->count == tallies->room)
        return NULL;
    tallies->items[tallies->count] = (struct tally){.buffer = buffer, .id = id};
    return &tallies->items[tallies->count++];
}

static void count_stretch(struct input *input, struct tallies *tallies)
{
    const uint32_t buffer = pug_capture_stretch_at(input->capture, input->stretch)->buffer;
    struct pug_source *source;
    for (size_t n = 0; (source = pug_tree_source_at(input->tree, n)) != NULL; n++) {
        struct tally *tally = tally_of(tallies, buffer, pug_source_id(source));
        if (tally)
            pug_source_monitor(source, on_packet, tally);
    }
    input_run(input, NULL, NULL);
    for (size_t n = 0; (source = pug_tree_source_at(input->tree, n)) != NULL; n++) {
        struct tally *tally = tally_of(tallies, buffer, pug_source_id(source));
        if (!tally)
            continue;
        tally->protocol = pug_source_protocol(source);
        tally->bytes += pug_source_stats(source)->bytes;
        tally->unsynced += pug_source_stats(source)->unsynced;
    }
}

static void print_tallies(const struct input *input, const struct tallies *tallies)
{
    if (tallies->count > 0)
        output_text("\ntrace:\n");
    for (size_t i = 0; i < tallies->count; i++) {
        const struct tally *tally = &tallies->items[i];
        if (tally->bytes > 0)
            output_text("  %s source 0x%02x: %s, %" PRIu64 " bytes, %" PRIu64 " packets, %" PRIu64
                        " bad, %" PRIu64 " bytes before synchronisation, %" PRIu64
                        " synchronisation points\n",
                        pug_capture_buffer_at(input->capture, tally->buffer)->name, tally->id,
                        tally->protocol->name, tally->bytes, tally->packets, tally->bad,
                        tally->unsynced, tally->syncs);
    }
}

/** Stretches are looked through one after the other. An exit code. */
static int count_trace(struct input *input, struct tallies *tallies)
{
    while (pug_capture_source_at(input->capture, tallies->room))
        tallies->room++;
    tallies->items = calloc(tallies->room + 1, sizeof(*tallies->items));
    if (!tallies->items)
        return EXIT_INPUT;
    if (!pug_capture_stretch_at(input->capture, 0) || tallies->room == 0)
        return EXIT_DONE;
    do
        if (input_tree(input, false))
            count_stretch(input, tallies);
    while (input_next(input));
    return input_result(input);
}

int perf_info(struct input *input, bool stretches)
{
    struct tallies tallies = {0};
    const int code = count_trace(input, &tallies);
    print_facts(input->capture);
    print_buffers(input->capture);
    if (stretches)
        print_stretches(input->capture);
    print_tallies(input, &tallies);
    print_tasks(input->capture);
    print_objects(input->capture);
    free(tallies.items);
    return code;
}
