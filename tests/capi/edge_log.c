// SPDX-License-Identifier: MIT
/** @file The log, the last error, and printers. */
#include "edge.h"

#include <unistd.h>

static void log_order(void)
{
    dcd_tree_handle_t tree;
    CODE(ocsd_def_errlog_config_output(0, NULL));
    CODE(ocsd_def_errlog_set_strprint_cb(NULL, NULL, on_string));
    ocsd_def_errlog_msgout("to nobody\n");
    tree = single();
    CODE(ocsd_def_errlog_config_output(0, NULL));
    CODE(ocsd_def_errlog_set_strprint_cb(tree, NULL, on_string));
    CODE(ocsd_def_errlog_init(OCSD_ERR_SEV_ERROR, 0));
    CODE(ocsd_def_errlog_config_output(0, NULL));
    CODE(ocsd_def_errlog_init(OCSD_ERR_SEV_ERROR, 1));
    CODE(ocsd_def_errlog_set_strprint_cb((dcd_tree_handle_t)(uintptr_t)0x1234, NULL, on_string));
    CODE(ocsd_def_errlog_config_output(C_API_MSGLOGOUT_FLG_STDOUT, NULL));
    ocsd_def_errlog_msgout("to stdout\n");
    CODE(ocsd_def_errlog_set_strprint_cb(tree, NULL, on_string));
    ocsd_def_errlog_msgout("to stdout and callback\n");
    CODE(ocsd_def_errlog_config_output(0, NULL));
    ocsd_def_errlog_msgout("to nobody\n");
    CODE(ocsd_def_errlog_set_strprint_cb(tree, NULL, on_string));
    ocsd_def_errlog_msgout("to callback");
    CODE(ocsd_def_errlog_set_strprint_cb(tree, NULL, NULL));
    ocsd_def_errlog_msgout("to nobody\n");
    CODE(ocsd_def_errlog_config_output(0xfff8, "edge.ppl"));
    unlink("edge.ppl");
    ocsd_def_errlog_msgout("to file\n");
    say("file there: %d", access("edge.ppl", R_OK) == 0);
    CODE(ocsd_def_errlog_config_output(C_API_MSGLOGOUT_FLG_FILE, ""));
    unlink("edge.ppl");
    ocsd_def_errlog_msgout("to nobody\n");
    say("file there: %d", access("edge.ppl", R_OK) == 0);
    CODE(ocsd_def_errlog_init(OCSD_ERR_SEV_INFO, 1));
    CODE(ocsd_def_errlog_config_output(C_API_MSGLOGOUT_FLG_FILE, NULL));
    unlink("ocsd_trace_decode.log");
    ocsd_def_errlog_msgout("to the default file\n");
    say("file there: %d", access("ocsd_trace_decode.log", R_OK) == 0);
    unlink("ocsd_trace_decode.log");
}

void say_last_error(void)
{
    ocsd_trc_index_t index = 5;
    uint8_t id = 5;
    char text[256] = "untouched";
    int error = ocsd_get_last_err(&index, &id, text, sizeof(text));
    say("last error %d index %u id %02x", error, (unsigned)index, id);
    say_text("  message", text);
}

static void last_error(void)
{
    static const ocsd_err_severity_t levels[] = {OCSD_ERR_SEV_NONE, OCSD_ERR_SEV_ERROR,
                                                 OCSD_ERR_SEV_INFO};
    say_last_error();
    for (size_t i = 0; i < 3; i++) {
        CODE(ocsd_def_errlog_init(levels[i], 1));
        dcd_tree_handle_t tree = single();
        CODE(ocsd_def_errlog_config_output(0, NULL));
        CODE(ocsd_def_errlog_set_strprint_cb(tree, NULL, on_string));
        create(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_PACKET_PROC, &etmv4);
        data(tree, 0, session, sizeof(session));
        op(tree, OCSD_OP_EOT);
        say_last_error();
        tree = full_single();
        data(tree, 0, session, sizeof(session));
        say_last_error();
        ocsd_destroy_dcd_tree(tree);
        tree = formatted();
        create(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_PACKET_PROC, &etmv4);
        uint8_t frames[128];
        uint32_t size = frame(0x10, session, sizeof(session), frames);
        data(tree, 0, frames, size);
        data(tree, 0, frames, size);
        say_last_error();
        ocsd_destroy_dcd_tree(tree);
    }
}

static void last_error_nowhere(void)
{
    CODE(ocsd_get_last_err(NULL, NULL, NULL, 0));
}

static void callback_of_destroyed_tree(void)
{
    dcd_tree_handle_t tree = single();
    CODE(ocsd_def_errlog_init(OCSD_ERR_SEV_INFO, 1));
    CODE(ocsd_def_errlog_config_output(0, NULL));
    CODE(ocsd_def_errlog_set_strprint_cb(tree, NULL, on_string));
    ocsd_destroy_dcd_tree(tree);
    tree = single();
    create(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_PACKET_PROC, &etmv4);
    data(tree, 0, session, sizeof(session));
    ocsd_def_errlog_msgout("to nobody\n");
    op(tree, OCSD_OP_EOT);
}

