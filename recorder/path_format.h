// SPDX-License-Identifier: MIT
/**
 * @file The bytes of a path file: see docs/path-format.md. Shared by who writes and who reads it.
 * Numbers are LEB128, unsigned, unless something else is said.
 */
#ifndef PUG_RECORDER_PATH_FORMAT_H
#define PUG_RECORDER_PATH_FORMAT_H

#define REC_PATH_MAGIC      "pugpath\1"
#define REC_PATH_MAGIC_SIZE 8u

/** The instruction sets of one processor. */
enum rec_path_family {
    REC_FAMILY_A64 = 1,
    REC_FAMILY_ARM, /**< A32 and T32 */
    REC_FAMILY_RV32,
    REC_FAMILY_RV64,
};

/** Bits of the header's flags. */
enum rec_path_flags { REC_PATH_SYSTEM = 1 /**< a whole machine, not one process */ };

/** What a record begins with. */
enum rec_path_record {
    REC_PATH_BLOCK = 'B',
    REC_PATH_EVENTS = 'E',
    REC_PATH_TASK = 'T',
    REC_PATH_MAP = 'M',
    REC_PATH_PROGRAM = 'P',
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
    REC_EVENT_TRAP,      /**< operand: enum rec_path_trap; follows: return address + 1, 0 unknown */
    REC_EVENT_CONTEXT,   /**< operand: the context id (address space) from here on */
    REC_EVENT_PRIVILEGE, /**< operand: exception level or privilege mode from here on */
    REC_EVENT_TIME,      /**< operand: nanoseconds since the last one */
    REC_EVENT_GAP,       /**< something that ran is not in the path; operand: 0 */
};

enum rec_path_trap {
    REC_TRAP_SIGNAL,    /**< a signal's handler runs next, in the same privilege */
    REC_TRAP_EXCEPTION, /**< synchronous: a fault, an undefined instruction */
    REC_TRAP_INTERRUPT,
    REC_TRAP_CALL, /**< to a supervisor, whose handler is in the path */
};

/* Bounds that a reader relies on. */
#define REC_PATH_BLOCK_BYTES 8192u /**< of one block */
#define REC_PATH_NAME_BYTES  4096u
#define REC_PATH_CPUS        1024u
#define REC_PATH_CHUNK_BYTES (1u << 20)

#endif
