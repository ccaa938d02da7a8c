// SPDX-License-Identifier: MIT
/**
 * @file Open SoC Debug trace modules and the interface to the host in software: events in, the
 * link's datagrams out.
 */
#ifndef PUG_RECORDER_OSD_H
#define PUG_RECORDER_OSD_H

#include "pugmark/advanced/isa.h"
#include "recorder/bytes.h"

struct rec_osd_options {
    unsigned longest; /**< MAX_PKT_LEN, at least 12 */
    uint16_t dest;
    bool dump;       /**< the host library's dump: least significant byte first */
    bool interleave; /**< packets of several modules mix */
    uint64_t seed;
};

/** Modules that may send: addresses 0 to REC_OSD_MODULES - 1. */
#define REC_OSD_MODULES 16u

struct rec_osd;

struct rec_osd *rec_osd_new(const struct rec_osd_options *options, struct rec_bytes *out);
void rec_osd_free(struct rec_osd *osd);

struct rec_ctm_event {
    uint32_t timestamp;
    uint64_t npc, pc;
    uint8_t mode;
    bool ret, call, modechange;
};

/** An event of a Core Trace Module; `width`: bits of its addresses. */
void rec_osd_ctm(struct rec_osd *osd, unsigned module, unsigned width,
                 const struct rec_ctm_event *event);
/** An event of a System Trace Module; `width`: bits of its values. */
void rec_osd_stm(struct rec_osd *osd, unsigned module, unsigned width, uint32_t timestamp,
                 uint16_t id, uint64_t value);
void rec_osd_overflow(struct rec_osd *osd, unsigned module, uint16_t missed);
/** A read request from the host, and the module's answer. */
void rec_osd_register(struct rec_osd *osd, unsigned module, uint16_t number, uint16_t value);

/** Send what waits. */
void rec_osd_finish(struct rec_osd *osd);

/** A core with a Core Trace Module: what it executes becomes events. */
struct rec_osd_core {
    struct rec_osd *osd;
    unsigned module, width;
    uint8_t mode; /**< of the instruction before */
};

/** An instruction was executed in a privilege mode. True: that was an event. */
bool rec_osd_core_step(struct rec_osd_core *core, uint32_t time, uint64_t pc,
                       const struct pug_insn *insn, uint64_t next, uint8_t mode);

#endif
