// SPDX-License-Identifier: MIT
/**
 * @file Events in the order of time to tasks, and to the changes of processes (sections 11, 12).
 */
#include "base/hash.h"
#include "perfdata/perfdata.h"

#include <stdlib.h>
#include <string.h>

/* ---- numbers by id ---- */

/** The current task of a pid or tid. */
struct current {
    int32_t id;
    uint32_t number; /* plus 1; 0: free */
};

struct currents {
    struct current *slots;
    size_t count, room; /* room is a power of two */
};

static struct current *slot_of(const struct currents *currents, int32_t id)
{
    size_t at = pug_hash_mix(0, (uint32_t)id) & (currents->room - 1);
    while (currents->slots[at].number && currents->slots[at].id != id)
        at = (at + 1) & (currents->room - 1);
    return &currents->slots[at];
}

static uint32_t current_of(const struct currents *currents, int32_t id)
{
    const struct current *slot = currents->room ? slot_of(currents, id) : NULL;
    return slot && slot->number ? slot->number - 1 : UINT32_MAX;
}

static bool grow(struct currents *currents)
{
    struct currents wider = {.room = currents->room ? currents->room * 2 : 64};
    wider.slots = calloc(wider.room, sizeof(*wider.slots));
    if (!wider.slots)
        return false;
    for (size_t i = 0; i < currents->room; i++)
        if (currents->slots[i].number)
            *slot_of(&wider, currents->slots[i].id) = currents->slots[i];
    wider.count = currents->count;
    free(currents->slots);
    *currents = wider;
    return true;
}

static bool set_current(struct currents *currents, int32_t id, uint32_t number)
{
    if (currents->count * 2 >= currents->room && !grow(currents))
        return false;
    struct current *slot = slot_of(currents, id);
    currents->count += slot->number == 0;
    *slot = (struct current){id, number + 1};
    return true;
}

/* ---- tasks ---- */

struct settling {
    struct pug_perf *perf;
    struct currents processes, threads; /* of the host */
    bool failed;
};

static void add_task(struct settling *settling, int32_t pid, int32_t tid, const char *name,
                     uint64_t time)
{
    struct pug_perf *perf = settling->perf;
    struct pug_capture_task *task =
        pug_capture_add(perf->capture, &perf->capture->tasks, sizeof(*task));
    struct pug_perf_thread *thread =
        pug_capture_add(perf->capture, &perf->threads, sizeof(*thread));
    const uint32_t number = (uint32_t)perf->capture->tasks.count - 1;
    if (!task || !thread || !set_current(&settling->threads, tid, number)) {
        settling->failed = true;
        return;
    }
    *task = (struct pug_capture_task){.pid = pid, .tid = tid, .comm = name, .begin = time};
    *thread = (struct pug_perf_thread){.tid = tid, .time = time, .task = number};
}

static struct pug_capture_task *task_of(const struct settling *settling, int32_t tid)
{
    const uint32_t number = current_of(&settling->threads, tid);
    return number == UINT32_MAX ? NULL : &pug_capture_tasks(settling->perf->capture)[number];
}

/** A thread begins, or is heard of. Its name is at first that of whoever started it. */
static void start_thread(struct settling *settling, const struct pug_perf_event *event, bool fresh)
{
    const struct pug_capture_task *known = task_of(settling, event->tid);
    const struct pug_capture_task *like = task_of(settling, event->parent_tid);
    if (!like)
        like = task_of(settling, event->parent >= 0 ? event->parent : event->pid);
    if (known && known->pid == event->pid && !fresh)
        return;
    add_task(settling, event->pid, event->tid, like ? like->comm : "", event->time);
}

static void name_thread(struct settling *settling, const struct pug_perf_event *event)
{
    struct pug_capture_task *known = task_of(settling, event->tid);
    if (known && known->pid == event->pid && strcmp(known->comm, event->name) == 0)
        return;
    if (known && known->pid == event->pid && (known->begin == event->time || !*known->comm))
        known->comm = event->name;
    else
        add_task(settling, event->pid, event->tid, event->name, event->time);
}

/* ---- processes ---- */

