// SPDX-License-Identifier: MIT
/** @file The one list of protocols: those built in, and those that a program registers. */
#include "protocol/builtin.h"

static const struct pug_protocol *const builtin[] = {
    &pug_protocol_etmv4,
    &pug_protocol_ete,
    &pug_protocol_etmv3,
    &pug_protocol_ptm,
    &pug_protocol_stm,
    &pug_protocol_itm,
    &pug_protocol_mtb,
    &pug_protocol_ntrace,
    &pug_protocol_osd_ctm,
    &pug_protocol_osd_stm,
    &pug_protocol_etrace,
    &pug_protocol_etmv4d,
    NULL,
};

#define BUILTINS       (sizeof(builtin) / sizeof(builtin[0]))
#define EXTERNAL_LIMIT 32

static const struct pug_protocol *external[EXTERNAL_LIMIT];
static size_t external_count;

const struct pug_protocol *pug_protocol_at(size_t n)
{
    for (size_t i = 0; i < BUILTINS; i++)
        if (builtin[i] && n-- == 0)
            return builtin[i];
    return n < external_count ? external[n] : NULL;
}

const struct pug_protocol *pug_protocol_find(const char *name)
{
    const struct pug_protocol *protocol;
    for (size_t n = 0; name && (protocol = pug_protocol_at(n)) != NULL; n++)
        if (strcmp(protocol->name, name) == 0)
            return protocol;
    return NULL;
}

bool pug_protocol_is_whole(const struct pug_protocol *protocol)
{
    if (!protocol->name || !protocol->config_new || !protocol->trace_id || !protocol->reader_new ||
        !protocol->reader_free)
        return false;
    if (protocol->operate)
        return true;
    return protocol->read &&
           (!protocol->decoder_new || (protocol->decoder_free && protocol->decode &&
                                       protocol->decode_end && protocol->decoder_reset));
}

enum pug_status pug_protocol_register(const struct pug_protocol *protocol)
{
    if (!protocol || !pug_protocol_is_whole(protocol))
        return PUG_ERR_INVALID_PARAM_VAL;
    if (protocol->abi != PUG_AUTHOR_ABI)
        return PUG_ERR_NOT_OFFERED;
    if (pug_protocol_find(protocol->name))
        return PUG_ERR_NAME_TAKEN;
    if (external_count == EXTERNAL_LIMIT)
        return PUG_ERR_TOO_MANY_PROTOCOLS;
    external[external_count++] = protocol;
    return PUG_OK;
}

enum pug_status pug_protocol_unregister(const char *name)
{
    for (size_t i = 0; name && i < external_count; i++) {
        if (strcmp(external[i]->name, name) != 0)
            continue;
        memmove(&external[i], &external[i + 1], (external_count - i - 1) * sizeof(external[0]));
        external_count--;
        return PUG_OK;
    }
    return PUG_ERR_UNKNOWN_NAME;
}

/* ---- what users see of a protocol ---- */

const char *pug_protocol_name(const struct pug_protocol *protocol)
{
    return protocol->name;
}

const char *pug_protocol_title(const struct pug_protocol *protocol)
{
    return protocol->title ? protocol->title : protocol->name;
}

bool pug_protocol_has_flow(const struct pug_protocol *protocol)
{
    return protocol->program_flow;
}

const char *pug_packet_name(const struct pug_protocol *protocol, const struct pug_packet *packet)
{
    return protocol->packet_name ? protocol->packet_name(packet->type) : "";
}

size_t pug_packet_text(const struct pug_protocol *protocol, const struct pug_packet *packet,
                       char *buffer, size_t size)
{
    if (protocol->packet_text)
        return protocol->packet_text(packet->data, buffer, size);
    if (size > 0)
        *buffer = '\0';
    return 0;
}
