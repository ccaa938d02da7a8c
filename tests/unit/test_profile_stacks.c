// SPDX-License-Identifier: MIT
/**
 * @file Instructions executed on each frame, beside a simple count: each range given to the calls
 * by itself, and looked up by all of its frames. Captures that there are, and random walks between
 * functions that have names and code that has none, in chunks of any size. Of walks ranges and
 * branches, too, beside elements that are counted.
 */
#include "base/hash.h"
#include "capture/capture.h"
#include "counts/counts.h"
#include "profile/steps.h"
#include "pugmark/calls.h"
#include "pugmark/names.h"
#include "pugmark/profiler.h"
#include "support/captures.h"
#include "support/share.h"
#include "support/stack_walk.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define NAMED PUG_SOURCE_DIR "/examples/crash"

/* ---- uses, by hashes of all that they are ---- */

struct tally {
    uint64_t what, count;
};

struct tallies {
    struct tally *items; /* a table; what 0: free */
    size_t count, room;
};

static void add_tally(struct tallies *tallies, uint64_t what, uint64_t count)
{
    if (2 * (tallies->count + 1) > tallies->room) {
        struct tallies more = {.room = tallies->room ? tallies->room * 4 : 64};
        more.items = calloc(more.room, sizeof(*more.items));
        assert_non_null(more.items);
        for (size_t i = 0; i < tallies->room; i++)
            if (tallies->items[i].what != 0)
                add_tally(&more, tallies->items[i].what, tallies->items[i].count);
        free(tallies->items);
        *tallies = more;
    }
    size_t at = what & (tallies->room - 1);
    while (tallies->items[at].what != 0 && tallies->items[at].what != what)
        at = (at + 1) & (tallies->room - 1);
    tallies->count += tallies->items[at].what == 0;
    tallies->items[at].what = what;
    tallies->items[at].count += count;
}

static void assert_same(const struct tallies *expected, const struct tallies *found,
                        const char *name)
{
    for (size_t i = 0; i < expected->room; i++) {
        const struct tally *tally = &expected->items[i];
        if (tally->what == 0)
            continue;
        size_t at = found->room ? tally->what & (found->room - 1) : 0;
        while (found->room && found->items[at].what != 0 && found->items[at].what != tally->what)
            at = (at + 1) & (found->room - 1);
        const uint64_t count = found->room ? found->items[at].count : 0;
        if (count != tally->count)
            fail_msg("%s: something ran %llu times, not %llu", name, (unsigned long long)count,
                     (unsigned long long)tally->count);
    }
    if (found->count != expected->count)
        fail_msg("%s: %zu of them, not %zu", name, found->count, expected->count);
}

/* ---- the simple count ---- */

struct simple {
    struct profile_objects objects;
    struct profile_node_cache cache;
    struct pug_calls *calls;
    struct tallies tallies;
    const struct pug_origin *origin;
};

static struct profile_place place_of(struct simple *simple, uint64_t address)
{
    struct profile_place place = profile_place(&simple->cache, simple->origin, address);
    uint32_t number;
    assert_int_equal(pug_profile_object_number(&simple->objects, place.object, &number), PUG_OK);
    place.object = number;
    return place;
}

static bool locate(void *context, uint32_t task, const struct pug_element *element,
                   uint64_t address, struct pug_function *function)
{
    struct simple *simple = context;
    const struct profile_place place = profile_place(&simple->cache, simple->origin, address);
    struct pug_names_file *file = pug_profile_object_names(&simple->objects, place.object);
    struct pug_names_function found;
    (void)task, (void)element;
    if (!file || !pug_names_function(file, place.vaddr, &found))
        return false;
    *function = (struct pug_function){.name = found.name,
                                      .start = address - (place.vaddr - found.start),
                                      .size = found.size,
                                      .id = (uint64_t)place.object + 1};
    return true;
}

static struct simple begin_simple(struct pug_capture *capture, struct pug_names *names)
{
    struct simple simple = {
        .objects = {.profile = pug_profile_new(), .capture = capture, .names = names},
        .cache = {.capture = capture, .space = UINT64_MAX}};
    assert_non_null(simple.objects.profile);
    return simple;
}

static void free_simple(struct simple *simple)
{
    pug_calls_free(simple->calls);
    pug_profile_free(simple->objects.profile);
    pug_profile_objects_free(&simple->objects);
    pug_profile_node_cache_free(&simple->cache);
    free(simple->tallies.items);
}

