// SPDX-License-Identifier: MIT
/**
 * @file Calls followed through elements. Functions are 0x100 bytes each, named by a letter: `a` is
 * at 0x100, `b` at 0x200 … Events are written as "+a" (entered), "-a" (left), "-a~" (left, lost),
 * "-a>" (left by a tail call), "-a." (the trace ended in it), "-a^" and "+a^" (another thread runs,
 * and this one again), "+a*" (some thread's) and "?", "?!", "?0" (a gap: not traced, lost, no
 * program memory).
 */
#include "calls/stack.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct told {
    char text[1024];
    size_t length;
    bool times;      /* each event with its time: "+a@5", "-a@9:4" took 4 */
    uint64_t cycles; /* at the last event */
    struct pug_calls *calls;
    uint64_t index;
};

static bool locate(void *context, uint32_t task, const struct pug_element *element,
                   uint64_t address, struct pug_function *function)
{
    static const char names[] = "a\0b\0c\0d\0e\0f\0g\0h";
    (void)context;
    (void)task;
    assert_non_null(element);
    uint64_t number = address >> 8;
    if (number < 1 || number > 8)
        return false;
    *function = (struct pug_function){
        .name = &names[2 * (number - 1)], .start = number << 8, .size = 0x100, .id = number};
    return true;
}

__attribute__((format(printf, 2, 3))) static void put(struct told *told, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    told->length += (size_t)vsnprintf(told->text + told->length, sizeof(told->text) - told->length,
                                      format, list);
    va_end(list);
    assert_true(told->length < sizeof(told->text));
}

static void put_function(struct told *told, const struct pug_call_frame *frame)
{
    if (frame->kind == PUG_CALL_EXCEPTION)
        put(told, "!%u", frame->exception);
    if (frame->function.name)
        put(told, "%s", frame->function.name);
    else
        put(told, "[%x]", (unsigned)frame->address);
}

static void on_event(void *context, const struct pug_call_event *event)
{
    struct told *told = context;
    told->cycles = event->now.cycles;
    put(told, told->length ? " " : "");
    if (event->kind == PUG_CALL_GAP) {
        put(told, "?%s", (const char *[]){"", "0", "!"}[event->gap]);
        return;
    }
    put(told, event->kind == PUG_CALL_ENTER ? "+" : "-");
    put_function(told, event->frame);
    put(told, "%s%s%s%s", event->lost ? "~" : "", event->tail ? ">" : "", event->ended ? "." : "",
        event->switched ? "^" : "");
    put(told, event->kind == PUG_CALL_ENTER && event->frame->doubtful ? "*" : "");
    uint64_t now = pug_call_time(&event->now, event->unit);
    uint64_t took = pug_call_time(&event->took, event->unit);
    if (told->times && event->kind == PUG_CALL_ENTER)
        put(told, "@%u", (unsigned)now);
    if (told->times && event->kind == PUG_CALL_LEAVE)
        put(told, "@%u:%u", (unsigned)now, (unsigned)took);
}

static void begin(struct told *told, bool times)
{
    *told = (struct told){.times = times};
    const struct pug_calls_config config = {
        .locate = locate, .event = on_event, .event_context = told, .depth = 8};
    assert_int_equal(pug_calls_new(&config, &told->calls), PUG_OK);
}

static void finish(struct told *told, const char *expected)
{
    pug_calls_end(told->calls);
    pug_calls_free(told->calls);
    assert_string_equal(told->text, expected);
}

static void take(struct told *told, struct pug_element element)
{
    element.index = told->index;
    assert_int_equal(pug_calls_take(told->calls, 0, &element, 1), PUG_OK);
}

/** Instructions of four bytes from `start` to `last`, which is of this kind, and was taken. */
static void run(struct told *told, uint64_t start, uint64_t last, enum pug_instr_type type,
                enum pug_instr_subtype subtype)
{
    take(told, (struct pug_element){.type = PUG_ELEM_INSTR_RANGE,
                                    .isa = PUG_ISA_T32,
                                    .start = start,
                                    .end = last + 4,
                                    .count = (uint32_t)(last - start) / 4 + 1,
                                    .last_size = 4,
                                    .last_type = (uint8_t)type,
                                    .last_subtype = (uint8_t)subtype,
                                    .flags = PUG_ELEM_EXECUTED});
}

