// SPDX-License-Identifier: MIT
/** @file N-Trace streams decoded into lists of lines: program counters, events, timestamps. */
#ifndef PUG_TESTS_NTRACE_STREAM_H
#define PUG_TESTS_NTRACE_STREAM_H

#include "pugmark/advanced/packet.h"
#include "pugmark/advanced/packet/ntrace.h"
#include "pugmark/advanced/tree.h"
#include "support/flow_lines.h"

#include <inttypes.h>

struct ntrace_stream {
    const struct pug_image *image;
    struct pug_tree *tree;
    struct pug_log *log;
    struct lines flow;   /* program counters, and the events of packets where they came */
    struct lines beside; /* events beside the flow: data, and ownership where it is wanted apart */
    struct lines times;  /* timestamps */
    struct lines elements; /* in words with their index, where wanted */
    bool want_elements, want_beside;
    bool each_packet;      /* elements are delivered after each packet */
    bool drop_full_counts; /* sync messages that only tell of a full instruction count */
    bool no_flow;
    uint64_t ranges, messages;
    /* an event of the packet underway: its elements come first */
    char event[80];
    uint64_t address;    /* of the last message that carried one */
    unsigned wait_every; /* WAIT at each n-th element; 0 never */
    uint64_t seen;
    unsigned no_syncs, unknowns, no_access;
};

static inline void ntrace_flush_event(struct ntrace_stream *stream)
{
    bool apart = (stream->want_beside && stream->event[1] == 'o') || stream->event[1] == 'd';
    if (stream->drop_full_counts && strncmp(stream->event, "@sync 4 ", 8) == 0)
        stream->event[0] = 0;
    if (stream->event[0])
        lines_add(apart ? &stream->beside : &stream->flow, 0, stream->event);
    stream->event[0] = 0;
}

static inline void ntrace_take_trap(struct ntrace_stream *stream, const struct pug_element *e)
{
    char text[80];
    snprintf(text, sizeof(text), "@trap %u %" PRIx64 " %" PRIx64, e->number, e->end,
             stream->address);
    lines_add(&stream->flow, 0, text);
}

static inline void ntrace_take(struct ntrace_stream *stream, const struct pug_element *e)
{
    switch (e->type) {
    case PUG_ELEM_INSTR_RANGE:
        stream->ranges++;
        lines_add_range(&stream->flow, stream->image, e);
        break;
    case PUG_ELEM_EXCEPTION: ntrace_take_trap(stream, e); break;
    case PUG_ELEM_TIMESTAMP: lines_add(&stream->times, e->timestamp, NULL); break;
    case PUG_ELEM_NO_SYNC: stream->no_syncs++; break;
    case PUG_ELEM_UNKNOWN: stream->unknowns++; break;
    case PUG_ELEM_ADDR_NACC: stream->no_access++; break;
    default: break;
    }
}

static inline enum pug_response ntrace_on_elements(void *context, const struct pug_element *e,
                                                   size_t count, size_t *taken)
{
    struct ntrace_stream *stream = context;
    for (size_t i = 0; i < count; i++) {
        if (stream->want_elements) {
            char text[400];
            int at = snprintf(text, sizeof(text), "%" PRIu64 " %u ", e[i].index, e[i].source);
            pug_element_text(&e[i], text + at, sizeof(text) - (size_t)at);
            lines_add(&stream->elements, 0, text);
        }
        if (!stream->no_flow)
            ntrace_take(stream, &e[i]);
        if (stream->wait_every && ++stream->seen % stream->wait_every == 0) {
            *taken = i + 1;
            return PUG_RESP_WAIT;
        }
    }
    return PUG_RESP_CONT;
}

