// SPDX-License-Identifier: MIT
/** @file The CoreSight frame demultiplexer: any split of any stream. */
#include "support/frame_listener.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

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
    for (int n = m->fsyncs ? (int)(frame_random(&m->random) % 3) : 0; n > 0; n--, m->size += 4)
        memcpy(m->out + m->size, fsync, 4);
    for (unsigned i = 0; i < 16; i += 2, m->size += 2) {
        if (m->hsyncs && frame_random(&m->random) % 5 == 0) {
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
    if (m->at % 2 == 0 && (id != m->id || frame_random(&m->random) % 20 == 0)) {
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
static void model_frame(const uint8_t *frame, uint64_t index, uint16_t *id,
                        struct frame_byte *bytes, size_t *count)
{
    uint64_t base = index;
    size_t run = *count;
    uint16_t of_run = *id;
#define PUT(value_)                                                                                \
    (bytes[*count] = (struct frame_byte){base + (*count - run), of_run, (value_)}, ++*count)
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
static size_t model(const uint8_t *stream, size_t size, struct frame_byte *bytes)
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
        if (frame_random(&m.random) % 6 == 0)
            id = (uint8_t)(frame_random(&m.random) % 0x70);
        emit_byte(&m, id, (uint8_t)frame_random(&m.random));
    }
    while (m.at < 15)
        emit_byte(&m, 0, 0);
    emit_frame(&m);
    return m.size;
}

static void assert_same_bytes(const struct frame_listener *l, const struct frame_byte *bytes,
                              size_t count)
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
    static struct frame_byte bytes[MOST_BYTES];
    static const uint32_t flags[] = {0x04, 0x01, 0x03};
    static const size_t blocks[] = {1, 3, 20, 700, 8000};
    for (uint32_t seed = 1; seed <= 20; seed++) {
        for (unsigned f = 0; f < 3; f++) {
            size_t size = make_stream(seed, flags[f], stream);
            size_t count = model(stream, size, bytes);
            for (unsigned b = 0; b < 5; b++) {
                struct frame_listener *l = frame_listen(flags[f], false, &native);
                l->random = seed;
                l->waits = b % 2 ? 3 : 0;
                frame_feed_split(l, stream, size, blocks[b]);
                assert_same_bytes(l, bytes, count);
                assert_string_equal(frame_heard(l), "");
                assert_int_equal(l->stats.framing + count, size);
                frame_dismiss(l);
            }
        }
    }
}

/** Footers between, which count in the indexes: 504 bytes of 512 are trace. */
static void test_dstream(void **unused)
{
    (void)unused;
    static uint8_t stream[8000], file[9000];
    static struct frame_byte bytes[MOST_BYTES];
    size_t size = make_stream(7, 1, stream), count = model(stream, size, bytes), length = 0;
    for (size_t at = 0; at < size; at += 504, length += 8) {
        size_t piece = size - at < 504 ? size - at : 504;
        memcpy(file + length, stream + at, piece);
        memset(file + length + piece, 0xff, 8);
        length += piece;
    }
    for (size_t block = 1; block < 2000; block += 333) {
        struct frame_listener *l = frame_listen(0x01, true, &native);
        l->waits = 4;
        frame_feed_split(l, file, length, block);
        assert_int_equal(l->count, count);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(l->bytes[i].source, bytes[i].source);
            assert_int_equal(l->bytes[i].value, bytes[i].value);
            uint64_t footers = l->bytes[i].index - bytes[i].index, at = bytes[i].index;
            assert_true(footers == at / 504 * 8 || footers == (at - 15) / 504 * 8);
        }
        frame_dismiss(l);
    }
}

/** Whatever comes in, all of it is taken and accounted for, the same in any split. */
static void test_garbage(void **unused)
{
    (void)unused;
    static uint8_t stream[3000];
    static struct frame_byte bytes[MOST_BYTES];
    static const uint8_t likely[] = {0xff, 0xff, 0x7f, 0x21, 0};
    for (uint32_t seed = 1; seed <= 60; seed++) {
        uint32_t random = seed, flags = seed % 4 == 0 ? 0x04 : seed % 4;
        for (size_t i = 0; i < sizeof(stream); i++)
            stream[i] =
                seed % 3 ? likely[frame_random(&random) % 5] : (uint8_t)frame_random(&random);
        struct frame_listener *whole = frame_listen(flags, false, &native);
        frame_feed_split(whole, stream, sizeof(stream), sizeof(stream));
        memcpy(bytes, whole->bytes, sizeof(bytes));
        const struct pug_transport_stats *s = &whole->stats;
        assert_int_equal(whole->count + s->framing + s->skipped + s->dropped, sizeof(stream));
        for (unsigned block = 1; block < 100; block += 14) {
            struct frame_listener *l = frame_listen(flags, false, &native);
            l->waits = block % 2 ? 5 : 0;
            frame_feed_split(l, stream, sizeof(stream), block);
            assert_same_bytes(l, bytes, whole->count);
            assert_memory_equal(&l->stats, s, sizeof(*s));
            assert_int_equal(l->resets, whole->resets);
            frame_dismiss(l);
        }
        frame_dismiss(whole);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_split),
        cmocka_unit_test(test_dstream),
        cmocka_unit_test(test_garbage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
