// SPDX-License-Identifier: MIT
/** @file The frames of a task: what a branch, an exception or a loss does to them. */
#include "calls/stack.h"
#include "pugmark/advanced/image.h"

#include <stdlib.h>

/* A return arrives at most so many bytes after a call whose size is unknown. */
#define BEHIND_CALL 8u

/* ---- clocks ---- */

static uint64_t since(uint64_t now, uint64_t then)
{
    return now > then ? now - then : 0; /* damaged trace: times go back */
}

static struct pug_call_clock difference(const struct pug_call_clock *now,
                                        const struct pug_call_clock *then)
{
    return (struct pug_call_clock){.timestamp = since(now->timestamp, then->timestamp),
                                   .cycles = since(now->cycles, then->cycles),
                                   .instructions = since(now->instructions, then->instructions)};
}

static void add_clock(struct pug_call_clock *sum, const struct pug_call_clock *part)
{
    sum->timestamp += part->timestamp;
    sum->cycles += part->cycles;
    sum->instructions += part->instructions;
}

/**
 * The time of the branch that arrives with this element. A time in the element's own packet is that
 * of the packet's end, unless the branch is in the same packet.
 */
static struct pug_call_clock time_of_branch(const struct pug_call_task *task,
                                            const struct pug_element *element)
{
    struct pug_call_clock clock = task->now;
    if (task->has_time_index && task->time_index == element->index && task->before_current &&
        task->departure.index != element->index) {
        clock.timestamp = task->before.timestamp;
        clock.cycles = task->before.cycles;
    }
    return clock;
}

/* ---- events ---- */

/*
 * Fields of events and frames are set one by one: there is one for each call and return, and an
 * initialiser would write all of it twice.
 */

static const struct pug_call_clock no_time;

static void begin_event(const struct pug_call_task *task, enum pug_call_event_kind kind,
                        struct pug_call_event *event)
{
    event->kind = kind;
    event->task = task->number;
    event->frame = &task->frames[task->depth - 1];
    event->depth = task->depth - 1;
    event->from = NULL;
    event->now = task->at;
    event->took = event->own = no_time;
    event->has_timestamp = task->has_timestamp;
    event->has_cycles = task->has_cycles;
    event->tail = event->lost = event->ended = event->switched = false;
    event->gap = 0;
    event->unit = task->has_timestamp ? PUG_TIME_TICKS
                  : task->has_cycles  ? PUG_TIME_CYCLES
                                      : PUG_TIME_NONE;
}

static void leave(struct pug_calls *calls, struct pug_call_task *task, enum pug_leave_why why)
{
    const struct pug_call_frame *frame = &task->frames[task->depth - 1];
    struct pug_call_event event;
    begin_event(task, PUG_CALL_LEAVE, &event);
    event.took = difference(&task->at, &frame->entered);
    event.own = difference(&event.took, &frame->of_callees);
    event.tail = why == PUG_LEAVE_BY_TAIL;
    event.lost = why == PUG_LEAVE_BY_LOSS;
    event.ended = why == PUG_LEAVE_BY_END;
    event.switched = why == PUG_LEAVE_SWITCHED;
    calls->config.event(calls->config.event_context, &event);
    task->depth--;
    if (task->depth > 0)
        add_clock(&task->frames[task->depth - 1].of_callees, &event.took);
}

void pug_calls_leave_to(struct pug_calls *calls, struct pug_call_task *task, uint32_t depth,
                        enum pug_leave_why why)
{
    while (task->depth > depth)
        leave(calls, task, why);
}

void pug_calls_tell_enter(struct pug_calls *calls, struct pug_call_task *task,
                          const struct pug_call_frame *from)
{
    struct pug_call_event event;
    begin_event(task, PUG_CALL_ENTER, &event);
    event.from = from;
    event.switched = event.frame->resumed;
    calls->config.event(calls->config.event_context, &event);
}

/* ---- frames ---- */

static bool locate(const struct pug_calls *calls, const struct pug_call_task *task,
                   const struct pug_element *element, uint64_t address,
                   struct pug_function *function)
{
    struct pug_symbol symbol;
    *function = (struct pug_function){.start = address};
    if (calls->config.locate)
        return calls->config.locate(calls->config.locate_context, task->number, element, address,
                                    function);
    if (!pug_image_symbol(calls->config.image, address, &symbol))
        return false;
    function->name = symbol.name;
    function->start = symbol.start;
    function->size = symbol.size;
    return true;
}

static bool is_known(const struct pug_call_frame *frame)
{
    return frame->function.size > 0;
}

