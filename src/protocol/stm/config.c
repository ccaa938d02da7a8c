// SPDX-License-Identifier: MIT
/** @file STM registers to settings. */
#include "base/text.h"
#include "protocol/builtin.h"
#include "protocol/stm/stm.h"

enum pug_status pug_stm_config_new(const struct pug_settings *settings, struct pug_log *log,
                                   void **out)
{
    (void)log;
    /* Without the register only the trace id is unknown; it may be given by itself. */
    uint64_t tcsr = (pug_settings_number(settings, "src_id", 0) & 0x7f) << 16;
    struct pug_stm_config *config = malloc(sizeof(*config));
    if (!config)
        return PUG_ERR_MEM;
    *config = (struct pug_stm_config){
        .tcsr = (uint32_t)pug_settings_number(settings, "STMTCSR", tcsr),
        .feat1r = (uint32_t)pug_settings_number(settings, "STMFEAT1R", 0),
        .feat3r = (uint32_t)pug_settings_number(settings, "STMFEAT3R", 0x10000),
        .devid = (uint32_t)pug_settings_number(settings, "STMDEVID", 0xff),
        .hemastr = (uint32_t)pug_settings_number(settings, "STMHEMASTR", 0),
        .hw_event = (uint32_t)pug_settings_number(settings, "hw_event", 0),
    };
    *out = config;
    return PUG_OK;
}

void pug_stm_config_free(void *config)
{
    free(config);
}

uint16_t pug_stm_trace_id(const void *config)
{
    const struct pug_stm_config *stm = config;
    return stm->tcsr >> 16 & 0x7f;
}

static bool hardware_events(const struct pug_stm_config *stm)
{
    bool by_registers = (stm->feat1r >> 18 & 3) == 2 && (stm->tcsr & 1u << 3);
    return stm->hw_event == 1 || (stm->hw_event == 2 && by_registers);
}

size_t pug_stm_config_text(const void *config, char *buffer, size_t size)
{
    const struct pug_stm_config *stm = config;
    struct pug_text text = PUG_TEXT(buffer, size);
    pug_text_format(&text, "STMTCSR=0x%08x: trace id 0x%02x\n", stm->tcsr, pug_stm_trace_id(stm));
    pug_text_format(&text, "masters 0 to 0x%02x, channels 0 to 0x%04x\n", stm->devid & 0xff,
                    stm->feat3r - 1);
    if (hardware_events(stm))
        pug_text_format(&text, "hardware events on master 0x%02x\n", stm->hemastr);
    else
        pug_text_put(&text, "no hardware events\n");
    return pug_text_end(&text);
}

static const struct pug_description description = {
    .usual = (const struct pug_usual[]){{"", "", NULL, 1}, {0}},
    .types = (const struct pug_device_type[]){{"STM", 0, "STM", 0}, {0}},
    .registers = (const struct pug_register[]){{.name = "STMTCSR", .need = PUG_REGISTER_ID}, {0}},
};

const struct pug_protocol pug_protocol_stm = {
    .name = "STM",
    .title = "Arm CoreSight System Trace Macrocell (MIPI STPv2)",
    .reader_name = "PKTP_STM",
    .decoder_name = "DCD_STM",
    .description = &description,
    .config_new = pug_stm_config_new,
    .config_free = pug_stm_config_free,
    .trace_id = pug_stm_trace_id,
    .config_text = pug_stm_config_text,
    .reader_new = pug_stm_reader_new,
    .reader_free = pug_stm_reader_free,
    .read = pug_stm_read,
    .read_end = pug_stm_read_end,
    .reader_reset = pug_stm_reader_reset,
    .decoder_new = pug_stm_decoder_new,
    .decoder_free = pug_stm_decoder_free,
    .decode = pug_stm_decode,
    .fast_path = pug_stm_fast_path,
    .decode_end = pug_stm_decode_end,
    .decoder_reset = pug_stm_decoder_reset,
    .options_changed = pug_stm_options_changed,
    .packet_text = pug_stm_packet_text,
    .packet_name = pug_stm_packet_name,
    .packet_marks = pug_stm_marks,
    .reader_state = pug_stm_reader_state,
    .decoder_state = pug_stm_decoder_state,
};
