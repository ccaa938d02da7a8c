// SPDX-License-Identifier: MIT
/**
 * @file What waits for its time. A branch happened between the last time in the trace before it and
 * the first one after it: its event waits for that one. So much waits at most; what is more goes on
 * without.
 */
#include "check/engine.h"

#include <stdlib.h>
#include <string.h>

#define WAITING_MOST 65536u

#define EVENT_AT(core, n) (&((struct check_event *)(core)->queue.items)[n])

static void deliver(struct pug_check *check, struct check_core *core,
                    const struct check_event *event)
{
    if (event->call)
        pug_check_measure(check, core, event);
    else
        pug_check_ordered(check, core, event);
}

static bool is_ready(const struct pug_check *check, const struct check_event *event)
{
    return (event->time_known || !check->uses_time) && (event->cycles_known || !check->uses_cycles);
}

static void deliver_ready(struct pug_check *check, struct check_core *core)
{
    while (core->queued_from < core->queue.count &&
           is_ready(check, EVENT_AT(core, core->queued_from))) {
        const struct check_event event = *EVENT_AT(core, core->queued_from++);
        deliver(check, core, &event);
    }
    if (core->queued_from == core->queue.count) {
        core->queue.count = 0;
        core->queued_from = core->time_from = core->cycles_from = 0;
    }
}

/** Give up the ends of waiting events. */
static void give_up(struct check_core *core)
{
    for (size_t n = core->queued_from; n < core->queue.count; n++) {
        struct check_event *event = EVENT_AT(core, n);
        if (!event->time_known)
            event->stamp.time.to = CHECK_UNKNOWN;
        if (!event->cycles_known)
            event->stamp.cycles.to = CHECK_UNKNOWN;
        event->time_known = event->cycles_known = true;
    }
    core->time_from = core->cycles_from = core->queue.count;
}

void pug_check_queue(struct pug_check *check, struct check_core *core,
                     const struct check_event *event)
{
    if (core->queue.count == core->queued_from && is_ready(check, event)) {
        deliver(check, core, event);
        return;
    }
    if (core->queue.count - core->queued_from >= WAITING_MOST) {
        give_up(core);
        deliver_ready(check, core);
    }
    if (core->queued_from > WAITING_MOST) { /* make room in front */
        const size_t left = core->queue.count - core->queued_from;
        memmove(core->queue.items, EVENT_AT(core, core->queued_from),
                left * sizeof(struct check_event));
        core->time_from -=
            core->time_from < core->queued_from ? core->time_from : core->queued_from;
        core->cycles_from -=
            core->cycles_from < core->queued_from ? core->cycles_from : core->queued_from;
        core->queue.count = left;
        core->queued_from = 0;
    }
    struct check_event *waits = pug_list_add(&core->queue, sizeof(*waits));
    if (waits)
        *waits = *event;
    else
        pug_check_starve(check);
}

void pug_check_come_to_time(struct pug_check *check, struct check_core *core, uint64_t time)
{
    for (; core->time_from < core->queue.count; core->time_from++) {
        struct check_event *event = EVENT_AT(core, core->time_from);
        if (!event->time_known)
            event->stamp.time.to = time > event->stamp.time.from ? time : event->stamp.time.from;
        event->time_known = true;
    }
    deliver_ready(check, core);
}

void pug_check_come_to_cycles(struct pug_check *check, struct check_core *core, uint64_t cycles)
{
    for (; core->cycles_from < core->queue.count; core->cycles_from++) {
        struct check_event *event = EVENT_AT(core, core->cycles_from);
        if (!event->cycles_known)
            event->stamp.cycles.to = cycles;
        event->cycles_known = true;
    }
    deliver_ready(check, core);
}

void pug_check_flush(struct pug_check *check, struct check_core *core)
{
    give_up(core);
    deliver_ready(check, core);
}
