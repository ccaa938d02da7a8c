// SPDX-License-Identifier: MIT
/** @file ITM: round trips, any split, any WAIT, damage, time, and what the quirks do. */
#include "pugmark/advanced/packet/itm.h"
#include "pugmark/author/protocol.h"
#include "pugmark/pugmark.h"
#include "recorder/frames.h"
#include "recorder/itm.h"
#include "support/state_check.h"
#include "support/stream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct pug_setting setting = {.name = "ITMTCR", .value = 0x00140011};

static struct stream_run run_itm(struct stream_lines *lines, const struct rec_bytes *bytes)
{
    return (struct stream_run){
        .protocol = "ITM",
        .settings = {.items = &setting, .count = 1},
        .bytes = bytes->data,
        .size = bytes->size,
        .lines = lines,
        .longest = 16,
    };
}

/* ---- making packets ---- */

static struct pug_itm_packet any_packet(struct rec_random *random)
{
    static const uint8_t types[] = {
        PUG_ITM_PKT_ASYNC,    PUG_ITM_PKT_OVERFLOW, PUG_ITM_PKT_SWIT, PUG_ITM_PKT_DWT,
        PUG_ITM_PKT_TS_LOCAL, PUG_ITM_PKT_GTS1,     PUG_ITM_PKT_GTS2, PUG_ITM_PKT_EXTENSION,
    };
    static const uint8_t sizes[] = {1, 2, 4};
    static const uint8_t top_bits[] = {2, 9, 16, 23, 31};
    uint64_t value = rec_random(random);
    struct pug_itm_packet p = {.type = types[rec_random_below(random, sizeof(types))],
                               .error_type = PUG_ITM_PKT_NO_ERR_TYPE};
    unsigned bits = 0;
    switch (p.type) {
    case PUG_ITM_PKT_SWIT:
    case PUG_ITM_PKT_DWT:
        p.source = value >> 40 & 0x1f;
        p.size = sizes[(value >> 48) % 3];
        bits = 8u * p.size;
        break;
    case PUG_ITM_PKT_TS_LOCAL:
        p.source = value >> 40 & 3;
        p.size = (uint8_t)(1 + (value >> 48) % 4);
        bits = 7u * p.size;
        break;
    case PUG_ITM_PKT_GTS1:
        p.size = (uint8_t)(1 + (value >> 48) % 4);
        p.source = p.size == 4 ? value >> 40 & 3 : 0;
        bits = p.size == 4 ? 26 : 7u * p.size;
        break;
    case PUG_ITM_PKT_GTS2:
        p.size = (uint8_t)(1 + (value >> 48) % 5);
        p.value_top = p.size == 5 ? (uint8_t)(value >> 32) : 0;
        bits = p.size == 5 ? 32 : 7u * p.size;
        break;
    case PUG_ITM_PKT_EXTENSION:
        p.source = top_bits[(value >> 48) % 5];
        p.size = 4;
        bits = p.source + 1u;
        p.source |= value >> 40 & 1 ? PUG_ITM_EXTENSION_HARDWARE : 0;
        break;
    default: break;
    }
    if (bits)
        p.value = (uint32_t)(value & ((UINT64_C(1) << bits) - 1));
    return p;
}

static struct rec_bytes any_stream(uint64_t seed, unsigned packets)
{
    struct rec_random random = {seed};
    struct rec_bytes bytes = {0};
    for (uint32_t i = rec_random_below(&random, 30); i > 0; i--)
        rec_put(&bytes, (uint8_t)(rec_random_once_in(&random, 3) ? 0 : rec_random(&random)));
    rec_itm_async(&bytes);
    while (packets-- > 0) {
        struct pug_itm_packet p = any_packet(&random);
        rec_itm_put(&bytes, &p);
    }
    return bytes;
}

/* ---- round trip ---- */

struct expected {
    struct pug_itm_packet packets[500];
    size_t count, at;
};

