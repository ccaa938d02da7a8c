// SPDX-License-Identifier: MIT
/** @file What functions return, and what the data path answers. */
#ifndef PUGMARK_STATUS_H
#define PUGMARK_STATUS_H

#include <stdint.h>

/** Unnamed unions are C11's; some compilers have them in C99, too, with an option. */
#ifdef __GNUC__
#define PUG_EXTENSION __extension__
#else
#define PUG_EXTENSION
#endif

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Result of a function, and code of a log record. Zero is success, negative is an error; numbers
 * never change. -1 to -46 are those that other trace decoders use, with their sign changed, so that
 * shells which speak their language translate by changing it back.
 *
 * A function names in its header what it returns besides PUG_OK, PUG_ERR_MEM (no memory) and
 * PUG_ERR_INVALID_PARAM_VAL (a NULL that must not be). Where one returns PUG_ERR_FILE, errno
 * still says why.
 */
enum pug_status {
    PUG_OK = 0,
    PUG_ERR_FAIL = -1,       /**< anything else; the log says what */
    PUG_ERR_MEM = -2,        /**< no memory */
    PUG_ERR_NOT_READY = -3,  /**< something that this needs was not made or attached before */
    PUG_ERR_INVALID_ID = -4, /**< a trace source id that is reserved or too large */
    PUG_ERR_NO_OBJECT = -5,  /**< no such object */
    PUG_ERR_INVALID_PARAM_VAL =
        -6,                   /**< a NULL that must not be, or a value outside of what is allowed */
    PUG_ERR_WRONG_KIND = -7,  /**< an object that cannot do this */
    PUG_ERR_FILE = -8,        /**< a file cannot be opened, read or written: errno says why */
    PUG_ERR_NO_PROTOCOL = -9, /**< no such protocol or transport */
    PUG_ERR_TAKEN = -10,      /**< the place is taken */
    PUG_ERR_CANNOT_ATTACH = -11,       /**< cannot attach this */
    PUG_ERR_NOT_ATTACHED = -12,        /**< not attached */
    PUG_ERR_CAPTURE_FILE = -13,        /**< a file of the capture is not there */
    PUG_ERR_CAPTURE_DESCRIPTION = -14, /**< the capture's description is not usable */
    PUG_ERR_NO_SOURCE = -15,           /**< no source could be made */
    PUG_ERR_DECODING_STOPPED = -16,    /**< a decoder cannot go on */
    PUG_ERR_TRACE_GAP = -17,           /**< trace input has a gap */
    PUG_ERR_FRAME_SYNC = -18,          /**< bad frame synchronisation */
    PUG_ERR_PACKET_SEQUENCE = -19,     /**< bad packet sequence */
    PUG_ERR_PACKET_HEADER = -20,       /**< invalid packet header */
    PUG_ERR_PACKET_MEANING = -21,      /**< packets make no sense */
    PUG_ERR_UNSUPPORTED_ISA = -22,     /**< instruction set not supported */
    PUG_ERR_UNSUPPORTED_CONFIG = -23,  /**< trace configuration not supported */
    PUG_ERR_UNSUPPORTED_PACKET = -24,  /**< packet not supported */
    PUG_ERR_RESERVED_PACKET = -25,     /**< reserved or unknown packet */
    PUG_ERR_COMMIT_TOO_MANY = -26,     /**< more committed or cancelled than there was */
    PUG_ERR_NO_PROGRAM_MEMORY = -27,   /**< program memory not accessible */
    PUG_ERR_RETURN_STACK = -28,        /**< return stack: popped more than pushed */
    PUG_ERR_NO_FRAMES = -29,           /**< the transport has no frames */
    PUG_ERR_MEMORY_OVERLAP = -30,      /**< memory ranges overlap */
    PUG_ERR_PROGRAM_FILE = -31,        /**< a file of program memory cannot be opened */
    PUG_ERR_MAPPED_ELSEWHERE = -32,    /**< a file is mapped already, elsewhere */
    PUG_ERR_MEMORY_RANGE = -33,        /**< invalid memory range */
    PUG_ERR_MEMORY_CALLBACK = -34, /**< a memory callback says that it gave more than was wanted */
    PUG_ERR_SNAPSHOT_PARSE = -35,  /**< snapshot syntax error */
    PUG_ERR_SNAPSHOT_INFO = -36,   /**< about a snapshot */
    PUG_ERR_SNAPSHOT_READ = -37,   /**< the snapshot cannot be read */
    PUG_ERR_SNAPSHOT_TREE = -38,   /**< the snapshot makes no decode tree */
    PUG_ERR_NAME_TAKEN = -39,      /**< a protocol of that name is there already */
    PUG_ERR_UNKNOWN_NAME = -40,    /**< no protocol of that name */
    PUG_ERR_UNKNOWN_TYPE = -41,    /**< no protocol of that type */
    PUG_ERR_TOO_MANY_PROTOCOLS = -42, /**< too many protocols registered */
    PUG_ERR_NOT_OFFERED = -43,        /**< this decoder does not do that */
    PUG_ERR_INVALID_OPCODE = -44,     /**< illegal opcode in program memory */
    PUG_ERR_RANGE_LIMIT = -45,        /**< instruction range longer than the limit */
    PUG_ERR_WRONG_PROGRAM = -46,      /**< trace and program do not match */
    /* Pugmark's own */
    PUG_ERR_TRUNCATED = -64,      /**< the data end inside something */
    PUG_ERR_TRACE_LOST = -65,     /**< the source says that it lost trace */
    PUG_ERR_TRACE_MISMATCH = -66, /**< trace and program do not fit together */
    PUG_ERR_LIMIT = -67,          /**< a documented limit was reached */
    PUG_ERR_INDEX_DAMAGED = -68,  /**< an index file is damaged, or none */
    PUG_ERR_INDEX_FOREIGN = -69,  /**< an index of another capture or configuration */
    PUG_ERR_NOT_FOUND = -70,      /**< there is no such place in the trace */
    PUG_ERR_FORMAT = -71,         /**< a file is not of the format that it should be, or damaged */
    PUG_ERR_NOT_BUILT = -72,      /**< the library was built without what this needs */
    PUG_ERR_TRACE_SETTINGS = -73, /**< trace and settings do not fit together */
};

