// SPDX-License-Identifier: MIT
/**
 * @file A history in a file, so that the trace need not be decoded again the next time.
 *
 * The file is for the same version of the library on the same kind of host: it has the structs as
 * they are in memory, with numbers in place of pointers. It is not trusted: all numbers are checked
 * before they are used (kept_check.c).
 *
 *     header, spaces, names, events, pages, their bytes, threads, their stacks, kept frames,
 * accesses
 */
#include "base/hash.h"
#include "debug/kept.h"
#include "files/infile.h"
#include "files/outfile.h"
#include "pugmark/advanced/capture.h"
#include "pugmark/pugmark.h"

#include <stdlib.h>
#include <string.h>

/* ---- what it depends on ---- */

/** The layout of the structs, and who wrote them. */
static uint64_t hash_layout(void)
{
    uint64_t hash = 0x50554748u;
    for (const char *at = pug_version(); *at; at++)
        hash = pug_hash_mix(hash, (uint8_t)*at);
    hash = pug_hash_mix(hash, sizeof(struct pug_history_event) << 16 | PUG_EVENT_KEY);
    hash = pug_hash_mix(hash, sizeof(struct pug_kept_line) << 16 | sizeof(struct pug_kept_page));
    return pug_hash_mix(hash, sizeof(struct pug_data_access) << 16 | sizeof(void *));
}

uint64_t pug_kept_hash(const uint8_t *bytes, size_t size)
{
    uint64_t hash = size, word;
    for (; size >= 8; bytes += 8, size -= 8) {
        memcpy(&word, bytes, 8);
        hash = pug_hash_mix(hash, word);
    }
    word = 0;
    memcpy(&word, bytes, size);
    return pug_hash_mix(hash, word);
}

/* ---- writing ---- */

/** The file while it is made. */
struct writing {
    struct pug_history *history;
    struct pug_history_bytes out;
    const struct pug_address_space **spaces;
    uint32_t space_room;
    struct pug_kept_header header;
    bool failed;
};

static void put(struct writing *writing, const void *bytes, size_t size)
{
    struct pug_history_bytes *out = &writing->out;
    if (out->room - out->count < size) {
        const size_t room = out->room * 2 + size + 65536;
        uint8_t *grown = realloc(out->bytes, room);
        writing->failed |= !grown;
        out->bytes = grown ? grown : out->bytes;
        out->room = grown ? room : out->room;
    }
    if (writing->failed || size == 0)
        return;
    memcpy(out->bytes + out->count, bytes, size);
    out->count += size;
}

/** The number of a space + 1, which is added where it is new; 0 of NULL. */
static uint64_t number_space(struct writing *writing, const struct pug_address_space *space)
{
    uint32_t *count = &writing->header.spaces;
    for (uint32_t i = *count; space && i > 0; i--)
        if (writing->spaces[i - 1] == space)
            return i;
    if (!space || writing->failed)
        return 0;
    if (*count >= PUG_KEPT_SPACES ||
        !pug_history_grow(writing->history, &writing->spaces, &writing->space_room,
                          (uint64_t)*count + 1, sizeof(const struct pug_address_space *))) {
        writing->failed = true;
        return 0;
    }
    writing->spaces[(*count)++] = space;
    return *count;
}

static void put_spaces(struct writing *writing)
{
    struct pug_history *history = writing->history;
    for (uint32_t i = 0; i < history->event_count; i++)
        (void)number_space(writing, history->events[i].space);
    for (uint32_t i = 0; i < writing->header.spaces && !writing->failed; i++) {
        struct pug_space_name name = {{0}};
        writing->failed |=
            !pug_capture_space_name(history->config.capture, writing->spaces[i]->number, &name);
        put(writing, &name, sizeof(name));
    }
}

/** Function names, each with its zero, in the order of the events that have one. */
static void put_names(struct writing *writing)
{
    const struct pug_history *history = writing->history;
    const size_t before = writing->out.count;
    for (uint32_t i = 0; i < history->event_count; i++)
        if (history->events[i].name)
            put(writing, history->events[i].name, strlen(history->events[i].name) + 1);
    writing->header.names = writing->out.count - before;
    put(writing, "\0\0\0\0\0\0\0", (8 - writing->header.names % 8) % 8);
}

static void put_events(struct writing *writing)
{
    const struct pug_history *history = writing->history;
    uint64_t name = 1;
    for (uint32_t i = 0; i < history->event_count; i++) {
        struct pug_history_event event = history->events[i];
        const uintptr_t space = (uintptr_t)number_space(writing, event.space);
        const uintptr_t at = event.name ? (uintptr_t)name : 0;
        name += event.name ? strlen(event.name) + 1 : 0;
        event.space = NULL;
        memcpy(&event.space, &space, sizeof(space));
        memcpy(&event.name, &at, sizeof(at));
        event.offsets = NULL;
        event.width = event.alike = 0;
        put(writing, &event, sizeof(event));
    }
}

