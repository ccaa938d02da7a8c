// SPDX-License-Identifier: MIT
/** @file MTB packets in words. */
#include "base/text.h"
#include "protocol/mtb/mtb.h"

static const char *const names[PUG_MTB_TYPES] = {
    [PUG_MTB_BRANCH] = "BRANCH", [PUG_MTB_EXCEPTION] = "EXCEPTION",
    [PUG_MTB_RETURN] = "RETURN", [PUG_MTB_RESUME] = "RESUME",
    [PUG_MTB_EMPTY] = "EMPTY",   [PUG_MTB_INCOMPLETE] = "INCOMPLETE",
};

const char *pug_mtb_packet_name(uint32_t type)
{
    return type < PUG_MTB_TYPES ? names[type] : "";
}

size_t pug_mtb_packet_text(const void *data, char *buffer, size_t size)
{
    const struct pug_mtb_packet *packet = data;
    struct pug_text text = PUG_TEXT(buffer, size);
    pug_text_format(&text, "%s : ", pug_mtb_packet_name(packet->type));
    if (packet->type == PUG_MTB_EMPTY)
        pug_text_put(&text, "nothing was written here");
    else if (packet->type == PUG_MTB_INCOMPLETE)
        pug_text_put(&text, "the data end inside a packet");
    else
        pug_text_format(&text, "0x%08x to 0x%08x%s", packet->source, packet->destination,
                        packet->start ? ", tracing started" : "");
    return pug_text_end(&text);
}
