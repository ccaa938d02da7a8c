// SPDX-License-Identifier: MIT
/**
 * @file ETMv3: P-headers and usual branches in a row, from bytes to elements at once.
 *
 * How many atoms a P-header has cannot be foretold, and a loop over them would stumble at its end.
 * So the atoms of several headers are laid out first, with copies of a fixed size, and then taken
 * in one loop; the hop from instruction to instruction in it has no branch that depends on the
 * trace but the end. Cycle-accurate headers have few atoms, or only wait: that is a step, too.
 *
 * Who takes the elements of each packet gets them header by header, in the same loop. So does who
 * wants the reference's quirks: by these it matters in which slot of the list an element was.
 */
#include "protocol/etmv3/count.h"
#include "protocol/etmv3/course.h"
#include "protocol/etmv3/reader.h"

/** Most atoms that are laid out before another header is looked at. */
#define MOST_STEPS 48u

/** Atoms laid out, or those of one header where they are. */
struct steps {
    const uint8_t *all;
    unsigned count;
    uint64_t index;      /**< of the first header, without its gap */
    const uint16_t *gap; /**< that, and those of the others */
};

typedef uint8_t step_row[MOST_STEPS + PUG_ETMV3_P_HEADER_ATOMS];

/** Steps of headers from where the span is. */
static inline struct steps steps_at(const struct pug_span *span, const uint8_t *all, unsigned count)
{
    static const uint16_t none[MOST_STEPS + 1] = {0};
    const struct pug_run *run = span->run;
    const size_t place = (size_t)(span->at - run->bytes);
    return (struct steps){.all = all,
                          .count = count,
                          .index = run->index + place,
                          .gap = run->gaps ? run->gaps + place : none};
}

/**
 * Lay out the next P-headers, whose steps are at most `width` each; where they end. There is room
 * for `most` steps and a header.
 */
static inline const uint8_t *lay_out(const struct pug_etmv3_config *config,
                                     const struct pug_span *span, unsigned most, size_t width,
                                     uint8_t *row, unsigned *steps)
{
    const uint8_t *at = span->at, *const end = span->end;
    unsigned count = 0;
    do {
        const struct pug_etmv3_p_header *header = &config->p_headers[*at];
        const unsigned more = header->step_count;
        if (more == 0)
            break;
        memcpy(&row[count], header->steps, width);
        count += more;
    } while (++at < end && count < most);
    *steps = count;
    return at;
}

/* ---- steps ---- */

static inline const struct pug_etmv3_way *way_of(const struct pug_etmv3_insn *insn, unsigned step)
{
    static_assert(sizeof(*insn->ways) == PUG_ETMV3_STEP_E, "the kind of a step finds its way");
    return (const void *)((const char *)insn->ways + (step & PUG_ETMV3_STEP_KIND));
}

/** Take the steps of a row; how many it took. `cycles`: some may wait, and each has its cycles. */
static inline __attribute__((always_inline)) unsigned
take_steps(struct pug_etmv3_decoder *decoder, const struct steps *steps, bool cycles)
{
    const struct pug_etmv3_insn *const entries = decoder->insns.entries;
    const struct pug_etmv3_step *const all = decoder->config->steps;
    struct pug_batch *batch = decoder->stage->out.batch;
    struct pug_element *element = &batch->elements[batch->count];
    struct pug_etmv3_place *const place = &decoder->insns.place;
    const struct pug_etmv3_insn *insn = place->insn;
    const uint8_t *at = steps->all, *const end = at + steps->count;
    const uint16_t *gap = steps->gap;
    uint64_t index = steps->index;
    const pug_etmv3_pair context = pug_etmv3_context(decoder);
    do {
        const unsigned step = *at++, last = step >> PUG_ETMV3_STEP_BITS;
        const struct pug_etmv3_way *way = way_of(insn, step);
        const struct pug_etmv3_step *own =
            &all[cycles ? pug_etmv3_step_of(step) : PUG_ETMV3_STEP_E];
        __builtin_prefetch(insn + 4); /* most code is kept in the order in which it runs */
        const uint32_t next = way->next;
        pug_etmv3_pair range = pug_etmv3_load(&insn->start), count = pug_etmv3_load(&own->value);
        if (cycles)
            range &= pug_etmv3_load(own->addresses);
        element->index = index + *gap;
        index += last;
        gap += last;
        memcpy(&element->start, &range, sizeof(range));
        memcpy(&element->value, &count, sizeof(count));
        memcpy(&element->context_id, &context, sizeof(context));
        memcpy((char *)element + PUG_ETMV3_TAIL, &way->tail, sizeof(way->tail));
        element++;
        if (__builtin_expect(next == 0, 0)) {
            pug_etmv3_stop_behind(place, insn, at[-1]);
            insn = at < end && pug_etmv3_find(decoder) ? place->insn : NULL;
            if (!insn)
                break;
        } else {
            insn = pug_etmv3_linked(entries, next);
        }
    } while (at < end);
    place->insn = insn;
    batch->count = (uint32_t)(element - batch->elements);
    return (unsigned)(at - steps->all);
}

