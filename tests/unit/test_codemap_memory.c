// SPDX-License-Identifier: MIT
/** @file The code map over memory that a callback answers for, and that may change: pages. */
#include "support/code_map.h"

struct guest {
    uint32_t code[1024]; /* at 0x1000 */
    uint32_t size;       /* bytes that are there */
    unsigned calls;
    uint32_t lie; /* say this many more than given */
    unsigned batch_seen;
    struct pug_batch *batch;
    struct pug_reader_space space;
    uint64_t asked;
    struct pug_codemap *map; /* whose pages it wants to have so many bytes, when it is asked */
    uint32_t pages;
};

static uint32_t guest_memory(void *context, uint64_t address, const struct pug_reader_space *space,
                             uint32_t wanted, uint8_t *buffer)
{
    struct guest *guest = context;
    guest->calls++;
    guest->space = *space;
    guest->asked = address;
    if (guest->batch)
        guest->batch_seen = guest->batch->count;
    assert_int_equal(wanted, guest->pages && guest->calls > 1 ? guest->pages : PUG_CODE_PAGE);
    if (address < 0x1000 || address >= 0x1000 + (uint64_t)guest->size)
        return 0;
    if (guest->pages)
        assert_int_equal(pug_codemap_set_page(guest->map, guest->pages), PUG_OK);
    uint32_t left = guest->size - (uint32_t)(address - 0x1000);
    uint32_t size = left < wanted ? left : wanted;
    memcpy(buffer, (const uint8_t *)guest->code + (address - 0x1000), size);
    return size + guest->lie;
}

static struct guest *new_guest(struct pug_image **image)
{
    struct guest *guest = calloc(1, sizeof(*guest));
    for (size_t i = 0; i < 1024; i++)
        guest->code[i] = NOP;
    guest->size = sizeof(guest->code);
    *image = pug_image_new();
    assert_int_equal(pug_image_add_callback(*image, &anywhere, 0, UINT64_MAX, guest_memory, guest),
                     PUG_OK);
    return guest;
}

static void pages_are_read_once_a_context(void **state)
{
    (void)state;
    struct pug_image *image;
    struct guest *guest = new_guest(&image);
    guest->code[4] = B(4);
    guest->code[8] = B(-8);
    struct pug_codemap *map = new_map(image);
    pug_codemap_space(map, &(struct pug_reader_space){.space = PUG_SPACE_EL1N});
    const struct pug_block *block = pug_codemap_block(map, 0x1000, PUG_ISA_A64, 0);
    assert_int_equal(block->count, 5);
    assert_int_equal(guest->calls, 1);
    assert_int_equal(guest->asked, 0x1000);
    assert_int_equal(guest->space.space, PUG_SPACE_EL1N);
    assert_int_equal(guest->space.source, 0x10);
    for (int i = 0; i < 100; i++) {
        block = pug_block_follow(map, block, true);
        block = pug_block_follow(map, block, true);
    }
    assert_int_equal(guest->calls, 1);
    uint64_t made = stats_of(map).blocks_made;

    /* the same bytes in the new context: one more reading, the blocks stay */
    pug_codemap_context_changed(map);
    for (int i = 0; i < 100; i++) {
        block = pug_codemap_block(map, 0x1000, PUG_ISA_A64, 0);
        assert_int_equal(pug_block_follow(map, block, true)->start, 0x1020);
    }
    assert_int_equal(guest->calls, 2);
    assert_int_equal(stats_of(map).blocks_made, made);

    /* other bytes: other blocks, also for links that were made before */
    guest->code[8] = RET;
    guest->code[9] = RET;
    pug_codemap_context_changed(map);
    block = pug_codemap_block(map, 0x1000, PUG_ISA_A64, 0);
    block = pug_block_follow(map, block, true);
    assert_int_equal(block->insn.subtype, PUG_SUB_V8_RET);
    block = pug_codemap_block(map, 0x1000, PUG_ISA_A64, 0);
    assert_int_equal(pug_block_follow(map, block, true)->insn.subtype, PUG_SUB_V8_RET);
    assert_int_equal(guest->calls, 3);

    /* a change without notification is not seen, one that is forgotten is */
    guest->code[8] = B(0);
    assert_int_equal(pug_codemap_block(map, 0x1020, PUG_ISA_A64, 0)->insn.subtype, PUG_SUB_V8_RET);
    pug_codemap_forget_volatile(map);
    assert_int_equal(pug_codemap_block(map, 0x1020, PUG_ISA_A64, 0)->insn.type, PUG_INSTR_BR);

    /* another context id is another context, also without notification */
    guest->code[8] = RET;
    pug_codemap_space(map, &(struct pug_reader_space){
                               .space = PUG_SPACE_EL1N, .has_context_id = true, .context_id = 1});
    assert_int_equal(pug_codemap_block(map, 0x1020, PUG_ISA_A64, 0)->insn.subtype, PUG_SUB_V8_RET);
    pug_codemap_free(map);
    pug_image_free(image);
    free(guest);
}

