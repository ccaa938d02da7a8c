// SPDX-License-Identifier: MIT
/**
 * @file Buffers of several processors side by side: a thread that moves between them is heard in
 * the order in which it ran.
 */
#include "capture/capture.h"
#include "recorder/etmv4.h"
#include "recorder/frames.h"
#include "support/perf_heard.h"
#include "support/turns_story.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void check_story(const struct perf_story_config *config)
{
    struct perf_story story;
    perf_story_make(&story, config);
    struct pug_capture *capture = perf_heard_open(&story, NULL);
    for (unsigned each_time = 0; each_time < 2; each_time++) {
        struct perf_heard heard;
        perf_heard_listen_by_time(capture, each_time, NULL, &heard);
        perf_heard_check_all(&heard, &story);
        assert_int_equal(heard.bytes, story.trace_bytes);
        perf_heard_free(&heard);
    }
    pug_capture_free(capture);
    perf_story_free(&story);
}

static void test_stories(void **state)
{
    (void)state;
    for (unsigned number = 1; number <= 12; number++) {
        struct perf_story_config config = perf_story_kind(number);
        config.cpus = 2 + number % 7;
        check_story(&config);
    }
}

/** Where there is nothing to put in order all is as ever: one processor, threads. */
static void test_others(void **state)
{
    (void)state;
    check_story(&(struct perf_story_config){.seed = 4, .slices = 200, .cpus = 1});
    check_story(
        &(struct perf_story_config){.seed = 5, .slices = 200, .cpus = 3, .per_thread = true});
}

/* ---- after the last timestamp ---- */

/** Blocks 0, 1, 2 and, at EL1, 4, three times. */
static struct perf_story_path path_of(int32_t tid, uint64_t pcs[48])
{
    static const uint64_t blocks[] = {0, 1, 2, 4};
    struct perf_story_path path = {.tid = tid, .pcs = pcs};
    for (; path.count < 48; path.count++)
        pcs[path.count] =
            PERF_MAIN_BASE + PERF_BLOCK * blocks[path.count / 4 % 4] + 4 * (path.count % 4);
    return path;
}

/**
 * The kernel is left without a timestamp: the next one of the processor is of others, and later
 * than what the thread does elsewhere meanwhile.
 */
static void test_tails(void **state)
{
    const struct perf_turns turns = {.moves = true, .kernel = true};
    uint64_t pcs[2][48];
    const struct perf_story_path paths[] = {path_of(PERF_TURNS_FIRST, pcs[0]),
                                            path_of(PERF_TURNS_SECOND, pcs[1])};
    struct made_folder folder;
    struct perf_heard heard;
    (void)state;
    struct pug_capture *capture = turns_story_open(&turns, &folder);
    for (unsigned way = 0; way < 3; way++) {
        if (way < 2)
            perf_heard_listen_by_time(capture, way == 1, NULL, &heard);
        else
            perf_heard_listen(capture, 2, NULL, &heard);
        perf_heard_check(&heard, &paths[0]);
        perf_heard_check(&heard, &paths[1]);
        perf_heard_free(&heard);
    }
    turns_story_end(capture, &folder);
}

/* ---- parts, and what is left out ---- */

/** Threads have less. */
#define TIDS 2048

/** The elements, in their order. */
struct given {
    struct pug_capture *capture;
    uint64_t most;                   /* parts that are wanted; 0: all */
    uint64_t parts;                  /* that were taken, and chunks of them */
    uint64_t open;                   /* that were begun, and are neither taken nor dropped */
    uint64_t chunks, numbers, taken; /* in the order in which they are to be taken */
    uint64_t instructions, left_out;
    uint64_t turns; /* from one buffer to another */
    uint64_t back;  /* timestamps that are less than the thread's last one */
    uint64_t last[TIDS], times[TIDS];
    uint32_t segment;
};

struct part {
    struct given *given;
    struct pug_piece *piece;
    uint64_t number;
    bool any, unwanted;
    uint32_t segment;
};

static struct part *new_part(struct given *given, struct pug_piece *piece)
{
    struct part *part = calloc(1, sizeof(*part));
    assert_non_null(part);
    *part = (struct part){.given = given, .piece = piece, .number = ++given->numbers};
    given->open++;
    return part;
}

