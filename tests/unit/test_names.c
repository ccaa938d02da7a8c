// SPDX-License-Identifier: MIT
/**
 * @file Names against addr2line, on programs that the test compiles: with debug information of each
 * version, compressed, split, in another file, and without any.
 */
#include "base/hash.h"
#include "names/names.h"
#include "pugmark/names.h"
#include "support/temporary.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#ifdef PUG_WITH_DWARF
#include <elfutils/version.h>
#endif

static char folder[48];

static const char source[] = "#define INLINE static inline __attribute__((always_inline))\n"
                             "volatile int sink;\n"
                             "INLINE int twice(int a)\n"
                             "{\n"
                             "    sink = a;\n"
                             "    return a + a;\n"
                             "}\n"
                             "INLINE int four(int a)\n"
                             "{\n"
                             "    if (sink)\n"
                             "        sink = 4;\n"
                             "    return twice(a) + twice(a + 1);\n"
                             "}\n"
                             "__attribute__((noinline)) int outer(int a)\n"
                             "{\n"
                             "    for (int i = 0; i < a; i++)\n"
                             "        sink += four(i) + (i & 1 ? twice(i) : 3);\n"
                             "    return sink;\n"
                             "}\n"
                             "static __attribute__((noinline)) int quiet(int a)\n"
                             "{\n"
                             "    return outer(a) + 1;\n"
                             "}\n"
                             "int main(int argc, char **argv)\n"
                             "{\n"
                             "    (void)argv;\n"
                             "    return quiet(argc) & 1;\n"
                             "}\n";

static bool have(const char *command)
{
    char line[512];
    snprintf(line, sizeof(line), "command -v %s >/dev/null 2>&1", command);
    return system(line) == 0;
}

static void shell(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void shell(const char *format, ...)
{
    char command[2048], line[2200];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof(command), format, args);
    va_end(args);
    snprintf(line, sizeof(line), "cd %s && { %s; } >log 2>&1", folder, command);
    if (system(line) == 0)
        return;
    fprintf(stderr, "failed: %s\n", command);
    fail();
}

static int setup(void **state)
{
    (void)state;
    char path[64];
    /* a cached object would name the folder of another run */
    if (setenv("CCACHE_DISABLE", "1", 1) != 0 || !temporary_folder(folder, sizeof(folder), "names"))
        return -1;
    snprintf(path, sizeof(path), "%s/prog.c", folder);
    FILE *file = fopen(path, "w");
    if (!file)
        return -1;
    fputs(source, file);
    return fclose(file);
}

static int teardown(void **state)
{
    (void)state;
    char line[64];
    snprintf(line, sizeof(line), "rm -rf %s", folder);
    return system(line);
}

static struct pug_names_file *open_file(struct pug_names *names, const char *name)
{
    char path[128];
    struct pug_names_file *file;
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    const struct pug_names_wanted wanted = {.path = path};
    enum pug_status status = pug_names_open(names, &wanted, &file);
    assert_int_equal(status, PUG_OK);
    return file;
}

static struct pug_names *new_names(size_t limit)
{
    char debug[128];
    snprintf(debug, sizeof(debug), "%s/debug", folder);
    const char *dirs[] = {debug};
    const struct pug_names_options options = {
        .debug_dirs = dirs, .debug_dir_count = 1, .limit = limit};
    struct pug_names *names = pug_names_new(&options);
    assert_non_null(names);
    return names;
}

/* ---- what addr2line says ---- */

/* "function file:line" for each frame, innermost first. */
static void expect_of(const char *addr2line, const char *program, struct pug_names_file *file)
{
    char command[512], line[1024], function[1024];
    struct pug_names_function found;
    size_t checked = 0, inlined = 0;
    snprintf(command, sizeof(command),
             "cd %s && objdump -d --no-show-raw-insn -j .text %s | "
             "awk '/^ *[0-9a-f]+:/ {sub(\":\", \"\", $1); print $1}' | %s -a -i -f -e %s",
             folder, program, addr2line, program);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    struct pug_names_frame frames[16] = {{0}};
    size_t count = 0, at = 0;
    uint64_t address = 0;
    while (fgets(line, sizeof(line), pipe)) {
        line[strcspn(line, "\n")] = '\0';
        if (strncmp(line, "0x", 2) == 0) {
            address = strtoull(line, NULL, 16);
            count = pug_names_frames(file, address, frames, 16);
            at = 0;
            continue;
        }
        snprintf(function, sizeof(function), "%s", line);
        assert_non_null(fgets(line, sizeof(line), pipe));
        char *colon = strrchr(line, ':');
        assert_non_null(colon);
        const unsigned number = colon ? (unsigned)strtoul(colon + 1, NULL, 10) : 0;
        if (!pug_names_function(file, address, &found) || strcmp(function, "??") == 0 ||
            !strstr(line, "prog.c"))
            continue; /* start files */
        assert_true(at < count);
        assert_string_equal(frames[at].function, function);
        assert_int_equal(frames[at].line, number);
        assert_true(frames[at].path && strstr(frames[at].path, "prog.c"));
        assert_int_equal(frames[at].inlined, at + 1 < count);
        inlined += at > 0;
        checked += ++at == count;
    }
    pclose(pipe);
    assert_true(checked > 30);
    assert_true(inlined > 10);
}

