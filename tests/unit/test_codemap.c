// SPDX-License-Identifier: MIT
/** @file The code map: blocks and their links, contexts, bounds. */
#include "support/code_map.h"

/* ---- blocks ---- */

static void blocks_end_at_waypoints(void **state)
{
    (void)state;
    static const uint32_t code[] = {NOP, NOP, CBZ(2), NOP, BL(-4), NOP, RET, NOP};
    struct pug_image *image = pug_image_new();
    add(image, &anywhere, 0x1000, code, sizeof(code));
    struct pug_codemap *map = new_map(image);

    const struct pug_block *block = pug_codemap_block(map, 0x1000, PUG_ISA_A64, 0);
    assert_int_equal(block->ending, PUG_BLOCK_FLOW);
    assert_int_equal(block->start, 0x1000);
    assert_int_equal(block->last, 0x1008);
    assert_int_equal(block->end, 0x100c);
    assert_int_equal(block->count, 3);
    assert_int_equal(block->insn.type, PUG_INSTR_BR);
    assert_true(block->insn.conditional);
    assert_int_equal(block->insn.target, 0x1010);

    /* not taken, then the call back to the start, and around again along the links */
    block = pug_block_follow(map, block, false);
    assert_int_equal(block->start, 0x100c);
    assert_true(block->insn.link);
    block = pug_block_follow(map, block, true);
    assert_int_equal(block->start, 0x1000);
    uint64_t lookups = stats_of(map).lookups;
    for (int i = 0; i < 1000; i++) {
        block = pug_block_follow(map, block, false);
        block = pug_block_follow(map, block, true);
        assert_int_equal(block->start, 0x1000);
    }
    assert_int_equal(stats_of(map).lookups, lookups);

    /* an address in the middle begins a block of its own */
    block = pug_codemap_block(map, 0x1014, PUG_ISA_A64, 0);
    assert_int_equal(block->count, 2);
    assert_int_equal(block->insn.subtype, PUG_SUB_V8_RET);
    block = pug_block_follow(map, block, false);
    assert_int_equal(block->ending, PUG_BLOCK_NO_ACCESS);
    assert_int_equal(block->count, 1);
    assert_int_equal(block->end, 0x1020);
    block = pug_codemap_block(map, 0x2000, PUG_ISA_A64, 0);
    assert_int_equal(block->ending, PUG_BLOCK_NO_ACCESS);
    assert_int_equal(block->count, 0);
    assert_int_equal(block->end, 0x2000);
    block = pug_codemap_block(map, 0x1000, PUG_ISA_JAZELLE, 0);
    assert_int_equal(block->ending, PUG_BLOCK_ERROR);
    assert_int_equal(block->status, PUG_ERR_UNSUPPORTED_ISA);
    pug_codemap_free(map);
    pug_image_free(image);
}

static void long_code_is_cut(void **state)
{
    (void)state;
    uint32_t *code = calloc(3000, sizeof(*code));
    code[2999] = RET;
    struct pug_image *image = pug_image_new();
    add(image, &anywhere, 0, code, 3000 * sizeof(*code));
    struct pug_codemap *map = new_map(image);
    const struct pug_block *block = pug_codemap_block(map, 0, PUG_ISA_A64, 0);
    assert_int_equal(block->ending, PUG_BLOCK_LONG);
    assert_int_equal(block->count, PUG_BLOCK_MAX / 2);
    unsigned count = block->count;
    while (block->ending == PUG_BLOCK_LONG) {
        block = pug_block_follow(map, block, false);
        count += block->count;
    }
    assert_int_equal(block->ending, PUG_BLOCK_FLOW);
    assert_int_equal(count, 3000);
    pug_codemap_free(map);
    pug_image_free(image);
    free(code);
}

