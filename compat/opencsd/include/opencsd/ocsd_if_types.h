// SPDX-License-Identifier: MIT
/** @file Types and constants that every part of the OpenCSD interface uses. */
#ifndef ARM_OCSD_IF_TYPES_H_INCLUDED
#define ARM_OCSD_IF_TYPES_H_INCLUDED

#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>

#include "opencsd/ocsd_if_version.h"

/* ---- trace index, trace source IDs, handles ---- */

typedef uint32_t ocsd_trc_index_t; /**< byte position in the captured trace; wraps */
#define OCSD_TRC_IDX_STR PRIu32

#define OCSD_BAD_TRC_INDEX ((ocsd_trc_index_t)-1)
#define OCSD_BAD_CS_SRC_ID ((uint8_t)-1)

#define OCSD_IS_VALID_CS_SRC_ID(id)    (((id) > 0) && ((id) < 0x70))
#define OCSD_IS_RESERVED_CS_SRC_ID(id) (((id) == 0) || (((id) >= 0x70) && ((id) <= 0x7F)))

typedef unsigned int ocsd_hndl_rdr_t;
typedef unsigned int ocsd_hndl_err_log_t;
#define OCSD_INVALID_HANDLE ((unsigned int)-1)

/* ---- components, in names of the log ---- */

#define OCSD_CMPNAME_PREFIX_SOURCE_READER    "SRDR"
#define OCSD_CMPNAME_PREFIX_FRAMEDEFORMATTER "DFMT"
#define OCSD_CMPNAME_PREFIX_PKTPROC          "PKTP"
#define OCSD_CMPNAME_PREFIX_PKTDEC           "PDEC"

/* ---- results ---- */

/** The result of most functions, and the code of a logged error. */
typedef enum _ocsd_err_t {
    OCSD_OK = 0,
    OCSD_ERR_FAIL = 1,
    OCSD_ERR_MEM = 2,
    OCSD_ERR_NOT_INIT = 3,
    OCSD_ERR_INVALID_ID = 4,
    OCSD_ERR_BAD_HANDLE = 5,
    OCSD_ERR_INVALID_PARAM_VAL = 6,
    OCSD_ERR_INVALID_PARAM_TYPE = 7,
    OCSD_ERR_FILE_ERROR = 8,
    OCSD_ERR_NO_PROTOCOL = 9,
    OCSD_ERR_ATTACH_TOO_MANY = 10,
    OCSD_ERR_ATTACH_INVALID_PARAM = 11,
    OCSD_ERR_ATTACH_COMP_NOT_FOUND = 12,
    OCSD_ERR_RDR_FILE_NOT_FOUND = 13,
    OCSD_ERR_RDR_INVALID_INIT = 14,
    OCSD_ERR_RDR_NO_DECODER = 15,
    OCSD_ERR_DATA_DECODE_FATAL = 16,
    OCSD_ERR_DFMTR_NOTCONTTRACE = 17,
    OCSD_ERR_DFMTR_BAD_FHSYNC = 18,
    OCSD_ERR_BAD_PACKET_SEQ = 19,
    OCSD_ERR_INVALID_PCKT_HDR = 20,
    OCSD_ERR_PKT_INTERP_FAIL = 21,
    OCSD_ERR_UNSUPPORTED_ISA = 22,
    OCSD_ERR_HW_CFG_UNSUPP = 23,
    OCSD_ERR_UNSUPP_DECODE_PKT = 24,
    OCSD_ERR_BAD_DECODE_PKT = 25,
    OCSD_ERR_COMMIT_PKT_OVERRUN = 26,
    OCSD_ERR_MEM_NACC = 27,
    OCSD_ERR_RET_STACK_OVERFLOW = 28,
    OCSD_ERR_DCDT_NO_FORMATTER = 29,
    OCSD_ERR_MEM_ACC_OVERLAP = 30,
    OCSD_ERR_MEM_ACC_FILE_NOT_FOUND = 31,
    OCSD_ERR_MEM_ACC_FILE_DIFF_RANGE = 32,
    OCSD_ERR_MEM_ACC_RANGE_INVALID = 33,
    OCSD_ERR_MEM_ACC_BAD_LEN = 34,
    OCSD_ERR_TEST_SNAPSHOT_PARSE = 35,
    OCSD_ERR_TEST_SNAPSHOT_PARSE_INFO = 36,
    OCSD_ERR_TEST_SNAPSHOT_READ = 37,
    OCSD_ERR_TEST_SS_TO_DECODER = 38,
    OCSD_ERR_DCDREG_NAME_REPEAT = 39,
    OCSD_ERR_DCDREG_NAME_UNKNOWN = 40,
    OCSD_ERR_DCDREG_TYPE_UNKNOWN = 41,
    OCSD_ERR_DCDREG_TOOMANY = 42,
    OCSD_ERR_DCD_INTERFACE_UNUSED = 43,
#ifndef OCSD_STRICT_1_3
    OCSD_ERR_INVALID_OPCODE = 44,
    OCSD_ERR_I_RANGE_LIMIT_OVERRUN = 45,
    OCSD_ERR_BAD_DECODE_IMAGE = 46,
#endif
    OCSD_ERR_LAST /**< end of the list */
} ocsd_err_t;

