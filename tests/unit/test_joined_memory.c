// SPDX-License-Identifier: MIT
/** @file Memory from several accessors is one: instructions, tables and data across a border. */
#include "base/bytes.h"
#include "image/codemap.h"
#include "pugmark/advanced/image.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct pug_place anywhere = {.space = PUG_SPACE_ANY};
static const struct pug_reader_space reader = {.space = PUG_SPACE_ANY};

/* ---- a program in two pieces ---- */

enum where { BUFFER, CALLBACK };

struct piece {
    uint64_t start;
    const uint8_t *bytes;
    uint64_t size;
    unsigned calls;
};

struct halves {
    struct pug_image *image;
    struct piece pieces[2];
};

static uint32_t give(void *context, uint64_t address, const struct pug_reader_space *space,
                     uint32_t wanted, uint8_t *buffer)
{
    struct piece *piece = context;
    (void)space;
    piece->calls++;
    if (address < piece->start || address - piece->start >= piece->size)
        return 0;
    uint64_t left = piece->size - (address - piece->start);
    uint32_t size = left < wanted ? (uint32_t)left : wanted;
    memcpy(buffer, piece->bytes + (address - piece->start), size);
    return size;
}

static void add_piece(struct halves *halves, unsigned n, enum where where)
{
    struct piece *piece = &halves->pieces[n];
    enum pug_status status =
        where == BUFFER ? pug_image_add_buffer(halves->image, &anywhere, piece->start, piece->bytes,
                                               piece->size)
                        : pug_image_add_callback(halves->image, &anywhere, piece->start,
                                                 piece->start + piece->size - 1, give, piece);
    assert_int_equal(status, PUG_OK);
}

/** `bytes` at `start`, of which the first `cut` are one piece and the others another one. */
static void cut_in_two(struct halves *halves, uint64_t start, const void *bytes, size_t size,
                       size_t cut, unsigned kinds)
{
    halves->image = pug_image_new();
    halves->pieces[0] = (struct piece){start, bytes, cut, 0};
    halves->pieces[1] = (struct piece){start + cut, (const uint8_t *)bytes + cut, size - cut, 0};
    add_piece(halves, 0, kinds & 1 ? CALLBACK : BUFFER);
    add_piece(halves, 1, kinds & 2 ? CALLBACK : BUFFER);
}

/* ---- instructions ---- */

struct program {
    const char *name;
    enum pug_isa isa;
    size_t cut;
    uint64_t last, target; /* of the block at 0x1000 */
    unsigned count;
    uint8_t bytes[24];
};

/** Each with an instruction across the cut, and a branch after it, or that is one. */
static const struct program programs[] = {
    {"A64, behind 2 bytes",
     PUG_ISA_A64,
     6,
     0x1008,
     0x1000,
     3,
     {0x1f, 0x20, 0x03, 0xd5, 0x1f, 0x20, 0x03, 0xd5, 0xfe, 0xff, 0xff, 0x17}},
    {"A32, the branch",
     PUG_ISA_A32,
     10,
     0x1008,
     0x1000,
     3,
     {0x00, 0xf0, 0x20, 0xe3, 0x00, 0xf0, 0x20, 0xe3, 0xfc, 0xff, 0xff, 0xea}},
    {"T32, the branch",
     PUG_ISA_T32,
     6,
     0x1004,
     0x1000,
     3,
     {0x00, 0xbf, 0x00, 0xbf, 0xff, 0xf7, 0xfc, 0xbf}},
    {"T32, before the branch",
     PUG_ISA_T32,
     4,
     0x1006,
     0x1000,
     3,
     {0x00, 0xbf, 0xaf, 0xf3, 0x00, 0x80, 0xfb, 0xe7}},
    {"RV64, the branch",
     PUG_ISA_RV64,
     4,
     0x1002,
     0x1000,
     2,
     {0x01, 0x00, 0x6f, 0xf0, 0xff, 0xff, 0x01, 0x00}},
    {"RV32, before the branch",
     PUG_ISA_RV32,
     4,
     0x1006,
     0x1000,
     3,
     {0x01, 0x00, 0x13, 0x00, 0x00, 0x00, 0xed, 0xbf}},
};

static struct pug_codemap *map_of(const struct pug_image *image, bool quirk)
{
    struct pug_codemap *map = pug_codemap_new(&(struct pug_codemap_config){
        .image = image, .isa = {.track_it = true}, .reads_end_with_image = quirk});
    assert_non_null(map);
    return map;
}

