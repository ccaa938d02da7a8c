// SPDX-License-Identifier: MIT
/**
 * @file Threads of kernels by elements made by hand: descriptions, switches by values and by return
 * addresses, what is not known, and loss. Threads yield at 0x900, in a function that 0x100 and
 * 0x200 call: they go on behind the calls, at 0x104 and 0x204.
 */
#include "rtos/follow.h"
#include "rtos/kernel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define YIELD   0x900u
#define CURRENT 0x20000000u

/** A core, and which thread each element was found to be of, once that is known. */
struct core {
    struct rtos_follow *follow;
    uint32_t held;             /* elements that wait */
    uint32_t of[RTOS_THREADS]; /* elements outside of handlers, by thread */
    struct rtos_answer last;
};

static void open_core(struct core *core, bool values)
{
    struct rtos_object object = {.has_current = values, .current = CURRENT, .size = 4};
    object.none_count = 1; /* 0 */
    *core = (struct core){.follow = pug_rtos_follow_new(&object)};
    assert_non_null(core->follow);
}

static void take_answer(struct core *core, const struct rtos_answer *answer)
{
    if (!answer->decided)
        return;
    core->of[answer->whose] += core->held;
    core->held = 0;
}

static void take(struct core *core, struct pug_element element)
{
    element.isa = PUG_ISA_T32;
    assert_int_equal(pug_rtos_take(core->follow, &element, &core->last), PUG_OK);
    take_answer(core, &core->last);
    if (element.type != PUG_ELEM_INSTR_RANGE || core->last.in_handler)
        return;
    core->held += core->last.held;
    core->of[core->last.thread] += !core->last.held;
}

static void run(struct core *core, uint64_t start, uint8_t subtype)
{
    take(core, (struct pug_element){.type = PUG_ELEM_INSTR_RANGE,
                                    .start = start,
                                    .end = start + 4,
                                    .count = 1,
                                    .flags = PUG_ELEM_EXECUTED,
                                    .last_type = subtype ? PUG_INSTR_BR_INDIRECT : PUG_INSTR_OTHER,
                                    .last_subtype = subtype,
                                    .last_size = 4});
}

static void call(struct core *core, uint64_t site)
{
    run(core, site, PUG_SUB_BR_LINK);
}

static void return_from(struct core *core, uint64_t site)
{
    run(core, site, PUG_SUB_RETURN);
}

/** PendSV comes before `from`, and returns to where something runs next. `value`: it is written. */
static void switch_at(struct core *core, uint64_t from, uint64_t value)
{
    take(core, (struct pug_element){.type = PUG_ELEM_EXCEPTION,
                                    .number = 14,
                                    .reason = PUG_EXCEPTIONS_ARMV8M,
                                    .flags = PUG_ELEM_RET_ADDR,
                                    .end = from});
    run(core, 0x800, 0);
    if (value)
        take(core, (struct pug_element){.type = PUG_ELEM_DATA_VALUE,
                                        .flags = PUG_ELEM_HAS_ADDRESS,
                                        .reason = PUG_ACCESS_STORE,
                                        .start = CURRENT,
                                        .value = value,
                                        .last_size = 4});
    take(core, (struct pug_element){.type = PUG_ELEM_EXCEPTION_RET});
}

/** Threads 1 and 2 have both called the yield, and wait in it; a third one runs, at 0x300. */
static void two_wait(struct core *core)
{
    call(core, 0x100);
    switch_at(core, YIELD, 0);
    call(core, 0x200);
    switch_at(core, YIELD, 0);
    run(core, 0x300, 0);
    assert_int_equal(core->of[1], 1);
    assert_int_equal(core->of[2], 1);
    assert_int_equal(core->of[3], 1);
}

static void returns_tell_which_thread_goes_on(void **state)
{
    struct core core;
    (void)state;
    open_core(&core, false);
    two_wait(&core);
    switch_at(&core, 0x304, 0);
    return_from(&core, YIELD);
    assert_true(core.last.held);
    run(&core, 0x204, 0); /* behind the second one's call */
    assert_int_equal(core.of[2], 3);
    switch_at(&core, 0x208, 0);
    return_from(&core, YIELD);
    run(&core, 0x104, 0);
    assert_int_equal(core.of[1], 3);
    assert_int_equal(core.held, 0);
    pug_rtos_follow_free(core.follow);
}

