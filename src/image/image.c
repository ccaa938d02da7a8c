// SPDX-License-Identifier: MIT
/** @file The list of accessors: adding, finding, reading, removing. */
#include "image/image.h"
#include "base/bisect.h"

#include <stdlib.h>
#include <string.h>

/* ---- accessors ---- */

struct pug_accessor *pug_accessor_new(enum pug_accessor_kind kind, const struct pug_place *place,
                                      size_t ranges)
{
    struct pug_accessor *accessor = calloc(1, sizeof(*accessor));
    if (!accessor)
        return NULL;
    accessor->kind = kind;
    if (place)
        accessor->place = *place;
    else
        accessor->place.space = PUG_SPACE_ANY;
    accessor->ranges = calloc(ranges, sizeof(*accessor->ranges));
    if (accessor->ranges)
        return accessor;
    free(accessor);
    return NULL;
}

void pug_accessor_free(struct pug_accessor *accessor)
{
    if (!accessor)
        return;
    pug_file_free(accessor->file);
    free(accessor->ranges);
    free(accessor);
}

const struct pug_range *pug_accessor_range(const struct pug_accessor *accessor, uint64_t address)
{
    for (size_t i = 0; i < accessor->count; i++)
        if (address >= accessor->ranges[i].start && address <= accessor->ranges[i].end)
            return &accessor->ranges[i];
    return NULL;
}

bool pug_image_asks(const struct pug_image *image, const struct pug_accessor *accessor,
                    uint64_t address)
{
    for (size_t i = 0; i < image->count; i++)
        if (image->accessors[i] == accessor)
            return accessor->kind == PUG_ACCESS_CALLBACK && pug_accessor_range(accessor, address);
    return false;
}

/* ---- places ---- */

static bool same_id(bool has_a, uint32_t a, bool has_b, uint32_t b)
{
    return has_a == has_b && (!has_a || a == b);
}

/* Would both answer, with equal right, for some reader? */
static bool compete(const struct pug_place *a, const struct pug_place *b)
{
    return (a->space & b->space) != 0 && a->behind == b->behind &&
           same_id(a->has_context_id, a->context_id, b->has_context_id, b->context_id) &&
           same_id(a->has_vmid, a->vmid, b->has_vmid, b->vmid) &&
           same_id(a->has_source, a->source, b->has_source, b->source);
}

static bool seen_by(const struct pug_place *place, const struct pug_reader_space *reader)
{
    if ((place->space & reader->space) == 0)
        return false;
    if (place->has_context_id &&
        !(reader->has_context_id && reader->context_id == place->context_id))
        return false;
    if (place->has_vmid && !(reader->has_vmid && reader->vmid == place->vmid))
        return false;
    return !place->has_source || place->source == reader->source;
}

static unsigned specificity(const struct pug_place *place)
{
    return (unsigned)place->has_context_id + place->has_vmid + place->has_source;
}

void pug_image_reduce(const struct pug_image *image, struct pug_reader_space *space)
{
    bool context = false, vmid = false;
    for (size_t i = 0; i < image->count && image->in_contexts > 0; i++) {
        const struct pug_place *place = &image->accessors[i]->place;
        context |= place->has_context_id && place->context_id == space->context_id;
        vmid |= place->has_vmid && place->vmid == space->vmid;
    }
    if (image->in_spaces + image->callbacks == 0 && space->space != PUG_SPACE_NONE)
        space->space = PUG_SPACE_ANY;
    if (!context || !space->has_context_id) {
        space->has_context_id = false;
        space->context_id = 0;
    }
    if (!vmid || !space->has_vmid) {
        space->has_vmid = false;
        space->vmid = 0;
    }
}

/* ---- the index ---- */

static bool reserve_index(struct pug_image *image, size_t more)
{
    if (image->index_count + more <= image->index_capacity)
        return true;
    size_t capacity = image->index_capacity * 2 + more;
    struct pug_index_entry *index = realloc(image->index, capacity * sizeof(*index));
    if (!index)
        return false;
    image->index = index;
    image->index_capacity = capacity;
    return true;
}

