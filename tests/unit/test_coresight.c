// SPDX-License-Identifier: MIT
/** @file The CoreSight frame demultiplexer: the architecture's cases. */
#include "support/frame_listener.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/** As the reference does. */
static struct frame_listener *listen_as_reference(uint32_t flags)
{
    const struct pug_quirks quirks = pug_quirks_reference();
    return frame_listen(flags, false, &quirks);
}

/* ---- frames ---- */

/** Every kind of pair: ids that take effect before and after the odd byte, an id in byte 14. */
static void test_frame(void **unused)
{
    (void)unused;
    struct frame_listener *l = frame_listen(0x1c, false, &native);
    FEED(l, 1904, 0xf6, 0xd7, 0x70, 0xe8, 0x6c, 0x5d, 0xcf, 0xba, 0xdc, 0x11, 0xf3, 0x02, 0x28,
         0x01, 0x01, 0x79);
    assert_string_equal(frame_heard(l),
                        "Frame Data; Index   1904;    RAW_PACKED; f6 d7 70 e8 6c 5d cf ba dc 11 f3 "
                        "02 28 01 01 79 \n"
                        "Frame Data; Index   1904;   ID_DATA[????]; f7 d7 70 e8 6c 5d ba \n"
                        "Frame Data; Index   1910;   ID_DATA[0x67]; dd 11 02 \n"
                        "Frame Data; Index   1914;   ID_DATA[0x79]; 29 01 \n");
    assert_int_equal(l->stats.framing, 4);
    frame_dismiss(l);
}

