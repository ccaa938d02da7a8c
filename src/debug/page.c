// SPDX-License-Identifier: MIT
/** @file The sequence of events in packed pages, with notes of where in the trace they are. */
#include "debug/history.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

/* How an event is packed: the low two bits of a number say what it is, the others are its value. */
enum code {
    CODE_FIRST,  /* so many events + 1 in a row that followed their predecessor the last time */
    CODE_SECOND, /* one that did so the time before */
    CODE_EVENT,  /* an event by number */
};

/* Notes, the same: the value is how many events there were since the last note. */
enum note { NOTE_INDEX, NOTE_TIME, NOTE_SEGMENT };

/* ---- bytes ---- */

static bool put_number(struct pug_history *history, struct pug_history_bytes *bytes,
                       uint64_t number)
{
    if (bytes->room - bytes->count < 10) {
        const size_t room = bytes->room * 2 + 1024;
        uint8_t *grown = realloc(bytes->bytes, room);
        if (!grown) {
            history->status = PUG_ERR_MEM;
            return false;
        }
        bytes->bytes = grown;
        bytes->room = room;
    }
    for (; number >= 0x80; number >>= 7)
        bytes->bytes[bytes->count++] = (uint8_t)(number | 0x80);
    bytes->bytes[bytes->count++] = (uint8_t)number;
    return true;
}

/** Bytes that a page wrote itself; the end is checked all the same. */
static uint64_t get_number(const uint8_t **at, const uint8_t *end)
{
    uint64_t number = 0;
    unsigned shift = 0;
    while (*at < end) {
        const uint8_t byte = *(*at)++;
        number |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
        shift += 7;
        if (byte < 0x80)
            break;
    }
    return number;
}

static uint64_t zigzag(uint64_t difference)
{
    return difference << 1 ^ (difference >> 63 ? UINT64_MAX : 0);
}

static uint64_t unzigzag(uint64_t number)
{
    return number >> 1 ^ (number & 1 ? UINT64_MAX : 0);
}

/* ---- followers ---- */

/** Forgets what followed what. */
static bool begin_followers(struct pug_history *history)
{
    uint32_t room = history->follower_room;
    if (!pug_history_grow(history, &history->followers, &room, history->event_count,
                          sizeof(*history->followers)) ||
        !pug_history_grow(history, &history->stamps, &history->follower_room, history->event_count,
                          sizeof(*history->stamps)))
        return false;
    if (++history->stamp == 0) {
        memset(history->stamps, 0, history->follower_room * sizeof(*history->stamps));
        history->stamp = 1;
    }
    return true;
}

/** Is this the first time that the page has it? */
static bool is_new(struct pug_history *history, uint32_t event)
{
    if (history->stamps[event] == history->stamp)
        return false;
    history->stamps[event] = history->stamp;
    history->followers[event][0] = history->followers[event][1] = NONE;
    return true;
}

static void follow(struct pug_history *history, uint32_t before, uint32_t event)
{
    uint32_t *followers = history->followers[before];
    if (followers[0] == event)
        return;
    followers[1] = followers[0];
    followers[0] = event;
}

/* ---- packing ---- */

static bool pack_events(struct pug_history *history, const struct pug_page_view *open)
{
    struct pug_history_bytes *packed = &history->packed;
    uint64_t run = 0;
    uint32_t before = NONE;
    bool good = begin_followers(history);
    for (uint32_t i = 0; good && i < open->count; i++) {
        const uint32_t event = open->events[i];
        (void)is_new(history, event);
        if (before != NONE && history->followers[before][0] == event) {
            run++;
        } else {
            if (run > 0)
                good = put_number(history, packed, (run - 1) << 2 | CODE_FIRST);
            run = 0;
            const bool second = before != NONE && history->followers[before][1] == event;
            good = good && put_number(history, packed,
                                      second ? CODE_SECOND : (uint64_t)event << 2 | CODE_EVENT);
        }
        if (before != NONE)
            follow(history, before, event);
        before = event;
    }
    return good && (run == 0 || put_number(history, packed, (run - 1) << 2 | CODE_FIRST));
}

/** The distinct events, in the order in which they come first. */
static bool pack_list(struct pug_history *history, const struct pug_page_view *open)
{
    uint64_t last = 0;
    bool good = begin_followers(history);
    for (uint32_t i = 0; good && i < open->count; i++) {
        if (!is_new(history, open->events[i]))
            continue;
        good = put_number(history, &history->packed, zigzag(open->events[i] - last));
        last = open->events[i];
    }
    return good;
}

