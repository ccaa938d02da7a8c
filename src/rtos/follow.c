// SPDX-License-Identifier: MIT
/** @file Threads followed through exceptions, and through values of the kernel's own object. */
#include "rtos/follow.h"

#include "calls/stack.h"
#include "rtos/stacks.h"

#include <stdlib.h>
#include <string.h>

#define LEVELS 32u /* of exceptions in each other */
#define PENDSV 14u

/* An instruction that did not complete is begun again; its return address may be inside it. */
#define LONGEST_INSTRUCTION 4u

/** An exception that is handled. */
struct level {
    bool has_return, is_switch;
    bool entered; /* its first instruction came */
    uint64_t returns_to;
    uint32_t depth; /* of the stack when it was taken */
};

struct rtos_follow {
    struct rtos_object object;
    struct rtos_thread *threads;
    uint32_t count;
    struct rtos_stacks stacks;
    uint32_t running; /* the thread, unless the stacks say that it is not decided */
    bool begun;
    struct level levels[LEVELS];
    uint32_t level;
    uint8_t departure; /* enum pug_departure_kind: how control left the last range */
    bool returning;    /* an exception's return came */
    bool in_switch;    /* the last range is in a function that switches threads */
    uint64_t next;     /* the address after the last instruction that ran */
    bool has_pending, traced;
    uint64_t pending; /* the object's new value */
    bool idle, failed;
    uint32_t idle_level; /* the handler that waits for a thread */
};

struct rtos_follow *pug_rtos_follow_new(const struct rtos_object *object)
{
    struct rtos_follow *follow = calloc(1, sizeof(*follow));
    if (!follow)
        return NULL;
    follow->object = *object;
    follow->threads = calloc(RTOS_THREADS, sizeof(*follow->threads));
    follow->count = 1;
    if (!follow->threads || !pug_rtos_stacks_init(&follow->stacks)) {
        pug_rtos_follow_free(follow);
        return NULL;
    }
    return follow;
}

void pug_rtos_follow_free(struct rtos_follow *follow)
{
    if (!follow)
        return;
    pug_rtos_stacks_free(&follow->stacks);
    free(follow->threads);
    free(follow);
}

bool pug_rtos_has_values(const struct rtos_follow *follow)
{
    return follow->traced;
}

const struct rtos_thread *pug_rtos_thread_at(const struct rtos_follow *follow, uint32_t n)
{
    return n < follow->count ? &follow->threads[n] : NULL;
}

/* ---- threads ---- */

/** A new thread; where there are too many it is unknown. */
static uint32_t add_thread(struct rtos_follow *follow, uint64_t address)
{
    if (follow->count == RTOS_THREADS)
        return RTOS_UNKNOWN;
    follow->threads[follow->count] = (struct rtos_thread){.first = address};
    return follow->count++;
}

static bool is_none(const struct rtos_follow *follow, uint64_t value)
{
    for (size_t i = 0; i < follow->object.none_count; i++)
        if (follow->object.none[i] == value)
            return true;
    return false;
}

/**
 * The thread of a value that goes on at an address: a new value may be that of a thread that
 * stopped there before values were seen.
 */
static uint32_t thread_of(struct rtos_follow *follow, uint64_t value, uint64_t address)
{
    uint32_t adopted = RTOS_UNKNOWN, found = 0;
    for (uint32_t i = 1; i < follow->count; i++) {
        if (follow->threads[i].has_value && follow->threads[i].value == value)
            return i;
        if (follow->threads[i].has_value || !pug_rtos_stacks_waits(&follow->stacks, i, address))
            continue;
        adopted = i;
        found++;
    }
    const uint32_t thread = found == 1 ? adopted : add_thread(follow, address);
    if (thread != RTOS_UNKNOWN) {
        follow->threads[thread].has_value = true;
        follow->threads[thread].value = value;
    }
    return thread;
}

/* ---- what is decided ---- */

static void decide(struct rtos_follow *follow, uint32_t thread, struct rtos_answer *answer)
{
    follow->running = thread;
    answer->decided = true;
    answer->whose = thread;
    if (thread != RTOS_UNKNOWN)
        follow->threads[thread].switches++;
}

