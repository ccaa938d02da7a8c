// SPDX-License-Identifier: MIT
#include "times.h"

#include "base/hash.h"
#include "check/engine.h"
#include "common/command.h"
#include "common/output.h"
#include "items/parts.h"
#include "items/places.h"
#include "threads/kernel_words.h"

#include <stdlib.h>
#include <string.h>

#define FUNCTIONS_MOST 1000000u
/* How the calls of so many functions are spread is counted, where that is wanted of all. */
#define SPREAD_MOST 4096u

_Static_assert(TIMES_ROWS *TIMES_ROW_BUCKETS == CHECK_BUCKETS, "rows are of whole buckets");

/** A frame that is open, beside the call stack's own. */
struct level {
    uint32_t function;
    uint64_t index;               /* trace index where it was entered */
    uint64_t inner[TIMES_UNITS];  /* interrupts inside */
    uint64_t direct[TIMES_UNITS]; /* of these, while it ran itself */
    uint32_t callee_count;
    struct times_callee callees[TIMES_CALLEES];
};

/** The sums of a function in a task. */
struct per_task {
    uint32_t open;
    bool has_last;
    uint64_t last[TIMES_UNITS];
};

struct task {
    struct level *levels;
    uint32_t room;
    struct per_task *functions;
    uint32_t function_room;
};

struct counting {
    struct times *times;
    struct pug_capture *capture;
    struct places *places;
    struct pug_calls *calls;
    struct thread_stage *threads; /* of a kernel, or NULL */
    struct times_wanted wanted;
    struct task *tasks;
    uint32_t task_room;
    uint32_t *table, *edge_table; /* by hash: plus 1 */
    uint32_t table_size, edge_size, function_room, edge_room;
    uint64_t index;
    bool failed;
};

/* ---- tables ---- */

static void *grow(struct counting *counting, void *items, uint32_t *room, uint32_t count,
                  size_t size)
{
    if (count < *room)
        return items;
    const uint32_t wanted = count + count / 2 + 16;
    char *grown = realloc(items, wanted * size);
    if (!grown) {
        counting->failed = true;
        return items;
    }
    memset(grown + *room * size, 0, (wanted - *room) * size);
    *room = wanted;
    return grown;
}

static uint32_t slot_of(const uint32_t *table, uint32_t size, uint64_t hash)
{
    (void)table;
    return (uint32_t)hash & (size - 1);
}

static uint64_t function_hash(const char *name, uint64_t start)
{
    return pug_hash_mix(pug_hash_mix(0, (uintptr_t)name), name ? 0 : start);
}

static bool rehash(struct counting *counting)
{
    struct times *times = counting->times;
    const uint32_t size = counting->table_size ? 2 * counting->table_size : 1024;
    uint32_t *table = calloc(size, sizeof(*table));
    if (!table)
        return false;
    for (uint32_t n = 0; n < times->function_count; n++) {
        const struct times_function *function = &times->functions[n];
        uint32_t at = slot_of(table, size, function_hash(function->name, function->start));
        while (table[at])
            at = (at + 1) & (size - 1);
        table[at] = n + 1;
    }
    free(counting->table);
    counting->table = table;
    counting->table_size = size;
    return true;
}

/** The number of a frame's function; UINT32_MAX: no memory. */
static uint32_t function_of(struct counting *counting, const struct pug_call_frame *frame)
{
    struct times *times = counting->times;
    const char *name = frame->function.name;
    if (2 * times->function_count >= counting->table_size && !rehash(counting)) {
        counting->failed = true;
        return UINT32_MAX;
    }
    uint32_t at =
        slot_of(counting->table, counting->table_size, function_hash(name, frame->function.start));
    for (; counting->table[at]; at = (at + 1) & (counting->table_size - 1)) {
        const struct times_function *known = &times->functions[counting->table[at] - 1];
        if (known->name == name && (name || known->start == frame->function.start))
            return counting->table[at] - 1;
    }
    if (times->function_count == FUNCTIONS_MOST)
        return UINT32_MAX;
    times->functions = grow(counting, times->functions, &counting->function_room,
                            times->function_count, sizeof(*times->functions));
    if (counting->failed)
        return UINT32_MAX;
    times->functions[times->function_count] =
        (struct times_function){.name = name, .start = frame->function.start};
    counting->table[at] = ++times->function_count;
    return times->function_count - 1;
}

