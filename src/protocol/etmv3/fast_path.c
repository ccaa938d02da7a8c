// SPDX-License-Identifier: MIT
/**
 * @file ETMv3: P-headers in a row (row.h), usual branches and I-syncs, from bytes to elements at
 * once.
 *
 * Who takes the elements of each packet gets those of P-headers header by header, in the same loop.
 * With the reference's quirks it does the same, because they depend on the slot of the list in
 * which an element was.
 */
#include "protocol/etmv3/count.h"
#include "protocol/etmv3/reader.h"
#include "protocol/etmv3/row.h"

/* ---- what is held back ---- */

/** The list, of which there is at most one element. */
static void release(struct pug_etmv3_decoder *decoder)
{
    if (decoder->list.count == 0)
        return;
    decoder->list.held = 0;
    pug_etmv3_give_first(&decoder->list, decoder->stage->out.batch);
}

/** By a quirk, what an element does not define is what was in its slot before. */
static inline void keep_stale(struct pug_etmv3_decoder *decoder, struct pug_element *element,
                              const struct pug_element *old, bool cycles)
{
    if (element->type == PUG_ELEM_INSTR_RANGE) {
        decoder->last_next_isa = element->isa;
        element->cycle_count = cycles ? element->cycle_count : old->cycle_count;
        return;
    }
    element->start = old->start;
    element->end = old->end;
    element->isa = old->isa;
    element->last_type = old->last_type;
    element->last_subtype = old->last_subtype;
}

/** Elements from `first` on go through the slots of the list, as decode() would have it. */
static void pass_slots(struct pug_etmv3_decoder *decoder, uint32_t first)
{
    const struct pug_batch *batch = decoder->stage->out.batch;
    const bool stale = decoder->stage->quirks.etmv3_stale_elements,
               cycles = decoder->config->cycle_accurate;
    struct pug_etmv3_list *list = &decoder->list;
    struct pug_element *const begin = list->slots, *const end = begin + list->capacity,
                              *slot = begin + list->first;
    struct pug_element *element = &batch->elements[first];
    for (; element < &batch->elements[batch->count]; element++) {
        if (stale)
            keep_stale(decoder, element, slot, cycles);
        *slot++ = *element;
        if (slot == end)
            slot = begin;
    }
    list->first = (int32_t)(slot - begin);
}

/** The last `count` elements that went through the slots are the list again. */
static void take_back(struct pug_etmv3_decoder *decoder, int32_t count)
{
    struct pug_etmv3_list *list = &decoder->list;
    decoder->stage->out.batch->count -= (uint32_t)count;
    list->first -= count;
    list->first += list->first < 0 ? list->capacity : 0;
    list->count = count;
}

/** The same without quirks, by which no element went through the slots. */
static void put_back(struct pug_etmv3_decoder *decoder, uint32_t first)
{
    struct pug_batch *batch = decoder->stage->out.batch;
    for (uint32_t i = first; i < batch->count; i++)
        *pug_etmv3_slot(decoder) = batch->elements[i];
    batch->count = first;
}

/** The last element of the batch is held back, since it can still be cancelled. */
static inline void hold(struct pug_etmv3_decoder *decoder)
{
    struct pug_batch *batch = decoder->stage->out.batch;
    struct pug_etmv3_list *list = &decoder->list;
    list->slots[list->first] = batch->elements[--batch->count];
    list->count = list->held = 1;
}

/** A header is taken, whose elements and what was released begin at `first`: its last is held. */
static void hold_by_quirks(struct pug_etmv3_decoder *decoder, uint32_t first)
{
    if (decoder->stage->out.batch->count - first > 1 &&
        decoder->stage->quirks.etmv3_hold_whole_list)
        return;
    take_back(decoder, 1);
    decoder->list.held = 1;
}

/** How a source is read. All of it is constant in each of the fast path's ways. */
struct manner {
    bool each;   /**< elements are delivered after each packet */
    bool singly; /**< header by header */
    bool counts; /**< in place of elements */
    bool turns;  /**< over those of a gathered run */
};

static inline const uint8_t *last_of(const struct pug_span *span, const struct manner manner)
{
    return manner.turns ? pug_span_last(span) : span->end;
}

/* ---- headers ---- */

