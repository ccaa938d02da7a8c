// SPDX-License-Identifier: MIT
/**
 * @file ETMv3: the steps of P-headers in a row, to elements or to counts. Each is a function on its
 * own, since its loop needs all registers.
 */
#include "protocol/etmv3/row.h"
#include "protocol/etmv3/count.h"

static inline const struct pug_etmv3_way *way_of(const struct pug_etmv3_insn *insn, unsigned step)
{
    static_assert(sizeof(*insn->ways) == PUG_ETMV3_STEP_E, "the kind of a step finds its way");
    return (const void *)((const char *)insn->ways + (step & PUG_ETMV3_STEP_KIND));
}

/* ---- to elements ---- */

/** Take the steps of a row; how many it took. `cycles`: some may wait, and each has its cycles. */
static inline __attribute__((always_inline)) unsigned
take_steps(struct pug_etmv3_decoder *decoder, const struct pug_etmv3_steps *steps, bool cycles)
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
        const unsigned step = *at++, last = step >> PUG_ETMV3_STEP_LAST;
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

unsigned pug_etmv3_take_atoms(struct pug_etmv3_decoder *decoder,
                              const struct pug_etmv3_steps *steps)
{
    return take_steps(decoder, steps, false);
}

unsigned pug_etmv3_take_cycles(struct pug_etmv3_decoder *decoder,
                               const struct pug_etmv3_steps *steps)
{
    return take_steps(decoder, steps, true);
}

const uint8_t *pug_etmv3_stopped_in(const struct pug_etmv3_config *config, const uint8_t *at,
                                    unsigned done, bool atoms, unsigned *left)
{
    unsigned behind = 0;
    while (behind < done) {
        const struct pug_etmv3_p_header *header = &config->p_headers[*at++];
        behind += atoms ? header->count : header->step_count;
    }
    *left = behind - done;
    return at;
}

/* ---- to counts ---- */

/**
 * Atoms alone, so that no branch can separate them from waiting. Waiting is reported after them,
 * and its cycles are counted with the atom before.
 */
struct counted {
    pug_etmv3_row atoms;
    unsigned count;
    /* of cycle-accurate headers: cycles that waited before the first atom, and after each */
    uint16_t waited[1 + PUG_ETMV3_ROW_STEPS + PUG_ETMV3_CYCLE_STEPS];
    uint8_t waits[PUG_ETMV3_ROW_STEPS + 1]; /**< where those are that wait */
    unsigned wait_count;
};

/** As pug_etmv3_lay_out(), of at most `most` headers. */
static inline const uint8_t *lay_out_cycles(const struct pug_etmv3_config *config,
                                            const struct pug_span *span, unsigned most,
                                            struct counted *row)
{
    const uint8_t *const start = span->at;
    const uint8_t *const end = (size_t)(span->end - start) > most ? start + most : span->end;
    const uint8_t *at = start;
    unsigned count = 0, waits = 0;
    row->waited[0] = 0;
    do {
        const struct pug_etmv3_p_header *header = &config->p_headers[*at];
        const unsigned waiting = header->waits, more = header->count;
        if (header->step_count == 0)
            break;
        memcpy(&row->atoms[count], header->steps, PUG_ETMV3_CYCLE_STEPS);
        memset(&row->waited[count + 1], 0, PUG_ETMV3_CYCLE_STEPS * sizeof(row->waited[0]));
        row->waited[count] += (uint16_t)waiting;
        row->waits[waits] = (uint8_t)(at - start);
        count += more;
        waits += waiting > 0;
    } while (++at < end && count < PUG_ETMV3_ROW_STEPS);
    row->count = count;
    row->wait_count = waits;
    return at;
}

/** Report that headers wait, for those before `end`. */
static void put_waits(const struct pug_etmv3_decoder *decoder, const struct pug_span *span,
                      const uint8_t *end, const struct counted *row, uint8_t isa)
{
    struct pug_batch *batch = decoder->stage->out.batch;
    struct pug_element *element = &batch->elements[batch->count];
    const pug_etmv3_pair context = pug_etmv3_context(decoder);
    const struct pug_element waiting = {
        .type = PUG_ELEM_CYCLE_COUNT, .flags = PUG_ELEM_HAS_CC, .isa = isa};
    const uint64_t tail = pug_etmv3_tail(&waiting);
    for (unsigned i = 0; i < row->wait_count && span->at + row->waits[i] < end; i++, element++) {
        const uint8_t *at = span->at + row->waits[i];
        element->index = pug_run_index(span->run, at);
        element->start = element->end = element->value = 0;
        element->count = 0;
        element->cycle_count = decoder->config->p_headers[*at].waits;
        memcpy(&element->context_id, &context, sizeof(context));
        memcpy((char *)element + PUG_ETMV3_TAIL, &tail, sizeof(tail));
    }
    batch->count = batch->tallied = (uint32_t)(element - batch->elements);
}

