// SPDX-License-Identifier: MIT
/** @file Where perf.data's programs and their symbols are found: packages, links, caches, maps. */
#include "base/text.h"
#include "capture/capture.h"
#include "files/crc32.h"
#include "support/perf_app.h"

#include <fcntl.h>
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

/* ---- packages ---- */

static const uint8_t an_id[20] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                  11, 12, 13, 14, 15, 16, 17, 18, 19, 20};

static void put_local(struct rec_bytes *out, const char *name, unsigned method, size_t size,
                      size_t align)
{
    const size_t begin = out->size + 30 + strlen(name);
    const size_t extra = (align - begin % align) % align;
    rec_put_le(out, 0x04034b50, 4);
    rec_put_le(out, 10, 4);
    rec_put_le(out, method, 2);
    rec_put_le(out, 0, 8);
    rec_put_le(out, size, 4);
    rec_put_le(out, size, 4);
    rec_put_le(out, strlen(name), 2);
    rec_put_le(out, extra, 2);
    rec_put_n(out, name, strlen(name));
    for (size_t i = 0; i < extra; i++)
        rec_put(out, 0);
}

static void put_entry(struct rec_bytes *out, const char *name, unsigned method, size_t size,
                      uint64_t at)
{
    rec_put_le(out, 0x02014b50, 4);
    rec_put_le(out, 10 | 10 << 16, 4);
    rec_put_le(out, 0, 2);
    rec_put_le(out, method, 2);
    rec_put_le(out, 0, 8);
    rec_put_le(out, size, 4);
    rec_put_le(out, size, 4);
    rec_put_le(out, strlen(name), 2);
    for (unsigned i = 0; i < 12; i++)
        rec_put(out, 0);
    rec_put_le(out, at, 4);
    rec_put_n(out, name, strlen(name));
}

#define LIBRARY "lib/arm64-v8a/libapp.so"

/** A text, and the program as it is, at a page's begin; where that is. */
static uint64_t put_package(struct made_folder *folder, const struct perf_app_program *program,
                            unsigned method)
{
    struct rec_bytes bytes = {0}, elf = {0};
    perf_app_put(&elf, program);
    put_local(&bytes, "readme", 0, 5, 4);
    rec_put_n(&bytes, "hello", 5);
    const uint64_t local = bytes.size;
    put_local(&bytes, LIBRARY, method, elf.size, 4096);
    const uint64_t begin = bytes.size;
    rec_put_n(&bytes, elf.data, elf.size);
    const uint64_t list = bytes.size;
    put_entry(&bytes, "readme", 0, 5, 0);
    put_entry(&bytes, LIBRARY, method, elf.size, local);
    const uint64_t size = bytes.size - list;
    rec_put_le(&bytes, 0x06054b50, 4);
    rec_put_le(&bytes, 0, 4);
    rec_put_le(&bytes, 2 | 2 << 16, 4);
    rec_put_le(&bytes, size, 4);
    rec_put_le(&bytes, list, 4);
    rec_put_le(&bytes, 3, 2);
    rec_put_n(&bytes, "end", 3);
    made_folder_file(folder, "base.apk", bytes.data, bytes.size);
    rec_bytes_free(&bytes);
    rec_bytes_free(&elf);
    return begin;
}

static void check_package(const char *map_path, bool by_offset, unsigned method, bool in_symdir)
{
    struct made_folder folder;
    made_folder_begin(&folder);
    const struct perf_app_program program = {.id = an_id};
    const uint64_t at = put_package(&folder, &program, method);
    const struct rec_perf_map map = {.path = map_path,
                                     .offset = by_offset ? at + PERF_APP_TEXT : PERF_APP_TEXT,
                                     .build_id = by_offset ? NULL : an_id,
                                     .build_id_size = by_offset ? 0 : 20};
    const char *symdirs[] = {folder.path};
    const struct pug_capture_roots elsewhere = {
        .symfs = "/nonexistent", .symdirs = symdirs, .symdir_count = 1, .build_ids = ""};
    const struct pug_capture_roots here = {.symfs = folder.path, .build_ids = ""};
    struct pug_capture *capture =
        perf_app_open(perf_app_record(&folder, &map), in_symdir ? &elsewhere : &here);
    const bool stored = method == 0;
    assert_int_equal(perf_app_instructions(capture), stored ? 4 : 0);
    const struct pug_capture_object *object = perf_app_object(capture, "/base.apk!/" LIBRARY);
    assert_int_equal(object != NULL, stored || !by_offset);
    if (stored)
        assert_non_null(object->file);
    pug_capture_free(capture);
    made_folder_end(&folder);
}

