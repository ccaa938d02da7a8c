// SPDX-License-Identifier: MIT
/**
 * @file BOLT's pre-aggregated text: what ran through from where to where, and the branches between,
 * by ELF virtual address. perf2bolt reads it (--pa).
 */
#include "export/export.h"

#include "pugmark/names.h"

#include <inttypes.h>

/* BOLT disassembles no linkage tables, and takes what ran there for a mismatch. */
static bool in_plt(const struct exporter *exporter, struct pug_names_file *file, uint64_t vaddr)
{
    struct pug_names_code code;
    for (size_t n = 0; exporter->options->without_plt && file && pug_names_code_at(file, n, &code);
         n++)
        if (code.plt && vaddr >= code.start && vaddr < code.end)
            return true;
    return false;
}

enum pug_status pug_export_bolt(const struct exporter *exporter)
{
    struct pug_names_file *file = pug_export_file(exporter, exporter->objects[0]);
    struct export_counts counts;
    enum pug_status status = pug_export_counts(exporter, exporter->objects[0], &counts);
    if (status == PUG_OK && exporter->options->without_plt && !file)
        status = PUG_ERR_NOT_READY;
    for (size_t i = 0; status == PUG_OK && i < counts.range_count; i++)
        if (!in_plt(exporter, file, counts.ranges[i].first))
            pug_sink_format(exporter->sink, "F %" PRIx64 " %" PRIx64 " %" PRIu64 "\n",
                            counts.ranges[i].first, counts.ranges[i].last, counts.ranges[i].count);
    for (size_t i = 0; status == PUG_OK && i < counts.branch_count; i++) {
        const struct export_branch *branch = &counts.branches[i];
        if (!in_plt(exporter, file, branch->from))
            pug_sink_format(exporter->sink, "B %" PRIx64 " %s%" PRIx64 " %" PRIu64 " 0\n",
                            branch->from, branch->foreign ? "X:" : "", branch->to, branch->count);
    }
    pug_export_counts_free(&counts);
    return status;
}