/** The event lines of packets, as the lists of the vectors have them. */
static inline void ntrace_on_packet(void *context, enum pug_op op, const struct pug_packet *packet)
{
    struct ntrace_stream *stream = context;
    if (op != PUG_OP_DATA || !packet)
        return;
    const struct pug_ntrace_packet *p = packet->data;
    const uint64_t *f = p->field;
    stream->messages++;
    ntrace_flush_event(stream);
    if (pug_ntrace_is_sync(p->type))
        stream->address = f[PUG_NTRACE_ADDR] << 1;
    else if (pug_ntrace_has(p, PUG_NTRACE_ADDR))
        stream->address ^= f[PUG_NTRACE_ADDR] << 1;
    char *text = stream->event;
    size_t size = sizeof(stream->event);
    if (pug_ntrace_is_sync(p->type)) {
        snprintf(text, size, "@sync %u %" PRIx64 " %u", (unsigned)f[PUG_NTRACE_SYNC],
                 f[PUG_NTRACE_ADDR] << 1, (unsigned)f[PUG_NTRACE_BTYPE]);
    } else if (p->type == PUG_NTRACE_PROG_TRACE_CORRELATION) {
        snprintf(text, size, "@stop %u", (unsigned)f[PUG_NTRACE_EVCODE]);
    } else if (p->type == PUG_NTRACE_ERROR) {
        snprintf(text, size, "@error %u %" PRIx64, (unsigned)f[PUG_NTRACE_ETYPE],
                 f[PUG_NTRACE_ECODE]);
    } else if (p->type == PUG_NTRACE_OWNERSHIP) {
        uint64_t process = f[PUG_NTRACE_PROCESS];
        snprintf(text, size, "@own %u %u %u %" PRIx64, (unsigned)(process & 3),
                 (unsigned)(process >> 2 & 3), (unsigned)(process >> 4 & 1), process >> 5);
    } else if (p->type == PUG_NTRACE_DATA_ACQUISITION) {
        snprintf(text, size, "@da %" PRIu64 " %" PRIx64, f[PUG_NTRACE_IDTAG], f[PUG_NTRACE_DATA]);
    }
}

/** A tree with one N-Trace source. False: it could not be made. */
static inline bool ntrace_open(struct ntrace_stream *stream, struct pug_image *image,
                               const char *transport, const struct pug_settings *settings)
{
    stream->image = image;
    stream->log = pug_log_new(PUG_SEV_INFO);
    struct pug_tree_config config = {
        .transport = transport, .settings = *settings, .image = image, .log = stream->log};
    struct pug_source_config source = {
        .protocol = "N-Trace", .settings = *settings, .decode = true};
    if (pug_tree_new(&config, &stream->tree) != PUG_OK ||
        pug_tree_add_source(stream->tree, &source, NULL) != PUG_OK)
        return false;
    pug_tree_on_elements(stream->tree, ntrace_on_elements, stream);
    pug_tree_deliver_each_packet(stream->tree, stream->each_packet);
    return true;
}

/** Also give the events of packets. */
static inline void ntrace_want_events(struct ntrace_stream *stream)
{
    pug_source_monitor(pug_tree_source_at(stream->tree, 0), ntrace_on_packet, stream);
}

/** Decode, `block` bytes at a time (0: all at once); flushes whenever the answer is WAIT. */
static inline enum pug_response ntrace_feed(struct ntrace_stream *stream, const uint8_t *bytes,
                                            size_t size, size_t block)
{
    enum pug_response response = PUG_RESP_CONT;
    for (size_t at = 0; at < size && !PUG_RESP_IS_FATAL(response);) {
        size_t part = block && block < size - at ? block : size - at, used = 0;
        response = pug_tree_data(stream->tree, at, bytes + at, part, &used);
        at += used;
        while (PUG_RESP_IS_WAIT(response))
            response = pug_tree_flush(stream->tree);
    }
    if (!PUG_RESP_IS_FATAL(response))
        response = pug_tree_end(stream->tree);
    while (PUG_RESP_IS_WAIT(response))
        response = pug_tree_flush(stream->tree);
    ntrace_flush_event(stream);
    return response;
}

static inline void ntrace_close(struct ntrace_stream *stream)
{
    pug_tree_free(stream->tree);
    pug_log_free(stream->log);
    lines_free(&stream->flow);
    lines_free(&stream->beside);
    lines_free(&stream->times);
    lines_free(&stream->elements);
    *stream = (struct ntrace_stream){0};
}

#endif
