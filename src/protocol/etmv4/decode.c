// SPDX-License-Identifier: MIT
/** @file Packets to elements: the decoder's states, and what each packet queues. */
#include "protocol/etmv4/etmv4.h"

#include <stdlib.h>

typedef struct pug_etmv4_decoder decoder;
typedef struct pug_etmv4_packet packet_;

/* The most elements that one packet queues. */
#define QUEUED_BY_PACKET 3u

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

/** The elements that this commit run has put out, as far as they are not delivered yet. */
static void drop_run(decoder *d)
{
    struct pug_batch *batch = d->stage->out.batch;
    batch->count -= d->run_pushed < batch->count ? d->run_pushed : batch->count;
    d->run_pushed = 0;
}

enum pug_etmv4_outcome pug_etmv4_fail(decoder *d, enum pug_severity severity, enum pug_status code,
                                      uint64_t index, enum pug_unsync reason, const char *text)
{
    pug_stage_log(d->stage, d->stage->decoder_name, severity, code, index, text);
    if (d->stage->options.halt_on_bad_packet)
        return PUG_ETMV4_FATAL;
    if (d->stage->quirks.etm4_error_drops_run)
        drop_run(d);
    pug_etmv4_lose_sync(d, reason);
    return PUG_ETMV4_FAILED;
}

/* ---- what each packet queues ---- */

/** A new element at the end of the queue, which has room for it. */
static struct pug_etmv4_p0 *queue(decoder *d, enum pug_etmv4_p0_kind kind, uint8_t flags)
{
    struct pug_etmv4_p0 *p0 = &d->queue.ring[d->queue.tail++ & d->queue.mask];
    *p0 = (struct pug_etmv4_p0){.index = d->index, .kind = (uint8_t)kind, .flags = flags};
    if (flags & PUG_ETMV4_COUNTS)
        d->depth++;
    return p0;
}

static void queue_atoms(decoder *d, const packet_ *p)
{
    if (p->atom_count == 0)
        return;
    struct pug_etmv4_p0 *p0 = queue(d, PUG_ETMV4_P0_ATOM, PUG_ETMV4_COUNTS);
    p0->bits = p->atom_bits;
    p0->count = p->atom_count;
    d->depth += p->atom_count - 1;
}

static void queue_address(decoder *d, const packet_ *p)
{
    struct pug_etmv4_p0 *p0 = queue(d, PUG_ETMV4_P0_ADDRESS, 0);
    p0->value = p->address.value;
    p0->is = p->address.is;
    d->last_is = p->address.is;
    if (d->pending_address)
        d->depth++;
    d->pending_address = false;
}

static void queue_context(decoder *d, const packet_ *p, uint8_t is)
{
    static const uint8_t securities[4] = {PUG_SEC_SECURE, PUG_SEC_NONSECURE, PUG_SEC_ROOT,
                                          PUG_SEC_REALM};
    const struct pug_etmv4_context *context = &p->context;
    struct pug_etmv4_p0 *p0 = queue(d, PUG_ETMV4_P0_CONTEXT, 0);
    p0->value = (uint64_t)context->vmid << 32 | context->context_id;
    p0->bits = securities[context->nse << 1 | context->ns];
    p0->el = context->el;
    p0->is = is;
    p0->flags = (uint8_t)((context->updated ? PUG_ETMV4_UPDATED : 0) |
                          (context->updated_context_id ? PUG_ETMV4_NEW_CONTEXT_ID : 0) |
                          (context->updated_vmid ? PUG_ETMV4_NEW_VMID : 0) |
                          (context->sf ? PUG_ETMV4_SF : 0));
}

/** Exceptions and Q elements without an address are counted when that comes. */
static struct pug_etmv4_p0 *queue_pending(decoder *d, enum pug_etmv4_p0_kind kind, uint8_t flags)
{
    struct pug_etmv4_p0 *p0 = queue(d, kind, 0);
    p0->flags = flags | PUG_ETMV4_COUNTS;
    d->pending_address = true;
    return p0;
}

