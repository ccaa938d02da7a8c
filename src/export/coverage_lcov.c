// SPDX-License-Identifier: MIT
/** @file Coverage as lcov's tracefile: genhtml and most coverage services read it. */
#include "export/coverage.h"

#include <inttypes.h>

static void put_functions(struct pug_sink *sink, const struct coverage_file *file)
{
    for (size_t i = 0; i < file->function_count; i++) {
        pug_sink_format(sink, "FN:%" PRIu32 ",", file->functions[i].line);
        pug_sink_printable(sink, file->functions[i].name);
        pug_sink_text(sink, "\n");
    }
    for (size_t i = 0; i < file->function_count; i++) {
        pug_sink_format(sink, "FNDA:%" PRIu64 ",", file->functions[i].count);
        pug_sink_printable(sink, file->functions[i].name);
        pug_sink_text(sink, "\n");
    }
}

/* Branch 0 of a block is that it was taken; "-": the instruction never ran. */
static void put_branch(struct pug_sink *sink, const struct coverage_branch *branch)
{
    const uint64_t counts[] = {branch->taken, branch->not_taken};
    for (unsigned way = 0; way < 2; way++) {
        pug_sink_format(sink, "BRDA:%" PRIu32 ",%" PRIu32 ",%u,", branch->line, branch->block, way);
        if (branch->ran == 0)
            pug_sink_text(sink, "-");
        else
            pug_sink_decimal(sink, counts[way]);
        pug_sink_text(sink, "\n");
    }
}

/* As lcov 2.2 has it: each condition, and whether it was shown to decide, for true and for false.
 */
static void put_decisions(struct pug_sink *sink, const struct coverage_file *file)
{
    uint64_t all = 0, covered = 0;
    for (size_t i = 0; i < file->decision_count; i++) {
        const struct coverage_decision *decision = &file->decisions[i];
        if (decision->is->doubt != DECISION_MEASURED || decision->is->count < 2)
            continue;
        for (uint32_t c = 0; c < decision->is->count; c++)
            for (unsigned sense = 0; sense < 2; sense++)
                pug_sink_format(
                    sink, "MCDC:%" PRIu32 ",%" PRIu32 ",%c,%u,%" PRIu32 ",condition %" PRIu32 "\n",
                    decision->line, decision->is->count, "tf"[sense],
                    (unsigned)(decision->covered >> c & 1), c, c + 1);
        all += 2 * (uint64_t)decision->is->count;
        covered += 2 * (uint64_t)decision->covered_count;
    }
    if (all > 0)
        pug_sink_format(sink, "MCF:%" PRIu64 "\nMCH:%" PRIu64 "\n", all, covered);
}

enum pug_status pug_coverage_lcov(const struct exporter *exporter, const struct coverage *coverage)
{
    struct pug_sink *sink = exporter->sink;
    for (size_t n = 0; n < coverage->file_count; n++) {
        const struct coverage_file *file = &coverage->files[n];
        const struct coverage_sum sum = pug_coverage_sum(file);
        pug_sink_text(sink, "TN:\nSF:");
        pug_sink_printable(sink, file->path);
        pug_sink_text(sink, "\n");
        put_functions(sink, file);
        pug_sink_format(sink, "FNF:%" PRIu64 "\nFNH:%" PRIu64 "\n", sum.functions,
                        sum.functions_seen);
        for (size_t i = 0; i < file->branch_count; i++)
            put_branch(sink, &file->branches[i]);
        pug_sink_format(sink, "BRF:%" PRIu64 "\nBRH:%" PRIu64 "\n", sum.outcomes,
                        sum.outcomes_seen);
        put_decisions(sink, file);
        for (size_t i = 0; i < file->line_count; i++)
            pug_sink_format(sink, "DA:%" PRIu32 ",%" PRIu64 "\n", file->lines[i].line,
                            file->lines[i].count);
        pug_sink_format(sink, "LF:%" PRIu64 "\nLH:%" PRIu64 "\nend_of_record\n", sum.lines,
                        sum.lines_seen);
    }
    return PUG_OK;
}
