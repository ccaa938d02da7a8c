// SPDX-License-Identifier: MIT
/**
 * @file Reading and decoding at once: the packets that most of a trace consists of, formats 0 to 2
 * and synchronisations in their standard form. A payload is taken as two words, and its fields go
 * straight to where the walk needs them.
 */
#include "base/bytes.h"
#include "protocol/etrace/packet_fields.h"
#include "protocol/etrace/packet_memo.h"
#include "protocol/etrace/reader.h"
#include "protocol/etrace/walk.h"

#include <assert.h>

#define WORDS 16u /* bytes */

static_assert(PUG_RUN_SPARE >= WORDS, "two words can be read from a payload on");

/* ---- bits ---- */

/** A payload and the sign that follows it. */
struct words {
    uint64_t low;
    int64_t high;
};

/** `size` is 1 to WORDS. `spare`: two words can be read, whatever the size. */
static inline struct words load_words(const uint8_t *bytes, unsigned size, bool spare)
{
    uint8_t room[WORDS];
    if (!spare) {
        memset(room, 0, sizeof(room));
        memcpy(room, bytes, size);
        bytes = room;
    }
    /* without a jump, since packets are short and long in turn */
    const bool is_long = size > 8;
    const unsigned unused_low = is_long ? 0 : 64 - 8 * size, unused_high = 128 - 8 * size;
    const int64_t low = (int64_t)(pug_bytes_number(bytes, 8) << unused_low) >> unused_low;
    const int64_t high =
        (int64_t)(pug_bytes_number(bytes + 8, 8) << (unused_high & 63)) >> (unused_high & 63);
    return (struct words){.low = (uint64_t)low, .high = is_long ? high : low >> 63};
}

/** `width` is 1 to 63. */
static inline void drop(struct words *words, unsigned width)
{
    words->low = words->low >> width | (uint64_t)words->high << (64 - width);
    words->high >>= width;
}

/** `width` is 1 to 63. */
static inline uint64_t take(struct words *words, unsigned width)
{
    uint64_t value = words->low & ((UINT64_C(1) << width) - 1);
    drop(words, width);
    return value;
}

/** `width` is 0 to 64. */
static inline uint64_t take_any(struct words *words, unsigned width)
{
    if (width == 0)
        return 0;
    if (width < 64)
        return take(words, width);
    uint64_t value = words->low;
    words->low = (uint64_t)words->high;
    words->high >>= 63;
    return value;
}

/* ---- formats 0 to 2 ---- */

/** The answer is the field's top bit. */
static inline bool take_map(struct pug_etrace_decoder *d, struct words *words, unsigned branches)
{
    static const uint8_t widths[32] = {31, 1,  3,  3,  7,  7,  7,  7,  15, 15, 15,
                                       15, 15, 15, 15, 15, 31, 31, 31, 31, 31, 31,
                                       31, 31, 31, 31, 31, 31, 31, 31, 31, 31};
    unsigned width = widths[branches], valid = branches == 0 ? 31 : branches;
    uint64_t map = take(words, width);
    d->outcomes.map |= (map & ((UINT64_C(1) << valid) - 1)) << d->outcomes.mapped;
    d->outcomes.mapped += valid;
    return map >> (width - 1);
}

/** Without a width there is nothing that the flag could announce. */
static inline void take_return(struct pug_etrace_decoder *d, struct words *words, bool flag)
{
    d->walk.goal.irreport = flag && d->return_width > 0;
    d->walk.goal.ir_value = (uint16_t)take_any(words, d->return_width);
}

/** Each flag is sent as a difference to the bit before it, the first one to the address's sign. */
static inline void take_address(struct pug_etrace_decoder *d, struct words *words)
{
    struct pug_etrace_goal *goal = &d->walk.goal;
    unsigned width = d->address_bits, lsb = d->config->iaddress_lsb;
    uint64_t address = take(words, width), sign = address >> ((width - 1) & 63);
    unsigned raw = words->low & 7, flags = raw ^ (raw << 1 | (unsigned)sign);
    drop(words, 3);
    if (d->options.full_address)
        d->address = pug_etrace_canonical(d, address << lsb);
    else
        d->address = pug_etrace_canonical(d, d->address + ((address | -sign << width) << lsb));
    goal->has_target = true;
    goal->target = d->address;
    goal->notify = flags & 1;
    goal->only_discontinuity = flags >> 1 & 1;
    take_return(d, words, flags >> 2 & 1);
}

static inline void take_no_address(struct pug_etrace_decoder *d)
{
    struct pug_etrace_goal *goal = &d->walk.goal;
    goal->has_target = goal->notify = goal->irreport = goal->only_discontinuity = false;
}

static bool take_count(struct pug_etrace_decoder *d, struct words *words)
{
    uint64_t count = take(words, 32);
    unsigned format = (unsigned)take(words, 2);
    if (!d->options.branch_prediction || format == 1)
        return false;
    d->outcomes.predicted = count + 31;
    d->outcomes.mispredicted = format == 0 || format == 3;
    if (format >= 2)
        take_address(d, words);
    else
        take_no_address(d);
    return true;
}