static void calls(struct told *told, uint64_t start, uint64_t last)
{
    run(told, start, last, PUG_INSTR_BR, PUG_SUB_BR_LINK);
}

static void returns(struct told *told, uint64_t start, uint64_t last)
{
    run(told, start, last, PUG_INSTR_BR_INDIRECT, PUG_SUB_V8_RET);
}

static void jumps(struct told *told, uint64_t start, uint64_t last)
{
    run(told, start, last, PUG_INSTR_BR, PUG_SUB_NONE);
}

static void exception(struct told *told, uint32_t number, uint64_t back, unsigned flags)
{
    take(told, (struct pug_element){.type = PUG_ELEM_EXCEPTION,
                                    .isa = PUG_ISA_T32,
                                    .number = number,
                                    .end = back,
                                    .flags = (uint16_t)flags});
}

static void element(struct told *told, enum pug_element_type type)
{
    take(told, (struct pug_element){.type = (uint8_t)type});
}

static void stamp(struct told *told, uint64_t time)
{
    take(told, (struct pug_element){.type = PUG_ELEM_TIMESTAMP, .timestamp = time});
}

/* ---- branches ---- */

static void calls_nest_and_return(void **state)
{
    (void)state;
    struct told told;
    begin(&told, false);
    calls(&told, 0x100, 0x110);
    calls(&told, 0x200, 0x210);
    returns(&told, 0x300, 0x310);
    returns(&told, 0x214, 0x220);
    jumps(&told, 0x114, 0x120); /* within a */
    calls(&told, 0x100, 0x108);
    const struct pug_call_frame *frames;
    assert_int_equal(pug_calls_stack(told.calls, 0, &frames), 1);
    assert_string_equal(frames[0].function.name, "a");
    assert_int_equal(pug_calls_stack(told.calls, 1, &frames), 0);
    finish(&told, "+a +b +c -c -b -a.");
}

static void a_branch_into_another_function_returns_for_it(void **state)
{
    (void)state;
    struct told told;
    begin(&told, false);
    calls(&told, 0x100, 0x110);
    jumps(&told, 0x200, 0x210);
    jumps(&told, 0x300, 0x310); /* into the middle of d */
    returns(&told, 0x420, 0x424);
    returns(&told, 0x114, 0x118);
    finish(&told, "+a +b -b> +c -c> +d -d -a.");
}

static void code_without_symbols_is_a_frame_when_it_is_called(void **state)
{
    (void)state;
    struct told told;
    begin(&told, false);
    calls(&told, 0x100, 0x110);
    jumps(&told, 0x1000, 0x1008); /* a stub … */
    jumps(&told, 0x2000, 0x2008); /* … in two parts: nothing shows that they are two */
    returns(&told, 0x300, 0x308);
    jumps(&told, 0x114, 0x118);
    finish(&told, "+a +[1000] -[1000]> +c -c -a.");
}

static void a_return_finds_the_newest_frame_that_returns_there(void **state)
{
    (void)state;
    struct told told;
    begin(&told, false);
    calls(&told, 0x100, 0x110);
    calls(&told, 0x200, 0x210);
    calls(&told, 0x300, 0x310);
    returns(&told, 0x400, 0x404); /* past b and c: longjmp() */
    jumps(&told, 0x114, 0x118);
    finish(&told, "+a +b +c +d -d~ -c~ -b -a.");
}

static void a_return_to_nowhere_known_begins_anew(void **state)
{
    (void)state;
    struct told told;
    begin(&told, false);
    calls(&told, 0x100, 0x110);
    returns(&told, 0x200, 0x210);
    jumps(&told, 0x314, 0x318); /* not where b was to return to */
    finish(&told, "+a +b -b~ -a +c -c.");
}

