// SPDX-License-Identifier: MIT
#include "base/text.h"

#include "base/bytes.h"

#include <assert.h>
#include <stdarg.h>
#include <stdbool.h>
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

#define PAIRS(high)                                                                                \
    high "0" high "1" high "2" high "3" high "4" high "5" high "6" high "7" high "8" high "9" high \
         "a" high "b" high "c" high "d" high "e" high "f"

const char pug_text_pairs[513] =
    PAIRS("0") PAIRS("1") PAIRS("2") PAIRS("3") PAIRS("4") PAIRS("5") PAIRS("6") PAIRS("7")
        PAIRS("8") PAIRS("9") PAIRS("a") PAIRS("b") PAIRS("c") PAIRS("d") PAIRS("e") PAIRS("f");

unsigned pug_text_hex_at(char out[PUG_TEXT_HEX], uint64_t value, unsigned digits)
{
    const unsigned needed = pug_text_hex_count(value), count = needed > digits ? needed : digits;
    value <<= count > 0 ? 64 - 4 * count : 0;
    for (unsigned i = 0; i < count; i += 2, value <<= 8)
        memcpy(out + i, &pug_text_pairs[2 * (value >> 56)], 2);
    return count;
}

#define EIGHT_DIGITS 100000000u

/**
 * Of a number that has no more than eight, the first one in the lowest byte: halves are divided all
 * at a time, each time in a part of the word as large as its multiple.
 */
static uint64_t eight_digits(uint32_t value)
{
    const uint64_t fours = value / 10000 | (uint64_t)(value % 10000) << 32;
    const uint64_t hundreds = fours * 5243 >> 19 & UINT64_C(0x0000007f0000007f);
    const uint64_t twos = hundreds | (fours - 100 * hundreds) << 16;
    const uint64_t tens = twos * 103 >> 10 & UINT64_C(0x000f000f000f000f);
    return tens | (twos - 10 * tens) << 8;
}

unsigned pug_text_decimal_at(char out[PUG_TEXT_DECIMAL], uint64_t value)
{
    const uint64_t last = UINT64_C(1) << 56; /* one is there, whatever it is */
    unsigned before = 0, zeros = 0;
    if (value >= EIGHT_DIGITS) {
        before = pug_text_decimal_at(out, value / EIGHT_DIGITS);
        value %= EIGHT_DIGITS;
    }
    const uint64_t digits = eight_digits((uint32_t)value);
    if (before == 0)
        zeros = (unsigned)__builtin_ctzll(digits | last) / 8;
    pug_bytes_set_64((uint8_t *)out + before, (digits | UINT64_C(0x3030303030303030)) >> 8 * zeros);
    return before + 8 - zeros;
}

const char *pug_text_thousands(uint64_t value, char buffer[32])
{
    char digits[PUG_TEXT_DECIMAL];
    const unsigned length = pug_text_decimal_at(digits, value);
    unsigned at = 0;
    for (unsigned i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            buffer[at++] = ',';
        buffer[at++] = digits[i];
    }
    buffer[at] = 0;
    return buffer;
}

size_t pug_text_end(struct pug_text *text)
{
    if (text->size)
        text->buffer[text->length < text->size ? text->length : text->size - 1] = 0;
    return text->length;
}

void pug_text_tame(char *text, size_t size)
{
    unsigned char before = 0;
    for (size_t i = 0; i < size; i++) {
        const unsigned char byte = (unsigned char)text[i];
        const bool c0 = byte < ' ' && byte != '\n' && byte != '\t';
        const bool c1 = byte >= 0x80 && byte < 0xa0 && (before < 0x80 || before == 0xc2);
        if (c0 || c1 || byte == 0x7f)
            text[i] = '?';
        before = byte;
    }
}
