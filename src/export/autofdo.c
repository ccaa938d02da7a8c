// SPDX-License-Identifier: MIT
/**
 * @file AutoFDO's text: ranges and branches of one binary, by offset in its file. create_llvm_prof,
 * create_gcov and profile_merger read it (--profiler=text); simpleperf writes it.
 */
#include "export/export.h"

#include "base/text.h"

#include <stdlib.h>

/* A line of two addresses and a count: there are many. */
static void put_line(const struct exporter *exporter, uint64_t from, const char *between,
                     uint64_t to, uint64_t count)
{
    char line[64];
    struct pug_text text = PUG_TEXT(line, sizeof(line));
    pug_text_hex(&text, from, 1);
    pug_text_put(&text, between);
    pug_text_hex(&text, to, 1);
    pug_text_put(&text, ":");
    pug_text_decimal(&text, count);
    pug_text_put(&text, "\n");
    pug_sink_put(exporter->sink, line, text.length);
}

static void put_range(const struct exporter *exporter, uint64_t first,
                      const struct export_range *range)
{
    put_line(exporter, first, "-", first + (range->last - range->first), range->count);
}

static void put_branch(const struct exporter *exporter, uint64_t from, uint64_t to, uint64_t count)
{
    put_line(exporter, from, "->", to, count);
}

static int by_address(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

/* Simpleperf does not say where indirect branches went. */
static enum pug_status hide_indirect(const struct exporter *exporter, uint32_t object,
                                     struct export_counts *counts)
{
    size_t count, indirect = 0;
    const struct pug_profile_range *ranges = pug_profile_ranges(exporter->profile, &count);
    uint64_t *ends = malloc((count + 1) * sizeof(*ends));
    if (!ends)
        return PUG_ERR_MEM;
    for (size_t i = 0; i < count; i++)
        if (ranges[i].object == object && (ranges[i].end & PUG_END_INDIRECT))
            ends[indirect++] = ranges[i].last;
    qsort(ends, indirect, sizeof(*ends), by_address);
    for (size_t i = 0; i < counts->branch_count; i++) {
        struct export_branch *branch = &counts->branches[i];
        if (!bsearch(&branch->from, ends, indirect, sizeof(*ends), by_address))
            continue;
        branch->to = 0;
        branch->foreign = true;
    }
    free(ends);
    counts->branch_count = pug_export_join_branches(counts->branches, counts->branch_count);
    return PUG_OK;
}

static void put_counts(const struct exporter *exporter, const struct pug_profile_object *object,
                       const struct export_counts *counts)
{
    pug_sink_format(exporter->sink, "%zu\n", counts->range_count);
    for (size_t i = 0; i < counts->range_count; i++)
        put_range(exporter, pug_export_offset(object, counts->ranges[i].first), &counts->ranges[i]);
    pug_sink_format(exporter->sink, "0\n%zu\n", counts->branch_count); /* no lone addresses */
    for (size_t i = 0; i < counts->branch_count; i++) {
        const struct export_branch *branch = &counts->branches[i];
        put_branch(exporter, pug_export_offset(object, branch->from),
                   branch->foreign ? 0 : pug_export_offset(object, branch->to), branch->count);
    }
}

/* Behind the counts, where the reader has stopped; the id with zeros up to 20 bytes. */
static void put_comments(const struct exporter *exporter, const struct pug_profile_object *object)
{
    const struct export_build_id id = pug_export_build_id(object);
    pug_sink_format(exporter->sink, "// build_id: 0x%s", id.digits);
    for (unsigned i = object->build_id_size; i < PUG_PROFILE_BUILD_ID; i++)
        pug_sink_text(exporter->sink, "00");
    pug_sink_text(exporter->sink, "\n// ");
    pug_sink_printable(exporter->sink, object->path);
    pug_sink_text(exporter->sink, "\n\n");
}

static enum pug_status put_object(const struct exporter *exporter, uint32_t number)
{
    const struct pug_profile_object *object = export_object(exporter, number);
    struct export_counts counts;
    enum pug_status status = pug_export_counts(exporter, number, &counts);
    if (status == PUG_OK && exporter->options->like_simpleperf)
        status = hide_indirect(exporter, number, &counts);
    if (status == PUG_OK) {
        put_counts(exporter, object, &counts);
        put_comments(exporter, object);
    }
    pug_export_counts_free(&counts);
    return status;
}

enum pug_status pug_export_autofdo(const struct exporter *exporter)
{
    enum pug_status status = PUG_OK;
    if (exporter->object_count > 1)
        pug_sink_text(exporter->sink, "// Please split this file. AutoFDO only accepts profile for "
                                      "one binary.\n");
    for (size_t i = 0; i < exporter->object_count && status == PUG_OK; i++)
        status = put_object(exporter, exporter->objects[i]);
    return status;
}

/* The page that llvm-profgen counts from: where the first segment with code begins. */
static uint64_t first_code_page(const struct pug_profile_object *object)
{
    for (size_t i = 0; i < object->segment_count; i++)
        if (object->segments[i].executable)
            return object->segments[i].vaddr & ~UINT64_C(0xfff);
    return 0;
}

/*
 * What llvm-profgen reads with --unsymbolized-profile: the same without the section of addresses
 * and without comments, by address from its first code page on.
 */
enum pug_status pug_export_profgen(const struct exporter *exporter)
{
    const uint64_t base = first_code_page(export_object(exporter, exporter->objects[0]));
    struct export_counts counts;
    enum pug_status status = pug_export_counts(exporter, exporter->objects[0], &counts);
    if (status == PUG_OK) {
        pug_sink_format(exporter->sink, "%zu\n", counts.range_count);
        for (size_t i = 0; i < counts.range_count; i++)
            put_range(exporter, counts.ranges[i].first - base, &counts.ranges[i]);
        pug_sink_format(exporter->sink, "%zu\n", counts.branch_count);
        for (size_t i = 0; i < counts.branch_count; i++) {
            const struct export_branch *branch = &counts.branches[i];
            put_branch(exporter, branch->from - base, branch->foreign ? 0 : branch->to - base,
                       branch->count);
        }
    }
    pug_export_counts_free(&counts);
    return status;
}