static bool take_jump_cache(struct pug_etrace_decoder *d, struct words *words)
{
    struct pug_etrace_goal *goal = &d->walk.goal;
    if (!d->options.jump_target_cache)
        return false;
    unsigned index = (unsigned)take_any(words, d->options.cache_size);
    unsigned branches = (unsigned)take(words, 5);
    bool before = branches > 0 && take_map(d, words, branches);
    d->address = pug_etrace_cached_target(d, index);
    goal->has_target = goal->only_discontinuity = true;
    goal->target = d->address;
    goal->notify = false;
    take_return(d, words, take(words, 1) != before);
    return true;
}

static bool take_format_0(struct pug_etrace_decoder *d, struct words *words)
{
    const struct pug_etrace_options *o = &d->options;
    uint64_t subformat =
        o->f0s_width > 0 ? take_any(words, o->f0s_width) : pug_etrace_subformat_unsaid(o);
    if (subformat > 1)
        return false;
    return subformat == 0 ? take_count(d, words) : take_jump_cache(d, words);
}

/** What is left of the packet for the general way, after or in its walk. */
static void go_on(struct pug_etrace_decoder *d, struct pug_etrace_reader *reader,
                  const struct pug_etrace_carried *payload, enum pug_etrace_phase phase)
{
    struct pug_etrace_packet *packet = &reader->packet;
    packet->type = PUG_ETRACE_ADDRESS; /* or another that moves the flow */
    packet->notify = d->walk.goal.notify;
    packet->has_time = packet->gap = false;
    packet->timestamp_bits = payload->timestamp_bits;
    packet->timestamp = payload->timestamp;
    pug_etrace_take_time(reader);
    d->packet = packet;
    d->phase = phase;
    pug_etrace_go_on(d);
}

/** False: it is bad, or of an option that is off; nothing has changed. */
static bool decode_flow(struct pug_etrace_decoder *d, struct pug_etrace_reader *reader,
                        const struct pug_etrace_carried *payload, struct words words)
{
    unsigned branches;
    switch (take(&words, 2)) {
    case 0:
        if (!take_format_0(d, &words))
            return false;
        break;
    case 1:
        branches = (unsigned)take(&words, 5);
        take_map(d, &words, branches);
        if (branches > 0)
            take_address(d, &words);
        else
            take_no_address(d);
        break;
    default: take_address(d, &words);
    }
    d->walk.goal.irets = d->options.irets;
    d->index = payload->index;
    d->irets = 0;
    pug_etrace_walk_begin(d, PUG_ETRACE_WALK_FLOW);
    enum pug_etrace_walk_result result = pug_etrace_walk_on(d);
    if (result == PUG_ETRACE_WALK_SUSPENDED)
        go_on(d, reader, payload, PUG_ETRACE_PHASE_FLOW_WALK);
    else if (result == PUG_ETRACE_WALK_FAILED)
        go_on(d, reader, payload, PUG_ETRACE_PHASE_TIME);
    else if (d->walk.goal.notify || payload->timestamp_bits > 0 || d->data_complete)
        go_on(d, reader, payload, PUG_ETRACE_PHASE_NOTIFY);
    return true;
}

/* ---- format 3, subformat 0 ---- */

static void decode_sync(struct pug_etrace_decoder *d, struct pug_etrace_reader *reader,
                        const struct pug_etrace_carried *payload, struct words words)
{
    const struct pug_etrace_config *config = d->config;
    struct pug_etrace_packet *packet = &reader->packet;
    packet->type = PUG_ETRACE_SYNC;
    packet->branch = words.low >> 4 & 1;
    drop(&words, 5);
    packet->privilege = (uint8_t)take_any(&words, config->privilege_width);
    if (config->privilege_width == 1 && packet->privilege == 1)
        packet->privilege = 3; /* user and machine mode only */
    packet->has_time = d->options.time_width > 0;
    packet->time = take_any(&words, d->options.time_width);
    packet->has_context = config->has_context;
    packet->context = take_any(&words, config->context_width);
    packet->has_address = true;
    packet->difference = packet->gap = false;
    packet->address = take(&words, d->address_bits) << config->iaddress_lsb;
    packet->timestamp_bits = payload->timestamp_bits;
    packet->timestamp = payload->timestamp;
    pug_etrace_take_time(reader);
    d->packet = packet;
    d->index = payload->index;
    d->phase = d->data_complete ? PUG_ETRACE_PHASE_SYNC : pug_etrace_sync(d);
    if (d->phase != PUG_ETRACE_PHASE_IDLE || d->data_complete)
        pug_etrace_go_on(d);
}

/* ---- all ---- */

/** All bits after the fields of a payload of 1 to WORDS bytes equal its sign. */
static inline struct words words_of(const struct pug_run *run,
                                    const struct pug_etrace_carried *payload)
{
    struct words words = load_words(payload->bytes, payload->size, run->header > 0);
    if (payload->lead > 0)
        drop(&words, payload->lead);
    return words;
}

