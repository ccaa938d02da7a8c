// SPDX-License-Identifier: MIT
/**
 * @file Frames of one source are handed out as long runs. Who listens to runs gets them as they
 * are, or spliced, each byte once: it must make no other difference to what comes out. With the
 * reference's quirks, and each packet delivered at once, each call gets as far, too. (Else it may
 * stop a frame earlier, before a frame of which nothing is used yet.)
 */
#include "pugmark/advanced/snapshot.h"
#include "pugmark/pugmark.h"
#include "recorder/frames.h"
#include "recorder/itm.h"
#include "recorder/stm.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define OWN    PUG_SOURCE_DIR "/tests/captures"
#define SHARED PUG_SOURCE_DIR "/../shared/captures"
#define ENOUGH (64u << 10)

#define STM_ID 0x10
#define ITM_ID 0x20

static struct rec_bytes make_stm(struct rec_random *random, unsigned packets)
{
    struct rec_bytes bytes = {0};
    struct rec_stm stm = {.bytes = &bytes};
    static const uint8_t types[] = {PUG_STM_D4, PUG_STM_D8,  PUG_STM_D16,  PUG_STM_D32, PUG_STM_D64,
                                    PUG_STM_M8, PUG_STM_C16, PUG_STM_FLAG, PUG_STM_NULL};
    for (unsigned n = 0; n < packets; n++) {
        if (n % 100 == 0) {
            rec_stm_put(&stm, &(struct pug_stm_packet){.type = PUG_STM_ASYNC});
            rec_stm_put(&stm, &(struct pug_stm_packet){.type = PUG_STM_VERSION, .payload = 3});
        }
        struct pug_stm_packet p = {.type = types[rec_random_below(random, sizeof(types))],
                                   .payload = rec_random(random)};
        p.master = (uint8_t)p.payload;
        p.channel = (uint16_t)p.payload;
        if (p.type != PUG_STM_M8 && p.type != PUG_STM_C16 && rec_random_once_in(random, 3)) {
            p.has_ts = true;
            p.ts_bits = 32;
            p.timestamp = n;
        }
        rec_stm_put(&stm, &p);
    }
    rec_stm_end(&stm);
    return bytes;
}

static struct rec_bytes make_itm(struct rec_random *random, unsigned packets)
{
    struct rec_bytes bytes = {0};
    for (unsigned n = 0; n < packets; n++) {
        uint32_t value = (uint32_t)rec_random(random);
        if (n % 100 == 0)
            rec_itm_async(&bytes);
        if (value & 1)
            rec_itm_swit(&bytes, value >> 1 & 0x1f, value >> 6, 4);
        else
            rec_itm_local_ts(&bytes, 0, value >> 8);
    }
    return bytes;
}

/** Segments of both sources, short and long, and what the null source pads. */
static struct rec_bytes make_frames(unsigned seed, bool damaged, unsigned sync_every)
{
    struct rec_random random = {seed};
    struct rec_bytes bytes = {0}, trace[2] = {make_stm(&random, 1500), make_itm(&random, 1500)};
    struct rec_frames frames = {.out = &bytes, .sync_every = sync_every};
    size_t at[2] = {rec_random_below(&random, 40), rec_random_below(&random, 40)};
    while (at[0] < trace[0].size || at[1] < trace[1].size) {
        unsigned which = (unsigned)rec_random_below(&random, 2);
        size_t size = rec_random_below(&random, rec_random_once_in(&random, 3) ? 2000 : 60);
        if (size > trace[which].size - at[which])
            size = trace[which].size - at[which];
        rec_frames_put(&frames, which ? ITM_ID : STM_ID, trace[which].data + at[which], size);
        at[which] += size;
    }
    rec_frames_finish(&frames);
    for (size_t i = 0; damaged && i < bytes.size; i++)
        if (rec_random_once_in(&random, 400))
            bytes.data[i] = (uint8_t)rec_random(&random);
    rec_bytes_free(&trace[0]);
    rec_bytes_free(&trace[1]);
    return bytes;
}

/* ---- decoding, and all that can be seen of it ---- */

struct manner {
    const char *flag; /* of the transport */
    bool reference;   /* all quirks */
    bool each_packet;
    unsigned wait_once_in;
    size_t block; /* 0: random */
};

struct seen {
    uint64_t shown; /* bytes of runs, to the listener */
    struct rec_bytes record;
    struct rec_random random;
    const struct manner *manner;
};

static void note(struct seen *seen, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        rec_put(&seen->record, ((const uint8_t *)bytes)[i]);
}

