// SPDX-License-Identifier: MIT
/**
 * @file The report: one page with the profile's data in it. report/ has the page; it is part of the
 * library as text, with a mark where the data go.
 */
#include "export/page.h"
#include "base/bisect.h"
#include "base/text.h"
#include "export/coverage.h"
#include "files/infile.h"
#include "pugmark/disasm.h"
#include "pugmark/isa.h"
#include "pugmark/names.h"
#include "pugmark/pugmark.h"
#include "text/json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define CODE_FUNCTIONS 300u               /* so many functions have their instructions in it */
#define CODE_MOST      200000u            /* so many instructions have all of them together */
#define SOURCE_LIMIT   ((size_t)4 << 20)  /* bytes of one source file */
#define SOURCES_LIMIT  ((size_t)32 << 20) /* of all */

/** Texts by number. */
struct texts {
    const char **items;
    size_t count, room;
    uint32_t *table; /* number + 1, by hash; 0: free */
    size_t table_size;
};

struct page {
    const struct export *export;
    struct export_functions functions;
    struct coverage coverage;
    struct texts files;
    struct pug_json json;
    struct pug_disasm *disasm;
    bool *has_code;    /* by function */
    bool *wanted_file; /* by number */
    size_t wanted_room;
    enum pug_status status;
};

/* ---- texts ---- */

static uint32_t hash_of(const char *text)
{
    uint32_t hash = 2166136261u;
    for (; *text; text++)
        hash = (hash ^ (unsigned char)*text) * 16777619u;
    return hash;
}

static bool grow_texts(struct texts *texts)
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

