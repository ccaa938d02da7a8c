// SPDX-License-Identifier: MIT
/** @file Memory callbacks of the OpenCSD C API: when they are called, and for how much. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/words.h"

#include "capi/session.h"

/* Two programs at one address: the one that a process has, and the one that the next one has. */
static const uint32_t first[] = {LE32(0xd503201f), LE32(0x54000040), LE32(0xd503201f),
                                 LE32(0xd65f03c0)}; /* nop; b.eq */
static const uint32_t second[] = {LE32(0xd503201f), LE32(0xd503201f), LE32(0x54000040),
                                  LE32(0xd65f03c0)}; /* nop ×2; b.eq */

struct world {
    const uint32_t *program;
    unsigned contexts, ranges, asked;
    unsigned contexts_when_asked;
    uint32_t wanted;
    uint64_t end; /* of the last range */
};

static struct world *world_of(const void *context)
{
    return (struct world *)(uintptr_t)context;
}

static ocsd_datapath_resp_t on_element(const void *context, const ocsd_trc_index_t index,
                                       const uint8_t id, const ocsd_generic_trace_elem *element)
{
    struct world *world = world_of(context);
    (void)index;
    assert_int_equal(id, 0x10);
    if (element->elem_type == OCSD_GEN_TRC_ELEM_PE_CONTEXT && world->contexts++ == 1)
        world->program = second; /* as perf maps another process */
    if (element->elem_type == OCSD_GEN_TRC_ELEM_INSTR_RANGE) {
        world->ranges++;
        world->end = element->en_addr;
    }
    return OCSD_RESP_CONT;
}

static uint32_t on_memory(const void *context, const ocsd_vaddr_t address,
                          const ocsd_mem_space_acc_t space, const uint8_t id, const uint32_t wanted,
                          uint8_t *buffer)
{
    struct world *world = world_of(context);
    assert_int_equal(space, OCSD_MEM_SPACE_EL1N);
    assert_int_equal(id, 0x10);
    world->asked++;
    world->wanted = wanted;
    world->contexts_when_asked = world->contexts;
    if (address < 0x4000 || address >= 0x4000 + sizeof(first))
        return 0;
    uint32_t left = (uint32_t)(0x4000 + sizeof(first) - address);
    uint32_t size = left < wanted ? left : wanted;
    memcpy(buffer, (const char *)world->program + (address - 0x4000), size);
    return size;
}

static dcd_tree_handle_t tree_of(struct world *world)
{
    *world = (struct world){.program = first};
    dcd_tree_handle_t tree = session_tree(OCSD_TRC_SRC_SINGLE);
    ocsd_dt_set_gen_elem_outfn(tree, on_element, world);
    /* 0x1f is what 1.3.3 calls any space */
    assert_int_equal(ocsd_dt_add_callback_trcid_mem_acc(tree, 0, ~0ull, (ocsd_mem_space_acc_t)0x1f,
                                                        on_memory, world),
                     0);
    return tree;
}

static void feed(dcd_tree_handle_t tree, const uint8_t *bytes, size_t size, ocsd_trc_index_t index)
{
    uint32_t used = 0;
    assert_int_equal(ocsd_dt_process_data(tree, OCSD_OP_DATA, index, (uint32_t)size, bytes, &used),
                     0);
    assert_int_equal(used, size);
}

/** A context comes before the memory it explains, and makes the client be asked anew. */
static void memory_changes_with_the_context(void **state)
{
    (void)state;
    struct world world;
    dcd_tree_handle_t tree = tree_of(&world);
    feed(tree, session_trace, 26, 0);
    assert_int_equal(world.asked, 0);
    static const uint8_t atom = 0xf6; /* N */
    feed(tree, &atom, 1, 26);
    assert_int_equal(world.contexts, 1);
    assert_int_equal(world.contexts_when_asked, 1);
    assert_int_equal(world.asked, 1);
    assert_int_equal(world.wanted, 2048);
    assert_int_equal(world.ranges, 1);
    assert_int_equal(world.end, 0x4008);
    /* All in one block of data: address and context, then an atom. */
    static const uint8_t again[] = {0x85, 0x00, 0x20, 0, 0, 0, 0, 0, 0, 0x31, 0xf6};
    feed(tree, again, sizeof(again), 27);
    assert_int_equal(world.contexts, 2);
    assert_int_equal(world.contexts_when_asked, 2);
    assert_int_equal(world.asked, 2);
    assert_int_equal(world.end, 0x400c);
    ocsd_destroy_dcd_tree(tree);
}

