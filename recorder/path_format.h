// SPDX-License-Identifier: MIT
/**
 * @file The bytes of a path file: see docs/book/formats/path.md. Shared by the writer and the
 * reader. Numbers are LEB128, unsigned, unless something else is said.
 */
#ifndef PUG_RECORDER_PATH_FORMAT_H
#define PUG_RECORDER_PATH_FORMAT_H

#include <stdint.h>

#define REC_PATH_MAGIC      "pugpath\2" /* the last byte is the version; 1 is still read */
#define REC_PATH_MAGIC_SIZE 8u
#define REC_PATH_OLDEST     1u

/** The instruction sets of one processor. */
enum rec_path_family {
    REC_FAMILY_A64 = 1,
    REC_FAMILY_ARM, /**< A32 and T32 */
    REC_FAMILY_RV32,
    REC_FAMILY_RV64,
};

/** Bits of the header's flags. */
enum rec_path_flags {
    REC_PATH_SYSTEM = 1, /**< a whole machine, not one process */
    REC_PATH_DATA = 2,   /**< the path has accesses to memory, too */
    REC_PATH_TRAPS = 4,  /**< from version 2 on: every exception and every return is in the path */
};

/** The kind of a record, in its first byte. */
enum rec_path_record {
    REC_PATH_BLOCK = 'B',
    REC_PATH_EVENTS = 'E',
    REC_PATH_TASK = 'T',
    REC_PATH_MAP = 'M',
    REC_PATH_PROGRAM = 'P',
    REC_PATH_CORE = 'C', /**< from version 2 on */
    REC_PATH_END = 'Z',
};

enum rec_path_isa { REC_PATH_A64, REC_PATH_A32, REC_PATH_T32, REC_PATH_RISCV };

/**
 * Events of one processor. Even: half of it is a count of blocks that each followed its predecessor
 * as the last time. Odd: bits 1 to 3 are one of these, the rest is its operand.
 */
enum rec_path_event {
    REC_EVENT_BLOCK,     /**< operand: the block that runs next */
    REC_EVENT_CUT,       /**< operand: so many instructions of the last block retired, no more */
    REC_EVENT_SYSCALL,   /**< operand: the number; the last instruction asked for it */
    REC_EVENT_TRAP,      /**< operand: see enum rec_path_trap_bits; an address + 1 follows, or 0 */
    REC_EVENT_CONTEXT,   /**< operand: the context id (address space) from here on */
    REC_EVENT_PRIVILEGE, /**< operand: exception level or privilege mode from here on */
    REC_EVENT_TIME,      /**< operand: nanoseconds since the last one */
    REC_EVENT_GAP,       /**< operand 0: something that ran is not in the path; else an access */
};

/**
 * Of an access: 1 + (instruction of the last block << 5 | value known << 4 | store << 3 | size);
 * 2^size bytes. Follow: the address, as a difference to the one before in the same record, bit 0
 * its sign; and where it is known the value.
 */
enum rec_path_access_bits {
    REC_ACCESS_SIZE = 7,
    REC_ACCESS_STORE = 8,
    REC_ACCESS_KNOWN = 16,
    REC_ACCESS_INSN = 5, /**< shift */
};

/** A size: of a control register, whose number is the address. */
#define REC_ACCESS_REGISTER 7u

enum rec_path_trap {
    REC_TRAP_SIGNAL,    /**< a signal's handler runs next, in the same privilege */
    REC_TRAP_EXCEPTION, /**< synchronous: a fault, an undefined instruction */
    REC_TRAP_INTERRUPT,
    REC_TRAP_CALL,   /**< to a supervisor, whose handler is in the path */
    REC_TRAP_RETURN, /**< from an exception: the last instruction was such a return. The address is
                        where execution goes on. Without one, an exception is tail-chained. */
    REC_TRAP_KINDS
};

/** Operand of a trap: its kind, and above it the exception's number + 1, or 0 (unknown). */
enum rec_path_trap_bits {
    REC_TRAP_KIND = 7,
    REC_TRAP_NUMBER = 3, /**< shift */
};

#define REC_TRAP_RISCV_INTERRUPT UINT32_C(0x80000000) /* such a number is an interrupt's cause */

/* Bounds that a reader relies on. */
#define REC_PATH_BLOCK_BYTES 8192u /**< of one block */
#define REC_PATH_NAME_BYTES  4096u
#define REC_PATH_CPUS        1024u
#define REC_PATH_CHUNK_BYTES (1u << 20)
#define REC_PATH_ACCESSES    65536u /* of one block */

/**
 * Repeated blocks that each byte permits, beside the first 2^24: a loop of 2^27 rounds is a file of
 * 129 bytes.
 */
#define REC_PATH_EXPANSION (UINT32_C(1) << 20)

/** The address space that a RISC-V core's satp says. */
static inline uint32_t rec_path_asid(enum rec_path_family family, uint64_t satp)
{
    return family == REC_FAMILY_RV32 ? satp >> 22 & 0x1ff : satp >> 44 & 0xffff;
}

/** A difference, small ones as small numbers; and back. */
static inline uint64_t rec_path_fold(uint64_t difference)
{
    return difference << 1 ^ (0 - (difference >> 63));
}

static inline uint64_t rec_path_unfold(uint64_t folded)
{
    return folded >> 1 ^ (0 - (folded & 1));
}

#endif