static uint32_t add_process(struct settling *settling, int32_t pid, uint64_t time)
{
    struct pug_perf *perf = settling->perf;
    struct pug_perf_process *process =
        pug_capture_add(perf->capture, &perf->processes, sizeof(*process));
    struct pug_perf_life *life = pug_capture_add(perf->capture, &perf->lives, sizeof(*life));
    const uint32_t number = (uint32_t)perf->processes.count - 1;
    if (!process || !life) {
        settling->failed = true;
        return UINT32_MAX;
    }
    process->pid = pid;
    process->begin = time;
    process->parent = PUG_PERF_NO_PARENT;
    *life = (struct pug_perf_life){.pid = pid, .time = time, .process = number};
    return number;
}

static uint32_t process_of(struct settling *settling, int32_t pid, uint64_t time)
{
    uint32_t number = current_of(&settling->processes, pid);
    if (number != UINT32_MAX)
        return number;
    number = add_process(settling, pid, time);
    if (number != UINT32_MAX && !set_current(&settling->processes, pid, number))
        settling->failed = true;
    return number;
}

/** A process that has changes already is another one of the same number. */
static void fork_process(struct settling *settling, const struct pug_perf_event *event)
{
    struct pug_perf *perf = settling->perf;
    const uint32_t parent = current_of(&settling->processes, event->parent);
    const uint32_t number = add_process(settling, event->pid, event->time);
    if (number == UINT32_MAX || !set_current(&settling->processes, event->pid, number)) {
        settling->failed = true;
        return;
    }
    struct pug_perf_process *process = (struct pug_perf_process *)perf->processes.items + number;
    if (event->has_maps && parent != UINT32_MAX && parent != number) {
        process->parent = parent;
        process->parent_state =
            ((struct pug_perf_process *)perf->processes.items)[parent].changes.count;
    }
    start_thread(settling, event, true);
}

static void change(struct settling *settling, uint32_t process,
                   const struct pug_perf_change *wanted)
{
    struct pug_perf_process *processes = settling->perf->processes.items;
    struct pug_perf_change *added =
        process == UINT32_MAX ? NULL : pug_list_add(&processes[process].changes, sizeof(*added));
    if (added)
        *added = *wanted;
    else
        settling->failed = true;
}

/** Where kernel text is looked for by address; kernel objects count in addresses. */
static void note_kernel(struct pug_perf *perf, const struct pug_perf_event *event)
{
    static const char kernel[] = "[kernel.kallsyms]";
    if (event->object == PUG_NO_OBJECT)
        return;
    struct pug_perf_object *details = &pug_perf_details(perf)[event->object];
    const char *path = pug_capture_objects(perf->capture)[event->object]->path;
    if (details->first_size == 0) {
        details->first_address = event->address;
        details->first_offset = event->offset;
        details->first_size = event->size;
    }
    if (event->machine == PUG_PERF_HOST && perf->kernel_start == UINT64_C(1) << 63 &&
        strncmp(path, kernel, sizeof(kernel) - 1) == 0)
        perf->kernel_start = event->address;
}

static void map(struct settling *settling, const struct pug_perf_event *event)
{
    struct pug_perf *perf = settling->perf;
    uint32_t process;
    const bool kernel = event->kernel || event->pid < 0;
    uint32_t object = event->object;
    uint64_t offset = kernel ? event->address : event->offset;
    if (!kernel)
        pug_perf_enter_archive(perf, &object, &offset);
    if (kernel)
        process = event->machine == PUG_PERF_GUEST
                      ? pug_perf_add_guest(perf, event->pid > 0 ? event->pid : 0)
                      : PUG_PERF_KERNEL;
    else
        process = process_of(settling, event->pid, event->time);
    if (kernel)
        note_kernel(perf, event);
    if (object != PUG_NO_OBJECT)
        pug_perf_details(perf)[object].high |= event->address >> 32 != 0;
    change(settling, process,
           &(struct pug_perf_change){.time = event->time,
                                     .order = event->order,
                                     .executable = event->executable,
                                     .range = {.start = event->address,
                                               .last = event->address + (event->size - 1),
                                               .offset = offset,
                                               .object = object,
                                               .text = event->text,
                                               .bytes = event->bytes}});
}

