// SPDX-License-Identifier: MIT
/**
 * @file ETMv3: P-headers in a row, whose atoms are laid out and then taken.
 *
 * How many atoms a P-header has cannot be foretold, and a loop over them would stumble at its end.
 * So the atoms of several headers are laid out first, with copies of a fixed size, and then taken
 * in one loop; the hop from instruction to instruction in it has no branch that depends on the
 * trace but the end. Cycle-accurate headers have few atoms, or only wait: that is a step, too.
 */
#ifndef PUG_ETMV3_ROW_H
#define PUG_ETMV3_ROW_H

#include "protocol/etmv3/course.h"

/** Most atoms that are laid out before another header is looked at. */
#define PUG_ETMV3_ROW_STEPS 48u

/** Atoms laid out, or those of one header where they are. */
struct pug_etmv3_steps {
    const uint8_t *all;
    unsigned count;
    uint64_t index;      /**< of the first header, without its gap */
    const uint16_t *gap; /**< that, and those of the others */
};

typedef uint8_t pug_etmv3_row[PUG_ETMV3_ROW_STEPS + PUG_ETMV3_P_HEADER_ATOMS];

/** Steps of headers from where the span is. */
static inline struct pug_etmv3_steps pug_etmv3_steps_at(const struct pug_span *span,
                                                        const uint8_t *all, unsigned count)
{
    static const uint16_t none[PUG_ETMV3_ROW_STEPS + 1] = {0}; /* a header has a step, or more */
    const struct pug_run *run = span->run;
    const size_t place = (size_t)(span->at - run->bytes);
    return (struct pug_etmv3_steps){.all = all,
                                    .count = count,
                                    .index = run->index + place,
                                    .gap = run->gaps ? run->gaps + place : none};
}

/**
 * Lay out P-headers from `at` on, at most `width` steps each, after those that are laid out.
 * Returns the end of the last one. There is room for `most` steps and a header.
 */
static inline const uint8_t *pug_etmv3_lay_out(const struct pug_etmv3_config *config,
                                               const uint8_t *at, const uint8_t *end, unsigned most,
                                               size_t width, uint8_t *row, unsigned *steps)
{
    unsigned count = *steps;
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

/** Take the steps of a row; how many it took. */
unsigned pug_etmv3_take_atoms(struct pug_etmv3_decoder *decoder,
                              const struct pug_etmv3_steps *steps);
/** The same where some may wait, and each has its cycles. */
unsigned pug_etmv3_take_cycles(struct pug_etmv3_decoder *decoder,
                               const struct pug_etmv3_steps *steps);

/**
 * Count the P-headers from the span's position on, while there is room for `most` elements. Returns
 * the end of the last one. *left: steps of that one that could not be taken.
 */
const uint8_t *pug_etmv3_count_headers(struct pug_etmv3_decoder *decoder,
                                       const struct pug_span *span, unsigned most, unsigned *left);

/**
 * Returns the end of the header in or after which a row of `done` steps, or of atoms, from `at`
 * ends; *left: the number of its steps that remain.
 */
const uint8_t *pug_etmv3_stopped_in(const struct pug_etmv3_config *config, const uint8_t *at,
                                    unsigned done, bool atoms, unsigned *left);

#endif
