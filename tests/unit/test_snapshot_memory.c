// SPDX-License-Identifier: MIT
/** @file Snapshots: the memory of their cores, and files of trace. */
#include "listing/listing.h"
#include "pugmark/pugmark.h"
#include "support/snapshot_folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- memory ---- */

static void check_memory(struct snapshot_folder *f, bool is_reference, const char *dumps,
                         const char *listing)
{
    char text[1024];
    struct pug_tree *tree = NULL;
    struct pug_image *image = pug_image_new();
    snprintf(text, sizeof(text), "[device]\nname=C\n%s", dumps);
    snapshot_write(f, "c", text);
    assert_int_equal(
        snapshot_open(
            f, &(struct pug_snapshot_options){.quirks = {.reference_snapshots = is_reference}}),
        PUG_OK);
    if (is_reference) {
        struct pug_quirks quirks = pug_quirks_reference();
        pug_image_set_quirks(image, &quirks);
    }
    struct pug_snapshot_tree_config config = {.image = image, .log = f->log};
    assert_int_equal(
        pug_snapshot_tree(f->snapshot, pug_snapshot_buffer_at(f->snapshot, 0), &config, &tree),
        PUG_OK);
    pug_listing_image(&f->said, image);
    assert_string_equal(snapshot_said(f), listing);
    pug_tree_free(tree);
    pug_image_free(image);
}

#define MAPPED     "Gen_Info : Mapped Memory Accessors\n"
#define MAPPED_END "Gen_Info : ========================\n"
#define NOT_MAPPED                                                                                 \
    "ss2_dcdtree : 0x0003 (OCSD_ERR_NOT_INIT) [Component not initialised.]; Failed to create "     \
    "memory accessor for file "

static void test_memory(void **state)
{
    struct snapshot_folder *f = *state;
    snapshot_write(f, "snapshot.ini", HEAD "[device_list]\na=e\nb=c\n[trace]\nmetadata=t\n");
    snapshot_write(f, "e",
                   "[device]\nname=E\ntype=ETM3.5\n[regs]\nETMIDR=0x410CF250\nETMCR=0\n"
                   "ETMCCER=0\nETMTRACEIDR=0x10\n");
    snapshot_write(
        f, "t",
        "[trace_buffers]\nbuffers=b\n[b]\nname=B\nfile=f\nformat=coresight\n[source_buffers]\nE=B\n"
        "[core_trace_sources]\nC=E\n");
    snapshot_write(f, "1", "0123456789abcdef0123456789abcdef");
    if (!pug_protocol_find("ETMV3"))
        skip();
    check_memory(f, true,
                 "type=Cortex-A9\n[dump1]\nfile=1\naddress=0x1000\nlength=0x10\nspace=S\n"
                 "[dump2]\nfile=1\naddress=0x2000\nlength=0x10\noffset=0x10\n"
                 "[dump3]\nfile=2\naddress=0x3000\n",
                 NOT_MAPPED "/2." MAPPED
                            "Gen_Info : FileAcc; Range::0x1000:100f; Mem Space::Any S\n"
                            "FileAcc; Range::0x2000:200f; Mem Space::Any\n"
                            "Filename=/1\n" MAPPED_END);
    check_memory(f, false,
                 "type=Cortex-A9\n[dump1]\nfile=1\naddress=0x1000\nlength=0x10\ncontext_id=1\n"
                 "[dump2]\nfile=1\naddress=0x1000\nlength=0x10\noffset=0x10\ncontext_id=2\n",
                 MAPPED "Gen_Info : FileAcc; Range::0x1000:100f; Mem Space::Any\n"
                        "Filename=/1\n"
                        "Gen_Info : FileAcc; Range::0x1000:100f; Mem Space::Any\n"
                        "Filename=/1\n" MAPPED_END);
}

