// SPDX-License-Identifier: MIT
#include "element_lines.h"

#include "output.h"

#include <inttypes.h>
#include <string.h>

#define INDEX_WIDTH 10

/** The head of a line, by hand: there are a great many. */
static size_t put_head(char *line, uint64_t index, uint16_t source)
{
    char digits[20];
    size_t at = 0, count = 0;
    for (; index > 0 || count == 0; index /= 10)
        digits[count++] = (char)('0' + index % 10);
    while (at + count < INDEX_WIDTH)
        line[at++] = ' ';
    while (count > 0)
        line[at++] = digits[--count];
    line[at++] = ' ';
    line[at++] = ' ';
    for (int shift = source > 0xff ? 12 : 4; shift >= 0; shift -= 4)
        if (shift <= 4 || source >> shift)
            line[at++] = "0123456789abcdef"[source >> shift & 0xf];
    line[at++] = ' ';
    line[at++] = ' ';
    return at;
}

void element_line_text(const struct pug_element *e, const char *front)
{
    char *line = output_room();
    size_t at = strlen(front);
    memcpy(line, front, at);
    at += put_head(line + at, e->index, e->source);
    const size_t room = OUTPUT_ROOM - at - 1;
    size_t length = pug_element_text(e, line + at, room);
    at += length < room ? length : room - 1;
    line[at++] = '\n';
    output_took(at);
}

static void payload_json(const struct pug_element *e)
{
    const uint8_t *bytes = e->payload;
    output_text(", \"payload\": \"");
    for (uint32_t i = 0; i < e->count; i++)
        output_text("%02x", bytes[i]);
    output_text("\"");
}

/** What a hardware source packet means. */
static void words_json(const struct pug_element *e)
{
    struct pug_dwt_event event;
    char words[256];
    if (e->reason != PUG_ITM_DWT || !pug_dwt_meaning(e, &event))
        return;
    pug_dwt_text(&event, words, sizeof(words));
    output_text(", \"words\": \"%s\"", words);
}

/** An enumeration in words; as its number where it has none. */
static void reason_json(const char *name, const struct pug_element *e)
{
    const char *word = pug_element_reason_name(e);
    if (word)
        output_text(", \"%s\": \"%s\"", name, word);
    else if (e->reason)
        output_text(", \"%s\": %u", name, e->reason);
}

static void event_json(const struct pug_element *e)
{
    output_text(", \"kind\": \"%s\"", pug_event_kind_name((enum pug_event_kind)e->reason));
    if (e->flags & PUG_ELEM_HAS_ADDRESS)
        output_text(", \"address\": \"0x%" PRIx64 "\"", e->start);
    if (e->reason == PUG_EVENT_CALL && e->end)
        output_text(", \"target\": \"0x%" PRIx64 "\"", e->end);
    else if (e->reason == PUG_EVENT_CONTEXT)
        output_text(", \"value\": \"0x%" PRIx64 "\"", e->value);
    else
        output_text(", \"number\": %u", e->number);
}

/** A way that is not known; of a Core Trace Module with the jump that it ended with. */
static void nopath_json(const struct pug_element *e)
{
    output_text(", \"start\": \"0x%" PRIx64 "\", \"end\": \"0x%" PRIx64 "\", \"count\": %u",
                e->start, e->end, e->count);
    reason_json("reason", e);
    if (e->flags & PUG_ELEM_HAS_VALUE)
        output_text(", \"last\": \"0x%" PRIx64 "\", \"call\": %s, \"return\": %s", e->value,
                    PUG_JUMP_FLAGS(e) & PUG_JUMP_CALL ? "true" : "false",
                    PUG_JUMP_FLAGS(e) & PUG_JUMP_RETURN ? "true" : "false");
}

