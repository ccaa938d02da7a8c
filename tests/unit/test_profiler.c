// SPDX-License-Identifier: MIT
/**
 * @file Captures counted: against the counts of the path that really ran, on any number of threads,
 * and in parts. The counts that are expected are in ../shared/perfdata; tests of these are skipped
 * where it is not there.
 */
#include "export/export.h"
#include "pugmark/names.h"
#include "pugmark/profiler.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define DATA     PUG_SOURCE_DIR "/../shared/perfdata/paw"
#define CAPTURES PUG_SOURCE_DIR "/../shared/captures"
#define OWN      PUG_SOURCE_DIR "/tests/captures"

static bool is_there(const char *path)
{
    if (access(path, R_OK) == 0)
        return true;
    print_message("skipped: no %s\n", path);
    return false;
}

struct counted {
    struct pug_profile *profile;
    struct pug_names *names;
};

static void count_into(struct pug_profile *profile, struct pug_names *names, const char *path,
                       unsigned threads, bool stacks, const struct pug_capture_selection *selection)
{
    struct pug_capture *capture;
    const struct pug_capture_options options = {.roots = {.symfs = DATA "/root"}};
    const struct pug_profiler_options profiler = {
        .threads = threads, .stacks = stacks, .names = names, .selection = selection};
    assert_int_equal(pug_capture_open(path, &options, &capture), PUG_OK);
    assert_int_equal(pug_profile_capture(profile, capture, &profiler, NULL), PUG_OK);
    pug_capture_free(capture);
}

static struct counted count(const char *path, unsigned threads, bool stacks)
{
    const struct pug_names_options options = {.symfs = DATA "/root"};
    struct counted counted = {pug_profile_new(), pug_names_new(&options)};
    assert_non_null(counted.profile);
    assert_non_null(counted.names);
    count_into(counted.profile, counted.names, path, threads, stacks, NULL);
    return counted;
}

static void empty(struct counted *counted)
{
    pug_profile_free(counted->profile);
    pug_names_free(counted->names);
}

static void assert_same_file(struct pug_profile *left, struct pug_profile *right)
{
    size_t left_size, right_size;
    uint8_t *a, *b;
    assert_int_equal(pug_profile_write(left, &a, &left_size), PUG_OK);
    assert_int_equal(pug_profile_write(right, &b, &right_size), PUG_OK);
    assert_int_equal(left_size, right_size);
    assert_memory_equal(a, b, left_size);
    free(a);
    free(b);
}

/* ---- lines of text ---- */

