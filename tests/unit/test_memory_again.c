// SPDX-License-Identifier: MIT
/**
 * @file Memory from callbacks, which may be another after each reset: a tree that has decoded with
 * other memory before gives what a new one gives.
 */
#include "pugmark/pugmark.h"
#include "recorder/bytes.h"
#include "support/captures.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { CHUNK = 128, CHUNKS = 64 };

/** What callbacks give: the dumps, but for chunks that are another text, and no more at a time. */
struct memory {
    struct pug_image *dumps;
    bool other[CHUNKS];
    uint32_t most;
};

struct told {
    struct pug_element *elements;
    size_t count, room;
};

static uint32_t give(void *context, uint64_t address, const struct pug_reader_space *space,
                     uint32_t wanted, uint8_t *buffer)
{
    const struct memory *memory = context;
    const int64_t got = pug_image_read(memory->dumps, space, address, buffer,
                                       wanted < memory->most ? wanted : memory->most);
    for (int64_t i = 0; i < got; i++)
        if (memory->other[(address + (uint64_t)i) / CHUNK % CHUNKS])
            buffer[i] ^= (address + (uint64_t)i) % 16 == 3 ? 0x10 : 0;
    return got > 0 ? (uint32_t)got : 0;
}

static enum pug_response take(void *context, const struct pug_element *elements, size_t count,
                              size_t *taken)
{
    struct told *told = context;
    if (told->count + count > told->room) {
        told->room = 2 * (told->count + count);
        told->elements = realloc(told->elements, told->room * sizeof(*elements));
        assert_non_null(told->elements);
    }
    memcpy(told->elements + told->count, elements, count * sizeof(*elements));
    told->count += count;
    *taken = count;
    return PUG_RESP_CONT;
}

static struct pug_tree *make_tree(const struct capture *capture, struct pug_image *image,
                                  struct told *told)
{
    const struct pug_snapshot_tree_config config = {.image = image, .decode = true};
    struct pug_tree *tree;
    assert_int_equal(pug_snapshot_tree(capture->snapshot, capture->buffer, &config, &tree), PUG_OK);
    pug_tree_on_elements(tree, take, told);
    return tree;
}

static void decode(struct pug_tree *tree, const struct capture *capture, size_t size,
                   struct told *told)
{
    uint64_t at = 0;
    told->count = 0;
    assert_true(PUG_RESP_IS_CONT(pug_tree_feed(tree, capture->bytes, &at, size)));
    assert_true(PUG_RESP_IS_CONT(pug_tree_end(tree)));
}

/** Elements before the first context have the context from before the reset. */
static struct pug_element without_context(const struct pug_element *element)
{
    struct pug_element plain = *element;
    plain.context_id = plain.vmid = 0;
    plain.security = plain.context_flags = plain.isa = 0;
    plain.level = 0;
    return plain;
}

/** All but why there is no synchronisation at first. */
static void check(const struct told *again, const struct told *fresh)
{
    assert_int_equal(again->count, fresh->count);
    for (size_t i = 0; i < fresh->count; i++) {
        struct pug_element a = again->elements[i], b = fresh->elements[i];
        if (a.type != PUG_ELEM_INSTR_RANGE && a.type != PUG_ELEM_PE_CONTEXT) {
            a = without_context(&a);
            b = without_context(&b);
        }
        if (a.type == PUG_ELEM_NO_SYNC)
            a.reason = b.reason;
        if (a.flags & PUG_ELEM_PAYLOAD)
            a.payload = b.payload;
        assert_memory_equal(&a, &b, sizeof(a));
    }
}

static void change(struct memory *memory, struct rec_random *random)
{
    if (rec_random_once_in(random, 2))
        memory->other[rec_random_below(random, CHUNKS)] ^= true;
    if (rec_random_once_in(random, 10))
        memset(memory->other, 0, sizeof(memory->other));
    memory->most = rec_random_once_in(random, 5) ? 60 + rec_random_below(random, 300) : UINT32_MAX;
}

/** How many ranges there were. */
static size_t pass_after_pass(const struct capture *capture, size_t size, unsigned passes)
{
    struct memory memory = {.dumps = pug_image_new(), .most = UINT32_MAX};
    struct pug_image *image = pug_image_new();
    struct rec_random random = {.state = size};
    struct told again_told = {0}, fresh_told = {0}, none = {0};
    struct pug_tree *dumps = make_tree(capture, memory.dumps, &none);
    struct pug_tree *again = make_tree(capture, image, &again_told);
    captures_use_callback(image, give, &memory);
    size_t ranges = 0;
    for (unsigned pass = 0; pass < passes; pass++) {
        struct pug_image *own = pug_image_new();
        struct pug_tree *fresh = make_tree(capture, own, &fresh_told);
        captures_use_callback(own, give, &memory);
        decode(again, capture, size, &again_told);
        decode(fresh, capture, size, &fresh_told);
        check(&again_told, &fresh_told);
        for (size_t i = 0; i < fresh_told.count; i++)
            ranges += fresh_told.elements[i].type == PUG_ELEM_INSTR_RANGE;
        assert_true(PUG_RESP_IS_CONT(pug_tree_reset(again)));
        change(&memory, &random);
        pug_tree_free(fresh);
        pug_image_free(own);
    }
    pug_tree_free(again);
    pug_tree_free(dumps);
    pug_image_free(image);
    pug_image_free(memory.dumps);
    free(again_told.elements);
    free(fresh_told.elements);
    return ranges;
}

/** Is there a program, which all of the buffer's sources follow? */
static bool has_program(const struct capture *capture)
{
    struct pug_image *image = pug_image_new();
    struct pug_image_range range;
    struct pug_tree *tree = NULL;
    const struct pug_snapshot_tree_config config = {.image = image, .decode = true};
    const bool made =
        pug_snapshot_tree(capture->snapshot, capture->buffer, &config, &tree) == PUG_OK;
    const bool has = made && pug_image_range(image, 0, &range);
    pug_tree_free(tree);
    pug_image_free(image);
    return has;
}

static void look(struct capture *capture, void *context)
{
    const size_t size = capture->size < 24576 ? capture->size : 24576;
    size_t *ranges = context;
    if (!has_program(capture))
        return;
    *ranges += pass_after_pass(capture, size, 12);
    if (size > 4096) /* more passes than there are periods */
        *ranges += pass_after_pass(capture, size / 8 & ~(size_t)15, 300);
}

static void each_capture(void **state)
{
    size_t ranges = 0;
    captures_each(*(const enum captures *)*state, look, &ranges);
    assert_true(ranges > 100000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST_CAPTURES(each_capture)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