/** Of objects the path: they are numbered as they are met, which two need not do in one order. */
static uint64_t hash_place(const struct pug_profile *profile, uint64_t hash,
                           struct profile_place place)
{
    size_t count;
    const struct pug_profile_object *objects = pug_profile_objects(profile, &count);
    const char *path = place.object < count ? objects[place.object].path : "";
    hash = pug_hash_mix(hash, place.vaddr);
    for (; *path; path++)
        hash = pug_hash_mix(hash, (uint8_t)*path);
    return hash;
}

static uint64_t hash_range(const struct pug_profile *profile, uint64_t hash, uint64_t first,
                           uint64_t last, uint32_t object)
{
    return pug_hash_mix(hash_place(profile, hash, (struct profile_place){first, object}), last) | 1;
}

/** How often a frame was entered, and cycles that passed when it was on top. */
static void add_frame(struct tallies *tallies, uint64_t hash, uint64_t calls, uint64_t cycles)
{
    add_tally(tallies, pug_hash_mix(hash, 7) | 1, calls);
    add_tally(tallies, pug_hash_mix(hash, 9) | 1, cycles);
}

/** Stacks that begin with a frame that was found. */
static void add_lost(struct tallies *tallies, uint64_t count)
{
    if (count > 0)
        add_tally(tallies, 1, count);
}

/** Each frame knows the hash of itself and those that it is on. */
static void on_event(void *context, const struct pug_call_event *event)
{
    struct simple *simple = context;
    const struct profile_place nowhere = {0, PUG_PROFILE_NONE};
    struct pug_call_frame *frame = event->frame;
    const bool called = frame->kind == PUG_CALL_CALLED || frame->kind == PUG_CALL_TAIL;
    if (event->kind != PUG_CALL_ENTER)
        return;
    uint64_t hash = event->depth > 0 ? (uint64_t)(uintptr_t)frame[-1].user : 0;
    hash = hash_place(simple->objects.profile, hash, place_of(simple, frame->function.start));
    hash =
        hash_place(simple->objects.profile, hash, called ? place_of(simple, frame->site) : nowhere);
    frame->user = (void *)(uintptr_t)hash;
    add_frame(&simple->tallies, (uintptr_t)hash, frame->kind != PUG_CALL_FOUND, 0);
    add_lost(&simple->tallies, frame->kind == PUG_CALL_FOUND && event->depth == 0);
}

/** Is it nothing to call stacks? */
static bool concerns_others(const struct pug_element *element)
{
    return element->type == PUG_ELEM_UNKNOWN ||
           (element->type == PUG_ELEM_EXCEPTION && (element->flags & PUG_ELEM_DATA_MARKER));
}

static bool count_simply(void *context, const struct pug_origin *origin,
                         const struct pug_element *elements, size_t count)
{
    struct simple *simple = context;
    const uint32_t task = origin->buffer << 16 | origin->source;
    simple->origin = origin;
    pug_profile_node_cache_enter(&simple->cache, origin);
    for (size_t i = 0; i < count; i++) {
        const struct pug_element *element = &elements[i];
        if (concerns_others(element))
            continue;
        assert_int_equal(pug_calls_take(simple->calls, task, element, 1), PUG_OK);
        const struct pug_call_frame *frames;
        const uint32_t depth = pug_calls_stack(simple->calls, task, &frames);
        if (depth > 0 && pug_element_adds_cycles(element))
            add_frame(&simple->tallies, (uintptr_t)frames[depth - 1].user, 0, element->cycle_count);
        if (element->type != PUG_ELEM_INSTR_RANGE)
            continue;
        assert_true(depth > 0);
        const struct profile_place place = place_of(simple, element->start);
        const uint64_t last = place.vaddr + (element->end - element->start) - element->last_size;
        add_tally(&simple->tallies,
                  hash_range(simple->objects.profile, (uint64_t)(uintptr_t)frames[depth - 1].user,
                             place.vaddr, last, place.object),
                  1);
    }
    return true;
}

static void open_calls(struct simple *simple)
{
    const struct pug_calls_config config = {
        .locate = locate, .locate_context = simple, .event = on_event, .event_context = simple};
    assert_int_equal(pug_calls_new(&config, &simple->calls), PUG_OK);
}

/* ---- of a profile ---- */

static uint64_t hash_of_frame(const struct pug_profile *profile, uint32_t number)
{
    size_t count;
    const struct pug_profile_frame *frame = &pug_profile_frames(profile, &count)[number];
    uint64_t hash = frame->parent != PUG_PROFILE_NONE ? hash_of_frame(profile, frame->parent) : 0;
    hash = hash_place(profile, hash, (struct profile_place){frame->function, frame->object});
    hash = hash_place(profile, hash, (struct profile_place){frame->site, frame->site_object});
    return (uintptr_t)hash; /* as much of it as a frame of the calls holds */
}

