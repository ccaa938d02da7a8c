// SPDX-License-Identifier: MIT
/** @file Folders that are searched for the programs of perf.data (--symdir). */
#include "support/perf_app.h"
#include "support/said.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static const uint8_t an_id[20] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                  11, 12, 13, 14, 15, 16, 17, 18, 19, 20};

/** All that is below a folder. */
static void make_inner(struct made_folder *folder, const char *path)
{
    char inner[128];
    struct stat status;
    for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        const int length = (int)(slash - path);
        snprintf(inner, sizeof(inner), "%s/%.*s", folder->path, length, path);
        if (stat(inner, &status) == 0)
            continue;
        snprintf(inner, sizeof(inner), "%.*s", length, path);
        made_folder_inner(folder, inner);
    }
}

static const char *put(struct made_folder *folder, const char *name,
                       const struct perf_app_program *program)
{
    make_inner(folder, name);
    return perf_app_file(folder, name, program);
}

/**
 * Which file below "sym" of the folder is taken for the one that was mapped from a path; `wanted`:
 * its path there, or NULL where none is to be. What was said.
 */
static struct said check(struct made_folder *folder, const struct rec_perf_map *map, bool confine,
                         const char *wanted)
{
    char symdir[96], file[128];
    const char *symdirs[] = {symdir};
    struct pug_capture *capture;
    struct said said = {""};
    struct pug_log *log = pug_log_new(PUG_SEV_WARN);
    const char *recorded = perf_app_record(folder, map);
    assert_non_null(log);
    pug_log_set_sink(log, said_record, &said);
    snprintf(symdir, sizeof(symdir), "%s/sym", folder->path);
    const struct pug_capture_options options = {
        .log = log,
        .confine = confine,
        .roots = {.symfs = "/nonexistent", .symdirs = symdirs, .symdir_count = 1, .build_ids = ""}};
    assert_int_equal(pug_capture_open(recorded, &options, &capture), PUG_OK);
    assert_int_equal(perf_app_instructions(capture), wanted ? 4 : 0);
    const struct pug_capture_object *object = perf_app_object(capture, map->path);
    assert_non_null(object);
    snprintf(file, sizeof(file), "%s/%s", symdir, wanted ? wanted : "");
    assert_string_equal(object->file ? object->file : "", wanted ? file : "");
    pug_capture_free(capture);
    pug_log_free(log);
    assert_int_equal(remove(recorded), 0);
    folder->count--;
    return said;
}

/** Of several files of a name that is taken which has most of the recorded folders around it. */
static void test_likeliest(void **state)
{
    static const char *const made[] = {"sym/z/app", "sym/old/bin/app", "sym/system/bin/app",
                                       "sym/system/mybin/app", "sym/a/app"};
    static const struct perf_app_program usual = {.id = NULL};
    struct made_folder folder;
    (void)state;
    made_folder_begin(&folder);
    for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++)
        (void)put(&folder, made[i], &usual);
    check(&folder, &(struct rec_perf_map){.path = "/system/bin/app", .offset = PERF_APP_TEXT},
          false, "system/bin/app");
    check(&folder, &(struct rec_perf_map){.path = "/old/bin/app", .offset = PERF_APP_TEXT}, false,
          "old/bin/app");
    check(&folder, &(struct rec_perf_map){.path = "/mybin/app", .offset = PERF_APP_TEXT}, false,
          "system/mybin/app");
    check(&folder, &(struct rec_perf_map){.path = "/opt/app", .offset = PERF_APP_TEXT}, false,
          "a/app");
    made_folder_end(&folder);
}

/** What cannot have run is not taken, and what can hardly lie where it was mapped comes last. */
static void test_unfit(void **state)
{
    struct made_folder folder;
    const struct rec_perf_map map = {.path = "/lib/app", .offset = PERF_APP_TEXT};
    (void)state;
    made_folder_begin(&folder);
    (void)put(&folder, "sym/lib/app", &(struct perf_app_program){.machine = 62});
    check(&folder, &map, false, NULL);
    (void)put(&folder, "sym/a/app", &(struct perf_app_program){.type = 3});
    check(&folder, &map, false, "a/app");
    (void)put(&folder, "sym/b/app", &(struct perf_app_program){.type = 2});
    check(&folder, &map, false, "b/app");
    made_folder_end(&folder);
}

/** By build id alone: debug information has it, too, and others of the name are not it. */
static void test_build_id(void **state)
{
    static const uint8_t other[20] = {9};
    struct made_folder folder;
    const struct rec_perf_map map = {
        .path = "/app", .offset = PERF_APP_TEXT, .build_id = an_id, .build_id_size = 20};
    (void)state;
    made_folder_begin(&folder);
    (void)put(&folder, "sym/app", &(struct perf_app_program){.id = other});
    (void)put(&folder, "sym/x/a.debug", &(struct perf_app_program){.id = an_id, .no_text = true});
    (void)put(&folder, "sym/x/no_program", &(struct perf_app_program){.id = NULL});
    check(&folder, &map, false, NULL);
    (void)put(&folder, "sym/x/called", &(struct perf_app_program){.id = an_id});
    check(&folder, &map, false, "x/called");
    made_folder_end(&folder);
}

static void put_link(struct made_folder *folder, const char *to, const char *name)
{
    make_inner(folder, name);
    assert_int_equal(symlink(to, made_folder_path(folder, name)), 0);
}

/** Links are followed: as if the folder were "/", else to wherever, but where that is unwanted. */
static void test_links(void **state)
{
    static const struct perf_app_program usual = {.id = NULL};
    struct made_folder folder;
    (void)state;
    made_folder_begin(&folder);
    const char *outside = put(&folder, "out/second", &usual);
    (void)put(&folder, "out/inner/third", &usual);
    (void)put(&folder, "sym/lib/app-1.2", &usual);
    put_link(&folder, "app-1.2", "sym/lib/app");
    put_link(&folder, "/lib/app-1.2", "sym/bin/absolute");
    put_link(&folder, outside, "sym/bin/other");
    put_link(&folder, "../../out", "sym/bin/folder");
    put_link(&folder, "../out", "out/circle");
    put_link(&folder, "..", "sym/bin/circle");
    put_link(&folder, "circle", "sym/bin/self");
    for (unsigned confine = 0; confine < 2; confine++) {
        check(&folder, &(struct rec_perf_map){.path = "/app", .offset = PERF_APP_TEXT}, confine,
              "lib/app-1.2");
        check(&folder, &(struct rec_perf_map){.path = "/absolute", .offset = PERF_APP_TEXT},
              confine, "lib/app-1.2");
        check(&folder, &(struct rec_perf_map){.path = "/other", .offset = PERF_APP_TEXT}, confine,
              confine ? NULL : "bin/other");
        check(&folder, &(struct rec_perf_map){.path = "/third", .offset = PERF_APP_TEXT}, confine,
              confine ? NULL : "bin/folder/inner/third");
    }
    made_folder_end(&folder);
}

/** A missing folder is reported. */
static void test_no_folder(void **state)
{
    struct made_folder folder;
    char wanted[160];
    (void)state;
    made_folder_begin(&folder);
    const struct said said = check(
        &folder, &(struct rec_perf_map){.path = "/app", .offset = PERF_APP_TEXT}, false, NULL);
    snprintf(wanted, sizeof(wanted), "%s/sym: there are no programs: No such file or directory\n",
             folder.path);
    assert_string_equal(said.text, wanted);
    made_folder_end(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_likeliest), cmocka_unit_test(test_unfit),
        cmocka_unit_test(test_build_id),  cmocka_unit_test(test_links),
        cmocka_unit_test(test_no_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
