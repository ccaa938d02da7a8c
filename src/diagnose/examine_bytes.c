// SPDX-License-Identifier: MIT
/** @file Examines bytes: silent sources, bad packets, and what else the bytes look like. */
#include "diagnose/findings.h"

#include "pugmark/advanced/snapshot.h"
#include "pugmark/author/protocol.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void pug_find_ids(const struct pug_subject *subject, const struct pug_survey *survey,
                  struct pug_finding *finding)
{
    /* What a run read of a stream is known of sources that it has a reader for. */
    const bool begin = subject->size < subject->whole;
    const uint64_t unknown = survey->transport.unknown;
    finding->before = unknown;
    for (size_t i = 0; i < survey->id_count && finding->place_count < PUG_FINDING_PLACES; i++) {
        const struct pug_survey_id *id = &survey->ids[i];
        /* what is before the first id is of none, though there may be a source that has this one */
        const bool shared = id->id == PUG_SOURCE_UNKNOWN && id->bytes >= unknown;
        const uint64_t bytes = id->bytes - (shared ? unknown : 0);
        if (bytes == 0)
            continue;
        finding->places[finding->place_count++] = (struct pug_finding_place){
            .first = id->id,
            .last = id->id,
            .count = bytes,
            .least = survey->bytes < subject->whole || (begin && !id->described)};
    }
}

/** Does a guess name what the trace was decoded as? */
static bool is_in_use(const struct pug_subject *subject, const struct pug_guess *guess)
{
    const struct pug_source *source;
    if (strcmp(guess->transport, pug_transport_name(pug_tree_transport(subject->tree))) != 0)
        return false;
    for (size_t n = 0; (source = pug_tree_source_at(subject->tree, n)) != NULL; n++)
        if (strcmp(guess->protocol, pug_protocol_name(pug_source_protocol(source))) == 0)
            return true;
    return false;
}

/** Is it set so already? */
static bool is_set(const struct pug_subject *subject, const char *setting)
{
    for (size_t i = 0; subject->set && i < subject->set->count; i++) {
        const struct pug_setting *item = &subject->set->items[i];
        char text[128];
        if (item->text)
            snprintf(text, sizeof(text), "%s=%s", item->name, item->text);
        else
            snprintf(text, sizeof(text), "%s=%" PRIu64, item->name, item->value);
        if (strcmp(text, setting) == 0)
            return true;
    }
    return false;
}

/** Do as much as the first guess: of the same protocol, with other settings. */
static size_t count_ties(const struct pug_guess *guesses, size_t count)
{
    size_t ties = 1;
    while (ties < count && guesses[ties].score == guesses[0].score &&
           strcmp(guesses[ties].protocol, guesses[0].protocol) == 0 &&
           strcmp(guesses[ties].transport, guesses[0].transport) == 0)
        ties++;
    return ties;
}

/** Adds settings with which bad packets are good ones, unless they are read with these. */
static void find_settings(const struct pug_subject *subject, const struct pug_guess *guesses,
                          size_t count, struct pug_findings *findings)
{
    const size_t ties = count_ties(guesses, count);
    char text[PUG_GUESSES * (sizeof(guesses->settings) + 16)];
    size_t size = 0;
    for (size_t i = 0; i < ties; i++) {
        if (!*guesses[i].settings || is_set(subject, guesses[i].settings))
            return;
        size += (size_t)snprintf(text + size, sizeof(text) - size, "%s--set %s", i ? " or " : "",
                                 guesses[i].settings);
    }
    PUG_FIND(findings, PUG_FINDING_FITS, .name = text, .words = guesses[0].reason);
}

/** The format of the buffer at hand, as a snapshot says it; NULL: it is no snapshot's. */
static const char *format_said(const struct pug_subject *subject)
{
    const struct pug_snapshot *snapshot = pug_capture_snapshot(subject->capture);
    const struct pug_capture_segment *segment =
        pug_capture_segment_at(subject->capture, subject->segment);
    return snapshot ? pug_snapshot_buffer_at(snapshot, segment->buffer)->format : NULL;
}

/** The word for it in a snapshot. */
static const char *format_of(const struct pug_guess *guess)
{
    static const char dstream[] = "dstream=1";
    if (strcmp(guess->transport, "plain") == 0)
        return "source_data";
    return strncmp(guess->settings, dstream, sizeof(dstream) - 1) == 0 ? "dstream_coresight"
                                                                       : guess->transport;
}