/** The number of a text; -1 of NULL, and where there is no memory. */
static int64_t number_of(struct page *page, const char *text)
{
    struct texts *texts = &page->files;
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

/** Beyond 2^53 a reader of JSON would lose digits: then they are a string. */
static void put_count(struct pug_json *json, const char *key, uint64_t count)
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
    const struct pug_profile *profile = page->export->profile;
    const struct pug_report *report = page->export->options->report;
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
    put_count(json, "instructions", page->functions.instructions);
    put_count(json, "taken branches", taken);
    put_count(json, "calls", calls);
    put_count(json, "functions", page->functions.count);
    put_count(json, "objects", objects);
    pug_json_close(json);
    pug_json_array(json, "warnings");
    for (unsigned note = 0; note < PUG_NOTE_COUNT; note++) {
        uint64_t noted = pug_profile_noted(profile, (enum pug_profile_note)note);
        char words[128];
        struct pug_text text = PUG_TEXT(words, sizeof(words));
        if (noted == 0 || note == PUG_NOTE_STRETCHES)
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
                                      : pug_export_file(page->export, function->object);
    if (!file || !pug_names_line(file, function->start, &line))
        line = (struct pug_names_line){.path = NULL};
    if (number)
        pug_json_number(&page->json, NULL, line.line);
    else
        pug_json_signed(&page->json, NULL, number_of(page, line.path));
}

static void put_functions(struct page *page)
{
    struct pug_json *json = &page->json;
    const struct export_functions *functions = &page->functions;
    const struct export_function *item = functions->items;
    pug_json_object(json, "functions");
    pug_json_array(json, "name");
    for (size_t i = 0; i < functions->count; i++)
        pug_json_string(json, NULL, pug_export_readable(page->export, item[i].name));
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
        put_count(json, NULL, item[i].self);
    pug_json_close(json);
    pug_json_array(json, "total");
    for (size_t i = 0; i < functions->count; i++)
        put_count(json, NULL, functions->has_stacks ? item[i].inclusive : item[i].self);
    pug_json_close(json);
    pug_json_array(json, "calls");
    for (size_t i = 0; i < functions->count; i++)
        put_count(json, NULL, item[i].calls);
    pug_json_close(json);
    pug_json_close(json);
}

static void put_objects(struct page *page)
{
    size_t count;
    const struct pug_profile_object *objects = pug_profile_objects(page->export->profile, &count);
    pug_json_array(&page->json, "objects");
    for (size_t i = 0; i < count; i++)
        pug_json_string(&page->json, NULL, objects[i].path);
    pug_json_close(&page->json);
}

/* ---- flame graph ---- */

static void put_weights(struct page *page, enum pug_export_weight weight, size_t count)
{
    uint64_t *weights = pug_export_frame_weights(page->export, weight);
    pug_json_array(&page->json, NULL);
    for (size_t i = 0; i < count; i++)
        put_count(&page->json, NULL, weights ? weights[i] : 0);
    pug_json_close(&page->json);
    if (!weights)
        page->status = PUG_ERR_MEM;
    free(weights);
}

static void put_flame(struct page *page)
{
    struct pug_json *json = &page->json;
    size_t count;
    const struct pug_profile_frame *frames = pug_profile_frames(page->export->profile, &count);
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
    pug_json_string(json, NULL, "instructions");
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

/* ---- code ---- */

static int compare_self(const void *a, const void *b)
{
    const uint64_t x = (*(const struct export_function *const *)a)->self;
    const uint64_t y = (*(const struct export_function *const *)b)->self;
    if (x != y)
        return x < y ? 1 : -1;
    return *(const struct export_function *const *)a < *(const struct export_function *const *)b
               ? -1
               : 1;
}

/** Which functions have their instructions in the page: those that ran most. */
static bool choose_code(struct page *page)
{
    const size_t count = page->functions.count;
    const struct export_function **order = calloc(count + 1, sizeof(*order));
    page->has_code = calloc(count + 1, sizeof(*page->has_code));
    if (!order || !page->has_code) {
        free(order);
        return false;
    }
    for (size_t i = 0; i < count; i++)
        order[i] = &page->functions.items[i];
    qsort(order, count, sizeof(*order), compare_self);
    for (size_t i = 0; i < count && i < CODE_FUNCTIONS && order[i]->self > 0; i++)
        page->has_code[order[i] - page->functions.items] = true;
    free(order);
    return true;
}

/** The function that begins at a place, or NULL. */
static const struct export_function *function_at(const struct page *page, uint32_t object,
                                                 uint64_t start)
{
    const struct export_function *items = page->functions.items;
    size_t low = 0, high = page->functions.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        bool before = items[middle].object != object ? items[middle].object < object
                                                     : items[middle].start < start;
        if (before)
            low = middle + 1;
        else
            high = middle;
    }
    return low < page->functions.count && items[low].object == object && items[low].start == start
               ? &items[low]
               : NULL;
}

/** Instructions of an object, as they come. */
struct coding {
    struct page *page;
    uint32_t object;
    struct pug_names_file *file;
    struct export_counts counts;
    uint64_t start, end; /* of the function that is being told */
    bool open;
    size_t told;
};

static uint64_t taken_from(const struct export_counts *counts, uint64_t vaddr)
{
    uint64_t taken = 0;
    size_t low = pug_bisect_below(counts->branches, counts->branch_count, sizeof(*counts->branches),
                                  offsetof(struct export_branch, from), vaddr);
    for (; low < counts->branch_count && counts->branches[low].from == vaddr; low++)
        taken = pug_profile_sum(taken, counts->branches[low].count);
    return taken;
}

static bool is_conditional(const struct export_instruction *it)
{
    static const struct pug_isa_config config;
    struct pug_insn insn;
    uint8_t in_it = 0;
    return pug_isa_classify(&config, (enum pug_isa)it->isa, it->vaddr, it->bytes, it->size, &in_it,
                            &insn) == PUG_OK &&
           insn.conditional && (insn.type == PUG_INSTR_BR || insn.type == PUG_INSTR_BR_INDIRECT);
}

/** Enter the function that an instruction is in, if its code is wanted. */
static void enter_function(struct coding *coding, uint64_t vaddr)
{
    struct page *page = coding->page;
    struct pug_names_function function;
    if (coding->open)
        pug_json_close(&page->json);
    coding->open = false;
    coding->end = vaddr + 1;
    if (!pug_names_function(coding->file, vaddr, &function))
        return;
    coding->end = function.start + function.size;
    const struct export_function *told = function_at(page, coding->object, function.start);
    if (!told || !page->has_code[told - page->functions.items])
        return;
    char key[16];
    struct pug_text text = PUG_TEXT(key, sizeof(key));
    pug_text_decimal(&text, (uint64_t)(told - page->functions.items));
    pug_text_end(&text);
    pug_json_array(&page->json, key);
    page->has_code[told - page->functions.items] = false; /* once */
    coding->open = true;
}

static bool want_file(struct page *page, int64_t number)
{
    if (number < 0)
        return true;
    if ((size_t)number >= page->wanted_room) {
        size_t room = (size_t)number + 64;
        bool *wanted = realloc(page->wanted_file, room * sizeof(*wanted));
        if (!wanted)
            return false;
        memset(wanted + page->wanted_room, 0, (room - page->wanted_room) * sizeof(*wanted));
        page->wanted_file = wanted;
        page->wanted_room = room;
    }
    page->wanted_file[number] = true;
    return true;
}

static bool take_instruction(void *context, const struct export_instruction *it)
{
    struct coding *coding = context;
    struct page *page = coding->page;
    struct pug_json *json = &page->json;
    if (it->vaddr >= coding->end || it->vaddr < coding->start) {
        coding->start = it->vaddr;
        enter_function(coding, it->vaddr);
    }
    if (!coding->open)
        return true;
    char address[24], words[PUG_DISASM_TEXT];
    struct pug_text text = PUG_TEXT(address, sizeof(address));
    pug_text_hex(&text, it->vaddr, 1);
    pug_text_end(&text);
    pug_disasm_text(page->disasm, (enum pug_isa)it->isa, it->vaddr, it->bytes, it->size, words,
                    sizeof(words));
    const int64_t file = number_of(page, it->path);
    if (!want_file(page, file))
        page->status = PUG_ERR_MEM;
    pug_json_array(json, NULL);
    pug_json_string(json, NULL, address);
    pug_json_string(json, NULL, words);
    put_count(json, NULL, it->count);
    pug_json_signed(json, NULL, file);
    pug_json_number(json, NULL, it->line);
    if (is_conditional(it)) {
        uint64_t taken = taken_from(&coding->counts, it->vaddr);
        put_count(json, NULL, taken);
        put_count(json, NULL, it->count > taken ? it->count - taken : 0);
    }
    pug_json_close(json);
    return ++coding->told < CODE_MOST && page->status == PUG_OK;
}

static void put_code(struct page *page)
{
    struct coding coding = {.page = page};
    pug_json_object(&page->json, "code");
    for (size_t i = 0; i < page->export->object_count && page->status == PUG_OK; i++) {
        coding.object = page->export->objects[i];
        coding.file = pug_export_file(page->export, coding.object);
        coding.start = coding.end = 0;
        if (!coding.file)
            continue;
        page->status = pug_export_counts(page->export, coding.object, &coding.counts);
        if (page->status == PUG_OK) {
            enum pug_status status =
                pug_export_instructions(page->export, coding.object, take_instruction, &coding);
            if (status != PUG_OK && status != PUG_ERR_NOT_FOUND)
                page->status = status;
        }
        if (coding.open)
            pug_json_close(&page->json);
        coding.open = false;
        pug_export_counts_free(&coding.counts);
    }
    pug_json_close(&page->json);
}

/* ---- sources ---- */

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

/** A source file where it was recorded, or with as much of its path as there is below a folder. */
static bool load_source(const struct page *page, const char *path, size_t most, uint8_t **bytes,
                        size_t *size)
{
    const struct pug_report *report = page->export->options->report;
    char place[4096];
    if (pug_infile_load(path, most, bytes, size) == PUG_OK)
        return true;
    for (size_t i = 0; report && i < report->source_dir_count; i++) {
        for (const char *rest = path; rest; rest = strchr(rest, '/')) {
            rest += strspn(rest, "/");
            if (strstr(rest, "../"))
                continue;
            const int length =
                snprintf(place, sizeof(place), "%s/%s", report->source_dirs[i], rest);
            if (length > 0 && (size_t)length < sizeof(place) && *rest &&
                pug_infile_load(place, most, bytes, size) == PUG_OK)
                return true;
        }
    }
    return false;
}

static void put_source(struct page *page, const struct coverage_file *file, size_t *left)
{
    struct pug_json *json = &page->json;
    const int64_t number = number_of(page, file->path);
    uint8_t *bytes;
    size_t size;
    if (number < 0 || (size_t)number >= page->wanted_room || !page->wanted_file[number] ||
        !load_source(page, file->path, *left < SOURCE_LIMIT ? *left : SOURCE_LIMIT, &bytes, &size))
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
        put_count(json, NULL, file->lines[i].count);
        pug_json_close(json);
    }
    pug_json_close(json);
    pug_json_close(json);
    free(bytes);
}

