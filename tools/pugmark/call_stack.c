// SPDX-License-Identifier: MIT
#include "call_stack.h"

/* A return comes back at most so many bytes behind its call: a long call, or one with a delay slot.
 */
#define BEHIND_CALL 8u

/* ---- frames ---- */

static void leave(struct call_stack *stack, bool ended)
{
    struct call_frame *frame = &stack->frames[stack->depth - 1];
    uint64_t took = stack->time - frame->time;
    uint64_t ran = stack->instructions - frame->instructions;
    stack->listener->leave(stack->listener->context, stack, frame, ended);
    stack->depth--;
    if (stack->depth > 0) {
        stack->frames[stack->depth - 1].of_callees_time += took;
        stack->frames[stack->depth - 1].of_callees_instructions += ran;
    }
}

static void leave_to(struct call_stack *stack, uint32_t depth)
{
    while (stack->depth > depth)
        leave(stack, false);
}

static struct call_frame *enter(struct call_stack *stack, uint64_t address)
{
    struct pug_symbol symbol;
    if (stack->depth == CALL_DEPTH)
        leave_to(stack, 0);
    struct call_frame *frame = &stack->frames[stack->depth++];
    *frame = (struct call_frame){
        .start = address, .end = address, .time = stack->time, .instructions = stack->instructions};
    if (pug_image_symbol(stack->image, address, &symbol)) {
        frame->start = symbol.start;
        frame->end = symbol.start + symbol.size;
        frame->name = symbol.name;
    }
    return frame;
}

/** The frame is complete. */
static void tell(struct call_stack *stack)
{
    stack->listener->enter(stack->listener->context, stack, &stack->frames[stack->depth - 1]);
}

static bool is_in(const struct call_frame *frame, uint64_t address)
{
    return address == frame->start || (address > frame->start && address < frame->end);
}

/** Control is somewhere that no call or return explains: the nearest frame of that function. */
static void relocate(struct call_stack *stack, uint64_t address)
{
    uint32_t depth = stack->depth;
    while (depth > 0 && !is_in(&stack->frames[depth - 1], address))
        depth--;
    leave_to(stack, depth);
    if (depth > 0)
        return;
    enter(stack, address);
    tell(stack);
}

/* ---- how control came ---- */

static void arrive_by_return(struct call_stack *stack, uint64_t address)
{
    for (uint32_t depth = stack->depth; depth > 0; depth--) {
        const struct call_frame *frame = &stack->frames[depth - 1];
        if (frame->called && address > frame->site && address - frame->site <= BEHIND_CALL) {
            leave_to(stack, depth - 1);
            if (stack->depth == 0)
                relocate(stack, address);
            return;
        }
    }
    relocate(stack, address);
}

static void arrive_by_exception_return(struct call_stack *stack, uint64_t address)
{
    uint32_t depth = stack->depth;
    while (depth > 0 && !stack->frames[depth - 1].exception)
        depth--;
    if (depth > 0)
        leave_to(stack, depth - 1);
    if (depth == 0 || stack->depth == 0)
        relocate(stack, address);
}

/** A jump to another function's beginning is a call that returns to where this one would. */
static void arrive_by_jump(struct call_stack *stack, uint64_t address)
{
    const struct call_frame top = stack->frames[stack->depth - 1];
    struct pug_symbol symbol;
    if (top.end == top.start || is_in(&top, address) ||
        !pug_image_symbol(stack->image, address, &symbol))
        return;
    if (symbol.start != address) {
        relocate(stack, address);
        return;
    }
    leave(stack, false);
    struct call_frame *frame = enter(stack, address);
    frame->site = top.site;
    frame->called = top.called;
    frame->exception = top.exception;
    frame->number = top.number;
    tell(stack);
}

