// SPDX-License-Identifier: MIT
#include "support/again.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static const struct pug_place anywhere = {.space = PUG_SPACE_ANY};

/** A byte of another program, most of which is as it was. */
static uint8_t other_byte(const struct again_code *code, uint64_t offset)
{
    return code->bytes->data[offset] ^ (offset % 64 < 2 ? 0x40 : 0);
}

/* ---- memory by context ---- */

static uint32_t by_context(void *context, uint64_t address, const struct pug_reader_space *space,
                           uint32_t wanted, uint8_t *buffer)
{
    const struct again_code *code = context;
    const uint64_t offset = address - code->base;
    if (offset >= code->bytes->size)
        return 0;
    const uint64_t left = code->bytes->size - offset;
    const uint32_t size = left < wanted ? (uint32_t)left : wanted;
    for (uint32_t i = 0; i < size; i++)
        buffer[i] = space->context_id % 5 == 3 ? other_byte(code, offset + i)
                                               : code->bytes->data[offset + i];
    return size;
}

void again_check_contexts(const struct stream_run *run, const struct again_code *code,
                          uint64_t seed)
{
    struct stream_run called = *run;
    called.image = pug_image_new();
    assert_int_equal(
        pug_image_add_callback(called.image, &anywhere, 0, UINT64_MAX, by_context, (void *)code),
        PUG_OK);
    stream_check_fast(&called, seed);
    pug_image_free(called.image);
}

/* ---- one pass after the other ---- */

#define MOST 2000u /* bytes of a trace, of which there are many passes */

/** The whole trace through a tree, and its end. */
static void pass(struct stream_tree *stream)
{
    enum pug_response answer;
    for (size_t at = 0; at < stream->run->size;)
        at += stream_tree_data(stream, at, stream->run->size - at, &answer);
    pug_tree_end(stream->tree);
    pug_tree_reset(stream->tree);
}

typedef void passes_fn(struct stream_run *run, const struct again_code *code);

/** Whether somebody looks at packets or not, the passes give the same. */
static void check(const struct stream_run *run, const struct again_code *code, passes_fn *passes)
{
    struct stream_lines want = {0}, got = {0};
    struct stream_run fast = *run, slow;
    fast.size = fast.size > MOST ? MOST : fast.size;
    slow = fast;
    fast.lines = &got;
    slow.lines = &want;
    slow.watched = true;
    passes(&slow, code);
    passes(&fast, code);
    stream_assert_same(&want, &got, &fast);
    stream_lines_free(&want);
    stream_lines_free(&got);
}

static void change_images(struct stream_run *run, const struct again_code *code)
{
    const uint64_t size = code->bytes->size;
    uint8_t *other = malloc(size);
    struct stream_tree stream;
    assert_non_null(other);
    for (uint64_t i = 0; i < size; i++)
        other[i] = other_byte(code, i);
    stream_tree_open(&stream, run);
    for (unsigned change = 0; change < 3; change++) {
        for (unsigned i = 0; i < 4; i++)
            pass(&stream);
        assert_int_equal(pug_image_remove(run->image, code->base, PUG_SPACE_ANY), PUG_OK);
        assert_int_equal(pug_image_add_buffer(run->image, &anywhere, code->base,
                                              change == 0 ? other : code->bytes->data, size),
                         PUG_OK);
    }
    stream_tree_close(&stream);
    free(other);
}

void again_check_images(const struct stream_run *run, const struct again_code *code)
{
    check(run, code, change_images);
}

static void change_beginnings(struct stream_run *run, const struct again_code *code)
{
    const uint8_t *bytes = run->bytes;
    uint8_t *damaged = malloc(run->size);
    struct stream_tree stream;
    (void)code;
    assert_non_null(damaged);
    stream_tree_open(&stream, run);
    for (unsigned i = 0; i < 3; i++)
        pass(&stream);
    for (unsigned bit = 0; bit < 16 * 8; bit += 3) {
        memcpy(damaged, bytes, run->size);
        damaged[bit / 8] ^= 1u << bit % 8;
        run->bytes = damaged;
        pass(&stream);
        run->bytes = bytes;
        pass(&stream);
    }
    stream_tree_close(&stream);
    free(damaged);
}

void again_check_beginnings(const struct stream_run *run, const struct again_code *code)
{
    check(run, code, change_beginnings);
}