static void what_fits_several_threads_is_unknown(void **state)
{
    struct core core;
    (void)state;
    open_core(&core, false);
    two_wait(&core);
    switch_at(&core, 0x304, 0);
    run(&core, YIELD, 0); /* one of them, and it is interrupted before it returns */
    assert_true(core.last.held);
    switch_at(&core, YIELD + 4, 0);
    run(&core, 0x304, 0);
    assert_int_equal(core.of[RTOS_UNKNOWN], 1);
    assert_int_equal(core.of[3], 2);
    switch_at(&core, 0x308, 0); /* it goes on, and returns: now it is known */
    return_from(&core, YIELD + 4);
    run(&core, 0x104, 0);
    assert_int_equal(core.of[1], 3);
    assert_int_equal(core.of[RTOS_UNKNOWN], 1);
    pug_rtos_follow_free(core.follow);
}

static void a_thread_that_was_never_seen_is_a_new_one(void **state)
{
    struct core core;
    (void)state;
    open_core(&core, false);
    two_wait(&core);
    switch_at(&core, 0x304, 0);
    return_from(&core, YIELD);
    run(&core, 0x504, 0); /* behind nobody's call */
    assert_int_equal(core.of[4], 2);
    assert_int_equal(core.of[1] + core.of[2], 2);
    pug_rtos_follow_free(core.follow);
}

static void values_name_threads_that_stop_at_one_place(void **state)
{
    struct core core;
    (void)state;
    open_core(&core, true);
    call(&core, 0x100);
    switch_at(&core, YIELD, 0x2000);
    run(&core, YIELD, 0);
    switch_at(&core, YIELD, 0x3000); /* another thread, at the same instruction */
    run(&core, YIELD, 0);
    switch_at(&core, YIELD + 4, 0x2000);
    run(&core, YIELD, 0);
    const struct rtos_thread *thread = pug_rtos_thread_at(core.follow, core.last.thread);
    assert_int_equal(thread->value, 0x2000);
    assert_int_equal(core.of[core.last.thread] >= 2, 1);
    assert_int_equal(core.held, 0);
    pug_rtos_follow_free(core.follow);
}

/** A switch without an exception, in a function at 0xa00 that is called: it returns elsewhere. */
static void open_cooperative(struct core *core, bool values)
{
    struct rtos_object object = {.has_current = values, .current = CURRENT, .size = 4};
    object.switches[object.switch_count++] = (struct rtos_span){0xa00, 0xa10};
    *core = (struct core){.follow = pug_rtos_follow_new(&object)};
    assert_non_null(core->follow);
}

static void switch_function(struct core *core, uint64_t value)
{
    run(core, 0xa00, 0);
    if (value)
        take(core, (struct pug_element){.type = PUG_ELEM_DATA_VALUE,
                                        .flags = PUG_ELEM_HAS_ADDRESS,
                                        .reason = PUG_ACCESS_STORE,
                                        .start = CURRENT,
                                        .value = value,
                                        .last_size = 4});
    return_from(core, 0xa04);
}

static void threads_switch_without_an_exception(void **state)
{
    (void)state;
    for (int values = 0; values < 2; values++) {
        struct core core;
        open_cooperative(&core, values);
        call(&core, 0x100);
        switch_function(&core, values ? 0x2000 : 0);
        assert_int_equal(core.last.thread, 1);
        run(&core, 0x200, 0); /* the second one begins */
        assert_true(core.last.switched);
        assert_int_equal(core.last.stopped, 1);
        assert_int_equal(core.last.stopped_at, 0x104);
        assert_int_equal(core.last.thread, 2);
        call(&core, 0x204);
        run(&core, 0xa00, 0);
        return_from(&core, 0xa04); /* nobody else is ready: it returns to its caller */
        run(&core, 0x208, 0);
        assert_false(core.last.switched);
        assert_int_equal(core.last.thread, 2);
        call(&core, 0x20c);
        switch_function(&core, values ? 0x1000 : 0);
        run(&core, 0x104, 0);
        assert_true(core.last.switched);
        assert_int_equal(core.last.stopped_at, 0x210);
        assert_int_equal(core.last.thread, 1);
        if (values)
            assert_int_equal(pug_rtos_thread_at(core.follow, 1)->value, 0x1000);
        call(&core, 0x108);
        switch_function(&core, values ? 0x2000 : 0);
        run(&core, 0x210, 0);
        assert_int_equal(core.last.thread, 2);
        assert_int_equal(core.held, 0);
        pug_rtos_follow_free(core.follow);
    }
}

static void a_write_is_not_the_switch(void **state)
{
    struct core core;
    (void)state;
    open_core(&core, true);
    run(&core, 0x100, 0);
    switch_at(&core, 0x104, 0x2000);
    assert_int_equal(core.last.thread, 1); /* the handler is still in the first one's time */
    run(&core, 0x200, 0);
    assert_true(core.last.switched);
    assert_int_equal(core.last.stopped, 1);
    assert_int_equal(core.last.stopped_at, 0x104);
    assert_int_equal(core.last.thread, 2);
    pug_rtos_follow_free(core.follow);
}

