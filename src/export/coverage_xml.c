// SPDX-License-Identifier: MIT
/** @file Coverage as the XML of Cobertura, of JaCoCo, and SonarQube's generic one. */
#include "export/coverage.h"

#include "text/markup.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void put_attribute(struct pug_sink *sink, const char *name, const char *value, size_t size)
{
    pug_sink_format(sink, " %s=\"", name);
    pug_markup_text_n(sink, value, size);
    pug_sink_text(sink, "\"");
}

static void put_name(struct pug_sink *sink, const char *name, const char *value)
{
    put_attribute(sink, name, value, strlen(value));
}

/** The folder of a path, and the rest. */
static size_t folder_of(const char *path, const char **name)
{
    const char *slash = strrchr(path, '/');
    *name = slash ? slash + 1 : path;
    return slash ? (size_t)(slash - path) : 0;
}

/** Outcomes of the branches of a line; *next is the first branch that is not before it. */
static void count_outcomes(const struct coverage_file *file, uint32_t line, size_t *next,
                           uint32_t *all, uint32_t *seen)
{
    *all = *seen = 0;
    while (*next < file->branch_count && file->branches[*next].line < line)
        ++*next;
    for (; *next < file->branch_count && file->branches[*next].line == line; ++*next) {
        *all += 2;
        *seen += (file->branches[*next].taken > 0) + (file->branches[*next].not_taken > 0);
    }
}

static void add_sum(struct coverage_sum *all, const struct coverage_sum *one)
{
    all->lines += one->lines;
    all->lines_seen += one->lines_seen;
    all->functions += one->functions;
    all->functions_seen += one->functions_seen;
    all->outcomes += one->outcomes;
    all->outcomes_seen += one->outcomes_seen;
    all->instructions += one->instructions;
    all->instructions_seen += one->instructions_seen;
}

/* ---- Cobertura ---- */

/** "0.7500", rounded down; 1 where there is nothing. */
static void put_rate(struct pug_sink *sink, const char *name, uint64_t seen, uint64_t all)
{
    const uint64_t share = all ? (uint64_t)((double)seen / (double)all * 10000.0) : 10000;
    pug_sink_format(sink, " %s=\"%" PRIu64 ".%04" PRIu64 "\"", name, share / 10000, share % 10000);
}

static void put_rates(struct pug_sink *sink, const struct coverage_sum *sum)
{
    put_rate(sink, "line-rate", sum->lines_seen, sum->lines);
    put_rate(sink, "branch-rate", sum->outcomes_seen, sum->outcomes);
}

static void put_cobertura_file(struct pug_sink *sink, const struct coverage_file *file)
{
    const struct coverage_sum sum = pug_coverage_sum(file);
    const char *name;
    size_t next = 0;
    (void)folder_of(file->path, &name);
    pug_sink_text(sink, "        <class");
    put_name(sink, "name", name);
    put_name(sink, "filename", file->path);
    put_rates(sink, &sum);
    pug_sink_text(sink, " complexity=\"0\">\n          <methods>\n");
    for (size_t i = 0; i < file->function_count; i++) {
        const struct coverage_function *function = &file->functions[i];
        pug_sink_text(sink, "            <method");
        put_name(sink, "name", function->name);
        pug_sink_text(sink, " signature=\"()\"");
        put_rate(sink, "line-rate", function->count > 0, 1);
        put_rate(sink, "branch-rate", function->outcomes_seen, function->outcomes);
        pug_sink_format(sink,
                        " complexity=\"0\"><lines><line number=\"%" PRIu32 "\" hits=\"%" PRIu64
                        "\"/></lines></method>\n",
                        function->line, function->count);
    }
    pug_sink_text(sink, "          </methods>\n          <lines>\n");
    for (size_t i = 0; i < file->line_count; i++) {
        uint32_t all, seen;
        count_outcomes(file, file->lines[i].line, &next, &all, &seen);
        pug_sink_format(sink, "            <line number=\"%" PRIu32 "\" hits=\"%" PRIu64 "\"",
                        file->lines[i].line, file->lines[i].count);
        if (all > 0)
            pug_sink_format(sink,
                            " branch=\"true\" condition-coverage=\"%" PRIu32 "%% (%" PRIu32
                            "/%" PRIu32 ")\"",
                            seen * 100 / all, seen, all);
        else
            pug_sink_text(sink, " branch=\"false\"");
        pug_sink_text(sink, "/>\n");
    }
    pug_sink_text(sink, "          </lines>\n        </class>\n");
}

