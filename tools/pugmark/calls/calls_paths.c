// SPDX-License-Identifier: MIT
#include "calls_paths.h"

#include "base/hash.h"
#include "calls_lines.h"
#include "common/output.h"

#include <stdlib.h>

#define PATH_LIMIT (1u << 20)

static uint64_t hash_of(const struct call_path *path)
{
    const uint64_t hash = pug_hash_mix(pug_hash_mix(0, (uintptr_t)path->parent), path->function);
    return pug_hash_mix(hash, path->number ^ (uint64_t)path->numbers << 32 ^
                                  (uint64_t)path->exception << 40);
}

static bool is_same(const struct call_path *a, const struct call_path *b)
{
    return a->parent == b->parent && a->function == b->function && a->exception == b->exception &&
           a->number == b->number && a->numbers == b->numbers;
}

static void put_path(struct call_paths *paths, struct call_path *path)
{
    struct call_path **slot = &paths->slots[hash_of(path) & (paths->slot_count - 1)];
    path->alike = *slot;
    *slot = path;
}

/** Room for one more; without memory for more slots there are more paths to each. */
static bool make_room(struct call_paths *paths)
{
    const size_t old = paths->slots ? paths->slot_count : 0, more = old > 0 ? old * 2 : 64;
    if (paths->count >= PATH_LIMIT)
        return false;
    struct call_path **slots =
        paths->count >= old ? calloc(more, sizeof(struct call_path *)) : NULL;
    if (!slots)
        return paths->slots != NULL;
    struct call_path **from = paths->slots;
    paths->slots = slots;
    paths->slot_count = more;
    for (size_t i = 0; i < old; i++)
        for (struct call_path *path = from[i], *next; path; path = next) {
            next = path->alike;
            put_path(paths, path);
        }
    free(from);
    return true;
}

/** The path that a frame makes longer; the parent itself when there are too many. */
static struct call_path *path_of(struct call_paths *paths, struct call_path *parent,
                                 const struct pug_call_frame *frame)
{
    const struct call_path wanted = {.parent = parent,
                                     .function = frame->function.start,
                                     .name = frame->function.name,
                                     .exception = frame->in_exception,
                                     .number = frame->exception,
                                     .numbers = frame->exception_numbers};
    struct call_path *path = NULL;
    if (paths->slots)
        path = paths->slots[hash_of(&wanted) & (paths->slot_count - 1)];
    while (path && !is_same(path, &wanted))
        path = path->alike;
    if (path)
        return path;
    path = make_room(paths) ? malloc(sizeof(*path)) : NULL;
    if (!path)
        return parent;
    *path = wanted;
    path->sibling = parent->child;
    parent->child = path;
    paths->count++;
    put_path(paths, path);
    return path;
}

static void sum_up(struct call_path *path, const struct pug_call_event *event)
{
    path->calls += !event->switched;
    path->time += pug_call_time(&event->took, event->unit);
    path->own_time += pug_call_time(&event->own, event->unit);
    path->instructions += event->took.instructions;
}

void call_paths_take(struct call_paths *paths, const struct pug_call_event *event)
{
    struct call_path *parent = event->depth > 0 ? (event->frame - 1)->user : NULL;
    if (event->kind == PUG_CALL_ENTER)
        event->frame->user = path_of(paths, parent ? parent : &paths->root, event->frame);
    else if (event->kind == PUG_CALL_LEAVE && event->frame->user)
        sum_up(event->frame->user, event);
}

/* ---- lines ---- */

static int by_time(const void *a, const void *b)
{
    const struct call_path *x = *(struct call_path *const *)a, *y = *(struct call_path *const *)b;
    uint64_t left = x->time ? x->time : x->instructions;
    uint64_t right = y->time ? y->time : y->instructions;
    if (left != right)
        return left < right ? 1 : -1;
    return x->function < y->function ? -1 : x->function > y->function;
}

/** The children of a path, sorted by their time; the first one. */
static struct call_path *sort_children(struct call_paths *paths, struct call_path *parent)
{
    size_t count = 0;
    for (const struct call_path *path = parent->child; path; path = path->sibling)
        count++;
    if (count <= 1)
        return parent->child;
    struct call_path **sorted = calloc(count, sizeof(struct call_path *));
    paths->failed |= !sorted;
    if (!sorted)
        return parent->child;
    count = 0;
    for (struct call_path *path = parent->child; path; path = path->sibling)
        sorted[count++] = path;
    qsort(sorted, count, sizeof(*sorted), by_time);
    parent->child = sorted[0];
    for (size_t i = 0; i < count; i++)
        sorted[i]->sibling = i + 1 < count ? sorted[i + 1] : NULL;
    free(sorted);
    return parent->child;
}

static void print_path(const struct call_path *path, const char *label, bool timed, uint32_t depth)
{
    output_text("  %s", label);
    calls_put_number(true, path->calls);
    calls_put_number(timed, path->time);
    calls_put_number(timed, path->own_time);
    calls_put_number(true, path->instructions);
    calls_put_indent(depth);
    if (path->exception)
        calls_put_exception(path->numbers, path->number);
    calls_put_function(path->name, path->function);
    output_text("\n");
}

bool call_paths_print(struct call_paths *paths, const char *label, enum pug_time_unit unit)
{
    struct call_path *const root = &paths->root;
    struct call_path *path = sort_children(paths, root);
    uint32_t depth = 0;
    while (path) {
        print_path(path, label, unit != PUG_TIME_NONE, depth);
        struct call_path *next = sort_children(paths, path);
        for (depth++; path != root && !next; depth--) {
            struct call_path *const done = path;
            next = done->sibling;
            path = done->parent;
            free(done);
        }
        path = next;
    }
    free(paths->slots);
    return !paths->failed;
}
