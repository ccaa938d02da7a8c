// SPDX-License-Identifier: MIT
#include "common/messages.h"
#include "diagnosis_private.h"

#include "base/text.h"
#include "common/said.h"
#include "text/sink.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct diagnosis *diagnosis_new(struct input *input)
{
    struct diagnosis *diagnosis = calloc(1, sizeof(*diagnosis));
    if (!diagnosis)
        return NULL;
    diagnosis->input = input;
    diagnosis->bare = input->options->reference; /* its defects would contradict the program */
    diagnosis->evidence = pug_diagnosis_new(pug_tree_image(input->tree));
    if (!diagnosis->evidence) {
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
    pug_diagnosis_free(diagnosis->evidence);
    free(diagnosis);
}

/* ---- the paragraph ---- */

void diagnosis_say(struct diagnosis *diagnosis, const char *format, ...)
{
    char line[4096];
    va_list arguments;
    if (!diagnosis->said && !diagnosis->quiet)
        message_say("pugmark: %s: something is wrong:\n", diagnosis->input->trace_path);
    diagnosis->said = true;
    va_start(arguments, format);
    const int length = vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    if (length >= 0)
        said(SAID_WRONG, "%s", line);
    if (diagnosis->quiet)
        return;
    message_say("  * ");
    const bool whole = length >= 0 && (size_t)length < sizeof(line);
    if (whole && length > 0 && line[length - 1] == '\n')
        line[length - 1] = 0;
    /* names from files steer no terminal, and end no line */
    message_say("%s", line);
    message_say(whole ? "\n" : " …\n");
}

const char *diagnosis_first(const struct pug_evidence *evidence, char buffer[256])
{
    const enum pug_contradiction kind = pug_evidence_first(evidence);
    char address[32] = "";
    if (evidence->first[kind].address != PUG_ADDRESS_UNKNOWN)
        snprintf(address, sizeof(address), ", address 0x%" PRIx64, evidence->first[kind].address);
    snprintf(buffer, 256, "the first at offset %" PRIu64 "%s: %s", evidence->first[kind].index,
             address, pug_contradiction_text(kind));
    return buffer;
}

const char *diagnosis_grouped(uint64_t value, char buffer[32])
{
    char digits[24];
    int length = snprintf(digits, sizeof(digits), "%" PRIu64, value), at = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            buffer[at++] = ',';
        buffer[at++] = digits[i];
    }
    buffer[at] = '\0';
    return buffer;
}

const struct pug_evidence *diagnosis_evidence_of(const struct diagnosis *diagnosis, uint16_t id)
{
    const struct pug_evidence *evidence;
    for (size_t n = 0; pug_diagnosis_evidence(diagnosis->evidence, n, &evidence); n++)
        if (evidence->source == id)
            return evidence;
    return NULL;
}

static void say_mismatch(struct diagnosis *diagnosis, const struct pug_evidence *evidence)
{
    const uint64_t count = pug_evidence_contradictions(evidence);
    if (count == 0)
        return;
    char a[32], b[32], first[256];
    diagnosis_say(
        diagnosis,
        "source 0x%02x: the program does not match the trace: %s contradiction%s in %s branches, "
        "%s. Is this the version that ran, loaded where it ran?\n",
        evidence->source, diagnosis_grouped(count, a), count == 1 ? "" : "s",
        diagnosis_grouped(evidence->branches, b), diagnosis_first(evidence, first));
}

/** What an answer rests on. It is no mistake of anybody's. */
static void note_losses(struct diagnosis *diagnosis, const struct pug_evidence *evidence)
{
    char number[32], words[256];
    struct pug_text text = PUG_TEXT(words, sizeof(words));
    if (evidence->no_syncs + evidence->overflows == 0)
        return;
    pug_text_format(&text, "source 0x%02x: trace was lost", evidence->source);
    if (evidence->overflows > 0)
        pug_text_format(&text, " on its way %s time%s",
                        diagnosis_grouped(evidence->overflows, number),
                        evidence->overflows == 1 ? "" : "s");
    if (evidence->no_syncs > 0)
        pug_text_format(
            &text, "%s, with synchronisation, %s time%s", evidence->overflows ? " and" : "",
            diagnosis_grouped(evidence->no_syncs, number), evidence->no_syncs == 1 ? "" : "s");
    pug_text_put(&text, "; decoding went on behind it, and what ran there is missing");
    pug_text_end(&text);
    said(SAID_LOST, "%s", words);
    if (!diagnosis->quiet)
        message_say("pugmark: %s: %s\n", diagnosis->input->trace_path, words);
}

