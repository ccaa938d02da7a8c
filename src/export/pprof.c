// SPDX-License-Identifier: MIT
/**
 * @file pprof's profile: a gzip file of one message perftools.profiles.Profile. Where the profile
 * has call stacks a sample is a stack, else a place alone; a range is cut where its source line
 * changes.
 */
#include "base/hash.h"
#include "export/export.h"
#include "export/gzip.h"
#include "text/protobuf.h"

#include "pugmark/names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRAMES  64u
#define BETWEEN UINT64_MAX /* as an address in no object: frames that are not written */

/* Fields of the messages. */
enum {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_MAPPING = 3,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5,
    PROFILE_STRING = 6,
    PROFILE_PERIOD_TYPE = 11,
    PROFILE_PERIOD = 12,
    PROFILE_COMMENT = 13,
    PROFILE_DEFAULT_TYPE = 14,
    VALUE_TYPE = 1,
    VALUE_UNIT = 2,
    SAMPLE_LOCATION = 1,
    SAMPLE_VALUE = 2,
    SAMPLE_LABEL = 3,
    LABEL_KEY = 1,
    LABEL_STRING = 2,
    LABEL_NUMBER = 3,
    MAPPING_ID = 1,
    MAPPING_START = 2,
    MAPPING_LIMIT = 3,
    MAPPING_OFFSET = 4,
    MAPPING_FILE = 5,
    MAPPING_BUILD_ID = 6,
    MAPPING_HAS_FUNCTIONS = 7,
    MAPPING_HAS_FILES = 8,
    MAPPING_HAS_LINES = 9,
    MAPPING_HAS_INLINED = 10,
    LOCATION_ID = 1,
    LOCATION_MAPPING = 2,
    LOCATION_ADDRESS = 3,
    LOCATION_LINE = 4,
    LINE_FUNCTION = 1,
    LINE_LINE = 2,
    FUNCTION_ID = 1,
    FUNCTION_NAME = 2,
    FUNCTION_SYSTEM_NAME = 3,
    FUNCTION_FILE = 4,
    FUNCTION_START = 5,
};

/* Things that have a number, by their text. */
struct texts {
    char **items;
    uint32_t *slots; /* number plus 1 */
    uint32_t count, room, slot_count;
    bool failed;
};

/* A place, and the function that ran it. */
struct place {
    uint32_t object, function_object;
    uint64_t vaddr, function;
    bool somewhere; /* in the function; `vaddr` is its start */
    bool outside;   /* it lies in another one by its name */
};

/* Places that have a number. */
struct places {
    struct place *items;
    uint32_t *slots;
    uint32_t count, room, slot_count;
    bool failed;
};

struct pprof {
    const struct exporter *exporter;
    struct texts strings, functions;
    struct places locations;
    struct export_stacks stacks;
    struct export_caller *callers; /* of each frame */
    struct pug_memory message, inner, location_bytes, function_bytes, all;
    bool cycles, time;
};

/* ---- numbers of texts ---- */

static uint32_t text_hash(const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *text; text++)
        hash = (hash ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
    return (uint32_t)(hash ^ hash >> 32);
}

static bool grow_slots(uint32_t **slots, uint32_t *slot_count, uint32_t count)
{
    if (count * 2 < *slot_count)
        return true;
    const uint32_t larger = *slot_count ? *slot_count * 2 : 256;
    uint32_t *fresh = calloc(larger, sizeof(*fresh));
    if (!fresh)
        return false;
    free(*slots);
    *slots = fresh;
    *slot_count = larger;
    return true;
}

static uint32_t *text_slot(const struct texts *texts, const char *text)
{
    for (uint32_t slot = text_hash(text);; slot++) {
        uint32_t *at = &texts->slots[slot & (texts->slot_count - 1)];
        if (*at == 0 || strcmp(texts->items[*at - 1], text) == 0)
            return at;
    }
}

static void *grow_items(void *items, uint32_t count, uint32_t *room, size_t size)
{
    if (count < *room)
        return items;
    const uint32_t larger = *room ? *room * 2 : 128;
    void *grown = realloc(items, larger * size);
    if (grown)
        *room = larger;
    return grown;
}