static void arrive(struct call_stack *stack, uint64_t address)
{
    enum call_pending pending = stack->pending;
    stack->pending = CALL_NONE;
    if (stack->depth == 0 || stack->lost) {
        stack->lost = false;
        relocate(stack, address);
        return;
    }
    switch (pending) {
    case CALL_CALL: {
        struct call_frame *frame = enter(stack, address);
        frame->site = stack->site;
        frame->called = true;
        tell(stack);
        break;
    }
    case CALL_EXCEPTION: {
        struct call_frame *frame = enter(stack, address);
        frame->exception = true;
        frame->number = stack->number;
        tell(stack);
        break;
    }
    case CALL_RETURN: arrive_by_return(stack, address); break;
    case CALL_EXCEPTION_RET: arrive_by_exception_return(stack, address); break;
    case CALL_JUMP: arrive_by_jump(stack, address); break;
    case CALL_NONE: break;
    }
}

/* ---- elements ---- */

/** How control leaves a range whose last instruction is at `last`. */
static void depart(struct call_stack *stack, const struct pug_element *range, uint64_t last)
{
    bool branch = range->last_type == PUG_INSTR_BR || range->last_type == PUG_INSTR_BR_INDIRECT;
    stack->site = last;
    stack->pending = CALL_NONE;
    if (!branch || !(range->flags & PUG_ELEM_EXECUTED))
        return;
    switch (range->last_subtype) {
    case PUG_SUB_BR_LINK: stack->pending = CALL_CALL; break;
    case PUG_SUB_V8_RET:
    case PUG_SUB_V7_IMPLIED_RET:
    case PUG_SUB_RETURN: stack->pending = CALL_RETURN; break;
    case PUG_SUB_V8_ERET:
    case PUG_SUB_EXCEPTION_RETURN: stack->pending = CALL_EXCEPTION_RET; break;
    default: stack->pending = CALL_JUMP;
    }
}

static void take_exception(struct call_stack *stack, const struct pug_element *exception)
{
    /* A jump whose target trapped at once did get there. */
    if (stack->pending != CALL_NONE && (exception->flags & PUG_ELEM_RET_ADDR))
        arrive(stack, exception->end);
    stack->pending = CALL_EXCEPTION;
    stack->number = exception->number;
}

static void take_time(struct call_stack *stack, const struct pug_element *element)
{
    if (element->type == PUG_ELEM_TIMESTAMP) {
        stack->time = element->timestamp;
        stack->has_timestamps = stack->has_time = true;
    } else if ((element->flags & PUG_ELEM_HAS_CC) && !stack->has_timestamps) {
        stack->time += element->cycle_count;
        stack->has_time = true;
    }
}

static void lose(struct call_stack *stack)
{
    bool was_lost = stack->lost;
    stack->lost = true;
    stack->pending = CALL_NONE;
    if (!was_lost && stack->depth > 0)
        stack->listener->gap(stack->listener->context, stack);
}

void call_stack_take(struct call_stack *stack, const struct pug_element *element)
{
    take_time(stack, element);
    switch (element->type) {
    case PUG_ELEM_INSTR_RANGE:
        arrive(stack, element->start);
        stack->instructions += element->count;
        depart(stack, element, element->end - element->last_size);
        break;
    case PUG_ELEM_I_RANGE_NOPATH:
        arrive(stack, element->start);
        stack->instructions += element->count;
        depart(stack, element, element->value);
        arrive(stack, element->end);
        break;
    case PUG_ELEM_EXCEPTION: take_exception(stack, element); break;
    case PUG_ELEM_EXCEPTION_RET: stack->pending = CALL_EXCEPTION_RET; break;
    case PUG_ELEM_TRACE_ON:
    case PUG_ELEM_NO_SYNC:
    case PUG_ELEM_UNKNOWN:
    case PUG_ELEM_ADDR_NACC: lose(stack); break;
    default: break;
    }
}

void call_stack_end(struct call_stack *stack)
{
    while (stack->depth > 0)
        leave(stack, true);
}
