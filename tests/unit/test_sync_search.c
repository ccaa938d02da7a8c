// SPDX-License-Identifier: MIT
/**
 * @file The searches for synchronisation pass over bytes that cannot begin it; without a fast path
 * each byte is looked at. Both find the same, report the same, count the same bytes and leave the
 * same state; and passing over bytes costs no packet. The search of a wrapping passes over as many
 * bytes as it has: the same, whatever it is given at a time.
 */
#include "pugmark/advanced/encapsulation.h"
#include "pugmark/advanced/transport.h"
#include "pugmark/advanced/tree.h"
#include "pugmark/author/protocol.h"
#include "pugmark/pugmark.h"
#include "recorder/bytes.h"
#include "transport/unwrap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MOST 4096u

/** A protocol, and bytes with which its stream begins. */
struct subject {
    const char *protocol;
    struct pug_setting settings[6];
    size_t setting_count;
    uint8_t begin[48];
    size_t begin_size;
    uint8_t run;           /**< of the byte that synchronisation is made of */
    const char *transport; /**< NULL: plain */
};

#define BEGIN(...) .begin = {__VA_ARGS__}, .begin_size = sizeof((uint8_t[]){__VA_ARGS__})

/* More nulls than a packet can hold, support, and a packet that is cut. */
#define ETRACE_BEGIN                                                                               \
    BEGIN(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,   \
          0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0x1f, 0x0e, 0x73)

static const struct subject subjects[] = {
    {.protocol = "ETMV4I",
     .settings = {{.name = "TRCIDR0", .value = 0x28000EA1},
                  {.name = "TRCIDR1", .value = 0x4100F403},
                  {.name = "TRCIDR2", .value = 0x00000488},
                  {.name = "TRCTRACEIDR", .value = 0x10},
                  {.name = "arch", .value = PUG_ARCH_V8},
                  {.name = "profile", .value = PUG_PROFILE_A}},
     .setting_count = 6,
     BEGIN(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0x01, 0, 4, 0x9D, 0x10, 8, 0x40, 0, 0, 0, 0, 0,
           0x81, 0x10, 0xF7)},
    {.protocol = "ETMV3",
     .settings = {{.name = "ETMTRACEIDR", .value = 0x10},
                  {.name = "ETMIDR", .value = 0x4114f250},
                  {.name = "ETMCR", .value = 0},
                  {.name = "ETMCCER", .value = 0}},
     .setting_count = 4,
     BEGIN(0, 0, 0, 0, 0, 0x80, 0x08, 0x01, 0x40, 0, 0x80, 0, 0x84, 0x88)},
    {.protocol = "PTM",
     .settings = {{.name = "ETMTRACEIDR", .value = 0x10},
                  {.name = "ETMIDR", .value = 0x4114f310},
                  {.name = "ETMCR", .value = 0},
                  {.name = "ETMCCER", .value = 0}},
     .setting_count = 4,
     BEGIN(0, 0, 0, 0, 0, 0x80, 0x08, 0x00, 0x80, 0, 0x80, 0x21, 0x84, 0x88)},
    {.protocol = "ITM", BEGIN(0, 0, 0, 0, 0, 0x80, 0x01, 0x41, 0x70, 0x09, 0x42)},
    {.protocol = "STM",
     BEGIN(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f, 0xf0, 0x00, 0x43,
           0x21),
     .run = 0xff},
    {.protocol = "N-Trace",
     BEGIN(0xff, 0xff, 0xff, 0x24, 0x04, 0x01, 0x83, 0xff, 0x08),
     .run = 0xff},
    {.protocol = "E-Trace", ETRACE_BEGIN},
    {.protocol = "E-Trace", ETRACE_BEGIN, .transport = "encapsulation"},
    {.protocol = "E-Trace",
     BEGIN(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0x1f, 8, 1, 0, 0x33, 0, 0x40, 0, 8),
     .transport = "esp32"},
    {.protocol = "E-Trace", BEGIN(0, 0, 1, 0x1f, 2, 0x33, 0), .transport = "raw"},
};

struct found {
    uint64_t given, told, states, elements, used, records;
    struct pug_reader_stats stats;
    struct pug_transport_stats transport;
};