static struct tallies tallies_of(const struct pug_profile *profile)
{
    struct tallies tallies = {0};
    size_t count, ignored;
    if (pug_profile_is_sampled(profile)) /* which are no calls */
        return tallies;
    const struct pug_profile_use *uses = pug_profile_uses(profile, &count);
    const struct pug_profile_range *ranges = pug_profile_ranges(profile, &ignored);
    size_t frame_count;
    const struct pug_profile_frame *frames = pug_profile_frames(profile, &frame_count);
    add_lost(&tallies, pug_profile_noted(profile, PUG_NOTE_STACKS_LOST));
    for (size_t i = 0; i < frame_count; i++)
        add_frame(&tallies, hash_of_frame(profile, (uint32_t)i), frames[i].calls, frames[i].cycles);
    for (size_t i = 0; i < count; i++) {
        const struct pug_profile_range *range = &ranges[uses[i].range];
        add_tally(&tallies,
                  hash_range(profile, hash_of_frame(profile, uses[i].frame), range->first,
                             range->last, range->object),
                  uses[i].count);
    }
    return tallies;
}

static uint64_t hash_branch(const struct pug_profile *profile,
                            const struct pug_profile_branch *branch)
{
    const struct profile_place from = {branch->from, branch->object},
                               to = {branch->to, branch->to_object};
    return hash_place(profile, hash_place(profile, 3, from), to) | 1;
}

/** Ranges with their cycles, branches and notes. */
static struct tallies counts_of(const struct pug_profile *profile,
                                const struct profile_counted *counted)
{
    struct tallies tallies = {0};
    size_t range_count, branch_count;
    const struct pug_profile_range *ranges = pug_profile_ranges(profile, &range_count);
    const struct pug_profile_branch *branches = pug_profile_branches(profile, &branch_count);
    for (size_t i = 0; i < range_count; i++) {
        const struct pug_profile_range *range = &ranges[i];
        const uint64_t how = (uint64_t)range->instructions << 32 | (uint64_t)range->end << 16 |
                             (uint64_t)range->isa << 8 | range->last_size;
        const uint64_t hash = hash_range(profile, how, range->first, range->last, range->object);
        add_tally(&tallies, hash, range->count);
        add_tally(&tallies, pug_hash_mix(hash, 1) | 1, range->cycles);
    }
    for (size_t i = 0; i < branch_count; i++)
        add_tally(&tallies, hash_branch(profile, &branches[i]), branches[i].count);
    for (uint64_t note = 0; note < PUG_NOTE_COUNT; note++)
        add_tally(&tallies, pug_hash_mix(5, note) | 1, counted->notes[note]);
    return tallies;
}

/** Loops that were visited. */
static struct tallies loops_of(const struct pug_profile *profile)
{
    struct tallies tallies = {0};
    size_t count;
    const struct pug_profile_loop *loops = pug_profile_loops(profile, &count);
    for (size_t i = 0; i < count; i++) {
        const struct pug_profile_loop *loop = &loops[i];
        const uint64_t hash =
            hash_place(profile, 11, (struct profile_place){loop->head, loop->object});
        const uint64_t parts[] = {loop->visits, loop->rounds, loop->squares, loop->least,
                                  loop->most};
        for (uint64_t n = 0; n < sizeof(parts) / sizeof(parts[0]); n++)
            add_tally(&tallies, pug_hash_mix(hash, n) | 1, parts[n]);
    }
    return tallies;
}

/* ---- captures ---- */

static void check_capture(const char *path, void *context)
{
    struct pug_capture *capture;
    struct pug_profile *profile = pug_profile_new();
    struct pug_names *names = pug_names_new(NULL);
    (void)context;
    assert_int_equal(pug_capture_open(path, &(struct pug_capture_options){0}, &capture), PUG_OK);
    const struct pug_profiler_options options = {.threads = 2, .stacks = true, .names = names};
    struct simple simple = begin_simple(capture, names);
    open_calls(&simple);
    if (pug_profile_capture(profile, capture, &options, NULL) == PUG_OK) {
        assert_int_equal(pug_capture_elements(capture, count_simply, &simple), PUG_OK);
        struct tallies found = tallies_of(profile);
        assert_same(&simple.tallies, &found, path);
        free(found.items);
    }
    free_simple(&simple);
    pug_names_free(names);
    pug_profile_free(profile);
    pug_capture_free(capture);
}

static void test_captures(void **state)
{
    captures_folders(*(const enum captures *)*state, check_capture, NULL);
}

static void test_named(void **state)
{
    (void)state;
    check_capture(NAMED, NULL);
}

