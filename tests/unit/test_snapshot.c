// SPDX-License-Identifier: MIT
/** @file Snapshots: the grammar of their files, and every error. */
#include "pugmark/pugmark.h"
#include "support/snapshot_folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_grammar(void **state)
{
    struct snapshot_folder *f = *state;
    enum pug_status status =
        OPEN(f,
             {"snapshot.ini", "whatever stands here\r\n"
                              "; comment\n"
                              "xx [ snapshot ] yy\r\n"
                              "\tversion\t = 1 ; one\n"
                              "description = \"a # b\"\n"
                              "[topology]\nno equals sign\n"
                              "[device_list]\nx=device.ini\ny=gone.ini\n"
                              "[trace]\nmetadata=trace.ini"},
             {"device.ini", "[device]\n"
                            "name=\"quoted\"\n"
                            "type=ETM4.2\r\n"
                            "[unknown]\nno equals sign\n"
                            "[regs]\n"
                            "TRCIDR0(0x078) = \"0x28\"\n"
                            "TRCCONFIGR=0xc1\n"
                            "[dump1]\n"
                            "file='a b.bin'\naddress=0x1000\nlength=020\noffset=\n"},
             {"trace.ini", "[b2]\nname=second\nfile=2.bin\n"
                           "[trace_buffers]\nbuffers=b1, b2\n"
                           "[timestamps]\nno equals sign\n"
                           "[source_buffers]\n"
                           "[b1]\nname=first\nfile=1.bin\nformat=source_data\nother=0x10\nw=x\n"});
    assert_int_equal(status, PUG_OK);
    assert_string_equal(snapshot_said(f),
                        "snapshot_reader : 0x0025 (OCSD_ERR_TEST_SNAPSHOT_READ) [test snapshot "
                        "reader error]; Failed to open device file : /gone.ini\n"
                        "snapshot_parser : /trace.ini:1: Buffer second has no format: taken for "
                        "coresight\n");
    assert_string_equal(pug_snapshot_description(f->snapshot), "\"a");
    const struct pug_snapshot_device *device = pug_snapshot_device(f->snapshot, "\"quoted\"");
    assert_non_null(device);
    assert_string_equal(device->type, "ETM4.2");
    assert_int_equal(device->register_count, 2);
    assert_string_equal(device->registers[0].name, "TRCCONFIGR");
    assert_string_equal(device->registers[1].key, "TRCIDR0(0x078)");
    assert_string_equal(device->registers[1].name, "TRCIDR0");
    assert_string_equal(device->registers[1].value, "0x28");
    assert_int_equal(device->dump_count, 1);
    assert_string_equal(device->dumps[0].file, "a b.bin");
    assert_int_equal(device->dumps[0].address, 0x1000);
    assert_int_equal(device->dumps[0].length, 16);
    const struct pug_snapshot_buffer *buffer = pug_snapshot_buffer_at(f->snapshot, 0);
    assert_string_equal(buffer->name, "second"); /* its section ends first */
    assert_string_equal(buffer->format, "");
    buffer = pug_snapshot_buffer_at(f->snapshot, 1);
    assert_string_equal(buffer->name, "first");
    assert_int_equal(pug_settings_number(&buffer->settings, "other", 0), 16);
    assert_string_equal(pug_settings_word(&buffer->settings, "w", ""), "x");
    assert_null(pug_snapshot_buffer_at(f->snapshot, 2));
}

static void test_reference_grammar(void **state)
{
    struct snapshot_folder *f = *state;
    snapshot_write(f, "snapshot.ini",
                   HEAD "[device_list]\nd=device.ini\n[trace]\nmetadata=trace.ini\n");
    snapshot_write(f, "device.ini", "[device]\nname=x\n[elf]\nnonsense\n");
    snapshot_write(f, "trace.ini",
                   "[trace_buffers]\nbuffers=b1, b2\n[b2]\nnonsense=1\n"
                   "[b1]\nname=one\nfile=f\nunknown=1\n");
    assert_int_equal(snapshot_open(f, &reference), PUG_OK);
    assert_int_equal(pug_snapshot_buffer_at(f->snapshot, 0)->settings.count, 0);
    assert_null(pug_snapshot_buffer_at(f->snapshot, 1)); /* " b2" is no section's name */
}

