// SPDX-License-Identifier: MIT
/** @file A profile from the bytes of a file. Everything in it is checked before it is used. */
#include "profile/format.h"

#include <stdlib.h>
#include <string.h>

struct reader {
    const uint8_t *at; /* the next record */
    const char *text;
    uint64_t text_size;
    uint64_t names_left;    /* bytes that names may still have */
    uint32_t segments_left; /* that objects may still have */
    uint32_t notes, objects, segments, tasks, ranges, branches, frames, uses, loops;
    struct pug_profile_segment *all_segments;
};

bool pug_profile_is(const uint8_t *bytes, size_t size)
{
    return size >= 8 && memcmp(bytes, FORMAT_MAGIC, 8) == 0;
}

/* The numbers of the header, if they make up just this file. */
static bool read_header(struct reader *reader, const uint8_t *bytes, size_t size)
{
    if (!pug_profile_is(bytes, size) || size < FORMAT_HEADER || size % 8 != 0 ||
        pug_bytes_32(bytes + FORMAT_AT_VERSION) < FORMAT_OLDEST ||
        pug_bytes_32(bytes + FORMAT_AT_VERSION) > FORMAT_VERSION ||
        (pug_bytes_32(bytes + FORMAT_AT_VERSION) == FORMAT_OLDEST &&
         pug_bytes_32(bytes + FORMAT_AT_LOOPS) != 0) ||
        pug_bytes_32(bytes + FORMAT_AT_HEADER) != FORMAT_HEADER ||
        pug_bytes_64(bytes + FORMAT_AT_SIZE) != size ||
        pug_bytes_64(bytes + FORMAT_AT_CHECKSUM) !=
            pug_profile_checksum(bytes + FORMAT_AT_SIZE, size - FORMAT_AT_SIZE))
        return false;
    *reader = (struct reader){
        .at = bytes + FORMAT_HEADER,
        .text_size = pug_bytes_64(bytes + FORMAT_AT_TEXT),
        .notes = pug_bytes_32(bytes + FORMAT_AT_NOTES),
        .objects = pug_bytes_32(bytes + FORMAT_AT_OBJECTS),
        .segments = pug_bytes_32(bytes + FORMAT_AT_SEGMENTS),
        .tasks = pug_bytes_32(bytes + FORMAT_AT_TASKS),
        .ranges = pug_bytes_32(bytes + FORMAT_AT_RANGES),
        .branches = pug_bytes_32(bytes + FORMAT_AT_BRANCHES),
        .frames = pug_bytes_32(bytes + FORMAT_AT_FRAMES),
        .uses = pug_bytes_32(bytes + FORMAT_AT_USES),
        .loops = pug_bytes_32(bytes + FORMAT_AT_LOOPS),
    };
    /* each product is below 2^38, so the sum cannot overflow */
    const uint64_t records =
        FORMAT_HEADER + (uint64_t)reader->notes * FORMAT_NOTE +
        (uint64_t)reader->objects * FORMAT_OBJECT + (uint64_t)reader->segments * FORMAT_SEGMENT +
        (uint64_t)reader->tasks * FORMAT_TASK + (uint64_t)reader->ranges * FORMAT_RANGE +
        (uint64_t)reader->branches * FORMAT_BRANCH + (uint64_t)reader->frames * FORMAT_FRAME +
        (uint64_t)reader->uses * FORMAT_USE + (uint64_t)reader->loops * FORMAT_LOOP;
    if (records > size || reader->text_size > size - records ||
        ((records + reader->text_size + 7) & ~UINT64_C(7)) != size ||
        pug_bytes_32(bytes + FORMAT_AT_UNIT) > PUG_PROFILE_TICKS)
        return false;
    reader->text = (const char *)bytes + records;
    reader->names_left = size;
    reader->segments_left = reader->segments;
    return reader->text_size == 0 || reader->text[reader->text_size - 1] == '\0';
}

/*
 * A text that begins within the texts ends there: the last one is closed. Records may share a text,
 * of which each makes a copy, so all names together have no more bytes than the file. Formats
 * repeat an object's name with each function, so a single one is bounded, too.
 */
