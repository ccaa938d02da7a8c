// SPDX-License-Identifier: MIT
/**
 * @file BOLT's pre-aggregated text: what ran through from where to where, and the branches between,
 * by ELF virtual address. perf2bolt reads it (--pa).
 */
#include "export/export.h"

#include <inttypes.h>

enum pug_status pug_export_bolt(const struct export *export)
{
    struct export_counts counts;
    enum pug_status status = pug_export_counts(export, export->objects[0], &counts);
    if (status == PUG_OK) {
        for (size_t i = 0; i < counts.range_count; i++)
            pug_sink_format(export->sink, "F %" PRIx64 " %" PRIx64 " %" PRIu64 "\n",
                            counts.ranges[i].first, counts.ranges[i].last, counts.ranges[i].count);
        for (size_t i = 0; i < counts.branch_count; i++) {
            const struct export_branch *branch = &counts.branches[i];
            pug_sink_format(export->sink, "B %" PRIx64 " %s%" PRIx64 " %" PRIu64 " 0\n",
                            branch->from, branch->foreign ? "X:" : "", branch->to, branch->count);
        }
    }
    pug_export_counts_free(&counts);
    return status;
}
