// SPDX-License-Identifier: MIT
/**
 * @file Elements to what they mean for rules: which stream runs, what time it is, what is missing.
 */
#include "check/engine.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STREAMS_MOST 65536u

/* ---- cores and streams ---- */

struct check_core *pug_check_core(struct pug_check *check, uint32_t buffer, uint16_t source)
{
    struct check_core **cores = check->cores.items;
    if (check->core && check->core->source == source && check->core->buffer == buffer)
        return check->core;
    for (size_t n = 0; n < check->cores.count; n++)
        if (cores[n]->source == source && cores[n]->buffer == buffer)
            return cores[n];
    struct check_core *core = calloc(1, sizeof(*core));
    struct check_core **slot = core ? pug_list_add(&check->cores, sizeof(*slot)) : NULL;
    if (core)
        core->orders = calloc(check->tallies.count + 1, sizeof(*core->orders));
    if (!slot || !core->orders) {
        free(core);
        if (slot)
            check->cores.count--;
        pug_check_starve(check);
        return NULL;
    }
    *slot = core;
    core->buffer = buffer;
    core->source = source;
    core->number = (uint32_t)check->cores.count - 1;
    core->label = pug_check_keep_format(&check->texts, "source 0x%02x", source);
    return core;
}

static void name_stream(struct pug_check *check, struct check_stream *stream)
{
    const struct pug_capture_task *task =
        stream->task == PUG_NO_TASK ? NULL : pug_capture_task_at(check->capture, stream->task);
    const struct check_thread *threads = check->threads.items;
    for (size_t n = 0; n < check->threads.count; n++)
        if (threads[n].task == stream->task) {
            stream->name = threads[n].name;
            stream->unknown_thread = threads[n].unknown;
            stream->label = pug_check_keep_format(&check->texts, "thread %.64s", threads[n].name);
            return;
        }
    if (task) {
        stream->name = task->comm;
        stream->label =
            pug_check_keep_format(&check->texts, "thread %" PRId32 " %.64s", task->tid, task->comm);
    } else if (stream->has_context) {
        stream->name = pug_check_keep_format(&check->texts, "0x%" PRIx32, stream->context);
        stream->label = pug_check_keep_format(&check->texts, "context 0x%" PRIx32, stream->context);
    }
}

static struct check_stream *add_stream(struct pug_check *check, struct check_core *core,
                                       const struct check_stream *wanted)
{
    const size_t rules = check->tallies.count + 1, links = check->links.count + 1;
    if (check->streams.count == STREAMS_MOST) {
        check->status = PUG_ERR_LIMIT;
        return NULL;
    }
    struct check_stream *stream = calloc(1, sizeof(*stream));
    struct check_stream **slot = stream ? pug_list_add(&check->streams, sizeof(*slot)) : NULL;
    if (!slot) {
        free(stream);
        pug_check_starve(check);
        return NULL;
    }
    *slot = stream;
    *stream = *wanted;
    stream->number = (uint32_t)check->streams.count - 1;
    stream->core = core;
    stream->time_at = stream->cycles_at = CHECK_UNKNOWN;
    stream->calls = calloc(links, sizeof(struct check_call *));
    stream->orders = calloc(rules, sizeof(*stream->orders));
    stream->depths = calloc(rules, sizeof(*stream->depths));
    if (!stream->calls || !stream->orders || !stream->depths)
        pug_check_starve(check);
    name_stream(check, stream);
    return stream;
}

struct check_stream *pug_check_stream(struct pug_check *check, struct check_core *core,
                                      const struct pug_element *element)
{
    const uint32_t task = check->where ? check->where->task : PUG_NO_TASK;
    const bool has_context =
        task == PUG_NO_TASK && element && (element->context_flags & PUG_CTX_CONTEXT_ID);
    const uint32_t context = has_context ? element->context_id : 0;
    struct check_stream *current = core->current, **streams = check->streams.items;
    if (current && current->task == task && current->has_context == has_context &&
        current->context == context)
        return current;
    const uint32_t key = task == PUG_NO_TASK ? core->number : 0;
    for (size_t n = 0; n < check->streams.count; n++)
        if (streams[n]->task == task && streams[n]->has_context == has_context &&
            streams[n]->context == context && streams[n]->core_key == key)
            return streams[n];
    return add_stream(
        check, core,
        &(struct check_stream){
            .task = task, .has_context = has_context, .context = context, .core_key = key});
}

