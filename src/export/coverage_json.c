// SPDX-License-Identifier: MIT
/** @file Coverage as JSON: everything that is known, for programs. */
#include "export/coverage.h"

#include "text/json.h"

static void put_sum(const struct exporter *exporter, struct pug_json *json,
                    const struct coverage_sum *sum)
{
    pug_json_object(json, "summary");
    pug_json_number(json, "lines", sum->lines);
    pug_json_number(json, "lines_covered", sum->lines_seen);
    pug_json_number(json, "functions", sum->functions);
    pug_json_number(json, "functions_covered", sum->functions_seen);
    pug_json_number(json, "branch_outcomes", sum->outcomes);
    pug_json_number(json, "branch_outcomes_covered", sum->outcomes_seen);
    pug_json_number(json, "instructions", sum->instructions);
    pug_json_number(json, "instructions_covered", sum->instructions_seen);
    pug_json_number(json, "statements", sum->statements);
    pug_json_number(json, "statements_covered", sum->statements_seen);
    pug_json_number(json, "calls", sum->calls);
    pug_json_number(json, "calls_covered", sum->calls_seen);
    if (exporter->options->mcdc) {
        pug_json_number(json, "decisions", sum->decisions);
        pug_json_number(json, "decisions_not_measurable", sum->unmeasured);
        pug_json_number(json, "decision_results", sum->results);
        pug_json_number(json, "decision_results_covered", sum->results_seen);
        pug_json_number(json, "mcdc_conditions", sum->conditions);
        pug_json_number(json, "mcdc_conditions_covered", sum->conditions_covered);
    }
    pug_json_close(json);
}

static void put_evaluations(struct pug_json *json, const struct decision *decision)
{
    pug_json_array(json, "evaluations");
    for (uint32_t i = 0; i < decision->evaluation_count; i++) {
        const struct decision_evaluation *evaluation = &decision->evaluations[i];
        char way[DECISION_CONDITIONS + 1];
        for (uint32_t c = 0; c < decision->count; c++)
            way[c] = (char)(!(evaluation->evaluated >> c & 1) ? '-'
                            : evaluation->taken >> c & 1      ? '1'
                                                              : '0');
        way[decision->count] = 0;
        pug_json_object(json, NULL);
        pug_json_string(json, "taken", way);
        pug_json_number(json, "exit", evaluation->exit);
        pug_json_number(json, "count", evaluation->count);
        pug_json_close(json);
    }
    pug_json_close(json);
}

static void put_decisions(struct pug_json *json, const struct coverage_file *file)
{
    pug_json_array(json, "decisions");
    for (size_t i = 0; i < file->decision_count; i++) {
        const struct coverage_decision *decision = &file->decisions[i];
        const enum decision_doubt doubt = decision->is->doubt;
        pug_json_object(json, NULL);
        pug_json_number(json, "line", decision->line);
        pug_json_number(json, "column", decision->column);
        pug_json_hex(json, "address", decision->vaddr);
        if (doubt != DECISION_MEASURED)
            pug_json_string(json, "not_measurable", pug_decision_doubt_text(doubt));
        pug_json_number(json, "results_seen",
                        (pug_decision_exits(decision->is) & 1) +
                            (pug_decision_exits(decision->is) >> 1));
        pug_json_array(json, "conditions");
        for (uint32_t c = 0; c < decision->is->count; c++) {
            pug_json_object(json, NULL);
            pug_json_number(json, "line", decision->is->conditions[c].line);
            pug_json_number(json, "column", decision->is->conditions[c].column);
            pug_json_hex(json, "address", decision->is->conditions[c].vaddr);
            pug_json_number(json, "covered", decision->covered >> c & 1);
            pug_json_close(json);
        }
        pug_json_close(json);
        put_evaluations(json, decision->is);
        pug_json_close(json);
    }
    pug_json_close(json);
}

static void put_functions(struct pug_json *json, const struct coverage_file *file)
{
    pug_json_array(json, "functions");
    for (size_t i = 0; i < file->function_count; i++) {
        const struct coverage_function *function = &file->functions[i];
        pug_json_object(json, NULL);
        pug_json_string(json, "name", function->name);
        pug_json_number(json, "line", function->line);
        pug_json_number(json, "count", function->count);
        pug_json_number(json, "instructions", function->instructions);
        pug_json_number(json, "instructions_covered", function->instructions_ran);
        pug_json_number(json, "branch_outcomes", function->outcomes);
        pug_json_number(json, "branch_outcomes_covered", function->outcomes_seen);
        pug_json_close(json);
    }
    pug_json_close(json);
}

static void put_branches(const struct exporter *exporter, struct pug_json *json,
                         const struct coverage_file *file)
{
    pug_json_array(json, "branches");
    for (size_t i = 0; i < file->branch_count; i++) {
        const struct coverage_branch *branch = &file->branches[i];
        pug_json_object(json, NULL);
        pug_json_number(json, "line", branch->line);
        pug_json_number(json, "block", branch->block);
        pug_json_string(json, "object", export_object(exporter, branch->object)->path);
        pug_json_hex(json, "address", branch->vaddr);
        pug_json_number(json, "count", branch->ran);
        pug_json_number(json, "taken", branch->taken);
        pug_json_number(json, "not_taken", branch->not_taken);
        pug_json_close(json);
    }
    pug_json_close(json);
}

static void put_lines(struct pug_json *json, const struct coverage_file *file)
{
    pug_json_array(json, "lines");
    for (size_t i = 0; i < file->line_count; i++) {
        const struct coverage_line *line = &file->lines[i];
        pug_json_object(json, NULL);
        pug_json_number(json, "line", line->line);
        pug_json_number(json, "count", line->count);
        pug_json_number(json, "instructions", line->instructions);
        pug_json_number(json, "instructions_covered", line->ran);
        pug_json_close(json);
    }
    pug_json_close(json);
}

enum pug_status pug_coverage_json(const struct exporter *exporter, const struct coverage *coverage)
{
    struct pug_json json = pug_json_begin(exporter->sink);
    pug_json_object(&json, NULL);
    pug_json_string(&json, "format", "pugmark-coverage-1");
    pug_json_number(&json, "objects_without_lines", coverage->missing);
    if (pug_profile_is_sampled(exporter->profile)) {
        pug_json_number(&json, "samples",
                        pug_profile_sampled(exporter->profile, PUG_SAMPLES_TAKEN));
        pug_json_number(&json, "samples_asleep",
                        pug_profile_sampled(exporter->profile, PUG_SAMPLES_ASLEEP));
    }
    pug_json_object(&json, "notes");
    for (int note = 0; note < PUG_NOTE_COUNT; note++)
        if (pug_profile_noted(exporter->profile, note) > 0)
            pug_json_number(&json, pug_profile_note_text(note),
                            pug_profile_noted(exporter->profile, note));
    pug_json_close(&json);
    pug_json_array(&json, "files");
    for (size_t n = 0; n < coverage->file_count; n++) {
        const struct coverage_file *file = &coverage->files[n];
        const struct coverage_sum sum = pug_coverage_sum(file);
        pug_json_object(&json, NULL);
        pug_json_string(&json, "path", file->path);
        pug_json_number(&json, "lines_excluded", file->excluded);
        put_sum(exporter, &json, &sum);
        put_functions(&json, file);
        put_branches(exporter, &json, file);
        if (exporter->options->mcdc)
            put_decisions(&json, file);
        put_lines(&json, file);
        pug_json_close(&json);
    }
    pug_json_close(&json);
    pug_json_close(&json);
    pug_json_line(&json);
    return PUG_OK;
}
