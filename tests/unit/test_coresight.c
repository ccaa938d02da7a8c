// SPDX-License-Identifier: MIT
/** @file The CoreSight frame demultiplexer: the architecture's cases, and any split of any stream.
 */
#include "listing/listing.h"
#include "pugmark/author/transport.h"
#include "pugmark/transport.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- a listener ---- */

#define MOST_BYTES 20000

/** A delivered byte. */
struct byte {
    uint64_t index;
    uint16_t source;
    uint8_t value;
};

struct listener {
    const struct pug_transport *transport;
    void *state;
    struct pug_transport_sink sink;
    struct pug_transport_stats stats;
    struct pug_log *log;
    char text[20000]; /* runs, frames, resets and messages as the listing has them */
    struct pug_text out;
    struct byte bytes[MOST_BYTES];
    size_t count;
    unsigned waits; /* 1 of so many runs is taken in part only; 0: none */
    uint32_t random;
    unsigned resets;
};

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static enum pug_response on_run(void *context, const struct pug_run *run, size_t *used)
{
    struct listener *l = context;
    bool wait = l->waits && next_random(&l->random) % l->waits == 0;
    *used = wait ? next_random(&l->random) % (run->size + 1) : run->size;
    for (size_t i = 0; i < *used && l->count < MOST_BYTES; i++)
        l->bytes[l->count++] = (struct byte){run->index + i, run->source, run->bytes[i]};
    return wait ? PUG_RESP_WAIT : PUG_RESP_CONT;
}

static void on_reset(void *context, uint64_t index)
{
    struct listener *l = context;
    l->resets++;
    pug_text_format(&l->out, "RESET %llu\n", (unsigned long long)index);
}

static void on_frame(void *context, enum pug_op op, uint64_t index, enum pug_frame_kind kind,
                     uint16_t source, const uint8_t *bytes, size_t size)
{
    struct listener *l = context;
    assert_int_equal(op, PUG_OP_DATA);
    pug_listing_frame(&l->out, index, kind, source, bytes, size);
}

static void on_log(void *context, const struct pug_log_record *record)
{
    struct listener *l = context;
    pug_listing_log(&l->out, record);
    pug_text_put(&l->out, "\n");
}

static struct listener *listen(uint32_t flags, bool dstream, struct pug_quirks quirks)
{
    struct pug_setting items[] = {{.name = "dstream", .value = dstream},
                                  {.name = "flags", .value = flags}};
    struct listener *l = calloc(1, sizeof(*l));
    l->out = PUG_TEXT(l->text, sizeof(l->text));
    l->log = pug_log_new(PUG_SEV_INFO);
    pug_log_set_sink(l->log, on_log, l);
    l->sink = (struct pug_transport_sink){.context = l,
                                          .run = on_run,
                                          .reset = on_reset,
                                          .frame = on_frame,
                                          .frame_context = l,
                                          .want = flags >> 3 & 3,
                                          .log = l->log,
                                          .quirks = quirks,
                                          .stats = &l->stats};
    l->transport = pug_transport_find("coresight");
    assert_non_null(l->transport);
    struct pug_settings settings = {.items = items, .count = 2};
    assert_int_equal(l->transport->create(&settings, &l->sink, &l->state), PUG_OK);
    return l;
}

static void dismiss(struct listener *l)
{
    l->transport->free(l->state);
    pug_log_free(l->log);
    free(l);
}

/** What was heard since the last call. */
static const char *heard(struct listener *l)
{
    pug_text_end(&l->out);
    l->out.length = 0;
    return l->text;
}

static enum pug_response feed(struct listener *l, uint64_t index, const uint8_t *bytes, size_t size,
                              size_t *used)
{
    *used = 0;
    return l->transport->data(l->state, index, bytes, size, used);
}

/** Feed all, in blocks of random size up to `block`, and flush what waits. */
static void feed_split(struct listener *l, const uint8_t *bytes, size_t size, size_t block)
{
    for (size_t at = 0, used; at < size; at += used) {
        size_t piece = 1 + next_random(&l->random) % block;
        enum pug_response response =
            feed(l, at, bytes + at, piece < size - at ? piece : size - at, &used);
        while (PUG_RESP_IS_WAIT(response))
            response = l->transport->flush(l->state);
        assert_false(PUG_RESP_IS_FATAL(response));
    }
    l->transport->end(l->state);
}

static const struct pug_quirks native;

