// SPDX-License-Identifier: MIT
/** @file A Micro Trace Buffer in software: branches go in, a ring in memory comes out. */
#ifndef PUG_RECORDER_MTB_H
#define PUG_RECORDER_MTB_H

#include "pugmark/advanced/packet/mtb.h"
#include "recorder/bytes.h"

struct rec_mtb {
    unsigned mask;    /**< MASTER.MASK */
    uint8_t *memory;  /**< of rec_mtb_size() bytes */
    uint32_t pointer; /**< where the next packet goes */
    bool wrapped;     /**< it was full once */
    bool starting;    /**< the next packet is the first one of a trace */
};

/** Bytes of the buffer: a power of two. */
static inline uint32_t rec_mtb_size(const struct rec_mtb *mtb)
{
    return UINT32_C(16) << mtb->mask;
}

/** MASTER with tracing on. */
static inline uint32_t rec_mtb_master(const struct rec_mtb *mtb)
{
    return UINT32_C(0x80000000) | mtb->mask;
}

static inline uint32_t rec_mtb_position(const struct rec_mtb *mtb)
{
    return mtb->pointer | (mtb->wrapped ? 4u : 0);
}

/** Begin with memory that was never written to, each byte `fill`. False: no memory. */
bool rec_mtb_begin(struct rec_mtb *mtb, unsigned mask, uint8_t fill);
void rec_mtb_free(struct rec_mtb *mtb);

/** Tracing was off. */
void rec_mtb_start(struct rec_mtb *mtb);
/** An instruction branched. */
void rec_mtb_branch(struct rec_mtb *mtb, uint32_t from, uint32_t to);
/** An exception: execution is to go on at `back`. */
void rec_mtb_exception(struct rec_mtb *mtb, uint32_t back, uint32_t handler);
/** An instruction returned from one with this EXC_RETURN: two packets. */
void rec_mtb_return(struct rec_mtb *mtb, uint32_t from, uint32_t exc_return, uint32_t to);

#endif