static void *begin(void *context, unsigned worker, struct pug_piece *piece)
{
    assert_int_equal(worker, 0);
    return new_part(context, piece);
}

/** Hand on the elements so far as a chunk, which comes before the rest. */
static void hand_on(struct part *part)
{
    struct part *chunk = new_part(part->given, part->piece);
    const uint64_t number = chunk->number;
    chunk->number = part->number;
    part->number = number;
    part->given->chunks++;
    part->unwanted = !pug_piece_emit(part->piece, chunk, sizeof(*chunk));
}

static void look_at_time(struct given *given, const struct pug_origin *origin, uint64_t time)
{
    const struct pug_capture_task *task = pug_capture_task_at(given->capture, origin->task);
    assert_non_null(task);
    assert_in_range(task->tid, 0, TIDS - 1);
    given->back += time < given->last[task->tid];
    given->last[task->tid] = time;
    given->times[task->tid]++;
}

static uint64_t look(struct part *part, const struct pug_origin *origin,
                     const struct pug_element *elements, size_t count)
{
    struct given *given = part->given;
    uint64_t instructions = 0;
    assert_false(part->unwanted);
    assert_true(!part->any || part->segment == origin->segment);
    part->any = true;
    part->segment = origin->segment;
    given->turns += given->segment != origin->segment;
    given->segment = origin->segment;
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(elements[i].source, origin->source);
        if (elements[i].type == PUG_ELEM_INSTR_RANGE)
            instructions += elements[i].count;
        else if (elements[i].type == PUG_ELEM_TIMESTAMP)
            look_at_time(given, origin, elements[i].timestamp);
    }
    return instructions;
}

static void chosen(void *context, const struct pug_origin *origin,
                   const struct pug_element *elements, size_t count)
{
    struct part *part = context;
    part->given->instructions += look(part, origin, elements, count);
    if (part->given->instructions % 3 == 0)
        hand_on(part);
}

static void others(void *context, const struct pug_origin *origin,
                   const struct pug_element *elements, size_t count)
{
    struct part *part = context;
    part->given->left_out += look(part, origin, elements, count);
}

static void drop(void *context)
{
    struct part *part = context;
    part->given->open--;
    free(part);
}

static bool take(void *context, void *part)
{
    struct given *given = context;
    const uint64_t number = ((const struct part *)part)->number;
    assert_true(number > given->taken);
    given->taken = number;
    drop(part);
    return ++given->parts != given->most;
}

static struct given decode(struct pug_capture *capture, bool by_time, uint64_t most,
                           const struct pug_capture_selection *selection)
{
    struct given given = {.capture = capture, .most = most, .segment = UINT32_MAX};
    struct pug_capture_result result;
    const struct pug_consumer consumer = {.context = &given,
                                          .wants = by_time ? PUG_WANTS_BY_TIME : 0,
                                          .begin = begin,
                                          .elements = chosen,
                                          .left_out = others,
                                          .take = take,
                                          .drop = drop};
    const struct pug_capture_decode config = {
        .consumers = &consumer, .consumer_count = 1, .threads = 1, .selection = selection};
    assert_int_equal(pug_capture_decode(capture, &config, &result), PUG_OK);
    assert_int_equal(given.open, 0);
    assert_int_equal(result.ended, most > 0 && given.parts == most);
    assert_int_equal(result.stopped, 0);
    return given;
}

static void test_parts(void **state)
{
    const struct perf_story_config config = {
        .seed = 8, .slices = 300, .cpus = 3, .sinks = true, .kernel = true};
    struct perf_story story;
    (void)state;
    perf_story_make(&story, &config);
    struct pug_capture *capture = perf_heard_open(&story, NULL);
    const struct given plain = decode(capture, false, 0, NULL);
    const struct given all = decode(capture, true, 0, NULL);
    assert_int_equal(all.instructions, plain.instructions);
    assert_int_equal(all.left_out, 0);
    assert_int_equal(all.back, 0);
    assert_true(plain.back > 0 && plain.chunks > 0 && all.chunks > 0);
    assert_true(plain.turns <= story.segments);
    assert_true(all.turns > 2 * story.segments); /* segments take turns */
    const int32_t tid = story.paths[0].tid;
    const struct pug_capture_selection one = {.tids = &tid, .tid_count = 1};
    const struct given some = decode(capture, true, 0, &one);
    assert_int_equal(some.instructions, story.paths[0].count);
    assert_int_equal(some.instructions + some.left_out, all.instructions);
    for (uint64_t most = 1; most < all.parts; most += 1 + most / 3)
        assert_int_equal(decode(capture, true, most, NULL).parts, most);
    pug_capture_free(capture);
    perf_story_free(&story);
}

