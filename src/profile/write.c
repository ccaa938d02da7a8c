// SPDX-License-Identifier: MIT
/** @file A profile to the bytes of a file. */
#include "profile/format.h"

#include <stdlib.h>
#include <string.h>

uint64_t pug_profile_checksum(const uint8_t *bytes, size_t size)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i + 8 <= size; i += 8)
        hash = (hash ^ pug_bytes_64(bytes + i)) * UINT64_C(0x100000001b3);
    return hash;
}

struct writer {
    uint8_t *at;          /* of the next record */
    uint8_t *text;        /* where texts begin */
    uint64_t text_length; /* of those that were put */
};

static uint32_t put_text(struct writer *writer, const char *text)
{
    if (!text)
        return FORMAT_NO_TEXT;
    const uint64_t at = writer->text_length;
    memcpy(writer->text + at, text, strlen(text) + 1);
    writer->text_length += strlen(text) + 1;
    return (uint32_t)at;
}

static void put_object(struct writer *writer, const struct pug_profile_object *object,
                       uint32_t *first_segment)
{
    uint8_t *at = writer->at;
    pug_bytes_set_32(at, put_text(writer, object->path));
    pug_bytes_set_32(at + 4, put_text(writer, object->file));
    pug_bytes_set_32(at + 8, *first_segment);
    pug_bytes_set_32(at + 12, (uint32_t)object->segment_count);
    pug_bytes_set_32(at + 16, object->build_id_size);
    memcpy(at + 20, object->build_id, object->build_id_size);
    *first_segment += (uint32_t)object->segment_count;
    writer->at += FORMAT_OBJECT;
}

static void put_segment(struct writer *writer, const struct pug_profile_segment *segment)
{
    pug_bytes_set_64(writer->at, segment->vaddr);
    pug_bytes_set_64(writer->at + 8, segment->offset);
    pug_bytes_set_64(writer->at + 16, segment->size);
    pug_bytes_set_32(writer->at + 24, segment->executable);
    writer->at += FORMAT_SEGMENT;
}

static void put_task(struct writer *writer, const struct pug_profile_task *task)
{
    pug_bytes_set_32(writer->at, (uint32_t)task->pid);
    pug_bytes_set_32(writer->at + 4, (uint32_t)task->tid);
    pug_bytes_set_32(writer->at + 8, put_text(writer, task->name));
    writer->at += FORMAT_TASK;
}

static void put_range(struct writer *writer, const struct pug_profile_range *range)
{
    uint8_t *at = writer->at;
    pug_bytes_set_64(at, range->first);
    pug_bytes_set_64(at + 8, range->last);
    pug_bytes_set_64(at + 16, range->count);
    pug_bytes_set_64(at + 24, range->cycles);
    pug_bytes_set_32(at + 32, range->object);
    pug_bytes_set_32(at + 36, range->instructions);
    at[40] = range->last_size;
    at[41] = range->isa;
    at[42] = range->end;
    writer->at += FORMAT_RANGE;
}

static void put_branch(struct writer *writer, const struct pug_profile_branch *branch)
{
    pug_bytes_set_64(writer->at, branch->from);
    pug_bytes_set_64(writer->at + 8, branch->to);
    pug_bytes_set_64(writer->at + 16, branch->count);
    pug_bytes_set_32(writer->at + 24, branch->object);
    pug_bytes_set_32(writer->at + 28, branch->to_object);
    writer->at += FORMAT_BRANCH;
}

static void put_frame(struct writer *writer, const struct pug_profile_frame *frame)
{
    uint8_t *at = writer->at;
    pug_bytes_set_64(at, frame->function);
    pug_bytes_set_64(at + 8, frame->site);
    pug_bytes_set_64(at + 16, frame->calls);
    pug_bytes_set_64(at + 24, frame->cycles);
    pug_bytes_set_64(at + 32, frame->time);
    pug_bytes_set_32(at + 40, frame->parent);
    pug_bytes_set_32(at + 44, frame->task);
    pug_bytes_set_32(at + 48, frame->object);
    pug_bytes_set_32(at + 52, frame->site_object);
    writer->at += FORMAT_FRAME;
}