static void expect_frames(const char *program, struct pug_names_file *file)
{
    expect_of("addr2line", program, file);
}

static void check_program(const char *program)
{
    struct pug_names *names = new_names(0);
    expect_frames(program, open_file(names, program));
    pug_names_free(names);
}

static bool tools(void)
{
#ifndef PUG_WITH_DWARF
    print_message("skipped: built without libdw\n");
    return false;
#endif
    static const char *const wanted[] = {"cc", "objdump", "addr2line", "objcopy", "strip"};
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
        if (!have(wanted[i])) {
            print_message("skipped: no %s\n", wanted[i]);
            return false;
        }
    return true;
}

/* ---- tests ---- */

static void test_versions(void **state)
{
    (void)state;
    if (!tools())
        skip();
    for (int version = 3; version <= 5; version++) {
        shell("cc -O2 -gdwarf-%d prog.c -o v%d", version, version);
        char name[16];
        snprintf(name, sizeof(name), "v%d", version);
        check_program(name);
    }
    shell("cc -O2 -g -gz prog.c -o zipped");
    check_program("zipped");
    if (have("clang")) {
        shell("clang -O2 -g prog.c -o of_clang"); /* no .debug_aranges */
        check_program("of_clang");
    }
}

/* The addr2line of binutils knows no inlined functions of split units. */
static void test_split(void **state)
{
    (void)state;
    if (!tools() || !have("llvm-addr2line"))
        skip();
    shell("cc -O2 -gdwarf-5 -gsplit-dwarf prog.c -o split5");
    shell("cc -O2 -gdwarf-4 -gsplit-dwarf -c prog.c -o s4.o && cc s4.o -o split4");
    static const char *const programs[] = {"split4", "split5"};
    for (size_t i = 0; i < 2; i++) {
        struct pug_names *names = new_names(0);
        expect_of("llvm-addr2line", programs[i], open_file(names, programs[i]));
        pug_names_free(names);
    }
}

/* A package of split units that this libdw does not read is named; a FIFO is not looked at. */
static void test_package(void **state)
{
    char package[256];
    (void)state;
    if (!tools())
        skip();
    shell("mkdir -p packed && cd packed && cc -O2 -gdwarf-5 -gsplit-dwarf ../prog.c -o program && "
          "mkfifo program.dwp");
    struct pug_names *names = new_names(0);
    struct pug_names_file *file = open_file(names, "packed/program");
    assert_false(pug_names_unread(file, package, sizeof(package)));
    shell("cd packed && rm program.dwp && printf x > program.dwp");
    const bool unread = pug_names_unread(file, package, sizeof(package));
#ifdef PUG_WITH_DWARF
    assert_int_equal(unread, !_ELFUTILS_PREREQ(0, 191));
#else
    assert_false(unread);
#endif
    if (unread)
        assert_non_null(strstr(package, "packed/program.dwp"));
    pug_names_free(names);
}

static void test_other_file(void **state)
{
    (void)state;
    if (!tools())
        skip();
    shell("cc -O2 -g -Wl,--build-id=none prog.c -o linked && "
          "objcopy --only-keep-debug linked linked.debug && cp linked whole && "
          "objcopy --strip-all --add-gnu-debuglink=linked.debug linked");
    struct pug_names *names = new_names(0);
    expect_frames("whole", open_file(names, "linked"));
    pug_names_free(names);
    shell("mkdir -p .debug && mv linked.debug .debug/");
    names = new_names(0);
    expect_frames("whole", open_file(names, "linked"));
    pug_names_free(names);
    /* another file of that name is not the one that is meant */
    shell("printf x >> .debug/linked.debug");
    names = new_names(0);
    assert_false(pug_names_has_lines(open_file(names, "linked")));
    pug_names_free(names);
}

