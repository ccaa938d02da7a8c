// SPDX-License-Identifier: MIT
/**
 * @file Threads of an M profile core. Neither its trace nor its processor names them. What is known
 * is where they stop: PendSV, by which kernels switch, comes at one address and returns to another.
 */
#include "calls/stack.h"

#include <stdlib.h>
#include <string.h>

#define PENDSV 14u

/* An instruction that did not complete is begun again; its return address may be inside it. */
#define LONGEST_INSTRUCTION 4u

bool pug_calls_is_switch(const struct pug_call_frame *handler, uint64_t address)
{
    return handler->in_exception && handler->has_return &&
           pug_exception_vector((enum pug_exception_numbers)handler->exception_numbers,
                                handler->exception) == PENDSV &&
           (address > handler->returns_to || handler->returns_to - address >= LONGEST_INSTRUCTION);
}

static void forget(struct pug_call_task *task, uint32_t n)
{
    free(task->threads[n].frames);
    free(task->threads[n].held);
    memmove(&task->threads[n], &task->threads[n + 1],
            (--task->thread_count - n) * sizeof(*task->threads));
}

void pug_calls_forget_threads(struct pug_call_task *task)
{
    while (task->thread_count > 0)
        forget(task, task->thread_count - 1);
}

static uint32_t frames_kept(const struct pug_call_task *task)
{
    uint32_t frames = 0;
    for (uint32_t i = 0; i < task->thread_count; i++)
        frames += task->threads[i].depth;
    return frames;
}

/** Room for a stack of so many frames; older ones may be forgotten for it. */
static bool make_room(const struct pug_calls *calls, struct pug_call_task *task, uint32_t depth)
{
    if (!task->threads)
        task->threads = calloc(PUG_CALL_THREADS, sizeof(*task->threads));
    while (task->thread_count > 0 && (task->thread_count == PUG_CALL_THREADS ||
                                      frames_kept(task) + depth > calls->config.depth))
        forget(task, 0);
    return task->threads != NULL;
}

static void stop(struct pug_calls *calls, struct pug_call_task *task, uint64_t address)
{
    const uint32_t depth = task->depth;
    if (depth == 0)
        return;
    if (!make_room(calls, task, depth)) {
        calls->failed = true;
        return;
    }
    pug_calls_leave_to(calls, task, 0, PUG_LEAVE_SWITCHED);
    task->threads[task->thread_count++] = (struct pug_call_thread){.address = address,
                                                                   .depth = depth,
                                                                   .room = task->room,
                                                                   .frames = task->frames,
                                                                   .held = task->held};
    task->frames = NULL;
    task->held = NULL;
    task->room = 0;
}

/** The number of the only thread that stopped at an address; thread_count: none did, or several. */
static uint32_t find_thread(const struct pug_call_task *task, uint64_t address)
{
    uint32_t found = task->thread_count;
    for (uint32_t i = 0; i < task->thread_count; i++) {
        if (task->threads[i].address != address)
            continue;
        if (found < task->thread_count)
            return task->thread_count;
        found = i;
    }
    return found;
}

/** Its frames are entered again, and count from now on. */
static void go_on(struct pug_calls *calls, struct pug_call_task *task, uint32_t n)
{
    struct pug_call_thread thread = task->threads[n];
    task->threads[n].frames = task->frames; /* of no frames */
    task->threads[n].held = task->held;
    forget(task, n);
    task->frames = thread.frames;
    task->held = thread.held;
    task->room = thread.room;
    for (task->depth = 1; task->depth <= thread.depth; task->depth++) {
        struct pug_call_frame *frame = &task->frames[task->depth - 1];
        frame->entered = task->at;
        frame->of_callees = (struct pug_call_clock){0};
        frame->timed = task->has_timestamp;
        frame->resumed = true;
        pug_calls_tell_enter(calls, task, task->depth > 1 ? frame - 1 : NULL);
    }
    task->depth = thread.depth;
}

void pug_calls_switch(struct pug_calls *calls, struct pug_call_task *task,
                      const struct pug_element *element, uint64_t stopped, uint64_t address)
{
    stop(calls, task, stopped);
    if (calls->failed)
        return;
    const uint32_t n = find_thread(task, address);
    if (n < task->thread_count) {
        go_on(calls, task, n);
        return;
    }
    calls->doubtful = true;
    pug_calls_find(calls, task, element, address);
    calls->doubtful = false;
}
