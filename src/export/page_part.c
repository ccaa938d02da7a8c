// SPDX-License-Identifier: MIT
/** @file Parts of the page's data: packed, measured, and written where they fit. */
#include "base/text.h"
#include "export/gzip.h"
#include "export/page_data.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef PUG_WITH_ZLIB
static const bool packs = true;
#else
static const bool packs = false;
#endif

/** Bytes that so many have in base64. */
static size_t base64_size(size_t size)
{
    return (size + 2) / 3 * 4;
}

static void put_base64(struct pug_sink *sink, const unsigned char *bytes, size_t size)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char out[4096];
    size_t filled = 0;
    for (size_t i = 0; i < size; i += 3) {
        const unsigned second = i + 1 < size ? bytes[i + 1] : 0;
        const unsigned third = i + 2 < size ? bytes[i + 2] : 0;
        const unsigned word = (unsigned)bytes[i] << 16 | second << 8 | third;
        out[filled++] = letters[word >> 18];
        out[filled++] = letters[word >> 12 & 63];
        out[filled++] = '=';
        out[filled++] = '=';
        if (i + 1 < size)
            out[filled - 2] = letters[word >> 6 & 63];
        if (i + 2 < size)
            out[filled - 1] = letters[word & 63];
        if (filled + 4 > sizeof(out)) {
            pug_sink_put(sink, out, filled);
            filled = 0;
        }
    }
    pug_sink_put(sink, out, filled);
}

bool pug_page_part_of(struct page *page, const char *name, const char *json, size_t size,
                      size_t room)
{
    struct pug_sink *sink = page->exporter->sink;
    struct pug_memory memory = {.bytes = NULL};
    const char *bytes = json;
    size_t count = size;
    if (packs) {
        struct pug_sink packed = pug_memory_sink(&memory);
        if (pug_export_gzip(&packed, json, size) != PUG_OK || memory.failed)
            page->status = PUG_ERR_MEM;
        bytes = memory.bytes;
        count = memory.count;
    }
    const size_t written = packs ? base64_size(count) : count;
    const bool fits = page->status == PUG_OK && written <= (room < page->left ? room : page->left);
    if (fits) {
        page->left -= written;
        pug_sink_format(sink, "<script type=\"%s\" id=\"part-%s\" data-form=\"%s\">",
                        packs ? "text/plain" : "application/json", name, packs ? "gzip" : "json");
        if (packs)
            put_base64(sink, (const unsigned char *)bytes, count);
        else
            pug_sink_put(sink, bytes, count);
        pug_sink_text(sink, "</script>\n");
    }
    free(memory.bytes);
    return fits;
}

size_t pug_page_part(struct page *page, const char *name, page_put_fn *put, size_t most,
                     size_t room)
{
    struct pug_json before = page->json;
    bool fits = false;
    size_t count = most;
    for (; !fits && page->status == PUG_OK; count = count > 4 ? count / 4 * 3 : count - 1) {
        struct pug_memory memory = {.bytes = NULL};
        struct pug_sink sink = pug_memory_sink(&memory);
        page->json = pug_json_begin(&sink);
        page->json.in_markup = true;
        put(page, count);
        if (memory.failed)
            page->status = PUG_ERR_MEM;
        fits = pug_page_part_of(page, name, memory.bytes, memory.count, room);
        free(memory.bytes);
        if (fits || count == 0)
            break;
    }
    page->json = before;
    return fits ? count : 0;
}

void pug_page_leave_out(struct page *page, const char *format, ...)
{
    char words[1024];
    va_list arguments;
    struct pug_sink sink = pug_memory_sink(&page->left_out);
    struct pug_json json = pug_json_begin(&sink);
    json.in_markup = true;
    va_start(arguments, format);
    const int length = vsnprintf(words, sizeof(words), format, arguments);
    va_end(arguments);
    if (length < 0)
        return;
    pug_sink_text(&sink, page->left_out.count > 0 ? ", " : "[");
    pug_json_string(&json, NULL, words);
    if (page->left_out.failed)
        page->status = PUG_ERR_MEM;
}
