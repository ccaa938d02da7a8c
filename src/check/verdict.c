// SPDX-License-Identifier: MIT
/** @file What becomes of a rule: where it was violated first, and what decides it in the end. */
#include "check/cover.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- places ---- */

static uint64_t dated(const struct pug_check *check, uint64_t time)
{
    uint64_t ns = time;
    if (check->ns)
        (void)pug_capture_clock(check->capture, time, &ns);
    return ns;
}

static void name_place(struct pug_check *check, const struct check_seen *seen,
                       struct pug_check_place *place)
{
    struct pug_names_line line;
    const struct check_function *function =
        seen->function ? CHECK_FUNCTION_AT(check, seen->function - 1) : NULL;
    if (!function)
        return;
    place->function = pug_names_readable(check->names, function->name);
    place->function = pug_check_keep(&check->texts, place->function, strlen(place->function));
    struct pug_names_file *file =
        function->object < check->object_count ? check->objects[function->object].file : NULL;
    if (file && pug_names_line(file, function->start, &line) && line.path) {
        place->path = pug_check_keep(&check->texts, line.path, strlen(line.path));
        place->line = line.line;
    }
}

static struct pug_check_place place_of(struct pug_check *check, const struct check_seen *seen)
{
    const struct check_core *core = seen->core;
    struct pug_check_place place = {.capture = check->path, .source = core ? core->source : 0};
    const uint64_t cycles = seen->stamp ? seen->stamp->cycles.from : core ? core->cycles : 0;
    uint64_t time = seen->stamp ? seen->stamp->time.from : core ? core->time : 0;
    if (seen->stamp)
        place.index = seen->stamp->index;
    else if (check->element)
        place.index = check->element->index;
    if (time == 0 && seen->stamp && seen->stamp->time.to != CHECK_UNKNOWN)
        time = seen->stamp->time.to;
    if (core && core->has_time && time != 0) {
        place.has_time = true;
        place.time = dated(check, time);
        place.unit = check->ns ? PUG_CHECK_NANOSECONDS : PUG_CHECK_TICKS;
    } else if (core && core->has_cycles) {
        place.has_time = true;
        place.time = cycles;
        place.unit = PUG_CHECK_CYCLES;
    }
    if (seen->stream)
        place.thread = seen->stream->label;
    name_place(check, seen, &place);
    return place;
}

__attribute__((format(printf, 2, 0))) static const char *
sentence(struct pug_check *check, const char *format, va_list arguments)
{
    char words[512];
    const int length = vsnprintf(words, sizeof(words), format, arguments);
    if (length < 0)
        return "";
    return pug_check_keep(&check->texts, words,
                          (size_t)length < sizeof(words) ? (size_t)length : sizeof(words) - 1);
}

void pug_check_note(struct pug_check *check, uint32_t rule, const struct check_seen *seen)
{
    struct check_tally *tally = CHECK_TALLY(check, rule);
    tally->noted = true;
    tally->first = place_of(check, seen);
}

void pug_check_violate(struct pug_check *check, uint32_t rule, const struct check_seen *seen,
                       const char *format, ...)
{
    struct check_tally *tally = CHECK_TALLY(check, rule);
    tally->violations++;
    if (tally->has_violation)
        return;
    va_list arguments;
    va_start(arguments, format);
    tally->violation_why = sentence(check, format, arguments);
    va_end(arguments);
    tally->has_violation = true;
    tally->violation = place_of(check, seen);
    if (check->options.found && !tally->found)
        check->options.found(check->options.found_context, rule);
    tally->found = true;
    check->stopped |= check->options.stop;
}

void pug_check_doubt(struct pug_check *check, uint32_t rule, const struct check_seen *seen,
                     const char *format, ...)
{
    struct check_tally *tally = CHECK_TALLY(check, rule);
    tally->unknown++;
    if (tally->has_unknown)
        return;
    va_list arguments;
    va_start(arguments, format);
    tally->unknown_why = sentence(check, format, arguments);
    va_end(arguments);
    tally->has_unknown = true;
    tally->open = place_of(check, seen);
}

/* ---- in the end ---- */

