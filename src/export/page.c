// SPDX-License-Identifier: MIT
/**
 * @file The report: one page with the profile's data in it. report/ has the page; it is part of the
 * library as text, with a mark where HTML and data go.
 */
#include "export/page.h"
#include "base/text.h"
#include "export/page_data.h"
#include "pugmark/names.h"
#include "pugmark/pugmark.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTIONS_MOST 1000000u
#define FLAME_NODES    100000u
#define FILES_MOST     100000u

/* ---- texts ---- */

static uint32_t hash_of(const char *text)
{
    uint32_t hash = 2166136261u;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 16777619u;
    return hash;
}

static bool grow_texts(struct page_texts *texts)
{
    size_t room = texts->room ? 2 * texts->room : 256, size = 4 * room;
    const char **items = realloc(texts->items, room * sizeof(*items));
    if (items)
        texts->items = items;
    uint32_t *table = items ? calloc(size, sizeof(*table)) : NULL;
    if (!table)
        return false;
    for (size_t i = 0; i < texts->count; i++) {
        size_t at = hash_of(items[i]) & (size - 1);
        while (table[at])
            at = (at + 1) & (size - 1);
        table[at] = (uint32_t)i + 1;
    }
    free(texts->table);
    texts->table = table;
    texts->table_size = size;
    texts->room = room;
    return true;
}

int64_t pug_page_number(struct page *page, const char *text)
{
    struct page_texts *texts = &page->files;
    if (!text)
        return -1;
    if (texts->count == texts->room && !grow_texts(texts)) {
        page->status = PUG_ERR_MEM;
        return -1;
    }
    size_t at = hash_of(text) & (texts->table_size - 1);
    while (texts->table[at] && strcmp(texts->items[texts->table[at] - 1], text) != 0)
        at = (at + 1) & (texts->table_size - 1);
    if (!texts->table[at]) {
        texts->items[texts->count++] = text;
        texts->table[at] = (uint32_t)texts->count;
    }
    return (int64_t)texts->table[at] - 1;
}

int64_t pug_page_source_number(struct page *page, const char *path)
{
    return pug_page_number(page, path ? pug_coverage_path(page->exporter, path) : NULL);
}

/* ---- numbers ---- */

void pug_page_count(struct pug_json *json, const char *key, uint64_t count)
{
    char digits[24];
    if (count <= UINT64_C(1) << 53) {
        pug_json_number(json, key, count);
        return;
    }
    struct pug_text text = PUG_TEXT(digits, sizeof(digits));
    pug_text_decimal(&text, count);
    pug_text_end(&text);
    pug_json_string(json, key, digits);
}

/* ---- the head: what was traced, what it rests on ---- */

static void put_fact(struct pug_json *json, const char *name, const char *value)
{
    pug_json_array(json, NULL);
    pug_json_string(json, NULL, name);
    pug_json_string(json, NULL, value);
    pug_json_close(json);
}

static void put_facts(struct page *page)
{
    struct pug_json *json = &page->json;
    const struct pug_report *report = page->exporter->options->report;
    size_t tasks;
    const struct pug_profile_task *task = pug_profile_tasks(page->exporter->profile, &tasks);
    pug_json_array(json, "facts");
    for (size_t i = 0; report && i < report->fact_count; i++)
        put_fact(json, report->facts[i].name, report->facts[i].value);
    for (size_t i = 0; i < tasks && i < 50; i++) {
        char words[96];
        struct pug_text text = PUG_TEXT(words, sizeof(words));
        if (task[i].tid < 0)
            continue; /* a source whose threads are unknown */
        pug_text_format(&text, "process %" PRId32 ", thread %" PRId32 " %.40s", task[i].pid,
                        task[i].tid, task[i].name);
        pug_text_end(&text);
        put_fact(json, "Task", words);
    }
    pug_json_close(json);
}

