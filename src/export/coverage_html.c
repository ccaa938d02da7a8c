// SPDX-License-Identifier: MIT
/** @file Coverage as one page: files, functions, and the sources with their counts, where they are.
 */
#include "export/coverage.h"

#include "export/source_text.h"
#include "text/markup.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SOURCE_LIMIT ((size_t)16 << 20)

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width\">\n<title>Coverage</title>\n<style>\n"
    "body { font: 14px/1.4 system-ui, sans-serif; margin: 2em auto; max-width: 70em; }\n"
    "table { border-collapse: collapse; }\n"
    "th, td { padding: .2em .8em; text-align: right; border-bottom: 1px solid #ddd; }\n"
    "th:last-child, td:last-child { text-align: left; }\n"
    "pre { overflow-x: auto; }\n"
    "pre span { display: block; }\n"
    ".hit { background: #e6f4e6; }\n.miss { background: #fbe3e3; }\n.part { background: #fdf3d4; "
    "}\n"
    "@media (prefers-color-scheme: dark) { body { background: #1b1b1b; color: #ddd; } th, td "
    "{ border-color: #444; } .hit { background: #1e3a1e; } .miss { background: #4a1f1f; } .part "
    "{ background: #4a3d14; } a { color: #8ab4f8; } }\n"
    "</style>\n</head>\n<body>\n<h1>Coverage</h1>\n";

static void put_part(struct pug_sink *sink, uint64_t seen, uint64_t all)
{
    if (all == 0)
        pug_sink_text(sink, "<td>-</td>");
    else
        pug_sink_format(sink, "<td>%.1f %% (%" PRIu64 " of %" PRIu64 ")</td>",
                        100.0 * (double)seen / (double)all, seen, all);
}

static void put_files(struct pug_sink *sink, const struct coverage *coverage)
{
    pug_sink_text(sink, "<table>\n<tr><th>Lines</th><th>Functions</th><th>Branch outcomes</th>"
                        "<th>Instructions</th><th>File</th></tr>\n");
    for (size_t i = 0; i < coverage->file_count; i++) {
        const struct coverage_sum sum = pug_coverage_sum(&coverage->files[i]);
        pug_sink_text(sink, "<tr>");
        put_part(sink, sum.lines_seen, sum.lines);
        put_part(sink, sum.functions_seen, sum.functions);
        put_part(sink, sum.outcomes_seen, sum.outcomes);
        put_part(sink, sum.instructions_seen, sum.instructions);
        pug_sink_format(sink, "<td><a href=\"#f%zu\">", i);
        pug_markup_text(sink, coverage->files[i].path);
        pug_sink_text(sink, "</a></td></tr>\n");
    }
    pug_sink_text(sink, "</table>\n");
}

static void put_functions(struct pug_sink *sink, const struct coverage_file *file)
{
    pug_sink_text(sink, "<table>\n<tr><th>Entered</th><th>Instructions</th><th>Branch outcomes</th>"
                        "<th>Function</th></tr>\n");
    for (size_t i = 0; i < file->function_count; i++) {
        const struct coverage_function *function = &file->functions[i];
        pug_sink_format(sink, "<tr><td>%" PRIu64 "</td>", function->count);
        put_part(sink, function->instructions_ran, function->instructions);
        put_part(sink, function->outcomes_seen, function->outcomes);
        pug_sink_text(sink, "<td>");
        pug_markup_text(sink, function->name);
        pug_sink_text(sink, "</td></tr>\n");
    }
    pug_sink_text(sink, "</table>\n");
}

static void put_decision(struct pug_sink *sink, const struct coverage_decision *decision)
{
    const struct decision *is = decision->is;
    const unsigned exits = pug_decision_exits(is);
    const bool measured = is->doubt == DECISION_MEASURED;
    const char *separator = "";
    pug_sink_format(sink,
                    "<tr class=\"%s\"><td>%" PRIu32 ":%" PRIu32 "</td><td>%u of 2</td><td>%" PRIu32
                    " of %" PRIu32 "</td><td>",
                    !measured                              ? ""
                    : decision->covered_count == is->count ? "hit"
                    : decision->covered_count > 0          ? "part"
                                                           : "miss",
                    decision->line, decision->column, (exits & 1) + (exits >> 1),
                    measured ? decision->covered_count : 0, is->count);
    if (!measured) {
        pug_sink_text(sink, "not measurable: ");
        pug_markup_text(sink, pug_decision_doubt_text(is->doubt));
    }
    for (uint32_t c = 0; measured && c < is->count; c++) {
        if (decision->covered >> c & 1)
            continue;
        pug_sink_format(sink, "%s%" PRIu32 ":%" PRIu32,
                        *separator ? separator : "not shown: ", is->conditions[c].line,
                        is->conditions[c].column);
        separator = ", ";
    }
    pug_sink_text(sink, "</td></tr>\n");
}

