// SPDX-License-Identifier: MIT
/** @file STM and ITM packets, to the client's structs and back. */
#include "host_bits.h"
#include "packets.h"

#include "protocol/builtin.h"
#include "pugmark/advanced/packet/itm.h"
#include "pugmark/advanced/packet/stm.h"

/** Returns the number of bits in a packet's payload. */
static unsigned payload_bits(unsigned type)
{
    switch (type) {
    case PUG_STM_D4:
    case PUG_STM_D8:
    case PUG_STM_VERSION:
    case PUG_STM_TRIG:
    case PUG_STM_GERR:
    case PUG_STM_MERR: return 8;
    case PUG_STM_D16:
    case PUG_STM_RESERVED: return 16;
    case PUG_STM_D32:
    case PUG_STM_FREQ: return 32;
    default: return 64;
    }
}

void shell_stm_to_client(const void *packet, union shell_client_packet *client)
{
    const struct pug_stm_packet *in = packet;
    ocsd_stm_pkt *out = &client->stm;
    memset(out, 0, sizeof(*out));
    out->type = (ocsd_stm_pkt_type)in->type;
    out->master = in->master;
    out->channel = in->channel;
    out->timestamp = in->timestamp;
    out->pkt_ts_bits = in->ts_bits;
    out->pkt_has_ts = in->has_ts;
    out->ts_type = (ocsd_stm_ts_type)in->ts_type;
    out->pkt_has_marker = in->marker;
    out->payload.D64 = shell_host_part(in->payload, payload_bits(in->type));
    out->err_type = (ocsd_stm_pkt_type)in->error_type;
}

size_t shell_stm_client_text(const void *client, char *buffer, size_t size)
{
    const ocsd_stm_pkt *in = client;
    struct pug_stm_packet packet = {
        .type = (uint8_t)in->type,
        .error_type = (uint8_t)in->err_type,
        .master = in->master,
        .ts_type = (uint8_t)in->ts_type,
        .ts_bits = in->pkt_ts_bits,
        .has_ts = in->pkt_has_ts,
        .marker = in->pkt_has_marker,
        .channel = in->channel,
        .timestamp = in->timestamp,
        .payload = shell_plain_part(in->payload.D64, payload_bits((unsigned)in->type)),
    };
    return pug_protocol_stm.packet_text(&packet, buffer, size);
}

void shell_itm_to_client(const void *packet, union shell_client_packet *client)
{
    const struct pug_itm_packet *in = packet;
    ocsd_itm_pkt *out = &client->itm;
    memset(out, 0, sizeof(*out));
    out->type = (ocsd_itm_pkt_type)in->type;
    out->src_id = in->source;
    out->value = in->value;
    out->val_sz = in->size;
    out->val_ext = in->value_top;
    out->err_type = (ocsd_itm_pkt_type)in->error_type;
}

size_t shell_itm_client_text(const void *client, char *buffer, size_t size)
{
    const ocsd_itm_pkt *in = client;
    struct pug_itm_packet packet = {
        .type = (uint8_t)in->type,
        .error_type = (uint8_t)in->err_type,
        .source = in->src_id,
        .size = in->val_sz,
        .value_top = in->val_ext,
        .value = in->value,
    };
    return pug_protocol_itm.packet_text(&packet, buffer, size);
}