static uint64_t reads; /**< packets that the reader under test was asked for */
static bool (*wrapped_read)(void *reader, struct pug_span *span, struct pug_packet *packet);

static bool count_read(void *reader, struct pug_span *span, struct pug_packet *packet)
{
    reads++;
    return wrapped_read(reader, span, packet);
}

static void mix(uint64_t *hash, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        *hash = (*hash ^ ((const uint8_t *)bytes)[i]) * UINT64_C(1099511628211);
}

static enum pug_response take(void *context, const struct pug_element *elements, size_t count,
                              size_t *taken)
{
    struct found *found = context;
    mix(&found->given, elements, count * sizeof(*elements));
    found->elements += count;
    *taken = count;
    return PUG_RESP_CONT;
}

static void take_record(void *context, const struct pug_log_record *record)
{
    struct found *found = context;
    mix(&found->told, &record->index, sizeof(record->index));
    found->records++;
}

/** The state after a block is part of what was found. */
static void mix_state(struct found *found, const struct pug_tree *tree)
{
    struct pug_state state = {0};
    if (pug_tree_state(tree, &state))
        mix(&found->states, state.bytes, state.size);
    pug_state_free(&state);
}

static void watch(void *context, uint16_t id, const struct pug_encapsulation_packet *packet)
{
    (void)context;
    (void)id;
    (void)packet;
}

/**
 * In blocks of that size. `simple`: without what passes over noise, the fast path and, where
 * packets of an encapsulation are watched, the nulls.
 */
static struct found search(const struct subject *subject, const uint8_t *bytes, size_t size,
                           size_t block, bool simple)
{
    struct pug_protocol protocol = *pug_protocol_find(subject->protocol);
    protocol.abi = PUG_AUTHOR_ABI;
    wrapped_read = protocol.read;
    protocol.read = count_read;
    if (simple)
        protocol.fast_path = NULL;
    const struct pug_source_config config = {
        .definition = &protocol,
        .settings = {.items = subject->settings, .count = subject->setting_count},
        .decode = true};
    struct found found = {0};
    struct pug_image *image = pug_image_new();
    struct pug_log *log = pug_log_new(PUG_SEV_INFO);
    struct pug_tree *tree;
    struct pug_source *source;
    const struct pug_tree_config plain = {
        .transport = subject->transport ? subject->transport : "plain", .image = image, .log = log};
    pug_log_set_sink(log, take_record, &found);
    assert_int_equal(pug_tree_new(&plain, &tree), PUG_OK);
    if (simple)
        pug_tree_on_encapsulation(tree, watch, NULL);
    assert_int_equal(pug_tree_add_source(tree, &config, &source), PUG_OK);
    pug_tree_on_elements(tree, take, &found);
    for (size_t at = 0, used; at < size; at += used) {
        const size_t left = size - at;
        assert_true(pug_tree_data(tree, at, bytes + at, left < block ? left : block, &used) <
                    PUG_RESP_WAIT);
        found.used += used;
        mix_state(&found, tree);
    }
    assert_true(pug_tree_end(tree) < PUG_RESP_WAIT);
    found.stats = *pug_source_stats(source);
    found.transport = *pug_tree_transport_stats(tree);
    pug_tree_free(tree);
    pug_log_free(log);
    pug_image_free(image);
    return found;
}

/** Zeros, ones, noise or noise that is mostly one byte, so many of each that all places are met. */
static size_t make(const struct subject *subject, uint8_t *bytes, struct rec_random *random)
{
    size_t size = 0;
    for (unsigned n = 1 + (unsigned)rec_random_below(random, 5); n > 0; n--) {
        const unsigned kind = (unsigned)rec_random_below(random, 5);
        for (size_t left = rec_random_below(random, 200); left > 0; left--) {
            uint8_t byte = (uint8_t)rec_random_below(random, 256);
            if (kind >= 3 && !rec_random_once_in(random, kind == 3 ? 14 : 3))
                byte = subject->run;
            bytes[size++] = kind == 0 ? 0 : kind == 1 ? 0xff : byte;
        }
    }
    memcpy(bytes + size, subject->begin, subject->begin_size);
    return size + subject->begin_size;
}

