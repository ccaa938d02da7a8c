// SPDX-License-Identifier: MIT
/**
 * @file ETMv3: P-headers and plain branches in a row, from bytes to elements at once.
 *
 * How many atoms a P-header has cannot be foretold, and a loop over them would stumble at its end.
 * So the steps of several headers are laid out first, with copies of a fixed size, and then taken
 * in one loop; the hop from instruction to instruction in it has no branch that depends on the
 * trace but the end.
 */
#include "protocol/etmv3/decoder.h"
#include "protocol/etmv3/reader.h"

/** Most steps that are laid out before another header is looked at. */
#define MOST_STEPS 48u

/** Steps laid out. */
struct steps {
    uint8_t kinds[MOST_STEPS + PUG_ETMV3_P_HEADER_ATOMS];   /**< and cycles << 2 */
    uint8_t headers[MOST_STEPS + PUG_ETMV3_P_HEADER_ATOMS]; /**< which one, of this row */
    unsigned count;
    uint64_t indices[MOST_STEPS]; /**< of the headers */
};

/** Where a run is. */
struct run {
    struct pug_etmv3_decoder *decoder;
    struct pug_etmv3_place *place; /**< the decoder's */
    bool jumped; /**< a branch packet told the address since `from`: it is the decoder's */
    bool holds;  /**< the last element is an instruction that can still be cancelled */
};

/** Lay out the next P-headers; where they end. There is room for `most` steps and a header. */
static const uint8_t *lay_out(const struct pug_etmv3_config *config, const struct pug_span *span,
                              unsigned most, struct steps *steps)
{
    const uint8_t *at = span->at;
    unsigned count = 0;
    for (uint8_t number = 0; at < span->end && count < most; at++, number++) {
        const struct pug_etmv3_p_header *header = &config->p_headers[*at];
        if (header->step_count == 0)
            break;
        memcpy(steps->kinds + count, header->steps, PUG_ETMV3_P_HEADER_ATOMS);
        memset(steps->headers + count, number, PUG_ETMV3_P_HEADER_ATOMS);
        steps->indices[number] = pug_run_index(span->run, at);
        count += header->step_count;
    }
    steps->count = count;
    return at;
}

/** The decoder's address and ISA are where the run is. */
static void settle(struct run *run)
{
    struct pug_etmv3_decoder *decoder = run->decoder;
    const struct pug_etmv3_place *place = run->place;
    if (place->insn) {
        decoder->address = place->insn->start;
        decoder->isa = pug_etmv3_insn_isa(place->insn);
    } else if (place->from && !run->jumped) {
        pug_etmv3_advance(decoder, place->from, place->executed);
        run->jumped = true;
    }
    decoder->stage->out.blank.isa = decoder->isa;
}

static bool is_jump(const struct pug_etmv3_place *place)
{
    return place->from && place->executed && pug_etmv3_is_indirect(place->from);
}

/** A run begins where the last one ended, unless something came between. */
static struct run begin(struct pug_etmv3_decoder *decoder)
{
    struct run run = {.decoder = decoder, .place = &decoder->insns.place};
    const struct pug_etmv3_insn *insn = run.place->insn, *from = run.place->from;
    const bool executed = run.place->executed, lost = decoder->need_address;
    if (insn) {
        if (!lost && insn->start == decoder->address && pug_etmv3_insn_isa(insn) == decoder->isa)
            return run;
        run.place->insn = NULL;
        run.place->from = NULL;
        run.jumped = true;
        return run;
    }
    run.jumped = !from || is_jump(run.place) || lost ||
                 pug_etmv3_next_address(from, executed) != decoder->address ||
                 pug_etmv3_isa_behind(from, executed) != decoder->isa;
    return run;
}

/** Find the next instruction. False: what comes is not for this way. */
static bool find(struct run *run)
{
    struct pug_etmv3_decoder *decoder = run->decoder;
    struct pug_etmv3_place *place = run->place;
    if (place->insn)
        return true;
    if (!run->jumped)
        place->insn = pug_etmv3_follow(decoder, place->from, place->executed);
    else if (decoder->need_address)
        return false;
    else if (is_jump(place))
        place->insn = pug_etmv3_jump(decoder, place->from, decoder->address, decoder->isa);
    else
        place->insn = pug_etmv3_kept_insn(decoder, decoder->address, decoder->isa);
    return place->insn;
}

