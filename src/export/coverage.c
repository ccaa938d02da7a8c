// SPDX-License-Identifier: MIT
/** @file Coverage, put together from the code of the objects and the counts. */
#include "export/coverage.h"

#include "names/names.h"

#include <stdlib.h>
#include <string.h>

/* How often the branch at an address went which way. */
struct outcome {
    uint64_t at, taken, not_taken;
    bool conditional; /* what ran says so; simpleperf's branch lists say nothing of IT blocks */
};

/* An object, while its code is gone through. */
struct object_pass {
    const struct exporter *exporter;
    struct coverage *coverage;
    struct pug_names_file *file;
    uint32_t object;
    const uint32_t *same; /* objects with the same code, that one included */
    size_t same_count;
    struct export_steps *steps; /* counts of the others of these, one each */
    struct outcome *outcomes;   /* by address */
    size_t outcome_count;
    size_t outcome;   /* of the code that comes next */
    size_t function;  /* the one that the code is in, or the next one */
    size_t functions; /* of this object begin here */
    struct names_statements statements;
    size_t statement;                    /* of the code that comes next */
    const char *last_source, *last_path; /* of sources, and what they are called */
    uint64_t entry_end;                  /* up to here it is the code that enters a function … */
    uint32_t entry_line;                 /* … which is declared on this line */
    bool any, failed;
};

void pug_coverage_free(struct coverage *coverage)
{
    free(coverage->lines);
    free(coverage->branches);
    free(coverage->functions);
    free(coverage->decisions);
    free(coverage->files);
}

/* Room for one more; NULL: no memory. */
static void *add(void *list, size_t *count, size_t *room, size_t size)
{
    void **items = list;
    if (*count == *room) {
        const size_t larger = *room ? *room * 2 : 128;
        void *grown = realloc(*items, larger * size);
        if (!grown)
            return NULL;
        *items = grown;
        *room = larger;
    }
    return (char *)*items + (*count)++ * size;
}

/* ---- outcomes ---- */

static int by_address(const void *left, const void *right)
{
    const struct outcome *a = left, *b = right;
    return a->at < b->at ? -1 : a->at > b->at;
}

static bool is_of(const struct object_pass *pass, uint32_t object)
{
    for (size_t i = 0; i < pass->same_count; i++)
        if (pass->same[i] == object)
            return true;
    return false;
}

static bool find_outcomes(struct object_pass *pass)
{
    size_t count, kept = 0;
    const struct pug_profile_range *ranges = pug_profile_ranges(pass->exporter->profile, &count);
    struct outcome *outcomes = calloc(count + 1, sizeof(*outcomes));
    if (!outcomes)
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct pug_profile_range *range = &ranges[i];
        if (!is_of(pass, range->object) || !(range->end & PUG_END_BRANCH))
            continue;
        const bool taken = range->end & PUG_END_TAKEN;
        outcomes[kept++] =
            (struct outcome){range->last, taken ? range->count : 0, taken ? 0 : range->count,
                             range->end & PUG_END_CONDITIONAL};
    }
    qsort(outcomes, kept, sizeof(*outcomes), by_address);
    for (size_t i = 0; i < kept; i++) {
        struct outcome *last = pass->outcome_count > 0 ? &outcomes[pass->outcome_count - 1] : NULL;
        if (!last || last->at != outcomes[i].at) {
            outcomes[pass->outcome_count++] = outcomes[i];
            continue;
        }
        last->taken = pug_profile_sum(last->taken, outcomes[i].taken);
        last->not_taken = pug_profile_sum(last->not_taken, outcomes[i].not_taken);
        last->conditional |= outcomes[i].conditional;
    }
    pass->outcomes = outcomes;
    return true;
}

/* ---- functions ---- */

/* The symbols of the object; their counts come with its code. */
static bool list_functions(struct object_pass *pass)
{
    struct coverage *coverage = pass->coverage;
    struct pug_names_function function;
    pass->functions = pass->function = coverage->function_count;
    for (size_t n = 0; pug_names_function_at(pass->file, n, &function); n++) {
        struct coverage_function *added = add(&coverage->functions, &coverage->function_count,
                                              &coverage->function_room, sizeof(*added));
        if (!added)
            return false;
        *added = (struct coverage_function){.name = function.name,
                                            .object = pass->object,
                                            .start = function.start,
                                            .size = function.size};
    }
    return true;
}

