// SPDX-License-Identifier: MIT
/** @file The page's sources: lines of the files that its instructions come from. */
#include "export/page_data.h"
#include "export/source_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SOURCE_LIMIT  ((size_t)4 << 20)  /* bytes of one source file */
#define SOURCES_LIMIT ((size_t)64 << 20) /* of all that are read */
#define NAMED_MOST    200u               /* files that are named where they are left out */

static void put_text_lines(struct pug_json *json, const char *text, size_t size)
{
    pug_json_array(json, "text");
    for (const char *end = text + size; text < end;) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        const char *next = stop ? stop + 1 : end;
        if (!stop)
            stop = end;
        pug_json_string_n(json, NULL, text, (size_t)(stop - text));
        text = next;
    }
    pug_json_close(json);
}

static void put_counts(struct pug_json *json, const struct coverage_file *file)
{
    pug_json_array(json, "counts");
    for (size_t i = 0; i < file->line_count; i++) {
        pug_json_array(json, NULL);
        pug_json_number(json, NULL, file->lines[i].line);
        pug_page_count(json, NULL, file->lines[i].count);
        pug_json_close(json);
    }
    pug_json_close(json);
}

/** A file as a part of its own; false: it is too long. What cannot be read is no part. */
static bool put_source(struct page *page, const struct coverage_file *file, size_t *left)
{
    const int64_t number = pug_page_number(page, file->path);
    uint8_t *bytes;
    size_t size = 0;
    char name[32];
    if (number < 0 ||
        !pug_export_source(page->exporter, file->source ? file->source : file->path,
                           *left < SOURCE_LIMIT ? *left : SOURCE_LIMIT, &bytes, &size))
        return number < 0 || size != SIZE_MAX;
    *left -= size;
    struct pug_memory memory = {.bytes = NULL};
    struct pug_sink sink = pug_memory_sink(&memory);
    struct pug_json json = pug_json_begin(&sink);
    json.in_markup = true;
    pug_json_object(&json, NULL);
    pug_json_number(&json, "first", 1);
    put_text_lines(&json, (const char *)bytes, size);
    put_counts(&json, file);
    pug_json_close(&json);
    if (memory.failed)
        page->status = PUG_ERR_MEM;
    snprintf(name, sizeof(name), "source-%" PRId64, number);
    const bool fits = pug_page_part_of(page, name, memory.bytes, memory.count, page->left);
    free(memory.bytes);
    free(bytes);
    return fits;
}

/** A file and how often its lines ran, all together. */
struct ranked {
    const struct coverage_file *file;
    uint64_t count;
};

static int by_count(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return strcmp(x->file->path, y->file->path);
}

/** Those that ran most come first, so that those that ran least are left out. */
void pug_page_sources(struct page *page)
{
    const size_t count = page->coverage.file_count;
    struct ranked *order = calloc(count + 1, sizeof(*order));
    size_t left = SOURCES_LIMIT, named = 0;
    if (!order) {
        page->status = PUG_ERR_MEM;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        order[i].file = &page->coverage.files[i];
        for (size_t n = 0; n < order[i].file->line_count; n++)
            order[i].count = pug_profile_sum(order[i].count, order[i].file->lines[n].count);
    }
    qsort(order, count, sizeof(*order), by_count);
    for (size_t i = 0; i < count && page->status == PUG_OK; i++)
        if (!put_source(page, order[i].file, &left) && named++ < NAMED_MOST)
            pug_page_leave_out(page, "the text of %.900s", order[i].file->path);
    if (named > NAMED_MOST)
        pug_page_leave_out(page, "the text of %zu more files", named - NAMED_MOST);
    free(order);
}