static void test_device_list_again(void **state)
{
    struct snapshot_folder *f = *state;
    snapshot_write(f, "snapshot.ini",
                   "[device_list]\na=1\nb=2\n[device_list]\na=3\n[trace]\nmetadata=t\n");
    snapshot_write(f, "1", "[device]\nname=one\n");
    snapshot_write(f, "2", "[device]\nname=two\ntype=x\n");
    snapshot_write(f, "3", "[device]\nname=two\ntype=y\n");
    snapshot_write(f, "t", "");
    assert_int_equal(snapshot_open(f, &reference), PUG_OK);
    assert_string_equal(pug_snapshot_device_at(f->snapshot, 0)->type, "x"); /* the later one wins */
    assert_null(pug_snapshot_device_at(f->snapshot, 1));
}

static void test_verbose(void **state)
{
    struct snapshot_folder *f = *state;
    struct pug_snapshot_options options = reference;
    options.verbose = true;
    snapshot_write(f, "snapshot.ini", "[snapshot]\n[device_list]\nd=device.ini\n[x]\n");
    snapshot_write(f, "device.ini", "[device]\n[y]\n");
    assert_int_equal(snapshot_open(f, &options), PUG_OK);
    assert_string_equal(snapshot_said(f),
                        "snapshot_parser : Start of snapshot section\n"
                        "snapshot_parser : Start of device_list section\n"
                        "snapshot_parser : Start of x section\n"
                        "snapshot_reader : Parsed snapshot.ini.\nFound 1 devices.\n"
                        "snapshot_reader : Device 1: Ini file = device.ini; Name = UNKNOWN\n"
                        "snapshot_parser : Start of device section\n"
                        "snapshot_parser : Start of y section\n"
                        "snapshot_parser : Unknown section ignored: y\n"
                        "snapshot_reader : 0x0025 (OCSD_ERR_TEST_SNAPSHOT_READ) [test "
                        "snapshot reader error]; Trace Metadata ini file not found.\n"
                        "snapshot_reader : Done.\n");
}

static void test_not_there(void **state)
{
    struct snapshot_folder *f = *state;
    assert_int_equal(snapshot_open(f, &reference), PUG_ERR_FILE);
    /* a directory is no file */
    assert_int_equal(
        OPEN(f, {"snapshot.ini", HEAD "[device_list]\na=\n[trace]\nmetadata=none.ini\n"}), PUG_OK);
    assert_string_equal(snapshot_said(f),
                        "snapshot_reader : 0x0025 (OCSD_ERR_TEST_SNAPSHOT_READ) [test snapshot "
                        "reader error]; Failed to open device file : /\n"
                        "snapshot_reader : 0x0025 (OCSD_ERR_TEST_SNAPSHOT_READ) [test snapshot "
                        "reader error]; /none.ini: No such file or directory; snapshot.ini names "
                        "this file as the list of trace buffers ([trace] metadata=)\n");
}

/* ---- errors ---- */

#define PARSE_ERROR                                                                                \
    "snapshot_parser : 0x0023 (OCSD_ERR_TEST_SNAPSHOT_PARSE) [Test snapshot file parse error]; "

/** Text of a file, and the error with the line that it names. */
struct error_case {
    const char *text, *error;
};

static void check_errors(struct snapshot_folder *f, const char *file,
                         const struct error_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char expected[512];
        snapshot_write(f, file, cases[i].text);
        assert_int_equal(snapshot_open(f, &(struct pug_snapshot_options){.verbose = false}),
                         PUG_ERR_SNAPSHOT_PARSE);
        snprintf(expected, sizeof(expected), PARSE_ERROR "/%s:%s\n", file, cases[i].error);
        assert_string_equal(snapshot_said(f), expected);
        assert_null(f->snapshot);
    }
}

#define CHECK_ERRORS(f, file, cases)                                                               \
    check_errors(f, file, cases, sizeof(cases) / sizeof((cases)[0]))

