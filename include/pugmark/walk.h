// SPDX-License-Identifier: MIT
/**
 * @file Walks: the instructions of a range element, one by one.
 *
 * A PUG_ELEM_INSTR_RANGE says from where to where a processor ran; what lies between is in program
 * memory. A walk reads it there, in the memory space and context that the element has, and returns
 * each instruction's address, size, bytes and class:
 *
 *     struct pug_walk *walk;
 *     pug_capture_walk(origin, &walk);             // the memory that these elements ran in
 *     ...
 *     pug_walk_begin(walk, element);
 *     while ((step = pug_walk_next(walk)))
 *         printf("%" PRIx64 " %u bytes\n", step->address, step->insn.size);
 *     if (pug_walk_status(walk) != PUG_OK)
 *         ...                                  // not all of it: memory is missing
 *
 * A walk keeps what it found, so that code which runs again costs a look. It belongs to one thread
 * at a time and borrows the image, which must outlive it; several walks may share one image.
 */
#ifndef PUGMARK_WALK_H
#define PUGMARK_WALK_H

#include "pugmark/element.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Most bytes that an instruction has. */
#define PUG_STEP_BYTES 8

struct pug_image;
struct pug_isa_config;

/** One instruction, classified. */
struct pug_insn {
    uint64_t target;   /**< of a direct branch */
    uint64_t constant; /**< RISC-V: value of a CONSTANT; offset of an indirect jump */
    uint8_t type;      /**< enum pug_instr_type */
    uint8_t subtype;   /**< enum pug_instr_subtype */
    uint8_t size;      /**< bytes */
    uint8_t next_isa;  /**< at the target of a direct branch */
    bool link;         /**< writes a return address (RISC-V: into a link register) */
    bool conditional;  /**< may fail its condition */
    bool table_jump;   /**< RISC-V: `target` is the address of the word that holds the target */
    uint8_t kind;      /**< enum pug_riscv_kind */
    uint8_t rd, rs1;   /**< RISC-V: of CONSTANT and of jumps; rs1 0: no register holds the target */
    uint8_t access;    /**< RISC-V: memory accesses that data trace counts (0 none) */
    bool csr;          /**< RISC-V: a CSR access, which data trace may report too */
    bool special;      /**< the code map's: taken, it does not just go to `target` */
};

/** One instruction of a range. */
struct pug_step {
    uint64_t address;              /**< of the instruction */
    uint8_t bytes[PUG_STEP_BYTES]; /**< insn.size of them, in the order of memory */
    struct pug_insn insn; /**< its size and what it does to the flow, whatever a decoder minds */
    uint8_t isa;          /**< enum pug_isa */
    bool last;            /**< the range ends with it */
    bool executed;     /**< it was executed; of the last one: and, if it is a branch, was taken */
    uint64_t spare[2]; /**< zero */
};

struct pug_origin;
struct pug_walk;

/**
 * Makes a walk through the program memory of an origin (capture.h), for the caller to free before
 * the capture. It is right for all origins of the same `space`. PUG_ERR_NOT_FOUND: the memory there
 * is unknown; else as pug_walk_new().
 */
enum pug_status pug_capture_walk(const struct pug_origin *origin, struct pug_walk **walk);

/** The input of a walk through an image from elsewhere. */
struct pug_walk_config {
    const struct pug_image *image;    /**< program memory; not NULL */
    const struct pug_isa_config *isa; /**< used during the call; NULL: classify all that is known */
    uint64_t spare[4];                /**< zero */
};

/**
 * Make a walk; the caller frees it. PUG_ERR_INVALID_PARAM_VAL: a pointer that must not be NULL is;
 * PUG_ERR_MEM: no memory. *walk is NULL then.
 */
enum pug_status pug_walk_new(const struct pug_walk_config *config, struct pug_walk **walk);

/** NULL is no walk, and left alone. */
void pug_walk_free(struct pug_walk *walk);

/**
 * Begin at the first instruction of a range. The element is not needed any more afterwards.
 * PUG_ERR_INVALID_PARAM_TYPE: it is no PUG_ELEM_INSTR_RANGE; the walk has no instructions then.
 */
enum pug_status pug_walk_begin(struct pug_walk *walk, const struct pug_element *range);

/** The next instruction, valid until the next call; NULL: there are no more that can be read. */
const struct pug_step *pug_walk_next(struct pug_walk *walk);

/**
 * Only the addresses of the next instructions, at most `room`; returns how many, 0 after the last
 * one. Cheaper than pug_walk_next(), and where all instructions have one size no memory is read. An
 * instruction whose size is unknown, because its memory is missing, still has its address; those
 * after it have none.
 */
size_t pug_walk_addresses(struct pug_walk *walk, uint64_t *addresses, size_t room);

/**
 * How the walk stands: PUG_OK unless an instruction could not be read. PUG_ERR_MEM_NACC: memory is
 * missing; PUG_ERR_UNSUPPORTED_ISA: the instruction set is not known; PUG_ERR_TRACE_MISMATCH: the
 * instructions do not end where the range does, so this is not the program that ran; others are
 * those of pug_image_read() and pug_isa_classify().
 */
enum pug_status pug_walk_status(const struct pug_walk *walk);

#ifdef __cplusplus
}
#endif
#endif
