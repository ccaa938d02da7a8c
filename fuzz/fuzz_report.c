// SPDX-License-Identifier: MIT
/**
 * @file The report of a capture whose trace is damaged, with any words beside it: the page has as
 * many tags as one with plain words, and no byte that is not text.
 */
#include "driver.h"
#include "files.h"
#include "pugmark/export.h"
#include "pugmark/names.h"
#include "pugmark/pugmark.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORD  24u /* bytes of each text */
#define WORDS 6u

static const char *const files[] = {"snapshot.ini", "cpu_0.ini",   "cpu_1.ini",   "cpu_2.ini",
                                    "trace.ini",    "trace_0.ini", "trace_1.ini", "trace_2.ini",
                                    "memory_0.bin", "memory_1.bin"};

/** What of a page must not depend on words: how many characters open or close a tag. */
struct page {
    uint64_t tags, bytes;
};

static void put(void *context, const void *bytes, size_t size)
{
    struct page *page = context;
    const uint8_t *at = bytes;
    for (size_t i = 0; i < size; i++) {
        page->tags += at[i] == '<' || at[i] == '>';
        if (at[i] < ' ' && at[i] != '\n' && at[i] != '\t')
            abort();
    }
    page->bytes += size;
}

static struct page write_page(struct pug_profile *profile, char words[WORDS][WORD + 1])
{
    struct page page = {0};
    struct pug_report_withheld withheld;
    const char *const inputs[] = {words[0]};
    const struct pug_report_fact fact = {words[1], words[2]};
    const struct pug_report_point points[] = {{words[0], words[3], PUG_REPORT_WRONG},
                                              {words[0], words[4], PUG_REPORT_CHECKED}};
    const struct pug_report report = {.title = words[0],
                                      .facts = &fact,
                                      .fact_count = 1,
                                      .withheld = &withheld,
                                      .points = points,
                                      .point_count = 2,
                                      .what = words[4],
                                      .headline = words[5],
                                      .inputs = inputs,
                                      .input_count = 1};
    struct pug_names *names = pug_names_new(NULL);
    const struct pug_export_options options = {.names = names, .report = &report};
    if (!names || pug_export(profile, "report", &options, put, &page) != PUG_OK)
        abort();
    pug_names_free(names);
    return page;
}

/** A profile of the capture whose trace these bytes are. */
static void count(const uint8_t *data, size_t size, struct pug_profile *profile)
{
    static uint8_t buffer[1 << 16];
    struct pug_capture *capture;
    char path[4096];
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        snprintf(path, sizeof(path), "tests/captures/etmv4-a64/%s", files[i]);
        fuzz_write(files[i], buffer, fuzz_load(path, buffer, sizeof(buffer)));
    }
    fuzz_write("trace.bin", data, size);
    const struct pug_capture_options options = {.roots = {.symfs = "/nowhere", .build_ids = ""}};
    if (pug_capture_open(fuzz_place(""), &options, &capture) != PUG_OK)
        abort();
    (void)pug_profile_capture(profile, capture, &(struct pug_profiler_options){.stacks = true},
                              NULL);
    pug_capture_free(capture);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char words[WORDS][WORD + 1] = {{0}}, plain[WORDS][WORD + 1] = {{0}};
    if (size < sizeof(words))
        return 0;
    for (unsigned i = 0; i < WORDS; i++, data += WORD, size -= WORD) {
        memcpy(words[i], data, WORD);
        snprintf(plain[i], WORD, "%s", *words[i] ? "plain" : "");
    }
    struct pug_profile *profile = pug_profile_new();
    if (!profile)
        abort();
    count(data, size, profile);
    const struct page page = write_page(profile, words), same = write_page(profile, plain);
    if (page.tags != same.tags || page.bytes == 0)
        abort();
    pug_profile_free(profile);
    return 0;
}

size_t fuzz_begin(uint8_t *data, size_t room, struct rec_random *random)
{
    static const char *const bad[] = {"</script><script>",   "\"><img src=x onerror=1>",
                                      "\x1b[31mred",         "\xc2\x9b\xff\xfe<!--",
                                      "&lt;\"'`${a}\\u003c", "]]>--!>\r\n\x7f"};
    if (room < 4096)
        return 0;
    memset(data, 0, WORDS * WORD);
    for (unsigned i = 0; i < WORDS; i++)
        snprintf((char *)data + i * WORD, WORD, "%s", bad[rec_random_below(random, 6)]);
    return WORDS * WORD +
           fuzz_load("tests/captures/etmv4-a64/trace.bin", data + WORDS * WORD, 2000);
}
