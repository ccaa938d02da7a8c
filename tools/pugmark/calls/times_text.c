// SPDX-License-Identifier: MIT
/** @file Tables of times: for people, as CSV, and as lines of JSON. */
#include "check/engine.h"
#include "text/json.h"
#include "times.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum times_unit times_unit(const struct times *times)
{
    return times->has[TIMES_TIME]     ? TIMES_TIME
           : times->has[TIMES_CYCLES] ? TIMES_CYCLES
                                      : TIMES_INSTRUCTIONS;
}

const char *times_unit_name(const struct times *times)
{
    static const char *const names[] = {"ticks", "cycles", "instructions"};
    const enum times_unit unit = times_unit(times);
    return unit == TIMES_TIME && times->ns ? "ns" : names[unit];
}

/* ---- rows ---- */

struct row {
    const struct times_function *function, *caller; /* caller: NULL: of all */
    const struct times_sum *sum;
    uint64_t total;
    bool edge;
};

static int by_total(const void *left, const void *right)
{
    const struct row *a = left, *b = right;
    if (a->total != b->total)
        return a->total < b->total ? 1 : -1;
    if (a->function->start != b->function->start)
        return a->function->start < b->function->start ? -1 : 1;
    const uint64_t x = a->caller ? a->caller->start : 0, y = b->caller ? b->caller->start : 0;
    return (x > y) - (x < y);
}

static struct row *rows_of(const struct times *times, bool callers, size_t *count)
{
    const enum times_unit unit = times_unit(times);
    const size_t most = callers ? times->edge_count : times->function_count;
    struct row *rows = calloc(most + 1, sizeof(*rows));
    *count = 0;
    for (size_t n = 0; rows && n < most; n++) {
        const struct times_edge *edge = callers ? &times->edges[n] : NULL;
        const struct times_function *function = &times->functions[edge ? edge->callee : n];
        if (!edge && function->all.count + function->partial == 0)
            continue;
        rows[(*count)++] = (struct row){
            .function = function,
            .caller = edge && edge->caller != UINT32_MAX ? &times->functions[edge->caller] : NULL,
            .sum = edge ? &edge->sum : &function->all,
            .total = edge ? edge->sum.sum[unit] : function->total[unit],
            .edge = edge != NULL};
    }
    if (rows && *count > 1)
        qsort(rows, *count, sizeof(*rows), by_total);
    return rows;
}

static const char *name_of(struct pug_names *names, const struct times_function *function,
                           char room[32])
{
    if (!function)
        return "?";
    if (function->name)
        return pug_names_readable(names, function->name);
    snprintf(room, 32, "[%" PRIx64 "]", function->start);
    return room;
}

static uint64_t mean(uint64_t sum, uint64_t count)
{
    return count ? sum / count : 0;
}

static uint64_t less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

/* ---- for people ---- */

static void put_worst(const struct times *times, struct pug_names *names,
                      const struct times_function *function, struct pug_sink *sink)
{
    const enum times_unit unit = times_unit(times);
    char room[32];
    pug_sink_format(sink, "    longest: %" PRIu64 " %s, trace offset %" PRIu64 ", called by",
                    function->all.longest[unit], times_unit_name(times), function->worst_index);
    for (uint32_t n = 0; n < function->worst_depth; n++) {
        pug_sink_text(sink, n ? " < " : " ");
        const uint32_t number = function->worst_path[n];
        pug_sink_printable(
            sink, name_of(names, number < times->function_count ? &times->functions[number] : NULL,
                          room));
    }
    pug_sink_text(sink, function->worst_depth ? "\n" : " nobody that is known\n");
    for (uint32_t n = 0; n < function->worst_callee_count; n++) {
        const struct times_callee *callee = &function->worst_callees[n];
        pug_sink_format(sink, "      %" PRIu64 " in %" PRIu64 " × ", callee->took[unit],
                        callee->calls);
        pug_sink_printable(sink, name_of(names,
                                         callee->function < times->function_count
                                             ? &times->functions[callee->function]
                                             : NULL,
                                         room));
        pug_sink_text(sink, "\n");
    }
}

