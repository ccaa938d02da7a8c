// SPDX-License-Identifier: MIT
/** @file Generic trace elements: what every protocol's decoder gives. */
#ifndef PUGMARK_ELEMENT_H
#define PUGMARK_ELEMENT_H

#include "pugmark/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Kinds of element. 0 to 19 are the reference architecture's, in its order. */
enum pug_element_type {
    PUG_ELEM_UNKNOWN,         /**< decode error, or something the protocol cannot name */
    PUG_ELEM_NO_SYNC,         /**< waiting for synchronisation; `reason` is an enum pug_unsync */
    PUG_ELEM_TRACE_ON,        /**< trace (re)starts; `reason` is an enum pug_trace_on; `number` is
                               * how many events were lost, if the trace says so */
    PUG_ELEM_EO_TRACE,        /**< end of trace; `reason` is an enum pug_unsync */
    PUG_ELEM_PE_CONTEXT,      /**< security, exception level, context id, VMID, ISA; `reason` 1:
                                   a virtualised privilege mode (RISC-V) */
    PUG_ELEM_INSTR_RANGE,     /**< executed: `start` to `end`, `count` instructions */
    PUG_ELEM_I_RANGE_NOPATH,  /**< executed from `start` to `end`, path unknown; `reason` is an enum
                                   pug_nopath; `value` the last instruction where
                                   PUG_ELEM_HAS_VALUE, and PUG_JUMP_FLAGS() what it was */
    PUG_ELEM_ADDR_NACC,       /**< program memory at `start` is not there; `number` memory space */
    PUG_ELEM_ADDR_UNKNOWN,    /**< the address is not known */
    PUG_ELEM_EXCEPTION,       /**< exception `number`, return address `end` where flagged; `reason`
                                   is an enum pug_exception_numbers */
    PUG_ELEM_EXCEPTION_RET,   /**< return from an exception */
    PUG_ELEM_TIMESTAMP,       /**< `timestamp` */
    PUG_ELEM_CYCLE_COUNT,     /**< `cycle_count` */
    PUG_ELEM_EVENT,           /**< `reason` is an enum pug_event_kind, `number` the event */
    PUG_ELEM_SWTRACE,         /**< software trace: `master`, `channel`, `value` or payload */
    PUG_ELEM_SYNC_MARKER,     /**< `reason` is the kind (0: timestamp marker), `number` its value */
    PUG_ELEM_MEMTRANS,        /**< transaction; `reason` is an enum pug_memtrans */
    PUG_ELEM_INSTRUMENTATION, /**< instrumentation extension: `level`, `value` */
    PUG_ELEM_ITMTRACE,        /**< ITM or DWT; `reason` is an enum pug_itm_kind */
    PUG_ELEM_CUSTOM,          /**< from an external protocol; payload is its own */
    /* Pugmark's own */
    PUG_ELEM_DATA_ADDRESS, /**< data access at `start`; `reason` enum pug_access, `last_size` bytes;
                                `end` is the instruction where PUG_ELEM_HAS_PC */
    PUG_ELEM_DATA_VALUE,   /**< the same with `value`; address where PUG_ELEM_HAS_ADDRESS */
    PUG_ELEM_BUS_TRANSFER, /**< seen on a bus, for external protocols: `start` the address, `reason`
                                enum pug_access, `last_size` bytes, `value` where
                                PUG_ELEM_HAS_VALUE, PUG_BUS_MASTER(); `end` is the time where
                                PUG_ELEM_HAS_TS */
    PUG_ELEM_TYPE_COUNT
};

/** Why there is no synchronisation. */
enum pug_unsync {
    PUG_UNSYNC_UNKNOWN,       /**< unknown */
    PUG_UNSYNC_INIT_DECODER,  /**< the decoder is new */
    PUG_UNSYNC_RESET_DECODER, /**< it was reset */
    PUG_UNSYNC_OVERFLOW,      /**< the trace unit lost trace */
    PUG_UNSYNC_DISCARD,       /**< the trace unit dropped what it held */
    PUG_UNSYNC_BAD_PACKET,    /**< a packet made no sense */
    PUG_UNSYNC_BAD_IMAGE,     /**< trace and program do not fit */
    PUG_UNSYNC_EOT,           /**< the trace is over */
    PUG_UNSYNC_DROPPED,       /**< bytes of a live input did not fit: `value` of them */
};

