// SPDX-License-Identifier: MIT
/** @file Periods, deadlines, and what has to follow what. */
#include "check/engine.h"

#include <stdlib.h>

#define PENDING_MOST 4096u

static void limits(const struct check_rule *rule, uint64_t *least, uint64_t *most)
{
    const uint64_t period = rule->limit.value, off = rule->tolerance.value;
    *least = period > off ? period - off : 0;
    *most = off > UINT64_MAX - 1 - period ? UINT64_MAX - 1 : period + off;
}

/** "between 3 us and 5 us", "4 us", "at least 3 us". */
static void words_of(const struct check_interval *value, uint8_t unit, char *words, size_t size)
{
    char low[48], high[48];
    pug_check_value_text(value->from, unit, low, sizeof(low));
    pug_check_value_text(value->to, unit, high, sizeof(high));
    if (value->from == value->to)
        snprintf(words, size, "%s", low);
    else if (value->to == CHECK_UNKNOWN)
        snprintf(words, size, "at least %s", low);
    else
        snprintf(words, size, "between %s and %s", low, high);
}

static struct check_sum *sum_of(struct pug_check *check, const struct check_order *order)
{
    return pug_check_sum_of(check, CHECK_TALLY(check, order->rule), NULL, order->scope);
}

/** Keeps what was measured, and says how it compares. */
static void judge(struct pug_check *check, const struct check_order *order,
                  const struct check_seen *seen, const struct check_interval *value,
                  enum pug_verdict verdict, const char *what)
{
    struct check_tally *tally = CHECK_TALLY(check, order->rule);
    char words[128];
    words_of(value, tally->rule.limit.unit, words, sizeof(words));
    tally->unit = tally->rule.limit.unit;
    if (value->to != CHECK_UNKNOWN) {
        struct check_sum *sum = sum_of(check, order);
        if (sum)
            pug_check_sum_add(sum, value->from, value->to);
    }
    if (verdict == PUG_VIOLATED)
        pug_check_violate(check, order->rule, seen, "%s %s", what, words);
    else if (verdict == PUG_UNDECIDED)
        pug_check_doubt(check, order->rule, seen, "%s %s: the trace does not tell more", what,
                        words);
}

/* ---- runs every ---- */

static enum pug_verdict in_period(const struct check_rule *rule, const struct check_interval *value)
{
    uint64_t least, most;
    limits(rule, &least, &most);
    if (value->from >= least && value->to <= most)
        return PUG_HOLDS;
    return value->to < least || value->from > most ? PUG_VIOLATED : PUG_UNDECIDED;
}

static void every_entry(struct pug_check *check, struct check_core *core, struct check_order *order,
                        const struct check_event *event)
{
    const struct check_rule *rule = &CHECK_TALLY(check, order->rule)->rule;
    const struct check_seen seen = {
        .core = core, .stamp = &event->stamp, .function = event->function};
    if (order->has_last && order->damaged) {
        pug_check_doubt(check, order->rule, &seen, "trace was lost since the last entry");
    } else if (order->has_last) {
        const struct check_interval value =
            pug_check_distance(check, &order->last, &event->stamp, rule->limit.unit);
        judge(check, order, &seen, &value, in_period(rule, &value), "it was entered again after");
    }
    order->repeated |= order->has_last;
    order->has_last = true;
    order->damaged = false;
    order->last = event->stamp;
    order->last_function = event->function;
}

static void every_end(struct pug_check *check, struct check_core *core, struct check_order *order,
                      const struct check_stamp *end, const struct check_stamp *begin)
{
    const struct check_rule *rule = &CHECK_TALLY(check, order->rule)->rule;
    const struct check_stamp *from = order->has_last ? &order->last : begin;
    const struct check_seen seen = {.core = core, .stamp = from, .function = order->last_function};
    uint64_t least, most;
    char words[128];
    limits(rule, &least, &most);
    const struct check_interval value = pug_check_distance(check, from, end, rule->limit.unit);
    words_of(&(struct check_interval){value.from, value.from}, rule->limit.unit, words,
             sizeof(words));
    if (value.from > most && order->damaged)
        pug_check_doubt(check, order->rule, &seen,
                        "it was not entered for %s before the end, but trace was lost meanwhile",
                        words);
    else if (value.from > most)
        pug_check_violate(check, order->rule, &seen, "it was not entered for %s before the end",
                          words);
    else if (!order->has_last)
        pug_check_doubt(check, order->rule, &seen,
                        "it was not entered, and the trace is shorter "
                        "than its period");
    else if (!order->repeated)
        pug_check_doubt(check, order->rule, &seen,
                        "it was entered once, and the trace ends within its period");
}