static int by_text(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

struct lines {
    char *items[16384];
    size_t count;
};

static void add_line(struct lines *lines, const char *text)
{
    assert_true(lines->count < 16384);
    assert_non_null(lines->items[lines->count++] = strdup(text));
}

static void free_lines(struct lines *lines)
{
    for (size_t i = 0; i < lines->count; i++)
        free(lines->items[i]);
    lines->count = 0;
}

static struct lines got, want;

static void assert_same_lines(void)
{
    qsort(got.items, got.count, sizeof(got.items[0]), by_text);
    qsort(want.items, want.count, sizeof(want.items[0]), by_text);
    for (size_t i = 0; i < got.count && i < want.count; i++)
        assert_string_equal(got.items[i], want.items[i]);
    assert_int_equal(got.count, want.count);
    assert_true(want.count > 0);
    free_lines(&got);
    free_lines(&want);
}

/* Lines of the given kinds of a file of what is expected. */
static void want_from(const char *kinds, const char *name, const char *suffix)
{
    char command[512], line[1024];
    snprintf(command, sizeof(command),
             "f=%s/expected/%s.%s; case $f in *.xz) xz -dc $f;; *) cat $f;; esac", DATA, name,
             suffix);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    while (fgets(line, sizeof(line), pipe)) {
        line[strcspn(line, "\n")] = '\0';
        if (!kinds || strchr(kinds, line[0]))
            add_line(&want, line);
    }
    assert_int_equal(pclose(pipe), 0);
}

/* ---- counts ---- */

static const struct pug_profile_object *objects_of(const struct pug_profile *profile)
{
    size_t count_;
    return pug_profile_objects(profile, &count_);
}

static void got_ranges(struct counted *counted)
{
    char line[1024];
    size_t number;
    const struct pug_export_options options = {0};
    const struct exporter exporter = {.profile = counted->profile, .options = &options};
    pug_profile_objects(counted->profile, &number);
    for (uint32_t object = 0; object < number; object++) {
        struct export_counts counts;
        assert_int_equal(pug_export_counts(&exporter, object, &counts), PUG_OK);
        for (size_t i = 0; i < counts.range_count; i++) {
            snprintf(line, sizeof(line), "r %s %llx %llx %llu",
                     objects_of(counted->profile)[object].path,
                     (unsigned long long)counts.ranges[i].first,
                     (unsigned long long)counts.ranges[i].last,
                     (unsigned long long)counts.ranges[i].count);
            add_line(&got, line);
        }
        pug_export_counts_free(&counts);
    }
}

static void got_branches(struct counted *counted)
{
    char line[1024];
    size_t number;
    const struct pug_profile_branch *branches = pug_profile_branches(counted->profile, &number);
    for (size_t i = 0; i < number; i++) {
        assert_int_not_equal(branches[i].to_object, PUG_PROFILE_NONE);
        snprintf(line, sizeof(line), "b %s %llx %s %llx %llu",
                 objects_of(counted->profile)[branches[i].object].path,
                 (unsigned long long)branches[i].from,
                 objects_of(counted->profile)[branches[i].to_object].path,
                 (unsigned long long)branches[i].to, (unsigned long long)branches[i].count);
        add_line(&got, line);
    }
}

static void test_counts_of_shared(void **state)
{
    (void)state;
    static const char *const names[] = {"thread-v0", "thread-v1", "cpu-shared", "ete-raw",
                                        "snapshot",  "hwid-v0",   "hwid-sinks", "zstd"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char path[512];
        snprintf(path, sizeof(path), "%s/%s.data", DATA, names[i]);
        if (!is_there(path))
            skip();
        struct counted counted = count(path, 2, false);
        assert_int_equal(pug_profile_sort(counted.profile), PUG_OK);
        print_message("%s\n", names[i]);
        got_ranges(&counted);
        got_branches(&counted);
        want_from("rb", names[i], "counts.xz");
        assert_same_lines();
        empty(&counted);
    }
}

/* ---- stacks ---- */

static const char *const threaded[] = {"thread-v0", "thread-v1"};

static void test_functions_of_shared(void **state)
{
    (void)state;
    if (!is_there(DATA "/thread-v1.data"))
        skip();
    for (size_t i = 0; i < 2; i++) {
        char path[512], line[1024];
        snprintf(path, sizeof(path), "%s/%s.data", DATA, threaded[i]);
        struct counted counted = count(path, 1, true);
        struct export_functions functions;
        const struct pug_export_options options = {.names = counted.names};
        assert_int_equal(pug_profile_sort(counted.profile), PUG_OK);
        const struct exporter exporter = {.profile = counted.profile, .options = &options};
        assert_int_equal(pug_export_functions(&exporter, &functions), PUG_OK);
        for (size_t n = 0; n < functions.count; n++) {
            snprintf(line, sizeof(line), "%s self %llu inclusive %llu", functions.items[n].name,
                     (unsigned long long)functions.items[n].self,
                     (unsigned long long)functions.items[n].inclusive);
            add_line(&got, line);
        }
        pug_export_functions_free(&functions);
        want_from(NULL, threaded[i], "functions");
        assert_same_lines();
        empty(&counted);
    }
}

static struct {
    char text[256];
    uint64_t calls;
} edges[256];
static size_t edge_count;

static void add_calls(const char *text, uint64_t calls)
{
    size_t at = 0;
    while (at < edge_count && strcmp(edges[at].text, text) != 0)
        at++;
    assert_true(at < 256);
    if (at == edge_count) {
        snprintf(edges[at].text, sizeof(edges[0].text), "%.255s", text);
        edges[edge_count++].calls = 0;
    }
    edges[at].calls += calls;
}

/* "CALLER CALLEE COUNT", callers by where the call is. */
static void test_calls_of_shared(void **state)
{
    (void)state;
    if (!is_there(DATA "/thread-v1.data"))
        skip();
    for (size_t i = 0; i < 2; i++) {
        char path[512], line[1024];
        snprintf(path, sizeof(path), "%s/%s.data", DATA, threaded[i]);
        struct counted counted = count(path, 1, true);
        const struct pug_export_options options = {.names = counted.names};
        assert_int_equal(pug_profile_sort(counted.profile), PUG_OK);
        const struct exporter exporter = {.profile = counted.profile, .options = &options};
        size_t number;
        const struct pug_profile_frame *frames = pug_profile_frames(counted.profile, &number);
        edge_count = 0;
        for (size_t n = 0; n < number; n++) {
            struct export_function_name caller, callee;
            if (frames[n].site_object == PUG_PROFILE_NONE)
                continue;
            pug_export_function(&exporter, frames[n].site_object, frames[n].site, &caller);
            pug_export_function(&exporter, frames[n].object, frames[n].function, &callee);
            snprintf(line, sizeof(line), "%s %s", caller.name, callee.name);
            add_calls(line, frames[n].calls);
        }
        for (size_t n = 0; n < edge_count; n++) {
            snprintf(line, sizeof(line), "%.255s %llu", edges[n].text,
                     (unsigned long long)edges[n].calls);
            add_line(&got, line);
        }
        want_from(NULL, threaded[i], "calls");
        assert_same_lines();
        empty(&counted);
    }
}

/* ---- time ---- */

static uint64_t time_of(const struct pug_profile *profile)
{
    size_t frames_count;
    const struct pug_profile_frame *frames = pug_profile_frames(profile, &frames_count);
    uint64_t sum = 0;
    for (size_t i = 0; i < frames_count; i++)
        sum += frames[i].time;
    return sum;
}

/** Nanoseconds where the file says what the trace's clock is, which are no more than it lasted. */
static void test_time_of_shared(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        enum pug_profile_unit unit;
    } known[] = {{DATA "/hwid-v0.data", PUG_PROFILE_NANOSECONDS},
                 {DATA "/cpu-shared.data", PUG_PROFILE_TICKS}};
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        struct pug_capture *capture;
        if (!is_there(known[i].path))
            skip();
        struct counted counted = count(known[i].path, 1, true);
        assert_int_equal(pug_profile_time_unit(counted.profile), known[i].unit);
        assert_true(time_of(counted.profile) > 0);
        assert_int_equal(
            pug_capture_open(known[i].path, &(struct pug_capture_options){0}, &capture), PUG_OK);
        const struct pug_capture_time times = pug_capture_times(capture);
        uint64_t from = 0, to = 0;
        assert_int_equal(pug_capture_clock(capture, 1000000, &from),
                         known[i].unit == PUG_PROFILE_NANOSECONDS);
        if (pug_capture_clock(capture, 2000000, &to)) {
            assert_true(to > from);
            assert_int_not_equal(to - from, 1000000); /* its cycles are no nanoseconds */
            assert_true(time_of(counted.profile) <= 2 * (times.last - times.first));
        }
        pug_capture_free(capture);
        empty(&counted);
    }
}

