// SPDX-License-Identifier: MIT
/** @file STM: round trips, any split, any WAIT, damage, and joined payloads. */
#include "pugmark/advanced/packet/stm.h"
#include "pugmark/author/protocol.h"
#include "pugmark/pugmark.h"
#include "recorder/frames.h"
#include "support/share.h"
#include "support/state_check.h"
#include "support/stm_stream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

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
    for (uint64_t seed = 1; seed <= share_of(40); seed++) {
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
        struct stream_run run = stm_run(&lines, &bytes);
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
    struct stream_run run = {.protocol = "STM", .settings = stm_settings, .longest = 24};
    stream_check_properties(&run, any_stream);
    /* A joined element comes when its last packet is known. */
    run.options.join_payloads = true;
    run.longest = 0;
    stream_check_properties(&run, any_stream);
}

/* ---- joined payloads ---- */

static void joined_payloads(void **state)
{
    (void)state;
    struct stream_run run = {.options.join_payloads = true};
    /* A marked word, three more of three sizes, a flag; then a message on another channel. */
    stm_assert_lines(
        STM_SYNC "1 41 FA 00112233 6 44556677 5 8899 4 AA FE 3 07 4 01 4 02 4 03", run,
        (const char *const[]){
            "0 NO_SYNC( [init-decoder])",
            "14 SWTRACE( (Ma:0x41; Ch:0x00) [33 22 11 00 77 66 55 44 99 88 aa ]; +Mrk )",
            "28 SWTRACE( (Ma:0x41; Ch:0x00) +Mrk )",
            "30 SWTRACE( (Ma:0x41; Ch:0x07) [01 02 03 ]; )",
            "33 EO_TRACE( [end-of-trace])",
            NULL,
        });
    run.options.join_payloads = false;
    stm_assert_lines(STM_SYNC "1 41 FA 00112233 6 44556677", run,
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
    struct stream_run run = stm_run(&lines, &bytes);
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
    stm_assert_lines("FFFFFFFFFFFFFFFFFFFFF0 F003 F01 E 0011223344556123 F004 F01 4 8000 F01 1 1",
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

/* ---- written states ---- */

/** A stream in an STM's form: everything that packets refer to is repeated now and then. */
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
    for (uint64_t seed = 1; seed <= share_of(40); seed++) {
        struct rec_bytes frames = {0}, bytes = make(seed, packets);
        struct rec_frames state = {.out = &frames};
        struct state_check check = {.starts = 6, .seed = seed};
        bool framed = seed % 2;
        rec_frames_put(&state, STM_TCSR >> 16, bytes.data, bytes.size);
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
    const struct stream_run run = {.protocol = "STM", .settings = stm_settings};
    struct state_check synchronised = {0}, any = {0};
    check_states(run, synchronised_stream, 600, &synchronised);
    assert_int_equal(synchronised.met, synchronised.starts);
    assert_true(synchronised.slowest < 2000);
    /* Times, of which only low bits are repeated, may stay unknown for long. */
    check_states(run, any_stream, 600, &any);
    assert_true(any.met > any.starts / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip),      cmocka_unit_test(any_split_any_wait_any_damage),
        cmocka_unit_test(joined_payloads), cmocka_unit_test(long_messages),
        cmocka_unit_test(grey_timestamps), cmocka_unit_test(states),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