static void find_guess(const struct pug_subject *subject, const struct pug_guess *guess,
                       bool several, struct pug_findings *findings)
{
    const char *format = format_said(subject);
    const bool other = format && strcmp(format, format_of(guess)) != 0;
    PUG_FIND(findings, PUG_FINDING_LOOKS_LIKE, .several = several, .name = guess->protocol,
             .other = guess->transport, .settings = guess->settings, .words = guess->reason,
             .format = other ? format_of(guess) : NULL, .said = other ? format : NULL);
}

/* Number of bytes for pug_guess_format(). */
#define GUESS_MOST ((size_t)256 << 10)

size_t pug_guess_turned(const uint8_t *bytes, size_t size, struct pug_guess guesses[PUG_GUESSES],
                        unsigned *width)
{
    static const unsigned widths[] = {4, 8, 2};
    const size_t most = size < GUESS_MOST ? size : GUESS_MOST;
    uint8_t *turned = malloc(most + 1);
    size_t count = 0;
    for (unsigned n = 0; turned && count == 0 && n < sizeof(widths) / sizeof(widths[0]); n++) {
        *width = widths[n];
        const size_t whole = most / *width * *width;
        for (size_t i = 0; i < whole; i++)
            turned[i] = bytes[i ^ (*width - 1)];
        count = pug_guess_format(turned, whole, guesses);
    }
    free(turned);
    return count;
}

/** Of bytes that look like nothing: what they would be if their words lay the other way round. */
static void find_turned(const struct pug_subject *subject, bool nothing,
                        struct pug_findings *findings)
{
    struct pug_guess guesses[PUG_GUESSES];
    unsigned width;
    if (pug_guess_turned(subject->trace, (size_t)subject->size, guesses, &width) > 0)
        PUG_FIND(findings, PUG_FINDING_TURNED, .width = width, .name = guesses[0].protocol,
                 .other = guesses[0].transport, .settings = guesses[0].settings,
                 .words = guesses[0].reason);
    else if (nothing)
        PUG_FIND(findings, PUG_FINDING_UNKNOWN);
}

static void find_guesses(const struct pug_subject *subject, const struct pug_guess *guesses,
                         size_t count, struct pug_findings *findings)
{
    for (size_t i = 0; i < count; i++)
        find_guess(subject, &guesses[i], i > 0, findings);
}

/** Is it read as that protocol in those frames, which lie otherwise than is said? */
static bool is_out_of_frame(const struct pug_subject *subject, const struct pug_guess *guess)
{
    const struct pug_transport_stats *stats = pug_tree_transport_stats(subject->tree);
    return !*guess->settings && stats->skipped * 2 > subject->size;
}

void pug_find_likeness(const struct pug_subject *subject, bool nothing,
                       struct pug_findings *findings)
{
    struct pug_guess guesses[PUG_GUESSES];
    const size_t most = nothing ? 3 : 1;
    size_t count = pug_guess_format(subject->trace, (size_t)subject->size, guesses), of_use = 0;
    if (count > 0 && is_in_use(subject, &guesses[0])) {
        if (nothing && is_out_of_frame(subject, &guesses[0]))
            find_guesses(subject, guesses, 1, findings);
        else if (nothing || subject->signs->bad_packets > 0)
            find_settings(subject, guesses, count, findings);
        return;
    }
    while (of_use < count && (of_use < most || guesses[of_use].score == guesses[0].score))
        of_use++;
    find_guesses(subject, guesses, of_use, findings);
    if (count == 0)
        find_turned(subject, nothing, findings);
}

void pug_find_guesses(const struct pug_subject *subject, size_t most, struct pug_findings *findings)
{
    struct pug_guess guesses[PUG_GUESSES];
    const size_t count = pug_guess_format(subject->trace, (size_t)subject->size, guesses);
    find_guesses(subject, guesses, count < most ? count : most, findings);
}

/** Fewer bad packets are not noise, and fewer bytes show nothing. */
#define NOISE_LEAST 3u
#define LINE_LEAST  64u
/* At another rate nothing is good for so many bytes. */
#define STRETCH_LEAST 24u

/** Adds what makes bytes of an SWO pin wrong: it has no clock, so its rate has to be given. */
static void find_line(const struct pug_survey_id *found, struct pug_findings *findings)
{
    const uint64_t decoded = found->bytes - found->unsynced;
    const bool stretches = found->bad >= NOISE_LEAST && decoded / found->bad >= STRETCH_LEAST;
    if (found->unsynced * 2 > found->bytes && found->bytes >= LINE_LEAST && !stretches)
        PUG_FIND(findings, PUG_FINDING_RATE, .source = found->id);
    else if (found->bad >= NOISE_LEAST)
        PUG_FIND(findings, PUG_FINDING_NOISE, .source = found->id);
}