/* ---- many processors ---- */

#define MANY       20u /* processors, each with a buffer for the trace of all */
#define MANY_STAYS 30u /* on each, of two threads in turn */

/** Every processor's turn comes once in a round: a stay of 50, every 100. */
static void put_stays(struct rec_perf *perf, unsigned cpu)
{
    const struct rec_etmv4_config config = {
        .idr0 = 0x28000ea1, .idr2 = 0x20001088, .configr = 0x840, .seed = 1};
    const struct rec_perf_sample sample = {
        .pid = 0, .tid = 0, .cpu = (int32_t)cpu, .time = 9000000};
    struct rec_bytes trace = {0}, framed = {0};
    struct rec_frames frames = {.out = &framed};
    struct rec_etmv4 *unit = rec_etmv4_new(&config, &trace);
    assert_non_null(unit);
    rec_etmv4_sync(unit);
    rec_etmv4_trace_on(unit);
    for (unsigned round = 0; round < MANY_STAYS; round++) {
        const struct rec_context context = {
            .sf = true, .ns = true, .has_context_id = true, .context_id = 200 + (round + cpu) % 2};
        const uint64_t from = 1000 + 100 * (uint64_t)(round * MANY + cpu);
        rec_etmv4_start(unit, PERF_MAIN_BASE, false, &context);
        rec_etmv4_timestamp(unit, from);
        rec_etmv4_atom(unit, false);
        rec_etmv4_timestamp(unit, from + 50);
        rec_etmv4_exception(unit, 0x0e, PERF_MAIN_BASE + PERF_BLOCK, false, false);
    }
    rec_etmv4_finish(unit);
    rec_etmv4_free(unit);
    rec_frames_put(&frames, (uint8_t)(0x10 + cpu), trace.data, trace.size);
    rec_frames_finish(&frames);
    rec_perf_aux(perf, &sample, 0, framed.size, 0);
    rec_perf_trace(perf, (int32_t)cpu, 0, 0, &framed);
    rec_bytes_free(&framed);
    rec_bytes_free(&trace);
}

static struct pug_capture *open_many(struct made_folder *folder)
{
    struct rec_perf_cpu cpus[MANY];
    struct rec_perf perf;
    for (unsigned i = 0; i < MANY; i++) {
        cpus[i] = perf_made_cpus[0];
        cpus[i].cpu = (int32_t)i;
        cpus[i].words[1] = 0x10 + i;
    }
    made_folder_begin(folder);
    rec_perf_begin(
        &perf, &(struct rec_perf_config){
                   .version = 1, .cpus = cpus, .cpu_count = MANY, .has_clock = true, .mult = 1});
    for (int32_t tid = 200; tid < 202; tid++) {
        const struct rec_perf_sample sample = {.pid = tid, .tid = tid, .cpu = 0, .time = 10};
        rec_perf_comm(&perf, &sample, "one", true);
    }
    for (unsigned cpu = 0; cpu < MANY; cpu++)
        put_stays(&perf, cpu);
    return perf_made_open(&perf, folder);
}

/** What is read for times is not kept where there are so many; what it says is. */
static void test_many(void **state)
{
    struct made_folder folder;
    (void)state;
    struct pug_capture *capture = open_many(&folder);
    const struct given plain = decode(capture, false, 0, NULL);
    const struct given all = decode(capture, true, 0, NULL);
    for (unsigned tid = 200; tid < 202; tid++) {
        assert_int_equal(plain.times[tid], MANY * MANY_STAYS);
        assert_int_equal(all.times[tid], MANY * MANY_STAYS);
    }
    assert_true(plain.back > 0);
    assert_int_equal(all.back, 0);
    pug_capture_free(capture);
    made_folder_end(&folder);
}