void pug_check_feed(struct pug_check *check)
{
    check->fed = true;
}

void pug_check_thread(struct pug_check *check, uint32_t task, const char *name, bool unknown)
{
    struct check_thread *thread = pug_list_add(&check->threads, sizeof(*thread));
    if (thread)
        *thread = (struct check_thread){
            .task = task,
            .name = pug_check_keep(&check->texts, name ? name : "?", strlen(name ? name : "?")),
            .unknown = unknown};
    else
        pug_check_starve(check);
}

bool pug_check_goes_on(const struct pug_check *check)
{
    return check->status == PUG_OK && !check->stopped;
}

/** The stream goes on, on this core; the one before it stops. */
static struct check_stream *run(struct pug_check *check, struct check_core *core,
                                const struct pug_element *element)
{
    struct check_stream *stream = pug_check_stream(check, core, element);
    if (!stream || stream == core->current) {
        check->stream = stream;
        return stream;
    }
    if (core->current)
        pug_check_pause_stream(check, core->current, false);
    stream->core = core;
    stream->time_at = stream->cycles_at = CHECK_UNKNOWN;
    if (core->current || stream->instructions > 0)
        pug_check_pause_stream(check, stream, true);
    core->current = stream;
    return check->stream = stream;
}

const char *pug_check_scope_label(const struct check_rule *rule, const struct check_stream *stream)
{
    if (rule->scope == CHECK_SCOPE_THREADS)
        return stream->label ? stream->label : stream->core->label;
    if (rule->scope == CHECK_SCOPE_CORES)
        return stream->core->label;
    return NULL;
}

bool pug_check_in_scope(struct pug_check *check, const struct check_rule *rule,
                        struct check_stream *stream)
{
    char *end;
    (void)check;
    if (rule->scope != CHECK_SCOPE_THREAD && rule->kind != CHECK_SHARE)
        return true;
    if (!stream->label)
        return false;
    if (strcmp(stream->name, rule->thread) == 0 || pug_check_glob(rule->thread, stream->name))
        return true;
    const unsigned long number = strtoul(rule->thread, &end, 0);
    if (*end || end == rule->thread)
        return false;
    if (stream->has_context)
        return number == stream->context;
    if (check->threads.count > 0)
        return false;
    const struct pug_capture_task *task = pug_capture_task_at(check->capture, stream->task);
    return task && task->tid >= 0 && number == (unsigned long)task->tid;
}

struct check_order *pug_check_order_of(struct pug_check *check, struct check_stream *stream,
                                       uint32_t rule)
{
    const struct check_rule *of = &CHECK_TALLY(check, rule)->rule;
    const bool threads = of->kind == CHECK_FOLLOWS || of->scope == CHECK_SCOPE_THREADS ||
                         of->scope == CHECK_SCOPE_THREAD;
    if (!pug_check_in_scope(check, of, stream))
        return NULL;
    struct check_order *order = threads ? &stream->orders[rule] : &stream->core->orders[rule];
    if (!order->used)
        *order = (struct check_order){
            .used = true, .rule = rule, .scope = pug_check_scope_label(of, stream)};
    order->switched |= stream->unknown_thread;
    return order;
}

/* ---- times ---- */

static void share_time(struct pug_check *check, struct check_core *core, uint64_t time)
{
    const uint64_t span = core->has_time && time > core->time ? time - core->time : 0;
    for (uint32_t n = 0; n < check->tallies.count; n++) {
        struct check_tally *tally = CHECK_TALLY(check, n);
        if (tally->rule.kind != CHECK_SHARE || !core->current)
            continue;
        tally->share_of_time = true;
        tally->total += span;
        if (core->current->unknown_thread)
            tally->maybe += span;
        else if (pug_check_in_scope(check, &tally->rule, core->current))
            tally->other += span;
    }
}

