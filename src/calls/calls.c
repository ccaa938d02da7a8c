// SPDX-License-Identifier: MIT
/** @file Gives the elements of tasks to their stacks. */
#include "calls/stack.h"

#include <stdlib.h>
#include <string.h>

#define DEPTH 65536u
#define TASKS 65536u

enum pug_status pug_calls_new(const struct pug_calls_config *config, struct pug_calls **calls)
{
    if (!calls)
        return PUG_ERR_INVALID_PARAM_VAL;
    *calls = NULL;
    if (!config || !config->event || !(config->image || config->locate))
        return PUG_ERR_INVALID_PARAM_VAL;
    struct pug_calls *made = calloc(1, sizeof(*made));
    if (!made)
        return PUG_ERR_MEM;
    made->config = *config;
    if (made->config.depth == 0)
        made->config.depth = DEPTH;
    if (made->config.tasks == 0)
        made->config.tasks = TASKS;
    *calls = made;
    return PUG_OK;
}

/* ---- tasks ---- */

static void free_task(struct pug_call_task *task)
{
    free(task->frames);
    free(task->held);
    pug_calls_forget_threads(task);
    free(task->threads);
    free(task);
}

void pug_calls_free(struct pug_calls *calls)
{
    if (!calls)
        return;
    for (size_t i = 0; i < calls->count; i++)
        free_task(calls->tasks[i]);
    free(calls->tasks);
    free(calls);
}

