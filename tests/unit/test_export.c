// SPDX-License-Identifier: MIT
/**
 * @file Formats against what was made of the true path of programs: profiles are filled with its
 * counts, nothing is decoded. Reads ../shared/perfdata; skipped where it is not there.
 */
#include "base/bytes.h"
#include "export/export.h"
#include "pugmark/advanced/isa.h"
#include "pugmark/names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define DATA PUG_SOURCE_DIR "/../shared/perfdata/paw"

/* ---- a profile of counts ---- */

struct filling {
    struct pug_profile *profile;
    struct pug_names *names;
};

static uint32_t object_of(struct filling *filling, const char *path)
{
    struct pug_names_file *file;
    const struct pug_names_wanted wanted = {.path = path};
    const struct pug_names_segment *from;
    struct pug_profile_segment segments[8];
    struct pug_profile_object object = {.path = path, .segments = segments};
    const uint8_t *id;
    uint32_t number;
    assert_int_equal(pug_names_open(filling->names, &wanted, &file), PUG_OK);
    object.segment_count = pug_names_segments(file, &from);
    assert_true(object.segment_count <= 8);
    for (size_t i = 0; i < object.segment_count; i++)
        segments[i] = (struct pug_profile_segment){from[i].vaddr, from[i].offset, from[i].size,
                                                   from[i].executable};
    object.build_id_size = (uint8_t)pug_names_build_id(file, &id);
    memcpy(object.build_id, id, object.build_id_size);
    object.file = pug_names_path(file);
    assert_int_equal(pug_profile_object(filling->profile, &object, &number), PUG_OK);
    return number;
}

static uint8_t end_of(struct filling *filling, const char *path, uint64_t last)
{
    struct pug_names_file *file;
    struct pug_names_code code;
    struct pug_insn insn = {0};
    const struct pug_isa_config config = {0};
    uint8_t it_count = 0;
    assert_int_equal(
        pug_names_open(filling->names, &(struct pug_names_wanted){.path = path}, &file), PUG_OK);
    for (size_t n = 0; pug_names_code_at(file, n, &code); n++)
        if (last >= code.start && last < code.end)
            assert_int_equal(pug_isa_classify(&config, code.isa, last,
                                              code.bytes + (last - code.start), 4, &it_count,
                                              &insn),
                             PUG_OK);
    if (insn.type != PUG_INSTR_BR && insn.type != PUG_INSTR_BR_INDIRECT)
        return 0;
    return (uint8_t)(PUG_END_BRANCH | (insn.type == PUG_INSTR_BR_INDIRECT ? PUG_END_INDIRECT : 0) |
                     (insn.conditional ? PUG_END_CONDITIONAL : 0) | (insn.link ? PUG_END_CALL : 0));
}

static void add_branch(struct filling *filling, const char *line)
{
    char from[256], to[256];
    struct pug_profile_branch branch;
    unsigned long long at, target, count;
    assert_int_equal(sscanf(line, "b %255s %llx %255s %llx %llu", from, &at, to, &target, &count),
                     5);
    branch = (struct pug_profile_branch){at, target, count, object_of(filling, from),
                                         object_of(filling, to)};
    assert_int_equal(pug_profile_branch(filling->profile, &branch), PUG_OK);
}

/* How often the branch at the end of ranges is taken, less what ranges before took of it. */
static uint64_t taken_left(const struct pug_profile *profile, const struct pug_profile_range *range)
{
    uint64_t taken = 0, used = 0;
    size_t count;
    const struct pug_profile_branch *branches = pug_profile_branches(profile, &count);
    for (size_t i = 0; i < count; i++)
        if (branches[i].object == range->object && branches[i].from == range->last)
            taken += branches[i].count;
    const struct pug_profile_range *ranges = pug_profile_ranges(profile, &count);
    for (size_t i = 0; i < count; i++)
        if (ranges[i].object == range->object && ranges[i].last == range->last &&
            (ranges[i].end & PUG_END_TAKEN))
            used += ranges[i].count;
    return taken - used;
}

