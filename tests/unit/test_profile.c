// SPDX-License-Identifier: MIT
/** @file Profiles: counts that add up in any order, and the file that keeps them. */
#include "profile/format.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- a random profile ---- */

struct events {
    uint64_t seed;
};

static uint32_t next(struct events *events, uint32_t below)
{
    events->seed = events->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(events->seed >> 33) % below;
}

static const struct pug_profile_segment segments[] = {{0x1000, 0, 0x800, true},
                                                      {0x3000, 0x1000, 0x400, false}};

static uint32_t object_of(struct pug_profile *profile, uint32_t which)
{
    static const char *const paths[] = {"/lib/b.so", "/bin/a", "/lib/b.so", "[kernel]"};
    const struct pug_profile_object object = {
        .path = paths[which],
        .file = which == 1 ? "/root/bin/a" : NULL,
        .build_id = {(uint8_t)which, 2, 3},
        .build_id_size = which == 3 ? 0 : 20,
        .segments = segments,
        .segment_count = which == 1 ? 2 : 0,
    };
    uint32_t number;
    assert_int_equal(pug_profile_object(profile, &object, &number), PUG_OK);
    return number;
}

static uint32_t frame_of(struct pug_profile *profile, struct events *events)
{
    static const char *const names[] = {"make", "cc", "cc"};
    const uint32_t which = next(events, 3), depth = 1 + next(events, 5);
    const struct pug_profile_task task = {100, 100 + (int32_t)which, names[which]};
    uint32_t number, parent = PUG_PROFILE_NONE;
    assert_int_equal(pug_profile_task(profile, &task, &number), PUG_OK);
    for (uint32_t i = 0; i < depth; i++) {
        const uint32_t object = object_of(profile, next(events, 4));
        const struct pug_profile_frame frame = {
            .parent = parent,
            .task = number,
            .object = object,
            .function = 0x1000 + 0x100 * next(events, 3),
            .site_object = parent == PUG_PROFILE_NONE ? PUG_PROFILE_NONE : object,
            .site = parent == PUG_PROFILE_NONE ? 0 : 0x1010,
            .calls = 1,
            .cycles = next(events, 9),
            .time = 7,
        };
        assert_int_equal(pug_profile_frame(profile, &frame, &parent), PUG_OK);
    }
    return parent;
}

static void add_event(struct pug_profile *profile, struct events *events)
{
    const uint32_t object = object_of(profile, next(events, 4)), to = next(events, 5);
    const uint64_t first = 0x1000 + 4 * next(events, 20), last = first + 4 * next(events, 6);
    const struct pug_profile_range range = {
        .object = object,
        .first = first,
        .last = last,
        .instructions = (uint32_t)(last - first) / 4 + 1,
        .last_size = 4,
        .isa = PUG_ISA_A64,
        .end = PUG_END_BRANCH | (next(events, 2) ? PUG_END_TAKEN : 0),
        .count = 1 + next(events, 3),
        .cycles = next(events, 30),
    };
    const struct pug_profile_branch branch = {
        .object = object,
        .from = last,
        .to_object = to == 4 ? PUG_PROFILE_NONE : object_of(profile, to),
        .to = to == 4 ? 0 : 0x1000 + 4 * next(events, 20),
        .count = 1,
    };
    struct pug_profile_use use = {.count = 1};
    struct pug_profile_loop loop = pug_profile_loop_visit(1 + next(events, 1000));
    loop.object = object;
    loop.head = first;
    assert_int_equal(pug_profile_range(profile, &range, &use.range), PUG_OK);
    assert_int_equal(pug_profile_branch(profile, &branch), PUG_OK);
    assert_int_equal(pug_profile_loop(profile, &loop), PUG_OK);
    use.frame = frame_of(profile, events);
    assert_int_equal(pug_profile_use(profile, &use), PUG_OK);
    pug_profile_note(profile, next(events, PUG_NOTE_SATURATED), 1);
}

static struct pug_profile *new_profile(void)
{
    struct pug_profile *profile = pug_profile_new();
    assert_non_null(profile);
    pug_profile_set_time_unit(profile, PUG_PROFILE_NANOSECONDS);
    return profile;
}

