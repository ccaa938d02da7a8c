// SPDX-License-Identifier: MIT
/** @file Packets to elements: the decoder's states, and when what waits is resolved. */
#include "protocol/etmv4/etmv4.h"

#include <stdlib.h>

typedef struct pug_etmv4_decoder decoder;
typedef struct pug_etmv4_packet packet_;

/* ---- errors and resets ---- */

static void clear_resolution(decoder *d)
{
    d->commits = d->cancels = 0;
    d->mispredict = d->discard = d->drain = false;
    d->source.active = false;
}

static void forget_place(decoder *d)
{
    d->blocked |= PUG_ETMV4_NEED_CONTEXT | PUG_ETMV4_NEED_ADDRESS;
    d->pending_address = false;
    d->depth = 0;
}

void pug_etmv4_lose_sync(decoder *d, enum pug_unsync reason)
{
    d->state = PUG_ETMV4_NO_SYNC;
    d->reason = (uint8_t)reason;
    d->queue.head = d->queue.tail = 0;
    clear_resolution(d);
    forget_place(d);
    d->last_is = 0;
    d->is64 = false;
    d->prev_overflow = d->marker_seen = d->expect_valid = false;
}

/** The elements that this commit round has put out, as far as they are not delivered yet. */
static void drop_round(decoder *d)
{
    struct pug_batch *batch = d->stage->out.batch;
    if (batch->count > d->round_mark)
        batch->count = d->round_mark;
}

static void begin_round(decoder *d)
{
    d->round_mark = d->stage->out.batch->count;
    d->round_index = 0;
}

enum pug_etmv4_outcome pug_etmv4_fail(decoder *d, enum pug_severity severity, enum pug_status code,
                                      uint64_t index, enum pug_unsync reason, const char *text)
{
    pug_stage_log(d->stage, d->stage->decoder_name, severity, code, index, text);
    if (d->stage->options.halt_on_bad_packet)
        return PUG_ETMV4_FATAL;
    if (d->stage->quirks.etm4_error_drops_run)
        drop_round(d);
    pug_etmv4_lose_sync(d, reason);
    d->returns.known = true; /* the next TRACE_INFO is a first one for all who read this */
    return PUG_ETMV4_FAILED;
}

/* ---- resolving ---- */

/** Queue what a packet says, and see what it resolves. */
static enum pug_etmv4_outcome take_packet(decoder *d, const packet_ *p)
{
    enum pug_etmv4_outcome outcome = pug_etmv4_enqueue(d, p);
    if (outcome != PUG_ETMV4_DONE)
        return outcome;
    if (d->depth > d->config->idr8 && p->type != PUG_ETMV4_PE_RESET)
        d->commits = (uint64_t)(d->depth - d->config->idr8);
    d->drain = !pug_etmv4_queue_reserve(&d->queue, PUG_ETMV4_QUEUED_BY_PACKET);
    if (d->commits || d->cancels || d->mispredict || d->discard || d->drain)
        d->state = PUG_ETMV4_RESOLVE;
    return PUG_ETMV4_DONE;
}

/** An element that marks a place or a time: what it waits for is the next atom. */
static bool is_mark(const struct pug_etmv4_p0 *p0)
{
    return p0->kind >= PUG_ETMV4_P0_EVENT && p0->kind <= PUG_ETMV4_P0_MARKER;
}

/** DISCARD and OVERFLOW: only what marks a time survives. */
static enum pug_etmv4_outcome discard(decoder *d)
{
    while (pug_etmv4_queue_count(&d->queue) > 0) {
        const struct pug_etmv4_p0 *p0 = pug_etmv4_queue_at(&d->queue, 0);
        bool put = is_mark(p0);
        if (p0->kind == PUG_ETMV4_P0_ITE && !d->stage->quirks.etm4_discard_drops_ite)
            put = true;
        if (!pug_out_ready(&d->stage->out))
            return PUG_ETMV4_SUSPENDED;
        if (put)
            pug_etmv4_put_event(d, p0);
        d->queue.head++;
    }
    clear_resolution(d);
    forget_place(d);
    d->returns.known = true;
    d->state = PUG_ETMV4_NO_SYNC;
    d->reason = d->prev_overflow ? PUG_UNSYNC_OVERFLOW : PUG_UNSYNC_DISCARD;
    return PUG_ETMV4_DONE;
}