/** Is the packet one that does what it did before? Then that was done. */
static inline bool repeat(struct pug_etrace_decoder *d, const struct pug_etrace_carried *payload,
                          struct words words, struct pug_memo_lookup *lookup)
{
    return payload->timestamp_bits == 0 &&
           pug_etrace_repeat(d, lookup, words.low, (uint64_t)words.high, payload->index);
}

/** False: the packet is another, and nothing has changed. */
static bool decode(struct pug_etrace_decoder *d, struct pug_etrace_reader *reader,
                   const struct pug_etrace_carried *payload, struct words words)
{
    if (!d->synced)
        return false;
    if ((words.low & 3) == 3) {
        if ((words.low >> 2 & 3) != 0)
            return false;
        decode_sync(d, reader, payload, words);
        return true;
    }
    return !d->after_trap && !d->tentative && !d->data_complete &&
           d->addresses == PUG_ETRACE_ADDRESSES_AS_SAID && decode_flow(d, reader, payload, words);
}

/** Are these packets such that the fast path knows them? */
static bool may_run_fast(const struct pug_etrace_reader *reader, const struct pug_etrace_decoder *d,
                         const struct pug_run *run)
{
    return (run->whole || run->header > 0) && run->kind == PUG_ETRACE_INSTRUCTION_TRACE &&
           !run->gap && run->padding == PUG_RUN_EXACT && d->runs_fast && !reader->unknown_mode;
}

/** The fast path while there is no flow with which packets of formats 1 and 2 would go on. */
static void pass_over_flow(struct pug_etrace_reader *reader, struct pug_etrace_decoder *d,
                           struct pug_span *span)
{
    if (!may_run_fast(reader, d, span->run) || !d->started || d->data_complete || d->stage->pending)
        return;
    while (span->at != span->end) {
        struct pug_etrace_carried payload;
        const uint8_t *behind = pug_etrace_next_payload(span, &payload);
        if (payload.size == 0 || payload.size > PUG_FIELDS_PAYLOAD || payload.timestamp_bits > 0)
            break;
        const unsigned format = pug_etrace_start(&payload) & 3;
        if (format == 0 || format == 3)
            break;
        d->index = payload.index;
        pug_etrace_used_payload(reader, span, behind);
    }
}

/** The fast path of elements; with `each`, they are delivered after each packet. */
static void take_fast_path(struct pug_etrace_reader *reader, struct pug_etrace_decoder *d,
                           struct pug_span *span, bool each)
{
    const struct pug_run *run = span->run;
    struct pug_batch *batch = d->out->batch;
    if (!may_run_fast(reader, d, run))
        return;
    bool may_repeat = pug_etrace_may_repeat(d);
    while (span->at != span->end && batch->count < batch->limit &&
           batch->response == PUG_RESP_CONT && !d->stage->pending) {
        struct pug_memo_lookup lookup;
        struct pug_etrace_carried payload;
        const uint8_t *behind = pug_etrace_next_payload(span, &payload);
        if (payload.size == 0 || payload.size > WORDS)
            break;
        const struct words words = words_of(run, &payload);
        lookup.keeps = false;
        if (!may_repeat || !repeat(d, &payload, words, &lookup)) {
            const struct pug_etrace_carried copy = payload; /* which else had to be in memory */
            pug_etrace_settle(d);
            pug_memos_count_close(&d->memos);
            if (lookup.keeps)
                pug_chain_close(&d->chain);
            d->shows = lookup.keeps;
            const bool decoded = decode(d, reader, &copy, words);
            d->shows = false;
            if (!decoded)
                break;
            if (lookup.keeps)
                pug_etrace_keep(d, &lookup);
            may_repeat = pug_etrace_may_repeat(d);
        }
        pug_etrace_used_payload(reader, span, behind);
        if (each && batch->count > 0 && batch->response == PUG_RESP_CONT) {
            pug_etrace_settle(d);
            pug_batch_give(batch);
            may_repeat = pug_etrace_may_repeat(d);
        }
    }
    pug_etrace_settle(d);
    pug_etrace_count_close(d);
}

enum pug_response pug_etrace_fast_path(void *reader, void *decoder, struct pug_span *span,
                                       enum pug_want want)
{
    const struct pug_etrace_decoder *d = decoder;
    if (want != PUG_WANT_MARKS && !d->synced) {
        pass_over_flow(reader, decoder, span);
        return PUG_RESP_CONT;
    }
    switch (want) {
    case PUG_WANT_COUNTS:
    case PUG_WANT_BATCH: take_fast_path(reader, decoder, span, false); break;
    case PUG_WANT_EACH: take_fast_path(reader, decoder, span, true); break;
    case PUG_WANT_MARKS: pug_etrace_scan_marks(reader, span); break;
    }
    return PUG_RESP_CONT;
}
