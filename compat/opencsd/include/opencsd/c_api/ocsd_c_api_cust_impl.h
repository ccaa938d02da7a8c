// SPDX-License-Identifier: MIT
/** @file C API: inline calls of the library's callbacks, for authors of decoders. */
#ifndef ARM_OCSD_C_API_CUST_IMPL_H_INCLUDED
#define ARM_OCSD_C_API_CUST_IMPL_H_INCLUDED

#include "opencsd/c_api/ocsd_c_api_custom.h"

/** Output an element. */
static inline ocsd_datapath_resp_t lib_cb_GenElemOp(const ocsd_extern_dcd_cb_fns *callbacks,
                                                    const ocsd_trc_index_t index_sop,
                                                    const uint8_t trc_chan_id,
                                                    const ocsd_generic_trace_elem *elem)
{
    if (!callbacks || !callbacks->fn_gen_elem_out)
        return OCSD_RESP_FATAL_NOT_INIT;
    return callbacks->fn_gen_elem_out(callbacks->lib_context, index_sop, trc_chan_id, elem);
}

/** Log an error with its code, index and trace ID. */
static inline void lib_cb_LogError(const ocsd_extern_dcd_cb_fns *callbacks,
                                   const ocsd_err_severity_t filter_level, const ocsd_err_t code,
                                   const ocsd_trc_index_t idx, const uint8_t chan_id,
                                   const char *pMsg)
{
    if (callbacks && callbacks->fn_log_error)
        callbacks->fn_log_error(callbacks->lib_context, filter_level, code, idx, chan_id, pMsg);
}

/** Log a message. */
static inline void lib_cb_LogMsg(const ocsd_extern_dcd_cb_fns *callbacks,
                                 const ocsd_err_severity_t filter_level, const char *pMsg)
{
    if (callbacks && callbacks->fn_log_msg)
        callbacks->fn_log_msg(callbacks->lib_context, filter_level, pMsg);
}

/** Classify an instruction. */
static inline ocsd_err_t lib_cb_DecodeArmInst(const ocsd_extern_dcd_cb_fns *callbacks,
                                              ocsd_instr_info *instr_info)
{
    if (!callbacks || !callbacks->fn_arm_instruction_decode)
        return OCSD_ERR_NOT_INIT;
    return callbacks->fn_arm_instruction_decode(callbacks->lib_context, instr_info);
}

/** Read program memory; `*num_bytes` is the wish and then what came. */
static inline ocsd_err_t lib_cb_MemAccess(const ocsd_extern_dcd_cb_fns *callbacks,
                                          const ocsd_vaddr_t address, const uint8_t cs_trace_id,
                                          const ocsd_mem_space_acc_t mem_space, uint32_t *num_bytes,
                                          uint8_t *p_buffer)
{
    if (!callbacks || !callbacks->fn_memory_access)
        return OCSD_ERR_NOT_INIT;
    return callbacks->fn_memory_access(callbacks->lib_context, address, cs_trace_id, mem_space,
                                       num_bytes, p_buffer);
}

/** Is a packet monitor attached? */
static inline int lib_cb_usePktMon(const ocsd_extern_dcd_cb_fns *callbacks)
{
    return callbacks ? callbacks->packetCBFlags & OCSD_CUST_DCD_PKT_CB_USE_MON : 0;
}

/** Is a packet sink attached? */
static inline int lib_cb_usePktSink(const ocsd_extern_dcd_cb_fns *callbacks)
{
    return callbacks ? callbacks->packetCBFlags & OCSD_CUST_DCD_PKT_CB_USE_SINK : 0;
}

/** Show a packet to the monitor, if there is one. */
static inline void lib_cb_PktMon(const ocsd_extern_dcd_cb_fns *callbacks,
                                 const ocsd_datapath_op_t op, const ocsd_trc_index_t index_sop,
                                 const void *pkt, const uint32_t size, const uint8_t *p_data)
{
    if (lib_cb_usePktMon(callbacks) && callbacks->fn_packet_mon)
        callbacks->fn_packet_mon(callbacks->lib_context, op, index_sop, pkt, size, p_data);
}

/** Give a packet to the sink, if there is one. */
static inline ocsd_datapath_resp_t lib_cb_PktDataSink(const ocsd_extern_dcd_cb_fns *callbacks,
                                                      const ocsd_datapath_op_t op,
                                                      const ocsd_trc_index_t index_sop,
                                                      const void *pkt)
{
    if (!lib_cb_usePktSink(callbacks))
        return OCSD_RESP_CONT;
    if (!callbacks->fn_packet_data_sink)
        return OCSD_RESP_FATAL_NOT_INIT;
    return callbacks->fn_packet_data_sink(callbacks->lib_context, op, index_sop, pkt);
}

/** Keep the arguments of fn_update_pkt_mon. */
static inline void lib_cb_updatePktCBFlags(ocsd_extern_dcd_cb_fns *callbacks, const int new_flags)
{
    if (callbacks)
        callbacks->packetCBFlags = new_flags;
}

#endif