static size_t page_bytes(const struct pug_history_page *page)
{
    return (size_t)page->events + page->notes + page->list;
}

static void put_pages(struct writing *writing)
{
    const struct pug_history *history = writing->history;
    for (uint32_t i = 0; i < history->page_count; i++) {
        const struct pug_history_page *page = &history->pages[i];
        const struct pug_kept_page kept = {.first = page->first,
                                           .index = page->index,
                                           .time = page->time,
                                           .events = page->events,
                                           .notes = page->notes,
                                           .list = page->list,
                                           .buffer = page->buffer,
                                           .segment = page->segment};
        put(writing, &kept, sizeof(kept));
    }
    for (uint32_t i = 0; i < history->page_count; i++) {
        put(writing, history->pages[i].bytes, page_bytes(&history->pages[i]));
        writing->header.page_bytes += page_bytes(&history->pages[i]);
    }
    put(writing, "\0\0\0\0\0\0\0", (8 - writing->header.page_bytes % 8) % 8);
}

static void put_threads(struct writing *writing)
{
    const struct pug_history *history = writing->history;
    for (uint32_t i = 0; i < history->line_count; i++) {
        const struct pug_history_line *line = &history->lines[i];
        const struct pug_kept_line kept = {.thread = line->thread, .stacks = line->stack_count};
        writing->failed |= line->thread.task != PUG_NO_TASK;
        put(writing, &kept, sizeof(kept));
    }
    for (uint32_t i = 0; i < history->line_count; i++) {
        const struct pug_history_line *line = &history->lines[i];
        put(writing, line->stacks, line->stack_count * sizeof(*line->stacks));
        writing->header.stacks += line->stack_count;
    }
}

static void put_all(struct writing *writing)
{
    const struct pug_history *history = writing->history;
    put(writing, &writing->header, sizeof(writing->header));
    put_spaces(writing);
    put_names(writing);
    put_events(writing);
    put_pages(writing);
    put_threads(writing);
    for (uint32_t i = 0; i < history->kept_count; i++) {
        struct pug_kept_frame frame;
        memset(&frame, 0, sizeof(frame));
        frame.below = history->kept[i].below;
        frame.event = history->kept[i].event;
        frame.depth = history->kept[i].depth;
        put(writing, &frame, sizeof(frame));
    }
    put(writing, history->data, history->data_count * sizeof(*history->data));
}

enum pug_status pug_history_save(struct pug_history *history, const char *path, uint64_t identity)
{
    if (!history || !path || !history->ended || history->status != PUG_OK ||
        history->open.count > 0)
        return PUG_ERR_INVALID_PARAM_VAL;
    struct writing writing = {.history = history,
                              .header = {.magic = PUG_KEPT_MAGIC,
                                         .layout = hash_layout(),
                                         .identity = identity,
                                         .positions = history->positions,
                                         .events = history->event_count,
                                         .pages = history->page_count,
                                         .lines = history->line_count,
                                         .kept = history->kept_count,
                                         .accesses = history->data_count}};
    enum pug_status status = PUG_ERR_MEM;
    put_all(&writing);
    if (!writing.failed) {
        writing.header.checksum = pug_kept_hash(writing.out.bytes + sizeof(writing.header),
                                                writing.out.count - sizeof(writing.header));
        memcpy(writing.out.bytes, &writing.header, sizeof(writing.header));
        status = pug_outfile_save(path, writing.out.bytes, writing.out.count);
    }
    free(writing.out.bytes);
    free(writing.spaces);
    return status;
}

/* ---- reading ---- */

/** A file that is read: its bytes, and how far they were taken. */
struct reading {
    struct pug_history *history;
    const uint8_t *at, *end;
    const struct pug_kept_header *header;
    const struct pug_address_space **spaces;
};

/** Takes so many items; NULL: there are not so many. They may not be aligned. */
static const uint8_t *take(struct reading *reading, uint64_t count, size_t size)
{
    const uint8_t *at = reading->at;
    if (count > (size_t)(reading->end - at) / size)
        return NULL;
    reading->at += count * size;
    return at;
}

static const uint8_t *take_padded(struct reading *reading, uint64_t count)
{
    const uint8_t *at = take(reading, count, 1);
    return at && take(reading, (8 - count % 8) % 8, 1) ? at : NULL;
}

