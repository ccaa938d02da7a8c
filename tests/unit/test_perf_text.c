// SPDX-License-Identifier: MIT
/** @file Where perf.data's programs and their symbols are found: packages, links, caches, maps. */
#include "base/text.h"
#include "files/crc32.h"
#include "perfdata/perfdata.h"
#include "perfdata/program.h"
#include "pugmark/pugmark.h"
#include "recorder/etmv4.h"
#include "recorder/frames.h"
#include "recorder/perfdata.h"
#include "support/elf_section.h"
#include "support/made_folder.h"

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

#define BASE UINT64_C(0x400000)
#define TEXT 0x1000u
#define NOP  0xd503201fu

/* ---- programs ---- */

/** What a program file is to have. */
struct program {
    const uint8_t *id; /* a build id of 20 bytes, or NULL */
    const char *link;  /* .gnu_debuglink, or NULL … */
    uint32_t link_sum; /* … and the sum of the file that it names */
    bool no_text;      /* debug information only: the text has no bytes */
};

/** Three NOPs and a branch to itself. */
static void put_program(struct rec_bytes *out, const struct program *program)
{
    static const char names[] = "\0.text\0.note.gnu.build-id\0.gnu_debuglink\0.shstrtab";
    const uint64_t notes = TEXT + 16, link = notes + 36, strings = link + 64, table = strings + 64;
    rec_put_n(out, "\177ELF\2\1\1\0\0\0\0\0\0\0\0\0", 16);
    rec_put_le(out, 2 | 183 << 16 | UINT64_C(1) << 32, 8);
    rec_put_le(out, BASE, 8);
    rec_put_le(out, 64, 8);
    rec_put_le(out, table, 8);
    rec_put_le(out, 0, 4);
    static const uint16_t sizes[] = {64, 56, 1, 64, 5, 4};
    for (unsigned i = 0; i < 6; i++)
        rec_put_le(out, sizes[i], 2);
    rec_put_le(out, 1, 4);
    rec_put_le(out, 5, 4);
    const uint64_t segment[] = {TEXT, BASE, BASE, 16, 16, TEXT};
    for (unsigned i = 0; i < 6; i++)
        rec_put_le(out, segment[i], 8);
    while (out->size < TEXT)
        rec_put(out, 0);
    for (unsigned i = 0; i < 3; i++)
        rec_put_le(out, NOP, 4);
    rec_put_le(out, 0x17fffffd, 4);
    rec_put_le(out, 4 | UINT64_C(20) << 32, 8);
    rec_put_le(out, 3, 4);
    rec_put_n(out, "GNU", 4);
    for (unsigned i = 0; i < 20; i++)
        rec_put(out, program->id ? program->id[i] : 0);
    if (program->link)
        rec_put_n(out, program->link, strlen(program->link) + 1);
    while (program->link && out->size % 4 != 0)
        rec_put(out, 0);
    if (program->link)
        rec_put_le(out, program->link_sum, 4);
    while (out->size < strings)
        rec_put(out, 0);
    rec_put_n(out, names, sizeof(names));
    while (out->size < table)
        rec_put(out, 0);
    elf_section_put(out, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    elf_section_put(out, 1, program->no_text ? 8 : 1, 6, BASE, TEXT, 16, 0, 0, 0);
    elf_section_put(out, 7, program->id ? 7 : 1, 0, 0, notes, 36, 0, 0, 0);
    elf_section_put(out, 26, program->link ? 1 : 0, 0, 0, link, 64, 0, 0, 0);
    elf_section_put(out, 41, 3, 0, 0, strings, sizeof(names), 0, 0, 0);
}

static const char *put_program_file(struct made_folder *folder, const char *name,
                                    const struct program *program)
{
    struct rec_bytes bytes = {0};
    put_program(&bytes, program);
    const char *path = made_folder_file(folder, name, bytes.data, bytes.size);
    rec_bytes_free(&bytes);
    return path;
}

/* ---- a recording of one thread ---- */

#define THREAD 77

/** A list of build ids says which one a path has. */
static void tell_build(struct rec_perf *perf, const char *path, const uint8_t *id)
{
    struct rec_bytes body = {0};
    rec_put_le(&body, UINT32_MAX, 4);
    rec_put_n(&body, id, 20);
    rec_put_le(&body, 20, 4);
    rec_put_n(&body, path, strlen(path) + 1);
    while (body.size % 8 != 0)
        rec_put(&body, 0);
    rec_perf_record(perf, 67, 1u << 15 | 2, &body, NULL);
    rec_bytes_free(&body);
}

static void put_fork(struct rec_perf *perf, const struct rec_perf_sample *parent, uint16_t misc)
{
    const int32_t ids[] = {THREAD, parent->pid, THREAD, parent->tid};
    struct rec_bytes body = {0};
    for (unsigned i = 0; i < 4; i++)
        rec_put_le(&body, (uint32_t)ids[i], 4);
    rec_put_le(&body, parent->time, 8);
    rec_perf_record(perf, 7, misc, &body, parent);
    rec_bytes_free(&body);
}

/** What else is recorded. */
struct story {
    const uint8_t *id; /* what the list of build ids says of the path, or NULL */
    bool forked;   /* the map is that of another process, of which the thread's is a child … */
    uint16_t misc; /* … as this record says */
};

/** Its program lies at BASE: a map of this path and offset. Four instructions run. */
static const char *record_story(struct made_folder *folder, const struct rec_perf_map *map,
                                const struct story *story)
{
    static const struct rec_perf_cpu cpu = {
        .unit = REC_PERF_ETMV4, .words = {0, 0x10, 0x28000ea1, 0x4100f403, 0x20001088}, .count = 7};
    static const struct rec_etmv4_config config = {
        .idr0 = 0x28000ea1, .idr2 = 0x20001088, .seed = 1};
    const struct rec_context context = {.sf = true, .ns = true};
    const int32_t first = story->forked ? THREAD - 1 : THREAD;
    struct rec_perf_sample sample = {.pid = first, .tid = first, .cpu = -1, .time = 5};
    struct rec_bytes trace = {0}, framed = {0}, file = {0};
    struct rec_frames frames = {.out = &framed};
    struct rec_perf perf;
    struct rec_etmv4 *unit = rec_etmv4_new(&config, &trace);
    rec_etmv4_sync(unit);
    rec_etmv4_trace_on(unit);
    rec_etmv4_start(unit, BASE, false, &context);
    rec_etmv4_atom(unit, true);
    rec_etmv4_exception(unit, 0x0e, BASE, false, false);
    rec_etmv4_finish(unit);
    rec_etmv4_free(unit);
    rec_frames_put(&frames, 0x10, trace.data, trace.size);
    rec_frames_finish(&frames);
    rec_perf_begin(&perf, &(struct rec_perf_config){.version = 1, .cpus = &cpu, .cpu_count = 1});
    rec_perf_comm(&perf, &sample, "app", true);
    struct rec_perf_map whole = *map;
    whole.address = BASE;
    whole.size = 0x1000;
    whole.prot = 5;
    rec_perf_map(&perf, &sample, &whole);
    if (story->forked)
        put_fork(&perf, &sample, story->misc);
    sample = (struct rec_perf_sample){.pid = THREAD, .tid = THREAD, .cpu = -1, .time = 9};
    rec_perf_aux(&perf, &sample, 0, framed.size, 0);
    rec_perf_trace(&perf, -1, THREAD, 0, &framed);
    if (story->id)
        tell_build(&perf, map->path, story->id);
    rec_perf_finish(&perf, &file);
    const char *path = made_folder_file(folder, "perf.data", file.data, file.size);
    rec_bytes_free(&trace);
    rec_bytes_free(&framed);
    rec_bytes_free(&file);
    return path;
}

static const char *record(struct made_folder *folder, const struct rec_perf_map *map)
{
    return record_story(folder, map, &(struct story){.id = NULL});
}

static void *begin_part(void *context, unsigned worker)
{
    (void)worker;
    return context;
}

static void count_instructions(void *part, const struct pug_situation *situation,
                               const struct pug_element *elements, size_t count)
{
    uint64_t *instructions = part;
    (void)situation;
    for (size_t i = 0; i < count; i++)
        *instructions += elements[i].type == PUG_ELEM_INSTR_RANGE ? elements[i].count : 0;
}

static bool take_part(void *context, void *part)
{
    (void)context;
    (void)part;
    return true;
}

static void drop_part(void *part)
{
    (void)part;
}

static struct pug_capture *open_capture(const char *path, const struct pug_capture_roots *roots)
{
    struct pug_capture *capture;
    const struct pug_capture_options options = {.roots = *roots};
    assert_int_equal(pug_capture_open(path, &options, &capture), PUG_OK);
    return capture;
}

/** How many instructions of the four are found, and where. */
static uint64_t instructions_of(struct pug_capture *capture)
{
    uint64_t instructions = 0;
    struct pug_capture_result result;
    const struct pug_capture_decode decode = {.context = &instructions,
                                              .begin = begin_part,
                                              .elements = count_instructions,
                                              .take = take_part,
                                              .drop = drop_part,
                                              .threads = 1};
    assert_int_equal(pug_capture_decode(capture, &decode, &result), PUG_OK);
    return instructions;
}

static const struct pug_capture_object *object_called(struct pug_capture *capture, const char *path)
{
    const struct pug_capture_object *object;
    for (size_t n = 0; (object = pug_capture_object_at(capture, n)) != NULL; n++)
        if (strcmp(object->path, path) == 0)
            return object;
    return NULL;
}

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
static uint64_t put_package(struct made_folder *folder, const struct program *program,
                            unsigned method)
{
    struct rec_bytes bytes = {0}, elf = {0};
    put_program(&elf, program);
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
    const struct program program = {.id = an_id};
    const uint64_t at = put_package(&folder, &program, method);
    const struct rec_perf_map map = {.path = map_path,
                                     .offset = by_offset ? at + TEXT : TEXT,
                                     .build_id = by_offset ? NULL : an_id,
                                     .build_id_size = by_offset ? 0 : 20};
    const char *symdirs[] = {folder.path};
    const struct pug_capture_roots elsewhere = {
        .symfs = "/nonexistent", .symdirs = symdirs, .symdir_count = 1, .build_ids = ""};
    const struct pug_capture_roots here = {.symfs = folder.path, .build_ids = ""};
    struct pug_capture *capture =
        open_capture(record(&folder, &map), in_symdir ? &elsewhere : &here);
    const bool stored = method == 0;
    assert_int_equal(instructions_of(capture), stored ? 4 : 0);
    const struct pug_capture_object *object = object_called(capture, "/base.apk!/" LIBRARY);
    assert_int_equal(object != NULL, stored || !by_offset);
    if (stored)
        assert_non_null(object->file);
    pug_capture_free(capture);
    made_folder_end(&folder);
}

/** A library that is mapped out of a package: named, or told by the offset alone. */
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
    put_program_file(&folder, "app", &(struct program){.id = an_id, .link = "app.dbg"});
    for (; *folders; folders++)
        made_folder_inner(&folder, *folders);
    const char *debug = put_program_file(
        &folder, where, &(struct program){.id = wrong ? other : an_id, .no_text = true});
    char cache[128];
    snprintf(cache, sizeof(cache), "%s/cache", folder.path);
    struct pug_capture *capture =
        open_capture(record(&folder, &(struct rec_perf_map){.path = "/app", .offset = TEXT}),
                     &(struct pug_capture_roots){.symfs = folder.path, .build_ids = cache});
    assert_int_equal(instructions_of(capture), 4);
    const struct pug_capture_object *object = object_called(capture, "/app");
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
            put_program_file(&folder, places[i / 2], &(struct program){.no_text = true});
        const struct program app = {.link = "app.debug", .link_sum = sum_of(debug) ^ wrong};
        put_program_file(&folder, "app", &app);
        struct pug_capture *capture =
            open_capture(record(&folder, &(struct rec_perf_map){.path = "/app", .offset = TEXT}),
                         &(struct pug_capture_roots){.symfs = folder.path, .build_ids = ""});
        assert_int_equal(instructions_of(capture), 4);
        const struct pug_capture_object *object = object_called(capture, "/app");
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
    put_program_file(&folder, "app", &(struct program){.id = an_id, .link = "app.dbg"});
    made_folder_inner(&folder, "elsewhere");
    put_program_file(&folder, "elsewhere/app.dbg", &(struct program){.id = an_id, .no_text = true});
    snprintf(path, sizeof(path), "%s/.debug", folder.path);
    assert_int_equal(symlink("elsewhere", path), 0);
    struct pug_capture *capture =
        open_capture(record(&folder, &(struct rec_perf_map){.path = "/app", .offset = TEXT}),
                     &(struct pug_capture_roots){.symfs = folder.path, .build_ids = ""});
    assert_int_equal(instructions_of(capture), 4);
    assert_null(object_called(capture, "/app")->symbols);
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
    const char *file = put_program_file(&folder, "app", &(struct program){.id = an_id});
    const struct rec_perf_map map = {.path = file, .offset = TEXT};
    const char *recorded = record(&folder, &map);
    for (unsigned confine = 0; confine < 2; confine++) {
        struct pug_capture *capture;
        const struct pug_capture_options options = {.confine = confine};
        assert_int_equal(pug_capture_open(recorded, &options, &capture), PUG_OK);
        assert_int_equal(instructions_of(capture), confine ? 0 : 4);
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
        put_program_file(&folder, live + 1, &(struct program){.id = an_id});
        const struct rec_perf_map map = {.path = path,
                                         .offset = TEXT,
                                         .build_id = told ? NULL : an_id,
                                         .build_id_size = told ? 0 : 20};
        struct pug_capture *capture =
            open_capture(record_story(&folder, &map, &(struct story){.id = told ? an_id : NULL}),
                         &(struct pug_capture_roots){.symfs = folder.path, .build_ids = ""});
        assert_int_equal(instructions_of(capture), 4);
        const struct pug_capture_object *object = object_called(capture, live);
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
    put_program_file(&folder, "app", &(struct program){.id = an_id});
    const struct rec_perf_map map = {.path = "/app", .offset = TEXT};
    const struct pug_capture_roots roots = {.symfs = folder.path, .build_ids = ""};
    for (unsigned i = 0; i < 2; i++) {
        const struct story story = {.forked = true, .misc = i > 0 ? made_up : 0};
        const char *path = record_story(&folder, &map, &story);
        struct pug_capture *capture = open_capture(path, &roots);
        assert_int_equal(instructions_of(capture), i > 0 ? 0 : 4);
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
            open_capture(record(&folder, &(struct rec_perf_map){.path = paths[i]}),
                         &(struct pug_capture_roots){.symfs = folder.path, .build_ids = ""});
        assert_int_equal(instructions_of(capture), 0);
        const struct pug_capture_object *object = object_called(capture, "/tmp/perf-77.map");
        assert_non_null(object);
        assert_int_equal(object->kind, PUG_OBJECT_MEMORY);
        struct pug_names *names = pug_names_new(NULL);
        assert_true(pug_capture_names(capture, 0, names, &file));
        assert_true(pug_names_function(file, BASE + 0x10, &function));
        assert_string_equal(function.name, "compiled one");
        const size_t texts = capture->texts.count; /* who asks again gets what there is */
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
    put_program_file(&folder, "ids/.build-id/01/02030405060708090a0b0c0d0e0f1011121314/elf",
                     &(struct program){.id = an_id});
    setenv("HOME", folder.path, 1);
    const char *file = record(
        &folder, &(struct rec_perf_map){
                     .path = "/gone", .offset = TEXT, .build_id = an_id, .build_id_size = 20});
    struct pug_capture *capture = open_capture(file, &(struct pug_capture_roots){.symfs = "/none"});
    assert_int_equal(instructions_of(capture), 4);
    assert_int_equal(object_called(capture, "/gone")->state, PUG_OBJECT_FOUND);
    pug_capture_free(capture);
    /* without a cache there is none */
    capture = open_capture(file, &(struct pug_capture_roots){.symfs = "/none", .build_ids = ""});
    assert_int_equal(instructions_of(capture), 0);
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
    put_program_file(&folder, ".build-id/01/02030405060708090a0b0c0d0e0f1011121314/vdso",
                     &(struct program){.id = an_id});
    const char *file = record(
        &folder, &(struct rec_perf_map){
                     .path = "[vdso]", .offset = TEXT, .build_id = an_id, .build_id_size = 20});
    struct pug_capture *capture =
        open_capture(file, &(struct pug_capture_roots){.build_ids = folder.path});
    assert_int_equal(instructions_of(capture), 4);
    const struct pug_capture_object *object = object_called(capture, "[vdso]");
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
    const char *app = put_program_file(&folder, "found", &(struct program){.id = an_id});
    char asked[128];
    snprintf(asked, sizeof(asked), "%s/asked", folder.path);
    const int size =
        snprintf(script, sizeof(script),
                 "#!/bin/sh\necho \"$1 $2 $DEBUGINFOD_URLS\" >'%s'\necho '%s'\n", asked, app);
    chmod(made_folder_file(&folder, "debuginfod-find", script, (size_t)size), 0700);
    snprintf(search, sizeof(search), "%s:%s", folder.path, before);
    setenv("PATH", search, 1);
    const char *file = record(
        &folder, &(struct rec_perf_map){
                     .path = "/gone", .offset = TEXT, .build_id = an_id, .build_id_size = 20});
    struct pug_capture_roots roots = {.symfs = "/none", .build_ids = ""};
    struct pug_capture *capture = open_capture(file, &roots);
    assert_int_equal(instructions_of(capture), 0);
    assert_int_not_equal(access(asked, F_OK), 0);
    pug_capture_free(capture);
    roots.debuginfod = "http://127.0.0.1:1";
    capture = open_capture(file, &roots);
    assert_int_equal(instructions_of(capture), 4);
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