/* The target of a taken branch, if it is known without reading memory. */
static const struct pug_block *known_next(struct pug_codemap *map, const struct pug_block *block)
{
    const struct pug_block *next = pug_block_linked(block, true, map->epoch);
    return next ? next : pug_block_regain(map, block->links[true]);
}

static void links_that_lapsed_hold_again(void **state)
{
    (void)state;
    struct pug_image *image;
    struct guest *guest = new_guest(&image);
    guest->code[4] = B(4);
    guest->code[8] = RET;
    guest->code[12] = RET;
    struct pug_codemap *map = new_map(image);
    const struct pug_block *block = pug_codemap_block(map, 0x1000, PUG_ISA_A64, 0);
    assert_null(known_next(map, block)); /* not made yet */
    const struct pug_block *next = pug_block_follow(map, block, true);
    assert_int_equal(next->start, 0x1020);
    assert_ptr_equal(known_next(map, block), next);

    /* memory is not read: whether it is unchanged is known when the page was read for another */
    pug_codemap_context_changed(map);
    assert_null(known_next(map, block));
    assert_int_equal(guest->calls, 1);
    assert_null(pug_codemap_known_jump(map, 0x1020, PUG_ISA_A64));
    (void)pug_codemap_block(map, 0x1030, PUG_ISA_A64, 0);
    assert_ptr_equal(pug_codemap_known_jump(map, 0x1020, PUG_ISA_A64), next);
    assert_ptr_equal(known_next(map, block), next);
    assert_int_equal(guest->calls, 2);

    guest->code[9] = RET;
    pug_codemap_context_changed(map);
    (void)pug_codemap_block(map, 0x1030, PUG_ISA_A64, 0);
    assert_null(known_next(map, block));
    assert_null(pug_codemap_known_jump(map, 0x1020, PUG_ISA_A64));
    pug_codemap_free(map);
    pug_image_free(image);
    free(guest);
}

/* Backwards branches find pages that begin later: all of them would be asked for ever after. */
static void a_page_takes_over_what_begins_in_it(void **state)
{
    (void)state;
    struct pug_image *image;
    struct guest *guest = new_guest(&image);
    guest->code[0x40] = guest->code[0x140] = guest->code[0x280] = RET;
    struct pug_codemap *map = new_map(image);
    (void)pug_codemap_block(map, 0x1500, PUG_ISA_A64, 0);
    (void)pug_codemap_block(map, 0x1a00, PUG_ISA_A64, 0);
    assert_int_equal(guest->calls, 1); /* from 0x1500 to 0x1d00 */
    (void)pug_codemap_block(map, 0x1100, PUG_ISA_A64, 0);
    assert_int_equal(guest->calls, 2); /* from 0x1100 to 0x1900 */

    for (unsigned context = 1; context <= 3; context++) {
        pug_codemap_context_changed(map);
        assert_int_equal(pug_codemap_block(map, 0x1500, PUG_ISA_A64, 0)->count, 1);
        assert_int_equal(guest->asked, 0x1100);
        assert_int_equal(pug_codemap_block(map, 0x1100, PUG_ISA_A64, 0)->count, 1);
        assert_int_equal(pug_codemap_block(map, 0x1a00, PUG_ISA_A64, 0)->count, 1);
        assert_int_equal(guest->asked, 0x1a00);
        assert_int_equal(guest->calls, 2 + 2 * context);
    }

    guest->code[0x140] = NOP;
    guest->code[0x141] = RET;
    pug_codemap_context_changed(map);
    assert_int_equal(pug_codemap_block(map, 0x1500, PUG_ISA_A64, 0)->count, 2);
    pug_codemap_free(map);
    pug_image_free(image);
    free(guest);
}

