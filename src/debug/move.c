// SPDX-License-Identifier: MIT
/** @file Moving in a history. */
#include "debug/history.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

/* ---- breakpoints ---- */

enum { HIT_UNKNOWN, HIT_NO, HIT_YES };

enum pug_status pug_history_breakpoints(struct pug_history *history,
                                        const struct pug_history_breakpoint *breakpoints,
                                        size_t count)
{
    struct pug_history_breakpoint *copy = NULL;
    if (!history || (count > 0 && !breakpoints))
        return PUG_ERR_INVALID_PARAM_VAL;
    if (count > 0) {
        copy = malloc(count * sizeof(*copy));
        if (!copy)
            return PUG_ERR_MEM;
        memcpy(copy, breakpoints, count * sizeof(*copy));
    }
    free(history->breakpoints);
    history->breakpoints = copy;
    history->breakpoint_count = count;
    if (history->hits)
        memset(history->hits, HIT_UNKNOWN, history->hit_room);
    return PUG_OK;
}

/** Does a breakpoint concern the process of an event? */
static bool concerns(const struct pug_history *history, const struct pug_history_breakpoint *at,
                     const struct pug_history_event *event)
{
    const int32_t pid = history->lines[event->thread].pid;
    return at->pid == PUG_NO_CPU || pid == PUG_NO_CPU || at->pid == pid;
}

/** Is there a breakpoint at the n-th instruction of an event? */
static bool has_breakpoint_at(struct pug_history *history, struct pug_history_event *event,
                              uint32_t n)
{
    const uint64_t address = pug_event_address(history, event, n);
    for (size_t i = 0; i < history->breakpoint_count; i++)
        if (history->breakpoints[i].address == address &&
            concerns(history, &history->breakpoints[i], event))
            return true;
    return false;
}

static bool look_for_breakpoint(struct pug_history *history, struct pug_history_event *event)
{
    if (event->what == PUG_WHAT_TRAP)
        return event->kind && event->count > 0 && has_breakpoint_at(history, event, 0);
    for (size_t i = 0; event->what == PUG_WHAT_RANGE && i < history->breakpoint_count; i++)
        if (pug_event_instruction(history, event, history->breakpoints[i].address) != NONE &&
            concerns(history, &history->breakpoints[i], event))
            return true;
    return false;
}

/** Is there a breakpoint in an event? */
static bool has_breakpoint(struct pug_history *history, uint32_t number)
{
    if (history->breakpoint_count == 0)
        return false;
    if (!pug_history_grow(history, &history->hits, &history->hit_room, (uint64_t)number + 1,
                          sizeof(*history->hits)))
        return false;
    if (history->hits[number] == HIT_UNKNOWN)
        history->hits[number] =
            look_for_breakpoint(history, &history->events[number]) ? HIT_YES : HIT_NO;
    return history->hits[number] == HIT_YES;
}

/* ---- searching ---- */

/** The condition at which a search stops. */
struct search {
    uint32_t thread; /* its positions; NONE: of no thread */
    bool in_range;   /* … but those in [from, to) */
    uint64_t from, to;
    bool breakpoints, losses, traps;
    bool has_address;
    uint64_t address;
    const struct pug_address_space *space; /* of a process, that it leaves; or NULL */
    int32_t pid;
};

static bool is_loss(const struct pug_history_event *event)
{
    return event->what == PUG_WHAT_GAP && event->kind != PUG_GAP_UNTRACED;
}

/** Is an event in other memory of the process than before? */
static bool leaves_space(const struct pug_history *history, const struct search *search,
                         const struct pug_history_event *event)
{
    return search->space && event->what == PUG_WHAT_RANGE && event->space != search->space &&
           history->lines[event->thread].pid == search->pid;
}