static void put_totals(struct page *page)
{
    struct pug_json *json = &page->json;
    size_t objects, branches;
    const struct pug_profile_branch *branch =
        pug_profile_branches(page->exporter->profile, &branches);
    uint64_t taken = 0, calls = 0;
    pug_profile_objects(page->exporter->profile, &objects);
    for (size_t i = 0; i < branches; i++)
        taken = pug_profile_sum(taken, branch[i].count);
    for (size_t i = 0; i < page->functions.count; i++)
        calls = pug_profile_sum(calls, page->functions.items[i].calls);
    pug_json_object(json, "totals");
    pug_page_count(json, pug_export_unit(page->exporter), page->functions.instructions);
    const struct pug_profile *profile = page->exporter->profile;
    if (pug_profile_is_sampled(profile)) {
        pug_page_count(json, "samples asleep", pug_profile_sampled(profile, PUG_SAMPLES_ASLEEP));
        pug_page_count(json, "samples not permitted",
                       pug_profile_sampled(profile, PUG_SAMPLES_DENIED));
    }
    pug_page_count(json, "taken branches", taken);
    pug_page_count(json, "calls", calls);
    pug_page_count(json, "functions", page->functions.count);
    pug_page_count(json, "objects", objects);
    pug_json_close(json);
}

void pug_page_basis(const struct page *page, char *words, size_t size)
{
    pug_export_sampled(page->exporter, words, size);
    if (!*words && page->functions.instructions == 0)
        snprintf(words, size,
                 "nothing was counted: there is no program flow, and no PC sample, in it");
}

static void put_trust(struct page *page)
{
    struct pug_json *json = &page->json;
    const struct pug_report *report = page->exporter->options->report;
    char words[160];
    pug_json_array(json, "trust");
    pug_page_basis(page, words, sizeof(words));
    if (*words) {
        pug_json_object(json, NULL);
        pug_json_string(json, "about", pug_report_about_name(PUG_REPORT_COUNTS));
        pug_json_string(json, "input", NULL);
        pug_json_string(json, "text", words);
        pug_json_close(json);
    }
    for (size_t i = 0; report && i < report->point_count; i++) {
        const struct pug_report_point *point = &report->points[i];
        pug_json_object(json, NULL);
        pug_json_string(json, "about", pug_report_about_name(point->about));
        pug_json_string(json, "input", point->input);
        pug_json_string(json, "text", point->text);
        pug_json_close(json);
    }
    pug_json_close(json);
}

static void put_texts(struct pug_json *json, const char *key, const char *const *texts,
                      size_t count)
{
    pug_json_array(json, key);
    for (size_t i = 0; i < count; i++)
        pug_json_string(json, NULL, texts[i]);
    pug_json_close(json);
}

static void put_objects(struct page *page)
{
    size_t count;
    const struct pug_profile_object *objects = pug_profile_objects(page->exporter->profile, &count);
    pug_json_array(&page->json, "objects");
    for (size_t i = 0; i < count; i++)
        pug_json_string(&page->json, NULL, objects[i].path);
    pug_json_close(&page->json);
}

/** With 3 all of it; with 2 without what happened; with 1 without the names of files, too. */
static void put_head(struct page *page, size_t most)
{
    struct pug_json *json = &page->json;
    const struct pug_report *report = page->exporter->options->report;
    const bool with_stories = most > 2 && report && report->stories;
    pug_json_object(json, NULL);
    pug_json_number(json, "version", 2);
    pug_json_string(json, "title", report && report->title ? report->title : "profile");
    pug_json_string(json, "made", "pugmark " PUG_VERSION);
    pug_json_string(json, "what", report && report->what ? report->what : "");
    put_texts(json, "inputs", report ? report->inputs : NULL, report ? report->input_count : 0);
    pug_json_string(json, "baseline", report ? report->baseline_title : NULL);
    put_facts(page);
    put_totals(page);
    put_trust(page);
    pug_json_literal(json, "stories", with_stories ? report->stories : "[]",
                     with_stories ? report->stories_size : 2);
    put_objects(page);
    put_texts(json, "files", page->files.items, most > 1 ? page->files.count : 0);
    struct pug_memory *left_out = &page->left_out;
    struct pug_sink sink = pug_memory_sink(left_out);
    if (left_out->count > 0)
        pug_sink_text(&sink, "]");
    pug_json_literal(json, "left_out", left_out->count > 0 ? left_out->bytes : "[]",
                     left_out->count > 0 ? left_out->count : 2);
    pug_json_close(json);
}

/* ---- functions ---- */

