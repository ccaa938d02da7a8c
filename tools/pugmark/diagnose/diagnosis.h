// SPDX-License-Identifier: MIT
/** @file What standard error says at the end of a run: the findings about it (findings.h). */
#ifndef PUGMARK_TOOL_DIAGNOSIS_H
#define PUGMARK_TOOL_DIAGNOSIS_H

#include "pugmark/advanced/consumer.h"
#include "pugmark/pugmark.h"

struct input;
struct diagnosis;

/** Makes the diagnosis of a run of the input's tree; NULL: out of memory. */
struct diagnosis *diagnosis_new(struct input *input);
void diagnosis_free(struct diagnosis *diagnosis);

/** The consumer that collects evidence; others can share its pass. */
struct pug_consumer diagnosis_consumer(struct diagnosis *diagnosis);

/** Adds evidence from one element, for commands that feed a tree and choose which. */
void diagnosis_add(struct diagnosis *diagnosis, const struct pug_element *element);

/** Says what the trace at hand looks like, where no run comes about. */
void diagnosis_guess(const struct input *input);

/** After the run: says what is off, unless `quiet`. True: something is. */
bool diagnosis_conclude(struct diagnosis *diagnosis, bool quiet);

/** The same after a run whose elements the diagnosis did not see: of what packets show alone. */
bool diagnosis_conclude_packets(struct diagnosis *diagnosis, bool quiet);

/** After the run: was nothing decoded of any source? */
bool diagnosis_is_silent(const struct diagnosis *diagnosis);

/**
 * Decodes the first `most` bytes of the chosen trace of a perf.data once more, and says what is
 * off, unless the options want quiet. True: something is.
 */
bool diagnosis_of_programs(struct input *input, uint64_t most);

#endif
