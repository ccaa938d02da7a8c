// SPDX-License-Identifier: MIT
/** @file STM: round trips, any split, any WAIT, damage, joined payloads, and what the quirks do. */
#include "pugmark/author/protocol.h"
#include "pugmark/packet/stm.h"
#include "pugmark/pugmark.h"
#include "recorder/frames.h"
#include "recorder/stm.h"
#include "support/state_check.h"
#include "support/stream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TCSR 0x00200007

static const struct pug_setting setting = {.name = "STMTCSR", .value = TCSR};

static struct stream_run run_stm(struct stream_lines *lines, const struct rec_bytes *bytes)
{
    return (struct stream_run){
        .protocol = "STM",
        .settings = {.items = &setting, .count = 1},
        .bytes = bytes->data,
        .size = bytes->size,
        .lines = lines,
    };
}

/** Nibbles in hex, blanks between them, as bytes. */
static struct rec_bytes nibbles(const char *text)
{
    struct rec_bytes bytes = {0};
    struct rec_stm stm = {.bytes = &bytes};
    rec_stm_nibbles(&stm, text);
    rec_stm_end(&stm);
    return bytes;
}

#define SYNC "FFFFFFFFFFFFFFFFFFFFF0 F003 "

/* ---- making packets ---- */

struct maker {
    struct rec_random random;
    struct pug_stm_packet state; /**< master, channel, time, encoding */
};

static struct pug_stm_packet any_packet(struct maker *m)
{
    static const uint8_t types[] = {
        PUG_STM_ASYNC, PUG_STM_VERSION, PUG_STM_FREQ, PUG_STM_NULL, PUG_STM_TRIG, PUG_STM_GERR,
        PUG_STM_MERR,  PUG_STM_M8,      PUG_STM_C8,   PUG_STM_C16,  PUG_STM_FLAG, PUG_STM_D4,
        PUG_STM_D8,    PUG_STM_D16,     PUG_STM_D32,  PUG_STM_D64,
    };
    struct pug_stm_packet *state = &m->state;
    uint64_t random = rec_random(&m->random);
    struct pug_stm_packet p = *state;
    p.type = types[rec_random_below(&m->random, sizeof(types))];
    p.error_type = PUG_STM_NO_ERR_TYPE;
    p.payload = rec_random_once_in(&m->random, 8) ? UINT64_MAX : random;
    bool data = p.type >= PUG_STM_D4;
    p.marker = data && (random & 1);
    p.has_ts =
        (data || p.type == PUG_STM_NULL || p.type == PUG_STM_TRIG || p.type == PUG_STM_FLAG) &&
        (random & 2);
    switch (p.type) {
    case PUG_STM_VERSION:
        p.payload = random & 4 ? 3 : 4;
        p.ts_type = (p.payload & 0xff) == 3 ? PUG_STM_TS_NATURAL : PUG_STM_TS_GREY;
        p.master = 0;
        p.channel = 0;
        break;
    case PUG_STM_GERR: p.master = 0; /* fall through */
    case PUG_STM_MERR: p.channel = 0; break;
    case PUG_STM_M8:
        p.master = (uint8_t)(random >> 8);
        p.channel = 0;
        break;
    case PUG_STM_C8: p.channel = (uint16_t)((p.channel & 0xff00) | (random >> 8 & 0xff)); break;
    case PUG_STM_C16: p.channel = (uint16_t)(random >> 8); break;
    case PUG_STM_D4: p.payload &= 0xf; break;
    default: break;
    }
    if (p.has_ts) {
        p.timestamp += rec_random(&m->random) >> rec_random_below(&m->random, 64);
        p.ts_bits = rec_stm_ts_bits(state->timestamp, p.timestamp, p.ts_type);
    }
    *state = p;
    state->marker = state->has_ts = false;
    state->ts_bits = 0;
    return p;
}

