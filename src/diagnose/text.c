// SPDX-License-Identifier: MIT
/** @file The sentences of findings: standard error, pages and bindings say these. */
#include "diagnose/findings.h"

#include "base/text.h"

#include <inttypes.h>

/* ---- words ---- */

/** Appends a number with its thousands apart. */
static void put_number(struct pug_text *text, uint64_t value)
{
    char number[32];
    pug_text_put(text, pug_text_thousands(value, number));
}

static void put_count(struct pug_text *text, uint64_t count, const char *one, const char *many)
{
    put_number(text, count);
    pug_text_put(text, count == 1 ? one : many);
}

static void put_source(struct pug_text *text, const struct pug_finding *finding)
{
    pug_text_format(text, "source 0x%02x: ", finding->source);
}

/** "1,024 of 4,096 bytes" */
static void put_share(struct pug_text *text, const struct pug_finding *finding)
{
    put_number(text, finding->count);
    pug_text_put(text, " of ");
    put_number(text, finding->total);
    pug_text_put(text, " bytes");
}

static void put_ids(struct pug_text *text, const struct pug_finding *finding)
{
    for (size_t i = 0; i < finding->place_count; i++) {
        const struct pug_finding_place *place = &finding->places[i];
        pug_text_format(text, "%s 0x%02x (%s", i ? "," : "", (unsigned)place->first,
                        place->least ? "at least " : "");
        put_number(text, place->count);
        pug_text_put(text, " bytes)");
    }
    if (finding->place_count == 0)
        pug_text_put(text, " none");
    if (finding->before == 0)
        return;
    pug_text_put(text, "; ");
    put_number(text, finding->before);
    pug_text_put(text, " bytes are before the first id");
}

/* ---- sentences ---- */

static void put_program(struct pug_text *text, const struct pug_finding *f)
{
    put_source(text, f);
    pug_text_format(text, "%s program does not match the trace: ", f->several ? "a" : "the");
    put_count(text, f->count, " contradiction", " contradictions");
    pug_text_put(text, " in ");
    put_number(text, f->total);
    pug_text_format(text, " branches, the first at offset %" PRIu64, f->index);
    if (f->address != PUG_ADDRESS_UNKNOWN)
        pug_text_format(text, ", address 0x%" PRIx64, f->address);
    pug_text_format(text, ": %s", pug_contradiction_text(f->contradiction));
    if (!f->several)
        pug_text_put(text, ". Is this the version that ran, loaded where it ran?");
}

static void put_memory(struct pug_text *text, const struct pug_finding *f)
{
    put_source(text, f);
    pug_text_put(text, "execution came ");
    put_count(text, f->count, " time", " times");
    pug_text_put(text, " to addresses that no file or dump has:");
    for (size_t i = 0; i < f->place_count; i++) {
        pug_text_format(text, "%s 0x%" PRIx64 " to 0x%" PRIx64 " (", i ? "," : "",
                        f->places[i].first, f->places[i].last);
        put_number(text, f->places[i].count);
        pug_text_put(text, ")");
    }
    pug_text_put(text, f->cut ? ", …" : "");
    pug_text_put(text, ". Load the file that belongs there.");
}

static void put_parameters(struct pug_text *text, const struct pug_finding *f)
{
    put_source(text, f);
    pug_text_format(text,
                    "the encoder's parameters are missing:%s. Packets are read with the default "
                    "of each, and execution came ",
                    f->name);
    put_count(text, f->count, " time", " times");
    pug_text_put(text, " to addresses that no file or dump has. Give them with --params FILE or "
                       "--set NAME=VALUE.");
}

static void put_settings(struct pug_text *text, const struct pug_finding *f)
{
    put_source(text, f);
    pug_text_put(text, "the settings do not match the trace: ");
    put_number(text, f->count);
    pug_text_format(text,
                    " times, the first at offset %" PRIu64
                    ", %s. What ran after it is missing. Set it as it was in the unit.",
                    f->index, f->words);
}

static void put_misfit(struct pug_text *text, const struct pug_finding *f)
{
    pug_text_put(text, "the program does not match the trace (");
    put_count(text, f->count, " time", " times");
    pug_text_format(text,
                    ", the first at offset %" PRIu64
                    ": %s). Is this the version that ran, loaded where it ran?",
                    f->index, f->words);
}

static void put_cut(struct pug_text *text, const struct pug_finding *f)
{
    (void)f;
    pug_text_put(text, "the trace ends inside a packet or frame: it was cut off there");
}

static void put_empty(struct pug_text *text, const struct pug_finding *f)
{
    (void)f;
    pug_text_put(text, "the trace is empty");
}

static void put_others(struct pug_text *text, const struct pug_finding *f)
{
    put_share(text, f);
    pug_text_put(text, " are of sources that nothing describes; ids in this trace:");
    put_ids(text, f);
}

