// SPDX-License-Identifier: MIT
/**
 * @file The binary interface of the OpenCSD C API: the size of every struct, the place of every
 * member, the value of every enumerator. Built a second time with OCSD_STRICT_1_3 by
 * tests/run/capi_headers.sh, there also against the reference's own headers where they are.
 */
#include <setjmp.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <opencsd/c_api/opencsd_c_api.h>
#ifndef OCSD_STRICT_1_3
#include <opencsd/c_api/ocsd_c_api_cust_fact.h>
#include <opencsd/c_api/ocsd_c_api_cust_impl.h>
#include <opencsd/itm/trc_pkt_types_itm.h>
#endif

/** Layouts that grew with 1.4.0: the one of 1.8.0, the one of 1.3.3. */
#ifdef OCSD_STRICT_1_3
#define SINCE_1_4(new_value, old_value) (old_value)
#else
#define SINCE_1_4(new_value, old_value) (new_value)
#endif

#define SIZE(type, bytes)        assert_int_equal(sizeof(type), bytes)
#define AT(type, member, offset) assert_int_equal(offsetof(type, member), offset)
#define IS(name, value)          assert_int_equal((long long)(name), (long long)(value))

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

static void errors(void **state)
{
    (void)state;
    IS(OCSD_OK, 0);
    IS(OCSD_ERR_FAIL, 1);
    IS(OCSD_ERR_MEM, 2);
    IS(OCSD_ERR_NOT_INIT, 3);
    IS(OCSD_ERR_INVALID_ID, 4);
    IS(OCSD_ERR_BAD_HANDLE, 5);
    IS(OCSD_ERR_INVALID_PARAM_VAL, 6);
    IS(OCSD_ERR_INVALID_PARAM_TYPE, 7);
    IS(OCSD_ERR_FILE_ERROR, 8);
    IS(OCSD_ERR_NO_PROTOCOL, 9);
    IS(OCSD_ERR_ATTACH_TOO_MANY, 10);
    IS(OCSD_ERR_ATTACH_INVALID_PARAM, 11);
    IS(OCSD_ERR_ATTACH_COMP_NOT_FOUND, 12);
    IS(OCSD_ERR_RDR_FILE_NOT_FOUND, 13);
    IS(OCSD_ERR_RDR_INVALID_INIT, 14);
    IS(OCSD_ERR_RDR_NO_DECODER, 15);
    IS(OCSD_ERR_DATA_DECODE_FATAL, 16);
    IS(OCSD_ERR_DFMTR_NOTCONTTRACE, 17);
    IS(OCSD_ERR_DFMTR_BAD_FHSYNC, 18);
    IS(OCSD_ERR_BAD_PACKET_SEQ, 19);
    IS(OCSD_ERR_INVALID_PCKT_HDR, 20);
    IS(OCSD_ERR_PKT_INTERP_FAIL, 21);
    IS(OCSD_ERR_UNSUPPORTED_ISA, 22);
    IS(OCSD_ERR_HW_CFG_UNSUPP, 23);
    IS(OCSD_ERR_UNSUPP_DECODE_PKT, 24);
    IS(OCSD_ERR_BAD_DECODE_PKT, 25);
    IS(OCSD_ERR_COMMIT_PKT_OVERRUN, 26);
    IS(OCSD_ERR_MEM_NACC, 27);
    IS(OCSD_ERR_RET_STACK_OVERFLOW, 28);
    IS(OCSD_ERR_DCDT_NO_FORMATTER, 29);
    IS(OCSD_ERR_MEM_ACC_OVERLAP, 30);
    IS(OCSD_ERR_MEM_ACC_FILE_NOT_FOUND, 31);
    IS(OCSD_ERR_MEM_ACC_FILE_DIFF_RANGE, 32);
    IS(OCSD_ERR_MEM_ACC_RANGE_INVALID, 33);
    IS(OCSD_ERR_MEM_ACC_BAD_LEN, 34);
    IS(OCSD_ERR_TEST_SNAPSHOT_PARSE, 35);
    IS(OCSD_ERR_TEST_SNAPSHOT_PARSE_INFO, 36);
    IS(OCSD_ERR_TEST_SNAPSHOT_READ, 37);
    IS(OCSD_ERR_TEST_SS_TO_DECODER, 38);
    IS(OCSD_ERR_DCDREG_NAME_REPEAT, 39);
    IS(OCSD_ERR_DCDREG_NAME_UNKNOWN, 40);
    IS(OCSD_ERR_DCDREG_TYPE_UNKNOWN, 41);
    IS(OCSD_ERR_DCDREG_TOOMANY, 42);
    IS(OCSD_ERR_DCD_INTERFACE_UNUSED, 43);
    IS(OCSD_ERR_LAST, SINCE_1_4(47, 44));
    IS(OCSD_ERR_SEV_NONE, 0);
    IS(OCSD_ERR_SEV_ERROR, 1);
    IS(OCSD_ERR_SEV_WARN, 2);
    IS(OCSD_ERR_SEV_INFO, 3);
#ifndef OCSD_STRICT_1_3
    IS(OCSD_ERR_INVALID_OPCODE, 44);
    IS(OCSD_ERR_I_RANGE_LIMIT_OVERRUN, 45);
    IS(OCSD_ERR_BAD_DECODE_IMAGE, 46);
#endif
}

