// SPDX-License-Identifier: MIT
/** @file What ITM elements mean together: whatever comes, stacks close and times do not go back. */
#include "protocol/itm/itm.h"
#include "recorder/itm.h"
#include "swo/swo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* ---- scales ---- */

static void scales(void **state)
{
    (void)state;
    assert_int_equal(pug_swo_scale(1000, 3, 2), 1500);
    assert_int_equal(pug_swo_scale(UINT64_MAX, 1, 1), UINT64_MAX);
    assert_int_equal(pug_swo_scale(UINT64_MAX, 2, 1), UINT64_MAX);
    assert_int_equal(pug_swo_scale(UINT64_MAX, 1, UINT64_MAX), 1);
    assert_int_equal(pug_swo_scale(7, UINT64_MAX, UINT64_MAX), 7);
    assert_int_equal(pug_swo_scale(0, UINT64_MAX, 1), 0);
    assert_int_equal(pug_swo_scale(2, UINT64_MAX, 3), UINT64_C(12297829382473034410));
    assert_int_equal(pug_swo_scale(480000001, 100000000, 480000000), 100000000);
}

/* ---- interrupts ---- */

struct seen {
    uint64_t enters, leaves, begun;
    uint32_t depth;
    uint64_t time;
};

static void on_interrupt(void *context, const struct pug_interrupt *interrupt)
{
    struct seen *seen = context;
    assert_true(interrupt->time >= seen->time);
    seen->time = interrupt->time;
    if (interrupt->leave) {
        assert_true(seen->depth > 0);
        assert_int_equal(interrupt->depth, --seen->depth);
        assert_true(interrupt->time >= interrupt->entered);
        assert_true(interrupt->own <= interrupt->time - interrupt->entered);
        seen->leaves++;
    } else {
        assert_int_equal(interrupt->depth, seen->depth++);
        seen->enters++;
        seen->begun += interrupt->begun;
    }
}

static uint32_t next(uint64_t *random)
{
    *random = *random * UINT64_C(6364136223846793005) + 1;
    return (uint32_t)(*random >> 33);
}

/** Any packets in any order: what begins ends, and sums have all that began. */
static void any_exceptions(void **state)
{
    static struct pug_interrupts interrupts;
    (void)state;
    for (uint64_t seed = 1; seed <= 50; seed++) {
        struct seen seen = {0};
        uint64_t random = seed, entries = 0, whole = 0;
        pug_interrupts_init(&interrupts, on_interrupt, &seen);
        for (unsigned i = 0; i < 2000; i++) {
            const uint32_t what = next(&random);
            const struct pug_dwt_event event = {
                .kind = what % 50 == 0 ? PUG_DWT_LOST : PUG_DWT_EXCEPTION,
                .time = i * 10 + what % 7,
                .has_time = what % 11 != 0,
                .number = (uint16_t)(next(&random) % (seed % 2 ? 5 : 600)),
                .action = (uint8_t)(next(&random) % 4),
                .index = i};
            pug_interrupts_take(&interrupts, &event);
        }
        pug_interrupts_end(&interrupts);
        assert_int_equal(seen.depth, 0);
        assert_int_equal(seen.enters, seen.leaves);
        for (unsigned i = 0; i < PUG_INTERRUPTS; i++) {
            const struct pug_interrupt_sum *sum = &interrupts.sums[i];
            entries += sum->entries;
            whole += sum->whole;
            assert_true(sum->whole <= sum->entries);
            assert_true(sum->own <= sum->total);
        }
        assert_int_equal(entries, seen.begun);
        assert_true(whole > 0 || seed % 2 == 0);
    }
}

/* ---- streams ---- */

struct given {
    uint64_t count, time, index;
};

static void on_event(void *context, const struct pug_dwt_event *event)
{
    struct given *given = context;
    given->count++;
    if (!event->has_time)
        return;
    assert_true(event->time >= given->time);
    given->time = event->time;
}

/** Each write is given once, with a time that does not go back, whatever is between them. */
static void any_elements(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        const struct pug_swo_clock clock = {.local_hertz = seed & 1 ? 1000 : 0,
                                            .global_hertz = seed & 2 ? 3000 : 0};
        struct pug_swo_stream stream;
        struct given given = {0};
        uint64_t random = seed, writes = 0, losses = 0, local = 0, global = 0;
        pug_swo_stream_init(&stream, NULL, &clock, on_event, &given);
        for (unsigned i = 0; i < 3000; i++) {
            struct pug_element e = {.type = PUG_ELEM_ITMTRACE, .index = i, .last_size = 1};
            const uint32_t what = next(&random) % 100;
            if (what < 60) {
                e.reason = PUG_ITM_SWIT;
                writes++;
            } else if (what < 95) {
                e.reason = (uint8_t)(PUG_ITM_TS_SYNC + what % 4);
                e.timestamp = local += what;
            } else if (what < 98) {
                e.reason = PUG_ITM_TS_GLOBAL;
                e.timestamp = global += 5000;
            } else {
                e.type = what == 98 ? PUG_ELEM_NO_SYNC : PUG_ELEM_CYCLE_COUNT;
            }
            if (e.type == PUG_ELEM_ITMTRACE && next(&random) % 40 == 0) {
                e.flags = PUG_ELEM_OVERFLOW;
                losses++;
            }
            given.time = stream.clock.anchored ? given.time : 0; /* it may restart there */
            pug_swo_stream_take(&stream, &e);
        }
        pug_swo_stream_end(&stream);
        assert_true(given.count >= writes + losses);
    }
}

/* ---- where a source begins ---- */

static void guesses(void **state)
{
    (void)state;
    struct rec_bytes bytes = {0};
    for (unsigned i = 0; i < 100; i++) {
        rec_itm_dwt(&bytes, 2, 0x08001000 + 2 * (i % 9), 4);
        rec_itm_dwt(&bytes, 1, 0x100f, 2);
    }
    /* Packets of 5 and 3 bytes by turns: from any byte the next packet is found. */
    for (size_t cut = 0; cut < 8; cut++) {
        const size_t at = pug_itm_begin(bytes.data + cut, bytes.size - cut);
        assert_true(at < 8);
        assert_true((at + cut) % 8 == 0 || (at + cut) % 8 == 5);
    }
    assert_true(pug_itm_begin(bytes.data, 40) == SIZE_MAX); /* too few packets to be sure */
    rec_itm_async(&bytes);
    assert_true(pug_itm_begin(bytes.data, bytes.size) < 8); /* there is one, but late */
    rec_bytes_free(&bytes);
    rec_itm_async(&bytes);
    for (unsigned i = 0; i < 100; i++)
        rec_itm_dwt(&bytes, 1, 0x100f, 2);
    assert_true(pug_itm_begin(bytes.data, bytes.size) == SIZE_MAX); /* that is where it begins */
    rec_bytes_free(&bytes);
    assert_true(pug_itm_begin(NULL, 0) == SIZE_MAX);
}

static void noise_is_no_begin(void **state)
{
    static uint8_t bytes[20000];
    uint64_t random = 1;
    (void)state;
    for (unsigned round = 0; round < 20; round++) {
        for (size_t i = 0; i < sizeof(bytes); i++)
            bytes[i] = (uint8_t)next(&random);
        assert_true(pug_itm_begin(bytes, sizeof(bytes)) == SIZE_MAX);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scales),
        cmocka_unit_test(any_exceptions),
        cmocka_unit_test(any_elements),
        cmocka_unit_test(guesses),
        cmocka_unit_test(noise_is_no_begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
