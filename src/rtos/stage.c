// SPDX-License-Identifier: MIT
#include "rtos/stage.h"

#include "capture/capture.h"
#include "events/dwt_sources.h"
#include "rtos/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** So many items are held at most; then they go on, with what is known until there. */
#define HELD_MOST (1u << 16)

/** An item that waits, with all that it points to. */
struct held {
    struct held *next;
    struct trace_item item;
    struct pug_origin where;
    struct trace_place item_place;
    struct thread_place place;
    uint8_t bytes[];
};

/** A source with program flow: a core. */
struct core {
    uint32_t buffer, number;
    uint16_t source;
    struct rtos_program program;
    struct rtos_follow *follow;
    uint32_t *tasks; /* of the capture, by thread; PUG_NO_TASK: not made yet */
    uint32_t task_room;
    struct held *first, *last;
    size_t held;
    struct pug_origin where; /* of what came last */
};

struct thread_stage {
    struct thread_stage_options options;
    struct thread_kernel found;
    struct core **cores;
    uint32_t count;
    struct thread_memory *memory;
    struct pug_tree *tree; /* of the first buffer: has the program's memory, and its ITMs */
    struct dwt_sources *dwts;
    uint32_t next_task; /* the least number for the next task */
    bool failed, ended;
};

/* ---- making ---- */

static void make_tree(struct thread_stage *stage)
{
    struct pug_capture *capture = stage->options.kernel.capture;
    const struct pug_capture_buffer *buffer;
    for (size_t n = 0; (buffer = pug_capture_buffer_at(capture, n)) != NULL; n++)
        if (buffer->chosen && buffer->segment_count > 0) {
            (void)pug_capture_tree(capture, buffer->first_segment, false, NULL, &stage->tree);
            break;
        }
    if (stage->tree)
        stage->failed |= !pug_dwt_sources_new(stage->tree, false, &stage->dwts);
}

enum pug_status pug_thread_stage_new(const struct thread_stage_options *options,
                                     struct thread_stage **out)
{
    struct thread_kernel found;
    *out = NULL;
    switch (pug_thread_kernel_find(&options->kernel, &found)) {
    case THREAD_KERNEL_NONE: return PUG_OK;
    case THREAD_KERNEL_WRONG: return PUG_ERR_INVALID_PARAM_VAL;
    case THREAD_KERNEL_THERE: break;
    }
    struct thread_stage *stage = calloc(1, sizeof(*stage));
    if (!stage) {
        pug_thread_kernel_end(&found);
        return PUG_ERR_MEM;
    }
    stage->options = *options;
    stage->found = found;
    stage->memory = pug_thread_memory_new();
    stage->failed |= !stage->memory;
    make_tree(stage);
    if (stage->failed) {
        pug_thread_stage_free(stage);
        return PUG_ERR_MEM;
    }
    *out = stage;
    return PUG_OK;
}

static void drop_held(struct core *core)
{
    for (struct held *held = core->first, *next; held; held = next) {
        next = held->next;
        free(held);
    }
    core->first = core->last = NULL;
    core->held = 0;
}

void pug_thread_stage_free(struct thread_stage *stage)
{
    if (!stage)
        return;
    for (uint32_t i = 0; i < stage->count; i++) {
        drop_held(stage->cores[i]);
        pug_rtos_follow_free(stage->cores[i]->follow);
        free(stage->cores[i]->tasks);
        free(stage->cores[i]);
    }
    free(stage->cores);
    pug_dwt_sources_free(stage->dwts);
    pug_tree_free(stage->tree);
    pug_thread_memory_free(stage->memory);
    pug_thread_kernel_end(&stage->found);
    free(stage);
}

bool pug_thread_stage_failed(const struct thread_stage *stage)
{
    return stage->failed;
}

/* ---- cores ---- */

static struct core *add_core(struct thread_stage *stage, const struct trace_item *item)
{
    struct core **grown = realloc(stage->cores, (stage->count + 1) * sizeof(struct core *));
    struct core *core = calloc(1, sizeof(*core));
    if (grown)
        stage->cores = grown;
    if (!grown || !core) {
        free(core);
        stage->failed = true;
        return NULL;
    }
    core->number = stage->count;
    core->buffer = item->where->buffer;
    core->source = item->element.source;
    if (stage->found.kernel)
        pug_rtos_look_up(stage->found.kernel, stage->found.file, core->number, &core->program);
    core->program.file = stage->found.file;
    core->follow = pug_rtos_follow_new(&core->program.object);
    if (!core->follow) {
        free(core);
        stage->failed = true;
        return NULL;
    }
    return stage->cores[stage->count++] = core;
}