static void a_changed_return_address_returns_to_its_caller(void **state)
{
    (void)state;
    struct told told;
    begin(&told, false);
    calls(&told, 0x100, 0x110);
    calls(&told, 0x200, 0x210);
    returns(&told, 0x300, 0x310);
    returns(&told, 0x218, 0x21c); /* not to 0x214 */
    calls(&told, 0x114, 0x118);
    returns(&told, 0x100, 0x108); /* a recursive one, to 0x11c */
    returns(&told, 0x120, 0x124); /* … not quite; and to whoever called a */
    jumps(&told, 0x330, 0x334);
    finish(&told, "+a +b +c -c -b +a -a -a +c -c.");
}

static void too_deep_begins_anew(void **state)
{
    (void)state;
    struct told told;
    begin(&told, false);
    for (int i = 0; i < 9; i++)
        calls(&told, 0x100, 0x110);
    jumps(&told, 0x100, 0x110);
    const char *all = "+a +a +a +a +a +a +a +a -a~ -a~ -a~ -a~ -a~ -a~ -a~ -a~ +a +a -a. -a.";
    finish(&told, all);
}

/* ---- exceptions ---- */

static void exceptions_nest_where_they_do(void **state)
{
    (void)state;
    struct told told;
    begin(&told, false);
    calls(&told, 0x100, 0x110);
    exception(&told, 3, 0x200, PUG_ELEM_RET_ADDR); /* b was reached, and ran nothing */
    jumps(&told, 0x500, 0x504);
    exception(&told, 4, 0x508, PUG_ELEM_RET_ADDR);
    run(&told, 0x600, 0x604, PUG_INSTR_BR_INDIRECT, PUG_SUB_V8_ERET);
    element(&told, PUG_ELEM_EXCEPTION_RET);
    run(&told, 0x508, 0x50c, PUG_INSTR_BR_INDIRECT, PUG_SUB_V8_ERET);
    element(&told, PUG_ELEM_EXCEPTION_RET);
    returns(&told, 0x200, 0x204);
    jumps(&told, 0x114, 0x118);
    finish(&told, "+a +b +!3e +!4f -!4f -!3e -b -a.");
}

static void a_call_that_an_exception_kept_happens_behind_it(void **state)
{
    (void)state;
    struct told told;
    begin(&told, false);
    calls(&told, 0x100, 0x110);
    exception(&told, 3, 0, 0);
    jumps(&told, 0x500, 0x504);
    element(&told, PUG_ELEM_EXCEPTION_RET);
    returns(&told, 0x200, 0x204);
    jumps(&told, 0x114, 0x118);
    finish(&told, "+a +!3e -!3e +b -b -a.");
}

/* The handler was not traced: the task went to another processor meanwhile. */
static void an_exception_that_is_back_enters_nothing(void **state)
{
    (void)state;
    struct told told;
    begin(&told, false);
    calls(&told, 0x100, 0x110);
    jumps(&told, 0x200, 0x204);
    exception(&told, 3, 0x208, PUG_ELEM_RET_ADDR);
    returns(&told, 0x208, 0x210);
    exception(&told, 4, 0x114, PUG_ELEM_RET_ADDR);
    jumps(&told, 0x500, 0x504);
    finish(&told, "+a +b -b +!4e -!4e. -a.");
}

static void interrupts_back_to_back_do_not_nest(void **state)
{
    (void)state;
    struct told told;
    begin(&told, false);
    calls(&told, 0x100, 0x110);
    jumps(&told, 0x200, 0x204);
    for (unsigned i = 0; i < 3; i++) {
        exception(&told, 7 + i, 0, 0);
        run(&told, 0x500, 0x504, PUG_INSTR_BR_INDIRECT, PUG_SUB_EXCEPTION_RETURN);
        element(&told, PUG_ELEM_EXCEPTION_RET);
    }
    returns(&told, 0x200, 0x204);
    jumps(&told, 0x114, 0x118);
    finish(&told, "+a +b +!7e -!7e +!8e -!8e +!9e -!9e -b -a.");
}

