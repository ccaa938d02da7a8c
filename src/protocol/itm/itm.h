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
    bool assume_sync; /**< the capture starts at a packet: do not wait for an ASYNC */
};

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

size_t pug_itm_packet_text(const void *packet, char *buffer, size_t size);
const char *pug_itm_packet_name(uint32_t type);

/* state.c */
void pug_itm_reader_state(const void *reader, struct pug_state *state);
void pug_itm_decoder_state(const void *decoder, struct pug_state *state);

/* mark.c */
size_t pug_itm_marks(const void *config, const void *packet, struct pug_mark marks[PUG_MARK_LIMIT]);
/** The fast path of marks. */
void pug_itm_scan_marks(void *reader, struct pug_span *span);

#endif