/** A library that is mapped out of a package: named, or given by the offset alone. */
static void test_packages(void **state)
{
    (void)state;
    check_package("/base.apk!/" LIBRARY, false, 0, false);
    check_package("/base.apk!/" LIBRARY, false, 0, true);
    check_package("/base.apk", true, 0, false);
    check_package("/base.apk", true, 0, true);
    /* what is packed in it cannot have been mapped */
    check_package("/base.apk!/" LIBRARY, false, 8, false);
    check_package("/base.apk", true, 8, false);
}

/* ---- symbols ---- */

static void check_symbols(const char *where, const char *const *folders, bool wrong)
{
    struct made_folder folder;
    static const uint8_t other[20] = {9};
    made_folder_begin(&folder);
    perf_app_file(&folder, "app", &(struct perf_app_program){.id = an_id, .link = "app.dbg"});
    for (; *folders; folders++)
        made_folder_inner(&folder, *folders);
    const char *debug = perf_app_file(
        &folder, where, &(struct perf_app_program){.id = wrong ? other : an_id, .no_text = true});
    char cache[128];
    snprintf(cache, sizeof(cache), "%s/cache", folder.path);
    struct pug_capture *capture = perf_app_open(
        perf_app_record(&folder, &(struct rec_perf_map){.path = "/app", .offset = PERF_APP_TEXT}),
        &(struct pug_capture_roots){.symfs = folder.path, .build_ids = cache});
    assert_int_equal(perf_app_instructions(capture), 4);
    const struct pug_capture_object *object = perf_app_object(capture, "/app");
    assert_non_null(object);
    if (wrong) {
        assert_null(object->symbols);
    } else {
        assert_non_null(object->symbols);
        assert_string_equal(object->symbols, debug);
    }
    pug_capture_free(capture);
    made_folder_end(&folder);
}

/** Debug information by the file's link, by build id, by path; of another build it is none. */
static void test_symbols(void **state)
{
    static const char *const none[] = {NULL}, *const hidden[] = {".debug", NULL};
    static const char *const usr[] = {"usr", "usr/lib", "usr/lib/debug", NULL};
    static const char *const by_id[] = {
        "usr", "usr/lib", "usr/lib/debug", "usr/lib/debug/.build-id", "usr/lib/debug/.build-id/01",
        NULL};
    static const char *const cache[] = {"cache", "cache/.build-id", "cache/.build-id/01",
                                        "cache/.build-id/01/02030405060708090a0b0c0d0e0f1011121314",
                                        NULL};
    (void)state;
    for (unsigned wrong = 0; wrong < 2; wrong++) {
        check_symbols("app.dbg", none, wrong);
        check_symbols(".debug/app.dbg", hidden, wrong);
        check_symbols("usr/lib/debug/app.dbg", usr, wrong);
        check_symbols("usr/lib/debug/app.debug", usr, wrong);
        check_symbols("usr/lib/debug/.build-id/01/02030405060708090a0b0c0d0e0f1011121314.debug",
                      by_id, wrong);
        check_symbols("cache/.build-id/01/02030405060708090a0b0c0d0e0f1011121314/debug", cache,
                      wrong);
    }
}

static uint32_t sum_of(const char *path)
{
    const int file = open(path, O_RDONLY);
    assert_true(file >= 0);
    const uint32_t sum = pug_crc32_of(file);
    close(file);
    return sum;
}

