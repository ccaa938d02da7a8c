// SPDX-License-Identifier: MIT
/** @file pugmark merge: profiles added up. */
#include "command.h"
#include "profile_input.h"

#include <stdio.h>

struct merge_options {
    const char *output;
    bool quiet;
};

static const struct option table[] = {
    {"output", "FILE", "the sum goes there (-o)", option_string,
     offsetof(struct merge_options, output)},
    {"quiet", NULL, "say nothing of what is not in the counts", option_flag,
     offsetof(struct merge_options, quiet)},
};

static int merge_run(const struct command *self, int argc, char **argv)
{
    struct merge_options options = {0};
    const struct option_set sets[] = {OPTION_SET(table, &options)};
    int end = command_start(self, argc, argv, sets, 1, -1);
    if (end >= 0)
        return end;
    if (!options.output) {
        fprintf(stderr, "pugmark: merge needs --output FILE\n");
        return EXIT_USAGE;
    }
    struct pug_profile *sum = pug_profile_new();
    enum pug_status status = sum ? PUG_OK : PUG_ERR_MEM;
    for (char **path = argv + 1; *path && status == PUG_OK; path++) {
        struct pug_profile *profile = profile_load(*path);
        if (!profile) {
            pug_profile_free(sum);
            return EXIT_INPUT;
        }
        status = pug_profile_merge(sum, profile);
        pug_profile_free(profile);
    }
    int code = EXIT_INPUT;
    if (status != PUG_OK)
        fprintf(stderr, "pugmark: %s\n", pug_status_text(status));
    else
        code = profile_save(sum, options.output);
    if (code == EXIT_DONE)
        profile_say_notes(sum, options.quiet);
    pug_profile_free(sum);
    return code;
}

const struct command command_merge = {"merge", "PROFILE...",
                                      "add up profiles that `profile --output` saved", merge_run};
