// SPDX-License-Identifier: MIT
/** @file ITM registers to settings. */
#include "base/text.h"
#include "protocol/builtin.h"
#include "protocol/itm/itm.h"

/** Where the core's vector tables were; commands find them in the program. */
static void take_tables(struct pug_itm_config *config, const struct pug_settings *settings)
{
    static const char *const registers[] = {"VTOR", "VTOR_NS"};
    for (unsigned n = 0; n < 2; n++) {
        const struct pug_setting *found = pug_settings_find(settings, registers[n]);
        if (found)
            config->tables[config->table_count++] = (uint32_t)found->value;
    }
}

enum pug_status pug_itm_config_new(const struct pug_settings *settings, struct pug_log *log,
                                   void **out)
{
    static const char *const comparators[PUG_DWT_COMPARATORS] = {"DWT_COMP0", "DWT_COMP1",
                                                                 "DWT_COMP2", "DWT_COMP3"};
    (void)log;
    struct pug_itm_config *config = calloc(1, sizeof(*config));
    if (!config)
        return PUG_ERR_MEM;
    /* Without the register the trace id may be given by itself, and timestamps count cycles. */
    uint64_t tcr = (pug_settings_number(settings, "src_id", 0) & 0x7f) << 16;
    config->tcr = (uint32_t)pug_settings_number(settings, "ITMTCR", tcr);
    config->assume_sync = pug_settings_number(settings, "assume_sync", 0) != 0;
    const struct pug_setting *begin = pug_settings_find(settings, "begin_at");
    config->begins = begin && !config->assume_sync;
    config->begin_at = config->begins ? begin->value : 0;
    config->guessed = config->begins && pug_settings_number(settings, "guess_sync", 0) != 0;
    config->timestamp_loss = (uint32_t)pug_settings_number(settings, "timestamp_loss", 0);
    for (unsigned n = 0; n < PUG_DWT_COMPARATORS; n++) {
        const struct pug_setting *found = pug_settings_find(settings, comparators[n]);
        if (!found)
            continue;
        config->comparator_set |= (uint8_t)(1u << n);
        config->comparator[n] = (uint32_t)found->value;
    }
    take_tables(config, settings);
    *out = config;
    return PUG_OK;
}

void pug_dwt_use_config(struct pug_dwt *dwt, const void *config)
{
    const struct pug_itm_config *itm = config;
    for (unsigned n = 0; n < PUG_DWT_COMPARATORS; n++)
        if (itm->comparator_set & 1u << n)
            pug_dwt_set_comparator(dwt, n, itm->comparator[n]);
}

void pug_itm_config_free(void *config)
{
    free(config);
}

uint16_t pug_itm_trace_id(const void *config)
{
    const struct pug_itm_config *itm = config;
    return itm->tcr >> 16 & 0x7f;
}

size_t pug_itm_config_text(const void *config, char *buffer, size_t size)
{
    const struct pug_itm_config *itm = config;
    struct pug_text text = PUG_TEXT(buffer, size);
    pug_text_format(&text, "ITMTCR=0x%08x: trace id 0x%02x\n", itm->tcr, pug_itm_trace_id(itm));
    pug_text_format(&text, "local timestamps count %u cycles\n", pug_itm_prescale(itm));
    if (itm->timestamp_loss)
        pug_text_format(&text, "each local timestamp lacks %u cycles, which are added\n",
                        itm->timestamp_loss);
    for (unsigned n = 0; n < PUG_DWT_COMPARATORS; n++)
        if (itm->comparator_set & 1u << n)
            pug_text_format(&text, "DWT comparator %u watches 0x%08x\n", n, itm->comparator[n]);
    for (unsigned n = 0; n < itm->table_count; n++)
        pug_text_format(&text, "vector table at 0x%08x\n", itm->tables[n]);
    if (itm->assume_sync)
        pug_text_put(&text, "taken to start at a packet\n");
    if (itm->begins)
        pug_text_format(&text, "taken to have a packet at its byte %llu%s\n",
                        (unsigned long long)itm->begin_at,
                        itm->guessed ? ": a guess, there is no synchronisation point before" : "");
    return pug_text_end(&text);
}

static const struct pug_description description = {
    .usual = (const struct pug_usual[]){{"", "", NULL, 1}, {"", "", "orbflow", 1}, {0}},
    .types = (const struct pug_device_type[]){{"ITM", 0, "ITM", 0}, {0}},
    .registers =
        (const struct pug_register[]){
            {.name = "ITMTCR", .need = PUG_REGISTER_ID, .other_name = "CONTROL_REGISTER"}, {0}},
    .dwt = true,
    .begin = pug_itm_begin,
    .steps_apart = true,
};

const struct pug_protocol pug_protocol_itm = {
    .name = "ITM",
    .title = "Arm Instrumentation Trace Macrocell and DWT (Cortex-M SWO)",
    .reader_name = "PKTP_ITM",
    .decoder_name = "DCD_ITM",
    .description = &description,
    .config_new = pug_itm_config_new,
    .config_free = pug_itm_config_free,
    .trace_id = pug_itm_trace_id,
    .config_text = pug_itm_config_text,
    .reader_new = pug_itm_reader_new,
    .reader_free = pug_itm_reader_free,
    .read = pug_itm_read,
    .read_end = pug_itm_read_end,
    .reader_reset = pug_itm_reader_reset,
    .decoder_new = pug_itm_decoder_new,
    .decoder_free = pug_itm_decoder_free,
    .decode = pug_itm_decode,
    .fast_path = pug_itm_fast_path,
    .decode_end = pug_itm_decode_end,
    .decoder_reset = pug_itm_decoder_reset,
    .packet_text = pug_itm_packet_text,
    .packet_name = pug_itm_packet_name,
    .packet_marks = pug_itm_marks,
    .reader_state = pug_itm_reader_state,
    .decoder_state = pug_itm_decoder_state,
};
