// SPDX-License-Identifier: MIT
/**
 * @file What messages are in the habit of doing: branch messages and full histories, that give
 * nothing but whole blocks. What such a message does follows from its bytes, from where the decoder
 * stands, and from what the stack of returns says.
 */
#include "protocol/ntrace/habit.h"
#include "protocol/ntrace/message.h"

/** What is in a habit's `stand`: an address, a count, and bits of the last word. */
enum { STAND_REF, STAND_FULL, STAND_BRANCH };
#define STAND_ICNT  32 /* behind the history */
#define STAND_CALLS 63 /* there are calls and returns that the stack tells of */

static inline uint8_t type_of(const struct pug_habit_cause *cause)
{
    return cause->low >> 2 & 63;
}

/** Does the message say where the last instruction led? */
static inline bool tells(uint8_t type)
{
    return type == PUG_NTRACE_INDIRECT_BRANCH || type == PUG_NTRACE_INDIRECT_BRANCH_HIST;
}

static inline const struct pug_block *last_block(const struct pug_habit *habit)
{
    return pug_habit_block(habit->hops[habit->count - 1]);
}

/* ---- once more ---- */

bool pug_ntrace_may_repeat(const struct pug_ntrace_decoder *d)
{
    return d->synced && d->pc_known && d->ref_known && d->full == (int32_t)d->full &&
           !pug_codemap_outdated(d->stage->code);
}

static uint64_t newest(const void *context, uint32_t n)
{
    const struct pug_ntrace_decoder *d = context;
    const uint32_t depth = d->config->stack_depth;
    return d->stack[d->stack_top >= n ? d->stack_top - n : d->stack_top + depth - n];
}

static bool fits_stack(const struct pug_ntrace_decoder *d, const struct pug_habit *habit)
{
    const struct pug_habit_stack stack = {
        .entries = d->stack_count, .limit = d->config->stack_depth, .newest = newest, .context = d};
    return pug_habit_fits(habit, &stack, tells(type_of(&habit->cause))) >= 0;
}

static void pass_calls(struct pug_ntrace_decoder *d, const struct pug_habit *habit)
{
    uint64_t address;
    for (uint32_t i = 0; i < habit->count; i++) {
        const struct pug_block *block = pug_habit_block(habit->hops[i]);
        if (block->insn.kind == PUG_RV_CALL)
            pug_ntrace_push_return(d, block->end);
        else if (block->insn.kind == PUG_RV_RETURN)
            pug_ntrace_pop_return(d, &address);
    }
}

static void stand_as(struct pug_ntrace_decoder *d, const struct pug_habit *habit)
{
    const uint64_t branch = habit->stand[STAND_BRANCH];
    const uint8_t type = type_of(&habit->cause);
    const struct pug_block *last = last_block(habit);
    d->pc = habit->last.start;
    d->ref = habit->stand[STAND_REF];
    d->full = (int64_t)habit->stand[STAND_FULL];
    d->last = last->last;
    d->by_jump = tells(type) || (habit->hops[habit->count - 1] & 1);
    d->before = last;
    d->trap_size = 0;
    d->branch = (struct pug_ntrace_branch){.valid = type != PUG_NTRACE_RESOURCE_FULL,
                                           .type = type,
                                           .icnt = branch >> STAND_ICNT & ~(UINT64_C(1) << 31),
                                           .hist = (uint32_t)branch};
}

void pug_ntrace_settle(struct pug_ntrace_decoder *d)
{
    const struct pug_habit *habit = d->habits.at;
    if (habit)
        stand_as(d, habit);
    d->habits.at = NULL;
}

/** NULL: there is none, or it is not looked for. */
static struct pug_habit *look(struct pug_ntrace_decoder *d, struct pug_habit_meeting *meeting,
                              uint64_t low, uint64_t high)
{
    const struct pug_habit_cause cause = {.low = low,
                                          .high = high,
                                          .at = d->pc,
                                          .base = d->ref,
                                          .rest = (uint64_t)d->full << 16 |
                                                  (uint64_t)d->trap_size << 1 | d->by_jump};
    if (pug_habits_rest(&d->habits))
        return NULL;
    return pug_habits_look(&d->habits, d->stage->code, d->stage->out.batch, cause, 0, meeting);
}