/** Without build ids the link's sum says whether a file of its name is the one that it means. */
static void test_sums(void **state)
{
    static const char *const places[] = {"app.debug", "usr/lib/debug/app.debug"};
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        struct made_folder folder;
        const bool wrong = i % 2 > 0;
        made_folder_begin(&folder);
        made_folder_inner(&folder, "usr");
        made_folder_inner(&folder, "usr/lib");
        made_folder_inner(&folder, "usr/lib/debug");
        const char *debug =
            perf_app_file(&folder, places[i / 2], &(struct perf_app_program){.no_text = true});
        const struct perf_app_program app = {.link = "app.debug",
                                             .link_sum = sum_of(debug) ^ wrong};
        perf_app_file(&folder, "app", &app);
        struct pug_capture *capture =
            perf_app_open(perf_app_record(&folder, &(struct rec_perf_map){.path = "/app",
                                                                          .offset = PERF_APP_TEXT}),
                          &(struct pug_capture_roots){.symfs = folder.path, .build_ids = ""});
        assert_int_equal(perf_app_instructions(capture), 4);
        const struct pug_capture_object *object = perf_app_object(capture, "/app");
        assert_non_null(object);
        assert_string_equal(object->symbols ? object->symbols : "", wrong ? "" : debug);
        assert_int_equal(sum_of(made_folder_file(&folder, "known", "123456789", 9)), 0xcbf43926);
        pug_capture_free(capture);
        made_folder_end(&folder);
    }
}

/** A folder of that name is a link: what it leads to is not taken. */
static void test_linked_folder(void **state)
{
    struct made_folder folder;
    char path[256];
    (void)state;
    made_folder_begin(&folder);
    perf_app_file(&folder, "app", &(struct perf_app_program){.id = an_id, .link = "app.dbg"});
    made_folder_inner(&folder, "elsewhere");
    perf_app_file(&folder, "elsewhere/app.dbg",
                  &(struct perf_app_program){.id = an_id, .no_text = true});
    snprintf(path, sizeof(path), "%s/.debug", folder.path);
    assert_int_equal(symlink("elsewhere", path), 0);
    struct pug_capture *capture = perf_app_open(
        perf_app_record(&folder, &(struct rec_perf_map){.path = "/app", .offset = PERF_APP_TEXT}),
        &(struct pug_capture_roots){.symfs = folder.path, .build_ids = ""});
    assert_int_equal(perf_app_instructions(capture), 4);
    assert_null(perf_app_object(capture, "/app")->symbols);
    pug_capture_free(capture);
    assert_int_equal(unlink(path), 0);
    made_folder_end(&folder);
}

/** A recorded path leads to this machine's file, but where the user wants given folders alone. */
static void test_confined(void **state)
{
    struct made_folder folder;
    (void)state;
    made_folder_begin(&folder);
    const char *file = perf_app_file(&folder, "app", &(struct perf_app_program){.id = an_id});
    const struct rec_perf_map map = {.path = file, .offset = PERF_APP_TEXT};
    const char *recorded = perf_app_record(&folder, &map);
    for (unsigned confine = 0; confine < 2; confine++) {
        struct pug_capture *capture;
        const struct pug_capture_options options = {.confine = confine};
        assert_int_equal(pug_capture_open(recorded, &options, &capture), PUG_OK);
        assert_int_equal(perf_app_instructions(capture), confine ? 0 : 4);
        pug_capture_free(capture);
    }
    made_folder_end(&folder);
}

/** A file that was replaced while it was mapped: its build id proves that it is here again. */
static void test_deleted(void **state)
{
    static const char *const folders[] = {"data", "mnt", "opt"};
    (void)state;
    for (unsigned i = 0; i < 6; i++) {
        struct made_folder folder;
        char path[64], live[32];
        const bool told = i % 2 > 0;
        snprintf(live, sizeof(live), "/%s/app", folders[i / 2]);
        snprintf(path, sizeof(path), "%s (deleted)", live);
        made_folder_begin(&folder);
        made_folder_inner(&folder, folders[i / 2]);
        perf_app_file(&folder, live + 1, &(struct perf_app_program){.id = an_id});
        const struct rec_perf_map map = {.path = path,
                                         .offset = PERF_APP_TEXT,
                                         .build_id = told ? NULL : an_id,
                                         .build_id_size = told ? 0 : 20};
        struct pug_capture *capture =
            perf_app_open(perf_app_record_story(
                              &folder, &map, &(struct perf_app_story){.id = told ? an_id : NULL}),
                          &(struct pug_capture_roots){.symfs = folder.path, .build_ids = ""});
        assert_int_equal(perf_app_instructions(capture), 4);
        const struct pug_capture_object *object = perf_app_object(capture, live);
        assert_non_null(object);
        assert_int_equal(object->state, PUG_OBJECT_FOUND);
        pug_capture_free(capture);
        made_folder_end(&folder);
    }
}