/* On their own, since they need all registers. */

static __attribute__((noinline)) unsigned take_atoms(struct pug_etmv3_decoder *decoder,
                                                     const struct steps *steps)
{
    return take_steps(decoder, steps, false);
}

static __attribute__((noinline)) unsigned take_cycles(struct pug_etmv3_decoder *decoder,
                                                      const struct steps *steps)
{
    return take_steps(decoder, steps, true);
}

static inline unsigned take_row(struct pug_etmv3_decoder *decoder, const struct steps *steps)
{
    return decoder->config->cycle_accurate ? take_cycles(decoder, steps)
                                           : take_atoms(decoder, steps);
}

/* ---- counting them ---- */

/** That it waits is told all the same; its cycles are counted. */
static inline void put_wait(const struct pug_etmv3_decoder *decoder, uint8_t isa, unsigned step,
                            uint64_t index)
{
    struct pug_batch *batch = decoder->stage->out.batch;
    struct pug_element *element = &batch->elements[batch->count++];
    *element = decoder->stage->out.blank;
    element->index = index;
    element->type = PUG_ELEM_CYCLE_COUNT;
    element->flags = PUG_ELEM_HAS_CC;
    element->cycle_count = step & PUG_ETMV3_STEP_CYCLES;
    element->isa = isa;
    batch->tallied = batch->count;
}

/** The cycles of the last step on the lane. */
static inline uint32_t *last_cycles(struct pug_etmv3_counting *counting)
{
    const uint32_t last = counting->last;
    return last == 0 ? &counting->stray
                     : &counting->tallies[last / sizeof(struct pug_etmv3_insn)].cycles[last & 3];
}

/** Where a step comes that does not only wait: execution need not come to the instruction yet. */
static const uint8_t *count_waits(struct pug_etmv3_decoder *decoder, struct steps *steps,
                                  const uint8_t *at, const uint8_t *end)
{
    const uint8_t isa = pug_etmv3_insn_isa(decoder->insns.place.insn);
    for (; at < end && pug_etmv3_way_of(*at) == 2; at++) {
        *last_cycles(&decoder->counting) += *at & PUG_ETMV3_STEP_CYCLES;
        put_wait(decoder, isa, *at, steps->index + *steps->gap);
        steps->index++;
        steps->gap++;
    }
    return at;
}