static enum pug_response on_packet(void *context, enum pug_op op, const struct pug_packet *packet)
{
    struct expected *expected = context;
    if (op != PUG_OP_DATA)
        return PUG_RESP_CONT;
    assert_true(expected->at < expected->count);
    char a[256], b[256];
    const struct pug_itm_packet *want = &expected->packets[expected->at++], *got = packet->data;
    pug_protocol_find("ITM")->packet_text(want, a, sizeof(a));
    pug_protocol_find("ITM")->packet_text(got, b, sizeof(b));
    assert_string_equal(a, b);
    assert_int_equal(want->type, got->type);
    assert_int_equal(want->source, got->source);
    assert_int_equal(want->size, got->size);
    assert_int_equal(want->value, got->value);
    assert_int_equal(want->value_top, got->value_top);
    return PUG_RESP_CONT;
}

static void round_trip(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct rec_bytes bytes = {0};
        struct rec_random random = {seed};
        struct expected expected = {.packets[0] = {.type = PUG_ITM_PKT_ASYNC}, .count = 1};
        rec_itm_async(&bytes);
        while (expected.count < 500) {
            struct pug_itm_packet p = any_packet(&random);
            rec_itm_put(&bytes, &p);
            expected.packets[expected.count++] = p;
        }
        struct stream_lines lines = {0};
        struct stream_run run = run_itm(&lines, &bytes);
        run.sink = on_packet;
        run.sink_context = &expected;
        stream_run(&run);
        assert_int_equal(expected.at, expected.count);
        stream_lines_free(&lines);
        rec_bytes_free(&bytes);
    }
}

/* ---- properties ---- */

static void any_split_any_wait_any_damage(void **state)
{
    (void)state;
    struct stream_run run = {
        .protocol = "ITM", .settings = {.items = &setting, .count = 1}, .longest = 16};
    stream_check_properties(&run, any_stream);
}

/* ---- quirks, and what is right ---- */

#define SYNC 0, 0, 0, 0, 0, 0x80

struct stream {
    const uint8_t *bytes;
    size_t size;
    uint32_t tcr;
    bool assume_sync;
};

#define STREAM(...)                                                                                \
    ((struct stream){.bytes = (const uint8_t[]){__VA_ARGS__},                                      \
                     .size = sizeof((const uint8_t[]){__VA_ARGS__}),                               \
                     .tcr = 0x00140011})

static void run_stream(struct stream stream, struct stream_run run, struct stream_lines *lines)
{
    const struct pug_setting items[] = {{.name = "ITMTCR", .value = stream.tcr},
                                        {.name = "assume_sync", .value = stream.assume_sync}};
    run.protocol = "ITM";
    run.settings = (struct pug_settings){.items = items, .count = 2};
    run.bytes = stream.bytes;
    run.size = stream.size;
    run.each_packet = true;
    run.lines = lines;
    stream_run(&run);
}

static void assert_lines(struct stream stream, struct stream_run run, const char *const *wanted)
{
    struct stream_lines lines = {0};
    run_stream(stream, run, &lines);
    stream_assert_lines(&lines, wanted);
    stream_lines_free(&lines);
}

static enum pug_response collect_texts(void *context, enum pug_op op,
                                       const struct pug_packet *packet)
{
    char text[256];
    char *all = context;
    if (op != PUG_OP_DATA)
        return PUG_RESP_CONT;
    pug_protocol_find("ITM")->packet_text(packet->data, text, sizeof(text));
    text[strcspn(text, ";")] = '\0';
    size_t length = strlen(all);
    length +=
        (size_t)snprintf(all + length, 4096 - length, "%llu [", (unsigned long long)packet->index);
    for (uint32_t i = 0; i < packet->raw_size; i++)
        length += (size_t)snprintf(all + length, 4096 - length, "%02x", packet->raw[i]);
    snprintf(all + length, 4096 - length, "] %s\n", text + strlen("ITM_"));
    return PUG_RESP_CONT;
}

static void assert_packets(struct stream stream, struct stream_run run, const char *wanted)
{
    struct stream_lines lines = {0};
    char all[4096] = "";
    run.sink = collect_texts;
    run.sink_context = all;
    run_stream(stream, run, &lines);
    assert_string_equal(all, wanted);
    stream_lines_free(&lines);
}

#define SYNCED "0 [000000000080] ASYNC: \n"