#define FEED(l, index, ...)                                                                        \
    do {                                                                                           \
        static const uint8_t feed_[] = {__VA_ARGS__};                                              \
        size_t used_;                                                                              \
        assert_int_equal(feed(l, index, feed_, sizeof(feed_), &used_), PUG_RESP_CONT);             \
        assert_int_equal(used_, sizeof(feed_));                                                    \
    } while (0)

#define FSYNC 0xff, 0xff, 0xff, 0x7f
#define HSYNC 0xff, 0x7f

/* ---- frames ---- */

/** Every kind of pair: ids that take effect before and after the odd byte, an id in byte 14. */
static void test_frame(void **unused)
{
    (void)unused;
    struct listener *l = listen(0x1c, false, native);
    FEED(l, 1904, 0xf6, 0xd7, 0x70, 0xe8, 0x6c, 0x5d, 0xcf, 0xba, 0xdc, 0x11, 0xf3, 0x02, 0x28,
         0x01, 0x01, 0x79);
    assert_string_equal(heard(l),
                        "Frame Data; Index   1904;    RAW_PACKED; f6 d7 70 e8 6c 5d cf ba dc 11 f3 "
                        "02 28 01 01 79 \n"
                        "Frame Data; Index   1904;   ID_DATA[????]; f7 d7 70 e8 6c 5d ba \n"
                        "Frame Data; Index   1910;   ID_DATA[0x67]; dd 11 02 \n"
                        "Frame Data; Index   1914;   ID_DATA[0x79]; 29 01 \n");
    assert_int_equal(l->stats.framing, 4);
    dismiss(l);
}