static struct core *find_core(struct thread_stage *stage, const struct trace_item *item)
{
    for (uint32_t i = 0; i < stage->count; i++)
        if (stage->cores[i]->source == item->element.source &&
            stage->cores[i]->buffer == item->where->buffer)
            return stage->cores[i];
    return item->element.type == PUG_ELEM_INSTR_RANGE ||
                   item->element.type == PUG_ELEM_I_RANGE_NOPATH
               ? add_core(stage, item)
               : NULL;
}

/* ---- tasks ---- */

static size_t read_memory(void *context, uint64_t address, uint8_t *bytes, size_t size)
{
    const struct thread_stage *stage = context;
    const struct pug_image *image = stage->tree ? pug_tree_image(stage->tree) : NULL;
    return pug_thread_memory_read(stage->memory, image, address, bytes, size);
}

/** A task of the capture for a thread; PUG_NO_TASK: no memory. */
static uint32_t make_task(struct thread_stage *stage, struct core *core, uint32_t thread)
{
    struct pug_capture *capture = stage->options.kernel.capture;
    const struct rtos_thread *is = pug_rtos_thread_at(core->follow, thread);
    const struct rtos_memory memory = {.read = read_memory, .context = stage};
    char name[256] = "?";
    if (!is)
        return PUG_NO_TASK;
    if (thread != RTOS_UNKNOWN)
        pug_rtos_name(&core->program, is, &memory, name, sizeof(name));
    const struct pug_capture_task task = {.pid = (int32_t)core->number + 1,
                                          .tid = is->has_value ? (int32_t)(uint32_t)is->value
                                                               : (int32_t)thread,
                                          .comm = name};
    const uint32_t number = pug_capture_found_task(capture, stage->next_task, &task);
    stage->failed |= number == PUG_NO_TASK;
    stage->next_task = number == PUG_NO_TASK ? number : number + 1;
    return number;
}

static uint32_t task_of(struct thread_stage *stage, struct core *core, uint32_t thread)
{
    if (thread >= core->task_room) {
        const uint32_t room = thread + thread / 2 + 16;
        uint32_t *grown = realloc(core->tasks, room * sizeof(*grown));
        if (!grown) {
            stage->failed = true;
            return PUG_NO_TASK;
        }
        for (uint32_t i = core->task_room; i < room; i++)
            grown[i] = PUG_NO_TASK;
        core->tasks = grown;
        core->task_room = room;
    }
    if (core->tasks[thread] == PUG_NO_TASK)
        core->tasks[thread] = make_task(stage, core, thread);
    return core->tasks[thread];
}

static bool is_chosen(const struct thread_stage *stage, uint32_t task)
{
    const struct thread_stage_options *options = &stage->options;
    if (options->tid_count + options->comm_count == 0)
        return true;
    const struct pug_capture_task *is = pug_capture_task_at(options->kernel.capture, task);
    bool tid = options->tid_count == 0, comm = options->comm_count == 0;
    for (size_t i = 0; is && i < options->tid_count && !tid; i++)
        tid = options->tids[i] == is->tid;
    for (size_t i = 0; is && i < options->comm_count && !comm; i++)
        comm = strcmp(options->comms[i], is->comm) == 0;
    return tid && comm;
}

/* ---- giving ---- */

static bool give(struct thread_stage *stage, struct core *core, const struct trace_item *item,
                 const struct thread_place *place)
{
    struct trace_item task = *item;
    struct pug_origin where = *item->where;
    where.task = task_of(stage, core, place->thread);
    task.where = &where;
    task.others = item->others || !is_chosen(stage, where.task);
    if (task.others && !item->others && stage->options.tid_count + stage->options.comm_count > 0 &&
        item->element.type != PUG_ELEM_TIMESTAMP)
        return !stage->failed;
    return stage->options.give(stage->options.context, &task, place) && !stage->failed;
}

