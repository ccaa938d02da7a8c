// SPDX-License-Identifier: MIT
/**
 * @file What bytes look like: trace of each transport with ids of each width, and what is no trace.
 */
#include "pugmark/advanced/diagnose.h"
#include "recorder/encapsulation.h"
#include "recorder/etrace.h"
#include "recorder/ntrace.h"
#include "recorder/osd.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define BASE UINT64_C(0x80000000)

static size_t read_demo(uint8_t *bytes, size_t room)
{
    FILE *file = fopen(PUG_SOURCE_DIR "/examples/demo/trace.bin", "rb");
    assert_non_null(file);
    size_t size = fread(bytes, 1, room, file);
    fclose(file);
    return size;
}

static void formats_are_guessed(void **state)
{
    static uint8_t bytes[1 << 16];
    struct pug_guess guesses[PUG_GUESSES];
    (void)state;
    size_t size = read_demo(bytes, sizeof(bytes));
    assert_true(pug_guess_format(bytes, size, guesses) > 0);
    assert_string_equal(guesses[0].protocol, "ETMV4I");
    assert_string_equal(guesses[0].transport, "coresight");
    assert_true(guesses[0].score > 80 && guesses[0].score <= 100);
    assert_non_null(strstr(guesses[0].reason, "of id 0x10: "));
}

/* ---- ids ---- */

/** The code that harts run: jumps to and fro. */
struct hart {
    uint64_t pc, next;
    struct pug_insn jump;
};

static void hart_go_on(struct hart *hart, struct rec_random *random)
{
    hart->jump = (struct pug_insn){.type = PUG_INSTR_BR_INDIRECT, .kind = PUG_RV_JUMP, .size = 4};
    hart->pc = hart->next ? hart->next : BASE;
    hart->next = BASE + 2 * (uint64_t)rec_random_below(random, 20000);
}

#define HARTS 3u

/** N-Trace of harts 0 and up, and a word of software now and then. */
static void record_ntrace(unsigned src_bits, unsigned harts, struct rec_bytes *trace)
{
    struct rec_ntrace *encoders[HARTS];
    struct hart of[HARTS] = {{0}};
    struct rec_random random = {7 + src_bits};
    for (unsigned n = 0; n < harts; n++) {
        const struct rec_ntrace_options options = {.xlen = 64,
                                                   .src_bits = src_bits,
                                                   .src = n,
                                                   .hist_bits = 32,
                                                   .icnt_max = 1000,
                                                   .seed = n + 1};
        encoders[n] = rec_ntrace_new(&options, trace);
        assert_non_null(encoders[n]);
        rec_ntrace_start(encoders[n], 5, BASE);
    }
    for (unsigned i = 0; i < 2000; i++) {
        const unsigned n = rec_random_below(&random, harts);
        hart_go_on(&of[n], &random);
        rec_ntrace_retire(encoders[n], of[n].pc, &of[n].jump, of[n].next);
        if (i % 50 == 0)
            rec_ntrace_data(encoders[n], 4, i);
        if (i % 200 == 199)
            rec_ntrace_sync(encoders[n], 2, of[n].next, false);
    }
    for (unsigned n = 0; n < harts; n++) {
        rec_ntrace_stop(encoders[n], 4);
        rec_ntrace_free(encoders[n]);
    }
}

/** Of several harts whose ids are small narrower ids do nearly as well. */
static void widths_of_ntrace_are_guessed(void **state)
{
    (void)state;
    for (unsigned bits = 0; bits <= 12; bits++) {
        const unsigned most = bits < 2 ? 1u << bits : HARTS;
        for (unsigned harts = 1; harts <= most; harts++) {
            struct pug_guess guesses[PUG_GUESSES];
            struct rec_bytes trace = {0};
            char wanted[32];
            snprintf(wanted, sizeof(wanted), "src_bits=%u", bits);
            record_ntrace(bits, harts, &trace);
            assert_true(pug_guess_format(trace.data, trace.size, guesses) > 0);
            assert_string_equal(guesses[0].protocol, "N-Trace");
            assert_string_equal(guesses[0].settings, wanted);
            assert_int_equal(guesses[0].score, 100);
            rec_bytes_free(&trace);
        }
    }
}

/** A sync message and branches that have, after TCODE, nothing but 1 in the lowest bit. */
static void widths_that_do_as_well_are_listed(void **state)
{
    static const uint8_t sync[] = {0x24, 0x1d, 0x00, 0x07}, branch[] = {0x0c, 0x07};
    struct pug_guess guesses[PUG_GUESSES];
    struct rec_bytes trace = {0};
    (void)state;
    rec_put_n(&trace, sync, sizeof(sync));
    for (unsigned i = 0; i < 100; i++)
        rec_put_n(&trace, branch, sizeof(branch));
    assert_int_equal(pug_guess_format(trace.data, trace.size, guesses), 2);
    assert_string_equal(guesses[0].settings, "src_bits=1");
    assert_string_equal(guesses[1].settings, "src_bits=0");
    assert_int_equal(guesses[0].score, guesses[1].score);
    rec_bytes_free(&trace);
}

