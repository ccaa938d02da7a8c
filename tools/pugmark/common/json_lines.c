// SPDX-License-Identifier: MIT
#include "json_lines.h"

#include "output.h"

#include <string.h>

/* ---- lines ---- */

/* There are a great many lines of many small pieces: they are put together here first. */
struct line {
    struct pug_sink sink;
    struct pug_json json;
    size_t count;
    char bytes[2048];
};

static void put_piece(void *context, const void *bytes, size_t size)
{
    struct line *line = context;
    if (size > sizeof(line->bytes) - line->count) {
        pug_sink_put(output_sink(), line->bytes, line->count);
        line->count = 0;
    }
    if (size > sizeof(line->bytes)) {
        pug_sink_put(output_sink(), bytes, size);
        return;
    }
    memcpy(line->bytes + line->count, bytes, size);
    line->count += size;
}

static struct pug_json *begin_line(struct line *line)
{
    line->sink = (struct pug_sink){.put = put_piece, .context = line};
    line->json = pug_json_begin(&line->sink);
    line->count = 0;
    pug_json_object(&line->json, NULL);
    return &line->json;
}

static void end_line(struct line *line)
{
    pug_json_close(&line->json);
    pug_json_line(&line->json);
    pug_sink_put(output_sink(), line->bytes, line->count);
}

void json_head_line(const struct input *input, size_t number)
{
    const struct pug_capture_segment *segment = pug_capture_segment_at(input->capture, number);
    struct line line;
    if (input->chosen < 2)
        return;
    struct pug_json *json = begin_line(&line);
    pug_json_string(json, "buffer", pug_capture_buffer_at(input->capture, segment->buffer)->name);
    pug_json_number(json, "offset", segment->offset);
    pug_json_number(json, "bytes", segment->size);
    end_line(&line);
}

/* ---- elements ---- */

/** Put the meaning of a hardware source packet. */
static void put_words(struct pug_json *json, const struct pug_element *e)
{
    struct pug_dwt_event event;
    char words[256];
    if (e->reason != PUG_ITM_DWT || !pug_dwt_meaning(e, &event))
        return;
    pug_dwt_text(&event, words, sizeof(words));
    pug_json_string(json, "words", words);
}

/** An enumeration in words; as its number where it has none. */
static void put_reason(struct pug_json *json, const char *key, const struct pug_element *e)
{
    const char *word = pug_element_reason_name(e);
    if (word)
        pug_json_string(json, key, word);
    else if (e->reason)
        pug_json_number(json, key, e->reason);
}

static void put_range(struct pug_json *json, const struct pug_element *e)
{
    pug_json_hex(json, "start", e->start);
    pug_json_hex(json, "end", e->end);
    pug_json_number(json, "count", e->count);
    pug_json_string(json, "isa", pug_isa_name((enum pug_isa)e->isa));
    pug_json_bool(json, "executed", e->flags & PUG_ELEM_EXECUTED);
    pug_json_string(json, "last_type", pug_instr_type_name((enum pug_instr_type)e->last_type));
    pug_json_string(json, "last_subtype",
                    pug_instr_subtype_name((enum pug_instr_subtype)e->last_subtype));
    pug_json_number(json, "last_size", e->last_size);
    pug_json_bool(json, "conditional", e->flags & PUG_ELEM_CONDITIONAL);
}

/** A way that is not known; of a Core Trace Module with the jump that it ended with. */
static void put_nopath(struct pug_json *json, const struct pug_element *e)
{
    pug_json_hex(json, "start", e->start);
    pug_json_hex(json, "end", e->end);
    pug_json_number(json, "count", e->count);
    put_reason(json, "reason", e);
    if (!(e->flags & PUG_ELEM_HAS_VALUE))
        return;
    pug_json_hex(json, "last", e->value);
    pug_json_bool(json, "call", PUG_JUMP_FLAGS(e) & PUG_JUMP_CALL);
    pug_json_bool(json, "return", PUG_JUMP_FLAGS(e) & PUG_JUMP_RETURN);
}

static void put_context(struct pug_json *json, const struct pug_element *e)
{
    pug_json_string(json, "isa", pug_isa_name((enum pug_isa)e->isa));
    pug_json_string(json, "security", pug_security_name((enum pug_security)e->security));
    pug_json_number(json, "bits", e->context_flags & PUG_CTX_BITS64 ? 64 : 32);
    if (e->context_flags & PUG_CTX_LEVEL)
        pug_json_signed(json, "level", e->level);
    if (e->context_flags & PUG_CTX_CONTEXT_ID)
        pug_json_number(json, "context_id", e->context_id);
    if (e->context_flags & PUG_CTX_VMID)
        pug_json_number(json, "vmid", e->vmid);
}