/** Add the cycles that follow the last step on the fast path. */
static inline void add_cycles(struct pug_etmv3_counting *counting, uint32_t cycles)
{
    const uint32_t last = counting->last;
    if (last == 0)
        counting->stray += cycles;
    else
        counting->tallies[last / sizeof(struct pug_etmv3_insn)].ways[pug_etmv3_way_of(last)] +=
            cycles * PUG_ETMV3_CYCLE;
}

/**
 * Count the atoms of a row. Returns false when it ended after *done of them, because no link leads
 * on or leads to another instruction set; what waits there is left.
 */
static inline __attribute__((always_inline)) bool
count_row(struct pug_etmv3_decoder *decoder, const struct counted *row, bool cycles, unsigned *done)
{
    struct pug_etmv3_counting *const counting = &decoder->counting;
    const struct pug_etmv3_insn *const entries = decoder->insns.entries;
    struct pug_etmv3_tally *const tallies = counting->tallies;
    struct pug_etmv3_place *const place = &decoder->insns.place;
    const uint8_t isa = pug_etmv3_insn_isa(place->insn);
    const unsigned count = row->count;
    unsigned n = 0;
    while (n < count) {
        pug_etmv3_count_arrive(decoder, place->insn);
        uint32_t link = (uint32_t)((const char *)place->insn - (const char *)entries);
        uint32_t last = counting->last, before, next = link;
        do {
            link = next;
            const unsigned step = row->atoms[n++];
            uint64_t *tally = &tallies[link / sizeof(*entries)].ways[pug_etmv3_way_of(step)];
            before = last;
            last = link + (step & PUG_ETMV3_STEP_KIND);
            next = way_of(pug_etmv3_linked(entries, link), step)->next;
            *tally += 1;
            if (cycles)
                *tally += ((step & PUG_ETMV3_STEP_CYCLES) + row->waited[n]) * PUG_ETMV3_CYCLE;
        } while (next != 0 && n < count);
        counting->last = last;
        counting->before = before;
        counting->last_step = row->atoms[n - 1];
        place->insn = pug_etmv3_linked(entries, next);
        if (next != 0)
            continue;
        pug_etmv3_stop_behind(place, pug_etmv3_linked(entries, link), counting->last_step);
        if (n < count && pug_etmv3_find(decoder) && pug_etmv3_insn_isa(place->insn) == isa)
            continue;
        if (cycles)
            add_cycles(counting, -(uint32_t)row->waited[n]);
        *done = n;
        return false;
    }
    return true;
}

const uint8_t *pug_etmv3_count_headers(struct pug_etmv3_decoder *decoder,
                                       const struct pug_span *span, unsigned most, unsigned *left)
{
    const struct pug_etmv3_config *config = decoder->config;
    const uint8_t isa = pug_etmv3_insn_isa(decoder->insns.place.insn);
    struct counted row;
    const uint8_t *end;
    unsigned done;
    bool all;
    if (most > PUG_ETMV3_ROW_STEPS)
        most = PUG_ETMV3_ROW_STEPS;
    *left = 0;
    if (config->cycle_accurate) {
        end = lay_out_cycles(config, span, most, &row);
        decoder->counting.steps += row.wait_count;
        add_cycles(&decoder->counting, row.waited[0]);
        all = count_row(decoder, &row, true, &done);
    } else {
        row.count = 0;
        end = pug_etmv3_lay_out(config, span->at, span->end, most, PUG_ETMV3_P_HEADER_ATOMS,
                                row.atoms, &row.count);
        all = count_row(decoder, &row, false, &done);
    }
    decoder->counting.steps += row.count;
    if (!all)
        end = pug_etmv3_stopped_in(config, span->at, done, true, left);
    if (config->cycle_accurate)
        put_waits(decoder, span, end, &row, isa);
    decoder->counting.last_index = pug_run_index(span->run, end - 1);
    return end;
}