/** A new process has its parent's maps; of one that was there before, perf records its own. */
static void test_forks(void **state)
{
    static const uint16_t made_up = 1u << 13;
    struct made_folder folder;
    (void)state;
    made_folder_begin(&folder);
    perf_app_file(&folder, "app", &(struct perf_app_program){.id = an_id});
    const struct rec_perf_map map = {.path = "/app", .offset = PERF_APP_TEXT};
    const struct pug_capture_roots roots = {.symfs = folder.path, .build_ids = ""};
    for (unsigned i = 0; i < 2; i++) {
        const struct perf_app_story story = {.forked = true, .misc = i > 0 ? made_up : 0};
        const char *path = perf_app_record_story(&folder, &map, &story);
        struct pug_capture *capture = perf_app_open(path, &roots);
        assert_int_equal(perf_app_instructions(capture), i > 0 ? 0 : 4);
        pug_capture_free(capture);
        assert_int_equal(remove(path), 0);
        folder.count--;
    }
    made_folder_end(&folder);
}

/** Code of a JIT compiler has no text, but names, in a map of its process. */
static void test_jit(void **state)
{
    static const char lines[] = "3ffff0 8 before\n400000 40 compiled one\n";
    static const char *const paths[] = {"//anon", "[anon:dalvik-jit]", "/memfd:jit (deleted)"};
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        struct made_folder folder;
        struct pug_names_file *file;
        struct pug_names_function function;
        made_folder_begin(&folder);
        made_folder_inner(&folder, "tmp");
        made_folder_file(&folder, "tmp/perf-77.map", lines, sizeof(lines) - 1);
        struct pug_capture *capture =
            perf_app_open(perf_app_record(&folder, &(struct rec_perf_map){.path = paths[i]}),
                          &(struct pug_capture_roots){.symfs = folder.path, .build_ids = ""});
        assert_int_equal(perf_app_instructions(capture), 0);
        const struct pug_capture_object *object = perf_app_object(capture, "/tmp/perf-77.map");
        assert_non_null(object);
        assert_int_equal(object->kind, PUG_OBJECT_MEMORY);
        struct pug_names *names = pug_names_new(NULL);
        assert_true(pug_capture_names(capture, 0, names, &file));
        assert_true(pug_names_function(file, PERF_APP_BASE + 0x10, &function));
        assert_string_equal(function.name, "compiled one");
        const size_t texts = capture->texts.count; /* a second call returns the existing text */
        assert_true(pug_capture_names(capture, 0, names, &file));
        assert_int_equal(capture->texts.count, texts);
        pug_names_free(names);
        pug_capture_free(capture);
        made_folder_end(&folder);
    }
}

/* ---- the build id cache, and servers ---- */

/** perf's own settings say where the cache is. */
static void test_configured(void **state)
{
    static const char settings[] = "[ui]\n  dir = /no\n[buildid]\n\tdir = ~/ids # here\n";
    struct made_folder folder;
    const char *home = getenv("HOME");
    char *before = home ? strdup(home) : NULL;
    (void)state;
    made_folder_begin(&folder);
    made_folder_file(&folder, ".perfconfig", settings, sizeof(settings) - 1);
    made_folder_inner(&folder, "ids");
    made_folder_inner(&folder, "ids/.build-id");
    made_folder_inner(&folder, "ids/.build-id/01");
    made_folder_inner(&folder, "ids/.build-id/01/02030405060708090a0b0c0d0e0f1011121314");
    perf_app_file(&folder, "ids/.build-id/01/02030405060708090a0b0c0d0e0f1011121314/elf",
                  &(struct perf_app_program){.id = an_id});
    setenv("HOME", folder.path, 1);
    const char *file = perf_app_record(&folder, &(struct rec_perf_map){.path = "/gone",
                                                                       .offset = PERF_APP_TEXT,
                                                                       .build_id = an_id,
                                                                       .build_id_size = 20});
    struct pug_capture *capture =
        perf_app_open(file, &(struct pug_capture_roots){.symfs = "/none"});
    assert_int_equal(perf_app_instructions(capture), 4);
    assert_int_equal(perf_app_object(capture, "/gone")->state, PUG_OBJECT_FOUND);
    pug_capture_free(capture);
    /* without a cache there is none */
    capture = perf_app_open(file, &(struct pug_capture_roots){.symfs = "/none", .build_ids = ""});
    assert_int_equal(perf_app_instructions(capture), 0);
    pug_capture_free(capture);
    if (before)
        setenv("HOME", before, 1);
    else
        unsetenv("HOME");
    free(before);
    made_folder_end(&folder);
}

