// SPDX-License-Identifier: MIT
/** @file The formats, and what of a profile goes into one. */
#include "export/coverage.h"
#include "export/page.h"
#include "profile/profile.h"
#include "pugmark/names.h"

#include <stdlib.h>
#include <string.h>

typedef enum pug_status coverage_fn(const struct exporter *exporter,
                                    const struct coverage *coverage);

struct format {
    struct pug_export_format is;
    export_fn *write;
    coverage_fn *cover; /* in place of write */
};

static const struct format formats[] = {
    {{.name = "table",
      .summary = "functions, lines, loops, branches, for people",
      .uses_stacks = true},
     pug_export_table,
     NULL},
    {{.name = "autofdo", .summary = "AutoFDO's text: create_llvm_prof, create_gcov"},
     pug_export_autofdo,
     NULL},
    {{.name = "profgen", .summary = "llvm-profgen's unsymbolized profile", .one_object = true},
     pug_export_profgen,
     NULL},
    {{.name = "bolt", .summary = "BOLT's pre-aggregated text: perf2bolt --pa", .one_object = true},
     pug_export_bolt,
     NULL},
    {{.name = "fdata",
      .summary = "BOLT's profile: llvm-bolt, merge-fdata",
      .one_object = true,
      .needs_names = true},
     pug_export_fdata,
     NULL},
    {{.name = "llvm",
      .summary = "LLVM's sample profile: clang -fprofile-sample-use, llvm-profdata",
      .needs_names = true},
     pug_export_llvm,
     NULL},
    {{.name = "pprof",
      .summary = "pprof's profile (gzip): pprof, speedscope",
      .uses_stacks = true,
      .binary = true},
     pug_export_pprof,
     NULL},
    {{.name = "callgrind",
      .summary = "callgrind's: callgrind_annotate, kcachegrind",
      .needs_names = true,
      .needs_stacks = true},
     pug_export_callgrind,
     NULL},
    {{.name = "folded",
      .summary = "call stacks in a line each: flamegraph.pl, speedscope",
      .needs_stacks = true},
     pug_export_folded,
     NULL},
    {{.name = "report",
      .summary = "a page to look at (pugmark report)",
      .needs_names = true,
      .uses_stacks = true},
     pug_export_report,
     NULL},
};

static const struct format coverages[] = {
    {{.name = "text", .summary = "for people", .needs_names = true}, NULL, pug_coverage_text},
    {{.name = "lcov", .summary = "lcov's tracefile: genhtml", .needs_names = true},
     NULL,
     pug_coverage_lcov},
    {{.name = "json", .summary = "for programs", .needs_names = true}, NULL, pug_coverage_json},
    {{.name = "cobertura", .summary = "Cobertura's XML: Jenkins, GitLab", .needs_names = true},
     NULL,
     pug_coverage_cobertura},
    {{.name = "jacoco", .summary = "XML as JaCoCo writes it", .needs_names = true},
     NULL,
     pug_coverage_jacoco},
    {{.name = "sonar", .summary = "SonarQube's generic XML", .needs_names = true},
     NULL,
     pug_coverage_sonar},
    {{.name = "html", .summary = "a page with the sources", .needs_names = true},
     NULL,
     pug_coverage_html},
};

#define FORMATS   (sizeof(formats) / sizeof(formats[0]))
#define COVERAGES (sizeof(coverages) / sizeof(coverages[0]))

static const char *const abouts[] = {[PUG_REPORT_WRONG] = "wrong",
                                     [PUG_REPORT_LOST] = "lost",
                                     [PUG_REPORT_TIMES] = "times",
                                     [PUG_REPORT_COUNTS] = "counts",
                                     [PUG_REPORT_CHECKED] = "checked"};

const char *pug_report_about_name(enum pug_report_about about)
{
    return (size_t)about < sizeof(abouts) / sizeof(abouts[0]) ? abouts[about] : "";
}

const struct pug_export_format *pug_export_format_at(size_t n)
{
    return n < FORMATS ? &formats[n].is : NULL;
}

const struct pug_export_format *pug_export_coverage_at(size_t n)
{
    return n < COVERAGES ? &coverages[n].is : NULL;
}

static const struct format *find_format(const struct format *list, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i].is.name, name) == 0)
            return &list[i];
    return NULL;
}

enum { CHOSEN = 1, RAN = 2 };

/* Mark the objects of a name: those that ran, unless none of them did. */
static void mark_name(const struct pug_profile *profile, const char *name, uint32_t *marks)
{
    size_t count;
    const struct pug_profile_object *objects = pug_profile_objects(profile, &count);
    uint32_t idle = PUG_PROFILE_NONE;
    bool ran = false;
    for (uint32_t i = 0; i < count; i++) {
        if (!pug_profile_object_is(&objects[i], name))
            continue;
        if (marks[i] & RAN)
            marks[i] |= CHOSEN;
        else if (idle == PUG_PROFILE_NONE)
            idle = i;
        ran |= marks[i] & RAN;
    }
    if (!ran && idle != PUG_PROFILE_NONE)
        marks[idle] |= CHOSEN;
}

