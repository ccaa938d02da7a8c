// SPDX-License-Identifier: MIT
#include "thread_clock.h"

#include "places.h"

#include <stdlib.h>
#include <string.h>

struct clock {
    bool begun; /* there was a timestamp */
    bool runs;  /* and nothing that stops the clock since */
    uint16_t source;
    uint32_t buffer;
    uint64_t told, now; /* the last timestamp, and what it was on this clock */
};

/** Who ran last, by source of a buffer. */
struct runner {
    uint16_t source;
    uint32_t task;
};

struct runners {
    struct runner *items;
    uint32_t count;
};

struct thread_clocks {
    struct clock *tasks;
    struct runners *buffers;
    uint32_t task_count, buffer_count;
};

struct thread_clocks *thread_clocks_new(void)
{
    return calloc(1, sizeof(struct thread_clocks));
}

void thread_clocks_free(struct thread_clocks *clocks)
{
    if (!clocks)
        return;
    for (uint32_t i = 0; i < clocks->buffer_count; i++)
        free(clocks->buffers[i].items);
    free(clocks->buffers);
    free(clocks->tasks);
    free(clocks);
}

/** Room for item `number`; new ones are zero. */
static bool make_room(void **items, uint32_t *count, uint32_t number, size_t size)
{
    if (number < *count)
        return true;
    const uint32_t wanted = number + number / 2 + 16;
    char *grown = realloc(*items, wanted * size);
    if (!grown)
        return false;
    memset(grown + *count * size, 0, (wanted - *count) * size);
    *items = grown;
    *count = wanted;
    return true;
}

static struct clock *clock_of(struct thread_clocks *clocks, uint32_t task)
{
    void *tasks = clocks->tasks;
    const bool good = make_room(&tasks, &clocks->task_count, task, sizeof(*clocks->tasks));
    clocks->tasks = tasks;
    return good ? &clocks->tasks[task] : NULL;
}

/** Who ran last on a source: at first this task. NULL: no memory. */
static struct runner *runner_of(struct thread_clocks *clocks, const struct pug_situation *where,
                                uint32_t task)
{
    void *buffers = clocks->buffers;
    const bool good =
        make_room(&buffers, &clocks->buffer_count, where->buffer, sizeof(*clocks->buffers));
    clocks->buffers = buffers;
    if (!good)
        return NULL;
    struct runners *all = &clocks->buffers[where->buffer];
    for (uint32_t i = 0; i < all->count; i++)
        if (all->items[i].source == where->source)
            return &all->items[i];
    struct runner *grown = realloc(all->items, (all->count + 1) * sizeof(*grown));
    if (!grown)
        return NULL;
    all->items = grown;
    grown[all->count] = (struct runner){.source = where->source, .task = task};
    return &grown[all->count++];
}

/** A task is on a processor: another one was there, or it was elsewhere. */
static void come(struct thread_clocks *clocks, struct clock *clock, struct runner *runner,
                 const struct pug_situation *where, uint32_t task)
{
    if (runner->task != task)
        clocks->tasks[runner->task].runs = clock->runs = false;
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
    const uint32_t task = places_task(item);
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