static void decide(struct pug_check *check, struct check_tally *tally, enum pug_verdict verdict,
                   const char *format, ...) __attribute__((format(printf, 4, 5)));

static void decide(struct pug_check *check, struct check_tally *tally, enum pug_verdict verdict,
                   const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    tally->decided_why = sentence(check, format, arguments);
    va_end(arguments);
    tally->verdict = (uint8_t)verdict;
}

static const char *of_scope(struct pug_check *check, const struct check_sum *sum, bool function)
{
    const bool named = function && sum->function;
    return pug_check_keep_format(&check->texts, "%s%s%s%s", named ? " of " : "",
                                 named ? sum->function : "", sum->scope ? " in " : "",
                                 sum->scope ? sum->scope : "");
}

static void words_of(const struct check_interval *value, uint8_t unit, char *words, size_t size)
{
    char low[48], high[48];
    pug_check_value_text(value->from, unit, low, sizeof(low));
    pug_check_value_text(value->to, unit, high, sizeof(high));
    if (value->from == value->to)
        snprintf(words, size, "is %s", low);
    else if (value->to == CHECK_UNKNOWN)
        snprintf(words, size, "is at least %s", low);
    else
        snprintf(words, size, "is between %s and %s", low, high);
}

static const char *stat_name(struct pug_check *check, const struct check_rule *rule)
{
    static const char *const names[] = {"",          "the mean",         "",
                                        "the total", "the longest call", "the shortest call"};
    if (rule->stat != CHECK_PERCENTILE)
        return names[rule->stat];
    const uint32_t whole = rule->percentile / 1000, part = rule->percentile % 1000;
    if (part == 0)
        return pug_check_keep_format(&check->texts, "p%" PRIu32, whole);
    return part % 100 == 0
               ? pug_check_keep_format(&check->texts, "p%" PRIu32 ".%" PRIu32, whole, part / 100)
               : pug_check_keep_format(&check->texts, "p%" PRIu32 ".%03" PRIu32, whole, part);
}

/** A statistic of each function and each scope. */
static void decide_stat(struct pug_check *check, struct check_tally *tally)
{
    struct check_sum **sums = tally->sums.items;
    bool measured = false;
    for (size_t n = 0; n < tally->sums.count; n++) {
        struct check_interval value;
        char words[128];
        if (!pug_check_sum_value(sums[n], &tally->rule, &value))
            continue;
        measured = true;
        enum pug_verdict verdict =
            pug_check_compare(&value, tally->rule.cmp, tally->rule.limit.value);
        words_of(&value, tally->rule.limit.unit, words, sizeof(words));
        if (verdict == PUG_HOLDS && sums[n]->unknown > 0)
            verdict = PUG_UNDECIDED;
        tally->has_value |= value.from == value.to;
        tally->value = value.to;
        if (verdict == PUG_VIOLATED) {
            tally->violations++;
            decide(check, tally, verdict, "%s%s %s", stat_name(check, &tally->rule),
                   of_scope(check, sums[n], true), words);
            return;
        }
        if (verdict == PUG_UNDECIDED) {
            tally->unknown++;
            decide(check, tally, verdict, "%s%s %s%s", stat_name(check, &tally->rule),
                   of_scope(check, sums[n], true), words,
                   sums[n]->unknown ? ", but trace was lost inside of calls" : "");
        }
    }
    if (!measured && tally->verdict == PUG_HOLDS)
        for (size_t n = 0; n < tally->sums.count; n++)
            if (sums[n]->partial + sums[n]->unknown > 0)
                decide(check, tally, PUG_UNDECIDED, "no complete call was seen");
}

/** Calls of which only a part was seen leave it open where no other one was. */
static void decide_partial(struct pug_check *check, struct check_tally *tally)
{
    struct check_sum **sums = tally->sums.items;
    for (size_t n = 0; n < tally->sums.count; n++)
        if (sums[n]->partial > 0 && (sums[n]->count == 0 || check->options.strict)) {
            tally->unknown += sums[n]->partial;
            decide(check, tally, PUG_UNDECIDED,
                   sums[n]->count == 0
                       ? "no complete call was seen%s: it began before the trace, or was cut by "
                         "its end"
                       : "a call%s began before the trace, or was cut by its end",
                   of_scope(check, sums[n], true));
        }
}