/* ---- profiles ---- */

/** A range, or a branch from one place to another, and how often. */
struct line {
    const char *object, *to_object;
    uint64_t first, last;
    int end; /* -1: a branch */
    uint64_t count;
};

struct lines {
    struct line *items;
    size_t count;
};

static const char *name_of(const struct pug_profile *profile, uint32_t number)
{
    size_t count;
    const struct pug_profile_object *objects = pug_profile_objects(profile, &count);
    return number < count ? objects[number].path : "";
}

static int by_place(const void *left, const void *right)
{
    const struct line *a = left, *b = right;
    const int object = strcmp(a->object, b->object), to = strcmp(a->to_object, b->to_object);
    if (object != 0 || to != 0)
        return object != 0 ? object : to;
    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    if (a->last != b->last)
        return a->last < b->last ? -1 : 1;
    return a->end - b->end;
}

static struct lines lines_of(const struct pug_profile *profile)
{
    size_t ranges, branches;
    const struct pug_profile_range *range = pug_profile_ranges(profile, &ranges);
    const struct pug_profile_branch *branch = pug_profile_branches(profile, &branches);
    struct line *lines = calloc(ranges + branches + 1, sizeof(*lines));
    assert_non_null(lines);
    for (size_t i = 0; i < ranges; i++)
        lines[i] = (struct line){name_of(profile, range[i].object),
                                 "",
                                 range[i].first,
                                 range[i].last,
                                 range[i].end,
                                 range[i].count};
    for (size_t i = 0; i < branches; i++)
        lines[ranges + i] = (struct line){name_of(profile, branch[i].object),
                                          name_of(profile, branch[i].to_object),
                                          branch[i].from,
                                          branch[i].to,
                                          -1,
                                          branch[i].count};
    qsort(lines, ranges + branches, sizeof(*lines), by_place);
    return (struct lines){lines, ranges + branches};
}

static struct pug_profile *profile_of(struct pug_capture *capture, bool stacks)
{
    struct pug_profile *profile = pug_profile_new();
    const struct pug_profiler_options options = {.threads = 2, .stacks = stacks};
    assert_non_null(profile);
    assert_int_equal(pug_profile_capture(profile, capture, &options, NULL), PUG_OK);
    return profile;
}

/** What ran, and went where, is the same with stacks, which are counted in the order of time. */
static void check_profiles(const struct perf_story_config *config)
{
    struct perf_story story;
    perf_story_make(&story, config);
    struct pug_capture *capture = perf_heard_open(&story, NULL);
    struct pug_profile *plain = profile_of(capture, false), *stacks = profile_of(capture, true);
    const struct lines expected = lines_of(plain), found = lines_of(stacks);
    assert_true(expected.count > 50);
    assert_int_equal(found.count, expected.count);
    for (size_t i = 0; i < expected.count; i++) {
        assert_int_equal(by_place(&found.items[i], &expected.items[i]), 0);
        assert_int_equal(found.items[i].count, expected.items[i].count);
    }
    assert_int_equal(pug_profile_noted(stacks, PUG_NOTE_SEGMENTS), story.segments);
    assert_int_equal(pug_profile_noted(plain, PUG_NOTE_SEGMENTS), story.segments);
    free(expected.items);
    free(found.items);
    pug_profile_free(plain);
    pug_profile_free(stacks);
    pug_capture_free(capture);
    perf_story_free(&story);
}

static void test_profiles(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++)
        check_profiles(&(struct perf_story_config){.seed = seed * 7,
                                                   .slices = 100 * (unsigned)seed,
                                                   .cpus = 2 + (unsigned)seed % 4,
                                                   .sinks = seed % 2 == 0,
                                                   .kernel = seed % 3 == 0});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stories), cmocka_unit_test(test_others),
        cmocka_unit_test(test_tails),   cmocka_unit_test(test_parts),
        cmocka_unit_test(test_many),    cmocka_unit_test(test_profiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