static void put_start(struct rec_stm *stm)
{
    rec_stm_put(stm, &(struct pug_stm_packet){.type = PUG_STM_ASYNC});
    rec_stm_put(stm, &(struct pug_stm_packet){.type = PUG_STM_VERSION, .payload = 3});
}

/** A stream of random packets, after some bytes of another one. */
static struct rec_bytes any_stream(uint64_t seed, unsigned packets)
{
    struct rec_bytes bytes = {0};
    struct rec_stm stm = {.bytes = &bytes};
    struct maker m = {.random.state = seed, .state.ts_type = PUG_STM_TS_NATURAL};
    for (uint32_t i = rec_random_below(&m.random, 40); i > 0; i--)
        rec_stm_nibble(&stm, rec_random_below(&m.random, 15));
    put_start(&stm);
    while (packets-- > 0) {
        struct pug_stm_packet p = any_packet(&m);
        rec_stm_put(&stm, &p);
    }
    rec_stm_end(&stm);
    return bytes;
}

/* ---- round trip ---- */

struct expected {
    struct pug_stm_packet packets[400];
    size_t count, at;
};

static void same_packet(const struct pug_stm_packet *want, const struct pug_stm_packet *got)
{
    char a[256], b[256];
    pug_protocol_find("STM")->packet_text(want, a, sizeof(a));
    pug_protocol_find("STM")->packet_text(got, b, sizeof(b));
    assert_string_equal(a, b);
    assert_int_equal(want->type, got->type);
    assert_int_equal(want->master, got->master);
    assert_int_equal(want->channel, got->channel);
    assert_int_equal(want->timestamp, got->timestamp);
    assert_int_equal(want->ts_type, got->ts_type);
    assert_int_equal(want->ts_bits, got->ts_bits);
    assert_int_equal(want->marker, got->marker);
    if (want->type == PUG_STM_GERR || want->type == PUG_STM_MERR)
        assert_int_equal(want->payload & 0xff, got->payload & 0xff);
}

static enum pug_response on_packet(void *context, enum pug_op op, const struct pug_packet *packet)
{
    struct expected *expected = context;
    if (op != PUG_OP_DATA || expected->at == expected->count)
        return PUG_RESP_CONT;
    same_packet(&expected->packets[expected->at++], packet->data);
    return PUG_RESP_CONT;
}

static void round_trip(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct rec_bytes bytes = {0};
        struct rec_stm stm = {.bytes = &bytes};
        struct maker m = {.random.state = seed, .state.ts_type = PUG_STM_TS_NATURAL};
        struct expected expected = {.packets[0] = {.type = PUG_STM_ASYNC}, .count = 2};
        expected.packets[1] = (struct pug_stm_packet){
            .type = PUG_STM_VERSION, .payload = 3, .ts_type = PUG_STM_TS_NATURAL};
        put_start(&stm);
        while (expected.count < 400) {
            struct pug_stm_packet p = any_packet(&m);
            rec_stm_put(&stm, &p);
            expected.packets[expected.count++] = p;
        }
        rec_stm_end(&stm);
        struct stream_lines lines = {0};
        struct stream_run run = run_stm(&lines, &bytes);
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
        .protocol = "STM", .settings = {.items = &setting, .count = 1}, .longest = 24};
    stream_check_properties(&run, any_stream);
    /* A joined element comes when its last packet is known. */
    run.options.join_payloads = true;
    run.longest = 0;
    stream_check_properties(&run, any_stream);
}

/* ---- joined payloads ---- */

static void assert_lines(const char *stream, struct stream_run run, const char *const *wanted)
{
    struct rec_bytes bytes = nibbles(stream);
    struct stream_lines lines = {0};
    run.protocol = "STM";
    run.settings = (struct pug_settings){.items = &setting, .count = 1};
    run.bytes = bytes.data;
    run.size = bytes.size;
    run.lines = &lines;
    run.each_packet = true;
    stream_run(&run);
    stream_assert_lines(&lines, wanted);
    stream_lines_free(&lines);
    rec_bytes_free(&bytes);
}

