// SPDX-License-Identifier: MIT
/**
 * @file What comments in the sources leave out of coverage: LCOV_EXCL_LINE, LCOV_EXCL_START to
 * LCOV_EXCL_STOP, and the same with BR_ for branches alone; with GCOV_ and GCOVR_ in front, too.
 */
#include "export/coverage.h"

#include "export/source_text.h"

#include <stdlib.h>
#include <string.h>

#define SOURCE_LIMIT ((size_t)16 << 20)

enum { EXCLUDES_ALL = 1, EXCLUDES_BRANCHES = 2 };

/** The parts of a line that are excluded. */
struct marks {
    uint8_t *lines; /* by number */
    uint32_t count;
};

/** The rest of a marker in a line, after "…_EXCL_"; NULL: no marker. */
static const char *marker(const char *line, size_t size)
{
    static const char *const begins[] = {"LCOV_EXCL_", "GCOV_EXCL_", "GCOVR_EXCL_"};
    for (const char *at = line; at + 10 < line + size; at++)
        for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++) {
            const size_t length = strlen(begins[i]);
            if (at + length < line + size && strncmp(at, begins[i], length) == 0)
                return at + length;
        }
    return NULL;
}

static bool says(const char *at, const char *end, const char *word)
{
    const size_t size = strlen(word);
    return (size_t)(end - at) >= size && strncmp(at, word, size) == 0;
}

/** The marks of a line; *open: those of the next lines. */
static uint8_t marks_of(const char *line, size_t size, uint8_t *open)
{
    const char *at = marker(line, size), *const end = line + size;
    uint8_t holds = *open;
    if (!at)
        return holds;
    const bool branches = says(at, end, "BR_");
    const uint8_t what = branches ? EXCLUDES_BRANCHES : EXCLUDES_ALL;
    at += branches ? 3 : 0;
    if (says(at, end, "LINE"))
        return holds | what;
    if (says(at, end, "START"))
        *open |= what;
    else if (says(at, end, "STOP"))
        *open &= (uint8_t)~what;
    return holds | *open;
}

static bool read_marks(const struct exporter *exporter, const struct coverage_file *file,
                       struct marks *marks)
{
    uint8_t *text = NULL, open = 0;
    size_t size = 0;
    uint32_t line = 1;
    *marks = (struct marks){.lines = NULL};
    if (!pug_export_source(exporter, file->source, SOURCE_LIMIT, &text, &size))
        return true;
    for (size_t i = 0; i < size; i++)
        marks->count += text[i] == '\n';
    marks->count += 2;
    marks->lines = strstr((const char *)text, "_EXCL_") ? calloc(marks->count, 1) : NULL;
    const bool good = marks->lines || !strstr((const char *)text, "_EXCL_");
    for (const char *at = (const char *)text, *next; marks->lines && at < (char *)text + size;
         at = next, line++) {
        const size_t length = strcspn(at, "\n");
        next = at + length + (at[length] == '\n');
        marks->lines[line] = marks_of(at, length, &open);
        if (next == at)
            break;
    }
    free(text);
    return good;
}

static bool is_out(const struct marks *marks, uint32_t line, uint8_t what)
{
    return line < marks->count && (marks->lines[line] & what) != 0;
}

/* Lists are the coverage's own; a file has a part of each, which becomes shorter. */
static void leave_out(struct coverage_file *file, const struct marks *marks)
{
    const uint8_t branches = EXCLUDES_ALL | EXCLUDES_BRANCHES;
    struct coverage_line *lines = (struct coverage_line *)file->lines;
    struct coverage_branch *all = (struct coverage_branch *)file->branches;
    struct coverage_function *functions = (struct coverage_function *)file->functions;
    struct coverage_decision *decisions = (struct coverage_decision *)file->decisions;
    size_t kept = 0;
    for (size_t i = 0; i < file->line_count; i++)
        if (!is_out(marks, lines[i].line, EXCLUDES_ALL))
            lines[kept++] = lines[i];
    file->excluded = file->line_count - kept;
    file->line_count = kept;
    kept = 0;
    for (size_t i = 0; i < file->branch_count; i++)
        if (!is_out(marks, all[i].line, branches))
            all[kept++] = all[i];
    file->branch_count = kept;
    kept = 0;
    for (size_t i = 0; i < file->function_count; i++)
        if (!is_out(marks, functions[i].line, EXCLUDES_ALL))
            functions[kept++] = functions[i];
    file->function_count = kept;
    kept = 0;
    for (size_t i = 0; i < file->decision_count; i++)
        if (!is_out(marks, decisions[i].line, branches))
            decisions[kept++] = decisions[i];
    file->decision_count = kept;
}

bool pug_coverage_exclude(const struct exporter *exporter, struct coverage *coverage)
{
    for (size_t i = 0; i < coverage->file_count; i++) {
        struct marks marks;
        if (!read_marks(exporter, &coverage->files[i], &marks))
            return false;
        if (marks.lines)
            leave_out(&coverage->files[i], &marks);
        free(marks.lines);
    }
    return true;
}