/** P-headers that only wait need no address. How many of `most` there are. */
static size_t take_waits(struct pug_etmv3_decoder *decoder, const struct pug_span *span,
                         uint32_t most)
{
    const uint8_t *at = span->at;
    const uint8_t *const end = (size_t)(span->end - at) > most ? at + most : span->end;
    for (; at < end; at++) {
        const struct pug_etmv3_p_header *header = &decoder->config->p_headers[*at];
        if (!pug_etmv3_waits(header))
            break;
        decoder->told_unknown = true;
        struct pug_element *element =
            pug_out_push(&decoder->stage->out, PUG_ELEM_CYCLE_COUNT, pug_run_index(span->run, at));
        element->flags |= PUG_ELEM_HAS_CC;
        element->cycle_count = header->cycles;
    }
    return (size_t)(at - span->at);
}

static inline unsigned take_row(struct pug_etmv3_decoder *decoder,
                                const struct pug_etmv3_steps *steps)
{
    return decoder->config->cycle_accurate ? pug_etmv3_take_cycles(decoder, steps)
                                           : pug_etmv3_take_atoms(decoder, steps);
}

/** A header, whose steps are taken from where they are. *left: those that could not be taken. */
static const uint8_t *take_header(struct pug_etmv3_decoder *decoder, const struct pug_span *span,
                                  unsigned *left)
{
    const struct pug_etmv3_config *config = decoder->config;
    const struct pug_etmv3_p_header *header = &config->p_headers[*span->at];
    const struct pug_etmv3_steps steps =
        pug_etmv3_steps_at(span, header->steps, header->step_count);
    *left = steps.count - take_row(decoder, &steps);
    return span->at + 1;
}

static inline const uint8_t *lay_out(const struct pug_etmv3_config *config, const uint8_t *at,
                                     const uint8_t *end, unsigned most, uint8_t *row,
                                     unsigned *steps)
{
    return config->cycle_accurate
               ? pug_etmv3_lay_out(config, at, end, most, PUG_ETMV3_CYCLE_STEPS, row, steps)
               : pug_etmv3_lay_out(config, at, end, most, PUG_ETMV3_P_HEADER_ATOMS, row, steps);
}

/** The same over turns: each step will be an element, of which a header's last is held back. */
static const uint8_t *lay_out_turns(const struct pug_etmv3_decoder *decoder, struct pug_span *span,
                                    unsigned most, uint8_t *row, unsigned *steps)
{
    const struct pug_etmv3_config *config = decoder->config;
    const uint32_t first = decoder->stage->out.batch->count;
    const uint8_t *at = span->at;
    while (true) {
        at = lay_out(config, at, span->end, most, row, steps);
        const bool holds = config->p_headers[at[-1]].count > 0;
        if (at < span->end || *steps >= most || !pug_span_next_turn(span, first + *steps - holds))
            return at;
    }
}

/** A row ended early, in the header before `at`: reopen the turns that end after it. */
static void reopen_turns(struct pug_span *span, uint32_t told, const uint8_t *at)
{
    struct pug_turns *turns = span->turns;
    while (told < turns->told && span->run->bytes + turns->ends[told] < at)
        told++;
    turns->told = told;
    span->end = span->run->bytes + turns->ends[told];
}

/**
 * Handle a row of P-headers. Returns the end of the last one. *left: steps of that one that could
 * not be taken.
 */
static inline __attribute__((always_inline)) const uint8_t *
take_headers(struct pug_etmv3_decoder *decoder, struct pug_span *span, unsigned most,
             unsigned *left, const struct manner manner)
{
    const struct pug_etmv3_config *config = decoder->config;
    const uint32_t told = manner.turns ? span->turns->told : 0;
    pug_etmv3_row row;
    struct pug_etmv3_steps steps = pug_etmv3_steps_at(span, row, 0);
    if (most > PUG_ETMV3_ROW_STEPS)
        most = PUG_ETMV3_ROW_STEPS;
    const uint8_t *end = manner.turns
                             ? lay_out_turns(decoder, span, most, row, &steps.count)
                             : lay_out(config, span->at, span->end, most, row, &steps.count);
    const unsigned done = take_row(decoder, &steps);
    *left = 0;
    if (done == steps.count)
        return end;
    end = pug_etmv3_stopped_in(config, span->at, done, false, left);
    if (manner.turns)
        reopen_turns(span, told, end);
    return end;
}

/** A header at an instruction that was not met: elements that are left join the list. */
static void take_unmet(struct pug_etmv3_decoder *decoder, struct pug_span *span)
{
    const struct pug_etmv3_p_header *header = &decoder->config->p_headers[*span->at];
    decoder->list.held = 0;
    decoder->index = pug_span_index(span);
    span->at++;
    pug_etmv3_go_long(decoder, header, header->step_count);
}

