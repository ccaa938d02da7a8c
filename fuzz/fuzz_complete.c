// SPDX-License-Identifier: MIT
/**
 * @file What shells complete of a damaged INPUT: its sources, buffers, processors, tasks, programs,
 * settings and functions. Each line is a candidate, and nothing in it steers a terminal.
 */
#include "common/command.h"
#include "driver.h"
#include "files.h"
#include "support/perf_made.h"
#include "text/sink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/** A file of the snapshot that an input replaces; the last one is perf.data. */
static const char *const files[] = {"snapshot.ini", "cpu_0.ini", "trace.ini",
                                    "trace_0.ini",  "crash",     "perf.data"};
#define FILES (sizeof(files) / sizeof(files[0]))

/** A command, and an option whose values come from INPUT. */
static const char *const wishes[][2] = {
    {"list", "--source"},  {"list", "--buffer"},   {"list", "--cpu"}, {"list", "--pid"},
    {"list", "--tid"},     {"list", "--comm"},     {"list", "--set"}, {"profile", "--dso"},
    {"trace", "--before"}, {"find", "--function"},
};
#define WISHES (sizeof(wishes) / sizeof(wishes[0]))

static uint8_t bytes[1 << 17];

static void put_snapshot(void)
{
    for (size_t i = 0; i + 1 < FILES; i++) {
        char path[64];
        snprintf(path, sizeof(path), "examples/crash/%s", files[i]);
        fuzz_write(files[i], bytes, fuzz_load(path, bytes, sizeof(bytes)));
    }
}

/** Shells discard messages. (Sanitizers write to the descriptor, which stays.) */
static void discard_messages(void)
{
#ifdef __GLIBC__
    static FILE *nowhere;
    if (!nowhere && (nowhere = fopen("/dev/null", "w")) != NULL)
        stderr = nowhere;
#endif
}

/** Standard output goes to a file while the command runs. */
static void complete(const char *command, const char *input, const char *option)
{
    char words[6][128] = {"complete", "--"};
    char *argv[7] = {NULL};
    const struct command *self = command_find_name("complete");
    snprintf(words[2], sizeof(words[2]), "%s", command);
    snprintf(words[3], sizeof(words[3]), "%s", input);
    snprintf(words[4], sizeof(words[4]), "%s", option);
    for (size_t i = 0; i < 6; i++)
        argv[i] = words[i];
    fflush(stdout);
    const int kept = dup(STDOUT_FILENO);
    if (!self || kept < 0 || !freopen(fuzz_place("said"), "w", stdout))
        exit(2);
    if (self->run(self, 6, argv) != 0)
        abort();
    fflush(stdout);
    dup2(kept, STDOUT_FILENO);
    close(kept);
}

/** Lines of printable text, with at most one tab. */
static void check_lines(void)
{
    char line[1 << 12];
    FILE *said = fopen(fuzz_place("said"), "r");
    while (said && fgets(line, sizeof(line), said)) {
        line[strcspn(line, "\n")] = 0;
        char *tab = strchr(line, '\t');
        if (tab)
            *tab = ' ';
        if (!pug_is_printable(line) && strlen(line) + 1 < sizeof(line))
            abort();
    }
    if (said)
        fclose(said);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    const size_t file = data[0] % FILES, wish = data[1] % WISHES;
    const bool perf = file + 1 == FILES;
    discard_messages();
    put_snapshot();
    fuzz_write(files[file], data + 2, size - 2);
    complete(wishes[wish][0], fuzz_place(perf ? "perf.data" : ""), wishes[wish][1]);
    check_lines();
    return 0;
}

static size_t put_perf(uint8_t *data, size_t room)
{
    struct rec_perf perf;
    struct rec_bytes file = {0};
    const struct rec_perf_sample task = {.pid = 7, .tid = 7, .time = 2};
    perf_made_begin(&perf);
    rec_perf_comm(&perf, &task, "a\x1b[31m\xc2\x9b", false);
    rec_perf_finish(&perf, &file);
    const size_t size = file.size < room ? file.size : room;
    memcpy(data, file.data, size);
    rec_bytes_free(&file);
    return size;
}

size_t fuzz_begin(uint8_t *data, size_t room, struct rec_random *random)
{
    char path[64];
    if (room < 3)
        return 0;
    data[0] = (uint8_t)rec_random_below(random, FILES);
    data[1] = (uint8_t)rec_random_below(random, WISHES);
    snprintf(path, sizeof(path), "examples/crash/%s", files[data[0]]);
    return 2 + (data[0] + 1u == FILES ? put_perf(data + 2, room - 2)
                                      : fuzz_load(path, data + 2, room - 2));
}