static void queue_source(decoder *d, const packet_ *p)
{
    struct pug_etmv4_p0 *p0 = queue(d, PUG_ETMV4_P0_SOURCE_ADDRESS, PUG_ETMV4_COUNTS);
    p0->value = p->address.value;
    if (d->stage->quirks.etm4_source_not_p0)
        p0->flags = 0;
}

static void queue_q(decoder *d, const packet_ *p)
{
    struct pug_etmv4_p0 *p0 = p->q_has_address
                                  ? queue(d, PUG_ETMV4_P0_Q, PUG_ETMV4_COUNTS)
                                  : queue_pending(d, PUG_ETMV4_P0_Q, PUG_ETMV4_NO_ADDRESS);
    p0->bits = p->q_count;
    p0->value = p->address.value;
    p0->is = p->address.is;
}

static void queue_timestamp(decoder *d, const packet_ *p)
{
    struct pug_etmv4_p0 *p0 =
        queue(d, PUG_ETMV4_P0_TIMESTAMP, d->config->cycle_count ? PUG_ETMV4_WITH_CYCLES : 0);
    p0->value = p->timestamp;
    p0->bits = p->valid & PUG_ETMV4_HAS_CYCLE_COUNT ? p->cycle_count : 0;
}

static void queue_event(decoder *d, enum pug_etmv4_p0_kind kind, uint32_t number)
{
    queue(d, kind, 0)->bits = number;
}

/** What the trace says of before it began: elements that nobody saw. */
static void first_trace_info(decoder *d, const packet_ *p)
{
    if (p->spec_depth > 0)
        queue(d, PUG_ETMV4_P0_UNSEEN, PUG_ETMV4_COUNTS)->bits = p->spec_depth;
    queue(d, PUG_ETMV4_P0_TRACE_INFO, 0);
    if (p->trace_info & PUG_ETMV4_INFO_IN_TRANSACTION)
        queue_event(d, PUG_ETMV4_P0_TRANSACTION, PUG_MEMTRANS_INIT);
    d->depth = p->spec_depth;
    pug_etmv4_flush_returns(d);
}

/** PE reset: all before it is committed, and so is it. */
static void queue_pe_reset(decoder *d)
{
    queue(d, PUG_ETMV4_P0_EXCEPTION, PUG_ETMV4_COUNTS)->flags |= PUG_ETMV4_NO_ADDRESS;
    d->commits = (uint64_t)d->depth;
}

/** A packet that no decoder can do anything with. */
static enum pug_etmv4_outcome bad_packet(decoder *d, const char *text)
{
    enum pug_severity severity =
        d->stage->options.error_on_bad_packet ? PUG_SEV_ERROR : PUG_SEV_WARN;
    return pug_etmv4_fail(d, severity, PUG_ERR_BAD_DECODE_PKT, d->index, PUG_UNSYNC_BAD_PACKET,
                          text);
}

static enum pug_etmv4_outcome unsupported_packet(decoder *d)
{
    return pug_etmv4_fail(d, PUG_SEV_ERROR, PUG_ERR_UNSUPP_DECODE_PKT, d->index,
                          PUG_UNSYNC_BAD_PACKET, "Data trace related, unsupported packet type.");
}

