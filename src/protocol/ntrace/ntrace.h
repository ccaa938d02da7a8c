// SPDX-License-Identifier: MIT
/**
 * @file The N-Trace room: what its files share. Chapters are those of the N-Trace specification.
 */
#ifndef PUG_PROTOCOL_NTRACE_H
#define PUG_PROTOCOL_NTRACE_H

#include "pugmark/advanced/packet/ntrace.h"
#include "pugmark/author/protocol.h"

/** When to take the first byte for the start of a message. */
enum pug_ntrace_align {
    PUG_NTRACE_ALIGN_AUTO,   /**< when it is a message that starts the trace */
    PUG_NTRACE_ALIGN_START,  /**< the capture is known to begin with a message */
    PUG_NTRACE_ALIGN_SEARCH, /**< the first message begins after the first end of a message */
};

enum pug_ntrace_timestamps { PUG_NTRACE_TS_DETECT, PUG_NTRACE_TS_OFF, PUG_NTRACE_TS_ON };

/** Values of trTeInstMode. */
enum pug_ntrace_mode {
    PUG_NTRACE_MODE_DETECT = 0,
    PUG_NTRACE_MODE_BTM = 3,
    PUG_NTRACE_MODE_HTM = 6
};

struct pug_ntrace_config {
    uint8_t xlen;
    uint8_t addr_bits; /**< addresses are sign-extended from bit addr_bits - 1 */
    uint8_t src_bits;
    bool src_given; /**< src_id was said; else the first message's SRC counts */
    uint16_t src_id;
    uint8_t timestamps; /**< enum pug_ntrace_timestamps */
    uint8_t ts_width;   /**< 0: absolute timestamps do not wrap */
    uint8_t mode;       /**< enum pug_ntrace_mode */
    uint8_t align;      /**< enum pug_ntrace_align */
    bool implicit_return, sequential_jump, all_jumps, extend_addr_msb;
    bool sifive; /**< the pre-1.0 dialect */
    bool zcmp_zcmt;
    uint64_t jvt_base;
    uint32_t stack_depth; /**< return addresses kept */
    int64_t walk_limit;   /**< most halfwords of code that one message may cover */
};

/** An address as it is used: of the hart's width, sign-extended where fewer bits are traced. */
static inline uint64_t pug_ntrace_canonical(const struct pug_ntrace_config *config,
                                            uint64_t address)
{
    const unsigned unused = 64u - config->addr_bits;
    if (config->addr_bits < config->xlen)
        address = (uint64_t)((int64_t)(address << unused) >> unused);
    return config->xlen == 32 ? address & UINT32_MAX : address;
}

/** Does the message tell a time, with its TSTAMP? Then it is `now`. */
static inline bool pug_ntrace_tells_time(const struct pug_ntrace_packet *packet)
{
    return packet->time_known && packet->type != PUG_NTRACE_BAD &&
           pug_ntrace_has(packet, PUG_NTRACE_TSTAMP);
}

/** The pre-1.0 dialect: a sync message that samples the hart's place, no more. */
static inline bool pug_ntrace_is_sample(const struct pug_ntrace_config *config,
                                        const struct pug_ntrace_packet *packet)
{
    return config->sifive && pug_ntrace_is_sync(packet->type) &&
           packet->field[PUG_NTRACE_SYNC] == 15;
}

/** Reasons of sync messages (SYNC) that are events … */
enum { PUG_NTRACE_SYNC_TRIGGER = 0, PUG_NTRACE_SYNC_WATCHPOINT = 6 };
/** … and, a bit each, those that restart the trace. */
#define PUG_NTRACE_RESTARTS (1u << 1 | 1u << 3 | 1u << 5 | 1u << 7 | 1u << 9)

/** The kind of CONTEXT in Ownership, by FORMAT. */
enum { PUG_NTRACE_FORMAT_SCONTEXT = 2, PUG_NTRACE_FORMAT_HCONTEXT = 3 };

/** The kind of the in-circuit trace of the pre-1.0 dialect, by CKSRC. */
enum pug_ntrace_cksrc {
    PUG_NTRACE_CKSRC_CONTROL = 0,
    PUG_NTRACE_CKSRC_TRIGGER = 8,
    PUG_NTRACE_CKSRC_CALL = 9,
    PUG_NTRACE_CKSRC_EXCEPTION = 10,
    PUG_NTRACE_CKSRC_INTERRUPT = 11,
    PUG_NTRACE_CKSRC_CONTEXT = 13,
    PUG_NTRACE_CKSRC_WATCHPOINT = 14,
    PUG_NTRACE_CKSRC_PC_SAMPLE = 15
};

enum pug_status pug_ntrace_config_new(const struct pug_settings *settings, struct pug_log *log,
                                      void **config);
void pug_ntrace_config_free(void *config);
uint16_t pug_ntrace_trace_id(const void *config);
size_t pug_ntrace_config_text(const void *config, char *buffer, size_t size);

enum pug_status pug_ntrace_reader_new(const void *config, struct pug_stage *stage, void **reader);
void pug_ntrace_reader_free(void *reader);
bool pug_ntrace_read(void *reader, struct pug_span *span, struct pug_packet *packet);
bool pug_ntrace_read_end(void *reader, struct pug_packet *packet);
void pug_ntrace_reader_reset(void *reader);

/** Pass over idle bytes between messages, when no packets are reported. */
void pug_ntrace_pass_over_idle(void *reader, struct pug_span *span);

enum pug_status pug_ntrace_decoder_new(const void *config, struct pug_stage *stage, void **decoder);
void pug_ntrace_decoder_free(void *decoder);
enum pug_response pug_ntrace_decode(void *decoder, const struct pug_packet *packet);
enum pug_response pug_ntrace_resume(void *decoder);
enum pug_response pug_ntrace_fast_path(void *reader, void *decoder, struct pug_span *span,
                                       enum pug_want want);
enum pug_response pug_ntrace_decode_end(void *decoder);
void pug_ntrace_decoder_reset(void *decoder);

size_t pug_ntrace_packet_text(const void *packet, char *buffer, size_t size);
const char *pug_ntrace_packet_name(uint32_t type);

/* state.c */
void pug_ntrace_reader_state(const void *reader, struct pug_state *state);
unsigned pug_ntrace_reader_clock(const void *reader, uint64_t *time);
void pug_ntrace_reader_set_time(void *reader, uint64_t time);
void pug_ntrace_decoder_state(const void *decoder, struct pug_state *state);
bool pug_ntrace_self_synced(const void *decoder);

/* mark.c */
size_t pug_ntrace_marks(const void *config, const void *packet,
                        struct pug_mark marks[PUG_MARK_LIMIT]);
/** The fast path of marks. */
void pug_ntrace_scan_marks(void *reader, struct pug_span *span);

/* fit.c */
enum pug_fit pug_ntrace_fit(const struct pug_packet *packet);

#endif