static bool rehash_edges(struct counting *counting)
{
    struct times *times = counting->times;
    const uint32_t size = counting->edge_size ? 2 * counting->edge_size : 1024;
    uint32_t *table = calloc(size, sizeof(*table));
    if (!table)
        return false;
    for (uint32_t n = 0; n < times->edge_count; n++) {
        const struct times_edge *edge = &times->edges[n];
        uint32_t at =
            slot_of(table, size, pug_hash_mix(pug_hash_mix(0, edge->caller), edge->callee));
        while (table[at])
            at = (at + 1) & (size - 1);
        table[at] = n + 1;
    }
    free(counting->edge_table);
    counting->edge_table = table;
    counting->edge_size = size;
    return true;
}

static struct times_edge *edge_of(struct counting *counting, uint32_t caller, uint32_t callee)
{
    struct times *times = counting->times;
    if (2 * times->edge_count >= counting->edge_size && !rehash_edges(counting)) {
        counting->failed = true;
        return NULL;
    }
    uint32_t at = slot_of(counting->edge_table, counting->edge_size,
                          pug_hash_mix(pug_hash_mix(0, caller), callee));
    for (; counting->edge_table[at]; at = (at + 1) & (counting->edge_size - 1)) {
        struct times_edge *known = &times->edges[counting->edge_table[at] - 1];
        if (known->caller == caller && known->callee == callee)
            return known;
    }
    if (times->edge_count == FUNCTIONS_MOST)
        return NULL;
    times->edges = grow(counting, times->edges, &counting->edge_room, times->edge_count,
                        sizeof(*times->edges));
    if (counting->failed)
        return NULL;
    struct times_edge *edge = &times->edges[times->edge_count++];
    *edge = (struct times_edge){.caller = caller, .callee = callee};
    counting->edge_table[at] = times->edge_count;
    return edge;
}

static struct task *task_of(struct counting *counting, uint32_t number)
{
    counting->tasks =
        grow(counting, counting->tasks, &counting->task_room, number, sizeof(*counting->tasks));
    return counting->failed ? NULL : &counting->tasks[number];
}

static struct per_task *of_task(struct counting *counting, struct task *task, uint32_t function)
{
    task->functions =
        grow(counting, task->functions, &task->function_room, function, sizeof(*task->functions));
    return counting->failed ? NULL : &task->functions[function];
}

/* ---- events ---- */

static void clocks_of(const struct pug_call_clock *clock, uint64_t values[TIMES_UNITS])
{
    values[TIMES_TIME] = clock->timestamp;
    values[TIMES_CYCLES] = clock->cycles;
    values[TIMES_INSTRUCTIONS] = clock->instructions;
}

static uint64_t plus(uint64_t a, uint64_t b)
{
    return b > UINT64_MAX - a ? UINT64_MAX : a + b;
}

static void enter(struct counting *counting, struct task *task, const struct pug_call_event *event)
{
    const uint32_t number = function_of(counting, event->frame);
    uint64_t now[TIMES_UNITS];
    task->levels = grow(counting, task->levels, &task->room, event->depth, sizeof(*task->levels));
    struct per_task *mine =
        number == UINT32_MAX || counting->failed ? NULL : of_task(counting, task, number);
    if (event->depth >= task->room)
        return;
    struct level *level = &task->levels[event->depth];
    level->function = mine ? number : UINT32_MAX;
    level->index = counting->index;
    memset(level->inner, 0, sizeof(level->inner));
    memset(level->direct, 0, sizeof(level->direct));
    level->callee_count = 0;
    if (!mine)
        return;
    struct times_function *function = &counting->times->functions[number];
    function->exception |= event->frame->kind == PUG_CALL_EXCEPTION;
    mine->open++;
    if (event->frame->kind == PUG_CALL_FOUND || event->switched)
        return;
    clocks_of(&event->now, now);
    for (int unit = 0; mine->has_last && unit < TIMES_UNITS; unit++) {
        const uint64_t apart = now[unit] > mine->last[unit] ? now[unit] - mine->last[unit] : 0;
        if (unit == TIMES_TIME && mine->last[unit] == 0)
            continue; /* the trace had no time yet */
        if (function->distances[unit]++ == 0 || apart < function->nearest[unit])
            function->nearest[unit] = apart;
        if (apart > function->farthest[unit])
            function->farthest[unit] = apart;
        function->apart[unit] = plus(function->apart[unit], apart);
    }
    mine->has_last = true;
    memcpy(mine->last, now, sizeof(now));
}

static void add(struct times_sum *sum, const uint64_t took[TIMES_UNITS],
                const uint64_t own[TIMES_UNITS], const struct level *level)
{
    for (int unit = 0; unit < TIMES_UNITS; unit++) {
        if (sum->count == 0 || took[unit] < sum->shortest[unit])
            sum->shortest[unit] = took[unit];
        if (took[unit] > sum->longest[unit])
            sum->longest[unit] = took[unit];
        sum->sum[unit] = plus(sum->sum[unit], took[unit]);
        sum->own[unit] = plus(sum->own[unit], own[unit]);
        sum->interrupts[unit] = plus(sum->interrupts[unit], level->inner[unit]);
        sum->own_interrupts[unit] = plus(sum->own_interrupts[unit], level->direct[unit]);
    }
    sum->count++;
}

