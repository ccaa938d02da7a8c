// SPDX-License-Identifier: MIT
/** @file Settings of a System Trace Module: VALWIDTH (or valwidth), src_id (its address). */
#include "base/text.h"
#include "protocol/builtin.h"
#include "protocol/osd_stm/stm.h"

static enum pug_status config_new(const struct pug_settings *settings, struct pug_log *log,
                                  void **config)
{
    return pug_osd_config_new(&pug_osd_stm_module, settings, log, config);
}

static size_t config_text(const void *data, char *buffer, size_t size)
{
    const struct pug_osd_config *config = data;
    struct pug_text text = PUG_TEXT(buffer, size);
    pug_text_format(&text, "System Trace Module at address %u\n", config->id);
    if (config->width)
        pug_text_format(&text, "VALWIDTH: %u\n", config->width);
    else
        pug_text_put(&text, "VALWIDTH: told by the trace\n");
    return pug_text_end(&text);
}

static const struct pug_description description = {
    .transport = "osd",
    .module = 4,
    .usual = (const struct pug_usual[]){{"", "", "osd", PUG_OSD_EVENTS_USUAL}, {0}},
};

const struct pug_protocol pug_protocol_osd_stm = {
    .name = "OSD-STM",
    .title = "Open SoC Debug System Trace Module",
    .reader_name = "PKTP_OSD_STM",
    .decoder_name = "DCD_OSD_STM",
    .description = &description,
    .config_new = config_new,
    .config_free = pug_osd_config_free,
    .trace_id = pug_osd_trace_id,
    .config_text = config_text,
    .reader_new = pug_osd_reader_new,
    .reader_free = pug_osd_reader_free,
    .read = pug_osd_read,
    .read_end = pug_osd_read_end,
    .reader_reset = pug_osd_reader_reset,
    .decoder_new = pug_osd_stm_decoder_new,
    .decoder_free = pug_osd_stm_decoder_free,
    .decode = pug_osd_stm_decode,
    .resume = pug_osd_stm_resume,
    .decode_end = pug_osd_stm_decode_end,
    .decoder_reset = pug_osd_stm_decoder_reset,
    .packet_text = pug_osd_stm_packet_text,
    .packet_name = pug_osd_packet_name,
    .packet_marks = pug_osd_marks,
    .reader_state = pug_osd_reader_state,
    .reader_clock = pug_osd_reader_clock,
    .decoder_state = pug_osd_stm_decoder_state,
};