static void it_blocks_are_part_of_the_key(void **state)
{
    (void)state;
    /* itt eq; nop; beq-like bx lr; bx lr */
    static const uint16_t code[] = {LE16(0xbf04), LE16(0x46c0), LE16(0x4770), LE16(0x4770)};
    struct pug_image *image = pug_image_new();
    add(image, &anywhere, 0x100, code, sizeof(code));
    struct pug_codemap *map =
        pug_codemap_new(&(struct pug_codemap_config){.image = image, .isa = {.track_it = true}});
    const struct pug_block *block = pug_codemap_block(map, 0x100, PUG_ISA_T32, 0);
    assert_int_equal(block->count, 3);
    assert_int_equal(block->it_out, 0);
    assert_true(block->insn.conditional);
    block = pug_codemap_block(map, 0x104, PUG_ISA_T32, 0);
    assert_false(block->insn.conditional);
    block = pug_codemap_block(map, 0x104, PUG_ISA_T32, 1);
    assert_true(block->insn.conditional);
    /* the last halfword of the memory can be executed */
    block = pug_codemap_block(map, 0x106, PUG_ISA_T32, 0);
    assert_int_equal(block->ending, PUG_BLOCK_FLOW);
    pug_codemap_free(map);
    map = pug_codemap_new(
        &(struct pug_codemap_config){.image = image, .isa = {.t32_word_reads = true}});
    /* a decoder says what it knows; the quirk stays */
    pug_codemap_set_isa_config(map, &(struct pug_isa_config){.track_it = true});
    block = pug_codemap_block(map, 0x106, PUG_ISA_T32, 0);
    assert_int_equal(block->ending, PUG_BLOCK_NO_ACCESS);
    assert_int_equal(block->count, 0);
    pug_codemap_free(map);
    pug_image_free(image);
}

static void riscv_pairs_and_tables(void **state)
{
    (void)state;
    static const uint8_t code[] = {
        0x97, 0x00, 0x00, 0x00, 0xe7, 0x80, 0x40, 0x0c, /* 1000 auipc x1,0; jalr x1,0xc4(x1) */
        0x97, 0x02, 0x00, 0x00, 0x93, 0x82, 0xe2, 0x01, /* 1008 auipc x5,0; addi x5,x5,30 */
        0x82, 0x82,                                     /* 1010 c.jr x5 */
        0x06, 0xa0,                                     /* 1012 cm.jt 1 */
        0x82, 0xa0,                                     /* 1014 cm.jalt 32 */
        0x73, 0x00, 0x00, 0x00,                         /* 1016 ecall */
    };
    static const uint32_t table[] = {LE32(0x1111), 0, LE32(0x2223), 0};
    struct pug_image *image = pug_image_new();
    add(image, &anywhere, 0x1000, code, sizeof(code));
    add(image, &anywhere, 0x4000, table, sizeof(table));
    struct pug_codemap *map = pug_codemap_new(&(struct pug_codemap_config){
        .image = image, .isa = {.zcmp_zcmt = true, .jvt_base = 0x4000}});
    const struct pug_block *block = pug_codemap_block(map, 0x1000, PUG_ISA_RV64, 0);
    assert_true(block->sequential);
    assert_int_equal(block->insn.target, 0x10c4);
    assert_int_equal(block->insn.kind, PUG_RV_CALL);
    block = pug_codemap_block(map, 0x1004, PUG_ISA_RV64, 0);
    assert_false(block->sequential);
    block = pug_codemap_block(map, 0x1008, PUG_ISA_RV64, 0);
    assert_int_equal(block->count, 3);
    assert_false(block->sequential);
    assert_int_equal(block->insn.kind, PUG_RV_RETURN);
    block = pug_codemap_block(map, 0x1012, PUG_ISA_RV64, 0);
    assert_false(block->insn.table_jump);
    assert_int_equal(block->insn.target, 0x2222);
    block = pug_codemap_block(map, 0x1014, PUG_ISA_RV64, 0); /* its word is not there */
    assert_true(block->insn.table_jump);
    assert_int_equal(block->insn.target, 0x4100);
    assert_int_equal(block->insn.kind, PUG_RV_CALL);
    block = pug_codemap_block(map, 0x1016, PUG_ISA_RV64, 0);
    assert_int_equal(block->ending, PUG_BLOCK_FLOW);
    assert_int_equal(block->insn.kind, PUG_RV_TRAP);
    struct pug_insn insn;
    uint8_t it = 0;
    assert_int_equal(pug_codemap_insn(map, 0x1012, PUG_ISA_RV64, &it, &insn), PUG_OK);
    assert_int_equal(insn.target, 0x2222);
    pug_codemap_free(map);
    pug_image_free(image);
}