/* The function that an instruction is in: both go by address. */
static struct coverage_function *function_at(struct object_pass *pass, uint64_t vaddr)
{
    struct coverage *coverage = pass->coverage;
    while (pass->function + 1 < coverage->function_count &&
           coverage->functions[pass->function + 1].start <= vaddr)
        pass->function++;
    if (pass->function >= coverage->function_count)
        return NULL;
    struct coverage_function *function = &coverage->functions[pass->function];
    return vaddr >= function->start && vaddr - function->start < function->size ? function : NULL;
}

/* ---- code ---- */

/* What the branch at an address did: both go by address. NULL: there is none, or it never ran. */
static const struct outcome *outcome_at(struct object_pass *pass, uint64_t vaddr)
{
    while (pass->outcome < pass->outcome_count && pass->outcomes[pass->outcome].at < vaddr)
        pass->outcome++;
    const struct outcome *outcome = &pass->outcomes[pass->outcome];
    return pass->outcome < pass->outcome_count && outcome->at == vaddr ? outcome : NULL;
}

/* The path as reports have it; neighbours mostly share it. */
static const char *path_of(struct object_pass *pass, const char *source)
{
    if (source && source != pass->last_source) {
        pass->last_source = source;
        pass->last_path = pug_coverage_path(pass->exporter, source);
    }
    return source ? pass->last_path : NULL;
}

/* Does a statement begin at an address? Both go by address. */
static bool begins_statement(struct object_pass *pass, uint64_t vaddr)
{
    const struct names_statements *all = &pass->statements;
    while (pass->statement < all->count && all->items[pass->statement].at < vaddr)
        pass->statement++;
    return pass->statement < all->count && all->items[pass->statement].at == vaddr &&
           all->items[pass->statement].begins && !all->items[pass->statement].ends;
}

static bool add_branch(struct object_pass *pass, const struct export_instruction *instruction,
                       const struct outcome *outcome, struct coverage_function *function)
{
    struct coverage *coverage = pass->coverage;
    struct coverage_branch *branch =
        add(&coverage->branches, &coverage->branch_count, &coverage->branch_room, sizeof(*branch));
    if (!branch)
        return false;
    *branch = (struct coverage_branch){.path = path_of(pass, instruction->path),
                                       .line = instruction->line,
                                       .object = pass->object,
                                       .vaddr = instruction->vaddr,
                                       .ran = instruction->count,
                                       .taken = outcome ? outcome->taken : 0,
                                       .not_taken = outcome ? outcome->not_taken : 0};
    if (function) {
        function->outcomes += 2;
        function->outcomes_seen += (branch->taken > 0) + (branch->not_taken > 0);
    }
    return true;
}

static bool add_line(struct object_pass *pass, const struct export_instruction *instruction)
{
    struct coverage *coverage = pass->coverage;
    struct coverage_line *last =
        coverage->line_count > 0 ? &coverage->lines[coverage->line_count - 1] : NULL;
    const char *const path = path_of(pass, instruction->path);
    if (!last || last->object != pass->object || last->path != path ||
        last->line != instruction->line) {
        last = add(&coverage->lines, &coverage->line_count, &coverage->line_room, sizeof(*last));
        if (!last)
            return false;
        *last = (struct coverage_line){.path = path,
                                       .source = instruction->path,
                                       .line = instruction->line,
                                       .object = pass->object};
    }
    const bool begins = begins_statement(pass, instruction->vaddr);
    const bool calls = pug_export_calls(instruction);
    last->instructions++;
    last->ran += instruction->count > 0;
    last->statements += begins;
    last->statements_ran += begins && instruction->count > 0;
    last->calls += calls;
    last->calls_ran += calls && instruction->count > 0;
    if (instruction->count > last->count)
        last->count = instruction->count;
    return true;
}

/*
 * The line table has the code that enters a function on the line of its brace, gcov has it where
 * the function is declared. Reports have it there, too, if that line is a different one above it.
 */
static void begin_function(struct object_pass *pass, const struct export_instruction *instruction)
{
    struct pug_names_frame frames[8];
    const struct names_statements *rows = &pass->statements;
    const size_t count = pug_names_frames(pass->file, instruction->vaddr, frames, 8);
    pass->entry_end = 0;
    if (count == 0 || count > 8 || !instruction->path)
        return;
    const struct pug_names_frame *frame = &frames[count - 1];
    if (frame->declared == 0 || frame->declared >= instruction->line ||
        (frame->declared_path && strcmp(frame->declared_path, instruction->path) != 0))
        return;
    size_t next = pass->statement;
    while (next < rows->count && rows->items[next].at <= instruction->vaddr)
        next++;
    if (next == rows->count || !rows->items[next].body)
        return; /* optimized code may begin with the function's first statement */
    pass->entry_end = rows->items[next].at;
    pass->entry_line = frame->declared;
}