static void data_path(void **state)
{
    (void)state;
    IS(OCSD_OP_DATA, 0);
    IS(OCSD_OP_EOT, 1);
    IS(OCSD_OP_FLUSH, 2);
    IS(OCSD_OP_RESET, 3);
    IS(OCSD_RESP_CONT, 0);
    IS(OCSD_RESP_WARN_CONT, 1);
    IS(OCSD_RESP_ERR_CONT, 2);
    IS(OCSD_RESP_WAIT, 3);
    IS(OCSD_RESP_WARN_WAIT, 4);
    IS(OCSD_RESP_ERR_WAIT, 5);
    IS(OCSD_RESP_FATAL_NOT_INIT, 6);
    IS(OCSD_RESP_FATAL_INVALID_OP, 7);
    IS(OCSD_RESP_FATAL_INVALID_PARAM, 8);
    IS(OCSD_RESP_FATAL_INVALID_DATA, 9);
    IS(OCSD_RESP_FATAL_SYS_ERR, 10);
    IS(OCSD_FRM_NONE, 0);
    IS(OCSD_FRM_PACKED, 1);
    IS(OCSD_FRM_HSYNC, 2);
    IS(OCSD_FRM_FSYNC, 3);
    IS(OCSD_FRM_ID_DATA, 4);
    IS(OCSD_TRC_SRC_FRAME_FORMATTED, 0);
    IS(OCSD_TRC_SRC_SINGLE, 1);
    IS(OCSD_C_API_CB_PKT_SINK, 0);
    IS(OCSD_C_API_CB_PKT_MON, 1);
}

static void cores(void **state)
{
    (void)state;
    IS(ARCH_UNKNOWN, 0);
    IS(ARCH_CUSTOM, 1);
    IS(ARCH_V7, 1792);
    IS(ARCH_V8, 2048);
    IS(ARCH_V8r3, 2051);
    IS(ARCH_AA64, 2148);
    IS(ARCH_V8_max, 2148);
    IS(profile_Unknown, 0);
    IS(profile_CortexM, 1);
    IS(profile_CortexR, 2);
    IS(profile_CortexA, 3);
    IS(profile_Custom, 4);
    IS(ocsd_isa_arm, 0);
    IS(ocsd_isa_thumb2, 1);
    IS(ocsd_isa_aarch64, 2);
    IS(ocsd_isa_tee, 3);
    IS(ocsd_isa_jazelle, 4);
    IS(ocsd_isa_custom, 5);
    IS(ocsd_isa_unknown, 6);
    IS(ocsd_sec_secure, 0);
    IS(ocsd_sec_nonsecure, 1);
    IS(ocsd_sec_root, 2);
    IS(ocsd_sec_realm, 3);
    IS(ocsd_EL_unknown, -1);
    IS(ocsd_EL0, 0);
    IS(ocsd_EL1, 1);
    IS(ocsd_EL2, 2);
    IS(ocsd_EL3, 3);
    IS(OCSD_INSTR_OTHER, 0);
    IS(OCSD_INSTR_BR, 1);
    IS(OCSD_INSTR_BR_INDIRECT, 2);
    IS(OCSD_INSTR_ISB, 3);
    IS(OCSD_INSTR_DSB_DMB, 4);
    IS(OCSD_INSTR_WFI_WFE, 5);
    IS(OCSD_INSTR_TSTART, 6);
    IS(OCSD_S_INSTR_NONE, 0);
    IS(OCSD_S_INSTR_BR_LINK, 1);
    IS(OCSD_S_INSTR_V8_RET, 2);
    IS(OCSD_S_INSTR_V8_ERET, 3);
    IS(OCSD_S_INSTR_V7_IMPLIED_RET, 4);
    IS(OCSD_MEM_SPACE_EL1S, 1);
    IS(OCSD_MEM_SPACE_EL1N, 2);
    IS(OCSD_MEM_SPACE_EL2, 4);
    IS(OCSD_MEM_SPACE_EL3, 8);
    IS(OCSD_MEM_SPACE_EL2S, 16);
    IS(OCSD_MEM_SPACE_S, 25);
    IS(OCSD_MEM_SPACE_N, 6);
    IS(OCSD_MEM_SPACE_ANY, SINCE_1_4(0xff, 0x1f));
#ifndef OCSD_STRICT_1_3
    IS(OCSD_MEM_SPACE_NONE, 0);
    IS(OCSD_MEM_SPACE_EL1R, 32);
    IS(OCSD_MEM_SPACE_EL2R, 64);
    IS(OCSD_MEM_SPACE_ROOT, 128);
    IS(OCSD_MEM_SPACE_R, 96);
#endif
}