/** Files of one folder follow each other; how many they are. */
static size_t same_folder(const struct coverage *coverage, size_t from, struct coverage_sum *sum)
{
    const char *name;
    const size_t length = folder_of(coverage->files[from].path, &name);
    size_t count = 0;
    *sum = (struct coverage_sum){0};
    for (; from + count < coverage->file_count; count++) {
        const struct coverage_file *file = &coverage->files[from + count];
        if (folder_of(file->path, &name) != length ||
            strncmp(file->path, coverage->files[from].path, length) != 0)
            break;
        const struct coverage_sum one = pug_coverage_sum(file);
        add_sum(sum, &one);
    }
    return count;
}

static struct coverage_sum sum_of_all(const struct coverage *coverage)
{
    struct coverage_sum all = {0};
    for (size_t i = 0; i < coverage->file_count; i++) {
        const struct coverage_sum one = pug_coverage_sum(&coverage->files[i]);
        add_sum(&all, &one);
    }
    return all;
}

enum pug_status pug_coverage_cobertura(const struct exporter *exporter,
                                       const struct coverage *coverage)
{
    struct pug_sink *sink = exporter->sink;
    const struct coverage_sum all = sum_of_all(coverage);
    struct coverage_sum sum;
    const char *name;
    pug_sink_text(sink, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                        "<!DOCTYPE coverage SYSTEM "
                        "\"http://cobertura.sourceforge.net/xml/coverage-04.dtd\">\n<coverage");
    put_rates(sink, &all);
    pug_sink_format(sink,
                    " lines-covered=\"%" PRIu64 "\" lines-valid=\"%" PRIu64
                    "\" branches-covered=\"%" PRIu64 "\" branches-valid=\"%" PRIu64
                    "\" complexity=\"0\" version=\"pugmark\" timestamp=\"0\">\n"
                    "  <sources><source>.</source></sources>\n  <packages>\n",
                    all.lines_seen, all.lines, all.outcomes_seen, all.outcomes);
    for (size_t i = 0, count; i < coverage->file_count; i += count) {
        const size_t length = folder_of(coverage->files[i].path, &name);
        count = same_folder(coverage, i, &sum);
        pug_sink_text(sink, "    <package");
        put_attribute(sink, "name", coverage->files[i].path, length);
        put_rates(sink, &sum);
        pug_sink_text(sink, " complexity=\"0\">\n      <classes>\n");
        for (size_t n = i; n < i + count; n++)
            put_cobertura_file(sink, &coverage->files[n]);
        pug_sink_text(sink, "      </classes>\n    </package>\n");
    }
    pug_sink_text(sink, "  </packages>\n</coverage>\n");
    return PUG_OK;
}

/* ---- JaCoCo ---- */

static void put_counter(struct pug_sink *sink, const char *type, uint64_t seen, uint64_t all)
{
    if (all > 0)
        pug_sink_format(sink,
                        "<counter type=\"%s\" missed=\"%" PRIu64 "\" covered=\"%" PRIu64 "\"/>",
                        type, all - seen, seen);
}

static void put_counters(struct pug_sink *sink, const struct coverage_sum *sum)
{
    put_counter(sink, "INSTRUCTION", sum->instructions_seen, sum->instructions);
    put_counter(sink, "BRANCH", sum->outcomes_seen, sum->outcomes);
    put_counter(sink, "LINE", sum->lines_seen, sum->lines);
    put_counter(sink, "METHOD", sum->functions_seen, sum->functions);
}