static enum pug_etmv4_outcome queue_packet(decoder *d, const packet_ *p)
{
    switch ((enum pug_etmv4_type)p->type) {
    case PUG_ETMV4_ASYNC:
    case PUG_ETMV4_IGNORE: break;
    case PUG_ETMV4_TRACE_INFO: queue(d, PUG_ETMV4_P0_TRACE_INFO, 0); break;
    case PUG_ETMV4_TRACE_ON: queue(d, PUG_ETMV4_P0_TRACE_ON, 0); break;
    case PUG_ETMV4_ATOM_F1:
    case PUG_ETMV4_ATOM_F2:
    case PUG_ETMV4_ATOM_F3:
    case PUG_ETMV4_ATOM_F4:
    case PUG_ETMV4_ATOM_F5:
    case PUG_ETMV4_ATOM_F6: queue_atoms(d, p); break;
    case PUG_ETMV4_CTXT: queue_context(d, p, d->last_is); break;
    case PUG_ETMV4_ADDR_CTXT_L_32IS0:
    case PUG_ETMV4_ADDR_CTXT_L_32IS1:
    case PUG_ETMV4_ADDR_CTXT_L_64IS0:
    case PUG_ETMV4_ADDR_CTXT_L_64IS1:
        queue_context(d, p, p->address.is);
        queue_address(d, p);
        break;
    case PUG_ETMV4_ADDR_MATCH:
    case PUG_ETMV4_ADDR_S_IS0:
    case PUG_ETMV4_ADDR_S_IS1:
    case PUG_ETMV4_ADDR_L_32IS0:
    case PUG_ETMV4_ADDR_L_32IS1:
    case PUG_ETMV4_ADDR_L_64IS0:
    case PUG_ETMV4_ADDR_L_64IS1: queue_address(d, p); break;
    case PUG_ETMV4_SRC_ADDR_MATCH:
    case PUG_ETMV4_SRC_ADDR_S_IS0:
    case PUG_ETMV4_SRC_ADDR_S_IS1:
    case PUG_ETMV4_SRC_ADDR_L_32IS0:
    case PUG_ETMV4_SRC_ADDR_L_32IS1:
    case PUG_ETMV4_SRC_ADDR_L_64IS0:
    case PUG_ETMV4_SRC_ADDR_L_64IS1: queue_source(d, p); break;
    case PUG_ETMV4_EXCEPT:
        queue_pending(d, PUG_ETMV4_P0_EXCEPTION,
                      p->exception_address == 2 ? PUG_ETMV4_MATCH_PREV : 0)
            ->bits = p->exception_type;
        break;
    case PUG_ETMV4_EXCEPT_RTN:
        queue(d, PUG_ETMV4_P0_EXCEPTION_RETURN,
              d->config->arch == PUG_ARCH_V7 && d->config->profile == PUG_PROFILE_M
                  ? PUG_ETMV4_COUNTS
                  : 0);
        break;
    case PUG_ETMV4_FUNC_RET: queue(d, PUG_ETMV4_P0_FUNCTION_RETURN, PUG_ETMV4_COUNTS); break;
    case PUG_ETMV4_EVENT: queue_event(d, PUG_ETMV4_P0_EVENT, p->event); break;
    case PUG_ETMV4_CCNT_F1:
    case PUG_ETMV4_CCNT_F2:
    case PUG_ETMV4_CCNT_F3:
        queue_event(d, PUG_ETMV4_P0_CYCLE_COUNT, p->cycle_count);
        d->commits = p->valid & PUG_ETMV4_HAS_COMMIT ? p->commit_count : 0;
        break;
    case PUG_ETMV4_TIMESTAMP: queue_timestamp(d, p); break;
    case PUG_ETMV4_TS_MARKER: queue(d, PUG_ETMV4_P0_MARKER, 0); break;
    case PUG_ETMV4_CANCEL_F1_MISPRED:
    case PUG_ETMV4_MISPREDICT:
    case PUG_ETMV4_CANCEL_F2:
    case PUG_ETMV4_CANCEL_F3:
        queue_atoms(d, p);
        d->mispredict = true;
        d->cancels = p->cancel_count;
        break;
    case PUG_ETMV4_CANCEL_F1: d->cancels = p->cancel_count; break;
    case PUG_ETMV4_COMMIT: d->commits = p->commit_count; break;
    case PUG_ETMV4_OVERFLOW: d->prev_overflow = true; /* fall through */
    case PUG_ETMV4_DISCARD:
        d->discard = true;
        d->depth = 0;
        break;
    case PUG_ETMV4_Q: queue_q(d, p); break;
    case PUG_ETMV4_TRANS_ST:
        queue(d, PUG_ETMV4_P0_TRANSACTION, d->config->trans_start_is_p0 ? PUG_ETMV4_COUNTS : 0)
            ->bits = PUG_MEMTRANS_START;
        break;
    case PUG_ETMV4_TRANS_COMMIT:
        queue_event(d, PUG_ETMV4_P0_TRANSACTION, PUG_MEMTRANS_COMMIT);
        break;
    case PUG_ETMV4_TRANS_FAIL: queue_event(d, PUG_ETMV4_P0_TRANSACTION, PUG_MEMTRANS_FAIL); break;
    case PUG_ETMV4_ITE: {
        struct pug_etmv4_p0 *p0 = queue(d, PUG_ETMV4_P0_ITE, 0);
        p0->el = p->ite_el;
        p0->value = p->ite_value;
        break;
    }
    case PUG_ETMV4_NUM_DS_MKR:
    case PUG_ETMV4_UNNUM_DS_MKR:
    case PUG_ETMV4_COND_I_F1:
    case PUG_ETMV4_COND_I_F2:
    case PUG_ETMV4_COND_I_F3:
    case PUG_ETMV4_COND_FLUSH:
    case PUG_ETMV4_COND_RES_F1:
    case PUG_ETMV4_COND_RES_F2:
    case PUG_ETMV4_COND_RES_F3:
    case PUG_ETMV4_COND_RES_F4: return unsupported_packet(d);
    case PUG_ETMV4_BAD_SEQUENCE: return bad_packet(d, "Bad byte sequence in packet.");
    case PUG_ETMV4_BAD_TRACEMODE: return bad_packet(d, "Invalid packet type for trace mode.");
    case PUG_ETMV4_RESERVED: return bad_packet(d, "Reserved packet header");
    case PUG_ETMV4_PE_RESET:
        if (d->stage->quirks.etm4_pe_reset_unknown)
            return bad_packet(d, "Unknown packet type.");
        queue_pe_reset(d);
        break;
    case PUG_ETMV4_INCOMPLETE_EOT:
        if (d->stage->quirks.etm4_incomplete_is_error)
            return bad_packet(d, "Unknown packet type.");
        break;
    default: return bad_packet(d, "Unknown packet type.");
    }
    return PUG_ETMV4_DONE;
}

