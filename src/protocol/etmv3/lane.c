// SPDX-License-Identifier: MIT
/**
 * @file ETMv3: P-headers and plain branches in a row, from bytes to elements at once.
 *
 * How many atoms a P-header has cannot be foretold, and a loop over them would stumble at its end.
 * So the atoms of several headers are laid out first, with copies of a fixed size, and then taken
 * in one loop; the hop from instruction to instruction in it has no branch that depends on the
 * trace but the end. Cycle-accurate headers have few atoms, or only wait: that is a step, too.
 */
#include "protocol/etmv3/course.h"
#include "protocol/etmv3/reader.h"

/** Most atoms that are laid out before another header is looked at. */
#define MOST_STEPS 48u

/** Atoms laid out. */
struct steps {
    uint16_t all[MOST_STEPS + PUG_ETMV3_P_HEADER_ATOMS];
    unsigned count;
    uint64_t index; /**< of the first header, less what its first step adds */
};

struct lane {
    struct pug_etmv3_decoder *decoder;
    bool holds; /**< the last element is an instruction that can still be cancelled */
};

/** There are gaps between the headers, of which the first one is at `at`. */
static void add_gaps(const struct pug_etmv3_config *config, const struct pug_run *run,
                     const uint8_t *at, struct steps *steps)
{
    const uint16_t *gap = run->gaps + (at - run->bytes);
    unsigned step = config->p_headers[*at].step_count;
    while (step < steps->count) {
        at++;
        gap++;
        steps->all[step] += (uint16_t)((gap[0] - gap[-1]) << PUG_ETMV3_STEP_BITS);
        step += config->p_headers[*at].step_count;
    }
}

/**
 * Lay out the next P-headers, whose steps are at most `width` each; where they end. There is room
 * for `most` steps and a header.
 */
static inline const uint8_t *lay_out(const struct pug_etmv3_config *config,
                                     const struct pug_span *span, unsigned most, size_t width,
                                     struct steps *steps)
{
    const uint8_t *at = span->at;
    unsigned count = 0;
    for (; at < span->end && count < most; at++) {
        const struct pug_etmv3_p_header *header = &config->p_headers[*at];
        if (header->step_count == 0)
            break;
        memcpy(&steps->all[count], header->steps, width * sizeof(header->steps[0]));
        count += header->step_count;
    }
    steps->count = count;
    steps->index = pug_span_index(span) - 1;
    if (span->run->gaps)
        add_gaps(config, span->run, span->at, steps);
    return at;
}

/* ---- steps ---- */

/** Take the steps of a row; how many it took. `cycles`: some may wait, and each has its cycles. */
static inline unsigned take_row(struct lane *lane, const struct steps *steps, bool cycles)
{
    static const pug_etmv3_pair addresses[3] = {{UINT64_MAX, UINT64_MAX}, {UINT64_MAX, UINT64_MAX}};
    const struct pug_etmv3_insn *const entries = lane->decoder->insns.entries;
    const uint64_t *const counts = lane->decoder->config->counts;
    struct pug_batch *batch = lane->decoder->stage->out.batch;
    struct pug_element *element = &batch->elements[batch->count];
    struct pug_etmv3_place *const place = &lane->decoder->insns.place;
    const struct pug_etmv3_insn *insn = place->insn;
    const uint16_t *at = steps->all, *const end = at + steps->count;
    uint64_t index = steps->index;
    pug_etmv3_pair context = pug_etmv3_context(lane->decoder);
    while (at < end) {
        const unsigned step = *at++;
        const struct pug_etmv3_way *way = &insn->ways[pug_etmv3_way_of(step)];
        __builtin_prefetch(insn + 4); /* most code is kept in the order in which it runs */
        const uint32_t next = way->next;
        pug_etmv3_pair range = pug_etmv3_load(&insn->start);
        if (cycles)
            range &= addresses[pug_etmv3_way_of(step)];
        index += step >> PUG_ETMV3_STEP_BITS;
        element->index = index;
        memcpy(&element->start, &range, sizeof(range));
        element->value = 0;
        memcpy(&element->count, &counts[cycles ? step % PUG_ETMV3_STEPS : PUG_ETMV3_STEP_E], 8);
        memcpy(&element->context_id, &context, sizeof(context));
        memcpy((char *)element + PUG_ETMV3_TAIL, &way->tail, sizeof(way->tail));
        element++;
        if (next != 0) {
            insn = pug_etmv3_linked(entries, next);
            continue;
        }
        pug_etmv3_stop_behind(place, insn, step);
        batch->count = (uint32_t)(element - batch->elements);
        if (at == end || !pug_etmv3_find(lane->decoder, PUG_ETMV3_ASK))
            return (unsigned)(at - steps->all);
        element = &batch->elements[batch->count]; /* it may have been delivered */
        insn = place->insn;
        context = pug_etmv3_context(lane->decoder);
    }
    place->insn = insn;
    batch->count = (uint32_t)(element - batch->elements);
    return steps->count;
}

/** The last element of the batch is held back. The list is empty; since an I-sync it has slots. */
static void hold(struct pug_etmv3_decoder *decoder)
{
    struct pug_batch *batch = decoder->stage->out.batch;
    struct pug_etmv3_list *list = &decoder->list;
    list->slots[list->first] = batch->elements[--batch->count];
    list->count = list->held = 1;
}