/* A page is asked for again in the same context where it was too short: it may be another then. */
static void a_block_knows_a_page_that_was_read_twice(void **state)
{
    (void)state;
    struct pug_image *image;
    struct guest *guest = new_guest(&image);
    struct pug_codemap *map = new_map(image);
    guest->code[0] = LE32(0x4770); /* T32: bx lr */
    guest->size = 2;
    assert_int_equal(pug_codemap_block(map, 0x1000, PUG_ISA_T32, 0)->count, 1);
    guest->code[0] = RET;
    guest->size = sizeof(guest->code);
    assert_int_equal(pug_codemap_block(map, 0x1000, PUG_ISA_A64, 0)->count, 1);
    assert_int_equal(guest->calls, 2);

    pug_codemap_context_changed(map);
    assert_int_equal(pug_codemap_block(map, 0x1000, PUG_ISA_A64, 0)->count, 1);
    assert_int_equal(guest->calls, 3);
    assert_null(pug_codemap_known_jump(map, 0x1000, PUG_ISA_T32));
    assert_int_not_equal(pug_codemap_block(map, 0x1000, PUG_ISA_T32, 0)->insn.type,
                         PUG_INSTR_BR_INDIRECT);
    assert_int_equal(guest->calls, 3);
    pug_codemap_free(map);
    pug_image_free(image);
    free(guest);
}

/* A consumer may set another page size while a decoder stands on a block and delivers. */
static void a_block_outlives_other_pages(void **state)
{
    (void)state;
    struct pug_image *image;
    struct guest *guest = new_guest(&image);
    guest->code[4] = B(4);
    guest->code[8] = RET;
    struct pug_codemap *map = new_map(image);
    const struct pug_block *block = pug_codemap_block(map, 0x1000, PUG_ISA_A64, 0);
    (void)pug_block_follow(map, block, true);
    assert_false(pug_codemap_outdated(map));
    assert_int_equal(pug_codemap_set_page(map, PUG_CODE_PAGE), PUG_OK);
    assert_true(pug_codemap_outdated(map));
    assert_int_equal(block->end, 0x1014);
    assert_int_equal(pug_block_follow(map, block, true)->start, 0x1020);
    assert_false(pug_codemap_outdated(map));
    assert_int_equal(guest->calls, 2);
    pug_codemap_free(map);
    pug_image_free(image);
    free(guest);
}

/* Or while it is asked: what it then answers is still what was asked for. */
static void a_question_outlives_other_pages(void **state)
{
    (void)state;
    struct pug_image *image;
    struct guest *guest = new_guest(&image);
    guest->code[0x90] = RET; /* after the first smaller page */
    struct pug_codemap *map = guest->map = new_map(image);
    guest->pages = 512;
    assert_int_equal(pug_codemap_block(map, 0x1000, PUG_ISA_A64, 0)->count, 0x91);
    assert_int_equal(guest->calls, 1);
    assert_int_equal(pug_codemap_block(map, 0x1000, PUG_ISA_A64, 0)->count, 0x91);
    assert_int_equal(guest->calls, 3);
    pug_codemap_context_changed(map);
    guest->code[0x10] = RET;
    assert_int_equal(pug_codemap_block(map, 0x1000, PUG_ISA_A64, 0)->count, 0x11);
    pug_codemap_free(map);
    pug_image_free(image);
    free(guest);
}

static enum pug_status counted(void *context, const struct pug_isa_config *config, enum pug_isa isa,
                               uint64_t address, const uint8_t *bytes, unsigned avail, uint8_t *it,
                               struct pug_insn *insn)
{
    ++*(unsigned *)context;
    return pug_isa_classify(config, isa, address, bytes, avail, it, insn);
}

static void instructions_stay_as_blocks_do(void **state)
{
    (void)state;
    struct pug_image *image;
    struct guest *guest = new_guest(&image);
    struct pug_insn insn;
    unsigned classified = 0;
    uint8_t it = 0;
    struct pug_codemap *map = pug_codemap_new(&(struct pug_codemap_config){
        .image = image, .classify = counted, .classify_context = &classified});
    for (unsigned round = 1; round <= 3; round++) {
        for (uint64_t address = 0x1000; address < 0x1040; address += 4)
            assert_int_equal(pug_codemap_insn(map, address, PUG_ISA_A64, &it, &insn), PUG_OK);
        assert_int_equal(classified, 16);
        assert_int_equal(guest->calls, round);
        pug_codemap_context_changed(map);
    }
    guest->code[3] = RET;
    assert_int_equal(pug_codemap_insn(map, 0x100c, PUG_ISA_A64, &it, &insn), PUG_OK);
    assert_int_equal(insn.subtype, PUG_SUB_V8_RET);
    pug_codemap_free(map);
    pug_image_free(image);
    free(guest);
}