static void decide_runs(struct pug_check *check, struct check_tally *tally)
{
    struct check_sum **sums = tally->sums.items;
    for (size_t n = 0; n < tally->sums.count; n++) {
        const struct check_interval count = {
            sums[n]->count, tally->lost ? CHECK_UNKNOWN : sums[n]->count + sums[n]->partial};
        const enum pug_verdict verdict =
            tally->rule.has_limit
                ? pug_check_compare(&count, tally->rule.cmp, tally->rule.limit.value)
            : sums[n]->count + sums[n]->partial > 0 ? PUG_HOLDS
            : tally->lost                           ? PUG_UNDECIDED
                                                    : PUG_VIOLATED;
        const char *const scope = of_scope(check, sums[n], false);
        tally->count += sums[n]->count;
        if (verdict == PUG_VIOLATED) {
            tally->violations++;
            decide(check, tally, verdict, "it ran %" PRIu64 " times%s%s", sums[n]->count,
                   sums[n]->partial ? ", once from before the trace on" : "", scope);
            return;
        }
        if (verdict == PUG_UNDECIDED) {
            tally->unknown++;
            decide(check, tally, verdict, "it ran %" PRIu64 " times%s%s%s", sums[n]->count,
                   sums[n]->partial ? ", and was running when the trace began" : "", scope,
                   tally->lost ? ", but trace was lost" : "");
        }
    }
}

static void decide_depth(struct pug_check *check, struct check_tally *tally)
{
    const struct check_interval depth = {tally->value, tally->value};
    if (!tally->saw_depth) {
        decide(check, tally, PUG_UNDECIDED, "it was not entered, so no depth above it is known");
        return;
    }
    if (tally->rule.cmp > CHECK_AT_MOST) {
        const enum pug_verdict verdict =
            pug_check_compare(&depth, tally->rule.cmp, tally->rule.limit.value);
        if (verdict != PUG_HOLDS) {
            tally->violations++;
            decide(check, tally, verdict, "%" PRIu64 " calls were open above it at most",
                   tally->value);
        }
    } else if (tally->lost) {
        decide(check, tally, PUG_UNDECIDED, "trace was lost: more calls may have been open then");
    } else if (check->options.strict && tally->shallow) {
        decide(check, tally, PUG_UNDECIDED, "the trace began before it was entered");
    }
    tally->has_value = true;
}

static void decide_share(struct pug_check *check, struct check_tally *tally)
{
    if (tally->partial == 0 || tally->total == 0) {
        decide(check, tally, PUG_UNDECIDED, "the trace does not tell threads apart");
        return;
    }
    const uint64_t total = tally->total >> 40 ? tally->total >> 20 : tally->total,
                   own = tally->total >> 40 ? tally->other >> 20 : tally->other;
    const uint64_t most = own + (tally->total >> 40 ? tally->maybe >> 20 : tally->maybe);
    const struct check_interval share = {own * 100000 / total, (most * 100000 + total - 1) / total};
    const enum pug_verdict verdict =
        pug_check_compare(&share, tally->rule.cmp, tally->rule.limit.value);
    char words[48];
    tally->has_value = true;
    tally->value = share.from;
    tally->unit = PUG_CHECK_THOUSANDTHS;
    pug_check_value_text(share.from, PUG_CHECK_THOUSANDTHS, words, sizeof(words));
    if (tally->count == 0 && verdict == PUG_HOLDS)
        decide(check, tally, PUG_UNDECIDED, "no thread '%s' was seen", tally->rule.thread);
    else if (verdict != PUG_HOLDS) {
        tally->violations += verdict == PUG_VIOLATED;
        decide(check, tally, verdict, "its share is %s of %s", words,
               tally->share_of_time ? "the time" : "all instructions");
    }
}

