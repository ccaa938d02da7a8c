// SPDX-License-Identifier: MIT
#include "report.h"

#include "text/json.h"
#include "text/markup.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what all have ---- */

struct check_counts check_count(const struct pug_check *check)
{
    struct check_counts counts = {0};
    struct pug_check_verdict verdict;
    for (; pug_check_verdict_at(check, counts.rules, &verdict); counts.rules++) {
        counts.hold += verdict.verdict == PUG_HOLDS;
        counts.violated += verdict.verdict == PUG_VIOLATED;
        counts.undecided += verdict.verdict == PUG_UNDECIDED;
        counts.excused += verdict.excused;
    }
    return counts;
}

bool check_is_open(const struct check_report *report, const struct pug_check_verdict *verdict)
{
    return verdict->verdict == PUG_UNDECIDED && !verdict->excused && !report->allow_undecided;
}

size_t check_place_text(const struct pug_check_place *place, char *text, size_t size)
{
    char time[48], line[16];
    pug_check_value_text(place->time, (enum pug_check_unit)place->unit, time, sizeof(time));
    snprintf(line, sizeof(line), ":%" PRIu32, place->line);
    const int length = snprintf(
        text, size, "%.200s%s%.200s%s%s%s%s%s%.80s%strace offset %" PRIu64 " of source 0x%02x",
        place->function ? place->function : "", place->function && place->path ? " at " : "",
        place->path ? place->path : "", place->path ? line : "", place->function ? ", " : "",
        place->has_time ? "at " : "", place->has_time ? time : "",
        place->has_time && place->thread ? ", in "
        : place->thread                  ? "in "
                                         : "",
        place->thread ? place->thread : "", place->has_time || place->thread ? ", " : "",
        place->index, place->source);
    return length > 0 ? (size_t)length : 0;
}

/** How to look at it. */
static void look_text(const struct pug_check_place *place, char *text, size_t size)
{
    snprintf(text, size, "pugmark trace --around %" PRIu64 " '%.400s'", place->index,
             place->capture ? place->capture : "");
}

/** "1,204 measured: 0.98 ms to 1.02 ms"; "" where nothing was. */
static void measures_text(const struct pug_check_verdict *verdict, char *text, size_t size)
{
    char low[48], high[48], mean[48];
    const enum pug_check_unit unit = (enum pug_check_unit)verdict->unit;
    *text = '\0';
    if (unit == PUG_CHECK_THOUSANDTHS) {
        pug_check_value_text(verdict->value, unit, low, sizeof(low));
        snprintf(text, size, "%s", low);
    } else if (unit != PUG_CHECK_NO_UNIT && verdict->count > 0) {
        pug_check_value_text(verdict->shortest, unit, low, sizeof(low));
        pug_check_value_text(verdict->longest, unit, high, sizeof(high));
        pug_check_value_text(verdict->total / verdict->count, unit, mean, sizeof(mean));
        snprintf(text, size, "%" PRIu64 " measured: %s%s to %s, mean %s", verdict->count,
                 verdict->rough ? "at least " : "", low, high, mean);
    } else if (verdict->count > 0) {
        snprintf(text, size, "%" PRIu64 " counted", verdict->count);
    } else if (verdict->value > 0) {
        snprintf(text, size, "%" PRIu64, verdict->value);
    }
}

/** The violation or what left it open, in one line. */
static void why_text(const struct pug_check_verdict *verdict, char *text, size_t size)
{
    char place[1024];
    if (verdict->has_place)
        check_place_text(&verdict->place, place, sizeof(place));
    snprintf(text, size, "%s%s%s", verdict->why, verdict->has_place ? ": " : "",
             verdict->has_place ? place : "");
}

static const char *name_of(const struct pug_check_verdict *verdict)
{
    return verdict->name ? verdict->name : verdict->rule;
}

/* ---- text ---- */

static void put_printable(struct pug_sink *sink, const char *before, const char *text,
                          const char *behind)
{
    pug_sink_text(sink, before);
    pug_sink_printable(sink, text);
    pug_sink_text(sink, behind);
}