static void protocols(void **state)
{
    (void)state;
    IS(OCSD_PROTOCOL_UNKNOWN, 0);
    IS(OCSD_PROTOCOL_ETMV3, 1);
    IS(OCSD_PROTOCOL_ETMV4I, 2);
    IS(OCSD_PROTOCOL_ETMV4D, 3);
    IS(OCSD_PROTOCOL_PTM, 4);
    IS(OCSD_PROTOCOL_STM, 5);
    IS(OCSD_PROTOCOL_ETE, 6);
    IS(OCSD_PROTOCOL_BUILTIN_END, SINCE_1_4(8, 7));
    IS(OCSD_PROTOCOL_CUSTOM_0, 100);
    IS(OCSD_PROTOCOL_CUSTOM_1, 101);
    IS(OCSD_PROTOCOL_CUSTOM_2, 102);
    IS(OCSD_PROTOCOL_CUSTOM_3, 103);
    IS(OCSD_PROTOCOL_CUSTOM_4, 104);
    IS(OCSD_PROTOCOL_CUSTOM_5, 105);
    IS(OCSD_PROTOCOL_CUSTOM_6, 106);
    IS(OCSD_PROTOCOL_CUSTOM_7, 107);
    IS(OCSD_PROTOCOL_CUSTOM_8, 108);
    IS(OCSD_PROTOCOL_CUSTOM_9, 109);
    IS(OCSD_PROTOCOL_END, 110);
#ifndef OCSD_STRICT_1_3
    IS(OCSD_PROTOCOL_ITM, 7);
#endif
}

static void elements(void **state)
{
    (void)state;
    IS(OCSD_GEN_TRC_ELEM_UNKNOWN, 0);
    IS(OCSD_GEN_TRC_ELEM_NO_SYNC, 1);
    IS(OCSD_GEN_TRC_ELEM_TRACE_ON, 2);
    IS(OCSD_GEN_TRC_ELEM_EO_TRACE, 3);
    IS(OCSD_GEN_TRC_ELEM_PE_CONTEXT, 4);
    IS(OCSD_GEN_TRC_ELEM_INSTR_RANGE, 5);
    IS(OCSD_GEN_TRC_ELEM_I_RANGE_NOPATH, 6);
    IS(OCSD_GEN_TRC_ELEM_ADDR_NACC, 7);
    IS(OCSD_GEN_TRC_ELEM_ADDR_UNKNOWN, 8);
    IS(OCSD_GEN_TRC_ELEM_EXCEPTION, 9);
    IS(OCSD_GEN_TRC_ELEM_EXCEPTION_RET, 10);
    IS(OCSD_GEN_TRC_ELEM_TIMESTAMP, 11);
    IS(OCSD_GEN_TRC_ELEM_CYCLE_COUNT, 12);
    IS(OCSD_GEN_TRC_ELEM_EVENT, 13);
    IS(OCSD_GEN_TRC_ELEM_SWTRACE, 14);
    IS(OCSD_GEN_TRC_ELEM_SYNC_MARKER, 15);
    IS(OCSD_GEN_TRC_ELEM_MEMTRANS, 16);
    IS(OCSD_GEN_TRC_ELEM_CUSTOM, SINCE_1_4(19, 17));
    IS(TRACE_ON_NORMAL, 0);
    IS(TRACE_ON_OVERFLOW, 1);
    IS(TRACE_ON_EX_DEBUG, 2);
    IS(UNSYNC_UNKNOWN, 0);
    IS(UNSYNC_INIT_DECODER, 1);
    IS(UNSYNC_RESET_DECODER, 2);
    IS(UNSYNC_OVERFLOW, 3);
    IS(UNSYNC_DISCARD, 4);
    IS(UNSYNC_BAD_PACKET, 5);
    IS(UNSYNC_EOT, SINCE_1_4(7, 6));
    IS(ELEM_MARKER_TS, 0);
    IS(OCSD_MEM_TRANS_TRACE_INIT, 0);
    IS(OCSD_MEM_TRANS_START, 1);
    IS(OCSD_MEM_TRANS_COMMIT, 2);
    IS(OCSD_MEM_TRANS_FAIL, 3);
    IS(EVENT_UNKNOWN, 0);
    IS(EVENT_TRIGGER, 1);
    IS(EVENT_NUMBERED, 2);
#ifndef OCSD_STRICT_1_3
    IS(OCSD_GEN_TRC_ELEM_INSTRUMENTATION, 17);
    IS(OCSD_GEN_TRC_ELEM_ITMTRACE, 18);
    IS(UNSYNC_BAD_IMAGE, 6);
    IS(SWIT_PAYLOAD, 0);
    IS(DWT_PAYLOAD, 1);
    IS(TS_SYNC, 2);
    IS(TS_DELAY, 3);
    IS(TS_PKT_DELAY, 4);
    IS(TS_PKT_TS_DELAY, 5);
    IS(TS_GLOBAL, 6);
#endif
}