/* ---- steps ---- */

static inline unsigned kind_of(unsigned step)
{
    return step & PUG_ETMV3_STEP_KIND;
}

/** A step at an instruction, which makes an element. In a trace without cycles no step waits. */
static inline void put_step(struct pug_element *element, const struct pug_etmv3_insn *insn,
                            const struct pug_etmv3_step *steps, unsigned step, uint64_t index,
                            const struct pug_element *blank, bool cycles)
{
    const struct pug_etmv3_step *makes = &steps[cycles ? step : PUG_ETMV3_STEP_E];
    element->index = index;
    if (cycles) {
        element->start = insn->start & makes->address;
        element->end = insn->end & makes->address;
    } else {
        memcpy(&element->start, &insn->start, 16);
    }
    element->value = 0;
    memcpy((char *)element + 32, &makes->counts, 8);
    memcpy((char *)element + 40, (const char *)blank + 40, 16);
    memcpy((char *)element + PUG_ETMV3_TAIL, &insn->tails[cycles ? kind_of(step) : step], 8);
}

/** Behind a step whose link is not made. */
static void stop_behind(struct run *run, const struct pug_etmv3_insn *insn, unsigned step)
{
    run->place->insn = NULL;
    run->place->from = insn;
    run->place->executed = kind_of(step) == PUG_ETMV3_STEP_E;
    run->jumped = false;
}

/** Take `count` of the steps; how many it took. */
static inline unsigned take_any_steps(struct run *run, const struct steps *steps, unsigned count,
                                      bool cycles)
{
    const struct pug_etmv3_step *const made = run->decoder->config->steps;
    const struct pug_element *const blank = &run->decoder->stage->out.blank;
    const struct pug_etmv3_insn *const entries = run->decoder->insns.entries;
    struct pug_batch *batch = run->decoder->stage->out.batch;
    struct pug_element *element = &batch->elements[batch->count];
    const struct pug_etmv3_insn *insn = run->place->insn;
    unsigned i = 0;
    while (i < count) {
        const unsigned step = steps->kinds[i];
        const uint32_t next = insn->next[cycles ? kind_of(step) : step];
        put_step(element++, insn, made, step, steps->indices[steps->headers[i++]], blank, cycles);
        if (next != 0) {
            insn = pug_etmv3_linked(entries, next);
            continue;
        }
        stop_behind(run, insn, step);
        batch->count = (uint32_t)(element - batch->elements);
        if (i == count || !find(run))
            return i;
        element = &batch->elements[batch->count]; /* it may have been delivered */
        insn = run->place->insn;
    }
    run->place->insn = insn;
    batch->count = (uint32_t)(element - batch->elements);
    return i;
}

static unsigned take_steps(struct run *run, const struct steps *steps, unsigned count)
{
    return run->decoder->config->cycle_accurate ? take_any_steps(run, steps, count, true)
                                                : take_any_steps(run, steps, count, false);
}

/** The last step, whose element is held back; how many steps are taken then. */
static unsigned hold_step(struct run *run, const struct steps *steps)
{
    struct pug_etmv3_decoder *decoder = run->decoder;
    const unsigned last = steps->count - 1, step = steps->kinds[last];
    if (!find(run))
        return last;
    const struct pug_etmv3_insn *insn = run->place->insn;
    const uint32_t next = insn->next[kind_of(step)];
    put_step(pug_etmv3_slot(decoder), insn, decoder->config->steps, step,
             steps->indices[steps->headers[last]], &decoder->stage->out.blank, true);
    if (next == 0)
        stop_behind(run, insn, step);
    else
        run->place->insn = pug_etmv3_linked(decoder->insns.entries, next);
    decoder->list.held = 1;
    return steps->count;
}

