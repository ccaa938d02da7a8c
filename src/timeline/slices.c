// SPDX-License-Identifier: MIT
/**
 * @file Slices. What happens between two timestamps of a task waits until the second one comes, and
 * gets times between them by how many instructions (or cycles) had run. Where trace is missing
 * between them the duration is unknown: the part before it has the first one's time, the part after
 * it the second one's. A call waits, too, until it is known to have taken long enough.
 */
#include "timeline/slices.h"

#include "events/sources.h"
#include "pugmark/advanced/capture.h"
#include "timeline/slice_names.h"
#include "timeline/slices_swo.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** So much of a task waits for a timestamp at most; then it goes at the time it has. */
#define WAITING_MOST (1u << 16)

enum kind { ENTER, LEAVE, INSTANT, COUNTER, GAP };

/** The elements that wait for their time. */
struct waiting {
    uint64_t at;                   /* instructions or cycles of the task */
    uint64_t value;                /* of a counter; of a gap: from when on; 0: from its own time */
    uint64_t instructions, offset; /* of the task until then; of the trace */
    uint32_t name;                 /* of a gap: enum pug_call_gap */
    uint8_t kind;
};

/** A call that is open, and whether it is in the timeline yet. */
struct open {
    uint64_t time;
    uint32_t name;
    bool written, estimated;
};

struct task {
    bool used;
    bool known;       /* there was a time, and no trace was missing since */
    bool told;        /* by a timestamp */
    uint64_t time;    /* the last one that is known; 0: none yet */
    uint64_t time_at; /* instructions or cycles when it came */
    uint64_t dated;   /* what came last was not later, says the capture; 0: it does not say */
    uint64_t last;    /* the time that was last given out */
    uint64_t now_at;  /* instructions or cycles */
    struct pug_call_clock ran;
    uint64_t instructions, offset; /* where it is now: as `ran`, and in the trace */
    struct waiting *waiting;
    uint32_t waiting_count, waiting_room;
    struct open *open;
    uint32_t open_count, open_room, written; /* the first ones are written */
};

struct processor {
    bool used;
    bool away; /* it runs a task that was not selected */
    uint32_t task;
    uint64_t time; /* the last one that it ran a task at */
    uint64_t told; /* its last timestamp */
};

struct slices {
    struct slices_options options;
    struct pug_timeline *timeline;
    struct places *places;
    struct pug_calls *calls;
    struct slices_swo *swo;
    enum pug_timeline_clock clock;
    bool dates; /* the capture says itself when something was */
    struct task *tasks;
    struct processor *processors;
    struct slice_names names;
    uint32_t task_count, processor_count;
    struct slices_numbers numbers;
    bool failed;
};

/* Tasks, processors and sources of SWO have tracks by turns. */
#define TRACK_OF_TASK(n)      (SLICES_TRACKS * (n))
#define TRACK_OF_PROCESSOR(n) (SLICES_TRACKS * (n) + 1)
#define PROCESSORS_MOST       65536u
#define TASKS_MOST            (UINT32_MAX / (2 * SLICES_TRACKS))

/* ---- tasks ---- */

static bool make_room(void **items, uint32_t *room, uint32_t count, size_t size)
{
    if (count < *room)
        return true;
    uint32_t wanted = count + count / 2 + 16;
    void *grown = realloc(*items, wanted * size);
    if (!grown)
        return false;
    memset((char *)grown + *room * size, 0, (wanted - *room) * size);
    *items = grown;
    *room = wanted;
    return true;
}

static struct task *task_of(struct slices *slices, uint32_t number)
{
    if (number >= TASKS_MOST ||
        !make_room((void **)&slices->tasks, &slices->task_count, number, sizeof(struct task))) {
        slices->failed = true;
        return NULL;
    }
    return &slices->tasks[number];
}

static void declare_task(struct slices *slices, uint32_t number, const struct trace_item *item)
{
    const struct pug_capture_task *task =
        item->where->task == PUG_NO_TASK
            ? NULL
            : pug_capture_task_at(slices->options.capture, item->where->task);
    char words[96];
    if (task)
        snprintf(words, sizeof(words), "%s", *task->comm ? task->comm : "?");
    else
        pug_places_task_words(slices->places, item, words, sizeof(words));
    pug_timeline_track(slices->timeline, TRACK_OF_TASK(number),
                       &(struct pug_track){.pid = task ? task->pid : -1,
                                           .tid = task ? task->tid : -1,
                                           .name = words});
}

