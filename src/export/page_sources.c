// SPDX-License-Identifier: MIT
/** @file The page's sources: lines of the files that its instructions come from. */
#include "base/text.h"
#include "export/page_data.h"
#include "export/source_text.h"

#include <stdlib.h>
#include <string.h>

#define SOURCE_LIMIT  ((size_t)4 << 20)  /* bytes of one source file */
#define SOURCES_LIMIT ((size_t)32 << 20) /* of all */

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

static void put_source(struct page *page, const struct coverage_file *file, size_t *left)
{
    struct pug_json *json = &page->json;
    const int64_t number = pug_page_number(page, file->path);
    uint8_t *bytes;
    size_t size;
    if (number < 0 || (size_t)number >= page->wanted_room || !page->wanted_file[number] ||
        !pug_export_source(page->exporter, file->path, *left < SOURCE_LIMIT ? *left : SOURCE_LIMIT,
                           &bytes, &size))
        return;
    *left -= size;
    char key[24];
    struct pug_text text = PUG_TEXT(key, sizeof(key));
    pug_text_decimal(&text, (uint64_t)number);
    pug_text_end(&text);
    pug_json_object(json, key);
    pug_json_number(json, "first", 1);
    put_text_lines(json, (const char *)bytes, size);
    pug_json_array(json, "counts");
    for (size_t i = 0; i < file->line_count; i++) {
        pug_json_array(json, NULL);
        pug_json_number(json, NULL, file->lines[i].line);
        pug_page_count(json, NULL, file->lines[i].count);
        pug_json_close(json);
    }
    pug_json_close(json);
    pug_json_close(json);
    free(bytes);
}

void pug_page_sources(struct page *page)
{
    size_t left = SOURCES_LIMIT;
    pug_json_object(&page->json, "sources");
    for (size_t i = 0; i < page->coverage.file_count; i++)
        put_source(page, &page->coverage.files[i], &left);
    pug_json_close(&page->json);
}
