// SPDX-License-Identifier: MIT
/** @file Examines a decoding: which findings its evidence, its messages and its bytes give. */
#include "diagnose/findings.h"

#include "pugmark/author/protocol.h"

#include <stdlib.h>
#include <string.h>

/* ---- the subject ---- */

bool pug_subject_wants(const struct pug_subject *subject, uint16_t id)
{
    for (size_t i = 0; i < subject->wanted_count; i++)
        if (subject->wanted[i] == id)
            return true;
    return subject->wanted_count == 0;
}

const struct pug_evidence *pug_subject_evidence(const struct pug_subject *subject, uint16_t id)
{
    const struct pug_evidence *evidence;
    for (size_t n = 0; pug_diagnosis_evidence(subject->evidence, n, &evidence); n++)
        if (evidence->source == id)
            return evidence;
    return NULL;
}

const struct pug_survey_id *pug_survey_find(const struct pug_survey *survey, uint16_t id)
{
    for (size_t i = 0; i < survey->id_count; i++)
        if (survey->ids[i].id == id)
            return &survey->ids[i];
    return NULL;
}

bool pug_subject_is_silent(const struct pug_subject *subject)
{
    const struct pug_evidence *evidence;
    for (size_t n = 0; pug_diagnosis_evidence(subject->evidence, n, &evidence); n++)
        if (evidence->told > 0)
            return false;
    return true;
}

/* ---- the program ---- */

bool pug_find_mismatch(const struct pug_evidence *evidence, bool several,
                       struct pug_findings *findings)
{
    const uint64_t count = pug_evidence_contradictions(evidence);
    if (count == 0)
        return false;
    const enum pug_contradiction kind = pug_evidence_first(evidence);
    PUG_FIND(findings, PUG_FINDING_PROGRAM, .source = evidence->source, .count = count,
             .total = evidence->branches, .index = evidence->first[kind].index,
             .address = evidence->first[kind].address, .contradiction = kind, .several = several);
    return true;
}

/** Adds what an answer rests on. It is no mistake of anybody's. */
static void find_loss(const struct pug_evidence *evidence, struct pug_findings *findings)
{
    if (evidence->no_syncs + evidence->overflows > 0)
        PUG_FIND(findings, PUG_FINDING_LOSS, .about = PUG_FINDING_LOST, .source = evidence->source,
                 .count = evidence->overflows, .total = evidence->no_syncs);
}

void pug_find_undefined(const struct pug_evidence *evidence, struct pug_findings *findings)
{
    /* if the program is another one all the same, that is found */
    if (evidence->undefined == 0 || pug_evidence_contradictions(evidence) > 0)
        return;
    PUG_FIND(findings, PUG_FINDING_UNDEFINED, .about = PUG_FINDING_NOTE, .source = evidence->source,
             .count = evidence->undefined, .index = evidence->first_undefined.index,
             .address = evidence->first_undefined.address,
             .opcode = evidence->first_undefined.opcode);
}

void pug_find_agreement(const struct pug_subject *subject, struct pug_findings *findings)
{
    const struct pug_evidence *evidence;
    for (size_t n = 0; pug_diagnosis_evidence(subject->evidence, n, &evidence); n++)
        if (pug_subject_wants(subject, evidence->source) && evidence->branches > 0 &&
            evidence->missing == 0 && pug_evidence_contradictions(evidence) == 0)
            PUG_FIND(findings, PUG_FINDING_AGREES, .about = PUG_FINDING_CHECKED,
                     .source = evidence->source, .count = evidence->branches,
                     .cut = subject->partial);
}

/* ---- missing memory ---- */

#define PAGE UINT64_C(0x1000)

/* Most ranges of missing memory that a finding lists. */
#define MISSING_MOST 5u

static int by_address(const void *a, const void *b)
{
    const struct pug_finding_place *left = a, *right = b;
    return left->first < right->first ? -1 : left->first > right->first;
}

static int by_count(const void *a, const void *b)
{
    const struct pug_finding_place *left = a, *right = b;
    return left->count > right->count ? -1 : left->count < right->count;
}

