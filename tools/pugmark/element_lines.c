// SPDX-License-Identifier: MIT
#include "element_lines.h"

#include "base/text.h"
#include "output.h"

#include <inttypes.h>
#include <string.h>

#define INDEX_WIDTH 10

/** The head of a line, by hand: there are a great many. */
static size_t put_head(char *line, uint64_t index, uint16_t source)
{
    char digits[PUG_TEXT_DECIMAL], *const end = digits + sizeof(digits);
    memset(digits, ' ', sizeof(digits));
    const size_t count = (size_t)(end - pug_text_decimal_before(end, index));
    size_t at = count > INDEX_WIDTH ? count : INDEX_WIDTH;
    memcpy(line, end - at, at);
    memset(line + at, ' ', 2);
    at += 2 + pug_text_hex_at(line + at + 2, source, 2);
    memset(line + at, ' ', 2);
    return at + 2;
}

void element_line_text(const struct pug_element *e, const char *front)
{
    char *line = output_room();
    size_t at = strlen(front);
    memcpy(line, front, at + 1);
    at += put_head(line + at, e->index, e->source);
    const size_t room = OUTPUT_ROOM - at - 1;
    size_t length = pug_element_text(e, line + at, room);
    at += length < room ? length : room - 1;
    line[at++] = '\n';
    output_took(at);
}

/** Every column always, so that a table has one shape. */
void element_line_csv(const struct pug_element *e, const char *front)
{
    output_text("%s%" PRIu64 ",%u,%s,%s,", front, e->index, e->source,
                pug_element_type_name((enum pug_element_type)e->type),
                pug_isa_name((enum pug_isa)e->isa));
    if (e->flags & PUG_ELEM_PAYLOAD)
        output_text(",");
    else
        output_text("0x%" PRIx64 ",", e->start);
    output_text("0x%" PRIx64 ",0x%" PRIx64 ",%u,%u,%u,%u,%u,0x%x,0x%x,%d,%u,0x%x,0x%x\n", e->end,
                e->value, e->count, e->reason, e->last_type, e->last_subtype, e->last_size,
                e->flags, e->context_flags, e->level, e->security, e->context_id, e->vmid);
}