static void empty_answers_are_not_kept(void **state)
{
    (void)state;
    struct pug_image *image;
    struct guest *guest = new_guest(&image);
    struct pug_codemap *map = new_map(image);
    guest->code[1] = RET;
    guest->size = 0;
    for (unsigned i = 1; i <= 3; i++) {
        const struct pug_block *block = pug_codemap_block(map, 0x1000, PUG_ISA_A64, 0);
        assert_int_equal(block->ending, PUG_BLOCK_NO_ACCESS);
        assert_int_equal(block->count, 0);
        assert_int_equal(guest->calls, i);
    }
    guest->size = 6; /* a short answer: what it holds can be used, the rest is asked for again */
    const struct pug_block *block = pug_codemap_block(map, 0x1000, PUG_ISA_A64, 0);
    assert_int_equal(block->ending, PUG_BLOCK_NO_ACCESS);
    assert_int_equal(block->count, 1);
    assert_int_equal(block->end, 0x1004);
    guest->size = sizeof(guest->code);
    block = pug_codemap_block(map, 0x1000, PUG_ISA_A64, 0);
    assert_int_equal(block->ending, PUG_BLOCK_FLOW);
    assert_int_equal(block->count, 2);
    uint8_t bytes[8];
    assert_int_equal(pug_codemap_read(map, 0x1ffc, bytes, 8), 4);
    pug_codemap_free(map);
    pug_image_free(image);
    free(guest);
}

static void code_crosses_pages(void **state)
{
    (void)state;
    struct pug_image *image;
    struct guest *guest = new_guest(&image);
    guest->code[600] = B(0);
    struct pug_codemap *map = new_map(image);
    /* T32: the page from 0x1002 ends in the middle of a word */
    const struct pug_block *block = pug_codemap_block(map, 0x1000 + 88, PUG_ISA_A64, 0);
    assert_int_equal(block->ending, PUG_BLOCK_FLOW);
    assert_int_equal(block->last, 0x1000 + 2400);
    assert_int_equal(guest->calls, 2);
    guest->code[599] = RET; /* on the second page */
    pug_codemap_context_changed(map);
    block = pug_codemap_block(map, 0x1000 + 88, PUG_ISA_A64, 0);
    assert_int_equal(block->last, 0x1000 + 2396);
    pug_codemap_free(map);
    pug_image_free(image);
    free(guest);
}

static void instructions_straddle_pages(void **state)
{
    (void)state;
    struct pug_image *image;
    struct guest *guest = new_guest(&image);
    uint16_t *code = (uint16_t *)guest->code; /* T32: nops, and a bl.w over the page's end */
    for (size_t i = 0; i < 2048; i++)
        code[i] = LE16(0xbf00);
    code[1023] = LE16(0xf000);
    code[1024] = LE16(0xf800);
    struct pug_codemap *map = new_map(image);
    const struct pug_block *block = pug_codemap_block(map, 0x1000, PUG_ISA_T32, 0);
    assert_int_equal(block->ending, PUG_BLOCK_LONG);
    block = pug_codemap_block(map, block->end, PUG_ISA_T32, 0);
    assert_int_equal(block->ending, PUG_BLOCK_FLOW);
    assert_int_equal(block->last, 0x1000 + 2046);
    assert_int_equal(block->insn.target, 0x1000 + 2050);
    assert_int_equal(guest->calls, 2);
    assert_int_equal(guest->asked, 0x1000 + 2046);
    for (int i = 0; i < 10; i++) {
        (void)pug_codemap_block(map, 0x1000 + 2046, PUG_ISA_T32, 0);
        (void)pug_codemap_block(map, 0x1000 + 2000 - (uint64_t)i * 2, PUG_ISA_T32, 0);
    }
    assert_int_equal(guest->calls, 2);
    pug_codemap_free(map);
    pug_image_free(image);
    free(guest);
}

