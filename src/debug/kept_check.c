// SPDX-License-Identifier: MIT
/** @file What a file may say of events and accesses. */
#include "debug/kept.h"

#define RANGE_MOST (UINT64_C(1) << 24) /* bytes of code in a row */

/** The numbers of positions that an event can have. */
static bool is_count_good(const struct pug_history_event *event)
{
    const uint64_t size = event->end - event->start;
    switch ((enum pug_history_what)event->what) {
    case PUG_WHAT_RANGE:
        return event->end > event->start && size <= RANGE_MOST && event->count > 0 &&
               event->count <= size / 2 && event->last_size <= 8;
    case PUG_WHAT_TRAP: return event->count <= 1;
    case PUG_WHAT_STOP: return event->count == 1;
    default: return true;
    }
}

bool pug_kept_event_good(const struct pug_history_event *event,
                         const struct pug_kept_header *header)
{
    return event->what <= PUG_WHAT_LEAVE && is_count_good(event) && event->thread < header->lines &&
           event->isa <= PUG_ISA_RV64 &&
           (event->what != PUG_WHAT_GAP || event->kind <= PUG_GAP_LOST) &&
           (event->what != PUG_WHAT_ENTER || event->kind <= PUG_CALL_EXCEPTION) &&
           (event->what == PUG_WHAT_GAP || event->numbers <= PUG_EXCEPTIONS_KINDS);
}

bool pug_kept_access_good(const struct pug_data_access *access,
                          const struct pug_data_access *before)
{
    return access->size > 0 && access->size <= 8 &&
           (!before || access->position >= before->position);
}