/** The target of a hart's payloads. */
struct wrapped {
    struct rec_encapsulation *to;
    uint16_t source;
};

static void put_payload(void *context, bool data, const uint8_t *payload, unsigned size)
{
    const struct wrapped *wrapped = context;
    (void)data;
    assert_true(rec_encapsulate(wrapped->to, wrapped->source, 0, NULL, payload, size));
}

static void record_etrace(unsigned src_bits, unsigned harts, struct rec_bytes *trace)
{
    const struct rec_etrace_options options = {.xlen = 64,
                                               .iaddress_width = 64,
                                               .iaddress_lsb = 1,
                                               .privilege_width = 2,
                                               .ecause_width = 4,
                                               .support = REC_ETRACE_SUPPORT_STD,
                                               .resync = 100};
    struct rec_encapsulation to = {.src_bits = src_bits, .out = trace};
    struct rec_etrace *encoders[HARTS];
    struct wrapped wrapped[HARTS];
    struct hart of[HARTS] = {{0}};
    struct rec_random random = {7 + src_bits};
    for (unsigned n = 0; n < harts; n++) {
        wrapped[n] = (struct wrapped){&to, (uint16_t)n};
        encoders[n] = rec_etrace_new(&options, put_payload, &wrapped[n]);
        assert_non_null(encoders[n]);
        rec_etrace_start(encoders[n]);
    }
    for (unsigned i = 0; i < 2000; i++) {
        const unsigned n = rec_random_below(&random, harts);
        hart_go_on(&of[n], &random);
        rec_etrace_retire(encoders[n], of[n].pc, &of[n].jump, of[n].next);
    }
    for (unsigned n = 0; n < harts; n++) {
        rec_etrace_stop(encoders[n]);
        rec_etrace_free(encoders[n]);
    }
}

static void widths_of_etrace_are_guessed(void **state)
{
    static const unsigned widths[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16};
    (void)state;
    for (size_t i = 0; i < COUNT(widths); i++) {
        const unsigned most = widths[i] < 2 ? 1u << widths[i] : HARTS;
        for (unsigned harts = 1; harts <= most; harts++) {
            struct pug_guess guesses[PUG_GUESSES];
            struct rec_bytes trace = {0};
            char wanted[32] = "";
            if (widths[i] > 0)
                snprintf(wanted, sizeof(wanted), "srcid_bits=%u", widths[i]);
            record_etrace(widths[i], harts, &trace);
            assert_true(pug_guess_format(trace.data, trace.size, guesses) > 0);
            assert_string_equal(guesses[0].protocol, "E-Trace");
            assert_string_equal(guesses[0].transport, "encapsulation");
            assert_string_equal(guesses[0].settings, wanted);
            assert_int_equal(guesses[0].score, 100);
            rec_bytes_free(&trace);
        }
    }
}

/** A source's packets go one way; those of text, whose headers are any letters, do not. */
static void packets_of_several_flows_are_not(void **state)
{
    struct pug_guess guesses[PUG_GUESSES];
    struct rec_bytes trace = {0};
    (void)state;
    record_etrace(0, 1, &trace);
    for (unsigned flow = 0; flow < 2; flow++) {
        for (size_t at = 0; at < trace.size; at += 1 + (trace.data[at] & 0x1fu))
            trace.data[at] = (uint8_t)((trace.data[at] & 0x9f) | (at % 2 ? 1 : flow) << 5);
        const size_t count = pug_guess_format(trace.data, trace.size, guesses);
        for (size_t i = 0; i < count && flow == 0; i++)
            assert_string_not_equal(guesses[i].transport, "encapsulation");
        assert_true(flow == 0 || strcmp(guesses[0].transport, "encapsulation") == 0);
    }
    rec_bytes_free(&trace);
}

/* ---- frames, and modules ---- */

/** Frames of a trace port, each after a sync, in a DSTREAM's blocks: 504 bytes, then a footer. */
static size_t put_dstream(uint8_t *bytes, size_t room)
{
    static const uint8_t sync[] = {0xff, 0xff, 0xff, 0x7f};
    uint8_t frames[1 << 10];
    const size_t size = read_demo(frames, sizeof(frames));
    size_t count = 0;
    for (size_t at = 0; count < room; at = (at + 1) % (size / 16 * 20)) {
        if (count % 512 == 504)
            for (unsigned i = 0; i < 8; i++)
                bytes[count++] = (uint8_t)(i * 0x11);
        bytes[count++] = at % 20 < 4 ? sync[at % 20] : frames[at / 20 * 16 + at % 20 - 4];
    }
    return count;
}

static void footers_are_guessed(void **state)
{
    static uint8_t bytes[40 * 512 + 8];
    struct pug_guess guesses[PUG_GUESSES];
    (void)state;
    const size_t size = put_dstream(bytes, 40 * 512 - 8);
    assert_true(pug_guess_format(bytes, size, guesses) > 0);
    assert_string_equal(guesses[0].protocol, "ETMV4I");
    assert_string_equal(guesses[0].transport, "coresight");
    assert_string_equal(guesses[0].settings, "dstream=1");
}