/** Pages that are neighbours, or nearly, are one; the most frequent first. */
static size_t join_pages(const struct pug_evidence *evidence, struct pug_finding_place *out)
{
    size_t count = 0;
    struct pug_finding_place pages[PUG_MISSING_PAGES];
    for (uint32_t i = 0; i < evidence->page_count; i++)
        pages[i] = (struct pug_finding_place){.first = evidence->pages[i].address,
                                              .last = evidence->pages[i].address + (PAGE - 1),
                                              .count = evidence->pages[i].count};
    qsort(pages, evidence->page_count, sizeof(pages[0]), by_address);
    for (uint32_t i = 0; i < evidence->page_count; i++) {
        if (count > 0 && pages[i].first - out[count - 1].last <= 16 * PAGE) {
            out[count - 1].last = pages[i].last;
            out[count - 1].count += pages[i].count;
        } else {
            out[count++] = pages[i];
        }
    }
    qsort(out, count, sizeof(out[0]), by_count);
    return count;
}

static void find_missing(const struct pug_subject *subject, const struct pug_evidence *evidence,
                         struct pug_findings *findings)
{
    struct pug_finding_place places[PUG_MISSING_PAGES];
    char names[512];
    if (evidence->missing == 0)
        return;
    if (pug_lacks_parameters(subject->capture, evidence->source, names, sizeof(names))) {
        PUG_FIND(findings, PUG_FINDING_PARAMETERS, .source = evidence->source,
                 .count = evidence->missing, .name = names);
        return;
    }
    const size_t count = join_pages(evidence, places);
    struct pug_finding finding = {.code = PUG_FINDING_MEMORY,
                                  .source = evidence->source,
                                  .count = evidence->missing,
                                  .place_count = count < MISSING_MOST ? count : MISSING_MOST,
                                  .cut = count > MISSING_MOST};
    memcpy(finding.places, places, finding.place_count * sizeof(*places));
    pug_findings_add(findings, &finding);
}

/* ---- settings ---- */

/* So often trace and settings have to contradict each other, and so often in a hundred branches. */
#define MISSET_LEAST   8u
#define MISSET_PERCENT 1u
/* So many times as often as trace and program do: what is lost lets some be followed wrongly. */
#define MISSET_TIMES 16u

/**
 * What shows that a source is set up in another way. Damaged trace, and another program, would have
 * some, too: there trace and program contradict each other, memory is missing more often, or
 * returns come that would be left out.
 */
static const struct pug_misset *misset_of(const struct pug_subject *subject,
                                          const struct pug_evidence *evidence)
{
    const struct pug_signs *signs = subject->signs;
    uint64_t others = 0;
    for (unsigned kind = 0; kind < PUG_CONTRA_UNTOLD; kind++) /* the later kinds follow from it */
        others += evidence->counts[kind];
    for (size_t i = 0; i < signs->misset_count; i++) {
        const struct pug_misset *misset = &signs->missets[i];
        if (misset->source == evidence->source && misset->looked >= MISSET_LEAST &&
            misset->looked * 100 >= evidence->branches * MISSET_PERCENT &&
            misset->looked >= others * MISSET_TIMES &&
            misset->looked >= 2 * (uint64_t)evidence->told_returns &&
            misset->count * 8 >= evidence->missing)
            return misset;
    }
    return NULL;
}

/* ---- a survey ---- */

/* So much of a capture is read again to see what is wrong with it. */
#define SURVEY_MOST (UINT64_C(64) << 20)

/** The whole stream's numbers, which its one reader has, in place of those of its beginning. */
static void survey_run(const struct pug_subject *subject, struct pug_survey *survey)
{
    survey->bytes = subject->whole;
    survey->transport = *pug_tree_transport_stats(subject->tree);
    for (size_t i = 0; i < survey->id_count; i++) {
        struct pug_survey_id *id = &survey->ids[i];
        const struct pug_source *source;
        for (size_t n = 0; (source = pug_tree_source_at(subject->tree, n)) != NULL; n++) {
            const struct pug_reader_stats *stats = pug_source_stats(source);
            if (!id->described || pug_source_id(source) != id->id)
                continue;
            id->bytes = stats->bytes;
            id->unsynced = stats->unsynced;
            id->bad = stats->bad_headers + stats->bad_sequences;
        }
    }
}

/** Whose bytes the trace at hand has, up to so many of them. False: no memory. */
static bool survey_trace(const struct pug_subject *subject, uint64_t most,
                         struct pug_survey *survey)
{
    if (!subject->trace ||
        pug_survey_capture(subject->tree, subject->trace, subject->whole,
                           most < subject->size ? most : subject->size, survey) != PUG_OK)
        return false;
    if (subject->whole > subject->size)
        survey_run(subject, survey);
    return true;
}

/* ---- suspicion ---- */

/* A bad packet in so many bytes is many. */
#define BAD_MANY 1000u

/**
 * Does the trace end where nothing ends? In frames sources may stop inside a packet, not frames
 * inside themselves; what has no frames ends with a packet.
 */