static void note_number(struct seen *seen, uint64_t number)
{
    note(seen, &number, sizeof(number));
}

static enum pug_response take(void *context, const struct pug_element *elements, size_t count,
                              size_t *taken)
{
    struct seen *seen = context;
    unsigned once_in = seen->manner->wait_once_in;
    for (size_t i = 0; i < count; i++) {
        note(seen, &elements[i], sizeof(elements[i]));
        if (once_in && rec_random_once_in(&seen->random, once_in)) {
            *taken = i + 1;
            return PUG_RESP_WAIT;
        }
    }
    return PUG_RESP_CONT;
}

/** The kind of listener, and whether it takes spliced runs. */
enum listener { NOBODY, TO_RUNS, TO_SPLICED };

static void see_run(void *context, const struct pug_run *run)
{
    struct seen *seen = context;
    seen->shown += run->size;
}

static void note_stats(struct seen *seen, struct pug_tree *tree)
{
    const struct pug_transport_stats *stats = pug_tree_transport_stats(tree);
    note_number(seen, stats->delivered);
    note_number(seen, stats->framing);
    note_number(seen, stats->no_decoder);
}

/** How far a call has got. */
static void note_call(struct seen *seen, struct pug_tree *tree, enum pug_response response,
                      size_t used)
{
    if (!seen->manner->each_packet || !seen->manner->reference)
        return;
    note_number(seen, response);
    note_number(seen, used);
    note_stats(seen, tree);
}

static void add_source(struct pug_tree *tree, const char *protocol, unsigned id)
{
    struct pug_setting setting = {.name = "src_id", .value = id};
    assert_int_equal(
        pug_tree_add_source(tree,
                            &(struct pug_source_config){.protocol = protocol,
                                                        .settings = {.items = &setting, .count = 1},
                                                        .decode = true},
                            NULL),
        PUG_OK);
}

static struct pug_tree *make_tree(const struct manner *manner)
{
    struct pug_setting flag = {.name = manner->flag, .value = 1};
    struct pug_tree_config config = {.transport = "coresight",
                                     .settings = {.items = &flag, .count = 1}};
    struct pug_tree *tree;
    if (manner->reference)
        config.quirks = pug_quirks_reference();
    assert_int_equal(pug_tree_new(&config, &tree), PUG_OK);
    add_source(tree, "STM", STM_ID);
    add_source(tree, "ITM", ITM_ID);
    return tree;
}

static enum pug_response feed(struct pug_tree *tree, struct seen *seen,
                              const struct rec_bytes *bytes)
{
    struct rec_random blocks = {seen->manner->wait_once_in + 7};
    enum pug_response response = PUG_RESP_CONT;
    for (size_t at = 0, used = 0; at < bytes->size && !PUG_RESP_IS_FATAL(response); at += used) {
        size_t size = seen->manner->block;
        if (size == 0)
            size = 16 * (1 + rec_random_below(&blocks, 200));
        if (size > bytes->size - at)
            size = bytes->size - at;
        response = pug_tree_data(tree, at, bytes->data + at, size, &used);
        note_call(seen, tree, response, used);
        while (PUG_RESP_IS_WAIT(response)) {
            response = pug_tree_flush(tree);
            note_call(seen, tree, response, 0);
        }
    }
    for (response = pug_tree_end(tree); PUG_RESP_IS_WAIT(response);)
        response = pug_tree_flush(tree);
    return response;
}

static struct seen decode(struct pug_tree *tree, const struct rec_bytes *bytes,
                          const struct manner *manner, enum listener listener)
{
    struct seen seen = {.random = {manner->wait_once_in + manner->block + 1}, .manner = manner};
    pug_tree_on_elements(tree, take, &seen);
    pug_tree_deliver_each_packet(tree, manner->each_packet);
    if (listener != NOBODY)
        pug_tree_on_runs(tree, see_run, &seen);
    pug_tree_splice_runs(tree, listener == TO_SPLICED);
    note_number(&seen, feed(tree, &seen, bytes));
    note_stats(&seen, tree);
    if (listener != NOBODY && !manner->reference) { /* what waited was shown once */
        const struct pug_transport_stats *stats = pug_tree_transport_stats(tree);
        assert_int_equal(seen.shown,
                         stats->delivered + stats->no_decoder + stats->reserved + stats->unknown);
    }
    pug_tree_free(tree);
    return seen;
}

static void compare(struct seen spliced, const struct seen *runs)
{
    assert_int_equal(spliced.record.size, runs->record.size);
    assert_memory_equal(spliced.record.data, runs->record.data, runs->record.size);
    rec_bytes_free(&spliced.record);
}

