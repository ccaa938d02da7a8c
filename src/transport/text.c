// SPDX-License-Identifier: MIT
/** @file Packets of the encapsulation in words. */
#include "base/text.h"
#include "pugmark/advanced/encapsulation.h"

static void put_packet(struct pug_text *text, const struct pug_encapsulation_packet *packet)
{
    pug_text_format(text, "ENCAP_PKT : len=%u flow=%u", packet->length, packet->flow);
    if (packet->timestamp_bits > 0)
        pug_text_format(text, " ts=0x%llx", (unsigned long long)packet->timestamp);
    pug_text_format(text, " type=%lu", (unsigned long)packet->type);
    const struct pug_encapsulation_type *type = packet->registered;
    if (!type)
        return;
    char words[512] = "";
    if (type->text && packet->payload)
        type->text(type->context, packet, words, sizeof(words));
    pug_text_format(text, " %s%s%s", type->name, *words ? " : " : "", words);
}

static void put(struct pug_text *text, const struct pug_encapsulation_packet *packet)
{
    if (packet->kind == PUG_ENCAPSULATION_PACKET)
        put_packet(text, packet);
    else
        pug_text_format(text, "ENCAP_NULL_%s : flow=%u",
                        packet->kind == PUG_ENCAPSULATION_NULL_IDLE ? "IDLE" : "ALIGN",
                        packet->flow);
}

size_t pug_encapsulation_text(const struct pug_encapsulation_packet *packet, char *buffer,
                              size_t size)
{
    struct pug_text text = PUG_TEXT(buffer, size);
    put(&text, packet);
    return pug_text_end(&text);
}

size_t pug_encapsulation_line(const struct pug_encapsulation_packet *packet, char *buffer,
                              size_t size)
{
    struct pug_text text = PUG_TEXT(buffer, size);
    pug_text_format(&text, "Idx:%llu; SRC:%u; [", (unsigned long long)packet->index,
                    packet->source);
    for (uint32_t i = 0; i < packet->raw_size; i++)
        pug_text_format(&text, "0x%02x ", packet->raw[i]);
    pug_text_put(&text, "];\t");
    put(&text, packet);
    return pug_text_end(&text);
}
