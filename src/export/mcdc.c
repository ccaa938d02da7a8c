// SPDX-License-Identifier: MIT
/** @file Evaluations of decisions, as branches come, and what MC/DC says of them. */
#include "base/bisect.h"
#include "export/decisions.h"

#include <stdlib.h>
#include <string.h>

#define OPEN_MOST 64u /* evaluations of a task in each other: conditions call functions */

/** An evaluation that has not come to an exit. */
struct open {
    struct decision *decision;
    uint32_t evaluated, taken;
    uint8_t next; /* the condition that comes */
};

struct task {
    uint32_t number, count;
    struct open open[OPEN_MOST];
};

struct pug_mcdc {
    struct decisions **programs;
    size_t count;
    struct decisions *last;
    struct pug_names_file *last_file; /* that `last` was asked for with */
    struct task **tasks;
    size_t task_count;
    struct task *last_task;
    bool masking;
};

struct pug_mcdc *pug_mcdc_new(void)
{
    return calloc(1, sizeof(struct pug_mcdc));
}

void pug_mcdc_mask(struct pug_mcdc *mcdc)
{
    mcdc->masking = true;
}

void pug_mcdc_free(struct pug_mcdc *mcdc)
{
    if (!mcdc)
        return;
    for (size_t i = 0; i < mcdc->count; i++)
        pug_decisions_free(mcdc->programs[i]);
    for (size_t i = 0; i < mcdc->task_count; i++)
        free(mcdc->tasks[i]);
    free(mcdc->programs);
    free(mcdc->tasks);
    free(mcdc);
}

struct decisions *pug_mcdc_decisions(struct pug_mcdc *mcdc, struct pug_names_file *file)
{
    for (size_t i = 0; i < mcdc->count; i++)
        if (pug_decisions_same_code(mcdc->programs[i]->file, file))
            return mcdc->programs[i];
    struct decisions **grown =
        realloc(mcdc->programs, (mcdc->count + 1) * sizeof(struct decisions *));
    if (!grown)
        return NULL;
    mcdc->programs = grown;
    struct decisions *made = pug_decisions_of(file);
    for (size_t i = 0; made && i < made->count; i++)
        made->items[i].masking = mcdc->masking;
    if (made)
        mcdc->programs[mcdc->count++] = made;
    return made;
}

static struct task *task_of(struct pug_mcdc *mcdc, uint32_t number)
{
    if (mcdc->last_task && mcdc->last_task->number == number)
        return mcdc->last_task;
    for (size_t i = 0; i < mcdc->task_count; i++)
        if (mcdc->tasks[i]->number == number)
            return mcdc->last_task = mcdc->tasks[i];
    struct task **grown = realloc(mcdc->tasks, (mcdc->task_count + 1) * sizeof(struct task *));
    struct task *made = calloc(1, sizeof(*made));
    if (grown)
        mcdc->tasks = grown;
    if (!grown || !made) {
        free(made);
        return NULL;
    }
    made->number = number;
    mcdc->tasks[mcdc->task_count++] = made;
    return mcdc->last_task = made;
}

void pug_mcdc_forget(struct pug_mcdc *mcdc, uint32_t number)
{
    struct task *task = task_of(mcdc, number);
    if (task)
        task->count = 0;
}

/** Count an evaluation that is complete; what is too much is marked. */
static bool count_one(const struct open *open, uint8_t exit)
{
    struct decision *decision = open->decision;
    for (uint32_t i = 0; i < decision->evaluation_count; i++) {
        struct decision_evaluation *known = &decision->evaluations[i];
        if (known->evaluated == open->evaluated && known->taken == open->taken) {
            known->count++;
            return true;
        }
    }
    if (decision->evaluation_count == DECISION_EVALUATIONS) {
        decision->doubt = DECISION_MANY;
        return true;
    }
    if (decision->evaluation_count == decision->evaluation_room) {
        const uint32_t room = decision->evaluation_room ? decision->evaluation_room * 2 : 8;
        void *grown = realloc(decision->evaluations, room * sizeof(*decision->evaluations));
        if (!grown)
            return false;
        decision->evaluations = grown;
        decision->evaluation_room = room;
    }
    decision->evaluations[decision->evaluation_count++] = (struct decision_evaluation){
        .evaluated = open->evaluated, .taken = open->taken, .exit = exit, .count = 1};
    return true;
}

/** The evaluation that a condition belongs to; NULL: it began before the trace. */
static struct open *find_open(struct task *task, struct decision *decision, uint32_t condition)
{
    if (condition == 0) {
        if (task->count == OPEN_MOST)
            memmove(&task->open[0], &task->open[1], --task->count * sizeof(task->open[0]));
        task->open[task->count] = (struct open){.decision = decision};
        return &task->open[task->count++];
    }
    for (uint32_t n = task->count; n > 0; n--)
        if (task->open[n - 1].decision == decision && task->open[n - 1].next == condition) {
            task->count = n; /* those above were left by a jump out of them */
            return &task->open[n - 1];
        }
    return NULL;
}

bool pug_mcdc_take(struct pug_mcdc *mcdc, uint32_t number, struct pug_names_file *file,
                   uint64_t vaddr, bool taken)
{
    struct decisions *decisions =
        mcdc->last && mcdc->last->file == file ? mcdc->last : pug_mcdc_decisions(mcdc, file);
    struct task *task = task_of(mcdc, number);
    if (!decisions || !task)
        return false;
    mcdc->last = decisions;
    mcdc->last_file = file;
    const size_t low =
        pug_bisect_to(decisions->places, decisions->place_count, sizeof(*decisions->places),
                      offsetof(struct decision_place, vaddr), vaddr);
    const struct decision_place *place = low > 0 ? &decisions->places[low - 1] : NULL;
    if (!place || place->vaddr != vaddr)
        return true;
    struct decision *decision = &decisions->items[place->decision];
    struct open *open = find_open(task, decision, place->condition);
    if (!open)
        return true;
    const uint8_t to = decision->conditions[place->condition].to[taken];
    open->evaluated |= UINT32_C(1) << place->condition;
    open->taken |= (uint32_t)taken << place->condition;
    open->next = to;
    if (to < DECISION_EXIT_0)
        return true;
    task->count--;
    return count_one(open, (uint8_t)(to - DECISION_EXIT_0));
}

/* ---- what is covered ---- */

/** Do two evaluations show that a condition decides? `others`: those that must not differ. */
static bool shows(const struct decision_evaluation *a, const struct decision_evaluation *b,
                  uint32_t condition, uint32_t others)
{
    const uint32_t one = UINT32_C(1) << condition;
    const uint32_t both = a->evaluated & b->evaluated, differ = (a->taken ^ b->taken) & both;
    return a->exit != b->exit && (differ & one) && !(differ & others & ~one);
}

uint32_t pug_decision_covered(const struct decision *decision, uint32_t *covered)
{
    uint32_t count = 0;
    *covered = 0;
    for (uint32_t c = 0; c < decision->count; c++) {
        const uint32_t others = decision->masking ? UINT32_MAX << c : UINT32_MAX;
        bool shown = false;
        for (uint32_t i = 0; i < decision->evaluation_count && !shown; i++)
            for (uint32_t n = 0; n < i && !shown; n++)
                shown = shows(&decision->evaluations[i], &decision->evaluations[n], c, others);
        *covered |= (uint32_t)shown << c;
        count += shown;
    }
    return count;
}

unsigned pug_decision_exits(const struct decision *decision)
{
    unsigned exits = 0;
    for (uint32_t i = 0; i < decision->evaluation_count; i++)
        exits |= 1u << decision->evaluations[i].exit;
    return exits;
}