static void packet_values(void **state)
{
    (void)state;
    IS(VA_32BIT, 0);
    IS(VA_64BIT, 1);
    IS(ATOM_PATTERN, 0);
    IS(ATOM_REPEAT, 1);
    IS(ATOM_N, 0);
    IS(ATOM_E, 1);
    IS(iSync_Periodic, 0);
    IS(iSync_TraceEnable, 1);
    IS(iSync_TraceRestartAfterOverflow, 2);
    IS(iSync_DebugExit, 3);
    IS(Excp_Reserved, 0);
    IS(Excp_NoException, 1);
    IS(Excp_Reset, 2);
    IS(Excp_IRQ, 3);
    IS(Excp_FIQ, 4);
    IS(Excp_AsyncDAbort, 5);
    IS(Excp_DebugHalt, 6);
    IS(Excp_Jazelle, 7);
    IS(Excp_SVC, 8);
    IS(Excp_SMC, 9);
    IS(Excp_Hyp, 10);
    IS(Excp_Undef, 11);
    IS(Excp_PrefAbort, 12);
    IS(Excp_Generic, 13);
    IS(Excp_SyncDataAbort, 14);
    IS(Excp_CMUsageFault, 15);
    IS(Excp_CMNMI, 16);
    IS(Excp_CMDebugMonitor, 17);
    IS(Excp_CMMemManage, 18);
    IS(Excp_CMPendSV, 19);
    IS(Excp_CMSysTick, 20);
    IS(Excp_CMBusFault, 21);
    IS(Excp_CMHardFault, 22);
    IS(Excp_CMIRQn, 23);
    IS(Excp_ThumbEECheckFail, 24);
    IS(HwEvent_Unknown_Disabled, 0);
    IS(HwEvent_Enabled, 1);
    IS(HwEvent_UseRegisters, 2);
    IS(STM_TS_UNKNOWN, 0);
    IS(STM_TS_NATBINARY, 1);
    IS(STM_TS_GREY, 2);
}

static void etmv3_packet_types(void **state)
{
    (void)state;
    IS(ETM3_PKT_NOERROR, 0);
    IS(ETM3_PKT_NOTSYNC, 1);
    IS(ETM3_PKT_INCOMPLETE_EOT, 2);
    IS(ETM3_PKT_BRANCH_ADDRESS, 3);
    IS(ETM3_PKT_A_SYNC, 4);
    IS(ETM3_PKT_CYCLE_COUNT, 5);
    IS(ETM3_PKT_I_SYNC, 6);
    IS(ETM3_PKT_I_SYNC_CYCLE, 7);
    IS(ETM3_PKT_TRIGGER, 8);
    IS(ETM3_PKT_P_HDR, 9);
    IS(ETM3_PKT_STORE_FAIL, 10);
    IS(ETM3_PKT_OOO_DATA, 11);
    IS(ETM3_PKT_OOO_ADDR_PLC, 12);
    IS(ETM3_PKT_NORM_DATA, 13);
    IS(ETM3_PKT_DATA_SUPPRESSED, 14);
    IS(ETM3_PKT_VAL_NOT_TRACED, 15);
    IS(ETM3_PKT_IGNORE, 16);
    IS(ETM3_PKT_CONTEXT_ID, 17);
    IS(ETM3_PKT_VMID, 18);
    IS(ETM3_PKT_EXCEPTION_ENTRY, 19);
    IS(ETM3_PKT_EXCEPTION_EXIT, 20);
    IS(ETM3_PKT_TIMESTAMP, 21);
    IS(ETM3_PKT_BRANCH_OR_BYPASS_EOT, 22);
    IS(ETM3_PKT_BAD_SEQUENCE, 23);
    IS(ETM3_PKT_BAD_TRACEMODE, 24);
    IS(ETM3_PKT_RESERVED, 25);
}