static void put_use(struct writer *writer, const struct pug_profile_use *use)
{
    pug_bytes_set_64(writer->at, use->count);
    pug_bytes_set_32(writer->at + 8, use->frame);
    pug_bytes_set_32(writer->at + 12, use->range);
    writer->at += FORMAT_USE;
}

static void put_loop(struct writer *writer, const struct pug_profile_loop *loop)
{
    uint8_t *at = writer->at;
    pug_bytes_set_64(at, loop->head);
    pug_bytes_set_64(at + 8, loop->visits);
    pug_bytes_set_64(at + 16, loop->rounds);
    pug_bytes_set_64(at + 24, loop->squares);
    pug_bytes_set_64(at + 32, loop->squares_high);
    pug_bytes_set_64(at + 40, loop->least);
    pug_bytes_set_64(at + 48, loop->most);
    pug_bytes_set_32(at + 56, loop->object);
    writer->at += FORMAT_LOOP;
}

/* Bytes of a name with its zero byte; NULL: it is none. One that is too long counts as too many. */
static uint64_t measure_name(const char *name)
{
    const uint64_t size = name ? strlen(name) + UINT64_C(1) : 0;
    return size > FORMAT_NAME ? FORMAT_NO_TEXT : size;
}

/* Bytes of all texts, and how many segments there are. */
static uint64_t measure(const struct pug_profile *profile, uint64_t *segments)
{
    uint64_t text = 0;
    *segments = 0;
    for (uint32_t i = 0; i < profile->objects.count; i++) {
        const struct pug_profile_object *object = pug_profile_item(&profile->objects, i);
        text += measure_name(object->path) + measure_name(object->file);
        *segments += object->segment_count;
    }
    for (uint32_t i = 0; i < profile->tasks.count; i++)
        text +=
            measure_name(((struct pug_profile_task *)pug_profile_item(&profile->tasks, i))->name);
    return text;
}

/** Notes, followed by the samples, if any. */
static uint32_t note_count(const struct pug_profile *profile)
{
    return PUG_NOTE_SATURATED + (pug_profile_is_sampled(profile) ? PUG_SAMPLES_KINDS : 0);
}

static void put_header(const struct pug_profile *profile, uint8_t *bytes, uint64_t size,
                       uint64_t segments, uint64_t text)
{
    static const char magic[8] = FORMAT_MAGIC;
    memcpy(bytes, magic, sizeof(magic));
    pug_bytes_set_32(bytes + FORMAT_AT_VERSION, FORMAT_VERSION);
    pug_bytes_set_32(bytes + FORMAT_AT_HEADER, FORMAT_HEADER);
    pug_bytes_set_64(bytes + FORMAT_AT_SIZE, size);
    pug_bytes_set_32(bytes + FORMAT_AT_UNIT, profile->unit);
    pug_bytes_set_32(bytes + FORMAT_AT_NOTES, note_count(profile));
    pug_bytes_set_32(bytes + FORMAT_AT_OBJECTS, profile->objects.count);
    pug_bytes_set_32(bytes + FORMAT_AT_SEGMENTS, (uint32_t)segments);
    pug_bytes_set_32(bytes + FORMAT_AT_TASKS, profile->tasks.count);
    pug_bytes_set_32(bytes + FORMAT_AT_RANGES, profile->ranges.count);
    pug_bytes_set_32(bytes + FORMAT_AT_BRANCHES, profile->branches.count);
    pug_bytes_set_32(bytes + FORMAT_AT_FRAMES, profile->frames.count);
    pug_bytes_set_32(bytes + FORMAT_AT_USES, profile->uses.count);
    pug_bytes_set_32(bytes + FORMAT_AT_LOOPS, profile->loops.count);
    pug_bytes_set_64(bytes + FORMAT_AT_TEXT, text);
}

