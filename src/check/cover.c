// SPDX-License-Identifier: MIT
/** @file Rules about what was covered, and about the program. */
#include "check/cover.h"

#include "export/coverage.h"
#include "export/decisions.h"
#include "pugmark/advanced/diagnose.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- source files ---- */

struct looked {
    const char *glob, *last;
    bool found;
};

static bool look_at_row(void *context, const struct pug_names_line *row)
{
    struct looked *looked = context;
    if (row->path != looked->last) {
        looked->last = row->path;
        looked->found = row->path && pug_check_glob_path(looked->glob, row->path);
    }
    return !looked->found;
}

static void look_for_files(struct pug_check *check, const struct check_rule *rule)
{
    struct looked looked = {.glob = rule->subject.name};
    bool lines = false;
    for (uint32_t n = 0; n < check->object_count && !looked.found; n++)
        if (check->objects[n].file && pug_names_has_lines(check->objects[n].file)) {
            lines = true;
            (void)pug_names_lines(check->objects[n].file, look_at_row, &looked);
        }
    if (!looked.found)
        pug_check_wrong(
            &check->texts, &check->errors, rule, rule->subject.column, rule->subject.length,
            lines
                ? pug_check_keep_format(&check->texts, "no source file of the program matches '%s'",
                                        rule->subject.name)
                : "no program with lines of source code is known: build it with -g, and give it "
                  "with --elf FILE");
}

bool pug_check_cover_begin(struct pug_check *check)
{
    for (uint32_t n = 0; n < check->tallies.count; n++) {
        const struct check_tally *tally = CHECK_TALLY(check, n);
        if (tally->rule.kind == CHECK_COVERED && !tally->impossible)
            look_for_files(check, &tally->rule);
    }
    if (!check->counts_lines)
        return true;
    if (!check->profile)
        check->profile = pug_profile_new();
    if (check->looks_decisions && !check->mcdc)
        check->mcdc = pug_mcdc_new();
    return check->profile && (check->mcdc || !check->looks_decisions);
}

bool pug_check_decision(struct pug_check *check, uint32_t stream, const struct pug_element *e)
{
    struct pug_location at;
    if (e->last_type != PUG_INSTR_BR)
        return true;
    const uint64_t last = e->end - e->last_size;
    if (!pug_capture_locate(check->capture, check->where, last, &at) ||
        at.object >= check->object_count || !check->objects[at.object].file)
        return true;
    return pug_mcdc_take(check->mcdc, check->first_stream + stream, check->objects[at.object].file,
                         at.vaddr, (e->flags & PUG_ELEM_EXECUTED) != 0);
}

void pug_check_forget_decision(struct pug_check *check, uint32_t stream)
{
    pug_mcdc_forget(check->mcdc, check->first_stream + stream);
}

/* ---- coverage ---- */

static void decide(struct check_tally *tally, enum pug_verdict verdict, const char *why)
{
    tally->decided = true;
    tally->decided_verdict = (uint8_t)verdict;
    tally->decided_why = why;
}

static void sum_up(const struct coverage *coverage, const struct check_rule *rule, uint64_t *seen,
                   uint64_t *all)
{
    for (size_t n = 0; n < coverage->file_count; n++) {
        const struct coverage_file *file = &coverage->files[n];
        if (!pug_check_glob_path(rule->subject.name, file->path))
            continue;
        const struct coverage_sum sum = pug_coverage_sum(file);
        switch ((enum check_covered)rule->covered) {
        case CHECK_LINES: *seen += sum.lines_seen, *all += sum.lines; break;
        case CHECK_FUNCTIONS: *seen += sum.functions_seen, *all += sum.functions; break;
        case CHECK_MCDC: *seen += sum.conditions_covered, *all += sum.conditions; break;
        default: *seen += sum.outcomes_seen, *all += sum.outcomes;
        }
    }
}

static const char *const what[] = {"lines", "functions", "branch outcomes", "conditions"};

