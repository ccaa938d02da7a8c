// SPDX-License-Identifier: MIT
/** @file What elements say in words: the names of exceptions, whose numbers depend on the trace. */
#include "pugmark/element.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void exceptions_have_their_architectures_names(void **state)
{
    static const struct {
        enum pug_exception_numbers numbers;
        uint32_t number;
        const char *name, *text;
    } cases[] = {
        {PUG_EXCEPTIONS_UNNAMED, 14, "", "exception 14"},
        {PUG_EXCEPTIONS_ARMV7, 14, "IRQ", "exception 14 (IRQ)"},
        {PUG_EXCEPTIONS_ARMV7, 0, "", "exception 0"},
        {PUG_EXCEPTIONS_ARMV7, 16, "", "exception 16"},
        {PUG_EXCEPTIONS_ARMV7M, 14, "PendSV", "exception 14 (PendSV)"},
        {PUG_EXCEPTIONS_ARMV7M, 8, "IRQ0", "exception 8 (IRQ0)"},
        {PUG_EXCEPTIONS_ARMV7M, 0x16, "", "exception 22"},
        {PUG_EXCEPTIONS_ARMV7M, 0x18, "IRQ8", "exception 24 (IRQ8)"},
        {PUG_EXCEPTIONS_ARMV7M, 0x1ff, "IRQ495", "exception 511 (IRQ495)"},
        {PUG_EXCEPTIONS_ARMV7M, 0x200, "", "exception 512"},
        {PUG_EXCEPTIONS_ARMV8, 2, "call", "exception 2 (call)"},
        {PUG_EXCEPTIONS_ARMV8, 0, "reset", "exception 0 (reset)"},
        {PUG_EXCEPTIONS_ARMV8, 5, "", "exception 5"},
        {PUG_EXCEPTIONS_ARMV8M, 2, "NMI", "exception 2 (NMI)"},
        {PUG_EXCEPTIONS_ARMV8M, 7, "SecureFault", "exception 7 (SecureFault)"},
        {PUG_EXCEPTIONS_ARMV8M, 0x17, "IRQ7", "exception 23 (IRQ7)"},
        {PUG_EXCEPTIONS_ARMV8M, 0x207, "", "exception 519"},
        {PUG_EXCEPTIONS_ARMV8M, 0x208, "IRQ8", "exception 520 (IRQ8)"},
        {PUG_EXCEPTIONS_ARMV8M, 0x3ef, "IRQ495", "exception 1007 (IRQ495)"},
        {PUG_EXCEPTIONS_RISCV, 2, "illegal instruction", "exception 2 (illegal instruction)"},
        {PUG_EXCEPTIONS_RISCV, 0x80000007, "machine timer", "interrupt 7 (machine timer)"},
        {PUG_EXCEPTIONS_RISCV, 0x80000018, "", "interrupt 24"},
        {PUG_EXCEPTIONS_KINDS, 1, "trap", "trap"},
        {PUG_EXCEPTIONS_KINDS, 3, "interrupt", "interrupt"},
        {PUG_EXCEPTIONS_KINDS, 4, "", "exception 4"},
        {(enum pug_exception_numbers)99, 14, "", "exception 14"},
    };
    char text[64];
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        pug_exception_name(cases[i].numbers, cases[i].number, text, sizeof(text));
        assert_string_equal(text, cases[i].name);
        pug_exception_text(cases[i].numbers, cases[i].number, text, sizeof(text));
        assert_string_equal(text, cases[i].text);
    }
}

static void names_end_where_their_buffer_does(void **state)
{
    char text[5];
    (void)state;
    assert_int_equal(pug_exception_text(PUG_EXCEPTIONS_ARMV7, 14, text, sizeof(text)), 18);
    assert_string_equal(text, "exce");
    assert_int_equal(pug_exception_name(PUG_EXCEPTIONS_ARMV7, 14, NULL, 0), 3);
}

