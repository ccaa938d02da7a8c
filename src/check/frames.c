// SPDX-License-Identifier: MIT
/** @file What a frame that is entered or left means for each rule about its function. */
#include "check/frames.h"

/* ---- orders ---- */

void pug_check_queue_order(struct pug_check *check, struct check_stream *stream, uint32_t rule,
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
        pug_check_queue_order(check, stream, rule, stamp, CHECK_OP_RETURN, function);
}

/** The call that a tail call continued ends with it. */
/** A function that others are in, or not, is left: a tail call goes on for it. */
static void leave_other(struct pug_check *check, struct check_stream *stream, uint32_t rule,
                        const struct pug_call_event *event)
{
    stream->version++;
    if (!event || !event->tail || event->switched) {
        stream->depths[rule]--;
        return;
    }
    struct check_carry *carry = pug_list_add(&stream->carries, sizeof(*carry));
    if (!carry) {
        pug_check_starve(check);
        return;
    }
    *carry = (struct check_carry){.rule = rule, .depth = event->depth};
    stream->carried++;
}

void pug_check_end_others(struct check_stream *stream, uint32_t depth)
{
    const struct check_carry *carries = stream->carries.items;
    while (stream->carries.count > 0 && carries[stream->carries.count - 1].depth >= depth) {
        const uint32_t rule = carries[--stream->carries.count].rule;
        stream->depths[rule] -= stream->depths[rule] > 0;
        stream->carried--;
        stream->version++;
    }
}

void pug_check_end_carried(struct pug_check *check, struct check_stream *stream,
                           const struct check_event *stamp, uint32_t depth, unsigned flags)
{
    for (struct check_call *call = stream->open, *next; call; call = next) {
        next = call->next_open;
        if (!call->carried || call->depth != depth)
            continue;
        if (call->nest > 1) { /* frames below it are gone, too */
            call->nest = 1;
        }
        pug_check_call_end(check, call, stamp, flags);
    }
    for (uint32_t rule = 0; rule < check->tallies.count; rule++) {
        struct check_order *order = &stream->orders[rule];
        if (order->carried_depth != depth + 1)
            continue;
        order->carried_depth = 0;
        order->nest = 0;
        stream->carried--;
        if (flags == 0)
            pug_check_queue_order(check, stream, rule, stamp, CHECK_OP_RETURN,
                                  order->last_function);
    }
}

/* ---- what a frame means for each rule ---- */

static struct check_seen seen_of(const struct check_entry *entry)
{
    return (struct check_seen){.core = entry->stream->core,
                               .stream = entry->stream,
                               .stamp = &entry->stamp->stamp,
                               .function = entry->function};
}

static void count_entry(struct pug_check *check, const struct check_link *link,
                        const struct check_entry *entry)
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
                       const struct check_entry *entry)
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

void pug_check_enter_link(struct pug_check *check, uint32_t number, const struct check_entry *entry)
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
            pug_check_call_begin(check, stream, number, entry->stamp, entry->depth, entry->found);
        break;
    case CHECK_EVERY:
    case CHECK_WITHIN:
        if (news)
            pug_check_queue_order(check, stream, link->rule, entry->stamp,
                                  subject ? CHECK_OP_ENTRY : CHECK_OP_OTHER, entry->function);
        break;
    case CHECK_FOLLOWS:
        if (subject && news) {
            pug_check_queue_order(check, stream, link->rule, entry->stamp, CHECK_OP_ENTRY,
                                  entry->function);
        } else if (!subject && (order = pug_check_order_of(check, stream, link->rule)) != NULL) {
            order->switched |= entry->resumed || stream->switches;
            if (order->nest++ == 0 && news)
                pug_check_queue_order(check, stream, link->rule, entry->stamp, CHECK_OP_OTHER,
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

void pug_check_leave_link(struct pug_check *check, uint32_t number, const struct check_entry *entry,
                          const struct pug_call_event *event, unsigned flags)
{
    const struct check_link *link = CHECK_LINK_AT(check, number);
    const struct check_rule *rule = &CHECK_TALLY(check, link->rule)->rule;
    struct check_stream *stream = entry->stream;
    switch ((enum check_kind)rule->kind) {
    case CHECK_TAKES:
        if (event && event->switched)
            pug_check_call_suspend(check, stream, number, entry->stamp, event);
        else
            pug_check_call_leave(check, stream, number, entry->stamp, event, flags);
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
            leave_other(check, stream, link->rule, event);
        break;
    default: break;
    }
}