static void end_gap(struct pug_check *check, struct check_core *core)
{
    const uint64_t from = core->gap_time;
    if (!core->in_gap)
        return;
    core->in_gap = false;
    for (uint32_t n = 0; n < check->tallies.count; n++) {
        struct check_tally *tally = CHECK_TALLY(check, n);
        const struct check_stamp one = {.time = {from, from}, .index = core->gap_index},
                                 two = {.time = {core->time, core->time}};
        const struct check_seen seen = {.core = core, .stamp = &one};
        char words[48];
        if (tally->rule.kind != CHECK_NO_GAP || tally->impossible)
            continue;
        if (!core->gap_has_time) {
            pug_check_doubt(check, n, &seen, "trace is missing before the first time that is told");
            continue;
        }
        const struct check_interval value =
            pug_check_distance(check, &one, &two, tally->rule.limit.unit);
        tally->count++;
        pug_check_value_text(value.to, tally->rule.limit.unit, words, sizeof(words));
        if (value.to > tally->rule.limit.value)
            pug_check_violate(check, n, &seen,
                              "trace is missing between two times that are %s apart", words);
    }
}

static void take_time(struct pug_check *check, struct check_core *core, uint64_t time)
{
    if (time == 0)
        return;
    share_time(check, core, time);
    if (!core->has_time)
        core->first_time = time;
    core->has_time = true;
    if (time > core->time)
        core->time = time;
    pug_check_come_to_time(check, core, core->time);
    end_gap(check, core);
    if (!core->current)
        return;
    core->current->time_at = core->current->instructions;
    core->current->task_time = time;
}

static void take_cycles(struct pug_check *check, struct check_core *core,
                        const struct pug_element *element)
{
    if (!pug_element_adds_cycles(element))
        return;
    core->has_cycles = true;
    core->cycles += element->cycle_count;
    pug_check_come_to_cycles(check, core, core->cycles);
    if (!core->current)
        return;
    core->current->cycles_at = core->current->instructions;
    core->current->task_cycles += element->cycle_count;
}

/* ---- what is missing ---- */

static enum pug_call_gap gap_of(const struct pug_element *e)
{
    if (e->type == PUG_ELEM_TRACE_ON)
        return e->reason == PUG_TRACE_ON_OVERFLOW ? PUG_GAP_LOST : PUG_GAP_UNTRACED;
    if (e->type == PUG_ELEM_ADDR_NACC)
        return PUG_GAP_UNKNOWN;
    if (e->type == PUG_ELEM_NO_SYNC &&
        (e->reason == PUG_UNSYNC_INIT_DECODER || e->reason == PUG_UNSYNC_RESET_DECODER ||
         e->reason == PUG_UNSYNC_EOT))
        return PUG_GAP_UNTRACED;
    return PUG_GAP_LOST;
}

static void tell_gap(struct pug_check *check, struct check_core *core, uint8_t gap, uint64_t index)
{
    const struct check_event event = {
        .stamp = {.time = {core->time, core->has_time ? core->time : CHECK_UNKNOWN},
                  .cycles = {core->cycles, core->cycles},
                  .index = index},
        .op = CHECK_OP_GAP,
        .flags = gap,
        .time_known = true,
        .cycles_known = true};
    struct check_stream **streams = check->streams.items;
    for (uint32_t n = 0; n < check->tallies.count; n++) {
        struct check_event one = event;
        one.order = &core->orders[n];
        if (core->orders[n].used)
            pug_check_queue(check, core, &one);
        for (size_t i = 0; i < check->streams.count; i++) {
            one.order = &streams[i]->orders[n];
            if (streams[i]->core == core && streams[i]->orders[n].used)
                pug_check_queue(check, core, &one);
        }
    }
    for (size_t i = 0; i < check->streams.count; i++)
        for (struct check_call *call = streams[i]->core == core ? streams[i]->open : NULL; call;
             call = call->next_open) {
            struct check_event one = event;
            one.call = call;
            one.stamp.instructions = streams[i]->instructions;
            pug_check_queue(check, core, &one);
        }
}