/* ---- threads and parts ---- */

static void check_threads(const char *const *paths, size_t count_)
{
    for (size_t i = 0; i < count_; i++) {
        if (!is_there(paths[i]))
            skip();
        for (int stacks = 0; stacks < 2; stacks++) {
            struct counted one = count(paths[i], 1, stacks), two = count(paths[i], 2, stacks),
                           eight = count(paths[i], 8, stacks);
            assert_same_file(one.profile, two.profile);
            assert_same_file(one.profile, eight.profile);
            empty(&one);
            empty(&two);
            empty(&eight);
        }
    }
}

static void test_threads(void **state)
{
    static const char *const paths[] = {OWN "/etmv4-a64", OWN "/etmv3-arm-threads", OWN "/ptm-arm",
                                        OWN "/etrace-rv64", OWN "/ntrace-rv64"};
    (void)state;
    check_threads(paths, sizeof(paths) / sizeof(paths[0]));
}

static void test_threads_of_shared(void **state)
{
    static const char *const paths[] = {DATA "/thread-v1.data", DATA "/cpu-shared.data",
                                        CAPTURES "/juno_r1_1", CAPTURES "/bugfix-exact-match"};
    (void)state;
    check_threads(paths, sizeof(paths) / sizeof(paths[0]));
}

/* Where times are selected ranges are delivered, of sources in any order, and counted then. */
static void test_delivered(void **state)
{
    static const char *const paths[] = {OWN "/etmv4-a64", OWN "/ete-a64-versions", OWN "/ptm-arm"};
    const struct pug_capture_selection all = {.has_from = true};
    (void)state;
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
        for (unsigned threads = 1; threads < 4; threads += 2) {
            struct counted counted = count(paths[i], threads, false);
            struct pug_profile *delivered = pug_profile_new();
            count_into(delivered, counted.names, paths[i], threads, false, &all);
            assert_same_file(counted.profile, delivered);
            pug_profile_free(delivered);
            empty(&counted);
        }
}

