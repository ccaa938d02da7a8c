// SPDX-License-Identifier: MIT
/** @file Timelines for a program: each slice goes to a function when it ends. */
#include "export/timeline_form.h"

#include <stdlib.h>

/** A slice that is open. */
struct opened {
    uint64_t time;
    uint32_t name;
    bool estimated;
};

/** Those of a track. */
struct stack {
    struct opened *items;
    uint32_t count, room;
};

static bool begin(struct pug_timeline *timeline)
{
    (void)timeline;
    return true;
}

/** The slices of a track; NULL, having noted it: no memory. */
static struct stack *stack_of(struct pug_timeline *timeline, uint32_t number)
{
    struct pug_timeline_track *track = &timeline->tracks[number];
    if (!track->form)
        track->form = calloc(1, sizeof(struct stack));
    if (!track->form)
        timeline->status = PUG_ERR_MEM;
    return track->form;
}

static bool push(struct stack *stack, const struct pug_timeline_event *event)
{
    if (stack->count == stack->room) {
        const uint32_t room = stack->room + stack->room / 2 + 16;
        struct opened *items = realloc(stack->items, room * sizeof(*items));
        if (!items)
            return false;
        stack->items = items;
        stack->room = room;
    }
    stack->items[stack->count++] =
        (struct opened){.time = event->time, .name = event->name, .estimated = event->estimated};
    return true;
}

static void give(struct pug_timeline *timeline, const struct pug_timeline_event *event,
                 enum pug_slice_kind kind, const struct opened *is, uint32_t depth)
{
    const struct pug_timeline_track *track = &timeline->tracks[event->track];
    const struct pug_timeline_name *name =
        kind != PUG_SLICE_GAP ? &timeline->names[is->name] : NULL;
    const struct pug_slice slice = {
        .begin = is->time,
        .end = kind == PUG_SLICE_GAP ? event->value : event->time,
        .value = kind == PUG_SLICE_COUNTER ? (int64_t)event->value : 0,
        .track = track->name,
        .name = name ? name->text : "",
        .file = name ? name->file : NULL,
        .detail = event->detail,
        .line = name ? name->line : 0,
        .number = event->track,
        .depth = depth,
        .pid = track->pid,
        .tid = track->tid,
        .kind = kind,
        .estimated = is->estimated,
    };
    timeline->options.slice(timeline->options.slice_context, &slice);
}

static void event(struct pug_timeline *timeline, const struct pug_timeline_event *it)
{
    static const enum pug_slice_kind kinds[] = {[PUG_TIMELINE_INSTANT] = PUG_SLICE_INSTANT,
                                                [PUG_TIMELINE_COUNTER] = PUG_SLICE_COUNTER,
                                                [PUG_TIMELINE_GAP] = PUG_SLICE_GAP};
    const struct opened now = {.time = it->time, .name = it->name, .estimated = it->estimated};
    struct stack *stack = stack_of(timeline, it->track);
    if (!stack)
        return;
    if (it->kind == PUG_TIMELINE_ENTER) {
        if (!push(stack, it))
            timeline->status = PUG_ERR_MEM;
    } else if (it->kind != PUG_TIMELINE_LEAVE) {
        give(timeline, it, kinds[it->kind], &now, stack->count);
    } else if (stack->count > 0) {
        stack->count--;
        give(timeline, it, PUG_SLICE_CALL, &stack->items[stack->count], stack->count);
    }
}

static void end(struct pug_timeline *timeline)
{
    for (uint32_t i = 0; i < timeline->track_count; i++) {
        struct stack *stack = timeline->tracks[i].form;
        if (stack)
            free(stack->items);
        free(stack);
    }
}

const struct pug_timeline_functions pug_timeline_slices = {begin, NULL, event, end, NULL};