/* The number of a text, from 0 on; *is_new says whether it is the first time. */
static uint32_t text_number(struct texts *texts, const char *text, bool *is_new)
{
    *is_new = false;
    const uint32_t before = texts->slot_count;
    if (texts->failed || !grow_slots(&texts->slots, &texts->slot_count, texts->count + 1)) {
        texts->failed = true;
        return 0;
    }
    for (uint32_t i = 0; before != texts->slot_count && i < texts->count; i++)
        *text_slot(texts, texts->items[i]) = i + 1;
    uint32_t *slot = text_slot(texts, text);
    if (*slot)
        return *slot - 1;
    void *items = grow_items(texts->items, texts->count, &texts->room, sizeof(*texts->items));
    char *copy = items ? strdup(text) : NULL;
    texts->items = items ? items : texts->items;
    texts->failed = !copy;
    if (!copy)
        return 0;
    texts->items[texts->count] = copy;
    *slot = ++texts->count;
    *is_new = true;
    return texts->count - 1;
}

static uint32_t string(struct pprof *pprof, const char *text)
{
    bool is_new;
    return text_number(&pprof->strings, text, &is_new);
}

/* ---- functions and locations ---- */

static struct pug_sink into(struct pug_memory *memory)
{
    return pug_memory_sink(memory);
}

/* The id of a function, by its name and file. */
static uint32_t function_id(struct pprof *pprof, const struct pug_names_frame *frame)
{
    char key[4096];
    bool is_new;
    const char *path = frame->declared_path ? frame->declared_path : frame->path;
    const size_t used = strlen(frame->function);
    if (used + 2 >= sizeof(key) || used + 2 + (path ? strlen(path) : 0) >= sizeof(key))
        path = NULL;
    strncpy(key, frame->function, sizeof(key) - 1);
    key[sizeof(key) - 1] = '\0';
    if (path) {
        key[used] = '\n';
        memcpy(key + used + 1, path, strlen(path) + 1);
    }
    const uint32_t number = text_number(&pprof->functions, key, &is_new);
    if (!is_new)
        return number + 1;
    struct pug_sink sink = into(&pprof->message), all = into(&pprof->function_bytes);
    const char *readable = pug_export_readable(pprof->exporter, frame->function);
    protobuf_number(&sink, FUNCTION_ID, number + 1);
    protobuf_number(&sink, FUNCTION_NAME, string(pprof, readable));
    protobuf_number(&sink, FUNCTION_SYSTEM_NAME, string(pprof, frame->function));
    protobuf_number(&sink, FUNCTION_FILE, string(pprof, path ? path : ""));
    protobuf_number(&sink, FUNCTION_START, frame->declared);
    protobuf_message(&all, PROFILE_FUNCTION, &pprof->message);
    return number + 1;
}

static void put_line(struct pprof *pprof, const struct pug_names_frame *frame)
{
    const uint32_t function = function_id(pprof, frame);
    struct pug_sink line = into(&pprof->message), location = into(&pprof->inner);
    protobuf_number(&line, LINE_FUNCTION, function);
    protobuf_number(&line, LINE_LINE, frame->line);
    protobuf_message(&location, LOCATION_LINE, &pprof->message);
}

/* The functions at a place, the innermost first; those without a name are left out. */
static void put_lines(struct pprof *pprof, const struct place *place)
{
    struct pug_names_file *file = pug_export_file(pprof->exporter, place->object);
    struct pug_names_frame frames[FRAMES];
    struct export_function_name name;
    size_t i = 0, depth = file ? pug_names_frames(file, place->vaddr, frames, FRAMES) : 0;
    if (place->somewhere && depth > 0) { /* not in what may be inlined at its start */
        i = depth - 1;
        frames[i].line = frames[i].declared;
    }
    for (; i < depth; i++)
        if (frames[i].function)
            put_line(pprof, &frames[i]);
    if (place->object == PUG_PROFILE_NONE && place->vaddr == BETWEEN) {
        put_line(pprof, &(struct pug_names_frame){.function = PUG_EXPORT_STACK_REST});
    } else if (depth == 0) {
        pug_export_function(pprof->exporter, place->function_object, place->function, &name);
        put_line(pprof, &(struct pug_names_frame){.function = name.name});
    }
}