bool pug_ntrace_repeat(struct pug_ntrace_decoder *d, struct pug_habit_meeting *meeting,
                       uint64_t low, uint64_t high, uint64_t index)
{
    struct pug_habits *habits = &d->habits;
    struct pug_habit *before = habits->at, *habit = pug_habits_next(habits, low, high);
    if (!habit) {
        pug_ntrace_settle(d);
        habit = look(d, meeting, low, high);
        if (!habit)
            return false;
        pug_habits_follow(habits, before, habit);
    }
    const bool calls = habit->stand[STAND_BRANCH] >> STAND_CALLS;
    if (calls && !fits_stack(d, habit))
        return false;
    if (!d->stage->paths)
        pug_habit_repeat(habits, habit, &d->stage->out, index);
    else if (!pug_habits_count(habits, d->stage, &d->chain, habit))
        return false;
    d->index = index;
    habits->at = habit;
    if (calls)
        pass_calls(d, habit);
    return true;
}

/* ---- the second time ---- */

/** Does where the hop led follow from its block, the stack and the message alone? */
static bool is_plain(const struct pug_ntrace_decoder *d, const struct pug_habit *habit,
                     uint32_t hop)
{
    const struct pug_ntrace_config *config = d->config;
    const struct pug_block *block = pug_habit_block(habit->hops[hop]);
    const uint8_t kind = block->insn.kind;
    const bool last = hop + 1u == habit->count;
    if (kind == PUG_RV_XRET || kind == PUG_RV_SWAP || kind == PUG_RV_TRAP)
        return false;
    if (last && tells(type_of(&habit->cause))) /* else it leads elsewhere than the message says */
        return block->last_type == PUG_INSTR_BR_INDIRECT;
    if (block->last_type != PUG_INSTR_BR_INDIRECT)
        return true;
    if (kind == PUG_RV_RETURN)
        return config->implicit_return && !last;
    return config->sequential_jump && block->sequential;
}

/** Are these all hops? What was delivered meanwhile is missing. */
static bool are_plain(const struct pug_ntrace_decoder *d, const struct pug_habit *habit)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < habit->count; i++) {
        const struct pug_block *block = pug_habit_block(habit->hops[i]);
        if (!is_plain(d, habit, i))
            return false;
        bytes += block->end - block->start;
    }
    return bytes == 2 * (uint64_t)d->walk.passed;
}

/** False: it does more than what is kept. */
static bool note(const struct pug_ntrace_decoder *d, const struct pug_habit_meeting *meeting,
                 struct pug_habit *habit)
{
    const struct pug_codemap *code = d->stage->code;
    const struct pug_block *first = pug_codemap_held(code, meeting->cause.at, d->isa);
    const struct pug_habit_way way = {.inside = false};
    if (!pug_ntrace_may_repeat(d) || !first ||
        !pug_habit_hops(habit, code, d->stage->out.batch, meeting, first, way) ||
        !are_plain(d, habit))
        return false;
    const bool calls = d->config->implicit_return && pug_habit_has_calls(habit);
    habit->last.start = d->pc;
    habit->stand[STAND_REF] = d->ref;
    habit->stand[STAND_FULL] = (uint64_t)d->full;
    habit->stand[STAND_BRANCH] =
        d->branch.hist | d->branch.icnt << STAND_ICNT | (uint64_t)calls << STAND_CALLS;
    return true;
}

void pug_ntrace_keep(struct pug_ntrace_decoder *d, const struct pug_habit_meeting *meeting)
{
    struct pug_habit habit = {.cause = meeting->cause, .stamp = meeting->stamp};
    if (d->stage->pending || !pug_habit_meeting_holds(meeting, d->stage->code, d->stage->out.batch))
        return;
    if (!note(d, meeting, &habit))
        pug_habit_none(&habit);
    pug_habits_keep(&d->habits, d->stage->code, &habit);
}