void pug_check_lose(struct pug_check *check, struct check_core *core, enum pug_call_gap gap,
                    uint64_t index)
{
    const struct check_stamp stamp = {.time = {core->time, core->time}, .index = index};
    const struct check_seen seen = {.core = core, .stamp = &stamp};
    core->loss_count += gap == PUG_GAP_LOST;
    check->lost += gap == PUG_GAP_LOST;
    check->missing += gap == PUG_GAP_UNKNOWN;
    if (!core->in_gap) {
        core->in_gap = true;
        core->gap_time = core->time;
        core->gap_has_time = core->has_time;
        core->gap_index = index;
    }
    for (uint32_t n = 0; n < check->tallies.count; n++) {
        struct check_tally *tally = CHECK_TALLY(check, n);
        tally->lost++;
        if (tally->rule.kind == CHECK_NO_LOSS && !tally->impossible && gap == PUG_GAP_LOST)
            pug_check_violate(check, n, &seen, "trace was lost");
    }
    tell_gap(check, core, (uint8_t)gap, index);
}

static void miss(struct pug_check *check, struct check_core *core, const struct pug_element *e)
{
    const enum pug_call_gap gap = gap_of(e);
    struct check_stream **streams = check->streams.items;
    if (gap != PUG_GAP_UNTRACED)
        pug_check_lose(check, core, gap, e->index);
    for (size_t n = 0; n < check->streams.count; n++)
        if (streams[n]->core == core) {
            if (pug_calls_take(check->calls, streams[n]->number, e, 1) != PUG_OK)
                pug_check_starve(check);
            streams[n]->time_at = streams[n]->cycles_at = CHECK_UNKNOWN;
            streams[n]->on_track = false;
            if (check->looks_decisions)
                pug_check_forget_decision(check, streams[n]->number);
        }
}

/* ---- elements ---- */

static void take_range(struct pug_check *check, struct check_core *core,
                       const struct pug_element *e)
{
    struct check_stream *stream = run(check, core, e);
    if (!stream)
        return;
    check->saw = true;
    check->flow_seen++;
    if (check->looks_spans && e->type == PUG_ELEM_INSTR_RANGE)
        pug_check_look(check, e);
    if (check->looks_decisions && e->type == PUG_ELEM_INSTR_RANGE &&
        !pug_check_decision(check, stream->number, e))
        pug_check_starve(check);
    if (pug_calls_take(check->calls, stream->number, e, 1) != PUG_OK)
        pug_check_starve(check);
    if (check->looks_copies && e->type == PUG_ELEM_INSTR_RANGE && check->status == PUG_OK)
        pug_check_run_copies(check, stream, e);
    stream->instructions += e->count;
}

static void take_flow(struct pug_check *check, struct check_core *core, const struct pug_element *e)
{
    struct check_stream *stream = run(check, core, e);
    if (!stream)
        return;
    check->saw = true;
    if (e->type == PUG_ELEM_EXCEPTION && !(e->flags & PUG_ELEM_DATA_MARKER))
        pug_check_exception(check, stream, e->reason, e->number, NULL);
    else if (e->type == PUG_ELEM_EXCEPTION_RET)
        pug_check_exception_return(check, stream);
    if (pug_calls_take(check->calls, stream->number, e, 1) != PUG_OK)
        pug_check_starve(check);
}

static void take_clock(struct pug_check *check, struct check_core *core,
                       const struct pug_element *e)
{
    if (core->current && pug_calls_take(check->calls, core->current->number, e, 1) != PUG_OK)
        pug_check_starve(check);
    if (e->type == PUG_ELEM_TIMESTAMP)
        take_time(check, core, e->timestamp);
}