static void ptm_packet_types(void **state)
{
    (void)state;
    IS(PTM_PKT_NOTSYNC, 0);
    IS(PTM_PKT_INCOMPLETE_EOT, 1);
    IS(PTM_PKT_NOERROR, 2);
    IS(PTM_PKT_BRANCH_ADDRESS, 3);
    IS(PTM_PKT_A_SYNC, 4);
    IS(PTM_PKT_I_SYNC, 5);
    IS(PTM_PKT_TRIGGER, 6);
    IS(PTM_PKT_WPOINT_UPDATE, 7);
    IS(PTM_PKT_IGNORE, 8);
    IS(PTM_PKT_CONTEXT_ID, 9);
    IS(PTM_PKT_VMID, 10);
    IS(PTM_PKT_ATOM, 11);
    IS(PTM_PKT_TIMESTAMP, 12);
    IS(PTM_PKT_EXCEPTION_RET, 13);
    IS(PTM_PKT_BRANCH_OR_BYPASS_EOT, 14);
    IS(PTM_PKT_TPIU_PAD_EOB, 15);
    IS(PTM_PKT_BAD_SEQUENCE, 16);
    IS(PTM_PKT_RESERVED, 17);
}

static void software_packet_types(void **state)
{
    (void)state;
    IS(STM_PKT_NOTSYNC, 0);
    IS(STM_PKT_INCOMPLETE_EOT, 1);
    IS(STM_PKT_NO_ERR_TYPE, 2);
    IS(STM_PKT_ASYNC, 3);
    IS(STM_PKT_VERSION, 4);
    IS(STM_PKT_FREQ, 5);
    IS(STM_PKT_NULL, 6);
    IS(STM_PKT_TRIG, 7);
    IS(STM_PKT_GERR, 8);
    IS(STM_PKT_MERR, 9);
    IS(STM_PKT_M8, 10);
    IS(STM_PKT_C8, 11);
    IS(STM_PKT_C16, 12);
    IS(STM_PKT_FLAG, 13);
    IS(STM_PKT_D4, 14);
    IS(STM_PKT_D8, 15);
    IS(STM_PKT_D16, 16);
    IS(STM_PKT_D32, 17);
    IS(STM_PKT_D64, 18);
    IS(STM_PKT_BAD_SEQUENCE, 19);
    IS(STM_PKT_RESERVED, 20);
#ifndef OCSD_STRICT_1_3
    IS(ITM_PKT_NOTSYNC, 0);
    IS(ITM_PKT_INCOMPLETE_EOT, 1);
    IS(ITM_PKT_NO_ERR_TYPE, 2);
    IS(ITM_PKT_ASYNC, 3);
    IS(ITM_PKT_OVERFLOW, 4);
    IS(ITM_PKT_SWIT, 5);
    IS(ITM_PKT_DWT, 6);
    IS(ITM_PKT_TS_LOCAL, 7);
    IS(ITM_PKT_TS_GLOBAL_1, 8);
    IS(ITM_PKT_TS_GLOBAL_2, 9);
    IS(ITM_PKT_EXTENSION, 10);
    IS(ITM_PKT_BAD_SEQUENCE, 11);
    IS(ITM_PKT_RESERVED, 12);
    IS(ITM_DWT_ECNTR_CPI, 1);
    IS(ITM_DWT_ECNTR_EXC, 2);
    IS(ITM_DWT_ECNTR_SLP, 4);
    IS(ITM_DWT_ECNTR_LSU, 8);
    IS(ITM_DWT_ECNTR_FLD, 16);
    IS(ITM_DWT_ECNTR_CYC, 32);
#endif
}

