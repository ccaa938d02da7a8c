// SPDX-License-Identifier: MIT
/**
 * @file Open SoC Debug: what the trace modules have in common. Their event packets, put together
 * where one event takes several, their overflow packets, the registers that say how wide they are.
 */
#ifndef PUG_PROTOCOL_OSD_EVENT_H
#define PUG_PROTOCOL_OSD_EVENT_H

#include "pugmark/packet/osd.h"
#include "pugmark/protocol.h"

/** Values of MOD_TYPE. */
enum { OSD_TYPE_STM = 4, OSD_TYPE_CTM = 5 };

/** A kind of module. */
struct osd_module {
    const char *name;        /**< in the log of its configuration */
    uint16_t type;           /**< MOD_TYPE */
    const char *settings[2]; /**< names of the width: the register's, and in lower case */
    uint8_t lengths[3];      /**< words of an event, by width: 16, 32, 64 bits */
    void (*parse)(struct pug_osd_packet *packet, unsigned width);
};

struct osd_config {
    const struct osd_module *module;
    uint16_t id;
    uint8_t width; /**< 16, 32, 64; 0: by the registers in the trace, or by the first event */
    bool riscv;    /**< the traced core is one; else its code can't be followed */
    uint8_t xlen;  /**< of the traced core; 0: the width of its addresses */
};

enum pug_status osd_config_new(const struct osd_module *module, const struct pug_settings *settings,
                               struct pug_log *log, void **config);
void osd_config_free(void *config);
uint16_t osd_trace_id(const void *config);

enum pug_status osd_reader_new(const void *config, struct pug_stage *stage, void **reader);
void osd_reader_free(void *reader);
bool osd_read(void *reader, struct pug_span *span, struct pug_packet *packet);
bool osd_read_end(void *reader, struct pug_packet *packet);
void osd_reader_reset(void *reader);

/** What the packets to come depend on (state.h). */
void osd_reader_state(const void *reader, struct pug_state *state);

/** What is not an event, in words; false for events. */
struct pug_text;
bool osd_packet_text(const struct pug_osd_packet *packet, struct pug_text *text);
const char *osd_packet_name(uint32_t kind);

/** Times are as sent: 32 bits, which wrap. An event of an STM is one, with its id. */
size_t osd_marks(const void *config, const void *packet, struct pug_mark marks[PUG_MARK_LIMIT]);

/** The 32-bit time of one module, extended over its wraps. */
struct osd_clock {
    uint64_t time;
    bool started;
};

/** Events of one module come in the order of time: less than before is one wrap. */
static inline uint64_t osd_clock_extend(struct osd_clock *clock, uint32_t timestamp)
{
    uint64_t time = (clock->time & ~UINT64_C(0xffffffff)) | timestamp;
    if (clock->started && time < clock->time)
        time += UINT64_C(1) << 32;
    clock->time = time;
    clock->started = true;
    return time;
}

static inline void osd_clock_state(const struct osd_clock *clock, struct pug_state *state)
{
    pug_state_number(state, clock->started);
    pug_state_number(state, clock->time);
}

#endif
