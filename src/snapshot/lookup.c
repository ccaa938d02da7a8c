// SPDX-License-Identifier: MIT
/**
 * @file What is found by name, in lists that are put in order once: a snapshot may have thousands
 * of devices, buffers and associations, and each is asked for by the others.
 */
#include "snapshot/snapshot.h"

#include <stdlib.h>
#include <string.h>

/* ---- lists in order ---- */

static int by_device(const void *left, const void *right)
{
    const struct device *const *a = left, *const *b = right;
    return strcmp((*a)->public.name, (*b)->public.name);
}

static int by_buffer(const void *left, const void *right)
{
    const struct buffer *const *a = left, *const *b = right;
    const int order = strcmp((*a)->public.name, (*b)->public.name);
    return order ? order : ((*a)->number > (*b)->number) - ((*a)->number < (*b)->number);
}

static int by_place(const struct pair *a, const struct pair *b)
{
    return (a > b) - (a < b);
}

static int by_source(const void *left, const void *right)
{
    const struct pair *const *a = left, *const *b = right;
    const int order = strcmp((*a)->key, (*b)->key);
    return order ? order : by_place(*a, *b);
}

static int by_core(const void *left, const void *right)
{
    const struct pair *const *a = left, *const *b = right;
    const int order = strcmp((*a)->value, (*b)->value);
    return order ? order : by_place(*a, *b);
}

/** Pointers in order; they are those in a list, or to what is in it (`size` > 0). */
static bool put_in_order(struct list *ordered, const struct list *all, size_t size,
                         int (*order)(const void *, const void *))
{
    free(ordered->items);
    *ordered = (struct list){.items = NULL};
    for (size_t i = 0; i < all->count; i++)
        if (!pug_snapshot_list_add_pointer(ordered, size > 0 ? (char *)all->items + i * size
                                                             : ((void **)all->items)[i]))
            return false;
    if (ordered->count > 0)
        qsort(ordered->items, ordered->count, sizeof(void *), order);
    return true;
}

