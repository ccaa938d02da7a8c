// SPDX-License-Identifier: MIT
#include "events/port_text.h"

static bool is_text(uint8_t byte)
{
    return byte >= 0x80 || (byte >= 0x20 && byte < 0x7f) || byte == '\n' || byte == '\r' ||
           byte == '\t' || byte == 0x1b;
}

bool pug_port_text_is(const struct pug_dwt_event *event)
{
    unsigned size = event->size;
    while (size > 1 && (uint8_t)(event->value >> 8 * (size - 1)) == 0)
        size--;
    for (unsigned i = 0; i < size; i++)
        if (!is_text((uint8_t)(event->value >> 8 * i)))
            return false;
    return true;
}

bool pug_port_text_take(struct port_text *text, const struct pug_dwt_event *event, unsigned byte)
{
    const char c = (char)(event->value >> 8 * byte);
    if (c == 0 || c == '\r')
        return false;
    if (c == '\n')
        return text->size > 0;
    if (text->size == 0) {
        text->time = event->time;
        text->has_time = event->has_time;
        text->index = event->index;
    }
    text->line[text->size++] = c;
    text->line[text->size] = 0;
    return text->size == PORT_LINE;
}