/** The last element of the batch is held back. */
static void hold(struct pug_etmv3_decoder *decoder)
{
    struct pug_batch *batch = decoder->stage->out.batch;
    *pug_etmv3_slot(decoder) = batch->elements[--batch->count];
    decoder->list.held = 1;
}

/** Of the row from `first` only `done` steps were taken: the long way for the rest of a header. */
static const uint8_t *go_long(struct run *run, const struct steps *steps, unsigned done,
                              const uint8_t *first)
{
    struct pug_etmv3_decoder *decoder = run->decoder;
    const unsigned number = steps->headers[done];
    const struct pug_etmv3_p_header *header = &decoder->config->p_headers[first[number]];
    unsigned of_header = 0;
    while (of_header < done && steps->headers[done - of_header - 1] == number)
        of_header++;
    settle(run);
    decoder->index = steps->indices[number];
    pug_etmv3_walk(decoder, header, (uint32_t)header->bits >> of_header,
                   header->count - (header->count > 0 ? of_header : 0));
    return first + number + 1;
}

/* ---- branches ---- */

static void take_branch(struct run *run, struct pug_etmv3_reader *reader, const uint8_t *at,
                        size_t size)
{
    struct pug_etmv3_packet *packet = &reader->packet;
    settle(run);
    packet->type = PUG_ETMV3_BRANCH_ADDRESS;
    packet->previous_isa = packet->isa;
    packet->has_isa = false;
    packet->exception.present = false;
    pug_etmv3_parse_branch(reader, at, size, &packet->address);
    pug_etmv3_branch_to(run->decoder, packet);
    run->place->insn = NULL;
    run->jumped = true;
    run->holds = false;
}

/* ---- the run ---- */

static bool can_run(const struct pug_etmv3_reader *reader, struct pug_etmv3_decoder *decoder,
                    const struct pug_span *span)
{
    if (!decoder->runs || decoder->state != PUG_ETMV3_DECODE ||
        reader->state != PUG_ETMV3_AT_HEADER || span->at == span->end ||
        decoder->list.count > PUG_OUT_STEP)
        return false;
    if (decoder->config->p_headers[*span->at].step_count > 0)
        return !decoder->need_address;
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

enum pug_response pug_etmv3_run(void *reader_pointer, void *decoder_pointer, struct pug_span *span)
{
    struct pug_etmv3_reader *reader = reader_pointer;
    struct pug_etmv3_decoder *decoder = decoder_pointer;
    struct pug_batch *batch = decoder->stage->out.batch;
    if (!can_run(reader, decoder, span))
        return PUG_RESP_CONT;
    decoder->list.held = 0;
    while (decoder->list.count > 0)
        pug_etmv3_give_first(&decoder->list, batch);
    pug_etmv3_refresh_epoch(decoder);
    struct run run = begin(decoder);
    struct steps steps;
    while (span->at < span->end && room(batch) > 0) {
        const uint8_t *at = span->at;
        size_t size = *at & 1 ? pug_etmv3_branch_size(reader, at, span->end) : 0;
        if (size > 0) {
            take_branch(&run, reader, at, size);
            decoder->index = pug_span_index(span);
            span->at += size;
            continue;
        }
        const uint8_t *end = lay_out(decoder->config, span, room(batch), &steps);
        if (end == at)
            break;
        run.holds = false; /* finding code may deliver what there is */
        if (!find(&run))
            break;
        bool waits = kind_of(steps.kinds[steps.count - 1]) == PUG_ETMV3_STEP_WAIT;
        bool last = end == span->end && !waits;
        unsigned most = steps.count - last, done = take_steps(&run, &steps, most);
        if (last && done == most)
            done = hold_step(&run, &steps);
        if (done < steps.count) {
            span->at = go_long(&run, &steps, done, at);
            return pug_etmv3_give_out(decoder, PUG_RESP_CONT);
        }
        run.holds = !last && !waits;
        reader->packet.type = PUG_ETMV3_P_HDR;
        reader->packet.format = decoder->config->p_headers[end[-1]].format;
        decoder->index = steps.indices[end - at - 1];
        span->at = end;
    }
    settle(&run);
    if (run.holds)
        hold(decoder);
    return PUG_RESP_CONT;
}
