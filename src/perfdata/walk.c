// SPDX-License-Identifier: MIT
/**
 * @file From bytes to records (section 5), through a window on the file. The trace that follows a
 * record is not touched, unless its pieces are short.
 */
#include "files/map.h"
#include "perfdata/perfdata.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#ifdef _WIN32 /* where a part of a file is read, not mapped */
#define WINDOW ((size_t)64 << 10)
#else
#define WINDOW ((size_t)16 << 20)
#endif
/* Where there are records on about every page, as at first is thought, to map these costs more than
   to read them. */
#define DENSE        ((size_t)16 << 10)
#define DENSE_WINDOW ((size_t)128 << 10)
#define HEADER       8u
#define SOME         512u /* records that tell how many there will be */

struct walk {
    struct pug_perf *perf;
    struct pug_perf_scout *scout; /* NULL: it is all in order */
    uint32_t file;
    uint64_t at, end;
    struct pug_map *window;
    uint8_t *room;        /* DENSE_WINDOW bytes, for a window that is read; or NULL */
    const uint8_t *bytes; /* of the window */
    uint64_t first;       /* that is in it */
    size_t held;
    uint64_t piece, stride; /* the place of the last piece of trace, and the distance to the next */
    struct pug_perf_unzip *unzip;
    struct pug_memory_bytes {
        uint8_t *bytes;
        size_t count;
    } split; /* bodies of split records so far */
};

void pug_perf_damage(struct pug_perf *perf, uint32_t file, uint64_t offset, uint32_t type,
                     const char *why)
{
    const struct pug_perf_file *files = perf->files.items;
    const char *path = file < perf->files.count ? files[file].path : "";
    pug_capture_say(perf->capture, PUG_SEV_WARN, PUG_OK, "%s: offset %llu, record of type %u: %s",
                    path, (unsigned long long)offset, type, why);
}

void pug_perf_fail(struct pug_perf *perf, const char *path, uint64_t offset, enum pug_status status)
{
    const int reason = errno;
    if (atomic_exchange(&perf->unread_taken, true))
        return;
    perf->unread = (struct pug_read_failure){
        .path = path, .offset = offset, .status = status, .reason = reason};
    atomic_store(&perf->unread_told, true);
}

void pug_perf_damage_feature(struct pug_perf *perf, uint64_t bit, const char *why)
{
    const struct pug_perf_file *files = perf->files.items;
    pug_capture_say(perf->capture, PUG_SEV_WARN, PUG_OK, "%s: offset %llu, feature %llu: %s",
                    files[perf->place.file].path, (unsigned long long)perf->place.offset,
                    (unsigned long long)bit, why);
}

/** `size` bytes at `at`, which are in the file; NULL: they cannot be read. */
static const uint8_t *peek(struct walk *walk, uint64_t at, size_t size)
{
    const struct pug_perf_file *files = walk->perf->files.items;
    if (at >= walk->first && at - walk->first <= walk->held &&
        size <= walk->held - (size_t)(at - walk->first))
        return walk->bytes + (at - walk->first);
    const uint64_t left = walk->end - at;
    const bool dense = walk->stride < DENSE && size <= DENSE_WINDOW;
    const size_t window = dense ? DENSE_WINDOW : WINDOW;
    const size_t wanted = size > window ? size : window;
    pug_map_close(walk->window);
    walk->window = NULL;
    walk->held = left < wanted ? (size_t)left : wanted;
    walk->first = at;
    if (dense && !walk->room)
        walk->room = malloc(DENSE_WINDOW);
    enum pug_status status;
    if (dense && walk->room)
        status = pug_infile_read(files[walk->file].in, at, walk->room, walk->held);
    else
        status = pug_map_part(files[walk->file].in, at, walk->held, &walk->window);
    if (status == PUG_OK)
        return walk->bytes = walk->window ? pug_map_bytes(walk->window) : walk->room;
    if (!walk->scout)
        pug_perf_fail(walk->perf, files[walk->file].path, at, status);
    walk->held = 0;
    return NULL;
}

/** Was the file cut while it was read? */
static bool was_cut(const struct walk *walk)
{
    uint64_t offset;
    if (!walk->window || !pug_map_lost(walk->window, &offset))
        return false;
    if (!walk->scout)
        pug_perf_fail(walk->perf,
                      ((const struct pug_perf_file *)walk->perf->files.items)[walk->file].path,
                      walk->first + offset, PUG_ERR_TRUNCATED);
    return true;
}

/* ---- records that are more than themselves ---- */

/** Bytes that follow a record and belong to it; -1: it is invalid. */
static int64_t bytes_behind(const struct pug_perf_record *record)
{
    if (record->type == PUG_PERF_AUXTRACE) {
        uint64_t size = record->size >= 40 ? pug_bytes_64(record->body) : 0;
        return record->size < 40 || size > INT64_MAX ? -1 : (int64_t)size;
    }
    if (record->type == PUG_PERF_TRACING_DATA)
        return record->size < 4 ? -1 : (int64_t)((pug_bytes_32(record->body) + 7ull) & ~7ull);
    return 0;
}

