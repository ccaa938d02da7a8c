// SPDX-License-Identifier: MIT
/** @file The binary interface of the OpenCSD C API: the size of every struct, the place of every
 * member. */
#include "support/capi_abi.h"

#include <stdalign.h>

#define SIZE(type, bytes)        assert_int_equal(sizeof(type), bytes)
#define AT(type, member, offset) assert_int_equal(offsetof(type, member), offset)

/** A bit field: all ones in it are `width` bits from bit `first` of the word at `offset`. */
#define BITS(type, member, offset, first, width)                                                   \
    do {                                                                                           \
        type object;                                                                               \
        memset(&object, 0, sizeof(object));                                                        \
        object.member = (1u << (width)) - 1;                                                       \
        check_bits(&object, sizeof(object), offset, first, width);                                 \
    } while (0)

static void check_bits(const void *object, size_t size, size_t offset, unsigned first,
                       unsigned width)
{
    uint8_t want[256] = {0};
    const bool from_top = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    uint32_t word = ((1u << width) - 1) << (from_top ? 32 - first - width : first);
    memcpy(want + offset, &word, sizeof(word));
    assert_memory_equal(object, want, size);
}

/* Places are those of hosts that align words of 64 bits, which i386 does not. */
#define ALIGNS_WORDS (alignof(uint64_t) == 8)

static void generic_element(void **state)
{
    (void)state;
    if (!ALIGNS_WORDS)
        skip();
    typedef ocsd_generic_trace_elem E;
    SIZE(E, SINCE_1_4(96, 88));
    AT(E, elem_type, 0);
    AT(E, isa, 4);
    AT(E, st_addr, 8);
    AT(E, en_addr, 16);
    AT(E, context, 24);
    AT(E, timestamp, 48);
    AT(E, cycle_count, 56);
    AT(E, last_i_type, 60);
    AT(E, last_i_subtype, 64);
    AT(E, flag_bits, 68);
    AT(E, exception_number, 72);
    AT(E, trace_event, 72);
    AT(E, trace_on_reason, 72);
    AT(E, sw_trace_info, 72);
    AT(E, num_instr_range, 72);
    AT(E, unsync_eot_info, 72);
    AT(E, sync_marker, 72);
    AT(E, mem_trans, 72);
    AT(E, ptr_extended_data, SINCE_1_4(88, 80));
    BITS(E, last_instr_exec, 68, 0, 1);
    BITS(E, last_instr_sz, 68, 1, 3);
    BITS(E, has_cc, 68, 4, 1);
    BITS(E, cpu_freq_change, 68, 5, 1);
    BITS(E, excep_ret_addr, 68, 6, 1);
    BITS(E, excep_data_marker, 68, 7, 1);
    BITS(E, extended_data, 68, 8, 1);
    BITS(E, has_ts, 68, 9, 1);
    BITS(E, last_instr_cond, 68, 10, 1);
    BITS(E, excep_ret_addr_br_tgt, 68, 11, 1);
#ifndef OCSD_STRICT_1_3
    BITS(E, excep_M_tail_chain, 68, 12, 1);
    AT(E, sw_ite, 72);
    AT(E, sw_ite.value, 80);
    AT(E, swt_itm, 72);
    AT(E, swt_itm.payload_src_id, 76);
    AT(E, swt_itm.payload_size, 77);
    AT(E, swt_itm.value, 80);
    AT(E, swt_itm.overflow, 84);
#endif

    SIZE(ocsd_pe_context, 20);
    AT(ocsd_pe_context, security_level, 0);
    AT(ocsd_pe_context, exception_level, 4);
    AT(ocsd_pe_context, context_id, 8);
    AT(ocsd_pe_context, vmid, 12);
    BITS(ocsd_pe_context, bits64, 16, 0, 1);
    BITS(ocsd_pe_context, ctxt_id_valid, 16, 1, 1);
    BITS(ocsd_pe_context, vmid_valid, 16, 2, 1);
    BITS(ocsd_pe_context, el_valid, 16, 3, 1);

    SIZE(trace_event_t, 4);
    AT(trace_event_t, ev_type, 0);
    AT(trace_event_t, ev_number, 2);
    SIZE(trace_marker_payload_t, 8);
    AT(trace_marker_payload_t, type, 0);
    AT(trace_marker_payload_t, value, 4);

    typedef ocsd_swt_info_t S;
    SIZE(S, 8);
    AT(S, swt_master_id, 0);
    AT(S, swt_channel_id, 2);
    AT(S, swt_flag_bits, 4);
    BITS(S, swt_payload_pkt_bitsize, 4, 0, 8);
    BITS(S, swt_payload_num_packets, 4, 8, 8);
    BITS(S, swt_marker_packet, 4, 16, 1);
    BITS(S, swt_has_timestamp, 4, 17, 1);
    BITS(S, swt_marker_first, 4, 18, 1);
    BITS(S, swt_master_err, 4, 19, 1);
    BITS(S, swt_global_err, 4, 20, 1);
    BITS(S, swt_trigger_event, 4, 21, 1);
    BITS(S, swt_frequency, 4, 22, 1);
    BITS(S, swt_id_valid, 4, 23, 1);
}