static void joined_payloads(void **state)
{
    (void)state;
    struct stream_run run = {.options.join_payloads = true};
    /* A marked word, three more of three sizes, a flag; then a message on another channel. */
    assert_lines(SYNC "1 41 FA 00112233 6 44556677 5 8899 4 AA FE 3 07 4 01 4 02 4 03", run,
                 (const char *const[]){
                     "0 NO_SYNC( [init-decoder])",
                     "14 SWTRACE( (Ma:0x41; Ch:0x00) [33 22 11 00 77 66 55 44 99 88 aa ]; +Mrk )",
                     "28 SWTRACE( (Ma:0x41; Ch:0x00) +Mrk )",
                     "30 SWTRACE( (Ma:0x41; Ch:0x07) [01 02 03 ]; )",
                     "33 EO_TRACE( [end-of-trace])",
                     NULL,
                 });
    run.options.join_payloads = false;
    assert_lines(SYNC "1 41 FA 00112233 6 44556677", run,
                 (const char *const[]){
                     "0 NO_SYNC( [init-decoder])",
                     "14 SWTRACE( (Ma:0x41; Ch:0x00) 0x00112233; +Mrk )",
                     "19 SWTRACE( (Ma:0x41; Ch:0x00) 0x44556677; )",
                     "19 EO_TRACE( [end-of-trace])",
                     NULL,
                 });
}

/** A message longer than an element can count goes out in several, and memory stays bounded. */
static void long_messages(void **state)
{
    (void)state;
    struct rec_bytes bytes = {0};
    struct rec_stm stm = {.bytes = &bytes};
    put_start(&stm);
    for (unsigned i = 0; i < 20000; i++)
        rec_stm_put(&stm, &(struct pug_stm_packet){.type = PUG_STM_D64, .payload = i});
    rec_stm_end(&stm);
    struct stream_lines lines = {0};
    struct stream_run run = run_stm(&lines, &bytes);
    run.options.join_payloads = true;
    stream_check_splits_and_waits(&run, 1);
    stream_run(&run);
    assert_int_equal(lines.count, 1 + (20000 + 63) / 64 + 1);
    stream_lines_free(&lines);
    rec_bytes_free(&bytes);
}

/* ---- timestamps ---- */

static void grey_timestamps(void **state)
{
    (void)state;
    assert_lines("FFFFFFFFFFFFFFFFFFFFF0 F003 F01 E 0011223344556123 F004 F01 4 8000 F01 1 1",
                 (struct stream_run){0},
                 (const char *const[]){
                     "0 NO_SYNC( [init-decoder])",
                     "13 SWTRACE((Ma:0x\?\?; Ch:0x\?\?)  [ TS=0x11223344556123]; )",
                     "25 SWTRACE((Ma:0x\?\?; Ch:0x\?\?)  [ TS=0x11223344550000]; )",
                     "29 SWTRACE((Ma:0x\?\?; Ch:0x\?\?)  [ TS=0x11223344550001]; )",
                     "31 EO_TRACE( [end-of-trace])",
                     NULL,
                 });
}

/* ---- quirks, and what is right ---- */

static void bad_packets(void **state)
{
    (void)state;
    const char *stream = SYNC "1 41 C 1 F1 C 2 " SYNC "C 3 0";
    assert_lines(stream, (struct stream_run){0},
                 (const char *const[]){
                     "0 NO_SYNC( [init-decoder])",
                     "14 SWTRACE( (Ma:0x41; Ch:0x00) 0x1; )",
                     "! 15 STM: Unsupported or Reserved STPv2 Header",
                     "16 NO_SYNC( [bad-packet])",
                     "30 SWTRACE((Ma:0x\?\?; Ch:0x\?\?) 0x3; )",
                     "31 EO_TRACE( [end-of-trace])",
                     NULL,
                 });
    struct stream_run fatal = {.quirks.bad_software_packet_fatal = 1};
    assert_lines(stream, fatal,
                 (const char *const[]){
                     "0 NO_SYNC( [init-decoder])",
                     "14 SWTRACE( (Ma:0x41; Ch:0x00) 0x1; )",
                     "! 15 STM: Unsupported or Reserved STPv2 Header",
                     NULL,
                 });
}