static bool wanted(struct pug_history *history, void *context, uint32_t number)
{
    const struct search *search = context;
    struct pug_history_event *event = &history->events[number];
    if (event->thread == search->thread && pug_event_positions(event) > 0 &&
        !(search->in_range && event->what == PUG_WHAT_RANGE && event->start >= search->from &&
          event->end <= search->to))
        return true;
    if (leaves_space(history, search, event) ||
        (search->breakpoints && has_breakpoint(history, number)))
        return true;
    if (search->traps && event->what == PUG_WHAT_TRAP && event->count > 0)
        return true;
    if (search->has_address &&
        (event->what == PUG_WHAT_RANGE || (event->what == PUG_WHAT_TRAP && event->kind)) &&
        pug_event_instruction(history, event, search->address) != NONE)
        return true;
    if (search->has_address && event->what == PUG_WHAT_TRAP && event->kind && event->count > 0 &&
        event->start == search->address)
        return true;
    return search->losses && is_loss(event);
}

/** A place in the sequence: an event, and an instruction of it. */
struct spot {
    uint32_t page, event, n;
};

/** Is the n-th instruction of an event what the search looks for? `hit`: a breakpoint is there. */
static bool is_found(struct pug_history *history, const struct search *search,
                     struct pug_history_event *event, uint32_t n, bool *hit)
{
    *hit = search->breakpoints && history->breakpoint_count > 0 && event->what != PUG_WHAT_STOP &&
           (event->what != PUG_WHAT_TRAP || event->kind) && has_breakpoint_at(history, event, n);
    if (*hit)
        return true;
    if (event->thread == search->thread) {
        const uint64_t address = pug_event_address(history, event, n);
        return !search->in_range || address < search->from || address >= search->to;
    }
    if (search->traps && event->what == PUG_WHAT_TRAP)
        return true;
    return search->has_address && pug_event_address(history, event, n) == search->address &&
           (event->what == PUG_WHAT_RANGE || (event->what == PUG_WHAT_TRAP && event->kind));
}

/** Looks through instructions [first, end) of an event, in the direction of the move. */
static bool look_inside(struct pug_history *history, const struct search *search, uint32_t number,
                        uint32_t first, uint32_t end, bool backward, uint32_t *n, bool *hit)
{
    struct pug_history_event *event = &history->events[number];
    for (uint32_t i = first; i < end; i++) {
        *n = backward ? end - 1 - (i - first) : i;
        if (is_found(history, search, event, *n, hit))
            return true;
    }
    return false;
}

enum outcome { FOUND, FOUND_BREAKPOINT, FOUND_LOSS, FOUND_SPACE, FOUND_NOTHING, WAS_INTERRUPTED };

struct looking {
    struct pug_history *history;
    struct search search;
    bool backward;
    bool (*interrupted)(void *context);
    void *context;
    uint64_t start; /* position */
    uint64_t found; /* position */
    uint32_t loss;  /* event */
};

/** Looks at one event of a page. */
static enum outcome look_at(struct looking *looking, const struct pug_page_view *view, uint32_t i)
{
    struct pug_history *history = looking->history;
    const uint32_t number = view->events[i];
    uint32_t n;
    bool hit;
    if (!wanted(history, &looking->search, number))
        return FOUND_NOTHING;
    const struct pug_history_event *event = &history->events[number];
    const uint64_t at = view->first + view->at[i];
    if (event->what == PUG_WHAT_GAP) {
        if (at == 0 && !looking->backward)
            return FOUND_NOTHING;
        looking->found = looking->backward ? at : at - 1;
        looking->loss = number;
        const bool told = looking->found == looking->start && history->told == looking->start + 1 &&
                          history->told_backward == looking->backward;
        return told ? FOUND_NOTHING : FOUND_LOSS;
    }
    if (leaves_space(history, &looking->search, event)) {
        looking->found = at + (looking->backward ? event->count - 1 : 0);
        return FOUND_SPACE;
    }
    if (!look_inside(history, &looking->search, number, 0, event->count, looking->backward, &n,
                     &hit))
        return FOUND_NOTHING;
    looking->found = at + n;
    return hit ? FOUND_BREAKPOINT : FOUND;
}

