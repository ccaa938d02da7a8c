// SPDX-License-Identifier: MIT
/**
 * @file Packets out of a byte stream: the RISC-V packet encapsulation 1.0, and the other wrappings
 * that E-Trace payloads are met in. Used by the transports of those names, and by packet readers
 * whose bytes come through a transport that knows no packets (ATB through CoreSight frames).
 *
 *     pug_unwrap_fill(unwrap, index, bytes, size);      as much as it takes
 *     while (pug_unwrap_next(unwrap, &packet))          …
 *     pug_unwrap_end(unwrap);                           no more bytes: what is left comes out
 */
#ifndef PUG_TRANSPORT_UNWRAP_H
#define PUG_TRANSPORT_UNWRAP_H

#include "pugmark/log.h"
#include "pugmark/protocol.h"
#include "pugmark/settings.h"
#include "pugmark/state.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pug_wrapping {
    PUG_WRAP_ENCAPSULATION,
    PUG_WRAP_SMI,   /**< Siemens Messaging Infrastructure */
    PUG_WRAP_ESP32, /**< Espressif trace memory */
    PUG_WRAP_PULP,  /**< records of 40 bytes */
    PUG_WRAP_RAW,   /**< a length byte, or a fixed length, and the payload */
};

/** How to take the first byte of a stream. */
enum pug_unwrap_start {
    PUG_START_AUTO,   /**< as a header if the first packet is one that a stream begins with */
    PUG_START_SYNCED, /**< as a header */
    PUG_START_SEARCH, /**< as anything */
};

#define PUG_UNWRAP_TYPES 32u

struct pug_unwrap_config {
    enum pug_wrapping wrapping;
    enum pug_unwrap_start start;
    unsigned src_bits; /**< 0 to 16; SMI: of the hart index */
    unsigned timestamp_bytes;
    unsigned type_bits; /**< of sources that `types` does not name */
    struct {
        uint16_t source;
        uint8_t bits;
    } types[PUG_UNWRAP_TYPES];
    unsigned type_count;
    unsigned instruction_type, data_type;
    bool only_data;           /**< without a type field every packet is data trace */
    bool floor;               /**< padding is don't care: a payload is whole bytes */
    bool bit_stream;          /**< bytes may begin at any bit (interfaces narrower than a byte) */
    unsigned longest_support; /**< bytes of a support packet's payload */
    uint32_t block; /**< packets do not straddle blocks of that many bytes; 0: no blocks */
    uint32_t fixed; /**< RAW: every packet is that long, without a length byte; 0: length byte */
};

/** Settings by name, see unwrap_config.c. Errors go to the log. */
enum pug_status pug_unwrap_configure(struct pug_unwrap_config *config, enum pug_wrapping wrapping,
                                     const struct pug_settings *settings, struct pug_log *log);

/** Kinds of payload: what pug_run::type says behind these transports. */
enum pug_payload_kind { PUG_PAYLOAD_INSTRUCTION = 0, PUG_PAYLOAD_DATA = 1, PUG_PAYLOAD_UNKNOWN };

/** One packet of the wrapping. */
struct pug_unwrapped {
    uint64_t index;         /**< trace index of its header */
    const uint8_t *payload; /**< byte aligned, valid until the next call */
    uint32_t size;          /**< of the payload; 0: a null packet */
    uint32_t length;        /**< of the whole packet */
    const uint8_t *raw;
    uint64_t timestamp;
    uint16_t source;
    uint16_t type;          /**< as in the packet */
    uint8_t kind;           /**< enum pug_payload_kind */
    uint8_t timestamp_bits; /**< valid bits of `timestamp`, 0: none */
    uint8_t flow;
    bool extend; /**< header bit; of a null packet: alignment */
    bool gap;    /**< packets of this source may be missing before this one */
};

/** What pug_unwrap_parse() says of the bytes at a would-be header. */
enum pug_unwrap_parsed {
    PUG_PARSED,       /**< a packet */
    PUG_PARSED_SHORT, /**< more bytes are needed */
    PUG_PARSED_BAD,   /**< no packet can begin like this; `length` bytes to leave out */
};

#define PUG_UNWRAP_LONGEST 64u /**< bytes of the longest packet of any wrapping */

/**
 * One packet at `at`. `scratch` holds the payload where it is not byte aligned in the stream and
 * must live as long as *packet.
 */
enum pug_unwrap_parsed pug_unwrap_parse(const struct pug_unwrap_config *config, const uint8_t *at,
                                        size_t size, uint8_t scratch[PUG_UNWRAP_LONGEST],
                                        struct pug_unwrapped *packet);

/** Most bytes that one packet can have, and most nulls in a row inside of one. */
unsigned pug_unwrap_longest(const struct pug_unwrap_config *config);
unsigned pug_unwrap_nulls(const struct pug_unwrap_config *config);

/** May a packet's header look like this? For the search only: `parse` decides. */
bool pug_unwrap_plausible(const struct pug_unwrap_config *config,
                          const struct pug_unwrapped *previous, const struct pug_unwrapped *packet);

/** Does an E-Trace stream begin with this packet? */
enum pug_unwrap_beginning {
    PUG_BEGINNING_NONE,
    PUG_BEGINNING_LIKELY,  /**< it looks like a synchronisation or trap packet */
    PUG_BEGINNING_CERTAIN, /**< … like a support packet that switches trace on */
};
enum pug_unwrap_beginning pug_unwrap_beginning(const struct pug_unwrap_config *config,
                                               const struct pug_unwrapped *packet);

/** Says what happened; `text` lives during the call. */
typedef void pug_unwrap_report_fn(void *context, enum pug_status code, uint64_t index,
                                  const char *text);

struct pug_unwrap;

/** NULL: no memory. */
struct pug_unwrap *pug_unwrap_new(const struct pug_unwrap_config *config,
                                  pug_unwrap_report_fn *report, void *context);
void pug_unwrap_free(struct pug_unwrap *unwrap);
void pug_unwrap_reset(struct pug_unwrap *unwrap);

/** Give bytes; returns how many it took. At least one if pug_unwrap_next() just said no. */
size_t pug_unwrap_fill(struct pug_unwrap *unwrap, uint64_t index, const uint8_t *bytes,
                       size_t size);

/** How many bytes it takes to the end of the packet that it is in; at least 1. */
size_t pug_unwrap_wanted(const struct pug_unwrap *unwrap);

/** Next packet, null packets included. False: more bytes are needed, or there are no more. */
bool pug_unwrap_next(struct pug_unwrap *unwrap, struct pug_unwrapped *packet);

/**
 * What pug_unwrap_next() would give next, as far as it is whole packets of one source, one right
 * after another, with nothing to be said about them: whose they would be, and the packets. False:
 * the next thing is another.
 */
bool pug_unwrap_row_begins(const struct pug_unwrap *unwrap, uint16_t *source);
bool pug_unwrap_row(const struct pug_unwrap *unwrap, uint16_t source, struct pug_run *run);

/** So many bytes of it are done. */
void pug_unwrap_take(struct pug_unwrap *unwrap, size_t size);

void pug_unwrap_end(struct pug_unwrap *unwrap);

/** Write all that what is still to come depends on (state.h), but for what it knows of sources. */
void pug_unwrap_state(const struct pug_unwrap *unwrap, struct pug_state *state);

/** Was there a packet of the source since the last gap? Then the next one has none before it. */
bool pug_unwrap_has_seen(const struct pug_unwrap *unwrap, uint16_t source);

/** Bytes skipped in search of a header. */
uint64_t pug_unwrap_skipped(const struct pug_unwrap *unwrap);

#endif
