// SPDX-License-Identifier: MIT
/** @file Text into a buffer that it cannot leave; like snprintf(), it counts what did not fit. */
#ifndef PUG_BASE_TEXT_H
#define PUG_BASE_TEXT_H

#include "base/bytes.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/** Bytes of a symbol's name that are taken: what is behind them is cut off. */
#define PUG_NAME_MOST ((size_t)65536)

struct pug_text {
    char *buffer;
    size_t size;
    size_t length; /**< of the whole text, whether it fitted or not */
};

#define PUG_TEXT(buffer_, size_) ((struct pug_text){.buffer = (buffer_), .size = (size_)})

/** private: where not all of it fits; by value, so that a text can stay in registers. The length.
 */
size_t pug_text_put_cut(struct pug_text text, const char *string, size_t length);

/* Inline, so that words of a known length are a store or two. */
static inline void pug_text_put_n(struct pug_text *text, const char *string, size_t length)
{
    if (text->length + length > text->size) {
        text->length = pug_text_put_cut(*text, string, length);
        return;
    }
    memcpy(text->buffer + text->length, string, length);
    text->length += length;
}

static inline void pug_text_put(struct pug_text *text, const char *string)
{
    pug_text_put_n(text, string, strlen(string));
}

/** A word that is copied whole, whatever its length is. */
struct pug_text_word {
    char text[15]; /**< terminated */
    uint8_t length;
};

#define PUG_TEXT_WORD(word_) ((struct pug_text_word){.text = "" word_, .length = sizeof(word_) - 1})

static inline void pug_text_put_word(struct pug_text *text, const struct pug_text_word *word)
{
    if (text->length + sizeof(word->text) > text->size) {
        pug_text_put_n(text, word->text, word->length);
        return;
    }
    memcpy(text->buffer + text->length, word->text, sizeof(word->text));
    text->length += word->length;
}

void pug_text_format(struct pug_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/** Digits that pug_text_hex_at() writes to, however few are wanted. */
#define PUG_TEXT_HEX 16u

/** Lower-case hexadecimal with at least `digits` digits, 16 or fewer; how many it has. */
unsigned pug_text_hex_at(char out[PUG_TEXT_HEX], uint64_t value, unsigned digits);

/** Two digits of each byte. */
extern const char pug_text_pairs[513];

/** How many digits a number has; 0 has none. */
static inline unsigned pug_text_hex_count(uint64_t value)
{
    return value ? PUG_TEXT_HEX - (unsigned)__builtin_clzll(value) / 4 : 0;
}

/** Digits, the first one in the lowest byte; `second`: from the ninth on. */
struct pug_text_digits {
    uint64_t first, second;
};

/** Of a number of `count` digits, 16 or fewer. */
struct pug_text_digits pug_text_hex_digits(uint64_t value, unsigned count);

/** pug_text_hex_at(), behind a text. */
static inline void pug_text_hex(struct pug_text *text, uint64_t value, unsigned digits)
{
    char out[PUG_TEXT_HEX];
    digits = digits < PUG_TEXT_HEX ? digits : PUG_TEXT_HEX;
    if (text->length + PUG_TEXT_HEX <= text->size)
        text->length += pug_text_hex_at(text->buffer + text->length, value, digits);
    else
        pug_text_put_n(text, out, pug_text_hex_at(out, value, digits));
}

#define PUG_TEXT_DECIMAL 20u

/** Decimal digits, 20 at most, up to `end`; the first of them. */
char *pug_text_decimal_before(char *end, uint64_t value);

static inline void pug_text_decimal(struct pug_text *text, uint64_t value)
{
    char out[PUG_TEXT_DECIMAL], *const end = out + sizeof(out);
    if (value < 10) { /* as most are */
        out[0] = (char)('0' + value);
        pug_text_put_n(text, out, 1);
        return;
    }
    const char *first = pug_text_decimal_before(end, value);
    pug_text_put_n(text, first, (size_t)(end - first));
}
/** Terminate; the length of the whole text. */
size_t pug_text_end(struct pug_text *text);

#endif
