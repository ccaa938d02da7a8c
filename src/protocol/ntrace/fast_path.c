// SPDX-License-Identifier: MIT
/**
 * @file Reading and decoding at once: branch messages and full histories with nothing special about
 * them, which is what a trace mostly consists of.
 */
#include "base/bytes.h"
#include "protocol/ntrace/message.h"
#include "protocol/ntrace/packet_memo.h"
#include "protocol/ntrace/reader.h"

/** A usual message. */
struct usual {
    uint64_t icnt, addr, hist, stamp;
    uint8_t type;
    bool stamped;
};

/** By TCODE, their fixed fields: BTYPE of no trap, RCODE of a history. Those that are here. */
static const struct {
    uint8_t bits, value;
    bool usual;
} shapes[64] = {[PUG_NTRACE_DIRECT_BRANCH] = {0, 0, true},
                [PUG_NTRACE_INDIRECT_BRANCH] = {2, 0, true},
                [PUG_NTRACE_INDIRECT_BRANCH_HIST] = {2, 0, true},
                [PUG_NTRACE_RESOURCE_FULL] = {4, 1, true}};

/** The bits of a short segment; NULL where it is cut off, long, or broken. */
static inline const uint8_t *take_segment(const uint8_t *at, const uint8_t *end, uint64_t *value,
                                          unsigned *bits)
{
    uint64_t low = 0;
    unsigned count = 0;
    while (at < end && count < 60) {
        uint8_t byte = *at++;
        low |= (uint64_t)(byte >> 2) << count;
        count += 6;
        if ((byte & 3) == PUG_NEXUS_MSEO_MORE)
            continue;
        *value = low;
        *bits = count;
        return (byte & 3) == PUG_NEXUS_MSEO_RESERVED ? NULL : at;
    }
    return NULL;
}

static inline bool is_last(const uint8_t *behind)
{
    return (behind[-1] & 3) == PUG_NEXUS_MSEO_END_MESSAGE;
}

/** The message that begins at `at`, if all of it is there and it is a usual one of this source;
    where it ends. Else NULL. */
static inline const uint8_t *read_usual(const struct pug_ntrace_reader *reader, const uint8_t *at,
                                        const uint8_t *end, struct usual *usual)
{
    const struct pug_ntrace_config *config = reader->config;
    const unsigned type = *at >> 2, own = 6 + config->src_bits, fixed = shapes[type].bits;
    uint64_t first;
    unsigned bits;
    if ((*at & 3) != PUG_NEXUS_MSEO_MORE || !shapes[type].usual)
        return NULL;
    at = take_segment(at, end, &first, &bits);
    if (!at || (first & ((1u << own) - 1)) >> 6 != (config->src_bits ? reader->src : 0u) ||
        (first >> own & ((1u << fixed) - 1)) != shapes[type].value || bits <= own + fixed)
        return NULL;
    *usual = (struct usual){.type = (uint8_t)type, .icnt = first >> own >> fixed, .hist = 1};
    if (type == PUG_NTRACE_RESOURCE_FULL) {
        usual->hist = usual->icnt;
        usual->icnt = 0;
    } else if (type != PUG_NTRACE_DIRECT_BRANCH) {
        at = is_last(at) ? NULL : take_segment(at, end, &usual->addr, &bits);
        usual->addr = pug_ntrace_extend_address(config, usual->addr, bits);
    }
    if (type == PUG_NTRACE_INDIRECT_BRANCH_HIST && at)
        at = is_last(at) ? NULL : take_segment(at, end, &usual->hist, &bits);
    if (!at || usual->hist == 0 || usual->hist >> pug_ntrace_field_bits[PUG_NTRACE_HIST] ||
        usual->icnt >> pug_ntrace_field_bits[PUG_NTRACE_ICNT])
        return NULL;
    usual->stamped = !is_last(at);
    if (usual->stamped && config->timestamps != PUG_NTRACE_TS_OFF && !config->sifive)
        at = take_segment(at, end, &usual->stamp, &bits);
    return at && is_last(at) ? at : NULL;
}

/* ---- messages as they were ---- */

#define WORDS 16u /* bytes */