static void put_location(struct pprof *pprof, uint32_t id, const struct place *place)
{
    struct pug_sink location = into(&pprof->inner), all = into(&pprof->location_bytes);
    protobuf_number(&location, LOCATION_ID, id);
    protobuf_number(&location, LOCATION_MAPPING,
                    place->object == PUG_PROFILE_NONE ? 0 : (uint64_t)place->object + 1);
    if (place->vaddr != BETWEEN)
        protobuf_number(&location, LOCATION_ADDRESS, place->vaddr);
    put_lines(pprof, place);
    protobuf_message(&all, PROFILE_LOCATION, &pprof->inner);
}

static bool is_outside(const struct exporter *exporter, const struct place *place)
{
    struct export_function_name here, own;
    pug_export_function(exporter, place->object, place->vaddr, &here);
    pug_export_function(exporter, place->function_object, place->function, &own);
    return here.known && (place->object != place->function_object || here.start != own.start);
}

static uint32_t *place_slot(const struct places *places, const struct place *wanted)
{
    const uint64_t hash =
        pug_hash_mix(pug_hash_mix(pug_hash_mix(0, wanted->vaddr),
                                  (uint64_t)wanted->object << 1 | wanted->somewhere),
                     wanted->function);
    for (uint32_t slot = (uint32_t)hash;; slot++) {
        uint32_t *at = &places->slots[slot & (places->slot_count - 1)];
        const struct place *place = *at ? &places->items[*at - 1] : NULL;
        if (!place ||
            (place->object == wanted->object && place->vaddr == wanted->vaddr &&
             place->function_object == wanted->function_object &&
             place->function == wanted->function && place->somewhere == wanted->somewhere))
            return at;
    }
}

/* The number of a location, plus 1; 0: no memory. */
static uint32_t location_id(struct pprof *pprof, const struct place *place)
{
    struct places *places = &pprof->locations;
    const uint32_t before = places->slot_count;
    if (places->failed || !grow_slots(&places->slots, &places->slot_count, places->count + 1)) {
        places->failed = true;
        return 0;
    }
    for (uint32_t i = 0; before != places->slot_count && i < places->count; i++)
        *place_slot(places, &places->items[i]) = i + 1;
    uint32_t *slot = place_slot(places, place);
    if (*slot)
        return *slot;
    void *items = grow_items(places->items, places->count, &places->room, sizeof(*places->items));
    places->failed = !items;
    if (!items)
        return 0;
    places->items = items;
    places->items[places->count] = *place;
    places->items[places->count].outside = !place->somewhere && is_outside(pprof->exporter, place);
    *slot = ++places->count;
    const uint32_t id = *slot;
    put_location(pprof, id, place);
    return id;
}

/* ---- samples ---- */

static void put_values(struct pprof *pprof, uint64_t instructions, uint64_t cycles, uint64_t time)
{
    struct pug_sink values = into(&pprof->message), sample = into(&pprof->inner);
    /* signed in the format */
    protobuf_varint(&values, instructions > INT64_MAX ? INT64_MAX : instructions);
    if (pprof->cycles)
        protobuf_varint(&values, cycles > INT64_MAX ? INT64_MAX : cycles);
    if (pprof->time)
        protobuf_varint(&values, time > INT64_MAX ? INT64_MAX : time);
    protobuf_message(&sample, SAMPLE_VALUE, &pprof->message);
}

static void put_labels(struct pprof *pprof, uint32_t task)
{
    size_t count;
    const struct pug_profile_task *tasks = pug_profile_tasks(pprof->exporter->profile, &count);
    struct pug_sink label = into(&pprof->message), sample = into(&pprof->inner);
    if (task >= count)
        return;
    if (tasks[task].tid >= 0) {
        protobuf_number(&label, LABEL_KEY, string(pprof, "thread"));
        protobuf_number(&label, LABEL_NUMBER, (uint64_t)tasks[task].tid);
        protobuf_message(&sample, SAMPLE_LABEL, &pprof->message);
    }
    if (*tasks[task].name) {
        protobuf_number(&label, LABEL_KEY, string(pprof, "comm"));
        protobuf_number(&label, LABEL_STRING, string(pprof, tasks[task].name));
        protobuf_message(&sample, SAMPLE_LABEL, &pprof->message);
    }
}