static void test_main_errors(void **state)
{
    static const struct error_case cases[] = {
        {"[snapshot]\n\nversion ; = 1\n", "3: Couldn't parse 'version ' as key=value"},
        {"\n[snapshot]\ndescription=1\n[device_list]\n",
         "2: Snapshot section is missing mandatory version definition"},
        {"[device_list]\n", "1: There is no [snapshot] section"},
        {"", "0: There is no [snapshot] section"},
        {HEAD, "2: There is no [device_list] section"},
        {HEAD "[device_list]\na=1\nb=2\na=3\n", "6: Duplicate a key found in device_list section"},
        {HEAD "[clusters]\nx=1\nx=2\n", "5: Duplicate x key found in clusters section"},
        {HEAD "[clusters]\nx\n", "4: Couldn't parse 'x' as key=value"},
        {HEAD "[device_list]\n[trace]\nx=1\n",
         "4: Trace section is missing mandatory metadata definition"},
        {"[snapshot]\nversion=1.1\n", "2: Illegal snapshot file version: 1.1"},
        {"[snapshot]\nversion=1\nversion=1\n",
         "3: Duplicate version key found in snapshot section"},
        {"[snapshot]\ndescription=1\nx=y\ndescription=1\n",
         "4: Duplicate description key found in snapshot section"},
        {"[trace]\nmetadata=1\nmetadata=1\n", "3: Duplicate metadata key found in trace section"},
        {"[device_list]\nx\n", "2: Couldn't parse 'x' as key=value"},
    };
    CHECK_ERRORS(*state, "snapshot.ini", cases);
}

static void test_device_errors(void **state)
{
    static const struct error_case cases[] = {
        {"x\n", "1: Couldn't parse 'x' as key=value"},
        {"\nx=1\n", "2: Definition of 'x' has no section header"},
        {"[regs]\nR0=1\n", "2: There is no [device] section"},
        {"\n[device]\nclass=core\n[regs]\nR0=1\n",
         "2: Device section is missing mandatory name definition"},
        {"[device]\nname=a\nname=b\n", "3: Duplicate name key found in device section"},
        {"[device]\nclass=a\nclass=b\n", "3: Duplicate class key found in device section"},
        {"[device]\ntype=a\ntype=b\n", "3: Duplicate type key found in device section"},
        {"[regs]\nA(1)=1\nB=2\n[regs]\na(1)=1\n", "5: Duplicate key: a(1)"},
        {"[regs]\nA\n", "2: Couldn't parse 'A' as key=value"},
        {"[dump]\n\nfile=x\n", "1: Dump section is missing mandatory address definition"},
        {"[dump2]\naddress=1\n[regs]\n", "1: Dump section is missing mandatory file definition"},
        {"[dump]\naddress=1\naddress=1\n", "3: Duplicate address key found in dump section"},
        {"[dump7]\nlength=1\nlength=1\n", "3: Duplicate length key found in dump section"},
        {"[dump]\noffset=1\noffset=1\n", "3: Duplicate offset key found in dump section"},
        {"[dump]\nfile=1\nfile=1\n", "3: Duplicate file key found in dump section"},
        {"[dump]\nspace=1\nspace=1\n", "3: Duplicate space key found in dump section"},
        {"[dump]\naddress=08\n", "2: Could not parse '08' as unsigned integer"},
        {"[dump]\nlength=0x\n", "2: Could not parse '0x' as unsigned integer"},
        {"[dump]\noffset=zz\n", "2: Could not parse 'zz' as unsigned integer"},
        {"[dump]\nbias=0\n", "2: Unknown dump section key 'bias'"},
        {"[elf]\naddress=0\n", "2: Unknown elf section key 'address'"},
        {"[elf1]\nbias=0\n", "1: ELF section is missing mandatory file definition"},
        {"[global]\ncore=1\ncore=2\n", "3: Duplicate core key found in global section"},
        {"[global]\nx=1\n", "2: Unknown global option 'x'"},
        {"[global]\n[x]\n[global]\n", "3: Only one global section allowed"},
        {"[extendregs]\n1=2\n0x1=3\n", "3: Duplicate key: 0x1"},
        {"[extendregs]\nx=2\n", "2: Could not parse 'x' as unsigned integer"},
        {"[extendregs]\n2=x\n", "2: Could not parse 'x' as unsigned integer"},
    };
    struct snapshot_folder *f = *state;
    snapshot_write(f, "snapshot.ini", HEAD "[device_list]\na=device.ini\n");
    CHECK_ERRORS(f, "device.ini", cases);
    snapshot_write(f, "device.ini", "[dump]\naddress=0\nfile=x\ncontext_id=1\n");
    assert_int_equal(snapshot_open(f, &reference), PUG_ERR_SNAPSHOT_PARSE);
    assert_string_equal(snapshot_said(f),
                        PARSE_ERROR "/device.ini:4: Unknown dump section key 'context_id'\n");
}