/** Queue what a packet says, and see what it resolves. */
static enum pug_etmv4_outcome take_packet(decoder *d, const packet_ *p)
{
    enum pug_etmv4_outcome outcome = queue_packet(d, p);
    if (outcome != PUG_ETMV4_DONE)
        return outcome;
    if (d->depth > d->config->idr8 && p->type != PUG_ETMV4_PE_RESET)
        d->commits = (uint64_t)(d->depth - d->config->idr8);
    d->drain = !pug_etmv4_queue_reserve(&d->queue, QUEUED_BY_PACKET);
    if (d->commits || d->cancels || d->mispredict || d->discard || d->drain)
        d->state = PUG_ETMV4_RESOLVE;
    return PUG_ETMV4_DONE;
}

/* ---- resolving ---- */

/** DISCARD and OVERFLOW: only what marks a time survives. */
static enum pug_etmv4_outcome discard(decoder *d)
{
    while (pug_etmv4_queue_count(&d->queue) > 0) {
        const struct pug_etmv4_p0 *p0 = pug_etmv4_queue_at(&d->queue, 0);
        bool put = p0->kind >= PUG_ETMV4_P0_EVENT && p0->kind <= PUG_ETMV4_P0_MARKER;
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
    d->state = PUG_ETMV4_NO_SYNC;
    d->reason = d->prev_overflow ? PUG_UNSYNC_OVERFLOW : PUG_UNSYNC_DISCARD;
    return PUG_ETMV4_DONE;
}

/** The reference sends after each commit run, and only then learns that the consumer waits. */
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
    while ((outcome = pug_etmv4_commit(d)) == PUG_ETMV4_RUN_ENDS) {
        note_wait(d);
        d->run_pushed = 0;
        d->run_index = 0;
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
    if (d->drain && !pug_etmv4_queue_reserve(&d->queue, QUEUED_BY_PACKET))
        return pug_etmv4_fail(d, PUG_SEV_ERROR, PUG_ERR_LIMIT, d->index, PUG_UNSYNC_BAD_PACKET,
                              "Too many elements wait for a commit.");
    d->drain = false;
    return PUG_ETMV4_DONE;
}

/* ---- the end of trace ---- */

/** What happens to an element that still waits at the end of trace. */
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
                d->stage->pending = true;
                return PUG_RESP_CONT;
            }
            pug_etmv4_put_event(d, p0);
        }
        d->queue.head++;
    }
    d->queue.head = d->queue.tail = 0;
    if (!pug_out_ready(out)) {
        d->stage->pending = true;
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
    d->stage->pending = true;
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
    if (outcome == PUG_ETMV4_FATAL)
        return stop(d);
    if (d->state == PUG_ETMV4_RESOLVE) {
        d->state = PUG_ETMV4_DECODE;
        return PUG_RESP_CONT;
    }
    if (d->waited && d->stage->quirks.etm4_wait_delays_no_sync)
        return outcome == PUG_ETMV4_FAILED ? PUG_RESP_ERR_CONT : PUG_RESP_CONT;
    return put_no_sync(d);
}