void pug_rtos_settle(struct rtos_follow *follow, struct rtos_answer *answer)
{
    uint32_t thread;
    if (!pug_rtos_stacks_open(&follow->stacks))
        return;
    if (!pug_rtos_stacks_settle(&follow->stacks, &thread))
        thread = RTOS_UNKNOWN;
    decide(follow, thread, answer);
}

/* ---- switches ---- */

static void switch_by_value(struct rtos_follow *follow, uint64_t address)
{
    const uint32_t thread = thread_of(follow, follow->pending, address);
    follow->has_pending = false;
    if (thread == follow->running && thread != RTOS_UNKNOWN)
        return;
    follow->failed |= !pug_rtos_stacks_resume(&follow->stacks, thread);
    follow->running = thread;
    follow->threads[thread].switches += thread != RTOS_UNKNOWN;
}

/** Without a known thread, threads that stopped at the address are the candidates. */
static void switch_by_flow(struct rtos_follow *follow, uint64_t address)
{
    switch (pug_rtos_stacks_guess(&follow->stacks, address)) {
    case RTOS_GUESS_NONE:
        follow->running = add_thread(follow, address);
        follow->failed |= !pug_rtos_stacks_resume(&follow->stacks, follow->running);
        follow->threads[follow->running].switches += follow->running != RTOS_UNKNOWN;
        break;
    case RTOS_GUESS_FOUND:
        follow->running = pug_rtos_stacks_found(&follow->stacks);
        follow->threads[follow->running].switches += follow->running != RTOS_UNKNOWN;
        break;
    case RTOS_GUESS_OPEN: follow->running = RTOS_UNKNOWN; break;
    case RTOS_GUESS_FAILED: follow->failed = true; break;
    }
}

/** Is it the address where the handler came from? */
static bool is_same_place(const struct level *handler, uint64_t address)
{
    return handler->has_return && address <= handler->returns_to &&
           handler->returns_to - address < LONGEST_INSTRUCTION;
}

/** The outermost handler returned to an address. */
static void leave_handlers(struct rtos_follow *follow, const struct level *handler,
                           uint64_t address, struct rtos_answer *answer)
{
    const bool same = is_same_place(handler, address);
    if (!handler->is_switch)
        return;
    const bool named = follow->has_pending && !is_none(follow, follow->pending);
    if (!named && same && (follow->traced || !pug_rtos_stacks_any_at(&follow->stacks, address)))
        return;
    if (named && !pug_rtos_stacks_open(&follow->stacks) && follow->running != RTOS_UNKNOWN &&
        follow->threads[follow->running].has_value &&
        follow->threads[follow->running].value == follow->pending) {
        follow->has_pending = false;
        return;
    }
    pug_rtos_settle(follow, answer);
    const uint64_t stopped_at = handler->has_return ? handler->returns_to : RTOS_NO_ADDRESS;
    follow->failed |= !pug_rtos_stacks_stop(&follow->stacks, follow->running, stopped_at);
    answer->switched = true;
    answer->stopped = follow->running;
    answer->stopped_at = stopped_at;
    if (named)
        switch_by_value(follow, address);
    else
        switch_by_flow(follow, address);
}

/**
 * Without an exception: the function that switches returns to elsewhere than to its caller. That is
 * where the thread that called it goes on later.
 */
static bool switches_by_return(const struct rtos_follow *follow, uint64_t address)
{
    const uint64_t expected = pug_rtos_stacks_top(&follow->stacks);
    return follow->in_switch && follow->level == 0 && !pug_rtos_stacks_open(&follow->stacks) &&
           expected != RTOS_NO_ADDRESS && expected != address &&
           (!follow->traced || (follow->has_pending && !is_none(follow, follow->pending)));
}

static void switch_by_return(struct rtos_follow *follow, uint64_t address,
                             struct rtos_answer *answer)
{
    answer->stopped_at = pug_rtos_stacks_top(&follow->stacks);
    answer->switched = true;
    answer->stopped = follow->running;
    pug_rtos_stacks_cut(&follow->stacks, pug_rtos_stacks_depth(&follow->stacks) - 1);
    follow->failed |= !pug_rtos_stacks_stop(&follow->stacks, follow->running, answer->stopped_at);
    if (follow->has_pending)
        switch_by_value(follow, address);
    else
        switch_by_flow(follow, address);
}

