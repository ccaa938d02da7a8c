// SPDX-License-Identifier: MIT
/** @file The System Trace Module's room: what its files share. */
#ifndef PUG_PROTOCOL_OSD_STM_H
#define PUG_PROTOCOL_OSD_STM_H

#include "protocol/osd_event.h"

extern const struct pug_osd_module pug_osd_stm_module;

struct pug_osd_stm_decoder {
    const struct pug_osd_config *config;
    struct pug_stage *stage;
    struct pug_element waiting; /* made, but not pushed */
};

enum pug_status pug_osd_stm_decoder_new(const void *config, struct pug_stage *stage,
                                        void **decoder);
void pug_osd_stm_decoder_free(void *decoder);
enum pug_response pug_osd_stm_decode(void *decoder, const struct pug_packet *packet);
enum pug_response pug_osd_stm_resume(void *decoder);
enum pug_response pug_osd_stm_decode_end(void *decoder);
void pug_osd_stm_decoder_reset(void *decoder);

/* state.c */
void pug_osd_stm_decoder_state(const void *decoder, struct pug_state *state);

size_t pug_osd_stm_packet_text(const void *packet, char *buffer, size_t size);

#endif