static void a_late_value_tells_who_has_been_running(void **state)
{
    struct core core;
    struct rtos_answer answer = {.thread = 0};
    (void)state;
    open_core(&core, true);
    two_wait(&core);
    switch_at(&core, 0x304, 0);
    run(&core, YIELD, 0);
    assert_true(core.last.held);
    assert_int_equal(pug_rtos_written(core.follow, 0x2000, &answer), PUG_OK);
    assert_true(answer.decided);
    assert_int_equal(pug_rtos_thread_at(core.follow, answer.whose)->value, 0x2000);
    pug_rtos_follow_free(core.follow);
}

static void a_loss_forgets_who_runs(void **state)
{
    struct core core;
    (void)state;
    open_core(&core, true);
    run(&core, 0x100, 0);
    switch_at(&core, 0x104, 0x2000);
    run(&core, 0x200, 0);
    take(&core, (struct pug_element){.type = PUG_ELEM_TRACE_ON, .reason = PUG_TRACE_ON_OVERFLOW});
    run(&core, 0x204, 0);
    assert_int_equal(core.last.thread, RTOS_UNKNOWN);
    switch_at(&core, 0x208, 0x2000);
    run(&core, 0x208, 0);
    assert_int_equal(pug_rtos_thread_at(core.follow, core.last.thread)->value, 0x2000);
    pug_rtos_follow_free(core.follow);
}

/* ---- descriptions ---- */

static void read_wrong(const char *text, unsigned line, unsigned column, const char *message)
{
    struct rtos_kernel *kernel;
    struct rtos_mistake mistake;
    assert_int_equal(pug_rtos_kernel_read(text, strlen(text), &kernel, &mistake),
                     PUG_ERR_INVALID_PARAM_VAL);
    assert_null(kernel);
    assert_int_equal(mistake.line, line);
    assert_int_equal(mistake.column, column);
    assert_non_null(strstr(mistake.message, message));
}

static void descriptions_are_read(void **state)
{
    static const char text[] = "# one\nkernel Mine\n  if a b # both\n"
                               "  current s.m[2] | s+8:4\n  none 0 0xffffffff\n  switch h\n";
    struct rtos_kernel *kernel;
    struct rtos_mistake mistake;
    struct rtos_offset offset;
    const struct rtos_builtin *builtin;
    (void)state;
    assert_int_equal(pug_rtos_kernel_read(text, strlen(text), &kernel, &mistake), PUG_OK);
    assert_string_equal(kernel->name, "Mine");
    assert_int_equal(kernel->symbols.count, 2);
    assert_string_equal(kernel->current.at[1], "s+8:4");
    assert_int_equal(kernel->none[1], 0xffffffff);
    assert_true(pug_rtos_offset_read(kernel->current.at[1], &offset));
    assert_int_equal(offset.offset, 8);
    assert_int_equal(offset.size, 4);
    assert_false(pug_rtos_offset_read(kernel->current.at[0], &offset));
    pug_rtos_kernel_free(kernel);
    for (size_t n = 0; (builtin = pug_rtos_builtin_at(n)) != NULL; n++) {
        assert_int_equal(
            pug_rtos_kernel_read(builtin->text, strlen(builtin->text), &kernel, &mistake), PUG_OK);
        pug_rtos_kernel_free(kernel);
    }
}

static void wrong_descriptions_say_where(void **state)
{
    (void)state;
    read_wrong("", 1, 1, "kernel NAME");
    read_wrong("kernel A\n  if x\n", 2, 1, "\"current\"");
    read_wrong("if x\n", 1, 1, "first");
    read_wrong("kernel A\n  colour red\n", 2, 3, "expected kernel");
    read_wrong("kernel A B\n", 1, 10, "one word");
    read_wrong("kernel A\n  none 0 zero\n", 2, 10, "numbers");
    read_wrong("kernel A\n  current | b\n", 2, 11, "each '|'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(returns_tell_which_thread_goes_on),
        cmocka_unit_test(what_fits_several_threads_is_unknown),
        cmocka_unit_test(a_thread_that_was_never_seen_is_a_new_one),
        cmocka_unit_test(values_name_threads_that_stop_at_one_place),
        cmocka_unit_test(threads_switch_without_an_exception),
        cmocka_unit_test(a_write_is_not_the_switch),
        cmocka_unit_test(a_late_value_tells_who_has_been_running),
        cmocka_unit_test(a_loss_forgets_who_runs),
        cmocka_unit_test(descriptions_are_read),
        cmocka_unit_test(wrong_descriptions_say_where),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
