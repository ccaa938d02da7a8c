// SPDX-License-Identifier: MIT
/** @file Snapshots: the trees that their devices become. */
#include "pugmark/author/protocol.h"
#include "pugmark/author/transport.h"
#include "pugmark/pugmark.h"
#include "support/snapshot_folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

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
    struct snapshot_folder *f = *state;
    snapshot_write(f, "snapshot.ini", "[device_list]\na=e\nb=c\n[trace]\nmetadata=t\n");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[1024];
        struct pug_tree *tree = NULL;
        snprintf(text, sizeof(text), "[device]\nname=E\n%s\n", cases[i].source);
        snapshot_write(f, "e", text);
        snprintf(text, sizeof(text), "[device]\nname=C\n%s\n", cases[i].core);
        snapshot_write(f, "c", text);
        snprintf(text, sizeof(text), "[trace_buffers]\nbuffers=b\n[b]\nname=B\nfile=f\n%s",
                 cases[i].trace);
        snapshot_write(f, "t", text);
        assert_int_equal(snapshot_open(f, &reference), PUG_OK);
        assert_int_equal(snapshot_make_tree(f, NULL, true, &tree), PUG_ERR_NO_SOURCE);
        assert_string_equal(snapshot_said(f), cases[i].said);
    }
}

/** Registers on which nothing depends are not missed. */
static void test_unused_registers(void **state)
{
    struct snapshot_folder *f = *state;
    struct pug_tree *tree = NULL;
    assert_int_equal(
        OPEN(f, {"snapshot.ini", HEAD "[device_list]\na=e\nb=c\n[trace]\nmetadata=t\n"},
             {"e", "[device]\nname=E\ntype=ETM4\n[regs]\nTRCCONFIGR=0\n"
                   "TRCTRACEIDR=1\nTRCIDR0=0\nTRCIDR2=0\nTRCIDR8=0\n"},
             {"c", "[device]\nname=C\ntype=Cortex-A53\n"},
             {"t", "[trace_buffers]\nbuffers=b\n[b]\nname=B\nfile=f\nformat=coresight\n"
                   "[source_buffers]\nE=B\n[core_trace_sources]\nC=E\n"}),
        PUG_OK);
    assert_int_equal(snapshot_make_tree(f, NULL, false, &tree), PUG_OK);
    assert_string_equal(snapshot_said(f),
                        "ss2_dcdtree : e: register TRCIDR1 is missing: taken for 0x4100f403\n");
    pug_tree_free(tree);
}

/** Architecture and profile that the tree's source has, as its configuration says. */
static void assert_core(struct snapshot_folder *f, struct pug_settings overrides,
                        const char *wanted, const char *message)
{
    struct pug_tree *tree = NULL;
    char text[1024];
    snapshot_said(f);
    assert_int_equal(
        pug_snapshot_tree(f->snapshot, pug_snapshot_buffer_at(f->snapshot, 0),
                          &(struct pug_snapshot_tree_config){.sources = overrides, .log = f->log},
                          &tree),
        PUG_OK);
    assert_string_equal(snapshot_said(f), message);
    struct pug_source *source = pug_tree_source_at(tree, 0);
    pug_source_protocol(source)->config_text(pug_source_config(source), text, sizeof(text));
    if (!strstr(text, wanted))
        fail_msg("no '%s' in:\n%s", wanted, text);
    pug_tree_free(tree);
}

/** A core's type is optional, in any case, a product or an architecture; unknown is no error. */
static void test_core_types(void **state)
{
    static const struct {
        const char *core, *wanted, *message;
    } cases[] = {
        {"class=core\ntype=cortex-a53\n", "architecture 0x800, profile A", ""},
        {"class=core\ntype=Cortex-M33\n", "architecture 0x800, profile M", ""},
        {"class=core\ntype=armv8-a\n", "architecture 0x800, profile A", ""},
        {"class=core\ntype=Cortex-Z1\n", "architecture 0x864, profile unknown",
         "ss2_dcdtree : Core type Cortex-Z1 in c is not known: taken for an AArch64 core\n"},
        {"class=core\n", "architecture 0x864, profile unknown",
         "ss2_dcdtree : No type of core C in c: taken for an AArch64 core\n"},
    };
    struct snapshot_folder *f = *state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(snapshot_open_etm(f, "ETM4.0", cases[i].core, TRACES_C), PUG_OK);
        assert_core(f, (struct pug_settings){0}, cases[i].wanted, cases[i].message);
    }
}