/** Is it a protocol of a DWT, whose bytes come from an SWO pin? */
static bool has_dwt(const struct pug_protocol *protocol)
{
    return protocol->description && protocol->description->dwt;
}

static void find_lines(const struct pug_subject *subject, const struct pug_survey *survey,
                       struct pug_findings *findings)
{
    const struct pug_source *source;
    for (size_t n = 0; (source = pug_tree_source_at(subject->tree, n)) != NULL; n++) {
        const struct pug_survey_id *found = pug_survey_find(survey, pug_source_id(source));
        if (found && found->bytes > 0 && has_dwt(pug_source_protocol(source)) &&
            pug_subject_wants(subject, pug_source_id(source)))
            find_line(found, findings);
    }
}

/* ---- silent sources ---- */

void pug_find_no_sync(const struct pug_source *source, uint64_t bytes,
                      struct pug_findings *findings)
{
    PUG_FIND(findings, PUG_FINDING_NO_SYNC, .source = pug_source_id(source), .count = bytes,
             .name = pug_protocol_name(pug_source_protocol(source)),
             .words = pug_protocol_title(pug_source_protocol(source)));
}

void pug_find_no_bytes(const struct pug_subject *subject, const struct pug_survey *survey,
                       uint16_t first, bool more, struct pug_findings *findings)
{
    struct pug_finding finding = {.code = PUG_FINDING_NO_BYTES, .source = first, .several = more};
    pug_find_ids(subject, survey, &finding);
    pug_findings_add(findings, &finding);
}

/** How many sources were asked for, gave nothing, and have no place to begin at. */
struct silence {
    size_t asked, silent, deaf;
    uint16_t first; /* of the silent ones */
};

/** A source of which something was decoded: was that little? */
static bool find_little(const struct pug_survey_id *found, struct pug_findings *findings)
{
    if (!found || found->unsynced * 2 <= found->bytes)
        return false;
    PUG_FIND(findings, PUG_FINDING_LITTLE, .source = found->id,
             .count = found->bytes - found->unsynced, .total = found->bytes);
    return true;
}

static void find_silent(const struct pug_source *source, const struct pug_survey_id *found,
                        struct silence *silence, struct pug_findings *findings)
{
    if (silence->silent++ == 0)
        silence->first = pug_source_id(source);
    if (!found || found->bytes == 0 || found->unsynced * 2 <= found->bytes)
        return;
    silence->deaf++;
    pug_find_no_sync(source, found->bytes, findings);
}

bool pug_find_silence(const struct pug_subject *subject, const struct pug_survey *survey,
                      bool *poor, struct pug_findings *findings)
{
    const struct pug_source *source;
    struct silence silence = {0};
    for (size_t n = 0; (source = pug_tree_source_at(subject->tree, n)) != NULL; n++) {
        const uint16_t id = pug_source_id(source);
        const struct pug_survey_id *found = pug_survey_find(survey, id);
        const struct pug_evidence *evidence = pug_subject_evidence(subject, id);
        if (!pug_subject_wants(subject, id) || !pug_source_decodes(source))
            continue;
        silence.asked++;
        if (evidence && evidence->told > 0)
            *poor |= find_little(found, findings);
        else
            find_silent(source, found, &silence, findings);
    }
    const bool all = silence.asked > 0 && silence.silent == silence.asked;
    if (silence.deaf > 0 || silence.silent == 0 || (subject->wanted_count == 0 && !all))
        return all;
    const struct pug_survey_id *found = pug_survey_find(survey, silence.first);
    if (!found || found->bytes == 0)
        pug_find_no_bytes(subject, survey, silence.first, silence.silent > 1, findings);
    else
        PUG_FIND(findings, PUG_FINDING_NOTHING, .source = silence.first, .count = found->bytes);
    return all;
}

/* ---- bytes ---- */

void pug_find_bytes(const struct pug_subject *subject, const struct pug_survey *survey,
                    struct pug_findings *findings)
{
    const struct pug_transport_stats *stats = &survey->transport;
    const uint64_t bad_ids = stats->reserved + stats->unknown;
    if (stats->skipped * 50 > survey->bytes)
        PUG_FIND(findings, PUG_FINDING_SKIPPED, .count = stats->skipped, .total = survey->bytes,
                 .name = pug_transport_name(pug_tree_transport(subject->tree)));
    if (bad_ids * 20 > survey->bytes)
        PUG_FIND(findings, PUG_FINDING_BAD_IDS, .count = bad_ids, .total = survey->bytes);
    if (subject->signs->bad_packets > 0)
        PUG_FIND(findings, PUG_FINDING_BAD_PACKETS, .count = subject->signs->bad_packets,
                 .total = subject->whole);
    find_lines(subject, survey, findings);
}
