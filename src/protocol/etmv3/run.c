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
    const struct pug_etmv3_insn *insn; /**< the next instruction, or pug_etmv3_no_insn */
    const struct pug_etmv3_insn *from; /**< then the one before it, or NULL */
    bool executed;                     /**< `from` was */
    bool jumped; /**< a branch packet told the address since; it is the decoder's */
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
    if (run->insn != &pug_etmv3_no_insn) {
        decoder->address = run->insn->start;
        decoder->isa = pug_etmv3_insn_isa(run->insn);
        decoder->insns.last = run->insn;
    } else if (run->from && !run->jumped) {
        pug_etmv3_advance(decoder, run->from, run->executed);
        run->jumped = true;
    }
    decoder->stage->out.blank.isa = decoder->isa;
}

/** The next instruction is the one where the last run ended, unless something came between. */
static const struct pug_etmv3_insn *last_insn(struct pug_etmv3_decoder *decoder)
{
    const struct pug_etmv3_insn *last = decoder->insns.last;
    return last && last->start == decoder->address && pug_etmv3_insn_isa(last) == decoder->isa &&
                   !decoder->need_address
               ? last
               : &pug_etmv3_no_insn;
}

/** Find the next instruction. False: what comes is not for this way. */
static bool find(struct run *run)
{
    struct pug_etmv3_decoder *decoder = run->decoder;
    const struct pug_etmv3_insn *from = run->from;
    if (run->insn != &pug_etmv3_no_insn)
        return true;
    if (from && !run->jumped)
        run->insn = pug_etmv3_follow(decoder, from, run->executed);
    else if (decoder->need_address)
        return false;
    else if (from && run->executed && pug_etmv3_is_indirect(from))
        run->insn = pug_etmv3_jump(decoder, from, decoder->address, decoder->isa);
    else
        run->insn = pug_etmv3_kept_insn(decoder, decoder->address, decoder->isa);
    return run->insn != &pug_etmv3_no_insn;
}

/** Take steps; how many it took. */
static unsigned take_steps(struct run *run, const struct steps *steps)
{
    struct pug_batch *batch = run->decoder->stage->out.batch;
    const char *blank = (const char *)&run->decoder->stage->out.blank;
    struct pug_element *element = &batch->elements[batch->count];
    const struct pug_etmv3_insn *insn = run->insn;
    const unsigned count = steps->count;
    const uint64_t executed_tail = pug_etmv3_executed_tail();
    unsigned i = 0;
    while (i < count) {
        const unsigned step = steps->kinds[i], kind = step & PUG_ETMV3_STEP_KIND;
        const unsigned waits = kind / PUG_ETMV3_STEP_WAIT;
        const uint64_t mask = (uint64_t)waits - 1; /* no address of who waits */
        const uint64_t tail = insn->tails[waits] + (kind & 1) * executed_tail;
        element->index = steps->indices[steps->headers[i++]];
        element->start = insn->start & mask;
        element->end = insn->end & mask;
        element->value = 0;
        element->count = 1 - waits;
        element->cycle_count = step >> 2;
        memcpy((char *)element + 40, blank + 40, 16);
        memcpy((char *)element + 56, &tail, 8);
        element++;
        const struct pug_etmv3_insn *next = insn->next[kind];
        if (next != &pug_etmv3_no_insn) {
            insn = next;
            continue;
        }
        run->from = insn;
        run->executed = kind == PUG_ETMV3_STEP_E;
        run->jumped = false;
        run->insn = insn = next;
        if (i == count)
            break;
        batch->count = (uint32_t)(element - batch->elements);
        if (!find(run))
            return i;
        element = &batch->elements[batch->count]; /* it may have been delivered */
        insn = run->insn;
    }
    run->insn = insn;
    batch->count = (uint32_t)(element - batch->elements);
    return i;
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

/** Bytes of a branch packet that is an address of at most four bytes and no more; else 0. */
static size_t branch_size(const struct pug_etmv3_reader *reader, const uint8_t *at,
                          const uint8_t *end)
{
    size_t size = 1;
    for (; at[size - 1] & 0x80; size++)
        if (size == PUG_ETMV3_BRANCH_ADDRESS_MAX - 1 || at + size == end)
            return 0;
    bool exception = size > 1 && reader->config->alternative_branches && (at[size - 1] & 0x40);
    return exception || reader->packet.isync.has_lsip ? 0 : size;
}

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
    run->insn = &pug_etmv3_no_insn;
    run->jumped = true;
    run->holds = false;
}

/* ---- the run ---- */

/** The last instruction is held back. */
static void hold(struct pug_etmv3_decoder *decoder)
{
    struct pug_batch *batch = decoder->stage->out.batch;
    *pug_etmv3_slot(decoder) = batch->elements[--batch->count];
    decoder->list.held = 1;
}

static bool can_run(const struct pug_etmv3_reader *reader, struct pug_etmv3_decoder *decoder,
                    const struct pug_span *span)
{
    if (!decoder->runs || decoder->state != PUG_ETMV3_DECODE ||
        reader->state != PUG_ETMV3_AT_HEADER || span->at == span->end ||
        decoder->list.count > PUG_OUT_STEP)
        return false;
    if (decoder->config->p_headers[*span->at].step_count > 0)
        return !decoder->need_address;
    return (*span->at & 1) && branch_size(reader, span->at, span->end) > 0;
}

/** Room in the batch for so many steps and a header more; 0: for none. */
static unsigned room(const struct pug_batch *batch)
{
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
    struct run run = {.decoder = decoder, .insn = last_insn(decoder)};
    struct steps steps;
    while (span->at < span->end && room(batch) > 0) {
        const uint8_t *at = span->at;
        size_t size = *at & 1 ? branch_size(reader, at, span->end) : 0;
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
        unsigned done = take_steps(&run, &steps);
        if (done < steps.count) {
            span->at = go_long(&run, &steps, done, at);
            return pug_etmv3_give_out(decoder, PUG_RESP_CONT);
        }
        run.holds = (steps.kinds[done - 1] & PUG_ETMV3_STEP_KIND) != PUG_ETMV3_STEP_WAIT;
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
