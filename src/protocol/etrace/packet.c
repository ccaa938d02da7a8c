// SPDX-License-Identifier: MIT
/** @file E-Trace packet reader: payloads to packets, and the instruction packets' standard form. */
#include "protocol/etrace/packet_fields.h"
#include "protocol/etrace/reader.h"
#include "pugmark/advanced/encapsulation.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>

/* ---- instruction packets ---- */

/** A bit that is sent as a difference to the one before it. */
static bool take_flag(struct pug_fields *fields)
{
    bool before = pug_fields_peek(fields, fields->at - 1);
    return pug_fields_take(fields, 1) != before;
}

static void take_address(const struct pug_etrace_config *config,
                         const struct pug_etrace_options *options, struct pug_fields *fields,
                         bool may_differ, struct pug_etrace_packet *packet)
{
    unsigned width = config->iaddress_width - config->iaddress_lsb;
    uint64_t value = pug_fields_take(fields, width);
    packet->has_address = true;
    packet->difference = may_differ && !options->full_address;
    if (packet->difference)
        value = pug_sign_extend(value, width);
    packet->address = value << config->iaddress_lsb;
}

static void take_implicit_return(const struct pug_etrace_options *options,
                                 struct pug_fields *fields, struct pug_etrace_packet *packet)
{
    unsigned width = pug_etrace_return_width(options);
    packet->irreport = take_flag(fields);
    packet->irets = options->irets;
    packet->has_ir = width > 0;
    packet->ir_value = (uint16_t)pug_fields_take(fields, width);
}

/** Parse the flags that follow an address or stand alone in its place. */
static void take_address_flags(const struct pug_etrace_config *config,
                               const struct pug_etrace_options *options, struct pug_fields *fields,
                               struct pug_etrace_packet *packet)
{
    take_address(config, options, fields, true, packet);
    packet->notify = take_flag(fields);
    packet->updiscon = take_flag(fields);
    take_implicit_return(options, fields, packet);
}

static void take_context(const struct pug_etrace_config *config,
                         const struct pug_etrace_options *options, struct pug_fields *fields,
                         struct pug_etrace_packet *packet)
{
    packet->privilege = (uint8_t)pug_fields_take(fields, config->privilege_width);
    if (config->privilege_width == 1 && packet->privilege == 1)
        packet->privilege = 3; /* user and machine mode only */
    packet->has_time = options->time_width > 0;
    packet->time = pug_fields_take(fields, options->time_width);
    packet->has_context = config->has_context;
    packet->context = pug_fields_take(fields, config->context_width);
}

static void parse_sync(const struct pug_etrace_config *config,
                       const struct pug_etrace_options *options, struct pug_fields *fields,
                       struct pug_etrace_packet *packet)
{
    packet->type = PUG_ETRACE_SYNC;
    packet->branch = pug_fields_take(fields, 1);
    take_context(config, options, fields, packet);
    take_address(config, options, fields, false, packet);
}

static void parse_trap(const struct pug_etrace_config *config,
                       const struct pug_etrace_options *options, struct pug_fields *fields,
                       struct pug_etrace_packet *packet)
{
    packet->type = PUG_ETRACE_TRAP;
    packet->branch = pug_fields_take(fields, 1);
    take_context(config, options, fields, packet);
    packet->ecause = pug_fields_take(fields, config->ecause_width);
    packet->interrupt = pug_fields_take(fields, 1);
    packet->thaddr = pug_fields_take(fields, 1);
    if (!(options->implicit_exception && packet->thaddr))
        take_address(config, options, fields, false, packet);
    if (!packet->interrupt)
        packet->tval = pug_fields_take(fields, config->iaddress_width);
}

static void take_ref_options(const struct pug_etrace_config *config, struct pug_fields *fields,
                             struct pug_etrace_packet *packet, struct pug_etrace_options *options)
{
    options->implicit_return = pug_fields_take(fields, 1);
    options->implicit_exception = pug_fields_take(fields, 1);
    options->full_address = pug_fields_take(fields, 1);
    options->jump_target_cache = pug_fields_take(fields, 1);
    options->branch_prediction = pug_fields_take(fields, 1);
    if (config->support == PUG_ETRACE_SUPPORT_REF_SIJUMP)
        options->sijump = pug_fields_take(fields, 1);
    packet->denable = pug_fields_take(fields, 1);
    packet->dloss = pug_fields_take(fields, 1);
    options->data_no_address = pug_fields_take(fields, 1);
    options->data_no_value = pug_fields_take(fields, 1);
    options->data_full_address = pug_fields_take(fields, 1);
    options->data_full_value = pug_fields_take(fields, 1);
}