/* A place that ran on a frame; without one it is of the function that it lies in. */
static struct place place_on(const struct pug_profile_frame *frame, uint32_t object, uint64_t vaddr)
{
    return (struct place){.object = object,
                          .function_object = frame ? frame->object : object,
                          .vaddr = vaddr,
                          .function = frame ? frame->function : vaddr};
}

static struct place somewhere_in(uint32_t object, uint64_t function)
{
    return (struct place){object, object, function, function, true, false};
}

/* A place outside of its function gets both. */
static void put_place(struct pprof *pprof, struct pug_sink *list, const struct place *place)
{
    const struct place whole = somewhere_in(place->function_object, place->function);
    const uint32_t id = location_id(pprof, place);
    protobuf_varint(list, id);
    if (id > 0 && pprof->locations.items[id - 1].outside)
        protobuf_varint(list, location_id(pprof, &whole));
}

/* Where the frames of a stack were entered, each in the function of its parent. */
static void put_callers(struct pprof *pprof, struct pug_sink *list, uint32_t frame)
{
    size_t count;
    const struct pug_profile_frame *frames = pug_profile_frames(pprof->exporter->profile, &count);
    uint32_t path[PUG_EXPORT_STACK_MOST];
    const size_t depth = pug_export_stack(&pprof->stacks, frame, path);
    for (size_t i = 0; i < depth; i++) {
        const struct place rest = place_on(NULL, PUG_PROFILE_NONE, BETWEEN);
        const uint32_t parent = path[i] == PUG_PROFILE_NONE ? path[i] : frames[path[i]].parent;
        if (path[i] == PUG_PROFILE_NONE)
            put_place(pprof, list, &rest);
        if (parent == PUG_PROFILE_NONE)
            continue;
        const struct export_caller *caller = &pprof->callers[path[i]];
        struct place place = place_on(&frames[parent], caller->object, caller->vaddr);
        place.somewhere = !caller->exact;
        put_place(pprof, list, &place);
    }
}

/* A sample: a place, and the frame on which it ran (PUG_PROFILE_NONE: unknown). */
static void put_sample(struct pprof *pprof, const struct place *place, uint32_t frame,
                       uint64_t instructions, uint64_t cycles, uint64_t time)
{
    size_t count;
    struct pug_memory ids = {0};
    struct pug_sink list = into(&ids), sample = into(&pprof->inner), all = into(&pprof->all);
    put_place(pprof, &list, place);
    put_callers(pprof, &list, frame);
    protobuf_message(&sample, SAMPLE_LOCATION, &ids);
    put_values(pprof, instructions, cycles, time);
    if (frame != PUG_PROFILE_NONE)
        put_labels(pprof, pug_profile_frames(pprof->exporter->profile, &count)[frame].task);
    protobuf_message(&all, PROFILE_SAMPLE, &pprof->inner);
    pprof->all.failed |= ids.failed;
    free(ids.bytes);
}

/* A range, cut where its line changes. */
static void put_range(struct pprof *pprof, const struct pug_profile_range *range, uint32_t frame,
                      uint64_t count, uint64_t cycles)
{
    struct pug_names_file *file = pug_export_file(pprof->exporter, range->object);
    struct export_walk walk = pug_export_walk(pprof->exporter, range);
    struct pug_names_line line;
    size_t frames;
    const struct pug_profile_frame *on =
        frame != PUG_PROFILE_NONE ? &pug_profile_frames(pprof->exporter->profile, &frames)[frame]
                                  : NULL;
    while (walk.left > 0) {
        const uint64_t at = walk.at;
        const bool is_first = walk.left == range->instructions;
        uint32_t here = walk.left;
        if (file && pug_names_line(file, at, &line) && line.end > at)
            here = pug_export_walk_to(&walk, line.end);
        else
            walk.left = 0;
        const struct place place = place_on(on, range->object, at);
        put_sample(pprof, &place, frame, pug_profile_product(count, here), is_first ? cycles : 0,
                   0);
    }
}

