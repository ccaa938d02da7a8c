// SPDX-License-Identifier: MIT
#include "support/run.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t skipped;

void support_skip(const char *file, int line)
{
    skipped++;
    _skip(file, line);
}

/** Is the test in the part that is to run? */
static bool is_in(const char *part, const struct CMUnitTest *test)
{
    const bool shared = strstr(test->name, "shared") != NULL;
    return !part || shared == (strcmp(part, "shared") == 0);
}

int support_run(const char *name, const struct CMUnitTest *tests, size_t count,
                CMFixtureFunction setup, CMFixtureFunction teardown)
{
    const char *part = getenv("PUG_PART");
    struct CMUnitTest *chosen = calloc(count + 1, sizeof(*chosen));
    size_t wanted = 0;
    if (!chosen)
        return 1;
    for (size_t i = 0; i < count; i++)
        if (is_in(part, &tests[i]))
            chosen[wanted++] = tests[i];
    int failed = wanted > 0 ? _cmocka_run_group_tests(name, chosen, wanted, setup, teardown) : 0;
    free(chosen);
    if (failed || skipped < wanted)
        return failed;
    puts("skipped: nothing was found to test");
    return 77;
}