static void test_build_id(void **state)
{
    (void)state;
    if (!tools())
        skip();
    shell("cc -O2 -g -Wl,--build-id=0x0123456789abcdef0123456789abcdef01234567 prog.c -o by_id && "
          "cp by_id by_id_whole && mkdir -p debug/.build-id/01 && "
          "objcopy --only-keep-debug by_id "
          "debug/.build-id/01/23456789abcdef0123456789abcdef01234567.debug && strip by_id");
    struct pug_names *names = new_names(0);
    struct pug_names_file *file = open_file(names, "by_id");
    expect_frames("by_id_whole", file);
    const uint8_t *id;
    assert_int_equal(pug_names_build_id(file, &id), 20);
    assert_int_equal(id[0], 0x01);
    /* a request for another build finds nothing */
    char path[64];
    snprintf(path, sizeof(path), "%s/by_id", folder);
    const uint8_t other[20] = {9};
    struct pug_names_wanted wanted = {.path = path, .build_id = other, .build_id_size = 20};
    assert_int_equal(pug_names_open(names, &wanted, &file), PUG_ERR_FILE);
    wanted.build_id = id;
    assert_int_equal(pug_names_open(names, &wanted, &file), PUG_OK);
    pug_names_free(names);
}

static void test_symbols_alone(void **state)
{
    (void)state;
    if (!tools())
        skip();
    shell("cc -O2 prog.c -o plain");
    struct pug_names *names = new_names(0);
    struct pug_names_file *file = open_file(names, "plain");
    struct pug_names_function function;
    bool outer = false, quiet = false;
    for (size_t n = 0; pug_names_function_at(file, n, &function); n++) {
        outer = outer || (strcmp(function.name, "outer") == 0 &&
                          function.binding == PUG_NAMES_GLOBAL && !function.label);
        quiet =
            quiet || (strcmp(function.name, "quiet") == 0 && function.binding == PUG_NAMES_LOCAL);
    }
    assert_true(outer && quiet);
    struct pug_names_line line;
    assert_false(pug_names_line(file, 0x1000, &line));
    assert_false(pug_names_has_lines(file));
    /* functions of Swift begin like the marks that tell code from data */
    shell("objcopy --redefine-sym quiet='$s5quiet' plain swift");
    file = open_file(names, "swift");
    bool swift = false;
    for (size_t n = 0; pug_names_function_at(file, n, &function); n++)
        swift = swift || strcmp(function.name, "$s5quiet") == 0;
    assert_true(swift);
    pug_names_free(names);
}

/* Symbols that are compressed in .gnu_debugdata, as Fedora's programs have them. */
static void test_small_debug_information(void **state)
{
    (void)state;
    if (!tools() || !have("xz"))
        skip();
    shell("cc -O2 prog.c -o mini && nm -P mini | awk '{print $1}' > keep && "
          "objcopy -S --remove-section .comment --keep-symbols=keep --only-keep-debug mini "
          "mini_debug && xz -f mini_debug && objcopy --strip-all --add-section "
          ".gnu_debugdata=mini_debug.xz mini");
    struct pug_names *names = new_names(0);
    struct pug_names_file *file = open_file(names, "mini");
    struct pug_names_function function;
    bool quiet = false;
    for (size_t n = 0; pug_names_function_at(file, n, &function); n++)
        quiet = quiet || strcmp(function.name, "quiet") == 0;
    assert_true(quiet);
    pug_names_free(names);
}

/* With no room to keep anything the answers are the same, and what is kept is that of one unit. */
static void test_limit(void **state)
{
    (void)state;
    if (!tools())
        skip();
    shell("sed 's/outer/other/; s/main/second/; s/quiet/calm/; s/sink/drain/g' prog.c > two.c && "
          "sed -i 's/outer/other/g; s/quiet/calm/g' two.c && cc -O2 -g prog.c two.c -o both");
    struct pug_names *names = new_names(1);
    struct pug_names_file *file = open_file(names, "both");
    struct pug_names_function function;
    uint64_t outer = 0, other = 0;
    for (size_t n = 0; pug_names_function_at(file, n, &function); n++) {
        outer = strcmp(function.name, "outer") == 0 ? function.start : outer;
        other = strcmp(function.name, "other") == 0 ? function.start : other;
    }
    size_t first = 0, second = 0;
    for (int i = 0; i < 5; i++) {
        struct pug_names_line line;
        assert_true(pug_names_line(file, outer, &line));
        assert_non_null(strstr(line.path, "prog.c"));
        first = i == 0 ? names->used : first;
        assert_int_equal(names->used, first);
        assert_true(pug_names_line(file, other, &line));
        assert_non_null(strstr(line.path, "two.c"));
        second = i == 0 ? names->used : second;
        assert_int_equal(names->used, second);
    }
    assert_true(first > 0 && second > 0);
    pug_names_free(names);
    names = new_names(0); /* where there is room, both are kept */
    file = open_file(names, "both");
    struct pug_names_line line;
    assert_true(pug_names_line(file, outer, &line) && pug_names_line(file, other, &line));
    assert_int_equal(names->used, first + second);
    pug_names_free(names);
}