typedef enum _ocsd_err_severity_t {
    OCSD_ERR_SEV_NONE = 0,
    OCSD_ERR_SEV_ERROR = 1,
    OCSD_ERR_SEV_WARN = 2,
    OCSD_ERR_SEV_INFO = 3
} ocsd_err_severity_t;

/* ---- the data path ---- */

typedef enum _ocsd_datapath_op_t {
    OCSD_OP_DATA = 0, /**< trace bytes */
    OCSD_OP_EOT = 1,  /**< end of trace */
    OCSD_OP_FLUSH = 2,
    OCSD_OP_RESET = 3
} ocsd_datapath_op_t;

/** Answers, in three classes: go on, wait (send FLUSH), fatal. The highest of several counts. */
typedef enum _ocsd_datapath_resp_t {
    OCSD_RESP_CONT = 0,
    OCSD_RESP_WARN_CONT = 1,
    OCSD_RESP_ERR_CONT = 2,
    OCSD_RESP_WAIT = 3,
    OCSD_RESP_WARN_WAIT = 4,
    OCSD_RESP_ERR_WAIT = 5,
    OCSD_RESP_FATAL_NOT_INIT = 6,
    OCSD_RESP_FATAL_INVALID_OP = 7,
    OCSD_RESP_FATAL_INVALID_PARAM = 8,
    OCSD_RESP_FATAL_INVALID_DATA = 9,
    OCSD_RESP_FATAL_SYS_ERR = 10
} ocsd_datapath_resp_t;

#define OCSD_DATA_RESP_IS_FATAL(x)       ((x) >= OCSD_RESP_FATAL_NOT_INIT)
#define OCSD_DATA_RESP_IS_WARN(x)        (((x) == OCSD_RESP_WARN_CONT) || ((x) == OCSD_RESP_WARN_WAIT))
#define OCSD_DATA_RESP_IS_ERR(x)         (((x) == OCSD_RESP_ERR_CONT) || ((x) == OCSD_RESP_ERR_WAIT))
#define OCSD_DATA_RESP_IS_WARN_OR_ERR(x) (OCSD_DATA_RESP_IS_ERR(x) || OCSD_DATA_RESP_IS_WARN(x))
#define OCSD_DATA_RESP_IS_CONT(x)        ((x) < OCSD_RESP_WAIT)
#define OCSD_DATA_RESP_IS_WAIT(x)        (((x) >= OCSD_RESP_WAIT) && ((x) < OCSD_RESP_FATAL_NOT_INIT))

/* ---- trace frames ---- */

typedef enum _rcdtl_rawframe_elem_t {
    OCSD_FRM_NONE = 0,
    OCSD_FRM_PACKED = 1, /**< frame bytes as captured */
    OCSD_FRM_HSYNC = 2,  /**< half frame synchronisation */
    OCSD_FRM_FSYNC = 3,  /**< frame synchronisation */
    OCSD_FRM_ID_DATA = 4 /**< the bytes of one source in a frame */
} ocsd_rawframe_elem_t;

typedef enum _ocsd_dcd_tree_src_t {
    OCSD_TRC_SRC_FRAME_FORMATTED = 0, /**< CoreSight frames of many sources */
    OCSD_TRC_SRC_SINGLE = 1           /**< the bytes of one source */
} ocsd_dcd_tree_src_t;

