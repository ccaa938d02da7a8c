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

#include "capi/etmv3_session.h"
#include "capi/session.h"
#include "recorder/ptm.h"

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

/**
 * A context comes before the memory that it applies to, and makes the decoder ask the client again.
 */
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

/** Nothing is decoded after an element that was answered with WAIT. */
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

/* ---- memory that the client changes while it takes elements ---- */

#define CHANGED_AT   24u /* when all that runs was met before */
#define LEAST_BEHIND 8u

/* Four branches in a circle; and each to itself. */
static const uint32_t circle[2][4] = {
    {LE32(0xeaffffff), LE32(0xeaffffff), LE32(0xeaffffff), LE32(0xeafffffb)},
    {LE32(0x14000001), LE32(0x14000001), LE32(0x14000001), LE32(0x17fffffd)}};
static const uint32_t halted[2][4] = {
    {LE32(0xeafffffe), LE32(0xeafffffe), LE32(0xeafffffe), LE32(0xeafffffe)},
    {LE32(0x14000000), LE32(0x14000000), LE32(0x14000000), LE32(0x14000000)}};

struct changing {
    dcd_tree_handle_t tree;
    bool a64;
    unsigned ranges, behind;
    uint64_t stands; /* there, as soon as it is halted */
};

static void add_program(const struct changing *it, const uint32_t program[4])
{
    assert_int_equal(ocsd_dt_add_buffer_mem_acc(it->tree, 0x4000, OCSD_MEM_SPACE_ANY,
                                                (const uint8_t *)program, 16),
                     OCSD_OK);
}

/* What was decoded before the change may still come: a packet's elements, of which one is held. */
static ocsd_datapath_resp_t change_program(const void *context, const ocsd_trc_index_t index,
                                           const uint8_t id, const ocsd_generic_trace_elem *element)
{
    struct changing *it = (struct changing *)(uintptr_t)context;
    (void)index;
    (void)id;
    if (element->elem_type != OCSD_GEN_TRC_ELEM_INSTR_RANGE)
        return OCSD_RESP_CONT;
    if (++it->ranges == CHANGED_AT) {
        assert_int_equal(ocsd_dt_remove_mem_acc(it->tree, 0x4000, OCSD_MEM_SPACE_ANY), OCSD_OK);
        add_program(it, halted[it->a64]);
    }
    if (it->ranges <= CHANGED_AT + 2)
        it->stands = element->st_addr;
    it->behind += it->ranges > CHANGED_AT + 2;
    assert_int_equal(element->st_addr, it->ranges > CHANGED_AT + 2 ? it->stands : element->st_addr);
    return OCSD_RESP_CONT;
}

static void run_changing(const char *decoder, const void *config, bool a64,
                         const struct rec_bytes *trace)
{
    struct changing it = {.tree = ocsd_create_dcd_tree(OCSD_TRC_SRC_SINGLE, 0), .a64 = a64};
    unsigned char id;
    ocsd_dt_create_decoder(it.tree, decoder, OCSD_CREATE_FLG_FULL_DECODER, config, &id);
    ocsd_dt_set_gen_elem_outfn(it.tree, change_program, &it);
    add_program(&it, circle[a64]);
    feed(it.tree, trace->data, trace->size, 0);
    assert_true(it.behind >= LEAST_BEHIND);
    ocsd_destroy_dcd_tree(it.tree);
}

/** Nothing that was met before outlives its memory, not even within one block of trace. */
static void memory_changes_between_packets(void **state)
{
    const unsigned atoms = 2 * CHANGED_AT;
    struct rec_bytes trace = {0};
    struct rec_etmv3 etmv3;
    struct rec_ptm ptm;
    (void)state;
    const ocsd_etmv3_cfg etmv3_config = etmv3_session_config(0);
    etmv3_session_begin(&etmv3, 0, &trace);
    for (unsigned i = 0; i < atoms; i++) {
        rec_etmv3_atom(&etmv3, true, 0);
        rec_etmv3_flush(&etmv3);
    }
    run_changing(OCSD_BUILTIN_DCD_ETMV3, &etmv3_config, false, &trace);

    trace.size = 0;
    rec_ptm_begin(&ptm, &(struct rec_ptm_config){0, 0x411cf312, 0x34c01ac2}, &trace);
    rec_ptm_a_sync(&ptm);
    rec_ptm_isync(&ptm, &(struct rec_ptm_isync){.address = 0x4000, .reason = 1});
    for (unsigned i = 0; i < atoms; i++) {
        rec_ptm_atom(&ptm, true, 0);
        rec_ptm_flush(&ptm);
    }
    run_changing(OCSD_BUILTIN_DCD_PTM,
                 &(ocsd_ptm_cfg){.reg_idr = 0x411cf312,
                                 .reg_ccer = 0x34c01ac2,
                                 .reg_trc_id = 0x10,
                                 .arch_ver = ARCH_V7,
                                 .core_prof = profile_CortexA},
                 false, &trace);

    trace.size = 0;
    rec_put_n(&trace, session_trace, 26); /* up to the address */
    for (unsigned i = 0; i < atoms; i++)
        rec_put(&trace, 0xf7);
    run_changing(OCSD_BUILTIN_DCD_ETMV4I, &session_config, true, &trace);
    rec_bytes_free(&trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_changes_with_the_context),
        cmocka_unit_test(without_context_nothing_is_asked_again),
        cmocka_unit_test(page_sizes),
        cmocka_unit_test(wait_comes_before_memory),
        cmocka_unit_test(memory_changes_between_packets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