/** The texts of all packets, in one line. */
static enum pug_response collect_texts(void *context, enum pug_op op,
                                       const struct pug_packet *packet)
{
    char text[256];
    char *all = context;
    if (op != PUG_OP_DATA)
        return PUG_RESP_CONT;
    pug_protocol_find("STM")->packet_text(packet->data, text, sizeof(text));
    text[strcspn(text, ":")] = '\0';
    const char *bracket = strchr(text + strlen(text) + 1, '[');
    size_t length = strlen(all);
    snprintf(all + length, 4096 - length, "%llu %s%s ", (unsigned long long)packet->index, text,
             bracket ? bracket : "");
    return PUG_RESP_CONT;
}

static void assert_packets(const char *stream, size_t block, struct pug_quirks quirks,
                           const char *wanted)
{
    struct rec_bytes bytes = nibbles(stream);
    struct stream_lines lines = {0};
    struct stream_run run = run_stm(&lines, &bytes);
    char all[4096] = "";
    run.quirks = quirks;
    run.block = block;
    run.sink = collect_texts;
    run.sink_context = all;
    stream_run(&run);
    assert_string_equal(all, wanted);
    stream_lines_free(&lines);
    rec_bytes_free(&bytes);
}

static void index_of_a_high_nibble(void **state)
{
    (void)state;
    const char *stream = SYNC "0 4 11 4 22";
    assert_packets(stream, 0, (struct pug_quirks){0},
                   "0 ASYNC 11 VERSION 13 NULL 13 D8 15 D8 16 NULL ");
    assert_packets(stream, 0, (struct pug_quirks){.stm_index_of_next_byte = 1},
                   "0 ASYNC 11 VERSION 13 NULL 14 D8 15 D8 17 NULL ");
}

/** The bytes of all packets, in one line. */
static void collect_bytes(void *context, enum pug_op op, const struct pug_packet *packet)
{
    char *all = context;
    size_t length = strlen(all);
    if (op != PUG_OP_DATA)
        return;
    for (uint32_t i = 0; i < packet->raw_size; i++)
        length += (size_t)snprintf(all + length, 256 - length, "%02x", packet->raw[i]);
    snprintf(all + length, 256 - length, " ");
}

/** Decode in blocks of `block` bytes; how many are used in all, and the bytes of all packets. */
static size_t bytes_used(const char *stream, size_t block, struct pug_quirks quirks, char all[256])
{
    struct rec_bytes bytes = nibbles(stream);
    struct pug_tree *tree;
    struct pug_source *source;
    struct pug_source_config config = {
        .protocol = "STM", .settings = {.items = &setting, .count = 1}, .decode = true};
    enum pug_response response = PUG_RESP_CONT;
    size_t done = 0;
    quirks.unattached_is_fatal = 0;
    assert_int_equal(pug_tree_new(&(struct pug_tree_config){.quirks = quirks}, &tree), PUG_OK);
    assert_int_equal(pug_tree_add_source(tree, &config, &source), PUG_OK);
    all[0] = '\0';
    pug_source_monitor(source, collect_bytes, all);
    while (done < bytes.size && PUG_RESP_IS_CONT(response)) {
        size_t used, size = bytes.size - done < block ? bytes.size - done : block;
        response = pug_tree_data(tree, done, bytes.data + done, size, &used);
        done += used;
    }
    pug_tree_free(tree);
    rec_bytes_free(&bytes);
    return done;
}

