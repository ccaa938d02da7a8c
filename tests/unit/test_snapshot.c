// SPDX-License-Identifier: MIT
/** @file Snapshots: the grammar of their files, every error, and what becomes of the devices. */
#include "listing/listing.h"
#include "pugmark/author/protocol.h"
#include "pugmark/author/transport.h"
#include "pugmark/pugmark.h"
#include "pugmark/snapshot.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- a snapshot directory ---- */

struct file {
    const char *name, *text;
};

struct fixture {
    char directory[64];
    struct pug_log *log;
    char text[8192];
    struct pug_text said;
    struct pug_snapshot *snapshot;
};

static void on_log(void *context, const struct pug_log_record *record)
{
    struct fixture *f = context;
    pug_listing_log(&f->said, record);
}

/** Everything that was logged, the directory left out. */
static const char *said(struct fixture *f)
{
    static char plain[8192];
    size_t length = strlen(f->directory), at = 0;
    pug_text_end(&f->said);
    for (const char *from = f->text; *from && at + 1 < sizeof(plain);) {
        if (strncmp(from, f->directory, length) == 0)
            from += length;
        else
            plain[at++] = *from++;
    }
    plain[at] = 0;
    f->said.length = 0;
    return plain;
}

static void write_file(const struct fixture *f, const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", f->directory, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fwrite(text, 1, strlen(text), file);
    fclose(file);
}

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));
    strcpy(f->directory, "/tmp/pug_snapshot_XXXXXX");
    assert_non_null(mkdtemp(f->directory));
    f->log = pug_log_new(PUG_SEV_INFO);
    f->said = PUG_TEXT(f->text, sizeof(f->text));
    pug_log_set_sink(f->log, on_log, f);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    char command[128];
    pug_snapshot_free(f->snapshot);
    pug_log_free(f->log);
    snprintf(command, sizeof(command), "rm -r %s", f->directory);
    int result = system(command);
    free(f);
    return result;
}

static enum pug_status open_with(struct fixture *f, struct pug_snapshot_options options)
{
    options.log = f->log;
    pug_snapshot_free(f->snapshot);
    f->snapshot = NULL;
    return pug_snapshot_open(f->directory, &options, &f->snapshot);
}

/** Write files and open the snapshot natively. */
static enum pug_status open_files(struct fixture *f, const struct file *files, size_t count)
{
    for (size_t i = 0; i < count; i++)
        write_file(f, files[i].name, files[i].text);
    return open_with(f, (struct pug_snapshot_options){.verbose = false});
}

#define OPEN(f, ...)                                                                               \
    open_files((f), (struct file[]){__VA_ARGS__},                                                  \
               sizeof((struct file[]){__VA_ARGS__}) / sizeof(struct file))

#define HEAD "[snapshot]\nversion=1.0\n"

#define MAIN_INI                                                                                   \
    {                                                                                              \
        "snapshot.ini", HEAD "[device_list]\na=device.ini\n[trace]\nmetadata=trace.ini\n"          \
    }

static const struct pug_snapshot_options reference = {.quirks = {.reference_snapshots = 1}};

/* ---- grammar ---- */