/** Why tracing begins, or goes on. */
enum pug_trace_on { PUG_TRACE_ON_NORMAL, PUG_TRACE_ON_OVERFLOW, PUG_TRACE_ON_EX_DEBUG };
/** Why the path of a range is not known. */
enum pug_nopath {
    PUG_NOPATH_OPEN,   /**< there may be several ways */
    PUG_NOPATH_BROKEN, /**< the code has no way: a trap or something untraced lies between */
    PUG_NOPATH_ENTRY,  /**< where control came from is not known: `start` is the last instruction,
                            a jump that was executed, or (change of mode) where the core was */
};
/** Bits of PUG_JUMP_FLAGS(): what a trace itself says of the last instruction of a NOPATH range. */
enum pug_jump_flag { PUG_JUMP_CALL = 1 << 0, PUG_JUMP_RETURN = 1 << 1 };
/** The kind of an event. */
enum pug_event_kind {
    PUG_EVENT_UNKNOWN,
    PUG_EVENT_TRIGGER,  /**< `number`: which one, where there are several */
    PUG_EVENT_NUMBERED, /**< `number` */
    /* Pugmark's own: points in the program beside the flow. PUG_ELEM_HAS_ADDRESS: `start` is it. */
    PUG_EVENT_PC_SAMPLE,
    PUG_EVENT_WATCHPOINT, /**< `number`: which one */
    PUG_EVENT_CALL, /**< a call or return at `start`, which went to `end` where that is not 0 */
    PUG_EVENT_EXCEPTION, /**< before the instruction at `start`; `number`: its cause */
    PUG_EVENT_INTERRUPT, /**< the same */
    PUG_EVENT_CONTEXT,   /**< `value`: the new one, as the trace has it */
    PUG_EVENT_CONTROL,   /**< `number`: what was turned on or off, as the trace has it */
    PUG_EVENT_KINDS
};
/** The event of a memory transaction. */
enum pug_memtrans { PUG_MEMTRANS_INIT, PUG_MEMTRANS_START, PUG_MEMTRANS_COMMIT, PUG_MEMTRANS_FAIL };

/** The kind of an ITM's element. */
enum pug_itm_kind {
    PUG_ITM_SWIT,     /**< stimulus port `number`, `value` of `last_size` bytes */
    PUG_ITM_DWT,      /**< hardware source `number`, `value` of `last_size` bytes */
    PUG_ITM_TS_SYNC,  /**< local timestamp, by how it relates to the packets before it: */
    PUG_ITM_TS_DELAY, /**< `value` is the difference, `timestamp` the sum */
    PUG_ITM_TS_PKT_DELAY,
    PUG_ITM_TS_PKT_TS_DELAY,
    PUG_ITM_TS_GLOBAL, /**< `timestamp` */
};

/** Bits of PUG_ITM_FLAGS(). */
enum pug_itm_flag {
    PUG_ITM_GUESSED = 1 << 0, /**< decoding began by a guess, not at a synchronisation point */
};

/** The numbering of exceptions. */
enum pug_exception_numbers {
    PUG_EXCEPTIONS_UNNAMED, /**< unknown */
    PUG_EXCEPTIONS_ARMV7,   /**< ETMv3 and PTM: A and R profiles */
    PUG_EXCEPTIONS_ARMV7M,  /**< ETMv3: M profile */
    PUG_EXCEPTIONS_ARMV8,   /**< ETMv4 and ETE: A and R profiles */
    PUG_EXCEPTIONS_ARMV8M,  /**< ETMv4: M profile */
    PUG_EXCEPTIONS_RISCV,   /**< the cause; of an interrupt with bit 31 set */
    PUG_EXCEPTIONS_KINDS,   /**< no cause: 0, 1 some trap, 2 an exception, 3 an interrupt */
};

