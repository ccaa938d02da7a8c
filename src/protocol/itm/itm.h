// SPDX-License-Identifier: MIT
/**
 * @file The Instrumentation Trace Macrocell's protocol: stimulus ports, what the DWT sends through
 * the ITM, and timestamps. The stream is made of bytes; values are little-endian.
 */
#ifndef PUG_PROTOCOL_ITM_H
#define PUG_PROTOCOL_ITM_H

#include "base/rawbytes.h"
#include "pugmark/advanced/packet/itm.h"
#include "pugmark/author/protocol.h"
#include "pugmark/dwt.h"

struct pug_itm_config {
    uint32_t tcr;           /**< ITM_TCR: [22:16] TraceBusID, [9:8] TSPrescale, [4] SWOENA */
    uint8_t comparator_set; /**< bit n: DWT_COMPn is known */
    uint32_t comparator[PUG_DWT_COMPARATORS];
    uint32_t tables[2]; /**< VTOR, VTOR_NS */
    unsigned table_count;
    bool assume_sync; /**< the capture starts at a packet: do not wait for an ASYNC */
    bool begins;      /**< the same of byte `begin_at` of the source */
    bool guessed;     /**< which is a guess */
    uint64_t begin_at;
    uint32_t timestamp_loss; /**< cycles that each local timestamp lacks */
};

/** Cycles that a step of the local timestamp stands for, as ITM_TCR says. */
static inline uint32_t pug_itm_prescale(const struct pug_itm_config *config)
{
    return 1u << 2 * (config->tcr >> 8 & 3);
}

/** The cycles between a local timestamp and the one before it. */
static inline uint64_t pug_itm_cycles(uint32_t prescale, uint32_t loss, uint32_t value)
{
    return (uint64_t)value * prescale + loss;
}

enum pug_status pug_itm_config_new(const struct pug_settings *settings, struct pug_log *log,
                                   void **config);
void pug_itm_config_free(void *config);
uint16_t pug_itm_trace_id(const void *config);
size_t pug_itm_config_text(const void *config, char *buffer, size_t size);

enum pug_status pug_itm_reader_new(const void *config, struct pug_stage *stage, void **reader);
void pug_itm_reader_free(void *reader);
bool pug_itm_read(void *reader, struct pug_span *span, struct pug_packet *packet);
bool pug_itm_read_end(void *reader, struct pug_packet *packet);
void pug_itm_reader_reset(void *reader);

enum pug_status pug_itm_decoder_new(const void *config, struct pug_stage *stage, void **decoder);
void pug_itm_decoder_free(void *decoder);
enum pug_response pug_itm_decode(void *decoder, const struct pug_packet *packet);
enum pug_response pug_itm_decode_end(void *decoder);
void pug_itm_decoder_reset(void *decoder);

enum pug_response pug_itm_fast_path(void *reader, void *decoder, struct pug_span *span,
                                    enum pug_want want);

/** The number of a stimulus port. */
static inline uint8_t pug_itm_port(unsigned source, unsigned page)
{
    return (uint8_t)((source & 0x1f) | page << 5);
}

/** Does a packet of this hardware source say that an exception is entered? */
static inline bool pug_itm_enters(unsigned source, uint32_t value)
{
    return source == 1 && (value >> 12 & 3) == PUG_DWT_ENTERED;
}

/* Sources of comparators: from 8 on their PCs and data addresses by turns, then what was read and
 * written. */
#define PUG_ITM_DWT_ACCESSES 8u
#define PUG_ITM_DWT_VALUES   16u
#define PUG_ITM_DWT_END      24u

/** Is a packet of four bytes an address of code: a PC sample, or the PC of an access? */
static inline bool pug_itm_tells_pc(unsigned source)
{
    return source == 2 ||
           (source >= PUG_ITM_DWT_ACCESSES && source < PUG_ITM_DWT_VALUES && !(source & 1));
}

/** Is a packet of a data access: its address, or its value? */
static inline bool pug_itm_is_access(unsigned source)
{
    return source >= PUG_ITM_DWT_VALUES ? source < PUG_ITM_DWT_END
                                        : source >= PUG_ITM_DWT_ACCESSES && (source & 1);
}

/** The number of the exception in such a packet. */
static inline uint32_t pug_itm_exception(uint32_t value)
{
    return value & 0x1ff;
}

size_t pug_itm_packet_text(const void *packet, char *buffer, size_t size);
const char *pug_itm_packet_name(uint32_t type);

/**
 * guess.c: the first byte that begins a packet, as far as bytes tell that have no ASYNC in their
 * first half. SIZE_MAX: the bytes do not show it.
 */
size_t pug_itm_begin(const uint8_t *bytes, size_t size);

/* state.c */
void pug_itm_reader_state(const void *reader, struct pug_state *state);
void pug_itm_decoder_state(const void *decoder, struct pug_state *state);

/* mark.c */
size_t pug_itm_marks(const void *config, const void *packet, struct pug_mark marks[PUG_MARK_LIMIT]);
/** What a hardware source's packet is: also an exception that is entered, or an address. */
size_t pug_itm_hardware_marks(const struct pug_itm_config *config, unsigned source, unsigned size,
                              uint32_t value, struct pug_mark marks[PUG_MARK_LIMIT]);
/** The fast path of marks. */
void pug_itm_scan_marks(void *reader, struct pug_span *span);

#endif