static void decide_kind(struct pug_check *check, struct check_tally *tally)
{
    switch ((enum check_kind)tally->rule.kind) {
    case CHECK_TAKES:
        if (tally->rule.stat == CHECK_EACH)
            decide_partial(check, tally);
        else
            decide_stat(check, tally);
        break;
    case CHECK_NEVER:
        if (check->flow_seen == 0)
            decide(check, tally, PUG_UNDECIDED,
                   "only samples tell what ran: what was not sampled may have run");
        else if (tally->lost)
            decide(check, tally, PUG_UNDECIDED,
                   "it was not seen, but trace was lost or is not understood");
        break;
    case CHECK_EXCEPTION:
    case CHECK_EXCEPTIONS:
        if (tally->lost)
            decide(check, tally, PUG_UNDECIDED, "none was seen, but trace was lost");
        break;
    case CHECK_NOT_IN:
    case CHECK_ONLY_IN:
        if (tally->lost && tally->verdict == PUG_HOLDS)
            decide(check, tally, PUG_UNDECIDED, "it was not seen there, but trace was lost");
        break;
    case CHECK_RUNS: decide_runs(check, tally); break;
    case CHECK_DEPTH: decide_depth(check, tally); break;
    case CHECK_SHARE: decide_share(check, tally); break;
    case CHECK_PORT:
        if (tally->rule.never ? tally->lost > 0 : tally->count == 0 && tally->lost > 0)
            decide(check, tally, PUG_UNDECIDED, "it was not seen, but trace was lost");
        else if (!tally->rule.never && tally->count == 0) {
            tally->violations++;
            decide(check, tally, PUG_VIOLATED, "no line of the port has it");
        }
        break;
    case CHECK_WATCH:
        if (tally->count == 0 && (!tally->rule.never || !check->watches))
            decide(check, tally, PUG_UNDECIDED, "no access to it is in the trace: is it watched?");
        else if (tally->lost)
            decide(check, tally, PUG_UNDECIDED, "trace was lost");
        break;
    default: break;
    }
}

static void decide_rule(struct pug_check *check, struct check_tally *tally)
{
    tally->verdict = PUG_HOLDS;
    if (tally->has_violation) {
        tally->verdict = PUG_VIOLATED;
        tally->decided_why = tally->violation_why;
        return;
    }
    if (tally->decided) { /* by coverage, or the diagnosis */
        tally->verdict = tally->decided_verdict;
        return;
    }
    if (tally->why_not && !tally->was_possible) {
        tally->verdict = PUG_UNDECIDED;
        tally->decided_why = tally->why_not;
        return;
    }
    if (tally->has_unknown) {
        tally->verdict = PUG_UNDECIDED;
        tally->decided_why = tally->unknown_why;
    }
    decide_kind(check, tally);
    if (tally->verdict == PUG_HOLDS && !check->saw)
        decide(check, tally, PUG_UNDECIDED, "nothing was decoded");
}

enum pug_status pug_check_finish(struct pug_check *check)
{
    if (!check)
        return PUG_ERR_INVALID_PARAM_VAL;
    const enum pug_status status = pug_check_cover_end(check);
    if (status != PUG_OK)
        return status;
    for (uint32_t n = 0; n < check->tallies.count; n++)
        decide_rule(check, CHECK_TALLY(check, n));
    check->finished = true;
    return check->texts.failed ? PUG_ERR_MEM : check->status;
}

/* ---- answers ---- */

static void put_measures(const struct check_tally *tally, struct pug_check_verdict *verdict)
{
    struct check_sum *const *sums = tally->sums.items;
    uint64_t count = 0;
    for (size_t n = 0; n < tally->sums.count; n++) {
        const struct check_sum *sum = sums[n];
        if (sum->count == 0 || tally->rule.kind == CHECK_RUNS)
            continue;
        /* what is known for certain: at least so much */
        if (count == 0 || sum->shortest_low < verdict->shortest)
            verdict->shortest = sum->shortest_low;
        if (sum->longest_low > verdict->longest)
            verdict->longest = sum->longest_low;
        verdict->total += sum->low_total;
        verdict->rough |= sum->low_total != sum->high_total;
        count += sum->count;
    }
    verdict->count = count ? count : tally->count;
    verdict->unit = count ? tally->unit : (uint8_t)PUG_CHECK_NO_UNIT;
    if (tally->has_value)
        verdict->value = tally->value;
    if (tally->unit == PUG_CHECK_THOUSANDTHS)
        verdict->unit = tally->unit;
}

