// SPDX-License-Identifier: MIT
/** @file The calls of each thread: collected while a history is filled, and found at a position. */
#include "debug/history.h"

#include <stdlib.h>
#include <string.h>

/* ---- filling ---- */

/** The calls that are over leave the stack before anything else happens. */
static bool leave(struct pug_history *history, struct pug_history_line *line, uint32_t count)
{
    const struct pug_history_event event = {
        .what = PUG_WHAT_LEAVE, .thread = history->line, .count = count};
    if (!pug_history_append(history, pug_history_event(history, &event)))
        return false;
    line->depth -= count < line->depth ? count : line->depth;
    return true;
}

bool pug_history_leave(struct pug_history *history)
{
    struct pug_history_line *line = &history->lines[history->line];
    const uint32_t count = line->leaving;
    line->leaving = 0;
    return count == 0 || leave(history, line, count);
}

/** The depths of the stacks of an M profile core's threads lie apart. */
#define STACK_STEP 4096

/**
 * The depth of a new frame. That of a stack's bottom stays with it while another thread runs, or
 * frames of two threads were the same for a debugger.
 */
static int64_t depth_of_new(struct pug_history_line *line, struct pug_call_frame *frame)
{
    if (line->depth > 0)
        return line->frames[line->depth - 1].depth + 1;
    const uintptr_t kept = (uintptr_t)frame->user;
    int64_t depth = line->returned ? line->bottom - 1 : 0;
    if (frame->resumed && kept != 0)
        return (int64_t)(int32_t)(uint32_t)(kept >> 1 << 1) >> 1;
    if (frame->doubtful)
        depth = -(int64_t)STACK_STEP * ++line->stacks_found;
    frame->user = (void *)(uintptr_t)((uint32_t)((uint64_t)depth << 1) | 1);
    return depth;
}

/* ---- signals ---- */

/*
 * A signal's handler begins where no branch leads, after trace was off for the kernel: all calls
 * are over then, as far as pug_calls knows. But the thread goes on where it was as soon as the
 * handler is over, or where it jumps to. So its frames are kept, and enter again there.
 */

/** Keeps the frames of a thread that goes on elsewhere after the kernel. */
static void suspend(struct pug_history *history, struct pug_history_line *line)
{
    if (line->suspended_count == PUG_SUSPENDED_MOST) { /* the oldest is forgotten */
        const struct pug_suspended_frames oldest = line->suspended[0];
        memmove(&line->suspended[0], &line->suspended[1],
                (PUG_SUSPENDED_MOST - 1) * sizeof(line->suspended[0]));
        line->suspended[--line->suspended_count] = oldest;
    }
    struct pug_suspended_frames *kept = &line->suspended[line->suspended_count];
    if (!pug_history_grow(history, &kept->frames, &kept->room, line->depth, sizeof(*kept->frames)))
        return;
    memcpy(kept->frames, line->frames, line->depth * sizeof(*kept->frames));
    kept->depth = line->depth;
    line->suspended_count++;
}

/** How many frames there are up to the innermost one of a function; 0: none is. */
static uint32_t find_function(const struct pug_history *history,
                              const struct pug_live_frame *frames, uint32_t depth, uint64_t start)
{
    while (depth > 0 && history->events[frames[depth - 1].event].start != start)
        depth--;
    return depth;
}

/** Enters frames that were suspended again, down to the function that goes on. */
static bool resume_suspended(struct pug_history *history, struct pug_history_line *line,
                             uint64_t start)
{
    for (uint32_t i = line->suspended_count; i > 0; i--) {
        const struct pug_suspended_frames *kept = &line->suspended[i - 1];
        const uint32_t depth = find_function(history, kept->frames, kept->depth, start);
        if (depth == 0)
            continue;
        line->suspended_count = i - 1;
        if (!pug_history_grow(history, &line->frames, &line->room, depth, sizeof(*line->frames)))
            return true;
        for (uint32_t n = 0; n < depth && pug_history_append(history, kept->frames[n].event); n++)
            line->frames[line->depth++] = kept->frames[n];
        return true;
    }
    return false;
}

/** A function was found at the bottom of what pug_calls knows: is it one of the frames there? */
static bool goes_on(struct pug_history *history, struct pug_history_line *line, uint64_t start)
{
    const uint32_t depth = find_function(history, line->frames, line->depth, start);
    if (line->depth > depth && !leave(history, line, line->depth - depth))
        return true;
    return depth > 0 || resume_suspended(history, line, start);
}

static void enter(struct pug_history *history, struct pug_call_frame *frame, uint32_t below)
{
    struct pug_history_line *line = &history->lines[history->line];
    if (!pug_history_leave(history))
        return;
    if (below == 0 && frame->kind == PUG_CALL_FOUND &&
        (line->depth > 0 || line->suspended_count > 0) &&
        goes_on(history, line, frame->function.start))
        return;
    if (!pug_history_grow(history, &line->frames, &line->room, (uint64_t)line->depth + 1,
                          sizeof(*line->frames)))
        return;
    const int64_t depth = depth_of_new(line, frame);
    const bool bottom = line->depth == 0;
    const struct pug_history_event event = {
        .start = frame->function.start,
        .end = frame->has_return ? frame->returns_to : 0,
        .site = frame->site,
        .thread = history->line,
        .count = bottom ? (uint32_t)(int32_t)depth : 0,
        .number = frame->exception,
        .numbers = frame->exception_numbers,
        .what = PUG_WHAT_ENTER,
        .kind = frame->kind,
        .flags =
            (uint8_t)((frame->has_return ? PUG_FLAG_HAS_RETURN : 0) | (bottom ? PUG_FLAG_DEEP : 0)),
        .name = frame->function.name,
    };
    const uint32_t number = pug_history_event(history, &event);
    if (pug_history_append(history, number))
        line->frames[line->depth++] = (struct pug_live_frame){.event = number, .depth = depth};
}