int64_t pug_page_function(const struct page *page, uint32_t function)
{
    return page->shown[function] == PUG_PROFILE_NONE ? -1 : (int64_t)page->shown[function];
}

struct ranked {
    uint64_t weight;
    uint32_t number;
};

static int by_weight(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight < y->weight ? 1 : -1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/** Give numbers to those functions that ran most. */
static bool choose_shown(struct page *page, size_t most)
{
    const size_t count = page->functions.count;
    struct ranked *order = calloc(count + 1, sizeof(*order));
    uint32_t number = 0;
    if (!order)
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct export_function *item = &page->functions.items[i];
        order[i] = (struct ranked){item->inclusive > item->self ? item->inclusive : item->self,
                                   (uint32_t)i};
        page->shown[i] = PUG_PROFILE_NONE;
    }
    if (count > most)
        qsort(order, count, sizeof(*order), by_weight);
    for (size_t i = 0; i < count && i < most; i++)
        page->shown[order[i].number] = 0;
    for (size_t i = 0; i < count; i++)
        if (page->shown[i] != PUG_PROFILE_NONE)
            page->shown[i] = number++;
    free(order);
    return true;
}

enum column { NAME, OBJECT, FILE_OF, LINE_OF, OWN, TOTAL, CALLS, CYCLES, TIME, COLUMNS };
static const char *const column_names[] = {"name",  "object", "file",   "line", "own",
                                           "total", "calls",  "cycles", "time"};

static void put_place(struct page *page, const struct export_function *function, bool number)
{
    struct pug_names_line line = {.path = NULL};
    struct pug_names_file *file = function->object == PUG_PROFILE_NONE
                                      ? NULL
                                      : pug_export_file(page->exporter, function->object);
    if (!file || !pug_names_line(file, function->start, &line))
        line = (struct pug_names_line){.path = NULL};
    if (number)
        pug_json_number(&page->json, NULL, line.line);
    else
        pug_json_signed(&page->json, NULL, pug_page_source_number(page, line.path));
}

static void put_function(struct page *page, const struct export_function *item, enum column column)
{
    struct pug_json *json = &page->json;
    switch (column) {
    case NAME: pug_json_string(json, NULL, pug_export_readable(page->exporter, item->name)); break;
    case OBJECT:
        pug_json_signed(json, NULL, item->object == PUG_PROFILE_NONE ? -1 : (int64_t)item->object);
        break;
    case FILE_OF: put_place(page, item, false); break;
    case LINE_OF: put_place(page, item, true); break;
    case OWN: pug_page_count(json, NULL, item->self); break;
    case TOTAL:
        pug_page_count(json, NULL, page->functions.has_stacks ? item->inclusive : item->self);
        break;
    case CALLS: pug_page_count(json, NULL, item->calls); break;
    case CYCLES: pug_page_count(json, NULL, item->cycles); break;
    default: pug_page_count(json, NULL, item->time);
    }
}

void pug_page_functions(struct page *page, size_t most)
{
    struct pug_json *json = &page->json;
    if (!choose_shown(page, most))
        page->status = PUG_ERR_MEM;
    pug_json_object(json, NULL);
    for (unsigned column = 0; column < COLUMNS && page->status == PUG_OK; column++) {
        if ((column == CYCLES && !page->functions.has_cycles) ||
            (column == TIME && !page->functions.has_time))
            continue;
        pug_json_array(json, column_names[column]);
        for (size_t i = 0; i < page->functions.count; i++)
            if (page->shown[i] != PUG_PROFILE_NONE)
                put_function(page, &page->functions.items[i], (enum column)column);
        pug_json_close(json);
    }
    if (page->functions.has_time)
        pug_json_string(json, "unit",
                        pug_profile_time_unit(page->exporter->profile) == PUG_PROFILE_NANOSECONDS
                            ? "ns"
                            : "ticks");
    pug_json_close(json);
}

/* ---- the page ---- */

static void put_functions_part(struct page *page)
{
    const size_t count = page->functions.count;
    const size_t wanted = count < FUNCTIONS_MOST ? count : FUNCTIONS_MOST;
    const size_t kept =
        pug_page_part(page, "functions", pug_page_functions, wanted, page->left / 10 * 3);
    if (kept < count)
        pug_page_leave_out(page, "%zu functions, those that ran least", count - kept);
}