static void latched_verbosity(void)
{
    dcd_tree_handle_t tree = single();
    CODE(ocsd_def_errlog_init(OCSD_ERR_SEV_NONE, 1));
    create(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_PACKET_PROC, &etmv4);
    CODE(ocsd_def_errlog_init(OCSD_ERR_SEV_INFO, 1));
    CODE(ocsd_def_errlog_config_output(0, NULL));
    CODE(ocsd_def_errlog_set_strprint_cb(tree, NULL, on_string));
    data(tree, 0, session, sizeof(session));
    op(tree, OCSD_OP_EOT);
    say_last_error();
}

static void printers(void)
{
    CODE(ocsd_dt_set_raw_frame_printer(NULL, 0x18));
    CODE(ocsd_dt_set_gen_elem_printer(NULL));
    CODE(ocsd_dt_set_pkt_protocol_printer(NULL, 0x10, 0));
    dcd_tree_handle_t tree = formatted();
    CODE(ocsd_def_errlog_init(OCSD_ERR_SEV_INFO, 1));
    CODE(ocsd_def_errlog_config_output(0, NULL));
    CODE(ocsd_def_errlog_set_strprint_cb(tree, NULL, on_string));
    CODE(ocsd_dt_set_pkt_protocol_printer(tree, 0x10, 0));
    create(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_FULL_DECODER, &etmv4);
    ocsd_etmv4_cfg other = etmv4;
    other.reg_traceidr = 0x12;
    create(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_PACKET_PROC, &other);
    CODE(ocsd_dt_add_buffer_mem_acc(tree, 0x4000, OCSD_MEM_SPACE_ANY, PROGRAM, sizeof(program)));
    CODE(ocsd_dt_set_pkt_protocol_printer(tree, 0x10, 0));
    CODE(ocsd_dt_set_pkt_protocol_printer(tree, 0x10, 1));
    CODE(ocsd_dt_set_pkt_protocol_printer(tree, 0x12, 0));
    CODE(ocsd_dt_set_pkt_protocol_printer(tree, 0x12, 0));
    CODE(ocsd_dt_set_gen_elem_printer(tree));
    CODE(ocsd_dt_set_raw_frame_printer(tree, OCSD_DFRMTR_PACKED_RAW_OUT));
    CODE(ocsd_dt_set_raw_frame_printer(tree, OCSD_DFRMTR_UNPACKED_RAW_OUT));
    uint8_t frames[256];
    uint32_t size = frame(0x10, session, sizeof(session), frames);
    size += frame(0x12, session, sizeof(session), frames + size);
    size += frame(0x10, flow, sizeof(flow), frames + size);
    data(tree, 0, frames, size);
    op(tree, OCSD_OP_FLUSH);
    op(tree, OCSD_OP_EOT);
    op(tree, OCSD_OP_RESET);
}

static void printer_outputs(void)
{
    static char one[] = "one", two[] = "two";
    dcd_tree_handle_t first = single(), second = single();
    create(first, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_PACKET_PROC, &etmv4);
    create(second, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_PACKET_PROC, &etmv4);
    CODE(ocsd_dt_set_pkt_protocol_printer(first, 0x21, 1));
    CODE(ocsd_def_errlog_init(OCSD_ERR_SEV_INFO, 1));
    CODE(ocsd_def_errlog_config_output(0, NULL));
    CODE(ocsd_def_errlog_set_strprint_cb(first, one, on_string));
    CODE(ocsd_dt_set_pkt_protocol_printer(first, 0x22, 0));
    CODE(ocsd_def_errlog_init(OCSD_ERR_SEV_INFO, 1));
    CODE(ocsd_def_errlog_config_output(0, NULL));
    data(first, 0, session, 29);
    CODE(ocsd_dt_set_pkt_protocol_printer(second, 0x33, 0));
    CODE(ocsd_def_errlog_set_strprint_cb(second, two, on_string));
    data(second, 0, session, 29);
    ocsd_destroy_dcd_tree(first);
    data(second, 29, session + 29, sizeof(session) - 29);
    ocsd_destroy_dcd_tree(second);
}

static void raw_printer_single(void)
{
    CODE(ocsd_dt_set_raw_frame_printer(single(), 0x18));
}

static void element_printer_then_function(void)
{
    dcd_tree_handle_t tree = full_single();
    CODE(ocsd_def_errlog_init(OCSD_ERR_SEV_INFO, 1));
    CODE(ocsd_def_errlog_config_output(0, NULL));
    CODE(ocsd_def_errlog_set_strprint_cb(tree, NULL, on_string));
    CODE(ocsd_dt_set_gen_elem_printer(tree));
    data(tree, 0, flow, 27);
    CODE(ocsd_dt_set_gen_elem_outfn(tree, on_element, NULL));
    data(tree, 27, flow + 27, sizeof(flow) - 27);
    ocsd_destroy_dcd_tree(tree);
}

const struct edge_case edge_log[] = {
    CASE(log_order),
    CASE(last_error),
    UNDEFINED(last_error_nowhere),
    UNDEFINED(callback_of_destroyed_tree),
    CASE(latched_verbosity),
    CASE(printers),
    CASE(printer_outputs),
    UNDEFINED(raw_printer_single),
    CASE(element_printer_then_function),
    {.name = NULL},
};
