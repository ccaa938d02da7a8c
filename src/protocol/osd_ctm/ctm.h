// SPDX-License-Identifier: MIT
/** @file The Core Trace Module's room: what its files share. */
#ifndef PUG_PROTOCOL_OSD_CTM_H
#define PUG_PROTOCOL_OSD_CTM_H

#include "image/codemap.h"
#include "protocol/osd_event.h"

extern const struct osd_module osd_ctm_module;

/** Most blocks that the code between two events is looked for in. */
#define CTM_BLOCKS 2048u

/** What is known of the code between two events. */
enum ctm_path {
    CTM_PATH_EXACT,         /**< one way only */
    CTM_PATH_OPEN,          /**< several ways, or too many to look at */
    CTM_PATH_UNREACHABLE,   /**< no way: a trap or something untraced lies between */
    CTM_PATH_OTHER_PROGRAM, /**< the program has no such jump there */
};

/** Looks for the way from one address to another; holds the way that it found. */
struct ctm_search;

struct ctm_search *ctm_search_new(void);
void ctm_search_free(struct ctm_search *search);

struct ctm_question {
    struct pug_codemap *code;
    enum pug_isa isa;
    uint64_t from, to; /**< the last instruction, a jump, is at `to` */
    uint64_t next;     /**< where it goes */
    bool call;         /**< it is a JAL; else a JALR */
};

enum ctm_path ctm_search_run(struct ctm_search *search, const struct ctm_question *question);

/** A range of the way that was found. */
struct ctm_range {
    uint64_t start, end;
    uint32_t count;
    struct pug_insn last;
    bool executed; /**< false: its last instruction is a branch that was not taken */
};

/** The next range of an EXACT way; false when there are no more. */
bool ctm_search_next(struct ctm_search *search, struct ctm_range *range);

enum pug_status osd_ctm_decoder_new(const void *config, struct pug_stage *stage, void **decoder);
void osd_ctm_decoder_free(void *decoder);
enum pug_response osd_ctm_decode(void *decoder, const struct pug_packet *packet);
enum pug_response osd_ctm_resume(void *decoder);
enum pug_response osd_ctm_decode_end(void *decoder);
void osd_ctm_decoder_reset(void *decoder);

size_t osd_ctm_packet_text(const void *packet, char *buffer, size_t size);

#endif