/* ---- random walks ---- */

static bool keep_origin(void *context, const struct pug_origin *origin,
                        const struct pug_element *elements, size_t count)
{
    (void)elements, (void)count;
    *(struct pug_origin *)context = *origin;
    return false;
}

static void take(struct profile_stacks *stacks, struct pug_capture *capture,
                 const struct pug_origin *origin, const struct pug_element *elements, size_t count)
{
    struct profile_part *part = pug_profile_part_new(capture, true);
    assert_non_null(part);
    pug_profile_part_elements(part, origin, elements, count);
    assert_int_equal(pug_profile_stacks_take(stacks, part), PUG_OK);
    pug_profile_part_free(part);
}

/** The result of a walk. */
struct taken {
    struct tallies uses, counts, loops;
    uint64_t full; /* frames that there was no room for */
};

static void free_taken(struct taken *taken)
{
    free(taken->uses.items);
    free(taken->counts.items);
    free(taken->loops.items);
}

/** In chunks; `apart`: by single elements, between which something comes that does not matter. */
static struct taken take_walk(const struct pug_origin *origin, struct profile_objects objects,
                              struct walk *walk, bool apart, uint32_t frame_limit)
{
    const struct pug_element nothing = {.type = PUG_ELEM_PE_CONTEXT};
    struct pug_capture *capture = objects.capture;
    objects.profile = pug_profile_new();
    assert_non_null(objects.profile);
    pug_profile_set_frame_limit(objects.profile, frame_limit);
    struct profile_counted counted = pug_profile_counted_begin(&objects);
    struct profile_stacks *stacks = pug_profile_stacks_new(&counted);
    assert_non_null(stacks);
    for (size_t at = 0, count; at < WALK_STEPS; at += count) {
        count = apart ? 1 : 1 + rec_random_below(&walk->random, 200);
        count = count < WALK_PART - at % WALK_PART ? count : WALK_PART - at % WALK_PART;
        if (at % WALK_PART == 0)
            pug_profile_stacks_turn(stacks, 0, true);
        const struct pug_origin own = walk_origin(walk, origin, at, &count);
        take(stacks, capture, &own, &walk->elements[at], count);
        if (apart)
            take(stacks, capture, &own, &nothing, 1);
    }
    assert_int_equal(pug_profile_stacks_end(stacks), PUG_OK);
    assert_int_equal(pug_profile_counted_end(&counted), PUG_OK);
    const struct taken taken = {.uses = tallies_of(objects.profile),
                                .counts = counts_of(objects.profile, &counted),
                                .loops = loops_of(objects.profile),
                                .full = pug_profile_noted(objects.profile, PUG_NOTE_FRAMES_FULL)};
    pug_profile_stacks_free(stacks);
    pug_profile_counted_free(&counted);
    pug_profile_free(objects.profile);
    pug_profile_objects_free(&objects);
    return taken;
}

/** The ranges and branches of a walk, as its elements are counted. */
static struct tallies count_walk(const struct pug_origin *origin, struct profile_objects objects,
                                 const struct walk *walk)
{
    struct pug_counts *counts = pug_counts_new();
    objects.profile = pug_profile_new();
    assert_non_null(objects.profile);
    assert_non_null(counts);
    struct profile_counted counted = pug_profile_counted_begin(&objects);
    for (size_t at = 0, count; at < WALK_STEPS; at += count) {
        count = WALK_PART - at % WALK_PART;
        if (at % WALK_PART == 0)
            pug_counts_end(counts);
        const struct pug_origin own = walk_origin(walk, origin, at, &count);
        pug_counts_set_memory(counts, own.source, own.space ? own.space->number : 0);
        pug_counts_add_elements(counts, &walk->elements[at], count);
    }
    pug_counts_end(counts);
    assert_int_equal(pug_profile_counted_add(&counted, counts), PUG_OK);
    assert_int_equal(pug_profile_counted_end(&counted), PUG_OK);
    const struct tallies tallies = counts_of(objects.profile, &counted);
    pug_counts_free(counts);
    pug_profile_counted_free(&counted);
    pug_profile_free(objects.profile);
    pug_profile_objects_free(&objects);
    return tallies;
}

static void assert_walk(const struct tallies *uses, const struct tallies *counts,
                        const struct taken *found, const char *name)
{
    char text[64];
    assert_same(uses, &found->uses, name);
    (void)snprintf(text, sizeof(text), "ranges and branches of %s", name);
    assert_same(counts, &found->counts, text);
}

