// SPDX-License-Identifier: MIT
/**
 * @file The page without a script: headline, what it rests on, functions and coverage, as HTML. A
 * browser that runs the script hides it, except in print.
 */
#include "export/page_data.h"
#include "text/markup.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MOST    1000u
#define ROWS_PRINTED 50u
#define NAME_MOST    ((size_t)400) /* bytes of a name or path */

static const char *last_component(const char *path)
{
    const char *at = path, *last = path;
    for (; *at; at++)
        if ((*at == '/' || *at == '\\') && at[1])
            last = at + 1;
    return last;
}

/** A name, of which the end is cut off where it is very long. */
static void put_name(struct pug_sink *sink, const char *name)
{
    const size_t length = strlen(name);
    pug_markup_text_n(sink, name, length < NAME_MOST ? length : NAME_MOST);
    if (length > NAME_MOST)
        pug_sink_text(sink, "…");
}

static void put_cell(struct pug_sink *sink, uint64_t number)
{
    pug_sink_format(sink, "<td class=\"number\">%" PRIu64 "</td>", number);
}

static void put_share(struct pug_sink *sink, uint64_t part, uint64_t whole)
{
    if (whole == 0)
        pug_sink_text(sink, "<td class=\"number\">-</td>");
    else
        pug_sink_format(sink, "<td class=\"number\">%.2f %%</td>",
                        100.0 * (double)part / (double)whole);
}

/* ---- headline and trust ---- */

static void put_headline(struct pug_sink *sink, const struct pug_report *report)
{
    pug_sink_text(sink, "<h1>");
    pug_markup_text(sink, report && report->title ? report->title : "profile");
    pug_sink_text(sink, "</h1>\n");
    if (report && report->headline && *report->headline) {
        pug_sink_text(sink, "<p class=\"headline\">");
        pug_markup_text(sink, report->headline);
        pug_sink_text(sink, "</p>\n");
    }
    if (report && report->what && *report->what) {
        pug_sink_text(sink, "<p>");
        pug_markup_text(sink, report->what);
        pug_sink_text(sink, "</p>\n");
    }
}

static void put_point(struct pug_sink *sink, const struct pug_report *report,
                      const struct pug_report_point *point)
{
    static const char *const words[] = {[PUG_REPORT_WRONG] = "Wrong",
                                        [PUG_REPORT_LOST] = "Incomplete",
                                        [PUG_REPORT_TIMES] = "Times",
                                        [PUG_REPORT_COUNTS] = "Counts",
                                        [PUG_REPORT_CHECKED] = "Checked"};
    const bool several = report && (report->input_count > 1 || report->baseline);
    pug_sink_format(sink, "<li class=\"%s\"><b>%s:</b> ", pug_report_about_name(point->about),
                    words[point->about]);
    if (several && point->input) {
        pug_markup_text(sink, point->input);
        pug_sink_text(sink, ": ");
    }
    pug_markup_text(sink, point->text);
    pug_sink_text(sink, "</li>\n");
}

static void put_trust(struct pug_sink *sink, const struct page *page,
                      const struct pug_report *report)
{
    char words[160];
    pug_sink_text(sink, "<h2>What this rests on</h2>\n<ul>\n");
    for (unsigned about = 0; about <= PUG_REPORT_CHECKED; about++)
        for (size_t i = 0; report && i < report->point_count; i++)
            if (report->points[i].about == (enum pug_report_about)about)
                put_point(sink, report, &report->points[i]);
    pug_page_basis(page, words, sizeof(words));
    if (*words)
        put_point(sink, report,
                  &(struct pug_report_point){.text = words, .about = PUG_REPORT_COUNTS});
    if (!*words && (!report || report->point_count == 0))
        pug_sink_text(sink, "<li>Nothing was checked, and nothing is known to be wrong.</li>\n");
    pug_sink_text(sink, "</ul>\n");
}

/* ---- functions ---- */

static int by_self(const void *a, const void *b)
{
    const struct export_function *x = *(const struct export_function *const *)a;
    const struct export_function *y = *(const struct export_function *const *)b;
    if (x->self != y->self)
        return x->self < y->self ? 1 : -1;
    return x < y ? -1 : x > y;
}