/* ---- writing ---- */

/** Open calls that lasted so long that they are to be seen; they nest, so all around them, too. */
static void write_open(struct slices *slices, uint32_t number, struct task *task, uint64_t now)
{
    const uint64_t depth = slices->options.depth;
    const uint32_t most = depth && depth < task->open_count ? (uint32_t)depth : task->open_count;
    uint32_t upto = task->written;
    for (uint32_t i = task->written; i < most; i++)
        if (now - task->open[i].time >= slices->options.least)
            upto = i + 1;
    for (; task->written < upto; task->written++) {
        const struct open *open = &task->open[task->written];
        pug_timeline_enter(slices->timeline, TRACK_OF_TASK(number), open->time, open->name,
                           open->estimated);
        slices->numbers.written++;
        slices->numbers.estimated += open->estimated;
    }
}

/** Something is missing from the last time that was known to the next. */
static void write_gap(struct slices *slices, uint32_t number, const struct waiting *it,
                      uint64_t time)
{
    const uint64_t from = it->value && it->value < time ? it->value : time;
    pug_timeline_gap(slices->timeline, TRACK_OF_TASK(number), from, time,
                     pug_call_gap_name((enum pug_call_gap)it->name));
    slices->numbers.gaps[it->name]++;
}

static void write_one(struct slices *slices, uint32_t number, struct task *task,
                      const struct waiting *it, uint64_t time, bool estimated)
{
    if (time < task->last)
        time = task->last;
    task->last = time;
    const uint64_t known = it->kind == GAP && it->value && it->value < time ? it->value : time;
    pug_timeline_ran(slices->timeline, TRACK_OF_TASK(number), known, it->instructions, it->offset);
    write_open(slices, number, task, time);
    switch (it->kind) {
    case ENTER:
        if (!make_room((void **)&task->open, &task->open_room, task->open_count,
                       sizeof(struct open))) {
            slices->failed = true;
            return;
        }
        task->open[task->open_count++] =
            (struct open){.time = time, .name = it->name, .estimated = estimated};
        write_open(slices, number, task, time);
        break;
    case LEAVE:
        if (task->open_count == 0)
            break;
        task->open_count--;
        if (task->written > task->open_count) {
            task->written = task->open_count;
            pug_timeline_leave(slices->timeline, TRACK_OF_TASK(number), time);
        } else {
            slices->numbers.left_out++;
        }
        break;
    case INSTANT:
        pug_timeline_instant(slices->timeline, TRACK_OF_TASK(number), time, it->name, NULL);
        break;
    case COUNTER:
        pug_timeline_counter(slices->timeline, TRACK_OF_TASK(number), time, it->name, it->value);
        break;
    default: write_gap(slices, number, it, time);
    }
}

/** span × part ÷ whole, in whole numbers: those of all hosts are the same. */
static uint64_t share_of(uint64_t span, uint64_t part, uint64_t whole)
{
    for (; whole >> 32; whole >>= 1)
        part >>= 1; /* so that no product is too large */
    return span / whole * part + span % whole * part / whole;
}

/** Give times to all that waits: between the last one that is known and the one that came now. */
static void write_waiting(struct slices *slices, uint32_t number, struct task *task, uint64_t time)
{
    const uint64_t from = task->known ? task->time : time;
    const uint64_t span = time > from ? time - from : 0;
    const uint64_t ran = task->now_at - task->time_at;
    for (uint32_t i = 0; i < task->waiting_count; i++) {
        const struct waiting *it = &task->waiting[i];
        const uint64_t part = it->at > task->time_at ? it->at - task->time_at : 0;
        const bool estimated = !slices->options.exact && span > 0 && part > 0 && ran > 0;
        uint64_t at = from;
        if (estimated)
            at += share_of(span, part, ran);
        write_one(slices, number, task, it, at, estimated);
    }
    task->waiting_count = 0;
}

