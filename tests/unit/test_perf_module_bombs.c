// SPDX-License-Identifier: MIT
/**
 * @file A module of a megabyte beside kernel symbols of a megabyte: sections that all have the same
 * bytes, relocations that stand in many tables, names that are many symbols'. Each is decoded in a
 * process of its own, within 512 MiB and 10 s.
 */
#include "support/kernel_run.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

/* Sanitizers take memory and time for themselves. */
#if !defined(_WIN32) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_MEMORY  (512L << 10) /* KiB */
#define MOST_SECONDS 10
#define MEGABYTE     1000000u
#define TEXT_AT      0x1000u
#define MANY_MODULES 4000u

enum { PROGBITS = 1, SYMTAB = 2, STRTAB = 3, RELA = 4, ALLOC_EXEC = 6 };
enum { TEXT = 1, SYMBOLS, STRINGS, NAMES, OTHERS };

/** A module under construction: its text, then tables, then the headers of sections. */
struct module {
    struct rec_bytes file, sections, symbols, strings;
    uint32_t text_size, section_count;
};

static void put_section(struct module *m, uint32_t name, uint32_t type, uint64_t flags,
                        uint64_t offset, uint64_t size, uint32_t link, uint32_t info,
                        uint64_t entry)
{
    const uint64_t words[] = {flags, 0, offset, size};
    rec_put_le(&m->sections, name, 4);
    rec_put_le(&m->sections, type, 4);
    for (unsigned i = 0; i < 4; i++)
        rec_put_le(&m->sections, words[i], 8);
    rec_put_le(&m->sections, link, 4);
    rec_put_le(&m->sections, info, 4);
    rec_put_le(&m->sections, 4, 8);
    rec_put_le(&m->sections, entry, 8);
    m->section_count++;
}

/** A symbol of a section, whose name is at an offset of the strings. */
static void put_symbol(struct module *m, uint32_t name, uint16_t section, uint64_t value)
{
    rec_put_le(&m->symbols, name, 4);
    rec_put_le(&m->symbols, section ? 2 : 0x10, 2);
    rec_put_le(&m->symbols, section, 2);
    rec_put_le(&m->symbols, value, 8);
    rec_put_le(&m->symbols, 0, 8);
}

static uint32_t put_string(struct module *m, const char *format, unsigned n)
{
    char text[32];
    const uint32_t at = (uint32_t)m->strings.size;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    const int length = snprintf(text, sizeof(text), format, n);
#pragma GCC diagnostic pop
    rec_put_n(&m->strings, (const uint8_t *)text, (size_t)length + 1);
    return at;
}

static void begin(struct module *m, uint32_t text_size)
{
    *m = (struct module){.text_size = text_size};
    put_string(m, "", 0);
    put_symbol(m, 0, 0, 0);
}

static void put_header(struct rec_bytes *out, uint64_t sections_at, uint32_t count)
{
    static const uint8_t ident[16] = {0x7f, 'E', 'L', 'F', 2, 1, 1};
    rec_put_n(out, ident, sizeof(ident));
    rec_put_le(out, 1 | 183 << 16, 4);
    rec_put_le(out, 1, 4);
    rec_put_le(out, 0, 8);
    rec_put_le(out, 0, 8);
    rec_put_le(out, sections_at, 8);
    rec_put_le(out, 0, 4);
    rec_put_le(out, 64, 2);
    rec_put_le(out, 0, 4);
    rec_put_le(out, 64, 2);
    rec_put_le(out, count, 2);
    rec_put_le(out, NAMES, 2);
}

/** Text, tables, and what `put_others` adds to the sections; `extra` bytes follow the text. */
static void finish(struct module *m, const struct rec_bytes *extra,
                   void (*put_others)(struct module *m, uint64_t extra_at, uint64_t extra_size))
{
    static const char names[] = "\0.text\0.symtab\0.strtab\0.shstrtab";
    const uint64_t extra_at = TEXT_AT + m->text_size, extra_size = extra ? extra->size : 0,
                   symbols_at = extra_at + extra_size, strings_at = symbols_at + m->symbols.size,
                   names_at = strings_at + m->strings.size;
    put_section(m, 0, 0, 0, 0, 0, 0, 0, 0);
    put_section(m, 1, PROGBITS, ALLOC_EXEC, TEXT_AT, m->text_size, 0, 0, 0);
    put_section(m, 7, SYMTAB, 0, symbols_at, m->symbols.size, STRINGS, 1, 24);
    put_section(m, 15, STRTAB, 0, strings_at, m->strings.size, 0, 0, 0);
    put_section(m, 23, STRTAB, 0, names_at, sizeof(names), 0, 0, 0);
    put_others(m, extra_at, extra_size);
    put_header(&m->file, names_at + sizeof(names), m->section_count);
    while (m->file.size < TEXT_AT)
        rec_put(&m->file, 0);
    for (uint32_t i = 0; i < m->text_size; i += 4)
        rec_put_le(&m->file, i == 4 ? 0x14000000 : NOP, 4); /* a branch to itself */
    if (extra)
        rec_put_n(&m->file, extra->data, extra->size);
    rec_put_n(&m->file, m->symbols.data, m->symbols.size);
    rec_put_n(&m->file, m->strings.data, m->strings.size);
    rec_put_n(&m->file, (const uint8_t *)names, sizeof(names));
    rec_put_n(&m->file, m->sections.data, m->sections.size);
    assert_in_range(m->file.size, MEGABYTE / 2, MEGABYTE);
}

