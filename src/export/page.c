// SPDX-License-Identifier: MIT
/**
 * @file The report: one page with the profile's data in it. report/ has the page; it is part of the
 * library as text, with a mark where the data go.
 */
#include "export/page.h"
#include "base/text.h"
#include "export/page_data.h"
#include "pugmark/names.h"
#include "pugmark/pugmark.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- overview ---- */

static void put_fact(struct pug_json *json, const char *name, const char *value)
{
    pug_json_array(json, NULL);
    pug_json_string(json, NULL, name);
    pug_json_string(json, NULL, value);
    pug_json_close(json);
}

static void put_overview(struct page *page)
{
    struct pug_json *json = &page->json;
    const struct pug_profile *profile = page->exporter->profile;
    const struct pug_report *report = page->exporter->options->report;
    size_t objects, tasks, branches;
    pug_profile_objects(profile, &objects);
    const struct pug_profile_task *task = pug_profile_tasks(profile, &tasks);
    const struct pug_profile_branch *branch = pug_profile_branches(profile, &branches);
    uint64_t taken = 0, calls = 0;
    for (size_t i = 0; i < branches; i++)
        taken = pug_profile_sum(taken, branch[i].count);
    for (size_t i = 0; i < page->functions.count; i++)
        calls = pug_profile_sum(calls, page->functions.items[i].calls);
    pug_json_number(json, "version", 1);
    pug_json_string(json, "title", report && report->title ? report->title : "profile");
    pug_json_string(json, "made", "pugmark " PUG_VERSION);
    pug_json_array(json, "facts");
    for (size_t i = 0; report && i < report->fact_count; i++)
        put_fact(json, report->facts[i].name, report->facts[i].value);
    for (size_t i = 0; i < tasks && i < 50; i++) {
        char words[96];
        struct pug_text text = PUG_TEXT(words, sizeof(words));
        if (task[i].tid < 0)
            continue; /* a source whose threads nobody knows */
        pug_text_format(&text, "process %" PRId32 ", thread %" PRId32 " %.40s", task[i].pid,
                        task[i].tid, task[i].name);
        pug_text_end(&text);
        put_fact(json, "Task", words);
    }
    pug_json_close(json);
    pug_json_object(json, "totals");
    pug_page_count(json, pug_export_unit(page->exporter), page->functions.instructions);
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
    pug_json_array(json, "warnings");
    char sampled[160];
    pug_export_sampled(page->exporter, sampled, sizeof(sampled));
    if (*sampled)
        pug_json_string(json, NULL, sampled);
    else if (page->functions.instructions == 0)
        pug_json_string(json, NULL,
                        "nothing was counted: there is no program flow, and no PC "
                        "sample, in it");
    for (unsigned note = 0; note < PUG_NOTE_COUNT; note++) {
        uint64_t noted = pug_profile_noted(profile, (enum pug_profile_note)note);
        char words[128];
        struct pug_text text = PUG_TEXT(words, sizeof(words));
        if (noted == 0 || note == PUG_NOTE_SEGMENTS)
            continue;
        pug_text_format(&text, "%s: %" PRIu64, pug_profile_note_text((enum pug_profile_note)note),
                        noted);
        pug_text_end(&text);
        pug_json_string(json, NULL, words);
    }
    pug_json_close(json);
}

/* ---- functions ---- */

static void put_line_of(struct page *page, const struct export_function *function, bool number)
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
        pug_json_signed(&page->json, NULL, pug_page_number(page, line.path));
}

