// SPDX-License-Identifier: MIT
#include "text/lines.h"

#include <assert.h>

struct pug_line_end pug_line_end(const char *text)
{
    struct pug_line_end end = {.size = (uint32_t)strlen(text)};
    assert(end.size > 0 && end.size <= PUG_LINE_END);
    for (uint32_t i = 0; i < end.size; i++)
        end.text |= (uint64_t)(uint8_t)text[i] << 8 * i;
    end.salt = (uint32_t)(end.text * UINT64_C(0x9e3779b97f4a7c15) >> 32);
    return end;
}

/** Wider lines than all before give all pages other places. */
static void widen(struct pug_lines *lines, unsigned width)
{
    memset(lines->pages, 0, sizeof(lines->pages));
    lines->widest = width;
}

/** Make the page that begins with a number: lines, until one has another length. */
static void fill(struct pug_lines *lines, unsigned slot, uint64_t first, struct pug_line_end end)
{
    const unsigned width = pug_text_hex_count(first) + end.size;
    struct pug_line_near near = {0};
    unsigned count = 0;
    if (width > lines->widest)
        widen(lines, width);
    const uint32_t place = slot * (PUG_LINES_ALL * lines->widest + PUG_LINE_MOST);
    for (char *at = lines->text + place; count < PUG_LINES_ALL; at += width, count++)
        if (pug_line_put(&near, at, first + PUG_LINES_STEP * count, end) != at + width)
            break;
    lines->pages[slot] =
        (struct pug_lines_page){first, end.text, place, (uint16_t)width, (uint16_t)count};
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/*
 * A page is made where it is asked for twice in a row: to make it costs more than the lines of one
 * text. The first numbers of all are put by themselves, since their lines have several lengths.
 */
char *pug_lines_make(struct pug_lines *lines, char *out, uint64_t value, size_t count,
                     const struct pug_line_end *end)
{
    struct pug_line_near near = {0};
    for (size_t now; count > 0; count -= now, value += PUG_LINES_STEP * now) {
        const unsigned slot = pug_lines_slot(value, end);
        struct pug_lines_page *const page = &lines->pages[slot];
        const size_t line = value / PUG_LINES_STEP % PUG_LINES_FIRST;
        const uint64_t first = value - PUG_LINES_STEP * line;
        if (page->first != first || page->end != end->text || value < PUG_LINES_SPAN) {
            *page = (struct pug_lines_page){.first = first, .end = end->text};
            now = least(count, PUG_LINES_FIRST - line);
            for (size_t i = 0; i < now; i++)
                out = pug_line_put(&near, out, value + PUG_LINES_STEP * i, *end);
        } else {
            if (page->count == 0)
                fill(lines, slot, first, *end);
            now = least(count, page->count - line);
            out = pug_lines_copy(lines, page, out, line, now);
        }
    }
    return out;
}