static void decide_covered(struct pug_check *check, struct check_tally *tally,
                           const struct coverage *coverage)
{
    const struct check_rule *rule = &tally->rule;
    uint64_t seen = 0, all = 0;
    char words[48];
    sum_up(coverage, rule, &seen, &all);
    tally->count = all;
    if (all == 0) { /* of MC/DC: no decision of it is measurable in the object code */
        decide(tally, PUG_UNDECIDED,
               pug_check_keep_format(&check->texts, "no %s of it are known", what[rule->covered]));
        return;
    }
    const uint64_t share = seen > UINT64_MAX / 100000 ? 0 : seen * 100000 / all;
    tally->has_value = true;
    tally->value = share;
    tally->unit = PUG_CHECK_THOUSANDTHS;
    if (share >= rule->limit.value) {
        decide(tally, PUG_HOLDS, NULL);
        return;
    }
    pug_check_value_text(share, PUG_CHECK_THOUSANDTHS, words, sizeof(words));
    const bool open = tally->lost > 0 || check->lost_ever;
    tally->violations += !open;
    tally->unknown += open;
    decide(tally, open ? PUG_UNDECIDED : PUG_VIOLATED,
           pug_check_keep_format(&check->texts,
                                 "%" PRIu64 " of %" PRIu64 " %s were seen, which is %s%s", seen,
                                 all, what[rule->covered], words,
                                 open ? "; but trace was lost, or program memory is missing" : ""));
}

enum pug_status pug_check_cover_end(struct pug_check *check)
{
    const struct pug_export_options options = {.names = check->names, .mcdc = check->mcdc};
    struct pug_sink sink = {0};
    struct exporter exporter;
    struct coverage coverage = {0};
    uint32_t *chosen = NULL;
    if (!check->profile)
        return PUG_OK;
    enum pug_status status =
        pug_export_prepare(check->profile, &options, &sink, &exporter, &chosen);
    if (status == PUG_OK)
        status = pug_coverage_of(&exporter, &coverage);
    for (uint32_t n = 0; status == PUG_OK && n < check->tallies.count; n++) {
        struct check_tally *tally = CHECK_TALLY(check, n);
        if (tally->rule.kind == CHECK_COVERED && tally->was_possible)
            decide_covered(check, tally, &coverage);
    }
    pug_coverage_free(&coverage);
    free(chosen);
    return status;
}

/* ---- the program ---- */

void pug_check_match_program(struct pug_check *check)
{
    const struct pug_evidence *evidence;
    uint64_t looked = 0, contradictions = 0, missing = 0, place = 0;
    enum pug_contradiction kind = PUG_CONTRADICTIONS;
    for (size_t n = 0; check->diagnosis && pug_diagnosis_evidence(check->diagnosis, n, &evidence);
         n++) {
        const uint64_t more = pug_evidence_contradictions(evidence);
        looked += evidence->looked;
        missing += evidence->missing;
        if (more > 0 && kind == PUG_CONTRADICTIONS) {
            kind = pug_evidence_first(evidence);
            place = kind == PUG_CONTRADICTIONS ? 0 : evidence->first[kind].index;
        }
        contradictions += more;
    }
    for (uint32_t n = 0; n < check->tallies.count; n++) {
        struct check_tally *tally = CHECK_TALLY(check, n);
        const struct check_stamp stamp = {.index = place};
        const struct check_seen seen = {.stamp = &stamp};
        if (tally->rule.kind != CHECK_PROGRAM || tally->impossible)
            continue;
        tally->count += looked;
        if (contradictions > 0)
            pug_check_violate(check, n, &seen, "%s",
                              kind == PUG_CONTRADICTIONS ? "trace and program contradict each other"
                                                         : pug_contradiction_text(kind));
        else if (looked == 0)
            pug_check_doubt(check, n, &seen, "no range of the trace could be compared with it");
        else if (missing > 0)
            pug_check_doubt(check, n, &seen, "some of the program's memory is missing");
    }
}