/** Those that were held are of a thread. */
static bool release(struct thread_stage *stage, struct core *core, uint32_t thread)
{
    bool goes_on = true;
    for (struct held *held = core->first; held && goes_on; held = held->next) {
        held->place.thread = thread;
        goes_on = give(stage, core, &held->item, &held->place);
    }
    drop_held(core);
    return goes_on;
}

static bool hold(struct thread_stage *stage, struct core *core, const struct trace_item *item,
                 const struct thread_place *place)
{
    const bool payload = item->element.flags & PUG_ELEM_PAYLOAD;
    const size_t size = payload ? item->element.count : 0;
    struct held *held = malloc(sizeof(*held) + size);
    if (!held) {
        stage->failed = true;
        return false;
    }
    *held = (struct held){.item = *item, .where = *item->where, .place = *place};
    held->item.where = &held->where;
    held->item.bytes = NULL;
    if (item->place) {
        held->item_place = *item->place;
        held->item.place = &held->item_place;
    }
    if (payload) {
        memcpy(held->bytes, item->bytes, size);
        held->item.bytes = held->bytes;
        held->item.element.payload = held->bytes;
    }
    if (core->last)
        core->last->next = held;
    else
        core->first = held;
    core->last = held;
    core->held++;
    return true;
}

/**
 * A thread stopped: the handler that switched is over for it. An empty range where it will go on
 * says so to whoever follows its calls.
 */
static bool give_stop(struct thread_stage *stage, struct core *core,
                      const struct rtos_answer *answer, const struct trace_item *item)
{
    const struct trace_item stop = {.element = {.index = item->element.index,
                                                .source = core->source,
                                                .type = PUG_ELEM_INSTR_RANGE,
                                                .isa = item->element.isa,
                                                .start = answer->stopped_at,
                                                .end = answer->stopped_at},
                                    .where = item->where};
    const struct thread_place place = {.core = core->number, .thread = answer->stopped};
    if (answer->stopped_at == RTOS_NO_ADDRESS)
        return true;
    return give(stage, core, &stop, &place);
}

/* ---- what comes ---- */

/** An ITM packet may be the value of the object that names the running thread. */
static bool take_event(struct thread_stage *stage, const struct pug_dwt_event *event)
{
    bool goes_on = true;
    for (uint32_t i = 0; i < stage->count && goes_on; i++) {
        struct core *core = stage->cores[i];
        const struct rtos_object *object = &core->program.object;
        const bool watched = object->has_current && event->kind == PUG_DWT_DATA && event->write &&
                             event->has_value && event->has_address &&
                             event->address == object->current;
        const bool said =
            object->by_port && event->kind == PUG_DWT_STIMULUS && event->number == object->port;
        struct rtos_answer answer = {.thread = RTOS_UNKNOWN};
        if (!watched && !said)
            continue;
        stage->failed |= pug_rtos_written(core->follow, event->value, &answer) != PUG_OK;
        if (answer.decided)
            goes_on = release(stage, core, answer.whose);
    }
    return goes_on;
}

static bool take_beside(struct thread_stage *stage, const struct trace_item *item)
{
    const struct pug_element *e = &item->element;
    struct pug_dwt *dwt = stage->dwts ? pug_dwt_sources_find(stage->dwts, e->source) : NULL;
    bool goes_on = true;
    if (dwt) {
        const size_t count = pug_dwt_push(dwt, e);
        for (size_t i = 0; i < count && goes_on; i++)
            goes_on = take_event(stage, &dwt->events[i]);
    }
    const struct thread_place place = {.known = false};
    return goes_on && stage->options.give(stage->options.context, item, &place);
}

static void remember(struct thread_stage *stage, const struct pug_element *e)
{
    if (e->type == PUG_ELEM_DATA_VALUE && e->reason == PUG_ACCESS_STORE &&
        (e->flags & PUG_ELEM_HAS_ADDRESS))
        pug_thread_memory_store(stage->memory, e->start, e->last_size, e->value);
}

