// SPDX-License-Identifier: MIT
/**
 * @file The code map's pages: what callbacks gave. A page begins at the address that was missing,
 * belongs to one accessor and one view, and is up to date while it was read in the map's epoch.
 */
#include "image/codemap_store.h"

#include <stdlib.h>
#include <string.h>

static struct pug_code_page *page_at(const struct pug_codemap_store *store, uint32_t number)
{
    return &store->pages[number - 1];
}

/* Pages are found by the granule of a page's size that they begin in. */
static uint32_t *bucket(struct pug_codemap_store *store, uint16_t view, uint64_t granule)
{
    uint64_t hash = (granule ^ ((uint64_t)view << 48)) * UINT64_C(0x9e3779b97f4a7c15);
    return &store->buckets[hash >> 56];
}

/* ---- asking ---- */

/*
 * Elements first: who answers may want to know the context. Then up to a page from `address`. Who
 * takes elements, or was asked before, may have removed the accessor: what is there is gone.
 */
static enum pug_status ask(struct pug_codemap *map, const struct pug_accessor *accessor,
                           uint64_t address, uint32_t *length)
{
    struct pug_codemap_store *store = map->store;
    struct pug_batch *batch = map->config.batch;
    if (batch && batch->count > 0 && batch->response < PUG_RESP_WAIT)
        batch->flush(batch);
    *length = 0;
    if (pug_codemap_outdated(map) && !pug_image_asks(store->image, accessor, address)) {
        store->left = true;
        return PUG_OK;
    }
    uint32_t got = accessor->function(accessor->context, address, &store->space, store->page_size,
                                      store->answer);
    store->stats.pages_read++;
    if (got > store->page_size)
        return PUG_ERR_MEMORY_CALLBACK;
    *length = got;
    return PUG_OK;
}

/* Before it counts as read in this epoch. Memory in epochs since it was read is unknown. */
static void take_answer(struct pug_codemap_store *store, struct pug_code_page *page,
                        uint32_t length, uint32_t epoch)
{
    memcpy(page->bytes, store->answer, length);
    page->length = length;
    page->version = ++store->versions;
    page->other = page->read == epoch ? epoch : epoch - 1;
}

/* ---- the pages ---- */

static void unlink_page(struct pug_codemap_store *store, uint32_t number)
{
    struct pug_code_page *page = page_at(store, number);
    uint32_t *link = bucket(store, page->view, page->start / store->page_size);
    while (*link != number)
        link = &page_at(store, *link)->next;
    *link = page->next;
}

static void release_page(struct pug_codemap_store *store, uint32_t number)
{
    struct pug_code_page *page = page_at(store, number);
    unlink_page(store, number);
    page->version = 0;
    page->length = 0;
    page->other = PUG_PAGE_GONE;
    page->next = store->free_page;
    store->free_page = number;
}

static uint32_t unused_page(struct pug_codemap_store *store)
{
    uint32_t number = store->free_page;
    if (number) {
        store->free_page = page_at(store, number)->next;
        return number;
    }
    if (store->page_count == store->page_limit) {
        size_t limit = store->page_limit ? store->page_limit * 2 : 16;
        struct pug_code_page *pages = realloc(store->pages, limit * sizeof(*pages));
        if (!pages)
            return 0;
        memset(pages + store->page_limit, 0, (limit - store->page_limit) * sizeof(*pages));
        store->pages = pages;
        store->page_limit = limit;
    }
    uint8_t *bytes = malloc(store->page_size);
    if (!bytes)
        return 0;
    store->pages[store->page_count++].bytes = bytes;
    store->stats.bytes += pug_code_page_bytes(store);
    return (uint32_t)store->page_count;
}

/*
 * Pages that begin inside an answer are not needed beside it: they would all be asked for again in
 * each context. Blocks on them are rebuilt on the answer's page, or where that ends.
 */
static void release_begun_in(struct pug_codemap_store *store, const struct pug_accessor *accessor,
                             uint64_t address, uint32_t length)
{
    const uint64_t first = address / store->page_size;
    for (unsigned on = 0; on < 2; on++) {
        uint32_t next = *bucket(store, store->view, first + on);
        while (next) {
            const uint32_t number = next;
            const struct pug_code_page *page = page_at(store, number);
            next = page->next;
            if (page->view == store->view && page->accessor == accessor && page->start > address &&
                page->start - address < length)
                release_page(store, number);
        }
    }
}

/* Make a page of the answer. */
static uint32_t keep_answer(struct pug_codemap *map, const struct pug_accessor *accessor,
                            uint64_t address, uint32_t length, uint32_t epoch)
{
    struct pug_codemap_store *store = map->store;
    release_begun_in(store, accessor, address, length);
    uint32_t number = unused_page(store);
    if (!number)
        return 0;
    struct pug_code_page *page = page_at(store, number);
    uint32_t *head = bucket(store, store->view, address / store->page_size);
    page->start = address;
    page->accessor = accessor;
    page->view = store->view;
    page->next = *head;
    take_answer(store, page, length, epoch);
    page->read = epoch;
    *head = number;
    return number;
}