static void etmv4_packet_types(void **state)
{
    (void)state;
    IS(ETM4_PKT_I_NOTSYNC, 0x200);
    IS(ETM4_PKT_I_INCOMPLETE_EOT, 0x201);
    IS(ETM4_PKT_I_NO_ERR_TYPE, 0x202);
    IS(ETM4_PKT_I_BAD_SEQUENCE, 0x300);
    IS(ETM4_PKT_I_BAD_TRACEMODE, 0x301);
    IS(ETM4_PKT_I_RESERVED, 0x302);
    IS(ETM4_PKT_I_RESERVED_CFG, 0x303);
    IS(ETM4_PKT_I_EXTENSION, 0x00);
    IS(ETM4_PKT_I_TRACE_INFO, 0x01);
    IS(ETM4_PKT_I_TIMESTAMP, 0x02);
    IS(ETM4_PKT_I_TRACE_ON, 0x04);
    IS(ETM4_PKT_I_FUNC_RET, 0x05);
    IS(ETM4_PKT_I_EXCEPT, 0x06);
    IS(ETM4_PKT_I_EXCEPT_RTN, 0x07);
    IS(ETM4_PKT_I_CCNT_F2, 0x0c);
    IS(ETM4_PKT_I_CCNT_F1, 0x0e);
    IS(ETM4_PKT_I_CCNT_F3, 0x10);
    IS(ETM4_PKT_I_NUM_DS_MKR, 0x20);
    IS(ETM4_PKT_I_UNNUM_DS_MKR, 0x28);
    IS(ETM4_PKT_I_COMMIT, 0x2d);
    IS(ETM4_PKT_I_CANCEL_F1, 0x2e);
    IS(ETM4_PKT_I_CANCEL_F1_MISPRED, 0x2f);
    IS(ETM4_PKT_I_MISPREDICT, 0x30);
    IS(ETM4_PKT_I_CANCEL_F2, 0x34);
    IS(ETM4_PKT_I_CANCEL_F3, 0x38);
    IS(ETM4_PKT_I_COND_I_F2, 0x40);
    IS(ETM4_PKT_I_COND_FLUSH, 0x43);
    IS(ETM4_PKT_I_COND_RES_F4, 0x44);
    IS(ETM4_PKT_I_COND_RES_F2, 0x48);
    IS(ETM4_PKT_I_COND_RES_F3, 0x50);
    IS(ETM4_PKT_I_COND_RES_F1, 0x68);
    IS(ETM4_PKT_I_COND_I_F1, 0x6c);
    IS(ETM4_PKT_I_COND_I_F3, 0x6d);
    IS(ETM4_PKT_I_IGNORE, 0x70);
    IS(ETM4_PKT_I_EVENT, 0x71);
    IS(ETM4_PKT_I_CTXT, 0x80);
    IS(ETM4_PKT_I_ADDR_CTXT_L_32IS0, 0x82);
    IS(ETM4_PKT_I_ADDR_CTXT_L_32IS1, 0x83);
    IS(ETM4_PKT_I_ADDR_CTXT_L_64IS0, 0x85);
    IS(ETM4_PKT_I_ADDR_CTXT_L_64IS1, 0x86);
    IS(ETM4_PKT_I_ADDR_MATCH, 0x90);
    IS(ETM4_PKT_I_ADDR_S_IS0, 0x95);
    IS(ETM4_PKT_I_ADDR_S_IS1, 0x96);
    IS(ETM4_PKT_I_ADDR_L_32IS0, 0x9a);
    IS(ETM4_PKT_I_ADDR_L_32IS1, 0x9b);
    IS(ETM4_PKT_I_ADDR_L_64IS0, 0x9d);
    IS(ETM4_PKT_I_ADDR_L_64IS1, 0x9e);
    IS(ETM4_PKT_I_Q, 0xa0);
    IS(ETM4_PKT_I_ATOM_F6, 0xc0);
    IS(ETM4_PKT_I_ATOM_F5, 0xd5);
    IS(ETM4_PKT_I_ATOM_F2, 0xd8);
    IS(ETM4_PKT_I_ATOM_F4, 0xdc);
    IS(ETM4_PKT_I_ATOM_F1, 0xf6);
    IS(ETM4_PKT_I_ATOM_F3, 0xf8);
    IS(ETM4_PKT_I_ASYNC, 0x100);
    IS(ETM4_PKT_I_DISCARD, 0x103);
    IS(ETM4_PKT_I_OVERFLOW, 0x105);
    IS(ETE_PKT_I_TRANS_ST, 0x0a);
    IS(ETE_PKT_I_TRANS_COMMIT, 0x0b);
    IS(ETE_PKT_I_TS_MARKER, 0x88);
    IS(ETE_PKT_I_SRC_ADDR_MATCH, 0xb0);
    IS(ETE_PKT_I_SRC_ADDR_S_IS0, 0xb4);
    IS(ETE_PKT_I_SRC_ADDR_S_IS1, 0xb5);
    IS(ETE_PKT_I_SRC_ADDR_L_32IS0, 0xb6);
    IS(ETE_PKT_I_SRC_ADDR_L_32IS1, 0xb7);
    IS(ETE_PKT_I_SRC_ADDR_L_64IS0, 0xb8);
    IS(ETE_PKT_I_SRC_ADDR_L_64IS1, 0xb9);
    IS(ETE_PKT_I_PE_RESET, 0x400);
    IS(ETE_PKT_I_TRANS_FAIL, 0x401);
#ifdef OCSD_STRICT_1_3
    IS(ETE_PKT_I_COMMIT_WIN_MV, 0x09);
#else
    IS(ETE_PKT_I_ITE, 0x09);
#endif
}