void pug_history_on_call(void *context, const struct pug_call_event *event)
{
    struct pug_history *history = context;
    struct pug_history_line *line = &history->lines[history->line];
    if (event->kind == PUG_CALL_ENTER) {
        enter(history, event->frame, event->depth);
    } else if (event->kind == PUG_CALL_LEAVE) {
        line->leaving++;
        if (event->depth == 0 && event->lost && line->resumes) {
            if (line->gap == PUG_GAP_UNTRACED)
                suspend(history, line);
            else
                line->suspended_count = 0;
            line->leaving = line->depth;
        }
        if (event->depth == 0) {
            line->returned = !event->lost && !event->switched && line->depth > 0;
            line->bottom = line->depth > 0 ? line->frames[0].depth : 0;
        }
    }
}

/** Keeps the frames of a stack that are not kept yet; the top one + 1, or 0. */
static bool keep_frames(struct pug_history *history, struct pug_history_line *line, uint32_t *top)
{
    uint32_t first = line->depth;
    while (first > 0 && line->frames[first - 1].kept == 0)
        first--;
    *top = first > 0 ? line->frames[first - 1].kept : 0;
    for (uint32_t i = first; i < line->depth; i++) {
        if (!pug_history_grow(history, &history->kept, &history->kept_room,
                              (uint64_t)history->kept_count + 1, sizeof(*history->kept)))
            return false;
        history->kept[history->kept_count++] = (struct pug_kept_frame){
            .below = *top, .event = line->frames[i].event, .depth = line->frames[i].depth};
        *top = line->frames[i].kept = history->kept_count;
    }
    return true;
}

bool pug_history_keep_stacks(struct pug_history *history)
{
    for (uint32_t i = 0; i < history->line_count; i++) {
        struct pug_history_line *line = &history->lines[i];
        uint32_t top;
        if (!keep_frames(history, line, &top))
            return false;
        if (line->stack_count > 0 ? line->stacks[line->stack_count - 1].top == top : top == 0)
            continue;
        if (!pug_history_grow(history, &line->stacks, &line->stack_room,
                              (uint64_t)line->stack_count + 1, sizeof(*line->stacks)))
            return false;
        line->stacks[line->stack_count++] =
            (struct pug_stack_note){.page = history->page_count, .top = top};
    }
    return true;
}

/* ---- asking ---- */

/** The stack of a thread when a page begins, as kept frame + 1. */
static uint32_t stack_at(const struct pug_history_line *line, uint32_t page)
{
    uint32_t low = 0, high = line->stack_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (line->stacks[middle].page <= page)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? line->stacks[low - 1].top : 0;
}

/** Puts the frames that were there when the page began into history->frames; how many. */
static bool begin_frames(struct pug_history *history, uint32_t top, uint32_t *depth)
{
    uint32_t count = 0;
    for (uint32_t at = top; at > 0; at = history->kept[at - 1].below)
        count++;
    if (!pug_history_grow(history, &history->frames, &history->frame_room,
                          (uint64_t)count + PUG_PAGE_EVENTS, sizeof(*history->frames)))
        return false;
    *depth = count;
    for (uint32_t at = top; at > 0; at = history->kept[at - 1].below)
        history->frames[--count] = (struct pug_live_frame){.event = history->kept[at - 1].event,
                                                           .depth = history->kept[at - 1].depth};
    return true;
}

static uint32_t follow_page(struct pug_history *history, const struct pug_page_view *view,
                            uint32_t until, uint32_t thread, uint32_t depth)
{
    for (uint32_t i = 0; i < until; i++) {
        const struct pug_history_event *event = &history->events[view->events[i]];
        if (event->what < PUG_WHAT_ENTER || event->thread != thread)
            continue;
        if (event->what == PUG_WHAT_LEAVE) {
            depth -= event->count < depth ? event->count : depth;
            continue;
        }
        const int64_t at = event->flags & PUG_FLAG_DEEP ? (int32_t)event->count
                           : depth > 0                  ? history->frames[depth - 1].depth + 1
                                                        : 0;
        history->frames[depth++] = (struct pug_live_frame){.event = view->events[i], .depth = at};
    }
    return depth;
}

static void fill_frame(const struct pug_history *history, uint32_t level, uint64_t pc,
                       struct pug_history_frame *frame)
{
    const struct pug_live_frame *live = &history->frames[level];
    const struct pug_history_event *event = &history->events[live->event];
    *frame = (struct pug_history_frame){
        .name = event->name,
        .pc = pc,
        .function = event->start,
        .site = event->site,
        .depth = live->depth,
        .kind = event->kind,
        .has_caller = level > 0 && (event->flags & PUG_FLAG_HAS_RETURN),
        .exception_numbers = event->numbers,
        .exception = event->number,
    };
}

size_t pug_history_frames(struct pug_history *history, uint64_t position,
                          struct pug_history_frame *frames, size_t room)
{
    struct pug_history_place place;
    uint32_t page, at, depth;
    if (!pug_history_at(history, position, &place) ||
        !pug_history_locate(history, position, &page, &at) ||
        !begin_frames(history, stack_at(&history->lines[place.thread], page), &depth))
        return 0;
    const struct pug_page_view *view = pug_history_view(history, page);
    if (!view)
        return 0;
    depth = follow_page(history, view, at, place.thread, depth);
    uint64_t pc = place.pc;
    for (uint32_t i = 0; i < depth && i < room; i++) {
        const uint32_t level = depth - 1 - i;
        fill_frame(history, level, pc, &frames[i]);
        pc = history->events[history->frames[level].event].end;
    }
    return depth;
}