void diagnosis_note_undefined(const struct diagnosis *diagnosis,
                              const struct pug_evidence *evidence)
{
    char number[32], words[320];
    struct pug_text text = PUG_TEXT(words, sizeof(words));
    /* where the program is another one all the same, that is said */
    if (evidence->undefined == 0 || pug_evidence_contradictions(evidence) > 0)
        return;
    pug_text_format(&text,
                    "source 0x%02x: instructions ran whose encoding is undefined (%s time%s, the "
                    "first at offset %" PRIu64 ", address 0x%" PRIx64 ": %08" PRIx32
                    "); unless the core is newer than this program, another one ran",
                    evidence->source, diagnosis_grouped(evidence->undefined, number),
                    evidence->undefined == 1 ? "" : "s", evidence->first_undefined.index,
                    evidence->first_undefined.address, evidence->first_undefined.opcode);
    pug_text_end(&text);
    said(SAID_WRONG, "%s", words);
    if (!diagnosis->quiet)
        message_say("pugmark: %s: %s\n", diagnosis->input->trace_path, words);
}

/* ---- missing memory ---- */

struct segment {
    uint64_t start, end, count;
};

static int by_address(const void *a, const void *b)
{
    const struct segment *left = a, *right = b;
    return left->start < right->start ? -1 : left->start > right->start;
}

static int by_count(const void *a, const void *b)
{
    const struct segment *left = a, *right = b;
    return left->count > right->count ? -1 : left->count < right->count;
}

/** Pages that are neighbours, or nearly, are one; the most frequent first. */
static size_t join_pages(const struct pug_evidence *evidence, struct segment *out)
{
    const uint64_t page = 0x1000;
    size_t count = 0;
    struct segment pages[PUG_MISSING_PAGES];
    for (uint32_t i = 0; i < evidence->page_count; i++)
        pages[i] =
            (struct segment){evidence->pages[i].address, evidence->pages[i].address + (page - 1),
                             evidence->pages[i].count};
    qsort(pages, evidence->page_count, sizeof(pages[0]), by_address);
    for (uint32_t i = 0; i < evidence->page_count; i++) {
        if (count > 0 && pages[i].start - out[count - 1].end <= 16 * page) {
            out[count - 1].end = pages[i].end;
            out[count - 1].count += pages[i].count;
        } else {
            out[count++] = pages[i];
        }
    }
    qsort(out, count, sizeof(out[0]), by_count);
    return count;
}