/* The handler returns by BX LR to a return code, and the next one begins at once. */
static void tail_chained_exceptions_do_not_nest(void **state)
{
    (void)state;
    struct told told;
    begin(&told, false);
    jumps(&told, 0x100, 0x110);
    exception(&told, 15, 0x114, PUG_ELEM_RET_ADDR);
    run(&told, 0x500, 0x504, PUG_INSTR_BR_INDIRECT, PUG_SUB_V7_IMPLIED_RET);
    exception(&told, 16, 0xfffffff9, PUG_ELEM_M_TAIL_CHAIN);
    run(&told, 0x600, 0x604, PUG_INSTR_BR_INDIRECT, PUG_SUB_V7_IMPLIED_RET);
    element(&told, PUG_ELEM_EXCEPTION_RET);
    exception(&told, 17, 0xfffffff9, PUG_ELEM_RET_ADDR); /* a protocol without such a flag */
    run(&told, 0x700, 0x704, PUG_INSTR_BR_INDIRECT, PUG_SUB_V7_IMPLIED_RET);
    element(&told, PUG_ELEM_EXCEPTION_RET);
    jumps(&told, 0x114, 0x118);
    finish(&told, "+a +!15e -!15e +!16f -!16f +!17g -!17g -a.");
}

/* ---- threads of an M profile core ---- */

#define SYSTICK 15
#define PENDSV  14

static void m_exception(struct told *told, uint32_t number, uint64_t back, uint16_t flags)
{
    take(told, (struct pug_element){.type = PUG_ELEM_EXCEPTION,
                                    .number = number,
                                    .end = back,
                                    .flags = flags,
                                    .isa = PUG_ISA_T32,
                                    .reason = PUG_EXCEPTIONS_ARMV8M});
}

static void cycles(struct told *told, uint32_t count)
{
    told->index++;
    take(told, (struct pug_element){
                   .type = PUG_ELEM_CYCLE_COUNT, .flags = PUG_ELEM_HAS_CC, .cycle_count = count});
    told->index++;
}

/** PendSV comes at `stopped`; its handler `h` returns. */
static void pends(struct told *told, uint64_t stopped)
{
    m_exception(told, PENDSV, stopped, PUG_ELEM_RET_ADDR);
    run(told, 0x800, 0x804, PUG_INSTR_BR_INDIRECT, PUG_SUB_V7_IMPLIED_RET);
    element(told, PUG_ELEM_EXCEPTION_RET);
}

static void threads_keep_their_stacks(void **state)
{
    (void)state;
    struct told told;
    begin(&told, true);
    calls(&told, 0x100, 0x110); /* a calls b, */
    jumps(&told, 0x200, 0x20c);
    pends(&told, 0x210);
    cycles(&told, 10);
    calls(&told, 0x300, 0x310); /* and c, which is new, d, */
    jumps(&told, 0x400, 0x404);
    pends(&told, 0x408);
    cycles(&told, 5);
    returns(&told, 0x210, 0x214); /* when b goes on and returns to a. */
    jumps(&told, 0x114, 0x118);
    pends(&told, 0x11c);
    returns(&told, 0x408, 0x410); /* d to c as well. */
    jumps(&told, 0x314, 0x318);
    finish(&told, "+a@0 +b@0 +!14h@0 -!14h@10:10 -b^@10:10 -a^@10:10 +c*@10 +d@10 +!14h@10 "
                  "-!14h@15:5 -d^@15:5 -c^@15:5 +a^@15 +b^@15 -b@15:0 +!14h@15 -!14h@15:0 "
                  "-a^@15:0 +c^*@15 +d^@15 -d@15:0 -c.@15:0");
}

static void a_handler_that_switches_nothing_goes_back(void **state)
{
    (void)state;
    struct told told;
    begin(&told, false);
    jumps(&told, 0x100, 0x110);
    pends(&told, 0x114);
    jumps(&told, 0x114, 0x118);
    pends(&told, 0x11e); /* inside an instruction, which begins again */
    jumps(&told, 0x11c, 0x120);
    finish(&told, "+a +!14h -!14h +!14h -!14h -a.");
}