static void take_data(struct pug_check *check, struct check_core *core, const struct pug_element *e)
{
    const bool value = e->type == PUG_ELEM_DATA_VALUE;
    const struct check_event stamp = {
        .stamp = {.time = {core->time, core->time}, .index = e->index}};
    if (value && !(e->flags & PUG_ELEM_HAS_ADDRESS))
        return;
    pug_check_access(check, core, e->start, value, e->value, e->last_size, &stamp);
}

static void begin_segment(struct pug_check *check, struct check_core *core,
                          const struct pug_origin *where, uint64_t index)
{
    const struct pug_capture_segment *segment =
        pug_capture_segment_at(check->capture, where->segment);
    if (check->any_segment && check->segment == where->segment)
        return;
    check->any_segment = true;
    check->segment = where->segment;
    if (segment && (segment->flags & (PUG_SEGMENT_LOST | PUG_SEGMENT_GAPS)))
        pug_check_lose(check, core, PUG_GAP_LOST, index);
}

void pug_check_element(struct pug_check *check, const struct pug_origin *where,
                       const struct pug_element *e)
{
    struct check_core *core = pug_check_core(check, where->buffer, e->source);
    if (!core || check->status != PUG_OK)
        return;
    check->core = core;
    check->where = where;
    check->element = e;
    if (!check->any_segment || check->segment != where->segment)
        begin_segment(check, core, where, e->index);
    switch (e->type) {
    case PUG_ELEM_INSTR_RANGE:
    case PUG_ELEM_I_RANGE_NOPATH: take_range(check, core, e); break;
    case PUG_ELEM_EXCEPTION:
    case PUG_ELEM_EXCEPTION_RET: take_flow(check, core, e); break;
    case PUG_ELEM_TIMESTAMP:
    case PUG_ELEM_CYCLE_COUNT: take_clock(check, core, e); break;
    case PUG_ELEM_TRACE_ON:
    case PUG_ELEM_NO_SYNC:
    case PUG_ELEM_UNKNOWN:
    case PUG_ELEM_ADDR_NACC: miss(check, core, e); break;
    case PUG_ELEM_DATA_ADDRESS:
    case PUG_ELEM_DATA_VALUE: take_data(check, core, e); break;
    case PUG_ELEM_ITMTRACE:
    case PUG_ELEM_SWTRACE: (void)pug_check_swo_take(check, core, e); break;
    default: break;
    }
    take_cycles(check, core, e);
}

/* ---- the end ---- */

static struct check_stamp end_of(const struct check_core *core, const struct check_stream *stream)
{
    return (struct check_stamp){.time = {core->time, core->has_time ? core->time : CHECK_UNKNOWN},
                                .cycles = {core->cycles, core->cycles},
                                .instructions = stream ? stream->instructions : 0};
}

static struct check_stamp begin_of(const struct check_core *core)
{
    return (struct check_stamp){
        .time = {core->first_time, core->has_time ? core->first_time : CHECK_UNKNOWN}};
}

static void end_orders(struct pug_check *check, struct check_core *core, struct check_order *orders,
                       const struct check_stream *stream)
{
    const struct check_stamp begin = begin_of(core), end = end_of(core, stream);
    for (uint32_t n = 0; n < check->tallies.count; n++)
        if (orders[n].used)
            pug_check_order_end(check, core, &orders[n], &end, &begin);
}

/** Periods of what was never entered: the core still had to. */
static void expect_entries(struct pug_check *check, struct check_core *core)
{
    for (uint32_t n = 0; n < check->tallies.count; n++) {
        const struct check_tally *tally = CHECK_TALLY(check, n);
        if (tally->rule.kind == CHECK_EVERY && tally->rule.scope == CHECK_SCOPE_ALL &&
            !tally->impossible && !core->orders[n].used && core->has_time &&
            (core->current || core->software) && check->cores.count == 1)
            core->orders[n] =
                (struct check_order){.used = true, .rule = n, .damaged = core->loss_count > 0};
    }
}

