// SPDX-License-Identifier: MIT
/**
 * @file The Program Flow Trace protocol of a PTM: atoms for waypoints, branch addresses, waypoint
 * updates. No data.
 */
#ifndef PUG_PROTOCOL_PTM_H
#define PUG_PROTOCOL_PTM_H

#include "protocol/armv7.h"
#include "pugmark/advanced/packet/ptm.h"

/** Most atoms in a packet. */
#define PUG_PTM_ATOMS 5u

/** The registers in words of the protocol. */
struct pug_ptm_config {
    struct pug_armv7_registers registers;
    bool cycle_accurate;
    bool return_stack;
    bool dmb_waypoints; /**< DSB and DMB are waypoints */
    bool gray_timestamps;
    uint8_t minor; /**< x of version 1.x */
    uint8_t context_id_bytes;
    uint8_t timestamp_bytes; /**< longest: 7 (48 bits) or 9 (64 bits) */
    struct {
        uint8_t bits, count;
    } atoms[256]; /**< of an atom header, the first one lowest, 1: E; of others none */
};

enum pug_status pug_ptm_config_new(const struct pug_settings *settings, struct pug_log *log,
                                   void **config);
void pug_ptm_config_free(void *config);
uint16_t pug_ptm_trace_id(const void *config);
size_t pug_ptm_config_text(const void *config, char *buffer, size_t size);

enum pug_status pug_ptm_reader_new(const void *config, struct pug_stage *stage, void **reader);
void pug_ptm_reader_free(void *reader);
bool pug_ptm_read(void *reader, struct pug_span *span, struct pug_packet *packet);
bool pug_ptm_read_end(void *reader, struct pug_packet *packet);
void pug_ptm_reader_reset(void *reader);

enum pug_status pug_ptm_decoder_new(const void *config, struct pug_stage *stage, void **decoder);
void pug_ptm_decoder_free(void *decoder);
enum pug_response pug_ptm_decode(void *decoder, const struct pug_packet *packet);
enum pug_response pug_ptm_fast_path(void *reader, void *decoder, struct pug_span *span,
                                    enum pug_want want);
enum pug_response pug_ptm_resume(void *decoder);
enum pug_response pug_ptm_decode_end(void *decoder);
void pug_ptm_decoder_reset(void *decoder);

size_t pug_ptm_packet_text(const void *packet, char *buffer, size_t size);
const char *pug_ptm_packet_name(uint32_t type);

/* state.c */
void pug_ptm_reader_state(const void *reader, struct pug_state *state);
void pug_ptm_decoder_state(const void *decoder, struct pug_state *state);
bool pug_ptm_self_synced(const void *decoder);

/* mark.c */
size_t pug_ptm_marks(const void *config, const void *packet, struct pug_mark marks[PUG_MARK_LIMIT]);
/** The fast path of marks. */
void pug_ptm_scan_marks(void *reader, struct pug_span *span);

#endif
