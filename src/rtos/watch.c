// SPDX-License-Identifier: MIT
#include "rtos/watch.h"

#include <string.h>

void pug_rtos_watch_begin(struct rtos_watch *watch, const struct rtos_object *object)
{
    memset(watch, 0, sizeof(*watch));
    watch->object = *object;
    watch->count = 1;
}

static uint32_t thread_of(struct rtos_watch *watch, uint64_t value)
{
    for (uint32_t i = 1; i < watch->count; i++)
        if (watch->threads[i].value == value)
            return i;
    if (watch->count == RTOS_THREADS)
        return RTOS_UNKNOWN;
    watch->threads[watch->count] = (struct rtos_thread){.has_value = true, .value = value};
    return watch->count++;
}

static bool is_none(const struct rtos_object *object, uint64_t value)
{
    for (size_t i = 0; i < object->none_count; i++)
        if (object->none[i] == value)
            return true;
    return false;
}

/** Handlers that are open: what returns to 0 has left all of them. */
static void take_exception(struct rtos_watch *watch, const struct pug_dwt_event *event)
{
    if (event->action == PUG_DWT_ENTERED)
        watch->depth++;
    else if (event->action == PUG_DWT_EXITED && watch->depth > 0)
        watch->depth--;
    else if (event->action == PUG_DWT_RETURNED_TO && event->number == 0)
        watch->depth = 0;
}

static bool take_value(struct rtos_watch *watch, uint64_t value)
{
    const uint32_t before = watch->now;
    watch->none = is_none(&watch->object, value);
    if (!watch->none)
        watch->now = thread_of(watch, value);
    return watch->now != before;
}

bool pug_rtos_watch_take(struct rtos_watch *watch, const struct pug_dwt_event *event)
{
    const struct rtos_object *object = &watch->object;
    bool changed = false;
    if (event->kind == PUG_DWT_EXCEPTION)
        take_exception(watch, event);
    if (event->overflow || event->kind == PUG_DWT_LOST) { /* a write may be what was lost */
        changed = watch->now != RTOS_UNKNOWN;
        watch->now = RTOS_UNKNOWN;
        watch->none = false;
        watch->depth = 0;
    }
    const bool watched = object->has_current && event->kind == PUG_DWT_DATA && event->write &&
                         event->has_value && event->has_address &&
                         event->address == object->current;
    const bool said =
        object->by_port && event->kind == PUG_DWT_STIMULUS && event->number == object->port;
    return watched || said ? take_value(watch, event->value) || changed : changed;
}
