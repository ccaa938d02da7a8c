// SPDX-License-Identifier: MIT
/** @file PTM: packets and configuration. */
#ifndef ARM_TRC_PKT_PTM_TYPES_H_INCLUDED
#define ARM_TRC_PKT_PTM_TYPES_H_INCLUDED

#include "opencsd/trc_pkt_types.h"

typedef enum _ocsd_ptm_pkt_type {
    PTM_PKT_NOTSYNC = 0,
    PTM_PKT_INCOMPLETE_EOT = 1,
    PTM_PKT_NOERROR = 2,
    PTM_PKT_BRANCH_ADDRESS = 3,
    PTM_PKT_A_SYNC = 4,
    PTM_PKT_I_SYNC = 5,
    PTM_PKT_TRIGGER = 6,
    PTM_PKT_WPOINT_UPDATE = 7,
    PTM_PKT_IGNORE = 8,
    PTM_PKT_CONTEXT_ID = 9,
    PTM_PKT_VMID = 10,
    PTM_PKT_ATOM = 11,
    PTM_PKT_TIMESTAMP = 12,
    PTM_PKT_EXCEPTION_RET = 13,
    PTM_PKT_BRANCH_OR_BYPASS_EOT = 14,
    PTM_PKT_TPIU_PAD_EOB = 15,
    PTM_PKT_BAD_SEQUENCE = 16,
    PTM_PKT_RESERVED = 17
} ocsd_ptm_pkt_type;

typedef struct _ptm_context_t {
    struct {
        uint32_t curr_alt_isa : 1;
        uint32_t curr_NS : 1;
        uint32_t curr_Hyp : 1;
        uint32_t updated : 1;
        uint32_t updated_c : 1;
        uint32_t updated_v : 1;
    };
    uint32_t ctxtID;
    uint8_t VMID;
} ptm_context_t;

typedef struct _ocsd_ptm_excep {
    ocsd_armv7_exception type;
    uint16_t number;
    struct {
        uint32_t present : 1;
    } bits;
} ocsd_ptm_excep;

typedef struct _ocsd_ptm_pkt {
    ocsd_ptm_pkt_type type;
    ocsd_isa curr_isa;
    ocsd_isa prev_isa;
    ocsd_pkt_vaddr addr;
    ptm_context_t context;
    ocsd_pkt_atom atom;
    ocsd_iSync_reason i_sync_reason;
    uint32_t cycle_count;
    uint8_t cc_valid;
    uint64_t timestamp;
    uint8_t ts_update_bits;
    ocsd_ptm_excep exception;
    ocsd_ptm_pkt_type err_type; /**< of a bad packet: what its header said */
} ocsd_ptm_pkt;

typedef struct _ocsd_ptm_cfg {
    uint32_t reg_idr;
    uint32_t reg_ctrl;
    uint32_t reg_ccer;
    uint32_t reg_trc_id;
    ocsd_arch_version_t arch_ver;
    ocsd_core_profile_t core_prof;
} ocsd_ptm_cfg;

#endif