static void put_text_rule(const struct check_report *report,
                          const struct pug_check_verdict *verdict)
{
    static const char *const heads[] = {"holds      ", "VIOLATED   ", "undecided  "};
    struct pug_sink *sink = report->sink;
    char words[2048];
    put_printable(sink, heads[verdict->verdict], verdict->file, "");
    pug_sink_format(sink, ":%" PRIu32 ": ", verdict->line);
    pug_sink_printable(sink, verdict->rule);
    measures_text(verdict, words, sizeof(words));
    if (*words)
        put_printable(sink, "  (", words, ")");
    pug_sink_text(sink, "\n");
    if (verdict->verdict == PUG_HOLDS)
        return;
    why_text(verdict, words, sizeof(words));
    put_printable(sink, "           ", words, "\n");
    if (verdict->violations + verdict->unknown > 1 && !verdict->beforehand)
        pug_sink_format(sink, "           %" PRIu64 " times%s\n",
                        verdict->verdict == PUG_VIOLATED ? verdict->violations : verdict->unknown,
                        verdict->verdict == PUG_VIOLATED && verdict->unknown
                            ? ", and others are undecided"
                            : "");
    if (verdict->has_place) {
        look_text(&verdict->place, words, sizeof(words));
        put_printable(sink, "           look: ", words, "\n");
    }
}

static void put_text(const struct check_report *report)
{
    const struct check_counts counts = check_count(report->check);
    struct pug_check_verdict verdict;
    for (size_t n = 0; pug_check_verdict_at(report->check, n, &verdict); n++)
        put_text_rule(report, &verdict);
    pug_sink_format(report->sink, "%zu rule%s: %zu hold%s, %zu violated, %zu undecided\n",
                    counts.rules, counts.rules == 1 ? "" : "s", counts.hold,
                    counts.hold == 1 ? "s" : "", counts.violated, counts.undecided);
}

/* ---- JUnit ---- */

static void put_attribute(struct pug_sink *sink, const char *name, const char *value)
{
    pug_sink_format(sink, " %s=\"", name);
    pug_markup_text(sink, value);
    pug_sink_text(sink, "\"");
}

static void put_junit_rule(const struct check_report *report,
                           const struct pug_check_verdict *verdict)
{
    struct pug_sink *sink = report->sink;
    const bool open = check_is_open(report, verdict);
    const char *const tag = verdict->verdict == PUG_VIOLATED ? "failure"
                            : open                           ? "error"
                                                             : "skipped";
    char words[2048], look[1024] = "";
    pug_sink_text(sink, "    <testcase");
    put_attribute(sink, "classname", verdict->file);
    put_attribute(sink, "name", name_of(verdict));
    put_attribute(sink, "file", verdict->file);
    pug_sink_format(sink, " line=\"%" PRIu32 "\"", verdict->line);
    if (verdict->verdict == PUG_HOLDS) {
        pug_sink_text(sink, "/>\n");
        return;
    }
    why_text(verdict, words, sizeof(words));
    if (verdict->has_place)
        look_text(&verdict->place, look, sizeof(look));
    pug_sink_format(sink, ">\n      <%s", tag);
    put_attribute(sink, "message", words);
    if (verdict->verdict == PUG_VIOLATED || open)
        put_attribute(sink, "type", pug_verdict_name(verdict->verdict));
    pug_sink_text(sink, ">");
    pug_markup_text(sink, verdict->rule);
    if (*look) {
        pug_sink_text(sink, "\n");
        pug_markup_text(sink, look);
    }
    pug_sink_format(sink, "</%s>\n    </testcase>\n", tag);
}

static void put_junit(const struct check_report *report)
{
    const struct check_counts counts = check_count(report->check);
    struct pug_check_verdict verdict;
    size_t open = 0;
    for (size_t n = 0; pug_check_verdict_at(report->check, n, &verdict); n++)
        open += check_is_open(report, &verdict);
    char numbers[160];
    snprintf(
        numbers, sizeof(numbers),
        " name=\"pugmark check\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"%zu\"",
        counts.rules, counts.violated, open, counts.undecided - open);
    pug_sink_format(report->sink,
                    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites%s>\n  <testsuite%s>\n",
                    numbers, numbers);
    for (size_t n = 0; pug_check_verdict_at(report->check, n, &verdict); n++)
        put_junit_rule(report, &verdict);
    pug_sink_text(report->sink, "  </testsuite>\n</testsuites>\n");
}

