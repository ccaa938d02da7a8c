// SPDX-License-Identifier: MIT
/** @file Trees on several threads, and the one log that they share. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <pthread.h>

#include "capi/session.h"

#define ROUNDS 200

struct worker {
    pthread_t thread;
    unsigned ranges, texts;
    bool good;
};

static ocsd_datapath_resp_t on_element(const void *context, const ocsd_trc_index_t index,
                                       const uint8_t id, const ocsd_generic_trace_elem *element)
{
    struct worker *worker = (struct worker *)(uintptr_t)context;
    (void)index;
    (void)id;
    worker->ranges += element->elem_type == OCSD_GEN_TRC_ELEM_INSTR_RANGE;
    return OCSD_RESP_CONT;
}

static void on_text(const void *context, const char *text, const int length)
{
    struct worker *worker = (struct worker *)(uintptr_t)context;
    worker->texts += (size_t)length == strlen(text);
}

/** Decode, break off with a bad packet, and look at the log, again and again. */
static void *work(void *context)
{
    struct worker *worker = context;
    static const uint8_t bad = 0x70;
    worker->good = true;
    for (unsigned i = 0; i < ROUNDS; i++) {
        uint32_t used = 0;
        char text[256];
        dcd_tree_handle_t tree = session_tree(OCSD_TRC_SRC_SINGLE);
        ocsd_def_errlog_set_strprint_cb(tree, worker, on_text);
        ocsd_dt_add_buffer_mem_acc(tree, 0x4000, OCSD_MEM_SPACE_ANY,
                                   (const uint8_t *)session_program, sizeof(session_program));
        ocsd_dt_set_gen_elem_outfn(tree, on_element, worker);
        ocsd_dt_process_data(tree, OCSD_OP_DATA, 0, sizeof(session_trace), session_trace, &used);
        worker->good &= used == sizeof(session_trace);
        ocsd_dt_process_data(tree, OCSD_OP_DATA, used, 1, &bad, &used);
        worker->good &= ocsd_get_last_err(NULL, NULL, text, sizeof(text)) != OCSD_OK;
        ocsd_destroy_dcd_tree(tree);
    }
    return NULL;
}

static void trees_do_not_meet(void **state)
{
    (void)state;
    struct worker workers[3] = {0};
    assert_int_equal(ocsd_def_errlog_init(OCSD_ERR_SEV_INFO, 1), 0);
    assert_int_equal(ocsd_def_errlog_config_output(0, NULL), 0);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    unsigned texts = 0;
    for (unsigned i = 0; i < 3; i++) {
        pthread_join(workers[i].thread, NULL);
        assert_true(workers[i].good);
        assert_int_equal(workers[i].ranges, 3 * ROUNDS);
        texts += workers[i].texts;
    }
    assert_true(texts > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees_do_not_meet),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
