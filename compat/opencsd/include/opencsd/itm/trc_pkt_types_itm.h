// SPDX-License-Identifier: MIT
/** @file ITM and DWT: packets and configuration. */
#ifndef ARM_TRC_PKT_TYPES_ITM_H_INCLUDED
#define ARM_TRC_PKT_TYPES_ITM_H_INCLUDED

#include "opencsd/trc_pkt_types.h"

typedef enum _ocsd_itm_pkt_type {
    ITM_PKT_NOTSYNC = 0,
    ITM_PKT_INCOMPLETE_EOT = 1,
    ITM_PKT_NO_ERR_TYPE = 2,
    ITM_PKT_ASYNC = 3,
    ITM_PKT_OVERFLOW = 4,
    ITM_PKT_SWIT = 5,
    ITM_PKT_DWT = 6,
    ITM_PKT_TS_LOCAL = 7,
    ITM_PKT_TS_GLOBAL_1 = 8,
    ITM_PKT_TS_GLOBAL_2 = 9,
    ITM_PKT_EXTENSION = 10,
    ITM_PKT_BAD_SEQUENCE = 11,
    ITM_PKT_RESERVED = 12
} ocsd_itm_pkt_type;

/** Event counter bits of the DWT's counter packet. */
typedef enum _ocsd_itm_dwt_ecntr {
    ITM_DWT_ECNTR_CPI = 0x01,
    ITM_DWT_ECNTR_EXC = 0x02,
    ITM_DWT_ECNTR_SLP = 0x04,
    ITM_DWT_ECNTR_LSU = 0x08,
    ITM_DWT_ECNTR_FLD = 0x10,
    ITM_DWT_ECNTR_CYC = 0x20
} ocsd_itm_dwt_ecntr;

typedef struct _ocsd_itm_pkt {
    ocsd_itm_pkt_type type;
    uint8_t src_id; /**< channel, discriminator, or control bits, by type */
    uint32_t value;
    uint8_t val_sz; /**< bytes */
    uint8_t val_ext;
    ocsd_itm_pkt_type err_type; /**< of a bad packet: what its header said */
} ocsd_itm_pkt;

typedef struct _ocsd_itm_cfg {
    uint32_t reg_tcr;
} ocsd_itm_cfg;

#endif
