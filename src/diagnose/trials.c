// SPDX-License-Identifier: MIT
/**
 * @file Settings that may be wrong: the width of a field costs little more than a program that does
 * not fit. Each doubt of a protocol (author/description.h) gets another value, one at a time, and
 * the beginning of the trace is decoded with it.
 */
#include "diagnose/findings.h"

#include "pugmark/advanced/snapshot.h"
#include "pugmark/author/protocol.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* So much is decoded each time, … */
#define TRIAL_MOST (UINT64_C(256) << 10)
/* … of a trace that is not longer than this: to open one takes the longer, the longer it is. */
#define TRIAL_TRACE (UINT64_C(16) << 20)

/* With another setting so many times less has to be wrong. */
#define WRONG_TIMES 8u

/* It has to be in so many places of so many. */
#define PLACES_LEAST 3u
#define SLICES       8u

/* Most settings that do equally well and are reported. */
#define TOLD_MOST 4u

/** How well the trace decodes. */
struct trial {
    uint64_t wrong;  /* contradictions, missing memory, bad packets */
    uint64_t ranges; /* of instructions that ran */
    unsigned places; /* slices of the trace in which something is wrong */
};

/** A setting that may be wrong, of all sources or of one. */
struct doubt {
    const struct pug_doubt *doubt;
    const char *device; /* NULL: all */
    uint16_t id;        /* of the one */
    uint64_t now;       /* its present value, where it has other bits */
    char name[96];      /* as --set has it */
};

struct trials {
    const struct pug_subject *subject;
    struct trial now;       /* with the settings as they are */
    struct trial as_set[2]; /* the same, of all sources and of the one */
    bool told[2];           /* is that measured? */
    struct {
        struct trial trial;
        const char *what;
        char setting[160];
    } best[TOLD_MOST];
    size_t count;
};

/* ---- one trial ---- */

static enum pug_response take_elements(void *part, const struct pug_element *elements, size_t count,
                                       size_t *taken)
{
    pug_diagnosis_elements(part, elements, count);
    *taken = count;
    return PUG_RESP_CONT;
}

/** The faults since the last call. */
static struct trial measure(const struct pug_subject *subject, struct pug_tree *tree,
                            const struct pug_diagnosis *evidence, const struct doubt *doubt)
{
    const struct pug_evidence *of;
    struct pug_source *source;
    struct trial trial = {0};
    for (size_t n = 0; pug_diagnosis_evidence(evidence, n, &of); n++) {
        if (doubt->device ? of->source != doubt->id : !pug_subject_wants(subject, of->source))
            continue;
        trial.wrong += pug_evidence_contradictions(of) + of->missing;
        trial.ranges += of->looked;
    }
    for (size_t n = 0; (source = pug_tree_source_at(tree, n)) != NULL; n++) {
        const struct pug_reader_stats *stats = pug_source_stats(source);
        if (!doubt->device || pug_source_id(source) == doubt->id)
            trial.wrong += stats->bad_headers + stats->bad_sequences;
        pug_source_reset_stats(source);
    }
    return trial;
}

/** The next slice of the trace: what is wrong in it is added. False: no memory. */
static bool decode_slice(const struct pug_subject *subject, struct pug_tree *tree,
                         const struct doubt *doubt, uint64_t *at, uint64_t end, struct trial *trial)
{
    struct pug_diagnosis *evidence = pug_diagnosis_new(pug_tree_image(tree));
    struct pug_diagnosis_part *part = evidence ? pug_diagnosis_begin(evidence) : NULL;
    if (part) {
        pug_tree_on_elements(tree, take_elements, part);
        (void)pug_tree_feed(tree, subject->trace, at, end);
        pug_tree_on_elements(tree, NULL, NULL);
        pug_diagnosis_take(evidence, part);
        const struct trial slice = measure(subject, tree, evidence, doubt);
        trial->wrong += slice.wrong;
        trial->ranges += slice.ranges;
        trial->places += slice.wrong > 0;
    }
    pug_diagnosis_free(evidence);
    return part != NULL;
}

