// SPDX-License-Identifier: MIT
/**
 * @file ORBFLOW, the framing of orbuculum's host link: COBS frames that end in 0x00. A decoded
 * frame is a tag, which is the source id here, its data, and a byte that makes the sum 0.
 */
#include "transport/builtin.h"

#include <stdlib.h>

#define FRAME_BYTES    (4096 + 10)
#define COBS_LONG      0xff /* a group of this code has no zero after it */
#define FRAME_SEGMENTS (FRAME_BYTES / (COBS_LONG - 1) + 2)

/** From decoded byte `start` on, decoded bytes and captured bytes go side by side. */
struct segment {
    size_t start;
    uint64_t index;
};

struct orbflow {
    struct pug_transport_sink *sink;
    uint64_t begin; /**< index of the frame's first byte */
    uint64_t next;  /**< index of the next byte */
    bool open;      /**< in a frame */
    bool bad;       /**< the frame is too long */
    uint8_t code;   /**< of the group under way */
    uint8_t left;   /**< bytes that it still has */
    size_t size;    /**< decoded bytes */
    size_t segments;
    struct segment segment[FRAME_SEGMENTS];
    uint8_t bytes[FRAME_BYTES];
    /* delivery of a complete frame */
    size_t sent; /**< decoded bytes up to here are delivered */
    size_t last; /**< where the data end; 0: nothing to deliver */
};

/* ---- delivery ---- */

/** The data of a good frame, a run for each segment. */
static enum pug_response deliver(struct orbflow *o)
{
    enum pug_response worst = PUG_RESP_CONT;
    for (size_t i = 0; i < o->segments && o->sent < o->last; i++) {
        size_t end = i + 1 < o->segments ? o->segment[i + 1].start : o->last;
        if (end > o->last)
            end = o->last;
        if (o->sent >= end)
            continue;
        struct pug_run run = {
            .index = o->segment[i].index + (o->sent - o->segment[i].start),
            .bytes = o->bytes + o->sent,
            .size = end - o->sent,
            .source = o->bytes[0],
        };
        if (o->sink->frame && (o->sink->want & 2))
            o->sink->frame(o->sink->frame_context, PUG_OP_DATA, run.index, PUG_FRAME_ID_DATA,
                           run.source, run.bytes, run.size);
        size_t used = 0;
        enum pug_response response = o->sink->run(o->sink->context, &run, &used);
        o->sent += response < PUG_RESP_WAIT ? run.size : used;
        if (response > worst)
            worst = response;
        if (worst >= PUG_RESP_WAIT)
            break;
    }
    return worst;
}

/* ---- frames ---- */

static void complain(struct orbflow *o, const char *text)
{
    pug_log_put(o->sink->log, &(struct pug_log_record){.severity = PUG_SEV_WARN,
                                                       .code = PUG_ERR_FRAME_SYNC,
                                                       .index = o->begin,
                                                       .source = PUG_NO_SOURCE,
                                                       .component = "ORBFLOW",
                                                       .text = text});
}

/** Returns the fault of the frame that has just ended; NULL: no fault. */
static const char *fault(const struct orbflow *o)
{
    if (o->bad)
        return "frame too long";
    if (o->left > 0)
        return "frame ends inside a group";
    uint8_t sum = 0;
    for (size_t i = 0; i < o->size; i++)
        sum = (uint8_t)(sum + o->bytes[i]);
    return sum ? "frame with a wrong checksum" : o->size < 2 ? "frame too short" : NULL;
}

static void begin_frame(struct orbflow *o)
{
    o->open = true;
    o->bad = false;
    o->begin = o->next;
    o->size = o->segments = 0;
    o->code = COBS_LONG;
    o->left = 0;
    o->sent = o->last = 0;
}

