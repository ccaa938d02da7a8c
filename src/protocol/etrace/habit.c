// SPDX-License-Identifier: MIT
/**
 * @file What packets are in the habit of doing: those of formats 1 and 2, jumps to what is in the
 * jump target cache, and synchronisations in mid-flow, that give nothing but ranges.
 *
 * What such a packet does follows from itself, from where the decoder stands, and from what the
 * stack of returns says, if no outcome is predicted.
 */
#include "protocol/etrace/habit.h"
#include "protocol/etrace/packet_fields.h"
#include "protocol/etrace/walk.h"

/** What is in a habit's `stand`: addresses, and bits of the last word. */
enum { STAND_PC, STAND_LAST, STAND_ADDRESS, STAND_REST };
#define STAND_SIZE       0 /* of the instruction at pc: eight bits */
#define STAND_IR_VALUE   8 /* of the goal, where the stop is tentative: 16 */
#define STAND_OUTCOMES   24
#define STAND_LAST_VALID 26
#define STAND_TENTATIVE  27
#define STAND_SYNCS      28
#define STAND_ARRIVES    29 /* by an uninferable jump */
#define STAND_CALLS      30 /* there are calls and returns that the stack tells of */
#define STAND_IRETS      31 /* no more than hops: eight bits */
#define STAND_PRIVILEGE  40 /* that a synchronisation tells: eight bits */
#define STAND_LEARNS     48 /* more follows from it than where the decoder stands */

static inline bool stands(const struct pug_habit *habit, unsigned bit)
{
    return habit->stand[STAND_REST] >> bit & 1;
}

/** The outcome that is left, if any. */
static uint8_t outcomes_of(const struct pug_etrace_decoder *d)
{
    return (uint8_t)(d->outcomes.map << 1 | d->outcomes.mapped);
}

/** Does the decoder stand as it does between most packets? */
static bool is_usual(const struct pug_etrace_decoder *d)
{
    const struct pug_etrace_outcomes *outcomes = &d->outcomes;
    return d->synced && !d->fresh && !d->after_trap && !d->data_counts && !d->data_complete &&
           outcomes->mapped <= 1 && outcomes->predicted == 0 && !outcomes->mispredicted &&
           d->addresses == PUG_ETRACE_ADDRESSES_AS_SAID;
}

/* ---- once more ---- */

static uint64_t newest(const void *context, uint32_t n)
{
    const struct pug_etrace_stack *stack = context;
    return stack->links[(stack->top - n) & (stack->limit - 1)].address;
}

/** Does the stack infer the same returns as before, and no others? */
static bool fits_stack(const struct pug_etrace_decoder *d, const struct pug_habit *habit)
{
    const struct pug_habit_stack stack = {.entries = d->stack.entries,
                                          .limit = d->stack.limit,
                                          .newest = newest,
                                          .context = &d->stack};
    const bool arrives = stands(habit, STAND_ARRIVES);
    const int64_t left = pug_habit_fits(habit, &stack, arrives);
    const struct pug_block *last = pug_habit_block(habit->hops[habit->count - 1]);
    return arrives && last->insn.kind == PUG_RV_RETURN ? left == 0 : left >= 0;
}

static void pass_calls(struct pug_etrace_decoder *d, const struct pug_habit *habit)
{
    for (uint32_t i = 0; i < habit->count; i++) {
        const struct pug_block *block = pug_habit_block(habit->hops[i]);
        if (block->insn.kind == PUG_RV_CALL)
            pug_etrace_push(d, block->end);
        else if (pug_habit_infers(habit, i, stands(habit, STAND_ARRIVES)))
            pug_etrace_pop(d);
    }
}

/** What its hops and its end teach. */
static void learn(struct pug_etrace_decoder *d, const struct pug_habit *habit)
{
    for (uint32_t i = 0; d->options.branch_prediction && i < habit->count; i++) {
        const struct pug_block *block = pug_habit_block(habit->hops[i]);
        uint8_t *entry = pug_etrace_predictor_entry(d, block->last);
        if (block->insn.conditional)
            *entry = pug_etrace_train(*entry, habit->hops[i] & 1);
    }
    if (stands(habit, STAND_CALLS))
        pass_calls(d, habit);
    if (stands(habit, STAND_ARRIVES) && d->options.jump_target_cache)
        pug_etrace_learn_target(d, habit->stand[STAND_PC]);
    if (!stands(habit, STAND_SYNCS))
        return;
    d->privilege = (uint8_t)(habit->stand[STAND_REST] >> STAND_PRIVILEGE);
    d->privilege_known = true;
    if (!d->options.resync_disabled)
        pug_etrace_forget(d);
    pug_etrace_data_sync(d);
}

