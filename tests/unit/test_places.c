// SPDX-License-Identifier: MIT
/** @file Lines and functions of addresses: of an image, and of a capture's tasks at their time. */
#include "pugmark/advanced/consumer.h"
#include "pugmark/advanced/image.h"
#include "pugmark/pugmark.h"
#include "support/made_folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define DATA PUG_SOURCE_DIR "/../shared/perfdata/paw"
#define BIAS UINT64_C(0x7000000000)

static bool have_data(void)
{
    const bool there = access(DATA "/root/paw/paw", R_OK) == 0;
    if (!there)
        print_message("skipped: no %s\n", DATA);
    return there;
}

static bool have_lines(void)
{
#ifdef PUG_WITH_DWARF
    return true;
#else
    print_message("skipped: built without libdw\n");
    return false;
#endif
}

static struct pug_names_file *open_names(struct pug_names *names, const char *path)
{
    struct pug_names_file *file;
    assert_int_equal(pug_names_open(names, &(struct pug_names_wanted){.path = path}, &file),
                     PUG_OK);
    return file;
}

static void check_frames(const struct pug_names_frame *frames, size_t count,
                         const struct pug_names_frame *wanted, size_t wanted_count)
{
    assert_int_equal(count, wanted_count);
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(frames[i].function, wanted[i].function);
        assert_int_equal(frames[i].line, wanted[i].line);
    }
}

static void check_function(const struct pug_image *image, struct pug_names *names,
                           struct pug_names_file *file, const char *program,
                           const struct pug_names_function *function)
{
    const uint64_t vaddr = function->start + 4, address = vaddr + BIAS;
    struct pug_names_frame frames[16], wanted[16];
    struct pug_names_line line, wanted_line;
    struct pug_program_place place;
    struct pug_symbol symbol;
    const size_t wanted_count = pug_names_frames(file, vaddr, wanted, 16);
    check_frames(frames, pug_image_frames(image, NULL, address, names, frames, 16, &place), wanted,
                 wanted_count);
    assert_string_equal(place.file, program);
    assert_int_equal(place.vaddr, vaddr);
    const bool known = pug_names_line(file, vaddr, &wanted_line);
    assert_int_equal(pug_image_line(image, NULL, address, names, &line, NULL), known);
    if (known) {
        assert_int_equal(line.line, wanted_line.line);
        assert_true(line.start <= address && address < line.end);
    }
    assert_true(pug_image_symbol(image, address, &symbol));
    assert_string_equal(symbol.name, function->name);
    assert_string_equal(symbol.file, place.file);
    assert_int_equal(symbol.vaddr, function->start);
}

/** A file that was moved: its functions and lines are where it lies now. */
static void check_image(const char *program)
{
    struct pug_names *names = pug_names_new(NULL);
    struct pug_image *image = pug_image_new();
    struct pug_names_file *file = open_names(names, program);
    struct pug_names_function function;
    struct pug_program_place place;
    struct pug_names_line line;
    size_t checked = 0;
    assert_int_equal(pug_image_add_elf(image, NULL, program, BIAS), PUG_OK);
    for (size_t n = 0; pug_names_function_at(file, n, &function); n++)
        if (function.size > 4) {
            check_function(image, names, file, program, &function);
            checked++;
        }
    assert_true(checked > 3);
    assert_false(pug_image_program_at(image, NULL, 0x10, &place));
    assert_false(pug_image_line(image, NULL, 0x10, names, &line, NULL));
    assert_int_equal(pug_image_frames(image, NULL, 0x10, names, NULL, 0, NULL), 0);
    pug_image_free(image);
    pug_names_free(names);
}

static void test_image_shared(void **state)
{
    (void)state;
    if (!have_data() || !have_lines())
        skip();
    check_image(DATA "/root/paw/paw");
}

