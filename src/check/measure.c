// SPDX-License-Identifier: MIT
/** @file The duration of calls, as far as the trace shows it. */
#include "base/hash.h"
#include "check/engine.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- distances ---- */

static uint64_t less(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

static uint64_t plus(uint64_t a, uint64_t b)
{
    return b > UINT64_MAX - a ? UINT64_MAX : a + b;
}

/** Between two intervals: at least, at most. */
static struct check_interval between(struct check_interval from, struct check_interval to)
{
    return (struct check_interval){
        from.to == CHECK_UNKNOWN ? 0 : less(to.from, from.to),
        to.to == CHECK_UNKNOWN || from.from == 0 ? CHECK_UNKNOWN : less(to.to, from.from)};
}

static uint64_t in_ns(const struct pug_check *check, uint64_t time)
{
    uint64_t ns = time;
    if (time != 0 && time != CHECK_UNKNOWN)
        (void)pug_capture_clock(check->capture, time, &ns);
    return ns;
}

static struct check_interval ns_of(const struct pug_check *check, struct check_interval time)
{
    return (struct check_interval){in_ns(check, time.from), in_ns(check, time.to)};
}

struct check_interval pug_check_distance(const struct pug_check *check,
                                         const struct check_stamp *from,
                                         const struct check_stamp *to, uint8_t unit)
{
    switch (unit) {
    case PUG_CHECK_NANOSECONDS: return between(ns_of(check, from->time), ns_of(check, to->time));
    case PUG_CHECK_TICKS: return between(from->time, to->time);
    case PUG_CHECK_CYCLES: {
        /* counts begin with 0, which is known */
        const struct check_interval one = {from->cycles.from, from->cycles.to},
                                    two = {to->cycles.from, to->cycles.to};
        if (one.to == CHECK_UNKNOWN && one.from == 0)
            return (struct check_interval){0, CHECK_UNKNOWN};
        return (struct check_interval){one.to == CHECK_UNKNOWN ? 0 : less(two.from, one.to),
                                       two.to == CHECK_UNKNOWN ? CHECK_UNKNOWN
                                                               : less(two.to, one.from)};
    }
    default: {
        const uint64_t ran = less(to->instructions, from->instructions);
        return (struct check_interval){ran, ran};
    }
    }
}

/* ---- sums ---- */

/** Threads and cores whose percentiles are counted: each takes 119 KB. */
#define PERCENTILES_MOST 2048u

static bool same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static uint64_t mix_text(uint64_t hash, const char *text)
{
    hash = pug_hash_mix(hash, text != NULL);
    for (; text && *text; text++)
        hash = pug_hash_mix(hash, (unsigned char)*text);
    return hash;
}

/** The slot of such a sum, or the empty one where it would be. */
static uint32_t *slot_of(const struct check_tally *tally, const char *function, const char *scope)
{
    struct check_sum **sums = tally->sums.items;
    size_t at = (size_t)mix_text(mix_text(0, function), scope);
    for (;; at++) {
        uint32_t *slot = &tally->slots[at & (tally->slot_count - 1)];
        const struct check_sum *sum = *slot ? sums[*slot - 1] : NULL;
        if (!sum || (same(sum->function, function) && same(sum->scope, scope)))
            return slot;
    }
}

/** Makes the table larger where another sum does not fit. False: no memory. */
static bool make_room(struct check_tally *tally)
{
    struct check_sum **sums = tally->sums.items;
    if (2 * tally->sums.count < tally->slot_count)
        return true;
    const size_t count = tally->slot_count ? 4 * tally->slot_count : 16;
    uint32_t *slots = calloc(count, sizeof(*slots));
    if (!slots)
        return false;
    free(tally->slots);
    tally->slots = slots;
    tally->slot_count = count;
    for (size_t n = 0; n < tally->sums.count; n++)
        *slot_of(tally, sums[n]->function, sums[n]->scope) = (uint32_t)n + 1;
    return true;
}

struct check_sum *pug_check_sum_of(struct pug_check *check, struct check_tally *tally,
                                   const char *function, const char *scope)
{
    struct check_sum **sums = tally->sums.items;
    if (!make_room(tally)) {
        pug_check_starve(check);
        return NULL;
    }
    uint32_t *place = slot_of(tally, function, scope);
    if (*place)
        return sums[*place - 1];
    if (tally->rule.stat == CHECK_PERCENTILE && tally->sums.count == PERCENTILES_MOST) {
        check->status = PUG_ERR_LIMIT;
        return NULL;
    }
    struct check_sum *sum = calloc(1, sizeof(*sum));
    struct check_sum **slot = sum ? pug_list_add(&tally->sums, sizeof(*slot)) : NULL;
    if (sum && tally->rule.stat == CHECK_PERCENTILE) {
        sum->low = calloc(CHECK_BUCKETS, sizeof(*sum->low));
        sum->high = calloc(CHECK_BUCKETS, sizeof(*sum->high));
        if (!sum->low || !sum->high)
            pug_check_starve(check);
    }
    if (!slot) {
        free(sum);
        pug_check_starve(check);
        return NULL;
    }
    *slot = sum;
    *place = (uint32_t)tally->sums.count;
    sum->function = function ? pug_check_keep(&check->texts, function, strlen(function)) : NULL;
    sum->scope = scope ? pug_check_keep(&check->texts, scope, strlen(scope)) : NULL;
    return sum;
}

/* ---- one call ---- */

static struct check_interval paused_of(const struct check_call *call, uint8_t unit)
{
    switch (unit) {
    case PUG_CHECK_NANOSECONDS:
    case PUG_CHECK_TICKS: return call->paused_time;
    case PUG_CHECK_CYCLES: return call->paused_cycles;
    default: return (struct check_interval){call->paused_instructions, call->paused_instructions};
    }
}

/** Time since a pause began is none of the call's. */
static void add_pause(const struct pug_check *check, struct check_call *call,
                      const struct check_stamp *until)
{
    /* times are added up in the unit of the rule, as clocks of captures may have an offset */
    const struct check_rule *rule =
        &CHECK_TALLY(check, CHECK_LINK_AT(check, call->link)->rule)->rule;
    const struct check_interval cycles =
        pug_check_distance(check, &call->pause, until, PUG_CHECK_CYCLES);
    const struct check_interval time = pug_check_distance(
        check, &call->pause, until,
        rule->limit.unit == PUG_CHECK_NANOSECONDS ? PUG_CHECK_NANOSECONDS : PUG_CHECK_TICKS);
    call->paused_time.from = plus(call->paused_time.from, time.from);
    call->paused_time.to = plus(call->paused_time.to, time.to);
    call->paused_cycles.from = plus(call->paused_cycles.from, cycles.from);
    call->paused_cycles.to = plus(call->paused_cycles.to, cycles.to);
    call->paused_instructions += less(until->instructions, call->pause.instructions);
    call->holds_pause = false;
}

static void begin(struct check_call *call, const struct check_event *event)
{
    call->begun = true;
    call->found = event->flags & CHECK_FOUND;
    call->damaged = false;
    call->holds_pause = false;
    call->start = event->stamp;
    call->paused_time = call->paused_cycles = (struct check_interval){0, 0};
    call->paused_instructions = 0;
}

static void judge(struct pug_check *check, uint32_t rule_number, const struct check_seen *seen,
                  const struct check_interval *took)
{
    const struct check_tally *tally = CHECK_TALLY(check, rule_number);
    const struct check_rule *rule = &tally->rule;
    char low[48], high[48], limit[48];
    const enum pug_verdict verdict = pug_check_compare(took, rule->cmp, rule->limit.value);
    if (verdict == PUG_HOLDS)
        return;
    pug_check_value_text(took->from, rule->limit.unit, low, sizeof(low));
    pug_check_value_text(took->to, rule->limit.unit, high, sizeof(high));
    pug_check_value_text(rule->limit.value, rule->limit.unit, limit, sizeof(limit));
    if (verdict == PUG_VIOLATED && took->from == took->to)
        pug_check_violate(check, rule_number, seen, "a call took %s", low);
    else if (verdict == PUG_VIOLATED && took->to == CHECK_UNKNOWN)
        pug_check_violate(check, rule_number, seen, "a call took at least %s", low);
    else if (verdict == PUG_VIOLATED)
        pug_check_violate(check, rule_number, seen, "a call took between %s and %s", low, high);
    else if (took->to == CHECK_UNKNOWN)
        pug_check_doubt(check, rule_number, seen,
                        "a call took at least %s; the trace does not tell more", low);
    else
        pug_check_doubt(check, rule_number, seen,
                        "a call took between %s and %s, and the limit %s is between them: the "
                        "trace tells times too seldom",
                        low, high, limit);
}

static void end(struct pug_check *check, struct check_core *core, struct check_call *call,
                const struct check_event *event)
{
    const struct check_link *link = CHECK_LINK_AT(check, call->link);
    struct check_tally *tally = CHECK_TALLY(check, link->rule);
    const struct check_rule *rule = &tally->rule;
    const struct check_seen seen = {.core = core,
                                    .stream = call->stream,
                                    .stamp = &call->start,
                                    .function = link->function + 1};
    if (!call->begun || !call->sum)
        return;
    call->begun = false;
    /* after a loss it may be another call; and one without a seen return may have long */
    const struct check_stamp *until = call->damaged                  ? &call->gap
                                      : event->flags & CHECK_DAMAGED ? &call->start
                                                                     : &event->stamp;
    if (call->holds_pause)
        add_pause(check, call, until);
    struct check_interval took = pug_check_distance(check, &call->start, until, rule->limit.unit);
    const struct check_interval paused = paused_of(call, rule->limit.unit);
    took.from = paused.to == CHECK_UNKNOWN ? 0 : less(took.from, paused.to);
    if (took.to != CHECK_UNKNOWN)
        took.to = less(took.to, paused.from);
    if (took.to < took.from)
        took.to = took.from;
    const bool damaged = call->damaged || (event->flags & CHECK_DAMAGED);
    const bool partial = call->found || (event->flags & CHECK_CUT);
    tally->unit = rule->limit.unit;
    if (damaged || partial) {
        took.to = CHECK_UNKNOWN;
        if (damaged)
            call->sum->unknown++;
        else
            call->sum->partial++;
        if (took.from > call->sum->partial_longest)
            call->sum->partial_longest = took.from;
        call->sum->partial_total = plus(call->sum->partial_total, took.from);
        if (rule->stat != CHECK_EACH)
            return;
        if (damaged)
            judge(check, link->rule, &seen, &took);
        else if (pug_check_compare(&took, rule->cmp, rule->limit.value) == PUG_VIOLATED)
            judge(check, link->rule, &seen, &took);
        return;
    }
    if (took.to == CHECK_UNKNOWN && took.from == 0 && rule->stat == CHECK_EACH) {
        call->sum->unknown++;
        pug_check_doubt(check, link->rule, &seen,
                        "the trace tells no time before a call, or none behind it");
        return;
    }
    pug_check_sum_add(call->sum, took.from, took.to);
    if (rule->stat == CHECK_EACH)
        judge(check, link->rule, &seen, &took);
}

void pug_check_measure(struct pug_check *check, struct check_core *core,
                       const struct check_event *event)
{
    struct check_call *call = event->call;
    switch ((enum check_op)event->op) {
    case CHECK_OP_BEGIN: begin(call, event); break;
    case CHECK_OP_PAUSE:
        if (call->begun && !call->holds_pause) {
            call->holds_pause = true;
            call->pause = event->stamp;
        }
        break;
    case CHECK_OP_RESUME:
        if (call->begun && call->holds_pause)
            add_pause(check, call, &event->stamp);
        break;
    case CHECK_OP_GAP:
        if (!call->damaged)
            call->gap = event->stamp;
        call->damaged = true;
        break;
    default: end(check, core, call, event);
    }
}
