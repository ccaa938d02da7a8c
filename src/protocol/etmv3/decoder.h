// SPDX-License-Identifier: MIT
/** @file The decoder's own shape, shared by its files. */
#ifndef PUG_ETMV3_DECODER_H
#define PUG_ETMV3_DECODER_H

#include "image/codemap.h"
#include "isa/arm_access.h"
#include "protocol/etmv3/etmv3.h"

/** Most elements that can wait for the next packet. A P-header gives at most 17. */
#define PUG_ETMV3_LIST_SLOTS 96u
#define PUG_ETMV3_LIST_MOST  64

/**
 * The elements of a packet on their way out, in order. The last ones may be held back: a branch
 * packet can still cancel the instruction that was traced last.
 */
struct pug_etmv3_list {
    struct pug_element slots[PUG_ETMV3_LIST_SLOTS];
    int32_t capacity, first;
    int32_t count; /**< all of them; below zero while a wrong cancel is being made up for */
    int32_t held;  /**< at the end */
};

/* What a step in a row of P-headers is: an atom, or waiting; and the cycles it stands for. */
#define PUG_ETMV3_STEP_CYCLES 15u
#define PUG_ETMV3_STEP_KIND   48u /**< of its bits */
#define PUG_ETMV3_STEP_N      0u
#define PUG_ETMV3_STEP_E      16u
#define PUG_ETMV3_STEP_WAIT   32u
#define PUG_ETMV3_STEP_LAST   7u /**< this bit: it is the last one of its header */

/** A kind of step as a number: which of an instruction's ways it takes. */
static inline unsigned pug_etmv3_way_of(unsigned step)
{
    return (step & PUG_ETMV3_STEP_KIND) / PUG_ETMV3_STEP_E;
}

/** Returns the kind of a step, without its flags. */
static inline unsigned pug_etmv3_step_of(unsigned step)
{
    return step % PUG_ETMV3_STEPS;
}

/** An instruction with one kind of step. */
struct pug_etmv3_way {
    uint32_t next; /**< how many bytes into the entries what follows is; 0: that is not linked */
    union {        /**< of the instruction, where there is room */
        uint32_t goes; /**< [0]; direct branch: target; indirect: where it went last */
        struct {
            uint8_t next_isa;      /**< [1]; the ISA after it, if it is executed */
            uint8_t it, it_behind; /**< [1]; what is left of an IT block at it, and after it */
            uint8_t period;        /**< [1]; in which it was known to hold */
        };
    };
    uint64_t tail; /**< the last 8 bytes of an element */
};

/**
 * An instruction with what its elements have of it, and where it leads. One cache line: an atom
 * costs the hop to the next one, and the stores of an element.
 */
struct pug_etmv3_insn {
    struct pug_etmv3_way ways[3]; /**< not executed, executed; waiting leads to itself */
    uint64_t start, end;
};

#define PUG_ETMV3_TAIL (sizeof(struct pug_element) - 8)

/** Most instructions that are kept; entry 0 is none. */
#define PUG_ETMV3_INSNS 65536u

/** How often an instruction that is kept ran, not executed and executed, and its cycles. */
struct pug_etmv3_tally {
    uint64_t ways[2]; /**< how often, and PUG_ETMV3_CYCLE for each cycle */
};

#define PUG_ETMV3_CYCLE (UINT64_C(1) << 32)

/** The target of an indirect branch, and how often it was taken. */
struct pug_etmv3_jump {
    uint32_t from; /**< as a link */
    uint32_t hits;
    uint64_t to;
};

#define PUG_ETMV3_JUMPS 512u

/**
 * What is counted in place of elements. A step is where its way is in the entries; 0: none.
 */