/** The vdso's text is in the cache alone, under a name of its own. */
static void test_vdso(void **state)
{
    struct made_folder folder;
    (void)state;
    made_folder_begin(&folder);
    made_folder_inner(&folder, ".build-id");
    made_folder_inner(&folder, ".build-id/01");
    made_folder_inner(&folder, ".build-id/01/02030405060708090a0b0c0d0e0f1011121314");
    perf_app_file(&folder, ".build-id/01/02030405060708090a0b0c0d0e0f1011121314/vdso",
                  &(struct perf_app_program){.id = an_id});
    const char *file = perf_app_record(&folder, &(struct rec_perf_map){.path = "[vdso]",
                                                                       .offset = PERF_APP_TEXT,
                                                                       .build_id = an_id,
                                                                       .build_id_size = 20});
    struct pug_capture *capture =
        perf_app_open(file, &(struct pug_capture_roots){.build_ids = folder.path});
    assert_int_equal(perf_app_instructions(capture), 4);
    const struct pug_capture_object *object = perf_app_object(capture, "[vdso]");
    assert_int_equal(object->kind, PUG_OBJECT_VDSO);
    assert_int_equal(object->state, PUG_OBJECT_FOUND);
    pug_capture_free(capture);
    made_folder_end(&folder);
}

/** Servers are asked where that was switched on, and never else. */
static void test_servers(void **state)
{
    struct made_folder folder;
    char script[512], search[5000], before[4096] = "";
    (void)state;
    if (getenv("PATH"))
        snprintf(before, sizeof(before), "%s", getenv("PATH"));
    made_folder_begin(&folder);
    const char *app = perf_app_file(&folder, "found", &(struct perf_app_program){.id = an_id});
    char asked[128];
    snprintf(asked, sizeof(asked), "%s/asked", folder.path);
    const int size =
        snprintf(script, sizeof(script),
                 "#!/bin/sh\necho \"$1 $2 $DEBUGINFOD_URLS\" >'%s'\necho '%s'\n", asked, app);
    chmod(made_folder_file(&folder, "debuginfod-find", script, (size_t)size), 0700);
    snprintf(search, sizeof(search), "%s:%s", folder.path, before);
    setenv("PATH", search, 1);
    const char *file = perf_app_record(&folder, &(struct rec_perf_map){.path = "/gone",
                                                                       .offset = PERF_APP_TEXT,
                                                                       .build_id = an_id,
                                                                       .build_id_size = 20});
    struct pug_capture_roots roots = {.symfs = "/none", .build_ids = ""};
    struct pug_capture *capture = perf_app_open(file, &roots);
    assert_int_equal(perf_app_instructions(capture), 0);
    assert_int_not_equal(access(asked, F_OK), 0);
    pug_capture_free(capture);
    roots.debuginfod = "http://127.0.0.1:1";
    capture = perf_app_open(file, &roots);
    assert_int_equal(perf_app_instructions(capture), 4);
    pug_capture_free(capture);
    char line[256] = "";
    FILE *said = fopen(asked, "r");
    assert_non_null(said);
    assert_non_null(fgets(line, sizeof(line), said));
    fclose(said);
    assert_string_equal(line,
                        "executable 0102030405060708090a0b0c0d0e0f1011121314 http://127.0.0.1:1\n");
    assert_int_equal(remove(asked), 0);
    setenv("PATH", before, 1);
    made_folder_end(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_packages),   cmocka_unit_test(test_linked_folder),
        cmocka_unit_test(test_confined),   cmocka_unit_test(test_symbols),
        cmocka_unit_test(test_deleted),    cmocka_unit_test(test_forks),
        cmocka_unit_test(test_sums),       cmocka_unit_test(test_jit),
        cmocka_unit_test(test_configured), cmocka_unit_test(test_servers),
        cmocka_unit_test(test_vdso),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
