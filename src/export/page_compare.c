// SPDX-License-Identifier: MIT
/** @file Coverage in the page, and the baseline that a report is compared with. */
#include "export/page_data.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const char *last_component(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* ---- coverage ---- */

#define NAMES_MOST 2000u /* of more files none is looked for by its name alone */

static int by_path(const void *a, const void *b)
{
    return strcmp(((const struct coverage_file *)a)->path, ((const struct coverage_file *)b)->path);
}

/** The same file in the baseline: by its path, else by its name if only one file has it. */
static const struct coverage_file *file_before(const struct page *page, const char *path)
{
    const struct coverage_file wanted = {.path = path}, *by_name = NULL;
    const struct coverage *before = &page->before_coverage;
    const struct coverage_file *same =
        before->file_count > 0
            ? bsearch(&wanted, before->files, before->file_count, sizeof(wanted), by_path)
            : NULL;
    size_t found = 0;
    for (size_t i = 0; !same && before->file_count <= NAMES_MOST && i < before->file_count; i++)
        if (strcmp(last_component(before->files[i].path), last_component(path)) == 0) {
            by_name = &before->files[i];
            found++;
        }
    return found == 1 ? by_name : same;
}

/** Lines that `file` ran and `other` did not, though it has code there, too. */
static void put_difference(struct pug_json *json, const struct coverage_file *file,
                           const struct coverage_file *other)
{
    size_t at = 0;
    pug_json_array(json, NULL);
    for (size_t i = 0; i < file->line_count; i++) {
        const struct coverage_line *line = &file->lines[i];
        while (at < other->line_count && other->lines[at].line < line->line)
            at++;
        if (line->count > 0 && at < other->line_count && other->lines[at].line == line->line &&
            other->lines[at].count == 0)
            pug_json_number(json, NULL, line->line);
    }
    pug_json_close(json);
}

/** A file: its number, lines, lines that ran, outcomes and functions alike; gained, lost lines. */
static void put_file(struct page *page, const struct coverage_file *file)
{
    struct pug_json *json = &page->json;
    const struct coverage_sum sum = pug_coverage_sum(file);
    const struct coverage_file *before = page->baseline ? file_before(page, file->path) : NULL;
    pug_json_array(json, NULL);
    pug_json_signed(json, NULL, pug_page_number(page, file->path));
    pug_json_number(json, NULL, sum.lines);
    pug_json_number(json, NULL, sum.lines_seen);
    pug_json_number(json, NULL, sum.outcomes);
    pug_json_number(json, NULL, sum.outcomes_seen);
    pug_json_number(json, NULL, sum.functions);
    pug_json_number(json, NULL, sum.functions_seen);
    if (before) {
        put_difference(json, file, before);
        put_difference(json, before, file);
    }
    pug_json_close(json);
}

void pug_page_coverage(struct page *page, size_t most)
{
    const bool sampled = pug_profile_is_sampled(page->exporter->profile); /* it covers nothing */
    pug_json_array(&page->json, NULL);
    for (size_t i = 0; i < page->coverage.file_count && i < most && !sampled; i++)
        put_file(page, &page->coverage.files[i]);
    pug_json_close(&page->json);
}

/* ---- the baseline ---- */

static int64_t same_number(const struct page *page, uint32_t function)
{
    (void)page;
    return function;
}

static void put_counts(struct page *page, const char *key, size_t offset)
{
    pug_json_array(&page->json, key);
    for (size_t i = 0; i < page->before_functions.count; i++) {
        const char *item = (const char *)&page->before_functions.items[i];
        uint64_t count;
        memcpy(&count, item + offset, sizeof(count));
        pug_page_count(&page->json, NULL, count);
    }
    pug_json_close(&page->json);
}

/** Functions are the same by name and by the last component of their object's path. */
void pug_page_baseline(struct page *page, size_t most)
{
    struct pug_json *json = &page->json;
    const struct export_functions *functions = &page->before_functions;
    pug_json_object(json, NULL);
    pug_json_array(json, "name");
    for (size_t i = 0; i < functions->count; i++)
        pug_json_string(json, NULL, pug_export_readable(page->baseline, functions->items[i].name));
    pug_json_close(json);
    pug_json_array(json, "object");
    for (size_t i = 0; i < functions->count; i++) {
        const uint32_t object = functions->items[i].object;
        pug_json_string(json, NULL,
                        object == PUG_PROFILE_NONE
                            ? ""
                            : last_component(export_object(page->baseline, object)->path));
    }
    pug_json_close(json);
    put_counts(page, "own", offsetof(struct export_function, self));
    put_counts(page, "total",
               functions->has_stacks ? offsetof(struct export_function, inclusive)
                                     : offsetof(struct export_function, self));
    put_counts(page, "calls", offsetof(struct export_function, calls));
    pug_page_count(json, "instructions", functions->instructions);
    pug_page_flame_of(page, page->baseline, functions, same_number, most);
    pug_json_close(json);
}
