// SPDX-License-Identifier: MIT
/** @file Trees and decoders: making, removing, feeding, flow control, statistics. */
#include "edge.h"

static void version(void)
{
    say("version %s", ocsd_get_version() >= 0x10303 ? "1.3.3 or newer" : "older");
    char text[32];
    uint32_t n = ocsd_get_version();
    snprintf(text, sizeof(text), "%u.%u.%u", n >> 16, n >> 8 & 0xff, n & 0xff);
    say("number and string agree: %d", strcmp(text, ocsd_get_version_str()) == 0);
}

static void create_tree(void)
{
    for (unsigned flags = 0; flags <= 0x48; flags++)
        say("formatted %02x: %d", flags,
            ocsd_create_dcd_tree(OCSD_TRC_SRC_FRAME_FORMATTED, flags) != NULL);
    say("single: %d", ocsd_create_dcd_tree(OCSD_TRC_SRC_SINGLE, 0) != NULL);
    say("single, mad flags: %d", ocsd_create_dcd_tree(OCSD_TRC_SRC_SINGLE, 0xffff) != NULL);
    ocsd_destroy_dcd_tree(C_API_INVALID_TREE_HANDLE);
    say("destroyed nothing");
    dcd_tree_handle_t a = formatted(), b = single();
    ocsd_destroy_dcd_tree(a);
    ocsd_destroy_dcd_tree(b);
    say("destroyed two");
}

static void wrong_data(void)
{
    uint32_t used = 77;
    uint8_t bytes[64] = {0};
    CODE(ocsd_dt_process_data(NULL, OCSD_OP_DATA, 0, 16, bytes, &used));
    say("processed %u", (unsigned)used);
    dcd_tree_handle_t tree = single();
    data(tree, 0, bytes, 16);
    ocsd_destroy_dcd_tree(tree);
    tree = formatted();
    CODE(ocsd_dt_process_data(tree, OCSD_OP_DATA, 0, 0, bytes, &used));
    CODE(ocsd_dt_process_data(tree, OCSD_OP_DATA, 0, 16, NULL, &used));
    CODE(ocsd_dt_process_data(tree, OCSD_OP_DATA, 0, 16, bytes, NULL));
    CODE(ocsd_dt_process_data(tree, (ocsd_datapath_op_t)4, 0, 16, bytes, &used));
    CODE(ocsd_dt_process_data(tree, (ocsd_datapath_op_t)-1, 0, 16, bytes, &used));
    say("processed %u", (unsigned)used);
    data(tree, 0, bytes, 15);
    data(tree, 0, bytes, 16);
    data(tree, 16, bytes, 48);
    data(tree, 64, bytes, 17);
    data(tree, 64, bytes, 16);
    op(tree, OCSD_OP_FLUSH);
    op(tree, OCSD_OP_EOT);
    op(tree, OCSD_OP_RESET);
    data(tree, 0xfffffff0u, bytes, 16);
    data(tree, 0, bytes, 16);
    ocsd_destroy_dcd_tree(tree);
    tree = ocsd_create_dcd_tree(OCSD_TRC_SRC_FRAME_FORMATTED, OCSD_DFRMTR_HAS_FSYNCS);
    data(tree, 0, bytes, 15);
    ocsd_destroy_dcd_tree(tree);
    tree = ocsd_create_dcd_tree(OCSD_TRC_SRC_FRAME_FORMATTED,
                                OCSD_DFRMTR_HAS_HSYNCS | OCSD_DFRMTR_HAS_FSYNCS);
    data(tree, 0, bytes, 15);
    ocsd_destroy_dcd_tree(tree);
    tree = full_single();
    data(tree, 0, bytes, 0);
    CODE(ocsd_dt_process_data(tree, OCSD_OP_DATA, 0, 16, NULL, &used));
    CODE(ocsd_dt_process_data(tree, OCSD_OP_DATA, 0, 16, bytes, NULL));
    CODE(ocsd_dt_process_data(tree, (ocsd_datapath_op_t)7, 0, 16, bytes, &used));
    ocsd_destroy_dcd_tree(tree);
}

static void single_without_decoder(void)
{
    dcd_tree_handle_t tree = single();
    op(tree, OCSD_OP_RESET);
}

static void gap_in_index(void)
{
    uint8_t bytes[64] = {0};
    dcd_tree_handle_t tree = formatted();
    data(tree, 32, bytes, 32);
    data(tree, 32, bytes, 32);
}

