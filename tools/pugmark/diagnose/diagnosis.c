// SPDX-License-Identifier: MIT
#include "diagnosis.h"

#include "common/messages.h"
#include "common/said.h"
#include "diagnose/findings.h"
#include "input/input_private.h"

#include <stdlib.h>

struct diagnosis {
    struct input *input;
    struct pug_evidence_taker taker;
    struct pug_diagnosis_part *own; /**< of elements that diagnosis_add() gets */
    bool concluded;
};

struct diagnosis *diagnosis_new(struct input *input)
{
    struct diagnosis *diagnosis = calloc(1, sizeof(*diagnosis));
    if (!diagnosis)
        return NULL;
    diagnosis->input = input;
    diagnosis->taker.diagnosis = pug_diagnosis_new(pug_tree_image(input->tree));
    if (!diagnosis->taker.diagnosis) {
        free(diagnosis);
        return NULL;
    }
    return diagnosis;
}

void diagnosis_free(struct diagnosis *diagnosis)
{
    if (!diagnosis)
        return;
    pug_diagnosis_drop(diagnosis->own);
    pug_diagnosis_free(diagnosis->taker.diagnosis);
    free(diagnosis);
}

struct pug_consumer diagnosis_consumer(struct diagnosis *diagnosis)
{
    const struct input *input = diagnosis->input;
    diagnosis->taker.narrow = input->narrow;
    diagnosis->taker.from = input->narrow_from;
    diagnosis->taker.to = input->narrow_to;
    return pug_evidence_consumer(&diagnosis->taker);
}

void diagnosis_add(struct diagnosis *diagnosis, const struct pug_element *element)
{
    if (!diagnosis->own)
        diagnosis->own = pug_diagnosis_begin(diagnosis->taker.diagnosis);
    if (diagnosis->own)
        pug_diagnosis_elements(diagnosis->own, element, 1);
}

/* ---- sentences ---- */

/** The longest sentence: one with the paths of files. */
#define SENTENCE 4096

static void say_finding(const struct input *input, const struct pug_finding *finding, bool first)
{
    char line[SENTENCE];
    const bool whole = pug_finding_text(finding, line, sizeof(line)) < sizeof(line);
    if (finding->about != PUG_FINDING_WRONG) {
        message_say("pugmark: %s: %s\n", input->trace_path, line);
        return;
    }
    if (first)
        message_say("pugmark: %s: something is wrong:\n", input->trace_path);
    message_say("  * ");
    message_say("%s", line); /* names from files steer no terminal, and end no line */
    message_say(whole ? "\n" : " …\n");
}

/** Gives a finding to the listener, if there is one: a page says the same. */
static void tell_listener(const struct pug_finding *finding)
{
    static const enum said_about abouts[] = {[PUG_FINDING_WRONG] = SAID_WRONG,
                                             [PUG_FINDING_LOST] = SAID_LOST,
                                             [PUG_FINDING_NOTE] = SAID_WRONG,
                                             [PUG_FINDING_CHECKED] = SAID_CHECKED};
    char line[SENTENCE];
    (void)pug_finding_text(finding, line, sizeof(line));
    said(abouts[finding->about], "%s", line);
}

/** Says all findings, unless `quiet`. True: something is wrong. */
static bool say_findings(const struct input *input, const struct pug_findings *findings, bool quiet)
{
    const struct pug_finding *finding;
    bool wrong = false;
    for (size_t n = 0; (finding = pug_finding_at(findings, n)) != NULL; n++) {
        if (said_heard())
            tell_listener(finding);
        if (!quiet && finding->about != PUG_FINDING_CHECKED)
            say_finding(input, finding, !wrong);
        wrong |= finding->about == PUG_FINDING_WRONG;
    }
    return wrong;
}

/* ---- examinations ---- */

/** The decoding at hand, without evidence. `options`: filled in, if settings may be tried. */
static struct pug_subject subject_of(const struct input *input, bool quiet,
                                     struct pug_capture_options *options)
{
    *options = input_capture_options(input);
    return (struct pug_subject){
        .capture = input->capture,
        .segment = input->segment,
        .tree = input->tree,
        .signs = &input->messages.signs,
        .trace = input->trace,
        .size = input->trace_size,
        .whole = input->trace_whole,
        .empty = input_bytes(input) == 0,
        .partial = input->partial,
        .narrow = input->narrow,
        .bare = input->options->reference != NULL,
        .wanted = input->lists.sources,
        .wanted_count = input->options->sources.count,
        .set = &options->settings,
        .options = quiet && !said_heard() ? NULL : options,
    };
}

typedef void examine_fn(const struct pug_subject *subject, struct pug_findings *findings);

static bool conclude(struct diagnosis *diagnosis, bool quiet, examine_fn *examine)
{
    struct pug_capture_options options;
    struct pug_findings findings = {0};
    if (diagnosis->own)
        pug_diagnosis_take(diagnosis->taker.diagnosis, diagnosis->own);
    diagnosis->own = NULL;
    if (diagnosis->concluded)
        return false;
    diagnosis->concluded = true;
    struct pug_subject subject = subject_of(diagnosis->input, quiet, &options);
    subject.evidence = diagnosis->taker.diagnosis;
    examine(&subject, &findings);
    const bool wrong = say_findings(diagnosis->input, &findings, quiet);
    pug_findings_clear(&findings);
    return wrong;
}

bool diagnosis_conclude(struct diagnosis *diagnosis, bool quiet)
{
    return conclude(diagnosis, quiet, pug_examine);
}

bool diagnosis_conclude_packets(struct diagnosis *diagnosis, bool quiet)
{
    return conclude(diagnosis, quiet, pug_examine_packets);
}

bool diagnosis_is_silent(const struct diagnosis *diagnosis)
{
    return pug_subject_is_silent(&(struct pug_subject){.evidence = diagnosis->taker.diagnosis});
}

bool diagnosis_of_programs(struct input *input, uint64_t most)
{
    struct pug_capture_options options;
    struct pug_findings findings = {0};
    struct pug_subject subject = subject_of(input, input->options->quiet, &options);
    subject.whole = input_bytes(input);
    subject.partial = most < subject.whole;
    (void)pug_examine_programs(&subject, input_jobs(input), &input->lists.selection, most,
                               &findings);
    const bool wrong = say_findings(input, &findings, input->options->quiet);
    pug_findings_clear(&findings);
    return wrong;
}

void diagnosis_guess(const struct input *input)
{
    struct pug_capture_options options;
    struct pug_findings findings = {0};
    const struct pug_subject subject = subject_of(input, false, &options);
    const struct pug_finding *finding;
    char line[SENTENCE];
    pug_find_guesses(&subject, 3, &findings);
    for (size_t n = 0; (finding = pug_finding_at(&findings, n)) != NULL; n++) {
        (void)pug_finding_text(finding, line, sizeof(line));
        message_say("  * %s\n", line);
    }
    pug_findings_clear(&findings);
}