static void test_grammar(void **state)
{
    struct fixture *f = *state;
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
    assert_string_equal(said(f),
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
    struct fixture *f = *state;
    write_file(f, "snapshot.ini",
               HEAD "[device_list]\nd=device.ini\n[trace]\nmetadata=trace.ini\n");
    write_file(f, "device.ini", "[device]\nname=x\n[elf]\nnonsense\n");
    write_file(f, "trace.ini",
               "[trace_buffers]\nbuffers=b1, b2\n[b2]\nnonsense=1\n"
               "[b1]\nname=one\nfile=f\nunknown=1\n");
    assert_int_equal(open_with(f, reference), PUG_OK);
    assert_int_equal(pug_snapshot_buffer_at(f->snapshot, 0)->settings.count, 0);
    assert_null(pug_snapshot_buffer_at(f->snapshot, 1)); /* " b2" is no section's name */
}

static void test_device_list_again(void **state)
{
    struct fixture *f = *state;
    write_file(f, "snapshot.ini",
               "[device_list]\na=1\nb=2\n[device_list]\na=3\n[trace]\nmetadata=t\n");
    write_file(f, "1", "[device]\nname=one\n");
    write_file(f, "2", "[device]\nname=two\ntype=x\n");
    write_file(f, "3", "[device]\nname=two\ntype=y\n");
    write_file(f, "t", "");
    assert_int_equal(open_with(f, reference), PUG_OK);
    assert_string_equal(pug_snapshot_device_at(f->snapshot, 0)->type, "x"); /* the later one wins */
    assert_null(pug_snapshot_device_at(f->snapshot, 1));
}

static void test_verbose(void **state)
{
    struct fixture *f = *state;
    struct pug_snapshot_options options = reference;
    options.verbose = true;
    write_file(f, "snapshot.ini", "[snapshot]\n[device_list]\nd=device.ini\n[x]\n");
    write_file(f, "device.ini", "[device]\n[y]\n");
    assert_int_equal(open_with(f, options), PUG_OK);
    assert_string_equal(said(f),
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
    struct fixture *f = *state;
    assert_int_equal(open_with(f, reference), PUG_ERR_FILE);
    /* a directory is no file */
    assert_int_equal(
        OPEN(f, {"snapshot.ini", HEAD "[device_list]\na=\n[trace]\nmetadata=none.ini\n"}), PUG_OK);
    assert_string_equal(said(f),
                        "snapshot_reader : 0x0025 (OCSD_ERR_TEST_SNAPSHOT_READ) [test snapshot "
                        "reader error]; Failed to open device file : /\n"
                        "snapshot_reader : 0x0025 (OCSD_ERR_TEST_SNAPSHOT_READ) [test snapshot "
                        "reader error]; Failed to trace ini file : /none.ini\n");
}

/* ---- errors ---- */

#define PARSE_ERROR                                                                                \
    "snapshot_parser : 0x0023 (OCSD_ERR_TEST_SNAPSHOT_PARSE) [Test snapshot file parse error]; "

/** Text of a file, and the error with the line that it names. */
struct error_case {
    const char *text, *error;
};

static void check_errors(struct fixture *f, const char *file, const struct error_case *cases,
                         size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char expected[512];
        write_file(f, file, cases[i].text);
        assert_int_equal(open_with(f, (struct pug_snapshot_options){.verbose = false}),
                         PUG_ERR_SNAPSHOT_PARSE);
        snprintf(expected, sizeof(expected), PARSE_ERROR "/%s:%s\n", file, cases[i].error);
        assert_string_equal(said(f), expected);
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
    struct fixture *f = *state;
    write_file(f, "snapshot.ini", HEAD "[device_list]\na=device.ini\n");
    CHECK_ERRORS(f, "device.ini", cases);
    write_file(f, "device.ini", "[dump]\naddress=0\nfile=x\ncontext_id=1\n");
    assert_int_equal(open_with(f, reference), PUG_ERR_SNAPSHOT_PARSE);
    assert_string_equal(said(f),
                        PARSE_ERROR "/device.ini:4: Unknown dump section key 'context_id'\n");
}

#define BUFFER_A "[a]\nname=A\nfile=f\nformat=coresight\n"

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
    struct fixture *f = *state;
    write_file(f, "snapshot.ini", HEAD "[device_list]\n[trace]\nmetadata=trace.ini\n");
    CHECK_ERRORS(f, "trace.ini", cases);
}

/** Names and locations are of one device each. */
static void test_same_devices(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(OPEN(f, {"snapshot.ini", HEAD "[device_list]\na=1\nb=2\n"},
                          {"1", "[device]\nname=x\nlocation=dap:0\n"},
                          {"2", "[device]\n\nname=x\n"}),
                     PUG_ERR_SNAPSHOT_PARSE);
    assert_string_equal(said(f), PARSE_ERROR "/2:3: Device name 'x' is that of 1, too\n");
    assert_int_equal(OPEN(f, {"2", "[device]\nname=y\nlocation=dap:0\n"}), PUG_ERR_SNAPSHOT_PARSE);
    assert_string_equal(said(f), PARSE_ERROR "/2:3: Location 'dap:0' is that of 1, too\n");
    assert_int_equal(
        OPEN(f, {"1", "[device]\nname=x\nlocation=\n"}, {"2", "[device]\nname=y\nlocation=\n"}),
        PUG_OK);
    assert_string_equal(said(f), "");
}

/** What is told, and does not stop reading. */
static void test_warnings(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(
        OPEN(f, MAIN_INI,
             {"device.ini", "[device]\nname=S\ntype=STM\n[regs]\nSTMTCSR(ident:1)=0x10000\n"},
             {"trace.ini", "[trace_buffers]\nbuffers=a,b\n[a]\nname=A\nfile=f\n"
                           "[b]\nname=B\nformat=mystery\nfile=f\n"
                           "[source_buffers]\nS=A\nT=C,D\n"}),
        PUG_OK);
    assert_string_equal(
        said(f),
        "snapshot_parser : /device.ini:5: What is in the parentheses of STMTCSR(ident:1) is not "
        "understood\n"
        "snapshot_parser : /trace.ini:3: Buffer A has no format: taken for coresight\n"
        "snapshot_parser : /trace.ini:6: Buffer B has the unknown format 'mystery': taken for "
        "coresight\n"
        "snapshot_parser : /trace.ini:12: Source T is in buffer 'C,D', which is not there\n");
    assert_string_equal(pug_snapshot_transport(f->snapshot, pug_snapshot_buffer(f->snapshot, "B")),
                        "coresight");
}

/** A snapshot of a system without trace. */
static void test_no_trace(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(OPEN(f, {"snapshot.ini", HEAD "[device_list]\na=1\n"},
                          {"1", "[device]\nname=cpu\nclass=core\n"}),
                     PUG_OK);
    assert_string_equal(said(f), "");
    assert_null(pug_snapshot_buffer_at(f->snapshot, 0));
    assert_int_equal(open_with(f, reference), PUG_OK);
    assert_string_equal(said(f), "snapshot_reader : 0x0025 (OCSD_ERR_TEST_SNAPSHOT_READ) [test "
                                 "snapshot reader error]; Trace Metadata ini file not found.\n");
}

static void test_registers(void **state)
{
    struct fixture *f = *state;
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
    assert_string_equal(said(f),
                        "snapshot_parser : /1:10: What is in the parentheses of F(size:x) is not "
                        "understood\n"
                        "snapshot_parser : /1:11: What is in the parentheses of G(1 is not "
                        "understood\n");
}

static void assert_cluster(struct fixture *f, size_t n, const char *name, const char *devices)
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
    struct fixture *f = *state;
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
    assert_string_equal(said(f), "snapshot_parser : /snapshot.ini:10: Cluster 1 is of device "
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
    struct fixture *f = *state;
    size_t lines = PUG_SNAPSHOT_REGISTER_LIMIT + 1, at = 0;
    char *text = malloc(lines * 16);
    at += (size_t)sprintf(text, "[regs]\n");
    for (size_t i = 0; i < lines; i++)
        at += (size_t)sprintf(text + at, "R%zu=0\n", i);
    assert_int_equal(
        OPEN(f, {"snapshot.ini", HEAD "[device_list]\na=device.ini\n"}, {"device.ini", text}),
        PUG_ERR_LIMIT);
    assert_string_equal(said(f), "snapshot_parser : 0x0043 (unknown); /device.ini:8194: Too many "
                                 "registers\n");
    free(text);
}

/* ---- sources ---- */

static void assert_source(struct fixture *f, const char *buffer, size_t n, const char *name,
                          const char *core, const char *protocol)
{
    struct pug_snapshot_source source;
    const struct pug_snapshot_buffer *of = pug_snapshot_buffer(f->snapshot, buffer);
    assert_non_null(of);
    if (!name) {
        assert_false(pug_snapshot_source_at(f->snapshot, of, n, &source));
        return;
    }
    assert_true(pug_snapshot_source_at(f->snapshot, of, n, &source));
    assert_string_equal(source.name, name);
    if (core)
        assert_string_equal(source.core_name, core);
    else
        assert_null(source.core_name);
    if (protocol)
        assert_string_equal(source.protocol, protocol);
    else
        assert_null(source.protocol);
}

#define TWO_BUFFERS                                                                                \
    "[trace_buffers]\nbuffers=a,b\n[a]\nname=A\nfile=a\nformat=coresight\n"                        \
    "[b]\nname=B\nfile=b\nformat=coresight\n"

static void test_associations(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(
        OPEN(f,
             {"snapshot.ini",
              HEAD "[device_list]\na=stm\nb=etm\nc=cpu\n[trace]\nmetadata=trace.ini\n"},
             {"stm", "[device]\nname=STM\ntype=STM.2\nlocation=here\n"},
             {"etm", "[device]\nname=ETM_2\ntype=ETM4.6\nlocation=there\n"},
             {"cpu", "[device]\nname=cpu\ntype=Cortex-A53\n"},
             {"trace.ini", TWO_BUFFERS "[source_buffers]\nSTM=A\nETM_2=B\nETM_10=A\nETM_1=A, B\n"
                                       "ETM_2(stream:0)=A\n"
                                       "[core_trace_sources]\ncpu=@there\nother=ETM_1\n"}),
        PUG_OK);
    assert_source(f, "A", 0, "ETM_1", "other", NULL);
    assert_source(f, "A", 1, "ETM_10", NULL, NULL);
    assert_source(f, "A", 2, "ETM_2", "cpu", "ETMV4I");
    assert_source(f, "A", 3, "STM", NULL, "STM");
    assert_source(f, "A", 4, NULL, NULL, NULL);
    assert_source(f, "B", 0, "ETM_1", "other", NULL);
    assert_source(f, "B", 1, NULL, NULL, NULL);
    assert_int_equal(open_with(f, reference), PUG_OK); /* values and names as they are written */
    assert_source(f, "A", 0, "ETM_10", NULL, NULL);
    assert_source(f, "A", 1, "ETM_2(stream:0)", NULL, NULL);
    assert_source(f, "A", 2, "STM", NULL, "STM");
    assert_source(f, "B", 0, "ETM_2", NULL, NULL);
}

static void assert_stream(struct fixture *f, const char *buffer, size_t n, const char *name,
                          unsigned stream)
{
    struct pug_snapshot_source source;
    assert_true(
        pug_snapshot_source_at(f->snapshot, pug_snapshot_buffer(f->snapshot, buffer), n, &source));
    assert_string_equal(source.name, name);
    assert_int_equal(source.stream, stream);
    assert_true((source.protocol != NULL) == (stream == 0));
}

/** A source's streams can be in buffers of their own; those that are not are where it is. */
static void test_streams(void **state)
{
    struct fixture *f = *state;
    struct pug_tree *tree = NULL;
    assert_int_equal(
        OPEN(f, {"snapshot.ini", HEAD "[device_list]\na=1\nb=2\n[trace]\nmetadata=t\n"},
             {"1", "[device]\nname=E\ntype=ETM4\n[regs]\nTRCCONFIGR=0\nTRCTRACEIDR=0x10\n"
                   "TRCIDR0=0\nTRCIDR1=0x4100F403\nTRCIDR2=0\nTRCIDR8=0\n"},
             {"2", "[device]\nname=C\nclass=core\ntype=Cortex-M7\n"},
             {"t", TWO_BUFFERS "[source_buffers]\nE(stream:0)=A\nE ( stream : 1 )=B\nE=B\n"
                               "E(stream:x)=A\n[core_trace_sources]\nC=E\n"}),
        PUG_OK);
    assert_stream(f, "A", 0, "E", 0);
    assert_stream(f, "B", 0, "E", 1);
    assert_source(f, "A", 1, "E(stream:x)", NULL, NULL);
    assert_source(f, "B", 1, NULL, NULL, NULL);
    said(f);
    assert_int_equal(pug_snapshot_tree(f->snapshot, pug_snapshot_buffer(f->snapshot, "B"),
                                       &(struct pug_snapshot_tree_config){.decode = true}, &tree),
                     PUG_ERR_RDR_NO_DECODER);
    assert_string_equal(said(f),
                        "ss2_dcdtree : Stream 1 of E is left out: there is no decoder for it\n");
    assert_int_equal(OPEN(f, {"t", TWO_BUFFERS "[source_buffers]\nE(stream:1)=B\nE=A\n"}), PUG_OK);
    assert_stream(f, "A", 0, "E", 0); /* for stream 0 nobody says more than for E */
    assert_stream(f, "B", 0, "E", 1);
}

static uint64_t told_stream, told_id;

static enum pug_status data_config(const struct pug_settings *settings, struct pug_log *log,
                                   void **config)
{
    told_stream = pug_settings_number(settings, "stream", 0);
    told_id = pug_settings_number(settings, "TRCTRACEIDR", 0);
    return pug_protocol_find("STM")->config_new(settings, log, config);
}

/** Who registers a protocol of the data stream gets it. */
static void test_data_stream(void **state)
{
    struct fixture *f = *state;
    struct pug_tree *tree = NULL;
    const struct pug_description description = {
        .types = (const struct pug_device_type[]){{"ETM", 4, NULL, 1}, {0}},
        .registers = (const struct pug_register[]){{.name = "TRCTRACEIDR"}, {0}}};
    struct pug_protocol data = *pug_protocol_find("STM");
    data.abi = PUG_AUTHOR_ABI;
    data.name = "ETMV4D";
    data.description = &description;
    data.config_new = data_config;
    assert_int_equal(
        OPEN(f, {"snapshot.ini", HEAD "[device_list]\na=1\n[trace]\nmetadata=t\n"},
             {"1", "[device]\nname=E\ntype=ETM4.2\n[regs]\nTRCTRACEIDR=0x10\nSTMTCSR=0x110000\n"},
             {"t", TWO_BUFFERS "[source_buffers]\nE(stream:0)=A\nE(stream:1)=B\n"}),
        PUG_OK);
    const struct pug_snapshot_buffer *buffer = pug_snapshot_buffer(f->snapshot, "B");
    const struct pug_snapshot_tree_config config = {.decode = true};
    assert_int_equal(pug_snapshot_tree(f->snapshot, buffer, &config, &tree),
                     PUG_ERR_RDR_NO_DECODER);
    assert_int_equal(pug_protocol_register(&data), PUG_OK);
    assert_int_equal(pug_snapshot_tree(f->snapshot, buffer, &config, &tree), PUG_OK);
    assert_string_equal(pug_protocol_name(pug_source_protocol(pug_tree_source_at(tree, 0))),
                        "ETMV4D");
    assert_int_equal(told_stream, 1);
    assert_int_equal(told_id, 0x10);
    pug_tree_free(tree);
    assert_int_equal(pug_protocol_unregister("ETMV4D"), PUG_OK);
}

/** One buffer, and nobody says who writes into it. */
static void test_no_source_buffers(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(OPEN(f, MAIN_INI, {"device.ini", "[device]\nname=X\ntype=ITM\n"},
                          {"trace.ini", "[trace_buffers]\nbuffers=a\n[a]\nname=A\nfile=a\n"}),
                     PUG_OK);
    assert_source(f, "A", 0, "X", NULL, "ITM");
    assert_source(f, "A", 1, NULL, NULL, NULL);
    assert_int_equal(open_with(f, reference), PUG_OK);
    assert_source(f, "A", 0, NULL, NULL, NULL);
}

/* ---- trees ---- */

static enum pug_status make_tree(struct fixture *f, struct pug_image *image, bool is_reference,
                                 struct pug_tree **tree)
{
    struct pug_snapshot_tree_config config = {.image = image, .log = f->log};
    if (is_reference)
        config.quirks = pug_quirks_reference();
    return pug_snapshot_tree(f->snapshot, pug_snapshot_buffer_at(f->snapshot, 0), &config, tree);
}

#define TO_DECODER                                                                                 \
    "ss2_dcdtree : 0x0026 (OCSD_ERR_TEST_SS_TO_DECODER) [test snapshot to decode tree conversion " \
    "error]; "

static void test_tree_errors(void **state)
{
    static const struct {
        const char *source, *core, *trace, *said;
    } cases[] = {
        {"", "", "[source_buffers]\nE=B\n",
         TO_DECODER "Failed to create decoder for none core source E.\n"},
        {"", "", "[source_buffers]\nF=B\n",
         TO_DECODER "Failed to find device data for source F.\n"},
        {"", "", "[source_buffers]\nE=B\n[core_trace_sources]\nc=E\n",
         TO_DECODER "Failed to get device data for source E.\n"},
        {"type=ETM4", "type=Cortex-A53", "[source_buffers]\nE=B\n[core_trace_sources]\nC=E\n",
         "ss2_dcdtree : Error:Missing TRCCONFIGR\n"
         "ss2_dcdtree : Error:Missing TRCTRACEIDR\n"
         "ss2_dcdtree : Error:Missing TRCIDR0\n"
         "ss2_dcdtree : Warning: Default set for register. Missing TRCIDR1\n"
         "ss2_dcdtree : Error:Missing TRCIDR2\n"
         "ss2_dcdtree : Warning: Default set for register. Missing TRCIDR8\n"
         "ss2_dcdtree : Warning: Default set for register. Missing TRCIDR9\n"
         "ss2_dcdtree : Warning: Default set for register. Missing TRCIDR10\n"
         "ss2_dcdtree : Warning: Default set for register. Missing TRCIDR11\n"
         "ss2_dcdtree : Warning: Default set for register. Missing TRCIDR12\n"
         "ss2_dcdtree : Warning: Default set for register. Missing TRCIDR13\n" TO_DECODER
         "Failed to create decoder for source E.\n"},
        {"type=PTM1.1\n[regs]\nETMIDR=1\nETMCR=1\nETMCCER (id)=1\nETMTRACEIDR=1", "type=cortex-a9",
         "[source_buffers]\nE=B\n[core_trace_sources]\nC=E\n",
         "ss2_dcdtree : Error:Missing ETMCCER\n" TO_DECODER
         "Failed to create decoder for source E.\n"},
        {"type=ETM3.5\n[regs]\nETMIDR=1\nETMCR=1\nETMCCER(id)=1\nETMTRACEIDR=1", "type=cortex-a9",
         "[source_buffers]\nE=B\n[core_trace_sources]\nC=E\n",
         TO_DECODER
         "Unrecognized Core name cortex-a9. Cannot evaluate profile or architecture." TO_DECODER
         "Failed to create decoder for source E.\n"},
        {"type=STM\n[regs]\nSTMTCSR=1", "", "[source_buffers]\nE=B\n[core_trace_sources]\nC=E\n",
         TO_DECODER "Failed to create decoder for source E.\n"},
    };
    struct fixture *f = *state;
    write_file(f, "snapshot.ini", "[device_list]\na=e\nb=c\n[trace]\nmetadata=t\n");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[1024];
        struct pug_tree *tree = NULL;
        snprintf(text, sizeof(text), "[device]\nname=E\n%s\n", cases[i].source);
        write_file(f, "e", text);
        snprintf(text, sizeof(text), "[device]\nname=C\n%s\n", cases[i].core);
        write_file(f, "c", text);
        snprintf(text, sizeof(text), "[trace_buffers]\nbuffers=b\n[b]\nname=B\nfile=f\n%s",
                 cases[i].trace);
        write_file(f, "t", text);
        assert_int_equal(open_with(f, reference), PUG_OK);
        assert_int_equal(make_tree(f, NULL, true, &tree), PUG_ERR_RDR_NO_DECODER);
        assert_string_equal(said(f), cases[i].said);
    }
}

