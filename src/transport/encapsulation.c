// SPDX-License-Identifier: MIT
/** @file The packet wrappings as transports: each payload is one run of its source. */
#include "pugmark/advanced/encapsulation.h"
#include "transport/builtin.h"
#include "transport/unwrap.h"

#include <stdlib.h>

struct packets {
    struct pug_transport_sink *sink;
    struct pug_unwrap_config config;
    struct pug_unwrap *unwrap;
    struct pug_run rest; /* of a payload that the sink took in part; size 0: nothing */
    uint64_t skipped;    /* what the statistics know */
    bool begun;          /* there were bytes */
};

static void report(void *context, enum pug_status code, uint64_t index, const char *text)
{
    struct packets *packets = context;
    bool warning = code == PUG_ERR_PACKET_SEQUENCE;
    pug_log_put(packets->sink->log,
                &(struct pug_log_record){.severity = warning ? PUG_SEV_WARN : PUG_SEV_ERROR,
                                         .code = code,
                                         .index = index,
                                         .source = PUG_NO_SOURCE,
                                         .component = "ENCAP",
                                         .text = text});
}

static enum pug_status create(enum pug_wrapping wrapping, const struct pug_settings *settings,
                              struct pug_transport_sink *sink, void **transport)
{
    struct packets *packets = calloc(1, sizeof(*packets));
    if (!packets)
        return PUG_ERR_MEM;
    packets->sink = sink;
    enum pug_status status = pug_unwrap_configure(&packets->config, wrapping, settings, sink->log);
    if (status == PUG_OK) {
        packets->unwrap = pug_unwrap_new(&packets->config, report, packets);
        status = packets->unwrap ? PUG_OK : PUG_ERR_MEM;
    }
    if (status != PUG_OK) {
        pug_unwrap_config_clear(&packets->config);
        free(packets);
        return status;
    }
    *transport = packets;
    return PUG_OK;
}

static void packets_free(void *transport)
{
    struct packets *packets = transport;
    pug_unwrap_free(packets->unwrap);
    pug_unwrap_config_clear(&packets->config);
    free(packets);
}

static void show(struct packets *packets, const struct pug_unwrapped *packet)
{
    struct pug_transport_sink *sink = packets->sink;
    if (sink->encapsulation && packets->config.wrapping == PUG_WRAP_ENCAPSULATION) {
        struct pug_encapsulation_packet described;
        pug_unwrap_describe(packet, &described);
        sink->encapsulation(sink->encapsulation_context, PUG_SOURCE_UNKNOWN, &described);
    }
    bool payload = !packet->null;
    uint16_t source = payload ? packet->source : PUG_SOURCE_UNKNOWN;
    if (sink->frame && (sink->want & 1))
        sink->frame(sink->frame_context, PUG_OP_DATA, packet->index, PUG_FRAME_PACKED, source,
                    packet->raw, packet->length);
    if (sink->frame && (sink->want & 2) && payload)
        sink->frame(sink->frame_context, PUG_OP_DATA, packet->index, PUG_FRAME_ID_DATA, source,
                    packet->payload, packet->size);
}

/** Hand over a run; keep what the sink leaves. */
static enum pug_response hand_over(struct packets *packets, const struct pug_run *run)
{
    size_t used = 0;
    packets->rest.size = 0;
    enum pug_response response = packets->sink->run(packets->sink->context, run, &used);
    if (PUG_RESP_IS_WAIT(response) && used < run->size) {
        packets->rest = *run;
        packets->rest.bytes += used;
        packets->rest.size -= used;
    }
    return response;
}

static enum pug_response deliver(struct packets *packets, const struct pug_unwrapped *packet)
{
    struct pug_transport_stats *stats = packets->sink->stats;
    if (!pug_unwrap_wants(&packets->config, packet)) {
        stats->no_decoder += packet->length;
        return PUG_RESP_CONT;
    }
    show(packets, packet);
    stats->framing += packet->length > packet->size ? packet->length - packet->size : 0;
    stats->other_types += packet->kind == PUG_PAYLOAD_OTHER;
    if (packet->size == 0)
        return PUG_RESP_CONT;
    struct pug_run run = {.index = packet->index,
                          .bytes = packet->payload,
                          .size = packet->size,
                          .bits = (uint16_t)packet->bits,
                          .source = packet->source,
                          .whole = true,
                          .gap = packet->gap,
                          .padding = packet->padding,
                          .flow = packet->flow,
                          .type = packet->type,
                          .kind = packet->kind,
                          .has_timestamp = packet->timestamp_bits > 0,
                          .timestamp_bits = packet->timestamp_bits,
                          .timestamp = packet->timestamp};
    return hand_over(packets, &run);
}