static void put_text(const struct times *times, struct pug_names *names, const struct row *rows,
                     size_t count, size_t all, struct pug_sink *sink)
{
    static const char *const heads[] = {"CALLS", "SHORTEST", "MEAN", "LONGEST",
                                        "TOTAL", "NO-IRQ",   "OWN",  "APART"};
    const enum times_unit unit = times_unit(times);
    char room[32];
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
        pug_sink_format(sink, " %11s", heads[i]);
    pug_sink_format(sink, "  FUNCTION%s  (times in %s)\n", count && rows[0].edge ? " < CALLER" : "",
                    times_unit_name(times));
    for (size_t n = 0; n < count; n++) {
        const struct row *row = &rows[n];
        const struct times_sum *sum = row->sum;
        const uint64_t values[] = {
            sum->count,         sum->shortest[unit], mean(sum->sum[unit], sum->count),
            sum->longest[unit], row->total,          less(row->total, sum->interrupts[unit]),
            sum->own[unit]};
        for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
            pug_sink_format(sink, " %11" PRIu64, values[i]);
        if (!row->edge && row->function->distances[unit])
            pug_sink_format(sink, " %11" PRIu64,
                            mean(row->function->apart[unit], row->function->distances[unit]));
        else
            pug_sink_format(sink, " %11s", "");
        pug_sink_text(sink, "  ");
        pug_sink_printable(sink, name_of(names, row->function, room));
        if (row->edge) {
            pug_sink_text(sink, " < ");
            pug_sink_printable(sink, name_of(names, row->caller, room));
        }
        if (!row->edge && row->function->partial)
            pug_sink_format(sink, "  (and %" PRIu64 " cut)", row->function->partial);
        pug_sink_text(sink, "\n");
    }
    if (count < all)
        pug_sink_format(sink, " … and %zu more; --rows N or --csv lists more\n", all - count);
    if (count > 0 && !rows[0].edge && rows[0].function->all.count > 0) {
        pug_sink_text(sink, "  of ");
        pug_sink_printable(sink, name_of(names, rows[0].function, room));
        pug_sink_text(sink, ":\n");
        put_worst(times, names, rows[0].function, sink);
    }
}

/* ---- for programs ---- */

static void put_csv_text(struct pug_sink *sink, const char *text)
{
    pug_sink_text(sink, "\"");
    for (; *text; text++) {
        if (*text == '"')
            pug_sink_text(sink, "\"");
        pug_sink_put(sink, (unsigned char)*text < ' ' ? "?" : text, 1);
    }
    pug_sink_text(sink, "\"");
}

static void put_csv(const struct times *times, struct pug_names *names, const struct row *rows,
                    size_t count, struct pug_sink *sink)
{
    const enum times_unit unit = times_unit(times);
    char room[32];
    pug_sink_text(sink, "function,caller,unit,calls,cut,shortest,mean,longest,total,"
                        "total_without_interrupts,own,own_with_interrupts,distances,nearest,"
                        "mean_distance,farthest,longest_offset\n");
    for (size_t n = 0; n < count; n++) {
        const struct row *row = &rows[n];
        const struct times_function *of = row->function;
        const struct times_sum *sum = row->sum;
        put_csv_text(sink, name_of(names, of, room));
        pug_sink_text(sink, ",");
        if (row->edge)
            put_csv_text(sink, name_of(names, row->caller, room));
        pug_sink_format(sink, ",%s", times_unit_name(times));
        const uint64_t values[] = {sum->count,
                                   row->edge ? 0 : of->partial,
                                   sum->shortest[unit],
                                   mean(sum->sum[unit], sum->count),
                                   sum->longest[unit],
                                   row->total,
                                   less(row->total, sum->interrupts[unit]),
                                   sum->own[unit],
                                   sum->own[unit] + sum->own_interrupts[unit],
                                   row->edge ? 0 : of->distances[unit],
                                   row->edge ? 0 : of->nearest[unit],
                                   row->edge ? 0 : mean(of->apart[unit], of->distances[unit]),
                                   row->edge ? 0 : of->farthest[unit],
                                   row->edge ? 0 : of->worst_index};
        for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
            pug_sink_format(sink, ",%" PRIu64, values[i]);
        pug_sink_text(sink, "\n");
    }
}

static void put_json_worst(const struct times *times, struct pug_names *names,
                           const struct times_function *of, struct pug_json *json)
{
    const enum times_unit unit = times_unit(times);
    char room[32];
    pug_json_object(json, "worst");
    pug_json_number(json, "took", of->all.longest[unit]);
    pug_json_number(json, "offset", of->worst_index);
    pug_json_array(json, "called_by");
    for (uint32_t i = 0; i < of->worst_depth; i++)
        if (of->worst_path[i] < times->function_count)
            pug_json_string(json, NULL, name_of(names, &times->functions[of->worst_path[i]], room));
    pug_json_close(json);
    pug_json_array(json, "callees");
    for (uint32_t i = 0; i < of->worst_callee_count; i++) {
        const struct times_callee *callee = &of->worst_callees[i];
        if (callee->function >= times->function_count)
            continue;
        pug_json_object(json, NULL);
        pug_json_string(json, "function",
                        name_of(names, &times->functions[callee->function], room));
        pug_json_number(json, "calls", callee->calls);
        pug_json_number(json, "took", callee->took[unit]);
        pug_json_close(json);
    }
    pug_json_close(json);
    pug_json_close(json);
}

