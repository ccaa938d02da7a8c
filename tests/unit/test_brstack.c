// SPDX-License-Identifier: MIT
/** @file Branch stacks as text: where files are said to lie, and what ends a stack. */
#include "base/bytes.h"
#include "pugmark/profiler.h"
#include "recorder/etmv4.h"
#include "support/made_folder.h"
#include "support/recording.h"
#include "text/sink.h"

/** The stacks of the objects with a name; NULL: of all. */
static char *stacks_of(struct pug_capture *capture, const char *name)
{
    struct pug_memory memory = {0};
    struct pug_sink sink = pug_memory_sink(&memory);
    const struct pug_capture_selection selection = {.objects = &name, .object_count = name != NULL};
    const struct pug_profiler_options options = {.threads = 1, .selection = &selection};
    assert_int_equal(pug_profile_brstack(capture, &options, sink.put, sink.context, NULL), PUG_OK);
    pug_sink_put(&sink, "", 1);
    assert_false(memory.failed);
    return (char *)memory.bytes;
}

/* ---- where files lie ---- */

static unsigned mappings_in(const char *text)
{
    unsigned count = 0;
    while ((text = strstr(text, "PERF_RECORD_MMAP2"))) {
        text++;
        count++;
    }
    return count;
}

static void expect_one_mapping(const char *name, const char *where)
{
    char path[512];
    struct pug_capture *capture;
    snprintf(path, sizeof(path), "%s/tests/captures/%s", PUG_SOURCE_DIR, name);
    assert_int_equal(pug_capture_open(path, NULL, &capture), PUG_OK);
    char *text = stacks_of(capture, NULL);
    assert_int_equal(mappings_in(text), 1);
    text[strlen(where)] = '\0';
    assert_string_equal(text, where);
    free(text);
    pug_capture_free(capture);
}

/** A segment is one mapping of whole pages, wherever in it execution was first. */
static void test_segment_by_pages(void **state)
{
    (void)state;
    expect_one_mapping("ete-a64-cycles",
                       "PERF_RECORD_MMAP2 1/1: [0x210000(0x1000) @ 0 00:00 0 0]: r-xp ");
}

/** A copy of memory that does not lie in its file as in memory has no pages, but is one piece. */
static void test_memory_as_it_is(void **state)
{
    (void)state;
    expect_one_mapping("etmv4-a64-broadcast",
                       "PERF_RECORD_MMAP2 1/1: [0x210200(0x810) @ 0 00:00 0 0]: r-xp ");
}

/* ---- what ends a stack ---- */

#define CODE    0x1000u
#define HANDLER 0x1040u

#define NOTHING 0xd503201fu /* NOP */
#define JUMP    0x14000002u /* B, over one instruction */
#define ERET    0xd69f03e0u

static void put_words(uint8_t *code)
{
    static const uint64_t jumps[] = {0x1000, 0x100c, 0x1014, HANDLER};
    for (uint64_t at = CODE; at < CODE + 0x80; at += 4)
        pug_bytes_set_32(code + (at - CODE), NOTHING);
    for (size_t i = 0; i < sizeof(jumps) / sizeof(jumps[0]); i++)
        pug_bytes_set_32(code + (jumps[i] - CODE), JUMP);
    pug_bytes_set_32(code + (HANDLER + 8 - CODE), ERET);
}

/** Branches on both sides of an interrupt, whose handler jumps once and returns. */
static void record(struct recording *recording, const struct rec_unit_class *unit_class,
                   const struct pug_image *image)
{
    static const uint64_t before[] = {0x1000, 0x1008}, handler[] = {HANDLER, HANDLER + 8},
                          after[] = {0x100c, 0x1014, 0x101c};
    recording_begin(recording, &(struct recording_config){.unit_class = unit_class,
                                                          .family = REC_FAMILY_A64,
                                                          .image = image});
    for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++)
        recording_insn(recording, before[i], PUG_ISA_A64);
    recording_interrupt(recording, after[0]);
    for (size_t i = 0; i < sizeof(handler) / sizeof(handler[0]); i++)
        recording_insn(recording, handler[i], PUG_ISA_A64);
    for (size_t i = 0; i < sizeof(after) / sizeof(after[0]); i++)
        recording_insn(recording, after[i], PUG_ISA_A64);
    recording_end(recording);
}

static void expect_stacks(const char *protocol, const struct rec_unit_class *unit_class)
{
    uint8_t code[0x80];
    struct made_folder folder;
    struct recording recording;
    struct pug_capture *capture;
    struct pug_image *image = pug_image_new();
    assert_non_null(image);
    put_words(code);
    assert_int_equal(pug_image_add_buffer(image, NULL, CODE, code, sizeof(code)), PUG_OK);
    record(&recording, unit_class, image);
    made_folder_begin(&folder);
    const struct pug_capture_program program = {
        .path = made_folder_file(&folder, "code", code, sizeof(code)),
        .address = CODE,
        .plain = true};
    const struct pug_capture_options options = {
        .protocol = protocol,
        .transport = "plain",
        .settings = {.items = recording.registers, .count = recording.register_count},
        .programs = &program,
        .program_count = 1};
    const char *path =
        made_folder_file(&folder, "trace", recording.trace.data, recording.trace.size);
    assert_int_equal(pug_capture_open(path, &options, &capture), PUG_OK);
    char *text = stacks_of(capture, NULL), *chosen = stacks_of(capture, "code");
    char *other = stacks_of(capture, "other");
    assert_int_equal(mappings_in(text), 1);
    assert_string_equal(chosen, text);
    assert_string_equal(other, "");
    free(chosen);
    free(other);
    assert_string_equal(strchr(text, '\n') + 1,
                        "             1008 0x1000/0x1008/P/-/-/0/  \n"
                        "             1048 0x1040/0x1048/P/-/-/0/  \n"
                        "             101c 0x1014/0x101c/P/-/-/0/  0x100c/0x1014/P/-/-/0/  \n");
    free(text);
    pug_capture_free(capture);
    made_folder_end(&folder);
    recording_free(&recording);
    pug_image_free(image);
}

/** Neither what led to an exception nor what it returned from is in a stack with what follows. */
static void test_exception_return(void **state)
{
    (void)state;
    expect_stacks("ETMV4I", &rec_unit_etmv4);
    expect_stacks("ETE", &rec_unit_ete);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_segment_by_pages),
        cmocka_unit_test(test_memory_as_it_is),
        cmocka_unit_test(test_exception_return),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
