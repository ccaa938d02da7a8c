// SPDX-License-Identifier: MIT
/** @file Decodes a capture and examines it, segment by segment. */
#include "diagnose/findings.h"

#include "pugmark/advanced/jobs.h"

#include <stdlib.h>

static void take_record(void *context, const struct pug_log_record *record)
{
    pug_signs_take(context, record);
}

/** Reads a segment into memory, if it is not there anyhow. *copy: for the caller to free. */
static const uint8_t *read_segment(struct pug_subject *subject, uint8_t **copy)
{
    const struct pug_capture_segment *segment =
        pug_capture_segment_at(subject->capture, subject->segment);
    const uint8_t *bytes = pug_capture_memory(subject->capture, subject->segment);
    enum pug_status status;
    subject->size = subject->whole = segment->size;
    if (bytes || !(*copy = malloc(segment->size ? (size_t)segment->size : 1)))
        return bytes;
    subject->size = subject->whole = pug_capture_bytes(subject->capture, subject->segment, 0, *copy,
                                                       (size_t)segment->size, &status);
    return *copy;
}

/** Decodes a segment with its tree, and examines what comes of it. */
static enum pug_status examine_tree(struct pug_subject *subject,
                                    const struct pug_diagnose_options *options,
                                    struct pug_findings *findings)
{
    struct pug_evidence_taker taker = {.diagnosis =
                                           pug_diagnosis_new(pug_tree_image(subject->tree))};
    const struct pug_consumer consumer = pug_evidence_consumer(&taker);
    const struct pug_jobs jobs = {
        .threads = options->threads, .consumers = &consumer, .consumer_count = 1};
    struct pug_jobs_result result;
    if (!taker.diagnosis)
        return PUG_ERR_MEM;
    if (options->most && options->most < subject->size) {
        subject->size = subject->whole = options->most;
        subject->partial = true;
    }
    subject->evidence = taker.diagnosis;
    const enum pug_status status =
        pug_tree_decode(subject->tree, &jobs, subject->trace, (size_t)subject->size, &result);
    if (status == PUG_OK)
        pug_examine(subject, findings);
    pug_diagnosis_free(taker.diagnosis);
    return status;
}

/** A segment without a decoder gives guesses about its bytes. */
static enum pug_status examine_segment(struct pug_subject subject,
                                       const struct pug_diagnose_options *options,
                                       struct pug_findings *findings)
{
    struct pug_signs signs = {0};
    struct pug_log *log = pug_log_new(PUG_SEV_INFO);
    uint8_t *copy = NULL;
    if (!log)
        return PUG_ERR_MEM;
    pug_log_set_sink(log, take_record, &signs);
    subject.signs = &signs;
    subject.trace = read_segment(&subject, &copy);
    enum pug_status status = PUG_ERR_MEM;
    if (subject.trace || subject.size == 0)
        status = pug_capture_tree(subject.capture, subject.segment, true, log, &subject.tree);
    if (status == PUG_OK) {
        signs = (struct pug_signs){0};
        status = examine_tree(&subject, options, findings);
        pug_tree_free(subject.tree);
    } else if (status != PUG_ERR_MEM) {
        pug_find_guesses(&subject, 3, findings);
        status = PUG_OK;
    }
    free(copy);
    pug_log_free(log);
    return status;
}

static uint64_t bytes_of(const struct pug_capture *capture)
{
    const struct pug_capture_segment *segment;
    uint64_t bytes = 0;
    for (size_t n = 0; (segment = pug_capture_segment_at(capture, n)) != NULL; n++)
        bytes += segment->size;
    return bytes;
}

static enum pug_status examine(struct pug_subject *subject,
                               const struct pug_diagnose_options *options,
                               struct pug_findings *findings)
{
    static const struct pug_capture_selection all;
    enum pug_status status = PUG_OK;
    if (pug_capture_kind(subject->capture) == PUG_CAPTURE_PERF) {
        subject->whole = bytes_of(subject->capture);
        subject->partial = options->most > 0 && options->most < subject->whole;
        return pug_examine_programs(subject, options->threads, &all, options->most, findings);
    }
    for (size_t n = 0; status == PUG_OK && pug_capture_segment_at(subject->capture, n); n++) {
        subject->segment = findings->segment = (uint32_t)n;
        status = examine_segment(*subject, options, findings);
    }
    return status;
}

enum pug_status pug_capture_diagnose(struct pug_capture *capture,
                                     const struct pug_diagnose_options *options,
                                     struct pug_findings **findings)
{
    static const struct pug_diagnose_options usual;
    if (!capture || !findings || pug_capture_is_live(capture))
        return PUG_ERR_INVALID_PARAM_VAL;
    options = options ? options : &usual;
    struct pug_subject subject = {.capture = capture,
                                  .empty = bytes_of(capture) == 0,
                                  .bare = options->opened && options->opened->quirks,
                                  .wanted = options->opened ? options->opened->wanted : NULL,
                                  .wanted_count =
                                      options->opened ? options->opened->wanted_count : 0,
                                  .set = options->opened ? &options->opened->settings : NULL,
                                  .options = options->opened};
    struct pug_findings *found = pug_findings_new();
    if (!found)
        return PUG_ERR_MEM;
    const enum pug_status status = examine(&subject, options, found);
    if (status == PUG_OK && !found->failed) {
        *findings = found;
        return PUG_OK;
    }
    pug_findings_free(found);
    return status == PUG_OK ? PUG_ERR_MEM : status;
}
