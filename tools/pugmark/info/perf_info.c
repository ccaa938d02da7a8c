// SPDX-License-Identifier: MIT
#include "perf_info.h"

#include "common/command.h"
#include "common/output.h"
#include "pugmark/author/protocol.h"
#include "tally.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/** A name from the file, for people: what is no printable character is shown as its number. */
static void put_name(const char *name)
{
    pug_sink_printable(output_sink(), name);
}

static void print_times(const char *what, const struct pug_capture_time *times)
{
    static const char *const units[] = {"none", "ticks", "nanoseconds"};
    output_text("%s: %s (%s)", what, units[times->unit], times->origin);
    if (times->last)
        output_text(", %" PRIu64 " to %" PRIu64, times->first, times->last);
    output_text("\n");
}

void capture_info_times(const struct pug_capture *capture)
{
    const struct pug_capture_time times = pug_capture_times(capture);
    print_times("times", &times);
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
    const struct pug_capture_time times = pug_capture_times(capture);
    const struct pug_capture_time records = pug_capture_record_times(capture);
    output_text("  ");
    capture_info_times(capture);
    if (records.unit != times.unit || strcmp(records.origin, times.origin) != 0)
        print_times("  times of records", &records);
}

/* ---- buffers ---- */

static void print_flags(uint32_t flags)
{
    static const char *const words[] = {"lost", "gaps", "snapshot", "collision", "raw"};
    for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (flags >> i & 1)
            output_text(", %s", words[i]);
}

static void print_segments(const struct pug_capture *capture)
{
    const struct pug_capture_segment *segment;
    output_text("\nstretches:\n");
    for (size_t n = 0; (segment = pug_capture_segment_at(capture, n)) != NULL; n++) {
        output_text("  %s offset %" PRIu64 " size %" PRIu64 " time %" PRIu64,
                    pug_capture_buffer_at(capture, segment->buffer)->name, segment->offset,
                    segment->size, segment->time);
        print_flags(segment->flags);
        output_text("\n");
    }
}

/** The sources of each buffer, in their order. */
struct sources {
    size_t *first; /**< by buffer */
    size_t *next;  /**< by source */
    size_t count;
};

#define NO_SOURCE SIZE_MAX

static void sources_free(struct sources *sources)
{
    free(sources->first);
    free(sources->next);
}

/** False: no memory. */
static bool sources_list(struct sources *sources, const struct pug_capture *capture)
{
    size_t buffers = 0;
    while (pug_capture_buffer_at(capture, buffers))
        buffers++;
    while (pug_capture_source_at(capture, sources->count))
        sources->count++;
    sources->first = calloc(buffers + 1, sizeof(*sources->first));
    sources->next = calloc(sources->count + 1, sizeof(*sources->next));
    if (!sources->first || !sources->next)
        return false;
    for (size_t n = 0; n < buffers; n++)
        sources->first[n] = NO_SOURCE;
    for (size_t n = sources->count; n-- > 0;) {
        size_t *first = &sources->first[pug_capture_source_at(capture, n)->buffer];
        sources->next[n] = *first;
        *first = n;
    }
    return true;
}

static void print_buffers(const struct pug_capture *capture, const struct sources *sources)
{
    const struct pug_capture_buffer *buffer;
    output_text("\nbuffers:\n");
    for (size_t n = 0; (buffer = pug_capture_buffer_at(capture, n)) != NULL; n++) {
        output_text("  %-12s %s, %zu stretches, %" PRIu64 " bytes%s\n", buffer->name,
                    buffer->transport, buffer->segment_count, buffer->size,
                    buffer->chosen ? "" : " (not chosen)");
        for (size_t i = sources->first[n]; i != NO_SOURCE; i = sources->next[i]) {
            const struct pug_capture_source *source = pug_capture_source_at(capture, i);
            output_text("    source 0x%02x: %s, %s\n", source->id, source->name, source->protocol);
        }
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

/** What a pass over the packets counts of one source in all segments of its buffer. */
struct counted {
    struct tally tally;
    const struct pug_protocol *protocol; /**< NULL: no segment was decoded */
    uint64_t bytes, unsynced;
};

/** NULL: it is no source of the buffer. */
static struct counted *counted_of(const struct input *input, const struct sources *sources,
                                  struct counted *counted, uint16_t id)
{
    const uint32_t buffer = pug_capture_segment_at(input->capture, input->segment)->buffer;
    size_t n = sources->first[buffer];
    while (n != NO_SOURCE && pug_capture_source_at(input->capture, n)->id != id)
        n = sources->next[n];
    return n != NO_SOURCE ? &counted[n] : NULL;
}

static void count_segment(struct input *input, const struct sources *sources, struct counted *all)
{
    struct pug_source *source;
    for (size_t n = 0; (source = pug_tree_source_at(input->tree, n)) != NULL; n++) {
        struct counted *counted = counted_of(input, sources, all, pug_source_id(source));
        if (counted)
            tally_source(&counted->tally, source);
    }
    input_run(input, NULL, NULL);
    for (size_t n = 0; (source = pug_tree_source_at(input->tree, n)) != NULL; n++) {
        struct counted *counted = counted_of(input, sources, all, pug_source_id(source));
        if (!counted)
            continue;
        counted->protocol = pug_source_protocol(source);
        counted->bytes += pug_source_stats(source)->bytes;
        counted->unsynced += pug_source_stats(source)->unsynced;
    }
}

static void print_counts(const struct input *input, const struct counted *all, size_t count)
{
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        const struct counted *counted = &all[i];
        const struct pug_capture_source *source = pug_capture_source_at(input->capture, i);
        char times[64];
        if (counted->protocol && !any)
            output_text("\ntrace:\n");
        any |= counted->protocol != NULL;
        if (counted->protocol && counted->bytes > 0)
            output_text("  %s source 0x%02x: %s, %" PRIu64 " bytes, %" PRIu64 " packets, %" PRIu64
                        " bad, %" PRIu64 " bytes before synchronisation, %" PRIu64
                        " synchronisation points%s%s\n",
                        pug_capture_buffer_at(input->capture, source->buffer)->name, source->id,
                        counted->protocol->name, counted->bytes, counted->tally.packets,
                        counted->tally.bad, counted->unsynced, counted->tally.syncs,
                        counted->tally.timestamps ? ", " : "",
                        tally_times(&counted->tally, input->capture, times, sizeof(times)));
    }
}

/** Segments are looked through one after the other. An exit code. */
static int count_trace(struct input *input, const struct sources *sources, struct counted *counted)
{
    if (!pug_capture_segment_at(input->capture, 0) || sources->count == 0)
        return EXIT_DONE;
    do
        if (input_tree(input, false))
            count_segment(input, sources, counted);
    while (input_next(input));
    return input_result(input);
}

int perf_info(struct input *input, bool segments)
{
    struct sources sources = {.count = 0};
    struct counted *counted = NULL;
    int code = EXIT_INPUT;
    if (sources_list(&sources, input->capture))
        counted = calloc(sources.count + 1, sizeof(*counted));
    if (counted) {
        code = count_trace(input, &sources, counted);
        print_facts(input->capture);
        print_buffers(input->capture, &sources);
        if (segments)
            print_segments(input->capture);
        print_counts(input, counted, sources.count);
        print_tasks(input->capture);
        print_objects(input->capture);
    } else {
        input_starve(input);
    }
    free(counted);
    sources_free(&sources);
    return code;
}