#define OCSD_DFRMTR_HAS_FSYNCS        0x01 /**< frames with full synchronisation words */
#define OCSD_DFRMTR_HAS_HSYNCS        0x02 /**< frames with half synchronisation words */
#define OCSD_DFRMTR_FRAME_MEM_ALIGN   0x04 /**< whole frames without synchronisation */
#define OCSD_DFRMTR_PACKED_RAW_OUT    0x08 /**< show frame bytes to the raw monitor */
#define OCSD_DFRMTR_UNPACKED_RAW_OUT  0x10 /**< show each source's bytes to the raw monitor */
#define OCSD_DFRMTR_RESET_ON_4X_FSYNC 0x20 /**< four synchronisation words reset the decoders */
#define OCSD_DFRMTR_VALID_MASK        0x3F
#define OCSD_DFRMTR_FRAME_SIZE        0x10 /**< bytes of a frame */

/* ---- decoder creation and operation flags ---- */

#define OCSD_CREATE_FLG_PACKET_PROC  0x01 /**< packets only */
#define OCSD_CREATE_FLG_FULL_DECODER 0x02 /**< packets and generic elements */
#define OCSD_CREATE_FLG_INST_ID      0x04 /**< component names carry the trace ID */

#define OCSD_OPFLG_PKTPROC_NOFWD_BAD_PKTS     0x00000010 /**< bad packets: not to the sink */
#define OCSD_OPFLG_PKTPROC_NOMON_BAD_PKTS     0x00000020 /**< … not to the monitor */
#define OCSD_OPFLG_PKTPROC_ERR_BAD_PKTS       0x00000040 /**< … are an error */
#define OCSD_OPFLG_PKTPROC_UNSYNC_ON_BAD_PKTS 0x00000080 /**< … end the synchronisation */
#define OCSD_OPFLG_PKTPROC_COMMON                                                                  \
    (OCSD_OPFLG_PKTPROC_NOFWD_BAD_PKTS | OCSD_OPFLG_PKTPROC_NOMON_BAD_PKTS |                       \
     OCSD_OPFLG_PKTPROC_ERR_BAD_PKTS | OCSD_OPFLG_PKTPROC_UNSYNC_ON_BAD_PKTS)

#define OCSD_OPFLG_PKTDEC_ERROR_BAD_PKTS 0x00000100 /**< bad packets: an error, not a warning */
#define OCSD_OPFLG_PKTDEC_HALT_BAD_PKTS  0x00000200 /**< … end the decode */
#ifdef OCSD_STRICT_1_3
#define OCSD_OPFLG_PKTDEC_COMMON                                                                   \
    (OCSD_OPFLG_PKTDEC_ERROR_BAD_PKTS | OCSD_OPFLG_PKTDEC_HALT_BAD_PKTS)
#else
#define OCSD_OPFLG_N_UNCOND_DIR_BR_CHK    0x00000400 /**< N atom on an unconditional direct branch */
#define OCSD_OPFLG_STRICT_N_UNCOND_BR_CHK 0x00000800 /**< … on any unconditional branch */
#define OCSD_OPFLG_CHK_RANGE_CONTINUE     0x00001000 /**< ranges have to join */
#define OCSD_OPFLG_N_UNCOND_CHK_NO_THUMB  0x00002000 /**< T32 is not checked */
#define OCSD_OPFLG_PKTDEC_COMMON                                                                   \
    (OCSD_OPFLG_PKTDEC_ERROR_BAD_PKTS | OCSD_OPFLG_PKTDEC_HALT_BAD_PKTS |                          \
     OCSD_OPFLG_N_UNCOND_DIR_BR_CHK | OCSD_OPFLG_STRICT_N_UNCOND_BR_CHK |                          \
     OCSD_OPFLG_CHK_RANGE_CONTINUE | OCSD_OPFLG_N_UNCOND_CHK_NO_THUMB)
#endif

/** Upper half: flags of single protocols, in their own headers. */
#define OCSD_OPFLG_COMP_MODE_MASK 0xFFFF0000

/* ---- addresses ---- */

typedef uint64_t ocsd_vaddr_t;
#define OCSD_MAX_VA_BITSIZE 64
#define OCSD_VA_MASK        (~0ULL)
#define OCSD_BIT_MASK(bits)                                                                        \
    ((bits) == OCSD_MAX_VA_BITSIZE ? OCSD_VA_MASK : ((ocsd_vaddr_t)1 << (bits)) - 1)

/* ---- the traced core ---- */

typedef enum _ocsd_arch_version {
    ARCH_UNKNOWN = 0x0000,
    ARCH_CUSTOM = 0x0001,
    ARCH_V7 = 0x0700,
    ARCH_V8 = 0x0800,
    ARCH_V8r3 = 0x0803,
    ARCH_AA64 = 0x0864, /**< above V8.3: only the presence of A64 counts */
    ARCH_V8_max = ARCH_AA64
} ocsd_arch_version_t;