static void test_recorded(void **state)
{
    (void)state;
    static const struct manner manners[] = {
        {"mem_align", false, false, 0, 1 << 20}, {"mem_align", false, false, 0, 0},
        {"mem_align", false, false, 3, 0},       {"mem_align", false, true, 2, 0},
        {"mem_align", false, true, 50, 4096},    {"mem_align", true, true, 5, 1024},
        {"mem_align", true, false, 0, 1024},     {"mem_align", true, false, 40, 4096},
        {"fsyncs", false, false, 0, 0},          {"fsyncs", false, true, 4, 0},
        {"fsyncs", true, true, 4, 1024},         {"fsyncs", false, false, 0, 1 << 20},
    };
    for (unsigned seed = 1; seed <= 12; seed++)
        for (size_t i = 0; i < sizeof(manners) / sizeof(manners[0]); i++) {
            bool fsyncs = manners[i].flag[0] == 'f', damaged = seed % 3 == 0;
            struct rec_bytes bytes = make_frames(seed, damaged, fsyncs ? 1 + seed * seed : 0);
            struct seen runs = decode(make_tree(&manners[i]), &bytes, &manners[i], TO_RUNS);
            assert_true(damaged || runs.record.size > 1000 * sizeof(struct pug_element));
            compare(decode(make_tree(&manners[i]), &bytes, &manners[i], NOBODY), &runs);
            compare(decode(make_tree(&manners[i]), &bytes, &manners[i], TO_SPLICED), &runs);
            rec_bytes_free(&runs.record);
            rec_bytes_free(&bytes);
        }
}

/* ---- captures ---- */

static struct seen decode_capture(struct pug_snapshot *snapshot,
                                  const struct pug_snapshot_buffer *buffer,
                                  const struct rec_bytes *bytes, const struct manner *manner,
                                  enum listener listener)
{
    struct pug_image *image = pug_image_new();
    struct pug_snapshot_tree_config config = {.image = image, .decode = true};
    struct pug_tree *tree;
    if (manner->reference)
        config.quirks = pug_quirks_reference();
    assert_int_equal(pug_snapshot_tree(snapshot, buffer, &config, &tree), PUG_OK);
    struct seen seen = decode(tree, bytes, manner, listener);
    pug_image_free(image);
    return seen;
}

static struct rec_bytes read_start(struct pug_snapshot *snapshot,
                                   const struct pug_snapshot_buffer *buffer, bool damaged)
{
    struct rec_bytes bytes = {.data = malloc(ENOUGH)};
    struct rec_random random = {1};
    struct pug_trace *trace;
    enum pug_status status;
    assert_int_equal(pug_trace_open(snapshot, buffer, &trace), PUG_OK);
    bytes.size = pug_trace_read(trace, bytes.data, ENOUGH, &status) / 16 * 16;
    pug_trace_close(trace);
    for (size_t i = 0; damaged && i < bytes.size; i++)
        if (rec_random_once_in(&random, 1000))
            bytes.data[i] = (uint8_t)rec_random(&random);
    return bytes;
}

static void compare_captures(const char *folder, const char *const *names, size_t count)
{
    static const struct manner manners[] = {
        {NULL, false, false, 0, 0}, {NULL, false, false, 7, 4096}, {NULL, true, true, 50, 1024}};
    for (size_t i = 0; i < count; i++) {
        char path[4096];
        struct pug_snapshot *snapshot;
        snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        if (pug_snapshot_open(path, &(struct pug_snapshot_options){0}, &snapshot) != PUG_OK) {
            print_message("skipped: %s is not there\n", path);
            skip();
        }
        const struct pug_snapshot_buffer *buffer = pug_snapshot_buffer_at(snapshot, 0);
        for (size_t n = 0; n < 2 * sizeof(manners) / sizeof(manners[0]); n++) {
            struct rec_bytes bytes = read_start(snapshot, buffer, n & 1);
            const struct manner *manner = &manners[n / 2];
            struct seen runs = decode_capture(snapshot, buffer, &bytes, manner, TO_RUNS);
            compare(decode_capture(snapshot, buffer, &bytes, manner, NOBODY), &runs);
            compare(decode_capture(snapshot, buffer, &bytes, manner, TO_SPLICED), &runs);
            rec_bytes_free(&runs.record);
            rec_bytes_free(&bytes);
        }
        pug_snapshot_free(snapshot);
    }
}