/** The block at 0x1000, which may be in pieces where it rests on many pages. */
static void check_block(const struct program *program, struct pug_codemap *map)
{
    const struct pug_block *block = pug_codemap_block(map, 0x1000, program->isa, 0);
    unsigned count = block->count;
    for (; block->ending == PUG_BLOCK_LONG && count < 10; count += block->count)
        block = pug_block_follow(map, block, false);
    if (block->ending != PUG_BLOCK_FLOW || count != program->count)
        fail_msg("%s: ending %u, %u instructions", program->name, block->ending, count);
    assert_int_equal(block->last, program->last);
    assert_int_equal(block->insn.target, program->target);
}

static void instructions_across_a_border(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
        const struct program *program = &programs[i];
        for (unsigned kinds = 0; kinds < 4; kinds++) {
            struct halves halves;
            cut_in_two(&halves, 0x1000, program->bytes, sizeof(program->bytes), program->cut,
                       kinds);
            struct pug_codemap *map = map_of(halves.image, false);
            check_block(program, map);
            unsigned calls[] = {halves.pieces[0].calls, halves.pieces[1].calls};
            for (unsigned n = 0; n < 20; n++)
                check_block(program, map);
            assert_int_equal(halves.pieces[0].calls, calls[0]);
            assert_int_equal(halves.pieces[1].calls, calls[1]);
            /* Another context: the pages are read again, the block stays what it is. */
            pug_codemap_context_changed(map);
            check_block(program, map);

            struct pug_code_walk walk;
            pug_codemap_walk_to(map, 0x1000, program->isa, 0, program->last, 100, &walk);
            assert_int_equal(walk.status, PUG_OK);
            assert_int_equal(walk.count, program->count - 1);
            pug_codemap_free(map);
            pug_image_free(halves.image);
        }
    }
}

static void single_instructions_across_a_border(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
        const struct program *program = &programs[i];
        for (unsigned kinds = 0; kinds < 4; kinds++) {
            struct halves halves;
            struct pug_insn insn = {0};
            unsigned count = 0;
            uint8_t it = 0;
            cut_in_two(&halves, 0x1000, program->bytes, sizeof(program->bytes), program->cut,
                       kinds);
            struct pug_codemap *map = map_of(halves.image, false);
            for (uint64_t at = 0x1000; at <= program->last; at += insn.size, count++)
                assert_int_equal(pug_codemap_insn(map, at, program->isa, &it, &insn), PUG_OK);
            assert_int_equal(count, program->count);
            assert_int_equal(insn.target, program->target);
            pug_codemap_free(map);
            pug_image_free(halves.image);
        }
    }
}

static void quirk_instructions_end_with_their_image(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
        const struct program *program = &programs[i];
        struct halves halves;
        cut_in_two(&halves, 0x1000, program->bytes, sizeof(program->bytes), program->cut, 0);
        struct pug_codemap *map = map_of(halves.image, true);
        const struct pug_block *block = pug_codemap_block(map, 0x1000, program->isa, 0);
        assert_int_equal(block->ending, PUG_BLOCK_NO_ACCESS);
        assert_true(block->end < 0x1000 + program->cut);
        pug_codemap_free(map);
        pug_image_free(halves.image);
    }
}

/** Nothing follows the border: not accessible, and found as soon as memory is there. */
static void a_border_without_a_neighbour(void **state)
{
    (void)state;
    const struct program *program = &programs[0];
    struct halves halves;
    cut_in_two(&halves, 0x1000, program->bytes, sizeof(program->bytes), program->cut, 0);
    assert_int_equal(pug_image_remove(halves.image, 0x1000 + program->cut, PUG_SPACE_ANY), PUG_OK);
    struct pug_codemap *map = map_of(halves.image, false);
    const struct pug_block *block = pug_codemap_block(map, 0x1000, program->isa, 0);
    assert_int_equal(block->ending, PUG_BLOCK_NO_ACCESS);
    assert_int_equal(block->end, 0x1004);
    add_piece(&halves, 1, CALLBACK);
    check_block(program, map);
    pug_codemap_free(map);
    pug_image_free(halves.image);
}

