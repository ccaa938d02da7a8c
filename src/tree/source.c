// SPDX-License-Identifier: MIT
/** @file One source: drives its packet reader and its decoder, and notifies its consumers. */
#include "counts/paths.h"
#include "protocol/builtin.h"
#include "tree/tree_internal.h"

void pug_stage_log_cut(struct pug_stage *stage, uint64_t index)
{
    if (!stage->quirks.silent_end)
        pug_stage_log(stage, stage->reader_name, PUG_SEV_WARN, PUG_ERR_TRUNCATED, index,
                      "the trace ends inside a packet");
}

void pug_stage_log(struct pug_stage *stage, const char *component, enum pug_severity severity,
                   enum pug_status code, uint64_t index, const char *text)
{
    if (component == stage->reader_name && stage->mute_reader)
        return;
    pug_log_put(stage->log, &(struct pug_log_record){.severity = severity,
                                                     .code = code,
                                                     .index = index,
                                                     .source = stage->source,
                                                     .component = component,
                                                     .text = text});
}

enum pug_response pug_stage_refuse(struct pug_stage *stage)
{
    pug_log_put(stage->log,
                &(struct pug_log_record){.severity = PUG_SEV_ERROR,
                                         .code = PUG_ERR_NOT_READY,
                                         .index = PUG_NO_INDEX,
                                         .source = PUG_NO_SOURCE,
                                         .component = stage->decoder_name,
                                         .text = "No decoder configuration information"});
    return PUG_RESP_FATAL_NOT_INIT;
}

/* ---- driving ---- */

/** What the consumer answered, or what the decoder did where the consumer just goes on. */
static enum pug_response settle(struct pug_source *source, enum pug_response decoded)
{
    struct pug_batch *batch = &source->tree->batch;
    if (source->tree->each_packet && batch->response < PUG_RESP_WAIT)
        batch->flush(batch);
    if (PUG_RESP_IS_FATAL(decoded))
        return decoded;
    return batch->response != PUG_RESP_CONT ? batch->response : decoded;
}

static enum pug_response take_packet(struct pug_source *source, const struct pug_packet *packet)
{
    bool bad = packet->flags & PUG_PACKET_BAD;
    if (source->monitor && (packet->flags & PUG_PACKET_MONITOR) && packet->raw_size > 0 &&
        !(bad && source->hide_bad_from_monitor))
        source->monitor(source->monitor_context, PUG_OP_DATA, packet);
    if (!(packet->flags & PUG_PACKET_DECODE) || (bad && source->hide_bad_from_sink))
        return PUG_RESP_CONT;
    if (source->decoder) {
        struct pug_batch *batch = &source->tree->batch;
        batch->response = PUG_RESP_CONT;
        return settle(source, source->protocol->decode(source->decoder, packet));
    }
    if (source->sink)
        return source->sink(source->sink_context, PUG_OP_DATA, packet);
    return PUG_RESP_CONT;
}

/** Is everything attached that the reference's decoder insists on? */
static bool decoder_attached(struct pug_source *source)
{
    const struct pug_tree *tree = source->tree;
    const char *missing = NULL;
    if (!tree->on_elements && !tree->on_element)
        missing = "No element output interface attached and enabled";
    else if (source->protocol->program_flow && (!tree->image || tree->memory_missing))
        missing = "No memory access interface attached and enabled";
    if (missing)
        pug_stage_log(&source->stage, source->stage.decoder_name, PUG_SEV_ERROR, PUG_ERR_NOT_READY,
                      PUG_NO_INDEX, missing);
    return !missing;
}

static inline bool attached(struct pug_source *source)
{
    return !source->tree->quirks.unattached_is_fatal || !source->decoder || source->stage.marks ||
           decoder_attached(source);
}

/** The reference's reader refuses a run without bytes, and does not say whose it is. */
static enum pug_response empty_run(struct pug_source *source)
{
    if (!source->stage.quirks.empty_run_fatal)
        return PUG_RESP_CONT;
    if (!source->stage.mute_reader)
        pug_log_put(
            source->stage.log,
            &(struct pug_log_record){
                .severity = PUG_SEV_ERROR,
                .code = PUG_ERR_INVALID_PARAM_VAL,
                .index = PUG_NO_INDEX,
                .source = PUG_NO_SOURCE,
                .component = source->stage.reader_name,
                .text = "Packet Processor: Zero length data block or NULL pointer error\n"});
    return PUG_RESP_FATAL_INVALID_PARAM;
}

enum pug_response pug_source_take(struct pug_source *source, const struct pug_packet *packet)
{
    struct pug_packet given = *packet;
    if (!attached(source))
        return PUG_RESP_FATAL_NOT_INIT;
    if (!pug_out_ready(&source->stage.out))
        return source->tree->batch.response;
    given.flags |= PUG_PACKET_DECODE;
    return take_packet(source, &given);
}

