// SPDX-License-Identifier: MIT
/** @file STM packets in words. */
#include "base/text.h"
#include "protocol/stm/stm.h"

static const struct {
    const char *name, *description;
    bool variants; /**< marked and timestamped forms have names of their own */
} words[PUG_STM_TYPE_COUNT] = {
    [PUG_STM_NOTSYNC] = {"NOTSYNC", "STM not synchronised", false},
    [PUG_STM_INCOMPLETE_EOT] = {"INCOMPLETE_EOT", "Incomplete packet flushed at end of trace",
                                false},
    [PUG_STM_NO_ERR_TYPE] = {"NO_ERR_TYPE", "Error type not set", false},
    [PUG_STM_ASYNC] = {"ASYNC", "Alignment synchronisation packet", false},
    [PUG_STM_VERSION] = {"VERSION", "Version packet", false},
    [PUG_STM_FREQ] = {"FREQ", "Frequency packet", false},
    [PUG_STM_NULL] = {"NULL", "Null packet", false},
    [PUG_STM_TRIG] = {"TRIG", "Trigger packet", true},
    [PUG_STM_GERR] = {"GERR", "Global Error", false},
    [PUG_STM_MERR] = {"MERR", "Master Error", false},
    [PUG_STM_M8] = {"M8", "Set current master", false},
    [PUG_STM_C8] = {"C8", "Set current channel", false},
    [PUG_STM_C16] = {"C16", "Set current channel", false},
    [PUG_STM_FLAG] = {"FLAG", "Flag packet", true},
    [PUG_STM_D4] = {"D4", "4 bit data", true},
    [PUG_STM_D8] = {"D8", "8 bit data", true},
    [PUG_STM_D16] = {"D16", "16 bit data", true},
    [PUG_STM_D32] = {"D32", "32 bit data", true},
    [PUG_STM_D64] = {"D64", "64 bit data", true},
    [PUG_STM_BAD_SEQUENCE] = {"BAD_SEQUENCE", "Invalid sequence in packet", false},
    [PUG_STM_RESERVED] = {"RESERVED", "Reserved Packet Header", false},
};

const char *pug_stm_packet_name(uint32_t type)
{
    return type < PUG_STM_TYPE_COUNT ? words[type].name : "UNKNOWN";
}

static void put_name(struct pug_text *text, const struct pug_stm_packet *packet, uint8_t type)
{
    pug_text_put(text, pug_stm_packet_name(type));
    if (type >= PUG_STM_TYPE_COUNT || !words[type].variants)
        return;
    if (packet->marker)
        pug_text_put(text, "M");
    if (packet->has_ts)
        pug_text_put(text, "TS");
}

static void put_description(struct pug_text *text, const struct pug_stm_packet *packet)
{
    if (packet->type >= PUG_STM_TYPE_COUNT) {
        pug_text_put(text, "ERROR: unknown packet type");
        return;
    }
    pug_text_put(text, words[packet->type].description);
    if (words[packet->type].variants && packet->marker)
        pug_text_put(text, " + marker");
    if (words[packet->type].variants && packet->has_ts)
        pug_text_put(text, " + timestamp");
}

static void put_data(struct pug_text *text, uint64_t value, unsigned digits)
{
    pug_text_put(text, "; Data=0x");
    pug_text_hex(text, value, digits);
}

static void put_payload(struct pug_text *text, const struct pug_stm_packet *packet)
{
    switch (packet->type) {
    case PUG_STM_INCOMPLETE_EOT:
    case PUG_STM_BAD_SEQUENCE:
        pug_text_put(text, "[");
        put_name(text, packet, packet->error_type);
        pug_text_put(text, "]");
        break;
    case PUG_STM_VERSION: pug_text_format(text, "; Ver=%u", (uint8_t)packet->payload); break;
    case PUG_STM_FREQ: pug_text_format(text, "; Freq=%uHz", (uint32_t)packet->payload); break;
    case PUG_STM_TRIG: pug_text_format(text, "; TrigData=0x%02x", (uint8_t)packet->payload); break;
    case PUG_STM_M8: pug_text_format(text, "; Master=0x%02x", packet->master); break;
    case PUG_STM_C8:
    case PUG_STM_C16: pug_text_format(text, "; Chan=0x%04x", packet->channel); break;
    case PUG_STM_D4: put_data(text, packet->payload & 0xf, 1); break;
    case PUG_STM_D8: put_data(text, packet->payload & 0xff, 2); break;
    case PUG_STM_D16: put_data(text, packet->payload & 0xffff, 4); break;
    case PUG_STM_D32: put_data(text, packet->payload & UINT32_MAX, 8); break;
    case PUG_STM_D64: put_data(text, packet->payload, 16); break;
    default: break;
    }
}

static void put_ts(struct pug_text *text, const struct pug_stm_packet *packet)
{
    pug_text_format(text, "; TS=0x%016llX", (unsigned long long)packet->timestamp);
    if (packet->ts_bits == 0)
        return;
    uint64_t given = packet->timestamp;
    if (packet->ts_bits < 64)
        given &= (UINT64_C(1) << packet->ts_bits) - 1;
    pug_text_format(text, " ~[0x%llX]", (unsigned long long)given);
}

size_t pug_stm_packet_text(const void *data, char *buffer, size_t size)
{
    const struct pug_stm_packet *packet = data;
    struct pug_text text = PUG_TEXT(buffer, size);
    put_name(&text, packet, packet->type);
    pug_text_put(&text, ":");
    put_description(&text, packet);
    put_payload(&text, packet);
    if (packet->has_ts)
        put_ts(&text, packet);
    return pug_text_end(&text);
}
