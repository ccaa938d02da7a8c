// SPDX-License-Identifier: MIT
/** @file Call stacks as frames of a profile, and what ran on each. */
#include "base/hash.h"
#include "profile/frames.h"
#include "profile/loops.h"
#include "profile/profile.h"
#include "profile/steps.h"
#include "profile/trail.h"
#include "pugmark/calls.h"

#include <stdlib.h>

/** A task of the calls: a thread, or a source where threads are unknown. */
struct stack_task {
    uint32_t task;   /* the capture's, or PUG_NO_TASK: */
    uint32_t buffer; /* of a source; of a thread where it was seen last */
    uint16_t source;
    uint32_t number; /* the profile's */
};

/** A source's time: who runs on a processor by turns shares it. */
struct stack_clock {
    uint32_t buffer;
    uint16_t source;
    bool known; /* there was a timestamp, and no trace is missing since */
    uint64_t timestamp;
};

/**
 * Where a task is: at the end of the last range. Ranges that follow it as before are counted.
 * While they stay in their frame they come to the calls as one, for which only the begin of the
 * first and the end of the last matter. Those of a frame that is left as before do not come to the
 * calls, whose clocks are not needed then.
 */
struct here {
    bool known; /* else there is nothing else here */
    uint32_t task, depth;
    const struct profile_step *last;  /* NULL: it is in memory no more */
    const struct profile_step *first; /* that the calls have not got; NULL: none */
};

struct profile_stacks {
    struct profile_objects *objects;
    struct pug_calls *calls;
    struct profile_loops *loops;
    struct profile_trail trail;  /* its status is that of all of this */
    struct profile_table tasks;  /* struct stack_task */
    struct profile_table clocks; /* struct stack_clock */
    uint32_t task, clock;        /* the last ones */
    struct profile_frames frames;
    struct here here;
    uint64_t events; /* how often frames changed */
};

/* The origin of the next element. */
static const struct pug_origin *origin_of(const struct profile_stacks *stacks)
{
    return &stacks->trail.group->origin;
}

static struct stack_task *task_at(const struct profile_stacks *stacks, uint32_t number)
{
    return pug_profile_item(&stacks->tasks, number);
}

static struct stack_clock *clock_at(const struct profile_stacks *stacks, uint32_t number)
{
    return pug_profile_item(&stacks->clocks, number);
}

/* ---- what the calls ask and tell ---- */

static void fail(struct profile_stacks *stacks, enum pug_status status)
{
    profile_trail_fail(&stacks->trail, status);
}

static bool locate(void *context, uint32_t task, const struct pug_element *element,
                   uint64_t address, struct pug_function *function)
{
    struct profile_stacks *stacks = context;
    (void)task;
    (void)element;
    return pug_profile_frames_locate(&stacks->frames, address, function);
}

static void on_enter(struct profile_stacks *stacks, const struct pug_call_event *event)
{
    struct pug_call_frame *entered = event->frame;
    pug_profile_frames_enter(&stacks->frames, entered, event->depth > 0 ? entered - 1 : NULL,
                             task_at(stacks, event->task)->number);
    if (entered->kind == PUG_CALL_FOUND && event->depth == 0 && !entered->resumed)
        pug_profile_note(stacks->objects->profile, PUG_NOTE_STACKS_LOST, 1);
}

static void on_event(void *context, const struct pug_call_event *event)
{
    struct profile_stacks *stacks = context;
    stacks->events++;
    if (event->kind == PUG_CALL_ENTER)
        on_enter(stacks, event);
    else if (event->kind == PUG_CALL_LEAVE)
        pug_profile_loops_leave(stacks->loops, event->task, event->depth, event->lost);
}

/* ---- tasks ---- */

static uint64_t hash_task(const void *item)
{
    const struct stack_task *task = item;
    const uint64_t source = task->task == PUG_NO_TASK ? task->source : 0;
    return pug_hash_mix(pug_hash_mix(0, task->task == PUG_NO_TASK ? task->buffer : task->task),
                        source);
}

static bool same_task(const void *left, const void *right)
{
    const struct stack_task *a = left, *b = right;
    if (a->task != b->task)
        return false;
    return a->task != PUG_NO_TASK || (a->buffer == b->buffer && a->source == b->source);
}