/** Data accesses (E-Trace dtype numbering; ETMv3 uses LOAD and STORE). */
enum pug_access {
    PUG_ACCESS_LOAD = 0,
    PUG_ACCESS_STORE = 1,
    PUG_ACCESS_UNKNOWN = 2,
    PUG_ACCESS_CSR_RW = 4,
    PUG_ACCESS_CSR_RS = 5,
    PUG_ACCESS_CSR_RC = 6,
    PUG_ACCESS_CAS_FAIL = 7,
    PUG_ACCESS_SWAP = 8,
    PUG_ACCESS_ADD = 9,
    PUG_ACCESS_AND = 10,
    PUG_ACCESS_OR = 11,
    PUG_ACCESS_XOR = 12,
    PUG_ACCESS_MAX = 13,
    PUG_ACCESS_MIN = 14,
    PUG_ACCESS_SC_FAIL = 15,
    PUG_ACCESS_OPERAND = 0x10, /**< bit: `value` is the operand of the atomic or CSR access */
};

/** Instruction sets. 0 to 6 are the reference's numbers. */
enum pug_isa {
    PUG_ISA_A32,
    PUG_ISA_T32,
    PUG_ISA_A64,
    PUG_ISA_TEE,
    PUG_ISA_JAZELLE,
    PUG_ISA_CUSTOM,
    PUG_ISA_UNKNOWN,
    PUG_ISA_RV32,
    PUG_ISA_RV64,
    PUG_ISA_COUNT
};

/** The effect of a range's last instruction on the flow. */
enum pug_instr_type {
    PUG_INSTR_OTHER,
    PUG_INSTR_BR,          /**< direct branch */
    PUG_INSTR_BR_INDIRECT, /**< indirect branch */
    PUG_INSTR_ISB,
    PUG_INSTR_DSB_DMB,
    PUG_INSTR_WFI_WFE,
    PUG_INSTR_TSTART,
};

/** Further properties of a branch. */
enum pug_instr_subtype {
    PUG_SUB_NONE,
    PUG_SUB_BR_LINK,
    PUG_SUB_V8_RET,
    PUG_SUB_V8_ERET,
    PUG_SUB_V7_IMPLIED_RET,
    PUG_SUB_RETURN,           /**< RISC-V function return */
    PUG_SUB_EXCEPTION_RETURN, /**< RISC-V xRET */
};

/** Security states. */
enum pug_security { PUG_SEC_SECURE, PUG_SEC_NONSECURE, PUG_SEC_ROOT, PUG_SEC_REALM };

/** Bits of `flags`. */
enum pug_element_flag {
    PUG_ELEM_EXECUTED = 1 << 0,    /**< the last instruction was executed / taken ("E") */
    PUG_ELEM_CONDITIONAL = 1 << 1, /**< the last instruction may fail its condition */
    PUG_ELEM_HAS_CC = 1 << 2,      /**< `cycle_count` is valid, on any type */
    PUG_ELEM_HAS_TS =
        1 << 3, /**< `timestamp` is valid on SWTRACE; set by ETMv3, PTM on TIMESTAMP */
    PUG_ELEM_FREQ_CHANGE = 1 << 4,     /**< the clock frequency changed */
    PUG_ELEM_RET_ADDR = 1 << 5,        /**< EXCEPTION: `end` is the preferred return address */
    PUG_ELEM_RET_ADDR_BR_TGT = 1 << 6, /**< EXCEPTION: and the target of the branch before it */
    PUG_ELEM_M_TAIL_CHAIN = 1 << 7,    /**< EXCEPTION: M profile tail chain */
    PUG_ELEM_DATA_MARKER = 1 << 8,     /**< EXCEPTION: a data marker */
    PUG_ELEM_PAYLOAD = 1 << 9,      /**< `payload` points to `count` bytes, valid during the call */
    PUG_ELEM_HAS_PC = 1 << 10,      /**< DATA_*: `end` is the address of the instruction */
    PUG_ELEM_HAS_ADDRESS = 1 << 11, /**< DATA_VALUE, EVENT: `start` is the address */
    /** EXCEPTION: `value` is the trap value; NOPATH, BUS_TRANSFER: it is valid. */
    PUG_ELEM_HAS_VALUE = 1 << 12,
    PUG_ELEM_OVERFLOW = 1 << 13,   /**< ITMTRACE, DATA_*: trace was lost before this */
    PUG_ELEM_BIG_ENDIAN = 1 << 14, /**< DATA_*: a big-endian transfer */
    /** `cycle_count` is said once more with the next one (TIMESTAMP of ETMv4): no sum has it. */
    PUG_ELEM_CC_APART = 1 << 15,
};