static void write_text(const char *name, const char *text)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void test_texts(void **state)
{
    (void)state;
    char path[128];
    struct pug_names *names = new_names(0);
    struct pug_names_file *file, *again;
    struct pug_names_function function;
    write_text("kallsyms", "ffff800008000000 T _text\nffff800008000010 t do_it\t[mod]\n"
                           "nonsense\nffff800008000020 D data\nffff800008000040 W weak\n");
    snprintf(path, sizeof(path), "%s/kallsyms", folder);
    assert_int_equal(pug_names_open_text(names, PUG_NAMES_KALLSYMS, "[kernel]", path, &file),
                     PUG_OK);
    assert_true(pug_names_function(file, UINT64_C(0xffff80000800002f), &function));
    assert_string_equal(function.name, "do_it");
    assert_int_equal(function.size, 0x30);
    assert_false(pug_names_function(file, 0x1000, &function));
    assert_int_equal(pug_names_open(names, &(struct pug_names_wanted){.path = "[kernel]"}, &again),
                     PUG_OK);
    assert_ptr_equal(file, again);
    write_text("jit.map", "7f0000001000 20 LazyCompile:*run /app/a b.js:3\n7f0000001020 0 none\n"
                          "fffffffffffffff0 20 wraps\n7f0000001040 8 $lambda\n");
    snprintf(path, sizeof(path), "%s/jit.map", folder);
    assert_int_equal(pug_names_open_text(names, PUG_NAMES_JIT_MAP, "[jit]", path, &file), PUG_OK);
    assert_true(pug_names_function(file, UINT64_C(0x7f000000101f), &function));
    assert_string_equal(function.name, "LazyCompile:*run /app/a b.js:3");
    assert_true(pug_names_function(file, UINT64_C(0x7f0000001040), &function));
    assert_string_equal(function.name, "$lambda");
    assert_false(pug_names_function(file, UINT64_C(0x7f0000001020), &function));
    write_text("empty", "");
    snprintf(path, sizeof(path), "%s/empty", folder);
    assert_int_equal(pug_names_open_text(names, PUG_NAMES_JIT_MAP, "[none]", path, &file),
                     PUG_ERR_FILE);
    /* it is read once, and another one of that object is another one */
    write_text("empty", "1000 20 late\n");
    assert_int_equal(pug_names_open_text(names, PUG_NAMES_JIT_MAP, "[none]", path, &file),
                     PUG_ERR_FILE);
    write_text("full", "1000 20 there\n");
    snprintf(path, sizeof(path), "%s/full", folder);
    assert_int_equal(pug_names_open_text(names, PUG_NAMES_JIT_MAP, "[none]", path, &file), PUG_OK);
    pug_names_free(names);
}

static void test_what_is_no_file(void **state)
{
    (void)state;
    struct pug_names *names = new_names(0);
    struct pug_names_file *file;
    static const char *const paths[] = {"/dev/null", "/tmp", "/nowhere/at/all", ""};
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
        assert_int_not_equal(
            pug_names_open(names, &(struct pug_names_wanted){.path = paths[i]}, &file), PUG_OK);
    write_text("text", "this is no program");
    char path[128];
    snprintf(path, sizeof(path), "%s/text", folder);
    assert_int_not_equal(pug_names_open(names, &(struct pug_names_wanted){.path = path}, &file),
                         PUG_OK);
    pug_names_free(names);
}