/* ---- TAP ---- */

/** A description, in which "#" begins a directive and a line's end ends it. */
static void put_tap_text(struct pug_sink *sink, const char *text)
{
    for (; *text; text++) {
        if (*text == '#' || *text == '\\')
            pug_sink_text(sink, "\\");
        pug_sink_put(sink, (unsigned char)*text < ' ' ? " " : text, 1);
    }
}

static void put_tap_rule(const struct check_report *report, size_t number,
                         const struct pug_check_verdict *verdict)
{
    struct pug_sink *sink = report->sink;
    const bool bad = verdict->verdict == PUG_VIOLATED || check_is_open(report, verdict);
    char words[2048];
    pug_sink_format(sink, "%s %zu - ", bad ? "not ok" : "ok", number);
    put_tap_text(sink, name_of(verdict));
    why_text(verdict, words, sizeof(words));
    if (verdict->verdict == PUG_UNDECIDED && !bad) {
        pug_sink_text(sink, " # SKIP undecided: ");
        put_tap_text(sink, words);
    }
    pug_sink_text(sink, "\n");
    if (!bad)
        return;
    pug_sink_format(sink, "  ---\n  verdict: %s\n  at: ", pug_verdict_name(verdict->verdict));
    struct pug_json json = pug_json_begin(sink);
    char at[600];
    snprintf(at, sizeof(at), "%.500s:%" PRIu32, verdict->file, verdict->line);
    pug_json_string(&json, NULL, at);
    pug_sink_text(sink, "\n  message: ");
    json = pug_json_begin(sink);
    pug_json_string(&json, NULL, words);
    pug_sink_text(sink, "\n  ...\n");
}

static void put_tap(const struct check_report *report)
{
    struct pug_check_verdict verdict;
    pug_sink_format(report->sink, "TAP version 13\n1..%zu\n", check_count(report->check).rules);
    for (size_t n = 0; pug_check_verdict_at(report->check, n, &verdict); n++)
        put_tap_rule(report, n + 1, &verdict);
}

/* ---- JSON ---- */

static const char *unit_name(uint8_t unit)
{
    static const char *const names[] = {NULL,     "ns",           "ticks",
                                        "cycles", "instructions", "thousandths of a percent"};
    return names[unit];
}

static void put_json_place(struct pug_json *json, const struct pug_check_place *place)
{
    pug_json_object(json, "place");
    pug_json_string(json, "capture", place->capture);
    pug_json_number(json, "offset", place->index);
    pug_json_number(json, "source", place->source);
    if (place->has_time) {
        pug_json_number(json, "time", place->time);
        pug_json_string(json, "unit", unit_name(place->unit));
    }
    if (place->thread)
        pug_json_string(json, "thread", place->thread);
    if (place->function)
        pug_json_string(json, "function", place->function);
    if (place->path) {
        pug_json_string(json, "file", place->path);
        pug_json_number(json, "line", place->line);
    }
    pug_json_close(json);
}

