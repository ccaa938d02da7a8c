// SPDX-License-Identifier: MIT
/** @file ORBFLOW: COBS and frame vectors, indexes of what they carry, damage, any split. */
#include "recorder/itm.h"
#include "recorder/orbflow.h"
#include "support/state_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct pug_setting setting = {.name = "ITMTCR", .value = 0x00010000};

static void assert_bytes(const struct rec_bytes *bytes, const char *wanted)
{
    char text[2048] = "";
    for (size_t i = 0; i < bytes->size; i++)
        snprintf(text + 3 * i, 4, "%02x ", bytes->data[i]);
    assert_string_equal(text, wanted);
}

static void vectors(void **state)
{
    (void)state;
    struct rec_bytes bytes = {0};
    rec_cobs(&bytes, (const uint8_t[]){0}, 1);
    rec_cobs(&bytes, (const uint8_t[]){0x11, 0x22, 0, 0x33}, 4);
    rec_cobs(&bytes, (const uint8_t[]){0x11, 0, 0, 0}, 4);
    rec_orbflow(&bytes, 1, (const uint8_t[]){1, 0x55, 0}, 3);
    assert_bytes(&bytes, "01 01 00 03 11 22 02 33 00 02 11 01 01 01 00 04 01 01 55 02 a9 00 ");
    rec_bytes_free(&bytes);
    uint8_t full[254];
    for (unsigned i = 0; i < sizeof(full); i++)
        full[i] = (uint8_t)(i + 1);
    rec_cobs(&bytes, full, sizeof(full));
    assert_int_equal(bytes.size, 256);
    assert_int_equal(bytes.data[0], 0xff);
    assert_int_equal(bytes.data[254], 0xfe);
    assert_int_equal(bytes.data[255], 0);
    rec_bytes_free(&bytes);
}

/* ---- what comes out of frames ---- */

struct taken {
    struct rec_bytes bytes;
    uint64_t index[20000];
};

static void on_frame(void *context, enum pug_op op, uint64_t index, enum pug_frame_kind kind,
                     uint16_t source, const uint8_t *bytes, size_t size)
{
    struct taken *taken = context;
    (void)op;
    assert_int_equal(kind, PUG_FRAME_ID_DATA);
    assert_int_equal(source, 7);
    for (size_t i = 0; i < size; i++)
        taken->index[taken->bytes.size + i] = index + i;
    rec_put_n(&taken->bytes, bytes, size);
}

/** Payload bytes are where they were captured; the zeros of COBS stand at the code bytes. */
static void round_trip(void **state)
{
    (void)state;
    struct taken *taken = calloc(1, sizeof(*taken));
    struct rec_random random = {3};
    struct rec_bytes want = {0}, stream = {0};
    for (unsigned frame = 0; frame < 12; frame++) {
        uint8_t data[1000];
        size_t size = 1 + rec_random_below(&random, sizeof(data));
        unsigned zeros = 1 + rec_random_below(&random, 900);
        for (size_t i = 0; i < size; i++)
            data[i] =
                rec_random_once_in(&random, zeros) ? 0 : (uint8_t)(1 + rec_random(&random) % 255);
        rec_put_n(&want, data, size);
        rec_orbflow(&stream, 7, data, size);
    }
    struct pug_tree *tree;
    size_t used;
    struct pug_tree_config config = {.transport = "orbflow"};
    assert_int_equal(pug_tree_new(&config, &tree), PUG_OK);
    pug_tree_on_frames(tree, on_frame, taken, 2);
    assert_int_equal(pug_tree_data(tree, 0, stream.data, stream.size, &used), PUG_RESP_CONT);
    assert_int_equal(used, stream.size);
    assert_int_equal(taken->bytes.size, want.size);
    assert_memory_equal(taken->bytes.data, want.data, want.size);
    for (size_t i = 0; i < want.size; i++)
        if (want.data[i] != 0)
            assert_int_equal(stream.data[taken->index[i]], want.data[i]);
        else
            assert_true(i == 0 || taken->index[i] > taken->index[i - 1]);
    const struct pug_transport_stats *stats = pug_tree_transport_stats(tree);
    assert_int_equal(stats->framing + stats->no_decoder, stream.size);
    pug_tree_free(tree);
    rec_bytes_free(&taken->bytes);
    free(taken);
    rec_bytes_free(&want);
    rec_bytes_free(&stream);
}