/** Looks at the rest of the event in which the move begins. */
static enum outcome look_here(struct looking *looking, uint32_t page, uint32_t i)
{
    struct pug_history *history = looking->history;
    const struct pug_page_view *view = pug_history_view(history, page);
    bool hit;
    uint32_t n;
    if (!view)
        return WAS_INTERRUPTED;
    const uint64_t at = view->first + view->at[i];
    const uint32_t here = (uint32_t)(looking->start - at), number = view->events[i];
    const uint32_t first = looking->backward ? 0 : here + 1,
                   end = looking->backward ? here : history->events[number].count;
    if (!wanted(history, &looking->search, number) ||
        !look_inside(history, &looking->search, number, first, end, looking->backward, &n, &hit))
        return FOUND_NOTHING;
    looking->found = at + n;
    return hit ? FOUND_BREAKPOINT : FOUND;
}

/** Looks at the events of a page, from `from` on, or back from before it. */
static enum outcome look_through(struct looking *looking, uint32_t page, uint32_t from)
{
    const struct pug_page_view *view = pug_history_view(looking->history, page);
    enum outcome outcome = FOUND_NOTHING;
    if (!view)
        return WAS_INTERRUPTED;
    if (looking->backward)
        for (uint32_t i = from < view->count ? from : view->count;
             i > 0 && outcome == FOUND_NOTHING; i--)
            outcome = look_at(looking, view, i - 1);
    else
        for (uint32_t i = from; i < view->count && outcome == FOUND_NOTHING; i++)
            outcome = look_at(looking, view, i);
    return outcome;
}

/** Looks from a position on, in whatever direction. */
static enum outcome look(struct looking *looking)
{
    struct pug_history *history = looking->history;
    uint32_t page, event;
    if (!pug_history_locate(history, looking->start, &page, &event))
        return FOUND_NOTHING;
    enum outcome outcome = look_here(looking, page, event);
    if (outcome == FOUND_NOTHING)
        outcome = look_through(looking, page, looking->backward ? event : event + 1);
    while (outcome == FOUND_NOTHING) {
        if (looking->backward ? page == 0 : page + 1 >= pug_history_pages(history))
            return FOUND_NOTHING;
        page = looking->backward ? page - 1 : page + 1;
        if (looking->interrupted && looking->interrupted(looking->context))
            return WAS_INTERRUPTED;
        if (pug_page_has(history, page, wanted, &looking->search))
            outcome = look_through(looking, page, looking->backward ? PUG_PAGE_EVENTS : 0);
    }
    return outcome;
}

/* ---- moves ---- */

static uint32_t thread_of(struct pug_history *history, uint64_t position)
{
    struct pug_history_place place;
    return pug_history_at(history, position, &place) ? place.thread : 0;
}

/** Does the trace end in the exception at a position? */
static bool ends_in_exception(struct pug_history *history, uint64_t position)
{
    struct pug_history_place place;
    return pug_history_at(history, position, &place) && place.kind == PUG_HISTORY_EXCEPTION;
}

static void tell(struct pug_history *history, const struct pug_history_move *move)
{
    history->told = move->position + 1;
    history->told_backward = move->backward;
}

/** The last position in the direction of a move: of its thread, where it steps. */
static uint64_t last_position(struct pug_history *history, const struct pug_history_move *move,
                              bool runs)
{
    const uint64_t last = move->backward ? 0 : history->positions - 1;
    uint64_t found;
    if (runs || !pug_history_of_thread(history, last, move->thread, &found))
        return last;
    return found;
}

/** There is nothing more in the direction of the move. */
static void come_to_end(struct pug_history *history, struct pug_history_move *move, bool runs)
{
    const bool again =
        history->told == move->position + 1 && history->told_backward == move->backward;
    const bool goes = (runs || move->in_range) && history->positions > 0;
    if (goes)
        move->position = last_position(history, move, runs);
    move->stop = move->backward ? PUG_MOVE_BEGIN : PUG_MOVE_END;
    const bool told = again && history->told == move->position + 1;
    if (goes && !move->backward && !told && ends_in_exception(history, move->position))
        move->stop = PUG_MOVE_EXCEPTION;
    tell(history, move);
}

static int32_t pid_of(const struct pug_history *history, uint32_t thread)
{
    return thread < history->line_count ? history->lines[thread].pid : PUG_NO_CPU;
}

