// SPDX-License-Identifier: MIT
#include "element_lines.h"

#include "base/text.h"
#include "common/output.h"

#include <string.h>

#define INDEX_WIDTH 10

/** The head of a line, by hand: there are a great many. */
static char *put_head(char *at, uint64_t index, uint16_t source)
{
    char digits[PUG_TEXT_DECIMAL];
    const unsigned count = pug_text_decimal_at(digits, index);
    memset(at, ' ', INDEX_WIDTH);
    at += count < INDEX_WIDTH ? INDEX_WIDTH - count : 0;
    memcpy(at, digits, sizeof(digits));
    at = pug_put(at + count, "  ");
    return pug_put(pug_put_hex(at, source, 2), "  ");
}

void element_line_text(const struct pug_element *e, const char *front)
{
    element_line_text_with(e, front, NULL);
}

void element_line_text_with(const struct pug_element *e, const char *front, const char *behind)
{
    char *const line = output_room(), *at = put_head(pug_put(line, front), e->index, e->source);
    const size_t room = (size_t)(line + OUTPUT_ROOM - 1 - at);
    const size_t length = pug_element_text(e, at, room);
    at += length < room ? length : room - 1;
    if (behind && strlen(behind) + 1 < (size_t)(line + OUTPUT_ROOM - at)) {
        at = pug_put(at, " ");
        at = pug_put(at, behind);
    }
    *at++ = '\n';
    output_took((size_t)(at - line));
}

/** Every column always, so that a table has one shape. */
static void put_words(struct pug_text *line, const char *words)
{
    pug_text_put(line, words);
    pug_text_put(line, ",");
}

static void put_decimal(struct pug_text *line, uint64_t value)
{
    pug_text_decimal(line, value);
    pug_text_put(line, ",");
}

static void put_hex(struct pug_text *line, uint64_t value, const char *behind)
{
    pug_text_put(line, "0x");
    pug_text_hex(line, value, 1);
    pug_text_put(line, behind);
}

void element_line_csv(const struct pug_element *e, const char *front)
{
    struct pug_text line = PUG_TEXT(output_room(), OUTPUT_ROOM);
    pug_text_put(&line, front);
    put_decimal(&line, e->index);
    put_decimal(&line, e->source);
    put_words(&line, pug_element_type_name((enum pug_element_type)e->type));
    put_words(&line, pug_isa_name((enum pug_isa)e->isa));
    if (e->flags & PUG_ELEM_PAYLOAD)
        put_words(&line, "");
    else
        put_hex(&line, e->start, ",");
    put_hex(&line, e->end, ",");
    put_hex(&line, e->value, ",");
    put_decimal(&line, e->count);
    put_decimal(&line, e->reason);
    put_decimal(&line, e->last_type);
    put_decimal(&line, e->last_subtype);
    put_decimal(&line, e->last_size);
    put_hex(&line, e->flags, ",");
    put_hex(&line, e->context_flags, ",");
    if (e->level < 0)
        pug_text_put(&line, "-");
    put_decimal(&line, (uint64_t)(e->level < 0 ? -e->level : e->level));
    put_decimal(&line, e->security);
    put_hex(&line, e->context_id, ",");
    put_hex(&line, e->vmid, "\n");
    output_took(line.length < OUTPUT_ROOM ? line.length : OUTPUT_ROOM - 1);
}