static void test_seven_changes(void **unused)
{
    (void)unused;
    struct frame_listener *l = frame_listen(0x14, false, &native);
    FEED(l, 0, 0x41, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    frame_heard(l);
    FEED(l, 16, 0x03, 0x0e, 0x05, 0x0f, 0x07, 0x10, 0x09, 0x11, 0x0b, 0x12, 0x0d, 0x13, 0x0f, 0x14,
         0x50, 0xff);
    assert_string_equal(frame_heard(l), "Frame Data; Index     16;   ID_DATA[0x20]; 0e \n"
                                        "Frame Data; Index     16;   ID_DATA[0x01]; 0f \n"
                                        "Frame Data; Index     18;   ID_DATA[0x02]; 10 \n"
                                        "Frame Data; Index     20;   ID_DATA[0x03]; 11 \n"
                                        "Frame Data; Index     22;   ID_DATA[0x04]; 12 \n"
                                        "Frame Data; Index     24;   ID_DATA[0x05]; 13 \n"
                                        "Frame Data; Index     26;   ID_DATA[0x06]; 14 \n"
                                        "Frame Data; Index     28;   ID_DATA[0x07]; 51 \n");
    frame_dismiss(l);
}

/** The id change of the last pair takes effect after its odd byte, and byte 14 is an id again. */
static void test_empty_run(void **unused)
{
    (void)unused;
    static const uint8_t frame[] = {0x6b, 0x5f, 0xb2, 0x5e, 0x8c, 0x13, 0xf3, 0x79,
                                    0x24, 0x94, 0xc4, 0xd6, 0x41, 0xf0, 0x01, 0x5d};
    static const char *const runs = "Frame Data; Index   1968;   ID_DATA[????]; 5f \n"
                                    "Frame Data; Index   1968;   ID_DATA[0x35]; b2 5e 8d 13 79 \n"
                                    "Frame Data; Index   1974;   ID_DATA[0x79]; 25 94 c4 d6 f0 \n";
    size_t used;
    struct frame_listener *l = frame_listen(0x14, false, &native);
    frame_feed(l, 1968, frame, sizeof(frame), &used);
    assert_string_equal(frame_heard(l), runs);
    frame_dismiss(l);

    l = frame_listen(0x14, false, &(struct pug_quirks){.empty_run_fatal = 1});
    frame_feed(l, 1968, frame, sizeof(frame), &used);
    const char *text = frame_heard(l);
    assert_memory_equal(text, runs, strlen(runs));
    assert_string_equal(text + strlen(runs), "Frame Data; Index   1980;   ID_DATA[0x20]; \n");
    frame_dismiss(l);
}

/** An id that is given again is dropped without ending the run; one without data is replaced. */
static void test_repeated_ids(void **unused)
{
    (void)unused;
    struct frame_listener *l = frame_listen(0x14, false, &native);
    FEED(l, 0, 0x21, 1, 2, 3, 0x21, 4, 0x41, 5, 0x61, 6, 8, 9, 10, 11, 0x61, 0x58);
    assert_string_equal(frame_heard(l),
                        "Frame Data; Index      0;   ID_DATA[0x10]; 01 02 03 04 05 \n"
                        "Frame Data; Index      6;   ID_DATA[0x20]; 06 \n"
                        "Frame Data; Index      8;   ID_DATA[0x30]; 08 09 0b 0b \n");
    frame_dismiss(l);
}

static void test_special_ids(void **unused)
{
    (void)unused;
    struct frame_listener *l = frame_listen(0x04, false, &native);
    FEED(l, 0, 0xfb, 0x10, 0xf7, 0x11, 0x01, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    assert_int_equal(l->stats.triggers, 2);
    assert_string_equal(frame_heard(l), "DFMT_CSFRAMES : Trigger marker (ID 0x7D).\n"
                                        "DFMT_CSFRAMES : Flush response (ID 0x7B).\n");
    assert_true(l->transport->reserved(0) && l->transport->reserved(0x70));
    assert_false(l->transport->reserved(1) || l->transport->reserved(0x6f));
    frame_dismiss(l);
}

/* ---- synchronisation ---- */

static void test_half_syncs(void **unused)
{
    (void)unused;
    static const uint8_t stream[] = {FSYNC, 0x21, 0x01,  0x02, 0x03, HSYNC, 0x41, 0x04, 0x04, 0x06,
                                     0x06,  0x08, HSYNC, 0x08, 0x0a, 0x21,  0x0b, 0x0c, 0x78};
    static const char *const runs =
        "Frame Data; Index      4;   ID_DATA[0x10]; 01 02 03 \n"
        "Frame Data; Index      8;   ID_DATA[0x20]; 04 05 06 07 08 09 0a 0b \n"
        "Frame Data; Index     16;   ID_DATA[0x10]; 0c \n";
    size_t used;
    struct frame_listener *l = frame_listen(0x1b, false, &native);
    frame_feed(l, 0, stream, sizeof(stream), &used);
    const char *text = frame_heard(l);
    static const char *const packed = "Frame Data; Index      0;    RAW_PACKED; ff ff ff 7f 21 01 "
                                      "02 03 ff 7f 41 04 04 06 06 08 \n"
                                      "ff 7f 08 0a 21 0b 0c 78 \n";
    assert_memory_equal(text, packed, strlen(packed));
    assert_string_equal(text + strlen(packed), runs);
    assert_int_equal(l->stats.framing, 8 + 4);
    frame_dismiss(l);

    l = listen_as_reference(0x13);
    frame_feed(l, 0, stream, 2, &used); /* too short to search in: nothing is lost */
    assert_int_equal(used, 2);
    frame_feed(l, 2, stream + 2, sizeof(stream) - 2, &used);
    assert_string_equal(frame_heard(l), runs);
    frame_dismiss(l);
}

/** HSYNCs before the first byte of a frame belong to the frame's place. */
static void test_leading_half_sync(void **unused)
{
    (void)unused;
    static const uint8_t stream[] = {FSYNC, HSYNC, 0x21, 1,  2,  3,  4,  5,  6,
                                     7,     8,     9,    10, 11, 12, 13, 14, 0};
    size_t used;
    struct frame_listener *l = frame_listen(0x13, false, &native);
    frame_feed(l, 0, stream, sizeof(stream), &used);
    assert_memory_equal(frame_heard(l), "Frame Data; Index      6;", 25);
    frame_dismiss(l);
    l = frame_listen(0x13, false, &(struct pug_quirks){.hsync_not_in_index = 1});
    frame_feed(l, 0, stream, sizeof(stream), &used);
    assert_memory_equal(frame_heard(l), "Frame Data; Index      4;", 25);
    frame_dismiss(l);
}

static void test_unexpected_syncs(void **unused)
{
    (void)unused;
    static const struct {
        uint8_t bytes[24];
        const char *strict, *right;
        uint64_t dropped;
    } cases[] = {
        {{FSYNC, 0x21, 1, 2, 3, HSYNC, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 0, 0x41, 1},
         "Bad HSYNC in frame.",
         "Frame Data; Index      4;   ID_DATA[0x10]; 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e \n",
         2},
        {{FSYNC, 0x21, 1, FSYNC, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0},
         "Bad FSYNC start in frame or invalid ID (0x7F).",
         "DFMT_CSFRAMES : 0x0012 (OCSD_ERR_DFMTR_BAD_FHSYNC) [Bad frame or half frame sync in "
         "trace "
         "deformatter]; TrcIdx=6; FSYNC in frame.\n"
         "RESET 6\n"
         "DFMT_CSFRAMES : 0x0040 (unknown); TrcIdx=10; 14 bytes of a frame that is not whole.\n",
         2},
        {{FSYNC, 0xff, 0xff, 0x12, 0x13, FSYNC, 1},
         "Bad FSYNC start in frame or invalid ID (0x7F).",
         "DFMT_CSFRAMES : 0x0012 (OCSD_ERR_DFMTR_BAD_FHSYNC) [Bad frame or half frame sync in "
         "trace "
         "deformatter]; TrcIdx=4; Bad FSYNC start in frame or invalid ID (0x7F).\n"
         "RESET 4\n"
         "DFMT_CSFRAMES : 4 bytes skipped before synchronisation.\n",
         12},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        size_t used;
        struct frame_listener *l =
            frame_listen(0x11, false, &(struct pug_quirks){.sync_error_fatal = 1});
        assert_int_equal(frame_feed(l, 0, cases[i].bytes, 24, &used), PUG_RESP_FATAL_INVALID_DATA);
        assert_int_equal(used, 0);
        assert_non_null(strstr(frame_heard(l), cases[i].strict));
        frame_dismiss(l);
        l = frame_listen(0x11, false, &native);
        assert_false(PUG_RESP_IS_FATAL(frame_feed(l, 0, cases[i].bytes, 24, &used)));
        assert_int_equal(used, 24);
        l->transport->end(l->state);
        assert_memory_equal(frame_heard(l), cases[i].right, strlen(cases[i].right));
        frame_dismiss(l);
    }
}

static void test_search(void **unused)
{
    (void)unused;
    uint8_t stream[64] = {0};
    static const uint8_t sync[] = {FSYNC};
    size_t used;
    memcpy(stream + 21, sync, 4); /* at an odd place */
    stream[25] = 0x21;
    struct frame_listener *l = frame_listen(0x11, false, &native);
    frame_feed(l, 0, stream, 20, &used);
    assert_int_equal(used, 20);
    frame_feed(l, 20, stream + 20, 44, &used);
    assert_int_equal(used, 44);
    l->transport->end(l->state);
    assert_int_equal(l->stats.skipped, 21);
    assert_int_equal(l->stats.dropped, 7);
    assert_string_equal(
        frame_heard(l),
        "DFMT_CSFRAMES : 21 bytes skipped before synchronisation.\n"
        "Frame Data; Index     25;   ID_DATA[0x10]; 00 00 00 00 00 00 00 00 00 00 00 00 00 "
        "00 \n"
        "Frame Data; Index     41;   ID_DATA[0x10]; 00 00 00 00 00 00 00 00 00 00 00 00 00 "
        "00 00 \n"
        "DFMT_CSFRAMES : 0x0040 (unknown); TrcIdx=57; 7 bytes of a frame that is not whole.\n");
    frame_dismiss(l);

    l = listen_as_reference(0x01);
    frame_feed(l, 0, stream, 20, &used);
    assert_int_equal(used, 17);
    assert_int_equal(frame_feed(l, 17, stream + 17, 3, &used), PUG_RESP_FATAL_INVALID_DATA);
    assert_string_equal(frame_heard(l),
                        "DFMT_CSFRAMES : 0x0006 (OCSD_ERR_INVALID_PARAM_VAL) [Invalid value "
                        "parameter passed to component.]; Input block incorrect size, must be 4 "
                        "byte multiple\n");
    frame_dismiss(l);
}

static void test_padding(void **unused)
{
    (void)unused;
    static const uint8_t stream[] = {0x61,  0,     0,     0,     0,    0,    0,    0,    0,
                                     0,     0,     0,     0,     0,    0x21, 0, /* next: 0x10 */
                                     0x41,  1,     2,     3,     4,    5,    6,    7,    8,
                                     9,     10,    11,    12,    13,   0x21, 0, /* next: 0x10 */
                                     FSYNC, FSYNC, FSYNC, FSYNC, 0x0e, 0x0f, 0x61, 0x10, 0x10,
                                     0x12,  0x12,  0x14,  0x14,  0x16, 0x21, 0x17, 0x18, 0x19,
                                     0x20,  0x3c};
    static const char *const right = "Frame Data; Index     48;   ID_DATA[????]; 0e 0f \n"
                                     "Frame Data; Index     50;   ID_DATA[0x30]; 10 11 12 13 14 15 "
                                     "16 17 \n";
    static const char *const as_data =
        "Frame Data; Index     32;   ID_DATA[0x10]; ff \n"
        "Frame Data; Index     32;   ID_DATA[0x7f]; 7f ff 7f ff 7f ff \n";
    size_t used;
    struct frame_listener *l = frame_listen(0x14, false, &native);
    frame_feed(l, 0, stream, 32, &used);
    frame_heard(l);
    frame_feed(l, 32, stream + 32, 32, &used);
    const char *text = strchr(frame_heard(l), '\n') + 1; /* after the FSYNC line */
    assert_memory_equal(text, right, strlen(right));
    assert_int_equal(l->resets, 0);
    frame_dismiss(l);

    l = frame_listen(0x14, false, &(struct pug_quirks){.fsync_padding_is_data = 1});
    frame_feed(l, 0, stream, 32, &used);
    frame_heard(l);
    frame_feed(l, 32, stream + 32, 16, &used);
    assert_memory_equal(frame_heard(l), as_data, strlen(as_data));
    frame_dismiss(l);

    l = listen_as_reference(0x3c);
    frame_feed(l, 0, stream, 32, &used);
    frame_heard(l);
    frame_feed(l, 32, stream + 32, 32, &used);
    static const char *const reset = "RESET 32\n"
                                     "Frame Data; Index     32;         FSYNC; ff ff ff 7f ff ff "
                                     "ff 7f ff ff ff 7f ff ff ff 7f \n"
                                     "Frame Data; Index     32;    RAW_PACKED; ff ff ff 7f ff ff "
                                     "ff 7f ff ff ff 7f ff ff ff 7f \n"
                                     "0e 0f 61 10 10 12 12 14 14 16 21 17 18 19 20 3c \n";
    text = frame_heard(l);
    assert_memory_equal(text, reset, strlen(reset));
    assert_memory_equal(text + strlen(reset), right, strlen(right));
    frame_dismiss(l);

    /* five of them are no padding */
    l = listen_as_reference(0x24);
    uint8_t five[32];
    memcpy(five, stream + 32, 16);
    memcpy(five + 16, stream + 32, 4);
    memset(five + 20, 0, 12);
    assert_int_equal(frame_feed(l, 0, five, 32, &used), PUG_RESP_FATAL_INVALID_DATA);
    assert_int_equal(used, 0);
    assert_string_equal(frame_heard(l),
                        "DFMT_CSFRAMES : 0x0012 (OCSD_ERR_DFMTR_BAD_FHSYNC) [Bad frame or half "
                        "frame sync in trace deformatter]; TrcIdx=0; Incorrect FSYNC frame reset "
                        "pattern\n");
    frame_dismiss(l);
}

static void test_input_must_join(void **unused)
{
    (void)unused;
    struct frame_listener *l = frame_listen(0x04, false, &native);
    uint8_t frame[16] = {0};
    size_t used;
    frame_feed(l, 0, frame, 16, &used);
    assert_int_equal(frame_feed(l, 32, frame, 16, &used), PUG_RESP_FATAL_INVALID_DATA);
    assert_string_equal(frame_heard(l),
                        "DFMT_CSFRAMES : 0x0011 (OCSD_ERR_DFMTR_NOTCONTTRACE) [Trace input "
                        "to deformatter none-continuous]; TrcIdx=32; \n");
    l->transport->reset(l->state);
    assert_int_equal(frame_feed(l, 32, frame, 16, &used), PUG_RESP_CONT);
    frame_dismiss(l);
}

/** Runs that a consumer made wait are delivered before the end, or lost with it. */
static void test_end_while_waiting(void **unused)
{
    (void)unused;
    static const uint8_t frame[] = {0x21, 1, 2, 3, 4, 5, 0x40, 7, 8, 9, 10, 11, 12, 13, 14, 0};
    for (unsigned lost = 0; lost < 2; lost++) {
        size_t used;
        struct frame_listener *l =
            frame_listen(0x04, false, &(struct pug_quirks){.end_does_not_wait = lost});
        l->waits = 1;
        assert_int_equal(frame_feed(l, 0, frame, sizeof(frame), &used), PUG_RESP_WAIT);
        size_t before = l->count;
        assert_true(before < 14);
        l->waits = 0;
        assert_int_equal(l->transport->end(l->state), PUG_RESP_CONT);
        assert_int_equal(l->count, lost ? before : 14);
        frame_dismiss(l);
    }
}

static void test_block_sizes(void **unused)
{
    (void)unused;
    static const struct {
        uint32_t flags;
        size_t size;
        const char *unit;
    } cases[] = {{0x04, 8, "16"}, {0x01, 6, "4"}, {0x03, 5, "2"}, {0x18, 12, "16"}};
    for (size_t i = 0; i < 4; i++) {
        uint8_t bytes[16] = {0};
        char text[80];
        size_t used;
        struct frame_listener *l = listen_as_reference(cases[i].flags);
        assert_int_equal(frame_feed(l, 0, bytes, cases[i].size, &used),
                         PUG_RESP_FATAL_INVALID_DATA);
        snprintf(text, sizeof(text), "must be %s byte multiple\n", cases[i].unit);
        assert_non_null(strstr(frame_heard(l), text));
        frame_dismiss(l);
        l = frame_listen(cases[i].flags, false, &native);
        assert_int_equal(frame_feed(l, 0, bytes, cases[i].size, &used), PUG_RESP_CONT);
        assert_int_equal(used, cases[i].size);
        frame_dismiss(l);
    }
}

static void test_settings(void **unused)
{
    (void)unused;
    static const struct {
        struct pug_setting items[2];
        size_t count;
        const char *wrong;
    } cases[] = {
        {{{.name = "fsyncs", .value = 1}, {.name = "hsyncs", .value = 1}}, 2, NULL},
        {{{.name = NULL}}, 0, NULL},
        {{{.name = "flags", .value = 0x18}}, 1, NULL},
        {{{.name = "flags", .value = 0}}, 1, "No Config Flags Set"},
        {{{.name = "flags", .value = 0x44}}, 1, "Unknown Config Flags"},
        {{{.name = "flags", .value = 0x45}}, 1, "Invalid Config Flag Combination Set"},
        {{{.name = "fsyncs", .value = 1}, {.name = "mem_align", .value = 1}},
         2,
         "Invalid Config Flag Combination Set"},
    };
    const struct pug_transport *transport = pug_transport_find("coresight");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct pug_log *log = pug_log_new(PUG_SEV_INFO);
        struct pug_transport_sink sink = {.log = log};
        struct pug_settings settings = {.items = cases[i].items, .count = cases[i].count};
        void *state = NULL;
        enum pug_status status = transport->create(&settings, &sink, &state);
        assert_int_equal(status, cases[i].wrong ? PUG_ERR_INVALID_PARAM_VAL : PUG_OK);
        if (cases[i].wrong)
            assert_string_equal(pug_log_last(log)->text, cases[i].wrong);
        else
            transport->free(state);
        pug_log_free(log);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frame),
        cmocka_unit_test(test_seven_changes),
        cmocka_unit_test(test_empty_run),
        cmocka_unit_test(test_repeated_ids),
        cmocka_unit_test(test_special_ids),
        cmocka_unit_test(test_half_syncs),
        cmocka_unit_test(test_leading_half_sync),
        cmocka_unit_test(test_unexpected_syncs),
        cmocka_unit_test(test_search),
        cmocka_unit_test(test_padding),
        cmocka_unit_test(test_input_must_join),
        cmocka_unit_test(test_end_while_waiting),
        cmocka_unit_test(test_block_sizes),
        cmocka_unit_test(test_settings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