static uint8_t *file_of(struct pug_profile *profile, size_t *size)
{
    uint8_t *bytes;
    assert_int_equal(pug_profile_write(profile, &bytes, size), PUG_OK);
    return bytes;
}

static void assert_same_file(struct pug_profile *left, struct pug_profile *right)
{
    size_t left_size, right_size;
    uint8_t *a = file_of(left, &left_size), *b = file_of(right, &right_size);
    assert_int_equal(left_size, right_size);
    assert_memory_equal(a, b, left_size);
    free(a);
    free(b);
}

#define EVENTS 3000
#define PARTS  7

/* ---- tests ---- */

static void test_parts_add_up(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct pug_profile *whole = new_profile(), *sum = new_profile(), *parts[PARTS];
        struct events events = {seed}, cut = {seed + 100};
        for (int i = 0; i < PARTS; i++)
            parts[i] = new_profile();
        for (int i = 0; i < EVENTS; i++) {
            struct events again = events;
            add_event(whole, &events);
            add_event(parts[next(&cut, PARTS)], &again);
        }
        for (int i = 0; i < PARTS; i++) {
            const int which = (i * 3 + (int)seed) % PARTS; /* in another order */
            if (i % 2)
                assert_int_equal(pug_profile_sort(parts[which]), PUG_OK);
            assert_int_equal(pug_profile_merge(sum, parts[which]), PUG_OK);
            pug_profile_free(parts[which]);
        }
        assert_same_file(whole, sum);
        pug_profile_free(whole);
        pug_profile_free(sum);
    }
}

static void test_counts_are_those_added(void **state)
{
    (void)state;
    struct pug_profile *profile = new_profile();
    struct pug_profile_range range = {.object = object_of(profile, 1),
                                      .first = 8,
                                      .last = 12,
                                      .instructions = 2,
                                      .count = 3,
                                      .cycles = 5};
    uint32_t one, two;
    assert_int_equal(pug_profile_range(profile, &range, &one), PUG_OK);
    range.count = 4;
    assert_int_equal(pug_profile_range(profile, &range, &two), PUG_OK);
    assert_int_equal(one, two);
    range.end = PUG_END_BRANCH | PUG_END_TAKEN; /* another way to end is another range */
    assert_int_equal(pug_profile_range(profile, &range, &two), PUG_OK);
    assert_int_not_equal(one, two);
    size_t count;
    const struct pug_profile_range *ranges = pug_profile_ranges(profile, &count);
    assert_int_equal(count, 2);
    assert_int_equal(ranges[0].count, 7);
    assert_int_equal(ranges[0].cycles, 10);
    assert_int_equal(ranges[1].count, 4);
    pug_profile_free(profile);
}

static void test_counts_stay_at_their_end(void **state)
{
    (void)state;
    struct pug_profile *profile = new_profile(), *other = new_profile();
    const struct pug_profile_range range = {.object = object_of(profile, 1),
                                            .first = 8,
                                            .last = 12,
                                            .instructions = 2,
                                            .count = UINT64_MAX - 2};
    object_of(other, 1);
    assert_int_equal(pug_profile_range(profile, &range, NULL), PUG_OK);
    assert_int_equal(pug_profile_noted(profile, PUG_NOTE_SATURATED), 0);
    assert_int_equal(pug_profile_range(other, &range, NULL), PUG_OK);
    assert_int_equal(pug_profile_merge(profile, other), PUG_OK);
    assert_int_equal(pug_profile_merge(profile, other), PUG_OK);
    size_t count;
    assert_true(pug_profile_ranges(profile, &count)[0].count == UINT64_MAX);
    assert_int_equal(pug_profile_noted(profile, PUG_NOTE_SATURATED), 1);
    pug_profile_free(profile);
    pug_profile_free(other);
}