static void take_standard_options(struct pug_fields *fields, struct pug_etrace_packet *packet,
                                  struct pug_etrace_options *options)
{
    options->sijump = pug_fields_take(fields, 1);
    options->implicit_return = pug_fields_take(fields, 1);
    options->branch_prediction = pug_fields_take(fields, 1);
    options->jump_target_cache = pug_fields_take(fields, 1);
    options->implicit_exception = pug_fields_take(fields, 1);
    options->full_address = pug_fields_take(fields, 1);
    options->resync_disabled = pug_fields_take(fields, 1);
    options->irets = pug_fields_take(fields, 1);
    unsigned time = 16 * (unsigned)pug_fields_take(fields, 3);
    if (time > 0 || options->time_width % 16 == 0) /* else it cannot say how wide it is */
        options->time_width = (uint8_t)(time > 64 ? 64 : time);
    options->f0s_width = (uint8_t)pug_fields_take(fields, 2);
    options->return_stack_size = (uint8_t)pug_fields_take(fields, 3);
    options->call_counter_size = (uint8_t)pug_fields_take(fields, 4);
    options->bpred_size = (uint8_t)pug_fields_take(fields, 3);
    options->cache_size = (uint8_t)pug_fields_take(fields, 3);
    packet->denable = pug_fields_take(fields, 1);
    packet->dloss = pug_fields_take(fields, 1);
    options->data_mma_cas = pug_fields_take(fields, 1);
    options->data_no_address = pug_fields_take(fields, 1);
    options->data_no_value = pug_fields_take(fields, 1);
    options->data_full_address = pug_fields_take(fields, 1);
    options->data_full_value = pug_fields_take(fields, 1);
}

static void parse_support(const struct pug_etrace_config *config,
                          struct pug_etrace_options *options, struct pug_fields *fields,
                          struct pug_etrace_packet *packet)
{
    bool standard = config->support == PUG_ETRACE_SUPPORT_STD;
    packet->type = PUG_ETRACE_SUPPORT;
    packet->ienable = pug_fields_take(fields, 1);
    packet->encoder_mode = (uint8_t)pug_fields_take(fields, standard ? 2 : 1);
    packet->qual_status = (uint8_t)pug_fields_take(fields, 2);
    if (packet->encoder_mode == 0 && standard)
        take_standard_options(fields, packet, options);
    else if (packet->encoder_mode == 0)
        take_ref_options(config, fields, packet, options);
    packet->options = *options;
}

static void parse_format_0(const struct pug_etrace_config *config,
                           const struct pug_etrace_options *options, struct pug_fields *fields,
                           struct pug_etrace_packet *packet)
{
    switch (pug_etrace_take_subformat_0(options, fields)) {
    case 0:
        if (pug_etrace_take_count(options, fields, packet))
            take_address_flags(config, options, fields, packet);
        break;
    case 1:
        if (pug_etrace_take_jump_cache(options, fields, packet))
            take_implicit_return(options, fields, packet);
        break;
    default: pug_etrace_bad(packet, "reserved subformat of format 0");
    }
}

static void parse_format_3(const struct pug_etrace_config *config,
                           struct pug_etrace_options *options, struct pug_fields *fields,
                           struct pug_etrace_packet *packet)
{
    switch (pug_fields_take(fields, 2)) {
    case 0: parse_sync(config, options, fields, packet); break;
    case 1: parse_trap(config, options, fields, packet); break;
    case 2:
        packet->type = PUG_ETRACE_CONTEXT;
        take_context(config, options, fields, packet);
        break;
    default: parse_support(config, options, fields, packet);
    }
}

