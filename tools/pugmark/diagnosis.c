// SPDX-License-Identifier: MIT
#include "diagnosis.h"

#include "input.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct diagnosis {
    struct input *input;
    struct pug_diagnosis *evidence;
    struct pug_diagnosis_part *own; /**< of a consumer that takes elements one after another */
    struct pug_parts parts;
    const struct pug_parts *inner;
    pug_elements_fn *consumer;
    void *consumer_context;
    bool quiet;
    bool concluded;
    bool said; /**< the paragraph has begun */
    bool poor; /**< little of a source could be decoded */
};

struct diagnosis *diagnosis_new(struct input *input)
{
    struct diagnosis *diagnosis = calloc(1, sizeof(*diagnosis));
    if (!diagnosis)
        return NULL;
    diagnosis->input = input;
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

/* ---- elements on their way ---- */

struct double_part {
    struct pug_passage passage; /* first: it is the way from a passage to its part */
    struct pug_passage *outer;
    struct diagnosis *diagnosis;
    struct pug_diagnosis_part *evidence;
    void *inner;
};

static void *begin_part(void *context, unsigned worker)
{
    struct diagnosis *diagnosis = context;
    struct double_part *part = calloc(1, sizeof(*part));
    if (!part)
        return NULL;
    part->diagnosis = diagnosis;
    part->evidence = pug_diagnosis_begin(diagnosis->evidence);
    part->inner = diagnosis->inner->begin(diagnosis->inner->context, worker);
    if (part->inner && part->evidence)
        return part;
    if (part->inner)
        diagnosis->inner->drop(part->inner);
    pug_diagnosis_drop(part->evidence);
    free(part);
    return NULL;
}

/** Of a portion there is no evidence: that is its part's. */
static bool give_portion(struct pug_passage *passage, void *portion, size_t size)
{
    const struct double_part *part = (const struct double_part *)passage;
    struct double_part *wrapped = portion ? calloc(1, sizeof(*wrapped)) : NULL;
    if (wrapped) {
        wrapped->diagnosis = part->diagnosis;
        wrapped->inner = portion;
    } else if (portion) {
        part->diagnosis->inner->drop(portion);
    }
    return pug_passage_give(part->outer, wrapped, size);
}

static void set_passage(void *context, struct pug_passage *passage)
{
    struct double_part *part = context;
    part->outer = passage;
    part->passage.give = give_portion;
    part->diagnosis->inner->passage(part->inner, &part->passage);
}

static void part_elements(void *context, const struct pug_element *elements, size_t count)
{
    struct double_part *part = context;
    part->diagnosis->inner->elements(part->inner, elements, count);
    pug_diagnosis_elements(part->evidence, elements, count);
}

static bool take_part(void *context, void *taken)
{
    struct diagnosis *diagnosis = context;
    struct double_part *part = taken;
    void *inner = part->inner;
    if (part->evidence)
        pug_diagnosis_take(diagnosis->evidence, part->evidence);
    free(part);
    return diagnosis->inner->take(diagnosis->inner->context, inner);
}

static void drop_part(void *context)
{
    struct double_part *part = context;
    part->diagnosis->inner->drop(part->inner);
    pug_diagnosis_drop(part->evidence);
    free(part);
}

static struct pug_counts *part_counts(void *context)
{
    struct double_part *part = context;
    return part->diagnosis->inner->counts(part->inner);
}

const struct pug_parts *diagnosis_parts(struct diagnosis *diagnosis, const struct pug_parts *inner)
{
    diagnosis->inner = inner;
    diagnosis->parts = (struct pug_parts){.context = diagnosis,
                                          .begin = begin_part,
                                          .elements = part_elements,
                                          .take = take_part,
                                          .drop = drop_part,
                                          .counts = inner->counts ? part_counts : NULL,
                                          .passage = inner->passage ? set_passage : NULL};
    return &diagnosis->parts;
}

static enum pug_response consume(void *context, const struct pug_element *elements, size_t count,
                                 size_t *taken)
{
    struct diagnosis *diagnosis = context;
    *taken = count;
    enum pug_response response =
        diagnosis->consumer(diagnosis->consumer_context, elements, count, taken);
    if (diagnosis->own)
        pug_diagnosis_elements(diagnosis->own, elements,
                               response >= PUG_RESP_WAIT ? *taken : count);
    return response;
}

void diagnosis_consume(struct diagnosis *diagnosis, pug_elements_fn *function, void *context)
{
    diagnosis->consumer = function;
    diagnosis->consumer_context = context;
    diagnosis->own = pug_diagnosis_begin(diagnosis->evidence);
    pug_tree_on_elements(diagnosis->input->tree, consume, diagnosis);
}

/* ---- the paragraph ---- */

static void say(struct diagnosis *diagnosis, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void say(struct diagnosis *diagnosis, const char *format, ...)
{
    va_list arguments;
    if (!diagnosis->said && !diagnosis->quiet)
        fprintf(stderr, "pugmark: %s: something is wrong:\n", diagnosis->input->trace_path);
    diagnosis->said = true;
    if (diagnosis->quiet)
        return;
    fprintf(stderr, "  * ");
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
}

/** A number with its thousands apart. */
static const char *grouped(uint64_t value, char buffer[32])
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

static const struct pug_evidence *evidence_of(const struct diagnosis *diagnosis, uint16_t id)
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
    const enum pug_contradiction kind = pug_evidence_first(evidence);
    char a[32], b[32];
    say(diagnosis,
        "source 0x%02x: the program does not match the trace: %s contradiction%s in %s branches, "
        "the first at offset %" PRIu64 ", address 0x%" PRIx64 ": %s. Is this the version that ran, "
        "loaded where it ran?\n",
        evidence->source, grouped(count, a), count == 1 ? "" : "s", grouped(evidence->branches, b),
        evidence->first[kind].index, evidence->first[kind].address, pug_contradiction_text(kind));
}

/** What an answer rests on. It is no mistake of anybody's. */
static void note_losses(struct diagnosis *diagnosis, const struct pug_evidence *evidence)
{
    char a[32], b[32];
    if (diagnosis->quiet || evidence->no_syncs + evidence->overflows == 0)
        return;
    fprintf(stderr, "pugmark: %s: source 0x%02x: trace was lost", diagnosis->input->trace_path,
            evidence->source);
    if (evidence->overflows > 0)
        fprintf(stderr, " on its way %s time%s", grouped(evidence->overflows, a),
                evidence->overflows == 1 ? "" : "s");
    if (evidence->no_syncs > 0)
        fprintf(stderr, "%s, with synchronisation, %s time%s", evidence->overflows ? " and" : "",
                grouped(evidence->no_syncs, b), evidence->no_syncs == 1 ? "" : "s");
    fprintf(stderr, "; decoding went on behind it, and what ran there is missing\n");
}

/* ---- missing memory ---- */

struct stretch {
    uint64_t start, end, count;
};

static int by_address(const void *a, const void *b)
{
    const struct stretch *left = a, *right = b;
    return left->start < right->start ? -1 : left->start > right->start;
}

static int by_count(const void *a, const void *b)
{
    const struct stretch *left = a, *right = b;
    return left->count > right->count ? -1 : left->count < right->count;
}

/** Pages that are neighbours, or nearly, are one; the most frequent first. */
static size_t join_pages(const struct pug_evidence *evidence, struct stretch *out)
{
    const uint64_t page = 0x1000;
    size_t count = 0;
    struct stretch pages[PUG_MISSING_PAGES];
    for (uint32_t i = 0; i < evidence->page_count; i++)
        pages[i] =
            (struct stretch){evidence->pages[i].address, evidence->pages[i].address + (page - 1),
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
    struct stretch stretches[PUG_MISSING_PAGES];
    char text[512] = "", number[32];
    size_t at = 0, count;
    if (evidence->missing == 0)
        return;
    count = join_pages(evidence, stretches);
    for (size_t i = 0; i < count && i < 5; i++)
        at += (size_t)snprintf(
            text + at, sizeof(text) - at, "%s 0x%" PRIx64 " to 0x%" PRIx64 " (%s)", i ? "," : "",
            stretches[i].start, stretches[i].end, grouped(stretches[i].count, number));
    say(diagnosis,
        "source 0x%02x: execution came %s time%s to addresses that no file or dump has:%s%s. Load "
        "the file that belongs there.\n",
        evidence->source, grouped(evidence->missing, number), evidence->missing == 1 ? "" : "s",
        text, count > 5 ? ", …" : "");
}

/* ---- bytes ---- */

static void say_ids(const struct pug_survey *survey, char *text, size_t size)
{
    size_t at = 0, listed = 0;
    char number[32];
    *text = '\0';
    for (size_t i = 0; i < survey->id_count && listed < 8; i++) {
        if (survey->ids[i].bytes == 0)
            continue;
        at += (size_t)snprintf(text + at, size - at, "%s 0x%02x (%s bytes)", listed++ ? "," : "",
                               survey->ids[i].id, grouped(survey->ids[i].bytes, number));
    }
    if (listed == 0)
        snprintf(text, size, " none");
}

static const struct pug_survey_id *find_id(const struct pug_survey *survey, uint16_t id)
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

/** What the bytes look like, if that is not what they were taken for. */
static void say_guesses(struct diagnosis *diagnosis, bool nothing)
{
    const struct input *input = diagnosis->input;
    struct pug_guess guesses[PUG_GUESSES];
    size_t count = pug_guess_format(input->trace, (size_t)input->trace_size, guesses);
    if (count > 0 && is_in_use(input, &guesses[0])) {
        if (*guesses[0].settings && (nothing || input->messages.bad_packets > 0))
            say(diagnosis, "its packets are right with --set %s (%s)\n", guesses[0].settings,
                guesses[0].reason);
        return;
    }
    for (size_t i = 0; i < count && (i < (nothing ? 3 : 1) || guesses[i].score == guesses[0].score);
         i++)
        say(diagnosis, "%s looks like %s in %s%s%s (%s)\n", i ? "or it" : "it", guesses[i].protocol,
            guesses[i].transport, *guesses[i].settings ? ", --set " : "", guesses[i].settings,
            guesses[i].reason);
    if (count == 0 && nothing)
        say(diagnosis, "its bytes look like nothing that is known here\n");
}

void diagnosis_guess(const struct input *input)
{
    struct pug_guess guesses[PUG_GUESSES];
    const size_t count = pug_guess_format(input->trace, (size_t)input->trace_size, guesses);
    for (size_t i = 0; i < count && i < 3; i++)
        fprintf(stderr, "  * %s looks like %s in %s%s%s (%s)\n", i ? "or it" : "it",
                guesses[i].protocol, guesses[i].transport, *guesses[i].settings ? ", --set " : "",
                guesses[i].settings, guesses[i].reason);
}

static void say_deaf(struct diagnosis *diagnosis, const struct pug_source *source, uint64_t bytes)
{
    char number[32];
    say(diagnosis,
        "source 0x%02x (%s): %s bytes, and no place in them where %s could begin to decode\n",
        pug_source_id(source), pug_protocol_title(pug_source_protocol(source)),
        grouped(bytes, number), pug_protocol_name(pug_source_protocol(source)));
}

static void say_no_bytes(struct diagnosis *diagnosis, const struct pug_survey *survey,
                         uint16_t first, bool more)
{
    char text[512];
    say_ids(survey, text, sizeof(text));
    say(diagnosis, "there are no bytes for source 0x%02x%s; ids in this trace:%s\n", first,
        more ? " and the others asked for" : "", text);
}

/** Of all sources that were asked for. True: there was nothing to decode. */
static bool say_silence(struct diagnosis *diagnosis, const struct pug_survey *survey)
{
    const struct input *input = diagnosis->input;
    const bool chosen = input->options->sources.count > 0;
    const struct pug_source *source;
    char number[32], other[32];
    size_t asked = 0, silent = 0, deaf = 0;
    uint16_t first = 0;
    for (size_t n = 0; (source = pug_tree_source_at(input->tree, n)) != NULL; n++) {
        const uint16_t id = pug_source_id(source);
        const struct pug_survey_id *found = find_id(survey, id);
        const struct pug_evidence *evidence = evidence_of(diagnosis, id);
        if (!input_wants(input, id) || !pug_source_decodes(source))
            continue;
        asked++;
        if (evidence && evidence->told > 0) {
            if (!found || found->unsynced * 2 <= found->bytes)
                continue;
            diagnosis->poor = true;
            say(diagnosis, "source 0x%02x: of its %s bytes only %s could be decoded\n", id,
                grouped(found->bytes, number), grouped(found->bytes - found->unsynced, other));
            continue;
        }
        if (silent++ == 0)
            first = id;
        if (found && found->bytes > 0 && found->unsynced * 2 > found->bytes) {
            deaf++;
            say_deaf(diagnosis, source, found->bytes);
        }
    }
    if (deaf == 0 && asked > 0 && silent > 0 && (chosen || silent == asked)) {
        const struct pug_survey_id *found = find_id(survey, first);
        if (!found || found->bytes == 0)
            say_no_bytes(diagnosis, survey, first, silent > 1);
        else
            say(diagnosis, "source 0x%02x: nothing could be decoded of its %s bytes\n", first,
                grouped(found->bytes, number));
    }
    return asked > 0 && silent == asked;
}

static void say_bytes(struct diagnosis *diagnosis, const struct pug_survey *survey)
{
    const struct pug_transport_stats *stats = &survey->transport;
    char a[32], b[32];
    if (stats->skipped * 50 > survey->bytes)
        say(diagnosis, "%s of %s bytes were skipped: they are not framed as %s\n",
            grouped(stats->skipped, a), grouped(survey->bytes, b),
            pug_transport_name(pug_tree_transport(diagnosis->input->tree)));
    if ((stats->reserved + stats->unknown) * 20 > survey->bytes)
        say(diagnosis, "%s of %s bytes are of ids that cannot be: is the framing right?\n",
            grouped(stats->reserved + stats->unknown, a), grouped(survey->bytes, b));
    if (diagnosis->input->messages.bad_packets > 0)
        say(diagnosis, "%s bad packet%s, %.1f in a megabyte of trace\n",
            grouped(diagnosis->input->messages.bad_packets, a),
            diagnosis->input->messages.bad_packets == 1 ? "" : "s",
            (double)diagnosis->input->messages.bad_packets * 1e6 /
                (double)diagnosis->input->trace_size);
}

/* ---- the whole ---- */

/* A bad packet in so many bytes is many. */
#define BAD_MANY 1000u

/* So much of a capture is read again to see what is wrong with it. */
#define SURVEY_MOST (UINT64_C(64) << 20)

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
    if (diagnosis->input->messages.bad_packets > 0 || is_misfit(diagnosis) || is_cut(diagnosis))
        return true;
    for (size_t n = 0; pug_diagnosis_evidence(diagnosis->evidence, n, &evidence); n++)
        if (evidence->missing > 0 || pug_evidence_contradictions(evidence) > 0)
            return true;
    size_t asked = 0, silent = 0;
    if (diagnosis->input->partial)
        return false;
    for (size_t n = 0; (source = pug_tree_source_at(diagnosis->input->tree, n)) != NULL; n++) {
        evidence = evidence_of(diagnosis, pug_source_id(source));
        if (!pug_source_decodes(source) || !input_wants(diagnosis->input, pug_source_id(source)))
            continue;
        asked++;
        silent += !evidence || evidence->told == 0;
    }
    return silent > 0 && (silent == asked || diagnosis->input->options->sources.count > 0);
}

/** Most bytes are of sources that nobody has described: it may be another trace altogether. */
static void say_others(struct diagnosis *diagnosis, const struct pug_survey *survey)
{
    char text[512], a[32], b[32];
    say_ids(survey, text, sizeof(text));
    say(diagnosis, "%s of %s bytes are of sources that nothing describes; ids in this trace:%s\n",
        grouped(survey->transport.no_decoder, a), grouped(survey->bytes, b), text);
    diagnosis->poor = true;
}

/** So many contradictions that it may be no trace of the protocol. */
static bool is_far_off(const struct diagnosis *diagnosis)
{
    const struct pug_evidence *evidence;
    for (size_t n = 0; pug_diagnosis_evidence(diagnosis->evidence, n, &evidence); n++)
        if (pug_evidence_contradictions(evidence) * 20 > evidence->branches + 20)
            return true;
    return false;
}

static void say_all(struct diagnosis *diagnosis, const struct pug_survey *survey)
{
    const struct pug_evidence *evidence;
    if (diagnosis->input->trace_size == 0) {
        if (input_bytes(diagnosis->input) == 0) /* of several buffers one may be */
            say(diagnosis, "the trace is empty\n");
        return;
    }
    const bool nothing = !diagnosis->input->partial && say_silence(diagnosis, survey);
    for (size_t n = 0; pug_diagnosis_evidence(diagnosis->evidence, n, &evidence); n++) {
        if (!input_wants(diagnosis->input, evidence->source))
            continue;
        say_mismatch(diagnosis, evidence);
        say_missing(diagnosis, evidence);
    }
    if (is_misfit(diagnosis) && !diagnosis->said)
        say(diagnosis, "the program does not match the trace, as the messages say. Is this the "
                       "version that ran, loaded where it ran?\n");
    say_bytes(diagnosis, survey);
    if (is_cut(diagnosis))
        say(diagnosis, "the trace ends inside a packet or frame: it was cut off there\n");
    const bool many =
        diagnosis->input->messages.bad_packets * BAD_MANY > diagnosis->input->trace_size;
    if (diagnosis->said && survey->transport.no_decoder * 2 > survey->bytes && !nothing)
        say_others(diagnosis, survey);
    if (diagnosis->said && (nothing || many || diagnosis->poor || is_far_off(diagnosis)))
        say_guesses(diagnosis, nothing);
}

/* ---- packets alone ---- */

/** What reading packets had of the sources that were asked for. */
struct read_sources {
    size_t asked, without; /* without bytes */
    uint16_t first;        /* of those */
    size_t deaf_count;     /* with bytes, and no place to begin at */
    const struct pug_source *deaf;
};

static struct read_sources look_at_read(const struct diagnosis *diagnosis)
{
    const struct input *input = diagnosis->input;
    struct read_sources seen = {0};
    const struct pug_source *source;
    for (size_t n = 0; (source = pug_tree_source_at(input->tree, n)) != NULL; n++) {
        const struct pug_reader_stats *stats = pug_source_stats(source);
        if (!input_wants(input, pug_source_id(source)))
            continue;
        seen.asked++;
        if (stats->bytes == 0 && seen.without++ == 0)
            seen.first = pug_source_id(source);
        if (stats->bytes == 0 || stats->unsynced * 2 <= stats->bytes)
            continue;
        seen.deaf_count++;
        seen.deaf = source;
    }
    return seen;
}

/** A run that read packets and decoded nothing. */
static bool conclude_reading(struct diagnosis *diagnosis)
{
    const struct input *input = diagnosis->input;
    const struct read_sources seen = look_at_read(diagnosis);
    const bool nothing = seen.asked > 0 && seen.without == seen.asked;
    struct pug_survey survey;
    const bool empty = input->trace_size == 0;
    /* A stream's bytes are gone. */
    if ((!nothing && !seen.deaf) || (empty && input_bytes(input) > 0) ||
        (!empty && !input->trace) ||
        pug_survey_capture(input->tree, input->trace, input->trace_size, SURVEY_MOST, &survey) !=
            PUG_OK)
        return false;
    if (empty)
        say(diagnosis, "the trace is empty\n");
    else if (nothing)
        say_no_bytes(diagnosis, &survey, seen.first, seen.without > 1);
    else
        say_deaf(diagnosis, seen.deaf, pug_source_stats(seen.deaf)->bytes);
    if (!empty && seen.without + seen.deaf_count == seen.asked)
        say_guesses(diagnosis, true);
    return true;
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
    for (size_t n = 0; pug_diagnosis_evidence(diagnosis->evidence, n, &evidence); n++)
        if (input_wants(input, evidence->source))
            note_losses(diagnosis, evidence);
    /* A stream's bytes are gone. */
    if (!is_suspicious(diagnosis) || !input->trace ||
        pug_survey_capture(input->tree, input->trace, input->trace_size, SURVEY_MOST, &survey) !=
            PUG_OK)
        return false;
    say_all(diagnosis, &survey);
    return diagnosis->said;
}