static bool is_in(const struct pug_call_frame *frame, uint64_t address)
{
    return address == frame->address || address - frame->function.start < frame->function.size;
}

static bool grow(struct pug_calls *calls, struct pug_call_task *task)
{
    const uint32_t room = task->room ? task->room * 2 : 32;
    struct pug_call_frame *frames = realloc(task->frames, room * sizeof(*frames));
    if (frames)
        task->frames = frames;
    struct pug_branch *held = realloc(task->held, room * sizeof(*held));
    if (held)
        task->held = held;
    if (!frames || !held) {
        calls->failed = true;
        return false;
    }
    task->room = room;
    return true;
}

/** A new top frame; NULL: no memory. */
static struct pug_call_frame *push(struct pug_calls *calls, struct pug_call_task *task,
                                   const struct pug_function *function, uint64_t address)
{
    if (task->depth == calls->config.depth)
        pug_calls_leave_to(calls, task, 0, PUG_LEAVE_BY_LOSS);
    if (task->depth == task->room && !grow(calls, task))
        return NULL;
    task->held[task->depth] = (struct pug_branch){0};
    struct pug_call_frame *frame = &task->frames[task->depth++];
    frame->function = *function;
    frame->address = address;
    frame->site = frame->returns_to = 0;
    frame->entered = task->at;
    frame->of_callees = no_time;
    frame->user = NULL;
    frame->exception = 0;
    frame->kind = PUG_CALL_FOUND;
    frame->in_exception = frame->has_return = false;
    frame->exception_numbers = 0;
    frame->resumed = false;
    frame->doubtful = calls->doubtful;
    frame->timed = task->has_timestamp;
    return frame;
}

void pug_calls_find(struct pug_calls *calls, struct pug_call_task *task,
                    const struct pug_element *element, uint64_t address)
{
    struct pug_function function;
    locate(calls, task, element, address, &function);
    if (push(calls, task, &function, address))
        pug_calls_tell_enter(calls, task, NULL);
}

/** Control is somewhere that no branch explains: the nearest frame of that function. */
static void relocate(struct pug_calls *calls, struct pug_call_task *task,
                     const struct pug_element *element, uint64_t address)
{
    uint32_t depth = task->depth;
    while (depth > 0 && !is_in(&task->frames[depth - 1], address))
        depth--;
    pug_calls_leave_to(calls, task, depth, PUG_LEAVE_BY_LOSS);
    if (depth == 0)
        pug_calls_find(calls, task, element, address);
}

/** It was called at `site`. */
static void set_called(struct pug_call_frame *frame, uint64_t site, uint64_t behind, bool exact)
{
    frame->kind = PUG_CALL_CALLED;
    frame->site = site;
    frame->returns_to = behind;
    frame->has_return = exact;
}

/* ---- how control came ---- */

static void arrive_by_call(struct pug_calls *calls, struct pug_call_task *task,
                           const struct pug_element *element, uint64_t address)
{
    const struct pug_branch branch = task->departure.branch;
    struct pug_function function;
    locate(calls, task, element, address, &function);
    struct pug_call_frame *frame = push(calls, task, &function, address);
    if (!frame)
        return;
    set_called(frame, branch.site, branch.behind, branch.exact);
    pug_calls_tell_enter(calls, task, task->depth > 1 ? frame - 1 : NULL);
}

/**
 * Nobody traced what the exception did, and the task goes on where it was, on another processor.
 */
static bool is_back_from_exception(const struct pug_call_task *task, uint64_t address)
{
    const struct pug_branch *branch = &task->departure.branch;
    return branch->exact && branch->behind == address &&
           is_in(&task->frames[task->depth - 1], address);
}

static void arrive_by_exception(struct pug_calls *calls, struct pug_call_task *task,
                                const struct pug_element *element, uint64_t address)
{
    const struct pug_departure departure = task->departure;
    struct pug_function function;
    if (is_back_from_exception(task, address))
        return;
    locate(calls, task, element, address, &function);
    struct pug_call_frame *frame = push(calls, task, &function, address);
    if (!frame)
        return;
    frame->kind = PUG_CALL_EXCEPTION;
    frame->in_exception = true;
    frame->exception = departure.number;
    frame->exception_numbers = departure.numbers;
    frame->returns_to = departure.branch.behind;
    frame->has_return = departure.branch.exact;
    task->held[task->depth - 1] = departure.held;
    pug_calls_tell_enter(calls, task, task->depth > 1 ? frame - 1 : NULL);
}