static void parse_standard(const struct pug_etrace_config *config,
                           struct pug_etrace_options *options, struct pug_fields *fields,
                           struct pug_etrace_packet *packet)
{
    unsigned branches;
    switch (pug_fields_take(fields, 2)) {
    case 0: parse_format_0(config, options, fields, packet); break;
    case 1:
        packet->type = PUG_ETRACE_BRANCHES;
        branches = (unsigned)pug_fields_take(fields, 5);
        pug_etrace_take_map(fields, branches, packet);
        if (branches > 0)
            take_address_flags(config, options, fields, packet);
        break;
    case 2:
        packet->type = PUG_ETRACE_ADDRESS;
        take_address_flags(config, options, fields, packet);
        break;
    default: parse_format_3(config, options, fields, packet);
    }
}

unsigned pug_etrace_parse_instruction(const struct pug_etrace_config *config,
                                      struct pug_etrace_options *options, const uint8_t *payload,
                                      unsigned size, struct pug_etrace_packet *packet)
{
    struct pug_fields fields;
    pug_fields_set(&fields, payload, size);
    switch (config->layout) {
    case PUG_ETRACE_LAYOUT_STANDARD: parse_standard(config, options, &fields, packet); break;
    case PUG_ETRACE_LAYOUT_PULP:
        pug_etrace_parse_pulp(config, options, &fields, size, packet);
        break;
    default: pug_etrace_parse_esp(config, options, &fields, size, packet);
    }
    return fields.at;
}

/* ---- the reader ---- */

enum pug_status pug_etrace_reader_new(const void *config, struct pug_stage *stage, void **out)
{
    struct pug_etrace_reader *reader = calloc(1, sizeof(*reader));
    if (!reader)
        return PUG_ERR_MEM;
    reader->config = config;
    reader->stage = stage;
    stage->takes = PUG_TAKES_ROWS;
    pug_etrace_reader_reset(reader);
    *out = reader;
    return PUG_OK;
}

void pug_etrace_reader_free(void *data)
{
    struct pug_etrace_reader *reader = data;
    pug_unwrap_free(reader->unwrap);
    free(reader);
}

void pug_etrace_reader_reset(void *data)
{
    struct pug_etrace_reader *reader = data;
    reader->options = reader->config->options;
    reader->unknown_mode = false;
    reader->time_known = false;
    reader->time_bits = 0;
    reader->now = 0;
    memset(reader->request_sizes, 0, sizeof(reader->request_sizes));
    if (reader->unwrap)
        pug_unwrap_reset(reader->unwrap);
}

static void report(void *context, enum pug_status code, uint64_t index, const char *text)
{
    struct pug_etrace_reader *reader = context;
    enum pug_severity severity = code == PUG_ERR_PACKET_SEQUENCE ? PUG_SEV_WARN : PUG_SEV_ERROR;
    pug_stage_log(reader->stage, reader->stage->reader_name, severity, code, index, text);
}

/** All but the large parts at the end, which few packets have. In two pieces, for speed. */
static void clear(struct pug_etrace_packet *packet)
{
    enum { HALF = 64, ALL = offsetof(struct pug_etrace_packet, options) };
    static_assert(ALL > HALF && ALL <= 2 * HALF, "two cache lines");
    memset(packet, 0, HALF);
    memset((char *)packet + HALF, 0, ALL - HALF);
}

/** How many bits its fields have. */
static unsigned parse_bytes(struct pug_etrace_reader *reader, const uint8_t *payload, unsigned size,
                            bool is_data)
{
    struct pug_etrace_packet *packet = &reader->packet;
    clear(packet);
    if (is_data)
        return pug_etrace_parse_data(reader->config, &reader->options, payload, size,
                                     reader->request_sizes, packet);
    return pug_etrace_parse_instruction(reader->config, &reader->options, payload, size, packet);
}

/**
 * Padding after the last whole byte must not get into fields that are shorter than they can be.
 */
static void parse_padded(struct pug_etrace_reader *reader, struct pug_etrace_carried *payload,
                         bool is_data)
{
    const struct pug_etrace_options before = reader->options;
    unsigned bits = parse_bytes(reader, payload->bytes, payload->size, is_data);
    bool whole = payload->padding == PUG_RUN_WHOLE && bits <= payload->bits;
    if (whole || bits <= payload->bits / 8 * 8)
        return;
    reader->options = before;
    payload->size = payload->bits / 8;
    parse_bytes(reader, payload->bytes, payload->size, is_data);
}

