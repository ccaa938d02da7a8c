// SPDX-License-Identifier: MIT
/**
 * @file What a diagnosis says of bytes: of sources that were silent, and what else the bytes look
 * like.
 */
#include "common/messages.h"
#include "diagnosis_private.h"
#include "events/dwt_sources.h"
#include "pugmark/advanced/snapshot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void diagnosis_list_ids(const struct input *input, const struct pug_survey *survey, char *text,
                        size_t size)
{
    /* What a run read of a stream is known of sources that it has a reader for. */
    const bool begin = input->trace_size < input->trace_whole;
    const uint64_t unknown = survey->transport.unknown;
    size_t at = 0, listed = 0;
    char number[32];
    *text = '\0';
    for (size_t i = 0; i < survey->id_count && listed < 8; i++) {
        const struct pug_survey_id *id = &survey->ids[i];
        /* what is before the first id is of none, though there may be a source that has this one */
        const bool shared = id->id == PUG_SOURCE_UNKNOWN && id->bytes >= unknown;
        const uint64_t bytes = id->bytes - (shared ? unknown : 0);
        if (bytes == 0)
            continue;
        const bool more = survey->bytes < input->trace_whole || (begin && !id->described);
        at += (size_t)snprintf(text + at, size - at, "%s 0x%02x (%s%s bytes)", listed++ ? "," : "",
                               id->id, more ? "at least " : "", diagnosis_grouped(bytes, number));
    }
    if (listed == 0)
        at += (size_t)snprintf(text + at, size - at, " none");
    if (unknown > 0)
        snprintf(text + at, size - at, "; %s bytes are before the first id",
                 diagnosis_grouped(unknown, number));
}

const struct pug_survey_id *diagnosis_find_id(const struct pug_survey *survey, uint16_t id)
{
    for (size_t i = 0; i < survey->id_count; i++)
        if (survey->ids[i].id == id)
            return &survey->ids[i];
    return NULL;
}

/** Does a guess name what the trace was decoded as? */
static bool is_in_use(const struct input *input, const struct pug_guess *guess)
{
    const struct pug_source *source;
    if (strcmp(guess->transport, pug_transport_name(pug_tree_transport(input->tree))) != 0)
        return false;
    for (size_t n = 0; (source = pug_tree_source_at(input->tree, n)) != NULL; n++)
        if (strcmp(guess->protocol, pug_protocol_name(pug_source_protocol(source))) == 0)
            return true;
    return false;
}

/** Was it said with --set already? */
static bool is_set(const struct input *input, const char *setting)
{
    const struct option_list *list = &input->options->settings;
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i], setting) == 0)
            return true;
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

/** With which settings bad packets are good ones, if these are not what they are read with. */
static void say_settings(struct diagnosis *diagnosis, const struct pug_guess *guesses, size_t count)
{
    const size_t ties = count_ties(guesses, count);
    char text[PUG_GUESSES * (sizeof(guesses->settings) + 16)];
    size_t size = 0;
    for (size_t i = 0; i < ties; i++) {
        if (!*guesses[i].settings || is_set(diagnosis->input, guesses[i].settings))
            return;
        size += (size_t)snprintf(text + size, sizeof(text) - size, "%s--set %s", i ? " or " : "",
                                 guesses[i].settings);
    }
    diagnosis_say(diagnosis, "its packets are right with %s (%s)\n", text, guesses[0].reason);
}