static void etmv4_data_packet_types(void **state)
{
    (void)state;
    IS(ETM4_PKT_D_NOTSYNC, 0x200);
    IS(ETM4_PKT_D_BAD_SEQUENCE, 0x201);
    IS(ETM4_PKT_D_BAD_TRACEMODE, 0x202);
    IS(ETM4_PKT_D_RESERVED, 0x203);
    IS(ETM4_PKT_D_INCOMPLETE_EOT, 0x204);
    IS(ETM4_PKT_D_NO_HEADER, 0x205);
    IS(ETM4_PKT_D_NO_ERR_TYPE, 0x206);
    IS(ETM4_PKT_DNUM_DS_MKR, 0x111);
    IS(ETM4_PKT_D_EXTENSION, 0x00);
    IS(ETM4_PKT_DUNNUM_DS_MKR, 0x01);
    IS(ETM4_PKT_DEVENT, 0x04);
    IS(ETM4_PKT_DTIMESTAMP, 0x02);
    IS(ETM4_PKT_DADDR_P1_F1, 0x70);
    IS(ETM4_PKT_DADDR_P1_F2, 0x80);
    IS(ETM4_PKT_DADDR_P1_F3, 0x14);
    IS(ETM4_PKT_DADDR_P1_F4, 0x60);
    IS(ETM4_PKT_DADDR_P1_F5, 0xf8);
    IS(ETM4_PKT_DADDR_P1_F6, 0xf6);
    IS(ETM4_PKT_DADDR_P1_F7, 0xf5);
    IS(ETM4_PKT_DVAL_P2_F1, 0x20);
    IS(ETM4_PKT_DVAL_P2_F2, 0x30);
    IS(ETM4_PKT_DVAL_P2_F3, 0x40);
    IS(ETM4_PKT_DVAL_P2_F4, 0x10);
    IS(ETM4_PKT_DVAL_P2_F5, 0x18);
    IS(ETM4_PKT_DVAL_P2_F6, 0x38);
    IS(ETM4_PKT_DSUPPRESSION, 0x03);
    IS(ETM4_PKT_DTRACE_INFO, 0x101);
    IS(ETM4_PKT_D_ASYNC, 0x100);
    IS(ETM4_PKT_D_DISCARD, 0x103);
    IS(ETM4_PKT_D_OVERFLOW, 0x105);
}

static void flags(void **state)
{
    (void)state;
    IS(OCSD_DFRMTR_HAS_FSYNCS, 0x01);
    IS(OCSD_DFRMTR_HAS_HSYNCS, 0x02);
    IS(OCSD_DFRMTR_FRAME_MEM_ALIGN, 0x04);
    IS(OCSD_DFRMTR_PACKED_RAW_OUT, 0x08);
    IS(OCSD_DFRMTR_UNPACKED_RAW_OUT, 0x10);
    IS(OCSD_DFRMTR_RESET_ON_4X_FSYNC, 0x20);
    IS(OCSD_DFRMTR_VALID_MASK, 0x3f);
    IS(OCSD_DFRMTR_FRAME_SIZE, 0x10);
    IS(OCSD_CREATE_FLG_PACKET_PROC, 0x1);
    IS(OCSD_CREATE_FLG_FULL_DECODER, 0x2);
    IS(OCSD_CREATE_FLG_INST_ID, 0x4);
    IS(OCSD_OPFLG_PKTPROC_NOFWD_BAD_PKTS, 0x10);
    IS(OCSD_OPFLG_PKTPROC_NOMON_BAD_PKTS, 0x20);
    IS(OCSD_OPFLG_PKTPROC_ERR_BAD_PKTS, 0x40);
    IS(OCSD_OPFLG_PKTPROC_UNSYNC_ON_BAD_PKTS, 0x80);
    IS(OCSD_OPFLG_PKTPROC_COMMON, 0xf0);
    IS(OCSD_OPFLG_PKTDEC_ERROR_BAD_PKTS, 0x100);
    IS(OCSD_OPFLG_PKTDEC_HALT_BAD_PKTS, 0x200);
    IS(OCSD_OPFLG_COMP_MODE_MASK, 0xffff0000);
    IS(OCSD_OPFLG_PKTDEC_COMMON, SINCE_1_4(0x3f00, 0x300));
    IS(ETE_OPFLG_PKTDEC_SRCADDR_N_ATOMS, 0x10000);
    IS(ETE_ARCH_VERSION, 5);
    IS(C_API_MSGLOGOUT_FLG_NONE, 0x0);
    IS(C_API_MSGLOGOUT_FLG_FILE, 0x1);
    IS(C_API_MSGLOGOUT_FLG_STDERR, 0x2);
    IS(C_API_MSGLOGOUT_FLG_STDOUT, 0x4);
    IS(C_API_MSGLOGOUT_MASK, 0x7);
    IS(OCSD_STATS_REVISION, 1);
    IS(SWT_ID_VALID_MASK, 1 << 23);
    IS(DATA_ADDR_EXPECTED_FLAG, 0x20);
    IS(OCSD_CUST_DCD_PKT_CB_USE_MON, 1);
    IS(OCSD_CUST_DCD_PKT_CB_USE_SINK, 2);
    IS(OCSD_MAX_VA_BITSIZE, 64);
    IS(OCSD_BAD_CS_SRC_ID, 0xff);
    IS(OCSD_BAD_TRC_INDEX, 0xffffffffu);
    IS(OCSD_INVALID_HANDLE, 0xffffffffu);
    IS(OCSD_BIT_MASK(12), 0xfff);
    IS(OCSD_VER_NUM, SINCE_1_4(0x10800, 0x10303));
#ifndef OCSD_STRICT_1_3
    IS(OCSD_OPFLG_N_UNCOND_DIR_BR_CHK, 0x400);
    IS(OCSD_OPFLG_STRICT_N_UNCOND_BR_CHK, 0x800);
    IS(OCSD_OPFLG_CHK_RANGE_CONTINUE, 0x1000);
    IS(OCSD_OPFLG_N_UNCOND_CHK_NO_THUMB, 0x2000);
    IS(ETM4_OPFLG_PKTDEC_AA64_OPCODE_CHK, 0x20000);
    IS(ETE_ETM4_OPFLG_MASK, 0x30000);
#endif
}