static void test_trace_errors(void **state)
{
    static const struct error_case cases[] = {
        {"x=1\n", "1: Definition of 'x' has no section header"},
        {"[trace_buffers]\nbuffers=a\nbuffers=b\n",
         "3: Duplicate buffers key found in trace_buffers section"},
        {"[trace_buffers]\nbuffers=a\n[a]\nname=1\nname=2\n",
         "5: Duplicate name key found in a section"},
        {"[trace_buffers]\nbuffers=a\n[a]\nfile=1\nfile=2\n",
         "5: Duplicate file key found in a section"},
        {"[trace_buffers]\nbuffers=a\n[a]\nformat=1\nformat=2\n",
         "5: Duplicate format key found in a section"},
        {"[trace_buffers]\nbuffers=a\n[a]\nfile=1\n",
         "3: Trace Buffer section missing required buffer name"},
        {"[trace_buffers]\nbuffers=a\n[a]\nname=1\n[x]\n",
         "3: Trace Buffer section is missing mandatory file definition"},
        {"[trace_buffers]\n[source_buffers]\nx\n",
         "1: Trace Buffers section is missing mandatory buffers definition"},
        {"[source_buffers]\nx=y\n", "2: There is no [trace_buffers] section"},
        {"[trace_buffers]\nbuffers=\n[source_buffers]\nx\n", "4: Couldn't parse 'x' as key=value"},
        {"[trace_buffers]\nbuffers=a,b , a\n", "2: Duplicate buffer id 'a'"},
        {"[trace_buffers]\nbuffers=a,source_buffers\n",
         "2: Buffer id 'source_buffers' is the name of another section"},
        {"[trace_buffers]\nbuffers=a,b\n[a]\nname=A\nfile=f\nformat=coresight\n",
         "6: Buffer 'b' has no section"},
        {"[trace_buffers]\nbuffers=a\n" BUFFER_A BUFFER_A, "7: Section [a] is there twice"},
        {"[trace_buffers]\nbuffers=a,b\n" BUFFER_A "[b]\nname=A\nfile=f\n",
         "8: Buffer name 'A' is that of [a], too"},
        {"[trace_buffers]\nbuffers=a,b\n" BUFFER_A "[b]\nname=B\nfile=f\nformat=coresight\n",
         "10: There is no [source_buffers] section, but there are several buffers"},
    };
    struct snapshot_folder *f = *state;
    snapshot_write(f, "snapshot.ini", HEAD "[device_list]\n[trace]\nmetadata=trace.ini\n");
    CHECK_ERRORS(f, "trace.ini", cases);
}

/** Names and locations are of one device each. */
static void test_same_devices(void **state)
{
    struct snapshot_folder *f = *state;
    assert_int_equal(OPEN(f, {"snapshot.ini", HEAD "[device_list]\na=1\nb=2\n"},
                          {"1", "[device]\nname=x\nlocation=dap:0\n"},
                          {"2", "[device]\n\nname=x\n"}),
                     PUG_ERR_SNAPSHOT_PARSE);
    assert_string_equal(snapshot_said(f), PARSE_ERROR "/2:3: Device name 'x' is that of 1, too\n");
    assert_int_equal(OPEN(f, {"2", "[device]\nname=y\nlocation=dap:0\n"}), PUG_ERR_SNAPSHOT_PARSE);
    assert_string_equal(snapshot_said(f), PARSE_ERROR "/2:3: Location 'dap:0' is that of 1, too\n");
    assert_int_equal(
        OPEN(f, {"1", "[device]\nname=x\nlocation=\n"}, {"2", "[device]\nname=y\nlocation=\n"}),
        PUG_OK);
    assert_string_equal(snapshot_said(f), "");
}

