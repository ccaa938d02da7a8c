// SPDX-License-Identifier: MIT
/** @file Snapshots: the grammar of their files, every error, and what becomes of the devices. */
#include "listing/listing.h"
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

#define MAIN_INI                                                                                   \
    {                                                                                              \
        "snapshot.ini", "[device_list]\na=device.ini\n[trace]\nmetadata=trace.ini\n"               \
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
                              "[clusters]\nno equals sign\n"
                              "[device_list]\nx=device.ini\nx=gone.ini\n"
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
             {"trace.ini", "[b2]\nname=ignored, not yet in the list\n"
                           "[trace_buffers]\nbuffers=b1, b2\n"
                           "[b2]\nname=second\nfile=2.bin\n"
                           "[b1]\nname=first\nfile=1.bin\nformat=source_data\nother=0x10\nw=x\n"});
    assert_int_equal(status, PUG_OK);
    assert_string_equal(said(f),
                        "snapshot_reader : 0x0025 (OCSD_ERR_TEST_SNAPSHOT_READ) [test snapshot "
                        "reader error]; Failed to open device file : /gone.ini\n");
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
    write_file(f, "snapshot.ini", "[device_list]\nd=device.ini\n[trace]\nmetadata=trace.ini\n");
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
    assert_int_equal(OPEN(f,
                          {"snapshot.ini", "[device_list]\na=1\nb=2\n[device_list]\na=3\n"
                                           "[trace]\nmetadata=t\n"},
                          {"1", "[device]\nname=one\n"}, {"2", "[device]\nname=two\ntype=x\n"},
                          {"3", "[device]\nname=two\ntype=y\n"}, {"t", ""}),
                     PUG_OK);
    assert_string_equal(pug_snapshot_device_at(f->snapshot, 0)->type, "x"); /* the later one wins */
    assert_null(pug_snapshot_device_at(f->snapshot, 1));
}

static void test_verbose(void **state)
{
    struct fixture *f = *state;
    write_file(f, "snapshot.ini", "[snapshot]\n[device_list]\nd=device.ini\n[x]\n");
    write_file(f, "device.ini", "[device]\n[y]\n");
    assert_int_equal(open_with(f, (struct pug_snapshot_options){.verbose = true}), PUG_OK);
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
    assert_int_equal(OPEN(f, {"snapshot.ini", "[device_list]\na=\n[trace]\nmetadata=none.ini\n"}),
                     PUG_OK);
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
                         PUG_ERR_TEST_SNAPSHOT_PARSE);
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
    write_file(f, "snapshot.ini", "[device_list]\na=device.ini\n");
    CHECK_ERRORS(f, "device.ini", cases);
    write_file(f, "device.ini", "[dump]\naddress=0\nfile=x\ncontext_id=1\n");
    assert_int_equal(open_with(f, reference), PUG_ERR_TEST_SNAPSHOT_PARSE);
    assert_string_equal(said(f),
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
        {"[source_buffers]\nx\n", "2: Couldn't parse 'x' as key=value"},
    };
    struct fixture *f = *state;
    write_file(f, "snapshot.ini", "[trace]\nmetadata=trace.ini\n");
    CHECK_ERRORS(f, "trace.ini", cases);
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
        OPEN(f, {"snapshot.ini", "[device_list]\na=device.ini\n"}, {"device.ini", text}),
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

#define TWO_BUFFERS "[trace_buffers]\nbuffers=a,b\n[a]\nname=A\nfile=a\n[b]\nname=B\nfile=b\n"

static void test_associations(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(
        OPEN(f,
             {"snapshot.ini", "[device_list]\na=stm\nb=etm\nc=cpu\n[trace]\nmetadata=trace.ini\n"},
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
    assert_int_equal(OPEN(f, {"snapshot.ini", "[device_list]\na=e\nb=c\n[trace]\nmetadata=t\n"},
                          {"e", "[device]\nname=E\ntype=ETM4\n[regs]\nTRCCONFIGR=0\n"
                                "TRCTRACEIDR=1\nTRCIDR0=0\nTRCIDR2=0\nTRCIDR8=0\n"},
                          {"c", "[device]\nname=C\ntype=Cortex-A53\n"},
                          {"t", "[trace_buffers]\nbuffers=b\n[b]\nname=B\nfile=f\n"
                                "[source_buffers]\nE=B\n[core_trace_sources]\nC=E\n"}),
                     PUG_OK);
    assert_int_equal(make_tree(f, NULL, false, &tree), PUG_OK);
    assert_string_equal(said(f),
                        "ss2_dcdtree : Warning: Default set for register. Missing TRCIDR1 in e\n");
    pug_tree_free(tree);
}

/** Sources of one buffer with the same trace id: the second is left out. */
static void test_same_id(void **state)
{
    struct fixture *f = *state;
    struct pug_tree *tree = NULL;
    assert_int_equal(OPEN(f, {"snapshot.ini", "[device_list]\na=1\nb=2\n[trace]\nmetadata=t\n"},
                          {"1", "[device]\nname=S1\ntype=STM\n[regs]\nSTMTCSR=0x00100000\n"},
                          {"2", "[device]\nname=S2\ntype=STM\n[regs]\nSTMTCSR=0x1FF100000\n"},
                          {"t", TWO_BUFFERS "[source_buffers]\nS1=A\nS2=A\n"}),
                     PUG_OK);
    assert_int_equal(make_tree(f, NULL, true, &tree), PUG_OK);
    assert_non_null(pug_tree_source(tree, 0x10));
    assert_null(pug_tree_source_at(tree, 1));
    assert_string_equal(said(f),
                        "ss2_dcdtree : 0x000a (OCSD_ERR_ATTACH_TOO_MANY) [Cannot attach - attach "
                        "device limit reached.]; Snapshot processor : failed to create STM decoder "
                        "on decode tree." TO_DECODER
                        "Failed to create decoder for none core source S2.\n");
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
    write_file(f, "snapshot.ini", "[device_list]\na=e\nb=c\n[trace]\nmetadata=t\n");
    write_file(f, "e",
               "[device]\nname=E\ntype=ETM3.5\n[regs]\nETMIDR=0x410CF250\nETMCR=0\n"
               "ETMCCER=0\nETMTRACEIDR=0x10\n");
    write_file(f, "t",
               "[trace_buffers]\nbuffers=b\n[b]\nname=B\nfile=f\n[source_buffers]\nE=B\n"
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
    assert_int_equal(OPEN(f, {"snapshot.ini", "[device_list]\na=1\nb=2\n[trace]\nmetadata=t\n"},
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
    if (strstr(said(f), "0x0009")) { /* built without ELF */
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
    assert_int_equal(OPEN(f, {"snapshot.ini", "[trace]\nmetadata=trace.ini\n"}, {"a", "abc"},
                          {"b", ""}, {"c", "defg"},
                          {"trace.ini", "[trace_buffers]\nbuffers=x,y\n[x]\nname=x\nfile=a, b,c\n"
                                        "[y]\nname=y\nfile=\n"}),
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
        TEST(test_limits),
        TEST(test_associations),
        TEST(test_no_source_buffers),
        TEST(test_tree_errors),
        TEST(test_unused_registers),
        TEST(test_same_id),
        TEST(test_other_protocols),
        TEST(test_memory),
        TEST(test_memory_of_two_cores),
        TEST(test_elf),
        TEST(test_trace_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
