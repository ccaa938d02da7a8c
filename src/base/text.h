// SPDX-License-Identifier: MIT
/** @file Text into a buffer that it cannot leave; like snprintf(), it counts what did not fit. */
#ifndef PUG_BASE_TEXT_H
#define PUG_BASE_TEXT_H

#include "base/bytes.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/** The most bytes of a symbol's name that are taken: the rest is cut off. */
#define PUG_NAME_MOST ((size_t)65536)

struct pug_text {
    char *buffer;
    size_t size;
    size_t length; /**< of the whole text, whether it fitted or not */
};

#define PUG_TEXT(buffer_, size_) ((struct pug_text){.buffer = (buffer_), .size = (size_)})

/**
 * private: where not all of it fits; by value, so that a text can stay in registers. The length.
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
    char text[23]; /**< terminated */
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

/** Appends the same as pug_text_hex_at() to a text. */
static inline void pug_text_hex(struct pug_text *text, uint64_t value, unsigned digits)
{
    char out[PUG_TEXT_HEX];
    digits = digits < PUG_TEXT_HEX ? digits : PUG_TEXT_HEX;
    if (text->length + PUG_TEXT_HEX <= text->size)
        text->length += pug_text_hex_at(text->buffer + text->length, value, digits);
    else
        pug_text_put_n(text, out, pug_text_hex_at(out, value, digits));
}

/** Digits that pug_text_decimal_at() may write to. */
#define PUG_TEXT_DECIMAL 20u

/** Decimal digits; how many there are. */
unsigned pug_text_decimal_at(char out[PUG_TEXT_DECIMAL], uint64_t value);

static inline void pug_text_decimal(struct pug_text *text, uint64_t value)
{
    char out[PUG_TEXT_DECIMAL];
    pug_text_put_n(text, out, pug_text_decimal_at(out, value));
}

/*
 * Many words in a row, of which it is known how long they are at most: there is one question
 * whether they fit. Each of pug_put() and its like returns where it ends.
 */

/** Their place: after the text where they fit, else in `spare`, which has room for `most`. */
static inline char *pug_text_room(const struct pug_text *text, char *spare, size_t most)
{
    return text->length + most <= text->size ? text->buffer + text->length : spare;
}

/** They are put from `from`, which pug_text_room() said, to `end`. */
static inline void pug_text_took(struct pug_text *text, const char *spare, const char *from,
                                 const char *end)
{
    if (from == spare)
        pug_text_put_n(text, from, (size_t)(end - from));
    else
        text->length += (size_t)(end - from);
}

static inline char *pug_put_n(char *at, const char *word, size_t length)
{
    memcpy(at, word, length);
    return at + length;
}

static inline char *pug_put(char *at, const char *word)
{
    return pug_put_n(at, word, strlen(word));
}

static inline char *pug_put_word(char *at, const struct pug_text_word *word)
{
    memcpy(at, word->text, sizeof(word->text)); /* all of it is a store or two */
    return at + word->length;
}

static inline char *pug_put_hex(char *at, uint64_t value, unsigned digits)
{
    return at + pug_text_hex_at(at, value, digits);
}

static inline char *pug_put_decimal(char *at, uint64_t value)
{
    *at = (char)('0' + value);
    return at + (value < 10 ? 1 : pug_text_decimal_at(at, value)); /* as most are */
}

/**
 * Where strings of an input are in a text: control characters that a terminal would obey (C0 but
 * for lines and tabs, DEL, C1 as a byte or in UTF-8) become question marks.
 */
void pug_text_tame(char *text, size_t size);

/** Writes a number with its thousands apart, as "1,024"; returns `buffer`. */
const char *pug_text_thousands(uint64_t value, char buffer[32]);

/** Terminate; the length of the whole text. */
size_t pug_text_end(struct pug_text *text);

#endif