static void packet_parts(void **state)
{
    (void)state;
    if (!ALIGNS_WORDS)
        skip();
    SIZE(ocsd_pkt_vaddr, 24);
    AT(ocsd_pkt_vaddr, size, 0);
    AT(ocsd_pkt_vaddr, val, 8);
    AT(ocsd_pkt_vaddr, pkt_bits, 16);
    AT(ocsd_pkt_vaddr, valid_bits, 17);
    SIZE(ocsd_pkt_atom, 8);
    AT(ocsd_pkt_atom, En_bits, 0);
    AT(ocsd_pkt_atom, num, 4);
    SIZE(ocsd_pkt_byte_sz_val, 8);
    AT(ocsd_pkt_byte_sz_val, val, 0);
    AT(ocsd_pkt_byte_sz_val, size_bytes, 4);
    AT(ocsd_pkt_byte_sz_val, valid_bytes, 5);
    SIZE(etmv4_addr_val_t, 16);
    AT(etmv4_addr_val_t, val, 0);
    AT(etmv4_addr_val_t, isa, 8);
}

static void etmv4_packet(void **state)
{
    (void)state;
    if (!ALIGNS_WORDS)
        skip();
    typedef ocsd_etmv4_i_pkt P;
    SIZE(P, SINCE_1_4(176, 152));
    AT(P, type, 0);
    AT(P, v_addr, 8);
    AT(P, v_addr_ISA, 32);
    AT(P, context, 36);
    AT(P, context.ctxtID, 40);
    AT(P, context.VMID, 44);
    BITS(P, context.EL, 36, 0, 2);
    BITS(P, context.SF, 36, 2, 1);
    BITS(P, context.NS, 36, 3, 1);
    BITS(P, context.updated, 36, 4, 1);
    BITS(P, context.updated_c, 36, 5, 1);
    BITS(P, context.updated_v, 36, 6, 1);
    BITS(P, context.NSE, 36, 7, 1);
    AT(P, ts.timestamp, 48);
    AT(P, ts.bits_changed, 56);
    AT(P, cc_threshold, 64);
    AT(P, atom, 68);
    AT(P, cycle_count, 76);
    AT(P, curr_spec_depth, 80);
    AT(P, p0_key, 84);
    AT(P, commit_elements, 88);
    AT(P, cancel_elements, 92);
    AT(P, trace_info, 96);
    AT(P, trace_info.val, 96);
    BITS(P, trace_info.bits.cc_enabled, 96, 0, 1);
    BITS(P, trace_info.bits.cond_enabled, 96, 1, 3);
    BITS(P, trace_info.bits.p0_load, 96, 4, 1);
    BITS(P, trace_info.bits.p0_store, 96, 5, 1);
    BITS(P, trace_info.bits.in_trans_state, 96, 6, 1);
    BITS(P, exception_info.exceptionType, 100, 0, 10);
    BITS(P, exception_info.addr_interp, 100, 10, 2);
    BITS(P, exception_info.m_fault_pending, 100, 12, 1);
    BITS(P, exception_info.m_type, 100, 13, 1);
    AT(P, addr_exact_match_idx, 104);
    AT(P, dsm_val, 105);
    AT(P, event_val, 106);
    AT(P, cond_instr, 108);
    AT(P, cond_instr.num_c_elem, 112);
    BITS(P, cond_instr.cond_key_set, 116, 0, 1);
    BITS(P, cond_instr.f3_final_elem, 116, 1, 1);
    BITS(P, cond_instr.f2_cond_incr, 116, 2, 1);
    AT(P, cond_result, 120);
    AT(P, cond_result.cond_r_key_1, 124);
    BITS(P, cond_result.res_0, 128, 0, 4);
    BITS(P, cond_result.res_1, 128, 4, 4);
    BITS(P, cond_result.ci_0, 128, 8, 1);
    BITS(P, cond_result.ci_1, 128, 9, 1);
    BITS(P, cond_result.key_res_0_set, 128, 10, 1);
    BITS(P, cond_result.key_res_1_set, 128, 11, 1);
    BITS(P, cond_result.f2_key_incr, 128, 12, 2);
    BITS(P, cond_result.f2f4_token, 128, 14, 2);
    BITS(P, cond_result.f3_tokens, 128, 16, 12);
    AT(P, Q_pkt, 132);
    BITS(P, Q_pkt.addr_present, 136, 0, 1);
    BITS(P, Q_pkt.addr_match, 136, 1, 1);
    BITS(P, Q_pkt.count_present, 136, 2, 1);
    BITS(P, Q_pkt.q_type, 136, 3, 4);
    enum { VALID = SINCE_1_4(160, 140) };
    AT(P, pkt_valid, VALID);
    AT(P, pkt_valid.val, VALID);
    BITS(P, pkt_valid.bits.context_valid, VALID, 0, 1);
    BITS(P, pkt_valid.bits.ts_valid, VALID, 1, 1);
    BITS(P, pkt_valid.bits.spec_depth_valid, VALID, 2, 1);
    BITS(P, pkt_valid.bits.p0_key_valid, VALID, 3, 1);
    BITS(P, pkt_valid.bits.cond_c_key_valid, VALID, 4, 1);
    BITS(P, pkt_valid.bits.cond_r_key_valid, VALID, 5, 1);
    BITS(P, pkt_valid.bits.trace_info_valid, VALID, 6, 1);
    BITS(P, pkt_valid.bits.cc_thresh_valid, VALID, 7, 1);
    BITS(P, pkt_valid.bits.cc_valid, VALID, 8, 1);
    BITS(P, pkt_valid.bits.commit_elem_valid, VALID, 9, 1);
    AT(P, err_type, SINCE_1_4(164, 144));
    AT(P, err_hdr_val, SINCE_1_4(168, 148));
    AT(P, protocol_version, SINCE_1_4(169, 149));
#ifndef OCSD_STRICT_1_3
    BITS(P, trace_info.bits.pad, 96, 7, 9);
    BITS(P, trace_info.bits.initial_t_info, 96, 16, 1);
    BITS(P, trace_info.bits.spec_field_present, 96, 17, 1);
    AT(P, ite_pkt.el, 144);
    AT(P, ite_pkt.value, 152);
    BITS(P, pkt_valid.bits.cancel_elem_valid, VALID, 10, 1);
#endif
    SIZE(etmv4_context_t, 12);
    SIZE(etmv4_trace_info_t, 4);
    SIZE(ocsd_etmv4_d_pkt, 48);
    AT(ocsd_etmv4_d_pkt, type, 0);
    AT(ocsd_etmv4_d_pkt, d_addr, 8);
    AT(ocsd_etmv4_d_pkt, pkt_val, 32);
    AT(ocsd_etmv4_d_pkt, err_type, 40);
}

