// SPDX-License-Identifier: MIT
/**
 * @file The timestamps of a segment, read before it is decoded: they follow what they date.
 */
#include "capture/marks.h"
#include "base/bisect.h"
#include "tree/embed.h"

#include <stdlib.h>

#define ROOM  256u
#define BLOCK ((size_t)256 << 10)

/* Times of a source that are kept; of more than these every second one is. */
#define MOST ((size_t)1 << 20)

struct mark {
    uint64_t index, time;
};

/** One source's. */
struct list {
    struct pug_mark_list raw; /* first: what its reader fills */
    struct pug_placed_mark room[ROOM];
    struct pug_list marks; /* struct mark */
    uint64_t now;
    uint64_t step, skipped; /* one of so many is kept */
    uint16_t id;
    struct pug_capture *capture;
    bool local; /* its steps count another clock than its timestamps: this one */
    struct pug_swo_clock clock;
};

struct pug_capture_marks {
    struct pug_capture *capture;
    struct pug_tree *tree;
    uint32_t kind; /* of the tree */
    struct list *lists;
    size_t count;
    bool single; /* there is one source, whatever its id */
    uint8_t *block;
};

struct pug_capture_marks *pug_capture_marks_new(struct pug_capture *capture)
{
    struct pug_capture_marks *marks = calloc(1, sizeof(*marks));
    if (marks)
        marks->capture = capture;
    else
        capture->starved = true;
    return marks;
}

static void drop_tree(struct pug_capture_marks *marks)
{
    pug_tree_free(marks->tree);
    for (size_t i = 0; i < marks->count; i++)
        free(marks->lists[i].marks.items);
    free(marks->lists);
    marks->tree = NULL;
    marks->lists = NULL;
    marks->count = 0;
}

void pug_capture_marks_free(struct pug_capture_marks *marks)
{
    if (!marks)
        return;
    drop_tree(marks);
    free(marks->block);
    free(marks);
}

/** Every second one of what is kept. */
static void thin(struct list *list)
{
    struct mark *marks = list->marks.items;
    size_t kept = 0;
    for (size_t i = 1; i < list->marks.count; i += 2)
        marks[kept++] = marks[i];
    list->marks.count = kept;
    list->step *= 2;
}

static void keep(struct list *list, uint64_t index, uint64_t time)
{
    struct mark *last = list->marks.items;
    last = list->marks.count > 0 ? last + list->marks.count - 1 : NULL;
    if (last && time < last->time)
        time = last->time; /* it never goes back */
    if (++list->skipped < list->step)
        return;
    list->skipped = 0;
    struct mark *mark = pug_list_add(&list->marks, sizeof(*mark));
    if (mark)
        *mark = (struct mark){index, time};
    else
        list->capture->starved = true;
    if (list->marks.count >= MOST)
        thin(list);
}

/** False: the mark has no time. */
static bool take_local(struct list *list, const struct pug_placed_mark *mark)
{
    bool restarts = false;
    const bool told = mark->kind == PUG_MARK_TIME_STEP
                          ? pug_swo_clock_step(&list->clock, mark->value, &list->now)
                          : pug_swo_clock_anchor(&list->clock, mark->value, &list->now, &restarts);
    if (restarts)
        list->marks.count = 0;
    return told;
}

static void take_mark(struct list *list, const struct pug_placed_mark *mark)
{
    const bool step = mark->kind == PUG_MARK_TIME_STEP;
    if (!step && mark->kind != PUG_MARK_TIMESTAMP)
        return;
    if (list->local && !take_local(list, mark))
        return;
    if (!list->local)
        list->now = step ? list->now + mark->value : mark->value;
    keep(list, mark->index, list->now);
}

static void take(struct pug_mark_list *raw)
{
    struct list *list = (struct list *)raw;
    for (uint32_t i = 0; i < raw->count; i++)
        take_mark(list, &raw->marks[i]);
    raw->count = 0;
}

static bool make_tree(struct pug_capture_marks *marks, uint32_t segment)
{
    struct pug_capture *capture = marks->capture;
    drop_tree(marks);
    const enum pug_status status = capture->ops->tree(capture, segment, false, NULL, &marks->tree);
    capture->starved |= status == PUG_ERR_MEM;
    if (status != PUG_OK)
        return false;
    marks->kind = pug_capture_tree_kind(capture, segment);
    marks->single = pug_tree_transport(marks->tree)->single;
    while (pug_tree_source_at(marks->tree, marks->count))
        marks->count++;
    marks->lists = calloc(marks->count + 1, sizeof(*marks->lists));
    if (!marks->lists)
        marks->count = 0;
    capture->starved |= !marks->lists;
    for (size_t i = 0; i < marks->count; i++) {
        struct pug_source *source = pug_tree_source_at(marks->tree, i);
        struct list *list = &marks->lists[i];
        list->id = pug_source_id(source);
        list->capture = capture;
        const struct pug_description *has = pug_source_protocol(source)->description;
        list->local = has && has->steps_apart;
        list->raw = (struct pug_mark_list){.marks = list->room, .room = ROOM, .full = take};
        pug_source_marks(source, &list->raw);
    }
    return marks->lists != NULL;
}

