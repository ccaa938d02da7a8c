// SPDX-License-Identifier: MIT
/** @file Which names may have been meant. */
#include "base/edit_distance.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void slips_are_counted(void **state)
{
    static const struct {
        const char *a, *b;
        unsigned distance;
    } cases[] = {
        {"xlen", "xlen", 0},
        {"TRCconfigr", "TRCCONFIGR", 0},
        {"xlem", "xlen", 1},
        {"TRCCONFGIR", "TRCCONFIGR", 1}, /* swapped */
        {"TRCONFIGR", "TRCCONFIGR", 1},  /* dropped */
        {"iadress_with_p", "iaddress_width_p", 2},
        {"abc", "abd", PUG_NAME_FAR},         /* too short for slips */
        {"ETMSR", "ETMTECR", PUG_NAME_FAR},   /* two, of five letters */
        {"TRCIDR3", "TRCIDR2", PUG_NAME_FAR}, /* another register */
        {"TRCIDR12", "TRCIDR2", PUG_NAME_FAR},
        {"", "", 0},
        {"a name that is longer than any name of a register or setting", "a name that is longer",
         PUG_NAME_FAR},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(pug_name_distance(cases[i].a, cases[i].b), cases[i].distance);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(slips_are_counted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