/** The same with a program that is compiled here. */
static void test_image(void **state)
{
    (void)state;
    static const char text[] = "volatile int sink;\n"
                               "static inline __attribute__((always_inline)) int twice(int a)\n"
                               "{\n    sink = a;\n    return a + a;\n}\n"
                               "__attribute__((noinline)) int one(int a) { return twice(a) + 1; }\n"
                               "__attribute__((noinline)) int two(int a) { return one(a) + 2; }\n"
                               "__attribute__((noinline)) int three(int a) { return two(a) * 3; }\n"
                               "int main(int argc, char **argv)\n"
                               "{\n    (void)argv;\n    return three(argc) & one(argc) & 1;\n}\n";
    struct made_folder folder;
    char line[512];
    if (!have_lines())
        skip();
    made_folder_begin(&folder);
    made_folder_file(&folder, "prog.c", text, sizeof(text) - 1);
    snprintf(line, sizeof(line), "cd %s && CCACHE_DISABLE=1 cc -g -O1 -o prog prog.c 2>/dev/null",
             folder.path);
    const bool compiled = system(line) == 0;
    if (compiled)
        check_image(made_folder_path(&folder, "prog"));
    made_folder_end(&folder);
    if (!compiled) {
        print_message("skipped: no compiler\n");
        skip();
    }
}

/* ---- captures ---- */

struct asking {
    struct pug_capture *capture;
    struct pug_names *names;
    size_t ranges, first, second; /* of both programs that run at these addresses */
};

static void *begin(void *context, unsigned worker, struct pug_piece *piece)
{
    struct asking **part = malloc(sizeof(*part));
    (void)worker;
    (void)piece;
    assert_non_null(part);
    *part = context;
    return part;
}

static bool take(void *context, void *part)
{
    (void)context;
    free(part);
    return true;
}

static void elements(void *part, const struct pug_origin *origin, const struct pug_element *given,
                     size_t count)
{
    struct asking *asking = *(struct asking **)part;
    for (size_t i = 0; i < count; i++) {
        struct pug_names_frame frames[8], wanted[8];
        struct pug_names_line line;
        struct pug_location place, line_place;
        struct pug_names_file *file;
        if (given[i].type != PUG_ELEM_INSTR_RANGE)
            continue;
        const uint64_t at = given[i].start;
        const size_t found =
            pug_capture_frames(asking->capture, origin, at, asking->names, frames, 8, &place);
        const struct pug_capture_object *object =
            pug_capture_object_at(asking->capture, place.object);
        assert_non_null(object);
        assert_true(pug_capture_names(asking->capture, place.object, asking->names, &file));
        check_frames(frames, found, wanted, pug_names_frames(file, place.vaddr, wanted, 8));
        if (pug_capture_line(asking->capture, origin, at, asking->names, &line, &line_place)) {
            assert_int_equal(line_place.object, place.object);
            assert_true(line.start <= at && at < line.end);
        }
        asking->ranges++;
        asking->first += strcmp(object->path, "/paw/paw-static") == 0;
        asking->second += strcmp(object->path, "/paw/other-static") == 0;
    }
}

/** One process runs two programs at the same addresses: when it was says which names hold. */
static void test_exec_shared(void **state)
{
    (void)state;
    if (!have_data() || !have_lines())
        skip();
    struct asking asking = {.names = pug_names_new(NULL)};
    struct pug_capture_result result;
    const struct pug_capture_options options = {.roots = {.symfs = DATA "/root", .build_ids = ""}};
    const struct pug_consumer consumer = {
        .context = &asking, .begin = begin, .elements = elements, .take = take, .drop = free};
    const struct pug_capture_decode decode = {
        .consumers = &consumer, .consumer_count = 1, .threads = 1};
    assert_int_equal(pug_capture_open(DATA "/exec.data", &options, &asking.capture), PUG_OK);
    assert_int_equal(pug_capture_decode(asking.capture, &decode, &result), PUG_OK);
    assert_true(asking.first > 50 && asking.second > 20);
    assert_int_equal(asking.first + asking.second, asking.ranges);
    pug_capture_free(asking.capture);
    pug_names_free(asking.names);
}

/** A missing file has no names. */
static void test_nothing(void **state)
{
    struct pug_program_place place;
    struct pug_names_line line;
    (void)state;
    struct pug_image *image = pug_image_new();
    assert_false(pug_image_program_at(image, NULL, 0, &place));
    assert_false(pug_image_program_at(NULL, NULL, 0, &place));
    assert_false(pug_image_line(image, NULL, 0, NULL, &line, NULL));
    assert_int_equal(pug_image_frames(image, NULL, 0, NULL, NULL, 0, NULL), 0);
    assert_false(pug_capture_line(NULL, NULL, 0, NULL, &line, NULL));
    assert_int_equal(pug_capture_frames(NULL, NULL, 0, NULL, NULL, 0, NULL), 0);
    pug_image_free(image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_image_shared),
        cmocka_unit_test(test_image),
        cmocka_unit_test(test_exec_shared),
        cmocka_unit_test(test_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