static void put_json_apart(const struct times_function *of, enum times_unit unit,
                           struct pug_json *json)
{
    pug_json_object(json, "apart");
    pug_json_number(json, "count", of->distances[unit]);
    pug_json_number(json, "nearest", of->nearest[unit]);
    pug_json_number(json, "mean", mean(of->apart[unit], of->distances[unit]));
    pug_json_number(json, "farthest", of->farthest[unit]);
    pug_json_close(json);
}

static void put_json_row(const struct times *times, struct pug_names *names, const struct row *row,
                         struct pug_json *json)
{
    const enum times_unit unit = times_unit(times);
    const struct times_function *of = row->function;
    const struct times_sum *sum = row->sum;
    char room[32];
    pug_json_string(json, "function", name_of(names, of, room));
    if (row->edge)
        pug_json_string(json, "caller", name_of(names, row->caller, room));
    pug_json_string(json, "unit", times_unit_name(times));
    pug_json_number(json, "calls", sum->count);
    if (!row->edge)
        pug_json_number(json, "cut", of->partial);
    pug_json_number(json, "shortest", sum->shortest[unit]);
    pug_json_number(json, "mean", mean(sum->sum[unit], sum->count));
    pug_json_number(json, "longest", sum->longest[unit]);
    pug_json_number(json, "total", row->total);
    pug_json_number(json, "total_without_interrupts", less(row->total, sum->interrupts[unit]));
    pug_json_number(json, "own", sum->own[unit]);
    pug_json_number(json, "own_with_interrupts", sum->own[unit] + sum->own_interrupts[unit]);
    if (!row->edge && of->distances[unit])
        put_json_apart(of, unit, json);
    if (!row->edge && of->all.count)
        put_json_worst(times, names, of, json);
}

static void put_json(const struct times *times, struct pug_names *names, const struct row *rows,
                     size_t count, struct pug_sink *sink)
{
    struct pug_json json = pug_json_begin(sink);
    for (size_t n = 0; n < count; n++) {
        pug_json_object(&json, NULL);
        put_json_row(times, names, &rows[n], &json);
        pug_json_close(&json);
        pug_json_line(&json);
    }
}

void times_put(const struct times *times, struct pug_names *names, enum times_form form,
               bool callers, uint64_t most, struct pug_sink *sink)
{
    size_t all;
    struct row *rows = rows_of(times, callers, &all);
    const size_t count = rows && (most == 0 || all < most) ? all : rows ? (size_t)most : 0;
    if (form == TIMES_TEXT)
        put_text(times, names, rows, count, all, sink);
    else if (form == TIMES_CSV)
        put_csv(times, names, rows, count, sink);
    else
        put_json(times, names, rows, count, sink);
    free(rows);
}

/* ---- how calls are spread ---- */

#define BAR 50u

static uint64_t row_first(unsigned row)
{
    return pug_check_bucket_first(row * TIMES_ROW_BUCKETS);
}

static uint64_t row_last(unsigned row)
{
    return pug_check_bucket_last(row * TIMES_ROW_BUCKETS + TIMES_ROW_BUCKETS - 1);
}

static uint64_t percentile(const struct times_function *function, enum times_unit unit,
                           unsigned percent)
{
    const uint64_t *buckets = function->histogram[unit], count = function->all.count;
    const uint64_t rank = count / 100 * percent + (count % 100 * percent + 99) / 100;
    uint64_t seen = 0;
    for (unsigned n = 0; n < CHECK_BUCKETS; n++) {
        seen += buckets[n];
        if (seen < rank)
            continue;
        const uint64_t last = pug_check_bucket_last(n);
        return last < function->all.longest[unit] ? last : function->all.longest[unit];
    }
    return function->all.longest[unit];
}

static const struct times_function *find(const struct times *times, const char *name)
{
    for (uint32_t n = 0; n < times->function_count; n++)
        if (times->functions[n].name && strcmp(times->functions[n].name, name) == 0 &&
            times->functions[n].all.count > 0)
            return &times->functions[n];
    return NULL;
}

