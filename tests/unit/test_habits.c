// SPDX-License-Identifier: MIT
/** @file Memos: what is kept of a packet's ranges, when, and how they come back. */
#include "support/code_map.h"

#include "image/packet_memo.h"

/** 0x1000: two blocks in a loop, and a return after it. */
static const uint32_t code[] = {NOP, NOP, CBZ(3), NOP, B(-4), NOP, RET};

struct bench {
    struct pug_image *image;
    struct pug_codemap *map;
    struct pug_batch batch;
    struct pug_out out;
    struct pug_element elements[64];
    struct pug_memos memos;
};

static struct bench *begin(void)
{
    struct bench *bench = calloc(1, sizeof(*bench));
    assert_non_null(bench);
    bench->image = pug_image_new();
    add(bench->image, &anywhere, 0x1000, code, sizeof(code));
    bench->map = new_map(bench->image);
    bench->batch = (struct pug_batch){.elements = bench->elements, .limit = 64};
    bench->out = (struct pug_out){.batch = &bench->batch,
                                  .blank = {.source = 0x10, .context_id = 5, .level = 1}};
    return bench;
}

static void end(struct bench *bench)
{
    pug_memos_free(&bench->memos);
    pug_codemap_free(bench->map);
    pug_image_free(bench->image);
    free(bench);
}

static const struct pug_block *first_block(struct bench *bench)
{
    return pug_codemap_block(bench->map, 0x1000, PUG_ISA_A64, 0);
}

/** Rounds of the loop from 0x1000 on, then the first `rest` instructions of its first block. */
static void walk(struct bench *bench, unsigned rounds, unsigned told, uint32_t rest)
{
    const struct pug_range_context context = pug_range_context(&bench->out.blank);
    const struct pug_block *block = first_block(bench);
    struct pug_element *e = bench->elements;
    for (unsigned i = 0; i < 2 * rounds; i++) {
        const bool taken = i % 2 == 1;
        pug_block_range(e++, block, 77, &context, taken);
        block = pug_block_follow(bench->map, block, taken);
    }
    pug_block_range(e, block, 77, &context, true);
    e->end = e->start + 4 * rest;
    e->count = rest;
    e++;
    bench->elements[0].start += told;
    bench->elements[0].count -= told > 0;
    bench->batch.count = (uint32_t)(e - bench->elements);
}

static bool take_hops(struct bench *bench, struct pug_memo *memo, unsigned told)
{
    const struct pug_memo_lookup lookup = {.told = (uint8_t)told};
    return pug_memo_hops(memo, bench->map, &bench->batch, &lookup, first_block(bench),
                         (struct pug_memo_way){.taken = true, .inside = true});
}

static void ranges_come_back(void **state)
{
    (void)state;
    for (unsigned told = 0; told <= 4; told += 4) {
        struct bench *bench = begin();
        struct pug_element before[64];
        struct pug_memo memo = {.stamp = 1};
        walk(bench, 3, told, 2);
        const uint32_t count = bench->batch.count;
        memcpy(before, bench->elements, sizeof(before));
        assert_true(take_hops(bench, &memo, told));
        assert_int_equal(memo.ranges, count);
        memset(bench->elements, 0xee, sizeof(bench->elements));
        bench->batch.count = 1; /* after the waiting elements */
        pug_memo_repeat(&bench->memos, &memo, &bench->out, 77);
        assert_int_equal(bench->batch.count, count + 1);
        assert_memory_equal(bench->elements + 1, before, count * sizeof(before[0]));
        /* elsewhere in the trace, and in another context */
        bench->out.blank.context_id = 6;
        bench->batch.count = 0;
        pug_memo_repeat(&bench->memos, &memo, &bench->out, 99);
        for (uint32_t i = 0; i < count; i++) {
            assert_int_equal(bench->elements[i].index, 99);
            assert_int_equal(bench->elements[i].context_id, 6);
            assert_int_equal(bench->elements[i].end, before[i].end);
        }
        end(bench);
    }
}

