// SPDX-License-Identifier: MIT
/** @file Instructions for the code map: from memory that stays, or from pages. */
#include "image/codemap_store.h"

#include <string.h>

/* More bytes than any instruction has. */
#define LONGEST 8u

/* Note that the cursor uses a page; false: it is one too many. */
static bool rest_on(struct pug_codemap *map, struct pug_code_cursor *cursor, uint32_t page,
                    unsigned limit)
{
    struct pug_rests_on *rests = &cursor->rests;
    uint32_t version = map->store->pages[page - 1].version;
    for (unsigned i = 0; i < rests->count; i++)
        if (rests->page[i] == page && rests->version[i] == version)
            return true;
    if (rests->count >= limit)
        return false;
    rests->page[rests->count] = page;
    rests->version[rests->count++] = version;
    return true;
}

static enum pug_status enter_page(struct pug_codemap *map, struct pug_code_cursor *cursor,
                                  const struct pug_window *window, uint64_t address, uint32_t tried)
{
    enum pug_status status;
    uint32_t number = pug_code_page(map, window->accessor, address, tried, &status);
    if (number == 0) {
        cursor->rests.transient = true;
        return status == PUG_OK ? PUG_ERR_NO_PROGRAM_MEMORY : status;
    }
    const struct pug_code_page *page = &map->store->pages[number - 1];
    cursor->rests.transient |= !map->store->keep;
    cursor->bytes = page->bytes;
    cursor->page = number;
    cursor->first = page->start;
    cursor->end = page->start + (page->length - 1);
    if (cursor->end > window->last || cursor->end < page->start)
        cursor->end = window->last;
    cursor->last = cursor->end;
    cursor->valid = true;
    return PUG_OK;
}

/* Go to the memory that holds `address`; the page `tried` (plus 1) was too short for it. */
static enum pug_status enter(struct pug_codemap *map, struct pug_code_cursor *cursor,
                             uint64_t address, uint32_t tried)
{
    struct pug_window window;
    cursor->valid = false;
    if (!pug_image_find(map->store->image, &map->store->space, address, &window))
        return PUG_ERR_NO_PROGRAM_MEMORY;
    if (!window.bytes)
        return enter_page(map, cursor, &window, address, tried);
    cursor->bytes = window.bytes;
    cursor->page = 0;
    cursor->first = window.first;
    cursor->last = window.last;
    cursor->end = window.end;
    cursor->valid = true;
    return PUG_OK;
}

/* The bytes at `address`, at most LONGEST; the cursor holds the address. */
static const uint8_t *bytes_at(struct pug_codemap *map, struct pug_code_cursor *cursor,
                               uint64_t address, unsigned *avail)
{
    uint64_t left = cursor->last - address;
    *avail = left < LONGEST - 1 ? (unsigned)left + 1 : LONGEST;
    if (*avail == LONGEST || cursor->page || cursor->last == cursor->end)
        return cursor->bytes + (address - cursor->first);
    /* A piece of a file ends here, and the next one goes on. */
    int64_t got = pug_image_read(map->store->image, &map->store->space, address, cursor->straddle,
                                 sizeof(cursor->straddle));
    *avail = got > 0 ? (unsigned)got : 0;
    return cursor->straddle;
}

static enum pug_status classify(struct pug_codemap *map, uint64_t address, const uint8_t *bytes,
                                unsigned avail, enum pug_isa isa, uint8_t *it,
                                struct pug_insn *insn)
{
    const struct pug_codemap_config *config = &map->config;
    enum pug_status status =
        config->classify ? config->classify(config->classify_context, &config->isa, isa, address,
                                            bytes, avail, it, insn)
                         : pug_isa_classify(&config->isa, isa, address, bytes, avail, it, insn);
    if (status == PUG_OK && insn->size == 0)
        return PUG_ERR_FAIL; /* a client's classifier that would not get on */
    return status;
}

static enum pug_status classify_here(struct pug_codemap *map, struct pug_code_cursor *cursor,
                                     uint64_t address, enum pug_isa isa, uint8_t *it,
                                     struct pug_insn *insn)
{
    unsigned avail;
    const uint8_t *bytes = bytes_at(map, cursor, address, &avail);
    return classify(map, address, bytes, avail, isa, it, insn);
}

