// SPDX-License-Identifier: MIT
/** @file ETMv3: where execution goes among the instructions that are kept, over many packets. */
#ifndef PUG_ETMV3_COURSE_H
#define PUG_ETMV3_COURSE_H

#include "protocol/etmv3/decoder.h"

#include <assert.h>

/* ---- where it is ---- */

/**
 * The decoder's address and ISA are where the course is. The address and ISA lag from one fast path
 * to the next. A packet that is not for the fast path, or a request for the state, brings them up
 * to date.
 */
static inline void pug_etmv3_settle(struct pug_etmv3_decoder *decoder)
{
    struct pug_etmv3_place *place = &decoder->insns.place;
    if (place->insn) {
        decoder->address = place->insn->start;
        decoder->isa = pug_etmv3_insn_isa(place->insn);
        decoder->it = place->insn->ways[1].it;
    } else if (place->from && !place->jumped) {
        pug_etmv3_advance(decoder, place->from, place->executed);
        place->jumped = true;
    }
    decoder->stage->out.blank.isa = decoder->isa;
}

/** Did a branch packet give the address that follows `from`? */
static inline bool pug_etmv3_is_jump(const struct pug_etmv3_place *place)
{
    return place->from && place->executed && pug_etmv3_is_indirect(place->from);
}

/** A course begins where the last one ended, unless something came between. */
static inline void pug_etmv3_begin(struct pug_etmv3_decoder *decoder)
{
    struct pug_etmv3_place *place = &decoder->insns.place;
    const struct pug_etmv3_insn *insn = place->insn, *from = place->from;
    const bool executed = place->executed, lost = decoder->need_address;
    if (insn) {
        if (!lost && pug_etmv3_is_here(decoder, insn))
            return;
        place->insn = NULL;
        place->from = NULL;
        place->jumped = true;
        return;
    }
    place->jumped =
        !from || pug_etmv3_is_jump(place) || lost || !pug_etmv3_leads_here(decoder, from, executed);
}

/** Find the next instruction where no link leads to it. False: what comes is not for this way. */
bool pug_etmv3_find_next(struct pug_etmv3_decoder *decoder);

static inline bool pug_etmv3_find(struct pug_etmv3_decoder *decoder)
{
    return decoder->insns.place.insn || pug_etmv3_find_next(decoder);
}

/** Behind a step whose link is not made. */
static inline void pug_etmv3_stop_behind(struct pug_etmv3_place *place,
                                         const struct pug_etmv3_insn *insn, unsigned step)
{
    const bool executed = (step & PUG_ETMV3_STEP_KIND) == PUG_ETMV3_STEP_E;
    *place = (struct pug_etmv3_place){.from = insn, .executed = executed};
}

/** The last `left` steps of a header are taken the long way. */
void pug_etmv3_go_long(struct pug_etmv3_decoder *decoder, const struct pug_etmv3_p_header *header,
                       unsigned left);

/* ---- elements ---- */

/** Two words that are taken at once. */
typedef uint64_t pug_etmv3_pair __attribute__((vector_size(16)));

static inline pug_etmv3_pair pug_etmv3_load(const void *at)
{
    pug_etmv3_pair value;
    memcpy(&value, at, sizeof(value));
    return value;
}

/** Returns the fields that elements share, from `context_id` on. */
static inline pug_etmv3_pair pug_etmv3_context(const struct pug_etmv3_decoder *decoder)
{
    return pug_etmv3_load(&decoder->stage->out.blank.context_id);
}

static_assert(offsetof(struct pug_element, value) == offsetof(struct pug_element, start) + 16 &&
                  offsetof(struct pug_element, count) == offsetof(struct pug_element, value) + 8 &&
                  offsetof(struct pug_element, cycle_count) ==
                      offsetof(struct pug_element, count) + 4 &&
                  PUG_ETMV3_TAIL == offsetof(struct pug_element, context_id) + 16,
              "an element is index, addresses, value, counts, context and tail");

#endif