/** A byte whose low nibble is used counts as used in the reference, wherever decoding stops. */
static void half_used_bytes(void **state)
{
    (void)state;
    char all[256];
    struct pug_quirks none = {0}, reference = pug_quirks_reference();
    for (size_t block = 1; block <= 32; block++) {
        assert_int_equal(bytes_used(SYNC "0 F1 C5 C5 0", block, reference, all), 15);
        assert_int_equal(bytes_used(SYNC "0 F1 C5 C5 0", block, none, all), 17);
        /* What is left of the byte does not disturb the packet's own. */
        bytes_used(SYNC "6 11223344 C 5 6 55667788 0 D 5 0", block, reference, all);
        assert_string_equal(all, "ffffffffffffffffffff0f 0f30 16213243c4 c065 6055667788 d0 d005 ");
    }
}

static void last_index(void *context, enum pug_op op, const struct pug_packet *packet)
{
    if (op == PUG_OP_DATA)
        *(uint64_t *)context = packet->index;
}

static enum pug_response wait_at_no_sync(void *context, const struct pug_element *elements,
                                         size_t count, size_t *taken)
{
    (void)context;
    *taken = count;
    return elements[0].type == PUG_ELEM_NO_SYNC ? PUG_RESP_WAIT : PUG_RESP_CONT;
}

/** … also where a consumer waits at a NOTSYNC: the nibble is of the next block then. */
static void half_used_byte_of_a_wait(void **state)
{
    (void)state;
    struct rec_bytes bytes = nibbles("1 FFFFFFFFFFFFFFFFFFFFF0 F 003 F");
    struct pug_tree_config tree_config = {.quirks = pug_quirks_reference()};
    struct pug_source_config config = {
        .protocol = "STM", .settings = {.items = &setting, .count = 1}, .decode = true};
    struct pug_source *source;
    struct pug_tree *tree;
    uint64_t index;
    size_t used;
    assert_int_equal(pug_tree_new(&tree_config, &tree), PUG_OK);
    assert_int_equal(pug_tree_add_source(tree, &config, &source), PUG_OK);
    pug_source_monitor(source, last_index, &index);
    pug_tree_on_elements(tree, wait_at_no_sync, NULL);
    assert_int_equal(pug_tree_data(tree, 0, bytes.data, 12, &used), PUG_RESP_WAIT);
    assert_int_equal(used, 12);
    assert_int_equal(pug_tree_flush(tree), PUG_RESP_CONT);
    assert_int_equal(pug_tree_data(tree, 100, bytes.data + 12, 1, &used), PUG_RESP_CONT);
    assert_int_equal(index, 0); /* ASYNC */
    assert_int_equal(pug_tree_data(tree, 101, bytes.data + 13, 1, &used), PUG_RESP_CONT);
    assert_int_equal(index, 100); /* VERSION */
    pug_tree_free(tree);
    rec_bytes_free(&bytes);
}

