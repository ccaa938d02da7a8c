// SPDX-License-Identifier: MIT
/** @file Runs every case file below tests/cases; one test a file. */
#include "support/case.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define FILES_LIMIT 512

static char *paths[FILES_LIMIT];
static size_t path_count;

static void run_file(void **state)
{
    int count = 0;
    assert_int_equal(case_run_file(*state, &count), 0);
    assert_true(count > 0);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

/** A case file's first statement is `protocol`; other tests have other files. */
static bool is_case_file(const char *path)
{
    char line[256] = "#";
    FILE *stream = fopen(path, "r");
    while (stream && (line[0] == '#' || line[0] == '\n') && fgets(line, sizeof(line), stream))
        continue;
    if (stream)
        fclose(stream);
    return strncmp(line, "protocol ", 9) == 0;
}

/** Collect the `*.txt` of a folder, and of the folders in it. */
static void collect(const char *folder)
{
    struct dirent **entries;
    int n = scandir(folder, &entries, NULL, by_name);
    for (int i = 0; i < n; i++) {
        const char *name = entries[i]->d_name;
        size_t length = strlen(name), size = strlen(folder) + length + 2;
        char *path = malloc(size);
        assert_non_null(path);
        snprintf(path, size, "%s/%s", folder, name);
        bool text = length > 4 && strcmp(name + length - 4, ".txt") == 0;
        if (text && path_count < FILES_LIMIT && is_case_file(path)) {
            paths[path_count++] = path;
        } else {
            if (name[0] != '.' && !text)
                collect(path);
            free(path);
        }
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
}

int main(int argc, char **argv)
{
    collect(argc > 1 ? argv[1] : PUG_SOURCE_DIR "/tests/cases");
    struct CMUnitTest tests[FILES_LIMIT];
    for (size_t i = 0; i < path_count; i++)
        tests[i] =
            (struct CMUnitTest){.name = paths[i], .test_func = run_file, .initial_state = paths[i]};
    int failed = _cmocka_run_group_tests("cases", tests, path_count, NULL, NULL);
    for (size_t i = 0; i < path_count; i++)
        free(paths[i]);
    return failed;
}