static void check_walk(struct pug_capture *capture, const struct pug_origin *origin,
                       struct pug_names *names, struct walk *walk)
{
    const struct profile_objects objects = {.capture = capture, .names = names};
    struct simple simple = begin_simple(capture, names);
    open_calls(&simple);
    walk_make(walk, origin->source);
    for (size_t at = 0, count; at < WALK_STEPS; at += count) {
        count = WALK_STEPS - at;
        const struct pug_origin own = walk_origin(walk, origin, at, &count);
        count_simply(&simple, &own, &walk->elements[at], count);
    }
    struct tallies counts = count_walk(origin, objects, walk);
    struct taken found = take_walk(origin, objects, walk, false, 1 << 20);
    assert_walk(&simple.tallies, &counts, &found, "a walk");
    assert_int_equal(found.full, 0);
    free_simple(&simple);
    free_taken(&found);
    /* where there is no room for a frame its caller stands for it */
    const uint32_t limit =
        rec_random_once_in(&walk->random, 2) ? 1 << 20 : rec_random_below(&walk->random, 8);
    struct taken one_by_one = take_walk(origin, objects, walk, true, limit);
    assert_same(&counts, &one_by_one.counts, "a walk by single elements");
    found = take_walk(origin, objects, walk, false, limit);
    assert_walk(&one_by_one.uses, &counts, &found, "a walk with few frames");
    assert_same(&one_by_one.loops, &found.loops, "loops of a walk");
    assert_int_equal(one_by_one.full, found.full);
    assert_int_equal(found.full > 0, limit < 8);
    free_taken(&found);
    free_taken(&one_by_one);
    free(counts.items);
}

static void test_walks(void **state)
{
    static struct walk walk = {.random = {.state = 5}};
    struct pug_capture *capture;
    struct pug_origin origin;
    struct pug_names *names = pug_names_new(NULL);
    (void)state;
    assert_int_equal(pug_capture_open(NAMED, &(struct pug_capture_options){0}, &capture), PUG_OK);
    (void)pug_capture_elements(capture, keep_origin, &origin);
    for (unsigned round = 0; round < 200; round += share_step(1, 3))
        check_walk(capture, &origin, names, &walk);
    pug_names_free(names);
    pug_capture_free(capture);
}

/** One range, of this task if there is one; how many tasks the profile has then. */
static size_t take_one(struct pug_element range, uint32_t task)
{
    struct pug_capture *capture;
    struct pug_origin origin;
    struct profile_objects objects = {.profile = pug_profile_new()};
    size_t tasks;
    assert_int_equal(pug_capture_open(NAMED, &(struct pug_capture_options){0}, &capture), PUG_OK);
    (void)pug_capture_elements(capture, keep_origin, &origin);
    objects.capture = capture;
    struct profile_counted counted = pug_profile_counted_begin(&objects);
    struct profile_stacks *stacks = pug_profile_stacks_new(&counted);
    assert_non_null(stacks);
    range.source = origin.source;
    origin.task = task;
    take(stacks, capture, &origin, &range, 1);
    assert_int_equal(pug_profile_stacks_end(stacks), PUG_OK);
    (void)pug_profile_tasks(objects.profile, &tasks);
    pug_profile_stacks_free(stacks);
    pug_profile_counted_free(&counted);
    pug_profile_free(objects.profile);
    pug_profile_objects_free(&objects);
    pug_capture_free(capture);
    return tasks;
}

/** A decoder of somebody else's may say anything of an instruction's size. */
static void test_wide_instruction(void **state)
{
    const struct pug_element wide = {.type = PUG_ELEM_INSTR_RANGE,
                                     .start = WALK_SEGMENT,
                                     .end = WALK_SEGMENT + 400,
                                     .count = 2,
                                     .isa = PUG_ISA_A64,
                                     .flags = PUG_ELEM_EXECUTED,
                                     .last_type = PUG_INSTR_BR,
                                     .last_size = 200};
    (void)state;
    assert_int_equal(take_one(wide, PUG_NO_TASK), 1);
}

/** Another process may say that a range is of a task that the capture does not have. */
static void test_no_such_task(void **state)
{
    const struct pug_element range = {.type = PUG_ELEM_INSTR_RANGE,
                                      .start = WALK_SEGMENT,
                                      .end = WALK_SEGMENT + 4,
                                      .count = 1,
                                      .isa = PUG_ISA_A64,
                                      .last_size = 4};
    (void)state;
    assert_int_equal(take_one(range, 77), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_CAPTURES(test_captures),        cmocka_unit_test(test_named),
        cmocka_unit_test(test_walks),        cmocka_unit_test(test_wide_instruction),
        cmocka_unit_test(test_no_such_task),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
