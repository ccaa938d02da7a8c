// SPDX-License-Identifier: MIT
/**
 * @file Coverage of source files by what ran: lines, functions, instructions, and both outcomes of
 * each conditional branch instruction.
 */
#ifndef PUG_EXPORT_COVERAGE_H
#define PUG_EXPORT_COVERAGE_H

#include "export/decisions.h"
#include "export/export.h"

/**
 * A line that has code. It counts as often as its instruction that ran most; of the same line in
 * several objects counts add up. What that rests on: how many of its instructions ran.
 */
struct coverage_line {
    const char *path;
    const char *source; /* the path as debug information has it */
    uint32_t line;
    uint32_t object; /* PUG_PROFILE_NONE: of several */
    uint32_t instructions, ran;
    uint32_t statements, statements_ran; /* that begin on it */
    uint32_t calls, calls_ran;           /* instructions that call */
    uint64_t count;
};

/** Conditions that are evaluated together; see decisions.h. */
struct coverage_decision {
    const char *path;
    uint32_t line, column, object;
    uint64_t vaddr;
    const struct decision *is;
    uint32_t covered; /* conditions: a bit for each */
    uint32_t covered_count;
};

/** A conditional branch instruction. */
struct coverage_branch {
    const char *path;
    uint32_t line, object;
    uint32_t block; /* its number on the line */
    uint64_t vaddr, ran, taken, not_taken;
};

struct coverage_function {
    const char *path; /* where its first instruction comes from */
    const char *name;
    uint32_t line, object;
    uint64_t start, size;
    uint64_t count; /* how often it was entered */
    uint32_t instructions, instructions_ran;
    uint32_t outcomes, outcomes_seen; /* two of each conditional branch */
};

/** A part of each list that belongs to one source file. */
struct coverage_file {
    const char *path;
    const struct coverage_line *lines;
    const struct coverage_branch *branches;
    const struct coverage_function *functions;
    const struct coverage_decision *decisions;
    size_t line_count, branch_count, function_count, decision_count;
    const char *source; /* the path as debug information has it */
    size_t excluded;    /* lines that comments leave out */
};

/** How much of what there is was seen. */
struct coverage_sum {
    uint64_t lines, lines_seen, functions, functions_seen, outcomes, outcomes_seen;
    uint64_t instructions, instructions_seen, statements, statements_seen, calls, calls_seen;
    /* Decisions that are measured, their two results, their conditions as MC/DC has them. */
    uint64_t decisions, unmeasured, results, results_seen, conditions, conditions_covered;
};

struct coverage {
    struct coverage_line *lines;         /* by path and line */
    struct coverage_branch *branches;    /* by path, line, object and address */
    struct coverage_function *functions; /* by path, line and name */
    struct coverage_decision *decisions; /* by path, line, column and address */
    struct coverage_file *files;         /* by path */
    size_t line_count, branch_count, function_count, decision_count, file_count;
    size_t line_room, branch_room, function_room, decision_room;
    size_t missing; /* objects whose files or lines are not there */
};

/** Free it also where it failed. */
enum pug_status pug_coverage_of(const struct exporter *exporter, struct coverage *coverage);
void pug_coverage_free(struct coverage *coverage);
struct coverage_sum pug_coverage_sum(const struct coverage_file *file);

/** source_path.c: a source's path as reports have it; lives as long as the names. */
const char *pug_coverage_path(const struct exporter *exporter, const char *path);
/** exclusions.c: leave out what comments in the sources say. False: no memory. */
bool pug_coverage_exclude(const struct exporter *exporter, struct coverage *coverage);

/* One file each. */
enum pug_status pug_coverage_lcov(const struct exporter *exporter, const struct coverage *coverage);
enum pug_status pug_coverage_json(const struct exporter *exporter, const struct coverage *coverage);
enum pug_status pug_coverage_text(const struct exporter *exporter, const struct coverage *coverage);
enum pug_status pug_coverage_cobertura(const struct exporter *exporter,
                                       const struct coverage *coverage);
enum pug_status pug_coverage_jacoco(const struct exporter *exporter,
                                    const struct coverage *coverage);
enum pug_status pug_coverage_sonar(const struct exporter *exporter,
                                   const struct coverage *coverage);
enum pug_status pug_coverage_html(const struct exporter *exporter, const struct coverage *coverage);

#endif