/** Does the frame return to `address`? */
static bool returns_to(const struct pug_call_frame *frame, uint64_t address)
{
    if (frame->has_return)
        return address == frame->returns_to;
    return (frame->kind == PUG_CALL_CALLED || frame->kind == PUG_CALL_TAIL) &&
           !frame->in_exception && frame->site != 0 && address > frame->site &&
           address - frame->site <= BEHIND_CALL;
}

/** How many frames there are down to the nearest one below the top that `address` is in. */
static uint32_t caller_at(const struct pug_call_task *task, uint64_t address)
{
    uint32_t depth = task->depth - 1;
    while (depth > 0 && !is_in(&task->frames[depth - 1], address))
        depth--;
    return depth;
}

static void arrive_by_return(struct pug_calls *calls, struct pug_call_task *task,
                             const struct pug_element *element, uint64_t address)
{
    uint32_t depth = task->depth;
    while (depth > 0 && !returns_to(&task->frames[depth - 1], address))
        depth--;
    if (depth == 0)
        depth = caller_at(task, address) + 1; /* the return address was changed */
    pug_calls_leave_to(calls, task, depth, PUG_LEAVE_BY_LOSS);
    pug_calls_leave_to(calls, task, depth - 1, PUG_LEAVE_RETURNED);
    if (task->depth == 0)
        pug_calls_find(calls, task, element, address);
}

/** How many frames there are up to the nearest exception's; 0: there is none. */
static uint32_t exception_depth(const struct pug_call_task *task)
{
    uint32_t depth = task->depth;
    while (depth > 0 && !task->frames[depth - 1].in_exception)
        depth--;
    return depth;
}

/** Leave the nearest exception; what it held becomes the departure. False: there is none. */
static bool leave_exception(struct pug_calls *calls, struct pug_call_task *task)
{
    const uint32_t depth = exception_depth(task);
    task->departure.branch = (struct pug_branch){0};
    if (depth == 0)
        return false;
    task->departure.branch = task->held[depth - 1];
    pug_calls_leave_to(calls, task, depth, PUG_LEAVE_BY_LOSS);
    pug_calls_leave_to(calls, task, depth - 1, PUG_LEAVE_RETURNED);
    return true;
}

bool pug_calls_drop_exception(struct pug_calls *calls, struct pug_call_task *task, uint64_t *back)
{
    const uint32_t depth = exception_depth(task);
    const bool known = depth > 0 && task->frames[depth - 1].has_return;
    *back = known ? task->frames[depth - 1].returns_to : 0;
    task->at = task->now;
    leave_exception(calls, task);
    return known;
}

static void arrive_by_branch(struct pug_calls *calls, struct pug_call_task *task,
                             const struct pug_element *element, uint64_t address);

static void arrive_by_exception_return(struct pug_calls *calls, struct pug_call_task *task,
                                       const struct pug_element *element, uint64_t address)
{
    const uint32_t depth = exception_depth(task);
    const struct pug_call_frame handler =
        depth > 0 ? task->frames[depth - 1] : (struct pug_call_frame){0};
    bool left = leave_exception(calls, task);
    if (left && pug_calls_is_switch(&handler, address) && exception_depth(task) == 0)
        pug_calls_switch(calls, task, element, handler.returns_to, address);
    else if (task->depth == 0)
        pug_calls_find(calls, task, element, address);
    else if (left && task->departure.branch.kind != PUG_DEPART_NONE)
        arrive_by_branch(calls, task, element, address);
    else if (is_known(&task->frames[task->depth - 1]) || !left)
        relocate(calls, task, element, address);
}

/** A branch into another function returns to where this one would have returned. */
static void arrive_by_jump(struct pug_calls *calls, struct pug_call_task *task,
                           const struct pug_element *element, uint64_t address)
{
    struct pug_function function;
    if (is_in(&task->frames[task->depth - 1], address))
        return;
    const struct pug_call_frame top = task->frames[task->depth - 1];
    const struct pug_branch held = task->held[task->depth - 1];
    bool known = locate(calls, task, element, address, &function);
    if (!known && !is_known(&top))
        return; /* nothing shows whether that is another function */
    if (known && is_known(&top) && function.start == top.function.start &&
        function.id == top.function.id)
        return;
    leave(calls, task, PUG_LEAVE_BY_TAIL);
    struct pug_call_frame *frame = push(calls, task, &function, address);
    if (!frame)
        return;
    frame->kind = PUG_CALL_TAIL;
    frame->site = task->departure.branch.site;
    frame->returns_to = top.has_return ? top.returns_to : 0;
    frame->has_return = top.has_return;
    frame->in_exception = top.in_exception;
    frame->exception = top.exception;
    frame->exception_numbers = top.exception_numbers;
    task->held[task->depth - 1] = held;
    pug_calls_tell_enter(calls, task, &top);
}

