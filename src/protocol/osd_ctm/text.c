// SPDX-License-Identifier: MIT
/** @file Events as the host tools log them: time, modechange, call, ret, mode, pc, npc. */
#include "base/text.h"
#include "protocol/osd_ctm/ctm.h"

size_t pug_osd_ctm_packet_text(const void *data, char *buffer, size_t size)
{
    const struct pug_osd_packet *packet = data;
    struct pug_text text = PUG_TEXT(buffer, size);
    if (!pug_osd_packet_text(packet, &text))
        pug_text_format(&text, "%08x %d %d %d %d %016llx %016llx", packet->timestamp,
                        packet->modechange, packet->call, packet->ret, packet->mode,
                        (unsigned long long)packet->pc, (unsigned long long)packet->npc);
    return pug_text_end(&text);
}