/** The reference sends after each commit round, and only then learns that the consumer waits. */
static void note_wait(decoder *d)
{
    struct pug_batch *batch = d->stage->out.batch;
    if (d->stage->quirks.etm4_wait_delays_no_sync && batch->count > 0 && !batch->flush(batch))
        d->waited = true;
}

/** Commit, then cancel, then mispredict, then discard. */
static enum pug_etmv4_outcome resolve(decoder *d)
{
    enum pug_etmv4_outcome outcome;
    while ((outcome = pug_etmv4_commit(d)) == PUG_ETMV4_ROUND_ENDS) {
        note_wait(d);
        begin_round(d);
    }
    if (outcome == PUG_ETMV4_DONE && d->cancels > 0)
        outcome = pug_etmv4_cancel(d);
    if (outcome == PUG_ETMV4_DONE && d->mispredict)
        outcome = pug_etmv4_mispredict(d);
    if (outcome == PUG_ETMV4_DONE && d->discard)
        outcome = discard(d);
    if (outcome != PUG_ETMV4_DONE)
        return outcome;
    note_wait(d);
    if (d->drain && !pug_etmv4_queue_reserve(&d->queue, PUG_ETMV4_QUEUED_BY_PACKET))
        return pug_etmv4_fail(d, PUG_SEV_ERROR, PUG_ERR_LIMIT, d->index, PUG_UNSYNC_BAD_PACKET,
                              "Too many elements wait for a commit.");
    d->drain = false;
    return PUG_ETMV4_DONE;
}

/* ---- the end of trace ---- */

/** The action for an element that still waits at the end of trace. */
enum ending { SKIP, PUT, STOP };

static enum ending end_of(const decoder *d, const struct pug_etmv4_p0 *p0)
{
    switch ((enum pug_etmv4_p0_kind)p0->kind) {
    case PUG_ETMV4_P0_TRANSACTION:
        if (p0->flags & PUG_ETMV4_COUNTS)
            return STOP;
        if (p0->bits == PUG_MEMTRANS_COMMIT || p0->bits == PUG_MEMTRANS_FAIL)
            return d->config->idr8 == 0 || d->depth == 0 ? PUT : SKIP;
        return SKIP;
    case PUG_ETMV4_P0_EVENT:
    case PUG_ETMV4_P0_TIMESTAMP:
    case PUG_ETMV4_P0_CYCLE_COUNT:
    case PUG_ETMV4_P0_MARKER:
    case PUG_ETMV4_P0_ITE: return PUT;
    case PUG_ETMV4_P0_ADDRESS:
    case PUG_ETMV4_P0_CONTEXT:
    case PUG_ETMV4_P0_TRACE_INFO: return SKIP;
    case PUG_ETMV4_P0_EXCEPTION_RETURN:
        return (p0->flags & PUG_ETMV4_COUNTS) || d->stage->quirks.etm4_end_passes_p0 ? STOP : PUT;
    case PUG_ETMV4_P0_SOURCE_ADDRESS:
    case PUG_ETMV4_P0_FUNCTION_RETURN: return d->stage->quirks.etm4_end_passes_p0 ? SKIP : STOP;
    default: return STOP;
    }
}

static enum pug_response end_trace(decoder *d)
{
    struct pug_out *out = &d->stage->out;
    while (pug_etmv4_queue_count(&d->queue) > 0) {
        const struct pug_etmv4_p0 *p0 = pug_etmv4_queue_at(&d->queue, 0);
        enum ending ending = end_of(d, p0);
        if (ending == STOP)
            break;
        if (ending == PUT) {
            if (!pug_out_ready(out)) {
                d->stage->pending = d->suspended = true;
                return PUG_RESP_CONT;
            }
            pug_etmv4_put_event(d, p0);
        }
        d->queue.head++;
    }
    d->queue.head = d->queue.tail = 0;
    if (!pug_out_ready(out)) {
        d->stage->pending = d->suspended = true;
        return PUG_RESP_CONT;
    }
    d->ending = false;
    pug_etmv4_push(d, PUG_ELEM_EO_TRACE, d->index)->reason =
        d->prev_overflow ? PUG_UNSYNC_OVERFLOW : PUG_UNSYNC_EOT;
    return PUG_RESP_CONT;
}

