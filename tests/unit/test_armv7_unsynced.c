// SPDX-License-Identifier: MIT
/**
 * @file ETMv3 and PTM: how unsynchronised bytes are cut into packets, in whatever pieces they come.
 */
#include "pugmark/advanced/packet.h"
#include "pugmark/advanced/quirks.h"
#include "pugmark/advanced/tree.h"
#include "pugmark/pugmark.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct pieces {
    uint64_t indexes[8];
    uint32_t sizes[8];
    unsigned count;
};

static void monitor(void *context, enum pug_op op, const struct pug_packet *packet)
{
    struct pieces *pieces = context;
    if (op != PUG_OP_DATA)
        return;
    assert_true(pieces->count < 8);
    pieces->indexes[pieces->count] = packet->index;
    pieces->sizes[pieces->count++] = packet->raw_size;
}

static enum pug_response piece_sink(void *context, enum pug_op op, const struct pug_packet *packet)
{
    monitor(context, op, packet);
    return PUG_RESP_CONT;
}

struct manner {
    const char *protocol;
    bool by_block, by_sink;
};

static struct pug_tree *new_tree(const char *protocol, const struct pug_quirks *quirks,
                                 struct pug_source **source)
{
    struct pug_setting registers[] = {
        {"ETMCR", 0, NULL}, {"ETMIDR", 0, NULL}, {"ETMCCER", 0, NULL}, {"ETMTRACEIDR", 1, NULL}};
    struct pug_source_config config = {.protocol = protocol,
                                       .settings = {.items = registers, .count = 4}};
    struct pug_tree_config tree_config = {.quirks = *quirks};
    struct pug_tree *tree;
    assert_int_equal(pug_tree_new(&tree_config, &tree), PUG_OK);
    assert_int_equal(pug_tree_add_source(tree, &config, source), PUG_OK);
    return tree;
}

/** Bytes in blocks of two; what a monitor sees, or a sink. */
static struct pieces cut(const struct manner *manner, const uint8_t *bytes, size_t size)
{
    bool by_block = manner->by_block;
    const struct pug_quirks quirks = {.etmv3_unsynced_by_block = by_block,
                                      .ptm_unsynced_by_block = by_block};
    struct pieces pieces = {.count = 0};
    struct pug_source *source;
    struct pug_tree *tree = new_tree(manner->protocol, &quirks, &source);
    if (manner->by_sink)
        assert_int_equal(pug_source_sink(source, piece_sink, &pieces), PUG_OK);
    else
        pug_source_monitor(source, monitor, &pieces);
    for (size_t at = 0, used; at < size; at += used)
        assert_int_equal(pug_tree_data(tree, at, bytes + at, size - at < 2 ? 1 : 2, &used), 0);
    assert_int_equal(pug_tree_end(tree), PUG_RESP_CONT);
    pug_tree_free(tree);
    return pieces;
}

static void check_pieces(const struct pieces *pieces, const struct pieces *wanted)
{
    assert_int_equal(pieces->count, wanted->count);
    for (unsigned i = 0; i < wanted->count; i++) {
        assert_int_equal(pieces->indexes[i], wanted->indexes[i]);
        assert_int_equal(pieces->sizes[i], wanted->sizes[i]);
    }
}

