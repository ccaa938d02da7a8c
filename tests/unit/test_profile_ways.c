// SPDX-License-Identifier: MIT
/**
 * @file Two ways to one profile: ranges that decoders count themselves, and elements that are
 * counted, as they are where call stacks are wanted. All captures that there are, whole and
 * damaged, on one, two and eight threads, in short pieces and in long ones.
 */
#include "pugmark/names.h"
#include "pugmark/profiler.h"
#include "recorder/bytes.h"
#include "support/temporary.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define OWN     PUG_SOURCE_DIR "/tests/captures"
#define SHARED  PUG_SOURCE_DIR "/../shared/captures"
#define PERF    PUG_SOURCE_DIR "/../shared/perfdata/paw"
#define DAMAGES 4u
#define LARGE   (256u << 10) /* captures without damaged copies */

static struct pug_capture *open_capture(const char *path)
{
    struct pug_capture *capture = NULL;
    const struct pug_capture_options options = {.roots = {.symfs = PERF "/root"}};
    return pug_capture_open(path, &options, &capture) == PUG_OK ? capture : NULL;
}

/** NULL: nothing in it can be decoded. */
static struct pug_profile *count(const char *path, unsigned threads, size_t piece, bool stacks)
{
    const struct pug_profiler_options options = {
        .threads = threads, .piece = piece, .stacks = stacks};
    struct pug_capture *capture = open_capture(path);
    struct pug_profile *profile = pug_profile_new();
    assert_non_null(capture);
    assert_non_null(profile);
    const enum pug_status status = pug_profile_capture(profile, capture, &options, NULL);
    pug_capture_free(capture);
    if (status == PUG_OK) {
        assert_int_equal(pug_profile_sort(profile), PUG_OK);
        return profile;
    }
    assert_int_not_equal(status, PUG_ERR_MEM);
    pug_profile_free(profile);
    return NULL;
}

static bool same_range(const struct pug_profile_range *a, const struct pug_profile_range *b)
{
    return a->first == b->first && a->last == b->last && a->count == b->count &&
           a->cycles == b->cycles && a->object == b->object && a->instructions == b->instructions &&
           a->last_size == b->last_size && a->isa == b->isa && a->end == b->end;
}

static void assert_same(const struct pug_profile *left, const struct pug_profile *right,
                        const char *name, const char *what)
{
    size_t n, m;
    const struct pug_profile_range *a = pug_profile_ranges(left, &n),
                                   *b = pug_profile_ranges(right, &m);
    for (size_t i = 0; i < n && i < m; i++)
        if (!same_range(&a[i], &b[i]))
            fail_msg("%s, %s: range %zu is %llx to %llx, %llu times, %llu cycles, not %llx to "
                     "%llx, %llu times, %llu cycles",
                     name, what, i, (unsigned long long)b[i].first, (unsigned long long)b[i].last,
                     (unsigned long long)b[i].count, (unsigned long long)b[i].cycles,
                     (unsigned long long)a[i].first, (unsigned long long)a[i].last,
                     (unsigned long long)a[i].count, (unsigned long long)a[i].cycles);
    if (n != m)
        fail_msg("%s, %s: %zu ranges, not %zu", name, what, m, n);
    const struct pug_profile_branch *p = pug_profile_branches(left, &n),
                                    *q = pug_profile_branches(right, &m);
    for (size_t i = 0; i < n && i < m; i++)
        if (memcmp(&p[i], &q[i], sizeof(p[i])) != 0)
            fail_msg("%s, %s: branch %zu is %llx to %llx, %llu times, not %llx to %llx, %llu times",
                     name, what, i, (unsigned long long)q[i].from, (unsigned long long)q[i].to,
                     (unsigned long long)q[i].count, (unsigned long long)p[i].from,
                     (unsigned long long)p[i].to, (unsigned long long)p[i].count);
    if (n != m)
        fail_msg("%s, %s: %zu branches, not %zu", name, what, m, n);
    for (int note = 0; note < PUG_NOTE_COUNT; note++)
        if (note != PUG_NOTE_STACKS_LOST &&
            pug_profile_noted(left, note) != pug_profile_noted(right, note))
            fail_msg("%s, %s: %llu %s, not %llu", name, what,
                     (unsigned long long)pug_profile_noted(right, note),
                     pug_profile_note_text(note),
                     (unsigned long long)pug_profile_noted(left, note));
}

