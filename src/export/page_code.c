// SPDX-License-Identifier: MIT
/** @file The page's instructions: of the functions that ran most. */
#include "base/bisect.h"
#include "base/text.h"
#include "export/page_data.h"
#include "pugmark/names.h"

#include <stdlib.h>
#include <string.h>

#define CODE_FUNCTIONS 300u    /* so many functions have their instructions in it */
#define CODE_MOST      200000u /* so many instructions have all of them together */

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

/** Which functions have their instructions in the page. False: no memory. */
static bool choose_code(struct page *page, size_t most)
{
    const size_t count = page->functions.count;
    const struct export_function **order = calloc(count + 1, sizeof(*order));
    free(page->has_code);
    page->has_code = calloc(count + 1, sizeof(*page->has_code));
    if (!order || !page->has_code) {
        free(order);
        return false;
    }
    for (size_t i = 0; i < count; i++)
        order[i] = &page->functions.items[i];
    qsort(order, count, sizeof(*order), compare_self);
    for (size_t i = 0; i < count && i < most && order[i]->self > 0; i++)
        page->has_code[order[i] - page->functions.items] =
            page->shown[order[i] - page->functions.items] != PUG_PROFILE_NONE;
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
    uint64_t start, end; /* of the function under report */
    bool open;
    size_t told, most;
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
    pug_text_decimal(&text, page->shown[told - page->functions.items]);
    pug_text_end(&text);
    pug_json_array(&page->json, key);
    page->has_code[told - page->functions.items] = false; /* once */
    coding->open = true;
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
    const int64_t file = pug_page_source_number(page, it->path);
    pug_json_array(json, NULL);
    pug_json_string(json, NULL, address);
    pug_json_string(json, NULL, words);
    pug_page_count(json, NULL, it->count);
    pug_json_signed(json, NULL, file);
    pug_json_number(json, NULL, it->line);
    if (pug_export_is_conditional(it)) {
        uint64_t taken = taken_from(&coding->counts, it->vaddr);
        pug_page_count(json, NULL, taken);
        pug_page_count(json, NULL, it->count > taken ? it->count - taken : 0);
    }
    pug_json_close(json);
    return ++coding->told < coding->most && page->status == PUG_OK;
}

static void put_code(struct page *page, size_t most)
{
    struct coding coding = {.page = page, .most = CODE_MOST * (most / CODE_FUNCTIONS + 1)};
    if (!choose_code(page, most))
        page->status = PUG_ERR_MEM;
    pug_json_object(&page->json, NULL);
    for (size_t i = 0; i < page->exporter->object_count && page->status == PUG_OK; i++) {
        coding.object = page->exporter->objects[i];
        coding.file = pug_export_file(page->exporter, coding.object);
        coding.start = coding.end = 0;
        if (!coding.file)
            continue;
        page->status = pug_export_counts(page->exporter, coding.object, &coding.counts);
        if (page->status == PUG_OK) {
            enum pug_status status =
                pug_export_instructions(page->exporter, coding.object, take_instruction, &coding);
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

void pug_page_code_part(struct page *page)
{
    const struct pug_report *report = page->exporter->options->report;
    const size_t detail = report && report->detail > 1 ? (size_t)report->detail : 1;
    size_t ran = 0;
    for (size_t i = 0; i < page->functions.count; i++)
        ran += page->functions.items[i].self > 0;
    const size_t wanted = ran < CODE_FUNCTIONS * detail ? ran : CODE_FUNCTIONS * detail;
    const size_t kept = pug_page_part(page, "code", put_code, wanted, page->left / 3 * 2);
    if (kept < ran)
        pug_page_leave_out(page, "instructions of %zu functions, those that ran least", ran - kept);
}