static void etmv3_packet(void **state)
{
    (void)state;
    if (!ALIGNS_WORDS)
        skip();
    typedef ocsd_etmv3_pkt P;
    SIZE(P, 152);
    AT(P, type, 0);
    AT(P, curr_isa, 4);
    AT(P, prev_isa, 8);
    AT(P, context, 12);
    BITS(P, context.curr_alt_isa, 12, 0, 1);
    BITS(P, context.curr_NS, 12, 1, 1);
    BITS(P, context.curr_Hyp, 12, 2, 1);
    BITS(P, context.updated, 12, 3, 1);
    BITS(P, context.updated_c, 12, 4, 1);
    BITS(P, context.updated_v, 12, 5, 1);
    AT(P, context.ctxtID, 16);
    AT(P, context.VMID, 20);
    AT(P, addr, 24);
    AT(P, isync_info, 48);
    BITS(P, isync_info.has_cycle_count, 52, 0, 1);
    BITS(P, isync_info.has_LSipAddress, 52, 1, 1);
    BITS(P, isync_info.no_address, 52, 2, 1);
    AT(P, exception, 56);
    AT(P, exception.number, 60);
    BITS(P, exception.bits.present, 64, 0, 1);
    BITS(P, exception.bits.cancel, 64, 1, 1);
    BITS(P, exception.bits.cm_type, 64, 2, 1);
    BITS(P, exception.bits.cm_resume, 64, 3, 4);
    BITS(P, exception.bits.cm_irq_n, 64, 7, 9);
    AT(P, atom, 68);
    AT(P, p_hdr_fmt, 76);
    AT(P, cycle_count, 80);
    AT(P, timestamp, 88);
    AT(P, ts_update_bits, 96);
    AT(P, data, 104);
    AT(P, data.addr, 112);
    BITS(P, data.ooo_tag, 136, 0, 2);
    BITS(P, data.be, 136, 2, 1);
    BITS(P, data.update_be, 136, 3, 1);
    BITS(P, data.update_addr, 136, 4, 1);
    BITS(P, data.update_dval, 136, 5, 1);
    AT(P, err_type, 144);
    SIZE(etmv3_context_t, 12);
    SIZE(etmv3_isync_t, 8);
    SIZE(ocsd_etmv3_excep, 12);
    SIZE(etmv3_data_t, 40);
}

