// SPDX-License-Identifier: MIT
/** @file The public reader of the encapsulation: packets with all they carry, types of one's own.
 */
#include "pugmark/pugmark.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
/* cmocka.h wants the three above first */
#include <cmocka.h>

static const struct pug_setting items[] = {{.name = "src_bits", .value = 8},
                                           {.name = "timestamp_bytes", .value = 2},
                                           {.name = "type_bits", .value = 8}};

/* source 2, type 7, time 0x1234, flow 1; nulls; source 3, type 0; source 2, type 9 */
static const uint8_t stream[] = {0xa3, 0x02, 0x34, 0x12, 0x07, 0xbe, 0xba, 0x60, 0x80, 0x02,
                                 0x03, 0x00, 0x1f, 0x02, 0x02, 0x09, 0x55, 0x01, 0x02};

struct taken {
    unsigned count;
    uint8_t last;
};

static void take(void *context, const struct pug_encapsulation_packet *packet)
{
    struct taken *taken = context;
    taken->count++;
    taken->last = packet->payload[0];
}

static size_t words(void *context, const struct pug_encapsulation_packet *packet, char *buffer,
                    size_t size)
{
    (void)context;
    return (size_t)snprintf(buffer, size, "%u bytes", packet->size);
}

static struct pug_encapsulation *open_reader(size_t count, struct pug_log *log)
{
    struct pug_encapsulation *reader;
    const struct pug_settings settings = {.items = items, .count = count};
    assert_int_equal(pug_encapsulation_new(&settings, log, &reader), PUG_OK);
    return reader;
}

static void test_packets(void **state)
{
    static const char *const lines[] = {
        ("Idx:0; SRC:2; [0xa3 0x02 0x34 0x12 0x07 0xbe 0xba ];\tENCAP_PKT : len=3 flow=1 ts=0x1234 "
         "type=7 MINE : 2 bytes"),
        "Idx:7; SRC:0; [0x60 ];\tENCAP_NULL_IDLE : flow=3",
        "Idx:8; SRC:0; [0x80 ];\tENCAP_NULL_ALIGN : flow=0",
        "Idx:9; SRC:3; [0x02 0x03 0x00 0x1f ];\tENCAP_PKT : len=2 flow=0 type=0",
        "Idx:13; SRC:2; [0x02 0x02 0x09 0x55 ];\tENCAP_PKT : len=2 flow=0 type=9 ANY"};
    (void)state;
    for (size_t piece = 1; piece <= sizeof(stream); piece++) {
        struct taken mine = {0}, any = {0};
        const struct pug_encapsulation_type types[] = {{.source = PUG_ENCAPSULATION_ANY_SOURCE,
                                                        .type = 7,
                                                        .name = "ANY",
                                                        .take = take,
                                                        .context = &any},
                                                       {.source = PUG_ENCAPSULATION_ANY_SOURCE,
                                                        .type = 9,
                                                        .name = "ANY",
                                                        .take = take,
                                                        .context = &any},
                                                       {.source = 2,
                                                        .type = 7,
                                                        .name = "MINE",
                                                        .text = words,
                                                        .take = take,
                                                        .context = &mine}};
        struct pug_encapsulation *reader = open_reader(3, NULL);
        struct pug_encapsulation_packet packet;
        for (size_t i = 0; i < 3; i++)
            assert_int_equal(pug_encapsulation_register(reader, &types[i]), PUG_OK);
        size_t at = 0, count = 0;
        for (bool ended = false; !ended;) {
            size_t left = sizeof(stream) - at;
            if (left == 0) {
                pug_encapsulation_end(reader);
                ended = true;
            }
            at += pug_encapsulation_fill(reader, at, stream + at, left < piece ? left : piece);
            while (pug_encapsulation_next(reader, &packet)) {
                char line[300];
                assert_true(count < 5);
                size_t length = pug_encapsulation_line(&packet, line, sizeof(line));
                assert_int_equal(length, strlen(line));
                assert_string_equal(line, lines[count++]);
            }
        }
        assert_int_equal(count, 5);
        assert_int_equal(mine.count, 1);
        assert_int_equal(mine.last, 0xbe);
        assert_int_equal(any.count, 1);
        assert_int_equal(any.last, 0x55);
        assert_int_equal(pug_encapsulation_skipped(reader), 2); /* the last packet is cut */
        pug_encapsulation_free(reader);
    }
}

static void test_one_packet(void **state)
{
    struct pug_encapsulation *reader = open_reader(3, NULL);
    struct pug_encapsulation_packet packet;
    (void)state;
    assert_false(pug_encapsulation_parse(reader, 0, stream, 6, &packet));
    assert_true(pug_encapsulation_parse(reader, 40, stream, sizeof(stream), &packet));
    assert_int_equal(packet.index, 40);
    assert_int_equal(packet.raw_size, 7);
    assert_int_equal(packet.type, 7);
    assert_int_equal(packet.content, PUG_ENCAPSULATION_OTHER);
    pug_encapsulation_free(reader);
    pug_encapsulation_free(NULL);
}

static void test_bad_settings(void **state)
{
    static const struct pug_setting bad = {.name = "src_bits", .value = 99};
    struct pug_encapsulation *reader;
    (void)state;
    assert_int_equal(
        pug_encapsulation_new(&(struct pug_settings){.items = &bad, .count = 1}, NULL, &reader),
        PUG_ERR_INVALID_PARAM_VAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_packets),
        cmocka_unit_test(test_one_packet),
        cmocka_unit_test(test_bad_settings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
