// SPDX-License-Identifier: MIT
#include "base/text.h"

#include "base/bytes.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

size_t pug_text_put_cut(struct pug_text text, const char *string, size_t length)
{
    if (text.length < text.size)
        memcpy(text.buffer + text.length, string, text.size - text.length);
    return text.length + length;
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

/** The digits of 32 bits, the highest as the lowest byte: nibbles are spread, all at a time. */
static uint64_t hex_digits(uint32_t value)
{
    uint64_t nibbles = value >> 16 | (uint64_t)(value & 0xffff) << 32;
    nibbles = (nibbles >> 8 & UINT64_C(0x000000ff000000ff)) |
              (nibbles & UINT64_C(0x000000ff000000ff)) << 16;
    nibbles = (nibbles >> 4 & UINT64_C(0x000f000f000f000f)) |
              (nibbles & UINT64_C(0x000f000f000f000f)) << 8;
    const uint64_t letters =
        (nibbles + UINT64_C(0x0606060606060606)) >> 4 & UINT64_C(0x0101010101010101);
    return nibbles + UINT64_C(0x3030303030303030) + letters * ('a' - '0' - 10);
}

struct pug_text_digits pug_text_hex_digits(uint64_t value, unsigned count)
{
    value <<= count > 0 ? 64 - 4 * count : 0;
    return (struct pug_text_digits){hex_digits((uint32_t)(value >> 32)),
                                    count > 8 ? hex_digits((uint32_t)value) : 0};
}

unsigned pug_text_hex_at(char out[PUG_TEXT_HEX], uint64_t value, unsigned digits)
{
    const unsigned needed = pug_text_hex_count(value), count = needed > digits ? needed : digits;
    const struct pug_text_digits text = pug_text_hex_digits(value, count);
    pug_bytes_set_64((uint8_t *)out, text.first);
    if (count > 8)
        pug_bytes_set_64((uint8_t *)out + 8, text.second);
    return count;
}

#define PAIRS(high)                                                                                \
    high "0" high "1" high "2" high "3" high "4" high "5" high "6" high "7" high "8" high "9" high \
         "a" high "b" high "c" high "d" high "e" high "f"

const char pug_text_pairs[513] =
    PAIRS("0") PAIRS("1") PAIRS("2") PAIRS("3") PAIRS("4") PAIRS("5") PAIRS("6") PAIRS("7")
        PAIRS("8") PAIRS("9") PAIRS("a") PAIRS("b") PAIRS("c") PAIRS("d") PAIRS("e") PAIRS("f");

#define TENS(high)                                                                                 \
    high "0" high "1" high "2" high "3" high "4" high "5" high "6" high "7" high "8" high "9"

static const char decimal_pairs[] = TENS("0") TENS("1") TENS("2") TENS("3") TENS("4") TENS("5")
    TENS("6") TENS("7") TENS("8") TENS("9");

char *pug_text_decimal_before(char *end, uint64_t value)
{
    char *at = end;
    for (; value >= 10; value /= 100)
        memcpy(at -= 2, &decimal_pairs[2 * (value % 100)], 2);
    if (value > 0 || at == end)
        *--at = (char)('0' + value);
    return at;
}

size_t pug_text_end(struct pug_text *text)
{
    if (text->size)
        text->buffer[text->length < text->size ? text->length : text->size - 1] = 0;
    return text->length;
}
