// SPDX-License-Identifier: MIT
/** @file Calls and exceptions to what rules want to know of them. */
#include "check/frames.h"

/* ---- depth ---- */

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
        pug_check_stamp_event(check, stream, event, &stamp);
        const struct check_seen seen = {.core = stream->core,
                                        .stream = stream,
                                        .stamp = &stamp.stamp,
                                        .function = (uint32_t)event->frame->function.id};
        pug_check_violate(check, depth->rule, &seen, "%u calls are open above it", (unsigned)above);
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

void pug_check_enter_links(struct pug_check *check, struct check_stream *stream,
                           const struct pug_call_event *event, struct check_function *function,
                           struct check_event *stamp, bool stamped)
{
    const struct pug_call_frame *frame = event->frame;
    const bool found = frame->kind == PUG_CALL_FOUND && frame->address != frame->function.start;
    const struct check_entry entry = {.stream = stream,
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
            pug_check_stamp_event(check, stream, event, stamp);
        stamped = true;
        minded |= link->counted;
        pug_check_enter_link(check, at, &entry);
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
    const bool own = frame->kind != PUG_CALL_TAIL && !frame->in_exception &&
                     pug_check_is_own_turn(check, stream, event);
    if (exception || event->switched || own) {
        pug_check_stamp_event(check, stream, event, &stamp);
        stamped = true;
    }
    if (exception) {
        pug_check_pause_interrupted(check, stream, &stamp, false);
        stream->exceptions++;
        stream->version++;
    }
    if (event->switched)
        pug_check_call_resume(check, stream, &stamp, event);
    stream->switches |= frame->doubtful || event->switched;
    if (frame->kind == PUG_CALL_FOUND)
        stream->on_track = false;
    if (own)
        pug_check_turn_own(check, stream, event, &stamp, false);
    if (function && function->link_count > 0)
        pug_check_enter_links(check, stream, event, function, &stamp, stamped);
    if (check->looks_depth)
        look_at_depths(check, stream, event);
}

void pug_check_leave_links(struct pug_check *check, struct check_stream *stream,
                           const struct pug_call_event *event,
                           const struct check_function *function, struct check_event *stamp)
{
    const struct check_entry entry = {.stream = stream,
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
            pug_check_stamp_event(check, stream, event, stamp);
        stamped = true;
        pug_check_leave_link(check, at, &entry, event, flags_of(event));
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
    if (stream->copies.count > 0)
        pug_check_leave_copies(check, stream, event);
    if (function && function->link_count > 0)
        pug_check_leave_links(check, stream, event, function, &stamp);
    const bool own =
        !event->tail && !frame->in_exception && pug_check_is_own_turn(check, stream, event);
    if (!exception && stream->carried == 0 && !own)
        return;
    pug_check_stamp_event(check, stream, event, &stamp);
    if (stream->carried > 0 && !event->tail && !event->switched)
        pug_check_end_carried(check, stream, &stamp, event->depth, flags_of(event));
    if (own)
        pug_check_turn_own(check, stream, event, &stamp, true);
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

/* ---- of a DWT, which reports only handlers ---- */

void pug_check_enter(struct pug_check *check, struct check_stream *stream, uint32_t function,
                     const struct check_event *stamp, uint32_t depth, bool found)
{
    const struct check_entry entry = {
        .stream = stream, .stamp = stamp, .function = function, .depth = depth, .found = found};
    struct check_function *of = CHECK_FUNCTION_AT(check, function - 1);
    of->entries += !found;
    of->found += found;
    for (uint32_t at = of->first_link, end = at + of->link_count; at < end; at++)
        pug_check_enter_link(check, at, &entry);
}

void pug_check_leave(struct pug_check *check, struct check_stream *stream, uint32_t function,
                     const struct check_event *stamp, uint32_t depth, unsigned flags)
{
    const struct check_entry entry = {
        .stream = stream, .stamp = stamp, .function = function, .depth = depth};
    const struct check_function *of = CHECK_FUNCTION_AT(check, function - 1);
    for (uint32_t at = of->first_link, end = at + of->link_count; at < end; at++)
        pug_check_leave_link(check, at, &entry, NULL, flags);
}