/** Faults that are reported and do not stop reading. */
static void test_warnings(void **state)
{
    struct snapshot_folder *f = *state;
    assert_int_equal(
        OPEN(f, MAIN_INI,
             {"device.ini", "[device]\nname=S\ntype=STM\n[regs]\nSTMTCSR(ident:1)=0x10000\n"
                            "[dump]\nfile=f\naddress=0\nspace=EL9\n"},
             {"trace.ini", "[trace_buffers]\nbuffers=a,b\n[a]\nname=A\nfile=f\n"
                           "[b]\nname=B\nformat=mystery\nfile=f\n"
                           "[source_buffers]\nS=A\nT=C,D\nT=C\n"
                           "[core_trace_sources]\nC=@there\n"}),
        PUG_OK);
    assert_string_equal(
        snapshot_said(f),
        "snapshot_parser : /device.ini:5: What is in the parentheses of STMTCSR(ident:1) is not "
        "understood\n"
        "snapshot_parser : /device.ini:6: Space 'EL9' is not known: taken for any\n"
        "snapshot_parser : /trace.ini:3: Buffer A has no format: taken for coresight\n"
        "snapshot_parser : /trace.ini:6: Buffer B has the unknown format 'mystery': taken for "
        "coresight\n"
        "snapshot_parser : /trace.ini:13: Source T is there twice: the later is taken\n"
        "snapshot_parser : /trace.ini:13: Source T is in buffer 'C', which is not there\n"
        "snapshot_parser : /trace.ini:15: Source @there is of core 'C', which is not there\n"
        "snapshot_parser : /trace.ini:15: Core C has source '@there', which is not there\n");
    assert_string_equal(pug_snapshot_transport(f->snapshot, pug_snapshot_buffer(f->snapshot, "B")),
                        "coresight");
}

/** A snapshot of a system without trace. */
static void test_no_trace(void **state)
{
    struct snapshot_folder *f = *state;
    assert_int_equal(OPEN(f, {"snapshot.ini", HEAD "[device_list]\na=1\n"},
                          {"1", "[device]\nname=cpu\nclass=core\n"}),
                     PUG_OK);
    assert_string_equal(snapshot_said(f), "");
    assert_null(pug_snapshot_buffer_at(f->snapshot, 0));
    assert_int_equal(snapshot_open(f, &reference), PUG_OK);
    assert_string_equal(snapshot_said(f),
                        "snapshot_reader : 0x0025 (OCSD_ERR_TEST_SNAPSHOT_READ) [test "
                        "snapshot reader error]; Trace Metadata ini file not found.\n");
}

static void test_registers(void **state)
{
    struct snapshot_folder *f = *state;
    assert_int_equal(OPEN(f, {"snapshot.ini", HEAD "[device_list]\na=1\n"},
                          {"1", "[device]\nname=cpu\n[regs]\nA(77) = 0x1234\nB(id:78)=1\n"
                                "C(id:0x80,size:64)=1\nD(size:64,0x82)=1\n"
                                "D0 (id: 90, size: 64)=0x1234567000000000\nE=1\n"
                                "F(size:x)=1\nG(1=1\n"}),
                     PUG_OK);
    static const struct pug_snapshot_register wanted[] = {
        {.name = "A", .value = "0x1234", .id = 77, .size = 32, .has_id = true},
        {.name = "B", .value = "1", .id = 78, .size = 32, .has_id = true},
        {.name = "C", .value = "1", .id = 0x80, .size = 64, .has_id = true},
        {.name = "D", .value = "1", .id = 0x82, .size = 64, .has_id = true},
        {.name = "D0", .value = "0x1234567000000000", .id = 90, .size = 64, .has_id = true},
        {.name = "E", .value = "1", .size = 32},
        {.name = "F", .value = "1", .size = 32},
        {.name = "G", .value = "1", .id = 1, .size = 32, .has_id = true},
    };
    const struct pug_snapshot_device *device = pug_snapshot_device(f->snapshot, "cpu");
    assert_int_equal(device->register_count, 8);
    for (size_t i = 0; i < 8; i++) {
        const struct pug_snapshot_register *got = &device->registers[i];
        assert_string_equal(got->name, wanted[i].name);
        assert_string_equal(got->value, wanted[i].value);
        assert_int_equal(got->id, wanted[i].id);
        assert_int_equal(got->size, wanted[i].size);
        assert_int_equal(got->has_id, wanted[i].has_id);
    }
    assert_string_equal(snapshot_said(f),
                        "snapshot_parser : /1:10: What is in the parentheses of F(size:x) is not "
                        "understood\n"
                        "snapshot_parser : /1:11: What is in the parentheses of G(1 is not "
                        "understood\n");
}

