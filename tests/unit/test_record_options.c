// SPDX-License-Identifier: MIT
/** @file What --random leaves to chance: every value of every option is chosen by some seed. */
#include "recorder/unit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
/* cmocka.h wants the four first */
#include <cmocka.h>

#define SEEDS  4000u
#define VALUES 66u /* more are counted as one */

/** Only --set chooses these: what a core or a program is, or what other options would lose by. */
static bool is_fixed(const char *protocol, const char *name)
{
    static const char *const fixed[] = {
        "etmv4 branch_broadcast", /* there is no return stack with it */
        "ete branch_broadcast",
        "etrace standard_support",
        "etrace padding",
        "etrace zcmt",
        "etrace jvt_base",
        "ntrace zcmt",
        "ntrace jvt_base",
        "etrace implicit_exception",
        "etrace vector",
        "etrace vectored",
        "etrace data_width",
        "etrace daddress_width",
        "etrace dtype_width",
        "etrace iaddress_width",
        "ntrace addr_bits",
        "itm exceptions",
        "itm sample",
        "itm comp0",
        "itm comp1",
        "itm comp2",
        "itm comp3",
    };
    char both[80];
    snprintf(both, sizeof(both), "%s %s", protocol, name);
    for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
        if (strcmp(fixed[i], both) == 0)
            return true;
    return false;
}

/** Count the values of an option that seeds choose. */
static void count_values(const struct rec_unit_class *of, uint8_t family,
                         uint32_t counts[REC_OPTIONS][VALUES])
{
    const bool given[REC_OPTIONS] = {false};
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        uint64_t values[REC_OPTIONS];
        rec_unit_values(of, family, given, seed, values);
        for (unsigned i = 0; i < of->option_count; i++) {
            assert_true(values[i] <= of->options[i].most);
            counts[i][values[i] < VALUES - 1 ? values[i] : VALUES - 1]++;
        }
    }
}

static unsigned distinct(const uint32_t counts[VALUES])
{
    unsigned count = 0;
    for (unsigned i = 0; i < VALUES; i++)
        count += counts[i] > 0;
    return count;
}

/** Values that settling makes of others, so that they never come. */
static unsigned never(const char *protocol, const char *option)
{
    static const struct {
        const char *protocol, *option;
        unsigned values;
    } settled[] = {
        {"etrace", "time_bits", 60},      /* 0, 16, 32, 48, 64 */
        {"etrace", "context_bits", 28},   /* 0, 8, 16, 24, 32 */
        {"etrace", "data_diff_bits", 1},  /* 1 or 2 */
        {"ntrace", "implicit_return", 0}, /* 2 is for programs whose returns all match */
        {"ntrace", "hist_bits", 2},       /* 2 at least */
        {"ntrace", "timestamp_once_in", 1}, {"ntrace", "stack_depth", 1},
        {"ntrace", "icnt_max", 8},          {"etmv3", "context_bytes", 1}, /* 3 is none */
        {"ptm", "context_bytes", 1},        {"etrace", "type_bits", 1},    /* 1 at least */
        {"etrace", "privilege_width", 1},                                  /* 1 at least */
        {"etrace", "ecause_width", 4},                                     /* 4 at least */
    };
    for (size_t i = 0; i < sizeof(settled) / sizeof(settled[0]); i++)
        if (strcmp(settled[i].protocol, protocol) == 0 && strcmp(settled[i].option, option) == 0)
            return settled[i].values;
    return 0;
}

static void check_class(const struct rec_unit_class *of, uint8_t family)
{
    static uint32_t counts[REC_OPTIONS][VALUES];
    memset(counts, 0, sizeof(counts));
    count_values(of, family, counts);
    for (unsigned i = 0; i < of->option_count; i++) {
        const struct rec_option *option = &of->options[i];
        unsigned got = distinct(counts[i]);
        if (option->random >= VALUES) { /* many: of the small ones each now and then */
            assert_true(got > VALUES / 4 && counts[i][VALUES - 1] > SEEDS / 2);
            continue;
        }
        unsigned all = (unsigned)option->random + 1;
        if (is_fixed(of->name, option->name) != (option->random == 0))
            fail_msg("%s: %s is%s left to chance", of->name, option->name,
                     option->random ? "" : " not");
        if (got != all - (option->random ? never(of->name, option->name) : 0))
            fail_msg("%s: seeds choose %u of %u values of %s", of->name, got, all, option->name);
    }
}

static void test_every_value(void **state)
{
    const struct rec_unit_class *of;
    unsigned pairs = 0;
    (void)state;
    for (unsigned n = 0; (of = rec_unit_at(n)) != NULL; n++)
        for (unsigned family = REC_FAMILY_A64; family <= REC_FAMILY_RV64; family++) {
            if (!(of->families >> family & 1))
                continue;
            check_class(of, (uint8_t)family);
            pairs++;
        }
    assert_int_equal(pairs, 12);
}

/** The same seed is the same choice, another one another. */
static void test_same_seed(void **state)
{
    const bool given[REC_OPTIONS] = {false};
    const struct rec_unit_class *of;
    (void)state;
    for (unsigned n = 0; (of = rec_unit_at(n)) != NULL; n++) {
        if (of->option_count == 0)
            continue; /* there is nothing to choose */
        uint64_t one[REC_OPTIONS] = {0}, same[REC_OPTIONS] = {0}, other[REC_OPTIONS] = {0};
        uint8_t family = of->families >> REC_FAMILY_ARM & 1 ? REC_FAMILY_ARM : REC_FAMILY_RV64;
        rec_unit_values(of, family, given, 7, one);
        rec_unit_values(of, family, given, 7, same);
        rec_unit_values(of, family, given, 8, other);
        assert_memory_equal(one, same, sizeof(one));
        assert_memory_not_equal(one, other, sizeof(one));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_value),
                                       cmocka_unit_test(test_same_seed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