/* How many entries start at or below `address`. */
static size_t index_upper(const struct pug_image *image, uint64_t address)
{
    return pug_bisect_to(image->index, image->index_count, sizeof(*image->index),
                         offsetof(struct pug_index_entry, start), address);
}

static void update_reach(struct pug_image *image, size_t from)
{
    uint64_t reach = from ? image->index[from - 1].reach : 0;
    for (size_t i = from; i < image->index_count; i++) {
        if (image->index[i].end > reach)
            reach = image->index[i].end;
        image->index[i].reach = reach;
    }
}

static struct pug_index_entry index_entry(const struct pug_accessor *accessor, size_t i)
{
    const struct pug_range *range = &accessor->ranges[i];
    return (struct pug_index_entry){
        .start = range->start, .end = range->end, .accessor = accessor, .offset = range->offset};
}

static void index_ranges(struct pug_image *image, const struct pug_accessor *accessor)
{
    for (size_t i = 0; i < accessor->count; i++) {
        size_t at = index_upper(image, accessor->ranges[i].start);
        memmove(&image->index[at + 1], &image->index[at],
                (image->index_count++ - at) * sizeof(*image->index));
        image->index[at] = index_entry(accessor, i);
        update_reach(image, at);
    }
}

static int by_start(const void *left, const void *right)
{
    const struct pug_index_entry *a = left, *b = right;
    return a->start < b->start ? -1 : a->start > b->start;
}

enum pug_status pug_image_reindex(struct pug_image *image)
{
    size_t total = 0;
    for (size_t i = 0; i < image->count; i++)
        total += image->accessors[i]->count;
    if (total > image->index_count && !reserve_index(image, total - image->index_count))
        return PUG_ERR_MEM;
    image->index_count = 0;
    for (size_t i = 0; i < image->count; i++)
        for (size_t j = 0; j < image->accessors[i]->count; j++)
            image->index[image->index_count++] = index_entry(image->accessors[i], j);
    if (total > 0)
        qsort(image->index, total, sizeof(*image->index), by_start);
    update_reach(image, 0);
    image->generation++;
    return PUG_OK;
}

/* ---- the image ---- */

/* Keep count of what is peculiar about accessors. */
static void count(struct pug_image *image, const struct pug_accessor *accessor, bool added)
{
    const struct pug_place *place = &accessor->place;
    size_t one = added ? 1 : (size_t)-1;
    if (accessor->kind == PUG_ACCESS_CALLBACK)
        image->callbacks += one;
    if (place->space != PUG_SPACE_ANY)
        image->in_spaces += one;
    if (place->has_context_id || place->has_vmid)
        image->in_contexts += one;
}

struct pug_image *pug_image_new(void)
{
    return calloc(1, sizeof(struct pug_image));
}

void pug_image_free(struct pug_image *image)
{
    if (!image)
        return;
    for (size_t i = 0; i < image->count; i++)
        pug_accessor_free(image->accessors[i]);
    pug_symbols_free(image->symbols);
    free(image->accessors);
    free(image->index);
    free(image);
}

void pug_image_set_quirks(struct pug_image *image, const struct pug_quirks *quirks)
{
    image->quirks = quirks ? *quirks : (struct pug_quirks){0};
}

uint64_t pug_image_generation(const struct pug_image *image)
{
    return image->generation;
}

static bool valid(const struct pug_image *image, const struct pug_accessor *accessor)
{
    for (size_t i = 0; i < accessor->count; i++)
        if (!pug_range_valid(image, &accessor->ranges[i]))
            return false;
    return accessor->count > 0;
}

static bool holds_end(const struct pug_accessor *accessor, const struct pug_range *range)
{
    return pug_accessor_range(accessor, range->start) || pug_accessor_range(accessor, range->end);
}