bool pug_check_verdict_at(const struct pug_check *check, size_t n,
                          struct pug_check_verdict *verdict)
{
    if (!check || n >= check->tallies.count)
        return false;
    const struct check_tally *tally = CHECK_TALLY(check, n);
    *verdict = (struct pug_check_verdict){.rule = tally->rule.text,
                                          .name = tally->rule.name,
                                          .file = tally->rule.file,
                                          .line = tally->rule.line,
                                          .violations = tally->violations,
                                          .unknown = tally->unknown,
                                          .why = ""};
    const bool impossible = tally->why_not && !tally->was_possible;
    if (check->finished)
        verdict->verdict = (enum pug_verdict)tally->verdict;
    else
        verdict->verdict = tally->has_violation               ? PUG_VIOLATED
                           : impossible || tally->has_unknown ? PUG_UNDECIDED
                                                              : PUG_HOLDS;
    verdict->beforehand = impossible && verdict->verdict == PUG_UNDECIDED;
    verdict->excused = tally->rule.unless_undecided && verdict->verdict == PUG_UNDECIDED;
    if (verdict->verdict != PUG_HOLDS)
        verdict->why = check->finished && tally->decided_why ? tally->decided_why
                       : tally->has_violation                ? tally->violation_why
                       : impossible                          ? tally->why_not
                       : tally->unknown_why                  ? tally->unknown_why
                                                             : "";
    if (verdict->verdict == PUG_VIOLATED && (tally->has_violation || tally->noted)) {
        verdict->has_place = true;
        verdict->place = tally->has_violation ? tally->violation : tally->first;
    } else if (verdict->verdict == PUG_UNDECIDED && tally->has_unknown) {
        verdict->has_place = true;
        verdict->place = tally->open;
    }
    put_measures(tally, verdict);
    return true;
}

const char *pug_verdict_name(enum pug_verdict verdict)
{
    return verdict == PUG_HOLDS ? "holds" : verdict == PUG_VIOLATED ? "violated" : "undecided";
}

/** A number with up to three decimals, without zeros at its end. */
static int put_scaled(char *buffer, size_t size, uint64_t value, uint64_t scale, const char *unit)
{
    char part[24];
    const uint64_t whole = value / scale, rest = value % scale;
    uint64_t digits = scale <= 1000000 ? rest * 1000000 / scale : rest / (scale / 1000000);
    int length = snprintf(part, sizeof(part), "%06" PRIu64, digits);
    while (length > 0 && part[length - 1] == '0')
        part[--length] = '\0';
    return snprintf(buffer, size, "%" PRIu64 "%s%s %s", whole, length ? "." : "", part, unit);
}

size_t pug_check_value_text(uint64_t value, enum pug_check_unit unit, char *buffer, size_t size)
{
    int length = 0;
    switch (unit) {
    case PUG_CHECK_NANOSECONDS:
        if (value < 1000)
            length = snprintf(buffer, size, "%" PRIu64 " ns", value);
        else if (value < 1000000)
            length = put_scaled(buffer, size, value, 1000, "us");
        else if (value < 1000000000)
            length = put_scaled(buffer, size, value, 1000000, "ms");
        else
            length = put_scaled(buffer, size, value, 1000000000, "s");
        break;
    case PUG_CHECK_THOUSANDTHS: length = put_scaled(buffer, size, value, 1000, "%"); break;
    case PUG_CHECK_TICKS: length = snprintf(buffer, size, "%" PRIu64 " ticks", value); break;
    case PUG_CHECK_CYCLES: length = snprintf(buffer, size, "%" PRIu64 " cycles", value); break;
    case PUG_CHECK_INSTRUCTIONS:
        length = snprintf(buffer, size, "%" PRIu64 " instructions", value);
        break;
    default: length = snprintf(buffer, size, "%" PRIu64, value);
    }
    return length > 0 ? (size_t)length : 0;
}