/* ---- the state machine ---- */

static enum pug_response suspend(decoder *d)
{
    d->stage->pending = d->suspended = true;
    return PUG_RESP_CONT;
}

/** The end of decoding, as far as this decoder is concerned. */
static enum pug_response stop(decoder *d)
{
    clear_resolution(d);
    d->queue.head = d->queue.tail = 0;
    d->state = PUG_ETMV4_DECODE;
    return PUG_RESP_FATAL_INVALID_DATA;
}

static enum pug_response put_no_sync(decoder *d)
{
    if (!pug_out_ready(&d->stage->out))
        return suspend(d);
    pug_etmv4_push(d, PUG_ELEM_NO_SYNC, d->index)->reason = d->reason;
    d->state = d->packet_type == PUG_ETMV4_ASYNC ? PUG_ETMV4_WAIT_INFO : PUG_ETMV4_WAIT_SYNC;
    return PUG_RESP_CONT;
}

/** What a packet's resolution ended in; where that lost the synchronisation, tell. */
static enum pug_response end_resolution(decoder *d, enum pug_etmv4_outcome outcome)
{
    if (outcome == PUG_ETMV4_SUSPENDED)
        return suspend(d);
    if (outcome == PUG_ETMV4_FATAL) {
        if (d->stage->quirks.etm4_error_drops_run)
            drop_round(d);
        return stop(d);
    }
    if (d->state == PUG_ETMV4_RESOLVE) {
        d->state = PUG_ETMV4_DECODE;
        return PUG_RESP_CONT;
    }
    if (d->waited && d->stage->quirks.etm4_wait_delays_no_sync)
        return outcome == PUG_ETMV4_FAILED ? PUG_RESP_ERR_CONT : PUG_RESP_CONT;
    return put_no_sync(d);
}

static enum pug_response proceed(decoder *d)
{
    return d->state == PUG_ETMV4_RESOLVE ? end_resolution(d, resolve(d)) : put_no_sync(d);
}

static enum pug_response wait_for_info(decoder *d, const packet_ *p)
{
    d->blocked |= PUG_ETMV4_NEED_CONTEXT | PUG_ETMV4_NEED_ADDRESS;
    if (pug_etmv4_enqueue_first(d, p))
        d->state = PUG_ETMV4_DECODE;
    return PUG_RESP_CONT;
}

/** The answer to a packet that failed before anything was resolved. */
static enum pug_response answer_bad(const decoder *d, enum pug_etmv4_outcome outcome)
{
    if (outcome == PUG_ETMV4_FATAL)
        return PUG_RESP_FATAL_INVALID_DATA;
    return d->stage->options.error_on_bad_packet ? PUG_RESP_ERR_CONT : PUG_RESP_WARN_CONT;
}

static enum pug_response decode_packet(decoder *d, const packet_ *p)
{
    if (d->stage->refused)
        return pug_stage_refuse(d->stage);
    switch ((enum pug_etmv4_state)d->state) {
    case PUG_ETMV4_NO_SYNC: return proceed(d);
    case PUG_ETMV4_WAIT_SYNC:
        if (p->type == PUG_ETMV4_ASYNC)
            d->state = PUG_ETMV4_WAIT_INFO;
        return PUG_RESP_CONT;
    case PUG_ETMV4_WAIT_INFO: return wait_for_info(d, p);
    default: break;
    }
    enum pug_etmv4_outcome outcome = take_packet(d, p);
    if (outcome != PUG_ETMV4_DONE)
        return answer_bad(d, outcome);
    return d->state == PUG_ETMV4_RESOLVE ? proceed(d) : PUG_RESP_CONT;
}