static void put_stray(struct pug_text *text, const struct pug_finding *f)
{
    const bool one = f->place_count == 1;
    pug_text_put(text, one ? "source " : "sources ");
    for (size_t i = 0; i < f->place_count; i++)
        pug_text_format(text, "%s0x%02x", i ? ", " : "", (unsigned)f->places[i].first);
    pug_text_format(text, "%s: the trace has no byte of %s, and ", f->cut ? ", …" : "",
                    one ? "it" : "them");
    put_number(text, f->count);
    pug_text_format(text,
                    " bytes of id 0x%02x, which nothing describes, look like %s: is that the "
                    "trace id?",
                    f->source, f->name);
}

static void put_little(struct pug_text *text, const struct pug_finding *f)
{
    put_source(text, f);
    pug_text_put(text, "of its ");
    put_number(text, f->total);
    pug_text_put(text, " bytes only ");
    put_number(text, f->count);
    pug_text_put(text, " could be decoded");
}

static void put_no_sync(struct pug_text *text, const struct pug_finding *f)
{
    pug_text_format(text, "source 0x%02x (%s): ", f->source, f->words);
    put_number(text, f->count);
    pug_text_format(text, " bytes, and no place in them where %s could begin to decode", f->name);
}

static void put_no_bytes(struct pug_text *text, const struct pug_finding *f)
{
    pug_text_format(text, "there are no bytes for source 0x%02x%s; ids in this trace:", f->source,
                    f->several ? " and the others asked for" : "");
    put_ids(text, f);
}

static void put_nothing(struct pug_text *text, const struct pug_finding *f)
{
    put_source(text, f);
    pug_text_put(text, "nothing could be decoded of its ");
    put_number(text, f->count);
    pug_text_put(text, " bytes");
}

static void put_skipped(struct pug_text *text, const struct pug_finding *f)
{
    put_share(text, f);
    pug_text_format(text, " were skipped: they are not framed as %s", f->name);
}

static void put_bad_ids(struct pug_text *text, const struct pug_finding *f)
{
    put_share(text, f);
    pug_text_put(text, " are of ids that cannot be: is the framing right?");
}

static void put_bad_packets(struct pug_text *text, const struct pug_finding *f)
{
    put_count(text, f->count, " bad packet", " bad packets");
    pug_text_format(text, ", %.1f in a megabyte of trace",
                    f->total ? (double)f->count * 1e6 / (double)f->total : 0.0);
}

static void put_rate(struct pug_text *text, const struct pug_finding *f)
{
    put_source(text, f);
    pug_text_put(text, "bytes of an SWO pin look so if the probe reads it at another rate than the "
                       "target sends: check the baud rate (the trace clock divided by TPIU_ACPR + "
                       "1)");
}

static void put_noise(struct pug_text *text, const struct pug_finding *f)
{
    put_source(text, f);
    pug_text_put(text, "bad packets between good ones: noise on the line or bytes that the probe "
                       "lost; a lower SWO rate, or less to trace, may help");
}

static void put_fits(struct pug_text *text, const struct pug_finding *f)
{
    pug_text_format(text, "its packets are right with %s (%s)", f->name, f->words);
}

/** "ETMV4I in coresight, --set dstream=1 (…)" */
static void put_guess(struct pug_text *text, const struct pug_finding *f)
{
    pug_text_format(text, "%s in %s%s%s (%s)", f->name, f->other, *f->settings ? ", --set " : "",
                    f->settings, f->words);
}

/** Of a snapshot: which word of it says otherwise. */
static void put_looks_like(struct pug_text *text, const struct pug_finding *f)
{
    pug_text_put(text, f->several ? "or it looks like " : "it looks like ");
    put_guess(text, f);
    if (*f->format)
        pug_text_format(text, "; that is format=%s in the snapshot, which says format=%s",
                        f->format, f->said);
}

static void put_turned(struct pug_text *text, const struct pug_finding *f)
{
    pug_text_format(text, PUG_GUESS_TURNED " they look like ", f->width, f->width);
    put_guess(text, f);
}

static void put_unknown(struct pug_text *text, const struct pug_finding *f)
{
    (void)f;
    pug_text_put(text, "its bytes look like nothing that is known here");
}

static void put_tried(struct pug_text *text, const struct pug_finding *f)
{
    pug_text_format(text, "%s fits with --set %s (%s)", f->several ? "or it" : "it", f->name,
                    f->words);
}

static void put_text(struct pug_text *text, const struct pug_finding *f)
{
    pug_text_put(text, "execution came ");
    put_count(text, f->count, " time", " times");
    pug_text_format(text, " to %s, whose text is missing: %s", f->name, f->words);
}

static void put_more_text(struct pug_text *text, const struct pug_finding *f)
{
    pug_text_put(text, "and to ");
    put_number(text, f->count);
    pug_text_put(text, " more; `pugmark info` lists what is missing");
}

static void put_unmapped(struct pug_text *text, const struct pug_finding *f)
{
    pug_text_put(text, "execution came ");
    put_count(text, f->count, " time", " times");
    pug_text_format(text, " to addresses where no record maps a file, the first 0x%" PRIx64,
                    f->address);
}

