// SPDX-License-Identifier: MIT
/** @file Options of a source change between two operations: each of them, at any place. */
#include "recorder/bytes.h"
#include "recorder/stm.h"
#include "support/stream.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h wants the three above first */
#include <cmocka.h>

/** Send bytes from *at up to `end`, whatever the answers. */
static void feed(struct stream_tree *stream, size_t *at, size_t end)
{
    while (*at < end) {
        size_t used = 0;
        enum pug_response answer =
            pug_tree_data(stream->tree, *at, stream->run->bytes + *at, end - *at, &used);
        *at += used;
        while (PUG_RESP_IS_WAIT(answer))
            answer = pug_tree_flush(stream->tree);
    }
}

static enum pug_status change(struct stream_tree *stream, const struct pug_decode_options *options)
{
    return pug_source_set_options(pug_tree_source_at(stream->tree, 0), options);
}

/* ---- payloads of messages ---- */

static const struct pug_setting stm_setting = {.name = "STMTCSR", .value = 0x00410005};

static struct rec_bytes nibbles(const char *text)
{
    struct rec_bytes bytes = {0};
    struct rec_stm stm = {.bytes = &bytes};
    rec_stm_nibbles(&stm, text);
    rec_stm_end(&stm);
    return bytes;
}

static void test_message_under_way(void **state)
{
    (void)state;
    /* four words of two bytes on a channel */
    struct rec_bytes bytes =
        nibbles("FFFFFFFFFFFFFFFFFFFFF0 F003 1 41 5 0011 5 2233 5 4455 5 6677");
    struct stream_lines lines = {0};
    struct stream_run run = {.protocol = "STM",
                             .settings = {&stm_setting, 1, NULL},
                             .bytes = bytes.data,
                             .size = bytes.size,
                             .lines = &lines,
                             .options.join_payloads = true,
                             .each_packet = true};
    struct stream_tree stream;
    size_t at = 0;
    stream_tree_open(&stream, &run);
    feed(&stream, &at, bytes.size - 5); /* two words, and the begin of the third */
    struct pug_decode_options options = run.options;
    options.join_payloads = false;
    assert_int_equal(change(&stream, &options), PUG_OK);
    feed(&stream, &at, bytes.size);
    pug_tree_end(stream.tree);
    stream_assert_lines(&lines, (const char *const[]){
                                    "0 NO_SYNC( [init-decoder])",
                                    "14 SWTRACE( (Ma:0x41; Ch:0x00) [11 00 33 22 ]; )",
                                    "19 SWTRACE( (Ma:0x41; Ch:0x00) 0x4455; )",
                                    "22 SWTRACE( (Ma:0x41; Ch:0x00) 0x6677; )",
                                    "24 EO_TRACE( [end-of-trace])",
                                    NULL,
                                });
    stream_tree_close(&stream);
    stream_lines_free(&lines);
    rec_bytes_free(&bytes);
}

/** All payload bytes in their order, of each element. */
struct payloads {
    struct rec_bytes bytes;
    unsigned joined, waits;
    struct rec_random random;
};

static enum pug_response on_payloads(void *context, const struct pug_element *elements,
                                     size_t count, size_t *taken)
{
    struct payloads *payloads = context;
    for (size_t i = 0; i < count; i++) {
        const struct pug_element *e = &elements[i];
        if (e->type != PUG_ELEM_SWTRACE)
            continue;
        rec_put(&payloads->bytes, (uint8_t)PUG_SW_CHANNEL(e));
        if (e->flags & PUG_ELEM_PAYLOAD) {
            payloads->joined++;
            for (uint32_t n = 0; n < e->count; n++) /* as if each byte had come alone */
                if (n == 0)
                    rec_put(&payloads->bytes, ((const uint8_t *)e->payload)[n]);
                else
                    rec_put_n(
                        &payloads->bytes,
                        (uint8_t[]){(uint8_t)PUG_SW_CHANNEL(e), ((const uint8_t *)e->payload)[n]},
                        2);
        } else {
            rec_put(&payloads->bytes, (uint8_t)e->value);
        }
        if (payloads->waits && rec_random_once_in(&payloads->random, payloads->waits)) {
            *taken = i + 1;
            return PUG_RESP_WAIT;
        }
    }
    return PUG_RESP_CONT;
}

