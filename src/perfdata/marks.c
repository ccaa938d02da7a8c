// SPDX-License-Identifier: MIT
/** @file The timestamps of a stretch, read before it is decoded: they stand behind what they date.
 */
#include "base/bisect.h"
#include "perfdata/perfdata.h"
#include "tree/tree_internal.h"

#include <stdlib.h>
#include <string.h>

#define ROOM  256u
#define BLOCK ((size_t)256 << 10)

struct mark {
    uint64_t index, time;
};

/** One source's. */
struct list {
    struct pug_mark_list raw; /* first: what its reader fills */
    struct pug_placed_mark room[ROOM];
    struct pug_list marks; /* struct mark */
    uint16_t id;
};

struct pug_perf_marks {
    struct pug_perf *perf;
    struct pug_tree *tree;
    uint32_t lineup; /* of the tree */
    struct list *lists;
    size_t count;
    bool single; /* there is one source, whatever its id */
    uint8_t *block;
};

struct pug_perf_marks *pug_perf_marks_new(struct pug_perf *perf)
{
    struct pug_perf_marks *marks = calloc(1, sizeof(*marks));
    if (!marks)
        return NULL;
    marks->perf = perf;
    marks->block = malloc(BLOCK);
    if (marks->block)
        return marks;
    free(marks);
    return NULL;
}

static void drop_tree(struct pug_perf_marks *marks)
{
    pug_tree_free(marks->tree);
    for (size_t i = 0; i < marks->count; i++)
        free(marks->lists[i].marks.items);
    free(marks->lists);
    marks->tree = NULL;
    marks->lists = NULL;
    marks->count = 0;
}

void pug_perf_marks_free(struct pug_perf_marks *marks)
{
    if (!marks)
        return;
    drop_tree(marks);
    free(marks->block);
    free(marks);
}

/** Times that do not change say nothing new. */
static void take(struct pug_mark_list *raw)
{
    struct list *list = (struct list *)raw;
    for (uint32_t i = 0; i < raw->count; i++) {
        if (raw->marks[i].kind != PUG_MARK_TIMESTAMP)
            continue;
        struct mark *mark = pug_list_add(&list->marks, sizeof(*mark));
        if (mark)
            *mark = (struct mark){raw->marks[i].index, raw->marks[i].value};
    }
    raw->count = 0;
}

static bool make_tree(struct pug_perf_marks *marks, uint32_t lineup)
{
    drop_tree(marks);
    if (pug_perf_tree(marks->perf, lineup, false, NULL, &marks->tree) != PUG_OK)
        return false;
    marks->lineup = lineup;
    marks->single = pug_tree_transport(marks->tree)->single;
    while (pug_tree_source_at(marks->tree, marks->count))
        marks->count++;
    marks->lists = calloc(marks->count + 1, sizeof(*marks->lists));
    for (size_t i = 0; marks->lists && i < marks->count; i++) {
        struct list *list = &marks->lists[i];
        list->id = pug_source_id(pug_tree_source_at(marks->tree, i));
        list->raw = (struct pug_mark_list){.marks = list->room, .room = ROOM, .full = take};
        pug_source_marks(pug_tree_source_at(marks->tree, i), &list->raw);
    }
    return marks->lists != NULL;
}

static void feed(struct pug_perf_marks *marks, uint32_t stretch)
{
    const struct pug_capture *capture = marks->perf->capture;
    const struct pug_capture_stretch *place = &pug_capture_stretches(capture)[stretch];
    enum pug_response response = PUG_RESP_CONT;
    enum pug_status status;
    for (uint64_t at = 0; at < place->size && !PUG_RESP_IS_FATAL(response);) {
        const size_t got = pug_capture_bytes(capture, stretch, at, marks->block, BLOCK, &status);
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

void pug_perf_marks_read(struct pug_perf_marks *marks, uint32_t stretch)
{
    const struct pug_perf_cut *cut = (const struct pug_perf_cut *)marks->perf->cuts.items + stretch;
    const bool good = marks->tree && marks->lineup == cut->lineup
                          ? pug_tree_renew(marks->tree) == PUG_OK
                          : make_tree(marks, cut->lineup);
    for (size_t i = 0; i < marks->count; i++)
        marks->lists[i].marks.count = marks->lists[i].raw.count = 0;
    if (!good)
        return;
    feed(marks, stretch);
    for (size_t i = 0; i < marks->count; i++)
        take(&marks->lists[i].raw);
}

bool pug_perf_marks_time(const struct pug_perf_marks *marks, uint16_t source, uint64_t index,
                         uint64_t *time)
{
    const struct list *list = NULL;
    for (size_t i = 0; i < marks->count && !list; i++)
        if (marks->single || marks->lists[i].id == source)
            list = &marks->lists[i];
    if (!list || list->marks.count == 0)
        return false;
    const struct mark *all = list->marks.items;
    const size_t low =
        pug_bisect_below(all, list->marks.count, sizeof(*all), offsetof(struct mark, index), index);
    *time = all[low < list->marks.count ? low : low - 1].time;
    return true;
}
