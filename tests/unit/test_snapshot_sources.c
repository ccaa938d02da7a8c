// SPDX-License-Identifier: MIT
/** @file Snapshots: which sources write into a buffer, whose they are, and their streams. */
#include "pugmark/author/protocol.h"
#include "pugmark/pugmark.h"
#include "support/snapshot_folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_associations(void **state)
{
    struct snapshot_folder *f = *state;
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
    snapshot_expect_source(f, "A", 0, "ETM_1", "other", NULL);
    snapshot_expect_source(f, "A", 1, "ETM_10", NULL, NULL);
    snapshot_expect_source(f, "A", 2, "ETM_2", "cpu", "ETMV4I");
    snapshot_expect_source(f, "A", 3, "STM", NULL, "STM");
    snapshot_expect_source(f, "A", 4, NULL, NULL, NULL);
    snapshot_expect_source(f, "B", 0, "ETM_1", "other", NULL);
    snapshot_expect_source(f, "B", 1, NULL, NULL, NULL);
    assert_int_equal(snapshot_open(f, &reference),
                     PUG_OK); /* values and names as they are written */
    snapshot_expect_source(f, "A", 0, "ETM_10", NULL, NULL);
    snapshot_expect_source(f, "A", 1, "ETM_2(stream:0)", NULL, NULL);
    snapshot_expect_source(f, "A", 2, "STM", NULL, "STM");
    snapshot_expect_source(f, "B", 0, "ETM_2", NULL, NULL);
}

/** A value is one name, or several: each buffer is meant once. */
static void test_names_of_buffers(void **state)
{
    struct snapshot_folder *f = *state;
    assert_int_equal(
        OPEN(f, {"snapshot.ini", HEAD "[device_list]\n[trace]\nmetadata=t\n"},
             {"t", "[trace_buffers]\nbuffers=a,b,c\n[a]\nname=x,y\nfile=f\nformat=coresight\n"
                   "[b]\nname=z\nfile=f\nformat=coresight\n[c]\nname=y\nfile=f\n"
                   "format=coresight\n[source_buffers]\n1=x,y\n2=z , z\n3=y,\tz ,x\n4=zz\n5=, z\n"
                   "[core_trace_sources]\ncore=3\nother=3\n"}),
        PUG_OK);
    snapshot_expect_source(f, "x,y", 0, "1", NULL, NULL);
    snapshot_expect_source(f, "x,y", 1, NULL, NULL, NULL);
    snapshot_expect_source(f, "z", 0, "2", NULL, NULL);
    snapshot_expect_source(f, "z", 1, "3", "other", NULL);
    snapshot_expect_source(f, "z", 2, "5", NULL, NULL);
    snapshot_expect_source(f, "z", 3, NULL, NULL, NULL);
    snapshot_expect_source(f, "y", 0, "3", "other", NULL);
    snapshot_expect_source(f, "y", 1, NULL, NULL, NULL);
}

static void assert_stream(struct snapshot_folder *f, const char *buffer, size_t n, const char *name,
                          unsigned stream)
{
    struct pug_snapshot_source source;
    assert_true(
        pug_snapshot_source_at(f->snapshot, pug_snapshot_buffer(f->snapshot, buffer), n, &source));
    assert_string_equal(source.name, name);
    assert_int_equal(source.stream, stream);
    assert_string_equal(source.protocol, stream == 0 ? "ETMV4I" : "ETMV4D");
}

/** A source's streams can be in buffers of their own; those that are not are where it is. */
static void test_streams(void **state)
{
    struct snapshot_folder *f = *state;
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
    snapshot_expect_source(f, "A", 1, "E(stream:x)", NULL, NULL);
    snapshot_expect_source(f, "B", 1, NULL, NULL, NULL);
    snapshot_said(f);
    assert_int_equal(pug_snapshot_tree(f->snapshot, pug_snapshot_buffer(f->snapshot, "B"),
                                       &(struct pug_snapshot_tree_config){.decode = true}, &tree),
                     PUG_OK);
    assert_string_equal(snapshot_said(f), "");
    const struct pug_source *source = pug_tree_source_at(tree, 0);
    assert_string_equal(pug_protocol_name(pug_source_protocol(source)), "ETMV4D");
    assert_int_equal(pug_source_id(source), 0x11); /* the unit's, and one */
    pug_tree_free(tree);
    assert_int_equal(OPEN(f, {"t", TWO_BUFFERS "[source_buffers]\nE(stream:1)=B\nE=A\n"}), PUG_OK);
    assert_stream(f, "A", 0, "E", 0); /* for stream 0 no other file says more than for E */
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

/** With a registered protocol of the data stream, its decoder gets the stream. */
static void test_data_stream(void **state)
{
    struct snapshot_folder *f = *state;
    struct pug_tree *tree = NULL;
    const struct pug_description description = {
        .types = (const struct pug_device_type[]){{"ETM", 4, NULL, 1}, {0}},
        .registers = (const struct pug_register[]){{.name = "TRCTRACEIDR"}, {0}}};
    struct pug_protocol data = *pug_protocol_find("STM");
    data.abi = PUG_AUTHOR_ABI;
    data.name = "DATA4"; /* goes before the one that is built in */
    data.description = &description;
    data.config_new = data_config;
    assert_int_equal(
        OPEN(f, {"snapshot.ini", HEAD "[device_list]\na=1\n[trace]\nmetadata=t\n"},
             {"1", "[device]\nname=E\ntype=ETM4.2\n[regs]\nTRCTRACEIDR=0x10\nSTMTCSR=0x110000\n"},
             {"t", TWO_BUFFERS "[source_buffers]\nE(stream:0)=A\nE(stream:1)=B\n"}),
        PUG_OK);
    const struct pug_snapshot_buffer *buffer = pug_snapshot_buffer(f->snapshot, "B");
    const struct pug_snapshot_tree_config config = {.decode = true};
    assert_int_equal(pug_snapshot_tree(f->snapshot, buffer, &config, &tree), PUG_OK);
    assert_string_equal(pug_protocol_name(pug_source_protocol(pug_tree_source_at(tree, 0))),
                        "ETMV4D");
    pug_tree_free(tree);
    assert_int_equal(pug_protocol_register(&data), PUG_OK);
    assert_int_equal(pug_snapshot_tree(f->snapshot, buffer, &config, &tree), PUG_OK);
    assert_string_equal(pug_protocol_name(pug_source_protocol(pug_tree_source_at(tree, 0))),
                        "DATA4");
    assert_int_equal(told_stream, 1);
    assert_int_equal(told_id, 0x10);
    pug_tree_free(tree);
    assert_int_equal(pug_protocol_unregister("DATA4"), PUG_OK);
}

/** One buffer, without a statement of its sources. */
static void test_no_source_buffers(void **state)
{
    struct snapshot_folder *f = *state;
    assert_int_equal(OPEN(f, MAIN_INI, {"device.ini", "[device]\nname=X\ntype=ITM\n"},
                          {"trace.ini", "[trace_buffers]\nbuffers=a\n[a]\nname=A\nfile=a\n"}),
                     PUG_OK);
    snapshot_expect_source(f, "A", 0, "X", NULL, "ITM");
    snapshot_expect_source(f, "A", 1, NULL, NULL, NULL);
    assert_int_equal(snapshot_open(f, &reference), PUG_OK);
    snapshot_expect_source(f, "A", 0, NULL, NULL, NULL);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, snapshot_setup, snapshot_teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_associations), TEST(test_names_of_buffers),  TEST(test_streams),
        TEST(test_data_stream),  TEST(test_no_source_buffers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