static void put_functions(struct page *page)
{
    struct pug_json *json = &page->json;
    const struct export_functions *functions = &page->functions;
    const struct export_function *item = functions->items;
    pug_json_object(json, "functions");
    pug_json_array(json, "name");
    for (size_t i = 0; i < functions->count; i++)
        pug_json_string(json, NULL, pug_export_readable(page->exporter, item[i].name));
    pug_json_close(json);
    pug_json_array(json, "object");
    for (size_t i = 0; i < functions->count; i++)
        pug_json_signed(json, NULL,
                        item[i].object == PUG_PROFILE_NONE ? -1 : (int64_t)item[i].object);
    pug_json_close(json);
    pug_json_array(json, "file");
    for (size_t i = 0; i < functions->count; i++)
        put_line_of(page, &item[i], false);
    pug_json_close(json);
    pug_json_array(json, "line");
    for (size_t i = 0; i < functions->count; i++)
        put_line_of(page, &item[i], true);
    pug_json_close(json);
    pug_json_array(json, "own");
    for (size_t i = 0; i < functions->count; i++)
        pug_page_count(json, NULL, item[i].self);
    pug_json_close(json);
    pug_json_array(json, "total");
    for (size_t i = 0; i < functions->count; i++)
        pug_page_count(json, NULL, functions->has_stacks ? item[i].inclusive : item[i].self);
    pug_json_close(json);
    pug_json_array(json, "calls");
    for (size_t i = 0; i < functions->count; i++)
        pug_page_count(json, NULL, item[i].calls);
    pug_json_close(json);
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

/* ---- flame graph ---- */

static void put_weights(struct page *page, enum pug_export_weight weight, size_t count)
{
    uint64_t *weights = pug_export_frame_weights(page->exporter, weight);
    pug_json_array(&page->json, NULL);
    for (size_t i = 0; i < count; i++)
        pug_page_count(&page->json, NULL, weights ? weights[i] : 0);
    pug_json_close(&page->json);
    if (!weights)
        page->status = PUG_ERR_MEM;
    free(weights);
}

static void put_flame(struct page *page)
{
    struct pug_json *json = &page->json;
    size_t count;
    const struct pug_profile_frame *frames = pug_profile_frames(page->exporter->profile, &count);
    if (!page->functions.has_stacks)
        count = 0;
    pug_json_object(json, "flame");
    pug_json_array(json, "parent");
    for (size_t i = 0; i < count; i++)
        pug_json_signed(json, NULL,
                        frames[i].parent == PUG_PROFILE_NONE ? -1 : (int64_t)frames[i].parent);
    pug_json_close(json);
    pug_json_array(json, "function");
    for (size_t i = 0; i < count; i++)
        pug_json_number(json, NULL, page->functions.of_frame[i]);
    pug_json_close(json);
    pug_json_array(json, "weights");
    pug_json_string(json, NULL, pug_export_unit(page->exporter));
    if (page->functions.has_cycles)
        pug_json_string(json, NULL, "cycles");
    if (page->functions.has_time)
        pug_json_string(json, NULL, "time");
    pug_json_close(json);
    pug_json_array(json, "own");
    put_weights(page, PUG_WEIGHT_INSTRUCTIONS, count);
    if (page->functions.has_cycles)
        put_weights(page, PUG_WEIGHT_CYCLES, count);
    if (page->functions.has_time)
        put_weights(page, PUG_WEIGHT_TIME, count);
    pug_json_close(json);
    pug_json_close(json);
}

/* ---- coverage, files, timelines ---- */

static void put_coverage(struct page *page)
{
    struct pug_json *json = &page->json;
    pug_json_array(json, "coverage");
    for (size_t i = 0; i < page->coverage.file_count; i++) {
        const struct coverage_file *file = &page->coverage.files[i];
        const struct coverage_sum sum = pug_coverage_sum(file);
        pug_json_array(json, NULL);
        pug_json_signed(json, NULL, pug_page_number(page, file->path));
        pug_json_number(json, NULL, sum.lines);
        pug_json_number(json, NULL, sum.lines_seen);
        pug_json_number(json, NULL, sum.outcomes);
        pug_json_number(json, NULL, sum.outcomes_seen);
        pug_json_number(json, NULL, sum.functions);
        pug_json_number(json, NULL, sum.functions_seen);
        pug_json_close(json);
    }
    pug_json_close(json);
}

static void put_files(struct page *page)
{
    pug_json_array(&page->json, "files");
    for (size_t i = 0; i < page->files.count; i++)
        pug_json_string(&page->json, NULL, page->files.items[i]);
    pug_json_close(&page->json);
}

static void put_timelines(struct page *page)
{
    const struct pug_report *report = page->exporter->options->report;
    if (report && report->timelines)
        pug_json_literal(&page->json, "timelines", report->timelines, report->timelines_size);
    else
        pug_json_literal(&page->json, "timelines", "[]", 2);
}

/* ---- the page ---- */

static void put_data(struct page *page)
{
    page->json = pug_json_begin(page->exporter->sink);
    page->json.in_markup = true;
    pug_json_object(&page->json, NULL);
    put_overview(page);
    put_functions(page);
    put_objects(page);
    put_flame(page);
    pug_page_code(page);
    pug_page_sources(page);
    put_coverage(page);
    put_files(page);
    put_timelines(page);
    pug_json_close(&page->json);
}

enum pug_status pug_export_report(const struct exporter *exporter)
{
    struct page page = {.exporter = exporter};
    const char *mark = strstr(pug_page_text, PUG_PAGE_MARK);
    enum pug_status status = pug_export_functions(exporter, &page.functions);
    if (status == PUG_OK && !pug_page_choose_code(&page))
        status = PUG_ERR_MEM;
    if (status == PUG_OK)
        status = pug_disasm_new(NULL, &page.disasm);
    if (status == PUG_OK && pug_coverage_of(exporter, &page.coverage) == PUG_ERR_MEM)
        status = PUG_ERR_MEM; /* without lines there is no coverage, and the page says so */
    if (status == PUG_OK) {
        pug_sink_put(exporter->sink, pug_page_text, (size_t)(mark - pug_page_text));
        put_data(&page);
        pug_sink_text(exporter->sink, mark + strlen(PUG_PAGE_MARK));
        status = page.status == PUG_OK ? pug_disasm_status(page.disasm) : page.status;
    }
    pug_disasm_free(page.disasm);
    pug_coverage_free(&page.coverage);
    pug_export_functions_free(&page.functions);
    free(page.files.items);
    free(page.files.table);
    free(page.has_code);
    free(page.wanted_file);
    return status;
}
