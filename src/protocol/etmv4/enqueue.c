// SPDX-License-Identifier: MIT
/** @file What each packet adds to the queue, and what it asks to be resolved. */
#include "protocol/etmv4/etmv4.h"

#include <inttypes.h>
#include <stdio.h>

typedef struct pug_etmv4_decoder decoder;
typedef struct pug_etmv4_packet packet_;

/** A new element at the end of the queue, which has room for it. */
static struct pug_etmv4_p0 *queue(decoder *d, enum pug_etmv4_p0_kind kind, uint8_t flags)
{
    struct pug_etmv4_p0 *p0 = &d->queue.ring[d->queue.tail++ & d->queue.mask];
    *p0 = (struct pug_etmv4_p0){.index = d->index, .kind = (uint8_t)kind, .flags = flags};
    if (flags & PUG_ETMV4_COUNTS)
        d->depth++;
    return p0;
}

void pug_etmv4_enqueue_atoms(decoder *d, uint32_t bits, uint32_t count)
{
    if (count == 0)
        return;
    struct pug_etmv4_p0 *p0 = queue(d, PUG_ETMV4_P0_ATOM, PUG_ETMV4_COUNTS);
    p0->bits = bits;
    p0->count = (uint8_t)count;
    d->depth += count - 1;
}

void pug_etmv4_enqueue_address(decoder *d, uint64_t index, uint64_t value, uint8_t is)
{
    struct pug_etmv4_p0 *p0 = queue(d, PUG_ETMV4_P0_ADDRESS, 0);
    p0->index = index;
    p0->value = value;
    p0->is = is;
}

void pug_etmv4_enqueue_mark(decoder *d, const struct pug_etmv4_p0 *mark)
{
    *queue(d, (enum pug_etmv4_p0_kind)mark->kind, 0) = *mark;
}

static void queue_address(decoder *d, const packet_ *p)
{
    pug_etmv4_enqueue_address(d, d->index, p->address.value, p->address.is);
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
    p0->value = (context->updated_vmid ? (uint64_t)context->vmid << 32 : 0) |
                (context->updated_context_id ? context->context_id : 0);
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

/** Queue elements that were pending before the trace began; their packets were not seen. */
static void first_trace_info(decoder *d, const packet_ *p)
{
    if (p->spec_depth > 0)
        queue(d, PUG_ETMV4_P0_UNSEEN, PUG_ETMV4_COUNTS)->bits = p->spec_depth;
    queue(d, PUG_ETMV4_P0_TRACE_INFO, 0);
    if (p->trace_info & PUG_ETMV4_INFO_IN_TRANSACTION)
        queue_event(d, PUG_ETMV4_P0_TRANSACTION, PUG_MEMTRANS_INIT);
    d->depth = p->spec_depth;
    const bool known = d->returns.known;
    pug_etmv4_flush_returns(d);
    d->returns.known = known;
}

bool pug_etmv4_enqueue_first(decoder *d, const packet_ *p)
{
    if (p->type == PUG_ETMV4_TRACE_INFO) {
        first_trace_info(d, p);
        return true;
    }
    if (d->config->ete && p->type == PUG_ETMV4_EVENT &&
        pug_etmv4_queue_reserve(&d->queue, 2 * PUG_ETMV4_QUEUED_BY_PACKET + 1))
        queue_event(d, PUG_ETMV4_P0_EVENT, p->event);
    return false;
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

/**
 * A TRACE_INFO says how many elements are not committed (IHI 0064, SPEC). With another TRCIDR8 than
 * the unit has it is not how many wait here. With 0 none waits, and the fast path looks at nothing.
 */
static void check_depth(decoder *d, const packet_ *p)
{
    char text[160];
    if (d->config->idr8 == 0 || p->spec_depth == d->depth || d->stage->quirks.silent_depth)
        return;
    snprintf(text, sizeof(text),
             "TRACE_INFO says that %" PRIu32 " elements wait for a commit, and with TRCIDR8=0x%x "
             "there are %" PRId64 "; set TRCIDR8 as the unit has it",
             p->spec_depth, (unsigned)d->config->idr8, d->depth);
    pug_stage_log(d->stage, d->stage->decoder_name, PUG_SEV_ERROR, PUG_ERR_TRACE_SETTINGS, d->index,
                  text);
}

/** Do commits count an exception return? On M profile cores it is a P0 element. */
static uint8_t exception_return_counts(const decoder *d)
{
    const struct pug_etmv4_config *config = d->config;
    if (config->profile != PUG_PROFILE_M)
        return d->may_be_m && config->idr8 == 0 ? PUG_ETMV4_COUNTS
                                                : 0; /* M cores hardly speculate */
    return d->stage->quirks.etm4_return_not_p0 && config->arch != PUG_ARCH_V7 ? 0
                                                                              : PUG_ETMV4_COUNTS;
}

enum pug_etmv4_outcome pug_etmv4_enqueue(decoder *d, const packet_ *p)
{
    switch ((enum pug_etmv4_type)p->type) {
    case PUG_ETMV4_ASYNC:
    case PUG_ETMV4_IGNORE: break;
    case PUG_ETMV4_TRACE_INFO:
        check_depth(d, p);
        queue(d, PUG_ETMV4_P0_TRACE_INFO, 0);
        break;
    case PUG_ETMV4_TRACE_ON: queue(d, PUG_ETMV4_P0_TRACE_ON, 0); break;
    case PUG_ETMV4_ATOM_F1:
    case PUG_ETMV4_ATOM_F2:
    case PUG_ETMV4_ATOM_F3:
    case PUG_ETMV4_ATOM_F4:
    case PUG_ETMV4_ATOM_F5:
    case PUG_ETMV4_ATOM_F6: pug_etmv4_enqueue_atoms(d, p->atom_bits, p->atom_count); break;
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
        queue(d, PUG_ETMV4_P0_EXCEPTION_RETURN, exception_return_counts(d));
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
        pug_etmv4_enqueue_atoms(d, p->atom_bits, p->atom_count);
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