/* Rounds and their squares, of 128 bits. */
static void test_rounds_add_up(void **state)
{
    (void)state;
    struct pug_profile *profile = new_profile();
    static const uint64_t rounds[] = {3, 1, UINT64_C(0x123456789abcdef0), UINT64_C(1) << 32, 7};
    for (size_t i = 0; i < sizeof(rounds) / sizeof(rounds[0]); i++) {
        struct pug_profile_loop visit = pug_profile_loop_visit(rounds[i]);
        visit.object = PUG_PROFILE_NONE;
        assert_int_equal(pug_profile_loop(profile, &visit), PUG_OK);
    }
    size_t count;
    const struct pug_profile_loop *loop = pug_profile_loops(profile, &count);
    assert_int_equal(count, 1);
    assert_int_equal(loop->visits, 5);
    assert_true(loop->rounds == UINT64_C(0x123456799abcdefb));
    assert_int_equal(loop->least, 1);
    assert_true(loop->most == rounds[2]);
    /* 9 + 1 + 0x14b66dc33f6acdca5e20890f2a52100 + 2^64 + 49 */
    assert_true(loop->squares_high == UINT64_C(0x014b66dc33f6acdd));
    assert_true(loop->squares == UINT64_C(0xa5e20890f2a5213b));
    pug_profile_free(profile);
}

static void test_squares_stay_at_their_end(void **state)
{
    (void)state;
    struct pug_profile *profile = new_profile();
    struct pug_profile_loop visit = pug_profile_loop_visit(UINT64_MAX);
    visit.object = PUG_PROFILE_NONE;
    assert_true(visit.squares == 1 && visit.squares_high == UINT64_MAX - 1);
    for (int i = 0; i < 3; i++)
        assert_int_equal(pug_profile_loop(profile, &visit), PUG_OK);
    size_t count;
    const struct pug_profile_loop *loop = pug_profile_loops(profile, &count);
    assert_true(loop->rounds == UINT64_MAX);
    assert_true(loop->squares == UINT64_MAX && loop->squares_high == UINT64_MAX);
    pug_profile_free(profile);
}