/** PendSV follows SysTick: the thread stopped where SysTick came. */
static void chained_handlers_switch_threads(void **state)
{
    (void)state;
    struct told told;
    begin(&told, false);
    jumps(&told, 0x100, 0x110);
    for (int chain = 0; chain < 2; chain++) {
        m_exception(&told, SYSTICK, chain ? 0x20c : 0x114, PUG_ELEM_RET_ADDR);
        run(&told, 0x500, 0x504, PUG_INSTR_BR_INDIRECT, PUG_SUB_V7_IMPLIED_RET);
        if (chain)
            element(&told, PUG_ELEM_EXCEPTION_RET);
        m_exception(&told, PENDSV, 0, PUG_ELEM_M_TAIL_CHAIN);
        run(&told, 0x800, 0x804, PUG_INSTR_BR_INDIRECT, PUG_SUB_V7_IMPLIED_RET);
        element(&told, PUG_ELEM_EXCEPTION_RET);
        jumps(&told, chain ? 0x114 : 0x200, chain ? 0x118 : 0x208);
    }
    finish(&told, "+a +!15e -!15e +!14h -!14h -a^ +b* +!15e -!15e +!14h -!14h -b^ +a^ -a.");
}

/** A switched thread is interrupted at once, where it goes on. */
static void an_interrupt_behind_a_switch(void **state)
{
    (void)state;
    struct told told;
    begin(&told, false);
    jumps(&told, 0x100, 0x110);
    pends(&told, 0x114);
    jumps(&told, 0x200, 0x208);
    pends(&told, 0x20c);
    m_exception(&told, SYSTICK, 0x114, PUG_ELEM_RET_ADDR);
    run(&told, 0x500, 0x504, PUG_INSTR_BR_INDIRECT, PUG_SUB_V7_IMPLIED_RET);
    element(&told, PUG_ELEM_EXCEPTION_RET);
    jumps(&told, 0x114, 0x118);
    finish(&told, "+a +!14h -!14h -a^ +b* +!14h -!14h -b^ +a^ +!15e -!15e -a.");
}

/**
 * Two that stopped at one place, and one after trace was lost: nothing shows which one continues.
 */
static void threads_that_are_not_known_are_doubtful(void **state)
{
    (void)state;
    struct told told;
    begin(&told, false);
    calls(&told, 0x100, 0x110);
    jumps(&told, 0x200, 0x208);
    pends(&told, 0x20c);
    calls(&told, 0x300, 0x310);
    jumps(&told, 0x200, 0x208);
    pends(&told, 0x20c);
    jumps(&told, 0x400, 0x404);
    pends(&told, 0x408);
    jumps(&told, 0x20c, 0x210);
    element(&told, PUG_ELEM_NO_SYNC);
    jumps(&told, 0x210, 0x214);
    pends(&told, 0x218);
    jumps(&told, 0x408, 0x40c);
    finish(&told, "+a +b +!14h -!14h -b^ -a^ +c* +b +!14h -!14h -b^ -c^ +d* +!14h -!14h -d^ +b* ?! "
                  "+!14h -!14h -b^ +d* -d.");
}

/** More than are kept: the oldest is forgotten. */
static void many_threads_are_bounded(void **state)
{
    (void)state;
    struct told told;
    begin(&told, false);
    for (unsigned i = 0; i < 10; i++) { /* of the eight frames that all have */
        jumps(&told, 0x100 + 0x10 * i, 0x104 + 0x10 * i);
        pends(&told, 0x108 + 0x10 * i);
    }
    told.length = 0;
    jumps(&told, 0x108, 0x10c); /* the first: unknown */
    pends(&told, 0x110);
    jumps(&told, 0x198, 0x19c); /* the last */
    finish(&told, "-!14h -a^ +a* +!14h -!14h -a^ +a^* -a.");
}

/** ETMv3 reports that registers are stacked before it reports which exception it is. */
static void marks_of_stacking_are_no_exceptions(void **state)
{
    (void)state;
    struct told told;
    begin(&told, false);
    jumps(&told, 0x100, 0x110);
    exception(&told, 0, 0, PUG_ELEM_DATA_MARKER);
    exception(&told, 15, 0, 0);
    run(&told, 0x500, 0x504, PUG_INSTR_BR_INDIRECT, PUG_SUB_V7_IMPLIED_RET);
    element(&told, PUG_ELEM_EXCEPTION_RET);
    jumps(&told, 0x114, 0x118);
    finish(&told, "+a +!15e -!15e -a.");
}

