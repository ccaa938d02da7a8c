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

#include "pugmark/advanced/settings.h"
#include "pugmark/advanced/state.h"
#include "pugmark/author/protocol.h"
#include "pugmark/log.h"

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
    PUG_START_AUTO,   /**< as a header, unless no packets follow and others begin after it */
    PUG_START_SYNCED, /**< as a header */
    PUG_START_SEARCH, /**< as anything */
};

/** What fills the last byte of a packet when its payload ends inside it. */
enum pug_unwrap_padding {
    PUG_PADDING_AUTO,  /**< found out from how the stream begins */
    PUG_PADDING_SIGN,  /**< copies of the payload's last bit */
    PUG_PADDING_ANY,   /**< anything: a payload is whole bytes */
    PUG_PADDING_WHOLE, /**< anything: a payload has all its bits, however many (never set) */
};

/** The form of a source's type field. */
struct pug_unwrap_types {
    uint8_t bits;
    uint32_t instruction, data; /**< its values for these */
};

struct pug_unwrap_source {
    uint16_t id;
    struct pug_unwrap_types types;
};

struct pug_unwrap_config {
    enum pug_wrapping wrapping;
    enum pug_unwrap_start start;
    enum pug_unwrap_padding padding;
    unsigned src_bits; /**< 0 to 16; SMI: of the hart index */
    unsigned timestamp_bytes;
    struct pug_unwrap_types types;     /**< of sources that `sources` does not name */
    struct pug_unwrap_source *sources; /**< by ascending id; pug_unwrap_config_clear() frees them */
    size_t source_count;
    bool only_data;   /**< without a type field every packet is data trace */
    bool bit_stream;  /**< bytes may begin at any bit (interfaces narrower than a byte) */
    uint8_t no_flows; /**< flows that are left out, a bit each */
    uint32_t block;   /**< packets do not straddle blocks of that many bytes; 0: no blocks */
    uint32_t fixed;   /**< RAW: every packet is that long, without a length byte; 0: length byte */
};

/** Settings by name, see unwrap_config.c. Errors go to the log; there is nothing to free then. */
enum pug_status pug_unwrap_configure(struct pug_unwrap_config *config, enum pug_wrapping wrapping,
                                     const struct pug_settings *settings, struct pug_log *log);
void pug_unwrap_config_clear(struct pug_unwrap_config *config);

/** The type field of a source. */
const struct pug_unwrap_types *pug_unwrap_types_of(const struct pug_unwrap_config *config,
                                                   uint16_t source);

/** Kinds of payload: the meaning of pug_run::kind with these transports. */
enum pug_payload_kind { PUG_PAYLOAD_INSTRUCTION = 0, PUG_PAYLOAD_DATA = 1, PUG_PAYLOAD_OTHER };

/** One packet of the wrapping. */
struct pug_unwrapped {
    uint64_t index;         /**< trace index of its header */
    const uint8_t *payload; /**< byte aligned, valid until the next call */
    uint32_t size;          /**< of the payload; its last byte repeats the last bit */
    uint32_t bits;          /**< of the payload, as received */
    uint32_t length;        /**< of the whole packet */
    const uint8_t *raw;
    uint64_t timestamp;
    uint32_t type; /**< as in the packet */
    uint16_t source;
    uint8_t kind;           /**< enum pug_payload_kind */
    uint8_t timestamp_bits; /**< valid bits of `timestamp`, 0: none */
    uint8_t flow;
    bool null;       /**< a null packet: nothing but a header */
    bool extend;     /**< header bit; of a null packet: alignment */
    uint8_t padding; /**< enum pug_run_padding: what the bits after the last whole byte are */
    bool gap;        /**< packets of this source may be missing before this one */
};

/** The result of pug_unwrap_parse() for bytes at a possible header. */
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

/**
 * At how many places from `at` on, of the first `limit`, it is plain that no chain of packets
 * begins. Behind each of them there are the bytes of three packets.
 */
unsigned pug_unwrap_hopeless(const struct pug_unwrap_config *config, const uint8_t *at,
                             unsigned limit);

/** Does an E-Trace stream begin with this packet: a support packet, of any form? */
bool pug_unwrap_is_support(const struct pug_unwrapped *packet);

/** Would the payload differ if the bits after its last whole byte were padding? */
bool pug_unwrap_padding_matters(const struct pug_unwrapped *packet);

/** Can there be padding, from any source? */
bool pug_unwrap_pads(const struct pug_unwrap_config *config);

#define PUG_UNWRAP_MET 256u