static bool is_cut(const struct pug_subject *subject)
{
    if (subject->partial)
        return false;
    const char *transport = pug_transport_name(pug_tree_transport(subject->tree));
    return (strcmp(transport, "coresight") == 0 ? subject->signs->frames_cut
                                                : subject->signs->cut) > 0;
}

/** Without ranges (CTM) only messages show that the program is another one. */
static bool is_misfit(const struct pug_subject *subject)
{
    const struct pug_evidence *evidence;
    for (size_t n = 0; pug_diagnosis_evidence(subject->evidence, n, &evidence); n++)
        if (evidence->looked > 0)
            return false;
    return subject->signs->misfits > 0;
}

static bool decodes(const struct pug_subject *subject)
{
    const struct pug_source *source;
    for (size_t n = 0; (source = pug_tree_source_at(subject->tree, n)) != NULL; n++)
        if (pug_source_decodes(source))
            return true;
    return false;
}

/** Is a chosen source silent, or are all of them? */
static bool is_quiet(const struct pug_subject *subject)
{
    const struct pug_source *source;
    size_t asked = 0, silent = 0;
    for (size_t n = 0; (source = pug_tree_source_at(subject->tree, n)) != NULL; n++) {
        const struct pug_evidence *evidence = pug_subject_evidence(subject, pug_source_id(source));
        if (!pug_source_decodes(source) || !pug_subject_wants(subject, pug_source_id(source)))
            continue;
        asked++;
        silent += !evidence || evidence->told == 0;
    }
    return silent > 0 && (silent == asked || subject->wanted_count > 0);
}

/** Is anything to be found? */
static bool is_suspicious(const struct pug_subject *subject)
{
    const struct pug_evidence *evidence;
    if (!subject->bare &&
        (subject->signs->bad_packets > 0 || is_misfit(subject) || is_cut(subject)))
        return true;
    for (size_t n = 0; !subject->bare && pug_diagnosis_evidence(subject->evidence, n, &evidence);
         n++)
        if (evidence->missing > 0 || pug_evidence_contradictions(evidence) > 0 ||
            misset_of(subject, evidence))
            return true;
    return !subject->partial && is_quiet(subject);
}

/** Are there so many contradictions that it may not be trace of the protocol? */
static bool is_far_off(const struct pug_subject *subject)
{
    const struct pug_evidence *evidence;
    for (size_t n = 0; pug_diagnosis_evidence(subject->evidence, n, &evidence); n++)
        if (pug_evidence_contradictions(evidence) * 20 > evidence->branches + 20)
            return true;
    return false;
}

/* ---- the whole ---- */

/** Adds what elements and messages show. True: a setting that is wrong was found. */
static bool find_evidence(const struct pug_subject *subject, struct pug_findings *findings)
{
    const struct pug_evidence *evidence;
    bool named = false;
    for (size_t n = 0; pug_diagnosis_evidence(subject->evidence, n, &evidence); n++) {
        if (!pug_subject_wants(subject, evidence->source))
            continue;
        const struct pug_misset *misset = misset_of(subject, evidence);
        if (misset) { /* the others may come of it */
            PUG_FIND(findings, PUG_FINDING_SETTINGS, .source = (uint16_t)misset->source,
                     .count = misset->count, .index = misset->index, .words = misset->text);
            named = true;
            continue;
        }
        (void)pug_find_mismatch(evidence, false, findings);
        find_missing(subject, evidence, findings);
    }
    if (is_misfit(subject) && findings->wrong == 0)
        PUG_FIND(findings, PUG_FINDING_MISFIT, .count = subject->signs->misfits,
                 .index = subject->signs->misfit.index, .words = subject->signs->misfit.text);
    return named;
}

static void find_cut(const struct pug_subject *subject, struct pug_findings *findings)
{
    if (is_cut(subject))
        PUG_FIND(findings, PUG_FINDING_CUT);
}

/** Most bytes belong to sources without a description: it may be another trace altogether. */
static void find_others(const struct pug_subject *subject, const struct pug_survey *survey,
                        struct pug_findings *findings)
{
    struct pug_finding finding = {
        .code = PUG_FINDING_OTHERS, .count = survey->transport.no_decoder, .total = survey->bytes};
    pug_find_ids(subject, survey, &finding);
    pug_findings_add(findings, &finding);
}