static void test_seven_changes(void **unused)
{
    (void)unused;
    struct listener *l = listen(0x14, false, native);
    FEED(l, 0, 0x41, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    heard(l);
    FEED(l, 16, 0x03, 0x0e, 0x05, 0x0f, 0x07, 0x10, 0x09, 0x11, 0x0b, 0x12, 0x0d, 0x13, 0x0f, 0x14,
         0x50, 0xff);
    assert_string_equal(heard(l), "Frame Data; Index     16;   ID_DATA[0x20]; 0e \n"
                                  "Frame Data; Index     16;   ID_DATA[0x01]; 0f \n"
                                  "Frame Data; Index     18;   ID_DATA[0x02]; 10 \n"
                                  "Frame Data; Index     20;   ID_DATA[0x03]; 11 \n"
                                  "Frame Data; Index     22;   ID_DATA[0x04]; 12 \n"
                                  "Frame Data; Index     24;   ID_DATA[0x05]; 13 \n"
                                  "Frame Data; Index     26;   ID_DATA[0x06]; 14 \n"
                                  "Frame Data; Index     28;   ID_DATA[0x07]; 51 \n");
    dismiss(l);
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
    struct listener *l = listen(0x14, false, native);
    feed(l, 1968, frame, sizeof(frame), &used);
    assert_string_equal(heard(l), runs);
    dismiss(l);

    l = listen(0x14, false, (struct pug_quirks){.empty_run_fatal = 1});
    feed(l, 1968, frame, sizeof(frame), &used);
    const char *text = heard(l);
    assert_memory_equal(text, runs, strlen(runs));
    assert_string_equal(text + strlen(runs), "Frame Data; Index   1980;   ID_DATA[0x20]; \n");
    dismiss(l);
}

/** An id that is given again is dropped without ending the run; one without data is replaced. */
static void test_repeated_ids(void **unused)
{
    (void)unused;
    struct listener *l = listen(0x14, false, native);
    FEED(l, 0, 0x21, 1, 2, 3, 0x21, 4, 0x41, 5, 0x61, 6, 8, 9, 10, 11, 0x61, 0x58);
    assert_string_equal(heard(l), "Frame Data; Index      0;   ID_DATA[0x10]; 01 02 03 04 05 \n"
                                  "Frame Data; Index      6;   ID_DATA[0x20]; 06 \n"
                                  "Frame Data; Index      8;   ID_DATA[0x30]; 08 09 0b 0b \n");
    dismiss(l);
}

static void test_special_ids(void **unused)
{
    (void)unused;
    struct listener *l = listen(0x04, false, native);
    FEED(l, 0, 0xfb, 0x10, 0xf7, 0x11, 0x01, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    assert_int_equal(l->stats.triggers, 2);
    assert_string_equal(heard(l), "DFMT_CSFRAMES : Trigger marker (ID 0x7D).\n"
                                  "DFMT_CSFRAMES : Flush response (ID 0x7B).\n");
    assert_true(l->transport->reserved(0) && l->transport->reserved(0x70));
    assert_false(l->transport->reserved(1) || l->transport->reserved(0x6f));
    dismiss(l);
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
    struct listener *l = listen(0x1b, false, native);
    feed(l, 0, stream, sizeof(stream), &used);
    const char *text = heard(l);
    static const char *const packed = "Frame Data; Index      0;    RAW_PACKED; ff ff ff 7f 21 01 "
                                      "02 03 ff 7f 41 04 04 06 06 08 \n"
                                      "ff 7f 08 0a 21 0b 0c 78 \n";
    assert_memory_equal(text, packed, strlen(packed));
    assert_string_equal(text + strlen(packed), runs);
    assert_int_equal(l->stats.framing, 8 + 4);
    dismiss(l);

    l = listen(0x13, false, pug_quirks_reference());
    feed(l, 0, stream, 2, &used); /* too short to search in: nothing is lost */
    assert_int_equal(used, 2);
    feed(l, 2, stream + 2, sizeof(stream) - 2, &used);
    assert_string_equal(heard(l), runs);
    dismiss(l);
}

/** HSYNCs before the first byte of a frame belong to the frame's place. */
static void test_leading_half_sync(void **unused)
{
    (void)unused;
    static const uint8_t stream[] = {FSYNC, HSYNC, 0x21, 1,  2,  3,  4,  5,  6,
                                     7,     8,     9,    10, 11, 12, 13, 14, 0};
    size_t used;
    struct listener *l = listen(0x13, false, native);
    feed(l, 0, stream, sizeof(stream), &used);
    assert_memory_equal(heard(l), "Frame Data; Index      6;", 25);
    dismiss(l);
    l = listen(0x13, false, (struct pug_quirks){.hsync_not_in_index = 1});
    feed(l, 0, stream, sizeof(stream), &used);
    assert_memory_equal(heard(l), "Frame Data; Index      4;", 25);
    dismiss(l);
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
        struct listener *l = listen(0x11, false, (struct pug_quirks){.sync_error_fatal = 1});
        assert_int_equal(feed(l, 0, cases[i].bytes, 24, &used), PUG_RESP_FATAL_INVALID_DATA);
        assert_int_equal(used, 0);
        assert_non_null(strstr(heard(l), cases[i].strict));
        dismiss(l);
        l = listen(0x11, false, native);
        assert_false(PUG_RESP_IS_FATAL(feed(l, 0, cases[i].bytes, 24, &used)));
        assert_int_equal(used, 24);
        l->transport->end(l->state);
        assert_memory_equal(heard(l), cases[i].right, strlen(cases[i].right));
        dismiss(l);
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
    struct listener *l = listen(0x11, false, native);
    feed(l, 0, stream, 20, &used);
    assert_int_equal(used, 20);
    feed(l, 20, stream + 20, 44, &used);
    assert_int_equal(used, 44);
    l->transport->end(l->state);
    assert_int_equal(l->stats.skipped, 21);
    assert_int_equal(l->stats.dropped, 7);
    assert_string_equal(
        heard(l),
        "DFMT_CSFRAMES : 21 bytes skipped before synchronisation.\n"
        "Frame Data; Index     25;   ID_DATA[0x10]; 00 00 00 00 00 00 00 00 00 00 00 00 00 "
        "00 \n"
        "Frame Data; Index     41;   ID_DATA[0x10]; 00 00 00 00 00 00 00 00 00 00 00 00 00 "
        "00 00 \n"
        "DFMT_CSFRAMES : 0x0040 (unknown); TrcIdx=57; 7 bytes of a frame that is not whole.\n");
    dismiss(l);

    l = listen(0x01, false, pug_quirks_reference());
    feed(l, 0, stream, 20, &used);
    assert_int_equal(used, 17);
    assert_int_equal(feed(l, 17, stream + 17, 3, &used), PUG_RESP_FATAL_INVALID_DATA);
    assert_string_equal(heard(l),
                        "DFMT_CSFRAMES : 0x0006 (OCSD_ERR_INVALID_PARAM_VAL) [Invalid value "
                        "parameter passed to component.]; Input block incorrect size, must be 4 "
                        "byte multiple\n");
    dismiss(l);
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
    struct listener *l = listen(0x14, false, native);
    feed(l, 0, stream, 32, &used);
    heard(l);
    feed(l, 32, stream + 32, 32, &used);
    const char *text = strchr(heard(l), '\n') + 1; /* after the FSYNC line */
    assert_memory_equal(text, right, strlen(right));
    assert_int_equal(l->resets, 0);
    dismiss(l);

    l = listen(0x14, false, (struct pug_quirks){.fsync_padding_is_data = 1});
    feed(l, 0, stream, 32, &used);
    heard(l);
    feed(l, 32, stream + 32, 16, &used);
    assert_memory_equal(heard(l), as_data, strlen(as_data));
    dismiss(l);

    l = listen(0x3c, false, pug_quirks_reference());
    feed(l, 0, stream, 32, &used);
    heard(l);
    feed(l, 32, stream + 32, 32, &used);
    static const char *const reset = "RESET 32\n"
                                     "Frame Data; Index     32;         FSYNC; ff ff ff 7f ff ff "
                                     "ff 7f ff ff ff 7f ff ff ff 7f \n"
                                     "Frame Data; Index     32;    RAW_PACKED; ff ff ff 7f ff ff "
                                     "ff 7f ff ff ff 7f ff ff ff 7f \n"
                                     "0e 0f 61 10 10 12 12 14 14 16 21 17 18 19 20 3c \n";
    text = heard(l);
    assert_memory_equal(text, reset, strlen(reset));
    assert_memory_equal(text + strlen(reset), right, strlen(right));
    dismiss(l);

    /* five of them are no padding */
    l = listen(0x24, false, pug_quirks_reference());
    uint8_t five[32];
    memcpy(five, stream + 32, 16);
    memcpy(five + 16, stream + 32, 4);
    memset(five + 20, 0, 12);
    assert_int_equal(feed(l, 0, five, 32, &used), PUG_RESP_FATAL_INVALID_DATA);
    assert_int_equal(used, 0);
    assert_string_equal(heard(l),
                        "DFMT_CSFRAMES : 0x0012 (OCSD_ERR_DFMTR_BAD_FHSYNC) [Bad frame or half "
                        "frame sync in trace deformatter]; TrcIdx=0; Incorrect FSYNC frame reset "
                        "pattern\n");
    dismiss(l);
}

static void test_input_must_join(void **unused)
{
    (void)unused;
    struct listener *l = listen(0x04, false, native);
    uint8_t frame[16] = {0};
    size_t used;
    feed(l, 0, frame, 16, &used);
    assert_int_equal(feed(l, 32, frame, 16, &used), PUG_RESP_FATAL_INVALID_DATA);
    assert_string_equal(heard(l),
                        "DFMT_CSFRAMES : 0x0011 (OCSD_ERR_DFMTR_NOTCONTTRACE) [Trace input "
                        "to deformatter none-continuous]; TrcIdx=32; \n");
    l->transport->reset(l->state);
    assert_int_equal(feed(l, 32, frame, 16, &used), PUG_RESP_CONT);
    dismiss(l);
}

/** Runs that a consumer made wait are delivered before the end, or lost with it. */
static void test_end_while_waiting(void **unused)
{
    (void)unused;
    static const uint8_t frame[] = {0x21, 1, 2, 3, 4, 5, 0x40, 7, 8, 9, 10, 11, 12, 13, 14, 0};
    for (unsigned lost = 0; lost < 2; lost++) {
        size_t used;
        struct listener *l = listen(0x04, false, (struct pug_quirks){.end_does_not_wait = lost});
        l->waits = 1;
        assert_int_equal(feed(l, 0, frame, sizeof(frame), &used), PUG_RESP_WAIT);
        size_t before = l->count;
        assert_true(before < 14);
        l->waits = 0;
        assert_int_equal(l->transport->end(l->state), PUG_RESP_CONT);
        assert_int_equal(l->count, lost ? before : 14);
        dismiss(l);
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
        struct listener *l = listen(cases[i].flags, false, pug_quirks_reference());
        assert_int_equal(feed(l, 0, bytes, cases[i].size, &used), PUG_RESP_FATAL_INVALID_DATA);
        snprintf(text, sizeof(text), "must be %s byte multiple\n", cases[i].unit);
        assert_non_null(strstr(heard(l), text));
        dismiss(l);
        l = listen(cases[i].flags, false, native);
        assert_int_equal(feed(l, 0, bytes, cases[i].size, &used), PUG_RESP_CONT);
        assert_int_equal(used, cases[i].size);
        dismiss(l);
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

/* ---- any stream, any split ---- */

/** Makes frames as a formatter does. */
struct maker {
    uint8_t *out;
    size_t size;
    uint8_t frame[16];
    unsigned at;
    uint8_t id;
    uint32_t random;
    bool fsyncs, hsyncs;
};

static void emit_frame(struct maker *m)
{
    static const uint8_t fsync[] = {FSYNC}, hsync[] = {HSYNC};
    for (int n = m->fsyncs ? (int)(next_random(&m->random) % 3) : 0; n > 0; n--, m->size += 4)
        memcpy(m->out + m->size, fsync, 4);
    for (unsigned i = 0; i < 16; i += 2, m->size += 2) {
        if (m->hsyncs && next_random(&m->random) % 5 == 0) {
            memcpy(m->out + m->size, hsync, 2);
            m->size += 2;
        }
        memcpy(m->out + m->size, m->frame + i, 2);
    }
    memset(m->frame, 0, 16);
    m->at = 0;
}

/** A byte of a source; ids are given where they may be, and sometimes where they need not. */
static void emit_byte(struct maker *m, uint8_t id, uint8_t value)
{
    if (m->at == 15)
        emit_frame(m);
    if (m->at % 2 == 0 && (id != m->id || next_random(&m->random) % 20 == 0)) {
        m->frame[m->at++] = (uint8_t)(id << 1 | 1);
        m->id = id;
        if (m->at == 15) {
            emit_frame(m);
            emit_byte(m, id, value);
            return;
        }
    } else if (m->at % 2 == 1 && id != m->id) {
        /* the even byte before becomes the odd one, of the old id */
        unsigned pair = m->at / 2;
        m->frame[m->at] = (uint8_t)(m->frame[m->at - 1] | (m->frame[15] >> pair & 1));
        m->frame[m->at - 1] = (uint8_t)(id << 1 | 1);
        m->frame[15] |= (uint8_t)(1u << pair);
        m->at++;
        m->id = id;
        emit_byte(m, id, value);
        return;
    }
    if (m->at % 2 == 0) {
        m->frame[m->at] = value & 0xfe;
        m->frame[15] |= (uint8_t)((value & 1) << m->at / 2);
    } else {
        m->frame[m->at] = value;
    }
    m->at++;
}

/** A frame byte by byte, as the architecture describes it. */
static void model_frame(const uint8_t *frame, uint64_t index, uint16_t *id, struct byte *bytes,
                        size_t *count)
{
    uint64_t base = index;
    size_t run = *count;
    uint16_t of_run = *id;
#define PUT(value_)                                                                                \
    (bytes[*count] = (struct byte){base + (*count - run), of_run, (value_)}, ++*count)
    for (unsigned k = 0; k < 8; k++) {
        unsigned i = 2 * k, aux = frame[15] >> k & 1;
        if (k == 7) {
            if (frame[14] & 1)
                *id = frame[14] >> 1;
            else
                PUT((uint8_t)(frame[14] | aux));
            continue;
        }
        if (!(frame[i] & 1)) {
            PUT((uint8_t)(frame[i] | aux));
            PUT(frame[i + 1]);
            continue;
        }
        uint16_t new_id = frame[i] >> 1;
        bool change = new_id != *id, late = change && aux;
        if (late)
            PUT(frame[i + 1]);
        if (change && *count > run) {
            run = *count;
            base = index + i;
        }
        of_run = *id = new_id;
        if (!late)
            PUT(frame[i + 1]);
    }
#undef PUT
}

/** Strip syncs (none of the frames holds 0xff in an even byte) and take the frames apart. */
static size_t model(const uint8_t *stream, size_t size, struct byte *bytes)
{
    uint8_t frame[16];
    unsigned fill = 0;
    uint64_t index = 0;
    uint16_t id = PUG_SOURCE_UNKNOWN;
    size_t count = 0;
    for (size_t at = 0; at + 2 <= size; at += 2) {
        if (stream[at] == 0xff)
            continue;
        if (fill == 0)
            index = at;
        frame[fill++] = stream[at];
        frame[fill++] = stream[at + 1];
        if (fill == 16) {
            model_frame(frame, index, &id, bytes, &count);
            fill = 0;
        }
    }
    return count;
}

static size_t make_stream(uint32_t seed, uint32_t flags, uint8_t *out)
{
    struct maker m = {.out = out, .random = seed, .fsyncs = flags & 1, .hsyncs = flags & 2};
    static const uint8_t fsync[] = {FSYNC};
    if (m.fsyncs)
        memcpy(out, fsync, m.size = 4);
    uint8_t id = 0;
    while (m.size < 3000) {
        if (next_random(&m.random) % 6 == 0)
            id = (uint8_t)(next_random(&m.random) % 0x70);
        emit_byte(&m, id, (uint8_t)next_random(&m.random));
    }
    while (m.at < 15)
        emit_byte(&m, 0, 0);
    emit_frame(&m);
    return m.size;
}

static void assert_same_bytes(const struct listener *l, const struct byte *bytes, size_t count)
{
    assert_int_equal(l->count, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(l->bytes[i].index, bytes[i].index);
        assert_int_equal(l->bytes[i].source, bytes[i].source);
        assert_int_equal(l->bytes[i].value, bytes[i].value);
    }
}

static void test_any_split(void **unused)
{
    (void)unused;
    static uint8_t stream[8000];
    static struct byte bytes[MOST_BYTES];
    static const uint32_t flags[] = {0x04, 0x01, 0x03};
    static const size_t blocks[] = {1, 3, 20, 700, 8000};
    for (uint32_t seed = 1; seed <= 20; seed++) {
        for (unsigned f = 0; f < 3; f++) {
            size_t size = make_stream(seed, flags[f], stream);
            size_t count = model(stream, size, bytes);
            for (unsigned b = 0; b < 5; b++) {
                struct listener *l = listen(flags[f], false, native);
                l->random = seed;
                l->waits = b % 2 ? 3 : 0;
                feed_split(l, stream, size, blocks[b]);
                assert_same_bytes(l, bytes, count);
                assert_string_equal(heard(l), "");
                assert_int_equal(l->stats.framing + count, size);
                dismiss(l);
            }
        }
    }
}

/** Footers between, which count in the indexes: 504 bytes of 512 are trace. */
static void test_dstream(void **unused)
{
    (void)unused;
    static uint8_t stream[8000], file[9000];
    static struct byte bytes[MOST_BYTES];
    size_t size = make_stream(7, 1, stream), count = model(stream, size, bytes), length = 0;
    for (size_t at = 0; at < size; at += 504, length += 8) {
        size_t piece = size - at < 504 ? size - at : 504;
        memcpy(file + length, stream + at, piece);
        memset(file + length + piece, 0xff, 8);
        length += piece;
    }
    for (size_t block = 1; block < 2000; block += 333) {
        struct listener *l = listen(0x01, true, native);
        l->waits = 4;
        feed_split(l, file, length, block);
        assert_int_equal(l->count, count);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(l->bytes[i].source, bytes[i].source);
            assert_int_equal(l->bytes[i].value, bytes[i].value);
            uint64_t footers = l->bytes[i].index - bytes[i].index, at = bytes[i].index;
            assert_true(footers == at / 504 * 8 || footers == (at - 15) / 504 * 8);
        }
        dismiss(l);
    }
}

/** Whatever comes in, all of it is taken and accounted for, the same in any split. */
static void test_garbage(void **unused)
{
    (void)unused;
    static uint8_t stream[3000];
    static struct byte bytes[MOST_BYTES];
    static const uint8_t likely[] = {0xff, 0xff, 0x7f, 0x21, 0};
    for (uint32_t seed = 1; seed <= 60; seed++) {
        uint32_t random = seed, flags = seed % 4 == 0 ? 0x04 : seed % 4;
        for (size_t i = 0; i < sizeof(stream); i++)
            stream[i] = seed % 3 ? likely[next_random(&random) % 5] : (uint8_t)next_random(&random);
        struct listener *whole = listen(flags, false, native);
        feed_split(whole, stream, sizeof(stream), sizeof(stream));
        memcpy(bytes, whole->bytes, sizeof(bytes));
        const struct pug_transport_stats *s = &whole->stats;
        assert_int_equal(whole->count + s->framing + s->skipped + s->dropped, sizeof(stream));
        for (unsigned block = 1; block < 100; block += 14) {
            struct listener *l = listen(flags, false, native);
            l->waits = block % 2 ? 5 : 0;
            feed_split(l, stream, sizeof(stream), block);
            assert_same_bytes(l, bytes, whole->count);
            assert_memory_equal(&l->stats, s, sizeof(*s));
            assert_int_equal(l->resets, whole->resets);
            dismiss(l);
        }
        dismiss(whole);
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
        cmocka_unit_test(test_any_split),
        cmocka_unit_test(test_dstream),
        cmocka_unit_test(test_garbage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