bool pug_thread_stage_take(struct thread_stage *stage, const struct trace_item *item)
{
    struct core *core = find_core(stage, item);
    struct rtos_answer answer;
    remember(stage, &item->element);
    if (!core || item->others)
        return !stage->failed && take_beside(stage, item);
    core->where = *item->where;
    stage->failed |= pug_rtos_take(core->follow, &item->element, &answer) != PUG_OK;
    if (answer.decided && !release(stage, core, answer.whose))
        return false;
    if (answer.switched && !give_stop(stage, core, &answer, item))
        return false;
    const struct thread_place place = {.core = core->number,
                                       .thread = answer.thread,
                                       .in_handler = answer.in_handler,
                                       .idle = answer.idle,
                                       .switched = answer.switched,
                                       .known = true};
    if (!answer.held)
        return give(stage, core, item, &place);
    if (core->held == HELD_MOST) {
        pug_rtos_settle(core->follow, &answer);
        if (!release(stage, core, answer.whose))
            return false;
        struct thread_place now = place;
        now.thread = answer.whose;
        return give(stage, core, item, &now);
    }
    return hold(stage, core, item, &place);
}

bool pug_thread_stage_end(struct thread_stage *stage)
{
    bool goes_on = !stage->failed;
    for (uint32_t i = 0; i < stage->count && goes_on && !stage->ended; i++) {
        struct rtos_answer answer = {.whose = RTOS_UNKNOWN};
        pug_rtos_settle(stage->cores[i]->follow, &answer);
        goes_on = release(stage, stage->cores[i], answer.whose);
    }
    stage->ended = true;
    return goes_on && !stage->failed;
}

/* ---- asked ---- */

const struct rtos_thread *pug_thread_stage_thread(const struct thread_stage *stage, uint32_t core,
                                                  uint32_t thread)
{
    return core < stage->count ? pug_rtos_thread_at(stage->cores[core]->follow, thread) : NULL;
}

const char *pug_thread_stage_name(struct thread_stage *stage, uint32_t core, uint32_t thread)
{
    const uint32_t task =
        core < stage->count ? task_of(stage, stage->cores[core], thread) : PUG_NO_TASK;
    const struct pug_capture_task *is = pug_capture_task_at(stage->options.kernel.capture, task);
    return is ? is->comm : "?";
}

uint16_t pug_thread_stage_source(const struct thread_stage *stage, uint32_t core)
{
    return core < stage->count ? stage->cores[core]->source : 0;
}

const char *pug_thread_stage_kernel(const struct thread_stage *stage)
{
    return stage->found.kernel ? stage->found.kernel->name : NULL;
}

const char *pug_thread_stage_current(const struct thread_stage *stage)
{
    return stage->count > 0 ? stage->cores[0]->program.current : NULL;
}

bool pug_thread_stage_has_values(const struct thread_stage *stage)
{
    for (uint32_t i = 0; i < stage->count; i++)
        if (pug_rtos_has_values(stage->cores[i]->follow))
            return true;
    return false;
}

bool pug_thread_stage_is_idle(struct thread_stage *stage, uint32_t core, uint32_t thread)
{
    const struct rtos_thread *is = pug_thread_stage_thread(stage, core, thread);
    struct pug_names_function function;
    if (!is || !stage->found.kernel || thread == RTOS_UNKNOWN || !stage->found.file ||
        !pug_names_function(stage->found.file, is->first, &function))
        return false;
    for (size_t i = 0; i < stage->found.kernel->idle.count; i++)
        if (strcmp(function.name, stage->found.kernel->idle.at[i]) == 0)
            return true;
    return false;
}

bool pug_thread_stage_knows_ready(const struct thread_stage *stage)
{
    for (uint32_t i = 0; i < stage->count; i++)
        if (stage->cores[i]->program.ready.known)
            return true;
    return false;
}

bool pug_thread_stage_ready(const struct thread_stage *stage, uint32_t core,
                            const struct pug_element *element, uint32_t *thread)
{
    const struct core *of = core < stage->count ? stage->cores[core] : NULL;
    const struct rtos_ready *ready = of ? &of->program.ready : NULL;
    const struct rtos_thread *is;
    if (!ready || !ready->known || element->type != PUG_ELEM_DATA_VALUE ||
        !(element->flags & PUG_ELEM_HAS_ADDRESS) || element->reason != PUG_ACCESS_STORE ||
        element->last_size != ready->size || element->value < ready->first ||
        element->value > ready->last)
        return false;
    for (uint32_t n = 1; (is = pug_rtos_thread_at(of->follow, n)) != NULL; n++)
        if (is->has_value && is->value + ready->offset == element->start) {
            *thread = n;
            return true;
        }
    return false;
}