static void bad_packets(void **state)
{
    (void)state;
    struct stream stream = STREAM(SYNC, 0x01, 0x41, 0x04, 0x01, 0x42, SYNC, 0x01, 0x43);
    assert_lines(stream, (struct stream_run){0},
                 (const char *const[]){
                     "0 NO_SYNC( [init-decoder])",
                     "6 ITMTRACE(ITM_SWIT (ch: 0x0; Data: 0x41) )",
                     "! 8 ",
                     "9 NO_SYNC( [bad-packet])",
                     "17 ITMTRACE(ITM_SWIT (ch: 0x0; Data: 0x43) )",
                     "17 EO_TRACE( [end-of-trace])",
                     NULL,
                 });
    struct stream_run fatal = {.quirks.bad_software_packet_fatal = 1};
    assert_lines(stream, fatal,
                 (const char *const[]){
                     "0 NO_SYNC( [init-decoder])",
                     "6 ITMTRACE(ITM_SWIT (ch: 0x0; Data: 0x41) )",
                     "! 8 ",
                     NULL,
                 });
}

static void reports_of_the_search(void **state)
{
    (void)state;
    struct stream stream = STREAM(0xf0, 0, 0, 0x34, 0, 0x12, 0x33, 0x44, 0x12, 0x43, 0x55, 0x66,
                                  0x22, 0x77, 0x88, 0x99, SYNC);
    assert_packets(stream, (struct stream_run){0},
                   "0 [f0] NOTSYNC: \n"
                   "1 [000034] NOTSYNC: \n"
                   "4 [0012334412435566] NOTSYNC: \n"
                   "12 [22778899] NOTSYNC: \n"
                   "16 [000000000080] ASYNC: \n");
    struct stream_run quirk = {.quirks.itm_search_reports = 1};
    assert_packets(stream, quirk, "0 [f0] NOTSYNC: \n16 [000000000080] ASYNC: \n");
    /* The decoder gets nothing before an ASYNC at the start. */
    struct stream start = STREAM(SYNC, 0x70);
    assert_packets(start, (struct stream_run){0}, SYNCED "6 [70] OVERFLOW: \n");
    assert_packets(start, quirk, "0 [] NOTSYNC: \n" SYNCED "6 [70] OVERFLOW: \n");
}

static void reserved_timestamps(void **state)
{
    (void)state;
    struct stream stream = STREAM(SYNC, 0xa0, 0x7f);
    assert_packets(stream, (struct stream_run){0}, SYNCED "6 [a0] RESERVED: \n7 [7f] NOTSYNC: \n");
    assert_packets(stream, (struct stream_run){.quirks.itm_reserved_timestamps = 1},
                   SYNCED "6 [a07f] TS_LOCAL: 0x7f { TS Sync, Packet Delayed }\n");
}

/** A write that was cut off takes four of the ASYNC's zeros for its value. */
static void swallowed_zeros(void **state)
{
    (void)state;
    struct stream stream = STREAM(SYNC, 0x03, SYNC, 0x70);
    assert_packets(stream, (struct stream_run){0},
                   SYNCED "6 [0300000000] SWIT: {src id: 0x00}  0x00000000\n"
                          "11 [0080] ASYNC: \n13 [70] OVERFLOW: \n");
    struct stream_run quirk = {
        .quirks = {.itm_zeros_of_one_packet = 1, .bad_software_packet_fatal = 1}};
    assert_packets(stream, quirk,
                   SYNCED "6 [0300000000] SWIT: {src id: 0x00}  0x00000000\n"
                          "11 [0080] BAD_SEQUENCE: [Init type: ITM_ASYNC] \n"
                          "13 [70] OVERFLOW: \n");
}

static void long_extensions(void **state)
{
    (void)state;
    struct stream stream = STREAM(SYNC, 0x88, 0x80, 0x80, 0x80, 0x81, 0x70);
    assert_packets(stream, (struct stream_run){0},
                   SYNCED "6 [8880808081] EXTENSION: {unknown extension type, 32 bits } "
                          "0x081000000\n11 [70] OVERFLOW: \n");
    struct stream_run quirk = {
        .quirks = {.itm_extension_31_bits = 1, .bad_software_packet_fatal = 1}};
    assert_packets(stream, quirk,
                   SYNCED "6 [8880808081] BAD_SEQUENCE: [Init type: ITM_EXTENSION] \n"
                          "11 [70] OVERFLOW: \n");
}

