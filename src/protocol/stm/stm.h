// SPDX-License-Identifier: MIT
/**
 * @file The System Trace Macrocell's protocol: STPv2 as a CoreSight STM sends it.
 *
 * The stream is made of nibbles, the low one of each byte first; fields of several nibbles come
 * most significant nibble first. A packet begins at any nibble.
 */
#ifndef PUG_PROTOCOL_STM_H
#define PUG_PROTOCOL_STM_H

#include "base/rawbytes.h"
#include "pugmark/advanced/packet/stm.h"
#include "pugmark/author/protocol.h"

/** Registers, by the names of the programmers' model. */
struct pug_stm_config {
    uint32_t tcsr;     /**< STMTCSR: [22:16] TRACEID, [3] HWTEN */
    uint32_t feat1r;   /**< STMFEAT1R: [19:18] hardware events implemented */
    uint32_t feat3r;   /**< STMFEAT3R: channels of a master */
    uint32_t devid;    /**< STMDEVID: [7:0] masters */
    uint32_t hemastr;  /**< STMHEMASTR: master of hardware events */
    uint32_t hw_event; /**< 0 off or unknown, 1 on, 2 as the registers say */
};

enum pug_status pug_stm_config_new(const struct pug_settings *settings, struct pug_log *log,
                                   void **config);
void pug_stm_config_free(void *config);
uint16_t pug_stm_trace_id(const void *config);
size_t pug_stm_config_text(const void *config, char *buffer, size_t size);

enum pug_status pug_stm_reader_new(const void *config, struct pug_stage *stage, void **reader);
void pug_stm_reader_free(void *reader);
bool pug_stm_read(void *reader, struct pug_span *span, struct pug_packet *packet);
bool pug_stm_read_end(void *reader, struct pug_packet *packet);
void pug_stm_reader_reset(void *reader);

enum pug_status pug_stm_decoder_new(const void *config, struct pug_stage *stage, void **decoder);
void pug_stm_decoder_free(void *decoder);
enum pug_response pug_stm_decode(void *decoder, const struct pug_packet *packet);
enum pug_response pug_stm_decode_end(void *decoder);
void pug_stm_decoder_reset(void *decoder);
enum pug_status pug_stm_options_changed(void *decoder);

enum pug_response pug_stm_fast_path(void *reader, void *decoder, struct pug_span *span,
                                    enum pug_want want);

size_t pug_stm_packet_text(const void *packet, char *buffer, size_t size);
const char *pug_stm_packet_name(uint32_t type);

/* state.c */
void pug_stm_reader_state(const void *reader, struct pug_state *state);
void pug_stm_decoder_state(const void *decoder, struct pug_state *state);

/* mark.c */
size_t pug_stm_marks(const void *config, const void *packet, struct pug_mark marks[PUG_MARK_LIMIT]);
/** The fast path of marks. */
void pug_stm_scan_marks(void *reader, struct pug_span *span);

#endif
