// SPDX-License-Identifier: MIT
#include "support/perf_heard.h"
#include "pugmark/advanced/consumer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct part {
    struct perf_heard *heard;
    struct perf_heard own;
};

static void *begin(void *context, unsigned worker, struct pug_piece *piece)
{
    struct part *part = calloc(1, sizeof(*part));
    (void)worker;
    (void)piece;
    assert_non_null(part);
    part->heard = context;
    return part;
}

static void *more(void *items, size_t *room, size_t count, size_t size)
{
    if (count < *room)
        return items;
    *room = *room * 2 + 64;
    items = realloc(items, *room * size);
    assert_non_null(items);
    return items;
}

static void add_range(struct part *part, const struct pug_origin *origin,
                      const struct pug_element *range)
{
    struct perf_heard *own = &part->own;
    struct pug_location place;
    own->ranges++;
    own->places += pug_capture_locate(part->heard->capture, origin, range->start, &place) &&
                   place.first <= range->start && range->start <= place.last;
    for (uint32_t i = 0; i < range->count; i++) {
        own->pcs = more(own->pcs, &own->room, own->count, sizeof(*own->pcs));
        own->pcs[own->count++] = range->start + 4 * (uint64_t)i;
    }
}

static void elements(void *context, const struct pug_origin *origin,
                     const struct pug_element *given, size_t count)
{
    struct part *part = context;
    struct perf_heard *own = &part->own;
    const struct pug_capture_task *task =
        origin->task == PUG_NO_TASK ? NULL
                                    : pug_capture_task_at(part->heard->capture, origin->task);
    struct perf_heard_slice slice = {
        .tid = task ? task->tid : -1, .time = origin->time, .from = own->count};
    for (size_t i = 0; i < count; i++)
        if (given[i].type == PUG_ELEM_INSTR_RANGE)
            add_range(part, origin, &given[i]);
    slice.count = own->count - slice.from;
    own->slices = more(own->slices, &own->slice_room, own->slice_count, sizeof(*own->slices));
    own->slices[own->slice_count++] = slice;
}

static void drop(void *context)
{
    struct part *part = context;
    free(part->own.pcs);
    free(part->own.slices);
    free(part);
}

static bool take(void *context, void *taken)
{
    struct perf_heard *heard = context;
    struct part *part = taken;
    for (size_t i = 0; i < part->own.slice_count; i++) {
        struct perf_heard_slice slice = part->own.slices[i];
        slice.from += heard->count;
        slice.number = heard->slice_count;
        slice.time = heard->as_given ? 0 : slice.time;
        heard->slices =
            more(heard->slices, &heard->slice_room, heard->slice_count, sizeof(*heard->slices));
        heard->slices[heard->slice_count++] = slice;
    }
    for (size_t i = 0; i < part->own.count; i++) {
        heard->pcs = more(heard->pcs, &heard->room, heard->count, sizeof(*heard->pcs));
        heard->pcs[heard->count++] = part->own.pcs[i];
    }
    heard->ranges += part->own.ranges;
    heard->places += part->own.places;
    drop(part);
    return true;
}

static int by_thread_and_time(const void *left, const void *right)
{
    const struct perf_heard_slice *a = left, *b = right;
    if (a->tid != b->tid)
        return a->tid < b->tid ? -1 : 1;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

static void listen(struct pug_capture_decode config, uint32_t wants, struct perf_heard *heard)
{
    struct pug_capture_result result;
    const struct pug_consumer consumer = {.context = heard,
                                          .wants = PUG_WANTS_TIMES | wants,
                                          .begin = begin,
                                          .elements = elements,
                                          .take = take,
                                          .drop = drop};
    config.consumers = &consumer;
    config.consumer_count = 1;
    config.piece = 4096;
    assert_int_equal(pug_capture_decode(heard->capture, &config, &result), PUG_OK);
    assert_false(result.ended);
    heard->bytes = result.bytes;
    if (heard->slice_count > 0)
        qsort(heard->slices, heard->slice_count, sizeof(*heard->slices), by_thread_and_time);
}

void perf_heard_listen(struct pug_capture *capture, unsigned threads,
                       const struct pug_capture_selection *selection, struct perf_heard *heard)
{
    *heard = (struct perf_heard){.capture = capture};
    listen((struct pug_capture_decode){.threads = threads, .selection = selection}, 0, heard);
}

void perf_heard_listen_by_time(struct pug_capture *capture, bool each_time,
                               const struct pug_capture_selection *selection,
                               struct perf_heard *heard)
{
    *heard = (struct perf_heard){.capture = capture, .as_given = true};
    listen((struct pug_capture_decode){.threads = 1, .selection = selection},
           PUG_WANTS_BY_TIME | (each_time ? PUG_WANTS_EACH_TIME : 0u), heard);
}

void perf_heard_free(struct perf_heard *heard)
{
    free(heard->pcs);
    free(heard->slices);
}

void perf_heard_check(const struct perf_heard *heard, const struct perf_story_path *path)
{
    size_t at = 0;
    for (size_t i = 0; i < heard->slice_count; i++) {
        const struct perf_heard_slice *slice = &heard->slices[i];
        for (size_t n = 0; slice->tid == path->tid && n < slice->count; n++, at++) {
            assert_true(at < path->count);
            assert_int_equal(heard->pcs[slice->from + n], path->pcs[at]);
        }
    }
    assert_int_equal(at, path->count);
}

void perf_heard_check_all(const struct perf_heard *heard, const struct perf_story *story)
{
    size_t count = 0;
    for (size_t i = 0; i < story->path_count; i++) {
        perf_heard_check(heard, &story->paths[i]);
        count += story->paths[i].count;
    }
    assert_int_equal(heard->count, count);
    assert_int_equal(heard->ranges, heard->places);
}

struct pug_capture *perf_heard_open(struct perf_story *story, struct pug_log *log)
{
    struct pug_capture *capture;
    const struct pug_capture_options options = {.log = log,
                                                .roots = {.symfs = story->folder, .build_ids = ""}};
    assert_int_equal(pug_capture_open(perf_story_write(story), &options, &capture), PUG_OK);
    return capture;
}