/** How many of eight bytes there are up to the end of a message, or 8. */
static inline unsigned bytes_up_to_end(uint64_t word)
{
    const uint64_t ends = word & word >> 1 & UINT64_C(0x0101010101010101);
    return ends ? (unsigned)__builtin_ctzll(ends) / 8 + 1 : 8;
}

/** The message that begins at `at` as two words; where it ends. NULL: it is longer, or cut off. */
static inline const uint8_t *take_words(const uint8_t *at, const uint8_t *end, uint64_t *low,
                                        uint64_t *high)
{
    if (end - at < (ptrdiff_t)WORDS)
        return NULL;
    unsigned size = bytes_up_to_end(*low = pug_bytes_number(at, 8));
    *low &= UINT64_MAX >> (64 - 8 * size);
    *high = 0;
    if (is_last(at + size))
        return at + size;
    size = bytes_up_to_end(*high = pug_bytes_number(at + 8, 8));
    *high &= UINT64_MAX >> (64 - 8 * size);
    return is_last(at + 8 + size) ? at + 8 + size : NULL;
}

/** The next message does what it did before: where it ends. NULL: it is to be decoded. */
static inline const uint8_t *repeat(struct pug_ntrace_decoder *d, const struct pug_span *span,
                                    struct pug_memo_lookup *lookup)
{
    uint64_t low, high;
    if (!shapes[*span->at >> 2].usual)
        return NULL;
    const uint8_t *behind = take_words(span->at, span->end, &low, &high);
    if (!behind || !pug_ntrace_repeat(d, lookup, low, high, pug_span_index(span)))
        return NULL;
    return behind;
}

/* ---- messages that are decoded ---- */

/** What a message asks for, into d->walk. False: there is something to say of it. */
static inline bool begin(struct pug_ntrace_decoder *d, const struct usual *usual)
{
    const bool full = usual->type == PUG_NTRACE_RESOURCE_FULL;
    const int64_t budget = (int64_t)usual->icnt + d->full;
    struct pug_ntrace_walk *walk = &d->walk;
    pug_ntrace_bound(d);
    if (!full && (budget < 0 || budget > d->walk_limit))
        return false;
    walk->budget = full ? pug_ntrace_history_guard(d, 0) : budget;
    walk->passed = 0;
    walk->hist = usual->hist;
    walk->bits = 63 - (unsigned)__builtin_clzll(usual->hist);
    walk->history_only = full;
    walk->has_history = usual->type == PUG_NTRACE_INDIRECT_BRANCH_HIST;
    walk->end = full                                      ? PUG_NTRACE_END_NONE
                : usual->type == PUG_NTRACE_DIRECT_BRANCH ? PUG_NTRACE_END_DIRECT
                                                          : PUG_NTRACE_END_INDIRECT;
    walk->range_start = d->pc;
    if (!full)
        d->full = 0;
    d->branch = (struct pug_ntrace_branch){
        .valid = !full, .type = usual->type, .icnt = usual->icnt, .hist = usual->hist};
    return true;
}

/** It was walked. */
static inline void land(struct pug_ntrace_reader *reader, struct pug_ntrace_decoder *d,
                        const struct usual *usual)
{
    if (usual->stamped && reader->time_known) {
        pug_out_push(&d->stage->out, PUG_ELEM_TIMESTAMP, d->index)->timestamp = reader->now +=
            usual->stamp;
        if (d->chain.paths)
            pug_chain_tally(&d->chain, d->stage->out.batch, 1);
    }
    if (usual->type == PUG_NTRACE_RESOURCE_FULL)
        d->full -= d->walk.passed;
    else if (usual->type != PUG_NTRACE_DIRECT_BRANCH && d->ref_known)
        pug_ntrace_resume_at(d, pug_ntrace_unique_address(d, usual->addr));
}

/** The walk did not end: the general way is to go on, with the same message. */
static enum pug_response go_on(struct pug_ntrace_reader *reader, struct pug_ntrace_decoder *d,
                               struct pug_span *span, enum pug_ntrace_walked walked)
{
    struct pug_packet packet;
    (void)pug_ntrace_read(reader, span, &packet);
    d->message = packet.data;
    d->tell_time = pug_ntrace_tells_time(d->message);
    d->now = d->branch;
    d->now.valid = true;
    d->phase = walked == PUG_NTRACE_WAITS ? PUG_NTRACE_PHASE_WALK : PUG_NTRACE_PHASE_FAIL;
    return pug_ntrace_go_on(d);
}