bool times_put_histogram(const struct times *times, struct pug_names *names, const char *name,
                         enum times_form form, struct pug_sink *sink)
{
    const struct times_function *function = find(times, name);
    const enum times_unit unit = times_unit(times);
    uint64_t rows[TIMES_ROWS] = {0}, most = 0;
    const unsigned row_count = sizeof(rows) / sizeof(rows[0]);
    unsigned first = row_count, last = 0;
    char room[32];
    if (!function || !function->histogram[unit])
        return false;
    for (unsigned n = 0; n < CHECK_BUCKETS; n++)
        rows[n / TIMES_ROW_BUCKETS] += function->histogram[unit][n];
    for (unsigned n = 0; n < row_count; n++) {
        most = rows[n] > most ? rows[n] : most;
        first = rows[n] && first == row_count ? n : first;
        last = rows[n] ? n : last;
    }
    struct pug_json json = pug_json_begin(sink);
    if (form == TIMES_CSV)
        pug_sink_text(sink, "from,to,calls\n");
    if (form == TIMES_TEXT) {
        pug_sink_printable(sink, name_of(names, function, room));
        pug_sink_format(sink,
                        ": %" PRIu64 " calls, in %s: shortest %" PRIu64 ", p50 %" PRIu64
                        ", p90 %" PRIu64 ", p99 %" PRIu64 ", longest %" PRIu64 "\n",
                        function->all.count, times_unit_name(times), function->all.shortest[unit],
                        percentile(function, unit, 50), percentile(function, unit, 90),
                        percentile(function, unit, 99), function->all.longest[unit]);
    }
    for (unsigned n = first; n <= last && n < row_count; n++) {
        const uint64_t from = row_first(n), to = row_last(n);
        if (form == TIMES_CSV) {
            pug_sink_format(sink, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", from, to, rows[n]);
        } else if (form == TIMES_JSON) {
            pug_json_object(&json, NULL);
            pug_json_number(&json, "from", from);
            pug_json_number(&json, "to", to);
            pug_json_number(&json, "calls", rows[n]);
            pug_json_close(&json);
            pug_json_line(&json);
        } else {
            pug_sink_format(sink, " %12" PRIu64 " - %-12" PRIu64 " %10" PRIu64 " ", from, to,
                            rows[n]);
            const uint64_t bar = most ? (rows[n] * BAR + most - 1) / most : 0;
            for (uint64_t i = 0; i < bar; i++)
                pug_sink_text(sink, "#");
            pug_sink_text(sink, "\n");
        }
    }
    return true;
}

/* ---- for a page ---- */

/** Rows of a histogram that have calls: [from, to, calls]. */
static void put_json_spread(const struct times *times, const struct times_function *of,
                            struct pug_json *json)
{
    const uint64_t *rows = of->rows[times_unit(times)];
    pug_json_array(json, "spread");
    for (unsigned n = 0; rows && n < TIMES_ROWS; n++) {
        if (rows[n] == 0)
            continue;
        pug_json_array(json, NULL);
        pug_json_number(json, NULL, row_first(n));
        pug_json_number(json, NULL, row_last(n));
        pug_json_number(json, NULL, rows[n]);
        pug_json_close(json);
    }
    pug_json_close(json);
}

static void put_json_rows(const struct times *times, struct pug_names *names, bool callers,
                          size_t most, struct pug_json *json)
{
    size_t count;
    struct row *rows = rows_of(times, callers, &count);
    pug_json_array(json, callers ? "callers" : "functions");
    for (size_t n = 0; rows && n < count && n < most; n++) {
        pug_json_object(json, NULL);
        put_json_row(times, names, &rows[n], json);
        if (!callers)
            put_json_spread(times, rows[n].function, json);
        pug_json_close(json);
    }
    pug_json_close(json);
    pug_json_number(json, callers ? "callers_left_out" : "functions_left_out",
                    rows && count > most ? count - most : 0);
    free(rows);
}

void times_put_page(const struct times *times, struct pug_names *names, size_t most,
                    struct pug_sink *sink)
{
    struct pug_json json = pug_json_begin(sink);
    pug_json_object(&json, NULL);
    pug_json_string(&json, "unit", times_unit_name(times));
    put_json_rows(times, names, false, most, &json);
    put_json_rows(times, names, true, most, &json);
    pug_json_close(&json);
}