/** Single instructions are kept in a table that grows with them, and within the map's limit. */
static void single_instructions_have_little_room(void **state)
{
    enum { CODE = 40000 };
    uint32_t *code = calloc(CODE, sizeof(*code));
    struct pug_image *image = pug_image_new();
    (void)state;
    assert_non_null(code);
    for (uint32_t i = 0; i < CODE; i++)
        code[i] = B(i & 0xff);
    add(image, &anywhere, 0x1000, code, CODE * sizeof(*code));
    for (size_t limit = 0; limit <= 65536; limit += 65536) {
        struct pug_codemap *map =
            pug_codemap_new(&(struct pug_codemap_config){.image = image, .limit = limit});
        assert_non_null(map);
        for (uint32_t i = 0; i < 3 * CODE; i++) {
            const uint64_t address = 0x1000 + 4ull * (i % CODE);
            struct pug_insn insn;
            uint8_t it = 0;
            assert_int_equal(pug_codemap_insn(map, address, PUG_ISA_A64, &it, &insn), PUG_OK);
            assert_int_equal(insn.target, address + 4 * (i % CODE & 0xff));
            if (i < 10)
                assert_true(stats_of(map).bytes < 16384);
        }
        assert_true(stats_of(map).bytes <= (limit ? limit / 4 : 1u << 20));
        pug_codemap_free(map);
    }
    pug_image_free(image);
    free(code);
}

/** Code without a waypoint, walked from many places: what one walk made serves the others. */
static void long_walks_come_together(void **state)
{
    enum { WORDS = 1 << 18, HALVES = 2 * WORDS };
    static const struct {
        enum pug_isa isa;
        uint16_t halves[2]; /* NOP */
    } sets[] = {{PUG_ISA_A64, {0x201f, 0xd503}}, {PUG_ISA_T32, {0xbf00, 0xbf00}}};
    (void)state;
    uint16_t *code = malloc(HALVES * sizeof(*code));
    for (size_t set = 0; set < 2; set++) {
        for (size_t i = 0; i < HALVES; i++)
            code[i] = LE16(sets[set].halves[i % 2]);
        struct pug_image *image = pug_image_new();
        add(image, &anywhere, 0, code, HALVES * sizeof(*code));
        struct pug_codemap *map = new_map(image);
        for (uint64_t from = 0; from < 4096; from += 4) {
            struct pug_code_walk walk;
            pug_codemap_walk_to(map, from, sets[set].isa, 0, UINT64_MAX, PUG_WALK_BOUND, &walk);
            assert_int_equal(walk.status, PUG_ERR_NO_PROGRAM_MEMORY);
            assert_int_equal(walk.end, HALVES * sizeof(*code));
        }
        assert_true(stats_of(map).blocks_made < 4 * 1024);
        pug_codemap_free(map);
        pug_image_free(image);
    }
    free(code);
}

static void pairs_are_never_cut(void **state)
{
    (void)state;
    enum { LONG = PUG_BLOCK_MAX / 2 };
    /* as many nops as fit before an AUIPC that would be the last of a long block */
    uint32_t *code = malloc((LONG + 1) * sizeof(*code));
    for (unsigned i = 0; i < LONG; i++)
        code[i] = LE32(0x00000013);
    code[LONG - 1] = LE32(0x00000097); /* auipc x1,0 */
    code[LONG] = LE32(0x000080e7);     /* jalr x1,0(x1) */
    struct pug_image *image = pug_image_new();
    add(image, &anywhere, 0x10000, code, (LONG + 1) * sizeof(*code));
    struct pug_codemap *map = new_map(image);
    const struct pug_block *block = pug_codemap_block(map, 0x10000, PUG_ISA_RV64, 0);
    assert_int_equal(block->ending, PUG_BLOCK_LONG);
    assert_int_equal(block->count, LONG - 1);
    assert_int_equal(block->end, 0x10000 + 4 * (LONG - 1));
    assert_int_equal(block->last, block->end - 4);
    uint64_t end = block->end;
    block = pug_block_follow(map, block, false);
    assert_true(block->sequential);
    assert_int_equal(block->insn.target, end);
    pug_codemap_free(map);
    pug_image_free(image);
    free(code);
}

/* ---- straight walks ---- */