/**
 * Atoms that resolve at once, as there is no speculation and nothing before them in the queue: they
 * need not go through it, but for those that the consumer makes wait. `done` of them are done.
 */
static enum pug_response decode_atoms(decoder *d, const packet_ *p, uint32_t done)
{
    enum pug_etmv4_outcome outcome =
        pug_etmv4_take_atoms(d, d->index, p->atom_bits, p->atom_count, &done);
    if (outcome == PUG_ETMV4_DONE)
        return PUG_RESP_CONT;
    if (outcome == PUG_ETMV4_SUSPENDED) {
        pug_etmv4_enqueue_atoms(d, p->atom_bits >> done, p->atom_count - done);
        d->commits = p->atom_count - done;
        d->state = PUG_ETMV4_RESOLVE;
    }
    return end_resolution(d, outcome);
}

static bool is_atom(uint32_t type)
{
    return type - PUG_ETMV4_ATOM_F6 <= PUG_ETMV4_ATOM_F3 - PUG_ETMV4_ATOM_F6;
}

/** Returns the commit mode after everything that waits from `head` on. */
static enum pug_etmv4_commit_mode commit_mode_after(const struct pug_etmv4_queue *queue,
                                                    uint32_t head)
{
    const uint32_t waiting = queue->tail - head;
    if (waiting == 0)
        return PUG_ETMV4_DIRECT;
    return waiting == 1 && queue->ring[head & queue->mask].kind == PUG_ETMV4_P0_ADDRESS
               ? PUG_ETMV4_AIMED
               : PUG_ETMV4_QUEUES;
}

void pug_etmv4_set_commit_mode(decoder *d)
{
    const struct pug_etmv4_queue *queue = &d->queue;
    uint32_t head = queue->head;
    d->commit_mode = PUG_ETMV4_QUEUES;
    if (d->state != PUG_ETMV4_DECODE || d->config->idr8 != 0 || d->checks)
        return;
    /* After a cancel of what waited for its address that is still counted, or will not be. */
    if (d->pending_address || d->depth != 0)
        return;
    while (head != queue->tail && is_mark(&queue->ring[head & queue->mask]))
        head++;
    d->commit_mode = (uint8_t)commit_mode_after(queue, head);
    /* That an error takes back what its packet made come is for the queue. */
    if (head != queue->head && d->commit_mode != PUG_ETMV4_QUEUES)
        d->commit_mode =
            d->stage->quirks.etm4_error_drops_run ? PUG_ETMV4_QUEUES : PUG_ETMV4_MARKED;
}

bool pug_etmv4_put_marks(decoder *d)
{
    while (d->queue.head != d->queue.tail && is_mark(pug_etmv4_queue_at(&d->queue, 0))) {
        if (!pug_out_ready(&d->stage->out))
            return false;
        pug_etmv4_put_event(d, pug_etmv4_queue_at(&d->queue, 0));
        d->queue.head++;
    }
    d->commit_mode = (uint8_t)commit_mode_after(&d->queue, d->queue.head);
    return true;
}

enum pug_response pug_etmv4_decode_rest(decoder *d, const packet_ *p, uint32_t done,
                                        uint32_t elements)
{
    d->packet_type = p->type;
    d->waited = false;
    begin_round(d);
    d->round_mark -= elements;
    enum pug_response response = d->commit_mode == PUG_ETMV4_DIRECT && is_atom(p->type)
                                     ? decode_atoms(d, p, done)
                                     : decode_packet(d, p);
    pug_etmv4_set_commit_mode(d);
    return response;
}

enum pug_response pug_etmv4_decode(void *state, const struct pug_packet *packet)
{
    decoder *d = state;
    const packet_ *p = packet->data;
    d->index = packet->index;
    d->unusual = NULL;
    return pug_etmv4_decode_rest(d, p, 0, 0);
}