/* The objects of all names; where there are none, all that ran. */
static size_t choose(const struct pug_profile *profile, const struct pug_export_options *options,
                     uint32_t *chosen)
{
    size_t count, range_count, found = 0;
    const struct pug_profile_range *ranges = pug_profile_ranges(profile, &range_count);
    pug_profile_objects(profile, &count);
    for (size_t i = 0; i < range_count; i++)
        if (ranges[i].object < count)
            chosen[ranges[i].object] = RAN;
    for (size_t i = 0; i < options->object_count; i++)
        mark_name(profile, options->objects[i], chosen);
    const uint32_t wanted = options->object_count > 0 ? CHOSEN : RAN;
    for (uint32_t i = 0; i < count; i++)
        if (chosen[i] & wanted)
            chosen[found++] = i;
    return found;
}

static int by_number(const void *left, const void *right)
{
    const uint32_t *a = left, *b = right;
    return *a < *b ? -1 : *a > *b;
}

bool pug_export_is_chosen(const struct exporter *exporter, uint32_t object)
{
    return exporter->options->object_count == 0 ||
           bsearch(&object, exporter->objects, exporter->object_count, sizeof(object), by_number);
}

static enum pug_status check(const struct format *format, const struct exporter *exporter)
{
    size_t frames, ranges;
    pug_profile_frames(exporter->profile, &frames);
    pug_profile_ranges(exporter->profile, &ranges);
    const bool lacks_stacks = frames == 0 && ranges > 0; /* of nothing there are none */
    if ((format->is.needs_names && !exporter->options->names) ||
        (format->is.needs_stacks && lacks_stacks))
        return PUG_ERR_NOT_READY;
    for (size_t i = 0; i < exporter->options->object_count; i++)
        if (!pug_profile_has_object(exporter->profile, exporter->options->objects[i]))
            return PUG_ERR_NOT_FOUND;
    return format->is.one_object && exporter->object_count != 1 ? PUG_ERR_NOT_FOUND : PUG_OK;
}

static enum pug_status write_coverage(const struct exporter *exporter, coverage_fn *write)
{
    struct coverage coverage;
    enum pug_status status = pug_coverage_of(exporter, &coverage);
    if (status == PUG_OK && coverage.file_count == 0)
        status = PUG_ERR_NOT_READY;
    if (status == PUG_OK)
        status = write(exporter, &coverage);
    pug_coverage_free(&coverage);
    return status;
}

enum pug_status pug_export_prepare(struct pug_profile *profile,
                                   const struct pug_export_options *options, struct pug_sink *sink,
                                   struct exporter *exporter, uint32_t **chosen)
{
    static const struct pug_export_options usual;
    size_t count;
    enum pug_status status = pug_profile_sort(profile);
    if (!options)
        options = &usual;
    pug_profile_objects(profile, &count);
    *chosen = status == PUG_OK ? calloc(count + 1, sizeof(**chosen)) : NULL;
    if (!*chosen)
        return status == PUG_OK ? PUG_ERR_MEM : status;
    *exporter = (struct exporter){.profile = profile,
                                  .options = options,
                                  .sink = sink,
                                  .objects = *chosen,
                                  .object_count = choose(profile, options, *chosen)};
    return PUG_OK;
}

static enum pug_status run(struct pug_profile *profile, const struct format *format,
                           const struct pug_export_options *options, pug_export_fn *put,
                           void *context)
{
    struct pug_sink sink = {put, context};
    struct exporter exporter;
    uint32_t *chosen;
    enum pug_status status = pug_export_prepare(profile, options, &sink, &exporter, &chosen);
    if (status == PUG_OK)
        status = check(format, &exporter);
    if (status == PUG_OK)
        status =
            format->write ? format->write(&exporter) : write_coverage(&exporter, format->cover);
    if (status == PUG_OK)
        status = pug_names_status(exporter.options->names);
    free(chosen);
    return status;
}

enum pug_status pug_export(struct pug_profile *profile, const char *name,
                           const struct pug_export_options *options, pug_export_fn *put,
                           void *context)
{
    if (!profile || !name || !put)
        return PUG_ERR_INVALID_PARAM_VAL;
    const struct format *format = find_format(formats, FORMATS, name);
    return format ? run(profile, format, options, put, context) : PUG_ERR_WRONG_KIND;
}

enum pug_status pug_export_coverage(struct pug_profile *profile, const char *name,
                                    const struct pug_export_options *options, pug_export_fn *put,
                                    void *context)
{
    if (!profile || !name || !put)
        return PUG_ERR_INVALID_PARAM_VAL;
    const struct format *format = find_format(coverages, COVERAGES, name);
    return format ? run(profile, format, options, put, context) : PUG_ERR_WRONG_KIND;
}

/* ---- two ---- */

enum pug_status pug_export_diff(struct pug_profile *before, struct pug_profile *after,
                                const struct pug_export_options *options, pug_export_fn *put,
                                void *context)
{
    if (!before || !after || !put)
        return PUG_ERR_INVALID_PARAM_VAL;
    struct pug_sink sink = {put, context};
    struct exporter left, right;
    uint32_t *left_chosen = NULL, *right_chosen = NULL;
    enum pug_status status = pug_export_prepare(before, options, &sink, &left, &left_chosen);
    if (status == PUG_OK)
        status = pug_export_prepare(after, options, &sink, &right, &right_chosen);
    for (size_t i = 0; status == PUG_OK && i < left.options->object_count; i++)
        if (!pug_profile_has_object(before, left.options->objects[i]) &&
            !pug_profile_has_object(after, left.options->objects[i]))
            status = PUG_ERR_NOT_FOUND;
    if (status == PUG_OK)
        status = pug_export_changes(&left, &right);
    if (status == PUG_OK)
        status = pug_names_status(left.options->names);
    free(left_chosen);
    free(right_chosen);
    return status;
}