static void without_context_nothing_is_asked_again(void **state)
{
    (void)state;
    struct world world;
    dcd_tree_handle_t tree = tree_of(&world);
    static const uint8_t loop[] = {0x9a, 0x00, 0x20, 0, 0, 0xf6}; /* back to 0x4000; N */
    feed(tree, session_trace, 26, 0);
    for (unsigned i = 0; i < 100; i++)
        feed(tree, loop, sizeof(loop), 26 + i * (ocsd_trc_index_t)sizeof(loop));
    assert_int_equal(world.ranges, 100);
    assert_int_equal(world.asked, 1);
    ocsd_destroy_dcd_tree(tree);
}

/** A refused size changes nothing; without pages each instruction is asked for. */
static void page_sizes(void **state)
{
    (void)state;
    struct world world;
    dcd_tree_handle_t tree = session_tree(OCSD_TRC_SRC_SINGLE);
    assert_int_equal(ocsd_dt_set_mem_acc_cacheing(NULL, 1, 2048, 16), OCSD_ERR_INVALID_PARAM_VAL);
    assert_int_equal(ocsd_dt_set_mem_acc_cacheing(tree, 1, 2048, 16), OCSD_ERR_NOT_INIT);
    ocsd_destroy_dcd_tree(tree);
    static const struct {
        uint16_t size;
        int pages;
        ocsd_err_t error;
        uint32_t wanted;
    } cases[] = {
        {63, 16, OCSD_ERR_INVALID_PARAM_VAL, 2048},
        {16385, 16, OCSD_ERR_INVALID_PARAM_VAL, 2048},
        {2048, 3, OCSD_ERR_INVALID_PARAM_VAL, 2048},
        {2048, 257, OCSD_ERR_INVALID_PARAM_VAL, 2048},
        {64, 4, OCSD_OK, 64},
        {16384, 256, OCSD_OK, 16384},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        tree = tree_of(&world);
        assert_int_equal(ocsd_dt_set_mem_acc_cacheing(tree, 1, cases[i].size, cases[i].pages),
                         cases[i].error);
        feed(tree, session_trace, 27, 0);
        assert_int_equal(world.wanted, cases[i].wanted);
        assert_int_equal(world.ranges, 1);
        ocsd_destroy_dcd_tree(tree);
    }
    tree = tree_of(&world);
    assert_int_equal(ocsd_dt_set_mem_acc_cacheing(tree, 0, 0, 0), OCSD_OK);
    feed(tree, session_trace, 27, 0);
    assert_int_equal(world.wanted, 4);
    assert_int_equal(world.asked, 2);
    assert_int_equal(world.end, 0x4008);
    ocsd_destroy_dcd_tree(tree);
}

/** Nothing is decoded behind an element that was answered with WAIT. */
static ocsd_datapath_resp_t wait_for_context(const void *context, const ocsd_trc_index_t index,
                                             const uint8_t id,
                                             const ocsd_generic_trace_elem *element)
{
    on_element(context, index, id, element);
    return element->elem_type == OCSD_GEN_TRC_ELEM_PE_CONTEXT ? OCSD_RESP_WAIT : OCSD_RESP_CONT;
}

static void wait_comes_before_memory(void **state)
{
    (void)state;
    struct world world;
    dcd_tree_handle_t tree = tree_of(&world);
    ocsd_dt_set_gen_elem_outfn(tree, wait_for_context, &world);
    uint32_t used = 0;
    assert_int_equal(
        ocsd_dt_process_data(tree, OCSD_OP_DATA, 0, sizeof(session_trace), session_trace, &used),
        OCSD_RESP_WAIT);
    assert_int_equal(used, 27);
    assert_int_equal(world.contexts, 1);
    assert_int_equal(world.asked, 0);
    assert_int_equal(ocsd_dt_process_data(tree, OCSD_OP_FLUSH, 0, 0, NULL, NULL), 0);
    assert_int_equal(world.asked, 1);
    assert_int_equal(world.ranges, 1);
    ocsd_destroy_dcd_tree(tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_changes_with_the_context),
        cmocka_unit_test(without_context_nothing_is_asked_again),
        cmocka_unit_test(page_sizes),
        cmocka_unit_test(wait_comes_before_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
