// SPDX-License-Identifier: MIT
#include "text/markup.h"

#include <string.h>

/** Writes a character that is more than one byte; returns how many bytes it has. */
static size_t put_long(struct pug_sink *sink, const char *text, size_t left)
{
    char window[5] = {0};
    memcpy(window, text, left < 4 ? left : 4);
    const unsigned size = pug_utf8_length(window);
    const bool c1 = size == 2 && (unsigned char)text[0] == 0xc2 && (unsigned char)text[1] < 0xa0;
    pug_sink_put(sink, size && !c1 ? text : "?", size && !c1 ? size : 1);
    return size ? size : 1;
}

void pug_markup_text_n(struct pug_sink *sink, const char *text, size_t length)
{
    for (size_t i = 0; i < length;) {
        const unsigned char byte = (unsigned char)text[i];
        if (byte >= 0x80) {
            i += put_long(sink, text + i, length - i);
            continue;
        }
        switch (byte) {
        case '<': pug_sink_text(sink, "&lt;"); break;
        case '>': pug_sink_text(sink, "&gt;"); break;
        case '&': pug_sink_text(sink, "&amp;"); break;
        case '"': pug_sink_text(sink, "&quot;"); break;
        case '\'': pug_sink_text(sink, "&#39;"); break;
        default:
            pug_sink_put(sink, (byte >= ' ' && byte != 0x7f) || byte == '\t' ? text + i : "?", 1);
        }
        i++;
    }
}

void pug_markup_text(struct pug_sink *sink, const char *text)
{
    pug_markup_text_n(sink, text, strlen(text));
}