static enum pug_status name_task(struct profile_stacks *stacks, const struct pug_origin *origin,
                                 uint32_t *number)
{
    struct pug_capture *capture = stacks->objects->capture;
    struct pug_profile_task task = {.pid = -1, .tid = -1, .name = ""};
    const struct pug_capture_source *source;
    const struct pug_capture_task *told =
        origin->task != PUG_NO_TASK ? pug_capture_task_at(capture, origin->task) : NULL;
    if (told)
        task = (struct pug_profile_task){told->pid, told->tid, told->comm};
    for (size_t n = 0;
         origin->task == PUG_NO_TASK && (source = pug_capture_source_at(capture, n)) != NULL; n++)
        if (source->buffer == origin->buffer && source->id == origin->source)
            task.name = source->name;
    return pug_profile_task(stacks->objects->profile, &task, number);
}

/* The number of a task for the calls. */
static uint32_t find_task(struct profile_stacks *stacks, const struct pug_origin *origin)
{
    const struct stack_task task = {
        .task = origin->task, .buffer = origin->buffer, .source = origin->source};
    if (stacks->tasks.count > 0 && same_task(task_at(stacks, stacks->task), &task))
        return stacks->task;
    uint32_t number;
    bool is_new;
    enum pug_status status = pug_profile_table_add(&stacks->tasks, &task, &number, &is_new);
    if (status == PUG_OK && is_new)
        status = name_task(stacks, origin, &task_at(stacks, number)->number);
    fail(stacks, status);
    if (status != PUG_OK)
        return PUG_NO_TASK;
    return stacks->task = number;
}

/* ---- counting ---- */

/* The top frame of a task, NULL: there is none; how many there are. */
static uint32_t find_top(const struct profile_stacks *stacks, uint32_t task,
                         const struct pug_call_frame **top)
{
    const struct pug_call_frame *frames;
    const uint32_t depth = pug_calls_stack(stacks->calls, task, &frames);
    *top = depth > 0 ? &frames[depth - 1] : NULL;
    return depth;
}

static void add_cost(struct profile_stacks *stacks, const struct pug_call_frame *frame,
                     uint64_t cycles, uint64_t time)
{
    if (!frame)
        return;
    struct pug_profile_frame *kept =
        pug_profile_item(&stacks->objects->profile->frames, profile_frame_number(frame));
    kept->cycles = pug_profile_sum(kept->cycles, cycles);
    kept->time = pug_profile_sum(kept->time, time);
}

static uint64_t hash_clock(const void *item)
{
    const struct stack_clock *clock = item;
    return pug_hash_mix(pug_hash_mix(0, clock->buffer), clock->source);
}

static bool same_clock(const void *left, const void *right)
{
    const struct stack_clock *a = left, *b = right;
    return a->buffer == b->buffer && a->source == b->source;
}

/* The clock of the source that speaks; NULL: no memory. */
static struct stack_clock *find_clock(struct profile_stacks *stacks)
{
    const struct pug_origin *origin = origin_of(stacks);
    const struct stack_clock clock = {.buffer = origin->buffer, .source = origin->source};
    if (stacks->clocks.count > 0 && same_clock(clock_at(stacks, stacks->clock), &clock))
        return clock_at(stacks, stacks->clock);
    uint32_t number;
    bool is_new;
    const enum pug_status status = pug_profile_table_add(&stacks->clocks, &clock, &number, &is_new);
    fail(stacks, status);
    if (status != PUG_OK)
        return NULL;
    stacks->clock = number;
    return clock_at(stacks, number);
}

/* Nobody knows who used the time while nothing was traced. */
static void stop_time(struct profile_stacks *stacks)
{
    struct stack_clock *clock = find_clock(stacks);
    if (clock)
        clock->known = false;
}

/* Time goes to the frame on top while it passed; in nanoseconds where the capture knows the clock.
 */
static void take_time(struct profile_stacks *stacks, const struct pug_call_frame *frame,
                      uint64_t timestamp)
{
    struct stack_clock *clock = find_clock(stacks);
    const enum pug_profile_unit unit =
        pug_capture_clock(stacks->objects->capture, timestamp, &timestamp) ? PUG_PROFILE_NANOSECONDS
                                                                           : PUG_PROFILE_TICKS;
    if (!clock)
        return;
    if (clock->known && timestamp > clock->timestamp && frame) {
        add_cost(stacks, frame, 0, timestamp - clock->timestamp);
        pug_profile_set_time_unit(stacks->objects->profile, unit);
    }
    clock->timestamp = timestamp;
    clock->known = true;
}

