// SPDX-License-Identifier: MIT
/** @file The generic trace element: what every decoder gives. */
#ifndef ARM_TRC_GEN_ELEM_TYPES_H_INCLUDED
#define ARM_TRC_GEN_ELEM_TYPES_H_INCLUDED

#include "opencsd/ocsd_if_types.h"

typedef enum _ocsd_gen_trc_elem_t {
    OCSD_GEN_TRC_ELEM_UNKNOWN = 0,
    OCSD_GEN_TRC_ELEM_NO_SYNC = 1,        /**< unsync_eot_info */
    OCSD_GEN_TRC_ELEM_TRACE_ON = 2,       /**< trace_on_reason */
    OCSD_GEN_TRC_ELEM_EO_TRACE = 3,       /**< unsync_eot_info */
    OCSD_GEN_TRC_ELEM_PE_CONTEXT = 4,     /**< isa, context */
    OCSD_GEN_TRC_ELEM_INSTR_RANGE = 5,    /**< addresses, num_instr_range, last_… */
    OCSD_GEN_TRC_ELEM_I_RANGE_NOPATH = 6, /**< addresses, num_instr_range; path unknown */
    OCSD_GEN_TRC_ELEM_ADDR_NACC = 7,      /**< st_addr has no memory */
    OCSD_GEN_TRC_ELEM_ADDR_UNKNOWN = 8,
    OCSD_GEN_TRC_ELEM_EXCEPTION = 9, /**< exception_number; en_addr if excep_ret_addr */
    OCSD_GEN_TRC_ELEM_EXCEPTION_RET = 10,
    OCSD_GEN_TRC_ELEM_TIMESTAMP = 11,   /**< timestamp */
    OCSD_GEN_TRC_ELEM_CYCLE_COUNT = 12, /**< cycle_count */
    OCSD_GEN_TRC_ELEM_EVENT = 13,       /**< trace_event */
    OCSD_GEN_TRC_ELEM_SWTRACE = 14,     /**< sw_trace_info, ptr_extended_data */
    OCSD_GEN_TRC_ELEM_SYNC_MARKER = 15, /**< sync_marker */
    OCSD_GEN_TRC_ELEM_MEMTRANS = 16,    /**< mem_trans */
#ifndef OCSD_STRICT_1_3
    OCSD_GEN_TRC_ELEM_INSTRUMENTATION = 17, /**< sw_ite */
    OCSD_GEN_TRC_ELEM_ITMTRACE = 18,        /**< swt_itm, timestamp */
#endif
    OCSD_GEN_TRC_ELEM_CUSTOM /**< of a custom decoder; last in the list */
} ocsd_gen_trc_elem_t;

typedef enum _trace_on_reason_t {
    TRACE_ON_NORMAL = 0,
    TRACE_ON_OVERFLOW = 1,
    TRACE_ON_EX_DEBUG = 2
} trace_on_reason_t;

typedef enum _unsync_info_t {
    UNSYNC_UNKNOWN = 0,
    UNSYNC_INIT_DECODER = 1,
    UNSYNC_RESET_DECODER = 2,
    UNSYNC_OVERFLOW = 3,
    UNSYNC_DISCARD = 4,
    UNSYNC_BAD_PACKET = 5,
#ifndef OCSD_STRICT_1_3
    UNSYNC_BAD_IMAGE = 6,
#endif
    UNSYNC_EOT
} unsync_info_t;

typedef enum _event_t { EVENT_UNKNOWN = 0, EVENT_TRIGGER = 1, EVENT_NUMBERED = 2 } event_t;

typedef struct _trace_event_t {
    uint16_t ev_type;   /**< event_t */
    uint16_t ev_number; /**< of EVENT_NUMBERED */
} trace_event_t;

typedef enum _trace_sync_marker_t {
    ELEM_MARKER_TS = 0 /**< a timestamp belongs here */
} trace_sync_marker_t;

typedef struct _trace_marker_payload_t {
    trace_sync_marker_t type;
    uint32_t value;
} trace_marker_payload_t;

typedef enum _memtrans_t {
    OCSD_MEM_TRANS_TRACE_INIT = 0,
    OCSD_MEM_TRANS_START = 1,
    OCSD_MEM_TRANS_COMMIT = 2,
    OCSD_MEM_TRANS_FAIL = 3
} trace_memtrans_t;

#ifndef OCSD_STRICT_1_3
typedef struct _sw_ite_t {
    uint8_t el;
    uint64_t value;
} trace_sw_ite_t;

typedef enum _swt_itm_type {
    SWIT_PAYLOAD = 0, /**< written by software */
    DWT_PAYLOAD = 1,  /**< from the data watchpoint unit */
    TS_SYNC = 2,      /**< local timestamps: how value and packets relate */
    TS_DELAY = 3,
    TS_PKT_DELAY = 4,
    TS_PKT_TS_DELAY = 5,
    TS_GLOBAL = 6
} swt_itm_type;

typedef struct _swt_itm_info {
    swt_itm_type pkt_type;
    uint8_t payload_src_id; /**< channel or discriminator */
    uint8_t payload_size;   /**< bytes */
    uint32_t value;
    uint8_t overflow; /**< trace was lost before this */
} swt_itm_info;
#endif

typedef struct _ocsd_generic_trace_elem {
    ocsd_gen_trc_elem_t elem_type;
    ocsd_isa isa;
    ocsd_vaddr_t st_addr; /**< first address */
    ocsd_vaddr_t en_addr; /**< address after the last instruction */
    ocsd_pe_context context;
    uint64_t timestamp;
    uint32_t cycle_count;
    ocsd_instr_type last_i_type;
    ocsd_instr_subtype last_i_subtype;

    union {
        struct {
            uint32_t last_instr_exec : 1; /**< the last instruction was executed */
            uint32_t last_instr_sz : 3;   /**< its size in bytes */
            uint32_t has_cc : 1;          /**< cycle_count is valid */
            uint32_t cpu_freq_change : 1;
            uint32_t excep_ret_addr : 1; /**< en_addr: preferred return address */
            uint32_t excep_data_marker : 1;
            uint32_t extended_data : 1;         /**< ptr_extended_data is valid */
            uint32_t has_ts : 1;                /**< timestamp is valid */
            uint32_t last_instr_cond : 1;       /**< the last instruction is conditional */
            uint32_t excep_ret_addr_br_tgt : 1; /**< en_addr: also the last branch's target */
#ifndef OCSD_STRICT_1_3
            uint32_t excep_M_tail_chain : 1;
#endif
        };
        uint32_t flag_bits;
    };

    union {
        uint32_t exception_number;
        trace_event_t trace_event;
        trace_on_reason_t trace_on_reason;
        ocsd_swt_info_t sw_trace_info;
        uint32_t num_instr_range;
        unsync_info_t unsync_eot_info;
        trace_marker_payload_t sync_marker;
        trace_memtrans_t mem_trans;
#ifndef OCSD_STRICT_1_3
        trace_sw_ite_t sw_ite;
        swt_itm_info swt_itm;
#endif
    };

    const void *ptr_extended_data;
} ocsd_generic_trace_elem;

#endif