/* ---- losses ---- */

static void behind_a_loss_the_nearest_frame_goes_on(void **state)
{
    (void)state;
    struct told told;
    begin(&told, false);
    element(&told, PUG_ELEM_TRACE_ON);
    calls(&told, 0x100, 0x110);
    calls(&told, 0x200, 0x210);
    jumps(&told, 0x300, 0x310);
    element(&told, PUG_ELEM_TRACE_ON); /* nothing was traced … */
    element(&told, PUG_ELEM_TRACE_ON);
    element(&told, PUG_ELEM_NO_SYNC); /* … and then trace was lost, too */
    jumps(&told, 0x250, 0x254);
    element(&told, PUG_ELEM_ADDR_NACC);
    jumps(&told, 0x400, 0x404);
    finish(&told, "+a +b +c ? ?! -c~ ?0 -b~ -a~ +d -d.");
}

/* ---- times ---- */

static void functions_begun_before_the_first_timestamp_count_from_it(void **state)
{
    (void)state;
    struct told told;
    begin(&told, true);
    calls(&told, 0x100, 0x110);
    told.index = 10;
    jumps(&told, 0x200, 0x204);
    told.index = 20;
    stamp(&told, 1000);
    told.index = 30;
    returns(&told, 0x200, 0x204);
    told.index = 40;
    stamp(&told, 1010);
    told.index = 50;
    jumps(&told, 0x114, 0x118);
    finish(&told, "+a@0 +b@0 -b@1010:10 -a.@1010:10");
}

/* Each packet has its time, in front of the range that ends then. */
static void a_call_has_its_own_packets_time_not_the_next_ones(void **state)
{
    (void)state;
    struct told told;
    begin(&told, true);
    stamp(&told, 100);
    calls(&told, 0x100, 0x110);
    told.index = 1;
    stamp(&told, 200);
    calls(&told, 0x200, 0x210);
    told.index = 2;
    stamp(&told, 300);
    returns(&told, 0x300, 0x310);
    told.index = 3;
    stamp(&told, 400);
    returns(&told, 0x214, 0x220);
    told.index = 4;
    stamp(&told, 500);
    jumps(&told, 0x114, 0x118);
    finish(&told, "+a@100 +b@100 +c@200 -c@300:100 -b@400:300 -a.@500:400");
}

/* The time follows the ranges of its packet, and both branches are in one. */
static void times_may_follow_their_ranges(void **state)
{
    (void)state;
    struct told told;
    begin(&told, true);
    stamp(&told, 50);
    told.index = 1;
    calls(&told, 0x100, 0x110);
    calls(&told, 0x200, 0x210);
    stamp(&told, 100);
    told.index = 2;
    returns(&told, 0x300, 0x310);
    stamp(&told, 200);
    told.index = 3;
    jumps(&told, 0x214, 0x220);
    finish(&told, "+a@50 +b@50 +c@100 -c@200:100 -b.@200:150 -a.@200:150");
}

static void cycles_are_times_where_there_are_no_timestamps(void **state)
{
    (void)state;
    struct told told;
    begin(&told, true);
    calls(&told, 0x100, 0x110);
    for (unsigned i = 1; i < 3; i++) {
        told.index = i;
        take(&told, (struct pug_element){
                        .type = PUG_ELEM_CYCLE_COUNT, .flags = PUG_ELEM_HAS_CC, .cycle_count = 7});
        told.index = 10 + i;
        if (i == 1)
            returns(&told, 0x200, 0x210);
    }
    jumps(&told, 0x114, 0x118);
    finish(&told, "+a@0 +b@7 -b@14:7 -a.@14:14");
}

/* PTM's counts with timestamps cover the time since the last one; the next packet repeats ETMv4's.
 */
