// SPDX-License-Identifier: MIT
/** @file pugmark merge: profiles added up. Several are read at once; they are added in their order.
 */
#include "common/command.h"
#include "common/messages.h"
#include "common/progress.h"
#include "common/sandbox.h"
#include "profile_input.h"
#include "pugmark/advanced/jobs.h"

#include <pthread.h>
#include <stdio.h>

#define JOBS 64u /* at most */

struct merge_options {
    const char *output;
    uint64_t jobs;
    bool quiet;
};

static const struct option table[] = {
    {"output", "FILE", "the sum goes there (-o)", option_string,
     offsetof(struct merge_options, output)},
    {"jobs", "N", "read on N threads (default, and 0: one for each processor)", option_jobs,
     offsetof(struct merge_options, jobs)},
    {"quiet", NULL, "say nothing of what is not in the counts, no progress", option_flag,
     offsetof(struct merge_options, quiet)},
};

/** A profile that a thread reads. */
struct reading {
    const char *path;
    struct pug_profile *profile;
    pthread_t thread;
    bool begun;
};

static void *read_profile(void *context)
{
    struct reading *reading = context;
    reading->profile = profile_load(reading->path);
    return NULL;
}

/* The first one is read here, and whatever no thread can be had for. */
static size_t read_some(char **paths, size_t most, struct reading *readings)
{
    size_t count = 0;
    for (; count < most && paths[count]; count++) {
        readings[count] = (struct reading){.path = paths[count]};
        readings[count].begun = count > 0 && pthread_create(&readings[count].thread, NULL,
                                                            read_profile, &readings[count]) == 0;
    }
    for (size_t i = 0; i < count; i++)
        if (!readings[i].begun)
            read_profile(&readings[i]);
    for (size_t i = 0; i < count; i++)
        if (readings[i].begun)
            pthread_join(readings[i].thread, NULL);
    return count;
}

/* Add them to the sum, and let go of them. */
static int add_some(struct pug_profile *sum, const struct reading *readings, size_t count)
{
    int code = EXIT_DONE;
    for (size_t i = 0; i < count; i++) {
        enum pug_status status = PUG_OK;
        if (!readings[i].profile)
            code = EXIT_INPUT;
        else if (code == EXIT_DONE)
            status = pug_profile_merge(sum, readings[i].profile);
        if (status == PUG_ERR_WRONG_KIND) {
            profile_say_mixed(readings[i].path);
            code = EXIT_USAGE;
        } else if (status != PUG_OK) {
            message_say("pugmark: %s: %s\n", readings[i].path, pug_status_text(status));
            code = EXIT_INPUT;
        }
        pug_profile_free(readings[i].profile);
    }
    return code;
}

static int add_all(struct pug_profile *sum, char **paths, size_t count,
                   const struct merge_options *options)
{
    struct reading readings[JOBS];
    const uint64_t wanted = options->jobs ? options->jobs : pug_jobs_processors();
    struct progress progress = progress_begin_count(count, "files", options->quiet);
    int code = sum ? EXIT_DONE : EXIT_INPUT;
    for (size_t done = 0; code == EXIT_DONE && done < count;) {
        const size_t some =
            read_some(paths + done, wanted < JOBS ? (size_t)wanted : JOBS, readings);
        code = add_some(sum, readings, some);
        done += some;
        progress_show(&progress, done);
    }
    progress_end(&progress);
    return code;
}

static int merge_run(const struct command *self, int argc, char **argv)
{
    struct merge_options options = {0};
    const struct option_set sets[] = {OPTION_SET(table, &options)};
    int end = command_start(self, argc, argv, sets, 1, -1);
    size_t count = 0;
    if (end >= 0)
        return end;
    if (!options.output) {
        message_say("pugmark: merge needs --output FILE\n");
        return EXIT_USAGE;
    }
    while (argv[1 + count])
        count++;
    (void)sandbox_start(NULL);
    struct pug_profile *sum = pug_profile_new();
    if (!sum)
        message_say("pugmark: %s\n", pug_status_text(PUG_ERR_MEM));
    int code = add_all(sum, argv + 1, count, &options);
    if (code == EXIT_DONE)
        code = profile_save(sum, options.output);
    if (code == EXIT_DONE)
        profile_say_notes(sum, options.quiet);
    pug_profile_free(sum);
    return code;
}

const struct command command_merge = {
    .name = "merge",
    .operands = "PROFILE...",
    .summary = "add up profiles that `profile --output` saved",
    .run = merge_run,
    .task = TASK_COUNT,
    .purpose = "Adds up profiles of several runs, so that one table, diff or AutoFDO profile "
               "covers all of them.",
    .examples =
        {
            {"pugmark profile -o one.pugprof examples/demo", "saves a first profile"},
            {"pugmark merge -o all.pugprof one.pugprof one.pugprof", "the sum of two"},
            {"pugmark profile --rows 5 all.pugprof", "a table of the sum"},
        },
};