/* ---- loops, from the path that ran ---- */

/* The load address of the objects. */
static uint64_t base_of(const char *path)
{
    const char *name = strrchr(path, '/') + 1;
    return strcmp(name, "paw") == 0         ? 0x5500000000u
           : strcmp(name, "libpaw.so") == 0 ? 0x5502848000u
                                            : 0;
}

/* A visit as the path has it, which knows nothing of calls. */
struct walked {
    long tid;
    uint64_t before, rounds;
};

static void add_rounds(struct pug_profile_loop *loop, uint64_t rounds)
{
    if (rounds == 0)
        return;
    loop->least = loop->visits == 0 || rounds < loop->least ? rounds : loop->least;
    loop->most = rounds > loop->most ? rounds : loop->most;
    loop->visits++;
    loop->rounds += rounds;
    loop->squares += rounds * rounds;
}

/* Functions of up to 256 bytes: everything that comes back to the head from a higher address goes
 * back. */
static void walk(struct walked *walked, struct pug_profile_loop *loop, uint64_t head, long tid,
                 uint64_t at)
{
    if (walked->tid != tid) {
        add_rounds(loop, walked->rounds);
        *walked = (struct walked){.tid = tid};
    }
    if (at == head && !(walked->before >= head && walked->before < head + 256)) {
        add_rounds(loop, walked->rounds);
        walked->rounds = 0;
    }
    walked->rounds += at == head;
    walked->before = at;
}

static struct pug_profile_loop walk_path(const char *name, uint64_t head)
{
    struct pug_profile_loop loop = {0};
    struct walked walked = {0};
    char command[512], line[256];
    snprintf(command, sizeof(command), "xz -dc %s/expected/%s.path.xz", DATA, name);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    while (fgets(line, sizeof(line), pipe)) {
        char *rest;
        const long tid = strtol(line, &rest, 10);
        walk(&walked, &loop, head, tid, strtoull(rest, NULL, 16));
    }
    assert_int_equal(pclose(pipe), 0);
    add_rounds(&loop, walked.rounds);
    return loop;
}

static bool is_recursive(const struct counted *counted, const struct pug_profile_loop *loop)
{
    const struct pug_export_options options = {.names = counted->names};
    const struct exporter exporter = {.profile = counted->profile, .options = &options};
    struct export_function_name name;
    pug_export_function(&exporter, loop->object, loop->head, &name);
    assert_true(name.known);
    return strcmp(name.name, "fib") == 0;
}

/*
 * Which loops iterate, and how often, in a capture. Where each processor has a buffer of its own,
 * `apart`, a thread's visits are cut where it moves.
 */
static size_t check_loops(const char *name, bool apart)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/%s.data", DATA, name);
    struct counted counted = count(path, 2, true);
    size_t number, checked = 0;
    assert_int_equal(pug_profile_sort(counted.profile), PUG_OK);
    const struct pug_profile_loop *loops = pug_profile_loops(counted.profile, &number);
    for (size_t i = 0; i < number; i++) {
        const struct pug_profile_loop *loop = &loops[i];
        const uint64_t base = base_of(objects_of(counted.profile)[loop->object].path);
        const struct pug_profile_loop expected = walk_path(name, base + loop->head);
        print_message("%s: %#" PRIx64 "\n", name, base + loop->head);
        assert_int_equal(loop->rounds, expected.rounds);
        if (loop->most == 1 || apart)
            continue; /* the path alone does not distinguish one round from a jump */
        assert_int_equal(loop->visits, expected.visits);
        assert_int_equal(loop->squares_high, 0);
        checked++;
        if (is_recursive(&counted, loop))
            continue;
        assert_int_equal(loop->squares, expected.squares);
        assert_int_equal(loop->least, expected.least);
        assert_int_equal(loop->most, expected.most);
    }
    assert_true(number > 2);
    empty(&counted);
    return checked;
}