static void test_captures(void **state)
{
    (void)state;
    static const char *const names[] = {"etmv4-a64",    "etmv4-a64-cycles", "etmv4-arm", "ete-a64",
                                        "ete-a64-loss", "etmv3-arm",        "ptm-arm"};
    compare_captures(OWN, names, sizeof(names) / sizeof(names[0]));
}

static void test_shared_captures(void **state)
{
    (void)state;
    static const char *const names[] = {
        "TC2", "juno_r1_1", "juno-ret-stck", "bugfix-exact-match", "stm_only", "a55-test-tpiu"};
    compare_captures(SHARED, names, sizeof(names) / sizeof(names[0]));
}

/** The answer to two spliced frames: of `bytes`, after a frame with `start`. */
static enum pug_response answer(const char *protocol, const uint8_t start[14],
                                const uint8_t bytes[30])
{
    static const struct pug_setting registers[] = {{.name = "ETMCR"},
                                                   {.name = "ETMIDR"},
                                                   {.name = "ETMCCER"},
                                                   {.name = "ETMTRACEIDR", .value = 0x13}};
    static const uint8_t memory[16] = {0};
    struct pug_source_config source = {
        .protocol = protocol, .settings = {.items = registers, .count = 4}, .decode = true};
    struct pug_image *image = pug_image_new();
    struct pug_tree_config config = {
        .transport = "coresight", .image = image, .quirks = {.etmv3_bad_packet_fatal = 1}};
    struct rec_bytes trace = {0};
    struct rec_frames frames = {.out = &trace};
    struct pug_tree *tree;
    size_t used;
    assert_int_equal(pug_image_add_buffer(image, &(struct pug_place){.space = PUG_SPACE_ANY},
                                          0x8000, memory, sizeof(memory)),
                     PUG_OK);
    assert_int_equal(pug_tree_new(&config, &tree), PUG_OK);
    assert_int_equal(pug_tree_add_source(tree, &source, NULL), PUG_OK);
    rec_frames_put(&frames, 0x13, start, 14);
    rec_frames_put(&frames, 0x13, bytes, 30);
    rec_frames_finish(&frames);
    assert_int_equal(trace.size, 48);
    assert_int_equal(pug_tree_data(tree, 0, trace.data, 16, &used), PUG_RESP_CONT);
    enum pug_response response = pug_tree_data(tree, 16, trace.data + 16, 32, &used);
    assert_int_equal(used, 32);
    pug_tree_free(tree);
    pug_image_free(image);
    rec_bytes_free(&trace);
    return response;
}

/** The answer to frames is the worst of what comes last in each. */
static void test_answers(void **state)
{
    (void)state;
    /* A_SYNC; I_SYNC in ThumbEE state */
    static const uint8_t start[14] = {0,    0,    0, 0, 0,    0x80, 0x08,
                                      0x01, 0x80, 0, 0, 0x25, 0x66, 0x66};
    static const uint8_t branch[4] = {0x81, 0x80, 0x80, 0x00};
    const uint8_t atom = 0x84; /* of an instruction set that is not known: a warning */
    uint8_t bytes[30];
    memset(bytes, 0x66, sizeof(bytes)); /* IGNORE */
    assert_int_equal(answer("PTM", start, bytes), PUG_RESP_CONT);
    bytes[3] = atom;
    assert_int_equal(answer("PTM", start, bytes), PUG_RESP_CONT);
    bytes[3] = 0x66;
    bytes[14] = atom;
    assert_int_equal(answer("PTM", start, bytes), PUG_RESP_WARN_CONT);
    bytes[12] = atom;
    memcpy(bytes + 13, branch, sizeof(branch)); /* only begins in this frame */
    assert_int_equal(answer("PTM", start, bytes), PUG_RESP_WARN_CONT);
}

/** The byte that breaks an A-sync is not part of it, but its frame is taken. */
static void test_byte_behind(void **state)
{
    (void)state;
    /* A_SYNC; I_SYNC */
    static const uint8_t start[14] = {0, 0, 0, 0, 0, 0x80, 0x08, 0x21, 0, 0x80, 0, 0, 0x66, 0x66};
    uint8_t bytes[30];
    memset(bytes, 0x66, sizeof(bytes)); /* IGNORE */
    assert_int_equal(answer("ETMV3", start, bytes), PUG_RESP_CONT);
    bytes[13] = bytes[14] = 0;
    assert_int_equal(answer("ETMV3", start, bytes), PUG_RESP_FATAL_INVALID_DATA);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recorded),        cmocka_unit_test(test_captures),
        cmocka_unit_test(test_shared_captures), cmocka_unit_test(test_answers),
        cmocka_unit_test(test_byte_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
