// SPDX-License-Identifier: MIT
#include "element_lines.h"

#include "base/text.h"
#include "output.h"

#include <inttypes.h>
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
    char *const line = output_room(), *at = put_head(pug_put(line, front), e->index, e->source);
    const size_t room = (size_t)(line + OUTPUT_ROOM - 1 - at);
    const size_t length = pug_element_text(e, at, room);
    at += length < room ? length : room - 1;
    *at++ = '\n';
    output_took((size_t)(at - line));
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
