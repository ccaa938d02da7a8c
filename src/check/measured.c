// SPDX-License-Identifier: MIT
/** @file Calls that rules measure: when they begin, stand still, go on and end. */
#include "check/frames.h"

#include <stdlib.h>

/* Of an inlined copy that waits. */
#define NO_LINK UINT32_MAX

/* ---- when ---- */

/** The time of something that happened on a stream's core, as the call stack has it. */
void pug_check_stamp_event(const struct pug_check *check, const struct check_stream *stream,
                           const struct pug_call_event *event, struct check_event *out)
{
    const struct check_core *core = stream->core;
    const uint64_t ran = event->now.instructions;
    struct check_stamp *stamp = &out->stamp;
    out->call = NULL;
    out->order = NULL;
    out->flags = 0;
    stamp->instructions = ran;
    stamp->index = check->element ? check->element->index : 0;
    stamp->time = (struct check_interval){core->time, CHECK_UNKNOWN};
    out->time_known = core->has_time && stream->time_at == ran;
    if (core->has_time && stream->time_at != CHECK_UNKNOWN &&
        event->now.timestamp < stream->task_time) { /* the last time belongs after it */
        stamp->time.from = event->now.timestamp;
        stamp->time.to = core->time;
        out->time_known = true;
    } else if (out->time_known) {
        stamp->time.to = core->time;
    }
    stamp->cycles = (struct check_interval){core->cycles, CHECK_UNKNOWN};
    out->cycles_known = core->has_cycles && stream->cycles_at == ran;
    if (event->now.cycles < stream->task_cycles) {
        stamp->cycles.from = core->cycles - (stream->task_cycles - event->now.cycles);
        stamp->cycles.to = core->cycles;
        out->cycles_known = true;
    } else if (event->now.cycles > stream->task_cycles) {
        stamp->cycles.from = stamp->cycles.to =
            core->cycles + (event->now.cycles - stream->task_cycles);
        out->cycles_known = true;
    } else if (out->cycles_known) {
        stamp->cycles.to = core->cycles;
    }
}

/** Stamps the element at hand. */
void pug_check_stamp_now(const struct pug_check *check, const struct check_stream *stream,
                         struct check_event *out)
{
    const struct pug_call_event event = {.now = {.timestamp = stream->task_time,
                                                 .cycles = stream->task_cycles,
                                                 .instructions = stream->instructions}};
    pug_check_stamp_event(check, stream, &event, out);
}

/* ---- calls that are measured ---- */

static void queue_call(struct pug_check *check, struct check_call *call,
                       const struct check_event *stamp, enum check_op op, unsigned flags)
{
    struct check_event event = *stamp;
    event.call = call;
    event.op = (uint8_t)op;
    event.flags = (uint8_t)flags;
    pug_check_queue(check, call->stream->core, &event);
}

static void pause_call(struct pug_check *check, struct check_call *call,
                       const struct check_event *stamp)
{
    if (call->pauses++ == 0)
        queue_call(check, call, stamp, CHECK_OP_PAUSE, 0);
}

static void resume_call(struct pug_check *check, struct check_call *call,
                        const struct check_event *stamp)
{
    if (call->pauses > 0 && --call->pauses == 0)
        queue_call(check, call, stamp, CHECK_OP_RESUME, 0);
}

/** One that is not used, or a new one. */
static struct check_call *take_call(struct pug_check *check, struct check_stream *stream,
                                    uint32_t link)
{
    for (struct check_call **at = &stream->idle; *at; at = &(*at)->next_open)
        if ((*at)->link == link) {
            struct check_call *call = *at;
            *at = call->next_open;
            return call;
        }
    struct check_call *call = calloc(1, sizeof(*call));
    struct check_call **slot = call ? pug_list_add(&check->suspended, sizeof(*slot)) : NULL;
    if (!slot) {
        free(call);
        pug_check_starve(check);
        return NULL;
    }
    *slot = call;
    call->stream = stream;
    call->link = link;
    return call;
}

static struct check_call *call_of(struct pug_check *check, struct check_stream *stream,
                                  uint32_t link)
{
    if (!stream->calls[link])
        stream->calls[link] = take_call(check, stream, link);
    return stream->calls[link];
}

bool pug_check_keep_copy(struct pug_check *check, struct check_stream *stream,
                         struct pug_call_frame *frame, const struct check_copy *copy)
{
    struct check_call *call = take_call(check, stream, NO_LINK);
    if (!call)
        return false;
    call->copy = copy;
    call->next_open = frame->user;
    frame->user = call;
    return true;
}

const struct check_rule *pug_check_rule_of(const struct pug_check *check, uint32_t link)
{
    return &CHECK_TALLY(check, CHECK_LINK_AT(check, link)->rule)->rule;
}

void pug_check_call_begin(struct pug_check *check, struct check_stream *stream,
                          uint32_t link_number, const struct check_event *stamp, uint32_t depth,
                          bool found)
{
    struct check_call *call = call_of(check, stream, link_number);
    const struct check_link *link = CHECK_LINK_AT(check, link_number);
    if (!call || call->nest++ > 0)
        return;
    struct check_tally *tally = CHECK_TALLY(check, link->rule);
    call->sum = link->sum;
    if (!call->sum)
        call->sum = pug_check_sum_of(check, tally, CHECK_FUNCTION_AT(check, link->function)->name,
                                     pug_check_scope_label(&tally->rule, stream));
    call->depth = depth;
    call->exceptions = stream->exceptions;
    call->carried = false;
    call->pauses = 0;
    call->open = true;
    call->next_open = stream->open;
    stream->open = call;
    queue_call(check, call, stamp, CHECK_OP_BEGIN, found ? CHECK_FOUND : 0);
}