/** Dumps of any address and length; a hypervisor's apart from what is below it. */
static void test_dumps(void **state)
{
    struct snapshot_folder *f = *state;
    assert_int_equal(snapshot_open_etm(f, "ETM3.5", "", ""), PUG_OK);
    snapshot_write(f, "e",
                   "[device]\nname=E\ntype=ETM3.5\n[regs]\nETMIDR=0x410CF250\nETMCR=0\n"
                   "ETMCCER=0x04000000\nETMTRACEIDR=0x10\n");
    snapshot_write(f, "t",
                   "[trace_buffers]\nbuffers=a\n" BUFFER_A "[source_buffers]\nE=A\n" TRACES_C);
    snapshot_write(f, "1", "0123456789abcdef0");
    check_memory(f, false,
                 "type=Cortex-A15\n[dump]\nfile=1\naddress=0x1001\nlength=3\n"
                 "[dump]\nfile=1\naddress=0x2000\n",
                 MAPPED "Gen_Info : FileAcc; Range::0x1001:1003; Mem Space::Any\n"
                        "Filename=/1\n"
                        "Gen_Info : FileAcc; Range::0x2000:2010; Mem Space::Any\n"
                        "Filename=/1\n" MAPPED_END);
    check_memory(
        f, true, "type=Cortex-A15\n[dump]\nfile=1\naddress=0x1001\nlength=3\n",
        "ss2_dcdtree : 0x0021 (OCSD_ERR_MEM_ACC_RANGE_INVALID) [Address range in accessor "
        "set to invalid values.]; Failed to create memory accessor for file /1." MAPPED MAPPED_END);
    check_memory(f, false,
                 "type=Cortex-A15\n[dump]\nfile=1\naddress=0x1000\nspace=N\n"
                 "[dump]\nfile=1\naddress=0x1000\nspace=H\n"
                 "[dump]\nfile=1\naddress=0x1000\nspace=S\n",
                 MAPPED "Gen_Info : FileAcc; Range::0x1000:1010; Mem Space::EL1N\n"
                        "Filename=/1\n"
                        "Gen_Info : FileAcc; Range::0x1000:1010; Mem Space::EL2N\n"
                        "Filename=/1\n"
                        "Gen_Info : FileAcc; Range::0x1000:1010; Mem Space::Any S\n"
                        "Filename=/1\n" MAPPED_END);
    check_memory(f, false, "type=Cortex-A15\n[dump]\nfile=1\naddress=0x1000\nspace=N\n",
                 MAPPED "Gen_Info : FileAcc; Range::0x1000:1010; Mem Space::Any NS\n"
                        "Filename=/1\n" MAPPED_END);
}

/** Memory that a bus shows is used where no core's memory is. */
static void test_memory_space(void **state)
{
    struct snapshot_folder *f = *state;
    struct pug_tree *tree = NULL;
    assert_int_equal(
        OPEN(f, {"snapshot.ini", HEAD "[device_list]\na=1\nb=2\n[trace]\nmetadata=t\n"},
             {"1", "[device]\nname=AXI\nclass=memory_space\n[dump]\nfile=bus\naddress=0x1000\n"},
             {"2", "[device]\nname=S\ntype=STM\n[regs]\nSTMTCSR=0x00010000\n"
                   "[dump]\nfile=own\naddress=0x1002\n"},
             {"bus", "abcdefgh"}, {"own", "1234"},
             {"t", "[trace_buffers]\nbuffers=a\n" BUFFER_A "[source_buffers]\nS=A\n"}),
        PUG_OK);
    struct pug_image *image = pug_image_new();
    assert_int_equal(snapshot_make_tree(f, image, false, &tree), PUG_OK);
    assert_string_equal(snapshot_said(f), "");
    struct pug_reader_space space = {.space = PUG_SPACE_ANY, .source = 1};
    char bytes[8] = "";
    for (uint64_t i = 0; i < 8; i++)
        assert_int_equal(pug_image_read(image, &space, 0x1000 + i, bytes + i, 1), 1);
    assert_memory_equal(bytes, "ab1234gh", 8);
    pug_tree_free(tree);
    pug_image_free(image);
}

/**
 * Cores with other memory at the same address: each source sees its own core's, which two may
 * share.
 */
static void test_memory_of_cores(void **state)
{
    struct snapshot_folder *f = *state;
    struct pug_tree *tree = NULL;
    for (int i = 1; i <= 3; i++) {
        char name[2] = {(char)('0' + i), 0}, text[256];
        snprintf(text, sizeof(text),
                 "[device]\nname=S%d\ntype=STM\n[regs]\nSTMTCSR=0x000%d0000\n"
                 "[dump]\nfile=m%d\naddress=0x1000\n[dump]\nfile=both\naddress=0x2000\n",
                 i, i, i > 1 ? 2 : 1);
        snapshot_write(f, name, text);
    }
    assert_int_equal(
        OPEN(f, {"snapshot.ini", HEAD "[device_list]\na=1\nb=2\nc=3\n[trace]\nmetadata=t\n"},
             {"m1", "1111"}, {"m2", "2222"}, {"both", "3333"},
             {"t", TWO_BUFFERS "[source_buffers]\nS1=A\nS2=A\nS3=A\n"}),
        PUG_OK);
    struct pug_image *image = pug_image_new();
    assert_int_equal(snapshot_make_tree(f, image, false, &tree), PUG_OK);
    assert_string_equal(snapshot_said(f), "");
    for (uint16_t source = 1; source <= 3; source++) {
        struct pug_reader_space space = {.space = PUG_SPACE_ANY, .source = source};
        char bytes[4];
        assert_int_equal(pug_image_read(image, &space, 0x1000, bytes, 4), 4);
        assert_int_equal(bytes[0], source > 1 ? '2' : '1');
        assert_int_equal(pug_image_read(image, &space, 0x2000, bytes, 4), 4);
        assert_int_equal(bytes[0], '3');
    }
    struct pug_image_range range;
    assert_false(pug_image_range(image, 4, &range));
    pug_tree_free(tree);
    pug_image_free(image);
}