static void walks(void **state)
{
    (void)state;
    static const uint32_t code[] = {NOP, NOP, CBZ(2), NOP, B(2), NOP, RET, NOP};
    struct pug_image *image = pug_image_new();
    add(image, &anywhere, 0x1000, code, sizeof(code));
    struct pug_codemap *map = new_map(image);
    struct pug_code_walk walk;
    pug_codemap_walk_to(map, 0x1000, PUG_ISA_A64, 0, 0x1014, 100, &walk);
    assert_int_equal(walk.status, PUG_OK);
    assert_int_equal(walk.count, 5);
    assert_int_equal(walk.last, 0x1010);
    assert_int_equal(walk.end, 0x1014);
    assert_int_equal(walk.insn.type, PUG_INSTR_BR);
    pug_codemap_walk_to(map, 0x1000, PUG_ISA_A64, 0, 0x1004, 100, &walk);
    assert_int_equal(walk.count, 1);
    assert_int_equal(walk.insn.type, PUG_INSTR_OTHER);
    /* never met: on to where memory ends */
    pug_codemap_walk_to(map, 0x1000, PUG_ISA_A64, 0, 0x1006, 100, &walk);
    assert_int_equal(walk.status, PUG_ERR_NO_PROGRAM_MEMORY);
    assert_int_equal(walk.count, 8);
    assert_int_equal(walk.end, 0x1020);
    pug_codemap_walk_to(map, 0x1000, PUG_ISA_A64, 0, 0x101c, 4, &walk);
    assert_int_equal(walk.status, PUG_ERR_LIMIT);
    assert_int_equal(walk.count, 4);
    assert_int_equal(walk.end, 0x1010);
    pug_codemap_walk_to(map, 0x3000, PUG_ISA_A64, 0, 0x3008, 4, &walk);
    assert_int_equal(walk.status, PUG_ERR_NO_PROGRAM_MEMORY);
    assert_int_equal(walk.count, 0);
    pug_codemap_free(map);
    pug_image_free(image);
}

/* ---- address spaces ---- */

static void each_context_sees_its_own(void **state)
{
    (void)state;
    static const uint32_t shared[] = {NOP, NOP, NOP, RET};
    static const uint32_t one[] = {RET, NOP}, two[] = {NOP, RET}, secure[] = {NOP, NOP, RET, NOP};
    struct pug_image *image = pug_image_new();
    add(image, &(struct pug_place){.space = PUG_SPACE_N}, 0x1000, shared, sizeof(shared));
    add(image, &(struct pug_place){.space = PUG_SPACE_S}, 0x1000, secure, sizeof(secure));
    add(image, &(struct pug_place){.space = PUG_SPACE_ANY, .has_context_id = true, .context_id = 7},
        0x1000, one, sizeof(one));
    add(image, &(struct pug_place){.space = PUG_SPACE_ANY, .has_vmid = true, .vmid = 3}, 0x1000,
        two, sizeof(two));
    struct pug_codemap *map = new_map(image);
    static const struct {
        struct pug_reader_space space;
        unsigned count;
    } cases[] = {
        {{.space = PUG_SPACE_EL1N}, 4},
        {{.space = PUG_SPACE_EL1S}, 3},
        {{.space = PUG_SPACE_EL1N, .has_context_id = true, .context_id = 7}, 1},
        {{.space = PUG_SPACE_EL1N, .has_context_id = true, .context_id = 8}, 4},
        {{.space = PUG_SPACE_EL1N, .has_vmid = true, .vmid = 3}, 2},
        {{.space = PUG_SPACE_NONE}, 0},
    };
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
            pug_codemap_space(map, &cases[i].space);
            assert_int_equal(pug_codemap_block(map, 0x1000, PUG_ISA_A64, 0)->count, cases[i].count);
        }
    }
    /* contexts that no memory names share their blocks */
    pug_codemap_space(map, &cases[3].space);
    (void)pug_codemap_block(map, 0x1000, PUG_ISA_A64, 0);
    uint64_t made = stats_of(map).blocks_made;
    for (uint32_t id = 100; id < 200; id++) {
        pug_codemap_space(map, &(struct pug_reader_space){.space = PUG_SPACE_EL1N,
                                                          .has_context_id = true,
                                                          .context_id = id});
        assert_int_equal(pug_codemap_block(map, 0x1000, PUG_ISA_A64, 0)->count, 4);
    }
    assert_int_equal(stats_of(map).blocks_made, made);
    pug_codemap_free(map);
    pug_image_free(image);
}