/** The fields that a type defines, name and value, for JSON. */
void element_line_json(const struct pug_element *e, const char *front)
{
    output_text("{%s\"index\": %" PRIu64 ", \"source\": %u, \"type\": \"%s\"", front, e->index,
                e->source, pug_element_type_name((enum pug_element_type)e->type));
    switch ((enum pug_element_type)e->type) {
    case PUG_ELEM_INSTR_RANGE:
        output_text(", \"start\": \"0x%" PRIx64 "\", \"end\": \"0x%" PRIx64
                    "\", \"count\": %u, \"isa\": \"%s\", \"executed\": %s, \"last_type\": \"%s\", "
                    "\"last_subtype\": \"%s\", \"last_size\": %u, \"conditional\": %s",
                    e->start, e->end, e->count, pug_isa_name((enum pug_isa)e->isa),
                    e->flags & PUG_ELEM_EXECUTED ? "true" : "false",
                    pug_instr_type_name((enum pug_instr_type)e->last_type),
                    pug_instr_subtype_name((enum pug_instr_subtype)e->last_subtype), e->last_size,
                    e->flags & PUG_ELEM_CONDITIONAL ? "true" : "false");
        break;
    case PUG_ELEM_I_RANGE_NOPATH: nopath_json(e); break;
    case PUG_ELEM_TRACE_ON:
        reason_json("reason", e);
        if (e->reason == PUG_TRACE_ON_OVERFLOW)
            output_text(", \"missed\": %u", e->number);
        break;
    case PUG_ELEM_ADDR_NACC:
        output_text(", \"address\": \"0x%" PRIx64 "\", \"space\": %u", e->start, e->number);
        break;
    case PUG_ELEM_PE_CONTEXT:
        output_text(", \"isa\": \"%s\", \"security\": \"%s\", \"bits\": %d",
                    pug_isa_name((enum pug_isa)e->isa),
                    pug_security_name((enum pug_security)e->security),
                    e->context_flags & PUG_CTX_BITS64 ? 64 : 32);
        if (e->context_flags & PUG_CTX_LEVEL)
            output_text(", \"level\": %d", e->level);
        if (e->context_flags & PUG_CTX_CONTEXT_ID)
            output_text(", \"context_id\": %u", e->context_id);
        if (e->context_flags & PUG_CTX_VMID)
            output_text(", \"vmid\": %u", e->vmid);
        break;
    case PUG_ELEM_EXCEPTION:
        output_text(", \"number\": %u", e->number);
        if (e->flags & PUG_ELEM_RET_ADDR)
            output_text(", \"return_address\": \"0x%" PRIx64 "\"", e->end);
        if (e->flags & PUG_ELEM_HAS_VALUE)
            output_text(", \"value\": \"0x%" PRIx64 "\"", e->value);
        break;
    case PUG_ELEM_TIMESTAMP: output_text(", \"timestamp\": %" PRIu64, e->timestamp); break;
    case PUG_ELEM_EVENT: event_json(e); break;
    case PUG_ELEM_SYNC_MARKER:
        reason_json("kind", e);
        output_text(", \"number\": %u", e->number);
        break;
    case PUG_ELEM_SWTRACE:
        output_text(", \"master\": %u, \"channel\": %u, \"bits\": %u, \"value\": \"0x%" PRIx64
                    "\", \"flags\": %u",
                    PUG_SW_MASTER(e), PUG_SW_CHANNEL(e), e->sw_bits, e->value, e->sw_flags);
        if (e->flags & PUG_ELEM_HAS_TS)
            output_text(", \"timestamp\": %" PRIu64, e->timestamp);
        if (e->sw_flags & PUG_SW_OVERFLOW)
            output_text(", \"missed\": %" PRIu64, e->value);
        if (e->flags & PUG_ELEM_PAYLOAD)
            payload_json(e);
        break;
    case PUG_ELEM_ITMTRACE:
        reason_json("kind", e);
        output_text(", \"number\": %u, \"size\": %u, \"value\": \"0x%" PRIx64
                    "\", \"timestamp\": %" PRIu64 ", \"overflow\": %s",
                    e->number, e->last_size, e->value, e->timestamp,
                    e->flags & PUG_ELEM_OVERFLOW ? "true" : "false");
        words_json(e);
        break;
    case PUG_ELEM_BUS_TRANSFER:
        reason_json("access", e);
        output_text(", \"size\": %u, \"address\": \"0x%" PRIx64 "\", \"master\": %u", e->last_size,
                    e->start, PUG_BUS_MASTER(e));
        if (e->flags & PUG_ELEM_HAS_VALUE)
            output_text(", \"value\": \"0x%" PRIx64 "\"", e->value);
        if (e->flags & PUG_ELEM_HAS_TS)
            output_text(", \"timestamp\": %" PRIu64, e->timestamp);
        break;
    case PUG_ELEM_INSTRUMENTATION:
        output_text(", \"level\": %u, \"value\": \"0x%" PRIx64 "\"", (uint8_t)e->level, e->value);
        break;
    case PUG_ELEM_DATA_ADDRESS:
    case PUG_ELEM_DATA_VALUE:
        reason_json("access", e);
        output_text(", \"size\": %u", e->last_size);
        if (e->type == PUG_ELEM_DATA_ADDRESS || (e->flags & PUG_ELEM_HAS_ADDRESS))
            output_text(", \"address\": \"0x%" PRIx64 "\"", e->start);
        if (e->type == PUG_ELEM_DATA_VALUE)
            output_text(", \"value\": \"0x%" PRIx64 "\"", e->value);
        if (e->flags & PUG_ELEM_HAS_PC)
            output_text(", \"pc\": \"0x%" PRIx64 "\"", e->end);
        break;
    default: reason_json("reason", e);
    }
    if (e->flags & PUG_ELEM_HAS_CC)
        output_text(", \"cycle_count\": %u", e->cycle_count);
    output_text("}\n");
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