static bool get_text(struct reader *reader, const uint8_t *at, const char **text)
{
    const uint32_t begin = pug_bytes_32(at);
    if (begin >= reader->text_size)
        return false;
    const uint64_t size = strlen(reader->text + begin) + UINT64_C(1);
    if (size > reader->names_left || size > FORMAT_NAME)
        return false;
    reader->names_left -= size;
    *text = reader->text + begin;
    return true;
}

/* Segments follow the objects that they belong to. */
static bool read_segments(struct reader *reader)
{
    const uint8_t *at = reader->at + (size_t)reader->objects * FORMAT_OBJECT;
    reader->all_segments = calloc(reader->segments + (size_t)1, sizeof(*reader->all_segments));
    if (!reader->all_segments)
        return false;
    for (uint32_t i = 0; i < reader->segments; i++, at += FORMAT_SEGMENT)
        reader->all_segments[i] = (struct pug_profile_segment){
            .vaddr = pug_bytes_64(at),
            .offset = pug_bytes_64(at + 8),
            .size = pug_bytes_64(at + 16),
            .executable = pug_bytes_32(at + 24) != 0,
        };
    return true;
}

static bool read_object(struct reader *reader, struct pug_profile *profile, uint32_t expected)
{
    const uint8_t *at = reader->at;
    const uint32_t first = pug_bytes_32(at + 8), count = pug_bytes_32(at + 12);
    const uint32_t id_size = pug_bytes_32(at + 16);
    struct pug_profile_object object = {.segment_count = count};
    if (first > reader->segments || count > reader->segments - first ||
        count > reader->segments_left || id_size > PUG_PROFILE_BUILD_ID ||
        !get_text(reader, at, &object.path) ||
        (pug_bytes_32(at + 4) != FORMAT_NO_TEXT && !get_text(reader, at + 4, &object.file)))
        return false;
    reader->segments_left -= count;
    object.segments = reader->all_segments + first;
    object.build_id_size = (uint8_t)id_size;
    memcpy(object.build_id, at + 20, id_size);
    reader->at += FORMAT_OBJECT;
    uint32_t number;
    return pug_profile_object(profile, &object, &number) == PUG_OK && number == expected;
}

static bool read_task(struct reader *reader, struct pug_profile *profile, uint32_t expected)
{
    struct pug_profile_task task = {.pid = (int32_t)pug_bytes_32(reader->at),
                                    .tid = (int32_t)pug_bytes_32(reader->at + 4)};
    uint32_t number;
    if (!get_text(reader, reader->at + 8, &task.name))
        return false;
    reader->at += FORMAT_TASK;
    return pug_profile_task(profile, &task, &number) == PUG_OK && number == expected;
}

static bool read_range(struct reader *reader, struct pug_profile *profile, uint32_t expected)
{
    const uint8_t *at = reader->at;
    const struct pug_profile_range range = {
        .first = pug_bytes_64(at),
        .last = pug_bytes_64(at + 8),
        .count = pug_bytes_64(at + 16),
        .cycles = pug_bytes_64(at + 24),
        .object = pug_bytes_32(at + 32),
        .instructions = pug_bytes_32(at + 36),
        .last_size = at[40],
        .isa = at[41],
        .end = at[42],
    };
    uint32_t number;
    reader->at += FORMAT_RANGE;
    return pug_profile_range(profile, &range, &number) == PUG_OK && number == expected;
}

static bool read_branch(struct reader *reader, struct pug_profile *profile, uint32_t expected)
{
    const uint8_t *at = reader->at;
    const struct pug_profile_branch branch = {
        .from = pug_bytes_64(at),
        .to = pug_bytes_64(at + 8),
        .count = pug_bytes_64(at + 16),
        .object = pug_bytes_32(at + 24),
        .to_object = pug_bytes_32(at + 28),
    };
    reader->at += FORMAT_BRANCH;
    return pug_profile_branch(profile, &branch) == PUG_OK &&
           profile->branches.count == expected + 1;
}