/**
 * A first block of one instruction, which was reported: nothing remains of it, but execution left
 * it.
 */
static void a_silent_hop_is_kept(void **state)
{
    (void)state;
    struct bench *bench = begin();
    struct pug_memo memo = {.stamp = 1};
    const struct pug_range_context context = pug_range_context(&bench->out.blank);
    const struct pug_block *jump = pug_codemap_block(bench->map, 0x1010, PUG_ISA_A64, 0);
    pug_block_range(bench->elements, pug_block_follow(bench->map, jump, true), 3, &context, false);
    jump = pug_codemap_block(bench->map, 0x1010, PUG_ISA_A64, 0);
    assert_int_equal(jump->count, 1);
    bench->batch.count = 1;
    assert_true(pug_memo_hops(&memo, bench->map, &bench->batch,
                              &(struct pug_memo_lookup){.told = 4}, jump,
                              (struct pug_memo_way){.taken = true, .inside = true}));
    assert_int_equal(memo.count, 1);
    assert_ptr_equal(pug_memo_block(memo.hops[0]), jump);
    assert_true(memo.hops[0] & 1);
    assert_int_equal(memo.ranges, 1);
    const struct pug_element before = bench->elements[0];
    memset(bench->elements, 0xee, sizeof(bench->elements));
    bench->batch.count = 0;
    pug_memo_repeat(&bench->memos, &memo, &bench->out, 3);
    assert_memory_equal(bench->elements, &before, sizeof(before));
    end(bench);
}

/** Without a range that ends inside a block all of them are hops. */
static void the_last_may_be_a_hop(void **state)
{
    (void)state;
    struct bench *bench = begin();
    struct pug_element before[64];
    struct pug_memo memo = {.stamp = 1};
    const struct pug_memo_lookup lookup = {.count = 2};
    walk(bench, 3, 0, 1);
    bench->batch.count--;
    memcpy(before, bench->elements, sizeof(before));
    assert_true(pug_memo_hops(&memo, bench->map, &bench->batch, &lookup, first_block(bench),
                              (struct pug_memo_way){.inside = false}));
    assert_int_equal(memo.ranges, 4);
    assert_int_equal(memo.count, 4);
    bench->batch.count = 0;
    pug_memo_repeat(&bench->memos, &memo, &bench->out, 77);
    assert_int_equal(bench->batch.count, 4);
    assert_memory_equal(bench->elements, before + 2, 4 * sizeof(before[0]));
    walk(bench, 3, 0, 1); /* the last range is one instruction of three */
    assert_false(pug_memo_hops(&memo, bench->map, &bench->batch, &lookup, first_block(bench),
                               (struct pug_memo_way){.inside = false}));
    end(bench);
}

static uint64_t newest(const void *context, uint32_t n)
{
    return ((const uint64_t *)context)[n];
}

/** Calls and returns as hops, by their kinds; each return goes to `addresses[i]`. */
static int64_t fits(const char *kinds, uint32_t entries, uint32_t limit, bool last_is_told)
{
    static const uint64_t addresses[] = {0x9000, 0x9100, 0x9200};
    const struct pug_memo_stack stack = {
        .entries = entries, .limit = limit, .newest = newest, .context = addresses};
    struct pug_memo memo = {.last.start = 0x9200};
    static struct pug_block blocks[8];
    memset(blocks, 0, sizeof(blocks));
    for (size_t i = 0; kinds[i]; i++) {
        blocks[i].insn.kind = kinds[i] == 'c'   ? PUG_RV_CALL
                              : kinds[i] == 'r' ? PUG_RV_RETURN
                                                : PUG_RV_NONE;
        memo.hops[memo.count++] = (pug_memo_hop)&blocks[i];
    }
    if (memo.count > 1)
        blocks[1].start = 0x9000; /* where a return that is the first hop leads */
    return pug_memo_fits(&memo, &stack, last_is_told);
}