static void without_consumer(void)
{
    dcd_tree_handle_t tree = single();
    create(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_FULL_DECODER, &etmv4);
    op(tree, OCSD_OP_RESET);
    say("no element function, no memory");
    uint32_t used = 0;
    CODE(ocsd_dt_process_data(tree, OCSD_OP_DATA, 0, sizeof(flow), flow, &used));
    CODE(ocsd_dt_set_gen_elem_outfn(tree, on_element, NULL));
    say("no memory");
    CODE(ocsd_dt_process_data(tree, OCSD_OP_DATA, 0, sizeof(flow), flow, &used));
    CODE(ocsd_dt_add_binfile_mem_acc(tree, 0, OCSD_MEM_SPACE_ANY, "no such file"));
    op(tree, OCSD_OP_RESET);
    say("a memory in which nothing is");
    data(tree, 0, flow, sizeof(flow));
    ocsd_destroy_dcd_tree(tree);
}

static void null_consumer(void)
{
    uint32_t used;
    dcd_tree_handle_t tree = full_single();
    CODE(ocsd_dt_set_gen_elem_outfn(tree, NULL, NULL));
    CODE(ocsd_dt_process_data(tree, OCSD_OP_DATA, 0, sizeof(flow), flow, &used));
}

static void create_decoder(void)
{
    dcd_tree_handle_t tree = formatted();
    create(tree, "NOSUCH", OCSD_CREATE_FLG_FULL_DECODER, &etmv4);
    create(tree, "etmv4i", OCSD_CREATE_FLG_FULL_DECODER, &etmv4);
    create(tree, OCSD_BUILTIN_DCD_ETMV4D, OCSD_CREATE_FLG_FULL_DECODER, &etmv4);
    create(tree, "", OCSD_CREATE_FLG_FULL_DECODER, &etmv4);
    create(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_FULL_DECODER, &etmv4);
    create(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_FULL_DECODER, &etmv4);
    create(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_PACKET_PROC, &etmv4);
    create(tree, OCSD_BUILTIN_DCD_ETMV3, OCSD_CREATE_FLG_FULL_DECODER, &etmv3);
    create(tree, OCSD_BUILTIN_DCD_PTM, OCSD_CREATE_FLG_PACKET_PROC | OCSD_CREATE_FLG_FULL_DECODER,
           &ptm);
    create(tree, OCSD_BUILTIN_DCD_STM, OCSD_CREATE_FLG_PACKET_PROC, &stm);
    create(tree, OCSD_BUILTIN_DCD_ETE, OCSD_CREATE_FLG_FULL_DECODER | 0x40000000, &ete);
    ocsd_etmv4_cfg odd = etmv4;
    static const uint32_t ids[] = {0, 0x70, 0x7f, 0x80 | 0x20, 0xfff};
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        odd.reg_traceidr = ids[i];
        create(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_PACKET_PROC, &odd);
    }
    ocsd_destroy_dcd_tree(tree);
    tree = single();
    create(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_FULL_DECODER, &etmv4);
    create(tree, OCSD_BUILTIN_DCD_ETMV3, OCSD_CREATE_FLG_FULL_DECODER, &etmv3);
    ocsd_destroy_dcd_tree(tree);
}

static void create_without_mode(void)
{
    dcd_tree_handle_t tree = formatted();
    create(tree, OCSD_BUILTIN_DCD_ETMV4I, 0, &etmv4);
    create(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_INST_ID, &etmv4);
    create(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_FULL_DECODER, &etmv4);
}

static void create_null_handle(void)
{
    create(NULL, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_FULL_DECODER, &etmv4);
}

static void create_null_name(void)
{
    unsigned char id;
    CODE(ocsd_dt_create_decoder(formatted(), NULL, OCSD_CREATE_FLG_FULL_DECODER, &etmv4, &id));
}

static void create_null_config(void)
{
    create(formatted(), OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_FULL_DECODER, NULL);
}

static void create_null_id(void)
{
    CODE(ocsd_dt_create_decoder(formatted(), OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_FULL_DECODER,
                                &etmv4, NULL));
}

static void unsupported_config(void)
{
    dcd_tree_handle_t tree = single();
    ocsd_etmv4_cfg odd = etmv4;
    odd.reg_configr = 0x1c3; /* conditional trace */
    odd.reg_idr0 |= 0x40;
    CODE(ocsd_def_errlog_init(OCSD_ERR_SEV_INFO, 1));
    CODE(ocsd_def_errlog_config_output(0, NULL));
    CODE(ocsd_def_errlog_set_strprint_cb(tree, NULL, on_string));
    create(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_FULL_DECODER, &odd);
    CODE(ocsd_dt_set_gen_elem_outfn(tree, on_element, NULL));
    CODE(ocsd_dt_add_buffer_mem_acc(tree, 0x4000, OCSD_MEM_SPACE_ANY, PROGRAM, sizeof(program)));
    uint32_t used;
    CODE(ocsd_dt_process_data(tree, OCSD_OP_DATA, 0, sizeof(flow), flow, &used));
}