/** Registers on which nothing depends are not missed. */
static void test_unused_registers(void **state)
{
    struct fixture *f = *state;
    struct pug_tree *tree = NULL;
    assert_int_equal(
        OPEN(f, {"snapshot.ini", HEAD "[device_list]\na=e\nb=c\n[trace]\nmetadata=t\n"},
             {"e", "[device]\nname=E\ntype=ETM4\n[regs]\nTRCCONFIGR=0\n"
                   "TRCTRACEIDR=1\nTRCIDR0=0\nTRCIDR2=0\nTRCIDR8=0\n"},
             {"c", "[device]\nname=C\ntype=Cortex-A53\n"},
             {"t", "[trace_buffers]\nbuffers=b\n[b]\nname=B\nfile=f\nformat=coresight\n"
                   "[source_buffers]\nE=B\n[core_trace_sources]\nC=E\n"}),
        PUG_OK);
    assert_int_equal(make_tree(f, NULL, false, &tree), PUG_OK);
    assert_string_equal(said(f),
                        "ss2_dcdtree : e: register TRCIDR1 is missing: taken for 0x4100f403\n");
    pug_tree_free(tree);
}

/** A device file of an ETM4 of this type, and of a core with these lines. */
static enum pug_status open_etm(struct fixture *f, const char *type, const char *core,
                                const char *association)
{
    char device[256], core_text[256], trace[256];
    snprintf(device, sizeof(device),
             "[device]\nname=E\ntype=%s\n[regs]\nTRCCONFIGR (0x4)=0xC1\nTRCTRACEIDR=0x10\n"
             "TRCIDR0(id:0x78)=0x28000EA1\nTRCIDR1=0x4100F403\nTRCIDR2=0x488\nTRCIDR8=0\n"
             "TRCDEVARCH=0x47705A13\n",
             type);
    snprintf(core_text, sizeof(core_text), "[device]\nname=C\n%s", core);
    snprintf(trace, sizeof(trace),
             "[trace_buffers]\nbuffers=a\n" BUFFER_A "[source_buffers]\nE=A\n%s", association);
    return OPEN(f, {"snapshot.ini", HEAD "[device_list]\na=e\nb=c\n[trace]\nmetadata=t\n"},
                {"e", device}, {"c", core_text}, {"t", trace});
}

