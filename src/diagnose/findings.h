// SPDX-License-Identifier: MIT
/** @file Collecting findings: the list, the subject of an examination, and its steps. */
#ifndef PUG_DIAGNOSE_FINDINGS_H
#define PUG_DIAGNOSE_FINDINGS_H

#include "diagnose/signs.h"
#include "pugmark/advanced/capture.h"
#include "pugmark/advanced/consumer.h"
#include "pugmark/advanced/findings.h"

/** A list of findings, which owns their strings. */
struct pug_findings {
    struct pug_finding *items;
    size_t count, room;
    struct pug_finding_string *strings;
    uint32_t segment; /**< of findings that are added */
    size_t wrong;     /**< how many are PUG_FINDING_WRONG */
    bool failed;      /**< memory ran out, and something is missing */
};

/** NULL: out of memory. */
struct pug_findings *pug_findings_new(void);
/** Adds a finding. Its strings are copied; fields that its code does not have become "unknown". */
void pug_findings_add(struct pug_findings *findings, const struct pug_finding *finding);
/** Forgets all of them. */
void pug_findings_clear(struct pug_findings *findings);

/** Adds a finding with these fields: PUG_FIND(findings, PUG_FINDING_EMPTY, .count = 1). */
#define PUG_FIND(findings_, ...)                                                                   \
    pug_findings_add((findings_), &(struct pug_finding){.code = __VA_ARGS__})

/** A decoding that is examined: of one segment, or of a perf.data as a whole. */
struct pug_subject {
    struct pug_capture *capture;
    size_t segment;
    struct pug_tree *tree;
    const struct pug_diagnosis *evidence;
    const struct pug_signs *signs;
    const uint8_t *trace;
    uint64_t size;  /**< bytes at `trace`: of a stream its beginning may be left */
    uint64_t whole; /**< all bytes of it */
    bool empty;     /**< the capture has no byte of trace at all */
    bool partial;   /**< only the beginning was decoded */
    bool narrow;    /**< only a part was looked at */
    bool bare;      /**< the reference's defects are imitated: they contradict the program */
    const uint16_t *wanted;         /**< the chosen sources … */
    size_t wanted_count;            /**< … 0: all */
    const struct pug_settings *set; /**< settings that a user gave; or NULL */
    /** To open it once more, with other settings; NULL: none are tried. */
    const struct pug_capture_options *options;
};

/** Was this source chosen? */
bool pug_subject_wants(const struct pug_subject *subject, uint16_t id);
/** The evidence about a source; NULL: none. */
const struct pug_evidence *pug_subject_evidence(const struct pug_subject *subject, uint16_t id);
/** The survey's entry of a source; NULL: none. */
const struct pug_survey_id *pug_survey_find(const struct pug_survey *survey, uint16_t id);

/** Examines a decoding of a segment. */
void pug_examine(const struct pug_subject *subject, struct pug_findings *findings);
/** Examines packets alone, of sources that nothing decodes. */
void pug_examine_packets(const struct pug_subject *subject, struct pug_findings *findings);
/** Was nothing decoded of any source? */
bool pug_subject_is_silent(const struct pug_subject *subject);

/** Decodes the first `most` bytes of a perf.data, and examines its programs. */
enum pug_status pug_examine_programs(struct pug_subject *subject, unsigned threads,
                                     const struct pug_capture_selection *selection, uint64_t most,
                                     struct pug_findings *findings);

/** How bytes are turned round, for printf(): the width of a word, twice. */
#define PUG_GUESS_TURNED                                                                           \
    "with the bytes of each word of %u turned round (objcopy -I binary -O binary "                 \
    "--reverse-bytes=%u)"

/** Adds guesses about bytes without a description, at most `most`. */
void pug_find_guesses(const struct pug_subject *subject, size_t most,
                      struct pug_findings *findings);
/**
 * pug_guess_format() of bytes that look like nothing, as if each word of *width of them, 2, 4 or 8,
 * had been written in the other order: how many guesses there are.
 */
size_t pug_guess_turned(const uint8_t *bytes, size_t size, struct pug_guess guesses[PUG_GUESSES],
                        unsigned *width);

/* ---- steps of an examination ---- */

/** Adds that undefined instructions ran, if some did. */
void pug_find_undefined(const struct pug_evidence *evidence, struct pug_findings *findings);
/** Adds how many branches agree with the program. */
void pug_find_agreement(const struct pug_subject *subject, struct pug_findings *findings);
/** Adds a contradiction of program and trace, if there is one. `several`: of one of many programs.
 */
bool pug_find_mismatch(const struct pug_evidence *evidence, bool several,
                       struct pug_findings *findings);

/** Adds that a source has bytes, but no place where decoding can begin. */
void pug_find_no_sync(const struct pug_source *source, uint64_t bytes,
                      struct pug_findings *findings);
/** Adds that a source, perhaps with others, has no bytes. */
void pug_find_no_bytes(const struct pug_subject *subject, const struct pug_survey *survey,
                       uint16_t first, bool more, struct pug_findings *findings);
/** Fills a finding's places with the ids of a trace, and their bytes. */
void pug_find_ids(const struct pug_subject *subject, const struct pug_survey *survey,
                  struct pug_finding *finding);
/** Adds sources that are silent. *poor: little could be decoded of one. True: all are silent. */
bool pug_find_silence(const struct pug_subject *subject, const struct pug_survey *survey,
                      bool *poor, struct pug_findings *findings);
/** Adds bytes without a source, and bad packets. */
void pug_find_bytes(const struct pug_subject *subject, const struct pug_survey *survey,
                    struct pug_findings *findings);
/** Adds what the bytes look like, if they were taken for something else. */
void pug_find_likeness(const struct pug_subject *subject, bool nothing,
                       struct pug_findings *findings);

/** May a source's trace id be wrong: has it no byte, and are bytes of unknown ids there? */
bool pug_subject_has_strays(const struct pug_subject *subject);
/** Adds sources whose trace seems to have another id. */
void pug_find_strays(const struct pug_subject *subject, const struct pug_survey *survey,
                     struct pug_findings *findings);

/** Adds settings with which trace and program agree. False: none was found. */
bool pug_find_settings(const struct pug_subject *subject, const struct pug_survey *survey,
                       struct pug_findings *findings);

/**
 * Does a source's protocol have parameters that the settings do not give? Then `names` has them,
 * each after a blank.
 */
bool pug_lacks_parameters(const struct pug_capture *capture, uint32_t id, char *names, size_t size);

/* ---- evidence as a consumer ---- */

/** What of a trace is evidence. */
struct pug_evidence_taker {
    struct pug_diagnosis *diagnosis;
    bool narrow; /**< only elements of [from, to) are evidence */
    uint64_t from, to;
};

/** The consumer that collects evidence. The taker stays as long as the pass. */
struct pug_consumer pug_evidence_consumer(struct pug_evidence_taker *taker);

#endif