/* A thread that comes from another processor was in the kernel meanwhile. */
static void note_move(struct profile_stacks *stacks, uint32_t number)
{
    struct stack_task *task = task_at(stacks, number);
    const struct pug_origin *origin = origin_of(stacks);
    const struct pug_element gap = {.type = PUG_ELEM_TRACE_ON};
    if (task->buffer == origin->buffer && task->source == origin->source)
        return;
    task->buffer = origin->buffer;
    task->source = origin->source;
    stacks->here.known = false;
    fail(stacks, pug_calls_take(stacks->calls, number, &gap, 1));
}

/* A range that ran on the top frame; what it is there. */
static struct profile_ran take_range(struct profile_stacks *stacks, uint32_t task,
                                     const struct pug_call_frame *top, uint32_t depth,
                                     const struct pug_element *range,
                                     const struct profile_step *step)
{
    struct profile_trail *trail = &stacks->trail;
    const struct profile_ran ran = pug_profile_trail_run(trail, profile_frame_number(top), step);
    if (ran.use == NO_NODE)
        return ran;
    const struct profile_loops_step ran_step = {
        .space = origin_of(stacks)->space,
        .range = range,
        .node = &trail->cache.nodes[ran.node],
        .frame = top,
        .task = task,
        .depth = depth - 1,
    };
    fail(stacks, pug_profile_loops_run(stacks->loops, &ran_step));
    return ran;
}

/* ---- ranges that come as they did before ---- */

/* A call as before: `callee` was entered by it then, and ran what is `ran` now. */
static bool enter_again(struct profile_stacks *stacks, const struct here *here, uint32_t callee,
                        const struct profile_node *ran, const struct profile_step *range)
{
    struct profile_kept_frame *kept = &stacks->frames.kept[callee];
    const struct pug_call_frame frame =
        pug_profile_frames_called(&stacks->frames, callee, ran, range, here->last);
    if (!pug_profile_loops_enter(stacks->loops, here->task, here->depth, kept->loops, ran))
        return false;
    if (!pug_calls_enter_again(stacks->calls, here->task, &frame)) {
        pug_profile_loops_leave(stacks->loops, here->task, here->depth, false);
        return false;
    }
    kept->entered++;
    return true;
}

/* A return as before: to `caller`. */
static bool return_again(struct profile_stacks *stacks, const struct here *here, uint32_t caller,
                         const struct profile_step *range)
{
    const struct pug_call_frame *frames;
    const uint32_t depth = pug_calls_stack(stacks->calls, here->task, &frames);
    if (depth < 2 || frames[depth - 2].user != profile_frame_user(caller, true) ||
        !pug_calls_return_again(stacks->calls, here->task, range->start))
        return false;
    pug_profile_loops_leave(stacks->loops, here->task, depth - 1, false);
    return true;
}

/* The last range left its frame: did this one come as it did before? */
static bool change_frame(struct profile_stacks *stacks, struct here *here,
                         const struct profile_node *from, struct profile_ran ran,
                         const struct profile_step *range)
{
    const struct profile_trail *trail = &stacks->trail;
    const uint32_t frame = trail->behind[ran.use].frame;
    const bool calls = from->departs == PUG_DEPART_CALL;
    if (!here->last ||
        !(calls ? enter_again(stacks, here, frame, &trail->cache.nodes[ran.node], range)
                : return_again(stacks, here, frame, range)))
        return false;
    here->depth = calls ? here->depth + 1 : here->depth - 1;
    here->first = NULL;
    return true;
}

/* Count ranges as long as each equals the one that followed the one before it. Returns their
 * number. */
static size_t follow(struct profile_stacks *stacks, const struct profile_step *steps, size_t count)
{
    struct profile_trail *trail = &stacks->trail;
    struct profile_loops *loops = stacks->loops;
    struct profile_node *const nodes = trail->cache.nodes;
    struct here here = stacks->here;
    struct profile_ran last = trail->last;
    bool has_loops = pug_profile_loops_function(loops, here.task, here.depth - 1).count > 0;
    size_t i = 0;
    for (; i < count && steps[i].shape.kind == PROFILE_STEP_RANGE; i++) {
        struct profile_next *next = profile_trail_find(trail, last, &steps[i]);
        if (!next)
            break;
        const struct profile_ran ran = {next->use, trail->behind[next->use].node};
        if (!pug_profile_node_stays(&nodes[last.node])) {
            if (!change_frame(stacks, &here, &nodes[last.node], ran, &steps[i]))
                break;
            has_loops = pug_profile_loops_function(loops, here.task, here.depth - 1).count > 0;
        }
        profile_trail_again(trail, last, next);
        if (has_loops)
            pug_profile_loops_go_on(loops, here.task, here.depth - 1, &nodes[ran.node]);
        here.first = here.first ? here.first : &steps[i];
        here.last = &steps[i];
        last = ran;
    }
    stacks->here = here;
    if (i > 0)
        profile_trail_came(trail, last, &steps[i - 1]);
    return i;
}