struct pug_etmv3_counting {
    struct pug_paths *paths;         /**< on whose counts it goes; NULL: nothing was counted */
    struct pug_etmv3_tally *tallies; /**< by entry */
    struct pug_etmv3_jump *jumps;
    bool on;               /**< the fast path counts now */
    bool open;             /**< it may go on: nothing came since */
    bool holds;            /**< it ends in an instruction that can still be cancelled */
    uint32_t last, before; /**< the last two steps on the fast path */
    unsigned last_step;
    uint64_t last_index;
    bool came; /**< execution reached `came_to`, which is not counted yet */
    uint64_t came_to;
    bool jumped;    /**< a branch packet followed them */
    uint32_t stray; /**< cycles that are of no step */
    uint64_t steps; /**< since all was spread */
};

/** The place of execution among the instructions that are kept. */
struct pug_etmv3_place {
    const struct pug_etmv3_insn *insn; /**< the next one; or NULL, and then: */
    const struct pug_etmv3_insn *from; /**< the one before it, or NULL */
    bool executed;                     /**< that was */
    bool jumped; /**< do not follow what comes after `from`: the decoder has the address */
};

#define PUG_ETMV3_PERIODS 256u

/**
 * The instructions that were met. They hold, and links lead from one to another, as long as the
 * code map says that nothing changed: a period. In a later one each holds again where memory turns
 * out to be the same.
 */
struct pug_etmv3_insns {
    struct pug_etmv3_insn *entries; /**< which lie elsewhere when there are more */
    uint32_t count, room;
    uint32_t *slots;     /**< hash table of their numbers */
    uint32_t slot_count; /**< a power of two */
    uint64_t stamp;      /**< of the code map */
    uint8_t period;
    uint32_t epochs[PUG_ETMV3_PERIODS]; /**< of the code map, by period */
    struct pug_etmv3_place place;       /**< where the last run ended */
    struct pug_etmv3_insn passing;      /**< the last one that must not be kept */
};

enum pug_etmv3_decoder_state {
    PUG_ETMV3_NO_SYNC,
    PUG_ETMV3_WAIT_ASYNC,
    PUG_ETMV3_WAIT_ISYNC,
    PUG_ETMV3_DECODE,
};

/** A data transfer and the instruction that makes it. */
struct pug_etmv3_transfer {
    uint64_t pc, address;
    bool has_pc, has_address, big_endian;
    uint8_t access;      /**< enum pug_access */
    uint8_t size;        /**< bytes; 0: not known */
    bool doubleword;     /**< two transfers of a word each */
    bool swap;           /**< a load, then a store */
    uint8_t values_left; /**< out-of-order: values still to come */
};

struct pug_etmv3_decoder {
    const struct pug_etmv3_config *config;
    struct pug_stage *stage;
    struct pug_codemap *code;
    enum pug_etmv3_decoder_state state;
    uint8_t reason; /**< enum pug_unsync, of the next NO_SYNC */
    uint64_t index; /**< of the last packet */

    /* where the processor is */
    uint64_t address;
    struct pug_armv7_address told; /**< what address packets are relative to */
    bool need_address;
    bool told_unknown; /**< since the address was lost an element has said so */
    uint8_t isa;
    uint8_t it;            /**< instructions of an IT block that are still to come */
    uint8_t last_next_isa; /**< quirk: next ISA of the last instruction that was classified */

    /* data trace */
    struct pug_etmv3_transfer transfer; /**< the last one */
    struct pug_etmv3_transfer tagged[4];
    bool data_lost; /**< data were suppressed since the last data element */

    enum pug_response response; /**< of the packet whose elements are on their way out */
    struct pug_etmv3_list list;

    bool only_instructions; /**< instructions are traced, and no data */
    bool quirky;            /**< how P-headers become elements depends on quirks */

    struct pug_etmv3_insns insns;
    struct pug_etmv3_counting counting;
};

/* ---- the list ---- */

/** A new element at the end. */
struct pug_element *pug_etmv3_put(struct pug_etmv3_decoder *decoder, enum pug_element_type type);

/**
 * A new element that nothing can take back, while no other is held. Without quirks it need not wait
 * in the list, where it would be copied as soon as it is written; a packet may give a few.
 */
struct pug_element *pug_etmv3_put_out(struct pug_etmv3_decoder *decoder,
                                      enum pug_element_type type);

/** The next slot of the list with whatever is in it. */
struct pug_element *pug_etmv3_slot(struct pug_etmv3_decoder *decoder);

