// SPDX-License-Identifier: MIT
/** @file The data of the report's page, part after part. */
#ifndef PUG_EXPORT_PAGE_DATA_H
#define PUG_EXPORT_PAGE_DATA_H

#include "export/coverage.h"
#include "export/export.h"
#include "pugmark/disasm.h"
#include "text/json.h"

/** Texts by number. */
struct page_texts {
    const char **items;
    size_t count, room;
    uint32_t *table; /* number + 1, by hash; 0: free */
    size_t table_size;
};

struct page {
    const struct exporter *exporter;
    struct export_functions functions;
    struct coverage coverage;
    struct page_texts files;
    struct pug_json json;
    struct pug_disasm *disasm;
    bool *has_code;    /* by function */
    bool *wanted_file; /* by number */
    size_t wanted_room;
    enum pug_status status;
};

/** The number of a text; -1 of NULL, and where there is no memory. */
int64_t pug_page_number(struct page *page, const char *text);

/** Beyond 2^53 a reader of JSON would lose digits: then the count is a string. */
void pug_page_count(struct pug_json *json, const char *key, uint64_t count);

/** Which functions have their instructions in the page: those that ran most. False: no memory. */
bool pug_page_choose_code(struct page *page);
/** Their instructions, with counts and places. */
void pug_page_code(struct page *page);

/** The text of the files that these places are in, and the counts of their lines. */
void pug_page_sources(struct page *page);

#endif
