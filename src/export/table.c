// SPDX-License-Identifier: MIT
/** @file Tables for people: functions, lines, loops, branches; with `json` as lines of JSON. */
#include "export/export.h"

#include "pugmark/names.h"
#include "text/json.h"
#include "text/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS 20u

static size_t rows_of(const struct exporter *exporter)
{
    return exporter->options->rows ? exporter->options->rows : ROWS;
}

static double share(uint64_t part, uint64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : 0;
}

static const char *object_name(const struct exporter *exporter, uint32_t object)
{
    if (object == PUG_PROFILE_NONE)
        return "[unknown]";
    const char *path = export_object(exporter, object)->path, *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

static enum pug_status put_table(const struct exporter *exporter, struct pug_table *table,
                                 const char *title)
{
    if (!table)
        return PUG_ERR_MEM;
    if (!exporter->options->json)
        pug_sink_format(exporter->sink, "\n%s\n", title);
    enum pug_status status = pug_table_write(
        table, exporter->options->json ? PUG_TABLE_JSON : PUG_TABLE_TEXT, exporter->sink);
    pug_table_free(table);
    return status;
}

/* ---- functions ---- */

static int by_self(const void *left, const void *right)
{
    const struct export_function *a = left, *b = right;
    if (a->self != b->self)
        return a->self > b->self ? -1 : 1;
    if (a->inclusive != b->inclusive)
        return a->inclusive > b->inclusive ? -1 : 1;
    if (a->object != b->object)
        return a->object < b->object ? -1 : 1;
    return a->start < b->start ? -1 : a->start > b->start;
}

static enum pug_status put_functions(const struct exporter *exporter,
                                     const struct export_functions *all)
{
    const struct pug_column columns[] = {
        {"self", PUG_CELL_PERCENT},
        {pug_export_unit(exporter), PUG_CELL_NUMBER},
        {"inclusive", PUG_CELL_PERCENT},
        {"with callees", PUG_CELL_NUMBER},
        {"calls", PUG_CELL_NUMBER},
        {"cycles", PUG_CELL_NUMBER},
        {pug_export_time_title(exporter), PUG_CELL_NUMBER},
        {"function", PUG_CELL_TEXT},
        {"object", PUG_CELL_TEXT},
    };
    struct pug_table *table = pug_table_new(columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; table && i < all->count && i < rows_of(exporter); i++) {
        const struct export_function *function = &all->items[i];
        pug_table_real(table, share(function->self, all->instructions));
        pug_table_number(table, function->self);
        if (all->has_stacks) {
            pug_table_real(table, share(function->inclusive, all->instructions));
            pug_table_number(table, function->inclusive);
        } else {
            pug_table_none(table);
            pug_table_none(table);
        }
        pug_table_number(table, function->calls);
        if (all->has_cycles)
            pug_table_number(table, function->cycles);
        else
            pug_table_none(table);
        if (all->has_time)
            pug_table_number(table, function->time);
        else
            pug_table_none(table);
        pug_table_text(table, pug_export_readable(exporter, function->name));
        pug_table_text(table, object_name(exporter, function->object));
    }
    return put_table(exporter, table,
                     pug_profile_is_sampled(exporter->profile)
                         ? "Functions, by their own samples"
                         : "Functions, by their own instructions");
}

/* ---- lines ---- */

static int by_sum(const void *left, const void *right)
{
    const struct export_line *a = left, *b = right;
    if (a->sum != b->sum)
        return a->sum > b->sum ? -1 : 1;
    const int path = strcmp(a->path, b->path);
    return path != 0 ? path : a->line < b->line ? -1 : a->line > b->line;
}

static enum pug_status put_lines(const struct exporter *exporter, uint64_t instructions)
{
    const struct pug_column columns[] = {{"self", PUG_CELL_PERCENT},
                                         {pug_export_unit(exporter), PUG_CELL_NUMBER},
                                         {"count", PUG_CELL_NUMBER},
                                         {"line", PUG_CELL_TEXT},
                                         {"object", PUG_CELL_TEXT}};
    struct export_lines lines;
    enum pug_status status = pug_export_lines(exporter, &lines);
    if (status == PUG_OK && lines.count > 0) {
        qsort(lines.items, lines.count, sizeof(*lines.items), by_sum);
        struct pug_table *table = pug_table_new(columns, sizeof(columns) / sizeof(columns[0]));
        for (size_t i = 0; table && i < lines.count && i < rows_of(exporter) && lines.items[i].sum;
             i++) {
            const struct export_line *line = &lines.items[i];
            char place[1024];
            snprintf(place, sizeof(place), "%s:%" PRIu32, line->path, line->line);
            pug_table_real(table, share(line->sum, instructions));
            pug_table_number(table, line->sum);
            pug_table_number(table, line->highest);
            pug_table_text(table, place);
            pug_table_text(table, object_name(exporter, line->object));
        }
        status = put_table(exporter, table, "Source lines");
    }
    free(lines.items);
    return status;
}

/* ---- branches and loops ---- */

/* A conditional branch, both ways. */
struct outcome {
    uint32_t object;
    uint64_t from, to; /* where it goes when it is taken; 0: it never was */
    uint64_t taken, not_taken;
};

static int by_place(const void *left, const void *right)
{
    const struct outcome *a = left, *b = right;
    if (a->object != b->object)
        return a->object < b->object ? -1 : 1;
    return a->from < b->from ? -1 : a->from > b->from;
}

static uint64_t rarer(const struct outcome *outcome)
{
    return outcome->taken < outcome->not_taken ? outcome->taken : outcome->not_taken;
}

/* By how often they go against their bias: what no layout gets right comes first. */
static int by_bias(const void *left, const void *right)
{
    const struct outcome *a = left, *b = right;
    const uint64_t x = pug_profile_sum(a->taken, a->not_taken);
    const uint64_t y = pug_profile_sum(b->taken, b->not_taken);
    if (rarer(a) != rarer(b))
        return rarer(a) > rarer(b) ? -1 : 1;
    return x != y ? (x > y ? -1 : 1) : by_place(left, right);
}

static size_t find_outcomes(const struct exporter *exporter, struct outcome *outcomes)
{
    size_t count, branch_count, found = 0, kept = 0;
    const struct pug_profile_range *ranges = pug_profile_ranges(exporter->profile, &count);
    const struct pug_profile_branch *branches =
        pug_profile_branches(exporter->profile, &branch_count);
    for (size_t i = 0; i < count; i++) {
        const bool taken = ranges[i].end & PUG_END_TAKEN;
        if ((ranges[i].end & PUG_END_CONDITIONAL) && ranges[i].object != PUG_PROFILE_NONE &&
            pug_export_is_chosen(exporter, ranges[i].object))
            outcomes[found++] = (struct outcome){.object = ranges[i].object,
                                                 .from = ranges[i].last,
                                                 .taken = taken ? ranges[i].count : 0,
                                                 .not_taken = taken ? 0 : ranges[i].count};
    }
    qsort(outcomes, found, sizeof(*outcomes), by_place);
    for (size_t i = 0; i < found; i++) {
        struct outcome *last = kept > 0 ? &outcomes[kept - 1] : NULL;
        if (!last || by_place(last, &outcomes[i]) != 0) {
            outcomes[kept++] = outcomes[i];
            continue;
        }
        last->taken = pug_profile_sum(last->taken, outcomes[i].taken);
        last->not_taken = pug_profile_sum(last->not_taken, outcomes[i].not_taken);
    }
    for (size_t i = 0; i < branch_count; i++) {
        const struct outcome wanted = {.object = branches[i].object, .from = branches[i].from};
        struct outcome *outcome = bsearch(&wanted, outcomes, kept, sizeof(*outcomes), by_place);
        if (outcome && branches[i].to_object == branches[i].object)
            outcome->to = branches[i].to;
    }
    return kept;
}

/** Where the nearest function without a name begins, at the place or before it. */
static const struct export_function *unnamed_before(const struct export_functions *all,
                                                    uint32_t object, uint64_t vaddr)
{
    const struct export_function *best = NULL;
    for (size_t i = 0; i < all->count; i++) {
        const struct export_function *function = &all->items[i];
        if (function->object == object && function->start <= vaddr &&
            (!best || function->start > best->start))
            best = function;
    }
    return best && best->name[0] == '[' ? best : NULL;
}

/* "function+0x10 file.c:12" */
static void put_place(const struct exporter *exporter, const struct export_functions *all,
                      struct pug_table *table, uint32_t object, uint64_t vaddr)
{
    struct pug_names_file *file = pug_export_file(exporter, object);
    struct export_function_name name;
    struct pug_names_line line;
    char place[1024];
    pug_export_function(exporter, object, vaddr, &name);
    const struct export_function *within = name.known ? NULL : unnamed_before(all, object, vaddr);
    if (within)
        pug_export_function(exporter, object, within->start, &name);
    snprintf(place, sizeof(place), "%s+0x%" PRIx64, pug_export_readable(exporter, name.name),
             vaddr - name.start);
    pug_table_text(table, place);
    if (file && pug_names_line(file, vaddr, &line) && line.line > 0) {
        const char *slash = strrchr(line.path, '/');
        snprintf(place, sizeof(place), "%s:%" PRIu32, slash ? slash + 1 : line.path, line.line);
        pug_table_text(table, place);
    } else {
        pug_table_none(table);
    }
    pug_table_text(table, object_name(exporter, object));
}

static enum pug_status put_branches(const struct exporter *exporter,
                                    const struct export_functions *functions,
                                    const struct outcome *outcomes, size_t count)
{
    static const struct pug_column columns[] = {
        {"count", PUG_CELL_NUMBER},       {"taken", PUG_CELL_PERCENT}, {"bias", PUG_CELL_PERCENT},
        {"times taken", PUG_CELL_NUMBER}, {"branch", PUG_CELL_TEXT},   {"line", PUG_CELL_TEXT},
        {"object", PUG_CELL_TEXT}};
    struct pug_table *table = pug_table_new(columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; table && i < count && i < rows_of(exporter); i++) {
        const uint64_t all = pug_profile_sum(outcomes[i].taken, outcomes[i].not_taken);
        pug_table_number(table, all);
        pug_table_real(table, share(outcomes[i].taken, all));
        pug_table_real(table, share(all - rarer(&outcomes[i]), all));
        pug_table_number(table, outcomes[i].taken);
        put_place(exporter, functions, table, outcomes[i].object, outcomes[i].from);
    }
    return put_table(exporter, table,
                     "Conditional branches, by how often they go against their bias");
}

/*
 * A loop: the instructions that a branch jumps back to. Without a record of its visits, it was
 * entered as often as these ran without a jump back.
 */
struct loop {
    uint32_t object;
    uint64_t head, back, ran;
    const struct pug_profile_loop *visits; /* NULL: they were not recorded */
};

static int by_head(const void *left, const void *right)
{
    const struct loop *a = left, *b = right;
    if (a->object != b->object)
        return a->object < b->object ? -1 : 1;
    return a->head < b->head ? -1 : a->head > b->head;
}

static int by_back(const void *left, const void *right)
{
    const struct loop *a = left, *b = right;
    return a->back != b->back ? (a->back > b->back ? -1 : 1) : by_head(left, right);
}

/* Is this a branch back, within a function? */
static bool goes_back(const struct exporter *exporter, const struct pug_profile_branch *branch)
{
    struct export_function_name from, to;
    if (branch->object != branch->to_object || branch->object == PUG_PROFILE_NONE ||
        branch->to > branch->from || !pug_export_is_chosen(exporter, branch->object))
        return false;
    pug_export_function(exporter, branch->object, branch->from, &from);
    pug_export_function(exporter, branch->object, branch->to, &to);
    return from.known && to.known && from.start == to.start;
}

static int by_from(const void *left, const void *right)
{
    const struct outcome *a = left, *b = right;
    return by_place(a, b);
}

/* Direct branches that are no calls, as they jump within loops. */
static size_t direct_branches(const struct exporter *exporter, struct outcome *direct)
{
    size_t count, found = 0;
    const struct pug_profile_range *ranges = pug_profile_ranges(exporter->profile, &count);
    for (size_t i = 0; i < count; i++)
        if ((ranges[i].end & (PUG_END_BRANCH | PUG_END_INDIRECT | PUG_END_CALL)) == PUG_END_BRANCH)
            direct[found++] = (struct outcome){.object = ranges[i].object, .from = ranges[i].last};
    qsort(direct, found, sizeof(*direct), by_from);
    return found;
}

static size_t find_loops(const struct exporter *exporter, struct loop *loops,
                         struct outcome *direct)
{
    size_t count, found = 0, kept = 0;
    const struct pug_profile_branch *branches = pug_profile_branches(exporter->profile, &count);
    const size_t direct_count = direct_branches(exporter, direct);
    for (size_t i = 0; i < count; i++) {
        const struct outcome wanted = {.object = branches[i].object, .from = branches[i].from};
        if (goes_back(exporter, &branches[i]) &&
            bsearch(&wanted, direct, direct_count, sizeof(*direct), by_from))
            loops[found++] = (struct loop){
                .object = branches[i].object, .head = branches[i].to, .back = branches[i].count};
    }
    qsort(loops, found, sizeof(*loops), by_head);
    for (size_t i = 0; i < found; i++) {
        if (kept > 0 && by_head(&loops[kept - 1], &loops[i]) == 0)
            loops[kept - 1].back = pug_profile_sum(loops[kept - 1].back, loops[i].back);
        else
            loops[kept++] = loops[i];
    }
    return kept;
}

static void find_visits(const struct exporter *exporter, struct loop *loops, size_t count)
{
    size_t followed;
    const struct pug_profile_loop *all = pug_profile_loops(exporter->profile, &followed);
    for (size_t i = 0; i < followed; i++) {
        const struct loop wanted = {.object = all[i].object, .head = all[i].head};
        struct loop *loop = bsearch(&wanted, loops, count, sizeof(*loops), by_head);
        if (loop)
            loop->visits = &all[i];
    }
}

static enum pug_status count_heads(const struct exporter *exporter, struct loop *loops,
                                   size_t count)
{
    struct export_steps steps = {0};
    uint32_t object = PUG_PROFILE_NONE;
    enum pug_status status = PUG_OK;
    for (size_t i = 0; i < count && status == PUG_OK; i++) { /* they are by object */
        if (loops[i].object != object) {
            pug_export_steps_free(&steps);
            object = loops[i].object;
            status = pug_export_steps(exporter, object, &steps);
        }
        if (status == PUG_OK)
            loops[i].ran = pug_export_count_at(&steps, loops[i].head);
    }
    pug_export_steps_free(&steps);
    return status;
}

/* By Newton's method; there is no need of a library for one root. */
static double square_root(double square)
{
    double root = square > 1 ? square : 1, next = (root + square / root) / 2;
    while (next < root) {
        root = next;
        next = (root + square / root) / 2;
    }
    return root;
}

/* Square root of the mean square of what a visit's rounds differ from their mean. */
static double deviation(const struct pug_profile_loop *visits)
{
    if (visits->least == visits->most)
        return 0;
    const double mean = share(visits->rounds, visits->visits);
    const double squares = (double)visits->squares_high * 0x1p64 + (double)visits->squares;
    const double variance = squares / (double)visits->visits - mean * mean;
    return variance > 0 ? square_root(variance) : 0;
}

static void put_rounds(struct pug_table *table, const struct loop *loop)
{
    const struct pug_profile_loop *visits = loop->visits;
    const uint64_t rounds = visits ? visits->rounds : loop->ran;
    const uint64_t entered = visits                   ? visits->visits
                             : loop->ran > loop->back ? loop->ran - loop->back
                                                      : 0;
    pug_table_number(table, entered);
    pug_table_number(table, rounds);
    if (entered > 0)
        pug_table_real(table, share(rounds, entered));
    else
        pug_table_none(table);
    if (!visits) {
        for (int i = 0; i < 3; i++)
            pug_table_none(table);
        return;
    }
    pug_table_real(table, deviation(visits));
    pug_table_number(table, visits->least);
    pug_table_number(table, visits->most);
}

static enum pug_status put_loops(const struct exporter *exporter,
                                 const struct export_functions *all)
{
    static const struct pug_column columns[] = {
        {"entered", PUG_CELL_NUMBER}, {"rounds", PUG_CELL_NUMBER}, {"mean rounds", PUG_CELL_REAL},
        {"deviation", PUG_CELL_REAL}, {"least", PUG_CELL_NUMBER},  {"most", PUG_CELL_NUMBER},
        {"loop", PUG_CELL_TEXT},      {"line", PUG_CELL_TEXT},     {"object", PUG_CELL_TEXT}};
    size_t branch_count, range_count;
    pug_profile_branches(exporter->profile, &branch_count);
    pug_profile_ranges(exporter->profile, &range_count);
    struct loop *loops = calloc(branch_count + 1, sizeof(*loops));
    struct outcome *direct = calloc(range_count + 1, sizeof(*direct));
    enum pug_status status = loops && direct ? PUG_OK : PUG_ERR_MEM;
    const size_t count = status == PUG_OK ? find_loops(exporter, loops, direct) : 0;
    if (status == PUG_OK)
        status = count_heads(exporter, loops, count);
    if (status == PUG_OK && count > 0) {
        find_visits(exporter, loops, count);
        qsort(loops, count, sizeof(*loops), by_back);
        struct pug_table *table = pug_table_new(columns, sizeof(columns) / sizeof(columns[0]));
        for (size_t i = 0; table && i < count && i < rows_of(exporter); i++) {
            put_rounds(table, &loops[i]);
            put_place(exporter, all, table, loops[i].object, loops[i].head);
        }
        status = put_table(exporter, table, "Loops, and how many rounds they make");
    }
    free(loops);
    free(direct);
    return status;
}

static enum pug_status put_outcomes(const struct exporter *exporter,
                                    const struct export_functions *all)
{
    size_t count;
    pug_profile_ranges(exporter->profile, &count);
    struct outcome *outcomes = calloc(count + 1, sizeof(*outcomes));
    if (!outcomes)
        return PUG_ERR_MEM;
    enum pug_status status = PUG_OK;
    const size_t found = find_outcomes(exporter, outcomes);
    if (found > 0) {
        qsort(outcomes, found, sizeof(*outcomes), by_bias);
        status = put_branches(exporter, all, outcomes, found);
    }
    free(outcomes);
    return status;
}

/* ---- all of it ---- */

static void put_head(const struct exporter *exporter, const struct export_functions *functions)
{
    if (exporter->options->json) {
        struct pug_json json = pug_json_begin(exporter->sink);
        pug_json_object(&json, NULL);
        pug_json_number(&json, pug_export_unit(exporter), functions->instructions);
        if (pug_profile_is_sampled(exporter->profile)) {
            pug_json_number(&json, "asleep",
                            pug_profile_sampled(exporter->profile, PUG_SAMPLES_ASLEEP));
            pug_json_number(&json, "not permitted",
                            pug_profile_sampled(exporter->profile, PUG_SAMPLES_DENIED));
        }
        for (int note = 0; note < PUG_NOTE_COUNT; note++)
            if (pug_profile_noted(exporter->profile, note) > 0)
                pug_json_number(&json, pug_profile_note_text(note),
                                pug_profile_noted(exporter->profile, note));
        pug_json_close(&json);
        pug_json_line(&json);
        return;
    }
    char sampled[160];
    pug_export_sampled(exporter, sampled, sizeof(sampled));
    if (*sampled)
        pug_sink_format(exporter->sink, "%s\n", sampled);
    pug_sink_format(exporter->sink, "%" PRIu64 " %s in %zu functions\n", functions->instructions,
                    pug_export_unit(exporter), functions->count);
    for (int note = 0; note < PUG_NOTE_COUNT; note++)
        if (pug_profile_noted(exporter->profile, note) > 0)
            pug_sink_format(exporter->sink, "%" PRIu64 " %s\n",
                            pug_profile_noted(exporter->profile, note),
                            pug_profile_note_text(note));
}

/* Callers in other objects are left out. */
static void keep_chosen(const struct exporter *exporter, struct export_functions *functions)
{
    size_t kept = 0;
    for (size_t i = 0; i < functions->count; i++)
        if (pug_export_is_chosen(exporter, functions->items[i].object))
            functions->items[kept++] = functions->items[i];
    functions->count = kept;
}

enum pug_status pug_export_table(const struct exporter *exporter)
{
    struct export_functions functions;
    enum pug_status status = pug_export_functions(exporter, &functions);
    if (status == PUG_OK) {
        keep_chosen(exporter, &functions);
        put_head(exporter, &functions);
        qsort(functions.items, functions.count, sizeof(*functions.items), by_self);
        status = put_functions(exporter, &functions);
    }
    if (status == PUG_OK)
        status = put_lines(exporter, functions.instructions);
    if (status == PUG_OK)
        status = put_loops(exporter, &functions);
    if (status == PUG_OK)
        status = put_outcomes(exporter, &functions);
    pug_export_functions_free(&functions);
    return status;
}