/* Profiles ask for each address: nothing is looked for a second time. */
static void test_missing(void **state)
{
    (void)state;
    struct pug_names *names = new_names(0), *later = new_names(0);
    struct pug_names_file *file;
    char path[64], other[64];
    snprintf(path, sizeof(path), "%s/missing", folder);
    snprintf(other, sizeof(other), "%s/there", folder);
    struct pug_names_wanted wanted = {.path = path};
    const uint8_t id[] = {1, 2, 3};
    assert_int_equal(pug_names_open(names, &wanted, &file), PUG_ERR_FILE);
    assert_int_equal(pug_names_open(names, &(struct pug_names_wanted){.path = other}, &file),
                     PUG_ERR_FILE);
    shell("cp \"$(command -v cp)\" missing && cp missing there");
    assert_int_equal(pug_names_open(names, &wanted, &file), PUG_ERR_FILE);
    assert_int_equal(pug_names_open(later, &wanted, &file), PUG_OK);
    /* another build of it, and one that is said to be elsewhere, which is new */
    wanted.build_id = id;
    wanted.build_id_size = sizeof(id);
    assert_int_equal(pug_names_open(names, &wanted, &file), PUG_ERR_FILE);
    wanted.build_id_size = 0;
    wanted.file = other;
    assert_int_equal(pug_names_open(names, &wanted, &file), PUG_OK);
    pug_names_free(names);
    pug_names_free(later);
}

/* Recorded paths stay below symfs, whatever links and dots are in them. */
static void test_roots(void **state)
{
    (void)state;
    char root[64];
    snprintf(root, sizeof(root), "%s/root", folder);
    shell("cp \"$(command -v cp)\" secret && mkdir -p root/bin root/lib && "
          "ln -s ../../secret root/bin/up && ln -s %s/secret root/bin/away && "
          "cp secret root/lib/real && ln -s /lib/real root/bin/inside",
          folder);
    const struct pug_names_options options = {.symfs = root};
    struct pug_names *names = pug_names_new(&options);
    struct pug_names_file *file;
    static const char *const paths[] = {"/../secret", "/bin/../../secret", "/bin/up", "/bin/away"};
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
        assert_int_equal(pug_names_open(names, &(struct pug_names_wanted){.path = paths[i]}, &file),
                         PUG_ERR_FILE);
    assert_int_equal(
        pug_names_open(names, &(struct pug_names_wanted){.path = "/bin/inside"}, &file), PUG_OK);
    pug_names_free(names);
}

/* Each byte of the debug information wrong: whatever comes of it, no fault. */
static void test_damaged(void **state)
{
    (void)state;
    if (!tools())
        skip();
    shell("cc -O2 -g -c prog.c -o small.o && cc -nostdlib -Wl,-e,outer small.o -o small");
    char path[128];
    snprintf(path, sizeof(path), "%s/small", folder);
    FILE *from = fopen(path, "rb");
    static uint8_t bytes[1 << 17];
    const size_t size = fread(bytes, 1, sizeof(bytes), from);
    fclose(from);
    assert_true(size > 1000 && size < sizeof(bytes));
    snprintf(path, sizeof(path), "%s/damaged", folder);
    for (size_t at = 0; at < size; at += at < 512 ? 1 : 37) {
        const uint8_t was = bytes[at];
        bytes[at] ^= at % 2 ? 0xff : 0x10;
        FILE *to = fopen(path, "wb");
        fwrite(bytes, 1, size, to);
        fclose(to);
        bytes[at] = was;
        struct pug_names *names = new_names(0);
        struct pug_names_file *file;
        if (pug_names_open(names, &(struct pug_names_wanted){.path = path}, &file) == PUG_OK) {
            struct pug_names_frame frames[8];
            for (uint64_t address = 0x1000; address < 0x1200; address += 3)
                pug_names_frames(file, address, frames, 8);
        }
        pug_names_free(names);
    }
}

/** Names that had one hash were there no seed: each was looked for among all of them. */
static void test_chosen_names(void **state)
{
    struct names_strings strings = {0};
    const clock_t begun = clock();
    (void)state;
    for (uint64_t n = 1; n <= 60000; n++) {
        const uint64_t first = pug_hash_mix(0, n) | UINT64_C(0x0101010101010101);
        const uint64_t second =
            pug_hash_mix(pug_hash_mix(0, 16), first) ^ UINT64_C(0x5555555555555555);
        char name[17] = "";
        memcpy(name, &first, sizeof(first));
        memcpy(name + 8, &second, sizeof(second));
        assert_string_equal(pug_names_string(&strings, name), name);
    }
    pug_names_strings_free(&strings);
    assert_true((clock() - begun) / CLOCKS_PER_SEC < 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_versions),
        cmocka_unit_test(test_split),
        cmocka_unit_test(test_package),
        cmocka_unit_test(test_other_file),
        cmocka_unit_test(test_build_id),
        cmocka_unit_test(test_symbols_alone),
        cmocka_unit_test(test_small_debug_information),
        cmocka_unit_test(test_limit),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_chosen_names),
        cmocka_unit_test(test_what_is_no_file),
        cmocka_unit_test(test_missing),
        cmocka_unit_test(test_roots),
        cmocka_unit_test(test_damaged),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
