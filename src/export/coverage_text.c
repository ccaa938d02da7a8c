// SPDX-License-Identifier: MIT
/** @file Coverage for people: files, functions, and what was never reached. */
#include "export/coverage.h"

#include "text/table.h"

#include <inttypes.h>
#include <stdio.h>

/* "3 of 4", and the share. */
static void put_part(struct pug_table *table, uint64_t seen, uint64_t all)
{
    char text[64];
    if (all == 0) {
        pug_table_none(table);
        pug_table_none(table);
        return;
    }
    pug_table_real(table, (double)seen / (double)all);
    snprintf(text, sizeof(text), "%" PRIu64 " of %" PRIu64, seen, all);
    pug_table_text(table, text);
}

static enum pug_status put_table(const struct exporter *exporter, struct pug_table *table,
                                 const char *title)
{
    if (!table)
        return PUG_ERR_MEM;
    pug_sink_format(exporter->sink, "%s\n", title);
    enum pug_status status = pug_table_write(table, PUG_TABLE_TEXT, exporter->sink);
    pug_sink_text(exporter->sink, "\n");
    pug_table_free(table);
    return status;
}

static enum pug_status put_files(const struct exporter *exporter, const struct coverage *coverage)
{
    static const struct pug_column columns[] = {{"lines", PUG_CELL_PERCENT},
                                                {"", PUG_CELL_TEXT},
                                                {"functions", PUG_CELL_PERCENT},
                                                {"", PUG_CELL_TEXT},
                                                {"outcomes", PUG_CELL_PERCENT},
                                                {"", PUG_CELL_TEXT},
                                                {"instructions", PUG_CELL_PERCENT},
                                                {"", PUG_CELL_TEXT},
                                                {"file", PUG_CELL_TEXT}};
    struct pug_table *table = pug_table_new(columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; table && i < coverage->file_count; i++) {
        const struct coverage_sum sum = pug_coverage_sum(&coverage->files[i]);
        put_part(table, sum.lines_seen, sum.lines);
        put_part(table, sum.functions_seen, sum.functions);
        put_part(table, sum.outcomes_seen, sum.outcomes);
        put_part(table, sum.instructions_seen, sum.instructions);
        pug_table_text(table, coverage->files[i].path);
    }
    return put_table(exporter, table, "Files");
}

/* Statements, calls, decisions and their conditions: what more there is to prove. */
static enum pug_status put_more(const struct exporter *exporter, const struct coverage *coverage)
{
    static const struct pug_column columns[] = {
        {"statements", PUG_CELL_PERCENT},    {"", PUG_CELL_TEXT},
        {"calls", PUG_CELL_PERCENT},         {"", PUG_CELL_TEXT},
        {"decisions", PUG_CELL_PERCENT},     {"", PUG_CELL_TEXT},
        {"MC/DC", PUG_CELL_PERCENT},         {"", PUG_CELL_TEXT},
        {"not measurable", PUG_CELL_NUMBER}, {"file", PUG_CELL_TEXT}};
    struct pug_table *table = pug_table_new(columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; table && i < coverage->file_count; i++) {
        const struct coverage_sum sum = pug_coverage_sum(&coverage->files[i]);
        put_part(table, sum.statements_seen, sum.statements);
        put_part(table, sum.calls_seen, sum.calls);
        put_part(table, sum.results_seen, sum.results);
        put_part(table, sum.conditions_covered, sum.conditions);
        pug_table_number(table, sum.unmeasured);
        pug_table_text(table, coverage->files[i].path);
    }
    return put_table(exporter, table, "Statements, calls, decisions and conditions");
}

/* Conditions that were not shown to decide, and decisions of which that is not known. */
static void put_undecided(const struct exporter *exporter, const struct coverage_file *file)
{
    for (size_t i = 0; i < file->decision_count; i++) {
        const struct coverage_decision *decision = &file->decisions[i];
        const struct decision *is = decision->is;
        if (is->doubt == DECISION_MEASURED && decision->covered_count == is->count)
            continue;
        pug_sink_text(exporter->sink, "  ");
        pug_sink_printable(exporter->sink, file->path);
        pug_sink_format(exporter->sink, ":%" PRIu32 ":%" PRIu32 ": ", decision->line,
                        decision->column);
        if (is->doubt != DECISION_MEASURED) {
            pug_sink_format(exporter->sink, "not measurable: %s\n",
                            pug_decision_doubt_text(is->doubt));
            continue;
        }
        pug_sink_text(exporter->sink, "not shown to decide: condition");
        for (uint32_t c = 0; c < is->count; c++)
            if (!(decision->covered >> c & 1))
                pug_sink_format(exporter->sink, " %" PRIu32 " (%" PRIu32 ":%" PRIu32 ")", c + 1,
                                is->conditions[c].line, is->conditions[c].column);
        pug_sink_text(exporter->sink, "\n");
    }
}