/** The open page is full. */
static bool seal(struct pug_history *history)
{
    struct pug_history_bytes *packed = &history->packed;
    packed->count = 0;
    if (!pug_history_grow(history, &history->pages, &history->page_room,
                          (uint64_t)history->page_count + 1, sizeof(*history->pages)) ||
        !pack_events(history, &history->open))
        return false;
    struct pug_history_page *page = &history->pages[history->page_count];
    *page = (struct pug_history_page){.first = history->open.first,
                                      .events = (uint32_t)packed->count,
                                      .notes = (uint32_t)history->notes.count,
                                      .buffer = history->begun.buffer,
                                      .segment = history->begun.segment,
                                      .index = history->begun.index,
                                      .time = history->begun.time};
    if (!pack_list(history, &history->open))
        return false;
    page->list = (uint32_t)packed->count - page->events;
    const size_t size = (size_t)page->events + page->notes + page->list;
    if (history->memory + size > history->config.limit) {
        history->status = PUG_ERR_LIMIT;
        return false;
    }
    page->bytes = malloc(size);
    if (!page->bytes) {
        history->status = PUG_ERR_MEM;
        return false;
    }
    memcpy(page->bytes, packed->bytes, page->events);
    if (page->notes > 0)
        memcpy(page->bytes + page->events, history->notes.bytes, page->notes);
    memcpy(page->bytes + page->events + page->notes, packed->bytes + page->events, page->list);
    history->memory += size;
    history->page_count++;
    history->open.first = history->positions;
    history->open.count = 0;
    history->open.page = history->page_count;
    history->notes.count = 0;
    history->noted = 0;
    history->begun.buffer = history->buffer;
    history->begun.segment = history->segment;
    history->begun.index = history->index;
    history->begun.time = history->time;
    return pug_history_keep_stacks(history);
}

bool pug_history_seal(struct pug_history *history)
{
    return history->open.count == 0 || seal(history);
}

bool pug_history_append(struct pug_history *history, uint32_t event)
{
    struct pug_page_view *open = &history->open;
    if (event == NONE || history->status != PUG_OK)
        return false;
    if (open->count == PUG_PAGE_EVENTS && !seal(history))
        return false;
    const uint64_t count = pug_event_positions(&history->events[event]);
    open->events[open->count] = event;
    open->at[open->count + 1] = open->at[open->count] + count;
    if (open->count++ == 0) {
        open->at[0] = 0;
        open->at[1] = count;
    }
    history->positions += count;
    return true;
}

static bool put_note(struct pug_history *history, enum note what)
{
    const uint64_t since = history->open.count - history->noted;
    history->noted = history->open.count;
    return put_number(history, &history->notes, since << 2 | what);
}

bool pug_history_note(struct pug_history *history, uint32_t buffer, uint32_t segment,
                      uint64_t index, uint64_t time)
{
    if (history->open.count == PUG_PAGE_EVENTS && !seal(history))
        return false;
    bool good = true;
    if (buffer != history->buffer || segment != history->segment) {
        good = put_note(history, NOTE_SEGMENT) && put_number(history, &history->notes, buffer) &&
               put_number(history, &history->notes, segment);
        history->buffer = buffer;
        history->segment = segment;
    }
    if (good && index != history->index) {
        good = put_note(history, NOTE_INDEX) &&
               put_number(history, &history->notes, zigzag(index - history->index));
        history->index = index;
    }
    if (good && time != history->time) {
        good = put_note(history, NOTE_TIME) &&
               put_number(history, &history->notes, zigzag(time - history->time));
        history->time = time;
    }
    return good;
}

