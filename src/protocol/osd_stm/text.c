// SPDX-License-Identifier: MIT
/** @file Events as the host tools log them: time, id, value. */
#include "base/text.h"
#include "protocol/osd_stm/stm.h"

size_t pug_osd_stm_packet_text(const void *data, char *buffer, size_t size)
{
    const struct pug_osd_packet *packet = data;
    struct pug_text text = PUG_TEXT(buffer, size);
    if (!pug_osd_packet_text(packet, &text))
        pug_text_format(&text, "%08x %04x %016llx", packet->timestamp, packet->id,
                        (unsigned long long)packet->value);
    return pug_text_end(&text);
}
