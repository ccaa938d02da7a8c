// SPDX-License-Identifier: MIT
/** @file The decoder's own shape, shared by its files. */
#ifndef PUG_PTM_DECODER_H
#define PUG_PTM_DECODER_H

#include "counts/paths.h"
#include "protocol/ptm/ptm.h"

#define PUG_PTM_STACK_ENTRIES 16u

/** Return addresses that E atoms on indirect branches may refer to. The oldest is overwritten. */
struct pug_ptm_stack {
    struct {
        uint64_t address;
        uint8_t isa;
    } entries[PUG_PTM_STACK_ENTRIES];
    unsigned top, count;
};

enum pug_ptm_decoder_state {
    PUG_PTM_NO_SYNC,
    PUG_PTM_WAIT_SYNC,
    PUG_PTM_WAIT_ISYNC,
    PUG_PTM_DECODE,
};

struct pug_ptm_decoder {
    const struct pug_ptm_config *config;
    struct pug_stage *stage;
    struct pug_codemap *code;
    enum pug_ptm_decoder_state state;
    uint8_t reason;  /**< enum pug_unsync, of the next NO_SYNC */
    uint64_t index;  /**< of the last packet */
    bool need_isync; /**< the next I-sync starts the trace */

    /* where the processor is */
    uint64_t address;
    struct pug_armv7_address told; /**< what address packets are relative to */
    bool has_address;
    uint8_t isa;
    uint8_t it; /**< instructions of an IT block that are still to come, where it goes on */
    struct pug_ptm_stack stack;

    /* where a run ended: after a block whose next block is known */
    const struct pug_block *from; /**< or NULL */
    uint32_t from_epoch;          /**< of the code map; it holds while that stays the same */
    bool from_executed;           /**< if it ends in a branch, by that */
    /** Or at one that is not usual: the next walk begins with it, and asks for no memory again. */
    const struct pug_block *unusual;
    struct pug_chain chain; /**< of the fast path that counts */
    bool counts;            /**< it does */

    /* suspended before a packet or one of its atoms, or before the end of trace */
    struct pug_packet packet;
    unsigned done; /**< atoms of it */
    bool at_end;
};

/** The purpose of a walk. */
struct pug_ptm_walk {
    const struct pug_ptm_packet *packet;
    const char *what; /**< "atom", "BranchAddr", "WP update" */
    bool executed;    /**< E */
    bool atom;        /**< no address: an indirect branch returns by the stack */
    bool behind;      /**< other walks of the packet were before this one */
};

/** An element with this packet's index. */
struct pug_element *pug_ptm_put(struct pug_ptm_decoder *decoder, enum pug_element_type type);

/** The cycle count of a packet, if it has one, goes with an element. */
void pug_ptm_put_cycles(struct pug_element *element, const struct pug_ptm_packet *packet);

/** A branch packet says where the processor is. */
void pug_ptm_branch_to(struct pug_ptm_decoder *decoder, const struct pug_ptm_packet *packet);

/** The element of a timestamp. */
void pug_ptm_timestamp(struct pug_ptm_decoder *decoder, const struct pug_ptm_packet *packet);

/** The atoms of a packet but for the first `done`. */
enum pug_response pug_ptm_atoms(struct pug_ptm_decoder *decoder,
                                const struct pug_ptm_packet *packet, unsigned done);

/** Is a waypoint a branch that is taken? It ends an IT block. */
static inline bool pug_ptm_jumps(const struct pug_insn *insn, bool executed)
{
    return executed && (insn->type == PUG_INSTR_BR || insn->type == PUG_INSTR_BR_INDIRECT);
}

/** An indirect branch, and nothing in the return stack, or none. */
static inline bool pug_ptm_needs_stack(const struct pug_ptm_decoder *decoder,
                                       const struct pug_insn *insn)
{
    return insn->type == PUG_INSTR_BR_INDIRECT && decoder->stack.count == 0;
}

/** A block that a run ended at, if it still holds; then it is no more to be had. Or NULL. */
const struct pug_block *pug_ptm_take_unusual(struct pug_ptm_decoder *decoder);

/** A taken call: the return address may be referred to. */
void pug_ptm_push(struct pug_ptm_decoder *decoder, uint64_t address, uint8_t isa);

/** On at the return address; false: there is none. */
bool pug_ptm_pop(struct pug_ptm_decoder *decoder);

/** Instructions up to and with the next waypoint; go where it goes. */
enum pug_response pug_ptm_walk(struct pug_ptm_decoder *decoder, const struct pug_ptm_walk *walk);

/** Instructions up to and with the one at `last`. */
enum pug_response pug_ptm_walk_to(struct pug_ptm_decoder *decoder, const struct pug_ptm_walk *walk,
                                  uint64_t last);

#endif