/* Ask for the page's bytes again where they may be others now; false: the page is gone. */
static bool refresh(struct pug_codemap *map, uint32_t number, bool again, enum pug_status *status)
{
    struct pug_codemap_store *store = map->store;
    struct pug_code_page *page = page_at(store, number);
    uint32_t epoch = map->epoch, length;
    *status = PUG_OK;
    if (page->read == epoch && !again)
        return true;
    *status = ask(map, page->accessor, page->start, &length);
    if (length == 0) {
        release_page(store, number);
        return false;
    }
    if (length != page->length || memcmp(page->bytes, store->answer, length) != 0)
        take_answer(store, page, length, epoch);
    page->read = epoch;
    return true;
}

/* The page that holds `address`, or, with `exact`, that begins there. */
static uint32_t find_page(struct pug_codemap_store *store, const struct pug_accessor *accessor,
                          uint64_t address, bool exact)
{
    uint64_t granule = address / store->page_size;
    for (unsigned back = 0; back < 2 && back <= granule; back++) {
        uint32_t number = *bucket(store, store->view, granule - back);
        for (; number; number = page_at(store, number)->next) {
            const struct pug_code_page *page = page_at(store, number);
            if (page->view == store->view && page->accessor == accessor && page->start <= address &&
                address - page->start < page->length && (!exact || page->start == address))
                return number;
        }
    }
    return 0;
}

uint32_t pug_code_page(struct pug_codemap *map, const struct pug_accessor *accessor,
                       uint64_t address, uint32_t tried, enum pug_status *status)
{
    struct pug_codemap_store *store = map->store;
    bool exact = tried != 0;
    uint32_t number, short_of = 0;
    *status = PUG_OK;
    if (tried)
        short_of =
            page_at(store, tried)->length - (uint32_t)(address - page_at(store, tried)->start);
    /* A refreshed page may have lost the address: then look on. Each turn without a result drops
       or shortens a page, so that the loop ends. */
    while (store->keep && (number = find_page(store, accessor, address, exact)) != 0) {
        bool no_better = page_at(store, number)->length <= short_of;
        if (refresh(map, number, no_better, status) &&
            address - page_at(store, number)->start < page_at(store, number)->length)
            return number;
        if (*status != PUG_OK || no_better)
            return 0;
    }
    uint32_t epoch = map->epoch, length;
    *status = ask(map, accessor, address, &length);
    if (length == 0)
        return 0;
    number = keep_answer(map, accessor, address, length, epoch);
    if (!number) {
        *status = PUG_ERR_MEM;
        pug_code_starve(map);
    }
    return number;
}

bool pug_code_same(struct pug_codemap *map, const struct pug_rests_on *rests)
{
    struct pug_codemap_store *store = map->store;
    for (unsigned i = 0; i < rests->count; i++) {
        enum pug_status status;
        uint32_t number = rests->page[i];
        if (number > store->page_count || page_at(store, number)->version != rests->version[i] ||
            !refresh(map, number, false, &status) ||
            page_at(store, number)->version != rests->version[i])
            return false;
    }
    return true;
}

bool pug_code_same_already(const struct pug_codemap *map, const struct pug_rests_on *rests)
{
    const struct pug_codemap_store *store = map->store;
    for (unsigned i = 0; i < rests->count; i++) {
        if (rests->page[i] > store->page_count)
            return false;
        const struct pug_code_page *page = page_at(store, rests->page[i]);
        if (page->version != rests->version[i] || page->read != map->epoch)
            return false;
    }
    return true;
}

bool pug_code_page_same(struct pug_codemap *map, const struct pug_block *block)
{
    enum pug_status status;
    return block->page != 0 && page_at(map->store, block->page)->other < block->hop &&
           refresh(map, block->page, false, &status) &&
           page_at(map->store, block->page)->other < block->hop;
}

/* Most bytes of an instruction, when nothing is kept. */
#define ONE_INSTRUCTION 4u

static uint32_t bytes_asked_for(uint32_t size)
{
    return size != 0 ? size : ONE_INSTRUCTION;
}

enum pug_status pug_code_set_page(struct pug_codemap_store *store, uint32_t size)
{
    if (size != 0 && (size < PUG_CODE_PAGE_LEAST || size > PUG_CODE_PAGE_MOST))
        return PUG_ERR_INVALID_PARAM_VAL;
    uint8_t *answer = malloc(bytes_asked_for(size));
    if (!answer)
        return PUG_ERR_MEM;
    free(store->other_answer);
    store->other_answer = answer;
    store->other_size = size;
    return PUG_OK;
}

void pug_code_use_page(struct pug_codemap_store *store)
{
    if (!store->other_answer)
        return;
    free(store->answer);
    store->answer = store->other_answer;
    store->other_answer = NULL;
    store->page_size = bytes_asked_for(store->other_size);
    store->keep = store->other_size != 0;
}

void pug_code_drop_pages(struct pug_codemap_store *store)
{
    for (size_t i = 0; i < store->page_count; i++) {
        free(store->pages[i].bytes);
        store->pages[i].other = PUG_PAGE_GONE;
    }
    store->stats.bytes -= store->page_count * pug_code_page_bytes(store);
    store->page_count = 0;
    store->free_page = 0;
    memset(store->buckets, 0, sizeof(store->buckets));
    store->forget = false;
}