void pug_page_packet(const struct pug_history *history, uint32_t page, uint32_t n,
                     struct pug_history_packet *packet)
{
    const bool open = page == history->page_count;
    const struct pug_history_page *sealed = open ? NULL : &history->pages[page];
    *packet = (struct pug_history_packet){
        .buffer = open ? history->begun.buffer : sealed->buffer,
        .segment = open ? history->begun.segment : sealed->segment,
        .index = open ? history->begun.index : sealed->index,
        .time = open ? history->begun.time : sealed->time,
    };
    const uint8_t *at = open ? history->notes.bytes : sealed->bytes + sealed->events;
    const uint8_t *const end = at + (open ? history->notes.count : sealed->notes);
    for (uint64_t event = 0; at < end;) {
        const uint64_t note = get_number(&at, end);
        event += note >> 2;
        if (event > n)
            return;
        if ((note & 3) == NOTE_SEGMENT) {
            packet->buffer = (uint32_t)get_number(&at, end);
            packet->segment = (uint32_t)get_number(&at, end);
        } else if ((note & 3) == NOTE_INDEX) {
            packet->index += unzigzag(get_number(&at, end));
        } else {
            packet->time += unzigzag(get_number(&at, end));
        }
    }
}

/* ---- unpacking ---- */

static void unpack(struct pug_history *history, const struct pug_history_page *page,
                   struct pug_page_view *view)
{
    const uint8_t *at = page->bytes;
    const uint8_t *const end = at + page->events;
    uint32_t before = NONE;
    view->count = 0;
    view->first = page->first;
    view->at[0] = 0;
    for (uint64_t run = 0; (at < end || run > 0) && view->count < PUG_PAGE_EVENTS;) {
        uint32_t event = NONE;
        if (run == 0) {
            const uint64_t code = get_number(&at, end);
            if ((code & 3) == CODE_EVENT)
                event = (uint32_t)(code >> 2);
            else if ((code & 3) == CODE_SECOND && before != NONE)
                event = history->followers[before][1];
            else
                run = (code >> 2) + 1;
        }
        if (run > 0 && before != NONE) {
            event = history->followers[before][0];
            run--;
        }
        if (event >= history->event_count)
            break;
        (void)is_new(history, event);
        if (before != NONE)
            follow(history, before, event);
        view->events[view->count] = event;
        view->at[view->count + 1] =
            view->at[view->count] + pug_event_positions(&history->events[event]);
        view->count++;
        before = event;
    }
}

const struct pug_page_view *pug_history_view(struct pug_history *history, uint32_t page)
{
    struct pug_page_view **oldest = &history->views[0];
    if (page == history->page_count)
        return &history->open;
    for (unsigned i = 0; i < PUG_PAGE_VIEWS; i++) {
        struct pug_page_view *view = history->views[i];
        if (view && view->page == page) {
            view->used = ++history->clock;
            return view;
        }
        if (!view || view->used < (*oldest)->used)
            oldest = &history->views[i];
        if (!view)
            break;
    }
    if (!*oldest)
        *oldest = malloc(sizeof(**oldest));
    if (!*oldest || !begin_followers(history)) {
        history->status = PUG_ERR_MEM;
        return NULL;
    }
    unpack(history, &history->pages[page], *oldest);
    (*oldest)->page = page;
    (*oldest)->used = ++history->clock;
    return *oldest;
}

bool pug_page_has(struct pug_history *history, uint32_t page,
                  bool (*wanted)(struct pug_history *history, void *context, uint32_t event),
                  void *context)
{
    if (page == history->page_count)
        return true;
    const struct pug_history_page *sealed = &history->pages[page];
    const uint8_t *at = sealed->bytes + sealed->events + sealed->notes;
    const uint8_t *const end = at + sealed->list;
    for (uint64_t event = 0; at < end;) {
        event += unzigzag(get_number(&at, end));
        if (event < history->event_count && wanted(history, context, (uint32_t)event))
            return true;
    }
    return false;
}

bool pug_history_locate(struct pug_history *history, uint64_t position, uint32_t *page,
                        uint32_t *event)
{
    uint32_t low = 0, high = history->page_count;
    if (position >= history->positions)
        return false;
    if (history->open.count > 0 && position >= history->open.first) {
        low = history->page_count;
    } else {
        while (high - low > 1) {
            const uint32_t middle = low + (high - low) / 2;
            if (history->pages[middle].first <= position)
                low = middle;
            else
                high = middle;
        }
    }
    const struct pug_page_view *view = pug_history_view(history, low);
    if (!view || view->count == 0)
        return false;
    const uint64_t at = position - view->first;
    uint32_t first = 0, last = view->count;
    while (last - first > 1) {
        const uint32_t middle = first + (last - first) / 2;
        if (view->at[middle] <= at)
            first = middle;
        else
            last = middle;
    }
    *page = low;
    *event = first;
    return view->at[first] <= at && at < view->at[first + 1];
}