/** The longest call so far: who called it, and what it called. */
static void keep_worst(struct counting *counting, const struct task *task, uint32_t number,
                       const struct pug_call_event *event)
{
    struct times_function *function = &counting->times->functions[number];
    const struct level *level = &task->levels[event->depth];
    function->worst_index = level->index;
    function->worst_time = pug_call_time(&event->frame->entered, event->unit);
    function->worst_depth = event->depth < TIMES_PATH ? event->depth : TIMES_PATH;
    for (uint32_t n = 0; n < function->worst_depth; n++)
        function->worst_path[n] = task->levels[event->depth - 1 - n].function;
    function->worst_callee_count = level->callee_count;
    memcpy(function->worst_callees, level->callees, sizeof(level->callees));
}

static void tell_caller(struct level *caller, const struct level *level,
                        const struct pug_call_frame *frame, const uint64_t took[TIMES_UNITS])
{
    const bool interrupt =
        frame->in_exception && frame->kind != PUG_CALL_CALLED && frame->kind != PUG_CALL_FOUND;
    uint32_t n = 0;
    while (n < caller->callee_count && caller->callees[n].function != level->function)
        n++;
    if (n == caller->callee_count && n < TIMES_CALLEES)
        caller->callees[caller->callee_count++] =
            (struct times_callee){.function = level->function};
    for (int unit = 0; unit < TIMES_UNITS; unit++) {
        caller->inner[unit] =
            plus(caller->inner[unit], interrupt ? took[unit] : level->inner[unit]);
        if (interrupt)
            caller->direct[unit] = plus(caller->direct[unit], took[unit]);
        if (n < TIMES_CALLEES)
            caller->callees[n].took[unit] = plus(caller->callees[n].took[unit], took[unit]);
    }
    if (n < TIMES_CALLEES)
        caller->callees[n].calls++;
}

/** Adds one to a number of a list, which is made when it is first needed. */
static void count_in(struct counting *counting, uint64_t **list, size_t room, size_t at)
{
    if (!*list)
        *list = calloc(room, sizeof(**list));
    if (*list)
        (*list)[at]++;
    else
        counting->failed = true;
}

static void spread(struct counting *counting, struct times_function *function,
                   const uint64_t took[TIMES_UNITS])
{
    const struct times_wanted *wanted = &counting->wanted;
    const bool all = wanted->histogram && function->name &&
                     strcmp(function->name, wanted->histogram) == 0,
               rows = wanted->rows && function < counting->times->functions + SPREAD_MOST;
    for (int unit = 0; unit < TIMES_UNITS && (all || rows); unit++) {
        const unsigned bucket = pug_check_bucket(took[unit]);
        if (all)
            count_in(counting, &function->histogram[unit], CHECK_BUCKETS, bucket);
        if (rows && (counting->times->has[unit] || unit == TIMES_INSTRUCTIONS))
            count_in(counting, &function->rows[unit], TIMES_ROWS, bucket / TIMES_ROW_BUCKETS);
    }
}

static void leave(struct counting *counting, struct task *task, const struct pug_call_event *event)
{
    if (event->depth >= task->room)
        return;
    struct level *level = &task->levels[event->depth];
    const uint32_t number = level->function;
    uint64_t took[TIMES_UNITS], own[TIMES_UNITS];
    clocks_of(&event->took, took);
    clocks_of(&event->own, own);
    if (event->depth > 0)
        tell_caller(&task->levels[event->depth - 1], level, event->frame, took);
    if (number == UINT32_MAX)
        return;
    struct times_function *function = &counting->times->functions[number];
    struct per_task *mine = &task->functions[number];
    mine->open -= mine->open > 0;
    if (event->lost || event->ended || event->switched || event->frame->resumed ||
        event->frame->kind == PUG_CALL_FOUND) {
        function->partial += !event->switched;
        return;
    }
    const int best = event->has_timestamp ? TIMES_TIME
                     : event->has_cycles  ? TIMES_CYCLES
                                          : TIMES_INSTRUCTIONS;
    if (function->all.count == 0 || took[best] > function->all.longest[best])
        keep_worst(counting, task, number, event);
    add(&function->all, took, own, level);
    for (int unit = 0; unit < TIMES_UNITS && mine->open == 0; unit++)
        function->total[unit] = plus(function->total[unit], took[unit]);
    spread(counting, function, took);
    struct times_edge *edge = edge_of(
        counting, event->depth > 0 ? task->levels[event->depth - 1].function : UINT32_MAX, number);
    if (edge)
        add(&edge->sum, took, own, level);
}