/** Make an element one of this type. */
void pug_etmv3_set_type(struct pug_etmv3_decoder *decoder, struct pug_element *element,
                        enum pug_element_type type);

/** The n-th last element, or NULL. */
struct pug_element *pug_etmv3_from_end(struct pug_etmv3_decoder *decoder, int32_t n);

/** Hold back the last `count` elements. */
void pug_etmv3_hold(struct pug_etmv3_decoder *decoder, int32_t count);

/** The last instruction did not execute. */
void pug_etmv3_cancel(struct pug_etmv3_decoder *decoder);

/** The data of the last instruction are void: it was aborted. */
void pug_etmv3_cancel_data(struct pug_etmv3_decoder *decoder);

/** Give out what is not held; false when the consumer waits. */
bool pug_etmv3_drain(struct pug_etmv3_decoder *decoder);

/** … and answer so, now or when the consumer goes on. */
enum pug_response pug_etmv3_give_out(struct pug_etmv3_decoder *decoder, enum pug_response response);

/** The first element of the list is due. */
static inline void pug_etmv3_give_first(struct pug_etmv3_list *list, struct pug_batch *batch)
{
    struct pug_element *out = &batch->elements[batch->count++];
    *out = list->slots[list->first];
    if (out->type == PUG_ELEM_TIMESTAMP) { /* the slot's address outlives it */
        out->timestamp = out->value;
        out->value = 0;
    }
    if (++list->first == list->capacity)
        list->first = 0;
    list->count--;
}

void pug_etmv3_list_clear(struct pug_etmv3_list *list);

/* ---- instructions ---- */

enum pug_status pug_etmv3_insns_new(struct pug_etmv3_insns *insns);
void pug_etmv3_insns_free(struct pug_etmv3_insns *insns);

/** Instructions may have become others: another period begins, or all are forgotten. */
void pug_etmv3_refresh(struct pug_etmv3_decoder *decoder);

/** May they, where the address space is as it was? */
static inline bool pug_etmv3_is_outdated(const struct pug_etmv3_decoder *decoder)
{
    return (decoder->insns.stamp ^ pug_codemap_stamp(decoder->code)) >> 16 != 0 ||
           pug_codemap_outdated(decoder->code);
}

/** The instruction where the decoder is; valid until the next call. */
enum pug_status pug_etmv3_insn_here(struct pug_etmv3_decoder *decoder,
                                    const struct pug_etmv3_insn **insn);

/**
 * The one at `address` if it was met and is kept; else NULL. By quirks, also where the ISA changes.
 */
const struct pug_etmv3_insn *pug_etmv3_kept_insn(const struct pug_etmv3_decoder *decoder,
                                                 uint64_t address, uint8_t isa, uint8_t it);

/**
 * Returns the instruction after `from`, which was executed or not, and links to it. NULL: none is
 * kept.
 */
const struct pug_etmv3_insn *pug_etmv3_follow(struct pug_etmv3_decoder *decoder,
                                              const struct pug_etmv3_insn *from, bool executed);

/** Returns the instruction that a link leads to. */
static inline const struct pug_etmv3_insn *pug_etmv3_linked(const struct pug_etmv3_insn *entries,
                                                            uint32_t link)
{
    return (const struct pug_etmv3_insn *)((const char *)entries + link);
}

/** The one where the decoder is: there the indirect branch `from` went this time. */
const struct pug_etmv3_insn *pug_etmv3_jump(struct pug_etmv3_decoder *decoder,
                                            const struct pug_etmv3_insn *from);

/** The last 8 bytes of an element. */
static inline uint64_t pug_etmv3_tail(const struct pug_element *element)
{
    uint64_t tail;
    memcpy(&tail, (const char *)element + PUG_ETMV3_TAIL, sizeof(tail));
    return tail;
}

/** A byte of its elements, by its place in them. */
static inline uint8_t pug_etmv3_insn_byte(const struct pug_etmv3_insn *insn, size_t offset)
{
    return ((const uint8_t *)&insn->ways[0].tail)[offset - PUG_ETMV3_TAIL];
}

