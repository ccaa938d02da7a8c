// SPDX-License-Identifier: MIT
/**
 * @file Exception trace to a stack of handlers.
 *
 * | packet        | what it means                                                        |
 * | ------------- | -------------------------------------------------------------------- |
 * | entered N     | the handler N begins, on top of all that are open                    |
 * | exited N      | it ends                                                              |
 * | returned to N | what it preempted goes on: handler N, or with 0 no handler at all    |
 *
 * Where "entered" follows "exited" without a "returned" the handlers are chained. Packets that
 * cannot follow those before show that some are missing: what is open then is cut.
 */
#include "swo/swo.h"

#include <string.h>

void pug_interrupts_init(struct pug_interrupts *interrupts, pug_interrupt_fn *give, void *context)
{
    memset(interrupts, 0, sizeof(*interrupts));
    interrupts->give = give;
    interrupts->context = context;
}

static void give(const struct pug_interrupts *interrupts, const struct pug_interrupt *interrupt)
{
    if (interrupts->give)
        interrupts->give(interrupts->context, interrupt);
}

/* ---- sums ---- */

static void note_entry(struct pug_interrupt_sum *sum, const struct pug_interrupt *entry)
{
    sum->entries++;
    sum->chained += entry->chained;
    sum->preempting += entry->preempts;
    if (entry->depth > sum->deepest)
        sum->deepest = entry->depth;
    if (sum->has_last && entry->timed) {
        const uint64_t gap = entry->time - sum->last_entry;
        sum->gap_least = sum->gaps == 0 || gap < sum->gap_least ? gap : sum->gap_least;
        sum->gap_most = gap > sum->gap_most ? gap : sum->gap_most;
        sum->gap_total += gap;
        sum->gaps++;
    }
    sum->last_entry = entry->time;
    sum->has_last = entry->timed;
}

static void note_exit(struct pug_interrupt_sum *sum, const struct pug_interrupt *leave)
{
    const uint64_t took = leave->time - leave->entered;
    if (!leave->begun || leave->cut) {
        sum->cut++;
        return;
    }
    if (!leave->timed)
        return;
    sum->shortest = sum->whole == 0 || took < sum->shortest ? took : sum->shortest;
    sum->longest = took > sum->longest ? took : sum->longest;
    sum->total += took;
    sum->own += leave->own;
    sum->inexact += !leave->exact;
    sum->whole++;
}

/* ---- the stack ---- */

/** The top handler ends. */
static void leave(struct pug_interrupts *interrupts, uint64_t index, bool cut)
{
    const uint32_t top = --interrupts->depth;
    struct pug_interrupt *open = &interrupts->open[top];
    const uint64_t took = interrupts->time - open->time, inner = interrupts->inner[top];
    struct pug_interrupt end = *open;
    end.leave = true;
    end.cut = cut;
    end.index = index;
    end.entered = open->time;
    end.time = interrupts->time;
    end.timed = open->timed && interrupts->has_time;
    end.exact = open->exact && interrupts->exact;
    end.own = took > inner ? took - inner : 0;
    if (top > 0)
        interrupts->inner[top - 1] += took;
    note_exit(&interrupts->sums[end.number], &end);
    give(interrupts, &end);
}

static void enter(struct pug_interrupts *interrupts, unsigned number, uint64_t index, bool begun)
{
    const uint32_t depth = interrupts->depth;
    if (depth == PUG_INTERRUPTS_DEEP) /* there are no so many priorities */
        return;
    interrupts->open[depth] = (struct pug_interrupt){.time = interrupts->time,
                                                     .index = index,
                                                     .depth = depth,
                                                     .number = (uint16_t)number,
                                                     .begun = begun,
                                                     .chained = begun && interrupts->exited,
                                                     .preempts = depth > 0,
                                                     .timed = interrupts->has_time,
                                                     .exact = interrupts->exact};
    interrupts->inner[depth] = 0;
    interrupts->depth++;
    if (begun) {
        note_entry(&interrupts->sums[number], &interrupts->open[depth]);
        if (depth > 0)
            interrupts->sums[interrupts->open[depth - 1].number].preempted++;
    }
    give(interrupts, &interrupts->open[depth]);
}

static void cut_to(struct pug_interrupts *interrupts, uint32_t depth, uint64_t index)
{
    interrupts->contradictions += interrupts->depth > depth;
    while (interrupts->depth > depth)
        leave(interrupts, index, true);
}

/** How many are open up to this one; 0: it is not among them. */
static uint32_t find(const struct pug_interrupts *interrupts, unsigned number)
{
    uint32_t depth = interrupts->depth;
    while (depth > 0 && interrupts->open[depth - 1].number != number)
        depth--;
    return depth;
}

static void take_exception(struct pug_interrupts *interrupts, const struct pug_dwt_event *event)
{
    const unsigned number = event->number % PUG_INTERRUPTS;
    const uint32_t open = find(interrupts, number);
    switch (event->action) {
    case PUG_DWT_ENTERED:
        if (open > 0)
            cut_to(interrupts, open - 1, event->index);
        enter(interrupts, number, event->index, true);
        interrupts->exited = false;
        break;
    case PUG_DWT_EXITED:
        if (open > 0) {
            cut_to(interrupts, open, event->index);
            leave(interrupts, event->index, false);
        } else { /* it began before the trace, or where trace was lost */
            interrupts->sums[number].cut += !interrupts->sums[number].lost;
            interrupts->sums[number].lost = false;
        }
        interrupts->exited = true;
        break;
    case PUG_DWT_RETURNED_TO:
        interrupts->exited = false;
        cut_to(interrupts, number > 0 ? open : 0, event->index);
        if (number > 0 && open == 0)
            enter(interrupts, number, event->index, false);
        break;
    default: break;
    }
}

/** Nobody knows what happened meanwhile: what is open ends with what was known last. */
static void lose(struct pug_interrupts *interrupts, uint64_t index)
{
    interrupts->losses++;
    for (unsigned i = 0; i < PUG_INTERRUPTS; i++)
        interrupts->sums[i].has_last = interrupts->sums[i].lost = false;
    while (interrupts->depth > 0) {
        interrupts->sums[interrupts->open[interrupts->depth - 1].number].lost = true;
        leave(interrupts, index, true);
    }
    interrupts->exited = false;
}

void pug_interrupts_take(struct pug_interrupts *interrupts, const struct pug_dwt_event *event)
{
    if (event->kind == PUG_DWT_LOST) {
        lose(interrupts, event->index);
        return;
    }
    if (event->has_time && event->time >= interrupts->time)
        interrupts->time = event->time;
    interrupts->has_time = event->has_time;
    interrupts->exact = event->time_kind == PUG_ITM_TS_SYNC;
    if (event->kind == PUG_DWT_EXCEPTION)
        take_exception(interrupts, event);
}

void pug_interrupts_end(struct pug_interrupts *interrupts)
{
    while (interrupts->depth > 0)
        leave(interrupts, UINT64_MAX, true);
}

#define SYSTICK 15u

uint64_t pug_interrupts_tick(const struct pug_interrupts *interrupts)
{
    const struct pug_interrupt_sum *sum = &interrupts->sums[SYSTICK];
    const uint64_t mean = sum->gaps >= 4 ? sum->gap_total / sum->gaps : 0;
    const bool periodic = sum->gap_least >= mean - mean / 4 && sum->gap_most <= mean + mean / 4;
    return periodic ? mean : 0;
}
