// SPDX-License-Identifier: MIT
/** @file What became of rules, in the formats that people and CI systems read. */
#ifndef PUGMARK_TOOL_CHECK_REPORT_H
#define PUGMARK_TOOL_CHECK_REPORT_H

#include "pugmark/check.h"
#include "text/sink.h"

struct check_report {
    const struct pug_check *check;
    bool allow_undecided;
    struct pug_sink *sink;
};

struct check_counts {
    size_t rules, hold, violated, undecided, excused; /**< `excused`: of those undecided */
};

typedef void check_format_fn(const struct check_report *report);

/** "text", "junit", "tap", "json", "github"; NULL: no such format. */
check_format_fn *check_format(const char *name);

struct check_counts check_count(const struct pug_check *check);

/** Does an undecided rule count against the result? */
bool check_is_open(const struct check_report *report, const struct pug_check_verdict *verdict);

/** "panic at panic.c:12, at 1.2 ms, offset 499 of source 0x10"; returns its length. */
size_t check_place_text(const struct pug_check_place *place, char *text, size_t size);

#endif