static void assert_cluster(struct snapshot_folder *f, size_t n, const char *name,
                           const char *devices)
{
    struct pug_snapshot_cluster cluster;
    char text[128] = "";
    assert_true(pug_snapshot_cluster_at(f->snapshot, n, &cluster));
    assert_string_equal(cluster.name, name);
    for (size_t i = 0; i < cluster.count; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s;", cluster.devices[i]);
    assert_string_equal(text, devices);
}

static void test_clusters(void **state)
{
    struct snapshot_folder *f = *state;
    struct pug_snapshot_cluster cluster;
    const char *clusters = "[clusters]\nCluster 0=big_0, big_1\nCluster 1=small_0,gone\n";
    char text[256];
    snprintf(text, sizeof(text), HEAD "[device_list]\na=1\nb=2\nc=3\nd=4\n%s", clusters);
    assert_int_equal(OPEN(f, {"1", "[device]\nname=big_0\nclass=core\n"},
                          {"2", "[device]\nname=big_1\nclass=Core\n"},
                          {"3", "[device]\nname=small_0\nclass=core\n"},
                          {"4", "[device]\nname=etm\nclass=trace_source\n"},
                          {"snapshot.ini", text}),
                     PUG_OK);
    assert_string_equal(snapshot_said(f),
                        "snapshot_parser : /snapshot.ini:10: Cluster 1 is of device "
                        "'gone', which is not there\n");
    assert_cluster(f, 0, "Cluster 0", "big_0;big_1;");
    assert_cluster(f, 1, "Cluster 1", "small_0;gone;");
    assert_false(pug_snapshot_cluster_at(f->snapshot, 2, &cluster));
    assert_int_equal(OPEN(f, {"snapshot.ini", HEAD "[device_list]\na=1\nb=2\nc=3\nd=4\n"}), PUG_OK);
    assert_cluster(f, 0, "", "big_0;big_1;small_0;"); /* who says nothing has one of all cores */
    assert_false(pug_snapshot_cluster_at(f->snapshot, 1, &cluster));
}

static void test_limits(void **state)
{
    struct snapshot_folder *f = *state;
    size_t lines = PUG_SNAPSHOT_REGISTER_LIMIT + 1, at = 0;
    char *text = malloc(lines * 16);
    at += (size_t)sprintf(text, "[regs]\n");
    for (size_t i = 0; i < lines; i++)
        at += (size_t)sprintf(text + at, "R%zu=0\n", i);
    assert_int_equal(
        OPEN(f, {"snapshot.ini", HEAD "[device_list]\na=device.ini\n"}, {"device.ini", text}),
        PUG_ERR_LIMIT);
    assert_string_equal(snapshot_said(f),
                        "snapshot_parser : 0x0043 (unknown); /device.ini:8194: Too many "
                        "registers\n");
    free(text);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, snapshot_setup, snapshot_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_grammar),           TEST(test_reference_grammar),
        TEST(test_device_list_again), TEST(test_verbose),
        TEST(test_not_there),         TEST(test_main_errors),
        TEST(test_device_errors),     TEST(test_trace_errors),
        TEST(test_same_devices),      TEST(test_warnings),
        TEST(test_no_trace),          TEST(test_registers),
        TEST(test_clusters),          TEST(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