static void take_split(struct walk *walk, const struct pug_perf_record *record)
{
    if (record->type == PUG_PERF_SPLIT) {
        const size_t size = walk->split.count + record->size + 1;
        uint8_t *bytes = size <= PUG_PERF_FEATURE ? realloc(walk->split.bytes, size) : NULL;
        if (!bytes && size <= PUG_PERF_FEATURE) {
            pug_capture_starve(walk->perf->capture);
            return;
        }
        if (!bytes) {
            pug_perf_damage(walk->perf, walk->file, record->offset, record->type,
                            "it makes its whole longer than can be");
            return;
        }
        memcpy(bytes + walk->split.count, record->body, record->size);
        walk->split.bytes = bytes;
        walk->split.count += record->size;
        return;
    }
    uint8_t *bytes = walk->split.bytes;
    size_t count = walk->split.count;
    walk->split = (struct pug_memory_bytes){0};
    pug_perf_walk_whole(walk->perf, walk->file, record->offset, bytes, count);
    free(bytes);
}

static enum pug_status take_compressed(struct walk *walk, const struct pug_perf_record *record)
{
    const uint8_t *bytes = record->body;
    size_t size = record->size;
    if (record->type == PUG_PERF_COMPRESSED2) {
        uint64_t told = size >= 8 ? pug_bytes_64(bytes) : 0;
        if (size < 8 || told > size - 8) {
            pug_perf_damage(walk->perf, walk->file, record->offset, record->type,
                            "it tells more bytes than it has");
            return PUG_OK;
        }
        bytes += 8;
        size = (size_t)told;
    }
    return pug_perf_unzip(walk->perf, &walk->unzip, walk->file, record->offset, bytes, size);
}

/** Once some are there: room for all that the part will have, if it goes on like that. */
static void expect_more(const struct walk *walk, struct pug_list *list, size_t item_size)
{
    const uint64_t done = walk->at - walk->scout->from, left = walk->scout->end - walk->at;
    if (list->count == list->room && list->count >= SOME && walk->at < walk->scout->end)
        (void)pug_list_reserve_long(
            list, (size_t)(left / (done / list->count + 1)) + list->count / 8, item_size);
}

/** A record of a part; what cannot be done in parts ends it. */
static enum pug_status take_in_part(struct walk *walk, const struct pug_perf_record *record)
{
    struct pug_perf_scout *scout = walk->scout;
    switch (record->type) {
    case PUG_PERF_COMPRESSED:
    case PUG_PERF_COMPRESSED2:
    case PUG_PERF_SPLIT:
    case PUG_PERF_SPLIT_END: return PUG_ERR_UNSUPPORTED_CONFIG;
    default: break;
    }
    if (pug_perf_is_apart(&scout->perf, record)) {
        expect_more(walk, &scout->perf.aux, sizeof(struct pug_perf_aux));
        expect_more(walk, &scout->perf.auxtrace, sizeof(struct pug_perf_auxtrace));
        pug_perf_take_record(&scout->perf, record);
        return PUG_OK;
    }
    struct pug_perf_other *other = pug_list_add(&scout->others, sizeof(*other));
    if (other)
        *other = (struct pug_perf_other){record->offset, ++scout->perf.order};
    return other ? PUG_OK : PUG_ERR_MEM;
}

static enum pug_status take(struct walk *walk, const struct pug_perf_record *record)
{
    if (walk->scout)
        return take_in_part(walk, record);
    switch (record->type) {
    case PUG_PERF_COMPRESSED:
    case PUG_PERF_COMPRESSED2: return take_compressed(walk, record);
    case PUG_PERF_SPLIT:
    case PUG_PERF_SPLIT_END: take_split(walk, record); return PUG_OK;
    default: pug_perf_take_record(walk->perf, record); return PUG_OK;
    }
}

/* ---- walking ---- */

/** Somebody else comes here again, and says so. */
static void damage(const struct walk *walk, uint32_t type, const char *why)
{
    if (!walk->scout)
        pug_perf_damage(walk->perf, walk->file, walk->at, type, why);
}

/** Type, misc and size of the header at `bytes`; the body's begin and size in the record. */
static uint64_t read_header(const uint8_t *bytes, struct pug_perf_record *record)
{
    record->type = pug_bytes_32(bytes);
    record->misc = pug_bytes_16(bytes + 4);
    if (record->type <= PUG_PERF_SIMPLEPERF)
        return pug_bytes_16(bytes + 6);
    const uint64_t size = (uint64_t)record->misc << 16 | pug_bytes_16(bytes + 6);
    record->misc = 0;
    return size;
}