static void put_exception(struct pug_json *json, const struct pug_element *e)
{
    char name[48];
    pug_json_number(json, "number", e->number);
    if (pug_exception_name((enum pug_exception_numbers)e->reason, e->number, name, sizeof(name)) >
        0)
        pug_json_string(json, "name", name);
    if (e->flags & PUG_ELEM_RET_ADDR)
        pug_json_hex(json, "return_address", e->end);
    if (e->flags & PUG_ELEM_HAS_VALUE)
        pug_json_hex(json, "value", e->value);
}

static void put_event(struct pug_json *json, const struct pug_element *e)
{
    pug_json_string(json, "kind", pug_event_kind_name((enum pug_event_kind)e->reason));
    if (e->flags & PUG_ELEM_HAS_ADDRESS)
        pug_json_hex(json, "address", e->start);
    if (e->reason == PUG_EVENT_CALL && e->end)
        pug_json_hex(json, "target", e->end);
    else if (e->reason == PUG_EVENT_CONTEXT)
        pug_json_hex(json, "value", e->value);
    else
        pug_json_number(json, "number", e->number);
}

static void put_software_flags(struct pug_json *json, const struct pug_element *e)
{
    static const char *const names[] = {"id valid",  "marker",       "first marker", "trigger",
                                        "frequency", "master error", "global error", "overflow"};
    pug_json_array(json, "flags");
    for (unsigned bit = 0; bit < sizeof(names) / sizeof(names[0]); bit++)
        if (e->sw_flags >> bit & 1)
            pug_json_string(json, NULL, names[bit]);
    pug_json_close(json);
}

static void put_software(struct pug_json *json, const struct pug_element *e)
{
    pug_json_number(json, "master", PUG_SW_MASTER(e));
    pug_json_number(json, "channel", PUG_SW_CHANNEL(e));
    pug_json_number(json, "bits", e->sw_bits);
    pug_json_hex(json, "value", e->value);
    put_software_flags(json, e);
    if (e->flags & PUG_ELEM_HAS_TS)
        pug_json_number(json, "timestamp", e->timestamp);
    if (e->sw_flags & PUG_SW_OVERFLOW)
        pug_json_number(json, "missed", e->value);
    if (e->flags & PUG_ELEM_PAYLOAD)
        pug_json_bytes(json, "payload", e->payload, e->count);
}

static void put_itm(struct pug_json *json, const struct pug_element *e)
{
    put_reason(json, "kind", e);
    pug_json_number(json, "number", e->number);
    pug_json_number(json, "size", e->last_size);
    pug_json_hex(json, "value", e->value);
    pug_json_number(json, "timestamp", e->timestamp);
    pug_json_bool(json, "overflow", e->flags & PUG_ELEM_OVERFLOW);
    if (PUG_ITM_FLAGS(e) & PUG_ITM_GUESSED)
        pug_json_bool(json, "guessed", true);
    put_words(json, e);
}

static void put_transfer(struct pug_json *json, const struct pug_element *e)
{
    put_reason(json, "access", e);
    pug_json_number(json, "size", e->last_size);
    pug_json_hex(json, "address", e->start);
    pug_json_number(json, "master", PUG_BUS_MASTER(e));
    if (e->flags & PUG_ELEM_HAS_VALUE)
        pug_json_hex(json, "value", e->value);
    if (e->flags & PUG_ELEM_HAS_TS)
        pug_json_number(json, "timestamp", e->timestamp);
}

static void put_data(struct pug_json *json, const struct pug_element *e)
{
    put_reason(json, "access", e);
    pug_json_number(json, "size", e->last_size);
    if (e->type == PUG_ELEM_DATA_ADDRESS || (e->flags & PUG_ELEM_HAS_ADDRESS))
        pug_json_hex(json, "address", e->start);
    if (e->type == PUG_ELEM_DATA_VALUE)
        pug_json_hex(json, "value", e->value);
    if (e->flags & PUG_ELEM_HAS_PC)
        pug_json_hex(json, "pc", e->end);
}