static void put_json_rule(struct pug_json *json, const struct pug_check_verdict *verdict)
{
    pug_json_object(json, NULL);
    pug_json_string(json, "rule", verdict->rule);
    if (verdict->name)
        pug_json_string(json, "name", verdict->name);
    pug_json_string(json, "file", verdict->file);
    pug_json_number(json, "line", verdict->line);
    pug_json_string(json, "verdict", pug_verdict_name(verdict->verdict));
    if (verdict->verdict != PUG_HOLDS)
        pug_json_string(json, "why", verdict->why);
    if (verdict->excused)
        pug_json_bool(json, "excused", true);
    if (verdict->beforehand)
        pug_json_bool(json, "beforehand", true);
    pug_json_number(json, "violations", verdict->violations);
    pug_json_number(json, "unknown", verdict->unknown);
    pug_json_number(json, "count", verdict->count);
    if (verdict->unit == PUG_CHECK_THOUSANDTHS) {
        pug_json_number(json, "value", verdict->value);
        pug_json_string(json, "unit", unit_name(verdict->unit));
    } else if (verdict->unit != PUG_CHECK_NO_UNIT) {
        pug_json_string(json, "unit", unit_name(verdict->unit));
        pug_json_number(json, "shortest", verdict->shortest);
        pug_json_number(json, "longest", verdict->longest);
        pug_json_number(json, "total", verdict->total);
        pug_json_bool(json, "exact", !verdict->rough);
    }
    if (verdict->has_place)
        put_json_place(json, &verdict->place);
    pug_json_close(json);
}

static void put_json(const struct check_report *report)
{
    const struct check_counts counts = check_count(report->check);
    struct pug_json json = pug_json_begin(report->sink);
    struct pug_check_verdict verdict;
    pug_json_object(&json, NULL);
    pug_json_number(&json, "rules", counts.rules);
    pug_json_number(&json, "hold", counts.hold);
    pug_json_number(&json, "violated", counts.violated);
    pug_json_number(&json, "undecided", counts.undecided);
    pug_json_array(&json, "verdicts");
    for (size_t n = 0; pug_check_verdict_at(report->check, n, &verdict); n++)
        put_json_rule(&json, &verdict);
    pug_json_close(&json);
    pug_json_close(&json);
    pug_json_line(&json);
}

/* ---- annotations of GitHub ---- */

/** Its workflow commands have three characters that end something; in properties two more. */
static void put_escaped(struct pug_sink *sink, const char *text, bool property)
{
    for (; *text; text++) {
        const char c = *text;
        if (c == '%' || c == '\n' || c == '\r' || (property && (c == ':' || c == ',')))
            pug_sink_format(sink, "%%%02X", (unsigned)c);
        else if ((unsigned char)c < ' ' || c == 0x7f)
            pug_sink_text(sink, "?");
        else
            pug_sink_put(sink, text, 1);
    }
}

static void put_github(const struct check_report *report)
{
    struct pug_check_verdict verdict;
    const struct check_counts counts = check_count(report->check);
    char words[2048];
    for (size_t n = 0; pug_check_verdict_at(report->check, n, &verdict); n++) {
        if (verdict.verdict == PUG_HOLDS)
            continue;
        const bool error = verdict.verdict == PUG_VIOLATED;
        pug_sink_text(report->sink, error                             ? "::error file="
                                    : check_is_open(report, &verdict) ? "::warning file="
                                                                      : "::notice file=");
        put_escaped(report->sink, verdict.file, true);
        pug_sink_format(report->sink, ",line=%" PRIu32 ",title=%s%%3A ", verdict.line,
                        error ? "violated" : "undecided");
        put_escaped(report->sink, name_of(&verdict), true);
        pug_sink_text(report->sink, "::");
        why_text(&verdict, words, sizeof(words));
        put_escaped(report->sink, words, false);
        if (verdict.has_place) {
            look_text(&verdict.place, words, sizeof(words));
            pug_sink_text(report->sink, "%0Alook: ");
            put_escaped(report->sink, words, false);
        }
        pug_sink_text(report->sink, "\n");
    }
    pug_sink_format(report->sink, "%zu rules: %zu hold, %zu violated, %zu undecided\n",
                    counts.rules, counts.hold, counts.violated, counts.undecided);
}

check_format_fn *check_format(const char *name)
{
    static const struct {
        const char *name;
        check_format_fn *format;
    } formats[] = {{"text", put_text},
                   {"junit", put_junit},
                   {"tap", put_tap},
                   {"json", put_json},
                   {"github", put_github}};
    for (size_t n = 0; n < sizeof(formats) / sizeof(formats[0]); n++)
        if (strcmp(formats[n].name, name) == 0)
            return formats[n].format;
    return NULL;
}