/** A decoder without a consumer of packets: the usual way to decode. */
static bool is_unwatched(const struct pug_source *source)
{
    return source->decoder && !source->monitor && !source->hide_bad_from_sink;
}

/** Returns what a source's consumer wants. */
static enum pug_want want_of(const struct pug_tree *tree)
{
    if (tree->each_packet)
        return PUG_WANT_EACH;
    return tree->counts && !tree->shows_ranges ? PUG_WANT_COUNTS : PUG_WANT_BATCH;
}

/**
 * Packets of an unwatched source: what its fast path takes, and the one before which it stopped.
 * False: the span is used up, and there is no answer to settle.
 */
static inline bool take_packets(struct pug_source *source, struct pug_span *span,
                                enum pug_want want, enum pug_response *response)
{
    const struct pug_protocol *protocol = source->protocol;
    const struct pug_batch *batch = source->stage.out.batch;
    const struct pug_tree *tree = source->tree;
    const uint8_t *from = span->at;
    struct pug_packet packet;
    if (want == PUG_WANT_COUNTS && tree->present > 0)
        pug_tree_counted(tree, pug_span_index(span));
    if (protocol->fast_path) {
        enum pug_response answer = protocol->fast_path(source->reader, source->decoder, span, want);
        if (span->at != from)
            *response = answer;
        const bool answered = answer != PUG_RESP_CONT || batch->response != PUG_RESP_CONT ||
                              (want == PUG_WANT_EACH && batch->count > 0);
        if (span->at != from && (answered || span->at == span->end))
            return answered;
        if (batch->count >= batch->limit || batch->response >= PUG_RESP_WAIT)
            return true; /* the caller makes room */
    }
    if (!protocol->read(source->reader, span, &packet))
        return false;
    if (want == PUG_WANT_COUNTS)
        pug_tree_counted(tree, packet.index);
    *response = packet.flags & PUG_PACKET_DECODE ? protocol->decode(source->decoder, &packet)
                                                 : PUG_RESP_CONT;
    return true;
}

/**
 * The answer that ends a run. A spliced run ends with the first one that is more than "go on",
 * since each of the runs in it has its own answer: that to its last packet.
 */
static enum pug_response answer_that_ends(const struct pug_span *span)
{
    return span->run->gaps || span->run->header ? PUG_RESP_WARN_CONT : PUG_RESP_WAIT;
}

/** All packets of an unwatched source: as run_watched(), with no question asked twice. */
static inline enum pug_response run_unwatched(struct pug_source *source, struct pug_span *span,
                                              enum pug_response response)
{
    struct pug_batch *const batch = source->stage.out.batch;
    const enum pug_want want = want_of(source->tree);
    while (pug_out_ready(&source->stage.out)) {
        batch->response = PUG_RESP_CONT;
        if (!take_packets(source, span, want, &response))
            return response;
        if (want == PUG_WANT_EACH || response != PUG_RESP_CONT ||
            batch->response != PUG_RESP_CONT) {
            response = settle(source, response);
            if (response >= answer_that_ends(span))
                return response;
        }
    }
    return batch->response;
}

static enum pug_response run_watched(struct pug_source *source, struct pug_span *span,
                                     enum pug_response response)
{
    const enum pug_response end = answer_that_ends(span);
    struct pug_packet packet;
    while (response < end) {
        if (!pug_out_ready(&source->stage.out))
            response = source->tree->batch.response;
        else if (source->protocol->read(source->reader, span, &packet))
            response = take_packet(source, &packet);
        else
            break;
    }
    return response;
}

/** The packets of a span. `response`: the answer, should there be none. */
static inline enum pug_response run_packets(struct pug_source *source, struct pug_span *span,
                                            enum pug_response response)
{
    return is_unwatched(source) ? run_unwatched(source, span, response)
                                : run_watched(source, span, response);
}

/** The bytes of a spliced run that come next with this gap, as a run of their own. */
static enum pug_response run_simple(struct pug_source *source, struct pug_span *span, uint16_t gap,
                                    enum pug_response response)
{
    const struct pug_run *spliced = span->run;
    size_t from = (size_t)(span->at - spliced->bytes), to = from;
    while (to < spliced->size && spliced->gaps[to] == gap)
        to++;
    struct pug_run rest = {.index = pug_span_index(span),
                           .bytes = span->at,
                           .size = to - from,
                           .source = spliced->source};
    struct pug_span piece = {.at = rest.bytes, .end = rest.bytes + rest.size, .run = &rest};
    if (rest.size > 0)
        response = run_packets(source, &piece, response);
    span->at = piece.at;
    return response;
}

/** A spliced run stopped inside a frame: to its end, where the answer to the frame is known. */
static enum pug_response run_frame(struct pug_source *source, struct pug_span *span,
                                   enum pug_response response)
{
    return run_simple(source, span, span->run->gaps[span->at - span->run->bytes - 1], response);
}