static inline void stand_as(struct pug_etrace_decoder *d, const struct pug_habit *habit)
{
    const uint64_t rest = habit->stand[STAND_REST];
    d->pc = habit->stand[STAND_PC];
    d->pc_size = (uint8_t)(rest >> STAND_SIZE);
    d->last = habit->stand[STAND_LAST];
    d->last_valid = stands(habit, STAND_LAST_VALID);
    d->address = habit->stand[STAND_ADDRESS];
    d->outcomes.map = rest >> STAND_OUTCOMES >> 1 & 1;
    d->outcomes.mapped = rest >> STAND_OUTCOMES & 1;
    d->irets = (uint8_t)(rest >> STAND_IRETS);
    d->tentative = stands(habit, STAND_TENTATIVE);
    if (d->tentative)
        d->tentative_goal =
            (struct pug_etrace_goal){.target = d->pc,
                                     .has_target = true,
                                     .irets = d->options.irets,
                                     .ir_value = (uint16_t)(rest >> STAND_IR_VALUE)};
}

void pug_etrace_settle(struct pug_etrace_decoder *d)
{
    const struct pug_habit *habit = d->habits.at;
    if (habit)
        stand_as(d, habit);
    d->habits.at = NULL;
}

static void begin_anew(struct pug_etrace_decoder *d)
{
    pug_habits_forget(&d->habits);
    d->habit_options = d->options;
    d->habits_hold = true;
}

/** Of a synchronisation: it tells of a context that is not the one in force. */
static inline void synchronise(const struct pug_element *blank, struct pug_habit_cause *cause)
{
    cause->base = (uint64_t)blank->vmid << 32 | blank->context_id;
    cause->rest |= (uint64_t)(uint8_t)blank->level << 16 | (uint64_t)blank->context_flags << 24;
}

/**
 * Of a packet of format 0: its address is relative to nothing, but in the jump target cache. False:
 * it is a count of predicted branches, or bad.
 */
static inline bool look_up(const struct pug_etrace_decoder *d, struct pug_habit_cause *cause)
{
    const struct pug_etrace_options *o = &d->options;
    const unsigned width = o->f0s_width;
    const uint64_t fields = cause->low >> 2;
    const unsigned subformat =
        width > 0 ? fields & ((1u << width) - 1) : pug_etrace_subformat_unsaid(o);
    cause->base = pug_etrace_cached_target(d, fields >> width & ((1u << o->cache_size) - 1));
    return subformat == 1 && o->jump_target_cache;
}

/** Has it more outcomes than hops can be kept? 0 stands for 31. */
static inline bool is_long(uint64_t low)
{
    return (low & 3) == 1 && (((low >> 2) - 1) & 31) >= PUG_HABIT_HOPS;
}

/** NULL: there is none, or it is not looked for. */
static struct pug_habit *look(struct pug_etrace_decoder *d, struct pug_habit_meeting *meeting,
                              uint64_t low, uint64_t high)
{
    const bool syncs = (low & 3) == 3;
    struct pug_habit_cause cause = {.low = low,
                                    .high = high,
                                    .at = d->pc,
                                    .base = d->address,
                                    .rest = (uint64_t)d->privilege << 8 | outcomes_of(d)};
    if (is_long(low) || (syncs ? low >> 2 & 3 : d->tentative) || pug_habits_rest(&d->habits))
        return NULL;
    if (syncs)
        synchronise(&d->out->blank, &cause);
    else if ((low & 3) == 0 && !look_up(d, &cause))
        return NULL;
    struct pug_habit *habit =
        pug_habits_look(&d->habits, d->code, d->out->batch, cause, d->pc_size, meeting);
    if (!habit)
        d->walk.outcomes = 0; /* also for a synchronisation without a walk */
    return habit;
}

/** Of one that came behind another: of its cause only what neither of the two tells. */
static inline bool still_causes(const struct pug_etrace_decoder *d, const struct pug_habit *habit)
{
    struct pug_habit_cause cause = habit->cause;
    switch (cause.low & 3) {
    case 0: return look_up(d, &cause) && cause.base == habit->cause.base;
    case 3:
        cause.rest &= UINT16_MAX;
        synchronise(&d->out->blank, &cause);
        return cause.base == habit->cause.base && cause.rest == habit->cause.rest;
    default: return true;
    }
}

bool pug_etrace_may_repeat(struct pug_etrace_decoder *d)
{
    if (!is_usual(d) || !d->exact_addresses || pug_codemap_outdated(d->code))
        return false;
    if (!d->habits_hold)
        begin_anew(d);
    return true;
}