static void add_range(struct filling *filling, const char *line)
{
    char path[256];
    unsigned long long first, last, count;
    assert_int_equal(sscanf(line, "r %255s %llx %llx %llu", path, &first, &last, &count), 4);
    struct pug_profile_range range = {.first = first,
                                      .last = last,
                                      .count = count,
                                      .object = object_of(filling, path),
                                      .instructions = (uint32_t)(last - first) / 4 + 1,
                                      .last_size = 4,
                                      .isa = PUG_ISA_A64,
                                      .end = end_of(filling, path, last)};
    const uint64_t left = taken_left(filling->profile, &range);
    const uint64_t taken = left < count ? left : count;
    range.count = count - taken;
    if (range.count > 0)
        assert_int_equal(pug_profile_range(filling->profile, &range, NULL), PUG_OK);
    range.count = taken;
    range.end |= PUG_END_TAKEN;
    if (taken > 0)
        assert_int_equal(pug_profile_range(filling->profile, &range, NULL), PUG_OK);
}

static void each_line(const char *name, char kind, struct filling *filling,
                      void (*take)(struct filling *, const char *))
{
    char command[512], line[1024];
    snprintf(command, sizeof(command), "xz -dc %s/expected/%s.counts.xz", DATA, name);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    while (fgets(line, sizeof(line), pipe))
        if (line[0] == kind)
            take(filling, line);
    assert_int_equal(pclose(pipe), 0);
}

static struct filling filled(const char *name)
{
    const struct pug_names_options options = {.symfs = DATA "/root"};
    struct filling filling = {pug_profile_new(), pug_names_new(&options)};
    assert_non_null(filling.profile);
    assert_non_null(filling.names);
    each_line(name, 'b', &filling, add_branch);
    each_line(name, 'r', &filling, add_range);
    return filling;
}

static void empty(struct filling *filling)
{
    pug_profile_free(filling->profile);
    pug_names_free(filling->names);
}

/* ---- outputs ---- */

static char *text_of(struct filling *filling, const char *format, const char *object, bool coverage)
{
    struct pug_memory memory = {0};
    struct pug_sink sink = pug_memory_sink(&memory);
    const struct pug_export_options options = {
        .names = filling->names, .objects = &object, .object_count = object != NULL};
    enum pug_status status =
        coverage ? pug_export_coverage(filling->profile, format, &options, sink.put, sink.context)
                 : pug_export(filling->profile, format, &options, sink.put, sink.context);
    assert_int_equal(status, PUG_OK);
    pug_sink_put(&sink, "", 1);
    assert_false(memory.failed);
    return memory.bytes;
}

static char *expected(const char *name, const char *object, const char *kind)
{
    char path[512];
    snprintf(path, sizeof(path), "%s/expected/%s.%s.%s", DATA, name, object, kind);
    FILE *file = fopen(path, "r");
    static char bytes[1 << 17];
    if (!file)
        return NULL;
    const size_t size = fread(bytes, 1, sizeof(bytes) - 1, file);
    fclose(file);
    bytes[size] = '\0';
    return bytes;
}

