// SPDX-License-Identifier: MIT
/** @file Runs of a command in this process, whose main() it is, and in processes of their own. */
#ifndef PUG_FUZZ_MILLION_RUN_H
#define PUG_FUZZ_MILLION_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** One run: the words of a command, where it is run, and how long it may take. */
struct run {
    const char *program, *line, *folder;
    unsigned seconds;
};

struct done {
    int status;    /**< as wait() has it */
    long memory;   /**< the most that was resident, in KiB */
    uint64_t hash; /**< of all that it wrote */
    int said;      /**< what it said, as a file */
    bool left;     /**< it left a file open */
};

/** A process that runs one command after another. */
struct runner;

/** Both files of output, and what static variables are now. */
struct runner *runner_new(void);
void runner_free(struct runner *runner);

/** In a process of its own, as a shell would; leaks are looked for when it ends. */
struct done run_alone(struct runner *runner, const struct run *run);

/** In this process. Static variables and signals are then what they were for runner_new(). */
struct done run_here(struct runner *runner, const struct run *run);

/** A command that ran here left memory allocated: that is reported on standard error. */
bool runner_leaks(const struct runner *runner);

#endif