/* ---- within ---- */

static enum pug_verdict in_time(const struct check_rule *rule, const struct check_interval *value)
{
    return pug_check_compare(value, CHECK_AT_MOST, rule->limit.value);
}

/** The other one happened: it has to be followed. */
static void add_pending(struct pug_check *check, struct check_order *order,
                        const struct check_event *event)
{
    if (order->pending.count == PENDING_MOST) { /* the oldest decides for the later ones */
        CHECK_TALLY(check, order->rule)->count++;
        return;
    }
    struct check_pending *pending = pug_list_add(&order->pending, sizeof(*pending));
    if (pending)
        pending->stamp = event->stamp;
    else
        pug_check_starve(check);
}

static void answer_pending(struct pug_check *check, struct check_core *core,
                           struct check_order *order, const struct check_event *event)
{
    const struct check_rule *rule = &CHECK_TALLY(check, order->rule)->rule;
    const struct check_pending *pending = order->pending.items;
    for (size_t n = 0; n < order->pending.count; n++) {
        const struct check_seen seen = {
            .core = core, .stamp = &pending[n].stamp, .function = event->function};
        const struct check_interval value =
            pug_check_distance(check, &pending[n].stamp, &event->stamp, rule->limit.unit);
        const enum pug_verdict verdict = in_time(rule, &value);
        if (pending[n].damaged && verdict == PUG_VIOLATED)
            pug_check_doubt(check, order->rule, &seen, "trace was lost before it came");
        else
            judge(check, order, &seen, &value, verdict, "it came after");
    }
    order->pending.count = 0;
}

/** Before the other one: the last entry of the subject is looked at. */
static void look_back(struct pug_check *check, struct check_core *core, struct check_order *order,
                      const struct check_event *event)
{
    const struct check_rule *rule = &CHECK_TALLY(check, order->rule)->rule;
    const struct check_seen seen = {
        .core = core, .stamp = &event->stamp, .function = event->function};
    if (!order->has_last) {
        /* it may have been before the trace */
        const struct check_stamp begin = {.time = {core->first_time, core->first_time},
                                          .cycles = {0, 0}};
        const struct check_interval value =
            pug_check_distance(check, &begin, &event->stamp, rule->limit.unit);
        if (order->damaged || value.from <= rule->limit.value)
            pug_check_doubt(check, order->rule, &seen, "what came before is not in the trace");
        else
            pug_check_violate(check, order->rule, &seen, "nothing came before");
        return;
    }
    const struct check_interval value =
        pug_check_distance(check, &order->last, &event->stamp, rule->limit.unit);
    const enum pug_verdict verdict = in_time(rule, &value);
    if (order->damaged && verdict == PUG_VIOLATED)
        pug_check_doubt(check, order->rule, &seen, "trace was lost before it");
    else
        judge(check, order, &seen, &value, verdict, "it came before by");
}

static void within_entry(struct pug_check *check, struct check_core *core,
                         struct check_order *order, const struct check_event *event)
{
    const bool subject = event->op == CHECK_OP_ENTRY;
    const struct check_rule *rule = &CHECK_TALLY(check, order->rule)->rule;
    if (rule->before) {
        if (!subject) {
            look_back(check, core, order, event);
            return;
        }
        order->has_last = true;
        order->damaged = false;
        order->last = event->stamp;
    } else if (subject) {
        answer_pending(check, core, order, event);
    } else {
        add_pending(check, order, event);
    }
}