/** How many of the ordered are before what is looked for; `before` says whether one is. */
static size_t count_before(const struct list *ordered,
                           bool (*before)(const void *item, const void *wanted), const void *wanted)
{
    void *const *items = ordered->items;
    size_t low = 0, high = ordered->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (before(items[middle], wanted))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/** The first that is not before what is looked for, or NULL. */
static const void *find(const struct list *ordered,
                        bool (*before)(const void *item, const void *wanted), const void *wanted)
{
    const size_t n = count_before(ordered, before, wanted);
    return n < ordered->count ? ((void *const *)ordered->items)[n] : NULL;
}

/* ---- devices ---- */

static bool device_before(const void *item, const void *wanted)
{
    return strcmp(((const struct device *)item)->public.name, wanted) < 0;
}

const struct pug_snapshot_device *pug_snapshot_device(const struct pug_snapshot *snapshot,
                                                      const char *name)
{
    const struct device *device = find(&snapshot->devices_by_name, device_before, name);
    return device && strcmp(device->public.name, name) == 0 ? &device->public : NULL;
}

/* ---- cores and their sources ---- */

/** A source's name, or a location after `@`. */
struct key {
    bool location;
    const char *text;
};

static int compare_key(const char *key, const struct key *wanted)
{
    if (!wanted->location)
        return strcmp(key, wanted->text);
    return *key == '@' ? strcmp(key + 1, wanted->text) : (unsigned char)*key < '@' ? -1 : 1;
}

static bool source_before(const void *item, const void *wanted)
{
    return compare_key(((const struct pair *)item)->key, wanted) < 0;
}

static bool core_before(const void *item, const void *wanted)
{
    return strcmp(((const struct pair *)item)->value, wanted) < 0;
}

/** The first association of a source, or NULL. */
static const struct pair *find_source(const struct pug_snapshot *snapshot, struct key key)
{
    const struct pair *pair = find(&snapshot->cores_by_source, source_before, &key);
    return pair && compare_key(pair->key, &key) == 0 ? pair : NULL;
}

const char *pug_snapshot_core_of(const struct pug_snapshot *snapshot, const char *name,
                                 const struct pug_snapshot_device *device)
{
    const struct pair *named = find_source(snapshot, (struct key){.text = name}), *placed = NULL;
    if (pug_snapshot_is_native(snapshot) && device && *device->location)
        placed = find_source(snapshot, (struct key){.location = true, .text = device->location});
    const struct pair *first = !named || (placed && placed < named) ? placed : named;
    return first ? first->value : NULL;
}

bool pug_snapshot_is_traced(const struct pug_snapshot *snapshot, const char *core)
{
    const struct pair *pair = find(&snapshot->cores_by_name, core_before, core);
    return pair && strcmp(pair->value, core) == 0;
}

/* ---- buffers and their sources ---- */

/** A name that is a part of a longer text. */
struct piece {
    const char *text;
    size_t length;
};

static int compare_piece(const char *name, const struct piece *piece)
{
    const int order = strncmp(name, piece->text, piece->length);
    return order ? order : name[piece->length] != 0;
}

static bool buffer_before(const void *item, const void *wanted)
{
    return compare_piece(((const struct buffer *)item)->public.name, wanted) < 0;
}

/** Buffers of a name; a snapshot that is not native may have several. */
static bool visit_named(const struct pug_snapshot *snapshot, const struct piece *piece,
                        bool (*visit)(void *context, struct buffer *buffer), void *context,
                        size_t *count)
{
    struct buffer *const *buffers = snapshot->buffers_by_name.items;
    size_t n = count_before(&snapshot->buffers_by_name, buffer_before, piece);
    for (;
         n < snapshot->buffers_by_name.count && compare_piece(buffers[n]->public.name, piece) == 0;
         n++) {
        ++*count;
        if (!visit(context, buffers[n]))
            return false;
    }
    return true;
}

/**
 * The buffers that a value names: as one name, or else as several with commas between. False: it
 * was stopped. *count: how many there are.
 */
static bool visit_buffers(const struct pug_snapshot *snapshot, const char *value,
                          bool (*visit)(void *context, struct buffer *buffer), void *context,
                          size_t *count)
{
    static const char blanks[] = " \t";
    struct piece piece = {value, strlen(value)};
    *count = 0;
    if (!visit_named(snapshot, &piece, visit, context, count))
        return false;
    if (*count > 0 || !pug_snapshot_is_native(snapshot))
        return true;
    while (*value) {
        value += strspn(value, blanks);
        const size_t length = strcspn(value, ",");
        piece = (struct piece){value, length};
        while (piece.length > 0 && strchr(blanks, value[piece.length - 1]))
            piece.length--;
        if (!visit_named(snapshot, &piece, visit, context, count))
            return false;
        value += length + (value[length] == ',');
    }
    return true;
}

static bool go_on(void *context, struct buffer *buffer)
{
    (void)context;
    (void)buffer;
    return true;
}

bool pug_snapshot_names_buffer(const struct pug_snapshot *snapshot, const char *value)
{
    size_t count;
    (void)visit_buffers(snapshot, value, go_on, NULL, &count);
    return count > 0;
}

/** The effect of an association on the buffers that it names. */
struct association {
    struct pair *pair;
    uint32_t place;
};

static bool join(void *context, struct buffer *buffer)
{
    const struct association *association = context;
    const uint32_t *places = buffer->sources.items;
    if (buffer->sources.count > 0 && places[buffer->sources.count - 1] == association->place)
        return true; /* it names the buffer twice */
    uint32_t *place = pug_snapshot_list_add(&buffer->sources, sizeof(*place));
    if (!place)
        return false;
    *place = association->place;
    if (association->pair->first_buffer == UINT32_MAX)
        association->pair->first_buffer = buffer->number;
    return true;
}

/**
 * Does the next pair say where the source's first stream is? Then this one, of all of it, does not.
 */
static bool is_overruled(const struct pair *pair, const struct pair *next)
{
    return pair->stream == WHOLE_SOURCE && next && next->stream == 0 &&
           strcmp(pair->key, next->key) == 0;
}

/** Each buffer has its sources, in their order. */
static bool associate(struct pug_snapshot *snapshot)
{
    struct pair *pairs = snapshot->source_buffers.items;
    const size_t count = snapshot->source_buffers.count;
    for (size_t i = 0; i < count; i++) {
        struct association association = {&pairs[i], (uint32_t)i};
        size_t named;
        pairs[i].first_buffer = UINT32_MAX;
        if (!is_overruled(&pairs[i], i + 1 < count ? &pairs[i + 1] : NULL) &&
            !visit_buffers(snapshot, pairs[i].value, join, &association, &named))
            return false;
    }
    return true;
}

/* ---- when all is read ---- */

bool pug_snapshot_order_buffers(struct pug_snapshot *snapshot)
{
    return put_in_order(&snapshot->buffers_by_name, &snapshot->buffers, 0, by_buffer);
}

enum pug_status pug_snapshot_order(struct pug_snapshot *snapshot)
{
    const bool good = put_in_order(&snapshot->devices_by_name, &snapshot->devices, 0, by_device) &&
                      put_in_order(&snapshot->cores_by_source, &snapshot->core_sources,
                                   sizeof(struct pair), by_source) &&
                      put_in_order(&snapshot->cores_by_name, &snapshot->core_sources,
                                   sizeof(struct pair), by_core) &&
                      pug_snapshot_order_buffers(snapshot) && associate(snapshot);
    return good ? PUG_OK : PUG_ERR_MEM;
}

void pug_snapshot_order_free(struct pug_snapshot *snapshot)
{
    free(snapshot->devices_by_name.items);
    free(snapshot->buffers_by_name.items);
    free(snapshot->cores_by_source.items);
    free(snapshot->cores_by_name.items);
}
