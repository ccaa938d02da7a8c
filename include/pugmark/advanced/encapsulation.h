// SPDX-License-Identifier: MIT
/**
 * @file The RISC-V packet encapsulation ("Unformatted Trace & Diagnostic Data Packet
 * Encapsulation", 1.0) by itself: packets with all that their wrapping says, and their payloads as
 * they are.
 *
 *     pug_encapsulation_new(&settings, log, &reader);
 *     while (have bytes) {
 *         at += pug_encapsulation_fill(reader, at, bytes + at, size - at);
 *         while (pug_encapsulation_next(reader, &packet))
 *             ...
 *     }
 *     pug_encapsulation_end(reader);
 *     while (pug_encapsulation_next(reader, &packet)) ...
 *
 * The transport "encapsulation" of a decode tree (tree.h) is the same reader, which feeds a tree.
 * Both take these settings:
 *
 * - src_bits: width of srcID, 0 (the default) to 16 bits. Also: srcid_bits; trTeSrcBits with
 *   trTeInhibitSrc
 * - timestamp_bytes: width of timestamps, 0 (the default) to 8 bytes. Also: trTsWidth, in bits,
 *   with trTsEnable
 * - type_bits: width of the payload's type field, 0 (the default) to 32 bits
 * - instruction_type: its value for E-Trace instruction trace; 0 by default
 * - data_type: its value for E-Trace data trace; 1 by default. Packets of other types are not an
 * error: consumers of packets get them, and E-Trace passes over them.
 * - type_bits_N, instruction_type_N, data_type_N: the same of source N (a decimal number) alone; of
 *   any number of sources
 * - only_data: 1: without a type field, all packets are data trace
 * - padding: what fills the last byte of a packet, where srcID and type are no multiple of 8 bits.
 *   "auto", the default: as "sign", unless many different payloads at the stream's beginning show
 *   that it is anything. "sign": copies of the payload's last bit, so that it may be cut to the
 *   bit. "dontcare": anything; a payload is whole bytes then
 * - framed: 1, the default: the stream begins with a header, as in a file and in what marks its
 *   packets or frames itself; if no packets follow the first one, while they do from another place
 *   on, the stream was cut, and is searched. 0: it begins anywhere
 * - start: the same in more detail: "auto" (framed=1); "search" (framed=0); "synced": the first
 *   byte is a header, whatever follows
 * - bit_stream: 1: bytes may begin at any bit, as after a port of 1, 2 or 4 bits. The stream is
 *   read from its first synchronisation sequence on ("start" synced: from its first bit on), and
 *   realigned at each
 * - block_size: packets do not straddle blocks of so many bytes (64 or more), and each block begins
 *   with a header; 0, the default: there are no such blocks
 * - flow: only packets with these flow fields: a number 0 to 3, or several with commas between
 *   them; all by default
 *
 * A reader belongs to one thread at a time. Nothing depends on how the bytes are cut.
 */
#ifndef PUGMARK_ENCAPSULATION_H
#define PUGMARK_ENCAPSULATION_H

#include "pugmark/advanced/settings.h"
#include "pugmark/log.h"
#include "pugmark/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct pug_encapsulation;

/** The kind of a packet. */
enum pug_encapsulation_kind {
    PUG_ENCAPSULATION_NULL_IDLE,      /**< filler */
    PUG_ENCAPSULATION_NULL_ALIGNMENT, /**< the last null in front of a packet */
    PUG_ENCAPSULATION_PACKET,
};

/** The kind of a payload, by its type field and the settings. */
enum pug_encapsulation_content {
    PUG_ENCAPSULATION_INSTRUCTION,
    PUG_ENCAPSULATION_DATA,
    PUG_ENCAPSULATION_OTHER,
};

struct pug_encapsulation_type;