static void the_stack_infers_the_same(void **state)
{
    (void)state;
    assert_int_equal(fits("--", 0, 4, false), 0);
    assert_int_equal(fits("cc", 1, 4, false), 3);
    assert_int_equal(fits("cc", 3, 4, false), 4);
    assert_int_equal(fits("ccc", 1, 2, false), -1); /* more than it holds */
    assert_int_equal(fits("c-r", 0, 4, false), 0);  /* of a call on the way */
    assert_int_equal(fits("c-r", 4, 4, false), 3);  /* whose entry was the oldest one's */
    assert_int_equal(fits("r-", 1, 4, false), 0);   /* to where the newest address is */
    assert_int_equal(fits("r-", 0, 4, false), -1);
    assert_int_equal(fits("-r", 1, 4, false), -1); /* not to 9200 */
    assert_int_equal(fits("-r", 1, 4, true), 1);   /* not inferred */
    assert_int_equal(fits("r", 3, 4, true), 3);
}

static void only_hops_and_a_range_are_kept(void **state)
{
    (void)state;
    struct bench *bench = begin();
    struct pug_memo memo = {.stamp = 1};
    walk(bench, PUG_MEMO_HOPS / 2, 0, 1);
    assert_true(take_hops(bench, &memo, 0));
    walk(bench, PUG_MEMO_HOPS / 2 + 1, 0, 1); /* too many */
    assert_false(take_hops(bench, &memo, 0));
    for (unsigned at = 0; at < 5; at++) {
        walk(bench, 2, 0, 1);
        bench->elements[at].type = PUG_ELEM_EVENT;
        assert_false(take_hops(bench, &memo, 0));
        walk(bench, 2, 0, 1);
        bench->elements[at].start += 4; /* not where the one before led */
        assert_false(take_hops(bench, &memo, 0));
        walk(bench, 2, 0, 1);
        bench->elements[at].value = 1;
        assert_false(take_hops(bench, &memo, 0));
    }
    walk(bench, 2, 0, 1);
    bench->elements[2].end -= 4; /* not all of a block */
    assert_false(take_hops(bench, &memo, 0));
    walk(bench, 2, 0, 1);
    bench->elements[1].cycle_count = 9;
    assert_false(take_hops(bench, &memo, 0));
    bench->batch.count = 0;
    assert_false(take_hops(bench, &memo, 0));
    pug_memo_none(&memo);
    assert_int_equal(memo.ranges, 0);
    end(bench);
}

static struct pug_memo_cause cause_of(unsigned n)
{
    return (struct pug_memo_cause){
        .low = n % 7, .high = n % 3, .at = 0x1000 + 2 * n, .base = n, .rest = n & 1};
}

static void keep(struct bench *bench, struct pug_memo_cause cause)
{
    struct pug_memo memo = {
        .cause = cause, .stamp = pug_codemap_stamp(bench->map), .saved = {cause.base}};
    pug_memos_keep(&bench->memos, bench->map, &memo);
}

static bool meet(struct bench *bench, struct pug_memo_cause cause)
{
    struct pug_memo_lookup lookup = {.cause = cause, .keeps = true};
    pug_memos_look_up_first(&bench->memos, bench->map, &lookup);
    return lookup.keeps;
}

static void the_same_is_found_and_nothing_else(void **state)
{
    (void)state;
    struct bench *bench = begin();
    const struct pug_memo_cause cause = cause_of(5);
    struct pug_memo_cause other[5] = {cause, cause, cause, cause, cause};
    other[0].low ^= UINT64_C(1) << 63;
    other[1].high ^= 1;
    other[2].at ^= 2;
    other[3].base ^= UINT64_C(1) << 40;
    other[4].rest ^= 4;
    assert_null(pug_memos_find(&bench->memos, bench->map, cause));
    assert_false(meet(bench, cause));
    assert_null(pug_memos_find(&bench->memos, bench->map, cause));
    assert_true(meet(bench, cause));
    keep(bench, cause);
    assert_non_null(pug_memos_find(&bench->memos, bench->map, cause));
    for (unsigned i = 0; i < 5; i++) {
        assert_null(pug_memos_find(&bench->memos, bench->map, other[i]));
        keep(bench, other[i]);
    }
    assert_non_null(pug_memos_find(&bench->memos, bench->map, other[4]));
    pug_memos_forget(&bench->memos);
    assert_null(pug_memos_find(&bench->memos, bench->map, other[4]));
    end(bench);
}