/** The page of the neighbour changes with the context: so does the instruction. */
static void a_neighbour_that_changes(void **state)
{
    (void)state;
    uint8_t code[12];
    struct halves halves;
    memcpy(code, programs[1].bytes, sizeof(code));
    cut_in_two(&halves, 0x1000, code, sizeof(code), 10, 2);
    struct pug_codemap *map = map_of(halves.image, false);
    check_block(&programs[1], map);
    code[11] = 0xeb; /* now it is a BL */
    pug_codemap_context_changed(map);
    assert_true(pug_codemap_block(map, 0x1000, PUG_ISA_A32, 0)->insn.link);
    pug_codemap_free(map);
    pug_image_free(halves.image);
}

/* ---- tables and data ---- */

static void a_table_across_a_border(void **state)
{
    (void)state;
    static const uint8_t jump[] = {0x02, 0xa0, 0x01, 0x00}; /* cm.jt 0 */
    const uint64_t target = 0x11223344556677f0;
    uint8_t table[8];
    pug_bytes_set(table, target, sizeof(table));
    for (unsigned kinds = 0; kinds < 4; kinds++) {
        struct halves halves;
        cut_in_two(&halves, 0x2000, table, sizeof(table), 4, kinds);
        assert_int_equal(pug_image_add_buffer(halves.image, &anywhere, 0x1000, jump, sizeof(jump)),
                         PUG_OK);
        struct pug_codemap *map = map_of(halves.image, false);
        pug_codemap_set_isa_config(map,
                                   &(struct pug_isa_config){.zcmp_zcmt = true, .jvt_base = 0x2000});
        const struct pug_block *block = pug_codemap_block(map, 0x1000, PUG_ISA_RV64, 0);
        assert_false(block->insn.table_jump);
        assert_int_equal(block->insn.target, target);
        pug_codemap_free(map);
        pug_image_free(halves.image);
    }
}

static void data_across_borders(void **state)
{
    (void)state;
    static const uint8_t bytes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    for (unsigned kinds = 0; kinds < 4; kinds++) {
        struct halves halves;
        uint8_t buffer[16] = {0};
        cut_in_two(&halves, 0x1000, bytes, sizeof(bytes), 4, kinds);
        assert_int_equal(pug_image_read(halves.image, &reader, 0x1002, buffer, 16), 8);
        assert_memory_equal(buffer, bytes + 2, 8);
        assert_int_equal(pug_image_read(halves.image, &reader, 0x1000, buffer, 6), 6);
        assert_int_equal(pug_image_read(halves.image, &reader, 0x100a, buffer, 6), 0);
        struct pug_codemap *map = map_of(halves.image, false);
        memset(buffer, 0, sizeof(buffer));
        assert_int_equal(pug_codemap_read(map, 0x1001, buffer, 16), 9);
        assert_memory_equal(buffer, bytes + 1, 9);
        pug_codemap_free(map);

        struct pug_quirks quirks = {.reads_end_with_image = 1};
        pug_image_set_quirks(halves.image, &quirks);
        assert_int_equal(pug_image_read(halves.image, &reader, 0x1002, buffer, 16), 2);
        pug_image_free(halves.image);
    }
}

/** The end of the address space is followed by nothing. */
static void nothing_is_behind_the_end(void **state)
{
    (void)state;
    static const uint8_t bytes[] = {1, 2, 3, 4};
    uint8_t buffer[8];
    struct pug_image *image = pug_image_new();
    assert_int_equal(pug_image_add_buffer(image, &anywhere, UINT64_MAX - 3, bytes, 4), PUG_OK);
    assert_int_equal(pug_image_add_buffer(image, &anywhere, 0, bytes, 4), PUG_OK);
    assert_int_equal(pug_image_read(image, &reader, UINT64_MAX - 1, buffer, 8), 2);
    struct pug_codemap *map = map_of(image, false);
    struct pug_insn insn;
    uint8_t it = 0;
    assert_int_equal(pug_codemap_insn(map, UINT64_MAX - 1, PUG_ISA_A64, &it, &insn),
                     PUG_ERR_NO_PROGRAM_MEMORY);
    pug_codemap_free(map);
    pug_image_free(image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instructions_across_a_border),
        cmocka_unit_test(single_instructions_across_a_border),
        cmocka_unit_test(quirk_instructions_end_with_their_image),
        cmocka_unit_test(a_border_without_a_neighbour),
        cmocka_unit_test(a_neighbour_that_changes),
        cmocka_unit_test(a_table_across_a_border),
        cmocka_unit_test(data_across_borders),
        cmocka_unit_test(nothing_is_behind_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
