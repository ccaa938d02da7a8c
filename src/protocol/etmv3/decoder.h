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

/**
 * An instruction as the element that an atom makes of it, in the context of its generation, and
 * where it leads. The decoder keeps those of which the code map says that they hold.
 */
struct pug_etmv3_insn {
    struct pug_element element;
    uint64_t next[2];    /**< not executed, executed (but for indirect branches) */
    uint32_t generation; /**< the decoder's, when it was made; 0: never */
    uint32_t until;      /**< epoch of the code map */
    uint8_t next_isa;    /**< executed */
    bool indirect;
};

#define PUG_ETMV3_INSNS 16384u

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
    bool unsupported; /**< the configuration cannot be decoded */
    uint8_t reason;   /**< enum pug_unsync, of the next NO_SYNC */
    uint64_t index;   /**< of the last packet */

    /* where the processor is */
    uint64_t address;
    struct pug_armv7_address told; /**< what address packets are relative to */
    bool need_address;
    bool told_unknown; /**< since the address was lost an element has said so */
    uint8_t isa;
    uint8_t last_next_isa; /**< quirk: next ISA of the last instruction that was classified */

    /* data trace */
    struct pug_etmv3_transfer transfer; /**< the last one */
    struct pug_etmv3_transfer tagged[4];
    bool data_lost; /**< data were suppressed since the last data element */

    enum pug_response response; /**< of the packet whose elements are on their way out */
    struct pug_etmv3_list list;

    /* the short way: no list, elements go right into the batch */
    bool short_way; /**< this configuration may take it */
    struct {
        const struct pug_etmv3_insn *insn; /**< the instruction that is held, or NULL */
        uint64_t index;
        uint32_t cycles;
        bool executed;
    } held;
    uint32_t generation; /**< of what is kept of instructions */
    uint64_t image_generation;
    struct pug_element context; /**< that it is of */
    struct pug_etmv3_insn *insns;
};

/* ---- the list ---- */

/** A new element at the end. */
struct pug_element *pug_etmv3_put(struct pug_etmv3_decoder *decoder, enum pug_element_type type);

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

void pug_etmv3_list_clear(struct pug_etmv3_list *list);

/* ---- instructions ---- */

static inline struct pug_etmv3_insn *pug_etmv3_insn_slot(struct pug_etmv3_decoder *decoder,
                                                         uint64_t address, uint8_t isa)
{
    return &decoder->insns[(address >> (isa == PUG_ISA_A32 ? 2 : 1)) % PUG_ETMV3_INSNS];
}

/** Get the instruction from the code map. */
enum pug_status pug_etmv3_fetch(struct pug_etmv3_decoder *decoder, uint64_t address, uint8_t isa,
                                const struct pug_etmv3_insn **insn);

/** The context may have changed. */
void pug_etmv3_insns_context(struct pug_etmv3_decoder *decoder);

/** The instruction at `address`. */
static inline enum pug_status pug_etmv3_insn_at(struct pug_etmv3_decoder *decoder, uint64_t address,
                                                uint8_t isa, const struct pug_etmv3_insn **insn)
{
    struct pug_etmv3_insn *slot = pug_etmv3_insn_slot(decoder, address, isa);
    *insn = slot;
    if (slot->element.start == address && slot->element.isa == isa &&
        slot->generation == decoder->generation && slot->until >= decoder->code->epoch)
        return PUG_OK;
    return pug_etmv3_fetch(decoder, address, isa, insn);
}

/* ---- walking ---- */

/** The atoms of a P-header. */
void pug_etmv3_p_header(struct pug_etmv3_decoder *decoder, const struct pug_etmv3_packet *packet);

/** The same, by the short way as far as it goes. */
void pug_etmv3_short_p_header(struct pug_etmv3_decoder *decoder,
                              const struct pug_etmv3_packet *packet);

/** The instruction that the short way holds goes into the list. */
void pug_etmv3_end_short_way(struct pug_etmv3_decoder *decoder);

/** The instruction at the current address was executed. */
void pug_etmv3_executed(struct pug_etmv3_decoder *decoder);

void pug_etmv3_need_address(struct pug_etmv3_decoder *decoder, bool need);

/* ---- data trace ---- */

/** A data packet. */
void pug_etmv3_data(struct pug_etmv3_decoder *decoder, const struct pug_etmv3_packet *packet);

/** An instruction was executed: is it the one that the next data belong to? */
void pug_etmv3_data_instruction(struct pug_etmv3_decoder *decoder, uint64_t address, uint8_t isa);

/** The next data are not an instruction's. */
void pug_etmv3_data_automatic(struct pug_etmv3_decoder *decoder, enum pug_access access);

#endif