/** Two modules that send nothing but events; in either order of bytes. */
static void modules_are_guessed(void **state)
{
    (void)state;
    for (unsigned dump = 0; dump < 2; dump++) {
        const struct rec_osd_options options = {
            .longest = 12, .dest = 0x401, .dump = dump, .seed = 1};
        struct pug_guess guesses[PUG_GUESSES];
        struct rec_bytes trace = {0};
        struct rec_osd *osd = rec_osd_new(&options, &trace);
        assert_non_null(osd);
        for (unsigned i = 0; i < 200; i++) {
            const struct rec_ctm_event event = {
                .timestamp = i, .npc = 0x1000 + 4 * i, .pc = 0x2000, .call = true};
            rec_osd_stm(osd, 5, 32, i, (uint16_t)i, i);
            rec_osd_ctm(osd, 3, 64, &event);
        }
        rec_osd_finish(osd);
        rec_osd_free(osd);
        assert_int_equal(pug_guess_format(trace.data, trace.size, guesses), 2);
        for (unsigned i = 0; i < 2; i++) {
            assert_string_equal(guesses[i].transport, "osd");
            assert_int_equal(guesses[i].score, 100);
        }
        assert_string_not_equal(guesses[0].protocol, guesses[1].protocol);
        rec_bytes_free(&trace);
    }
}

/** A few events are enough where they are all that there is, not where other bytes are. */
static void stray_events_are_not(void **state)
{
    static uint8_t bytes[1 << 12];
    const struct rec_osd_options options = {.longest = 12, .dest = 0x401, .seed = 1};
    struct pug_guess guesses[PUG_GUESSES];
    struct rec_bytes trace = {0};
    (void)state;
    struct rec_osd *osd = rec_osd_new(&options, &trace);
    assert_non_null(osd);
    for (unsigned i = 0; i < 3; i++)
        rec_osd_ctm(osd, 3, 64, &(struct rec_ctm_event){.npc = 0x1000, .pc = 0x2000, .call = true});
    rec_osd_finish(osd);
    rec_osd_free(osd);
    assert_int_equal(pug_guess_format(trace.data, trace.size, guesses), 1);
    assert_string_equal(guesses[0].protocol, "OSD-CTM");
    memcpy(bytes, trace.data, trace.size);
    /* after them a datagram that does not end, and after that one which belongs to no source */
    assert_int_equal(pug_guess_format(bytes, sizeof(bytes), guesses), 0);
    for (size_t at = trace.size; at + 8 <= sizeof(bytes); at += 8)
        memcpy(bytes + at, (const uint8_t[]){0, 3, 0, 1, 0, 2, 0x40, 0}, 8);
    assert_int_equal(pug_guess_format(bytes, sizeof(bytes), guesses), 0);
    rec_bytes_free(&trace);
}

static void zeros_and_ones_are_not(void **state)
{
    static uint8_t bytes[1 << 15];
    struct pug_guess guesses[PUG_GUESSES];
    (void)state;
    static const uint8_t few[] = {0, 0, 0, 0, 0, 0x80, 3, 0x41}; /* PTM, ETMv3, ITM … */
    assert_int_equal(pug_guess_format(few, sizeof(few), guesses), 0);
    assert_int_equal(pug_guess_format(bytes, 0, guesses), 0);
    assert_int_equal(pug_guess_format(bytes, sizeof(bytes), guesses), 0);
    memset(bytes, 0xff, sizeof(bytes));
    assert_int_equal(pug_guess_format(bytes, sizeof(bytes), guesses), 0);
}

/** Whatever its size; a wide id makes a source of each few bytes. */
static void noise_is_not(void **state)
{
    static const size_t sizes[] = {40, 200, 3000, 1 << 15};
    static uint8_t bytes[1 << 15];
    struct pug_guess guesses[PUG_GUESSES];
    (void)state;
    for (unsigned seed = 0; seed < 60; seed++) {
        struct rec_random random = {seed + 1};
        const size_t size = sizes[seed % COUNT(sizes)];
        for (size_t i = 0; i < size; i++)
            bytes[i] = (uint8_t)rec_random(&random);
        assert_int_equal(pug_guess_format(bytes, size, guesses), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formats_are_guessed),
        cmocka_unit_test(widths_of_ntrace_are_guessed),
        cmocka_unit_test(widths_that_do_as_well_are_listed),
        cmocka_unit_test(widths_of_etrace_are_guessed),
        cmocka_unit_test(packets_of_several_flows_are_not),
        cmocka_unit_test(footers_are_guessed),
        cmocka_unit_test(modules_are_guessed),
        cmocka_unit_test(stray_events_are_not),
        cmocka_unit_test(zeros_and_ones_are_not),
        cmocka_unit_test(noise_is_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