/** By quirks, headers whose elements do not fit into the list, or where the ISA is forgotten. */
static bool is_odd(const struct pug_etmv3_reader *reader, const struct pug_etmv3_decoder *decoder,
                   const struct pug_etmv3_p_header *header)
{
    const struct pug_etmv3_list *list = &decoder->list;
    return list->count + header->step_count > list->capacity ||
           (decoder->stage->quirks.etmv3_blx_forgotten && decoder->isa != reader->packet.isa);
}

enum taken {
    NOT_TAKEN, /* it is not for this way */
    TAKEN,
    TAKEN_HOLD, /* … and the last element of the batch is to be held back */
    TAKEN_LONG, /* … and the elements are in the list */
};

/** Headers. */
static inline __attribute__((always_inline)) enum taken
take_p_headers(struct pug_etmv3_reader *reader, struct pug_etmv3_decoder *decoder,
               struct pug_span *span, const struct manner manner)
{
    const bool quirky = manner.singly && decoder->quirky, found = pug_etmv3_find(decoder);
    const struct pug_etmv3_p_header *header = &decoder->config->p_headers[*span->at];
    struct pug_batch *batch = decoder->stage->out.batch;
    unsigned left = 0;
    if (quirky && is_odd(reader, decoder, header))
        return NOT_TAKEN;
    if (!found)
        pug_etmv3_settle(decoder);
    if (!found && decoder->need_address && !pug_etmv3_waits(header))
        return NOT_TAKEN;
    reader->packet.type = PUG_ETMV3_P_HDR;
    if (manner.counts && !found)
        pug_etmv3_count_stop(decoder);
    if (!found && !decoder->need_address) {
        reader->packet.format = header->format;
        take_unmet(decoder, span);
        return TAKEN_LONG;
    }
    const uint32_t first = batch->count, passed = first + (uint32_t)decoder->list.count;
    release(decoder);
    if (manner.counts && found)
        pug_etmv3_count_on(decoder);
    if (!found)
        span->at += take_waits(decoder, span, manner.singly ? 1 : batch->limit - batch->count);
    else if (manner.singly || (manner.counts && !decoder->counting.on))
        span->at = take_header(decoder, span, &left);
    else if (manner.counts)
        span->at = pug_etmv3_count_headers(decoder, span, batch->limit - batch->count, &left);
    else
        span->at = take_headers(decoder, span, batch->limit - batch->count, &left, manner);
    header = &decoder->config->p_headers[span->at[-1]];
    reader->packet.format = header->format;
    decoder->index = pug_run_index(span->run, span->at - 1);
    if (quirky)
        pass_slots(decoder, passed);
    if (left > 0) {
        if (manner.counts)
            pug_etmv3_count_stop(decoder);
        /* memory that is asked for now is asked for before the packet's elements are given */
        if (quirky)
            take_back(decoder, (int32_t)(batch->count - first));
        else if (manner.each)
            put_back(decoder, first);
        pug_etmv3_go_long(decoder, header, left);
        return TAKEN_LONG;
    }
    if (quirky && header->count > 0)
        hold_by_quirks(decoder, first);
    return header->count > 0 && !quirky ? TAKEN_HOLD : TAKEN;
}

/* ---- branches ---- */

/** `given`: elements of what is before it. */
static inline enum taken take_branch(struct pug_etmv3_reader *reader,
                                     struct pug_etmv3_decoder *decoder, struct pug_span *span,
                                     uint32_t given, const struct manner manner)
{
    struct pug_etmv3_packet *packet = &reader->packet;
    const size_t size = pug_etmv3_branch_size(reader, span->at, last_of(span, manner));
    if (size == 0)
        return NOT_TAKEN;
    if (manner.turns)
        pug_span_end_turns(span, span->at + size, given);
    release(decoder);
    pug_etmv3_settle(decoder);
    packet->type = PUG_ETMV3_BRANCH_ADDRESS;
    packet->previous_isa = packet->isa;
    packet->has_isa = false;
    packet->exception.present = false;
    pug_etmv3_parse_branch(reader, span->at, size, &packet->address);
    pug_etmv3_branch_to(decoder, packet);
    decoder->insns.place.insn = NULL;
    decoder->insns.place.jumped = true;
    decoder->counting.jumped = true;
    decoder->counting.holds = false;
    decoder->index = pug_span_index(span);
    span->at += size;
    return TAKEN;
}

/* ---- I-syncs ---- */