/* The reference tests a file by its region at offset 0, or by 0 to 0. */
static bool overlaps_base(const struct pug_accessor *old, const struct pug_accessor *new)
{
    static const struct pug_range nothing = {.start = 0, .end = 0};
    const struct pug_range *base = &nothing;
    for (size_t i = 0; i < new->count; i++)
        if (new->ranges[i].base)
            base = &new->ranges[i];
    return holds_end(old, base);
}

static bool overlaps(const struct pug_image *image, const struct pug_accessor *old,
                     const struct pug_accessor *new)
{
    if (image->quirks.reference_files && new->kind == PUG_ACCESS_FILE)
        return overlaps_base(old, new);
    for (size_t i = 0; i < new->count; i++)
        if (holds_end(old, &new->ranges[i]))
            return true;
    return false;
}

static bool reserve_accessor(struct pug_image *image)
{
    if (image->count < image->capacity)
        return true;
    size_t capacity = image->capacity ? image->capacity * 2 : 8;
    struct pug_accessor **accessors =
        realloc(image->accessors, capacity * sizeof(struct pug_accessor *));
    if (!accessors)
        return false;
    image->accessors = accessors;
    image->capacity = capacity;
    return true;
}

static enum pug_status check(const struct pug_image *image, const struct pug_accessor *accessor)
{
    if (!valid(image, accessor))
        return PUG_ERR_MEMORY_RANGE;
    for (size_t i = 0; i < image->count; i++)
        if (compete(&image->accessors[i]->place, &accessor->place) &&
            overlaps(image, image->accessors[i], accessor))
            return PUG_ERR_MEMORY_OVERLAP;
    return PUG_OK;
}

enum pug_status pug_image_add(struct pug_image *image, struct pug_accessor *accessor)
{
    if (accessor->place.space == PUG_SPACE_NONE && !image->quirks.reference_files)
        accessor->place.space = PUG_SPACE_ANY;
    enum pug_status status = check(image, accessor);
    if (status == PUG_OK && (!reserve_accessor(image) || !reserve_index(image, accessor->count)))
        status = PUG_ERR_MEM;
    if (status != PUG_OK) {
        pug_accessor_free(accessor);
        return status;
    }
    accessor->order = image->next_order++;
    image->accessors[image->count++] = accessor;
    count(image, accessor, true);
    index_ranges(image, accessor);
    image->generation++;
    return PUG_OK;
}

enum pug_status pug_image_add_buffer(struct pug_image *image, const struct pug_place *place,
                                     uint64_t address, const void *bytes, uint64_t size)
{
    if (!image || !bytes || size < (image->quirks.reference_files ? 4u : 1u))
        return PUG_ERR_INVALID_PARAM_VAL;
    struct pug_accessor *accessor = pug_accessor_new(PUG_ACCESS_BUFFER, place, 1);
    if (!accessor)
        return PUG_ERR_MEM;
    accessor->bytes = bytes;
    accessor->ranges[accessor->count++] =
        (struct pug_range){.start = address, .end = address + (size - 1)};
    return pug_image_add(image, accessor);
}

enum pug_status pug_image_add_callback(struct pug_image *image, const struct pug_place *place,
                                       uint64_t start, uint64_t end, pug_memory_fn *function,
                                       void *context)
{
    if (!image || !function)
        return PUG_ERR_INVALID_PARAM_VAL;
    struct pug_accessor *accessor = pug_accessor_new(PUG_ACCESS_CALLBACK, place, 1);
    if (!accessor)
        return PUG_ERR_MEM;
    accessor->function = function;
    accessor->context = context;
    accessor->ranges[accessor->count++] = (struct pug_range){.start = start, .end = end};
    return pug_image_add(image, accessor);
}

enum pug_status pug_image_remove(struct pug_image *image, uint64_t address, uint8_t space)
{
    for (size_t i = 0; image && i < image->count; i++) {
        struct pug_accessor *accessor = image->accessors[i];
        if ((accessor->place.space & space) == 0 || !pug_accessor_range(accessor, address))
            continue;
        memmove(&image->accessors[i], &image->accessors[i + 1],
                (--image->count - i) * sizeof(struct pug_accessor *));
        count(image, accessor, false);
        pug_symbols_hide(image->symbols, accessor);
        pug_accessor_free(accessor);
        return pug_image_reindex(image);
    }
    return PUG_ERR_INVALID_PARAM_VAL;
}