/** The place of the first task with this number or a greater one. */
static size_t place_of(const struct pug_calls *calls, uint32_t number)
{
    size_t low = 0, high = calls->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (calls->tasks[middle]->number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct pug_call_task *find_task(const struct pug_calls *calls, uint32_t number)
{
    if (calls->last && calls->last->number == number)
        return calls->last;
    size_t at = place_of(calls, number);
    return at < calls->count && calls->tasks[at]->number == number ? calls->tasks[at] : NULL;
}

static enum pug_status add_task(struct pug_calls *calls, uint32_t number)
{
    if (calls->count == calls->config.tasks)
        return PUG_ERR_LIMIT;
    if (calls->count == calls->room) {
        size_t room = calls->room ? calls->room * 2 : 8;
        struct pug_call_task **tasks = realloc(calls->tasks, room * sizeof(struct pug_call_task *));
        if (!tasks)
            return PUG_ERR_MEM;
        calls->tasks = tasks;
        calls->room = room;
    }
    struct pug_call_task *task = calloc(1, sizeof(*task));
    if (!task)
        return PUG_ERR_MEM;
    task->number = number;
    size_t at = place_of(calls, number);
    memmove(&calls->tasks[at + 1], &calls->tasks[at],
            (calls->count++ - at) * sizeof(struct pug_call_task *));
    calls->tasks[at] = calls->last = task;
    return PUG_OK;
}

void pug_calls_end_task(struct pug_calls *calls, uint32_t number)
{
    struct pug_call_task *task = find_task(calls, number);
    if (!task)
        return;
    pug_calls_leave_all(calls, task);
    size_t at = place_of(calls, number);
    memmove(&calls->tasks[at], &calls->tasks[at + 1],
            (--calls->count - at) * sizeof(struct pug_call_task *));
    calls->last = NULL;
    free_task(task);
}

void pug_calls_end(struct pug_calls *calls)
{
    for (size_t i = 0; i < calls->count; i++) {
        pug_calls_leave_all(calls, calls->tasks[i]);
        free_task(calls->tasks[i]);
    }
    calls->count = 0;
    calls->last = NULL;
}

uint32_t pug_calls_stack(const struct pug_calls *calls, uint32_t number,
                         const struct pug_call_frame **frames)
{
    const struct pug_call_task *task = find_task(calls, number);
    *frames = task ? task->frames : NULL;
    return task ? task->depth : 0;
}

/* ---- times ---- */

uint64_t pug_call_time(const struct pug_call_clock *clock, enum pug_time_unit unit)
{
    return unit == PUG_TIME_TICKS ? clock->timestamp : unit == PUG_TIME_CYCLES ? clock->cycles : 0;
}

const char *pug_time_unit_name(enum pug_time_unit unit)
{
    return unit == PUG_TIME_TICKS ? "ticks" : unit == PUG_TIME_CYCLES ? "cycles" : "";
}

const char *pug_call_gap_name(enum pug_call_gap gap)
{
    return gap == PUG_GAP_LOST      ? "trace lost"
           : gap == PUG_GAP_UNKNOWN ? "what ran is not known"
                                    : "not traced";
}

/** Frames that were entered before the first timestamp count from there. */
static void begin_timestamps(struct pug_call_task *task, uint64_t first)
{
    task->has_timestamp = true;
    for (uint32_t i = 0; i < task->depth; i++)
        task->frames[i].entered.timestamp = first;
    task->before.timestamp = first;
}

static void take_time(struct pug_call_task *task, const struct pug_element *element)
{
    const bool stamp = element->type == PUG_ELEM_TIMESTAMP,
               counts = pug_element_adds_cycles(element);
    if (!stamp && !counts)
        return;
    if (!task->has_time_index || task->time_index != element->index) {
        task->before = task->now;
        task->before_current = task->current;
    }
    task->current = true;
    task->has_time_index = true;
    task->time_index = element->index;
    if (counts) {
        task->now.cycles += element->cycle_count;
        task->has_cycles = true;
    }
    if (!stamp)
        return;
    if (!task->has_timestamp)
        begin_timestamps(task, element->timestamp);
    task->now.timestamp = element->timestamp;
}

/* ---- elements ---- */

/** How control leaves a range whose last instruction is at `last`. */
static void depart(struct pug_call_task *task, const struct pug_element *range, uint64_t last)
{
    struct pug_branch *left = &task->departure.branch;
    task->departure.index = range->index;
    left->kind = pug_departure_kind(range->flags, range->last_type, range->last_subtype);
    if (left->kind == PUG_DEPART_NONE) /* what else there is has no meaning then */
        return;
    left->site = last;
    left->behind = last + range->last_size;
    left->exact = range->last_size > 0;
}

/** An M profile core's return code (EXC_RETURN) in place of a return address. */
static bool is_return_code(const struct pug_element *exception)
{
    return exception->isa == PUG_ISA_T32 && exception->end >= 0xffffff00u &&
           exception->end <= 0xffffffffu;
}

static void take_exception(struct pug_calls *calls, struct pug_call_task *task,
                           const struct pug_element *exception)
{
    bool returns = (exception->flags & PUG_ELEM_RET_ADDR) && !is_return_code(exception);
    bool returning = task->departure.branch.kind == PUG_DEPART_EXCEPTION_RETURN;
    uint64_t back = exception->end;
    if (exception->flags & PUG_ELEM_DATA_MARKER)
        return;
    if (exception->flags & PUG_ELEM_M_TAIL_CHAIN)
        returns = pug_calls_drop_exception(calls, task, &back);
    else if (task->departure.branch.kind != PUG_DEPART_NONE && returns)
        pug_calls_arrive(calls, task, exception, exception->end); /* it did get there */
    else if (returning)
        returns = pug_calls_drop_exception(calls, task, &back);
    struct pug_departure *departure = &task->departure;
    departure->held = departure->branch;
    departure->branch =
        (struct pug_branch){.kind = PUG_DEPART_EXCEPTION, .exact = returns, .behind = back};
    departure->number = exception->number;
    departure->numbers = exception->reason;
    departure->index = exception->index;
}

static void take_exception_return(struct pug_call_task *task, const struct pug_element *element)
{
    task->departure = (struct pug_departure){.branch = {.kind = PUG_DEPART_EXCEPTION_RETURN},
                                             .index = element->index};
}

static void take(struct pug_calls *calls, struct pug_call_task *task,
                 const struct pug_element *element)
{
    take_time(task, element);
    switch (element->type) {
    case PUG_ELEM_INSTR_RANGE:
        pug_calls_arrive(calls, task, element, element->start);
        task->now.instructions += element->count;
        depart(task, element, element->end - element->last_size);
        break;
    case PUG_ELEM_I_RANGE_NOPATH:
        pug_calls_arrive(calls, task, element, element->start);
        task->now.instructions += element->count;
        depart(task, element, element->value);
        pug_calls_arrive(calls, task, element, element->end);
        break;
    case PUG_ELEM_EXCEPTION: take_exception(calls, task, element); break;
    case PUG_ELEM_EXCEPTION_RET: take_exception_return(task, element); break;
    case PUG_ELEM_TRACE_ON:
    case PUG_ELEM_NO_SYNC:
    case PUG_ELEM_UNKNOWN:
    case PUG_ELEM_ADDR_NACC: pug_calls_miss(calls, task, element); break;
    default: break;
    }
}

enum pug_status pug_calls_take(struct pug_calls *calls, uint32_t number,
                               const struct pug_element *elements, size_t count)
{
    if (!calls || (!elements && count > 0))
        return PUG_ERR_INVALID_PARAM_VAL;
    calls->last = find_task(calls, number);
    enum pug_status status = calls->last ? PUG_OK : add_task(calls, number);
    for (size_t i = 0; i < count && status == PUG_OK; i++) {
        take(calls, calls->last, &elements[i]);
        if (calls->failed)
            status = PUG_ERR_MEM;
    }
    return status;
}