static void assert_same(const struct subject *subject, const uint8_t *bytes, size_t size,
                        size_t block, uint64_t *begun)
{
    const struct found simple = search(subject, bytes, size, block, true);
    const struct found fast = search(subject, bytes, size, block, false);
    if (fast.given != simple.given || fast.told != simple.told || fast.states != simple.states ||
        memcmp(&fast.stats, &simple.stats, sizeof(fast.stats)) != 0)
        fail_msg("%s: %zu bytes in blocks of %zu differ: %u of %u unsynchronised",
                 subject->protocol, size, block, (unsigned)fast.stats.unsynced,
                 (unsigned)simple.stats.unsynced);
    assert_int_equal(fast.elements, simple.elements);
    assert_int_equal(fast.records, simple.records);
    assert_memory_equal(&fast.transport, &simple.transport, sizeof(fast.transport));
    assert_int_equal(fast.used, size);
    *begun += fast.elements > (subject->transport ? 1 : 2);
}

static void test_same(void **state)
{
    static const size_t blocks[] = {1, 7, 64, 129, SIZE_MAX};
    struct rec_random random = {.state = 3};
    uint8_t bytes[MOST];
    (void)state;
    for (size_t s = 0; s < sizeof(subjects) / sizeof(subjects[0]); s++) {
        uint64_t begun = 0;
        for (unsigned n = 0; n < 500; n++) {
            const size_t size = make(&subjects[s], bytes, &random);
            assert_same(&subjects[s], bytes, size, blocks[n % 5], &begun);
        }
        assert_true(begun > 250); /* most traces do begin */
    }
}

/** Those to which noise is no packets. */
static const struct subject wrappings[] = {{.protocol = "E-Trace", .transport = "esp32"},
                                           {.protocol = "E-Trace", .transport = "pulp"}};

/** A packet of a wrapping, with anything in it. */
static size_t wrap(const char *transport, uint8_t *bytes, unsigned number,
                   struct rec_random *random)
{
    const bool esp32 = strcmp(transport, "esp32") == 0;
    const unsigned all = esp32 ? 4 + (unsigned)rec_random_below(random, 10) : 40;
    for (unsigned i = 0; i < all; i++)
        bytes[i] = (uint8_t)rec_random_below(random, 256);
    if (esp32) {
        bytes[0] = (uint8_t)all;
        bytes[1] = (uint8_t)number;
        bytes[2] = (uint8_t)(number >> 8);
    } else {
        bytes[all - 1] = (uint8_t)(0x81 + rec_random_below(random, 31));
    }
    return all;
}

/** Noise and packets in turn. */
static size_t make_wrapped(const char *transport, uint8_t *bytes, struct rec_random *random)
{
    size_t size = 0;
    unsigned number = (unsigned)rec_random_below(random, 65536);
    for (unsigned turn = 0; turn < 3; turn++) {
        for (size_t left = rec_random_below(random, 4000); left > 0; left--)
            bytes[size++] = (uint8_t)rec_random_below(random, 256);
        for (unsigned left = (unsigned)rec_random_below(random, 100); left > 0; left--)
            size += wrap(transport, bytes + size, number++, random);
        for (size_t left = rec_random_below(random, 40); left > 0; left--)
            bytes[size++] = 0;
    }
    return size;
}

static void test_whatever_is_given(void **state)
{
    enum { ROOM = 3 * (4000 + 100 * 40 + 40) };
    static const size_t blocks[] = {61, 1500, ROOM};
    struct rec_random random = {.state = 5};
    uint8_t *bytes = malloc(ROOM);
    (void)state;
    assert_non_null(bytes);
    for (size_t w = 0; w < sizeof(wrappings) / sizeof(wrappings[0]); w++) {
        uint64_t skipped = 0, delivered = 0;
        for (unsigned n = 0; n < 20; n++) {
            const size_t size = make_wrapped(wrappings[w].transport, bytes, &random);
            const struct found one = search(&wrappings[w], bytes, size, 1, false);
            for (size_t b = 0; b < sizeof(blocks) / sizeof(blocks[0]); b++) {
                const struct found many = search(&wrappings[w], bytes, size, blocks[b], false);
                if (many.given != one.given || many.told != one.told)
                    fail_msg("%s, input %u: other in blocks of %zu: %u elements, not %u; "
                             "%u messages, not %u; %u bytes skipped, not %u",
                             wrappings[w].transport, n, blocks[b], (unsigned)many.elements,
                             (unsigned)one.elements, (unsigned)many.records, (unsigned)one.records,
                             (unsigned)many.transport.skipped, (unsigned)one.transport.skipped);
                assert_memory_equal(&many.transport, &one.transport, sizeof(one.transport));
            }
            skipped += one.transport.skipped;
            delivered += one.transport.delivered;
        }
        assert_true(delivered > 5000);
        assert_true(skipped > 50000);
    }
    free(bytes);
}