#define OCSD_IS_V8_ARCH(arch)               (((arch) >= ARCH_V8) && ((arch) <= ARCH_V8_max))
#define OCSD_IS_ARCH_MINVER(arch, min_arch) ((arch) >= (min_arch))

typedef enum _ocsd_core_profile {
    profile_Unknown = 0,
    profile_CortexM = 1,
    profile_CortexR = 2,
    profile_CortexA = 3,
    profile_Custom = 4
} ocsd_core_profile_t;

typedef struct _ocsd_arch_profile_t {
    ocsd_arch_version_t arch;
    ocsd_core_profile_t profile;
} ocsd_arch_profile_t;

typedef enum _ocsd_isa {
    ocsd_isa_arm = 0,
    ocsd_isa_thumb2 = 1,
    ocsd_isa_aarch64 = 2,
    ocsd_isa_tee = 3,
    ocsd_isa_jazelle = 4,
    ocsd_isa_custom = 5,
    ocsd_isa_unknown = 6
} ocsd_isa;

typedef enum _ocsd_sec_level {
    ocsd_sec_secure = 0,
    ocsd_sec_nonsecure = 1,
    ocsd_sec_root = 2,
    ocsd_sec_realm = 3
} ocsd_sec_level;

typedef enum _ocsd_ex_level {
    ocsd_EL_unknown = -1,
    ocsd_EL0 = 0,
    ocsd_EL1 = 1,
    ocsd_EL2 = 2,
    ocsd_EL3 = 3
} ocsd_ex_level;

/** The kind of the last instruction of a range. */
typedef enum _ocsd_instr_type {
    OCSD_INSTR_OTHER = 0,
    OCSD_INSTR_BR = 1,
    OCSD_INSTR_BR_INDIRECT = 2,
    OCSD_INSTR_ISB = 3,
    OCSD_INSTR_DSB_DMB = 4,
    OCSD_INSTR_WFI_WFE = 5,
    OCSD_INSTR_TSTART = 6
} ocsd_instr_type;

typedef enum _ocsd_instr_subtype {
    OCSD_S_INSTR_NONE = 0,
    OCSD_S_INSTR_BR_LINK = 1,
    OCSD_S_INSTR_V8_RET = 2,
    OCSD_S_INSTR_V8_ERET = 3,
    OCSD_S_INSTR_V7_IMPLIED_RET = 4
} ocsd_instr_subtype;

/** For an instruction decoder: the first members go in, from `type` on they come out. */
typedef struct _ocsd_instr_info {
    ocsd_arch_profile_t pe_type;
    ocsd_isa isa;
    ocsd_vaddr_t instr_addr;
    uint32_t opcode; /**< 16-bit opcodes in the upper half */
    uint8_t dsb_dmb_waypoints;
    uint8_t wfi_wfe_branch;
    uint8_t track_it_block;

    ocsd_instr_type type;
    ocsd_vaddr_t branch_addr;
    ocsd_isa next_isa;
    uint8_t instr_size;
    uint8_t is_conditional;
    uint8_t is_link;
    uint8_t thumb_it_conditions;
    ocsd_instr_subtype sub_type;
} ocsd_instr_info;

typedef struct _ocsd_pe_context {
    ocsd_sec_level security_level;
    ocsd_ex_level exception_level;
    uint32_t context_id;
    uint32_t vmid;
    struct {
        uint32_t bits64 : 1;
        uint32_t ctxt_id_valid : 1;
        uint32_t vmid_valid : 1;
        uint32_t el_valid : 1;
    };
} ocsd_pe_context;

/* ---- program memory ---- */

/** Memory spaces: a bit set; two match when they share a bit. */
typedef enum _ocsd_mem_space_acc_t {
#ifndef OCSD_STRICT_1_3
    OCSD_MEM_SPACE_NONE = 0x00,
#endif
    OCSD_MEM_SPACE_EL1S = 0x01,
    OCSD_MEM_SPACE_EL1N = 0x02,
    OCSD_MEM_SPACE_EL2 = 0x04,
    OCSD_MEM_SPACE_EL3 = 0x08,
    OCSD_MEM_SPACE_EL2S = 0x10,
#ifndef OCSD_STRICT_1_3
    OCSD_MEM_SPACE_EL1R = 0x20,
    OCSD_MEM_SPACE_EL2R = 0x40,
    OCSD_MEM_SPACE_ROOT = 0x80,
    OCSD_MEM_SPACE_R = 0x60,
    OCSD_MEM_SPACE_ANY = 0xFF,
#else
    OCSD_MEM_SPACE_ANY = 0x1F,
#endif
    OCSD_MEM_SPACE_S = 0x19,
    OCSD_MEM_SPACE_N = 0x06
} ocsd_mem_space_acc_t;