/** The task has come to a time: all that waits was before it. */
static void come_to(struct slices *slices, uint32_t number, struct task *task, uint64_t time)
{
    write_waiting(slices, number, task, time);
    pug_timeline_ran(slices->timeline, TRACK_OF_TASK(number), time, task->instructions,
                     task->offset);
    task->time = time;
    task->time_at = task->now_at;
    task->known = true;
}

/** Timestamps from here on do not date earlier elements, and the waiting ones are earlier. */
static void forget(struct slices *slices, uint32_t number, struct task *task)
{
    if (!task->known || !task->told)
        return;
    write_waiting(slices, number, task, task->time);
    task->known = false;
}

static bool has_times(const struct slices *slices)
{
    return slices->clock == PUG_TIMELINE_TIME;
}

static void put(struct slices *slices, uint32_t number, enum kind kind, uint64_t at, uint32_t name,
                uint64_t value)
{
    struct task *task = task_of(slices, number);
    if (!task)
        return;
    const struct waiting it = {.at = at,
                               .value = value,
                               .instructions = task->instructions,
                               .offset = task->offset,
                               .name = name,
                               .kind = (uint8_t)kind};
    if (!has_times(slices)) {
        write_one(slices, number, task, &it, at, false);
        return;
    }
    if (task->waiting_count == WAITING_MOST)
        write_waiting(slices, number, task, task->time);
    if (!make_room((void **)&task->waiting, &task->waiting_room, task->waiting_count,
                   sizeof(struct waiting))) {
        slices->failed = true;
        return;
    }
    task->waiting[task->waiting_count++] = it;
}

/** How far a task has come, in what times are estimated with. */
static uint64_t progress_of(const struct slices *slices, const struct pug_call_clock *now)
{
    if (slices->clock == PUG_TIMELINE_CYCLES ||
        (slices->clock == PUG_TIMELINE_TIME && now->cycles > 0))
        return now->cycles;
    return now->instructions;
}

/** Waiting elements were before the gap, and new ones come after it. */
static void put_gap(struct slices *slices, uint32_t number, enum pug_call_gap gap, uint64_t at)
{
    struct task *task = task_of(slices, number);
    const uint64_t from = task && task->known && task->told ? task->time : 0;
    if (task && has_times(slices))
        forget(slices, number, task);
    put(slices, number, GAP, at, gap, from);
}

static void on_call(void *context, const struct pug_call_event *event)
{
    struct slices *slices = context;
    const uint64_t at = progress_of(slices, &event->now);
    struct task *task = task_of(slices, event->task);
    if (!task)
        return;
    task->now_at = at > task->now_at ? at : task->now_at;
    if (event->now.instructions > task->instructions)
        task->instructions = event->now.instructions;
    switch (event->kind) {
    case PUG_CALL_ENTER:
        put(slices, event->task, ENTER, at,
            pug_slice_name_frame(&slices->names, event->task, event->frame), 0);
        break;
    case PUG_CALL_LEAVE: put(slices, event->task, LEAVE, at, 0, 0); break;
    default: put_gap(slices, event->task, (enum pug_call_gap)event->gap, at);
    }
}

/** Move the task past an element, as the calls count. */
static void go_on(const struct slices *slices, struct task *task, const struct pug_element *e)
{
    if (e->type == PUG_ELEM_INSTR_RANGE || e->type == PUG_ELEM_I_RANGE_NOPATH)
        task->ran.instructions += e->count;
    if (pug_element_adds_cycles(e))
        task->ran.cycles += e->cycle_count;
    const uint64_t at = progress_of(slices, &task->ran);
    task->now_at = at > task->now_at ? at : task->now_at;
    if (task->ran.instructions > task->instructions)
        task->instructions = task->ran.instructions;
}

/* ---- what is beside the flow ---- */

static void put_beside(struct slices *slices, uint32_t number, const struct pug_element *e,
                       uint64_t at)
{
    switch ((enum pug_element_type)e->type) {
    case PUG_ELEM_SWTRACE:
        put(slices, number, COUNTER, at,
            pug_slice_name_counted(&slices->names, SLICE_KEY(SLICE_CHANNEL, PUG_SW_CHANNEL(e)),
                                   "channel", PUG_SW_CHANNEL(e)),
            e->value);
        break;
    case PUG_ELEM_EVENT:
        put(slices, number, INSTANT, at,
            pug_slice_name_counted(&slices->names, SLICE_KEY(SLICE_EVENT, e->number), "event",
                                   e->number),
            0);
        break;
    case PUG_ELEM_EXCEPTION:
        put(slices, number, INSTANT, at,
            pug_slice_name_exception(&slices->names, e->reason, e->number), 0);
        break;
    default: break;
    }
}