static enum pug_response run(decoder *d)
{
    return d->state == PUG_ETMV4_RESOLVE ? end_resolution(d, resolve(d)) : put_no_sync(d);
}

static enum pug_response take_first_info(decoder *d, const packet_ *p)
{
    d->blocked |= PUG_ETMV4_NEED_CONTEXT | PUG_ETMV4_NEED_ADDRESS;
    if (p->type == PUG_ETMV4_TRACE_INFO) {
        first_trace_info(d, p);
        d->state = PUG_ETMV4_DECODE;
    } else if (d->config->ete && p->type == PUG_ETMV4_EVENT &&
               pug_etmv4_queue_reserve(&d->queue, 2 * QUEUED_BY_PACKET + 1)) {
        queue_event(d, PUG_ETMV4_P0_EVENT, p->event);
    }
    return PUG_RESP_CONT;
}

static enum pug_response refuse(decoder *d)
{
    pug_log_put(d->stage->log,
                &(struct pug_log_record){.severity = PUG_SEV_ERROR,
                                         .code = PUG_ERR_NOT_INIT,
                                         .index = PUG_NO_INDEX,
                                         .source = PUG_NO_SOURCE,
                                         .component = d->stage->decoder_name,
                                         .text = "No decoder configuration information"});
    return PUG_RESP_FATAL_NOT_INIT;
}

/** The answer to a packet that failed before anything was resolved. */
static enum pug_response answer_bad(const decoder *d, enum pug_etmv4_outcome outcome)
{
    if (outcome == PUG_ETMV4_FATAL)
        return PUG_RESP_FATAL_INVALID_DATA;
    return d->stage->options.error_on_bad_packet ? PUG_RESP_ERR_CONT : PUG_RESP_WARN_CONT;
}

/** Any packet. */
static enum pug_response decode_packet(decoder *d, const packet_ *p)
{
    if (d->unsupported)
        return refuse(d);
    switch ((enum pug_etmv4_state)d->state) {
    case PUG_ETMV4_NO_SYNC: return run(d);
    case PUG_ETMV4_WAIT_SYNC:
        if (p->type == PUG_ETMV4_ASYNC)
            d->state = PUG_ETMV4_WAIT_INFO;
        return PUG_RESP_CONT;
    case PUG_ETMV4_WAIT_INFO: return take_first_info(d, p);
    default: break;
    }
    enum pug_etmv4_outcome outcome = take_packet(d, p);
    if (outcome != PUG_ETMV4_DONE)
        return answer_bad(d, outcome);
    return d->state == PUG_ETMV4_RESOLVE ? run(d) : PUG_RESP_CONT;
}