static void ptm_packet(void **state)
{
    (void)state;
    if (!ALIGNS_WORDS)
        skip();
    typedef ocsd_ptm_pkt P;
    SIZE(P, 104);
    AT(P, type, 0);
    AT(P, curr_isa, 4);
    AT(P, prev_isa, 8);
    AT(P, addr, 16);
    AT(P, context, 40);
    BITS(P, context.curr_alt_isa, 40, 0, 1);
    BITS(P, context.curr_NS, 40, 1, 1);
    BITS(P, context.curr_Hyp, 40, 2, 1);
    BITS(P, context.updated, 40, 3, 1);
    BITS(P, context.updated_c, 40, 4, 1);
    BITS(P, context.updated_v, 40, 5, 1);
    AT(P, context.ctxtID, 44);
    AT(P, context.VMID, 48);
    AT(P, atom, 52);
    AT(P, i_sync_reason, 60);
    AT(P, cycle_count, 64);
    AT(P, cc_valid, 68);
    AT(P, timestamp, 72);
    AT(P, ts_update_bits, 80);
    AT(P, exception, 84);
    AT(P, exception.number, 88);
    BITS(P, exception.bits.present, 92, 0, 1);
    AT(P, err_type, 96);
    SIZE(ptm_context_t, 12);
    SIZE(ocsd_ptm_excep, 12);
}

static void software_packets(void **state)
{
    (void)state;
    if (!ALIGNS_WORDS)
        skip();
    typedef ocsd_stm_pkt S;
    SIZE(S, 48);
    AT(S, type, 0);
    AT(S, master, 4);
    AT(S, channel, 6);
    AT(S, timestamp, 8);
    AT(S, pkt_ts_bits, 16);
    AT(S, pkt_has_ts, 17);
    AT(S, ts_type, 20);
    AT(S, pkt_has_marker, 24);
    AT(S, payload, 32);
    AT(S, payload.D8, 32);
    AT(S, payload.D16, 32);
    AT(S, payload.D32, 32);
    AT(S, payload.D64, 32);
    AT(S, err_type, 40);
#ifndef OCSD_STRICT_1_3
    typedef ocsd_itm_pkt I;
    SIZE(I, 20);
    AT(I, type, 0);
    AT(I, src_id, 4);
    AT(I, value, 8);
    AT(I, val_sz, 12);
    AT(I, val_ext, 13);
    AT(I, err_type, 16);
    SIZE(swt_itm_info, 16);
    SIZE(trace_sw_ite_t, 16);
#endif
}