/** A space by its name. A buffer has its memory as soon as a tree was made for it. */
static const struct pug_address_space *find_space(struct pug_capture *capture,
                                                  const struct pug_space_name *name)
{
    const struct pug_capture_buffer *buffer =
        name->words[0] <= UINT32_MAX ? pug_capture_buffer_at(capture, (size_t)name->words[0])
                                     : NULL;
    struct pug_tree *tree = NULL;
    if (!buffer)
        return NULL;
    const struct pug_address_space *space = pug_capture_space_named(capture, name);
    if (!space && pug_capture_tree(capture, buffer->first_segment, true, NULL, &tree) == PUG_OK)
        space = pug_capture_space_named(capture, name);
    pug_tree_free(tree);
    return space;
}

static bool read_spaces(struct reading *reading)
{
    const uint32_t count = reading->header->spaces;
    const uint8_t *at =
        count <= PUG_KEPT_SPACES ? take(reading, count, sizeof(struct pug_space_name)) : NULL;
    reading->spaces = calloc((size_t)(at ? count : 0) + 1, sizeof(*reading->spaces));
    if (!at || !reading->spaces)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        struct pug_space_name name;
        memcpy(&name, at + i * sizeof(name), sizeof(name));
        reading->spaces[i] = find_space(reading->history->config.capture, &name);
        if (!reading->spaces[i])
            return false;
    }
    return true;
}

static bool read_names(struct reading *reading)
{
    struct pug_history *history = reading->history;
    const uint64_t size = reading->header->names;
    const uint8_t *at = take_padded(reading, size);
    if (!at || (size > 0 && at[size - 1] != 0))
        return false;
    history->kept_names = malloc((size_t)size + 1);
    if (history->kept_names && size > 0)
        memcpy(history->kept_names, at, (size_t)size);
    return history->kept_names != NULL;
}

/** Numbers become pointers. */
static bool resolve_event(struct reading *reading, struct pug_history_event *event)
{
    uintptr_t space, name;
    memcpy(&space, &event->space, sizeof(space));
    memcpy(&name, &event->name, sizeof(name));
    event->space = NULL;
    event->name = NULL;
    event->offsets = NULL;
    event->width = event->alike = 0;
    if (space > reading->header->spaces || name > reading->header->names)
        return false;
    event->space = space > 0 ? reading->spaces[space - 1] : NULL;
    event->name = name > 0 ? reading->history->kept_names + (name - 1) : NULL;
    return pug_kept_event_good(event, reading->header);
}

static bool read_events(struct reading *reading)
{
    struct pug_history *history = reading->history;
    const uint32_t count = reading->header->events;
    const uint8_t *at = take(reading, count, sizeof(struct pug_history_event));
    if (!at || !pug_history_grow(history, &history->events, &history->event_room, count,
                                 sizeof(*history->events)))
        return false;
    if (count > 0)
        memcpy(history->events, at, count * sizeof(*history->events));
    for (uint32_t i = 0; i < count; i++)
        if (!resolve_event(reading, &history->events[i])) {
            history->event_count = 0;
            return false;
        }
    history->event_count = count;
    return true;
}

static bool read_page(struct reading *reading, const struct pug_kept_page *kept,
                      const uint8_t **bytes, uint64_t *left)
{
    struct pug_history *history = reading->history;
    struct pug_history_page page = {.first = kept->first,
                                    .events = kept->events,
                                    .notes = kept->notes,
                                    .list = kept->list,
                                    .buffer = kept->buffer,
                                    .segment = kept->segment,
                                    .index = kept->index,
                                    .time = kept->time};
    const uint64_t size = (uint64_t)page.events + page.notes + page.list;
    const uint64_t before =
        history->page_count > 0 ? history->pages[history->page_count - 1].first : 0;
    if (size > *left || page.first < before || page.first > history->positions)
        return false;
    page.bytes = malloc((size_t)size + 1);
    if (!page.bytes)
        return false;
    memcpy(page.bytes, *bytes, (size_t)size);
    *bytes += size;
    *left -= size;
    history->memory += size;
    history->pages[history->page_count++] = page;
    return true;
}

static bool read_pages(struct reading *reading)
{
    struct pug_history *history = reading->history;
    const uint32_t count = reading->header->pages;
    const uint8_t *pages = take(reading, count, sizeof(struct pug_kept_page));
    uint64_t left = reading->header->page_bytes;
    const uint8_t *bytes = pages ? take_padded(reading, left) : NULL;
    bool good = bytes && pug_history_grow(history, &history->pages, &history->page_room, count,
                                          sizeof(*history->pages));
    for (uint32_t i = 0; i < count && good; i++) {
        struct pug_kept_page page;
        memcpy(&page, pages + i * sizeof(page), sizeof(page));
        good = read_page(reading, &page, &bytes, &left);
    }
    history->open.page = history->page_count;
    history->open.first = history->positions;
    return good;
}

