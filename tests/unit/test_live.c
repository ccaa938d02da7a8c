// SPDX-License-Identifier: MIT
/** @file Live inputs: what their names say, what their first bytes are, OpenOCD's notifications. */
#include "live/live.h"
#include "recorder/orbflow.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
/* cmocka.h wants the three above first */
#include <cmocka.h>

static void names_of_places(void **state)
{
    (void)state;
    struct pug_live_place place;
    const char *why;
    assert_true(pug_live_names("tcp:localhost:1"));
    assert_true(pug_live_names("openocd"));
    assert_true(pug_live_names("openocd:board:4444"));
    assert_false(pug_live_names("./openocd"));
    assert_false(pug_live_names("openocd.bin"));
    assert_false(pug_live_names("trace.bin"));
    assert_true(pug_live_place("tcp:[::1]:80", &place, &why));
    assert_string_equal(place.host, "::1");
    assert_string_equal(place.port, "80");
    assert_true(pug_live_place("serial:/dev/tty@x@2250000", &place, &why));
    assert_string_equal(place.path, "/dev/tty@x");
    assert_int_equal(place.baud, 2250000);
    assert_true(pug_live_place("tcp-listen:4000", &place, &why));
    assert_string_equal(place.host, "127.0.0.1");
    assert_true(pug_live_place("jlink::2999", &place, &why));
    assert_string_equal(place.host, "localhost");
    assert_string_equal(place.port, "2999");
    assert_true(pug_live_place("orbuculum", &place, &why));
    assert_int_equal(place.fallback, 3443);
    static const char *const wrong[] = {
        "tcp:",  "tcp:host", "tcp:host:0", "tcp:host:65536", "tcp:host:x", "tcp:[::1",
        "unix:", "serial:",  "serial:/x@", "serial:/x@fast", "tcp-listen:"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_false(pug_live_place(wrong[i], &place, &why));
}

struct guess {
    const char *bytes;
    size_t size;
    enum pug_live_kind running, paused, ended;
};

#define BYTES(text) (text), sizeof(text) - 1
#define ALWAYS(k)   (k), (k), (k)

static void guesses(void **state)
{
    (void)state;
    static const struct guess all[] = {
        {BYTES("\0\0\0\0\0\x80"), ALWAYS(PUG_LIVE_ITM)},
        {BYTES("\0\0\0"), PUG_LIVE_UNDECIDED, PUG_LIVE_UNDECIDED, PUG_LIVE_UNKNOWN},
        {BYTES("\x01H"), PUG_LIVE_UNDECIDED, PUG_LIVE_ITM_OPEN, PUG_LIVE_ITM_OPEN},
        {BYTES("\x01"), PUG_LIVE_UNDECIDED, PUG_LIVE_UNDECIDED, PUG_LIVE_UNKNOWN},
        {BYTES("\x01H\x01H\x01H\x01H\x01H\x01H\x01H\x01H\x01H\x01H\x01H\x01H\x01H\x01H\x01H\x01H"),
         ALWAYS(PUG_LIVE_ITM_OPEN)},
        {BYTES("\xff\xff\xff\x7f"), ALWAYS(PUG_LIVE_TPIU)},
        /* The largest number, written to a port, is no frame. */
        {BYTES("\x03\xff\xff\xff\x7f"), PUG_LIVE_UNDECIDED, PUG_LIVE_ITM_OPEN, PUG_LIVE_ITM_OPEN},
        {BYTES("\x04\x04\xff\xff\xff\x7f"), ALWAYS(PUG_LIVE_TPIU)},
        {BYTES("\x07\x01\x01i\x01\x0a\x8a\0"), ALWAYS(PUG_LIVE_ORBFLOW)},
        {BYTES("\x07\x01\x01i\x01\x0a\x8b\0"), PUG_LIVE_UNDECIDED, PUG_LIVE_UNDECIDED,
         PUG_LIVE_UNKNOWN},
        {BYTES("\x07\x01\x01i"), PUG_LIVE_UNDECIDED, PUG_LIVE_UNDECIDED, PUG_LIVE_UNKNOWN},
        {BYTES(PUG_LIVE_MARK), ALWAYS(PUG_LIVE_ORBFLOW)},
        {BYTES("PERFILE2"), ALWAYS(PUG_LIVE_PERF)},
        {BYTES("PERF"), PUG_LIVE_UNDECIDED, PUG_LIVE_UNDECIDED, PUG_LIVE_ITM_OPEN},
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        const uint8_t *bytes = (const uint8_t *)all[i].bytes;
        const enum pug_live_kind found[] = {pug_live_guess(bytes, all[i].size, false, false),
                                            pug_live_guess(bytes, all[i].size, true, false),
                                            pug_live_guess(bytes, all[i].size, true, true)};
        const enum pug_live_kind wanted[] = {all[i].running, all[i].paused, all[i].ended};
        for (size_t n = 0; n < 3; n++)
            if (found[n] != wanted[n])
                fail_msg("guess %zu, %zu: %d, not %d", i, n, found[n], wanted[n]);
    }
}

/** Whatever the bytes are, it decides in the end, and reads nothing beyond them. */
static void guesses_of_anything(void **state)
{
    (void)state;
    static uint8_t bytes[PUG_LIVE_ENOUGH];
    uint32_t random = 1;
    for (unsigned round = 0; round < 200; round++) {
        for (size_t i = 0; i < sizeof(bytes); i++) {
            random = random * 1664525u + 1013904223u;
            bytes[i] = round % 3 ? (uint8_t)(random >> 24) : (uint8_t)(random >> 31);
        }
        assert_int_not_equal(pug_live_guess(bytes, sizeof(bytes), false, false),
                             PUG_LIVE_UNDECIDED);
    }
}

static void notifications(void **state)
{
    (void)state;
    static const char text[] = "\x1atype target_state state halted\r\n\x1a"
                               "type target_trace data 0148\r\n\x1a"
                               "type target_trace data zz0\r\n\x1a"
                               "type target_trace data 0169\r\n\x1a";
    for (size_t piece = 1; piece < sizeof(text); piece++) {
        struct pug_live_tcl tcl = {.digit = -1};
        uint8_t got[sizeof(text)];
        size_t count = 0;
        for (size_t at = 0; at < sizeof(text) - 1; at += piece) {
            const size_t left = sizeof(text) - 1 - at, size = left < piece ? left : piece;
            memcpy(got + count, text + at, size);
            count += pug_live_tcl(&tcl, got + count, size);
        }
        assert_int_equal(count, 4);
        assert_memory_equal(got, "\x01H\x01i", 4);
    }
}

/** Packets of any size are recognised when they are whole, and not before. */
static void packets(void **state)
{
    (void)state;
    static uint8_t data[4094];
    for (size_t size = 1; size <= sizeof(data); size = size < 300 ? size + 1 : size + 1897) {
        struct rec_bytes packet = {0};
        for (size_t i = 0; i < size; i++)
            data[i] = (uint8_t)(i % 251 * (size % 2));
        rec_orbflow(&packet, 1, data, size);
        assert_int_equal(pug_live_guess(packet.data, packet.size, false, false), PUG_LIVE_ORBFLOW);
        rec_bytes_free(&packet);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(names_of_places), cmocka_unit_test(guesses),
                                       cmocka_unit_test(guesses_of_anything),
                                       cmocka_unit_test(notifications), cmocka_unit_test(packets)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