static void bytes_of_a_long_gts1(void **state)
{
    (void)state;
    struct stream stream = STREAM(SYNC, 0x94, 0x82, 0xcf, 0xfa, 0x77);
    assert_packets(stream, (struct stream_run){0},
                   SYNCED "6 [9482cffa77] GTS_1: { TS bits [25:0], Clk change, Clk wrap} "
                          "0x02fea782\n");
    struct stream_run quirk = {.quirks.itm_gts1_bytes_altered = 1};
    assert_packets(stream, quirk,
                   SYNCED "6 [9482cffa17] GTS_1: { TS bits [25:0], Clk change, Clk wrap} "
                          "0x02fea782\n");
    quirk.block = 1;
    assert_packets(stream, quirk,
                   SYNCED "6 [9482cffa17] GTS_1: { TS bits [25:0], Clk change, Clk wrap} "
                          "0x02fea782\n");
}

static enum pug_response collect_flags(void *context, const struct pug_element *element)
{
    unsigned *flags = context;
    *flags = *flags << 4 | (element->flags & PUG_ELEM_HAS_TS ? 1u : 0u) |
             (element->flags & PUG_ELEM_FREQ_CHANGE ? 2u : 0u);
    return PUG_RESP_CONT;
}

static unsigned time_flags(struct pug_quirks quirks)
{
    /* GTS1 with a clock change before its GTS2, then a local timestamp. */
    static const uint8_t bytes[] = {SYNC, 0x94, 0x80, 0x80, 0x80, 0x20, 0xb4, 0x01, 0x10};
    struct pug_tree *tree;
    unsigned flags = 0;
    size_t used;
    assert_int_equal(pug_tree_new(&(struct pug_tree_config){.quirks = quirks}, &tree), PUG_OK);
    struct pug_source_config source = {
        .protocol = "ITM", .settings = {.items = &setting, .count = 1}, .decode = true};
    assert_int_equal(pug_tree_add_source(tree, &source, NULL), PUG_OK);
    pug_tree_on_element(tree, collect_flags, &flags);
    pug_tree_data(tree, 0, bytes, sizeof(bytes), &used);
    pug_tree_free(tree);
    return flags;
}

static void flags_of_time(void **state)
{
    (void)state;
    assert_int_equal(time_flags((struct pug_quirks){0}), 0x031);
    assert_int_equal(time_flags((struct pug_quirks){.itm_no_time_flags = 1}), 0);
}

static void page_and_sync(void **state)
{
    (void)state;
    struct stream stream = STREAM(SYNC, 0x28, 0x09, 0x41, SYNC, 0x09, 0x42);
    assert_lines(stream, (struct stream_run){0},
                 (const char *const[]){
                     "0 NO_SYNC( [init-decoder])",
                     "7 ITMTRACE(ITM_SWIT (ch: 0x41; Data: 0x41) )",
                     "15 ITMTRACE(ITM_SWIT (ch: 0x1; Data: 0x42) )",
                     "15 EO_TRACE( [end-of-trace])",
                     NULL,
                 });
    assert_lines(stream, (struct stream_run){.quirks.itm_page_survives_sync = 1},
                 (const char *const[]){
                     "0 NO_SYNC( [init-decoder])",
                     "7 ITMTRACE(ITM_SWIT (ch: 0x41; Data: 0x41) )",
                     "15 ITMTRACE(ITM_SWIT (ch: 0x41; Data: 0x42) )",
                     "15 EO_TRACE( [end-of-trace])",
                     NULL,
                 });
}

#define LOCAL(index, before, delta, sum)                                                           \
#index " ITMTRACE(" before "ITM_TS_LOCAL ( TS delta: 0x0000000" #delta                         \
           ", { TS Sync}; TS cumulative: 0x00000000000000" sum ") )"

static void local_time(void **state)
{
    (void)state;
    struct stream stream = STREAM(SYNC, 0x10, 0x20, 0x70, 0x30);
    assert_lines(stream, (struct stream_run){0},
                 (const char *const[]){
                     "0 NO_SYNC( [init-decoder])",
                     LOCAL(6, "", 1, "01"),
                     LOCAL(7, "", 2, "03"),
                     LOCAL(9, "ITM_OVERFLOW; ", 3, "06"),
                     "9 EO_TRACE( [end-of-trace])",
                     NULL,
                 });
    assert_lines(stream, (struct stream_run){.quirks.itm_overflow_clears_time = 1},
                 (const char *const[]){
                     "0 NO_SYNC( [init-decoder])",
                     LOCAL(6, "", 1, "01"),
                     LOCAL(7, "", 2, "03"),
                     LOCAL(9, "ITM_OVERFLOW; ", 3, "03"),
                     "9 EO_TRACE( [end-of-trace])",
                     NULL,
                 });
}