static void put_timelines(struct page *page)
{
    const struct pug_report *report = page->exporter->options->report;
    const bool any = report && report->timelines;
    if (!pug_page_part_of(page, "timelines", any ? report->timelines : "[]",
                          any ? report->timelines_size : 2, page->left))
        pug_page_leave_out(page, "the timeline");
}

static void put_times(struct page *page)
{
    const struct pug_report *report = page->exporter->options->report;
    if (report && report->times &&
        !pug_page_part_of(page, "times", report->times, report->times_size, page->left / 2))
        pug_page_leave_out(page, "how long calls took");
}

static void put_data(struct page *page)
{
    const struct pug_report *report = page->exporter->options->report;
    const size_t detail = report && report->detail > 1 ? (size_t)report->detail : 1;
    const size_t all = detail < SIZE_MAX / PAGE_DATA_MOST ? detail * PAGE_DATA_MOST : SIZE_MAX / 2;
    page->left = all / 10 * 9; /* the rest is for the head, which comes last */
    put_functions_part(page);
    (void)pug_page_part(page, "flame", pug_page_flame, FLAME_NODES * detail, all / 5);
    put_timelines(page);
    put_times(page);
    (void)pug_page_part(page, "coverage", pug_page_coverage, FILES_MOST, page->left / 4);
    if (page->baseline)
        (void)pug_page_part(page, "baseline", pug_page_baseline, FLAME_NODES, page->left / 2);
    pug_page_code_part(page);
    pug_page_sources(page);
    page->left += all / 10;
    if (pug_page_part(page, "head", put_head, 3, page->left) == 0 && page->status == PUG_OK)
        page->status = PUG_ERR_LIMIT;
}

static enum pug_status prepare(struct page *page)
{
    const struct exporter *exporter = page->exporter;
    enum pug_status status = pug_export_functions(exporter, &page->functions);
    if (status == PUG_OK && !(page->shown = calloc(page->functions.count + 1, sizeof(uint32_t))))
        status = PUG_ERR_MEM;
    if (status == PUG_OK)
        status = pug_disasm_new(NULL, &page->disasm);
    /* Without lines there is no coverage, and the page says so. */
    if (status == PUG_OK && pug_coverage_of(exporter, &page->coverage) == PUG_ERR_MEM)
        status = PUG_ERR_MEM;
    if (status == PUG_OK && page->baseline)
        status = pug_export_functions(page->baseline, &page->before_functions);
    if (status == PUG_OK && page->baseline &&
        pug_coverage_of(page->baseline, &page->before_coverage) == PUG_ERR_MEM)
        status = PUG_ERR_MEM;
    return status;
}

static enum pug_status write_page(struct page *page)
{
    const struct exporter *exporter = page->exporter;
    const char *mark = strstr(pug_page_text, PUG_PAGE_MARK);
    enum pug_status status = prepare(page);
    if (status == PUG_OK) {
        pug_sink_put(exporter->sink, pug_page_text, (size_t)(mark - pug_page_text));
        pug_page_html(page);
        put_data(page);
        pug_sink_text(exporter->sink, mark + strlen(PUG_PAGE_MARK));
        status = page->status == PUG_OK ? pug_disasm_status(page->disasm) : page->status;
    }
    return status;
}

enum pug_status pug_export_report(const struct exporter *exporter)
{
    const struct pug_report *report = exporter->options->report;
    struct page page = {.exporter = exporter};
    struct exporter baseline;
    uint32_t *chosen = NULL;
    enum pug_status status = PUG_OK;
    if (report && report->baseline) {
        status = pug_export_prepare(report->baseline, exporter->options, exporter->sink, &baseline,
                                    &chosen);
        page.baseline = &baseline;
    }
    if (status == PUG_OK)
        status = write_page(&page);
    pug_disasm_free(page.disasm);
    pug_coverage_free(&page.coverage);
    pug_coverage_free(&page.before_coverage);
    pug_export_functions_free(&page.functions);
    pug_export_functions_free(&page.before_functions);
    free(chosen);
    free(page.left_out.bytes);
    free(page.files.items);
    free(page.files.table);
    free(page.has_code);
    free(page.shown);
    return status;
}