/** A file is a class, too: JaCoCo has methods in these alone. */
static void put_jacoco_class(struct pug_sink *sink, const struct coverage_file *file)
{
    const struct coverage_sum sum = pug_coverage_sum(file);
    const char *name;
    (void)folder_of(file->path, &name);
    pug_sink_text(sink, "<class");
    put_name(sink, "name", file->path);
    put_name(sink, "sourcefilename", name);
    pug_sink_text(sink, ">");
    for (size_t i = 0; i < file->function_count; i++) {
        const struct coverage_function *function = &file->functions[i];
        pug_sink_text(sink, "<method");
        put_name(sink, "name", function->name);
        pug_sink_format(sink, " desc=\"()\" line=\"%" PRIu32 "\">", function->line);
        put_counter(sink, "INSTRUCTION", function->instructions_ran, function->instructions);
        put_counter(sink, "BRANCH", function->outcomes_seen, function->outcomes);
        put_counter(sink, "METHOD", function->count > 0, 1);
        pug_sink_text(sink, "</method>");
    }
    put_counters(sink, &sum);
    pug_sink_text(sink, "</class>\n");
}

static void put_jacoco_source(struct pug_sink *sink, const struct coverage_file *file)
{
    const struct coverage_sum sum = pug_coverage_sum(file);
    const char *name;
    size_t next = 0;
    (void)folder_of(file->path, &name);
    pug_sink_text(sink, "<sourcefile");
    put_name(sink, "name", name);
    pug_sink_text(sink, ">");
    for (size_t i = 0; i < file->line_count; i++) {
        const struct coverage_line *line = &file->lines[i];
        uint32_t all, seen;
        count_outcomes(file, line->line, &next, &all, &seen);
        pug_sink_format(sink,
                        "<line nr=\"%" PRIu32 "\" mi=\"%" PRIu32 "\" ci=\"%" PRIu32
                        "\" mb=\"%" PRIu32 "\" cb=\"%" PRIu32 "\"/>",
                        line->line, line->instructions - line->ran, line->ran, all - seen, seen);
    }
    put_counters(sink, &sum);
    pug_sink_text(sink, "</sourcefile>\n");
}

enum pug_status pug_coverage_jacoco(const struct exporter *exporter,
                                    const struct coverage *coverage)
{
    struct pug_sink *sink = exporter->sink;
    const struct coverage_sum all = sum_of_all(coverage);
    struct coverage_sum sum;
    const char *name;
    pug_sink_text(sink, "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n"
                        "<!DOCTYPE report PUBLIC \"-//JACOCO//DTD Report 1.1//EN\" "
                        "\"report.dtd\">\n<report name=\"pugmark\">\n");
    for (size_t i = 0, count; i < coverage->file_count; i += count) {
        const size_t length = folder_of(coverage->files[i].path, &name);
        count = same_folder(coverage, i, &sum);
        pug_sink_text(sink, "<package");
        put_attribute(sink, "name", coverage->files[i].path, length);
        pug_sink_text(sink, ">\n");
        for (size_t n = i; n < i + count; n++)
            put_jacoco_class(sink, &coverage->files[n]);
        for (size_t n = i; n < i + count; n++)
            put_jacoco_source(sink, &coverage->files[n]);
        put_counters(sink, &sum);
        pug_sink_text(sink, "</package>\n");
    }
    put_counters(sink, &all);
    pug_sink_text(sink, "</report>\n");
    return PUG_OK;
}

/* ---- SonarQube ---- */

enum pug_status pug_coverage_sonar(const struct exporter *exporter, const struct coverage *coverage)
{
    struct pug_sink *sink = exporter->sink;
    pug_sink_text(sink, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<coverage version=\"1\">\n");
    for (size_t i = 0; i < coverage->file_count; i++) {
        const struct coverage_file *file = &coverage->files[i];
        size_t next = 0;
        pug_sink_text(sink, "  <file");
        put_name(sink, "path", file->path);
        pug_sink_text(sink, ">\n");
        for (size_t n = 0; n < file->line_count; n++) {
            uint32_t all, seen;
            count_outcomes(file, file->lines[n].line, &next, &all, &seen);
            pug_sink_format(sink, "    <lineToCover lineNumber=\"%" PRIu32 "\" covered=\"%s\"",
                            file->lines[n].line, file->lines[n].count > 0 ? "true" : "false");
            if (all > 0)
                pug_sink_format(sink,
                                " branchesToCover=\"%" PRIu32 "\" coveredBranches=\"%" PRIu32 "\"",
                                all, seen);
            pug_sink_text(sink, "/>\n");
        }
        pug_sink_text(sink, "  </file>\n");
    }
    pug_sink_text(sink, "</coverage>\n");
    return PUG_OK;
}