/** How many of the bytes are no payload, where not all were taken. */
static size_t framing_of(const struct pug_run *run, size_t size)
{
    size_t framing = size;
    for (size_t at = 0; at < size; at += pug_run_packet(run, run->bytes + at))
        framing -= run->bytes[at] & 0x1f;
    return framing;
}

/** Can there be rows now? */
static bool has_rows(const struct packets *packets)
{
    const struct pug_transport_sink *sink = packets->sink;
    return sink->takes && !(sink->want & 3) && !sink->encapsulation &&
           pug_unwrap_has_rows(packets->unwrap);
}

/** Packets that follow each other, to a source that takes them like this. False: there are none. */
static bool deliver_row(struct packets *packets, struct pug_unwrap_given *given,
                        enum pug_response *response)
{
    struct pug_transport_sink *sink = packets->sink;
    struct pug_run run;
    size_t used = 0;
    uint16_t source;
    if (!has_rows(packets) || !pug_unwrap_row_begins(packets->unwrap, given, &source) ||
        !(sink->takes(sink->context, source) & PUG_TAKES_ROWS) ||
        !pug_unwrap_row(packets->unwrap, given, source, &run))
        return false;
    *response = sink->run(sink->context, &run, &used);
    if (used == 0 && *response < PUG_RESP_WAIT)
        return false;
    const size_t framing = used == run.size ? used - run.payload : framing_of(&run, used);
    sink->stats->framing += framing;
    sink->stats->delivered -= framing; /* which counted all */
    pug_unwrap_take(packets->unwrap, given, used);
    return true;
}

/** Pass over null packets that are not shown. */
static size_t pass_nulls(struct packets *packets, struct pug_unwrap_given *given)
{
    const struct pug_transport_sink *sink = packets->sink;
    const struct pug_unwrapped null = {.null = true};
    if (given->used == given->size || sink->encapsulation || (sink->frame && (sink->want & 1)))
        return 0;
    const size_t nulls = pug_unwrap_pass_nulls(packets->unwrap, given->bytes + given->used,
                                               given->size - given->used);
    if (pug_unwrap_wants(&packets->config, &null))
        sink->stats->framing += nulls;
    else
        sink->stats->no_decoder += nulls;
    given->used += nulls;
    return nulls;
}

/** Deliver what is complete of what is held, and what need not be held of what is given. */
static enum pug_response drain(struct packets *packets, struct pug_unwrap_given *given)
{
    enum pug_response worst = PUG_RESP_CONT, response = PUG_RESP_CONT;
    struct pug_unwrapped packet;
    if (packets->rest.size > 0) {
        struct pug_run rest = packets->rest;
        worst = hand_over(packets, &rest);
    }
    while (worst < PUG_RESP_WAIT) {
        if (!deliver_row(packets, given, &response)) {
            if (pug_unwrap_next(packets->unwrap, &packet))
                response = deliver(packets, &packet);
            else if (pass_nulls(packets, given) == 0)
                break;
        }
        worst = response > worst ? response : worst;
    }
    uint64_t skipped = pug_unwrap_skipped(packets->unwrap);
    packets->sink->stats->skipped += skipped - packets->skipped;
    packets->skipped = skipped;
    return worst;
}

static enum pug_response packets_data(void *transport, uint64_t index, const uint8_t *bytes,
                                      size_t size, size_t *used)
{
    struct packets *packets = transport;
    struct pug_unwrap_given given = {.index = index, .bytes = bytes, .size = size};
    if (!packets->begun && index > 0)
        pug_unwrap_begin_inside(packets->unwrap);
    packets->begun = true;
    enum pug_response worst = drain(packets, &given);
    while (worst < PUG_RESP_WAIT && given.used < size) {
        /* where there are rows, no more than what may stand between two of them */
        const size_t left = size - given.used, few = PUG_UNWRAP_LONGEST;
        given.used += pug_unwrap_fill(packets->unwrap, index + given.used, bytes + given.used,
                                      has_rows(packets) && few < left ? few : left);
        enum pug_response response = drain(packets, &given);
        worst = response > worst ? response : worst;
    }
    *used = given.used;
    return worst;
}