static void cycles_with_timestamps_are_added_where_they_add_up(void **state)
{
    (void)state;
    for (unsigned apart = 0; apart < 2; apart++) {
        struct told told;
        begin(&told, true);
        calls(&told, 0x100, 0x110);
        take(&told, (struct pug_element){
                        .type = PUG_ELEM_TIMESTAMP,
                        .flags = (uint16_t)(PUG_ELEM_HAS_CC | (apart ? PUG_ELEM_CC_APART : 0)),
                        .timestamp = 50,
                        .cycle_count = 5});
        take(&told, (struct pug_element){
                        .type = PUG_ELEM_CYCLE_COUNT, .flags = PUG_ELEM_HAS_CC, .cycle_count = 7});
        finish(&told, "+a@0 -a.@50:0");
        assert_int_equal(told.cycles, apart ? 7 : 12);
    }
}

static void times_that_go_back_take_nothing(void **state)
{
    (void)state;
    struct told told;
    begin(&told, true);
    stamp(&told, 1000);
    told.index = 1;
    calls(&told, 0x100, 0x110);
    told.index = 2;
    stamp(&told, 10);
    told.index = 3;
    returns(&told, 0x200, 0x210);
    told.index = 4;
    jumps(&told, 0x114, 0x118);
    finish(&told, "+a@1000 +b@10 -b@10:0 -a.@10:0");
}

/* ---- tasks ---- */

static void tasks_have_stacks_of_their_own(void **state)
{
    (void)state;
    struct told told;
    begin(&told, false);
    struct pug_element range = {.type = PUG_ELEM_INSTR_RANGE,
                                .start = 0x100,
                                .end = 0x104,
                                .last_size = 4,
                                .last_type = PUG_INSTR_BR,
                                .last_subtype = PUG_SUB_BR_LINK,
                                .flags = PUG_ELEM_EXECUTED};
    assert_int_equal(pug_calls_take(told.calls, 9, &range, 1), PUG_OK);
    range.start = 0x200;
    assert_int_equal(pug_calls_take(told.calls, 3, &range, 1), PUG_OK);
    range.start = 0x300;
    assert_int_equal(pug_calls_take(told.calls, 9, &range, 1), PUG_OK);
    pug_calls_end_task(told.calls, 9);
    pug_calls_end_task(told.calls, 9);
    finish(&told, "+a +b +c -c. -a. -b.");
}

static void limits_and_missing_parts_are_errors(void **state)
{
    (void)state;
    struct told told = {0};
    struct pug_calls *made = (struct pug_calls *)&made;
    assert_int_equal(pug_calls_new(NULL, &made), PUG_ERR_INVALID_PARAM_VAL);
    assert_null(made);
    struct pug_calls_config config = {.locate = locate};
    assert_int_equal(pug_calls_new(&config, &made), PUG_ERR_INVALID_PARAM_VAL);
    config = (struct pug_calls_config){.event = on_event, .event_context = &told};
    assert_int_equal(pug_calls_new(&config, &made), PUG_ERR_INVALID_PARAM_VAL);
    config.locate = locate;
    config.tasks = 1;
    assert_int_equal(pug_calls_new(&config, &made), PUG_OK);
    assert_int_equal(pug_calls_take(made, 1, NULL, 0), PUG_OK);
    assert_int_equal(pug_calls_take(made, 2, NULL, 0), PUG_ERR_LIMIT);
    pug_calls_free(made);
    pug_calls_free(NULL);
}

/** The depth of the stack, whose top frame is of the function at `start`. */
static uint32_t depth_at(const struct told *told, uint64_t start)
{
    const struct pug_call_frame *frames;
    const uint32_t depth = pug_calls_stack(told->calls, 0, &frames);
    assert_int_equal(frames[depth - 1].function.start, start);
    return depth;
}