static struct pug_memo *find(const struct bench *bench, struct pug_memo_cause cause)
{
    return pug_memos_find(&bench->memos, bench->map, cause);
}

/** The packet after a memo is recognised by itself alone, as long as it is the same one. */
static void the_next_is_known_by_its_packet(void **state)
{
    (void)state;
    struct bench *bench = begin();
    struct pug_memos *memos = &bench->memos;
    struct pug_memo_cause causes[3] = {cause_of(1), cause_of(2), cause_of(2)};
    causes[2].at ^= 0x40; /* the same packet elsewhere */
    for (unsigned i = 0; i < 2; i++) {
        (void)meet(bench, causes[i]);
        keep(bench, causes[i]);
    }
    const struct pug_memo *second = find(bench, causes[1]);
    assert_null(pug_memos_next(memos, causes[1].low, causes[1].high));
    pug_memos_follow(memos, NULL, second);
    memos->at = find(bench, causes[0]);
    assert_null(pug_memos_next(memos, causes[1].low, causes[1].high));
    assert_null(pug_memos_next(memos, 0, 0));
    pug_memos_follow(memos, memos->at, second);
    assert_ptr_equal(pug_memos_next(memos, causes[1].low, causes[1].high), second);
    assert_null(pug_memos_next(memos, causes[1].low ^ 1, causes[1].high));
    assert_null(pug_memos_next(memos, causes[1].low, causes[1].high ^ 1));
    /* in its place is another one */
    struct pug_memo *place = (struct pug_memo *)second;
    place->cause = causes[2];
    place->number = ++memos->number;
    assert_null(pug_memos_next(memos, causes[1].low, causes[1].high));
    memos->at = NULL;
    assert_null(pug_memos_next(memos, causes[1].low, causes[1].high));
    /* no number is given twice */
    memos->number = PUG_MEMO_NONE - 1;
    keep(bench, causes[0]);
    assert_int_equal(find(bench, causes[0])->number, 1);
    assert_null(find(bench, causes[2]));
    end(bench);
}

static void tables_grow_with_what_they_hold(void **state)
{
    (void)state;
    struct bench *bench = begin();
    unsigned found = 0;
    for (unsigned n = 0; n < 1000; n++) {
        assert_false(meet(bench, cause_of(n)));
        keep(bench, cause_of(n));
    }
    for (unsigned n = 0; n < 1000; n++) /* those that had to go while it grew */
        if (!pug_memos_find(&bench->memos, bench->map, cause_of(n)))
            keep(bench, cause_of(n));
    for (unsigned n = 0; n < 1000; n++) {
        const struct pug_memo *memo = pug_memos_find(&bench->memos, bench->map, cause_of(n));
        assert_true(!memo || memo->saved[0] == n);
        found += memo != NULL;
    }
    assert_true(found > 900);
    assert_true(bench->memos.mask < 4096);
    /* what was met once is known, too */
    found = 0;
    for (unsigned n = 0; n < 1000; n++)
        found += meet(bench, cause_of(n));
    assert_true(found > 700);
    for (unsigned n = 1000; n < 100000; n++) {
        meet(bench, cause_of(n));
        keep(bench, cause_of(n));
    }
    assert_true(bench->memos.mask < 4096);
    end(bench);
}

/** Where little is found it is not worth to look, but for now and then. */
static void they_rest_where_nothing_comes_again(void **state)
{
    (void)state;
    struct bench *bench = begin();
    const struct pug_memo memo = {.ranges = 1};
    unsigned looked = 0;
    for (unsigned n = 0; n < 100000; n++) {
        if (pug_memos_rest(&bench->memos))
            continue;
        looked++;
        (void)meet(bench, cause_of(n));
    }
    assert_true(looked > 2000 && looked < 10000);
    while (pug_memos_rest(&bench->memos))
        continue;
    for (unsigned n = 0; n < 10000; n++) { /* one in three is found */
        assert_false(pug_memos_rest(&bench->memos));
        (void)meet(bench, cause_of(n));
        bench->batch.count = 0;
        if (n % 2 == 0)
            pug_memo_repeat(&bench->memos, &memo, &bench->out, 0);
    }
    end(bench);
}