static void test_no_loop(void **state)
{
    (void)state;
    struct pug_profile *profile = new_profile();
    static const struct pug_profile_loop bad[] = {
        {.object = PUG_PROFILE_NONE}, /* never visited */
        {.visits = 2, .rounds = 1, .least = 1, .most = 1, .object = PUG_PROFILE_NONE},
        {.visits = 1, .rounds = 3, .least = 3, .most = 2, .object = PUG_PROFILE_NONE},
        {.visits = 1, .rounds = 3, .least = 3, .most = 4, .object = PUG_PROFILE_NONE},
        {.visits = 1, .rounds = 3, .most = 3, .object = PUG_PROFILE_NONE},
        {.visits = 1, .rounds = 3, .least = 3, .most = 3, .object = 5},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(pug_profile_loop(profile, &bad[i]), PUG_ERR_INVALID_PARAM_VAL);
    pug_profile_free(profile);
}

/* A file without loops, as the first version wrote it. */
static void test_first_version(void **state)
{
    (void)state;
    struct pug_profile *profile = new_profile(), *read;
    const struct pug_profile_range range = {
        .object = object_of(profile, 1), .first = 8, .last = 12, .instructions = 2, .count = 3};
    assert_int_equal(pug_profile_range(profile, &range, NULL), PUG_OK);
    size_t size;
    uint8_t *bytes = file_of(profile, &size);
    assert_int_equal(pug_bytes_32(bytes + FORMAT_AT_VERSION), 2);
    for (uint32_t version = 0; version < 5; version++) {
        pug_bytes_set_32(bytes + FORMAT_AT_VERSION, version);
        const bool known = version == 1 || version == 2;
        assert_int_equal(pug_profile_read(bytes, size, &read), known ? PUG_OK : PUG_ERR_FORMAT);
        if (known) {
            assert_same_file(profile, read);
            pug_profile_free(read);
        }
    }
    pug_profile_free(profile);
    free(bytes);
}

static void test_file_round_trip(void **state)
{
    (void)state;
    struct pug_profile *profile = new_profile(), *read;
    struct events events = {9};
    for (int i = 0; i < 500; i++)
        add_event(profile, &events);
    size_t size;
    uint8_t *bytes = file_of(profile, &size);
    assert_true(pug_profile_is(bytes, size));
    assert_int_equal(pug_profile_read(bytes, size, &read), PUG_OK);
    assert_same_file(profile, read);
    size_t count;
    const struct pug_profile_object *objects = pug_profile_objects(read, &count);
    assert_int_equal(count, 4);
    assert_string_equal(objects[0].path, "/bin/a");
    assert_string_equal(objects[0].file, "/root/bin/a");
    assert_int_equal(objects[0].segment_count, 2);
    assert_int_equal(objects[0].segments[1].offset, 0x1000);
    assert_null(objects[1].file);
    assert_int_equal(pug_profile_time_unit(read), PUG_PROFILE_NANOSECONDS);
    pug_profile_free(profile);
    pug_profile_free(read);
    free(bytes);
}

/* Each byte of a file wrong, its checksum made right again: refused, or a profile; never a fault.
 */
static void test_damaged_files(void **state)
{
    (void)state;
    struct pug_profile *profile = new_profile(), *read;
    struct events events = {5};
    size_t size, refused = 0;
    for (int i = 0; i < 12; i++)
        add_event(profile, &events);
    uint8_t *bytes = file_of(profile, &size);
    pug_profile_free(profile);
    for (size_t cut = 0; cut < size; cut++)
        assert_int_equal(pug_profile_read(bytes, cut, &read), PUG_ERR_FORMAT);
    static const uint8_t damage[] = {0x01, 0x80, 0xff};
    for (size_t at = 0; at < size; at++) {
        for (size_t kind = 0; kind < sizeof(damage); kind++) {
            bytes[at] ^= damage[kind];
            assert_int_equal(pug_profile_read(bytes, size, &read), PUG_ERR_FORMAT);
            const uint64_t checksum = pug_bytes_64(bytes + FORMAT_AT_CHECKSUM);
            pug_bytes_set_64(bytes + FORMAT_AT_CHECKSUM,
                             pug_profile_checksum(bytes + FORMAT_AT_SIZE, size - FORMAT_AT_SIZE));
            if (pug_profile_read(bytes, size, &read) == PUG_OK) {
                size_t again;
                free(file_of(read, &again));
                pug_profile_free(read);
            } else {
                refused++;
            }
            pug_bytes_set_64(bytes + FORMAT_AT_CHECKSUM, checksum);
            bytes[at] ^= damage[kind];
        }
    }
    assert_true(refused > 100);
    free(bytes);
}

static enum pug_status status_of_file(uint8_t *bytes, size_t size)
{
    struct pug_profile *read;
    pug_bytes_set_64(bytes + FORMAT_AT_CHECKSUM,
                     pug_profile_checksum(bytes + FORMAT_AT_SIZE, size - FORMAT_AT_SIZE));
    const enum pug_status status = pug_profile_read(bytes, size, &read);
    pug_profile_free(read);
    return status;
}

/* Records may share a name, but not so that the copies of a small file's names fill the memory. */
static void test_shared_names(void **state)
{
    enum { TASKS = 400, NAME = 5000 };
    (void)state;
    char name[NAME];
    memset(name, 'a', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    struct pug_profile *profile = new_profile();
    uint32_t number;
    for (int32_t i = 0; i < TASKS; i++) {
        const struct pug_profile_task task = {.pid = i, .tid = i, .name = i == 0 ? name : "short"};
        assert_int_equal(pug_profile_task(profile, &task, &number), PUG_OK);
    }
    size_t size;
    uint8_t *bytes = file_of(profile, &size);
    uint8_t *tasks = bytes + FORMAT_HEADER + (size_t)PUG_NOTE_SATURATED * FORMAT_NOTE;
    const uint32_t brief = pug_bytes_32(tasks + FORMAT_TASK + 8);
    assert_int_equal(brief, NAME);
    for (int i = 1; i < TASKS; i++)
        pug_bytes_set_32(tasks + (size_t)i * FORMAT_TASK + 8, brief);
    assert_int_equal(status_of_file(bytes, size), PUG_OK);
    for (int i = 1; i < TASKS; i++)
        pug_bytes_set_32(tasks + (size_t)i * FORMAT_TASK + 8, 0);
    assert_int_equal(status_of_file(bytes, size), PUG_ERR_FORMAT);
    for (int i = 1; i < TASKS; i++) /* the ends of one name, which overlap */
        pug_bytes_set_32(tasks + (size_t)i * FORMAT_TASK + 8, (uint32_t)i);
    assert_int_equal(status_of_file(bytes, size), PUG_ERR_FORMAT);
    pug_profile_free(profile);
    free(bytes);
}

/* A name as long as a file may have, and one that is longer, which is not written. */
static void test_longest_name(void **state)
{
    (void)state;
    static char name[FORMAT_NAME + 1];
    for (size_t length = FORMAT_NAME - 1; length <= FORMAT_NAME; length++) {
        memset(name, 'a', length);
        struct pug_profile *profile = new_profile(), *read;
        const struct pug_profile_task task = {.name = name};
        uint32_t number;
        assert_int_equal(pug_profile_task(profile, &task, &number), PUG_OK);
        size_t size;
        uint8_t *bytes;
        const bool fits = length < FORMAT_NAME;
        assert_int_equal(pug_profile_write(profile, &bytes, &size), fits ? PUG_OK : PUG_ERR_LIMIT);
        if (fits) {
            assert_int_equal(pug_profile_read(bytes, size, &read), PUG_OK);
            pug_profile_free(read);
        }
        pug_profile_free(profile);
        free(bytes);
    }
}

/* A segment belongs to one object: objects that share many would each have a copy. */
static void test_shared_segments(void **state)
{
    (void)state;
    struct pug_profile *profile = new_profile();
    (void)object_of(profile, 0);
    (void)object_of(profile, 1);
    size_t size;
    uint8_t *bytes = file_of(profile, &size);
    uint8_t *objects = bytes + FORMAT_HEADER + (size_t)PUG_NOTE_SATURATED * FORMAT_NOTE;
    const uint32_t segment_count = pug_bytes_32(bytes + FORMAT_AT_SEGMENTS);
    assert_int_equal(pug_bytes_32(bytes + FORMAT_AT_OBJECTS), 2);
    assert_true(segment_count > 0);
    for (int i = 0; i < 2; i++) {
        pug_bytes_set_32(objects + (size_t)i * FORMAT_OBJECT + 8, 0);
        pug_bytes_set_32(objects + (size_t)i * FORMAT_OBJECT + 12, i == 0 ? segment_count : 0);
    }
    assert_int_equal(status_of_file(bytes, size), PUG_OK);
    pug_bytes_set_32(objects + FORMAT_OBJECT + 12, segment_count);
    assert_int_equal(status_of_file(bytes, size), PUG_ERR_FORMAT);
    pug_profile_free(profile);
    free(bytes);
}

static void test_frames_have_a_limit(void **state)
{
    (void)state;
    struct pug_profile *profile = new_profile(), *small = new_profile();
    struct events events = {3};
    for (int i = 0; i < 100; i++)
        add_event(profile, &events);
    pug_profile_set_frame_limit(small, 40);
    assert_int_equal(pug_profile_merge(small, profile), PUG_OK);
    size_t frames, uses, count;
    pug_profile_frames(small, &frames);
    assert_true(frames >= 40);
    for (size_t i = 40; i < frames; i++)
        assert_int_equal(pug_profile_frames(small, &frames)[i].parent, PUG_PROFILE_NONE);
    assert_true(pug_profile_noted(small, PUG_NOTE_FRAMES_FULL) > 0);
    uint64_t sum = 0;
    const struct pug_profile_use *use = pug_profile_uses(small, &uses);
    for (size_t i = 0; i < uses; i++)
        sum += use[i].count;
    assert_int_equal(sum, 100); /* nothing is lost, only fewer details are reported */
    assert_int_equal(pug_profile_sort(small), PUG_OK);
    const struct pug_profile_frame *frame = pug_profile_frames(small, &count);
    for (size_t i = 0; i < count; i++)
        assert_true(frame[i].parent == PUG_PROFILE_NONE || frame[i].parent < i);
    pug_profile_free(profile);
    pug_profile_free(small);
}

/** Frames beyond the limit are refused at once; for each all of them were looked at. */
static void test_frames_beyond_the_limit(void **state)
{
    (void)state;
    struct pug_profile *profile = new_profile();
    const struct pug_profile_task task = {1, 1, "deep"};
    const uint32_t limit = UINT32_C(1) << 19;
    struct pug_profile_frame frame = {.parent = PUG_PROFILE_NONE,
                                      .object = object_of(profile, 1),
                                      .site_object = PUG_PROFILE_NONE};
    uint32_t number, refused = 0;
    pug_profile_set_frame_limit(profile, limit);
    assert_int_equal(pug_profile_task(profile, &task, &frame.task), PUG_OK);
    assert_int_equal(pug_profile_frame(profile, &frame, &frame.parent), PUG_OK);
    frame.calls = 1;
    for (uint32_t i = 0; i < 2 * limit; i++) {
        frame.function = i;
        const enum pug_status status = pug_profile_frame(profile, &frame, &number);
        assert_true(status == PUG_OK || status == PUG_ERR_LIMIT);
        refused += status == PUG_ERR_LIMIT;
    }
    assert_int_equal(refused, limit + 1);
    frame.function = 1; /* one that is there is found all the same */
    assert_int_equal(pug_profile_frame(profile, &frame, &number), PUG_OK);
    pug_profile_free(profile);
}

static void test_object_names(void **state)
{
    (void)state;
    const struct pug_profile_object object = {
        .path = "/usr/lib/libpaw.so", .build_id = {0x0c, 0x9a}, .build_id_size = 2};
    assert_true(pug_profile_object_is(&object, "libpaw.so"));
    assert_true(pug_profile_object_is(&object, "lib/libpaw.so"));
    assert_true(pug_profile_object_is(&object, "/usr/lib/libpaw.so"));
    assert_true(pug_profile_object_is(&object, "0c9a"));
    assert_false(pug_profile_object_is(&object, "paw.so"));
    assert_false(pug_profile_object_is(&object, ""));
    assert_false(pug_profile_object_is(&object, "/x/usr/lib/libpaw.so"));
}

static void test_numbers_that_were_not_given(void **state)
{
    (void)state;
    struct pug_profile *profile = new_profile();
    const struct pug_profile_range range = {.object = 0, .first = 8, .last = 12};
    const struct pug_profile_range backwards = {.object = PUG_PROFILE_NONE, .first = 8, .last = 4};
    const struct pug_profile_use use = {.count = 1};
    assert_int_equal(pug_profile_range(profile, &range, NULL), PUG_ERR_INVALID_PARAM_VAL);
    assert_int_equal(pug_profile_range(profile, &backwards, NULL), PUG_ERR_INVALID_PARAM_VAL);
    assert_int_equal(pug_profile_use(profile, &use), PUG_ERR_INVALID_PARAM_VAL);
    pug_profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts_add_up),
        cmocka_unit_test(test_counts_are_those_added),
        cmocka_unit_test(test_counts_stay_at_their_end),
        cmocka_unit_test(test_rounds_add_up),
        cmocka_unit_test(test_squares_stay_at_their_end),
        cmocka_unit_test(test_no_loop),
        cmocka_unit_test(test_first_version),
        cmocka_unit_test(test_file_round_trip),
        cmocka_unit_test(test_damaged_files),
        cmocka_unit_test(test_shared_names),
        cmocka_unit_test(test_longest_name),
        cmocka_unit_test(test_shared_segments),
        cmocka_unit_test(test_frames_have_a_limit),
        cmocka_unit_test(test_frames_beyond_the_limit),
        cmocka_unit_test(test_object_names),
        cmocka_unit_test(test_numbers_that_were_not_given),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
