// SPDX-License-Identifier: MIT
/**
 * @file Settings of a Core Trace Module: ADDR_WIDTH (or addr_width), src_id (its address), isa
 * ("riscv", or anything else for cores whose code can't be followed), xlen.
 */
#include "base/text.h"
#include "protocol/builtin.h"
#include "protocol/osd_ctm/ctm.h"

static enum pug_status config_new(const struct pug_settings *settings, struct pug_log *log,
                                  void **config)
{
    return pug_osd_config_new(&pug_osd_ctm_module, settings, log, config);
}

static size_t config_text(const void *data, char *buffer, size_t size)
{
    const struct pug_osd_config *config = data;
    struct pug_text text = PUG_TEXT(buffer, size);
    pug_text_format(&text, "Core Trace Module at address %u\n", config->id);
    if (config->width)
        pug_text_format(&text, "ADDR_WIDTH: %u\n", config->width);
    else
        pug_text_put(&text, "ADDR_WIDTH: told by the trace\n");
    pug_text_format(&text, "Core: %s\n", config->riscv ? "RISC-V" : "not followed");
    return pug_text_end(&text);
}

static const struct pug_description description = {
    .transport = "osd",
    .module = 5,
    .usual = (const struct pug_usual[]){{"", "", "osd", PUG_OSD_EVENTS_USUAL}, {0}},
};

const struct pug_protocol pug_protocol_osd_ctm = {
    .name = "OSD-CTM",
    .title = "Open SoC Debug Core Trace Module",
    .reader_name = "PKTP_OSD_CTM",
    .decoder_name = "DCD_OSD_CTM",
    .program_flow = true,
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
    .decoder_new = pug_osd_ctm_decoder_new,
    .decoder_free = pug_osd_ctm_decoder_free,
    .decode = pug_osd_ctm_decode,
    .resume = pug_osd_ctm_resume,
    .decode_end = pug_osd_ctm_decode_end,
    .decoder_reset = pug_osd_ctm_decoder_reset,
    .packet_text = pug_osd_ctm_packet_text,
    .packet_name = pug_osd_packet_name,
    .packet_marks = pug_osd_marks,
    .reader_state = pug_osd_reader_state,
    .reader_clock = pug_osd_reader_clock,
    .decoder_state = pug_osd_ctm_decoder_state,
};
