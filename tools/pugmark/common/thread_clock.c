// SPDX-License-Identifier: MIT
#include "thread_clock.h"

#include "base/grow.h"
#include "items/places.h"

#include <stdlib.h>

struct clock {
    bool begun; /* there was a timestamp */
    bool runs;  /* and nothing that stops the clock since */
    uint16_t source;
    uint32_t buffer;
    uint64_t told, now; /* the last timestamp, and what it was on this clock */
};

/** The task that ran last, by source of a buffer. */
struct runner {
    uint16_t source;
    uint32_t task;
};

struct thread_clocks {
    struct pug_list tasks;   /* struct clock, by task */
    struct pug_list buffers; /* lists of struct runner, by buffer */
};

struct thread_clocks *thread_clocks_new(void)
{
    return calloc(1, sizeof(struct thread_clocks));
}

void thread_clocks_free(struct thread_clocks *clocks)
{
    if (!clocks)
        return;
    struct pug_list *buffers = clocks->buffers.items;
    for (size_t i = 0; i < clocks->buffers.count; i++)
        free(buffers[i].items);
    free(buffers);
    free(clocks->tasks.items);
    free(clocks);
}

/** Item `number`, which may be new, and zero; NULL: no memory. */
static void *item_at(struct pug_list *list, uint32_t number, size_t size)
{
    while (list->count <= number)
        if (!pug_list_add(list, size))
            return NULL;
    return (char *)list->items + number * size;
}

static struct clock *clock_of(struct thread_clocks *clocks, uint32_t task)
{
    return item_at(&clocks->tasks, task, sizeof(struct clock));
}

/** Who ran last on a source: at first this task. NULL: no memory. */
static struct runner *runner_of(struct thread_clocks *clocks, const struct pug_origin *where,
                                uint32_t task)
{
    struct pug_list *all = item_at(&clocks->buffers, where->buffer, sizeof(*all));
    struct runner *runner = all ? all->items : NULL;
    for (size_t i = 0; all && i < all->count; i++)
        if (runner[i].source == where->source)
            return &runner[i];
    runner = all ? pug_list_add(all, sizeof(*runner)) : NULL;
    if (runner)
        *runner = (struct runner){.source = where->source, .task = task};
    return runner;
}

/** A task is on a processor: another one was there, or it was elsewhere. */
static void come(struct thread_clocks *clocks, struct clock *clock, struct runner *runner,
                 const struct pug_origin *where, uint32_t task)
{
    if (runner->task != task)
        clock_of(clocks, runner->task)->runs = clock->runs = false;
    if (clock->buffer != where->buffer || clock->source != where->source)
        clock->runs = false;
    runner->task = task;
    clock->buffer = where->buffer;
    clock->source = where->source;
}

static uint64_t tell(struct clock *clock, uint64_t timestamp)
{
    if (timestamp == 0)
        return clock->now;
    if (!clock->begun)
        clock->now = timestamp;
    else if (clock->runs && timestamp > clock->told)
        clock->now += timestamp - clock->told;
    clock->told = timestamp;
    clock->begun = clock->runs = true;
    return clock->now;
}

bool thread_clocks_take(struct thread_clocks *clocks, const struct trace_item *item,
                        struct pug_element *element)
{
    const uint32_t task = pug_places_task(item);
    struct clock *clock = clock_of(clocks, task);
    struct runner *runner = clock ? runner_of(clocks, item->where, task) : NULL;
    if (!runner)
        return false;
    come(clocks, clock, runner, item->where, task);
    if (element->type == PUG_ELEM_TRACE_ON || element->type == PUG_ELEM_NO_SYNC)
        clock->runs = false;
    else if (element->type == PUG_ELEM_TIMESTAMP)
        element->timestamp = tell(clock, element->timestamp);
    return true;
}