static void put_details(struct pug_json *json, const struct pug_element *e)
{
    switch ((enum pug_element_type)e->type) {
    case PUG_ELEM_INSTR_RANGE: put_range(json, e); break;
    case PUG_ELEM_I_RANGE_NOPATH: put_nopath(json, e); break;
    case PUG_ELEM_TRACE_ON:
        put_reason(json, "reason", e);
        if (e->reason == PUG_TRACE_ON_OVERFLOW)
            pug_json_number(json, "missed", e->number);
        break;
    case PUG_ELEM_ADDR_NACC:
        pug_json_hex(json, "address", e->start);
        pug_json_number(json, "space", e->number);
        break;
    case PUG_ELEM_PE_CONTEXT: put_context(json, e); break;
    case PUG_ELEM_EXCEPTION: put_exception(json, e); break;
    case PUG_ELEM_TIMESTAMP: pug_json_number(json, "timestamp", e->timestamp); break;
    case PUG_ELEM_EVENT: put_event(json, e); break;
    case PUG_ELEM_SYNC_MARKER:
        put_reason(json, "kind", e);
        pug_json_number(json, "number", e->number);
        break;
    case PUG_ELEM_SWTRACE: put_software(json, e); break;
    case PUG_ELEM_ITMTRACE: put_itm(json, e); break;
    case PUG_ELEM_BUS_TRANSFER: put_transfer(json, e); break;
    case PUG_ELEM_INSTRUMENTATION:
        pug_json_number(json, "level", (uint8_t)e->level);
        pug_json_hex(json, "value", e->value);
        break;
    case PUG_ELEM_DATA_ADDRESS:
    case PUG_ELEM_DATA_VALUE: put_data(json, e); break;
    default:
        put_reason(json, "reason", e);
        if (e->type == PUG_ELEM_NO_SYNC && e->reason == PUG_UNSYNC_DROPPED)
            pug_json_number(json, "bytes", e->value);
    }
}

void json_element(struct pug_json *json, const struct pug_element *e)
{
    pug_json_number(json, "index", e->index);
    pug_json_number(json, "source", e->source);
    pug_json_string(json, "type", pug_element_type_name((enum pug_element_type)e->type));
    put_details(json, e);
    if (e->flags & PUG_ELEM_HAS_CC)
        pug_json_number(json, "cycle_count", e->cycle_count);
}

void json_element_line(const struct pug_element *element, const char *handler)
{
    struct line line;
    struct pug_json *json = begin_line(&line);
    json_element(json, element);
    if (handler)
        pug_json_string(json, "handler", handler);
    end_line(&line);
}

/* ---- DWT ---- */

void json_dwt_line(const struct pug_dwt_event *event, const char *words)
{
    struct line line;
    struct pug_json *json = begin_line(&line);
    pug_json_number(json, "index", event->index);
    pug_json_number(json, "source", event->source);
    pug_json_string(json, "type", "ITMTRACE");
    pug_json_string(json, "kind", "hardware source");
    if (event->kind == PUG_DWT_EXCEPTION)
        pug_json_number(json, "exception", event->number);
    if (event->kind == PUG_DWT_DATA || event->kind == PUG_DWT_MATCH)
        pug_json_number(json, "comparator", event->comparator);
    if (event->has_address) {
        pug_json_hex(json, "address", event->address);
        pug_json_number(json, "address_bytes", event->address_size);
    }
    if (event->has_value) {
        pug_json_hex(json, "value", event->value);
        pug_json_number(json, "size", event->size);
        pug_json_bool(json, "write", event->write);
    }
    if (event->has_pc || event->kind == PUG_DWT_PC_SAMPLE)
        pug_json_hex(json, "pc", event->pc);
    if (event->has_time)
        pug_json_number(json, "timestamp", event->time);
    pug_json_bool(json, "overflow", event->overflow);
    if (event->guessed)
        pug_json_bool(json, "guessed", true);
    pug_json_string(json, "words", words);
    end_line(&line);
}

/* ---- packets ---- */

static void put_wrapping(struct pug_json *json, const struct pug_encapsulation_packet *packet)
{
    pug_json_number(json, "flow", packet->flow);
    if (packet->kind != PUG_ENCAPSULATION_PACKET)
        return;
    pug_json_number(json, "length", packet->length);
    pug_json_number(json, "type", packet->type);
    if (packet->timestamp_bits > 0)
        pug_json_number(json, "timestamp", packet->timestamp);
}

void json_packet_line(uint64_t index, uint16_t source, const char *text,
                      const struct pug_encapsulation_packet *wrapping, const uint8_t *raw,
                      uint32_t size)
{
    struct line line;
    struct pug_json *json = begin_line(&line);
    pug_json_number(json, "index", index);
    pug_json_number(json, "source", source);
    pug_json_string(json, "packet", text);
    if (wrapping)
        put_wrapping(json, wrapping);
    pug_json_bytes(json, "bytes", raw, size);
    end_line(&line);
}