/** A piece of a file and where it is seen. */
typedef struct _ocsd_file_mem_region {
    size_t file_offset;
    ocsd_vaddr_t start_address;
    size_t region_size;
} ocsd_file_mem_region_t;

/* ---- protocols ---- */

typedef enum _ocsd_trace_protocol_t {
    OCSD_PROTOCOL_UNKNOWN = 0,
    OCSD_PROTOCOL_ETMV3 = 1,
    OCSD_PROTOCOL_ETMV4I = 2,
    OCSD_PROTOCOL_ETMV4D = 3,
    OCSD_PROTOCOL_PTM = 4,
    OCSD_PROTOCOL_STM = 5,
    OCSD_PROTOCOL_ETE = 6,
#ifndef OCSD_STRICT_1_3
    OCSD_PROTOCOL_ITM = 7,
#endif
    OCSD_PROTOCOL_BUILTIN_END,

    OCSD_PROTOCOL_CUSTOM_0 = 100,
    OCSD_PROTOCOL_CUSTOM_1,
    OCSD_PROTOCOL_CUSTOM_2,
    OCSD_PROTOCOL_CUSTOM_3,
    OCSD_PROTOCOL_CUSTOM_4,
    OCSD_PROTOCOL_CUSTOM_5,
    OCSD_PROTOCOL_CUSTOM_6,
    OCSD_PROTOCOL_CUSTOM_7,
    OCSD_PROTOCOL_CUSTOM_8,
    OCSD_PROTOCOL_CUSTOM_9,
    OCSD_PROTOCOL_END
} ocsd_trace_protocol_t;

#define OCSD_PROTOCOL_IS_BUILTIN(P)                                                                \
    (((P) > OCSD_PROTOCOL_UNKNOWN) && ((P) < OCSD_PROTOCOL_BUILTIN_END))
#define OCSD_PROTOCOL_IS_CUSTOM(P) (((P) >= OCSD_PROTOCOL_CUSTOM_0) && ((P) < OCSD_PROTOCOL_END))

/* ---- software trace ---- */

typedef struct _ocsd_swt_info {
    uint16_t swt_master_id;
    uint16_t swt_channel_id;
    union {
        struct {
            uint32_t swt_payload_pkt_bitsize : 8; /**< bits of each packet's payload */
            uint32_t swt_payload_num_packets : 8; /**< packets in the payload buffer */
            uint32_t swt_marker_packet : 1;
            uint32_t swt_has_timestamp : 1;
            uint32_t swt_marker_first : 1; /**< the marker is on the first packet, not the last */
            uint32_t swt_master_err : 1;
            uint32_t swt_global_err : 1;
            uint32_t swt_trigger_event : 1;
            uint32_t swt_frequency : 1;
            uint32_t swt_id_valid : 1;
        };
        uint32_t swt_flag_bits;
    };
} ocsd_swt_info_t;

#define SWT_ID_VALID_MASK (0x1 << 23)

/* ---- statistics ---- */

/** The bytes of a formatted tree, by what was done with them. */
typedef struct _ocsd_demux_stats {
    uint64_t valid_id_bytes;    /**< to decoders */
    uint64_t no_id_bytes;       /**< of IDs without a decoder */
    uint64_t reserved_id_bytes; /**< of reserved IDs */
    uint64_t unknown_id_bytes;  /**< before the first ID */
    uint64_t frame_bytes;       /**< IDs, flags, synchronisation */
} ocsd_demux_stats_t;

typedef struct _ocsd_decode_stats {
    uint32_t version;  /**< OCSD_VER_NUM of the library */
    uint16_t revision; /**< OCSD_STATS_REVISION */
    uint64_t channel_total;
    uint64_t channel_unsynced;
    uint32_t bad_header_errs;
    uint32_t bad_sequence_errs;
    ocsd_demux_stats_t demux;
} ocsd_decode_stats_t;

#define OCSD_STATS_REVISION 0x1

#endif