/* Give the calls the ranges that they have not got, as one. */
static void settle(struct profile_stacks *stacks)
{
    struct here *here = &stacks->here;
    if (!here->first)
        return;
    struct pug_element range = stacks->trail.group->like;
    pug_profile_step_put(here->last, &range);
    range.start = here->first->start;
    fail(stacks, pug_calls_take(stacks->calls, here->task, &range, 1));
    here->first = NULL;
}

/*
 * The code ran directly after the previous place, and frames changed so often meanwhile. It is kept
 * where that is all: control stayed in its frame, or one call or return brought it here.
 */
static void learn(struct profile_stacks *stacks, struct profile_ran before, uint64_t changes,
                  const struct pug_call_frame *top, struct profile_ran ran,
                  const struct pug_element *range)
{
    struct profile_trail *trail = &stacks->trail;
    const struct profile_node *from = &trail->cache.nodes[before.node];
    if (from->departs == PUG_DEPART_EXCEPTION_RETURN ||
        changes != (pug_profile_node_stays(from) ? 0 : 1))
        return;
    if (from->departs == PUG_DEPART_CALL)
        pug_profile_frames_keep(
            &stacks->frames, top, &trail->cache.nodes[ran.node], range,
            pug_profile_loops_function(stacks->loops, stacks->here.task, stacks->here.depth - 1));
    pug_profile_trail_learn(trail, before, ran);
}

/* `step`: of a range. */
static void take_step(struct profile_stacks *stacks, uint32_t task,
                      const struct pug_element *element, const struct profile_step *step)
{
    struct profile_trail *trail = &stacks->trail;
    const struct profile_ran before = trail->last;
    const bool known = stacks->here.known;
    const uint64_t events = stacks->events;
    const struct pug_call_frame *top;
    settle(stacks);
    stacks->here.known = false;
    fail(stacks, pug_calls_take(stacks->calls, task, element, 1));
    const uint32_t depth = find_top(stacks, task, &top);
    if (!step || !top || trail->status != PUG_OK) /* the frame may have no number */
        return;
    const struct profile_ran ran = take_range(stacks, task, top, depth, element, step);
    if (ran.use == NO_NODE || !profile_frame_has_number(top))
        return;
    stacks->here = (struct here){.known = true, .task = task, .depth = depth, .last = step};
    if (known)
        learn(stacks, before, stacks->events - events, top, ran, element);
}

/* An element that is no range. An element with only a time does not concern the calls. */
static void take_other(struct profile_stacks *stacks, uint32_t task,
                       const struct pug_element *element)
{
    const struct pug_call_frame *top;
    if (element->type != PUG_ELEM_TIMESTAMP && element->type != PUG_ELEM_CYCLE_COUNT)
        take_step(stacks, task, element, NULL);
    pug_profile_trail_other(&stacks->trail, element);
    if (stacks->trail.status != PUG_OK)
        return;
    find_top(stacks, task, &top);
    if (element->type == PUG_ELEM_TIMESTAMP)
        take_time(stacks, top, element->timestamp);
    if (element->type == PUG_ELEM_TRACE_ON || element->type == PUG_ELEM_NO_SYNC)
        stop_time(stacks);
    if (pug_element_adds_cycles(element))
        add_cost(stacks, top, element->cycle_count, 0);
}

static void take_run(struct profile_stacks *stacks, uint32_t task, const struct profile_step *step,
                     struct pug_element *range)
{
    pug_profile_step_put(step, range);
    take_step(stacks, task, range, step);
}

/* Cycles came with the range that ran last. */
static void take_cycles(struct profile_stacks *stacks, uint32_t task, uint64_t cycles)
{
    const struct pug_call_frame *top;
    if (stacks->trail.status != PUG_OK)
        return;
    find_top(stacks, task, &top);
    pug_profile_trail_cycles(&stacks->trail, cycles);
    add_cost(stacks, top, cycles, 0);
}