/** Can three packets, nulls among them, follow each other from here on? */
static bool may_follow(const struct pug_unwrap_config *config, const uint8_t *at)
{
    uint8_t scratch[PUG_UNWRAP_LONGEST];
    struct pug_unwrapped packet;
    for (unsigned n = 0; n < 3; n++, at += packet.length)
        if (pug_unwrap_parse(config, at, PUG_UNWRAP_LONGEST, scratch, &packet) != PUG_PARSED ||
            !pug_unwrap_plausible(config, NULL, &packet))
            return false;
    return true;
}

/** Places that are passed over at once begin no chain; in noise that is no packets all are. */
static void test_hopeless(void **state)
{
    enum { SPARE = 4 * PUG_UNWRAP_LONGEST };
    static const struct pug_unwrap_config configs[] = {{.wrapping = PUG_WRAP_ENCAPSULATION},
                                                       {.wrapping = PUG_WRAP_SMI},
                                                       {.wrapping = PUG_WRAP_ESP32},
                                                       {.wrapping = PUG_WRAP_PULP}};
    struct rec_random random = {.state = 6};
    uint8_t bytes[MOST + SPARE];
    (void)state;
    for (unsigned n = 0; n < 200; n++) {
        const struct pug_unwrap_config *config = &configs[n % 4];
        const unsigned kinds = n % 3 ? 256 : 16, high = n % 4 == 3 ? 0x80 : 0;
        for (size_t i = 0; i < sizeof(bytes); i++)
            bytes[i] = (uint8_t)(rec_random_below(&random, kinds) | (kinds < 256 ? high : 0));
        for (size_t at = 0, count; at < MOST; at += count + 1) {
            const unsigned limit = 1 + rec_random_below(&random, 90);
            count = pug_unwrap_hopeless(config, bytes + at, limit);
            assert_true(count <= limit);
            for (size_t i = 0; i < count && at + i < MOST; i++)
                assert_false(may_follow(config, bytes + at + i));
            if (n % 4 >= 2 && count < limit && at + count < MOST)
                assert_true(may_follow(config, bytes + at + count));
        }
    }
}

/** Reads of a megabyte of what `make_byte` gives. */
static uint64_t work(const struct subject *subject, unsigned kind)
{
    const size_t size = (size_t)1 << 20;
    struct rec_random random = {.state = 7};
    uint8_t *bytes = malloc(size);
    assert_non_null(bytes);
    for (size_t i = 0; i < size; i++)
        bytes[i] = kind == 0 ? 0 : kind == 1 ? 0xff : (uint8_t)rec_random_below(&random, 256);
    reads = 0;
    assert_int_equal(search(subject, bytes, size, SIZE_MAX, false).used, size);
    free(bytes);
    return reads;
}

/**
 * Bytes that never synchronise: the reader is asked for one packet in a hundred bytes, or fewer; in
 * noise that may be messages in twenty.
 */
static void test_work(void **state)
{
    (void)state;
    for (size_t s = 0; s < sizeof(subjects) / sizeof(subjects[0]); s++)
        for (unsigned kind = 0; kind < 3; kind++) {
            /* what may be messages and packets is read as such, if messages are whole */
            const bool messages = strcmp(subjects[s].protocol, "N-Trace") == 0 && kind == 2;
            const bool packets = strcmp(subjects[s].protocol, "E-Trace") == 0 && kind != 0;
            const uint64_t asked = packets ? 0 : work(&subjects[s], kind);
            if (asked > ((uint64_t)1 << 20) / (messages ? 20 : 100))
                fail_msg("%s, kind %u: %u reads", subjects[s].protocol, kind, (unsigned)asked);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same), cmocka_unit_test(test_whatever_is_given),
        cmocka_unit_test(test_hopeless), cmocka_unit_test(test_work)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