static void remove_decoder(void)
{
    dcd_tree_handle_t tree = formatted();
    create(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_FULL_DECODER, &etmv4);
    CODE(ocsd_dt_remove_decoder(tree, 0));
    CODE(ocsd_dt_remove_decoder(tree, 0x70));
    CODE(ocsd_dt_remove_decoder(tree, 0xff));
    CODE(ocsd_dt_remove_decoder(tree, 0x6f));
    CODE(ocsd_dt_remove_decoder(tree, 0x10));
    CODE(ocsd_dt_remove_decoder(tree, 0x10));
    create(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_FULL_DECODER, &etmv4);
    ocsd_destroy_dcd_tree(tree);
    tree = single();
    CODE(ocsd_dt_remove_decoder(tree, 0x33));
    create(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_FULL_DECODER, &etmv4);
    CODE(ocsd_dt_remove_decoder(tree, 0x33));
    create(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_FULL_DECODER, &etmv4);
    ocsd_destroy_dcd_tree(tree);
}

static void remove_then_data(void)
{
    uint8_t frames[128];
    uint32_t size = frame(0x10, flow, sizeof(flow), frames);
    dcd_tree_handle_t tree = formatted();
    create(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_PACKET_PROC, &etmv4);
    CODE(ocsd_dt_remove_decoder(tree, 0x10));
    data(tree, 0, frames, size);
    tree = single();
    create(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_PACKET_PROC, &etmv4);
    CODE(ocsd_dt_remove_decoder(tree, 0x10));
    data(tree, 0, flow, sizeof(flow));
}

static void null_handle_remove(void)
{
    CODE(ocsd_dt_remove_decoder(NULL, 0x10));
}

static void null_handle_attach(void)
{
    CODE(ocsd_dt_attach_packet_callback(NULL, 0x10, OCSD_C_API_CB_PKT_MON, (void *)on_monitor,
                                        NULL));
}

static void null_handle_stats(void)
{
    ocsd_decode_stats_t *stats;
    CODE(ocsd_dt_get_decode_stats(NULL, 0x10, &stats));
}

static void null_handle_reset_stats(void)
{
    CODE(ocsd_dt_reset_decode_stats(NULL, 0x10));
}

static void null_handle_outfn(void)
{
    CODE(ocsd_dt_set_gen_elem_outfn(NULL, on_element, NULL));
}

static void packet_callbacks(void)
{
    dcd_tree_handle_t tree = formatted();
    CODE(ocsd_dt_attach_packet_callback(tree, 0x10, OCSD_C_API_CB_PKT_MON, (void *)on_monitor,
                                        NULL));
    create(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_FULL_DECODER, &etmv4);
    ocsd_etmv4_cfg other = etmv4;
    other.reg_traceidr = 0x12;
    create(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_PACKET_PROC, &other);
    CODE(ocsd_dt_attach_packet_callback(tree, 0x10, OCSD_C_API_CB_PKT_SINK, (void *)on_sink, NULL));
    CODE(ocsd_dt_attach_packet_callback(tree, 0x10, OCSD_C_API_CB_PKT_MON, (void *)on_monitor,
                                        NULL));
    CODE(ocsd_dt_attach_packet_callback(tree, 0x10, (ocsd_c_api_cb_types)2, (void *)on_sink, NULL));
    CODE(ocsd_dt_attach_packet_callback(tree, 0x12, OCSD_C_API_CB_PKT_SINK, (void *)on_sink,
                                        " first"));
    CODE(ocsd_dt_attach_packet_callback(tree, 0x12, OCSD_C_API_CB_PKT_SINK, (void *)on_sink,
                                        " second"));
    CODE(ocsd_dt_attach_packet_callback(tree, 0x12, OCSD_C_API_CB_PKT_MON, (void *)on_monitor,
                                        NULL));
    uint8_t frames[256];
    uint32_t size = frame(0x12, session, sizeof(session), frames);
    data(tree, 0, frames, size);
    op(tree, OCSD_OP_FLUSH);
    op(tree, OCSD_OP_EOT);
    op(tree, OCSD_OP_RESET);
    ocsd_destroy_dcd_tree(tree);
    tree = single();
    create(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_PACKET_PROC, &etmv4);
    CODE(ocsd_dt_attach_packet_callback(tree, 0x55, OCSD_C_API_CB_PKT_SINK, (void *)on_sink, NULL));
    data(tree, 1000, session, sizeof(session));
    op(tree, OCSD_OP_EOT);
    ocsd_destroy_dcd_tree(tree);
}