static void counting_while_unsynced(void **state)
{
    (void)state;
    struct pug_quirks none = {0}, in_8_bits = {.stm_counts_in_8_bits = 1};
    /* F beyond the 21st. */
    assert_packets("FF FFFFFFFFFFFFFFFFFFFFF0 0", 0, none, "0 ASYNC 12 NULL 12 NULL ");
    assert_packets("FF FFFFFFFFFFFFFFFFFFFFF0 0", 0, in_8_bits,
                   "0 NOTSYNC 0 ASYNC 12 NULL 12 NULL ");
    /* A block of 256 nibbles and one of 2, none of them F. */
    char stream[400] = "";
    memset(stream, '1', 258);
    assert_packets(stream, 128, none,
                   "0 NOTSYNC 16 NOTSYNC 32 NOTSYNC 48 NOTSYNC 64 NOTSYNC 80 NOTSYNC 96 NOTSYNC "
                   "112 NOTSYNC 128 NOTSYNC ");
    assert_packets(stream, 128, in_8_bits, "128 NOTSYNC ");
    /* A sync behind 128 bytes of one block. */
    memset(stream, '1', 256);
    snprintf(stream + 256, sizeof(stream) - 256, "%s", "FFFFFFFFFFFFFFFFFFFFF0");
    assert_packets(stream, 0, in_8_bits, "0 ASYNC ");
    /* 260 F are no sync for a counter of 8 bits. */
    memset(stream, 'F', 260);
    snprintf(stream + 260, sizeof(stream) - 260, "%s", "01 FFFFFFFFFFFFFFFFFFFFF0");
    assert_packets(stream, 0, none, "0 ASYNC 130 M8 132 ASYNC ");
    /* … and an ASYNC behind a NOTSYNC waits for one more nibble. */
    assert_packets(stream, 0, in_8_bits, "0 NOTSYNC ");
    size_t end = strlen(stream);
    snprintf(stream + end, sizeof(stream) - end, "00");
    assert_packets(stream, 0, in_8_bits, "0 NOTSYNC 3 ASYNC 142 NULL 142 NULL ");
}

static void name_of_a_broken_async(void **state)
{
    (void)state;
    const char *stream = SYNC "C 1 FFFFF1 4 11";
    assert_packets(stream, 0, (struct pug_quirks){0},
                   "0 ASYNC 11 VERSION 13 D4 14 BAD_SEQUENCE[ASYNC] 17 NOTSYNC ");
    struct pug_quirks quirks = {.stm_stale_error_type = 1, .bad_software_packet_fatal = 1};
    assert_packets(stream, 0, quirks,
                   "0 ASYNC 11 VERSION 13 D4 14 BAD_SEQUENCE[D4] 17 D8 18 NULL ");
}

/** Nibbles that a packet used count for the ASYNC behind it: it is found even so. */
static void async_in_a_payload(void **state)
{
    (void)state;
    assert_packets(SYNC "7 FFFFFFFFFFFFFFFF FFFFF0 C 1", 0, (struct pug_quirks){0},
                   "0 ASYNC 11 VERSION 13 D64 21 ASYNC 24 D4 25 NULL ");
    assert_packets(SYNC "B FFFFFFFFFFFFFFFF F FFFF0 C 1", 0, (struct pug_quirks){0},
                   "0 ASYNC 11 VERSION 13 BAD_SEQUENCE[D64M] 13 ASYNC 24 D4 25 NULL ");
}

static void resets(void **state)
{
    (void)state;
    struct stream_run run = {.resets = 1};
    assert_lines(SYNC "1 22 C 1 0", run,
                 (const char *const[]){
                     "0 NO_SYNC( [init-decoder])",
                     "14 SWTRACE( (Ma:0x22; Ch:0x00) 0x1; )",
                     "15 EO_TRACE( [end-of-trace])",
                     "0 NO_SYNC( [reset-decoder])",
                     "14 SWTRACE( (Ma:0x22; Ch:0x00) 0x1; )",
                     "15 EO_TRACE( [end-of-trace])",
                     NULL,
                 });
}

static void configuration(void **state)
{
    (void)state;
    const struct pug_protocol *stm = pug_protocol_find("STM");
    void *config;
    /* Only the trace id is needed. */
    const struct pug_setting id = {.name = "src_id", .value = 5};
    assert_int_equal(
        stm->config_new(&(struct pug_settings){.items = &id, .count = 1}, NULL, &config), PUG_OK);
    assert_int_equal(stm->trace_id(config), 5);
    stm->config_free(config);
    const struct pug_setting items[] = {{.name = "STMTCSR", .value = 0x0030000f},
                                        {.name = "STMFEAT1R", .value = 0x80000},
                                        {.name = "STMHEMASTR", .value = 0x80},
                                        {.name = "STMDEVID", .value = 0x3f},
                                        {.name = "hw_event", .value = 2}};
    assert_int_equal(
        stm->config_new(&(struct pug_settings){.items = items, .count = 5}, NULL, &config), PUG_OK);
    assert_int_equal(stm->trace_id(config), 0x30);
    char text[256];
    stm->config_text(config, text, sizeof(text));
    assert_string_equal(text, "STMTCSR=0x0030000f: trace id 0x30\n"
                              "masters 0 to 0x3f, channels 0 to 0xffff\n"
                              "hardware events on master 0x80\n");
    stm->config_free(config);
}

