// SPDX-License-Identifier: MIT
/** @file Parts that the packets of several protocols share. */
#ifndef ARM_TRC_PKT_TYPES_H_INCLUDED
#define ARM_TRC_PKT_TYPES_H_INCLUDED

#include "opencsd/ocsd_if_types.h"

typedef enum _ocsd_pkt_va_size { VA_32BIT = 0, VA_64BIT = 1 } ocsd_pkt_va_size;

typedef struct _ocsd_pkt_vaddr {
    ocsd_pkt_va_size size;
    ocsd_vaddr_t val;
    uint8_t pkt_bits;   /**< bits that this packet changed */
    uint8_t valid_bits; /**< bits known so far */
} ocsd_pkt_vaddr;

typedef struct _ocsd_pkt_byte_sz_val {
    uint32_t val;
    uint8_t size_bytes;
    uint8_t valid_bytes;
} ocsd_pkt_byte_sz_val;

typedef enum _ocsd_pkt_atm_type { ATOM_PATTERN = 0, ATOM_REPEAT = 1 } ocsd_pkt_atm_type;

typedef enum _ocsd_atm_val { ATOM_N = 0, ATOM_E = 1 } ocsd_atm_val;

typedef struct _ocsd_pkt_atom {
    uint32_t En_bits; /**< bit 0 is the oldest atom; 1 is E */
    uint8_t num;
} ocsd_pkt_atom;

typedef enum _ocsd_iSync_reason {
    iSync_Periodic = 0,
    iSync_TraceEnable = 1,
    iSync_TraceRestartAfterOverflow = 2,
    iSync_DebugExit = 3
} ocsd_iSync_reason;

typedef enum _ocsd_armv7_exception {
    Excp_Reserved = 0,
    Excp_NoException = 1,
    Excp_Reset = 2,
    Excp_IRQ = 3,
    Excp_FIQ = 4,
    Excp_AsyncDAbort = 5,
    Excp_DebugHalt = 6,
    Excp_Jazelle = 7,
    Excp_SVC = 8,
    Excp_SMC = 9,
    Excp_Hyp = 10,
    Excp_Undef = 11,
    Excp_PrefAbort = 12,
    Excp_Generic = 13,
    Excp_SyncDataAbort = 14,
    Excp_CMUsageFault = 15,
    Excp_CMNMI = 16,
    Excp_CMDebugMonitor = 17,
    Excp_CMMemManage = 18,
    Excp_CMPendSV = 19,
    Excp_CMSysTick = 20,
    Excp_CMBusFault = 21,
    Excp_CMHardFault = 22,
    Excp_CMIRQn = 23,
    Excp_ThumbEECheckFail = 24
} ocsd_armv7_exception;

#endif
