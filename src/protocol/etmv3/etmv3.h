// SPDX-License-Identifier: MIT
/**
 * @file ETMv3: one atom an instruction, packed in P-headers; branch packets; data trace in the same
 * stream.
 */
#ifndef PUG_PROTOCOL_ETMV3_H
#define PUG_PROTOCOL_ETMV3_H

#include "protocol/armv7.h"
#include "pugmark/advanced/packet/etmv3.h"

/** Most atoms in a P-header. */
#define PUG_ETMV3_P_HEADER_ATOMS 16u

/** … and in a cycle-accurate one. */
#define PUG_ETMV3_CYCLE_STEPS 8u

/** The content of a P-header. */
struct pug_etmv3_p_header {
    uint16_t bits;  /**< atoms, the first one lowest; 1: E */
    uint8_t count;  /**< of them */
    uint8_t format; /**< 1 to 4, or 0 */
    bool valid;
    uint8_t cycles; /**< of a cycle-accurate one, altogether */
    /* the same for a row of P-headers: its atoms, or once waiting; none where it is not valid */
    uint8_t step_count;
    uint8_t waits;                           /**< cycles of one without atoms */
    uint8_t steps[PUG_ETMV3_P_HEADER_ATOMS]; /**< PUG_ETMV3_STEP_… */
};

/** Does it have no atom, but cycles? */
static inline bool pug_etmv3_waits(const struct pug_etmv3_p_header *header)
{
    return header->waits > 0;
}

#define PUG_ETMV3_STEPS 64u

/** The fields of a step that its element needs. */
struct pug_etmv3_step {
    uint64_t addresses[2]; /**< the bits of start and end that it has: all or none */
    uint64_t value;
    uint32_t count, cycles;
};

/** The registers in words of the protocol. */
struct pug_etmv3_config {
    struct pug_armv7_registers registers;
    bool data_values, data_addresses;
    bool cprt; /**< coprocessor register transfers count as data */
    bool cycle_accurate;
    bool instructions; /**< false: data-only mode */
    bool alternative_branches;
    bool has_hyp; /**< virtualization extensions */
    bool m_profile;
    bool gray_timestamps;
    uint8_t minor; /**< x of version 3.x */
    uint8_t context_id_bytes;
    uint8_t timestamp_bytes;                      /**< longest: 7 (48 bits) or 9 (64 bits) */
    struct pug_etmv3_p_header p_headers[256];     /**< by header byte; others are zero */
    struct pug_etmv3_step steps[PUG_ETMV3_STEPS]; /**< by their bits */
};

static inline bool pug_etmv3_traces_data(const struct pug_etmv3_config *config)
{
    return config->data_values || config->data_addresses;
}

/** Work out what each P-header says. */
void pug_etmv3_set_p_headers(struct pug_etmv3_config *config);

enum pug_status pug_etmv3_config_new(const struct pug_settings *settings, struct pug_log *log,
                                     void **config);
void pug_etmv3_config_free(void *config);
uint16_t pug_etmv3_trace_id(const void *config);
size_t pug_etmv3_config_text(const void *config, char *buffer, size_t size);

enum pug_status pug_etmv3_reader_new(const void *config, struct pug_stage *stage, void **reader);
void pug_etmv3_reader_free(void *reader);
bool pug_etmv3_read(void *reader, struct pug_span *span, struct pug_packet *packet);
enum pug_response pug_etmv3_fast_path(void *reader, void *decoder, struct pug_span *span,
                                      enum pug_want want);
bool pug_etmv3_read_end(void *reader, struct pug_packet *packet);
void pug_etmv3_reader_reset(void *reader);

enum pug_status pug_etmv3_decoder_new(const void *config, struct pug_stage *stage, void **decoder);
void pug_etmv3_decoder_free(void *decoder);
enum pug_response pug_etmv3_decode(void *decoder, const struct pug_packet *packet);
enum pug_response pug_etmv3_resume(void *decoder);
enum pug_response pug_etmv3_decode_end(void *decoder);
void pug_etmv3_decoder_reset(void *decoder);
enum pug_status pug_etmv3_options_changed(void *decoder);

size_t pug_etmv3_packet_text(const void *packet, char *buffer, size_t size);
const char *pug_etmv3_packet_name(uint32_t type);

/* state.c */
void pug_etmv3_reader_state(const void *reader, struct pug_state *state);
void pug_etmv3_decoder_state(const void *decoder, struct pug_state *state);
bool pug_etmv3_self_synced(const void *decoder);

/* mark.c */
size_t pug_etmv3_marks(const void *config, const void *packet,
                       struct pug_mark marks[PUG_MARK_LIMIT]);
/** The fast path of marks. */
void pug_etmv3_scan_marks(void *reader, struct pug_span *span);

#endif
