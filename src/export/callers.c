// SPDX-License-Identifier: MIT
/**
 * @file Where in its parent's function each frame was entered. A call says it. A tail call is made
 * by a function that is no parent: it took the place of one that was entered at the same time, and
 * so was entered where that one was. An exception happened somewhere.
 */
#include "export/export.h"

#include "base/bisect.h"

#include <stdlib.h>

#define NONE   PUG_PROFILE_NONE
#define ROUNDS 16u /* tail calls in a row that are followed */

/* The knowledge of a place; the later ones know less. */
enum known { NOT_YET, AT_PLACE, SOMEWHERE };

struct spot {
    enum known known;
    uint32_t object;
    uint64_t vaddr;
};

/* Frames of one parent and function are one group, which the first of them stands for. */
struct callers {
    const struct exporter *exporter;
    const struct pug_profile_frame *frames;
    struct export_sites sites;
    struct spot *spots, *groups;
    uint32_t *group, *source; /* source: the group that a tail call came from */
};

static bool same_group(const struct pug_profile_frame *a, const struct pug_profile_frame *b)
{
    return a->parent == b->parent && a->task == b->task && a->object == b->object &&
           a->function == b->function;
}

/* Do two addresses of an object lie in one function? Nobody knows how far one without a name goes.
 */
static bool same_function(const struct exporter *exporter, uint32_t object, uint64_t a, uint64_t b)
{
    struct export_function_name left, right;
    pug_export_function(exporter, object, a, &left);
    pug_export_function(exporter, object, b, &right);
    return left.known == right.known && (!left.known || left.start == right.start);
}

/* Frames, and one that others of the same parent may have jumped to. */
struct tail {
    const struct pug_profile_frame *frames, *frame;
};

/* Does a frame's function, in the order of those of one parent, come after the site of the tail
 * call? */
static uint64_t is_behind(const void *context, uint64_t at)
{
    const struct pug_profile_frame *tail = ((const struct tail *)context)->frame;
    const struct pug_profile_frame *frame = &((const struct tail *)context)->frames[at];
    if (frame->task != tail->task)
        return frame->task > tail->task;
    if (frame->object != tail->site_object)
        return frame->object > tail->site_object;
    return frame->function > tail->site;
}

/* Of the frames from `low` to `high`, the group that jumped to a frame; NONE: it is not there. */
static uint32_t find_source(const struct callers *all, uint32_t low, uint32_t high, uint32_t at)
{
    const struct pug_profile_frame *tail = &all->frames[at];
    const struct tail context = {all->frames, tail};
    const uint64_t behind = pug_bisect_value(low, high, 1, is_behind, &context);
    const struct pug_profile_frame *frame = behind > low ? &all->frames[behind - 1] : NULL;
    return frame && frame->task == tail->task && frame->object == tail->site_object &&
                   same_function(all->exporter, frame->object, frame->function, tail->site)
               ? all->group[behind - 1]
               : NONE;
}

static bool is_in_parent(const struct callers *all, const struct pug_profile_frame *frame)
{
    const struct pug_profile_frame *parent = &all->frames[frame->parent];
    return parent->object == frame->site_object &&
           same_function(all->exporter, parent->object, parent->function, frame->site);
}

/* Take a frame's own information. */
static void look_at(struct callers *all, uint32_t low, uint32_t high, uint32_t at)
{
    const struct pug_profile_frame *frame = &all->frames[at];
    const bool has_site = frame->site_object != NONE;
    const bool called =
        has_site && pug_export_is_call(&all->sites, frame->site_object, frame->site);
    all->source[at] = has_site && !called ? find_source(all, low, high, at) : NONE;
    if (all->source[at] != NONE)
        return;
    all->spots[at] = called || (has_site && is_in_parent(all, frame))
                         ? (struct spot){AT_PLACE, frame->site_object, frame->site}
                         : (struct spot){.known = SOMEWHERE};
}

/* True: less is known than before. */
static bool join(struct spot *spot, const struct spot *other)
{
    const enum known before = spot->known;
    if (before == NOT_YET)
        *spot = *other;
    else if (other->known == SOMEWHERE ||
             (other->known == AT_PLACE &&
              (other->object != spot->object || other->vaddr != spot->vaddr)))
        spot->known = SOMEWHERE;
    return spot->known != before;
}

/* Frames of one parent. */
static void take_siblings(struct callers *all, uint32_t low, uint32_t high)
{
    bool changed = true;
    for (uint32_t i = low; i < high; i++)
        all->group[i] =
            i > low && same_group(&all->frames[i - 1], &all->frames[i]) ? all->group[i - 1] : i;
    for (uint32_t i = low; i < high; i++)
        look_at(all, low, high, i);
    for (unsigned round = 0; round < ROUNDS && changed; round++) {
        changed = false;
        for (uint32_t i = low; i < high; i++)
            join(&all->groups[all->group[i]], &all->spots[i]);
        for (uint32_t i = low; i < high; i++)
            if (all->source[i] != NONE)
                changed |= join(&all->spots[i], &all->groups[all->source[i]]);
    }
    for (uint32_t i = low; i < high; i++)
        if (all->spots[i].known == NOT_YET || (changed && all->source[i] != NONE))
            all->spots[i].known = SOMEWHERE;
}

static void tell(const struct callers *all, size_t count, struct export_caller *callers)
{
    for (size_t i = 0; i < count; i++) {
        const struct spot *spot = &all->spots[i];
        const struct pug_profile_frame *frame = &all->frames[i];
        const struct pug_profile_frame *parent =
            frame->parent != NONE ? &all->frames[frame->parent] : NULL;
        if (parent)
            callers[i] = spot->known == AT_PLACE
                             ? (struct export_caller){spot->object, spot->vaddr, true}
                             : (struct export_caller){parent->object, parent->function, false};
    }
}

/* Frames of one parent are in a row. */
static void take_all(struct callers *all, uint32_t count)
{
    for (uint32_t low = 0, high; low < count; low = high) {
        for (high = low + 1; high < count && all->frames[high].parent == all->frames[low].parent;)
            high++;
        if (all->frames[low].parent != NONE)
            take_siblings(all, low, high);
    }
}

struct export_caller *pug_export_callers(const struct exporter *exporter)
{
    size_t count;
    struct callers all = {.exporter = exporter,
                          .frames = pug_profile_frames(exporter->profile, &count)};
    struct export_caller *callers = calloc(count + 1, sizeof(*callers));
    const bool good = pug_export_call_sites(exporter, &all.sites) == PUG_OK;
    all.spots = calloc(count + 1, sizeof(*all.spots));
    all.groups = calloc(count + 1, sizeof(*all.groups));
    all.group = calloc(count + 1, sizeof(*all.group));
    all.source = calloc(count + 1, sizeof(*all.source));
    if (callers && good && all.spots && all.groups && all.group && all.source) {
        take_all(&all, (uint32_t)count);
        tell(&all, count, callers);
    } else {
        free(callers);
        callers = NULL;
    }
    free(all.sites.items);
    free(all.spots);
    free(all.groups);
    free(all.group);
    free(all.source);
    return callers;
}