/** Architecture and profile that the tree's source has, as its configuration says. */
static void assert_core(struct fixture *f, struct pug_settings overrides, const char *wanted,
                        const char *message)
{
    struct pug_tree *tree = NULL;
    char text[1024];
    said(f);
    assert_int_equal(
        pug_snapshot_tree(f->snapshot, pug_snapshot_buffer_at(f->snapshot, 0),
                          &(struct pug_snapshot_tree_config){.sources = overrides, .log = f->log},
                          &tree),
        PUG_OK);
    assert_string_equal(said(f), message);
    struct pug_source *source = pug_tree_source_at(tree, 0);
    pug_source_protocol(source)->config_text(pug_source_config(source), text, sizeof(text));
    if (!strstr(text, wanted))
        fail_msg("no '%s' in:\n%s", wanted, text);
    pug_tree_free(tree);
}

#define TRACES_C "[core_trace_sources]\nC=E\n"

/** A core's type is optional, in any case, a product or an architecture; unknown is no error. */
static void test_core_types(void **state)
{
    static const struct {
        const char *core, *wanted, *message;
    } cases[] = {
        {"class=core\ntype=cortex-a53\n", "architecture 0x800, profile A", ""},
        {"class=core\ntype=Cortex-M33\n", "architecture 0x800, profile M", ""},
        {"class=core\ntype=armv8-a\n", "architecture 0x800, profile A", ""},
        {"class=core\ntype=Cortex-Z1\n", "architecture 0x864, profile A",
         "ss2_dcdtree : Core type Cortex-Z1 in c is not known: taken for an AArch64 core\n"},
        {"class=core\n", "architecture 0x864, profile A",
         "ss2_dcdtree : No type of core C in c: taken for an AArch64 core\n"},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(open_etm(f, "ETM4.0", cases[i].core, TRACES_C), PUG_OK);
        assert_core(f, (struct pug_settings){0}, cases[i].wanted, cases[i].message);
    }
}

