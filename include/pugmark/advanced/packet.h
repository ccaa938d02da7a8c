// SPDX-License-Identifier: MIT
/**
 * @file Runs, packets and marks: what a tree shows on the way from bytes to elements, and the
 * protocols that it knows.
 *
 * Who writes a protocol reads pugmark/author/protocol.h.
 */
#ifndef PUGMARK_PACKET_H
#define PUGMARK_PACKET_H

#include "pugmark/setting.h"
#include "pugmark/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what a transport delivers ---- */

/** The meaning of a payload's bits after its last whole byte (struct pug_run.bits). */
enum pug_run_padding {
    PUG_RUN_EXACT,  /**< the payload's, or copies of its last bit */
    PUG_RUN_PADDED, /**< anything: the payload is whole bytes */
    PUG_RUN_WHOLE,  /**< the payload's as far as its fields go, then anything */
};

/**
 * A run: consecutive bytes of one source. Byte j has trace index `index` + j, and where a transport
 * spliced several runs (PUG_TAKES_SPLICED) gaps[j] more. gaps[size] is there too.
 */
struct pug_run {
    uint64_t index;       /**< trace index of the first byte */
    const uint8_t *bytes; /**< of the trace */
    size_t size;          /**< how many there are */
    const uint16_t *gaps; /**< or NULL */
    /**
     * 0, or the run is whole packets one after another, each after so many bytes of header
     * (PUG_TAKES_ROWS). Bits 4:0 of the first one are the payload's size; bit 7: `stamp` bytes of
     * time follow the header; bits 6:5: the flow. What follows the header begins `lead` bits later,
     * and a payload ends with a byte. From a payload's begin on PUG_RUN_SPARE bytes can be read,
     * whatever its size.
     */
    uint8_t header, stamp;
    uint16_t source;    /**< trace id */
    bool whole;         /**< the run is exactly one packet (packet transports) */
    bool has_timestamp; /**< the transport carried a timestamp with it */
    bool gap;           /**< packet transports: packets of this source may be missing before it */
    uint8_t padding;    /**< enum pug_run_padding */
    uint8_t flow;       /**< RISC-V packet encapsulation: the flow field */
    uint8_t kind;       /**< E-Trace: enum pug_etrace_payload, what `type` stands for */
    uint8_t lead;       /**< of packets one after another: see `header` */
    uint32_t type;      /**< packet transports: the type field as it was sent */
    uint16_t bits;      /**< RISC-V packet encapsulation: of the payload, as received; the last
                             byte is completed with copies of its last bit. 0: whole bytes */
    uint8_t timestamp_bits; /**< how many low bits of the time `timestamp` holds */
    uint32_t payload;       /**< of packets one after another: bytes of all payloads, without what
                                 is in front of each */
    uint64_t timestamp;     /**< as the transport carried it */
};

/** Bytes after a payload that can be read. */
#define PUG_RUN_SPARE 16

struct pug_encapsulation_packet;

/**
 * Sees packets of the RISC-V packet encapsulation (encapsulation.h), each before its payload. `id`
 * is the trace id of the source in whose bytes it lies, or PUG_SOURCE_UNKNOWN: the transport's.
 */
typedef void pug_encapsulation_fn(void *context, uint16_t id,
                                  const struct pug_encapsulation_packet *packet);

/* ---- what a packet reader gives ---- */

/** How to handle a packet, and what it is. */
enum pug_packet_flag {
    PUG_PACKET_MONITOR = 1 << 0, /**< show it to the packet monitor */
    PUG_PACKET_DECODE = 1 << 1,  /**< give it to the decoder, or to the packet sink */
    PUG_PACKET_BAD = 1 << 2,     /**< a bad packet in the reference's sense */
    PUG_PACKET_SYNC = 1 << 3,    /**< a synchronisation point: a decoder can start here */
};