/** The stack is not empty, and nothing is missing. */
static void arrive_by_branch(struct pug_calls *calls, struct pug_call_task *task,
                             const struct pug_element *element, uint64_t address)
{
    switch ((enum pug_departure_kind)task->departure.branch.kind) {
    case PUG_DEPART_CALL: arrive_by_call(calls, task, element, address); break;
    case PUG_DEPART_EXCEPTION: arrive_by_exception(calls, task, element, address); break;
    case PUG_DEPART_RETURN: arrive_by_return(calls, task, element, address); break;
    case PUG_DEPART_JUMP: arrive_by_jump(calls, task, element, address); break;
    case PUG_DEPART_EXCEPTION_RETURN:
        arrive_by_exception_return(calls, task, element, address);
        break;
    case PUG_DEPART_NONE: break;
    }
}

void pug_calls_arrive(struct pug_calls *calls, struct pug_call_task *task,
                      const struct pug_element *element, uint64_t address)
{
    if (task->departure.branch.kind == PUG_DEPART_NONE && task->depth > 0 && !task->missing)
        return;
    task->at = time_of_branch(task, element);
    if (task->depth == 0 || task->missing)
        relocate(calls, task, element, address);
    else
        arrive_by_branch(calls, task, element, address);
    task->missing = false;
    task->departure.branch.kind = PUG_DEPART_NONE;
    task->departure.index = 0;
}

static enum pug_call_gap gap_of(const struct pug_element *element)
{
    switch (element->type) {
    case PUG_ELEM_TRACE_ON:
        return element->reason == PUG_TRACE_ON_OVERFLOW ? PUG_GAP_LOST : PUG_GAP_UNTRACED;
    case PUG_ELEM_NO_SYNC:
        return element->reason == PUG_UNSYNC_INIT_DECODER ||
                       element->reason == PUG_UNSYNC_RESET_DECODER ||
                       element->reason == PUG_UNSYNC_EOT
                   ? PUG_GAP_UNTRACED
                   : PUG_GAP_LOST;
    case PUG_ELEM_ADDR_NACC: return PUG_GAP_UNKNOWN;
    default: return PUG_GAP_LOST;
    }
}

void pug_calls_miss(struct pug_calls *calls, struct pug_call_task *task,
                    const struct pug_element *element)
{
    const enum pug_call_gap gap = gap_of(element);
    const bool told = task->missing && gap <= task->gap;
    if (gap != PUG_GAP_UNTRACED)
        pug_calls_forget_threads(task); /* they may have run meanwhile */
    task->missing = true;
    task->current = false;
    task->departure = (struct pug_departure){.index = element->index};
    if (told)
        return;
    task->gap = (uint8_t)gap;
    if (task->depth == 0)
        return;
    task->at = task->now;
    struct pug_call_event event;
    begin_event(task, PUG_CALL_GAP, &event);
    event.gap = (uint8_t)gap;
    calls->config.event(calls->config.event_context, &event);
}

void pug_calls_leave_all(struct pug_calls *calls, struct pug_call_task *task)
{
    task->at = task->now;
    pug_calls_leave_to(calls, task, 0, PUG_LEAVE_BY_END);
}

/* ---- what was seen before ---- */

/** The task whose elements came last, if it is this one and nothing of it is missing; else NULL. */
static struct pug_call_task *current_task(const struct pug_calls *calls, uint32_t number)
{
    struct pug_call_task *task = calls->last;
    return task && task->number == number && !task->missing ? task : NULL;
}

bool pug_calls_enter_again(struct pug_calls *calls, uint32_t number,
                           const struct pug_call_frame *callee)
{
    struct pug_call_task *task = current_task(calls, number);
    if (!task || task->depth == 0 || task->depth == calls->config.depth)
        return false;
    task->at = task->now;
    struct pug_call_frame *frame = push(calls, task, &callee->function, callee->address);
    if (!frame)
        return false;
    set_called(frame, callee->site, callee->returns_to, callee->has_return);
    frame->user = callee->user;
    task->departure.branch.kind = PUG_DEPART_NONE;
    return true;
}

bool pug_calls_return_again(struct pug_calls *calls, uint32_t number, uint64_t address)
{
    struct pug_call_task *task = current_task(calls, number);
    if (!task || task->depth < 2)
        return false;
    const struct pug_call_frame *top = &task->frames[task->depth - 1];
    if (!top->has_return || top->returns_to != address)
        return false;
    task->departure.branch.kind = PUG_DEPART_NONE;
    task->depth--;
    return true;
}