enum pug_response pug_etmv4_resume(void *state)
{
    decoder *d = state;
    /* The bytes at hand are used up: what nothing before it can take back need not wait. */
    if (!d->suspended) {
        if (d->state == PUG_ETMV4_DECODE && !d->stage->quirks.etm4_error_drops_run &&
            pug_etmv4_put_marks(d))
            pug_etmv4_set_commit_mode(d);
        return PUG_RESP_CONT;
    }
    d->suspended = false;
    d->waited = true;
    d->unusual = NULL;
    enum pug_response response = d->ending ? end_trace(d) : proceed(d);
    pug_etmv4_set_commit_mode(d);
    return response;
}

enum pug_response pug_etmv4_decode_end(void *state)
{
    decoder *d = state;
    d->ending = true;
    d->commit_mode = PUG_ETMV4_QUEUES;
    return end_trace(d);
}

void pug_etmv4_decoder_reset(void *state)
{
    decoder *d = state;
    d->ending = d->suspended = false;
    d->commit_mode = PUG_ETMV4_QUEUES;
    d->returns.known = false;
    pug_etmv4_lose_sync(d, PUG_UNSYNC_RESET_DECODER);
}

/* ---- making ---- */

/** Why a configuration cannot be decoded; NULL: it can. */
static const char *refusal(const struct pug_etmv4_config *config)
{
    if (config->data_trace)
        return "ETMv4 instruction decode : Data trace elements not supported";
    if (config->load_store_p0)
        return "ETMv4 instruction decode : LSP0 elements not supported.";
    if (config->cond_enabled)
        return "ETMv4 instruction decode : Trace on conditional non-branch elements not supported.";
    return NULL;
}

static void tell_codemap(decoder *d)
{
    const struct pug_stage *stage = d->stage;
    pug_codemap_set_isa_config(
        d->map, &(struct pug_isa_config){.arch = d->config->arch,
                                         .wfx_waypoints = d->config->wfx_is_branch,
                                         .track_it = true,
                                         .check_opcode = stage->options.check_opcode,
                                         .reference_classes = stage->quirks.reference_classes});
    if (d->config->return_stack)
        pug_codemap_stop_at_calls(d->map);
    d->space = PUG_SPACE_S; /* secure until a context says otherwise */
    pug_codemap_space(d->map, &(struct pug_reader_space){.space = d->space});
}

enum pug_status pug_etmv4_options_changed(void *decoder_)
{
    decoder *d = decoder_;
    const struct pug_decode_options *options = &d->stage->options;
    d->checks = options->check_direct_branch || options->check_strict_branch ||
                options->check_range_continuity || options->range_limit > 0;
    d->expect_valid &= options->check_range_continuity;
    return PUG_OK;
}

enum pug_status pug_etmv4_decoder_new(const void *config, struct pug_stage *stage, void **out)
{
    decoder *d = calloc(1, sizeof(*d));
    if (!d || !pug_etmv4_queue_new(&d->queue)) {
        free(d);
        return PUG_ERR_MEM;
    }
    d->stage = stage;
    d->map = stage->code;
    d->config = config;
    d->may_be_m = d->config->profile == PUG_PROFILE_M ||
                  (d->config->profile == PUG_PROFILE_UNKNOWN && !pug_quirks_any(&stage->quirks));
    d->isa = stage->quirks.etm4_stale_state ? PUG_ISA_A32 : PUG_ISA_UNKNOWN;
    pug_etmv4_options_changed(d);
    stage->out.blank.isa = PUG_ISA_UNKNOWN;
    pug_etmv4_lose_sync(d, PUG_UNSYNC_INIT_DECODER);
    tell_codemap(d);
    const char *refused = refusal(d->config);
    stage->refused = refused != NULL;
    if (refused && !stage->quirks.etm4_silent_refusal)
        pug_stage_log(stage, stage->decoder_name, PUG_SEV_ERROR, PUG_ERR_UNSUPPORTED_CONFIG,
                      PUG_NO_INDEX, refused);
    *out = d;
    return PUG_OK;
}

void pug_etmv4_decoder_free(void *state)
{
    decoder *d = state;
    if (!d)
        return;
    free(d->queue.ring);
    free(d);
}
