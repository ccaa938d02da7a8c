// SPDX-License-Identifier: MIT
/** @file STM: packets and configuration. */
#ifndef ARM_TRC_PKT_TYPES_STM_H_INCLUDED
#define ARM_TRC_PKT_TYPES_STM_H_INCLUDED

#include "opencsd/trc_pkt_types.h"

typedef enum _ocsd_stm_pkt_type {
    STM_PKT_NOTSYNC = 0,
    STM_PKT_INCOMPLETE_EOT = 1,
    STM_PKT_NO_ERR_TYPE = 2,
    STM_PKT_ASYNC = 3,
    STM_PKT_VERSION = 4,
    STM_PKT_FREQ = 5,
    STM_PKT_NULL = 6,
    STM_PKT_TRIG = 7,
    STM_PKT_GERR = 8,
    STM_PKT_MERR = 9,
    STM_PKT_M8 = 10,
    STM_PKT_C8 = 11,
    STM_PKT_C16 = 12,
    STM_PKT_FLAG = 13,
    STM_PKT_D4 = 14,
    STM_PKT_D8 = 15,
    STM_PKT_D16 = 16,
    STM_PKT_D32 = 17,
    STM_PKT_D64 = 18,
    STM_PKT_BAD_SEQUENCE = 19,
    STM_PKT_RESERVED = 20
} ocsd_stm_pkt_type;

typedef enum _ocsd_stm_ts_type {
    STM_TS_UNKNOWN = 0,
    STM_TS_NATBINARY = 1,
    STM_TS_GREY = 2
} ocsd_stm_ts_type;

typedef struct _ocsd_stm_pkt {
    ocsd_stm_pkt_type type;
    uint8_t master;
    uint16_t channel;
    uint64_t timestamp;  /**< as a binary number, however it was sent */
    uint8_t pkt_ts_bits; /**< bits that this packet changed */
    uint8_t pkt_has_ts;
    ocsd_stm_ts_type ts_type;
    uint8_t pkt_has_marker;
    union {
        uint8_t D8;   /**< D4, D8; value of VERSION, TRIG, GERR, MERR */
        uint16_t D16; /**< D16; opcode of a reserved header */
        uint32_t D32; /**< D32, FREQ */
        uint64_t D64;
    } payload;
    ocsd_stm_pkt_type err_type; /**< of a bad packet: what its header said */
} ocsd_stm_pkt;

typedef enum _hw_event_feat {
    HwEvent_Unknown_Disabled = 0,
    HwEvent_Enabled = 1,
    HwEvent_UseRegisters = 2
} hw_event_feat_t;

typedef struct _ocsd_stm_cfg {
    uint32_t reg_tcsr;
    uint32_t reg_feat3r;
    uint32_t reg_devid;
    uint32_t reg_feat1r;
    uint32_t reg_hwev_mast;
    hw_event_feat_t hw_event;
} ocsd_stm_cfg;

#endif
