// SPDX-License-Identifier: MIT
/**
 * @file ETMv3: P-headers and plain branches in a row, from bytes to elements at once.
 *
 * How many atoms a P-header has cannot be foretold, and a loop over them would stumble at its end.
 * So the atoms of several headers are laid out first, with copies of a fixed size, and then taken
 * in one loop; the hop from instruction to instruction in it has no branch that depends on the
 * trace but the end. Cycle-accurate headers have few atoms, or only wait: that is a step, too.
 */
#include "protocol/etmv3/decoder.h"
#include "protocol/etmv3/reader.h"

/** Most atoms that are laid out before another header is looked at. */
#define MOST_STEPS 48u

/** Atoms laid out. */
struct steps {
    uint16_t all[MOST_STEPS + PUG_ETMV3_P_HEADER_ATOMS];
    unsigned count;
    uint64_t index; /**< of the first header, less what its first step adds */
};

/** Where a run is. */
struct run {
    struct pug_etmv3_decoder *decoder;
    struct pug_etmv3_place *place; /**< the decoder's */
    bool jumped; /**< a branch packet told the address since `from`: it is the decoder's */
    bool holds;  /**< the last element is an instruction that can still be cancelled */
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

/** Find what is behind an instruction; that one may be forgotten meanwhile. */
static void follow(struct run *run)
{
    struct pug_etmv3_place *place = run->place;
    const struct pug_etmv3_insn *from = place->from;
    const bool executed = place->executed;
    place->insn = pug_etmv3_follow(run->decoder, from, executed);
    if (place->insn || place->from)
        return;
    pug_etmv3_advance(run->decoder, from, executed); /* nothing was put in its place yet */
    run->jumped = true;
}

/** Find the next instruction. False: what comes is not for this way. */
static bool find(struct run *run)
{
    struct pug_etmv3_decoder *decoder = run->decoder;
    struct pug_etmv3_place *place = run->place;
    if (place->insn)
        return true;
    if (!run->jumped)
        follow(run);
    else if (decoder->need_address)
        return false;
    else if (is_jump(place))
        place->insn = pug_etmv3_jump(decoder, place->from, decoder->address, decoder->isa);
    else
        place->insn = pug_etmv3_kept_insn(decoder, decoder->address, decoder->isa);
    return place->insn;
}

/* ---- steps ---- */

/** Behind a step whose link is not made. */
static void stop_behind(struct run *run, const struct pug_etmv3_insn *insn, unsigned step)
{
    run->place->insn = NULL;
    run->place->from = insn;
    run->place->executed = (step & PUG_ETMV3_STEP_KIND) == PUG_ETMV3_STEP_E;
    run->jumped = false;
}

/** Two words that are taken at once. */
typedef uint64_t pair __attribute__((vector_size(16)));

static inline pair load(const void *at)
{
    pair value;
    memcpy(&value, at, sizeof(value));
    return value;
}

/** What the elements of a row have in common, from `context_id` on. */
static inline pair load_context(const struct run *run)
{
    return load(&run->decoder->stage->out.blank.context_id);
}

static_assert(offsetof(struct pug_element, value) == offsetof(struct pug_element, start) + 16 &&
                  offsetof(struct pug_element, count) == offsetof(struct pug_element, value) + 8 &&
                  offsetof(struct pug_element, cycle_count) ==
                      offsetof(struct pug_element, count) + 4 &&
                  PUG_ETMV3_TAIL == offsetof(struct pug_element, context_id) + 16,
              "an element is its addresses, counts, context and tail");

/** Take the steps of a row; how many it took. `cycles`: some may wait, and each has its cycles. */
static inline unsigned take_row(struct run *run, const struct steps *steps, bool cycles)
{
    static const pair addresses[3] = {{UINT64_MAX, UINT64_MAX}, {UINT64_MAX, UINT64_MAX}};
    const struct pug_etmv3_insn *const entries = run->decoder->insns.entries;
    const uint64_t *const counts = run->decoder->config->counts;
    struct pug_batch *batch = run->decoder->stage->out.batch;
    struct pug_element *element = &batch->elements[batch->count];
    const struct pug_etmv3_insn *insn = run->place->insn;
    const uint16_t *at = steps->all, *const end = at + steps->count;
    uint64_t index = steps->index;
    pair context = load_context(run);
    while (at < end) {
        const unsigned step = *at++;
        const struct pug_etmv3_way *way = &insn->ways[pug_etmv3_way_of(step)];
        __builtin_prefetch(insn + 4); /* most code is kept in the order in which it runs */
        const uint32_t next = way->next;
        pair range = load(&insn->start);
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
        stop_behind(run, insn, step);
        batch->count = (uint32_t)(element - batch->elements);
        if (at == end || !find(run))
            return (unsigned)(at - steps->all);
        element = &batch->elements[batch->count]; /* it may have been delivered */
        insn = run->place->insn;
        context = load_context(run);
    }
    run->place->insn = insn;
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

static bool is_waiting(const struct pug_etmv3_p_header *header)
{
    return header->step_count == 1 &&
           (header->steps[0] & PUG_ETMV3_STEP_KIND) == PUG_ETMV3_STEP_WAIT;
}

/** P-headers that only wait need no address. How many there are. */
static size_t take_waits(struct run *run, const struct pug_span *span)
{
    struct pug_etmv3_decoder *decoder = run->decoder;
    struct pug_batch *batch = decoder->stage->out.batch;
    const uint8_t *at = span->at;
    for (; at < span->end && batch->count < batch->limit; at++) {
        const struct pug_etmv3_p_header *header = &decoder->config->p_headers[*at];
        if (!is_waiting(header))
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

/** The last `left` steps of a header are taken the long way. */
static void go_long(struct run *run, const struct pug_etmv3_p_header *header, unsigned left)
{
    settle(run);
    pug_etmv3_walk(run->decoder, header, (uint32_t)header->bits >> (header->step_count - left),
                   header->count > 0 ? left : 0);
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
static const uint8_t *take_headers(struct run *run, const struct pug_span *span, unsigned most,
                                   unsigned *left)
{
    const struct pug_etmv3_config *config = run->decoder->config;
    struct steps steps;
    const uint8_t *end;
    unsigned done;
    if (config->cycle_accurate) {
        end = lay_out(config, span, most, PUG_ETMV3_CYCLE_STEPS, &steps);
        done = take_row(run, &steps, true);
    } else {
        end = lay_out(config, span, most, PUG_ETMV3_P_HEADER_ATOMS, &steps);
        done = take_row(run, &steps, false);
    }
    *left = 0;
    run->holds = done == steps.count; /* else a header follows, which cancels nothing */
    return done == steps.count ? end : stopped_in(config, span->at, done, left) + 1;
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
    const struct pug_etmv3_p_header *header = &decoder->config->p_headers[*span->at];
    if (header->step_count > 0)
        return !decoder->need_address || is_waiting(header);
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
    unsigned most, left = 0;
    while (span->at < span->end && left == 0 && (most = room(batch)) > 0) {
        const uint8_t *at = span->at;
        if (decoder->config->p_headers[*at].step_count == 0) {
            size_t size = *at & 1 ? pug_etmv3_branch_size(reader, at, span->end) : 0;
            if (size == 0)
                break;
            take_branch(&run, reader, at, size);
            decoder->index = pug_span_index(span);
            span->at += size;
            continue;
        }
        run.holds = false; /* finding code may deliver what there is */
        if (find(&run)) {
            span->at = take_headers(&run, span, most, &left);
        } else {
            settle(&run);
            span->at += decoder->need_address ? take_waits(&run, span) : 0;
            if (span->at == at)
                break;
        }
        const struct pug_etmv3_p_header *last = &decoder->config->p_headers[span->at[-1]];
        reader->packet.type = PUG_ETMV3_P_HDR;
        reader->packet.format = last->format;
        decoder->index = pug_run_index(span->run, span->at - 1);
        run.holds &= last->count > 0;
        if (left > 0)
            go_long(&run, last, left);
    }
    if (left > 0)
        return pug_etmv3_give_out(decoder, PUG_RESP_CONT);
    settle(&run);
    if (run.holds)
        hold(decoder);
    return PUG_RESP_CONT;
}