static void put_sources(struct page *page)
{
    size_t left = SOURCES_LIMIT;
    pug_json_object(&page->json, "sources");
    for (size_t i = 0; i < page->coverage.file_count; i++)
        put_source(page, &page->coverage.files[i], &left);
    pug_json_close(&page->json);
}

static void put_coverage(struct page *page)
{
    struct pug_json *json = &page->json;
    pug_json_array(json, "coverage");
    for (size_t i = 0; i < page->coverage.file_count; i++) {
        const struct coverage_file *file = &page->coverage.files[i];
        const struct coverage_sum sum = pug_coverage_sum(file);
        pug_json_array(json, NULL);
        pug_json_signed(json, NULL, number_of(page, file->path));
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
    const struct pug_report *report = page->export->options->report;
    if (report && report->timelines)
        pug_json_literal(&page->json, "timelines", report->timelines, report->timelines_size);
    else
        pug_json_literal(&page->json, "timelines", "[]", 2);
}

/* ---- the page ---- */

static void put_data(struct page *page)
{
    page->json = pug_json_begin(page->export->sink);
    page->json.in_markup = true;
    pug_json_object(&page->json, NULL);
    put_overview(page);
    put_functions(page);
    put_objects(page);
    put_flame(page);
    put_code(page);
    put_sources(page);
    put_coverage(page);
    put_files(page);
    put_timelines(page);
    pug_json_close(&page->json);
}

enum pug_status pug_export_report(const struct export *export)
{
    struct page page = {.export = export};
    const char *mark = strstr(pug_page_text, PUG_PAGE_MARK);
    enum pug_status status = pug_export_functions(export, &page.functions);
    if (status == PUG_OK && !choose_code(&page))
        status = PUG_ERR_MEM;
    if (status == PUG_OK)
        status = pug_disasm_new(NULL, &page.disasm);
    if (status == PUG_OK && pug_coverage_of(export, &page.coverage) == PUG_ERR_MEM)
        status = PUG_ERR_MEM; /* without lines there is no coverage, and the page says so */
    if (status == PUG_OK) {
        pug_sink_put(export->sink, pug_page_text, (size_t)(mark - pug_page_text));
        put_data(&page);
        pug_sink_text(export->sink, mark + strlen(PUG_PAGE_MARK));
        status = page.status;
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