static void strings(void **state)
{
    (void)state;
    assert_string_equal(OCSD_LIB_NAME, "OpenCSD Library");
    assert_string_equal(OCSD_LIB_SHORT_NAME, "OCSD");
    assert_string_equal(OCSD_VER_STRING, SINCE_1_4("1.8.0", "1.3.3"));
    assert_string_equal(OCSD_TRC_IDX_STR, "u");
    assert_string_equal(OCSD_BUILTIN_DCD_STM, "STM");
    assert_string_equal(OCSD_BUILTIN_DCD_ETMV3, "ETMV3");
    assert_string_equal(OCSD_BUILTIN_DCD_ETMV4I, "ETMV4I");
    assert_string_equal(OCSD_BUILTIN_DCD_ETMV4D, "ETMV4D");
    assert_string_equal(OCSD_BUILTIN_DCD_PTM, "PTM");
    assert_string_equal(OCSD_BUILTIN_DCD_ETE, "ETE");
#ifndef OCSD_STRICT_1_3
    assert_string_equal(OCSD_BUILTIN_DCD_ITM, "ITM");
#endif
    assert_string_equal(OCSD_CMPNAME_PREFIX_SOURCE_READER, "SRDR");
    assert_string_equal(OCSD_CMPNAME_PREFIX_FRAMEDEFORMATTER, "DFMT");
    assert_string_equal(OCSD_CMPNAME_PREFIX_PKTPROC, "PKTP");
    assert_string_equal(OCSD_CMPNAME_PREFIX_PKTDEC, "PDEC");
}

static void predicates(void **state)
{
    (void)state;
    for (int r = OCSD_RESP_CONT; r <= OCSD_RESP_FATAL_SYS_ERR; r++) {
        IS(OCSD_DATA_RESP_IS_CONT(r), r < 3);
        IS(OCSD_DATA_RESP_IS_WAIT(r), r >= 3 && r <= 5);
        IS(OCSD_DATA_RESP_IS_FATAL(r), r >= 6);
        IS(OCSD_DATA_RESP_IS_WARN(r), r == 1 || r == 4);
        IS(OCSD_DATA_RESP_IS_ERR(r), r == 2 || r == 5);
        IS(OCSD_DATA_RESP_IS_WARN_OR_ERR(r), r == 1 || r == 2 || r == 4 || r == 5);
    }
    for (int id = 0; id < 0x90; id++)
        IS(OCSD_IS_VALID_CS_SRC_ID(id), id >= 1 && id <= 0x6f);
    for (int p = 0; p < 120; p++) {
        IS(OCSD_PROTOCOL_IS_BUILTIN(p), p > 0 && p < OCSD_PROTOCOL_BUILTIN_END);
        IS(OCSD_PROTOCOL_IS_CUSTOM(p), p >= 100 && p < 110);
    }
    IS(OCSD_IS_V8_ARCH(ARCH_V7), 0);
    IS(OCSD_IS_V8_ARCH(ARCH_V8), 1);
    IS(OCSD_IS_V8_ARCH(ARCH_AA64), 1);
    IS(OCSD_IS_ARCH_MINVER(ARCH_V8, ARCH_V8r3), 0);
    IS(OCSD_IS_ARCH_MINVER(ARCH_AA64, ARCH_V8r3), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(generic_element),
        cmocka_unit_test(packet_parts),
        cmocka_unit_test(etmv4_packet),
        cmocka_unit_test(etmv3_packet),
        cmocka_unit_test(ptm_packet),
        cmocka_unit_test(software_packets),
        cmocka_unit_test(configurations),
        cmocka_unit_test(other_structs),
        cmocka_unit_test(errors),
        cmocka_unit_test(data_path),
        cmocka_unit_test(cores),
        cmocka_unit_test(protocols),
        cmocka_unit_test(elements),
        cmocka_unit_test(packet_values),
        cmocka_unit_test(etmv3_packet_types),
        cmocka_unit_test(ptm_packet_types),
        cmocka_unit_test(software_packet_types),
        cmocka_unit_test(etmv4_packet_types),
        cmocka_unit_test(etmv4_data_packet_types),
        cmocka_unit_test(flags),
        cmocka_unit_test(strings),
        cmocka_unit_test(predicates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