/** The padding of a stream by some of its packets, put in one after another. */
struct pug_unwrap_padding_guess {
    int sign, zeros, ones;    /**< how well each explains them, against any other … */
    int learned;              /**< … and a sign that follows places that are as usual as `seen`
                               * shows */
    uint16_t seen[7][8];      /**< by bits after the whole bytes: how many of them are equal … */
    uint8_t before[7];        /**< … and what the last ones were, after a 1 */
    bool varies;              /**< they were not always the same */
    unsigned payloads, whole; /**< … whose last byte could have been left out */
    uint64_t met[PUG_UNWRAP_MET]; /**< hashes of payloads, in a table; 0: free */
    unsigned distinct;            /**< payloads that were not met before … */
    unsigned size;                /**< … how many bits the first one had … */
    bool sizes;                   /**< … and whether others have more, or fewer */
    bool cut;                     /**< a payload has no whole byte */
};
void pug_unwrap_padding_note(struct pug_unwrap_padding_guess *guess,
                             const struct pug_unwrapped *packet);
enum pug_unwrap_padding pug_unwrap_padding_guessed(const struct pug_unwrap_padding_guess *guess);

/** Says what happened; `text` lives during the call. */
typedef void pug_unwrap_report_fn(void *context, enum pug_status code, uint64_t index,
                                  const char *text);

/** The same for callers that read packets; without registered types. */
struct pug_encapsulation_packet;
void pug_unwrap_describe(const struct pug_unwrapped *unwrapped,
                         struct pug_encapsulation_packet *packet);

/** Is it of a flow that is wanted? */
bool pug_unwrap_wants(const struct pug_unwrap_config *config, const struct pug_unwrapped *packet);

struct pug_unwrap;

/** NULL: no memory. The configuration's list of sources is borrowed. */
struct pug_unwrap *pug_unwrap_new(const struct pug_unwrap_config *config,
                                  pug_unwrap_report_fn *report, void *context);
void pug_unwrap_free(struct pug_unwrap *unwrap);
void pug_unwrap_reset(struct pug_unwrap *unwrap);

/** What comes first is the first of the capture, whatever its index is. */
void pug_unwrap_from_begin(struct pug_unwrap *unwrap, bool from_begin);

/** The first bytes are not a packet's start: nothing is known about any source. */
void pug_unwrap_begin_inside(struct pug_unwrap *unwrap);

/** Give bytes; returns how many it took. At least one if pug_unwrap_next() just said no. */
size_t pug_unwrap_fill(struct pug_unwrap *unwrap, uint64_t index, const uint8_t *bytes,
                       size_t size);

/**
 * Pass over null packets of zeros that come next while they are not reported. Returns their number.
 *  They are done; deliver what follows them.
 */
size_t pug_unwrap_pass_nulls(struct pug_unwrap *unwrap, const uint8_t *bytes, size_t size);

/**
 * How many of these bytes, of which there are some, it takes to the end of the packet that it is
 * in, or that begins here; at least 1.
 */
size_t pug_unwrap_wanted(const struct pug_unwrap *unwrap, const uint8_t *bytes, size_t size);

/** Next packet, null packets included. False: more bytes are needed, or there are no more. */
bool pug_unwrap_next(struct pug_unwrap *unwrap, struct pug_unwrapped *packet);

/**
 * Bytes of the trace as somebody gave them, the first `used` of which went to pug_unwrap_fill(), to
 * pug_unwrap_pass_nulls(), or were taken.
 */
struct pug_unwrap_given {
    uint64_t index;
    const uint8_t *bytes;
    size_t size, used;
};

/**
 * What pug_unwrap_next() would give next, as far as it is whole packets of one source, one right
 * after another, with nothing to be said about them, and lies in the bytes that were given: there
 * it can be read without being copied. Whose they would be, and the packets. False: the next thing
 * is another.
 */
bool pug_unwrap_has_rows(const struct pug_unwrap *unwrap); /* are packets such that they can be? */
bool pug_unwrap_row_begins(const struct pug_unwrap *unwrap, const struct pug_unwrap_given *given,
                           uint16_t *source);
bool pug_unwrap_row(const struct pug_unwrap *unwrap, const struct pug_unwrap_given *given,
                    uint16_t source, struct pug_run *run);

/** Mark so many of its bytes as used. */
void pug_unwrap_take(struct pug_unwrap *unwrap, struct pug_unwrap_given *given, size_t size);

void pug_unwrap_end(struct pug_unwrap *unwrap);

/** Write all that what is still to come depends on (state.h), but for what it knows of sources. */
void pug_unwrap_state(const struct pug_unwrap *unwrap, struct pug_state *state);

/** Was there a packet of the source since the last gap? Then the next one has none before it. */
bool pug_unwrap_has_seen(const struct pug_unwrap *unwrap, uint16_t source);

/** Were packets lost since it was found how the stream begins? */
bool pug_unwrap_has_lost(const struct pug_unwrap *unwrap);

/** Bytes skipped in search of a header. */
uint64_t pug_unwrap_skipped(const struct pug_unwrap *unwrap);

#endif