static void settle(struct settling *settling, const struct pug_perf_event *event)
{
    switch ((enum pug_perf_event_kind)event->kind) {
    case PUG_PERF_EVENT_MAP:
    case PUG_PERF_EVENT_SYMBOL:
    case PUG_PERF_EVENT_POKE: map(settling, event); break;
    case PUG_PERF_EVENT_NAME: name_thread(settling, event); break;
    case PUG_PERF_EVENT_EXEC:
        name_thread(settling, event);
        change(
            settling, process_of(settling, event->pid, event->time),
            &(struct pug_perf_change){.time = event->time, .order = event->order, .clears = true});
        break;
    case PUG_PERF_EVENT_FORK: fork_process(settling, event); break;
    case PUG_PERF_EVENT_START: start_thread(settling, event, event->parent >= 0); break;
    }
}

/** The thread of a per-thread buffer may have no name record. */
static void add_buffers_threads(struct settling *settling)
{
    const struct pug_capture *capture = settling->perf->capture;
    const struct pug_capture_buffer *buffers = pug_capture_buffers(capture);
    for (size_t i = 0; i < capture->buffers.count; i++)
        if (buffers[i].tid >= 0 && !task_of(settling, buffers[i].tid))
            add_task(settling, buffers[i].tid, buffers[i].tid, "", 0);
}

/* ---- order ---- */

static int events_by_time(const void *left, const void *right)
{
    const struct pug_perf_event *a = left, *b = right;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

static int threads_by_time(const void *left, const void *right)
{
    const struct pug_perf_thread *a = left, *b = right;
    if (a->tid != b->tid)
        return a->tid < b->tid ? -1 : 1;
    return a->task < b->task ? -1 : a->task > b->task;
}

static int lives_by_time(const void *left, const void *right)
{
    const struct pug_perf_life *a = left, *b = right;
    if (a->pid != b->pid)
        return a->pid < b->pid ? -1 : 1;
    return a->process < b->process ? -1 : a->process > b->process;
}

enum pug_status pug_perf_settle_events(struct pug_perf *perf)
{
    struct settling settling = {.perf = perf};
    struct pug_perf_event *events = perf->events.items;
    struct pug_perf_process *kernel =
        pug_capture_add(perf->capture, &perf->processes, sizeof(*kernel));
    if (!kernel)
        return PUG_ERR_MEM;
    kernel->pid = -1;
    kernel->parent = PUG_PERF_NO_PARENT;
    if (perf->events.count > 0)
        qsort(events, perf->events.count, sizeof(*events), events_by_time);
    for (size_t i = 0; i < perf->events.count && !settling.failed; i++)
        settle(&settling, &events[i]);
    if (!settling.failed)
        add_buffers_threads(&settling);
    if (perf->threads.count > 0)
        qsort(perf->threads.items, perf->threads.count, sizeof(struct pug_perf_thread),
              threads_by_time);
    if (perf->lives.count > 0)
        qsort(perf->lives.items, perf->lives.count, sizeof(struct pug_perf_life), lives_by_time);
    free(settling.processes.slots);
    free(settling.threads.slots);
    free(perf->events.items);
    perf->events = (struct pug_list){0};
    return settling.failed ? PUG_ERR_MEM : PUG_OK;
}

/* ---- asking ---- */

/** What an id was at a time: what it became last, or, before it was heard of, at first. */
uint32_t pug_perf_task_at(const struct pug_perf *perf, int32_t tid, uint64_t time)
{
    const struct pug_perf_thread *threads = perf->threads.items;
    size_t low = 0, high = perf->threads.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (threads[middle].tid < tid ||
            (threads[middle].tid == tid && threads[middle].time <= time))
            low = middle + 1;
        else
            high = middle;
    }
    if (low > 0 && threads[low - 1].tid == tid)
        return threads[low - 1].task;
    return low < perf->threads.count && threads[low].tid == tid ? threads[low].task : PUG_NO_TASK;
}

uint32_t pug_perf_process_at(const struct pug_perf *perf, int32_t pid, uint64_t time)
{
    const struct pug_perf_life *lives = perf->lives.items;
    size_t low = 0, high = perf->lives.count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (lives[middle].pid < pid || (lives[middle].pid == pid && lives[middle].time <= time))
            low = middle + 1;
        else
            high = middle;
    }
    if (low > 0 && lives[low - 1].pid == pid)
        return lives[low - 1].process;
    return low < perf->lives.count && lives[low].pid == pid ? lives[low].process : UINT32_MAX;
}
