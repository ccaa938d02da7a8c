// SPDX-License-Identifier: MIT
/** @file What functions return, and what the data path answers. */
#ifndef PUGMARK_STATUS_H
#define PUGMARK_STATUS_H

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Result of a function, and code of a log record. Zero is success, negative is an error.
 * -1 to -46 are the reference architecture's error numbers with their sign changed, so that the
 * shells that speak its language translate by changing it back.
 */
enum pug_status {
    PUG_OK = 0,
    PUG_ERR_FAIL = -1,
    PUG_ERR_MEM = -2,
    PUG_ERR_NOT_INIT = -3,
    PUG_ERR_INVALID_ID = -4,
    PUG_ERR_BAD_HANDLE = -5,
    PUG_ERR_INVALID_PARAM_VAL = -6,
    PUG_ERR_INVALID_PARAM_TYPE = -7,
    PUG_ERR_FILE = -8,
    PUG_ERR_NO_PROTOCOL = -9,
    PUG_ERR_ATTACH_TOO_MANY = -10,
    PUG_ERR_ATTACH_INVALID_PARAM = -11,
    PUG_ERR_ATTACH_COMP_NOT_FOUND = -12,
    PUG_ERR_RDR_FILE_NOT_FOUND = -13,
    PUG_ERR_RDR_INVALID_INIT = -14,
    PUG_ERR_RDR_NO_DECODER = -15,
    PUG_ERR_DATA_DECODE_FATAL = -16,
    PUG_ERR_DFMTR_NOTCONTTRACE = -17,
    PUG_ERR_DFMTR_BAD_FHSYNC = -18,
    PUG_ERR_BAD_PACKET_SEQ = -19,
    PUG_ERR_INVALID_PCKT_HDR = -20,
    PUG_ERR_PKT_INTERP_FAIL = -21,
    PUG_ERR_UNSUPPORTED_ISA = -22,
    PUG_ERR_HW_CFG_UNSUPP = -23,
    PUG_ERR_UNSUPP_DECODE_PKT = -24,
    PUG_ERR_BAD_DECODE_PKT = -25,
    PUG_ERR_COMMIT_PKT_OVERRUN = -26,
    PUG_ERR_MEM_NACC = -27,
    PUG_ERR_RET_STACK_OVERFLOW = -28,
    PUG_ERR_DCDT_NO_FORMATTER = -29,
    PUG_ERR_MEM_ACC_OVERLAP = -30,
    PUG_ERR_MEM_ACC_FILE_NOT_FOUND = -31,
    PUG_ERR_MEM_ACC_FILE_DIFF_RANGE = -32,
    PUG_ERR_MEM_ACC_RANGE_INVALID = -33,
    PUG_ERR_MEM_ACC_BAD_LEN = -34,
    PUG_ERR_TEST_SNAPSHOT_PARSE = -35,
    PUG_ERR_TEST_SNAPSHOT_PARSE_INFO = -36,
    PUG_ERR_TEST_SNAPSHOT_READ = -37,
    PUG_ERR_TEST_SS_TO_DECODER = -38,
    PUG_ERR_DCDREG_NAME_REPEAT = -39,
    PUG_ERR_DCDREG_NAME_UNKNOWN = -40,
    PUG_ERR_DCDREG_TYPE_UNKNOWN = -41,
    PUG_ERR_DCDREG_TOOMANY = -42,
    PUG_ERR_DCD_INTERFACE_UNUSED = -43,
    PUG_ERR_INVALID_OPCODE = -44,
    PUG_ERR_I_RANGE_LIMIT_OVERRUN = -45,
    PUG_ERR_BAD_DECODE_IMAGE = -46,
    /* Pugmark's own */
    PUG_ERR_TRUNCATED = -64,      /**< the data end inside something */
    PUG_ERR_TRACE_LOST = -65,     /**< the source says that it lost trace */
    PUG_ERR_TRACE_MISMATCH = -66, /**< trace and program do not fit together */
    PUG_ERR_LIMIT = -67,          /**< a documented limit was reached */
    PUG_ERR_INDEX_DAMAGED = -68,  /**< an index file is damaged, or none */
    PUG_ERR_INDEX_FOREIGN = -69,  /**< an index of another capture or configuration */
    PUG_ERR_NOT_FOUND = -70,      /**< there is no such place in the trace */
};

/** What an operation on the data path does. */
enum pug_op { PUG_OP_DATA, PUG_OP_END, PUG_OP_FLUSH, PUG_OP_RESET };

/**
 * What the data path, or a consumer, answers. Three classes, in order of weight: go on (below
 * PUG_RESP_WAIT), wait (send FLUSH until the answer is "go on"), fatal. Of several answers the
 * highest counts.
 */
enum pug_response {
    PUG_RESP_CONT = 0,
    PUG_RESP_WARN_CONT = 1,
    PUG_RESP_ERR_CONT = 2,
    PUG_RESP_WAIT = 3,
    PUG_RESP_WARN_WAIT = 4,
    PUG_RESP_ERR_WAIT = 5,
    PUG_RESP_FATAL_NOT_INIT = 6,
    PUG_RESP_FATAL_INVALID_OP = 7,
    PUG_RESP_FATAL_INVALID_PARAM = 8,
    PUG_RESP_FATAL_INVALID_DATA = 9,
    PUG_RESP_FATAL_SYS_ERR = 10,
};

static inline int PUG_RESP_IS_CONT(enum pug_response response)
{
    return response < PUG_RESP_WAIT;
}

static inline int PUG_RESP_IS_WAIT(enum pug_response response)
{
    return response >= PUG_RESP_WAIT && response < PUG_RESP_FATAL_NOT_INIT;
}

static inline int PUG_RESP_IS_FATAL(enum pug_response response)
{
    return response >= PUG_RESP_FATAL_NOT_INIT;
}

/** One sentence for a status; never NULL. */
const char *pug_status_text(enum pug_status status);

/** The reference's name for a status ("OCSD_ERR_FAIL"), or NULL where it has none. */
const char *pug_status_reference_name(enum pug_status status);

/** The reference's description of a status, spelled as it spells it, or NULL. */
const char *pug_status_reference_text(enum pug_status status);

#ifdef __cplusplus
}
#endif
#endif