static void unlist(struct check_call *call)
{
    for (struct check_call **at = &call->stream->open; *at; at = &(*at)->next_open)
        if (*at == call) {
            *at = call->next_open;
            break;
        }
    call->open = false;
}

void pug_check_call_end(struct pug_check *check, struct check_call *call,
                        const struct check_event *stamp, unsigned flags)
{
    unlist(call);
    call->stream->carried -= call->carried;
    call->carried = false;
    call->nest = 0;
    queue_call(check, call, stamp, CHECK_OP_END, flags);
}

void pug_check_call_leave(struct pug_check *check, struct check_stream *stream, uint32_t link,
                          const struct check_event *stamp, const struct pug_call_event *event,
                          unsigned flags)
{
    struct check_call *call = stream->calls[link];
    if (!call || call->nest == 0)
        return;
    if (event && event->tail && call->nest == 1 && !call->carried) {
        call->carried = true;
        stream->carried++;
        if (pug_check_rule_of(check, link)->part == CHECK_PART_OWN)
            pause_call(check, call, stamp);
        return;
    }
    if (call->nest > 1)
        call->nest--;
    else if (!call->carried)
        pug_check_call_end(check, call, stamp, flags);
}

/** Another thread runs: the call waits with its frame. */
void pug_check_call_suspend(struct pug_check *check, struct check_stream *stream, uint32_t link,
                            const struct check_event *stamp, struct pug_call_event const *event)
{
    struct check_call *call = stream->calls[link];
    if (!call || !call->open || call->depth != event->depth)
        return;
    if (pug_check_rule_of(check, link)->part != CHECK_PART_WALL)
        pause_call(check, call, stamp);
    unlist(call);
    stream->calls[link] = NULL;
    call->next_open = event->frame->user;
    event->frame->user = call;
}

void pug_check_call_resume(struct pug_check *check, struct check_stream *stream,
                           const struct check_event *stamp, const struct pug_call_event *event)
{
    struct check_call *call = event->frame->user;
    event->frame->user = NULL;
    while (call) {
        struct check_call *next = call->next_open;
        if (call->copy) {
            pug_check_copy_again(check, stream, event, call->copy);
            call->next_open = stream->idle;
            stream->idle = call;
            call = next;
            continue;
        }
        struct check_call *other = stream->calls[call->link];
        if (other && other->open) {
            pug_check_call_end(check, other, stamp, CHECK_DAMAGED);
        }
        if (other) {
            other->next_open = stream->idle;
            stream->idle = other;
        }
        stream->calls[call->link] = call;
        call->open = true;
        call->depth = event->depth;
        call->next_open = stream->open;
        stream->open = call;
        if (pug_check_rule_of(check, call->link)->part != CHECK_PART_WALL)
            resume_call(check, call, stamp);
        call = next;
    }
}

/* ---- interrupts, other threads, own time ---- */

void pug_check_pause_interrupted(struct pug_check *check, struct check_stream *stream,
                                 const struct check_event *stamp, bool resume)
{
    for (struct check_call *call = stream->open; call; call = call->next_open) {
        if (call->exceptions != stream->exceptions ||
            pug_check_rule_of(check, call->link)->part != CHECK_PART_NO_INTERRUPTS)
            continue;
        if (resume)
            resume_call(check, call, stamp);
        else
            pause_call(check, call, stamp);
    }
}

void pug_check_pause_stream(struct pug_check *check, struct check_stream *stream, bool resume)
{
    struct check_event stamp = {0};
    if (!stream->open)
        return;
    pug_check_stamp_now(check, stream, &stamp);
    for (struct check_call *call = stream->open; call; call = call->next_open) {
        if (pug_check_rule_of(check, call->link)->part == CHECK_PART_WALL)
            continue;
        if (resume)
            resume_call(check, call, &stamp);
        else
            pause_call(check, call, &stamp);
    }
}

bool pug_check_is_own_turn(const struct pug_check *check, const struct check_stream *stream,
                           const struct pug_call_event *event)
{
    const struct pug_call_frame *caller = event->depth > 0 ? event->frame - 1 : NULL;
    if (!check->measures_own || !stream->open || !caller)
        return false;
    return stream->copies.count > 0 ||
           (caller->function.id != 0 && caller->function.id <= check->functions.count &&
            check->functions.items &&
            CHECK_FUNCTION_AT(check, caller->function.id - 1)->measured_own);
}

/** Of one function that the caller's frame is in. */
static void turn_function(struct pug_check *check, struct check_stream *stream, uint32_t number,
                          uint32_t depth, const struct check_event *stamp, bool back)
{
    const struct check_function *function = CHECK_FUNCTION_AT(check, number - 1);
    for (uint32_t at = function->first_link; at < function->first_link + function->measures; at++) {
        struct check_call *call = stream->calls[at];
        if (!call || !call->open || call->carried || call->depth + 1 != depth ||
            pug_check_rule_of(check, at)->part != CHECK_PART_OWN)
            continue;
        if (back)
            resume_call(check, call, stamp);
        else
            pause_call(check, call, stamp);
    }
}

void pug_check_turn_own(struct pug_check *check, struct check_stream *stream,
                        const struct pug_call_event *event, const struct check_event *stamp,
                        bool back)
{
    const struct check_open_copy *copies = stream->copies.items;
    const uint64_t caller = (event->frame - 1)->function.id;
    if (caller != 0 && caller <= check->functions.count)
        turn_function(check, stream, (uint32_t)caller, event->depth, stamp, back);
    for (size_t n = stream->copies.count; n-- > 0 && copies[n].depth + 1 >= event->depth;)
        if (copies[n].depth + 1 == event->depth && copies[n].copy->function != caller)
            turn_function(check, stream, copies[n].copy->function, event->depth, stamp, back);
}