/** Bytes on some channels; options change at random places, now and then while a consumer waits. */
static void run_payloads(const struct rec_bytes *bytes, uint64_t seed, struct payloads *payloads)
{
    struct rec_random random = {seed};
    struct stream_run run = {
        .protocol = "STM", .settings = {&stm_setting, 1, NULL}, .bytes = bytes->data};
    struct stream_tree stream;
    *payloads = (struct payloads){.waits = seed % 3 == 2 ? 5 : 0, .random = {seed}};
    stream_tree_open(&stream, &run);
    pug_tree_on_elements(stream.tree, on_payloads, payloads);
    for (size_t at = 0; at < bytes->size;) {
        size_t end = at + 1 + rec_random_below(&random, 60), used = 0;
        end = seed == 0 || end > bytes->size ? bytes->size : end;
        enum pug_response answer =
            pug_tree_data(stream.tree, at, bytes->data + at, end - at, &used);
        at += used;
        for (;;) {
            struct pug_decode_options options = {.join_payloads = rec_random(&random) & 1};
            if (seed > 0)
                assert_int_equal(change(&stream, &options), PUG_OK);
            if (!PUG_RESP_IS_WAIT(answer))
                break;
            answer = pug_tree_flush(stream.tree);
        }
    }
    while (PUG_RESP_IS_WAIT(pug_tree_end(stream.tree)))
        while (PUG_RESP_IS_WAIT(pug_tree_flush(stream.tree)))
            continue;
    stream_tree_close(&stream);
}

static void test_any_change(void **state)
{
    (void)state;
    unsigned joined = 0;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct rec_bytes bytes = {0};
        struct rec_stm stm = {.bytes = &bytes};
        struct rec_random random = {seed};
        struct payloads plain, changing;
        rec_stm_nibbles(&stm, "FFFFFFFFFFFFFFFFFFFFF0 F003 1 41");
        for (unsigned i = 0; i < 800; i++) {
            struct pug_stm_packet packet = {.type = PUG_STM_D8,
                                            .master = 0x41,
                                            .channel = 0,
                                            .payload = rec_random_below(&random, 250),
                                            .marker = rec_random_below(&random, 9) == 0};
            rec_stm_put(&stm, &packet);
        }
        rec_stm_end(&stm);
        run_payloads(&bytes, 0, &plain);
        run_payloads(&bytes, seed, &changing);
        assert_int_equal(changing.bytes.size, plain.bytes.size);
        assert_memory_equal(changing.bytes.data, plain.bytes.data, plain.bytes.size);
        assert_int_equal(plain.joined, 0);
        joined += changing.joined;
        rec_bytes_free(&plain.bytes);
        rec_bytes_free(&changing.bytes);
        rec_bytes_free(&bytes);
    }
    assert_true(joined > 600);
}

/* ---- opcodes ---- */