/** What the caller says goes before the snapshot: of all sources, and of one. */
static void test_overrides(void **state)
{
    struct fixture *f = *state;
    static const struct pug_setting items[] = {{"core", 0, "cortex-m7"},
                                               {"F:TRCTRACEIDR", 0x12, NULL},
                                               {"E:TRCTRACEIDR", 0x13, NULL},
                                               {"TRCTRACEIDR", 0x14, NULL}};
    static const struct pug_setting unknown[] = {{"core", 0, "x86"}, {"arch", 0x700, NULL}};
    assert_int_equal(open_etm(f, "ETM4.0", "type=Cortex-A53\n", TRACES_C), PUG_OK);
    assert_core(f, (struct pug_settings){.items = items, .count = 1},
                "architecture 0x700, profile M", "");
    assert_core(f, (struct pug_settings){.items = items, .count = 4}, "trace id: 0x13", "");
    assert_core(f, (struct pug_settings){.items = unknown, .count = 2},
                "architecture 0x700, profile A",
                "ETMV4I : Core 'x86' is not known: architecture 0x700, profile A.");
}

/** A source of which nobody says which core it traces, and a core of which there is no trace. */
static void test_no_association(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(open_etm(f, "ETM4.0", "class=core\ntype=Cortex-M7\n", ""), PUG_OK);
    assert_core(f, (struct pug_settings){0}, "architecture 0x700, profile M",
                "ss2_dcdtree : Nothing says which core E traces: it is C, of which there is no "
                "other trace\n");
    assert_source(f, "A", 0, "E", "C", "ETMV4I");
    assert_int_equal(open_etm(f, "ETM4.0", "class=bridge\n", ""), PUG_OK);
    assert_core(f, (struct pug_settings){0}, "architecture 0x864, profile A",
                "ss2_dcdtree : Nothing says which core E traces: taken for an AArch64 core\n");
    assert_source(f, "A", 0, "E", NULL, "ETMV4I");
    assert_int_equal(open_etm(f, "ITM", "class=core\ntype=Cortex-M3\n", TRACES_C), PUG_OK);
    assert_source(f, "A", 0, "E", "C", "ITM"); /* an M core's ITM is its own */
}