static void put_all(const struct pug_profile *profile, struct writer *writer)
{
    uint32_t first_segment = 0;
    for (int note = 0; note < PUG_NOTE_SATURATED; note++, writer->at += FORMAT_NOTE)
        pug_bytes_set_64(writer->at, profile->notes[note]);
    for (unsigned kind = 0; kind < note_count(profile) - PUG_NOTE_SATURATED; kind++) {
        pug_bytes_set_64(writer->at, profile->sampled[kind]);
        writer->at += FORMAT_NOTE;
    }
    for (uint32_t i = 0; i < profile->objects.count; i++)
        put_object(writer, pug_profile_item(&profile->objects, i), &first_segment);
    for (uint32_t i = 0; i < profile->objects.count; i++) {
        const struct pug_profile_object *object = pug_profile_item(&profile->objects, i);
        for (size_t j = 0; j < object->segment_count; j++)
            put_segment(writer, &object->segments[j]);
    }
    for (uint32_t i = 0; i < profile->tasks.count; i++)
        put_task(writer, pug_profile_item(&profile->tasks, i));
    for (uint32_t i = 0; i < profile->ranges.count; i++)
        put_range(writer, pug_profile_item(&profile->ranges, i));
    for (uint32_t i = 0; i < profile->branches.count; i++)
        put_branch(writer, pug_profile_item(&profile->branches, i));
    for (uint32_t i = 0; i < profile->frames.count; i++)
        put_frame(writer, pug_profile_item(&profile->frames, i));
    for (uint32_t i = 0; i < profile->uses.count; i++)
        put_use(writer, pug_profile_item(&profile->uses, i));
    for (uint32_t i = 0; i < profile->loops.count; i++)
        put_loop(writer, pug_profile_item(&profile->loops, i));
}

enum pug_status pug_profile_write(struct pug_profile *profile, uint8_t **bytes, size_t *size)
{
    if (!bytes || !size)
        return PUG_ERR_INVALID_PARAM_VAL;
    *bytes = NULL;
    *size = 0;
    if (!profile)
        return PUG_ERR_INVALID_PARAM_VAL;
    enum pug_status status = pug_profile_sort(profile);
    if (status != PUG_OK)
        return status;
    uint64_t segments;
    const uint64_t text = measure(profile, &segments);
    const uint64_t records =
        FORMAT_HEADER + (uint64_t)note_count(profile) * FORMAT_NOTE +
        (uint64_t)profile->objects.count * FORMAT_OBJECT + segments * FORMAT_SEGMENT +
        (uint64_t)profile->tasks.count * FORMAT_TASK +
        (uint64_t)profile->ranges.count * FORMAT_RANGE +
        (uint64_t)profile->branches.count * FORMAT_BRANCH +
        (uint64_t)profile->frames.count * FORMAT_FRAME +
        (uint64_t)profile->uses.count * FORMAT_USE + (uint64_t)profile->loops.count * FORMAT_LOOP;
    const uint64_t whole = (records + text + 7) & ~UINT64_C(7);
    if (text >= FORMAT_NO_TEXT || segments >= PROFILE_LIMIT || whole > SIZE_MAX)
        return PUG_ERR_LIMIT;
    uint8_t *file = calloc(1, (size_t)whole);
    if (!file)
        return PUG_ERR_MEM;
    struct writer writer = {.at = file + FORMAT_HEADER, .text = file + records};
    put_header(profile, file, whole, segments, text);
    put_all(profile, &writer);
    pug_bytes_set_64(file + FORMAT_AT_CHECKSUM,
                     pug_profile_checksum(file + FORMAT_AT_SIZE, (size_t)whole - FORMAT_AT_SIZE));
    *bytes = file;
    *size = (size_t)whole;
    return PUG_OK;
}