static void within_end(struct pug_check *check, struct check_core *core, struct check_order *order,
                       const struct check_stamp *end)
{
    const struct check_rule *rule = &CHECK_TALLY(check, order->rule)->rule;
    const struct check_pending *pending = order->pending.items;
    for (size_t n = 0; n < order->pending.count; n++) {
        const struct check_seen seen = {.core = core, .stamp = &pending[n].stamp};
        struct check_interval value =
            pug_check_distance(check, &pending[n].stamp, end, rule->limit.unit);
        value.to = CHECK_UNKNOWN;
        if (!pending[n].damaged && in_time(rule, &value) == PUG_VIOLATED)
            pug_check_violate(check, order->rule, &seen, "it did not come before the end");
        else
            pug_check_doubt(check, order->rule, &seen,
                            pending[n].damaged ? "trace was lost behind it"
                                               : "the trace ends before its time is over");
    }
    order->pending.count = 0;
}

/* ---- follows ---- */

static void follows(struct pug_check *check, struct check_core *core, struct check_order *order,
                    const struct check_event *event)
{
    const struct check_rule *rule = &CHECK_TALLY(check, order->rule)->rule;
    const struct check_seen seen = {
        .core = core, .stamp = &order->last, .function = order->last_function};
    if (event->op == CHECK_OP_RETURN) {
        order->waiting = true;
        order->damaged = false;
        order->last = event->stamp;
        order->last_function = event->function;
        return;
    }
    if (!order->waiting)
        return;
    order->waiting = false;
    CHECK_TALLY(check, order->rule)->count++;
    if (event->op == CHECK_OP_OTHER) {
        if (order->damaged || order->switched)
            pug_check_doubt(check, order->rule, &seen,
                            order->switched ? "threads run that cannot be told apart"
                                            : "trace was lost before it could be seen");
        else
            pug_check_violate(check, order->rule, &seen, "it was not entered before the next one");
    } else if (order->switched) {
        pug_check_doubt(check, order->rule, &seen, "threads run that cannot be told apart");
    } else if (rule->has_limit) {
        const struct check_interval value =
            pug_check_distance(check, &order->last, &event->stamp, rule->limit.unit);
        judge(check, order, &seen, &value, in_time(rule, &value), "it came after");
    }
}

static void follows_end(struct pug_check *check, struct check_core *core, struct check_order *order,
                        const struct check_stamp *end)
{
    const struct check_rule *rule = &CHECK_TALLY(check, order->rule)->rule;
    const struct check_seen seen = {
        .core = core, .stamp = &order->last, .function = order->last_function};
    if (!order->waiting)
        return;
    struct check_interval value = pug_check_distance(check, &order->last, end, rule->limit.unit);
    value.to = CHECK_UNKNOWN;
    if (order->damaged || order->switched)
        pug_check_doubt(check, order->rule, &seen,
                        order->switched ? "threads run that cannot be told apart"
                                        : "trace was lost before it could be seen");
    else if (rule->has_limit && in_time(rule, &value) != PUG_VIOLATED)
        pug_check_doubt(check, order->rule, &seen, "the trace ends before its time is over");
    else
        pug_check_violate(check, order->rule, &seen, "it was not entered before the end");
}

/* ---- ---- */

static void gap(struct check_order *order)
{
    struct check_pending *pending = order->pending.items;
    order->damaged = true;
    for (size_t n = 0; n < order->pending.count; n++)
        pending[n].damaged = true;
}

void pug_check_ordered(struct pug_check *check, struct check_core *core,
                       const struct check_event *event)
{
    struct check_order *order = event->order;
    if (event->op == CHECK_OP_GAP) {
        gap(order);
        return;
    }
    switch (CHECK_TALLY(check, order->rule)->rule.kind) {
    case CHECK_EVERY: every_entry(check, core, order, event); break;
    case CHECK_WITHIN: within_entry(check, core, order, event); break;
    case CHECK_FOLLOWS: follows(check, core, order, event); break;
    default: break;
    }
}

void pug_check_order_end(struct pug_check *check, struct check_core *core,
                         struct check_order *order, const struct check_stamp *end,
                         const struct check_stamp *begin)
{
    switch (CHECK_TALLY(check, order->rule)->rule.kind) {
    case CHECK_EVERY: every_end(check, core, order, end, begin); break;
    case CHECK_WITHIN: within_end(check, core, order, end); break;
    case CHECK_FOLLOWS: follows_end(check, core, order, end); break;
    default: break;
    }
    free(order->pending.items);
    order->pending = (struct pug_list){0};
}