static enum pug_response end_frame(struct orbflow *o)
{
    struct pug_transport_stats *stats = o->sink->stats;
    uint64_t captured = o->next + 1 - o->begin;
    const char *text = fault(o);
    o->open = false;
    if (text) {
        complain(o, text);
        stats->skipped += captured;
        return PUG_RESP_CONT;
    }
    o->sent = 1;
    o->last = o->size - 1;
    stats->framing += captured - (o->last - o->sent);
    return deliver(o);
}

static void add(struct orbflow *o, uint8_t byte)
{
    if (o->size < FRAME_BYTES)
        o->bytes[o->size++] = byte;
    else
        o->bad = true;
}

/** A group begins; the one before it stands for a zero, unless it was a long one. */
static void begin_group(struct orbflow *o, uint8_t code)
{
    if (o->code != COBS_LONG) {
        add(o, 0);
    } else if (o->segments < FRAME_SEGMENTS) {
        o->segment[o->segments++] = (struct segment){.start = o->size, .index = o->next + 1};
    }
    o->code = code;
    o->left = code - 1;
}

static enum pug_response take(struct orbflow *o, uint8_t byte)
{
    if (byte == 0)
        return o->open ? end_frame(o) : PUG_RESP_CONT;
    if (!o->open)
        begin_frame(o);
    if (o->left == 0) {
        begin_group(o, byte);
    } else {
        add(o, byte);
        o->left--;
    }
    return PUG_RESP_CONT;
}

/* ---- the transport ---- */

static enum pug_status orbflow_create(const struct pug_settings *settings,
                                      struct pug_transport_sink *sink, void **transport)
{
    (void)settings;
    struct orbflow *o = calloc(1, sizeof(*o));
    if (!o)
        return PUG_ERR_MEM;
    o->sink = sink;
    *transport = o;
    return PUG_OK;
}

static void orbflow_free(void *transport)
{
    free(transport);
}

static enum pug_response orbflow_data(void *transport, uint64_t index, const uint8_t *bytes,
                                      size_t size, size_t *used)
{
    struct orbflow *o = transport;
    enum pug_response worst = deliver(o);
    for (*used = 0; *used < size && worst < PUG_RESP_WAIT; (*used)++) {
        o->next = index + *used;
        enum pug_response response = take(o, bytes[*used]);
        if (response > worst)
            worst = response;
    }
    return worst;
}

static enum pug_response orbflow_flush(void *transport)
{
    return deliver(transport);
}

static enum pug_response orbflow_end(void *transport)
{
    struct orbflow *o = transport;
    enum pug_response response = deliver(o);
    if (o->open) {
        complain(o, "the capture ends inside a frame");
        o->sink->stats->dropped += o->next + 1 - o->begin;
        o->open = false;
    }
    return response;
}

static void orbflow_reset(void *transport)
{
    struct orbflow *o = transport;
    struct pug_transport_sink *sink = o->sink;
    memset(o, 0, sizeof(*o));
    o->sink = sink;
}

/** A frame that waits is a consumer's that waits: there is no state to compare then. */
static void orbflow_state(const void *transport, struct pug_state *state)
{
    const struct orbflow *o = transport;
    state->failed |= o->sent < o->last;
    pug_state_number(state, o->open);
    if (!o->open)
        return;
    pug_state_number(state, o->begin);
    pug_state_number(state, o->bad);
    if (o->bad) /* nothing of it is delivered */
        return;
    pug_state_number(state, o->code);
    pug_state_number(state, o->left);
    pug_state_number(state, o->size);
    pug_state_put(state, o->bytes, o->size);
    for (size_t i = 0; i < o->segments; i++) {
        pug_state_number(state, o->segment[i].start);
        pug_state_number(state, o->segment[i].index);
    }
}

const struct pug_transport pug_transport_orbflow = {
    .name = "orbflow",
    .title = "ORBFLOW: COBS frames with a tag, as orbuculum's probes send",
    .state = orbflow_state,
    .create = orbflow_create,
    .free = orbflow_free,
    .data = orbflow_data,
    .flush = orbflow_flush,
    .end = orbflow_end,
    .reset = orbflow_reset,
};
