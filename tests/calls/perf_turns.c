// SPDX-License-Identifier: MIT
/**
 * @file Makes perf.data of two threads that take turns on a processor, and their programs in bin/,
 * in the current folder, for tests/run/call_times.sh: "gaps": tracing is off between them; "moves":
 * not all of them are on one processor; "sink": both of whose trace is in one buffer.
 */
#include "support/perf_turns.h"
#include "support/perf_programs.h"

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    struct rec_perf perf;
    struct rec_bytes file = {0};
    const char *how = argc > 1 ? argv[1] : "";
    const struct perf_turns turns = {.gaps = strcmp(how, "gaps") == 0,
                                     .moves = strcmp(how, "moves") == 0 || strcmp(how, "sink") == 0,
                                     .one_sink = strcmp(how, "sink") == 0};
    perf_turns_tell(&perf, &turns);
    rec_perf_finish(&perf, &file);
    FILE *out = perf_programs_write(".") ? fopen("perf.data", "wb") : NULL;
    const bool good = out && fwrite(file.data, 1, file.size, out) == file.size;
    rec_bytes_free(&file);
    return out && fclose(out) == 0 && good ? 0 : 1;
}
