// SPDX-License-Identifier: MIT
/** @file ETMv3: packets and configuration. */
#ifndef ARM_TRC_ETM3_PKT_TYPES_ETMV3_H_INCLUDED
#define ARM_TRC_ETM3_PKT_TYPES_ETMV3_H_INCLUDED

#include "opencsd/trc_pkt_types.h"

typedef enum _ocsd_etmv3_pkt_type {
    ETM3_PKT_NOERROR = 0,
    ETM3_PKT_NOTSYNC = 1,
    ETM3_PKT_INCOMPLETE_EOT = 2,
    ETM3_PKT_BRANCH_ADDRESS = 3,
    ETM3_PKT_A_SYNC = 4,
    ETM3_PKT_CYCLE_COUNT = 5,
    ETM3_PKT_I_SYNC = 6,
    ETM3_PKT_I_SYNC_CYCLE = 7,
    ETM3_PKT_TRIGGER = 8,
    ETM3_PKT_P_HDR = 9,
    ETM3_PKT_STORE_FAIL = 10,
    ETM3_PKT_OOO_DATA = 11,
    ETM3_PKT_OOO_ADDR_PLC = 12,
    ETM3_PKT_NORM_DATA = 13,
    ETM3_PKT_DATA_SUPPRESSED = 14,
    ETM3_PKT_VAL_NOT_TRACED = 15,
    ETM3_PKT_IGNORE = 16,
    ETM3_PKT_CONTEXT_ID = 17,
    ETM3_PKT_VMID = 18,
    ETM3_PKT_EXCEPTION_ENTRY = 19,
    ETM3_PKT_EXCEPTION_EXIT = 20,
    ETM3_PKT_TIMESTAMP = 21,
    ETM3_PKT_BRANCH_OR_BYPASS_EOT = 22,
    ETM3_PKT_BAD_SEQUENCE = 23,
    ETM3_PKT_BAD_TRACEMODE = 24,
    ETM3_PKT_RESERVED = 25
} ocsd_etmv3_pkt_type;

typedef struct _ocsd_etmv3_excep {
    ocsd_armv7_exception type;
    uint16_t number;
    struct {
        uint32_t present : 1;
        uint32_t cancel : 1;
        uint32_t cm_type : 1;
        uint32_t cm_resume : 4;
        uint32_t cm_irq_n : 9;
    } bits;
} ocsd_etmv3_excep;

typedef struct _etmv3_context_t {
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
} etmv3_context_t;

typedef struct _etmv3_data_t {
    uint32_t value;
    ocsd_pkt_vaddr addr;
    struct {
        uint32_t ooo_tag : 2;
        uint32_t be : 1;
        uint32_t update_be : 1;
        uint32_t update_addr : 1;
        uint32_t update_dval : 1;
    };
} etmv3_data_t;

typedef struct _etmv3_isync_t {
    ocsd_iSync_reason reason;
    struct {
        uint32_t has_cycle_count : 1;
        uint32_t has_LSipAddress : 1;
        uint32_t no_address : 1;
    };
} etmv3_isync_t;

typedef struct _ocsd_etmv3_pkt {
    ocsd_etmv3_pkt_type type;
    ocsd_isa curr_isa;
    ocsd_isa prev_isa;
    etmv3_context_t context;
    ocsd_pkt_vaddr addr;
    etmv3_isync_t isync_info;
    ocsd_etmv3_excep exception;
    ocsd_pkt_atom atom;
    uint8_t p_hdr_fmt;
    uint32_t cycle_count;
    uint64_t timestamp;
    uint8_t ts_update_bits;
    etmv3_data_t data;
    ocsd_etmv3_pkt_type err_type; /**< of a bad packet: what its header said */
} ocsd_etmv3_pkt;

#define DATA_ADDR_EXPECTED_FLAG 0x20

typedef struct _ocsd_etmv3_cfg {
    uint32_t reg_idr;
    uint32_t reg_ctrl;
    uint32_t reg_ccer;
    uint32_t reg_trc_id;
    ocsd_arch_version_t arch_ver;
    ocsd_core_profile_t core_prof;
} ocsd_etmv3_cfg;

#endif