/** The record at walk->at; false: the walk ends. */
static bool step(struct walk *walk, enum pug_status *status)
{
    struct pug_perf_record record = {.file = walk->file, .offset = walk->at};
    const uint64_t left = walk->end - walk->at;
    const uint8_t *header = left < HEADER ? NULL : peek(walk, walk->at, HEADER);
    const char *trouble = NULL;
    if (!header) {
        damage(walk, 0, left < HEADER ? "the data end inside its header" : "it cannot be read");
        return false;
    }
    const uint64_t size = read_header(header, &record);
    if (size < HEADER)
        trouble = "its size is less than that of a header; what follows is not read";
    else if (size > left)
        trouble = "it does not fit into the rest of the data; what follows is not read";
    else
        record.size = size - HEADER > PUG_PERF_FEATURE ? 0 : (size_t)size - HEADER;
    if (!trouble) {
        record.body = peek(walk, walk->at + HEADER, record.size);
        if (!record.body || was_cut(walk))
            trouble = "it cannot be read";
    }
    if (trouble) {
        damage(walk, record.type, trouble);
        return false;
    }
    record.behind = walk->at + size;
    const int64_t behind = bytes_behind(&record);
    if (behind < 0 || (uint64_t)behind > left - size) {
        damage(walk, record.type,
               "the bytes behind it are not all there; what follows is not read");
        return false;
    }
    walk->at += size + (uint64_t)behind;
    if (behind > 0) {
        walk->stride = walk->at - walk->piece;
        walk->piece = walk->at;
    }
    if (record.size + HEADER == size)
        *status = take(walk, &record);
    else if (walk->scout)
        *status = PUG_ERR_LIMIT;
    else
        pug_perf_damage(walk->perf, walk->file, record.offset, record.type,
                        "it is longer than can be; it is left out");
    return *status == PUG_OK;
}

static void end_walk(struct walk *walk)
{
    pug_perf_unzip_free(walk->unzip);
    free(walk->split.bytes);
    free(walk->room);
    pug_map_close(walk->window);
}

enum pug_status pug_perf_walk(struct pug_perf *perf, uint32_t file, uint64_t from, uint64_t end)
{
    struct walk walk = {.perf = perf, .file = file, .at = from, .end = end};
    enum pug_status status = PUG_OK;
    while (walk.at < walk.end && step(&walk, &status))
        continue;
    pug_perf_unzip_end(perf, walk.unzip, file);
    end_walk(&walk);
    return status;
}

void pug_perf_walk_scout(struct pug_perf_scout *scout)
{
    struct walk walk = {
        .perf = &scout->perf, .scout = scout, .at = scout->from, .end = scout->limit};
    enum pug_status status = PUG_OK;
    while (walk.at < scout->end && step(&walk, &status))
        continue;
    scout->whole = walk.at == scout->end && status == PUG_OK;
    end_walk(&walk);
}

enum pug_status pug_perf_walk_others(struct pug_perf *perf, const struct pug_perf_scout *scout,
                                     uint32_t before)
{
    const struct pug_perf_other *others = scout->others.items;
    struct walk walk = {.perf = perf, .end = scout->limit};
    enum pug_status status = PUG_OK;
    for (size_t i = 0; i < scout->others.count && status == PUG_OK; i++) {
        walk.at = others[i].offset;
        perf->order = before + others[i].order - 1;
        (void)step(&walk, &status);
    }
    end_walk(&walk);
    return status;
}

size_t pug_perf_walk_memory(struct pug_perf *perf, uint32_t file, uint64_t place,
                            const uint8_t *bytes, size_t size, bool *damaged)
{
    size_t at = 0;
    while (size - at >= HEADER) {
        struct pug_perf_record record = {.file = file, .offset = place};
        const uint64_t whole = read_header(bytes + at, &record);
        if (whole < HEADER) {
            pug_perf_damage(perf, file, place, record.type,
                            "inside of it, a size is less than that of a header");
            *damaged = true;
            return at;
        }
        if (whole > size - at)
            break;
        record.body = bytes + at + HEADER;
        record.size = (size_t)whole - HEADER;
        at += (size_t)whole;
        if (record.type != PUG_PERF_AUXTRACE && record.type != PUG_PERF_TRACING_DATA)
            pug_perf_take_record(perf, &record);
        else
            pug_perf_damage(perf, file, place, record.type,
                            "inside of another there cannot be bytes behind it");
    }
    return at;
}

void pug_perf_walk_whole(struct pug_perf *perf, uint32_t file, uint64_t place, const uint8_t *bytes,
                         size_t size)
{
    bool damaged = false;
    const size_t taken = pug_perf_walk_memory(perf, file, place, bytes, size, &damaged);
    if (taken < size && !damaged)
        pug_perf_damage(perf, file, place, size - taken < HEADER ? 0 : pug_bytes_32(bytes + taken),
                        "the data end inside of it");
}
