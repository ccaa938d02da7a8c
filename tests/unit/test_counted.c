// SPDX-License-Identifier: MIT
/** @file What is counted of a capture, or of a part of it: as its elements have it, by spaces. */
#include "files/infile.h"
#include "pugmark/advanced/capture.h"
#include "pugmark/advanced/counts.h"
#include "pugmark/capture.h"
#include "support/made_folder.h"

/* Two buffers with trace of the same id: what is counted in each is of its own space. */
static const char devices[] = "[snapshot]\nversion=1.0\n[device_list]\na=core_0\nb=core_1\n"
                              "c=source_0\nd=source_1\n[trace]\nmetadata=trace.ini\n";
static const char core[] = "class=core\ntype=Cortex-A53\n[regs]\n"
                           "[dump]\nfile=memory_0.bin\naddress=0x210200\n";
static const char source[] = "class=trace_source\ntype=ETM4.2\n[regs]\n"
                             "TRCCONFIGR(0x004)=0x00001841\nTRCTRACEIDR(0x010)=0x00000010\n"
                             "TRCIDR0(0x078)=0x28000ea1\nTRCIDR1(0x079)=0x4100f422\n"
                             "TRCIDR2(0x07a)=0x20001088\nTRCIDR8(0x060)=0\n";
static const char traces[] = "[trace_buffers]\nbuffers=a,b\n"
                             "[a]\nname=A\nfile=trace.bin\nformat=coresight\n"
                             "[b]\nname=B\nfile=trace.bin\nformat=coresight\n"
                             "[source_buffers]\nsource_0=A\nsource_1=B\n"
                             "[core_trace_sources]\ncore_0=source_0\ncore_1=source_1\n";

static void write_device(struct made_folder *folder, const char *name, const char *what)
{
    char text[512];
    snprintf(text, sizeof(text), "[device]\nname=%s\n%s", name, what);
    made_folder_file(folder, name, text, strlen(text));
}

static void copy(struct made_folder *folder, const char *name, const char *path)
{
    uint8_t *bytes;
    size_t size;
    assert_int_equal(pug_infile_load(path, 1 << 20, &bytes, &size), PUG_OK);
    made_folder_file(folder, name, bytes, size);
    free(bytes);
}

static void make_snapshot(struct made_folder *folder)
{
    made_folder_begin(folder);
    made_folder_file(folder, "snapshot.ini", devices, sizeof(devices) - 1);
    made_folder_file(folder, "trace.ini", traces, sizeof(traces) - 1);
    copy(folder, "trace.bin", PUG_SOURCE_DIR "/tests/captures/etmv4-a64/trace.bin");
    copy(folder, "memory_0.bin", PUG_SOURCE_DIR "/tests/captures/etmv4-a64/memory_0.bin");
    write_device(folder, "core_0", core);
    write_device(folder, "core_1", core);
    write_device(folder, "source_0", source);
    write_device(folder, "source_1", source);
}

#define SPACES 8

/* Instructions by the number of their space; 0: of none. */
struct sum {
    struct pug_capture *capture;
    uint64_t instructions[SPACES];
};

static void add(struct sum *sum, uint64_t space, uint64_t instructions)
{
    assert_true(space < SPACES);
    sum->instructions[space] += instructions;
}

static uint64_t number_of(const struct sum *sum, const struct pug_address_space *space)
{
    for (uint64_t number = 1; space && number < SPACES; number++)
        if (pug_capture_space(sum->capture, number) == space)
            return number;
    return 0;
}

static void *begin(void *context, unsigned worker, struct pug_piece *piece)
{
    (void)worker;
    (void)piece;
    struct sum *part = calloc(1, sizeof(*part));
    part->capture = ((struct sum *)context)->capture;
    return part;
}

static void elements(void *part, const struct pug_origin *where, const struct pug_element *given,
                     size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (given[i].type == PUG_ELEM_INSTR_RANGE)
            add(part, number_of(part, where->space), given[i].count);
}

static bool take(void *context, void *taken)
{
    const struct sum *part = taken;
    for (uint64_t space = 0; space < SPACES; space++)
        add(context, space, part->instructions[space]);
    free(taken);
    return true;
}

static void counted(void *context, struct pug_counts *counts)
{
    size_t count, contexts;
    const struct pug_count_range *ranges = pug_counts_ranges(counts, &count);
    const struct pug_element *of = pug_counts_contexts(counts, &contexts);
    for (size_t i = 0; i < count; i++)
        add(context, of[ranges[i].context].value, ranges[i].count * ranges[i].instructions);
}

static struct sum decode(struct pug_capture *capture, bool counts, unsigned threads, uint64_t from,
                         uint64_t to)
{
    struct sum sum = {.capture = capture};
    const struct pug_consumer consumer = {.context = &sum,
                                          .begin = begin,
                                          .elements = elements,
                                          .take = take,
                                          .drop = free,
                                          .counted = counts ? counted : NULL};
    const struct pug_capture_decode decode = {
        .consumers = &consumer, .consumer_count = 1, .threads = threads, .from = from, .to = to};
    struct pug_capture_result result;
    assert_int_equal(pug_capture_decode(capture, &decode, &result), PUG_OK);
    return sum;
}

static void parts_have_spaces(void **state)
{
    struct made_folder folder;
    struct pug_capture *capture;
    (void)state;
    make_snapshot(&folder);
    assert_int_equal(pug_capture_open(folder.path, NULL, &capture), PUG_OK);
    const uint64_t size = pug_capture_buffer_at(capture, 0)->size;
    const struct {
        uint64_t from, to;
    } parts[] = {{0, 0}, {0, 2 * size}, {size / 2, 0}, {0, size + size / 2}, {size / 4, size / 2}};
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        for (unsigned threads = 1; threads <= 2; threads++) {
            const uint64_t from = parts[i].from, to = parts[i].to;
            const struct sum given = decode(capture, false, threads, from, to);
            const struct sum sum = decode(capture, true, threads, from, to);
            assert_memory_equal(&sum, &given, sizeof(sum));
            assert_int_equal(sum.instructions[0], 0);
            assert_true(sum.instructions[1] > 1000);
            assert_true(to == size / 2 || sum.instructions[2] > 1000);
        }
    pug_capture_free(capture);
    made_folder_end(&folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(parts_have_spaces)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