static void say_missing(struct diagnosis *diagnosis, const struct pug_evidence *evidence)
{
    struct segment segments[PUG_MISSING_PAGES];
    char text[512] = "", number[32];
    size_t at = 0, count;
    if (evidence->missing == 0)
        return;
    if (diagnosis_lacks_parameters(diagnosis->input, evidence->source, text, sizeof(text))) {
        diagnosis_say(diagnosis,
                      "source 0x%02x: the encoder's parameters are missing:%s. Packets are read "
                      "with the default of each, and execution came %s time%s to addresses that no "
                      "file or dump has. Give them with --params FILE or --set NAME=VALUE.\n",
                      evidence->source, text, diagnosis_grouped(evidence->missing, number),
                      evidence->missing == 1 ? "" : "s");
        return;
    }
    count = join_pages(evidence, segments);
    for (size_t i = 0; i < count && i < 5; i++)
        at += (size_t)snprintf(
            text + at, sizeof(text) - at, "%s 0x%" PRIx64 " to 0x%" PRIx64 " (%s)", i ? "," : "",
            segments[i].start, segments[i].end, diagnosis_grouped(segments[i].count, number));
    diagnosis_say(
        diagnosis,
        "source 0x%02x: execution came %s time%s to addresses that no file or dump has:%s%s. Load "
        "the file that belongs there.\n",
        evidence->source, diagnosis_grouped(evidence->missing, number),
        evidence->missing == 1 ? "" : "s", text, count > 5 ? ", …" : "");
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
static const struct misset *misset_of(const struct diagnosis *diagnosis,
                                      const struct pug_evidence *evidence)
{
    const struct messages *messages = &diagnosis->input->messages;
    uint64_t others = 0;
    for (unsigned kind = 0; kind < PUG_CONTRA_UNTOLD; kind++) /* the later kinds follow from it */
        others += evidence->counts[kind];
    for (size_t i = 0; i < messages->misset_count; i++) {
        const struct misset *misset = &messages->missets[i];
        if (misset->source == evidence->source && misset->looked >= MISSET_LEAST &&
            misset->looked * 100 >= evidence->branches * MISSET_PERCENT &&
            misset->looked >= others * MISSET_TIMES &&
            misset->looked >= 2 * (uint64_t)evidence->told_returns &&
            misset->count * 8 >= evidence->missing)
            return misset;
    }
    return NULL;
}

static void say_misset(struct diagnosis *diagnosis, const struct misset *misset)
{
    char number[32];
    diagnosis_say(
        diagnosis,
        "source 0x%02x: the settings do not match the trace: %s times, the first at offset "
        "%" PRIu64 ", %s. What ran behind is missing. Set it as it was in the unit.\n",
        misset->source, diagnosis_grouped(misset->count, number), misset->index, misset->text);
}

/** Of what gives no ranges: as its first message has it, which a command may not have printed. */
static void say_misfit(struct diagnosis *diagnosis)
{
    const struct messages *messages = &diagnosis->input->messages;
    char number[32];
    diagnosis_say(diagnosis,
                  "the program does not match the trace (%s time%s, the first at offset "
                  "%" PRIu64 ": %s). Is this the version that ran, loaded where it ran?\n",
                  diagnosis_grouped(messages->misfits, number), messages->misfits == 1 ? "" : "s",
                  messages->misfit.index, messages->misfit.text);
}

/* ---- the whole ---- */

/* A bad packet in so many bytes is many. */
#define BAD_MANY 1000u

/* So much of a capture is read again to see what is wrong with it. */
#define SURVEY_MOST (UINT64_C(64) << 20)

/** What the one reader of a stream had of all of it, in place of what its beginning has. */
static void survey_run(const struct input *input, struct pug_survey *survey)
{
    survey->bytes = input->trace_whole;
    survey->transport = *pug_tree_transport_stats(input->tree);
    for (size_t i = 0; i < survey->id_count; i++) {
        struct pug_survey_id *id = &survey->ids[i];
        const struct pug_source *source;
        for (size_t n = 0; (source = pug_tree_source_at(input->tree, n)) != NULL; n++) {
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
static bool survey_trace(const struct input *input, uint64_t most, struct pug_survey *survey)
{
    if (!input->trace ||
        pug_survey_capture(input->tree, input->trace, input->trace_whole,
                           most < input->trace_size ? most : input->trace_size, survey) != PUG_OK)
        return false;
    if (input->trace_whole > input->trace_size)
        survey_run(input, survey);
    return true;
}

/**
 * Does the trace end where nothing ends? In frames sources may stop inside a packet, not frames
 * inside themselves; what has no frames ends with a packet.
 */
static bool is_cut(const struct diagnosis *diagnosis)
{
    const struct pug_tree *tree = diagnosis->input->tree;
    if (diagnosis->input->partial)
        return false;
    return strcmp(pug_transport_name(pug_tree_transport(tree)), "coresight") == 0
               ? diagnosis->input->messages.frames_cut > 0
               : diagnosis->input->messages.cut > 0;
}

/** Of what gives no ranges (CTM) only messages tell that the program is another one. */
static bool is_misfit(const struct diagnosis *diagnosis)
{
    const struct pug_evidence *evidence;
    for (size_t n = 0; pug_diagnosis_evidence(diagnosis->evidence, n, &evidence); n++)
        if (evidence->looked > 0)
            return false;
    return diagnosis->input->messages.misfits > 0;
}

static bool decodes(const struct diagnosis *diagnosis)
{
    const struct pug_source *source;
    for (size_t n = 0; (source = pug_tree_source_at(diagnosis->input->tree, n)) != NULL; n++)
        if (pug_source_decodes(source))
            return true;
    return false;
}

/** Is there anything that could be said? */
static bool is_suspicious(const struct diagnosis *diagnosis)
{
    const struct pug_evidence *evidence;
    const struct pug_source *source;
    if (!diagnosis->bare &&
        (diagnosis->input->messages.bad_packets > 0 || is_misfit(diagnosis) || is_cut(diagnosis)))
        return true;
    for (size_t n = 0;
         !diagnosis->bare && pug_diagnosis_evidence(diagnosis->evidence, n, &evidence); n++)
        if (evidence->missing > 0 || pug_evidence_contradictions(evidence) > 0 ||
            misset_of(diagnosis, evidence))
            return true;
    size_t asked = 0, silent = 0;
    if (diagnosis->input->partial)
        return false;
    for (size_t n = 0; (source = pug_tree_source_at(diagnosis->input->tree, n)) != NULL; n++) {
        evidence = diagnosis_evidence_of(diagnosis, pug_source_id(source));
        if (!pug_source_decodes(source) || !input_wants(diagnosis->input, pug_source_id(source)))
            continue;
        asked++;
        silent += !evidence || evidence->told == 0;
    }
    return silent > 0 && (silent == asked || diagnosis->input->options->sources.count > 0);
}

/** Most bytes belong to sources without a description: it may be another trace altogether. */
static void say_others(struct diagnosis *diagnosis, const struct pug_survey *survey)
{
    char text[512], a[32], b[32];
    diagnosis_list_ids(diagnosis->input, survey, text, sizeof(text));
    diagnosis_say(diagnosis,
                  "%s of %s bytes are of sources that nothing describes; ids in this trace:%s\n",
                  diagnosis_grouped(survey->transport.no_decoder, a),
                  diagnosis_grouped(survey->bytes, b), text);
    diagnosis->poor = true;
}

/** Are there so many contradictions that it may not be trace of the protocol? */
static bool is_far_off(const struct diagnosis *diagnosis)
{
    const struct pug_evidence *evidence;
    for (size_t n = 0; pug_diagnosis_evidence(diagnosis->evidence, n, &evidence); n++)
        if (pug_evidence_contradictions(evidence) * 20 > evidence->branches + 20)
            return true;
    return false;
}

bool diagnosis_is_silent(const struct diagnosis *diagnosis)
{
    const struct pug_evidence *evidence;
    for (size_t n = 0; pug_diagnosis_evidence(diagnosis->evidence, n, &evidence); n++)
        if (evidence->told > 0)
            return false;
    return true;
}

/** What elements and messages show. True: a setting that is wrong was named. */
static bool say_evidence(struct diagnosis *diagnosis)
{
    const struct pug_evidence *evidence;
    bool named = false;
    for (size_t n = 0; pug_diagnosis_evidence(diagnosis->evidence, n, &evidence); n++) {
        if (!input_wants(diagnosis->input, evidence->source))
            continue;
        const struct misset *misset = misset_of(diagnosis, evidence);
        if (misset) { /* the others may come of it */
            say_misset(diagnosis, misset);
            named = true;
            continue;
        }
        say_mismatch(diagnosis, evidence);
        say_missing(diagnosis, evidence);
    }
    if (is_misfit(diagnosis) && !diagnosis->said)
        say_misfit(diagnosis);
    return named;
}

static void say_cut(struct diagnosis *diagnosis)
{
    if (is_cut(diagnosis))
        diagnosis_say(diagnosis, "the trace ends inside a packet or frame: it was cut off there\n");
}

static void say_all(struct diagnosis *diagnosis, const struct pug_survey *survey)
{
    if (diagnosis->input->trace_whole == 0) {
        if (input_bytes(diagnosis->input) == 0) /* of several buffers one may be */
            diagnosis_say(diagnosis, "the trace is empty\n");
        return;
    }
    const bool nothing = !diagnosis->input->partial && diagnosis_say_silence(diagnosis, survey);
    if (diagnosis->bare)
        return;
    const bool named = say_evidence(diagnosis);
    diagnosis_say_bytes(diagnosis, survey);
    say_cut(diagnosis);
    const bool many =
        diagnosis->input->messages.bad_packets * BAD_MANY > diagnosis->input->trace_whole;
    if (diagnosis->said && survey->transport.no_decoder * 2 > survey->bytes && !nothing)
        say_others(diagnosis, survey);
    if (diagnosis->said && !named && diagnosis_say_doubts(diagnosis, survey))
        return;
    if (diagnosis->said && (nothing || many || diagnosis->poor || is_far_off(diagnosis)))
        diagnosis_say_guesses(diagnosis, nothing);
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

static struct read_sources look_at_read(const struct input *input, const struct pug_survey *survey)
{
    struct read_sources seen = {0};
    const struct pug_source *source;
    for (size_t n = 0; (source = pug_tree_source_at(input->tree, n)) != NULL; n++) {
        const struct pug_survey_id *found = diagnosis_find_id(survey, pug_source_id(source));
        const uint64_t bytes = found ? found->bytes : 0;
        if (!input_wants(input, pug_source_id(source)))
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
static bool survey_reading(const struct input *input, uint64_t most, struct pug_survey *survey,
                           struct read_sources *seen)
{
    if (!survey_trace(input, most, survey))
        return false;
    *seen = look_at_read(input, survey);
    return (seen->asked > 0 && seen->without == seen->asked) || seen->deaf;
}

/** A run that read packets and decoded nothing. */
static bool conclude_reading(struct diagnosis *diagnosis)
{
    const struct input *input = diagnosis->input;
    struct read_sources seen;
    struct pug_survey survey;
    const bool empty = input->trace_whole == 0;
    if ((empty && input_bytes(input) > 0) || !survey_reading(input, READING_LOOK, &survey, &seen) ||
        !survey_reading(input, UINT64_MAX, &survey, &seen))
        return false;
    if (empty)
        diagnosis_say(diagnosis, "the trace is empty\n");
    else if (seen.without == seen.asked)
        diagnosis_say_no_bytes(diagnosis, &survey, seen.first, seen.without > 1);
    else
        diagnosis_say_deaf(diagnosis, seen.deaf, seen.deaf_bytes);
    if (!empty && seen.without + seen.deaf_count == seen.asked)
        diagnosis_say_guesses(diagnosis, true);
    return true;
}

/* Fewer bad packets may be of a damaged place. */
#define BAD_LEAST 8u

static void count_message(void *context, const struct pug_log_record *record)
{
    messages_take(context, record, true, true);
}

/** Reads the beginning of the trace once more. Returns how many packets in it are bad. */
static uint64_t count_bad(const struct input *input, uint64_t size)
{
    struct messages messages = {0};
    struct pug_tree *tree = NULL;
    struct pug_log *log = pug_log_new(PUG_SEV_ERROR);
    uint64_t at = 0;
    size_t used = 1;
    if (log)
        pug_log_set_sink(log, count_message, &messages);
    if (log && pug_tree_clone(input->tree, log, &tree) == PUG_OK)
        for (; at < size && used > 0; at += used)
            (void)pug_tree_data(tree, at, input->trace + at, (size_t)(size - at), &used);
    pug_tree_free(tree);
    pug_log_free(log);
    return messages.bad_packets;
}

bool diagnosis_conclude_spoiled(struct diagnosis *diagnosis, bool quiet)
{
    const struct input *input = diagnosis->input;
    const uint64_t size = input->trace_size < READING_LOOK ? input->trace_size : READING_LOOK;
    diagnosis->quiet = quiet;
    const uint64_t bad = input->trace ? count_bad(input, size) : 0;
    if (bad < BAD_LEAST || bad * BAD_MANY < size)
        return false;
    diagnosis_say_bad(diagnosis, bad, size);
    diagnosis_say_guesses(diagnosis, true);
    return true;
}

void diagnosis_say_checked(const struct diagnosis *diagnosis)
{
    const struct pug_evidence *evidence;
    char number[32];
    for (size_t n = 0; pug_diagnosis_evidence(diagnosis->evidence, n, &evidence); n++)
        if (input_wants(diagnosis->input, evidence->source) && evidence->branches > 0 &&
            evidence->missing == 0 && pug_evidence_contradictions(evidence) == 0)
            said(SAID_CHECKED,
                 "source 0x%02x: %s branch%s%s %s compared with the program; all agree",
                 evidence->source, diagnosis_grouped(evidence->branches, number),
                 evidence->branches == 1 ? "" : "es",
                 diagnosis->input->partial ? " at the beginning" : "",
                 evidence->branches == 1 ? "was" : "were");
}

bool diagnosis_conclude(struct diagnosis *diagnosis, bool quiet)
{
    struct pug_survey survey;
    const struct input *input = diagnosis->input;
    if (diagnosis->own)
        pug_diagnosis_take(diagnosis->evidence, diagnosis->own);
    diagnosis->own = NULL;
    diagnosis->quiet = quiet;
    if (diagnosis->concluded)
        return false;
    diagnosis->concluded = true;
    if (!decodes(diagnosis))
        return conclude_reading(diagnosis);
    const struct pug_evidence *evidence;
    for (size_t n = 0;
         !diagnosis->bare && pug_diagnosis_evidence(diagnosis->evidence, n, &evidence); n++)
        if (input_wants(input, evidence->source)) {
            note_losses(diagnosis, evidence);
            diagnosis_note_undefined(diagnosis, evidence);
        }
    diagnosis_say_checked(diagnosis);
    if (input->narrow) {
        if (diagnosis->bare)
            return false;
        (void)say_evidence(diagnosis);
        say_cut(diagnosis);
        return diagnosis->said;
    }
    const bool suspicious = is_suspicious(diagnosis), strays = diagnosis_has_strays(diagnosis);
    if ((!suspicious && !strays) || !survey_trace(input, SURVEY_MOST, &survey))
        return false;
    if (strays)
        diagnosis_say_strays(diagnosis, &survey);
    if (suspicious)
        say_all(diagnosis, &survey);
    return diagnosis->said;
}

bool diagnosis_conclude_packets(struct diagnosis *diagnosis, bool quiet)
{
    diagnosis->quiet = quiet;
    if (diagnosis->concluded)
        return false;
    diagnosis->concluded = true;
    return conclude_reading(diagnosis);
}