/** A type is a protocol's name and version. */
static void test_source_types(void **state)
{
    static const struct {
        const char *type, *protocol, *reference;
    } cases[] = {
        {"ETM4.5", "ETMV4I", "ETMV4I"},
        {"ETM4", "ETMV4I", "ETMV4I"},
        {"ETMv4.2", "ETMV4I", NULL},
        {"etm4.0", "ETMV4I", NULL},
        {"ETM3.5", "ETMV3", "ETMV3"},
        {"ETM1.2", NULL, NULL},
        {"ETM", NULL, NULL},
        {"ETE", "ETE", "ETE"},
        {"ETE1.2", "ETE", NULL},
        {"ETEv1.0", "ETE", NULL},
        {"PFT1.1", "PTM", "PTM"},
        {"PTM1.0", "PTM", "PTM"},
        {"PFT2.0", "PTM", NULL},
        {"STM1.0", "STM", NULL},
        {"STM-500", "STM", NULL},
        {"ITM1.0", "ITM", NULL},
        {"ITM", "ITM", NULL},
        {"N-Trace", "N-Trace", NULL},
        {"e-trace2.0", "E-Trace", NULL},
        {"ETB", NULL, NULL},
        {"1.0", NULL, NULL},
        {"", NULL, NULL},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(open_etm(f, cases[i].type, "type=Cortex-A53\n", TRACES_C), PUG_OK);
        assert_source(f, "A", 0, "E", "C", cases[i].protocol);
        assert_int_equal(open_with(f, reference), PUG_OK);
        assert_source(f, "A", 0, "E", "C", cases[i].reference);
    }
}

/** An ITM's control register has two names; its id is in bits 22:16. */
static void test_itm_register(void **state)
{
    static const char *const names[] = {"CONTROL_REGISTER", "ITMTCR"};
    struct fixture *f = *state;
    for (size_t i = 0; i < 2; i++) {
        struct pug_tree *tree = NULL;
        char device[128];
        snprintf(device, sizeof(device), "[device]\nname=I\ntype=ITM1.0\n[regs]\n%s=0x00230001\n",
                 names[i]);
        assert_int_equal(
            OPEN(f, MAIN_INI, {"device.ini", device},
                 {"trace.ini", "[trace_buffers]\nbuffers=a\n" BUFFER_A "[source_buffers]\nI=A\n"}),
            PUG_OK);
        assert_int_equal(make_tree(f, NULL, false, &tree), PUG_OK);
        assert_non_null(pug_tree_source(tree, 0x23));
        pug_tree_free(tree);
    }
}

/** A register that is no number is an error, not 0. */
static void test_bad_register(void **state)
{
    struct fixture *f = *state;
    struct pug_tree *tree = NULL;
    assert_int_equal(
        OPEN(f, MAIN_INI, {"device.ini", "[device]\nname=S\ntype=STM\n[regs]\nSTMTCSR=on\n"},
             {"trace.ini", "[trace_buffers]\nbuffers=a\n" BUFFER_A "[source_buffers]\nS=A\n"}),
        PUG_OK);
    assert_int_equal(make_tree(f, NULL, false, &tree), PUG_ERR_RDR_NO_DECODER);
    assert_string_equal(said(f), "ss2_dcdtree : device.ini: STMTCSR is no number: 'on'\n"
                                 "ss2_dcdtree : source S is left out\n");
    assert_int_equal(open_with(f, reference), PUG_OK);
    assert_int_equal(make_tree(f, NULL, true, &tree), PUG_OK);
    pug_tree_free(tree);
}

/** Sources of one buffer with the same trace id: the second is left out. */
static void test_same_id(void **state)
{
    struct fixture *f = *state;
    struct pug_tree *tree = NULL;
    assert_int_equal(OPEN(f,
                          {"snapshot.ini", HEAD "[device_list]\na=1\nb=2\n[trace]\nmetadata=t\n"},
                          {"1", "[device]\nname=S1\ntype=STM\n[regs]\nSTMTCSR=0x00100000\n"},
                          {"2", "[device]\nname=S2\ntype=STM\n[regs]\nSTMTCSR=0x1FF100000\n"},
                          {"t", TWO_BUFFERS "[source_buffers]\nS1=A\nS2=A\n"}),
                     PUG_OK);
    said(f);
    assert_int_equal(make_tree(f, NULL, true, &tree), PUG_OK);
    assert_non_null(pug_tree_source(tree, 0x10));
    assert_null(pug_tree_source_at(tree, 1));
    assert_string_equal(said(f),
                        "ss2_dcdtree : 0x000a (OCSD_ERR_ATTACH_TOO_MANY) [Cannot attach - attach "
                        "device limit reached.]; source S2, STM\n"
                        "ss2_dcdtree : source S2 is left out\n");
    pug_tree_free(tree);
}