static void put_function(struct page *page, const struct export_function *function, bool printed)
{
    struct pug_sink *sink = page->exporter->sink;
    const uint64_t all = page->functions.instructions;
    pug_sink_text(sink, printed ? "<tr>" : "<tr class=\"more\">");
    put_cell(sink, function->self);
    put_share(sink, function->self, all);
    put_cell(sink, page->functions.has_stacks ? function->inclusive : function->self);
    put_cell(sink, function->calls);
    pug_sink_text(sink, "<td>");
    put_name(sink, pug_export_readable(page->exporter, function->name));
    pug_sink_text(sink, "</td><td>");
    if (function->object != PUG_PROFILE_NONE)
        put_name(sink, last_component(export_object(page->exporter, function->object)->path));
    pug_sink_text(sink, "</td></tr>\n");
}

static void put_functions(struct page *page)
{
    struct pug_sink *sink = page->exporter->sink;
    const size_t count = page->functions.count;
    const struct export_function **order = calloc(count + 1, sizeof(*order));
    if (!order) {
        page->status = PUG_ERR_MEM;
        return;
    }
    for (size_t i = 0; i < count; i++)
        order[i] = &page->functions.items[i];
    qsort(order, count, sizeof(*order), by_self);
    pug_sink_text(sink, "<h2>Functions</h2>\n<table>\n<thead><tr><th class=\"number\">Own</th>"
                        "<th class=\"number\">%</th><th class=\"number\">Inclusive</th>"
                        "<th class=\"number\">Calls</th><th>Function</th><th>Object</th></tr>"
                        "</thead>\n<tbody>\n");
    for (size_t i = 0; i < count && i < ROWS_MOST; i++)
        put_function(page, order[i], i < ROWS_PRINTED);
    pug_sink_text(sink, "</tbody>\n</table>\n");
    if (count > ROWS_MOST)
        pug_sink_format(sink, "<p>%zu more functions ran less.</p>\n", count - ROWS_MOST);
    free(order);
}

/* ---- coverage ---- */

static void put_part(struct pug_sink *sink, uint64_t seen, uint64_t all)
{
    put_share(sink, seen, all);
    pug_sink_format(sink, "<td class=\"number\">%" PRIu64 " / %" PRIu64 "</td>", seen, all);
}

static void put_coverage(struct page *page)
{
    struct pug_sink *sink = page->exporter->sink;
    const size_t count = page->coverage.file_count;
    pug_sink_text(sink, "<h2>Coverage</h2>\n");
    if (pug_profile_is_sampled(page->exporter->profile)) {
        pug_sink_text(sink,
                      "<p>Coverage is of counts of what ran, and these are PC samples.</p>\n");
        return;
    }
    if (count == 0) {
        pug_sink_text(sink, "<p>No source lines of what ran are known.</p>\n");
        return;
    }
    pug_sink_text(sink,
                  "<table>\n<thead><tr><th class=\"number\" colspan=\"2\">Lines</th>"
                  "<th class=\"number\" colspan=\"2\">Branch outcomes</th>"
                  "<th class=\"number\" colspan=\"2\">Functions</th><th>File</th></tr></thead>\n"
                  "<tbody>\n");
    for (size_t i = 0; i < count && i < ROWS_MOST; i++) {
        const struct coverage_sum sum = pug_coverage_sum(&page->coverage.files[i]);
        pug_sink_text(sink, "<tr>");
        put_part(sink, sum.lines_seen, sum.lines);
        put_part(sink, sum.outcomes_seen, sum.outcomes);
        put_part(sink, sum.functions_seen, sum.functions);
        pug_sink_text(sink, "<td>");
        const char *path = page->coverage.files[i].path;
        while (path[0] == '.' && path[1] == '/' && path[2])
            path += 2;
        put_name(sink, path);
        pug_sink_text(sink, "</td></tr>\n");
    }
    pug_sink_text(sink, "</tbody>\n</table>\n");
    if (count > ROWS_MOST)
        pug_sink_format(sink, "<p>and %zu more files.</p>\n", count - ROWS_MOST);
}

void pug_page_html(struct page *page)
{
    struct pug_sink *sink = page->exporter->sink;
    const struct pug_report *report = page->exporter->options->report;
    pug_sink_text(sink, "<main id=\"plain\">\n");
    put_headline(sink, report);
    put_trust(sink, page, report);
    put_functions(page);
    pug_sink_text(sink, "<div id=\"printed-flame\"></div>\n");
    put_coverage(page);
    pug_sink_text(sink, "</main>\n");
}
