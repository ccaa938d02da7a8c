// SPDX-License-Identifier: MIT
/** @file Executed paths: reading and writing path files (docs/book/formats/path.md). */
#ifndef PUG_RECORDER_PATH_H
#define PUG_RECORDER_PATH_H

#include "recorder/path_format.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A run of instructions without a branch in it, but at its end. */
struct rec_path_block {
    uint64_t address;
    uint32_t id;          /**< counted from 0 */
    uint32_t size, count; /**< bytes, instructions */
    uint8_t isa;          /**< enum rec_path_isa */
    const uint8_t *bytes; /**< as long as the reader lives */
};

/** An instruction read or wrote memory. */
struct rec_path_access {
    uint64_t address, value;
    uint32_t insn;     /**< of the block */
    uint8_t size;      /**< 2^size bytes; REC_ACCESS_REGISTER: it is no memory */
    bool store, known; /**< known: `value` is */
};

enum rec_path_kind {
    REC_PATH_RAN,     /**< the first `count` instructions of `block` retired; of 0 only the place is
                         known */
    REC_PATH_ASKED,   /**< a system call: `value` is its number */
    REC_PATH_TRAPPED, /**< `value`: enum rec_path_trap; `number` where `numbered`; `address`, where
                         known: to return to, and of a return where execution goes on */
    REC_PATH_IN_CONTEXT,   /**< `value`: context id */
    REC_PATH_IN_PRIVILEGE, /**< `value` */
    REC_PATH_AT,           /**< `value`: nanoseconds */
    REC_PATH_LEFT_OUT,     /**< something that ran is not here */
    REC_PATH_NEW_TASK,     /**< the processor runs another thread: `pid`, `value` its id */
    REC_PATH_MAPPED,       /**< `address`, `size`, `offset` of `text`, a file; "": of none */
    REC_PATH_NAMED,        /**< `text`: the program */
    REC_PATH_IS_CORE,      /**< `text`: what QEMU calls the processors, as "cortex-m33" */
    REC_PATH_ENDED,
    REC_PATH_BAD, /**< `text` says what is wrong */
};

struct rec_path_item {
    enum rec_path_kind kind;
    unsigned cpu;
    const struct rec_path_block *block;
    uint32_t count;
    uint64_t value, address, size, offset, pid;
    bool known; /**< `address` is */
    bool numbered;
    uint32_t number; /**< of an exception, as the architecture counts them */
    const char *text;
    const struct rec_path_access *accesses; /**< RAN, in their order; until the next item */
    uint32_t access_count;
};

struct rec_path_header {
    uint8_t family; /**< enum rec_path_family */
    bool system;
    bool data;       /**< the path has accesses */
    bool traps;      /**< the path has all exceptions and returns */
    uint8_t version; /**< of the file, where it was read */
    uint64_t pid;
};

struct rec_path_reader;

/**
 * Read from a descriptor, which stays the caller's, and of which so many bytes of the magic were
 * read already. NULL: no memory.
 */
struct rec_path_reader *rec_path_reader_new(int file, unsigned had);
void rec_path_reader_free(struct rec_path_reader *reader);
/** Repeated blocks that each byte read so far permits; REC_PATH_EXPANSION where nothing is set. */
void rec_path_reader_set_expansion(struct rec_path_reader *reader, uint32_t expansion);
/** Returns how many bytes of the file were read. */
uint64_t rec_path_reader_at(const struct rec_path_reader *reader);
/** False: it is no path file; `*why` says what is wrong. */
bool rec_path_reader_header(struct rec_path_reader *reader, struct rec_path_header *header,
                            const char **why);
/**
 * The next item. A block is given when what follows it on its processor is read, so that it is
 * known how much of it retired. False with REC_PATH_ENDED and REC_PATH_BAD.
 */
bool rec_path_reader_next(struct rec_path_reader *reader, struct rec_path_item *item);

/** Where items go. False: no more are wanted. */
typedef bool rec_path_take_fn(void *context, const struct rec_path_item *item);

/* ---- writing ---- */

struct rec_path_writer;

/** Write to a descriptor, which stays the caller's. NULL: no memory. */
struct rec_path_writer *rec_path_writer_new(int file, const struct rec_path_header *header);
/** The same that was read, or made. Blocks are known by address and bytes, not by their ids. */
void rec_path_writer_put(struct rec_path_writer *writer, const struct rec_path_item *item);
/** Write the end. False: something could not be written; errno says why. */
bool rec_path_writer_end(struct rec_path_writer *writer);
void rec_path_writer_free(struct rec_path_writer *writer);

/** Bytes of the instruction that begins with these two. */
unsigned rec_path_insn_size(uint8_t isa, const uint8_t *bytes);
/** Is it a call of a supervisor? `bytes`: 4, or 2 of a T32 instruction of that size. */
bool rec_path_is_call(uint8_t isa, const uint8_t *bytes);

#endif