/* ---- times ---- */

/** A timestamp in the capture's time; 0: the element has none. */
static uint64_t timestamp_of(const struct slices *slices, const struct pug_element *e)
{
    uint64_t time = e->timestamp;
    if (e->type != PUG_ELEM_TIMESTAMP || time == 0)
        return 0;
    (void)pug_capture_clock(slices->options.capture, time, &time);
    return time;
}

/**
 * A timestamp is of the place where it stands. What the capture says is of all that it dates alike:
 * that was no later. On another processor it was before what is dated there, too; but a source may
 * have something left that is of before.
 */
static void take_time(struct slices *slices, uint32_t number, struct task *task,
                      const struct trace_item *item)
{
    const uint64_t dated = slices->dates ? item->where->time : 0;
    const uint64_t told = timestamp_of(slices, &item->element);
    const uint64_t latest = dated < task->dated ? dated : task->dated;
    if (dated >= task->time && dated != task->dated) {
        if (latest > task->time)
            come_to(slices, number, task, latest);
        task->dated = dated;
    }
    if (told && (told > task->time || (told == task->time && !task->known)))
        come_to(slices, number, task, told);
    task->told |= told != 0;
}

/** The processor of an item, if it is known who runs there and when; NULL also without memory. */
static struct processor *processor_of(struct slices *slices, const struct trace_item *item)
{
    const int32_t cpu = item->where->cpu;
    if (!slices->dates || cpu < 0 || (uint32_t)cpu >= PROCESSORS_MOST || item->where->time == 0 ||
        item->where->task == PUG_NO_TASK)
        return NULL;
    if (!make_room((void **)&slices->processors, &slices->processor_count, (uint32_t)cpu,
                   sizeof(struct processor))) {
        slices->failed = true;
        return NULL;
    }
    return &slices->processors[cpu];
}

/** A task comes to a processor, where another was before or none. */
static void put_processor(struct slices *slices, struct processor *processor,
                          const struct trace_item *item, uint32_t number)
{
    const uint32_t cpu = (uint32_t)item->where->cpu, track = TRACK_OF_PROCESSOR(cpu);
    char words[96];
    bool is_new;
    if (!processor->used) {
        snprintf(words, sizeof(words), "cpu %" PRIu32, cpu);
        pug_timeline_track(slices->timeline, track,
                           &(struct pug_track){.pid = -1, .tid = -1, .name = words});
    } else if (!processor->away) {
        pug_timeline_leave(slices->timeline, track, item->where->time);
    }
    uint32_t name = pug_slice_name_number(&slices->names, SLICE_KEY(SLICE_TASK, number), &is_new);
    if (is_new) {
        pug_places_task_words(slices->places, item, words, sizeof(words));
        pug_timeline_name(slices->timeline, name, words, NULL, 0);
    }
    pug_timeline_enter(slices->timeline, track, item->where->time, name, false);
    processor->used = true;
    processor->away = false;
    processor->task = number;
}

/** The task that a processor runs is a track of its own. */
static void take_processor(struct slices *slices, uint32_t number, struct task *task,
                           const struct trace_item *item)
{
    struct processor *processor = processor_of(slices, item);
    const uint64_t told = timestamp_of(slices, &item->element);
    if (!processor)
        return;
    if (!processor->used || processor->away || processor->task != number) {
        if (processor->told > task->time) /* others ran until then */
            come_to(slices, number, task, processor->told);
        else if (processor->told < task->time) /* it comes from another processor */
            forget(slices, number, task);
        put_processor(slices, processor, item, number);
    }
    processor->time = item->where->time;
    processor->told = told ? told : processor->told;
}

bool pug_slices_take_others(struct slices *slices, const struct trace_item *item)
{
    struct processor *processor = has_times(slices) ? processor_of(slices, item) : NULL;
    const uint64_t told = timestamp_of(slices, &item->element);
    if (!processor)
        return !slices->failed;
    if (processor->used && !processor->away)
        pug_timeline_leave(slices->timeline, TRACK_OF_PROCESSOR((uint32_t)item->where->cpu),
                           item->where->time);
    processor->away = processor->used;
    processor->told = told ? told : processor->told;
    return true;
}