/** Bits of `context_flags`. */
enum pug_context_flag {
    PUG_CTX_BITS64 = 1 << 0,
    PUG_CTX_CONTEXT_ID = 1 << 1, /**< `context_id` is valid */
    PUG_CTX_VMID = 1 << 2,       /**< `vmid` is valid */
    PUG_CTX_LEVEL = 1 << 3,      /**< `level` is valid */
};

/** Bits of `sw_flags`, for SWTRACE. */
enum pug_sw_flag {
    PUG_SW_ID_VALID = 1 << 0,
    PUG_SW_MARKER = 1 << 1,
    PUG_SW_MARKER_FIRST = 1 << 2,
    PUG_SW_TRIGGER = 1 << 3,
    PUG_SW_FREQUENCY = 1 << 4,
    PUG_SW_MASTER_ERROR = 1 << 5,
    PUG_SW_GLOBAL_ERROR = 1 << 6,
    PUG_SW_OVERFLOW = 1 << 7, /**< events were lost; `value` is how many */
};

/**
 * One element. Plain data; fields that a type does not define are zero, but for `isa` and the
 * context, which program-flow protocols keep current in every element.
 */
struct pug_element {
    uint64_t index; /**< trace index of the first byte of the packet that gave it */
    PUG_EXTENSION union {
        uint64_t start;      /**< first address */
        const void *payload; /**< with PUG_ELEM_PAYLOAD */
    };
    PUG_EXTENSION union {
        uint64_t end;       /**< address after the last instruction; return address */
        uint64_t timestamp; /**< TIMESTAMP, SWTRACE, ITMTRACE */
    };
    uint64_t value; /**< SWTRACE, ITMTRACE, INSTRUMENTATION, DATA_VALUE, EXCEPTION, NOPATH */
    PUG_EXTENSION union {
        uint32_t count;  /**< instructions of a range; bytes of a payload */
        uint32_t number; /**< exception, event, marker, memory space, ITM source */
    };
    uint32_t cycle_count;  /**< since the last one, where PUG_ELEM_HAS_CC says that there is one */
    uint32_t context_id;   /**< where context_flags say that it is known */
    uint32_t vmid;         /**< where context_flags say that it is known */
    uint16_t source;       /**< trace id of the source */
    uint8_t security;      /**< enum pug_security */
    int8_t level;          /**< exception level */
    uint8_t context_flags; /**< enum pug_context_flag */
    uint8_t sw_flags;      /**< enum pug_sw_flag */
    uint8_t sw_bits;       /**< SWTRACE: payload bits per packet, 0: various */
    uint8_t sw_packets;    /**< SWTRACE: packets aggregated into the payload */
    uint16_t flags;        /**< enum pug_element_flag */
    uint8_t type;          /**< enum pug_element_type */
    uint8_t reason;        /**< the enum that the type names */
    uint8_t last_type, last_subtype, last_size; /**< last instruction of a range; size in bytes */
    uint8_t isa;                                /**< enum pug_isa */
};

/** Are the element's cycles part of the sum of cycles? */
static inline bool pug_element_adds_cycles(const struct pug_element *element)
{
    return (element->flags & (PUG_ELEM_HAS_CC | PUG_ELEM_CC_APART)) == PUG_ELEM_HAS_CC;
}