/* False: no memory. */
static bool make_stacks(struct pprof *pprof, const struct pug_profile_frame *frames, size_t count)
{
    if (!pug_export_stacks_begin(&pprof->stacks, count))
        return false;
    for (size_t i = 0; i < count; i++)
        pug_export_stacks_add(&pprof->stacks, frames[i].parent);
    return true;
}

static void put_stacks(struct pprof *pprof)
{
    size_t count, range_count, frame_count;
    const struct pug_profile_use *uses = pug_profile_uses(pprof->exporter->profile, &count);
    const struct pug_profile_range *ranges =
        pug_profile_ranges(pprof->exporter->profile, &range_count);
    const struct pug_profile_frame *frames =
        pug_profile_frames(pprof->exporter->profile, &frame_count);
    pprof->callers = pug_export_callers(pprof->exporter);
    pprof->all.failed |= !pprof->callers || !make_stacks(pprof, frames, frame_count);
    if (pprof->all.failed)
        return;
    for (size_t i = 0; i < count; i++)
        if (pug_export_is_chosen(pprof->exporter, ranges[uses[i].range].object))
            put_range(pprof, &ranges[uses[i].range], uses[i].frame, uses[i].count, 0);
    for (uint32_t i = 0; i < frame_count; i++) {
        const struct place place = somewhere_in(frames[i].object, frames[i].function);
        if ((frames[i].cycles > 0 || frames[i].time > 0) &&
            pug_export_is_chosen(pprof->exporter, frames[i].object))
            put_sample(pprof, &place, i, 0, frames[i].cycles, frames[i].time);
    }
}

static void put_places(struct pprof *pprof)
{
    size_t count;
    const struct pug_profile_range *ranges = pug_profile_ranges(pprof->exporter->profile, &count);
    for (size_t i = 0; i < count; i++)
        if (ranges[i].count > 0 && pug_export_is_chosen(pprof->exporter, ranges[i].object))
            put_range(pprof, &ranges[i], PUG_PROFILE_NONE, ranges[i].count, ranges[i].cycles);
}

/* ---- the rest ---- */

static void put_mapping(struct pprof *pprof, struct pug_sink *sink, uint32_t number)
{
    const struct pug_profile_object *object = export_object(pprof->exporter, number);
    struct pug_names_file *file = pug_export_file(pprof->exporter, number);
    const struct export_build_id id = pug_export_build_id(object);
    struct pug_sink mapping = into(&pprof->message);
    protobuf_number(&mapping, MAPPING_ID, (uint64_t)number + 1);
    for (size_t i = 0; i < object->segment_count; i++) {
        if (!object->segments[i].executable)
            continue;
        protobuf_number(&mapping, MAPPING_START, object->segments[i].vaddr);
        protobuf_number(&mapping, MAPPING_LIMIT,
                        object->segments[i].vaddr + object->segments[i].size);
        protobuf_number(&mapping, MAPPING_OFFSET, object->segments[i].offset);
        break;
    }
    protobuf_number(&mapping, MAPPING_FILE, string(pprof, object->path));
    protobuf_number(&mapping, MAPPING_BUILD_ID, string(pprof, id.digits));
    protobuf_number(&mapping, MAPPING_HAS_FUNCTIONS, file != NULL);
    protobuf_number(&mapping, MAPPING_HAS_FILES, file && pug_names_has_lines(file));
    protobuf_number(&mapping, MAPPING_HAS_LINES, file && pug_names_has_lines(file));
    protobuf_number(&mapping, MAPPING_HAS_INLINED, file && pug_names_has_lines(file));
    protobuf_message(sink, PROFILE_MAPPING, &pprof->message);
}

static void put_type(struct pprof *pprof, struct pug_sink *sink, uint32_t field, const char *type,
                     const char *unit)
{
    struct pug_sink value = into(&pprof->message);
    protobuf_number(&value, VALUE_TYPE, string(pprof, type));
    protobuf_number(&value, VALUE_UNIT, string(pprof, unit));
    protobuf_message(sink, field, &pprof->message);
}