static inline uint8_t pug_etmv3_insn_isa(const struct pug_etmv3_insn *insn)
{
    return pug_etmv3_insn_byte(insn, offsetof(struct pug_element, isa));
}

static inline bool pug_etmv3_is_indirect(const struct pug_etmv3_insn *insn)
{
    return pug_etmv3_insn_byte(insn, offsetof(struct pug_element, last_type)) ==
           PUG_INSTR_BR_INDIRECT;
}

/** Returns the link's target. For an executed indirect branch the value has no meaning. */
static inline uint64_t pug_etmv3_next_address(const struct pug_etmv3_insn *insn, bool executed)
{
    bool branch =
        pug_etmv3_insn_byte(insn, offsetof(struct pug_element, last_type)) == PUG_INSTR_BR;
    return executed && branch ? insn->ways[0].goes : insn->end;
}

/** The ISA there. */
static inline uint8_t pug_etmv3_isa_behind(const struct pug_etmv3_insn *insn, bool executed)
{
    return executed ? insn->ways[1].next_isa : pug_etmv3_insn_isa(insn);
}

/** Returns what is left of an IT block there. A branch ends the block. */
static inline uint8_t pug_etmv3_it_behind(const struct pug_etmv3_insn *insn, bool executed)
{
    const uint8_t type = pug_etmv3_insn_byte(insn, offsetof(struct pug_element, last_type));
    const bool branch = type == PUG_INSTR_BR || type == PUG_INSTR_BR_INDIRECT;
    return executed && branch ? 0 : insn->ways[1].it_behind;
}

/** Is an instruction where the decoder is? */
static inline bool pug_etmv3_is_here(const struct pug_etmv3_decoder *decoder,
                                     const struct pug_etmv3_insn *insn)
{
    return insn->start == decoder->address && pug_etmv3_insn_isa(insn) == decoder->isa &&
           insn->ways[1].it == decoder->it;
}

/** Does it lead there? */
static inline bool pug_etmv3_leads_here(const struct pug_etmv3_decoder *decoder,
                                        const struct pug_etmv3_insn *from, bool executed)
{
    return pug_etmv3_next_address(from, executed) == decoder->address &&
           pug_etmv3_isa_behind(from, executed) == decoder->isa &&
           pug_etmv3_it_behind(from, executed) == decoder->it;
}

/** Moves the decoder past an instruction. */
void pug_etmv3_advance(struct pug_etmv3_decoder *decoder, const struct pug_etmv3_insn *insn,
                       bool executed);

/* ---- walking ---- */

/** The atoms of a P-header. */
void pug_etmv3_p_header(struct pug_etmv3_decoder *decoder, const struct pug_etmv3_packet *packet);

/** Atoms of a P-header, the last `left` of them. */
void pug_etmv3_walk(struct pug_etmv3_decoder *decoder, const struct pug_etmv3_p_header *header,
                    uint32_t bits, unsigned left);

/** The instruction at the current address was executed. */
void pug_etmv3_executed(struct pug_etmv3_decoder *decoder);

void pug_etmv3_need_address(struct pug_etmv3_decoder *decoder, bool need);

/** A branch packet says where the processor is. */
void pug_etmv3_branch_to(struct pug_etmv3_decoder *decoder, const struct pug_etmv3_packet *packet);

/** An I-sync says so, and in which context. */
void pug_etmv3_isync(struct pug_etmv3_decoder *decoder, const struct pug_etmv3_packet *packet);

/* ---- data trace ---- */

/** A data packet. */
void pug_etmv3_data(struct pug_etmv3_decoder *decoder, const struct pug_etmv3_packet *packet);

/** An instruction was executed: is it the one that the next data belong to? */
void pug_etmv3_data_instruction(struct pug_etmv3_decoder *decoder, uint64_t address, uint8_t isa);

/** The next data are not an instruction's. */
void pug_etmv3_data_automatic(struct pug_etmv3_decoder *decoder, enum pug_access access);

#endif
