// SPDX-License-Identifier: MIT
/**
 * @file The packet encapsulation for callers that read its packets and decode their payloads
 * themselves.
 */
#include "pugmark/advanced/encapsulation.h"
#include "transport/unwrap.h"

#include <stdlib.h>

struct pug_encapsulation {
    struct pug_unwrap_config config;
    struct pug_unwrap *unwrap;
    struct pug_log *log;
    const struct pug_encapsulation_type **types;
    size_t type_count;
};

static void report(void *context, enum pug_status code, uint64_t index, const char *text)
{
    const struct pug_encapsulation *reader = context;
    bool warning = code == PUG_ERR_PACKET_SEQUENCE;
    pug_log_put(reader->log,
                &(struct pug_log_record){.severity = warning ? PUG_SEV_WARN : PUG_SEV_ERROR,
                                         .code = code,
                                         .index = index,
                                         .source = PUG_NO_SOURCE,
                                         .component = "ENCAP",
                                         .text = text});
}

enum pug_status pug_encapsulation_new(const struct pug_settings *settings, struct pug_log *log,
                                      struct pug_encapsulation **out)
{
    if (!out)
        return PUG_ERR_INVALID_PARAM_VAL;
    *out = NULL;
    struct pug_encapsulation *reader = calloc(1, sizeof(*reader));
    if (!reader)
        return PUG_ERR_MEM;
    reader->log = log;
    enum pug_status status =
        pug_unwrap_configure(&reader->config, PUG_WRAP_ENCAPSULATION, settings, log);
    if (status == PUG_OK) {
        reader->unwrap = pug_unwrap_new(&reader->config, report, reader);
        status = reader->unwrap ? PUG_OK : PUG_ERR_MEM;
    }
    if (status == PUG_OK)
        *out = reader;
    else
        pug_encapsulation_free(reader);
    return status;
}

void pug_encapsulation_free(struct pug_encapsulation *reader)
{
    if (!reader)
        return;
    pug_unwrap_free(reader->unwrap);
    pug_unwrap_config_clear(&reader->config);
    free(reader->types);
    free(reader);
}

void pug_encapsulation_reset(struct pug_encapsulation *reader)
{
    pug_unwrap_reset(reader->unwrap);
}

size_t pug_encapsulation_fill(struct pug_encapsulation *reader, uint64_t index,
                              const uint8_t *bytes, size_t size)
{
    return pug_unwrap_fill(reader->unwrap, index, bytes, size);
}

void pug_encapsulation_end(struct pug_encapsulation *reader)
{
    pug_unwrap_end(reader->unwrap);
}

uint64_t pug_encapsulation_skipped(const struct pug_encapsulation *reader)
{
    return pug_unwrap_skipped(reader->unwrap);
}

/* ---- types ---- */

enum pug_status pug_encapsulation_register(struct pug_encapsulation *reader,
                                           const struct pug_encapsulation_type *type)
{
    if (!reader || !type)
        return PUG_ERR_INVALID_PARAM_VAL;
    const struct pug_encapsulation_type **grown =
        realloc(reader->types, (reader->type_count + 1) * sizeof(*grown));
    if (!grown)
        return PUG_ERR_MEM;
    reader->types = grown;
    grown[reader->type_count++] = type;
    return PUG_OK;
}

static const struct pug_encapsulation_type *find_type(const struct pug_encapsulation *reader,
                                                      uint32_t source, uint32_t type)
{
    for (size_t i = reader->type_count; i-- > 0;)
        if (reader->types[i]->source == source && reader->types[i]->type == type)
            return reader->types[i];
    return NULL;
}

/* ---- packets ---- */

void pug_unwrap_describe(const struct pug_unwrapped *unwrapped,
                         struct pug_encapsulation_packet *packet)
{
    *packet = (struct pug_encapsulation_packet){
        .index = unwrapped->index,
        .raw = unwrapped->raw,
        .raw_size = unwrapped->length,
        .kind = !unwrapped->null    ? PUG_ENCAPSULATION_PACKET
                : unwrapped->extend ? PUG_ENCAPSULATION_NULL_ALIGNMENT
                                    : PUG_ENCAPSULATION_NULL_IDLE,
        .length = unwrapped->raw[0] & 0x1f,
        .flow = unwrapped->flow,
        .extend = unwrapped->extend,
        .gap = unwrapped->gap,
        .content = unwrapped->kind,
        .timestamp_bits = unwrapped->timestamp_bits,
        .source = unwrapped->source,
        .type = unwrapped->type,
        .timestamp = unwrapped->timestamp,
        .payload = unwrapped->payload,
        .size = unwrapped->padding == PUG_RUN_PADDED ? unwrapped->bits / 8 : unwrapped->size,
        .bits = unwrapped->bits,
    };
}

bool pug_unwrap_wants(const struct pug_unwrap_config *config, const struct pug_unwrapped *packet)
{
    return !(config->no_flows >> packet->flow & 1);
}

static void describe(const struct pug_encapsulation *reader, const struct pug_unwrapped *unwrapped,
                     struct pug_encapsulation_packet *packet)
{
    pug_unwrap_describe(unwrapped, packet);
    if (unwrapped->null)
        return;
    packet->registered = find_type(reader, packet->source, packet->type);
    if (!packet->registered)
        packet->registered = find_type(reader, PUG_ENCAPSULATION_ANY_SOURCE, packet->type);
}

bool pug_encapsulation_next(struct pug_encapsulation *reader,
                            struct pug_encapsulation_packet *packet)
{
    struct pug_unwrapped unwrapped;
    do {
        if (!pug_unwrap_next(reader->unwrap, &unwrapped))
            return false;
    } while (!pug_unwrap_wants(&reader->config, &unwrapped));
    describe(reader, &unwrapped, packet);
    if (packet->registered && packet->registered->take)
        packet->registered->take(packet->registered->context, packet);
    return true;
}

bool pug_encapsulation_parse(const struct pug_encapsulation *reader, uint64_t index,
                             const uint8_t *bytes, size_t size,
                             struct pug_encapsulation_packet *packet)
{
    uint8_t scratch[PUG_UNWRAP_LONGEST];
    struct pug_unwrapped unwrapped;
    if (pug_unwrap_parse(&reader->config, bytes, size, scratch, &unwrapped) != PUG_PARSED)
        return false;
    unwrapped.index = index;
    describe(reader, &unwrapped, packet);
    packet->payload = NULL; /* it may have been put together here */
    packet->size = 0;
    return true;
}