/** Deliver only what is held. */
static enum pug_response drain_held(struct packets *packets)
{
    struct pug_unwrap_given nothing = {.size = 0};
    return drain(packets, &nothing);
}

static enum pug_response packets_flush(void *transport)
{
    return drain_held(transport);
}

static enum pug_response packets_end(void *transport)
{
    struct packets *packets = transport;
    pug_unwrap_end(packets->unwrap);
    return drain_held(packets);
}

static void packets_reset(void *transport)
{
    struct packets *packets = transport;
    packets->rest.size = 0;
    packets->skipped = 0;
    packets->begun = false;
    pug_unwrap_reset(packets->unwrap);
}

/** Packets that wait to be delivered cannot be part of a state. */
static void packets_state(const void *transport, struct pug_state *state)
{
    const struct packets *packets = transport;
    if (packets->rest.size > 0)
        state->failed = true;
    pug_unwrap_state(packets->unwrap, state);
}

static bool packets_heard(const void *transport, uint16_t source)
{
    const struct packets *packets = transport;
    return pug_unwrap_has_seen(packets->unwrap, source);
}

static bool packets_lost(const void *transport)
{
    const struct packets *packets = transport;
    return pug_unwrap_has_lost(packets->unwrap);
}

static enum pug_status create_encapsulation(const struct pug_settings *settings,
                                            struct pug_transport_sink *sink, void **transport)
{
    return create(PUG_WRAP_ENCAPSULATION, settings, sink, transport);
}

static enum pug_status create_smi(const struct pug_settings *settings,
                                  struct pug_transport_sink *sink, void **transport)
{
    return create(PUG_WRAP_SMI, settings, sink, transport);
}

static enum pug_status create_esp32(const struct pug_settings *settings,
                                    struct pug_transport_sink *sink, void **transport)
{
    return create(PUG_WRAP_ESP32, settings, sink, transport);
}

static enum pug_status create_pulp(const struct pug_settings *settings,
                                   struct pug_transport_sink *sink, void **transport)
{
    return create(PUG_WRAP_PULP, settings, sink, transport);
}

static enum pug_status create_raw(const struct pug_settings *settings,
                                  struct pug_transport_sink *sink, void **transport)
{
    return create(PUG_WRAP_RAW, settings, sink, transport);
}

const struct pug_transport pug_transport_encapsulation = {
    .name = "encapsulation",
    .title = "RISC-V packet encapsulation",
    .state = packets_state,
    .heard = packets_heard,
    .lost = packets_lost,
    .create = create_encapsulation,
    .free = packets_free,
    .data = packets_data,
    .flush = packets_flush,
    .end = packets_end,
    .reset = packets_reset,
};

const struct pug_transport pug_transport_smi = {
    .name = "smi",
    .title = "Siemens Messaging Infrastructure",
    .state = packets_state,
    .heard = packets_heard,
    .lost = packets_lost,
    .create = create_smi,
    .free = packets_free,
    .data = packets_data,
    .flush = packets_flush,
    .end = packets_end,
    .reset = packets_reset,
};

const struct pug_transport pug_transport_esp32 = {
    .name = "esp32",
    .title = "Espressif ESP32 trace memory",
    .state = packets_state,
    .heard = packets_heard,
    .lost = packets_lost,
    .create = create_esp32,
    .free = packets_free,
    .data = packets_data,
    .flush = packets_flush,
    .end = packets_end,
    .reset = packets_reset,
};

const struct pug_transport pug_transport_pulp = {
    .name = "pulp",
    .title = "PULP rv_tracer records",
    .state = packets_state,
    .heard = packets_heard,
    .lost = packets_lost,
    .create = create_pulp,
    .free = packets_free,
    .data = packets_data,
    .flush = packets_flush,
    .end = packets_end,
    .reset = packets_reset,
};

const struct pug_transport pug_transport_raw = {
    .name = "raw",
    .title = "payloads with a length byte, or of one length",
    .state = packets_state,
    .heard = packets_heard,
    .lost = packets_lost,
    .create = create_raw,
    .free = packets_free,
    .data = packets_data,
    .flush = packets_flush,
    .end = packets_end,
    .reset = packets_reset,
};