static void put_line(struct rec_bytes *lines, uint64_t address, const char *rest, unsigned n)
{
    char text[64];
    const int length = snprintf(text, sizeof(text), "%llx ", (unsigned long long)address);
    rec_put_n(lines, (const uint8_t *)text, (size_t)length);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    const int more = snprintf(text, sizeof(text), rest, n);
#pragma GCC diagnostic pop
    rec_put_n(lines, (const uint8_t *)text, (size_t)more);
}

/* ---- kinds ---- */

static void put_none(struct module *m, uint64_t extra_at, uint64_t extra_size)
{
    (void)m;
    (void)extra_at;
    (void)extra_size;
}

static void put_same_sections(struct module *m, uint64_t extra_at, uint64_t extra_size)
{
    (void)extra_at;
    (void)extra_size;
    for (unsigned i = 0; i < 5000; i++)
        put_section(m, 0, PROGBITS, ALLOC_EXEC, TEXT_AT, m->text_size, 0, 0, 0);
}

/** Five thousand sections have the same half megabyte, and the kernel knows where each is. */
static void sections(struct module *m, struct rec_bytes *lines)
{
    begin(m, 400000);
    for (unsigned i = 0; i < 5000; i++) {
        put_symbol(m, put_string(m, "f%u", i), (uint16_t)(OTHERS + i), 0);
        put_line(lines, MODULE + 0x1000 + i, "t f%u\t[foo]\n", i);
    }
    finish(m, NULL, put_same_sections);
}

static void put_same_tables(struct module *m, uint64_t extra_at, uint64_t extra_size)
{
    for (unsigned i = 0; i < 5000; i++)
        put_section(m, 0, RELA, 0, extra_at, extra_size, SYMBOLS, TEXT, 24);
}

/** Calls of one symbol, the last one first. */
static void put_calls(struct rec_bytes *table, unsigned count, unsigned symbols)
{
    for (unsigned i = 0; i < count; i++) {
        rec_put_le(table, 4 * (uint64_t)(count - i), 8);
        rec_put_le(table, (uint64_t)(1 + i % symbols) << 32 | 283, 8);
        rec_put_le(table, 0, 8);
    }
}

/** Five thousand sections are the same table of calls of a symbol that is unknown. */
static void tables(struct module *m, struct rec_bytes *lines)
{
    struct rec_bytes table = {0};
    begin(m, 100000);
    put_symbol(m, put_string(m, "unknown", 0), 0, 0);
    put_calls(&table, 20000, 1);
    put_line(lines, KERNEL, "T _stext\n", 0);
    finish(m, &table, put_same_tables);
    rec_bytes_free(&table);
}

static void put_one_table(struct module *m, uint64_t extra_at, uint64_t extra_size)
{
    put_section(m, 0, RELA, 0, extra_at, extra_size, SYMBOLS, TEXT, 24);
}

/** Calls of a symbol that the kernel has a hundred thousand times, none of which can be meant. */
static void globals(struct module *m, struct rec_bytes *lines)
{
    struct rec_bytes table = {0};
    begin(m, 100000);
    for (unsigned i = 0; i < 1000; i++)
        put_symbol(m, 1, 0, 0);
    put_string(m, "a", 0);
    put_calls(&table, 24000, 1000);
    for (unsigned i = 0; lines->size < MEGABYTE - 100; i++)
        put_line(lines, 1 + i, "t a\n", 0);
    finish(m, &table, put_one_table);
    rec_bytes_free(&table);
}

/** Functions whose names are the ends of one long text. */
static void suffixes(struct module *m, struct rec_bytes *lines)
{
    begin(m, 50000);
    while (m->strings.size < 400000)
        rec_put(&m->strings, 'a');
    rec_put(&m->strings, 0);
    for (unsigned i = 0; i < 20000; i++)
        put_symbol(m, 1 + i, TEXT, i);
    put_line(lines, KERNEL, "T _stext\n", 0);
    finish(m, NULL, put_none);
}

/* ---- decoding ---- */