static bool take(void *context, const struct export_instruction *given)
{
    struct object_pass *pass = context;
    struct coverage_function *function = function_at(pass, given->vaddr);
    struct export_instruction here = *given;
    for (size_t i = 1; i < pass->same_count; i++)
        here.count = pug_profile_sum(here.count, pug_export_count_at(&pass->steps[i], here.vaddr));
    const struct export_instruction *const instruction = &here;
    if (function && given->vaddr == function->start)
        begin_function(pass, given);
    if (given->vaddr < pass->entry_end)
        here.line = pass->entry_line;
    if (function) {
        function->instructions++;
        function->instructions_ran += instruction->count > 0;
        if (instruction->vaddr == function->start) {
            function->path = path_of(pass, instruction->path);
            function->line = instruction->line;
            function->count = instruction->count;
        }
    }
    if (!instruction->path || instruction->line == 0)
        return true;
    const struct outcome *outcome = outcome_at(pass, instruction->vaddr);
    const bool conditional =
        (outcome && outcome->conditional) || pug_export_is_conditional(instruction);
    pass->any = true;
    pass->failed = !add_line(pass, instruction) ||
                   (conditional && !add_branch(pass, instruction, outcome, function));
    return !pass->failed;
}

/* Decisions of the object, where their evaluations were followed. */
static bool list_decisions(struct object_pass *pass)
{
    struct coverage *coverage = pass->coverage;
    struct pug_mcdc *mcdc = pass->exporter->options->mcdc;
    const struct decisions *all = mcdc ? pug_mcdc_decisions(mcdc, pass->file) : NULL;
    struct pug_names_line line;
    for (size_t i = 0; all && i < all->count; i++) {
        const struct decision *decision = &all->items[i];
        if (!pug_names_line(pass->file, decision->conditions[0].vaddr, &line) || !line.path ||
            decision->line == 0)
            continue;
        struct coverage_decision *added = add(&coverage->decisions, &coverage->decision_count,
                                              &coverage->decision_room, sizeof(*added));
        if (!added)
            return false;
        *added = (struct coverage_decision){.path = path_of(pass, line.path),
                                            .line = decision->line,
                                            .column = decision->column,
                                            .object = pass->object,
                                            .vaddr = decision->conditions[0].vaddr,
                                            .is = decision};
        added->covered_count = pug_decision_covered(decision, &added->covered);
    }
    return all || !mcdc;
}

/* Counts of the other objects with the same code. */
static enum pug_status find_steps(struct object_pass *pass)
{
    enum pug_status status = PUG_OK;
    pass->steps = calloc(pass->same_count, sizeof(*pass->steps));
    if (!pass->steps)
        return PUG_ERR_MEM;
    for (size_t i = 1; i < pass->same_count && status == PUG_OK; i++)
        status = pug_export_steps(pass->exporter, pass->same[i], &pass->steps[i]);
    return status;
}

static void free_steps(struct object_pass *pass)
{
    for (size_t i = 1; pass->steps && i < pass->same_count; i++)
        pug_export_steps_free(&pass->steps[i]);
    free(pass->steps);
}

/* The first one of objects with the same code stands for all of them. */
static enum pug_status pass_over(const struct exporter *exporter, struct coverage *coverage,
                                 const uint32_t *same, size_t same_count)
{
    const uint32_t object = same[0];
    struct object_pass pass = {.exporter = exporter,
                               .coverage = coverage,
                               .file = pug_export_file(exporter, object),
                               .object = object,
                               .same = same,
                               .same_count = same_count};
    enum pug_status status = find_steps(&pass);
    if (status == PUG_OK && pass.file &&
        (!list_functions(&pass) || !find_outcomes(&pass) ||
         !pug_names_statements_of(pass.file, &pass.statements) || !list_decisions(&pass)))
        status = PUG_ERR_MEM;
    else if (status == PUG_OK && pass.file)
        status = pug_export_instructions(exporter, object, take, &pass);
    free_steps(&pass);
    free(pass.outcomes);
    free(pass.statements.items);
    coverage->missing += !pass.any;
    return pass.failed ? PUG_ERR_MEM : status == PUG_ERR_NOT_FOUND ? PUG_OK : status;
}

/* ---- in order ---- */