/** The innermost exception is over. */
static struct level drop_level(struct rtos_follow *follow)
{
    if (follow->level == 0) /* it began before the trace */
        return (struct level){.depth = pug_rtos_stacks_depth(&follow->stacks)};
    const struct level handler = follow->levels[--follow->level];
    pug_rtos_stacks_cut(&follow->stacks, handler.depth);
    return handler;
}

/* ---- how control came ---- */

static bool is_in_switch(const struct rtos_follow *follow, uint64_t address)
{
    for (size_t i = 0; i < follow->object.switch_count; i++)
        if (address >= follow->object.switches[i].start && address < follow->object.switches[i].end)
            return true;
    return false;
}

static bool is_handler_of_switch(const struct rtos_follow *follow, uint64_t address)
{
    return is_in_switch(follow, address) ||
           (follow->object.switch_count == 0 && follow->object.has_current);
}

static void arrive(struct rtos_follow *follow, uint64_t address, struct rtos_answer *answer)
{
    uint32_t thread;
    if (!follow->begun) {
        follow->begun = true;
        follow->running = add_thread(follow, address);
        follow->failed |= !pug_rtos_stacks_resume(&follow->stacks, follow->running);
    }
    if (follow->returning) {
        const bool inside = follow->level > 0;
        const struct level handler = drop_level(follow);
        if (inside && follow->level == 0)
            leave_handlers(follow, &handler, address, answer);
    } else if (follow->level > 0 && !follow->levels[follow->level - 1].entered) {
        struct level *handler = &follow->levels[follow->level - 1];
        handler->entered = true;
        handler->is_switch |= is_handler_of_switch(follow, address);
    } else if (follow->departure == PUG_DEPART_RETURN && switches_by_return(follow, address)) {
        switch_by_return(follow, address, answer);
    } else if (follow->departure == PUG_DEPART_RETURN) {
        const uint32_t floor = follow->level > 0 ? follow->levels[follow->level - 1].depth : 0;
        switch (pug_rtos_stacks_return(&follow->stacks, address, floor, &thread)) {
        case RTOS_RETURN_FOUND: decide(follow, thread, answer); break;
        case RTOS_RETURN_STRANGER: decide(follow, add_thread(follow, address), answer); break;
        case RTOS_RETURN_OPEN: break;
        }
    }
    follow->returning = false;
    follow->departure = PUG_DEPART_NONE;
}

/** An M profile core's return code (EXC_RETURN) in place of a return address. */
static bool is_return_code(const struct pug_element *exception)
{
    return exception->isa == PUG_ISA_T32 && exception->end >= 0xffffff00u &&
           exception->end <= 0xffffffffu;
}

static void take_exception(struct rtos_follow *follow, const struct pug_element *exception,
                           struct rtos_answer *answer)
{
    bool known = (exception->flags & PUG_ELEM_RET_ADDR) && !is_return_code(exception);
    uint64_t back = exception->end;
    if (exception->flags & PUG_ELEM_DATA_MARKER)
        return;
    struct level before = {.depth = pug_rtos_stacks_depth(&follow->stacks)};
    if ((exception->flags & PUG_ELEM_M_TAIL_CHAIN) || (follow->returning && !known)) {
        before = drop_level(follow); /* one handler follows the other */
        known = before.has_return;
        back = before.returns_to;
    } else if (known && (follow->returning || follow->departure != PUG_DEPART_NONE)) {
        arrive(follow, exception->end, answer);
        before.depth = pug_rtos_stacks_depth(&follow->stacks);
    } else if (!known && follow->departure == PUG_DEPART_NONE && follow->level == 0) {
        known = true;
        back = follow->next;
    }
    follow->returning = false;
    follow->departure = PUG_DEPART_NONE;
    if (follow->level == LEVELS)
        return;
    const bool pends = pug_exception_vector((enum pug_exception_numbers)exception->reason,
                                            exception->number) == PENDSV &&
                       exception->isa == PUG_ISA_T32;
    follow->levels[follow->level++] = (struct level){.has_return = known,
                                                     .returns_to = back,
                                                     .is_switch = pends || before.is_switch,
                                                     .depth = before.depth};
}