static void packet_flags(void)
{
    static const int flags[] = {0, OCSD_OPFLG_PKTPROC_NOFWD_BAD_PKTS,
                                OCSD_OPFLG_PKTPROC_NOMON_BAD_PKTS, OCSD_OPFLG_PKTPROC_COMMON};
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        dcd_tree_handle_t tree = single();
        create(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_PACKET_PROC | flags[i], &etmv4);
        CODE(ocsd_dt_attach_packet_callback(tree, 0x10, OCSD_C_API_CB_PKT_SINK, (void *)on_sink,
                                            NULL));
        CODE(ocsd_dt_attach_packet_callback(tree, 0x10, OCSD_C_API_CB_PKT_MON, (void *)on_monitor,
                                            NULL));
        data(tree, 0, session, sizeof(session));
        op(tree, OCSD_OP_EOT);
        ocsd_destroy_dcd_tree(tree);
    }
}

static void decode_flags(void)
{
    static const int flags[] = {0, OCSD_OPFLG_PKTDEC_ERROR_BAD_PKTS,
                                OCSD_OPFLG_PKTDEC_HALT_BAD_PKTS};
    uint8_t twice[2 * sizeof(session)];
    memcpy(twice, session, sizeof(session));
    memcpy(twice + sizeof(session), session, sizeof(session));
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        dcd_tree_handle_t tree = single();
        create(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_FULL_DECODER | flags[i], &etmv4);
        CODE(
            ocsd_dt_add_buffer_mem_acc(tree, 0x4000, OCSD_MEM_SPACE_ANY, PROGRAM, sizeof(program)));
        CODE(ocsd_dt_set_gen_elem_outfn(tree, on_element, NULL));
        uint32_t used = data(tree, 0, twice, sizeof(twice));
        data(tree, used, twice, sizeof(session));
        op(tree, OCSD_OP_EOT);
        ocsd_destroy_dcd_tree(tree);
    }
}

static void statistics(void)
{
    dcd_tree_handle_t tree = formatted();
    ocsd_decode_stats_t *stats = NULL;
    CODE(ocsd_dt_get_decode_stats(tree, 0x10, &stats));
    CODE(ocsd_dt_reset_decode_stats(tree, 0x10));
    create(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_PACKET_PROC, &etmv4);
    create(tree, OCSD_BUILTIN_DCD_ETMV3, OCSD_CREATE_FLG_PACKET_PROC, &etmv3);
    create(tree, OCSD_BUILTIN_DCD_PTM, OCSD_CREATE_FLG_PACKET_PROC, &ptm);
    create(tree, OCSD_BUILTIN_DCD_STM, OCSD_CREATE_FLG_PACKET_PROC, &stm);
    uint8_t frames[512], junk[40];
    memset(junk, 0x55, sizeof(junk));
    uint32_t size = frame(0x10, junk, sizeof(junk), frames);
    size += frame(0x10, session, sizeof(session), frames + size);
    size += frame(0x44, junk, sizeof(junk), frames + size);
    data(tree, 0, frames, size);
    static const uint8_t ids[] = {0x10, 0x11, 0x13, 0x20, 0x44};
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < sizeof(ids); i++) {
            stats = NULL;
            int error = ocsd_dt_get_decode_stats(tree, ids[i], &stats);
            say("stats %02x = %d, set %d", ids[i], error, stats != NULL);
            if (error == 0 && stats)
                say("  revision %d total %llu unsynced %llu headers %u sequences %u",
                    stats->revision, (unsigned long long)stats->channel_total,
                    (unsigned long long)stats->channel_unsynced, stats->bad_header_errs,
                    stats->bad_sequence_errs);
            if (error == 0 && stats)
                say("  demux %llu %llu %llu %llu %llu",
                    (unsigned long long)stats->demux.valid_id_bytes,
                    (unsigned long long)stats->demux.no_id_bytes,
                    (unsigned long long)stats->demux.reserved_id_bytes,
                    (unsigned long long)stats->demux.unknown_id_bytes,
                    (unsigned long long)stats->demux.frame_bytes);
            say("reset stats %02x = %d", ids[i], (int)ocsd_dt_reset_decode_stats(tree, ids[i]));
        }
    ocsd_destroy_dcd_tree(tree);
}

