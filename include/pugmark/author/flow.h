// SPDX-License-Identifier: MIT
/**
 * @file For authors of protocols of program flow: the code that a decoder walks, block by block.
 *
 * A protocol with `program_flow` set has a code map in each source: cached basic blocks of the
 * program memory, found through the tree's image. A decoder that knows an address asks for the
 * block there, which ends where the trace must say how execution goes on, and pushes its range:
 *
 *     pug_flow_block(stage, address, PUG_ISA_A64, 0, &block);
 *     if (block.count > 0)
 *         pug_flow_push(stage, index, &block, taken);
 *     address = taken ? block.insn.target : block.end;
 *
 * Memory is that of the space and context in force (pug_flow_space()); elements that the decoder
 * pushes carry what stage->out.blank says of them. Before a memory callback is asked the batch is
 * delivered, so that who answers knows the context: elements that were pushed before a call of
 * these functions cannot be changed any more.
 *
 * A stage belongs to one source, and to the thread that drives its tree. `stage` must not be NULL,
 * and its protocol must have program flow.
 */
#ifndef PUGMARK_AUTHOR_FLOW_H
#define PUGMARK_AUTHOR_FLOW_H

#include "pugmark/advanced/isa.h"
#include "pugmark/author/protocol.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Why a block ends where it ends. */
enum pug_flow_end {
    PUG_FLOW_BRANCH,    /**< its last instruction is not OTHER, or is a RISC-V trap */
    PUG_FLOW_LONG,      /**< it is as long as a block may be; execution goes on at `end` */
    PUG_FLOW_NO_MEMORY, /**< memory at `end` is not there; `count` may be 0 */
    PUG_FLOW_ERROR,     /**< the instruction at `end` is in error: `status` */
};

/** Instructions that run one after the other. */
struct pug_flow_block {
    uint64_t start, end;  /**< end: the address after the last instruction */
    uint64_t last;        /**< address of the last instruction (count > 0) */
    struct pug_insn insn; /**< the last instruction (count > 0) */
    uint32_t count;       /**< instructions */
    uint8_t ending;       /**< enum pug_flow_end */
    uint8_t isa;          /**< enum pug_isa */
    uint8_t it_after;     /**< T32: instructions left in an IT block after it */
    int16_t status;       /**< enum pug_status of an ERROR */
};

/** What the decoder's configuration says of instructions; the quirks stay the tree's. */
void pug_flow_configure(struct pug_stage *stage, const struct pug_isa_config *config);

/** The space to read in from now on; `source` is filled in. At first it is every space. */
void pug_flow_space(struct pug_stage *stage, const struct pug_reader_space *space);

/** The trace says that the context changed: what callbacks gave may be something else now. */
void pug_flow_context_changed(struct pug_stage *stage);

/** The block that begins at `address`; `it` is 0 unless T32 in an IT block. */
void pug_flow_block(struct pug_stage *stage, uint64_t address, enum pug_isa isa, uint8_t it,
                    struct pug_flow_block *block);

/**
 * One instruction. `it` is in and out as in pug_isa_classify(). PUG_ERR_NO_PROGRAM_MEMORY: memory
 * is not there; others are those of the classifier and of pug_image_read().
 */
enum pug_status pug_flow_insn(struct pug_stage *stage, uint64_t address, enum pug_isa isa,
                              uint8_t *it, struct pug_insn *insn);

/** Bytes of program memory; returns how many there are, up to `wanted`. */
uint32_t pug_flow_read(struct pug_stage *stage, uint64_t address, void *buffer, uint32_t wanted);

/**
 * Push a block (count > 0) as an INSTR_RANGE; `executed`: the last instruction was, or, of a
 * branch, was taken. The element can be completed until the next call of any of these functions.
 * One step's worth of elements, as pug_out_push().
 */
struct pug_element *pug_flow_push(struct pug_stage *stage, uint64_t index,
                                  const struct pug_flow_block *block, bool executed);

#ifdef __cplusplus
}
#endif
#endif