static void what_was_seen_before_need_not_be_handed_over(void **state)
{
    const struct pug_call_frame b = {.function = {.name = "b", .start = 0x200, .size = 0x100},
                                     .address = 0x200,
                                     .site = 0x108,
                                     .returns_to = 0x10c,
                                     .kind = PUG_CALL_CALLED,
                                     .has_return = true};
    struct told told;
    (void)state;
    begin(&told, false);
    assert_false(pug_calls_enter_again(told.calls, 0, &b)); /* whose task? */
    calls(&told, 0x100, 0x108);
    assert_false(pug_calls_return_again(told.calls, 0, 0x10c)); /* the place is unknown */
    assert_false(pug_calls_enter_again(told.calls, 1, &b));
    assert_true(pug_calls_enter_again(told.calls, 0, &b));
    assert_int_equal(depth_at(&told, 0x200), 2);
    jumps(&told, 0x200, 0x204); /* it is in there */
    returns(&told, 0x210, 0x214);
    assert_false(pug_calls_return_again(told.calls, 0, 0x108));
    assert_false(pug_calls_return_again(told.calls, 1, 0x10c));
    assert_true(pug_calls_return_again(told.calls, 0, 0x10c));
    assert_int_equal(depth_at(&told, 0x100), 1);
    calls(&told, 0x10c, 0x110); /* the return is over */
    for (uint32_t depth = 2; depth <= 8; depth++) {
        assert_true(pug_calls_enter_again(told.calls, 0, &b));
        assert_int_equal(depth_at(&told, 0x200), depth);
    }
    assert_false(pug_calls_enter_again(told.calls, 0, &b)); /* too deep, so it restarts */
    calls(&told, 0x200, 0x204);
    run(&told, 0x300, 0x304, PUG_INSTR_OTHER, PUG_SUB_NONE);
    assert_int_equal(depth_at(&told, 0x300), 1);
    element(&told, PUG_ELEM_TRACE_ON);
    assert_false(pug_calls_enter_again(told.calls, 0, &b)); /* something was lost */
    assert_false(pug_calls_return_again(told.calls, 0, 0x10c));
    finish(&told, "+a -b~ -b~ -b~ -b~ -b~ -b~ -b~ -a~ +c ? -c.");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_nest_and_return),
        cmocka_unit_test(a_branch_into_another_function_returns_for_it),
        cmocka_unit_test(code_without_symbols_is_a_frame_when_it_is_called),
        cmocka_unit_test(a_return_finds_the_newest_frame_that_returns_there),
        cmocka_unit_test(a_return_to_nowhere_known_begins_anew),
        cmocka_unit_test(a_changed_return_address_returns_to_its_caller),
        cmocka_unit_test(too_deep_begins_anew),
        cmocka_unit_test(exceptions_nest_where_they_do),
        cmocka_unit_test(a_call_that_an_exception_kept_happens_behind_it),
        cmocka_unit_test(an_exception_that_is_back_enters_nothing),
        cmocka_unit_test(interrupts_back_to_back_do_not_nest),
        cmocka_unit_test(tail_chained_exceptions_do_not_nest),
        cmocka_unit_test(threads_keep_their_stacks),
        cmocka_unit_test(a_handler_that_switches_nothing_goes_back),
        cmocka_unit_test(chained_handlers_switch_threads),
        cmocka_unit_test(an_interrupt_behind_a_switch),
        cmocka_unit_test(threads_that_are_not_known_are_doubtful),
        cmocka_unit_test(many_threads_are_bounded),
        cmocka_unit_test(marks_of_stacking_are_no_exceptions),
        cmocka_unit_test(behind_a_loss_the_nearest_frame_goes_on),
        cmocka_unit_test(functions_begun_before_the_first_timestamp_count_from_it),
        cmocka_unit_test(a_call_has_its_own_packets_time_not_the_next_ones),
        cmocka_unit_test(times_may_follow_their_ranges),
        cmocka_unit_test(cycles_are_times_where_there_are_no_timestamps),
        cmocka_unit_test(cycles_with_timestamps_are_added_where_they_add_up),
        cmocka_unit_test(times_that_go_back_take_nothing),
        cmocka_unit_test(tasks_have_stacks_of_their_own),
        cmocka_unit_test(limits_and_missing_parts_are_errors),
        cmocka_unit_test(what_was_seen_before_need_not_be_handed_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