static void configurations(void **state)
{
    (void)state;
    SIZE(ocsd_etmv3_cfg, 24);
    AT(ocsd_etmv3_cfg, reg_idr, 0);
    AT(ocsd_etmv3_cfg, reg_ctrl, 4);
    AT(ocsd_etmv3_cfg, reg_ccer, 8);
    AT(ocsd_etmv3_cfg, reg_trc_id, 12);
    AT(ocsd_etmv3_cfg, arch_ver, 16);
    AT(ocsd_etmv3_cfg, core_prof, 20);
    SIZE(ocsd_ptm_cfg, 24);
    AT(ocsd_ptm_cfg, reg_idr, 0);
    AT(ocsd_ptm_cfg, reg_ctrl, 4);
    AT(ocsd_ptm_cfg, reg_ccer, 8);
    AT(ocsd_ptm_cfg, reg_trc_id, 12);
    AT(ocsd_ptm_cfg, arch_ver, 16);
    AT(ocsd_ptm_cfg, core_prof, 20);
    SIZE(ocsd_etmv4_cfg, 52);
    AT(ocsd_etmv4_cfg, reg_idr0, 0);
    AT(ocsd_etmv4_cfg, reg_idr1, 4);
    AT(ocsd_etmv4_cfg, reg_idr2, 8);
    AT(ocsd_etmv4_cfg, reg_idr8, 12);
    AT(ocsd_etmv4_cfg, reg_idr9, 16);
    AT(ocsd_etmv4_cfg, reg_idr10, 20);
    AT(ocsd_etmv4_cfg, reg_idr11, 24);
    AT(ocsd_etmv4_cfg, reg_idr12, 28);
    AT(ocsd_etmv4_cfg, reg_idr13, 32);
    AT(ocsd_etmv4_cfg, reg_configr, 36);
    AT(ocsd_etmv4_cfg, reg_traceidr, 40);
    AT(ocsd_etmv4_cfg, arch_ver, 44);
    AT(ocsd_etmv4_cfg, core_prof, 48);
    SIZE(ocsd_ete_cfg, 36);
    AT(ocsd_ete_cfg, reg_idr0, 0);
    AT(ocsd_ete_cfg, reg_idr1, 4);
    AT(ocsd_ete_cfg, reg_idr2, 8);
    AT(ocsd_ete_cfg, reg_idr8, 12);
    AT(ocsd_ete_cfg, reg_devarch, 16);
    AT(ocsd_ete_cfg, reg_configr, 20);
    AT(ocsd_ete_cfg, reg_traceidr, 24);
    AT(ocsd_ete_cfg, arch_ver, 28);
    AT(ocsd_ete_cfg, core_prof, 32);
    SIZE(ocsd_stm_cfg, 24);
    AT(ocsd_stm_cfg, reg_tcsr, 0);
    AT(ocsd_stm_cfg, reg_feat3r, 4);
    AT(ocsd_stm_cfg, reg_devid, 8);
    AT(ocsd_stm_cfg, reg_feat1r, 12);
    AT(ocsd_stm_cfg, reg_hwev_mast, 16);
    AT(ocsd_stm_cfg, hw_event, 20);
#ifndef OCSD_STRICT_1_3
    SIZE(ocsd_itm_cfg, 4);
    AT(ocsd_itm_cfg, reg_tcr, 0);
#endif
}