static void take_range(struct rtos_follow *follow, const struct pug_element *range, uint64_t behind,
                       struct rtos_answer *answer)
{
    arrive(follow, range->start, answer);
    follow->departure =
        (uint8_t)pug_departure_kind(range->flags, range->last_type, range->last_subtype);
    follow->next = behind;
    follow->in_switch = is_in_switch(follow, range->start);
    if (follow->departure == PUG_DEPART_CALL)
        follow->failed |= !pug_rtos_stacks_call(&follow->stacks, behind);
    else if (follow->departure == PUG_DEPART_EXCEPTION_RETURN)
        follow->returning = true;
    if (follow->departure != PUG_DEPART_RETURN)
        follow->departure = PUG_DEPART_NONE;
}

/** Something is missing: stacks that are kept may be old. */
static void miss(struct rtos_follow *follow, const struct pug_element *element,
                 struct rtos_answer *answer)
{
    const bool untraced =
        element->type == PUG_ELEM_TRACE_ON && element->reason != PUG_TRACE_ON_OVERFLOW;
    follow->returning = false;
    follow->departure = PUG_DEPART_NONE;
    if (untraced || !follow->begun)
        return;
    pug_rtos_settle(follow, answer);
    pug_rtos_stacks_forget(&follow->stacks);
    follow->level = 0;
    follow->has_pending = follow->idle = false;
    follow->running = RTOS_UNKNOWN; /* until it is known who runs */
}

/* ---- the kernel's object ---- */

enum pug_status pug_rtos_written(struct rtos_follow *follow, uint64_t value,
                                 struct rtos_answer *answer)
{
    follow->traced = true;
    follow->pending = value;
    follow->has_pending = true;
    const bool none = is_none(follow, value);
    follow->idle = none && follow->level > 0;
    follow->idle_level = follow->level;
    if (none || follow->level > 0 || !pug_rtos_stacks_open(&follow->stacks))
        return PUG_OK;
    /* It comes late: it gives the thread that has been running since the last switch. */
    const uint32_t thread = thread_of(follow, value, RTOS_NO_ADDRESS);
    follow->has_pending = false;
    follow->failed |= !pug_rtos_stacks_choose(&follow->stacks, thread);
    decide(follow, thread, answer);
    return follow->failed ? PUG_ERR_MEM : PUG_OK;
}

static bool writes_current(const struct rtos_follow *follow, const struct pug_element *element)
{
    return follow->object.has_current && element->type == PUG_ELEM_DATA_VALUE &&
           (element->flags & PUG_ELEM_HAS_ADDRESS) && element->reason == PUG_ACCESS_STORE &&
           element->start == follow->object.current;
}

enum pug_status pug_rtos_take(struct rtos_follow *follow, const struct pug_element *element,
                              struct rtos_answer *answer)
{
    *answer = (struct rtos_answer){.thread = RTOS_UNKNOWN};
    switch (element->type) {
    case PUG_ELEM_INSTR_RANGE: take_range(follow, element, element->end, answer); break;
    case PUG_ELEM_I_RANGE_NOPATH:
        take_range(follow, element, element->value + element->last_size, answer);
        arrive(follow, element->end, answer);
        break;
    case PUG_ELEM_EXCEPTION: take_exception(follow, element, answer); break;
    case PUG_ELEM_EXCEPTION_RET: follow->returning = true; break;
    case PUG_ELEM_TRACE_ON:
    case PUG_ELEM_NO_SYNC:
    case PUG_ELEM_UNKNOWN:
    case PUG_ELEM_ADDR_NACC: miss(follow, element, answer); break;
    case PUG_ELEM_PE_CONTEXT:
        if (follow->object.by_context && (element->context_flags & PUG_CTX_CONTEXT_ID))
            (void)pug_rtos_written(follow, element->context_id, answer);
        break;
    case PUG_ELEM_DATA_VALUE:
        if (writes_current(follow, element))
            (void)pug_rtos_written(follow, element->value, answer);
        break;
    default: break;
    }
    answer->held = pug_rtos_stacks_open(&follow->stacks);
    answer->thread = follow->running;
    answer->in_handler = follow->level > 0;
    answer->idle = follow->idle && follow->level <= follow->idle_level;
    return follow->failed ? PUG_ERR_MEM : PUG_OK;
}