/** An opcode that A64 reserves is passed over until it is to be an error; then it is, at once. */
static void test_opcodes(void **state)
{
    static const struct pug_setting settings[] = {
        {.name = "TRCIDR0", .value = 0x28000EA1}, {.name = "TRCIDR1", .value = 0x4100F403},
        {.name = "TRCIDR2", .value = 0x488},      {.name = "TRCCONFIGR", .value = 1},
        {.name = "TRCTRACEIDR", .value = 0x10},   {.name = "arch", .value = 0x800}};
    static const uint32_t code[] = {0xd503201f, 0x00001234, 0x17fffffe}; /* nop; ?; b 0x1000 */
    static const uint8_t bytes[] = {0, 0,    0, 0, 0,    0,    0,    0,    0,   0,
                                    0, 0x80, 1, 0, 0x04, 0x85, 0,    0x08, 0,   0,
                                    0, 0,    0, 0, 0x31, 0xf7, 0xf7, 0xf7, 0xf7};
    (void)state;
    uint8_t memory[sizeof(code)];
    for (size_t i = 0; i < sizeof(memory); i++)
        memory[i] = (uint8_t)(code[i / 4] >> 8 * (i % 4));
    struct pug_image *image = pug_image_new();
    assert_int_equal(pug_image_add_buffer(image, NULL, 0x1000, memory, sizeof(memory)), PUG_OK);
    for (size_t cut = 26; cut <= sizeof(bytes); cut++) {
        struct stream_lines lines = {0};
        struct stream_run run = {.protocol = "ETMV4I",
                                 .settings = {settings, 6, NULL},
                                 .image = image,
                                 .bytes = bytes,
                                 .size = sizeof(bytes),
                                 .lines = &lines};
        struct pug_decode_options options = {.check_opcode = true};
        struct stream_tree stream;
        size_t at = 0, ranges = 0, errors = 0;
        stream_tree_open(&stream, &run);
        feed(&stream, &at, cut);
        assert_int_equal(change(&stream, &options), PUG_OK);
        feed(&stream, &at, sizeof(bytes));
        pug_tree_end(stream.tree);
        for (size_t i = 0; i < lines.count; i++) {
            ranges += strstr(lines.items[i], "INSTR_RANGE") != NULL;
            errors += lines.items[i][0] == '!';
        }
        assert_int_equal(ranges, cut - 25);
        assert_int_equal(errors > 0, cut < sizeof(bytes));
        stream_tree_close(&stream);
        stream_lines_free(&lines);
    }
    pug_image_free(image);
}

/* ---- data ---- */

/** A macrocell that traces data is refused where data are no elements, and only then. */
static void test_data(void **state)
{
    static const struct pug_setting settings[] = {{.name = "ETMIDR", .value = 0x4100F250},
                                                  {.name = "ETMCCER", .value = 0x10000000},
                                                  {.name = "ETMTRACEIDR", .value = 0x10},
                                                  {.name = "ETMCR", .value = 0xC}};
    static const uint8_t bytes[] = {0,    0,    0,    0,    0,    0x80, 0x08, 0x21, 0,
                                    0x80, 0,    0,    0x84, 0x2e, 0x80, 0xc0, 0x80, 0x80,
                                    0x02, 0x78, 0x56, 0x34, 0x12, 0x84, 0x26, 0x04, 0xff};
    static const uint8_t memory[] = {0, 0, 0x91, 0xe5, 0, 0, 0xc1, 0xe5};
    struct pug_decode_options data = {.data_elements = true}, none = {0};
    struct pug_image *image = pug_image_new();
    struct stream_lines lines = {0};
    struct stream_run run = {.protocol = "ETMV3",
                             .settings = {settings, 4, NULL},
                             .image = image,
                             .bytes = bytes,
                             .size = sizeof(bytes),
                             .lines = &lines,
                             .each_packet = true};
    struct stream_tree stream;
    size_t used;
    (void)state;
    assert_int_equal(pug_image_add_buffer(image, NULL, 0x8000, memory, sizeof(memory)), PUG_OK);
    stream_tree_open(&stream, &run);
    assert_int_equal(pug_tree_data(stream.tree, 0, bytes, 12, &used), PUG_RESP_FATAL_NOT_INIT);
    assert_int_equal(change(&stream, &data), PUG_OK);
    assert_int_equal(pug_tree_reset(stream.tree), PUG_RESP_CONT);
    size_t at = 0, values = 0;
    feed(&stream, &at, sizeof(bytes));
    pug_tree_end(stream.tree);
    for (size_t i = 0; i < lines.count; i++)
        values += strstr(lines.items[i], "DATA_VALUE") != NULL;
    assert_int_equal(values, 2);
    assert_int_equal(change(&stream, &none), PUG_OK);
    assert_int_equal(pug_tree_reset(stream.tree), PUG_RESP_FATAL_NOT_INIT);
    stream_tree_close(&stream);
    stream_lines_free(&lines);
    pug_image_free(image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_message_under_way),
        cmocka_unit_test(test_any_change),
        cmocka_unit_test(test_opcodes),
        cmocka_unit_test(test_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
