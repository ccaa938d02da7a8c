// SPDX-License-Identifier: MIT
/**
 * @file The MTB's room: what its files share.
 *
 * A buffer of memory is a ring, and only its registers, or the program, tell which packet is the
 * oldest. So the decoder keeps packets until the data ends, finds out where the ring lies and where
 * it begins (find.c), and then reports what was executed.
 */
#ifndef PUG_PROTOCOL_MTB_H
#define PUG_PROTOCOL_MTB_H

#include "pugmark/advanced/packet/mtb.h"
#include "pugmark/author/flow.h"

/** Most blocks on the way from one packet to the next. */
#define PUG_MTB_BLOCKS 1024u

/** Packets that are kept: those of 64 MiB, more than such a processor's memory. */
#define PUG_MTB_KEPT (UINT32_C(1) << 23)

struct pug_mtb_config {
    bool has_position, has_master, has_pc;
    uint32_t position, master;
    uint32_t pc; /* where execution was when the memory was read */
    bool has_table;
    uint32_t table; /* VTOR: the vector table */
    uint16_t trace_id;
};

/* ---- packet.c, text.c ---- */

enum pug_status pug_mtb_reader_new(const void *config, struct pug_stage *stage, void **reader);
void pug_mtb_reader_free(void *reader);
bool pug_mtb_read(void *reader, struct pug_span *span, struct pug_packet *packet);
bool pug_mtb_read_end(void *reader, struct pug_packet *packet);
void pug_mtb_reader_reset(void *reader);
size_t pug_mtb_marks(const void *config, const void *packet, struct pug_mark marks[PUG_MARK_LIMIT]);
size_t pug_mtb_packet_text(const void *packet, char *buffer, size_t size);
const char *pug_mtb_packet_name(uint32_t type);

/* ---- walk.c ---- */

/** The place where a walk ends. */
struct pug_mtb_goal {
    uint64_t address;
    bool behind; /* it runs up to there; else the instruction there runs, too */
};

enum pug_mtb_reach {
    PUG_MTB_REACHED,
    PUG_MTB_MORE,      /* a block on the path; the walk continues after it */
    PUG_MTB_BROKEN,    /* the program has no way there */
    PUG_MTB_NO_MEMORY, /* the program's memory ends before */
};

/** The block at `address` as far as the goal. */
enum pug_mtb_reach pug_mtb_walk(struct pug_stage *stage, uint64_t address, uint8_t it,
                                const struct pug_mtb_goal *goal, struct pug_flow_block *block);

/** Does an instruction, of a branch that is not taken the next one, go on where it ends? */
bool pug_mtb_goes_on(const struct pug_insn *insn);

/* ---- find.c ---- */

/** A packet that is kept. */
struct pug_mtb_kept {
    uint64_t index;
    uint32_t source, destination; /* as in memory, with their lowest bits */
};

static inline bool pug_mtb_is_magic(uint32_t address)
{
    return address >= PUG_MTB_MAGIC;
}

static inline uint32_t pug_mtb_address(uint32_t word)
{
    return word & ~UINT32_C(1);
}

/** The goal of a walk to where a packet's source is. */
struct pug_mtb_goal pug_mtb_goal_of(const struct pug_mtb_kept *packet);

/**
 * Packets in the order of time: `count` of a ring of `size` from `begin` on, `first` of it first.
 */
struct pug_mtb_ring {
    size_t begin, size, first, count;
};

/** Find the ring, by its registers or by the program. */
struct pug_mtb_ring pug_mtb_find(struct pug_stage *stage, const struct pug_mtb_config *config,
                                 const struct pug_mtb_kept *packets, size_t count);

/* ---- decode.c ---- */

enum pug_status pug_mtb_decoder_new(const void *config, struct pug_stage *stage, void **decoder);
void pug_mtb_decoder_free(void *decoder);
enum pug_response pug_mtb_decode(void *decoder, const struct pug_packet *packet);
enum pug_response pug_mtb_resume(void *decoder);
enum pug_response pug_mtb_decode_end(void *decoder);
void pug_mtb_decoder_reset(void *decoder);

#endif
