// SPDX-License-Identifier: MIT
/** @file ETMv3: what its registers say about the trace, and the protocol's table. */
#include "protocol/builtin.h"
#include "protocol/etmv3/etmv3.h"

#include <stdlib.h>

enum pug_status pug_etmv3_config_new(const struct pug_settings *settings, struct pug_log *log,
                                     void **out)
{
    struct pug_armv7_registers registers = {0};
    enum pug_status status = pug_armv7_registers(settings, log, "ETMV3", &registers);
    if (status != PUG_OK)
        return status;
    struct pug_etmv3_config *config = calloc(1, sizeof(*config));
    if (!config)
        return PUG_ERR_MEM;
    uint32_t control = registers.control, code = registers.code;
    config->registers = registers;
    config->minor = (uint8_t)pug_armv7_minor(&registers);
    config->cprt = pug_armv7_bit(control, 1);
    config->data_values = pug_armv7_bit(control, 2);
    config->data_addresses = pug_armv7_bit(control, 3);
    config->cycle_accurate = pug_armv7_bit(control, 12);
    config->context_id_bytes = (uint8_t)pug_armv7_context_id_bytes(&registers);
    config->instructions = !pug_armv7_bit(control, 20);
    config->alternative_branches = pug_armv7_bit(registers.id, 20) && config->minor >= 4;
    config->has_hyp = pug_armv7_bit(code, 26);
    config->timestamp_bytes = pug_armv7_bit(code, 29) ? 9 : 7;
    config->gray_timestamps =
        config->minor >= 5 && pug_armv7_bit(code, 22) && !pug_armv7_bit(code, 28);
    config->m_profile = registers.profile == PUG_PROFILE_M;
    pug_etmv3_set_p_headers(config);
    *out = config;
    return PUG_OK;
}

void pug_etmv3_config_free(void *config)
{
    free(config);
}

uint16_t pug_etmv3_trace_id(const void *config)
{
    return ((const struct pug_etmv3_config *)config)->registers.trace_id & 0x7f;
}

size_t pug_etmv3_config_text(const void *pointer, char *buffer, size_t size)
{
    const struct pug_etmv3_config *config = pointer;
    struct pug_text text = PUG_TEXT(buffer, size);
    pug_armv7_registers_text(&text, &config->registers);
    pug_text_format(&text, "version 3.%u%s\n", config->minor, config->m_profile ? ", M" : "");
    pug_text_format(&text, "instructions %s\n", config->instructions ? "yes" : "no");
    pug_text_format(&text, "data addresses %s\n", config->data_addresses ? "yes" : "no");
    pug_text_format(&text, "data values %s\n", config->data_values ? "yes" : "no");
    pug_text_format(&text, "cycle accurate %s\n", config->cycle_accurate ? "yes" : "no");
    pug_text_format(&text, "branch encoding %s\n",
                    config->alternative_branches ? "alternative" : "original");
    pug_text_format(&text, "context id %u bytes\n", config->context_id_bytes);
    pug_text_format(&text, "timestamp %u bits\n", config->timestamp_bytes == 9 ? 64 : 48);
    return pug_text_end(&text);
}

#define USUAL "ETMTRACEIDR=0x10 ETMIDR=0x4100f250 ETMCCER=0x34000000 "

static const struct pug_usual usual[] = {{USUAL "ETMCR=0", "", NULL, 1},
                                         {USUAL "ETMCR=0x1000", "ETMCR=0x1000", NULL, 1},
                                         {USUAL "ETMCR=0xc000", "ETMCR=0xc000", NULL, 1},
                                         {USUAL "ETMCR=0xc", "ETMCR=0xc", NULL, 1},
                                         {0}};

static const struct pug_doubt doubts[] = {
    {"ETMCR", "bytes of a context id", 0xc000, {0x0, 0x4000, 0x8000, 0xc000}, 4},
    {"ETMCR", "cycle-accurate trace", 0x1000, {0x0, 0x1000}, 2},
    {"ETMCR", "data trace", 0xc, {0x0, 0x4, 0x8, 0xc}, 4},
    {0},
};

static const struct pug_description description = {
    .usual = usual,
    .doubts = doubts,
    .types = (const struct pug_device_type[]){{"ETM", 3, "ETM3", 0}, {0}},
    .registers = pug_armv7_register_list,
    .traces_core = true,
    .usual_arch = PUG_ARCH_V7,
};

const struct pug_protocol pug_protocol_etmv3 = {
    .name = "ETMV3",
    .title = "Arm ETMv3 instruction and data trace",
    .reader_name = "PKTP_ETMV3",
    .decoder_name = "DCD_ETMV3",
    .program_flow = true,
    .description = &description,
    .config_new = pug_etmv3_config_new,
    .config_free = pug_etmv3_config_free,
    .trace_id = pug_etmv3_trace_id,
    .config_text = pug_etmv3_config_text,
    .reader_new = pug_etmv3_reader_new,
    .reader_free = pug_etmv3_reader_free,
    .read = pug_etmv3_read,
    .read_end = pug_etmv3_read_end,
    .reader_reset = pug_etmv3_reader_reset,
    .decoder_new = pug_etmv3_decoder_new,
    .decoder_free = pug_etmv3_decoder_free,
    .decode = pug_etmv3_decode,
    .resume = pug_etmv3_resume,
    .fast_path = pug_etmv3_fast_path,
    .decode_end = pug_etmv3_decode_end,
    .decoder_reset = pug_etmv3_decoder_reset,
    .options_changed = pug_etmv3_options_changed,
    .packet_text = pug_etmv3_packet_text,
    .packet_name = pug_etmv3_packet_name,
    .packet_marks = pug_etmv3_marks,
    .reader_state = pug_etmv3_reader_state,
    .decoder_state = pug_etmv3_decoder_state,
    .self_synced = pug_etmv3_self_synced,
};