static int by_text(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

/* Sort the lines of a text that begin with `prefix`; how many there are. */
static size_t sort_lines(char *text, const char *prefix, char **lines, size_t room)
{
    size_t count = 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        if (strncmp(line, prefix, strlen(prefix)) == 0) {
            assert_true(count < room);
            lines[count++] = line;
        }
    qsort(lines, count, sizeof(*lines), by_text);
    return count;
}

static void assert_same_lines(char *got, char *want, const char *prefix)
{
    static char *got_lines[8192], *want_lines[8192];
    const size_t got_count = sort_lines(got, prefix, got_lines, 8192);
    const size_t want_count = sort_lines(want, prefix, want_lines, 8192);
    for (size_t i = 0; i < got_count && i < want_count; i++)
        assert_string_equal(got_lines[i], want_lines[i]);
    assert_int_equal(got_count, want_count);
    assert_true(want_count > 0);
}

/* Each file of the kind that there is for this capture. */
static void each_object(const char *kind, const char *format, const char *name,
                        void (*check)(struct filling *, const char *format, const char *name,
                                      const char *object, char *want))
{
    static const char *const objects[] = {"paw", "libpaw.so", "paw-static"};
    struct filling filling = filled(name);
    size_t checked = 0;
    for (size_t i = 0; i < sizeof(objects) / sizeof(objects[0]); i++) {
        char *want = expected(name, objects[i], kind);
        if (!want)
            continue;
        check(&filling, format, name, objects[i], want);
        checked++;
    }
    empty(&filling);
    assert_true(checked > 0);
}

static bool data_is_there(void)
{
    if (access(DATA "/expected/thread-v1.counts.xz", R_OK) == 0)
        return true;
    print_message("skipped: no %s\n", DATA);
    return false;
}

static void check_bytes(struct filling *filling, const char *format, const char *name,
                        const char *object, char *want)
{
    (void)name;
    char *got = text_of(filling, format, object, false);
    assert_string_equal(got, want);
    free(got);
}

static void check_lines(struct filling *filling, const char *format, const char *name,
                        const char *object, char *want)
{
    (void)name;
    char *got = text_of(filling, format, object, false);
    assert_same_lines(got, want, "");
    free(got);
}

static void check_coverage(struct filling *filling, const char *format, const char *name,
                           const char *object, char *want)
{
    (void)name;
    char *got = text_of(filling, format, object, true);
    assert_same_lines(got, want, "");
    free(got);
}

static const char *const captures[] = {"thread-v0", "thread-v1", "ete-raw", "snapshot", "hwid-v0"};
#define CAPTURES (sizeof(captures) / sizeof(captures[0]))

static void test_autofdo_of_shared(void **state)
{
    (void)state;
    if (!data_is_there())
        skip();
    for (size_t i = 0; i < CAPTURES; i++)
        each_object("autofdo", "autofdo", captures[i], check_bytes);
}

static void test_bolt_of_shared(void **state)
{
    (void)state;
    if (!data_is_there())
        skip();
    for (size_t i = 0; i < CAPTURES; i++)
        each_object("preagg", "bolt", captures[i], check_lines);
}

static void test_lcov_of_shared(void **state)
{
    (void)state;
    if (!data_is_there())
        skip();
    for (size_t i = 0; i < 2; i++)
        each_object("info", "lcov", captures[i], check_coverage);
}

/* "FILE LINE MAX SUM" */
static void check_source_lines(struct filling *filling, const char *format, const char *name,
                               const char *object, char *want)
{
    (void)name;
    (void)format;
    struct export_lines lines;
    size_t count;
    uint32_t number = 0;
    assert_int_equal(pug_profile_sort(filling->profile), PUG_OK);
    const struct pug_profile_object *objects = pug_profile_objects(filling->profile, &count);
    while (number < count && !pug_profile_object_is(&objects[number], object))
        number++;
    assert_true(number < count);
    const struct pug_export_options options = {.names = filling->names};
    const struct exporter exporter = {
        .profile = filling->profile, .options = &options, .objects = &number, .object_count = 1};
    assert_int_equal(pug_export_lines(&exporter, &lines), PUG_OK);
    static char got[1 << 16];
    size_t length = 0;
    for (size_t i = 0; i < lines.count; i++)
        if (lines.items[i].sum > 0)
            length += (size_t)snprintf(got + length, sizeof(got) - length, "%s %u %llu %llu\n",
                                       strrchr(lines.items[i].path, '/') + 1, lines.items[i].line,
                                       (unsigned long long)lines.items[i].highest,
                                       (unsigned long long)lines.items[i].sum);
    free(lines.items);
    assert_same_lines(got, want, "");
}

static void test_source_lines_of_shared(void **state)
{
    (void)state;
    if (!data_is_there())
        skip();
    for (size_t i = 0; i < CAPTURES; i++)
        each_object("lines", "", captures[i], check_source_lines);
}

/* ---- what a format needs, of profiles of two objects without names and frames ---- */

static void add_object(struct pug_profile *profile, const char *path)
{
    const struct pug_profile_object object = {.path = path};
    struct pug_profile_range range = {
        .first = 0x1000, .last = 0x1004, .count = 1, .instructions = 2, .last_size = 4};
    assert_int_equal(pug_profile_object(profile, &object, &range.object), PUG_OK);
    assert_int_equal(pug_profile_range(profile, &range, NULL), PUG_OK);
}

static enum pug_status outcome_of(struct pug_profile *profile, const char *format,
                                  const struct pug_export_options *options)
{
    struct pug_memory memory = {0};
    struct pug_sink sink = pug_memory_sink(&memory);
    enum pug_status status = pug_export(profile, format, options, sink.put, sink.context);
    free(memory.bytes);
    return status;
}

static void test_what_formats_need(void **state)
{
    (void)state;
    const struct pug_export_format *format;
    static const char *const names[] = {"/b", "/c"};
    const struct pug_export_options bare = {0}, chosen = {.objects = names, .object_count = 1},
                                    other = {.objects = names, .object_count = 2};
    struct pug_profile *profile = pug_profile_new();
    add_object(profile, "/a");
    add_object(profile, "/b");
    assert_int_equal(outcome_of(profile, "none", &bare), PUG_ERR_WRONG_KIND);
    for (size_t n = 0; (format = pug_export_format_at(n)) != NULL; n++) {
        const bool lacks = format->needs_names || format->needs_stacks;
        assert_int_equal(outcome_of(profile, format->name, &bare), lacks ? PUG_ERR_NOT_READY
                                                                   : format->one_object
                                                                       ? PUG_ERR_NOT_FOUND
                                                                       : PUG_OK);
        assert_int_equal(outcome_of(profile, format->name, &chosen),
                         lacks ? PUG_ERR_NOT_READY : PUG_OK);
        assert_int_equal(outcome_of(profile, format->name, &other),
                         lacks ? PUG_ERR_NOT_READY : PUG_ERR_NOT_FOUND);
    }
    pug_profile_free(profile);
}

/** Nothing ran of what was selected: there are no stacks to be missed. */
static void test_nothing(void **state)
{
    (void)state;
    const struct pug_export_options options = {.names = pug_names_new(NULL)};
    struct pug_profile *profile = pug_profile_new();
    assert_int_equal(outcome_of(profile, "folded", &options), PUG_OK);
    assert_int_equal(outcome_of(profile, "callgrind", &options), PUG_OK);
    pug_profile_free(profile);
    pug_names_free(options.names);
}

/* ---- some objects of several ---- */

/** /a's function calls that of /b, which calls that of /c: 10, 20 and 40 instructions. */
static struct pug_profile *chain(void)
{
    static const char *const paths[] = {"/a", "/b", "/c"};
    struct pug_profile *profile = pug_profile_new();
    struct pug_profile_frame frame = {
        .parent = PUG_PROFILE_NONE, .site_object = PUG_PROFILE_NONE, .calls = 1};
    assert_int_equal(
        pug_profile_task(profile, &(struct pug_profile_task){.name = "t"}, &frame.task), PUG_OK);
    for (unsigned i = 0; i < 3; i++) {
        const struct pug_profile_object object = {.path = paths[i]};
        struct pug_profile_range range = {
            .first = 0x1000, .last = 0x1004, .count = 5u << i, .instructions = 2, .last_size = 4};
        struct pug_profile_use use = {.count = 5u << i};
        assert_int_equal(pug_profile_object(profile, &object, &range.object), PUG_OK);
        assert_int_equal(pug_profile_range(profile, &range, &use.range), PUG_OK);
        frame.object = range.object;
        frame.function = 0x1000;
        assert_int_equal(pug_profile_frame(profile, &frame, &use.frame), PUG_OK);
        assert_int_equal(pug_profile_use(profile, &use), PUG_OK);
        frame.parent = use.frame;
    }
    return profile;
}

/** The text of a format for these objects, to be freed. */
static char *chosen_text(struct pug_profile *profile, const char *format, size_t count,
                         const char *const *objects)
{
    const struct pug_export_options options = {
        .names = pug_names_new(NULL), .objects = objects, .object_count = count, .json = true};
    struct pug_memory memory = {0};
    struct pug_sink sink = pug_memory_sink(&memory);
    assert_int_equal(pug_export(profile, format, &options, sink.put, sink.context), PUG_OK);
    pug_sink_put(&sink, "", 1);
    pug_names_free(options.names);
    return memory.bytes;
}

static void check_chosen(size_t count, const char *const *objects, const char *head,
                         const char *folded)
{
    struct pug_profile *profile = chain();
    char *table = chosen_text(profile, "table", count, objects);
    char *stacks = chosen_text(profile, "folded", count, objects);
    assert_string_equal(stacks, folded);
    assert_memory_equal(table, head, strlen(head));
    for (size_t i = 0; i < 3; i++) {
        static const char *const names[] = {"/a", "/b", "/c"};
        char cell[32];
        bool wanted = count == 0;
        for (size_t j = 0; j < count; j++)
            wanted |= strcmp(objects[j], names[i]) == 0;
        snprintf(cell, sizeof(cell), "\"object\": \"%s\"", names[i] + 1);
        assert_int_equal(strstr(table, cell) != NULL, wanted);
    }
    free(stacks);
    free(table);
    pug_profile_free(profile);
}

/** Code that ran in others is left out, though these stay callers of the reported functions. */
static void test_chosen(void **state)
{
    static const char *const b[] = {"/b"}, *const both[] = {"/c", "/a"};
    (void)state;
    check_chosen(0, NULL, "{\"instructions\": 70}",
                 "[1000] 10\n[1000];[1000] 20\n[1000];[1000];[1000] 40\n");
    check_chosen(1, b, "{\"instructions\": 20}", "[1000];[1000] 20\n");
    check_chosen(2, both, "{\"instructions\": 50}", "[1000] 10\n[1000];[1000];[1000] 40\n");
}

/* ---- by address, and by offset ---- */

/** A program whose code is in its second segment, as lld links them. */
static void test_segment_before_the_code(void **state)
{
    (void)state;
    static const char offsets[] = "1\n228-22c:3\n0\n1\n22c->228:3\n";
    static const struct pug_profile_segment segments[] = {{0x200000, 0, 0x228, false},
                                                          {0x210228, 0x228, 0x100, true}};
    const struct pug_profile_object object = {
        .path = "/a", .segments = segments, .segment_count = 2};
    struct pug_profile_range range = {.first = 0x210228,
                                      .last = 0x21022c,
                                      .count = 3,
                                      .instructions = 2,
                                      .last_size = 4,
                                      .end = PUG_END_BRANCH | PUG_END_TAKEN};
    struct filling filling = {.profile = pug_profile_new()};
    assert_int_equal(pug_profile_object(filling.profile, &object, &range.object), PUG_OK);
    assert_int_equal(pug_profile_range(filling.profile, &range, NULL), PUG_OK);
    const struct pug_profile_branch branch = {0x21022c, 0x210228, 3, range.object, range.object};
    assert_int_equal(pug_profile_branch(filling.profile, &branch), PUG_OK);
    char *profgen = text_of(&filling, "profgen", NULL, false);
    char *autofdo = text_of(&filling, "autofdo", NULL, false);
    assert_string_equal(profgen, "1\n228-22c:3\n1\n22c->228:3\n");
    assert_memory_equal(autofdo, offsets, strlen(offsets));
    free(profgen);
    free(autofdo);
    empty(&filling);
}

/* ---- conditional branches ---- */

static bool is_conditional(enum pug_isa isa, uint32_t opcode, uint8_t size, uint8_t it_count)
{
    uint8_t bytes[4];
    pug_bytes_set_32(bytes, opcode);
    const struct export_instruction instruction = {
        .vaddr = 0x1000, .bytes = bytes, .size = size, .isa = (uint8_t)isa, .it_count = it_count};
    return pug_export_is_conditional(&instruction);
}

static void test_conditional_branches(void **state)
{
    (void)state;
    assert_true(is_conditional(PUG_ISA_A64, 0x54000040, 4, 0));   /* b.eq */
    assert_false(is_conditional(PUG_ISA_A64, 0xd65f03c0, 4, 0));  /* ret */
    assert_true(is_conditional(PUG_ISA_A32, 0x012fff1e, 4, 0));   /* bxeq lr */
    assert_true(is_conditional(PUG_ISA_A32, 0x18bd8010, 4, 0));   /* popne {r4, pc} */
    assert_false(is_conditional(PUG_ISA_A32, 0x12855001, 4, 0));  /* addne r5, r5, #1 */
    assert_false(is_conditional(PUG_ISA_T32, 0x4770, 2, 0));      /* bx lr, */
    assert_true(is_conditional(PUG_ISA_T32, 0x4770, 2, 1));       /* and in an IT block */
    assert_false(is_conditional(PUG_ISA_T32, 0x1c6d, 2, 2));      /* addne r5, r5, #1 in one */
    assert_true(is_conditional(PUG_ISA_RV64, 0x00050463, 4, 0));  /* beqz a0 */
    assert_false(is_conditional(PUG_ISA_RV64, 0x30200073, 4, 0)); /* mret */
}

/* ---- functions by name ---- */

#ifdef PUG_WITH_DWARF
/** A function of the bundled program ran up to a call of another one. */
static void add_call(struct filling *filling, const char *path, uint64_t count)
{
    const struct pug_profile_object object = {.path = path,
                                              .file = PUG_SOURCE_DIR "/examples/crash/crash"};
    struct pug_profile_range range = {.first = 0x210304,
                                      .last = 0x210314,
                                      .count = count,
                                      .instructions = 5,
                                      .last_size = 4,
                                      .end = PUG_END_BRANCH | PUG_END_CALL | PUG_END_TAKEN};
    assert_int_equal(pug_profile_object(filling->profile, &object, &range.object), PUG_OK);
    assert_int_equal(pug_profile_range(filling->profile, &range, NULL), PUG_OK);
    const struct pug_profile_branch branch = {0x210314, 0x210378, count, range.object,
                                              range.object};
    assert_int_equal(pug_profile_branch(filling->profile, &branch), PUG_OK);
}

/** It is one function, wherever it is, and calls one. */
static void test_one_name_in_two_objects(void **state)
{
    (void)state;
    struct filling filling = {pug_profile_new(), pug_names_new(NULL)};
    add_call(&filling, "/a", 5);
    add_call(&filling, "/b", 7);
    char *text = text_of(&filling, "llvm", NULL, false);
    const char *function = strstr(text, "read_line:"), *call = strstr(text, " find:12\n");
    assert_non_null(function);
    assert_null(strstr(function + 1, "\nread_line:"));
    assert_memory_equal(strchr(strchr(function, ':') + 1, ':'), ":12\n", 4);
    assert_non_null(call);
    assert_null(strstr(call + 1, " find:"));
    free(text);
    empty(&filling);
}
#endif

/* ---- deep stacks ---- */

#define DEEP 600u

/** A function at 0x2000 calls one at 0x1000, which calls itself; a cycle ran on each frame. */
static struct pug_profile *recursion(void)
{
    struct pug_profile *profile = pug_profile_new();
    struct pug_profile_frame frame = {.function = 0x2000,
                                      .cycles = 1,
                                      .parent = PUG_PROFILE_NONE,
                                      .site_object = PUG_PROFILE_NONE};
    const struct pug_profile_task task = {.name = "t"};
    add_object(profile, "/a");
    assert_int_equal(pug_profile_task(profile, &task, &frame.task), PUG_OK);
    for (unsigned i = 0; i < DEEP; i++) {
        uint32_t number;
        assert_int_equal(pug_profile_frame(profile, &frame, &number), PUG_OK);
        frame.function = 0x1000;
        frame.parent = number;
    }
    return profile;
}

static size_t frames_in(const char *line)
{
    size_t count = 1;
    for (; *line; line++)
        count += *line == ';';
    return count;
}

/** Those that are not written whole have both ends, and are one where these are the same. */
static void test_deep_stacks(void **state)
{
    (void)state;
    const struct pug_export_options options = {.names = pug_names_new(NULL),
                                               .weight = PUG_WEIGHT_CYCLES};
    struct pug_profile *profile = recursion();
    struct pug_memory memory = {0};
    struct pug_sink sink = pug_memory_sink(&memory);
    unsigned lines = 0, weight = 0;
    assert_int_equal(pug_export(profile, "folded", &options, sink.put, sink.context), PUG_OK);
    pug_sink_put(&sink, "", 1);
    for (char *line = strtok((char *)memory.bytes, "\n"); line; line = strtok(NULL, "\n")) {
        const unsigned long own = strtoul(strchr(line, ' '), NULL, 10);
        assert_memory_equal(line, "[2000]", 6);
        if (++lines <= 2 * PUG_EXPORT_STACK_END) {
            assert_int_equal(frames_in(line), lines);
            assert_int_equal(own, 1);
            assert_null(strstr(line, PUG_EXPORT_STACK_REST ";"));
        } else {
            const char *rest = strstr(line, ";" PUG_EXPORT_STACK_REST ";");
            assert_int_equal(frames_in(line), PUG_EXPORT_STACK_MOST);
            assert_int_equal(own, DEEP - 2 * PUG_EXPORT_STACK_END);
            assert_non_null(rest);
            assert_int_equal(frames_in(rest + 1), PUG_EXPORT_STACK_END + 1);
        }
        weight += own;
    }
    assert_int_equal(lines, 2 * PUG_EXPORT_STACK_END + 1);
    assert_int_equal(weight, DEEP);
    assert_int_equal(outcome_of(profile, "pprof", &options), PUG_OK);
    free(memory.bytes);
    pug_profile_free(profile);
    pug_names_free(options.names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_formats_need),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_chosen),
        cmocka_unit_test(test_segment_before_the_code),
        cmocka_unit_test(test_conditional_branches),
#ifdef PUG_WITH_DWARF
        cmocka_unit_test(test_one_name_in_two_objects),
#endif
        cmocka_unit_test(test_deep_stacks),
        cmocka_unit_test(test_autofdo_of_shared),
        cmocka_unit_test(test_bolt_of_shared),
        cmocka_unit_test(test_lcov_of_shared),
        cmocka_unit_test(test_source_lines_of_shared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
