// SPDX-License-Identifier: MIT
/**
 * @file A group of tests that found nothing to test is skipped, not passed: its program ends with
 * 77. Included in front of every test, so that a test just uses cmocka.
 *
 * A test that needs data from beside the repository has "shared" in its name. ctest runs a program
 * that has such tests twice, so that the one part cannot hide that the other was skipped: PUG_PART
 * in the environment is "own" or "shared"; without it all tests run.
 */
#ifndef PUG_TESTS_SUPPORT_RUN_H
#define PUG_TESTS_SUPPORT_RUN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/** As cmocka's, and counts. */
void support_skip(const char *file, int line);

/** As cmocka's; 77 where all tests were skipped, or there are none of the part. */
int support_run(const char *name, const struct CMUnitTest *tests, size_t count,
                CMFixtureFunction setup, CMFixtureFunction teardown);

#undef skip
#define skip() support_skip(__FILE__, __LINE__)
#undef cmocka_run_group_tests
#define cmocka_run_group_tests(tests, setup, teardown)                                             \
    support_run(#tests, tests, sizeof(tests) / sizeof((tests)[0]), setup, teardown)
#undef cmocka_run_group_tests_name
#define cmocka_run_group_tests_name(name, tests, setup, teardown)                                  \
    support_run(name, tests, sizeof(tests) / sizeof((tests)[0]), setup, teardown)

#endif