static bool decode(const struct pug_subject *subject, struct pug_tree *tree,
                   const struct doubt *doubt, struct trial *trial)
{
    const uint64_t most = subject->size < TRIAL_MOST ? subject->size : TRIAL_MOST;
    bool good = true;
    uint64_t at = 0;
    *trial = (struct trial){0};
    for (unsigned i = 1; good && i <= SLICES; i++)
        good = decode_slice(subject, tree, doubt, &at, most * i / SLICES, trial);
    return good;
}

/** Decode with one more setting, before all others; NULL: as they are. False: it cannot be. */
static bool try_setting(const struct pug_subject *subject, const struct doubt *doubt,
                        const struct pug_setting *setting, struct trial *trial)
{
    struct pug_capture_options options = *subject->options;
    struct pug_setting *items = calloc(subject->set->count + 1, sizeof(*items));
    struct pug_capture *capture = NULL;
    struct pug_tree *tree;
    size_t count = 0;
    bool good = false;
    if (!items)
        return false;
    if (setting)
        items[count++] = *setting;
    if (subject->set->count > 0)
        memcpy(items + count, subject->set->items, subject->set->count * sizeof(*items));
    options.settings = (struct pug_settings){.items = items, .count = count + subject->set->count};
    options.log = NULL;
    options.peers = NULL;
    if (pug_capture_open(pug_capture_path(subject->capture), &options, &capture) == PUG_OK &&
        pug_capture_tree(capture, subject->segment, true, NULL, &tree) == PUG_OK) {
        good = decode(subject, tree, doubt, trial);
        pug_tree_free(tree);
    }
    pug_capture_free(capture);
    free(items);
    return good;
}

/* ---- the best ones ---- */

static void note(struct trials *trials, const struct trial *trial, const struct doubt *doubt,
                 uint64_t value)
{
    /* Where trace is damaged something is wrong, too, but here and there; where the decoder gave up
     * soon, there is more to come. Of what is wrong some are ranges that never ran. */
    const uint64_t least = trials->now.places < PLACES_LEAST
                               ? trials->now.ranges * 2
                               : trials->now.ranges - trials->now.ranges / 16;
    if (trial->wrong * WRONG_TIMES > trials->now.wrong || trial->ranges == 0 ||
        trial->ranges < least)
        return;
    if (trials->count > 0 && trial->wrong > trials->best[0].trial.wrong)
        return;
    if (trials->count > 0 && (trial->wrong < trials->best[0].trial.wrong ||
                              trial->ranges > trials->best[0].trial.ranges))
        trials->count = 0;
    if (trials->count == TOLD_MOST ||
        (trials->count > 0 && trial->ranges < trials->best[0].trial.ranges))
        return;
    trials->best[trials->count].trial = *trial;
    trials->best[trials->count].what = doubt->doubt->what;
    snprintf(trials->best[trials->count++].setting, sizeof(trials->best[0].setting),
             doubt->doubt->bits == UINT64_MAX ? "%s=%" PRIu64 : "%s=0x%" PRIx64, doubt->name,
             value);
}

static void try_values(struct trials *trials, const struct doubt *doubt)
{
    const struct pug_subject *subject = trials->subject;
    for (unsigned i = 0; i < doubt->doubt->count; i++) {
        const uint64_t value = (doubt->now & ~doubt->doubt->bits) | doubt->doubt->values[i];
        const struct pug_setting setting = {.name = doubt->name, .value = value};
        struct trial trial;
        if (try_setting(subject, doubt, &setting, &trial))
            note(trials, &trial, doubt, value);
    }
}

/* ---- doubts ---- */

/** False: it is no number, as C writes one. */
static bool parse_number(const char *text, uint64_t *value)
{
    char *end;
    *value = strtoull(text, &end, 0);
    return end > text && *end == '\0' && *text != '-';
}

/** A register of a snapshot's device, which has a number; false: there is none. */
static bool find_register(const struct pug_snapshot_device *device, const char *name,
                          uint64_t *value)
{
    for (size_t i = 0; i < device->register_count; i++)
        if (strcmp(device->registers[i].name, name) == 0)
            return parse_number(device->registers[i].value, value);
    return false;
}