/* The memory at `address` and what follows it, as far as the cursor's piece goes; how much. */
static unsigned copy_piece(const struct pug_code_cursor *cursor, uint64_t address, uint8_t *buffer,
                           unsigned wanted)
{
    uint64_t left = cursor->last - address;
    unsigned size = left < wanted - 1 ? (unsigned)left + 1 : wanted;
    memcpy(buffer, cursor->bytes + (address - cursor->first), size);
    return size;
}

/*
 * The memory that holds the first bytes of an instruction ends inside it, and other memory goes on.
 * Each piece is tried as it comes, so that no more is asked for than is needed. The first
 * instruction of a block may not be left for another one: if it rests on too many pages it is not
 * kept.
 */
static enum pug_status classify_joined(struct pug_codemap *map, struct pug_code_cursor *cursor,
                                       uint64_t address, enum pug_isa isa, uint8_t *it,
                                       struct pug_insn *insn)
{
    struct pug_code_cursor piece = {.rests = cursor->rests};
    const bool first = cursor->rests.count == 0;
    const uint8_t it_in = *it;
    enum pug_status status = PUG_ERR_NO_PROGRAM_MEMORY;
    uint8_t bytes[LONGEST];
    unsigned avail = 0;
    while (status == PUG_ERR_NO_PROGRAM_MEMORY && avail < LONGEST) {
        uint64_t at = pug_code_wrap(isa, address + avail);
        status = at < address ? PUG_ERR_NO_PROGRAM_MEMORY : enter(map, &piece, at, 0);
        if (status != PUG_OK)
            break;
        if (piece.page && !rest_on(map, &piece, piece.page, PUG_CODE_PAGES)) {
            if (!first)
                return PUG_ERR_LIMIT;
            piece.rests.transient = true;
        }
        avail += copy_piece(&piece, at, bytes + avail, LONGEST - avail);
        *it = it_in;
        status = classify(map, address, bytes, avail, isa, it, insn);
    }
    piece.rests.transient |=
        status == PUG_ERR_NO_PROGRAM_MEMORY && piece.rests.count > cursor->rests.count;
    cursor->rests = piece.rests;
    cursor->valid = false;
    return status;
}

/* The page ends inside the instruction: one that begins with it may have it all. */
static enum pug_status classify_anew(struct pug_codemap *map, struct pug_code_cursor *cursor,
                                     uint64_t address, enum pug_isa isa, uint8_t *it,
                                     struct pug_insn *insn)
{
    enum pug_status status = enter(map, cursor, address, cursor->page);
    if (status == PUG_OK)
        status = classify_here(map, cursor, address, isa, it, insn);
    if (status == PUG_ERR_NO_PROGRAM_MEMORY)
        cursor->rests.transient = true;
    return status;
}

enum pug_status pug_code_next(struct pug_codemap *map, struct pug_code_cursor *cursor,
                              uint64_t address, enum pug_isa isa, uint8_t *it,
                              struct pug_insn *insn)
{
    enum pug_status status = PUG_OK;
    uint8_t it_out = *it;
    if (!cursor->valid || address < cursor->first || address > cursor->last)
        status = enter(map, cursor, address, 0);
    if (status == PUG_OK)
        status = classify_here(map, cursor, address, isa, &it_out, insn);
    if (status == PUG_ERR_NO_PROGRAM_MEMORY && cursor->valid) {
        struct pug_code_cursor before = *cursor;
        it_out = *it;
        if (cursor->page)
            status = classify_anew(map, cursor, address, isa, &it_out, insn);
        if (status == PUG_ERR_NO_PROGRAM_MEMORY && !map->config.reads_end_with_image) {
            it_out = *it;
            *cursor = before;
            status = classify_joined(map, cursor, address, isa, &it_out, insn);
        }
    }
    if (cursor->valid && cursor->page && status != PUG_ERR_NO_PROGRAM_MEMORY &&
        !rest_on(map, cursor, cursor->page, PUG_CODE_PAGES))
        return PUG_ERR_LIMIT;
    if (status == PUG_OK)
        *it = it_out;
    return status;
}