/** The fast path of elements; with `each`, they are delivered after each message. */
static enum pug_response take_fast_path(struct pug_ntrace_reader *reader,
                                        struct pug_ntrace_decoder *d, struct pug_span *span,
                                        bool each)
{
    struct pug_batch *batch = d->stage->out.batch;
    if (d->phase != PUG_NTRACE_PHASE_IDLE || reader->state != PUG_NTRACE_READER_BETWEEN ||
        pug_ntrace_follows_gap(reader, span) ||
        (reader->config->src_bits > 0 && !reader->src_locked))
        return PUG_RESP_CONT;
    d->flowing = true;
    d->rounds = 1;
    d->walk.range_count = 0;
    d->walk.sync_jumped = false;
    d->now = (struct pug_ntrace_branch){.valid = true};
    bool may_repeat = pug_ntrace_may_repeat(d);
    while (span->at < span->end && batch->count < batch->limit &&
           batch->response == PUG_RESP_CONT) {
        struct usual usual;
        struct pug_memo_lookup lookup;
        lookup.keeps = false;
        const uint8_t *behind = NULL;
        if (may_repeat)
            behind = repeat(d, span, &lookup);
        if (!behind) {
            pug_ntrace_settle(d);
            pug_memos_count_close(&d->memos);
            if (lookup.keeps)
                pug_chain_close(&d->chain);
            behind = read_usual(reader, span->at, span->end, &usual);
            if (!behind || !begin(d, &usual))
                break;
            d->index = pug_span_index(span);
            d->shows = lookup.keeps;
            enum pug_ntrace_walked walked = pug_ntrace_walk(d);
            d->shows = false;
            if (walked != PUG_NTRACE_WALKED)
                return go_on(reader, d, span, walked);
            land(reader, d, &usual);
            if (lookup.keeps && !usual.stamped)
                pug_ntrace_keep(d, &lookup);
            may_repeat = pug_ntrace_may_repeat(d);
        }
        reader->count++;
        span->at = behind;
        if (each && batch->count > 0 && batch->response == PUG_RESP_CONT) {
            pug_ntrace_settle(d);
            pug_batch_give(batch);
            may_repeat = pug_ntrace_may_repeat(d);
        }
    }
    pug_ntrace_settle(d);
    pug_ntrace_count_close(d);
    return PUG_RESP_CONT;
}

/** The fast path while there is no flow: broken messages, which would end it. */
static enum pug_response take_broken(struct pug_ntrace_reader *reader, struct pug_ntrace_decoder *d,
                                     struct pug_span *span)
{
    const enum pug_response answer = pug_ntrace_answer_to_bad(d);
    if (d->phase != PUG_NTRACE_PHASE_IDLE || !d->started || d->gap || PUG_RESP_IS_FATAL(answer))
        return PUG_RESP_CONT;
    const struct pug_ntrace_broken broken = pug_ntrace_pass_over_broken(reader, span);
    if (broken.any) {
        d->index = broken.index;
        pug_ntrace_lose_messages(d);
    }
    return broken.last ? answer : PUG_RESP_CONT;
}

enum pug_response pug_ntrace_fast_path(void *reader, void *decoder, struct pug_span *span,
                                       enum pug_want want)
{
    const struct pug_ntrace_decoder *d = decoder;
    pug_ntrace_pass_over_idle(reader, span);
    if (want != PUG_WANT_MARKS && !d->synced)
        return take_broken(reader, decoder, span);
    switch (want) {
    case PUG_WANT_COUNTS:
    case PUG_WANT_BATCH: return take_fast_path(reader, decoder, span, false);
    case PUG_WANT_EACH: return take_fast_path(reader, decoder, span, true);
    case PUG_WANT_MARKS: pug_ntrace_scan_marks(reader, span); break;
    }
    return PUG_RESP_CONT;
}