/* Bits of I_RANGE_NOPATH where those of software trace would be. */
/** In a Core Trace Module's range: bit 0 call, bit 1 return. */
#define PUG_JUMP_FLAGS(e) ((e)->sw_flags)

/* `master` and `channel` of software trace share the words that a context would use. */
/* Bits of ITMTRACE where those of software trace would be: enum pug_itm_flag. */
/** In PUG_ELEM_ITMTRACE: bits of enum pug_itm_flag. */
#define PUG_ITM_FLAGS(e) ((e)->sw_flags)
/** In PUG_ELEM_SWTRACE: the master. */
#define PUG_SW_MASTER(e) ((e)->context_id)
/** In PUG_ELEM_SWTRACE: the channel. */
#define PUG_SW_CHANNEL(e) ((e)->vmid)
/** In PUG_ELEM_BUS_TRANSFER: the bus master. */
#define PUG_BUS_MASTER(e) ((e)->context_id)

/**
 * Takes a batch of elements. Sets *taken to how many it took, in order, the one it answers WAIT or
 * fatal to included; with a "go on" answer all count as taken. Elements are valid during the call.
 */
typedef enum pug_response pug_elements_fn(void *context, const struct pug_element *elements,
                                          size_t count, size_t *taken);

/** Takes one element. */
typedef enum pug_response pug_element_fn(void *context, const struct pug_element *element);

/*
 * Words for numbers. None of these functions returns NULL where it says nothing else; a number
 * without a name has some word for that.
 */

/** Name of an element type as the reference has it without its prefix: "INSTR_RANGE". */
const char *pug_element_type_name(enum pug_element_type type);

/**
 * The element in words, "OCSD_GEN_TRC_ELEM_" forms without that prefix: `NAME(details)`. They are
 * the reference's but for the names of exceptions, which are left out where `reason` is 0. Writes
 * at most `size` bytes with the closing NUL and returns the length of the whole text.
 */
size_t pug_element_text(const struct pug_element *element, char *buffer, size_t size);

/**
 * Writes the element as a sentence for people: "exception 2, returns to 0x4000e8". The words may
 * change from one version to the next; what is parsed takes the fields.
 */
size_t pug_element_words(const struct pug_element *element, char *buffer, size_t size);

/** What happened, for an EVENT's `reason`: "trigger", "pc sample", "watchpoint" … */
const char *pug_event_kind_name(enum pug_event_kind kind);

/** An element's `reason` in words, by its type: "overflow", "load"; NULL where it has none. */
const char *pug_element_reason_name(const struct pug_element *element);

/** A RISC-V privilege mode by the low two bits of its level: "user", "supervisor", "machine". */
const char *pug_riscv_mode_name(unsigned level);

/**
 * An exception by its architecture's name: "IRQ", "data abort", "machine timer"; "" where it has
 * none. Writes at most `size` bytes with the closing NUL and returns the length of the whole text.
 */
size_t pug_exception_name(enum pug_exception_numbers numbers, uint32_t number, char *buffer,
                          size_t size);

/**
 * The same with its number: "exception 14 (IRQ)", "interrupt 7 (machine timer)", "exception 40".
 */
size_t pug_exception_text(enum pug_exception_numbers numbers, uint32_t number, char *buffer,
                          size_t size);

/**
 * The place of an M profile exception in the vector table: 1 reset, 2 NMI … 15 SysTick, 16 + n
 * external interrupt n; pug_vector_symbol() (image.h) names its handler. 0: it has none.
 */
unsigned pug_exception_vector(enum pug_exception_numbers numbers, uint32_t number);

/** What an instruction does, in a word or two: "branch", "indirect branch". */
const char *pug_instr_type_name(enum pug_instr_type type);
/** What a branch is besides, in a word or two: "call", "return"; "none". */
const char *pug_instr_subtype_name(enum pug_instr_subtype subtype);
/** A security state in a word: "non-secure". */
const char *pug_security_name(enum pug_security security);

/** An instruction set: "A64", "T32" … */
const char *pug_isa_name(enum pug_isa isa);

#ifdef __cplusplus
}
#endif
#endif
