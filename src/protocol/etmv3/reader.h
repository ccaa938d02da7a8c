// SPDX-License-Identifier: MIT
/** @file The packet reader's own shape, shared by its files. */
#ifndef PUG_ETMV3_READER_H
#define PUG_ETMV3_READER_H

#include "base/rawbytes.h"
#include "protocol/etmv3/etmv3.h"

/** Zeros of an A-sync, before its 0x80. */
#define PUG_ETMV3_A_SYNC_ZEROS 5u

/** Bytes of a branch packet: address and exception information. */
#define PUG_ETMV3_BRANCH_ADDRESS_MAX   5u
#define PUG_ETMV3_BRANCH_EXCEPTION_MAX 3u

enum pug_etmv3_reader_state {
    PUG_ETMV3_UNSYNCED,
    PUG_ETMV3_AT_HEADER,
    PUG_ETMV3_IN_PAYLOAD,
};

/** A part of a packet that is collected byte by byte. */
enum pug_etmv3_part {
    PUG_ETMV3_PART_NONE,
    PUG_ETMV3_PART_FIXED,     /**< `left` bytes */
    PUG_ETMV3_PART_CONTINUED, /**< to the first byte with bit 7 clear, at most `left` bytes */
    PUG_ETMV3_PART_BRANCH,    /**< a branch address; `left` is the number of the next byte */
    PUG_ETMV3_PART_EXCEPTION, /**< its exception bytes, at most `left` */
    PUG_ETMV3_PART_INFO,      /**< I-sync information; decides what follows */
    PUG_ETMV3_PART_LSIP,      /**< fixed bytes; the last one says whether more follow */
    PUG_ETMV3_PART_ENDLESS,   /**< everything */
};

#define PUG_ETMV3_PARTS 5u

struct pug_etmv3_reader {
    const struct pug_etmv3_config *config;
    struct pug_stage *stage;
    struct pug_etmv3_packet packet; /**< what is given out; much of it stays for the next one */
    enum pug_etmv3_reader_state state;
    uint64_t index; /**< of the packet's first byte */

    /* collecting */
    struct pug_rawbytes raw; /**< bytes of a packet that spans runs */
    uint8_t part, parts;     /**< the one in hand, and how many there are */
    struct {
        uint8_t kind;
        uint16_t left;
    } plan[PUG_ETMV3_PARTS];
    bool oversized; /**< the packet goes on beyond its longest form */

    /* synchronising */
    bool zeros;      /**< unsynchronised: `raw` is a run of zeros that may be an A-sync */
    bool given;      /**< unsynchronised: `raw` was given out */
    bool split;      /**< unsynchronised: some zeros of the run were given out */
    unsigned a_sync; /**< synchronised: zeros of an A-sync so far */
};

/** Log an error of the packet in hand, and count it. */
void pug_etmv3_error(struct pug_etmv3_reader *reader, enum pug_status code, const char *text);

/** The packet in hand with its bytes as the reader's answer. */
bool pug_etmv3_give(struct pug_etmv3_reader *reader, const uint8_t *bytes, size_t size,
                    struct pug_packet *packet);

/** Look for the first A-sync. */
bool pug_etmv3_find_sync(struct pug_etmv3_reader *reader, struct pug_span *span,
                         struct pug_packet *packet);

struct pug_etmv3_decoder;

/**
 * Pass over noise of that search while no packets are reported, as far as it cannot be an A-sync.
 * The decoder gets the same notifications as it would from packets. NULL: no decoder.
 */
void pug_etmv3_pass_over_noise(struct pug_etmv3_reader *reader, struct pug_etmv3_decoder *decoder,
                               struct pug_span *span);

/** An A-sync in a synchronised stream; its first zero is taken. */
bool pug_etmv3_read_a_sync(struct pug_etmv3_reader *reader, struct pug_span *span,
                           struct pug_packet *packet);

/** An unfinished A-sync at the end of trace. */
const uint8_t *pug_etmv3_a_sync_bytes(void);

/** Parse the bytes of a complete packet into reader->packet. */
void pug_etmv3_parse(struct pug_etmv3_reader *reader, const uint8_t *bytes, size_t size);

/** A P-header. */
void pug_etmv3_parse_p_header(struct pug_etmv3_reader *reader, uint8_t header);

/** Address and exception bytes of a branch packet, or of an I-sync's second address. */
void pug_etmv3_parse_branch(struct pug_etmv3_reader *reader, const uint8_t *bytes, size_t size,
                            struct pug_armv7_address *address);

/**
 * The I-sync at `at` into reader->packet: its size, or 0 where it is none, cut, or has a second
 * address.
 */
size_t pug_etmv3_read_isync(struct pug_etmv3_reader *reader, const uint8_t *at, const uint8_t *end);

/** The packet in hand is malformed. */
void pug_etmv3_malformed(struct pug_etmv3_reader *reader, enum pug_status code, const char *text);

/**
 * Bytes of a branch packet that is all there, an address of at most four bytes and no more; else 0.
 */
static inline size_t pug_etmv3_branch_size(const struct pug_etmv3_reader *reader, const uint8_t *at,
                                           const uint8_t *end)
{
    size_t size = 1;
    for (; at[size - 1] & 0x80; size++)
        if (size == PUG_ETMV3_BRANCH_ADDRESS_MAX - 1 || at + size == end)
            return 0;
    bool exception = size > 1 && reader->config->alternative_branches && (at[size - 1] & 0x40);
    return exception || reader->packet.isync.has_lsip ? 0 : size;
}

#endif
