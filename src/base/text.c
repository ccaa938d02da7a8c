// SPDX-License-Identifier: MIT
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void pug_text_put_n(struct pug_text *text, const char *string, size_t length)
{
    if (text->length < text->size) {
        size_t room = text->size - text->length;
        memcpy(text->buffer + text->length, string, length < room ? length : room);
    }
    text->length += length;
}

void pug_text_put(struct pug_text *text, const char *string)
{
    pug_text_put_n(text, string, strlen(string));
}

void pug_text_format(struct pug_text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    size_t room = text->length < text->size ? text->size - text->length : 0;
    int n = vsnprintf(room ? text->buffer + text->length : NULL, room, format, args);
    va_end(args);
    if (n > 0)
        text->length += (size_t)n;
}

void pug_text_hex(struct pug_text *text, uint64_t value, unsigned digits)
{
    char out[16];
    unsigned at = sizeof(out);
    while ((value || sizeof(out) - at < digits) && at > 0) {
        out[--at] = "0123456789abcdef"[value & 0xf];
        value >>= 4;
    }
    pug_text_put_n(text, out + at, sizeof(out) - at);
}

void pug_text_decimal(struct pug_text *text, uint64_t value)
{
    char out[20];
    unsigned at = sizeof(out);
    do {
        out[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    pug_text_put_n(text, out + at, sizeof(out) - at);
}

size_t pug_text_end(struct pug_text *text)
{
    if (text->size)
        text->buffer[text->length < text->size ? text->length : text->size - 1] = 0;
    return text->length;
}