/** A device's type and a buffer's format may name what the Arm format does not know. */
static void test_other_protocols(void **state)
{
    struct fixture *f = *state;
    struct pug_tree *tree = NULL;
    assert_int_equal(
        OPEN(f, MAIN_INI,
             {"device.ini", "[device]\nname=N\ntype=N-Trace\n[regs]\nsrc_bits=4\n[dump]\n"
                            "file=code\naddress=0x80000000\n"},
             {"code", "12345678"},
             {"trace.ini", "[trace_buffers]\nbuffers=a\n[a]\nname=A\nfile=a\nformat=plain\n"
                           "[source_buffers]\nN=A\n"}),
        PUG_OK);
    struct pug_image *image = pug_image_new();
    assert_int_equal(make_tree(f, image, false, &tree), PUG_OK);
    assert_string_equal(pug_tree_transport(tree)->name, "plain");
    assert_string_equal(pug_source_protocol(pug_tree_source_at(tree, 0))->name, "N-Trace");
    struct pug_image_range range;
    assert_true(pug_image_range(image, 0, &range));
    assert_int_equal(range.start, 0x80000000);
    pug_tree_free(tree);
    pug_image_free(image);
    assert_int_equal(open_with(f, reference), PUG_OK);
    assert_string_equal(pug_snapshot_transport(f->snapshot, pug_snapshot_buffer_at(f->snapshot, 0)),
                        "coresight");
}

static const struct pug_description own_description = {
    .types = (const struct pug_device_type[]){{"OWNTRACE", 2, "OWN", 0}, {0}},
    .registers =
        (const struct pug_register[]){{.name = "STMTCSR", .other_name = "OWNCR"},
                                      {.name = "LEVEL", .need = PUG_REGISTER_ASSUMED, .assumed = 7},
                                      {0}},
    .traces_core = true,
    .usual_arch = PUG_ARCH_V7,
};

/** A protocol from outside says itself what its devices are called and which registers they have.
 */
static void test_own_description(void **state)
{
    struct fixture *f = *state;
    struct pug_tree *tree = NULL;
    struct pug_protocol own = *pug_protocol_find("STM");
    own.abi = PUG_AUTHOR_ABI;
    own.name = "Own";
    own.description = &own_description;
    assert_int_equal(open_etm(f, "OwnTrace2.1", "type=Cortex-A53\n", TRACES_C), PUG_OK);
    assert_source(f, "A", 0, "E", "C", NULL); /* nobody knows it yet */
    assert_int_equal(pug_protocol_register(&own), PUG_OK);
    assert_source(f, "A", 0, "E", "C", "Own");
    assert_int_equal(make_tree(f, NULL, false, &tree), PUG_ERR_RDR_NO_DECODER);
    assert_non_null(strstr(said(f), "e: register STMTCSR is missing"));

    assert_int_equal(open_etm(f, "OwnTrace1", "type=Cortex-A53\n", TRACES_C), PUG_OK);
    assert_source(f, "A", 0, "E", "C", NULL); /* another version */
    assert_int_equal(open_etm(f, "OWN.1", "type=Cortex-A53\n", TRACES_C), PUG_OK);
    assert_int_equal(open_with(f, reference), PUG_OK);
    assert_source(f, "A", 0, "E", "C", "Own");

    assert_int_equal(open_etm(f, "OwnTrace2", "type=Cortex-Z9\n[regs]\n", TRACES_C), PUG_OK);
    write_file(f, "e", "[device]\nname=E\ntype=OwnTrace2\n[regs]\nOWNCR=0x00230001\n");
    assert_int_equal(open_with(f, (struct pug_snapshot_options){0}), PUG_OK);
    said(f);
    assert_int_equal(make_tree(f, NULL, false, &tree), PUG_OK);
    assert_string_equal(said(f),
                        "ss2_dcdtree : e: register LEVEL is missing: taken for 0x7\n"
                        "ss2_dcdtree : Core type Cortex-Z9 in c is not known: taken for ARMv7-A\n");
    assert_non_null(pug_tree_source(tree, 0x23));
    pug_tree_free(tree);
    assert_int_equal(pug_protocol_unregister("Own"), PUG_OK);
}

/* ---- memory ---- */

