// SPDX-License-Identifier: MIT
/**
 * @file Where sources begin that have no synchronisation point for long: their first bytes are
 * taken out of the file, and their protocol says whether a packet begins somewhere.
 */
#include "capture/begin.h"
#include "pugmark/author/protocol.h"
#include "pugmark/author/transport.h"

#include <stdlib.h>
#include <string.h>

/** Bytes of a source, and of the file, that are looked at. */
#define BYTES_MOST ((size_t)256 << 10)
#define FILE_MOST  ((size_t)4 << 20)
#define BLOCK      ((size_t)64 << 10)

struct first_bytes {
    uint16_t id;
    bool any_id;
    uint8_t *bytes;
    size_t count;
};

static enum pug_response take_run(void *context, const struct pug_run *run, size_t *used)
{
    struct first_bytes *first = context;
    *used = run->size;
    if (first->any_id || run->source == first->id) {
        const size_t room = BYTES_MOST - first->count, size = run->size < room ? run->size : room;
        memcpy(first->bytes + first->count, run->bytes, size);
        first->count += size;
    }
    return PUG_RESP_CONT;
}

static void ignore_reset(void *context, uint64_t index)
{
    (void)context;
    (void)index;
}

/** The first bytes of a source, as its transport delivers them. */
static void collect(const struct pug_capture *capture, const struct pug_begin *what,
                    struct first_bytes *first)
{
    struct pug_transport_stats stats = {0};
    struct pug_transport_sink sink = {.context = first,
                                      .run = take_run,
                                      .reset = ignore_reset,
                                      .quirks = capture->quirks,
                                      .stats = &stats};
    void *state;
    const size_t most = what->size < FILE_MOST ? (size_t)what->size : FILE_MOST;
    if (what->transport->create(what->settings, &sink, &state) != PUG_OK)
        return; /* it is reported where the tree is made */
    for (size_t at = 0, used; at < most && first->count < BYTES_MOST; at += used) {
        used = 0;
        const size_t size = most - at < BLOCK ? most - at : BLOCK;
        if (what->transport->data(state, at, what->bytes + at, size, &used) >= PUG_RESP_WAIT ||
            used == 0)
            break;
    }
    what->transport->free(state);
}

enum pug_status pug_capture_begin(const struct pug_capture *capture, const struct pug_begin *what,
                                  size_t *begin)
{
    const struct pug_description *description = what->protocol->description;
    const struct pug_settings given = {.items = what->settings->items,
                                       .count = what->settings->count};
    const struct pug_setting *guess = pug_settings_find(&given, "guess_sync");
    *begin = SIZE_MAX;
    if (!description || !description->begin || what->size == 0 ||
        capture->quirks.itm_search_reports || pug_settings_find(&given, "begin_at") ||
        pug_settings_find(&given, "assume_sync") || (guess && guess->value == 0))
        return PUG_OK;
    struct first_bytes first = {
        .id = what->id, .any_id = what->transport->single, .bytes = malloc(BYTES_MOST)};
    if (!first.bytes)
        return PUG_ERR_MEM;
    collect(capture, what, &first);
    *begin = description->begin(first.bytes, first.count);
    free(first.bytes);
    if (*begin != SIZE_MAX)
        (void)pug_capture_say(capture, PUG_SEV_WARN, PUG_OK,
                              "%s: source 0x%02x begins by a guess, with its byte %zu: it has no "
                              "synchronisation packet for long; --set guess_sync=0 waits for one",
                              capture->path, what->id, *begin);
    return PUG_OK;
}