static void go(struct pug_history *history, struct pug_history_move *move, bool runs)
{
    struct looking looking = {
        .history = history,
        .search = {.thread = runs ? NONE : move->thread,
                   .in_range = !runs && move->in_range,
                   .from = move->from,
                   .to = move->to,
                   .breakpoints = true,
                   .losses = true,
                   .space = move->space,
                   .pid = pid_of(history, move->thread)},
        .backward = move->backward,
        .interrupted = move->interrupted,
        .context = move->context,
        .start = move->position,
    };
    const enum outcome outcome = look(&looking);
    move->gap = move->unsync = 0;
    switch (outcome) {
    case FOUND:
    case FOUND_BREAKPOINT:
        move->position = looking.found;
        move->stop = outcome == FOUND ? PUG_MOVE_DONE : PUG_MOVE_BREAKPOINT;
        history->told = 0;
        break;
    case FOUND_LOSS:
        move->position = looking.found;
        move->stop = PUG_MOVE_LOSS;
        move->gap = history->events[looking.loss].kind;
        move->unsync = history->events[looking.loss].numbers;
        tell(history, move);
        break;
    case FOUND_SPACE:
        move->position = looking.found;
        move->stop = PUG_MOVE_SPACE;
        history->told = 0;
        break;
    case FOUND_NOTHING: come_to_end(history, move, runs); break;
    case WAS_INTERRUPTED: move->stop = PUG_MOVE_ENDED_EARLY; break;
    }
    move->thread = thread_of(history, move->position);
}

void pug_history_step(struct pug_history *history, struct pug_history_move *move)
{
    go(history, move, false);
}

void pug_history_run(struct pug_history *history, struct pug_history_move *move)
{
    go(history, move, true);
}

/* ---- finding ---- */

/** The first event of a page whose packet is at an index, or a time, or later. */
static bool find_in_page(struct pug_history *history, uint32_t page, bool time, uint64_t value,
                         uint64_t *found)
{
    const struct pug_page_view *view = pug_history_view(history, page);
    struct pug_history_packet packet;
    for (uint32_t i = 0; view && i < view->count; i++) {
        if (view->at[i + 1] == view->at[i])
            continue;
        pug_page_packet(history, page, i, &packet);
        if ((time ? packet.time : packet.index) < value)
            continue;
        *found = view->first + view->at[i];
        return true;
    }
    return false;
}

/** Pages begin where the one before ends: the first page that may hold it comes before these. */
static bool find_packet(struct pug_history *history, bool time, uint64_t value, uint64_t *found)
{
    const uint32_t count = pug_history_pages(history);
    for (uint32_t page = 0; page < count; page++) {
        struct pug_history_packet next;
        if (page + 1 < count) {
            pug_page_packet(history, page + 1, 0, &next);
            if ((time ? next.time : next.index) < value)
                continue;
        }
        if (find_in_page(history, page, time, value, found))
            return true;
    }
    return false;
}

bool pug_history_find(struct pug_history *history, enum pug_history_want want, uint64_t value,
                      uint64_t from, bool backward, uint64_t *found)
{
    struct looking looking = {.history = history,
                              .search = {.thread = NONE,
                                         .traps = want == PUG_FIND_EXCEPTION,
                                         .losses = want == PUG_FIND_LOSS,
                                         .has_address = want == PUG_FIND_ADDRESS,
                                         .address = value},
                              .backward = backward,
                              .start = from};
    if (want == PUG_FIND_OFFSET || want == PUG_FIND_TIME)
        return find_packet(history, want == PUG_FIND_TIME, value, found);
    const enum outcome outcome = look(&looking);
    if (outcome != FOUND && outcome != FOUND_LOSS)
        return false;
    *found = looking.found;
    if (outcome == FOUND_LOSS && backward && looking.found > 0)
        *found = looking.found - 1;
    return true;
}

bool pug_history_of_thread(struct pug_history *history, uint64_t position, uint32_t thread,
                           uint64_t *found)
{
    struct looking looking = {.history = history, .search = {.thread = thread}, .start = position};
    struct pug_history_place place;
    *found = position;
    if (pug_history_at(history, position, &place) && place.thread == thread)
        return true;
    bool good = look(&looking) == FOUND;
    if (!good) {
        looking.backward = true;
        good = look(&looking) == FOUND;
    }
    *found = looking.found;
    return good;
}