static void put_decisions(struct pug_sink *sink, const struct coverage_file *file)
{
    if (file->decision_count == 0)
        return;
    pug_sink_text(sink, "<table>\n<tr><th>Decision at</th><th>Results</th><th>Conditions by "
                        "MC/DC</th><th>Conditions that were not shown to decide</th></tr>\n");
    for (size_t i = 0; i < file->decision_count; i++)
        put_decision(sink, &file->decisions[i]);
    pug_sink_text(sink, "</table>\n");
}

/* Which outcomes of the line's branches were seen: "T" taken, "N" not; lower case: never. */
static void put_outcomes(struct pug_sink *sink, const struct coverage_file *file, size_t *branch,
                         uint32_t line)
{
    unsigned width = 0;
    for (; *branch < file->branch_count && file->branches[*branch].line <= line; ++*branch) {
        const struct coverage_branch *is = &file->branches[*branch];
        if (is->line != line || width >= 8)
            continue;
        pug_sink_text(sink, is->taken > 0 ? "T" : "t");
        pug_sink_text(sink, is->not_taken > 0 ? "N" : "n");
        width += 2;
    }
    pug_sink_format(sink, "%*s", 9 - (int)width, "");
}

static void put_source_line(struct pug_sink *sink, const struct coverage_file *file, size_t *line,
                            size_t *branch, uint32_t number, const char *text, size_t length)
{
    const struct coverage_line *counted =
        *line < file->line_count && file->lines[*line].line == number ? &file->lines[*line] : NULL;
    const char *class = !counted                               ? ""
                        : counted->count == 0                  ? " class=\"miss\""
                        : counted->ran < counted->instructions ? " class=\"part\""
                                                               : " class=\"hit\"";
    pug_sink_format(sink, "<span%s>%6" PRIu32 " ", class, number);
    if (counted)
        pug_sink_format(sink, "%12" PRIu64 " %4" PRIu32 "/%-4" PRIu32 " ", counted->count,
                        counted->ran, counted->instructions);
    else
        pug_sink_format(sink, "%*s", 23, "");
    put_outcomes(sink, file, branch, number);
    pug_markup_text_n(sink, text, length);
    pug_sink_text(sink, "</span>");
    *line += counted != NULL;
}

/* Without its source a file's lines are numbers alone. */
static void put_source(const struct exporter *exporter, const struct coverage_file *file)
{
    struct pug_sink *sink = exporter->sink;
    uint8_t *bytes = NULL;
    size_t size = 0, line = 0, branch = 0;
    const bool there = pug_export_source(exporter, file->source, SOURCE_LIMIT, &bytes, &size);
    const char *at = (const char *)bytes;
    pug_sink_text(sink, "<pre>");
    for (uint32_t number = 1; line < file->line_count || (there && *at); number++) {
        const size_t length = there ? strcspn(at, "\n") : 0;
        if (!there || !*at)
            number = line < file->line_count && file->lines[line].line > number
                         ? file->lines[line].line
                         : number;
        put_source_line(sink, file, &line, &branch, number, there ? at : "", length);
        if (there)
            at += length + (at[length] == '\n');
        while (line < file->line_count && file->lines[line].line <= number)
            line++;
    }
    pug_sink_text(sink, "</pre>\n");
    free(bytes);
}

enum pug_status pug_coverage_html(const struct exporter *exporter, const struct coverage *coverage)
{
    struct pug_sink *sink = exporter->sink;
    pug_sink_text(sink, head);
    put_files(sink, coverage);
    pug_sink_text(
        sink, "<p>Beside each line: how often it ran (its instruction that ran most), how many of "
              "its instructions ran, and of each conditional branch whether it was taken (T) and "
              "not taken (N), in small letters where it never was.</p>\n");
    char sampled[160];
    pug_export_sampled(exporter, sampled, sizeof(sampled));
    if (*sampled)
        pug_sink_format(sink, "<p>%s: what was not sampled may have run.</p>\n", sampled);
    for (int note = PUG_NOTE_LOST; note < PUG_NOTE_COUNT; note++)
        if (pug_profile_noted(exporter->profile, note) > 0)
            pug_sink_format(sink, "<p>%" PRIu64 " %s.</p>\n",
                            pug_profile_noted(exporter->profile, note),
                            pug_profile_note_text(note));
    for (size_t i = 0; i < coverage->file_count; i++) {
        pug_sink_format(sink, "<h2 id=\"f%zu\">", i);
        pug_markup_text(sink, coverage->files[i].path);
        pug_sink_text(sink, "</h2>\n");
        put_functions(sink, &coverage->files[i]);
        put_decisions(sink, &coverage->files[i]);
        put_source(exporter, &coverage->files[i]);
    }
    pug_sink_text(sink, "</body>\n</html>\n");
    return PUG_OK;
}