/** Runs it in a process of its own. Returns whether that stayed within its bounds. */
static bool runs(void (*run)(const struct kernel_run *r), const struct kernel_run *r)
{
    int status;
    const pid_t child = fork();
    if (child == 0) {
        const struct rlimit seconds = {MOST_SECONDS, MOST_SECONDS};
        struct rusage usage;
        setrlimit(RLIMIT_CPU, &seconds);
        run(r);
        const bool measured = getrusage(RUSAGE_SELF, &usage) == 0;
        if (usage.ru_maxrss > MOST_MEMORY)
            print_message("it took %ld MiB\n", usage.ru_maxrss >> 10);
        _exit(measured && usage.ru_maxrss <= MOST_MEMORY ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status))
        print_message("signal %d ended it\n", WTERMSIG(status));
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void decode(const struct kernel_run *r)
{
    char kallsyms[128];
    snprintf(kallsyms, sizeof(kallsyms), "%s/kallsyms", r->folder);
    const struct pug_capture_roots roots = {
        .kallsyms = kallsyms, .symfs = r->folder, .build_ids = ""};
    const struct kernel_heard heard = kernel_run_hear(r, "perf.data", &roots);
    pug_capture_free(heard.capture);
}

static void test_modules(void **state)
{
    static const struct {
        const char *name;
        void (*make)(struct module *m, struct rec_bytes *lines);
    } kinds[] = {
        {"sections", sections}, {"tables", tables}, {"globals", globals}, {"suffixes", suffixes}};
    bool good = true;
    (void)state;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct kernel_run r;
        struct module m;
        struct rec_bytes lines = {0};
        kernel_run_begin(&r);
        kernel_run_map(&r, MODULE, 0x100000, 0, "/foo.ko");
        kernel_run_at(&r, 100, MODULE, 1, MODULE);
        kernel_run_finish(&r, "perf.data");
        kinds[i].make(&m, &lines);
        kernel_run_bytes(&r, "foo.ko", m.file.data, m.file.size);
        kernel_run_bytes(&r, "kallsyms", lines.data, lines.size);
        if (!runs(decode, &r)) {
            print_message("%s: more than 512 MiB or 10 s\n", kinds[i].name);
            good = false;
        }
        struct rec_bytes *const all[] = {&m.file, &m.sections, &m.symbols, &m.strings, &lines};
        for (size_t n = 0; n < sizeof(all) / sizeof(all[0]); n++)
            rec_bytes_free(all[n]);
        kernel_run_end(&r);
    }
    assert_true(good);
}

/* ---- names ---- */

static void name_all(const struct kernel_run *r)
{
    char path[128];
    struct pug_capture *capture;
    struct pug_names_file *file;
    uint32_t named = 0;
    snprintf(path, sizeof(path), "%s/kallsyms", r->folder);
    const struct pug_capture_options options = {
        .roots = {.kallsyms = path, .symfs = "/none", .build_ids = ""}};
    char data[128];
    snprintf(data, sizeof(data), "%s/perf.data", r->folder);
    assert_int_equal(pug_capture_open(data, &options, &capture), PUG_OK);
    struct pug_names *names = pug_names_new(NULL);
    assert_non_null(names);
    for (uint32_t n = 0; pug_capture_object_at(capture, n); n++)
        named += pug_capture_names(capture, n, names, &file);
    if (named < MANY_MODULES)
        _exit(2);
    pug_names_free(names);
    pug_capture_free(capture);
}

/** Thousands of modules have a line each in a megabyte of the kernel's symbols. */
static void test_many_modules(void **state)
{
    struct kernel_run r;
    struct rec_bytes lines = {0};
    (void)state;
    kernel_run_begin(&r);
    put_line(&lines, KERNEL, "T _stext\n", 0);
    for (unsigned i = 0; i < MANY_MODULES; i++) {
        char path[32];
        snprintf(path, sizeof(path), "/m%u.ko", i);
        kernel_run_map(&r, MODULE + 0x1000 * (uint64_t)i, 0x1000, 0, path);
        put_line(&lines, MODULE + 0x1000 * (uint64_t)i, "t f\t[m%u]\n", i);
    }
    while (lines.size < MEGABYTE - 100)
        put_line(&lines, 1, "t a\n", 0);
    kernel_run_finish(&r, "perf.data");
    kernel_run_bytes(&r, "kallsyms", lines.data, lines.size);
    rec_bytes_free(&lines);
    const bool good = runs(name_all, &r);
    kernel_run_end(&r);
    assert_true(good);
}
#else
static void test_modules(void **state)
{
    (void)state;
    skip();
}

static void test_many_modules(void **state)
{
    (void)state;
    skip();
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_modules),
                                       cmocka_unit_test(test_many_modules)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