/** Gives the counts of functions and depths to the rules. */
static void end_counts(struct pug_check *check)
{
    const struct check_depth *depths = check->depths.items;
    for (uint32_t n = 0; n < check->links.count; n++) {
        const struct check_link *link = CHECK_LINK_AT(check, n);
        const struct check_function *function = CHECK_FUNCTION_AT(check, link->function);
        if (!link->counted)
            continue;
        if (link->sum) {
            link->sum->count += function->entries;
            link->sum->partial += function->found;
        } else {
            CHECK_TALLY(check, link->rule)->count += function->entries;
        }
    }
    for (size_t n = 0; n < check->depths.count; n++) {
        struct check_tally *tally = CHECK_TALLY(check, depths[n].rule);
        tally->shallow |= depths[n].shallow;
        if (depths[n].deepest > tally->value)
            tally->value = depths[n].deepest;
    }
}

void pug_check_end_streams(struct pug_check *check)
{
    struct check_core **cores = check->cores.items;
    struct check_stream **streams = check->streams.items;
    check->element = NULL;
    check->where = NULL;
    pug_check_swo_end(check);
    pug_calls_end(check->calls);
    end_counts(check);
    for (size_t n = 0; n < check->cores.count; n++) {
        pug_check_flush(check, cores[n]);
        if (cores[n]->in_gap)
            end_gap(check, cores[n]);
        expect_entries(check, cores[n]);
        end_orders(check, cores[n], cores[n]->orders, cores[n]->current);
    }
    for (size_t n = 0; n < check->streams.count; n++)
        end_orders(check, streams[n]->core, streams[n]->orders, streams[n]);
    for (uint32_t rule = 0; rule < check->tallies.count; rule++) {
        struct check_tally *tally = CHECK_TALLY(check, rule);
        const bool each =
            tally->rule.scope == CHECK_SCOPE_THREADS || tally->rule.scope == CHECK_SCOPE_CORES;
        for (size_t n = 0; n < check->streams.count && tally->rule.kind == CHECK_RUNS && each; n++)
            (void)pug_check_sum_of(check, tally, NULL,
                                   pug_check_scope_label(&tally->rule, streams[n]));
        for (size_t n = 0; n < check->streams.count && tally->rule.kind == CHECK_SHARE; n++) {
            const bool mine = pug_check_in_scope(check, &tally->rule, streams[n]);
            tally->partial += streams[n]->label != NULL; /* threads that are known */
            tally->count += mine;
            if (!tally->share_of_time)
                tally->total += streams[n]->instructions;
            if (!tally->share_of_time && streams[n]->unknown_thread)
                tally->maybe += streams[n]->instructions;
            else if (!tally->share_of_time && mine)
                tally->other += streams[n]->instructions;
        }
    }
}

void pug_check_free_streams(struct pug_check *check)
{
    struct check_core **cores = check->cores.items;
    struct check_stream **streams = check->streams.items;
    struct check_call **calls = check->suspended.items;
    for (size_t n = 0; n < check->cores.count; n++) {
        for (uint32_t rule = 0; rule < check->tallies.count; rule++)
            free(cores[n]->orders[rule].pending.items);
        free(cores[n]->orders);
        free(cores[n]->queue.items);
        free(cores[n]);
    }
    for (size_t n = 0; n < check->streams.count; n++) {
        for (uint32_t rule = 0; streams[n]->orders && rule < check->tallies.count; rule++)
            free(streams[n]->orders[rule].pending.items);
        free(streams[n]->calls);
        free(streams[n]->orders);
        free(streams[n]->depths);
        free(streams[n]->doubtful.items);
        free(streams[n]->copies.items);
        free(streams[n]->carries.items);
        free(streams[n]);
    }
    for (size_t n = 0; n < check->suspended.count; n++)
        free(calls[n]);
    check->first_stream += (uint32_t)check->streams.count;
    free(check->cores.items);
    free(check->streams.items);
    free(check->suspended.items);
    check->cores = check->streams = check->suspended = (struct pug_list){0};
    free(check->threads.items);
    check->threads = (struct pug_list){0};
    check->fed = false;
    check->core = NULL;
    check->stream = NULL;
    check->any_segment = false;
}
