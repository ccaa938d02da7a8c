// SPDX-License-Identifier: MIT
/**
 * @file Open SoC Debug: what the trace modules have in common. Their event packets, put together
 * where one event takes several, their overflow packets, the registers that say how wide they are.
 */
#ifndef PUG_PROTOCOL_OSD_EVENT_H
#define PUG_PROTOCOL_OSD_EVENT_H

#include "pugmark/advanced/packet/osd.h"
#include "pugmark/author/protocol.h"

/** Values of MOD_TYPE. */
enum { PUG_OSD_TYPE_STM = 4, PUG_OSD_TYPE_CTM = 5 };

/** When bytes are identified, fewer events than this may be chance: each is a place to begin. */
#define PUG_OSD_EVENTS_USUAL 8u

/** A kind of module. */
struct pug_osd_module {
    const char *name;        /**< in the log of its configuration */
    uint16_t type;           /**< MOD_TYPE */
    const char *settings[2]; /**< names of the width: the register's, and in lower case */
    bool any_width;          /**< any multiple of 16 bits; else 16, 32 and 64 */
    uint8_t fields;          /**< how many such fields an event has, besides three words */
    void (*parse)(struct pug_osd_packet *packet, unsigned width);
};

struct pug_osd_config {
    const struct pug_osd_module *module;
    uint16_t id;
    uint8_t width; /**< 16, 32, 48, 64; 0: by the registers in the trace, or by the first event */
    bool riscv;    /**< the traced core is one; else its code can't be followed */
    uint8_t xlen;  /**< of the traced core; 0: the width of its addresses */
};

enum pug_status pug_osd_config_new(const struct pug_osd_module *module,
                                   const struct pug_settings *settings, struct pug_log *log,
                                   void **config);
void pug_osd_config_free(void *config);
uint16_t pug_osd_trace_id(const void *config);

enum pug_status pug_osd_reader_new(const void *config, struct pug_stage *stage, void **reader);
void pug_osd_reader_free(void *reader);
bool pug_osd_read(void *reader, struct pug_span *span, struct pug_packet *packet);
bool pug_osd_read_end(void *reader, struct pug_packet *packet);
void pug_osd_reader_reset(void *reader);

/** What the packets to come depend on (state.h). */
void pug_osd_reader_state(const void *reader, struct pug_state *state);
unsigned pug_osd_reader_clock(const void *reader, uint64_t *time);

/** Returns the description of bytes that are not an event; false for events. */
struct pug_text;
bool pug_osd_packet_text(const struct pug_osd_packet *packet, struct pug_text *text);
const char *pug_osd_packet_name(uint32_t kind);

/** An event of an STM is one, with its id. */
size_t pug_osd_marks(const void *config, const void *packet, struct pug_mark marks[PUG_MARK_LIMIT]);

#endif
