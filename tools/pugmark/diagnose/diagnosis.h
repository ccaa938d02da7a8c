// SPDX-License-Identifier: MIT
/** @file What is said at the end of a run where something is off. */
#ifndef PUGMARK_TOOL_DIAGNOSIS_H
#define PUGMARK_TOOL_DIAGNOSIS_H

#include "pugmark/advanced/consumer.h"
#include "pugmark/advanced/diagnose.h"
#include "pugmark/pugmark.h"

struct input;
struct diagnosis;

/** For a run of the input's tree; NULL: nothing is diagnosed. */
struct diagnosis *diagnosis_new(struct input *input);
void diagnosis_free(struct diagnosis *diagnosis);

/** The consumer that collects evidence; others can share its pass. */
struct pug_consumer diagnosis_consumer(struct diagnosis *diagnosis);

/** Say what the trace at hand looks like, where no run comes about. */
void diagnosis_guess(const struct input *input);

/**
 * pug_guess_format() of bytes that look like nothing, as if each word of *width of them, 2, 4 or 8,
 * had been written in the other order: how many guesses there are.
 */
size_t diagnosis_guess_turned(const uint8_t *bytes, size_t size,
                              struct pug_guess guesses[PUG_GUESSES], unsigned *width);

/** How bytes are turned so, for printf(): of *width, twice. */
#define DIAGNOSIS_TURNED                                                                           \
    "with the bytes of each word of %u turned round (objcopy -I binary -O binary "                 \
    "--reverse-bytes=%u)"

/** Writes a number with its thousands apart; returns `buffer`. */
const char *diagnosis_grouped(uint64_t value, char buffer[32]);

/** Adds evidence from one element, for commands that feed a tree and choose which. */
void diagnosis_add(struct diagnosis *diagnosis, const struct pug_element *element);

/** After the run: say what is off, unless `quiet`. True: something is. */
bool diagnosis_conclude(struct diagnosis *diagnosis, bool quiet);

/** The same after a run whose elements the diagnosis did not see: of what packets show alone. */
bool diagnosis_conclude_packets(struct diagnosis *diagnosis, bool quiet);

/** The same: are so many packets bad that the bytes are no such trace? A few are there by chance.
 */
bool diagnosis_conclude_spoiled(struct diagnosis *diagnosis, bool quiet);

/** After the run: was nothing decoded of any source? */
bool diagnosis_is_silent(const struct diagnosis *diagnosis);

/**
 * Does a source's protocol have parameters that the settings do not give? Then `names` has them,
 * each after a blank.
 */
bool diagnosis_lacks_parameters(const struct input *input, uint32_t id, char *names, size_t size);

#endif