/* ---- written states ---- */

/** A stream as an STM sends it: all that packets refer to is told again now and then. */
static struct rec_bytes synchronised_stream(uint64_t seed, unsigned packets)
{
    struct rec_bytes bytes = {0};
    struct rec_stm stm = {.bytes = &bytes};
    struct maker m = {.random.state = seed};
    for (unsigned n = 0; n < packets; n++) {
        struct pug_stm_packet p = any_packet(&m);
        if (n % 60 == 0) {
            m.state = (struct pug_stm_packet){.ts_type = PUG_STM_TS_NATURAL, .master = 0x41};
            put_start(&stm);
            p = m.state;
            p.type = PUG_STM_M8;
            rec_stm_put(&stm, &p);
            p.type = PUG_STM_FLAG;
            p.has_ts = true;
            p.timestamp = m.state.timestamp = rec_random(&m.random);
            p.ts_bits = 64;
        }
        rec_stm_put(&stm, &p);
    }
    rec_stm_end(&stm);
    return bytes;
}

static void check_states(struct stream_run run, stream_make_fn *make, unsigned packets,
                         struct state_check *sum)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct rec_bytes frames = {0}, bytes = make(seed, packets);
        struct rec_frames state = {.out = &frames};
        struct state_check check = {.starts = 6, .seed = seed};
        bool framed = seed % 2;
        rec_frames_put(&state, TCSR >> 16, bytes.data, bytes.size);
        rec_frames_finish(&state);
        run.transport = framed ? "coresight" : NULL;
        run.bytes = framed ? frames.data : bytes.data;
        run.size = framed ? frames.size : bytes.size;
        run.options.join_payloads = seed % 4 < 2;
        check.unit = framed ? 16 : 1;
        state_check_damaged(&run, &check);
        state_check(&run, &check);
        sum->starts += check.starts;
        sum->met += check.met;
        sum->slowest = check.slowest > sum->slowest ? check.slowest : sum->slowest;
        rec_bytes_free(&bytes);
        rec_bytes_free(&frames);
    }
}

static void states(void **state)
{
    (void)state;
    const struct stream_run run = {.protocol = "STM", .settings = {.items = &setting, .count = 1}};
    struct state_check synchronised = {0}, any = {0};
    check_states(run, synchronised_stream, 600, &synchronised);
    assert_int_equal(synchronised.met, synchronised.starts);
    assert_true(synchronised.slowest < 2000);
    /* Times, of which only low bits are told again, may not be known for long. */
    check_states(run, any_stream, 600, &any);
    assert_true(any.met > any.starts / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip),
        cmocka_unit_test(any_split_any_wait_any_damage),
        cmocka_unit_test(joined_payloads),
        cmocka_unit_test(long_messages),
        cmocka_unit_test(grey_timestamps),
        cmocka_unit_test(bad_packets),
        cmocka_unit_test(index_of_a_high_nibble),
        cmocka_unit_test(half_used_bytes),
        cmocka_unit_test(half_used_byte_of_a_wait),
        cmocka_unit_test(counting_while_unsynced),
        cmocka_unit_test(name_of_a_broken_async),
        cmocka_unit_test(async_in_a_payload),
        cmocka_unit_test(resets),
        cmocka_unit_test(configuration),
        cmocka_unit_test(states),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
