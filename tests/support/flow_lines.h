// SPDX-License-Identifier: MIT
/** @file Elements to lines of numbers, to compare them with lists of what ran. */
#ifndef PUG_TESTS_FLOW_LINES_H
#define PUG_TESTS_FLOW_LINES_H

#include "pugmark/advanced/image.h"
#include "pugmark/pugmark.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** A growing list of lines; a program counter is its number, an event the text. */
struct lines {
    struct line {
        uint64_t pc;
        char *event; /* NULL: a program counter */
    } * items;
    size_t count, room;
};

static inline void lines_add(struct lines *lines, uint64_t pc, const char *event)
{
    if (lines->count == lines->room) {
        lines->room = lines->room ? 2 * lines->room : 1024;
        lines->items = realloc(lines->items, lines->room * sizeof(*lines->items));
        if (!lines->items)
            abort();
    }
    lines->items[lines->count++] = (struct line){pc, event ? strdup(event) : NULL};
}

static inline void lines_clear(struct lines *lines)
{
    for (size_t i = 0; i < lines->count; i++)
        free(lines->items[i].event);
    lines->count = 0;
}

static inline void lines_free(struct lines *lines)
{
    lines_clear(lines);
    free(lines->items);
    *lines = (struct lines){0};
}

static inline unsigned riscv_length(unsigned parcel)
{
    return (parcel & 3) != 3 ? 2 : (parcel & 0x1c) != 0x1c ? 4 : (parcel & 0x20) == 0 ? 6 : 8;
}

/** The program counters of a range of RISC-V instructions. */
static inline void lines_add_range(struct lines *lines, const struct pug_image *image,
                                   const struct pug_element *range)
{
    uint8_t code[4096];
    struct pug_reader_space space = {.space = PUG_SPACE_ANY, .source = range->source};
    uint64_t pc = range->start;
    size_t have = 0, at = 0;
    for (uint32_t i = 0; i < range->count; i++) {
        if (at + 2 > have) {
            int64_t got = pug_image_read(image, &space, pc, code, sizeof(code));
            have = got > 0 ? (size_t)got : 0;
            at = 0;
        }
        lines_add(lines, pc, NULL);
        if (have < 2)
            return;
        unsigned size = riscv_length(code[at]);
        pc += size;
        at += size;
    }
}

/** The difference between two lists in words; false where there is none. */
static inline bool lines_differ(const struct lines *got, const struct lines *want, char *text,
                                size_t size)
{
    size_t n = 0;
    while (n < got->count && n < want->count) {
        const struct line *a = &got->items[n], *b = &want->items[n];
        if (a->event || b->event ? !a->event || !b->event || strcmp(a->event, b->event) != 0
                                 : a->pc != b->pc)
            break;
        n++;
    }
    if (n == got->count && n == want->count)
        return false;
    char a[96] = "end", b[96] = "end";
    if (n < got->count)
        snprintf(a, sizeof(a), "%.60s %llx", got->items[n].event ? got->items[n].event : "",
                 (unsigned long long)got->items[n].pc);
    if (n < want->count)
        snprintf(b, sizeof(b), "%.60s %llx", want->items[n].event ? want->items[n].event : "",
                 (unsigned long long)want->items[n].pc);
    snprintf(text, size, "line %zu of %zu: got '%s', expected '%s' (of %zu)", n, got->count, a, b,
             want->count);
    return true;
}

#endif