enum pug_response pug_source_run(struct pug_source *source, const struct pug_run *run, size_t *used)
{
    *used = 0;
    if (run->size == 0)
        return empty_run(source);
    if (!attached(source))
        return PUG_RESP_FATAL_NOT_INIT;
    const struct pug_protocol *protocol = source->protocol;
    if (protocol->operate) {
        enum pug_response answer = protocol->operate(source->reader, PUG_OP_DATA, run, used);
        source->stage.stats.bytes += *used;
        return answer;
    }
    struct pug_span span = {.at = run->bytes, .end = run->bytes + run->size, .run = run};
    enum pug_response response = PUG_RESP_CONT;
    source->stage.looked_at = NULL;
    if (source->stage.marks)
        pug_source_take_marks(source, &span);
    else
        response = run_packets(source, &span, PUG_RESP_CONT);
    if (run->gaps && response > PUG_RESP_CONT && response < PUG_RESP_WAIT && span.at > run->bytes)
        response = run_frame(source, &span, response);
    if (run->gaps && PUG_RESP_IS_FATAL(response) && span.at == source->stage.looked_at)
        span.at++; /* its frame counts as taken */
    *used = (size_t)(span.at - run->bytes);
    source->stage.stats.bytes += *used;
    return response;
}

/** A turn, and the turns after it that the source's fast path handles, too. */
static enum pug_response run_turn(struct pug_source *source, struct pug_span *span,
                                  enum pug_response response)
{
    if (!(source->stage.takes & PUG_TAKES_SPLICED))
        return run_simple(source, span, span->run->gaps[span->at - span->run->bytes], response);
    response = run_packets(source, span, response);
    return response > PUG_RESP_CONT && response < PUG_RESP_WAIT ? run_frame(source, span, response)
                                                                : response;
}

enum pug_response pug_source_run_turns(struct pug_source *source, struct pug_span *span,
                                       enum pug_response *worst)
{
    const struct pug_batch *batch = source->stage.out.batch;
    struct pug_turns *turns = span->turns;
    enum pug_response response = PUG_RESP_CONT;
    if (!attached(source))
        return PUG_RESP_FATAL_NOT_INIT;
    if (source->stage.pending)
        response = pug_source_flush(source);
    if (response >= PUG_RESP_WAIT)
        return response;
    do {
        while (span->at < span->end) {
            const uint8_t *from = span->at;
            response = run_turn(source, span, response);
            source->stage.stats.bytes += (uint64_t)(span->at - from);
            if (response >= PUG_RESP_WAIT)
                return response;
            *worst = pug_worse(*worst, response);
            response = PUG_RESP_CONT;
        }
        *worst = pug_worse(*worst, response); /* where all of the turn was read before it waited */
        response = PUG_RESP_CONT;
    } while (pug_span_next_turn(span, batch->count));
    turns->elements[turns->told++] = batch->count;
    return PUG_RESP_CONT;
}

enum pug_response pug_source_flush(struct pug_source *source)
{
    if (source->protocol->operate)
        return source->protocol->operate(source->reader, PUG_OP_FLUSH, NULL, NULL);
    if (source->sink && !source->decoder)
        return source->sink(source->sink_context, PUG_OP_FLUSH, NULL);
    if (!attached(source))
        return PUG_RESP_FATAL_NOT_INIT;
    if (source->stage.refused)
        return pug_stage_refuse(&source->stage);
    enum pug_response response = PUG_RESP_CONT;
    while (source->stage.pending && response < PUG_RESP_WAIT) {
        source->tree->batch.response = PUG_RESP_CONT;
        source->stage.pending = false;
        response = settle(source, source->protocol->resume(source->decoder));
    }
    return response;
}

static enum pug_response end_reader(struct pug_source *source)
{
    struct pug_packet packet;
    enum pug_response response = PUG_RESP_CONT;
    if (source->stage.marks)
        pug_source_end_marks(source);
    while (source->protocol->read_end && response < PUG_RESP_WAIT) {
        if (!pug_out_ready(&source->stage.out))
            return source->tree->batch.response;
        if (!source->protocol->read_end(source->reader, &packet))
            return PUG_RESP_CONT;
        response = take_packet(source, &packet);
    }
    return response;
}

static enum pug_response end_decoder(struct pug_source *source)
{
    if (source->protocol->operate)
        return source->protocol->operate(source->reader, PUG_OP_END, NULL, NULL);
    if (source->stage.marks)
        return PUG_RESP_CONT;
    if (!attached(source))
        return PUG_RESP_FATAL_NOT_INIT;
    if (source->stage.refused)
        return pug_stage_refuse(&source->stage);
    if (source->decoder) {
        source->tree->batch.response = PUG_RESP_CONT;
        return settle(source, source->protocol->decode_end(source->decoder));
    }
    return source->sink ? source->sink(source->sink_context, PUG_OP_END, NULL) : PUG_RESP_CONT;
}