bool pug_etrace_repeat(struct pug_etrace_decoder *d, struct pug_habit_meeting *meeting,
                       uint64_t low, uint64_t high, uint64_t index)
{
    struct pug_habits *habits = &d->habits;
    struct pug_habit *before = habits->at, *habit = pug_habits_next(habits, low, high);
    if (!habit || !still_causes(d, habit)) {
        pug_etrace_settle(d);
        habit = look(d, meeting, low, high);
        if (!habit)
            return false;
        pug_habits_follow(habits, before, habit);
    }
    if (stands(habit, STAND_CALLS) && !fits_stack(d, habit))
        return false;
    if (!d->stage->paths)
        pug_habit_repeat(habits, habit, d->out, index);
    else if (!pug_habits_count(habits, d->stage, &d->chain, habit))
        return false;
    d->index = index;
    habits->at = habit;
    if (stands(habit, STAND_LEARNS))
        learn(d, habit);
    return true;
}

/* ---- the second time ---- */

/** Does where the hop led follow from its block, the stack and the packet alone? */
static bool is_plain(const struct pug_etrace_decoder *d, const struct pug_habit *habit,
                     uint32_t hop, bool syncs)
{
    const struct pug_block *block = pug_habit_block(habit->hops[hop]);
    const bool last = hop + 1 == habit->count;
    const bool returns = d->options.implicit_return && block->insn.kind == PUG_RV_RETURN;
    return block->last_type != PUG_INSTR_BR_INDIRECT || pug_etrace_is_sequential(d, block) ||
           (!pug_etrace_may_be_sequential(d, block) && (last ? !syncs || !returns : returns));
}

/** Are these all hops? What was delivered meanwhile is missing, and with it an outcome. */
static bool are_plain(const struct pug_etrace_decoder *d, const struct pug_habit *habit, bool syncs)
{
    uint64_t outcomes = 0;
    for (uint32_t i = 0; i < habit->count; i++) {
        if (!is_plain(d, habit, i, syncs))
            return false;
        outcomes += pug_habit_block(habit->hops[i])->insn.conditional;
    }
    return outcomes == d->walk.outcomes;
}

/** Did the last hop go to where a packet had to tell? A return that is inferred goes on. */
static bool arrives(const struct pug_etrace_decoder *d, const struct pug_habit *habit)
{
    if (habit->count == 0)
        return false;
    const struct pug_block *last = pug_habit_block(habit->hops[habit->count - 1]);
    return last->last_type == PUG_INSTR_BR_INDIRECT && !pug_etrace_is_sequential(d, last) &&
           d->pc == habit->last.start;
}

static uint64_t bit(bool is, unsigned at)
{
    return is ? UINT64_C(1) << at : 0;
}

/** False: it does more than what is kept. */
static bool note(struct pug_etrace_decoder *d, const struct pug_habit_meeting *meeting,
                 struct pug_habit *habit)
{
    const struct pug_batch *batch = d->out->batch;
    const struct pug_block *first = pug_codemap_held(d->code, meeting->cause.at, (uint8_t)d->isa);
    const bool syncs = (meeting->cause.low & 3) == 3;
    if (!is_usual(d) || !first ||
        (syncs ? batch->count > meeting->count + 1 /* then more is looked at, and told of */
               : d->walk.goal.irreport))
        return false;
    const struct pug_habit_way way = {
        .taken = !first->insn.conditional || !(meeting->cause.rest & 2), .inside = true};
    if (!pug_habit_hops(habit, d->code, batch, meeting, first, way) || !are_plain(d, habit, syncs))
        return false;
    const bool calls = d->options.implicit_return && pug_habit_has_calls(habit);
    if (calls && d->stack.recursion > 0) /* what counts calls is no list of them */
        return false;
    const bool comes = arrives(d, habit);
    const bool learns =
        d->options.branch_prediction || calls || syncs || (comes && d->options.jump_target_cache);
    habit->stand[STAND_PC] = d->pc;
    habit->stand[STAND_LAST] = d->last;
    habit->stand[STAND_ADDRESS] = d->address;
    habit->stand[STAND_REST] =
        (uint64_t)d->pc_size << STAND_SIZE |
        (uint64_t)d->tentative_goal.ir_value << STAND_IR_VALUE |
        (uint64_t)outcomes_of(d) << STAND_OUTCOMES | bit(d->last_valid, STAND_LAST_VALID) |
        bit(d->tentative, STAND_TENTATIVE) | bit(syncs, STAND_SYNCS) | bit(comes, STAND_ARRIVES) |
        bit(calls, STAND_CALLS) | (uint64_t)d->irets << STAND_IRETS |
        (uint64_t)d->privilege << STAND_PRIVILEGE | bit(learns, STAND_LEARNS);
    return true;
}

void pug_etrace_keep(struct pug_etrace_decoder *d, const struct pug_habit_meeting *meeting)
{
    struct pug_habit habit = {.cause = meeting->cause, .stamp = meeting->stamp};
    if (d->stage->pending || !pug_habit_meeting_holds(meeting, d->code, d->out->batch))
        return;
    if (!note(d, meeting, &habit))
        pug_habit_none(&habit);
    pug_habits_keep(&d->habits, d->code, &habit);
}