/** What the caller says goes before the snapshot: of all sources, and of one. */
static void test_overrides(void **state)
{
    struct snapshot_folder *f = *state;
    static const struct pug_setting items[] = {{"core", 0, "cortex-m7"},
                                               {"F:TRCTRACEIDR", 0x12, NULL},
                                               {"E:TRCTRACEIDR", 0x13, NULL},
                                               {"TRCTRACEIDR", 0x14, NULL}};
    static const struct pug_setting unknown[] = {{"core", 0, "x86"}, {"arch", 0x700, NULL}};
    assert_int_equal(snapshot_open_etm(f, "ETM4.0", "type=Cortex-A53\n", TRACES_C), PUG_OK);
    assert_core(f, (struct pug_settings){.items = items, .count = 1},
                "architecture 0x700, profile M", "");
    assert_core(f, (struct pug_settings){.items = items, .count = 4}, "trace id: 0x13", "");
    assert_core(f, (struct pug_settings){.items = unknown, .count = 2},
                "architecture 0x700, profile unknown",
                "ETMV4I : Core 'x86' is not known: architecture 0x700, profile unknown.");
}

/** A source without a statement of its core, and a core without trace. */
static void test_no_association(void **state)
{
    struct snapshot_folder *f = *state;
    assert_int_equal(snapshot_open_etm(f, "ETM4.0", "class=core\ntype=Cortex-M7\n", ""), PUG_OK);
    assert_core(f, (struct pug_settings){0}, "architecture 0x700, profile M",
                "ss2_dcdtree : Nothing says which core E traces: it is C, of which there is no "
                "other trace\n");
    snapshot_expect_source(f, "A", 0, "E", "C", "ETMV4I");
    assert_int_equal(snapshot_open_etm(f, "ETM4.0", "class=bridge\n", ""), PUG_OK);
    assert_core(f, (struct pug_settings){0}, "architecture 0x864, profile unknown",
                "ss2_dcdtree : Nothing says which core E traces: taken for an AArch64 core\n");
    snapshot_expect_source(f, "A", 0, "E", NULL, "ETMV4I");
    assert_int_equal(snapshot_open_etm(f, "ITM", "class=core\ntype=Cortex-M3\n", TRACES_C), PUG_OK);
    snapshot_expect_source(f, "A", 0, "E", "C", "ITM"); /* an M core's ITM is its own */
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
    struct snapshot_folder *f = *state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(snapshot_open_etm(f, cases[i].type, "type=Cortex-A53\n", TRACES_C),
                         PUG_OK);
        snapshot_expect_source(f, "A", 0, "E", "C", cases[i].protocol);
        assert_int_equal(snapshot_open(f, &reference), PUG_OK);
        snapshot_expect_source(f, "A", 0, "E", "C", cases[i].reference);
    }
}

/** An ITM's control register has two names; its id is in bits 22:16. */
static void test_itm_register(void **state)
{
    static const char *const names[] = {"CONTROL_REGISTER", "ITMTCR"};
    struct snapshot_folder *f = *state;
    for (size_t i = 0; i < 2; i++) {
        struct pug_tree *tree = NULL;
        char device[128];
        snprintf(device, sizeof(device), "[device]\nname=I\ntype=ITM1.0\n[regs]\n%s=0x00230001\n",
                 names[i]);
        assert_int_equal(
            OPEN(f, MAIN_INI, {"device.ini", device},
                 {"trace.ini", "[trace_buffers]\nbuffers=a\n" BUFFER_A "[source_buffers]\nI=A\n"}),
            PUG_OK);
        assert_int_equal(snapshot_make_tree(f, NULL, false, &tree), PUG_OK);
        assert_non_null(pug_tree_source(tree, 0x23));
        pug_tree_free(tree);
    }
}