static void an_element_says_which_exception_it_was(void **state)
{
    struct pug_element e = {.type = PUG_ELEM_EXCEPTION, .number = 14, .isa = PUG_ISA_A64};
    char text[128];
    (void)state;
    pug_element_text(&e, text, sizeof(text));
    assert_string_equal(text, "EXCEPTION(excep num (0x0e) )");
    e.reason = PUG_EXCEPTIONS_ARMV8;
    pug_element_text(&e, text, sizeof(text));
    assert_string_equal(text, "EXCEPTION(excep num (0x0e) [IRQ] )");
    pug_element_words(&e, text, sizeof(text));
    assert_string_equal(text, "exception 14 (IRQ)");
}

/* The longest range: its words are put where they fit, and cut where they do not. */
static void a_range_ends_where_its_buffer_does(void **state)
{
    static const char want[] = "INSTR_RANGE(exec range=0xffffffffffffffff:[0xfffffffffffffffe] "
                               "num_i(4294967295) last_sz(255) (ISA=RV64) N WFI.WFEV7:impl ret "
                               "<cond> [CC=4294967295]; )";
    const struct pug_element e = {.type = PUG_ELEM_INSTR_RANGE,
                                  .isa = PUG_ISA_RV64,
                                  .start = UINT64_MAX,
                                  .end = UINT64_MAX - 1,
                                  .count = UINT32_MAX,
                                  .last_size = UINT8_MAX,
                                  .last_type = 5,
                                  .last_subtype = 4,
                                  .flags = PUG_ELEM_CONDITIONAL | PUG_ELEM_HAS_CC,
                                  .cycle_count = UINT32_MAX};
    (void)state;
    for (size_t size = 1; size <= 400; size++) {
        char text[401], cut[sizeof(want)] = "";
        memset(text, '!', sizeof(text));
        memcpy(cut, want, size < sizeof(want) ? size - 1 : sizeof(want) - 1);
        assert_int_equal(pug_element_text(&e, text, size), sizeof(want) - 1);
        assert_string_equal(text, cut);
        assert_int_equal(text[size], '!');
    }
}

static void exceptions_have_vectors(void **state)
{
    (void)state;
    static const struct {
        enum pug_exception_numbers numbers;
        uint32_t number;
        unsigned vector;
    } cases[] = {{PUG_EXCEPTIONS_ARMV8M, 15, 15},   {PUG_EXCEPTIONS_ARMV8M, 0x17, 23},
                 {PUG_EXCEPTIONS_ARMV8M, 0x18, 0},  {PUG_EXCEPTIONS_ARMV8M, 0x208, 24},
                 {PUG_EXCEPTIONS_ARMV8M, 0x3f0, 0}, {PUG_EXCEPTIONS_ARMV7M, 8, 16},
                 {PUG_EXCEPTIONS_ARMV7M, 1, 17},    {PUG_EXCEPTIONS_ARMV7M, 9, 6},
                 {PUG_EXCEPTIONS_ARMV7M, 0x15, 5},  {PUG_EXCEPTIONS_ARMV7M, 0x16, 0},
                 {PUG_EXCEPTIONS_ARMV7M, 0x18, 24}, {PUG_EXCEPTIONS_ARMV7M, 0x1ff, 511},
                 {PUG_EXCEPTIONS_ARMV7M, 0x200, 0}, {PUG_EXCEPTIONS_ARMV8, 14, 0},
                 {PUG_EXCEPTIONS_UNNAMED, 14, 0}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(pug_exception_vector(cases[i].numbers, cases[i].number), cases[i].vector);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exceptions_have_their_architectures_names),
        cmocka_unit_test(exceptions_have_vectors),
        cmocka_unit_test(names_end_where_their_buffer_does),
        cmocka_unit_test(an_element_says_which_exception_it_was),
        cmocka_unit_test(a_range_ends_where_its_buffer_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
