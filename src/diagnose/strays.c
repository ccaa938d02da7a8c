// SPDX-License-Identifier: MIT
/**
 * @file Trace ids that may be wrong: a source without a byte in the trace, beside bytes of an id
 * that nothing describes and that look like the source's protocol.
 */
#include "diagnose/findings.h"

#include "pugmark/author/protocol.h"

#include <stdlib.h>
#include <string.h>

/* Number of bytes of an id to look at. */
#define STRAY_MOST ((size_t)64 << 10)

/** The first bytes of one id. */
struct gathered {
    uint16_t id;
    uint8_t *bytes;
    size_t size;
};

static void gather(void *context, const struct pug_run *run)
{
    struct gathered *gathered = context;
    const size_t room = STRAY_MOST - gathered->size;
    const size_t size = run->size < room ? run->size : room;
    if (run->source != gathered->id || size == 0)
        return;
    memcpy(gathered->bytes + gathered->size, run->bytes, size);
    gathered->size += size;
}

/** Reads the trace up to where there is enough of the id. False: no memory. */
static bool gather_id(const struct pug_subject *subject, struct gathered *gathered)
{
    struct pug_tree *reader;
    uint64_t at = 0;
    gathered->bytes = malloc(STRAY_MOST);
    if (!gathered->bytes || pug_tree_clone(subject->tree, NULL, &reader) != PUG_OK)
        return false;
    for (size_t n = 0; pug_tree_source_at(reader, n) != NULL; n++)
        pug_tree_enable(reader, pug_source_slot(pug_tree_source_at(reader, n)), false);
    pug_tree_enable(reader, gathered->id, true);
    pug_tree_on_runs(reader, gather, gathered);
    while (gathered->size < STRAY_MOST && at < subject->size) {
        const uint64_t left = subject->size - at, before = at;
        (void)pug_tree_feed(reader, subject->trace, &at,
                            left < STRAY_MOST ? subject->size : at + STRAY_MOST);
        if (at == before)
            break;
    }
    pug_tree_free(reader);
    return true;
}

/** Is it the source's protocol, or the one that it adds packets to? */
static bool is_of(const char *name, const struct pug_protocol *protocol)
{
    const char *basis = protocol->description ? protocol->description->extends : NULL;
    return strcmp(name, protocol->name) == 0 || (basis && strcmp(name, basis) == 0);
}

/** Do the bytes look like nothing better than the protocol? */
static bool looks_like(const struct gathered *gathered, const struct pug_protocol *protocol)
{
    struct pug_guess guesses[PUG_GUESSES];
    const size_t count = pug_guess_format(gathered->bytes, gathered->size, guesses);
    for (size_t i = 0; i < count && guesses[i].score == guesses[0].score; i++)
        if (strcmp(guesses[i].transport, "plain") == 0 && is_of(guesses[i].protocol, protocol))
            return true;
    return false;
}

/** Could the id be this source's: has it no byte, and is it of the protocol? */
static bool could_be(const struct pug_subject *subject, const struct pug_survey *survey,
                     const struct gathered *gathered, const struct pug_source *source)
{
    const uint16_t id = pug_source_id(source);
    const struct pug_survey_id *own = pug_survey_find(survey, id);
    return (!own || own->bytes == 0) && pug_subject_wants(subject, id) &&
           looks_like(gathered, pug_source_protocol(source));
}

/** Adds the sources whose trace the id's bytes may be. */
static void find_id(const struct pug_subject *subject, const struct pug_survey *survey,
                    const struct pug_survey_id *id, struct pug_findings *findings)
{
    struct gathered gathered = {.id = id->id};
    struct pug_finding finding = {.code = PUG_FINDING_STRAY, .source = id->id, .count = id->bytes};
    const struct pug_source *source;
    const bool good = gather_id(subject, &gathered);
    for (size_t n = 0; good && (source = pug_tree_source_at(subject->tree, n)) != NULL; n++) {
        if (!could_be(subject, survey, &gathered, source))
            continue;
        finding.cut = finding.place_count == PUG_FINDING_PLACES;
        if (!finding.cut)
            finding.places[finding.place_count++].first = pug_source_id(source);
        if (!finding.name)
            finding.name = pug_protocol_name(pug_source_protocol(source));
    }
    if (finding.name)
        pug_findings_add(findings, &finding);
    free(gathered.bytes);
}

bool pug_subject_has_strays(const struct pug_subject *subject)
{
    const struct pug_source *source;
    if (subject->partial || subject->narrow ||
        pug_tree_transport_stats(subject->tree)->no_decoder == 0)
        return false;
    for (size_t n = 0; (source = pug_tree_source_at(subject->tree, n)) != NULL; n++)
        if (pug_source_stats(source)->bytes == 0 &&
            pug_subject_wants(subject, pug_source_id(source)))
            return true;
    return false;
}

void pug_find_strays(const struct pug_subject *subject, const struct pug_survey *survey,
                     struct pug_findings *findings)
{
    for (size_t i = 0; i < survey->id_count; i++)
        if (!survey->ids[i].described && survey->ids[i].bytes > 0 &&
            survey->ids[i].id != PUG_SOURCE_UNKNOWN)
            find_id(subject, survey, &survey->ids[i], findings);
}