/** Find the value that --set gives; false: none. */
static bool find_set(const struct pug_subject *subject, const char *name, uint64_t *value)
{
    for (size_t i = 0; i < subject->set->count; i++) {
        if (strcmp(subject->set->items[i].name, name) != 0 || subject->set->items[i].text)
            continue;
        *value = subject->set->items[i].value;
        return true;
    }
    return false;
}

/** Of a register some bits are another's: its value is needed, and each device has its own. */
static bool complete(const struct pug_subject *subject, struct doubt *doubt)
{
    const struct pug_snapshot *snapshot = pug_capture_snapshot(subject->capture);
    const struct pug_snapshot_device *device;
    if (doubt->doubt->bits == UINT64_MAX || !snapshot) {
        doubt->device = NULL;
        snprintf(doubt->name, sizeof(doubt->name), "%s", doubt->doubt->setting);
        return doubt->doubt->bits == UINT64_MAX ||
               find_set(subject, doubt->doubt->setting, &doubt->now);
    }
    device = pug_snapshot_device(snapshot, doubt->device);
    snprintf(doubt->name, sizeof(doubt->name), "%s:%s", doubt->device, doubt->doubt->setting);
    return device && (find_set(subject, doubt->name, &doubt->now) ||
                      find_set(subject, doubt->doubt->setting, &doubt->now) ||
                      find_register(device, doubt->doubt->setting, &doubt->now));
}

/** How well it decodes as it is, which is measured once. False: it does not. */
static bool try_now(struct trials *trials, const struct doubt *doubt)
{
    const bool one = doubt->device != NULL;
    trials->told[one] =
        trials->told[one] || try_setting(trials->subject, doubt, NULL, &trials->as_set[one]);
    trials->now = trials->as_set[one];
    return trials->told[one];
}

static void try_source(struct trials *trials, const struct pug_capture_source *source)
{
    const struct pug_subject *subject = trials->subject;
    const struct pug_protocol *protocol = pug_protocol_find(source->protocol);
    const struct pug_doubt *at =
        protocol && protocol->description ? protocol->description->doubts : NULL;
    for (; at && at->setting; at++) {
        struct doubt doubt = {.doubt = at, .device = source->name, .id = source->id};
        if (complete(subject, &doubt) && try_now(trials, &doubt) && trials->now.wrong > 0)
            try_values(trials, &doubt);
    }
}

/** The source that most is wrong with; NULL: there is none. */
static const struct pug_capture_source *worst_source(const struct pug_subject *subject,
                                                     const struct pug_survey *survey)
{
    const uint32_t buffer = pug_capture_segment_at(subject->capture, subject->segment)->buffer;
    const struct pug_capture_source *source, *worst = NULL;
    uint64_t most = 0;
    for (size_t n = 0; (source = pug_capture_source_at(subject->capture, n)) != NULL; n++) {
        const struct pug_evidence *evidence = pug_subject_evidence(subject, source->id);
        const struct pug_survey_id *id = pug_survey_find(survey, source->id);
        const uint64_t wrong =
            (evidence ? pug_evidence_contradictions(evidence) + evidence->missing : 0) +
            (id ? id->bad : 0);
        if (source->buffer != buffer || !pug_subject_wants(subject, source->id) || wrong <= most)
            continue;
        worst = source;
        most = wrong;
    }
    return worst;
}

bool pug_find_settings(const struct pug_subject *subject, const struct pug_survey *survey,
                       struct pug_findings *findings)
{
    const enum pug_capture_kind kind = pug_capture_kind(subject->capture);
    const struct pug_capture_source *source;
    struct trials trials = {.subject = subject};
    if (!subject->options || subject->size > TRIAL_TRACE ||
        (kind != PUG_CAPTURE_SNAPSHOT && kind != PUG_CAPTURE_RAW) ||
        !(source = worst_source(subject, survey)))
        return false;
    try_source(&trials, source);
    for (size_t i = 0; i < trials.count; i++)
        PUG_FIND(findings, PUG_FINDING_TRIED, .several = i > 0, .name = trials.best[i].setting,
                 .words = trials.best[i].what);
    return trials.count > 0;
}