/* ---- reading ---- */

/* Does `a` answer before `b`? */
static bool precedes(const struct pug_accessor *a, const struct pug_accessor *b)
{
    unsigned mine = specificity(&a->place), its = specificity(&b->place);
    if (a->place.behind != b->place.behind)
        return b->place.behind;
    return mine != its ? mine > its : a->order < b->order;
}

static const struct pug_index_entry *find_entry(const struct pug_image *image,
                                                const struct pug_reader_space *space,
                                                uint64_t address, size_t upper)
{
    const struct pug_index_entry *best = NULL;
    for (size_t i = upper; i-- > 0 && image->index[i].reach >= address;) {
        const struct pug_index_entry *entry = &image->index[i];
        if (entry->end >= address && seen_by(&entry->accessor->place, space) &&
            (!best || precedes(entry->accessor, best->accessor)))
            best = entry;
    }
    return best;
}

/* The last address up to which nothing that begins later answers before `entry`. */
static uint64_t undisturbed(const struct pug_image *image, const struct pug_reader_space *space,
                            const struct pug_index_entry *entry, uint64_t last, size_t upper)
{
    for (size_t i = upper; i < image->index_count && image->index[i].start <= last; i++)
        if (seen_by(&image->index[i].accessor->place, space) &&
            precedes(image->index[i].accessor, entry->accessor))
            return image->index[i].start - 1;
    return last;
}

#define WINDOW_LIMIT 0x10000

static bool look_up(const struct pug_image *image, uint64_t address, struct pug_window *window)
{
    struct pug_image_piece piece;
    if (!image->lookup || !image->lookup(image->lookup_context, address, &piece))
        return false;
    *window = (struct pug_window){.accessor = &image->looked_up,
                                  .bytes = piece.bytes + (address - piece.first),
                                  .first = address,
                                  .last = piece.last,
                                  .end = piece.end};
    return true;
}

bool pug_image_find(const struct pug_image *image, const struct pug_reader_space *space,
                    uint64_t address, struct pug_window *window)
{
    size_t upper = index_upper(image, address);
    const struct pug_index_entry *entry = find_entry(image, space, address, upper);
    if (!entry)
        return look_up(image, address, window);
    const struct pug_accessor *accessor = entry->accessor;
    uint64_t within = address - entry->start, size = WINDOW_LIMIT;
    *window = (struct pug_window){.first = address, .end = entry->end, .accessor = accessor};
    switch (accessor->kind) {
    case PUG_ACCESS_BUFFER: window->bytes = accessor->bytes + within; break;
    case PUG_ACCESS_FILE:
        window->bytes = pug_file_piece(accessor->file, entry->offset + within, &size);
        if (size == 0)
            return false;
        break;
    case PUG_ACCESS_CALLBACK: break;
    }
    if (size - 1 > entry->end - address)
        size = entry->end - address + 1;
    window->last = undisturbed(image, space, entry, address + (size - 1), upper);
    return true;
}

const struct pug_accessor *pug_image_program(const struct pug_image *image,
                                             const struct pug_reader_space *space, uint64_t address,
                                             uint64_t *last)
{
    for (size_t i = index_upper(image, address); i-- > 0 && image->index[i].reach >= address;) {
        const struct pug_index_entry *entry = &image->index[i];
        if (entry->end < address || !entry->accessor->program ||
            !seen_by(&entry->accessor->place, space))
            continue;
        *last = entry->end;
        return entry->accessor;
    }
    return NULL;
}

