// SPDX-License-Identifier: MIT
/** @file The Core Trace Module's room: what its files share. */
#ifndef PUG_PROTOCOL_OSD_CTM_H
#define PUG_PROTOCOL_OSD_CTM_H

#include "image/codemap.h"
#include "protocol/osd_event.h"

extern const struct pug_osd_module pug_osd_ctm_module;

/** Most blocks that the code between two events is looked for in. */
#define PUG_CTM_BLOCKS 2048u

/** What is known about the code between two events. */
enum pug_ctm_path {
    PUG_CTM_PATH_EXACT,         /**< one way only */
    PUG_CTM_PATH_OPEN,          /**< several ways, or too many to look at */
    PUG_CTM_PATH_UNREACHABLE,   /**< no way: a trap or something untraced lies between */
    PUG_CTM_PATH_ENTRY,         /**< where control was before is not known */
    PUG_CTM_PATH_OTHER_PROGRAM, /**< the program has no such jump there */
};

/** Looks for the way from one address to another; holds the way that it found. */
struct ctm_search;

struct ctm_search *pug_ctm_search_new(void);
void pug_ctm_search_free(struct ctm_search *search);

struct pug_ctm_question {
    struct pug_codemap *code;
    enum pug_isa isa;
    uint64_t from, to; /**< the last instruction, a jump, is at `to` */
    uint64_t next;     /**< where it goes */
    bool call;         /**< it is a JAL; else a JALR */
};

enum pug_ctm_path pug_ctm_search_run(struct ctm_search *search,
                                     const struct pug_ctm_question *question);

/** A range of the way that was found. */
struct pug_ctm_range {
    uint64_t start, end;
    uint32_t count;
    struct pug_insn last;
    bool executed; /**< false: its last instruction is a branch that was not taken */
};

/** The next range of an EXACT way; false when there are no more. */
bool pug_ctm_search_next(struct ctm_search *search, struct pug_ctm_range *range);

/** The order in which an event is reported; each step may have to wait. */
enum pug_ctm_phase {
    PUG_CTM_IDLE,
    PUG_CTM_BEGIN,
    PUG_CTM_WAY,
    PUG_CTM_OPEN,
    PUG_CTM_MODE,
    PUG_CTM_ONE
};

struct pug_ctm_decoder {
    const struct pug_osd_config *config;
    struct pug_stage *stage;
    struct ctm_search *search;
    uint64_t now; /* the last event's time; UINT64_MAX: none came */
    bool started;
    bool flowing; /* control is known to have been at `npc` */
    bool told_program;
    uint64_t npc;

    enum pug_ctm_phase phase;
    uint64_t index;
    struct pug_osd_packet event;
    bool new_time;
    enum pug_ctm_path path;
    struct pug_element one; /* PUG_CTM_ONE: all that there is to say */
};

enum pug_status pug_osd_ctm_decoder_new(const void *config, struct pug_stage *stage,
                                        void **decoder);
void pug_osd_ctm_decoder_free(void *decoder);
enum pug_response pug_osd_ctm_decode(void *decoder, const struct pug_packet *packet);
enum pug_response pug_osd_ctm_resume(void *decoder);
enum pug_response pug_osd_ctm_decode_end(void *decoder);
void pug_osd_ctm_decoder_reset(void *decoder);

/* state.c */
void pug_osd_ctm_decoder_state(const void *decoder, struct pug_state *state);

size_t pug_osd_ctm_packet_text(const void *packet, char *buffer, size_t size);

#endif
