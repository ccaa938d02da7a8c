// SPDX-License-Identifier: MIT
/** @file C API: handles, callback types, constants. */
#ifndef ARM_OCSD_C_API_TYPES_H_INCLUDED
#define ARM_OCSD_C_API_TYPES_H_INCLUDED

#include "opencsd/ete/trc_pkt_types_ete.h"
#include "opencsd/etmv3/trc_pkt_types_etmv3.h"
#include "opencsd/etmv4/trc_pkt_types_etmv4.h"
#include "opencsd/ocsd_if_types.h"
#include "opencsd/ocsd_if_version.h"
#include "opencsd/ptm/trc_pkt_types_ptm.h"
#include "opencsd/stm/trc_pkt_types_stm.h"
#include "opencsd/trc_gen_elem_types.h"
#include "opencsd/trc_pkt_types.h"

/** A decode tree. */
typedef void *dcd_tree_handle_t;
#define C_API_INVALID_TREE_HANDLE ((dcd_tree_handle_t)0)

/* ---- outputs of the default log ---- */

#define C_API_MSGLOGOUT_FLG_NONE   0x0
#define C_API_MSGLOGOUT_FLG_FILE   0x1
#define C_API_MSGLOGOUT_FLG_STDERR 0x2
#define C_API_MSGLOGOUT_FLG_STDOUT 0x4
#define C_API_MSGLOGOUT_MASK       0x7

/* ---- callbacks of the client ---- */

/** Takes a generic element. `index_sop`: first byte of the packet that gave it. */
typedef ocsd_datapath_resp_t (*FnTraceElemIn)(const void *p_context,
                                              const ocsd_trc_index_t index_sop,
                                              const uint8_t trc_chan_id,
                                              const ocsd_generic_trace_elem *elem);

/** Takes a packet in place of a decoder; `p_packet_in` is the protocol's struct, NULL but for DATA.
 */
typedef ocsd_datapath_resp_t (*FnDefPktDataIn)(const void *p_context, const ocsd_datapath_op_t op,
                                               const ocsd_trc_index_t index_sop,
                                               const void *p_packet_in);

/** Sees a packet and its bytes. */
typedef void (*FnDefPktDataMon)(const void *p_context, const ocsd_datapath_op_t op,
                                const ocsd_trc_index_t index_sop, const void *p_packet_in,
                                const uint32_t size, const uint8_t *p_data);

typedef enum _ocsd_c_api_cb_types {
    OCSD_C_API_CB_PKT_SINK = 0, /**< FnDefPktDataIn */
    OCSD_C_API_CB_PKT_MON = 1   /**< FnDefPktDataMon */
} ocsd_c_api_cb_types;

/** Takes text of the default log. */
typedef void (*FnDefLoggerPrintStrCB)(const void *p_context, const char *psz_msg_str,
                                      const int str_len);

/** Reads program memory; returns how many bytes it gave, at most `reqBytes`. */
typedef uint32_t (*Fn_MemAcc_CB)(const void *p_context, const ocsd_vaddr_t address,
                                 const ocsd_mem_space_acc_t mem_space, const uint32_t reqBytes,
                                 uint8_t *byteBuffer);

/** The same, with the trace ID of the decoder that asks. */
typedef uint32_t (*Fn_MemAccID_CB)(const void *p_context, const ocsd_vaddr_t address,
                                   const ocsd_mem_space_acc_t mem_space, const uint8_t trcID,
                                   const uint32_t reqBytes, uint8_t *byteBuffer);

#endif