static void assert_time(uint32_t tcr, struct pug_quirks quirks, const char *line)
{
    struct stream stream = STREAM(SYNC, 0x20);
    struct stream_lines lines = {0};
    stream.tcr = tcr;
    run_stream(stream, (struct stream_run){.quirks = quirks}, &lines);
    assert_string_equal(lines.items[1], line);
    stream_lines_free(&lines);
}

static void prescale(void **state)
{
    (void)state;
    struct pug_quirks none = {0}, quirk = {.itm_prescale_needs_swo = 1};
    assert_time(0x010, none, LOCAL(6, "", 2, "02"));
    assert_time(0x110, none, LOCAL(6, "", 2, "08"));
    assert_time(0x210, quirk, LOCAL(6, "", 2, "20"));
    assert_time(0x310, quirk, LOCAL(6, "", 2, "80"));
    assert_time(0x300, none, LOCAL(6, "", 2, "80"));
    assert_time(0x300, quirk, LOCAL(6, "", 2, "02"));
}

static void resets(void **state)
{
    (void)state;
    struct stream stream = STREAM(SYNC, 0x10);
    assert_lines(stream, (struct stream_run){.resets = 1},
                 (const char *const[]){
                     "0 NO_SYNC( [init-decoder])",
                     LOCAL(6, "", 1, "01"),
                     "6 EO_TRACE( [end-of-trace])",
                     "0 NO_SYNC( [reset-decoder])",
                     LOCAL(6, "", 1, "01"),
                     "6 EO_TRACE( [end-of-trace])",
                     NULL,
                 });
    /* A decoder that waits for its first ASYNC: the reference's goes on waiting, without a word. */
    struct stream noise = STREAM(1, 2, 3);
    assert_lines(noise, (struct stream_run){.resets = 1},
                 (const char *const[]){
                     "0 NO_SYNC( [init-decoder])",
                     "0 EO_TRACE( [end-of-trace])",
                     "0 NO_SYNC( [reset-decoder])",
                     "0 EO_TRACE( [end-of-trace])",
                     NULL,
                 });
    struct stream_run quirk = {.resets = 1,
                               .quirks = {.itm_reset_keeps_running = 1, .itm_search_reports = 1}};
    assert_lines(noise, quirk,
                 (const char *const[]){
                     "0 NO_SYNC( [init-decoder])",
                     "0 EO_TRACE( [end-of-trace])",
                     "0 EO_TRACE( [end-of-trace])",
                     NULL,
                 });
    /* One that runs stops when the packet side reports its search. */
    assert_lines(stream, quirk,
                 (const char *const[]){
                     "0 NO_SYNC( [init-decoder])",
                     LOCAL(6, "", 1, "01"),
                     "6 EO_TRACE( [end-of-trace])",
                     "0 NO_SYNC( [reset-decoder])",
                     LOCAL(6, "", 1, "01"),
                     "6 EO_TRACE( [end-of-trace])",
                     NULL,
                 });
}

static void without_sync(void **state)
{
    (void)state;
    struct stream stream = STREAM(0x01, 0x41, 0x10, 0x04, 0x01, 0x42, SYNC, 0x01, 0x43);
    stream.assume_sync = true;
    assert_lines(stream, (struct stream_run){0},
                 (const char *const[]){
                     "0 NO_SYNC( [init-decoder])",
                     "0 ITMTRACE(ITM_SWIT (ch: 0x0; Data: 0x41) )",
                     LOCAL(2, "", 1, "01"),
                     "! 3 ",
                     "4 NO_SYNC( [bad-packet])",
                     "12 ITMTRACE(ITM_SWIT (ch: 0x0; Data: 0x43) )",
                     "12 EO_TRACE( [end-of-trace])",
                     NULL,
                 });
}