/** One packet. Valid until the reader is called again. */
struct pug_packet {
    uint64_t index;     /**< trace index of its first byte */
    const void *data;   /**< the protocol's own struct, include/pugmark/advanced/packet/NAME.h */
    const uint8_t *raw; /**< its bytes */
    uint32_t raw_size;  /**< how many there are */
    uint32_t type;      /**< the protocol's packet type number */
    uint32_t flags;     /**< enum pug_packet_flag */
};

/** The kind of a packet for a search in the trace. */
enum pug_mark_kind {
    PUG_MARK_SYNC,        /**< a synchronisation point: PUG_PACKET_SYNC */
    PUG_MARK_TIMESTAMP,   /**< value: the time, whole, as elements have it */
    PUG_MARK_TRIGGER,     /**< value: what the trigger carries, else 0 */
    PUG_MARK_EVENT,       /**< value: the event's number */
    PUG_MARK_CONTEXT,     /**< value: context id (or process, or master of software trace) */
    PUG_MARK_OVERFLOW,    /**< trace was lost */
    PUG_MARK_DISCARD,     /**< trace was stopped and dropped what it held */
    PUG_MARK_EXCEPTION,   /**< value: its number */
    PUG_MARK_ADDRESS,     /**< value: a whole address from the packet */
    PUG_MARK_DATA,        /**< bytes of a source (an index alone knows these) */
    PUG_MARK_VMID,        /**< value: virtual machine */
    PUG_MARK_TRACE_ON,    /**< tracing began or went on; value: enum pug_trace_on */
    PUG_MARK_HARDWARE,    /**< a hardware source's packet (DWT); value: its discriminator */
    PUG_MARK_TRANSACTION, /**< value: enum pug_memtrans */
    PUG_MARK_TIME_STEP,   /**< value: time since the last such mark, or the last timestamp */
    PUG_MARK_KINDS
};

/** A packet as an index sees it. */
struct pug_mark {
    enum pug_mark_kind kind; /**< what it marks */
    uint64_t value;          /**< what it says of that */
};

/** A mark, and the trace index of its packet. */
struct pug_placed_mark {
    uint64_t index, value; /**< where it is, and what it says */
    uint32_t kind;         /**< enum pug_mark_kind */
};

/** The list that receives marks for an index. */
struct pug_mark_list {
    struct pug_placed_mark *marks;            /**< room for marks */
    uint32_t count, room;                     /**< how many there are, and how many can be */
    void (*full)(struct pug_mark_list *list); /**< takes the marks out: `count` is 0 then */
};

/* ---- notifications to a source, and its counters ---- */

/** Counters that a packet reader keeps. */
struct pug_reader_stats {
    uint64_t bytes;                      /**< consumed (the tree counts them) */
    uint64_t unsynced;                   /**< dropped while not synchronised */
    uint64_t bad_headers, bad_sequences; /**< packets that were none, and that did not fit */
};

/* ---- the protocols ---- */

struct pug_protocol;

/** By name (case-sensitive), or NULL. */
const struct pug_protocol *pug_protocol_find(const char *name);

/** The n-th known protocol, or NULL. */
const struct pug_protocol *pug_protocol_at(size_t n);

/** A protocol's name ("ETMV4I"), by which sources are made. */
const char *pug_protocol_name(const struct pug_protocol *protocol);
/** Returns a protocol's title in words. */
const char *pug_protocol_title(const struct pug_protocol *protocol);

/** Does its decoder need program memory? */
bool pug_protocol_has_flow(const struct pug_protocol *protocol);

/** The name of a packet's type; "" where the protocol has none. */
const char *pug_packet_name(const struct pug_protocol *protocol, const struct pug_packet *packet);

/**
 * A packet in words, `NAME : description…`; like snprintf(). A protocol without words gives none.
 */
size_t pug_packet_text(const struct pug_protocol *protocol, const struct pug_packet *packet,
                       char *buffer, size_t size);

#ifdef __cplusplus
}
#endif
#endif