static void too_long_answers_are_errors(void **state)
{
    (void)state;
    struct pug_image *image;
    struct guest *guest = new_guest(&image);
    guest->lie = 1;
    struct pug_codemap *map = new_map(image);
    const struct pug_block *block = pug_codemap_block(map, 0x1000, PUG_ISA_A64, 0);
    assert_int_equal(block->ending, PUG_BLOCK_ERROR);
    assert_int_equal(block->status, PUG_ERR_MEMORY_CALLBACK);
    guest->lie = 0;
    assert_int_equal(pug_codemap_block(map, 0x1000, PUG_ISA_A64, 0)->ending, PUG_BLOCK_LONG);
    pug_codemap_free(map);
    pug_image_free(image);
    free(guest);
}

static bool take_all(struct pug_batch *batch)
{
    batch->count = 0;
    return true;
}

static void elements_go_first(void **state)
{
    (void)state;
    struct pug_image *image;
    struct guest *guest = new_guest(&image);
    guest->code[1] = RET;
    struct pug_batch batch = {.count = 3, .limit = 16, .flush = take_all};
    guest->batch = &batch;
    struct pug_codemap *map =
        pug_codemap_new(&(struct pug_codemap_config){.image = image, .batch = &batch});
    (void)pug_codemap_block(map, 0x1000, PUG_ISA_A64, 0);
    assert_int_equal(guest->batch_seen, 0);
    batch.count = 3; /* nothing is asked: nothing is delivered */
    (void)pug_codemap_block(map, 0x1004, PUG_ISA_A64, 0);
    assert_int_equal(batch.count, 3);
    batch.response = PUG_RESP_WAIT; /* the consumer waits: it gets nothing */
    (void)pug_codemap_block(map, 0x1c00, PUG_ISA_A64, 0);
    assert_int_equal(guest->batch_seen, 3);
    pug_codemap_free(map);
    pug_image_free(image);
    free(guest);
}

/* ---- who is asked is removed meanwhile ---- */

struct removal {
    struct pug_batch batch;
    struct pug_image *image;
    struct guest *before, *after; /* NULL: no memory comes in its place */
    unsigned when;                /* asked so often, it removes itself */
};

static void leave(struct removal *removal)
{
    assert_int_equal(pug_image_remove(removal->image, 0x1000, PUG_SPACE_ANY), PUG_OK);
    if (removal->after)
        assert_int_equal(pug_image_add_callback(removal->image, &anywhere, 0, UINT64_MAX,
                                                guest_memory, removal->after),
                         PUG_OK);
}

static bool take_and_leave(struct pug_batch *batch)
{
    leave((struct removal *)(void *)batch); /* which it is the first of */
    return take_all(batch);
}

enum look_up { FOR_BLOCK, FOR_INSN, FOR_BYTES, LOOK_UPS };

/* The RET at 0x1010, if it is there. */
static void look(struct pug_codemap *map, enum look_up what, bool there)
{
    struct pug_insn insn;
    uint8_t it = 0, bytes[4];
    const struct pug_block *block;
    switch (what) {
    case FOR_BLOCK:
        block = pug_codemap_block(map, 0x1000, PUG_ISA_A64, 0);
        assert_int_equal(block->count, there ? 5 : 0);
        assert_int_equal(block->ending, there ? PUG_BLOCK_FLOW : PUG_BLOCK_NO_ACCESS);
        break;
    case FOR_INSN:
        assert_int_equal(pug_codemap_insn(map, 0x1010, PUG_ISA_A64, &it, &insn),
                         there ? PUG_OK : PUG_ERR_NO_PROGRAM_MEMORY);
        break;
    default:
        assert_int_equal(pug_codemap_read(map, 0x1010, bytes, 4), there ? 4 : 0);
        assert_true(!there || bytes[3] == 0xd6);
        break;
    }
}

static void removed_with_elements(enum look_up what, bool replaced)
{
    struct removal removal = {.batch = {.count = 3, .limit = 16, .flush = take_and_leave}};
    struct pug_image *other;
    struct guest *after = new_guest(&other);
    removal.before = new_guest(&removal.image);
    after->code[4] = RET;
    removal.after = replaced ? after : NULL;
    struct pug_codemap *map = pug_codemap_new(
        &(struct pug_codemap_config){.image = removal.image, .batch = &removal.batch});
    look(map, what, replaced);
    assert_int_equal(removal.before->calls, 0);
    assert_int_equal(after->calls, replaced);
    look(map, what, replaced);
    pug_codemap_free(map);
    pug_image_free(removal.image);
    pug_image_free(other);
    free(removal.before);
    free(after);
}

