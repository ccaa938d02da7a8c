// SPDX-License-Identifier: MIT
/** @file The packet reader's own shape, shared by its files. */
#ifndef PUG_PTM_READER_H
#define PUG_PTM_READER_H

#include "base/rawbytes.h"
#include "protocol/ptm/ptm.h"

enum pug_ptm_reader_state { PUG_PTM_UNSYNCED, PUG_PTM_AT_HEADER, PUG_PTM_IN_PAYLOAD };

/** The meaning of the next byte of a payload. */
enum pug_ptm_part {
    PUG_PTM_PART_ZERO,       /**< of an A-sync */
    PUG_PTM_PART_FIXED,      /**< one of `left`, the last ones */
    PUG_PTM_PART_ISYNC,      /**< one of `left`: address and information of an I-sync */
    PUG_PTM_PART_ADDRESS,    /**< a compressed address byte; `left` counts them */
    PUG_PTM_PART_EXCEPTION1, /**< exception bytes */
    PUG_PTM_PART_EXCEPTION2,
    PUG_PTM_PART_ALT_ISA,    /**< after a waypoint address */
    PUG_PTM_PART_TIMESTAMP,  /**< to bit 7 clear, at most `left` */
    PUG_PTM_PART_CYCLES,     /**< the first byte of a cycle count */
    PUG_PTM_PART_MORE_CYCLES /**< to bit 7 clear, at most `left` */
};

/** A possible A-sync: zeros, then 0x80. */
struct pug_ptm_zeros {
    uint64_t index; /**< of the first */
    uint32_t count;
    uint8_t run; /**< of them that still count; an A-sync has at least 5 */
    bool maybe;  /**< there may be an A-sync */
};

struct pug_ptm_reader {
    const struct pug_ptm_config *config;
    struct pug_stage *stage;
    struct pug_ptm_packet packet; /**< what is given out; much of it stays for the next one */
    enum pug_ptm_reader_state state;
    uint64_t index; /**< of the packet's first byte */
    bool alt_isa;   /**< Thumb is ThumbEE */

    /* collecting */
    struct pug_rawbytes raw; /**< bytes of a packet that spans runs */
    uint8_t part, left;

    /* synchronising */
    struct pug_ptm_zeros zeros;
    struct pug_rawbytes unsynced; /**< bytes not yet reported, after `shown` that were */
    uint32_t shown, unsynced_count;
    uint32_t lost;       /**< quirk: as many bytes as zeros that count later follow them */
    bool in_block;       /**< in the middle of a run */
    bool told;           /**< the decoder has had its NOTSYNC */
    bool given;          /**< `unsynced` was given out */
    bool zeros_reported; /**< quirk: the carried zeros were given out for this report */
    uint32_t carried;    /**< zeros from the run before */
};

void pug_ptm_error(struct pug_ptm_reader *reader, enum pug_status code, const char *text);

bool pug_ptm_give(struct pug_ptm_reader *reader, const uint8_t *bytes, size_t size,
                  struct pug_packet *packet);

/** Look for the first A-sync. */
bool pug_ptm_find_sync(struct pug_ptm_reader *reader, struct pug_span *span,
                       struct pug_packet *packet);

/** Bytes of that search are not to be shown any more. */
void pug_ptm_forget_unsynced(struct pug_ptm_reader *reader);

/**
 * Pass over noise of that search while no packets are reported, as far as it cannot be an A-sync.
 */
void pug_ptm_pass_over_noise(struct pug_ptm_reader *reader, struct pug_span *span);

/** Reports the unsynchronised bytes that are left when the trace ends. */
bool pug_ptm_end_unsynced(struct pug_ptm_reader *reader, struct pug_packet *packet);

/** An A-sync in a synchronised stream; its first zero is taken. */
bool pug_ptm_read_a_sync(struct pug_ptm_reader *reader, struct pug_span *span,
                         struct pug_packet *packet);

/** `zeros` zeros, and then a byte if `last` is not NULL, in reader->raw. */
void pug_ptm_make_zeros(struct pug_ptm_reader *reader, uint32_t zeros, const uint8_t *last);

/** Clears the fields that belong to one packet. */
void pug_ptm_clear_packet(struct pug_ptm_packet *packet);

/** Parse the bytes of a complete packet into reader->packet. */
void pug_ptm_parse(struct pug_ptm_reader *reader, const uint8_t *bytes, size_t size);

#endif