static void parse(struct pug_etrace_reader *reader, struct pug_etrace_carried *payload)
{
    struct pug_etrace_packet *packet = &reader->packet;
    bool is_data = payload->is_data || reader->config->only_data;
    if (payload->size > PUG_FIELDS_PAYLOAD) {
        clear(packet);
        packet->moves_flow = true;
        pug_etrace_bad(packet, "payload is longer than any packet");
        return;
    }
    if (payload->padding != PUG_RUN_EXACT)
        parse_padded(reader, payload, is_data);
    else
        parse_bytes(reader, payload->bytes, payload->size, is_data);
    if (is_data)
        return;
    packet->moves_flow = (payload->bytes[0] & 3) != 3;
    if (packet->type == PUG_ETRACE_SUPPORT)
        reader->unknown_mode = packet->encoder_mode != 0;
    else if (reader->unknown_mode)
        packet->type = PUG_ETRACE_UNKNOWN;
}

static void finish(struct pug_etrace_reader *reader, uint64_t index, const uint8_t *payload,
                   unsigned size, struct pug_packet *packet)
{
    packet->index = index;
    packet->data = &reader->packet;
    packet->raw = payload;
    packet->raw_size = size;
    packet->type = reader->packet.type;
    packet->flags = PUG_PACKET_MONITOR | PUG_PACKET_DECODE |
                    (packet->type == PUG_ETRACE_SYNC ? PUG_PACKET_SYNC : 0u);
    if (reader->packet.type != PUG_ETRACE_BAD)
        return;
    packet->flags |= PUG_PACKET_BAD;
    reader->stage->stats.bad_headers++;
    pug_stage_log(reader->stage, reader->stage->reader_name, PUG_SEV_ERROR, PUG_ERR_PACKET_HEADER,
                  index, reader->packet.problem);
}

/** A payload that does not begin with a byte, as one that does. */
static void align(struct pug_etrace_reader *reader, struct pug_etrace_carried *payload)
{
    const unsigned last = payload->size - 1;
    for (unsigned i = 0; i < last; i++)
        reader->aligned[i] = pug_etrace_shifted(payload->bytes + i, payload->lead);
    reader->aligned[last] = (uint8_t)((int8_t)payload->bytes[last] >> payload->lead);
    payload->bytes = reader->aligned;
    payload->lead = 0;
}

void pug_etrace_take_time(struct pug_etrace_reader *reader)
{
    struct pug_etrace_packet *packet = &reader->packet;
    const unsigned bits = packet->timestamp_bits;
    const bool own = packet->has_time && reader->options.time_width > bits;
    packet->tells_time = own || bits > 0;
    if (own)
        packet->now = pug_etrace_take_stamp(reader, 64, packet->time);
    else if (bits > 0)
        packet->now = pug_etrace_take_stamp(reader, bits, packet->timestamp);
}

void pug_etrace_parse_payload(struct pug_etrace_reader *reader, struct pug_etrace_carried *payload)
{
    if (payload->lead > 0)
        align(reader, payload);
    parse(reader, payload);
    reader->packet.gap = payload->gap;
    reader->packet.timestamp_bits = payload->timestamp_bits;
    reader->packet.timestamp = payload->timestamp;
    pug_etrace_take_time(reader);
}

/** The run is whole packets. */
static bool read_whole(struct pug_etrace_reader *reader, struct pug_span *span,
                       struct pug_packet *packet)
{
    struct pug_etrace_carried payload;
    if (span->at == span->end)
        return false;
    const uint8_t *behind = pug_etrace_next_payload(span, &payload);
    pug_etrace_used_payload(reader, span, behind);
    if (span->run->kind == PUG_ETRACE_OTHER_PAYLOAD)
        return false;
    pug_etrace_parse_payload(reader, &payload);
    finish(reader, payload.index, payload.bytes, payload.size, packet);
    return true;
}

/** To who looks at the encapsulation. Behind a transport with ids of its own that is the source. */
static void show(const struct pug_etrace_reader *reader, const struct pug_unwrapped *wrapped)
{
    const struct pug_stage *stage = reader->stage;
    const struct pug_unwrap_config *config = &reader->config->unwrap;
    struct pug_encapsulation_packet packet;
    if (!stage->encapsulation || config->wrapping != PUG_WRAP_ENCAPSULATION)
        return;
    pug_unwrap_describe(wrapped, &packet);
    if (config->src_bits == 0 || wrapped->null)
        packet.source = stage->source;
    stage->encapsulation(stage->encapsulation_context, stage->source, &packet);
}