static enum pug_status put_functions(const struct exporter *exporter,
                                     const struct coverage *coverage)
{
    static const struct pug_column columns[] = {
        {"entered", PUG_CELL_NUMBER}, {"instructions", PUG_CELL_PERCENT},
        {"", PUG_CELL_TEXT},          {"outcomes", PUG_CELL_PERCENT},
        {"", PUG_CELL_TEXT},          {"function", PUG_CELL_TEXT},
        {"where", PUG_CELL_TEXT}};
    struct pug_table *table = pug_table_new(columns, sizeof(columns) / sizeof(columns[0]));
    for (size_t i = 0; table && i < coverage->function_count; i++) {
        const struct coverage_function *function = &coverage->functions[i];
        char place[1024];
        snprintf(place, sizeof(place), "%s:%" PRIu32, function->path, function->line);
        pug_table_number(table, function->count);
        put_part(table, function->instructions_ran, function->instructions);
        put_part(table, function->outcomes_seen, function->outcomes);
        pug_table_text(table, function->name);
        pug_table_text(table, place);
    }
    return put_table(exporter, table, "Functions");
}

/* "12, 14-17" */
static void put_missed_lines(struct pug_sink *sink, const struct coverage_file *file)
{
    bool any = false;
    for (size_t i = 0; i < file->line_count; i++) {
        size_t last = i;
        if (file->lines[i].count > 0)
            continue;
        while (last + 1 < file->line_count && file->lines[last + 1].count == 0)
            last++;
        if (!any) {
            pug_sink_text(sink, "  ");
            pug_sink_printable(sink, file->path);
            pug_sink_text(sink, ": lines ");
        }
        pug_sink_format(sink, "%s%" PRIu32, any ? ", " : "", file->lines[i].line);
        if (last > i)
            pug_sink_format(sink, "-%" PRIu32, file->lines[last].line);
        any = true;
        i = last;
    }
    if (any)
        pug_sink_text(sink, "\n");
}

static void put_missed_branches(const struct exporter *exporter, const struct coverage_file *file)
{
    for (size_t i = 0; i < file->branch_count; i++) {
        const struct coverage_branch *branch = &file->branches[i];
        if (branch->ran == 0 || (branch->taken > 0 && branch->not_taken > 0))
            continue;
        pug_sink_text(exporter->sink, "  ");
        pug_sink_printable(exporter->sink, file->path);
        pug_sink_format(
            exporter->sink,
            ":%" PRIu32 ": the branch at 0x%" PRIx64 ", ran %" PRIu64 " times, was %s taken\n",
            branch->line, branch->vaddr, branch->ran, branch->taken > 0 ? "always" : "never");
    }
}

enum pug_status pug_coverage_text(const struct exporter *exporter, const struct coverage *coverage)
{
    struct pug_sink *sink = exporter->sink;
    enum pug_status status = put_files(exporter, coverage);
    if (status == PUG_OK && exporter->options->mcdc)
        status = put_more(exporter, coverage);
    if (status == PUG_OK)
        status = put_functions(exporter, coverage);
    if (status != PUG_OK)
        return status;
    pug_sink_text(sink, "Never reached\n");
    for (size_t i = 0; i < coverage->function_count; i++)
        if (coverage->functions[i].count == 0 && coverage->functions[i].instructions_ran == 0) {
            pug_sink_text(sink, "  function ");
            pug_sink_printable(sink, coverage->functions[i].name);
            pug_sink_text(sink, "\n");
        }
    for (size_t i = 0; i < coverage->file_count; i++)
        put_missed_lines(sink, &coverage->files[i]);
    pug_sink_text(sink, "\nBranches that went one way only\n");
    for (size_t i = 0; i < coverage->file_count; i++)
        put_missed_branches(exporter, &coverage->files[i]);
    if (exporter->options->mcdc)
        pug_sink_text(sink, "\nDecisions: conditions that were not shown to decide\n");
    for (size_t i = 0; exporter->options->mcdc && i < coverage->file_count; i++)
        put_undecided(exporter, &coverage->files[i]);
    pug_sink_text(sink,
                  "\nWhat this rests on\n"
                  "  A line is covered if one of its instructions ran; its count is that of the "
                  "instruction that ran most.\n"
                  "  Outcomes are those of conditional branch instructions. Inlined copies of a "
                  "line are one.\n");
    char sampled[160];
    pug_export_sampled(exporter, sampled, sizeof(sampled));
    if (*sampled)
        pug_sink_format(sink, "  %s: what was not sampled may have run.\n", sampled);
    if (coverage->missing > 0)
        pug_sink_format(sink, "  %zu programs or libraries ran of which there are no lines.\n",
                        coverage->missing);
    for (int note = PUG_NOTE_LOST; note < PUG_NOTE_COUNT; note++)
        if (pug_profile_noted(exporter->profile, note) > 0)
            pug_sink_format(sink, "  %" PRIu64 " %s.\n", pug_profile_noted(exporter->profile, note),
                            pug_profile_note_text(note));
    return PUG_OK;
}
