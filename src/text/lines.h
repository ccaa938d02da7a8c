// SPDX-License-Identifier: MIT
/**
 * @file Lines of numbers that are near each other, as addresses of a program are: hexadecimal
 * digits, at least one, and what ends each line.
 */
#ifndef PUG_TEXT_LINES_H
#define PUG_TEXT_LINES_H

#include "base/text.h"

/** The text after a number. */
struct pug_line_end {
    uint64_t text; /**< the first character in the lowest byte */
    uint32_t size;
    uint32_t salt; /**< private: of those that are kept */
};

#define PUG_LINE_END 8u /* characters, '\n' among them, at most */

struct pug_line_end pug_line_end(const char *text);

/** Characters that are written for a line, however short it is. */
#define PUG_LINE_MOST (PUG_TEXT_HEX + PUG_LINE_END)

/** The number that was written last; zeroed: there is none. */
struct pug_line_near {
    uint64_t value;
    char digits[PUG_TEXT_HEX];
    unsigned count;
};

/** A line of a number, whose digits but two may be those of the last one; where it ends. */
static inline char *pug_line_put(struct pug_line_near *near, char out[PUG_LINE_MOST],
                                 uint64_t value, struct pug_line_end end)
{
    if ((value ^ near->value) >> 8 != 0 || near->count <= 2)
        near->count = pug_text_hex_at(near->digits, value, 1);
    near->value = value;
    memcpy(out, near->digits, PUG_TEXT_HEX);
    out += near->count;
    if (near->count > 2)
        memcpy(out - 2, &pug_text_pairs[2 * (value & 0xff)], 2);
    pug_bytes_set_64((uint8_t *)out, end.text);
    return out + end.size;
}

#define PUG_LINES_STEP  4u    /**< from number to number */
#define PUG_LINES_FIRST 16u   /**< lines of a page that a text may begin with */
#define PUG_LINES_MORE  8u    /**< and those that most texts go on with */
#define PUG_LINES_PAGES 1024u /**< that are kept */

#define PUG_LINES_ALL  (PUG_LINES_FIRST + PUG_LINES_MORE)
#define PUG_LINES_SPAN (PUG_LINES_STEP * PUG_LINES_FIRST)

/** private: lines of one length that follow each other */
struct pug_lines_page {
    uint64_t first;        /**< number */
    uint64_t end;          /**< of each line; 0: no page was asked for here */
    uint32_t at;           /**< of all text */
    uint16_t width, count; /**< of its lines; none: they are not made yet */
};

/** Characters that are copied at a time: they may also be written after the last line. */
#define PUG_LINES_PIECE 64u

/**
 * Lines that were made before: a program runs again and again where it ran, and most of its ranges
 * are a piece of a page. Zeroed: none.
 */
struct pug_lines {
    struct pug_lines_page pages[PUG_LINES_PAGES];
    uint32_t widest; /**< of all lines so far: pages lie close together, as caches are small */
    char text[PUG_LINES_PAGES * (PUG_LINES_ALL + 1) * PUG_LINE_MOST + PUG_LINES_PIECE];
};

/** private: pug_lines_put() where not all is kept */
char *pug_lines_make(struct pug_lines *lines, char *out, uint64_t value, size_t count,
                     const struct pug_line_end *end);

/** private: where a number's page is to be kept */
static inline unsigned pug_lines_slot(uint64_t value, const struct pug_line_end *end)
{
    return (unsigned)(value / PUG_LINES_SPAN + end->salt) % PUG_LINES_PAGES;
}

/** private: put lines down that are kept */
static inline char *pug_lines_copy(const struct pug_lines *lines, const struct pug_lines_page *page,
                                   char *out, size_t first, size_t count)
{
    const char *const from = lines->text + page->at + first * page->width;
    const size_t size = count * page->width;
    for (size_t done = 0; done < size; done += PUG_LINES_PIECE)
        memcpy(out + done, from + done, PUG_LINES_PIECE);
    return out + size;
}

/** Lines of so many numbers, each 4 more than the one before it; where they end. */
static inline char *pug_lines_put(struct pug_lines *lines, char *out, uint64_t value, size_t count,
                                  const struct pug_line_end *end)
{
    const struct pug_lines_page *const page = &lines->pages[pug_lines_slot(value, end)];
    const size_t line = value / PUG_LINES_STEP % PUG_LINES_FIRST;
    if (page->first != value - PUG_LINES_STEP * line || page->end != end->text ||
        line + count > page->count)
        return pug_lines_make(lines, out, value, count, end);
    return pug_lines_copy(lines, page, out, line, count);
}

#endif
