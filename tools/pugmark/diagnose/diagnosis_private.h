// SPDX-License-Identifier: MIT
/**
 * @file What the files of a diagnosis (diagnosis.h) share: elements on their way, bytes, the
 * paragraph.
 */
#ifndef PUGMARK_TOOL_DIAGNOSIS_PRIVATE_H
#define PUGMARK_TOOL_DIAGNOSIS_PRIVATE_H

#include "diagnosis.h"
#include "input/input.h"
#include "pugmark/advanced/diagnose.h"

struct diagnosis {
    struct input *input;
    struct pug_diagnosis *evidence;
    struct pug_diagnosis_part *own; /**< of elements that diagnosis_add() gets */
    bool quiet;
    bool bare; /**< only sources of which nothing was decoded are looked for */
    bool concluded;
    bool said; /**< the paragraph has begun */
    bool poor; /**< little of a source could be decoded */
};

/** A point of the paragraph, which begins with the first. */
void diagnosis_say(struct diagnosis *diagnosis, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Tell who listens (said.h) how many branches agree with the program. Prints nothing. */
void diagnosis_say_checked(const struct diagnosis *diagnosis);

/** Writes the place of the first contradiction, and its kind. */
const char *diagnosis_first(const struct pug_evidence *evidence, char buffer[256]);

/** That undefined instructions ran, if some did: weak evidence, which is no error. */
void diagnosis_note_undefined(const struct diagnosis *diagnosis,
                              const struct pug_evidence *evidence);

/** The evidence about a source; NULL: none. */
const struct pug_evidence *diagnosis_evidence_of(const struct diagnosis *diagnosis, uint16_t id);

/** The survey's entry of a source; NULL: none. */
const struct pug_survey_id *diagnosis_find_id(const struct pug_survey *survey, uint16_t id);

/** Ids that there are, with their bytes. */
void diagnosis_list_ids(const struct input *input, const struct pug_survey *survey, char *text,
                        size_t size);

/** Of a source that has bytes, but no place where decoding can begin. */
void diagnosis_say_deaf(struct diagnosis *diagnosis, const struct pug_source *source,
                        uint64_t bytes);

/** Reports that a source, perhaps with others, has no bytes. */
void diagnosis_say_no_bytes(struct diagnosis *diagnosis, const struct pug_survey *survey,
                            uint16_t first, bool more);

/** Of all sources that were asked for. True: there was nothing to decode. */
bool diagnosis_say_silence(struct diagnosis *diagnosis, const struct pug_survey *survey);

/** May a source's trace id be wrong: has it no byte, and are bytes of unknown ids there? */
bool diagnosis_has_strays(const struct diagnosis *diagnosis);

/** Reports sources whose trace seems to have another id. */
void diagnosis_say_strays(struct diagnosis *diagnosis, const struct pug_survey *survey);

/** Says how many packets of so many bytes are bad. */
void diagnosis_say_bad(struct diagnosis *diagnosis, uint64_t bad, uint64_t bytes);

/** Reports bytes without a source, and bad packets. */
void diagnosis_say_bytes(struct diagnosis *diagnosis, const struct pug_survey *survey);

/** Which other settings trace and program fit with, if that is so of one. True: of one it is. */
bool diagnosis_say_doubts(struct diagnosis *diagnosis, const struct pug_survey *survey);

/** What the bytes look like, if that is not what they were taken for. */
void diagnosis_say_guesses(struct diagnosis *diagnosis, bool nothing);

#endif