bool pug_slices_take(struct slices *slices, const struct trace_item *item)
{
    const uint32_t number = pug_places_task(item);
    pug_slices_swo_take(slices->swo, item);
    if (pug_swo_sources_is(&item->element)) {
        if (slices->options.observe)
            slices->options.observe(slices->options.observe_context, item);
        return !slices->failed && !slices->names.failed;
    }
    struct task *task = task_of(slices, number);
    if (!task || !pug_places_follow(slices->places, item))
        return !(slices->failed = true);
    if (!task->used) {
        task->used = true;
        declare_task(slices, number, item);
    }
    task->offset = item->element.index;
    if (slices->options.buffers > 1)
        task->offset = task->offset * slices->options.buffers + item->where->buffer;
    if (slices->options.observe)
        slices->options.observe(slices->options.observe_context, item);
    if (has_times(slices)) {
        take_time(slices, number, task, item);
        take_processor(slices, number, task, item);
    }
    if (pug_calls_take(slices->calls, number, &item->element, 1) == PUG_ERR_MEM)
        slices->failed = true;
    go_on(slices, task, &item->element);
    put_beside(slices, number, &item->element, task->now_at);
    return !slices->failed && !slices->names.failed;
}

/** Until when tasks and processors are known to have run. */
static void end_times(struct slices *slices)
{
    for (uint32_t i = 0; i < slices->task_count; i++) {
        struct task *task = &slices->tasks[i];
        write_waiting(slices, i, task, task->dated > task->time ? task->dated : task->time);
    }
    for (uint32_t i = 0; i < slices->processor_count; i++)
        if (slices->processors[i].used && !slices->processors[i].away)
            pug_timeline_leave(slices->timeline, TRACK_OF_PROCESSOR(i), slices->processors[i].time);
}

enum pug_status pug_slices_end(struct slices *slices)
{
    pug_calls_end(slices->calls);
    end_times(slices);
    slices->failed |= !pug_slices_swo_end(slices->swo);
    enum pug_status status = pug_timeline_end(slices->timeline);
    slices->timeline = NULL;
    if (slices->failed || slices->names.failed)
        return PUG_ERR_MEM;
    return status == PUG_OK ? pug_names_status(slices->options.names) : status;
}

/* ---- making ---- */

/** Bytes of a capture that are searched for times. */
#define LOOKED_AT (UINT64_C(16) << 20)

/** The clocks of elements, found by a consumer of its own. */
struct clocks {
    bool time, cycles;
    bool software, flow; /* an ITM's times; something that ran */
};

static void *clocks_begin(void *context, unsigned worker, struct pug_piece *piece)
{
    (void)context;
    (void)worker;
    (void)piece;
    return calloc(1, sizeof(struct clocks));
}

static void clocks_elements(void *part, const struct pug_origin *where,
                            const struct pug_element *elements, size_t count)
{
    struct clocks *clocks = part;
    (void)where;
    for (size_t i = 0; i < count; i++) {
        clocks->time |= elements[i].type == PUG_ELEM_TIMESTAMP && elements[i].timestamp != 0;
        clocks->cycles |= pug_element_adds_cycles(&elements[i]);
        clocks->software |= elements[i].type == PUG_ELEM_ITMTRACE;
        clocks->flow |= elements[i].type == PUG_ELEM_INSTR_RANGE;
    }
}

static bool clocks_take(void *context, void *part)
{
    struct clocks *all = context, *clocks = part;
    all->time |= clocks->time;
    all->cycles |= clocks->cycles;
    all->software |= clocks->software;
    all->flow |= clocks->flow;
    free(clocks);
    return !all->time;
}

static bool clocks_progress(void *context, uint64_t done)
{
    (void)context;
    return done < LOOKED_AT;
}