/** The format of the buffer at hand, as a snapshot says it; NULL: it is no snapshot's. */
static const char *format_said(const struct input *input)
{
    const struct pug_snapshot *snapshot = pug_capture_snapshot(input->capture);
    const struct pug_capture_segment *segment =
        pug_capture_segment_at(input->capture, input->segment);
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

/** "it looks like ETMV4I in coresight (…)"; of a snapshot, which word of it says otherwise. */
static void put_guess(const struct input *input, const struct pug_guess *guess, bool first,
                      char *text, size_t size)
{
    const char *format = format_said(input);
    const bool other = format && strcmp(format, format_of(guess)) != 0;
    snprintf(text, size, "%s looks like %s in %s%s%s (%s)%s%s%s%s", first ? "it" : "or it",
             guess->protocol, guess->transport, *guess->settings ? ", --set " : "", guess->settings,
             guess->reason, other ? "; that is format=" : "", other ? format_of(guess) : "",
             other ? " in the snapshot, which says format=" : "", other ? format : "");
}

/* Number of bytes for pug_guess_format(). */
#define GUESS_MOST ((size_t)256 << 10)

size_t diagnosis_guess_turned(const uint8_t *bytes, size_t size,
                              struct pug_guess guesses[PUG_GUESSES], unsigned *width)
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
static void say_turned(struct diagnosis *diagnosis, bool nothing)
{
    const struct input *input = diagnosis->input;
    struct pug_guess guesses[PUG_GUESSES];
    unsigned width;
    if (diagnosis_guess_turned(input->trace, (size_t)input->trace_size, guesses, &width) > 0)
        diagnosis_say(diagnosis, DIAGNOSIS_TURNED " they look like %s in %s%s%s (%s)\n", width,
                      width, guesses[0].protocol, guesses[0].transport,
                      *guesses[0].settings ? ", --set " : "", guesses[0].settings,
                      guesses[0].reason);
    else if (nothing)
        diagnosis_say(diagnosis, "its bytes look like nothing that is known here\n");
}

/** As many guesses as are of use. */
static void say_guesses(struct diagnosis *diagnosis, const struct pug_guess *guesses, size_t count)
{
    char text[512];
    for (size_t i = 0; i < count; i++) {
        put_guess(diagnosis->input, &guesses[i], i == 0, text, sizeof(text));
        diagnosis_say(diagnosis, "%s\n", text);
    }
}

/** Is it read as that protocol in those frames, which lie otherwise than is said? */
static bool is_out_of_frame(const struct input *input, const struct pug_guess *guess)
{
    const struct pug_transport_stats *stats = pug_tree_transport_stats(input->tree);
    return !*guess->settings && stats->skipped * 2 > input->trace_size;
}

void diagnosis_say_guesses(struct diagnosis *diagnosis, bool nothing)
{
    const struct input *input = diagnosis->input;
    struct pug_guess guesses[PUG_GUESSES];
    const size_t most = nothing ? 3 : 1;
    size_t count = pug_guess_format(input->trace, (size_t)input->trace_size, guesses), of_use = 0;
    if (count > 0 && is_in_use(input, &guesses[0])) {
        if (nothing && is_out_of_frame(input, &guesses[0]))
            say_guesses(diagnosis, guesses, 1);
        else if (nothing || input->messages.bad_packets > 0)
            say_settings(diagnosis, guesses, count);
        return;
    }
    while (of_use < count && (of_use < most || guesses[of_use].score == guesses[0].score))
        of_use++;
    say_guesses(diagnosis, guesses, of_use);
    if (count == 0)
        say_turned(diagnosis, nothing);
}

void diagnosis_guess(const struct input *input)
{
    struct pug_guess guesses[PUG_GUESSES];
    const size_t count = pug_guess_format(input->trace, (size_t)input->trace_size, guesses);
    char text[512];
    for (size_t i = 0; i < count && i < 3; i++) {
        put_guess(input, &guesses[i], i == 0, text, sizeof(text));
        message_say("  * %s\n", text);
    }
}

/** Fewer bad packets are not noise, and fewer bytes show nothing. */
#define NOISE_LEAST 3u
#define LINE_LEAST  64u

/** Say what makes bytes of an SWO pin wrong: it has no clock, so its rate has to be given. */
static void say_line(struct diagnosis *diagnosis, const struct pug_survey_id *found)
{
    if (found->unsynced * 2 > found->bytes && found->bytes >= LINE_LEAST)
        diagnosis_say(diagnosis,
                      "source 0x%02x: bytes of an SWO pin look so if the probe reads it at another "
                      "rate than the target sends: check the baud rate (the trace clock divided by "
                      "TPIU_ACPR + 1)\n",
                      found->id);
    else if (found->bad >= NOISE_LEAST)
        diagnosis_say(diagnosis,
                      "source 0x%02x: bad packets between good ones: noise on the line or bytes "
                      "that the probe lost; a lower SWO rate, or less to trace, may help\n",
                      found->id);
}

static void say_lines(struct diagnosis *diagnosis, const struct pug_survey *survey)
{
    const struct pug_source *source;
    for (size_t n = 0; (source = pug_tree_source_at(diagnosis->input->tree, n)) != NULL; n++) {
        const struct pug_survey_id *found = diagnosis_find_id(survey, pug_source_id(source));
        if (found && found->bytes > 0 && pug_dwt_sources_carries(pug_source_protocol(source)) &&
            input_wants(diagnosis->input, pug_source_id(source)))
            say_line(diagnosis, found);
    }
}

void diagnosis_say_deaf(struct diagnosis *diagnosis, const struct pug_source *source,
                        uint64_t bytes)
{
    char number[32];
    diagnosis_say(
        diagnosis,
        "source 0x%02x (%s): %s bytes, and no place in them where %s could begin to decode\n",
        pug_source_id(source), pug_protocol_title(pug_source_protocol(source)),
        diagnosis_grouped(bytes, number), pug_protocol_name(pug_source_protocol(source)));
}

void diagnosis_say_no_bytes(struct diagnosis *diagnosis, const struct pug_survey *survey,
                            uint16_t first, bool more)
{
    char text[512];
    diagnosis_list_ids(diagnosis->input, survey, text, sizeof(text));
    diagnosis_say(diagnosis, "there are no bytes for source 0x%02x%s; ids in this trace:%s\n",
                  first, more ? " and the others asked for" : "", text);
}

bool diagnosis_say_silence(struct diagnosis *diagnosis, const struct pug_survey *survey)
{
    const struct input *input = diagnosis->input;
    const bool chosen = input->options->sources.count > 0;
    const struct pug_source *source;
    char number[32], other[32];
    size_t asked = 0, silent = 0, deaf = 0;
    uint16_t first = 0;
    for (size_t n = 0; (source = pug_tree_source_at(input->tree, n)) != NULL; n++) {
        const uint16_t id = pug_source_id(source);
        const struct pug_survey_id *found = diagnosis_find_id(survey, id);
        const struct pug_evidence *evidence = diagnosis_evidence_of(diagnosis, id);
        if (!input_wants(input, id) || !pug_source_decodes(source))
            continue;
        asked++;
        if (evidence && evidence->told > 0) {
            if (!found || found->unsynced * 2 <= found->bytes)
                continue;
            diagnosis->poor = true;
            diagnosis_say(diagnosis, "source 0x%02x: of its %s bytes only %s could be decoded\n",
                          id, diagnosis_grouped(found->bytes, number),
                          diagnosis_grouped(found->bytes - found->unsynced, other));
            continue;
        }
        if (silent++ == 0)
            first = id;
        if (found && found->bytes > 0 && found->unsynced * 2 > found->bytes) {
            deaf++;
            diagnosis_say_deaf(diagnosis, source, found->bytes);
        }
    }
    if (deaf == 0 && asked > 0 && silent > 0 && (chosen || silent == asked)) {
        const struct pug_survey_id *found = diagnosis_find_id(survey, first);
        if (!found || found->bytes == 0)
            diagnosis_say_no_bytes(diagnosis, survey, first, silent > 1);
        else
            diagnosis_say(diagnosis, "source 0x%02x: nothing could be decoded of its %s bytes\n",
                          first, diagnosis_grouped(found->bytes, number));
    }
    return asked > 0 && silent == asked;
}

void diagnosis_say_bad(struct diagnosis *diagnosis, uint64_t bad, uint64_t bytes)
{
    char number[32];
    diagnosis_say(diagnosis, "%s bad packet%s, %.1f in a megabyte of trace\n",
                  diagnosis_grouped(bad, number), bad == 1 ? "" : "s",
                  (double)bad * 1e6 / (double)bytes);
}

void diagnosis_say_bytes(struct diagnosis *diagnosis, const struct pug_survey *survey)
{
    const struct pug_transport_stats *stats = &survey->transport;
    char a[32], b[32];
    if (stats->skipped * 50 > survey->bytes)
        diagnosis_say(diagnosis, "%s of %s bytes were skipped: they are not framed as %s\n",
                      diagnosis_grouped(stats->skipped, a), diagnosis_grouped(survey->bytes, b),
                      pug_transport_name(pug_tree_transport(diagnosis->input->tree)));
    if ((stats->reserved + stats->unknown) * 20 > survey->bytes)
        diagnosis_say(diagnosis,
                      "%s of %s bytes are of ids that cannot be: is the framing right?\n",
                      diagnosis_grouped(stats->reserved + stats->unknown, a),
                      diagnosis_grouped(survey->bytes, b));
    if (diagnosis->input->messages.bad_packets > 0)
        diagnosis_say_bad(diagnosis, diagnosis->input->messages.bad_packets,
                          diagnosis->input->trace_whole);
    say_lines(diagnosis, survey);
}