/* A consumer of elements may remove memory: it is not read any more, but its replacement is. */
static void memory_goes_with_elements(void **state)
{
    (void)state;
    for (unsigned what = 0; what < LOOK_UPS; what++) {
        removed_with_elements((enum look_up)what, false);
        removed_with_elements((enum look_up)what, true);
    }
}

static uint32_t leaving_memory(void *context, uint64_t address,
                               const struct pug_reader_space *space, uint32_t wanted,
                               uint8_t *buffer)
{
    struct removal *removal = context;
    const uint32_t got = guest_memory(removal->before, address, space, wanted, buffer);
    if (removal->before->calls == removal->when)
        leave(removal);
    return got;
}

/* Who is asked may remove itself: a block on two pages asks it no more. */
static void memory_goes_when_asked(void **state)
{
    (void)state;
    for (unsigned when = 1; when <= 4; when++) {
        struct removal removal = {.when = when};
        struct pug_image *unused;
        removal.before = new_guest(&unused);
        removal.before->code[600] = B(0);
        removal.image = pug_image_new();
        assert_int_equal(pug_image_add_callback(removal.image, &anywhere, 0, UINT64_MAX,
                                                leaving_memory, &removal),
                         PUG_OK);
        struct pug_codemap *map = new_map(removal.image);
        for (unsigned context = 1; context <= 2; context++) { /* each asks twice: for two pages */
            const struct pug_block *block = pug_codemap_block(map, 0x1000 + 88, PUG_ISA_A64, 0);
            assert_int_equal(block->ending,
                             when < 2 * context ? PUG_BLOCK_NO_ACCESS : PUG_BLOCK_FLOW);
            pug_codemap_context_changed(map);
        }
        assert_int_equal(removal.before->calls, when);
        assert_int_equal(pug_codemap_block(map, 0x1000 + 88, PUG_ISA_A64, 0)->count, 0);
        pug_codemap_free(map);
        pug_image_free(removal.image);
        pug_image_free(unused);
        free(removal.before);
    }
}

static void zeros_for_ever_end(void **state)
{
    (void)state;
    struct pug_image *image;
    struct guest *guest = new_guest(&image);
    memset(guest->code, 0, sizeof(guest->code));
    struct pug_codemap *map = new_map(image);
    struct pug_code_walk walk;
    pug_codemap_walk_to(map, 0x1000, PUG_ISA_A64, 0, 0x1002, 1000, &walk);
    assert_int_equal(walk.status, PUG_ERR_LIMIT);
    assert_int_equal(walk.count, 1000);
    pug_codemap_free(map);
    pug_image_free(image);
    free(guest);
}

static void pages_are_bounded_too(void **state)
{
    (void)state;
    struct pug_image *image;
    struct guest *guest = new_guest(&image);
    for (size_t i = 0; i < 1024; i++)
        guest->code[i] = B(1);
    struct pug_codemap *map =
        pug_codemap_new(&(struct pug_codemap_config){.image = image, .limit = 1});
    const struct pug_block *block = NULL;
    for (int round = 0; round < 3; round++) {
        for (uint64_t address = 0x1ffc; address >= 0x1000; address -= 4) {
            block = pug_codemap_block(map, address, PUG_ISA_A64, 0);
            assert_int_equal(block->start, address);
            assert_int_equal(block->count, 1);
            assert_true(stats_of(map).bytes <= 64 * 1024);
            if (address % 0x100 == 0)
                pug_codemap_context_changed(map);
        }
    }
    assert_true(stats_of(map).restarts > 0);
    pug_codemap_free(map);
    pug_image_free(image);
    free(guest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_are_read_once_a_context),
        cmocka_unit_test(links_that_lapsed_hold_again),
        cmocka_unit_test(a_page_takes_over_what_begins_in_it),
        cmocka_unit_test(a_block_knows_a_page_that_was_read_twice),
        cmocka_unit_test(a_block_outlives_other_pages),
        cmocka_unit_test(a_question_outlives_other_pages),
        cmocka_unit_test(instructions_stay_as_blocks_do),
        cmocka_unit_test(empty_answers_are_not_kept),
        cmocka_unit_test(code_crosses_pages),
        cmocka_unit_test(instructions_straddle_pages),
        cmocka_unit_test(too_long_answers_are_errors),
        cmocka_unit_test(elements_go_first),
        cmocka_unit_test(memory_goes_with_elements),
        cmocka_unit_test(memory_goes_when_asked),
        cmocka_unit_test(zeros_for_ever_end),
        cmocka_unit_test(pages_are_bounded_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