bool pug_image_program_at(const struct pug_image *image, const struct pug_reader_space *space,
                          uint64_t address, struct pug_program_place *place)
{
    static const struct pug_reader_space anybody = {.space = PUG_SPACE_ANY};
    uint64_t last;
    const struct pug_accessor *accessor =
        image && place ? pug_image_program(image, space ? space : &anybody, address, &last) : NULL;
    const struct pug_range *range = accessor ? pug_accessor_range(accessor, address) : NULL;
    if (!range)
        return false;
    *place = (struct pug_program_place){.file = pug_file_path(accessor->file),
                                        .vaddr = address - accessor->bias,
                                        .offset = address - range->start + range->offset};
    return true;
}

/* The part of `wanted` bytes that one window has, or a negative status. */
static int64_t read_window(const struct pug_window *window, const struct pug_reader_space *space,
                           void *buffer, uint32_t wanted)
{
    const struct pug_accessor *accessor = window->accessor;
    uint64_t left = window->last - window->first;
    if (left < wanted - 1)
        wanted = (uint32_t)left + 1;
    if (accessor->kind != PUG_ACCESS_CALLBACK) {
        memcpy(buffer, window->bytes, wanted);
        return wanted;
    }
    uint32_t got = accessor->function(accessor->context, window->first, space, wanted, buffer);
    return got > wanted ? PUG_ERR_MEMORY_CALLBACK : (int64_t)got;
}

/* The quirk: one accessor gives it all, and a callback may go beyond its range. */
static int64_t read_one(const struct pug_image *image, const struct pug_reader_space *space,
                        uint64_t address, uint8_t *buffer, uint32_t wanted)
{
    struct pug_window window;
    const struct pug_accessor *accessor = NULL;
    uint32_t done = 0;
    while (done < wanted && pug_image_find(image, space, address + done, &window)) {
        if (accessor && window.accessor != accessor)
            break;
        accessor = window.accessor;
        const bool asks = accessor->kind == PUG_ACCESS_CALLBACK; /* it may remove itself */
        if (asks)
            window.last = UINT64_MAX;
        int64_t got = read_window(&window, space, buffer + done, wanted - done);
        if (got < 0 || asks)
            return got;
        done += (uint32_t)got;
        if (window.last == window.end)
            break;
    }
    return done;
}

int64_t pug_image_read(const struct pug_image *image, const struct pug_reader_space *space,
                       uint64_t address, void *buffer, uint32_t wanted)
{
    struct pug_window window;
    uint32_t done = 0;
    if (!image || (!buffer && wanted > 0))
        return PUG_ERR_INVALID_PARAM_VAL;
    if (image->quirks.reads_end_with_image)
        return read_one(image, space, address, buffer, wanted);
    while (done < wanted && address + done >= address &&
           pug_image_find(image, space, address + done, &window)) {
        int64_t got = read_window(&window, space, (uint8_t *)buffer + done, wanted - done);
        if (got <= 0)
            return got < 0 ? got : (int64_t)done;
        done += (uint32_t)got;
    }
    return done;
}

bool pug_image_failure(const struct pug_image *image, struct pug_read_failure *failure)
{
    for (size_t i = 0; i < image->count; i++)
        if (image->accessors[i]->file && pug_file_failure(image->accessors[i]->file, failure))
            return true;
    *failure = (struct pug_read_failure){.path = "program memory", .status = PUG_ERR_MEM};
    return pug_image_starved(image) > 0;
}

bool pug_image_range(const struct pug_image *image, size_t n, struct pug_image_range *range)
{
    static const char *const kinds[] = {"buffer", "file", "callback"};
    for (size_t i = 0; i < image->count; i++) {
        const struct pug_accessor *accessor = image->accessors[i];
        if (n >= accessor->count) {
            n -= accessor->count;
            continue;
        }
        *range = (struct pug_image_range){
            .kind = kinds[accessor->kind],
            .path = accessor->file ? pug_file_path(accessor->file) : NULL,
            .start = accessor->ranges[n].start,
            .end = accessor->ranges[n].end,
            .place = accessor->place,
            .first = n == 0,
            .offset = accessor->ranges[n].offset,
        };
        return true;
    }
    return false;
}