static void little_memory_is_none(void **state)
{
    (void)state;
    struct bench *bench = begin();
    pug_codemap_free(bench->map);
    bench->map =
        pug_codemap_new(&(struct pug_codemap_config){.image = bench->image, .limit = 65536});
    for (unsigned i = 0; i < 3; i++)
        assert_false(meet(bench, cause_of(1)));
    assert_null(bench->memos.items);
    pug_memos_forget(&bench->memos);
    end(bench);
}

static uint32_t read_code(void *context, uint64_t address, const struct pug_reader_space *space,
                          uint32_t wanted, uint8_t *buffer)
{
    (void)context;
    (void)space;
    if (address < 0x1000 || address >= 0x1000 + sizeof(code))
        return 0;
    const uint32_t left = (uint32_t)(0x1000 + sizeof(code) - address);
    const uint32_t size = left < wanted ? left : wanted;
    memcpy(buffer, (const uint8_t *)code + (address - 0x1000), size);
    return size;
}

/** Blocks may be gone, or be others: nothing is found then, whatever is at their addresses. */
static void they_hold_as_long_as_blocks(void **state)
{
    (void)state;
    struct bench *bench = begin();
    (void)first_block(bench);
    (void)meet(bench, cause_of(1));
    keep(bench, cause_of(1));
    add(bench->image, &anywhere, 0x9000, code, sizeof(code));
    (void)first_block(bench); /* the map restarts */
    assert_null(pug_memos_find(&bench->memos, bench->map, cause_of(1)));
    assert_int_equal(pug_image_remove(bench->image, 0x1000, PUG_SPACE_ANY), PUG_OK);
    assert_int_equal(pug_image_add_callback(bench->image, &anywhere, 0x1000,
                                            0x1000 + sizeof(code) - 1, read_code, NULL),
                     PUG_OK);
    (void)first_block(bench);
    keep(bench, cause_of(1));
    assert_non_null(pug_memos_find(&bench->memos, bench->map, cause_of(1)));
    pug_codemap_context_changed(bench->map);
    assert_null(pug_memos_find(&bench->memos, bench->map, cause_of(1)));
    end(bench);
}

/** Epochs restart when the numbers are used up; blocks of that number are then others. */
static void they_do_not_outlive_epochs(void **state)
{
    (void)state;
    struct bench *bench = begin();
    (void)first_block(bench);
    const uint32_t epoch = bench->map->epoch;
    (void)meet(bench, cause_of(1));
    keep(bench, cause_of(1));
    assert_non_null(pug_memos_find(&bench->memos, bench->map, cause_of(1)));
    bench->map->epoch = UINT32_MAX - 1;
    add(bench->image, &anywhere, 0x9000, code, sizeof(code));
    (void)first_block(bench); /* the map restarts */
    assert_int_equal(bench->map->epoch, epoch);
    assert_null(pug_memos_find(&bench->memos, bench->map, cause_of(1)));
    end(bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_come_back),
        cmocka_unit_test(a_silent_hop_is_kept),
        cmocka_unit_test(the_last_may_be_a_hop),
        cmocka_unit_test(the_stack_infers_the_same),
        cmocka_unit_test(only_hops_and_a_range_are_kept),
        cmocka_unit_test(the_same_is_found_and_nothing_else),
        cmocka_unit_test(the_next_is_known_by_its_packet),
        cmocka_unit_test(tables_grow_with_what_they_hold),
        cmocka_unit_test(they_rest_where_nothing_comes_again),
        cmocka_unit_test(little_memory_is_none),
        cmocka_unit_test(they_hold_as_long_as_blocks),
        cmocka_unit_test(they_do_not_outlive_epochs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