static void feed(struct pug_capture_marks *marks, uint32_t segment)
{
    const struct pug_capture *capture = marks->capture;
    const struct pug_capture_segment *place = &pug_capture_segments(capture)[segment];
    enum pug_response response = PUG_RESP_CONT;
    enum pug_status status;
    for (uint64_t at = 0; at < place->size && !PUG_RESP_IS_FATAL(response);) {
        const size_t got = pug_capture_bytes(capture, segment, at, marks->block, BLOCK, &status);
        size_t used = 0;
        for (size_t done = 0; done < got && !PUG_RESP_IS_FATAL(response); done += used) {
            response = pug_tree_data(marks->tree, place->offset + at + done, marks->block + done,
                                     got - done, &used);
            if (used == 0)
                break;
        }
        if (got == 0)
            break;
        at += got;
    }
    (void)pug_tree_end(marks->tree);
}

/** Opens what a segment is read with; false: it is empty. */
static bool begin_reading(struct pug_capture_marks *marks, uint32_t segment)
{
    const bool good = marks->tree && marks->kind == pug_capture_tree_kind(marks->capture, segment)
                          ? pug_tree_renew(marks->tree) == PUG_OK
                          : make_tree(marks, segment);
    for (size_t i = 0; i < marks->count; i++) {
        struct list *list = &marks->lists[i];
        list->marks.count = list->raw.count = 0;
        list->now = list->skipped = 0;
        list->step = 1;
        list->clock = (struct pug_swo_clock){.local_hertz = marks->capture->local_hertz,
                                             .global_hertz = marks->capture->global_hertz};
    }
    if (!marks->block)
        marks->block = malloc(BLOCK);
    marks->capture->starved |= !marks->block;
    return good && marks->block;
}

void pug_capture_marks_read(struct pug_capture_marks *marks, uint32_t segment)
{
    if (!begin_reading(marks, segment))
        return;
    feed(marks, segment);
    for (size_t i = 0; i < marks->count; i++)
        take(&marks->lists[i].raw);
}

bool pug_capture_marks_first(const struct pug_capture_marks *marks, uint64_t *time)
{
    bool any = false;
    for (size_t i = 0; i < marks->count; i++) {
        const struct mark *first = marks->lists[i].marks.items;
        if (marks->lists[i].marks.count == 0 || (any && first->time >= *time))
            continue;
        *time = first->time;
        any = true;
    }
    return any;
}

void pug_capture_marks_move(struct pug_capture_marks *marks, struct pug_capture_marks *from)
{
    size_t any = 0;
    drop_tree(marks);
    marks->single = from->single;
    for (size_t i = 0; i < from->count; i++)
        any += from->lists[i].marks.count > 0;
    marks->lists = calloc(any + 1, sizeof(*marks->lists));
    marks->capture->starved |= !marks->lists;
    for (size_t i = 0; i < from->count && marks->lists; i++) {
        struct list *list = &from->lists[i];
        if (list->marks.count == 0)
            continue;
        marks->lists[marks->count++] = (struct list){.marks = list->marks, .id = list->id};
        list->marks = (struct pug_list){0};
    }
}

static const struct list *list_of(const struct pug_capture_marks *marks, uint16_t source)
{
    for (size_t i = 0; i < marks->count; i++)
        if (marks->single || marks->lists[i].id == source)
            return &marks->lists[i];
    return NULL;
}

bool pug_capture_marks_since(const struct pug_capture_marks *marks, uint32_t source, uint64_t time,
                             struct pug_capture_mark *mark)
{
    bool any = false;
    for (size_t i = 0; i < marks->count; i++) {
        const struct list *list = &marks->lists[i];
        const struct mark *all = list->marks.items;
        const size_t low = pug_bisect_below(all, list->marks.count, sizeof(*all),
                                            offsetof(struct mark, time), time);
        if ((source != UINT32_MAX && !marks->single && list->id != source) ||
            low == list->marks.count || (any && all[low].index >= mark->index))
            continue;
        *mark = (struct pug_capture_mark){all[low].index, all[low].time, list->id};
        any = true;
    }
    return any;
}

bool pug_capture_marks_anchored(const struct pug_capture_marks *marks, uint16_t source)
{
    const struct list *list = list_of(marks, source);
    return list && list->local && list->clock.anchored;
}

bool pug_capture_marks_time(const struct pug_capture_marks *marks, uint16_t source, uint64_t index,
                            uint64_t *time, uint64_t *until)
{
    const struct list *list = list_of(marks, source);
    if (!list || list->marks.count == 0)
        return false;
    const struct mark *all = list->marks.items;
    const size_t low =
        pug_bisect_below(all, list->marks.count, sizeof(*all), offsetof(struct mark, index), index);
    const bool behind = low == list->marks.count;
    *time = all[behind ? low - 1 : low].time;
    *until = behind ? UINT64_MAX : all[low].index;
    return true;
}