/** The operations on the data path. */
enum pug_op {
    PUG_OP_DATA,  /**< here are bytes */
    PUG_OP_END,   /**< the trace is over: what is held back comes, then EO_TRACE */
    PUG_OP_FLUSH, /**< the consumer that waited goes on */
    PUG_OP_RESET, /**< forget the trace: the next bytes start a new one */
};

/**
 * What the data path, or a consumer, answers. Three classes, in order of weight: go on (below
 * PUG_RESP_WAIT), wait (send FLUSH until the answer is "go on"), fatal. Of several answers the
 * highest counts.
 */
enum pug_response {
    PUG_RESP_CONT = 0,                /**< go on */
    PUG_RESP_WARN_CONT = 1,           /**< go on; the log has a warning */
    PUG_RESP_ERR_CONT = 2,            /**< go on; the log has an error */
    PUG_RESP_WAIT = 3,                /**< wait */
    PUG_RESP_WARN_WAIT = 4,           /**< wait; the log has a warning */
    PUG_RESP_ERR_WAIT = 5,            /**< wait; the log has an error */
    PUG_RESP_FATAL_NOT_INIT = 6,      /**< something was not attached, or not configured */
    PUG_RESP_FATAL_INVALID_OP = 7,    /**< not now, or not to this object */
    PUG_RESP_FATAL_INVALID_PARAM = 8, /**< a NULL that must not be, or a value not allowed */
    PUG_RESP_FATAL_INVALID_DATA = 9,  /**< the trace cannot be gone on with */
    PUG_RESP_FATAL_SYS_ERR = 10,      /**< no memory, or another error of the system */
};

/** Decoding goes on: a warning or an error does not stop it. */
static inline int PUG_RESP_IS_CONT(enum pug_response response)
{
    return response < PUG_RESP_WAIT;
}

/** The consumer waits: FLUSH is due. */
static inline int PUG_RESP_IS_WAIT(enum pug_response response)
{
    return response >= PUG_RESP_WAIT && response < PUG_RESP_FATAL_NOT_INIT;
}

/** Decoding cannot go on. */
static inline int PUG_RESP_IS_FATAL(enum pug_response response)
{
    return response >= PUG_RESP_FATAL_NOT_INIT;
}

/** A status in a few words, of a message: "program memory not accessible". Never NULL. */
const char *pug_status_text(enum pug_status status);

/** What it means, or what can be done, in a sentence; "" for a number that is no status. */
const char *pug_status_help(enum pug_status status);

/** The reference's name for a status ("OCSD_ERR_FAIL"), or NULL where it has none. */
const char *pug_status_reference_name(enum pug_status status);

/** The reference's description of a status, spelled as it spells it, or NULL. */
const char *pug_status_reference_text(enum pug_status status);

/** Why a file could not be read. */
struct pug_read_failure {
    const char *path;       /**< of a file of the image, the capture's, or "program memory" */
    uint64_t offset;        /**< in the file */
    enum pug_status status; /**< PUG_ERR_MEM, PUG_ERR_FILE, PUG_ERR_TRUNCATED: it has shrunk */
    int reason;             /**< PUG_ERR_FILE: errno */
    uint64_t spare[2];      /**< zero */
};

#ifdef __cplusplus
}
#endif

#include "pugmark/status_names.h" /* the names until 0.3 */

#endif