static void check_memory(struct fixture *f, bool is_reference, const char *dumps,
                         const char *listing)
{
    char text[1024];
    struct pug_tree *tree = NULL;
    struct pug_image *image = pug_image_new();
    snprintf(text, sizeof(text), "[device]\nname=C\n%s", dumps);
    write_file(f, "c", text);
    assert_int_equal(open_with(f, (struct pug_snapshot_options){.quirks = {.reference_snapshots =
                                                                               is_reference}}),
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
    assert_string_equal(said(f), listing);
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
    struct fixture *f = *state;
    write_file(f, "snapshot.ini", HEAD "[device_list]\na=e\nb=c\n[trace]\nmetadata=t\n");
    write_file(f, "e",
               "[device]\nname=E\ntype=ETM3.5\n[regs]\nETMIDR=0x410CF250\nETMCR=0\n"
               "ETMCCER=0\nETMTRACEIDR=0x10\n");
    write_file(
        f, "t",
        "[trace_buffers]\nbuffers=b\n[b]\nname=B\nfile=f\nformat=coresight\n[source_buffers]\nE=B\n"
        "[core_trace_sources]\nC=E\n");
    write_file(f, "1", "0123456789abcdef0123456789abcdef");
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
    struct fixture *f = *state;
    assert_int_equal(open_etm(f, "ETM3.5", "", ""), PUG_OK);
    write_file(f, "e",
               "[device]\nname=E\ntype=ETM3.5\n[regs]\nETMIDR=0x410CF250\nETMCR=0\n"
               "ETMCCER=0x04000000\nETMTRACEIDR=0x10\n");
    write_file(f, "t", "[trace_buffers]\nbuffers=a\n" BUFFER_A "[source_buffers]\nE=A\n" TRACES_C);
    write_file(f, "1", "0123456789abcdef0");
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

/** What a bus shows is seen where no core's memory is. */
static void test_memory_space(void **state)
{
    struct fixture *f = *state;
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
    assert_int_equal(make_tree(f, image, false, &tree), PUG_OK);
    assert_string_equal(said(f), "");
    struct pug_reader_space space = {.space = PUG_SPACE_ANY, .source = 1};
    char bytes[8] = "";
    for (uint64_t i = 0; i < 8; i++)
        assert_int_equal(pug_image_read(image, &space, 0x1000 + i, bytes + i, 1), 1);
    assert_memory_equal(bytes, "ab1234gh", 8);
    pug_tree_free(tree);
    pug_image_free(image);
}

/** Two cores with other memory at the same address: each source sees its own core's. */
static void test_memory_of_two_cores(void **state)
{
    struct fixture *f = *state;
    struct pug_tree *tree = NULL;
    for (int i = 1; i <= 2; i++) {
        char name[2] = {(char)('0' + i), 0}, text[256];
        snprintf(text, sizeof(text),
                 "[device]\nname=S%d\ntype=STM\n[regs]\nSTMTCSR=0x000%d0000\n"
                 "[dump]\nfile=m%d\naddress=0x1000\n[dump]\nfile=both\naddress=0x2000\n",
                 i, i, i);
        write_file(f, name, text);
    }
    assert_int_equal(OPEN(f,
                          {"snapshot.ini", HEAD "[device_list]\na=1\nb=2\n[trace]\nmetadata=t\n"},
                          {"m1", "1111"}, {"m2", "2222"}, {"both", "3333"},
                          {"t", TWO_BUFFERS "[source_buffers]\nS1=A\nS2=A\n"}),
                     PUG_OK);
    struct pug_image *image = pug_image_new();
    assert_int_equal(make_tree(f, image, false, &tree), PUG_OK);
    assert_string_equal(said(f), "");
    for (uint16_t source = 1; source <= 2; source++) {
        struct pug_reader_space space = {.space = PUG_SPACE_ANY, .source = source};
        char bytes[4];
        assert_int_equal(pug_image_read(image, &space, 0x1000, bytes, 4), 4);
        assert_int_equal(bytes[0], '0' + source);
        assert_int_equal(pug_image_read(image, &space, 0x2000, bytes, 4), 4);
        assert_int_equal(bytes[0], '3');
    }
    struct pug_image_range range;
    assert_false(pug_image_range(image, 3, &range));
    pug_tree_free(tree);
    pug_image_free(image);
}

static void test_elf(void **state)
{
    struct fixture *f = *state;
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
    assert_int_equal(make_tree(f, image, false, &tree), PUG_OK);
    struct pug_image_range range;
    if (!strstr(pug_features(), "elf")) { /* built without ELF */
        assert_false(pug_image_range(image, 0, &range));
    } else {
        assert_true(pug_image_range(image, 0, &range));
        assert_true(range.start >= 0x10000000000);
        assert_true(range.place.has_vmid && range.place.vmid == 3);
    }
    pug_tree_free(tree);
    pug_image_free(image);
}

/* ---- trace files ---- */

static void test_trace_files(void **state)
{
    struct fixture *f = *state;
    struct pug_trace *trace = NULL;
    enum pug_status status;
    char bytes[16] = "";
    assert_int_equal(OPEN(f, {"snapshot.ini", HEAD "[device_list]\n[trace]\nmetadata=trace.ini\n"},
                          {"a", "abc"}, {"b", ""}, {"c", "defg"},
                          {"trace.ini", "[trace_buffers]\nbuffers=x,y\n[x]\nname=x\nfile=a, b,c\n"
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
    assert_int_equal(open_with(f, reference), PUG_OK);
    buffer = pug_snapshot_buffer(f->snapshot, "x");
    assert_int_equal(pug_trace_open(f->snapshot, buffer, &trace), PUG_ERR_FILE);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_grammar),
        TEST(test_reference_grammar),
        TEST(test_device_list_again),
        TEST(test_verbose),
        TEST(test_not_there),
        TEST(test_main_errors),
        TEST(test_device_errors),
        TEST(test_trace_errors),
        TEST(test_same_devices),
        TEST(test_warnings),
        TEST(test_no_trace),
        TEST(test_registers),
        TEST(test_clusters),
        TEST(test_limits),
        TEST(test_associations),
        TEST(test_streams),
        TEST(test_data_stream),
        TEST(test_no_source_buffers),
        TEST(test_tree_errors),
        TEST(test_unused_registers),
        TEST(test_core_types),
        TEST(test_overrides),
        TEST(test_no_association),
        TEST(test_source_types),
        TEST(test_itm_register),
        TEST(test_bad_register),
        TEST(test_same_id),
        TEST(test_other_protocols),
        TEST(test_own_description),
        TEST(test_memory),
        TEST(test_dumps),
        TEST(test_memory_space),
        TEST(test_memory_of_two_cores),
        TEST(test_elf),
        TEST(test_trace_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