/* Take the steps of a group: `others` are those that are no ranges. */
static void take_steps(struct profile_stacks *stacks, uint32_t task, struct profile_step *steps,
                       const struct pug_element **others)
{
    const struct profile_steps *group = stacks->trail.group;
    struct pug_element range = group->like;
    for (size_t i = 0; i < group->count && stacks->trail.status == PUG_OK; i++) {
        if (stacks->here.known)
            i += follow(stacks, &steps[i], group->count - i);
        if (i == group->count)
            break;
        struct profile_step *step = &steps[i];
        if (step->shape.kind == PROFILE_STEP_RANGE) {
            take_run(stacks, task, step, &range);
        } else if (step->shape.kind == PROFILE_STEP_OTHER) {
            take_other(stacks, task, (*others)++);
        } else {
            step->shape.kind = PROFILE_STEP_RANGE;
            if (!stacks->here.known || follow(stacks, step, 1) == 0)
                take_run(stacks, task, step, &range);
            take_cycles(stacks, task, steps[++i].start);
        }
    }
    settle(stacks);
    stacks->here.last = NULL;
}

/* What others did on a processor: the time that passed there is theirs. */
static void take_left_out(struct profile_stacks *stacks, const struct profile_steps *group,
                          const struct pug_element **others)
{
    pug_profile_trail_leave_out(&stacks->trail, group);
    for (size_t i = 0; i < group->count; i++, ++*others)
        if ((*others)->type == PUG_ELEM_TIMESTAMP)
            take_time(stacks, NULL, (*others)->timestamp);
        else
            stop_time(stacks);
    pug_profile_trail_end_group(&stacks->trail);
}

static void take_group(struct profile_stacks *stacks, const struct profile_steps *group,
                       struct profile_step *steps, const struct pug_element **others)
{
    struct profile_trail *trail = &stacks->trail;
    if (group->left_out) {
        take_left_out(stacks, group, others);
        return;
    }
    pug_profile_trail_begin_group(trail, group);
    const uint32_t task = find_task(stacks, &group->origin);
    if (task == PUG_NO_TASK || trail->status != PUG_OK)
        return;
    if (task != stacks->here.task || !trail->follows)
        stacks->here.known = false;
    note_move(stacks, task);
    take_steps(stacks, task, steps, others);
    pug_profile_trail_end_group(trail);
}

enum pug_status pug_profile_stacks_take(struct profile_stacks *stacks, struct profile_part *part)
{
    struct profile_step *steps = part->steps;
    const struct pug_element *others = part->others;
    for (size_t i = 0; i < part->group_count && stacks->trail.status == PUG_OK; i++) {
        take_group(stacks, &part->groups[i], steps, &others);
        steps += part->groups[i].count;
    }
    return stacks->trail.status;
}

void pug_profile_stacks_turn(struct profile_stacks *stacks, uint32_t side, bool begins)
{
    pug_profile_trail_turn(&stacks->trail, side, begins);
    stacks->here.known = false;
}

enum pug_status pug_profile_stacks_end(struct profile_stacks *stacks)
{
    pug_profile_frames_end(&stacks->frames);
    pug_profile_trail_end(&stacks->trail);
    fail(stacks, pug_profile_loops_end(stacks->loops, stacks->objects));
    return stacks->trail.status;
}

struct profile_stacks *pug_profile_stacks_new(struct profile_counted *counted)
{
    struct profile_stacks *stacks = calloc(1, sizeof(*stacks));
    if (!stacks)
        return NULL;
    stacks->objects = counted->objects;
    stacks->frames.objects = counted->objects;
    stacks->frames.trail = &stacks->trail;
    stacks->tasks = (struct profile_table){
        .size = sizeof(struct stack_task), .hash = hash_task, .same = same_task};
    stacks->clocks = (struct profile_table){
        .size = sizeof(struct stack_clock), .hash = hash_clock, .same = same_clock};
    const struct pug_calls_config config = {
        .locate = locate, .locate_context = stacks, .event = on_event, .event_context = stacks};
    stacks->loops = pug_profile_loops_new();
    if (pug_profile_trail_begin(&stacks->trail, counted) && stacks->loops &&
        pug_calls_new(&config, &stacks->calls) == PUG_OK)
        return stacks;
    pug_profile_stacks_free(stacks);
    return NULL;
}

void pug_profile_stacks_free(struct profile_stacks *stacks)
{
    if (!stacks)
        return;
    pug_calls_free(stacks->calls);
    pug_profile_loops_free(stacks->loops);
    pug_profile_trail_free(&stacks->trail);
    pug_profile_table_free(&stacks->tasks);
    pug_profile_table_free(&stacks->clocks);
    pug_profile_frames_free(&stacks->frames);
    free(stacks);
}