static bool read_frame(struct reader *reader, struct pug_profile *profile, uint32_t expected)
{
    const uint8_t *at = reader->at;
    const struct pug_profile_frame frame = {
        .function = pug_bytes_64(at),
        .site = pug_bytes_64(at + 8),
        .calls = pug_bytes_64(at + 16),
        .cycles = pug_bytes_64(at + 24),
        .time = pug_bytes_64(at + 32),
        .parent = pug_bytes_32(at + 40),
        .task = pug_bytes_32(at + 44),
        .object = pug_bytes_32(at + 48),
        .site_object = pug_bytes_32(at + 52),
    };
    uint32_t number;
    reader->at += FORMAT_FRAME;
    return pug_profile_frame(profile, &frame, &number) == PUG_OK && number == expected;
}

static bool read_use(struct reader *reader, struct pug_profile *profile, uint32_t expected)
{
    const struct pug_profile_use use = {
        .count = pug_bytes_64(reader->at),
        .frame = pug_bytes_32(reader->at + 8),
        .range = pug_bytes_32(reader->at + 12),
    };
    reader->at += FORMAT_USE;
    return pug_profile_use(profile, &use) == PUG_OK && profile->uses.count == expected + 1;
}

static bool read_loop(struct reader *reader, struct pug_profile *profile, uint32_t expected)
{
    const uint8_t *at = reader->at;
    const struct pug_profile_loop loop = {
        .head = pug_bytes_64(at),
        .visits = pug_bytes_64(at + 8),
        .rounds = pug_bytes_64(at + 16),
        .squares = pug_bytes_64(at + 24),
        .squares_high = pug_bytes_64(at + 32),
        .least = pug_bytes_64(at + 40),
        .most = pug_bytes_64(at + 48),
        .object = pug_bytes_32(at + 56),
    };
    reader->at += FORMAT_LOOP;
    return pug_profile_loop(profile, &loop) == PUG_OK && profile->loops.count == expected + 1;
}

/* Records of one kind; each is a new one, at the number it has in the file. */
static bool read_all(struct reader *reader, struct pug_profile *profile, uint32_t count,
                     bool (*read)(struct reader *, struct pug_profile *, uint32_t))
{
    for (uint32_t i = 0; i < count; i++)
        if (!read(reader, profile, i))
            return false;
    return true;
}

static bool read_records(struct reader *reader, struct pug_profile *profile)
{
    for (uint32_t note = 0; note < reader->notes; note++, reader->at += FORMAT_NOTE)
        if (note < PUG_NOTE_SATURATED)
            pug_profile_note(profile, note, pug_bytes_64(reader->at));
        else /* others are not known */
            pug_profile_add_samples(profile, note - PUG_NOTE_SATURATED, pug_bytes_64(reader->at));
    if (!read_segments(reader) || !read_all(reader, profile, reader->objects, read_object))
        return false;
    reader->at += (size_t)reader->segments * FORMAT_SEGMENT;
    return read_all(reader, profile, reader->tasks, read_task) &&
           read_all(reader, profile, reader->ranges, read_range) &&
           read_all(reader, profile, reader->branches, read_branch) &&
           read_all(reader, profile, reader->frames, read_frame) &&
           read_all(reader, profile, reader->uses, read_use) &&
           read_all(reader, profile, reader->loops, read_loop);
}

enum pug_status pug_profile_read(const uint8_t *bytes, size_t size, struct pug_profile **out)
{
    struct reader reader;
    if (!out)
        return PUG_ERR_INVALID_PARAM_VAL;
    *out = NULL;
    if (!bytes && size > 0)
        return PUG_ERR_INVALID_PARAM_VAL;
    if (!read_header(&reader, bytes, size))
        return PUG_ERR_FORMAT;
    struct pug_profile *profile = pug_profile_new();
    if (!profile)
        return PUG_ERR_MEM;
    pug_profile_set_frame_limit(profile,
                                PROFILE_LIMIT - 1); /* the file has no more than fit in it */
    profile->unit = (enum pug_profile_unit)pug_bytes_32(bytes + FORMAT_AT_UNIT);
    const bool good = read_records(&reader, profile);
    free(reader.all_segments);
    if (!good) {
        pug_profile_free(profile);
        return PUG_ERR_FORMAT;
    }
    *out = profile;
    return PUG_OK;
}