static void an_image_may_change(void **state)
{
    (void)state;
    static const uint32_t before[] = {NOP, RET}, after[] = {RET, NOP};
    struct pug_image *image = pug_image_new();
    struct pug_codemap *map = new_map(image);
    assert_int_equal(pug_codemap_block(map, 0x1000, PUG_ISA_A64, 0)->ending, PUG_BLOCK_NO_ACCESS);
    add(image, &anywhere, 0x1000, before, sizeof(before));
    const struct pug_block *block = pug_codemap_block(map, 0x1000, PUG_ISA_A64, 0);
    assert_int_equal(block->count, 2);
    block = pug_block_follow(map, block, false);
    assert_int_equal(block->ending, PUG_BLOCK_NO_ACCESS);
    block = pug_codemap_block(map, 0x1000, PUG_ISA_A64, 0);
    assert_int_equal(pug_image_remove(image, 0x1000, PUG_SPACE_ANY), PUG_OK);
    add(image, &anywhere, 0x1008, after, sizeof(after));
    block = pug_block_follow(map, block, false); /* also a made link sees the change */
    assert_int_equal(block->start, 0x1008);
    assert_int_equal(block->count, 1);
    pug_codemap_free(map);
    pug_image_free(image);
}

/* ---- bounds ---- */

static void a_full_map_starts_anew(void **state)
{
    (void)state;
    enum { WORDS = 20000 };
    uint32_t *code = malloc(WORDS * sizeof(*code));
    for (uint32_t i = 0; i < WORDS; i++)
        code[i] = B(1);
    struct pug_image *image = pug_image_new();
    add(image, &anywhere, 0x1000, code, WORDS * sizeof(*code));
    struct pug_codemap *map =
        pug_codemap_new(&(struct pug_codemap_config){.image = image, .limit = 1});
    const struct pug_block *block = pug_codemap_block(map, 0x1000, PUG_ISA_A64, 0);
    size_t most = 0;
    for (uint64_t address = 0x1004; address < 0x1000 + 4 * (WORDS - 1); address += 4) {
        block = pug_block_follow(map, block, true);
        assert_int_equal(block->start, address);
        assert_int_equal(block->insn.target, address + 4);
        size_t bytes = stats_of(map).bytes;
        most = bytes > most ? bytes : most;
    }
    assert_true(stats_of(map).restarts > 10);
    assert_true(most <= 64 * 1024);
    pug_codemap_free(map);
    pug_image_free(image);
    free(code);
}

static enum pug_status stuck(void *context, const struct pug_isa_config *config, enum pug_isa isa,
                             uint64_t address, const uint8_t *bytes, unsigned avail, uint8_t *it,
                             struct pug_insn *insn)
{
    enum pug_status status = pug_isa_classify(config, isa, address, bytes, avail, it, insn);
    ++*(unsigned *)context;
    insn->size = 0;
    return status;
}

static void a_clients_classifier_is_asked(void **state)
{
    (void)state;
    static const uint32_t code[] = {NOP, RET};
    unsigned calls = 0;
    struct pug_image *image = pug_image_new();
    add(image, &anywhere, 0x1000, code, sizeof(code));
    struct pug_codemap *map = pug_codemap_new(&(struct pug_codemap_config){
        .image = image, .classify = stuck, .classify_context = &calls});
    const struct pug_block *block = pug_codemap_block(map, 0x1000, PUG_ISA_A64, 0);
    assert_int_equal(block->ending, PUG_BLOCK_ERROR);
    assert_int_equal(calls, 1);
    pug_codemap_free(map);
    pug_image_free(image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_end_at_waypoints),
        cmocka_unit_test(long_code_is_cut),
        cmocka_unit_test(it_blocks_are_part_of_the_key),
        cmocka_unit_test(riscv_pairs_and_tables),
        cmocka_unit_test(single_instructions_have_little_room),
        cmocka_unit_test(long_walks_come_together),
        cmocka_unit_test(pairs_are_never_cut),
        cmocka_unit_test(walks),
        cmocka_unit_test(each_context_sees_its_own),
        cmocka_unit_test(an_image_may_change),
        cmocka_unit_test(a_full_map_starts_anew),
        cmocka_unit_test(a_clients_classifier_is_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
