// SPDX-License-Identifier: MIT
/**
 * @file Trace ids that may be wrong: a source without a byte in the trace, beside bytes of an id
 * that nothing describes and that look like the source's protocol.
 */
#include "diagnosis_private.h"

#include "pugmark/author/protocol.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Number of bytes of an id to look at. */
#define STRAY_MOST ((size_t)64 << 10)

/* Most sources that are named. */
#define NAMED_MOST 8u

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
static bool gather_id(const struct input *input, struct gathered *gathered)
{
    struct pug_tree *reader;
    uint64_t at = 0;
    gathered->bytes = malloc(STRAY_MOST);
    if (!gathered->bytes || pug_tree_clone(input->tree, NULL, &reader) != PUG_OK)
        return false;
    for (size_t n = 0; pug_tree_source_at(reader, n) != NULL; n++)
        pug_tree_enable(reader, pug_source_slot(pug_tree_source_at(reader, n)), false);
    pug_tree_enable(reader, gathered->id, true);
    pug_tree_on_runs(reader, gather, gathered);
    while (gathered->size < STRAY_MOST && at < input->trace_size) {
        const uint64_t left = input->trace_size - at, before = at;
        (void)pug_tree_feed(reader, input->trace, &at,
                            left < STRAY_MOST ? input->trace_size : at + STRAY_MOST);
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
static bool could_be(const struct diagnosis *diagnosis, const struct pug_survey *survey,
                     const struct gathered *gathered, const struct pug_source *source)
{
    const uint16_t id = pug_source_id(source);
    const struct pug_survey_id *own = diagnosis_find_id(survey, id);
    return (!own || own->bytes == 0) && input_wants(diagnosis->input, id) &&
           looks_like(gathered, pug_source_protocol(source));
}

/** Names the sources whose trace the id's bytes may be. */
static void say_id(struct diagnosis *diagnosis, const struct pug_survey *survey,
                   const struct pug_survey_id *id)
{
    const struct input *input = diagnosis->input;
    struct gathered gathered = {.id = id->id};
    const struct pug_source *source;
    const char *protocol = NULL;
    char number[32], text[256] = "";
    const bool good = gather_id(input, &gathered);
    size_t at = 0, count = 0;
    for (size_t n = 0; good && (source = pug_tree_source_at(input->tree, n)) != NULL; n++) {
        if (!could_be(diagnosis, survey, &gathered, source) || count++ >= NAMED_MOST)
            continue;
        protocol = protocol ? protocol : pug_protocol_name(pug_source_protocol(source));
        at += (size_t)snprintf(text + at, sizeof(text) - at, "%s0x%02x", at ? ", " : "",
                               pug_source_id(source));
    }
    if (protocol)
        diagnosis_say(
            diagnosis,
            "source%s %s%s: the trace has no byte of %s, and %s bytes of id 0x%02x, which "
            "nothing describes, look like %s: is that the trace id?\n",
            count == 1 ? "" : "s", text, count > NAMED_MOST ? ", …" : "",
            count == 1 ? "it" : "them", diagnosis_grouped(id->bytes, number), id->id, protocol);
    free(gathered.bytes);
}

bool diagnosis_has_strays(const struct diagnosis *diagnosis)
{
    const struct input *input = diagnosis->input;
    const struct pug_source *source;
    if (input->partial || input->narrow || pug_tree_transport_stats(input->tree)->no_decoder == 0)
        return false;
    for (size_t n = 0; (source = pug_tree_source_at(input->tree, n)) != NULL; n++)
        if (pug_source_stats(source)->bytes == 0 && input_wants(input, pug_source_id(source)))
            return true;
    return false;
}

void diagnosis_say_strays(struct diagnosis *diagnosis, const struct pug_survey *survey)
{
    for (size_t i = 0; i < survey->id_count; i++)
        if (!survey->ids[i].described && survey->ids[i].bytes > 0 &&
            survey->ids[i].id != PUG_SOURCE_UNKNOWN)
            say_id(diagnosis, survey, &survey->ids[i]);
}