/**
 * A register that is no number, or none of its size, is an error; to the reference it is 0, or cut.
 */
static void test_bad_register(void **state)
{
    static const char *const bad[][2] = {
        {"STMTCSR=on", "STMTCSR is no number: 'on'"},
        {"STMTCSR=0x1FF100000", "STMTCSR has more bits than the register: '0x1FF100000'"},
        {"STMTCSR(size:16)=0x10000", "STMTCSR has more bits than the register: '0x10000'"},
    };
    struct snapshot_folder *f = *state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct pug_tree *tree = NULL;
        char device[128], said[256];
        snprintf(device, sizeof(device), "[device]\nname=S\ntype=STM\n[regs]\n%s\n", bad[i][0]);
        snprintf(said, sizeof(said),
                 "ss2_dcdtree : device.ini: %s\nss2_dcdtree : source S is left out\n", bad[i][1]);
        assert_int_equal(
            OPEN(f, MAIN_INI, {"device.ini", device},
                 {"trace.ini", "[trace_buffers]\nbuffers=a\n" BUFFER_A "[source_buffers]\nS=A\n"}),
            PUG_OK);
        assert_int_equal(snapshot_make_tree(f, NULL, false, &tree), PUG_ERR_NO_SOURCE);
        assert_string_equal(snapshot_said(f), said);
        assert_int_equal(snapshot_open(f, &reference), PUG_OK);
        assert_int_equal(snapshot_make_tree(f, NULL, true, &tree), PUG_OK);
        snapshot_said(f);
        pug_tree_free(tree);
    }
}

/**
 * The format's document names ETMv4's TRCCONFIGR without its first C: a snapshot to the letter has
 * that.
 */
static void test_spelling_of_the_format(void **state)
{
    struct snapshot_folder *f = *state;
    struct pug_tree *tree = NULL;
    assert_int_equal(
        OPEN(f, {"snapshot.ini", HEAD "[device_list]\na=e\nb=c\n[trace]\nmetadata=t\n"},
             {"e", "[device]\nname=E\ntype=ETM4\n[regs]\nTRCONFIGR=0x10\nTRCTRACEIDR=1\n"
                   "TRCIDR0=0x8000ea1\nTRCIDR1=0x4100f422\nTRCIDR2=0x20001088\nTRCIDR8=0\n"},
             {"c", "[device]\nname=C\ntype=Cortex-A53\n"},
             {"t", "[trace_buffers]\nbuffers=a\n" BUFFER_A "[source_buffers]\nE=A\n" TRACES_C}),
        PUG_OK);
    assert_int_equal(snapshot_make_tree(f, NULL, false, &tree), PUG_OK);
    assert_string_equal(snapshot_said(f), "");
    pug_tree_free(tree);
}

/** Sources of one buffer with the same trace id: the second is left out. */
static void test_same_id(void **state)
{
    struct snapshot_folder *f = *state;
    struct pug_tree *tree = NULL;
    assert_int_equal(OPEN(f,
                          {"snapshot.ini", HEAD "[device_list]\na=1\nb=2\n[trace]\nmetadata=t\n"},
                          {"1", "[device]\nname=S1\ntype=STM\n[regs]\nSTMTCSR=0x00100000\n"},
                          {"2", "[device]\nname=S2\ntype=STM\n[regs]\nSTMTCSR=0xFF100000\n"},
                          {"t", TWO_BUFFERS "[source_buffers]\nS1=A\nS2=A\n"}),
                     PUG_OK);
    snapshot_said(f);
    assert_int_equal(snapshot_make_tree(f, NULL, true, &tree), PUG_OK);
    assert_non_null(pug_tree_source(tree, 0x10));
    assert_null(pug_tree_source_at(tree, 1));
    assert_string_equal(snapshot_said(f),
                        "ss2_dcdtree : 0x000a (OCSD_ERR_ATTACH_TOO_MANY) [Cannot attach - attach "
                        "device limit reached.]; source S2, STM\n"
                        "ss2_dcdtree : source S2 is left out\n");
    pug_tree_free(tree);
}