static void check(const char *path, bool whole)
{
    static const struct {
        const char *what;
        unsigned threads;
        size_t piece;
        bool stacks;
    } ways[] = {{"one thread", 1, 0, false},
                {"short pieces", 1, 1024, false},
                {"elements, two threads", 2, 4096, true},
                {"two threads", 2, 4096, false},
                {"eight threads", 8, 1024, false},
                {"eight threads, long pieces", 8, 0, false}};
    struct pug_profile *expected = count(path, 1, 0, true);
    for (size_t i = 0; expected && i < sizeof(ways) / sizeof(ways[0]); i += whole ? 1 : 2) {
        struct pug_profile *profile = count(path, ways[i].threads, ways[i].piece, ways[i].stacks);
        assert_non_null(profile);
        assert_same(expected, profile, path, ways[i].what);
        pug_profile_free(profile);
    }
    pug_profile_free(expected);
}

/* ---- damage ---- */

/** A copy that may be written; from NULL: it goes. */
static void copy_to(const char *from, const char *to)
{
    char command[8400];
    if (from)
        snprintf(command, sizeof(command), "cp -rL --no-preserve=mode '%s' '%s'", from, to);
    else
        snprintf(command, sizeof(command), "rm -r '%s'", to);
    assert_int_equal(system(command), 0);
}

/** Change some bytes of the first buffer's file; false: there is none, or it is large. */
static bool damage(const char *path, struct rec_random *random)
{
    struct pug_capture *capture = open_capture(path);
    const struct pug_capture_buffer *buffer = capture ? pug_capture_buffer_at(capture, 0) : NULL;
    FILE *file = buffer && buffer->file ? fopen(buffer->file, "r+b") : NULL;
    pug_capture_free(capture);
    if (!file)
        return false;
    fseek(file, 0, SEEK_END);
    const long size = ftell(file);
    for (unsigned i = 1 + (unsigned)rec_random_below(random, 8); i > 0 && size > 0; i--) {
        fseek(file, (long)rec_random_below(random, (uint64_t)size), SEEK_SET);
        fputc((int)rec_random_below(random, 256), file);
    }
    fclose(file);
    return size > 0 && size < (long)LARGE;
}

static void check_damaged(const char *path, struct rec_random *random)
{
    char folder[128], copy[4096];
    const char *name = strrchr(path, '/') + 1;
    assert_true(temporary_folder(folder, sizeof(folder), "ways"));
    snprintf(copy, sizeof(copy), "%s/%s", folder, name);
    for (unsigned n = 0; n < DAMAGES; n++) {
        copy_to(path, copy);
        struct pug_capture *capture = damage(copy, random) ? open_capture(copy) : NULL;
        if (capture)
            check(copy, false);
        pug_capture_free(capture);
        copy_to(NULL, copy);
    }
    rmdir(folder);
}

/* ---- all captures ---- */

static int check_all(const char *folder_name, const char *suffix)
{
    DIR *folder = opendir(folder_name);
    struct rec_random random = {.state = 17};
    int checked = 0;
    for (struct dirent *entry; folder && (entry = readdir(folder)) != NULL;) {
        char path[4096];
        snprintf(path, sizeof(path), "%s/%s%s", folder_name, entry->d_name, suffix);
        if (entry->d_name[0] == '.' || access(path, R_OK) != 0)
            continue;
        path[strlen(path) - strlen(suffix)] = '\0';
        struct pug_capture *capture = open_capture(path);
        pug_capture_free(capture);
        if (!capture)
            continue;
        check(path, true);
        check_damaged(path, &random);
        checked++;
    }
    if (folder)
        closedir(folder);
    return checked;
}

static void test_own(void **state)
{
    (void)state;
    assert_true(check_all(OWN, "/snapshot.ini") > 0);
}

static void test_shared(void **state)
{
    (void)state;
    if (check_all(SHARED, "/snapshot.ini") == 0)
        skip();
}

static void test_shared_perf(void **state)
{
    (void)state;
    if (check_all(PERF, "") == 0)
        skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own),
        cmocka_unit_test(test_shared),
        cmocka_unit_test(test_shared_perf),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