static void find_kinds(struct pprof *pprof)
{
    size_t count;
    const struct pug_profile_range *ranges = pug_profile_ranges(pprof->exporter->profile, &count);
    for (size_t i = 0; i < count; i++)
        pprof->cycles |= ranges[i].cycles > 0;
    const struct pug_profile_frame *frames = pug_profile_frames(pprof->exporter->profile, &count);
    for (size_t i = 0; i < count; i++) {
        pprof->cycles |= frames[i].cycles > 0;
        pprof->time |= frames[i].time > 0;
    }
}

static void put_notes(struct pprof *pprof, struct pug_sink *sink)
{
    char sampled[160];
    pug_export_sampled(pprof->exporter, sampled, sizeof(sampled));
    if (*sampled)
        protobuf_number(sink, PROFILE_COMMENT, string(pprof, sampled));
    for (int note = PUG_NOTE_LOST; note < PUG_NOTE_COUNT; note++) {
        char text[128];
        const uint64_t noted = pug_profile_noted(pprof->exporter->profile, note);
        if (noted == 0)
            continue;
        snprintf(text, sizeof(text), "%" PRIu64 " %s", noted, pug_profile_note_text(note));
        protobuf_number(sink, PROFILE_COMMENT, string(pprof, text));
    }
}

static void put_profile(struct pprof *pprof, struct pug_sink *sink)
{
    size_t count, frames;
    const char *unit = pug_profile_time_unit(pprof->exporter->profile) == PUG_PROFILE_NANOSECONDS
                           ? "nanoseconds"
                           : "ticks";
    string(pprof, "");
    find_kinds(pprof);
    put_type(pprof, sink, PROFILE_SAMPLE_TYPE, pug_export_unit(pprof->exporter), "count");
    if (pprof->cycles)
        put_type(pprof, sink, PROFILE_SAMPLE_TYPE, "cycles", "count");
    if (pprof->time)
        put_type(pprof, sink, PROFILE_SAMPLE_TYPE, "time", unit);
    pug_profile_frames(pprof->exporter->profile, &frames);
    if (frames > 0)
        put_stacks(pprof);
    else
        put_places(pprof);
    pug_profile_objects(pprof->exporter->profile, &count);
    for (uint32_t i = 0; i < count; i++)
        put_mapping(pprof, sink, i);
    pug_sink_put(sink, pprof->location_bytes.bytes, pprof->location_bytes.count);
    pug_sink_put(sink, pprof->function_bytes.bytes, pprof->function_bytes.count);
    put_type(pprof, sink, PROFILE_PERIOD_TYPE, pug_export_unit(pprof->exporter), "count");
    /* else the last */
    protobuf_number(sink, PROFILE_DEFAULT_TYPE, string(pprof, pug_export_unit(pprof->exporter)));
    protobuf_number(sink, PROFILE_PERIOD, 1);
    put_notes(pprof, sink);
    for (uint32_t i = 0; i < pprof->strings.count; i++)
        protobuf_bytes(sink, PROFILE_STRING, pprof->strings.items[i],
                       strlen(pprof->strings.items[i]));
}

static void texts_free(struct texts *texts)
{
    for (uint32_t i = 0; i < texts->count; i++)
        free(texts->items[i]);
    free(texts->items);
    free(texts->slots);
}

enum pug_status pug_export_pprof(const struct exporter *exporter)
{
    struct pprof pprof = {.exporter = exporter};
    struct pug_sink sink = into(&pprof.all);
    put_profile(&pprof, &sink);
    const bool good = !pprof.strings.failed && !pprof.functions.failed && !pprof.locations.failed &&
                      !pprof.message.failed && !pprof.inner.failed &&
                      !pprof.location_bytes.failed && !pprof.function_bytes.failed &&
                      !pprof.all.failed;
    enum pug_status status =
        good ? pug_export_gzip(exporter->sink, pprof.all.bytes, pprof.all.count) : PUG_ERR_MEM;
    pug_export_stacks_free(&pprof.stacks);
    free(pprof.callers);
    texts_free(&pprof.strings);
    texts_free(&pprof.functions);
    free(pprof.locations.items);
    free(pprof.locations.slots);
    free(pprof.message.bytes);
    free(pprof.inner.bytes);
    free(pprof.location_bytes.bytes);
    free(pprof.function_bytes.bytes);
    free(pprof.all.bytes);
    return status;
}