static void other_structs(void **state)
{
    (void)state;
    if (!ALIGNS_WORDS || sizeof(void *) != 8)
        skip();
    SIZE(ocsd_trc_index_t, 4);
    SIZE(ocsd_vaddr_t, 8);
    SIZE(dcd_tree_handle_t, sizeof(void *));
    SIZE(ocsd_file_mem_region_t, 24);
    AT(ocsd_file_mem_region_t, file_offset, 0);
    AT(ocsd_file_mem_region_t, start_address, 8);
    AT(ocsd_file_mem_region_t, region_size, 16);
    SIZE(ocsd_arch_profile_t, 8);
    AT(ocsd_arch_profile_t, arch, 0);
    AT(ocsd_arch_profile_t, profile, 4);
    typedef ocsd_instr_info I;
    SIZE(I, 64);
    AT(I, pe_type, 0);
    AT(I, isa, 8);
    AT(I, instr_addr, 16);
    AT(I, opcode, 24);
    AT(I, dsb_dmb_waypoints, 28);
    AT(I, wfi_wfe_branch, 29);
#ifndef OCSD_STRICT_1_3
    AT(I, track_it_block, 30);
#endif
    AT(I, type, 32);
    AT(I, branch_addr, 40);
    AT(I, next_isa, 48);
    AT(I, instr_size, 52);
    AT(I, is_conditional, 53);
    AT(I, is_link, 54);
    AT(I, thumb_it_conditions, 55);
    AT(I, sub_type, 56);
    SIZE(ocsd_decode_stats_t, 72);
    AT(ocsd_decode_stats_t, version, 0);
    AT(ocsd_decode_stats_t, revision, 4);
    AT(ocsd_decode_stats_t, channel_total, 8);
    AT(ocsd_decode_stats_t, channel_unsynced, 16);
    AT(ocsd_decode_stats_t, bad_header_errs, 24);
    AT(ocsd_decode_stats_t, bad_sequence_errs, 28);
    AT(ocsd_decode_stats_t, demux, 32);
    SIZE(ocsd_demux_stats_t, 40);
    AT(ocsd_demux_stats_t, valid_id_bytes, 0);
    AT(ocsd_demux_stats_t, no_id_bytes, 8);
    AT(ocsd_demux_stats_t, reserved_id_bytes, 16);
    AT(ocsd_demux_stats_t, unknown_id_bytes, 24);
    AT(ocsd_demux_stats_t, frame_bytes, 32);
    SIZE(ocsd_extern_dcd_inst_t, 40);
    AT(ocsd_extern_dcd_inst_t, fn_data_in, 0);
    AT(ocsd_extern_dcd_inst_t, fn_update_pkt_mon, 8);
    AT(ocsd_extern_dcd_inst_t, decoder_handle, 16);
    AT(ocsd_extern_dcd_inst_t, p_decoder_name, 24);
    AT(ocsd_extern_dcd_inst_t, cs_id, 32);
    SIZE(ocsd_extern_dcd_cb_fns, 72);
    AT(ocsd_extern_dcd_cb_fns, fn_gen_elem_out, 0);
    AT(ocsd_extern_dcd_cb_fns, fn_log_error, 8);
    AT(ocsd_extern_dcd_cb_fns, fn_log_msg, 16);
    AT(ocsd_extern_dcd_cb_fns, fn_arm_instruction_decode, 24);
    AT(ocsd_extern_dcd_cb_fns, fn_memory_access, 32);
    AT(ocsd_extern_dcd_cb_fns, fn_packet_mon, 40);
    AT(ocsd_extern_dcd_cb_fns, fn_packet_data_sink, 48);
    AT(ocsd_extern_dcd_cb_fns, packetCBFlags, 56);
    AT(ocsd_extern_dcd_cb_fns, lib_context, 64);
    SIZE(ocsd_extern_dcd_fact_t, 40);
    AT(ocsd_extern_dcd_fact_t, createDecoder, 0);
    AT(ocsd_extern_dcd_fact_t, destroyDecoder, 8);
    AT(ocsd_extern_dcd_fact_t, csidFromConfig, 16);
    AT(ocsd_extern_dcd_fact_t, pktToString, 24);
    AT(ocsd_extern_dcd_fact_t, protocol_id, 32);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(generic_element), cmocka_unit_test(packet_parts),
        cmocka_unit_test(etmv4_packet),    cmocka_unit_test(etmv3_packet),
        cmocka_unit_test(ptm_packet),      cmocka_unit_test(software_packets),
        cmocka_unit_test(configurations),  cmocka_unit_test(other_structs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