/** Goes on where it stopped when a consumer waited. */
enum pug_response pug_source_end(struct pug_source *source)
{
    bool waits = !source->tree->quirks.end_does_not_wait;
    enum pug_response worst = PUG_RESP_CONT;
    while (source->end_phase != PUG_END_DONE) {
        enum pug_response response = PUG_RESP_CONT;
        switch (source->end_phase) {
        case PUG_END_READ:
            response = end_reader(source);
            if (response < PUG_RESP_WAIT || (!waits && PUG_RESP_IS_WAIT(response)))
                source->end_phase = PUG_END_DECODE;
            else if (PUG_RESP_IS_FATAL(response))
                source->end_phase = PUG_END_TELL;
            break;
        case PUG_END_DECODE:
            if (waits && !pug_out_ready(&source->stage.out))
                return source->tree->batch.response;
            source->end_phase = PUG_END_TELL;
            response = end_decoder(source);
            break;
        default:
            source->end_phase = PUG_END_DONE;
            if (source->monitor)
                source->monitor(source->monitor_context, PUG_OP_END, NULL);
        }
        if (response > worst)
            worst = response;
        if (waits && PUG_RESP_IS_WAIT(response))
            return worst;
    }
    return worst;
}

enum pug_response pug_source_reset(struct pug_source *source)
{
    const struct pug_protocol *protocol = source->protocol;
    enum pug_response response = attached(source) ? PUG_RESP_CONT : PUG_RESP_FATAL_NOT_INIT;
    source->stage.pending = source->stage.from_begin = false;
    source->shown = 0;
    source->end_asked = source->ended = false;
    source->end_phase = PUG_END_READ;
    if (protocol->operate)
        return protocol->operate(source->reader, PUG_OP_RESET, NULL, NULL);
    if (source->stage.refused)
        response = pug_stage_refuse(&source->stage);
    else if (source->decoder)
        protocol->decoder_reset(source->decoder);
    if (protocol->reader_reset)
        protocol->reader_reset(source->reader);
    if (source->sink && !source->decoder)
        response = source->sink(source->sink_context, PUG_OP_RESET, NULL);
    if (source->monitor)
        source->monitor(source->monitor_context, PUG_OP_RESET, NULL);
    return response;
}

/* ---- asking and attaching ---- */

void pug_source_monitor(struct pug_source *source, pug_packet_monitor_fn *function, void *context)
{
    source->monitor = function;
    source->monitor_context = context;
    source->stage.monitored = function != NULL;
    if (function)
        source->tree->each_packet = true;
}

enum pug_status pug_source_sink(struct pug_source *source, pug_packet_sink_fn *function,
                                void *context)
{
    if (!source)
        return PUG_ERR_INVALID_PARAM_VAL;
    if (source->decodes)
        return PUG_ERR_WRONG_KIND;
    source->sink = function;
    source->sink_context = context;
    return PUG_OK;
}

enum pug_status pug_source_set_options(struct pug_source *source,
                                       const struct pug_decode_options *options)
{
    if (!source || !options)
        return PUG_ERR_INVALID_PARAM_VAL;
    struct pug_stage *stage = &source->stage;
    const struct pug_decode_options before = stage->options;
    stage->options = *options;
    if (source->decoder && source->protocol->options_changed) {
        enum pug_status status = source->protocol->options_changed(source->decoder);
        if (status != PUG_OK) {
            stage->options = before;
            return status;
        }
    }
    if (stage->code)
        pug_codemap_check_opcodes(stage->code, options->check_opcode);
    return PUG_OK;
}

void pug_source_hide_bad_packets(struct pug_source *source, bool from_sink, bool from_monitor)
{
    source->hide_bad_from_sink = from_sink;
    source->hide_bad_from_monitor = from_monitor;
}

const struct pug_protocol *pug_source_protocol(const struct pug_source *source)
{
    return source->protocol;
}

const void *pug_source_config(const struct pug_source *source)
{
    return source->config;
}

uint16_t pug_source_id(const struct pug_source *source)
{
    return source->stage.source;
}

uint16_t pug_source_slot(const struct pug_source *source)
{
    return source->slot;
}

const struct pug_decode_options *pug_source_options(const struct pug_source *source)
{
    return &source->stage.options;
}

bool pug_source_decodes(const struct pug_source *source)
{
    return source->decodes;
}

const struct pug_reader_stats *pug_source_stats(const struct pug_source *source)
{
    return &source->stage.stats;
}

void pug_source_reset_stats(struct pug_source *source)
{
    source->stage.stats = (struct pug_reader_stats){0};
}