/** Next packet of this source out of a stream of wrapped packets. */
static bool unwrap(struct pug_etrace_reader *reader, struct pug_packet *packet)
{
    struct pug_unwrapped wrapped;
    while (pug_unwrap_next(reader->unwrap, &wrapped)) {
        if (!pug_unwrap_wants(&reader->config->unwrap, &wrapped))
            continue;
        show(reader, &wrapped);
        bool mine =
            reader->config->unwrap.src_bits == 0 || wrapped.source == reader->config->source;
        if (wrapped.size == 0 || wrapped.kind == PUG_PAYLOAD_OTHER || !mine)
            continue;
        struct pug_etrace_carried payload = {.bytes = wrapped.payload,
                                             .size = wrapped.size,
                                             .index = wrapped.index,
                                             .is_data = wrapped.kind == PUG_PAYLOAD_DATA,
                                             .gap = wrapped.gap,
                                             .padding = wrapped.padding,
                                             .bits = wrapped.bits,
                                             .timestamp_bits = wrapped.timestamp_bits,
                                             .timestamp = wrapped.timestamp};
        pug_etrace_parse_payload(reader, &payload);
        finish(reader, payload.index, payload.bytes, payload.size, packet);
        return true;
    }
    return false;
}

static void fill(struct pug_etrace_reader *reader, struct pug_span *span)
{
    const size_t wanted =
        pug_unwrap_wanted(reader->unwrap, span->at, (size_t)(span->end - span->at));
    span->at += pug_unwrap_fill(reader->unwrap, pug_span_index(span), span->at, wanted);
}

static bool read_stream(struct pug_etrace_reader *reader, struct pug_span *span,
                        struct pug_packet *packet)
{
    if (!reader->unwrap)
        reader->unwrap = pug_unwrap_new(&reader->config->unwrap, report, reader);
    if (!reader->unwrap) {
        report(reader, PUG_ERR_MEM, pug_span_index(span), "out of memory");
        span->at = span->end;
        return false;
    }
    pug_unwrap_from_begin(reader->unwrap, reader->stage->from_begin);
    /* packets may be waiting inside, but a caller who passes bytes expects some to be used */
    if (span->at == span->run->bytes)
        fill(reader, span);
    while (!unwrap(reader, packet)) {
        if (!reader->stage->encapsulation)
            span->at +=
                pug_unwrap_pass_nulls(reader->unwrap, span->at, (size_t)(span->end - span->at));
        if (span->at == span->end)
            return false;
        fill(reader, span);
    }
    return true;
}

bool pug_etrace_read(void *data, struct pug_span *span, struct pug_packet *packet)
{
    return span->run->whole || span->run->header > 0 ? read_whole(data, span, packet)
                                                     : read_stream(data, span, packet);
}

bool pug_etrace_read_end(void *data, struct pug_packet *packet)
{
    struct pug_etrace_reader *reader = data;
    if (!reader->unwrap)
        return false;
    pug_unwrap_end(reader->unwrap);
    return unwrap(reader, packet);
}

unsigned pug_etrace_reader_clock(const void *data, uint64_t *time)
{
    const struct pug_etrace_reader *reader = data;
    *time = reader->now;
    return reader->time_known ? reader->time_bits : 64;
}

void pug_etrace_reader_set_time(void *data, uint64_t time)
{
    struct pug_etrace_reader *reader = data;
    reader->now = time;
}

/** The packet is built from scratch each time. */
void pug_etrace_reader_state(const void *data, struct pug_state *state)
{
    const struct pug_etrace_reader *reader = data;
    pug_etrace_write_options(&reader->options, state);
    pug_state_number(state, reader->unknown_mode);
    pug_state_number(state, reader->time_known);
    pug_state_put(state, reader->request_sizes, sizeof(reader->request_sizes));
    pug_state_number(state, reader->unwrap != NULL);
    if (!reader->unwrap) {
        pug_state_number(state, reader->stage->from_begin);
        return;
    }
    pug_unwrap_state(reader->unwrap, state);
    pug_state_number(state, pug_unwrap_has_seen(reader->unwrap, reader->config->source));
}