/** What overlaps of one core's dumps is the earlier one's, for each of its sources. */
static void test_overlapping_dumps(void **state)
{
    struct snapshot_folder *f = *state;
    struct pug_tree *tree = NULL;
    for (int i = 1; i <= 2; i++) {
        char name[2] = {(char)('0' + i), 0}, text[256];
        snprintf(text, sizeof(text),
                 "[device]\nname=S%d\ntype=STM\n[regs]\nSTMTCSR=0x000%d0000\n"
                 "[dump]\nfile=small\naddress=0x1002\n[dump]\nfile=large\naddress=0x1000\n",
                 i, i);
        snapshot_write(f, name, text);
    }
    assert_int_equal(OPEN(f,
                          {"snapshot.ini", HEAD "[device_list]\na=1\nb=2\n[trace]\nmetadata=t\n"},
                          {"small", "23"}, {"large", "abcdefgh"},
                          {"t", TWO_BUFFERS "[source_buffers]\nS1=A\nS2=A\n"}),
                     PUG_OK);
    struct pug_image *image = pug_image_new();
    assert_int_equal(snapshot_make_tree(f, image, false, &tree), PUG_OK);
    assert_string_equal(snapshot_said(f), "");
    for (uint16_t source = 1; source <= 2; source++) {
        struct pug_reader_space space = {.space = PUG_SPACE_ANY, .source = source};
        char bytes[2];
        assert_int_equal(pug_image_read(image, &space, 0x1000, bytes, 2), 2);
        assert_memory_equal(bytes, "ab", 2);
        assert_int_equal(pug_image_read(image, &space, 0x1006, bytes, 2), 2);
        assert_memory_equal(bytes, "gh", 2);
    }
    pug_tree_free(tree);
    pug_image_free(image);
}

static void test_elf(void **state)
{
    struct snapshot_folder *f = *state;
    struct pug_tree *tree = NULL;
    char path[128];
    snprintf(path, sizeof(path), "%s/program", f->directory);
    assert_int_equal(symlink("/proc/self/exe", path), 0);
    assert_int_equal(OPEN(f, MAIN_INI,
                          {"device.ini", "[device]\nname=S\ntype=STM\n[regs]\nSTMTCSR=0x00010000\n"
                                         "[elf]\nfile=program\nbias=0x10000000000\nvmid=3\n"},
                          {"trace.ini", "[trace_buffers]\nbuffers=a\n[a]\nname=A\nfile=a\n"
                                        "[source_buffers]\nS=A\n"}),
                     PUG_OK);
    struct pug_image *image = pug_image_new();
    assert_int_equal(snapshot_make_tree(f, image, false, &tree), PUG_OK);
    struct pug_image_range range;
    assert_true(pug_image_range(image, 0, &range));
    assert_true(range.start >= 0x10000000000);
    assert_true(range.place.has_vmid && range.place.vmid == 3);
    pug_tree_free(tree);
    pug_image_free(image);
}

/* ---- trace files ---- */

static void test_trace_files(void **state)
{
    struct snapshot_folder *f = *state;
    struct pug_trace *trace = NULL;
    enum pug_status status;
    char bytes[16] = "";
    assert_int_equal(
        OPEN(f, {"snapshot.ini", HEAD "[device_list]\n[trace]\nmetadata=trace.ini\n"}, {"a", "abc"},
             {"b", ""}, {"c", "defg"},
             {"trace.ini", "[trace_buffers]\nbuffers=x,y\n[x]\nname=x\nfile=a , b,c ,\n"
                           "[y]\nname=y\nfile=\n[source_buffers]\n"}),
        PUG_OK);
    const struct pug_snapshot_buffer *buffer = pug_snapshot_buffer(f->snapshot, "x");
    assert_int_equal(pug_trace_open(f->snapshot, buffer, &trace), PUG_OK);
    assert_int_equal(pug_trace_size(trace), 7);
    assert_int_equal(pug_trace_read(trace, bytes, 4, &status), 4);
    assert_memory_equal(bytes, "abcd", 4);
    assert_int_equal(pug_trace_read(trace, bytes, 16, &status), 3);
    assert_int_equal(status, PUG_OK);
    assert_memory_equal(bytes, "efg", 3);
    assert_int_equal(pug_trace_read(trace, bytes, 16, &status), 0);
    pug_trace_close(trace);
    assert_int_equal(pug_trace_open(f->snapshot, pug_snapshot_buffer(f->snapshot, "y"), &trace),
                     PUG_ERR_FILE);
    assert_int_equal(snapshot_open(f, &reference), PUG_OK);
    buffer = pug_snapshot_buffer(f->snapshot, "x");
    assert_int_equal(pug_trace_open(f->snapshot, buffer, &trace), PUG_ERR_FILE);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, snapshot_setup, snapshot_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_memory),
        TEST(test_dumps),
        TEST(test_memory_space),
        TEST(test_memory_of_cores),
        TEST(test_overlapping_dumps),
        TEST(test_elf),
        TEST(test_trace_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