/** The stacks of a thread, in the order of their pages. */
static bool read_stacks(struct reading *reading, struct pug_history_line *line, uint32_t count)
{
    struct pug_history *history = reading->history;
    const uint8_t *at = take(reading, count, sizeof(struct pug_stack_note));
    if (!at ||
        !pug_history_grow(history, &line->stacks, &line->stack_room, count, sizeof(*line->stacks)))
        return false;
    if (count > 0)
        memcpy(line->stacks, at, count * sizeof(*line->stacks));
    line->stack_count = count;
    for (uint32_t i = 0; i < count; i++)
        if (line->stacks[i].top > reading->header->kept ||
            (i > 0 && line->stacks[i].page < line->stacks[i - 1].page))
            return false;
    return true;
}

static bool read_threads(struct reading *reading)
{
    struct pug_history *history = reading->history;
    const uint32_t count = reading->header->lines;
    const uint8_t *at = take(reading, count, sizeof(struct pug_kept_line));
    bool good = at && pug_history_grow(history, &history->lines, &history->line_room, count,
                                       sizeof(*history->lines));
    for (uint32_t i = 0; i < count && good; i++) {
        struct pug_kept_line kept;
        memcpy(&kept, at + i * sizeof(kept), sizeof(kept));
        history->lines[i] = (struct pug_history_line){.thread = kept.thread, .pid = PUG_NO_CPU};
        history->line_count = i + 1;
        good = kept.thread.task == PUG_NO_TASK && kept.thread.isa <= PUG_ISA_RV64 &&
               read_stacks(reading, &history->lines[i], kept.stacks);
    }
    return good;
}

static bool read_frames(struct reading *reading)
{
    struct pug_history *history = reading->history;
    const uint32_t count = reading->header->kept;
    const uint8_t *at = take(reading, count, sizeof(*history->kept));
    if (!at || !pug_history_grow(history, &history->kept, &history->kept_room, count,
                                 sizeof(*history->kept)))
        return false;
    if (count > 0)
        memcpy(history->kept, at, count * sizeof(*history->kept));
    history->kept_count = count;
    for (uint32_t i = 0; i < count; i++)
        if (history->kept[i].below > i || history->kept[i].event >= history->event_count)
            return false;
    return true;
}

static bool read_accesses(struct reading *reading)
{
    struct pug_history *history = reading->history;
    const uint32_t count = reading->header->accesses;
    const uint8_t *at = take(reading, count, sizeof(*history->data));
    if (!at || !pug_history_grow(history, &history->data, &history->data_room, count,
                                 sizeof(*history->data)))
        return false;
    if (count > 0)
        memcpy(history->data, at, count * sizeof(*history->data));
    history->data_count = count;
    for (uint32_t i = 0; i < count; i++)
        if (!pug_kept_access_good(&history->data[i], i > 0 ? &history->data[i - 1] : NULL))
            return false;
    return true;
}

static bool read_all(struct pug_history *history, const struct pug_kept_header *header,
                     const uint8_t *bytes, size_t size)
{
    struct reading reading = {
        .history = history, .at = bytes + sizeof(*header), .end = bytes + size, .header = header};
    history->positions = header->positions;
    const bool good = pug_kept_hash(reading.at, size - sizeof(*header)) == header->checksum &&
                      read_spaces(&reading) && read_names(&reading) && read_events(&reading) &&
                      read_pages(&reading) && read_threads(&reading) && read_frames(&reading) &&
                      read_accesses(&reading) && reading.at == reading.end;
    free(reading.spaces);
    history->ended = true;
    return good;
}

enum pug_status pug_history_load(const struct pug_history_config *config, const char *path,
                                 uint64_t identity, struct pug_history **history)
{
    struct pug_kept_header header;
    uint8_t *bytes;
    size_t size;
    enum pug_status status = pug_history_new(config, history);
    if (status != PUG_OK)
        return status;
    status = pug_infile_load(path, PUG_KEPT_MOST, &bytes, &size);
    if (status == PUG_OK) {
        memcpy(&header, bytes, size < sizeof(header) ? 0 : sizeof(header));
        if (size < sizeof(header) ||
            memcmp(header.magic, PUG_KEPT_MAGIC, sizeof(header.magic)) != 0)
            status = PUG_ERR_INDEX_DAMAGED;
        else if (header.layout != hash_layout() || header.identity != identity)
            status = PUG_ERR_INDEX_FOREIGN;
        else if (!read_all(*history, &header, bytes, size))
            status = PUG_ERR_INDEX_DAMAGED;
        free(bytes);
    }
    if (status != PUG_OK) {
        pug_history_free(*history);
        *history = NULL;
    }
    return status;
}