static void configuration(void **state)
{
    (void)state;
    const struct pug_protocol *itm = pug_protocol_find("ITM");
    void *config;
    /* Only the trace id is needed. */
    const struct pug_setting id = {.name = "src_id", .value = 5};
    assert_int_equal(
        itm->config_new(&(struct pug_settings){.items = &id, .count = 1}, NULL, &config), PUG_OK);
    assert_int_equal(itm->trace_id(config), 5);
    itm->config_free(config);
    const struct pug_setting items[] = {{.name = "ITMTCR", .value = 0x00130210},
                                        {.name = "DWT_COMP1", .value = 0x20000010},
                                        {.name = "assume_sync", .value = 1}};
    assert_int_equal(
        itm->config_new(&(struct pug_settings){.items = items, .count = 3}, NULL, &config), PUG_OK);
    assert_int_equal(itm->trace_id(config), 0x13);
    char text[256];
    itm->config_text(config, text, sizeof(text));
    assert_string_equal(text, "ITMTCR=0x00130210: trace id 0x13\n"
                              "local timestamps count 16 cycles\n"
                              "DWT comparator 1 watches 0x20000010\n"
                              "taken to start at a packet\n");
    itm->config_free(config);
}

/* ---- written states ---- */

/** Synchronised, paged and timed now and then; with local timestamps where the seed says so. */
static struct rec_bytes synchronised_stream(uint64_t seed, unsigned packets)
{
    struct rec_random random = {seed};
    struct rec_bytes bytes = {0};
    for (unsigned n = 0; n < packets; n++) {
        struct pug_itm_packet p = any_packet(&random);
        if (n % 60 == 0) {
            rec_itm_async(&bytes);
            rec_itm_put(&bytes, &(struct pug_itm_packet){
                                    .type = PUG_ITM_PKT_GTS1, .size = 4, .value = 0x1234567});
            rec_itm_put(&bytes,
                        &(struct pug_itm_packet){.type = PUG_ITM_PKT_GTS2, .size = 5, .value = n});
        }
        if (p.type != PUG_ITM_PKT_TS_LOCAL || seed % 3 == 0)
            rec_itm_put(&bytes, &p);
    }
    return bytes;
}

static void states(void **state)
{
    (void)state;
    unsigned begun = 0, met = 0, met_summing = 0;
    size_t slowest = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct rec_bytes frames = {0}, bytes = synchronised_stream(seed, 600);
        struct rec_frames maker = {.out = &frames};
        bool framed = seed % 2;
        rec_frames_put(&maker, 0x14, bytes.data, bytes.size);
        rec_frames_finish(&maker);
        struct stream_run run = {.protocol = "ITM",
                                 .transport = framed ? "coresight" : NULL,
                                 .settings = {.items = &setting, .count = 1},
                                 .bytes = framed ? frames.data : bytes.data,
                                 .size = framed ? frames.size : bytes.size};
        struct state_check check = {.unit = framed ? 16 : 1, .starts = 6, .seed = seed};
        state_check_damaged(&run, &check);
        state_check(&run, &check);
        /* The sum of local timestamps is known only after reading all of them. */
        if (seed % 3 == 0) {
            met_summing += check.met;
        } else {
            begun += check.starts;
            met += check.met;
            slowest = check.slowest > slowest ? check.slowest : slowest;
        }
        rec_bytes_free(&bytes);
        rec_bytes_free(&frames);
    }
    assert_int_equal(met, begun);
    assert_true(slowest < 2000 && met_summing < begun / 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip),
        cmocka_unit_test(any_split_any_wait_any_damage),
        cmocka_unit_test(bad_packets),
        cmocka_unit_test(reports_of_the_search),
        cmocka_unit_test(reserved_timestamps),
        cmocka_unit_test(swallowed_zeros),
        cmocka_unit_test(long_extensions),
        cmocka_unit_test(bytes_of_a_long_gts1),
        cmocka_unit_test(flags_of_time),
        cmocka_unit_test(page_and_sync),
        cmocka_unit_test(local_time),
        cmocka_unit_test(prescale),
        cmocka_unit_test(resets),
        cmocka_unit_test(without_sync),
        cmocka_unit_test(configuration),
        cmocka_unit_test(states),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