/** `timed`: with local timestamps, which are counted from the beginning. */
static struct rec_bytes itm_frames(bool timed)
{
    struct rec_bytes itm = {0}, bytes = {0};
    rec_itm_async(&itm);
    for (unsigned i = 0; i < 40; i++) {
        rec_itm_swit(&itm, 0, 'a' + i % 26, 1);
        rec_itm_dwt(&itm, 17, i, 4);
        if (timed)
            rec_itm_local_ts(&itm, 0, 100 * i);
    }
    for (size_t at = 0; at < itm.size; at += 37)
        rec_orbflow(&bytes, 1, itm.data + at, itm.size - at < 37 ? itm.size - at : 37);
    rec_bytes_free(&itm);
    return bytes;
}

static void any_split_any_wait(void **state)
{
    (void)state;
    struct rec_bytes bytes = itm_frames(true);
    struct stream_lines lines = {0};
    struct stream_run run = {.protocol = "ITM",
                             .transport = "orbflow",
                             .settings = {.items = &setting, .count = 1},
                             .bytes = bytes.data,
                             .size = bytes.size,
                             .lines = &lines};
    stream_check_splits_and_waits(&run, 1);
    for (uint64_t seed = 1; seed <= 200; seed++)
        stream_check_damage(&run, seed);
    stream_lines_free(&lines);
    rec_bytes_free(&bytes);
}

/** A decoder that begins in a frame loses it, and is right from the next synchronisation on. */
static void states(void **state)
{
    (void)state;
    struct rec_bytes bytes = {0};
    for (unsigned i = 0; i < 20; i++) {
        struct rec_bytes frames = itm_frames(false);
        rec_put_n(&bytes, frames.data, frames.size);
        rec_bytes_free(&frames);
    }
    struct stream_run run = {.protocol = "ITM",
                             .transport = "orbflow",
                             .settings = {.items = &setting, .count = 1},
                             .bytes = bytes.data,
                             .size = bytes.size};
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct state_check check = {.starts = 8, .seed = seed};
        state_check(&run, &check);
        assert_true(check.met == check.starts && check.slowest < 500);
        state_check_damaged(&run, &check);
        assert_true(check.met > check.starts / 2);
    }
    rec_bytes_free(&bytes);
}

static void faults(void **state)
{
    (void)state;
    static const uint8_t bytes[] = {
        0x00,                               /* nothing */
        0x02, 0x01, 0x02, 0x55, 0x00,       /* 01 00 55: sum is not 0 */
        0x05, 0x01, 0x02, 0x00,             /* ends inside a group */
        0x02, 0x00, 0x01, 0x01, 0x00,       /* the same, then 00 alone: too short */
        0x03, 0x01, 0x70, 0x02, 0x8f, 0x00, /* 01 70 00 8f: good */
        0x03, 0x01,                         /* the capture ends */
    };
    struct stream_lines lines = {0};
    struct stream_run run = {.protocol = "ITM",
                             .transport = "orbflow",
                             .settings = {.items = &setting, .count = 1},
                             .bytes = bytes,
                             .size = sizeof(bytes),
                             .each_packet = true,
                             .lines = &lines};
    stream_run(&run);
    stream_assert_lines(&lines, (const char *const[]){
                                    "! 1 frame with a wrong checksum",
                                    "! 6 frame ends inside a group",
                                    "! 10 frame ends inside a group",
                                    "! 12 frame too short",
                                    "17 NO_SYNC( [init-decoder])",
                                    "! 21 the capture ends inside a frame",
                                    "18 EO_TRACE( [end-of-trace])",
                                    NULL,
                                });
    stream_lines_free(&lines);
}

static void too_long(void **state)
{
    (void)state;
    struct rec_bytes bytes = {0};
    uint8_t *data = calloc(1, 6000);
    rec_orbflow(&bytes, 1, data, 6000);
    memset(data, 1, 6000);
    rec_orbflow(&bytes, 1, data, 6000);
    struct stream_lines lines = {0};
    struct stream_run run = {.protocol = "ITM",
                             .transport = "orbflow",
                             .settings = {.items = &setting, .count = 1},
                             .bytes = bytes.data,
                             .size = bytes.size,
                             .lines = &lines};
    stream_run(&run);
    assert_int_equal(lines.count, 3);
    assert_string_equal(lines.items[0], "! 0 frame too long");
    assert_string_equal(lines.items[1], "! 6004 frame too long");
    stream_lines_free(&lines);
    rec_bytes_free(&bytes);
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors),
        cmocka_unit_test(round_trip),
        cmocka_unit_test(any_split_any_wait),
        cmocka_unit_test(states),
        cmocka_unit_test(faults),
        cmocka_unit_test(too_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