static void put_unverified(struct pug_text *text, const struct pug_finding *f)
{
    pug_text_format(text, "no build id tells whether %s is the %s that ran", f->name, f->other);
}

static void put_no_elements(struct pug_text *text, const struct pug_finding *f)
{
    pug_text_format(text, "nothing could be decoded of its %s", f->cut ? "first " : "");
    put_number(text, f->count);
    pug_text_put(text, " bytes of trace");
}

static void put_loss(struct pug_text *text, const struct pug_finding *f)
{
    put_source(text, f);
    pug_text_put(text, "trace was lost");
    if (f->count > 0) {
        pug_text_put(text, " on its way ");
        put_count(text, f->count, " time", " times");
    }
    if (f->total > 0) {
        pug_text_put(text, f->count ? " and, with synchronisation, " : ", with synchronisation, ");
        put_count(text, f->total, " time", " times");
    }
    pug_text_put(text, "; decoding went on behind it, and what ran there is missing");
}

static void put_undefined(struct pug_text *text, const struct pug_finding *f)
{
    put_source(text, f);
    pug_text_put(text, "instructions ran whose encoding is undefined (");
    put_count(text, f->count, " time", " times");
    pug_text_format(text,
                    ", the first at offset %" PRIu64 ", address 0x%" PRIx64 ": %08" PRIx32
                    "); unless the core is newer than this program, another one ran",
                    f->index, f->address, f->opcode);
}

static void put_agrees(struct pug_text *text, const struct pug_finding *f)
{
    put_source(text, f);
    put_count(text, f->count, " branch", " branches");
    pug_text_format(text, "%s %s compared with the program; all agree",
                    f->cut ? " at the beginning" : "", f->count == 1 ? "was" : "were");
}

/* ---- all of them ---- */

static const struct {
    const char *name;
    void (*put)(struct pug_text *text, const struct pug_finding *finding);
} sentences[PUG_FINDING_CODES] = {
    [PUG_FINDING_PROGRAM] = {"program", put_program},
    [PUG_FINDING_MEMORY] = {"memory", put_memory},
    [PUG_FINDING_PARAMETERS] = {"parameters", put_parameters},
    [PUG_FINDING_SETTINGS] = {"settings", put_settings},
    [PUG_FINDING_MISFIT] = {"misfit", put_misfit},
    [PUG_FINDING_CUT] = {"cut", put_cut},
    [PUG_FINDING_EMPTY] = {"empty", put_empty},
    [PUG_FINDING_OTHERS] = {"others", put_others},
    [PUG_FINDING_STRAY] = {"stray", put_stray},
    [PUG_FINDING_LITTLE] = {"little", put_little},
    [PUG_FINDING_NO_SYNC] = {"no-sync", put_no_sync},
    [PUG_FINDING_NO_BYTES] = {"no-bytes", put_no_bytes},
    [PUG_FINDING_NOTHING] = {"nothing", put_nothing},
    [PUG_FINDING_SKIPPED] = {"skipped", put_skipped},
    [PUG_FINDING_BAD_IDS] = {"bad-ids", put_bad_ids},
    [PUG_FINDING_BAD_PACKETS] = {"bad-packets", put_bad_packets},
    [PUG_FINDING_RATE] = {"rate", put_rate},
    [PUG_FINDING_NOISE] = {"noise", put_noise},
    [PUG_FINDING_FITS] = {"fits", put_fits},
    [PUG_FINDING_LOOKS_LIKE] = {"looks-like", put_looks_like},
    [PUG_FINDING_TURNED] = {"turned", put_turned},
    [PUG_FINDING_UNKNOWN] = {"unknown", put_unknown},
    [PUG_FINDING_TRIED] = {"tried", put_tried},
    [PUG_FINDING_TEXT] = {"text", put_text},
    [PUG_FINDING_MORE_TEXT] = {"more-text", put_more_text},
    [PUG_FINDING_UNMAPPED] = {"unmapped", put_unmapped},
    [PUG_FINDING_UNVERIFIED] = {"unverified", put_unverified},
    [PUG_FINDING_NO_ELEMENTS] = {"no-elements", put_no_elements},
    [PUG_FINDING_LOSS] = {"loss", put_loss},
    [PUG_FINDING_UNDEFINED] = {"undefined", put_undefined},
    [PUG_FINDING_AGREES] = {"agrees", put_agrees},
};

size_t pug_finding_text(const struct pug_finding *finding, char *buffer, size_t size)
{
    struct pug_text text = PUG_TEXT(buffer, size);
    if (finding && (unsigned)finding->code < PUG_FINDING_CODES)
        sentences[finding->code].put(&text, finding);
    return pug_text_end(&text);
}

const char *pug_finding_name(enum pug_finding_code code)
{
    return (unsigned)code < PUG_FINDING_CODES ? sentences[code].name : "";
}