static void test_loops_of_shared(void **state)
{
    (void)state;
    static const char *const names[] = {"thread-v0", "thread-v1", "cpu-shared", "ete-raw",
                                        "snapshot",  "hwid-v0",   "hwid-sinks", "zstd"};
    size_t checked = 0;
    if (!is_there(DATA))
        skip();
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        checked += check_loops(names[i], strcmp(names[i], "ete-raw") == 0 ||
                                             strcmp(names[i], "hwid-sinks") == 0);
    assert_true(checked > 30);
}

static void assert_same_counts(struct counted *sum, struct counted *whole)
{
    assert_int_equal(pug_profile_sort(sum->profile), PUG_OK);
    assert_int_equal(pug_profile_sort(whole->profile), PUG_OK);
    got_ranges(whole);
    got_branches(whole);
    want = got;
    got.count = 0;
    got_ranges(sum);
    got_branches(sum);
    assert_same_lines();
}

/** Another part of what a capture has, added to the sum. */
static void add_part(struct counted *sum, const char *path,
                     const struct pug_capture_selection *selection)
{
    struct pug_profile *part = pug_profile_new();
    count_into(part, sum->names, path, 2, true, selection);
    assert_int_equal(pug_profile_merge(sum->profile, part), PUG_OK);
    pug_profile_free(part);
}

/* Each source of three processors counted by itself, and added up. */
static void test_parts(void **state)
{
    (void)state;
    const char *path = OWN "/etmv4-a64";
    const struct pug_capture_source *source;
    struct pug_capture *capture;
    struct counted whole = count(path, 2, true);
    struct counted sum = {pug_profile_new(), whole.names};
    size_t n = 0;
    assert_int_equal(pug_capture_open(path, NULL, &capture), PUG_OK);
    for (; (source = pug_capture_source_at(capture, n)) != NULL; n++)
        add_part(&sum, path,
                 &(struct pug_capture_selection){.sources = &source->id, .source_count = 1});
    assert_int_equal(n, 3);
    pug_capture_free(capture);
    assert_same_counts(&sum, &whole);
    pug_profile_free(sum.profile);
    empty(&whole);
}

/* Each thread counted by itself, and added up. */
static void test_parts_of_shared(void **state)
{
    (void)state;
    const char *path = DATA "/cpu-shared.data";
    struct pug_capture *capture;
    const struct pug_capture_options options = {.roots = {.symfs = DATA "/root"}};
    const struct pug_capture_task *task;
    if (!is_there(path))
        skip();
    struct counted whole = count(path, 2, true);
    struct counted sum = {pug_profile_new(), whole.names};
    assert_int_equal(pug_capture_open(path, &options, &capture), PUG_OK);
    int32_t seen[64];
    size_t seen_count = 0;
    for (size_t n = 0; (task = pug_capture_task_at(capture, n)) != NULL; n++) {
        bool again = false;
        for (size_t i = 0; i < seen_count; i++)
            again |= seen[i] == task->tid;
        if (again)
            continue;
        seen[seen_count++] = task->tid;
        add_part(&sum, path, &(struct pug_capture_selection){.tids = &task->tid, .tid_count = 1});
    }
    assert_true(seen_count > 1);
    pug_capture_free(capture);
    assert_same_counts(&sum, &whole);
    assert_true(time_of(whole.profile) > 0);
    assert_int_equal(time_of(sum.profile), time_of(whole.profile));
    pug_profile_free(sum.profile);
    empty(&whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts_of_shared),
        cmocka_unit_test(test_functions_of_shared),
        cmocka_unit_test(test_calls_of_shared),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_delivered),
        cmocka_unit_test(test_threads_of_shared),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_parts_of_shared),
        cmocka_unit_test(test_time_of_shared),
        cmocka_unit_test(test_loops_of_shared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