/**
 * Without speculation, atoms with nothing before them but where execution is resolve at once: they
 * need not go through the queue, but for those that cannot be done with.
 */
static enum pug_response decode_atoms(decoder *d, const packet_ *p)
{
    uint32_t done;
    enum pug_etmv4_outcome outcome =
        pug_etmv4_take_atoms(d, d->index, p->atom_bits, p->atom_count, &done);
    if (outcome == PUG_ETMV4_DONE)
        return PUG_RESP_CONT;
    if (outcome == PUG_ETMV4_SUSPENDED) {
        struct pug_etmv4_p0 *p0 = queue(d, PUG_ETMV4_P0_ATOM, PUG_ETMV4_COUNTS);
        p0->bits = p->atom_bits >> done;
        p0->count = (uint8_t)(p->atom_count - done);
        d->depth = p0->count;
        d->commits = p0->count;
        d->state = PUG_ETMV4_RESOLVE;
    }
    return end_resolution(d, outcome);
}

enum pug_response pug_etmv4_decode(void *state, const struct pug_packet *packet)
{
    decoder *d = state;
    const packet_ *p = packet->data;
    d->index = packet->index;
    d->packet_type = packet->type;
    d->waited = false;
    d->run_pushed = 0;
    d->run_index = 0;
    if (packet->type - PUG_ETMV4_ATOM_F6 > PUG_ETMV4_ATOM_F3 - PUG_ETMV4_ATOM_F6 ||
        d->state != PUG_ETMV4_DECODE || d->config->idr8 != 0)
        return decode_packet(d, p);
    for (; d->queue.head != d->queue.tail; d->queue.head++) {
        const struct pug_etmv4_p0 *p0 = pug_etmv4_queue_at(&d->queue, 0);
        if (p0->kind != PUG_ETMV4_P0_ADDRESS)
            return decode_packet(d, p);
        pug_etmv4_commit_address(d, p0);
    }
    return decode_atoms(d, p);
}

enum pug_response pug_etmv4_resume(void *state)
{
    decoder *d = state;
    d->waited = true;
    return d->ending ? end_trace(d) : run(d);
}

enum pug_response pug_etmv4_decode_end(void *state)
{
    decoder *d = state;
    d->ending = true;
    return end_trace(d);
}

void pug_etmv4_decoder_reset(void *state)
{
    decoder *d = state;
    d->ending = false;
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
    d->space = PUG_SPACE_S; /* secure until a context says otherwise */
    pug_codemap_space(d->map, &(struct pug_reader_space){.space = d->space});
}

enum pug_status pug_etmv4_decoder_new(const void *config, struct pug_stage *stage, void **out)
{
    decoder *d = calloc(1, sizeof(*d));
    if (!d || !pug_etmv4_queue_new(&d->queue)) {
        free(d);
        return PUG_ERR_MEM;
    }
    const struct pug_decode_options *options = &stage->options;
    d->stage = stage;
    d->map = stage->code;
    d->config = config;
    d->isa = PUG_ISA_UNKNOWN;
    d->checks = options->check_direct_branch || options->check_strict_branch ||
                options->check_range_continuity || options->range_limit > 0;
    stage->out.blank.isa = PUG_ISA_UNKNOWN;
    pug_etmv4_lose_sync(d, PUG_UNSYNC_INIT_DECODER);
    tell_codemap(d);
    const char *refused = refusal(d->config);
    d->unsupported = refused != NULL;
    if (refused && !stage->quirks.etm4_silent_refusal)
        pug_stage_log(stage, stage->decoder_name, PUG_SEV_ERROR, PUG_ERR_HW_CFG_UNSUPP,
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