/** P-headers that only wait need no address. How many there are. */
static size_t take_waits(struct lane *lane, const struct pug_span *span)
{
    struct pug_etmv3_decoder *decoder = lane->decoder;
    struct pug_batch *batch = decoder->stage->out.batch;
    const uint8_t *at = span->at;
    for (; at < span->end && batch->count < batch->limit; at++) {
        const struct pug_etmv3_p_header *header = &decoder->config->p_headers[*at];
        if (!pug_etmv3_waits(header))
            break;
        decoder->index = pug_run_index(span->run, at);
        decoder->told_unknown = true;
        struct pug_element *element =
            pug_out_push(&decoder->stage->out, PUG_ELEM_CYCLE_COUNT, decoder->index);
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

/** P-headers in a row; behind the last one. *left: steps of that one that could not be taken. */
static const uint8_t *take_headers(struct lane *lane, const struct pug_span *span, unsigned most,
                                   unsigned *left)
{
    const struct pug_etmv3_config *config = lane->decoder->config;
    struct steps steps;
    const uint8_t *end;
    unsigned done;
    if (config->cycle_accurate) {
        end = lay_out(config, span, most, PUG_ETMV3_CYCLE_STEPS, &steps);
        done = take_row(lane, &steps, true);
    } else {
        end = lay_out(config, span, most, PUG_ETMV3_P_HEADER_ATOMS, &steps);
        done = take_row(lane, &steps, false);
    }
    *left = 0;
    lane->holds = done == steps.count; /* else a header follows, which cancels nothing */
    return done == steps.count ? end : stopped_in(config, span->at, done, left) + 1;
}

/* ---- branches ---- */

static void take_branch(struct lane *lane, struct pug_etmv3_reader *reader, const uint8_t *at,
                        size_t size)
{
    struct pug_etmv3_packet *packet = &reader->packet;
    pug_etmv3_settle(lane->decoder);
    packet->type = PUG_ETMV3_BRANCH_ADDRESS;
    packet->previous_isa = packet->isa;
    packet->has_isa = false;
    packet->exception.present = false;
    pug_etmv3_parse_branch(reader, at, size, &packet->address);
    pug_etmv3_branch_to(lane->decoder, packet);
    lane->decoder->insns.place.insn = NULL;
    lane->decoder->insns.place.jumped = true;
    lane->holds = false;
}

/* ---- the lane ---- */

static bool can_ride(const struct pug_etmv3_reader *reader, struct pug_etmv3_decoder *decoder,
                     const struct pug_span *span)
{
    if (!decoder->runs || decoder->state != PUG_ETMV3_DECODE ||
        reader->state != PUG_ETMV3_AT_HEADER || span->at == span->end ||
        decoder->list.count > PUG_OUT_STEP)
        return false;
    const struct pug_etmv3_p_header *header = &decoder->config->p_headers[*span->at];
    if (header->step_count > 0)
        return !decoder->need_address || pug_etmv3_waits(header);
    return (*span->at & 1) && pug_etmv3_branch_size(reader, span->at, span->end) > 0;
}

/** Room in the batch for so many steps and a header more; 0: for none, or the consumer waits. */
static unsigned room(const struct pug_batch *batch)
{
    if (batch->response >= PUG_RESP_WAIT)
        return 0;
    unsigned left = batch->count < batch->limit ? batch->limit - batch->count : 0;
    return left < MOST_STEPS ? left : MOST_STEPS;
}

static enum pug_response ride(struct pug_etmv3_reader *reader, struct pug_etmv3_decoder *decoder,
                              struct pug_span *span)
{
    struct pug_batch *batch = decoder->stage->out.batch;
    if (!can_ride(reader, decoder, span))
        return PUG_RESP_CONT;
    decoder->list.held = 0;
    while (decoder->list.count > 0)
        pug_etmv3_give_first(&decoder->list, batch);
    pug_etmv3_refresh_epoch(decoder);
    pug_etmv3_begin(decoder);
    struct lane lane = {.decoder = decoder};
    unsigned most, left = 0;
    while (span->at < span->end && left == 0 && (most = room(batch)) > 0) {
        const uint8_t *at = span->at;
        if (decoder->config->p_headers[*at].step_count == 0) {
            size_t size = *at & 1 ? pug_etmv3_branch_size(reader, at, span->end) : 0;
            if (size == 0)
                break;
            take_branch(&lane, reader, at, size);
            decoder->index = pug_span_index(span);
            span->at += size;
            continue;
        }
        lane.holds = false; /* finding code may deliver what there is */
        if (pug_etmv3_find(decoder, PUG_ETMV3_ASK)) {
            span->at = take_headers(&lane, span, most, &left);
        } else {
            pug_etmv3_settle(decoder);
            span->at += decoder->need_address ? take_waits(&lane, span) : 0;
            if (span->at == at)
                break;
        }
        const struct pug_etmv3_p_header *last = &decoder->config->p_headers[span->at[-1]];
        reader->packet.type = PUG_ETMV3_P_HDR;
        reader->packet.format = last->format;
        decoder->index = pug_run_index(span->run, span->at - 1);
        lane.holds &= last->count > 0;
        if (left > 0)
            pug_etmv3_go_long(decoder, last, left);
    }
    if (left > 0)
        return pug_etmv3_give_out(decoder, PUG_RESP_CONT);
    pug_etmv3_settle(decoder);
    if (lane.holds)
        hold(decoder);
    return PUG_RESP_CONT;
}

enum pug_response pug_etmv3_lane(void *reader, void *decoder, struct pug_span *span,
                                 enum pug_want want)
{
    switch (want) {
    case PUG_WANT_COUNTS:
    case PUG_WANT_BATCH: return ride(reader, decoder, span);
    case PUG_WANT_EACH: pug_etmv3_run_each(reader, decoder, span); break;
    case PUG_WANT_MARKS: pug_etmv3_skim(reader, span); break;
    }
    return PUG_RESP_CONT;
}