static int compare(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_paths(const char *a, const char *b)
{
    return a == b ? 0 : strcmp(a, b);
}

static int by_line(const void *left, const void *right)
{
    const struct coverage_line *a = left, *b = right;
    const int path = compare_paths(a->path, b->path);
    if (path != 0 || a->line != b->line)
        return path ? path : compare(a->line, b->line);
    return compare(a->object, b->object);
}

static void add_parts(struct coverage_line *to, const struct coverage_line *more)
{
    to->statements += more->statements;
    to->statements_ran += more->statements_ran;
    to->calls += more->calls;
    to->calls_ran += more->calls_ran;
}

/* Pieces of a line in an object are one; then the objects add up. */
static void join_lines(struct coverage *coverage)
{
    size_t kept = 0, all = 0;
    struct coverage_line *lines = coverage->lines;
    if (coverage->line_count > 0)
        qsort(lines, coverage->line_count, sizeof(*lines), by_line);
    for (size_t i = 0; i < coverage->line_count; i++) {
        struct coverage_line *last = kept > 0 ? &lines[kept - 1] : NULL;
        if (!last || by_line(last, &lines[i]) != 0) {
            lines[kept++] = lines[i];
            continue;
        }
        last->instructions += lines[i].instructions;
        last->ran += lines[i].ran;
        add_parts(last, &lines[i]);
        last->count = lines[i].count > last->count ? lines[i].count : last->count;
    }
    for (size_t i = 0; i < kept; i++) {
        struct coverage_line *last = all > 0 ? &lines[all - 1] : NULL;
        if (!last || last->line != lines[i].line || strcmp(last->path, lines[i].path) != 0) {
            lines[all++] = lines[i];
            continue;
        }
        last->instructions += lines[i].instructions;
        last->ran += lines[i].ran;
        add_parts(last, &lines[i]);
        last->count = pug_profile_sum(last->count, lines[i].count);
        last->object = PUG_PROFILE_NONE;
    }
    coverage->line_count = all;
}

static int by_branch(const void *left, const void *right)
{
    const struct coverage_branch *a = left, *b = right;
    const int path = compare_paths(a->path, b->path);
    if (path != 0 || a->line != b->line)
        return path ? path : compare(a->line, b->line);
    return a->object != b->object ? compare(a->object, b->object) : compare(a->vaddr, b->vaddr);
}

static void number_branches(struct coverage *coverage)
{
    struct coverage_branch *branches = coverage->branches;
    if (coverage->branch_count > 0)
        qsort(branches, coverage->branch_count, sizeof(*branches), by_branch);
    for (size_t i = 1; i < coverage->branch_count; i++)
        if (branches[i].line == branches[i - 1].line &&
            strcmp(branches[i].path, branches[i - 1].path) == 0)
            branches[i].block = branches[i - 1].block + 1;
}

static int by_function(const void *left, const void *right)
{
    const struct coverage_function *a = left, *b = right;
    const int path = compare_paths(a->path, b->path);
    if (path != 0 || a->line != b->line)
        return path ? path : compare(a->line, b->line);
    const int name = strcmp(a->name, b->name);
    if (name != 0)
        return name;
    return a->object != b->object ? compare(a->object, b->object) : compare(a->start, b->start);
}

/* Those without a line are left out; the same function of several objects is one. */
static void join_functions(struct coverage *coverage)
{
    size_t kept = 0, all = 0;
    struct coverage_function *functions = coverage->functions;
    for (size_t i = 0; i < coverage->function_count; i++)
        if (functions[i].path && functions[i].line > 0)
            functions[kept++] = functions[i];
    if (kept > 0)
        qsort(functions, kept, sizeof(*functions), by_function);
    for (size_t i = 0; i < kept; i++) {
        struct coverage_function *last = all > 0 ? &functions[all - 1] : NULL;
        if (!last || last->line != functions[i].line ||
            strcmp(last->name, functions[i].name) != 0 ||
            strcmp(last->path, functions[i].path) != 0) {
            functions[all++] = functions[i];
            continue;
        }
        last->count = pug_profile_sum(last->count, functions[i].count);
        last->instructions += functions[i].instructions;
        last->instructions_ran += functions[i].instructions_ran;
        last->outcomes += functions[i].outcomes;
        last->outcomes_seen += functions[i].outcomes_seen;
    }
    coverage->function_count = all;
}

static int by_decision(const void *left, const void *right)
{
    const struct coverage_decision *a = left, *b = right;
    const int path = compare_paths(a->path, b->path);
    if (path != 0 || a->line != b->line)
        return path ? path : compare(a->line, b->line);
    if (a->column != b->column)
        return compare(a->column, b->column);
    return a->object != b->object ? compare(a->object, b->object) : compare(a->vaddr, b->vaddr);
}

/* Files are those that have lines. */
static bool list_files(struct coverage *coverage)
{
    size_t line = 0, branch = 0, function = 0, decision = 0;
    coverage->files = calloc(coverage->line_count + 1, sizeof(*coverage->files));
    while (coverage->files && line < coverage->line_count) {
        const char *path = coverage->lines[line].path;
        struct coverage_file *file = &coverage->files[coverage->file_count++];
        *file = (struct coverage_file){.path = path,
                                       .source = coverage->lines[line].source,
                                       .decisions = coverage->decisions + decision,
                                       .lines = &coverage->lines[line],
                                       .branches = coverage->branches + branch,
                                       .functions = coverage->functions + function};
        for (; line < coverage->line_count && strcmp(coverage->lines[line].path, path) == 0; line++)
            file->line_count++;
        for (;
             branch < coverage->branch_count && strcmp(coverage->branches[branch].path, path) == 0;
             branch++)
            file->branch_count++;
        for (; function < coverage->function_count &&
               strcmp(coverage->functions[function].path, path) == 0;
             function++)
            file->function_count++;
        for (; decision < coverage->decision_count &&
               strcmp(coverage->decisions[decision].path, path) == 0;
             decision++)
            file->decision_count++;
    }
    return coverage->files != NULL;
}

/* Each group of objects with the same code: runs of one program, or builds that are alike. */
static enum pug_status pass_over_all(const struct exporter *exporter, struct coverage *coverage,
                                     uint32_t *group, bool *done)
{
    for (size_t i = 0; i < exporter->object_count; i++) {
        struct pug_names_file *file = pug_export_file(exporter, exporter->objects[i]);
        size_t count = 0;
        if (done[i])
            continue;
        group[count++] = exporter->objects[i];
        for (size_t n = i + 1; file && n < exporter->object_count; n++) {
            if (done[n] ||
                !pug_decisions_same_code(file, pug_export_file(exporter, exporter->objects[n])))
                continue;
            group[count++] = exporter->objects[n];
            done[n] = true;
        }
        const enum pug_status status = pass_over(exporter, coverage, group, count);
        if (status != PUG_OK)
            return status;
    }
    return PUG_OK;
}

enum pug_status pug_coverage_of(const struct exporter *exporter, struct coverage *coverage)
{
    *coverage = (struct coverage){0};
    uint32_t *group = calloc(exporter->object_count + 1, sizeof(*group));
    bool *done = calloc(exporter->object_count + 1, sizeof(*done));
    const enum pug_status status =
        group && done ? pass_over_all(exporter, coverage, group, done) : PUG_ERR_MEM;
    free(group);
    free(done);
    if (status != PUG_OK)
        return status;
    join_lines(coverage);
    number_branches(coverage);
    join_functions(coverage);
    if (coverage->decision_count > 0)
        qsort(coverage->decisions, coverage->decision_count, sizeof(*coverage->decisions),
              by_decision);
    const bool listed = list_files(coverage) && (exporter->options->without_exclusions ||
                                                 pug_coverage_exclude(exporter, coverage));
    return listed ? PUG_OK : PUG_ERR_MEM;
}

struct coverage_sum pug_coverage_sum(const struct coverage_file *file)
{
    struct coverage_sum sum = {.lines = file->line_count,
                               .functions = file->function_count,
                               .outcomes = 2 * file->branch_count};
    for (size_t i = 0; i < file->line_count; i++) {
        sum.lines_seen += file->lines[i].count > 0;
        sum.instructions += file->lines[i].instructions;
        sum.instructions_seen += file->lines[i].ran;
        sum.statements += file->lines[i].statements;
        sum.statements_seen += file->lines[i].statements_ran;
        sum.calls += file->lines[i].calls;
        sum.calls_seen += file->lines[i].calls_ran;
    }
    for (size_t i = 0; i < file->function_count; i++)
        sum.functions_seen += file->functions[i].count > 0;
    for (size_t i = 0; i < file->branch_count; i++)
        sum.outcomes_seen += (file->branches[i].taken > 0) + (file->branches[i].not_taken > 0);
    for (size_t i = 0; i < file->decision_count; i++) {
        const struct coverage_decision *decision = &file->decisions[i];
        const unsigned exits = pug_decision_exits(decision->is);
        const bool measured = decision->is->doubt == DECISION_MEASURED;
        sum.decisions += measured;
        sum.unmeasured += !measured;
        if (!measured)
            continue;
        sum.results += 2;
        sum.results_seen += (exits & 1) + (exits >> 1);
        sum.conditions += decision->is->count;
        sum.conditions_covered += decision->covered_count;
    }
    return sum;
}