/** False: no memory. What else fails here fails again later. */
static bool choose_clock(const struct slices_options *options, enum pug_timeline_clock *clock)
{
    struct clocks clocks = {0};
    const struct pug_consumer consumer = {.context = &clocks,
                                          .begin = clocks_begin,
                                          .elements = clocks_elements,
                                          .take = clocks_take,
                                          .drop = free};
    const struct pug_capture_decode decode = {.consumers = &consumer,
                                              .consumer_count = 1,
                                              .threads = 1, /* so it always looks as far */
                                              .progress = clocks_progress};
    struct pug_capture_result result;
    *clock = options->clock;
    if (options->clock != PUG_TIMELINE_AUTO)
        return true;
    *clock = PUG_TIMELINE_TIME;
    if (pug_places_have_times(options->capture))
        return true;
    (void)pug_capture_memory(options->capture, 0); /* a stream is to be decoded twice */
    if (pug_capture_decode(options->capture, &decode, &result) == PUG_ERR_MEM)
        return false;
    *clock = clocks.time || (clocks.software && !clocks.flow) ? PUG_TIMELINE_TIME
             : clocks.cycles                                  ? PUG_TIMELINE_CYCLES
                                                              : PUG_TIMELINE_INSTRUCTIONS;
    return true;
}

static const char *unit_of(const struct slices *slices)
{
    if (slices->clock == PUG_TIMELINE_CYCLES)
        return "cycles";
    if (slices->clock == PUG_TIMELINE_INSTRUCTIONS)
        return "instructions";
    return pug_capture_times(slices->options.capture).unit == PUG_CAPTURE_NANOSECONDS ? "ns"
                                                                                      : "ticks";
}

bool pug_slices_threads(struct slices *slices, const struct thread_kernel_wanted *wanted)
{
    return pug_slices_swo_threads(slices->swo, wanted);
}

struct slices *pug_slices_new(const struct slices_options *options)
{
    struct slices *slices = calloc(1, sizeof(*slices));
    if (!slices)
        return NULL;
    slices->options = *options;
    slices->dates = pug_places_have_times(options->capture);
    if (choose_clock(options, &slices->clock))
        slices->places = pug_places_new(options->capture, options->names);
    const struct pug_calls_config calls = {.locate = pug_places_locate,
                                           .locate_context = slices->places,
                                           .event = on_call,
                                           .event_context = slices};
    const struct pug_timeline_output timeline = {.sink = options->sink,
                                                 .title = pug_capture_path(options->capture),
                                                 .unit = unit_of(slices),
                                                 .room = options->room,
                                                 .append = options->append,
                                                 .append_context = options->append_context,
                                                 .slice = options->slice,
                                                 .slice_context = options->slice_context};
    if (!slices->places || pug_calls_new(&calls, &slices->calls) != PUG_OK ||
        pug_timeline_new(options->form, &timeline, &slices->timeline) != PUG_OK) {
        pug_slices_free(slices);
        return NULL;
    }
    slices->names = (struct slice_names){
        .timeline = slices->timeline, .places = slices->places, .readable = options->names};
    slices->swo = pug_slices_swo_new(options->capture, &slices->names);
    if (slices->swo)
        return slices;
    pug_slices_free(slices);
    return NULL;
}

void pug_slices_free(struct slices *slices)
{
    if (!slices)
        return;
    if (slices->timeline)
        pug_timeline_end(slices->timeline);
    for (uint32_t i = 0; i < slices->task_count; i++) {
        free(slices->tasks[i].waiting);
        free(slices->tasks[i].open);
    }
    pug_calls_free(slices->calls);
    pug_slices_swo_free(slices->swo);
    pug_places_free(slices->places);
    free(slices->tasks);
    free(slices->processors);
    pug_slice_names_free(&slices->names);
    free(slices);
}

const struct pug_calls *pug_slices_calls(const struct slices *slices)
{
    return slices->calls;
}

const char *pug_slices_unit(const struct slices *slices)
{
    return unit_of(slices);
}

struct places *pug_slices_places(const struct slices *slices)
{
    return slices->places;
}

struct slices_numbers pug_slices_numbers(const struct slices *slices)
{
    struct slices_numbers numbers = slices->numbers;
    numbers.handlers = pug_slices_swo_handlers(slices->swo);
    numbers.tick = pug_slices_swo_tick(slices->swo);
    numbers.gaps[PUG_GAP_LOST] += pug_slices_swo_losses(slices->swo);
    return numbers;
}