size_t pug_code_ahead(struct pug_codemap *map, struct pug_code_cursor *cursor, uint64_t address,
                      enum pug_isa isa, uint8_t it, struct pug_code_insn *insns, size_t most)
{
    size_t count = 0;
    while (count < most && cursor->valid && address >= cursor->first && address < cursor->last &&
           cursor->last - address >= LONGEST - 1 &&
           classify_here(map, cursor, address, isa, &it, &insns[count].insn) == PUG_OK) {
        insns[count].it_behind = it;
        address += insns[count++].insn.size;
    }
    return count;
}

uint32_t pug_codemap_same_since(struct pug_codemap *map, uint64_t address, uint64_t *last)
{
    const struct pug_codemap_store *store = map->store;
    const struct pug_memory_chooser *chooser = map->config.chooser;
    struct pug_code_cursor cursor = {.valid = false};
    (void)pug_codemap_prepare(map, pug_code_page_bytes(map->store));
    if (!store->keep || enter(map, &cursor, address, 0) != PUG_OK || store->left)
        return UINT32_MAX;
    *last = cursor.last;
    if (cursor.page)
        return store->pages[cursor.page - 1].other + 1;
    return !chooser || !chooser->choose ? store->begun : UINT32_MAX;
}

/* ---- data ---- */

static uint32_t copy_some(struct pug_codemap *map, struct pug_code_cursor *cursor, uint64_t address,
                          uint8_t *buffer, uint32_t wanted, uint32_t tried)
{
    return enter(map, cursor, address, tried) == PUG_OK
               ? copy_piece(cursor, address, buffer, wanted)
               : 0;
}

uint32_t pug_codemap_read(struct pug_codemap *map, uint64_t address, void *buffer, uint32_t wanted)
{
    struct pug_code_cursor cursor = {0};
    uint32_t done = 0, size = 1;
    (void)pug_codemap_prepare(map, 2 * pug_code_page_bytes(map->store));
    while (done < wanted && size > 0) {
        uint8_t *to = (uint8_t *)buffer + done;
        size = copy_some(map, &cursor, address + done, to, wanted - done, 0);
        if (map->store->left && pug_codemap_prepare(map, 0))
            size = copy_some(map, &cursor, address + done, to, wanted - done, 0);
        done += size;
    }
    return done;
}

/* A table's word, from all the memory that it lies in; how much of it. */
static uint32_t read_table(struct pug_codemap *map, struct pug_code_cursor *table, uint64_t address,
                           uint8_t *bytes, uint32_t wanted)
{
    uint32_t got = copy_some(map, table, address, bytes, wanted, 0);
    if (got < wanted && table->valid && table->page)
        got = copy_some(map, table, address, bytes, wanted, table->page);
    if (table->valid && table->page)
        (void)rest_on(map, table, table->page, PUG_PAGES);
    while (got > 0 && got < wanted && !map->config.reads_end_with_image) {
        uint32_t more = copy_some(map, table, address + got, bytes + got, wanted - got, 0);
        if (more == 0)
            break;
        if (table->page && !rest_on(map, table, table->page, PUG_PAGES))
            table->rests.transient = true;
        got += more;
    }
    return got;
}

void pug_code_resolve(struct pug_codemap *map, struct pug_code_cursor *cursor, enum pug_isa isa,
                      struct pug_insn *insn)
{
    uint8_t bytes[8] = {0};
    uint32_t wanted = isa == PUG_ISA_RV32 ? 4 : 8;
    struct pug_code_cursor table = {.rests = cursor->rests};
    table.rests.transient = false;
    uint32_t got = read_table(map, &table, insn->target, bytes, wanted);
    bool asked = table.rests.count > cursor->rests.count || (table.valid && table.page);
    table.rests.transient |= cursor->rests.transient || (got < wanted && asked);
    cursor->rests = table.rests;
    if (got < wanted)
        return;
    uint64_t target = 0;
    for (unsigned i = 0; i < wanted; i++)
        target |= (uint64_t)bytes[i] << (8 * i);
    insn->target = target & ~UINT64_C(1);
    insn->table_jump = false;
}
