// SPDX-License-Identifier: MIT
/**
 * @file The data of the report's page. They are parts: script elements that do not run, each a JSON
 * value, packed with gzip and in base64 where zlib is there. The page unpacks a part when a view
 * needs it. All parts together stay within a bound: what does not fit is left out and named.
 */
#ifndef PUG_EXPORT_PAGE_DATA_H
#define PUG_EXPORT_PAGE_DATA_H

#include "export/coverage.h"
#include "export/export.h"
#include "pugmark/disasm.h"
#include "text/json.h"

/** Bytes that all parts may have, as they stand in the page. */
#define PAGE_DATA_MOST ((size_t)4 << 20)

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
    struct pug_json json; /* of the part that is being written */
    struct pug_disasm *disasm;
    bool *has_code;                  /* by function */
    uint32_t *shown;                 /* by function: its number in the page, or PUG_PROFILE_NONE */
    size_t left;                     /* bytes that parts may still have */
    struct pug_memory left_out;      /* a JSON array of texts: what is not in the page */
    const struct exporter *baseline; /* what is compared with; or NULL */
    struct export_functions before_functions; /* of the baseline */
    struct coverage before_coverage;
    enum pug_status status;
};

/** The number of a text; -1 of NULL, and where there is no memory. */
int64_t pug_page_number(struct page *page, const char *text);
/** The number of a source file, by its path in debug information, as coverage names it. */
int64_t pug_page_source_number(struct page *page, const char *path);

/** Beyond 2^53 a reader of JSON would lose digits: then the count is a string. */
void pug_page_count(struct pug_json *json, const char *key, uint64_t count);

/** Writes what the page's counts rest on, if that is samples or nothing; else no words. */
void pug_page_basis(const struct page *page, char *words, size_t size);

/* ---- page_part.c ---- */

/** Writes a value into page->json, with at most so many of the things that it consists of. */
typedef void page_put_fn(struct page *page, size_t most);

/**
 * Writes a part of at most `room` bytes: put() is called with fewer and fewer things until it fits,
 * beginning with `most`. Returns how many things it has; 0: not even one fitted, and there is no
 * such part.
 */
size_t pug_page_part(struct page *page, const char *name, page_put_fn *put, size_t most,
                     size_t room);

/** Writes a part whose JSON is there. False: it has more than `room` bytes, and is not written. */
bool pug_page_part_of(struct page *page, const char *name, const char *json, size_t size,
                      size_t room);

/** Notes that something is not in the page; what, in words. */
void pug_page_leave_out(struct page *page, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- the parts ---- */

/** The number of a function in the page; -1: it is not in it. */
int64_t pug_page_function(const struct page *page, uint32_t function);

/** Functions, as columns: name, object, place, counts. */
void pug_page_functions(struct page *page, size_t most);

/** The flame graph: call stacks merged by function, of at most so many nodes. */
void pug_page_flame(struct page *page, size_t most);

/** The same for any profile; `number` gives the number of a function in the part that names it. */
void pug_page_flame_of(struct page *page, const struct exporter *exporter,
                       const struct export_functions *functions,
                       int64_t (*number)(const struct page *page, uint32_t function), size_t most);

/** The baseline: its functions and its flame graph. */
void pug_page_baseline(struct page *page, size_t most);

/** Coverage of files, and lines gained and lost against the baseline. */
void pug_page_coverage(struct page *page, size_t most);

/** Instructions of the functions that ran most, with counts and places. */
void pug_page_code_part(struct page *page);

/** The text of the files that these places are in, and the counts of their lines: a part each. */
void pug_page_sources(struct page *page);

/** What a reader without a script sees, and what print shows: as HTML. */
void pug_page_html(struct page *page);

#endif
