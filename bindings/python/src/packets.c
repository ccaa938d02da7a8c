// SPDX-License-Identifier: MIT
/** @file Streams that are not made of a capture's elements: packets, and elements by time. */
#include "binding.h"
#include "pugmark/advanced/capture.h"
#include "pugmark/advanced/correlate.h"
#include "pugmark/advanced/packet.h"
#include "pugmark/advanced/tree.h"
#include "pugmark/author/protocol.h"

/* ---- packets ---- */

struct packets_state {
    bool text;
    struct watched {
        struct stream *stream;
        struct pug_source *source;
    } * watched;
    size_t count;
    bool failed;
};

static void on_packet(void *context, enum pug_op op, const struct pug_packet *packet)
{
    const struct watched *watched = context;
    struct stream *stream = watched->stream;
    struct packets_state *state = stream->state;
    const struct pug_protocol *protocol = pug_source_protocol(watched->source);
    char text[1024];
    uint64_t at = 0, text_at;
    if (op != PUG_OP_DATA || !packet || atomic_load(&stream->stop) || state->failed)
        return;
    struct packet_row *row = stream_row(stream, &kind_packet);
    if (!row) {
        state->failed = true;
        return;
    }
    size_t size = state->text ? pug_packet_text(protocol, packet, text, sizeof(text)) : 0;
    if (size >= sizeof(text))
        size = sizeof(text) - 1;
    row->index = packet->index;
    row->type = packet->type;
    row->flags = packet->flags;
    row->source = pug_source_id(watched->source);
    row->name = stream_string(stream, pug_packet_name(protocol, packet));
    row->protocol = stream_string(stream, pug_protocol_name(protocol));
    state->failed = !chunk_keep(stream->filling, packet->raw, packet->raw_size, &at) ||
                    !chunk_keep(stream->filling, text, size, &text_at);
    row->at = at;
    row->size = state->failed ? 0 : packet->raw_size;
    row->text_size = state->failed ? 0 : (uint32_t)size;
}

static bool watch(struct stream *stream, struct pug_tree *tree)
{
    struct packets_state *state = stream->state;
    size_t count = 0;
    while (pug_tree_source_at(tree, count))
        count++;
    free(state->watched);
    state->watched = calloc(count + 1, sizeof(*state->watched));
    for (size_t i = 0; state->watched && i < count; i++) {
        state->watched[i] = (struct watched){stream, pug_tree_source_at(tree, i)};
        pug_source_monitor(state->watched[i].source, on_packet, &state->watched[i]);
    }
    return state->watched != NULL;
}

static enum pug_status read_segment(struct stream *stream, struct pug_tree *tree, size_t segment)
{
    struct packets_state *state = stream->state;
    static const size_t piece = 1 << 16;
    uint8_t *bytes = malloc(piece);
    enum pug_status status = bytes ? PUG_OK : PUG_ERR_MEM;
    enum pug_response response = PUG_RESP_CONT;
    uint64_t at = 0;
    size_t size;
    while (status == PUG_OK && !atomic_load(&stream->stop) && !state->failed &&
           (size = pug_capture_bytes(stream->core->capture, segment, at, bytes, piece, &status)) >
               0) {
        const struct pug_capture_segment *s =
            pug_capture_segment_at(stream->core->capture, segment);
        for (size_t done = 0, used; done < size && PUG_RESP_IS_CONT(response); done += used) {
            used = 0;
            response = pug_tree_data(tree, s->offset + at + done, bytes + done, size - done, &used);
            while (PUG_RESP_IS_WAIT(response))
                response = pug_tree_flush(tree);
            if (used == 0)
                break;
        }
        if (PUG_RESP_IS_FATAL(response))
            status = PUG_ERR_DECODING_STOPPED;
        at += size;
    }
    if (status == PUG_OK)
        (void)pug_tree_end(tree);
    free(bytes);
    return status == PUG_OK && state->failed && !atomic_load(&stream->stop) ? PUG_ERR_MEM : status;
}

static void run_packets(struct stream *stream)
{
    struct pug_capture *capture = stream->core->capture;
    const struct pug_capture_segment *segment;
    for (size_t n = 0; stream->status == PUG_OK && !atomic_load(&stream->stop) &&
                       (segment = pug_capture_segment_at(capture, n)) != NULL;
         n++) {
        struct pug_tree *tree = NULL;
        const struct pug_capture_buffer *buffer = pug_capture_buffer_at(capture, segment->buffer);
        if (!buffer || !buffer->chosen)
            continue;
        stream->status = pug_capture_tree(capture, n, false, stream->log, &tree);
        if (stream->status == PUG_OK)
            stream->status = watch(stream, tree) ? read_segment(stream, tree, n) : PUG_ERR_MEM;
        pug_tree_free(tree);
    }
    (void)stream_flush(stream);
}

static void packets_free(struct stream *stream)
{
    struct packets_state *state = stream->state;
    free(state->watched);
    free(state);
}

static const struct step packets_step = {.free = packets_free};

PyObject *open_packets(struct core *core, PyObject *options)
{
    struct stream *stream = stream_new(core);
    struct packets_state *state = stream ? calloc(1, sizeof(*state)) : NULL;
    if (!state) {
        stream_drop(stream);
        return PyErr_NoMemory();
    }
    stream->state = state;
    stream->step = &packets_step;
    stream->run = run_packets;
    state->text = option_is(options, "text");
    if (!stream_options(stream, options)) {
        stream_drop(stream);
        return NULL;
    }
    return stream_iterator(stream);
}

/* ---- elements of all sources in the order of time ---- */

static bool give(void *context, const struct pug_correlated *elements, size_t count)
{
    struct stream *stream = context;
    for (size_t i = 0; i < count; i++) {
        struct pug_correlated *row = stream_row(stream, &kind_correlated);
        if (!row)
            return false;
        *row = elements[i];
        chunk_take_payload(stream->filling, &row->element);
    }
    return !atomic_load(&stream->stop);
}

static bool correlate_on(void *context, uint64_t done)
{
    struct stream *stream = context;
    (void)done;
    return !atomic_load(&stream->stop);
}

static void run_correlated(struct stream *stream)
{
    struct pug_correlate *correlate = NULL;
    const struct pug_correlate_choice choice = {.sources = stream->selection.sources,
                                                .source_count = stream->selection.source_count,
                                                .log = stream->log,
                                                .selection = &stream->selection,
                                                .progress = correlate_on,
                                                .progress_context = stream};
    stream->status = pug_correlate_new(
        &(struct pug_correlate_config){.give = give, .context = stream}, &correlate);
    if (stream->status == PUG_OK)
        stream->status = pug_correlate_capture(correlate, stream->core->capture, &choice);
    pug_correlate_free(correlate);
    (void)stream_flush(stream);
}

PyObject *open_correlated(struct core *core, PyObject *options)
{
    struct stream *stream = stream_new(core);
    if (!stream)
        return NULL;
    stream->run = run_correlated;
    if (!stream_options(stream, options)) {
        stream_drop(stream);
        return NULL;
    }
    return stream_iterator(stream);
}
