// SPDX-License-Identifier: MIT
/** @file Calls and exceptions to what rules want to know of them. */
#include "check/engine.h"

#include <stdlib.h>

/* ---- when ---- */

/** The time of something that happened on a stream's core, as the call stack has it. */
static void stamp_event(const struct pug_check *check, const struct check_stream *stream,
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
static void stamp_now(const struct pug_check *check, const struct check_stream *stream,
                      struct check_event *out)
{
    const struct pug_call_event event = {.now = {.timestamp = stream->task_time,
                                                 .cycles = stream->task_cycles,
                                                 .instructions = stream->instructions}};
    stamp_event(check, stream, &event, out);
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

static struct check_call *call_of(struct pug_check *check, struct check_stream *stream,
                                  uint32_t link)
{
    if (stream->calls[link])
        return stream->calls[link];
    for (struct check_call **at = &stream->idle; *at; at = &(*at)->next_open)
        if ((*at)->link == link) {
            struct check_call *call = *at;
            *at = call->next_open;
            return stream->calls[link] = call;
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
    return stream->calls[link] = call;
}

static const struct check_rule *rule_of(const struct pug_check *check, uint32_t link)
{
    return &CHECK_TALLY(check, CHECK_LINK_AT(check, link)->rule)->rule;
}

static void begin_call(struct pug_check *check, struct check_stream *stream, uint32_t link_number,
                       const struct check_event *stamp, uint32_t depth, bool found)
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

static void end_call(struct pug_check *check, struct check_call *call,
                     const struct check_event *stamp, unsigned flags)
{
    unlist(call);
    call->stream->carried -= call->carried;
    call->carried = false;
    call->nest = 0;
    queue_call(check, call, stamp, CHECK_OP_END, flags);
}

static void leave_call(struct pug_check *check, struct check_stream *stream, uint32_t link,
                       const struct check_event *stamp, const struct pug_call_event *event,
                       unsigned flags)
{
    struct check_call *call = stream->calls[link];
    if (!call || call->nest == 0)
        return;
    if (event && event->tail && call->nest == 1 && !call->carried) {
        call->carried = true;
        stream->carried++;
        if (rule_of(check, link)->part == CHECK_PART_OWN)
            pause_call(check, call, stamp);
        return;
    }
    if (call->nest > 1)
        call->nest--;
    else if (!call->carried)
        end_call(check, call, stamp, flags);
}

/** Another thread runs: the call waits with its frame. */
static void suspend_call(struct pug_check *check, struct check_stream *stream, uint32_t link,
                         const struct check_event *stamp, struct pug_call_event const *event)
{
    struct check_call *call = stream->calls[link];
    if (!call || !call->open || call->depth != event->depth)
        return;
    if (rule_of(check, link)->part != CHECK_PART_WALL)
        pause_call(check, call, stamp);
    unlist(call);
    stream->calls[link] = NULL;
    call->next_open = event->frame->user;
    event->frame->user = call;
}

static void resume_suspended(struct pug_check *check, struct check_stream *stream,
                             const struct check_event *stamp, const struct pug_call_event *event)
{
    struct check_call *call = event->frame->user;
    event->frame->user = NULL;
    while (call) {
        struct check_call *next = call->next_open, *other = stream->calls[call->link];
        if (other && other->open) {
            end_call(check, other, stamp, CHECK_DAMAGED);
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
        if (rule_of(check, call->link)->part != CHECK_PART_WALL)
            resume_call(check, call, stamp);
        call = next;
    }
}

/* ---- orders ---- */

static void queue_order(struct pug_check *check, struct check_stream *stream, uint32_t rule,
                        const struct check_event *stamp, enum check_op op, uint32_t function)
{
    struct check_event event = *stamp;
    event.order = pug_check_order_of(check, stream, rule);
    event.op = (uint8_t)op;
    event.function = function;
    if (event.order)
        pug_check_queue(check, stream->core, &event);
}

static void return_order(struct pug_check *check, struct check_stream *stream, uint32_t rule,
                         const struct check_event *stamp, const struct pug_call_event *event,
                         uint32_t function, unsigned flags)
{
    struct check_order *order = pug_check_order_of(check, stream, rule);
    if (!order || order->nest == 0)
        return;
    if (event && event->tail && order->nest == 1) {
        stream->carried += order->carried_depth == 0;
        order->carried_depth = event->depth + 1;
        return;
    }
    if (--order->nest == 0 && flags == 0)
        queue_order(check, stream, rule, stamp, CHECK_OP_RETURN, function);
}

/** The call that a tail call continued ends with it. */
static void end_carried(struct pug_check *check, struct check_stream *stream,
                        const struct check_event *stamp, uint32_t depth, unsigned flags)
{
    for (struct check_call *call = stream->open, *next; call; call = next) {
        next = call->next_open;
        if (!call->carried || call->depth != depth)
            continue;
        if (call->nest > 1) { /* frames below it are gone, too */
            call->nest = 1;
        }
        end_call(check, call, stamp, flags);
    }
    for (uint32_t rule = 0; rule < check->tallies.count; rule++) {
        struct check_order *order = &stream->orders[rule];
        if (order->carried_depth != depth + 1)
            continue;
        order->carried_depth = 0;
        order->nest = 0;
        stream->carried--;
        if (flags == 0)
            queue_order(check, stream, rule, stamp, CHECK_OP_RETURN, order->last_function);
    }
}

/* ---- what a frame means for each rule ---- */

struct entry {
    struct check_stream *stream;
    const struct check_event *stamp;
    uint32_t function; /* plus 1 */
    uint32_t depth;
    bool found;   /* it was there: that is no entry */
    bool resumed; /* its thread goes on */
};

static struct check_seen seen_of(const struct entry *entry)
{
    return (struct check_seen){.core = entry->stream->core,
                               .stream = entry->stream,
                               .stamp = &entry->stamp->stamp,
                               .function = entry->function};
}

static void count_entry(struct pug_check *check, const struct check_link *link,
                        const struct entry *entry)
{
    struct check_tally *tally = CHECK_TALLY(check, link->rule);
    if (!tally->noted) { /* where it was entered first, should that be too often */
        const struct check_seen seen = seen_of(entry);
        pug_check_note(check, link->rule, &seen);
    }
    struct check_sum *sum =
        link->counted ? NULL
                      : pug_check_sum_of(check, tally, NULL,
                                         pug_check_scope_label(&tally->rule, entry->stream));
    if (!sum)
        return;
    if (entry->found)
        sum->partial++;
    else
        sum->count++;
}

static void look_where(struct pug_check *check, const struct check_link *link,
                       const struct entry *entry)
{
    const struct check_rule *rule = &CHECK_TALLY(check, link->rule)->rule;
    struct check_stream *stream = entry->stream;
    const struct check_seen seen = seen_of(entry);
    const bool inside = stream->depths[link->rule] > 0;
    CHECK_TALLY(check, link->rule)->count += !link->counted;
    if (link->interrupt) {
        if (stream->exceptions > 0) {
            pug_check_violate(check, link->rule, &seen, "it was entered in an interrupt");
        } else if (!stream->returned && !inside) {
            uint32_t *doubt = pug_list_add(&stream->doubtful, sizeof(*doubt));
            if (doubt)
                *doubt = link->rule;
            stream->depths[link->rule] = 1; /* it is in the list */
        }
    } else if (rule->kind == CHECK_NOT_IN) {
        if (inside)
            pug_check_violate(check, link->rule, &seen, "it was entered in %s", rule->other.name);
    } else if (rule->other.kind == CHECK_THREAD) {
        const struct check_rule wanted = {.scope = CHECK_SCOPE_THREAD, .thread = rule->other.name};
        if (!stream->label || stream->unknown_thread)
            pug_check_doubt(check, link->rule, &seen, "the trace does not tell threads apart");
        else if (!pug_check_in_scope(check, &wanted, stream))
            pug_check_violate(check, link->rule, &seen, "it was entered in %s", stream->label);
    } else if (!inside) {
        const struct pug_call_frame *frames;
        const uint32_t depth = pug_calls_stack(check->calls, stream->number, &frames);
        /* of the outermost frame no caller is known, unless the trace began where it begins */
        if (depth > 0 && (frames[0].kind != PUG_CALL_FOUND || stream->core->loss_count > 0 ||
                          frames[0].address != frames[0].function.start))
            pug_check_doubt(check, link->rule, &seen, "its outermost callers are not in the trace");
        else
            pug_check_violate(check, link->rule, &seen, "it was entered outside of %s",
                              rule->other.name);
    }
}

static void enter_link(struct pug_check *check, uint32_t number, const struct entry *entry)
{
    const struct check_link *link = CHECK_LINK_AT(check, number);
    const struct check_rule *rule = &CHECK_TALLY(check, link->rule)->rule;
    struct check_stream *stream = entry->stream;
    const bool subject = link->role == CHECK_ROLE_SUBJECT, news = !entry->found && !entry->resumed;
    struct check_order *order;
    if (stream->unknown_thread &&
        (rule->scope == CHECK_SCOPE_THREAD || rule->scope == CHECK_SCOPE_THREADS)) {
        const struct check_seen seen = seen_of(entry);
        pug_check_doubt(check, link->rule, &seen, "it ran in a thread that is not known");
    }
    if (rule->scope == CHECK_SCOPE_THREAD && !pug_check_in_scope(check, rule, stream))
        return;
    switch ((enum check_kind)rule->kind) {
    case CHECK_TAKES:
        if (!entry->resumed)
            begin_call(check, stream, number, entry->stamp, entry->depth, entry->found);
        break;
    case CHECK_EVERY:
    case CHECK_WITHIN:
        if (news)
            queue_order(check, stream, link->rule, entry->stamp,
                        subject ? CHECK_OP_ENTRY : CHECK_OP_OTHER, entry->function);
        break;
    case CHECK_FOLLOWS:
        if (subject && news) {
            queue_order(check, stream, link->rule, entry->stamp, CHECK_OP_ENTRY, entry->function);
        } else if (!subject && (order = pug_check_order_of(check, stream, link->rule)) != NULL) {
            order->switched |= entry->resumed || stream->switches;
            if (order->nest++ == 0 && news)
                queue_order(check, stream, link->rule, entry->stamp, CHECK_OP_OTHER,
                            entry->function);
        }
        break;
    case CHECK_RUNS:
        if (!entry->resumed)
            count_entry(check, link, entry);
        break;
    case CHECK_DEPTH:
        if (stream->depths[link->rule] == 0 && stream->exceptions == 0)
            stream->depths[link->rule] = entry->depth + 1;
        CHECK_TALLY(check, link->rule)->saw_depth = true;
        break;
    case CHECK_NOT_IN:
    case CHECK_ONLY_IN:
        if (!subject) {
            stream->depths[link->rule]++;
            stream->version++;
        } else if (news) {
            look_where(check, link, entry);
        }
        break;
    default: break;
    }
}

static void leave_link(struct pug_check *check, uint32_t number, const struct entry *entry,
                       const struct pug_call_event *event, unsigned flags)
{
    const struct check_link *link = CHECK_LINK_AT(check, number);
    const struct check_rule *rule = &CHECK_TALLY(check, link->rule)->rule;
    struct check_stream *stream = entry->stream;
    switch ((enum check_kind)rule->kind) {
    case CHECK_TAKES:
        if (event && event->switched)
            suspend_call(check, stream, number, entry->stamp, event);
        else
            leave_call(check, stream, number, entry->stamp, event, flags);
        break;
    case CHECK_FOLLOWS:
        if (link->role == CHECK_ROLE_OTHER)
            return_order(check, stream, link->rule, entry->stamp, event, entry->function,
                         event && event->switched ? CHECK_DAMAGED : flags);
        break;
    case CHECK_DEPTH:
        if (stream->depths[link->rule] == entry->depth + 1)
            stream->depths[link->rule] = 0;
        break;
    case CHECK_NOT_IN:
    case CHECK_ONLY_IN:
        if (link->role == CHECK_ROLE_OTHER && stream->depths[link->rule] > 0)
            stream->depths[link->rule]--;
        stream->version++;
        break;
    default: break;
    }
}

/* ---- depth, interrupts, own time ---- */

static void look_at_depths(struct pug_check *check, struct check_stream *stream,
                           const struct pug_call_event *event)
{
    struct check_depth *depths = check->depths.items;
    if (stream->exceptions > 0)
        return;
    for (size_t n = 0; n < check->depths.count; n++) {
        struct check_depth *depth = &depths[n];
        const uint32_t base = stream->depths[depth->rule];
        const uint64_t above = event->depth + 1 > base ? event->depth + 1 - base : 0;
        depth->shallow |= base == 0;
        if (base == 0)
            continue;
        if (above > depth->deepest)
            depth->deepest = above;
        if (above <= depth->bound)
            continue;
        struct check_event stamp;
        stamp_event(check, stream, event, &stamp);
        const struct check_seen seen = {.core = stream->core,
                                        .stream = stream,
                                        .stamp = &stamp.stamp,
                                        .function = (uint32_t)event->frame->function.id};
        pug_check_violate(check, depth->rule, &seen, "%u calls are open above it", (unsigned)above);
    }
}

void pug_check_pause_interrupted(struct pug_check *check, struct check_stream *stream,
                                 const struct check_event *stamp, bool resume)
{
    for (struct check_call *call = stream->open; call; call = call->next_open) {
        if (call->exceptions != stream->exceptions ||
            rule_of(check, call->link)->part != CHECK_PART_NO_INTERRUPTS)
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
    stamp_now(check, stream, &stamp);
    for (struct check_call *call = stream->open; call; call = call->next_open) {
        if (rule_of(check, call->link)->part == CHECK_PART_WALL)
            continue;
        if (resume)
            resume_call(check, call, &stamp);
        else
            pause_call(check, call, &stamp);
    }
}

/**
 * A function that the caller's frame called begins or ends: the caller's own time stops, goes on.
 */
static bool is_own_turn(const struct pug_check *check, const struct check_stream *stream,
                        const struct pug_call_event *event)
{
    const struct pug_call_frame *caller = event->depth > 0 ? event->frame - 1 : NULL;
    return check->measures_own && stream->open && caller && caller->function.id != 0 &&
           caller->function.id <= check->functions.count && check->functions.items &&
           CHECK_FUNCTION_AT(check, caller->function.id - 1)->measured_own;
}

static void turn_own(struct pug_check *check, struct check_stream *stream,
                     const struct pug_call_event *event, const struct check_event *stamp, bool back)
{
    const struct check_function *function =
        CHECK_FUNCTION_AT(check, (event->frame - 1)->function.id - 1);
    for (uint32_t at = function->first_link; at < function->first_link + function->measures; at++) {
        struct check_call *call = stream->calls[at];
        if (!call || !call->open || call->carried || call->depth + 1 != event->depth ||
            rule_of(check, at)->part != CHECK_PART_OWN)
            continue;
        if (back)
            resume_call(check, call, stamp);
        else
            pause_call(check, call, stamp);
    }
}

/* ---- events ---- */

static unsigned flags_of(const struct pug_call_event *event)
{
    return event->lost ? CHECK_DAMAGED : event->ended ? CHECK_CUT : 0;
}

/** Does an entry mean something to a rule? What most of them find is looked at here. */
static bool is_of_matter(const struct pug_check *check, const struct check_stream *stream,
                         const struct check_link *link)
{
    if (!link->counted)
        return true;
    switch (link->kind) {
    case CHECK_RUNS: return CHECK_FUNCTION_AT(check, link->function)->entries <= 1;
    case CHECK_NOT_IN:
        return link->interrupt
                   ? stream->exceptions > 0 || (!stream->returned && !stream->depths[link->rule])
                   : stream->depths[link->rule] > 0;
    default: return stream->depths[link->rule] == 0;
    }
}

/** The first call of the function on the stack: where frames inside it are counted. */
static struct check_call *outer_call(const struct check_stream *stream,
                                     const struct check_function *function)
{
    struct check_call *call = function->measures ? stream->calls[function->first_link] : NULL;
    return call && call->nest > 0 ? call : NULL;
}

static void enter_links(struct pug_check *check, struct check_stream *stream,
                        const struct pug_call_event *event, struct check_function *function,
                        struct check_event *stamp, bool stamped)
{
    const struct pug_call_frame *frame = event->frame;
    const bool found = frame->kind == PUG_CALL_FOUND && frame->address != frame->function.start;
    const struct entry entry = {.stream = stream,
                                .stamp = stamp,
                                .function = (uint32_t)frame->function.id,
                                .depth = event->depth,
                                .found = found,
                                .resumed = event->switched};
    const uint32_t number = (uint32_t)frame->function.id;
    uint32_t at = function->first_link;
    const uint32_t end = at + function->link_count;
    function->entries += !found && !event->switched;
    function->found += found && !event->switched;
    struct check_call *outer = event->switched ? NULL : outer_call(stream, function);
    if (outer) {
        outer->nest++;
        at += function->measures;
    }
    const bool quiet = function->quiet == stream->version + 1 &&
                       function->quiet_stream == stream->number && !found;
    const uint32_t last = quiet ? function->first_link + function->plain : end;
    bool minded = found || function->entries < 2;
    for (; at < last; at++) {
        const struct check_link *link = CHECK_LINK_AT(check, at);
        if (!is_of_matter(check, stream, link))
            continue;
        if (!stamped)
            stamp_event(check, stream, event, stamp);
        stamped = true;
        minded |= link->counted;
        enter_link(check, at, &entry);
    }
    function = CHECK_FUNCTION_AT(check, number - 1);
    if (!quiet) {
        function->quiet = minded ? 0 : stream->version + 1;
        function->quiet_stream = stream->number;
    }
}

static void on_enter(struct pug_check *check, struct check_stream *stream,
                     const struct pug_call_event *event)
{
    const struct pug_call_frame *frame = event->frame;
    struct check_function *function =
        frame->function.id ? CHECK_FUNCTION_AT(check, frame->function.id - 1) : NULL;
    const bool exception = frame->kind == PUG_CALL_EXCEPTION && !event->switched;
    struct check_event stamp;
    bool stamped = false;
    /* a handler is no callee: what interrupts a function itself counts */
    const bool own =
        frame->kind != PUG_CALL_TAIL && !frame->in_exception && is_own_turn(check, stream, event);
    if (exception || event->switched || own) {
        stamp_event(check, stream, event, &stamp);
        stamped = true;
    }
    if (exception) {
        pug_check_pause_interrupted(check, stream, &stamp, false);
        stream->exceptions++;
        stream->version++;
    }
    if (event->switched)
        resume_suspended(check, stream, &stamp, event);
    stream->switches |= frame->doubtful || event->switched;
    if (own)
        turn_own(check, stream, event, &stamp, false);
    if (function && function->link_count > 0)
        enter_links(check, stream, event, function, &stamp, stamped);
    if (check->looks_depth)
        look_at_depths(check, stream, event);
}

static void leave_links(struct pug_check *check, struct check_stream *stream,
                        const struct pug_call_event *event, const struct check_function *function,
                        struct check_event *stamp)
{
    const struct entry entry = {.stream = stream,
                                .stamp = stamp,
                                .function = (uint32_t)event->frame->function.id,
                                .depth = event->depth};
    uint32_t at = function->first_link;
    const uint32_t end = at + function->plain;
    bool stamped = false;
    struct check_call *outer = event->switched ? NULL : outer_call(stream, function);
    if (outer && outer->nest > 1) {
        outer->nest--;
        at += function->measures;
    }
    for (; at < end; at++) {
        if (!stamped)
            stamp_event(check, stream, event, stamp);
        stamped = true;
        leave_link(check, at, &entry, event, flags_of(event));
    }
}

static void on_leave(struct pug_check *check, struct check_stream *stream,
                     const struct pug_call_event *event)
{
    const struct pug_call_frame *frame = event->frame;
    const struct check_function *function =
        frame->function.id ? CHECK_FUNCTION_AT(check, frame->function.id - 1) : NULL;
    const bool exception = frame->in_exception && !event->tail && !event->switched;
    struct check_event stamp;
    stream->switches |= event->switched;
    if (function && function->link_count > 0)
        leave_links(check, stream, event, function, &stamp);
    const bool own = !event->tail && !frame->in_exception && is_own_turn(check, stream, event);
    if (!exception && stream->carried == 0 && !own)
        return;
    stamp_event(check, stream, event, &stamp);
    if (stream->carried > 0 && !event->tail && !event->switched)
        end_carried(check, stream, &stamp, event->depth, flags_of(event));
    if (own)
        turn_own(check, stream, event, &stamp, true);
    if (exception && stream->exceptions > 0) {
        stream->exceptions--;
        stream->version++;
        pug_check_pause_interrupted(check, stream, &stamp, true);
    }
}

void pug_check_on_call(void *context, const struct pug_call_event *event)
{
    struct pug_check *check = context;
    struct check_stream **streams = check->streams.items;
    if (event->task >= check->streams.count || check->status != PUG_OK)
        return;
    if (event->kind == PUG_CALL_ENTER)
        on_enter(check, streams[event->task], event);
    else if (event->kind == PUG_CALL_LEAVE)
        on_leave(check, streams[event->task], event);
}

/* ---- exceptions ---- */

void pug_check_exception_return(struct pug_check *check, struct check_stream *stream)
{
    const uint32_t *rules = stream->doubtful.items;
    if (stream->exceptions > 0 || stream->returned)
        return;
    stream->returned = true;
    stream->version++;
    for (size_t n = 0; n < stream->doubtful.count; n++) {
        const struct check_seen seen = {.core = stream->core, .stream = stream};
        pug_check_doubt(check, rules[n], &seen,
                        "it was entered before the first return from an exception, and the trace "
                        "does not tell whether inside of one");
    }
    stream->doubtful.count = 0;
}

static bool may_be(struct pug_check *check, const struct check_rule *rule, unsigned numbers,
                   uint32_t number)
{
    const char *const *names = rule->list.items;
    for (size_t n = 0; n < rule->list.count; n++)
        if (pug_check_is_exception(check, names[n], numbers, number))
            return true;
    return false;
}

static void order_exception(struct pug_check *check, struct check_stream *stream, uint32_t rule,
                            unsigned numbers, uint32_t number, const struct check_event *stamp)
{
    const struct check_rule *of = &CHECK_TALLY(check, rule)->rule;
    if (of->subject.kind == CHECK_EXCEPTION_NAMED &&
        pug_check_is_exception(check, of->subject.name, numbers, number))
        queue_order(check, stream, rule, stamp, CHECK_OP_ENTRY, 0);
    if (of->other.kind == CHECK_EXCEPTION_NAMED &&
        pug_check_is_exception(check, of->other.name, numbers, number))
        queue_order(check, stream, rule, stamp, CHECK_OP_OTHER, 0);
}

void pug_check_exception(struct pug_check *check, struct check_stream *stream, unsigned numbers,
                         uint32_t number, const struct check_event *given)
{
    struct check_event stamp;
    char name[64];
    if (given)
        stamp = *given;
    else
        stamp_now(check, stream, &stamp);
    const struct check_seen seen = {.core = stream->core, .stream = stream, .stamp = &stamp.stamp};
    pug_exception_text((enum pug_exception_numbers)numbers, number, name, sizeof(name));
    for (uint32_t n = 0; n < check->tallies.count; n++) {
        struct check_tally *tally = CHECK_TALLY(check, n);
        if (tally->impossible)
            continue;
        switch (tally->rule.kind) {
        case CHECK_EXCEPTIONS:
            tally->count++;
            if (!may_be(check, &tally->rule, numbers, number))
                pug_check_violate(check, n, &seen, "%s was taken", name);
            break;
        case CHECK_EXCEPTION:
            if (pug_check_is_exception(check, tally->rule.subject.name, numbers, number))
                pug_check_violate(check, n, &seen, "%s was taken", name);
            break;
        case CHECK_WITHIN: order_exception(check, stream, n, numbers, number, &stamp); break;
        default: break;
        }
    }
}

/* ---- of a DWT, which reports only handlers ---- */

void pug_check_enter(struct pug_check *check, struct check_stream *stream, uint32_t function,
                     const struct check_event *stamp, uint32_t depth, bool found)
{
    const struct entry entry = {
        .stream = stream, .stamp = stamp, .function = function, .depth = depth, .found = found};
    struct check_function *of = CHECK_FUNCTION_AT(check, function - 1);
    of->entries += !found;
    of->found += found;
    for (uint32_t at = of->first_link, end = at + of->link_count; at < end; at++)
        enter_link(check, at, &entry);
}

void pug_check_leave(struct pug_check *check, struct check_stream *stream, uint32_t function,
                     const struct check_event *stamp, uint32_t depth, unsigned flags)
{
    const struct entry entry = {
        .stream = stream, .stamp = stamp, .function = function, .depth = depth};
    const struct check_function *of = CHECK_FUNCTION_AT(check, function - 1);
    for (uint32_t at = of->first_link, end = at + of->link_count; at < end; at++)
        leave_link(check, at, &entry, NULL, flags);
}
