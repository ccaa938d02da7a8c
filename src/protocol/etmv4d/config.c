// SPDX-License-Identifier: MIT
/** @file Settings of an ETMv4 data stream: TRCTRACEIDR, of the unit, and which stream it is. */
#include "base/text.h"
#include "protocol/builtin.h"
#include "protocol/etmv4d/etmv4d.h"

#include <stdlib.h>

static enum pug_status config_new(const struct pug_settings *settings, struct pug_log *log,
                                  void **out)
{
    struct pug_etmv4d_config *config = calloc(1, sizeof(*config));
    (void)log;
    if (!config)
        return PUG_ERR_MEM;
    config->id = (uint16_t)((pug_settings_number(settings, "TRCTRACEIDR", 0) +
                             pug_settings_number(settings, "stream", 1)) &
                            0x7f);
    *out = config;
    return PUG_OK;
}

static uint16_t trace_id(const void *config)
{
    return ((const struct pug_etmv4d_config *)config)->id;
}

static size_t config_text(const void *data, char *buffer, size_t size)
{
    const struct pug_etmv4d_config *config = data;
    struct pug_text text = PUG_TEXT(buffer, size);
    pug_text_format(&text,
                    "data stream of an ETMv4 with trace id 0x%02x: headers alone are read, as how "
                    "long packets are is not public\n",
                    config->id);
    return pug_text_end(&text);
}

static void reader_reset(void *reader)
{
    struct pug_etmv4d_reader *r = reader;
    *r = (struct pug_etmv4d_reader){.stage = r->stage};
}

static enum pug_status reader_new(const void *config, struct pug_stage *stage, void **out)
{
    struct pug_etmv4d_reader *r = calloc(1, sizeof(*r));
    (void)config;
    if (!r)
        return PUG_ERR_MEM;
    r->stage = stage;
    *out = r;
    return PUG_OK;
}

static void decoder_reset(void *decoder)
{
    struct pug_etmv4d_decoder *d = decoder;
    d->told = false;
    d->last = 0;
    d->stage->out.blank = (struct pug_element){.source = d->stage->source};
}

static enum pug_status decoder_new(const void *config, struct pug_stage *stage, void **out)
{
    struct pug_etmv4d_decoder *d = calloc(1, sizeof(*d));
    (void)config;
    if (!d)
        return PUG_ERR_MEM;
    d->stage = stage;
    decoder_reset(d);
    *out = d;
    return PUG_OK;
}

static size_t marks(const void *config, const void *data, struct pug_mark out[PUG_MARK_LIMIT])
{
    const struct pug_etmv4d_packet *packet = data;
    (void)config;
    switch (packet->type) {
    case PUG_ETMV4D_DISCARD: return pug_mark_put(out, 0, PUG_MARK_DISCARD, 0);
    case PUG_ETMV4D_OVERFLOW: return pug_mark_put(out, 0, PUG_MARK_OVERFLOW, 0);
    default: return 0;
    }
}

static const struct pug_register registers[] = {{.name = "TRCTRACEIDR", .need = PUG_REGISTER_ID},
                                                {0}};

static const struct pug_description description = {
    .types = (const struct pug_device_type[]){{"ETM", 4, NULL, 1}, {0}},
    .registers = registers,
};

const struct pug_protocol pug_protocol_etmv4d = {
    .name = "ETMV4D",
    .title = "Arm ETMv4 data trace (headers alone)",
    .reader_name = "PKTP_ETMV4D",
    .decoder_name = "DCD_ETMV4D",
    .description = &description,
    .config_new = config_new,
    .config_free = free,
    .trace_id = trace_id,
    .config_text = config_text,
    .reader_new = reader_new,
    .reader_free = free,
    .read = pug_etmv4d_read,
    .read_end = pug_etmv4d_read_end,
    .reader_reset = reader_reset,
    .decoder_new = decoder_new,
    .decoder_free = free,
    .decode = pug_etmv4d_decode,
    .decode_end = pug_etmv4d_decode_end,
    .decoder_reset = decoder_reset,
    .packet_text = pug_etmv4d_packet_text,
    .packet_name = pug_etmv4d_packet_name,
    .packet_marks = marks,
};
