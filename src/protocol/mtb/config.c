// SPDX-License-Identifier: MIT
/**
 * @file Settings of an MTB: its registers POSITION and MASTER. Without them the program shows where
 * the ring begins. PC: where execution was when the memory was read; VTOR: where the vector table
 * is, which names exceptions (else it is looked for in the program). Trace in frames: ATBID.
 */
#include "base/text.h"
#include "protocol/builtin.h"
#include "protocol/mtb/mtb.h"

#include <stdlib.h>

/** Take a register if its setting is given. */
static bool take(const struct pug_settings *settings, const char *name, uint32_t *value)
{
    if (!pug_settings_find(settings, name))
        return false;
    *value = (uint32_t)pug_settings_number(settings, name, 0);
    return true;
}

static enum pug_status config_new(const struct pug_settings *settings, struct pug_log *log,
                                  void **out)
{
    (void)log;
    struct pug_mtb_config *config = calloc(1, sizeof(*config));
    if (!config)
        return PUG_ERR_MEM;
    config->has_position = take(settings, "POSITION", &config->position);
    config->has_master = take(settings, "MASTER", &config->master);
    config->has_pc = take(settings, "PC", &config->pc);
    config->has_table = take(settings, "VTOR", &config->table);
    config->table &= ~UINT32_C(0x7f);
    config->trace_id = (uint16_t)pug_settings_number(settings, "ATBID", 0);
    *out = config;
    return PUG_OK;
}

static uint16_t trace_id(const void *config)
{
    return ((const struct pug_mtb_config *)config)->trace_id;
}

static size_t config_text(const void *data, char *buffer, size_t size)
{
    const struct pug_mtb_config *config = data;
    struct pug_text text = PUG_TEXT(buffer, size);
    if (config->has_master)
        pug_text_format(&text, "buffer of %llu bytes\n", 16ull << (config->master & 31));
    else
        pug_text_put(&text, "size of the buffer: told by the program\n");
    if (config->has_position)
        pug_text_format(&text, "next packet at 0x%x, %s\n", config->position & ~7u,
                        config->position & 4 ? "was full before" : "was never full");
    else
        pug_text_put(&text, "oldest packet: told by the program\n");
    if (config->has_table)
        pug_text_format(&text, "vector table at 0x%x\n", config->table);
    return pug_text_end(&text);
}

static const struct pug_description description = {
    .takes_all = true,
    .exceptions_decoded = true,
};

const struct pug_protocol pug_protocol_mtb = {
    .name = "MTB",
    .title = "Arm Micro Trace Buffer",
    .reader_name = "PKTP_MTB",
    .decoder_name = "DCD_MTB",
    .program_flow = true,
    .description = &description,
    .config_new = config_new,
    .config_free = free,
    .trace_id = trace_id,
    .config_text = config_text,
    .reader_new = pug_mtb_reader_new,
    .reader_free = pug_mtb_reader_free,
    .read = pug_mtb_read,
    .read_end = pug_mtb_read_end,
    .reader_reset = pug_mtb_reader_reset,
    .decoder_new = pug_mtb_decoder_new,
    .decoder_free = pug_mtb_decoder_free,
    .decode = pug_mtb_decode,
    .resume = pug_mtb_resume,
    .decode_end = pug_mtb_decode_end,
    .decoder_reset = pug_mtb_decoder_reset,
    .packet_text = pug_mtb_packet_text,
    .packet_name = pug_mtb_packet_name,
    .packet_marks = pug_mtb_marks,
};