static void waiting(void)
{
    uint8_t twice[2 * sizeof(session)];
    memcpy(twice, session, sizeof(session));
    memcpy(twice + sizeof(session), session, sizeof(session));
    for (int how_many = 0; how_many < 6; how_many++) {
        dcd_tree_handle_t tree = full_single();
        waits = how_many;
        uint32_t at = 0;
        for (int calls = 0; at < sizeof(twice) && calls < 20; calls++) {
            at += data(tree, at, twice + at, (uint32_t)sizeof(twice) - at);
            while (OCSD_DATA_RESP_IS_WAIT(op(tree, OCSD_OP_FLUSH)))
                ;
        }
        op(tree, OCSD_OP_EOT);
        ocsd_destroy_dcd_tree(tree);
    }
}

static void waiting_formatted(void)
{
    uint8_t frames[256];
    uint32_t size = frame(0x10, flow, sizeof(flow), frames);
    size += frame(0x10, session, sizeof(session), frames + size);
    for (int how_many = 0; how_many < 12; how_many += 3) {
        dcd_tree_handle_t tree = formatted();
        create(tree, OCSD_BUILTIN_DCD_ETMV4I, OCSD_CREATE_FLG_FULL_DECODER, &etmv4);
        CODE(
            ocsd_dt_add_buffer_mem_acc(tree, 0x4000, OCSD_MEM_SPACE_ANY, PROGRAM, sizeof(program)));
        CODE(ocsd_dt_set_gen_elem_outfn(tree, on_element, NULL));
        waits = how_many;
        uint32_t at = 0;
        for (int calls = 0; at < size && calls < 30; calls++) {
            at += data(tree, at, frames + at, size - at);
            while (OCSD_DATA_RESP_IS_WAIT(op(tree, OCSD_OP_FLUSH)))
                ;
        }
        op(tree, OCSD_OP_EOT);
        ocsd_destroy_dcd_tree(tree);
    }
}

static void wait_then_reset(void)
{
    dcd_tree_handle_t tree = full_single();
    waits = 1;
    data(tree, 0, session, sizeof(session));
    op(tree, OCSD_OP_RESET);
    data(tree, 0, session, sizeof(session));
    op(tree, OCSD_OP_EOT);
}

static void wait_on_end(void)
{
    dcd_tree_handle_t tree = full_single();
    data(tree, 0, session, 29);
    waits = 1;
    op(tree, OCSD_OP_EOT);
    op(tree, OCSD_OP_FLUSH);
}

static void fatal_answer(void)
{
    dcd_tree_handle_t tree = full_single();
    fatal_at = 3;
    uint32_t used = data(tree, 0, flow, sizeof(flow));
    data(tree, used, flow + used, (uint32_t)sizeof(flow) - used);
    op(tree, OCSD_OP_EOT);
}

static void two_trees(void)
{
    dcd_tree_handle_t a = full_single(), b = full_single();
    CODE(ocsd_dt_set_gen_elem_outfn(b, on_element, " of b"));
    data(a, 0, flow, 27);
    data(b, 500, flow, sizeof(flow));
    data(a, 27, flow + 27, sizeof(flow) - 27);
    ocsd_destroy_dcd_tree(a);
    op(b, OCSD_OP_EOT);
    ocsd_destroy_dcd_tree(b);
}

const struct edge_case edge_tree[] = {
    CASE(version),
    CASE(create_tree),
    CASE(wrong_data),
    UNDEFINED(single_without_decoder),
    CASE(gap_in_index),
    CASE(without_consumer),
    UNDEFINED(null_consumer),
    CASE(create_decoder),
    CASE(create_without_mode),
    UNDEFINED(create_null_handle),
    UNDEFINED(create_null_name),
    UNDEFINED(create_null_config),
    UNDEFINED(create_null_id),
    CASE(unsupported_config),
    CASE(remove_decoder),
    UNDEFINED(remove_then_data),
    UNDEFINED(null_handle_remove),
    UNDEFINED(null_handle_attach),
    UNDEFINED(null_handle_stats),
    UNDEFINED(null_handle_reset_stats),
    UNDEFINED(null_handle_outfn),
    CASE(packet_callbacks),
    CASE(packet_flags),
    CASE(decode_flags),
    CASE(statistics),
    CASE(waiting),
    CASE(waiting_formatted),
    CASE(wait_then_reset),
    CASE(wait_on_end),
    CASE(fatal_answer),
    CASE(two_trees),
    {.name = NULL},
};