static void find_all(const struct pug_subject *subject, const struct pug_survey *survey,
                     struct pug_findings *findings)
{
    bool poor = false;
    if (subject->whole == 0) {
        if (subject->empty) /* of several buffers one may be */
            PUG_FIND(findings, PUG_FINDING_EMPTY);
        return;
    }
    const bool nothing = !subject->partial && pug_find_silence(subject, survey, &poor, findings);
    if (subject->bare)
        return;
    const bool named = find_evidence(subject, findings);
    pug_find_bytes(subject, survey, findings);
    find_cut(subject, findings);
    const bool many = subject->signs->bad_packets * BAD_MANY > subject->whole;
    if (findings->wrong > 0 && survey->transport.no_decoder * 2 > survey->bytes && !nothing) {
        find_others(subject, survey, findings);
        poor = true;
    }
    if (findings->wrong > 0 && !named && pug_find_settings(subject, survey, findings))
        return;
    if (findings->wrong > 0 && (nothing || many || poor || is_far_off(subject)))
        pug_find_likeness(subject, nothing, findings);
}

/* ---- packets alone ---- */

/** The counts of packets of the chosen sources. */
struct read_sources {
    size_t asked, without; /* without bytes */
    uint16_t first;        /* of those */
    size_t deaf_count;     /* with bytes, and no place to begin at */
    const struct pug_source *deaf;
    uint64_t deaf_bytes;
};

/* Number of bytes to look at first: it is soon clear that nothing is off. */
#define READING_LOOK (UINT64_C(1) << 20)

static struct read_sources look_at_read(const struct pug_subject *subject,
                                        const struct pug_survey *survey)
{
    struct read_sources seen = {0};
    const struct pug_source *source;
    for (size_t n = 0; (source = pug_tree_source_at(subject->tree, n)) != NULL; n++) {
        const struct pug_survey_id *found = pug_survey_find(survey, pug_source_id(source));
        const uint64_t bytes = found ? found->bytes : 0;
        if (!pug_subject_wants(subject, pug_source_id(source)))
            continue;
        seen.asked++;
        if (bytes == 0 && seen.without++ == 0)
            seen.first = pug_source_id(source);
        if (bytes == 0 || found->unsynced * 2 <= bytes)
            continue;
        seen.deaf_count++;
        seen.deaf = source;
        seen.deaf_bytes = bytes;
    }
    return seen;
}

/** Is something off? The state of the run's own readers is unknown: there may be many of them. */
static bool survey_reading(const struct pug_subject *subject, uint64_t most,
                           struct pug_survey *survey, struct read_sources *seen)
{
    if (!survey_trace(subject, most, survey))
        return false;
    *seen = look_at_read(subject, survey);
    return (seen->asked > 0 && seen->without == seen->asked) || seen->deaf;
}

void pug_examine_packets(const struct pug_subject *subject, struct pug_findings *findings)
{
    struct read_sources seen;
    struct pug_survey survey;
    const bool empty = subject->whole == 0;
    if ((empty && !subject->empty) || !survey_reading(subject, READING_LOOK, &survey, &seen) ||
        !survey_reading(subject, UINT64_MAX, &survey, &seen))
        return;
    if (empty)
        PUG_FIND(findings, PUG_FINDING_EMPTY);
    else if (seen.without == seen.asked)
        pug_find_no_bytes(subject, &survey, seen.first, seen.without > 1, findings);
    else
        pug_find_no_sync(seen.deaf, seen.deaf_bytes, findings);
    if (!empty && seen.without + seen.deaf_count == seen.asked)
        pug_find_likeness(subject, true, findings);
}

static void find_notes(const struct pug_subject *subject, struct pug_findings *findings)
{
    const struct pug_evidence *evidence;
    for (size_t n = 0; !subject->bare && pug_diagnosis_evidence(subject->evidence, n, &evidence);
         n++)
        if (pug_subject_wants(subject, evidence->source)) {
            find_loss(evidence, findings);
            pug_find_undefined(evidence, findings);
        }
    pug_find_agreement(subject, findings);
}

void pug_examine(const struct pug_subject *subject, struct pug_findings *findings)
{
    struct pug_survey survey;
    if (!decodes(subject)) {
        pug_examine_packets(subject, findings);
        return;
    }
    find_notes(subject, findings);
    if (subject->narrow && !subject->bare) {
        (void)find_evidence(subject, findings);
        find_cut(subject, findings);
    }
    if (subject->narrow)
        return;
    const bool suspicious = is_suspicious(subject), strays = pug_subject_has_strays(subject);
    if ((!suspicious && !strays) || !survey_trace(subject, SURVEY_MOST, &survey))
        return;
    if (strays)
        pug_find_strays(subject, &survey, findings);
    if (suspicious)
        find_all(subject, &survey, findings);
}