static void test_unsynced(void **state)
{
    static const uint8_t bytes[] = {0x11, 0x00, 0x55, 0x66, 0x77};
    static const uint8_t broken[] = {0x00, 0x55, 0x66};
    struct pieces pieces = cut(&(struct manner){"ETMV3", false, false}, bytes, sizeof(bytes));
    (void)state;
    check_pieces(&pieces, &(struct pieces){{0, 1}, {1, 4}, 2});
    pieces = cut(&(struct manner){"ETMV3", true, false}, bytes, sizeof(bytes));
    check_pieces(&pieces, &(struct pieces){{0, 1, 4}, {1, 3, 1}, 3});
    pieces = cut(&(struct manner){"ETMV3", false, false}, broken, sizeof(broken));
    check_pieces(&pieces, &(struct pieces){{0}, {3}, 1});
    pieces = cut(&(struct manner){"ETMV3", true, false}, broken, sizeof(broken));
    check_pieces(&pieces, &(struct pieces){{2}, {3}, 1});
    pieces = cut(&(struct manner){"PTM", false, false}, bytes, sizeof(bytes));
    check_pieces(&pieces, &(struct pieces){{0}, {5}, 1});
    pieces = cut(&(struct manner){"PTM", true, false}, bytes, sizeof(bytes));
    check_pieces(&pieces, &(struct pieces){{0, 1, 2, 4}, {1, 1, 3, 1}, 4});
    /* A sink gets one notification, and zeros of the block before shift the index for a monitor
     * only. */
    pieces = cut(&(struct manner){"PTM", true, true}, broken + 1, 1);
    check_pieces(&pieces, &(struct pieces){{0}, {1}, 1});
    static const uint8_t zeros[] = {0x00, 0x00, 0x55, 0x66, 0, 0, 0, 0, 0, 0x80};
    pieces = cut(&(struct manner){"PTM", true, false}, zeros, sizeof(zeros));
    check_pieces(&pieces, &(struct pieces){{0, 2, 4}, {2, 4, 6}, 3});
    pieces = cut(&(struct manner){"PTM", true, true}, zeros, sizeof(zeros));
    check_pieces(&pieces, &(struct pieces){{0, 4}, {4, 6}, 2});
}

/* ---- their bytes ---- */

struct bytes {
    uint8_t all[64];
    size_t size;
    struct pieces pieces;
};

static void collect(void *context, enum pug_op op, const struct pug_packet *packet)
{
    struct bytes *bytes = context;
    monitor(&bytes->pieces, op, packet);
    if (op != PUG_OP_DATA)
        return;
    assert_true(packet->raw_size <= sizeof(bytes->all) - bytes->size);
    memcpy(bytes->all + bytes->size, packet->raw, packet->raw_size);
    bytes->size += packet->raw_size;
}

/** PTM's bytes in one block: what a monitor sees where 16 zeros in a row are forgotten. */
static struct bytes forget_zeros(const uint8_t *bytes, size_t size, bool by_block)
{
    const struct pug_quirks quirks = {.ptm_zero_run_lost = 1, .ptm_unsynced_by_block = by_block};
    struct bytes seen = {.size = 0};
    struct pug_source *source;
    struct pug_tree *tree = new_tree("PTM", &quirks, &source);
    size_t used;
    pug_source_monitor(source, collect, &seen);
    assert_int_equal(pug_tree_data(tree, 0, bytes, size, &used), PUG_RESP_CONT);
    assert_int_equal(pug_tree_end(tree), PUG_RESP_CONT);
    pug_tree_free(tree);
    return seen;
}

/** By that quirk bytes are counted late, but shown in their order. */
static void test_forgotten_zeros(void **state)
{
    static const uint8_t once[] = {0x65, 0x16, 0,    0,    0,    0,    0,    0, 0,
                                   0,    0,    0,    0,    0,    0,    0,    0, 0,
                                   0x80, 0x08, 0x37, 0x11, 0x00, 0x00, 0x09, 1, 0x2b},
                         twice[] = {0, 0, 0,    0, 0, 0,    0, 0, 0, 0, 0, 0, 0,    0,
                                    0, 0, 0x80, 0, 0, 0,    0, 0, 0, 0, 0, 0, 0,    0,
                                    0, 0, 0,    0, 0, 0x80, 1, 2, 3, 4, 5, 6, 0x00, 0x22};
    (void)state;
    for (unsigned by_block = 0; by_block < 2; by_block++) {
        struct bytes seen = forget_zeros(once, sizeof(once), by_block);
        assert_int_equal(seen.size, sizeof(once));
        assert_memory_equal(seen.all, once, sizeof(once));
        assert_int_equal(seen.pieces.sizes[0], 16);
        assert_int_equal(seen.pieces.sizes[1], sizeof(once) - 16);
        seen = forget_zeros(twice, sizeof(twice), by_block);
        assert_int_equal(seen.size, sizeof(twice));
        assert_memory_equal(seen.all, twice, sizeof(twice));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unsynced),
        cmocka_unit_test(test_forgotten_zeros),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