/** A device's type and a buffer's format may name what the Arm format does not know. */
static void test_other_protocols(void **state)
{
    struct snapshot_folder *f = *state;
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
    assert_int_equal(snapshot_make_tree(f, image, false, &tree), PUG_OK);
    assert_string_equal(pug_tree_transport(tree)->name, "plain");
    assert_string_equal(pug_source_protocol(pug_tree_source_at(tree, 0))->name, "N-Trace");
    struct pug_image_range range;
    assert_true(pug_image_range(image, 0, &range));
    assert_int_equal(range.start, 0x80000000);
    pug_tree_free(tree);
    pug_image_free(image);
    assert_int_equal(snapshot_open(f, &reference), PUG_OK);
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

/**
 * A protocol from outside says itself what its devices are called and which registers they have.
 */
static void test_own_description(void **state)
{
    struct snapshot_folder *f = *state;
    struct pug_tree *tree = NULL;
    struct pug_protocol own = *pug_protocol_find("STM");
    own.abi = PUG_AUTHOR_ABI;
    own.name = "Own";
    own.description = &own_description;
    assert_int_equal(snapshot_open_etm(f, "OwnTrace2.1", "type=Cortex-A53\n", TRACES_C), PUG_OK);
    snapshot_expect_source(f, "A", 0, "E", "C", NULL); /* not known yet */
    assert_int_equal(pug_protocol_register(&own), PUG_OK);
    snapshot_expect_source(f, "A", 0, "E", "C", "Own");
    assert_int_equal(snapshot_make_tree(f, NULL, false, &tree), PUG_ERR_NO_SOURCE);
    assert_non_null(strstr(snapshot_said(f), "e: register STMTCSR is missing"));

    assert_int_equal(snapshot_open_etm(f, "OwnTrace1", "type=Cortex-A53\n", TRACES_C), PUG_OK);
    snapshot_expect_source(f, "A", 0, "E", "C", NULL); /* another version */
    assert_int_equal(snapshot_open_etm(f, "OWN.1", "type=Cortex-A53\n", TRACES_C), PUG_OK);
    assert_int_equal(snapshot_open(f, &reference), PUG_OK);
    snapshot_expect_source(f, "A", 0, "E", "C", "Own");

    assert_int_equal(snapshot_open_etm(f, "OwnTrace2", "type=Cortex-Z9\n[regs]\n", TRACES_C),
                     PUG_OK);
    snapshot_write(f, "e", "[device]\nname=E\ntype=OwnTrace2\n[regs]\nOWNCR=0x00230001\n");
    assert_int_equal(snapshot_open(f, &(struct pug_snapshot_options){0}), PUG_OK);
    snapshot_said(f);
    assert_int_equal(snapshot_make_tree(f, NULL, false, &tree), PUG_OK);
    assert_string_equal(snapshot_said(f),
                        "ss2_dcdtree : e: register LEVEL is missing: taken for 0x7\n"
                        "ss2_dcdtree : Core type Cortex-Z9 in c is not known: taken for ARMv7\n");
    assert_non_null(pug_tree_source(tree, 0x23));
    pug_tree_free(tree);
    assert_int_equal(pug_protocol_unregister("Own"), PUG_OK);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, snapshot_setup, snapshot_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_tree_errors),     TEST(test_unused_registers),       TEST(test_core_types),
        TEST(test_overrides),       TEST(test_no_association),         TEST(test_source_types),
        TEST(test_itm_register),    TEST(test_bad_register),           TEST(test_same_id),
        TEST(test_other_protocols), TEST(test_spelling_of_the_format), TEST(test_own_description),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