/** Their elements are few, and are made as decode() makes them. */
static enum taken take_isync(struct pug_etmv3_reader *reader, struct pug_etmv3_decoder *decoder,
                             struct pug_span *span, uint32_t given, const struct manner manner)
{
    const size_t size = pug_etmv3_read_isync(reader, span->at, last_of(span, manner));
    if (size == 0)
        return NOT_TAKEN;
    if (manner.turns)
        pug_span_end_turns(span, span->at + size, given);
    if (manner.counts)
        pug_etmv3_count_stop(decoder);
    pug_etmv3_settle(decoder);
    decoder->list.held = 0;
    decoder->index = pug_span_index(span);
    span->at += size;
    pug_etmv3_isync(decoder, &reader->packet);
    return TAKEN_LONG;
}

/* ---- the fast path ---- */

static bool can_run_fast(const struct pug_etmv3_reader *reader,
                         const struct pug_etmv3_decoder *decoder)
{
    const struct pug_etmv3_list *list = &decoder->list;
    return decoder->only_instructions && decoder->state == PUG_ETMV3_DECODE &&
           reader->state == PUG_ETMV3_AT_HEADER && (uint32_t)list->count <= 1 &&
           list->held == list->count;
}

/** Instructions that may have become others are forgotten; where it is stays known. */
static inline void renew(struct pug_etmv3_decoder *decoder)
{
    if (!pug_etmv3_is_outdated(decoder))
        return;
    pug_etmv3_settle(decoder);
    pug_etmv3_refresh(decoder);
}

static inline __attribute__((always_inline)) enum pug_response
run_fast(struct pug_etmv3_reader *reader, struct pug_etmv3_decoder *decoder, struct pug_span *span,
         const struct manner manner)
{
    struct pug_batch *batch = decoder->stage->out.batch;
    const uint32_t room = batch->limit - 1; /* the list is released before anything */
    const uint8_t *const last = last_of(span, manner);
    enum taken taken = TAKEN;
    if (!can_run_fast(reader, decoder) || batch->response >= PUG_RESP_WAIT)
        return PUG_RESP_CONT;
    renew(decoder);
    while (span->at < last && batch->count < room) {
        const enum taken before = taken;
        const uint32_t given = batch->count - (taken == TAKEN_HOLD);
        if (manner.turns)
            pug_span_end_turns(span, span->at + 1, given);
        if (decoder->config->p_headers[*span->at].step_count > 0)
            taken = take_p_headers(reader, decoder, span, manner);
        else if (*span->at & 1)
            taken = take_branch(reader, decoder, span, given, manner);
        else
            taken = take_isync(reader, decoder, span, given, manner);
        if (taken == NOT_TAKEN) {
            taken = before;
            break;
        }
        if (taken == TAKEN_LONG) {
            pug_etmv3_begin(decoder);
            pug_etmv3_give_out(decoder, PUG_RESP_CONT);
            if (decoder->stage->pending)
                return PUG_RESP_CONT;
            renew(decoder);
            if (batch->response >= PUG_RESP_WAIT)
                break;
        }
        if (!manner.each)
            continue;
        if (taken == TAKEN_HOLD)
            hold(decoder);
        taken = TAKEN;
        if (batch->count > 0)
            pug_batch_give(batch);
        if (batch->response != PUG_RESP_CONT)
            break;
        if (pug_codemap_outdated(decoder->code)) /* who took them changed the memory */
            renew(decoder);
    }
    if (decoder->counting.on)
        pug_etmv3_count_pause(decoder, taken == TAKEN_HOLD);
    else if (taken == TAKEN_HOLD)
        hold(decoder);
    return PUG_RESP_CONT;
}

enum pug_response pug_etmv3_fast_path(void *reader, void *pointer, struct pug_span *span,
                                      enum pug_want want)
{
    struct pug_etmv3_decoder *decoder = pointer;
    if (((const struct pug_etmv3_reader *)reader)->state == PUG_ETMV3_UNSYNCED)
        pug_etmv3_pass_over_noise(reader, decoder, span);
    if (want == PUG_WANT_MARKS) {
        pug_etmv3_scan_marks(reader, span);
        return PUG_RESP_CONT;
    }
    if (want == PUG_WANT_EACH)
        return run_fast(reader, decoder, span, (struct manner){.each = true, .singly = true});
    if (decoder->quirky)
        return run_fast(reader, decoder, span, (struct manner){.singly = true});
    if (want == PUG_WANT_COUNTS)
        return run_fast(reader, decoder, span, (struct manner){.counts = true});
    if (decoder->counting.open)
        pug_etmv3_count_close(decoder);
    return span->turns ? run_fast(reader, decoder, span, (struct manner){.turns = true})
                       : run_fast(reader, decoder, span, (struct manner){0});
}