static void on_call(void *context, const struct pug_call_event *event)
{
    struct counting *counting = context;
    struct task *task = counting->failed ? NULL : task_of(counting, event->task);
    if (!task)
        return;
    counting->times->has[TIMES_TIME] |= event->has_timestamp;
    counting->times->has[TIMES_CYCLES] |= event->has_cycles;
    if (event->kind == PUG_CALL_ENTER)
        enter(counting, task, event);
    else if (event->kind == PUG_CALL_LEAVE)
        leave(counting, task, event);
}

/* ---- decoding ---- */

static bool take_placed(void *context, const struct trace_item *item,
                        const struct thread_place *place)
{
    struct counting *counting = context;
    (void)place;
    struct pug_element element = item->element;
    if (item->others)
        return true;
    counting->index = element.index;
    if (element.type == PUG_ELEM_TIMESTAMP && element.timestamp != 0)
        (void)pug_capture_clock(counting->capture, element.timestamp, &element.timestamp);
    counting->failed |=
        !pug_places_follow(counting->places, item) ||
        pug_calls_take(counting->calls, pug_places_task(item), &element, 1) != PUG_OK;
    return !counting->failed && output_wanted();
}

static bool take_item(void *context, const struct trace_item *item)
{
    struct counting *counting = context;
    return counting->threads ? pug_thread_stage_take(counting->threads, item)
                             : take_placed(context, item, NULL);
}

/** What is held of a kernel's threads comes, and all calls end. */
static void end_all(struct counting *counting)
{
    if (counting->threads && !pug_thread_stage_end(counting->threads))
        counting->failed |= pug_thread_stage_failed(counting->threads);
    pug_calls_end(counting->calls);
}

static void free_counting(struct counting *counting)
{
    for (uint32_t n = 0; n < counting->task_room; n++) {
        free(counting->tasks[n].levels);
        free(counting->tasks[n].functions);
    }
    free(counting->tasks);
    free(counting->table);
    free(counting->edge_table);
    pug_calls_free(counting->calls);
    pug_thread_stage_free(counting->threads);
    pug_places_free(counting->places);
}

int times_of(struct input *input, struct pug_names *names, const struct times_wanted *spreads,
             struct times **out)
{
    static const struct times_wanted none;
    const struct trace_wanted wanted = {.limits = {.all = true}, .no_code = true};
    struct counting counting = {.times = calloc(1, sizeof(struct times)),
                                .capture = input->capture,
                                .places = pug_places_new(input->capture, names),
                                .wanted = spreads ? *spreads : none};
    const struct pug_calls_config config = {.locate = pug_places_locate,
                                            .locate_context = counting.places,
                                            .event = on_call,
                                            .event_context = &counting};
    struct trace_parts parts = {.capture = input->capture,
                                .wanted = &wanted,
                                .print = take_item,
                                .print_context = &counting,
                                .wants = PUG_WANTS_BY_TIME};
    struct thread_stage_options stage = {.kernel =
                                             kernel_wanted(input, names, counting.wanted.rtos),
                                         .give = take_placed,
                                         .context = &counting};
    struct pug_capture_decode decode = {0};
    struct pug_capture_result result;
    int code = EXIT_INPUT;
    *out = NULL;
    if (!counting.times || !counting.places || pug_calls_new(&config, &counting.calls) != PUG_OK)
        input_starve(input);
    pug_trace_parts_decode(&parts, &decode);
    if (counting.calls && kernel_stage(input, &stage, &counting.threads) &&
        input_decode(input, &decode, output_wanted, &result)) {
        end_all(&counting);
        counting.times->ns = pug_capture_times(input->capture).unit == PUG_CAPTURE_NANOSECONDS;
        *out = counting.times;
        if (counting.failed || parts.failed || pug_names_status(names) == PUG_ERR_MEM)
            input_starve(input);
        code = input_result(input);
    }
    free_counting(&counting);
    if (!*out)
        times_free(counting.times);
    return code;
}

void times_free(struct times *times)
{
    if (!times)
        return;
    for (uint32_t n = 0; n < times->function_count; n++)
        for (int unit = 0; unit < TIMES_UNITS; unit++) {
            free(times->functions[n].histogram[unit]);
            free(times->functions[n].rows[unit]);
        }
    free(times->functions);
    free(times->edges);
    free(times);
}
