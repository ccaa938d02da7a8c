// SPDX-License-Identifier: MIT
#include "text/sink.h"

#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void pug_sink_text(struct pug_sink *sink, const char *text)
{
    pug_sink_put(sink, text, strlen(text));
}

void pug_sink_format(struct pug_sink *sink, const char *format, ...)
{
    char line[512];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    if (n < 0)
        return;
    if ((size_t)n < sizeof(line)) {
        pug_sink_put(sink, line, (size_t)n);
        return;
    }
    char *longer = malloc((size_t)n + 1);
    va_start(args, format);
    if (longer && vsnprintf(longer, (size_t)n + 1, format, args) == n)
        pug_sink_put(sink, longer, (size_t)n);
    else
        pug_sink_put(sink, line, sizeof(line) - 1);
    va_end(args);
    free(longer);
}

void pug_sink_decimal(struct pug_sink *sink, uint64_t value)
{
    char digits[24];
    struct pug_text text = PUG_TEXT(digits, sizeof(digits));
    pug_text_decimal(&text, value);
    pug_sink_put(sink, digits, text.length);
}

void pug_sink_hex(struct pug_sink *sink, uint64_t value, unsigned digits)
{
    char out[24];
    struct pug_text text = PUG_TEXT(out, sizeof(out));
    pug_text_hex(&text, value, digits);
    pug_sink_put(sink, out, text.length);
}

void pug_sink_blanks(struct pug_sink *sink, size_t count)
{
    static const char some[] = "                                ";
    for (; count >= sizeof(some) - 1; count -= sizeof(some) - 1)
        pug_sink_put(sink, some, sizeof(some) - 1);
    pug_sink_put(sink, some, count);
}

static void put_right(struct pug_sink *sink, const char *digits, unsigned count, unsigned width)
{
    pug_sink_blanks(sink, count < width ? width - count : 0);
    pug_sink_put(sink, digits, count);
}

void pug_sink_decimal_right(struct pug_sink *sink, uint64_t value, unsigned width)
{
    char digits[PUG_TEXT_DECIMAL];
    put_right(sink, digits, pug_text_decimal_at(digits, value), width);
}

void pug_sink_hex_right(struct pug_sink *sink, uint64_t value, unsigned width)
{
    char digits[PUG_TEXT_HEX];
    put_right(sink, digits, pug_text_hex_at(digits, value, 1), width);
}

static bool continues(unsigned char byte)
{
    return (byte & 0xc0) == 0x80;
}

unsigned pug_utf8_length(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    if (at[0] < 0x80)
        return at[0] != 0;
    if (at[0] < 0xc2 || at[0] > 0xf4 || !continues(at[1]))
        return 0;
    if (at[0] < 0xe0)
        return 2;
    if (at[0] < 0xf0) {
        bool overlong = at[0] == 0xe0 && at[1] < 0xa0, surrogate = at[0] == 0xed && at[1] > 0x9f;
        return !overlong && !surrogate && continues(at[2]) ? 3 : 0;
    }
    bool overlong = at[0] == 0xf0 && at[1] < 0x90, beyond = at[0] == 0xf4 && at[1] > 0x8f;
    return !overlong && !beyond && continues(at[2]) && continues(at[3]) ? 4 : 0;
}

/** C0, DEL and C1, which a terminal may take as commands. */
static bool is_control(const char *text, unsigned length)
{
    const unsigned char *at = (const unsigned char *)text;
    return at[0] < 0x20 || at[0] == 0x7f || (length == 2 && at[0] == 0xc2 && at[1] < 0xa0);
}

/** Bytes of a character that is shown as it is, or 0. */
static unsigned shown(const char *at)
{
    if (*at >= ' ' && *at <= '~')
        return 1;
    const unsigned length = pug_utf8_length(at);
    return length > 0 && !is_control(at, length) ? length : 0;
}

void pug_sink_printable(struct pug_sink *sink, const char *text)
{
    while (*text) {
        const char *from = text;
        unsigned length;
        while ((length = shown(text)) > 0)
            text += length;
        pug_sink_put(sink, from, (size_t)(text - from));
        if (*text)
            pug_sink_format(sink, "\\x%02x", (unsigned char)*text++);
    }
}

bool pug_is_printable(const char *text)
{
    unsigned length;
    while ((length = shown(text)) > 0)
        text += length;
    return *text == 0;
}

static void put_memory(void *context, const void *bytes, size_t size)
{
    struct pug_memory *memory = context;
    if (!memory->failed && memory->room - memory->count < size) {
        size_t room = memory->room + memory->room / 2 + size + 256;
        char *grown = realloc(memory->bytes, room);
        memory->failed = !grown;
        if (grown) {
            memory->bytes = grown;
            memory->room = room;
        }
    }
    if (memory->failed)
        return;
    memcpy(memory->bytes + memory->count, bytes, size);
    memory->count += size;
}

struct pug_sink pug_memory_sink(struct pug_memory *memory)
{
    return (struct pug_sink){.put = put_memory, .context = memory};
}

const char *pug_printable(const char *text, struct pug_memory *room)
{
    struct pug_sink sink = pug_memory_sink(room);
    if (pug_is_printable(text))
        return text;
    room->count = 0;
    pug_sink_printable(&sink, text);
    pug_sink_put(&sink, "", 1);
    return room->failed ? "?" : room->bytes;
}