/** One packet; of a null packet only index, raw, kind, flow and extend mean something. */
struct pug_encapsulation_packet {
    uint64_t index;       /**< trace index of its header (its first bit's byte) */
    const uint8_t *raw;   /**< all of it, aligned; like `payload` valid until the reader is used */
    uint32_t raw_size;    /**< bytes of it */
    uint8_t kind;         /**< enum pug_encapsulation_kind */
    uint8_t length, flow; /**< of the header */
    bool extend;          /**< of the header: a timestamp follows, or null.alignment */
    bool gap;             /**< packets of this source may be missing before it */
    uint8_t content;      /**< enum pug_encapsulation_content */
    uint8_t timestamp_bits; /**< 0: it has none */
    uint16_t source;        /**< its srcID; where it has none, the trace id it came by */
    uint32_t type;          /**< the type field */
    uint64_t timestamp;     /**< where there is one */
    const uint8_t *payload; /**< after the type field, aligned; … */
    uint32_t size;          /**< … so many bytes, the last one completed with its last bit */
    uint32_t bits;          /**< of them received, padding included */
    const struct pug_encapsulation_type *registered; /**< its payload's type, or NULL */
};

/**
 * Make a reader, for the caller to free. Settings are used during the call; the log, or NULL, must
 * outlive it. PUG_ERR_INVALID_PARAM_VAL: a setting is wrong, the log says which; PUG_ERR_MEM.
 */
enum pug_status pug_encapsulation_new(const struct pug_settings *settings, struct pug_log *log,
                                      struct pug_encapsulation **reader);
/** NULL is left alone. */
void pug_encapsulation_free(struct pug_encapsulation *reader);

/** Restarts the reader. Registered types stay. */
void pug_encapsulation_reset(struct pug_encapsulation *reader);

/**
 * Give bytes; `index` is the first one's. Returns how many were taken: some, if
 * pug_encapsulation_next() said no before.
 */
size_t pug_encapsulation_fill(struct pug_encapsulation *reader, uint64_t index,
                              const uint8_t *bytes, size_t size);

/** No more bytes come: what is left can be read. */
void pug_encapsulation_end(struct pug_encapsulation *reader);

/**
 * The next packet, null packets included. Registered functions are called before it returns. False:
 * more bytes are needed, or there is no more. What is no packet goes to the log.
 */
bool pug_encapsulation_next(struct pug_encapsulation *reader,
                            struct pug_encapsulation_packet *packet);

/** One packet by the reader's settings, at the first of some bytes; false: there is none. */
bool pug_encapsulation_parse(const struct pug_encapsulation *reader, uint64_t index,
                             const uint8_t *bytes, size_t size,
                             struct pug_encapsulation_packet *packet);

/** Bytes that belong to no packet so far. */
uint64_t pug_encapsulation_skipped(const struct pug_encapsulation *reader);

/* ---- payload types of one's own ---- */

/** A type of all sources. */
#define PUG_ENCAPSULATION_ANY_SOURCE 0x10000u

/** A type of payload that a client knows. */
struct pug_encapsulation_type {
    uint32_t source;  /**< or PUG_ENCAPSULATION_ANY_SOURCE */
    uint32_t type;    /**< value of the type field */
    const char *name; /**< "FLOAT_TRACE"; for listings */
    /** The payload in words; like snprintf(). NULL: none. */
    size_t (*text)(void *context, const struct pug_encapsulation_packet *packet, char *buffer,
                   size_t size);
    /** Takes each payload of the type, as it is read. NULL: no consumer. */
    void (*take)(void *context, const struct pug_encapsulation_packet *packet);
    void *context; /**< is handed to these functions */
};

/** The table is borrowed. A type of one source goes before that of any; the last one wins. */
enum pug_status pug_encapsulation_register(struct pug_encapsulation *reader,
                                           const struct pug_encapsulation_type *type);

/* ---- words ---- */

/**
 * "ENCAP_NULL_IDLE : flow=0", "ENCAP_NULL_ALIGN : flow=0" or "ENCAP_PKT : len=5 flow=0 ts=0x12
 * type=0"; a registered type adds its name and words at the end. Like snprintf().
 */
size_t pug_encapsulation_text(const struct pug_encapsulation_packet *packet, char *buffer,
                              size_t size);

/** "Idx:0; SRC:1; [0x02 0x81 … ];\t" and the text. SRC is 0 for nulls, which have none. */
size_t pug_encapsulation_line(const struct pug_encapsulation_packet *packet, char *buffer,
                              size_t size);

#ifdef __cplusplus
}
#endif
#endif