/** As take_row(), but the steps are only counted. */
static inline unsigned count_row(struct pug_etmv3_decoder *decoder, struct steps *steps,
                                 bool cycles)
{
    struct pug_etmv3_counting *const counting = &decoder->counting;
    const struct pug_etmv3_insn *const entries = decoder->insns.entries;
    struct pug_etmv3_place *const place = &decoder->insns.place;
    const uint8_t *at = steps->all, *const end = at + steps->count;
    unsigned step = 0;
    counting->steps += steps->count;
    do {
        const struct pug_etmv3_insn *insn = place->insn;
        if (cycles && (at = count_waits(decoder, steps, at, end)) == end)
            break;
        pug_etmv3_count_arrive(decoder, insn);
        uint32_t last = counting->last, before = counting->before, next;
        uint32_t *passed = last_cycles(counting);
        do {
            step = *at++; /* laid out. NOLINT(clang-analyzer-core.uninitialized.Assign) */
            const unsigned way = pug_etmv3_way_of(step), behind = step >> PUG_ETMV3_STEP_BITS;
            next = insn->ways[way].next;
            if (!cycles || way < 2) {
                const uint32_t link = (uint32_t)((const char *)insn - (const char *)entries);
                struct pug_etmv3_tally *tally = &counting->tallies[link / sizeof(*insn)];
                tally->hits[way]++;
                passed = &tally->cycles[way];
                before = last;
                last = link | way;
            } else {
                put_wait(decoder, pug_etmv3_insn_isa(insn), step, steps->index + *steps->gap);
            }
            counting->last_index = steps->index + *steps->gap;
            steps->index += behind;
            steps->gap += behind;
            if (cycles)
                *passed += step & PUG_ETMV3_STEP_CYCLES;
            if (next != 0)
                insn = pug_etmv3_linked(entries, next);
        } while (next != 0 && at < end);
        counting->last = last;
        counting->before = before;
        place->insn = insn;
        if (next == 0)
            pug_etmv3_stop_behind(place, insn, step);
    } while (at < end && pug_etmv3_find(decoder));
    counting->last_step = step;
    return (unsigned)(at - steps->all);
}

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
static void keep_stale(struct pug_etmv3_decoder *decoder, struct pug_element *element,
                       const struct pug_element *old)
{
    if (element->type == PUG_ELEM_INSTR_RANGE) {
        decoder->last_next_isa = element->isa;
        if (!decoder->config->cycle_accurate)
            element->cycle_count = old->cycle_count;
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
    struct pug_batch *batch = decoder->stage->out.batch;
    struct pug_etmv3_list *list = &decoder->list;
    for (uint32_t i = first; i < batch->count; i++) {
        struct pug_element *element = &batch->elements[i], *slot = &list->slots[list->first];
        if (decoder->stage->quirks.etmv3_stale_elements)
            keep_stale(decoder, element, slot);
        *slot = *element;
        list->first = list->first + 1 < list->capacity ? list->first + 1 : 0;
    }
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

/** The header in or behind which a row of `done` steps from `at` ends; *left: of its steps. */
static const uint8_t *stopped_in(const struct pug_etmv3_config *config, const uint8_t *at,
                                 unsigned done, unsigned *left)
{
    unsigned behind = config->p_headers[*at].step_count;
    while (behind < done)
        behind += config->p_headers[*++at].step_count;
    *left = behind - done;
    return at;
}

/** The same of a header, whose steps are taken from where they are. */
static const uint8_t *take_header(struct pug_etmv3_decoder *decoder, const struct pug_span *span,
                                  unsigned *left)
{
    const struct pug_etmv3_config *config = decoder->config;
    const struct pug_etmv3_p_header *header = &config->p_headers[*span->at];
    const struct steps steps = steps_at(span, header->steps, header->step_count);
    *left = steps.count - take_row(decoder, &steps);
    return span->at + 1;
}

/** P-headers in a row; behind the last one. *left: steps of that one that could not be taken. */
static inline __attribute__((always_inline)) const uint8_t *
take_headers(struct pug_etmv3_decoder *decoder, const struct pug_span *span, unsigned most,
             bool counts, unsigned *left)
{
    const struct pug_etmv3_config *config = decoder->config;
    const bool cycles = config->cycle_accurate;
    step_row row;
    struct steps steps = steps_at(span, row, 0);
    if (most > MOST_STEPS)
        most = MOST_STEPS;
    const uint8_t *end =
        cycles ? lay_out(config, span, most, PUG_ETMV3_CYCLE_STEPS, row, &steps.count)
               : lay_out(config, span, most, PUG_ETMV3_P_HEADER_ATOMS, row, &steps.count);
    unsigned done;
    if (counts)
        done = cycles ? count_row(decoder, &steps, true) : count_row(decoder, &steps, false);
    else
        done = take_row(decoder, &steps);
    *left = 0;
    return done == steps.count ? end : stopped_in(config, span->at, done, left) + 1;
}

/** How a source is read. All of it is constant in each of the lane's ways. */
struct manner {
    bool each;   /**< elements are delivered after each packet */
    bool singly; /**< header by header */
    bool counts; /**< in place of elements */
};

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
    else
        span->at = take_headers(decoder, span, batch->limit - batch->count, manner.counts, &left);
    header = &decoder->config->p_headers[span->at[-1]];
    reader->packet.format = header->format;
    decoder->index = pug_run_index(span->run, span->at - 1);
    if (quirky)
        pass_slots(decoder, passed);
    if (left > 0) {
        if (manner.counts)
            pug_etmv3_count_stop(decoder);
        if (quirky)
            take_back(decoder, (int32_t)(batch->count - first));
        pug_etmv3_go_long(decoder, header, left);
        return TAKEN_LONG;
    }
    if (quirky && header->count > 0)
        hold_by_quirks(decoder, first);
    return header->count > 0 && !quirky ? TAKEN_HOLD : TAKEN;
}

/* ---- branches ---- */

static enum taken take_branch(struct pug_etmv3_reader *reader, struct pug_etmv3_decoder *decoder,
                              struct pug_span *span)
{
    struct pug_etmv3_packet *packet = &reader->packet;
    const size_t size = pug_etmv3_branch_size(reader, span->at, span->end);
    if (size == 0)
        return NOT_TAKEN;
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
                             struct pug_span *span, const struct manner manner)
{
    const size_t size = pug_etmv3_read_isync(reader, span->at, span->end);
    if (size == 0)
        return NOT_TAKEN;
    if (manner.counts)
        pug_etmv3_count_stop(decoder);
    pug_etmv3_settle(decoder);
    decoder->list.held = 0;
    decoder->index = pug_span_index(span);
    span->at += size;
    pug_etmv3_isync(decoder, &reader->packet);
    return TAKEN_LONG;
}

/* ---- the lane ---- */

static bool can_ride(const struct pug_etmv3_reader *reader, const struct pug_etmv3_decoder *decoder)
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
ride(struct pug_etmv3_reader *reader, struct pug_etmv3_decoder *decoder, struct pug_span *span,
     const struct manner manner)
{
    struct pug_batch *batch = decoder->stage->out.batch;
    const uint32_t room = batch->limit - 1; /* the list is released before anything */
    enum taken taken = TAKEN;
    if (!can_ride(reader, decoder) || batch->response >= PUG_RESP_WAIT)
        return PUG_RESP_CONT;
    renew(decoder);
    while (span->at < span->end && batch->count < room) {
        const enum taken last = taken;
        if (decoder->config->p_headers[*span->at].step_count > 0)
            taken = take_p_headers(reader, decoder, span, manner);
        else if (*span->at & 1)
            taken = take_branch(reader, decoder, span);
        else
            taken = take_isync(reader, decoder, span, manner);
        if (taken == NOT_TAKEN) {
            taken = last;
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
    }
    if (decoder->counting.on)
        pug_etmv3_count_pause(decoder, taken == TAKEN_HOLD);
    else if (taken == TAKEN_HOLD)
        hold(decoder);
    return PUG_RESP_CONT;
}

enum pug_response pug_etmv3_lane(void *reader, void *pointer, struct pug_span *span,
                                 enum pug_want want)
{
    struct pug_etmv3_decoder *decoder = pointer;
    if (((const struct pug_etmv3_reader *)reader)->state == PUG_ETMV3_UNSYNCED)
        pug_etmv3_pass_over_noise(reader, decoder, span);
    if (want == PUG_WANT_MARKS) {
        pug_etmv3_skim(reader, span);
        return PUG_RESP_CONT;
    }
    if (want == PUG_WANT_EACH)
        return ride(reader, decoder, span, (struct manner){.each = true, .singly = true});
    if (decoder->quirky)
        return ride(reader, decoder, span, (struct manner){.singly = true});
    if (want == PUG_WANT_COUNTS)
        return ride(reader, decoder, span, (struct manner){.counts = true});
    pug_etmv3_count_close(decoder);
    return ride(reader, decoder, span, (struct manner){0});
}
